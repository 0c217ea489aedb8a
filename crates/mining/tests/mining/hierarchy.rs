//! Agglomerative clustering: the joins of the greedy method by the definition of each linkage, silhouettes by their
//! definition, weights, layouts, and stops.

use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::hierarchy::{Checkpoint, Linkage, Model, Parameters, cluster, newick, resume};
use lehr_mining::{Engine, Error, Execution};
use lehr_numerics::random::Stream;

const LINKAGES: [Linkage; 5] = [Linkage::Average, Linkage::Complete, Linkage::Single, Linkage::Weighted, Linkage::Ward];

fn place(stream: &Stream, item: usize) -> [f64; 2] {
    [stream.uniform(2 * item as u64), stream.uniform(2 * item as u64 + 1)]
}

/// Returns random points in the plane, in `groups` squares beside each other.
fn points(items: usize, groups: usize, seed: u64) -> Vec<[f64; 2]> {
    let stream = Stream::new(seed, "plane");
    let moved = |item: usize| place(&stream, item).map(|value| value + 5.0 * (item % groups) as f64);
    (0..items).map(moved).collect()
}

fn apart(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

fn distances(points: &[[f64; 2]]) -> Dissimilarities {
    let pairs = points.iter().enumerate().flat_map(|(i, a)| points[i + 1..].iter().map(|b| apart(*a, *b))).collect();
    Dissimilarities::new(points.len(), Form::Condensed, Values::F64(pairs), 1.0).unwrap()
}

fn run(matrix: &Dissimilarities, weights: Option<&[f64]>, parameters: &Parameters) -> Model {
    without_clock(cluster(matrix, weights, parameters, &Execution::default(), &mut Silent).unwrap())
}

fn without_clock(model: Model) -> Model {
    Model { phases: Vec::new(), timers: Vec::new(), imbalance: 1.0, ..model }
}

fn by(linkage: Linkage) -> Parameters {
    Parameters { linkage, ..Parameters::default() }
}

/// A cluster of the greedy method: its items, and the two parts it was joined from.
#[derive(Clone)]
struct Part {
    items: Vec<usize>,
    of: Option<Box<(Part, Part)>>,
}

/// The distance of two clusters by the definition of the linkage.
fn between(a: &Part, b: &Part, linkage: Linkage, points: &[[f64; 2]]) -> f64 {
    let pairs = || a.items.iter().flat_map(|&i| b.items.iter().map(move |&j| apart(points[i], points[j])));
    match linkage {
        Linkage::Average => pairs().sum::<f64>() / (a.items.len() * b.items.len()) as f64,
        Linkage::Complete => pairs().fold(0.0, f64::max),
        Linkage::Single => pairs().fold(f64::INFINITY, f64::min),
        Linkage::Ward => {
            let center = |part: &Part| {
                [0, 1].map(|axis| {
                    part.items.iter().map(|&item| points[item][axis]).sum::<f64>() / part.items.len() as f64
                })
            };
            let (n, m) = (a.items.len() as f64, b.items.len() as f64);
            (2.0 * n * m / (n + m)).sqrt() * apart(center(a), center(b))
        }
        // The mean of the distances to the parts of the cluster that was joined last, and so on down to the items.
        Linkage::Weighted => match (&a.of, &b.of) {
            (None, None) => apart(points[a.items[0]], points[b.items[0]]),
            (Some(_), None) => between(b, a, linkage, points),
            (_, Some(parts)) => {
                let (one, other) = &**parts;
                0.5 * (between(a, one, linkage, points) + between(a, other, linkage, points))
            }
        },
    }
}

/// Joins the two closest clusters again and again. Returns the heights and the clusters after each join.
fn greedy(points: &[[f64; 2]], linkage: Linkage) -> Vec<(f64, Vec<Vec<usize>>)> {
    let mut parts: Vec<Part> = (0..points.len()).map(|item| Part { items: vec![item], of: None }).collect();
    let mut found = Vec::new();
    while parts.len() > 1 {
        let pairs = (0..parts.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
        let distance = |(i, j): (usize, usize)| between(&parts[i], &parts[j], linkage, points);
        let (height, i, j) = pairs.map(|(i, j)| (distance((i, j)), i, j)).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        let (one, other) = (parts.remove(i), parts.remove(j));
        let mut items = [&one.items[..], &other.items].concat();
        items.sort_unstable();
        parts.push(Part { items, of: Some(Box::new((one, other))) });
        let mut clusters: Vec<Vec<usize>> = parts.iter().map(|part| part.items.clone()).collect();
        clusters.sort();
        found.push((height, clusters));
    }
    found
}

/// Returns the clusters of a model as sorted lists of items.
fn clusters(labels: &[u32]) -> Vec<Vec<usize>> {
    let count = labels.iter().max().unwrap() + 1;
    let members = |label| (0..labels.len()).filter(|&item| labels[item] == label).collect();
    let mut clusters: Vec<Vec<usize>> = (0..count).map(members).collect();
    clusters.sort();
    clusters
}

#[test]
fn the_chain_finds_the_joins_of_the_greedy_method_by_the_definition_of_each_linkage() {
    let points = points(45, 4, 1);
    let matrix = distances(&points);
    for linkage in LINKAGES {
        let expected = greedy(&points, linkage);
        for (place, (height, parts)) in expected.iter().enumerate() {
            let wanted = 45 - 1 - place;
            let model = run(&matrix, None, &Parameters { clusters: Some(wanted), ..by(linkage) });
            assert!((model.joins[place].height - height).abs() < 1e-12, "{linkage:?}, join {place}");
            assert_eq!(&clusters(&model.labels), parts, "{linkage:?}, {wanted} clusters");
            // Cutting between this join and the next gives the same clusters.
            let next = expected.get(place + 1).map_or(height + 1.0, |(next, _)| *next);
            let height = Some(0.5 * (height + next));
            assert_eq!(run(&matrix, None, &Parameters { height, ..by(linkage) }).labels, model.labels);
        }
    }
}

#[test]
fn silhouettes_are_those_of_the_definition_and_choose_the_number_of_clusters() {
    let points = points(60, 3, 2);
    let matrix = distances(&points);
    let chosen = run(&matrix, None, &Parameters::default());
    assert_eq!((chosen.clusters.len(), chosen.warnings.len()), (3, 0));
    let mut best = (0, 0.0);
    for wanted in 2..=20 {
        let model = run(&matrix, None, &Parameters { clusters: Some(wanted), ..Parameters::default() });
        let parts = clusters(&model.labels);
        let silhouette = |item: usize| {
            let mean = |part: &[usize]| {
                let others: Vec<f64> = part
                    .iter()
                    .filter(|&&other| other != item)
                    .map(|&other| apart(points[item], points[other]))
                    .collect();
                others.iter().sum::<f64>() / others.len() as f64
            };
            let own = parts.iter().find(|part| part.contains(&item)).unwrap();
            let a = mean(own);
            let b = parts.iter().filter(|part| *part != own).map(|part| mean(part)).fold(f64::INFINITY, f64::min);
            if own.len() == 1 { 0.0 } else { (b - a) / a.max(b) }
        };
        let all: Vec<f64> = (0..60).map(silhouette).collect();
        assert!(all.iter().zip(&model.silhouettes).all(|(a, b)| (a - b).abs() < 1e-12));
        let mean = all.iter().sum::<f64>() / 60.0;
        assert!((model.silhouette - mean).abs() < 1e-12 && model.candidates.is_empty());
        // The comparison leaves out clusters of one item.
        let groups: Vec<&Vec<usize>> = parts.iter().filter(|part| part.len() > 1).collect();
        let silhouette = |item: usize| {
            let Some(own) = groups.iter().find(|part| part.contains(&item)) else { return 0.0 };
            let sum = |part: &[usize]| part.iter().map(|&other| apart(points[item], points[other])).sum::<f64>();
            let a = sum(own) / (own.len() - 1) as f64;
            let others = groups.iter().filter(|part| *part != own);
            let b = others.map(|part| sum(part) / part.len() as f64).fold(f64::INFINITY, f64::min);
            (b - a) / a.max(b)
        };
        let mean = (0..60).map(silhouette).sum::<f64>() / 60.0;
        let candidate = chosen.candidates[wanted - 2];
        assert!(candidate.clusters == wanted && (candidate.silhouette - mean).abs() < 1e-12);
        if mean > best.1 {
            best = (wanted, mean);
        }
    }
    assert_eq!(best.0, 3);
}

#[test]
fn an_outlier_beside_one_group_is_no_division() {
    let far: Vec<[f64; 2]> = points(59, 2, 6).into_iter().chain([[60.0, 60.0]]).collect();
    let model = run(&distances(&far), None, &Parameters::default());
    let sizes: Vec<u64> = model.clusters.iter().map(|cluster| cluster.items).collect();
    assert_eq!(sizes, [30, 29, 1]);
    // The division into the outlier and all others has the larger mean of the definition.
    let two = run(&distances(&far), None, &Parameters { clusters: Some(2), ..Parameters::default() });
    assert!(two.silhouette > model.silhouette && model.candidates[0].silhouette == 0.0);
}

#[test]
fn a_heavy_outlier_is_one_item_and_a_height_is_rounded_as_the_matrix() {
    let at =
        [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [9.0, 0.0], [9.0, 1.0], [10.0, 0.0], [10.0, 1.0], [5.0, 60.0]];
    let weights = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 20.0];
    assert_eq!(run(&distances(&at), Some(&weights), &Parameters::default()).clusters.len(), 3);
    // As a number of 32 bits, 0.1 is above 0.1.
    let pairs = Values::F32(vec![0.1, 1.0, 0.9]);
    let matrix = Dissimilarities::new(3, Form::Condensed, pairs, 1.0).unwrap();
    assert_eq!(run(&matrix, None, &Parameters { height: Some(0.1), ..Parameters::default() }).labels, [0, 0, 1]);
}

#[test]
fn a_cluster_has_the_figures_of_its_items() {
    let points = points(60, 3, 2);
    let model = run(&distances(&points), None, &Parameters::default());
    for (label, cluster) in model.clusters.iter().enumerate() {
        let items: Vec<usize> = (0..60).filter(|&item| model.labels[item] as usize == label).collect();
        let sum = |item: usize| items.iter().map(|&other| apart(points[item], points[other])).sum::<f64>();
        let medoid = items.iter().copied().min_by(|&a, &b| sum(a).total_cmp(&sum(b))).unwrap();
        assert_eq!((cluster.medoid, cluster.items, cluster.weight), (medoid, 20, 20.0));
        let within = items.iter().map(|&item| sum(item)).sum::<f64>() / 400.0;
        assert!((cluster.mean_within - within).abs() < 1e-12);
        let silhouette = items.iter().map(|&item| model.silhouettes[item]).sum::<f64>() / 20.0;
        assert!((cluster.silhouette - silhouette).abs() < 1e-12);
        assert_eq!(cluster.height, model.joins[model.roots[label] - 60].height);
    }
    // In the order of the tree, each cluster is one block.
    let changes = model.order.windows(2).filter(|pair| model.labels[pair[0]] != model.labels[pair[1]]).count();
    assert_eq!(changes, 2);
}

#[test]
fn a_weight_of_three_is_the_item_three_times() {
    let points = points(40, 2, 3);
    let weights: Vec<f64> = (0..40).map(|item| [1.0, 3.0][item % 2]).collect();
    let repeated: Vec<usize> = (0..40).flat_map(|item| vec![item; weights[item] as usize]).collect();
    let many = distances(&repeated.iter().map(|&item| points[item]).collect::<Vec<_>>());
    let heights =
        |model: &Model| model.joins.iter().map(|join| join.height).filter(|height| *height > 0.0).collect::<Vec<_>>();
    for linkage in [Linkage::Average, Linkage::Complete, Linkage::Single, Linkage::Ward] {
        let two = Parameters { clusters: Some(2), ..by(linkage) };
        let (weighted, others) = (run(&distances(&points), Some(&weights), &two), run(&many, None, &two));
        let (a, b) = (heights(&weighted), heights(&others));
        // Equal items are joined at the height 0.
        assert_eq!(a.len(), 39, "{linkage:?}");
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-9), "{linkage:?}");
        assert!(repeated.iter().enumerate().all(|(place, &item)| others.labels[place] == weighted.labels[item]));
    }
}

#[test]
fn the_bits_are_the_same_on_any_layout() {
    let matrix = distances(&points(700, 5, 4));
    let whole = run(&matrix, None, &Parameters::default());
    for (engine, ranks, threads) in [
        (Engine::Ranks, 1, 1),
        (Engine::Ranks, 3, 2),
        (Engine::Ranks, 7, 2),
        (Engine::Loop, 1, 2),
        (Engine::Ports, 1, 3),
        (Engine::MapReduce, 4, 2),
    ] {
        let execution = Execution { engine, ranks, threads, job: None };
        let found = cluster(&matrix, None, &Parameters::default(), &execution, &mut Silent).unwrap();
        assert_eq!(without_clock(found), whole, "{engine}, {ranks} ranks, {threads} threads");
    }
}

/// Stops the run after a number of steps, and keeps the last checkpoint.
struct StopAfter {
    steps: usize,
    seen: Vec<f64>,
    last: Option<Checkpoint>,
}

impl Observer for StopAfter {
    fn progress(&mut self, progress: &Progress) -> Control {
        self.seen.push(progress.fraction.unwrap());
        if self.seen.len() > self.steps { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.last = checkpoint.downcast_ref::<Checkpoint>().cloned();
    }
}

#[test]
fn a_run_stopped_anywhere_goes_on_to_the_same_bits() {
    // So many items need several steps.
    let matrix = distances(&points(3500, 6, 5));
    let whole = run(&matrix, None, &Parameters::default());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    let three = Execution { engine: Engine::Ranks, ranks: 3, threads: 2, job: None };
    for steps in 0.. {
        let mut stop = StopAfter { steps, seen: Vec::new(), last: None };
        match cluster(&matrix, None, &Parameters::default(), &three, &mut stop) {
            Ok(model) => {
                assert_eq!(without_clock(model), whole);
                assert!(stop.seen.windows(2).all(|pair| pair[0] < pair[1]) && steps > 3, "{:?}", stop.seen);
                break;
            }
            Err(error) => assert!(matches!(error, Error::Stopped), "{error}"),
        }
        stop.last.unwrap().write(&path).unwrap();
        let read = Checkpoint::read(&path).unwrap();
        let other = distances(&points(50, 2, 1));
        assert!(matches!(resume(&other, None, read.clone(), &three, &mut Silent), Err(Error::OtherData { .. })));
        let resumed = resume(&matrix, None, read, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(without_clock(resumed), whole, "after {steps} steps");
    }
}

#[test]
fn the_tree_is_written_with_the_heights_as_lengths_of_paths() {
    let names = ["a", "b_1", "it's", "d"];
    let joins = [(0, 1, 1.0), (2, 3, 2.0), (4, 5, 5.0)];
    assert_eq!(newick(&joins, &names), "((a:0.5,'b_1':0.5):2,('it''s':1,d:1):1.5);");
    assert_eq!(newick(&[], &["only"]), "only;");
    // A tree as deep as it has items.
    let deep: Vec<(usize, usize, f64)> =
        (0..20_000).map(|join| (if join == 0 { 0 } else { 20_000 + join }, join + 1, join as f64)).collect();
    let names: Vec<String> = (0..=20_000).map(|item| item.to_string()).collect();
    let text = newick(&deep, &names);
    assert!(text.starts_with("((((") && text.matches('(').count() == 20_000 && text.ends_with(");"));
}

#[test]
fn items_without_groups_are_told() {
    let equal = Dissimilarities::new(4, Form::Condensed, Values::F64(vec![0.0; 6]), 1.0).unwrap();
    let found = run(&equal, None, &Parameters::default());
    assert_eq!((found.labels, found.warnings.len()), (vec![0; 4], 1));
    assert!(found.warnings[0].starts_with("the items form one group"), "{:?}", found.warnings);
    // All pairs are nearly as far apart.
    let stream = Stream::new(7, "noise");
    let pairs = (0..60 * 59 / 2).map(|pair| 10.0 + stream.uniform(pair)).collect();
    let noise = Dissimilarities::new(60, Form::Condensed, Values::F64(pairs), 1.0).unwrap();
    let found = run(&noise, None, &Parameters::default());
    assert!(found.warnings[0].contains("the items hardly form groups"), "{:?}", found.warnings);
    let few = Parameters { max_clusters: 2, ..Parameters::default() };
    let limited = run(&distances(&points(60, 6, 1)), None, &few);
    assert!(limited.warnings[0].contains("limit of 2"), "{:?}", limited.warnings);
    for items in [1, 2] {
        let pairs = vec![1.0; items * (items - 1) / 2];
        let few = Dissimilarities::new(items, Form::Condensed, Values::F64(pairs), 1.0).unwrap();
        let found = run(&few, None, &Parameters::default());
        assert_eq!((found.labels, found.joins.len(), found.order.len()), (vec![0; items], items - 1, items));
    }
}

#[test]
fn what_cannot_be_clustered_is_told() {
    let matrix = distances(&points(5, 1, 1));
    let fail = |matrix: &Dissimilarities, parameters: Parameters| {
        cluster(matrix, None, &parameters, &Execution::default(), &mut Silent).unwrap_err().to_string()
    };
    let with = Parameters::default;
    assert_eq!(fail(&matrix, Parameters { clusters: Some(0), ..with() }), "clusters: expected at least 1, found 0");
    assert_eq!(fail(&matrix, Parameters { max_clusters: 0, ..with() }), "max_clusters: expected at least 1, found 0");
    assert_eq!(fail(&matrix, Parameters { height: Some(-1.0), ..with() }), "height: expected 0 or more, found -1");
    let both = Parameters { height: Some(1.0), clusters: Some(2), ..with() };
    assert!(fail(&matrix, both).starts_with("height: expected a value only without clusters"));
    let many = Parameters { clusters: Some(6), ..with() };
    assert!(fail(&matrix, many).starts_with("you requested 6 clusters, but only 5 rows"));
    let weights = [1.0, 0.0, 1.0, 1.0, 1.0];
    let none = cluster(&matrix, Some(&weights), &with(), &Execution::default(), &mut Silent);
    let expected = "weights: expected numbers above 0, found 0 for item 1 (counted from 0)";
    assert_eq!(none.unwrap_err().to_string(), expected);
    let gap = Dissimilarities::new(3, Form::Condensed, Values::F64(vec![1.0, f64::NAN, 2.0]), 1.0).unwrap();
    assert!(fail(&gap, with()).starts_with("1 pair has no dissimilarity"));
}
