//! The parts of a run that all methods share: its parameters, the state to resume from, the observer, and the times.

use lehr_ranks::timing::{Phases, Spread};
use lehr_ranks::trace::Trace;

use super::checkpoint::{Checkpoint, Resumable};
use super::{Control, Interrupt, Observer, Progress};
use crate::Error;
use crate::round::{CancellableRounds, LeafCells, Rounds};

/// The parts that all ranks of a run share.
pub(crate) struct Run<'o, M: Resumable> {
    pub parameters: M,
    fingerprint: u64,
    /// The state to resume from.
    pub state: Option<M::State>,
    /// The times of the phases before the loops began.
    phases: Phases,
    pub trace: Trace,
    interrupt: Option<Interrupt>,
    /// The observer, in a single cell, which only the lead uses.
    observer: LeafCells<&'o mut dyn Observer>,
}

/// The time that a run took, and its balance over ranks.
#[derive(Debug)]
pub(crate) struct Spent {
    /// The number of rows on the rank with the most, divided by the mean.
    pub imbalance: f64,
    /// The seconds spent in each phase, by this process only.
    pub phases: Vec<(String, f64)>,
    /// The spread over ranks of the seconds; empty for engines without ranks.
    pub timers: Vec<Spread>,
}

/// A run of a method, as a series of steps. The state contains all that is needed to resume after any step.
pub(crate) trait Fit<M: Resumable>: Send {
    /// Calls `show` with the whole state. If `show` swaps parts out, it must put them back.
    fn with_state<T>(&mut self, show: impl FnOnce(&mut M::State) -> T) -> T;
    fn is_done(&self) -> bool;
    /// The name of the next step in timers and traces.
    fn phase(&self) -> &'static str;
    /// The run's progress, for its observer.
    fn progress(&mut self) -> Progress;
    /// Makes one step, such as a temperature or a group of trials. After an error, the state is invalid.
    fn advance(&mut self, rounds: &mut dyn Rounds) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Begins a phase in the timers and in the trace.
pub(crate) fn begin(rounds: &mut dyn Rounds, phases: &mut Phases, name: &'static str) {
    rounds.note_phase(name);
    phases.enter(name);
}

impl<'o, M: Resumable> Run<'o, M> {
    /// Creates a run over data with this fingerprint; with a state, the run resumes from it.
    pub fn new(
        fingerprint: u64,
        parameters: M,
        state: Option<M::State>,
        observer: &'o mut dyn Observer,
        phases: Phases,
    ) -> Self {
        let (trace, interrupt) = (observer.trace().cloned(), observer.interrupt());
        let mut observer = Some(observer);
        Self {
            parameters,
            fingerprint,
            state,
            phases,
            trace: trace.unwrap_or_else(Trace::sums_only),
            interrupt,
            observer: LeafCells::new(1, |_| observer.take().expect("one cell")),
        }
    }

    /// Returns the stop signal that the leaves of a step check. All ranks get `None` if the lead has no interrupt.
    pub async fn interrupt(&self, rounds: &mut dyn Rounds) -> Result<Option<Interrupt>, Error> {
        // Partials must have the same length on all ranks, so a process without its own interrupt gets one that never
        // fires.
        let can_interrupt = rounds.agree(self.interrupt.is_some()).await?;
        let own = || self.interrupt.clone().unwrap_or_else(|| Interrupt::when(|| false));
        Ok(can_interrupt.then(own))
    }

    /// Runs a fit to its end, and reports to the observer after each step.
    pub async fn walk<C: Fit<M>>(
        &self,
        rounds: &mut dyn Rounds,
        phases: &mut Phases,
        course: &mut C,
    ) -> Result<(), Error> {
        let is_lead = rounds.is_lead();
        let interrupt = self.interrupt(rounds).await?;
        let mut checkpoint = None;
        while !course.is_done() {
            if interrupt.is_some() && is_lead {
                self.remember(course, &mut checkpoint);
            }
            begin(rounds, phases, course.phase());
            let mut cancellable = CancellableRounds::new(rounds, interrupt.as_ref());
            let stepped = course.advance(&mut cancellable).await;
            let is_given_up = cancellable.is_given_up();
            phases.leave();
            if is_given_up {
                if let Some(begun) = &checkpoint {
                    self.observer.with(0, |observer| observer.interrupted(begun));
                }
                return Err(Error::Stopped);
            }
            stepped?;
            let stop = is_lead && self.tell(course, &mut checkpoint);
            if rounds.agree(stop).await? {
                return Err(Error::Stopped);
            }
        }
        Ok(())
    }

    /// Stores the state at the beginning of a step. Copying it takes far less time than a pass over the rows.
    fn remember<C: Fit<M>>(&self, course: &mut C, slot: &mut Option<Checkpoint<M>>) {
        let begun = course.with_state(|state| state.clone());
        match slot {
            Some(checkpoint) => checkpoint.state = begun,
            None => *slot = Some(Checkpoint::new(self.fingerprint, self.parameters.clone(), begun)),
        }
    }

    /// Reports the progress to the observer, then hands it the checkpoint. Returns whether the observer wants to stop.
    /// `slot` keeps the checkpoint between calls. Only the lead calls this.
    fn tell<C: Fit<M>>(&self, course: &mut C, slot: &mut Option<Checkpoint<M>>) -> bool {
        let progress = course.progress();
        let stop = self.observer.with(0, |observer| observer.progress(&progress)) == Control::Stop;
        course.with_state(|state| {
            // The observer receives a checkpoint after the last step too, because it may ask to stop there.
            let checkpoint =
                slot.get_or_insert_with(|| Checkpoint::new(self.fingerprint, self.parameters.clone(), state.clone()));
            // The state is swapped into the checkpoint for the call instead of being copied.
            std::mem::swap(&mut checkpoint.state, state);
            self.observer.with(0, |observer| observer.checkpoint(checkpoint));
            std::mem::swap(&mut checkpoint.state, state);
        });
        stop
    }

    /// Ends the trace and gathers the times of all ranks. Returns the result only in the first loop of each process.
    pub async fn end(&self, rounds: &mut dyn Rounds, phases: Phases) -> Result<Option<Spent>, Error> {
        let seconds = [self.phases.seconds(), phases.seconds()].concat();
        let timers = rounds.gather_timers(&self.trace, phases).await?;
        Ok(rounds.is_first_here().then(|| Spent { imbalance: rounds.imbalance(), phases: seconds, timers }))
    }
}
