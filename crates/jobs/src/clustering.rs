//! Clustering as a method: the library's `vector::cluster` and `kmeans::cluster` with the command's options, under the contract `lehr.clustering` 1.0.
//!
//! What is clustered follows from the columns of the table `points`: rows of bits where there is a column `fingerprint` (as FPS is read) and no columns are named, or else numbers.
//! Tables: `labels` (id, cluster, probability), `centers` (cluster, the columns, weight, spread; of bits `bit0`, `bit1`, …, how frequent each is), both as `lehr cluster` writes them, and
//! `history` (a row for each temperature; of k-means for each start).

use std::collections::BTreeMap;

use lehr_data::counter::counts_rows;
use lehr_data::geography;
use lehr_data::scale::{Scale, Scaling, scales_differ};
use lehr_data::write::names;
use lehr_data::{Fingerprints, Points};
use lehr_methods::{Learnt, ModelFile};
use lehr_mining::anneal::Step;
use lehr_mining::vector::{self, Centroids, Cluster, Cost, OUTLIER, Parameters, Precision};
use lehr_mining::{Error, Execution, kmeans};
use lehr_services::Version;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::job::Job;
use crate::method::{Failure, Inputs, Method, Outputs};
use crate::table::{Columns, Table};
use crate::watch::Watch;

/// Deterministic annealing of vectors, and k-means, as a [`Method`].
///
/// # Example
/// See [`Jobs`](crate::jobs::Jobs).
#[derive(Clone, Copy, Debug, Default)]
pub struct Clustering;

/// What [`Clustering`] is told. The default suggests the number of clusters.
///
/// # Example
/// ```
/// use lehr_jobs::clustering::Options;
/// let options: Options = serde_json::from_str(r#"{ "clusters": 20, "lonlat": true }"#).unwrap();
/// assert_eq!((options.clusters, options.seed), (Some(20), 0));
/// assert!(serde_json::from_str::<Options>(r#"{ "cluster": 20 }"#).is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// The columns of the points. Default: the bits of the column `fingerprint` if there is one, or all columns of numbers, except weights and ids.
    pub columns: Option<Vec<String>>,
    /// The column of weights. Default: the one that the data set says, or none.
    pub weights: Option<String>,
    /// The column of ids. Default: the one that the data set says, or the number of the row.
    pub id: Option<String>,
    /// Whether the columns are longitude and latitude in degrees: clusters on the sphere, in km. Default: no.
    pub lonlat: bool,
    /// How columns are scaled. Default: not.
    pub scale: ColumnScale,
    /// How clusters are found. What only one of the methods takes is refused with the other. Default: `da`.
    pub method: ClusterMethod,
    /// The number of clusters, at least 1. Default: the data suggest it; with `kmeans` it has to be given.
    pub clusters: Option<usize>,
    /// The final temperature, in the squared unit of the points. Default: none.
    pub stop_temperature: Option<f64>,
    /// The final length scale, the square root of half the temperature. Default: none.
    pub stop_length: Option<f64>,
    /// The most clusters where `clusters` is not given. Default: 32, or no limit with a final temperature or length.
    pub max_clusters: Option<usize>,
    /// Rows farther than this from every centre are in no cluster: they are labelled -1, and `labels` has numbers in place of counts. Default: none.
    pub sponge: Option<f64>,
    /// What a row costs in a cluster; `bernoulli` is of rows of bits, and temperatures are in nats then. Default: `squared`.
    pub cost: RowCost,
    /// With the cost `bernoulli`: what is added to the ones and to the zeros of each column of a cluster before its frequency is formed, as weight (a row without weights has 1), 0 to 1000. Default: 0.5.
    pub prior: Option<f64>,
    /// Factor from one temperature to the next, 0.5 to 0.999. Default: 0.95.
    pub cooling: f64,
    /// When a fixed point is reached, as a share of the temperature. Default: 1e-4.
    pub tolerance: f64,
    /// One branch of the finish grows to this many times `clusters` and merges back, 1 to 4. Default: 1.5.
    pub overshoot: f64,
    /// Swaps tried in vain before the finish gives up, in multiples of the number of clusters; above 4 it searches on where a first look betters nothing. Default: 4.
    pub patience: usize,
    /// Of `kmeans`: how many starts, of which the best is kept. Default: 10.
    pub starts: Option<usize>,
    /// Of `kmeans`: the most sweeps of a start. Default: 300.
    pub max_sweeps: Option<u64>,
    /// Of `kmeans`: what a sweep looks at. Default: `bounded`.
    pub sweeps: Option<ClusterSweeps>,
    /// Decides between equals, and draws the starts; the same seed gives the same result. Default: 0.
    pub seed: u64,
    /// Bits of coordinates while annealing, 64 or 32. Default: 64.
    pub bits: u32,
}

impl Default for Options {
    fn default() -> Self {
        let Parameters { cooling, tolerance, overshoot, patience, seed, .. } = Parameters::default();
        Self {
            columns: None,
            weights: None,
            id: None,
            lonlat: false,
            scale: ColumnScale::None,
            method: ClusterMethod::Da,
            clusters: None,
            stop_temperature: None,
            stop_length: None,
            max_clusters: None,
            sponge: None,
            cost: RowCost::Squared,
            prior: None,
            cooling,
            tolerance,
            overshoot,
            patience,
            starts: None,
            max_sweeps: None,
            sweeps: None,
            seed,
            bits: 64,
        }
    }
}

/// How clusters are found.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::clustering::ClusterMethod::Kmeans).unwrap(), "\"kmeans\"");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClusterMethod {
    /// Deterministic annealing.
    #[default]
    Da,
    /// K-means: starts drawn by k-means++, Lloyd's sweeps to the fixed point.
    Kmeans,
}

/// What a row costs in a cluster.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::clustering::RowCost::Bernoulli).unwrap(), "\"bernoulli\"");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowCost {
    /// The squared distance from its centre.
    #[default]
    Squared,
    /// How unlikely it is there, in nats: rare bits say as much as frequent ones.
    Bernoulli,
}

/// What a sweep of k-means looks at; the result has the same bits.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::clustering::ClusterSweeps::Plain).unwrap(), "\"plain\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ClusterSweeps {
    /// Only the centres that can be nearest to some row of a group.
    Bounded,
    /// Every centre, for every row.
    Plain,
}

/// How columns are scaled.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::clustering::ColumnScale::Std).unwrap(), "\"std\"");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ColumnScale {
    /// As they are.
    #[default]
    None,
    /// By mean and standard deviation.
    Std,
    /// By median and interquartile range.
    Robust,
}

impl Options {
    fn parameters(&self) -> Parameters {
        Parameters {
            clusters: self.clusters,
            stop_temperature: self.stop_temperature,
            stop_length: self.stop_length,
            max_clusters: self.max_clusters,
            sponge: self.sponge,
            cost: match self.cost {
                RowCost::Squared => Cost::Squared,
                RowCost::Bernoulli => Cost::Bernoulli { prior: self.prior.unwrap_or(Cost::PRIOR) },
            },
            cooling: self.cooling,
            tolerance: self.tolerance,
            overshoot: self.overshoot,
            patience: self.patience,
            seed: self.seed,
            precision: self.precision(),
        }
    }

    fn precision(&self) -> Precision {
        if self.bits == 32 { Precision::F32 } else { Precision::F64 }
    }

    fn of_kmeans(&self) -> kmeans::Parameters {
        let default = kmeans::Parameters::default();
        let sweeps = |sweeps| match sweeps {
            ClusterSweeps::Bounded => kmeans::Sweeps::Bounded,
            ClusterSweeps::Plain => kmeans::Sweeps::Plain,
        };
        kmeans::Parameters {
            clusters: self.clusters.unwrap_or(default.clusters),
            starts: self.starts.unwrap_or(default.starts),
            max_sweeps: self.max_sweeps.unwrap_or(default.max_sweeps),
            sweeps: self.sweeps.map_or(default.sweeps, sweeps),
            seed: self.seed,
            precision: self.precision(),
            ..default
        }
    }

    /// What is said to one method and is of the other.
    fn of_the_other_method(&self) -> Vec<String> {
        let default = Self::default();
        let of_da = [
            ("stop_temperature", self.stop_temperature.is_some()),
            ("stop_length", self.stop_length.is_some()),
            ("max_clusters", self.max_clusters.is_some()),
            ("sponge", self.sponge.is_some()),
            ("cost", self.cost != default.cost),
            ("prior", self.prior.is_some()),
            ("cooling", self.cooling != default.cooling),
            ("tolerance", self.tolerance != default.tolerance),
            ("overshoot", self.overshoot != default.overshoot),
            ("patience", self.patience != default.patience),
        ];
        let of_kmeans = [
            ("starts", self.starts.is_some()),
            ("max_sweeps", self.max_sweeps.is_some()),
            ("sweeps", self.sweeps.is_some()),
        ];
        let (method, own, others) = match self.method {
            ClusterMethod::Da => ("da", &of_da[..], &of_kmeans[..]),
            ClusterMethod::Kmeans => ("kmeans", &of_kmeans[..], &of_da[..]),
        };
        let own: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
        let told = |(name, _): &(&str, bool)| {
            format!(
                "{name}: expected none with method {method}, which takes clusters, {}, seed and bits",
                own.join(", ")
            )
        };
        others.iter().filter(|(_, is_given)| *is_given).map(told).collect()
    }

    fn columns(&self) -> Columns {
        Columns { columns: self.columns.clone(), weights: self.weights.clone(), id: self.id.clone() }
    }
}

impl Method for Clustering {
    const NAME: &'static str = "lehr.clustering";
    const VERSION: Version = Version::new(1, 0);
    const INPUTS: &'static [&'static str] = &["points"];
    const OUTPUTS: &'static [&'static str] = &["centers", "history", "labels"];
    const SPREADS: bool = true;
    type Options = Options;

    fn check(options: &Options) -> Vec<String> {
        let mut faults = Vec::new();
        if options.lonlat && options.scale != ColumnScale::None {
            faults.push("scale: expected none with lonlat, whose unit is km".to_owned());
        }
        if options.clusters.is_some() && options.max_clusters.is_some() {
            faults.push("max_clusters: expected without clusters".to_owned());
        }
        if !matches!(options.bits, 32 | 64) {
            faults.push(format!("bits: expected 32 or 64, found {}", options.bits));
        }
        faults.extend(options.of_the_other_method());
        if options.prior.is_some() && options.method == ClusterMethod::Da && options.cost == RowCost::Squared {
            faults.push("prior: expected none without the cost bernoulli".to_owned());
        }
        if options.method == ClusterMethod::Kmeans && options.clusters.is_none() {
            faults.push("clusters: expected a number with method kmeans".to_owned());
        }
        // What only the data can say (more clusters than rows) is said when they are there.
        let clusters = options.clusters.map(|clusters| clusters.min(1));
        if let (Ok(point), Ok(bit)) = (Points::new(vec![0.0], 1), Fingerprints::new(vec![0], 1)) {
            let row: vector::Input<'_> =
                if options.cost == RowCost::Bernoulli { (&bit).into() } else { (&point).into() };
            let checked = match options.method {
                ClusterMethod::Da => Parameters { clusters, ..options.parameters() }.check(row),
                ClusterMethod::Kmeans => {
                    kmeans::Parameters { clusters: clusters.unwrap_or(1), ..options.of_kmeans() }.check(&point)
                }
            };
            faults.extend(checked.err().map(|error| error.to_string()));
        }
        faults
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
        let name = inputs.dataset("points").to_owned();
        let space = Space::read(inputs.table("points")?, &name, options)?;
        let found = match options.method {
            ClusterMethod::Da => anneal(job, &space, options)?.map(|model| Found::of_annealing(&space, model)),
            ClusterMethod::Kmeans => kmeans(job, &space, options)?.map(|model| Found::of_kmeans(&space, model)),
        };
        let found = found.map_err(|error| match error {
            // It names the data itself.
            Error::Data(error) => error.into(),
            error => match Failure::from(error) {
                Failure::Input(reason) => Failure::Input(format!("{name}: {reason}")),
                failure => failure,
            },
        })?;
        found.outputs(&space)
    }
}

/// Anneals, or goes on with it; what the method says is for the caller to tell.
fn anneal(job: &Job, space: &Space, options: &Options) -> Result<Result<vector::Model, Error>, Failure> {
    let (mut watch, execution): (_, Execution) = (Watch(job), job.execution());
    Ok(match job.saved_checkpoint::<vector::Checkpoint>()? {
        None => vector::cluster(space.rows(), &options.parameters(), &execution, &mut watch),
        Some(checkpoint) => vector::resume(space.rows(), checkpoint, &execution, &mut watch),
    })
}

/// The same of k-means.
fn kmeans(job: &Job, space: &Space, options: &Options) -> Result<Result<kmeans::Model, Error>, Failure> {
    let (mut watch, execution): (_, Execution) = (Watch(job), job.execution());
    Ok(match job.saved_checkpoint::<kmeans::Checkpoint>()? {
        None => kmeans::cluster(space.rows(), &options.of_kmeans(), &execution, &mut watch),
        Some(checkpoint) => kmeans::resume(space.rows(), checkpoint, &execution, &mut watch),
    })
}

/// Rows as the data set has them.
enum Given {
    Numbers(Points),
    /// With a name for each column: `bit0`, `bit1`, ….
    Bits(Fingerprints, Vec<String>),
}

/// The rows of a data set, the points that they are clustered as, and the way back.
struct Space {
    given: Given,
    clustered: Option<Points>,
    scaling: Option<Scaling>,
}

impl Space {
    fn read(table: &Table, name: &str, options: &Options) -> Result<Self, Failure> {
        if options.columns.is_some() || !table.has_fingerprints() {
            return Self::of_points(table.points(name, &options.columns())?, options);
        }
        let of_numbers = [("lonlat", options.lonlat), ("scale", options.scale != ColumnScale::None)];
        if let Some((option, _)) = of_numbers.iter().find(|(_, is_given)| *is_given) {
            let reason = "for columns of numbers, which \"columns\" names; the column fingerprint has rows of bits";
            return Err(Failure::input(format!("{name}: {option}: {reason}")));
        }
        let rows = table.fingerprints(name, &options.columns())?;
        let columns = (0..rows.bits()).map(|bit| format!("bit{bit}")).collect();
        Ok(Self { given: Given::Bits(rows, columns), clustered: None, scaling: None })
    }

    fn of_points(table: Points, options: &Options) -> Result<Self, Failure> {
        let space = |table, clustered, scaling| Self { given: Given::Numbers(table), clustered, scaling };
        if options.lonlat {
            let clustered = Some(geography::on_sphere(&table)?);
            return Ok(space(table, clustered, None));
        }
        let scale = match options.scale {
            ColumnScale::None => return Ok(space(table, None, None)),
            ColumnScale::Std => Scale::Std,
            ColumnScale::Robust => Scale::Robust,
        };
        let scaling = Scaling::fit(&table, scale);
        let clustered = Some(scaling.apply(&table)?);
        Ok(space(table, clustered, Some(scaling)))
    }

    /// The rows as they are clustered.
    fn rows(&self) -> vector::Input<'_> {
        match (&self.clustered, &self.given) {
            (Some(clustered), _) => clustered.into(),
            (None, Given::Numbers(points)) => points.into(),
            (None, Given::Bits(rows, _)) => rows.into(),
        }
    }

    fn ids(&self) -> Vec<String> {
        let ids = match &self.given {
            Given::Numbers(points) => points.ids(),
            Given::Bits(rows, _) => Some(rows.ids()),
        };
        let numbers = || (0..self.rows().len()).map(|row| row.to_string()).collect();
        ids.map_or_else(numbers, <[String]>::to_vec)
    }

    fn columns(&self) -> &[String] {
        match &self.given {
            Given::Numbers(points) => points.columns(),
            Given::Bits(_, columns) => columns,
        }
    }

    fn is_sphere(&self) -> bool {
        self.clustered.is_some() && self.scaling.is_none()
    }

    fn center(&self, center: &[f64]) -> Vec<f64> {
        if self.is_sphere() {
            let (longitude, latitude) = geography::lon_lat([center[0], center[1], center[2]]);
            return vec![longitude, latitude];
        }
        let mut center = center.to_vec();
        if let Some(scaling) = &self.scaling {
            scaling.invert(&mut center);
        }
        center
    }

    fn shifts_and_divisors(&self) -> (Vec<f64>, Vec<f64>) {
        let dimension = self.rows().dimension();
        let same = || (vec![0.0; dimension], vec![1.0; dimension]);
        self.scaling.as_ref().map_or_else(same, |scaling| (scaling.shifts().to_vec(), scaling.divisors().to_vec()))
    }

    fn distance(&self, distance: f64) -> f64 {
        if self.is_sphere() { geography::arc_km(distance) } else { distance }
    }

    fn warnings(&self) -> Vec<String> {
        // Bits have one scale, and count nothing.
        let Given::Numbers(table) = &self.given else { return Vec::new() };
        let mut warnings = Vec::new();
        if self.clustered.is_none() {
            if geography::looks_like_degrees(table) {
                let text = "the columns look like longitude and latitude in degrees, which are not a distance; \"lonlat\": true clusters on the sphere, in km";
                warnings.push(text.to_owned());
            } else {
                warnings.extend(scales_differ(table));
            }
        }
        warnings.extend(counts_rows(table));
        warnings
    }
}

/// What a clustering has found, in the units of the table.
struct Found {
    /// Of clusters, or [`OUTLIER`].
    labels: Vec<u32>,
    probabilities: Vec<f64>,
    /// A row for each cluster.
    centers: Vec<Vec<f64>>,
    weights: Vec<f64>,
    spreads: Vec<f64>,
    history: History,
    /// What it says of other rows.
    centroids: Centroids,
    figures: BTreeMap<String, f64>,
    warnings: Vec<String>,
}

/// How it was found.
enum History {
    /// By annealing, over these temperatures.
    Temperatures(Vec<Step>),
    /// By k-means, whose starts came to these sums of squares.
    Starts(Vec<f64>),
}

impl History {
    fn table(&self) -> Result<Table, Failure> {
        let steps = match self {
            History::Temperatures(steps) => steps,
            History::Starts(starts) => {
                let indices = (0..starts.len() as u64).collect();
                return Ok(Table::builder()
                    .counts("index", indices)
                    .numbers("sum_of_squares", starts.clone())
                    .build()?);
            }
        };
        let numbers = |of: fn(&Step) -> f64| steps.iter().map(of).collect();
        let counts = |of: fn(&Step) -> u64| steps.iter().map(of).collect();
        Ok(Table::builder()
            .counts("index", counts(|step| step.index))
            .numbers("temperature", numbers(|step| step.temperature))
            .counts("clusters", counts(|step| step.clusters as u64))
            .numbers("free_energy", numbers(|step| step.free_energy))
            .numbers("mean_cost", numbers(|step| step.mean_cost))
            .numbers("information", numbers(|step| step.information))
            .numbers("softness", numbers(|step| step.softness))
            .counts("sweeps", counts(|step| step.sweeps))
            .numbers("next_critical", numbers(|step| step.next_critical))
            .build()?)
    }
}

/// The figure that there is where there is a sponge.
const OUTLIERS: &str = "outliers";

/// The figures that there are, by name.
fn figures<const N: usize>(named: [(&str, Option<f64>); N]) -> BTreeMap<String, f64> {
    named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

impl Found {
    fn of_annealing(space: &Space, model: vector::Model) -> Self {
        let centroids = model.centroids();
        let figures = figures([
            ("clusters", Some(model.clusters.len() as f64)),
            ("objective", Some(model.objective)),
            ("sum_of_squares", model.cost.is_squared().then_some(model.sum_of_squares)),
            ("free_energy", Some(model.free_energy)),
            ("last_temperature", Some(model.last_temperature)),
            ("critical_temperature", Some(model.critical_temperature)),
            ("iterations", Some(model.iterations as f64)),
            (OUTLIERS, model.outliers.as_ref().map(|outliers| outliers.rows as f64)),
            ("outlier_weight", model.outliers.as_ref().map(|outliers| outliers.weight)),
            ("suggested_clusters", model.suggestion.as_ref().map(|suggestion| suggestion.clusters as f64)),
        ]);
        Self {
            labels: model.labels,
            probabilities: model.probabilities,
            history: History::Temperatures(model.history),
            figures,
            ..Self::of_clusters(space, centroids, &model.clusters, model.warnings)
        }
    }

    fn of_kmeans(space: &Space, model: kmeans::Model) -> Self {
        let centroids = model.centroids();
        let figures = figures([
            ("clusters", Some(model.clusters.len() as f64)),
            ("objective", Some(model.objective)),
            ("sum_of_squares", Some(model.sum_of_squares)),
            ("iterations", Some(model.iterations as f64)),
        ]);
        Self {
            // Each is in its cluster and in no other.
            probabilities: vec![1.0; model.labels.len()],
            labels: model.labels,
            history: History::Starts(model.starts),
            figures,
            ..Self::of_clusters(space, centroids, &model.clusters, model.warnings)
        }
    }

    /// What both methods have, without rows and history.
    fn of_clusters(space: &Space, centroids: Centroids, clusters: &[Cluster], told: Vec<String>) -> Self {
        let mut warnings = space.warnings();
        warnings.extend(told);
        Self {
            labels: Vec::new(),
            probabilities: Vec::new(),
            centers: (0..centroids.len()).map(|k| space.center(centroids.center(k))).collect(),
            weights: clusters.iter().map(|cluster| cluster.weight).collect(),
            spreads: clusters.iter().map(|cluster| space.distance(cluster.spread)).collect(),
            history: History::Starts(Vec::new()),
            centroids,
            figures: BTreeMap::new(),
            warnings,
        }
    }

    fn outputs(self, space: &Space) -> Result<Outputs, Failure> {
        let ids = Table::builder().texts("id", space.ids());
        let labelled = if self.figures.contains_key(OUTLIERS) {
            let shown = |label: &u32| if *label == OUTLIER { -1.0 } else { f64::from(*label) };
            ids.numbers("cluster", self.labels.iter().map(shown).collect())
        } else {
            ids.counts("cluster", self.labels.iter().map(|&label| u64::from(label)).collect())
        };
        let labels = labelled.numbers("probability", self.probabilities).id(Some("id".to_owned())).build()?;
        let mut centers = Table::builder().counts("cluster", (0..self.centers.len() as u64).collect());
        let names = names::beside(&["cluster", "weight", "spread"], space.columns(), &[]);
        for (index, name) in names.into_iter().enumerate() {
            centers = centers.numbers(name, self.centers.iter().map(|center| center[index]).collect());
        }
        let centers = centers
            .numbers("weight", self.weights)
            .numbers("spread", self.spreads)
            .weights(Some("weight".to_owned()))
            .build()?;
        let history = self.history.table()?;
        let tables = [("labels", labels), ("centers", centers), ("history", history)];
        let tables = tables.map(|(name, table)| (name.to_owned(), table)).into();
        let learnt = Learnt::Clusters(self.centroids);
        let model = if space.is_sphere() {
            ModelFile::on_sphere(space.columns(), learnt)
        } else {
            ModelFile::new(space.columns(), space.shifts_and_divisors(), learnt)
        };
        Outputs { tables, figures: self.figures, warnings: self.warnings }.model(&model)
    }
}
