//! The parameters of k-medoids, and their validation.

use lehr_data::dissimilarities::Dissimilarities;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The parameters of k-medoids.
///
/// # Example
/// ```
/// use lehr_mining::kmedoids::Parameters;
/// assert_eq!(Parameters { clusters: 3, ..Parameters::default() }.max_passes, 100);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The number of clusters, at least 1. Default: 8.
    pub clusters: usize,
    /// The maximum number of passes over all candidates for swaps; 0 keeps the medoids of the greedy start. Default:
    /// 100.
    pub max_passes: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { clusters: 8, max_passes: 100 }
    }
}

impl Parameters {
    /// Checks each value, and the values against the matrix and the weights of its items.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`], or [`Error::TooManyClusters`] if there are more clusters than items of positive
    /// weight.
    pub fn check(&self, matrix: &Dissimilarities, weights: Option<&[f64]>) -> Result<(), Error> {
        if self.clusters == 0 {
            return Err(Error::Parameter { name: "clusters", expected: "at least 1", found: "0".into() });
        }
        let points = weights.map_or(matrix.items(), |weights| weights.iter().filter(|&&weight| weight > 0.0).count());
        if self.clusters > points {
            return Err(Error::TooManyClusters { clusters: self.clusters, points });
        }
        Ok(())
    }
}
