//! The gates of a command, by its flags.

use crate::cli::GateArgs;
use crate::failure::Failure;
use crate::gate::{Gate, load_gates};

/// Gates of the file and of the command line; none when none are wanted.
///
/// # Errors
/// Every mistake in them, with its place.
pub(super) fn gates(args: &GateArgs) -> Result<Vec<Gate>, Failure> {
    if args.no_gates {
        return Ok(Vec::new());
    }
    load_gates(args.gates_file.as_deref(), &args.gates)
}
