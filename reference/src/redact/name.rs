//! Whether the identifier around a mark names a secret, and how surely.
//!
//! A name is cut at `_`, `-`, `.` and case changes; its last word that carries meaning decides, so
//! `password_hash`, `token_type` and `public_key` are no secrets while `DB_PASSWORD_OLD` is one.
//! Work per call is bounded. Not here: the value, and what stands between name and value.

use super::bytes::{at, slice, starts};

/// Longest identifier part looked at on either side of a mark, in bytes.
const REACH: usize = 64;

/// How much a name says on its own; the weaker the name, the more the value must look random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Strength {
    /// `key`, `salt`, `sig`: many harmless uses.
    Weak,
    /// `token`, `api_key`: usually random.
    Medium,
    /// `secret`, `credentials`: anything that is not a placeholder.
    Strong,
    /// `password` and its like: chosen by people, so plain words count too.
    Password,
}

/// An identifier that may introduce a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Name {
    /// First byte.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// What it promises.
    pub(super) strength: Strength,
    /// Word for the placeholder.
    pub(super) label: &'static str,
    /// Written like an environment variable: no lower-case letter, and more than one word or a long one.
    pub(super) shouted: bool,
    /// `Authorization`: the value may start with a scheme.
    pub(super) scheme: bool,
}

/// Reads the identifier around `from..to`; `None` when it names no secret.
pub(super) fn around(text: &[u8], from: usize, to: usize) -> Option<Name> {
    if slice(text, from, to).iter().any(|byte| *byte >= 0x80) {
        let whole = Name {
            start: from,
            end: to,
            strength: Strength::Password,
            label: "password",
            shouted: false,
            scheme: false,
        };
        return Some(whole);
    }
    // A mark may end with the `=` behind the name.
    let to = to - usize::from(!is_part(at(text, to.wrapping_sub(1))));
    let mut start = from;
    while start > 0 && from - start < REACH && is_part(at(text, start - 1)) {
        start -= 1;
    }
    // `\n`, `\t` and `\r` of an escaped string are not the first letter of a name.
    if start > 0 && at(text, start - 1) == b'\\' && matches!(at(text, start), b'n' | b't' | b'r') && start < from {
        start += 1;
    }
    while start < from && !at(text, start).is_ascii_alphanumeric() && at(text, start) != b'-' {
        start += 1;
    }
    // `-DNAME=value` of a Java or compiler call.
    if starts(text, start, "-d") && at(text, start + 2).is_ascii_alphabetic() && at(text, start + 1) == b'D' {
        start += 2;
    }
    let mut end = to;
    while end < text.len() && end - to < REACH && is_part(at(text, end)) {
        // A dot that ends a sentence is not part of the name.
        if at(text, end) == b'.' && !at(text, end + 1).is_ascii_alphanumeric() {
            break;
        }
        end += 1;
    }
    if at(text, end.wrapping_sub(1)) == b'-' && at(text, end) == b'>' {
        end -= 1;
    }
    if starts(text, end, "ña") || starts(text, end, "Ña") {
        end += "ña".len();
    }
    let identifier = slice(text, start, end);
    let is_french = identifier.eq_ignore_ascii_case(b"passe") && starts(text, start.wrapping_sub(7), "mot de ");
    let (mut strength, label) = if is_french { (Strength::Password, "password") } else { classify(identifier)? };
    if identifier.eq_ignore_ascii_case(b"key") && at(text, start.wrapping_sub(1)) == b' ' {
        strength = strength.max(of_words(text, start - 1));
    }
    let shouted = !identifier.iter().any(u8::is_ascii_lowercase) && identifier.len() >= 3;
    let scheme = label == "authorization";
    Some(Name { start, end, strength, label, shouted, scheme })
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

/// Words of an identifier, last first, in lower case.
struct Words<'a> {
    rest: &'a [u8],
}

/// One lower-case word without trailing digits; longer ones keep their last bytes.
pub(super) struct Lower {
    letters: [u8; 32],
    len: usize,
}

impl Lower {
    pub(super) fn new(word: &[u8]) -> Lower {
        let tail = slice(word, word.len().saturating_sub(32), word.len());
        let mut letters = [0; 32];
        for (to, from) in letters.iter_mut().zip(tail) {
            *to = from.to_ascii_lowercase();
        }
        Lower { letters, len: tail.len() }
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(slice(&self.letters, 0, self.len)).unwrap_or("")
    }
}

impl Iterator for Words<'_> {
    type Item = Lower;

    fn next(&mut self) -> Option<Lower> {
        let mut end = self.rest.len();
        while end > 0 && !at(self.rest, end - 1).is_ascii_alphabetic() {
            end -= 1;
        }
        if end == 0 {
            return None;
        }
        let mut start = end;
        while start > 0 {
            let (before, here, after) = (at(self.rest, start - 1), at(self.rest, start), at(self.rest, start + 1));
            let boundary = start < end
                && here.is_ascii_uppercase()
                && (before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (start + 1 < end && after.is_ascii_lowercase()));
            if !before.is_ascii_alphanumeric() || boundary {
                break;
            }
            start -= 1;
        }
        let word = Lower::new(slice(self.rest, start, end));
        self.rest = slice(self.rest, 0, start);
        Some(word)
    }
}

fn classify(identifier: &[u8]) -> Option<(Strength, &'static str)> {
    let mut words = Words { rest: identifier };
    let mut word = words.next()?;
    for _ in 0..3 {
        if !is_neutral(word.text()) {
            break;
        }
        word = words.next()?;
    }
    let mut before = words.next();
    if word.text() == "id" && before.as_ref().is_some_and(|word| word.text() == "key") {
        word = before?;
        before = words.next();
        if before.as_ref().is_none_or(|word| word.text() != "access") {
            return None;
        }
    }
    let earlier = words.next();
    let qualifier = before.as_ref().map_or("", Lower::text);
    let is_public = |word: &str| matches!(word, "public" | "publishable" | "pub");
    if is_public(qualifier) || earlier.as_ref().is_some_and(|word| is_public(word.text()) && qualifier == "key") {
        return None;
    }
    of_word(word.text(), qualifier)
}

fn of_word(word: &str, qualifier: &str) -> Option<(Strength, &'static str)> {
    use Strength::{Medium, Password, Strong, Weak};
    if matches!(word, "compass" | "bypass" | "overpass" | "underpass" | "surpass" | "trespass" | "byepass") {
        return None;
    }
    let found = match word {
        "pass" if qualifier.is_empty() => (Weak, "password"),
        "pwd" if qualifier.is_empty() => (Medium, "password"),
        "cookie" | "cookies" => return None,
        "auth" => (Medium, "auth"),
        "authorization" => (Medium, "authorization"),
        "pw" | "rootpw" | "bindpw" | "adminpw" | "dbpw" | "userpw" => (Password, "password"),
        "sig" | "signature" | "salt" | "pin" | "code" | "sid" => (Weak, "signature"),
        "mac" if qualifier == "private" => (Strong, "key-mac"),
        "session" | "sessionid" | "sessid" | "phpsessid" | "jsessionid" => (Weak, "session"),
        "mnemonic" => (Password, "seed-phrase"),
        "phrase" if matches!(qualifier, "seed" | "recovery" | "pass" | "secret") => (Password, "seed-phrase"),
        "word" if qualifier == "pass" => (Password, "password"),
        "key" | "keys" => return of_key(qualifier),
        "jwt" | "pat" => (Medium, "token"),
        "token" | "tokens" if is_cursor(qualifier) => return None,
        "tokens" => return None,
        "cred" | "creds" | "credential" | "credentials" => (Strong, "credential"),
        "secrets" => (Medium, "secret"),
        _ => {
            let ends = |tails: &[&str]| tails.iter().any(|tail| word.ends_with(tail));
            if ends(&["password", "passwd", "passphrase", "passwort", "passcode", "pwd", "pass", "contrasena", "senha"])
                || ends(&["kennwort", "psk", "contrase", "wachtwoord"])
                || matches!(word, "heslo" | "parola")
            {
                (Password, "password")
            } else if word.ends_with("secret") {
                (Strong, "secret")
            } else if word.ends_with("token") {
                (Medium, "token")
            } else if ends(&["apikey", "secretkey", "accesskey", "authkey", "privatekey", "accountkey", "sharedkey"]) {
                (Medium, "key")
            } else {
                return None;
            }
        }
    };
    Some(found)
}

/// What `key` is worth behind the word that ends at `end`: `the api key`.
fn of_words(text: &[u8], end: usize) -> Strength {
    let mut start = end;
    while start > 0 && end - start < 16 && at(text, start - 1).is_ascii_alphabetic() {
        start -= 1;
    }
    let is_apart = start == 0 || !is_part(at(text, start - 1));
    let found = of_key(Lower::new(slice(text, start, end)).text()).filter(|_| is_apart && start < end);
    found.map_or(Strength::Weak, |(strength, _)| strength)
}

/// What `…_key` is worth after its qualifier.
fn of_key(qualifier: &str) -> Option<(Strength, &'static str)> {
    match qualifier {
        "api" | "access" | "secret" | "private" | "auth" | "signing" | "sign" | "encryption" | "encrypt"
        | "decryption" | "decrypt" | "master" | "account" | "shared" | "license" | "licence" | "service"
        | "storage" | "deploy" | "app" | "application" | "admin" | "hmac" | "aes" | "crypto" | "symmetric"
        | "webhook" | "consumer" | "subscription" | "function" | "functions" | "server" | "client" | "ssh" | "rest"
        | "token" | "session" | "jwt" | "root" | "integration" | "ingest" | "write" | "developer" | "dev" => {
            Some((Strength::Medium, "key"))
        }
        "foreign" | "cache" | "sort" | "partition" | "row" | "hash" | "map" | "dict" | "lookup" | "index" | "group"
        | "object" | "idempotency" | "routing" | "site" | "host" | "registry" | "event" | "message" | "query"
        | "translation" | "locale" | "json" | "yaml" | "column" | "shortcut" | "hot" | "arrow" | "enter" | "shift"
        | "bucket" | "file" | "path" | "dedupe" | "unique" | "composite" | "natural" | "surrogate" | "order"
        | "join" | "record" | "item" | "data" | "parent" | "node" | "feature" | "flag" | "config" | "setting"
        | "label" | "name" | "metric" | "tag" | "header" | "field" | "property" | "restore" | "turbo" | "build"
        | "trace" => None,
        _ => Some((Strength::Weak, "key")),
    }
}

/// Tokens of pagination, parsing and cancellation are not credentials.
fn is_cursor(qualifier: &str) -> bool {
    matches!(
        qualifier,
        "next"
            | "page"
            | "sync"
            | "continuation"
            | "pagination"
            | "cancellation"
            | "cancel"
            | "stop"
            | "eos"
            | "bos"
            | "pad"
            | "unk"
            | "start"
            | "end"
            | "mask"
            | "special"
            | "key"
            | "lexer"
            | "syntax"
            | "resume"
            | "design"
    )
}

/// Words behind the telling one that do not change what the value is.
fn is_neutral(word: &str) -> bool {
    matches!(
        word,
        "value"
            | "val"
            | "prod"
            | "production"
            | "stage"
            | "staging"
            | "dev"
            | "development"
            | "test"
            | "testing"
            | "qa"
            | "live"
            | "old"
            | "new"
            | "current"
            | "previous"
            | "backup"
            | "default"
            | "primary"
            | "secondary"
            | "main"
            | "local"
            | "ci"
            | "base"
            | "hex"
            | "str"
            | "string"
            | "text"
            | "plain"
            | "plaintext"
            | "cleartext"
            | "raw"
            | "env"
            | "data"
            | "confirm"
            | "confirmation"
            | "again"
            | "repeat"
            | "override"
            | "a"
            | "b"
            | "v"
            | "eu"
            | "us"
            | "readonly"
            | "rw"
            | "ro"
            | "admin"
            | "user"
            | "root"
            | "db"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strength(identifier: &str) -> Option<Strength> {
        classify(identifier.as_bytes()).map(|(strength, _)| strength)
    }

    #[test]
    fn last_telling_word_decides() {
        for name in
            ["DB_PASSWORD", "dbPassword", "pgpassword", "spring.datasource.password", "PASSWORD_OLD", "userPass"]
        {
            assert_eq!(strength(name), Some(Strength::Password), "{name}");
        }
        for name in ["api_key", "AccountKey", "x-api-key", "GITHUB_TOKEN", "accessToken", "aws_access_key_id"] {
            assert_eq!(strength(name), Some(Strength::Medium), "{name}");
        }
        for name in ["password_hash", "token_type", "publicKeyToken", "PUBLIC_KEY", "cache_key", "key_id", "compass"] {
            assert_eq!(strength(name), None, "{name}");
        }
    }

    #[test]
    fn escape_before_a_name_is_not_part_of_it() {
        let text = br"x\npassword=1";
        let name = around(text, 4, 8);
        assert_eq!(name.map(|name| slice(text, name.start, name.end)), Some(&b"password"[..]));
    }
}
