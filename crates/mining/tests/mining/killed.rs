//! Runs that are killed at any moment. From each checkpoint, a run resumes on another layout to a bit-identical result.
//! No run continues for long after a request to stop.

use lehr_data::{Incomplete, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress};
use lehr_mining::vector::{self, Precision};
use lehr_mining::{Engine, Error, Execution, Input, gtm, kmeans, mixture};

/// The maximum number of passes of a step that does not settle at a temperature.
const STEP_SWEEPS: u64 = 8;

/// Keeps every checkpoint that a run offers, and the stage and number of passes at each call. Stops the run at call
/// `stop`.
struct Every<C> {
    offered: Vec<C>,
    asked: Vec<(String, u64)>,
    stop: usize,
}

impl<C> Every<C> {
    fn until(stop: usize) -> Self {
        Every { offered: Vec::new(), asked: Vec::new(), stop }
    }

    /// The maximum number of passes between two calls, of which the second is in the stage.
    fn longest(&self, stage: &str) -> u64 {
        let pairs = self.asked.windows(2).filter(|pair| pair[1].0.starts_with(stage));
        pairs.map(|pair| pair[1].1 - pair[0].1).max().expect("a run of some length")
    }
}

impl<C: Clone + Send + 'static> Observer for Every<C> {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.asked.push((progress.stage.to_string(), progress.figure("sweeps").unwrap() as u64));
        if self.asked.len() > self.stop { Control::Stop } else { Control::Continue }
    }
    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.offered.push(checkpoint.downcast_ref::<C>().unwrap().clone());
    }
}

/// Runs once, and resumes from every checkpoint. Then stops the run at some calls, and asserts that no further call
/// follows.
fn goes_on_from_anywhere<C: Clone + Send + 'static, M: PartialEq + std::fmt::Debug>(
    name: &str,
    run: impl Fn(Option<C>, &Execution, &mut Every<C>) -> Result<M, Error>,
) -> Every<C> {
    let three = Execution { engine: Engine::Ranks, ranks: 3, threads: 2, job: None };
    let other = Execution { engine: Engine::Loop, ranks: 1, threads: 2, job: None };
    let mut every = Every::until(usize::MAX);
    let whole = run(None, &three, &mut every).unwrap();
    assert_eq!(every.offered.len(), every.asked.len(), "{name}: one checkpoint a step");
    for (step, checkpoint) in every.offered.iter().enumerate() {
        let again = run(Some(checkpoint.clone()), &other, &mut Every::until(usize::MAX)).unwrap();
        assert_eq!(again, whole, "{name}: ended after step {step}");
    }
    for stop in (0..every.asked.len()).step_by(7) {
        let mut stopped = Every::until(stop);
        let outcome = run(None, &other, &mut stopped);
        assert!(matches!(outcome, Err(Error::Stopped)), "{name}: stopped at call {stop}: {outcome:?}");
        assert_eq!((stopped.asked.len(), stopped.offered.len()), (stop + 1, stop + 1), "{name}");
        assert_eq!(stopped.asked, every.asked[..=stop], "{name}: the passes are those of the whole run");
    }
    every
}

/// The parts of a result that must be bit-identical, without times and the distribution of leaves.
fn of_clusters(model: vector::Model) -> (Vec<u64>, Vec<u32>, u64, u64) {
    let bits = model.centers.iter().map(|x| x.to_bits()).collect();
    (bits, model.labels, model.objective.to_bits(), model.iterations)
}

fn annealed<'a>(name: &str, input: impl Into<vector::Input<'a>>, clusters: usize) {
    let input = input.into();
    let parameters = vector::Parameters { clusters: Some(clusters), ..vector::Parameters::default() };
    goes_on_from_anywhere(name, |from: Option<vector::Checkpoint>, execution, every| {
        match from {
            Some(checkpoint) => vector::resume(input, checkpoint, execution, every),
            None => vector::cluster(input, &parameters, execution, every),
        }
        .map(of_clusters)
    });
}

fn by_k_means<'a>(name: &str, input: impl Into<vector::Input<'a>>, clusters: usize) {
    let input = input.into();
    let parameters = kmeans::Parameters { clusters, starts: 3, ..kmeans::Parameters::default() };
    let every = goes_on_from_anywhere(name, |from: Option<kmeans::Checkpoint>, execution, every| {
        match from {
            Some(checkpoint) => kmeans::resume(input, checkpoint, execution, every),
            None => kmeans::cluster(input, &parameters, execution, every),
        }
        .map(|model| {
            let bits: Vec<u64> = model.centers.iter().chain(&model.starts).map(|x| x.to_bits()).collect();
            (bits, model.labels, model.iterations)
        })
    });
    assert!(every.longest("refining") <= STEP_SWEEPS, "{name}: {}", every.longest("refining"));
}

#[test]
fn clusters_of_rows_of_bits_go_on_from_any_step() {
    let rows = synthetic::bit_templates(4, 40, 100, 0.2, 0.2, 3).0;
    annealed("annealing of bits", &rows, 4);
    by_k_means("k-means of bits", &rows, 4);
}

#[test]
fn clusters_of_sparse_rows_go_on_from_any_step() {
    let (rows, _) = synthetic::topics(4, 40, 200, 30, 5);
    annealed("annealing of sparse rows", &rows, 4);
    by_k_means("k-means of sparse rows", &rows, 4);
}

#[test]
fn clusters_of_numbers_go_on_from_any_step() {
    let (points, _) = synthetic::gaussian_mixture(300, &synthetic::random_components(5, 2, 10.0, 1.5, 2), 2);
    annealed("annealing", &points, 5);
    by_k_means("k-means", &points, 5);
    let parameters =
        vector::Parameters { clusters: Some(4), precision: Precision::F32, ..vector::Parameters::default() };
    goes_on_from_anywhere("annealing in single precision", |from: Option<vector::Checkpoint>, execution, every| {
        match from {
            Some(checkpoint) => vector::resume(&points, checkpoint, execution, every),
            None => vector::cluster(&points, &parameters, execution, every),
        }
        .map(of_clusters)
    });
}

#[test]
fn mixtures_go_on_from_any_step() {
    let (points, _) = synthetic::gaussian_mixture(200, &synthetic::random_components(3, 2, 10.0, 1.5, 2), 2);
    let values = points.values().iter().enumerate().map(|(at, &x)| if at % 9 == 4 { f64::NAN } else { x });
    let gaps = Incomplete::new(values.collect(), 2).unwrap();
    for (name, input) in [("a mixture", Input::from(&points)), ("a mixture of rows with gaps", Input::from(&gaps))] {
        let parameters = mixture::Parameters { components: Some(3), ..mixture::Parameters::default() };
        let every = goes_on_from_anywhere(name, |from: Option<mixture::Checkpoint>, execution, every| {
            match from {
                Some(checkpoint) => mixture::resume(input, checkpoint, execution, every),
                None => mixture::fit(input, &parameters, execution, every),
            }
            .map(|model| {
                let bits: Vec<u64> = model.mixture.numbers().iter().map(|x| x.to_bits()).collect();
                (bits, model.labels, model.sweeps)
            })
        });
        // Before its first sweeps, a fit makes passes for labels and covariances, and more if cells are missing. They
        // belong to the same step.
        assert!(every.longest("fitting") <= 2 * STEP_SWEEPS, "{name}: {}", every.longest("fitting"));
    }
}

#[test]
fn topographic_maps_go_on_from_any_step() {
    let (points, _) = synthetic::gaussian_mixture(150, &synthetic::random_components(4, 3, 10.0, 1.0, 3), 3);
    let parameters = gtm::Parameters { nodes: Some(5), basis: Some(3), ..gtm::Parameters::default() };
    let every = goes_on_from_anywhere("a map", |from: Option<gtm::Checkpoint>, execution, every| {
        match from {
            Some(checkpoint) => gtm::resume(&points, checkpoint, execution, every),
            None => gtm::fit(&points, &parameters, execution, every),
        }
        .map(|model| (model.places.positions.iter().map(|z| z.to_bits()).collect::<Vec<_>>(), model.sweeps))
    });
    assert!(every.longest("fitting") <= STEP_SWEEPS, "{}", every.longest("fitting"));
}
