//! What marks the clusters of rows of bits: bits that are much more, or much less, frequent in one than in all together.
//!
//! A centre of a thousand frequencies says nothing at a glance; the few that differ most from those of all rows do.

use crate::clustering::Clustering;

/// A bit that marks a cluster.
#[derive(Debug, PartialEq)]
pub struct Mark {
    /// Which bit, from 0.
    pub bit: usize,
    /// How frequent it is in the cluster, 0 to 1.
    pub inside: f64,
    /// How frequent it is in the rows of all clusters; outliers are in none.
    pub overall: f64,
}

/// The bits of each cluster whose frequencies differ most from those in all clusters, the greatest difference first, `most` at most; none that does not differ.
pub fn of_clusters(model: &Clustering, most: usize) -> Vec<Vec<Mark>> {
    let centers = || model.centers.chunks_exact(model.dimension);
    let total: f64 = model.clusters.iter().map(|cluster| cluster.weight).sum();
    let mut overall = vec![0.0; model.dimension];
    for (center, cluster) in centers().zip(&model.clusters) {
        overall.iter_mut().zip(center).for_each(|(sum, y)| *sum += cluster.weight / total * y);
    }
    centers()
        .map(|center| {
            let difference = |mark: &Mark| (mark.inside - mark.overall).abs();
            let marks = center.iter().zip(&overall).enumerate();
            let mut marks: Vec<Mark> = marks
                .map(|(bit, (&inside, &overall))| Mark { bit, inside, overall })
                .filter(|mark| difference(mark) > 1e-9)
                .collect();
            marks.sort_by(|a, b| difference(b).total_cmp(&difference(a)).then(a.bit.cmp(&b.bit)));
            marks.truncate(most);
            marks
        })
        .collect()
}

/// A mark in words: `bit 713 in 98 % (of all 12 %)`.
pub fn words(mark: &Mark) -> String {
    format!("bit {} in {:.0} % (of all {:.0} %)", mark.bit, 100.0 * mark.inside, 100.0 * mark.overall)
}

#[cfg(test)]
mod tests {
    use lehr_data::Fingerprints;
    use lehr_mining::Execution;
    use lehr_mining::anneal::Silent;
    use lehr_mining::vector::{Parameters, cluster};

    use super::*;

    #[test]
    fn the_bits_that_differ_most_mark_a_cluster() {
        // Three rows with bits 0 to 19, one with bits 20 to 39; bit 40 in all.
        let (low, high) = ((1 << 20) - 1, ((1 << 20) - 1) << 20);
        let rows = Fingerprints::new([low, low, low, high].map(|row: u64| row | 1 << 40).to_vec(), 41).unwrap();
        let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
        let model = Clustering::from(cluster(&rows, &parameters, &Execution::default(), &mut Silent).unwrap());
        let marks = of_clusters(&model, 100);
        assert_eq!([marks[0].len(), marks[1].len()], [40, 40], "bit 40 marks nothing");
        let first = &of_clusters(&model, 1)[1][0];
        assert_eq!(words(first), "bit 0 in 0 % (of all 75 %)");
    }
}
