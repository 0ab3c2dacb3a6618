//! The labelled steps as TREC files: a run (what came, ranked) and qrels (what was relevant), for trec_eval.
//!
//! A query is `scenario/step` with white space and percent signs escaped. The run holds the usual answer of the hook
//! under test: the one that came most often. Scores fall by one a rank, so no tool can reorder ties. A step that should
//! stay silent has no line in either file, and one that delivered nothing has none in the run: ask trec_eval for the
//! mean over all queries (`-c`).

use std::collections::HashSet;
use std::fmt::Write as _;

use crate::run_event::Retrieved;
use crate::summary::{StepSummary, Summary};

/// Last word of every line of a run.
const TAG: &str = "hookbench";

/// `qid Q0 docid rank score tag`, a line for each ranked id.
pub fn run(summary: &Summary) -> String {
    let mut text = String::new();
    for (query, answer) in queries(summary) {
        // An id that comes twice counts at its first rank, and trec_eval refuses a second line.
        let mut seen = HashSet::new();
        let ranked: Vec<&String> = answer.ranked.iter().filter(|id| seen.insert(*id)).collect();
        for (index, id) in ranked.iter().enumerate() {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{query} Q0 {} {} {} {TAG}", word(id), index + 1, ranked.len() - index);
        }
    }
    text
}

/// `qid 0 docid grade`, a line for each label.
pub fn qrels(summary: &Summary) -> String {
    let mut text = String::new();
    for (query, answer) in queries(summary) {
        let mut seen = HashSet::new();
        for (id, grade) in answer.relevant.iter().filter(|(id, _)| seen.insert(id)) {
            let _ = writeln!(text, "{query} 0 {} {grade}", word(id));
        }
    }
    text
}

fn queries(summary: &Summary) -> impl Iterator<Item = (String, &Retrieved)> {
    let query = |step: &StepSummary| word(&format!("{}/{}", step.scenario, step.step));
    summary.steps().iter().filter_map(move |step| Some((query(step), usual_answer(step)?)))
}

/// The answer that came most often; of equals the one that came first. `None` for a step without labels.
pub(super) fn usual_answer(step: &StepSummary) -> Option<&Retrieved> {
    let mut usual: Option<(&Retrieved, u32)> = None;
    for (answer, n_calls) in step.answers() {
        if usual.is_none_or(|(_, most)| n_calls > most) {
            usual = Some((answer, n_calls));
        }
    }
    usual.map(|(answer, _)| answer)
}

/// Text as one word: white space, control signs and `%` become `%XX` of their bytes; nothing becomes `%`.
fn word(text: &str) -> String {
    if text.is_empty() {
        return "%".to_owned();
    }
    let mut word = String::with_capacity(text.len());
    for sign in text.chars() {
        if sign.is_whitespace() || sign.is_control() || sign == '%' {
            for byte in sign.encode_utf8(&mut [0; 4]).bytes() {
                let _ = write!(word, "%{byte:02X}");
            }
        } else {
            word.push(sign);
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_event::StepResult;
    use crate::summary::fixture::{retrieved, step, summary};

    fn labelled(name: &str, index: u32, round: u32, ranked: &[&str], relevant: &[(&str, u8)]) -> StepResult {
        let mut step = step("s", name, index, round);
        step.retrieved = Some(retrieved(ranked, relevant, 0));
        step
    }

    #[test]
    fn lines_follow_the_ranks_of_the_usual_answer() {
        let run_of = summary(
            3,
            [
                labelled("ask it", 0, 0, &["c"], &[("a", 3)]),
                labelled("ask it", 0, 1, &["b", "a", "b"], &[("a", 3)]),
                labelled("ask it", 0, 2, &["b", "a", "b"], &[("a", 3)]),
                labelled("quiet", 1, 0, &[], &[]),
                step("s", "plain", 2, 0),
            ],
        );
        assert_eq!(run(&run_of), "s/ask%20it Q0 b 1 2 hookbench\ns/ask%20it Q0 a 2 1 hookbench\n");
        assert_eq!(qrels(&run_of), "s/ask%20it 0 a 3\n");
    }

    #[test]
    fn names_become_single_words_and_stay_apart() {
        let names = ["a b", "a%20b", "a\u{3000}b", "a\nb", ""];
        let words: HashSet<String> = names.iter().map(|name| word(name)).collect();
        assert_eq!(words.len(), names.len());
        assert!(words.iter().all(|word| !word.is_empty() && word.split_whitespace().count() == 1));
    }
}
