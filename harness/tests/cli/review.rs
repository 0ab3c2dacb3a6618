//! Review with its questions, accept and reject of chosen steps, and goldens that no step uses.

use std::fs;

use assert_cmd::assert::Assert;

use crate::bench::{ANY, Bench, GOLDEN, fake, stderr, stdout};

/// Steps `ask` and `ask-again`, both with a golden.
fn two_steps() -> String {
    format!("{GOLDEN}{}", GOLDEN.replacen("\"ask\"", "\"ask-again\"", 1))
}

const ASK: &str = "scenarios/one/golden/ask.txt";
const AGAIN: &str = "scenarios/one/golden/ask-again.txt";

/// A bench on which both steps wait for a person.
fn waiting() -> Bench {
    let bench = Bench::of(&two_steps());
    bench.run(&fake("recall"), "").code(1);
    assert!(bench.path(&format!("{ASK}.new")).exists() && bench.path(&format!("{AGAIN}.new")).exists());
    bench
}

/// `hookbench review --interactive` with these answers.
fn review(bench: &Bench, line: &str, answers: &str) -> Assert {
    let mut command = bench.hookbench();
    command.args(["review", "--interactive"]).args(line.split_whitespace()).write_stdin(answers).assert()
}

#[test]
fn every_answer_does_what_it_says() {
    let bench = waiting();
    let seen = review(&bench, "", "a\nreject\n").code(0);
    assert_eq!(stdout(&seen), "accepted one / ask\nrejected one / ask-again\n0 pending, 0 unused\n");
    let talk = stderr(&seen);
    assert!(talk.contains("[1/2] one / ask\n+ Earlier decision: retries are capped at three."), "{talk}");
    assert!(talk.contains("[2/2] one / ask-again\n"), "{talk}");
    assert!(bench.path(ASK).exists() && !bench.path(AGAIN).exists());
    assert!(!bench.path(&format!("{ASK}.new")).exists() && !bench.path(&format!("{AGAIN}.new")).exists());
}

#[test]
fn what_was_skipped_or_not_answered_stays_and_is_told() {
    for answers in ["s\ns\n", "skip\nq\n", "q\n", "s\n", ""] {
        let bench = waiting();
        let seen = review(&bench, "", answers).code(1);
        assert!(stdout(&seen).starts_with("2 pending, 0 unused\n"), "{answers:?}: {}", stdout(&seen));
        assert!(bench.path(&format!("{ASK}.new")).exists() && bench.path(&format!("{AGAIN}.new")).exists());
        assert!(!bench.path(ASK).exists() && !bench.path(AGAIN).exists(), "{answers:?}");
    }
    let bench = waiting();
    let seen = review(&bench, "", "a\nq\n").code(1);
    assert!(stdout(&seen).starts_with("accepted one / ask\n1 pending, 0 unused\n"), "{}", stdout(&seen));
}

#[test]
fn an_answer_that_is_none_is_explained_and_asked_again() {
    let bench = waiting();
    let endless = "y".repeat(5_000);
    let seen = review(&bench, "--step ask", &format!("what\n\n\u{fffd}\n{endless}\nF\nACCEPT\n")).code(0);
    assert!(stderr(&seen).matches("a: make this text the golden").count() >= 4, "{}", stderr(&seen));
    assert_eq!(stderr(&seen).matches("+ Earlier decision").count(), 2, "{}", stderr(&seen));
    assert_eq!(stdout(&seen), "accepted one / ask\n0 pending, 0 unused\n");
}

#[test]
fn answers_that_are_no_text_do_no_harm() {
    let bench = waiting();
    let mut command = bench.hookbench();
    command.args(["review", "--interactive"]).write_stdin(vec![0xff, 0xfe, b'\n', 0, b'\n', b'q']).assert().code(1);
    assert!(!bench.path(ASK).exists());
}

#[test]
fn review_asks_nothing_where_nobody_can_answer() {
    let bench = waiting();
    let listed = bench.hookbench().arg("review").write_stdin("a\na\n").assert().code(1);
    assert_eq!(stderr(&listed), "");
    assert!(stdout(&listed).contains("one / ask\n") && stdout(&listed).contains("2 pending, 0 unused\n"));
    assert_eq!(stdout(&listed), stdout(&bench.call("review --list").code(1)));
    assert!(!bench.path(ASK).exists());
    bench.call("review --list --interactive").code(2);
}

#[test]
fn review_with_questions_and_reject_are_refused_in_ci() {
    let bench = waiting();
    for words in [&["review", "--interactive"][..], &["reject"]] {
        let refused = bench.hookbench().env("CI", "1").args(words).write_stdin("a\nr\n").assert().code(2);
        assert!(stderr(&refused).contains("goldens are not written when CI is set"), "{}", stderr(&refused));
    }
    bench.hookbench().env("CI", "1").arg("review").assert().code(1);
    assert!(bench.path(&format!("{ASK}.new")).exists() && !bench.path(ASK).exists());
}

#[test]
fn text_of_a_hook_reaches_the_terminal_escaped_whatever_it_holds() {
    let bench = Bench::of(GOLDEN);
    // Clears the screen, sets the title, rings, turns the writing round, hides, and returns to the start of the line.
    let hostile = r#"printf '{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"%s"}}' 'a\u001b[2Jb\u001b]0;t\u0007c\u009b1md\u202ee\u200bf\rg'"#;
    bench.run(hostile, "").code(1);
    let raw = bench.read(&format!("{ASK}.new"));
    for sign in ['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}', '\u{200b}', '\r'] {
        assert!(raw.contains(sign), "the hook did deliver {sign:?}");
    }
    let mut shown = stdout(&bench.call("review").code(1));
    let asked = review(&bench, "", "f\n?\nq\n").code(1);
    shown += &(stderr(&asked) + &stdout(&asked));
    let acting: Vec<char> = shown.chars().filter(|c| c.is_control() && *c != '\n').collect();
    assert_eq!(acting, [] as [char; 0], "{shown:?}");
    assert!(!shown.contains(['\u{202e}', '\u{200b}']), "{shown:?}");
    assert_eq!(shown.matches(r"a\u{1b}[2Jb\u{1b}]0;t\u{7}c\u{9b}1md\u{202e}e\u{200b}f\r").count(), 3, "{shown}");
}

#[test]
fn names_of_files_are_escaped_too() {
    let bench = Bench::of(ANY);
    bench.write("scenarios/one/golden/a\u{1b}[2J.txt", "");
    let warned = bench.run("true", "").code(0);
    let listed = bench.call("review").code(1);
    let asked = review(&bench, "", "s\n").code(1);
    for text in [stderr(&warned), stdout(&listed), stderr(&asked)] {
        assert!(text.contains(r"golden/a\u{1b}[2J.txt") && !text.contains('\u{1b}'), "{text:?}");
    }
}

#[test]
fn accept_and_reject_take_only_the_steps_that_are_named() {
    let bench = waiting();
    assert_eq!(stdout(&bench.call("accept --step ask").code(0)), "accepted one / ask\n");
    assert!(bench.path(ASK).exists() && !bench.path(AGAIN).exists());
    assert_eq!(stdout(&bench.call("reject one --step *again").code(0)), "rejected one / ask-again\n");
    assert!(!bench.path(&format!("{AGAIN}.new")).exists() && !bench.path(AGAIN).exists());
    assert_eq!(stdout(&bench.call("reject").code(0)), "nothing is pending\n");
    let bench = waiting();
    assert_eq!(stdout(&bench.call("reject").code(0)), "rejected one / ask\nrejected one / ask-again\n");
    for command in ["accept", "reject", "review"] {
        let refused = bench.call(&format!("{command} --step ask --step no-such")).code(2);
        assert!(stderr(&refused).contains("no step is called `no-such`"), "{}", stderr(&refused));
    }
}

#[test]
fn reject_leaves_the_golden_as_it_was() {
    let bench = Bench::of(GOLDEN);
    bench.write(ASK, "old");
    bench.run(&fake("recall"), "").code(1);
    bench.call("reject").code(0);
    assert_eq!(bench.read(ASK), "old");
    assert!(!bench.path(&format!("{ASK}.new")).exists());
}

const RENAMED: &str = "scenarios/one/golden/renamed.txt";

#[test]
fn a_golden_that_no_step_uses_fails_where_nothing_may_be_written_and_warns_elsewhere() {
    let bench = Bench::of(&format!("{ANY}{}", ANY.replacen("\"ask\"", "\"other\"", 1)));
    bench.write(RENAMED, "old");
    let warned = bench.rounds(2, "true", "").code(0);
    assert_eq!(stderr(&warned).lines().count(), 1, "{}", stderr(&warned));
    assert!(stderr(&warned).contains("warning: no step of one uses golden/renamed.txt"), "{}", stderr(&warned));

    let run = ["run", "--repeat", "2", "--hook", "true"];
    let in_ci = bench.hookbench().env("CI", "true").args(run).assert().code(1);
    assert_eq!(stderr(&in_ci), "");
    let finding = vec!["golden-unreferenced".to_owned()];
    let once_a_round = [("one/ask".to_owned(), finding), ("one/other".to_owned(), Vec::new())];
    assert_eq!(bench.findings(), [once_a_round.clone(), once_a_round].concat());
    assert!(stdout(&in_ci).contains("golden-unreferenced"), "{}", stdout(&in_ci));
    // The saved run gives the same answer.
    bench.call("report").code(1);

    bench.run("true", "--no-write").code(1);
    assert!(bench.path(RENAMED).exists());
    fs::remove_file(bench.path(RENAMED)).unwrap();
    bench.run("true", "--no-write").code(0);
}

#[test]
fn review_removes_a_golden_that_no_step_uses_only_when_told() {
    let bench = Bench::of(ANY);
    bench.write(RENAMED, "old");
    fs::create_dir(bench.path("scenarios/one/golden/folder")).unwrap();
    let seen = review(&bench, "", "s\n").code(1);
    assert!(stderr(&seen).contains("golden/folder is a folder among the goldens"), "{}", stderr(&seen));
    assert!(bench.path(RENAMED).exists());
    fs::remove_dir(bench.path("scenarios/one/golden/folder")).unwrap();
    let seen = review(&bench, "", "a\nr\n").code(0);
    assert_eq!(stdout(&seen), "removed one / golden/renamed.txt\n0 pending, 0 unused\n");
    assert!(stderr(&seen).contains("r: remove the file"), "{}", stderr(&seen));
    assert!(!bench.path(RENAMED).exists());
}

#[test]
fn filters_make_a_volatile_answer_meet_its_golden() {
    let scrub =
        "scrub = [{ filter = 'uuid' }, { filter = 'duration', field = '/hookSpecificOutput/additionalContext' }]\n";
    let bench = Bench::of(&format!("{GOLDEN}{scrub}"));
    let hook = r#"id=$(cat /proc/sys/kernel/random/uuid)
printf '{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"%s %s in %s ms, again %s"}}' \
    "$id" "$(cat /proc/sys/kernel/random/uuid)" "$$" "$id""#;
    bench.rounds(2, hook, "").code(1);
    bench.call("accept").code(0);
    assert_eq!(bench.read(ASK), "[uuid-1] [uuid-2] in [duration-1], again [uuid-1]");
    bench.rounds(3, hook, "").code(0);
}

#[test]
fn a_pattern_made_to_backtrack_does_not_hang_a_run() {
    let bench = Bench::of(&format!("{GOLDEN}scrub = [{{ pattern = '(a+)+$b', replace = '' }}]\n"));
    let step = "[[step]]\nname = \"two\"\npayload = \"ask\"\n\
                expect = { delivered = \"any\", not_matches = ['(a|aa)+$b'], id_pattern = '(a*)*c', relevant = {} }\n";
    bench.scenario("two", step);
    let hook = "head -c 9000 /dev/zero | tr '\\0' a";
    bench.run(hook, "").code(1);
    assert_eq!(bench.read(&format!("{ASK}.new")), "a".repeat(9000));
}
