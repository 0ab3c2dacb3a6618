//! Writes the file, column by column.

use std::fs::File;
use std::path::Path;

use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;

use super::columns::{Group, write_groups};
use crate::failure::Failure;
use crate::run_event::Arm;
use crate::summary::{Call, Floor, StepSummary, Summary};

/// The columns. Times are microseconds; optional ones are null where nothing was measured.
const SCHEMA: &str = "
message calls {
    required binary scenario (STRING);
    required binary step (STRING);
    required int32 round;
    required binary arm (STRING);
    required binary event (STRING);
    required int64 wall_us;
    required int64 exit_us;
    required int64 cpu_us;
    optional int64 floor_wall_us;
    optional int64 floor_cpu_us;
    required int64 injected_utf16;
    required int64 injected_bytes;
    required boolean truncated;
    required boolean passed;
    optional int64 peak_memory_bytes;
    optional int64 late_us;
    required boolean cold;
}";

/// One row.
struct Row<'a> {
    step: &'a StepSummary,
    arm: Arm,
    call: &'a Call,
    floor: Option<Floor>,
}

/// Writes all calls of a run, candidate before baseline, steps in plan order, calls by round.
///
/// # Errors
/// A file that cannot be written.
pub fn write(summary: &Summary, file: &Path) -> Result<(), Failure> {
    let rows: Vec<Row<'_>> = [(Arm::Candidate, summary.steps()), (Arm::Baseline, summary.baseline_steps())]
        .into_iter()
        .flat_map(|(arm, steps)| steps.iter().map(move |step| (arm, step)))
        .flat_map(|(arm, step)| step.calls().iter().map(move |call| (arm, step, call)))
        .map(|(arm, step, call)| Row { step, arm, call, floor: summary.floors().of(&step.scenario, call.round) })
        .collect();
    let unwritable = |error: std::io::Error| {
        Failure::usage(file, format!("the report cannot be written: {error}"), "name a file in a folder that exists")
    };
    let out = File::create(file).map_err(unwritable)?;
    let header = summary.header();
    let note = |key: &str, value: Option<String>| KeyValue::new(key.to_owned(), value);
    let notes = vec![
        note("hook", header.map(|header| header.hook_command.clone())),
        note("machine", header.map(|header| header.machine.clone())),
        note("hookbench", header.map(|header| header.hookbench_version.clone())),
    ];
    write_rows(out, &rows, notes).map_err(|error| Failure::Internal(format!("{}: {error}", file.display())))
}

fn write_rows(out: File, rows: &[Row<'_>], notes: Vec<KeyValue>) -> Result<(), ParquetError> {
    write_groups(out, SCHEMA, notes, rows, |group: &mut Group<'_, '_, Row<'_>>| {
        group.text(|row| &row.step.scenario)?;
        group.text(|row| &row.step.step)?;
        group.int(|row| i32::try_from(row.call.round).unwrap_or(i32::MAX))?;
        group.text(|row| row.arm.name())?;
        group.text(|row| &row.step.event)?;
        group.long(|row| row.call.wall_us)?;
        group.long(|row| row.call.exit_us)?;
        group.long(|row| row.call.cpu_us)?;
        group.maybe(|row| row.floor.map(|floor| floor.wall_us.round() as u64))?;
        group.maybe(|row| row.floor.map(|floor| floor.cpu_us.round() as u64))?;
        group.long(|row| row.call.injected_utf16)?;
        group.long(|row| row.call.injected_bytes)?;
        group.flag(|row| row.call.truncated)?;
        group.flag(|row| row.call.passed)?;
        group.maybe(|row| row.call.peak_memory_bytes)?;
        group.maybe(|row| row.call.late_us)?;
        group.flag(|row| row.call.cold)
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at a surprise")]

    use std::time::Duration;

    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::{Field, RowAccessor};

    use super::*;
    use crate::summary::fixture::{run, step};

    #[test]
    fn what_is_read_back_is_what_was_measured() {
        let mut late = step("s", "x", 0, 1);
        late.late = Some(Duration::from_micros(250));
        late.truncated = true;
        late.observation.peak_memory_bytes = None;
        let mut other = step("s", "x", 0, 0);
        other.arm = Arm::Baseline;
        // A scenario without no-op children has no floor.
        let lone = step("t", "y", 0, 0);
        let summary = Summary::of(&run(2, [step("s", "x", 0, 0), late, other, lone]));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("calls.parquet");
        write(&summary, &file).unwrap();

        let reader = SerializedFileReader::new(File::open(&file).unwrap()).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        let named = |row: &parquet::record::Row, name: &str| {
            row.get_column_iter().find(|(column, _)| *column == name).map(|(_, field)| field.clone()).unwrap()
        };
        let arms: Vec<String> = rows.iter().map(|row| row.get_string(3).unwrap().clone()).collect();
        assert_eq!(arms, ["candidate", "candidate", "candidate", "baseline"]);
        assert_eq!(named(&rows[0], "wall_us"), Field::Long(3_000));
        assert_eq!(named(&rows[0], "exit_us"), Field::Long(2_900));
        assert_eq!(named(&rows[0], "cpu_us"), Field::Long(2_000));
        assert_eq!(named(&rows[0], "floor_wall_us"), Field::Long(1_000));
        assert_eq!(named(&rows[0], "floor_cpu_us"), Field::Long(500));
        assert_eq!(named(&rows[0], "late_us"), Field::Null);
        assert_eq!(named(&rows[0], "peak_memory_bytes"), Field::Long(5 << 20));
        assert_eq!(named(&rows[1], "round"), Field::Int(1));
        assert_eq!(named(&rows[1], "late_us"), Field::Long(250));
        assert_eq!(named(&rows[1], "truncated"), Field::Bool(true));
        assert_eq!(named(&rows[1], "peak_memory_bytes"), Field::Null);
        assert_eq!(named(&rows[2], "scenario"), Field::Str("t".to_owned()));
        assert_eq!(named(&rows[2], "floor_wall_us"), Field::Null);
        assert_eq!(named(&rows[3], "event"), Field::Str("UserPromptSubmit".to_owned()));
        assert_eq!(rows.len(), 4);
    }
}
