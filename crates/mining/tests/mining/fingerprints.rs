//! Rows of bits have the same clusters as rows of numbers: in annealing and k-means, with weights, on any layout, and
//! after a stop.

use lehr_data::{Fingerprints, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::vector::{Checkpoint, Model, OUTLIER, Parameters, Precision, cluster, resume};
use lehr_mining::{Engine, Error, Execution, kmeans};
use lehr_numerics::random::Stream;

use super::acceptance::{partition, unpacked};
use super::bits::executions;

/// Rows of overlapping templates, so that clusters are not obvious.
fn compounds() -> Fingerprints {
    let rows = synthetic::bit_templates(7, 90, 150, 0.2, 0.2, 3).0;
    let weights = (0..rows.len()).map(|row| (row % 4) as f64).collect();
    rows.with_weights(weights).unwrap()
}

fn parameters(precision: Precision) -> Parameters {
    Parameters { clusters: Some(7), precision, ..Parameters::default() }
}

/// Removes the values that may differ between runs: times and the distribution of leaves.
fn comparable(mut model: Model) -> Model {
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

#[test]
fn bits_have_the_same_bits_on_every_layout() {
    let rows = compounds();
    for precision in [Precision::F64, Precision::F32] {
        let on = |execution| comparable(cluster(&rows, &parameters(precision), &execution, &mut Silent).unwrap());
        let reference = on(Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None });
        for execution in executions() {
            assert_eq!(on(execution), reference, "{execution:?}");
        }
    }
}

#[test]
fn weights_and_rows_of_weight_zero_are_what_they_are_of_numbers() {
    let rows = compounds();
    let weights = rows.weights().unwrap().to_vec();
    let numbers = unpacked(&rows).with_weights(weights).unwrap();
    let run = parameters(Precision::F64);
    let packed = cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap();
    let dense = cluster(&numbers, &run, &Execution::default(), &mut Silent).unwrap();
    assert_eq!(packed.labels, dense.labels);
    assert!((packed.sum_of_squares - dense.sum_of_squares).abs() < 1e-10 * dense.sum_of_squares);
    let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-9;
    assert!(packed.probabilities.iter().zip(&dense.probabilities).all(close));
    // Rows of weight 0 may have any bits.
    let mut words: Vec<u64> = (0..rows.len()).flat_map(|row| rows.row(row)).copied().collect();
    words[0] ^= 0xffff;
    let other = Fingerprints::new(words, rows.bits()).unwrap().with_weights(rows.weights().unwrap().to_vec()).unwrap();
    let other = cluster(&other, &run, &Execution::default(), &mut Silent).unwrap();
    assert_eq!((other.centers, &other.labels[1..]), (packed.centers, &packed.labels[1..]));
}

#[test]
fn few_columns_of_bits_are_points_in_few_dimensions() {
    let rows = synthetic::bit_templates(3, 60, 12, 0.5, 0.05, 5).0;
    let run = Parameters { clusters: Some(3), ..Parameters::default() };
    let packed = cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap();
    let dense = cluster(&unpacked(&rows), &run, &Execution::default(), &mut Silent).unwrap();
    assert_eq!(comparable(packed), comparable(dense));
}

#[test]
fn k_means_finds_of_bits_what_it_finds_of_numbers_on_every_layout() {
    let rows = compounds();
    let numbers = unpacked(&rows).with_weights(rows.weights().unwrap().to_vec()).unwrap();
    let run = kmeans::Parameters { clusters: 7, starts: 3, ..kmeans::Parameters::default() };
    let of_bits = |execution: &Execution| kmeans::cluster(&rows, &run, execution, &mut Silent).unwrap();
    let dense = kmeans::cluster(&numbers, &run, &Execution::default(), &mut Silent).unwrap();
    let reference = of_bits(&Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None });
    assert_eq!(reference.labels, dense.labels);
    for (a, b) in reference.starts.iter().zip(&dense.starts) {
        assert!((a - b).abs() < 1e-10 * b, "{a} for {b}");
    }
    for execution in executions() {
        let model = of_bits(&execution);
        assert_eq!(
            (model.centers, model.starts),
            (reference.centers.clone(), reference.starts.clone()),
            "{execution:?}"
        );
    }
}

/// With whole weights, passes add and subtract the rows that change their centre; with other weights, they add up rows
/// again.
#[test]
fn passes_by_bounds_have_the_bits_of_passes_that_compare_every_row_with_every_centre() {
    let rows = compounds();
    let halved = rows.clone().with_weights((0..rows.len()).map(|row| 0.1 * (row % 4) as f64).collect()).unwrap();
    for rows in [&rows, &halved] {
        for precision in [Precision::F64, Precision::F32] {
            let run = kmeans::Parameters { clusters: 9, starts: 3, precision, ..kmeans::Parameters::default() };
            let plain = kmeans::Parameters { sweeps: kmeans::Sweeps::Plain, ..run.clone() };
            let of = |run, execution: &Execution| {
                let model = kmeans::cluster(rows, run, execution, &mut Silent).unwrap();
                (model.centers, model.labels, model.starts, model.iterations)
            };
            let reference = of(&plain, &Execution::default());
            for execution in executions() {
                assert_eq!(of(&run, &execution), reference, "{execution:?}");
            }
        }
    }
}

/// Rows of templates with less noise, followed by rows that belong to no template: each of their bits is set with
/// probability 1/2.
fn compounds_and_others(others: usize) -> Fingerprints {
    let rows = synthetic::bit_templates(7, 90, 150, 0.2, 0.12, 3).0;
    let (width, coins) = (rows.width(), Stream::new(8, "coins"));
    let mut words: Vec<u64> = (0..rows.len()).flat_map(|row| rows.row(row)).copied().collect();
    for word in 0..others * width {
        let used: u64 = if (word + 1).is_multiple_of(width) { (1 << (150 % 64)) - 1 } else { !0 };
        words.push(coins.bits(word as u64) & used);
    }
    let rows = Fingerprints::new(words, 150).unwrap();
    let weights = (0..rows.len()).map(|row| (row % 4) as f64).collect();
    rows.with_weights(weights).unwrap()
}

/// Sets an outlier radius. A template's rows are about 4, and at most 5.5, from the template. Rows that belong to no
/// template are at least 6.4 from all templates.
fn with_a_sponge(precision: Precision) -> Parameters {
    Parameters { sponge: Some(6.0), ..parameters(precision) }
}

#[test]
fn a_sponge_takes_of_bits_what_it_takes_of_numbers() {
    let rows = compounds_and_others(20);
    let numbers = unpacked(&rows).with_weights(rows.weights().unwrap().to_vec()).unwrap();
    // The first critical temperature is found by iteration, and all later steps depend on it.
    for (precision, tolerance) in [(Precision::F64, 1e-8), (Precision::F32, 1e-4)] {
        let run = with_a_sponge(precision);
        let packed = cluster(&rows, &run, &Execution::default(), &mut Silent).unwrap();
        let dense = cluster(&numbers, &run, &Execution::default(), &mut Silent).unwrap();
        // The clusters' numbers may differ, because clusters of equal weight are in the order in which they were found.
        assert_eq!(partition(&packed.labels), partition(&dense.labels));
        // The outliers are exactly the rows that belong to no template, including those of weight 0.
        assert!(packed.labels.iter().enumerate().all(|(row, label)| (*label == OUTLIER) == (row >= 7 * 90)));
        assert_eq!(packed.outliers, dense.outliers);
        assert_eq!(packed.outliers.unwrap().rows, 20);
        let close =
            |a: f64, b: f64| assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{precision:?}: {a} for {b}");
        assert!((packed.sum_of_squares - dense.sum_of_squares).abs() < 1e-10 * dense.sum_of_squares);
        close(packed.critical_temperature, dense.critical_temperature);
        // The first steps agree too, before rounding can lead to other states.
        let steps = if precision == Precision::F64 { 5 } else { 1 };
        for (packed, dense) in packed.history.iter().zip(&dense.history).take(steps) {
            close(packed.sponge, dense.sponge);
            close(packed.free_energy, dense.free_energy);
            close(packed.mean_cost, dense.mean_cost);
        }
        assert!(packed.history.iter().any(|step| step.sponge > 0.0));
    }
}

#[test]
fn with_a_sponge_bits_have_the_same_bits_on_every_layout_and_after_a_stop() {
    let rows = compounds_and_others(20);
    for precision in [Precision::F64, Precision::F32] {
        let run = with_a_sponge(precision);
        let on = |execution| comparable(cluster(&rows, &run, &execution, &mut Silent).unwrap());
        let reference = on(Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None });
        for execution in executions() {
            assert_eq!(on(execution), reference, "{execution:?}");
        }
        for calls in [1, 20] {
            let mut observer = StopAfter { calls, last: None };
            assert!(matches!(cluster(&rows, &run, &Execution::default(), &mut observer), Err(Error::Stopped)));
            let resumed = resume(&rows, observer.last.unwrap(), &Execution::default(), &mut Silent).unwrap();
            assert_eq!(comparable(resumed), reference, "stopped at call {calls}");
        }
    }
}

#[test]
fn a_model_with_a_sponge_says_of_bits_what_the_run_said() {
    let rows = compounds_and_others(20);
    let model = cluster(&rows, &with_a_sponge(Precision::F64), &Execution::default(), &mut Silent).unwrap();
    let found = model.centroids().assign(&rows).unwrap();
    assert_eq!(found.labels, model.labels);
    assert!(
        found.distances.iter().zip(&found.labels).all(|(distance, label)| (*distance > 6.0) == (*label == OUTLIER))
    );
    assert_eq!(model.centroids().memberships(&rows).unwrap(), model.centroids().memberships(&unpacked(&rows)).unwrap());
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
fn a_stopped_run_goes_on_to_the_same_bits_and_other_bits_are_refused() {
    let rows = compounds();
    let run = parameters(Precision::F64);
    let mut counting = StopAfter { calls: usize::MAX, last: None };
    let whole = comparable(cluster(&rows, &run, &Execution::default(), &mut counting).unwrap());
    let calls = usize::MAX - counting.calls;
    for calls in [1, calls / 2, calls - 1] {
        let mut observer = StopAfter { calls, last: None };
        let stopped = cluster(&rows, &run, &Execution::default(), &mut observer);
        assert!(matches!(stopped, Err(Error::Stopped)), "at call {calls}");
        let checkpoint = observer.last.unwrap();
        let lighter = rows.clone().with_weights(vec![1.0; rows.len()]).unwrap();
        let other = resume(&lighter, checkpoint.clone(), &Execution::default(), &mut Silent);
        assert!(matches!(other, Err(Error::OtherData { .. })));
        let resumed = resume(&rows, checkpoint, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(comparable(resumed), whole, "stopped at call {calls}");
    }
}

#[test]
fn a_model_says_of_bits_what_it_says_of_the_same_numbers() {
    let rows = compounds();
    let model = cluster(&rows, &parameters(Precision::F64), &Execution::default(), &mut Silent).unwrap();
    let centroids = model.centroids();
    let found = centroids.assign(&rows).unwrap();
    assert_eq!(found.labels, model.labels);
    assert_eq!(found, centroids.assign(&unpacked(&rows)).unwrap());
    assert_eq!(centroids.memberships(&rows).unwrap(), centroids.memberships(&unpacked(&rows)).unwrap());
    let fewer = Fingerprints::new(vec![1], 3).unwrap();
    let refused = centroids.assign(&fewer).unwrap_err().to_string();
    assert!(refused.contains("3 columns, where the centres have 150"), "{refused}");
}
