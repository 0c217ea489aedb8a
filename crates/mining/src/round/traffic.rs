//! Counts the messages between ranks in a run, for experiment E25 (d).
//!
//! In tests, [`drive`] replaces `lehr_ranks::drive`. It passes rounds to the program that record each all-reduce and
//! each gathering before forwarding it.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use lehr_ranks::timing::{Phases, Spread};
use lehr_ranks::trace::Trace;
use lehr_ranks::{CellBytes, Execution, LeafCells, Partition, Pending, Program, Round, Rounds};

/// The messages between ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Traffic {
    /// The all-reduces in order: the name of each round, and the number of 8-byte numbers in each rank's partial.
    pub reduced: Vec<(&'static str, usize)>,
    /// The gatherings in order: for each, the total number of bytes of all ranks, which every rank receives.
    pub gathered: Vec<usize>,
}

thread_local! {
    /// The counter for the runs that this thread starts.
    static COUNT: RefCell<Option<Rc<Count>>> = const { RefCell::new(None) };
}

/// A single cell, which all ranks share.
type Count = LeafCells<Traffic>;

/// Calls `run`, and counts the messages of the programs that `run` starts.
fn counted<R>(run: impl FnOnce() -> R) -> (R, Traffic) {
    let count = Rc::new(Count::new(1, |_| Traffic::default()));
    COUNT.set(Some(count.clone()));
    let result = run();
    COUNT.set(None);
    (result, count.with(0, std::mem::take))
}

/// Runs a program, and counts its messages within [`counted`].
pub(crate) fn drive<P: Program>(execution: &Execution, rows: usize, program: &P) -> Result<P::Output, P::Error> {
    match COUNT.with_borrow(Clone::clone) {
        None => lehr_ranks::drive(execution, rows, program),
        Some(count) => lehr_ranks::drive(execution, rows, &Counted { program, count: &count }),
    }
}

struct Counted<'a, P> {
    program: &'a P,
    count: &'a Count,
}

impl<P: Program> Program for Counted<'_, P> {
    type Output = P::Output;
    type Error = P::Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<P::Output, P::Error> {
        self.program.run(&mut Counting { rounds, count: self.count, gatherings: 0 }).await
    }
}

struct Counting<'a> {
    rounds: &'a mut dyn Rounds,
    count: &'a Count,
    /// The number of gatherings that this rank has made.
    gatherings: usize,
}

impl Rounds for Counting<'_> {
    fn round<'a>(&'a mut self, round: &'a dyn Round, total: &'a mut [f64]) -> Pending<'a, ()> {
        if self.rounds.is_lead() {
            self.count.with(0, |traffic| traffic.reduced.push((round.name(), total.len())));
        }
        self.rounds.round(round, total)
    }

    fn share_bytes<'a>(&'a mut self, cells: &'a dyn CellBytes) -> Pending<'a, ()> {
        let mut bytes = Vec::new();
        self.rounds.leaves().for_each(|leaf| cells.write(leaf, &mut bytes));
        self.count.with(0, |traffic| {
            if traffic.gathered.len() <= self.gatherings {
                traffic.gathered.resize(self.gatherings + 1, 0);
            }
            traffic.gathered[self.gatherings] += bytes.len();
        });
        self.gatherings += 1;
        self.rounds.share_bytes(cells)
    }

    fn agree(&mut self, flag: bool) -> Pending<'_, bool> {
        self.rounds.agree(flag)
    }

    fn is_lead(&self) -> bool {
        self.rounds.is_lead()
    }

    fn is_first_here(&self) -> bool {
        self.rounds.is_first_here()
    }

    fn record<'a>(&'a mut self, trace: &'a Trace) -> Pending<'a, ()> {
        self.rounds.record(trace)
    }

    fn note_phase(&mut self, name: &'static str) {
        self.rounds.note_phase(name);
    }

    fn gather_timers<'a>(&'a mut self, trace: &'a Trace, phases: Phases) -> Pending<'a, Vec<Spread>> {
        self.rounds.gather_timers(trace, phases)
    }

    fn partition(&self) -> Partition {
        self.rounds.partition()
    }

    fn leaves(&self) -> Range<usize> {
        self.rounds.leaves()
    }

    fn imbalance(&self) -> f64 {
        self.rounds.imbalance()
    }
}

mod tests {
    use lehr_data::Points;
    use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
    use lehr_numerics::nearest::Kind;
    use lehr_numerics::random::Stream;

    use super::*;
    use crate::anneal::Silent;
    use crate::{Engine, pairwise, smacof, vector};

    const DIMENSION: usize = 3;
    const DOUBLE: usize = size_of::<f64>();

    /// Runs on several ranks, and asserts that the result equals the result of one rank.
    fn on_ranks<R>(run: impl Fn(&Execution) -> R) -> (R, Traffic) {
        let on = |ranks: usize| {
            let execution = Execution { engine: Engine::Ranks, ranks, threads: ranks.min(2), job: None };
            counted(|| run(&execution))
        };
        let (found, traffic) = on(1);
        for ranks in [2, 5] {
            assert_eq!(on(ranks).1, traffic, "{ranks} ranks");
        }
        (found, traffic)
    }

    fn cube(items: usize) -> Vec<f64> {
        let stream = Stream::new(25, "cube");
        (0..items * DIMENSION).map(|at| stream.uniform(at as u64)).collect()
    }

    fn distances(items: usize) -> Dissimilarities {
        let points = cube(items);
        let row = |i: usize| &points[i * DIMENSION..][..DIMENSION];
        let distance = |i, j| row(i).iter().zip(row(j)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        let pairs = (0..items).flat_map(|i| (i + 1..items).map(move |j| (i, j))).map(|(i, j)| distance(i, j));
        Dissimilarities::new(items, Form::Condensed, Values::F64(pairs.collect()), 1.0).unwrap()
    }

    #[test]
    fn e25d_a_sweep_of_vectors_is_one_sum_of_masses_and_moments() {
        let (rows, clusters) = (700, 4);
        let points = Points::new(cube(rows), DIMENSION).unwrap();
        let centers = cube(clusters);
        let mode = vector::Mode::Mass;
        let cost = vector::Cost::Squared;
        let start =
            vector::Start { centers: &centers, mode, cost, temperature: 0.05, tolerance: 1e-9, most_sweeps: 40 };
        let (found, traffic) = on_ranks(|execution| vector::equilibrium(&points, &start, execution).unwrap());
        let sweeps = found.free_energies.len();
        assert!(sweeps > 2);
        let sweep = ("soft assignment", clusters * (DIMENSION + 1) + 2);
        assert_eq!(traffic.reduced[..sweeps], vec![sweep; sweeps]);
        // Then the division test, with a covariance for each centre.
        let covariance = DIMENSION * (DIMENSION + 1) / 2;
        assert_eq!(traffic.reduced[sweeps..], [("soft assignment", sweep.1 + clusters * covariance)]);
        assert!(traffic.gathered.is_empty(), "every rank has the centres");
    }

    #[test]
    fn e25d_a_whole_run_on_vectors_combines_no_more_than_that() {
        let (rows, clusters) = (700, 4);
        let points = Points::new(cube(rows), DIMENSION).unwrap();
        let parameters = vector::Parameters { clusters: Some(clusters), ..Default::default() };
        let (model, traffic) =
            on_ranks(|execution| vector::cluster(&points, &parameters, execution, &mut Silent).unwrap());
        let most = model.history.iter().map(|step| step.clusters).max().unwrap();
        let covariance = DIMENSION * (DIMENSION + 1) / 2;
        for (name, length) in &traffic.reduced {
            let expected = |k: usize| match *name {
                "soft assignment" => vec![2 + k * (1 + DIMENSION), 2 + k * (1 + DIMENSION + covariance)],
                "covariance" => vec![DIMENSION * DIMENSION],
                "labels" => vec![k * (1 + DIMENSION)],
                "spreads" => vec![k * 2],
                // Each pair of clusters has six sums.
                "borders" => vec![k * (k - 1) / 2 * 6],
                "probabilities" => vec![0],
                "nearest centres" => [Kind::Centers, Kind::Swaps].map(|kind| k * kind.len(DIMENSION)).to_vec(),
                "a centre moved" => vec![1 + k * Kind::Centers.len(DIMENSION)],
                other => panic!("a round of {other} is in no table"),
            };
            assert!((1..=most + 1).any(|k| expected(k).contains(length)), "{name}: {length}, {most} clusters");
        }
        // The labels of the rows, once, at the end.
        assert_eq!(traffic.gathered.len(), 1);
    }

    #[test]
    fn e25d_a_sweep_of_pairs_gathers_the_memberships_and_combines_six_numbers_a_cluster_at_most() {
        let (items, clusters) = (300, 3);
        let matrix = distances(items);
        let mode = vector::Mode::Mass;
        let start = pairwise::Start { items: &[0, 1, 2], mode, temperature: 0.05, tolerance: 1e-9, most_sweeps: 40 };
        let (found, traffic) = on_ranks(|execution| pairwise::equilibrium(&matrix, None, &start, execution).unwrap());
        let sweeps = found.free_energies.len();
        assert!(sweeps > 2);
        let sweep = [("mean dissimilarities", 2 * clusters), ("memberships", 6)];
        assert_eq!(traffic.reduced[..2 * sweeps], sweep.repeat(sweeps));
        assert_eq!(traffic.gathered[..sweeps], vec![items * clusters * DOUBLE; sweeps]);
    }

    #[test]
    fn e25d_an_iteration_of_smacof_gathers_the_positions_and_combines_two_numbers() {
        let (items, dimension) = (300, 2);
        let matrix = distances(items);
        let parameters =
            smacof::Parameters { start: smacof::Start::Random, starts: 1, most_iterations: 12, ..Default::default() };
        let (map, traffic) = on_ranks(|execution| {
            smacof::embed(&smacof::Input::new(&matrix), &parameters, execution, &mut Silent).unwrap()
        });
        assert!(!map.history.is_empty());
        let passes = traffic.reduced.len();
        assert_eq!(traffic.reduced, vec![("Guttman transform", 2); passes]);
        // Each position is accompanied by the stress of its point.
        assert_eq!(traffic.gathered, vec![items * (dimension + 1) * DOUBLE; passes]);
        assert!(passes >= map.history.len() && passes <= map.history.len() + 3, "{passes} passes");
    }
}
