//! Reading a JSON file that names its format and version: one rule for all of them.

use serde::Deserialize;
use serde::de::DeserializeOwned;

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
