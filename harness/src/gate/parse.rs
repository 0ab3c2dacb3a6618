//! Reads the text of a gate, and names the place of a mistake.
//!
//! ```text
//! gate     = metric [ "[" selector "]" ] op bound [ "vs" base ] [ "with" opt {"," opt} ] [ "severity" word ]
//! selector = key "=" glob { "," key "=" glob }
//! bound    = [ "+" | "-" ] number [ unit ]
//! base     = "baseline" | "noop" | "file:" path
//! ```
//! A bound that makes no sense for its metric (a time for a count, `x` without a base) is refused here, so a
//! gate that parses can be judged.

use super::bound::{Bound, Op, Unit};
use super::expr::{Base, GateExpr, Metric, Options};
use super::fit::{check_bound, check_change};
use super::selector::{Selector, SelectorKey};
use crate::run_event::{OnInconclusive, Severity};

/// Why a text is no gate.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (at byte {at})")]
pub struct GateSyntax {
    /// Byte offset in the text, from 0; the text's length when something is missing at the end.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub remedy: String,
}

impl std::str::FromStr for GateExpr {
    type Err = GateSyntax;

    fn from_str(text: &str) -> Result<GateExpr, GateSyntax> {
        let mut cursor = Cursor { text, at: 0 };
        let gate = gate(&mut cursor)?;
        cursor.skip_space();
        if cursor.at < text.len() {
            return Err(cursor.fault(
                cursor.at,
                format!("`{}` is left over", cursor.rest()),
                "after the bound come `vs`, `with` and `severity`, in this order",
            ));
        }
        Ok(gate)
    }
}

struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Takes characters as long as they fit; may be empty.
    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = rest.get(..rest.find(|sign| !fits(sign)).unwrap_or(rest.len())).unwrap_or_default();
        self.at += taken.len();
        taken
    }

    /// Takes a sign if it comes next, after spaces.
    fn eat(&mut self, sign: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len();
        }
        found
    }

    /// Takes a whole word if it comes next, after spaces.
    fn eat_word(&mut self, word: &str) -> bool {
        self.skip_space();
        let start = self.at;
        if self.take(is_word) == word {
            return true;
        }
        self.at = start;
        false
    }

    /// Takes text up to one of the ends, or text in double quotes.
    fn value(&mut self, ends: &[char]) -> Result<String, GateSyntax> {
        self.skip_space();
        let start = self.at;
        if !self.eat("\"") {
            return Ok(self.take(|sign| !ends.contains(&sign)).trim_end().to_owned());
        }
        let quoted = self.take(|sign| sign != '"').to_owned();
        if !self.eat("\"") {
            return Err(self.fault(start, "a double quote is not closed", "close it with `\"`"));
        }
        Ok(quoted)
    }

    fn fault(&self, at: usize, message: impl Into<String>, remedy: impl Into<String>) -> GateSyntax {
        GateSyntax { at: at.min(self.text.len()), message: message.into(), remedy: remedy.into() }
    }
}

fn is_word(sign: char) -> bool {
    sign.is_ascii_alphanumeric() || sign == '_'
}

fn gate(cursor: &mut Cursor<'_>) -> Result<GateExpr, GateSyntax> {
    let metric = metric(cursor)?;
    let selector = selector(cursor)?;
    let op = op(cursor)?;
    if op == Op::Eq && matches!(metric, Metric::Latency(..) | Metric::MemoryPeak | Metric::Instructions) {
        let at = cursor.at - op.sign().len();
        return Err(cursor.fault(at, "a measured figure never equals a bound", "use `<=` or `>=`"));
    }
    cursor.skip_space();
    let bound_at = cursor.at;
    let bound = bound(cursor)?;
    let base = base(cursor)?;
    check_bound(metric, bound, base.as_ref()).map_err(|(message, remedy)| cursor.fault(bound_at, message, remedy))?;
    let options = options(cursor)?;
    let severity = severity(cursor)?;
    let gate = GateExpr { metric, selector, op, bound, base, options, severity };
    check_change(&gate).map_err(|(message, remedy)| cursor.fault(bound_at, message, remedy))?;
    Ok(gate)
}

fn metric(cursor: &mut Cursor<'_>) -> Result<Metric, GateSyntax> {
    cursor.skip_space();
    let start = cursor.at;
    let name = cursor.take(|sign| is_word(sign) || sign == '.' || sign == '@');
    if let Some(metric) = Metric::parse(name) {
        return Ok(metric);
    }
    if name == "spawn.count" {
        // Neither rusage nor a process table that is read now and then can count children that come and go.
        let remedy = "gate leak.count for children that stay, latency.cpu or instructions for what they cost";
        return Err(cursor.fault(start, "`spawn.count` is not measured", remedy));
    }
    let family = name.split('.').next().unwrap_or_default();
    let remedy = match family {
        "latency" => "write latency.wall or latency.cpu, then .min .p50 .p90 .p95 .p99 .max or .mean",
        "budget" => "write budget.bytes, budget.utf16 or budget.tokens_est, then .max .sum or .p95",
        "retrieval" => {
            "write retrieval.ndcg@K, recall@K, precision@K, rr@K, hit@K, recall_all@K (K from 1), abstain or \
             byte_precision"
        }
        _ => {
            "the metrics are latency.*, instructions, memory.peak, budget.*, delivered.truncated, retrieval.*, \
             golden.failed, leak.count, timeout.count and flaky.count"
        }
    };
    let message = if name.is_empty() { "a metric is missing".to_owned() } else { format!("unknown metric `{name}`") };
    Err(cursor.fault(start, message, remedy))
}

fn selector(cursor: &mut Cursor<'_>) -> Result<Selector, GateSyntax> {
    let mut selector = Selector::default();
    if !cursor.eat("[") {
        return Ok(selector);
    }
    let open = cursor.at - 1;
    loop {
        cursor.skip_space();
        let start = cursor.at;
        let name = cursor.take(is_word);
        let Some(key) = SelectorKey::parse(name) else {
            return Err(cursor.fault(
                start,
                format!("unknown selector key `{name}`"),
                "the keys are event, hook, scenario, step and tag",
            ));
        };
        if selector.pairs.iter().any(|(other, _)| *other == key) && key != SelectorKey::Tag {
            return Err(cursor.fault(
                start,
                format!("`{name}` is selected twice"),
                "keep one; all pairs must match, so two of one key match nothing",
            ));
        }
        if !cursor.eat("=") {
            return Err(cursor.fault(cursor.at, format!("`=` is missing after `{name}`"), "write key=glob"));
        }
        cursor.skip_space();
        let start = cursor.at;
        let glob = cursor.value(&[',', ']'])?;
        if glob.is_empty() {
            return Err(cursor.fault(start, format!("`{name}` has no glob"), "write a name, or `*` for any"));
        }
        selector.pairs.push((key, glob));
        if cursor.eat("]") {
            return Ok(selector);
        }
        if !cursor.eat(",") {
            return Err(cursor.fault(open, "the selector is not closed", "close it with `]`"));
        }
    }
}

fn op(cursor: &mut Cursor<'_>) -> Result<Op, GateSyntax> {
    // The longer signs first: `<` is the beginning of `<=`.
    for op in [Op::Le, Op::Ge, Op::Eq, Op::Lt, Op::Gt] {
        if cursor.eat(op.sign()) {
            return Ok(op);
        }
    }
    Err(cursor.fault(cursor.at, "an operator is missing", "write <=, <, >=, > or =="))
}

fn bound(cursor: &mut Cursor<'_>) -> Result<Bound, GateSyntax> {
    cursor.skip_space();
    let start = cursor.at;
    let signed = cursor.rest().starts_with(['+', '-']);
    if signed {
        cursor.at += 1;
    }
    cursor.take(|sign| sign.is_ascii_digit() || sign == '.');
    let digits = cursor.text.get(start..cursor.at).unwrap_or_default();
    let Ok(number) = digits.parse::<f64>() else {
        return Err(cursor.fault(
            start,
            if digits.is_empty() { "a bound is missing".to_owned() } else { format!("`{digits}` is no number") },
            "write a number with its unit, such as 150ms, 9000, 0.85, +10% or 4.0x",
        ));
    };
    cursor.skip_space();
    let unit_at = cursor.at;
    let sign = cursor.take(|sign| sign.is_alphabetic() || sign == '%');
    if matches!(sign, "vs" | "with" | "severity") {
        cursor.at = unit_at;
        return Ok(Bound { number, unit: Unit::One, change: signed });
    }
    let Some(unit) = Unit::parse(sign) else {
        return Err(cursor.fault(
            unit_at,
            format!("unknown unit `{sign}`"),
            "the units are us, ms, s, B, kB, MB, KiB, MiB, GiB, % and x",
        ));
    };
    Ok(Bound { number, unit, change: signed })
}

fn base(cursor: &mut Cursor<'_>) -> Result<Option<Base>, GateSyntax> {
    if !cursor.eat_word("vs") {
        return Ok(None);
    }
    cursor.skip_space();
    let start = cursor.at;
    if cursor.eat("file:") {
        let path = if cursor.rest().starts_with('"') {
            cursor.value(&[])?
        } else {
            cursor.take(|sign| !sign.is_whitespace()).to_owned()
        };
        if path.is_empty() {
            return Err(cursor.fault(start, "`file:` has no path", "write the folder of a saved run"));
        }
        return Ok(Some(Base::File(path)));
    }
    for (word, base) in [("baseline", Base::Baseline), ("noop", Base::Noop)] {
        if cursor.eat_word(word) {
            return Ok(Some(base));
        }
    }
    Err(cursor.fault(start, "unknown base after `vs`", "write baseline, noop or file:PATH"))
}

fn options(cursor: &mut Cursor<'_>) -> Result<Options, GateSyntax> {
    let mut options = Options::default();
    if !cursor.eat_word("with") {
        return Ok(options);
    }
    loop {
        cursor.skip_space();
        let start = cursor.at;
        let name = cursor.take(is_word);
        if !cursor.eat("=") {
            return Err(cursor.fault(
                start,
                "an option is missing or has no value",
                "write confidence=, min_n=, max_n=, inconclusive=, confirm= or margin=",
            ));
        }
        cursor.skip_space();
        let value_at = cursor.at;
        let value = cursor.take(|sign| is_word(sign) || sign == '.' || sign == '%');
        let bad = |cursor: &Cursor<'_>, remedy: &str| {
            cursor.fault(value_at, format!("`{value}` is no value for `{name}`"), remedy)
        };
        let count = || value.parse::<u64>().ok().filter(|n| *n >= 1);
        let fresh = match name {
            "confidence" => {
                let parsed = value.parse().ok().filter(|p| *p > 0.5 && *p < 1.0);
                let parsed = parsed.ok_or_else(|| bad(cursor, "write a number above 0.5 and below 1"))?;
                options.confidence.replace(parsed).is_none()
            }
            "min_n" => {
                let parsed = count().ok_or_else(|| bad(cursor, "write a whole number from 1"))?;
                options.min_n.replace(parsed).is_none()
            }
            "max_n" => {
                let parsed = count().ok_or_else(|| bad(cursor, "write a whole number from 1"))?;
                options.max_n.replace(parsed).is_none()
            }
            "inconclusive" => {
                let parsed = match value {
                    "pass" => OnInconclusive::Pass,
                    "warn" => OnInconclusive::Warn,
                    "fail" => OnInconclusive::Fail,
                    _ => return Err(bad(cursor, "write pass, warn or fail")),
                };
                options.inconclusive.replace(parsed).is_none()
            }
            "confirm" => {
                let parsed = value.parse().map_err(|_| bad(cursor, "write a whole number"))?;
                options.confirm.replace(parsed).is_none()
            }
            "margin" => {
                let number = value.strip_suffix('%').and_then(|digits| digits.parse::<f64>().ok());
                let parsed = number.ok_or_else(|| bad(cursor, "write per cent, such as 5%"))?;
                options.margin.replace(parsed / 100.0).is_none()
            }
            _ => {
                return Err(cursor.fault(
                    start,
                    format!("unknown option `{name}`"),
                    "the options are confidence, min_n, max_n, inconclusive, confirm and margin",
                ));
            }
        };
        if !fresh {
            return Err(cursor.fault(start, format!("`{name}` is given twice"), "keep one of them"));
        }
        if options.min_n.zip(options.max_n).is_some_and(|(min, max)| min > max) {
            return Err(cursor.fault(start, "min_n is above max_n", "exchange them"));
        }
        if !cursor.eat(",") {
            return Ok(options);
        }
    }
}

fn severity(cursor: &mut Cursor<'_>) -> Result<Severity, GateSyntax> {
    if !cursor.eat_word("severity") {
        return Ok(Severity::Fail);
    }
    for (word, severity) in [("fail", Severity::Fail), ("warn", Severity::Warn)] {
        if cursor.eat_word(word) {
            return Ok(severity);
        }
    }
    Err(cursor.fault(cursor.at, "unknown severity", "write fail or warn"))
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
