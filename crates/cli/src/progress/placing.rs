//! The same for items that are placed in a map, block by block.

use lehr_ranks::timing::Stopwatch;

use super::{BAR_PARTS, Display, FRACTION_MIN, LINE_SECONDS, bar};
use crate::interrupt::Interrupt;
use crate::numbers::{duration, grouped, significant};
use crate::output;

/// Watches one run.
pub struct PlaceWatch<'a> {
    display: Display,
    interrupt: &'a mut Interrupt,
    run: Stopwatch,
}

impl<'a> PlaceWatch<'a> {
    /// A watch that shows nothing if `quiet`.
    pub fn new(interrupt: &'a mut Interrupt, quiet: bool) -> Self {
        let display = if quiet {
            Display::Silent
        } else if output::is_watched() {
            Display::Bar(bar())
        } else {
            Display::Lines { last: None }
        };
        Self { display, interrupt, run: Stopwatch::start() }
    }

    /// Whether a stop was asked for.
    pub fn is_stopped(&mut self) -> bool {
        self.interrupt.is_requested()
    }

    /// Shows how many of `items` are placed, of which an earlier run placed `before`.
    pub fn show(&mut self, before: usize, done: usize, items: usize) {
        let (fraction, now) = (done as f64 / items.max(1) as f64, self.run.seconds());
        let rate = if now > 0.0 { (done - before) as f64 / now } else { 0.0 };
        let left = if rate > 0.0 && (FRACTION_MIN..1.0).contains(&fraction) {
            format!(", {} left", duration(((items - done) as f64 / rate).max(1.0).round()))
        } else {
            String::new()
        };
        let speed = if rate > 0.0 { format!(", {} a second", significant(rate, 3)) } else { String::new() };
        let text = format!("{} of {} items{speed}{left}", grouped(done as u64), grouped(items as u64));
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
    }

    /// Takes the bar away.
    pub fn finish(self) {
        if let Display::Bar(bar) = &self.display {
            bar.finish_and_clear();
        }
    }
}
