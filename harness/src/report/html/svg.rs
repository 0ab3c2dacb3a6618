//! A small writer of inline SVG: shapes that stretch sideways with the page, text that keeps its size.
//!
//! Positions along x are hundredths of the width, along y pixels: so a chart fits any width without a script and its
//! words stay legible. All text is escaped here; colours come from classes of the style sheet, never from here.

use std::fmt::Write as _;

/// One chart.
#[derive(Debug, Clone)]
pub(super) struct Svg {
    shapes: String,
    height: f64,
}

/// On which side of its place a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// An empty chart of a height in pixels.
    pub(super) fn new(height: f64) -> Svg {
        Svg { shapes: String::new(), height }
    }

    /// A filled rectangle.
    pub(super) fn rect(&mut self, class: &str, x: f64, width: f64, y: f64, height: f64) {
        // Writing into a string cannot fail; that holds for every method here.
        let _ = write!(
            self.shapes,
            "<rect class=\"{class}\" x=\"{}%\" y=\"{}\" width=\"{}%\" height=\"{}\"/>",
            short(x),
            short(y),
            short(width),
            short(height)
        );
    }

    /// An upright line.
    pub(super) fn upright(&mut self, class: &str, x: f64, from: f64, to: f64) {
        let x = short(x);
        let _ = write!(
            self.shapes,
            "<line class=\"{class}\" x1=\"{x}%\" x2=\"{x}%\" y1=\"{}\" y2=\"{}\"/>",
            short(from),
            short(to)
        );
    }

    /// A level line.
    pub(super) fn level(&mut self, class: &str, from: f64, to: f64, y: f64) {
        let y = short(y);
        let _ = write!(
            self.shapes,
            "<line class=\"{class}\" x1=\"{}%\" x2=\"{}%\" y1=\"{y}\" y2=\"{y}\"/>",
            short(from),
            short(to)
        );
    }

    /// A dot.
    pub(super) fn dot(&mut self, class: &str, x: f64, y: f64, radius: f64) {
        let _ = write!(
            self.shapes,
            "<circle class=\"{class}\" cx=\"{}%\" cy=\"{}\" r=\"{}\"/>",
            short(x),
            short(y),
            short(radius)
        );
    }

    /// A word at its place.
    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = write!(
            self.shapes,
            "<text class=\"{class}\" x=\"{}%\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            short(x),
            short(y),
            escape(text)
        );
    }

    /// The element, as a picture with a name and a description for readers that do not see it.
    ///
    /// `id` must be unique in the page and safe as it is: letters, digits and hyphens.
    pub(super) fn picture(self, id: &str, title: &str, description: &str) -> String {
        format!(
            "<svg role=\"img\" width=\"100%\" height=\"{}\" aria-labelledby=\"{id}-t\" aria-describedby=\"{id}-d\">\
             <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>{}</svg>",
            short(self.height),
            escape(title),
            escape(description),
            self.shapes
        )
    }

    /// The element, for charts that repeat what the text beside them says.
    pub(super) fn decoration(self) -> String {
        format!("<svg aria-hidden=\"true\" width=\"100%\" height=\"{}\">{}</svg>", short(self.height), self.shapes)
    }
}

/// At most two decimals, none when they are zero.
fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// Text that is safe between tags and in quoted attributes; signs that drive a terminal or break a line are replaced.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            sign if sign.is_control() => safe.push('\u{fffd}'),
            sign => safe.push(sign),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_have_short_numbers_and_their_class() {
        let mut svg = Svg::new(20.0);
        svg.rect("a", 1.0 / 3.0, 50.0, 2.0, 10.5);
        svg.upright("b", 100.0, 0.0, 20.0);
        let text = svg.decoration();
        assert!(text.contains("<rect class=\"a\" x=\"0.33%\" y=\"2\" width=\"50%\" height=\"10.5\"/>"), "{text}");
        assert!(text.contains("<line class=\"b\" x1=\"100%\" x2=\"100%\" y1=\"0\" y2=\"20\"/>"), "{text}");
        assert_eq!(short(-0.001), "0");
    }

    #[test]
    fn text_names_and_descriptions_cannot_leave_their_element() {
        let mut svg = Svg::new(1.0);
        svg.text("t", 0.0, 0.0, Anchor::End, "</text><script>\u{1b}");
        let text = svg.picture("x", "<b>\"", "'&");
        assert!(text.contains("&lt;/text&gt;&lt;script&gt;\u{fffd}</text>"), "{text}");
        assert!(text.contains("<title id=\"x-t\">&lt;b&gt;&quot;</title><desc id=\"x-d\">&#39;&amp;</desc>"), "{text}");
        assert!(!text.contains("<script"));
    }
}
