//! Where the time went: one strip an event, hook above, floor below, on one logarithmic scale for all.
//!
//! Bars count calls, scaled to the fullest slice of their own lane, so lanes compare in place and spread, not in
//! height. A percentile is drawn only where the samples suffice to name it; nothing is subtracted.

use serde::Serialize;

use super::number;
use super::scale::LogScale;
use super::svg::{Anchor, Svg};
use crate::latency::{Distribution, Quantile, median};
use crate::summary::{Clock, StepSummary, Summary, Timing, pairs};

/// Most events that are drawn; the table has the same bound.
const MAX_EVENTS: usize = 40;
/// Slices of the scale.
const N_SLICES: usize = 100;
/// How many times the last hundredth must exceed the rest to be left off the scale.
const FAR_OUT: f64 = 4.0;
/// Least distance of two labels of the axis, in hundredths of the width.
const MIN_GAP: f64 = 9.0;
/// Height of a lane above its line, in pixels.
const LANE: f64 = 22.0;
/// Height of the floor's lane below the last line.
const FLOOR_LANE: f64 = 14.0;

/// Everything the page shows about one clock.
#[derive(Debug, Serialize)]
pub(super) struct Strips {
    axis: String,
    events: Vec<EventStrip>,
    n_left_out: usize,
    has_baseline: bool,
    has_beyond: bool,
}

/// One event.
#[derive(Debug, Serialize)]
struct EventStrip {
    name: String,
    n: String,
    strip: String,
    p50: String,
    to_floor: Option<String>,
    to_baseline: Option<String>,
    rows: Vec<Row>,
}

/// One arm of an event in the table.
#[derive(Debug, Serialize)]
struct Row {
    who: &'static str,
    figures: Vec<String>,
}

/// What is drawn of an event.
struct Lanes {
    name: String,
    candidate: Distribution,
    baseline: Option<Distribution>,
    to_floor: Option<f64>,
    to_baseline: Option<f64>,
}

/// The strips of one clock, busiest event first; `None` when nothing was measured.
pub(super) fn strips(summary: &Summary, clock: Clock) -> Option<Strips> {
    let floor = match clock {
        Clock::Wall => summary.floors().wall(),
        Clock::Cpu => summary.floors().cpu(),
    };
    let mut lanes: Vec<Lanes> = summary.events().into_iter().map(|event| lanes(summary, event, clock)).collect();
    lanes.retain(|lanes| lanes.candidate.count() > 0);
    lanes.sort_by(|left, right| {
        right.candidate.count().cmp(&left.candidate.count()).then_with(|| left.name.cmp(&right.name))
    });
    let n_left_out = lanes.len().saturating_sub(MAX_EVENTS);
    lanes.truncate(MAX_EVENTS);
    let drawn: Vec<&Distribution> = lanes
        .iter()
        .flat_map(|lanes| [Some(&lanes.candidate), lanes.baseline.as_ref()])
        .chain([Some(&floor)])
        .flatten()
        .collect();
    let scale = scale(&drawn)?;
    let has_beyond = lanes.iter().any(|lanes| beyond(&lanes.candidate, &scale) > 0);
    let has_baseline = lanes.iter().any(|lanes| lanes.baseline.is_some());
    let events = lanes.iter().enumerate().map(|(nth, lanes)| event_strip(nth, lanes, &floor, &scale, clock)).collect();
    Some(Strips { axis: axis(&scale), events, n_left_out, has_baseline, has_beyond })
}

/// The scale that holds all times, but for the last hundredth where that lies far out: a few calls that were stopped
/// for a second must not squeeze all others into a corner.
fn scale(drawn: &[&Distribution]) -> Option<LogScale> {
    let all = |most: u64| {
        let times = drawn.iter().flat_map(|times| times.buckets()).map(|(time, _)| time);
        LogScale::over(times.filter(|time| *time <= most))
    };
    let most = drawn.iter().filter_map(|times| times.at_rank(Quantile::P99.rank(times.count()))).max()?;
    let whole = all(u64::MAX)?;
    let most = u64::try_from(most.as_micros()).unwrap_or(u64::MAX);
    let near = all(most)?;
    Some(if whole.high() > near.high() * FAR_OUT { near } else { whole })
}

/// Calls that the scale does not reach.
fn beyond(times: &Distribution, scale: &LogScale) -> u64 {
    times.buckets().filter(|(time, _)| *time as f64 > scale.high()).map(|(_, count)| count).sum()
}

fn lanes(summary: &Summary, event: &str, clock: Clock) -> Lanes {
    let steps: Vec<&StepSummary> = summary.steps_of_event(event).collect();
    let timing = Timing::of(steps.iter().copied(), summary.floors());
    let baseline = Timing::of(steps.iter().filter_map(|step| summary.baseline_of(step)), summary.floors());
    let baseline = baseline.clock(clock).clone();
    let log_ratios = pairs(summary, &steps, clock).iter().map(|pair| pair.log_ratio).collect();
    Lanes {
        name: event.to_owned(),
        candidate: timing.clock(clock).clone(),
        baseline: (baseline.count() > 0).then_some(baseline),
        to_floor: timing.median_ratio(clock),
        to_baseline: median(log_ratios).map(f64::exp),
    }
}

fn event_strip(nth: usize, lanes: &Lanes, floor: &Distribution, scale: &LogScale, clock: Clock) -> EventStrip {
    let mut rows = vec![Row { who: "hook", figures: figures(&lanes.candidate) }];
    rows.extend(lanes.baseline.as_ref().map(|baseline| Row { who: "baseline", figures: figures(baseline) }));
    if floor.count() > 0 {
        rows.push(Row { who: "floor", figures: figures(floor) });
    }
    EventStrip {
        name: lanes.name.clone(),
        n: number::count(lanes.candidate.count()),
        strip: strip(nth, lanes, floor, scale, clock),
        p50: number::percentile(lanes.candidate.percentile(Quantile::P50)),
        to_floor: lanes.to_floor.map(number::ratio),
        to_baseline: lanes.to_baseline.map(number::ratio),
        rows,
    }
}

/// n, p50, p90, p95, p99, max.
fn figures(times: &Distribution) -> Vec<String> {
    let mut figures = vec![number::count(times.count())];
    for quantile in [Quantile::P50, Quantile::P90, Quantile::P95, Quantile::P99] {
        figures.push(number::percentile(times.percentile(quantile)));
    }
    figures.push(times.max().map_or_else(|| "–".to_owned(), |max| number::time(max.as_micros() as f64)));
    figures
}

fn axis(scale: &LogScale) -> String {
    let mut svg = Svg::new(20.0);
    let mut last = f64::NEG_INFINITY;
    for (place, label) in scale.marks() {
        // Labels that close would touch on a narrow screen.
        let Some(label) = label.filter(|_| place - last >= MIN_GAP) else { continue };
        last = place;
        let anchor = match place {
            place if place < 4.0 => Anchor::Start,
            place if place > 96.0 => Anchor::End,
            _ => Anchor::Middle,
        };
        svg.text("tick", place, 14.0, anchor, &label);
    }
    svg.decoration()
}

fn strip(nth: usize, lanes: &Lanes, floor: &Distribution, scale: &LogScale, clock: Clock) -> String {
    let n_lanes = 1 + usize::from(lanes.baseline.is_some());
    let line = 4.0 + LANE * n_lanes as f64;
    let height = line + FLOOR_LANE + 4.0;
    let mut svg = Svg::new(height);
    for (place, _) in scale.marks() {
        svg.upright("grid", place, 0.0, height);
    }
    let mut base = 4.0 + LANE;
    lane(&mut svg, "hook", &lanes.candidate, scale, base, LANE - 4.0);
    if let Some(baseline) = &lanes.baseline {
        svg.level("rule", 0.0, 100.0, base);
        base += LANE;
        lane(&mut svg, "base", baseline, scale, base, LANE - 4.0);
    }
    svg.level("rule", 0.0, 100.0, line);
    lane(&mut svg, "floor", floor, scale, line, -(FLOOR_LANE - 2.0));
    let spoken = |who: &str, times: &Distribution| {
        let max = times.max().map_or(0.0, |max| max.as_micros() as f64);
        let p50 = number::percentile(times.percentile(Quantile::P50));
        format!("{who}: {} calls, p50 {p50}, max {}", number::count(times.count()), number::time(max))
    };
    let mut description = spoken("hook", &lanes.candidate);
    if let Some(baseline) = &lanes.baseline {
        description = format!("{description}; {}", spoken("baseline", baseline));
    }
    description = format!("{description}; {}.", spoken("floor", floor));
    let title = format!("{}: distribution of {} time", lanes.name, clock.name());
    svg.picture(&format!("{}-{nth}", clock.name()), &title, &description)
}

/// Draws a histogram from a line upwards, downwards for a negative height, with its p50 and p95.
fn lane(svg: &mut Svg, class: &str, times: &Distribution, scale: &LogScale, line: f64, height: f64) {
    let mut slices = [0_u64; N_SLICES];
    for (time_us, count) in times.buckets().filter(|(time, _)| *time as f64 <= scale.high()) {
        if let Some(slice) = slices.get_mut(scale.slice(time_us, N_SLICES)) {
            *slice += count;
        }
    }
    let fullest = slices.iter().copied().max().unwrap_or(0).max(1);
    for (nth, count) in slices.iter().enumerate().filter(|(_, count)| **count > 0) {
        // A single call among thousands must still be seen.
        let size = (height.abs() * *count as f64 / fullest as f64).max(1.5);
        let top = if height > 0.0 { line - size } else { line };
        svg.rect(class, nth as f64, 0.86, top, size);
    }
    let n_beyond = beyond(times, scale);
    if n_beyond > 0 && height > 0.0 {
        svg.text("tick", 100.0, line - height + 5.0, Anchor::End, &format!("+{} ›", number::count(n_beyond)));
    }
    let mut mark = |quantile: Quantile, class: &str| {
        let value = times.percentile(quantile).value();
        if let Some(value) = value.filter(|value| value.as_micros() as f64 <= scale.high()) {
            svg.upright(class, scale.place(value.as_micros() as f64), line, line - height - height.signum() * 2.0);
        }
    };
    mark(Quantile::P50, "p50");
    mark(Quantile::P95, "p95");
}
