//! Which gates make sense: a bound must fit its metric, and a change must be one that can be judged.
//!
//! Each refusal is a message and a remedy; the parser knows the place.

use super::bound::{Bound, Unit};
use super::expr::{Base, GateExpr, Metric, Stat};
use super::question::{Question, log_bound};
use crate::summary::BudgetMeasure;

/// Message and remedy.
pub(super) type Misfit = (String, String);

/// Which bounds fit which metric; the answer to a misfit is message and remedy.
pub(super) fn check_bound(metric: Metric, bound: Bound, base: Option<&Base>) -> Result<(), Misfit> {
    let misfit = |message: &str, remedy: &str| Err((message.to_owned(), remedy.to_owned()));
    let relative = bound.unit == Unit::Times || bound.change;
    match base {
        None if relative => {
            return misfit("a relative bound needs something to stand against", "add `vs baseline` or `vs noop`");
        }
        None => {}
        Some(Base::Noop) => {
            if !matches!(metric, Metric::Latency(..)) {
                return misfit("only latency has a no-op to stand against", "use `vs baseline`, or leave it out");
            }
            if bound.unit != Unit::Times || bound.change {
                return misfit("against the no-op only a ratio makes sense", "write a bound such as 4.0x");
            }
            return Ok(());
        }
        Some(_) if relative => {
            return if matches!(bound.unit, Unit::Percent | Unit::Times) && !(bound.unit == Unit::Times && bound.change)
            {
                Ok(())
            } else {
                misfit("a change is written in per cent", "write a bound such as +10% or 1.1x")
            };
        }
        Some(_) => {
            return misfit("an absolute bound has no base", "remove `vs`, or write a change such as +10%");
        }
    }
    let number = format!("{}", bound.number);
    match metric {
        Metric::Latency(..) if !bound.unit.is_time() => {
            misfit("a time needs a unit of time", &format!("write {number}ms, or us or s"))
        }
        Metric::MemoryPeak if !bound.unit.is_bytes() => {
            misfit("memory needs a unit of bytes", &format!("write {number}MiB, or B, kB, MB, KiB or GiB"))
        }
        Metric::Budget(BudgetMeasure::Bytes, _) if bound.unit.is_bytes() => Ok(()),
        Metric::Retrieval(_) if bound.unit == Unit::Percent || bound.unit == Unit::One => {
            let share = bound.number * bound.unit.size();
            if share > 1.0 {
                misfit("a share is never above 1", "write a number from 0 to 1, or per cent with `%`")
            } else {
                Ok(())
            }
        }
        Metric::Latency(..) | Metric::MemoryPeak => Ok(()),
        _ if bound.unit != Unit::One => {
            misfit(&format!("`{metric}` is a plain number"), &format!("write {number} without unit"))
        }
        _ => Ok(()),
    }
}

/// Which changes against another hook or run can be judged; the answer to one that cannot is message and remedy.
pub(super) fn check_change(gate: &GateExpr) -> Result<(), Misfit> {
    let misfit = |message: &str, remedy: &str| Err((message.to_owned(), remedy.to_owned()));
    if !matches!(gate.base, Some(Base::Baseline | Base::File(_))) {
        return Ok(());
    }
    let towards = log_bound(gate);
    if !towards.is_finite() {
        return misfit(
            "no figure is a hundred per cent below its base",
            "write a change above -100%, or a ratio above 0x",
        );
    }
    let Some(question) = Question::of(gate) else { return Ok(()) };
    if matches!(question.stat, Stat::Min | Stat::Max) {
        return misfit("single smallest and largest samples prove no change", "gate p50, p95 or mean `vs baseline`");
    }
    if towards == 0.0 {
        return misfit(
            "no number of rounds tells noise from a change of nothing",
            "write the change that must fail, such as < +5%, or the gain that must be there, such as < -5%",
        );
    }
    if question.rule.margin <= 0.0 || question.rule.margin >= question.rule.forbidden {
        return misfit(
            "the margin is not between nothing and the bound",
            "leave margin= out, which takes half the bound",
        );
    }
    Ok(())
}
