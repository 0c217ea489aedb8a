//! `lab/definitions/ranks/overhead.json`: the cases, the layouts and the sizes of `lehr-lab overhead`.

use lehr_ranks::Layout;
use serde::{Deserialize, Deserializer};

use crate::definition::MapSet;

/// The definition as its file has it: two sizes of the same thing.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The overhead should not exceed this.
    pub aim: f64,
    /// The whole measurement.
    pub full: Definition,
    /// A few cases in under two minutes.
    pub quick: Definition,
}

/// One size.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// Rounds of turns, unless the command line says otherwise.
    pub rounds: usize,
    /// Runs that are timed in a turn, after one that is not; the turn counts with their median.
    pub runs: usize,
    /// Coordinates of a point.
    pub dimension: usize,
    /// The cases for the dependence on grain size.
    pub by_grain: Cases,
    /// The cases for the dependence on the number of clusters.
    pub by_clusters: Cases,
    /// The cases of pairwise clustering, for the models of 003.
    pub pairs: Cases,
    /// Maps, for 003 figures 15 to 20.
    pub scaling: Maps,
    /// Where the ranks are; those with more ranks than cores are left out. One rank is always there.
    #[serde(deserialize_with = "layouts")]
    pub layouts: Vec<Layout>,
    /// The layouts in which map-reduce takes turns with ranks.
    #[serde(deserialize_with = "layouts")]
    pub map_reduce: Vec<Layout>,
    /// Synchronised stages of the kernel whose times are compared.
    pub stages: usize,
    /// Rows a rank in them.
    pub stage_rows: Vec<usize>,
    /// Centres in them.
    pub stage_clusters: Vec<usize>,
    /// Stages are fewer where they would last longer than this.
    pub stage_seconds_max: f64,
    /// From one thread's single sum to the next one's, in numbers of eight bytes.
    pub separations: Vec<usize>,
    /// Centres whose sums follow each other thread after thread.
    pub packed_clusters: Vec<usize>,
}

/// Maps of the same dissimilarities, made by each engine.
#[derive(Clone, Debug, Deserialize)]
pub struct Maps {
    /// Dimensions of a map.
    pub dimension: usize,
    /// Iterations at most.
    pub iterations: u64,
    /// The items.
    pub sets: Vec<MapSet>,
}

/// Every number of rows with every number of clusters.
#[derive(Clone, Debug, Deserialize)]
pub struct Cases {
    /// Rows of the whole problem.
    pub rows: Vec<usize>,
    /// Clusters asked for.
    pub clusters: Vec<usize>,
}

/// What is known of the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Their coordinates: clustering of vectors.
    Points,
    /// Their distances alone: pairwise clustering, 003's method.
    Pairs,
}

/// One problem, solved in every layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// By which method.
    pub method: Method,
    /// Rows of the whole problem.
    pub rows: usize,
    /// Clusters asked for.
    pub clusters: usize,
}

impl Case {
    /// Its name in records.
    pub fn name(self) -> String {
        let method = match self.method {
            Method::Points => "",
            Method::Pairs => "pairs, ",
        };
        format!("{method}N = {}, K = {}", self.rows, self.clusters)
    }
}

impl Definition {
    /// The problems, each once.
    pub fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        let groups =
            [(Method::Points, &self.by_grain), (Method::Points, &self.by_clusters), (Method::Pairs, &self.pairs)];
        for (method, group) in groups {
            for &clusters in &group.clusters {
                for &rows in &group.rows {
                    let case = Case { method, rows, clusters };
                    if !cases.contains(&case) {
                        cases.push(case);
                    }
                }
            }
        }
        cases
    }
}

/// The definition, which is part of the program, so that it runs in any folder.
///
/// # Panics
/// If the file is not of its kind, which its test excludes.
pub fn file() -> File {
    serde_json::from_str(include_str!("../../../definitions/ranks/overhead.json")).expect("the definition has its form")
}

fn layouts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Layout>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_both_dependences_want_is_there_once() {
        let full = file().full;
        let cases = full.cases();
        let wanted = |case: &Case| {
            let groups = match case.method {
                Method::Points => vec![&full.by_grain, &full.by_clusters],
                Method::Pairs => vec![&full.pairs],
            };
            groups.iter().any(|group| group.rows.contains(&case.rows) && group.clusters.contains(&case.clusters))
        };
        assert!(cases.iter().all(wanted));
        assert!((1..cases.len()).all(|place| !cases[..place].contains(&cases[place])));
        let of_pairs = full.pairs.rows.len() * full.pairs.clusters.len();
        assert_eq!(cases.len(), 6 * 2 + 4 - 2 + of_pairs);
        // A law of one factor needs two sizes at least.
        assert!(of_pairs > 1);
        assert_eq!(Case { method: Method::Pairs, rows: 10, clusters: 2 }.name(), "pairs, N = 10, K = 2");
    }

    #[test]
    fn map_reduce_is_measured_where_ranks_are() {
        for definition in [file().full, file().quick] {
            let is_measured = |layout: &Layout| layout.ranks() == 1 || definition.layouts.contains(layout);
            assert!(definition.map_reduce.iter().all(is_measured));
            assert!(definition.layouts.iter().all(|layout| layout.ranks() > 1), "one rank is always there");
        }
    }
}
