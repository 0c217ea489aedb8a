//! A run as a series of steps: it adds medoids one by one, then makes swaps as long as a swap lowers the cost. The run
//! can be resumed after each step.

use lehr_numerics::lanes::Real;
use serde::{Deserialize, Serialize};

use super::parameters::Parameters;
use super::swap::{Assigned, Build, Candidate, Problem, Sides, Swaps, take};
use crate::Error;
use crate::anneal::{Progress, run};
use crate::round::{LeafCells, Rounds, total_of};

/// The whole state of a run; checkpoints store it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The medoids, in the order in which they were found; a swap replaces a medoid in place.
    pub(crate) medoids: Vec<u32>,
    /// The number of passes over the matrix.
    pub(crate) passes: u64,
    /// The number of passes that looked for swaps.
    pub(crate) swap_passes: u64,
    pub(crate) swaps: u64,
    /// Whether the last pass found no swap that lowers the cost.
    pub(crate) is_converged: bool,
}

/// A run in progress.
pub(super) struct Fit<'a, 'm, T: Real> {
    problem: &'a Problem<'m, T>,
    parameters: &'a Parameters,
    best: &'a LeafCells<Sides>,
    pub assigned: Assigned,
    pub state: State,
}

impl<'a, 'm, T: Real> Fit<'a, 'm, T> {
    /// Starts or resumes a run; a new run has no medoids.
    pub fn new(
        problem: &'a Problem<'m, T>,
        parameters: &'a Parameters,
        best: &'a LeafCells<Sides>,
        state: State,
    ) -> Self {
        let assigned = Assigned::new(problem, state.medoids.clone());
        Self { problem, parameters, best, assigned, state }
    }

    fn is_building(&self) -> bool {
        self.assigned.medoids.len() < self.parameters.clusters
    }

    async fn build(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let round = Build { problem: self.problem, assigned: &self.assigned, partition: rounds.partition() };
        let mut found = Vec::new();
        total_of(rounds, &round, &mut found).await?;
        self.state.passes += 1;
        self.state.medoids.push(found[1] as u32);
        self.assigned = Assigned::new(self.problem, self.state.medoids.clone());
        // A single medoid is the best of all items, so there is nothing to swap.
        self.state.is_converged = self.parameters.clusters == 1;
        Ok(())
    }

    async fn swap(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let (problem, assigned, best) = (self.problem, &self.assigned, self.best);
        let side = (self.state.swap_passes % 2) as usize;
        let round = Swaps { problem, assigned, partition: rounds.partition(), best, side };
        total_of(rounds, &round, &mut Vec::new()).await?;
        let write = |sides: &Sides, bytes: &mut Vec<u8>| Candidate::write(&sides[side], bytes);
        let read = |sides: &mut Sides, bytes: &[u8]| Candidate::read(&mut sides[side], bytes);
        rounds.share(best, write, read).await?;
        let found = (0..best.len()).filter_map(|leaf| best.with(leaf, |sides| sides[side])).collect();
        let taken = take(problem, &mut self.assigned, found);
        self.state.medoids.clone_from(&self.assigned.medoids);
        self.state.passes += 1;
        self.state.swap_passes += 1;
        self.state.swaps += taken;
        self.state.is_converged = taken == 0;
        Ok(())
    }
}

impl<T: Real> run::Fit<Parameters> for Fit<'_, '_, T> {
    fn with_state<S>(&mut self, show: impl FnOnce(&mut State) -> S) -> S {
        show(&mut self.state)
    }

    fn is_done(&self) -> bool {
        !self.is_building() && (self.state.is_converged || self.state.swap_passes >= self.parameters.max_passes)
    }

    fn phase(&self) -> &'static str {
        if self.is_building() { "building" } else { "swapping" }
    }

    fn progress(&mut self) -> Progress {
        let (medoids, wanted) = (self.assigned.medoids.len() as f64, self.parameters.clusters as f64);
        // The number of passes for swaps is unknown; assume that half of them are done after three.
        let swapping = self.state.swap_passes as f64 / (self.state.swap_passes as f64 + 3.0);
        let fraction = (medoids + swapping * 6.0) / (wanted + 6.0);
        let figures = vec![
            ("clusters", medoids),
            ("sweeps", self.state.passes as f64),
            ("swaps", self.state.swaps as f64),
            ("cost", self.assigned.cost * self.problem.unit()),
        ];
        Progress { stage: run::Fit::phase(self).into(), fraction: Some(fraction), figures }
    }

    async fn advance(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        if self.is_building() { self.build(rounds).await } else { self.swap(rounds).await }
    }
}
