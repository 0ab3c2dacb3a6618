//! The one text analyser: turns text of any kind into index terms, for documents and queries alike.
//!
//! Terms are lower-case. Words are stemmed (English); identifiers, paths, versions and error codes come whole
//! and in parts (`camelCase`, `snake_case`, `kebab-case`, path components); numbers stay; runs of CJK come as
//! overlapping pairs of characters. Input is brought to NFC first, so that both ways of writing `é` are one.
//!
//! There is no query syntax: every character that is not part of a term only separates terms. Work and output
//! are bounded by [`MAX_TEXT_BYTES`]; terms are never longer than [`MAX_TERM_BYTES`]. No table is built at
//! start. Lengths are in bytes.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Text after this many bytes is not read.
pub const MAX_TEXT_BYTES: usize = 1 << 20;
/// Whole identifiers and paths that are longer give no term of their own; their parts still do.
pub const MAX_TERM_BYTES: usize = 200;
/// A part that is longer is data (base64, a hash), not a word.
const MAX_WORD_BYTES: usize = 40;
/// Revisions are indexed in full and by this many leading digits, the shortest form that git prints.
const REVISION_PREFIX: usize = 7;

/// Calls `emit` once for each term of `text`, in order, repeats included.
pub fn analyze(text: &str, emit: &mut dyn FnMut(&str)) {
    let text = normalized(bounded(text));
    Terms::new(emit).text(&text);
}

/// Calls `emit` once for each term of a `/`- or `\`-separated path: the whole path first, whatever characters
/// it is made of, then its file name, then the parts of every component.
pub fn analyze_path(path: &str, emit: &mut dyn FnMut(&str)) {
    let path = normalized(bounded(path));
    let path = path.trim_matches(['/', '\\']);
    let mut terms = Terms::new(emit);
    terms.whole(path);
    if let Some(at) = path.rfind(['/', '\\']) {
        terms.whole(path.get(at + 1..).unwrap_or(""));
    }
    let mut components = path.split(['/', '\\']).peekable();
    while let Some(component) = components.next() {
        // A file name that is one identifier has been given whole already.
        let given = components.peek().is_none() && component.chars().all(is_word);
        for atom in component.split(|c: char| !is_word(c)).filter(|atom| !atom.is_empty()) {
            if atom.chars().any(is_cjk) {
                terms.text(atom);
            } else {
                terms.atom(atom, !given);
            }
        }
    }
}

/// All terms of `text`, as [`analyze`] gives them.
pub fn tokens(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    analyze(text, &mut |term| all.push(term.to_owned()));
    all
}

/// Collects terms for one call; holds the scratch space that lower-casing needs.
struct Terms<'a> {
    emit: &'a mut dyn FnMut(&str),
    stemmer: Stemmer,
    lower: String,
}

impl<'a> Terms<'a> {
    fn new(emit: &'a mut dyn FnMut(&str)) -> Self {
        Terms { emit, stemmer: Stemmer::create(Algorithm::English), lower: String::new() }
    }

    fn text(&mut self, text: &str) {
        let mut rest = text;
        while let Some(start) = rest.find(is_word) {
            rest = rest.get(start..).unwrap_or("");
            let first_is_cjk = rest.chars().next().is_some_and(is_cjk);
            let end = if first_is_cjk { cjk_end(rest) } else { run_end(rest) };
            let (run, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            if first_is_cjk {
                self.cjk(run);
            } else {
                self.run(run);
            }
            rest = after;
        }
    }

    /// A run of words and joiners: `foo`, `foo_bar`, `a::b.c`, `src/main.rs`.
    fn run(&mut self, run: &str) {
        let run = run.trim_matches('_');
        if !run.contains(is_joiner) {
            return self.atom(run, true);
        }
        self.whole(run);
        if let Some(name) = run.rfind('/').and_then(|at| run.get(at + 1..))
            && name.contains('.')
        {
            self.whole(name);
        }
        for atom in run.split(is_joiner) {
            self.atom(atom, true);
        }
    }

    /// One identifier or word; `with_whole` says whether an identifier of several parts is a term as well.
    fn atom(&mut self, atom: &str, with_whole: bool) {
        let atom = atom.trim_matches('_');
        if is_revision(atom) {
            self.whole(atom);
            if atom.len() > REVISION_PREFIX {
                self.whole(atom.get(..REVISION_PREFIX).unwrap_or(""));
            }
            return;
        }
        let mut end = part_end(atom);
        if with_whole && end < atom.len() {
            self.whole(atom);
        }
        let mut rest = atom;
        while !rest.is_empty() {
            let (part, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
            self.part(part);
            rest = after.trim_start_matches('_');
            end = part_end(rest);
        }
    }

    /// A word, stemmed, or a number.
    fn part(&mut self, part: &str) {
        if part.len() < 2 || part.len() > MAX_WORD_BYTES {
            return;
        }
        self.lower_case(part);
        if is_stop_word(&self.lower) {
            return;
        }
        if self.lower.len() > 2 && self.lower.bytes().all(|b| b.is_ascii_lowercase()) {
            (self.emit)(&self.stemmer.stem(&self.lower));
        } else {
            (self.emit)(&self.lower);
        }
    }

    /// A term as it stands, lower-cased, with `/` between path components.
    fn whole(&mut self, text: &str) {
        if text.len() < 2 || text.len() > MAX_TERM_BYTES {
            return;
        }
        self.lower_case(text);
        if self.lower.contains('\\') {
            self.lower = self.lower.replace('\\', "/");
        }
        (self.emit)(&self.lower);
    }

    /// Overlapping pairs; a single character stands alone.
    fn cjk(&mut self, run: &str) {
        let mut previous = None;
        for (at, c) in run.char_indices() {
            let end = at + c.len_utf8();
            match previous.replace(at) {
                Some(start) => (self.emit)(run.get(start..end).unwrap_or("")),
                None if end == run.len() => (self.emit)(run),
                None => {}
            }
        }
    }

    fn lower_case(&mut self, text: &str) {
        self.lower.clear();
        if text.is_ascii() {
            self.lower.push_str(text);
            self.lower.make_ascii_lowercase();
        } else {
            self.lower.extend(text.chars().flat_map(char::to_lowercase));
        }
    }
}

/// The longest prefix of at most [`MAX_TEXT_BYTES`] that ends between characters.
fn bounded(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT_BYTES)).unwrap_or(text)
}

fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.nfc().collect())
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || (!c.is_ascii() && c.is_alphanumeric())
}

/// Characters that hold an identifier or path together when a word stands on both sides.
fn is_joiner(c: char) -> bool {
    matches!(c, '.' | '/' | '-' | ':')
}

fn is_cjk(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{11FF}' | '\u{3040}'..='\u{30FF}' | '\u{3130}'..='\u{318F}' | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{FF66}'..='\u{FF9F}' | '\u{20000}'..='\u{3FFFF}')
}

fn cjk_end(text: &str) -> usize {
    text.find(|c| !is_cjk(c)).unwrap_or(text.len())
}

/// End of the run at the start of `text`: words joined by single joiners or by `::`.
fn run_end(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = text.get(end..).unwrap_or("");
        end += rest.find(|c| !is_word(c) || is_cjk(c)).unwrap_or(rest.len());
        let after = text.get(end..).unwrap_or("");
        let joiner = if after.starts_with("::") { 2 } else { 1 };
        let joined = after.chars().next().is_some_and(is_joiner)
            && after.get(joiner..).and_then(|next| next.chars().next()).is_some_and(|c| is_word(c) && !is_cjk(c));
        if !joined {
            return end;
        }
        end += joiner;
    }
}

/// End of the first part of an identifier: `HTTP|Server`, `camel|Case`, `snake|_case`, `utf|8`.
fn part_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    let Some((_, first)) = chars.next() else { return 0 };
    let mut previous = kind(first);
    let mut length = 1;
    while let Some((at, c)) = chars.next() {
        let next = kind(c);
        let ends = match (previous, next) {
            (_, Kind::Underscore) => true,
            (Kind::Lower, Kind::Lower) | (Kind::Digit, Kind::Digit) => false,
            // `HTTPServer`: the last capital of several begins the next word.
            (Kind::Upper, Kind::Upper) => chars.peek().is_some_and(|(_, after)| kind(*after) == Kind::Lower),
            (Kind::Upper, Kind::Lower) => length > 1,
            _ => true,
        };
        if ends {
            return at;
        }
        previous = next;
        length += 1;
    }
    text.len()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Lower,
    Upper,
    Digit,
    Underscore,
}

fn kind(c: char) -> Kind {
    match c {
        '_' => Kind::Underscore,
        'A'..='Z' => Kind::Upper,
        '0'..='9' => Kind::Digit,
        c if c.is_ascii() => Kind::Lower,
        c if c.is_uppercase() => Kind::Upper,
        c if c.is_numeric() => Kind::Digit,
        _ => Kind::Lower,
    }
}

/// Abbreviated or full revisions: hexadecimal with both digits and letters.
fn is_revision(atom: &str) -> bool {
    (REVISION_PREFIX..=64).contains(&atom.len())
        && atom.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        && atom.bytes().any(|b| b.is_ascii_digit())
        && atom.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Words that say nothing about what a memory is about, sorted. Short on purpose: frequent words that can be
/// the subject of work (`test`, `file`, `use`) are left to the ranking.
const STOP_WORDS: [&str; 84] = [
    "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can",
    "could", "did", "didn", "do", "does", "doesn", "don", "for", "from", "had", "has", "have", "how", "if", "in",
    "into", "is", "isn", "it", "its", "just", "let", "ll", "may", "me", "might", "my", "not", "now", "of", "on",
    "only", "or", "our", "please", "re", "should", "so", "some", "such", "than", "that", "the", "their", "them",
    "then", "there", "these", "they", "this", "those", "to", "us", "ve", "was", "we", "were", "what", "when", "where",
    "which", "why", "will", "with", "won", "would", "you", "your",
];

fn is_stop_word(word: &str) -> bool {
    word.len() <= 6 && STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path_tokens(path: &str) -> Vec<String> {
        let mut all = Vec::new();
        analyze_path(path, &mut |term| all.push(term.to_owned()));
        all
    }

    #[test]
    fn words_are_stemmed_and_stop_words_left_out() {
        assert_eq!(tokens("The parsers were parsing, and it parsed."), ["parser", "pars", "pars"]);
        assert!(STOP_WORDS.is_sorted(), "searched by halving");
    }

    #[test]
    fn identifiers_come_whole_and_split() {
        assert_eq!(tokens("write_spec"), ["write_spec", "write", "spec"]);
        assert_eq!(tokens("HTTPServerError"), ["httpservererror", "http", "server", "error"]);
        assert_eq!(tokens("__init__"), ["init"]);
        assert_eq!(tokens("max-depth"), ["max-depth", "max", "depth"]);
        assert_eq!(tokens("Vec::from_utf8"), ["vec::from_utf8", "vec", "from_utf8", "utf"]);
    }

    #[test]
    fn paths_in_text_and_paths_as_such_share_their_whole() {
        let text = tokens("see crates/core/Main.rs.");
        let path = path_tokens("crates/core/Main.rs");
        assert_eq!(path, ["crates/core/main.rs", "main.rs", "crate", "core", "main", "rs"]);
        assert!(path.iter().all(|term| text.contains(term)), "{text:?}");
        assert_eq!(path_tokens("Makefile"), ["makefile", "makefil"]);
        assert_eq!(path_tokens("src\\app\\[id].vue")[..2], ["src/app/[id].vue", "[id].vue"]);
    }

    #[test]
    fn numbers_error_codes_and_revisions_are_terms() {
        assert_eq!(tokens("#4242 failed with 503"), ["4242", "fail", "503"]);
        assert!(tokens("error E0277").contains(&"e0277".to_owned()));
        assert_eq!(tokens("4dfea016b9"), ["4dfea016b9", "4dfea01"]);
        assert_eq!(tokens("4dfea01"), ["4dfea01"]);
        assert_eq!(tokens("version 10.2.33")[1], "10.2.33");
    }

    #[test]
    fn field_report_71_any_part_of_a_cjk_sentence_is_found() {
        let stored = tokens("用户登录失败时系统自动重试三次");
        for part in ["登录失败", "自动重试"] {
            assert!(tokens(part).iter().all(|pair| stored.contains(pair)), "{part}");
        }
        let kana = tokens("キャッシュをクリアする");
        assert!(tokens("クリア").iter().all(|pair| kana.contains(pair)));
        let glued = tokens("修复parse_config的错误");
        assert!(glued.contains(&"parse_config".to_owned()) && glued.contains(&"错误".to_owned()), "{glued:?}");
        assert_eq!(tokens("猫"), ["猫"]);
    }

    #[test]
    fn field_report_73_query_syntax_is_only_text() {
        for (odd, plain) in [
            ("self-healing AND (", "self-healing and"),
            ("foo:bar*", "foo:bar"),
            ("NEAR(cache, 3)", "near cache"),
            ("\"unbalanced quote", "unbalanced quote"),
            ("* ^ ~2 [a TO b] {x} !", "to"),
            ("path/with/slash?", "path/with/slash"),
        ] {
            assert_eq!(tokens(odd), tokens(plain), "{odd}");
        }
        assert_eq!(tokens("C++ compiler"), ["compil"]);
    }

    #[test]
    fn both_ways_of_writing_an_accent_are_one() {
        assert_eq!(tokens("Caf\u{e9}"), tokens("Cafe\u{301}"));
        assert_eq!(path_tokens("docs/Cafe\u{301}.md"), path_tokens("docs/caf\u{e9}.md"));
    }

    #[test]
    fn terms_and_input_are_bounded() {
        let long = "a".repeat(500);
        assert!(tokens(&format!("{long} x/{long}/y.rs")).iter().all(|term| term.len() <= MAX_TERM_BYTES));
        let huge = "é1 ".repeat(MAX_TEXT_BYTES);
        assert!(tokens(&huge).len() <= MAX_TEXT_BYTES);
    }

    proptest::proptest! {
        #[test]
        fn any_text_gives_short_lower_case_terms(text in "\\PC{0,80}") {
            for term in tokens(&text).into_iter().chain(path_tokens(&text)) {
                let is_fit = !term.is_empty() && term.len() <= MAX_TERM_BYTES + 8;
                assert!(is_fit && !term.bytes().any(|byte| byte.is_ascii_uppercase()), "{term:?}");
            }
        }
    }

    #[test]
    fn odd_text_is_survived() {
        for text in
            ["", "_", "___", "::", "a::", "-a-", "\u{301}", "\u{0}\u{fffd}", "a\u{200b}b", "ǅ ﬁ ß İ", "::a::::b"]
        {
            tokens(text);
            path_tokens(text);
        }
    }
}
