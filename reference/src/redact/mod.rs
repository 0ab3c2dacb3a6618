//! Takes secrets out of text, on the way into the store and again on the way out.
//!
//! One pass of a compile-time automaton finds hints; a rule then looks at the text around each hint and
//! names the bytes to replace. Guarantees: never panics, works on any text, time linear in its length,
//! nothing is built at run time, a second call changes nothing. Hashes, revisions, UUIDs, references and
//! placeholders stay. Deliberately not here: entropy search without context (it takes provenance with
//! it), and `<private>` blocks, which [`drop_private`] removes.

mod address;
mod assignment;
mod automaton;
mod block;
mod bytes;
mod command;
mod filler;
mod header;
mod look;
mod mark;
mod name;
mod private;
mod sentence;
mod settings;
mod token;
mod told;
mod value;

use std::borrow::Cow;

use automaton::State;
use mark::{MARKS, Mark};

pub use private::drop_private;

/// Passes until nothing changes; a replacement can bring two pieces together that form a new hint.
const PASSES: usize = 6;

/// Bytes to replace, and the word of the placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    start: usize,
    end: usize,
    label: &'static str,
}

impl Span {
    fn new(start: usize, end: usize, label: &'static str) -> Span {
        Span { start, end, label }
    }
}

/// Replaces every secret by `[redacted:kind]`. Borrows when there is none.
///
/// The text around a secret stays byte for byte; a placeholder holds no part of what it stands for.
pub fn redact(text: &str) -> Cow<'_, str> {
    let spans = find(text.as_bytes());
    if spans.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = replace(text, &spans);
    for _ in 1..PASSES {
        let spans = find(out.as_bytes());
        if spans.is_empty() {
            break;
        }
        out = replace(&out, &spans);
    }
    Cow::Owned(out)
}

/// Drops private blocks, then redacts: what every captured text goes through.
pub fn clean(text: &str) -> Cow<'_, str> {
    match drop_private(text) {
        Cow::Borrowed(text) => redact(text),
        Cow::Owned(text) => Cow::Owned(redact(&text).into_owned()),
    }
}

fn replace(text: &str, spans: &[Span]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut kept = 0;
    for span in spans {
        let start = (0..=span.start).rev().find(|&index| text.is_char_boundary(index)).unwrap_or(0);
        let end = (span.end..text.len()).find(|&index| text.is_char_boundary(index)).unwrap_or(text.len());
        if start < kept {
            continue;
        }
        out.push_str(text.get(kept..start).unwrap_or(""));
        out.push_str("[redacted:");
        out.push_str(span.label);
        out.push(']');
        kept = end;
    }
    out.push_str(text.get(kept..).unwrap_or(""));
    out
}

/// Spans in order, without overlap.
fn find(text: &[u8]) -> Vec<Span> {
    let mut scan = Scan { text, spans: Vec::new(), done: 0, search: block::Search::default(), document: 0 };
    let mut state = State::default();
    let mut index = 0;
    while let Some(&byte) = text.get(index) {
        index += 1;
        if state.step(byte) {
            let next = scan.look(state, index);
            if next > index {
                index = next;
                state = State::default();
            }
        }
    }
    scan.spans
}

struct Scan<'a> {
    text: &'a [u8],
    spans: Vec<Span>,
    /// End of the last span.
    done: usize,
    search: block::Search,
    /// End of the last Kubernetes document looked at.
    document: usize,
}

impl Scan<'_> {
    /// Applies the rules of the marks that end at `end`; gives where to read on.
    fn look(&mut self, state: State, end: usize) -> usize {
        for index in state.marks() {
            let Some((pattern, mark)) = MARKS.get(index) else { continue };
            let start = end - pattern.len();
            if *mark == Mark::Redacted {
                let close = bytes::skip(self.text, end, 40, |byte| byte.is_ascii_lowercase() || byte == b'-');
                if bytes::at(self.text, close) == b']' {
                    return close + 1;
                }
                continue;
            }
            let before = self.spans.len();
            self.apply(*mark, start, end);
            if self.spans.len() > before {
                return self.done.max(end);
            }
        }
        end
    }

    fn apply(&mut self, mark: Mark, start: usize, end: usize) {
        let text = self.text;
        let found = match mark {
            Mark::Name => self.name(start, end),
            Mark::Bearer => header::bearer(text, start, end),
            Mark::Basic => header::basic(text, start, end),
            Mark::Cookie => return self.many(|found| header::cookies(text, end, found)),
            Mark::Url => address::user_info(text, start),
            Mark::Webhook => address::webhook(text, start),
            Mark::Begin => block::private_key(text, start, &mut self.search),
            Mark::End => block::cut_private_key(text, start),
            Mark::PuttyLines => block::putty(text, end),
            Mark::Jwt => token::web_token(text, start),
            Mark::BotToken => token::bot_token(text, start),
            Mark::PgPass => address::password_line(text, start, bytes::at(text, start) != b':'),
            Mark::TcpDsn => address::tcp_dsn(text, start),
            Mark::OracleDsn => address::oracle_dsn(text, start),
            Mark::Crypt => token::crypt(text, start),
            Mark::Command => command::argument(text, start, end),
            Mark::Literal => command::literal(text, end),
            Mark::Identified => command::identified(text, end),
            Mark::Permissions => settings::permissions(text, end),
            Mark::RuleList => settings::rule_list(text, end),
            Mark::AuthState => settings::auth_state(text, end),
            Mark::Code => told::code(text, end),
            Mark::Login => told::login(text, end),
            Mark::Wireless => told::wireless(text, end),
            Mark::DigestResponse => told::digest_response(text, start, end),
            Mark::Cloud => token::is_word_start(text, start).then(|| told::cloud_secret(text, start, end)).flatten(),
            Mark::Dot => token::three_parts(text, start),
            Mark::Atlas => token::atlas(text, start, end),
            Mark::BareKey => block::bare_key(text, start),
            Mark::Prefix(prefix) if prefix.label == "aws-key-id" => return self.key_id(start, &prefix),
            Mark::Prefix(prefix) => token::prefixed(text, start, &prefix),
            Mark::Redacted => None,
        };
        if let Some(span) = found {
            self.push(span);
        }
    }

    /// A cloud's key id and the secret key that stands next to it.
    fn key_id(&mut self, start: usize, prefix: &mark::Prefix) {
        let Some(id) = token::prefixed(self.text, start, prefix) else { return };
        let mut spans = [Some(id), told::cloud_secret(self.text, id.start, id.end)];
        spans.sort_by_key(|span| span.map_or(usize::MAX, |span| span.start));
        for span in spans.into_iter().flatten() {
            self.push(span);
        }
    }

    fn name(&mut self, start: usize, end: usize) -> Option<Span> {
        let text = self.text;
        if bytes::starts(text, start, "secret") && is_kind(text, start) {
            if start >= self.document {
                let mut document = 0;
                self.many(|found| document = block::kubernetes(text, end, found));
                self.document = document;
            }
            return None;
        }
        if bytes::starts(text, start, "auth")
            && let Some(span) = header::registry_auth(text, end)
        {
            return Some(span);
        }
        let name = name::around(text, start, end);
        if let Some(name) = name.filter(|name| is_bar(text, name.end)) {
            let before = self.spans.len();
            self.many(|found| told::column(text, &name, found));
            if self.spans.len() > before {
                return None;
            }
        }
        name.and_then(|name| assignment::find_secret(text, &name)).or_else(|| token::vendor(text, start, end))
    }

    fn many(&mut self, rule: impl FnOnce(&mut Vec<Span>)) {
        let mut found = Vec::new();
        rule(&mut found);
        for span in found {
            self.push(span);
        }
    }

    /// Takes a span unless it is empty, already a placeholder, or behind what is done.
    fn push(&mut self, span: Span) {
        let start = span.start.max(self.done);
        let bytes = bytes::slice(self.text, start, span.end);
        if start < span.end && !is_redacted(bytes) {
            self.spans.push(Span { start, ..span });
            self.done = span.end;
        }
    }
}

/// The cell of a table ends behind `index`.
fn is_bar(text: &[u8], index: usize) -> bool {
    bytes::at(text, bytes::skip(text, index, 24, |byte| matches!(byte, b' ' | b'*' | b'`'))) == b'|'
}

/// One placeholder and nothing else, maybe cut.
fn is_redacted(bytes: &[u8]) -> bool {
    bytes::starts(bytes, 0, "[redacted:")
        && bytes.iter().filter(|byte| **byte == b']').count() <= 1
        && bytes.iter().skip(10).all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'-' | b']'))
}

/// `kind: Secret`, in YAML or JSON.
fn is_kind(text: &[u8], start: usize) -> bool {
    let from = start.saturating_sub(12);
    bytes::find(text, from, start, "kind").is_some_and(|kind| {
        bytes::slice(text, kind + 4, start).iter().all(|byte| matches!(byte, b':' | b' ' | b'"' | b'\\'))
    })
}
