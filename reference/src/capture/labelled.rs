//! How well the cue rules file sentences: counted over a hand-labelled list, each section against a stated bar.

#![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

use std::collections::BTreeMap;

use super::cue::{self, Cue};

/// Section, lowest precision and lowest recall in per cent.
const BARS: [(&str, usize, usize); 4] =
    [("decisions", 95, 90), ("failures", 95, 85), ("unresolved", 95, 90), ("validation", 95, 90)];

fn section(cue: Option<Cue>) -> &'static str {
    match cue {
        Some(Cue::Decision) => "decisions",
        Some(Cue::Failure) => "failures",
        Some(Cue::Unresolved) => "unresolved",
        Some(Cue::Validation) => "validation",
        None => "none",
    }
}

#[test]
fn labelled_sentences_are_filed_with_the_stated_precision_and_recall() {
    let mut counts: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let mut wrong = Vec::new();
    let rows: Vec<(&str, &str)> = include_str!("sentences.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .collect();
    assert!(rows.len() >= 280, "{}", rows.len());
    for (expected, text) in rows {
        // As a whole message, so that line marks and sentence ends take part.
        let cued = cue::sort(text).cued;
        let found = section(cued.first().map(|(cue, _)| *cue));
        if found == expected {
            counts.entry(expected).or_default()[0] += 1;
        } else {
            wrong.push(format!("{expected} → {found}: {text}"));
            counts.entry(found).or_default()[1] += 1;
            counts.entry(expected).or_default()[2] += 1;
        }
    }
    for (name, precision, recall) in BARS {
        let [right, false_alarms, missed] = counts.get(name).copied().unwrap_or_default();
        let shown = format!("{name}: {right} right, {false_alarms} false, {missed} missed\n{}", wrong.join("\n"));
        assert!(100 * right >= precision * (right + false_alarms), "precision of {shown}");
        assert!(100 * right >= recall * (right + missed), "recall of {shown}");
    }
}
