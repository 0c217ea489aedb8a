//! Definitions: what is measured, on what, against which aim. Files of `lab/definitions`, read as they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// `mining/vector.json`: the sets that whole runs are measured on.
#[derive(Debug, Deserialize)]
pub struct VectorSets {
    /// Relative excess over the best known that still counts as reaching it.
    pub tolerance: f64,
    /// How many seeds the quality table takes.
    pub seeds: usize,
    /// The sets.
    pub sets: Vec<SetDefinition>,
}

/// One set of points and the numbers of clusters asked of it.
#[derive(Debug, Deserialize)]
pub struct SetDefinition {
    /// Its name in `best_known.json`.
    pub name: String,
    /// Its file below the data folder.
    pub file: String,
    /// Its file in the project, if it is there.
    pub project_file: Option<String>,
    /// The columns that make up the points; all numeric ones if absent.
    pub columns: Option<Vec<String>>,
    /// The column of weights.
    pub weights: Option<String>,
    /// The column with the truth, which is not clustered.
    pub label: Option<String>,
    /// Numbers of clusters.
    pub clusters: Vec<usize>,
    /// `default`, or `all` for sets that only `--all` runs.
    pub tier: String,
}

/// `mining/best_known.json`: lowest sums of squares by set and number of clusters.
#[derive(Debug, Deserialize)]
pub struct BestKnown {
    sum_of_squares: BTreeMap<String, BTreeMap<String, Best>>,
}

#[derive(Debug, Deserialize)]
struct Best {
    best: f64,
}

impl BestKnown {
    /// The lowest sum of squares known for `set` in `clusters` clusters.
    pub fn get(&self, set: &str, clusters: usize) -> Option<f64> {
        self.sum_of_squares.get(set)?.get(&clusters.to_string()).map(|best| best.best)
    }
}

/// `mining/densities.json`: mixtures of Gaussians and topographic maps beside peers'.
#[derive(Debug, Deserialize)]
pub struct Densities {
    /// Relative shortfall of the log-likelihood that still counts as none.
    pub tolerance: f64,
    /// How many seeds ours has.
    pub seeds: usize,
    /// How many starts the peer has, of which it keeps the best.
    pub starts: usize,
    /// Mixtures.
    pub mixtures: Vec<MixtureSet>,
    /// Topographic maps.
    pub maps: Vec<TopographicSet>,
}

/// A set and the mixtures that are fitted to it; its `clusters` are numbers of components.
#[derive(Debug, Deserialize)]
pub struct MixtureSet {
    /// The set.
    #[serde(flatten)]
    pub set: SetDefinition,
    /// Whether columns are brought to mean 0 and standard deviation 1 first.
    pub standardise: bool,
    /// The highest log-likelihood a row that is known, by form of the covariances.
    pub best: BTreeMap<String, f64>,
}

/// A set and the maps that are fitted to it, of standardised columns.
#[derive(Debug, Deserialize)]
pub struct TopographicSet {
    /// The set.
    #[serde(flatten)]
    pub set: SetDefinition,
    /// Nodes and basis functions along each axis.
    pub grids: Vec<[usize; 2]>,
}

/// `mining/kernels.json`: the E+M steps that are compared with C.
#[derive(Debug, Deserialize)]
pub struct Kernels {
    /// Our time over the loop's should not exceed this.
    pub aim: f64,
    /// Shapes.
    pub cases: Vec<KernelCase>,
    /// Element types: `f32`, `f64`.
    pub precisions: Vec<String>,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// Largest relative error of a right answer, by element type.
    pub tolerance: BTreeMap<String, f64>,
    /// Rows of bits, compared with the same rows as numbers.
    pub bits: BitCase,
    /// Sparse rows, compared with the same rows as numbers.
    pub sparse: SparseCase,
}

/// Sparse rows like counts of words, with the numbers of clusters to try.
#[derive(Debug, Deserialize)]
pub struct SparseCase {
    /// The time of sparse rows over that of numbers should not exceed this.
    pub aim: f64,
    /// Points.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Words of a row, of which some come twice.
    pub words: usize,
    /// Numbers of centres.
    pub clusters: Vec<usize>,
}

/// Rows of bits with the numbers of clusters to try.
#[derive(Debug, Deserialize)]
pub struct BitCase {
    /// The time of bits over that of numbers should not exceed this.
    pub aim: f64,
    /// Points.
    pub rows: usize,
    /// Columns.
    pub bits: usize,
    /// The share of bits that are set.
    pub density: f64,
    /// Numbers of centres.
    pub clusters: Vec<usize>,
}

/// A shape of points with the numbers of clusters to try.
#[derive(Debug, Deserialize)]
pub struct KernelCase {
    /// Coordinates of a point.
    pub dimension: usize,
    /// Points.
    pub rows: usize,
    /// Temperature, in squared units of the generated points.
    pub temperature: f64,
    /// Numbers of centres.
    pub clusters: Vec<usize>,
}

/// `mining/distances.json`: the dissimilarities of all pairs that are compared with other programs'.
#[derive(Debug, Deserialize)]
pub struct Distances {
    /// Our time over the peer's should not exceed this.
    pub aim: f64,
    /// The file of sequences, in the project.
    pub fasta: String,
    /// How many of them are aligned.
    pub sequences: usize,
    /// Items of the measures that are no alignments.
    pub items: usize,
    /// Bits of a fingerprint, whole words.
    pub bits: usize,
    /// Places of an aligned sequence.
    pub places: usize,
    /// Columns of a row.
    pub columns: usize,
    /// Units a second and core that are aimed at, by case.
    pub rates: BTreeMap<String, f64>,
}

/// `mining/pairwise.json`: clusters of items known by their dissimilarities, beside other programs' on the same matrix.
#[derive(Debug, Deserialize)]
pub struct Pairwise {
    /// How many runs each side has.
    pub seeds: usize,
    /// Relative excess over the best cost that still counts as reaching it.
    pub tolerance: f64,
    /// The sets.
    pub sets: Vec<PairwiseSet>,
    /// The peers.
    pub peers: Vec<PairwisePeer>,
}

/// Items with known classes: so many Alu repeats, or a matrix or aligned sequences and their labels below the data
/// folder.
#[derive(Debug, Deserialize)]
pub struct PairwiseSet {
    /// Its name.
    pub name: String,
    /// `all`: with `--all` only.
    #[serde(default)]
    pub tier: String,
    /// How many Alu repeats of this project, evenly chosen.
    pub alu: Option<usize>,
    /// A square table without a head.
    pub matrix: Option<String>,
    /// Aligned sequences, which are compared place by place.
    pub aligned: Option<Aligned>,
    /// A table with an id and a class of each item.
    pub labels: Option<String>,
    /// The columns of the two.
    #[serde(default = "index_and_label")]
    pub columns: [String; 2],
    /// The number of clusters.
    pub clusters: usize,
    /// The lowest cost that is known.
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
    /// How many.
    pub first: usize,
}

/// A method of the runner.
#[derive(Debug, Deserialize)]
pub struct PairwisePeer {
    /// Its name, as the runner knows it.
    pub method: String,
    /// Whether it finds the number of clusters itself.
    #[serde(default)]
    pub finds_clusters: bool,
}

/// `mining/maps.json`: maps of the same matrix, ours and a peer's.
#[derive(Debug, Deserialize)]
pub struct Maps {
    /// How many runs each side has.
    pub seeds: usize,
    /// Dimensions of a map.
    pub dimension: usize,
    /// Random starts of the peer, of which it keeps the best.
    pub starts: usize,
    /// Iterations of the peer at most, of each start.
    pub iterations: usize,
    /// Relative excess over the peer's stress that still counts as none.
    pub tolerance: f64,
    /// The time of the peer's iteration over ours should be at least this.
    pub aim: f64,
    /// The sets.
    pub sets: Vec<MapSet>,
}

/// Items, evenly chosen: so many Alu repeats or patients of this project, or patients of a table below the data folder.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct MapSet {
    /// Its name.
    pub name: String,
    /// How many Alu repeats.
    pub alu: Option<usize>,
    /// How many patients.
    pub patients: Option<usize>,
    /// The table that they are taken from, with the ids in `row`; without it, the project's.
    pub table: Option<String>,
    /// `all`: with `--all` only.
    #[serde(default)]
    pub tier: String,
    /// How many runs each side has, in the place of the definition's.
    pub seeds: Option<usize>,
    /// What each run consists of, in the place of the definition's: so many iterations of each side, whose time alone
    /// is compared.
    pub iterations: Option<usize>,
}

/// `ranks/overhead.json`: the runs whose parallel overhead is measured.
#[derive(Debug, Deserialize)]
pub struct Overhead {
    /// The overhead should not exceed this.
    pub aim: f64,
    /// Grain sizes.
    pub rows_per_rank: Vec<usize>,
    /// Coordinates of a point.
    pub dimension: usize,
    /// Clusters asked for.
    pub clusters: usize,
    /// Ranks of the parallel side.
    pub ranks: usize,
}

/// Reads the definition `name` of `lab/definitions`.
///
/// # Errors
/// If the file is missing (the harness runs in the project's folder) or does not have this form.
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
