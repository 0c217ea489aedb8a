//! The parameters of mini-batch clustering, and their validation.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::lloyd::MOST_CLUSTERS;
use crate::rows::Precision;

/// The parameters of mini-batch clustering.
///
/// # Example
/// ```
/// use lehr_mining::minibatch::Parameters;
/// let parameters = Parameters { clusters: 20, half_life: Some(1e6), ..Parameters::default() };
/// assert_eq!((parameters.batch_rows, parameters.sample()), (10_000, 10_000));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The number of clusters, at least 1. Default: 8.
    pub clusters: usize,
    /// The number of rows of a batch, at least 1. Default: 10,000.
    pub batch_rows: usize,
    /// The number of rows at the beginning that are annealed; at least 1, and enough to contain all clusters. Default:
    /// none, which means `batch_rows`.
    pub sample_rows: Option<usize>,
    /// A row's weight halves after this many further rows, so that centres follow a changing stream; above 0. The rows
    /// of one batch count equally. Default: none, so all rows count fully.
    pub half_life: Option<f64>,
    /// The random seed, which only breaks ties while the sample is annealed. Default: 0.
    pub seed: u64,
    /// The precision of rows. In single precision, rows keep seven digits relative to the extent of their batch.
    /// Default: double.
    pub precision: Precision,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { clusters: 8, batch_rows: 10_000, sample_rows: None, half_life: None, seed: 0, precision: Precision::F64 }
    }
}

impl Parameters {
    /// The number of rows of the sample.
    pub fn sample(&self) -> usize {
        self.sample_rows.unwrap_or(self.batch_rows)
    }

    /// Checks each value, and the values against each other.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`], or [`Error::TooManyClusters`] if there are more clusters than rows in the sample.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        if self.clusters == 0 {
            return wrong("clusters", "at least 1", "0".into());
        }
        if self.clusters > MOST_CLUSTERS {
            return wrong("clusters", "at most 16777215", self.clusters.to_string());
        }
        for (name, rows) in [("batch_rows", self.batch_rows), ("sample_rows", self.sample())] {
            if rows == 0 || u32::try_from(rows).is_err() {
                return wrong(name, "1 to 4294967295", rows.to_string());
            }
        }
        if self.clusters > self.sample() {
            return Err(Error::TooManyClusters { clusters: self.clusters, points: self.sample() });
        }
        if let Some(rows) = self.half_life
            && !(rows.is_finite() && rows > 0.0)
        {
            return wrong("half_life", "a positive number of rows", rows.to_string());
        }
        Ok(())
    }
}
