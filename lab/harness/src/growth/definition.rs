//! `lab/definitions/growth/growth.json`: which methods, and along which axes their costs are compared.

use serde::Deserialize;

use super::blobs::Blobs;

/// The definition as its file has it.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few small sizes in under two minutes.
    pub quick: Definition,
}

/// One size of measurement.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// Rounds, unless the command line says otherwise.
    pub rounds: usize,
    /// How rows are made.
    pub blobs: Blobs,
    /// What is done with them.
    pub methods: Vec<Method>,
}

/// A method and the axes that it is measured along.
#[derive(Clone, Debug, Deserialize)]
pub struct Method {
    /// What is done with the rows.
    pub work: Work,
    /// Nanoseconds of one core for a row, a column and a cluster, in all passes together, at most.
    pub nanoseconds: f64,
    /// The axes.
    pub axes: Vec<Axis>,
}

/// What is done with the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Annealed clusters.
    Clusters,
    /// Clusters by k-means, from one start.
    KMeans,
    /// A mixture with full covariances.
    Mixture,
    /// A topographic map.
    Map,
}

/// One quantity that varies.
#[derive(Clone, Debug, Deserialize)]
pub struct Axis {
    /// Which.
    pub of: Quantity,
    /// Its values, rising.
    pub values: Vec<usize>,
    /// The others.
    at: Others,
}

/// What costs grow with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// N.
    Rows,
    /// D.
    Columns,
    /// K.
    Clusters,
    /// P.
    Ranks,
}

/// The quantities that an axis keeps.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Others {
    rows: Option<usize>,
    columns: Option<usize>,
    clusters: Option<usize>,
}

/// The size of a problem, and of who works at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows, N.
    pub rows: usize,
    /// Columns, D.
    pub columns: usize,
    /// Blobs, K, which are as many clusters.
    pub clusters: usize,
    /// Ranks, P, each on a thread; as many as there are cores, otherwise.
    pub ranks: Option<usize>,
}

impl Quantity {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "rows",
            Self::Columns => "columns",
            Self::Clusters => "clusters",
            Self::Ranks => "ranks",
        }
    }
}

impl Axis {
    /// The shapes along it, each with its value of the quantity. More ranks than `cores` are not taken.
    ///
    /// # Panics
    /// If the definition leaves a quantity open, which a test would have found.
    pub fn shapes(&self, cores: usize) -> Vec<(usize, Shape)> {
        let Others { rows, columns, clusters } = self.at;
        let values = self.values.iter().filter(|ranks| self.of != Quantity::Ranks || **ranks <= cores);
        values
            .map(|value| {
                let kept = |of: Quantity, kept: Option<usize>| {
                    if self.of == of { *value } else { kept.expect("checked by a test") }
                };
                let shape = Shape {
                    rows: kept(Quantity::Rows, rows),
                    columns: kept(Quantity::Columns, columns),
                    clusters: kept(Quantity::Clusters, clusters),
                    ranks: (self.of == Quantity::Ranks).then_some(*value),
                };
                (*value, shape)
            })
            .collect()
    }
}

impl Shape {
    /// What it is called in the name of a case.
    pub fn name(&self) -> String {
        let Self { rows, columns, clusters, ranks } = self;
        let ranks = ranks.map_or_else(String::new, |ranks| format!(", P = {ranks}"));
        format!("N = {rows}, D = {columns}, K = {clusters}{ranks}")
    }

    /// What its rows fill, in memory and on disk.
    pub fn bytes(&self) -> f64 {
        8.0 * (self.rows * self.columns) as f64
    }
}

impl Method {
    /// What a round of a case takes at most.
    pub fn seconds(&self, shape: &Shape, cores: usize) -> f64 {
        let work = shape.rows as f64 * (shape.columns + 2) as f64 * shape.clusters as f64 * self.nanoseconds * 1e-9;
        // Tables of rows are written too.
        1.0 + work / shape.ranks.unwrap_or(cores).min(cores) as f64 + 2e-6 * shape.rows as f64
    }
}

/// The definition as it is compiled in, so that the command needs no folder.
///
/// # Panics
/// If the file is no definition, which a test would have found.
pub fn file() -> File {
    serde_json::from_str(include_str!("../../../definitions/growth/growth.json")).expect("checked by a test")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_axis_has_its_sizes_and_the_largest_is_ten_million_rows() {
        let File { full, quick } = file();
        for definition in [&full, &quick] {
            for axis in definition.methods.iter().flat_map(|method| &method.axes) {
                assert!(axis.values.is_sorted() && axis.values.len() >= 3);
                let shapes = axis.shapes(usize::MAX);
                assert!(
                    shapes.len() == axis.values.len() && shapes.iter().all(|(_, shape)| shape.rows >= shape.clusters)
                );
            }
        }
        let axes = |definition: &Definition| -> Vec<Axis> {
            definition.methods.iter().flat_map(|method| method.axes.clone()).collect()
        };
        assert!(axes(&full).iter().flat_map(|axis| axis.shapes(1)).any(|(rows, _)| rows == 10_000_000));
        let seconds = |definition: &Definition| -> f64 {
            let methods = definition.methods.iter();
            let cases = methods.flat_map(|method| method.axes.iter().map(move |axis| (method, axis)));
            let rounds = definition.rounds as f64;
            cases
                .flat_map(|(method, axis)| {
                    axis.shapes(2).into_iter().map(move |(_, shape)| rounds * method.seconds(&shape, 2))
                })
                .sum()
        };
        assert!(seconds(&quick) < 120.0, "{}", seconds(&quick));
    }

    #[test]
    fn ranks_beyond_the_cores_are_not_taken_and_named_where_they_vary() {
        let File { full, .. } = file();
        let axis = full.methods[0].axes.iter().find(|axis| axis.of == Quantity::Ranks).unwrap();
        let names: Vec<String> = axis.shapes(2).iter().map(|(_, shape)| shape.name()).collect();
        assert_eq!(names, ["N = 200000, D = 8, K = 20, P = 1", "N = 200000, D = 8, K = 20, P = 2"]);
        let rows = &full.methods[0].axes[0].shapes(2)[0].1;
        assert_eq!(rows.name(), "N = 10000, D = 2, K = 10");
    }
}
