#!/usr/bin/env python3
"""Measures how cost grows with the number of memories; prints rows of growth.csv.

measure_growth.py BIN SCRATCH [RECORDS...]

BIN holds hookbench and hookmem (copied there, as installed programs are), SCRATCH gets corpora and stores. For each
number of records: a synthetic corpus is made and imported; real hook calls, each of a session of its own, are started in
turn with /bin/true (CPU of the whole process); with every strategy as the setting, the hook's own timing of its search
(choosing sessions and ranking, cold, wall) is read from real calls; up to RANKED records, `hookmem rank` gives the time of
choosing sessions alone (warm).
"""
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from interleave import cpu_ms  # noqa: E402

SIZES = [1_000, 10_000, 100_000, 1_000_000]
TOP_N = [1, 3, 5, 10, 20]
STRATEGIES = [
    "all-segments", "best-record", "bm25-max", "sparse-overlap", "kl-divergence", "local-distinctiveness",
    "coverage-local-distinctiveness", "team-coverage-local-distinctiveness", "coverage-team-selection", "typed-evidence",
]
ROUNDS = 40
PAYLOADS = 12
RANKED = 100_000


def run(command, home, out=subprocess.DEVNULL):
    """CPU seconds and peak memory in MiB of a child that must succeed."""
    child = subprocess.Popen(command, stdout=out, env={"HOME": str(home), "PATH": os.environ["PATH"]})
    _, status, used = os.wait4(child.pid, 0)
    if status:
        sys.exit(f"{command[0]} failed")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def folder_mb(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


def questions(corpus, project):
    """Hook payloads of questions of every form, asked in the project."""
    rows = [json.loads(line) for line in open(corpus / "queries.jsonl", encoding="utf-8")]
    random.Random(1).shuffle(rows)
    return [row["hook"] | {"cwd": str(project)} for row in rows[:PAYLOADS]]


def calls(hookmem, home, asked, file, row):
    """CPU of whole hook calls and of /bin/true, in turn."""
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    all_times, ratios, hardest = {"floor": [], "recall": []}, [], 0
    for nth, hook in enumerate(asked):
        commands = {"floor": ["/bin/true"], "recall": [hookmem, "hook", hook["hook_event_name"]]}
        own = []
        for turn in range(ROUNDS):
            file.write_text(json.dumps(hook | {"session_id": f"growth-{nth}-{turn}"}))
            seen = {name: cpu_ms(commands[name], str(file), env) for name in random.sample(list(commands), 2)}
            for name, time in seen.items():
                all_times[name].append(time)
            if seen["floor"]:
                own.append(seen["recall"] / seen["floor"])
        ratios += own
        hardest = max(hardest, statistics.median(own))
    for name, times in all_times.items():
        row("call_cpu_ms", name, statistics.median(times))
    row("call_ratio", "median", statistics.median(ratios))
    row("call_ratio", "worst question", hardest)


def searches(hookmem, home, asked, row):
    """The hook's own timing of its search, by strategy and number of sessions."""
    config = home / ".local/share/hookmem/config.toml"
    for strategy in STRATEGIES:
        for top_n in [5] if strategy == "all-segments" else TOP_N:
            config.write_text(f'[recall]\nstrategy = "{strategy}"\nquery_top_n = {top_n}\n')
            times = []
            for nth, hook in enumerate(asked * 3):
                payload = json.dumps(hook | {"session_id": f"{strategy}-{top_n}-{nth}"})
                env = {"HOME": str(home), "PATH": os.environ["PATH"]}
                command = [hookmem, "hook", hook["hook_event_name"], "--timings"]
                talk = subprocess.run(command, input=payload, env=env, capture_output=True, text=True).stderr
                times += [int(word.split("=")[1]) for word in talk.split() if word.startswith("search_us=")]
            name = strategy if strategy == "all-segments" else f"{strategy}@{top_n}"
            row("search_us", name, statistics.median(times))
    config.unlink()


def routes(hookmem, home, corpus, file, row):
    """Time of choosing sessions alone, in one process that answers all questions."""
    command = [hookmem, "rank", "--corpus", str(corpus), "--strategy", "all", "--top-n", ",".join(map(str, TOP_N))]
    cpu, peak = run(command + ["--decisions", str(file)], home)
    row("cpu_s", "rank", cpu)
    row("peak_mib", "rank", peak)
    times = {}
    for line in list(open(file, encoding="utf-8"))[1:]:
        one = json.loads(line)
        times.setdefault(one["run"], []).append(one["route_us"])
    for name, of_run in times.items():
        row("route_us", name, statistics.median(of_run))


def main():
    bin_, scratch = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    sizes = [int(word) for word in sys.argv[3:]] or SIZES
    hookbench, hookmem = str(bin_ / "hookbench"), str(bin_ / "hookmem")
    print("records,figure,subject,value")
    for n in sizes:
        def row(figure, subject, value, n=n):
            print(f"{n},{figure},{subject},{value:.3f}", flush=True)

        place = scratch / str(n)
        corpus, home, project = place / "corpus", place / "home", place / "project"
        home.mkdir(parents=True, exist_ok=True)
        project.mkdir(exist_ok=True)
        cpu, peak = run([hookbench, "corpus", "synth", str(corpus), "--records", str(n), "--seed", "1"], home)
        row("cpu_s", "synth", cpu)
        row("peak_mib", "synth", peak)
        cpu, peak = run([hookmem, "import", str(corpus), "--project-dir", str(project)], home)
        row("cpu_s", "import", cpu)
        row("peak_mib", "import", peak)
        row("size_mib", "store", folder_mb(home))
        asked = questions(corpus, project)
        calls(hookmem, home, asked, place / "payload.json", row)
        searches(hookmem, home, asked, row)
        if n <= RANKED:
            routes(hookmem, home, corpus, place / "decisions.jsonl", row)


if __name__ == "__main__":
    main()
