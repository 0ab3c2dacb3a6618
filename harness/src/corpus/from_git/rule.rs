//! What the words of a commit message and the name of a file say: pure functions over text.
//!
//! English and the habits of public repositories are assumed. A message in another habit gives fewer links, never wrong
//! ones.

use std::collections::BTreeSet;

/// A number or a commit that a message names as its cause or its object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Named {
    /// An issue or pull request.
    Number(u64),
    /// The first digits of a commit id.
    Commit(String),
}

/// Endings of files that people write.
const SOURCE: [&str; 34] = [
    "rs", "py", "pyi", "go", "js", "mjs", "ts", "tsx", "jsx", "vue", "c", "h", "cc", "cpp", "hpp", "java", "kt", "rb",
    "php", "cs", "swift", "scala", "sh", "bash", "zsh", "fish", "toml", "yml", "yaml", "html", "css", "scss", "sql",
    "lua",
];

/// Words that open a name of a file which changes with everything.
const NOISY: [&str; 9] =
    ["change", "history", "release", "news", "authors", "contributors", "license", "copying", "readme"];

/// Whether links may be made through a file: source, and no file that changes with everything.
pub(super) fn is_source(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let known = SOURCE.contains(&ending) || ["makefile", "dockerfile", "justfile"].contains(&&*name);
    let manifest = ["cargo.toml", "go.mod", "package.json", "pyproject.toml"].contains(&&*name);
    known && !manifest && !NOISY.iter().any(|word| name.starts_with(word))
}

/// Whether a file is made by a program.
pub(super) fn is_generated(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let locks = ["package-lock.json", "pnpm-lock.yaml", "yarn.lock", "poetry.lock", "uv.lock", "go.sum"];
    locks.contains(&name)
        || [".lock", ".snap", ".min.js", ".map", ".svg"].iter().any(|ending| name.ends_with(ending))
        || path.split('/').any(|folder| folder == "vendor" || folder == "node_modules")
}

/// Whether a name or address belongs to a program.
pub(super) fn is_bot(name: &str) -> bool {
    let name = name.to_lowercase();
    ["[bot]", "dependabot", "renovate", "github-actions", "greenkeeper", "pre-commit-ci", "mergify", "weblate"]
        .iter()
        .any(|bot| name.contains(bot))
        || name.starts_with("bot@")
        || ["bors", "bot"].contains(&&*name)
}

/// Whether a subject announces nothing but housekeeping.
pub(super) fn is_housekeeping(subject: &str) -> bool {
    let subject = subject.trim().to_lowercase();
    let opens = [
        "merge ",
        "bump ",
        "release",
        "prepare release",
        "prepare for release",
        "version ",
        "chore(deps",
        "chore(release",
        "build(deps",
        "update changelog",
        "update dependencies",
        "auto merge",
        "rollup",
        "wip",
    ];
    let version = subject.trim_start_matches('v');
    let is_version = !version.is_empty() && version.chars().all(|sign| sign.is_ascii_digit() || sign == '.');
    is_version || opens.iter().any(|word| subject.starts_with(word))
}

/// Whether a subject tells of a change that a program made to many lines alike.
pub(super) fn is_mechanical(subject: &str) -> bool {
    let subject = subject.to_lowercase();
    let words = [
        "rustfmt",
        "cargo fmt",
        "clippy",
        "gofmt",
        "prettier",
        "isort",
        "flake8",
        "pyupgrade",
        "reformat",
        "run black",
        "formatting",
        "copyright",
        "license header",
        "typos",
        "typo",
    ];
    words.iter().any(|word| contains_word(&subject, word))
}

fn contains_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|text| text.chars().next());
        [before, after].iter().all(|sign| sign.is_none_or(|sign| !sign.is_alphanumeric()))
    })
}

/// The numbers that a text writes as `#12`, not as part of a word.
pub(super) fn numbers(text: &str) -> BTreeSet<u64> {
    text.match_indices('#')
        .filter(|(at, _)| {
            let before = text.get(..*at).and_then(|text| text.chars().next_back());
            before.is_none_or(|sign| sign.is_whitespace() || "([:".contains(sign))
        })
        .filter_map(|(at, _)| leading_number(text.get(at + 1..)?))
        .collect()
}

/// Up to six digits that no letter or digit follows.
fn leading_number(text: &str) -> Option<u64> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    let next = text.get(digits.len()..).and_then(|rest| rest.chars().next());
    let whole = next.is_none_or(|sign| !sign.is_alphanumeric());
    (whole && (1..=6).contains(&digits.len())).then(|| digits.parse().ok())?
}

/// The number in parentheses that ends a subject: a squashed pull request.
pub(super) fn trailing_number(subject: &str) -> Option<u64> {
    let inner = subject.trim_end().strip_suffix(')')?.rsplit_once("(#")?.1;
    inner.parse().ok().filter(|_| inner.len() <= 6)
}

/// Number and branch that the subject of a merge names.
pub(super) fn merge_of(subject: &str) -> (Option<u64>, Option<String>) {
    let words: Vec<&str> = subject.split_whitespace().collect();
    let number = words.iter().find_map(|word| word.strip_prefix('#').and_then(leading_number));
    let branch = match words.as_slice() {
        ["Merge", "pull", "request", _, "from", from, ..] => from.split_once('/').map(|(_, branch)| branch),
        ["Merge", "branch", name, ..] | ["Merge", "remote-tracking", "branch", name, ..] => {
            Some(name.trim_matches('\'').rsplit('/').next().unwrap_or(name))
        }
        _ => None,
    };
    (number, branch.map(str::to_owned))
}

/// What a message names as reverted, followed up or broken: a number or commit soon after such a word.
pub(super) fn named(message: &str) -> Vec<Named> {
    const CAUSES: [&str; 12] = [
        "revert",
        "reverts",
        "reverted",
        "fixup",
        "follow-up",
        "followup",
        "regression",
        "regressed",
        "introduced",
        "broken",
        "caused",
        "amends",
    ];
    // Words between a cause and what it names that do not break the link.
    const BETWEEN: [&str; 14] =
        ["commit", "pr", "pull", "request", "in", "by", "to", "of", "from", "this", "the", "for", "since", "is"];
    let words: Vec<&str> = message.split_whitespace().collect();
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let cause = word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
        if !CAUSES.contains(&&*cause) {
            continue;
        }
        for next in words.iter().skip(at + 1).take(5) {
            let bare = next.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '#');
            if let Some(number) = bare.strip_prefix('#').and_then(leading_number) {
                found.push(Named::Number(number));
                break;
            }
            if is_commit_id(bare) {
                found.push(Named::Commit(bare.to_owned()));
                break;
            }
            if !BETWEEN.contains(&&*bare.to_lowercase()) {
                break;
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// Seven to forty hexadecimal digits with a letter and a digit among them.
pub(super) fn is_commit_id(word: &str) -> bool {
    (7..=40).contains(&word.len())
        && word.chars().all(|sign| sign.is_ascii_digit() || ('a'..='f').contains(&sign))
        && word.chars().any(|sign| sign.is_ascii_digit())
        && word.chars().any(|sign| sign.is_ascii_lowercase())
}

/// A subject as a person would say it: without type prefix, brackets, numbers and commit ids.
pub(super) fn spoken(subject: &str) -> String {
    let subject = subject.trim().trim_start_matches(|sign: char| !sign.is_alphanumeric() && !"`'\"<(".contains(sign));
    let (said, rest) = match subject.split_once(':') {
        Some((prefix, rest)) if is_type(prefix) => (verb_of(prefix), rest),
        _ => ("", subject),
    };
    let words = rest.split_whitespace().filter(|word| {
        let bare = word.trim_matches(|sign: char| "()[],.;".contains(sign));
        bare.strip_prefix('#').is_none_or(|number| number.parse::<u64>().is_err()) && !is_commit_id(bare)
    });
    let text = [said].into_iter().filter(|said| !said.is_empty()).chain(words).collect::<Vec<_>>().join(" ");
    text.trim_matches(|sign: char| " .:-".contains(sign)).to_owned()
}

fn is_type(prefix: &str) -> bool {
    let word = prefix.split('(').next().unwrap_or_default().trim_end_matches('!');
    ["feat", "fix", "doc", "docs", "chore", "refactor", "perf", "test", "tests", "build", "ci", "style", "types"]
        .contains(&word)
}

fn verb_of(prefix: &str) -> &'static str {
    match prefix.split('(').next().unwrap_or_default().trim_end_matches('!') {
        "fix" => "fix",
        "feat" => "add",
        "perf" => "speed up",
        "refactor" => "refactor",
        "test" | "tests" => "test",
        "doc" | "docs" => "document",
        _ => "",
    }
}

/// The first sentence of a message body that says something: no list, quotation, reference or link.
pub(super) fn first_sentence(body: &str) -> String {
    let paragraphs = body.split("\n\n").map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "));
    let says = |text: &String| {
        let lower = text.to_lowercase();
        text.chars().count() >= 25
            && !text.starts_with(['-', '*', '#', '>', '`', '|', '<'])
            && !["fix #", "fixes", "close", "see ", "ref", "part of", "http"].iter().any(|word| lower.starts_with(word))
    };
    let Some(text) = paragraphs.into_iter().find(says) else { return String::new() };
    let end = text
        .match_indices(['.', '!', '?'])
        .map(|(at, _)| at + 1)
        .find(|end| *end >= 25 && text.get(*end..).is_none_or(|rest| rest.is_empty() || rest.starts_with(' ')));
    let sentence = end.and_then(|end| text.get(..end)).unwrap_or(&text);
    sentence.chars().take(260).collect()
}

/// The name that a line of code defines, if it is one of the usual definitions.
pub(super) fn defined(line: &str) -> Option<&str> {
    const KEYWORDS: [&str; 13] = [
        "fn",
        "def",
        "class",
        "func",
        "function",
        "struct",
        "enum",
        "trait",
        "impl",
        "mod",
        "interface",
        "type",
        "const",
    ];
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(2).find_map(|pair| match pair {
        [keyword, name] if KEYWORDS.contains(keyword) => identifier(name),
        _ => None,
    })
}

/// The identifier that a word opens with: three signs at least.
fn identifier(word: &str) -> Option<&str> {
    let end = word.find(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_').unwrap_or(word.len());
    let name = word.get(..end)?;
    (name.len() >= 3 && !name.starts_with(|sign: char| sign.is_ascii_digit())).then_some(name)
}

/// Identifiers of code lines that are worth a search, best first: defined names, then names of several words.
pub(super) fn searchable(lines: &[String]) -> Vec<String> {
    let mut scores: std::collections::BTreeMap<String, u32> = std::collections::BTreeMap::new();
    for line in lines {
        if let Some(name) = defined(line).filter(|name| name.len() >= 6) {
            *scores.entry(name.to_owned()).or_default() += 5;
        }
        for word in line.split(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_') {
            let inner = word.trim_matches('_');
            let several = inner.contains('_')
                || inner
                    .as_bytes()
                    .windows(2)
                    .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
            if word.len() >= 6 && several {
                *scores.entry(word.to_owned()).or_default() += 1;
            }
        }
    }
    let mut names: Vec<(String, u32)> = scores.into_iter().collect();
    names.sort_by(|left, right| right.1.cmp(&left.1).then(right.0.len().cmp(&left.0.len())).then(left.0.cmp(&right.0)));
    names.into_iter().map(|(name, _)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_alone() {
        assert_eq!(numbers("fix #12 and (#345), not a#7, x#8 or #1234567 or #12a"), BTreeSet::from([12, 345]));
        assert_eq!(trailing_number("Add it (#77)"), Some(77));
        assert_eq!(trailing_number("Add it (#77) again"), None);
    }

    #[test]
    fn merges_name_number_and_branch() {
        assert_eq!(merge_of("Merge pull request #9 from someone/fix/lock"), (Some(9), Some("fix/lock".to_owned())));
        assert_eq!(merge_of("Merge branch 'topic'"), (None, Some("topic".to_owned())));
        assert_eq!(merge_of("Something else"), (None, None));
    }

    #[test]
    fn causes_are_linked_to_what_they_name() {
        let named_in = |text| named(text);
        assert_eq!(named_in("This reverts commit 1a2b3c4d5e."), [Named::Commit("1a2b3c4d5e".to_owned())]);
        assert_eq!(named_in("follow-up to #41"), [Named::Number(41)]);
        assert_eq!(named_in("a regression introduced in #5"), [Named::Number(5)]);
        assert_eq!(named_in("reverted because nobody wanted it, see #6"), []);
        assert_eq!(named_in("deadbeef feedface"), []);
    }

    #[test]
    fn subjects_are_spoken_without_marks() {
        assert_eq!(spoken("fix(queue): keep the lease (#12)"), "fix keep the lease");
        assert_eq!(spoken("Keep the lease, see 1a2b3c4d"), "Keep the lease, see");
        assert_eq!(spoken("chore: tidy"), "tidy");
    }

    #[test]
    fn a_sentence_says_something() {
        let body = "Fixes #12.\n\n- a list\n\nThe lease was renewed too late by the worker. More.";
        assert_eq!(first_sentence(body), "The lease was renewed too late by the worker.");
        assert_eq!(first_sentence("short"), "");
    }

    #[test]
    fn source_is_told_from_noise() {
        for path in ["src/a.rs", "Makefile", "x/y.toml"] {
            assert!(is_source(path), "{path}");
        }
        for path in ["CHANGELOG.md", "Cargo.toml", "release.py", "a.png", "README.html"] {
            assert!(!is_source(path), "{path}");
        }
        assert!(is_generated("a/vendor/b.rs") && is_generated("Cargo.lock") && !is_generated("src/lock.rs"));
    }

    #[test]
    fn searchable_names_have_several_words_or_a_definition() {
        let lines = ["fn write_spec(x: u8) {".to_owned(), "let plain = someValue + write_spec(2);".to_owned()];
        assert_eq!(searchable(&lines), ["write_spec", "someValue"]);
        assert_eq!(defined("pub struct Lease<'a> {"), Some("Lease"));
    }

    #[test]
    fn housekeeping_and_mechanical_changes_are_known() {
        assert!(is_housekeeping("v1.2.3") && is_housekeeping("Bump serde") && !is_housekeeping("Keep versions"));
        assert!(is_mechanical("Run rustfmt") && is_mechanical("fix typo") && !is_mechanical("fix the typography"));
        assert!(is_bot("dependabot[bot]") && is_bot("bors") && !is_bot("Abbot Bottle"));
    }
}
