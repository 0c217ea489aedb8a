//! The parameters of agglomerative clustering, and their validation.

use lehr_data::dissimilarities::Dissimilarities;
use serde::{Deserialize, Serialize};

use crate::Error;

/// The distance between two clusters, from the dissimilarities of their items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Linkage {
    /// The mean over all pairs of items (UPGMA).
    #[default]
    Average,
    /// The largest dissimilarity.
    Complete,
    /// The smallest dissimilarity.
    Single,
    /// The mean of the distances of the two clusters that were joined, whatever their weights (WPGMA).
    Weighted,
    /// The root of twice the increase of the sum of squares (Ward 1963). It expects Euclidean distances.
    Ward,
}

/// The parameters of agglomerative clustering.
///
/// # Example
/// ```
/// use lehr_mining::hierarchy::{Linkage, Parameters};
/// assert_eq!(Parameters::default().linkage, Linkage::Average);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The number of clusters, at least 1. Default: the number with the largest mean silhouette.
    pub clusters: Option<usize>,
    /// Cut the tree at this height: clusters farther apart stay separate, and those at this height are joined. 0 or more;
    /// not together with `clusters`.
    pub height: Option<f64>,
    /// The largest number of clusters that the silhouettes may choose, at least 1. Default: 20.
    pub max_clusters: usize,
    /// The distance between clusters. Default: the mean over all pairs of items.
    pub linkage: Linkage,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { clusters: None, height: None, max_clusters: 20, linkage: Linkage::default() }
    }
}

impl Parameters {
    /// Checks each value, and the values against the matrix.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`], or [`Error::TooManyClusters`] if there are more clusters than items.
    pub fn check(&self, matrix: &Dissimilarities) -> Result<(), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        if self.clusters == Some(0) {
            return wrong("clusters", "at least 1", "0".into());
        }
        if self.max_clusters == 0 {
            return wrong("max_clusters", "at least 1", "0".into());
        }
        if let Some(height) = self.height {
            if !(height.is_finite() && height >= 0.0) {
                return wrong("height", "0 or more", height.to_string());
            }
            if self.clusters.is_some() {
                return wrong("height", "a value only without clusters", height.to_string());
            }
        }
        match self.clusters {
            Some(clusters) if clusters > matrix.items() => {
                Err(Error::TooManyClusters { clusters, points: matrix.items() })
            }
            _ => Ok(()),
        }
    }
}
