//! A run as its ranks see it, for any method: its parameters, the state to resume from, the observer, and the time it
//! took.

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
    /// The phases before the loops began.
    phases: Phases,
    pub trace: Trace,
    interrupt: Option<Interrupt>,
    /// One cell; only the lead reaches for it.
    observer: LeafCells<&'o mut dyn Observer>,
}

/// The time and the passes of a run.
#[derive(Debug)]
pub(crate) struct Spent {
    /// The rows of the rank with the most rows, divided by the mean.
    pub imbalance: f64,
    /// Seconds by phase, of this process only.
    pub phases: Vec<(String, f64)>,
    /// Seconds over ranks; empty for engines that have no ranks.
    pub timers: Vec<Spread>,
}

/// A run of a method, one step at a time. Each step can be resumed: all that is needed is in the state.
pub(crate) trait Fit<M: Resumable>: Send {
    /// Shows the whole state; parts that are swapped out in between must be back at the end.
    fn with_state<T>(&mut self, show: impl FnOnce(&mut M::State) -> T) -> T;
    fn is_done(&self) -> bool;
    /// The name of the next step in timers and traces.
    fn phase(&self) -> &'static str;
    /// The run's progress, for its observer.
    fn progress(&mut self) -> Progress;
    /// One step, such as a temperature or a group of trials. If it fails, the remaining state is of no use.
    fn advance(&mut self, rounds: &mut dyn Rounds) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Begins a phase, in the timers and in the trace.
pub(crate) fn begin(rounds: &mut dyn Rounds, phases: &mut Phases, name: &'static str) {
    rounds.note_phase(name);
    phases.enter(name);
}

impl<'o, M: Resumable> Run<'o, M> {
    /// A run on the data of a hash, or one that resumes from a state.
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

    /// The stop signal that the leaves of a step check: none if the step cannot be interrupted, the same on all ranks.
    pub async fn interrupt(&self, rounds: &mut dyn Rounds) -> Result<Option<Interrupt>, Error> {
        // A partial has the same length on all ranks; a process without an interrupt of its own leaves nothing out.
        let can_interrupt = rounds.agree(self.interrupt.is_some()).await?;
        let own = || self.interrupt.clone().unwrap_or_else(|| Interrupt::when(|| false));
        Ok(can_interrupt.then(own))
    }

    /// Walks a course to its end and reports to the observer after each step.
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

    /// Keeps the state that a step begins with. A copy of it is far less than a pass over the rows.
    fn remember<C: Fit<M>>(&self, course: &mut C, slot: &mut Option<Checkpoint<M>>) {
        let begun = course.with_state(|state| state.clone());
        match slot {
            Some(checkpoint) => checkpoint.state = begun,
            None => *slot = Some(Checkpoint::new(self.fingerprint, self.parameters.clone(), begun)),
        }
    }

    /// Reports the progress to the observer, then offers it the checkpoint, which `slot` keeps from one call to the
    /// next. True if the observer wants to stop. On the lead only.
    fn tell<C: Fit<M>>(&self, course: &mut C, slot: &mut Option<Checkpoint<M>>) -> bool {
        let progress = course.progress();
        let stop = self.observer.with(0, |observer| observer.progress(&progress)) == Control::Stop;
        course.with_state(|state| {
            // At the last step too: whoever says stop is handed one.
            let checkpoint =
                slot.get_or_insert_with(|| Checkpoint::new(self.fingerprint, self.parameters.clone(), state.clone()));
            // The state is lent to the checkpoint for the call, not copied.
            std::mem::swap(&mut checkpoint.state, state);
            self.observer.with(0, |observer| observer.checkpoint(checkpoint));
            std::mem::swap(&mut checkpoint.state, state);
        });
        stop
    }

    /// Ends the trace and adds up the times of each rank; only in the loop that gives its process the outcome.
    pub async fn end(&self, rounds: &mut dyn Rounds, phases: Phases) -> Result<Option<Spent>, Error> {
        let seconds = [self.phases.seconds(), phases.seconds()].concat();
        let timers = rounds.gather_timers(&self.trace, phases).await?;
        Ok(rounds.is_first_here().then(|| Spent { imbalance: rounds.imbalance(), phases: seconds, timers }))
    }
}
