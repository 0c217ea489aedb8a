//! `lab/definitions/ranks/overhead.json`: the cases, the layouts and the sizes of `lehr-lab overhead`.

use lehr_ranks::Layout;
use serde::{Deserialize, Deserializer};

use crate::definition::MapSet;

/// The definition in the form of its file, with two sizes of the measurement.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The upper limit of the overhead.
    pub aim: f64,
    /// The whole measurement.
    pub full: Definition,
    /// A few cases that take under two minutes.
    pub quick: Definition,
}

/// One of the two sizes of the measurement.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// The number of rounds, unless the command line gives another.
    pub rounds: usize,
    /// The number of timed runs in a turn, after one that is not timed; the time of the turn is their median.
    pub runs: usize,
    /// The number of coordinates of a point.
    pub dimension: usize,
    /// The cases for the dependence on grain size.
    pub by_grain: Cases,
    /// The cases for the dependence on the number of clusters.
    pub by_clusters: Cases,
    /// The numbers of clusters of the census blocks, for 000 figure 2 (a) and 004 figure 2 (a).
    pub census_clusters: Vec<usize>,
    /// The cases of pairwise clustering, for the models of 003.
    pub pairs: Cases,
    /// The cases of pairwise clustering of gene sequences, for 003 figures 4 to 11.
    pub sequences: Cases,
    /// The maps, for 003 figures 15 to 20.
    pub scaling: Maps,
    /// The layouts of the ranks, without those that have more ranks than cores. The layout of one rank is always
    /// measured.
    #[serde(deserialize_with = "layouts")]
    pub layouts: Vec<Layout>,
    /// The layouts in which map-reduce takes turns with ranks.
    #[serde(deserialize_with = "layouts")]
    pub map_reduce: Vec<Layout>,
    /// The number of synchronised stages of the kernel whose times are compared.
    pub stages: usize,
    /// The numbers of rows of a rank in the stages.
    pub stage_rows: Vec<usize>,
    /// The numbers of centres in the stages.
    pub stage_clusters: Vec<usize>,
    /// The time limit of the stages; there are fewer stages if they would last longer.
    pub stage_seconds_max: f64,
    /// The distances from one thread's single sum to the next thread's, in numbers of eight bytes.
    pub separations: Vec<usize>,
    /// The numbers of centres for sums that follow each other without a gap, thread after thread.
    pub packed_clusters: Vec<usize>,
}

/// Maps of the same dissimilarities by each engine.
#[derive(Clone, Debug, Deserialize)]
pub struct Maps {
    /// The number of dimensions of a map.
    pub dimension: usize,
    /// The maximum number of iterations.
    pub iterations: u64,
    /// The items.
    pub sets: Vec<MapSet>,
}

/// The combinations of every number of rows with every number of clusters.
#[derive(Clone, Debug, Deserialize)]
pub struct Cases {
    /// The numbers of rows of the whole problem.
    pub rows: Vec<usize>,
    /// The requested numbers of clusters.
    pub clusters: Vec<usize>,
}

/// The number of census blocks.
pub const CENSUS_ROWS: usize = 201_174;

/// The data that describe the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The coordinates of the items: clustering of vectors.
    Points,
    /// The coordinates of the census blocks, with their inhabitants as weights: clustering of vectors.
    Census,
    /// Only the distances of the items: pairwise clustering, the method of 003.
    Pairs,
    /// The dissimilarities of Alu repeats, which 003 clustered too, by local alignments: pairwise clustering.
    Sequences,
}

impl Method {
    /// Returns the name of the method in records; `None` for points of a mixture.
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::Points => None,
            Self::Census => Some("census"),
            Self::Pairs => Some("pairs"),
            Self::Sequences => Some("sequences"),
        }
    }
}

/// A problem that is solved in every layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The clustering method.
    pub method: Method,
    /// The number of rows of the whole problem.
    pub rows: usize,
    /// The requested number of clusters.
    pub clusters: usize,
}

impl Case {
    /// Returns the name of the case in records.
    pub fn name(self) -> String {
        let method = self.method.name().map_or(String::new(), |name| format!("{name}, "));
        format!("{method}N = {}, K = {}", self.rows, self.clusters)
    }
}

impl Definition {
    /// Returns all problems, each once.
    pub fn cases(&self) -> Vec<Case> {
        let mut cases = Vec::new();
        let census = Cases { rows: vec![CENSUS_ROWS], clusters: self.census_clusters.clone() };
        let groups = [
            (Method::Points, &self.by_grain),
            (Method::Points, &self.by_clusters),
            (Method::Census, &census),
            (Method::Pairs, &self.pairs),
            (Method::Sequences, &self.sequences),
        ];
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
/// Panics if the file is not a definition, which a test excludes.
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
                Method::Census => return case.rows == CENSUS_ROWS && full.census_clusters.contains(&case.clusters),
                Method::Pairs => vec![&full.pairs],
                Method::Sequences => vec![&full.sequences],
            };
            groups.iter().any(|group| group.rows.contains(&case.rows) && group.clusters.contains(&case.clusters))
        };
        assert!(cases.iter().all(wanted));
        assert!((1..cases.len()).all(|place| !cases[..place].contains(&cases[place])));
        let of = |cases: &Cases| cases.rows.len() * cases.clusters.len();
        let (of_pairs, of_sequences) = (of(&full.pairs), of(&full.sequences));
        assert_eq!(cases.len(), 6 * 2 + 4 - 2 + full.census_clusters.len() + of_pairs + of_sequences);
        // A law with one factor needs at least two sizes.
        assert!(of_pairs > 1 && of_sequences > 1);
        assert_eq!(Case { method: Method::Pairs, rows: 10, clusters: 2 }.name(), "pairs, N = 10, K = 2");
        assert_eq!(Case { method: Method::Points, rows: 10, clusters: 2 }.name(), "N = 10, K = 2");
        assert_eq!(lehr_data::datasets::census_blocks().len(), CENSUS_ROWS);
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
