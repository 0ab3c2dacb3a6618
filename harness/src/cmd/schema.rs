//! `hookbench schema`: prints the JSON Schema of a file format.

use crate::cli::Format;
use crate::eval::file::EvaluationFile;
use crate::eval::saved;
use crate::failure::Failure;
use crate::{compare, doctor, record, scenario};

/// The schema as text.
///
/// # Errors
/// Never in practice: a schema is always valid JSON.
pub fn schema(format: Format) -> Result<String, Failure> {
    let schema = match format {
        Format::Scenario => scenario::schema(),
        Format::Events => record::events_schema().to_value(),
        Format::Comparison => compare::comparison_schema().to_value(),
        Format::Summary => record::summary_schema().to_value(),
        Format::Scores => saved::scores_schema().to_value(),
        Format::Evaluation => EvaluationFile::schema().to_value(),
        Format::Doctor => doctor::doctor_schema().to_value(),
    };
    serde_json::to_string_pretty(&schema).map_err(|error| Failure::Internal(error.to_string()))
}
