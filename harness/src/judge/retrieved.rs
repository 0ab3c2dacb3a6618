//! Ids in delivered text, ranked and weighed: the input of the quality measures.
//!
//! Pure. Which ids are right comes from the step's labels; how good a ranking is, is computed elsewhere.

use crate::run_event::Retrieved;
use crate::scenario::Relevant;

/// The ids in the delivered text in order, with the step's labels.
///
/// Each id counts at its first place. With an id pattern every id of the text is ranked, else only labelled ids
/// can be seen. An item begins at the line of its id (at the id itself when another id stands before it on the
/// line) and ends where the next item begins; without a pattern it ends with its line.
pub fn retrieved(relevant: &Relevant, text: &str) -> Retrieved {
    let hits = match &relevant.id_pattern {
        Some(pattern) => pattern
            .regex
            .captures_iter(text)
            .filter_map(|hit| {
                let whole = hit.get(0)?;
                Some((whole.start(), hit.get(1).unwrap_or(whole).as_str().to_owned()))
            })
            .collect(),
        None => labelled_ids(relevant, text),
    };
    let mut ranked: Vec<String> = Vec::new();
    let mut relevant_bytes = 0;
    for (index, (at, id)) in hits.iter().enumerate() {
        let end = match (hits.get(index + 1), &relevant.id_pattern) {
            (Some((next, _)), Some(_)) => item_start(text, *next, Some(*at)),
            (None, Some(_)) => text.len(),
            (next, None) => next.map_or(text.len(), |(next, _)| *next).min(line_end(text, *at)),
        };
        let start = item_start(text, *at, index.checked_sub(1).and_then(|before| hits.get(before)).map(|hit| hit.0));
        if relevant.grades.iter().any(|(labelled, _)| labelled == id) {
            relevant_bytes += end.saturating_sub(start) as u64;
        }
        if !ranked.contains(id) {
            ranked.push(id.clone());
        }
    }
    Retrieved { ranked, relevant: relevant.grades.clone(), relevant_bytes }
}

/// Places of the labelled ids, in text order. An id inside a longer labelled one does not count.
fn labelled_ids(relevant: &Relevant, text: &str) -> Vec<(usize, String)> {
    let mut hits: Vec<(usize, String)> = Vec::new();
    let mut ids: Vec<&String> = relevant.grades.iter().map(|(id, _)| id).collect();
    ids.sort_by_key(|id| std::cmp::Reverse(id.len()));
    for id in ids {
        for (at, _) in text.match_indices(id.as_str()) {
            let taken = hits.iter().any(|(start, other)| at >= *start && at + id.len() <= start + other.len());
            if !taken {
                hits.push((at, id.clone()));
            }
        }
    }
    hits.sort();
    hits
}

fn item_start(text: &str, at: usize, before: Option<usize>) -> usize {
    let line = text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |newline| newline + 1);
    if before.is_some_and(|before| before >= line) { at } else { line }
}

fn line_end(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |newline| at + newline + 1)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
    use super::*;
    use crate::scenario::Pattern;

    fn labels(grades: &[(&str, u8)], id_pattern: Option<&str>) -> Relevant {
        Relevant {
            grades: grades.iter().map(|(id, grade)| ((*id).to_owned(), *grade)).collect(),
            id_pattern: id_pattern.map(|text| Pattern::new(text).unwrap()),
        }
    }

    #[test]
    fn ids_are_ranked_by_first_place_and_items_weighed_to_the_next() {
        let text = "Memory:\n- [m-2] beta\n  more\n- [m-1] alpha\n- [m-2] again\n";
        let found = retrieved(&labels(&[("m-2", 3), ("m-9", 1)], Some(r"\[(m-\d+)\]")), text);
        assert_eq!(found.ranked, ["m-2", "m-1"]);
        let relevant = "- [m-2] beta\n  more\n- [m-2] again\n";
        assert_eq!(found.relevant_bytes, relevant.len() as u64);
        assert_eq!(found.relevant, [("m-2".to_owned(), 3), ("m-9".to_owned(), 1)]);
    }

    #[test]
    fn two_ids_on_one_line_share_it() {
        let found = retrieved(&labels(&[("m-1", 3)], Some(r"m-\d")), "see m-1 and m-2\n");
        assert_eq!(found.relevant_bytes, "see m-1 and ".len() as u64);
    }

    #[test]
    fn without_a_pattern_only_labelled_ids_are_seen() {
        let found = retrieved(&labels(&[("src/a", 2), ("src/a.rs", 3)], None), "x src/a.rs y\nfoo\nsrc/a z\n");
        assert_eq!(found.ranked, ["src/a.rs", "src/a"]);
        assert_eq!(found.relevant_bytes, ("x src/a.rs y\n".len() + "src/a z\n".len()) as u64);
    }

    #[test]
    fn step_that_should_inject_nothing_ranks_what_it_did_inject() {
        let found = retrieved(&labels(&[], Some(r"m-\d")), "m-1");
        assert_eq!((found.ranked.len(), found.relevant.len(), found.relevant_bytes), (1, 0, 0));
    }
}
