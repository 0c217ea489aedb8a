//! Sparse rows have the same clusters as dense rows: in annealing and k-means, with weights, on any layout, and after a
//! stop.

use lehr_data::{Points, Sparse, datasets, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::vector::{
    Centroids, Checkpoint, Cost, Input, Mode, Model, OUTLIER, Parameters, Precision, Start, cluster, equilibrium,
    resume,
};
use lehr_mining::{Engine, Error, Execution, kmeans};

use super::acceptance::{partition, unpacked};
use super::bits::executions;

/// Texts of a few topics, with weights, some of which are 0. Two rows are empty, two rows are equal, and no row has the
/// last column.
fn texts() -> Sparse {
    let (drawn, _) = synthetic::topics(6, 120, 400, 30, 5);
    let row = |row: usize| drawn.row(row).0.iter().copied().zip(drawn.row(row).1.iter().copied());
    let mut rows: Vec<Vec<(u32, f64)>> = (0..drawn.len()).map(|index| row(index).collect()).collect();
    rows[17].clear();
    rows[403].clear();
    rows[5] = rows[11].clone();
    let weights = (0..rows.len()).map(|row| (row % 4) as f64).collect();
    Sparse::from_rows(rows, 401).unwrap().with_weights(weights).unwrap()
}

/// Returns the same rows as dense rows, including the zeros.
fn full(rows: &Sparse) -> Points {
    let points = unpacked(rows);
    rows.weights().map_or_else(|| points.clone(), |weights| points.clone().with_weights(weights.to_vec()).unwrap())
}

fn parameters(precision: Precision) -> Parameters {
    Parameters { clusters: Some(6), precision, ..Parameters::default() }
}

/// Removes the values that may differ between runs: times and the distribution of leaves.
fn comparable(mut model: Model) -> Model {
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

#[track_caller]
fn close(found: &[f64], expected: &[f64], relative: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let scale = expected.iter().fold(0.0f64, |scale, x| scale.max(x.abs()));
    for (index, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert!((found - expected).abs() <= relative * scale, "{what}, number {index}: {found} for {expected}");
    }
}

#[test]
fn sparse_rows_have_the_clusters_of_the_same_rows_with_their_zeros() {
    let rows = texts();
    let dense = full(&rows);
    for (precision, tolerance) in [(Precision::F64, 1e-8), (Precision::F32, 1e-4)] {
        let run = parameters(precision);
        let sparse = cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap();
        let dense = cluster(&dense, &run, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(partition(&sparse.labels), partition(&dense.labels), "{precision:?}");
        close(&[sparse.sum_of_squares], &[dense.sum_of_squares], 1e-10, "sum of squares");
        let squares = |model: &Model| model.clusters.iter().map(|cluster| cluster.spread).collect::<Vec<_>>();
        close(&squares(&sparse), &squares(&dense), 1e-10, "spreads");
        close(&sparse.centers, &dense.centers, 1e-12, "centres");
        // The first critical temperature is found by iteration, and all later steps depend on it.
        close(&[sparse.critical_temperature], &[dense.critical_temperature], tolerance, "temperature");
        for (sparse, dense) in sparse.history.iter().zip(&dense.history).take(3) {
            close(&[sparse.free_energy], &[dense.free_energy], tolerance, "free energy");
            close(&[sparse.mean_cost], &[dense.mean_cost], tolerance, "mean cost");
        }
    }
}

#[test]
fn a_column_that_no_row_of_a_cluster_has_is_0_in_its_centre_and_not_what_rounding_leaves() {
    let rows = texts();
    let model = cluster(&rows, &parameters(Precision::F64), &Execution::default(), &mut Silent).unwrap();
    for (k, center) in model.centers.chunks_exact(model.dimension).enumerate() {
        let mut is_there = vec![false; model.dimension];
        for row in (0..rows.len()).filter(|row| model.labels[*row] == k as u32 && rows.weight(*row) > 0.0) {
            rows.row(row).0.iter().for_each(|column| is_there[*column as usize] = true);
        }
        assert!(center.iter().zip(&is_there).all(|(y, is_there)| *is_there || *y == 0.0));
        assert_eq!(center[400], 0.0);
    }
}

#[test]
fn tables_of_some_tens_of_columns_have_their_clusters_whether_or_not_they_are_sparse() {
    // In the first set, no value is 0 and the columns' means are far from 0. In the second set, half of the values are
    // 0.
    for (points, clusters) in [(datasets::breast_cancer().0, 4), (datasets::digits().0, 10)] {
        let rows = Sparse::from_points(&points).unwrap();
        let run = Parameters { clusters: Some(clusters), patience: 1, ..Parameters::default() };
        let sparse = cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap();
        let dense = cluster(&points, &run, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(sparse.labels, dense.labels, "{} columns", points.dimension());
        close(&[sparse.sum_of_squares], &[dense.sum_of_squares], 1e-10, "sum of squares");
        let of_rows = |a: &Model, b: &Model| -> f64 {
            a.probabilities.iter().zip(&b.probabilities).fold(0.0, |most, (a, b)| most.max((a - b).abs()))
        };
        assert!(of_rows(&sparse, &dense) < 1e-6, "{}", of_rows(&sparse, &dense));
    }
}

#[test]
fn few_columns_are_points_in_few_dimensions() {
    let points = datasets::iris().0;
    let run = Parameters { clusters: Some(3), ..Parameters::default() };
    let sparse = cluster(&Sparse::from_points(&points).unwrap(), &run, &Execution::default(), &mut Silent).unwrap();
    let dense = cluster(&points, &run, &Execution::default(), &mut Silent).unwrap();
    assert_eq!(comparable(sparse), comparable(dense));
}

#[test]
fn sparse_rows_have_the_same_bits_on_every_layout() {
    let rows = texts();
    for precision in [Precision::F64, Precision::F32] {
        let on = |execution| comparable(cluster(&rows, &parameters(precision), &execution, &mut Silent).unwrap());
        let reference = on(Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None });
        for execution in executions() {
            assert_eq!(on(execution), reference, "{execution:?}");
        }
    }
}

#[test]
fn many_rows_of_few_values_are_in_fewer_leaves_with_the_same_bits_on_every_layout() {
    // In few columns, 4,800 rows are divided into 150 leaves. Here, each of so many leaves would have as many sums as
    // values.
    let rows = synthetic::topics(4, 1200, 800, 12, 3).0;
    let run = kmeans::Parameters { clusters: 4, starts: 8, ..kmeans::Parameters::default() };
    let on = |execution: &Execution| kmeans::cluster(&rows, &run, execution, &mut Silent).unwrap();
    let reference = on(&Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None });
    let dense = kmeans::cluster(&full(&rows), &run, &Execution::default(), &mut Silent).unwrap();
    close(
        &[reference.sum_of_squares],
        &[dense.sum_of_squares],
        1e-2,
        "ties of counts end otherwise, the best of some starts much the same",
    );
    for execution in executions() {
        let model = on(&execution);
        assert_eq!((&model.centers, &model.labels), (&reference.centers, &reference.labels), "{execution:?}");
    }
}

#[test]
fn k_means_finds_of_sparse_rows_what_it_finds_of_all_their_columns() {
    let rows = texts();
    let run = kmeans::Parameters { clusters: 6, starts: 3, ..kmeans::Parameters::default() };
    let sparse = kmeans::cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap();
    let dense = kmeans::cluster(&full(&rows), &run, &Execution::default(), &mut Silent).unwrap();
    assert_eq!(sparse.labels, dense.labels);
    close(&sparse.starts, &dense.starts, 1e-10, "starts");
    close(&sparse.centers, &dense.centers, 1e-12, "centres");
}

#[test]
fn equal_rows_are_drawn_once_and_the_rest_is_told() {
    // There are three distinct rows, one of which is empty.
    let rows: Vec<Vec<(u32, f64)>> =
        (0..30).map(|row| [vec![], vec![(3, 0.1), (19, 0.7)], vec![(19, 1e6), (2, -0.3)]][row % 3].clone()).collect();
    let rows = Sparse::from_rows(rows, 20).unwrap();
    let run = kmeans::Parameters { clusters: 5, starts: 2, ..kmeans::Parameters::default() };
    let model = kmeans::cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap();
    // The mean of ten values of 0.1 equals 0.1 only up to its last digit.
    assert!(model.clusters.len() == 3 && model.sum_of_squares < 1e-30, "{}", model.sum_of_squares);
    assert!(model.warnings[0].contains("you requested 5 clusters, but only 3 have rows"), "{:?}", model.warnings);
    let run = Parameters { clusters: Some(5), ..Parameters::default() };
    let model = cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap();
    assert!(model.clusters.len() == 3 && model.sum_of_squares < 1e-30, "{}", model.sum_of_squares);
    assert!(model.warnings[0].contains("only 3 distinct positions"), "{:?}", model.warnings);
}

#[test]
fn one_row_and_rows_that_are_all_empty_are_one_cluster() {
    for rows in [vec![vec![(70_000, 2.0)]], vec![vec![]; 40]] {
        let rows = Sparse::from_rows(rows, 70_001).unwrap();
        let model = cluster(&rows, &Parameters::default(), &Execution::default(), &mut Silent).unwrap();
        assert_eq!((model.clusters.len(), model.sum_of_squares), (1, 0.0));
        let expected = if rows.nonzeros() > 0 { 2.0 } else { 0.0 };
        assert!(model.centers.iter().enumerate().all(|(j, y)| *y == if j == 70_000 { expected } else { 0.0 }));
    }
}

#[test]
fn huge_numbers_of_columns_are_columns_until_their_centres_have_no_place() {
    let last = Sparse::COLUMNS_MAX as u32 - 1;
    let rows = Sparse::from_rows([vec![(0, 1.0)], vec![(last, 1.0)]], Sparse::COLUMNS_MAX).unwrap();
    let many = Sparse::from_rows((0..40).map(|row| [(row, 1.0)]), Sparse::COLUMNS_MAX).unwrap();
    let run = Parameters { clusters: Some(30), ..Parameters::default() };
    let refused = cluster(&many, &run, &Execution::default(), &mut Silent).unwrap_err().to_string();
    assert!(refused.contains("coordinates of centres, which are not sparse"), "{refused}");
    let run = Parameters { max_clusters: Some(17), ..Parameters::default() };
    let refused = run.check(&many).unwrap_err().to_string();
    assert!(refused.contains("max_clusters") && refused.contains("found 17 of 16777216 columns"), "{refused}");
    assert!(Parameters { max_clusters: Some(16), ..run }.check(&many).is_ok());
    let run = kmeans::Parameters { clusters: 17, ..kmeans::Parameters::default() };
    let refused = kmeans::cluster(&many, &run, &Execution::default(), &mut Silent).unwrap_err().to_string();
    assert!(refused.contains("found 17 of 16777216 columns"), "{refused}");
    assert!(kmeans::Parameters { clusters: 2, ..run }.check(&rows).is_ok());
}

#[test]
fn rows_of_weight_zero_influence_nothing_bit_for_bit() {
    let rows = texts();
    let run = parameters(Precision::F64);
    let model = cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap();
    let mut others: Vec<Vec<(u32, f64)>> = (0..rows.len())
        .map(|row| rows.row(row).0.iter().copied().zip(rows.row(row).1.iter().copied()).collect())
        .collect();
    // Rows of weight 0 may be anything, and have any number of values.
    others[0] = (0..400).map(|j| (j, 1e150)).collect();
    others[4] = vec![];
    let others = Sparse::from_rows(others, 401).unwrap().with_weights(rows.weights().unwrap().to_vec()).unwrap();
    let other = cluster(&others, &run, &Execution::default(), &mut Silent).unwrap();
    assert_eq!((&other.centers, &other.labels[5..]), (&model.centers, &model.labels[5..]));
    assert_eq!(other.history, model.history);
}

#[test]
fn the_fixed_point_at_a_temperature_is_that_of_all_columns() {
    let rows = texts();
    let centers: Vec<f64> = [1, 2, 3]
        .iter()
        .flat_map(|row| {
            let mut center = vec![0.0; 401];
            rows.read(*row, &mut center);
            center
        })
        .collect();
    let start = Start {
        centers: &centers,
        mode: Mode::Mass,
        cost: Cost::Squared,
        temperature: 8.0,
        tolerance: 1e-20,
        most_sweeps: 60,
    };
    let of = |input: Input<'_>| equilibrium(input, &start, &Execution::default()).unwrap();
    let (sparse, dense) = (of((&rows).into()), of((&full(&rows)).into()));
    close(&sparse.free_energies, &dense.free_energies, 1e-12, "free energies");
    close(&sparse.centers, &dense.centers, 1e-9, "centres");
    close(&sparse.masses, &dense.masses, 1e-9, "masses");
    close(&sparse.critical_temperatures, &dense.critical_temperatures, 1e-3, "critical temperatures");
}

/// Adds outliers. A text is about 7 from its topic, and a row that repeats a single word a hundred times belongs to no
/// topic.
fn with_outliers() -> Sparse {
    let rows = texts();
    let mut others: Vec<Vec<(u32, f64)>> = (0..rows.len())
        .map(|row| rows.row(row).0.iter().copied().zip(rows.row(row).1.iter().copied()).collect())
        .collect();
    others.extend((0..8).map(|row| vec![(41 * row, 100.0)]));
    let weights = (0..others.len()).map(|row| (row % 4) as f64).collect();
    Sparse::from_rows(others, 401).unwrap().with_weights(weights).unwrap()
}

#[test]
fn a_sponge_takes_of_sparse_rows_what_it_takes_of_all_their_columns() {
    let rows = with_outliers();
    for precision in [Precision::F64, Precision::F32] {
        let run = Parameters { sponge: Some(20.0), ..parameters(precision) };
        let sparse = cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap();
        let dense = cluster(&full(&rows), &run, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(partition(&sparse.labels), partition(&dense.labels), "{precision:?}");
        assert!(sparse.labels.iter().enumerate().all(|(row, label)| (*label == OUTLIER) == (row >= 720)));
        assert_eq!(sparse.outliers, dense.outliers);
        close(&[sparse.sum_of_squares], &[dense.sum_of_squares], 1e-10, "sum of squares");
        let tolerance = if precision == Precision::F64 { 1e-8 } else { 1e-4 };
        for (sparse, dense) in sparse.history.iter().zip(&dense.history).take(2) {
            close(&[sparse.sponge, sparse.mean_cost], &[dense.sponge, dense.mean_cost], tolerance, "a step");
        }
        // Results are bit-identical on other layouts.
        for execution in executions().into_iter().step_by(4) {
            let other = cluster(&rows, &run, &execution, &mut Silent).unwrap();
            assert_eq!(comparable(other), comparable(sparse.clone()), "{execution:?}");
        }
        let found = sparse.centroids().assign(&rows).unwrap();
        assert_eq!(found.labels, sparse.labels);
    }
}

struct StopAfter {
    calls: usize,
    last: Option<Checkpoint>,
}

impl Observer for StopAfter {
    fn progress(&mut self, _: &Progress) -> Control {
        self.calls = self.calls.saturating_sub(1);
        if self.calls == 0 { Control::Stop } else { Control::Continue }
    }
    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref().cloned();
    }
}

#[test]
fn a_stopped_run_goes_on_to_the_same_bits_and_other_rows_are_refused() {
    let rows = texts();
    let run = parameters(Precision::F64);
    let whole = comparable(cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap());
    for calls in [1, 12, 30] {
        let mut observer = StopAfter { calls, last: None };
        let stopped = cluster(&rows, &run, &Execution::default(), &mut observer);
        assert!(matches!(stopped, Err(Error::Stopped)), "at call {calls}");
        let checkpoint = observer.last.unwrap();
        for other in [Input::from(&full(&rows)), Input::from(&rows.clone().with_dimension(402).unwrap())] {
            let other = resume(other, checkpoint.clone(), &Execution::default(), &mut Silent);
            assert!(matches!(other, Err(Error::OtherData { .. })));
        }
        let elsewhere = Execution { engine: Engine::Ranks, ranks: 3, threads: 2, job: None };
        let resumed = resume(&rows, checkpoint, &elsewhere, &mut Silent).unwrap();
        assert_eq!(comparable(resumed), whole, "stopped at call {calls}");
    }
}

#[test]
fn a_model_says_of_sparse_rows_what_it_says_of_all_their_columns() {
    let rows = texts();
    let model = cluster(&rows, &parameters(Precision::F64), &Execution::default(), &mut Silent).unwrap();
    let centroids = model.centroids();
    let (sparse, dense) = (centroids.assign(&rows).unwrap(), centroids.assign(&full(&rows)).unwrap());
    assert_eq!((&sparse.labels, &sparse.labels), (&model.labels, &dense.labels));
    close(&sparse.probabilities, &model.probabilities, 1e-9, "probabilities of the run");
    close(&sparse.probabilities, &dense.probabilities, 1e-9, "probabilities");
    close(&sparse.distances, &dense.distances, 1e-12, "distances");
    let (sparse, dense) = (centroids.memberships(&rows).unwrap(), centroids.memberships(&full(&rows)).unwrap());
    close(&sparse, &dense, 1e-9, "memberships");
    let with_sponge = centroids.with_sponge(7.5).unwrap();
    let (sparse, dense) = (with_sponge.assign(&rows).unwrap(), with_sponge.assign(&full(&rows)).unwrap());
    assert!(sparse.labels.contains(&OUTLIER) && sparse.labels == dense.labels);
    let (sparse, dense) = (with_sponge.memberships(&rows).unwrap(), with_sponge.memberships(&full(&rows)).unwrap());
    close(&sparse, &dense, 1e-9, "memberships with a sponge");
    let fewer = Sparse::from_rows([vec![(0, 1.0)]], 30).unwrap();
    let refused = with_sponge.assign(&fewer).unwrap_err().to_string();
    assert!(refused.contains("30 columns, where the centres have 401"), "{refused}");
}

#[test]
fn rows_beyond_all_squares_have_their_nearest_centre_too() {
    let mut centers = vec![0.0; 3 * 20];
    (centers[20], centers[59]) = (1e200, -3.0);
    for temperature in [0.0, 2.0] {
        let centroids = Centroids::new(20, centers.clone(), temperature).unwrap();
        let rows = [vec![(0, 0.7e200)], vec![(19, -1.0)], vec![], vec![(19, -2.0), (3, 1e-200)]];
        let rows = Sparse::from_rows(rows, 20).unwrap();
        let (sparse, dense) = (centroids.assign(&rows).unwrap(), centroids.assign(&full(&rows)).unwrap());
        assert_eq!(sparse, dense);
        assert_eq!(sparse.labels, [1, 0, 0, 2]);
        assert_eq!(centroids.memberships(&rows).unwrap(), centroids.memberships(&full(&rows)).unwrap());
    }
}
