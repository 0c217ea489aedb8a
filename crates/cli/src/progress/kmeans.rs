//! How far the starts of k-means are.

use lehr_mining::anneal::{Control, Interrupt, Observer, Progress};
use lehr_mining::kmeans::Checkpoint;
use lehr_ranks::trace::Trace;

use super::Watch;
use crate::numbers::{counted, quantity};

/// Like those of annealing: what is done, then how many clusters.
fn line(progress: &Progress<'_>, unit: &str) -> String {
    let step = progress.step;
    let parts = [
        progress.stage.to_string(),
        counted(step.clusters as u64, "cluster"),
        format!("{} done", counted(step.index, "start")),
        format!("root mean square distance {}", quantity(step.mean_cost.sqrt(), unit)),
    ];
    parts.join(", ")
}

impl Observer<Checkpoint> for Watch<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Control {
        let line = line(progress, self.units.length);
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
