//! Pairwise clustering: the specification's experiments with their numbers, agreement with vector annealing, known
//! optima, layouts, and stops.

use std::path::PathBuf;

use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_data::{Points, datasets, synthetic};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::pairwise::{Checkpoint, Equilibrium, Model, Parameters, Start, cluster, cost, equilibrium, resume};
use lehr_mining::{Engine, Error, Execution, vector};
use lehr_numerics::random::Stream;
use vector::Mode;

use super::physics::check_tree;

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

fn square(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn squares_of(points: &Points) -> Dissimilarities {
    matrix(points.len(), |i, j| square(points.row(i), points.row(j)))
}

fn run(matrix: &Dissimilarities, parameters: &Parameters) -> Model {
    cluster(matrix, None, parameters, &two(), &mut Silent).unwrap()
}

fn clusters(clusters: usize) -> Parameters {
    Parameters { clusters: Some(clusters), ..Parameters::default() }
}

fn at(matrix: &Dissimilarities, items: &[usize], mode: Mode, temperature: f64) -> Equilibrium {
    let start = Start { items, mode, temperature, tolerance: 1e-12, most_sweeps: 200_000 };
    let found = equilibrium(matrix, None, &start, &two()).unwrap();
    assert!(found.converged, "converged at temperature {temperature}");
    found
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected} to {tolerance:e}");
}

/// Returns the adjusted Rand index of two labellings.
fn agreement(a: &[u32], b: &[u32]) -> f64 {
    let pairs = |count: f64| count * (count - 1.0) / 2.0;
    let count = |of: &dyn Fn(usize) -> (u32, u32)| {
        let mut counts = std::collections::BTreeMap::new();
        (0..a.len()).for_each(|i| *counts.entry(of(i)).or_insert(0.0) += 1.0);
        counts.into_values().map(pairs).sum::<f64>()
    };
    let (both, first, second) = (count(&|i| (a[i], b[i])), count(&|i| (a[i], 0)), count(&|i| (b[i], 0)));
    let expected = first * second / pairs(a.len() as f64);
    (both - expected) / (0.5 * (first + second) - expected)
}

/// Removes the values that may differ between layouts: times and the distribution of leaves.
fn without_clock(mut model: Model) -> Model {
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

#[test]
fn e12_squared_distances_of_iris_are_clustered_as_the_points() {
    let (points, species) = datasets::iris();
    let squares = squares_of(&points);
    let starts = [0, 60, 120];
    let centers: Vec<f64> = starts.iter().flat_map(|&i| points.row(i).to_vec()).collect();
    for (mode, free_energy) in [(Mode::Plain, 0.071_155_138_330), (Mode::Mass, 2.264_665_455_386)] {
        let found = at(&squares, &starts, mode, 2.0);
        let start = vector::Start {
            centers: &centers,
            mode,
            cost: vector::Cost::Squared,
            temperature: 2.0,
            tolerance: 1e-26,
            most_sweeps: 200_000,
        };
        let expected = vector::equilibrium(&points, &start, &two()).unwrap();
        close(found.free_energy, free_energy, 1e-8);
        close(found.free_energy, expected.free_energy, 1e-9);
        close(found.mean_cost, expected.mean_cost, 1e-8);
        for k in 0..3 {
            close(found.masses[k], expected.masses[k], 1e-8);
            close(found.critical_temperatures[k], expected.critical_temperatures[k], 1e-4);
            for i in 0..150 {
                close(found.fields[3 * i + k], square(points.row(i), &expected.centers[4 * k..4 * k + 4]), 1e-9);
            }
        }
        let last =
            |energies: &[f64]| energies.windows(2).all(|pair| pair[1] <= pair[0] + 1e-12 * pair[0].abs().max(1.0));
        assert!(last(&found.free_energies));
    }
    close(run(&squares, &clusters(1)).critical_temperature, 8.400_106_856, 1e-7);
    close(cost(&squares, None, &species).unwrap(), 89.2974, 1e-4);
    let distances = matrix(150, |i, j| square(points.row(i), points.row(j)).sqrt());
    close(run(&distances, &clusters(1)).critical_temperature, 1.456_760_306, 1e-8);
    let scale = 50.2 / 65534.0;
    let fixed = condensed(150, |i, j| squares.get(i, j).unwrap()).iter().map(|v| (v / scale).round() as u16).collect();
    let fixed = Dissimilarities::new(150, Form::Condensed, Values::U16(fixed), scale).unwrap();
    close(run(&fixed, &clusters(1)).critical_temperature / 8.400_106_856, 1.0, 1e-6);
}

#[test]
fn divisions_and_merges_explain_every_number_of_clusters() {
    let model = run(
        &squares_of(&datasets::iris().0),
        &Parameters { stop_temperature: Some(0.1), clusters: None, ..Parameters::default() },
    );
    assert!(check_tree(&model.history, &model.splits) > 0);
}

#[test]
fn whole_runs_on_squared_distances_end_as_those_on_points() {
    let (points, _) = datasets::iris();
    let squares = squares_of(&points);
    for (k, optimum) in [(2, 152.347_951_760), (3, 78.851_441_426), (4, 57.228_473_214), (5, 46.446_182_051)] {
        let model = run(&squares, &clusters(k));
        close(model.cost / optimum, 1.0, 1e-6);
        let parameters = vector::Parameters { clusters: Some(k), ..vector::Parameters::default() };
        let other = vector::cluster(&points, &parameters, &two(), &mut Silent).unwrap();
        assert_eq!(model.labels, other.labels, "{k} clusters");
        model
            .probabilities
            .iter()
            .zip(&other.probabilities)
            .for_each(|(of_item, of_point)| close(*of_item, *of_point, 1e-6));
        close(model.cost, other.sum_of_squares, 1e-9 * model.cost);
        close(model.critical_temperature, other.critical_temperature, 1e-7);
        close(cost(&squares, None, &model.labels).unwrap(), model.cost, 1e-9 * model.cost);
    }
}

#[test]
fn e13_blocks_divide_at_their_temperatures_and_follow_the_tanh() {
    let (within, between) = (0.3, 1.0);
    let blocks = matrix(40, |i, j| if (i < 20) == (j < 20) { within } else { between });
    let model = run(&blocks, &clusters(2));
    let critical = (between - within) / 2.0 + within / 40.0;
    close(model.critical_temperature, critical, 1e-6);
    assert!((0..40).all(|i| model.labels[i] == u32::from(i >= 20)));
    for (ratio, order) in [(0.95, 0.379_485), (0.8, 0.710_412), (0.5, 0.957_504)] {
        let found = at(&blocks, &[0, 20], Mode::Mass, ratio * critical);
        close(2.0 * found.memberships[0] - 1.0, order, 1e-6);
        close(2.0 * found.memberships[2 * 30 + 1] - 1.0, order, 1e-6);
    }
    let cold = at(&blocks, &[0, 20], Mode::Mass, 0.02);
    cold.critical_temperatures.iter().for_each(|&critical| close(critical, within / 20.0, 1e-6));
    // Any two halves of a simplex are equally good, but the run must end all the same.
    let simplex = matrix(10, |_, _| 1.0);
    let model = run(&simplex, &clusters(3));
    close(model.critical_temperature, 0.1, 1e-9);
    assert_eq!(model.clusters.len(), 3);
    assert!(model.history.iter().all(|step| step.free_energy.is_finite()));
}

#[test]
fn e14_dissimilarities_that_are_no_distances_are_clustered() {
    let stream = Stream::new(14, "no metric");
    let number = |i: usize, j: usize| 0.2 + 0.8 * stream.uniform((i * 60 + j) as u64);
    let value = |i: usize, j: usize| 0.5 * (number(i, j) + number(j, i));
    let random = matrix(60, value);
    let model = run(&random, &clusters(4));
    assert!((0.042..=0.060).contains(&model.critical_temperature), "{}", model.critical_temperature);
    let mean = condensed(60, value).iter().sum::<f64>() / 1770.0;
    assert!(model.history[0].temperature < 0.12 * mean);
    assert_eq!(model.clusters.len(), 4);
    // A constant c added to all pairs raises the cost of any labels by c (N - K) / 2, and the critical temperature by c
    // / N.
    let shifted = matrix(60, |i, j| value(i, j) + 1.0);
    let other = run(&shifted, &clusters(4));
    close(other.critical_temperature - model.critical_temperature, 1.0 / 60.0, 1e-8);
    let labels: Vec<u32> = (0..60).map(|i| (i * i % 5 + i) as u32 % 4).collect();
    let difference = cost(&shifted, None, &labels).unwrap() - cost(&random, None, &labels).unwrap();
    close(difference, (60.0 - 4.0) / 2.0, 1e-10);
    // Moving a single item to another cluster does not lower the cost.
    for i in 0..60 {
        for k in 0..4 {
            let mut labels = model.labels.clone();
            labels[i] = k;
            assert!(cost(&random, None, &labels).unwrap() >= model.cost * (1.0 - 1e-9), "item {i} in {k}");
        }
    }
}

/// Two groups of points in the plane, `apart` from each other, and the group of each point.
fn two_groups(apart: f64) -> (Points, Vec<u32>) {
    let stream = Stream::new(15, "two groups");
    let side = |i: usize| u32::from(i >= 200);
    let values = (0..800)
        .map(|at| stream.normal(at as u64) + if at % 2 == 0 { apart * f64::from(side(at / 2)) } else { 0.0 })
        .collect();
    (Points::new(values, 2).unwrap(), (0..400).map(side).collect())
}

#[test]
fn e15_missing_pairs_change_neither_labels_nor_means() {
    let (points, groups) = two_groups(10.0);
    let whole = run(&squares_of(&points), &clusters(2));
    close(agreement(&whole.labels, &groups), 1.0, 0.0);
    let stream = Stream::new(16, "missing pairs");
    let masked = |points: &Points, share: f64| {
        matrix(400, |i, j| {
            let is_missing = stream.uniform((i * 400 + j) as u64) < share;
            if is_missing { f64::NAN } else { square(points.row(i), points.row(j)) }
        })
    };
    for share in [0.3, 0.6, 0.9, 0.95] {
        let model = run(&masked(&points, share), &clusters(2));
        close(agreement(&model.labels, &groups), 1.0, 0.0);
        if share == 0.3 {
            for (cluster, other) in model.clusters.iter().zip(&whole.clusters) {
                close(cluster.mean_within / other.mean_within, 1.0, 0.03);
            }
        }
    }
    let (near, groups) = two_groups(5.0);
    for share in [0.0, 0.3, 0.9] {
        let found = agreement(&run(&masked(&near, share), &clusters(2)).labels, &groups);
        assert!(found > 0.93, "{share} missing: {found}");
    }
    let lonely = matrix(20, |i, j| if i == 7 || j == 7 { f64::NAN } else { (i + j) as f64 });
    match cluster(&lonely, None, &clusters(2), &two(), &mut Silent) {
        Err(Error::Unrelated { count: 1, first, .. }) => assert_eq!(first, [7]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_weight_of_three_is_three_items_and_one_of_zero_has_no_say() {
    let (points, _) = synthetic::gaussian_mixture(60, &synthetic::random_components(4, 2, 10.0, 0.9, 3), 3);
    let weights: Vec<f64> = (0..60).map(|i| [1.0, 3.0, 2.0, 0.0][i % 4]).collect();
    let squares = squares_of(&points);
    let model = cluster(&squares, Some(&weights), &clusters(4), &two(), &mut Silent).unwrap();
    let copies: Vec<usize> = (0..60).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let copied = matrix(copies.len(), |i, j| squares.get(copies[i], copies[j]).unwrap());
    let replicated = run(&copied, &clusters(4));
    let labels: Vec<u32> = copies.iter().map(|&i| model.labels[i]).collect();
    assert_eq!(labels, replicated.labels);
    close(model.cost / replicated.cost, 1.0, 1e-9);
    close(model.critical_temperature / replicated.critical_temperature, 1.0, 1e-8);
    // The dissimilarities of items of weight 0 do not matter.
    let other = matrix(60, |i, j| squares.get(i, j).unwrap() * if i % 4 == 3 || j % 4 == 3 { 1.5 } else { 1.0 });
    let moved = cluster(&other, Some(&weights), &clusters(4), &two(), &mut Silent).unwrap();
    let heavy = |model: &Model| (0..60).filter(|i| i % 4 != 3).map(|i| model.labels[i]).collect::<Vec<_>>();
    assert_eq!(heavy(&moved), heavy(&model));
}

#[test]
fn permuted_items_are_clustered_alike() {
    let squares = squares_of(&datasets::iris().0);
    let place = |i: usize| (i * 67 + 13) % 150;
    let permuted = matrix(150, |i, j| squares.get(place(i), place(j)).unwrap());
    for k in [3, 5] {
        let (model, other) = (run(&squares, &clusters(k)), run(&permuted, &clusters(k)));
        let expected: Vec<u32> = (0..150).map(|i| model.labels[place(i)]).collect();
        close(agreement(&other.labels, &expected), 1.0, 0.0);
        close(model.cost / other.cost, 1.0, 1e-9);
    }
}

#[test]
fn medoids_and_representatives_are_members_and_new_items_join_their_like() {
    let (points, species) = datasets::iris();
    let squares = squares_of(&points);
    let model = run(&squares, &clusters(3));
    for (k, cluster) in model.clusters.iter().enumerate() {
        let members: Vec<usize> = (0..150).filter(|&i| model.labels[i] as usize == k).collect();
        assert_eq!(members.len() as u64, cluster.items);
        let mean = |i: usize| members.iter().map(|&j| squares.get(i, j).unwrap()).sum::<f64>() / members.len() as f64;
        let least = members.iter().map(|&i| mean(i)).fold(f64::INFINITY, f64::min);
        close(mean(cluster.medoid), least, 1e-9);
        close(cluster.medoid_mean, least, 1e-9);
        assert!(cluster.representatives.iter().all(|item| members.contains(item)));
        assert!(cluster.mean_nearest > cluster.mean_within);
    }
    assert!(model.probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
    for i in 0..150 {
        let row: Vec<f64> = (0..150).map(|j| squares.get(i, j).unwrap()).collect();
        let (label, membership) = model.assign(&row, None, model.last_temperature).unwrap();
        assert!(membership > 1.0 / 3.0 && membership <= 1.0);
        assert_eq!(label, model.labels[i]);
    }
    assert!(model.assign(&[1.0], None, 1.0).is_err());
    assert!(agreement(&model.labels, &species) > 0.7);
}

#[test]
fn the_number_that_lasts_longest_is_suggested_and_a_final_temperature_ends_the_growth() {
    let (points, groups) = two_groups(10.0);
    let squares = squares_of(&points);
    let model = run(&squares, &Parameters::default());
    let suggestion = model.suggestion.clone().unwrap();
    assert_eq!((suggestion.clusters, model.clusters.len()), (2, 2));
    close(agreement(&model.labels, &groups), 1.0, 0.0);
    let stop = Parameters { stop_temperature: Some(10.0), ..Parameters::default() };
    let model = run(&squares, &stop);
    assert_eq!((model.clusters.len(), model.last_temperature), (2, 10.0));
    assert!(model.suggestion.is_none());
}

/// Returns the path of a data set that is too large for the repository, in the folder that LEHR_DATA names.
fn data(name: &str) -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("LEHR_DATA")?).join(name))
}

#[test]
fn globins_reach_the_known_optimum_in_one_run() {
    // The test does nothing without LEHR_DATA; run `LEHR_DATA=FOLDER cargo test -p lehr-mining --test mining globins`.
    let Some(path) = data("dissim/globin213_dissimilarity.csv.gz") else { return };
    let selection = lehr_data::read::Selection { header: Some(false), ..Default::default() };
    let table = lehr_data::read::points(&path, &selection).unwrap();
    let values = table.values().to_vec();
    let items = table.len();
    let globins = matrix(items, |i, j| 0.5 * (values[i * items + j] + values[j * items + i]));
    let model = run(&globins, &clusters(4));
    close(model.cost, 794.3079, 1e-4);
}

fn inputs() -> Vec<(Dissimilarities, Option<Vec<f64>>, usize)> {
    let (plane, _) = synthetic::gaussian_mixture(300, &synthetic::random_components(5, 2, 10.0, 0.9, 1), 1);
    let squares = squares_of(&plane);
    let gaps = matrix(300, |i, j| if (i * j) % 5 == 1 { f64::NAN } else { squares.get(i, j).unwrap() });
    let single = condensed(300, |i, j| squares.get(i, j).unwrap().sqrt()).iter().map(|&v| v as f32).collect();
    let single = Dissimilarities::new(300, Form::Condensed, Values::F32(single), 1.0).unwrap();
    let weights = (0..300).map(|i| (i % 4) as f64).collect();
    vec![(squares, Some(weights), 5), (gaps, None, 3), (single, None, 4)]
}

#[test]
fn a_clustering_has_the_same_bits_on_every_layout() {
    for (matrix, weights, k) in inputs() {
        let run = |engine, ranks, threads| {
            let execution = Execution { engine, ranks, threads, job: None };
            without_clock(cluster(&matrix, weights.as_deref(), &clusters(k), &execution, &mut Silent).unwrap())
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

/// Stops the run after a number of calls, and keeps the last checkpoint.
struct StopAfter {
    calls: usize,
    seen: Vec<(String, Option<f64>)>,
    last: Option<Checkpoint>,
}

impl Observer for StopAfter {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.seen.push((progress.stage.to_string(), progress.fraction));
        if self.seen.len() > self.calls { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref().cloned();
    }
}

#[test]
fn a_clustering_stopped_anywhere_goes_on_to_the_same_bits_on_another_layout() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    for (matrix, weights, k) in inputs() {
        let weights = weights.as_deref();
        let whole = without_clock(cluster(&matrix, weights, &clusters(k), &two(), &mut Silent).unwrap());
        let mut stages = Vec::new();
        for calls in (0..).step_by(11) {
            let mut observer = StopAfter { calls, seen: Vec::new(), last: None };
            match cluster(&matrix, weights, &clusters(k), &two(), &mut observer) {
                Err(Error::Stopped) => {}
                Ok(model) => {
                    assert_eq!(without_clock(model), whole);
                    assert!(observer.seen.windows(2).all(|pair| pair[0].1 <= pair[1].1 && pair[1].1.unwrap() < 1.0));
                    break;
                }
                Err(error) => panic!("{error}"),
            }
            stages.push(observer.seen.pop().unwrap().0);
            let last = observer.last.expect("a stop is always handed a checkpoint");
            last.write(&path).unwrap();
            let read = Checkpoint::read(&path).unwrap();
            assert_eq!(read, last);
            let other = Execution { engine: Engine::Loop, ranks: 1, threads: 2, job: None };
            let resumed = resume(&matrix, weights, read, &other, &mut Silent).unwrap();
            assert_eq!(without_clock(resumed), whole, "stopped after {calls} calls");
        }
        assert!(stages.iter().any(|stage| stage == "annealing"));
    }
    assert!(lehr_mining::vector::Checkpoint::read(&path).unwrap_err().to_string().contains("pairwise"));
    let other = matrix(10, |i, j| (i + j) as f64);
    let checkpoint = Checkpoint::read(&path).unwrap();
    assert!(matches!(resume(&other, None, checkpoint, &two(), &mut Silent), Err(Error::OtherData { .. })));
}

#[test]
fn what_cannot_be_meant_is_named() {
    let squares = squares_of(&datasets::iris().0);
    let wrong = |parameters: Parameters, weights: Option<&[f64]>| {
        cluster(&squares, weights, &parameters, &two(), &mut Silent).unwrap_err().to_string()
    };
    assert_eq!(wrong(clusters(0), None), "clusters: expected at least 1, found 0");
    assert!(wrong(clusters(151), None).starts_with("you requested 151 clusters, but only 150"));
    assert!(wrong(Parameters { stop_temperature: Some(-1.0), ..Parameters::default() }, None).starts_with("stop_temp"));
    assert!(wrong(clusters(2), Some(&[1.0])).starts_with("weights:"));
    // It is not an error if all dissimilarities are 0.
    let same = run(&matrix(5, |_, _| 0.0), &clusters(2));
    assert_eq!((same.clusters.len(), same.warnings.len(), same.cost), (1, 1, 0.0));
}

#[test]
fn rounding_is_removed_and_reported_by_each_method_of_dissimilarities_28() {
    use lehr_mining::{kmedoids, smacof};
    let (points, _) = two_groups(6.0);
    let exact = squares_of(&points);
    let items = exact.items();
    // The matrix has the rounding errors of `1 - similarity`: the halves differ by one unit in the last place, and the
    // diagonal is not exactly 0.
    let values = |i: usize, j: usize| match exact.get(i, j).unwrap() {
        _ if i == j => -2.2e-16,
        value if i > j => value.next_up(),
        value => value,
    };
    let full = (0..items * items).map(|place| values(place / items, place % items)).collect();
    let rounded = Dissimilarities::new(items, Form::Full, Values::F64(full), 1.0).unwrap();
    let expected = "dissimilarities: corrected rounding errors of at most";
    let found = run(&rounded, &clusters(2));
    assert_eq!(found.labels, run(&exact, &clusters(2)).labels);
    assert!(found.warnings[0].starts_with(expected), "{:?}", found.warnings);
    let parameters = kmedoids::Parameters { clusters: 2, ..kmedoids::Parameters::default() };
    let found = kmedoids::cluster(&rounded, None, &parameters, &two(), &mut Silent).unwrap();
    assert!(found.warnings[0].starts_with(expected), "{:?}", found.warnings);
    let map =
        smacof::embed(&smacof::Input::new(&rounded), &smacof::Parameters::default(), &two(), &mut Silent).unwrap();
    assert!(map.warnings[0].starts_with(expected), "{:?}", map.warnings);
}

#[test]
fn missing_pairs_that_cut_the_items_into_parts_are_refused_by_pairwise_and_embed_alike_28() {
    use lehr_mining::smacof;
    let parts = |cut: usize| matrix(12, |i, j| if (i < cut) == (j < cut) { 1.0 } else { f64::NAN });
    for (cut, expected) in [
        (
            5,
            "pairs without a dissimilarity cut the items into 2 separate parts, of 7, 5 items: expected a chain of pairs with \
             values from each item to all others; outside the largest part: 0, 1, 2, 3, 4 (counted from 0); leave these out",
        ),
        (1, "1 item has no dissimilarity to any other item: 0 (counted from 0); leave it out"),
    ] {
        let of_clusters = cluster(&parts(cut), None, &clusters(2), &two(), &mut Silent).unwrap_err().to_string();
        let (matrix, parameters) = (parts(cut), smacof::Parameters::default());
        let of_map =
            smacof::embed(&smacof::Input::new(&matrix), &parameters, &two(), &mut Silent).unwrap_err().to_string();
        assert!(of_clusters.starts_with(expected), "{of_clusters}");
        assert_eq!(of_clusters, of_map);
    }
}
