//! The observer of a run, for any method.

use lehr_ranks::observe::{self, AnyCheckpoint, Control, Interrupt, Observer};

use crate::job::{Job, Progress};

/// An observer that reports progress and saves checkpoints for a job.
pub(crate) struct Watch<'a>(pub &'a Job);

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &observe::Progress) -> Control {
        let report = Progress::new(progress.fraction.unwrap_or(0.0), progress.stage.clone());
        self.0.report(progress.figures.iter().fold(report, |report, (name, value)| report.figure(*name, *value)));
        if self.0.is_stopping() { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.0.save_checkpoint(checkpoint);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.0.interrupt())
    }
}
