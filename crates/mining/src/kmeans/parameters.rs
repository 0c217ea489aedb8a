//! The parameters of k-means, and their validation.

use serde::{Deserialize, Serialize};

use lehr_data::error::number;

use crate::Error;
use crate::lloyd::MOST_CLUSTERS;
use crate::rows::{Input, PLACE, Precision};

/// How an iteration assigns rows to centres. Both methods give bit-identical results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sweeps {
    /// Group nearby rows in bounding boxes. A centre is not compared with the rows of a box if every row of the box has
    /// a nearer centre. A box is skipped if no centre around the box has moved. In more than 16 dimensions, boxes
    /// exclude hardly any centres, so each row is compared with each centre as in `Plain`. With at least 16 centres,
    /// each row of bits keeps a lower bound on its distance to each centre. Rows of bits are compared only with centres
    /// that may be nearest.
    #[default]
    Bounded,
    /// Compare each row with each centre, as in Lloyd's algorithm.
    Plain,
}

/// The parameters of k-means.
///
/// # Example
/// ```
/// use lehr_mining::kmeans::Parameters;
/// let parameters = Parameters { clusters: 20, starts: 1, ..Parameters::default() };
/// assert_eq!(parameters.max_sweeps, 300);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The number of clusters, at least 1. Default: 8.
    pub clusters: usize,
    /// The number of starts, at least 1. The best start is kept. Default: 10.
    pub starts: usize,
    /// The maximum number of iterations of a start, at least 1. Default: 300. With given centres, it may be 0: then the
    /// centres stay, and the run only labels the rows.
    pub max_sweeps: u64,
    /// The relative tolerance for convergence, 0 to 1. A start ends when an iteration lowers the sum of squares by at
    /// most this share. With 0, a start continues to its fixed point. Default: 0.
    pub tolerance: f64,
    /// The random seed for drawing the initial centres. Default: 0.
    pub seed: u64,
    /// How an iteration assigns rows to centres. Default: bounded.
    pub sweeps: Sweeps,
    /// The precision in which rows are stored. Default: double.
    pub precision: Precision,
    /// The initial centres: K x D, row-major, in the unit of the points. If they are given, there is only one start,
    /// and `starts` and `seed` have no effect. Default: none; the centres are drawn by k-means++.
    // The field is omitted if no centres are given. Older checkpoints, which lack this field, can therefore be resumed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub centers: Option<Vec<f64>>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            clusters: 8,
            starts: 10,
            max_sweeps: 300,
            tolerance: 0.0,
            seed: 0,
            sweeps: Sweeps::Bounded,
            precision: Precision::F64,
            centers: None,
        }
    }
}

impl Parameters {
    /// The number of starts that a run makes, which is 1 if the initial centres are given.
    pub(super) fn begun(&self) -> usize {
        if self.centers.is_some() { 1 } else { self.starts }
    }

    /// Checks that each parameter is valid, and that it fits the points.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] for an invalid value, [`Error::TooManyClusters`] if there are more clusters than
    /// points, or [`Error::TooManyPoints`] if a `u32` cannot number the points.
    pub fn check<'a>(&self, input: impl Into<Input<'a>>) -> Result<(), Error> {
        let points = input.into();
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        if self.clusters == 0 {
            return wrong("clusters", "at least 1", "0".into());
        }
        if self.clusters > MOST_CLUSTERS {
            return wrong("clusters", "at most 16777215", self.clusters.to_string());
        }
        if self.clusters > points.len() {
            return Err(Error::TooManyClusters { clusters: self.clusters, points: points.len() });
        }
        if !points.has_place_for(self.clusters) {
            return wrong("clusters", PLACE, format!("{} of {} columns", self.clusters, points.dimension()));
        }
        if self.begun() == 0 {
            return wrong("starts", "at least 1", "0".into());
        }
        if let Some(centers) = &self.centers {
            let expected = "as many coordinates as clusters have columns together";
            if Some(centers.len()) != self.clusters.checked_mul(points.dimension()) {
                let found = format!("{} of {} columns, {} clusters", centers.len(), points.dimension(), self.clusters);
                return wrong("centers", expected, found);
            }
            if let Some(value) = centers.iter().find(|value| !value.is_finite()) {
                return wrong("centers", "finite numbers", number(*value));
            }
        }
        if self.max_sweeps == 0 && self.centers.is_none() {
            return wrong("max_sweeps", "at least 1", "0".into());
        }
        if !(0.0..=1.0).contains(&self.tolerance) {
            return wrong("tolerance", "0 to 1", number(self.tolerance));
        }
        if u32::try_from(points.len()).is_err() {
            return Err(Error::TooManyPoints { points: points.len() });
        }
        Ok(())
    }
}
