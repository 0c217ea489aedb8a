//! Mixtures: experiment E16 of the specification, closed forms, and independence of order, units and weights.

use lehr_data::scale::{Scale, Scaling};
use lehr_data::synthetic::Component;
use lehr_data::{Points, datasets, synthetic};
use lehr_mining::Execution;
use lehr_mining::anneal::Silent;
use lehr_mining::mixture::{
    Covariance, Critical, Mixture, Model, Parameters, Start, critical_temperature, equilibrium, fit,
};
use lehr_numerics::random::Stream;

pub(crate) fn run(points: &Points, parameters: &Parameters) -> Model {
    fit(points, parameters, &Execution::default(), &mut Silent).unwrap()
}

pub(crate) fn components(components: usize, covariance: Covariance) -> Parameters {
    Parameters { components: Some(components), covariance, ..Parameters::default() }
}

#[track_caller]
pub(crate) fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected} to {tolerance:e}");
}

#[track_caller]
fn all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).for_each(|(found, expected)| close(*found, *expected, tolerance));
}

/// Scales each column to mean 0 and population standard deviation 1.
fn standardised(points: &Points) -> Points {
    Scaling::fit(points, Scale::Std).apply(points).unwrap()
}

fn never_falls(model: &Model) {
    for pair in model.ascent.windows(2) {
        assert!(pair[1] >= pair[0] - 1e-10 * pair[0].abs().max(1.0), "{} after {}", pair[1], pair[0]);
    }
}

#[test]
fn e16_iris_full_reaches_the_published_optima() {
    let iris = datasets::iris().0;
    for (count, expected) in [(3, -180.185477), (2, -214.354704)] {
        for seed in 0..3 {
            let model = run(&iris, &Parameters { seed, ..components(count, Covariance::Full) });
            close(model.criteria.log_likelihood, expected, 1e-5);
            assert!(model.is_converged && model.warnings.is_empty(), "{:?}", model.warnings);
            never_falls(&model);
        }
    }
    // The BIC equals that of mclust up to the sign: 580.839 for three components, 574.018 for two.
    let three = run(&iris, &components(3, Covariance::Full)).criteria;
    assert_eq!(three.free_parameters, 44);
    close(three.bic, 580.839, 1e-2);
    close(three.aic, 2.0 * 180.185477 + 88.0, 1e-4);
    assert!(three.icl > three.bic && three.entropy > 0.0);
}

/// Moves two components apart along the unstable direction by 0.05 each way. Returns their final distance, divided by
/// their initial distance.
fn growth(points: &Points, critical: &Critical, over: f64) -> f64 {
    let one = &critical.mixture;
    let moved = |sign: f64| one.mean(0).iter().zip(&critical.direction).map(move |(u, d)| u + sign * 0.05 * d);
    let means: Vec<f64> = moved(1.0).chain(moved(-1.0)).collect();
    let covariances = match one.form() {
        Covariance::Tied => one.numbers().to_vec(),
        _ => one.numbers().repeat(2),
    };
    let two = Mixture::new(one.form(), one.dimension(), vec![0.5, 0.5], means, covariances).unwrap();
    let temperature = over * critical.temperature;
    let start = Start { mixture: &two, temperature, regularisation: 0.0, tolerance: 0.0, most_sweeps: 1500 };
    let found = equilibrium(points, &start, &Execution::default()).unwrap();
    for pair in found.objectives.windows(2) {
        assert!(pair[1] >= pair[0] - 1e-10 * pair[0].abs(), "{} after {}", pair[1], pair[0]);
    }
    let apart = |mixture: &Mixture| -> f64 {
        mixture.mean(0).iter().zip(mixture.mean(1)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    };
    apart(&found.mixture) / apart(&two)
}

#[test]
fn e16_critical_temperatures_and_the_division_of_one_component_bracket_them() {
    let iris = datasets::iris().0;
    for (covariance, expected) in [
        (Covariance::Spherical, 3.801376),
        (Covariance::Diagonal, 3.109293),
        (Covariance::Tied, 1.0),
        (Covariance::Full, 2.112038),
    ] {
        let critical = critical_temperature(&iris, covariance).unwrap();
        close(critical.temperature, expected, 1e-6);
        if covariance != Covariance::Tied {
            let (above, below) = (growth(&iris, &critical, 1.03), growth(&iris, &critical, 0.97));
            assert!(above < 1e-3, "{covariance}: {above} times as far apart above the critical temperature");
            assert!(below > 1.0, "{covariance}: {below} times as far apart below the critical temperature");
        }
    }
}

#[test]
fn e16_weights_count_as_repeated_rows() {
    let iris = datasets::iris().0;
    let twice = iris.clone().with_weights(vec![2.0; iris.len()]).unwrap();
    let repeated = Points::new([iris.values(), iris.values()].concat(), 4).unwrap();
    let mixed_weights: Vec<f64> = (0..iris.len()).map(|row| (1 + row % 3) as f64).collect();
    let mixed = iris.clone().with_weights(mixed_weights.clone()).unwrap();
    let values = (0..iris.len()).flat_map(|row| iris.row(row).repeat(mixed_weights[row] as usize)).collect();
    let mixed_repeated = Points::new(values, 4).unwrap();
    for covariance in Covariance::ALL {
        let parameters = Parameters { tolerance: 1e-12, ..components(3, covariance) };
        for (weighted, repeated, effective) in
            [(&twice, &repeated, 150.0), (&mixed, &mixed_repeated, 300.0 * 300.0 / 700.0_f64)]
        {
            let (weighted, repeated) = (run(weighted, &parameters), run(repeated, &parameters));
            let scale = repeated.criteria.log_likelihood.abs();
            close(weighted.criteria.log_likelihood, repeated.criteria.log_likelihood, 1e-9 * scale);
            // Criteria use the effective number of rows, which is larger for repeated rows.
            let penalty = weighted.criteria.free_parameters as f64 * (effective.ln() - 2.0);
            close(weighted.criteria.bic - weighted.criteria.aic, penalty, 1e-8);
            all_close(weighted.mixture.weights(), repeated.mixture.weights(), 1e-4);
            all_close(weighted.mixture.means(), repeated.mixture.means(), 1e-3);
        }
    }
}

#[test]
fn one_component_is_the_rows_mean_and_covariance_and_its_likelihood_a_closed_form() {
    let wine = datasets::wine().0;
    let (rows, dimension) = (wine.len() as f64, wine.dimension());
    let means: Vec<f64> = (0..dimension).map(|j| wine.column(j).sum::<f64>() / rows).collect();
    let covariance = |i: usize, j: usize| {
        wine.column(i).zip(wine.column(j)).map(|(x, y)| (x - means[i]) * (y - means[j])).sum::<f64>() / rows
    };
    let trace: f64 = (0..dimension).map(|j| covariance(j, j)).sum();
    for form in Covariance::ALL {
        let model = run(&wine, &Parameters { regularisation: 0.0, ..components(1, form) });
        all_close(model.mixture.mean(0), &means, 1e-9 * means[12]);
        let found = model.mixture.covariance(0);
        for i in 0..dimension {
            for j in 0..dimension {
                let expected = match form {
                    Covariance::Spherical if i == j => trace / dimension as f64,
                    Covariance::Diagonal if i == j => covariance(i, i),
                    Covariance::Spherical | Covariance::Diagonal => 0.0,
                    Covariance::Tied | Covariance::Full => covariance(i, j),
                };
                close(
                    found[i * dimension + j],
                    expected,
                    1e-9 * (covariance(i, i) * covariance(j, j)).sqrt().max(expected),
                );
            }
        }
        if form == Covariance::Spherical {
            let variance = trace / dimension as f64;
            let expected = -0.5 * rows * dimension as f64 * ((std::f64::consts::TAU * variance).ln() + 1.0);
            close(model.criteria.log_likelihood, expected, 1e-9 * expected.abs());
        }
        if form == Covariance::Diagonal {
            let logs: f64 = (0..dimension).map(|j| (std::f64::consts::TAU * covariance(j, j)).ln() + 1.0).sum();
            close(model.criteria.log_likelihood, -0.5 * rows * logs, 1e-9 * (rows * logs).abs());
        }
        assert!(model.labels.iter().all(|label| *label == 0) && model.criteria.entropy == 0.0);
    }
}

/// Each covariance type includes the simpler types, so its likelihood from the same clusters is at least as high. In a
/// fit, the likelihood never falls.
#[test]
fn richer_covariances_account_for_more_and_no_sweep_loses_likelihood() {
    for points in [datasets::iris().0, standardised(&datasets::wine().0)] {
        for count in [2, 3] {
            let models: Vec<Model> =
                Covariance::ALL.iter().map(|&form| run(&points, &components(count, form))).collect();
            models.iter().for_each(never_falls);
            let likelihoods: Vec<f64> = models.iter().map(|model| model.criteria.log_likelihood).collect();
            let [spherical, diagonal, tied, full] = likelihoods[..] else { panic!("four forms") };
            assert!(spherical < diagonal && diagonal < full && tied < full, "{likelihoods:?}");
        }
    }
}

#[test]
fn generated_mixtures_are_accounted_for_at_least_as_well_as_by_their_truth() {
    for (rows, dimension, count, seed) in [(3000, 2, 8, 1), (4000, 3, 6, 2), (3000, 6, 5, 3), (2000, 20, 3, 4)] {
        let truth: Vec<Component> = synthetic::random_components(count, dimension, 10.0, 0.7, seed);
        let (points, _) = synthetic::gaussian_mixture(rows, &truth, seed);
        let weight: f64 = truth.iter().map(|component| component.weight).sum();
        let density = Mixture::new(
            Covariance::Spherical,
            dimension,
            truth.iter().map(|component| component.weight / weight).collect(),
            truth.iter().flat_map(|component| component.center.clone()).collect(),
            truth.iter().map(|component| component.deviation * component.deviation).collect(),
        )
        .unwrap();
        let expected: f64 = density.posterior(&points, 1).unwrap().log_densities.iter().sum();
        for covariance in [Covariance::Spherical, Covariance::Diagonal, Covariance::Full] {
            let model = run(&points, &components(count, covariance));
            let found = model.criteria.log_likelihood;
            assert!(found >= expected, "{dimension}-D, {covariance}: {found}, the truth {expected}");
        }
    }
}

/// Returns the highest likelihood of two components with a common variance for a few numbers: the best result of EM
/// from every division of the numbers into two parts.
fn best_of_all_divisions(x: &[f64]) -> f64 {
    let n = x.len();
    let mut best = f64::NEG_INFINITY;
    for division in 1..1usize << (n - 1) {
        let mut members: Vec<f64> = (0..n).map(|i| f64::from(u8::from(division >> i & 1 == 1))).collect();
        let mut last = f64::NEG_INFINITY;
        for _ in 0..3000 {
            let mass: f64 = members.iter().sum();
            let mean = |of: &dyn Fn(usize) -> f64, mass: f64| (0..n).map(|i| of(i) * x[i]).sum::<f64>() / mass;
            let (u, v) = (mean(&|i| members[i], mass), mean(&|i| 1.0 - members[i], n as f64 - mass));
            let variance =
                (0..n).map(|i| members[i] * (x[i] - u).powi(2) + (1.0 - members[i]) * (x[i] - v).powi(2)).sum::<f64>()
                    / n as f64;
            let density = |i: usize, mean: f64, mass: f64| {
                mass / n as f64 * (-(x[i] - mean).powi(2) / (2.0 * variance)).exp()
                    / (std::f64::consts::TAU * variance).sqrt()
            };
            let mut likelihood = 0.0;
            for i in 0..n {
                let (a, b) = (density(i, u, mass), density(i, v, n as f64 - mass));
                members[i] = a / (a + b);
                likelihood += (a + b).ln();
            }
            if likelihood - last < 1e-12 {
                break;
            }
            last = likelihood;
        }
        best = best.max(last);
    }
    best
}

#[test]
fn tiny_sets_reach_what_em_reaches_from_the_best_of_all_divisions() {
    let (mut reached, sets) = (0, 30);
    for set in 0..sets {
        let stream = Stream::new(set, "tiny mixture");
        let x: Vec<f64> = (0..8).map(|i| stream.uniform(i)).collect();
        let best = best_of_all_divisions(&x);
        let points = Points::new(x, 1).unwrap();
        let parameters = Parameters { regularisation: 0.0, max_sweeps: 50_000, ..components(2, Covariance::Tied) };
        let found = run(&points, &parameters).criteria.log_likelihood;
        assert!(found <= best + 1e-4, "set {set}: {found} is above the best, {best}");
        reached += u32::from(found >= best - 1e-5);
    }
    assert!(reached >= 24, "{reached} of {sets}");
}

#[test]
fn the_order_of_rows_the_unit_and_the_origin_change_nothing_else() {
    let iris = datasets::iris().0;
    let order: Vec<usize> = {
        let stream = Stream::new(5, "order");
        let mut order: Vec<usize> = (0..iris.len()).collect();
        order.sort_by_key(|&row| stream.bits(row as u64));
        order
    };
    let permuted = Points::new(order.iter().flat_map(|&row| iris.row(row)).copied().collect(), 4).unwrap();
    let scaled = Points::new(iris.values().iter().map(|x| 10.0 * x).collect(), 4).unwrap();
    let moved = Points::new(iris.values().iter().map(|x| x + 1e6).collect(), 4).unwrap();
    for covariance in Covariance::ALL {
        let parameters = components(3, covariance);
        let model = run(&iris, &parameters);
        let likelihood = model.criteria.log_likelihood;

        let other = run(&permuted, &parameters);
        close(other.criteria.log_likelihood, likelihood, 1e-5);
        let labels: Vec<u32> = order.iter().map(|&row| model.labels[row]).collect();
        assert_eq!(other.labels, labels, "{covariance}");

        let other = run(&scaled, &parameters);
        close(other.criteria.log_likelihood, likelihood - 600.0 * 10f64.ln(), 1e-5);
        assert_eq!(other.labels, model.labels);
        let means: Vec<f64> = other.mixture.means().iter().map(|u| u / 10.0).collect();
        all_close(&means, model.mixture.means(), 1e-4);
        let numbers: Vec<f64> = other.mixture.numbers().iter().map(|s| s / 100.0).collect();
        all_close(&numbers, model.mixture.numbers(), 1e-4);

        let other = run(&moved, &parameters);
        close(other.criteria.log_likelihood, likelihood, 1e-4);
        assert_eq!(other.labels, model.labels);
    }
}

#[test]
fn scaling_one_column_changes_the_likelihood_by_its_logarithm_alone() {
    let iris = datasets::iris().0;
    let values = iris.values().iter().enumerate().map(|(at, x)| if at % 4 == 2 { 1.25 * x } else { *x }).collect();
    let stretched = Points::new(values, 4).unwrap();
    for covariance in [Covariance::Diagonal, Covariance::Tied, Covariance::Full] {
        let (model, other) = (run(&iris, &components(2, covariance)), run(&stretched, &components(2, covariance)));
        close(other.criteria.log_likelihood, model.criteria.log_likelihood - 150.0 * 1.25f64.ln(), 1e-5);
    }
}

#[test]
fn the_number_of_components_is_that_of_the_least_bic_with_all_that_were_tried_shown() {
    let truth = synthetic::random_components(4, 2, 10.0, 0.5, 3);
    let (points, _) = synthetic::gaussian_mixture(1500, &truth, 3);
    let model = run(&points, &Parameters { max_components: Some(7), ..Parameters::default() });
    assert_eq!(model.mixture.len(), 4);
    assert_eq!(model.candidates.iter().map(|candidate| candidate.asked).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6, 7]);
    let least = model.candidates.iter().map(|candidate| candidate.criteria.bic).fold(f64::INFINITY, f64::min);
    assert_eq!((least, model.candidates[3].criteria), (model.criteria.bic, model.criteria));
    assert_eq!(model.labels.iter().max(), Some(&3));
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    // With one component fewer than there are groups, BIC is still falling, and a warning says so.
    let few = run(&points, &Parameters { max_components: Some(3), ..Parameters::default() });
    assert!(few.warnings.iter().any(|warning| warning.contains("still falling")), "{:?}", few.warnings);
}

#[test]
fn beyond_ten_groups_the_numbers_around_theirs_are_tried() {
    let (points, _) = synthetic::lattice(&[4, 4], 60, 0.08, 5);
    let model = run(&points, &Parameters { covariance: Covariance::Spherical, ..Parameters::default() });
    assert_eq!(model.groups.map(|groups| groups.clusters), Some(16));
    assert_eq!(model.mixture.len(), 16);
    let tried: Vec<usize> = model.candidates.iter().map(|candidate| candidate.asked).collect();
    assert_eq!(tried, (1..=10).chain(13..=19).collect::<Vec<_>>());
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
}

#[test]
fn several_components_of_one_group_are_told_from_groups() {
    let points = synthetic::uniform(1500, &[(0.0, 1.0), (0.0, 1.0)], 6);
    let model = run(&points, &Parameters::default());
    assert!(model.mixture.len() > 1);
    assert_eq!(model.groups.map(|groups| groups.clusters), Some(1));
    // If the number of components is given or limited, the number of groups is not estimated.
    assert_eq!(run(&points, &components(2, Covariance::Full)).groups, None);
}

#[test]
fn what_a_mixture_says_of_its_own_rows_is_what_the_fit_said() {
    let (wine, _) = datasets::wine();
    let wine = standardised(&wine);
    for covariance in Covariance::ALL {
        let model = run(&wine, &components(3, covariance));
        let posterior = model.mixture.posterior(&wine, 1).unwrap();
        assert_eq!(posterior.labels, model.labels);
        all_close(&posterior.log_densities, &model.log_densities, 1e-7);
        for (row, memberships) in posterior.memberships.chunks_exact(3).enumerate() {
            close(memberships.iter().sum(), 1.0, 1e-12);
            close(memberships[model.labels[row] as usize], model.probabilities[row], 1e-7);
        }
        close(posterior.log_densities.iter().sum(), model.criteria.log_likelihood, 1e-6);
        let other = Points::new(vec![0.0; 4], 2).unwrap();
        assert!(model.mixture.posterior(&other, 1).unwrap_err().to_string().contains("where the mixture has 13"));
    }
}

#[test]
fn rows_drawn_from_a_mixture_have_its_moments_and_lead_back_to_it() {
    let covariances = vec![2.0, 0.9, 1.0, 0.5, -0.2, 0.4];
    let truth = Mixture::new(Covariance::Full, 2, vec![0.6, 0.4], vec![0.0, 0.0, 6.0, -3.0], covariances).unwrap();
    let (points, labels) = truth.sample(20_000, 11).unwrap();
    assert_eq!(truth.sample(20_000, 11).unwrap(), (points.clone(), labels.clone()));
    assert_ne!(truth.sample(20_000, 12).unwrap().1, labels);
    // The standard deviation of a mean over 20,000 draws is about 0.01; the limit is five times this.
    let share = labels.iter().filter(|label| **label == 0).count() as f64 / 20_000.0;
    close(share, 0.6, 0.02);
    let model = run(&points, &components(2, Covariance::Full));
    all_close(model.mixture.weights(), truth.weights(), 0.02);
    all_close(model.mixture.means(), truth.means(), 0.06);
    all_close(model.mixture.numbers(), truth.numbers(), 0.1);
    assert!(labels.iter().zip(&model.labels).filter(|(a, b)| a != b).count() < 40);
}

/// Reads `datasets/*/mixtures.csv`: the best log-likelihood that scikit-learn found in fifty starts.
fn reference(text: &str) -> Vec<(Covariance, usize, f64)> {
    text.lines()
        .skip(1)
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let covariance = Covariance::ALL.into_iter().find(|form| form.name() == fields[0]).unwrap();
            (covariance, fields[1].parse().unwrap(), fields[2].parse().unwrap())
        })
        .collect()
}

#[test]
fn one_call_reaches_what_scikit_learn_reaches_in_fifty_starts() {
    let iris = reference(include_str!("../../../../datasets/iris/mixtures.csv"));
    let wine = reference(include_str!("../../../../datasets/wine/mixtures.csv"));
    for (points, references) in [(datasets::iris().0, iris), (standardised(&datasets::wine().0), wine)] {
        assert!(references.len() >= 8);
        for (covariance, count, best) in references {
            let model = run(&points, &components(count, covariance));
            let found = model.criteria.log_likelihood;
            // Four of the fifty starts find an optimum on wine that none of Lehr's starts finds
            // (docs/design/mixture.md).
            let is_known = points.dimension() == 13 && (covariance, count) == (Covariance::Tied, 4);
            let excess = if is_known { 0.015 } else { 1e-3 };
            assert!(found >= best - excess * best.abs(), "{covariance}, {count} components: {found}, theirs {best}");
            assert!(model.is_converged, "{covariance}, {count} components");
        }
    }
}
