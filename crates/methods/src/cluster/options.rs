//! The options of a clustering, by annealing and by k-means.

use lehr_data::{Fingerprints, Points};
use lehr_mining::kmeans;
use lehr_mining::vector::{self, Cost};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::options::as_option;

/// The options of [`Cluster`](super::Cluster). The default chooses the number of clusters.
///
/// # Example
/// ```
/// use lehr_methods::cluster::{Options, Way};
/// let options: Options = serde_json::from_str(r#"{ "clusters": 20, "method": "kmeans" }"#).unwrap();
/// assert_eq!((options.clusters, options.method, options.seed), (Some(20), Way::Kmeans, 0));
/// assert!(serde_json::from_str::<Options>(r#"{ "cluster": 20 }"#).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Find clusters in this way
    #[schemars(extend("x-value" = "METHOD"))]
    pub method: Way,
    /// Find this many clusters
    #[schemars(range(min = 1), extend("x-short" = "k", "x-value" = "K", "x-python" = "n_clusters", "x-default" = "chosen from the data"))]
    pub clusters: Option<usize>,
    /// Stop at this temperature, in the squared unit of the columns (km² on the sphere)
    #[schemars(extend("exclusiveMinimum" = 0, "x-value" = "T", "x-advanced" = true))]
    pub stop_temperature: Option<f64>,
    /// Stop at this length scale, the square root of T/2, in the unit of the columns (km on the sphere)
    #[schemars(extend("exclusiveMinimum" = 0, "x-value" = "LENGTH", "x-advanced" = true))]
    pub stop_length: Option<f64>,
    /// Choose at most this many clusters where their number is not given
    #[schemars(range(min = 1), extend("x-value" = "N", "x-default" = "what the rows allow", "x-advanced" = true))]
    pub max_clusters: Option<usize>,
    /// Leave out rows farther than this from every centre; they are labelled -1 (unit of the scaled columns; km on the sphere)
    #[schemars(extend("exclusiveMinimum" = 0, "x-value" = "RADIUS", "x-formerly" = { "sponge": {} }))]
    pub outlier_radius: Option<f64>,
    /// Measure by this what a row costs in a cluster; with bernoulli, temperatures are in nats
    #[schemars(extend("x-value" = "COST", "x-advanced" = true))]
    pub cost: RowCost,
    /// With the cost bernoulli: add this many rows to the ones and to the zeros of each column of a cluster before its frequency is formed
    #[schemars(range(min = 0.0, max = 1000.0), extend("x-value" = "WEIGHT", "x-default" = "0.5", "x-advanced" = true))]
    pub prior: Option<f64>,
    /// Multiply the temperature by this factor at each step
    #[schemars(range(min = 0.5, max = 0.999), extend("x-value" = "FACTOR", "x-advanced" = true))]
    pub cooling: f64,
    /// Take a fixed point as reached when centres move by less than this share of the temperature
    #[schemars(range(min = 1e-12, max = 1e-2), extend("x-value" = "SHARE", "x-python" = "tol", "x-advanced" = true))]
    pub tolerance: f64,
    /// In one branch of the refinement, grow to this many times the clusters and merge back
    #[schemars(range(min = 1.0, max = 4.0), extend("x-value" = "TIMES", "x-advanced" = true))]
    pub overshoot: f64,
    /// End the refinement after this many unsuccessful swaps, in multiples of the number of clusters; above 4 it searches on where a first look improves nothing
    #[schemars(extend("x-value" = "N", "x-advanced" = true))]
    pub patience: usize,
    /// Anneal all rows; otherwise 5,000 rows or more in up to 16 columns are annealed as a summary and then refined, which is faster
    #[schemars(extend("x-advanced" = true))]
    pub exact: bool,
    /// With the method kmeans: keep the best of this many initialisations
    #[schemars(range(min = 1, max = 1000000), extend("x-value" = "N", "x-default" = "10", "x-formerly" = { "starts": {} }, "x-advanced" = true))]
    pub n_init: Option<usize>,
    /// With the method kmeans: end an initialisation after this many iterations
    #[schemars(range(min = 1), extend("x-value" = "N", "x-default" = "300", "x-python" = "max_iter", "x-formerly" = { "max_sweeps": {} }, "x-advanced" = true))]
    pub max_iterations: Option<u64>,
    /// With the method kmeans: compare rows with these centres in an iteration; the result is the same
    #[schemars(extend("x-default" = "bounded", "x-formerly" = { "sweeps": {} }, "x-advanced" = true))]
    pub algorithm: Option<Sweeps>,
    /// Random seed; breaks ties, and draws the initialisations
    #[schemars(extend("x-value" = "SEED", "x-python" = "random_state"))]
    pub seed: u64,
    /// Store coordinates as these numbers; sums are always 64 bits wide
    #[schemars(extend("x-formerly" = { "bits": { "64": "f64", "32": "f32" } }, "x-advanced" = true))]
    pub precision: Precision,
}

/// How clusters are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Deterministic annealing: needs no initialisation, and no number of clusters.
    #[default]
    Da,
    /// K-means: Lloyd's iterations from k-means++ initialisations; needs the number of clusters.
    Kmeans,
}

/// The cost of a row in a cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowCost {
    /// The squared distance from the centre.
    #[default]
    Squared,
    /// Of fingerprints and packed bits: -ln p of the row, p by the frequencies of the cluster's bits; a rare bit counts more than a frequent one.
    Bernoulli,
}

/// The centres that a k-means iteration compares rows with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sweeps {
    /// Only with centres that can be the nearest of some row of a group.
    Bounded,
    /// With all centres, as in Lloyd's algorithm; slower.
    Plain,
}

/// The precision of coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    /// 64 bits.
    #[default]
    F64,
    /// 32 bits: half the memory, and faster.
    F32,
}

impl From<Precision> for vector::Precision {
    fn from(precision: Precision) -> Self {
        match precision {
            Precision::F64 => Self::F64,
            Precision::F32 => Self::F32,
        }
    }
}

impl From<vector::Precision> for Precision {
    fn from(precision: vector::Precision) -> Self {
        match precision {
            vector::Precision::F64 => Self::F64,
            vector::Precision::F32 => Self::F32,
        }
    }
}

/// The library's parameters for one of the two methods.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameters {
    /// The parameters of annealing.
    Annealing(vector::Parameters),
    /// The parameters of k-means.
    KMeans(kmeans::Parameters),
}

/// The name of the unit of temperatures and costs that are log-likelihoods.
pub(super) const NATS: &str = "nats";

impl Parameters {
    /// Returns the cost of a row in a cluster.
    pub fn cost(&self) -> Cost {
        match self {
            Parameters::Annealing(parameters) => parameters.cost,
            Parameters::KMeans(_) => Cost::Squared,
        }
    }

    /// Returns the unit of temperatures, objective and free energy for display. `squared` is the unit of squared
    /// distances.
    pub fn unit_of_cost(&self, squared: &'static str) -> &'static str {
        if self.cost().is_squared() { squared } else { NATS }
    }

    /// Returns the random seed.
    pub fn seed(&self) -> u64 {
        match self {
            Parameters::Annealing(parameters) => parameters.seed,
            Parameters::KMeans(parameters) => parameters.seed,
        }
    }

    /// Returns the precision of coordinates.
    pub fn precision(&self) -> vector::Precision {
        match self {
            Parameters::Annealing(parameters) => parameters.precision,
            Parameters::KMeans(parameters) => parameters.precision,
        }
    }
}

/// Serialises only the parameters, because a summary names the method separately.
impl Serialize for Parameters {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Parameters::Annealing(parameters) => parameters.serialize(serializer),
            Parameters::KMeans(parameters) => parameters.serialize(serializer),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::of(&Parameters::Annealing(vector::Parameters::default()))
    }
}

impl Options {
    /// Returns the options that correspond to parameters of the library.
    ///
    /// # Example
    /// ```
    /// use lehr_methods::cluster::{Options, Parameters, Way};
    /// let kmeans = lehr_mining::kmeans::Parameters { clusters: 3, ..Default::default() };
    /// let options = Options::of(&Parameters::KMeans(kmeans.clone()));
    /// assert_eq!((options.method, options.n_init), (Way::Kmeans, Some(10)));
    /// assert_eq!(options.parameters(), Parameters::KMeans(kmeans));
    /// ```
    pub fn of(parameters: &Parameters) -> Self {
        match parameters {
            Parameters::Annealing(parameters) => Self::of_annealing(parameters),
            Parameters::KMeans(parameters) => Self::of_kmeans(parameters),
        }
    }

    fn of_annealing(parameters: &vector::Parameters) -> Self {
        let (cost, prior) = match parameters.cost {
            Cost::Squared => (RowCost::Squared, None),
            Cost::Bernoulli { prior } => (RowCost::Bernoulli, Some(prior)),
        };
        Self {
            method: Way::Da,
            clusters: parameters.clusters,
            stop_temperature: parameters.stop_temperature,
            stop_length: parameters.stop_length,
            max_clusters: parameters.max_clusters,
            outlier_radius: parameters.sponge,
            cost,
            prior,
            cooling: parameters.cooling,
            tolerance: parameters.tolerance,
            overshoot: parameters.overshoot,
            patience: parameters.patience,
            exact: parameters.exact,
            n_init: None,
            max_iterations: None,
            algorithm: None,
            seed: parameters.seed,
            precision: parameters.precision.into(),
        }
    }

    fn of_kmeans(parameters: &kmeans::Parameters) -> Self {
        Self {
            method: Way::Kmeans,
            clusters: Some(parameters.clusters),
            n_init: Some(parameters.starts),
            max_iterations: Some(parameters.max_sweeps),
            algorithm: Some(match parameters.sweeps {
                kmeans::Sweeps::Bounded => Sweeps::Bounded,
                kmeans::Sweeps::Plain => Sweeps::Plain,
            }),
            seed: parameters.seed,
            precision: parameters.precision.into(),
            ..Self::default()
        }
    }

    /// Returns the corresponding parameters of the library.
    ///
    /// # Example
    /// See [`Options::of`].
    pub fn parameters(&self) -> Parameters {
        match self.method {
            Way::Da => Parameters::Annealing(self.annealing()),
            Way::Kmeans => Parameters::KMeans(self.kmeans()),
        }
    }

    fn annealing(&self) -> vector::Parameters {
        vector::Parameters {
            clusters: self.clusters,
            stop_temperature: self.stop_temperature,
            stop_length: self.stop_length,
            max_clusters: self.max_clusters,
            sponge: self.outlier_radius,
            cost: match self.cost {
                RowCost::Squared => Cost::Squared,
                RowCost::Bernoulli => Cost::Bernoulli { prior: self.prior.unwrap_or(Cost::PRIOR) },
            },
            cooling: self.cooling,
            tolerance: self.tolerance,
            overshoot: self.overshoot,
            patience: self.patience,
            seed: self.seed,
            precision: self.precision.into(),
            exact: self.exact,
        }
    }

    fn kmeans(&self) -> kmeans::Parameters {
        let default = kmeans::Parameters::default();
        kmeans::Parameters {
            clusters: self.clusters.unwrap_or(default.clusters),
            starts: self.n_init.unwrap_or(default.starts),
            max_sweeps: self.max_iterations.unwrap_or(default.max_sweeps),
            sweeps: match self.algorithm {
                Some(Sweeps::Bounded) => kmeans::Sweeps::Bounded,
                Some(Sweeps::Plain) => kmeans::Sweeps::Plain,
                None => default.sweeps,
            },
            seed: self.seed,
            precision: self.precision.into(),
            ..default
        }
    }

    /// Reports invalid combinations of options, one per line.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = self.of_the_other_method();
        if self.clusters.is_some() && self.max_clusters.is_some() {
            faults.push("max_clusters: expected without clusters".to_owned());
        }
        if self.prior.is_some() && self.method == Way::Da && self.cost == RowCost::Squared {
            faults.push("prior: expected none without the cost bernoulli".to_owned());
        }
        if self.method == Way::Kmeans && self.clusters.is_none() {
            faults.push(
                "clusters: expected a number with method kmeans: only method da can tell how many there are".to_owned(),
            );
        }
        // Faults that depend on the data, such as more clusters than rows, are reported after the data are read.
        let clusters = self.clusters.map(|clusters| clusters.min(1));
        if let (Ok(point), Ok(bit)) = (Points::new(vec![0.0], 1), Fingerprints::new(vec![0], 1)) {
            let row: vector::Input<'_> = if self.cost == RowCost::Bernoulli { (&bit).into() } else { (&point).into() };
            let checked = match self.method {
                Way::Da => vector::Parameters { clusters, ..self.annealing() }.check(row),
                Way::Kmeans => kmeans::Parameters { clusters: clusters.unwrap_or(1), ..self.kmeans() }.check(&point),
            };
            faults.extend(checked.err().map(|error| as_option(error).to_string()));
        }
        faults
    }

    /// Returns the given options that apply only to the method that was not chosen.
    fn of_the_other_method(&self) -> Vec<String> {
        let default = Self::default();
        let of_da = [
            ("stop_temperature", self.stop_temperature.is_some()),
            ("stop_length", self.stop_length.is_some()),
            ("max_clusters", self.max_clusters.is_some()),
            ("outlier_radius", self.outlier_radius.is_some()),
            ("cost", self.cost != default.cost),
            ("prior", self.prior.is_some()),
            ("cooling", self.cooling != default.cooling),
            ("tolerance", self.tolerance != default.tolerance),
            ("overshoot", self.overshoot != default.overshoot),
            ("patience", self.patience != default.patience),
            ("exact", self.exact),
        ];
        let of_kmeans = [
            ("n_init", self.n_init.is_some()),
            ("max_iterations", self.max_iterations.is_some()),
            ("algorithm", self.algorithm.is_some()),
        ];
        let (method, own, others) = match self.method {
            Way::Da => ("da", &of_da[..], &of_kmeans[..]),
            Way::Kmeans => ("kmeans", &of_kmeans[..], &of_da[..]),
        };
        let own: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
        let told = |(name, _): &(&str, bool)| {
            format!(
                "{name}: expected none with method {method}, which takes clusters, {}, seed and precision",
                own.join(", ")
            )
        };
        others.iter().filter(|(_, is_given)| *is_given).map(told).collect()
    }
}
