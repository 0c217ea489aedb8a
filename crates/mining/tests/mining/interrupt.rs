//! Runs that are cancelled within a pass, and resumed.
#![allow(clippy::disallowed_types, reason = "all threads of a run count together how often they have asked")]

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_data::{Points, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Interrupt, Observer, Progress, Silent};
use lehr_mining::{Engine, Error, Execution, gtm, kmeans, mixture, pairwise, smacof, vector};

/// Cancels a run after its leaves have asked a number of times, and keeps the checkpoint that it then receives.
struct Cut<C> {
    asked: Arc<AtomicUsize>,
    after: usize,
    /// The number of steps that were reported.
    steps: usize,
    begun: Option<C>,
}

impl<C> Cut<C> {
    fn new(after: usize) -> Self {
        Self { asked: Arc::default(), after, steps: 0, begun: None }
    }

    /// The number of times that leaves asked after the run was cancelled.
    fn in_vain(&self) -> usize {
        self.asked.load(Ordering::Relaxed).saturating_sub(self.after)
    }
}

impl<C: Clone + Send + 'static> Observer for Cut<C> {
    fn progress(&mut self, _: &Progress) -> Control {
        self.steps += 1;
        Control::Continue
    }

    fn interrupt(&self) -> Option<Interrupt> {
        let (asked, after) = (self.asked.clone(), self.after);
        // Relaxed ordering suffices, because the counter protects no other data.
        Some(Interrupt::when(move || asked.fetch_add(1, Ordering::Relaxed) >= after))
    }

    fn interrupted(&mut self, checkpoint: &dyn AnyCheckpoint) {
        let begun: &C = checkpoint.downcast_ref().expect("the method's own");
        assert!(self.begun.replace(begun.clone()).is_none(), "handed over once");
    }
}

fn layouts() -> [Execution; 4] {
    let of = |engine, ranks| Execution { engine, ranks, threads: 2, job: None };
    [of(Engine::Ranks, 3), of(Engine::Loop, 1), of(Engine::Ports, 1), of(Engine::MapReduce, 3)]
}

/// Cancels a run after 0, 1, 2, … leaves, then at growing intervals, until the run ends. Each time, the run resumes on
/// another layout.
fn given_up_anywhere<C, M: PartialEq + Debug>(
    leaves: usize,
    fit: impl Fn(&Execution, &mut Cut<C>) -> Result<M, Error>,
    resume: impl Fn(C, &Execution) -> Result<M, Error>,
) {
    let mut never = Cut::new(usize::MAX);
    let whole = fit(&layouts()[0], &mut never).unwrap();
    assert!(never.begun.is_none() && never.steps > 3);
    let (all, mut after, mut cuts, mut gone_on) = (never.asked.load(Ordering::Relaxed), 0, 0, 0);
    while after < all {
        let mut cut = Cut::new(after);
        let (here, there) = (&layouts()[cuts % 4], &layouts()[(cuts + 1) % 4]);
        let outcome = fit(here, &mut cut);
        assert!(matches!(outcome, Err(Error::Stopped)), "after {after} of {all}: {outcome:?}");
        assert!(cut.in_vain() <= leaves, "the rest of a pass asks, nothing more: {} of {leaves}", cut.in_vain());
        let model = match cut.begun {
            Some(begun) => {
                gone_on += 1;
                resume(begun, there)
            }
            // The run was cancelled while it computed its initial state.
            None => {
                assert!(
                    cut.steps == 0 && gone_on == 0,
                    "after {after} of {all}, {} steps, there was a state",
                    cut.steps
                );
                fit(there, &mut Cut::new(usize::MAX))
            }
        };
        assert_eq!(model.unwrap(), whole, "given up after {after} of {all} leaves, {} steps", cut.steps);
        cuts += 1;
        after += after / 3 + 1;
    }
    assert!(cuts > 10 && gone_on > 6, "{gone_on} of {cuts}");
}

/// Writes a checkpoint to a file, and reads it back.
fn read_back<C>(
    begun: C,
    write: impl FnOnce(&C, &std::path::Path) -> Result<(), Error>,
    read: impl FnOnce(&std::path::Path) -> Result<C, Error>,
) -> C {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    write(&begun, &path).unwrap();
    read(&path).unwrap()
}

fn points() -> Points {
    synthetic::gaussian_mixture(600, &synthetic::random_components(5, 2, 10.0, 0.9, 3), 3).0
}

/// The number of leaves for this many rows.
fn leaves(rows: usize) -> usize {
    let partition = lehr_ranks::Partition::new(rows, 1);
    partition.leaves_of(0).len()
}

fn matrix() -> Dissimilarities {
    let points = points();
    let items = 150;
    let row = |i: usize| &points.values()[2 * i..2 * i + 2];
    let distance = |i, j| row(i).iter().zip(row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
    let pairs = (0..items).flat_map(|i| (i + 1..items).map(move |j| (i, j))).map(|(i, j)| distance(i, j));
    Dissimilarities::new(items, Form::Condensed, Values::F64(pairs.collect()), 1.0).unwrap()
}

#[test]
fn an_annealed_clustering_that_is_given_up_anywhere_goes_on_to_the_same_bits() {
    let points = points();
    for precision in [vector::Precision::F64, vector::Precision::F32] {
        let parameters = vector::Parameters { clusters: Some(5), precision, ..Default::default() };
        let plain = |model: vector::Model| (model.labels, model.centers, model.history);
        given_up_anywhere(
            leaves(600),
            |execution, cut| vector::cluster(&points, &parameters, execution, cut).map(plain),
            |begun, execution| {
                let read = read_back(begun, vector::Checkpoint::write, vector::Checkpoint::read);
                vector::resume(&points, read, execution, &mut Silent).map(plain)
            },
        );
    }
}

#[test]
fn k_means_that_is_given_up_anywhere_goes_on_to_the_same_bits() {
    let points = points();
    let parameters = kmeans::Parameters { clusters: 5, starts: 3, ..Default::default() };
    let plain = |model: kmeans::Model| (model.labels, model.centers);
    given_up_anywhere(
        leaves(600),
        |execution, cut| kmeans::cluster(&points, &parameters, execution, cut).map(plain),
        |begun, execution| {
            let read = read_back(begun, kmeans::Checkpoint::write, kmeans::Checkpoint::read);
            kmeans::resume(&points, read, execution, &mut Silent).map(plain)
        },
    );
}

#[test]
fn a_mixture_that_is_given_up_anywhere_goes_on_to_the_same_bits() {
    let points = points();
    let parameters = mixture::Parameters { components: Some(4), ..Default::default() };
    let plain = |model: mixture::Model| (model.labels, model.mixture, model.criteria.log_likelihood.to_bits());
    given_up_anywhere(
        leaves(600),
        |execution, cut| mixture::fit(&points, &parameters, execution, cut).map(plain),
        |begun, execution| {
            let read = read_back(begun, mixture::Checkpoint::write, mixture::Checkpoint::read);
            mixture::resume(&points, read, execution, &mut Silent).map(plain)
        },
    );
}

#[test]
fn a_topographic_map_that_is_given_up_anywhere_goes_on_to_the_same_bits() {
    let points = points();
    let parameters = gtm::Parameters { nodes: Some(5), basis: Some(3), ..Default::default() };
    let plain = |model: gtm::Model| (model.places, model.log_likelihood.to_bits());
    given_up_anywhere(
        leaves(600),
        |execution, cut| gtm::fit(&points, &parameters, execution, cut).map(plain),
        |begun, execution| {
            let read = read_back(begun, gtm::Checkpoint::write, gtm::Checkpoint::read);
            gtm::resume(&points, read, execution, &mut Silent).map(plain)
        },
    );
}

#[test]
fn clusters_of_items_that_are_given_up_anywhere_go_on_to_the_same_bits() {
    let matrix = matrix();
    let parameters = pairwise::Parameters { clusters: Some(5), ..Default::default() };
    let plain = |model: pairwise::Model| (model.labels, model.cost.to_bits(), model.history);
    given_up_anywhere(
        leaves(150),
        |execution, cut| pairwise::cluster(&matrix, None, &parameters, execution, cut).map(plain),
        |begun, execution| {
            let read = read_back(begun, pairwise::Checkpoint::write, pairwise::Checkpoint::read);
            pairwise::resume(&matrix, None, read, execution, &mut Silent).map(plain)
        },
    );
}

#[test]
fn a_map_of_items_that_is_given_up_anywhere_goes_on_to_the_same_bits() {
    let matrix = matrix();
    let input = smacof::Input::new(&matrix);
    // From classical scaling, the items would have the right distances at once.
    let parameters =
        smacof::Parameters { start: smacof::Start::Random, starts: 2, most_iterations: 30, ..Default::default() };
    let plain = |map: smacof::Map| (map.positions, map.stress.to_bits(), map.history.len());
    given_up_anywhere(
        leaves(150),
        |execution, cut| smacof::embed(&input, &parameters, execution, cut).map(plain),
        |begun, execution| {
            let read = read_back(begun, smacof::Checkpoint::write, smacof::Checkpoint::read);
            smacof::resume(&input, read, execution, &mut Silent).map(plain)
        },
    );
}
