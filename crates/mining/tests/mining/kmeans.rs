//! K-means: its fixed points, its starts, and bit-identical results on every layout.

use lehr_data::{Points, datasets, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::kmeans::{Checkpoint, Model, Parameters, Sweeps, cluster, resume};
use lehr_mining::vector::Precision;
use lehr_mining::{Engine, Error, Execution, vector};

use super::bits::executions;

fn run(points: &Points, parameters: &Parameters, execution: &Execution) -> Model {
    without_clock(cluster(points, parameters, execution, &mut Silent).unwrap())
}

/// Removes the values that may differ between runs: times and the distribution of leaves.
fn without_clock(mut model: Model) -> Model {
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

fn of(clusters: usize) -> Parameters {
    Parameters { clusters, ..Parameters::default() }
}

#[test]
fn a_run_has_the_same_bits_on_every_layout_and_with_either_kind_of_sweeps() {
    let (plane, _) = synthetic::gaussian_mixture(5000, &synthetic::random_components(9, 2, 10.0, 0.9, 1), 1);
    let weights = (0..plane.len()).map(|row| (row % 5) as f64).collect();
    let plane = plane.with_weights(weights).unwrap();
    let one = Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None };
    for (points, clusters, precision) in
        [(&plane, 9, Precision::F64), (&plane, 9, Precision::F32), (&datasets::digits().0, 6, Precision::F64)]
    {
        let parameters = Parameters { starts: 2, precision, ..of(clusters) };
        let reference = run(points, &parameters, &one);
        for execution in executions() {
            assert_eq!(run(points, &parameters, &execution), reference, "{execution:?}");
        }
        let plain = Parameters { sweeps: Sweeps::Plain, ..parameters };
        assert_eq!(run(points, &plain, &one), reference);
    }
}

#[test]
fn a_row_is_in_the_cluster_whose_mean_is_nearest_and_the_sums_are_those_of_the_labels() {
    let (points, _) = datasets::wine();
    let model = run(&points, &of(5), &Execution::default());
    let distance = |row: usize, k: usize| {
        let center = &model.centers[k * model.dimension..][..model.dimension];
        points.row(row).iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum::<f64>()
    };
    let mut sum = 0.0;
    for row in 0..points.len() {
        let nearest = (0..5).min_by(|&a, &b| distance(row, a).total_cmp(&distance(row, b))).unwrap();
        assert_eq!(model.labels[row] as usize, nearest, "row {row}");
        sum += distance(row, nearest);
    }
    assert!((sum - model.sum_of_squares).abs() < 1e-9 * sum, "{sum} and {}", model.sum_of_squares);
    for k in 0..5 {
        let rows: Vec<usize> = (0..points.len()).filter(|&row| model.labels[row] as usize == k).collect();
        assert_eq!(rows.len() as u64, model.clusters[k].rows);
        for j in 0..model.dimension {
            let mean = rows.iter().map(|&row| points.row(row)[j]).sum::<f64>() / rows.len() as f64;
            assert!((mean - model.centers[k * model.dimension + j]).abs() < 1e-9 * mean.abs().max(1.0));
        }
    }
    let best = model.starts.iter().copied().fold(f64::INFINITY, f64::min);
    assert!((best - model.sum_of_squares).abs() < 1e-9 * best, "{:?}", model.starts);
    assert_eq!(model.starts.len(), 10);
}

#[test]
fn tiny_sets_come_to_the_optimum_of_all_partitions() {
    for (set, clusters) in [(1u64, 2), (2, 2), (3, 3), (4, 3)] {
        let (points, _) = synthetic::gaussian_mixture(9, &synthetic::random_components(3, 2, 5.0, 0.9, set), set);
        let cost = |labels: &[usize]| -> f64 {
            (0..clusters)
                .map(|k| {
                    let rows: Vec<&[f64]> = (0..9).filter(|&row| labels[row] == k).map(|row| points.row(row)).collect();
                    let mean = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / rows.len() as f64;
                    let mean = [mean(0), mean(1)];
                    rows.iter().map(|row| (row[0] - mean[0]).powi(2) + (row[1] - mean[1]).powi(2)).sum::<f64>()
                })
                .sum()
        };
        let labels = |code: usize| (0..9).map(|row| code / clusters.pow(row) % clusters).collect::<Vec<_>>();
        let partitions = (0..clusters.pow(9)).map(labels);
        let least =
            partitions.map(|labels| cost(&labels)).filter(|cost| cost.is_finite()).fold(f64::INFINITY, f64::min);
        let model = run(&points, &Parameters { starts: 100, ..of(clusters) }, &Execution::default());
        assert!((model.sum_of_squares - least).abs() < 1e-9 * least, "{set}: {} and {least}", model.sum_of_squares);
    }
}

#[test]
fn iris_comes_to_its_published_optimum_and_no_start_is_below_annealing() {
    let (points, _) = datasets::iris();
    assert!((run(&points, &of(3), &Execution::default()).sum_of_squares - 78.851441426146).abs() < 1e-9);
    let (points, _) = datasets::digits();
    let annealed = vector::Parameters { clusters: Some(10), ..vector::Parameters::default() };
    let annealed = vector::cluster(&points, &annealed, &Execution::default(), &mut Silent).unwrap().sum_of_squares;
    let model = run(&points, &of(10), &Execution::default());
    assert!(model.starts.iter().all(|start| *start > annealed * (1.0 - 1e-4)), "{annealed}: {:?}", model.starts);
    assert!(model.sum_of_squares < annealed * 1.02, "{annealed}: {}", model.sum_of_squares);
    // Different starts draw different centres.
    assert!(model.starts.iter().any(|start| *start != model.starts[0]));
}

#[test]
fn rows_of_few_positions_and_of_no_weight_are_no_trouble() {
    let same = Points::new(vec![2.0; 10], 2).unwrap();
    let model = run(&same, &of(3), &Execution::default());
    assert_eq!((model.clusters.len(), model.sum_of_squares, model.centers.as_slice()), (1, 0.0, [2.0, 2.0].as_slice()));
    assert!(model.warnings[0].starts_with("you requested 3 clusters, but only 1"), "{:?}", model.warnings);
    let one = Points::new(vec![5.0], 1).unwrap();
    assert_eq!(run(&one, &of(1), &Execution::default()).labels, [0]);
    let points = Points::new(vec![0.0, 1.0, 100.0, 9.0, 10.0], 1).unwrap();
    let points = points.with_weights(vec![1.0, 1.0, 0.0, 1.0, 1.0]).unwrap();
    let model = run(&points, &of(2), &Execution::default());
    assert_eq!(model.sum_of_squares, 1.0);
    assert_eq!(model.labels[2], model.labels[3], "it is labelled, and moves nothing");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let points = Points::new(vec![1.0, 2.0], 1).unwrap();
    let refused =
        |parameters: Parameters| cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap_err();
    assert!(matches!(refused(of(3)), Error::TooManyClusters { clusters: 3, points: 2 }));
    for (parameters, name) in [
        (of(0), "clusters"),
        (Parameters { starts: 0, ..of(1) }, "starts"),
        (Parameters { max_sweeps: 0, ..of(1) }, "max_sweeps"),
        (Parameters { tolerance: f64::NAN, ..of(1) }, "tolerance"),
        (Parameters { centers: Some(vec![1.0]), ..of(2) }, "centers"),
        (Parameters { centers: Some(vec![f64::NAN]), ..of(1) }, "centers"),
        // The centre is so far away that its squared distances from both points are the same number.
        (Parameters { centers: Some(vec![1e200]), ..of(1) }, "centers"),
        (Parameters { centers: Some(vec![-f64::MAX]), ..of(1) }, "centers"),
    ] {
        assert!(refused(parameters).to_string().starts_with(&format!("{name}: expected")));
    }
}

#[test]
fn a_start_that_is_given_is_the_one_that_there_is() {
    let points = Points::new(vec![0.0, 1.0, 10.0, 11.0], 1).unwrap();
    let from = |centers: &[f64]| Parameters { centers: Some(centers.to_vec()), ..of(2) };
    // The clusters are 0 | 1 10 11, then 0 1 | 10 11, then no row moves.
    let model = run(&points, &from(&[0.0, 1.0]), &Execution::default());
    assert_eq!((model.sum_of_squares, model.iterations, model.starts.len()), (1.0, 3, 1));
    assert_eq!((&model.labels[..], &model.centers[..]), (&[0, 0, 1, 1][..], &[0.5, 10.5][..]));
    assert_eq!(run(&points, &from(&[10.5, 0.5]), &Execution::default()).iterations, 1);
    // From given centres, k-means may end at the worse of two fixed points. A centre without rows moves to the farthest
    // row, unless all rows are equal.
    let points = Points::new(vec![0.0, 4.0, 7.0, 9.0], 1).unwrap();
    let worse = run(&points, &from(&[0.0, 5.0]), &Execution::default());
    assert_eq!(worse.clusters.iter().map(|cluster| cluster.rows).collect::<Vec<_>>(), [1, 3]);
    assert!(run(&points, &of(2), &Execution::default()).sum_of_squares < worse.sum_of_squares);
    let alone = run(&points, &from(&[5.0, 1e9]), &Execution::default());
    assert_eq!((&alone.labels[..], &alone.centers[..]), (&[1, 0, 0, 0][..], &[20.0 / 3.0, 0.0][..]));
    assert!(alone.warnings.is_empty(), "{:?}", alone.warnings);
    let equal = Points::new(vec![5.0; 4], 1).unwrap();
    let alone = run(&equal, &from(&[5.0, 6.0]), &Execution::default());
    assert_eq!((&alone.labels[..], &alone.centers[..]), (&[0; 4][..], &[5.0][..]));
    assert!(alone.warnings[0].contains("you requested 2 clusters, but only 1"), "{:?}", alone.warnings);
}

#[test]
fn a_start_that_is_given_has_the_same_bits_on_every_layout_and_after_a_stop() {
    let (digits, _) = datasets::digits();
    let sparse = lehr_data::Sparse::from_points(&digits).unwrap();
    let centers = (0..6).flat_map(|row| digits.row(37 * row).to_vec()).collect();
    let parameters = Parameters { centers: Some(centers), ..of(6) };
    let one = Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None };
    let reference = run(&digits, &parameters, &one);
    for execution in executions() {
        assert_eq!(run(&digits, &parameters, &execution), reference, "{execution:?}");
    }
    let rows = cluster(&sparse, &parameters, &one, &mut Silent).unwrap();
    assert_eq!((rows.labels, rows.iterations), (reference.labels.clone(), reference.iterations));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    for steps in [1, 2] {
        let mut stopped = After(steps, None);
        assert!(matches!(cluster(&digits, &parameters, &one, &mut stopped), Err(Error::Stopped)));
        stopped.1.unwrap().write(&path).unwrap();
        let checkpoint = Checkpoint::read(&path).unwrap();
        assert_eq!(without_clock(resume(&digits, checkpoint, &one, &mut Silent).unwrap()), reference);
    }
}

/// Stops the run after some steps, and keeps the checkpoint.
struct After(usize, Option<Checkpoint>);

impl Observer for After {
    fn progress(&mut self, _: &Progress) -> Control {
        self.0 -= 1;
        if self.0 == 0 { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.1 = checkpoint.downcast_ref().cloned();
    }
}

#[test]
fn a_run_that_was_stopped_goes_on_to_the_same_bits_and_one_cut_short_says_so() {
    let (points, _) = datasets::digits();
    let execution = Execution::default();
    let parameters = Parameters { starts: 3, ..of(10) };
    let whole = run(&points, &parameters, &execution);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    // The stops are while centres are drawn, within the sweeps of a start, and in a later start.
    for steps in [1, 2, 3, 8] {
        let mut stopped = After(steps, None);
        assert!(matches!(cluster(&points, &parameters, &execution, &mut stopped), Err(Error::Stopped)));
        stopped.1.unwrap().write(&path).unwrap();
        assert!(Checkpoint::is_at(&path) && !vector::Checkpoint::is_at(&path));
        let checkpoint = Checkpoint::read(&path).unwrap();
        let resumed = without_clock(resume(&points, checkpoint, &execution, &mut Silent).unwrap());
        assert_eq!(resumed, whole, "after {steps} steps");
    }

    let (points, _) = datasets::iris();
    let short = run(&points, &Parameters { max_sweeps: 1, starts: 3, ..of(4) }, &execution);
    assert!(short.warnings[0].contains("3 of 3 initialisations had not converged after 1 iterations"), "{short:?}");
}

#[test]
fn a_run_that_is_cut_short_or_tolerant_has_labels_centres_and_a_sum_that_belong_together() {
    // No row is equally near to two centres.
    let (points, _) = synthetic::gaussian_mixture(400, &synthetic::random_components(6, 4, 5.0, 0.9, 1), 1);
    let first: Vec<f64> = points.values()[..5 * 4].to_vec();
    let nearest = |centers: &[f64], row: usize| {
        let square = |center: &[f64]| points.row(row).iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
        let squares: Vec<f64> = centers.chunks_exact(4).map(square).collect();
        let k = (0..squares.len()).min_by(|&a, &b| squares[a].total_cmp(&squares[b])).unwrap();
        (k as u32, squares[k])
    };
    for (max_sweeps, tolerance) in [(1, 0.0), (2, 0.0), (300, 1e-3), (300, 0.5), (300, 0.0)] {
        let parameters = Parameters { centers: Some(first.clone()), starts: 1, max_sweeps, tolerance, ..of(5) };
        let model = run(&points, &parameters, &Execution::default());
        let mut sum = 0.0;
        for row in 0..points.len() {
            let (label, square) = nearest(&model.centers, row);
            assert_eq!(model.labels[row], label, "row {row}, {max_sweeps} sweeps, tolerance {tolerance}");
            sum += square;
        }
        assert!((sum - model.sum_of_squares).abs() < 1e-9 * sum, "{sum} and {}", model.sum_of_squares);
        assert!((model.starts[0] - model.sum_of_squares).abs() < 1e-9 * sum, "{:?}", model.starts);
        assert!(model.iterations <= max_sweeps, "{} sweeps", model.iterations);
    }
    // After one sweep, each centre is the mean of the rows that were nearest to it.
    let parameters = Parameters { centers: Some(first.clone()), starts: 1, max_sweeps: 1, ..of(5) };
    let model = run(&points, &parameters, &Execution::default());
    let mut sums = [[0.0f64; 5]; 5];
    for row in 0..points.len() {
        let sums = &mut sums[nearest(&first, row).0 as usize];
        points.row(row).iter().zip(sums.iter_mut()).for_each(|(x, sum)| *sum += x);
        sums[4] += 1.0;
    }
    for mean in sums.iter().map(|sums| [0, 1, 2, 3].map(|j| sums[j] / sums[4])) {
        let is_mean = |center: &[f64]| center.iter().zip(&mean).all(|(y, mean)| (y - mean).abs() < 1e-12);
        assert!(model.centers.chunks_exact(4).any(is_mean), "{mean:?} of {:?}", model.centers);
    }
}

#[test]
fn without_iterations_the_given_centres_stay_and_label_the_rows() {
    let points = Points::new(vec![0.0, 1.0, 4.0, 9.0, 12.0], 1).unwrap();
    let parameters = Parameters { centers: Some(vec![10.0, 1.5]), max_sweeps: 0, ..of(2) };
    let model = run(&points, &parameters, &Execution::default());
    assert_eq!((model.centers, model.labels), (vec![10.0, 1.5], vec![1, 1, 1, 0, 0]));
    assert_eq!((model.iterations, model.sum_of_squares), (0, 2.25 + 0.25 + 6.25 + 1.0 + 4.0));
}

#[test]
fn a_centre_that_is_left_without_rows_goes_to_the_farthest_row() {
    let points = Points::new(vec![0.0, 0.0, 0.5, 0.0, 0.5, 1.0, 1.0, 1.0], 2).unwrap();
    let parameters = Parameters { centers: Some(vec![0.5, 0.5, 3.0, 3.0]), starts: 1, ..of(2) };
    for execution in executions() {
        let model = run(&points, &parameters, &execution);
        assert_eq!((model.clusters.len(), model.sum_of_squares), (2, 0.25), "{execution:?}");
        // Of several farthest rows, the first is used, in the sweep that finds the empty cluster. So the number of
        // iterations equals that of scikit-learn.
        assert_eq!((&model.labels[..], model.best_iterations), (&[1, 1, 0, 0][..], 3), "{execution:?}");
        assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    }
    // A heavy row may cost more than a farther row, and rows of weight 0 cost nothing.
    let points = Points::new(vec![0.0, 6.0, 10.0, 90.0], 1).unwrap().with_weights(vec![1.0, 9.0, 1.0, 0.0]).unwrap();
    let parameters = Parameters { centers: Some(vec![2.0, 500.0]), starts: 1, max_sweeps: 1, ..of(2) };
    let model = run(&points, &parameters, &Execution::default());
    assert!(
        model.centers.iter().zip([0.0, 6.4]).all(|(found, expected)| (found - expected).abs() < 1e-12),
        "{:?}",
        model.centers
    );
    // There are as many clusters as distinct rows, and all initial centres coincide.
    let points = Points::new((0..12).map(|row| f64::from(row % 6)).collect(), 1).unwrap();
    let parameters = Parameters { centers: Some(vec![100.0; 6]), starts: 1, ..of(6) };
    let model = run(&points, &parameters, &Execution::default());
    assert_eq!((model.clusters.len(), model.sum_of_squares), (6, 0.0));
}

#[test]
fn rows_of_0_and_1_have_the_same_labels_as_numbers_sparse_and_as_bits() {
    for seed in 0..8 {
        let stream = lehr_numerics::random::Stream::new(seed, "rows of 0 and 1");
        let values: Vec<f64> = (0..300 * 100).map(|index| f64::from(u8::from(stream.uniform(index) < 0.2))).collect();
        let points = Points::new(values, 100).unwrap();
        let sparse = lehr_data::Sparse::from_points(&points).unwrap();
        let mut words = vec![0u64; 300 * 2];
        for (index, _) in points.values().iter().enumerate().filter(|(_, value)| **value == 1.0) {
            words[index / 100 * 2 + index % 100 / 64] |= 1 << (index % 100 % 64);
        }
        let bits = lehr_data::Fingerprints::new(words, 100).unwrap();
        let parameters = Parameters { starts: 3, seed, ..of(10) };
        let of = |model: Result<Model, Error>| without_clock(model.unwrap());
        let reference = of(cluster(&points, &parameters, &Execution::default(), &mut Silent));
        assert_eq!(of(cluster(&sparse, &parameters, &Execution::default(), &mut Silent)), reference);
        assert_eq!(of(cluster(&bits, &parameters, &Execution::default(), &mut Silent)), reference);
    }
}

#[test]
fn counts_have_the_same_labels_as_numbers_and_sparse_28() {
    // With one nonzero value in five, rows are stored as numbers; with one in twenty, they are stored sparsely. The
    // form of the input does not matter.
    for (seed, share) in [(0, 0.2), (1, 0.2), (2, 0.05), (3, 0.05)] {
        let stream = lehr_numerics::random::Stream::new(seed, "rows of counts");
        let count = |index: u64| {
            if stream.uniform(2 * index) < share { 1.0 + (3.0 * stream.uniform(2 * index + 1)).floor() } else { 0.0 }
        };
        let points = Points::new((0..300 * 40).map(count).collect(), 40).unwrap();
        let sparse = lehr_data::Sparse::from_points(&points).unwrap();
        let parameters = Parameters { starts: 3, seed, ..of(8) };
        let run = |model: Result<Model, Error>| without_clock(model.unwrap());
        let reference = run(cluster(&points, &parameters, &Execution::default(), &mut Silent));
        assert_eq!(run(cluster(&sparse, &parameters, &Execution::default(), &mut Silent)), reference, "{share}");
    }
}

#[test]
fn a_stray_number_of_a_column_costs_no_more_than_the_columns_that_are_used_28() {
    // With all columns, each copy of the centres would take 256 MiB, and annealing has about sixty copies.
    let last = (1 << 24) - 1;
    let of = |last: u32| {
        let rows = [vec![(0, 1.0), (last, 2.0)], vec![(1, 7.0)], vec![(0, 1.5), (last, 2.5)]];
        lehr_data::Sparse::from_rows(rows, last as usize + 1).unwrap()
    };
    let (wide, narrow) = (of(last), of(2));
    let parameters = Parameters { starts: 1, ..super::kmeans::of(2) };
    let found = cluster(&wide, &parameters, &Execution::default(), &mut Silent).unwrap();
    let expected = cluster(&narrow, &parameters, &Execution::default(), &mut Silent).unwrap();
    assert_eq!((&found.labels, found.sum_of_squares), (&expected.labels, expected.sum_of_squares));
    assert_eq!((found.dimension, found.centers.len()), (1 << 24, 2 << 24));
    for (wide, narrow) in found.centers.chunks(1 << 24).zip(expected.centers.chunks(3)) {
        assert_eq!([wide[0], wide[1], wide[last as usize]], narrow);
        assert!(wide[2..last as usize].iter().all(|value| *value == 0.0));
    }
    let parameters = lehr_mining::vector::Parameters { clusters: Some(2), ..Default::default() };
    let annealed = lehr_mining::vector::cluster(&wide, &parameters, &Execution::default(), &mut Silent).unwrap();
    assert_eq!((annealed.labels, annealed.centers.len()), (found.labels, 2 << 24));
}
