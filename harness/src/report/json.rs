//! The figures of a run as JSON: the same text as `summary.json` of its saved run.

use crate::record::SummaryFile;
use crate::summary::Summary;

/// The JSON text, with a newline at its end.
pub fn render(summary: &Summary) -> String {
    SummaryFile::of(summary).to_text()
}
