//! The two methods of `lehr cluster`, annealing and k-means, as the rest of the command sees them: one kind of parameters, of checkpoint, and of result.

use std::path::Path;

use lehr_mining::anneal::{Observer, Split, Step};
use lehr_mining::vector::{Centroids, Cluster, Cost, Finish, Input, OUTLIER, Outliers, Precision, Suggestion};
use lehr_mining::{Error, Execution, kmeans, vector};
use lehr_ranks::timing::Spread;
use serde::{Deserialize, Serialize};

use crate::summary;

/// The unit of temperatures and costs that are likelihoods.
pub const NATS: &str = "nats";

/// What a method is told. A file has the parameters alone; an order to other processes says whose they are.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameters {
    /// Of annealing.
    Annealing(vector::Parameters),
    /// Of k-means.
    KMeans(kmeans::Parameters),
}

/// A run that can be gone on with.
#[derive(Clone, Debug)]
pub enum Checkpoint {
    /// Of annealing.
    Annealing(Box<vector::Checkpoint>),
    /// Of k-means.
    KMeans(Box<kmeans::Checkpoint>),
}

/// Where a run begins, as processes tell each other.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Beginning {
    /// Annealing, from one cluster at a high temperature.
    Anneal(vector::Parameters),
    /// Annealing, from the state of an earlier run.
    AnnealOn(Box<vector::Checkpoint>),
    /// K-means, from its first start.
    KMeans(kmeans::Parameters),
    /// K-means, from the state of an earlier run.
    KMeansOn(Box<kmeans::Checkpoint>),
}

/// A clustering, whichever method made it. Clusters are numbered by falling weight.
#[derive(Debug)]
pub struct Clustering {
    /// Coordinates of a point.
    pub dimension: usize,
    /// K x D, row-major, in the unit of the points.
    pub centers: Vec<f64>,
    /// One for each centre.
    pub clusters: Vec<Cluster>,
    /// The cluster of each row; [`OUTLIER`] for one in the sponge.
    pub labels: Vec<u32>,
    /// The rows in the sponge, where there is one.
    pub outliers: Option<Outliers>,
    /// How surely a row is in its cluster: 1 where k-means put it.
    pub probabilities: Vec<f64>,
    /// Weighted mean squared distance, or cost in nats.
    pub objective: f64,
    /// Weighted sum of squared distances.
    pub sum_of_squares: f64,
    /// Passes over the rows.
    pub iterations: u64,
    /// How it came about.
    pub course: Course,
    /// What is asked about other rows.
    pub centroids: Centroids,
    /// Seconds by phase, of this process only.
    pub phases: Vec<(String, f64)>,
    /// Seconds over ranks.
    pub timers: Vec<Spread>,
    /// What the user should know.
    pub warnings: Vec<String>,
    /// The most rows of a rank over the mean.
    pub imbalance: f64,
}

/// How a clustering came about.
#[derive(Debug)]
pub enum Course {
    /// By cooling.
    Annealed(Box<Annealed>),
    /// By k-means: the weighted sum of squares that each start came to.
    Started(Vec<f64>),
}

/// How a clustering came about by cooling: fields of [`vector::Model`].
#[derive(Debug)]
pub struct Annealed {
    /// At the last temperature.
    pub free_energy: f64,
    /// The last soft one.
    pub last_temperature: f64,
    /// Below it the whole is unstable.
    pub critical_temperature: f64,
    /// One entry a temperature.
    pub history: Vec<Step>,
    /// One entry a division.
    pub splits: Vec<Split>,
    /// Where the number of clusters was not given.
    pub suggestion: Option<Suggestion>,
    /// What the finish compared.
    pub finish: Finish,
}

impl Parameters {
    /// How the method is called in `summary.json`.
    pub fn method(&self) -> &'static str {
        match self {
            Parameters::Annealing(_) => summary::ANNEALING,
            Parameters::KMeans(_) => summary::KMEANS,
        }
    }

    /// What a row costs in a cluster.
    pub fn cost(&self) -> Cost {
        match self {
            Parameters::Annealing(parameters) => parameters.cost,
            Parameters::KMeans(_) => Cost::Squared,
        }
    }

    /// The unit of temperatures, objective and free energy for people, that of squared distances being `squared`.
    pub fn unit_of_cost(&self, squared: &'static str) -> &'static str {
        if self.cost().is_squared() { squared } else { NATS }
    }

    /// What draws, or decides between equals.
    pub fn seed(&self) -> u64 {
        match self {
            Parameters::Annealing(parameters) => parameters.seed,
            Parameters::KMeans(parameters) => parameters.seed,
        }
    }

    /// How coordinates are stored.
    pub fn precision(&self) -> Precision {
        match self {
            Parameters::Annealing(parameters) => parameters.precision,
            Parameters::KMeans(parameters) => parameters.precision,
        }
    }
}

impl Serialize for Parameters {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Parameters::Annealing(parameters) => parameters.serialize(serializer),
            Parameters::KMeans(parameters) => parameters.serialize(serializer),
        }
    }
}

impl Checkpoint {
    /// Reads a checkpoint of either method.
    ///
    /// # Errors
    /// As those of the methods.
    pub fn read(path: &Path) -> Result<Self, Error> {
        if kmeans::Checkpoint::is_at(path) {
            return kmeans::Checkpoint::read(path).map(|read| Checkpoint::KMeans(Box::new(read)));
        }
        vector::Checkpoint::read(path).map(|read| Checkpoint::Annealing(Box::new(read)))
    }
}

impl Beginning {
    /// From the beginning.
    pub fn fresh(parameters: Parameters) -> Self {
        match parameters {
            Parameters::Annealing(parameters) => Beginning::Anneal(parameters),
            Parameters::KMeans(parameters) => Beginning::KMeans(parameters),
        }
    }

    /// From where an earlier run was stopped.
    pub fn resumed(checkpoint: Checkpoint) -> Self {
        match checkpoint {
            Checkpoint::Annealing(checkpoint) => Beginning::AnnealOn(checkpoint),
            Checkpoint::KMeans(checkpoint) => Beginning::KMeansOn(checkpoint),
        }
    }

    /// What the method is told.
    pub fn parameters(&self) -> Parameters {
        match self {
            Beginning::Anneal(parameters) => Parameters::Annealing(parameters.clone()),
            Beginning::AnnealOn(checkpoint) => Parameters::Annealing(checkpoint.parameters().clone()),
            Beginning::KMeans(parameters) => Parameters::KMeans(parameters.clone()),
            Beginning::KMeansOn(checkpoint) => Parameters::KMeans(checkpoint.parameters().clone()),
        }
    }

    /// Clusters the rows from here, watched.
    ///
    /// # Errors
    /// Those of the method.
    pub fn run(
        self,
        input: Input<'_>,
        execution: &Execution,
        observer: &mut dyn Observer,
    ) -> Result<Clustering, Error> {
        match self {
            Beginning::Anneal(parameters) => {
                vector::cluster(input, &parameters, execution, observer).map(Clustering::from)
            }
            Beginning::AnnealOn(checkpoint) => {
                vector::resume(input, *checkpoint, execution, observer).map(Clustering::from)
            }
            Beginning::KMeans(parameters) => {
                kmeans::cluster(input, &parameters, execution, observer).map(Clustering::from)
            }
            Beginning::KMeansOn(checkpoint) => {
                kmeans::resume(input, *checkpoint, execution, observer).map(Clustering::from)
            }
        }
    }
}

/// A label as results have it: the number of a cluster, or -1 for none.
pub fn shown(label: u32) -> i64 {
    if label == OUTLIER { -1 } else { i64::from(label) }
}

impl Clustering {
    /// The root of the weighted mean squared distance from the centre, whatever rows cost.
    pub fn root_mean_square(&self) -> f64 {
        if !self.centroids.is_bernoulli() {
            return self.objective.sqrt();
        }
        let weight: f64 = self.clusters.iter().map(|cluster| cluster.weight).sum();
        (self.sum_of_squares / weight).sqrt()
    }

    /// How it was cooled, if it was.
    pub fn annealed(&self) -> Option<&Annealed> {
        match &self.course {
            Course::Annealed(annealed) => Some(annealed),
            Course::Started(_) => None,
        }
    }
}

impl From<vector::Model> for Clustering {
    fn from(model: vector::Model) -> Self {
        let centroids = model.centroids();
        let annealed = Annealed {
            free_energy: model.free_energy,
            last_temperature: model.last_temperature,
            critical_temperature: model.critical_temperature,
            history: model.history,
            splits: model.splits,
            suggestion: model.suggestion,
            finish: model.finish,
        };
        Self {
            dimension: model.dimension,
            centers: model.centers,
            clusters: model.clusters,
            labels: model.labels,
            outliers: model.outliers,
            probabilities: model.probabilities,
            objective: model.objective,
            sum_of_squares: model.sum_of_squares,
            iterations: model.iterations,
            course: Course::Annealed(Box::new(annealed)),
            centroids,
            phases: model.phases,
            timers: model.timers,
            warnings: model.warnings,
            imbalance: model.imbalance,
        }
    }
}

impl From<kmeans::Model> for Clustering {
    fn from(model: kmeans::Model) -> Self {
        let centroids = model.centroids();
        Self {
            dimension: model.dimension,
            centers: model.centers,
            clusters: model.clusters,
            probabilities: vec![1.0; model.labels.len()],
            labels: model.labels,
            outliers: None,
            objective: model.objective,
            sum_of_squares: model.sum_of_squares,
            iterations: model.iterations,
            course: Course::Started(model.starts),
            centroids,
            phases: model.phases,
            timers: model.timers,
            warnings: model.warnings,
            imbalance: model.imbalance,
        }
    }
}
