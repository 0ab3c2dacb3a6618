//! Every kind of gate has a fault that makes it, and only it, fail.
//!
//! One list of gates, and for each of its kinds a run that breaks exactly that one while all others pass. Most runs are
//! made of numbers, so that times say what the test wants; a second list is broken by real hooks. What also is a finding
//! of its step is judged by `hookbench gate`, which looks at gates alone.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::bench::{Bench, word};

/// Rounds in which the hook ran beside its baseline and the no-op.
const PAIRED: u32 = 80;
/// Rounds of the step `x`: enough to tell p90 from p95 from p99, each against a correction over all gates.
const ROUNDS: u32 = 1_000;

/// The list that all runs made of numbers are judged by.
fn gates() -> Vec<(&'static str, String)> {
    let mut gates: Vec<(&'static str, String)> = Vec::new();
    let caps = ["min >= 1ms", "p50 <= 3ms", "p90 <= 6ms", "p95 <= 12ms", "p99 <= 24ms", "max <= 2s", "mean <= 6ms"];
    for (cap, (cpu, wall)) in caps.into_iter().zip(CAPS) {
        let (stat, bound) = cap.split_once(' ').unwrap();
        gates.push((cpu, format!("latency.cpu.{stat}[step=x] {bound}")));
        gates.push((wall, format!("latency.wall.{stat}[step=x] {bound}")));
    }
    for (measure, step, names) in BUDGETS {
        for ((spread, bound), name) in [("max", 400), ("sum", 600), ("p95", 200)].into_iter().zip(names) {
            gates.push((name, format!("budget.{measure}.{spread}[step={step}?] <= {bound}")));
        }
    }
    for (name, measure) in RETRIEVAL {
        gates.push((name, format!("retrieval.{measure}[step={name}] >= 0.9")));
    }
    let more = [
        ("cpu_noop", "latency.cpu.p50[step=x] <= 8x vs noop"),
        ("wall_noop", "latency.wall.p50[step=x] <= 8x vs noop"),
        ("cpu_pair_p50", "latency.cpu.p50[step=x] < +10% vs baseline with confirm=0"),
        ("cpu_pair_p90", "latency.cpu.p90[step=x] < +100% vs baseline with confirm=0"),
        ("wall_pair_p50", "latency.wall.p50[step=x] < +25% vs baseline with confirm=0"),
        ("wall_pair_mean", "latency.wall.mean[step=x] < +100% vs baseline with confirm=0"),
        ("cpu_gain", "latency.cpu.p50[step=gain] < -10% vs baseline with confirm=0"),
        ("instr_cap", "instructions <= 2000000"),
        ("instr_pair", "instructions < +3% vs baseline"),
        ("memory_cap", "memory.peak <= 20MiB"),
        ("memory_pair", "memory.peak[step=x] < +50% vs baseline"),
        ("budget_pair", "budget.utf16.max[step=y] < +20% vs baseline"),
        ("recall_pair", "retrieval.recall@5[step=pair] >= -10% vs baseline"),
        ("leak_pair", "leak.count[step=y] <= +0% vs baseline"),
        ("budget_file", "budget.utf16.max[step=z] <= +0% vs file:stored"),
        ("recall_file", "retrieval.recall@5[step=file] >= -10% vs file:stored"),
        ("truncated", "delivered.truncated == 0"),
        ("golden", "golden.failed == 0"),
        ("leaks", "leak.count[step=c] == 0"),
        ("timeouts", "timeout.count == 0"),
        ("flaky", "flaky.count == 0"),
    ];
    gates.extend(more.map(|(name, text)| (name, text.to_owned())));
    gates
}

/// Names of the caps on CPU and wall: min, p50, p90, p95, p99, max, mean.
const CAPS: [(&str, &str); 7] = [
    ("cpu_min", "wall_min"),
    ("cpu_p50", "wall_p50"),
    ("cpu_p90", "wall_p90"),
    ("cpu_p95", "wall_p95"),
    ("cpu_p99", "wall_p99"),
    ("cpu_max", "wall_max"),
    ("cpu_mean", "wall_mean"),
];

/// Measure, first letter of its steps, names of its gates.
const BUDGETS: [(&str, &str, [&str; 3]); 3] = [
    ("bytes", "b", ["bytes_max", "bytes_sum", "bytes_p95"]),
    ("utf16", "u", ["utf16_max", "utf16_sum", "utf16_p95"]),
    ("tokens_est", "t", ["tokens_max", "tokens_sum", "tokens_p95"]),
];

/// Name of the gate and of its step, and the measure.
const RETRIEVAL: [(&str, &str); 8] = [
    ("ndcg", "ndcg@5"),
    ("recall", "recall@5"),
    ("precision", "precision@1"),
    ("rr", "rr@5"),
    ("hit", "hit@5"),
    ("recall_all", "recall_all@5"),
    ("abstain", "abstain"),
    ("byte_precision", "byte_precision"),
];

/// A call, or another event, that a fault may change.
#[derive(Clone, Copy)]
struct Place<'a> {
    kind: &'a str,
    /// Of a call; empty for other events.
    step: &'a str,
    baseline: bool,
    round: u32,
}

impl Place<'_> {
    /// A call of the hook under test in this step.
    fn is(self, step: &str) -> bool {
        self.step == step && !self.baseline
    }
}

/// The events of a run without fault, each with its place.
fn sound_run() -> Vec<(String, Value)> {
    let mut events = Vec::new();
    let mut put = |event: &str, data: Value| events.push((event.to_owned(), data));
    put(
        "run-started",
        json!({
            "hookbench_version": "0.1.0", "hook_command": "new-hook", "host_version": "2.1.332", "repeat": 0, "seed": 5,
            "scenarios": ["s"], "machine": "test processor, 2 cores, Linux 6", "baseline_command": "old-hook",
            "n_cold_rounds": 0,
        }),
    );
    let mut steps: Vec<&str> = vec!["x", "gain", "y", "z", "c", "b1", "b2", "u1", "u2", "t1", "t2", "pair", "file"];
    steps.extend(RETRIEVAL.map(|(step, _)| step));
    for round in 0..ROUNDS {
        put("scenario-started", json!({ "scenario": "s", "round": round }));
        if round < PAIRED {
            put("floor-measured", json!({ "scenario": "s", "round": round, "wall_us": 500, "cpu_us": 500 }));
        }
        for (index, step) in steps.iter().enumerate() {
            let compared = round < PAIRED && ["x", "gain", "y", "pair"].contains(step);
            let arms: &[&str] = if compared { &["candidate", "baseline"] } else { &["candidate"] };
            for arm in arms.iter().filter(|_| round < PAIRED || *step == "x") {
                put("step-finished", call(step, index, round, arm));
            }
        }
        put("scenario-finished", json!({ "scenario": "s", "round": round }));
    }
    for arm in ["candidate", "baseline"] {
        let counted = json!({ "scenario": "s", "step": "x", "arm": arm, "instructions": 1_000_000 });
        put("instructions-counted", counted);
    }
    put("run-finished", json!({}));
    events
}

/// One call: 2 ms give or take 1 % by the round, and what its step is for.
fn call(step: &str, index: usize, round: u32, arm: &str) -> Value {
    let jitter = |salt: u32| u64::from((round * 7 + salt * 13) % 41);
    let us = 1_980 + if arm == "candidate" { jitter(1) } else { jitter(2) };
    let us = if step == "gain" && arm == "candidate" { us * 8 / 10 } else { us };
    let (bytes, utf16) = match step.chars().next() {
        Some('b') if step.len() == 2 => (100, 10),
        Some('u') => (10, 100),
        Some('t') => (400, 10),
        _ if step == "y" || step == "z" || step == "byte_precision" => (100, 100),
        _ => (0, 0),
    };
    let labels = if step == "abstain" { json!([]) } else { json!([{ "id": "a", "grade": 3 }]) };
    let ranked = if step == "abstain" { json!([]) } else { json!(["a"]) };
    let labelled = RETRIEVAL.iter().any(|(name, _)| *name == step) || step == "pair" || step == "file";
    let retrieved = json!({ "ranked": ranked, "relevant": labels, "relevant_bytes": 100 });
    json!({
        "scenario": "s", "step": step, "index": index, "round": round, "arm": arm, "host_event": "UserPromptSubmit",
        "tags": [],
        "observation": {
            "ending": { "exited": { "code": 0 } }, "wall_us": us, "exit_us": us, "first_byte_us": null, "cpu_us": us,
            "cpu_partial": false, "peak_memory_bytes": 5_242_880, "memory_floor_bytes": 3_145_728,
            "stdin_closed_early": false, "stream_held_open": false, "orphans": [],
            "stdout": { "text": "" }, "stdout_dropped_bytes": 0, "stderr": { "text": "" }, "stderr_dropped_bytes": 0,
        },
        "delivered": "", "injected_utf16": utf16, "injected_bytes": bytes, "decision": "none", "truncated": false,
        "retrieved": if labelled { retrieved } else { Value::Null }, "findings": [],
    })
}

/// Writes a run, every event as the fault leaves it.
fn write(bench: &Bench, folder: &str, fault: &dyn Fn(Place<'_>, &mut Value)) {
    let mut text = String::from("{\"format\":\"hookbench-run\",\"major\":1,\"minor\":1}\n");
    for (event, mut data) in sound_run() {
        let step = data["step"].as_str().filter(|_| event == "step-finished").unwrap_or_default().to_owned();
        let round = data["round"].as_u64().unwrap_or_default() as u32;
        let baseline = data["arm"] == "baseline";
        fault(Place { kind: &event, step: &step, baseline, round }, &mut data);
        writeln!(text, "{}", json!({ "event": event, "data": data })).unwrap();
    }
    bench.write(&format!("{folder}/events.jsonl"), &text);
}

/// Gates of a saved run that fail; with a sentence if one is neither, or if the exit code says something else.
fn failed(bench: &Bench, folder: &str) -> BTreeSet<String> {
    let seen = bench.hookbench().args(["gate", folder, "--gates-file", "gates.toml", "--json"]).output().unwrap();
    let summary: Value = serde_json::from_slice(&seen.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&seen.stderr)));
    let mut failed = BTreeSet::new();
    for gate in summary["gates"].as_array().unwrap() {
        match word(&gate["verdict"]) {
            "pass" => {}
            "fail" => _ = failed.insert(word(&gate["name"]).to_owned()),
            other => _ = failed.insert(format!("{} is {other}: {}", word(&gate["name"]), word(&gate["reason"]))),
        }
    }
    let code = if failed.is_empty() { 0 } else { 3 };
    if seen.status.code() != Some(code) {
        failed.insert(format!("the code is {:?}", seen.status.code()));
    }
    failed
}

/// One candidate call in `every` of the rounds that have neither baseline nor no-op.
fn unpaired(place: Place<'_>, every: u32) -> bool {
    place.step == "x" && !place.baseline && place.round >= PAIRED && place.round.is_multiple_of(every)
}

fn set_time(data: &mut Value, clock: &str, us: u64) {
    data["observation"][format!("{clock}_us")] = us.into();
}

type When = fn(Place<'_>) -> bool;

/// Gate, the events that its fault changes, where in them, and to what.
const SETS: [(&str, When, &str, &str); 16] = [
    ("cpu_noop", |place| place.kind == "floor-measured", "/cpu_us", "100"),
    ("wall_noop", |place| place.kind == "floor-measured", "/wall_us", "100"),
    ("instr_cap", |place| place.kind == "instructions-counted", "/instructions", "3000000"),
    ("instr_pair", |place| place.kind == "instructions-counted" && !place.baseline, "/instructions", "1050000"),
    ("memory_cap", |place| place.is("c") && place.round == 3, "/observation/peak_memory_bytes", "31457280"),
    ("memory_pair", |place| place.is("x"), "/observation/peak_memory_bytes", "9437184"),
    ("budget_pair", |place| place.is("y"), "/injected_utf16", "150"),
    ("budget_file", |place| place.is("z"), "/injected_utf16", "101"),
    ("recall_pair", |place| place.is("pair") && place.round.is_multiple_of(7), "/retrieved/ranked", r#"["b"]"#),
    ("recall_file", |place| place.is("file") && place.round.is_multiple_of(7), "/retrieved/ranked", r#"["b"]"#),
    ("leak_pair", |place| place.is("y") && place.round == 1, "/observation/stream_held_open", "true"),
    ("truncated", |place| place.is("c"), "/truncated", "true"),
    // In every round, or the step would be flaky too.
    ("golden", |place| place.is("c"), "/findings", r#"[{ "kind": "golden-changed", "message": "differs" }]"#),
    ("leaks", |place| place.is("c") && place.round == 0, "/observation/orphans", r#"[{ "pid": 7, "name": "d" }]"#),
    ("timeouts", |place| place.is("c") && place.round == 0, "/observation/ending", r#""timed-out""#),
    (
        "flaky",
        |place| place.is("c") && place.round == 1,
        "/findings",
        r#"[{ "kind": "not-deterministic", "message": "differs" }]"#,
    ),
];

/// Gate, the calls that its fault makes slower or quicker, on which clock, and how many times.
const SCALES: [(&str, When, &str, f64); 5] = [
    // The baseline gets quicker, so that no cap and no ratio to the no-op moves.
    ("cpu_pair_p50", |place| place.step == "x" && place.baseline, "cpu_us", 1.0 / 1.2),
    ("wall_pair_p50", |place| place.step == "x" && place.baseline, "wall_us", 1.0 / 1.3),
    ("cpu_pair_p90", |place| place.is("x") && place.round < PAIRED && place.round.is_multiple_of(4), "cpu_us", 2.4),
    ("wall_pair_mean", |place| place.is("x") && place.round < PAIRED && place.round.is_multiple_of(4), "wall_us", 9.0),
    ("cpu_gain", |place| place.is("gain"), "cpu_us", 1.25),
];

type Fault = Box<dyn Fn(Place<'_>, &mut Value) + Send + Sync>;

/// For every gate the fault that breaks it.
fn controls() -> Vec<(&'static str, Fault)> {
    let mut controls: Vec<(&'static str, Fault)> = Vec::new();
    for (clock, pick) in [("cpu", 0), ("wall", 1)] {
        let name = |at: usize| if pick == 0 { CAPS[at].0 } else { CAPS[at].1 };
        // min: one quick call. p50: two of three calls. p90: every fifth. max: one. mean: three that are very slow.
        let slow: [(usize, u32, u64); 5] =
            [(0, 997, 500), (1, 2, 4_000), (2, 5, 8_000), (5, 997, 2_500_000), (6, 250, 1_900_000)];
        for (at, every, us) in slow {
            // Half of the rounds is no proof for a median of more than half, so it takes the odd ones of a stretch too.
            let all_of = if at == 1 { 400 } else { 0 };
            controls.push((
                name(at),
                Box::new(move |place, data| {
                    if unpaired(place, every) || (unpaired(place, 1) && place.round < all_of) {
                        set_time(data, clock, us);
                    }
                }),
            ));
        }
        for (at, n, us) in [(3, 78, 15_000), (4, 29, 30_000)] {
            controls.push((
                name(at),
                Box::new(move |place, data| {
                    if unpaired(place, 1) && place.round < PAIRED + n {
                        set_time(data, clock, us);
                    }
                }),
            ));
        }
    }
    for (measure, letter, names) in BUDGETS {
        // Text of both steps in one round, or of the first in every third.
        let spreads: [(usize, u64, u64, u32); 3] = [(0, 500, 50, PAIRED), (1, 350, 350, PAIRED), (2, 300, 100, 3)];
        for (at, first, second, every) in spreads {
            controls.push((
                names[at],
                Box::new(move |place, data| {
                    let which = place.step.strip_prefix(letter).filter(|rest| rest.len() == 1);
                    let (Some(which), false, 0) = (which, place.baseline, place.round % every) else { return };
                    let size = if which == "1" { first } else { second };
                    match measure {
                        "bytes" => data["injected_bytes"] = size.into(),
                        "utf16" => data["injected_utf16"] = size.into(),
                        _ => data["injected_bytes"] = (size * 4).into(),
                    }
                }),
            ));
        }
    }
    for (name, _) in RETRIEVAL {
        controls.push((
            name,
            Box::new(move |place, data| match name {
                _ if place.step != name => {}
                "byte_precision" => data["retrieved"]["relevant_bytes"] = 10.into(),
                "abstain" => data["injected_bytes"] = 50.into(),
                _ => data["retrieved"]["ranked"] = json!(["b"]),
            }),
        ));
    }
    for (gate, when, pointer, value) in SETS {
        let value: Value = serde_json::from_str(value).unwrap();
        controls.push((
            gate,
            Box::new(move |place, data| {
                if when(place) {
                    *data.pointer_mut(pointer).unwrap() = value.clone();
                }
            }),
        ));
    }
    for (gate, when, clock, factor) in SCALES {
        controls.push((
            gate,
            Box::new(move |place, data| {
                if when(place) {
                    let us = data["observation"][clock].as_f64().unwrap() * factor;
                    data["observation"][clock] = (us as u64).into();
                }
            }),
        ));
    }
    controls
}

fn gates_file(gates: &[(&str, String)]) -> String {
    let lines: String = gates.iter().map(|(name, text)| format!("{name} = {text:?}\n")).collect();
    format!("[gates]\n{lines}")
}

#[test]
fn each_gate_of_the_list_has_a_run_that_only_it_fails() {
    let bench = Bench::empty();
    let gates = gates();
    bench.write("gates.toml", &gates_file(&gates));
    write(&bench, "stored", &|_, _| {});
    assert_eq!(failed(&bench, "stored"), BTreeSet::new(), "a sound run");
    let controls = controls();
    let named: BTreeSet<&str> = controls.iter().map(|(name, _)| *name).collect();
    assert_eq!(named, gates.iter().map(|(name, _)| *name).collect(), "a control for each gate");
    let (left, right) = controls.split_at(controls.len() / 2);
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for half in [left, right] {
            let (bench, wrong) = (&bench, &wrong);
            scope.spawn(move || {
                for (name, fault) in half {
                    write(bench, name, fault.as_ref());
                    let failed = failed(bench, name);
                    if failed != BTreeSet::from([(*name).to_owned()]) {
                        wrong.lock().unwrap().push(format!("{name} fails {failed:?}"));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Steps of the live scenario: each calls the hook by its own name.
const LIVE: &str = r#"
[[step]]
name = "ask"
payload = "ask"
hook_args = ["ask"]
expect = { delivered = "any", relevant = { retries = 3 } }
[[step]]
name = "quiet"
payload = "ask"
hook_args = ["quiet"]
expect = { delivered = "any", relevant = {} }
[[step]]
name = "golden"
payload = "ask"
hook_args = ["golden"]
expect = { delivered = "golden" }
[[step]]
name = "fault"
payload = "ask"
hook_args = ["fault"]
timeout_ms = 60000
expect = { delivered = "any" }
[[step]]
name = "slow"
payload = "ask"
hook_args = ["slow"]
timeout_ms = 2000
expect = { delivered = "any" }
"#;

const LIVE_GATES: [(&str, &str); 11] = [
    ("cpu", "latency.cpu.p50[step=ask] <= 150x vs noop"),
    ("memory", "memory.peak <= 40MiB"),
    ("budget", "budget.utf16.max <= 3000"),
    ("sum", "budget.bytes.sum <= 5000"),
    ("truncated", "delivered.truncated == 0"),
    ("hit", "retrieval.hit@5 == 1.0"),
    ("abstain", "retrieval.abstain == 1.0"),
    ("golden", "golden.failed == 0"),
    ("leaks", "leak.count == 0"),
    ("timeouts", "timeout.count == 0"),
    ("flaky", "flaky.count == 0"),
];

/// Gate, the step that misbehaves, what the hook does there, and the run's exit code.
const LIVE_CONTROLS: [(&str, &str, &str, i32); 11] = [
    // A step of its own: what the other controls do costs time too.
    ("cpu", "ask", "n=0; while [ $n -lt 700000 ]; do n=$((n + 1)); done; echo 'retries are capped'", 3),
    ("memory", "fault", "head -c 60000000 /dev/zero | tail -c 59000000 >/dev/null", 3),
    ("budget", "fault", "head -c 3500 /dev/zero | tr '\\0' x", 3),
    // 1,300 signs of four bytes and two UTF-16 units each: under the budget of one text in those.
    ("sum", "fault", "i=0; while [ $i -lt 1300 ]; do printf '\\360\\237\\230\\200'; i=$((i + 1)); done", 3),
    ("truncated", "fault", "head -c 20000 /dev/zero | tr '\\0' x", 1),
    ("hit", "ask", "echo 'nothing of use'", 3),
    ("abstain", "quiet", "echo 'here is something'", 3),
    ("golden", "golden", "echo 'another text'", 1),
    ("leaks", "slow", "sleep 60 >/dev/null 2>&1 &", 1),
    ("timeouts", "slow", "sleep 60", 1),
    ("flaky", "fault", "echo $$", 1),
];

fn hook(bench: &Bench, name: &str, step: &str, does: &str) -> String {
    let sound = [("ask", "echo 'retries are capped'"), ("golden", "echo 'as always'"), ("quiet", ":")];
    let mut script = String::from("cat >/dev/null\ncase \"$1\" in\n");
    for (known, line) in sound.into_iter().filter(|(known, _)| *known != step).chain([(step, does)]) {
        writeln!(script, "{known}) {line} ;;").unwrap();
    }
    bench.write(&format!("{name}.sh"), &format!("{script}esac\n"));
    format!("sh {}", bench.path(&format!("{name}.sh")).display())
}

#[test]
fn each_gate_of_a_live_run_has_a_hook_that_only_it_fails() {
    let bench = Bench::of(LIVE);
    bench.write("gates.toml", &gates_file(&LIVE_GATES.map(|(name, text)| (name, text.to_owned()))));
    let sound = hook(&bench, "sound", "fault", ":");
    bench.run(&sound, "").code(1);
    bench.call("accept").code(0);
    let run = |name: &str, hook: &str| {
        let line = ["run", "--repeat", "5", "--out", name, "--gates-file", "gates.toml", "--hook", hook];
        bench.hookbench().args(line).assert()
    };
    run("sound", &sound).code(0);
    assert_eq!(failed(&bench, "sound"), BTreeSet::new());
    for (name, step, does, code) in LIVE_CONTROLS {
        run(name, &hook(&bench, name, step, does)).code(code);
        assert_eq!(failed(&bench, name), BTreeSet::from([name.to_owned()]), "{does}");
    }
    assert_eq!(LIVE_CONTROLS.map(|(name, ..)| name), LIVE_GATES.map(|(name, _)| name));
}
