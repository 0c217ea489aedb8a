//! For many rows in few columns, a summary is annealed instead of the rows, and the run ends with iterations over all
//! rows.

use lehr_data::{Points, Spill, datasets, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::vector::{Checkpoint, Model, Parameters, Precision, cluster, resume};
use lehr_mining::{Engine, Error, Execution};
use lehr_numerics::random::Stream;

const ONE: Execution = Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None };

fn run(points: &Points, parameters: &Parameters, execution: &Execution) -> Model {
    without_clock(cluster(points, parameters, execution, &mut Silent).unwrap())
}

fn without_clock(mut model: Model) -> Model {
    (model.phases, model.timers, model.imbalance) = (Vec::new(), Vec::new(), 1.0);
    model
}

fn of(clusters: usize) -> Parameters {
    Parameters { clusters: Some(clusters), ..Parameters::default() }
}

fn exact(clusters: usize) -> Parameters {
    Parameters { exact: true, ..of(clusters) }
}

/// Rows of `groups` groups; some rows have weight 0.
fn weighted(rows: usize, groups: usize, dimension: usize) -> Points {
    let (points, _) =
        synthetic::gaussian_mixture(rows, &synthetic::random_components(groups, dimension, 10.0, 0.9, 1), 1);
    let weights = (0..points.len()).map(|row| (row % 5) as f64).collect();
    points.with_weights(weights).unwrap()
}

#[test]
fn a_summarized_run_has_the_same_bits_on_every_layout_and_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for (points, precision) in [(weighted(9000, 9, 2), Precision::F64), (weighted(9000, 6, 5), Precision::F32)] {
        let parameters = Parameters { precision, ..of(6) };
        let reference = run(&points, &parameters, &ONE);
        assert!(reference.finish.summary.is_some());
        for execution in super::bits::executions() {
            assert_eq!(run(&points, &parameters, &execution), reference, "{execution:?}");
        }
        let spilled = points.clone().spilled(&Spill::new(folder.path())).unwrap();
        assert_eq!(run(&spilled, &parameters, &Execution::default()), reference);
    }
}

/// Stops the run after a number of calls, and keeps the last checkpoint.
struct StopAfter {
    calls: usize,
    fractions: Vec<Option<f64>>,
    last: Option<Checkpoint>,
}

impl Observer for StopAfter {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.fractions.push(progress.fraction);
        if self.fractions.len() > self.calls { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref().cloned();
    }
}

#[test]
fn a_summarized_run_stopped_anywhere_goes_on_to_the_same_bits_on_another_layout() {
    let points = weighted(9000, 9, 2);
    let whole = run(&points, &of(9), &ONE);
    let mut stops = 0;
    for calls in (0..).step_by(13) {
        let mut observer = StopAfter { calls, fractions: Vec::new(), last: None };
        let layout = Execution { engine: Engine::Ranks, ranks: 3, threads: 2, job: None };
        match cluster(&points, &of(9), &layout, &mut observer) {
            Err(Error::Stopped) => stops += 1,
            Ok(model) => {
                assert_eq!(without_clock(model), whole);
                assert!(observer.fractions.is_sorted() && observer.fractions.iter().all(|f| f.unwrap() < 1.0));
                // The last steps are over all rows.
                let before = observer.fractions.len() - 1;
                let mut last = StopAfter { calls: before, fractions: Vec::new(), last: None };
                assert!(matches!(cluster(&points, &of(9), &layout, &mut last), Err(Error::Stopped)));
                let resumed = resume(&points, last.last.unwrap(), &Execution::default(), &mut Silent).unwrap();
                assert_eq!(without_clock(resumed), whole);
                break;
            }
            Err(error) => panic!("{error}"),
        }
        let resumed = resume(&points, observer.last.unwrap(), &Execution::default(), &mut Silent).unwrap();
        assert_eq!(without_clock(resumed), whole, "stopped after {calls} calls");
    }
    assert!(stops > 3);
}

#[test]
fn a_summary_leads_to_what_annealing_all_rows_leads_to() {
    let (plane, _) = synthetic::gaussian_mixture(20_000, &synthetic::random_components(12, 2, 10.0, 0.9, 3), 3);
    let (space, _) = synthetic::gaussian_mixture(20_000, &synthetic::random_components(8, 6, 10.0, 0.9, 4), 4);
    let census = datasets::census_blocks();
    for (points, clusters) in [(&plane, 12), (&space, 8), (&census, 20), (&weighted(12_000, 7, 3), 7)] {
        let (summary, all) =
            (run(points, &of(clusters), &Execution::default()), run(points, &exact(clusters), &Execution::default()));
        assert!(summary.finish.summary.is_some() && all.finish.summary.is_none());
        assert_eq!(summary.clusters.len(), clusters);
        let excess = summary.sum_of_squares / all.sum_of_squares - 1.0;
        assert!(excess < 1e-5, "{clusters} clusters of {} rows: {excess:e} above", points.len());
    }
}

#[test]
fn rows_without_groups_end_early_with_the_nearest_centre_of_each() {
    let stream = Stream::new(5, "noise");
    let points = Points::new((0..30_000 * 8).map(|i| stream.normal(i)).collect(), 8).unwrap();
    let (summary, all) = (run(&points, &of(8), &ONE), run(&points, &exact(8), &ONE));
    let excess = summary.sum_of_squares / all.sum_of_squares - 1.0;
    assert!(excess.abs() < 2e-3, "{excess:e}");
    let told = summary.centroids().assign(&points).unwrap();
    assert_eq!(told.labels, summary.labels);
}

#[test]
fn what_a_summary_hides_is_what_its_costs_are_above_those_of_the_rows_at_most() {
    // The costs of the history are the costs of the cells plus the hidden cost. With one cluster, the sum equals the
    // cost of the rows.
    let points = weighted(9000, 9, 2);
    let (summary, all) = (run(&points, &of(9), &ONE), run(&points, &exact(9), &ONE));
    let (of_cells, of_rows) = (&summary.history[0], &all.history[0]);
    assert_eq!((of_cells.clusters, of_rows.clusters), (1, 1));
    assert!((of_cells.mean_cost / of_rows.mean_cost - 1.0).abs() < 1e-9, "{of_cells:?} {of_rows:?}");
    // The critical temperature is too low, but by at most twice the hidden cost.
    let hidden = summary.finish.summary.as_ref().unwrap().hidden;
    assert!(hidden > 0.0 && summary.critical_temperature <= all.critical_temperature);
    assert!(all.critical_temperature - summary.critical_temperature <= 2.0 * hidden);
    // The cost over all rows is at most the cost of the summary plus the hidden cost.
    let plain = summary.finish.plain.unwrap();
    assert!(summary.objective <= plain * (1.0 + 1e-12), "{} {plain}", summary.objective);
}

#[test]
fn a_weight_of_three_is_the_row_three_times_up_to_where_leaves_are_cut() {
    let (points, _) = synthetic::gaussian_mixture(6000, &synthetic::random_components(5, 2, 10.0, 0.5, 2), 2);
    let weights: Vec<f64> = (0..points.len()).map(|row| (row % 4) as f64).collect();
    let repeated = (0..points.len()).flat_map(|row| std::iter::repeat_n(row, row % 4));
    let repeated: Vec<f64> = repeated.flat_map(|row| points.row(row).to_vec()).collect();
    let repeated = run(&Points::new(repeated, 2).unwrap(), &of(5), &ONE);
    let weighted = run(&points.with_weights(weights).unwrap(), &of(5), &ONE);
    assert!((weighted.sum_of_squares / repeated.sum_of_squares - 1.0).abs() < 1e-9);
}

#[test]
fn what_a_summary_would_not_serve_is_annealed_as_it_is() {
    let points = weighted(9000, 6, 2);
    let is_summarized = |points: &Points, parameters: &Parameters| {
        run(points, parameters, &Execution::default()).finish.summary.is_some()
    };
    assert!(is_summarized(&points, &of(6)));
    for parameters in [
        exact(6),
        of(1),
        Parameters { sponge: Some(9.0), ..of(6) },
        Parameters { stop_length: Some(3.0), ..of(6) },
        Parameters { stop_temperature: Some(9.0), ..Parameters::default() },
    ] {
        assert!(!is_summarized(&points, &parameters), "{parameters:?}");
    }
    assert!(!is_summarized(&weighted(4000, 6, 2), &of(6)), "few rows");
    assert!(!is_summarized(&weighted(6500, 3, 17), &of(3)), "many columns");
    let many = Parameters { patience: 0, overshoot: 1.0, ..of(150) };
    assert!(!is_summarized(&weighted(5600, 6, 2), &many), "clusters of few cells");
}

#[test]
fn rows_of_few_positions_and_rows_that_are_all_the_same_are_found_too() {
    let few = Points::new((0..8000).map(|row| f64::from(row % 5 * row % 5)).collect(), 1).unwrap();
    let model = run(&few, &of(3), &Execution::default());
    assert_eq!(model, without_clock(cluster(&few, &of(3), &ONE, &mut Silent).unwrap()));
    assert!(model.sum_of_squares <= run(&few, &exact(3), &ONE).sum_of_squares);
    let same = Points::new(vec![0.1; 8000], 1).unwrap();
    let model = run(&same, &of(3), &Execution::default());
    assert_eq!((model.clusters.len(), model.sum_of_squares), (1, 0.0));
}
