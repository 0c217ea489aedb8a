//! Rounds that can be cancelled. A leaf that begins after a request to stop is skipped, and the round's total tells all
//! ranks about it.
//!
//! To that end, a partial has an additional number, which counts the skipped leaves. If the round has several keys, the
//! count is an additional key. So the usual all-reduce leads all ranks to the same decision, whichever rank received
//! the request. No rank waits for a rank that has ended.

use std::ops::Range;

use lehr_ranks::observe::Interrupt;
use lehr_ranks::timing::{Phases, Spread};
use lehr_ranks::trace::Trace;
use lehr_ranks::{CellBytes, Error, Partition, Pending, Round, Rounds};

/// The rounds of one step, with a stop signal.
pub(crate) struct CancellableRounds<'a> {
    rounds: &'a mut dyn Rounds,
    /// The stop signal; `None`, on all ranks, if the step cannot be interrupted.
    interrupt: Option<&'a Interrupt>,
    total: Vec<f64>,
    is_given_up: bool,
}

impl<'a> CancellableRounds<'a> {
    pub fn new(rounds: &'a mut dyn Rounds, interrupt: Option<&'a Interrupt>) -> Self {
        Self { rounds, interrupt, total: Vec::new(), is_given_up: false }
    }

    /// Whether a round ended with [`Error::Cancelled`] because the step was abandoned, on this rank or another. It is
    /// the same on all ranks.
    pub fn is_given_up(&self) -> bool {
        self.is_given_up
    }

    /// Returns the result of a part that cannot be resumed, such as the beginning of a run. If the part was abandoned,
    /// returns [`Error::Stopped`](crate::Error::Stopped).
    pub fn outcome<T>(&self, result: Result<T, crate::Error>) -> Result<T, crate::Error> {
        if self.is_given_up { Err(crate::Error::Stopped) } else { result }
    }
}

/// A round that also counts skipped leaves, after its own numbers.
struct Heeded<'a> {
    round: &'a dyn Round,
    interrupt: Option<&'a Interrupt>,
}

impl Heeded<'_> {
    fn has_one_key(&self) -> bool {
        self.round.key_len() >= self.round.len()
    }

    /// The position of the count of skipped leaves: after the round's numbers, in its own key if the round has several.
    fn mark(&self) -> Option<Range<usize>> {
        self.interrupt?;
        let (len, key_len) = (self.round.len(), self.round.key_len());
        if self.has_one_key() {
            return Some(len..len + 1);
        }
        let start = len.next_multiple_of(key_len);
        Some(start..start + key_len)
    }
}

impl Round for Heeded<'_> {
    fn len(&self) -> usize {
        self.mark().map_or(self.round.len(), |mark| mark.end)
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let (own, rest) = partial.split_at_mut(self.round.len());
        let is_left_out = self.interrupt.is_some_and(Interrupt::is_asked);
        rest.fill(f64::from(u8::from(is_left_out)));
        if is_left_out {
            own.fill(0.0);
        } else {
            self.round.map(leaf, own);
        }
    }

    fn combine(&self, left: &mut [f64], right: &[f64]) {
        if self.interrupt.is_none() || !self.has_one_key() {
            // The count is an ordinary key, and rounds with several keys add them up.
            return self.round.combine(left, right);
        }
        let len = self.round.len();
        self.round.combine(&mut left[..len], &right[..len]);
        left[len] += right[len];
    }

    fn key_len(&self) -> usize {
        if self.has_one_key() { self.len().max(1) } else { self.round.key_len() }
    }

    fn name(&self) -> &'static str {
        self.round.name()
    }
}

impl Rounds for CancellableRounds<'_> {
    fn round<'a>(&'a mut self, round: &'a dyn Round, total: &'a mut [f64]) -> Pending<'a, ()> {
        Box::pin(async move {
            let heeded = Heeded { round, interrupt: self.interrupt };
            let Some(mark) = heeded.mark() else { return self.rounds.round(&heeded, total).await };
            // A round over no leaves leaves the total unchanged, so the previous values are copied.
            self.total.clear();
            self.total.extend_from_slice(total);
            self.total.resize(heeded.len(), 0.0);
            self.rounds.round(&heeded, &mut self.total).await?;
            if self.total[mark.start] > 0.0 {
                self.is_given_up = true;
                return Err(Error::Cancelled { rank: 0 });
            }
            total.copy_from_slice(&self.total[..round.len()]);
            Ok(())
        })
    }

    fn agree(&mut self, flag: bool) -> Pending<'_, bool> {
        self.rounds.agree(flag)
    }

    fn is_lead(&self) -> bool {
        self.rounds.is_lead()
    }

    fn is_first_here(&self) -> bool {
        self.rounds.is_first_here()
    }

    fn share_bytes<'a>(&'a mut self, cells: &'a dyn CellBytes) -> Pending<'a, ()> {
        self.rounds.share_bytes(cells)
    }

    fn record<'a>(&'a mut self, trace: &'a Trace) -> Pending<'a, ()> {
        self.rounds.record(trace)
    }

    fn note_phase(&mut self, name: &'static str) {
        self.rounds.note_phase(name);
    }

    fn gather_timers<'a>(&'a mut self, trace: &'a Trace, phases: Phases) -> Pending<'a, Vec<Spread>> {
        self.rounds.gather_timers(trace, phases)
    }

    fn partition(&self) -> Partition {
        self.rounds.partition()
    }

    fn leaves(&self) -> Range<usize> {
        self.rounds.leaves()
    }

    fn imbalance(&self) -> f64 {
        self.rounds.imbalance()
    }
}
