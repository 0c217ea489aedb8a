//! Definitions, which state what is measured, on which data, and with which goal. They are files of `lab/definitions`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// `mining/vector.json`: the sets of whole runs.
#[derive(Debug, Deserialize)]
pub struct VectorSets {
    /// The relative excess over the best known below which a run counts as reaching it.
    pub tolerance: f64,
    /// The number of seeds in the table of `quality`.
    pub seeds: usize,
    /// The sets.
    pub sets: Vec<SetDefinition>,
}

/// A set of points, with the numbers of clusters to be found in it.
#[derive(Debug, Deserialize)]
pub struct SetDefinition {
    /// The name of the set in `best_known.json`.
    pub name: String,
    /// The path of its file below the data folder.
    pub file: String,
    /// The path of its file in the project, if the project has one.
    pub project_file: Option<String>,
    /// The columns that make up the points; all numeric columns if absent.
    pub columns: Option<Vec<String>>,
    /// The name of the column of weights.
    pub weights: Option<String>,
    /// The column of known classes, which is not clustered.
    pub label: Option<String>,
    /// The numbers of clusters.
    pub clusters: Vec<usize>,
    /// The tier: `default`, or `all` for sets that only `--all` runs.
    pub tier: String,
}

/// `mining/best_known.json`: the lowest known sums of squares by set and number of clusters.
#[derive(Debug, Deserialize)]
pub struct BestKnown {
    sum_of_squares: BTreeMap<String, BTreeMap<String, Best>>,
}

#[derive(Debug, Deserialize)]
struct Best {
    best: f64,
}

impl BestKnown {
    /// Returns the lowest known sum of squares of `set` in `clusters` clusters.
    pub fn get(&self, set: &str, clusters: usize) -> Option<f64> {
        self.sum_of_squares.get(set)?.get(&clusters.to_string()).map(|best| best.best)
    }
}

/// `mining/densities.json`: mixtures of Gaussians and topographic maps, compared with those of peers.
#[derive(Debug, Deserialize)]
pub struct Densities {
    /// The relative shortfall of a log-likelihood below which it counts as equal.
    pub tolerance: f64,
    /// The number of seeds of Lehr.
    pub seeds: usize,
    /// The number of starts of the peer, of which it keeps the best.
    pub starts: usize,
    /// The sets for mixtures.
    pub mixtures: Vec<MixtureSet>,
    /// The sets for topographic maps.
    pub maps: Vec<TopographicSet>,
}

/// A set and the mixtures that are fitted to it; `clusters` of the set are numbers of components.
#[derive(Debug, Deserialize)]
pub struct MixtureSet {
    /// The set.
    #[serde(flatten)]
    pub set: SetDefinition,
    /// Whether columns are first standardised to mean 0 and standard deviation 1.
    pub standardise: bool,
    /// The highest known log-likelihood of a row, by covariance type.
    pub best: BTreeMap<String, f64>,
}

/// A set and the topographic maps that are fitted to its standardised columns.
#[derive(Debug, Deserialize)]
pub struct TopographicSet {
    /// The set.
    #[serde(flatten)]
    pub set: SetDefinition,
    /// The numbers of nodes and of basis functions along each axis.
    pub grids: Vec<[usize; 2]>,
}

/// `mining/kernels.json`: the E+M steps that are compared with C.
#[derive(Debug, Deserialize)]
pub struct Kernels {
    /// The upper limit of our time divided by the C loop's time.
    pub aim: f64,
    /// The shapes of points.
    pub cases: Vec<KernelCase>,
    /// The element types: `f32`, `f64`.
    pub precisions: Vec<String>,
    /// The numbers of threads.
    pub threads: Vec<usize>,
    /// The largest relative error of a correct answer, by element type.
    pub tolerance: BTreeMap<String, f64>,
    /// Rows of bits, compared with the same rows as numbers.
    pub bits: BitCase,
    /// Sparse rows, compared with the same rows as numbers.
    pub sparse: SparseCase,
}

/// Sparse rows that resemble word counts, with the numbers of clusters.
#[derive(Debug, Deserialize)]
pub struct SparseCase {
    /// The upper limit of the time of sparse rows divided by that of numbers.
    pub aim: f64,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// The number of words of a row, some of which occur twice.
    pub words: usize,
    /// The numbers of centres.
    pub clusters: Vec<usize>,
}

/// Rows of bits, with the numbers of clusters.
#[derive(Debug, Deserialize)]
pub struct BitCase {
    /// The upper limit of the time of bits divided by that of numbers.
    pub aim: f64,
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub bits: usize,
    /// The share of bits that are set.
    pub density: f64,
    /// The numbers of centres.
    pub clusters: Vec<usize>,
}

/// A shape of points, with the numbers of clusters.
#[derive(Debug, Deserialize)]
pub struct KernelCase {
    /// The number of coordinates of a point.
    pub dimension: usize,
    /// The number of points.
    pub rows: usize,
    /// The temperature, in squared units of the generated points.
    pub temperature: f64,
    /// The numbers of centres.
    pub clusters: Vec<usize>,
}

/// `mining/distances.json`: the dissimilarities of all pairs, compared with those of other programs.
#[derive(Debug, Deserialize)]
pub struct Distances {
    /// The upper limit of our time divided by the peer's time.
    pub aim: f64,
    /// The path of the file of sequences, in the project.
    pub fasta: String,
    /// The number of sequences that are aligned.
    pub sequences: usize,
    /// The number of items for metrics without alignment.
    pub items: usize,
    /// The number of bits of a fingerprint, a multiple of a word's bits.
    pub bits: usize,
    /// The number of positions of an aligned sequence.
    pub places: usize,
    /// The number of columns of a row.
    pub columns: usize,
    /// The goals by case, in units for each second and core.
    pub rates: BTreeMap<String, f64>,
}

/// `mining/pairwise.json`: clusters of items known by their dissimilarities, compared with those of other programs on
/// the same matrix.
#[derive(Debug, Deserialize)]
pub struct Pairwise {
    /// The number of runs of each side.
    pub seeds: usize,
    /// The relative excess over the best cost below which a run counts as reaching it.
    pub tolerance: f64,
    /// The sets.
    pub sets: Vec<PairwiseSet>,
    /// The peers.
    pub peers: Vec<PairwisePeer>,
}

/// Items with known classes: a number of Alu repeats, or a matrix or aligned sequences with their labels, below the
/// data folder.
#[derive(Debug, Deserialize)]
pub struct PairwiseSet {
    /// The name of the set.
    pub name: String,
    /// The tier: `all` for sets that only `--all` runs.
    #[serde(default)]
    pub tier: String,
    /// The number of Alu repeats of this project, evenly chosen.
    pub alu: Option<usize>,
    /// The path of a square table without a header.
    pub matrix: Option<String>,
    /// Aligned sequences, which are compared position by position.
    pub aligned: Option<Aligned>,
    /// The path of a table with an id and a class for each item.
    pub labels: Option<String>,
    /// The names of the columns of the id and of the class.
    #[serde(default = "index_and_label")]
    pub columns: [String; 2],
    /// The number of clusters.
    pub clusters: usize,
    /// The lowest known cost.
    pub best: Option<f64>,
}

fn index_and_label() -> [String; 2] {
    ["index", "label"].map(String::from)
}

/// The first sequences of a file below the data folder.
#[derive(Clone, Debug, Deserialize)]
pub struct Aligned {
    /// The file.
    pub file: String,
    /// The number of sequences.
    pub first: usize,
}

/// A method of the runner.
#[derive(Debug, Deserialize)]
pub struct PairwisePeer {
    /// The name of the method in the runner.
    pub method: String,
    /// Whether the method finds the number of clusters itself.
    #[serde(default)]
    pub finds_clusters: bool,
}

/// `mining/maps.json`: maps of the same matrix by Lehr and a peer.
#[derive(Debug, Deserialize)]
pub struct Maps {
    /// The number of runs of each side.
    pub seeds: usize,
    /// The number of dimensions of a map.
    pub dimension: usize,
    /// The number of random starts of the peer, of which it keeps the best.
    pub starts: usize,
    /// The maximum number of iterations for each start of the peer.
    pub iterations: usize,
    /// The relative excess over the peer's stress below which a map counts as equal.
    pub tolerance: f64,
    /// The lower limit of the time of the peer's iteration divided by ours.
    pub aim: f64,
    /// The sets.
    pub sets: Vec<MapSet>,
}

/// Evenly chosen items: a number of Alu repeats or patients of this project, or patients of a table below the data
/// folder.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct MapSet {
    /// The name of the set.
    pub name: String,
    /// The number of Alu repeats.
    pub alu: Option<usize>,
    /// The number of patients.
    pub patients: Option<usize>,
    /// The path of the table of patients, with their ids in `row`; the project's table if absent.
    pub table: Option<String>,
    /// The tier: `all` for sets that only `--all` runs.
    #[serde(default)]
    pub tier: String,
    /// The number of runs of each side, in place of the definition's.
    pub seeds: Option<usize>,
    /// The number of iterations of a run of each side, in place of the definition's; then only their time is compared.
    pub iterations: Option<usize>,
}

/// `ranks/overhead.json`: the runs whose parallel overhead is measured.
#[derive(Debug, Deserialize)]
pub struct Overhead {
    /// The upper limit of the overhead.
    pub aim: f64,
    /// Grain sizes.
    pub rows_per_rank: Vec<usize>,
    /// The number of coordinates of a point.
    pub dimension: usize,
    /// The requested number of clusters.
    pub clusters: usize,
    /// The number of ranks of the parallel side.
    pub ranks: usize,
}

/// Reads the definition `name` of `lab/definitions`.
///
/// # Errors
/// Returns an error if the file is missing (the harness runs in the project's folder) or does not have this form.
pub fn read<T: DeserializeOwned>(name: &str) -> Result<T> {
    let path = Path::new("lab/definitions").join(name);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("cannot read {} (run me in the project's folder)", path.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is not a definition of its kind", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_here<T: DeserializeOwned>(name: &str) -> T {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../definitions").join(name);
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    #[test]
    fn every_set_has_its_best_known_value_or_known_classes() {
        let (sets, best): (VectorSets, BestKnown) =
            (from_here("mining/vector.json"), from_here("mining/best_known.json"));
        for set in &sets.sets {
            for &clusters in &set.clusters {
                match best.get(&set.name, clusters) {
                    Some(value) => assert!(value > 0.0, "{} in {clusters}", set.name),
                    None => assert!(set.label.is_some(), "{} in {clusters}", set.name),
                }
            }
        }
        assert!(best.get("no such set", 3).is_none());
        let have = |name: &String| sets.sets.iter().any(|set| set.name == *name);
        assert!(best.sum_of_squares.keys().all(have), "every set with a best known value is measured");
    }

    #[test]
    fn the_other_definitions_have_their_form() {
        let kernels: Kernels = from_here("mining/kernels.json");
        assert!(kernels.precisions.iter().all(|precision| kernels.tolerance.contains_key(precision)));
        let distances: Distances = from_here("mining/distances.json");
        assert!(distances.bits.is_multiple_of(64) && distances.rates.values().all(|rate| *rate > 0.0));
        let densities: Densities = from_here("mining/densities.json");
        let mut forms = densities.mixtures.iter().flat_map(|mixture| &mixture.best);
        assert!(forms.all(|(form, best)| ["spherical", "full"].contains(&form.as_str()) && *best < 0.0));
        assert!(densities.maps.iter().all(|map| map.grids.iter().all(|[nodes, basis]| basis < nodes)));
        let overhead: Overhead = from_here("ranks/overhead.json");
        assert_eq!(overhead.ranks, 2);
    }
}
