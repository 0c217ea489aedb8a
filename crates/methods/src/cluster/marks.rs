//! The marks of clusters with very many columns: rows of bits or sparse rows.
//!
//! Marks are the columns in which a cluster differs most from all rows. This module also counts the nonzero values in
//! the rows of a cluster.
//!
//! A reader cannot take in a centre of a thousand numbers at a glance. The few largest differences from the mean of all
//! rows are readable.

use lehr_mining::vector::OUTLIER;

use super::Fitted;
use crate::numbers::significant;
use crate::rows::Rows;

/// A column that marks a cluster.
#[derive(Debug, PartialEq)]
pub struct Mark {
    /// The index of the column.
    pub column: usize,
    /// The mean in the cluster, in the scale of the clustering; for a bit, its frequency from 0 to 1.
    pub inside: f64,
    /// The mean over the rows of all clusters, without outliers.
    pub overall: f64,
}

/// Returns, for each cluster, the columns whose means differ most from the overall means. Returns at most `most`
/// columns, largest difference first. Leaves out columns without a difference.
pub fn of_clusters(model: &Fitted, most: usize) -> Vec<Vec<Mark>> {
    let centers = || model.each_center();
    let total: f64 = model.clusters.iter().map(|cluster| cluster.weight).sum();
    let mut overall = vec![0.0; model.dimension];
    for (center, cluster) in centers().zip(&model.clusters) {
        overall.iter_mut().zip(center).for_each(|(sum, y)| *sum += cluster.weight / total * y);
    }
    let largest = overall.iter().fold(0.0f64, |most, y| most.max(y.abs()));
    centers()
        .map(|center| {
            let difference = |mark: &Mark| (mark.inside - mark.overall).abs();
            let marks = center.iter().zip(&overall).enumerate();
            let mut marks: Vec<Mark> = marks
                .map(|(column, (&inside, &overall))| Mark { column, inside, overall })
                .filter(|mark| difference(mark) > 1e-9 * largest)
                .collect();
            marks.sort_by(|a, b| difference(b).total_cmp(&difference(a)).then(a.column.cmp(&b.column)));
            marks.truncate(most);
            marks
        })
        .collect()
}

/// Describes a mark in the column's own unit: `bit 713 in 98 % (of all 12 %)`, or `x713 2.1 (of all 0.31)` for sparse
/// rows.
pub fn words(space: &Rows, mark: &Mark) -> String {
    if space.are_bits() {
        return format!("bit {} in {:.0} % (of all {:.0} %)", mark.column, 100.0 * mark.inside, 100.0 * mark.overall);
    }
    let own = |value: f64| significant(value * space.divisor(mark.column), 3);
    format!("{} {} (of all {})", space.columns()[mark.column], own(mark.inside), own(mark.overall))
}

/// The average number of set bits, or of nonzero values, in the rows of each cluster.
pub struct Filled {
    /// The name of the values that are counted.
    pub name: &'static str,
    /// The average for each cluster.
    pub of_clusters: Vec<f64>,
}

/// Returns the average number of set bits, or of nonzero values, in the rows of each cluster. Returns `None` if the
/// rows have few columns.
pub fn filled(space: &Rows, model: &Fitted) -> Option<Filled> {
    if space.are_bits() {
        // The sum of the bits' frequencies is the average number of set bits.
        let of_clusters = model.each_center().map(|center| center.iter().sum()).collect();
        return Some(Filled { name: "bits set", of_clusters });
    }
    let rows = space.sparse()?;
    let mut sums = vec![(0.0, 0.0); model.clusters.len()];
    for (row, &label) in model.labels.iter().enumerate().filter(|(_, label)| **label != OUTLIER) {
        let (count, weight) = &mut sums[label as usize];
        *count += rows.weight(row) * rows.row(row).0.len() as f64;
        *weight += rows.weight(row);
    }
    let of_clusters = sums.iter().map(|(count, weight)| if *weight > 0.0 { count / weight } else { 0.0 }).collect();
    Some(Filled { name: "values a row", of_clusters })
}

#[cfg(test)]
mod tests {
    use lehr_data::scale::Scale;
    use lehr_data::{Fingerprints, Sparse};
    use lehr_mining::Execution;
    use lehr_mining::anneal::Silent;
    use lehr_mining::vector::{Parameters, cluster};

    use super::*;

    fn clustered(space: &Rows) -> Fitted {
        let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
        let model = cluster(space.vectors(), &parameters, &Execution::default(), &mut Silent).unwrap();
        Fitted::annealed(model, parameters)
    }

    #[test]
    fn the_bits_that_differ_most_mark_a_cluster() {
        // Three rows have bits 0 to 19, and one row has bits 20 to 39. All rows have bit 40.
        let (low, high) = ((1 << 20) - 1, ((1 << 20) - 1) << 20);
        let rows = Fingerprints::new([low, low, low, high].map(|row: u64| row | 1 << 40).to_vec(), 41).unwrap();
        let space = Rows::of_bits(rows);
        let model = clustered(&space);
        let marks = of_clusters(&model, 100);
        assert_eq!([marks[0].len(), marks[1].len()], [40, 40], "bit 40 marks nothing");
        let first = &of_clusters(&model, 1)[1][0];
        assert_eq!(words(&space, first), "bit 0 in 0 % (of all 75 %)");
        assert_eq!(filled(&space, &model).unwrap().of_clusters, [21.0, 21.0]);
    }

    #[test]
    fn the_columns_that_differ_most_mark_a_cluster_of_sparse_rows_in_their_own_unit() {
        let row = |topic: u32| vec![(5 * topic, 8.0), (5 * topic + 1, 2.0), (4, 3.0)];
        let rows = Sparse::from_rows([row(0), row(0), row(0), row(1)], 7).unwrap();
        for scale in [Scale::None, Scale::Std] {
            let space = Rows::of_sparse(rows.clone(), scale);
            let model = clustered(&space);
            let marks = of_clusters(&model, 100);
            assert_eq!([marks[0].len(), marks[1].len()], [4, 4], "column 4 marks nothing");
            let mark = marks[1].iter().find(|mark| mark.column == 5).unwrap();
            assert_eq!(words(&space, mark), "x5 8 (of all 2)", "{scale}");
            assert_eq!(filled(&space, &model).unwrap().of_clusters, [3.0, 3.0]);
        }
    }
}
