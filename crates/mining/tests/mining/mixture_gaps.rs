//! Mixtures of rows with missing cells: part of experiment E16, closed forms, brute force, and independence of layouts,
//! stops and weights.

use lehr_data::{Incomplete, Points, datasets, synthetic};
use lehr_mining::agreement::Agreement;
use lehr_mining::anneal::Silent;
use lehr_mining::mixture::{
    Covariance, Input, Mixture, Model, Parameters, Start, critical_temperature, equilibrium, fit, resume,
};
use lehr_mining::{Engine, Error, Execution};
use lehr_numerics::random::Stream;

use super::mixture::{close, components};
use super::mixture_runs::{StopAfter, layouts, without_clock};

const GAP: f64 = f64::NAN;

fn run<'a>(rows: impl Into<Input<'a>>, parameters: &Parameters) -> Model {
    fit(rows, parameters, &Execution::default(), &mut Silent).unwrap()
}

/// Removes each cell with probability `share`. A row that would lose all its cells keeps the first.
fn with_gaps(points: &Points, share: f64, seed: u64) -> Incomplete {
    let (stream, dimension) = (Stream::new(seed, "gaps"), points.dimension());
    let is_missing = |at: usize| stream.uniform(at as u64) < share;
    let keeps = |at: usize| at.is_multiple_of(dimension) && (at..at + dimension).all(is_missing);
    let cells = points.values().iter().enumerate();
    let values = cells.map(|(at, &x)| if is_missing(at) && !keeps(at) { GAP } else { x }).collect();
    Incomplete::new(values, dimension).unwrap()
}

fn never_falls(ascent: &[f64]) {
    for pair in ascent.windows(2) {
        assert!(pair[1] >= pair[0] - 1e-10 * pair[0].abs().max(1.0), "{} after {}", pair[1], pair[0]);
    }
}

#[test]
fn e16_iris_with_a_tenth_of_its_cells_missing_never_loses_likelihood_and_finds_the_species() {
    let (iris, species) = datasets::iris();
    for seed in 0..4 {
        let gaps = with_gaps(&iris, 0.1, seed);
        assert!((40..=80).contains(&gaps.missing()), "{} cells are missing", gaps.missing());
        let model = run(&gaps, &components(3, Covariance::Full));
        never_falls(&model.ascent);
        let index = Agreement::new(&model.labels, &species).adjusted_rand;
        assert!(index >= 0.75, "mask {seed}: adjusted Rand index {index}");
        assert!(model.is_converged && model.warnings.is_empty(), "{:?}", model.warnings);
        // The fit is at least as likely as the mixture fitted to the complete rows.
        let whole = run(&iris, &components(3, Covariance::Full)).mixture;
        let expected: f64 = whole.posterior(&gaps, 1).unwrap().log_densities.iter().sum();
        assert!(model.criteria.log_likelihood >= expected, "{} for {expected}", model.criteria.log_likelihood);
    }
}

#[test]
fn densities_and_memberships_of_rows_with_gaps_are_integrals_over_what_is_missing() {
    let full = Mixture::new(
        Covariance::Full,
        3,
        vec![0.6, 0.4],
        vec![0.0, 1.0, -1.0, 1.5, 0.0, 0.5],
        vec![1.0, 0.4, 0.8, -0.2, 0.1, 0.6, 0.5, -0.3, 0.9, 0.2, 0.0, 0.7],
    )
    .unwrap();
    let diagonal = Mixture::new(
        Covariance::Diagonal,
        3,
        vec![0.6, 0.4],
        full.means().to_vec(),
        vec![1.0, 0.8, 0.6, 0.5, 0.9, 0.7],
    )
    .unwrap();
    // For smooth densities that vanish at the ends, the trapezoidal rule is exact up to rounding.
    let (ends, step) = (9.0, 0.1);
    let grid: Vec<f64> = (0..=(2.0 * ends / step) as usize).map(|i| -ends + step * i as f64).collect();
    for mixture in [full, diagonal] {
        for row in [[0.3, GAP, 0.2], [GAP, GAP, -0.4], [1.2, 0.7, GAP], [GAP, 0.1, GAP]] {
            let missing: Vec<usize> = (0..3).filter(|&j| row[j].is_nan()).collect();
            let mut filled = Vec::new();
            for &a in &grid {
                for &b in if missing.len() == 2 { &grid[..] } else { &[0.0][..] } {
                    let mut whole = row;
                    whole[missing[0]] = a;
                    if let Some(&second) = missing.get(1) {
                        whole[second] = b;
                    }
                    filled.extend(whole);
                }
            }
            let joint = mixture.posterior(&Points::new(filled, 3).unwrap(), 1).unwrap();
            let cell = step.powi(missing.len() as i32);
            let mut expected = [0.0; 2];
            for (log_density, memberships) in joint.log_densities.iter().zip(joint.memberships.chunks_exact(2)) {
                (0..2).for_each(|k| expected[k] += cell * log_density.exp() * memberships[k]);
            }
            let density = expected[0] + expected[1];
            let said = mixture.posterior(&Incomplete::new(row.to_vec(), 3).unwrap(), 1).unwrap();
            close(said.log_densities[0], density.ln(), 1e-9);
            close(said.memberships[0], expected[0] / density, 1e-9);
            close(said.memberships[1], expected[1] / density, 1e-9);
        }
    }
}

/// Closed form (Anderson 1957) if some rows lack the second column: the most likely Gaussian combines the Gaussian of
/// the first column with the regression of the second column on the first, over the complete rows.
#[test]
fn one_component_of_rows_that_lack_the_second_column_is_the_closed_form() {
    let (x, y) = ([1.0, 2.0, 4.0, 7.0, 8.0, 3.0, 10.0], [2.0, 1.5, 5.0, 6.0, 8.5]);
    let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
    let (both, all) = (&x[..5], &x[..]);
    let moment = |a: &[f64], b: &[f64]| {
        a.iter().zip(b).map(|(p, q)| (p - mean(a)) * (q - mean(b))).sum::<f64>() / a.len() as f64
    };
    let slope = moment(both, &y) / moment(both, both);
    let expected_mean = [mean(all), mean(&y) + slope * (mean(all) - mean(both))];
    let residual = moment(&y, &y) - slope * moment(both, &y);
    let variance = moment(all, all);
    let expected = [variance, slope * variance, slope * variance, residual + slope * slope * variance];
    let rows: Vec<f64> = (0..7).flat_map(|i| [x[i], y.get(i).copied().unwrap_or(GAP)]).collect();
    let rows = Incomplete::new(rows, 2).unwrap();
    let exact = |covariance| Parameters {
        regularisation: 0.0,
        tolerance: 1e-12,
        max_sweeps: 100_000,
        ..components(1, covariance)
    };
    let gaussian = |variance: f64, count: f64| -0.5 * count * ((std::f64::consts::TAU * variance).ln() + 1.0);
    for form in [Covariance::Tied, Covariance::Full] {
        let model = run(&rows, &exact(form));
        never_falls(&model.ascent);
        model.mixture.mean(0).iter().zip(expected_mean).for_each(|(found, expected)| close(*found, expected, 1e-4));
        model.mixture.covariance(0).iter().zip(expected).for_each(|(found, expected)| close(*found, expected, 1e-3));
        close(model.criteria.log_likelihood, gaussian(variance, 7.0) + gaussian(residual, 5.0), 1e-9);
    }
    let model = run(&rows, &exact(Covariance::Diagonal));
    close(model.mixture.mean(0)[1], mean(&y), 1e-12);
    close(model.mixture.covariance(0)[3], moment(&y, &y), 1e-12);
    close(model.criteria.log_likelihood, gaussian(variance, 7.0) + gaussian(moment(&y, &y), 5.0), 1e-9);
    let model = run(&rows, &exact(Covariance::Spherical));
    let pooled = (7.0 * variance + 5.0 * moment(&y, &y)) / 12.0;
    close(model.mixture.covariance(0)[0], pooled, 1e-12);
    close(model.criteria.log_likelihood, gaussian(pooled, 12.0), 1e-9);
}

/// Returns the inverse and the determinant of a small symmetric matrix, by elimination.
fn inverse(n: usize, matrix: &[f64]) -> (Vec<f64>, f64) {
    let mut wide: Vec<f64> =
        (0..n * 2 * n).map(|at| if at % (2 * n) == at / (2 * n) + n { 1.0 } else { 0.0 }).collect();
    (0..n * n).for_each(|at| wide[at / n * 2 * n + at % n] = matrix[at]);
    let mut determinant = 1.0;
    for pivot in 0..n {
        let by = wide[pivot * 2 * n + pivot];
        determinant *= by;
        (0..2 * n).for_each(|j| wide[pivot * 2 * n + j] /= by);
        for row in (0..n).filter(|row| *row != pivot) {
            let by = wide[row * 2 * n + pivot];
            (0..2 * n).for_each(|j| wide[row * 2 * n + j] -= by * wide[pivot * 2 * n + j]);
        }
    }
    ((0..n * n).map(|at| wide[at / n * 2 * n + n + at % n]).collect(), determinant)
}

/// Makes one step of EM, row by row and with full matrices. Returns the weights, the means, the covariances, and the
/// log-likelihood before the step.
fn brute_force(rows: &Incomplete, weights: &[f64], mixture: &Mixture) -> (Vec<f64>, Vec<f64>, Vec<Vec<f64>>, f64) {
    let (count, d) = (mixture.len(), rows.dimension());
    let (mut masses, mut firsts, mut seconds) = (vec![0.0; count], vec![0.0; count * d], vec![vec![0.0; d * d]; count]);
    let mut likelihood = 0.0;
    for row in 0..rows.len() {
        let x = rows.row(row);
        let (o, m): (Vec<usize>, Vec<usize>) = (0..d).partition(|&j| !x[j].is_nan());
        let mut densities = vec![0.0; count];
        let mut expected = Vec::new();
        for k in 0..count {
            let (mean, s) = (mixture.mean(k), mixture.covariance(k));
            let part = |a: &[usize], b: &[usize]| -> Vec<f64> {
                a.iter().flat_map(|&i| b.iter().map(move |&j| (i, j))).map(|(i, j)| s[i * d + j]).collect()
            };
            let (precision, determinant) = inverse(o.len(), &part(&o, &o));
            let from: Vec<f64> = o.iter().map(|&j| x[j] - mean[j]).collect();
            let whitened: Vec<f64> =
                (0..o.len()).map(|i| (0..o.len()).map(|j| precision[i * o.len() + j] * from[j]).sum()).collect();
            let square: f64 = whitened.iter().zip(&from).map(|(a, b)| a * b).sum();
            let volume = std::f64::consts::TAU.powi(o.len() as i32) * determinant;
            densities[k] = mixture.weights()[k] * (-0.5 * square).exp() / volume.sqrt();
            let (across, own) = (part(&m, &o), part(&m, &m));
            let mut filled: Vec<f64> = x.to_vec();
            let mut spread = vec![0.0; d * d];
            for (i, &a) in m.iter().enumerate() {
                filled[a] = mean[a] + (0..o.len()).map(|j| across[i * o.len() + j] * whitened[j]).sum::<f64>();
                for (l, &b) in m.iter().enumerate() {
                    let told: f64 = (0..o.len())
                        .flat_map(|p| (0..o.len()).map(move |q| (p, q)))
                        .map(|(p, q)| across[i * o.len() + p] * precision[p * o.len() + q] * across[l * o.len() + q])
                        .sum();
                    spread[a * d + b] = own[i * m.len() + l] - told;
                }
            }
            expected.push((filled, spread));
        }
        let density: f64 = densities.iter().sum();
        likelihood += weights[row] * density.ln();
        for (k, (filled, spread)) in expected.into_iter().enumerate() {
            let member = weights[row] * densities[k] / density;
            masses[k] += member;
            for i in 0..d {
                firsts[k * d + i] += member * filled[i];
                (0..d).for_each(|j| seconds[k][i * d + j] += member * (filled[i] * filled[j] + spread[i * d + j]));
            }
        }
    }
    let total: f64 = weights.iter().sum();
    for k in 0..count {
        (0..d).for_each(|j| firsts[k * d + j] /= masses[k]);
        for i in 0..d {
            for j in 0..d {
                seconds[k][i * d + j] = seconds[k][i * d + j] / masses[k] - firsts[k * d + i] * firsts[k * d + j];
            }
        }
    }
    let form = mixture.form();
    if form == Covariance::Tied {
        let pooled: Vec<f64> =
            (0..d * d).map(|at| (0..count).map(|k| masses[k] / total * seconds[k][at]).sum()).collect();
        seconds = vec![pooled; count];
    }
    for matrix in &mut seconds {
        let trace: f64 = (0..d).map(|j| matrix[j * d + j]).sum();
        for at in 0..d * d {
            let is_diagonal = at / d == at % d;
            match form {
                Covariance::Spherical => matrix[at] = if is_diagonal { trace / d as f64 } else { 0.0 },
                Covariance::Diagonal if !is_diagonal => matrix[at] = 0.0,
                _ => {}
            }
        }
    }
    (masses.iter().map(|mass| mass / total).collect(), firsts, seconds, likelihood)
}

#[test]
fn what_is_found_is_a_fixed_point_of_em_row_by_row() {
    let (points, _) = synthetic::gaussian_mixture(240, &synthetic::random_components(3, 3, 6.0, 1.0, 5), 5);
    let gaps = with_gaps(&points, 0.2, 9);
    let weights: Vec<f64> = (0..gaps.len()).map(|row| 0.5 + (row % 3) as f64).collect();
    for form in Covariance::ALL {
        let parameters =
            Parameters { regularisation: 0.0, tolerance: 1e-12, max_sweeps: 100_000, ..components(3, form) };
        let model = run(Input::from(&gaps).with_weights(&weights), &parameters);
        never_falls(&model.ascent);
        assert!(model.is_converged);
        let (shares, means, covariances, likelihood) = brute_force(&gaps, &weights, &model.mixture);
        close(model.criteria.log_likelihood, likelihood, 1e-7);
        shares.iter().zip(model.mixture.weights()).for_each(|(a, b)| close(*a, *b, 1e-5));
        means.iter().zip(model.mixture.means()).for_each(|(a, b)| close(*a, *b, 1e-4));
        for (k, expected) in covariances.iter().enumerate() {
            model.mixture.covariance(k).iter().zip(expected).for_each(|(a, b)| close(*a, *b, 1e-3));
        }
    }
}

/// One sweep equals the textbook step of EM, from any components. If columns are independent within a component, a
/// sweep maximises directly, so only objective and weights are compared.
#[test]
fn one_sweep_is_a_step_of_em_row_by_row() {
    let (points, _) = synthetic::gaussian_mixture(150, &synthetic::random_components(2, 3, 4.0, 1.0, 2), 2);
    let gaps = with_gaps(&points, 0.3, 4);
    let ones = vec![1.0; gaps.len()];
    let means = vec![0.0, 1.0, 2.0, 3.0, -1.0, 0.5];
    let triangle = [2.0, 0.3, 1.5, -0.4, 0.2, 3.0];
    for (form, numbers) in [
        (Covariance::Full, [triangle, triangle.map(|s| 1.5 * s)].concat()),
        (Covariance::Tied, triangle.to_vec()),
        (Covariance::Diagonal, vec![2.0, 1.0, 3.0, 1.5, 2.0, 1.0]),
        (Covariance::Spherical, vec![2.0, 3.0]),
    ] {
        let mixture = Mixture::new(form, 3, vec![0.7, 0.3], means.clone(), numbers).unwrap();
        let start = Start { mixture: &mixture, temperature: 1.0, regularisation: 0.0, tolerance: 0.0, most_sweeps: 1 };
        let found = equilibrium(&gaps, &start, &Execution::default()).unwrap();
        let (shares, expected, covariances, likelihood) = brute_force(&gaps, &ones, &mixture);
        close(found.objectives[0], likelihood / ones.len() as f64, 1e-11);
        shares.iter().zip(found.mixture.weights()).for_each(|(a, b)| close(*a, *b, 1e-12));
        if matches!(form, Covariance::Full | Covariance::Tied) {
            expected.iter().zip(found.mixture.means()).for_each(|(a, b)| close(*a, *b, 1e-11));
            for (k, expected) in covariances.iter().enumerate() {
                found.mixture.covariance(k).iter().zip(expected).for_each(|(a, b)| close(*a, *b, 1e-10));
            }
        }
    }
}

#[test]
fn the_objective_never_falls_at_any_temperature_with_wide_clouds_and_many_gaps() {
    let wine = datasets::wine().0;
    let columns: Vec<f64> = (0..wine.len()).flat_map(|row| wine.row(row)[..4].to_vec()).collect();
    let gaps = with_gaps(&Points::new(columns, 4).unwrap(), 0.4, 3);
    for form in Covariance::ALL {
        for (temperature, regularisation) in [(1.0, 0.1), (1.7, 0.0), (0.8, 1e-3)] {
            let begun = run(&gaps, &Parameters { max_sweeps: 1, ..components(3, form) }).mixture;
            let start = Start { mixture: &begun, temperature, regularisation, tolerance: 0.0, most_sweeps: 60 };
            let found = equilibrium(&gaps, &start, &Execution::default()).unwrap();
            assert!(found.objectives.len() > 5, "{form} at {temperature}");
            never_falls(&found.objectives);
        }
    }
}

/// Adds a row without values: the table then has missing cells, but no additional information.
fn with_an_empty_row(points: &Points) -> Incomplete {
    let nothing = vec![GAP; points.dimension()];
    Incomplete::new([points.values(), &nothing].concat(), points.dimension()).unwrap()
}

#[test]
fn a_row_without_any_value_counts_for_nothing_and_is_told_of() {
    let iris = datasets::iris().0;
    let rows = with_an_empty_row(&iris);
    for form in Covariance::ALL {
        let (whole, model) = (run(&iris, &components(3, form)), run(&rows, &components(3, form)));
        close(model.criteria.log_likelihood, whole.criteria.log_likelihood, 1e-6);
        close(model.criteria.bic, whole.criteria.bic, 1e-5);
        assert_eq!(model.labels[..150], whole.labels[..], "{form}");
        assert_eq!((model.labels[150], model.log_densities[150]), (0, 0.0));
        close(model.probabilities[150], model.mixture.weights()[0], 1e-15);
        let expected = "1 of the rows have no value at all";
        assert!(model.warnings[0].starts_with(expected), "{:?}", model.warnings);
        let said = model.mixture.posterior(&rows, 1).unwrap();
        assert_eq!((said.labels[150], &said.memberships[450..]), (0, model.mixture.weights()));
    }
}

#[test]
fn weights_count_as_repeated_rows_and_those_of_0_change_no_bit() {
    let iris = datasets::iris().0;
    let gaps = with_gaps(&iris, 0.15, 1);
    let weights: Vec<f64> = (0..150).map(|row| (row % 3) as f64).collect();
    let repeated: Vec<f64> = (0..150).flat_map(|row| gaps.row(row).repeat(row % 3)).collect();
    let kept: Vec<f64> = (0..150).filter(|row| row % 3 > 0).flat_map(|row| gaps.row(row).to_vec()).collect();
    let (repeated, kept) = (Incomplete::new(repeated, 4).unwrap(), Incomplete::new(kept, 4).unwrap());
    let kept_weights: Vec<f64> = weights.iter().copied().filter(|weight| *weight > 0.0).collect();
    for form in Covariance::ALL {
        let parameters = Parameters { tolerance: 1e-12, ..components(2, form) };
        let weighted = run(Input::from(&gaps).with_weights(&weights), &parameters);
        let others = run(&repeated, &parameters);
        close(weighted.criteria.log_likelihood, others.criteria.log_likelihood, 1e-6);
        let without = run(Input::from(&kept).with_weights(&kept_weights), &parameters);
        assert_eq!((&weighted.mixture, weighted.criteria), (&without.mixture, without.criteria), "{form}");
    }
}

#[test]
fn a_fit_has_the_same_bits_on_every_layout() {
    let (points, _) = synthetic::gaussian_mixture(1200, &synthetic::random_components(3, 4, 8.0, 0.9, 1), 1);
    let gaps = with_gaps(&points, 0.25, 7);
    for form in Covariance::ALL {
        let parameters = components(3, form);
        let one = Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None };
        let reference = without_clock(fit(&gaps, &parameters, &one, &mut Silent).unwrap());
        for execution in layouts() {
            let model = without_clock(fit(&gaps, &parameters, &execution, &mut Silent).unwrap());
            assert_eq!(model, reference, "{form}, {execution:?}");
        }
    }
}

#[test]
fn a_fit_stopped_anywhere_goes_on_to_the_same_bits_on_another_layout() {
    let (points, _) = synthetic::gaussian_mixture(250, &synthetic::random_components(3, 3, 8.0, 1.2, 2), 2);
    let gaps = with_gaps(&points, 0.2, 5);
    let parameters = components(3, Covariance::Full);
    let whole = without_clock(run(&gaps, &parameters));
    let mut stops = 0;
    for calls in (0..).step_by(13) {
        let mut observer = StopAfter::new(calls);
        let three = Execution { engine: Engine::Ranks, ranks: 3, threads: 2, job: None };
        match fit(&gaps, &parameters, &three, &mut observer) {
            Err(Error::Stopped) => stops += 1,
            Ok(model) => {
                assert_eq!(without_clock(model), whole);
                break;
            }
            Err(error) => panic!("{error}"),
        }
        let other = Execution { engine: Engine::Loop, ranks: 1, threads: 2, job: None };
        let resumed = resume(&gaps, observer.last.unwrap(), &other, &mut Silent).unwrap();
        assert_eq!(without_clock(resumed), whole, "stopped after {calls} calls");
    }
    assert!(stops >= 3, "{stops} stops");
}

#[test]
fn what_a_mixture_says_of_its_own_rows_is_what_the_fit_said() {
    let gaps = with_gaps(&datasets::iris().0, 0.2, 2);
    for form in Covariance::ALL {
        let model = run(&gaps, &components(3, form));
        let said = model.mixture.posterior(&gaps, 1).unwrap();
        assert_eq!(said.labels, model.labels, "{form}");
        for row in 0..gaps.len() {
            close(said.log_densities[row], model.log_densities[row], 1e-7);
            close(said.memberships[row * 3 + model.labels[row] as usize], model.probabilities[row], 1e-7);
        }
    }
}

#[test]
fn columns_that_cannot_be_fitted_are_named() {
    let refused = |values: Vec<f64>, form| {
        let rows = Incomplete::new(values, 2).unwrap();
        fit(&rows, &components(1, form), &Execution::default(), &mut Silent).unwrap_err()
    };
    let nowhere: Vec<f64> = (0..20).flat_map(|row| [f64::from(row), GAP]).collect();
    let constant: Vec<f64> = (0..20).flat_map(|row| [f64::from(row), if row % 3 == 0 { 7.3 } else { GAP }]).collect();
    for form in Covariance::ALL {
        let error = refused(nowhere.clone(), form);
        assert!(matches!(&error, Error::Unobserved { count: 1, first } if first[..] == ["x1"]), "{error}");
    }
    for form in [Covariance::Diagonal, Covariance::Tied, Covariance::Full] {
        let error = refused(constant.clone(), form);
        assert!(matches!(&error, Error::Constant { count: 1, first } if first[..] == ["x1"]), "{error}");
    }
    let rows = Incomplete::new(constant, 2).unwrap();
    assert!(run(&rows, &components(2, Covariance::Spherical)).criteria.log_likelihood.is_finite());
}

#[test]
fn columns_that_no_row_has_together_are_told_of() {
    let values = (0..60).flat_map(|row| {
        let (a, b) = (f64::from(row % 7), f64::from(row % 11));
        if row % 2 == 0 { [a, GAP, a + b] } else { [GAP, b, a - b] }
    });
    let rows = Incomplete::new(values.collect(), 3).unwrap();
    let model = run(&rows, &components(1, Covariance::Full));
    assert!(
        model.warnings.iter().any(|warning| warning.starts_with("no row has both x0 and x1: ")),
        "{:?}",
        model.warnings
    );
    let model = run(&rows, &components(1, Covariance::Diagonal));
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    let untold = critical_temperature(&rows, Covariance::Full).unwrap_err();
    assert!(matches!(untold, Error::Parameter { name: "covariance", .. }), "{untold}");
}

#[test]
fn critical_temperatures_of_whole_rows_are_those_of_the_other_formula() {
    let iris = datasets::iris().0;
    let rows = with_an_empty_row(&iris);
    for form in Covariance::ALL {
        let (whole, found) = (critical_temperature(&iris, form).unwrap(), critical_temperature(&rows, form).unwrap());
        close(found.temperature, whole.temperature, 1e-8);
        // For tied covariances, all directions are equally unstable.
        if form != Covariance::Tied {
            let turned = (found.direction[0] * whole.direction[0]).signum();
            let pairs = found.direction.iter().zip(&whole.direction);
            pairs.for_each(|(found, whole)| close(*found, turned * whole, 1e-6));
        }
    }
}

#[test]
fn with_gaps_the_division_of_one_component_brackets_the_critical_temperature() {
    let gaps = with_gaps(&datasets::iris().0, 0.1, 0);
    close(critical_temperature(&gaps, Covariance::Tied).unwrap().temperature, 1.0, 1e-6);
    for form in [Covariance::Spherical, Covariance::Diagonal, Covariance::Full] {
        let critical = critical_temperature(&gaps, form).unwrap();
        assert!(critical.temperature > 1.5, "{form}: {}", critical.temperature);
        let growth = |over: f64| {
            let one = &critical.mixture;
            let moved = |sign: f64| one.mean(0).iter().zip(&critical.direction).map(move |(u, d)| u + sign * 0.02 * d);
            let means: Vec<f64> = moved(1.0).chain(moved(-1.0)).collect();
            let two = Mixture::new(form, 4, vec![0.5, 0.5], means, one.numbers().repeat(2)).unwrap();
            let temperature = over * critical.temperature;
            let start = Start { mixture: &two, temperature, regularisation: 0.0, tolerance: 0.0, most_sweeps: 1500 };
            let found = equilibrium(&gaps, &start, &Execution::default()).unwrap();
            never_falls(&found.objectives);
            let apart = |mixture: &Mixture| -> f64 {
                mixture.mean(0).iter().zip(mixture.mean(1)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
            };
            apart(&found.mixture) / apart(&two)
        };
        let (above, below) = (growth(1.03), growth(0.97));
        assert!(above < 1e-2, "{form}: {above} times as far apart above {}", critical.temperature);
        assert!(below > 1.0, "{form}: {below} times as far apart below {}", critical.temperature);
    }
}
