//! How separate clusters are, without known classes: silhouettes and other indices of validity, for rows and for
//! dissimilarities.
//!
//! The silhouette of an item is (b − a) / max(a, b) (Rousseeuw 1987). Here a is its mean distance to the other items of
//! its cluster. To the items of the nearest other cluster, its mean distance is b. Rows also have indices that need
//! their centroids only: simplified silhouettes (Hruschka 2004), Davies and Bouldin 1979, and Calinski and Harabasz
//! 1974.

use lehr_data::dissimilarities::Dissimilarities;

use crate::Error;
use crate::drawn::drawn;
use crate::round::{LeafCells, on_threads};

/// The number of rows whose distances are computed together.
const BLOCK: usize = 256;
/// The number of items that a thread takes at once.
const TAKEN: usize = 64;

/// How separate clusters are.
#[derive(Clone, Debug, PartialEq)]
pub struct Validity {
    /// The mean silhouette of the items that were drawn, −1 to 1.
    pub silhouette: f64,
    /// The standard error of the mean, if not all items were drawn, but at least two.
    pub silhouette_error: Option<f64>,
    /// The number of items that were drawn.
    pub drawn: usize,
    /// The mean silhouette of each cluster; NaN if none of its items was drawn.
    pub of_clusters: Vec<f64>,
    /// The indices from centroids, if the items are rows.
    pub centroids: Option<Centroids>,
}

/// Indices of validity that need the centroids of clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Centroids {
    /// The sum of squared distances of rows from the centroids of their clusters.
    pub within: f64,
    /// The mean simplified silhouette of the drawn rows, −1 to 1: distances to centroids replace mean distances to rows.
    pub silhouette: f64,
    /// The index of Davies and Bouldin, 0 or more; lower is better. It is the mean over clusters of the largest ratio of
    /// spread to separation.
    pub davies_bouldin: f64,
    /// The index of Calinski and Harabasz, 0 or more; higher is better. It is the ratio of the variance between clusters
    /// to the variance within. Infinite if the rows of each cluster are equal.
    pub calinski_harabasz: f64,
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Returns the silhouette of an item from its mean distances to its own cluster and to the nearest other cluster. It is 0
/// if there is no other cluster.
pub(crate) fn silhouette(own: f64, nearest: f64) -> f64 {
    let larger = own.max(nearest);
    if larger > 0.0 && nearest.is_finite() { (nearest - own) / larger } else { 0.0 }
}

/// Computes the indices of rows by Euclidean distance. `values` has the rows one after the other, and `labels` a cluster
/// for each. At most `most` rows are drawn for silhouettes, and each is compared with all rows.
///
/// # Errors
/// Returns the errors of the threads, or [`Error::Parameter`] unless there are at least two clusters, and more rows than
/// clusters.
///
/// # Panics
/// Panics if there are not as many labels as rows, or if a cluster has no rows.
///
/// # Example
/// ```
/// use lehr_mining::validity::of_rows;
/// let validity = of_rows(&[0.0, 1.0, 10.0, 11.0], 1, &[0, 0, 1, 1], 1000, 1)?;
/// assert_eq!(validity.centroids.unwrap().calinski_harabasz, 200.0);
/// // For 0, a = 1 and b = 10.5; for 1, b = 9.5.
/// assert!((validity.silhouette - (9.5 / 10.5 + 8.5 / 9.5) / 2.0).abs() < 1e-15);
/// # Ok::<(), lehr_mining::Error>(())
/// ```
///
/// Cost: a distance for each drawn row and each row, and for each pair of clusters. Memory: a copy of the rows.
pub fn of_rows(
    values: &[f64],
    dimension: usize,
    labels: &[u32],
    most: usize,
    threads: usize,
) -> Result<Validity, Error> {
    assert_eq!(values.len(), labels.len() * dimension, "a label for each row");
    let sizes = sizes(labels)?;
    let sorted = Sorted::new(values, dimension, labels, &sizes);
    let rows = drawn(labels.len(), most);
    let measured = each(&rows, threads, |row, sums: &mut Vec<f64>| {
        sorted.sums(&values[row * dimension..][..dimension], sums);
        of_sums(sums, labels[row] as usize, &sizes)
    })?;
    let (centers, mut centroids) = sorted.centroids(&sizes);
    let near = each(&rows, threads, |row, _| {
        let own = labels[row] as usize;
        let to = |center: &[f64]| squared(&values[row * dimension..][..dimension], center);
        let others = centers.iter().enumerate().filter(|(cluster, _)| *cluster != own);
        let nearest = others.map(|(_, center)| to(center)).fold(f64::INFINITY, f64::min);
        silhouette(to(&centers[own]).sqrt(), nearest.sqrt())
    })?;
    centroids.silhouette = near.iter().sum::<f64>() / near.len() as f64;
    Ok(Validity { centroids: Some(centroids), ..summed_up(&rows, &measured, labels, sizes.len()) })
}

/// Computes silhouettes from dissimilarities. `labels` has a cluster for each of `items` of the matrix. Pairs without a
/// value are left out of means. An item that has no known pair in its own cluster, or none in another, has the
/// silhouette 0.
///
/// # Errors
/// As for [`of_rows`].
///
/// # Panics
/// Panics if there are not as many labels as items, if an item is not in the matrix, or if a cluster has no items.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
/// use lehr_mining::validity::of_pairs;
/// let pairs = Values::F64(vec![1.0, 4.0, 4.0]);
/// let matrix = Dissimilarities::new(3, Form::Condensed, pairs, 1.0)?;
/// let validity = of_pairs(&matrix, &[0, 1, 2], &[0, 0, 1], 1000, 1)?;
/// // An item alone in its cluster has the silhouette 0.
/// assert_eq!(validity.of_clusters, [0.75, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn of_pairs(
    matrix: &Dissimilarities,
    items: &[usize],
    labels: &[u32],
    most: usize,
    threads: usize,
) -> Result<Validity, Error> {
    assert_eq!(items.len(), labels.len(), "a label for each item");
    let sizes = sizes(labels)?;
    let places = drawn(labels.len(), most);
    let measured = each(&places, threads, |place, sums: &mut Vec<f64>| {
        let (mut nearest, mut own) = (f64::INFINITY, None);
        let mut known = vec![0.0; sizes.len()];
        sums.clear();
        sums.resize(sizes.len(), 0.0);
        for (other, &label) in labels.iter().enumerate().filter(|(other, _)| *other != place) {
            if let Some(value) = matrix.get(items[place], items[other]) {
                sums[label as usize] += value;
                known[label as usize] += 1.0;
            }
        }
        for (cluster, (sum, known)) in sums.iter().zip(known).enumerate().filter(|(_, (_, known))| *known > 0.0) {
            if cluster == labels[place] as usize {
                own = Some(sum / known);
            } else {
                nearest = nearest.min(sum / known);
            }
        }
        own.map_or(0.0, |own| silhouette(own, nearest))
    })?;
    Ok(summed_up(&places, &measured, labels, sizes.len()))
}

/// Counts the items of each cluster.
fn sizes(labels: &[u32]) -> Result<Vec<usize>, Error> {
    let clusters = labels.iter().max().map_or(0, |most| *most as usize + 1);
    if clusters < 2 || clusters >= labels.len() {
        let found = format!("{clusters} for {} items", labels.len());
        return Err(Error::Parameter { name: "clusters", expected: "at least 2, and fewer than items", found });
    }
    let mut sizes = vec![0; clusters];
    labels.iter().for_each(|&label| sizes[label as usize] += 1);
    assert!(!sizes.contains(&0), "every cluster has items");
    Ok(sizes)
}

/// Measures each of these items, on several threads.
fn each(
    items: &[usize],
    threads: usize,
    measure: impl Fn(usize, &mut Vec<f64>) -> f64 + Sync,
) -> Result<Vec<f64>, Error> {
    let parts: Vec<&[usize]> = items.chunks(TAKEN).collect();
    let found = LeafCells::new(parts.len(), |_| Vec::new());
    on_threads(threads, parts.len(), |part| {
        let mut sums = Vec::new();
        let measured = parts[part].iter().map(|&item| measure(item, &mut sums)).collect();
        found.with(part, |found| *found = measured);
    })?;
    Ok(found.into_values().flatten().collect())
}

/// The silhouette of a row, from its sums of distances by cluster.
fn of_sums(sums: &[f64], own: usize, sizes: &[usize]) -> f64 {
    if sizes[own] == 1 {
        return 0.0;
    }
    let others = sums.iter().zip(sizes).enumerate().filter(|(cluster, _)| *cluster != own);
    let nearest = others.map(|(_, (sum, size))| sum / *size as f64).fold(f64::INFINITY, f64::min);
    silhouette(sums[own] / (sizes[own] - 1) as f64, nearest)
}

fn summed_up(items: &[usize], measured: &[f64], labels: &[u32], clusters: usize) -> Validity {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let overall = mean(measured);
    let squares: f64 = measured.iter().map(|value| (value - overall) * (value - overall)).sum();
    let count = measured.len() as f64;
    let is_known = items.len() < labels.len() && items.len() > 1;
    let error = is_known.then(|| (squares / (count - 1.0) / count).sqrt());
    let mut of_clusters = vec![Vec::new(); clusters];
    items.iter().zip(measured).for_each(|(&item, &value)| of_clusters[labels[item] as usize].push(value));
    Validity {
        silhouette: overall,
        silhouette_error: error,
        drawn: items.len(),
        of_clusters: of_clusters.iter().map(|values| mean(values)).collect(),
        centroids: None,
    }
}

/// The rows by cluster, each cluster in blocks with one column after the other. So a vector instruction computes the
/// distances of several rows.
struct Sorted {
    dimension: usize,
    /// For each cluster, its blocks: the number of rows, and their values by column.
    blocks: Vec<Vec<(usize, Vec<f64>)>>,
}

impl Sorted {
    fn new(values: &[f64], dimension: usize, labels: &[u32], sizes: &[usize]) -> Self {
        let mut rows: Vec<Vec<usize>> = sizes.iter().map(|size| Vec::with_capacity(*size)).collect();
        labels.iter().enumerate().for_each(|(row, &label)| rows[label as usize].push(row));
        let block = |rows: &[usize]| {
            let columns =
                (0..dimension).flat_map(|column| rows.iter().map(move |row| values[row * dimension + column]));
            (rows.len(), columns.collect())
        };
        let blocks = rows.iter().map(|rows| rows.chunks(BLOCK).map(block).collect()).collect();
        Self { dimension, blocks }
    }

    /// Overwrites `sums` with the sums of the distances from a row to the rows of each cluster.
    fn sums(&self, row: &[f64], sums: &mut Vec<f64>) {
        sums.clear();
        let mut squares = [0.0; BLOCK];
        for blocks in &self.blocks {
            let mut sum = 0.0;
            for (rows, columns) in blocks {
                let squares = &mut squares[..*rows];
                squares.fill(0.0);
                for (column, &value) in columns.chunks_exact(*rows).zip(row) {
                    for (square, other) in squares.iter_mut().zip(column) {
                        *square += (other - value) * (other - value);
                    }
                }
                squares.iter_mut().for_each(|square| *square = square.sqrt());
                sum += squares.iter().sum::<f64>();
            }
            sums.push(sum);
        }
    }

    /// Visits the rows of a cluster.
    fn visit(&self, cluster: usize, mut visit: impl FnMut(&[f64])) {
        let mut row = vec![0.0; self.dimension];
        for (rows, columns) in &self.blocks[cluster] {
            for place in 0..*rows {
                row.iter_mut().enumerate().for_each(|(column, value)| *value = columns[column * rows + place]);
                visit(&row);
            }
        }
    }

    /// Returns the centroids, and the indices that need all rows.
    fn centroids(&self, sizes: &[usize]) -> (Vec<Vec<f64>>, Centroids) {
        let clusters = sizes.len();
        let (mut centers, mut middle) = (Vec::with_capacity(clusters), vec![0.0; self.dimension]);
        for cluster in 0..clusters {
            let mut center = vec![0.0; self.dimension];
            self.visit(cluster, |row| center.iter_mut().zip(row).for_each(|(sum, value)| *sum += value));
            middle.iter_mut().zip(&center).for_each(|(sum, value)| *sum += value);
            center.iter_mut().for_each(|value| *value /= sizes[cluster] as f64);
            centers.push(center);
        }
        let rows: usize = sizes.iter().sum();
        middle.iter_mut().for_each(|value| *value /= rows as f64);
        let between: f64 =
            centers.iter().zip(sizes).map(|(center, size)| *size as f64 * squared(center, &middle)).sum();
        let mut within = 0.0;
        let mut spreads = Vec::with_capacity(clusters);
        for cluster in 0..clusters {
            let mut spread = 0.0;
            self.visit(cluster, |row| {
                let own = squared(row, &centers[cluster]);
                within += own;
                spread += own.sqrt();
            });
            spreads.push(spread / sizes[cluster] as f64);
        }
        let ratio = |a: usize, b: usize| {
            let (spread, apart) = (spreads[a] + spreads[b], squared(&centers[a], &centers[b]).sqrt());
            // Two clusters of equal rows at the same place are not separate.
            if apart > 0.0 { spread / apart } else { f64::INFINITY }
        };
        let worst = |a: usize| (0..clusters).filter(|b| *b != a).map(|b| ratio(a, b)).fold(0.0, f64::max);
        let freedom = (rows - clusters) as f64 / (clusters - 1) as f64;
        let found = Centroids {
            within,
            silhouette: 0.0,
            davies_bouldin: (0..clusters).map(worst).sum::<f64>() / clusters as f64,
            calinski_harabasz: if within > 0.0 { between / within * freedom } else { f64::INFINITY },
        };
        (centers, found)
    }
}

#[cfg(test)]
mod tests {
    use lehr_data::dissimilarities::{Form, Values};
    use lehr_numerics::random::Stream;

    use super::*;

    /// Rows of three columns in four groups, and their labels.
    fn rows(count: usize) -> (Vec<f64>, Vec<u32>) {
        let stream = Stream::new(3, "validity");
        let labels: Vec<u32> = (0..count).map(|row| (row * 7 % 10 % 4) as u32).collect();
        let value = |place: usize| stream.uniform(place as u64) + 0.7 * f64::from(labels[place / 3]);
        ((0..3 * count).map(value).collect(), labels)
    }

    fn distance(values: &[f64], i: usize, j: usize) -> f64 {
        (0..3).map(|column| (values[3 * i + column] - values[3 * j + column]).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn silhouettes_are_those_of_the_definition_on_any_number_of_threads() {
        let (values, labels) = rows(700);
        let found = of_rows(&values, 3, &labels, usize::MAX, 1).unwrap();
        let of = |i: usize| {
            let mean = |cluster: u32| {
                let members = (0..700).filter(|&j| j != i && labels[j] == cluster);
                let all: Vec<f64> = members.map(|j| distance(&values, i, j)).collect();
                all.iter().sum::<f64>() / all.len() as f64
            };
            let a = mean(labels[i]);
            let b = (0..4).filter(|cluster| *cluster != labels[i]).map(mean).fold(f64::INFINITY, f64::min);
            (b - a) / a.max(b)
        };
        let expected = (0..700).map(of).sum::<f64>() / 700.0;
        assert!((found.silhouette - expected).abs() < 1e-12 && found.silhouette_error.is_none());
        assert_eq!(of_rows(&values, 3, &labels, usize::MAX, 4).unwrap(), found);
        let pairs = (0..700).flat_map(|i| (i + 1..700).map(move |j| (i, j)));
        let matrix = Values::F64(pairs.map(|(i, j)| distance(&values, i, j)).collect());
        let matrix = Dissimilarities::new(700, Form::Condensed, matrix, 1.0).unwrap();
        let items: Vec<usize> = (0..700).collect();
        let of_matrix = of_pairs(&matrix, &items, &labels, usize::MAX, 2).unwrap();
        assert!((of_matrix.silhouette - expected).abs() < 1e-12 && of_matrix.centroids.is_none());
        // A sample differs by few standard errors.
        let some = of_rows(&values, 3, &labels, 100, 2).unwrap();
        let error = some.silhouette_error.unwrap();
        assert!(some.drawn == 100 && error > 0.0 && (some.silhouette - expected).abs() < 4.0 * error);
    }

    #[test]
    fn indices_of_centroids_are_those_of_the_definition() {
        // Two clusters on a line: 0, 2 and 10, 12, 14. The centroids are 1 and 12.
        let found = of_rows(&[0.0, 2.0, 10.0, 12.0, 14.0], 1, &[0, 0, 1, 1, 1], 10, 1).unwrap().centroids.unwrap();
        assert_eq!(found.within, 10.0);
        // The spreads are 1 and 4/3.
        assert!((found.davies_bouldin - (1.0 + 4.0 / 3.0) / 11.0).abs() < 1e-15);
        // The mean is 7.6: between is 2 · 6.6² + 3 · 4.4².
        let between = 2.0 * 6.6 * 6.6 + 3.0 * 4.4 * 4.4;
        assert!((found.calinski_harabasz - between / (10.0 / 3.0)).abs() < 1e-12);
        let expected = [(1.0, 12.0), (1.0, 10.0), (2.0, 9.0), (0.0, 11.0), (2.0, 13.0)];
        let mean = expected.iter().map(|(own, nearest)| (nearest - own) / nearest).sum::<f64>() / 5.0;
        assert!((found.silhouette - mean).abs() < 1e-15);
    }

    #[test]
    fn what_has_no_index_is_told_and_extremes_are_no_nan() {
        for (labels, found) in
            [(&[0, 0, 0][..], "1 for 3 items"), (&[0, 1, 2], "3 for 3 items"), (&[], "0 for 0 items")]
        {
            let values = vec![1.0; labels.len()];
            let refused = of_rows(&values, 1, labels, 10, 1).unwrap_err().to_string();
            assert!(refused.ends_with(found), "{refused}");
        }
        let equal = of_rows(&[1.0, 1.0, 1.0], 1, &[0, 0, 1], 10, 1).unwrap();
        let centroids = equal.centroids.unwrap();
        assert_eq!((equal.silhouette, centroids.silhouette), (0.0, 0.0));
        assert!(centroids.davies_bouldin.is_infinite() && centroids.calinski_harabasz.is_infinite());
        // Neither item of the second cluster has a known pair in it.
        let pairs = Values::F64(vec![1.0, f64::NAN, 5.0, f64::NAN, 5.0, f64::NAN]);
        let gaps = Dissimilarities::new(4, Form::Condensed, pairs, 1.0).unwrap();
        assert_eq!(of_pairs(&gaps, &[0, 1, 2, 3], &[0, 0, 1, 1], 10, 1).unwrap().of_clusters, [0.8, 0.0]);
        // Some items of a matrix, in another order.
        assert_eq!(of_pairs(&gaps, &[3, 1, 0], &[0, 1, 1], 10, 1).unwrap().of_clusters, [0.0, 0.8]);
    }
}
