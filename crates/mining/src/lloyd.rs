//! Centres and the rows nearest to them: hard assignment, Lloyd's algorithm, labels.
//!
//! | file | subject |
//! | --- | --- |
//! | `centers.rs` | centres, and planes that divide their clusters |
//! | `side_by_side.rs` | centres in the layout of the kernels |
//! | `hard.rs`, `known.rs` | one pass of hard assignment; the same over rows of bits, by bounds |
//! | `sweeps.rs` | Lloyd's algorithm |
//! | `noise.rs`, `trimmed.rs` | the noise component, which takes outliers; Lloyd's algorithm with this component |
//! | `label.rs`, `certainty.rs` | the cluster of each row; how certain this label is |
//! | `cost.rs` | the cost of a row in a cluster |
//! | `clusters.rs` | clusters in the units and order that users see |
//! | `centroids.rs`, `listed.rs` | the clusters of new rows; the nearest centres of an array's rows |
//!
//! Vector annealing ends with these functions. K-means consists of these functions, and mini-batches and mixtures use
//! some of them. Only the noise component, which an outlier radius adds, depends on a temperature.

mod centers;
mod centroids;
mod certainty;
mod clusters;
mod cost;
mod hard;
mod known;
mod label;
mod listed;
mod noise;
mod side_by_side;
mod sweeps;
mod trimmed;

pub(crate) use centers::{AWAY, Centers, Planes};
pub use centroids::{Assignment, Centroids};
pub use clusters::{Cluster, Outliers};
pub(crate) use clusters::{Clusters, Numbering};
pub(crate) use hard::{Remembered, nearest_active};
pub(crate) use label::{Labelled, LastMove, Outside, Totals, label_all};
pub use listed::Listed;
pub use noise::OUTLIER;
pub(crate) use noise::{NoiseComponent, share_of};
#[cfg(test)]
pub(crate) use noise::{plain_score, within};
pub(crate) use sweeps::{Lloyd, Patience, Swept, TO_THE_END};
pub(crate) use trimmed::trim;

/// The maximum number of clusters. Lanes hold the indices of centres as single-precision numbers, which represent every
/// whole number up to this limit.
pub(crate) const MOST_CLUSTERS: usize = (1 << 24) - 1;
