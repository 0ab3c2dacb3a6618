//! What the host does with a hook's answer: a pure function of profile, call, exit and streams.
//!
//! Guarantees that nothing depends on anything but its arguments, that any bytes are accepted, and that every text for
//! the model is the one that was seen in recorded requests wherever a recording shows it. What an event allows comes
//! from [`EventFacts`], what differs between releases from [`HostProfile`]; here is only the flow. Not here: how the
//! texts of several hooks are joined and wrapped ([`crate::render()`]).

mod decide;

use serde_json::Value;

use crate::answer::{self, Answer, Reading, Rejected};
use crate::cap::{self, Capped};
use crate::delivery::{
    Call, Decision, Delivery, Effect, Exit, ModelText, OutputProblem, ProblemKind, TextKind, UserText, UserTextKind,
};
use crate::event::Event;
use crate::facts::{EventFacts, Exit2, PlainStdout};
use crate::label;
use crate::profile::HostProfile;

/// What the host says when a hook gives no reason of its own.
const NO_REASON: &str = "Blocked by hook";
const NO_STDERR: &str = "No stderr output";

/// Tells what becomes of a hook's answer.
///
/// ```
/// use hook_contract::{Call, Event, Exit, HostProfile, deliver};
/// let call = Call::new(Event::UserPromptSubmit, None, "my-hook");
/// let delivery = deliver(HostProfile::newest(), &call, Exit::Code(0), b"plain words\n", b"");
/// assert_eq!(delivery.to_model[0].text(), "UserPromptSubmit hook success: plain words");
///
/// let refused = deliver(HostProfile::newest(), &call, Exit::Code(2), b"", b"not today");
/// assert!(refused.to_model.is_empty());
/// assert_eq!(refused.decision.name(), "block");
/// assert_eq!(refused.to_user[0].text, "[my-hook]: not today");
/// ```
pub fn deliver(host: &HostProfile, call: &Call<'_>, exit: Exit, stdout: &[u8], stderr: &[u8]) -> Delivery {
    let stderr = answer::text(stderr);
    let mut flow = Flow { host, call, facts: call.event.facts(), stderr: &stderr, out: Delivery::default() };
    flow.run(exit, stdout);
    flow.out
}

struct Flow<'a> {
    host: &'a HostProfile,
    call: &'a Call<'a>,
    facts: &'static EventFacts,
    stderr: &'a str,
    out: Delivery,
}

/// Where a blocking text comes from. The host names the command before a text from stderr only.
#[derive(Clone, Copy, PartialEq)]
enum Source {
    Json,
    Stderr,
}

impl Flow<'_> {
    fn run(&mut self, exit: Exit, stdout: &[u8]) {
        let code = match exit {
            Exit::TimedOut => return self.timed_out(),
            Exit::Code(code) => code,
            Exit::Signal(_) => 1,
        };
        if self.facts.plain_stdout == PlainStdout::WorktreePath {
            return self.worktree(code, stdout);
        }
        let reading = answer::read(self.host, stdout);
        match reading {
            Reading::Background(rest) => return self.in_background(rest.as_bytes()),
            _ if self.call.background => return self.in_background(stdout),
            _ => {}
        }
        let silent = reading == Reading::Nothing;
        let answer = match reading {
            Reading::Object(object) => match answer::validate(self.host, self.call.event, object) {
                Ok(answer) => Some(answer),
                Err(rejected) => return self.rejected(rejected, code),
            },
            Reading::Broken(text) => {
                let message = format!("looks like a JSON object but is not valid JSON: {}", first_line(&text));
                self.problem(ProblemKind::InvalidJson, message);
                return if code == 2 { self.exit2(None, false) } else { self.fail_closed("failed") };
            }
            Reading::Plain(text) if code == 0 => return self.plain(&text),
            _ => None,
        };
        match (code, answer) {
            (0, None) => {}
            (2, answer) => self.exit2(answer, silent),
            (_, Some(answer)) => {
                self.decide(&answer, stdout, code);
                self.pass_on(&answer);
            }
            (_, None) => self.failed(exit),
        }
    }

    /// The output is dropped even when it was complete. A switch of models is refused, all else goes on.
    fn timed_out(&mut self) {
        self.problem(ProblemKind::TimedOut, "stopped at its time limit; the output is dropped".to_owned());
        if matches!(self.call.event, Event::PreModelSwitch | Event::WorktreeCreate) {
            self.out.decision = Decision::Block;
        }
        self.fail_closed("timed out");
    }

    /// Turns a failure into a block where the handler asks for it; seen on these three events, and without effect on
    /// `Stop` and `SessionStart`.
    fn fail_closed(&mut self, how: &str) {
        let guarded = matches!(self.call.event, Event::UserPromptSubmit | Event::PreToolUse | Event::PostToolUse);
        if guarded && self.call.failure_blocks && self.host.knows_on_failure {
            self.out.to_user.clear();
            self.refuse(
                whole(&format!("[{}]: {how}; blocking because onFailure is \"block\"", self.call.command)),
                false,
            );
        }
    }

    /// The last line that is not empty is the path, JSON included; any failure is the error of the call.
    fn worktree(&mut self, code: i32, stdout: &[u8]) {
        if code != 0 {
            self.out.decision = Decision::Block;
            let capped = cap::blocking(self.host, or(self.stderr, NO_STDERR), self.call.spill);
            return self.model(TextKind::ToolError, String::new(), capped);
        }
        let text = answer::text(stdout);
        match text.lines().map(answer::trim).rfind(|line| !line.is_empty()) {
            Some(path) => self.effect("worktreePath", &Value::from(path)),
            None => {
                self.out.decision = Decision::Block;
                self.problem(ProblemKind::NoWorktreePath, "printed no path for the worktree".to_owned());
            }
        }
    }

    /// A background hook decides nothing; its texts come bare, before the next request after it ends.
    fn in_background(&mut self, stdout: &[u8]) {
        self.out.background = true;
        let Reading::Object(object) = answer::read(self.host, stdout) else { return };
        match answer::validate(self.host, self.call.event, object) {
            Err(Rejected { problem, .. }) => self.out.problems.push(problem),
            Ok(answer) => {
                for text in [answer.member_text("additionalContext"), answer.text("systemMessage")] {
                    if let Some(text) = text.filter(|text| !text.is_empty()) {
                        let capped = cap::context(self.host, text, self.call.spill);
                        self.model(TextKind::Background, String::new(), capped);
                    }
                }
            }
        }
    }

    /// Nothing of a rejected answer counts, but exit code 2 still blocks, and so may a block beside a foreign name.
    fn rejected(&mut self, rejected: Rejected, code: i32) {
        self.out.problems.push(rejected.problem);
        match rejected.block {
            Some(reason) => self.block(reason.as_deref().unwrap_or(NO_REASON), Source::Json),
            None if code == 2 => self.exit2(None, false),
            None => self.fail_closed("failed"),
        }
    }

    fn plain(&mut self, text: &str) {
        let (call, host) = (self.call, self.host);
        match self.facts.plain_stdout {
            PlainStdout::Context => {
                let capped = cap::context(host, text, call.spill);
                self.model(TextKind::PlainStdout, label::success(call), capped);
            }
            PlainStdout::CompactInstructions => self.compact_instructions(text),
            PlainStdout::CompactOutput => self.compact_output(text, true),
            PlainStdout::DebugLog | PlainStdout::WorktreePath => {}
        }
    }

    /// Stdout of `PreCompact` counts as it stands, JSON included.
    fn compact_instructions(&mut self, text: &str) {
        let capped = cap::compact_instructions(self.host, self.call.command, text);
        self.model(TextKind::CompactInstructions, String::new(), capped);
        self.compact_output(text, true);
    }

    /// Only a typed `/compact` has an output that the model gets to see.
    fn compact_output(&mut self, text: &str, success: bool) {
        if self.call.subject == Some("auto") {
            return;
        }
        let label = label::compact_line(self.call, success);
        self.model(TextKind::CompactOutput, label, whole(text));
    }

    /// Neither success nor a block: the user gets a notice, the session goes on.
    fn failed(&mut self, exit: Exit) {
        let (kind, what) = match exit {
            Exit::Signal(signal) => (ProblemKind::Killed, format!("killed by signal {signal}, without an answer")),
            Exit::Code(code) => (ProblemKind::NonZeroExit, format!("exit code {code} without an answer")),
            Exit::TimedOut => return,
        };
        self.problem(kind, what);
        let text = format!("Failed with non-blocking status code: {}", or(self.stderr, NO_STDERR));
        self.user(UserTextKind::Notice, text);
        self.fail_closed("failed");
    }

    fn exit2(&mut self, answer: Option<Answer>, silent: bool) {
        let event = self.call.event;
        // The host takes such a stderr for a hook that could not start at all.
        if matches!(event, Event::Stop | Event::SubagentStop)
            && silent
            && self.stderr.to_lowercase().contains("no such file")
        {
            return self.failed(Exit::Code(2));
        }
        if self.facts.exit2 == Exit2::Ignored {
            if let Some(answer) = answer {
                self.decide(&answer, b"", 2);
                self.pass_on(&answer);
            }
            return;
        }
        match answer.as_ref().and_then(|answer| decide::blocking_reason(event, answer)) {
            Some(reason) => self.block(reason, Source::Json),
            None => self.block(or(self.stderr, NO_STDERR), Source::Stderr),
        }
        if let Some(answer) = answer {
            if answer.ends_turn() {
                self.end_turn(&answer);
            }
            self.pass_on(&answer);
        }
    }

    /// Delivers what stands beside the decision: context, message, other effects.
    fn pass_on(&mut self, answer: &Answer) {
        if let Some(message) = answer.text("systemMessage") {
            if self.facts.honours("systemMessage") {
                let capped = cap::context(self.host, message, self.call.spill);
                self.user(UserTextKind::SystemMessage, capped.body);
            } else {
                self.no_effect("systemMessage");
            }
        }
        if answer.has("additionalContext") {
            self.no_effect("additionalContext outside hookSpecificOutput");
        }
        if let Some(context) = answer.member_text("additionalContext").filter(|context| !context.is_empty()) {
            if !self.facts.context_reaches_model {
                self.no_effect("hookSpecificOutput.additionalContext");
            } else if !self.nothing_follows() {
                let capped = cap::context(self.host, context, self.call.spill);
                self.model(TextKind::AdditionalContext, label::context(self.call), capped);
            }
        }
        for (member, value) in answer.members() {
            let told = ["hookEventName", "additionalContext", "permissionDecision", "permissionDecisionReason"];
            if !told.contains(&member.as_str()) && self.facts.member(member).is_some() {
                self.effect(member, value);
            }
        }
    }

    /// Whether no request follows in which a context could stand: a refused prompt, a turn that ends here.
    fn nothing_follows(&self) -> bool {
        let refused = self.out.ends_turn || self.out.decision == Decision::Block;
        match self.call.event {
            Event::UserPromptSubmit | Event::UserPromptExpansion | Event::PostToolBatch => refused,
            Event::Stop | Event::SubagentStop => self.out.ends_turn,
            _ => false,
        }
    }

    fn model(&mut self, kind: TextKind, label: String, capped: Capped) {
        let Capped { mut body, original_utf16, truncated } = capped;
        if self.host.escapes_reminder_end && body.contains("</system-reminder>") {
            body = body.replace("</system-reminder>", "&lt;/system-reminder>");
        }
        self.out.to_model.push(ModelText { kind, label, body, original_utf16, truncated });
    }

    fn user(&mut self, kind: UserTextKind, text: String) {
        self.out.to_user.push(UserText { kind, text });
    }

    fn effect(&mut self, member: &str, value: &Value) {
        self.out.effects.push(Effect { member: member.to_owned(), value: value.clone() });
    }

    fn problem(&mut self, kind: ProblemKind, message: String) {
        self.out.problems.push(OutputProblem { kind, message });
    }

    fn no_effect(&mut self, what: &str) {
        self.problem(ProblemKind::NoEffect, format!("{what} has no effect on {}", self.call.event));
    }
}

fn whole(text: &str) -> Capped {
    Capped { body: text.to_owned(), original_utf16: cap::utf16_len(text), truncated: false }
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(80).collect()
}
