//! A session's state as plain data, folded from the lines of its file.
//!
//! Guarantee: folding is total (any order, any duplicates), every list is bounded, and [`SessionState::entries`]
//! gives lines that fold to the same state again. Deliberately not here: files and locks.

use std::collections::{BTreeMap, BTreeSet};

use super::entry::{At, Base, Captured, Checkpoint, Compaction, Entry, Prompt, Shown, Taken, Task};
use crate::transcript::tail::{Cursor, Identity};

/// Bytes kept of a prompt.
pub const PROMPT_BYTES: usize = 4 << 10;
/// Bytes kept of a sub-agent's task.
pub const TASK_BYTES: usize = 2 << 10;
/// Tasks kept, newest first.
pub const MOST_TASKS: usize = 16;
/// Injected items kept; older ones may be shown again.
pub const MOST_SHOWN: usize = 256;
/// Event keys kept for telling a repeated delivery.
pub const MOST_KEYS: usize = 64;
/// Digests of outcomes kept.
pub const MOST_OUTCOMES: usize = 96;
/// Affected paths kept of a session.
pub const MOST_PATHS: usize = 200;

/// The turn that is running or was captured last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Turn {
    /// Names the turn within its session: the prompt's id, or a hash of its text and its number.
    pub key: String,
    /// The host's prompt ids that belong to it: its own and those of notices that continue it.
    pub prompt_ids: Vec<String>,
    /// The redacted prompt.
    pub prompt: String,
    /// Hash of the prompt before clipping.
    pub hash: u64,
    /// Where the transcript ended when the prompt came in.
    pub at: At,
    /// Its number in the session, from one.
    pub ordinal: u64,
}

/// A sub-agent's task and who took it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingTask {
    /// The task.
    pub task: Task,
    /// The agent that took it, empty while unclaimed.
    pub agent_id: String,
    /// Number of the turn that asked for it.
    pub turn: u64,
}

/// What a session remembers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionState {
    /// The newest turn that a prompt opened.
    pub turn: Option<Turn>,
    /// Sub-agent tasks, oldest first.
    pub tasks: Vec<PendingTask>,
    /// Items shown since the last compaction: (agent, record id) to content hash.
    pub shown: BTreeMap<(String, String), u64>,
    /// Keys of events that were served, oldest first.
    pub keys: Vec<String>,
    /// Captured outcomes, oldest first, one a turn or sub-agent.
    pub outcomes: Vec<Captured>,
    /// Where the last look at the transcript ended, whether it found something to capture or not.
    pub seen: At,
    /// Key of the last turn that ended without a record; empty when there was none.
    pub ended: String,
    /// Up to where the transcript was forgotten on purpose; `None` when nothing was.
    pub floor: Option<At>,
    /// Ids of captured checkpoints, oldest first.
    pub checkpoints: Vec<String>,
    /// Paths affected in the session, sorted.
    pub paths: BTreeSet<String>,
    /// A compaction was announced and has not been followed by a session start.
    pub compaction_pending: bool,
    /// A compaction was ever announced, so announcements can be relied on.
    pub announces_compaction: bool,
    /// The conversation started over and nothing has happened since.
    pub just_started_over: bool,
    /// Prompts so far.
    pub prompts: u64,
    /// Counts what moves a conversation on; two deliveries of one event see the same number.
    pub progress: u64,
    order: Vec<(String, String)>,
}

impl SessionState {
    /// Takes one line in.
    pub fn fold(&mut self, entry: Entry) {
        let before = self.progress;
        let starts_over = matches!(&entry, Entry::Compaction(mark) if mark.done);
        match entry {
            Entry::Prompt(prompt) => self.fold_prompt(prompt),
            Entry::Task(task) => {
                if !self.tasks.iter().any(|pending| !task.call.is_empty() && pending.task.call == task.call) {
                    self.progress += 1;
                    keep_newest(&mut self.tasks, MOST_TASKS);
                    self.tasks.push(PendingTask { task, agent_id: String::new(), turn: self.prompts });
                }
            }
            Entry::Taken(taken) => {
                if let Some(pending) = self.tasks.iter_mut().find(|pending| pending.task.call == taken.call) {
                    pending.agent_id = taken.agent_id;
                }
            }
            Entry::Shown(shown) => self.fold_shown(shown),
            Entry::Compaction(mark) => {
                if mark.done {
                    self.compaction_pending = false;
                    self.progress += 1;
                } else {
                    self.progress += u64::from(!self.compaction_pending);
                    self.compaction_pending = true;
                    self.announces_compaction = true;
                }
                self.shown.clear();
                self.order.clear();
            }
            Entry::Captured(captured) => self.fold_captured(captured),
            Entry::Seen(at) => self.seen = at,
            Entry::Floor(at) => self.floor = Some(at),
            Entry::Ended(key) => self.ended = key,
            Entry::Checkpoint(checkpoint) => {
                self.checkpoints.retain(|id| *id != checkpoint.doc_id);
                keep_newest(&mut self.checkpoints, MOST_OUTCOMES);
                self.checkpoints.push(checkpoint.doc_id);
            }
            Entry::Base(base) => {
                self.prompts = self.prompts.max(base.prompts);
                self.progress = self.progress.max(base.progress);
                self.just_started_over &= base.progress == 0 || self.progress == before;
                return;
            }
        }
        if self.progress != before {
            self.just_started_over = starts_over;
        }
    }

    /// The turn that a host's prompt id belongs to.
    pub fn turn_of(&self, prompt_id: Option<&str>) -> Option<&Turn> {
        let turn = self.turn.as_ref()?;
        match prompt_id {
            Some(id) if !id.is_empty() => {
                let anonymous = turn.prompt_ids.is_empty();
                (anonymous || turn.prompt_ids.iter().any(|known| known == id)).then_some(turn)
            }
            _ => Some(turn),
        }
    }

    /// The newest captured outcome of the main conversation.
    pub fn last_outcome(&self) -> Option<&Captured> {
        self.outcomes.iter().rev().find(|outcome| !outcome.by_agent)
    }

    /// Where the capture of the turn `key` starts to read.
    ///
    /// A turn captured before starts where it started then, so a continuation's record holds the whole turn;
    /// a new turn starts where the last capture ended; the first one where its prompt came in.
    pub fn capture_start(&self, key: &str) -> Option<Cursor> {
        self.above_floor(self.start_of(key))
    }

    /// A cursor that does not reach back into what was forgotten.
    pub fn above_floor(&self, start: Option<Cursor>) -> Option<Cursor> {
        let Some(floor) = self.floor.filter(|floor| *floor != At::default()).map(At::cursor) else { return start };
        match start {
            Some(start) if start.identity != floor.identity || start.offset > floor.offset => Some(start),
            _ => Some(floor),
        }
    }

    fn start_of(&self, key: &str) -> Option<Cursor> {
        let known = |at: At| (at != At::default()).then(|| at.cursor());
        if let Some(same) = self.outcomes.iter().rev().find(|outcome| !outcome.by_agent && outcome.turn == key) {
            return known(same.from);
        }
        let turn = self.turn.as_ref().filter(|turn| turn.key == key).and_then(|turn| known(turn.at));
        match (known(self.seen), turn) {
            // An interrupted turn leaves edits between the two; they belong to the next capture.
            (Some(end), Some(start)) if end.identity == start.identity && end.offset <= start.offset => Some(end),
            (Some(end), None) => Some(end),
            (_, start) => start,
        }
    }

    /// The state that is left when the session's records are forgotten: no text, only up to where not to read again.
    pub fn forgotten(&self) -> SessionState {
        let ends = self.outcomes.iter().map(|outcome| outcome.to);
        let places = ends.chain([self.seen]).chain(self.floor).chain(self.turn.iter().map(|turn| turn.at));
        let floor = places.max_by_key(|at| at.offset).unwrap_or_default();
        SessionState { floor: Some(floor), ..SessionState::default() }
    }

    /// The task that `agent_id` took, or the one that an agent of this type takes now.
    ///
    /// Rule: agents start in the order of their calls, so with several tasks of one type the oldest unclaimed task
    /// of the running turn is it. A call without a type means `general-purpose`.
    pub fn task_for(&self, agent_id: &str, agent_type: &str) -> Option<&PendingTask> {
        let taken = self.tasks.iter().find(|pending| !agent_id.is_empty() && pending.agent_id == agent_id);
        taken.or_else(|| {
            self.tasks.iter().find(|pending| {
                pending.agent_id.is_empty()
                    && pending.turn == self.prompts
                    && kind(&pending.task.agent_type) == kind(agent_type)
            })
        })
    }

    /// Whether `item` with this content was shown to `agent_id` since the last compaction.
    pub fn was_shown(&self, agent_id: &str, doc_id: &str, content_hash: u64) -> bool {
        self.shown.get(&(agent_id.to_owned(), doc_id.to_owned())) == Some(&content_hash)
    }

    /// The fewest lines that fold to this state.
    pub fn entries(&self) -> Vec<Entry> {
        let mut entries = Vec::new();
        entries.extend(self.outcomes.iter().cloned().map(Entry::Captured));
        entries.extend((self.seen != At::default()).then_some(Entry::Seen(self.seen)));
        entries.extend(self.floor.map(Entry::Floor));
        entries.extend((!self.ended.is_empty()).then(|| Entry::Ended(self.ended.clone())));
        entries.extend(self.checkpoints.iter().map(|id| Entry::Checkpoint(Checkpoint { doc_id: id.clone() })));
        let before = |turn: u64| self.turn.as_ref().is_some_and(|running| turn < running.ordinal);
        // A task of an earlier turn stays only for the agent that took it.
        let mut pending: Vec<&PendingTask> = self.tasks.iter().filter(|task| before(task.turn)).collect();
        pending.retain(|task| !task.agent_id.is_empty());
        push_tasks(&mut entries, &pending);
        if let Some(turn) = &self.turn {
            entries.push(Entry::Base(Base { prompts: turn.ordinal.saturating_sub(1), progress: 0 }));
            let id = turn.prompt_ids.first().cloned().unwrap_or_default();
            let prompt = Prompt { id, text: turn.prompt.clone(), hash: turn.hash, at: turn.at };
            entries.push(Entry::Prompt(prompt));
            for id in turn.prompt_ids.iter().skip(1) {
                entries.push(Entry::Prompt(Prompt { id: id.clone(), ..Prompt::default() }));
            }
        }
        let running: Vec<&PendingTask> = self.tasks.iter().filter(|task| !before(task.turn)).collect();
        push_tasks(&mut entries, &running);
        for key in &self.keys {
            entries.push(Entry::Shown(Shown { key: key.clone(), ..Shown::default() }));
        }
        // Marks clear what was shown, so they come before it.
        if self.announces_compaction {
            entries.push(Entry::Compaction(Compaction { done: false }));
        }
        if self.just_started_over || (self.announces_compaction && !self.compaction_pending) {
            entries.push(Entry::Compaction(Compaction { done: true }));
        }
        for place in &self.order {
            let hash = self.shown.get(place).copied().unwrap_or_default();
            let items = vec![(place.1.clone(), hash)];
            entries.push(Entry::Shown(Shown { key: String::new(), agent_id: place.0.clone(), items }));
        }
        entries.push(Entry::Base(Base { prompts: self.prompts, progress: self.progress }));
        entries
    }

    fn fold_prompt(&mut self, prompt: Prompt) {
        if prompt.text.is_empty() {
            let Some(turn) = &mut self.turn else { return };
            if !prompt.id.is_empty() && !turn.prompt_ids.contains(&prompt.id) {
                keep_newest(&mut turn.prompt_ids, 32);
                turn.prompt_ids.push(prompt.id);
            }
            return;
        }
        if self.repeats_prompt(&prompt) {
            return;
        }
        self.prompts += 1;
        self.progress += 1;
        let key =
            if prompt.id.is_empty() { format!("{:016x}-{}", prompt.hash, self.prompts) } else { prompt.id.clone() };
        let prompt_ids = if prompt.id.is_empty() { Vec::new() } else { vec![prompt.id] };
        let (prompt, hash, at) = (prompt.text, prompt.hash, prompt.at);
        self.turn = Some(Turn { key, prompt_ids, prompt, hash, at, ordinal: self.prompts });
    }

    /// Whether a prompt is a second delivery of the running turn's.
    pub fn repeats_prompt(&self, prompt: &Prompt) -> bool {
        let Some(turn) = &self.turn else { return false };
        if prompt.id.is_empty() {
            let captured = self.outcomes.iter().any(|outcome| outcome.turn == turn.key);
            turn.prompt_ids.is_empty() && turn.hash == prompt.hash && !captured
        } else {
            turn.prompt_ids.contains(&prompt.id)
        }
    }

    fn fold_shown(&mut self, shown: Shown) {
        if !shown.key.is_empty() && !self.keys.contains(&shown.key) {
            keep_newest(&mut self.keys, MOST_KEYS);
            self.keys.push(shown.key);
        }
        for (doc_id, hash) in shown.items {
            let place = (shown.agent_id.clone(), doc_id);
            if self.shown.insert(place.clone(), hash).is_none() {
                self.order.push(place);
            }
            if self.order.len() > MOST_SHOWN {
                let oldest = self.order.remove(0);
                self.shown.remove(&oldest);
            }
        }
    }

    fn fold_captured(&mut self, captured: Captured) {
        if !captured.by_agent && !captured.merged && captured.to != At::default() {
            self.seen = captured.to;
        }
        for path in &captured.paths {
            if self.paths.len() < MOST_PATHS {
                self.paths.insert(path.clone());
            }
        }
        if let Some(known) = self.outcomes.iter_mut().find(|known| known.doc_id == captured.doc_id) {
            *known = captured;
            return;
        }
        self.progress += 1;
        keep_newest(&mut self.outcomes, MOST_OUTCOMES);
        self.outcomes.push(captured);
    }
}

impl At {
    /// The same place as the transcript reader names it.
    pub fn cursor(self) -> Cursor {
        Cursor { identity: Identity { device: self.device, inode: self.inode }, offset: self.offset }
    }
}

impl From<Cursor> for At {
    fn from(cursor: Cursor) -> At {
        At { device: cursor.identity.device, inode: cursor.identity.inode, offset: cursor.offset }
    }
}

fn push_tasks(entries: &mut Vec<Entry>, tasks: &[&PendingTask]) {
    for pending in tasks {
        entries.push(Entry::Task(pending.task.clone()));
        if !pending.agent_id.is_empty() {
            let taken = Taken { call: pending.task.call.clone(), agent_id: pending.agent_id.clone() };
            entries.push(Entry::Taken(taken));
        }
    }
}

fn kind(agent_type: &str) -> &str {
    if agent_type.is_empty() { "general-purpose" } else { agent_type }
}

/// Makes room for one more.
fn keep_newest<T>(list: &mut Vec<T>, most: usize) {
    if list.len() >= most {
        list.drain(..=list.len() - most);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]
mod tests {
    use super::*;

    fn state(entries: Vec<Entry>) -> SessionState {
        let mut state = SessionState::default();
        entries.into_iter().for_each(|entry| state.fold(entry));
        state
    }

    fn prompt(id: &str, text: &str) -> Entry {
        let hash = xxhash_rust::xxh3::xxh3_64(text.as_bytes());
        Entry::Prompt(Prompt { id: id.to_owned(), text: text.to_owned(), hash, ..Prompt::default() })
    }

    fn task(call: &str, agent_type: &str, text: &str) -> Entry {
        Entry::Task(Task { call: call.to_owned(), agent_type: agent_type.to_owned(), text: text.to_owned() })
    }

    fn taken(call: &str, agent_id: &str) -> Entry {
        Entry::Taken(Taken { call: call.to_owned(), agent_id: agent_id.to_owned() })
    }

    fn captured(turn: &str, from: u64, to: u64) -> Entry {
        let at = |offset| At { device: 1, inode: 2, offset };
        let doc_id = format!("o-{turn}");
        Entry::Captured(Captured { doc_id, turn: turn.to_owned(), from: at(from), to: at(to), ..Captured::default() })
    }

    #[test]
    fn notice_continues_the_running_turn() {
        let state = state(vec![prompt("p1", "do it"), prompt("p2", ""), prompt("p2", "")]);
        let turn = state.turn_of(Some("p2")).unwrap();
        assert_eq!((turn.key.as_str(), turn.prompt.as_str(), turn.ordinal), ("p1", "do it", 1));
        assert!(state.turn_of(Some("p3")).is_none());
        assert!(state.turn_of(None).is_some());
    }

    #[test]
    fn prompts_without_an_id_are_told_apart_by_captures() {
        let first = state(vec![prompt("", "again"), prompt("", "again")]);
        assert_eq!(first.prompts, 1);
        let key = first.turn.unwrap().key;
        let second = state(vec![prompt("", "again"), captured(&key, 0, 9), prompt("", "again")]);
        assert_eq!(second.prompts, 2);
        assert_ne!(second.turn.unwrap().key, key);
    }

    #[test]
    fn oldest_unclaimed_task_of_the_type_is_taken_and_a_repeat_gets_the_same() {
        let entries = vec![
            prompt("p", "go"),
            task("t1", "Explore", "one"),
            task("t2", "Explore", "two"),
            task("t3", "", "three"),
        ];
        let mut state = state(entries);
        assert_eq!(state.task_for("a1", "Explore").unwrap().task.text, "one");
        state.fold(taken("t1", "a1"));
        assert_eq!(state.task_for("a1", "Explore").unwrap().task.text, "one");
        assert_eq!(state.task_for("a2", "Explore").unwrap().task.text, "two");
        assert_eq!(state.task_for("a3", "general-purpose").unwrap().task.text, "three");
        assert!(state.task_for("a4", "Plan").is_none());
    }

    #[test]
    fn task_of_an_earlier_turn_is_not_taken_and_a_repeated_call_counts_once() {
        let mut state = state(vec![prompt("p", "go"), task("t1", "Explore", "one"), task("t1", "Explore", "one")]);
        assert_eq!(state.tasks.len(), 1);
        state.fold(prompt("q", "next"));
        assert!(state.task_for("a1", "Explore").is_none());
    }

    #[test]
    fn continuation_reads_its_whole_turn_again_and_the_next_turn_goes_on() {
        let state = state(vec![prompt("p1", "a"), captured("p1", 10, 50), prompt("p2", "b")]);
        assert_eq!(state.capture_start("p1").unwrap().offset, 10);
        assert_eq!(state.capture_start("p2").unwrap().offset, 50);
        assert_eq!(state.capture_start("unknown").unwrap().offset, 50);
    }

    #[test]
    fn first_turn_starts_where_its_prompt_came_in_and_a_seen_place_counts() {
        let at = |offset| At { device: 1, inode: 2, offset };
        let prompt = |id: &str, offset| {
            Entry::Prompt(Prompt { id: id.to_owned(), text: "x".to_owned(), hash: 1, at: at(offset) })
        };
        let mut state = state(vec![prompt("p1", 30)]);
        assert_eq!(state.capture_start("p1").unwrap().offset, 30);
        state.fold(Entry::Seen(at(70)));
        state.fold(prompt("p2", 90));
        assert_eq!(state.capture_start("p2").unwrap().offset, 70, "an interrupted turn between is not lost");
        let merged = Captured { doc_id: "o".to_owned(), to: at(5), merged: true, ..Captured::default() };
        state.fold(Entry::Captured(merged));
        assert_eq!(state.capture_start("p2").unwrap().offset, 70, "retiring an old outcome moves nothing back");
        state.fold(Entry::Seen(At { inode: 9, ..at(1) }));
        assert_eq!(state.capture_start("p2").unwrap().offset, 90, "another file's place says nothing");
    }

    #[test]
    fn field_report_40_compaction_forgets_what_was_shown() {
        let items = vec![("r1".to_owned(), 7)];
        let shown = Entry::Shown(Shown { key: "k".to_owned(), agent_id: String::new(), items });
        let mut state = state(vec![shown]);
        assert!(state.was_shown("", "r1", 7));
        assert!(!state.was_shown("", "r1", 8), "changed content is new");
        assert!(!state.was_shown("agent", "r1", 7), "a sub-agent has not seen it");
        state.fold(Entry::Compaction(Compaction { done: true }));
        assert!(!state.was_shown("", "r1", 7));
    }

    #[test]
    fn entries_fold_to_the_same_state() {
        let shown = |key: &str, id: &str| {
            Entry::Shown(Shown { key: key.to_owned(), agent_id: "a".to_owned(), items: vec![(id.to_owned(), 1)] })
        };
        let state = state(vec![
            prompt("p0", "zero"),
            task("t0", "Explore", "old"),
            taken("t0", "a0"),
            captured("p0", 0, 5),
            Entry::Compaction(Compaction { done: false }),
            Entry::Compaction(Compaction { done: true }),
            prompt("p1", "one"),
            prompt("p2", ""),
            task("t1", "Explore", "x"),
            taken("t1", "a1"),
            task("t2", "", "y"),
            shown("k1", "r1"),
            shown("k2", "r2"),
            Entry::Checkpoint(Checkpoint { doc_id: "c-1".to_owned() }),
            captured("p1", 5, 9),
        ]);
        let mut again = SessionState::default();
        state.entries().into_iter().for_each(|entry| again.fold(entry));
        // The number of a finished turn's task only matters as "earlier".
        for (new, old) in again.tasks.iter_mut().zip(&state.tasks) {
            assert_eq!(new.turn < state.prompts, old.turn < state.prompts);
            new.turn = old.turn;
        }
        assert_eq!(again, state);
    }

    #[test]
    fn lists_are_bounded() {
        let mut state = SessionState::default();
        for number in 0..1_000_u64 {
            state.fold(prompt(&format!("p{number}"), "x"));
            state.fold(task(&format!("t{number}"), "Explore", "x"));
            state.fold(captured(&format!("p{number}"), number, number));
            let items = vec![(format!("r{number}"), 1)];
            state.fold(Entry::Shown(Shown { key: format!("k{number}"), agent_id: String::new(), items }));
        }
        assert_eq!(state.tasks.len(), MOST_TASKS);
        assert_eq!(state.shown.len(), MOST_SHOWN);
        assert_eq!(state.keys.len(), MOST_KEYS);
        assert_eq!(state.outcomes.len(), MOST_OUTCOMES);
        assert!(state.was_shown("", "r999", 1));
    }
}
