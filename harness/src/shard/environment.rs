//! Which part of a run this is, as the variables of the system that started it say.
//!
//! The first system in the table whose variables are there decides. Numbers from 0 and from 1 are told apart by
//! system, never guessed. Variables that contradict themselves are a mistake with a name, because a part that is run
//! twice or never would leave a green build that proves nothing.

use super::Slice;
use crate::failure::Failure;

/// A system that numbers its jobs with two variables.
struct Numbered {
    /// Variable of the job's number.
    index: &'static str,
    /// Number of the first job.
    first: u32,
    /// Variable of the number of jobs.
    total: &'static str,
}

/// GitLab sets a total of 1 and no index for a job without `parallel`; the other two set both or none. A Kubernetes
/// indexed job names no total, so the user passes it.
const NUMBERED: [Numbered; 4] = [
    Numbered { index: "CI_NODE_INDEX", first: 1, total: "CI_NODE_TOTAL" },
    Numbered { index: "CIRCLE_NODE_INDEX", first: 0, total: "CIRCLE_NODE_TOTAL" },
    Numbered { index: "BUILDKITE_PARALLEL_JOB", first: 0, total: "BUILDKITE_PARALLEL_JOB_COUNT" },
    Numbered { index: "JOB_COMPLETION_INDEX", first: 0, total: "HOOKBENCH_SHARD_TOTAL" },
];

/// The part that the environment names; `None` when it names none.
///
/// # Errors
/// A variable that is no number, a missing partner, or a number outside its range.
pub(super) fn slice_of_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Slice>, Failure> {
    let variable = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
    if let Some(text) = variable("HOOKBENCH_SHARD") {
        let remedy = "set it to K/N, or leave it unset";
        return text.parse().map(Some).map_err(|message: String| Failure::usage("HOOKBENCH_SHARD", message, remedy));
    }
    for system in NUMBERED {
        if variable(system.index).is_some() {
            let (index, total) = (number(system.index, &variable)?, number(system.total, &variable)?);
            let slice = index.checked_sub(system.first).and_then(|from_zero| from_zero.checked_add(1));
            let slice = slice.and_then(|index| Slice::new(index, total));
            let message = || format!("{index} is outside of {} jobs that count from {}", total, system.first);
            return slice.map(Some).ok_or_else(|| Failure::usage(system.index, message(), REMEDY));
        }
    }
    if variable("SLURM_ARRAY_TASK_ID").is_some() { slurm(&variable).map(Some) } else { Ok(None) }
}

const REMEDY: &str = "correct the variables, or name the part with --shard K/N";

fn number(name: &str, variable: &impl Fn(&str) -> Option<String>) -> Result<u32, Failure> {
    let Some(text) = variable(name) else {
        let remedy = "set it to the number of jobs, or name the part with --shard K/N";
        return Err(Failure::usage(name, "is not set, so the number of parts is unknown", remedy));
    };
    text.trim().parse().map_err(|_| Failure::usage(name, format!("`{text}` is not a number from 0 on"), REMEDY))
}

/// An array of tasks whose ids run from a minimum in equal steps: part (id − min) / step + 1 of count.
fn slurm(variable: &impl Fn(&str) -> Option<String>) -> Result<Slice, Failure> {
    let number = |name: &str| number(name, variable);
    let (id, min, count) =
        (number("SLURM_ARRAY_TASK_ID")?, number("SLURM_ARRAY_TASK_MIN")?, number("SLURM_ARRAY_TASK_COUNT")?);
    let step = if variable("SLURM_ARRAY_TASK_STEP").is_some() { number("SLURM_ARRAY_TASK_STEP")?.max(1) } else { 1 };
    // A list such as 1,2,7 has ids of no equal step: two tasks could take one part.
    let last = if variable("SLURM_ARRAY_TASK_MAX").is_some() { Some(number("SLURM_ARRAY_TASK_MAX")?) } else { None };
    let from_zero = |id: u32| id.checked_sub(min).filter(|distance| distance.is_multiple_of(step)).map(|d| d / step);
    let regular = last.is_none_or(|last| from_zero(last).is_some_and(|last| last.checked_add(1) == Some(count)));
    let slice = from_zero(id).filter(|_| regular).and_then(|index| Slice::new(index.checked_add(1)?, count));
    slice.ok_or_else(|| {
        let message = format!("task {id} has no place among {count} ids that begin at {min} with step {step}");
        Failure::usage("SLURM_ARRAY_TASK_ID", message, "use an array such as 0-3, or name the part with --shard K/N")
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;

    fn slice(variables: &[(&str, &str)]) -> Result<Option<Slice>, String> {
        let variable =
            |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        slice_of_environment(variable).map_err(|failure| failure.to_string())
    }

    fn is(variables: &[(&str, &str)], index: u32, total: u32) {
        assert_eq!(slice(variables), Ok(Slice::new(index, total)), "{variables:?}");
    }

    #[test]
    fn each_system_counts_from_its_own_first_number() {
        is(&[("HOOKBENCH_SHARD", "2/3"), ("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "9")], 2, 3);
        is(&[("CI_NODE_INDEX", "1"), ("CI_NODE_TOTAL", "4")], 1, 4);
        is(&[("CI_NODE_INDEX", "4"), ("CI_NODE_TOTAL", "4")], 4, 4);
        is(&[("CIRCLE_NODE_INDEX", "0"), ("CIRCLE_NODE_TOTAL", "4")], 1, 4);
        is(&[("CIRCLE_NODE_INDEX", "3"), ("CIRCLE_NODE_TOTAL", "4")], 4, 4);
        is(&[("BUILDKITE_PARALLEL_JOB", "1"), ("BUILDKITE_PARALLEL_JOB_COUNT", "2")], 2, 2);
        is(&[("JOB_COMPLETION_INDEX", "0"), ("HOOKBENCH_SHARD_TOTAL", "5")], 1, 5);
    }

    #[test]
    fn slurm_arrays_count_in_steps_from_their_minimum() {
        let array = |id, min, max, step, count| {
            slice(&[
                ("SLURM_ARRAY_TASK_ID", id),
                ("SLURM_ARRAY_TASK_MIN", min),
                ("SLURM_ARRAY_TASK_MAX", max),
                ("SLURM_ARRAY_TASK_STEP", step),
                ("SLURM_ARRAY_TASK_COUNT", count),
            ])
        };
        // --array=1-7:2 has the tasks 1, 3, 5 and 7.
        for (id, index) in [("1", 1), ("3", 2), ("5", 3), ("7", 4)] {
            assert_eq!(array(id, "1", "7", "2", "4"), Ok(Slice::new(index, 4)));
        }
        assert_eq!(array("0", "0", "3", "1", "4"), Ok(Slice::new(1, 4)));
        // --array=0-6:2%1 is regular too; a list of uneven ids is not, whichever task asks.
        for id in ["1", "2", "7"] {
            assert!(array(id, "1", "7", "1", "3").unwrap_err().contains("has no place"), "{id}");
        }
        assert!(array("4", "1", "7", "2", "4").is_err());
        let bare = [("SLURM_ARRAY_TASK_ID", "2"), ("SLURM_ARRAY_TASK_MIN", "1"), ("SLURM_ARRAY_TASK_COUNT", "2")];
        is(&bare, 2, 2);
    }

    #[test]
    fn no_variable_or_an_empty_one_means_the_whole() {
        assert_eq!(slice(&[]), Ok(None));
        assert_eq!(slice(&[("CI_NODE_TOTAL", "1"), ("HOOKBENCH_SHARD", " ")]), Ok(None));
        assert_eq!(slice(&[("HOOKBENCH_SHARD_TOTAL", "4")]), Ok(None));
    }

    #[test]
    fn variables_that_contradict_themselves_are_named() {
        let wrong = |variables, part: &str| {
            let message = slice(variables).unwrap_err();
            assert!(message.contains(part), "{message}");
        };
        wrong(&[("JOB_COMPLETION_INDEX", "0")], "HOOKBENCH_SHARD_TOTAL: is not set");
        wrong(&[("CI_NODE_INDEX", "0"), ("CI_NODE_TOTAL", "4")], "CI_NODE_INDEX: 0 is outside");
        wrong(&[("CIRCLE_NODE_INDEX", "4"), ("CIRCLE_NODE_TOTAL", "4")], "CIRCLE_NODE_INDEX: 4 is outside");
        wrong(&[("CI_NODE_INDEX", "one"), ("CI_NODE_TOTAL", "4")], "`one` is not a number");
        wrong(&[("HOOKBENCH_SHARD", "4")], "HOOKBENCH_SHARD: `4` is no part");
        wrong(&[("CIRCLE_NODE_INDEX", "4294967295"), ("CIRCLE_NODE_TOTAL", "4")], "outside");
        wrong(&[("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_COUNT", "4")], "SLURM_ARRAY_TASK_MIN: is not set");
    }
}
