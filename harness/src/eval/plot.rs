//! Two plots of an evaluation as SVG: quality against injected bytes, quality against the number of segments.
//!
//! Each point has a title with its figures, so that the picture can be read without colours and by a screen reader. The
//! same evaluation gives the same bytes. Axes start at zero for shares, since a cut axis makes noise look like a win.

use std::fmt::Write as _;

use super::evaluation::{Evaluation, Run};
use super::row::Column;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 52.0;
/// Colours that are told apart with the usual kinds of colour blindness (Okabe and Ito's), dark enough on white.
const COLOURS: [&str; 7] = ["#0072b2", "#b34a00", "#007a5a", "#a0457a", "#7a6a00", "#2b6f99", "#444444"];

/// One point.
struct Point {
    x: f64,
    y: f64,
    /// Lower and upper end of the interval of `y`.
    interval: Option<(f64, f64)>,
    label: String,
    /// Points of a group are joined by a line.
    group: String,
}

/// MRR@10 against injected bytes a query; empty without two runs that have both.
pub fn quality_by_bytes(evaluation: &Evaluation) -> Option<String> {
    let point = |run: &Run| {
        let quality = run.row.ranking.get(&Column::Mrr10)?;
        let bytes = run.row.bytes?;
        let (x, y, interval) = (bytes.mean, quality.mean, Some((quality.low, quality.high)));
        Some(Point { x, y, interval, label: run.name.clone(), group: run.name.clone() })
    };
    let points: Vec<Point> = evaluation.runs.iter().filter_map(point).collect();
    let title = format!("Quality against injected text on {}", evaluation.corpus);
    (points.len() > 1)
        .then(|| draw(&points, &title, "injected bytes a query (mean)", "MRR@10, with 95 % interval", false))
}

/// MRR@10 against the number of segments, for runs named `strategy@N`; empty without two of one strategy.
pub fn quality_by_segments(evaluation: &Evaluation) -> Option<String> {
    let point = |run: &Run| {
        let (strategy, n) = run.name.rsplit_once('@')?;
        let quality = run.row.ranking.get(&Column::Mrr10)?;
        let (x, y) = (n.parse().ok().filter(|n: &f64| *n >= 1.0)?, quality.mean);
        Some(Point { x, y, interval: None, label: run.name.clone(), group: strategy.to_owned() })
    };
    let points: Vec<Point> = evaluation.runs.iter().filter_map(point).collect();
    let joined = points.iter().any(|one| points.iter().filter(|other| other.group == one.group).count() > 1);
    let title = format!("Quality against the number of segments on {}", evaluation.corpus);
    joined.then(|| draw(&points, &title, "segments looked into (logarithmic)", "MRR@10", true))
}

fn draw(points: &[Point], title: &str, x_name: &str, y_name: &str, logarithmic: bool) -> String {
    let x_of = |x: f64| if logarithmic { x.max(1.0).log2() } else { x };
    let x_max = points.iter().map(|point| x_of(point.x)).fold(0.0, f64::max).max(1e-9) * 1.05;
    let top = |point: &Point| point.interval.map_or(point.y, |(_, high)| high);
    let y_max = (points.iter().map(top).fold(0.0, f64::max) * 1.05).clamp(0.05, 1.0);
    let at_x = |x: f64| LEFT + (WIDTH - LEFT - RIGHT) * x_of(x) / x_max;
    let at_y = |y: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / y_max;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<title>{0}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"14\" fill=\"#111\">{0}</text>\n",
        escaped(title)
    );
    axes(&mut svg, points, (x_max, y_max), logarithmic, &at_x, &at_y);
    let (middle, bottom) = ((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 12.0);
    let _ = writeln!(
        svg,
        "<text x=\"{middle}\" y=\"{bottom}\" text-anchor=\"middle\" fill=\"#333\">{}</text>",
        escaped(x_name)
    );
    let _ = writeln!(
        svg,
        "<text transform=\"translate(16 {}) rotate(-90)\" text-anchor=\"middle\" fill=\"#333\">{}</text>",
        (TOP + HEIGHT - BOTTOM) / 2.0,
        escaped(y_name)
    );
    let mut groups: Vec<&str> = points.iter().map(|point| &*point.group).collect();
    groups.dedup();
    let mut named: Vec<&str> = Vec::new();
    for group in groups {
        if !named.contains(&group) {
            named.push(group);
        }
    }
    for (nth, group) in named.iter().enumerate() {
        let colour = COLOURS.get(nth % COLOURS.len()).copied().unwrap_or("#444");
        let of_group: Vec<&Point> = points.iter().filter(|point| point.group == *group).collect();
        series(&mut svg, &of_group, colour, nth, &at_x, &at_y);
        let y = TOP + 14.0 + 18.0 * nth as f64;
        let x = WIDTH - RIGHT + 16.0;
        mark(&mut svg, x, y - 4.0, colour, nth, group);
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{y}\" font-size=\"11\" fill=\"#111\">{}</text>",
            x + 12.0,
            escaped(group)
        );
    }
    svg.push_str("</svg>\n");
    svg
}

fn axes(
    svg: &mut String,
    points: &[Point],
    (x_max, y_max): (f64, f64),
    logarithmic: bool,
    at_x: &dyn Fn(f64) -> f64,
    at_y: &dyn Fn(f64) -> f64,
) {
    let right = WIDTH - RIGHT;
    let step = if y_max > 0.5 { 0.1 } else { 0.05 };
    let mut tick = 0.0;
    while tick <= y_max {
        let y = at_y(tick);
        let _ = writeln!(svg, "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#ddd\"/>");
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#333\">{tick:.2}</text>",
            LEFT - 8.0,
            y + 4.0
        );
        tick += step;
    }
    let ticks: Vec<f64> = if logarithmic {
        let mut ticks: Vec<f64> = points.iter().map(|point| point.x).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        ticks
    } else {
        let step = nice(x_max / 5.0);
        (0..=5).map(|n| f64::from(n) * step).filter(|tick| *tick <= x_max).collect()
    };
    for tick in ticks {
        let (x, y) = (at_x(tick), HEIGHT - BOTTOM + 18.0);
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\" fill=\"#333\">{tick:.0}</text>");
    }
}

/// A round step near a length: 1, 2 or 5 times a power of ten.
fn nice(length: f64) -> f64 {
    let power = 10f64.powf(length.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|part| part * power).find(|step| *step >= length).unwrap_or(power)
}

fn series(
    svg: &mut String,
    points: &[&Point],
    colour: &str,
    nth: usize,
    at_x: &dyn Fn(f64) -> f64,
    at_y: &dyn Fn(f64) -> f64,
) {
    if points.len() > 1 {
        let path: Vec<String> = points.iter().map(|one| format!("{:.1} {:.1}", at_x(one.x), at_y(one.y))).collect();
        let _ =
            writeln!(svg, "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>", path.join("L"));
    }
    for point in points {
        let (x, y) = (at_x(point.x), at_y(point.y));
        if let Some((low, high)) = point.interval {
            let _ = writeln!(svg, "<path d=\"M{x:.1} {:.1}V{:.1}\" stroke=\"{colour}\"/>", at_y(low), at_y(high));
        }
        mark(svg, x, y, colour, nth, &format!("{}: {:.3} at {:.0}", point.label, point.y, point.x));
    }
}

/// A mark whose shape tells groups apart when colour does not.
fn mark(svg: &mut String, x: f64, y: f64, colour: &str, nth: usize, title: &str) {
    let shape = match nth % 4 {
        0 => format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\""),
        1 => format!("<rect x=\"{:.1}\" y=\"{:.1}\" width=\"7\" height=\"7\"", x - 3.5, y - 3.5),
        2 => format!("<path d=\"M{x:.1} {:.1}l4.5 8h-9z\"", y - 5.0),
        _ => format!("<path d=\"M{x:.1} {:.1}l5 5-5 5-5-5z\"", y - 5.0),
    };
    let _ = writeln!(svg, "{shape} fill=\"{colour}\"><title>{}</title>{}", escaped(title), closing(nth));
}

fn closing(nth: usize) -> &'static str {
    match nth % 4 {
        0 => "</circle>",
        1 => "</rect>",
        _ => "</path>",
    }
}

fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, sign| {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            sign if sign.is_control() => out.push(' '),
            sign => out.push(sign),
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_round() {
        assert_eq!([0.7, 1.3, 34.0, 61.0, 200.0].map(nice), [1.0, 2.0, 50.0, 100.0, 200.0]);
    }

    #[test]
    fn hostile_names_do_not_leave_their_text() {
        let point =
            |x: f64, label: &str| Point { x, y: 0.5, interval: None, label: label.to_owned(), group: label.to_owned() };
        let svg = draw(&[point(1.0, "<script>\"&"), point(2.0, "b")], "t", "x", "y", false);
        assert!(svg.contains("&lt;script&gt;&quot;&amp;") && !svg.contains("<script"));
    }
}
