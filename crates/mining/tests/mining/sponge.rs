//! The outlier radius: bit-identical results on every layout, runs that it does not affect, and values that are
//! refused.

use lehr_data::{Points, datasets, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::vector::{Checkpoint, Model, OUTLIER, Parameters, Precision, cluster, resume};
use lehr_mining::{Engine, Error, Execution};

use super::bits::executions;

fn run(points: &Points, parameters: &Parameters, execution: &Execution) -> Model {
    without_clock(cluster(points, parameters, execution, &mut Silent).unwrap())
}

fn without_clock(mut model: Model) -> Model {
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

fn of(clusters: usize, radius: f64) -> Parameters {
    Parameters { clusters: Some(clusters), sponge: Some(radius), ..Parameters::default() }
}

/// Groups of 2,000 rows in all, with 400 rows of noise around them.
fn noisy() -> Points {
    let (groups, _) = synthetic::gaussian_mixture(2000, &synthetic::random_components(5, 2, 10.0, 0.6, 3), 3);
    let (low, high) = groups.values().iter().fold((f64::MAX, f64::MIN), |(low, high), &x| (low.min(x), high.max(x)));
    let noise = lehr_numerics::random::Stream::new(5, "noise");
    let noise = (0..400).map(|index| low - 5.0 + (high - low + 10.0) * noise.uniform(index));
    let points = Points::new(groups.values().iter().copied().chain(noise).collect(), 2).unwrap();
    let weights = (0..points.len()).map(|row| (row % 4) as f64).collect();
    points.with_weights(weights).unwrap()
}

#[test]
fn a_run_has_the_same_bits_on_every_layout() {
    let one = Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None };
    for (points, parameters) in [
        (&noisy(), of(5, 3.0)),
        (&noisy(), Parameters { precision: Precision::F32, ..of(5, 3.0) }),
        (&noisy(), Parameters { clusters: None, max_clusters: Some(7), ..of(5, 3.0) }),
        (&datasets::digits().0, of(6, 35.0)),
    ] {
        let reference = run(points, &parameters, &one);
        let outliers = reference.outliers.clone().unwrap();
        assert_eq!(reference.labels.iter().filter(|label| **label == OUTLIER).count() as u64, outliers.rows);
        assert!(outliers.rows > 0 && reference.history.iter().any(|step| step.sponge > 0.0));
        for execution in executions() {
            assert_eq!(run(points, &parameters, &execution), reference, "{execution:?}");
        }
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
fn a_run_that_was_stopped_goes_on_to_the_same_bits() {
    let (points, execution) = (noisy(), Execution::default());
    let whole = run(&points, &of(5, 3.0), &execution);
    for steps in [1, 7, 30, 55] {
        let mut stopped = After(steps, None);
        assert!(matches!(cluster(&points, &of(5, 3.0), &execution, &mut stopped), Err(Error::Stopped)), "{steps}");
        let resumed = resume(&points, stopped.1.unwrap(), &execution, &mut Silent).unwrap();
        assert_eq!(without_clock(resumed), whole, "after {steps} steps");
    }
}

#[test]
fn one_that_reaches_around_all_rows_takes_none() {
    let (points, _) = datasets::iris();
    let execution = Execution::default();
    let model = run(&points, &of(3, 100.0), &execution);
    assert_eq!(model.outliers.as_ref().map(|outliers| (outliers.rows, outliers.weight)), Some((0, 0.0)));
    let without = Parameters { clusters: Some(3), ..Parameters::default() };
    assert_eq!(model.labels, run(&points, &without, &execution).labels);
    assert!((model.sum_of_squares - 78.851441426146).abs() < 1e-9, "{}", model.sum_of_squares);
}

#[test]
fn figures_are_of_the_rows_within_and_a_model_says_of_them_what_the_run_said() {
    let points = noisy();
    let model = run(&points, &of(5, 3.0), &Execution::default());
    let found = model.centroids().assign(&points).unwrap();
    assert_eq!(found.labels, model.labels);
    let memberships = model.centroids().memberships(&points).unwrap();
    let (mut sum, mut weight, mut outside) = (0.0, 0.0, 0.0);
    for row in 0..points.len() {
        assert!((found.probabilities[row] - model.probabilities[row]).abs() < 1e-6, "row {row}");
        let own = &memberships[5 * row..][..5];
        if model.labels[row] == OUTLIER {
            outside += points.weight(row);
            assert!(found.distances[row] > 3.0);
            assert!((1.0 - own.iter().sum::<f64>() - found.probabilities[row]).abs() < 1e-9, "row {row}");
        } else {
            weight += points.weight(row);
            sum += points.weight(row) * found.distances[row] * found.distances[row];
            assert!(found.distances[row] <= 3.0);
            assert!((own[model.labels[row] as usize] - found.probabilities[row]).abs() < 1e-9, "row {row}");
        }
    }
    assert!((sum - model.sum_of_squares).abs() < 1e-9 * sum, "{sum} and {}", model.sum_of_squares);
    assert!((sum / weight - model.objective).abs() < 1e-9 * model.objective);
    assert!((outside - model.outliers.as_ref().unwrap().weight).abs() < 1e-9 * outside);
    let counted: u64 = model.clusters.iter().map(|cluster| cluster.rows).sum();
    assert_eq!(counted + model.outliers.as_ref().unwrap().rows, points.len() as u64);
}

#[test]
fn rows_of_weight_0_are_labelled_and_move_nothing() {
    let near = [0.0, 1.0, 2.0, 50.0, 51.0, 52.0];
    let points =
        |values: &[f64], weights: Vec<f64>| Points::new(values.to_vec(), 1).unwrap().with_weights(weights).unwrap();
    let alone = run(&points(&near, vec![1.0; 6]), &of(2, 5.0), &Execution::default());
    let more = [&near[..], &[1e6, 1.5]].concat();
    let model = run(&points(&more, [vec![1.0; 6], vec![0.0; 2]].concat()), &of(2, 5.0), &Execution::default());
    assert_eq!((&model.centers, &model.labels[..6]), (&alone.centers, &alone.labels[..]));
    assert_eq!((model.labels[6], model.labels[7]), (OUTLIER, model.labels[0]));
    assert_eq!(model.outliers.map(|outliers| (outliers.rows, outliers.weight)), Some((1, 0.0)));
}

#[test]
fn a_radius_that_leaves_most_outside_or_is_none_is_refused() {
    let (points, _) = datasets::iris();
    let refused = |parameters: &Parameters| {
        cluster(&points, parameters, &Execution::default(), &mut Silent).unwrap_err().to_string()
    };
    let said = refused(&of(2, 0.1));
    assert!(said.contains(" % of the weight is farther than the outlier radius 0.1 from every centre"), "{said}");
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(refused(&of(2, radius)).starts_with("sponge: expected a positive number"), "{radius}");
    }
    assert!(refused(&of(2, 1e-200)).starts_with("sponge: expected a radius whose square"));
}
