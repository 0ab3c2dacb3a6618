//! `hookbench review`: what the last run delivered, against what a person accepted, one difference at a time.
//!
//! Guarantees that nothing is accepted which was not shown as it is: texts of hooks and names of files reach the terminal
//! escaped, and a text that changes between the question and the answer is shown again. Questions go to stderr, results
//! to stdout. The end of the answers is a quit; what was not answered stays as it is.

use std::fmt::Write as _;
use std::io::{self, BufRead, Read, Write};

use super::golden::{chosen, may_write, name};
use crate::cli::ReviewArgs;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::golden::{Pending, Unreferenced, Writing, diff, printable, unreferenced, whole_diff};

/// Longest answer that is read, in bytes.
const ANSWER_LIMIT_BYTES: u64 = 1_000;

/// Something to look at, with the name under which people know it.
#[derive(Debug)]
enum Item {
    Text(String, Pending),
    Unused(String, Unreferenced),
}

/// Shows every pending difference and every golden that no step uses, and asks what becomes of them when there is
/// somebody to ask.
///
/// # Errors
/// A scenario or golden that cannot be read or written, `--interactive` in CI, or a terminal that has gone away.
pub fn review(
    args: &ReviewArgs,
    writing: Writing,
    on_terminal: bool,
    answers: &mut dyn BufRead,
    talk: &mut dyn Write,
) -> Result<(String, ExitCode), Failure> {
    if args.interactive {
        may_write(writing)?;
    }
    let items = items(args)?;
    if args.interactive || (on_terminal && !args.list && writing == Writing::Pending) {
        let asked = ask_all(&items, answers, talk);
        return asked.and_then(|text| Ok(closing(text, &self::items(args)?)));
    }
    let mut text = String::new();
    for item in &items {
        match item {
            Item::Text(name, pending) => {
                let _ = writeln!(text, "{name}\n{}", pending.diff()?);
            }
            Item::Unused(_, left) => {
                let path = printable(&left.path.display().to_string());
                let _ = writeln!(text, "{path}: no step uses this golden; delete it");
            }
        }
    }
    Ok(closing(text, &items))
}

fn items(args: &ReviewArgs) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    for (scenario, waiting) in chosen(&args.goldens)? {
        items.extend(waiting.into_iter().map(|pending| Item::Text(name(&scenario, &pending), pending)));
        // A golden that no step uses belongs to no step that could be named.
        if args.goldens.steps.is_empty() {
            let left = unreferenced(&scenario)?.into_iter();
            items.extend(
                left.map(|left| Item::Unused(format!("{} / {}", printable(&scenario.name), left.shown()), left)),
            );
        }
    }
    Ok(items)
}

/// The counts of what is left, and the exit code.
fn closing(mut text: String, left: &[Item]) -> (String, ExitCode) {
    let n_pending = left.iter().filter(|item| matches!(item, Item::Text(..))).count();
    let _ = writeln!(text, "{n_pending} pending, {} unused", left.len() - n_pending);
    if n_pending > 0 {
        text.push_str("keep them with `hookbench accept`, throw them away with `hookbench reject`\n");
    }
    (text, if left.is_empty() { ExitCode::Pass } else { ExitCode::Behaviour })
}

/// Asks about each; one line for each thing that was done.
fn ask_all(items: &[Item], answers: &mut dyn BufRead, talk: &mut dyn Write) -> Result<String, Failure> {
    let mut done = String::new();
    for (index, item) in items.iter().enumerate() {
        let place = format!("[{}/{}]", index + 1, items.len());
        let outcome = match item {
            Item::Text(name, pending) => ask_text(&place, name, pending, answers, talk)?,
            Item::Unused(name, left) => ask_unused(&place, name, left, answers, talk)?,
        };
        match outcome {
            Outcome::Done(what) => {
                let _ = writeln!(done, "{what}");
            }
            Outcome::Left => {}
            Outcome::Quit => break,
        }
    }
    Ok(done)
}

/// What an answer led to.
#[derive(Debug)]
enum Outcome {
    Done(String),
    Left,
    Quit,
}

fn ask_text(
    place: &str,
    name: &str,
    pending: &Pending,
    answers: &mut dyn BufRead,
    talk: &mut dyn Write,
) -> Result<Outcome, Failure> {
    let mut shown = pending.texts()?;
    say(talk, &format!("{place} {name}\n{}\n", diff(&shown.0, &shown.1)))?;
    loop {
        let question = "accept, reject, skip, quit, or show it in full? [a/r/s/q/f] ";
        let Some(answer) = ask(question, answers, talk)? else { return Ok(Outcome::Quit) };
        match answer.as_str() {
            "a" | "accept" => {
                let now = pending.texts()?;
                if now == shown {
                    pending.accept(Writing::Pending)?;
                    return Ok(Outcome::Done(format!("accepted {name}")));
                }
                shown = now;
                say(talk, &format!("it has changed since it was shown:\n{}\n", diff(&shown.0, &shown.1)))?;
            }
            "r" | "reject" => {
                pending.reject(Writing::Pending)?;
                return Ok(Outcome::Done(format!("rejected {name}")));
            }
            "s" | "skip" => return Ok(Outcome::Left),
            "q" | "quit" => return Ok(Outcome::Quit),
            "f" | "full" => say(talk, &format!("{}\n", whole_diff(&shown.0, &shown.1)))?,
            _ => say(talk, "a: make this text the golden; r: throw it away; s: decide later; q: stop here\n")?,
        }
    }
}

fn ask_unused(
    place: &str,
    name: &str,
    left: &Unreferenced,
    answers: &mut dyn BufRead,
    talk: &mut dyn Write,
) -> Result<Outcome, Failure> {
    if left.path.is_dir() {
        say(talk, &format!("{place} {name} is a folder among the goldens; move it elsewhere\n"))?;
        return Ok(Outcome::Left);
    }
    say(talk, &format!("{place} {name}: no step uses this golden\n"))?;
    loop {
        let question = "remove, skip or quit? [r/s/q] ";
        let Some(answer) = ask(question, answers, talk)? else { return Ok(Outcome::Quit) };
        match answer.as_str() {
            "r" | "remove" => {
                left.remove(Writing::Pending)?;
                return Ok(Outcome::Done(format!("removed {name}")));
            }
            "s" | "skip" => return Ok(Outcome::Left),
            "q" | "quit" => return Ok(Outcome::Quit),
            _ => say(talk, "r: remove the file; s: leave it there; q: stop here\n")?,
        }
    }
}

/// One answer in lower case, blanks trimmed; `None` at the end of the answers.
fn ask(question: &str, answers: &mut dyn BufRead, talk: &mut dyn Write) -> Result<Option<String>, Failure> {
    say(talk, question)?;
    let mut line = Vec::new();
    let read = answers.take(ANSWER_LIMIT_BYTES).read_until(b'\n', &mut line);
    match read.map_err(|error| Failure::Internal(format!("the answer cannot be read: {error}")))? {
        0 => Ok(None),
        _ => Ok(Some(String::from_utf8_lossy(&line).trim().to_lowercase())),
    }
}

fn say(talk: &mut dyn Write, text: &str) -> Result<(), Failure> {
    let said: io::Result<()> = talk.write_all(text.as_bytes()).and_then(|()| talk.flush());
    said.map_err(|error| Failure::Internal(format!("the question cannot be shown: {error}")))
}
