//! What a hook call asks of a session's state: remember this, was that shown, may I inject.
//!
//! Guarantee: of several deliveries of one event exactly one is granted its injection, the first to take the lock;
//! a failing state grants. Each call is one read and at most one write. Deliberately not here: what the event is
//! called on the wire, and redaction: every text comes in redacted.

use std::borrow::Cow;

use xxhash_rust::xxh3::xxh3_64;

use super::entry::{At, Compaction, Entry, Prompt, Shown, Taken, Task};
use super::file::SessionFile;
use super::state::{PROMPT_BYTES, SessionState, TASK_BYTES};
use crate::noise;

/// Names one event, so that a second delivery of it is known.
///
/// Two registrations of the hook get the same payload, ids included; a new tool call has a new id even when its text
/// is the same. An event without an id is named by its text and by how far the session has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventKey {
    base: String,
    by_progress: bool,
}

impl EventKey {
    /// The key of event `event`; `id` is the tool call's, agent's or prompt's id, `text` what the event is about.
    pub fn new(event: &str, id: Option<&str>, text: &str) -> EventKey {
        let id = id.unwrap_or("");
        let hash = xxh3_64(text.as_bytes());
        EventKey { base: format!("{event}:{:016x}:{hash:016x}", xxh3_64(id.as_bytes())), by_progress: id.is_empty() }
    }

    fn in_state(&self, state: &SessionState) -> String {
        if self.by_progress { format!("{}:{}", self.base, state.progress) } else { self.base.clone() }
    }
}

/// One item that is about to be injected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The record's id.
    pub doc_id: String,
    /// Hash of the record's content: a changed record is new.
    pub content_hash: u64,
}

/// Whether an injection may go out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// Positions of the items to inject; empty when all were shown before.
    Granted(Vec<usize>),
    /// Another delivery of the same event was granted: say nothing.
    Duplicate,
}

impl SessionFile {
    /// Remembers a prompt and where the transcript stood; `text` empty for a notice that continues the turn.
    ///
    /// The host's wrappers are no prompt: they are removed, and a text of nothing else counts as a notice. A second
    /// delivery changes nothing. The state comes back as it is afterwards, also when it could not be kept.
    pub fn remember_prompt(&self, prompt_id: Option<&str>, text: &str, at: Option<At>) -> SessionState {
        let said = noise::command_line(text).map_or_else(|| noise::strip(text), Cow::Owned);
        let prompt = Prompt {
            id: clip(prompt_id.unwrap_or(""), 128).to_owned(),
            hash: xxh3_64(text.as_bytes()),
            text: clip(said.trim(), PROMPT_BYTES).to_owned(),
            at: at.unwrap_or_default(),
        };
        self.settle(|state| {
            let known = if prompt.text.is_empty() {
                state.turn.as_ref().is_none_or(|turn| prompt.id.is_empty() || turn.prompt_ids.contains(&prompt.id))
            } else {
                state.repeats_prompt(&prompt)
            };
            if known { Vec::new() } else { vec![Entry::Prompt(prompt.clone())] }
        })
    }

    /// Remembers the task of a sub-agent that is about to be started by tool call `call`.
    pub fn remember_task(&self, call: &str, agent_type: &str, text: &str) -> SessionState {
        let task = Task {
            call: clip(call, 128).to_owned(),
            agent_type: clip(agent_type, 128).to_owned(),
            text: clip(text.trim(), TASK_BYTES).to_owned(),
        };
        self.settle(|state| {
            let known = state.tasks.iter().any(|pending| pending.task.call == task.call);
            if known || task.call.is_empty() || task.text.is_empty() {
                Vec::new()
            } else {
                vec![Entry::Task(task.clone())]
            }
        })
    }

    /// The task that a starting agent takes, by the rule of [`SessionState::task_for`]; a repeat gets it again.
    pub fn take_task(&self, agent_id: &str, agent_type: &str) -> Option<String> {
        let take = |state: &SessionState| {
            let Some(pending) = state.task_for(agent_id, agent_type) else { return (Vec::new(), None) };
            let text = Some(pending.task.text.clone());
            if agent_id.is_empty() || !pending.agent_id.is_empty() {
                return (Vec::new(), text);
            }
            let taken = Taken { call: pending.task.call.clone(), agent_id: clip(agent_id, 128).to_owned() };
            (vec![Entry::Taken(taken)], text)
        };
        self.update(take).map_or_else(|_| take(&self.load()).1, |(_, text)| text)
    }

    /// Notes that a compaction is announced: what was shown will be gone.
    pub fn compaction_announced(&self) -> SessionState {
        self.settle(|state| {
            if state.compaction_pending { Vec::new() } else { vec![Entry::Compaction(Compaction { done: false })] }
        })
    }

    /// Notes that the conversation starts over after a compaction or a clear.
    ///
    /// Only a second delivery finds it just started over, with nothing having happened since; it changes nothing.
    pub fn started_over(&self) -> SessionState {
        self.settle(|state| {
            if state.just_started_over && !state.compaction_pending {
                Vec::new()
            } else {
                vec![Entry::Compaction(Compaction { done: true })]
            }
        })
    }

    /// Asks to inject `items` for the event `key` into the context of `agent_id` (empty: the main conversation).
    ///
    /// Items shown there since the last compaction with the same content are left out.
    pub fn claim(&self, key: &EventKey, agent_id: &str, items: &[Item]) -> Claim {
        let outcome = self.update(|state| {
            let key = key.in_state(state);
            if state.keys.contains(&key) {
                return (Vec::new(), Claim::Duplicate);
            }
            let fresh = |item: &Item| !state.was_shown(agent_id, &item.doc_id, item.content_hash);
            let granted: Vec<usize> = (0..items.len()).filter(|at| items.get(*at).is_some_and(fresh)).collect();
            if granted.is_empty() {
                return (Vec::new(), Claim::Granted(granted));
            }
            let kept = granted.iter().filter_map(|at| items.get(*at));
            let items = kept.map(|item| (item.doc_id.clone(), item.content_hash)).collect();
            let shown = Shown { key, agent_id: agent_id.to_owned(), items };
            (vec![Entry::Shown(shown)], Claim::Granted(granted))
        });
        // Whoever cannot remember must not forget to deliver.
        outcome.map_or_else(|_| Claim::Granted((0..items.len()).collect()), |(_, claim)| claim)
    }

    /// Notes what a capture did; false when the state could not be kept.
    pub fn note(&self, notes: &[Entry]) -> bool {
        self.update(|_| (notes.to_vec(), ())).is_ok()
    }

    /// Adds what `decide` names; without a writable file the state is only folded in memory.
    fn settle(&self, decide: impl Fn(&SessionState) -> Vec<Entry>) -> SessionState {
        if let Ok((state, ())) = self.update(|state| (decide(state), ())) {
            return state;
        }
        let mut state = self.load();
        decide(&state).into_iter().for_each(|entry| state.fold(entry));
        state
    }
}

/// The longest start of `text` of at most `bytes` bytes that ends between characters.
fn clip(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]
mod tests {
    use super::*;

    fn items(ids: &[&str]) -> Vec<Item> {
        ids.iter().map(|id| Item { doc_id: (*id).to_owned(), content_hash: 1 }).collect()
    }

    fn session() -> (tempfile::TempDir, SessionFile) {
        let dir = tempfile::tempdir().unwrap();
        let file = SessionFile::new(dir.path(), "session");
        (dir, file)
    }

    fn granted(at: &[usize]) -> Claim {
        Claim::Granted(at.to_vec())
    }

    #[test]
    fn field_report_28_identical_prompts_inject_once_also_exactly_together() {
        for prompt_id in [Some("p1"), None] {
            let (_dir, file) = session();
            let deliver = || {
                file.remember_prompt(prompt_id, "how does the cache work", None);
                file.claim(
                    &EventKey::new("UserPromptSubmit", prompt_id, "how does the cache work"),
                    "",
                    &items(&["a", "b"]),
                )
            };
            assert_eq!(deliver(), granted(&[0, 1]));
            assert_eq!(deliver(), Claim::Duplicate);

            let (_dir, file) = session();
            let deliver = || {
                file.remember_prompt(prompt_id, "how does the cache work", None);
                file.claim(
                    &EventKey::new("UserPromptSubmit", prompt_id, "how does the cache work"),
                    "",
                    &items(&["a", "b"]),
                )
            };
            let claims: Vec<Claim> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(deliver)).collect();
                threads.into_iter().map(|thread| thread.join().unwrap()).collect()
            });
            assert_eq!(claims.iter().filter(|claim| **claim != Claim::Duplicate).count(), 1, "{claims:?}");
            assert_eq!(file.load().prompts, 1);
        }
    }

    #[test]
    fn field_report_29_first_delivery_counts_and_a_new_call_is_another() {
        let (_dir, file) = session();
        let key = |call| EventKey::new("PostToolUse", Some(call), "same text");
        assert_eq!(file.claim(&key("t1"), "", &items(&["a"])), granted(&[0]));
        assert_eq!(file.claim(&key("t1"), "", &items(&["a"])), Claim::Duplicate);
        assert_eq!(file.claim(&key("t2"), "", &items(&["a", "b"])), granted(&[1]), "the item itself was shown before");
    }

    #[test]
    fn field_report_40_item_is_shown_once_until_it_changes_or_a_compaction() {
        let (_dir, file) = session();
        let ask = |prompt: &str, hash| {
            file.remember_prompt(Some(prompt), "topic", None);
            let item = Item { doc_id: "a".to_owned(), content_hash: hash };
            file.claim(&EventKey::new("UserPromptSubmit", Some(prompt), "topic"), "", &[item])
        };
        assert_eq!(ask("p1", 1), granted(&[0]));
        for prompt in ["p2", "p3", "p4", "p5"] {
            assert_eq!(ask(prompt, 1), granted(&[]));
        }
        assert_eq!(ask("p6", 2), granted(&[0]));
        file.compaction_announced();
        file.started_over();
        assert_eq!(ask("p7", 2), granted(&[0]));
    }

    #[test]
    fn field_report_40_state_that_cannot_be_kept_injects() {
        let dir = tempfile::tempdir().unwrap();
        let blocked = dir.path().join("file-where-a-folder-is-expected");
        std::fs::write(&blocked, "x").unwrap();
        let file = SessionFile::new(&blocked, "session");
        let key = EventKey::new("UserPromptSubmit", Some("p"), "x");
        for _ in 0..2 {
            assert_eq!(file.claim(&key, "", &items(&["a"])), granted(&[0]));
        }
        assert_eq!(file.remember_prompt(Some("p"), "x", None).prompts, 1);
        assert_eq!(file.take_task("a", "Explore"), None);
        assert!(!file.note(&[Entry::Seen(At::default())]));
    }

    #[test]
    fn session_start_after_a_compaction_injects_once_for_each_compaction() {
        for announced in [true, false] {
            let (_dir, file) = session();
            let start = || {
                file.started_over();
                file.claim(&EventKey::new("SessionStart:compact", None, ""), "", &items(&["a"]))
            };
            for round in ["p1", "p2"] {
                file.remember_prompt(Some(round), "work", None);
                if announced {
                    file.compaction_announced();
                    file.compaction_announced();
                }
                assert_eq!(start(), granted(&[0]));
                assert_eq!(start(), Claim::Duplicate);
            }
        }
    }

    #[test]
    fn sub_agent_has_its_own_context() {
        let (_dir, file) = session();
        let key = |call| EventKey::new("PreToolUse", Some(call), "");
        assert_eq!(file.claim(&key("t1"), "", &items(&["a"])), granted(&[0]));
        assert_eq!(file.claim(&key("t2"), "agent", &items(&["a"])), granted(&[0]));
        assert_eq!(file.claim(&key("t3"), "agent", &items(&["a"])), granted(&[]));
    }

    #[test]
    fn agents_starting_together_take_different_tasks() {
        let (_dir, file) = session();
        file.remember_prompt(Some("p"), "go", None);
        for call in 0..6 {
            file.remember_task(&format!("t{call}"), "Explore", &format!("task {call}"));
            file.remember_task(&format!("t{call}"), "Explore", "delivered twice");
        }
        let file = &file;
        let mut texts: Vec<String> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..6).map(|agent| scope.spawn(move || file.take_task(&format!("a{agent}"), "Explore"))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
        });
        assert_eq!(file.take_task("a0", "Explore"), Some(texts[0].clone()));
        texts.sort();
        assert_eq!(texts, (0..6).map(|call| format!("task {call}")).collect::<Vec<_>>());
        assert_eq!(file.take_task("a9", "Explore"), None);
    }

    #[test]
    fn field_report_23_a_prompt_of_10_mb_is_kept_in_4_kib() {
        let (_dir, file) = session();
        let prompt = "🙂世".repeat(1_500_000);
        for number in 0..4 {
            file.remember_prompt(Some(&format!("p{number}")), &prompt, None);
        }
        assert!(std::fs::metadata(file.path()).unwrap().len() < 100_000);
        assert!(file.load().turn.unwrap().prompt.len() <= PROMPT_BYTES);
    }

    #[test]
    fn field_report_44_prompt_is_remembered_without_the_hosts_wrappers() {
        let (_dir, file) = session();
        let prompt = |state: SessionState| state.turn.map(|turn| (turn.prompt, turn.prompt_ids.len())).unwrap();
        let asked = "fix it <system-reminder>a <system-reminder>b</system-reminder> c</system-reminder>";
        assert_eq!(prompt(file.remember_prompt(Some("p1"), asked, None)), ("fix it".to_owned(), 1));
        let notice = "<task-notification>\n<task-id>x</task-id>\n</task-notification>";
        assert_eq!(prompt(file.remember_prompt(Some("p2"), notice, None)), ("fix it".to_owned(), 2));
        let command = "<command-name>/greet</command-name><command-args>World</command-args>";
        assert_eq!(prompt(file.remember_prompt(Some("p3"), command, None)), ("/greet World".to_owned(), 1));
    }

    #[test]
    fn recall_with_nothing_to_say_writes_nothing() {
        let (_dir, file) = session();
        assert_eq!(file.claim(&EventKey::new("PreToolUse", Some("t"), ""), "", &[]), granted(&[]));
        assert_eq!(file.take_task("a", "Explore"), None);
        file.remember_prompt(Some("p"), "", None);
        assert!(!file.path().exists());
    }
}
