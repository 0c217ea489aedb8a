//! A run as a series of steps: core distances, the spanning tree some items at a time, then the clusters.

use lehr_numerics::lanes::Real;
use serde::{Deserialize, Serialize};

use super::condensed::Condensed;
use super::core::CoreRound;
use super::parameters::Parameters;
use super::selection::{Membership, choose, memberships};
use super::spanning::Spanning;
use super::{Problem, ROUNDING};
use crate::Error;
use crate::anneal::{Progress, run};
use crate::links::{self, Link};
use crate::round::{LeafCells, Rounds, total_of};

/// The number of distances that a step may read, so that a step takes some milliseconds.
const READ_IN_A_STEP: usize = 1 << 24;

/// The whole state of a run; checkpoints store it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The core distance of each item, in the unit of the matrix; empty before they are computed.
    core: Vec<f64>,
    /// The spanning tree, on the rank that makes it.
    spanning: Spanning,
}

/// The spanning tree, in the cell of the first leaf; the other cells are empty.
pub(super) type Edges = Vec<Link>;

/// The tree and the clusters that were chosen from it.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The core distance of each item, in the unit of the matrix.
    pub core: Vec<f64>,
    pub tree: Condensed,
    pub chosen: Vec<usize>,
    pub memberships: Vec<Membership>,
}

/// A run in progress.
pub(super) struct Fit<'a, 'm, T: Real> {
    problem: &'a Problem<'m, T>,
    parameters: &'a Parameters,
    core: &'a LeafCells<Vec<f64>>,
    edges: &'a LeafCells<Edges>,
    state: State,
    /// Whether this rank makes the tree.
    is_lead: bool,
    /// The number of edges so far.
    joined: usize,
    found: Option<Found>,
}

impl<'a, 'm, T: Real> Fit<'a, 'm, T> {
    /// Starts or resumes a run.
    pub fn new(
        problem: &'a Problem<'m, T>,
        parameters: &'a Parameters,
        core: &'a LeafCells<Vec<f64>>,
        edges: &'a LeafCells<Edges>,
        state: State,
        is_lead: bool,
    ) -> Self {
        let joined = state.spanning.edges.len();
        Self { problem, parameters, core, edges, state, is_lead, joined, found: None }
    }

    fn edges(&self) -> usize {
        self.problem.matrix.items - 1
    }

    /// Computes the core distances on all ranks, and shares them.
    async fn reach(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let (problem, core) = (self.problem, self.core);
        let samples = problem.weight_of(self.parameters.samples());
        let round = CoreRound { problem, partition: rounds.partition(), samples, core };
        total_of(rounds, &round, &mut Vec::new()).await?;
        let write = |core: &Vec<f64>, bytes: &mut Vec<u8>| {
            core.iter().for_each(|distance| bytes.extend_from_slice(&distance.to_le_bytes()));
        };
        let read = |core: &mut Vec<f64>, bytes: &[u8]| {
            let (numbers, _) = bytes.as_chunks::<8>();
            *core = numbers.iter().map(|number| f64::from_le_bytes(*number)).collect();
        };
        rounds.share(core, write, read).await?;
        self.state.core.clear();
        for leaf in 0..core.len() {
            core.with(leaf, |core| self.state.core.extend_from_slice(core));
        }
        self.state.spanning = Spanning::new(self.problem.matrix.items);
        Ok(())
    }

    /// Adds the next edges.
    fn join(&mut self) {
        let step = (READ_IN_A_STEP / (4 * self.problem.matrix.items)).max(1).min(self.edges() - self.joined);
        self.joined += step;
        if self.is_lead {
            let State { core, spanning } = &mut self.state;
            (0..step).for_each(|_| spanning.grow(self.problem, core));
        }
    }

    /// Chooses the clusters. Every rank does this for itself, because it takes little time.
    async fn finish(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        // Ranks take leaves in order, so the lead tells its own edges.
        debug_assert!(!self.is_lead || rounds.leaves().start == 0);
        links::share(rounds, &self.state.spanning.edges, self.edges, "the edges of the tree").await?;
        let (unit, parameters) = (self.problem.matrix.unit, self.parameters);
        let least = self.problem.weight_of(parameters.min_cluster_size);
        // An item more than the largest size is too much, whatever the rounding.
        let most = parameters.max_cluster_size.map(|most| self.problem.weight_of(most) * (1.0 + 2.0 * ROUNDING));
        let tree = self.edges.with(0, |edges| Condensed::new(edges, &self.problem.weights, unit, least));
        let chosen = choose(&tree, parameters, most);
        let memberships = memberships(&tree, &chosen, parameters);
        self.found = Some(Found { core: self.state.core.clone(), tree, chosen, memberships });
        Ok(())
    }

    /// Returns the tree and its clusters, after the last step.
    pub fn found(self) -> Found {
        self.found.expect("the last step chooses the clusters")
    }
}

impl<T: Real> run::Fit<Parameters> for Fit<'_, '_, T> {
    fn with_state<S>(&mut self, show: impl FnOnce(&mut State) -> S) -> S {
        show(&mut self.state)
    }

    fn is_done(&self) -> bool {
        self.found.is_some()
    }

    fn phase(&self) -> &'static str {
        match (self.state.core.is_empty(), self.joined < self.edges()) {
            (true, _) => "core distances",
            (false, true) => "spanning tree",
            (false, false) => "clusters",
        }
    }

    fn progress(&mut self) -> Progress {
        // Core distances take about as long as the tree on one thread.
        let of_core = if self.state.core.is_empty() { 0.0 } else { 0.4 };
        let fraction =
            if self.found.is_some() { 1.0 } else { of_core + 0.5 * self.joined as f64 / self.edges().max(1) as f64 };
        let clusters = self.found.as_ref().map(|found| ("clusters", found.chosen.len() as f64));
        Progress {
            stage: run::Fit::phase(self).into(),
            fraction: Some(fraction),
            figures: clusters.into_iter().collect(),
        }
    }

    async fn advance(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        if self.state.core.is_empty() {
            return self.reach(rounds).await;
        }
        if self.joined < self.edges() {
            self.join();
            return Ok(());
        }
        self.finish(rounds).await
    }
}
