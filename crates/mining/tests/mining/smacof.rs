//! Multidimensional scaling: the specification's experiments with their numbers, invariances, layouts, and stops.

use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_data::{Points, datasets};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::smacof::{
    Checkpoint, Input, Interpolation, Map, Parameters, Start, Stop, Weighting, align, embed, interpolate, resume,
};
use lehr_mining::{Engine, Error, Execution};
use lehr_numerics::random::Stream;

fn two() -> Execution {
    Execution { engine: Engine::Ranks, ranks: 2, threads: 2, job: None }
}

fn condensed(items: usize, at: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let at = &at;
    (0..items).flat_map(|i| (i + 1..items).map(move |j| at(i, j))).collect()
}

fn matrix(items: usize, at: impl Fn(usize, usize) -> f64) -> Dissimilarities {
    Dissimilarities::new(items, Form::Condensed, Values::F64(condensed(items, at)), 1.0).unwrap()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn of_points(points: &Points) -> Dissimilarities {
    matrix(points.len(), |i, j| distance(points.row(i), points.row(j)))
}

/// Returns random points of the unit cube.
fn cube(items: usize, dimension: usize, seed: u64) -> Vec<f64> {
    let stream = Stream::new(seed, "cube");
    (0..items * dimension).map(|at| stream.uniform(at as u64)).collect()
}

fn run(matrix: &Dissimilarities, parameters: &Parameters) -> Map {
    embed(&Input::new(matrix), parameters, &two(), &mut Silent).unwrap()
}

/// Removes the values that may differ between layouts: times and the distribution of leaves.
fn without_clock(mut map: Map) -> Map {
    map.phases.clear();
    map.timers.clear();
    map.imbalance = 1.0;
    map
}

#[track_caller]
fn falls(map: &Map) {
    for pair in map.history.windows(2).filter(|pair| pair[0].temperature == pair[1].temperature) {
        assert!(pair[1].stress <= pair[0].stress * (1.0 + 1e-13), "{pair:?}");
    }
}

#[test]
fn e19_four_equidistant_points_in_the_plane_are_a_square() {
    let equal = matrix(4, |_, _| 1.0);
    let square = 3.0 - 2.0 * 2f64.sqrt();
    for seed in 0..40 {
        let parameters =
            Parameters { start: Start::Random, starts: 1, seed, tolerance: 1e-12, ..Parameters::default() };
        let map = run(&equal, &parameters);
        assert!((map.raw_stress - square).abs() < 1e-6, "seed {seed}: {}", map.raw_stress);
        assert!((map.stress - square / 6.0).abs() < 1e-6);
        falls(&map);
    }
    let map = run(&equal, &Parameters { dimension: 3, tolerance: 1e-12, ..Parameters::default() });
    assert!(map.raw_stress < 1e-9, "{}", map.raw_stress);
}

#[test]
fn e20_exact_distances_are_returned_with_a_third_of_them_missing_too() {
    let points = cube(100, 2, 20);
    let at = |i: usize| &points[2 * i..2 * i + 2];
    let stream = Stream::new(7, "gaps");
    let exact = matrix(100, |i, j| distance(at(i), at(j)));
    let gaps =
        matrix(100, |i, j| if stream.uniform((i * 100 + j) as u64) < 0.3 { f64::NAN } else { distance(at(i), at(j)) });
    let parameters = Parameters { tolerance: 1e-15, most_iterations: 5000, ..Parameters::default() };
    for (matrix, gaps) in [(&exact, false), (&gaps, true)] {
        let map = run(matrix, &parameters);
        falls(&map);
        assert!(map.stress < 1e-12, "gaps {gaps}: {}", map.stress);
        assert!(align(&map.positions, &points, 2, None, false).unwrap().error < 1e-6);
        // The scale must be right: a method that regularises V shrinks the map.
        let (mut sum, mut other) = (0.0, 0.0);
        for i in 0..100 {
            for j in i + 1..100 {
                sum += distance(map.position(i), map.position(j));
                other += distance(at(i), at(j));
            }
        }
        assert!((sum / other - 1.0).abs() < 1e-6);
    }
    // Each distance is exact to 1e-9.
    let map = run(&exact, &Parameters { tolerance: 1e-15, ..Parameters::default() });
    for i in 0..100 {
        for j in 0..i {
            assert!((distance(map.position(i), map.position(j)) - distance(at(i), at(j))).abs() < 1e-9);
        }
    }
}

#[test]
fn e20_weighted_stress_falls_to_a_stationary_point_and_a_weight_of_zero_is_a_gap() {
    let (iris, _) = datasets::iris();
    let (items, iris) = (75, |i: usize| iris.row(2 * i).to_vec());
    let matrix = matrix(items, |i, j| distance(&iris(i), &iris(j)) + if i % 9 == j % 9 { 0.3 } else { 0.0 });
    let stream = Stream::new(3, "weights");
    let random = |i: usize, j: usize| 0.1 + 9.9 * stream.uniform((i * items + j) as u64);
    let weights = Dissimilarities::new(items, Form::Condensed, Values::F64(condensed(items, random)), 1.0).unwrap();
    let parameters = Parameters { tolerance: 1e-10, most_iterations: 3000, ..Parameters::default() };
    let input = Input { pair_weights: Some(&weights), ..Input::new(&matrix) };
    let sammon = |i: usize, j: usize| 1.0 / matrix.get(i, j).unwrap().max(0.001 * mean_of(&matrix));
    let maps = [
        (embed(&input, &parameters, &two(), &mut Silent).unwrap(), &random as &dyn Fn(usize, usize) -> f64),
        (run(&matrix, &Parameters { weighting: Weighting::Sammon, ..parameters.clone() }), &sammon),
    ];
    for (map, weight) in maps {
        falls(&map);
        assert!(map.solver_steps > 0);
        // At a stationary point, V X = B(X) X; both sides are computed pair by pair.
        let (mut apart, mut size) = (0.0, 0.0);
        for i in 0..items {
            let (mut residual, mut right) = ([0.0; 2], [0.0; 2]);
            for j in (0..items).filter(|&j| j != i) {
                let (a, b) = (map.position(i), map.position(j));
                let d = distance(a, b);
                let w = weight(i.min(j), i.max(j));
                for k in 0..2 {
                    let pull = w * matrix.get(i, j).unwrap() / d * (a[k] - b[k]);
                    residual[k] += w * (a[k] - b[k]) - pull;
                    right[k] += pull;
                }
            }
            apart += residual.iter().map(|x| x * x).sum::<f64>();
            size += right.iter().map(|x| x * x).sum::<f64>();
        }
        assert!((apart / size).sqrt() < 1e-4, "{}", (apart / size).sqrt());
    }
    // A pair of weight 0 gives bit-identical results to a missing pair.
    let is_gap = |i: usize, j: usize| (i + j) % 4 == 1;
    let gaps = self::matrix(items, |i, j| if is_gap(i, j) { f64::NAN } else { matrix.get(i, j).unwrap() });
    let ones = self::matrix(items, |i, j| if is_gap(i, j) { 0.0 } else { 1.0 });
    let input = Input { pair_weights: Some(&ones), ..Input::new(&matrix) };
    let other = Input { pair_weights: Some(&ones), ..Input::new(&gaps) };
    let few = Parameters { most_iterations: 30, start: Start::Random, starts: 1, ..Parameters::default() };
    let by_weight = embed(&input, &few, &two(), &mut Silent).unwrap();
    let by_gap = embed(&other, &few, &two(), &mut Silent).unwrap();
    assert_eq!(by_weight.positions, by_gap.positions);
}

fn mean_of(matrix: &Dissimilarities) -> f64 {
    let items = matrix.items();
    condensed(items, |i, j| matrix.get(i, j).unwrap()).iter().sum::<f64>() / (items * (items - 1) / 2) as f64
}

#[test]
fn e20_parts_that_nothing_ties_together_are_an_error_with_their_sizes() {
    let gaps = matrix(10, |i, j| if (i < 7) == (j < 7) { 1.0 } else { f64::NAN });
    match embed(&Input::new(&gaps), &Parameters::default(), &two(), &mut Silent) {
        Err(error @ Error::Disconnected { .. }) => {
            assert!(error.to_string().contains("2 separate parts, of 7, 3 items"), "{error}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn e21_iris_is_embedded_as_published() {
    let matrix = of_points(&datasets::iris().0);
    let map = run(&matrix, &Parameters { tolerance: 1e-9, ..Parameters::default() });
    falls(&map);
    assert_eq!(map.stop, Stop::Converged);
    assert!((map.stress - 0.001_070_27).abs() < 2e-7, "{}", map.stress);
    assert!((map.stress_1 - 0.032_732_5).abs() < 1e-6, "{}", map.stress_1);
    let mean = map.item_stress.iter().sum::<f64>() / 150.0;
    assert!((mean / map.stress - 1.0).abs() < 1e-9, "{mean}");
    let random = Parameters { start: Start::Random, starts: 20, tolerance: 1e-9, ..Parameters::default() };
    let map = run(&matrix, &random);
    assert_eq!(map.stresses.len(), 20);
    assert!((map.stress - 0.001_074_26).abs() < 5e-6, "{}", map.stress);
}

#[test]
fn e22_annealed_targets_lead_to_the_same_stress_from_every_seed() {
    let (digits, _) = datasets::digits();
    let rows: Vec<f64> = (0..300).flat_map(|i| digits.row(6 * i).to_vec()).collect();
    let matrix = of_points(&Points::new(rows, digits.dimension()).unwrap());
    let stress = |seed: u64| {
        let parameters =
            Parameters { dimension: 3, start: Start::Random, starts: 1, annealed: true, seed, ..Parameters::default() };
        let map = run(&matrix, &parameters);
        falls(&map);
        map.stress
    };
    let stresses: Vec<f64> = (0..10).map(stress).collect();
    let (least, most) = stresses.iter().fold((f64::MAX, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
    assert!((least - 0.0482).abs() < 2e-4 && most / least < 1.01, "{stresses:?}");
}

#[test]
fn e23_new_items_are_placed_where_they_belong() {
    let (points, held) = (cube(1000, 3, 23), 200);
    let at = |i: usize| &points[3 * i..3 * i + 3];
    let map = &points[3 * held..];
    let stream = Stream::new(5, "noise");
    for neighbours in [4, 8, 10, 20] {
        let parameters = Interpolation { neighbours, ..Interpolation::default() };
        let exact = |item: usize, row: &mut [f64]| {
            row.iter_mut().enumerate().for_each(|(j, d)| *d = distance(at(item), at(held + j)));
        };
        let placed = interpolate(map, 3, held, &exact, &parameters, &two()).unwrap();
        for item in 0..held {
            assert!(distance(&placed.positions[3 * item..3 * item + 3], at(item)) < 1e-6, "{neighbours}, {item}");
        }
        if neighbours < 10 {
            continue;
        }
        let noisy = |item: usize, row: &mut [f64]| {
            exact(item, row);
            row.iter_mut().enumerate().for_each(|(j, d)| *d *= 1.0 + 0.01 * stream.normal((item * 800 + j) as u64));
        };
        let placed = interpolate(map, 3, held, &noisy, &parameters, &two()).unwrap();
        let (mut square, mut near) = (0.0, 0.0);
        for item in 0..held {
            square += distance(&placed.positions[3 * item..3 * item + 3], at(item)).powi(2) / held as f64;
            let mut row = vec![0.0; 800];
            exact(item, &mut row);
            row.sort_by(f64::total_cmp);
            near += row[..neighbours].iter().sum::<f64>() / (neighbours * held) as f64;
        }
        let ratio = square.sqrt() / (0.01 * near);
        assert!(ratio <= if neighbours == 10 { 1.5 } else { 1.0 }, "{neighbours} neighbours: {ratio}");
    }
    // Items of the map are placed on themselves.
    let own = |item: usize, row: &mut [f64]| {
        row.iter_mut().enumerate().for_each(|(j, d)| *d = distance(at(held + item), at(held + j)));
    };
    let placed = interpolate(map, 3, 800, &own, &Interpolation::default(), &two()).unwrap();
    assert!(placed.positions.iter().zip(map).all(|(a, b)| (a - b).abs() < 1e-8));
    // Even if the map's distances are inexact, a new item at dissimilarity 0 to an item of the map is placed exactly on
    // it. If there are two such items, it is placed on the first.
    let off: Vec<f64> = map.iter().enumerate().map(|(k, x)| x + 0.1 * stream.normal(k as u64)).collect();
    let twin = |item: usize, row: &mut [f64]| {
        own(item, row);
        row[item + 5] = 0.0;
    };
    let placed = interpolate(&off, 3, 700, &twin, &Interpolation::default(), &two()).unwrap();
    assert_eq!(placed.positions, off[..3 * 700]);
    assert!(placed.errors.iter().all(|error| *error > 0.0), "what is off is told");
    let nothing = |item: usize, row: &mut [f64]| {
        own(item, row);
        if item == 2 {
            row.fill(f64::NAN)
        }
    };
    let error = interpolate(map, 3, 4, &nothing, &Interpolation::default(), &two()).unwrap_err();
    assert!(matches!(&error, Error::Unrelated { count: 1, first, .. } if first == &[2]), "{error}");
    // With `leaves_out`, the item is left out, and the other items have the same positions as without it.
    let leaves_out = Interpolation { leaves_out: true, ..Interpolation::default() };
    let placed = interpolate(map, 3, 4, &nothing, &leaves_out, &two()).unwrap();
    assert!(placed.errors[2].is_nan() && placed.positions[6..9].iter().all(|x| x.is_nan()));
    let whole = interpolate(map, 3, 4, &own, &Interpolation::default(), &two()).unwrap();
    assert_eq!((&placed.positions[..6], &placed.positions[9..]), (&whole.positions[..6], &whole.positions[9..]));
}

#[test]
fn permuted_items_are_the_same_map() {
    let matrix = of_points(&datasets::iris().0);
    let place = |i: usize| (i * 67 + 13) % 150;
    let permuted = self::matrix(150, |i, j| matrix.get(place(i), place(j)).unwrap());
    let parameters = Parameters { tolerance: 1e-12, most_iterations: 5000, ..Parameters::default() };
    let (map, other) = (run(&matrix, &parameters), run(&permuted, &parameters));
    assert!((map.stress / other.stress - 1.0).abs() < 1e-8);
    let reordered: Vec<f64> = (0..150).flat_map(|i| map.position(place(i)).to_vec()).collect();
    assert!(align(&other.positions, &reordered, 2, None, false).unwrap().error < 1e-3);
}

#[test]
fn a_weight_of_three_is_three_items_and_one_of_zero_has_no_say() {
    let points = cube(40, 3, 8);
    let at = |i: usize| &points[3 * i..3 * i + 3];
    let weights: Vec<f64> = (0..40).map(|i| [1.0, 3.0, 2.0, 0.0][i % 4]).collect();
    let matrix = self::matrix(40, |i, j| distance(at(i), at(j)));
    let parameters = Parameters { tolerance: 1e-13, most_iterations: 10_000, ..Parameters::default() };
    let weighted = Input { weights: Some(&weights), ..Input::new(&matrix) };
    let map = embed(&weighted, &parameters, &two(), &mut Silent).unwrap();
    falls(&map);
    let copies: Vec<usize> = (0..40).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let copied = self::matrix(copies.len(), |i, j| distance(at(copies[i]), at(copies[j])));
    // Copies start at the positions of their items, so that both embeddings reach the same optimum.
    let from: Vec<f64> = copies.iter().flat_map(|&i| map.position(i).to_vec()).collect();
    let other = Input { positions: Some(&from), ..Input::new(&copied) };
    let replicated = embed(&other, &parameters, &two(), &mut Silent).unwrap();
    assert!((map.stress / replicated.stress - 1.0).abs() < 1e-6, "{} {}", map.stress, replicated.stress);
    assert!((map.raw_stress / replicated.raw_stress - 1.0).abs() < 1e-6);
    assert!(align(&replicated.positions, &from, 2, None, false).unwrap().error < 1e-3);
}

#[test]
fn fixed_items_stay_and_the_others_find_their_places_around_them() {
    let points = cube(60, 2, 31);
    let at = |i: usize| &points[2 * i..2 * i + 2];
    let fixed: Vec<usize> = (0..20).collect();
    let mut start = points.clone();
    let astray = cube(40, 2, 99);
    start[40..].iter_mut().zip(&astray).for_each(|(x, astray)| *x += 0.3 * (astray - 0.5));
    for has_gaps in [false, true] {
        let matrix = matrix(60, |i, j| if has_gaps && (i + j) % 5 == 2 { f64::NAN } else { distance(at(i), at(j)) });
        let input = Input { positions: Some(&start), fixed: &fixed, ..Input::new(&matrix) };
        let parameters = Parameters { tolerance: 1e-14, most_iterations: 10_000, ..Parameters::default() };
        let map = embed(&input, &parameters, &two(), &mut Silent).unwrap();
        falls(&map);
        assert!(map.positions[..40].iter().zip(&points).all(|(a, b)| (a - b).abs() < 1e-15));
        assert!(map.stress < 1e-10, "{}", map.stress);
        assert!(map.positions.iter().zip(&points).all(|(a, b)| (a - b).abs() < 1e-3));
    }
}

#[test]
fn storage_in_fewer_bits_changes_little() {
    let iris = of_points(&datasets::iris().0);
    let pairs = condensed(150, |i, j| iris.get(i, j).unwrap());
    let largest = pairs.iter().copied().fold(0.0, f64::max);
    let scale = largest / 65534.0;
    let fixed = pairs.iter().map(|value| (value / scale).round() as u16).collect();
    let fixed = Dissimilarities::new(150, Form::Condensed, Values::U16(fixed), scale).unwrap();
    let single = pairs.iter().map(|&value| value as f32).collect();
    let single = Dissimilarities::new(150, Form::Condensed, Values::F32(single), 1.0).unwrap();
    for matrix in [fixed, single] {
        let map = run(&matrix, &Parameters::default());
        assert!((map.stress - 0.001_070_3).abs() < 2e-6, "{}", map.stress);
        assert!(map.history.windows(2).all(|pair| pair[1].stress <= pair[0].stress));
    }
}

fn inputs() -> Vec<(Dissimilarities, Parameters)> {
    let (digits, _) = datasets::digits();
    let rows: Vec<f64> = (0..299).flat_map(|i| digits.row(5 * i).to_vec()).collect();
    let points = Points::new(rows, digits.dimension()).unwrap();
    let full = of_points(&points);
    let gaps = matrix(299, |i, j| if (i * j) % 7 == 1 { f64::NAN } else { full.get(i, j).unwrap() });
    let single = condensed(299, |i, j| full.get(i, j).unwrap()).iter().map(|&value| value as f32).collect();
    let single = Dissimilarities::new(299, Form::Condensed, Values::F32(single), 1.0).unwrap();
    let few = Parameters { most_iterations: 25, ..Parameters::default() };
    vec![
        (full, Parameters { start: Start::Random, starts: 2, ..few.clone() }),
        (gaps, Parameters { dimension: 4, weighting: Weighting::Sammon, ..few.clone() }),
        (single, Parameters { dimension: 3, annealed: true, cooling: 0.7, most_iterations: 5, ..few }),
    ]
}

#[test]
fn a_map_has_the_same_bits_on_every_layout() {
    for (matrix, parameters) in inputs() {
        let run = |engine, ranks, threads| {
            let execution = Execution { engine, ranks, threads, job: None };
            without_clock(embed(&Input::new(&matrix), &parameters, &execution, &mut Silent).unwrap())
        };
        let reference = run(Engine::Ranks, 1, 1);
        for (engine, ranks, threads) in [
            (Engine::Ranks, 2, 2),
            (Engine::Ranks, 3, 2),
            (Engine::Ranks, 8, 2),
            (Engine::MapReduce, 3, 2),
            (Engine::Loop, 1, 1),
            (Engine::Loop, 1, 8),
            (Engine::Ports, 1, 2),
        ] {
            assert_eq!(run(engine, ranks, threads), reference, "{engine}, {ranks} ranks, {threads} threads");
        }
    }
}

/// Stops the run after a number of iterations, and keeps the last checkpoint.
struct StopAfter {
    calls: usize,
    fractions: Vec<f64>,
    last: Option<Checkpoint>,
}

impl Observer for StopAfter {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.fractions.push(progress.fraction.unwrap());
        if self.fractions.len() > self.calls { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref().cloned();
    }
}

#[test]
fn an_embedding_stopped_anywhere_goes_on_to_the_same_bits_on_another_layout() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    for (matrix, parameters) in inputs() {
        let input = Input::new(&matrix);
        let whole = without_clock(embed(&input, &parameters, &two(), &mut Silent).unwrap());
        for calls in (0..).step_by(13) {
            let mut observer = StopAfter { calls, fractions: Vec::new(), last: None };
            match embed(&input, &parameters, &two(), &mut observer) {
                Err(Error::Stopped) => {}
                Ok(map) => {
                    assert_eq!(without_clock(map), whole);
                    assert!(observer.fractions.windows(2).all(|pair| pair[0] <= pair[1] && pair[1] <= 1.0));
                    break;
                }
                Err(error) => panic!("{error}"),
            }
            let last = observer.last.expect("a stop is always handed a checkpoint");
            last.write(&path).unwrap();
            let read = Checkpoint::read(&path).unwrap();
            assert_eq!(read, last);
            let other = Execution { engine: Engine::Loop, ranks: 1, threads: 2, job: None };
            let resumed = resume(&input, read, &other, &mut Silent).unwrap();
            assert_eq!(without_clock(resumed), whole, "stopped after {calls} calls");
        }
    }
    let other = matrix(10, |i, j| (i + j) as f64);
    let checkpoint = Checkpoint::read(&path).unwrap();
    assert!(matches!(resume(&Input::new(&other), checkpoint, &two(), &mut Silent), Err(Error::OtherData { .. })));
}

#[test]
fn what_cannot_be_meant_is_named() {
    let matrix = of_points(&datasets::iris().0);
    let input = Input::new(&matrix);
    let wrong = |parameters: Parameters, input: Input<'_>| {
        embed(&input, &parameters, &two(), &mut Silent).unwrap_err().to_string()
    };
    assert_eq!(
        wrong(Parameters { dimension: 0, ..Parameters::default() }, input),
        "dimension: expected 1 to 64, found 0"
    );
    assert!(wrong(Parameters { tolerance: 0.0, ..Parameters::default() }, input).starts_with("tolerance:"));
    assert!(wrong(Parameters::default(), Input { fixed: &[1], ..input }).starts_with("fixed:"));
    assert!(wrong(Parameters::default(), Input { positions: Some(&[1.0]), ..input }).starts_with("positions:"));
    assert!(wrong(Parameters::default(), Input { weights: Some(&[1.0]), ..input }).starts_with("weights:"));
    let both = Parameters { weighting: Weighting::Sammon, ..Parameters::default() };
    assert!(wrong(both, Input { pair_weights: Some(&matrix), ..input }).starts_with("weighting:"));
    let one = Dissimilarities::new(1, Form::Full, Values::F64(vec![0.0]), 1.0).unwrap();
    assert!(wrong(Parameters::default(), Input::new(&one)).starts_with("dissimilarities:"));
    // It is not an error if all dissimilarities are 0.
    let same = run(&self::matrix(5, |_, _| 0.0), &Parameters::default());
    assert!(same.positions.iter().all(|x| *x == 0.0) && same.stress == 0.0 && same.warnings.len() == 1);
}

#[test]
fn numbers_whose_squares_are_beyond_all_numbers_have_their_stress_or_a_warning() {
    let run_at = |unit: f64, weighting: Weighting| {
        let equal = matrix(4, |_, _| unit);
        run(
            &equal,
            &Parameters { start: Start::Random, starts: 1, tolerance: 1e-12, weighting, ..Parameters::default() },
        )
    };
    for weighting in [Weighting::Equal, Weighting::Sammon, Weighting::InverseSquare] {
        let usual = run_at(1.0, weighting);
        for unit in [1e-170, 1e-150, 1e139] {
            let map = run_at(unit, weighting);
            assert!((map.stress / usual.stress - 1.0).abs() < 1e-6, "{unit}: {} {}", map.stress, usual.stress);
            let times = match weighting {
                Weighting::Equal => [unit, unit],
                Weighting::Sammon => [unit, 1.0],
                Weighting::InverseSquare => [1.0, 1.0],
            };
            let raw = usual.raw_stress * times[0] * times[1];
            let is_beyond = raw == 0.0;
            assert!(map.raw_stress == raw || (map.raw_stress / raw - 1.0).abs() < 1e-6, "{unit}: {}", map.raw_stress);
            let is_told = map.warnings.iter().any(|warning| warning.starts_with("the raw stress is "));
            assert_eq!(is_told, is_beyond, "{unit}: {:?}", map.warnings);
        }
    }
    let (far, heavy) = (matrix(4, |_, _| 1e139), matrix(4, |_, _| 1e100));
    let parameters = Parameters { start: Start::Random, starts: 1, ..Parameters::default() };
    let input = Input { pair_weights: Some(&heavy), ..Input::new(&far) };
    let map = embed(&input, &parameters, &two(), &mut Silent).unwrap();
    assert!(map.stress < 1.0 && map.raw_stress.is_infinite());
    assert!(map.warnings.iter().any(|warning| warning.starts_with("the raw stress is above")), "{:?}", map.warnings);
}
