//! Mixtures are bit-identical on every layout and after every stop. Other tests use extreme inputs.

use lehr_data::{Points, datasets, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent, Stage};
use lehr_mining::mixture::{Checkpoint, Covariance, Model, Parameters, fit, resume};
use lehr_mining::{Engine, Error, Execution};

use super::mixture::{components, run};

pub(crate) fn without_clock(mut model: Model) -> Model {
    // Times and the distribution of leaves may differ.
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

pub(crate) fn layouts() -> Vec<Execution> {
    let of = |engine, ranks, threads| Execution { engine, ranks, threads, job: None };
    let ranks = [2, 4, 7, 8].map(|ranks| of(Engine::Ranks, ranks, 2));
    let others = [of(Engine::MapReduce, 3, 2), of(Engine::Loop, 1, 3), of(Engine::Ports, 1, 2)];
    ranks.into_iter().chain(others).collect()
}

#[test]
fn a_fit_has_the_same_bits_on_every_layout() {
    let (plane, _) = synthetic::gaussian_mixture(2000, &synthetic::random_components(5, 2, 10.0, 0.9, 1), 1);
    let weights = (0..plane.len()).map(|row| (row % 5) as f64).collect();
    let plane = plane.with_weights(weights).unwrap();
    let wine = datasets::wine().0;
    for (points, covariance, count) in [
        (&plane, Covariance::Full, Some(5)),
        (&plane, Covariance::Tied, Some(4)),
        (&plane, Covariance::Diagonal, Some(4)),
        (&wine, Covariance::Spherical, Some(3)),
        (&wine, Covariance::Full, Some(2)),
        (&plane, Covariance::Full, None),
    ] {
        let parameters = Parameters { components: count, max_components: Some(3), covariance, ..Parameters::default() };
        let one = Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None };
        let reference = without_clock(fit(points, &parameters, &one, &mut Silent).unwrap());
        for execution in layouts() {
            let model = without_clock(fit(points, &parameters, &execution, &mut Silent).unwrap());
            let bits = |model: &Model| model.mixture.numbers().iter().map(|s| s.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&model), bits(&reference), "{execution:?}");
            assert_eq!(model, reference, "{execution:?}");
        }
    }
}

/// Stops the run after a number of calls, and keeps the last checkpoint.
pub(crate) struct StopAfter {
    calls: usize,
    seen: Vec<Progress>,
    pub(crate) last: Option<Checkpoint>,
}

impl StopAfter {
    pub(crate) fn new(calls: usize) -> Self {
        Self { calls, seen: Vec::new(), last: None }
    }
}

impl Observer for StopAfter {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.seen.push(progress.clone());
        if self.seen.len() > self.calls { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref().cloned();
    }
}

#[test]
fn a_fit_stopped_anywhere_goes_on_to_the_same_bits_on_another_layout() {
    let (points, _) = synthetic::gaussian_mixture(300, &synthetic::random_components(4, 2, 10.0, 1.5, 2), 2);
    let parameters = Parameters { max_components: Some(3), ..Parameters::default() };
    let whole = without_clock(run(&points, &parameters));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let mut stages = Vec::new();
    for calls in (0..).step_by(11) {
        let mut observer = StopAfter::new(calls);
        let three = Execution { engine: Engine::Ranks, ranks: 3, threads: 2, job: None };
        match fit(&points, &parameters, &three, &mut observer) {
            Err(Error::Stopped) => {}
            Ok(model) => {
                assert_eq!(without_clock(model), whole);
                let seen = &observer.seen;
                assert!(
                    seen.windows(2).all(|pair| pair[0].fraction <= pair[1].fraction && pair[1].fraction.unwrap() < 1.0)
                );
                assert!(seen.windows(2).all(|pair| pair[0].figure("sweeps") <= pair[1].figure("sweeps")));
                break;
            }
            Err(error) => panic!("{error}"),
        }
        let last = observer.seen.last().unwrap();
        stages.push(last.stage.clone());
        assert!(last.figure("temperature").is_none() || last.figure("log_likelihood").is_none());
        let last = observer.last.unwrap();
        assert_eq!((last.parameters(), last.fingerprint()), (&parameters, points.fingerprint()));
        last.write(&path).unwrap();
        let read = Checkpoint::read(&path).unwrap();
        assert_eq!(read, last);
        let other = Execution { engine: Engine::Loop, ranks: 1, threads: 2, job: None };
        let resumed = resume(&points, read, &other, &mut Silent).unwrap();
        assert_eq!(without_clock(resumed), whole, "stopped after {calls} calls");
    }
    for stage in [Stage::Annealing, Stage::Refining, Stage::Fitting] {
        assert!(stages.iter().any(|seen| seen == stage.name()), "stopped while {stage}");
    }
}

#[test]
fn a_checkpoint_of_other_data_or_another_method_is_refused() {
    let (points, _) = synthetic::gaussian_mixture(100, &synthetic::random_components(2, 2, 10.0, 1.5, 2), 2);
    let mut observer = StopAfter::new(3);
    let stopped = fit(&points, &components(2, Covariance::Full), &Execution::default(), &mut observer);
    assert!(matches!(stopped, Err(Error::Stopped)));
    let checkpoint = observer.last.unwrap();
    let other = Points::new(points.values().iter().map(|value| value + 1.0).collect(), 2).unwrap();
    let refused = resume(&other, checkpoint.clone(), &Execution::default(), &mut Silent);
    assert!(matches!(refused, Err(Error::OtherData { .. })));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    checkpoint.write(&path).unwrap();
    let refused = lehr_mining::vector::Checkpoint::read(&path).unwrap_err();
    assert!(refused.to_string().contains("of the method \"mixture\", not \"vector\""), "{refused}");
}

#[test]
fn rows_of_weight_0_change_no_bit_and_are_labelled() {
    let (points, _) = synthetic::gaussian_mixture(500, &synthetic::random_components(3, 2, 10.0, 1.0, 4), 4);
    let mut values = points.values().to_vec();
    values.extend([1e9, -1e9, points.row(0)[0], points.row(0)[1], 1e200, 1e200]);
    let mut weights = vec![1.0; points.len()];
    weights.extend([0.0; 3]);
    let more = Points::new(values, 2).unwrap().with_weights(weights).unwrap();
    for covariance in Covariance::ALL {
        let parameters = components(3, covariance);
        let (model, with) = (run(&points, &parameters), run(&more, &parameters));
        assert_eq!((&with.mixture, with.criteria), (&model.mixture, model.criteria));
        assert_eq!((&with.labels[..500], with.labels[501]), (&model.labels[..], model.labels[0]));
        assert!(with.probabilities.iter().all(|probability| (0.0..=1.0).contains(probability)));
    }
}

#[test]
fn parameters_out_of_range_are_named() {
    let points = datasets::iris().0;
    let try_fit = |parameters: &Parameters| fit(&points, parameters, &Execution::default(), &mut Silent);
    assert!(matches!(
        try_fit(&components(151, Covariance::Full)),
        Err(Error::TooManyComponents { components: 151, points: 150 })
    ));
    let wrong = [
        (components(0, Covariance::Full), "components"),
        (Parameters { max_components: Some(0), ..Parameters::default() }, "max_components"),
        (Parameters { regularisation: -1e-9, ..Parameters::default() }, "regularisation"),
        (Parameters { regularisation: f64::NAN, ..Parameters::default() }, "regularisation"),
        (Parameters { tolerance: 0.5, ..Parameters::default() }, "tolerance"),
        (Parameters { max_sweeps: 0, ..Parameters::default() }, "max_sweeps"),
        (Parameters { cooling: 1.0, ..Parameters::default() }, "cooling"),
    ];
    for (parameters, expected) in wrong {
        match try_fit(&parameters) {
            Err(Error::Parameter { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {other:?}"),
        }
    }
    let wide = Points::new(vec![0.5; 2 * 513], 513).unwrap();
    let refused = fit(&wide, &components(1, Covariance::Tied), &Execution::default(), &mut Silent).unwrap_err();
    assert!(refused.to_string().contains("tied in 513"), "{refused}");
}

#[test]
fn columns_that_do_not_vary_are_named_where_a_density_would_have_no_width_along_them() {
    let values = (0..40).flat_map(|row| [f64::from(row % 7), 3.0, f64::from(row % 11), 5.0]).collect();
    let names = ["a", "b", "c", "d"].map(String::from).to_vec();
    let points = Points::new(values, 4).unwrap().with_columns(names).unwrap();
    for covariance in [Covariance::Diagonal, Covariance::Tied, Covariance::Full] {
        let refused = fit(&points, &components(2, covariance), &Execution::default(), &mut Silent).unwrap_err();
        assert!(refused.to_string().starts_with("2 of the columns are the same in all rows"), "{refused}");
        assert!(refused.to_string().contains(": b, d;"), "{refused}");
    }
    assert_eq!(run(&points, &components(2, Covariance::Spherical)).mixture.len(), 2);
}

#[test]
fn one_point_or_equal_points_have_no_density() {
    for points in [Points::new(vec![3.0, -4.0], 2).unwrap(), Points::new(vec![7.5; 40], 2).unwrap()] {
        for covariance in Covariance::ALL {
            let refused = fit(&points, &components(1, covariance), &Execution::default(), &mut Silent).unwrap_err();
            assert!(matches!(refused, Error::Constant { count: 2, .. }), "{refused}");
        }
    }
}

#[test]
fn numbers_that_are_none_never_become_points() {
    assert!(Points::new(vec![0.0, f64::NAN], 1).is_err());
}

#[test]
fn more_components_than_distinct_rows_gives_the_distinct_rows_with_a_warning() {
    let points = Points::new([0.0, 1.0, 5.0].repeat(20), 1).unwrap();
    for covariance in Covariance::ALL {
        let model = run(&points, &components(6, covariance));
        assert_eq!(model.mixture.len(), 3, "{covariance}");
        let mut means = model.mixture.means().to_vec();
        means.sort_by(f64::total_cmp);
        for (mean, expected) in means.iter().zip([0.0, 1.0, 5.0]) {
            assert!((mean - expected).abs() < 1e-6, "{covariance}: {mean}");
        }
        assert!(model.warnings.iter().any(|warning| warning.contains("but Lehr found only 3")), "{:?}", model.warnings);
        assert!(
            model.warnings.iter().any(|warning| warning.contains("a direction without variance")),
            "{:?}",
            model.warnings
        );
    }
}

#[test]
fn without_regularisation_a_component_on_equal_rows_is_an_error_that_says_so() {
    let mut values = vec![50.0; 30];
    values.extend((0..60).map(|row| f64::from(row) / 10.0));
    let points = Points::new(values, 1).unwrap();
    let parameters = Parameters { regularisation: 0.0, ..components(2, Covariance::Full) };
    let refused = fit(&points, &parameters, &Execution::default(), &mut Silent).unwrap_err();
    assert!(matches!(refused, Error::Collapsed { components: 2, .. }), "{refused}");
    let model = run(&points, &components(2, Covariance::Full));
    assert!(
        model.warnings.iter().any(|warning| warning.contains("a direction without variance")),
        "{:?}",
        model.warnings
    );
    assert!(model.criteria.log_likelihood.is_finite());
}

#[test]
fn huge_and_tiny_units_change_nothing_but_the_unit_until_variances_cannot_be_held() {
    let points = datasets::iris().0;
    let model = run(&points, &components(3, Covariance::Full));
    for power in [300i32, -300] {
        let unit = 2f64.powi(power);
        let scaled = Points::new(points.values().iter().map(|x| x * unit).collect(), 4).unwrap();
        let other = run(&scaled, &components(3, Covariance::Full));
        assert_eq!(other.labels, model.labels);
        let means: Vec<f64> = other.mixture.means().iter().map(|u| u / unit).collect();
        assert_eq!(means, model.mixture.means());
    }
    let tiny = Points::new(points.values().iter().map(|x| x * 1e-130).collect(), 4).unwrap();
    let refused = fit(&tiny, &components(3, Covariance::Full), &Execution::default(), &mut Silent).unwrap_err();
    assert!(matches!(refused, Error::TooNear { .. }), "{refused}");
    let huge = Points::new(points.values().iter().map(|x| x * 1e150).collect(), 4).unwrap();
    let refused = fit(&huge, &components(3, Covariance::Full), &Execution::default(), &mut Silent).unwrap_err();
    assert!(matches!(refused, Error::TooFar { .. }), "{refused}");
}

#[test]
fn a_fit_that_runs_out_of_passes_says_so() {
    let model = run(&datasets::iris().0, &Parameters { max_sweeps: 4, ..components(3, Covariance::Full) });
    assert!(!model.is_converged && model.ascent.len() == 4);
    assert!(model.warnings[0].contains("ended after 4 iterations"), "{:?}", model.warnings);
}
