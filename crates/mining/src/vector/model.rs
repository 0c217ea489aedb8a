//! The result of vector annealing.

use std::collections::HashSet;

use lehr_ranks::timing::Spread;

use super::fit::{Finish, LEAST_CRITICAL, State};
use super::parameters::Parameters;
use crate::anneal::run::Spent;
use crate::anneal::{Split, Step};
use crate::borders::Borders;
use crate::lloyd::{Centroids, Cluster, Clusters, Labelled, Numbering, Outliers, Totals};
use crate::number::Number;
use crate::rows::{Cost, Input, Rows, Scalar};

/// Clusters, their centres, the label of each row, and facts about the fit. Clusters are numbered by decreasing weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The number of columns of a point.
    pub dimension: usize,
    /// The weighted means of the clusters: K x D, row-major, in the unit of the points. With a Bernoulli cost, they are
    /// the frequencies of the bits, including the prior.
    pub centers: Vec<f64>,
    /// The figures of each cluster.
    pub clusters: Vec<Cluster>,
    /// The cluster of each row, in the order of the input; [`OUTLIER`](super::OUTLIER) for an outlier.
    pub labels: Vec<u32>,
    /// The probability that each row belongs to its cluster, from the borders with neighbouring clusters. For an
    /// outlier, the membership in the noise component at `last_temperature`.
    pub probabilities: Vec<f64>,
    /// The borders between neighbouring clusters.
    pub borders: Borders,
    /// The outliers, if there is an outlier radius.
    pub outliers: Option<Outliers>,
    /// The cost of a row in a cluster.
    pub cost: Cost,
    /// The weighted mean of squared distances; with an outlier radius, only over rows that are in clusters. With a
    /// Bernoulli cost, it is the weighted mean of `-ln p(x)` in the row's own cluster, in nats, without the cost of the
    /// prior.
    pub objective: f64,
    /// The weighted sum of squared distances.
    pub sum_of_squares: f64,
    /// The outlier radius.
    pub sponge: Option<f64>,
    /// The free energy at the last temperature of the history. Without a history, it is the free energy of the points.
    pub free_energy: f64,
    /// The last soft temperature.
    pub last_temperature: f64,
    /// The temperature below which a single component is unstable: twice the leading eigenvalue of the covariance. With
    /// a Bernoulli cost without a prior, it is the leading eigenvalue of the correlations.
    pub critical_temperature: f64,
    /// The number of passes over the rows.
    pub iterations: u64,
    /// The state at each temperature, in order.
    pub history: Vec<Step>,
    /// The divisions, in order.
    pub splits: Vec<Split>,
    /// How the number of clusters was chosen, if neither a number nor a final temperature was given.
    pub number: Option<Number>,
    /// The costs and trials of the refinement.
    pub finish: Finish,
    /// The seconds spent in each phase, by this process only.
    pub phases: Vec<(String, f64)>,
    /// The spread over ranks of the seconds spent in each phase, and in computing, communicating and waiting; empty for
    /// engines without ranks.
    pub timers: Vec<Spread>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The number of rows on the rank with the most, divided by the mean.
    pub imbalance: f64,
}

/// The result of a run, on the lead rank.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub state: State,
    pub totals: Totals,
    pub spent: Spent,
}

impl Model {
    /// Returns the centres, the borders and the last soft temperature, to assign other rows.
    pub fn centroids(&self) -> Centroids {
        let centroids = Centroids::new(self.dimension, self.centers.clone(), self.last_temperature);
        let centroids = match self.cost {
            Cost::Squared => centroids,
            Cost::Bernoulli { .. } => centroids.and_then(Centroids::with_bernoulli),
        };
        let centroids = match self.sponge {
            Some(radius) => centroids.and_then(|centroids| centroids.with_sponge(radius)),
            None => centroids,
        };
        let centroids = centroids.and_then(|centroids| centroids.with_borders(self.borders.clone()));
        centroids.expect("a clustering has centres, which are finite, a temperature, and borders of its clusters")
    }

    /// Converts the outcome of a run to the units and the order that users see. Clusters without rows are left out.
    pub(crate) fn new<T: Scalar>(
        input: Input<'_>,
        rows: &Rows<T>,
        outcome: Outcome,
        labelled: impl Iterator<Item = Labelled>,
        parameters: &Parameters,
    ) -> Self {
        let is_open = parameters.final_temperature().is_none();
        let chosen = outcome.state.number.as_ref().map(|number| number.clusters);
        let asked = parameters.clusters.or(chosen).filter(|_| is_open);
        let how = if chosen.is_some() { "chosen" } else { "given" };
        let Outcome { state, totals, spent } = outcome;
        let grown = state.grown;
        let found = Clusters::new(input, rows, &totals, Numbering::ByWeight, labelled);
        let mut warnings = Vec::new();
        if grown.critical_temperature == 0.0 && input.len() > 1 {
            warnings.push("all points of positive weight are the same point: there is one cluster".to_string());
        } else if let Some(asked) = asked
            && found.clusters.len() < asked
        {
            let positions = distinct_positions(input, asked);
            warnings.push(if positions < asked {
                format!("{asked} clusters were {how}, but the points of positive weight have only {positions} distinct positions")
            } else if rows.bernoulli.is_some() {
                format!(
                    "{asked} clusters were {how}, but only {} were found: with the prior of each cluster, no further division raises the likelihood",
                    found.clusters.len()
                )
            } else {
                format!(
                    "{asked} clusters were {how}, but only {} were found: dividing one of them changes less than rounding does",
                    found.clusters.len()
                )
            });
        }
        if grown.critical_temperature > 0.0 && grown.critical_temperature <= LEAST_CRITICAL {
            warnings.push(
                "one point has nearly all of the weight, so annealing has no effect: Lehr found the clusters by dividing alone, \
                 and ignored the final temperature"
                    .to_string(),
            );
        }
        if rows.units.squared(1.0) < f64::MIN_POSITIVE {
            warnings.push(format!(
                "the squares of the distances, of {:e} at most, are too small for a number to hold: figures in squared units are 0 or have few digits; \
                 multiply the columns by a power of ten",
                rows.units.length
            ));
        }
        if !is_open
            && let Some(last) = grown.history.last()
            && last.next_critical > last.temperature
            && last.clusters >= parameters.clusters.unwrap_or(parameters.most_clusters(rows))
        {
            warnings.push(format!(
                "the limit of {} clusters was reached before the final temperature: there may be more",
                last.clusters
            ));
        }
        warnings.extend(state.number.as_ref().and_then(|number| number.warning(parameters.max_clusters)));
        let squared = rows.units.squared(1.0);
        Model {
            dimension: rows.dimension,
            centers: found.centers,
            clusters: found.clusters,
            labels: found.labels,
            probabilities: found.probabilities,
            borders: found.borders,
            outliers: parameters.sponge.map(|_| found.outliers),
            cost: parameters.cost,
            objective: found.objective,
            sum_of_squares: found.sum_of_squares,
            sponge: parameters.sponge,
            free_energy: grown.history.last().map_or(found.objective, |step| step.free_energy),
            last_temperature: grown.last_soft_temperature * squared,
            critical_temperature: grown.critical_temperature * squared,
            iterations: state.sweeps,
            history: grown.history,
            splits: grown.splits,
            number: state.number,
            finish: state.finish,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
            imbalance: spent.imbalance,
        }
    }
}

/// Counts the distinct rows of positive weight, up to `most`.
fn distinct_positions(input: Input<'_>, most: usize) -> usize {
    let mut seen = HashSet::new();
    for row in (0..input.len()).filter(|&row| input.weight(row) > 0.0) {
        if seen.len() == most {
            break;
        }
        seen.insert(match input {
            // Adding 0 turns -0 into 0, so that both are one position.
            Input::Numbers(points) => points.row(row).iter().map(|value| (value + 0.0).to_bits()).collect::<Vec<_>>(),
            Input::Bits(rows) => rows.row(row).to_vec(),
            Input::Sparse(rows) => {
                let (columns, values) = rows.row(row);
                columns.iter().zip(values).flat_map(|(column, value)| [u64::from(*column), value.to_bits()]).collect()
            }
        });
    }
    seen.len()
}
