//! What a comparison shows of each step.

use clap::ValueEnum;

/// One kind of figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Instrument {
    /// Spawn to end of output.
    Wall,
    /// Processor time.
    Cpu,
    /// Peak memory.
    Mem,
    /// Instructions in user code.
    Instr,
}

impl Instrument {
    /// All of them, in the order of reports.
    pub const ALL: [Instrument; 4] = [Instrument::Wall, Instrument::Cpu, Instrument::Mem, Instrument::Instr];
}
