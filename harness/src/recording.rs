//! A run as it happens: every event is folded into the figures and written to the saved run, in this order.
//!
//! Guarantee: the summary is that of the events written. The first event that cannot be written ends the writing, not
//! the run, so that no hook is cut off; [`Recording::finish`] then tells.

use crate::gate::{Gate, Stored, judge_all};
use crate::progress::Progress;
use crate::record::{RecordFault, RunWriter};
use crate::replay::Stop;
use crate::run_event::RunEvent;
use crate::shard::left_to_merge;
use crate::summary::Summary;

/// A run so far.
pub struct Recording {
    summary: Summary,
    writer: Option<RunWriter>,
    fault: Option<RecordFault>,
    progress: Progress,
}

impl Recording {
    /// A run that is saved.
    pub fn saved(writer: RunWriter, progress: Progress) -> Recording {
        Recording { summary: Summary::default(), writer: Some(writer), fault: None, progress }
    }

    /// A run that goes on: what is saved already stands in `summary`.
    pub fn resumed(writer: RunWriter, summary: Summary, progress: Progress) -> Recording {
        Recording { summary, writer: Some(writer), fault: None, progress }
    }

    /// A run of which only the figures are wanted.
    pub fn unsaved(progress: Progress) -> Recording {
        Recording { summary: Summary::default(), writer: None, fault: None, progress }
    }

    /// Takes in one event.
    pub fn take(&mut self, event: RunEvent) {
        self.progress.observe(&event);
        self.summary.observe(&event);
        if let (Some(writer), None) = (&mut self.writer, &self.fault) {
            self.fault = writer.write(&event).err();
        }
    }

    /// Ends the events of a run: gates look at the whole of it, so they are judged on its figures and become its last
    /// events; a part of a run leaves them to `merge`. A run that the user stopped keeps what it has, and lacks its last event, which is how a reader knows.
    ///
    /// # Errors
    /// What else stopped the run.
    pub fn close(&mut self, outcome: Result<(), Stop>, gates: &[Gate], stored: &Stored) -> Result<(), Stop> {
        match outcome {
            Err(Stop::Interrupted) => return Ok(()),
            other => other?,
        }
        let shard = self.summary.header().and_then(|header| header.shard.as_ref());
        let judged = match shard.is_some_and(|shard| shard.total > 1) {
            true => gates.iter().map(left_to_merge).collect(),
            false => judge_all(gates, &self.summary, stored),
        };
        for event in judged.into_iter().map(RunEvent::GateJudged).chain([RunEvent::RunFinished]) {
            self.take(event);
        }
        Ok(())
    }

    /// The figures so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The figures in the end, of a run that is not saved.
    pub fn into_summary(self) -> Summary {
        self.summary
    }

    /// Ends the saved run.
    ///
    /// # Errors
    /// The first thing that could not be written.
    pub fn finish(self) -> Result<Summary, RecordFault> {
        if let Some(fault) = self.fault {
            return Err(fault);
        }
        if let Some(writer) = self.writer {
            writer.finish(&self.summary)?;
        }
        Ok(self.summary)
    }
}
