#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop at a surprise")]

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;
use crate::observation::{Ending, MemorySource, Orphan, SpawnFault};
use crate::report::annotations::{self, Places};
use crate::report::{html, json, junit, markdown, terminal};
use crate::run_event::{FindingKind, GateResult, OnInconclusive, RunEvent, RunHeader, Severity, StepResult, Verdict};
use crate::summary::fixture::{finding, retrieved, run, step};

/// A run that uses every key of the format.
fn rich_run() -> Vec<RunEvent> {
    let mut text = step("s", "prompt", 0, 0);
    text.delivered = "remember: use tabs\n".to_owned();
    (text.injected_bytes, text.injected_utf16) = (19, 19);
    text.tags = vec!["must".to_owned()];
    text.retrieved = Some(retrieved(&["a", "b"], &[("a", 3), ("c", 1)], 12));
    // Nanoseconds must not survive in any figure, or a run read back would differ.
    text.observation.eof_after += std::time::Duration::from_nanos(999);
    text.observation.cpu += std::time::Duration::from_nanos(501);
    let mut broken = step("s", "stop", 1, 0);
    broken.event = "Stop".to_owned();
    broken.decision = "block".to_owned();
    broken.truncated = true;
    broken.observation.stdout = vec![0xff, 0x00, 0x0a, b'x'];
    broken.observation.stderr = "umlaut ü".as_bytes().to_vec();
    broken.observation.ending = Ending::Signalled(11);
    broken.observation.orphans = vec![Orphan { pid: 42, name: "sleep".to_owned() }];
    broken.observation.stream_held_open = true;
    broken.observation.cpu_partial = true;
    broken.observation.stdin_closed_early = true;
    broken.observation.stdout_dropped_bytes = 5;
    broken.observation.stderr_dropped_bytes = 6;
    broken.observation.peak_memory_bytes = None;
    broken.observation.memory_source = MemorySource::None;
    broken.observation.first_byte_after = None;
    broken.findings = FindingKind::ALL.map(|kind| finding(kind, &format!("about {}", kind.name()))).to_vec();
    let mut events = run(1, [text, broken]);
    let end = events.pop();
    events.push(RunEvent::GateJudged(GateResult {
        name: "recall".to_owned(),
        expression: "retrieval.recall@5 >= 0.85".to_owned(),
        verdict: Verdict::Fail,
        severity: Severity::Warn,
        on_inconclusive: OnInconclusive::Fail,
        estimate: Some(0.333_333_333),
        unit: "%".to_owned(),
        interval: Some((0.061_490_32, 0.792_345)),
        n: 1,
        reason: "too low".to_owned(),
        remedy: "find more".to_owned(),
    }));
    events.extend(end);
    events
}

fn write(events: &[RunEvent]) -> (TempDir, PathBuf) {
    let temp = tempfile::tempdir().unwrap();
    let folder = temp.path().join("runs/one");
    let mut writer = RunWriter::create(&folder).unwrap();
    for event in events {
        writer.write(event).unwrap();
    }
    writer.finish(&Summary::of(events)).unwrap();
    (temp, folder)
}

fn read(folder: &Path) -> Vec<RunEvent> {
    RunReader::open(folder).unwrap().collect::<Result<_, _>>().unwrap()
}

fn step_of(events: &[RunEvent], name: &str) -> StepResult {
    let found = events.iter().find_map(|event| match event {
        RunEvent::StepFinished(result) if result.step == name => Some(result.clone()),
        _ => None,
    });
    found.unwrap()
}

#[test]
fn a_saved_run_read_back_gives_the_reports_of_the_live_one() {
    let events = rich_run();
    let live = Summary::of(&events);
    let (_temp, folder) = write(&events);
    let replayed = replay(&folder).unwrap();
    assert_eq!(replayed, live);
    for render in [terminal::render, junit::render, markdown::render, json::render] {
        assert_eq!(render(&replayed), render(&live));
        assert!(render(&live).len() > 400);
    }
    assert_eq!(annotations::render(&replayed, &Places::default()), annotations::render(&live, &Places::default()));
    assert_eq!(html::render(&replayed).unwrap(), html::render(&live).unwrap());
    assert_eq!(fs::read_to_string(folder.join(SUMMARY_FILE)).unwrap(), json::render(&replayed));
}

#[test]
fn an_event_survives_down_to_whole_microseconds() {
    let events = rich_run();
    let (_temp, folder) = write(&events);
    let back = read(&folder);
    assert_eq!(back.len(), events.len());
    let mut expected = step_of(&events, "prompt");
    expected.observation.eof_after = std::time::Duration::from_micros(3_000);
    expected.observation.cpu = std::time::Duration::from_micros(2_000);
    assert_eq!(format!("{:?}", step_of(&back, "prompt")), format!("{expected:?}"));
    assert_eq!(format!("{:?}", step_of(&back, "stop")), format!("{:?}", step_of(&events, "stop")));
    assert!(matches!(back.last(), Some(RunEvent::RunFinished)));
}

#[test]
fn every_ending_survives() {
    let endings = [
        Ending::Exited(-1),
        Ending::Signalled(9),
        Ending::TimedOut,
        Ending::NotStarted(SpawnFault::NotFound),
        Ending::NotStarted(SpawnFault::NotPermitted),
        Ending::NotStarted(SpawnFault::Other(7)),
        Ending::LauncherLost,
    ];
    let steps = endings.map(|ending| {
        let mut step = step("s", &format!("{ending:?}"), 0, 0);
        step.observation.ending = ending;
        step
    });
    let (_temp, folder) = write(&run(1, steps));
    let back = read(&folder);
    for ending in endings {
        assert_eq!(step_of(&back, &format!("{ending:?}")).observation.ending, ending);
    }
}

#[test]
fn captured_output_is_bounded_and_the_rest_is_counted() {
    let mut text = step("s", "text", 0, 0);
    // Two bytes a letter behind one of one byte: the limit falls inside a letter.
    text.observation.stdout = format!("a{}", "ü".repeat(MAX_STREAM_BYTES)).into_bytes();
    text.observation.stdout_dropped_bytes = 10;
    let mut binary = step("s", "binary", 1, 0);
    binary.observation.stderr = vec![0xfe; MAX_STREAM_BYTES + 3];
    let mut exact = step("s", "exact", 2, 0);
    exact.observation.stdout = vec![b'x'; MAX_STREAM_BYTES];
    let whole = text.observation.stdout.len();
    let (_temp, folder) = write(&run(1, [text, binary, exact]));
    let back = read(&folder);
    let text = step_of(&back, "text").observation;
    assert_eq!(text.stdout.len(), MAX_STREAM_BYTES - 1);
    assert_eq!(text.stdout_dropped_bytes, 10 + (whole - text.stdout.len()) as u64);
    assert_eq!(step_of(&back, "binary").observation.stderr, vec![0xfe; MAX_STREAM_BYTES]);
    let exact = step_of(&back, "exact").observation;
    assert_eq!((exact.stdout.len(), exact.stdout_dropped_bytes), (MAX_STREAM_BYTES, 0));
}

#[test]
fn an_interrupted_run_reads_up_to_its_torn_line_wherever_it_tore() {
    let (_temp, folder) = write(&rich_run());
    let path = folder.join(EVENTS_FILE);
    let whole = fs::read(&path).unwrap();
    let n_events = read(&folder).len();
    let header_end = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for end in (header_end..whole.len()).step_by(7).chain([whole.len() - 1]) {
        fs::write(&path, &whole[..end]).unwrap();
        let mut reader = RunReader::open(&folder).unwrap();
        let events: Vec<RunEvent> = reader.by_ref().collect::<Result<_, _>>().unwrap();
        let n_lines = whole[..end].iter().filter(|byte| **byte == b'\n').count() - 1;
        let lost_newline_only = whole.get(end) == Some(&b'\n');
        assert_eq!(events.len(), n_lines + usize::from(lost_newline_only), "cut at {end}");
        let at_line_end = whole[end - 1] == b'\n';
        assert_eq!(reader.torn(), !at_line_end && !lost_newline_only, "cut at {end}");
        assert_eq!(Summary::of(&events).complete(), events.len() == n_events);
    }
}

#[test]
fn damage_inside_the_file_names_its_line() {
    let (_temp, folder) = write(&rich_run());
    let path = folder.join(EVENTS_FILE);
    let whole = fs::read_to_string(&path).unwrap();
    let fault = |text: String| {
        fs::write(&path, text).unwrap();
        let fault = replay(&folder).unwrap_err();
        assert!(!fault.remedy().is_empty());
        let shown = fault.to_string();
        shown.strip_prefix(&format!("{}:", path.display())).unwrap_or_else(|| panic!("{shown}")).to_owned()
    };
    assert!(fault(whole.replacen("\"event\":\"scenario-started\"", "\"event\":", 1)).starts_with("3: damaged line: "));
    let unknown = whole.replacen("scenario-started", "scenario-paused", 1);
    assert_eq!(fault(unknown), "3: damaged line: unknown event `scenario-paused`");
    let kind = whole.replacen("\"kind\":\"crash\"", "\"kind\":\"crush\"", 1);
    assert!(fault(kind).ends_with("damaged line: unknown finding kind `crush`"));
    assert!(fault(whole.replacen("ff000a78", "ff000a7", 1)).contains("`hex` must be pairs"));
    assert!(fault(whole.replacen("ff000a78", "ff000a7ü", 1)).contains("`hex` must be pairs"));
    // A whole last line that is damaged is no torn line.
    assert!(fault(format!("{whole}{{\n")).contains("damaged line"));
}

#[test]
fn newer_versions_are_refused_by_major_and_tolerated_by_minor() {
    let (_temp, folder) = write(&rich_run());
    let path = folder.join(EVENTS_FILE);
    let whole = fs::read_to_string(&path).unwrap();
    let set = |major: u32, minor: u32| {
        let header = format!("{{\"format\":\"{FORMAT}\",\"major\":{major},\"minor\":{minor},\"new_key\":1}}");
        let rest = whole.split_once('\n').unwrap().1.replacen("{\"scenario\":", "{\"new_key\":[],\"scenario\":", 1);
        fs::write(&path, format!("{header}\n{{\"event\":\"new-event\",\"data\":5}}\n{rest}")).unwrap();
    };
    set(MAJOR, MINOR + 1);
    assert_eq!(replay(&folder).unwrap(), Summary::of(&rich_run()));
    set(MAJOR, MINOR);
    assert!(replay(&folder).unwrap_err().to_string().ends_with("unknown event `new-event`"));
    set(MAJOR + 1, 0);
    let fault = RunReader::open(&folder).unwrap_err();
    assert!(fault.to_string().contains("format version 2.x is newer than 1.x"), "{fault}");
    set(0, 9);
    assert!(matches!(RunReader::open(&folder), Err(RecordFault::NotARun { .. })));
}

#[test]
fn what_is_no_saved_run_says_so() {
    let temp = tempfile::tempdir().unwrap();
    assert!(matches!(RunReader::open(temp.path()), Err(RecordFault::Io { .. })));
    for text in ["", "hello\n", "{\"format\":\"other\",\"major\":1,\"minor\":0}\n", "[]\n"] {
        fs::write(temp.path().join(EVENTS_FILE), text).unwrap();
        assert!(matches!(RunReader::open(temp.path()), Err(RecordFault::NotARun { .. })), "{text}");
    }
}

#[test]
fn a_run_is_never_overwritten() {
    let (_temp, folder) = write(&rich_run());
    let before = fs::read(folder.join(EVENTS_FILE)).unwrap();
    assert!(matches!(RunWriter::create(&folder), Err(RecordFault::Occupied { .. })));
    assert_eq!(fs::read(folder.join(EVENTS_FILE)).unwrap(), before);
}

#[test]
fn each_event_is_in_the_file_before_the_next_one() {
    let temp = tempfile::tempdir().unwrap();
    let mut writer = RunWriter::create(temp.path()).unwrap();
    for (nth, event) in rich_run().iter().enumerate() {
        writer.write(event).unwrap();
        assert_eq!(read(temp.path()).len(), nth + 1);
    }
    assert!(!temp.path().join(SUMMARY_FILE).exists());
}

#[test]
fn keys_carry_their_units() {
    let (_temp, folder) = write(&rich_run());
    let text = fs::read_to_string(folder.join(EVENTS_FILE)).unwrap();
    for key in ["wall_us", "exit_us", "cpu_us", "injected_bytes", "injected_utf16", "peak_memory_bytes"] {
        assert!(text.contains(&format!("\"{key}\":")), "{key}");
    }
}

#[test]
fn written_files_satisfy_their_schemas() {
    let (_temp, folder) = write(&rich_run());
    let events = jsonschema::validator_for(&serde_json::to_value(events_schema()).unwrap()).unwrap();
    let text = fs::read_to_string(folder.join(EVENTS_FILE)).unwrap();
    for line in text.lines() {
        let value = serde_json::from_str(line).unwrap();
        assert!(events.is_valid(&value), "{line}");
    }
    assert!(!events.is_valid(&serde_json::json!({"event": "step-finished", "data": {}})));
    let figures = jsonschema::validator_for(&serde_json::to_value(summary_schema()).unwrap()).unwrap();
    let text = fs::read_to_string(folder.join(SUMMARY_FILE)).unwrap();
    assert!(figures.is_valid(&serde_json::from_str(&text).unwrap()));
    assert!(!figures.is_valid(&serde_json::json!({"format": "hookbench-summary"})));
}

#[test]
fn a_summary_file_reads_back_and_refuses_other_formats() {
    let text = SummaryFile::of(&Summary::of(&rich_run())).to_text();
    let file = SummaryFile::parse(&text).unwrap();
    assert_eq!(file.to_text(), text);
    assert_eq!(file.verdict(), Verdict::Fail);
    assert!(SummaryFile::parse(&text.replacen("hookbench-summary", "other", 1)).unwrap_err().contains("`other`"));
    assert!(SummaryFile::parse(&text.replacen("\"major\": 1", "\"major\": 2", 1)).unwrap_err().contains("newer"));
    assert!(SummaryFile::parse("{").is_err());
}

#[test]
fn the_committed_run_of_every_released_version_loads() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    let summary = replay(&samples.join("run-v1")).unwrap();
    assert!(summary.complete());
    assert_eq!((summary.scenarios().len(), summary.steps().len(), summary.n_calls()), (2, 4, 24));
    assert_eq!(summary.gates().len(), 4);
    let text = fs::read_to_string(samples.join("run-v1").join(SUMMARY_FILE)).unwrap();
    assert_eq!(SummaryFile::parse(&text).unwrap().verdict(), Verdict::Fail);
}

/// Writes the sample of the current version again: for a new version, into a new folder.
#[test]
#[ignore = "writes into the source tree"]
fn write_sample() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("samples/run-v{MAJOR}"));
    let events = sample_run();
    let mut writer = RunWriter::create(&folder).unwrap();
    for event in &events {
        writer.write(event).unwrap();
    }
    writer.finish(&Summary::of(&events)).unwrap();
}

/// Two scenarios of two steps, six rounds, one broken step, gates of all four verdicts.
fn sample_run() -> Vec<RunEvent> {
    use crate::gate::{Gate, Stored, judge_all};
    use crate::summary::fixture::header;
    use std::time::Duration;

    let header = RunHeader { hook_command: "sample-hook".to_owned(), ..header(&["recall", "faults"], 6) };
    let mut events = vec![RunEvent::RunStarted(header)];
    for round in 0..6 {
        for scenario in ["recall", "faults"] {
            events.push(RunEvent::ScenarioStarted { scenario: scenario.to_owned(), round });
            events.push(RunEvent::FloorMeasured {
                scenario: scenario.to_owned(),
                round,
                wall: Duration::from_micros(800 + u64::from(round) * 10),
                cpu: Duration::from_micros(500 + u64::from(round)),
            });
            for index in 0..2 {
                let mut result = step(scenario, ["start", "prompt"][index as usize], index, round);
                result.event = ["SessionStart", "UserPromptSubmit"][index as usize].to_owned();
                result.observation.eof_after += Duration::from_micros(u64::from(round * 37 + index * 400));
                match (scenario, index) {
                    ("recall", 1) => {
                        result.delivered = "[d1] use tabs\n".to_owned();
                        (result.injected_bytes, result.injected_utf16) = (14, 14);
                        result.retrieved = Some(retrieved(&["d1", "d9"], &[("d1", 3), ("d2", 2)], 14));
                        result.tags = vec!["must".to_owned()];
                    }
                    ("faults", 1) => {
                        result.observation.ending = Ending::Exited(2);
                        result.observation.stderr = b"boom\n".to_vec();
                        result.observation.stdout = vec![0xff, 0xfe];
                        result.decision = "block".to_owned();
                        result.findings = vec![finding(FindingKind::ExitCode, "exit code 2, expected 0: read stderr")];
                    }
                    _ => {}
                }
                events.push(RunEvent::StepFinished(result));
            }
            events.push(RunEvent::ScenarioFinished { scenario: scenario.to_owned(), round });
        }
    }
    let summary = Summary::of(&events);
    let gates = [
        "clean: leak.count == 0",
        "recall: retrieval.recall@5[tag=must] >= 0.85",
        "tail: latency.wall.p95 <= 150ms",
        "slow: latency.cpu.p50 < +10% vs baseline",
    ];
    let gates = gates.map(|gate| Gate::parse(gate).unwrap());
    events.extend(judge_all(&gates, &summary, &Stored::default()).into_iter().map(RunEvent::GateJudged));
    events.push(RunEvent::RunFinished);
    events
}
