//! JSON for github-action-benchmark's `customSmallerIsBetter`: an array of figures with name, unit, range and a note.
//!
//! Only figures where less is better; retrieval goes elsewhere. The note of an absolute time names the floor, and the
//! floor is an entry of its own, so that a chart of slower machines cannot be read as a slower hook.

use serde_json::{Value, json};

use super::measured::{Measured, measured};
use crate::summary::Summary;

/// The JSON text, with a newline at its end.
pub fn render(summary: &Summary) -> String {
    let machine = summary.header().map_or("unknown machine", |header| &*header.machine);
    let mut entries = Vec::new();
    for figure in measured(summary).iter().filter(|figure| !figure.larger_is_better) {
        entries.push(entry(figure, machine));
        if let Some(floor) = figure.floor {
            entries.push(json!({
                "name": format!("{} / floor-{}", figure.subject, figure.measure),
                "unit": figure.unit,
                "value": floor,
                "extra": format!("a child that does nothing, measured in the same rounds\n{machine}"),
            }));
        }
    }
    format!("{:#}\n", Value::Array(entries))
}

fn entry(figure: &Measured, machine: &str) -> Value {
    let mut entry = json!({
        "name": format!("{} / {}", figure.subject, figure.measure),
        "unit": figure.unit,
        "value": figure.value,
    });
    let mut extra = vec![format!("n {}", figure.n)];
    if let Some(floor) = figure.floor {
        extra.push(format!("floor {floor} {}", figure.unit));
    }
    extra.push(machine.to_owned());
    if let (Some(low), Some(high)) = (figure.low, figure.high) {
        entry["range"] = json!(format!("{low} to {high}"));
    }
    entry["extra"] = json!(extra.join("\n"));
    entry
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;
    use crate::summary::fixture::{retrieved, step, summary};

    #[test]
    fn entries_have_what_the_action_reads_and_the_floor_beside() {
        let labelled = (0..9).map(|round| {
            let mut step = step("s", "x", 0, round);
            step.retrieved = Some(retrieved(&["a"], &[("a", 2)], 0));
            step
        });
        let entries: Vec<Value> = serde_json::from_str(&render(&summary(9, labelled))).unwrap();
        let named = |name: &str| entries.iter().find(|entry| entry["name"] == name);
        let wall = named("UserPromptSubmit / wall-p50-us").unwrap();
        assert!(wall["extra"].as_str().unwrap().contains("floor 1000 us"), "{wall}");
        assert!(wall["range"].is_string() && wall["unit"] == "us");
        assert!(named("UserPromptSubmit / floor-wall-p50-us").is_some());
        assert!(entries.iter().all(|entry| entry["value"].is_number() && entry["unit"].is_string()));
        assert!(!entries.iter().any(|entry| entry["name"].as_str().unwrap().contains("recall")));
    }

    #[test]
    fn an_empty_run_is_an_empty_array() {
        assert_eq!(render(&Summary::default()), "[]\n");
    }
}
