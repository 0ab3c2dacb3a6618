//! Placeholders such as `${PROJECT}` and `${SESSION:first}`: found, checked, replaced.
//!
//! A placeholder is `${`, upper-case letters or `_`, optionally `:` and a name, `}`. Anything else that begins
//! with `${` is ordinary text, so shell and template fragments survive; `$${` stands for a literal `${`.
//! What a placeholder stands for is the sandbox's knowledge, not this module's.

use std::ops::Range;

/// Placeholders without an argument.
const PLAIN: [&str; 11] = [
    "HOME",
    "PROJECT",
    "PROJECT_SLUG",
    "SESSION",
    "TRANSCRIPT",
    "TRANSCRIPT_DIR",
    "CORPORA",
    "SCENARIO",
    "DATA",
    "TMP",
    "HOOK_PROGRAM",
];

/// Placeholders whose argument is the name of a session.
const BY_SESSION: [&str; 3] = ["SESSION", "TRANSCRIPT", "TRANSCRIPT_DIR"];

/// One placeholder in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Placeholder<'t> {
    /// Upper-case name.
    pub(crate) name: &'t str,
    /// What stands after the colon.
    pub(crate) argument: Option<&'t str>,
    /// Bytes of the text that it takes.
    pub(crate) span: Range<usize>,
}

/// What is wrong with a placeholder, with its remedy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
    pub(crate) remedy: String,
}

/// All placeholders of a text that nothing stands for. `sessions` are the names that steps use.
pub(crate) fn faults(text: &str, sessions: &[&str]) -> Vec<Fault> {
    pieces(text).into_iter().filter_map(|piece| fault(&piece, text, sessions)).collect()
}

fn fault(piece: &Piece<'_>, text: &str, sessions: &[&str]) -> Option<Fault> {
    let Piece::Placeholder(found) = piece else { return None };
    let known = match found.argument {
        None => PLAIN.contains(&found.name),
        Some(_) => found.name == "WORKTREE" || BY_SESSION.contains(&found.name),
    };
    let written = text.get(found.span.clone()).unwrap_or_default();
    if !known {
        return Some(Fault {
            span: found.span.clone(),
            message: format!("unknown placeholder {written}"),
            remedy: format!(
                "use one of {}, SESSION:name, TRANSCRIPT:name, TRANSCRIPT_DIR:name, WORKTREE:name, \
                 or write ${written} for literal text",
                PLAIN.join(", ")
            ),
        });
    }
    let session = found.argument.filter(|_| BY_SESSION.contains(&found.name))?;
    if sessions.contains(&session) {
        return None;
    }
    Some(Fault {
        span: found.span.clone(),
        message: format!("{written} names a session that no step belongs to"),
        remedy: format!("use one of: {}; or give a step `session = \"{session}\"`", sessions.join(", ")),
    })
}

/// The text with every placeholder replaced by what `value` gives; `None` leaves it as it stands.
pub(crate) fn expand(text: &str, value: impl Fn(&Placeholder<'_>) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    for piece in pieces(text) {
        match piece {
            Piece::Text(part) => out.push_str(part),
            Piece::Placeholder(found) => match value(&found) {
                Some(replacement) => out.push_str(&replacement),
                None => out.push_str(text.get(found.span.clone()).unwrap_or_default()),
            },
        }
    }
    out
}

enum Piece<'t> {
    Text(&'t str),
    Placeholder(Placeholder<'t>),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::new();
    let mut done = 0;
    let mut from = 0;
    while let Some(dollar) = text.get(from..).and_then(|rest| rest.find("${")).map(|at| from + at) {
        if text.get(..dollar).is_some_and(|before| before.ends_with('$')) {
            out.push(Piece::Text(text.get(done..dollar - 1).unwrap_or_default()));
            done = dollar;
            from = dollar + 2;
            continue;
        }
        from = dollar + 2;
        let Some(found) = placeholder_at(text, dollar) else { continue };
        out.push(Piece::Text(text.get(done..dollar).unwrap_or_default()));
        done = found.span.end;
        from = done;
        out.push(Piece::Placeholder(found));
    }
    out.push(Piece::Text(text.get(done..).unwrap_or_default()));
    out
}

fn placeholder_at(text: &str, dollar: usize) -> Option<Placeholder<'_>> {
    let inside = text.get(dollar + 2..)?;
    let close = inside.find('}')?;
    let inside = inside.get(..close)?;
    let (name, argument) = match inside.split_once(':') {
        Some((name, argument)) => (name, Some(argument)),
        None => (inside, None),
    };
    let upper = !name.is_empty() && name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    let plain = argument.is_none_or(is_name);
    (upper && plain).then_some(Placeholder { name, argument, span: dollar..dollar + 2 + close + 1 })
}

/// Lower-case letters, digits, `-` and `_`, beginning with a letter or digit: names of steps and sessions.
pub(crate) fn is_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_')
        && text.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shout(found: &Placeholder<'_>) -> Option<String> {
        match (found.name, found.argument) {
            ("HOME", None) => Some("/h".to_owned()),
            ("SESSION", Some(name)) => Some(format!("<{name}>")),
            _ => None,
        }
    }

    #[test]
    fn known_placeholders_are_replaced_and_all_else_is_kept() {
        let cases = [
            ("${HOME}/x ${SESSION:first}!", "/h/x <first>!"),
            ("${HOME}${HOME}", "/h/h"),
            ("echo ${x} ${#a} ${1:-y} $HOME $", "echo ${x} ${#a} ${1:-y} $HOME $"),
            ("$${HOME} stays", "${HOME} stays"),
            ("open ${HOME", "open ${HOME"),
            ("${FOO}", "${FOO}"),
            ("naïve ${HOME} 世界", "naïve /h 世界"),
        ];
        for (text, expected) in cases {
            assert_eq!(expand(text, shout), expected, "for {text:?}");
        }
    }

    #[test]
    fn unknown_placeholder_is_found_with_its_place_and_remedy() {
        let text = "a ${HOME} b ${FOO} c $${BAR}";
        let found = faults(text, &["main"]);
        assert_eq!(found.len(), 1);
        assert_eq!(&text[found[0].span.clone()], "${FOO}");
        assert!(found[0].remedy.contains("$${FOO}"), "{}", found[0].remedy);
    }

    #[test]
    fn session_that_no_step_has_is_found() {
        assert!(faults("${SESSION:first}", &["main", "first"]).is_empty());
        let found = faults("${TRANSCRIPT:frist}", &["main", "first"]);
        assert!(found[0].remedy.contains("main, first"), "{}", found[0].remedy);
        assert_eq!(faults("${PROJECT:x}", &[]).len(), 1);
        assert!(faults("${WORKTREE:x}", &[]).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_expanded_without_loss(text in "([$]|[{]|[}]|[A-Z:]|HOME|é|\\n){0,24}") {
            let expanded = expand(&text, |_| None);
            // Only the second dollar of an escape goes away.
            proptest::prop_assert_eq!(expanded.replace('$', ""), text.replace('$', ""));
            for fault in faults(&text, &[]) {
                proptest::prop_assert_eq!(text.get(fault.span).and_then(|written| written.get(..2)), Some("${"));
            }
        }
    }
}
