//! The parameters of k-means, and their one check.

use serde::{Deserialize, Serialize};

use lehr_data::error::number;

use crate::Error;
use crate::lloyd::MOST_CLUSTERS;
use crate::rows::{Input, PLACE, Precision};

/// How rows are assigned in a sweep. Both give the same bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sweeps {
    /// Near rows share boxes. A centre is left out if every row of a box has a nearer one. A box around which no centre
    /// has moved is not looked at again. In more than 16 dimensions every centre matters to every box, and this is the
    /// plain form. Rows of bits remember how near each of 16 and more centres can be, and are compared with those that
    /// may be near.
    #[default]
    Bounded,
    /// Each row against each centre, as Lloyd's algorithm says.
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
    /// The number of starts, and the best is kept; at least 1. Default: 10.
    pub starts: usize,
    /// The largest number of sweeps of a start, at least 1. Default: 300.
    pub max_sweeps: u64,
    /// An iteration that lowers the sum of squares by no more than this share is the last of its start, 0 to 1. With 0
    /// iterations continue to the fixed point. Default: 0.
    pub tolerance: f64,
    /// The random seed, which draws the starts. Default: 0.
    pub seed: u64,
    /// Default: bounded.
    pub sweeps: Sweeps,
    /// Default: double.
    pub precision: Precision,
    /// The initial centres, K x D, row-major, in the unit of the points; `starts` and `seed` then have no effect.
    /// Default: none, and centres are drawn.
    // Left out where there are none, so that checkpoints from before it was there are gone on with.
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
    /// The number of starts.
    pub(super) fn begun(&self) -> usize {
        if self.centers.is_some() { 1 } else { self.starts }
    }

    /// Checks each value, and the values against the points.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`], [`Error::TooManyClusters`] or [`Error::TooManyPoints`].
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
        if self.max_sweeps == 0 {
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
