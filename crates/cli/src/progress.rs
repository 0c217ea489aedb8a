//! The progress that a person sees during a run, and the checkpoints.
//!
//! [`Watch`] is the observer of every run. Once a step it moves the bar (on a terminal) or prints a line (in a pipe,
//! seldom enough to read). Then it checks whether a stop was requested. It writes the checkpoint every two seconds. Its
//! text is made from the figures that the method reports: [`TABLE`] has the words for each.

use std::path::PathBuf;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lehr_mining::anneal::{self, AnyCheckpoint, Control, Observer, Progress};
use lehr_ranks::timing::Stopwatch;
use lehr_ranks::trace::Trace;

use crate::interrupt::Interrupt;
use crate::output;
use lehr_methods::numbers::{batches, counted, duration, grouped, quantity, significant};

/// The seconds between checkpoints. The first one is written sooner, so that little work can be lost early.
pub const CHECKPOINT_SECONDS: f64 = 2.0;
const CHECKPOINT_SECONDS_FIRST: f64 = 0.25;

/// The seconds between lines in a pipe, at first. Later it is a twentieth of the elapsed time, so that the log of a
/// long run stays short.
const LINE_SECONDS: f64 = 1.0;

/// The least share of the work that must be done before the time left is estimated, because earlier estimates would be
/// guesses.
const FRACTION_MIN: f64 = 0.02;

/// The number of parts of the bar.
const BAR_PARTS: u64 = 1000;

/// Puts a figure into words.
type Words = fn(f64, &Telling<'_>) -> String;

/// The words for each figure, in the order of a line; other figures are not shown.
const TABLE: [(&str, Words); 12] = [
    ("done", done),
    ("batches", |number, _| batches(number as u64)),
    ("iteration", |number, _| format!("iteration {}", grouped(number as u64))),
    ("stress", |stress, _| format!("stress {}", significant(stress, 4))),
    ("temperature", temperature),
    ("components", |number, _| counted(number as u64, "component")),
    ("clusters", |number, _| counted(number as u64, "cluster")),
    ("starts", |number, _| format!("{} done", counted(number as u64, "start"))),
    ("free_energy", free_energy),
    ("log_likelihood", log_likelihood),
    ("objective", log_likelihood),
    ("mean_cost", mean_cost),
];

/// The observer of one run.
pub struct Watch {
    display: Display,
    interrupt: anneal::Interrupt,
    /// The path of the checkpoint, if it is kept.
    checkpoint: Option<PathBuf>,
    units: Units,
    trace: Option<Trace>,
    run: Stopwatch,
    since_checkpoint: Stopwatch,
    /// The first report that had a share of the work.
    first: Option<First>,
    saved: Saved,
}

/// The units of the figures shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Units {
    /// The unit of distances, which may be empty; `None` if the temperature does not correspond to a squared distance.
    pub length: Option<&'static str>,
    /// The unit of temperatures and free energy; may be empty.
    pub temperature: &'static str,
}

/// The state of the checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Saved {
    /// No checkpoint has been written yet.
    Nothing,
    /// The last checkpoint that was due is on disk.
    Checkpoint,
    /// The last attempt failed, with this message.
    Failed(String),
}

enum Display {
    Bar(ProgressBar),
    Lines { last: Option<f64> },
    Silent,
}

/// The progress of a run at its first report. The speed is measured from there, because work of an earlier run took
/// this one no time.
#[derive(Clone, Copy)]
struct First {
    seconds: f64,
    fraction: f64,
    done: f64,
}

/// A report, to be put into words.
struct Telling<'a> {
    progress: &'a Progress,
    units: Units,
    /// The amount of work per second, once it is known.
    speed: Option<f64>,
    /// Whether to use only the 60 columns that a narrow terminal has next to the bar, instead of a log's whole line.
    is_brief: bool,
}

impl Watch {
    /// Creates the observer of a run. It writes the checkpoint to `checkpoint`, if one is kept, and shows nothing if
    /// `quiet`.
    pub fn new(interrupt: &Interrupt, checkpoint: Option<PathBuf>, units: Units, quiet: bool) -> Self {
        let display = if quiet {
            Display::Silent
        } else if output::is_watched() {
            Display::Bar(bar())
        } else {
            Display::Lines { last: None }
        };
        Watch {
            display,
            interrupt: interrupt.within_steps(),
            checkpoint,
            units,
            trace: None,
            run: Stopwatch::start(),
            since_checkpoint: Stopwatch::start(),
            first: None,
            saved: Saved::Nothing,
        }
    }

    /// Adds a trace, in which the ranks record their actions.
    pub fn noting(self, trace: Option<Trace>) -> Self {
        Watch { trace, ..self }
    }

    /// Removes the bar and returns the state of the checkpoint.
    pub fn finish(self) -> Saved {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
        self.saved
    }

    /// Shows the progress of the run, on a bar or in a log.
    fn show(&mut self, progress: &Progress) {
        let now = self.run.seconds();
        let fraction = progress.fraction.unwrap_or(0.0).clamp(0.0, 1.0);
        let done = progress.figure("done").unwrap_or(0.0);
        let news = First { seconds: now, fraction, done };
        let first = if progress.fraction.is_some() { *self.first.get_or_insert(news) } else { news };
        let seconds = now - first.seconds;
        let speed = Some((done - first.done) / seconds).filter(|speed| speed.is_finite() && *speed > 0.0);
        let left = seconds * (1.0 - fraction) / (fraction - first.fraction);
        let is_known = (FRACTION_MIN..1.0).contains(&fraction) && left.is_finite();
        let left = if is_known { format!(", {} left", duration(left.max(1.0).round())) } else { String::new() };
        let telling = |is_brief| Telling { progress, units: self.units, speed, is_brief };
        match &self.display {
            Display::Bar(bar) => {
                // The estimate may fall when a split brings new work; a bar that moves backwards would only worry
                // people.
                bar.set_position(bar.position().max((fraction * BAR_PARTS as f64) as u64));
                bar.set_message(format!("{}{left}", telling(true).text()));
            }
            Display::Lines { last } if last.is_none_or(|last| now - last >= LINE_SECONDS.max(now / 20.0)) => {
                let share = progress.fraction.map_or(String::new(), |_| format!("{:3.0} %, ", 100.0 * fraction));
                output::progress(&format!("{share}{}{left}", telling(false).text()));
                self.display = Display::Lines { last: Some(now) };
            }
            Display::Lines { .. } | Display::Silent => {}
        }
    }

    /// Writes the checkpoint if it is due, or if no other will follow.
    fn save(&mut self, checkpoint: &dyn AnyCheckpoint, is_last: bool) {
        let Some(path) = &self.checkpoint else { return };
        let due = if self.saved == Saved::Nothing { CHECKPOINT_SECONDS_FIRST } else { CHECKPOINT_SECONDS };
        // Check again, because a stop may have been requested since the last progress report.
        if !is_last && !self.interrupt.is_asked() && self.since_checkpoint.seconds() < due {
            return;
        }
        self.saved = match checkpoint.write(path) {
            Ok(()) => Saved::Checkpoint,
            Err(error) => Saved::Failed(error.to_string()),
        };
        self.since_checkpoint = Stopwatch::start();
    }
}

impl Observer for Watch {
    fn progress(&mut self, progress: &Progress) -> Control {
        // If only the first rows of a stream have been read, there is nothing to show yet.
        if !progress.figures.is_empty() {
            self.show(progress);
        }
        if self.interrupt.is_asked() { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.save(checkpoint, false);
    }

    fn interrupt(&self) -> Option<anneal::Interrupt> {
        Some(self.interrupt.clone())
    }

    fn interrupted(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.save(checkpoint, true);
    }

    fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }
}

impl Telling<'_> {
    fn text(&self) -> String {
        let mut parts = Vec::new();
        // The figures next to these stages say as much; if there is little room, a temperature implies annealing.
        let is_plain = matches!(&*self.progress.stage, "comparing" | "iterating" | "placing")
            || self.is_brief && &*self.progress.stage == "annealing" && self.progress.figure("temperature").is_some();
        if !is_plain {
            parts.push(self.progress.stage.to_string());
        }
        parts.extend(TABLE.iter().filter_map(|(name, text)| Some(text(self.progress.figure(name)?, self))));
        parts.join(", ")
    }
}

fn done(done: f64, telling: &Telling<'_>) -> String {
    let of = ["pairs", "items"].into_iter().find_map(|what| Some((telling.progress.figure(what)?, what)));
    let of = of.map_or(String::new(), |(all, what)| format!(" of {} {what}", grouped(all as u64)));
    let speed = telling.speed.map_or(String::new(), |speed| format!(", {} a second", significant(speed, 3)));
    format!("{}{of}{speed}", grouped(done as u64))
}

fn temperature(temperature: f64, telling: &Telling<'_>) -> String {
    let (name, length) = if telling.is_brief { ("T", "") } else { ("temperature", "length ") };
    let of = telling.units.length.map(|unit| format!(" ({length}{})", quantity((temperature / 2.0).sqrt(), unit)));
    format!("{name} {}{}", quantity(temperature, telling.units.temperature), of.unwrap_or_default())
}

fn free_energy(free_energy: f64, telling: &Telling<'_>) -> String {
    let name = if telling.is_brief { "F" } else { "free energy" };
    format!("{name} {}", quantity(free_energy, telling.units.temperature))
}

fn log_likelihood(log_likelihood: f64, _: &Telling<'_>) -> String {
    format!("log-likelihood {} a row", significant(log_likelihood, 6))
}

fn mean_cost(cost: f64, telling: &Telling<'_>) -> String {
    format!("root mean square distance {}", quantity(cost.sqrt(), telling.units.length.unwrap_or("")))
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(BAR_PARTS), ProgressDrawTarget::stderr_with_hz(10));
    if let Ok(style) = ProgressStyle::with_template("{bar:12} {percent:>3} %  {wide_msg}") {
        bar.set_style(style.progress_chars("━╸ "));
    }
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_a_line_whichever_method_reports_them() {
        let text = |stage: &'static str, figures: &[(&'static str, f64)], length, is_brief| {
            let progress = Progress { stage: stage.into(), fraction: Some(0.5), figures: figures.to_vec() };
            let units = Units { length, temperature: if length.is_some() { "km²" } else { "" } };
            Telling { progress: &progress, units, speed: Some(2500.0), is_brief }.text()
        };
        let annealed = [("clusters", 5.0), ("sweeps", 90.0), ("temperature", 8.0), ("free_energy", -1.5)];
        assert_eq!(
            text("annealing", &annealed, Some("km"), false),
            "annealing, temperature 8 km² (length 2 km), 5 clusters, free energy -1.500 km²"
        );
        assert_eq!(text("annealing", &annealed, Some("km"), true), "T 8 km² (2 km), 5 clusters, F -1.500 km²");
        assert_eq!(
            text("annealing", &annealed, None, false),
            "annealing, temperature 8, 5 clusters, free energy -1.500"
        );
        assert_eq!(text("refining", &annealed[..2], Some("km"), true), "refining, 5 clusters");
        let started = [("clusters", 1.0), ("sweeps", 9.0), ("starts", 2.0), ("mean_cost", 4.0)];
        assert_eq!(
            text("refining", &started, Some("km"), false),
            "refining, 1 cluster, 2 starts done, root mean square distance 2 km"
        );
        let batches = [("batches", 3.0), ("clusters", 5.0), ("sweeps", 3.0), ("mean_cost", 4.0)];
        assert_eq!(
            text("streaming", &batches, Some("km"), false),
            "streaming, 3 batches, 5 clusters, root mean square distance 2 km"
        );
        let fitted = [("components", 3.0), ("sweeps", 9.0), ("log_likelihood", -2.5)];
        assert_eq!(text("fitting", &fitted, Some("km"), false), "fitting, 3 components, log-likelihood -2.50000 a row");
        assert_eq!(
            text("fitting from the plane", &[("sweeps", 9.0), ("temperature", 1.0), ("objective", -2.5)], None, false),
            "fitting from the plane, temperature 1, log-likelihood -2.50000 a row"
        );
        let placed = [("start", 0.0), ("iteration", 1200.0), ("stress", 0.125)];
        assert_eq!(text("iterating", &placed, None, false), "iteration 1,200, stress 0.1250");
        let compared = [("done", 3000.0), ("pairs", 45000.0)];
        assert_eq!(text("comparing", &compared, None, false), "3,000 of 45,000 pairs, 2,500 a second");
        assert_eq!(text("placing", &[("done", 3.0), ("items", 9.0)], None, true), "3 of 9 items, 2,500 a second");
    }
}
