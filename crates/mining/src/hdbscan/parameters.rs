//! The parameters of density-based clustering, and their validation.

use serde::{Deserialize, Serialize};

use crate::Error;

/// The rule that chooses clusters from the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// The clusters that persist over the widest range of densities: the excess of mass.
    #[default]
    Eom,
    /// The clusters that do not split any further.
    Leaf,
}

/// The parameters of density-based clustering.
///
/// # Example
/// ```
/// use lehr_mining::hdbscan::Parameters;
/// assert_eq!(Parameters::default().min_cluster_size, 5);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The smallest number of items that form a cluster, at least 2. Default: 5.
    pub min_cluster_size: usize,
    /// The core distance of an item reaches this many items, including the item itself; at least 1. More items make more
    /// of them noise. Default: `min_cluster_size`.
    pub min_samples: Option<usize>,
    /// The rule that chooses clusters. Default: excess of mass.
    pub selection: Selection,
    /// Clusters that split off below this distance are not split (Malzer and Baum 2020); 0 or more. Default: 0.
    pub epsilon: f64,
    /// The largest number of items of a chosen cluster, if there are smaller ones inside it. Default: no limit.
    pub max_cluster_size: Option<usize>,
    /// Whether all items may form a single cluster. Default: no.
    pub allow_single_cluster: bool,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            min_cluster_size: 5,
            min_samples: None,
            selection: Selection::default(),
            epsilon: 0.0,
            max_cluster_size: None,
            allow_single_cluster: false,
        }
    }
}

impl Parameters {
    /// Checks each value.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`].
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        if self.min_cluster_size < 2 {
            return wrong("min_cluster_size", "at least 2", self.min_cluster_size.to_string());
        }
        if self.min_samples == Some(0) {
            return wrong("min_samples", "at least 1", "0".into());
        }
        if self.max_cluster_size == Some(0) {
            return wrong("max_cluster_size", "at least 1", "0".into());
        }
        if !(self.epsilon.is_finite() && self.epsilon >= 0.0) {
            return wrong("epsilon", "0 or more", self.epsilon.to_string());
        }
        Ok(())
    }

    /// The number of items that a core distance reaches.
    pub(super) fn samples(&self) -> usize {
        self.min_samples.unwrap_or(self.min_cluster_size)
    }
}
