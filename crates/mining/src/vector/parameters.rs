//! The parameters of vector annealing, and their validation.

use lehr_numerics::lanes::Real;
use serde::{Deserialize, Serialize};

use lehr_data::error::number;

use crate::Error;
use crate::lloyd::MOST_CLUSTERS;
use crate::rows::{Cost, Input, PLACE, Precision, Rows};

/// The number of clusters to expect if a temperature ends the run.
const EXPECTED: usize = 32;

/// The parameters of annealing. By default, the run chooses the number of clusters.
///
/// Without `clusters`, `stop_temperature` and `stop_length`, the run chooses the number of clusters. It is the largest
/// number at which the density has a valley between every two neighbouring clusters, or 1 for a single group
/// ([`number`](crate::number)).
///
/// # Example
/// ```
/// use lehr_mining::vector::Parameters;
/// let parameters = Parameters { clusters: Some(20), seed: 7, ..Parameters::default() };
/// assert_eq!(parameters.cooling, 0.95);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Parameters {
    /// The number of clusters, at least 1. Default: none.
    pub clusters: Option<usize>,
    /// The final temperature, in the squared unit of the points, or in nats if the cost is in nats; above 0. If
    /// `clusters` is given too, growth ends at whichever is reached first. Default: none.
    pub stop_temperature: Option<f64>,
    /// The final length scale `sqrt(T / 2)`, in the unit of the points; above 0. This is another way to specify
    /// `stop_temperature`. Giving both is an error, and so is a length with a Bernoulli cost. Default: none.
    pub stop_length: Option<f64>,
    /// The maximum number of clusters if `clusters` is not given, at least 1. Default: if the number is chosen, about
    /// 1,024, or a quarter of the examined rows if that is smaller. If a final temperature is given, there is no limit.
    /// The centres of sparse rows never have more than 268,435,456 coordinates together.
    pub max_clusters: Option<usize>,
    /// The outlier radius: rows farther than this from every centre are in no cluster. They are labelled
    /// [`OUTLIER`](super::OUTLIER) and move no centre. In the unit of the points; above 0. Default: none, so every row
    /// is in a cluster.
    pub sponge: Option<f64>,
    /// The cost of a row in a cluster. Default: the squared distance from its centre.
    #[serde(default, skip_serializing_if = "Cost::is_squared")]
    pub cost: Cost,
    /// The factor from one temperature to the next while clusters divide, 0.5 to 0.999. Default: 0.95.
    pub cooling: f64,
    /// A fixed point is reached when no squared move exceeds this share of the temperature, 1e-12 to 1e-2. Default:
    /// 1e-4.
    pub tolerance: f64,
    /// The factor of overshooting, 1 to 4: one branch of the refinement grows to this many times `clusters`, and is
    /// merged back. There is no such branch if the factor is 1 or clusters lie far apart. More than 1,000 clusters, an
    /// outlier radius or a final temperature also switch it off. Default: 1.5.
    pub overshoot: f64,
    /// The patience of the search by swaps; 0 for no search. After this many unsuccessful swaps for each cluster, the
    /// search stops trying the swaps that look best. If the first swaps improve nothing, the search is shortened,
    /// unless the patience is above the default. Default: 4.
    pub patience: usize,
    /// The random seed. It only breaks ties: it determines the last digits of the displacement at a division, and the
    /// first directions of the search by swaps. Default: 0.
    pub seed: u64,
    /// The precision in which rows are stored. Default: double.
    pub precision: Precision,
    /// Whether to anneal all rows instead of a summary. Lehr uses a summary for 5,000 rows of numbers or more in up to
    /// 16 columns. It needs 2 to 2,000 clusters, at least 40 rows for each, squared distances, no outlier radius and no
    /// final temperature (`docs/design/summary.md`). Default: no.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub exact: bool,
}
/// The default patience.
pub(crate) const PATIENCE: usize = 4;

impl Default for Parameters {
    fn default() -> Self {
        Self {
            clusters: None,
            stop_temperature: None,
            stop_length: None,
            max_clusters: None,
            sponge: None,
            cost: Cost::Squared,
            cooling: 0.95,
            tolerance: 1e-4,
            overshoot: 1.5,
            patience: PATIENCE,
            seed: 0,
            precision: Precision::F64,
            exact: false,
        }
    }
}

impl Parameters {
    /// Returns the maximum number of components for these rows, if the number is not given.
    pub(crate) fn most_clusters<T: Real>(&self, rows: &Rows<T>) -> usize {
        self.max_clusters.unwrap_or(rows.count).min(MOST_CLUSTERS).min(rows.most_centers())
    }

    /// Returns the maximum number of clusters that a run has at once, as far as its parameters show. If a temperature
    /// ends the run, returns the number to expect.
    pub(crate) fn most_expected(&self, rows: usize) -> usize {
        let grown = self.clusters.map(|clusters| (clusters as f64 * self.overshoot).ceil() as usize);
        grown.or(self.max_clusters).unwrap_or(EXPECTED).min(rows)
    }

    /// Whether the run chooses the number of clusters: neither the number nor a final temperature is given.
    pub(crate) fn is_open(&self) -> bool {
        self.clusters.is_none() && self.final_temperature().is_none()
    }

    /// Returns the final temperature, whether it is given as a temperature or as a length.
    pub(crate) fn final_temperature(&self) -> Option<f64> {
        self.stop_temperature.or(self.stop_length.map(|length| 2.0 * length * length))
    }

    /// Checks each value, and the values against the points.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`], [`Error::TooManyClusters`] or [`Error::TooManyPoints`].
    pub fn check<'a>(&self, input: impl Into<Input<'a>>) -> Result<(), Error> {
        let points = input.into();
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        if let Some(clusters) = self.clusters {
            if clusters == 0 {
                return wrong("clusters", "at least 1", "0".into());
            }
            if clusters > MOST_CLUSTERS {
                return wrong("clusters", "at most 16777215", clusters.to_string());
            }
            if clusters > points.len() {
                return Err(Error::TooManyClusters { clusters, points: points.len() });
            }
            // Growth continues beyond the number of clusters.
            let most = (clusters as f64 * self.overshoot.clamp(1.0, 4.0)).ceil() as usize;
            if !points.has_place_for(most) {
                return wrong(
                    "clusters",
                    PLACE,
                    format!("{most} while annealing to {clusters}, of {} columns", points.dimension()),
                );
            }
        }
        for (name, value) in
            [("stop_temperature", self.stop_temperature), ("stop_length", self.stop_length), ("sponge", self.sponge)]
        {
            if let Some(value) = value
                && !(value.is_finite() && value > 0.0)
            {
                return wrong(name, "a positive number", number(value));
            }
        }
        if self.stop_temperature.is_some() && self.stop_length.is_some() {
            return wrong("stop_length", "one of stop_temperature and stop_length", "both".into());
        }
        if let Some(length) = self.stop_length
            && !(2.0 * length * length).is_normal()
        {
            return wrong("stop_length", "a length whose square a number can hold", number(length));
        }
        if let Some(radius) = self.sponge
            && !(radius * radius).is_normal()
        {
            return wrong("sponge", "a radius whose square a number can hold", number(radius));
        }
        self.cost.check(points)?;
        if !self.cost.is_squared() {
            // Both parameters are lengths, but with a Bernoulli cost, rows have no distances.
            let lengths = [("stop_length", self.stop_length), ("sponge", self.sponge)];
            if let Some((name, Some(value))) = lengths.into_iter().find(|(_, value)| value.is_some()) {
                return wrong(name, "none with the cost bernoulli, which is no distance", number(value));
            }
        }
        if self.max_clusters == Some(0) {
            return wrong("max_clusters", "at least 1", "0".into());
        }
        if let Some(most) = self.max_clusters
            && !points.has_place_for(most)
        {
            return wrong("max_clusters", PLACE, format!("{most} of {} columns", points.dimension()));
        }
        if !(0.5..=0.999).contains(&self.cooling) {
            return wrong("cooling", "0.5 to 0.999", number(self.cooling));
        }
        if !(1e-12..=1e-2).contains(&self.tolerance) {
            return wrong("tolerance", "1e-12 to 1e-2", number(self.tolerance));
        }
        if !(1.0..=4.0).contains(&self.overshoot) {
            return wrong("overshoot", "1 to 4", number(self.overshoot));
        }
        if u32::try_from(points.len()).is_err() {
            return Err(Error::TooManyPoints { points: points.len() });
        }
        Ok(())
    }
}
