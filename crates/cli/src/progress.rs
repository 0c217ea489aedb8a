//! What a person sees while a run goes on, and what is saved of it.
//!
//! [`Watch`] is the run's observer. Once a step it moves the bar (on a terminal) or prints a line (in a pipe, seldom enough
//! to read), looks whether a stop was asked for, and every two seconds puts the checkpoint on disk if it is time.

pub mod gtm;
mod kmeans;
pub mod matrix;
mod minibatch;
pub mod mixture;
pub mod pairs;
pub mod placing;

use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lehr_mining::anneal::{self, Checkpoint, Control, Observer, Progress, Stage};
use lehr_ranks::timing::Stopwatch;
use lehr_ranks::trace::Trace;

use crate::clustering::NATS;
use crate::interrupt::Interrupt;
use crate::numbers::{counted, duration, quantity, significant};
use crate::output;

/// Seconds between checkpoints; the first comes sooner, so that a run worth keeping is kept early.
pub const CHECKPOINT_SECONDS: f64 = 2.0;
const CHECKPOINT_SECONDS_FIRST: f64 = 0.25;

/// Seconds between lines in a pipe, at first; later a twentieth of the time gone by, so that a long run's log stays short.
const LINE_SECONDS: f64 = 1.0;

/// Below this share of the work done, an estimate of the time left would be a guess.
const FRACTION_MIN: f64 = 0.02;

/// How far the bar is divided.
const BAR_PARTS: u64 = 1000;

/// The observer of one run.
pub struct Watch<'a> {
    display: Display,
    interrupt: &'a mut Interrupt,
    checkpoint: PathBuf,
    run: Stopwatch,
    since_checkpoint: Stopwatch,
    stopping: bool,
    saved: Saved,
    units: Units,
    trace: Option<Trace>,
}

/// The units of what is shown.
#[derive(Clone, Copy)]
pub struct Units {
    /// Of distances; may be empty.
    pub length: &'static str,
    /// Of temperatures and free energy; may be empty.
    pub temperature: &'static str,
}

/// What became of the checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saved {
    /// None has been written yet.
    Nothing,
    /// The last one that was due is on disk.
    Checkpoint,
    /// The last attempt failed, with these words.
    Failed(String),
}

enum Display {
    Bar(ProgressBar),
    Lines { last: Option<f64> },
    Silent,
}

impl<'a> Watch<'a> {
    /// A watch over a run whose checkpoint goes to `checkpoint` and whose ranks note in `trace`; shows nothing if `quiet`.
    pub fn new(
        interrupt: &'a mut Interrupt,
        checkpoint: PathBuf,
        units: Units,
        quiet: bool,
        trace: Option<Trace>,
    ) -> Self {
        let display = if quiet {
            Display::Silent
        } else if output::is_watched() {
            Display::Bar(bar())
        } else {
            Display::Lines { last: None }
        };
        Watch {
            display,
            interrupt,
            checkpoint,
            run: Stopwatch::start(),
            since_checkpoint: Stopwatch::start(),
            stopping: false,
            saved: Saved::Nothing,
            units,
            trace,
        }
    }

    /// Takes the bar away and tells what became of the checkpoint.
    pub fn finish(self) -> Saved {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
        self.saved
    }

    /// Whether a temperature is that of a squared length.
    fn has_length(&self) -> bool {
        self.units.temperature != NATS
    }

    fn line(&self, progress: &Progress<'_>) -> String {
        let step = progress.step;
        let mut parts = vec![progress.stage.to_string()];
        if matches!(progress.stage, Stage::Refining | Stage::Labelling) {
            // The last temperature is behind: what it was is no news.
            parts.push(counted(step.clusters as u64, "cluster"));
            return parts.join(", ");
        }
        if step.temperature > 0.0 {
            let temperature = quantity(step.temperature, self.units.temperature);
            let length = self.has_length().then(|| quantity((step.temperature / 2.0).sqrt(), self.units.length));
            let length = length.map_or_else(String::new, |length| format!(" (length {length})"));
            parts.push(format!("temperature {temperature}{length}"));
        }
        parts.push(counted(step.clusters as u64, "cluster"));
        parts.push(format!("free energy {}", quantity(step.free_energy, self.units.temperature)));
        parts.join(", ")
    }

    /// The same in the 60 columns that a narrow terminal has beside the bar.
    fn brief(&self, progress: &Progress<'_>) -> String {
        let step = progress.step;
        let clusters = counted(step.clusters as u64, "cluster");
        if matches!(progress.stage, Stage::Refining | Stage::Labelling) || step.temperature <= 0.0 {
            return format!("{clusters}, {}", progress.stage);
        }
        let short = |value: f64, unit: &str| {
            let value = significant(value, 3);
            if unit.is_empty() { value } else { format!("{value} {unit}") }
        };
        let length = self.has_length().then(|| short((step.temperature / 2.0).sqrt(), self.units.length));
        let length = length.map_or_else(String::new, |length| format!(" ({length})"));
        let temperature = short(step.temperature, self.units.temperature);
        let free_energy = short(step.free_energy, self.units.temperature);
        format!("{clusters}, T {temperature}{length}, F {free_energy}")
    }

    /// Shows how far the run is, if that is known, `brief` beside a bar or `line` in a log, and says whether it is to go on.
    fn show(&mut self, fraction: impl Into<Option<f64>>, brief: &str, line: &str) -> Control {
        let known = fraction.into();
        let fraction = known.unwrap_or(0.0).clamp(0.0, 1.0);
        match &self.display {
            Display::Bar(bar) => {
                // The estimate may fall when a split brings new work; a bar that goes backwards only worries people.
                bar.set_position(bar.position().max((fraction * BAR_PARTS as f64) as u64));
                let left = self.left(fraction).map_or(String::new(), |left| format!(", {left}"));
                bar.set_message(format!("{brief}{left}"));
            }
            Display::Lines { last } => {
                let now = self.run.seconds();
                if last.is_none_or(|last| now - last >= LINE_SECONDS.max(now / 20.0)) {
                    let left = self.left(fraction).map_or(String::new(), |left| format!(", {left}"));
                    let share = known.map_or(String::new(), |_| format!("{:3.0} %, ", 100.0 * fraction));
                    output::progress(&format!("{share}{line}{left}"));
                    self.display = Display::Lines { last: Some(now) };
                }
            }
            Display::Silent => {}
        }
        self.control()
    }

    /// Whether the run is to go on.
    fn control(&mut self) -> Control {
        self.stopping |= self.interrupt.is_requested();
        if self.stopping { Control::Stop } else { Control::Continue }
    }

    /// Writes the checkpoint if it is time.
    fn save(&mut self, write: impl FnOnce(&Path) -> Result<(), lehr_mining::Error>) {
        // Looked at here too: a stop may have been asked for in another stage than the one that reports progress.
        self.stopping |= self.interrupt.is_requested();
        let due = if self.saved == Saved::Nothing { CHECKPOINT_SECONDS_FIRST } else { CHECKPOINT_SECONDS };
        if !self.stopping && self.since_checkpoint.seconds() < due {
            return;
        }
        self.saved = match write(self.checkpoint.as_path()) {
            Ok(()) => Saved::Checkpoint,
            Err(error) => Saved::Failed(error.to_string()),
        };
        self.since_checkpoint = Stopwatch::start();
    }

    fn left(&self, fraction: f64) -> Option<String> {
        (FRACTION_MIN..1.0).contains(&fraction).then(|| {
            let seconds = self.run.seconds() * (1.0 - fraction) / fraction;
            if seconds < 1.0 { "1 s left".to_owned() } else { format!("{} left", duration(seconds.round())) }
        })
    }
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress<'_>) -> Control {
        let (brief, line) = (self.brief(progress), self.line(progress));
        self.show(progress.fraction, &brief, &line)
    }

    fn checkpoint(&mut self, checkpoint: &Checkpoint) {
        self.save(|path| checkpoint.write(path));
    }

    fn interrupt(&self) -> Option<anneal::Interrupt> {
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

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(BAR_PARTS), ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{bar:12} {percent:>3} %  {wide_msg}") {
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar
}
