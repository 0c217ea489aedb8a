//! Mini-batches of a stream: means that can be checked by hand, a comparison with a plain loop, and bit-identical
//! results on any layout and after any stop.

use lehr_data::{Points, datasets, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::minibatch::{Checkpoint, Model, Parameters, cluster, resume};
use lehr_mining::vector::{self, Precision};
use lehr_mining::{Engine, Error, Execution};

use super::bits::executions;

/// Returns a stream of a table's rows, batch by batch, with their weights.
fn stream(points: &Points) -> impl FnMut(usize) -> Result<Option<Points>, lehr_data::Error> {
    let mut first = 0;
    move |rows| {
        let range = first..points.len().min(first + rows);
        first = range.end;
        if range.is_empty() {
            return Ok(None);
        }
        let values = points.values()[range.start * points.dimension()..range.end * points.dimension()].to_vec();
        let batch = Points::new(values, points.dimension())?;
        Ok(Some(match points.weights() {
            Some(weights) => batch.with_weights(weights[range].to_vec())?,
            None => batch,
        }))
    }
}

fn run(points: &Points, parameters: &Parameters) -> Model {
    cluster(&mut stream(points), parameters, &Execution::default(), &mut Silent).unwrap()
}

fn of(clusters: usize, batch_rows: usize) -> Parameters {
    Parameters { clusters, batch_rows, ..Parameters::default() }
}

fn blobs(rows: usize) -> Points {
    synthetic::gaussian_mixture(rows, &synthetic::random_components(9, 2, 10.0, 0.9, 1), 1).0
}

/// Computes the result of the method row by row, from the centres that annealing finds in the sample.
fn by_a_plain_loop(points: &Points, parameters: &Parameters) -> (Vec<Vec<f64>>, Vec<f64>, f64) {
    let mut next = stream(points);
    let sample = next(parameters.sample()).unwrap().unwrap();
    let annealing = vector::Parameters { clusters: Some(parameters.clusters), ..vector::Parameters::default() };
    let found = vector::cluster(&sample, &annealing, &Execution::default(), &mut Silent).unwrap();
    let mut centers: Vec<Vec<f64>> = found.centers.chunks_exact(found.dimension).map(<[f64]>::to_vec).collect();
    let mut counts: Vec<f64> = found.clusters.iter().map(|cluster| cluster.weight).collect();
    let (mut cost, mut total) = (found.sum_of_squares, sample.total_weight());
    while let Some(batch) = next(parameters.batch_rows).unwrap() {
        let distance = |row: usize, center: &[f64]| -> f64 {
            batch.row(row).iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum()
        };
        let nearest: Vec<usize> = (0..batch.len())
            .map(|row| {
                let nearer = |a: &usize, b: &usize| distance(row, &centers[*a]).total_cmp(&distance(row, &centers[*b]));
                (0..centers.len()).min_by(nearer).unwrap()
            })
            .collect();
        cost += (0..batch.len()).map(|row| batch.weight(row) * distance(row, &centers[nearest[row]])).sum::<f64>();
        total += batch.total_weight();
        if let Some(half_life) = parameters.half_life {
            let rows = (0..batch.len()).filter(|&row| batch.weight(row) > 0.0).count();
            counts.iter_mut().for_each(|count| *count *= 0.5f64.powf(rows as f64 / half_life));
        }
        for (row, &k) in nearest.iter().enumerate().filter(|(row, _)| batch.weight(*row) > 0.0) {
            counts[k] += batch.weight(row);
            let rate = batch.weight(row) / counts[k];
            for (y, x) in centers[k].iter_mut().zip(batch.row(row)) {
                *y = (1.0 - rate) * *y + rate * x;
            }
        }
    }
    (centers, counts, cost / total)
}

#[test]
fn centres_are_where_a_plain_loop_over_the_rows_has_them() {
    let plane = blobs(4000);
    let weights = (0..plane.len()).map(|row| (row % 4) as f64).collect();
    let weighted = plane.clone().with_weights(weights).unwrap();
    let digits = datasets::digits().0;
    for (points, clusters, half_life) in
        [(&plane, 9, None), (&weighted, 9, None), (&weighted, 7, Some(300.0)), (&digits, 5, None)]
    {
        let parameters = Parameters { half_life, sample_rows: Some(700), ..of(clusters, 150) };
        let model = run(points, &parameters);
        let (centers, counts, objective) = by_a_plain_loop(points, &parameters);
        let mut order: Vec<usize> = (0..centers.len()).collect();
        // Without forgetting, counts equal weights, which determine the order. Otherwise, centres are matched by their
        // positions.
        let place = |k: usize| {
            let far = |center: &[f64]| center.iter().zip(&centers[k]).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
            let found = model.centers.chunks_exact(model.dimension).position(|center| far(center) < 1e-9);
            found.unwrap_or_else(|| panic!("no centre at {:?}", centers[k]))
        };
        order.iter_mut().for_each(|k| *k = place(*k));
        for (k, &at) in order.iter().enumerate() {
            let counted = model.clusters[at].counts;
            assert!((counted - counts[k]).abs() < 1e-9 * counts[k], "{counted} and {}", counts[k]);
        }
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..clusters));
        assert!((model.objective - objective).abs() < 1e-9 * objective, "{} and {objective}", model.objective);
        let heavy = (0..points.len()).filter(|&row| points.weight(row) > 0.0).count() as u64;
        assert_eq!((model.rows, model.clusters.iter().map(|cluster| cluster.rows).sum::<u64>()), (heavy, heavy));
        assert!((model.weight - points.total_weight()).abs() < 1e-6);
        assert_eq!(model.batches, 1 + (points.len() as u64 - 700).div_ceil(150));
    }
}

#[test]
fn one_centre_is_the_mean_of_all_rows() {
    let plane = blobs(5000);
    let weights = (0..plane.len()).map(|row| 0.5 + (row % 7) as f64).collect();
    for points in [plane.clone(), plane.with_weights(weights).unwrap()] {
        let total = points.total_weight();
        let mean = |j: usize| points.column(j).enumerate().map(|(row, x)| points.weight(row) * x).sum::<f64>() / total;
        for batch_rows in [1, 13, 1000, 4999, 9000] {
            let model = run(&points, &of(1, batch_rows));
            for j in 0..2 {
                let error = (model.centers[j] - mean(j)).abs();
                assert!(error < 1e-12 * (1.0 + mean(j).abs()), "batches of {batch_rows}: {error:e}");
            }
        }
    }
}

#[test]
fn the_bits_are_the_same_on_every_layout_and_whatever_weighs_nothing() {
    let plane = blobs(6000);
    let weights: Vec<f64> = (0..plane.len()).map(|row| (row % 5) as f64).collect();
    let plane = plane.with_weights(weights).unwrap();
    let digits = datasets::digits().0;
    for (points, clusters, precision) in
        [(&plane, 9, Precision::F64), (&plane, 9, Precision::F32), (&digits, 6, Precision::F64)]
    {
        let parameters = Parameters { precision, half_life: Some(5000.0), ..of(clusters, 800) };
        let one = Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None };
        let reference = cluster(&mut stream(points), &parameters, &one, &mut Silent).unwrap();
        let seven = Execution { engine: Engine::Loop, ranks: 1, threads: 7, job: None };
        for execution in executions().into_iter().chain([seven]) {
            let model = cluster(&mut stream(points), &parameters, &execution, &mut Silent).unwrap();
            let bits = |model: &Model| model.centers.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&model), bits(&reference), "{execution:?}");
            assert_eq!(model, reference, "{execution:?}");
        }
    }
    // Rows of weight 0 may be anywhere, however far away.
    let mut values = plane.values().to_vec();
    for (row, pair) in values.chunks_exact_mut(2).enumerate().filter(|(row, _)| plane.weight(*row) == 0.0) {
        pair.copy_from_slice(&[1e3 * row as f64, -7e5]);
    }
    let other = plane.with_values(values, plane.columns().to_vec()).unwrap();
    let (a, b) = (run(&plane, &of(9, 800)), run(&other, &of(9, 800)));
    assert_eq!(Model { fingerprint: 0, ..a }, Model { fingerprint: 0, ..b });
}

/// Stops the run after a number of calls, and keeps the last checkpoint.
struct StopAfter {
    calls: usize,
    seen: Vec<String>,
    last: Option<Checkpoint>,
}

impl StopAfter {
    fn new(calls: usize) -> Self {
        Self { calls, seen: Vec::new(), last: None }
    }
}

impl Observer for StopAfter {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.seen.push(progress.stage.to_string());
        if self.seen.len() > self.calls { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref().cloned();
    }
}

#[test]
fn a_run_stopped_anywhere_goes_on_to_the_same_bits() {
    let points = blobs(3000);
    let parameters = Parameters { half_life: Some(1500.0), sample_rows: Some(600), ..of(9, 250) };
    let whole = run(&points, &parameters);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let layout = Execution { engine: Engine::Ranks, ranks: 3, threads: 2, job: None };
    let (mut sampling, mut streaming) = (0, 0);
    for calls in 0.. {
        let mut observer = StopAfter::new(calls);
        let stopped = cluster(&mut stream(&points), &parameters, &layout, &mut observer);
        if let Ok(model) = stopped {
            assert_eq!(model, whole);
            break;
        }
        assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
        assert_eq!(observer.seen.len(), calls + 1, "no step goes by after a stop was asked for");
        if calls == 0 {
            assert!(observer.last.is_none(), "as soon as the sample has been read there is nothing to go on from");
            continue;
        }
        // Most calls come while the sample is annealed, and only some of these are tried. All calls in the stream are
        // tried.
        let is_streaming = observer.seen.last().unwrap() == "streaming";
        if !is_streaming && calls % 20 > 0 {
            continue;
        }
        if is_streaming {
            streaming += 1
        } else {
            sampling += 1
        }
        observer.last.unwrap().write(&path).unwrap();
        let checkpoint = Checkpoint::read(&path).unwrap();
        assert_eq!((checkpoint.batches() > 0, Checkpoint::is_at(&path)), (is_streaming, true));
        let model = resume(&mut stream(&points), checkpoint, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(model, whole, "stopped after {calls} calls");
    }
    assert!(sampling > 3 && streaming == 11, "{sampling} and {streaming}");
}

#[test]
fn a_run_stopped_while_it_reads_again_what_had_passed_is_where_it_was() {
    let points = blobs(3000);
    let parameters = of(9, 250);
    let mut observer = StopAfter::new(usize::MAX);
    let whole = cluster(&mut stream(&points), &parameters, &Execution::default(), &mut observer).unwrap();
    let last = observer.last.unwrap();
    let mut again = StopAfter::new(4);
    let stopped = resume(&mut stream(&points), last.clone(), &Execution::default(), &mut again);
    assert!(matches!(stopped, Err(Error::Stopped)) && again.seen.len() == 5);
    assert_eq!(again.last.as_ref(), Some(&last));
    assert_eq!(resume(&mut stream(&points), again.last.unwrap(), &Execution::default(), &mut Silent).unwrap(), whole);
}

#[test]
fn another_stream_is_refused() {
    let points = blobs(2000);
    let mut observer = StopAfter::new(usize::MAX);
    cluster(&mut stream(&points), &of(4, 300), &Execution::default(), &mut observer).unwrap();
    let last = observer.last.unwrap();
    let go_on = |points: &Points| resume(&mut stream(points), last.clone(), &Execution::default(), &mut Silent);
    let mut values = points.values().to_vec();
    values[3999] += 1e-9;
    let short = Points::new(values[..1200].to_vec(), 2).unwrap();
    for other in [Points::new(values.clone(), 2).unwrap(), short, Points::new(values, 4).unwrap()] {
        assert!(matches!(go_on(&other), Err(Error::OtherData { .. })));
    }
    assert!(go_on(&points).is_ok());
}

#[test]
fn clusters_that_lie_apart_are_found_from_a_small_part_of_the_rows() {
    let (points, _) = synthetic::gaussian_mixture(40_000, &synthetic::random_components(8, 3, 40.0, 1.0, 5), 5);
    let parameters = vector::Parameters { clusters: Some(8), ..vector::Parameters::default() };
    let all = vector::cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap();
    let model = run(&points, &of(8, 1000));
    // The limits were set with seed 5, for which the objective is 1.0001 times that of clustering all rows. Its centres
    // differ by less than a twentieth of a spread.
    assert!(model.objective < 1.01 * all.objective, "{} and {}", model.objective, all.objective);
    for (k, center) in all.centers.chunks_exact(3).enumerate() {
        let far = |other: &[f64]| center.iter().zip(other).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        let nearest = model.centers.chunks_exact(3).map(far).fold(f64::INFINITY, f64::min);
        assert!(nearest < 0.05 * all.clusters[k].spread, "{nearest} of {}", all.clusters[k].spread);
    }
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
}

#[test]
fn a_stream_that_drifts_is_followed_if_it_may_forget() {
    // Two groups move by 1 in a thousand rows.
    let values =
        (0..40_000).map(|row| f64::from(row) / 1e3 + f64::from(row % 2) * 100.0 + f64::from(row * 7919 % 13) / 13.0);
    let points = Points::new(values.collect(), 1).unwrap();
    let end = |half_life| {
        let mut centers = run(&points, &Parameters { half_life, ..of(2, 500) }).centers;
        centers.sort_by(f64::total_cmp);
        centers
    };
    let (remembers, forgets) = (end(None), end(Some(1000.0)));
    // The mean of all rows lags behind by half of the way. With a half-life of 1000 rows, the mean age of a row is 1000
    // / ln 2 rows.
    for (k, offset) in [0.0, 100.0].into_iter().enumerate() {
        assert!((remembers[k] - (offset + 20.46)).abs() < 0.1, "{remembers:?}");
        let behind = offset + 40.46 - forgets[k];
        assert!((behind - 1.0 / std::f64::consts::LN_2).abs() < 0.3, "{forgets:?}");
    }
}

#[test]
fn a_batch_far_from_all_centres_overflows_nothing() {
    let near: Vec<f64> = (0..200).map(|row| f64::from(row % 2) * 1e-150 + f64::from(row % 5) * 1e-152).collect();
    for (far, precision) in [(1e130, Precision::F64), (1e130, Precision::F32), (1e-3, Precision::F32)] {
        let values = near.iter().copied().chain((0..100).map(|row| far + far * f64::from(row % 3) / 1e6)).collect();
        let points = Points::new(values, 1).unwrap();
        let model = run(&points, &Parameters { precision, ..of(2, 100) });
        assert!(model.centers.iter().all(|x| x.is_finite()) && model.objective.is_finite(), "{model:?}");
        assert_eq!((model.rows, model.clusters.iter().map(|cluster| cluster.rows).sum::<u64>()), (300, 300));
        assert!(model.last_objective > 0.1 * far * far, "{model:?}");
    }
    let points = Points::new([near, vec![1e200]].concat(), 1).unwrap();
    let error = cluster(&mut stream(&points), &of(2, 100), &Execution::default(), &mut Silent).unwrap_err();
    assert!(matches!(error, Error::TooFar { .. }), "{error}");
}

#[test]
fn what_cannot_be_clustered_is_refused_in_words() {
    let said = |points: Option<&Points>, parameters: &Parameters| {
        let mut none = |_: usize| -> Result<Option<Points>, lehr_data::Error> { Ok(None) };
        let error = match points {
            Some(points) => cluster(&mut stream(points), parameters, &Execution::default(), &mut Silent),
            None => cluster(&mut none, parameters, &Execution::default(), &mut Silent),
        };
        error.unwrap_err().to_string()
    };
    let five = Points::new(vec![1.0, 2.0, 3.0, 4.0, 5.0], 1).unwrap();
    assert_eq!(said(None, &of(2, 10)), "the stream: expected rows of numbers, found no rows");
    assert_eq!(
        said(Some(&five), &of(6, 10)),
        "you requested 6 clusters, but only 5 rows have a weight above 0: request 5 or fewer"
    );
    assert_eq!(
        said(Some(&five), &of(4, 3)),
        "you requested 4 clusters, but only 3 rows have a weight above 0: request 3 or fewer"
    );
    let parameters = [
        (of(0, 10), "clusters: expected at least 1, found 0"),
        (of(1, 0), "batch_rows: expected 1 to 4294967295, found 0"),
        (Parameters { sample_rows: Some(0), ..of(1, 1) }, "sample_rows: expected 1 to 4294967295, found 0"),
        (Parameters { half_life: Some(-1.0), ..of(1, 1) }, "half_life: expected a positive number of rows, found -1"),
        (
            Parameters { half_life: Some(f64::NAN), ..of(1, 1) },
            "half_life: expected a positive number of rows, found NaN",
        ),
    ];
    for (parameters, expected) in parameters {
        assert_eq!(said(Some(&five), &parameters), expected);
    }
    let heavy = five.clone().with_weights(vec![1.0, 1.0, 1e308, 0.5e308, 1e308]).unwrap_err();
    assert!(heavy.to_string().contains("finite sum"), "{heavy}");
    let heavy = five.with_weights(vec![1.0, 1.0, 1e308, 0.5e308, 0.1e308]).unwrap();
    let mut batches = 0;
    let mut next = stream(&heavy);
    let mut twice = |rows: usize| {
        batches += 1;
        if batches == 4 {
            next = stream(&heavy);
        }
        next(rows)
    };
    let error = cluster(&mut twice, &of(1, 2), &Execution::default(), &mut Silent).unwrap_err().to_string();
    let expected = "points: expected weights with a finite sum over all batches, found a sum beyond the largest number";
    assert_eq!(error, expected);
    let mut dimension = 0;
    let mut wider = |rows: usize| {
        dimension += 1;
        Points::new((0..rows * dimension).map(|x| x as f64).collect(), dimension).map(Some)
    };
    let error = cluster(&mut wider, &of(1, 2), &Execution::default(), &mut Silent).unwrap_err().to_string();
    assert_eq!(error, "points: expected 1 columns, as in the first batch, found 2");
}

#[test]
fn too_few_positions_and_centres_left_behind_are_told() {
    let few = Points::new([0.0, 0.0, 5.0, 5.0, 5.0, 0.0, 0.0, 0.0, 5.5, 0.5].to_vec(), 1).unwrap();
    let model = run(&few, &of(3, 5));
    assert_eq!(model.clusters.len(), 2);
    let expected =
        "of the sample: 3 clusters were given, but the points of positive weight have only 2 distinct positions";
    assert_eq!(model.warnings[0], expected);
    let moved: Vec<f64> = [0.0, 9.0, 0.0, 9.0, 0.0, 0.5, 0.5].to_vec();
    let model = run(&Points::new(moved, 1).unwrap(), &of(2, 4));
    assert!(model.warnings[0].starts_with("1 of 2 centres was given no row after the sample"), "{:?}", model.warnings);
}
