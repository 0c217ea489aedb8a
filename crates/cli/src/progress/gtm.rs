//! How far a fit of a map is.

use lehr_mining::anneal::{Control, Interrupt};
use lehr_mining::gtm::{Checkpoint, Observer, Progress, Start};
use lehr_ranks::trace::Trace;

use super::Watch;
use crate::numbers::significant;

fn line(progress: &Progress) -> String {
    let from = if progress.start == Start::Plane { " from the plane" } else { "" };
    let mut parts = vec![format!("{}{from}", progress.stage)];
    if progress.temperature > 0.0 {
        parts.push(format!("temperature {}", significant(progress.temperature, 4)));
    }
    if let Some(objective) = progress.objective {
        parts.push(format!("log-likelihood {} a row", significant(objective, 6)));
    }
    parts.join(", ")
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) -> Control {
        let line = line(progress);
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
