//! Which of the chosen memories say again, later and perhaps with another value, what an earlier one said.
//!
//! "The timeout is 30 s" and later "the timeout is 60 s" share all words but the number: showing both would leave
//! the reader to guess. Two memories are on the same subject when the words of their content, numbers aside, agree
//! by four fifths (Jaccard) and their affected paths, where both have some, share one. Looks at the few memories
//! about to be shown, never at the store; contradictions in other words are not found.

use std::collections::BTreeSet;

use crate::document::SourceDocument;

/// Share of common words from which on two memories are about the same.
const SAME: f32 = 0.8;

/// For each document whether a newer one in the list is on the same subject. Of equally old ones the first stays.
pub fn superseded(documents: &[&SourceDocument]) -> Vec<bool> {
    if documents.len() < 2 {
        return vec![false; documents.len()];
    }
    let words: Vec<BTreeSet<String>> = documents.iter().map(|document| words(document)).collect();
    let subjects: Vec<(&SourceDocument, &BTreeSet<String>)> = documents.iter().copied().zip(&words).collect();
    let is_newer = |a: usize, b: usize| {
        let time = |at: usize| subjects.get(at).map(|(document, _)| document.timestamp_ms);
        (time(a), b) > (time(b), a)
    };
    let numbered = || subjects.iter().enumerate();
    numbered()
        .map(|(at, one)| numbered().any(|(other, two)| at != other && is_newer(other, at) && is_same(one, two)))
        .collect()
}

/// Whether two memories are about one matter: a file in common or, where neither names a file, two fifths of their words.
pub fn one_matter(a: &SourceDocument, b: &SourceDocument) -> bool {
    if !a.links.is_empty() || !b.links.is_empty() {
        return a.links.iter().any(|path| b.links.contains(path));
    }
    let (a, b) = (words(a), words(b));
    let common = a.intersection(&b).count();
    5 * common >= 2 * a.len().min(b.len()) && common > 0
}

fn is_same(a: &(&SourceDocument, &BTreeSet<String>), b: &(&SourceDocument, &BTreeSet<String>)) -> bool {
    let common = a.1.intersection(b.1).count() as f32;
    let all = a.1.union(b.1).count() as f32;
    let (here, there) = (&a.0.links, &b.0.links);
    let place = here.is_empty() || there.is_empty() || here.iter().any(|path| there.contains(path));
    place && common > 0.0 && common >= SAME * all
}

/// Lower-case words of the sections, numbers aside. Plain words do: the same subject is said in the same words.
fn words(document: &SourceDocument) -> BTreeSet<String> {
    let sections = document.sections().filter(|(heading, _)| *heading != "Affected paths");
    let words = sections.flat_map(|(_, text)| text.split(|c: char| !c.is_alphanumeric()));
    let said = words.filter(|word| word.chars().count() > 1 && !word.bytes().any(|byte| byte.is_ascii_digit()));
    said.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::memory::tests::memory;

    #[test]
    fn field_report_86_of_two_values_for_one_subject_the_newer_stays() {
        let old = memory("old", "s1", "The timeout is 30 s", 1);
        let new = memory("new", "s2", "The timeout is 60 s", 2);
        let other = memory("other", "s3", "The retry limit is 5", 3);
        assert_eq!(superseded(&[&old, &new, &other]), [true, false, false]);
        assert_eq!(superseded(&[&new, &old, &other]), [false, true, false]);
    }

    #[test]
    fn same_words_about_other_files_stand_beside_each_other() {
        let mut one = memory("one", "s1", "Fix the flaky test", 1);
        let mut two = memory("two", "s2", "Fix the flaky test", 2);
        one.links = vec!["a.rs".to_owned()];
        two.links = vec!["b.rs".to_owned()];
        assert_eq!(superseded(&[&one, &two]), [false, false]);
    }

    #[test]
    fn one_matter_is_a_common_file_or_many_common_words() {
        let [mut one, mut two] = ["The payment timeout is 30 s", "Raised the payment timeout to 60 s at month end"]
            .map(|text| memory("m", "s", text, 1));
        assert!(one_matter(&one, &two));
        one.links = vec!["a.rs".to_owned()];
        assert!(!one_matter(&one, &two));
        two.links = vec!["b.rs".to_owned(), "a.rs".to_owned()];
        assert!(one_matter(&one, &two));
        assert!(!one_matter(&memory("x", "s", "Dark theme", 1), &memory("y", "t", "Retry policy", 2)));
    }

    #[test]
    fn of_two_equals_of_one_time_the_first_stays() {
        let one = memory("one", "s1", "Use the lock file", 1);
        let two = memory("two", "s2", "Use the lock file", 1);
        assert_eq!(superseded(&[&one, &two]), [false, true]);
    }
}
