//! Rows of bits with Bernoulli costs. Results are compared with closed forms and with a plain loop over rows and
//! centres. Other tests check weights, layouts, stops and models.

use lehr_data::{Fingerprints, Points, Sparse, synthetic};
use lehr_mining::agreement::Agreement;
use lehr_mining::anneal::{AnyCheckpoint, Control, Observer, Progress, Silent};
use lehr_mining::vector::{
    Centroids, Checkpoint, Cost, Equilibrium, Input, Mode, Model, Parameters, Precision, Start, cluster, equilibrium,
    resume,
};
use lehr_mining::{Engine, Error, Execution};
use lehr_numerics::factor::leading_eigenpair;
use lehr_numerics::random::Stream;

use super::bits::executions;

const WITHOUT_PRIOR: Cost = Cost::Bernoulli { prior: 0.0 };

fn run(rows: &Fingerprints, parameters: &Parameters) -> Model {
    cluster(rows, parameters, &Execution::default(), &mut Silent).unwrap()
}

fn parameters(clusters: usize, cost: Cost) -> Parameters {
    Parameters { clusters: Some(clusters), cost, ..Parameters::default() }
}

fn at(rows: &Fingerprints, start: &Start<'_>) -> Equilibrium {
    equilibrium(rows, start, &Execution::default()).unwrap()
}

fn is_set(rows: &Fingerprints, row: usize, j: usize) -> bool {
    rows.row(row)[j / 64] >> (j % 64) & 1 == 1
}

fn total_weight(rows: &Fingerprints) -> f64 {
    (0..rows.len()).map(|row| rows.weight(row)).sum()
}

/// The weight of one row in the unit of the prior, which counts rows.
fn row_weight(rows: &Fingerprints) -> f64 {
    (0..rows.len()).map(|row| rows.weight(row).powi(2)).sum::<f64>() / total_weight(rows)
}

fn frequencies(rows: &Fingerprints) -> Vec<f64> {
    let ones = |j: usize| (0..rows.len()).filter(|&row| is_set(rows, row, j)).map(|row| rows.weight(row)).sum::<f64>();
    (0..rows.bits()).map(|j| ones(j) / total_weight(rows)).collect()
}

/// The cost of a row at these frequencies, from the definition. A bit that cannot be set, and is not set, costs
/// nothing.
fn cost(rows: &Fingerprints, row: usize, frequencies: &[f64]) -> f64 {
    let column = |(j, &y): (usize, &f64)| -if is_set(rows, row, j) { y.ln() } else { (1.0 - y).ln() };
    frequencies.iter().enumerate().map(column).sum()
}

/// Weighted rows of overlapping templates, so that clusters are not obvious.
fn compounds() -> Fingerprints {
    let rows = synthetic::bit_templates(5, 80, 90, 0.2, 0.15, 3).0;
    let weights = (0..rows.len()).map(|row| (row % 4) as f64).collect();
    rows.with_weights(weights).unwrap()
}

/// Removes the values that may differ between runs: times and the distribution of leaves.
fn comparable(mut model: Model) -> Model {
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

#[track_caller]
fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} for {expected}");
}

/// The rows with two more columns: one is always set, the other never.
fn with_constant_columns(rows: &Fingerprints) -> Fingerprints {
    let bits = rows.bits() + 2;
    let mut words = vec![0; rows.len() * bits.div_ceil(64)];
    for (row, words) in words.chunks_exact_mut(bits.div_ceil(64)).enumerate() {
        (0..rows.bits()).filter(|&j| is_set(rows, row, j)).for_each(|j| words[j / 64] |= 1 << (j % 64));
        words[rows.bits() / 64] |= 1 << (rows.bits() % 64);
    }
    Fingerprints::new(words, bits).unwrap()
}

/// The leading eigenvalue of the covariance of columns, in units of the deviation of a bit of frequency `(ones + 2 b) /
/// (n + 4 b)`. Constant columns are left out.
fn leading_correlation(rows: &Fingerprints, prior: f64) -> f64 {
    let (means, n) = (frequencies(rows), total_weight(rows));
    let varying: Vec<usize> = (0..rows.bits()).filter(|&j| means[j] > 0.0 && means[j] < 1.0).collect();
    let deviation = |j: usize| {
        let y = (n * means[j] + 2.0 * prior) / (n + 4.0 * prior);
        (y * (1.0 - y)).sqrt()
    };
    let of = |row: usize, j: usize| (f64::from(u8::from(is_set(rows, row, j))) - means[j]) / deviation(j);
    let dimension = varying.len();
    let mut matrix = vec![0.0; dimension * dimension];
    for row in 0..rows.len() {
        for (a, &i) in varying.iter().enumerate() {
            for (b, &j) in varying.iter().enumerate().take(a + 1) {
                matrix[a * dimension + b] += rows.weight(row) / n * of(row, i) * of(row, j);
            }
        }
    }
    leading_eigenpair(dimension, &matrix).unwrap().0
}

#[test]
fn e10_the_critical_temperature_of_bernoulli_costs_is_the_leading_eigenvalue_of_the_correlations() {
    // With up to 64 columns, the covariance is formed; with more, it is not. Ten columns are included because other
    // costs store rows of up to 16 bits as numbers.
    for bits in [10, 40, 100] {
        let rows = with_constant_columns(&synthetic::bit_templates(3, 150, bits, 0.3, 0.2, 4).0);
        let critical = leading_correlation(&rows, 0.0);
        let found = run(&rows, &parameters(2, WITHOUT_PRIOR)).critical_temperature;
        close(found, critical, 1e-6 * critical);
        // Two copies of the single centre are moved apart a little. Above the critical temperature they coincide again;
        // below, they move farther apart.
        let middle = frequencies(&rows);
        let stream = Stream::new(5, "apart");
        let moved = |sign: f64| {
            let of = |(j, y): (usize, &f64)| y + 0.05 * sign * y * (1.0 - y) * (stream.uniform(j as u64) - 0.5);
            middle.iter().enumerate().map(of).collect::<Vec<f64>>()
        };
        let centers = [moved(1.0), moved(-1.0)].concat();
        let apart = |share: f64| {
            let start = Start {
                centers: &centers,
                mode: Mode::Mass,
                cost: WITHOUT_PRIOR,
                temperature: share * critical,
                tolerance: 1e-26,
                most_sweeps: 20_000,
            };
            let found = at(&rows, &start);
            assert!(found.centers.iter().all(|y| y.is_finite()));
            let (a, b) = found.centers.split_at(rows.bits());
            a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(apart(1.03) < 1e-9, "{bits} columns: {}", apart(1.03));
        assert!(apart(0.97) > 1e-2, "{bits} columns: {}", apart(0.97));
    }
}

#[test]
fn a_prior_lowers_the_critical_temperature_by_what_two_halves_have_of_it() {
    let rows = compounds();
    let n = total_weight(&rows);
    for prior in [0.5, 20.0] {
        let count = prior * row_weight(&rows);
        let expected = leading_correlation(&rows, count) * n / (n + 4.0 * count);
        let found = run(&rows, &parameters(2, Cost::Bernoulli { prior })).critical_temperature;
        close(found, expected, 1e-6 * expected);
    }
}

#[test]
fn a_sweep_is_that_of_rows_and_centres_one_by_one() {
    let rows = compounds();
    let (bits, n) = (rows.bits(), total_weight(&rows));
    let stream = Stream::new(6, "frequencies");
    let centers: Vec<f64> = (0..3 * bits).map(|index| 0.05 + 0.9 * stream.uniform(index as u64)).collect();
    for prior in [0.0, 0.5] {
        for mode in [Mode::Mass, Mode::Plain] {
            let temperature = 4.0;
            let start = Start {
                centers: &centers,
                mode,
                cost: Cost::Bernoulli { prior },
                temperature,
                tolerance: 1e-300,
                most_sweeps: 1,
            };
            let found = at(&rows, &start);
            let (mut masses, mut ones) = ([0.0; 3], vec![0.0; 3 * bits]);
            let mut free_energy = 0.0;
            for row in 0..rows.len() {
                // At the start, masses are equal.
                let prior_of_center: f64 = if mode == Mode::Mass { 1.0 / 3.0 } else { 1.0 };
                let terms: Vec<f64> = centers
                    .chunks_exact(bits)
                    .map(|y| prior_of_center * (-cost(&rows, row, y) / temperature).exp())
                    .collect();
                let sum: f64 = terms.iter().sum();
                free_energy -= rows.weight(row) * temperature * sum.ln();
                for k in 0..3 {
                    let share = rows.weight(row) * terms[k] / sum;
                    masses[k] += share;
                    (0..bits).filter(|&j| is_set(&rows, row, j)).for_each(|j| ones[k * bits + j] += share);
                }
            }
            let prior = prior * row_weight(&rows);
            let penalty: f64 = centers.iter().map(|y| -prior * (y * (1.0 - y)).ln()).sum();
            close(found.free_energies[0], (free_energy + penalty) / n, 1e-9);
            for (k, mass) in masses.iter().enumerate() {
                close(found.masses[k], mass / n, 1e-12);
                for j in 0..bits {
                    let expected = (ones[k * bits + j] + prior) / (mass + 2.0 * prior);
                    close(found.centers[k * bits + j], expected, 1e-12);
                }
            }
        }
    }
}

#[test]
fn the_free_energy_never_rises_and_the_cost_is_what_is_left_of_it_without_information() {
    let rows = compounds();
    let stream = Stream::new(7, "frequencies");
    let centers: Vec<f64> = (0..4 * rows.bits()).map(|index| 0.2 + 0.6 * stream.uniform(index as u64)).collect();
    for prior in [0.0, 0.5, 10.0] {
        let start = Start {
            centers: &centers,
            mode: Mode::Mass,
            cost: Cost::Bernoulli { prior },
            temperature: 1.5,
            tolerance: 1e-20,
            most_sweeps: 500,
        };
        let found = at(&rows, &start);
        let energies = &found.free_energies;
        assert!(energies.len() > 3 && energies.windows(2).all(|pair| pair[1] <= pair[0] + 1e-11), "{energies:?}");
        assert!(found.information(1.5) > 0.0 && found.mean_cost < found.free_energy);
    }
}

#[test]
fn one_cluster_costs_the_entropy_of_its_columns() {
    for bits in [7, 90] {
        let rows = synthetic::bit_templates(5, 80, bits, 0.2, 0.15, 3).0;
        let (means, n) = (frequencies(&rows), rows.len() as f64);
        for prior in [0.0, 0.5] {
            let found = run(&rows, &parameters(1, Cost::Bernoulli { prior }));
            let column = |&f: &f64| {
                let y = (n * f + prior) / (n + 2.0 * prior);
                -f * y.ln() - (1.0 - f) * (1.0 - y).ln()
            };
            close(found.objective, means.iter().map(column).sum(), 1e-11 * bits as f64);
            let expected = means.iter().map(|f| (n * f + prior) / (n + 2.0 * prior));
            found.centers.iter().zip(expected).for_each(|(y, expected)| close(*y, expected, 1e-13));
            let squares: f64 = found.centers.iter().zip(&means).map(|(y, f)| n * (f * (1.0 - 2.0 * y) + y * y)).sum();
            close(found.sum_of_squares, squares, 1e-9 * squares);
        }
    }
}

#[test]
fn e10_ten_templates_are_found_by_their_likelihood() {
    let (rows, templates) = synthetic::bit_templates(10, 500, 1052, 0.15, 0.05, 1);
    // The templates are so far apart that the second branch would find nothing better.
    for (precision, cost) in [(Precision::F64, Cost::bernoulli()), (Precision::F32, WITHOUT_PRIOR)] {
        let model = run(&rows, &Parameters { overshoot: 1.0, precision, ..parameters(10, cost) });
        assert_eq!(Agreement::new(&model.labels, &templates).adjusted_rand, 1.0, "{precision:?}");
        // Every bit was flipped with probability 0.05, so each row has this entropy in nats, whatever the template.
        let entropy = -1052.0 * (0.05 * 0.05f64.ln() + 0.95 * 0.95f64.ln());
        close(model.objective, entropy, 0.01 * entropy);
    }
}

#[test]
fn rare_bits_are_seen_where_squared_distances_follow_the_frequent_ones() {
    // Twelve columns are random; they dominate squared distances. Each group has sixty more columns, of which its own
    // rows have about five set, and the rows of the other group none.
    let stream = Stream::new(9, "rare");
    let (count, bits) = (600, 132usize);
    let mut words = vec![0u64; count * bits.div_ceil(64)];
    for (row, words) in words.chunks_exact_mut(bits.div_ceil(64)).enumerate() {
        for j in 0..bits {
            let own = j >= 12 && (j - 12) / 60 == row % 2;
            let frequency = if j < 12 {
                0.5
            } else if own {
                0.08
            } else {
                0.002
            };
            if stream.uniform((row * bits + j) as u64) < frequency {
                words[j / 64] |= 1 << (j % 64);
            }
        }
    }
    let rows = Fingerprints::new(words, bits).unwrap();
    let groups: Vec<u32> = (0..count as u32).map(|row| row % 2).collect();
    let likely = Agreement::new(&run(&rows, &parameters(2, Cost::bernoulli())).labels, &groups).adjusted_rand;
    let near = Agreement::new(&run(&rows, &parameters(2, Cost::Squared)).labels, &groups).adjusted_rand;
    assert!(likely > 0.8 && near < 0.5, "{likely} by likelihood, {near} by distance");
}

#[test]
fn columns_that_do_not_vary_are_no_obstacle_without_a_prior() {
    let plain = synthetic::bit_templates(4, 60, 70, 0.3, 0.1, 8).0;
    let rows = with_constant_columns(&plain);
    for cost in [WITHOUT_PRIOR, Cost::bernoulli()] {
        let model = run(&rows, &parameters(4, cost));
        assert!(model.centers.iter().all(|y| (0.0..=1.0).contains(y)));
        assert!(model.objective.is_finite() && model.probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
        let numbers = model.history.iter().flat_map(|step| [step.free_energy, step.mean_cost, step.next_critical]);
        assert!(numbers.into_iter().all(f64::is_finite));
        let without = run(&plain, &parameters(4, cost));
        assert_eq!(model.labels, without.labels, "{cost:?}");
        if cost == WITHOUT_PRIOR {
            close(model.objective, without.objective, 1e-9);
        }
    }
    // Rows that are all equal are one cluster of cost 0.
    let same = Fingerprints::new(vec![0b1011; 20], 4).unwrap();
    let model = run(&same, &parameters(3, WITHOUT_PRIOR));
    assert_eq!((model.clusters.len(), model.critical_temperature), (1, 0.0));
    close(model.objective, 0.0, 1e-10);
    assert!(model.warnings[0].contains("the same point"), "{:?}", model.warnings);
}

#[test]
fn a_weight_is_a_row_repeated_and_no_weight_no_row() {
    let rows = compounds();
    let order: Vec<usize> =
        (0..rows.len()).flat_map(|row| std::iter::repeat_n(row, rows.weight(row) as usize)).collect();
    let words = order.iter().flat_map(|&row| rows.row(row)).copied().collect();
    let repeated = Fingerprints::new(words, rows.bits()).unwrap();
    for prior in [0.5, 0.0] {
        let cost = |prior| Cost::Bernoulli { prior };
        let weighted = run(&rows, &parameters(5, cost(prior)));
        let many = run(&repeated, &parameters(5, cost(prior * row_weight(&rows))));
        close(weighted.objective, many.objective, 1e-10 * many.objective);
        close(weighted.critical_temperature, many.critical_temperature, 1e-8 * many.critical_temperature);
        let of_repeated: Vec<u32> = order.iter().map(|&row| weighted.labels[row]).collect();
        assert_eq!(Agreement::new(&of_repeated, &many.labels).adjusted_rand, 1.0);
    }
    // Rows of weight 0 may have any bits.
    let mut words: Vec<u64> = (0..rows.len()).flat_map(|row| rows.row(row)).copied().collect();
    words[0] ^= 0xffff;
    let other = Fingerprints::new(words, rows.bits()).unwrap().with_weights(rows.weights().unwrap().to_vec()).unwrap();
    let (one, other) = (run(&rows, &parameters(5, Cost::bernoulli())), run(&other, &parameters(5, Cost::bernoulli())));
    assert_eq!((other.centers, &other.labels[1..]), (one.centers, &one.labels[1..]));
}

#[test]
fn bernoulli_costs_have_the_same_bits_on_every_layout() {
    let few = synthetic::bit_templates(3, 200, 12, 0.4, 0.1, 5).0;
    for (rows, clusters) in [(&compounds(), 5), (&few, 3)] {
        for precision in [Precision::F64, Precision::F32] {
            let parameters = Parameters { precision, ..parameters(clusters, Cost::bernoulli()) };
            let on = |execution| comparable(cluster(rows, &parameters, &execution, &mut Silent).unwrap());
            let reference = on(Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None });
            for execution in executions() {
                assert_eq!(on(execution), reference, "{execution:?}");
            }
        }
    }
}

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
fn a_stopped_run_goes_on_to_the_same_bits_through_a_file() {
    let rows = compounds();
    let parameters = parameters(5, Cost::Bernoulli { prior: 0.25 });
    let whole = comparable(run(&rows, &parameters));
    let folder = tempfile::tempdir().unwrap();
    for calls in [1, 6, 15] {
        let mut observer = StopAfter { calls, last: None };
        let stopped = cluster(&rows, &parameters, &Execution::default(), &mut observer);
        assert!(matches!(stopped, Err(Error::Stopped)), "at call {calls}");
        let path = folder.path().join("checkpoint.json");
        observer.last.unwrap().write(&path).unwrap();
        let checkpoint = Checkpoint::read(&path).unwrap();
        assert_eq!(checkpoint.parameters().cost, Cost::Bernoulli { prior: 0.25 });
        let resumed = resume(&rows, checkpoint, &Execution::default(), &mut Silent).unwrap();
        assert_eq!(comparable(resumed), whole, "stopped at call {calls}");
    }
}

#[test]
fn a_model_says_of_rows_what_the_run_said_and_what_the_definition_says() {
    let rows = compounds();
    let model = run(&rows, &parameters(5, Cost::bernoulli()));
    let centroids = model.centroids();
    let found = centroids.assign(&rows).unwrap();
    assert_eq!(found.labels, model.labels);
    for (found, told) in found.probabilities.iter().zip(&model.probabilities) {
        close(*found, *told, 1e-9);
    }
    // Without borders, memberships are the memberships at the last temperature.
    let soft = Centroids::new(rows.bits(), model.centers.clone(), model.last_temperature).unwrap();
    let soft = soft.with_bernoulli().unwrap();
    let memberships = soft.memberships(&rows).unwrap();
    for row in 0..rows.len() {
        let costs: Vec<f64> = model.centers.chunks_exact(rows.bits()).map(|y| cost(&rows, row, y)).collect();
        let nearest = found.labels[row] as usize;
        assert!(costs.iter().all(|cost| costs[nearest] <= cost + 1e-9));
        close(found.distances[row], costs[nearest], 1e-9);
        let terms: Vec<f64> = costs.iter().map(|c| ((costs[nearest] - c) / model.last_temperature).exp()).collect();
        let sum: f64 = terms.iter().sum();
        (0..5).for_each(|k| close(memberships[5 * row + k], terms[k] / sum, 1e-9));
    }
    let mean: f64 = (0..rows.len()).map(|row| rows.weight(row) * found.distances[row]).sum::<f64>();
    close(model.objective, mean / total_weight(&rows), 1e-9);
    let numbers = Points::new(vec![0.0; rows.bits()], rows.bits()).unwrap();
    for refused in [centroids.assign(&numbers).map(|_| ()), centroids.memberships(&numbers).map(|_| ())] {
        assert!(refused.unwrap_err().to_string().contains("expected rows of bits"));
    }
    assert!(Centroids::new(1, vec![1.5], 1.0).unwrap().with_bernoulli().is_err());
    assert!(Centroids::new(1, vec![0.5], 1.0).unwrap().with_bernoulli().unwrap().with_sponge(1.0).is_err());
}

#[test]
fn the_number_of_clusters_is_suggested_from_nats_too() {
    let rows = synthetic::bit_templates(4, 150, 200, 0.2, 0.05, 2).0;
    let model = run(&rows, &Parameters { cost: Cost::bernoulli(), max_clusters: Some(8), ..Parameters::default() });
    assert_eq!(model.clusters.len(), 4);
    // A final temperature ends growth when it is reached.
    let critical = model.critical_temperature;
    for (share, clusters) in [(1.05, 1), (0.9, 2)] {
        let stop_temperature = Some(share * critical);
        let ended = run(&rows, &Parameters { stop_temperature, cost: Cost::bernoulli(), ..Parameters::default() });
        let last = ended.history.last().unwrap();
        assert!(if clusters == 1 { last.clusters == 1 } else { last.clusters >= 2 }, "{last:?}");
    }
}

#[test]
fn what_does_not_go_with_bernoulli_costs_is_refused_in_words() {
    let rows = compounds();
    let points = Points::new(vec![0.0, 1.0], 1).unwrap();
    let sparse = Sparse::from_rows([vec![(0, 1.0)], vec![(1, 1.0)]], 2).unwrap();
    let refused = |input: Input<'_>, parameters: &Parameters| {
        cluster(input, parameters, &Execution::default(), &mut Silent).unwrap_err().to_string()
    };
    let one = parameters(1, Cost::bernoulli());
    let expected = "cost: expected rows of bits for the cost bernoulli, found ";
    assert_eq!(refused((&points).into(), &one), format!("{expected}rows of numbers"));
    assert_eq!(refused((&sparse).into(), &one), format!("{expected}sparse rows"));
    for prior in [-1.0, f64::NAN, 1e4] {
        let said = refused((&rows).into(), &parameters(2, Cost::Bernoulli { prior }));
        assert!(said.starts_with("prior: expected 0 to 1000"), "{said}");
    }
    let sponge = Parameters { sponge: Some(3.0), ..one.clone() };
    assert_eq!(
        refused((&rows).into(), &sponge),
        "sponge: expected none with the cost bernoulli, which is no distance, found 3"
    );
    let length = Parameters { stop_length: Some(3.0), clusters: None, ..one };
    assert!(refused((&rows).into(), &length).starts_with("stop_length: expected none"));
    let outside = Start {
        centers: &[1.5; 90],
        mode: Mode::Mass,
        cost: Cost::bernoulli(),
        temperature: 1.0,
        tolerance: 1e-9,
        most_sweeps: 1,
    };
    let said = equilibrium(&rows, &outside, &Execution::default()).unwrap_err().to_string();
    assert!(said.contains("frequencies, 0 to 1"), "{said}");
}
