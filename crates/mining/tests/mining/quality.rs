//! One run with default parameters ends within 0.1 % of the best known sum of squares, whatever the seed.
//!
//! The best known figures of the census blocks (degrees as stored, weights = population) come from long random-swap
//! searches (`lab/definitions/mining/best_known.json`). `make quality` prints the whole table, including the data sets
//! that the repository cannot contain.

use lehr_data::{datasets, synthetic};
use lehr_mining::Execution;
use lehr_mining::anneal::Silent;
use lehr_mining::vector::{Parameters, Precision, cluster};

fn census(clusters: usize, best_known: f64) {
    let points = datasets::census_blocks();
    for seed in 0..10 {
        let parameters = Parameters { clusters: Some(clusters), seed, ..Parameters::default() };
        let model = cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap();
        let excess = model.sum_of_squares / best_known - 1.0;
        assert!(excess <= 1e-3, "K = {clusters}, seed {seed}: {:.4} % above the best known", 100.0 * excess);
    }
}

#[test]
fn census_blocks_with_10_clusters() {
    census(10, 1693274.8492567418);
}

#[test]
fn census_blocks_with_20_clusters() {
    census(20, 696194.8179637737);
}

#[test]
fn census_blocks_with_80_clusters() {
    census(80, 108375.6782554568);
}

#[test]
fn generated_mixtures_are_at_least_as_good_as_their_truth() {
    for (dimension, clusters, seed) in [(2, 30, 1), (3, 20, 2), (8, 12, 3), (24, 10, 4)] {
        let components = synthetic::random_components(clusters, dimension, 10.0, 0.5, seed);
        let (points, truth) = synthetic::gaussian_mixture(6000, &components, seed);
        let best: f64 = (0..points.len())
            .map(|row| {
                let center = &components[truth[row] as usize].center;
                points.row(row).iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum::<f64>()
            })
            .sum();
        for precision in [Precision::F64, Precision::F32] {
            let parameters = Parameters { clusters: Some(clusters), precision, ..Parameters::default() };
            let model = cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap();
            assert!(model.sum_of_squares <= best, "{dimension}-D: {} and {best}", model.sum_of_squares);
        }
    }
}
