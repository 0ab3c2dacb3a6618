//! Steps: stdin from a payload or a file, changes before, faults around, state checks after.

use std::time::Duration;

use super::{Converter, branch, session, worktree};
use crate::scenario::document::{Part, way};
use crate::scenario::payload;
use crate::scenario::placeholder;
use crate::scenario::plan::Checkout;
use crate::scenario::step::{Action, Fault, StateCheck, Stdin, Step, Text};
use crate::scenario::wire::{
    ActionWire, CheckoutWire, DefaultsWire, FaultWire, NumberOrWord, StateWire, StepWire, WriteWire,
};

impl Converter<'_> {
    /// The step at this position.
    pub(crate) fn step(&mut self, index: usize, wire: StepWire, defaults: &DefaultsWire) -> Step {
        let name_fits = placeholder::is_name(&wire.name);
        if !name_fits {
            let message = format!("`{}` is no step name", wire.name);
            self.problem(&way!["step", index, "name"], message, "use lower-case letters, digits, `-` and `_`");
        }
        let session = session(&wire, defaults).to_owned();
        if !placeholder::is_name(&session) {
            let message = format!("`{session}` is no session name");
            self.problem(&way!["step", index, "session"], message, "use lower-case letters, digits, `-` and `_`");
        }
        let (event, stdin) = self.stdin(index, &wire);
        let in_payload = match &stdin {
            Stdin::Payload(text) => payload::string_field(text, "cwd"),
            Stdin::Bytes(_) => None,
        };
        let cwd = match wire.cwd {
            Some(cwd) => self.text(&way!["step", index, "cwd"], cwd),
            None => in_payload.unwrap_or_else(|| "${PROJECT}".to_owned()),
        };
        let hook_args = match wire.hook_args {
            Some(args) => self.texts(&way!["step", index, "hook_args"], args),
            None => self.texts(&way!["defaults", "hook_args"], defaults.hook_args.clone()),
        };
        let mut env = self.env(&way!["defaults", "env"], &defaults.env);
        env.extend(self.env(&way!["step", index, "env"], &wire.env));
        for (at, tag) in wire.tags.iter().enumerate() {
            if !placeholder::is_name(tag) {
                let message = format!("`{tag}` is no tag");
                self.problem(&way!["step", index, "tags", at], message, "use lower-case letters, digits, `-` and `_`");
            }
        }
        let before = wire.before.into_iter().enumerate();
        let before = before.map(|(at, action)| self.action(index, at, action)).collect();
        let state = wire.state.into_iter().enumerate();
        let state = state.map(|(at, check)| self.state(index, at, check)).collect();
        let mut scrub = self.scrub(&way!["defaults", "scrub"], defaults.scrub.clone());
        scrub.extend(self.scrub(&way!["step", index, "scrub"], wire.scrub));
        Step {
            event,
            tags: wire.tags,
            stdin,
            session,
            cwd,
            timeout: wire.timeout_ms.or(defaults.timeout_ms).map(Duration::from_millis),
            at: wire.at_ms.map(Duration::from_millis),
            hook_args,
            env,
            before,
            fault: self.fault(index, wire.fault.unwrap_or_default()),
            expect: self.expect(index, wire.expect, &defaults.expect),
            state,
            scrub,
            span: self.document.span(&way!["step", index, "name"]),
            name: wire.name,
        }
    }

    fn stdin(&mut self, index: usize, wire: &StepWire) -> (String, Stdin) {
        let nothing = || (String::new(), Stdin::Bytes(Vec::new()));
        match (&wire.payload, &wire.stdin_file) {
            (Some(reference), None) => {
                let Some((event, text)) = self.payload(index, reference) else { return nothing() };
                let text = self.edited(index, wire, text);
                (wire.event.clone().unwrap_or(event), Stdin::Payload(text))
            }
            (None, Some(file)) => {
                let here = way!["step", index, "stdin_file"];
                if wire.event.is_none() {
                    self.problem(&here, "a step with stdin_file names no event", "add event = \"…\" to the step");
                }
                if !wire.set.is_empty() || !wire.unset.is_empty() {
                    self.problem(&here, "set and unset do not act on stdin_file", "edit the file itself");
                }
                let Some(path) = self.scenario_path(&here, file, false) else { return nothing() };
                match std::fs::read(&path) {
                    Ok(bytes) => (wire.event.clone().unwrap_or_default(), Stdin::Bytes(bytes)),
                    Err(error) => {
                        self.problem(&here, format!("cannot read `{file}`: {error}"), "make the file readable");
                        nothing()
                    }
                }
            }
            _ => {
                let remedy = "give it either payload (a line or an id of payloads.jsonl) or stdin_file";
                self.problem(&way!["step", index, "name"], "the step has not exactly one source of stdin", remedy);
                nothing()
            }
        }
    }

    fn payload(&mut self, index: usize, reference: &NumberOrWord) -> Option<(String, String)> {
        let payloads = self.payloads?;
        let found = match reference {
            NumberOrWord::Number(line) => payloads.by_line(*line),
            NumberOrWord::Word(id) => payloads.by_id(id),
        };
        let Some(found) = found else {
            let (message, remedy) = match reference {
                NumberOrWord::Number(line) => {
                    let lines = payloads.source.text().lines().count();
                    (format!("line {line} of payloads.jsonl holds no payload"), format!("the file has {lines} lines"))
                }
                NumberOrWord::Word(id) => {
                    let ids: Vec<&str> = payloads.lines.iter().filter_map(|line| line.id.as_deref()).collect();
                    (format!("no line of payloads.jsonl has id `{id}`"), format!("ids there: {}", ids.join(", ")))
                }
            };
            self.problem(&way!["step", index, "payload"], message, remedy);
            return None;
        };
        Some((found.event.clone(), found.text.clone()))
    }

    fn edited(&mut self, index: usize, wire: &StepWire, mut text: String) -> String {
        for (key, value) in &wire.set {
            let here = way!["step", index, "set", key];
            let value = self.text(&here, json(value).to_string());
            match payload::with_field(&text, key, Some(&value)) {
                Ok(edited) => text = edited,
                Err(message) => self.problem(&here, message, "name a field of the payload, or a JSON pointer into it"),
            }
        }
        for (at, key) in wire.unset.iter().enumerate() {
            match payload::with_field(&text, key, None) {
                Ok(edited) => text = edited,
                Err(message) => {
                    let remedy = "name a field of the payload, or a JSON pointer into it";
                    self.problem(&way!["step", index, "unset", at], message, remedy);
                }
            }
        }
        text
    }

    fn action(&mut self, step: usize, at: usize, wire: ActionWire) -> Action {
        let here = way!["step", step, "before", at];
        match wire {
            ActionWire::TranscriptAppend(file) => Action::TranscriptAppend(self.file_text(&here, &file)),
            ActionWire::Write(write) => Action::Write(self.write(&here, write)),
            ActionWire::Append(write) => Action::Append(self.write(&here, write)),
            ActionWire::Delete(path) => Action::Delete(self.text(&here, path)),
            ActionWire::Rename(rename) => {
                Action::Rename { from: self.text(&here, rename.from), to: self.text(&here, rename.to) }
            }
            ActionWire::Symlink(link) => {
                Action::Symlink { path: self.text(&here, link.path), target: self.text(&here, link.target) }
            }
            ActionWire::CopyTree(folder) => {
                Action::CopyTree(self.scenario_path(&here, &folder, true).unwrap_or_default())
            }
            ActionWire::GitCommit(wire) => {
                Action::GitCommit(self.commit(&[&here[..], &[Part::Key("git_commit")]].concat(), wire))
            }
            ActionWire::GitCheckout(CheckoutWire { at, create, worktree }) => {
                Action::GitCheckout(Checkout { at, create, worktree })
            }
            ActionWire::GitBranch(wire) => Action::GitBranch(branch(wire)),
            ActionWire::GitWorktree(wire) => Action::GitWorktree(worktree(wire)),
            ActionWire::Run(line) => Action::Run(self.command(&here, line)),
        }
    }

    fn write(&mut self, way: &[Part<'_>], wire: WriteWire) -> Text {
        let path = self.text(way, wire.path);
        let text = match (wire.text, wire.from) {
            (Some(text), None) => self.text(way, text),
            (None, Some(from)) => self.file_text(way, &from),
            _ => {
                self.problem(way, "the file has not exactly one source", "give it either text or from");
                String::new()
            }
        };
        Text { path, text }
    }

    fn fault(&mut self, index: usize, wire: FaultWire) -> Fault {
        for (key, count) in [("times", wire.times), ("parallel", wire.parallel)] {
            if count.is_some_and(|count| !(1..=64).contains(&count)) {
                self.problem(&way!["step", index, "fault", key], format!("{key} is not within 1 to 64"), "lower it");
            }
        }
        if wire.stdin_held_open && wire.stdin_closed_after_bytes.is_some() {
            let remedy = "keep stdin_held_open or stdin_closed_after_bytes, not both";
            self.problem(&way!["step", index, "fault"], "stdin cannot be held open and be closed", remedy);
        }
        let mut paths = |key, paths| self.texts(&way!["step", index, "fault", key], paths);
        Fault {
            stdin_held_open: wire.stdin_held_open,
            stdin_closed_after: wire.stdin_closed_after_bytes,
            truncate: wire.truncate_bytes,
            kill_after: wire.kill_after_ms.map(Duration::from_millis),
            times: wire.times,
            parallel: wire.parallel,
            clock_back: wire.clock_back_s.map(Duration::from_secs),
            delete: paths("delete", wire.delete),
            read_only: paths("read_only", wire.read_only),
            corrupt: paths("corrupt", wire.corrupt),
            cut: paths("cut", wire.cut),
            lock: paths("lock", wire.lock),
            run: self.commands(&way!["step", index, "fault", "run"], wire.run),
        }
    }

    fn state(&mut self, step: usize, at: usize, wire: StateWire) -> StateCheck {
        let here = way!["step", step, "state", at];
        StateCheck {
            command: self.command(&way!["step", step, "state", at, "command"], wire.command),
            exit: wire.exit,
            stdout: wire.expect_stdout.map(|text| self.text(&here, text)),
            contains: self.texts(&here, wire.contains),
            not_contains: self.texts(&here, wire.not_contains),
        }
    }
}

/// A TOML value as JSON; a date becomes its text.
fn json(value: &toml::Value) -> serde_json::Value {
    match value {
        toml::Value::String(text) => text.as_str().into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(flag) => (*flag).into(),
        toml::Value::Datetime(date) => date.to_string().into(),
        toml::Value::Array(items) => items.iter().map(json).collect(),
        toml::Value::Table(table) => table.iter().map(|(key, value)| (key.clone(), json(value))).collect(),
    }
}
