//! The parameters of a pairwise clustering, and their validation.

use lehr_data::dissimilarities::Dissimilarities;
use lehr_data::error::number;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The maximum number of components, if the number of clusters is neither given nor limited.
const MOST_SUGGESTED: usize = 20;

/// The parameters of pairwise clustering. A run ends at a number of clusters or at a temperature. Without either, it
/// chooses the number of clusters that persists longest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The number of clusters, at least 1. Default: none.
    pub clusters: Option<usize>,
    /// The final temperature, in the unit of the dissimilarities ("full" convention: memberships are `exp(-eps / T)`).
    /// Default: none.
    pub stop_temperature: Option<f64>,
    /// The maximum number of clusters, if `clusters` is not given. Default: 20, or the number of items if there is a
    /// final temperature.
    pub max_clusters: Option<usize>,
    /// The factor from one temperature to the next, 0.5 to 0.999. Default: 0.95.
    pub cooling: f64,
    /// A fixed point is reached when no field changes by more than this share of the temperature, 1e-12 to 0.1.
    /// Default: 1e-3.
    pub tolerance: f64,
    /// The maximum number of components, as a multiple of `clusters`, 1 to 4; surplus components are merged again.
    /// Default: 1.5.
    pub overshoot: f64,
    /// The random seed for the directions from which the search for eigenvectors starts. Default: 0.
    pub seed: u64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            clusters: None,
            stop_temperature: None,
            max_clusters: None,
            cooling: 0.95,
            tolerance: 1e-3,
            overshoot: 1.5,
            seed: 0,
        }
    }
}

impl Parameters {
    /// Returns the maximum number of components, if the number of clusters is not given.
    pub(crate) fn most_clusters(&self, items: usize) -> usize {
        let default = if self.stop_temperature.is_some() { items } else { MOST_SUGGESTED.min(items) };
        self.max_clusters.unwrap_or(default)
    }

    /// Checks each value, and the values against the matrix.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] or [`Error::TooManyClusters`].
    pub fn check(&self, matrix: &Dissimilarities) -> Result<(), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        if let Some(clusters) = self.clusters {
            if clusters == 0 {
                return wrong("clusters", "at least 1", "0".into());
            }
            if clusters > matrix.items() {
                return Err(Error::TooManyClusters { clusters, points: matrix.items() });
            }
        }
        if let Some(temperature) = self.stop_temperature
            && !(temperature.is_finite() && temperature > 0.0)
        {
            return wrong("stop_temperature", "a positive number", number(temperature));
        }
        if self.max_clusters == Some(0) {
            return wrong("max_clusters", "at least 1", "0".into());
        }
        if !(0.5..=0.999).contains(&self.cooling) {
            return wrong("cooling", "0.5 to 0.999", number(self.cooling));
        }
        if !(1e-12..=0.1).contains(&self.tolerance) {
            return wrong("tolerance", "1e-12 to 0.1", number(self.tolerance));
        }
        if !(1.0..=4.0).contains(&self.overshoot) {
            return wrong("overshoot", "1 to 4", number(self.overshoot));
        }
        Ok(())
    }
}
