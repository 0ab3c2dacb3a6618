//! Takes people out of texts: names, addresses, handles, credits.
//!
//! Names are those of the history's authors and committers. A name that never committed, in a sentence that gives no
//! credit, stays: nothing here can know it.

use std::collections::HashSet;

use git2::Commit;

/// Keys of trailer lines that name a person or a program.
const TRAILERS: [&str; 18] = [
    "signed-off-by",
    "co-authored-by",
    "co-developed-by",
    "reviewed-by",
    "acked-by",
    "tested-by",
    "reported-by",
    "suggested-by",
    "helped-by",
    "thanks-to",
    "cc",
    "change-id",
    "author",
    "committer",
    "git-svn-id",
    "patch by",
    "assisted-by",
    "generated-by",
];

/// Words after which a name stands.
const CREDITS: [&str; 14] = [
    "thanks to",
    "thank to",
    "contributed by",
    "patch by",
    "reported by",
    "suggested by",
    "noticed by",
    "found by",
    "pointed out by",
    "written by",
    "requested by",
    "reviewed by",
    "courtesy of",
    "kudos to",
];

/// The people of a history.
#[derive(Debug, Default)]
pub(super) struct People {
    /// Names of several words, in lower case.
    names: HashSet<String>,
    /// Handles and names of one word, in lower case.
    handles: HashSet<String>,
}

impl People {
    /// Authors and committers of some commits.
    pub(super) fn of<'c, 'r: 'c>(commits: impl Iterator<Item = &'c Commit<'r>>) -> People {
        let mut people = People::default();
        for commit in commits {
            for signature in [commit.author(), commit.committer()] {
                people.add(signature.name().unwrap_or_default(), signature.email().unwrap_or_default());
            }
        }
        people
    }

    fn add(&mut self, name: &str, mail: &str) {
        let words: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
        match words.as_slice() {
            [only] if only.len() >= 4 => {
                self.handles.insert(only.clone());
            }
            [first, .., last] if name.len() >= 6 => {
                self.names.insert(words.join(" "));
                self.names.insert(format!("{first} {last}"));
            }
            _ => {}
        }
        let handle = mail.strip_suffix("@users.noreply.github.com");
        let handle = handle.map(|handle| handle.rsplit('+').next().unwrap_or(handle).to_lowercase());
        self.handles.extend(handle.filter(|handle| handle.len() >= 4));
    }

    /// The text without people.
    pub(super) fn remove(&self, text: &str) -> String {
        let kept = text.lines().filter(|line| !is_trailer(line)).map(|line| self.line(line)).collect::<Vec<_>>();
        kept.join("\n").trim().to_owned()
    }

    fn line(&self, line: &str) -> String {
        let words: Vec<&str> = line.split(' ').collect();
        let mut out: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let name_of = (2..=4).rev().find(|n| {
                let name = words.get(at..at + n).map(|words| words.iter().map(|word| bare(word)).collect::<Vec<_>>());
                name.is_some_and(|name| self.names.contains(&name.join(" ").to_lowercase()))
            });
            if let Some(n) = name_of {
                let last = words.get(at + n - 1).copied().unwrap_or_default();
                out.push(format!("<person>{}", after(last)));
                at += n;
                continue;
            }
            out.push(self.word(word, &out));
            at += 1;
        }
        out.join(" ")
    }

    /// One word: an address, a handle, a link to a person's page, or a name after a credit.
    fn word(&self, word: &str, before: &[String]) -> String {
        let inner = bare(word);
        if is_address(inner) {
            return word.replace(inner, "<email>");
        }
        if word.contains("github.com/") {
            return "<url>".to_owned();
        }
        let handle = inner.trim_start_matches('@');
        let known = self.handles.contains(&handle.to_lowercase());
        if inner.starts_with('@') && handle.len() > 1 && handle.chars().all(is_handle_sign) && known {
            return word.replace(inner, "@user");
        }
        let last: Vec<String> = before.iter().rev().take(3).rev().map(|word| word.to_lowercase()).collect();
        let credit = CREDITS.iter().any(|credit| last.join(" ").ends_with(credit));
        let capital = handle.starts_with(|sign: char| sign.is_uppercase());
        let credited = credit && (capital || known || inner.starts_with('@'));
        if credited || (known && last.last().is_some_and(|word| ["by", "thanks", "cc", "credit"].contains(&&**word))) {
            return format!("<person>{}", after(word));
        }
        word.to_owned()
    }
}

/// A word without the punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|sign: char| !sign.is_alphanumeric() && sign != '@' && sign != '_')
}

/// The punctuation behind a word.
fn after(word: &str) -> &str {
    let end = word.rfind(char::is_alphanumeric).map_or(0, |at| at + 1);
    word.get(end..).unwrap_or_default()
}

fn is_handle_sign(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '-' || sign == '_'
}

/// Whether a word is an e-mail address.
pub(in crate::corpus) fn is_address(word: &str) -> bool {
    let Some((user, host)) = word.split_once('@') else { return false };
    let plain = |text: &str| text.chars().all(|sign| sign.is_ascii_alphanumeric() || "._%+-".contains(sign));
    let dotted = host.split_once('.').is_some_and(|(name, rest)| !name.is_empty() && rest.len() >= 2);
    !user.is_empty() && plain(user) && plain(host) && dotted
}

fn is_trailer(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    TRAILERS.iter().any(|key| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people() -> People {
        let mut people = People::default();
        people.add("Ada Example", "ada@example.org");
        people.add("Bo von Sample", "12+bosample@users.noreply.github.com");
        people.add("zedd", "z@example.org");
        people
    }

    #[test]
    fn trailers_go_and_text_stays() {
        let text = "Keep the lease.\n\nSigned-off-by: Ada Example <ada@example.org>\nCc: x";
        assert_eq!(people().remove(text), "Keep the lease.");
    }

    #[test]
    fn names_addresses_and_handles_are_replaced() {
        let people = people();
        assert_eq!(people.remove("as Ada Example said, ask ada@example.org."), "as <person> said, ask <email>.");
        assert_eq!(people.remove("ping @bosample, not @property"), "ping @user, not @property");
        assert_eq!(people.remove("noticed by Carol!"), "noticed by <person>!");
        assert_eq!(people.remove("by zedd; zedd the format stays"), "by <person>; zedd the format stays");
        assert_eq!(people.remove("BO VON SAMPLE and Bo Sample"), "<person> and <person>");
    }

    #[test]
    fn addresses_are_told_from_other_words_with_an_at_sign() {
        assert!(is_address("a.b+c@mail.example.org"));
        for word in ["@user", "a@b", "retry@5", "recall@5.", "x@"] {
            assert!(!is_address(word), "{word}");
        }
    }
}
