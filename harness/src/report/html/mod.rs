//! One HTML file for a person: self-contained, readable without scripts, from a file or a server.
//!
//! The page asks for nothing: a content policy forbids everything but its own style. Every text passes through the
//! template's escaping or that of `svg.rs`, so neither a hook's output nor a scenario's name can become markup. Lists
//! are bounded and say what they leave out, so a run of thousands of steps stays a page. The same summary gives the
//! same bytes: no clock, no path of this machine.

mod budget;
mod findings;
mod flips;
mod gates;
mod latency;
mod number;
mod page;
mod retrieval;
mod scale;
mod sentence;
mod slowest;
mod svg;
mod verdict;

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};

use self::page::Page;
use crate::golden::is_invisible;
use crate::summary::Summary;

/// The page's frame and text.
const TEMPLATE: &str = include_str!("page.html");
/// Its style, put inside.
const STYLE: &str = include_str!("style.css");

/// The whole file.
///
/// # Errors
/// A fault of the template; no run can cause one.
pub fn render(summary: &Summary) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // Lines that hold only a tag leave no trace.
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build()?;
    environment.set_syntax(syntax);
    let page = environment.render_str(TEMPLATE, Serde(Page::of(summary, STYLE)))?;
    // HTML has no place for other control characters, escaped or not; what reorders text would forge a row.
    let acts = |sign: char| sign.is_control() && !matches!(sign, '\n' | '\t') || is_invisible(sign);
    Ok(page.replace(acts, "\u{fffd}"))
}

#[cfg(test)]
mod tests;
