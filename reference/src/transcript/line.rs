//! One transcript line, read into what it says: somebody's words, tool calls, tool results, or nothing.
//!
//! Guarantee: parsing borrows from the line where it can, tool inputs and results stay raw until somebody asks,
//! and a line that cannot be a message is told from its bytes without being parsed. A line of wrong types is bad,
//! never an error. Deliberately not here: joining calls with their results (see `span`).

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// What the bytes of a line say before it is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sniff {
    /// A user or assistant line.
    Message,
    /// A whole line that carries only tool results, none of which was asked for.
    Result,
    /// A whole line of another type.
    Other,
    /// Torn, empty of objects, or holding NUL bytes.
    Bad,
}

/// Tells lines apart by their bytes; holds the prepared searches.
///
/// A quote inside a JSON string is escaped, so an unescaped `"key":` is always a real key.
#[derive(Debug)]
pub struct Sniffer {
    message: memmem::Finder<'static>,
    call_id: memmem::Finder<'static>,
    name: memmem::Finder<'static>,
    assistant: memmem::Finder<'static>,
    patch: memmem::Finder<'static>,
    doubts: [memmem::Finder<'static>; 3],
    is_error: memmem::Finder<'static>,
    report: memmem::Finder<'static>,
}

/// The result of one call, told from its line's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoneResult<'l> {
    /// The call's id.
    pub id: &'l str,
    /// The tool said that it failed.
    pub is_error: bool,
    /// The line from the value of the tool report's patch on, if it has one.
    pub patch: Option<&'l [u8]>,
    /// The line from the value of the result's content on, where it stands in its usual place.
    content: Option<&'l [u8]>,
}

impl<'l> LoneResult<'l> {
    /// The result's text; `None` when the line must be parsed for it.
    pub fn text(&self) -> Option<Cow<'l, str>> {
        let content = serde_json::Deserializer::from_slice(self.content?).into_iter::<Text<'l>>().next()?;
        content.ok().map(|text| text.0)
    }
}

/// What stands between a result's id and its content as the host writes it.
const CONTENT_FOLLOWS: &[u8] = br#","type":"tool_result","content":"#;

/// Bytes at the end of a line that are looked at for flags behind the tool's report.
const END_BYTES: usize = 512;

/// Bytes of a far line in which its first tool name or call id stands: the host writes short fields first.
const HEAD_BYTES: usize = 4 << 10;

impl Default for Sniffer {
    fn default() -> Sniffer {
        Sniffer {
            message: memmem::Finder::new("\"message\":"),
            call_id: memmem::Finder::new("\"tool_use_id\":"),
            name: memmem::Finder::new("\"name\":"),
            assistant: memmem::Finder::new("\"assistant\""),
            patch: memmem::Finder::new("\"structuredPatch\":"),
            doubts: ["\"isSidechain\":", "\"isMeta\":", "\"type\":\"text\""].map(memmem::Finder::new),
            is_error: memmem::Finder::new("\"is_error\":"),
            report: memmem::Finder::new("\"toolUseResult\":"),
        }
    }
}

impl Sniffer {
    /// Classifies a line; `wanted` says of which tool calls the result matters.
    ///
    /// `far` looks at the head of a line only: a long one whose head has an unwanted result is a result.
    pub fn sniff(&self, line: &[u8], far: bool, wanted: impl Fn(&str) -> bool) -> Sniff {
        let line = line.trim_ascii();
        if !line.starts_with(b"{") || !line.ends_with(b"}") {
            return Sniff::Bad;
        }
        if self.message.find(line).is_none() {
            return if memchr::memchr(0, line).is_some() { Sniff::Bad } else { Sniff::Other };
        }
        let mut is_result = false;
        let head = line.get(..HEAD_BYTES).filter(|_| far).unwrap_or(line);
        for at in self.call_id.find_iter(head) {
            is_result = true;
            // A cut-off id is unknown, so it may be a wanted one.
            if string_at(line, at + 14).is_none_or(&wanted) {
                return Sniff::Message;
            }
        }
        if is_result { Sniff::Result } else { Sniff::Message }
    }

    /// Reads a line that is the result of just one call and nothing else, without parsing it.
    ///
    /// `None` where the bytes leave a doubt: several results, words beside it, a sub-agent's or the host's line.
    pub fn lone_result<'l>(&self, line: &'l [u8]) -> Option<LoneResult<'l>> {
        // What follows the report's key is the report, but for a few short fields at the end.
        let report = self.report.find(line).unwrap_or(line.len());
        let message = line.get(..report)?;
        let ending = line.get(report.max(line.len().saturating_sub(END_BYTES))..)?;
        let mut ids = self.call_id.find_iter(message);
        let at = ids.next()?;
        let id = string_at(line, at + 14)?;
        let [sidechain, meta, text] = &self.doubts;
        let is_true = |part: &[u8], finder: &memmem::Finder<'_>| {
            let value = finder.find(part).and_then(|at| part.get(at + finder.needle().len()..));
            value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
        };
        let by_another = [message, ending].iter().any(|part| is_true(part, sidechain) || is_true(part, meta));
        // A message behind the report would have no id in front of it, so it is in doubt too.
        if ids.next().is_some() || text.find(message).is_some() || by_another {
            return None;
        }
        let patch = line
            .get(report..)
            .and_then(|report| self.patch.find(report).and_then(|at| report.get(at + self.patch.needle().len()..)));
        let after_id = line.get(at + 14..).unwrap_or_default().trim_ascii_start();
        let content = after_id.get(id.len() + 2..).and_then(|rest| rest.strip_prefix(CONTENT_FOLLOWS));
        Some(LoneResult { id, is_error: is_true(message, &self.is_error), patch, content })
    }

    /// Whether a message line is the model's and calls none of the tools of these names: it only speaks or looks.
    pub fn calls_none_of(&self, line: &[u8], tools: &[&str]) -> bool {
        let calls = |at| string_at(line, at + 7).is_none_or(|name| tools.contains(&name));
        self.assistant.find(line).is_some() && !self.name.find_iter(line).any(calls)
    }
}

/// The plain string value that starts at `at`, if it has no escapes.
fn string_at(line: &[u8], at: usize) -> Option<&str> {
    let rest = line.get(at..)?.trim_ascii_start().strip_prefix(b"\"")?;
    let end = memchr::memchr2(b'"', b'\\', rest)?;
    if rest.get(end) == Some(&b'\\') {
        return None;
    }
    std::str::from_utf8(rest.get(..end)?).ok()
}

/// Who a line is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// A `user` line: a prompt or tool results.
    User,
    /// An `assistant` line.
    Assistant,
}

/// A parsed user or assistant line.
#[derive(Debug)]
pub struct Line<'a> {
    /// Who it is from.
    pub speaker: Speaker,
    /// A sub-agent's line.
    pub sidechain: bool,
    /// Written by the host: meta text, a compaction's summary, an API error.
    pub by_host: bool,
    /// The prompt that the line belongs to, on user lines.
    pub prompt_id: Option<Cow<'a, str>>,
    /// How the host was started.
    pub entrypoint: Option<Cow<'a, str>>,
    /// The message's parts in order.
    pub blocks: Vec<Block<'a>>,
    /// What the tool reported to the host, raw; only results have it.
    pub report: Option<&'a RawValue>,
}

/// One part of a message.
#[derive(Debug)]
pub enum Block<'a> {
    /// Words.
    Text(Cow<'a, str>),
    /// A tool call.
    Call {
        /// Its id.
        id: Cow<'a, str>,
        /// The tool.
        name: Cow<'a, str>,
        /// Its input object, raw.
        input: &'a RawValue,
    },
    /// A tool call's result.
    Result {
        /// The call's id.
        id: Cow<'a, str>,
        /// The tool said that it failed.
        is_error: bool,
        /// The result's text: a JSON string or a list of parts, raw.
        content: Option<&'a RawValue>,
    },
}

/// Parses a line; `Ok(None)` is a valid line of another type, `Err` a bad one.
pub fn parse(line: &[u8]) -> Result<Option<Line<'_>>, serde_json::Error> {
    let wire: WireLine<'_> = serde_json::from_slice(line)?;
    let speaker = match wire.kind.as_deref() {
        Some("user") => Speaker::User,
        Some("assistant") => Speaker::Assistant,
        _ => return Ok(None),
    };
    let Some(message) = wire.message else { return Ok(None) };
    let true_flag = |flag: Option<bool>| flag == Some(true);
    Ok(Some(Line {
        speaker,
        sidechain: true_flag(wire.sidechain),
        by_host: true_flag(wire.meta) || true_flag(wire.compact_summary) || true_flag(wire.api_error),
        prompt_id: wire.prompt_id,
        entrypoint: wire.entrypoint,
        blocks: message.content.map(|content| content.0).unwrap_or_default(),
        report: wire.report,
    }))
}

/// The text of a tool result's content: the string itself, or the text parts joined by line ends.
pub fn result_text(content: &RawValue) -> Cow<'_, str> {
    if let Ok(text) = serde_json::from_str::<Text<'_>>(content.get()) {
        return text.0;
    }
    let parts: Content<'_> = serde_json::from_str(content.get()).unwrap_or_default();
    let texts: Vec<&str> = parts
        .0
        .iter()
        .filter_map(|block| match block {
            Block::Text(text) => Some(text.as_ref()),
            _ => None,
        })
        .collect();
    Cow::Owned(texts.join("\n"))
}

#[derive(Deserialize)]
struct WireLine<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(rename = "isSidechain", default)]
    sidechain: Option<bool>,
    #[serde(rename = "isMeta", default)]
    meta: Option<bool>,
    #[serde(rename = "isCompactSummary", default)]
    compact_summary: Option<bool>,
    #[serde(rename = "isApiErrorMessage", default)]
    api_error: Option<bool>,
    #[serde(rename = "promptId", borrow, default)]
    prompt_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    entrypoint: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    message: Option<WireMessage<'a>>,
    #[serde(rename = "toolUseResult", borrow, default)]
    report: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct WireMessage<'a> {
    #[serde(borrow, default)]
    content: Option<Content<'a>>,
}

#[derive(Deserialize)]
struct WireBlock<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    text: Option<Text<'a>>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
}

impl<'a> WireBlock<'a> {
    fn into_block(self) -> Option<Block<'a>> {
        match self.kind.as_deref()? {
            "text" => Some(Block::Text(self.text?.0)),
            "tool_use" => Some(Block::Call { id: self.id?, name: self.name?, input: self.input? }),
            "tool_result" => Some(Block::Result {
                id: self.tool_use_id?,
                is_error: self.is_error == Some(true),
                content: self.content,
            }),
            _ => None,
        }
    }
}

/// A string that borrows when it has no escapes; an `Option<Cow>` would always copy.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

/// A message's content: either one string or a list of parts.
#[derive(Default)]
struct Content<'a>(Vec<Block<'a>>);

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content<'a>, D::Error> {
        struct Parts;
        impl<'de> Visitor<'de> for Parts {
            type Value = Content<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text or a list of parts")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Content<'de>, E> {
                Ok(Content(vec![Block::Text(Cow::Borrowed(text))]))
            }

            fn visit_str<E>(self, text: &str) -> Result<Content<'de>, E> {
                Ok(Content(vec![Block::Text(Cow::Owned(text.to_owned()))]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Content<'de>, A::Error> {
                let mut blocks = Vec::new();
                while let Some(part) = parts.next_element::<WireBlock<'de>>()? {
                    if blocks.len() == MOST_BLOCKS {
                        while parts.next_element::<IgnoredAny>()?.is_some() {}
                        break;
                    }
                    blocks.extend(part.into_block());
                }
                Ok(Content(blocks))
            }
        }
        deserializer.deserialize_any(Parts)
    }
}

/// Parts of one message that are kept; the host writes one or a few.
const MOST_BLOCKS: usize = 256;

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]
mod tests {
    use super::*;

    #[test]
    fn user_text_is_read_from_a_string_and_from_parts() {
        for line in [
            r#"{"type":"user","message":{"role":"user","content":"fix 世界 🙂"},"promptId":"p1"}"#,
            r#"{"message": {"content": [{"type": "text", "text": "fix 世界 🙂"}]}, "promptId": "p1", "type": "user"}"#,
        ] {
            assert_eq!(Sniffer::default().sniff(line.as_bytes(), false, |_| false), Sniff::Message);
            let line = parse(line.as_bytes()).unwrap().unwrap();
            assert_eq!(line.speaker, Speaker::User);
            assert_eq!(line.prompt_id.as_deref(), Some("p1"));
            assert!(matches!(line.blocks.as_slice(), [Block::Text(text)] if text == "fix 世界 🙂"));
        }
    }

    #[test]
    fn escaped_text_is_unescaped() {
        let line = parse(br#"{"type":"user","message":{"content":"a\n\"b\" \u00e9"}}"#).unwrap().unwrap();
        assert!(matches!(line.blocks.as_slice(), [Block::Text(text)] if text == "a\n\"b\" é"));
    }

    #[test]
    fn results_nobody_waits_for_are_not_parsed() {
        let line =
            br#"{"type":"user","message":{"content":[{"tool_use_id":"t1","type":"tool_result","content":"x"}]}}"#;
        assert_eq!(Sniffer::default().sniff(line, false, |_| false), Sniff::Result);
        assert_eq!(Sniffer::default().sniff(line, false, |id| id == "t1"), Sniff::Message);
        // The words of a text cannot look like a key: their quotes are escaped.
        let talk = br#"{"type":"assistant","message":{"content":"say \"tool_use_id\":\"t9\" aloud"}}"#;
        assert_eq!(Sniffer::default().sniff(talk, false, |_| false), Sniff::Message);
        let tools = ["Edit", "Bash"];
        assert!(Sniffer::default().calls_none_of(br#"{"type":"assistant","message":{"content":"x"}}"#, &tools));
        let call =
            |name| format!(r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","name":"{name}"}}]}}}}"#);
        assert!(Sniffer::default().calls_none_of(call("Read").as_bytes(), &tools));
        assert!(!Sniffer::default().calls_none_of(call("Edit").as_bytes(), &tools));
        assert!(!Sniffer::default().calls_none_of(br#"{"type":"user","message":{"content":"x"}}"#, &tools));
    }

    #[test]
    fn field_report_76_torn_nul_filled_and_wrongly_typed_lines_are_bad() {
        for line in [&b""[..], b"   ", b"{\"type\":\"user\",\"mess", b"\0\0\0\0", b"[1]", b"{\"a\":\"\0\"}"] {
            assert_eq!(Sniffer::default().sniff(line, false, |_| true), Sniff::Bad, "{line:?}");
        }
        for line in [
            r#"{"type":7,"message":{"content":"x"}}"#,
            r#"{"type":"user","message":"text"}"#,
            r#"{"type":"user","message":{"content":{"a":1}}}"#,
            r#"{"type":"user","isMeta":"yes","message":{"content":"x"}}"#,
            "{\"type\":\"user\",\"message\":{\"content\":\"\0\"}}",
        ] {
            assert!(parse(line.as_bytes()).is_err(), "{line}");
        }
        assert!(parse(br#"{"type":"later-invention","message":{"content":"x"}}"#).unwrap().is_none());
        assert!(parse(br#"{"type":"user"}"#).unwrap().is_none());
    }

    #[test]
    fn field_report_77_glued_objects_are_bad() {
        let glued = r#"{"type":"assistant","message":{"content":"a"}}{"type":"assistant","message":{"content":"b"}}"#;
        assert!(parse(glued.as_bytes()).is_err());
        let torn = r#"{"type":"assistant","message":{"content":"a{"type":"assistant","message":{"content":"b"}}"#;
        assert!(parse(torn.as_bytes()).is_err());
    }

    #[test]
    fn result_text_joins_text_parts() {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
        assert_eq!(result_text(&raw(r#""Exit code 1\nno""#)), "Exit code 1\nno");
        assert_eq!(
            result_text(&raw(r#"[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]"#)),
            "a\nb"
        );
        assert_eq!(result_text(&raw("7")), "");
    }
}
