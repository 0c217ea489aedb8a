//! How far a fit of a mixture is.

use lehr_mining::anneal::{Control, Interrupt};
use lehr_mining::mixture::{Checkpoint, Observer, Progress};
use lehr_ranks::trace::Trace;

use super::Watch;
use crate::numbers::{counted, quantity, significant};

fn line(progress: &Progress, unit: &str) -> String {
    let mut parts = vec![counted(progress.components as u64, "component"), progress.stage.to_string()];
    if let Some(temperature) = progress.temperature {
        parts.push(format!("temperature {}", quantity(temperature, unit)));
    }
    if let Some(log_likelihood) = progress.log_likelihood {
        parts.push(format!("log-likelihood {} a row", significant(log_likelihood, 6)));
    }
    parts.join(", ")
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        let line = line(progress, self.units.temperature);
        self.show(progress.fraction, &line, &line)
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.save(|path| checkpoint.write(path));
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.interrupt.within_steps())
    }

    fn interrupted(&mut self, checkpoint: &Checkpoint) {
        self.stopping = true;
        self.save(|path| checkpoint.write(path));
    }

    fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }
}
