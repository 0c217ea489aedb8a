//! A run as its ranks see it, whatever the method: what it was told, where it goes on from, who watches it, and what it took.

use lehr_ranks::timing::{Phases, Spread};
use lehr_ranks::trace::Trace;

use super::checkpoint::{Checkpoint, Method};
use super::observe::{Control, Observer, Progress, Stage, Step};
use crate::Error;
use crate::round::{LeafCells, Rounds};

/// What all ranks of a run share. `O` is the trait by which it is watched.
pub(crate) struct Run<'o, M: Method, O: ?Sized> {
    pub parameters: M,
    fingerprint: u64,
    /// Where to go on from.
    pub state: Option<M::State>,
    /// What was done before the loops began.
    phases: Phases,
    pub trace: Trace,
    /// One cell; only the lead reaches for it.
    observer: LeafCells<&'o mut O>,
}

/// What a run took.
#[derive(Debug)]
pub(crate) struct Spent {
    /// The most rows of a rank over the mean.
    pub imbalance: f64,
    /// Seconds by phase, of this process only.
    pub phases: Vec<(String, f64)>,
    /// Seconds over ranks; empty for engines that have no ranks.
    pub timers: Vec<Spread>,
}

/// A run of an annealed method, one step at a time. Each step can be resumed: all that is needed is in the state.
pub(crate) trait Course<M: Method>: Send {
    fn state(&mut self) -> &mut M::State;
    fn is_done(&self) -> bool;
    fn stage(&self) -> Stage;
    /// The last temperature finished; before the first, where the run stands.
    fn step(&self) -> Step;
    /// Passes over the rows so far.
    fn sweeps(&self) -> u64;
    /// Estimate of the share of the work that is done; it never falls.
    fn fraction(&mut self) -> f64;
    /// One step: a temperature, or a group of trials.
    fn advance<R: Rounds>(&mut self, rounds: &mut R) -> impl Future<Output = Result<(), Error>> + Send;
}

/// Begins a phase, in the timers and in the trace.
pub(crate) fn begin<R: Rounds>(rounds: &mut R, phases: &mut Phases, name: &'static str) {
    rounds.note_phase(name);
    phases.enter(name);
}

impl<'o, M: Method, O: ?Sized> Run<'o, M, O> {
    /// A run on the data of a fingerprint, or one that goes on from a state; `trace` is where its observer wants notes.
    pub fn new(
        fingerprint: u64,
        parameters: M,
        state: Option<M::State>,
        observer: &'o mut O,
        trace: Option<Trace>,
        phases: Phases,
    ) -> Self {
        let mut observer = Some(observer);
        Self {
            parameters,
            fingerprint,
            state,
            phases,
            trace: trace.unwrap_or_else(Trace::sums_only),
            observer: LeafCells::new(1, |_| observer.take().expect("one cell")),
        }
    }

    /// Tells the observer how far the run is, then offers it the checkpoint, which `slot` keeps from one call to the next; true if it wants to stop. On the lead only.
    pub fn tell(
        &self,
        state: &mut M::State,
        slot: &mut Option<Checkpoint<M>>,
        progress: impl FnOnce(&mut O) -> Control,
        offer: impl FnOnce(&mut O, &Checkpoint<M>),
    ) -> bool {
        let stop = self.observer.with(0, |observer| progress(observer)) == Control::Stop;
        // At the last step too: whoever says stop is handed one.
        let checkpoint =
            slot.get_or_insert_with(|| Checkpoint::new(self.fingerprint, self.parameters.clone(), state.clone()));
        // The state is lent to the checkpoint for the call, not copied.
        std::mem::swap(&mut checkpoint.state, state);
        self.observer.with(0, |observer| offer(observer, checkpoint));
        std::mem::swap(&mut checkpoint.state, state);
        stop
    }

    /// Ends the trace and adds up what each rank took; nothing but in the loop that brings its process the outcome.
    pub async fn end<R: Rounds>(&self, rounds: &mut R, phases: Phases) -> Result<Option<Spent>, Error> {
        let seconds = [self.phases.seconds(), phases.seconds()].concat();
        let timers = rounds.gather_timers(&self.trace, phases).await?;
        Ok(rounds.is_first_here().then(|| Spent { imbalance: rounds.imbalance(), phases: seconds, timers }))
    }
}

impl<'o, M: Method> Run<'o, M, dyn Observer<Checkpoint<M>> + 'o> {
    /// Walks a course to its end and tells the observer after each step.
    pub async fn walk<C: Course<M>, R: Rounds>(
        &self,
        rounds: &mut R,
        phases: &mut Phases,
        course: &mut C,
    ) -> Result<(), Error> {
        let is_lead = rounds.is_lead();
        let mut checkpoint = None;
        while !course.is_done() {
            begin(rounds, phases, course.stage().name());
            course.advance(rounds).await?;
            phases.leave();
            let stop = is_lead && self.observe(course, &mut checkpoint);
            if rounds.agree(stop).await? {
                return Err(Error::Stopped);
            }
        }
        Ok(())
    }

    fn observe<C: Course<M>>(&self, course: &mut C, checkpoint: &mut Option<Checkpoint<M>>) -> bool {
        let step = course.step();
        let (stage, fraction, sweeps) = (course.stage(), course.fraction(), course.sweeps());
        let progress = Progress { stage, step: &step, fraction, sweeps };
        self.tell(
            course.state(),
            checkpoint,
            |observer| observer.progress(&progress),
            |observer, checkpoint| observer.checkpoint(checkpoint),
        )
    }
}
