//! What is called: chains of hooks, and the hooks of a settings file.

use std::process::Output;
use std::time::Duration;

use serde_json::{Value, json};

use crate::bench::{ANY, ASK, Bench, LAST, fake, stderr, stdout, word};

/// A chain of these hooks, once.
fn chain(bench: &Bench, hooks: &[&str], line: &str) -> assert_cmd::assert::Assert {
    let hooks = hooks.iter().flat_map(|hook| ["--hook", hook]);
    bench.hookbench().args(["run", "--repeat", "1"]).args(hooks).args(line.split_whitespace()).assert()
}

/// Data of each finished step of the last run.
fn steps(bench: &Bench) -> Vec<Value> {
    let finished = bench.events(LAST).into_iter().filter(|event| event["event"] == "step-finished");
    finished.map(|event| event["data"].clone()).collect()
}

fn header(bench: &Bench) -> Value {
    bench.events(LAST).into_iter().find(|event| event["event"] == "run-started").unwrap()["data"].clone()
}

fn micros(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

#[test]
fn hooks_of_a_chain_run_side_by_side_and_give_one_result() {
    let bench = Bench::of(ANY);
    // Each waits until the other has come: one after the other they would never end.
    let meet = |mine: &str, other: &str| {
        format!("cat >/dev/null; : > $HOME/{mine}; until [ -e $HOME/{other} ]; do sleep 0.01; done; echo {mine}")
    };
    chain(&bench, &[&meet("one", "two"), &meet("two", "one")], "").code(0);
    let steps = steps(&bench);
    assert_eq!(steps.len(), 1);
    let (step, parts) = (&steps[0], steps[0]["parts"].as_array().unwrap());
    assert_eq!(parts.len(), 2);
    let mut lines: Vec<&str> = word(&step["delivered"]).split("\n\n").collect();
    lines.sort_unstable();
    assert_eq!(lines, ["one", "two"]);
    assert_eq!(parts.iter().map(|part| micros(&part["injected_utf16"])).collect::<Vec<_>>(), [3, 3]);
    let largest = parts.iter().map(|part| micros(&part["wall_us"])).max().unwrap();
    assert_eq!(micros(&step["observation"]["wall_us"]), largest);
    let cpu: u64 = parts.iter().map(|part| micros(&part["cpu_us"])).sum();
    // Each part is cut to whole microseconds.
    assert!(micros(&step["observation"]["cpu_us"]).abs_diff(cpu) <= 2, "{step}");
    assert!(word(&header(&bench)["hook_command"]).starts_with("chain: cat"));
}

#[test]
fn texts_come_in_the_order_of_finishing_and_goldens_in_the_order_of_the_flags() {
    let bench = Bench::of("[[step]]\nname = \"ask\"\npayload = \"ask\"\nexpect = { delivered = \"golden\" }\n");
    let hooks = ["cat >/dev/null; sleep 0.3; echo slow", "cat >/dev/null; echo quick"];
    chain(&bench, &hooks, "").code(1);
    assert_eq!(word(&steps(&bench)[0]["delivered"]), "quick\n\nslow");
    assert_eq!(bench.read("scenarios/one/golden/ask.txt.new"), "slow\n\nquick");
    bench.call("accept").code(0);
    chain(&bench, &hooks, "").code(0);
}

#[test]
fn findings_of_a_chain_name_the_hook() {
    let bench = Bench::of(ANY);
    chain(&bench, &["true", &fake("crash")], "").code(1);
    let findings = steps(&bench)[0]["findings"].clone();
    assert_eq!(findings.as_array().unwrap().len(), 1, "{findings}");
    let message = word(&findings[0]["message"]);
    assert!(message.starts_with('`') && message.contains("crash.sh"), "{message}");
}

#[test]
fn one_hook_that_refuses_the_prompt_silences_the_others() {
    let bench = Bench::of(
        "[[step]]\nname = \"ask\"\npayload = \"ask\"\nexpect = { delivered = \"empty\", decision = \"block\", exit = 2 }\n",
    );
    chain(&bench, &[&fake("recall"), "cat >/dev/null; echo no >&2; exit 2"], "").code(0);
    // Alone, the first one is heard.
    chain(&bench, &[&fake("recall")], "").code(1);
}

#[test]
fn parallel_deliveries_of_a_chain_are_one_result_each() {
    let bench = Bench::of(&format!("{ANY}[step.fault]\nparallel = 3\n"));
    chain(&bench, &["cat >/dev/null; echo a", "cat >/dev/null; echo b"], "").code(0);
    assert_eq!(steps(&bench).len(), 3);
    assert!(steps(&bench).iter().all(|step| step["parts"].as_array().unwrap().len() == 2));
}

/// A payload of `PreToolUse`, named by its command.
fn tool(command: &str) -> String {
    let payload = json!({
        "session_id": "${SESSION}", "transcript_path": "${TRANSCRIPT}", "cwd": "${PROJECT}",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command},
        "tool_use_id": "t"
    });
    json!({"id": command, "event": "PreToolUse", "stdin_payload": payload}).to_string() + "\n"
}

const TWO_EVENTS: &str = r#"
[defaults.expect]
delivered = "any"
decision = "any"
exit = "any"
[[step]]
name = "ask"
payload = "ask"
[[step]]
name = "list"
payload = "ls"
[[step]]
name = "push"
payload = "push"
"#;

/// A scenario of a prompt and two calls of Bash, and this settings file.
fn with_settings(settings: &Value) -> Bench {
    let bench = Bench::of(TWO_EVENTS);
    bench.write("scenarios/one/payloads.jsonl", &format!("{ASK}{}{}", tool("ls"), tool("push")));
    bench.write(".claude/settings.json", &settings.to_string());
    bench
}

fn hook(command: &str, more: Value) -> Value {
    let mut entry = json!({"type": "command", "command": command});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    entry
}

#[test]
fn settings_choose_by_event_matcher_and_condition_and_run_identical_hooks_once() {
    let say = "cat >/dev/null; echo ran >> \"$CLAUDE_PROJECT_DIR/log\"";
    let bench = with_settings(&json!({"hooks": {
        "PreToolUse": [
            {"matcher": "Bash", "hooks": [hook(say, json!({})), hook("true", json!({"if": "Bash(push:*)"}))]},
            {"matcher": "Ba.*", "hooks": [hook(say, json!({}))]},
            {"matcher": "Read", "hooks": [hook("exit 1", json!({}))]}]}}));
    bench.call("run --repeat 1 --settings .claude/settings.json").code(0);
    // The prompt has no hook; of two calls the first has one hook, the second two.
    let called: Vec<(String, usize)> = steps(&bench)
        .iter()
        .map(|step| (word(&step["step"]).to_owned(), step["parts"].as_array().map_or(0, Vec::len)))
        .collect();
    assert_eq!(called, [("list".to_owned(), 0), ("push".to_owned(), 2)]);
    assert_eq!(bench.read("log"), "ran\nran\n");
    let name = header(&bench)["hook_command"].clone();
    assert_eq!(word(&name), "settings .claude/settings.json (4 hooks), no hook for 1 of 3 steps");
}

#[test]
fn direct_runs_get_their_arguments_as_they_are_and_shell_lines_the_shell() {
    let bench = with_settings(&json!({"hooks": {"UserPromptSubmit": [{"hooks": [
        hook("printf", json!({"args": ["%s|", "$HOME", "a b"]})),
        hook("printf '%s|' $((1 + 1)) ${CLAUDE_PROJECT_DIR}", json!({}))]}]}}));
    bench.call("run --repeat 1 --settings .claude/settings.json").code(0);
    let steps = steps(&bench);
    let mut texts: Vec<&str> = word(&steps[0]["delivered"]).split("\n\n").collect();
    texts.sort_unstable();
    let root = bench.path("").canonicalize().unwrap();
    let given = bench.path("");
    assert_eq!(texts[0], "$HOME|a b|");
    let second = [format!("2|{}|", root.display()), format!("2|{}|", given.display())];
    assert!(second.iter().any(|text| text.trim_end_matches("/|") == texts[1].trim_end_matches('|')), "{texts:?}");
}

#[test]
fn each_hook_of_the_settings_has_its_own_limit() {
    let bench = with_settings(&json!({"hooks": {"UserPromptSubmit": [{"hooks": [
        hook("sleep 20; echo late", json!({"timeout": 0.3})), hook("cat >/dev/null; echo quick", json!({}))]}]}}));
    bench.call("run --repeat 1 --settings .claude/settings.json").code(1);
    let step = &steps(&bench)[0];
    assert_eq!(word(&step["delivered"]), "quick");
    let message = word(&step["findings"][0]["message"]);
    assert!(message.starts_with("`sleep 20; echo late`: expected an end within 300 ms"), "{message}");
    let walls: Vec<u64> = step["parts"].as_array().unwrap().iter().map(|part| micros(&part["wall_us"])).collect();
    assert!(walls[0] >= 300_000 && walls[0] < 20_000_000, "{walls:?}");
    assert!(Duration::from_micros(micros(&step["observation"]["wall_us"])) >= Duration::from_millis(300));
}

#[test]
fn a_hook_in_the_background_is_not_waited_for_and_its_text_comes_all_the_same() {
    let answer = json!({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": "later"}});
    let bench = with_settings(&json!({"hooks": {"UserPromptSubmit": [{"hooks": [
        hook(&format!("cat >/dev/null; sleep 0.4; echo '{answer}'"), json!({"async": true})),
        hook("cat >/dev/null; echo now", json!({}))]}]}}));
    bench.call("run --repeat 1 --settings .claude/settings.json").code(0);
    let step = &steps(&bench)[0];
    assert_eq!(word(&step["delivered"]), "now\n\nlater");
    let walls: Vec<u64> = step["parts"].as_array().unwrap().iter().map(|part| micros(&part["wall_us"])).collect();
    assert_eq!(micros(&step["observation"]["wall_us"]), walls[1]);
    assert!(walls[0] > walls[1], "{walls:?}");
}

#[test]
fn arguments_of_a_step_go_to_given_hooks_and_not_into_settings() {
    let bench = Bench::of(&format!("{ANY}hook_args = [\"a b\", \"c\"]\n"));
    let script = bench.path("count.sh");
    bench.write("count.sh", "cat >/dev/null; echo $#\n");
    let command = format!("sh '{}'", script.display());
    let settings = json!({"hooks": {"UserPromptSubmit": [{"hooks": [hook(&command, json!({}))]}]}});
    bench.write("settings.json", &settings.to_string());
    bench.run(&command, "").code(0);
    assert_eq!(word(&steps(&bench)[0]["delivered"]), "2");
    bench.call("run --repeat 1 --settings settings.json").code(0);
    assert_eq!(word(&steps(&bench)[0]["delivered"]), "0");
}

#[test]
fn a_failure_blocks_where_the_entry_says_so() {
    let bench = with_settings(&json!({"hooks": {"PreToolUse": [{"hooks": [
        hook("exit 1", json!({"onFailure": "block"}))]}]}}));
    bench.call("run --repeat 1 --settings .claude/settings.json").code(0);
    assert!(steps(&bench).iter().all(|step| word(&step["decision"]) == "deny"));
}

#[test]
fn settings_that_match_nothing_end_with_code_5() {
    let bench = with_settings(&json!({"hooks": {"Stop": [{"hooks": [hook("true", json!({}))]}]}}));
    let seen = bench.call("run --repeat 1 --settings .claude/settings.json").code(5);
    assert!(stdout(&seen).contains("no hook for 3 of 3 steps"), "{}", stdout(&seen));
}

#[test]
fn settings_with_a_mistake_are_refused_with_its_place() {
    let bench = with_settings(&json!({"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}));
    let seen = bench.call("run --repeat 1 --settings .claude/settings.json").code(2);
    let said = stderr(&seen);
    assert!(said.contains("settings.json: hooks.Stop[0].hooks[0].command: expected string, found missing"), "{said}");
    bench.call("run --settings gone.json").code(2);
    let Output { status, .. } = bench.hookbench().args(["run", "--settings", "x", "--hook", "y"]).output().unwrap();
    assert_eq!(status.code(), Some(2));
}
