//! Topographic maps are bit-identical on every layout and after every stop. Other tests use extreme inputs.

use lehr_data::{Incomplete, Points, datasets, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::gtm::{Checkpoint, Input, Model, Parameters, Start, fit, resume};
use lehr_mining::{Engine, Error, Execution};
use lehr_numerics::random::Stream;

use super::gtm::{all_close, close, never_falls, plane, run};

fn without_clock(mut model: Model) -> Model {
    // Times and the distribution of leaves may differ.
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

fn layouts() -> Vec<Execution> {
    let of = |engine, ranks, threads| Execution { engine, ranks, threads, job: None };
    let ranks = [2, 4, 7, 8].map(|ranks| of(Engine::Ranks, ranks, 2));
    let others = [of(Engine::MapReduce, 3, 2), of(Engine::Loop, 1, 3), of(Engine::Ports, 1, 2)];
    ranks.into_iter().chain(others).collect()
}

/// Rows of three columns in four groups, with every seventh cell missing.
fn gaps(rows: usize) -> Incomplete {
    let (points, _) = synthetic::gaussian_mixture(rows, &synthetic::random_components(4, 3, 10.0, 1.0, 3), 3);
    let missing = |at: usize| at % 7 == 3;
    let values = points.values().iter().enumerate().map(|(at, &x)| if missing(at) { f64::NAN } else { x });
    Incomplete::new(values.collect(), 3).unwrap()
}

/// Rows of 120 columns, for which the principal axes are found without forming a covariance.
fn wide() -> Points {
    let stream = Stream::new(7, "wide");
    let mixing = |axis: usize, j: usize| stream.normal((axis * 120 + j) as u64);
    let values = (0..200).flat_map(|row| {
        let (a, b) = (3.0 * stream.normal(10_000 + 2 * row), 2.0 * stream.normal(10_001 + 2 * row));
        (0..120).map(move |j| (row, j, a, b))
    });
    let values = values
        .map(|(row, j, a, b)| a * mixing(0, j) + b * mixing(1, j) + 0.2 * stream.normal(20_000 + 120 * row + j as u64));
    Points::new(values.collect(), 120).unwrap()
}

#[test]
fn a_fit_has_the_same_bits_on_every_layout() {
    let (space, _) = synthetic::gaussian_mixture(1500, &synthetic::random_components(5, 3, 10.0, 1.0, 1), 1);
    let weights: Vec<f64> = (0..space.len()).map(|row| (row % 5) as f64).collect();
    let space = space.with_weights(weights.clone()).unwrap();
    let (gaps, wide) = (gaps(1500), wide());
    let line = Parameters { latent: 1, nodes: Some(20), basis: Some(5), ..Parameters::default() };
    let cube = Parameters { latent: 3, nodes: Some(4), basis: Some(2), ..Parameters::default() };
    let alone = |start| Parameters { start: Some(start), ..plane(6, 3) };
    let cases: [(Input<'_>, Parameters); 7] = [
        (Input::from(&space), plane(6, 3)),
        (Input::from(&space), line.clone()),
        (Input::from(&space), cube),
        (Input::from(&gaps).with_weights(&weights), plane(6, 3)),
        (Input::from(&gaps), alone(Start::Plane)),
        (Input::from(&gaps), alone(Start::Annealed)),
        (Input::from(&wide), line),
    ];
    for (input, parameters) in cases {
        let one = Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None };
        let reference = without_clock(fit(input, &parameters, &one, &mut Silent).unwrap());
        never_falls(&reference);
        for execution in layouts() {
            let model = without_clock(fit(input, &parameters, &execution, &mut Silent).unwrap());
            let bits = |model: &Model| model.places.positions.iter().map(|z| z.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&model), bits(&reference), "{execution:?}");
            assert_eq!(model, reference, "{execution:?}");
        }
    }
}

/// Stops the run after a number of calls, and keeps the last checkpoint.
struct StopAfter {
    calls: usize,
    seen: Vec<Progress>,
    last: Option<Checkpoint>,
}

impl StopAfter {
    fn new(calls: usize) -> Self {
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
    let rows = gaps(300);
    let parameters = plane(5, 3);
    let whole = without_clock(run(&rows, &parameters));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let mut stages = Vec::new();
    for calls in (0..).step_by(3) {
        let mut observer = StopAfter::new(calls);
        let three = Execution { engine: Engine::Ranks, ranks: 3, threads: 2, job: None };
        match fit(&rows, &parameters, &three, &mut observer) {
            Err(Error::Stopped) => {}
            Ok(model) => {
                assert_eq!(without_clock(model), whole);
                let seen = &observer.seen;
                assert!(
                    seen.windows(2).all(|pair| pair[0].fraction <= pair[1].fraction && pair[1].fraction.unwrap() < 1.0)
                );
                assert!(seen.windows(2).all(|pair| pair[0].figure("sweeps") <= pair[1].figure("sweeps")));
                assert!(seen.windows(2).all(|pair| pair[0].figure("temperature") >= pair[1].figure("temperature")));
                break;
            }
            Err(error) => panic!("{error}"),
        }
        stages.push(observer.seen.last().unwrap().stage.clone());
        let last = observer.last.unwrap();
        assert_eq!((last.parameters(), last.fingerprint()), (&parameters, Input::from(&rows).fingerprint()));
        last.write(&path).unwrap();
        let read = Checkpoint::read(&path).unwrap();
        assert_eq!(read, last);
        let other = Execution { engine: Engine::Loop, ranks: 1, threads: 2, job: None };
        let resumed = resume(&rows, read, &other, &mut Silent).unwrap();
        assert_eq!(without_clock(resumed), whole, "stopped after {calls} calls");
    }
    for stage in ["annealing", "fitting", "fitting from the plane"] {
        assert!(stages.iter().any(|seen| seen == stage), "stopped while {stage}");
    }
}

#[test]
fn a_checkpoint_of_other_data_or_another_method_is_refused() {
    let rows = gaps(100);
    let mut observer = StopAfter::new(3);
    let stopped = fit(&rows, &plane(5, 3), &Execution::default(), &mut observer);
    assert!(matches!(stopped, Err(Error::Stopped)));
    let checkpoint = observer.last.unwrap();
    let weights = vec![2.0; 100];
    for other in [Input::from(&gaps(101)), Input::from(&rows).with_weights(&weights)] {
        let refused = resume(other, checkpoint.clone(), &Execution::default(), &mut Silent);
        assert!(matches!(refused, Err(Error::OtherData { .. })));
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    checkpoint.write(&path).unwrap();
    // The first format had only one start and other fields, so it is refused by its number.
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("lehr checkpoint 2 xxh3 "), "{text}");
    let old = folder.path().join("old");
    let content = text.split_once('\n').unwrap().1.trim_end().replace("\"climb\":", "\"sheet\":");
    let hash = xxhash_rust::xxh3::xxh3_64(content.as_bytes());
    std::fs::write(&old, format!("lehr checkpoint 1 xxh3 {hash:016x}\n{content}\n")).unwrap();
    let refused = Checkpoint::read(&old).unwrap_err().to_string();
    assert!(refused.ends_with("old: a checkpoint of format 1, expected format 2"), "{refused}");
    let refused = lehr_mining::vector::Checkpoint::read(&path).unwrap_err();
    assert!(refused.to_string().contains("of the method \"gtm\", not \"vector\""), "{refused}");
}

#[test]
fn rows_of_weight_0_change_no_bit_and_are_placed() {
    let (points, _) = synthetic::gaussian_mixture(500, &synthetic::random_components(3, 3, 10.0, 1.0, 4), 4);
    let mut values = points.values().to_vec();
    values.extend([1e9, -1e9, 0.0]);
    values.extend_from_slice(points.row(0));
    values.extend([1e200; 3]);
    let mut weights = vec![1.0; points.len()];
    weights.extend([0.0; 3]);
    let more = Points::new(values, 3).unwrap().with_weights(weights).unwrap();
    let (model, with) = (run(&points, &plane(6, 3)), run(&more, &plane(6, 3)));
    assert_eq!((&with.map, with.log_likelihood, &with.ascent), (&model.map, model.log_likelihood, &model.ascent));
    assert_eq!(with.places.positions[..1000], model.places.positions[..]);
    assert_eq!(with.places.position(501), model.places.position(0));
    assert!(with.places.positions.iter().all(|z| z.abs() <= 1.0 + 1e-12));
    assert_eq!(with.places.log_densities[502], f64::NEG_INFINITY);
}

#[test]
fn parameters_out_of_range_are_named_before_anything_is_done() {
    let points = datasets::iris().0;
    let refused = fit(&points, &Parameters { latent: 5, ..Parameters::default() }, &Execution::default(), &mut Silent);
    match refused {
        Err(Error::Parameter { name, found, .. }) => assert_eq!((name, found.as_str()), ("latent", "5")),
        other => panic!("{other:?}"),
    }
    let map = run(&points, &plane(5, 3)).map;
    let narrow = Points::new(vec![1.0, 2.0], 2).unwrap();
    let refused = map.project(&narrow, 1).unwrap_err();
    assert!(refused.to_string().contains("2 columns, where the map has 4"), "{refused}");
    let weights = [1.0; 3];
    let refused = fit(Input::from(&points).with_weights(&weights), &plane(5, 3), &Execution::default(), &mut Silent);
    assert!(matches!(refused, Err(Error::Data(_))), "a weight for each row");
}

#[test]
fn one_point_or_equal_points_have_no_map() {
    for points in [Points::new(vec![3.0, -4.0], 2).unwrap(), Points::new(vec![7.5; 40], 2).unwrap()] {
        let refused = fit(&points, &plane(5, 3), &Execution::default(), &mut Silent).unwrap_err();
        assert!(matches!(refused, Error::Constant { count: 2, .. }), "{refused}");
    }
}

#[test]
fn a_column_without_values_is_named() {
    let values = (0..60).map(|at| if at % 3 == 1 { f64::NAN } else { f64::from(at) }).collect();
    let rows = Incomplete::new(values, 3).unwrap();
    let refused = fit(&rows, &plane(5, 3), &Execution::default(), &mut Silent).unwrap_err();
    assert!(refused.to_string().starts_with("1 of the columns have no value"), "{refused}");
    assert!(refused.to_string().contains(": x1;"), "{refused}");
}

#[test]
fn a_column_that_does_not_vary_is_a_column_like_others() {
    let iris = datasets::iris().0;
    let values = (0..150).flat_map(|row| iris.row(row).iter().copied().chain([7.0])).collect();
    let model = run(&Points::new(values, 5).unwrap(), &plane(6, 3));
    assert!((0..36).all(|k| (model.map.at(&model.map.node(k))[4] - 7.0).abs() < 1e-9));
    assert!(model.log_likelihood.is_finite());
}

#[test]
fn few_rows_equal_rows_and_more_nodes_than_rows_have_a_map() {
    let two = Points::new(vec![0.0, 0.0, 1.0, 3.0], 2).unwrap();
    let repeated = Points::new([0.0, 0.0, 1.0, 5.0, 2.0, 2.0].repeat(30), 2).unwrap();
    for points in [two, repeated] {
        let model = run(&points, &Parameters::default());
        never_falls(&model);
        assert!(model.log_likelihood.is_finite() && model.map.noise() > 0.0);
        assert!(model.places.positions.iter().all(|z| z.abs() <= 1.0 + 1e-12));
        let first = model.places.position(0).to_vec();
        let equal = (0..points.len()).filter(|&row| points.row(row) == points.row(0));
        equal.for_each(|row| all_close(model.places.position(row), &first, 0.0));
    }
}

#[test]
fn one_column_is_mapped_to_a_line() {
    let points = Points::new((0..60).map(|x| f64::from(x * x)).collect(), 1).unwrap();
    let model = run(&points, &Parameters { latent: 1, ..Parameters::default() });
    never_falls(&model);
    assert!(model.log_likelihood.is_finite());
    // The critical temperature is at most the number of columns.
    assert!(model.critical_temperature <= 1.0 + 1e-12, "{}", model.critical_temperature);
}

#[test]
fn a_round_gaussian_of_one_column_may_leave_the_map_a_point_and_says_so() {
    let stream = Stream::new(2, "round");
    let points = Points::new((0..500).map(|row| stream.normal(row)).collect(), 1).unwrap();
    let stiff = Parameters { latent: 1, regularisation: 1e6, ..Parameters::default() };
    let model = run(&points, &stiff);
    close(model.map.noise(), points.values().iter().map(|x| x * x).sum::<f64>() / 500.0, 0.02);
    assert!(model.warnings.iter().any(|warning| warning.contains("the map is a single point")), "{:?}", model.warnings);
}

#[test]
fn axes_found_without_a_covariance_are_those_found_with_one() {
    let wide = wide();
    let narrow = |from: usize| -> Points {
        let values = (0..wide.len()).flat_map(|row| wide.row(row)[from..from + 90].to_vec()).collect();
        Points::new(values, 90).unwrap()
    };
    // With 120 columns, no covariance is formed; with 90, it is. Adding 30 columns of zeros to 90 changes no axis, so
    // both ways must agree.
    let padded: Vec<f64> = (0..wide.len()).flat_map(|row| [&wide.row(row)[..90], &[0.0; 30]].concat()).collect();
    let parameters = plane(6, 3);
    let execution = Execution::default();
    let of = |points: &Points| lehr_mining::gtm::critical_temperature(points, &parameters, &execution).unwrap();
    // Columns of zeros lower the mean variance of a column by the factor 90 / 120.
    close(of(&Points::new(padded, 120).unwrap()) * 90.0 / 120.0, of(&narrow(0)), 1e-6 * of(&narrow(0)));
}

#[test]
fn a_fit_that_runs_out_of_passes_says_so() {
    let model = run(&datasets::iris().0, &Parameters { max_sweeps: 4, ..plane(6, 3) });
    assert!(!model.is_converged && model.ascent.len() == 4);
    assert!(model.warnings[0].contains("ended after 4 iterations"), "{:?}", model.warnings);
}
