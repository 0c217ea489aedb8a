//! How far a stream is.

use lehr_mining::anneal::{Control, Observer, Progress, Stage};
use lehr_mining::minibatch::Checkpoint;
use lehr_ranks::trace::Trace;

use super::Watch;
use crate::numbers::{batches, counted, quantity};

impl Observer<Checkpoint> for Watch<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Control {
        // Of a stream of which nobody knows the length no share is shown.
        let fraction = Some(progress.fraction).filter(|fraction| *fraction > 0.0);
        if progress.stage != Stage::Streaming {
            let (brief, line) = (self.brief(progress), self.line(progress));
            return self.show(fraction, &format!("sample: {brief}"), &format!("sample: {line}"));
        }
        let step = progress.step;
        if step.index == 0 {
            // The sample has been read, and there is nothing to tell yet.
            return self.control();
        }
        let distance = quantity(step.mean_cost.sqrt(), self.units.length);
        let line = format!(
            "{}, {}, {}, root mean square distance {distance}",
            progress.stage,
            batches(step.index),
            counted(step.clusters as u64, "cluster"),
        );
        self.show(fraction, &line, &line)
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.save(|path| checkpoint.write(path));
    }

    fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }
}
