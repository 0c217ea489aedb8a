//! The same for methods on a matrix: the observer of pairwise clustering and of embedding.

use std::path::{Path, PathBuf};

use lehr_mining::anneal::{self, Control};
use lehr_mining::{Error, pairwise, smacof};
use lehr_ranks::timing::Stopwatch;

use super::{BAR_PARTS, CHECKPOINT_SECONDS, CHECKPOINT_SECONDS_FIRST, Display, FRACTION_MIN, LINE_SECONDS, Saved, bar};
use crate::interrupt::Interrupt;
use crate::numbers::{counted, duration, grouped, significant};
use crate::output;

/// Watches one run.
pub struct MatrixWatch<'a> {
    display: Display,
    interrupt: &'a mut Interrupt,
    path: Option<PathBuf>,
    run: Stopwatch,
    since_checkpoint: Stopwatch,
    stopping: bool,
    saved: Saved,
}

impl<'a> MatrixWatch<'a> {
    /// A watch over a run whose checkpoint goes to `path`, or is not kept; shows nothing if `quiet`.
    pub fn new(interrupt: &'a mut Interrupt, path: Option<PathBuf>, quiet: bool) -> Self {
        let display = if quiet {
            Display::Silent
        } else if output::is_watched() {
            Display::Bar(bar())
        } else {
            Display::Lines { last: None }
        };
        let (run, since_checkpoint) = (Stopwatch::start(), Stopwatch::start());
        Self { display, interrupt, path, run, since_checkpoint, stopping: false, saved: Saved::Nothing }
    }

    /// Takes the bar away and tells what became of the checkpoint.
    pub fn finish(self) -> Saved {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
        self.saved
    }

    fn show(&mut self, fraction: f64, what: &str) -> Control {
        let now = self.run.seconds();
        let left = if (FRACTION_MIN..1.0).contains(&fraction) {
            format!(", {} left", duration((now / fraction - now).max(1.0).round()))
        } else {
            String::new()
        };
        let text = format!("{what}{left}");
        match &self.display {
            Display::Bar(bar) => {
                bar.set_position((fraction * BAR_PARTS as f64) as u64);
                bar.set_message(text);
            }
            Display::Lines { last } => {
                if last.is_none_or(|last| now - last >= LINE_SECONDS.max(now / 20.0)) {
                    output::progress(&format!("{:3.0} %, {text}", 100.0 * fraction));
                    self.display = Display::Lines { last: Some(now) };
                }
            }
            Display::Silent => {}
        }
        self.stopping |= self.interrupt.is_requested();
        if self.stopping { Control::Stop } else { Control::Continue }
    }

    fn keep(&mut self, write: impl FnOnce(&Path) -> Result<(), Error>) {
        self.stopping |= self.interrupt.is_requested();
        let Some(path) = &self.path else { return };
        let due = if self.saved == Saved::Nothing { CHECKPOINT_SECONDS_FIRST } else { CHECKPOINT_SECONDS };
        if !self.stopping && self.since_checkpoint.seconds() < due {
            return;
        }
        self.saved = match write(path) {
            Ok(()) => Saved::Checkpoint,
            Err(error) => Saved::Failed(error.to_string()),
        };
        self.since_checkpoint = Stopwatch::start();
    }
}

impl anneal::Observer<pairwise::Checkpoint> for MatrixWatch<'_> {
    fn progress(&mut self, progress: &anneal::Progress<'_>) -> Control {
        let step = progress.step;
        let clusters = counted(step.clusters as u64, "cluster");
        let temperature = significant(step.temperature, 4);
        let what = format!("{}, {clusters} at temperature {temperature}", progress.stage);
        self.show(progress.fraction, &what)
    }

    fn checkpoint(&mut self, checkpoint: &pairwise::Checkpoint) {
        self.keep(|path| checkpoint.write(path));
    }

    fn interrupt(&self) -> Option<anneal::Interrupt> {
        Some(self.interrupt.within_steps())
    }

    fn interrupted(&mut self, checkpoint: &pairwise::Checkpoint) {
        self.stopping = true;
        self.keep(|path| checkpoint.write(path));
    }
}

impl smacof::Observer for MatrixWatch<'_> {
    fn progress(&mut self, progress: &smacof::Progress) -> Control {
        let iteration = grouped(progress.iteration);
        let what = format!("iteration {iteration}, stress {}", significant(progress.stress, 4));
        self.show(progress.fraction, &what)
    }

    fn checkpoint(&mut self, checkpoint: &smacof::Checkpoint) {
        self.keep(|path| checkpoint.write(path));
    }

    fn interrupt(&self) -> Option<anneal::Interrupt> {
        Some(self.interrupt.within_steps())
    }

    fn interrupted(&mut self, checkpoint: &smacof::Checkpoint) {
        self.stopping = true;
        self.keep(|path| checkpoint.write(path));
    }
}
