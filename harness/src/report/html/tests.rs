#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::collections::HashSet;
use std::path::Path;

use super::*;
use crate::record::replay;
use crate::run_event::{Arm, FindingKind, GateResult, OnInconclusive, RunEvent, Severity, StepResult, Verdict};
use crate::summary::fixture::{finding, header, retrieved, run, step};

fn page(events: &[RunEvent]) -> String {
    render(&Summary::of(events)).unwrap()
}

fn sample() -> String {
    render(&replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/run-v1")).unwrap()).unwrap()
}

fn gate(name: &str, expression: &str, verdict: Verdict) -> RunEvent {
    RunEvent::GateJudged(GateResult {
        name: name.to_owned(),
        expression: expression.to_owned(),
        verdict,
        severity: Severity::Fail,
        on_inconclusive: OnInconclusive::Warn,
        estimate: Some(4_000.0),
        unit: String::new(),
        interval: None,
        n: 12,
        reason: "the reason".to_owned(),
        remedy: "do `this`".to_owned(),
    })
}

/// What stands between the tags of the section with this id.
fn section<'a>(page: &'a str, id: &str) -> &'a str {
    let start = page.find(&format!("<section id=\"{id}\"")).unwrap();
    let rest = page.get(start..).unwrap();
    rest.get(..rest.find("</section>").unwrap()).unwrap()
}

#[test]
fn the_page_asks_for_nothing() {
    let page = sample();
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'"));
    for reach in ["<script", "<link", "<img", "<iframe", "url(", "@import", "http:", "https:", "src=", " on", "//"] {
        let style = super::STYLE.contains(reach);
        let markup = page.split("</style>").nth(1).unwrap();
        let in_tag = markup.split('<').any(|tag| tag.split('>').next().unwrap().contains(reach));
        assert!(!style || reach == " on", "style: {reach}");
        assert!(!in_tag || reach == " on", "markup: {reach}");
    }
    let attributes = page.split('<').filter_map(|tag| tag.split('>').next());
    assert!(attributes.flat_map(str::split_whitespace).all(|word| !word.starts_with("on") || !word.contains('=')));
}

#[test]
fn every_section_says_what_the_run_says() {
    let page = sample();
    assert!(page.contains("<h1 class=\"verdict fail\"><span class=\"sign\" aria-hidden=\"true\">✕</span>FAIL</h1>"));
    let gates = section(&page, "gates");
    for word in ["PASS", "FAIL", "INCONCLUSIVE", "SKIPPED"] {
        assert!(gates.contains(&format!("</span>{word}</span>")), "{word}");
    }
    assert!(gates.contains("n too small: 24 samples of 59 needed"), "{gates}");
    assert!(gates.find("FAIL").unwrap() < gates.find("INCONCLUSIVE").unwrap());
    // 12 calls name a median of 3.48 ms beside the floor's 820 µs, and no tail: 4.23 times the floor.
    let wall = section(&page, "wall");
    assert!(wall.contains("3.48\u{a0}ms") && wall.contains("820\u{a0}µs") && wall.contains("4.23×"), "{wall}");
    assert!(wall.contains("n\u{a0}&lt;\u{a0}299") && !wall.contains("class=\"p95\""), "{wall}");
    assert!(section(&page, "findings").contains("exit code 2, expected 0: read stderr"));
    assert!(section(&page, "retrieval").contains("precision@1") && page.contains("First ten ranks"));
    assert!(section(&page, "flips").contains("No step changed between rounds."));
    assert!(section(&page, "budget").contains("10,000 UTF-16 units"));
    assert!(section(&page, "again").contains("hookbench run recall faults --hook sample-hook --repeat 6 --seed 7"));
}

#[test]
fn the_same_run_gives_the_same_bytes() {
    assert_eq!(sample(), sample());
}

#[test]
fn ids_are_unique_and_every_link_and_label_has_its_target() {
    let page = sample();
    let values = |attribute: &str| {
        let mark = format!(" {attribute}=\"");
        page.split(&mark).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ids = values("id");
    let unique: HashSet<&String> = ids.iter().collect();
    assert_eq!(ids.len(), unique.len());
    let mut targets = values("aria-labelledby");
    targets.extend(values("aria-describedby"));
    targets.extend(values("href").into_iter().map(|link| link.trim_start_matches('#').to_owned()));
    assert!(targets.len() > 20);
    for target in targets {
        assert!(unique.contains(&target), "{target}");
    }
}

#[test]
fn hostile_text_is_text_everywhere() {
    let evil = "\"><script>alert(1)</script><svg onload=x>'&\u{1b}[31m";
    let hostile = |round: u32, arm: Arm| -> StepResult {
        let mut result = step(evil, evil, 0, round);
        result.arm = arm;
        result.event = evil.to_owned();
        result.injected_utf16 = 20_000;
        result.retrieved = Some(retrieved(&[evil], &[(evil, 2)], 0));
        if round == 0 && arm == Arm::Candidate {
            result.findings.push(finding(FindingKind::GoldenChanged, &format!("differs:\n- {evil}\n+ {evil}")));
        }
        result
    };
    let mut head = header(&[evil], 6);
    (head.hook_command, head.machine, head.baseline_command) =
        (evil.to_owned(), evil.to_owned(), Some(evil.to_owned()));
    let mut events = vec![RunEvent::RunStarted(head)];
    events.extend((0..6).map(|round| RunEvent::StepFinished(hostile(round, Arm::Candidate))));
    events.extend((0..6).map(|round| RunEvent::StepFinished(hostile(round, Arm::Baseline))));
    events.push(gate(evil, evil, Verdict::Fail));
    events.push(RunEvent::RunFinished);
    let page = page(&events);
    assert!(!page.contains("<script") && !page.contains("<svg onload"), "a tag got through");
    assert!(page.matches("&lt;script&gt;").count() > 10);
    // Each text between quotes ends where the page wanted it to: no attribute holds a bare sign.
    assert!(!page.contains("\"\">") && !page.contains("='&"));
    assert!(!section(&page, "findings").contains('\u{1b}'));
    roxmltree::Document::parse(page.get(page.find("<svg").unwrap()..page.find("</svg>").unwrap() + 6).unwrap())
        .unwrap();
}

#[test]
fn a_large_run_stays_a_page_and_says_what_it_leaves_out() {
    let broken = |index: u32| {
        let mut broken = step(&format!("scenario-{index}-{}", "n".repeat(60)), "x", 0, 0);
        broken.event = format!("Event{}", index % 60);
        broken.injected_utf16 = 50;
        broken.retrieved = Some(retrieved(&["b"], &[("a", 2)], 0));
        broken.findings.push(finding(FindingKind::Crash, &"a line of a message\n".repeat(2_000)));
        broken
    };
    let mut events = run(1, (0..3_000).map(broken));
    events.extend((0..500).map(|nth| gate(&format!("g{nth}"), "leak.count == 0", Verdict::Fail)));
    let page = page(&events);
    assert!(page.len() < 3 << 20, "{} bytes", page.len());
    assert!(page.contains("2880 more steps left out here"), "findings");
    assert!(page.contains("200 more gates left out here"), "gates");
    assert!(page.contains("20 more events left out here"), "events");
    assert!(page.contains("2850 more questions left out here"), "questions");
    assert!(page.contains("2601 more scenarios left out here"), "scenarios");
    assert!(page.contains("1920 more lines left out"), "lines");
}

#[test]
fn a_baseline_is_drawn_compared_and_its_flips_are_named() {
    let answered = |round: u32, arm: Arm, ranked: &[&str], cpu_us: u64| {
        let mut result = step("s", "ask", 0, round);
        result.arm = arm;
        result.observation.cpu = std::time::Duration::from_micros(cpu_us);
        result.retrieved = Some(retrieved(ranked, &[("a", 2)], 0));
        result
    };
    let both = (0..6).flat_map(|round| {
        [answered(round, Arm::Candidate, &["x", "a"], 3_000), answered(round, Arm::Baseline, &["a"], 2_000)]
    });
    let page = page(&run(6, both));
    assert!(section(&page, "cpu").contains("1.50× baseline"), "{}", section(&page, "cpu"));
    assert!(section(&page, "cpu").contains("baseline: 6 calls, p50 2.00\u{a0}ms"));
    let flips = section(&page, "flips");
    assert!(flips.contains("<td>first relevant rank</td><td>1</td><td>2</td><td class=\"nowrap worse\">↓ worse</td>"));
    let one_hook = super::render(&Summary::of(&run(1, [step("s", "x", 0, 0)]))).unwrap();
    assert!(!one_hook.contains("key base") && !section(&one_hook, "flips").contains("baseline"));
}

#[test]
fn bounds_of_gates_stand_on_the_bars_they_are_about() {
    let text = |event: &str, index: u32| {
        let mut step = step("s", &format!("x{index}"), index, 0);
        (step.event, step.injected_utf16) = (event.to_owned(), 2_500);
        step
    };
    let mut events = run(1, [text("SessionStart", 0), text("UserPromptSubmit", 1)]);
    events.push(gate("start", "budget.utf16.max[event=SessionStart] <= 4000", Verdict::Pass));
    let page = page(&events);
    let budget = section(&page, "budget");
    assert!(budget.contains("<rect class=\"hook\" x=\"0%\" y=\"7\" width=\"25%\" height=\"8\"/>"), "{budget}");
    assert_eq!(budget.matches("<line class=\"bound\" x1=\"40%\"").count(), 1);
    assert!(budget.contains("largest text 2,500 of 10,000 units; gate start at 4,000."));
}

#[test]
fn runs_without_anything_still_make_a_page() {
    let empty = render(&Summary::default()).unwrap();
    assert!(empty.contains("No scenario matched.") && empty.contains("INCONCLUSIVE"));
    let mut events = run(1, [step("s", "x", 0, 0)]);
    events.pop();
    assert!(page(&events).contains("the run was stopped"));
}
