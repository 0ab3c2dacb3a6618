//! JSON files that name their format and version: one rule for reading and writing all of them.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Head {
    format: String,
    major: u32,
}

/// Reads a text of this format; `what` says what such a file is. Unknown keys are passed over, a newer major version is
/// refused.
///
/// # Errors
/// A sentence that says what is wrong and what to do.
pub fn parse<T: DeserializeOwned>(text: &str, what: &str, format: &str, major: u32) -> Result<T, String> {
    let other = |error: serde_json::Error| format!("not {what}: {error}");
    // Format and version come first: a file of another kind should not be told of its missing keys.
    let head: Head = serde_json::from_str(text).map_err(other)?;
    if head.format != format {
        return Err(format!("the format is `{}`, not `{format}`", head.format));
    }
    if head.major > major {
        return Err(format!("format version {}.x is newer than {major}.x: update hookbench", head.major));
    }
    serde_json::from_str(text).map_err(other)
}

/// The text of such a file, with a newline at its end.
pub fn to_text(file: &impl Serialize) -> String {
    // Serialising plain structs of strings and finite numbers into memory cannot fail.
    let mut text = serde_json::to_string_pretty(file).unwrap_or_default();
    text.push('\n');
    text
}

/// A ratio or share with at most six decimals: short enough that every reader of JSON gives the same number.
pub fn six(number: f64) -> f64 {
    (number * 1e6).round() / 1e6
}
