//! A command that does one part of its plan.

use crate::replay::Plan;
use crate::run_event::RunHeader;
use crate::shard::Slice;

/// Cuts plan and header down to one part.
pub(super) fn take_part(slice: Slice, plan: &mut Plan, header: &mut RunHeader, note: &dyn Fn(&str)) {
    let sizes: Vec<(&str, usize)> =
        plan.scenarios.iter().map(|(scenario, _)| (&*scenario.name, scenario.steps.len())).collect();
    let mut takes = slice.takes(&sizes).into_iter();
    plan.scenarios.retain(|_| takes.next().unwrap_or(false));
    let names = plan.scenarios.iter().map(|(scenario, _)| scenario.name.clone()).collect();
    let whole = std::mem::replace(&mut header.scenarios, names);
    if plan.scenarios.is_empty() && !whole.is_empty() {
        note("this part has no scenario: there are more parts than scenarios");
    }
    header.shard = Some(slice.shard(whole));
}
