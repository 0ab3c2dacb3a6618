//! Recall: from a payload to the few memories that help with it, as one answer.
//!
//! The store is only read: no lock, no write, no index work. What the session must remember (its prompt, a
//! sub-agent's task, what it was shown) is one appended line in the session's own state file; a call with nothing to
//! remember writes nothing at all.

use std::borrow::Cow;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hook_contract::{Body, Event, Output, Payload, ToolInput};
use xxhash_rust::xxh3::xxh3_64;

use crate::brief;
use crate::call::Call;
use crate::document::SourceDocument;
use crate::excerpt::excerpt;
use crate::pack::{Item, Packed, pack, readable};
use crate::query::{Query, QueryContext};
use crate::rank::gate::Gate;
use crate::rank::supersede::{one_matter, superseded};
use crate::remember::clean_captured;
use crate::revision::{Ancestry, RevisionStatus, relate};
use crate::route::Routing;
use crate::session::claim::{Claim, EventKey, Item as Claimed};
use crate::session::entry::At;
use crate::session::name::safe_id;
use crate::store::{self, IndexStore, Layout};
use crate::timings::Timings;

/// Bytes read of a file that is about to be overwritten.
const BEFORE_BYTES: u64 = 256 * 1024;

/// The hook's answer: empty, or one JSON object.
///
/// # Errors
/// A message for the log; the caller answers nothing then.
pub fn recall(call: &Call<'_>, timings: &mut Timings) -> Result<String, String> {
    let task = note(call);
    timings.mark("session");
    let budget = budget(call);
    if budget == 0 {
        return Ok(String::new());
    }
    let store = IndexStore::at_path(&call.project.store).map_err(|error| error.to_string())?;
    timings.mark("open");
    let found = match call.event {
        Event::SessionStart => brief::brief(call, &store),
        _ => search(call, store, task.as_deref())?,
    };
    timings.mark("search");
    if found.is_empty() || call.deadline.expired() {
        return Ok(String::new());
    }
    let mut ancestry = Ancestry::new(call.place.git.as_ref(), call.head, &call.project.store);
    let mut items: Vec<Item> = found
        .into_iter()
        .map(|(document, excerpt)| {
            let dirty = document.filter("dirty") == "true";
            let captured = document.filter("revision");
            let status = relate(&mut ancestry, captured, dirty, &document.digests, &call.place.root, &call.deadline);
            Item { document, status, excerpt }
        })
        .collect();
    // What was learnt on a line of history that is not this one is the last thing to read, and the first to be cut.
    items.sort_by_key(|item| item.status == RevisionStatus::Diverged);
    timings.mark("status");
    let Some(packed) = pack(&items, call.head, budget) else { return Ok(String::new()) };
    timings.mark("pack");
    let granted = claim(call, &items, packed, budget);
    timings.mark("claim");
    Ok(granted.map_or_else(String::new, |text| Output::additional_context(call.event, text).to_json()))
}

/// Remembers what later calls of the session need; gives the task of a starting sub-agent.
fn note(call: &Call<'_>) -> Option<String> {
    match &call.payload.body {
        Body::UserPromptSubmit(body) => {
            let prompt = body.prompt.as_deref().unwrap_or("");
            // A task's end continues the running turn; it is not what somebody asked.
            let asked = if prompt.trim_start().starts_with("<task-notification>") { "" } else { prompt };
            let start = bounded(asked, 64 * 1024);
            let prompt_id = call.payload.common.prompt_id.as_deref();
            call.session.remember_prompt(prompt_id, &clean_captured(start), transcript_end(call));
            None
        }
        Body::PreToolUse(body) => {
            if let Some((agent_type, task)) = agent_task(call.payload) {
                let id = body.tool_use_id.as_deref().unwrap_or("");
                call.session.remember_task(id, agent_type, &clean_captured(bounded(&task, 16 * 1024)));
            }
            None
        }
        Body::SessionStart(body) if matches!(body.source.as_deref(), Some("compact" | "clear")) => {
            call.session.started_over();
            None
        }
        Body::SubagentStart(_) => {
            let kind = call.payload.common.agent_type.as_deref().unwrap_or("");
            call.session.take_task(call.agent_id(), kind)
        }
        _ => None,
    }
}

/// The agent type and the task of a call that starts a sub-agent.
pub(crate) fn agent_task(payload: &Payload) -> Option<(&str, String)> {
    let Body::PreToolUse(body) = &payload.body else { return None };
    let name = body.tool_name.as_deref()?;
    let input = body.tool_input.as_ref()?;
    if !matches!(name, "Agent" | "Task") {
        return None;
    }
    let text = |key| input.get(key).and_then(|value| value.as_str()).unwrap_or("");
    Some((text("subagent_type"), format!("{}\n{}", text("description"), text("prompt"))))
}

/// Memories for the payload, best first, each with its excerpt.
fn search(call: &Call<'_>, store: IndexStore, task: Option<&str>) -> Result<Vec<(SourceDocument, String)>, String> {
    let root = call.place.root.to_string_lossy();
    let before = file_before(call);
    let context = QueryContext { root: &root, task, before: before.as_deref() };
    let Some(query) = Query::from_payload(call.payload, &context) else { return Ok(Vec::new()) };
    let settings = &call.config.recall;
    let mut gate = Gate { items: settings.max_items, ..Gate::default() };
    gate.threshold = settings.threshold.unwrap_or(gate.threshold);
    let routing = Routing::parse(&settings.strategy)
        .ok_or_else(|| format!("config.toml: recall.strategy = {:?} is not a strategy", settings.strategy))?;
    let terms: Vec<String> = query.terms.iter().map(|term| term.text.clone()).collect();
    let own = own_group(call, &store);
    let request = store::Query { gate: Some(gate), without_group: own, ..store::Query::new(query, settings.max_items) };
    let store = store.with_layout(Layout::Segmented { query_top_n: settings.query_top_n, routing });
    let found: Vec<SourceDocument> = store.query(&request).into_iter().map(|found| readable(found.document)).collect();
    let old = superseded(&found.iter().collect::<Vec<_>>());
    let mut standing: Vec<SourceDocument> =
        found.into_iter().zip(old).filter(|(_, old)| !old).map(|(d, _)| d).collect();
    newer_first_on_one_matter(&mut standing);
    Ok(standing
        .into_iter()
        .map(|document| {
            let lines = excerpt(&document, &terms, settings.excerpt_lines, settings.excerpt_bytes);
            (document, lines)
        })
        .collect())
}

/// The session's own segment, while all of it still stands in the conversation: nobody needs to be told what they
/// just did. After a compaction it is memory like any other.
fn own_group(call: &Call<'_>, store: &IndexStore) -> Option<String> {
    let session = safe_id(call.session_id());
    let group = format!("claude-session:{}:{session}", call.project.id);
    store.snapshot().segment_number(&group)?;
    let state = call.session.load();
    let was_compacted = state.announces_compaction || state.just_started_over || !state.checkpoints.is_empty();
    (!was_compacted).then_some(group)
}

/// Of two memories about one matter the newer stands first, so that a correction is read before what it corrects.
fn newer_first_on_one_matter(documents: &mut [SourceDocument]) {
    for end in 1..documents.len() {
        for at in (1..=end).rev() {
            let newer = match (documents.get(at - 1), documents.get(at)) {
                (Some(first), Some(second)) => first.timestamp_ms < second.timestamp_ms && one_matter(first, second),
                _ => false,
            };
            if newer {
                documents.swap(at - 1, at);
            }
        }
    }
}

/// Asks the session for leave to show the packed memories; packs again when some were shown before.
fn claim(call: &Call<'_>, items: &[Item], packed: Packed, budget: usize) -> Option<String> {
    let claimed: Vec<Claimed> = items
        .iter()
        .take(packed.ids.len())
        .map(|item| Claimed {
            doc_id: item.document.doc_id.clone(),
            content_hash: xxh3_64(item.document.content.as_bytes()),
        })
        .collect();
    match call.session.claim(&event_key(call), call.agent_id(), &claimed) {
        Claim::Duplicate => None,
        Claim::Granted(positions) if positions.len() == claimed.len() => Some(packed.text),
        Claim::Granted(positions) => {
            let fresh: Vec<Item> = positions.iter().filter_map(|at| items.get(*at)).cloned().collect();
            pack(&fresh, call.head, budget).map(|packed| packed.text)
        }
    }
}

/// Names the event so that a second registration of the hook is known by it.
fn event_key(call: &Call<'_>) -> EventKey {
    let name = call.event.name();
    let prompt_id = call.payload.common.prompt_id.as_deref();
    match &call.payload.body {
        Body::PreToolUse(body) => EventKey::new(name, body.tool_use_id.as_deref(), ""),
        Body::PostToolUse(body) => EventKey::new(name, body.tool_use_id.as_deref(), ""),
        Body::SubagentStart(_) => EventKey::new(name, call.payload.common.agent_id.as_deref(), ""),
        Body::UserPromptSubmit(body) => EventKey::new(name, prompt_id, body.prompt.as_deref().unwrap_or("")),
        Body::UserPromptExpansion(body) => EventKey::new(name, prompt_id, body.prompt.as_deref().unwrap_or("")),
        Body::SessionStart(body) => EventKey::new(name, None, body.source.as_deref().unwrap_or("")),
        _ => EventKey::new(name, None, ""),
    }
}

fn budget(call: &Call<'_>) -> usize {
    let budgets = &call.config.budgets;
    match call.event {
        Event::SessionStart => budgets.session_start,
        Event::UserPromptSubmit => budgets.user_prompt_submit,
        Event::UserPromptExpansion => budgets.user_prompt_expansion,
        Event::PreToolUse => budgets.pre_tool_use,
        Event::PostToolUse => budgets.post_tool_use,
        Event::SubagentStart => budgets.subagent_start,
        _ => 0,
    }
}

/// Present text of the file that a Write or NotebookEdit replaces, when it lies in the project.
fn file_before(call: &Call<'_>) -> Option<String> {
    let Body::PreToolUse(body) = &call.payload.body else { return None };
    let (name, input) = (body.tool_name.as_deref()?, body.tool_input.as_ref()?);
    if !matches!(name, "Write" | "NotebookEdit") {
        return None;
    }
    let path = Path::new(ToolInput::of(name, input).file()?);
    let inside = path.canonicalize().ok()?;
    if !inside.starts_with(&call.place.root) || !inside.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(inside).ok()?.take(BEFORE_BYTES).read_to_end(&mut bytes).ok()?;
    Some(match String::from_utf8_lossy(&bytes) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    })
}

/// Where the transcript ends now: the turn that begins with this prompt is what comes after.
fn transcript_end(call: &Call<'_>) -> Option<At> {
    let meta = std::fs::metadata(call.payload.common.transcript_path.as_deref()?).ok().filter(|meta| meta.is_file())?;
    Some(At { device: meta.dev(), inode: meta.ino(), offset: meta.len() })
}

/// The start of a text that is to be redacted: what the cut went through goes as a whole, for half a secret is not
/// known as one.
fn bounded(text: &str, bytes: usize) -> &str {
    let start = text.get(..text.floor_char_boundary(bytes)).unwrap_or(text);
    if start.len() == text.len() { start } else { start.trim_end_matches(|letter: char| letter.is_ascii_graphic()) }
}
