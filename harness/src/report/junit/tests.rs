//! The file against the rules of `junit-10.xsd` of Jenkins' xUnit plugin, written down here as data.

#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::path::Path;

use roxmltree::{Document, Node};

use super::*;
use crate::record::replay;
use crate::run_event::{FindingKind, RunEvent, StepResult};
use crate::summary::fixture::{finding, run, step};

/// What an element may look like.
struct Rule {
    element: &'static str,
    must: &'static [&'static str],
    may: &'static [&'static str],
    holds: &'static [&'static str],
}

const RULES: [Rule; 7] = [
    Rule {
        element: "testsuites",
        must: &[],
        may: &["name", "time", "tests", "failures", "errors"],
        holds: &["testsuite"],
    },
    Rule {
        element: "testsuite",
        must: &["name", "tests", "failures", "errors"],
        may: &["time", "skipped", "timestamp", "hostname", "id", "package", "group"],
        holds: &["testcase", "properties", "system-out", "system-err"],
    },
    Rule {
        element: "testcase",
        must: &["name"],
        may: &["time", "classname"],
        holds: &["skipped", "error", "failure", "system-out", "system-err"],
    },
    Rule { element: "failure", must: &[], may: &["type", "message"], holds: &[] },
    Rule { element: "error", must: &[], may: &["type", "message"], holds: &[] },
    Rule { element: "skipped", must: &[], may: &["type", "message"], holds: &[] },
    Rule { element: "system-out", must: &[], may: &[], holds: &[] },
];

/// Everything that a strict reader would refuse.
fn faults(xml: &str) -> Vec<String> {
    let document = match Document::parse(xml) {
        Ok(document) => document,
        Err(error) => return vec![error.to_string()],
    };
    let mut faults = Vec::new();
    let legal = |sign: char| matches!(sign, '\t' | '\n' | '\r' | '\u{20}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}');
    if let Some(sign) = xml.chars().find(|sign| !legal(*sign)) {
        faults.push(format!("sign {sign:?}"));
    }
    if document.root_element().tag_name().name() != "testsuites" {
        faults.push("root".to_owned());
    }
    for node in document.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        let Some(Rule { must, may, holds, .. }) = RULES.iter().find(|rule| rule.element == name) else {
            faults.push(format!("element {name}"));
            continue;
        };
        faults
            .extend(must.iter().filter(|key| node.attribute(**key).is_none()).map(|key| format!("{name} lacks {key}")));
        let known = |key: &str| must.contains(&key) || may.contains(&key);
        faults.extend(node.attributes().filter(|at| !known(at.name())).map(|at| format!("{name} has {}", at.name())));
        let children = node.children().filter(Node::is_element).map(|child| child.tag_name().name());
        faults.extend(children.filter(|child| !holds.contains(child)).map(|child| format!("{child} in {name}")));
        if let Some(time) = node.attribute("time") {
            let plain = time.chars().all(|sign| sign.is_ascii_digit() || sign == '.');
            if !plain || time.parse::<f64>().is_err() {
                faults.push(format!("time {time}"));
            }
        }
        counts(node, &mut faults);
    }
    faults
}

fn counts(node: Node<'_, '_>, faults: &mut Vec<String>) {
    if !matches!(node.tag_name().name(), "testsuites" | "testsuite") {
        return;
    }
    let all = |name: &str| node.descendants().filter(|child| child.tag_name().name() == name).count();
    for (key, element) in [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
    {
        let said = node.attribute(key).map(|said| said.parse::<usize>().unwrap());
        if said.is_some_and(|said| said != all(element)) {
            faults.push(format!("{key} says {said:?}, there are {}", all(element)));
        }
    }
}

fn broken(index: u32, kind: FindingKind, message: &str) -> StepResult {
    let mut broken = step("s", &format!("x{index}"), index, 0);
    broken.findings.push(finding(kind, message));
    broken
}

#[test]
fn the_committed_run_keeps_to_the_schema_and_its_counts_add_up() {
    let sample = replay(&Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/run-v1")).unwrap();
    assert_eq!(faults(&render(&sample)), Vec::<String>::new());
}

#[test]
fn hostile_text_keeps_to_the_schema() {
    let hostile: String =
        ('\0'..='\u{2ff}').chain(['\u{fffd}', '\u{fffe}', '\u{ffff}', '\u{1f600}', '\u{10ffff}']).collect();
    let hostile = format!("{hostile}]]></failure><!--&#0;&bogus;\u{1b}[31mred\u{1b}[0m");
    let mut result = broken(0, FindingKind::Crash, &hostile);
    result.step = hostile.clone();
    result.scenario = hostile;
    let mut events = run(1, [result, broken(1, FindingKind::NotStarted, "no")]);
    events.pop();
    let xml = render(&Summary::of(&events));
    assert_eq!(faults(&xml), Vec::<String>::new());
    assert!(xml.contains("red") && !xml.contains("\u{1b}"));
}

#[test]
fn what_was_never_judged_is_an_error_and_all_else_a_failure() {
    let xml = render(&Summary::of(&run(
        1,
        [broken(0, FindingKind::NotStarted, "no such file"), broken(1, FindingKind::Timeout, "late")],
    )));
    let document = Document::parse(&xml).unwrap();
    let sort_of = |case: &str| {
        let found = document.descendants().find(|node| node.attribute("name") == Some(case)).unwrap();
        found.first_element_child().unwrap().tag_name().name().to_owned()
    };
    assert_eq!((sort_of("x0").as_str(), sort_of("x1").as_str()), ("error", "failure"));
}

#[test]
fn texts_are_bounded_and_say_what_is_missing() {
    let xml = render(&Summary::of(&run(1, [broken(0, FindingKind::Crash, &"é".repeat(50_000))])));
    assert!(xml.len() < 50_000, "{}", xml.len());
    assert!(xml.contains("(49000 more characters)"), "{}", xml.get(..400).unwrap_or_default());
    assert_eq!(faults(&xml), Vec::<String>::new());
}

#[test]
fn the_checker_refuses_what_the_schema_refuses() {
    let refused = [
        "<testsuites skipped=\"0\"/>",
        "<testsuites><testsuite name=\"a\" tests=\"0\" failures=\"0\"/></testsuites>",
        "<testsuites tests=\"2\"/>",
        "<testsuites><testcase name=\"a\"/></testsuites>",
        "<testsuites time=\"1s\"/>",
        "<testsuites>\u{fffe}</testsuites>",
        "<testsuite/>",
        "<testsuites>",
    ];
    for xml in refused {
        assert!(!faults(xml).is_empty(), "{xml}");
    }
    assert_eq!(faults("<testsuites tests=\"0\"/>"), Vec::<String>::new());
}

#[test]
fn an_empty_run_keeps_to_the_schema() {
    assert_eq!(faults(&render(&Summary::default())), Vec::<String>::new());
    let nothing = Summary::of(&[RunEvent::RunFinished]);
    assert_eq!(faults(&render(&nothing)), Vec::<String>::new());
}
