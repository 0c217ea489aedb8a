//! Extreme inputs of a clustering.

use lehr_data::{Points, datasets};
use lehr_mining::anneal::Silent;
use lehr_mining::vector::{Model, Parameters, Precision, cluster};
use lehr_mining::{Error, Execution};

fn run(points: &Points, parameters: &Parameters) -> Result<Model, Error> {
    cluster(points, parameters, &Execution::default(), &mut Silent)
}

fn clusters(clusters: usize) -> Parameters {
    Parameters { clusters: Some(clusters), ..Parameters::default() }
}

#[test]
fn one_point_is_one_cluster() {
    for parameters in
        [clusters(1), Parameters::default(), Parameters { stop_temperature: Some(1.0), ..Parameters::default() }]
    {
        let model = run(&Points::new(vec![3.0, -4.0], 2).unwrap(), &parameters).unwrap();
        assert_eq!((model.centers.as_slice(), model.labels.as_slice()), ([3.0, -4.0].as_slice(), [0].as_slice()));
        assert_eq!((model.objective, model.probabilities[0]), (0.0, 1.0));
        assert!(model.warnings.is_empty());
    }
}

#[test]
fn equal_points_are_one_cluster_with_a_warning() {
    let points = Points::new(vec![7.5; 40], 2).unwrap();
    for parameters in [clusters(1), clusters(3), Parameters::default()] {
        let model = run(&points, &parameters).unwrap();
        assert_eq!((model.clusters.len(), model.centers.as_slice()), (1, [7.5, 7.5].as_slice()));
        assert_eq!(model.warnings.len(), 1, "{:?}", model.warnings);
    }
}

#[test]
fn more_clusters_than_distinct_points_gives_the_distinct_points_with_a_warning() {
    let points = Points::new([0.0, 1.0, 5.0].repeat(20), 1).unwrap();
    let model = run(&points, &clusters(6)).unwrap();
    assert_eq!((model.clusters.len(), model.sum_of_squares), (3, 0.0));
    let mut centers = model.centers.clone();
    centers.sort_by(f64::total_cmp);
    assert_eq!(centers, [0.0, 1.0, 5.0]);
    assert!(model.warnings[0].contains("only 3 distinct"), "{:?}", model.warnings);
}

#[test]
fn as_many_clusters_as_points_puts_a_centre_on_each() {
    let points = Points::new(vec![0.0, 0.0, 1.0, 0.1, 4.0, 4.0, 9.0, 1.0, 9.0, 1.5], 2).unwrap();
    let model = run(&points, &clusters(5)).unwrap();
    assert_eq!((model.clusters.len(), model.sum_of_squares), (5, 0.0));
}

#[test]
fn parameters_out_of_range_are_named() {
    let points = datasets::iris().0;
    assert!(matches!(run(&points, &clusters(151)), Err(Error::TooManyClusters { clusters: 151, points: 150 })));
    let wrong = [
        (clusters(0), "clusters"),
        (Parameters { stop_temperature: Some(-1.0), ..Parameters::default() }, "stop_temperature"),
        (Parameters { stop_temperature: Some(f64::NAN), ..Parameters::default() }, "stop_temperature"),
        (Parameters { stop_length: Some(0.0), ..Parameters::default() }, "stop_length"),
        (Parameters { cooling: 1.0, ..Parameters::default() }, "cooling"),
        (Parameters { tolerance: 1.0, ..Parameters::default() }, "tolerance"),
        (Parameters { overshoot: 0.5, ..Parameters::default() }, "overshoot"),
        (Parameters { max_clusters: Some(0), ..Parameters::default() }, "max_clusters"),
    ];
    for (parameters, expected) in wrong {
        match run(&points, &parameters) {
            Err(Error::Parameter { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
}

#[test]
fn huge_and_tiny_units_and_weights_change_nothing_but_the_unit() {
    let points = datasets::iris().0;
    let model = run(&points, &clusters(3)).unwrap();
    // The units are powers of two, so scaling changes no bit of the rows' relative positions.
    for power in [-300, 300] {
        let unit = 2f64.powi(power);
        let scaled = Points::new(points.values().iter().map(|value| value * unit).collect(), 4)
            .unwrap()
            .with_weights(vec![unit; 150])
            .unwrap();
        for precision in [Precision::F64, Precision::F32] {
            let other = run(&scaled, &Parameters { precision, ..clusters(3) }).unwrap();
            assert_eq!(other.labels, model.labels, "unit 2^{power}, {precision:?}");
            assert!((other.clusters[0].spread / unit / model.clusters[0].spread - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn points_whose_squares_overflow_are_refused() {
    for far in [1e150, 1e300, f64::MAX] {
        let points = Points::new(vec![-far, far, 0.0, 1.0], 1).unwrap();
        assert!(matches!(run(&points, &clusters(2)), Err(Error::TooFar { .. })), "{far:e}");
    }
    // A large offset alone does not make distances large.
    let points = Points::new(vec![1e300; 3], 1).unwrap();
    assert_eq!(run(&points, &clusters(1)).unwrap().objective, 0.0);
}

#[test]
fn an_idle_row_however_far_gets_a_label_and_a_probability() {
    let points =
        Points::new(vec![0.0, 1.0, 10.0, 11.0, 1e300], 1).unwrap().with_weights(vec![1.0, 1.0, 1.0, 1.0, 0.0]).unwrap();
    for precision in [Precision::F64, Precision::F32] {
        let model = run(&points, &Parameters { precision, ..clusters(2) }).unwrap();
        assert_eq!(model.sum_of_squares, 1.0);
        assert!(
            model.probabilities.iter().all(|probability| (0.5..=1.0).contains(probability)),
            "{:?}",
            model.probabilities
        );
    }
}

#[test]
fn a_final_temperature_is_not_limited_in_clusters_unless_told() {
    let points = Points::new((0..200).map(|i| f64::from(i) * 10.0).collect(), 1).unwrap();
    let stop = Parameters { stop_length: Some(1.0), ..Parameters::default() };
    assert_eq!(run(&points, &stop).unwrap().clusters.len(), 200);
    let limited = run(&points, &Parameters { max_clusters: Some(50), ..stop }).unwrap();
    assert_eq!(limited.clusters.len(), 50);
    assert!(limited.warnings[0].contains("50"), "{:?}", limited.warnings);
}

#[test]
fn a_point_heavier_than_all_others_together_does_not_divide_for_ever() {
    let mut values: Vec<f64> = (0..100).map(|i| f64::from(i) / 10.0).collect();
    values.push(1000.0);
    let mut weights = vec![1.0; 100];
    weights.push(1e12);
    let points = Points::new(values, 1).unwrap().with_weights(weights).unwrap();
    let model = run(&points, &clusters(4)).unwrap();
    assert_eq!(model.clusters.len(), 4);
    assert_eq!(model.labels.iter().filter(|&&label| label == model.labels[100]).count(), 1);
}

#[test]
fn equal_points_are_equal_though_their_sum_rounds() {
    for value in [0.1, 0.7, -1e6 - 0.1, 3e-9] {
        for rows in 2..120 {
            let weights = (0..rows).map(|row| 0.1 + 0.3 * (row % 3) as f64).collect();
            for points in [Points::new(vec![value; rows], 1).unwrap(), {
                Points::new(vec![value; rows], 1).unwrap().with_weights(weights).unwrap()
            }] {
                let model = run(&points, &Parameters::default()).unwrap();
                assert_eq!(model.critical_temperature, 0.0, "{rows} rows of {value}");
                assert_eq!((model.centers.as_slice(), model.sum_of_squares), ([value].as_slice(), 0.0));
                assert!(model.warnings[0].contains("the same point"), "{:?}", model.warnings);
            }
        }
    }
}

#[test]
fn a_weight_beside_which_another_is_nothing_ends_and_both_points_are_clusters() {
    for light in [1e-14, 1e-30, 1e-300, 1e-313, 5e-324] {
        for precision in [Precision::F64, Precision::F32] {
            // Single precision cannot represent weights below 1e-45 of the mean.
            if precision == Precision::F32 && light < 1e-40 {
                continue;
            }
            let points = Points::new(vec![0.0, 1.0], 1).unwrap().with_weights(vec![1.0, light]).unwrap();
            for seed in 0..4 {
                let model = run(&points, &Parameters { precision, seed, ..clusters(2) }).unwrap();
                assert_eq!((model.clusters.len(), model.labels[0], model.labels[1]), (2, 0, 1), "weight {light:e}");
            }
        }
    }
}

#[test]
fn a_patience_beyond_all_numbers_is_no_more_than_all_pairs() {
    let points = Points::new(vec![0.0, 0.1, 3.0, 3.2, 9.0, 9.4], 1).unwrap();
    let model = run(&points, &Parameters { patience: usize::MAX, ..clusters(3) }).unwrap();
    assert_eq!(model.clusters.len(), 3);
}

#[test]
fn every_cluster_asked_for_has_rows_even_without_swaps() {
    let stream = lehr_numerics::random::Stream::new(9, "scattered");
    for set in 0..100 {
        for (dimension, count) in [(1, 6), (2, 9), (17, 5)] {
            let values = (0..12 * dimension as u64).map(|i| stream.uniform(1000 * set + i)).collect();
            let points = Points::new(values, dimension).unwrap();
            let model = run(&points, &Parameters { patience: 0, overshoot: 1.0, ..clusters(count) }).unwrap();
            assert_eq!(model.clusters.len(), count, "set {set}, {dimension}-D: {:?}", model.warnings);
            assert!(model.warnings.is_empty(), "{:?}", model.warnings);
        }
    }
}

#[test]
fn a_final_length_whose_square_no_number_holds_is_refused() {
    let points = datasets::iris().0;
    for length in [1e-170, 1e160] {
        let parameters = Parameters { stop_length: Some(length), ..Parameters::default() };
        assert!(matches!(run(&points, &parameters), Err(Error::Parameter { name: "stop_length", .. })), "{length:e}");
    }
}

#[test]
fn distances_whose_squares_vanish_are_clustered_with_a_warning() {
    let points = Points::new([0.0, 1.0, 10.0, 11.0].map(|x| x * 1e-180).to_vec(), 1).unwrap();
    let model = run(&points, &clusters(2)).unwrap();
    let labels = &model.labels;
    assert!(labels[0] == labels[1] && labels[2] == labels[3] && labels[0] != labels[2], "{labels:?}");
    assert!((model.clusters[0].spread / 0.5e-180 - 1.0).abs() < 1e-12);
    assert!(model.warnings[0].contains("too small"), "{:?}", model.warnings);
}

#[test]
fn an_equilibrium_beyond_the_range_of_numbers_is_refused() {
    use lehr_mining::vector::{Cost, Mode, Start, equilibrium};
    let points = Points::new(vec![0.0, 1e-100], 1).unwrap();
    let start = |centers, temperature| Start {
        centers,
        mode: Mode::Mass,
        cost: Cost::Squared,
        temperature,
        tolerance: 1e-9,
        most_sweeps: 10,
    };
    let refused = |start: &Start<'_>, expected: &str| match equilibrium(&points, start, &Execution::default()) {
        Err(Error::Parameter { name, .. }) => assert_eq!(name, expected),
        other => panic!("{expected}: {other:?}"),
    };
    refused(&start(&[0.0, 1e-100], 1e200), "temperature");
    refused(&start(&[0.0, 1e300], 1e-200), "centers");
    assert!(equilibrium(&points, &start(&[0.0, 1e-100], 1e-200), &Execution::default()).is_ok());
}
