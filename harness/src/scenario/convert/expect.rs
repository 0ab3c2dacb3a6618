//! Expectations: the step's own, else the defaults', else the strictest.

use std::collections::BTreeMap;

use super::Converter;
use crate::scenario::document::way;
use crate::scenario::pattern::Pattern;
use crate::scenario::step::{Delivered, Expect, Permission, Relevant};
use crate::scenario::wire::{DeliveredWire, ExpectWire, NumberOrWord, PermissionWire};

/// Decisions that a host can take, and the word for: whichever.
const DECISIONS: [&str; 10] = ["none", "allow", "ask", "defer", "deny", "cancel", "retry", "block", "stop", "any"];

impl Converter<'_> {
    /// Expectations of the step at this position.
    pub(super) fn expect(&mut self, index: usize, wire: ExpectWire, defaults: &ExpectWire) -> Expect {
        let delivered = wire.delivered.or(defaults.delivered).unwrap_or_else(|| {
            let remedy = "add [step.expect] delivered = \"golden\", \"empty\", \"some\" or \"any\"";
            self.problem(&way!["step", index, "name"], "the step does not say what must be delivered", remedy);
            DeliveredWire::Any
        });
        let delivered = match delivered {
            DeliveredWire::Golden => Delivered::Golden,
            DeliveredWire::Empty => Delivered::Empty,
            DeliveredWire::Some => Delivered::Some,
            DeliveredWire::Any => Delivered::Any,
        };
        if delivered == Delivered::Empty && !wire.contains.is_empty() {
            let remedy = "drop contains, or use delivered = \"some\"";
            self.problem(&way!["step", index, "expect", "contains"], "empty text cannot contain anything", remedy);
        }
        let contains = [defaults.contains.clone(), wire.contains].concat();
        let contains = contains.into_iter().map(|text| self.text(&way!["step", index, "expect", "contains"], text));
        let contains = contains.collect();
        let mut not_matches = Vec::new();
        for (at, text) in wire.not_matches.into_iter().enumerate() {
            not_matches.extend(self.pattern(&way!["step", index, "expect", "not_matches", at], text));
        }
        for (at, text) in defaults.not_matches.iter().enumerate() {
            not_matches.extend(self.pattern(&way!["defaults", "expect", "not_matches", at], text.clone()));
        }
        let id_pattern = match (wire.id_pattern, &defaults.id_pattern) {
            (Some(text), _) => self.pattern(&way!["step", index, "expect", "id_pattern"], text),
            (None, Some(text)) => self.pattern(&way!["defaults", "expect", "id_pattern"], text.clone()),
            (None, None) => None,
        };
        let permission = |own: Option<PermissionWire>, default: Option<PermissionWire>| match own.or(default) {
            Some(PermissionWire::Allow) => Permission::Allow,
            Some(PermissionWire::Forbid) | None => Permission::Forbid,
        };
        let (own, default) = (way!["step", index, "expect", "decision"], way!["defaults", "expect", "decision"]);
        let place = if wire.decision.is_some() { &own[..] } else { &default[..] };
        let decision = wire.decision.or_else(|| defaults.decision.clone()).unwrap_or_else(|| "none".to_owned());
        if !DECISIONS.contains(&decision.as_str()) {
            let remedy = format!("use one of {}", DECISIONS.join(", "));
            self.problem(place, format!("`{decision}` is no decision"), remedy);
        }
        Expect {
            exit: self.exit(index, wire.exit.as_ref().or(defaults.exit.as_ref())),
            decision: (decision != "any").then_some(decision),
            delivered,
            contains,
            not_matches,
            max_utf16: wire.max_utf16.or(defaults.max_utf16),
            max_bytes: wire.max_bytes.or(defaults.max_bytes),
            max_tokens: wire.max_tokens.or(defaults.max_tokens),
            relevant: wire.relevant.map(|grades| self.relevant(index, grades, id_pattern)),
            may_write: [defaults.may_write.clone(), wire.may_write].concat(),
            stdin_closed_early: permission(wire.stdin_closed_early, defaults.stdin_closed_early),
            orphans: permission(wire.orphans, defaults.orphans),
            stream_held_open: permission(wire.stream_held_open, defaults.stream_held_open),
            over_cap: permission(wire.over_cap, defaults.over_cap),
            invalid_output: permission(wire.invalid_output, defaults.invalid_output),
            timeout: permission(wire.timeout, defaults.timeout),
        }
    }

    fn exit(&mut self, index: usize, wire: Option<&NumberOrWord>) -> Option<i32> {
        match wire {
            None => Some(0),
            Some(NumberOrWord::Word(word)) if word == "any" => None,
            Some(NumberOrWord::Number(code)) if (0..=255).contains(code) => i32::try_from(*code).ok(),
            Some(_) => {
                let message = "exit is neither a code from 0 to 255 nor \"any\"";
                self.problem(&way!["step", index, "expect", "exit"], message, "write exit = 0, or exit = \"any\"");
                None
            }
        }
    }

    fn relevant(&mut self, index: usize, grades: BTreeMap<String, u8>, id_pattern: Option<Pattern>) -> Relevant {
        for (id, grade) in &grades {
            let here = way!["step", index, "expect", "relevant", id];
            if id.is_empty() || !(1..=3).contains(grade) {
                self.problem(&here, format!("`{id}` has no grade from 1 to 3"), "3 is the best answer, 1 is marginal");
            }
        }
        Relevant { grades: grades.into_iter().collect(), id_pattern }
    }
}
