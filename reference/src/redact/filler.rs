//! What people write in place of a secret: references, placeholders, words that name the thing.
//!
//! Such text must survive, or notes and examples become unreadable. Not here: real values.

use super::bytes::{at, skip, slice, starts};
use super::look::look;
use super::name::Lower;
use super::value::REACH;

/// Stands for a value kept elsewhere: a variable, an expression, a vault address.
pub(super) fn is_reference(value: &[u8]) -> bool {
    let second = at(value, 1);
    match at(value, 0) {
        b'$' => {
            matches!(second, b'{' | b'(' | b'$')
                || second.is_ascii_alphabetic()
                    && value
                        .iter()
                        .skip(1)
                        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':' | b'.' | b'-'))
        }
        b'{' => !look(value).is_random(),
        b'%' => {
            second == b'(' || value.last() == Some(&b'%') && value.len() > 2 || matches!(second, b's' | b'd' | b'v')
        }
        b'<' | b'[' => true,
        b'!' => {
            starts(value, 1, "ref")
                || starts(value, 1, "sub")
                || starts(value, 1, "secret")
                || starts(value, 1, "vault")
        }
        b'&' if starts(value, 0, "&lt;") => true,
        b'&' | b'*' | b'@' | b':' => {
            let is_name = value.iter().skip(1).all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            let found = look(value);
            second.is_ascii_alphabetic() && is_name && found.digits < 2 && found.turns * 3 < found.len
        }
        _ => {
            const HEADS: [&str; 28] = [
                "op://",
                "vault:",
                "ssm:",
                "arn:",
                "secrets.",
                "env.",
                "env:",
                "env(",
                "env[",
                "process.env",
                "os.environ",
                "os.getenv",
                "std::env",
                "import.meta",
                "var.",
                "local.",
                "data.",
                "module.",
                "self.",
                "this.",
                "config.",
                "settings.",
                "keyring:",
                "file:",
                "sops:",
                "projects/",
                "akv:",
                "gcp:",
            ];
            HEADS.iter().any(|head| starts(value, 0, head))
                || value.windows(2).any(|pair| pair == b"${" || pair == b"{{")
        }
    }
}

/// A filler: crossed out, a documentation key, `your-…-here`.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    let found = look(value);
    if found.distinct <= 2 || starts(value, 0, "redacted") || starts(value, 0, "\\u003c") {
        return true;
    }
    let value = slice(value, 0, REACH);
    let is_random = found.is_random();
    if value.windows(4).any(|four| four == b"****" || !is_random && matches!(four, b"xxxx" | b"XXXX" | b"____"))
        || value.windows(3).any(|three| three == b"...")
        || value.windows("…".len()).any(|wide| wide == "…".as_bytes())
        || value.windows(7).any(|word| word == b"EXAMPLE")
        || value.windows(9).any(|nine| matches!(nine, b"123456789" | b"abcdefghi"))
    {
        return true;
    }
    !is_random && segments(value).any(|word| is_filler(word.text()))
}

fn is_filler(word: &str) -> bool {
    matches!(
        word,
        "your"
            | "example"
            | "placeholder"
            | "changeme"
            | "changeit"
            | "replaceme"
            | "replace"
            | "redacted"
            | "dummy"
            | "sample"
            | "insert"
            | "todo"
            | "fixme"
            | "masked"
            | "yourpassword"
            | "yourtoken"
            | "yourkey"
    )
}

/// Letters only, cut at everything else and at case changes.
pub(super) fn segments(value: &[u8]) -> impl Iterator<Item = Lower> {
    let mut rest = slice(value, 0, 128);
    std::iter::from_fn(move || {
        let start = skip(rest, 0, 128, |byte| !byte.is_ascii_alphabetic());
        if start >= rest.len() {
            return None;
        }
        let mut end = start + 1;
        while end < rest.len() && at(rest, end).is_ascii_alphabetic() {
            if at(rest, end).is_ascii_uppercase() && at(rest, end - 1).is_ascii_lowercase() {
                break;
            }
            end += 1;
        }
        let word = Lower::new(slice(rest, start, end));
        rest = slice(rest, end, rest.len());
        Some(word)
    })
}

/// Every word of the value is one people write in place of a value.
pub(super) fn only_vocabulary(value: &[u8]) -> bool {
    let mut any = false;
    for word in segments(value) {
        any = true;
        if !is_vocabulary(word.text()) {
            return false;
        }
    }
    any && look(value).digits <= 4
}

pub(super) fn is_vocabulary(word: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "a", "access", "an", "and", "any", "api", "apikey", "app", "arg", "auth", "authentication", "authorization",
        "bar", "basic", "baz", "be", "bearer", "bool", "boolean", "change", "char", "client", "config", "confirm",
        "confirmation", "const", "credential", "credentials", "current", "custom", "database", "db", "default",
        "disabled", "empty", "enabled", "enter", "env", "false", "field", "file", "foo", "for", "forgot", "from",
        "generate", "generated", "get", "hash", "hashed", "here", "hidden", "hide", "id", "in", "input", "int",
        "invalid", "is", "it", "jwt", "key", "keys", "literal", "login", "me", "missing", "mock", "must", "my",
        "name", "new", "nil", "no", "none", "not", "null", "number", "object", "of", "off", "old", "on", "option",
        "optional", "or", "param", "pass", "passphrase", "passwd", "password", "passwords", "private", "prompt",
        "provided", "public", "pwd", "random", "refresh", "removed", "required", "reset", "result", "secret",
        "secrets", "service", "set", "setting", "settings", "show", "some", "stdin", "str", "string", "test",
        "testing", "text", "that", "the", "this", "to", "token", "tokens", "true", "type", "undefined", "unset",
        "update", "use", "user", "username", "v", "val", "valid", "value", "var", "variable", "vault", "with",
        "wrong", "x", "xx", "xxx", "yes",
    ];
    WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fillers_and_references_are_told_from_values() {
        for text in ["${VAR}", "$TOKEN", "<your-key>", "process.env.X", "op://a/b", "{{ x }}", "%(pw)s", "env(\"X\")"] {
            assert!(is_reference(text.as_bytes()), "{text}");
        }
        for text in ["xxxxxxxx", "********", "your-api-key-here", "sk-...", "changeme", "AKIAEXAMPLE", "1234567890"] {
            assert!(is_placeholder(text.as_bytes()), "{text}");
        }
        for text in ["hunter2", "velvet-copper-42", "a8Fk2LmQ9zXw", "$2k!x9"] {
            let bytes = text.as_bytes();
            assert!(!is_reference(bytes) && !is_placeholder(bytes) && !only_vocabulary(bytes), "{text}");
        }
    }

    #[test]
    fn vocabulary_is_found_by_its_search() {
        for word in ["a", "api", "password", "token", "username", "yes"] {
            assert!(is_vocabulary(word), "{word}");
        }
    }
}
