//! Bencher Metric Format: benchmark → measure → value with its bounds, as `bencher run --adapter json` reads it.
//!
//! A benchmark is an event; a measure carries its unit in its name, since the format has none. Every absolute time has
//! a `floor-…` measure of the same benchmark beside it: the no-op child of the same rounds.

use serde_json::{Map, Value, json};

use super::measured::{Measured, measured};
use crate::summary::Summary;

/// The JSON text, with a newline at its end.
pub fn render(summary: &Summary) -> String {
    let mut benchmarks = Map::new();
    for figure in measured(summary) {
        let benchmark = benchmarks.entry(figure.subject.clone()).or_insert_with(|| json!({}));
        let Some(measures) = benchmark.as_object_mut() else { continue };
        if let Some(floor) = figure.floor {
            measures.insert(format!("floor-{}", figure.measure), json!({ "value": floor }));
        }
        measures.insert(figure.measure.clone(), metric(&figure));
    }
    format!("{:#}\n", Value::Object(benchmarks))
}

fn metric(figure: &Measured) -> Value {
    let mut metric = Map::new();
    metric.insert("value".to_owned(), json!(figure.value));
    if let Some(low) = figure.low {
        metric.insert("lower_value".to_owned(), json!(low));
    }
    if let Some(high) = figure.high {
        metric.insert("upper_value".to_owned(), json!(high));
    }
    Value::Object(metric)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use super::*;
    use crate::summary::fixture::{step, summary};

    #[test]
    fn each_time_has_its_floor_and_few_samples_name_no_tail() {
        // Five calls of 3 ms wall and 2 ms CPU over a floor of 1 ms and 0.5 ms: a p50, and no p95.
        let text = render(&summary(5, (0..5).map(|round| step("s", "x", 0, round))));
        let page: Value = serde_json::from_str(&text).unwrap();
        let event = &page["UserPromptSubmit"];
        let close = |value: &Value, want: f64| (value.as_f64().unwrap() / want - 1.0).abs() < 0.002;
        assert!(close(&event["wall-p50-us"]["value"], 3_000.0) && close(&event["floor-wall-p50-us"]["value"], 1_000.0));
        assert!(close(&event["cpu-p50-us"]["value"], 2_000.0) && close(&event["floor-cpu-p50-us"]["value"], 500.0));
        assert!(close(&event["wall-to-floor-ratio"]["value"], 3.0));
        assert!(event["wall-p50-us"]["upper_value"].is_number());
        assert!(event.get("wall-p95-us").is_none());
        let absolute = event.as_object().unwrap().keys().filter(|name| name.ends_with("-us"));
        assert!(absolute.clone().count() >= 4);
        for name in absolute.filter(|name| !name.starts_with("floor-")) {
            assert!(event.get(format!("floor-{name}")).is_some(), "{name}");
        }
    }

    #[test]
    fn an_empty_run_is_an_empty_object() {
        assert_eq!(render(&Summary::default()), "{}\n");
    }
}
