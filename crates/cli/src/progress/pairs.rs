//! The same for dissimilarities of all pairs: the observer of [`lehr_distances::all_pairs`].

use std::path::PathBuf;

use lehr_distances::checkpoint::Log;
use lehr_distances::{Control, Error, Finished, Observer, Progress};
use lehr_ranks::timing::Stopwatch;

use super::{BAR_PARTS, Display, FRACTION_MIN, LINE_SECONDS, Saved, bar};
use crate::interrupt::Interrupt;
use crate::numbers::{duration, grouped, significant};
use crate::output;

/// How a log begins, when there is something to keep.
type Begin<'a> = Box<dyn FnMut(&std::path::Path) -> Result<Log, Error> + Send + 'a>;

/// Watches one run.
pub struct PairWatch<'a> {
    display: Display,
    interrupt: &'a mut Interrupt,
    path: PathBuf,
    log: Option<Log>,
    begin: Begin<'a>,
    run: Stopwatch,
    since_checkpoint: Stopwatch,
    /// Seconds between two looks at what is finished.
    every: f64,
    stopping: bool,
    saved: Saved,
    /// Pairs that were finished when this run began.
    before: Option<u64>,
}

impl<'a> PairWatch<'a> {
    /// A watch over a run whose finished steps go to `log`, or to one that `begin` makes at `path`, `every` so many seconds; shows nothing if `quiet`.
    pub fn new(
        interrupt: &'a mut Interrupt,
        path: PathBuf,
        log: Option<Log>,
        begin: impl FnMut(&std::path::Path) -> Result<Log, Error> + Send + 'a,
        every: f64,
        quiet: bool,
    ) -> Self {
        let display = if quiet {
            Display::Silent
        } else if output::is_watched() {
            Display::Bar(bar())
        } else {
            Display::Lines { last: None }
        };
        let saved = if log.is_some() { Saved::Checkpoint } else { Saved::Nothing };
        PairWatch {
            display,
            interrupt,
            path,
            log,
            begin: Box::new(begin),
            run: Stopwatch::start(),
            since_checkpoint: Stopwatch::start(),
            every,
            stopping: false,
            saved,
            before: None,
        }
    }

    /// Takes the bar away and tells what became of the checkpoint.
    pub fn finish(self) -> Saved {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
        self.saved
    }

    /// Keeps what is finished.
    fn keep(&mut self, finished: &Finished<'_>) -> Result<(), Error> {
        let log = match self.log.take() {
            Some(log) => log,
            None => (self.begin)(&self.path)?,
        };
        self.log.insert(log).append(finished)
    }
}

impl Observer for PairWatch<'_> {
    fn progress(&mut self, Progress { done, pairs }: Progress) -> Control {
        let (fraction, now) = (done as f64 / pairs.max(1) as f64, self.run.seconds());
        // What an earlier run finished took this one no time.
        let own = done - *self.before.get_or_insert(done);
        let rate = if now > 0.0 { own as f64 / now } else { 0.0 };
        let left = if rate > 0.0 && (FRACTION_MIN..1.0).contains(&fraction) {
            format!(", {} left", duration(((pairs - done) as f64 / rate).max(1.0).round()))
        } else {
            String::new()
        };
        let speed = if rate > 0.0 { format!(", {} a second", significant(rate, 3)) } else { String::new() };
        let text = format!("{} of {} pairs{speed}{left}", grouped(done), grouped(pairs));
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

    fn finished(&mut self, finished: &Finished<'_>) {
        self.stopping |= self.interrupt.is_requested();
        if !self.stopping && self.since_checkpoint.seconds() < self.every {
            return;
        }
        self.saved = match self.keep(finished) {
            Ok(()) => Saved::Checkpoint,
            Err(error) => Saved::Failed(error.to_string()),
        };
        self.since_checkpoint = Stopwatch::start();
    }
}
