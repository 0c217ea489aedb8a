//! Properties that hold for any run, whatever the data.

use lehr_data::{Points, datasets, synthetic};
use lehr_mining::Execution;
use lehr_mining::anneal::{Silent, Split, Step};
use lehr_mining::vector::{Model, Parameters, Precision, cluster};

fn run(points: &Points, parameters: &Parameters) -> Model {
    cluster(points, parameters, &Execution::default(), &mut Silent).unwrap()
}

#[test]
fn one_cluster_is_the_weighted_mean() {
    let points = datasets::census_blocks();
    let model = run(&points, &Parameters { clusters: Some(1), ..Parameters::default() });
    let total = points.total_weight();
    for j in 0..2 {
        let mean = (0..points.len()).map(|row| points.weight(row) / total * points.row(row)[j]).sum::<f64>();
        assert!((model.centers[j] / mean - 1.0).abs() < 1e-12, "{} and {mean}", model.centers[j]);
    }
    assert!((model.clusters[0].weight / total - 1.0).abs() < 1e-14);
}

#[test]
fn labels_are_the_nearest_centres_and_figures_add_up() {
    let (points, _) = synthetic::gaussian_mixture(3000, &synthetic::random_components(7, 3, 10.0, 0.6, 5), 5);
    for precision in [Precision::F64, Precision::F32] {
        let model = run(&points, &Parameters { clusters: Some(7), precision, ..Parameters::default() });
        let mut sum = 0.0;
        for row in 0..points.len() {
            let distance = |k: usize| -> f64 {
                points.row(row).iter().zip(&model.centers[3 * k..]).map(|(x, y)| (x - y) * (x - y)).sum()
            };
            let own = distance(model.labels[row] as usize);
            let nearest = (0..7).map(distance).fold(f64::INFINITY, f64::min);
            // The centres are the means of the labelled rows. But the labels were assigned with the centres before the
            // last move, which a sweep in single precision computed.
            let slack = if precision == Precision::F64 { 1e-12 } else { 1e-6 };
            assert!(own <= nearest * (1.0 + slack), "row {row}: {own} and {nearest}");
            assert!(model.probabilities[row] > 1.0 / 7.0 - 1e-6 && model.probabilities[row] <= 1.0);
            sum += own;
        }
        assert!((sum / model.sum_of_squares - 1.0).abs() < 1e-12);
        assert!((model.objective * 3000.0 / model.sum_of_squares - 1.0).abs() < 1e-12);
        assert_eq!(model.clusters.iter().map(|cluster| cluster.rows).sum::<u64>(), 3000);
        assert!(model.clusters.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
        let spread: f64 = model.clusters.iter().map(|cluster| cluster.weight * cluster.spread * cluster.spread).sum();
        assert!((spread / model.sum_of_squares - 1.0).abs() < 1e-12);
    }
}

#[test]
fn the_history_cools_grows_and_obeys_the_identity_of_the_free_energy() {
    let model = run(&datasets::iris().0, &Parameters { stop_temperature: Some(0.05), ..Parameters::default() });
    assert!(model.history.len() > 20);
    for pair in model.history.windows(2) {
        assert!(pair[1].temperature < pair[0].temperature);
        // While masses are learnt, the free energy falls with the temperature.
        assert!(pair[1].free_energy <= pair[0].free_energy);
    }
    for step in &model.history {
        assert!(step.information >= -1e-9, "mutual information {}", step.information);
        assert!(step.information <= (step.clusters as f64).ln() + 1e-9);
    }
    assert_eq!(model.splits.last().unwrap().clusters, model.history.last().unwrap().clusters);
    assert_eq!(model.last_temperature, 0.05);
}

#[test]
fn divisions_and_merges_explain_every_number_of_clusters() {
    let (rows, _) = synthetic::gaussian_mixture(500, &synthetic::random_components(12, 2, 10.0, 1.0, 4), 4);
    let (iris, _) = datasets::iris();
    let mut merges = 0;
    for (points, last) in [(&rows, 0.2), (&iris, 0.05)] {
        let model = run(points, &Parameters { stop_temperature: Some(last), ..Parameters::default() });
        merges += check_tree(&model.history, &model.splits);
    }
    assert!(merges > 0);
}

/// Checks that each division is of a component that exists, and that divisions and merges give the number of clusters
/// of each step. Returns the number of merges.
pub(crate) fn check_tree(history: &[Step], splits: &[Split]) -> usize {
    for (number, split) in splits.iter().enumerate() {
        let lives = |component: usize| {
            component == 0 || splits[component - 1].merged_at.is_none_or(|end| end <= split.temperature)
        };
        assert!(split.parent <= number && lives(split.parent), "{split:?}");
        if let Some(end) = split.merged_at {
            assert!(end <= split.temperature && split.merged_into != Some(number + 1), "{split:?}");
        }
    }
    for step in history {
        let born = splits.iter().filter(|split| split.temperature >= step.temperature).count();
        let ended = splits.iter().filter(|split| split.merged_at.is_some_and(|end| end >= step.temperature)).count();
        assert_eq!(step.clusters, 1 + born - ended, "{step:?}");
    }
    splits.iter().filter(|split| split.merged_at.is_some()).count()
}

#[test]
fn many_dimensions_divide_along_the_same_axis_as_few() {
    // All structure is in two of 20 coordinates. The climb must find the same eigenvalues as the eigensolver finds in
    // the plane.
    let (plane, _) = synthetic::gaussian_mixture(600, &synthetic::random_components(3, 2, 10.0, 0.5, 2), 2);
    let wide =
        Points::new((0..plane.len()).flat_map(|row| [plane.row(row), &[0.0; 18]].concat()).collect(), 20).unwrap();
    let (few, many) = (
        run(&plane, &Parameters { clusters: Some(3), ..Parameters::default() }),
        run(&wide, &Parameters { clusters: Some(3), ..Parameters::default() }),
    );
    assert_eq!(few.labels, many.labels);
    assert!((few.critical_temperature / many.critical_temperature - 1.0).abs() < 1e-10);
    assert!((few.sum_of_squares / many.sum_of_squares - 1.0).abs() < 1e-10);
    for (a, b) in few.splits.iter().zip(&many.splits) {
        assert!((a.temperature / b.temperature - 1.0).abs() < 1e-3);
        assert!((a.critical_temperature / b.critical_temperature - 1.0).abs() < 1e-3);
    }
}

#[test]
fn a_final_length_is_a_final_temperature() {
    let points = datasets::iris().0;
    let length = run(&points, &Parameters { stop_length: Some(0.5), ..Parameters::default() });
    let temperature = run(&points, &Parameters { stop_temperature: Some(0.5), ..Parameters::default() });
    assert_eq!(length.labels, temperature.labels);
    assert_eq!(length.history, temperature.history);
}

#[test]
fn many_dimensions_divide_across_the_first_axis_too() {
    // The rectangle of E3 first divides along x. Then each half is unstable along y, which is exactly orthogonal to the
    // direction of the first division.
    for dimension in [2, 16, 17, 20, 70] {
        let corners = [[3.0, 1.0], [3.0, -1.0], [-3.0, 1.0], [-3.0, -1.0]];
        let values = corners.iter().flat_map(|xy| [&xy[..], &vec![0.0; dimension - 2]].concat()).collect();
        let points = Points::new(values, dimension).unwrap();
        let model = run(&points, &Parameters { stop_temperature: Some(1.5), ..Parameters::default() });
        assert_eq!(model.clusters.len(), 4, "{dimension} dimensions: {:?}", model.splits);
        let second = &model.splits[1];
        assert!((second.critical_temperature - 2.0).abs() < 0.01, "{dimension} dimensions: {second:?}");
        assert!(second.temperature > 1.8, "{dimension} dimensions: {second:?}");
    }
}
