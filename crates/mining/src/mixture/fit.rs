//! A fit as a series of steps. For each number of components, the fit finds a start, then climbs to a maximum of the
//! likelihood. A fit can be resumed after each step.
//!
//! ```text
//! for each number of components that is tried
//!     clustering   as many clusters by annealing, which needs no lucky start (crate::vector)
//!     fitting      covariances from the clusters, then EM at temperature 1 until it converges;
//!                  again by way of mixtures of simpler covariance types; the most likely result is kept
//! ```
//!
//! [`State`] has the whole state, and is the content of a checkpoint. All ranks take the same steps, because they base
//! their decisions on bit-identical numbers.

use lehr_numerics::cholesky::triangle;
use lehr_numerics::gaussian::{Components, Whitening};
use serde::{Deserialize, Serialize};

use super::criteria::{Candidate, Criteria};
use super::e_step::{AssignRound, Assigned, MixtureRound};
use super::gaussians::Gaussians;
use super::m_step::{LEAST_WEIGHT, update};
use super::parameters::{Covariance, Parameters};
use super::pattern_e_step::{PatternAssignRound, PatternRound, collapsed};
use super::patterns::Patterns;
use super::table::Table;
use crate::Error;
use crate::anneal::run::{self, Fit as _};
use crate::anneal::{Progress, Stage};
use crate::lloyd::Remembered;
use crate::round::{LeafCells, Rounds, total_of};
use crate::rows::Rows;
use crate::vector;

/// The number of sweeps in one step.
const SWEEPS_A_STEP: usize = 8;
/// A column counts as constant if its variance is at most this share of the largest variance of a column.
const LEAST_VARIANCE: f64 = 1e-200;
/// The temperature of the pass that computes the first covariances, divided by the mean squared distance of all rows
/// from their mean. At this temperature, memberships are hard except for exact ties.
const HARD: f64 = 1e-9;
/// The weight of the pooled covariance within clusters, as a share of an average component's weight. At the start, each
/// component's covariance is averaged with the pooled covariance.
const BORROWED: f64 = 0.1;
/// A component has collapsed if its variance along a column is at most this share of the column's variance. Its
/// standard deviation is then at most 1e-10 of the column's.
const COLLAPSED: f64 = 1e-20;
/// Two centres count as one if their squared distance is at most this share of the rows' mean squared distance from the
/// mean.
const COINCIDENT: f64 = 1e-18;
/// The maximum number of columns for which tied covariances are an intermediate step. With more columns, a pass with
/// tied covariances would take longer than all other passes.
pub(crate) const MOST_TIED: usize = 64;
/// The factor by which the tolerance is larger for an intermediate mixture. A smaller tolerance would be wasted,
/// because the next fit changes the mixture again.
const ON_THE_WAY: f64 = 100.0;
/// A way counts as better if its log-likelihood per unit of weight is higher by more than this many tolerances. With a
/// smaller difference, both ways have reached the same optimum.
const BETTER: f64 = 10.0;
/// For one number of components, the share of the work that is done when its clusters have been found.
const CLUSTERED: f64 = 0.7;

/// The phase of a fit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    #[default]
    Clustering,
    Fitting,
    Done,
}

/// The whole state of a fit, in stored units, which is the content of its checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    phase: Phase,
    /// The index of the number of components that the fit is trying.
    attempt: usize,
    /// The clustering in progress. This field is filled in only while `with_state` calls its closure.
    pub clustering: Option<vector::fit::State>,
    /// The centres of the clusters found for the present number of components, one for each distinct position.
    centers: Vec<f64>,
    /// The index of the present way among those that `Fit::ways` returns.
    way: usize,
    /// The components of the present fit.
    gaussians: Option<Gaussians>,
    /// The objective per unit of weight before each sweep of the present fit.
    ascent: Vec<f64>,
    /// The result of the best way so far, for the present number of components.
    highest: Option<Climbed>,
    /// The candidate with the lowest BIC so far.
    pub(crate) best: Option<Fitted>,
    pub candidates: Vec<Candidate>,
    /// The number of passes over the rows in all finished clusterings and fits and in the present fit.
    pub sweeps: u64,
}

/// The fit at the end of one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Climbed {
    through: Option<Covariance>,
    gaussians: Gaussians,
    ascent: Vec<f64>,
    is_converged: bool,
}

impl Climbed {
    fn objective(&self) -> f64 {
        self.ascent.last().copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// A mixture at a maximum of its likelihood, in stored units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fitted {
    pub asked: usize,
    pub gaussians: Gaussians,
    pub ascent: Vec<f64>,
    pub is_converged: bool,
    pub criteria: Criteria,
}

/// The variances of the columns and of the clouds, in stored units.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    /// The variance of each column.
    pub variances: Vec<f64>,
    /// For each column, the variance of the cloud that a row counts as.
    pub clouds: Vec<f64>,
}

impl Columns {
    /// Computes the variances of the columns. Cost: one pass.
    ///
    /// # Errors
    /// Returns [`Error::Constant`] if all columns are constant, or if any column is constant and the covariance is not
    /// spherical.
    pub fn new(table: &Table<'_>, covariance: Covariance, regularisation: f64) -> Result<Self, Error> {
        let variances = match &table.patterns {
            Some(patterns) => patterns.moments().1,
            None => variances(&table.rows),
        };
        let columns = Self { clouds: variances.iter().map(|variance| regularisation * variance).collect(), variances };
        let constant: Vec<usize> = columns.constant().collect();
        if constant.len() == columns.variances.len() || (covariance != Covariance::Spherical && !constant.is_empty()) {
            let first = constant.iter().take(10).map(|&j| table.input.columns()[j].clone()).collect();
            return Err(Error::Constant { count: constant.len(), first });
        }
        Ok(columns)
    }

    /// The indices of the constant columns.
    pub fn constant(&self) -> impl Iterator<Item = usize> + '_ {
        let widest = self.variances.iter().copied().fold(0.0, f64::max);
        (0..self.variances.len()).filter(move |&j| self.variances[j] <= LEAST_VARIANCE * widest)
    }

    /// The first component whose variance along a column is so small that the component has collapsed ([`COLLAPSED`]).
    fn collapsed(&self, gaussians: &Gaussians) -> Option<usize> {
        let is_narrow = |k: usize| {
            let packed = gaussians.packed(k);
            (0..gaussians.dimension).any(|j| packed[triangle(j) + j] <= COLLAPSED * self.variances[j])
        };
        (0..gaussians.len()).find(|&k| gaussians.weights[k] > LEAST_WEIGHT && is_narrow(k))
    }
}

/// The data that all fits of a run share.
pub(crate) struct Problem<'a> {
    pub table: &'a Table<'a>,
    pub parameters: &'a Parameters,
    pub columns: Columns,
    /// The parameters of the clustering, for each number of components to try.
    pub clusterings: Vec<vector::Parameters>,
    pub memories: Vec<LeafCells<Remembered>>,
    pub cells: LeafCells<Assigned>,
}

/// A fit in progress.
pub(crate) struct Fit<'a> {
    problem: &'a Problem<'a>,
    clustering: Option<vector::fit::Fit<'a, f64>>,
    /// The largest fraction of the work that has been reported as done.
    furthest: f64,
    total: Vec<f64>,
    pub state: State,
}

/// Returns the variance of each column, in stored units. Cost: one pass.
fn variances(rows: &Rows<f64>) -> Vec<f64> {
    let mut variances = vec![0.0; rows.dimension];
    let mut row = vec![0.0; rows.dimension];
    for tiles in rows.leaves.iter().map(|leaf| leaf.store.numbers()) {
        for index in 0..tiles.rows() {
            tiles.read_row(index, &mut row);
            let share = tiles.weight(index) / rows.total_weight;
            variances.iter_mut().zip(&row).for_each(|(variance, x)| *variance += share * x * x);
        }
    }
    variances
}

impl run::Fit<Parameters> for Fit<'_> {
    fn with_state<T>(&mut self, show: impl FnOnce(&mut State) -> T) -> T {
        // The clustering works on its own state. Copying that state takes far less time than a pass over the rows.
        self.state.clustering = self.clustering.as_ref().map(|clustering| clustering.state.clone());
        let shown = show(&mut self.state);
        self.state.clustering = None;
        shown
    }

    fn is_done(&self) -> bool {
        self.state.phase == Phase::Done
    }

    fn phase(&self) -> &'static str {
        self.stage().name()
    }

    fn progress(&mut self) -> Progress {
        let (table, clustering) = (self.problem.table, self.clustering.as_ref().map(|clustering| &clustering.state));
        let sweeps = self.state.sweeps + clustering.map_or(0, |clustering| clustering.sweeps);
        let mut figures = vec![("components", self.components() as f64), ("sweeps", sweeps as f64)];
        figures.extend(clustering.map(|state| ("temperature", table.rows.units.squared(state.grown.temperature))));
        figures.extend(self.state.ascent.last().map(|objective| ("log_likelihood", objective - table.log_unit())));
        Progress { stage: self.phase().into(), fraction: Some(self.fraction()), figures }
    }

    /// Takes one step: a step of the clustering, or a few sweeps of a fit.
    async fn advance(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        match self.state.phase {
            Phase::Clustering => self.cluster(rounds).await,
            Phase::Fitting => self.fit(rounds).await,
            Phase::Done => Ok(()),
        }
    }
}

impl<'a> Fit<'a> {
    /// Starts a new fit, or resumes a fit from its state.
    pub fn new(problem: &'a Problem<'a>, state: Option<State>) -> Self {
        let mut state = state.unwrap_or_default();
        let attempt = state.attempt;
        let clustering = state.clustering.take().map(|state| {
            let (parameters, memory) = (&problem.clusterings[attempt], &problem.memories[attempt]);
            vector::fit::Fit::resume(&problem.table.rows, parameters, memory, state)
        });
        Self { problem, clustering, furthest: 0.0, total: Vec::new(), state }
    }

    fn stage(&self) -> Stage {
        match self.state.phase {
            Phase::Clustering => self.clustering.as_ref().map_or(Stage::Annealing, |clustering| clustering.stage()),
            Phase::Fitting => Stage::Fitting,
            Phase::Done => Stage::Labelling,
        }
    }

    /// The number of components that the fit is trying.
    fn components(&self) -> usize {
        let tried = self.state.attempt.min(self.problem.clusterings.len() - 1);
        self.problem.clusterings[tried].clusters.expect("every clustering has a number")
    }

    /// Returns the ways to initialise a mixture from clusters: directly (`None`), or through a mixture of another
    /// covariance type. The likelihood of the other type has other local maxima.
    fn ways(&self) -> Vec<Option<Covariance>> {
        let target = self.problem.parameters.covariance;
        if self.components() == 1 {
            return vec![None];
        }
        let varies = self.problem.columns.variances.iter().all(|&variance| variance > 0.0);
        let is_open = |&form: &Covariance| {
            form != target
                && (form == Covariance::Spherical || varies)
                && (form != Covariance::Tied || self.problem.table.rows.dimension <= MOST_TIED)
        };
        let through = [Covariance::Spherical, Covariance::Tied, Covariance::Diagonal];
        std::iter::once(None).chain(through.into_iter().filter(is_open).map(Some)).collect()
    }

    /// Estimates the share of the work that is done. The estimate assumes that the work for a number of components is
    /// proportional to this number.
    fn fraction(&mut self) -> f64 {
        let cost = |attempts: &[vector::Parameters]| -> f64 {
            attempts.iter().map(|parameters| parameters.clusters.unwrap_or(1) as f64).sum()
        };
        let all = &self.problem.clusterings;
        let within = match self.state.phase {
            Phase::Clustering => CLUSTERED * self.clustering.as_mut().map_or(0.0, |clustering| clustering.fraction()),
            Phase::Fitting => {
                let sweeps = self.state.ascent.len() as f64;
                let ways = self.state.way as f64 + sweeps / (sweeps + 50.0);
                CLUSTERED + (1.0 - CLUSTERED) * ways / self.ways().len() as f64
            }
            Phase::Done => 0.0,
        };
        let attempt = self.state.attempt.min(all.len());
        let present = all.get(attempt).map_or(0.0, |parameters| parameters.clusters.unwrap_or(1) as f64);
        let fraction = 0.98 * (cost(&all[..attempt]) + within * present) / cost(&all[..]);
        self.furthest = self.furthest.max(fraction);
        self.furthest
    }

    async fn cluster(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let (problem, attempt) = (self.problem, self.state.attempt);
        let mut clustering = match self.clustering.take() {
            Some(clustering) => clustering,
            None => {
                let (parameters, memory) = (&problem.clusterings[attempt], &problem.memories[attempt]);
                vector::fit::Fit::begin(&problem.table.rows, parameters, None, memory, rounds).await?
            }
        };
        if !clustering.is_done() {
            clustering.advance(rounds).await?;
        }
        if !clustering.is_done() {
            self.clustering = Some(clustering);
            return Ok(());
        }
        self.state.sweeps += clustering.state.sweeps;
        self.state.centers = distinct(&self.problem.table.rows, &clustering.centers().values);
        self.state.phase = Phase::Fitting;
        self.state.way = 0;
        self.set_out(rounds).await
    }

    /// Begins the present way: makes one pass with hard memberships in the clusters, then an M-step.
    async fn set_out(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let rows = &self.problem.table.rows;
        let covariance = self.ways()[self.state.way].unwrap_or(self.problem.parameters.covariance);
        let centers = std::mem::take(&mut self.state.centers);
        let count = centers.len() / rows.dimension;
        let mut components =
            Components::new(rows.dimension, Whitening::Diagonal, HARD * rows.square / rows.total_weight);
        let unit = vec![1.0; rows.dimension];
        centers.chunks_exact(rows.dimension).for_each(|center| components.push(center, &unit, 0.0));
        let gaussians = self.reformed(rounds, &components, centers.clone(), covariance, BORROWED).await?;
        let held: Vec<usize> = (0..count).filter(|&k| gaussians.weights[k] > LEAST_WEIGHT).collect();
        self.state.gaussians = Some(if held.len() < count { gaussians.chosen(&held) } else { gaussians });
        self.state.centers = centers;
        self.state.ascent.clear();
        Ok(())
    }

    /// Makes one pass over the rows with `components`, whose means are `means`. Then makes an M-step that turns the
    /// memberships into Gaussians of the type `covariance`.
    async fn reformed(
        &mut self,
        rounds: &mut dyn Rounds,
        components: &Components<f64>,
        means: Vec<f64>,
        covariance: Covariance,
        borrowed: f64,
    ) -> Result<Gaussians, Error> {
        let rows = &self.problem.table.rows;
        let (dimension, count) = (rows.dimension, components.len());
        let matrices = if covariance == Covariance::Tied { 1 } else { count };
        let mut gaussians = Gaussians {
            covariance,
            dimension,
            weights: vec![1.0 / count as f64; count],
            means,
            covariances: vec![1.0; matrices * covariance.len(dimension)],
        };
        let round = MixtureRound { rows, components, scatter: covariance.scatter() };
        total_of(rounds, &round, &mut self.total).await?;
        self.state.sweeps += 1;
        update(&mut gaussians, &self.total, rows.total_weight, &self.problem.columns.clouds, borrowed);
        Ok(gaussians)
    }

    /// Turns components of another covariance type into components of the requested type, with one pass over the rows.
    async fn continued(&mut self, rounds: &mut dyn Rounds, gaussians: Gaussians) -> Result<Gaussians, Error> {
        let (problem, target) = (self.problem, self.problem.parameters.covariance);
        let columns = &problem.columns;
        let components = ready(&gaussians, 1.0, &columns.clouds)?;
        let Some(patterns) = &problem.table.patterns else {
            return self.reformed(rounds, &components, gaussians.means, target, 0.0).await;
        };
        let (dimension, count) = (gaussians.dimension, gaussians.len());
        let matrices = if target == Covariance::Tied { 1 } else { count };
        let round = PatternRound { patterns, gaussians: &gaussians, target, temperature: 1.0, clouds: &columns.clouds };
        seen(rounds, &round, &mut self.total).await?;
        self.state.sweeps += 1;
        // If no row of a component has a value in a column, the component is as wide as all rows along that column.
        let widest = columns.variances.iter().copied().fold(0.0, f64::max);
        let covariances = match target {
            Covariance::Diagonal => columns.variances.repeat(count),
            _ => vec![widest; matrices * target.len(dimension)],
        };
        let mut next = Gaussians { covariance: target, covariances, ..gaussians.clone() };
        round.update(&mut next, &self.total, problem.table.rows.total_weight);
        Ok(next)
    }

    /// Makes a few sweeps of EM on the present way. Begins the next stage if the likelihood can rise no further.
    async fn fit(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        match self.climb(rounds).await {
            // If a way through another covariance type collapses, it is abandoned. If the direct way collapses, this is
            // an error, because the user requested its covariance type.
            Err(Error::Collapsed { .. }) if self.state.way > 0 => self.next_way(rounds).await,
            climbed => climbed,
        }
    }

    async fn climb(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        let (table, parameters) = (self.problem.table, self.problem.parameters);
        let mut gaussians = self.state.gaussians.take().expect("a fit has components");
        let is_on_the_way = gaussians.covariance != parameters.covariance;
        let tolerance = parameters.tolerance * if is_on_the_way { ON_THE_WAY } else { 1.0 };
        let mut end = None;
        for _ in 0..SWEEPS_A_STEP {
            let columns = &self.problem.columns;
            let objective = sweep(rounds, table, &mut gaussians, 1.0, columns, &mut self.total).await?;
            self.state.sweeps += 1;
            // EM cannot lower the objective, except by rounding errors.
            debug_assert!(
                self.state.ascent.last().is_none_or(|last| objective >= last - 1e-10 * last.abs().max(1.0)),
                "the objective fell from {:?} to {objective}",
                self.state.ascent.last()
            );
            self.state.ascent.push(objective);
            if left_to_gain(&self.state.ascent).is_some_and(|gain| gain <= tolerance) {
                end = Some(true);
            } else if self.state.ascent.len() as u64 >= parameters.max_sweeps {
                end = Some(false);
            }
            if end.is_some() {
                break;
            }
        }
        let Some(is_converged) = end else {
            self.state.gaussians = Some(gaussians);
            return Ok(());
        };
        if is_on_the_way {
            self.state.gaussians = Some(self.continued(rounds, gaussians).await?);
            self.state.ascent.clear();
            return Ok(());
        }
        let through = self.ways()[self.state.way];
        let climbed = Climbed { through, gaussians, ascent: std::mem::take(&mut self.state.ascent), is_converged };
        let least = self.state.highest.as_ref().map_or(f64::NEG_INFINITY, Climbed::objective);
        if climbed.objective() > least + BETTER * parameters.tolerance {
            self.state.highest = Some(climbed);
        }
        self.next_way(rounds).await
    }

    /// Continues with the next way, or judges the best result if there are no more ways.
    async fn next_way(&mut self, rounds: &mut dyn Rounds) -> Result<(), Error> {
        self.state.way += 1;
        self.state.ascent.clear();
        if self.state.way < self.ways().len() {
            return self.set_out(rounds).await;
        }
        self.state.way = 0;
        let highest = self.state.highest.take().expect("the straight way has an end");
        self.judge(rounds, highest).await
    }

    /// Computes the criteria of a finished fit, keeps the fit if its BIC is the lowest, and continues with the next
    /// number of components.
    async fn judge(&mut self, rounds: &mut dyn Rounds, climbed: Climbed) -> Result<(), Error> {
        let (table, rows) = (self.problem.table, &self.problem.table.rows);
        let Climbed { through, gaussians, ascent, is_converged } = climbed;
        let order: Vec<usize> = by_weight(&gaussians);
        let gaussians = gaussians.chosen(&order);
        let [log_likelihood, entropy] = assign(rounds, table, &gaussians, &self.problem.cells).await?;
        self.state.sweeps += 1;
        let criteria = Criteria::new(
            gaussians.covariance.free_parameters(rows.dimension, gaussians.len()),
            rows.effective(),
            rows.row_weight * rows.units.weight,
            log_likelihood,
            entropy,
        );
        let asked = self.components();
        let found = gaussians.len();
        self.state.candidates.push(Candidate { asked, components: found, through, is_converged, criteria });
        if self.state.best.as_ref().is_none_or(|best| criteria.bic < best.criteria.bic) {
            self.state.best = Some(Fitted { asked, gaussians, ascent, is_converged, criteria });
        }
        self.state.attempt += 1;
        // If the fit found fewer components than requested, a larger number would not find more.
        let is_last = self.state.attempt >= self.problem.clusterings.len() || found < asked;
        self.state.phase = if is_last { Phase::Done } else { Phase::Clustering };
        Ok(())
    }
}

/// Returns the centres at distinct positions. Several components at the same position would share its rows for ever.
fn distinct(rows: &Rows<f64>, centers: &[f64]) -> Vec<f64> {
    let least = COINCIDENT * rows.square / rows.total_weight;
    let mut distinct: Vec<f64> = Vec::with_capacity(centers.len());
    for center in centers.chunks_exact(rows.dimension) {
        let square = |other: &[f64]| other.iter().zip(center).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        if distinct.chunks_exact(rows.dimension).all(|other| square(other) > least) {
            distinct.extend_from_slice(center);
        }
    }
    distinct
}

/// Prepares components for a pass, and returns [`Error::Collapsed`] if one of them has collapsed.
fn ready(gaussians: &Gaussians, temperature: f64, clouds: &[f64]) -> Result<Components<f64>, Error> {
    let components = gaussians.len();
    gaussians.ready(temperature, clouds).map_err(|component| Error::Collapsed { component, components })
}

/// Returns the indices of the components of positive weight, the heaviest first. Components of equal weight keep their
/// order.
fn by_weight(gaussians: &Gaussians) -> Vec<usize> {
    let weights = &gaussians.weights;
    let mut order: Vec<usize> = (0..weights.len()).filter(|&k| weights[k] > LEAST_WEIGHT).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]).then(a.cmp(&b)));
    order
}

/// Makes one EM iteration, and returns the objective per unit of weight before the iteration.
pub(crate) async fn sweep(
    rounds: &mut dyn Rounds,
    table: &Table<'_>,
    gaussians: &mut Gaussians,
    temperature: f64,
    columns: &Columns,
    total: &mut Vec<f64>,
) -> Result<f64, Error> {
    let rows = &table.rows;
    if let Some(component) = columns.collapsed(gaussians) {
        return Err(Error::Collapsed { component, components: gaussians.len() });
    }
    let components = ready(gaussians, temperature, &columns.clouds)?;
    match &table.patterns {
        Some(patterns) => {
            let (before, target) = (gaussians.clone(), gaussians.covariance);
            let round = PatternRound { patterns, gaussians: &before, target, temperature, clouds: &columns.clouds };
            seen(rounds, &round, total).await?;
            round.update(gaussians, total, rows.total_weight);
        }
        None => {
            let round = MixtureRound { rows, components: &components, scatter: gaussians.covariance.scatter() };
            total_of(rounds, &round, total).await?;
            update(gaussians, total, rows.total_weight, &columns.clouds, 0.0);
        }
    }
    Ok(total[0] / rows.total_weight)
}

/// Makes a pass over rows with missing values.
///
/// # Errors
/// Returns [`Error::Collapsed`] if a covariance is not positive definite among the columns of some rows. Because of
/// rounding, this may happen even if the whole covariance is positive definite.
async fn seen(rounds: &mut dyn Rounds, round: &PatternRound<'_>, total: &mut Vec<f64>) -> Result<(), Error> {
    total_of(rounds, round, total).await?;
    if total[0].is_nan() {
        return Err(unseen(round.patterns, round.gaussians));
    }
    Ok(())
}

fn unseen(patterns: &Patterns, gaussians: &Gaussians) -> Error {
    Error::Collapsed { component: collapsed(patterns, gaussians).unwrap_or(0), components: gaussians.len() }
}

/// Gives every row its component, and returns the log-likelihood and the entropy of the memberships, in the input's
/// units.
pub(crate) async fn assign(
    rounds: &mut dyn Rounds,
    table: &Table<'_>,
    gaussians: &Gaussians,
    cells: &LeafCells<Assigned>,
) -> Result<[f64; 2], Error> {
    let rows = &table.rows;
    let components = ready(gaussians, 1.0, &[])?;
    let mut total = Vec::new();
    match &table.patterns {
        Some(patterns) => {
            total_of(rounds, &PatternAssignRound { patterns, gaussians, cells }, &mut total).await?;
            if total[0].is_nan() {
                return Err(unseen(patterns, gaussians));
            }
        }
        None => total_of(rounds, &AssignRound { rows, components: &components, cells }, &mut total).await?,
    }
    let volume = table.log_unit() * rows.total_weight;
    Ok([(total[0] - volume) * rows.units.weight, total[1] * rows.units.weight])
}

/// Estimates how much an ascent can still gain. Aitken's method assumes that each gain is a constant fraction of the
/// gain before. Returns `None` if the ascent has fewer than three values, or if its gains grow.
pub(crate) fn left_to_gain(ascent: &[f64]) -> Option<f64> {
    let [.., before, between, last] = ascent else { return None };
    let (first, second) = (between - before, last - between);
    let rounding = 4.0 * f64::EPSILON * last.abs().max(1.0);
    if second <= rounding {
        return Some(0.0);
    }
    let ratio = second / first;
    (first > 0.0 && ratio < 1.0).then(|| second * ratio / (1.0 - ratio))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_geometric_ascent_is_known() {
        // The sequence 1 - 2^-n has 2^-n left to gain.
        assert_eq!(left_to_gain(&[0.0, 0.5, 0.75]), Some(0.25));
        assert_eq!(left_to_gain(&[0.0, 0.5]), None);
        assert_eq!(left_to_gain(&[0.0, 0.1, 0.3]), None, "gains that grow say nothing about the end");
        assert_eq!(left_to_gain(&[0.0, 1.0, 1.0]), Some(0.0));
    }
}
