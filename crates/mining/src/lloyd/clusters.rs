//! Clusters in the form that users see, for every method that finds centres: numbered, and in the unit of the points.

use super::label::{Labelled, Totals};
use super::noise::OUTLIER;
use crate::borders::Borders;
use crate::rows::{Input, RowMajor, Rows, Scalar};

/// The statistics of a cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The number of rows, including those of weight 0.
    pub rows: u64,
    /// The sum of the rows' weights.
    pub weight: f64,
    /// The weighted root mean square distance of the rows from the centre, in the unit of the points, for any cost.
    pub spread: f64,
    /// The weighted mean probability of the rows' labels.
    pub probability: f64,
}

/// The outliers: rows that are in no cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Outliers {
    /// The number of rows, including those of weight 0.
    pub rows: u64,
    /// The sum of the rows' weights.
    pub weight: f64,
}

/// The order in which clusters are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// By decreasing weight. Clusters of equal weight keep the order in which they were found.
    ByWeight,
    /// In the order of the centres that the user gave.
    AsGiven,
}

/// Clusters in the units and the order that users see.
#[derive(Debug)]
pub(crate) struct Clusters {
    /// The weighted means of the clusters: K x D, row-major, in the unit of the points.
    pub centers: Vec<f64>,
    /// The statistics of each cluster, in the order of the centres.
    pub clusters: Vec<Cluster>,
    /// The cluster of each row, in the order of the input; [`OUTLIER`] for a row that is in no cluster.
    pub labels: Vec<u32>,
    /// The probability of each row's label.
    pub probabilities: Vec<f64>,
    /// The borders between neighbouring clusters.
    pub borders: Borders,
    /// The rows that are in no cluster.
    pub outliers: Outliers,
    /// The weighted mean of the rows' squared distances, or of their costs if the cost is not the squared distance.
    pub objective: f64,
    /// The weighted sum of squared distances.
    pub sum_of_squares: f64,
}

impl Clusters {
    /// Converts the result of [`label_all`](super::label::label_all) to the units and the order that users see.
    /// Clusters without rows are left out.
    pub fn new<T: Scalar>(
        input: Input<'_>,
        rows: &Rows<T>,
        totals: &Totals,
        numbering: Numbering,
        labelled: impl Iterator<Item = Labelled>,
    ) -> Self {
        let Totals { centers, sums, spreads, outside, borders } = totals;
        let (sums, units) = (RowMajor::new(sums, 1 + rows.dimension), &rows.units);
        let masses: Vec<f64> = sums.rows().map(|sums| sums[0]).collect();
        let mut order: Vec<usize> = (0..centers.len()).filter(|&k| masses[k] > 0.0 || spreads[2 * k] > 0.0).collect();
        if numbering == Numbering::ByWeight {
            order.sort_by(|&a, &b| masses[b].total_cmp(&masses[a]).then(a.cmp(&b)));
        }
        let mut number = vec![0u32; centers.len()];
        for (new, &old) in order.iter().enumerate() {
            number[old] = new as u32;
        }
        let (mut labels, mut probabilities) = (vec![0; input.len()], vec![0.0; input.len()]);
        for (leaf, labelled) in rows.leaves.iter().zip(labelled) {
            let places = leaf.rows.iter().chain(&leaf.bystander_rows);
            for ((&row, label), probability) in places.zip(labelled.labels).zip(labelled.probabilities) {
                labels[row as usize] = if label == OUTLIER { OUTLIER } else { number[label as usize] };
                probabilities[row as usize] = probability;
            }
        }
        // If the cost of bits is not a squared distance, the squared distances follow from the sums.
        let squares: Vec<f64> = match rows.bernoulli {
            None => spreads.chunks_exact(2).map(|spread| spread[1]).collect(),
            Some(_) => (0..centers.len())
                .map(|k| {
                    let (mass, ones) = sums.row(k).split_at(1);
                    let columns = ones.iter().zip(centers.center(k));
                    columns.map(|(ones, y)| ones * (1.0 - y) * (1.0 - y) + (mass[0] - ones).max(0.0) * y * y).sum()
                })
                .collect(),
        };
        let mut sure = vec![0.0; order.len()];
        for (row, (label, probability)) in labels.iter().zip(&probabilities).enumerate() {
            if let Some(sum) = sure.get_mut(*label as usize) {
                *sum += units.stored_weight(input, row as u32) * probability;
            }
        }
        let clusters = order.iter().zip(sure).map(|(&k, sure)| Cluster {
            rows: spreads[2 * k] as u64,
            weight: masses[k] * units.weight,
            spread: if masses[k] > 0.0 { (squares[k] / masses[k]).sqrt() * units.length } else { 0.0 },
            // The numbers were summed in another order, so rounding may raise the quotient above 1.
            probability: if masses[k] > 0.0 { (sure / masses[k]).min(1.0) } else { 1.0 },
        });
        let stored_cost: f64 = order.iter().map(|&k| spreads[2 * k + 1]).sum();
        let stored_squares: f64 = order.iter().map(|&k| squares[k]).sum();
        Self {
            borders: borders.renumbered(|cluster| number[cluster] as usize, |cost| units.squared(cost)),
            centers: order.iter().flat_map(|&k| units.position(centers.center(k))).collect(),
            clusters: clusters.collect(),
            labels,
            outliers: Outliers { rows: outside[0] as u64, weight: outside[1] * units.weight },
            probabilities,
            objective: units.squared(stored_cost / (rows.total_weight - outside[1])),
            sum_of_squares: stored_squares * units.squared(1.0) * units.weight,
        }
    }
}
