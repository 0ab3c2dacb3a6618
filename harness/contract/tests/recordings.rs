//! `deliver` and `render` against what recorded models received.
//!
//! Every hook answer of the recordings that has `requests.jsonl` beside it is delivered and rendered, and the result
//! looked up, letter by letter, in the first request of the same agent after the hook. Answers come from three places:
//! the transcript holds stdout, stderr and exit code; where the transcript holds only the effect the answer is put
//! together again from it; texts past the cap are made again from the command in `settings.json`. The path of a
//! spilled file is the host's invention and is replaced by a placeholder on both sides.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod recording;

use std::collections::BTreeMap;

use hook_contract::{
    Delivery, Event, MessageForm, ModelText, Part, Place, UserTextKind, deliver, render, render_overridden,
};
use recording::{Answer, Firing, Request, Session, Source};

/// What became of one answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The text stands in the first request after it, as often as it was given until then.
    Delivered,
    /// The text stands in that request, but less often; see the cases printed.
    FewerCopies,
    /// A resumed session already holds the same text; the host was seen not to add it again.
    NotRepeated,
    /// Nothing is predicted for the model, and none of the answer's words is in any request.
    Silent,
    /// No request of the agent follows.
    NoRequestFollows,
    /// The prediction is not what the model received.
    Wrong,
}

/// Answers by version, source and outcome; texts by version, event and place.
#[derive(Default)]
struct Tally {
    answers: BTreeMap<(String, Source, Outcome), usize>,
    texts: BTreeMap<(String, Event, Place), usize>,
}

impl Tally {
    #[expect(clippy::print_stderr, reason = "cases without a match are the point of the test")]
    fn add(&mut self, session: &Session, firing: &Firing, outcome: Outcome, parts: Vec<Part>) {
        if matches!(outcome, Outcome::Wrong | Outcome::FewerCopies | Outcome::NoRequestFollows) {
            eprintln!("{outcome:?}: {} {} {} {parts:?}", session.version, session.name, firing.event);
        }
        for answer in &firing.answers {
            *self.answers.entry((session.version.clone(), answer.source, outcome)).or_default() += 1;
        }
        if outcome == Outcome::Delivered {
            for part in parts {
                *self.texts.entry((session.version.clone(), firing.event, part.place)).or_default() += 1;
            }
        }
    }

    #[expect(clippy::print_stderr, reason = "the figures are the point of the test")]
    fn print(&self) {
        for ((version, source, outcome), count) in &self.answers {
            eprintln!("{version} {source:?} {outcome:?}: {count} answers");
        }
        for ((version, event, place), count) in &self.texts {
            eprintln!("{version} {event} in {place:?}: {count} texts");
        }
    }

    fn count(&self, wanted: Outcome) -> usize {
        self.answers.iter().filter(|((_, _, outcome), _)| *outcome == wanted).map(|(_, count)| count).sum()
    }
}

#[test]
fn recorded_answers_reach_the_model_as_predicted() {
    let Some(sessions) = recording::sessions() else { return };
    let mut tally = Tally::default();
    for session in sessions.iter().filter(|session| !session.requests.is_empty()) {
        for (at, firing) in session.firings.iter().enumerate() {
            let (outcome, parts) = judge(session, &session.firings[..=at]);
            tally.add(session, firing, outcome, parts);
        }
    }
    tally.print();
    assert_eq!(tally.count(Outcome::Wrong) + tally.count(Outcome::FewerCopies), 0);
    // The last stops of a session, after which nobody asks the model again.
    assert_eq!(tally.count(Outcome::NoRequestFollows), 4);
    assert!(tally.count(Outcome::Delivered) >= 207, "{} delivered", tally.count(Outcome::Delivered));
    assert!(tally.count(Outcome::Silent) >= 73, "{} silent", tally.count(Outcome::Silent));
}

#[test]
fn answers_made_again_from_payloads_reach_the_model_as_predicted() {
    let Some(sessions) = recording::sessions() else { return };
    let mut tally = Tally::default();
    for session in sessions.iter().filter(|session| !session.requests.is_empty()) {
        for firing in &session.replayed {
            let (outcome, parts) = match repeated_at_resume(session, firing) {
                true => (Outcome::NotRepeated, Vec::new()),
                false => judge(session, std::slice::from_ref(firing)),
            };
            tally.add(session, firing, outcome, parts);
        }
    }
    tally.print();
    assert_eq!(tally.count(Outcome::Wrong) + tally.count(Outcome::FewerCopies), 0);
    assert_eq!((tally.count(Outcome::NoRequestFollows), tally.count(Outcome::NotRepeated)), (6, 4));
    assert!(tally.count(Outcome::Delivered) >= 182, "{} delivered", tally.count(Outcome::Delivered));
    assert!(tally.count(Outcome::Silent) >= 154, "{} silent", tally.count(Outcome::Silent));
}

/// The newer client also notes in the transcript how it rendered a hook's text, for every session.
#[test]
fn renderings_in_transcripts_are_as_predicted() {
    let Some(sessions) = recording::sessions() else { return };
    let mut n_texts = 0;
    for session in sessions.iter().filter(|session| !session.rendered.is_empty()) {
        let mut expected = Vec::new();
        for firing in &session.firings {
            let parts = predicted(session, firing, MessageForm::Reminder).into_iter();
            let noted = parts.filter(|part| matches!(part.place, Place::ReminderBlock | Place::UserMessage));
            // The message that makes a turn go on after a block is a line of its own kind.
            let noted = noted.filter(|part| !part.text.contains("hook feedback:"));
            // What will be joined with the next prompt is noted like what continues the turn.
            expected.extend(noted.map(|part| (firing.event, part.text)));
        }
        let mut rendered = session.rendered.clone();
        expected.sort();
        rendered.sort();
        assert_eq!(rendered, expected, "{} {}", session.version, session.name);
        n_texts += rendered.len();
    }
    assert_eq!(n_texts, 126, "texts rendered");
}

#[test]
fn messages_for_the_user_are_as_predicted() {
    let Some(sessions) = recording::sessions() else { return };
    let mut n_messages = 0;
    for session in sessions.iter().filter(|session| !session.messages.is_empty()) {
        let mut expected: BTreeMap<(Event, String), usize> = BTreeMap::new();
        for (firing, answer) in
            session.replayed.iter().flat_map(|firing| firing.answers.iter().map(move |answer| (firing, answer)))
        {
            let Delivery { to_user, to_model, .. } = delivered(session, firing, answer);
            assert_eq!(to_model, [], "{}", firing.event);
            for message in to_user {
                assert_eq!(message.kind, UserTextKind::SystemMessage);
                *expected.entry((firing.event, message.text)).or_default() += 1;
            }
        }
        for message in &session.messages {
            let left = expected.get_mut(message).filter(|left| **left > 0);
            *left.unwrap_or_else(|| panic!("{} {message:?}", session.version)) -= 1;
        }
        n_messages += session.messages.len();
        // The client keeps no line about these: the events come before or after the transcript, or in sub-agents.
        for ((event, _), left) in expected.iter().filter(|(_, left)| **left > 0) {
            assert!(
                matches!(
                    event,
                    Event::SubagentStart
                        | Event::SubagentStop
                        | Event::PreToolUse
                        | Event::PostToolUse
                        | Event::PostToolBatch
                ),
                "{event} {left}"
            );
        }
    }
    assert_eq!(n_messages, 79, "messages shown");
}

/// Whether a resumed session holds one copy of a start text that was given twice.
fn repeated_at_resume(session: &Session, firing: &Firing) -> bool {
    if firing.event != Event::SessionStart || firing.subject.as_deref() != Some("resume") {
        return false;
    }
    let words = firing.answers.iter().filter_map(Answer::distinctive).next().unwrap();
    let request = session.requests.iter().find(|request| request.follows(firing)).unwrap();
    request.systems.iter().map(|text| text.matches(words).count()).sum::<usize>() == 1
}

/// Judges the last of these firings; the others tell how often its text was given before.
fn judge(session: &Session, firings: &[Firing]) -> (Outcome, Vec<Part>) {
    let firing = firings.last().unwrap();
    let request = session.requests.iter().find(|request| request.follows(firing));
    let form = request.map_or(MessageForm::System, |request| session.host.form(&request.model));
    let parts = predicted(session, firing, form);
    if parts.is_empty() {
        let heard =
            session.requests.iter().any(|request| firing.answers.iter().any(|answer| mentions(request, answer)));
        return (if heard { Outcome::Wrong } else { Outcome::Silent }, parts);
    }
    let Some(request) = request else { return (Outcome::NoRequestFollows, parts) };
    let found: Vec<usize> = parts
        .iter()
        .map(|part| match part.place {
            // Stands in the request for the next prompt, not in the one for the summary.
            Place::CompactOutput => session.requests.iter().map(|request| copies(request, firing, part)).sum(),
            _ => copies(request, firing, part),
        })
        .collect();
    if found.contains(&0) {
        return (Outcome::Wrong, parts);
    }
    let given = |part: &Part| {
        let earlier = firings.iter().filter(|earlier| earlier.is_remembered_with(firing));
        earlier.filter(|earlier| predicted(session, earlier, form).contains(part)).count()
    };
    let fewer = parts.iter().zip(&found).any(|(part, found)| *found < given(part));
    (if fewer { Outcome::FewerCopies } else { Outcome::Delivered }, parts)
}

fn delivered(session: &Session, firing: &Firing, answer: &Answer) -> Delivery {
    deliver(session.host, &firing.call(answer), answer.exit, answer.stdout.as_bytes(), answer.stderr.as_bytes())
}

fn predicted(session: &Session, firing: &Firing, form: MessageForm) -> Vec<Part> {
    let deliveries = firing.answers.iter().map(|answer| delivered(session, firing, answer));
    let texts: Vec<ModelText> = deliveries.flat_map(|delivery| delivery.to_model).collect();
    let wrap = if firing.overridden { render_overridden } else { render };
    wrap(session.host, form, firing.event, &texts)
}

/// How often a request holds a part.
fn copies(request: &Request, firing: &Firing, part: &Part) -> usize {
    match part.place {
        Place::SystemMessage => request.systems.iter().map(|text| paragraphs(text, &part.text)).sum(),
        Place::ReminderBlock | Place::UserMessage => request.blocks.iter().filter(|block| **block == part.text).count(),
        Place::ToolResult => {
            let results = request.results.iter().filter(|(id, _)| *id == firing.tool_use_id);
            results.filter(|(_, text)| *text == part.text).count()
        }
        Place::CompactInstructions => {
            let wanted = format!("\n\n{}\n\nREMINDER: Do NOT call any tools.", part.text);
            request.blocks.iter().map(|block| block.matches(&wanted).count()).sum()
        }
        Place::CompactOutput => {
            let output = |block: &&String| block.starts_with("<local-command-stdout>");
            let lines = request.blocks.iter().filter(output).flat_map(|block| block.lines());
            lines.filter(|line| line.strip_suffix("</local-command-stdout>").unwrap_or(line) == part.text).count()
        }
        Place::SkillText => 0,
    }
}

/// How often a text stands between blank lines, or the ends, of a message.
fn paragraphs(message: &str, text: &str) -> usize {
    let opens = |at: usize| at == 0 || message[..at].ends_with("\n\n");
    let closes = |end: usize| end == message.len() || message[end..].starts_with("\n\n");
    message.match_indices(text).filter(|(at, _)| opens(*at) && closes(at + text.len())).count()
}

/// Whether any text of the request has the words of an answer that should have no effect.
fn mentions(request: &Request, answer: &Answer) -> bool {
    let Some(words) = answer.distinctive() else { return false };
    let texts = request.systems.iter().chain(&request.blocks).chain(request.results.iter().map(|(_, text)| text));
    texts.into_iter().any(|text| text.lines().any(|line| line.ends_with(words)))
}
