//! The expressions of workflow files, as far as ours use them: names, texts, `!`, `==`, `!=`, `&&`, `||`, calls.
//!
//! There is no arithmetic, as in the real language. What is not known panics: a test must not guess.

use serde_json::Value;

/// Every `${{ … }}` of a text replaced by its value.
pub(crate) fn expand(text: &str, lookup: &dyn Fn(&str) -> Value) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((head, tail)) = rest.split_once("${{") {
        let (expression, after) = tail.split_once("}}").unwrap();
        out += head;
        out += &shown(&evaluate(expression, lookup));
        rest = after;
    }
    out + rest
}

/// Whether a condition holds; the braces may be left out.
pub(crate) fn holds(condition: &str, lookup: &dyn Fn(&str) -> Value) -> bool {
    let condition = condition.trim();
    let inner = condition.strip_prefix("${{").and_then(|rest| rest.strip_suffix("}}")).unwrap_or(condition);
    is_true(&evaluate(inner, lookup))
}

fn evaluate(expression: &str, lookup: &dyn Fn(&str) -> Value) -> Value {
    let words = words(expression);
    let mut parser = Parser { words: &words, at: 0, lookup };
    let value = parser.any();
    assert_eq!(parser.at, words.len(), "`{expression}` goes on after its end");
    value
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_true(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && value != "" && value != 0
}

fn words(expression: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut rest = expression.trim_start();
    while let Some(first) = rest.chars().next() {
        let taken = if first == '\'' {
            rest[1..].find('\'').unwrap() + 2
        } else if let Some(sign) = ["||", "&&", "==", "!=", "!", "(", ")"].iter().find(|sign| rest.starts_with(**sign))
        {
            sign.len()
        } else {
            let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "._-*".contains(c))).unwrap_or(rest.len());
            assert!(end > 0, "`{first}` is no part of the language: {expression}");
            end
        };
        words.push(rest[..taken].to_owned());
        rest = rest[taken..].trim_start();
    }
    words
}

struct Parser<'a> {
    words: &'a [String],
    at: usize,
    lookup: &'a dyn Fn(&str) -> Value,
}

impl Parser<'_> {
    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|next| next == word);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Value {
        let mut left = self.all();
        while self.takes("||") {
            let right = self.all();
            left = if is_true(&left) { left } else { right };
        }
        left
    }

    fn all(&mut self) -> Value {
        let mut left = self.equal();
        while self.takes("&&") {
            let right = self.equal();
            left = if is_true(&left) { right } else { left };
        }
        left
    }

    fn equal(&mut self) -> Value {
        let left = self.one();
        let wanted = if self.takes("==") {
            true
        } else if self.takes("!=") {
            false
        } else {
            return left;
        };
        let right = self.one();
        Value::Bool((shown(&left) == shown(&right)) == wanted)
    }

    fn one(&mut self) -> Value {
        if self.takes("!") {
            return Value::Bool(!is_true(&self.one()));
        }
        if self.takes("(") {
            let inner = self.any();
            assert!(self.takes(")"));
            return inner;
        }
        let word = self.words[self.at].clone();
        self.at += 1;
        if let Some(text) = word.strip_prefix('\'') {
            return Value::from(text.trim_end_matches('\''));
        }
        if self.takes("(") {
            assert!(self.takes(")"), "{word}() with arguments is not known here");
            return (self.lookup)(&format!("{word}()"));
        }
        (self.lookup)(&word)
    }
}

#[test]
fn expressions_mean_what_the_real_ones_mean() {
    let lookup = |name: &str| match name {
        "inputs.a" => Value::from("x"),
        "inputs.none" => Value::Null,
        "always()" => Value::Bool(true),
        other => panic!("{other} is not known"),
    };
    for (text, expected) in [
        ("a ${{ inputs.a }}/${{inputs.none}}.", "a x/."),
        ("${{ inputs.none || inputs.a }}", "x"),
        ("${{ inputs.a == 'x' && inputs.none != '' }}", "false"),
        ("${{ always() && (inputs.a == 'y' || !inputs.none) }}", "true"),
    ] {
        assert_eq!(expand(text, &lookup), expected, "{text}");
    }
    assert!(holds("${{ always() }}", &lookup) && holds("inputs.a", &lookup) && !holds("inputs.none", &lookup));
}
