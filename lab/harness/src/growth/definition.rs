//! `lab/definitions/growth/growth.json`: the methods, and the axes along which their costs are compared.

use serde::Deserialize;

use super::blobs::Blobs;

/// The definition in the form of its file.
#[derive(Clone, Debug, Deserialize)]
pub struct File {
    /// The whole measurement.
    pub full: Definition,
    /// A few small sizes that take under two minutes.
    pub quick: Definition,
}

/// One of the two sizes of the measurement.
#[derive(Clone, Debug, Deserialize)]
pub struct Definition {
    /// The number of rounds, unless the command line gives another.
    pub rounds: usize,
    /// The arrangement of the generated rows.
    pub blobs: Blobs,
    /// The methods that are measured.
    pub methods: Vec<Method>,
}

/// A method, and the axes along which it is measured.
#[derive(Clone, Debug, Deserialize)]
pub struct Method {
    /// The method itself.
    pub work: Work,
    /// The maximum time of all passes together, in nanoseconds of one core for each row, column and cluster.
    pub nanoseconds: f64,
    /// The axes.
    pub axes: Vec<Axis>,
}

/// A method for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Work {
    /// Clusters by annealing.
    Clusters,
    /// Clusters by k-means from one start.
    KMeans,
    /// A mixture with full covariances.
    Mixture,
    /// A topographic map.
    Map,
}

/// An axis: one quantity that varies.
#[derive(Clone, Debug, Deserialize)]
pub struct Axis {
    /// The quantity that varies.
    pub of: Quantity,
    /// The values of the quantity, in ascending order.
    pub values: Vec<usize>,
    /// The other quantities, which do not vary.
    at: Others,
}

/// A quantity that costs grow with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// The number of rows, N.
    Rows,
    /// The number of columns, D.
    Columns,
    /// The number of clusters, K.
    Clusters,
    /// The number of ranks, P.
    Ranks,
}

/// The quantities that an axis keeps fixed.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Others {
    rows: Option<usize>,
    columns: Option<usize>,
    clusters: Option<usize>,
}

/// The size of a problem, and the number of ranks that solve it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of rows, N.
    pub rows: usize,
    /// The number of columns, D.
    pub columns: usize,
    /// The number of blobs, K, which is also the number of clusters.
    pub clusters: usize,
    /// The number of ranks, P, each on a thread; `None` means one for each core.
    pub ranks: Option<usize>,
}

impl Quantity {
    /// Returns the name of the quantity.
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
    /// Returns the shapes along the axis, each with its value of the quantity. It omits shapes with more ranks than
    /// `cores`.
    ///
    /// # Panics
    /// Panics if the definition does not fix a quantity, which a test excludes.
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
    /// Returns the shape's part of the name of a case.
    pub fn name(&self) -> String {
        let Self { rows, columns, clusters, ranks } = self;
        let ranks = ranks.map_or_else(String::new, |ranks| format!(", P = {ranks}"));
        format!("N = {rows}, D = {columns}, K = {clusters}{ranks}")
    }

    /// Returns the bytes of the rows, in memory and on disk.
    pub fn bytes(&self) -> f64 {
        8.0 * (self.rows * self.columns) as f64
    }
}

impl Method {
    /// Returns the maximum seconds of a round of a case.
    pub fn seconds(&self, shape: &Shape, cores: usize) -> f64 {
        let work = shape.rows as f64 * (shape.columns + 2) as f64 * shape.clusters as f64 * self.nanoseconds * 1e-9;
        // The command also writes tables of rows.
        1.0 + work / shape.ranks.unwrap_or(cores).min(cores) as f64 + 2e-6 * shape.rows as f64
    }
}

/// Returns the definition, which is compiled in, so that the command needs no folder.
///
/// # Panics
/// Panics if the file is not a definition, which a test excludes.
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
