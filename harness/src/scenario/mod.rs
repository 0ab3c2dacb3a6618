//! A scenario: a sequence of payloads with its sandbox and its expectations, read from a folder.
//!
//! A [`Scenario`] is whole: every file it names was read, every pattern compiled, every placeholder checked.
//! What is left to go wrong is the file system and the hook. Nothing here starts a process or writes a file.
//! The format is described in `scenarios/FORMAT.md`; its wire types stand in `wire`, the checks in `convert`.

mod convert;
mod document;
pub mod filter;
mod host;
mod load;
pub mod pattern;
mod payload;
pub(crate) mod placeholder;
mod plan;
mod step;
mod wire;

use std::path::PathBuf;

pub use filter::Filter;
pub use host::HostRange;
pub use load::{discover, load, load_all};
pub use pattern::{Pattern, Replacement};
pub use plan::{Branch, Checkout, Command, Commit, GitRecipe, SandboxPlan, Worktree};
pub use step::{Action, Delivered, Expect, Fault, Permission, Put, Relevant, ScrubRule, StateCheck, Stdin, Step, Text};

use crate::problem::Source;

/// Version of the scenario format that this build writes and reads.
///
/// History: 1 — the first format; 1.1 — steps may have `at_ms`.
pub const SCHEMA_VERSION: u32 = 1;

/// Minor version: grows when keys are added. A file does not name it; an older build refuses the keys that it lacks.
///
/// History: 1.1 — tags of steps; 1.2 — filters in `scrub`, also of defaults and steps, and patterns in linear time.
pub const SCHEMA_MINOR: u32 = 2;

/// JSON Schema of `scenario.toml`, format 1.2.
pub fn schema() -> serde_json::Value {
    schemars::schema_for!(wire::ScenarioWire).to_value()
}

/// A sequence of steps with everything around it.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// Name of its folder.
    pub name: String,
    /// The folder.
    pub dir: PathBuf,
    /// One line: what it shows.
    pub title: String,
    /// The story.
    pub about: String,
    /// Where the payloads come from.
    pub provenance: String,
    /// Client versions it is for.
    pub host: HostRange,
    /// What is replaced in the delivered text of every step, in order.
    pub scrub: Vec<ScrubRule>,
    /// What stands around the hook before the first step.
    pub sandbox: SandboxPlan,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Text of `scenario.toml`, for problems that appear when the scenario is run.
    pub source: Source,
}

impl Scenario {
    /// Folder of the goldens; it need not exist.
    pub fn golden_dir(&self) -> PathBuf {
        self.dir.join("golden")
    }

    /// Names of the sessions that the steps belong to, each once, in order of appearance.
    pub fn sessions(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for step in &self.steps {
            if !names.contains(&step.session.as_str()) {
                names.push(&step.session);
            }
        }
        names
    }
}

#[cfg(test)]
mod tests;
