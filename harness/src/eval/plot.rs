//! Two plots of an evaluation as SVG: quality against injected bytes, quality against the number of segments.
//!
//! Each point has a title with its figures, so that the picture can be read without colours and by a screen reader. The
//! same evaluation gives the same bytes. Axes start at zero for shares, since a cut axis makes noise look like a win.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::evaluation::{Evaluation, Run};
use super::row::Column;

const PLOT: f64 = 500.0;
const HEIGHT: f64 = 440.0;
const LEFT: f64 = 64.0;
const TOP: f64 = 36.0;
const BOTTOM: f64 = 52.0;
/// Height of a line of the legend.
const LINE: f64 = 18.0;
/// Generous width of a sign of the legend's size, since the font is the reader's.
const SIGN: f64 = 6.6;
/// Marks nearer than this cover each other.
const NEAR: f64 = 6.0;
/// Least distance between labels of the logarithmic axis.
const LABEL: f64 = 22.0;
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

/// What a picture shows beside its points.
struct Texts<'a> {
    title: &'a str,
    x: &'a str,
    y: &'a str,
    /// A level to hold the points against, with its name.
    level: Option<(&'a str, f64)>,
}

/// MRR@10 against injected bytes a query; empty without two runs that have both.
pub fn quality_by_bytes(evaluation: &Evaluation) -> Option<String> {
    let point = |run: &Run| {
        let quality = run.row.ranking.get(&Column::Mrr10)?;
        let bytes = run.row.bytes?;
        let (x, y, interval) = (bytes.mean, quality.mean, Some((quality.low, quality.high)));
        let group = segments(run).map_or(&*run.name, |(strategy, _)| strategy).to_owned();
        Some(Point { x, y, interval, label: run.name.clone(), group })
    };
    let points: Vec<Point> = evaluation.runs.iter().filter_map(point).collect();
    let title = format!("Quality against injected text on {}", evaluation.corpus);
    let (x, y) = ("injected bytes a query (mean)", "MRR@10, with 95 % interval");
    (points.len() > 1).then(|| draw(&points, &Texts { title: &title, x, y, level: None }, false))
}

/// MRR@10 against the number of segments, for runs named `strategy@N`, and the level of the baseline when it is none of
/// them; empty without two of one strategy.
pub fn quality_by_segments(evaluation: &Evaluation) -> Option<String> {
    let quality = |run: &Run| run.row.ranking.get(&Column::Mrr10).map(|estimate| estimate.mean);
    let point = |run: &Run| {
        let (strategy, x) = segments(run)?;
        let group = strategy.to_owned();
        Some(Point { x, y: quality(run)?, interval: None, label: run.name.clone(), group })
    };
    let points: Vec<Point> = evaluation.runs.iter().filter_map(point).collect();
    let joined = points.iter().any(|one| points.iter().filter(|other| other.group == one.group).count() > 1);
    let title = format!("Quality against the number of segments on {}", evaluation.corpus);
    let baseline = |run: &&Run| evaluation.baseline.as_deref() == Some(&*run.name) && segments(run).is_none();
    let level = evaluation.runs.iter().find(baseline).and_then(|run| Some((&*run.name, quality(run)?)));
    let texts = Texts { title: &title, x: "segments looked into (logarithmic)", y: "MRR@10", level };
    joined.then(|| draw(&points, &texts, true))
}

/// Strategy and number of segments of a run named `strategy@N`.
fn segments(run: &Run) -> Option<(&str, f64)> {
    let (strategy, n) = run.name.rsplit_once('@')?;
    Some((strategy, n.parse().ok().filter(|n: &f64| *n >= 1.0)?))
}

/// Where values are on the picture.
struct Scale {
    x_max: f64,
    y_max: f64,
    height: f64,
    logarithmic: bool,
}

impl Scale {
    fn x(&self, x: f64) -> f64 {
        LEFT + PLOT * (if self.logarithmic { x.max(1.0).log2() } else { x }) / self.x_max
    }

    fn y(&self, y: f64) -> f64 {
        self.height - BOTTOM - (self.height - TOP - BOTTOM) * y / self.y_max
    }
}

fn draw(points: &[Point], texts: &Texts<'_>, logarithmic: bool) -> String {
    let mut named: Vec<&str> = Vec::new();
    for point in points {
        if !named.contains(&&*point.group) {
            named.push(&point.group);
        }
    }
    let legend = named.iter().copied().chain(texts.level.map(|(name, _)| name));
    let (n_lines, longest) = legend.fold((0.0, 0), |(n, longest), name| (n + 1.0, name.chars().count().max(longest)));
    let width = LEFT + PLOT + 40.0 + SIGN * longest as f64;
    let height = HEIGHT.max(TOP + LINE * n_lines + 8.0);
    let x_of = |x: f64| if logarithmic { x.max(1.0).log2() } else { x };
    let top = |point: &Point| point.interval.map_or(point.y, |(_, high)| high);
    let highest = points.iter().map(top).chain(texts.level.map(|(_, y)| y)).fold(0.0, f64::max);
    let scale = Scale {
        x_max: points.iter().map(|point| x_of(point.x)).fold(0.0, f64::max).max(1e-9) * 1.05,
        y_max: (highest * 1.05).clamp(0.05, 1.0),
        height,
        logarithmic,
    };
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" \
         font-family=\"system-ui, sans-serif\" font-size=\"12\">\n<title>{0}</title>\n\
         <rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"20\" font-size=\"14\" fill=\"#111\">{0}</text>\n",
        escaped(texts.title)
    );
    axes(&mut svg, points, &scale);
    names_of_axes(&mut svg, texts, height);
    let x = LEFT + PLOT + 16.0;
    let lines = (0..).map(|nth: u32| TOP + 14.0 + LINE * f64::from(nth));
    for ((nth, group), y) in named.iter().enumerate().zip(lines.clone()) {
        series(&mut svg, points, group, nth, &scale);
        mark(&mut svg, (x, y - 4.0), 1.0, nth, group);
        legend_text(&mut svg, x, y, group);
    }
    if let (Some((name, level)), Some(y)) = (texts.level, lines.clone().nth(named.len())) {
        let dashed = "stroke=\"#111\" stroke-dasharray=\"5 4\"";
        let (at, right) = (scale.y(level), LEFT + PLOT);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {at:.1}H{right}\" {dashed}><title>{}: {level:.3}</title></path>",
            escaped(name)
        );
        let _ = writeln!(svg, "<path d=\"M{} {}H{}\" {dashed}/>", x - 7.0, y - 4.0, x + 8.0);
        legend_text(&mut svg, x, y, name);
    }
    svg.push_str("</svg>\n");
    svg
}

fn names_of_axes(svg: &mut String, texts: &Texts<'_>, height: f64) {
    let (middle, bottom) = (LEFT + PLOT / 2.0, height - 12.0);
    let text = escaped(texts.x);
    let _ = writeln!(svg, "<text x=\"{middle}\" y=\"{bottom}\" text-anchor=\"middle\" fill=\"#333\">{text}</text>");
    let (middle, text) = ((TOP + height - BOTTOM) / 2.0, escaped(texts.y));
    let turned = format!("transform=\"translate(16 {middle}) rotate(-90)\"");
    let _ = writeln!(svg, "<text {turned} text-anchor=\"middle\" fill=\"#333\">{text}</text>");
}

fn legend_text(svg: &mut String, x: f64, y: f64, text: &str) {
    let (x, text) = (x + 12.0, escaped(text));
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" font-size=\"11\" fill=\"#111\">{text}</text>");
}

fn axes(svg: &mut String, points: &[Point], scale: &Scale) {
    let right = LEFT + PLOT;
    let step = if scale.y_max > 0.5 { 0.1 } else { 0.05 };
    for tick in (0..).map(|nth: u32| f64::from(nth) * step).take_while(|tick| *tick <= scale.y_max) {
        let y = scale.y(tick);
        let _ = writeln!(svg, "<path d=\"M{LEFT} {y:.1}H{right}\" stroke=\"#ddd\"/>");
        let (x, y) = (LEFT - 8.0, y + 4.0);
        let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\" fill=\"#333\">{tick:.2}</text>");
    }
    let ticks: Vec<f64> = if scale.logarithmic {
        let mut ticks: Vec<f64> = points.iter().map(|point| point.x).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup_by(|later, kept| scale.x(*later) - scale.x(*kept) < LABEL);
        ticks
    } else {
        let step = nice(scale.x_max / 5.0);
        (0..=5).map(|n| f64::from(n) * step).filter(|tick| *tick <= scale.x_max).collect()
    };
    for tick in ticks {
        let (x, y) = (scale.x(tick), scale.height - BOTTOM + 18.0);
        let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"middle\" fill=\"#333\">{tick:.0}</text>");
    }
}

/// A round step near a length: 1, 2 or 5 times a power of ten.
fn nice(length: f64) -> f64 {
    let power = 10f64.powf(length.max(1e-9).log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|part| part * power).find(|step| *step >= length).unwrap_or(power)
}

fn series(svg: &mut String, points: &[Point], group: &str, nth: usize, scale: &Scale) {
    let at = |point: &Point| (scale.x(point.x), scale.y(point.y));
    let colour = colour(nth);
    let of_group: Vec<(usize, &Point)> = points.iter().enumerate().filter(|(_, point)| point.group == group).collect();
    if of_group.len() > 1 {
        let path: Vec<String> =
            of_group.iter().map(|(_, one)| at(one)).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let _ =
            writeln!(svg, "<path d=\"M{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\"/>", path.join("L"));
    }
    for (place, point) in of_group {
        let (x, y) = at(point);
        if let Some((low, high)) = point.interval {
            let (low, high) = (scale.y(low), scale.y(high));
            let _ = writeln!(svg, "<path d=\"M{x:.1} {low:.1}V{high:.1}\" stroke=\"{colour}\"/>");
        }
        // What later marks will cover is drawn larger, so that a rim of it stays.
        let near = |other: &Point| (at(other).0 - x).abs().max((at(other).1 - y).abs()) < NEAR;
        let covering = points.iter().skip(place + 1).filter(|other| other.group != group && near(other));
        let groups: BTreeSet<&str> = covering.map(|other| &*other.group).collect();
        let size = 1.0 + 0.6 * groups.len().min(3) as f64;
        mark(svg, (x, y), size, nth, &format!("{}: {:.3} at {:.0}", point.label, point.y, point.x));
    }
}

fn colour(nth: usize) -> &'static str {
    COLOURS.get(nth % COLOURS.len()).copied().unwrap_or("#444")
}

/// A mark whose shape tells groups apart when colour does not.
fn mark(svg: &mut String, (x, y): (f64, f64), size: f64, nth: usize, title: &str) {
    let r = 4.0 * size;
    let (shape, element) = match nth % 4 {
        0 => (format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{r:.1}\""), "circle"),
        1 => (format!("<path d=\"M{:.1} {:.1}h{2:.1}v{2:.1}h-{2:.1}z\"", x - r * 0.9, y - r * 0.9, r * 1.8), "path"),
        2 => (format!("<path d=\"M{x:.1} {:.1}l{:.1} {:.1}h-{:.1}z\"", y - r * 1.2, r * 1.1, r * 2.0, r * 2.2), "path"),
        _ => (format!("<path d=\"M{x:.1} {:.1}l{r:.1} {r:.1}-{r:.1} {r:.1}-{r:.1}-{r:.1}z\"", y - r), "path"),
    };
    let colour = colour(nth);
    let edge = "stroke=\"#fff\" stroke-width=\"0.8\"";
    let _ = writeln!(svg, "{shape} fill=\"{colour}\" {edge}><title>{}</title></{element}>", escaped(title));
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

    fn point(x: f64, label: &str) -> Point {
        Point { x, y: 0.5, interval: None, label: label.to_owned(), group: label.to_owned() }
    }

    fn texts(level: Option<(&'static str, f64)>) -> Texts<'static> {
        Texts { title: "t", x: "x", y: "y", level }
    }

    #[test]
    fn hostile_names_do_not_leave_their_text() {
        let svg = draw(&[point(1.0, "<script>\"&"), point(2.0, "b")], &texts(Some(("<i>", 0.2))), false);
        assert!(svg.contains("&lt;script&gt;&quot;&amp;") && !svg.contains("<script") && !svg.contains("<i>"));
    }

    #[test]
    fn pictures_have_room_for_every_name() {
        let size = |svg: &str| -> Vec<f64> {
            let view = svg.split('"').find(|part| part.starts_with("0 0 ")).map_or("", |part| part);
            view.split(' ').skip(2).filter_map(|number| number.parse().ok()).collect()
        };
        let long = "x".repeat(60);
        let svg = draw(&[point(1.0, &long), point(2.0, "b")], &texts(None), false);
        // 592 is where texts of the legend start; a sign of 11 pixels is 6.05 wide on average at most in usual fonts.
        assert!(size(&svg).first().is_some_and(|width| *width >= 592.0 + 60.0 * 6.05), "{svg}");
        let many: Vec<Point> = (0..40).map(|nth: u32| point(1.0 + f64::from(nth), &format!("run {nth}"))).collect();
        let svg = draw(&many, &texts(Some(("level", 0.1))), false);
        let lowest = svg.lines().filter(|line| line.contains("font-size=\"11\"")).count() as f64 * LINE + TOP;
        assert!(size(&svg).get(1).is_some_and(|height| *height >= lowest), "{svg}");
    }

    #[test]
    fn a_covered_mark_shows_its_rim() {
        let svg = draw(&[point(5.0, "under"), point(5.0, "over")], &texts(None), false);
        // The circle below has r = 4 * 1.6, that of the legend 4.
        assert!(svg.contains("r=\"6.4\"") && svg.contains("r=\"4.0\""), "{svg}");
    }

    #[test]
    fn labels_of_the_logarithmic_axis_do_not_touch() {
        let points: Vec<Point> = [1.0, 40.0, 41.0, 64.0].map(|x| point(x, "s")).into();
        let svg = draw(&points, &texts(None), true);
        assert!(svg.contains(">40</text>") && !svg.contains(">41</text>") && svg.contains(">64</text>"), "{svg}");
    }
}
