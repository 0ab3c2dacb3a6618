//! What is called for a step: one hook, a chain of hooks on one event, or the hooks of a settings file.
//!
//! Guarantees the host's choice: of a settings file the hooks whose matcher and condition fit the payload, in the order
//! of the file, and of identical hooks one. All chosen hooks run side by side. A step for which a settings file has no
//! hook is a step without a call: the world around it moves on, and there is neither a process nor a result.
//!
//! Not here: running anything, what the host makes of several answers (`delivered`), and one rule of client 2.1.332
//! that is not played: a hook that refuses a prompt ends the hooks beside it. Here they run to their end.
//!
//! - `settings`: a settings file as a target
//! - `condition`: the `if` of its entries
//! - `given`: from flags to a target
//! - `whole`: several observations as one

mod condition;
mod given;
mod settings;
mod whole;

use std::time::Duration;

use hook_contract::{Event, HostProfile};

pub use self::given::{Given, bundled};
pub use self::settings::SettingsFile;
pub use self::whole::{blame, whole};
use crate::hook::Hook;
use crate::scenario::{Scenario, Step};

/// What is called.
#[derive(Debug, Clone)]
pub struct Target {
    source: Source,
}

#[derive(Debug, Clone)]
enum Source {
    Hooks(Vec<Hook>),
    Settings(Box<SettingsFile>),
}

/// A scenario with the client that it is replayed as.
pub type Planned = (Scenario, &'static HostProfile);

/// A hook that runs for a step, with what its entry says about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// The hook.
    pub hook: Hook,
    /// The host's limit for it; `None` where it was never measured.
    pub limit: Option<Duration>,
    /// The host does not wait for it (`async: true`).
    pub background: bool,
    /// A failure blocks (`onFailure: "block"`).
    pub failure_blocks: bool,
    /// The arguments that a step adds go to it; an entry of a settings file has its own.
    pub takes_args: bool,
}

impl From<Hook> for Target {
    fn from(hook: Hook) -> Target {
        Target::chain(vec![hook])
    }
}

impl Target {
    /// Hooks that all run on every event. Identical ones run once, as the host has it.
    pub fn chain(hooks: Vec<Hook>) -> Target {
        let mut distinct: Vec<Hook> = Vec::new();
        for hook in hooks {
            if distinct.iter().all(|known| known.program != hook.program) {
                distinct.push(hook);
            }
        }
        Target { source: Source::Hooks(distinct) }
    }

    /// The hooks of a settings file.
    pub fn settings(file: SettingsFile) -> Target {
        Target { source: Source::Settings(Box::new(file)) }
    }

    /// Its name in reports: the command, `chain: A & B`, or the settings file with the number of its hooks.
    pub fn shown(&self) -> String {
        match &self.source {
            Source::Hooks(hooks) => match hooks.as_slice() {
                [hook] => hook.shown.clone(),
                hooks => {
                    let names: Vec<&str> = hooks.iter().map(|hook| hook.shown.as_str()).collect();
                    format!("chain: {}", names.join(" & "))
                }
            },
            Source::Settings(file) => file.shown(),
        }
    }

    /// The hooks that the host runs for this step; none when a settings file has none for it.
    pub fn choose(&self, host: &HostProfile, step: &Step) -> Vec<Chosen> {
        let event = Event::parse(&step.event);
        match &self.source {
            Source::Hooks(hooks) => {
                let limit = event.and_then(|event| event.facts().timeout);
                let plain = |hook: &Hook| Chosen {
                    hook: hook.clone(),
                    limit,
                    background: false,
                    failure_blocks: false,
                    takes_args: true,
                };
                hooks.iter().map(plain).collect()
            }
            Source::Settings(file) => event.map_or_else(Vec::new, |event| file.choose(host, event, step)),
        }
    }

    /// Leaves out the scenarios in which nothing would be called, and tells the target's name with the number of steps
    /// without a call: they give no result, so no other place can tell.
    pub fn narrow(&self, scenarios: Vec<(Scenario, &'static HostProfile)>) -> (Vec<Planned>, String) {
        let Source::Settings(_) = self.source else { return (scenarios, self.shown()) };
        let n_steps: usize = scenarios.iter().map(|(scenario, _)| scenario.steps.len()).sum();
        let n_called = |(scenario, host): &Planned| {
            scenario.steps.iter().filter(|step| !self.choose(host, step).is_empty()).count()
        };
        let kept: Vec<Planned> = scenarios.into_iter().filter(|planned| n_called(planned) > 0).collect();
        let n_uncalled = n_steps - kept.iter().map(n_called).sum::<usize>();
        let name = match n_uncalled {
            0 => self.shown(),
            _ => format!("{}, no hook for {n_uncalled} of {n_steps} steps", self.shown()),
        };
        (kept, name)
    }

    /// The only hook; `None` for a chain of several and for a settings file.
    pub fn single(&self) -> Option<&Hook> {
        match self.hooks() {
            Some([hook]) => Some(hook),
            _ => None,
        }
    }

    /// The hooks of a chain; `None` for a settings file.
    pub fn hooks(&self) -> Option<&[Hook]> {
        match &self.source {
            Source::Hooks(hooks) => Some(hooks),
            Source::Settings(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identical_hooks_of_a_chain_are_one() {
        let (a, b) = (Hook::shell("a"), Hook::shell("b"));
        let chain = Target::chain(vec![a.clone(), b.clone(), a.clone()]);
        assert_eq!(chain.hooks(), Some([a.clone(), b].as_slice()));
        assert_eq!(chain.shown(), "chain: a & b");
        assert_eq!(Target::chain(vec![a.clone(), a]).shown(), "a");
        // The same words with and without a shell are two programs.
        assert_eq!(Target::chain(vec![Hook::shell("a"), Hook::exec(vec!["a".to_owned()])]).shown(), "chain: a & a");
    }
}
