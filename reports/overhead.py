#!/usr/bin/env python3
"""What hookbench itself costs: time beside a bare loop in C, and memory of a long run.

overhead.py launcher HOOKBENCH [BLOCKS [CALLS]]
    Blocks of CALLS no-op calls (100) in turns: a C program that does nothing but posix_spawn and waitpid, and
    `hookbench doctor`, which times the same no-op as it times hooks, beside a bare loop of its own. BLOCKS (10) of each.
    Prints the median wall time of each and their ratios, and fails when the one that is taken call by call, in turns, is
    over 1.10. Needs a C compiler named cc.

overhead.py memory HOOKBENCH [STEPS [HOOK]]
    One run of STEPS steps (10,000), a hundred in a scenario, against HOOK (true). Prints the peak resident size of the
    hookbench process: VmHWM, looked at while it runs, and what wait4 reports, which begins at the size of this script.
"""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

LOOP = r"""
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return at.tv_sec * 1e6 + at.tv_nsec / 1e3;
}
int main(int argc, char **argv) {
    char *words[] = {argv[1], 0}, *env[] = {0};
    for (int n = atoi(argv[2]); n > 0; n--) {
        pid_t pid;
        double start = now();
        if (posix_spawn(&pid, argv[1], 0, 0, words, env)) return 1;
        waitpid(pid, 0, 0);
        printf("%.1f\n", now() - start);
    }
    return 0;
}
"""

HEAD = """schema = 1
title = "Many prompts"
about = "For the memory of a long run."
provenance = "written in the shape of client 2.1.332"
"""
STEP = '[[step]]\nname = "ask-{}"\npayload = "ask"\nexpect = {{ delivered = "any" }}\n'
ASK = {
    "id": "ask",
    "event": "UserPromptSubmit",
    "stdin_payload": {
        "session_id": "${SESSION}",
        "transcript_path": "${TRANSCRIPT}",
        "cwd": "${PROJECT}",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "which database?",
    },
}


def no_op():
    return next(path for path in ("/usr/bin/true", "/bin/true") if os.access(path, os.X_OK))


def launcher(hookbench, blocks, calls):
    with tempfile.TemporaryDirectory() as folder:
        loop = os.path.join(folder, "loop")
        subprocess.run(["cc", "-O2", "-x", "c", "-o", loop, "-"], input=LOOP, text=True, check=True)
        rows = []
        for block in range(blocks):
            def bare():
                out = subprocess.run([loop, no_op(), str(calls)], capture_output=True, text=True, check=True).stdout
                return statistics.median(map(float, out.split()))

            def launched():
                words = [hookbench, "doctor", "--json", "--calls", str(calls), "--seed", str(block)]
                return json.loads(subprocess.run(words, capture_output=True, check=True).stdout)

            # Every other block begins with the other one.
            first, second = (bare, launched) if block % 2 else (launched, bare)
            seen = [first(), second()]
            loop_us, doctor = seen if block % 2 else reversed(seen)
            rows.append((loop_us, doctor["floor"]["wall_p50_us"], doctor["launcher"]["wall_ratio"]))
    median = statistics.median
    in_turns = median(row[2] for row in rows)
    print(f"{blocks} blocks of {calls} calls each, wall of a no-op, medians over blocks")
    print(f"bare loop in C       {median(row[0] for row in rows):.0f} us")
    print(f"through hookbench    {median(row[1] for row in rows):.0f} us")
    print(f"hookbench / C        {median(own / loop for loop, own, _ in rows):.3f} (block by block: the C loop runs hot)")
    print(f"hookbench / own loop {in_turns:.3f} (call by call, in turns)")
    return 0 if in_turns <= 1.10 else 1


def memory(hookbench, steps, hook):
    with tempfile.TemporaryDirectory() as folder:
        scenario = os.path.join(folder, "scenarios", "many")
        os.makedirs(scenario)
        with open(os.path.join(scenario, "scenario.toml"), "w") as file:
            file.write(HEAD + "".join(STEP.format(nth) for nth in range(100)))
        with open(os.path.join(scenario, "payloads.jsonl"), "w") as file:
            file.write(json.dumps(ASK) + "\n")
        words = [hookbench, "run", "--repeat", str(-(-steps // 100)), "--hook", hook, "--no-gates", "--out", "saved"]
        start = time.monotonic()
        run = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL)
        peak = 0
        while True:
            pid, status, used = os.wait4(run.pid, os.WNOHANG)
            if pid:
                break
            try:
                with open(f"/proc/{run.pid}/status") as file:
                    peak = max([peak] + [int(line.split()[1]) for line in file if line.startswith("VmHWM")])
            except OSError:
                pass
            time.sleep(0.02)
        saved = os.path.getsize(os.path.join(folder, "saved", "events.jsonl"))
    print(f"{steps} steps in {time.monotonic() - start:.0f} s, exit {os.waitstatus_to_exitcode(status)}")
    print(f"VmHWM, looked at every 20 ms  {peak / 1024:.1f} MiB")
    print(f"peak by wait4                 {used.ru_maxrss / 1024:.1f} MiB")
    print(f"saved events                  {saved / 2**20:.1f} MiB")
    return 0 if max(peak, used.ru_maxrss) < 100 * 1024 else 1


def main():
    what, hookbench, *rest = sys.argv[1:]
    hookbench = os.path.abspath(hookbench)
    if what == "launcher":
        blocks, calls = [int(word) for word in rest + ["10", "100"][len(rest):]]
        return launcher(hookbench, blocks, calls)
    return memory(hookbench, int(rest[0]) if rest else 10_000, rest[1] if len(rest) > 1 else "true")


if __name__ == "__main__":
    sys.exit(main())
