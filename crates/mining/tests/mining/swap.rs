//! The search by swaps after annealing: the optima that it escapes, and the cases in which it is left out.

use lehr_data::{Points, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::vector::{Checkpoint, Model, Parameters, cluster, resume};
use lehr_mining::{Engine, Error, Execution, kmeans};
use lehr_numerics::random::Stream;

/// Rows without structure have many optima. In these squares, annealing, swaps and breathing steps end in an optimum
/// that is not the lowest.
const SQUARES: [u64; 6] = [5, 18, 41, 127, 157, 271];
const CLUSTERS: usize = 9;

fn square(number: u64) -> Points {
    let stream = Stream::new(number, "uniform square");
    Points::new((0..240).map(|index| stream.uniform(index)).collect(), 2).unwrap()
}

fn annealed(points: &Points, clusters: usize) -> Model {
    annealed_with(points, clusters, Parameters::default().patience)
}

fn annealed_with(points: &Points, clusters: usize, patience: usize) -> Model {
    let parameters = Parameters { clusters: Some(clusters), patience, ..Parameters::default() };
    cluster(points, &parameters, &Execution::default(), &mut Silent).unwrap()
}

fn least_of_many_starts(points: &Points, clusters: usize, starts: usize) -> f64 {
    let parameters = kmeans::Parameters { clusters, starts, ..kmeans::Parameters::default() };
    let model = kmeans::cluster(points, &parameters, &Execution::default(), &mut Silent).unwrap();
    sum_of_squares(points, &model.centers)
}

fn sum_of_squares(points: &Points, centers: &[f64]) -> f64 {
    let nearest = |row: &[f64]| {
        let squared = |center: &[f64]| row.iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
        centers.chunks_exact(row.len()).map(squared).fold(f64::INFINITY, f64::min)
    };
    (0..points.len()).map(|row| nearest(points.row(row))).sum()
}

#[test]
fn an_optimum_that_no_swap_and_no_breath_betters_is_left_by_a_disturbance() {
    for number in SQUARES {
        let points = square(number);
        let least = least_of_many_starts(&points, CLUSTERS, 500);
        let found = sum_of_squares(&points, &annealed(&points, CLUSTERS).centers);
        assert!(found <= least * (1.0 + 1e-9), "square {number}: {found}, but {least} by many starts");
    }
}

/// The first square in which no trial improves the result of annealing.
fn unbettered() -> u64 {
    (0..300).find(|&number| annealed(&square(number), CLUSTERS).finish.taken == 0).expect("one in three is such")
}

#[test]
fn who_has_more_patience_searches_on_where_a_first_look_betters_nothing() {
    let points = square(unbettered());
    let patience = Parameters::default().patience;
    let [same, more] = [patience, patience + 1].map(|patience| annealed_with(&points, CLUSTERS, patience).finish.tried);
    // In addition to as many careful trials and six breathing steps, there are twice as many perturbations.
    assert!(more > same + 40, "{same} and {more}");
}

#[test]
#[ignore = "half an hour in a debug build; `cargo test --release -p lehr-mining --test mining -- --ignored squares` takes a minute"]
fn few_of_300_squares_end_above_the_best_of_500_starts() {
    let (mut above, mut unbettered, mut unbettered_above) = (0, 0, 0);
    for number in 0..300 {
        let points = square(number);
        let model = annealed(&points, CLUSTERS);
        let is_above =
            sum_of_squares(&points, &model.centers) > least_of_many_starts(&points, CLUSTERS, 500) * (1.0 + 1e-9);
        above += usize::from(is_above);
        unbettered += usize::from(model.finish.taken == 0);
        unbettered_above += usize::from(is_above && model.finish.taken == 0);
    }
    let counts = format!("{above} of 300 above; {unbettered} unbettered, of which {unbettered_above} above");
    assert!(above <= 36 && unbettered_above <= 12, "{counts}");
}

/// Counts down the calls, and stops the run at 0.
struct StopAt {
    calls: usize,
    last: Option<Checkpoint>,
}

impl Observer for StopAt {
    fn progress(&mut self, _: &Progress) -> Control {
        self.calls -= 1;
        if self.calls == 0 { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref().cloned();
    }
}

#[test]
fn a_search_that_is_stopped_anywhere_goes_on_to_the_same_bits_elsewhere() {
    // These searches go through careful trials and breathing steps, and beyond.
    for number in [SQUARES[0], unbettered()] {
        let points = square(number);
        let parameters = Parameters { clusters: Some(CLUSTERS), ..Parameters::default() };
        let mut counting = StopAt { calls: usize::MAX, last: None };
        let comparable = |mut model: Model| {
            (model.phases, model.timers, model.imbalance) = (Vec::new(), Vec::new(), 1.0);
            model
        };
        let whole = comparable(cluster(&points, &parameters, &Execution::default(), &mut counting).unwrap());
        assert_eq!(whole.finish.taken > 0, number == SQUARES[0], "{:?}", whole.finish);
        assert!(whole.finish.tried > 40, "{:?}", whole.finish);
        let two = Execution { engine: Engine::Ranks, ranks: 2, threads: 2, job: None };
        for calls in 1..usize::MAX - counting.calls {
            let mut observer = StopAt { calls, last: None };
            let stopped = cluster(&points, &parameters, &Execution::default(), &mut observer);
            assert!(matches!(stopped, Err(Error::Stopped)), "square {number} at call {calls}");
            let last = observer.last.expect("a run that is stopped has a checkpoint");
            let resumed = resume(&points, last, &two, &mut Silent).unwrap();
            assert_eq!(comparable(resumed), whole, "square {number}, stopped at call {calls}");
        }
    }
}

#[test]
fn where_clusters_lie_far_apart_nothing_is_overshot_and_nothing_tried() {
    for (components, far) in [(7, 0.05), (7, 0.8)] {
        let (points, _) =
            synthetic::gaussian_mixture(1400, &synthetic::random_components(components, 2, 10.0, far, 3), 3);
        let model = annealed(&points, components);
        let least = least_of_many_starts(&points, components, 50);
        let found = sum_of_squares(&points, &model.centers);
        assert!(found <= least * (1.0 + 1e-9), "spread {far}: {found}, but {least} by many starts");
        assert_eq!(model.finish.tried == 0, far < 0.1, "spread {far}");
        assert_eq!(model.finish.overshot.is_none(), far < 0.1, "spread {far}");
    }
}
