//! Density-based clustering: the clusters, probabilities and scores of the definition, by brute force; weights, options,
//! layouts, and stops.

use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::hdbscan::{Checkpoint, Model, Parameters, Selection, cluster, resume};
use lehr_mining::vector::OUTLIER;
use lehr_mining::{Engine, Error, Execution};
use lehr_numerics::random::Stream;

/// The distances of random points in the plane: groups of different density, and points between them. With `grid`, the
/// coordinates are whole multiples of 0.1, so many distances are equal.
fn plane(items: usize, seed: u64, grid: bool) -> Vec<Vec<f64>> {
    let stream = Stream::new(seed, "dense groups");
    let place = |item: usize| -> [f64; 2] {
        let (group, width) = (item % 4, [0.2, 0.5, 1.0, 6.0][item % 4]);
        [0, 1].map(|axis: usize| {
            let value = 2.5 * (group * (axis + 1) % 3) as f64 + width * stream.normal((2 * item + axis) as u64);
            if grid { (value * 10.0).round() / 10.0 } else { value }
        })
    };
    let points: Vec<[f64; 2]> = (0..items).map(place).collect();
    points.iter().map(|a| points.iter().map(|b| (a[0] - b[0]).hypot(a[1] - b[1])).collect()).collect()
}

fn matrix(distances: &[Vec<f64>]) -> Dissimilarities {
    let pairs = distances.iter().enumerate().flat_map(|(i, row)| row[i + 1..].iter().copied()).collect();
    Dissimilarities::new(distances.len(), Form::Condensed, Values::F64(pairs), 1.0).unwrap()
}

fn run(distances: &[Vec<f64>], weights: Option<&[f64]>, parameters: &Parameters) -> Model {
    without_clock(cluster(&matrix(distances), weights, parameters, &Execution::default(), &mut Silent).unwrap())
}

fn without_clock(model: Model) -> Model {
    Model { phases: Vec::new(), timers: Vec::new(), imbalance: 1.0, ..model }
}

fn of(min_cluster_size: usize, min_samples: usize) -> Parameters {
    Parameters { min_cluster_size, min_samples: Some(min_samples), ..Parameters::default() }
}

/// A cluster by the definition.
#[derive(Debug)]
struct Group {
    items: Vec<usize>,
    birth: f64,
    /// The items that leave it, and their densities; then the clusters that it splits into, and the density.
    left: Vec<(usize, f64)>,
    inside: Vec<Group>,
    split: f64,
}

impl Group {
    fn stability(&self) -> f64 {
        let split: usize = self.inside.iter().map(|group| group.items.len()).sum();
        let left: f64 = self.left.iter().map(|(_, density)| density - self.birth).sum();
        left + split as f64 * (self.split - self.birth)
    }

    fn death(&self) -> f64 {
        self.left.iter().map(|(_, density)| *density).fold(self.split, f64::max)
    }

    fn densest(&self) -> f64 {
        self.inside.iter().map(Self::densest).fold(self.death(), f64::max)
    }

    /// The best clusters inside, and the sum of their stabilities.
    fn best(&self, is_root: bool) -> (Vec<&Self>, f64) {
        let inside: Vec<(Vec<&Self>, f64)> = self.inside.iter().map(|group| group.best(false)).collect();
        let sum: f64 = inside.iter().map(|(_, value)| value).sum();
        if !is_root && self.stability() >= sum {
            return (vec![self], self.stability());
        }
        (inside.into_iter().flat_map(|(groups, _)| groups).collect(), sum)
    }

    fn all(&self) -> Vec<&Self> {
        std::iter::once(self).chain(self.inside.iter().flat_map(Self::all)).collect()
    }
}

/// The connected parts of some items, if only pairs closer than `distance` are connected.
fn parts(items: &[usize], reach: &[Vec<f64>], distance: f64) -> Vec<Vec<usize>> {
    let mut left = items.to_vec();
    let mut parts = Vec::new();
    while let Some(first) = left.first().copied() {
        let (mut part, mut open) = (Vec::new(), vec![first]);
        left.retain(|&item| item != first);
        while let Some(at) = open.pop() {
            part.push(at);
            let (near, rest): (Vec<usize>, Vec<usize>) = left.iter().partition(|&&other| reach[at][other] < distance);
            open.extend(near);
            left = rest;
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

/// Lowers the distance from one value to the next, and follows the groups.
fn grow(items: Vec<usize>, birth: f64, reach: &[Vec<f64>], levels: &[f64], least: usize) -> Group {
    let mut group = Group { items: items.clone(), birth, left: Vec::new(), inside: Vec::new(), split: 0.0 };
    let mut present = items;
    for (place, &level) in levels.iter().enumerate() {
        let density = 1.0 / level;
        let (mut large, small): (Vec<_>, Vec<_>) =
            parts(&present, reach, level).into_iter().partition(|part| part.len() >= least);
        group.left.extend(small.into_iter().flatten().map(|item| (item, density)));
        match large.len() {
            0 => return group,
            1 => present = large.remove(0),
            _ => {
                group.split = density;
                let next = |part| grow(part, density, reach, &levels[place + 1..], least);
                group.inside = large.into_iter().map(next).collect();
                return group;
            }
        }
    }
    // Items at a distance of 0 never part.
    group.left.extend(present.into_iter().map(|item| (item, f64::INFINITY)));
    group
}

fn by_definition(distances: &[Vec<f64>], parameters: &Parameters) -> Group {
    let items = distances.len();
    let core: Vec<f64> = distances
        .iter()
        .map(|row| {
            let mut row = row.clone();
            row.sort_by(f64::total_cmp);
            row[parameters.min_samples.unwrap() - 1]
        })
        .collect();
    let mutual = |i: usize, j: usize| if i == j { 0.0 } else { distances[i][j].max(core[i]).max(core[j]) };
    let reach: Vec<Vec<f64>> = (0..items).map(|i| (0..items).map(|j| mutual(i, j)).collect()).collect();
    let mut levels: Vec<f64> = reach.iter().flatten().copied().filter(|distance| *distance > 0.0).collect();
    levels.sort_by(|a, b| b.total_cmp(a));
    levels.dedup();
    grow((0..items).collect(), 0.0, &reach, &levels, parameters.min_cluster_size)
}

#[test]
fn clusters_probabilities_and_scores_are_those_of_the_definition() {
    let mut most = 0;
    for (items, seed) in [(12, 1), (30, 2), (47, 3), (70, 4)] {
        for grid in [false, true] {
            for parameters in [of(3, 1), of(3, 3), of(5, 2), of(5, 8)] {
                let distances = plane(items, seed, grid);
                let (model, root) = (run(&distances, None, &parameters), by_definition(&distances, &parameters));
                let what = format!("{items} items, grid {grid}, {parameters:?}");
                let (mut chosen, _) = root.best(true);
                let mut labels = vec![OUTLIER; items];
                let mut probabilities = vec![0.0; items];
                // Members of a chosen cluster are all its items, also those that leave it early.
                chosen.sort_by_key(|group| (std::cmp::Reverse(group.items.len()), group.items[0]));
                for (number, group) in chosen.iter().enumerate() {
                    for part in group.all() {
                        for &(item, density) in &part.left {
                            labels[item] = number as u32;
                            probabilities[item] = (density / group.death()).min(1.0);
                        }
                    }
                    let found = &model.clusters[number];
                    assert_eq!(found.items, group.items.len() as u64, "{what}");
                    assert!((found.stability / group.stability() - 1.0).abs() < 1e-9, "{what}");
                    assert!((found.distance * group.birth - 1.0).abs() < 1e-12, "{what}");
                }
                assert_eq!(model.labels, labels, "{what}");
                assert_eq!(model.noise, labels.iter().filter(|label| **label == OUTLIER).count() as u64);
                let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
                assert!(close(&model.probabilities, &probabilities), "{what}");
                let mut scores = vec![0.0; items];
                for group in root.all() {
                    group.left.iter().for_each(|&(item, density)| scores[item] = 1.0 - density / group.densest());
                }
                assert!(close(&model.outlier_scores, &scores), "{what}");
                assert_eq!(model.tree.len(), root.all().len(), "{what}");
                most = most.max(chosen.len());
            }
        }
    }
    assert!(most > 3, "some of these sets have several clusters");
}

#[test]
fn the_order_of_the_items_does_not_change_their_clusters() {
    let distances = plane(60, 7, true);
    let order: Vec<usize> = (0..60).map(|place| place * 17 % 60).collect();
    let turned: Vec<Vec<f64>> = order.iter().map(|&i| order.iter().map(|&j| distances[i][j]).collect()).collect();
    for parameters in [of(3, 3), of(4, 1)] {
        let (one, other) = (run(&distances, None, &parameters), run(&turned, None, &parameters));
        assert_eq!(one.clusters.len(), other.clusters.len());
        for (place, &item) in order.iter().enumerate() {
            for (other_place, &other_item) in order.iter().enumerate() {
                let together = |model: &Model, a: usize, b: usize| model.labels[a] == model.labels[b];
                assert_eq!(together(&one, item, other_item), together(&other, place, other_place));
            }
            assert_eq!(one.probabilities[item], other.probabilities[place]);
            assert_eq!(one.outlier_scores[item], other.outlier_scores[place]);
        }
    }
}

#[test]
fn a_weight_of_three_is_the_item_three_times() {
    let distances = plane(40, 5, false);
    let weights: Vec<f64> = (0..40).map(|item| [1.0, 3.0][usize::from(item % 5 == 0)]).collect();
    let repeated: Vec<usize> = (0..40).flat_map(|item| vec![item; weights[item] as usize]).collect();
    let rows: Vec<Vec<f64>> = repeated.iter().map(|&i| repeated.iter().map(|&j| distances[i][j]).collect()).collect();
    // The average weight is 1.4, so 5 items of average weight are 7 of the repeated items.
    for (parameters, of_whole) in [
        (of(5, 5), of(7, 7)),
        (of(10, 5), of(14, 7)),
        (Parameters { selection: Selection::Leaf, ..of(5, 5) }, Parameters { selection: Selection::Leaf, ..of(7, 7) }),
        (Parameters { max_cluster_size: Some(10), ..of(5, 5) }, Parameters { max_cluster_size: Some(14), ..of(7, 7) }),
    ] {
        let (weighted, whole) = (run(&distances, Some(&weights), &parameters), run(&rows, None, &of_whole));
        for (place, &item) in repeated.iter().enumerate() {
            assert_eq!(weighted.labels[item], whole.labels[place], "{parameters:?}");
            assert!((weighted.probabilities[item] - whole.probabilities[place]).abs() < 1e-12);
            assert!((weighted.outlier_scores[item] - whole.outlier_scores[place]).abs() < 1e-12);
        }
        let weights = |model: &Model| model.clusters.iter().map(|cluster| cluster.weight).collect::<Vec<_>>();
        assert_eq!(weights(&weighted), weights(&whole));
    }
}

#[test]
fn weights_have_no_unit_28() {
    let distances = plane(60, 3, false);
    let shapes: [Vec<f64>; 2] = [vec![1.0; 60], (0..60).map(|item| [1.0, 2.0, 0.5][item % 3]).collect()];
    for parameters in [of(3, 3), of(6, 4), Parameters { max_cluster_size: Some(12), ..of(3, 3) }] {
        for (at, shape) in shapes.iter().enumerate() {
            let by = |scale: f64| {
                let weights: Vec<f64> = shape.iter().map(|weight| weight * scale).collect();
                run(&distances, Some(&weights), &parameters)
            };
            let one = by(1.0);
            assert!(!one.clusters.is_empty(), "{parameters:?}");
            if at == 0 {
                assert_eq!(one.labels, run(&distances, None, &parameters).labels);
            }
            for scale in [5.0, 1.0 / 300.0, 1.0 / 60.0, 1e-6, 7e200] {
                let other = by(scale);
                assert_eq!(one.labels, other.labels, "{scale} {parameters:?}");
                for (a, b) in one.probabilities.iter().zip(&other.probabilities) {
                    assert!((a - b).abs() < 1e-9);
                }
            }
        }
    }
}

/// Positions on a line: two dense groups of four that together are apart from a third, wider group of five.
const LINE: [f64; 13] = [0.0, 1.0, 2.0, 3.0, 9.0, 10.0, 11.0, 12.0, 40.0, 44.0, 48.0, 52.0, 56.0];

fn line() -> Vec<Vec<f64>> {
    LINE.iter().map(|a| LINE.iter().map(|b| (a - b).abs()).collect()).collect()
}

#[test]
fn options_choose_other_clusters_of_the_same_tree() {
    let labels = |parameters: Parameters| run(&line(), None, &parameters).labels;
    let (small, large) = ([0u32; 4], [0u32; 5]);
    let three: Vec<u32> = [small.map(|_| 1).to_vec(), small.map(|_| 2).to_vec(), large.to_vec()].concat();
    let two: Vec<u32> = [[0; 8].to_vec(), [1; 5].to_vec()].concat();
    assert_eq!(labels(of(3, 2)), three);
    assert_eq!(labels(Parameters { selection: Selection::Leaf, ..of(3, 2) }), three);
    // The two dense groups split off at a distance of 6, and together they are apart from the third at 28.
    assert_eq!(labels(Parameters { epsilon: 7.0, ..of(3, 2) }), two);
    assert_eq!(labels(Parameters { epsilon: 5.0, ..of(3, 2) }), three);
    assert_eq!(labels(Parameters { epsilon: 1e9, ..of(3, 2) }), two, "all items are no cluster unless allowed");
    assert_eq!(labels(Parameters { epsilon: 1e9, allow_single_cluster: true, ..of(3, 2) }), [0; 13]);
    // With groups of at least six, the third group is noise, and the rest does not split.
    let one = run(&line(), None, &of(6, 2));
    assert_eq!((one.clusters.len(), one.noise), (0, 13));
    assert!(one.warnings[0].contains("no cluster was found"), "{:?}", one.warnings);
    let single = run(&line(), None, &Parameters { allow_single_cluster: true, ..of(6, 2) });
    assert_eq!((single.clusters.len(), single.clusters[0].distance), (1, f64::INFINITY));
    // A chosen cluster is not larger than the limit if there are smaller ones inside it.
    let pair = Parameters { epsilon: 0.0, ..of(2, 1) };
    let most = run(&line(), None, &Parameters { max_cluster_size: Some(3), ..pair.clone() });
    assert!(most.clusters.iter().all(|cluster| cluster.items <= 5), "{:?}", most.clusters);
}

#[test]
fn equal_items_never_part() {
    let at = [0.0, 0.0, 0.0, 0.0, 5.0, 5.0, 5.0, 9.0, 40.0];
    let distances: Vec<Vec<f64>> = at.iter().map(|a: &f64| at.iter().map(|b| (a - b).abs()).collect()).collect();
    let model = run(&distances, None, &of(3, 2));
    assert_eq!(model.labels, [0, 0, 0, 0, 1, 1, 1, 1, OUTLIER]);
    assert_eq!(model.probabilities, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0, 0.0]);
    assert_eq!(model.outlier_scores, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
    assert!(model.clusters.iter().all(|cluster| cluster.persistence == 1.0));
}

#[test]
fn the_bits_are_the_same_on_any_layout() {
    let distances = matrix(&plane(300, 9, false));
    let on =
        |execution: &Execution| without_clock(cluster(&distances, None, &of(5, 4), execution, &mut Silent).unwrap());
    let reference = on(&Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None });
    assert!(reference.clusters.len() > 1);
    for execution in super::bits::executions() {
        assert_eq!(on(&execution), reference, "{execution:?}");
    }
}

/// Stops the run after a number of calls, and keeps the last checkpoint.
struct StopAfter {
    calls: usize,
    last: Option<Checkpoint>,
}

impl Observer for StopAfter {
    fn progress(&mut self, _: &Progress) -> Control {
        self.calls = self.calls.saturating_sub(1);
        if self.calls == 0 { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref().cloned();
    }
}

#[test]
fn a_run_stopped_anywhere_goes_on_to_the_same_bits() {
    // So many items that the tree takes several steps.
    let distances = matrix(&plane(2600, 3, false));
    let whole = cluster(&distances, None, &of(5, 4), &Execution::default(), &mut Silent).unwrap();
    let whole = without_clock(whole);
    let mut stops = 0;
    for calls in 1.. {
        let mut observer = StopAfter { calls, last: None };
        let layout = Execution { engine: Engine::Ranks, ranks: 3, threads: 1, job: None };
        match cluster(&distances, None, &of(5, 4), &layout, &mut observer) {
            Ok(model) => {
                assert_eq!(without_clock(model), whole);
                break;
            }
            Err(error) => assert!(matches!(error, Error::Stopped), "{error}"),
        }
        let resumed = resume(&distances, None, observer.last.unwrap(), &Execution::default(), &mut Silent).unwrap();
        assert_eq!(without_clock(resumed), whole, "stopped after {calls} calls");
        stops += 1;
    }
    assert!(stops > 2, "{stops}");
}

#[test]
fn what_cannot_be_clustered_is_told() {
    let line = line();
    let error = |weights: Option<&[f64]>, parameters: &Parameters| {
        cluster(&matrix(&line), weights, parameters, &Execution::default(), &mut Silent).unwrap_err().to_string()
    };
    assert!(error(None, &of(1, 1)).contains("min_cluster_size: expected at least 2"), "{}", error(None, &of(1, 1)));
    assert!(error(None, &of(2, 0)).contains("min_samples"));
    assert!(error(None, &of(2, 14)).contains("at most the number of items"), "{}", error(None, &of(2, 14)));
    assert!(error(None, &Parameters { epsilon: f64::NAN, ..of(2, 1) }).contains("epsilon"));
    assert!(error(Some(&[0.0; 13]), &of(2, 1)).contains("weights"));
    let mut one_is_0 = [1.0; 13];
    one_is_0[3] = 0.0;
    assert!(error(Some(&one_is_0), &of(2, 1)).contains("0 for item 3"));
}
