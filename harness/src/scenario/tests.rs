#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::*;
use crate::problem::Problem;

const SAMPLE_TOML: &str = include_str!("sample_v1/scenario.toml");
const SAMPLE_PAYLOADS: &str = include_str!("sample_v1/payloads.jsonl");
const SAMPLE_1_2_TOML: &str = include_str!("sample_v1_2/scenario.toml");
const SAMPLE_1_2_PAYLOADS: &str = include_str!("sample_v1_2/payloads.jsonl");

/// Head of a scenario that is right; tests add to it.
const HEAD: &str =
    "schema = 1\ntitle = \"t\"\nabout = \"a\"\nprovenance = \"p\"\n[defaults.expect]\ndelivered = \"any\"\n";

fn folder(files: &[(&str, &[u8])]) -> (tempfile::TempDir, PathBuf) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("story");
    for (name, bytes) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    (parent, folder)
}

fn sample() -> (tempfile::TempDir, PathBuf) {
    folder(&[
        ("scenario.toml", SAMPLE_TOML.as_bytes()),
        ("payloads.jsonl", SAMPLE_PAYLOADS.as_bytes()),
        ("transcripts/a.jsonl", b"{\"cwd\":\"${PROJECT}\"}\n"),
        ("tree/README.md", b"shop\n"),
        ("broken.bin", &[0xff, b'{']),
    ])
}

/// Problems of a scenario with this text after the right head and these payloads.
fn problems_with(rest: &str, payloads: &str) -> Vec<Problem> {
    let text = format!("{HEAD}{rest}");
    let (_parent, folder) = folder(&[("scenario.toml", text.as_bytes()), ("payloads.jsonl", payloads.as_bytes())]);
    load(&folder).unwrap_err().into_vec()
}

const STOP: &str = "{\"hook_event_name\":\"Stop\"}\n";

#[test]
fn sample_of_format_1_loads_with_every_key() {
    let (_parent, folder) = sample();
    let scenario = load(&folder).unwrap_or_else(|problems| panic_with(&problems.into_vec()));
    assert_eq!(scenario.name, "story");
    assert_eq!(scenario.host.newest(&["2.1.332", "2.2.1"]), Some("2.1.332"));
    assert_eq!(scenario.sessions(), ["first", "second"]);
    let [capture, recall, broken] = &scenario.steps[..] else { unreachable!("the sample has three steps") };

    let Stdin::Payload(text) = &capture.stdin else { unreachable!("capture has a payload") };
    assert!(text.contains("\"effort\":{\"level\":\"high\"}") && text.ends_with("\"background_tasks\":[]}"), "{text}");
    assert!(!text.contains("prompt_id"), "{text}");
    assert_eq!((capture.before.len(), capture.state.len()), (14, 1));
    assert_eq!((capture.expect.exit, capture.expect.delivered), (None, Delivered::Empty));
    assert_eq!(capture.timeout, Some(Duration::from_secs(5)));

    assert_eq!((recall.event.as_str(), recall.cwd.as_str()), ("UserPromptSubmit", "${PROJECT}/src"));
    assert_eq!(recall.env.last().unwrap().1, "${SESSION:first}");
    assert_eq!(recall.fault.parallel, Some(4));
    assert_eq!(recall.expect.max_utf16, Some(9000));
    assert_eq!(recall.expect.not_matches.len(), 2);
    assert_eq!(recall.expect.relevant.as_ref().unwrap().grades, [("m-1".to_owned(), 3)]);

    assert_eq!(broken.stdin, Stdin::Bytes(vec![0xff, b'{']));
    assert_eq!((broken.fault.stdin_closed_after, broken.expect.exit), (Some(3), Some(0)));
}

#[test]
fn sample_of_format_1_2_loads_with_every_key() {
    let files = [("scenario.toml", SAMPLE_1_2_TOML.as_bytes()), ("payloads.jsonl", SAMPLE_1_2_PAYLOADS.as_bytes())];
    let (_parent, folder) = folder(&files);
    let scenario = load(&folder).unwrap_or_else(|problems| panic_with(&problems.into_vec()));
    let shown = |rules: &[ScrubRule]| -> Vec<String> {
        let put = |rule: &ScrubRule| match &rule.put {
            Put::Text(_) => "text".to_owned(),
            Put::Numbered { label, filter } => format!("[{label}{}]", if filter.is_some() { "" } else { "*" }),
        };
        rules.iter().map(|rule| format!("{} {}", put(rule), rule.field.as_deref().unwrap_or("-"))).collect()
    };
    assert_eq!(shown(&scenario.scrub), ["[uuid] -", "text -", "[ticket*] /hookSpecificOutput/additionalContext"]);
    let default = "[timestamp] /reason";
    let hex_id = "[hex-id] /hookSpecificOutput/permissionDecisionReason";
    assert_eq!(shown(&scenario.steps[0].scrub), [default, "[duration] -", hex_id, "[path] -"]);
    assert_eq!(shown(&scenario.steps[1].scrub), [default]);
}

fn panic_with(problems: &[Problem]) -> ! {
    let lines: Vec<String> = problems.iter().map(|problem| format!("{problem} ({})", problem.remedy())).collect();
    unreachable!("the sample does not load:\n{}", lines.join("\n"))
}

#[test]
fn schema_accepts_the_sample_and_refuses_an_unknown_key() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let json = |text| serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap();
    for sample in [SAMPLE_TOML, SAMPLE_1_2_TOML] {
        let errors: Vec<String> = validator.iter_errors(&json(sample)).map(|error| error.to_string()).collect();
        assert_eq!(errors, [] as [&str; 0]);
    }
    let mut sample: serde_json::Value = json(SAMPLE_TOML);
    sample["step"][0]["expects"] = true.into();
    assert!(!validator.is_valid(&sample));
}

const FORMAT_DOC: &str = include_str!("../../../scenarios/FORMAT.md");

#[test]
fn example_of_the_format_document_loads() {
    let example = FORMAT_DOC.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let payloads = "{\"id\":\"stop\",\"event\":\"Stop\",\"stdin_payload\":{}}\n\
                    {\"id\":\"ask\",\"event\":\"UserPromptSubmit\",\"stdin_payload\":{}}\n";
    let (_parent, folder) =
        folder(&[("scenario.toml", example.as_bytes()), ("payloads.jsonl", payloads.as_bytes()), ("tree/a.txt", b"a")]);
    let scenario = load(&folder).unwrap_or_else(|problems| panic_with(&problems.into_vec()));
    assert_eq!(scenario.sessions(), ["first", "second"]);
}

#[test]
fn format_document_names_every_key_of_the_schema() {
    let mut keys = Vec::new();
    collect_keys(&schema(), &mut keys);
    assert!(keys.len() > 60, "only {} keys in the schema", keys.len());
    let unnamed: Vec<_> = keys.iter().filter(|key| !FORMAT_DOC.contains(key.as_str())).collect();
    assert!(unnamed.is_empty(), "scenarios/FORMAT.md does not name {unnamed:?}");
}

fn collect_keys(schema: &serde_json::Value, keys: &mut Vec<String>) {
    if let Some(properties) = schema.get("properties").and_then(|value| value.as_object()) {
        keys.extend(properties.keys().cloned());
    }
    let children: Vec<&serde_json::Value> = match schema {
        serde_json::Value::Object(object) => object.values().collect(),
        serde_json::Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    children.into_iter().for_each(|child| collect_keys(child, keys));
}

#[test]
fn every_mistake_names_its_line_and_a_remedy() {
    let head_lines = HEAD.lines().count();
    let right_step = "[[step]]\nname = \"a\"\npayload = 1\n";
    // Text after the head (`@` is a right step), line in that text, part of the message, part of the remedy.
    let cases: [(&str, usize, &str, &str); 35] = [
        ("[[step]]\nname = \"a\"\npayload = 7\n", 3, "line 7", "1 lines"),
        ("[[step]]\nname = \"a\"\npayload = \"x\"\n", 3, "id `x`", "ids there"),
        ("[[step]]\nname = \"A b\"\npayload = 1\n", 2, "no step name", "lower-case"),
        ("[[step]]\nname = \"a\"\n", 2, "source of stdin", "stdin_file"),
        ("@stdin_file = \"x\"\n", 2, "source of stdin", "either payload"),
        ("[[step]]\nname = \"a\"\nevent = \"Stop\"\nstdin_file = \"x\"\n", 4, "no file `x`", "make the file"),
        ("[[step]]\nname = \"a\"\nevent = \"Stop\"\nstdin_file = \"../x\"\n", 4, "outside the scenario", "below"),
        ("@set = { x = \"${FOO}\" }\n", 4, "unknown placeholder ${FOO}", "$${FOO}"),
        ("@set = { \"/no/x\" = 1 }\n", 4, "no field `no`", "JSON pointer"),
        ("@env = { X = \"${SESSION:b}\" }\n", 4, "no step belongs", "session = \"b\""),
        ("@expcet = {}\n", 4, "unknown field `expcet`", "FORMAT.md"),
        ("[[step]]\nname = \"a\"\npayload = true\n", 3, "a whole number or a string", "FORMAT.md"),
        ("@expect.not_matches = [\"ok\", \"[\"]\n", 4, "regular expression", "FORMAT.md"),
        ("@scrub = [{ pattern = \"a(?=b)\", replace = \"\" }]\n", 4, "look-around", "no look-around"),
        ("@scrub = [{ pattern = \"a\", replace = \"$1\" }]\n", 4, "$1 is no group", "write $$"),
        ("@scrub = [{ pattern = \"a\" }]\n", 4, "does not say", "either replace or label"),
        ("@scrub = [{ filter = \"uuid\", label = \"x\" }]\n", 4, "does not say", "filter alone"),
        ("@scrub = [{ filter = \"guid\" }]\n", 4, "unknown variant `guid`", "FORMAT.md"),
        ("@scrub = [{ filter = \"uuid\", field = \"reason\" }]\n", 4, "`reason` names no field", "JSON pointer"),
        ("@scrub = [{ pattern = \"a\", label = \"A b\" }]\n", 4, "`A b` is no label", "lower-case"),
        ("@expect.decision = \"denied\"\n", 4, "`denied` is no decision", "deny"),
        ("@expect.exit = 300\n", 4, "0 to 255", "exit = 0"),
        ("@expect.relevant = { m = 4 }\n", 4, "`m` has no grade", "3 is the best"),
        ("@expect = { delivered = \"empty\", contains = [\"x\"] }\n", 4, "empty text", "some"),
        ("@before = [{ run = \" \" }]\n", 4, "command is empty", "shell command"),
        ("@before = [{ transcript_append = \"t\" }]\n", 4, "no file `t`", "make the file"),
        ("@before = [{ write = { path = \"x\" } }]\n", 4, "one source", "text or from"),
        ("@before = [{ jump = 1 }]\n", 4, "unknown variant `jump`", "FORMAT.md"),
        ("@fault.times = 0\n", 4, "1 to 64", "lower it"),
        ("@state = [{ command = \"\" }]\n", 4, "command is empty", "shell command"),
        ("@@", 5, "another step", "own name"),
        ("[sandbox]\ntree = \"no\"\n@", 2, "no folder `no`", "make the folder"),
        ("[sandbox]\nseed = [\"x ${Y}\"]\n@", 2, "unknown placeholder", "$${Y}"),
        (
            "[[sandbox.git.commit]]\nmessage = \"m\"\nfiles = { \"../x\" = \"\" }\n@",
            3,
            "outside the project",
            "without `..`",
        ),
        ("[step]\nname = \"a\"\n", 1, "not a list", "[[step]]"),
    ];
    for (text, line, message, remedy) in cases {
        let problems = problems_with(&text.replace('@', right_step), STOP);
        let problem = &problems[0];
        let shown = format!("{problem} ({})", problem.remedy());
        assert!(shown.contains("story/scenario.toml:"), "file in {shown}");
        assert_eq!(problem.position().unwrap().0, head_lines + line, "line of {shown}");
        assert!(problem.message().contains(message), "{message:?} in {shown}");
        assert!(problem.remedy().contains(remedy), "{remedy:?} in {shown}");
        assert_eq!(problems.len(), 1, "one mistake, one problem: {problems:?}");
    }
}

#[test]
fn mistakes_of_the_head_name_their_line() {
    let step = "[[step]]\nname = \"a\"\npayload = 1\n";
    let cases = [
        ("schema = 2", 1, "format 2", "schema = 1"),
        ("host = \"newest\"", 5, "not a version", "2.1.332"),
        ("about = \" \"", 3, "about is empty", "sentence"),
        ("title = 7", 2, "invalid type", "FORMAT.md"),
        ("scrub = [{ pattern = \"(\", replace = \"\" }]", 5, "unclosed group", "FORMAT.md"),
    ];
    for (entry, line, message, remedy) in cases {
        let key = entry.split(' ').next().unwrap();
        let mut lines = vec!["schema = 1", "title = \"t\"", "about = \"a\"", "provenance = \"p\""];
        match lines.iter().position(|line| line.starts_with(key)) {
            Some(at) => lines[at] = entry,
            None => lines.push(entry),
        }
        let text = format!("{}\n[defaults.expect]\ndelivered = \"any\"\n{step}", lines.join("\n"));
        let (_parent, folder) = folder(&[("scenario.toml", text.as_bytes()), ("payloads.jsonl", STOP.as_bytes())]);
        let problems = load(&folder).unwrap_err().into_vec();
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].position().unwrap().0, line, "{}", problems[0]);
        assert!(problems[0].message().contains(message), "{}", problems[0]);
        assert!(problems[0].remedy().contains(remedy), "{}", problems[0].remedy());
    }
}

#[test]
fn all_mistakes_of_a_scenario_are_reported_at_once() {
    let text = "[[step]]\nname = \"A\"\npayload = 9\n[[step]]\nnane = \"b\"\n\
                [[step]]\nname = \"c\"\npayload = 1\ncwd = \"${X}\"\n";
    let payloads = "{\"hook_event_name\":\"Stop\"}\nnot json\n{\"hook_event_name\":\"Stop\",\"cwd\":\"${BAR}\"}\n";
    let problems = problems_with(text, payloads);
    let found: Vec<String> = problems.iter().map(|problem| problem.message().to_owned()).collect();
    for part in ["`nane`", "not a payload", "${BAR}", "no step name", "line 9", "${X}"] {
        assert!(found.iter().any(|message| message.contains(part)), "{part} is not in {found:#?}");
    }
    let in_payloads = problems.iter().find(|problem| problem.message().contains("${BAR}")).unwrap();
    assert_eq!(in_payloads.position(), Some((3, 34)));
}

#[test]
fn step_without_an_expectation_does_not_load() {
    let text = "schema = 1\ntitle = \"t\"\nabout = \"a\"\nprovenance = \"p\"\n[[step]]\nname = \"a\"\npayload = 1\n";
    let (_parent, folder) = folder(&[("scenario.toml", text.as_bytes()), ("payloads.jsonl", STOP.as_bytes())]);
    let problems = load(&folder).unwrap_err().into_vec();
    assert!(problems[0].message().contains("what must be delivered"), "{}", problems[0]);
    assert_eq!(problems[0].position().unwrap().0, 6);
}

#[test]
fn missing_files_are_named_with_a_remedy() {
    let parent = tempfile::tempdir().unwrap();
    let problems = load(&parent.path().join("none")).unwrap_err().into_vec();
    assert!(problems[0].to_string().contains("none: cannot read the scenario"), "{}", problems[0]);
    let (_parent, folder) =
        folder(&[("scenario.toml", format!("{HEAD}[[step]]\nname = \"a\"\npayload = 1\n").as_bytes())]);
    let problems = load(&folder).unwrap_err().into_vec();
    assert!(problems[0].to_string().contains("payloads.jsonl: cannot read"), "{}", problems[0]);
    assert!(problems[0].remedy().contains("beside scenario.toml"));
    assert_eq!(problems.len(), 1);
}

#[test]
fn placeholder_mistake_in_a_transcript_names_the_transcript() {
    let text = format!("{HEAD}[[step]]\nname = \"a\"\npayload = 1\nbefore = [{{ transcript_append = \"t.jsonl\" }}]\n");
    let (_parent, folder) = folder(&[
        ("scenario.toml", text.as_bytes()),
        ("payloads.jsonl", STOP.as_bytes()),
        ("t.jsonl", b"{}\n{\"a\":\"${OOPS}\"}\n"),
    ]);
    let problems = load(&folder).unwrap_err().into_vec();
    assert!(problems[0].to_string().contains("story/t.jsonl:2:7: unknown placeholder"), "{}", problems[0]);
}

#[test]
fn problems_of_several_scenarios_come_together() {
    let (parent, _) = sample();
    for name in ["x", "y/z"] {
        fs::create_dir_all(parent.path().join(name)).unwrap();
        fs::write(parent.path().join(name).join("scenario.toml"), "schema = \n").unwrap();
    }
    let found = discover(parent.path()).unwrap();
    let names: Vec<_> = found.iter().map(|path| path.strip_prefix(parent.path()).unwrap().to_owned()).collect();
    assert_eq!(names, [Path::new("story"), Path::new("x"), Path::new("y/z")]);
    assert_eq!(load_all(&found).unwrap_err().into_vec().len(), 2);
    assert_eq!(load_all(&found[..1]).unwrap().len(), 1);
    assert!(discover(&parent.path().join("none")).is_err());
}

#[test]
fn every_recorded_payload_can_be_a_step() {
    let root = std::env::var_os("HOOKBENCH_RECORDINGS").map_or_else(|| "../../shared/recordings".into(), PathBuf::from);
    let Ok(versions) = fs::read_dir(&root) else {
        skip(&root);
        return;
    };
    let mut seen = 0;
    for version in versions.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for recording in fs::read_dir(version).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(text) = fs::read_to_string(recording.join("payloads.jsonl")) else { continue };
            seen += check_recording(&text);
        }
    }
    assert!(seen > 1000, "only {seen} recorded payloads in {}", root.display());
}

fn check_recording(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    // What a person does who makes a scenario of a recording: literal shell variables are escaped.
    let steps = (1..=lines.len()).map(|line| format!("[[step]]\nname = \"s{line}\"\npayload = {line}\n"));
    let toml = format!("{HEAD}{}", steps.collect::<String>());
    let escaped = text.replace("${", "$${");
    let (_parent, folder) = folder(&[("scenario.toml", toml.as_bytes()), ("payloads.jsonl", escaped.as_bytes())]);
    let scenario = load(&folder).unwrap_or_else(|problems| panic_with(&problems.into_vec()));
    for (step, line) in scenario.steps.iter().zip(&lines) {
        let recorded: serde_json::Value = serde_json::from_str(line).unwrap();
        let Stdin::Payload(text) = &step.stdin else { unreachable!("a recorded payload is JSON") };
        let text = placeholder::expand(text, |_| None);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), recorded["stdin_payload"]);
        assert_eq!(step.event, recorded["event"]);
    }
    lines.len()
}

#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
fn skip(root: &Path) {
    eprintln!("skipped: no recordings in {} (set HOOKBENCH_RECORDINGS)", root.display());
}
