//! How far a run is, on the terminal of whoever waits for it. Nothing is drawn elsewhere.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

use crate::run_event::RunEvent;

/// A line that is drawn over and over, and gone in the end.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// None at all.
    pub fn hidden() -> Progress {
        Progress { bar: ProgressBar::hidden() }
    }

    /// Counts calls up to a known number.
    pub fn of_known_length(n_calls: u64) -> Progress {
        Progress::drawn(ProgressBar::new(n_calls), "{bar:30} {pos}/{len} {wide_msg}")
    }

    /// Counts calls whose number depends on what they show.
    pub fn of_unknown_length() -> Progress {
        Progress::drawn(ProgressBar::no_length(), "{spinner} {pos} calls, {elapsed} {wide_msg}")
    }

    fn drawn(bar: ProgressBar, template: &str) -> Progress {
        if !std::io::stderr().is_terminal() {
            return Progress::hidden();
        }
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Progress { bar }
    }

    /// Notes one event.
    pub fn observe(&self, event: &RunEvent) {
        if let RunEvent::StepFinished(step) = event {
            self.bar.inc(1);
            self.bar.set_message(format!("round {}: {} / {}", step.round, step.scenario, step.step));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
