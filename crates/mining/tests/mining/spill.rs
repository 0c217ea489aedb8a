//! Points whose values are in a file give results that are bit-identical to points in memory, and leave nothing in the
//! folder.

use lehr_data::{Points, Spill, datasets, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::mixture::{self, Covariance};
use lehr_mining::vector::{self, Checkpoint, Precision};
use lehr_mining::{Engine, Error, Execution, gtm, kmeans};

fn annealed(points: &Points, parameters: &vector::Parameters, execution: &Execution) -> vector::Model {
    let mut model = vector::cluster(points, parameters, execution, &mut Silent).unwrap();
    (model.phases, model.timers, model.imbalance) = (Vec::new(), Vec::new(), 1.0);
    model
}

fn started(points: &Points, parameters: &kmeans::Parameters, execution: &Execution) -> kmeans::Model {
    let mut model = kmeans::cluster(points, parameters, execution, &mut Silent).unwrap();
    (model.phases, model.timers, model.imbalance) = (Vec::new(), Vec::new(), 1.0);
    model
}

fn two_threads(engine: Engine) -> Execution {
    Execution { engine, ranks: 2, threads: 2, job: None }
}

#[test]
fn rows_in_a_file_have_the_clusters_that_they_have_in_memory_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let spill = Spill::new(folder.path());
    // There are more rows than a section of the file has. Some rows have weight 0; leaves store these separately.
    let (plane, _) = synthetic::gaussian_mixture(66_000, &synthetic::random_components(5, 2, 10.0, 0.9, 1), 1);
    let weights = (0..plane.len()).map(|row| (row % 5) as f64).collect();
    let plane = plane.with_weights(weights).unwrap();
    // Rows of many columns, in small blocks, are stored twice.
    let (digits, _) = datasets::digits();
    let reference = Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None };
    for (points, clusters, precision, sponge, engine) in [
        (&plane, 3, Precision::F64, None, Engine::Ranks),
        (&plane, 2, Precision::F32, Some(9.0), Engine::Ports),
        (&digits, 4, Precision::F64, None, Engine::Loop),
        (&digits, 4, Precision::F32, None, Engine::MapReduce),
    ] {
        let spilled = points.clone().spilled(&spill).unwrap();
        assert!(spilled.spill().is_some() && spilled == *points);
        let annealing = vector::Parameters { clusters: Some(clusters), precision, sponge, ..Default::default() };
        let in_memory = annealed(points, &annealing, &reference);
        assert_eq!(annealed(&spilled, &annealing, &two_threads(engine)), in_memory, "{clusters}, {precision:?}");
        let starts = kmeans::Parameters { clusters, starts: 2, precision, ..Default::default() };
        let in_memory = started(points, &starts, &reference);
        assert_eq!(started(&spilled, &starts, &two_threads(engine)), in_memory, "{clusters}, {precision:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn rows_in_a_file_have_the_mixtures_and_maps_that_they_have_in_memory_to_the_bit() {
    let folder = tempfile::tempdir().unwrap();
    let (plane, _) = synthetic::gaussian_mixture(3000, &synthetic::random_components(5, 2, 10.0, 0.9, 1), 1);
    let weights = (0..plane.len()).map(|row| (row % 5) as f64).collect();
    let points = plane.with_weights(weights).unwrap();
    let spilled = points.clone().spilled(&Spill::new(folder.path())).unwrap();
    for covariance in [Covariance::Spherical, Covariance::Diagonal, Covariance::Tied, Covariance::Full] {
        let parameters = mixture::Parameters { components: Some(4), covariance, ..Default::default() };
        let [in_memory, in_a_file] = [&points, &spilled].map(|points| {
            let mut model = mixture::fit(points, &parameters, &two_threads(Engine::Ranks), &mut Silent).unwrap();
            (model.phases, model.timers) = (Vec::new(), Vec::new());
            model
        });
        assert_eq!(in_memory, in_a_file, "{covariance}");
    }
    let parameters = gtm::Parameters { nodes: Some(6), basis: Some(3), ..Default::default() };
    let [in_memory, in_a_file] = [&points, &spilled].map(|points| {
        let mut model = gtm::fit(points, &parameters, &two_threads(Engine::Ranks), &mut Silent).unwrap();
        (model.phases, model.timers) = (Vec::new(), Vec::new());
        model
    });
    assert_eq!(in_memory, in_a_file);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Stops the run after the twentieth step, and keeps the checkpoint.
#[derive(Default)]
struct Stopped {
    steps: usize,
    last: Option<Checkpoint>,
}

impl Observer for Stopped {
    fn progress(&mut self, _: &Progress) -> Control {
        self.steps += 1;
        if self.steps < 20 { Control::Continue } else { Control::Stop }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref().cloned();
    }
}

#[test]
fn a_run_that_was_stopped_with_its_rows_in_either_place_goes_on_with_them_in_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let (points, _) = synthetic::gaussian_mixture(3000, &synthetic::random_components(6, 2, 10.0, 0.9, 1), 1);
    let spilled = points.clone().spilled(&Spill::new(folder.path())).unwrap();
    let parameters = vector::Parameters { clusters: Some(6), ..Default::default() };
    let whole = annealed(&points, &parameters, &two_threads(Engine::Ranks));
    for (before, after) in [(&spilled, &points), (&points, &spilled)] {
        let mut observer = Stopped::default();
        let error = vector::cluster(before, &parameters, &two_threads(Engine::Ranks), &mut observer).unwrap_err();
        assert!(matches!(error, Error::Stopped), "{error}");
        let last = observer.last.expect("a run that is stopped has a checkpoint");
        let mut model = vector::resume(after, last, &two_threads(Engine::Loop), &mut Silent).unwrap();
        (model.phases, model.timers, model.imbalance) = (Vec::new(), Vec::new(), 1.0);
        assert_eq!(model, whole);
    }
}

#[test]
fn a_folder_that_has_gone_is_told_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let points = datasets::iris().0.spilled(&Spill::new(folder.path())).unwrap();
    drop(folder);
    // The points are still readable, because their file never had a name. But there is no folder for the files of the
    // run.
    assert_eq!(points.fingerprint(), datasets::iris().0.fingerprint());
    let parameters = kmeans::Parameters { clusters: 3, ..Default::default() };
    let error = kmeans::cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap_err();
    assert!(matches!(error, Error::Spill(_)), "{error}");
}
