//! The number of clusters that a run chooses if none is given.

use lehr_data::synthetic::{Component, bit_templates, gaussian_mixture, lattice, uniform};
use lehr_data::{Points, Sparse, datasets};
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::number::NEEDED;
use lehr_mining::vector::{Checkpoint, Cost, Input, Model, Parameters, cluster, resume};
use lehr_mining::{Engine, Error, Execution};
use lehr_numerics::random::Stream;

use super::acceptance::unpacked;
use super::bits::executions;

fn run(points: &Points) -> Model {
    without_clock(cluster(points, &Parameters::default(), &Execution::default(), &mut Silent).unwrap())
}

fn without_clock(mut model: Model) -> Model {
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

fn number(points: &Points) -> usize {
    run(points).clusters.len()
}

#[test]
fn as_many_clusters_are_chosen_as_there_are_groups() {
    for (sides, each, deviation) in
        [(&[2][..], 20, 0.05), (&[3, 2], 200, 0.05), (&[2, 2, 2], 40, 0.15), (&[7, 7], 60, 0.18), (&[10, 10], 40, 0.12)]
    {
        let groups: usize = sides.iter().product();
        let (points, truth) = lattice(sides, each, deviation, 4);
        let model = run(&points);
        assert_eq!(model.clusters.len(), groups, "{:?}", model.number);
        let wrong = (1..points.len())
            .filter(|&row| (truth[row] == truth[row - 1]) != (model.labels[row] == model.labels[row - 1]))
            .count();
        // Some groups overlap, so a few rows may be in the wrong cluster.
        assert!(wrong * 20 < points.len(), "{wrong} of {}", points.len());
    }
}

#[test]
fn groups_of_unequal_sizes_and_spreads_are_counted_too() {
    let component = |x: f64, y: f64, deviation, weight| Component { center: vec![x, y], deviation, weight };
    let components = [
        component(0.0, 0.0, 1.0, 8.0),
        component(9.0, 0.0, 0.5, 1.0),
        component(0.0, 9.0, 2.0, 4.0),
        component(12.0, 12.0, 0.3, 2.0),
        component(20.0, 3.0, 1.0, 1.0),
    ];
    for seed in 0..3 {
        assert_eq!(number(&gaussian_mixture(2000, &components, seed).0), 5, "seed {seed}");
    }
}

#[test]
fn rows_without_structure_are_one_group() {
    let one = |dimension: usize| [Component { center: vec![0.0; dimension], deviation: 1.0, weight: 1.0 }];
    let mut sets = Vec::new();
    for seed in 0..4 {
        for dimension in [1, 2, 3, 10] {
            sets.push(uniform(600, &vec![(0.0, 1.0); dimension], seed));
            sets.push(gaussian_mixture(600, &one(dimension), seed).0);
        }
        // The next sets are long, skewed, or have more columns than rows.
        sets.push(uniform(600, &[(0.0, 30.0), (0.0, 1.0)], seed));
        let skew = uniform(600, &[(0.0, 1.0), (0.0, 1.0)], seed);
        sets.push(Points::new(skew.values().iter().map(|x| -(1.0 - x).ln()).collect(), 2).unwrap());
        sets.push(gaussian_mixture(60, &one(100), seed).0);
    }
    let mut wrong = Vec::new();
    for (index, points) in sets.iter().enumerate() {
        let number = run(points).number.unwrap();
        if number.clusters == 1 {
            assert!(number.reason().starts_with("1 cluster: in every division"), "{}", number.reason());
        } else {
            wrong.push((index, number.reason()));
        }
    }
    // One cube of ten columns may look divided by chance.
    assert!(wrong.len() <= 1, "{} of {}: {wrong:?}", wrong.len(), sets.len());
}

#[test]
fn few_rows_of_many_columns_are_as_many_groups_as_they_are() {
    for (groups, apart) in [(1, 0.0), (3, 0.4)] {
        let stream = Stream::new(3, "wide rows");
        let at = |row: usize, column: usize| apart * f64::from(u8::from(column % groups == row % groups));
        let value = |i: usize| stream.normal(i as u64) + at(i / 2000, i % 2000);
        let points = Points::new((0..120 * 2000).map(value).collect(), 2000).unwrap();
        let model = run(&points);
        assert_eq!(model.clusters.len(), groups, "{:?}", model.number);
        assert!(groups == 1 || (0..117).all(|row| model.labels[row] == model.labels[row + 3]));
        assert_eq!(model.dimension, 2000);
        // The centres are the means of their rows in all columns of the table.
        for cluster in 0..groups {
            let rows: Vec<usize> = (0..120).filter(|&row| model.labels[row] as usize == cluster).collect();
            for (column, found) in model.centers[cluster * 2000..][..2000].iter().enumerate() {
                let mean = rows.iter().map(|&row| points.row(row)[column]).sum::<f64>() / rows.len() as f64;
                assert!((found - mean).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn what_was_rounded_is_no_structure() {
    let rounded = uniform(2000, &[(-0.5, 12.5), (-0.5, 9.5)], 3).values().iter().map(|x| x.round()).collect();
    assert_eq!(number(&Points::new(rounded, 2).unwrap()), 1);
}

/// Rows of two normal measures, categories of 3, 4 and 3 levels, and a column with two values. The columns of a
/// category together have variance 1. With probability `told`, a category has the level that belongs to the row's
/// group.
fn with_categories(rows: usize, groups: usize, told: f64, seed: u64) -> Points {
    const LEVELS: [usize; 3] = [3, 4, 3];
    let draw = Stream::new(seed, "categories");
    let mut values = Vec::new();
    for row in 0..rows {
        let at = |k: usize| draw.uniform((row * 16 + k) as u64);
        values.extend([draw.normal((row * 16 + 10) as u64), draw.normal((row * 16 + 12) as u64)]);
        for (category, levels) in LEVELS.into_iter().enumerate() {
            let any = (at(category) * levels as f64) as usize;
            let level = if at(category + 3) < told { row % groups % levels } else { any };
            let even = 1.0 / levels as f64;
            let deviation = (levels as f64 * even * (1.0 - even)).sqrt();
            values.extend((0..levels).map(|k| (f64::from(u8::from(k == level)) - even) / deviation));
        }
        values.push(2.0 * f64::from(u8::from(at(6) < 0.4)));
    }
    Points::new(values, 13).unwrap()
}

#[test]
fn levels_of_categories_are_no_structure_unless_several_agree() {
    let found = |told: f64| (0..5).map(|seed| number(&with_categories(900, 3, told, seed))).collect::<Vec<_>>();
    assert_eq!(found(0.0), [1; 5]);
    // If levels were not spread, each of these sets would have 6 clusters or more.
    let three = found(0.85);
    assert!(three.iter().filter(|number| **number == 3).count() >= 4, "{three:?}");
    assert!(three.iter().all(|number| (3..=4).contains(number)), "{three:?}");
}

#[test]
fn rows_at_a_few_corners_are_groups_and_rows_at_all_corners_are_not() {
    let at = |corners: &[[f64; 2]]| {
        let rows = (0..240).flat_map(|row| corners[row % corners.len()]).collect();
        number(&Points::new(rows, 2).unwrap())
    };
    assert_eq!(at(&[[0.0, 0.0], [5.0, 5.0], [10.0, 0.0]]), 3);
    assert_eq!(at(&[[0.0, 0.0], [1.0, 1.0]]), 2);
    assert_eq!(at(&[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), 1);
}

#[test]
fn the_evidence_says_why() {
    let model = run(&lattice(&[3, 2], 200, 0.05, 4).0);
    let number = model.number.unwrap();
    assert_eq!((number.clusters, number.rows, number.limit), (6, 1200, None));
    assert!(number.candidates.windows(2).all(|pair| pair[0].clusters > pair[1].clusters));
    assert!(number.candidates.windows(2).all(|pair| pair[0].mean_cost <= pair[1].mean_cost));
    assert_eq!(number.candidates.last().unwrap().clusters, 1);
    for candidate in number.candidates.iter().filter(|candidate| candidate.clusters > 6) {
        assert!(!candidate.is_separated, "{candidate:?}");
    }
    assert!(number.chosen().separation.unwrap() > 10.0 * NEEDED);
    // All rows were examined, so the mean cost equals the model's, except that cells are not quite at their fixed
    // point.
    assert!((number.chosen().mean_cost / model.objective - 1.0).abs() < 1e-3);
    assert!(
        number.reason().starts_with("6 clusters: the density has a valley between every two neighbouring clusters")
    );
    assert!(number.others().unwrap().starts_with("runners-up: 5 ("), "{:?}", number.others());
}

#[test]
fn a_number_gives_way_where_annealing_divides_rows_that_have_no_valley() {
    // Shops of two sizes: small shops have 3 or 5 people, which form two separate groups on a logarithmic scale, and
    // large shops have 31 or 33. Dividing the large shops by their sales lowers the cost more than dividing the small
    // shops.
    let rows = (0..160).flat_map(|row| {
        let (is_large, step) = (row % 2 == 1, f64::from(row * 37 % 101) / 50.0);
        let people = if is_large { [31.0, 33.0] } else { [3.0, 5.0] }[row as usize / 2 % 2];
        [if is_large { 0.3 } else { 0.003 } * (1.0 + step), 0.4 * f64::ln(people)]
    });
    let points = Points::new(rows.collect(), 2).unwrap();
    let model = run(&points);
    let number = model.number.unwrap();
    assert_eq!(number.clusters, 2, "{number:?}");
    let refused = number.candidates.iter().find(|candidate| candidate.clusters == 3).unwrap();
    assert!(!refused.is_separated && refused.separation.unwrap() < NEEDED, "{refused:?}");
    let parameters = Parameters { clusters: Some(3), ..Parameters::default() };
    let three = cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap();
    assert!((refused.mean_cost / three.objective - 1.0).abs() < 0.02, "{refused:?}, {}", three.objective);
}

#[test]
fn a_chosen_number_gives_the_bits_that_it_gives_where_it_is_asked_for() {
    let (points, _) = lattice(&[4, 3], 50, 0.15, 9);
    let mut chosen = run(&points);
    assert_eq!(chosen.number.take().unwrap().clusters, 12);
    let parameters = Parameters { clusters: Some(12), ..Parameters::default() };
    let asked = without_clock(cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap());
    assert_eq!(chosen, asked);
}

#[test]
fn a_chosen_number_has_the_same_bits_on_every_layout() {
    let weights = (0..3000).map(|row| f64::from(row % 4)).collect();
    let points = lattice(&[5, 3], 200, 0.15, 9).0.with_weights(weights).unwrap();
    let reference = run(&points);
    assert_eq!(reference.clusters.len(), 15);
    for execution in executions() {
        let model = without_clock(cluster(&points, &Parameters::default(), &execution, &mut Silent).unwrap());
        assert_eq!(model, reference, "{execution:?}");
    }
}

#[test]
fn weights_have_no_unit_and_a_row_without_weight_is_not_looked_at() {
    let (points, _) = lattice(&[3, 3], 80, 0.12, 2);
    let of = |weight: fn(usize) -> f64| {
        let weights = (0..points.len()).map(weight).collect();
        run(&points.clone().with_weights(weights).unwrap()).number.unwrap()
    };
    let plain = of(|_| 1.0);
    assert_eq!(plain.clusters, 9);
    assert_eq!(of(|_| 1024.0), plain);
    assert_eq!(of(|row| if row % 2 == 0 { 1.0 } else { 0.0 }).rows, 360);
}

#[test]
fn the_limit_is_told_where_it_was_reached() {
    let (points, _) = lattice(&[7, 7], 60, 0.18, 1);
    let parameters = Parameters { max_clusters: Some(12), ..Parameters::default() };
    let model = cluster(&points, &parameters, &Execution::default(), &mut Silent).unwrap();
    assert!(model.clusters.len() <= 12, "{}", model.clusters.len());
    assert_eq!(model.number.unwrap().limit, Some(12));
    let said =
        "there may be more than 12 clusters, the maximum number for this run: raise max_clusters, or give the number";
    assert!(model.warnings.iter().any(|warning| warning == said), "{:?}", model.warnings);
}

#[test]
fn the_same_rows_have_as_many_clusters_as_bits_as_sparse_rows_and_as_numbers() {
    let plain = Parameters::default();
    let likelihood = Parameters { cost: Cost::Bernoulli { prior: 0.25 }, ..Parameters::default() };
    // Rows of 1,500 columns are projected onto fewer columns.
    for (templates, each, columns, flip) in [(4, 60, 200, 0.05), (3, 80, 1500, 0.05), (1, 240, 200, 0.1)] {
        let bits = bit_templates(templates, each, columns, 0.2, flip, 1).0;
        let numbers = unpacked(&bits);
        let sparse = Sparse::from_points(&numbers).unwrap();
        let rows: [Input<'_>; 3] = [(&bits).into(), (&numbers).into(), (&sparse).into()];
        for input in rows {
            let model = cluster(input, &plain, &Execution::default(), &mut Silent).unwrap();
            assert_eq!(model.clusters.len(), templates, "{:?}", model.number);
        }
        let model = cluster(&bits, &likelihood, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(model.clusters.len(), templates, "{:?}", model.number);
    }
}

#[test]
fn groups_too_small_for_their_cells_are_told_as_a_limit() {
    // Twelve groups of four rows would need at least fifteen cells, but only twelve cells are possible.
    let points = lattice(&[4, 3], 4, 0.01, 3).0;
    let model = run(&points);
    let number = model.number.unwrap();
    assert!(number.clusters == 12 || number.limit.is_some() || number.clusters == 1, "{number:?}");
    if let Some(limit) = number.limit {
        assert!(
            model
                .warnings
                .iter()
                .any(|warning| warning.starts_with(&format!("there may be more than {limit} clusters")))
        );
    }
}

/// Rows that are spread evenly over a sphere, or around places on the sphere.
fn on_sphere(rows: usize, places: &[(f64, f64)], deviation: f64, seed: u64) -> Points {
    let at = |row: usize, noise: &[f64]| match places.get(row % places.len().max(1)) {
        Some((longitude, latitude)) => {
            let (lon, lat) = (longitude.to_radians(), latitude.to_radians());
            [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
                .iter()
                .zip(noise)
                .map(|(at, x)| at + deviation * x)
                .collect()
        }
        None => noise.to_vec(),
    };
    let noise = gaussian_mixture(rows, &[Component { center: vec![0.0; 3], deviation: 1.0, weight: 1.0 }], seed).0;
    let values = (0..rows).flat_map(|row| {
        let position: Vec<f64> = at(row, noise.row(row));
        let length = position.iter().map(|x| x * x).sum::<f64>().sqrt();
        position.into_iter().map(move |x| 6371.0 * x / length).collect::<Vec<_>>()
    });
    Points::new(values.collect(), 3).unwrap()
}

#[test]
fn rows_spread_over_the_globe_are_one_group_and_groups_on_it_are_counted() {
    let wrong: Vec<_> = (0..10)
        .map(|seed| run(&on_sphere(3000, &[], 1.0, seed)).number.unwrap())
        .filter(|number| number.clusters > 1)
        .map(|number| number.reason())
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    // The places are Berlin, Tokyo, Sydney, New York, Lima, Nairobi, and the two poles.
    let places = [(13., 52.), (140., 36.), (151., -34.), (-74., 41.), (-77., -12.), (37., -1.), (0., 90.), (0., -90.)];
    for (seed, deviation) in [(0, 0.02), (1, 0.1)] {
        assert_eq!(number(&on_sphere(2400, &places, deviation, seed)), 8, "{deviation}");
    }
    // One wide group is not divided.
    assert_eq!(number(&on_sphere(3000, &[(100., 0.)], 0.5, 2)), 1);
}

#[test]
fn iris_is_two_groups_and_wine_three_where_columns_are_comparable() {
    assert_eq!(number(&datasets::iris().0), 2);
    let wine = datasets::wine().0;
    let dimension = wine.dimension();
    let moments = |column: usize| {
        let values: Vec<f64> = wine.column(column).collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let square = values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / values.len() as f64;
        (mean, square.sqrt())
    };
    let moments: Vec<(f64, f64)> = (0..dimension).map(moments).collect();
    let scaled = (0..wine.len())
        .flat_map(|row| wine.row(row).iter().zip(&moments).map(|(x, (mean, spread))| (x - mean) / spread));
    assert_eq!(number(&Points::new(scaled.collect(), dimension).unwrap()), 3);
}

#[test]
fn positions_that_rows_share_are_groups_however_narrow() {
    for width in [0.0, 1e-7] {
        let values = (0..60).map(|row| [0.0, 1.0, 5.0][row % 3] + width * (row / 3) as f64 / 20.0).collect();
        let model = run(&Points::new(values, 1).unwrap());
        assert_eq!(model.clusters.len(), 3, "{:?}", model.number);
        assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    }
}

#[test]
fn a_few_rows_are_one_group_rather_than_a_guess() {
    for rows in 1..8 {
        let points = Points::new((0..rows).map(|row| f64::from(row * row)).collect(), 1).unwrap();
        let model = run(&points);
        assert_eq!(model.clusters.len(), 1, "{rows} rows: {:?}", model.number);
    }
}

/// Stops the run after the first step of annealing, and keeps the checkpoint.
#[derive(Default)]
struct Stopping(Option<Checkpoint>);

impl Observer for Stopping {
    fn progress(&mut self, progress: &Progress) -> Control {
        if progress.stage == "annealing" { Control::Stop } else { Control::Continue }
    }
    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.0 = checkpoint.downcast_ref().cloned();
    }
}

/// Stops the run while the number is chosen, when this many cells are left.
struct StopsAt(f64);

impl Observer for StopsAt {
    fn progress(&mut self, progress: &Progress) -> Control {
        assert!(progress.stage == "choosing the number" && progress.fraction.is_none());
        if progress.figure("clusters") == Some(self.0) { Control::Stop } else { Control::Continue }
    }
}

#[test]
fn a_run_is_stopped_while_it_chooses() {
    let (points, _) = lattice(&[4, 3], 50, 0.15, 9);
    let stopped = cluster(&points, &Parameters::default(), &Execution::default(), &mut StopsAt(9.0));
    assert!(matches!(stopped, Err(Error::Stopped)));
}

#[test]
fn a_run_goes_on_with_the_number_that_it_had_chosen() {
    let (points, _) = lattice(&[4, 3], 50, 0.15, 9);
    let whole = run(&points);
    let mut stopping = Stopping::default();
    let one = Execution { engine: Engine::Ranks, ranks: 2, threads: 2, job: None };
    assert!(matches!(cluster(&points, &Parameters::default(), &one, &mut stopping), Err(Error::Stopped)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("checkpoint");
    stopping.0.unwrap().write(&path).unwrap();
    let resumed = resume(&points, Checkpoint::read(&path).unwrap(), &Execution::default(), &mut Silent).unwrap();
    assert_eq!(without_clock(resumed), whole);
}
