//! The probabilities that rows belong to their clusters.

use lehr_data::Points;
use lehr_data::synthetic::{Component, gaussian_mixture};
use lehr_mining::anneal::Silent;
use lehr_mining::vector::{Borders, Centroids, Model, Parameters, cluster};
use lehr_mining::{Execution, kmeans};
use lehr_numerics::random::Stream;

fn run(points: &Points, clusters: usize) -> Model {
    let parameters = Parameters { clusters: Some(clusters), ..Parameters::default() };
    cluster(points, &parameters, &Execution::default(), &mut Silent).unwrap()
}

/// Four normal groups at the corners of a square, `apart` deviations from each other, in `dimension` columns.
fn square(rows: usize, apart: f64, dimension: usize, seed: u64) -> (Points, Vec<u32>) {
    let at = |corner: usize| {
        let mut center = vec![0.0; dimension];
        (center[0], center[1]) = (apart * (corner % 2) as f64, apart * (corner / 2) as f64);
        center
    };
    let component = |corner| Component { center: at(corner), deviation: 1.0, weight: 1.0 };
    gaussian_mixture(rows, &(0..4).map(component).collect::<Vec<_>>(), seed)
}

/// For each row, whether it comes from the group from which most rows of its cluster come.
fn is_with_its_group(model: &Model, truth: &[u32]) -> Vec<bool> {
    let mut counts = vec![[0usize; 4]; model.clusters.len()];
    model.labels.iter().zip(truth).for_each(|(label, group)| counts[*label as usize][*group as usize] += 1);
    let most = |label: u32| (0..4).max_by_key(|group| counts[label as usize][*group]).unwrap();
    model.labels.iter().zip(truth).map(|(label, group)| most(*label) == *group as usize).collect()
}

#[test]
fn of_rows_that_are_as_sure_as_they_say_so_many_are_with_their_group() {
    for dimension in [2, 20] {
        // For each range of probabilities: the sum of the probabilities, the number of rows in the right cluster, and
        // the number of rows.
        let bounds = [0.5, 0.7, 0.85, 0.95, 0.99, 1.0];
        let mut bins = vec![(0.0, 0.0, 0.0); bounds.len() - 1];
        for seed in 0..8 {
            for apart in [2.5, 3.0, 4.0] {
                let (points, truth) = square(2000, apart, dimension, seed);
                let model = run(&points, 4);
                let right = is_with_its_group(&model, &truth);
                for (probability, right) in model.probabilities.iter().zip(right) {
                    if let Some(bin) = bounds.windows(2).position(|w| w[0] <= *probability && *probability <= w[1]) {
                        let (sum, hits, all) = &mut bins[bin];
                        *sum += probability;
                        *hits += f64::from(u8::from(right));
                        *all += 1.0;
                    }
                }
            }
        }
        for (bin, (sum, hits, all)) in bins.into_iter().enumerate() {
            let (told, found) = (sum / all, hits / all);
            assert!(all > 500.0, "{all} rows in bin {bin}");
            assert!((told - found).abs() < 0.05, "{dimension} columns: told {told:.3}, found {found:.3}");
        }
    }
}

#[test]
fn a_table_that_repeats_a_pattern_has_the_probabilities_of_any_other_order() {
    // The rows come from ten groups in turn, 40,000 rows from each: every tenth row is of the same group.
    let stream = Stream::new(1, "certainty");
    let rows = (0..400_000u64).map(|row| 4.0 * (row % 10) as f64 + stream.normal(row));
    let points = Points::new(rows.collect(), 1).unwrap();
    let centers = (0..10).map(|group| 4.0 * f64::from(group)).collect();
    let parameters = kmeans::Parameters { clusters: 10, centers: Some(centers), ..kmeans::Parameters::default() };
    let model = kmeans::cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap();
    let mean: Vec<f64> = model.clusters.iter().map(|cluster| cluster.probability).collect();
    // In a group with two neighbours four deviations away, 4.6 % of the rows are beyond the borders.
    assert!(mean.iter().all(|probability| (0.93..0.985).contains(probability)), "{mean:?}");
}

#[test]
fn labels_of_two_close_groups_have_the_probabilities_of_the_mixture() {
    let components = [(0.0, 1.0, 3.0), (4.0, 1.0, 1.0)].map(|(at, deviation, weight)| Component {
        center: vec![at],
        deviation,
        weight,
    });
    let (points, _) = gaussian_mixture(40_000, &components, 1);
    let model = run(&points, 2);
    let mut worst = 0.0f64;
    for (row, (label, probability)) in model.labels.iter().zip(&model.probabilities).enumerate() {
        let x = points.row(row)[0];
        let density = |k: usize| components[k].weight * (-0.5 * (x - components[k].center[0]).powi(2)).exp();
        // Clusters are numbered by decreasing weight, so the heavier cluster comes first.
        let expected = density(*label as usize) / (density(0) + density(1));
        worst = worst.max((expected - probability).abs());
    }
    assert!(worst < 0.06, "{worst}");
}

#[test]
fn a_weight_has_no_unit_and_a_length_has_none() {
    let (points, _) = square(600, 3.0, 2, 5);
    let model = run(&points, 4);
    let weighted = points.clone().with_weights(vec![1.0 / 3.0; points.len()]).unwrap();
    let longer = Points::new(points.values().iter().map(|x| x * 4096.0).collect(), 2).unwrap();
    for other in [run(&weighted, 4), run(&longer, 4)] {
        assert_eq!(other.labels, model.labels);
        for (a, b) in other.probabilities.iter().zip(&model.probabilities) {
            assert!((a - b).abs() < 1e-9, "{a} and {b}");
        }
    }
}

#[test]
fn other_rows_get_what_equal_rows_had_by_annealing_and_by_k_means() {
    let (points, _) = square(900, 3.0, 3, 6);
    let model = run(&points, 4);
    let parameters = kmeans::Parameters { clusters: 4, ..kmeans::Parameters::default() };
    let means = kmeans::cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap();
    for (centroids, told) in [(model.centroids(), &model.probabilities), (means.centroids(), &means.probabilities)] {
        let file = serde_json::to_string(&centroids).unwrap();
        let centroids: Centroids = serde_json::from_str(&file).unwrap();
        centroids.check().unwrap();
        let found = centroids.assign(&points).unwrap();
        assert!(told.iter().any(|probability| *probability < 0.8));
        let shares = centroids.memberships(&points).unwrap();
        for (row, (found, told)) in found.probabilities.iter().zip(told).enumerate() {
            assert!((found - told).abs() < 1e-9, "{found} and {told}");
            let shares = &shares[4 * row..][..4];
            assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
            assert!(shares.contains(found));
        }
    }
}

#[test]
fn groups_far_apart_one_group_and_equal_rows_are_sure() {
    let (points, _) = square(400, 40.0, 2, 7);
    assert!(run(&points, 4).probabilities.iter().all(|probability| *probability > 0.999_999));
    assert!(run(&points, 1).probabilities.iter().all(|probability| *probability == 1.0));
    let equal = Points::new([[1.0; 50], [2.0; 50]].concat(), 1).unwrap();
    let model = run(&equal, 2);
    assert!(model.probabilities.iter().all(|probability| *probability > 0.999), "{:?}", model.probabilities);
    assert!(model.clusters.iter().all(|cluster| cluster.probability > 0.999));
}

#[test]
fn a_sample_of_large_clusters_says_nearly_what_all_rows_say() {
    // The density on both sides of a border does not depend on the number of rows. Only 4,096 rows of each cluster are
    // examined.
    let (few, _) = square(8_000, 3.0, 2, 8);
    let (many, _) = square(80_000, 3.0, 2, 8);
    let mean = |model: &Model| model.probabilities.iter().sum::<f64>() / model.probabilities.len() as f64;
    let (few, many) = (mean(&run(&few, 4)), mean(&run(&many, 4)));
    assert!((few - many).abs() < 0.01, "{few} and {many}");
}

#[test]
fn borders_of_other_clusters_are_refused() {
    let stream = Stream::new(1, "rows");
    let points = Points::new((0..60).map(|row| stream.normal(row)).collect(), 1).unwrap();
    let borders: Borders = run(&points, 3).borders;
    assert!(Centroids::new(1, vec![0.0, 1.0], 1.0).unwrap().with_borders(borders.clone()).is_err());
    assert!(Centroids::new(1, vec![0.0, 1.0, 2.0], 1.0).unwrap().with_borders(borders).is_ok());
}
