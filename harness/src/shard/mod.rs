//! A part of a run: which scenarios it takes, and who says which part it is.
//!
//! Scenarios are dealt out whole, so that all rounds of one stand in one place for goldens and the check of
//! determinism. The deal depends on the plan and the number of parts alone: every part of every number of parts is
//! disjoint from the others, and together they are the plan. A part judges no gate, because most gates are about the
//! whole; `hookbench merge` does.

mod environment;

use std::cmp::Reverse;
use std::str::FromStr;

use clap::Args;

use self::environment::slice_of_environment;
use crate::failure::Failure;
use crate::gate::Gate;
use crate::run_event::{GateResult, Shard, Verdict};

/// Most parts of one run.
pub const MAX_PARTS: u32 = 10_000;

/// Part `index` of `total`, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slice {
    index: u32,
    total: u32,
}

impl Slice {
    /// The part with this number, from 1; `None` when there is no such part.
    pub fn new(index: u32, total: u32) -> Option<Slice> {
        ((1..=total).contains(&index) && total <= MAX_PARTS).then_some(Slice { index, total })
    }

    /// Whether this part takes each of the scenarios, given by name and number of steps; names are unique.
    ///
    /// The largest scenarios are dealt first, each to the part with the fewest steps so far: no part is above the
    /// lightest by more than the steps of one scenario. The order of the plan does not matter.
    pub fn takes(self, scenarios: &[(&str, usize)]) -> Vec<bool> {
        let mut order: Vec<(usize, &(&str, usize))> = scenarios.iter().enumerate().collect();
        order.sort_by_key(|(_, (name, n_steps))| (Reverse(*n_steps), *name));
        let mut loads = vec![0; self.total as usize];
        let mut takes = vec![false; scenarios.len()];
        for (at, (_, n_steps)) in order {
            let Some((part, load)) = loads.iter_mut().enumerate().min_by_key(|(_, load)| **load) else { break };
            // A scenario without steps still costs a sandbox, and must not all pile up in the first part.
            *load += (*n_steps).max(1);
            if let Some(taken) = takes.get_mut(at) {
                *taken = part + 1 == self.index as usize;
            }
        }
        takes
    }

    /// Its number, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of parts.
    pub fn total(self) -> u32 {
        self.total
    }

    /// What the header of a run of this part says; `whole` names all scenarios of the plan.
    pub fn shard(self, whole: Vec<String>) -> Shard {
        Shard { index: self.index, total: self.total, whole }
    }
}

impl FromStr for Slice {
    type Err = String;

    fn from_str(text: &str) -> Result<Slice, String> {
        let slice = text
            .split_once('/')
            .and_then(|(index, total)| Slice::new(index.trim().parse().ok()?, total.trim().parse().ok()?));
        slice.ok_or_else(|| format!("`{text}` is no part of a run: write K/N with K from 1 to N, such as 2/4"))
    }
}

/// What `--shard` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// The part that the environment names, or the whole.
    Auto,
    /// This part.
    Slice(Slice),
}

impl FromStr for Asked {
    type Err = String;

    fn from_str(text: &str) -> Result<Asked, String> {
        if text == "auto" { Ok(Asked::Auto) } else { text.parse().map(Asked::Slice) }
    }
}

/// The arguments of every command that can do a part of its work.
#[derive(Debug, Clone, Default, Args)]
pub struct ShardArgs {
    /// Do only part K of N, and leave the gates to `hookbench merge`. `auto` reads HOOKBENCH_SHARD=K/N, or the
    /// variables of GitLab, CircleCI, Buildkite, a Kubernetes indexed job (with HOOKBENCH_SHARD_TOTAL) or a Slurm array.
    #[arg(long, value_name = "K/N|auto")]
    pub shard: Option<Asked>,
}

impl ShardArgs {
    /// The part to do; `None` for the whole. `note` hears when `auto` found nothing.
    ///
    /// # Errors
    /// Variables of the environment that contradict themselves.
    pub fn slice(
        &self,
        variable: impl Fn(&str) -> Option<String>,
        note: &dyn Fn(&str),
    ) -> Result<Option<Slice>, Failure> {
        match self.shard {
            None => Ok(None),
            Some(Asked::Slice(slice)) => Ok(Some(slice)),
            Some(Asked::Auto) => {
                let found = slice_of_environment(variable)?;
                if found.is_none() {
                    note("--shard auto: no variable names a part, so this is the whole run");
                }
                Ok(found)
            }
        }
    }
}

/// The answer of a part to a gate: none, because the gate is about the whole.
pub fn left_to_merge(gate: &Gate) -> GateResult {
    GateResult {
        name: gate.name.clone(),
        expression: gate.text.clone(),
        verdict: Verdict::Skipped,
        severity: gate.expr.severity,
        on_inconclusive: gate.expr.options.inconclusive.unwrap_or_default(),
        estimate: None,
        unit: gate.expr.bound.unit.sign().to_owned(),
        interval: None,
        n: 0,
        reason: "this is one part of a run, and a gate is about the whole".to_owned(),
        remedy: "merge the parts with `hookbench merge`, which judges it".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use proptest::prelude::*;

    use super::*;

    fn parts(scenarios: &[(&str, usize)], total: u32) -> Vec<Vec<bool>> {
        (1..=total).map(|index| Slice::new(index, total).unwrap().takes(scenarios)).collect()
    }

    #[test]
    fn largest_scenarios_go_first_to_the_lightest_part() {
        // By hand: d 9 to the first, a 5 to the second, c 3 to the second (8), b 3 … names break the tie: b before c.
        // d9 → 1; a5 → 2; b3 → 2 (8); c3 → 2 is 8 and 1 is 9, so → 2 (11); e1 → 1 (10).
        let scenarios = [("a", 5), ("b", 3), ("c", 3), ("d", 9), ("e", 1)];
        let first = Slice::new(1, 2).unwrap().takes(&scenarios);
        assert_eq!(first, [false, false, false, true, true]);
        assert_eq!(Slice::new(1, 1).unwrap().takes(&scenarios), [true; 5]);
    }

    #[test]
    fn more_parts_than_scenarios_leave_some_empty() {
        let parts = parts(&[("a", 1), ("b", 0)], 4);
        assert_eq!(parts, [[true, false], [false, true], [false, false], [false, false]]);
    }

    proptest! {
        #[test]
        fn parts_are_disjoint_complete_balanced_and_blind_to_the_order_of_the_plan(
            sizes in prop::collection::btree_map("[a-e]{1,3}", 1_usize..40, 0..30),
            total in 1_u32..12,
        ) {
            let scenarios: Vec<(&str, usize)> = sizes.iter().map(|(name, n_steps)| (&**name, *n_steps)).collect();
            let parts = parts(&scenarios, total);
            for at in 0..scenarios.len() {
                prop_assert_eq!(parts.iter().filter(|part| part[at]).count(), 1);
            }
            let load = |part: &Vec<bool>| -> usize {
                part.iter().zip(&scenarios).filter(|(taken, _)| **taken).map(|(_, (_, n_steps))| n_steps).sum()
            };
            let (least, most) = (parts.iter().map(load).min().unwrap(), parts.iter().map(load).max().unwrap());
            prop_assert!(most - least <= sizes.values().copied().max().unwrap_or(0));
            let mut turned = scenarios.clone();
            turned.reverse();
            for (part, index) in parts.iter().zip(1..) {
                let mut other = Slice::new(index, total).unwrap().takes(&turned);
                other.reverse();
                prop_assert_eq!(part, &other);
            }
        }
    }

    #[test]
    fn parts_are_written_from_one_to_the_total() {
        assert_eq!("2/4".parse(), Ok(Asked::Slice(Slice { index: 2, total: 4 })));
        assert_eq!("auto".parse(), Ok(Asked::Auto));
        for wrong in ["0/4", "5/4", "1/0", "1", "", "a/b", "1/4/2", "-1/4", "Auto", "1/10001"] {
            assert!(wrong.parse::<Asked>().unwrap_err().contains("write K/N"), "{wrong}");
        }
    }
}
