#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::path::Path;

use super::annotations::{MAX_ANNOTATIONS, Places};
use super::*;
use crate::record::replay;
use crate::run_event::{FindingKind, GateResult, OnInconclusive, RunEvent, Severity, StepResult, Verdict};
use crate::summary::Summary;
use crate::summary::fixture::{finding, run, step};

fn sample() -> Summary {
    replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/run-v1")).unwrap()
}

fn gate(verdict: Verdict) -> GateResult {
    GateResult {
        name: "cap".to_owned(),
        expression: "latency.wall.p95 <= 150ms".to_owned(),
        verdict,
        severity: Severity::Fail,
        on_inconclusive: OnInconclusive::Warn,
        estimate: Some(131.25),
        unit: "ms".to_owned(),
        interval: Some((120.0, 144.5)),
        n: 59,
        reason: "the reason".to_owned(),
        remedy: if verdict == Verdict::Pass { String::new() } else { "the remedy".to_owned() },
    }
}

fn with_gate(gate: GateResult) -> Summary {
    let mut events = run(1, [step("s", "x", 0, 0)]);
    events.insert(events.len() - 1, RunEvent::GateJudged(gate));
    Summary::of(&events)
}

fn with_findings(findings: impl IntoIterator<Item = (FindingKind, &'static str)>) -> Summary {
    let mut broken = step("s", "x", 0, 0);
    broken.findings = findings.into_iter().map(|(kind, message)| finding(kind, message)).collect();
    Summary::of(&run(1, [broken]))
}

fn annotations_of(summary: &Summary) -> Vec<String> {
    annotations::render(summary, &Places::default()).lines().map(str::to_owned).collect()
}

#[test]
fn terminal_report_of_the_committed_run() {
    insta::assert_snapshot!(terminal::render(&sample()), @r##"
    hook:    sample-hook
    host:    2.1.332 (modelled)
    rounds:  6, seed 7, hookbench 0.1.0
    machine: test processor, 2 cores, Linux 6
    machine: calm unknown (12 of 59 no-op rounds needed)

    Scenarios
      state  scenario  steps passed  rounds  findings
      PASS   recall    2/2           6       -
      FAIL   faults    1/2           6       exit-code x6

    Findings
      faults/prompt: exit-code (6 calls)
        | exit code 2, expected 0: read stderr

    Latency (floor of the no-op child in brackets, nothing subtracted)
      event             time  n   p50             p90          p95          p99            max     to floor
      SessionStart      wall  12  3.08ms (820us)  n<29 (n<29)  n<59 (n<59)  n<299 (n<299)  3.19ms  3.75x
                        exit  12  2.90ms          n<29         n<59         n<299          2.90ms  -
                        cpu   12  2.00ms (502us)  n<29 (n<29)  n<59 (n<59)  n<299 (n<299)  2.00ms  3.98x
      UserPromptSubmit  wall  12  3.48ms (820us)  n<29 (n<29)  n<59 (n<59)  n<299 (n<299)  3.58ms  4.23x
                        exit  12  2.90ms          n<29         n<59         n<299          2.90ms  -
                        cpu   12  2.00ms (502us)  n<29 (n<29)  n<59 (n<59)  n<299 (n<299)  2.00ms  3.98x

    Injected text and memory
      event             calls  max UTF-16  max bytes  max tokens (est.)  UTF-16 a round  truncated  peak memory
      SessionStart      12     0           0          0                  0               0          5.0 MiB
      UserPromptSubmit  12     14          14         4                  14              0          5.0 MiB
      peak memory: by wait4 of a small launcher; it reads at least 3.0 MiB

    Retrieval (relevant: grade 2 and above)
      measure         mean   95 % interval   steps
      precision@1     1.000  0.207 to 1.000  1
      precision@5     0.200  0.010 to 0.867  1
      recall@5        0.500  0.055 to 0.945  1
      recall@10       0.500  0.055 to 0.945  1
      rr@10           1.000  0.207 to 1.000  1
      ndcg@10         0.704  0.104 to 0.980  1
      hit@5           1.000  0.207 to 1.000  1
      byte_precision  1.000  0.207 to 1.000  1

    Gates
      PASS          clean   leak.count == 0  ->  0 (n 24)
      FAIL          recall  retrieval.recall@5[tag=must] >= 0.85  ->  0.5 [0.055 to 0.945] (n 1)
                    why: retrieval.recall@5 is 0.5 (lowest 0.5 at recall/prompt), which breaks >= 0.85
                    do:  look at the steps with low scores in the retrieval table
      INCONCLUSIVE  tail    latency.wall.p95 <= 150ms  ->  - (n 24)
                    why: n too small: 24 samples of 59 needed
                    do:  run with --repeat 15
      SKIPPED       slow    latency.cpu.p50 < +10% vs baseline  ->  - (n 0)
                    why: a run of one hook has no baseline
                    do:  bound the figure itself, or its ratio with `vs noop`; a baseline needs paired rounds of two hooks

    FAIL (exit 1): 1 of 4 steps with findings, 2 scenarios, 24 calls, gates: 1 pass + 1 fail + 1 inconclusive + 1 skipped
    next: look at the first finding: `hookbench run faults --hook ...`
    next: gate recall: look at the steps with low scores in the retrieval table
    next: gate tail: run with --repeat 15
    "##);
}

#[test]
fn junit_report_of_the_committed_run() {
    insta::assert_snapshot!(junit::render(&sample()), @r##"
    <?xml version="1.0" encoding="UTF-8"?>
    <testsuites name="hookbench" tests="8" failures="2" errors="0">
        <testsuite name="recall" tests="2" skipped="0" errors="0" failures="0" time="0.040">
            <testcase name="start" classname="recall.SessionStart" time="0.019"/>
            <testcase name="prompt" classname="recall.UserPromptSubmit" time="0.021"/>
        </testsuite>
        <testsuite name="faults" tests="2" skipped="0" errors="0" failures="1" time="0.040">
            <testcase name="start" classname="faults.SessionStart" time="0.019"/>
            <testcase name="prompt" classname="faults.UserPromptSubmit" time="0.021">
                <failure message="exit code 2, expected 0: read stderr" type="exit-code">exit-code (6 calls, first in round 0): exit code 2, expected 0: read stderr</failure>
            </testcase>
        </testsuite>
        <testsuite name="gates" tests="4" skipped="2" errors="0" failures="1" time="0.000">
            <testcase name="clean" classname="gates">
                <system-out>PASS leak.count == 0 -&gt; 0 (n 24)</system-out>
            </testcase>
            <testcase name="recall" classname="gates">
                <failure message="retrieval.recall@5 is 0.5 (lowest 0.5 at recall/prompt), which breaks &gt;= 0.85" type="gate">retrieval.recall@5[tag=must] &gt;= 0.85
    retrieval.recall@5 is 0.5 (lowest 0.5 at recall/prompt), which breaks &gt;= 0.85
    look at the steps with low scores in the retrieval table</failure>
                <system-out>FAIL retrieval.recall@5[tag=must] &gt;= 0.85 -&gt; 0.5 [0.055 to 0.945] (n 1)</system-out>
            </testcase>
            <testcase name="tail" classname="gates">
                <skipped message="inconclusive: n too small: 24 samples of 59 needed" type="inconclusive"/>
                <system-out>INCONCLUSIVE latency.wall.p95 &lt;= 150ms -&gt; - (n 24)</system-out>
            </testcase>
            <testcase name="slow" classname="gates">
                <skipped message="skipped: a run of one hook has no baseline" type="skipped"/>
                <system-out>SKIPPED latency.cpu.p50 &lt; +10% vs baseline -&gt; - (n 0)</system-out>
            </testcase>
        </testsuite>
    </testsuites>
    "##);
}

#[test]
fn the_three_answers_are_different_words_everywhere() {
    let of = |verdict| with_gate(gate(verdict));
    let (pass, fail, open) = (of(Verdict::Pass), of(Verdict::Fail), of(Verdict::Inconclusive));
    assert!(terminal::render(&pass).contains("\nPASS (exit 0): "));
    assert!(terminal::render(&fail).contains("\nFAIL (exit 3): "));
    assert!(terminal::render(&open).contains("\nINCONCLUSIVE (exit 0, 4 with --strict): "));
    assert!(terminal::render(&open).contains("  INCONCLUSIVE  cap  "));
    assert!(markdown::render(&pass).starts_with("## hookbench: PASS (exit 0)"));
    assert!(markdown::render(&fail).starts_with("## hookbench: FAIL (exit 3)"));
    assert!(markdown::render(&open).starts_with("## hookbench: INCONCLUSIVE (exit 0"));
    assert!(junit::render(&pass).contains("failures=\"0\"") && !junit::render(&pass).contains("<skipped"));
    assert!(junit::render(&fail).contains("type=\"gate\""));
    assert!(junit::render(&open).contains("<skipped message=\"inconclusive: the reason\""));
    assert!(json::render(&pass).contains("\"verdict\": \"pass\",\n  \"exit_code\": 0"));
    assert!(json::render(&fail).contains("\"verdict\": \"fail\",\n  \"exit_code\": 3"));
    assert!(json::render(&open).contains("\"verdict\": \"inconclusive\",\n  \"exit_code\": 0"));
}

#[test]
fn a_gate_shows_figure_interval_reason_and_remedy() {
    let text = terminal::render(&with_gate(gate(Verdict::Fail)));
    assert!(text.contains("->  131.25ms [120 to 144.5] (n 59)"), "{text}");
    assert!(text.contains("why: the reason") && text.contains("do:  the remedy"));
    assert!(text.contains("next: gate cap: the remedy"));
    assert!(!terminal::render(&with_gate(gate(Verdict::Pass))).contains("why:"));
}

#[test]
fn a_warning_does_not_look_like_a_failure() {
    let warning = with_gate(GateResult { severity: Severity::Warn, ..gate(Verdict::Fail) });
    assert!(terminal::render(&warning).contains("(warning only)"));
    assert!(terminal::render(&warning).contains("\nPASS (exit 0): "));
    assert!(junit::render(&warning).contains("<skipped message=\"warning: the reason\""));
    assert_eq!(annotations_of(&warning), ["::warning title=gate cap%3A fail::the reason; to do: the remedy"]);
    let strict = with_gate(GateResult { on_inconclusive: OnInconclusive::Fail, ..gate(Verdict::Inconclusive) });
    assert!(junit::render(&strict).contains("type=\"gate-inconclusive\""));
    assert!(annotations_of(&strict)[0].starts_with("::error "));
}

#[test]
fn an_interrupted_run_is_never_green() {
    let mut events = run(1, [step("s", "x", 0, 0)]);
    events.pop();
    let summary = Summary::of(&events);
    assert!(terminal::render(&summary).contains("\nINCONCLUSIVE (exit 130): "));
    assert!(terminal::render(&summary).contains("next: the run was stopped early"));
    assert!(
        junit::render(&summary).contains("type=\"interrupted\"") && junit::render(&summary).contains("errors=\"1\"")
    );
}

#[test]
fn an_empty_stream_still_makes_reports() {
    let summary = Summary::default();
    assert!(terminal::render(&summary).contains("no scenario matched"));
    assert!(junit::render(&summary).contains("<testsuites"));
    assert!(markdown::render(&summary).starts_with("## hookbench: "));
    assert!(json::render(&summary).contains("\"complete\": false"));
}

#[test]
fn a_step_fails_in_junit_under_its_first_kind_and_lists_all() {
    let xml =
        junit::render(&with_findings([(FindingKind::Empty, "no text"), (FindingKind::Timeout, "late & <slow>\u{1}")]));
    assert!(xml.contains("type=\"timeout\""), "{xml}");
    assert!(xml.contains("late &amp; &lt;slow&gt;") && xml.contains("empty (1 call, first in round 0): no text"));
    assert!(!xml.contains('\u{1}'));
}

#[test]
fn what_to_do_next_fits_the_findings() {
    let next = |kind| closing::next_steps(&with_findings([(kind, "x")]));
    assert_eq!(next(FindingKind::Empty), ["look at the first finding: `hookbench run s --hook ...`"]);
    assert!(next(FindingKind::NotStarted)[0].contains("check the command"));
    assert!(next(FindingKind::GoldenChanged)[1].contains("hookbench review"));
    assert!(next(FindingKind::GoldenMissing)[1].contains("hookbench accept"));
    assert!(next(FindingKind::GoldenUnreferenced)[1].contains("no step uses"));
    assert_eq!(
        closing::next_steps(&Summary::of(&run(1, [step("s", "x", 0, 0)]))),
        ["nothing: everything that was asked holds"]
    );
}

#[test]
fn markdown_text_cannot_break_out_of_its_cell() {
    let page = markdown::render(&with_findings([(FindingKind::Crash, "a|b\n## c <script> `d` [e](f)")]));
    assert!(page.contains(r"a\|b ## c &lt;script&gt; \`d\` \[e\](f)"), "{page}");
}

#[test]
fn annotations_keep_to_one_line_each() {
    let lines = annotations_of(&with_findings([(FindingKind::Crash, "100%\r\nfatal: x, y")]));
    assert_eq!(lines, ["::error title=s/x%3A crash::100%25%0D%0Afatal: x, y"]);
}

/// Many broken scenarios with long names and messages.
fn huge() -> Summary {
    let broken = |index: u32| -> StepResult {
        let mut broken = step(&format!("scenario-{index}-{}", "n".repeat(300)), "x", 0, 0);
        broken.event = format!("Event{}", index % 34);
        broken.findings.push(finding(FindingKind::Crash, &"message ".repeat(2_000)));
        broken
    };
    Summary::of(&run(1, (0..3_000).map(broken)))
}

#[test]
fn markdown_stays_under_its_limits_and_counts_what_it_leaves_out() {
    let summary = huge();
    let page = markdown::render(&summary);
    assert!(page.len() <= markdown::MAX_BYTES, "{} bytes", page.len());
    assert!(page.len() > markdown::MAX_BYTES / 2);
    assert!(page.contains("left out: the page is full"));
    assert!(page.contains("- and 2990 more in the full report"));
    assert_eq!(page.matches("- **error**").count(), MAX_ANNOTATIONS);
    assert_eq!(annotations_of(&summary).len(), MAX_ANNOTATIONS);
}

#[test]
fn the_job_summary_stays_well_below_the_limit_and_is_cut_between_rows() {
    let page = markdown::job_summary(&huge());
    assert!(page.len() <= markdown::MAX_SUMMARY_BYTES && page.len() > markdown::MAX_SUMMARY_BYTES / 2);
    assert!(page.contains("left out: the page is full"));
    assert_eq!(page.matches("<details>").count(), page.matches("</details>").count());
    let rows = page.lines().filter(|line| line.starts_with('|'));
    assert!(rows.clone().count() > 100 && rows.into_iter().all(|row| row.ends_with('|')));
    assert!(page.contains("machine: calm unknown"));
}

#[test]
fn the_job_summary_shows_open_gates_and_folds_the_rest() {
    let page = markdown::job_summary(&sample());
    assert!(page.starts_with("## hookbench: FAIL (exit 1)"), "{page}");
    let folded = page.find("<details><summary>Gates that hold (1)").unwrap();
    for (word, open) in [("| FAIL | recall", true), ("| INCONCLUSIVE | tail", true), ("| PASS | clean", false)] {
        assert_eq!(page.find(word).unwrap() < folded, open, "{word}");
    }
}

#[test]
fn a_hooks_text_cannot_drive_the_terminal() {
    let text = terminal::render(&with_findings([(FindingKind::Crash, "\u{1b}[2Jred\n::error::x")]));
    assert!(text.contains("    | \u{fffd}[2Jred\n    | ::error::x\n"), "{text}");
    assert!(text.chars().all(|sign| sign == '\n' || !sign.is_control()));
}

#[test]
fn no_report_for_people_holds_a_sign_that_acts_or_reorders() {
    let hostile = "a\u{1b}[31m\u{9b}2J\u{202e}\u{2066}\u{200b}\u{7}b";
    let mut broken = step(hostile, hostile, 0, 0);
    broken.findings = vec![finding(FindingKind::Crash, hostile)];
    let mut events = run(1, [broken]);
    let judged = GateResult { name: hostile.to_owned(), reason: hostile.to_owned(), ..gate(Verdict::Fail) };
    events.insert(events.len() - 1, RunEvent::GateJudged(judged));
    let summary = Summary::of(&events);
    let reports = [
        ("terminal", terminal::render(&summary)),
        ("gates", terminal::gate_table(&summary)),
        ("markdown", markdown::render(&summary)),
        ("job summary", markdown::job_summary(&summary)),
        ("annotations", annotations::render(&summary, &Places::default())),
        ("html", html::render(&summary).unwrap()),
    ];
    for (name, text) in reports {
        assert!(text.contains("[31m") || text.contains("[31m".replace('[', "\\[").as_str()), "{name}: {text}");
        let acts = |sign: char| sign.is_control() && !matches!(sign, '\n' | '\t') || crate::golden::is_invisible(sign);
        let found: Vec<char> = text.chars().filter(|sign| acts(*sign)).collect();
        assert_eq!(found, Vec::<char>::new(), "{name}");
    }
}

#[test]
fn the_terminal_report_bounds_its_list_of_findings() {
    let mut events = vec![];
    for index in 0..31 {
        let mut broken = step("s", &format!("x{index}"), index, 0);
        broken.findings.push(finding(FindingKind::Crash, "signal 9"));
        events.push(broken);
    }
    let text = terminal::render(&Summary::of(&run(1, events.clone())));
    assert!(text.contains("\n  and 1 more\n"), "{text}");
    events.pop();
    assert!(!terminal::render(&Summary::of(&run(1, events))).contains("more"));
}
