//! The result of a pairwise clustering.

use lehr_numerics::lanes::Real;
use lehr_ranks::timing::Spread;

use super::field::{Problem, soften};
use super::fit::{Finish, State};
use super::hard::Hard;
use crate::Error;
use crate::anneal::run::Spent;
use crate::anneal::{Split, Step, Suggestion};
use crate::borders::{Borders, STEPS, SUMS};

/// The shares of a cluster's weight at which representatives of the cluster are chosen.
const REPRESENTED: [f64; 3] = [0.15, 0.4, 0.75];

/// The figures of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The number of items, including those of weight 0.
    pub items: u64,
    /// The sum of the items' weights.
    pub weight: f64,
    /// The medoid: the item with the lowest mean dissimilarity to the cluster; the first item if several are equal.
    pub medoid: usize,
    /// The mean dissimilarity of the medoid to the cluster.
    pub medoid_mean: f64,
    /// Items that represent the inner, middle and outer parts of the cluster. With members in order of their mean
    /// dissimilarity to the cluster, they are at 15, 40 and 75 % of its weight.
    pub representatives: [usize; 3],
    /// The mean dissimilarity of two members; pairs include each item with itself, and missing pairs are left out.
    pub mean_within: f64,
    /// The mean dissimilarity of a member to the members of the nearest other cluster; 0 if there is only one cluster.
    pub mean_nearest: f64,
}

/// Clusters of items that are only known by their dissimilarities, and facts about the fit. Clusters are numbered by
/// decreasing weight.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// The cluster of each item.
    pub labels: Vec<u32>,
    /// The probability that each item belongs to its cluster, from the borders with neighbouring clusters: 0 to 1.
    pub probabilities: Vec<f64>,
    /// The figures of each cluster.
    pub clusters: Vec<Cluster>,
    /// The cost H of the clusters: half the sum, over clusters, of their weight times the mean dissimilarity within.
    /// For squared distances, it is the sum of squares about the means.
    pub cost: f64,
    /// The free energy per unit of weight, at the last temperature of the history.
    pub free_energy: f64,
    /// The last soft temperature.
    pub last_temperature: f64,
    /// The temperature below which a single component is unstable.
    pub critical_temperature: f64,
    /// The number of passes over the matrix.
    pub iterations: u64,
    /// The state at each temperature, in order. `mean_cost` is the mean of the field under the soft assignment.
    pub history: Vec<Step>,
    /// The divisions, in order.
    pub splits: Vec<Split>,
    /// How the number of clusters was chosen, if it was not given.
    pub suggestion: Option<Suggestion>,
    /// The costs of the branches that the refinement compared.
    pub finish: Finish,
    /// Whether sweeps were damped, because dissimilarities that are not distances made them oscillate.
    pub is_damped: bool,
    /// The number of pairs without a dissimilarity.
    pub missing_pairs: u64,
    /// The seconds spent in each phase, by this process only.
    pub phases: Vec<(String, f64)>,
    /// The spread over ranks of the seconds; empty for engines without ranks.
    pub timers: Vec<Spread>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The number of rows on the rank with the most, divided by the mean.
    pub imbalance: f64,
}

/// The result of a run, on the lead rank.
pub(crate) struct Outcome {
    pub state: State,
    pub hard: Hard,
    pub spent: Spent,
}

impl Model {
    pub(crate) fn new<T: Real>(problem: &Problem<'_, T>, outcome: Outcome, parameters: &super::Parameters) -> Self {
        let Outcome { state, hard, spent } = outcome;
        let grown = state.grown;
        let unit = problem.matrix.unit;
        let items = problem.items();
        let first_member = |k: usize| hard.labels.iter().position(|&label| label as usize == k).unwrap_or(items);
        let mut order: Vec<usize> = (0..hard.count).filter(|&k| hard.masses[k] > 0.0).collect();
        order.sort_by(|&a, &b| hard.masses[b].total_cmp(&hard.masses[a]).then(first_member(a).cmp(&first_member(b))));
        let mut number = vec![0; hard.count];
        order.iter().enumerate().for_each(|(new, &old)| number[old] = new as u32);
        let temperature = grown.last_soft_temperature;
        let probabilities = probabilities(problem, &hard);
        let clusters: Vec<Cluster> = order.iter().map(|&k| cluster(problem, &hard, k)).collect();
        let mut warnings: Vec<String> = problem.matrix.rounding.iter().cloned().collect();
        warnings.extend(problem.matrix.missing_warning());
        let is_open = parameters.stop_temperature.is_none();
        if grown.critical_temperature == 0.0 && items > 1 {
            warnings.push("no dissimilarity distinguishes the items: there is one cluster".to_string());
        } else if let Some(asked) = parameters.clusters.filter(|_| is_open)
            && clusters.len() < asked
        {
            warnings.push(format!("you requested {asked} clusters, but Lehr found only {}: dividing one of them changes less than rounding does", clusters.len()));
        }
        let suggestion =
            (parameters.clusters.is_none() && is_open).then(|| Suggestion::new(grown.plateaus, clusters.len()));
        warnings.extend(suggestion.as_ref().and_then(Suggestion::warning));
        let cost = hard.cost() * unit * problem.weight_unit;
        Self {
            labels: hard.labels.iter().map(|&label| number[label as usize]).collect(),
            probabilities,
            cost,
            free_energy: grown
                .history
                .last()
                .map_or(hard.cost() / problem.total_weight * unit, |step| step.free_energy),
            last_temperature: temperature * unit,
            critical_temperature: grown.critical_temperature * unit,
            iterations: state.sweeps,
            suggestion,
            history: grown.history,
            splits: grown.splits,
            finish: state.finish,
            is_damped: grown.components.is_damped,
            missing_pairs: problem.matrix.survey.gaps,
            clusters,
            phases: spent.phases,
            timers: spent.timers,
            warnings,
            imbalance: spent.imbalance,
        }
    }

    /// Returns the cluster of a new item, and the item's membership in it at a temperature (in the unit of the
    /// dissimilarities).
    ///
    /// `dissimilarities` has the new item's dissimilarities to the N items, NaN where unknown. `weights` has the items'
    /// weights, or is `None` if all weights are 1. Cost: N operations.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if shapes disagree, a value is negative or the temperature is not positive.
    /// Returns [`Error::Unrelated`] if no dissimilarity to an item of weight above 0 is known.
    ///
    /// # Example
    /// ```
    /// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
    /// use lehr_mining::{Execution, anneal::Silent, pairwise::{Parameters, cluster}};
    /// // Two pairs: 1 apart within, 9 between.
    /// let matrix = Dissimilarities::new(4, Form::Condensed, Values::F64(vec![1.0, 9.0, 9.0, 9.0, 9.0, 1.0]), 1.0)?;
    /// let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
    /// let model = cluster(&matrix, None, &parameters, &Execution::default(), &mut Silent)?;
    /// let (label, membership) = model.assign(&[8.0, 8.0, 2.0, 2.0], None, 1.0)?;
    /// assert_eq!(label, model.labels[2]);
    /// assert!(membership > 0.99);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn assign(
        &self,
        dissimilarities: &[f64],
        weights: Option<&[f64]>,
        temperature: f64,
    ) -> Result<(u32, f64), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        if dissimilarities.len() != self.labels.len() {
            let found = format!("{} for {} items", dissimilarities.len(), self.labels.len());
            return wrong("dissimilarities", "one to each item", found);
        }
        if !(temperature.is_finite() && temperature > 0.0) {
            return wrong("temperature", "a positive number", temperature.to_string());
        }
        if let Some(value) = dissimilarities.iter().find(|value| value.is_infinite() || **value < 0.0) {
            return wrong("dissimilarities", "finite numbers of 0 or more, or NaN", value.to_string());
        }
        let (weights, _) = crate::matrix::item_weights(weights, self.labels.len())?;
        let count = self.clusters.len();
        let (mut sums, mut known) = (vec![0.0; count], vec![0.0; count]);
        for ((value, weight), &label) in dissimilarities.iter().zip(&weights).zip(&self.labels) {
            if !value.is_nan() {
                sums[label as usize] += weight * value;
                known[label as usize] += weight;
            }
        }
        if known.iter().all(|&known| known == 0.0) {
            return Err(crate::matrix::unrelated(vec![0]));
        }
        // A cluster to which no dissimilarity is known is not a candidate.
        let eps: Vec<f64> = (0..count)
            .map(|k| if known[k] > 0.0 { sums[k] / known[k] - 0.5 * self.clusters[k].mean_within } else { f64::MAX })
            .collect();
        let nearest = (0..count).fold(0, |best, k| if eps[k] < eps[best] { k } else { best });
        let mut memberships = vec![0.0; count];
        soften(&eps, &vec![0.0; count], temperature, &mut memberships);
        Ok((nearest as u32, memberships[nearest]))
    }
}

/// Computes the probability of each item's label in the same way as for rows, with the field instead of the squared
/// distance.
fn probabilities<T: Real>(problem: &Problem<'_, T>, hard: &Hard) -> Vec<f64> {
    let (items, count, weights) = (problem.items(), hard.count, &problem.weights);
    let label = |item: usize| hard.labels[item] as usize;
    // The mean field in each cluster (columns) of the items of each cluster (rows).
    let mut fields = vec![0.0; count * count];
    for item in (0..items).filter(|item| weights[*item] > 0.0) {
        let share = weights[item] / hard.masses[label(item)];
        fields[label(item) * count..][..count]
            .iter_mut()
            .enumerate()
            .for_each(|(k, sum)| *sum += share * hard.field(item, k));
    }
    // If all pairs are known, both directions give the same value. For squared distances, it is the squared distance of
    // the two means.
    let from = |a: usize, b: usize| fields[a * count + b] - fields[a * count + a];
    let apart = |a: usize, b: usize| 0.5 * (from(a, b) + from(b, a));
    let mut borders = Borders::of_neighbours(count, 1, |k| hard.masses[k] > 0.0, apart);
    for step in 0..=STEPS {
        let neighbours = borders.neighbourhoods(count);
        let mut sums = vec![0.0; SUMS * borders.len()];
        for item in (0..items).filter(|item| weights[*item] > 0.0) {
            let own = hard.field(item, label(item));
            let excess = |other| hard.field(item, other) - own;
            neighbours.add(label(item), excess, step == 0, weights[item], &mut sums);
        }
        borders.each_mut().zip(sums.chunks_exact(SUMS)).for_each(|(border, sums)| border.step(sums));
    }
    let neighbours = borders.neighbourhoods(count);
    let probability = |item: usize| {
        let own = hard.field(item, label(item));
        neighbours.probability(
            label(item),
            neighbours.all(label(item)),
            |_, other| hard.field(item, other) - own,
            |_, _| (),
        )
    };
    (0..items).map(probability).collect()
}

fn cluster<T: Real>(problem: &Problem<'_, T>, hard: &Hard, k: usize) -> Cluster {
    let unit = problem.matrix.unit;
    let is_in = |&item: &usize| hard.labels[item] as usize == k;
    let members: Vec<usize> = (0..problem.items()).filter(is_in).collect();
    let mut heavy: Vec<usize> = members.iter().copied().filter(|&item| problem.weights[item] > 0.0).collect();
    heavy.sort_by(|&a, &b| hard.mean(a, k).total_cmp(&hard.mean(b, k)).then(a.cmp(&b)));
    let representatives = REPRESENTED.map(|share| {
        let mut passed = 0.0;
        let at = heavy.iter().find(|&&item| {
            passed += problem.weights[item];
            passed >= share * hard.masses[k]
        });
        *at.or(heavy.last()).expect("a cluster of positive weight has members of positive weight")
    });
    let mut nearest = 0.0;
    for &item in &heavy {
        let others = (0..hard.count).filter(|&l| l != k && hard.masses[l] > 0.0);
        let least = others.map(|l| hard.mean(item, l)).fold(f64::INFINITY, f64::min);
        nearest += if least.is_finite() { problem.weights[item] * least } else { 0.0 };
    }
    Cluster {
        items: members.len() as u64,
        weight: hard.masses[k] * problem.weight_unit,
        medoid: heavy[0],
        medoid_mean: hard.mean(heavy[0], k) * unit,
        representatives,
        mean_within: hard.mean_within(k) * unit,
        mean_nearest: nearest / hard.masses[k] * unit,
    }
}
