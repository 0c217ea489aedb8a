//! A run as a series of steps: some joins at a time, then the silhouettes.

use lehr_numerics::lanes::Real;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::cut::Tree;
use super::joining::Joining;
use super::model::Candidate;
use super::parameters::Parameters;
use super::silhouettes::{AtLevel, Levels, Means, weights};
use crate::Error;
use crate::anneal::{Progress, run};
use crate::links::{self, Link};
use crate::round::{LeafCells, Rounds, total_of};

/// The number of distances that a step may read, so that a step takes some milliseconds.
const READ_IN_A_STEP: usize = 1 << 24;

/// The whole state of a run; checkpoints store it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The joins in the order in which they were found.
    found: Vec<Link>,
    /// The chain of nearest neighbours, each cluster named by its lowest item.
    chain: Vec<u32>,
}

/// The tree, in the cell of the first leaf; the other cells are empty.
pub(super) type Kept = Vec<Link>;

/// The tree and its clusters.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub tree: Tree,
    /// The cluster of each item.
    pub labels: Vec<u32>,
    /// The node of the tree that is the top of each cluster.
    pub roots: Vec<usize>,
    /// The numbers of clusters that were compared, by increasing number; empty if the number was given.
    pub candidates: Vec<Candidate>,
}

/// A run in progress.
pub(super) struct Fit<'a, 'm, T: Real> {
    problem: &'a Problem<'m, T>,
    parameters: &'a Parameters,
    kept: &'a LeafCells<Kept>,
    means: &'a LeafCells<Vec<Means>>,
    state: State,
    /// Whether this rank makes the tree.
    is_lead: bool,
    /// The clusters that are left, on the rank that makes the tree.
    joining: Option<Joining<T>>,
    /// The number of joins so far.
    joined: usize,
    cut: Option<Cut>,
}

impl<'a, 'm, T: Real> Fit<'a, 'm, T> {
    /// Starts or resumes a run.
    pub fn new(
        problem: &'a Problem<'m, T>,
        parameters: &'a Parameters,
        kept: &'a LeafCells<Kept>,
        means: &'a LeafCells<Vec<Means>>,
        state: State,
        is_lead: bool,
    ) -> Self {
        let joined = state.found.len();
        Self { problem, parameters, kept, means, state, is_lead, joining: None, joined, cut: None }
    }

    fn joins(&self) -> usize {
        self.problem.matrix.items - 1
    }

    /// Makes the next joins.
    fn join(&mut self) {
        let step = (READ_IN_A_STEP / (4 * self.problem.matrix.items)).max(1).min(self.joins() - self.joined);
        self.joined += step;
        if !self.is_lead {
            return;
        }
        let State { found, chain } = &mut self.state;
        let joining = self.joining.get_or_insert_with(|| {
            let mut joining = Joining::new(self.problem, self.parameters.linkage);
            found.iter().for_each(|found| joining.join(found));
            joining
        });
        for _ in 0..step {
            found.push(joining.next(chain));
        }
        if self.joined == self.problem.matrix.items - 1 {
            self.joining = None;
        }
    }

    /// Cuts the tree, and computes the silhouettes of all items.
    async fn finish(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        // Ranks take leaves in order, so the lead tells its own joins.
        debug_assert!(!self.is_lead || rounds.leaves().start == 0);
        links::share(rounds, &self.state.found, self.kept, "the joins of the tree").await?;
        let (items, linkage) = (self.problem.matrix.items, self.parameters.linkage);
        let tree = self.kept.with(0, |found| Tree::new(items, found, linkage, self.problem.height_unit(linkage)));
        let mut candidates = Vec::new();
        let clusters = match (self.parameters.clusters, self.parameters.height) {
            (Some(clusters), _) => clusters,
            (None, Some(height)) => tree.clusters_at(self.problem.rounded(height)),
            (None, None) => {
                candidates = self.compare(rounds, &tree).await?;
                chosen(&candidates)
            }
        };
        let (roots, labels) = tree.cut(clusters);
        let of_clusters = weights(self.problem, &labels, clusters);
        let (problem, means) = (self.problem, self.means);
        let round = AtLevel { problem, partition: rounds.partition(), labels: &labels, weights: &of_clusters, means };
        total_of(rounds, &round, &mut Vec::new()).await?;
        rounds.share(means, Means::write, Means::read).await?;
        self.cut = Some(Cut { tree, labels, roots, candidates });
        Ok(())
    }

    /// Returns the mean silhouette for each number of clusters from 2 up.
    async fn compare(&self, rounds: &mut dyn Rounds, tree: &Tree) -> Result<Vec<Candidate>, Error> {
        // With as many clusters as items, every silhouette is 0.
        let most = self.parameters.max_clusters.min(tree.items.saturating_sub(1));
        if most < 2 {
            return Ok(Vec::new());
        }
        let round = Levels::new(self.problem, rounds.partition(), tree, most);
        let mut sums = Vec::new();
        total_of(rounds, &round, &mut sums).await?;
        let total: f64 = self.problem.weights.iter().sum();
        let candidate = |(clusters, sum): (usize, &f64)| Candidate { clusters, silhouette: sum / total };
        Ok((2..=most).zip(sums.iter().rev()).map(candidate).collect())
    }

    /// Returns the tree and its clusters, after the last step.
    pub fn cut(self) -> Cut {
        self.cut.expect("the last step cuts the tree")
    }
}

/// Returns the number of clusters with the largest mean silhouette, the smaller one if two are equal. Returns 1 if no
/// silhouette is above 0: then no division brings items closer to their own cluster than to another.
fn chosen(candidates: &[Candidate]) -> usize {
    let better = |best: (usize, f64), next: &Candidate| {
        if next.silhouette > best.1 { (next.clusters, next.silhouette) } else { best }
    };
    candidates.iter().fold((1, 0.0), better).0
}

impl<T: Real> run::Fit<Parameters> for Fit<'_, '_, T> {
    fn with_state<S>(&mut self, show: impl FnOnce(&mut State) -> S) -> S {
        show(&mut self.state)
    }

    fn is_done(&self) -> bool {
        self.cut.is_some()
    }

    fn phase(&self) -> &'static str {
        if self.joined < self.joins() { "joining" } else { "silhouettes" }
    }

    fn progress(&mut self) -> Progress {
        let share = self.joined as f64 / self.joins().max(1) as f64;
        let fraction = if self.cut.is_some() { 1.0 } else { 0.9 * share };
        let left = (self.joined < self.joins()).then(|| self.joins() + 1 - self.joined);
        let clusters = self.cut.as_ref().map(|cut| cut.roots.len()).or(left);
        let figures = clusters.map(|clusters| ("clusters", clusters as f64)).into_iter().collect();
        Progress { stage: run::Fit::phase(self).into(), fraction: Some(fraction), figures }
    }

    async fn advance(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        if self.joined < self.joins() {
            self.join();
            return Ok(());
        }
        self.finish(rounds).await
    }
}
