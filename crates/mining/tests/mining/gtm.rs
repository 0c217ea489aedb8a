//! Topographic maps: experiments E17 and E18 of the specification, a comparison with one sweep by brute force, and
//! independence of order, units and weights.

use lehr_data::scale::{Scale, Scaling};
use lehr_data::{Incomplete, Points, datasets};
use lehr_mining::Execution;
use lehr_mining::anneal::Silent;
use lehr_mining::gtm::{Input, Model, Parameters, Start, critical_temperature, fit};
use lehr_numerics::random::Stream;

use super::gtm_brute_force::{BruteForce, Rows, Sheet, sheet_of};

pub(crate) fn run<'a>(input: impl Into<Input<'a>>, parameters: &Parameters) -> Model {
    fit(input, parameters, &Execution::default(), &mut Silent).unwrap()
}

/// A plane with `nodes` nodes and `basis` functions along each side.
pub(crate) fn plane(nodes: usize, basis: usize) -> Parameters {
    Parameters { nodes: Some(nodes), basis: Some(basis), ..Parameters::default() }
}

#[track_caller]
pub(crate) fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "found {found}, expected {expected} to {tolerance:e}");
}

#[track_caller]
pub(crate) fn all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).for_each(|(found, expected)| close(*found, *expected, tolerance));
}

pub(crate) fn never_falls(model: &Model) {
    for pair in model.ascent.windows(2) {
        assert!(pair[1] >= pair[0] - 1e-10 * pair[0].abs().max(1.0), "{} after {}", pair[1], pair[0]);
    }
}

/// Scales each column to mean 0 and population standard deviation 1, and leaves out constant columns.
fn standardised(points: &Points) -> Points {
    let varies = |j: &usize| points.column(*j).any(|x| x != points.row(0)[*j]);
    let kept: Vec<usize> = (0..points.dimension()).filter(varies).collect();
    let values = (0..points.len()).flat_map(|row| kept.iter().map(move |&j| (row, j)));
    let values: Vec<f64> = values.map(|(row, j)| points.row(row)[j]).collect();
    let columns = kept.iter().map(|&j| points.columns()[j].clone()).collect();
    let points = points.with_values(values, columns).unwrap();
    Scaling::fit(&points, Scale::Std).apply(&points).unwrap()
}

/// Returns the mean of each column.
fn means(points: &Points) -> Vec<f64> {
    (0..points.dimension()).map(|j| points.column(j).sum::<f64>() / points.len() as f64).collect()
}

/// Converts the specification's `alpha`, whose unit is 1 over the squared unit of the rows, to a value relative to the
/// mean variance of a column.
fn relative(alpha: f64, points: &Points) -> f64 {
    alpha * Rows::new(points.values(), points.dimension(), None).variance()
}

#[test]
fn e17_the_critical_temperature_is_the_closed_form() {
    let iris = datasets::iris().0;
    let at = |regularisation: f64| {
        critical_temperature(&iris, &Parameters { regularisation, ..plane(10, 4) }, &Execution::default()).unwrap()
    };
    // Each row counts as a cloud with a millionth of the variance, which lowers the critical temperature by the same
    // share.
    close(at(0.0) * (1.0 + 1e-6), 3.698475, 2e-6);
    close(at(relative(0.1, &iris)) / at(0.0), 0.998287, 2e-6);
}

#[test]
fn e17_a_collapsed_map_unfolds_below_the_critical_temperature_and_not_above() {
    let iris = datasets::iris().0;
    let rows = Rows::new(iris.values(), 4, None);
    let parameters = plane(10, 4);
    let critical = critical_temperature(&iris, &parameters, &Execution::default()).unwrap();
    // The leading eigenvector of iris, with as many digits as a start needs.
    let direction = [0.3614, -0.0845, 0.8567, 0.3583];
    for (factor, grows) in [(1.02, false), (0.98, true)] {
        let alpha = parameters.regularisation / rows.variance();
        let brute = BruteForce::plane(10, 4, 1.0, alpha, factor * critical);
        let image = |k: usize| -> Vec<f64> {
            let z = 2.0 * (k / 10) as f64 / 9.0 - 1.0;
            direction.iter().map(|u| 1e-4 * z * u).collect()
        };
        let mut sheet = Sheet { images: (0..100).map(image).collect(), noise: rows.variance() };
        let size = |sheet: &Sheet| sheet.images.iter().flatten().map(|y| y * y).sum::<f64>().sqrt();
        // The first sweeps remove all modes but the leading one.
        for _ in 0..12 {
            sheet = brute.sweep(&rows, &sheet).0;
        }
        let before = size(&sheet);
        sheet = brute.sweep(&rows, &sheet).0;
        let ratio = size(&sheet) / before;
        assert_eq!(ratio > 1.0, grows, "a factor of {ratio} a sweep at {factor} of the critical temperature");
        close(ratio * factor, 1.0, 0.005);
    }
}

#[test]
fn e17_the_objective_never_falls_and_rows_of_the_fit_are_placed_as_in_the_fit() {
    let iris = datasets::iris().0;
    let parameters = Parameters { regularisation: relative(0.1, &iris), start: Some(Start::Annealed), ..plane(10, 4) };
    let model = run(&iris, &parameters);
    never_falls(&model);
    assert!(model.is_converged && model.warnings.is_empty(), "{:?}", model.warnings);
    // A prototype with a seed along the plane found this likelihood. From the plane itself, without annealing, it found
    // -229.36.
    assert!(model.log_likelihood >= -212.93 * 1.001, "{}", model.log_likelihood);
    let plain = run(&iris, &Parameters { start: Some(Start::Plane), ..parameters });
    never_falls(&plain);
    assert!(model.log_likelihood > plain.log_likelihood, "{} and {}", model.log_likelihood, plain.log_likelihood);
    assert_eq!((plain.history.len(), plain.history[0].temperature), (1, 1.0));
    for model in [model, plain] {
        let places = model.map.project(&iris, 1).unwrap();
        all_close(&places.positions, &model.places.positions, 1e-10);
        all_close(&places.probabilities, &model.places.probabilities, 1e-10);
        all_close(&places.entropies, &model.places.entropies, 1e-9);
        all_close(&places.log_densities, &model.places.log_densities, 1e-9);
        assert_eq!(places.modes, model.places.modes);
        close(places.log_densities.iter().sum(), model.log_likelihood, 1e-8);
    }
}

#[test]
fn the_temperatures_go_from_above_the_critical_one_down_to_1() {
    let annealed = Parameters { start: Some(Start::Annealed), ..plane(8, 3) };
    let model = run(&datasets::iris().0, &annealed);
    let temperatures: Vec<f64> = model.history.iter().map(|step| step.temperature).collect();
    close(temperatures[0], 1.1 * model.critical_temperature, 1e-12);
    assert_eq!(temperatures.last(), Some(&1.0));
    assert!(temperatures.windows(2).all(|pair| pair[1] < pair[0] && pair[1] >= 0.95 * pair[0] * (1.0 - 1e-12)));
    // Above the critical temperature, the map is a point and all variance is noise; at the end, the map has unfolded.
    let rows = Rows::new(datasets::iris().0.values(), 4, None);
    close(model.history[0].noise, rows.variance(), 0.01 * rows.variance());
    assert!(model.history.last().unwrap().noise < 0.3 * rows.variance());
    assert_eq!(model.history.last().unwrap().noise, model.map.noise());
    let sweeps: u64 = model.history.iter().map(|step| step.sweeps).sum();
    assert_eq!(model.sweeps, sweeps + 1, "and one to place the rows");
}

#[test]
fn e18_an_annealed_map_of_a_curve_does_not_fold() {
    let stream = Stream::new(18, "curve");
    let t: Vec<f64> = (0..400).map(|row| 2.0 * stream.uniform(row) - 1.0).collect();
    let curve = |t: f64| [t, t * t / 2.0, t * t * t / 4.0];
    let noise = |at: usize| 0.05 * stream.normal(1000 + at as u64);
    let values = t.iter().enumerate().flat_map(|(row, &t)| {
        let place = curve(t);
        (0..3).map(move |j| (row, j, place[j]))
    });
    let values: Vec<f64> = values.map(|(row, j, y)| y + noise(3 * row + j)).collect();
    let points = Points::new(values, 3).unwrap();
    let parameters = Parameters {
        latent: 1,
        nodes: Some(50),
        basis: Some(8),
        regularisation: relative(0.1, &points),
        start: Some(Start::Annealed),
        ..Parameters::default()
    };
    let model = run(&points, &parameters);
    let correlation = spearman(&model.places.positions, &t);
    assert!(correlation.abs() >= 0.99, "{correlation}");
    let deviation = model.map.noise().sqrt();
    assert!((0.045..=0.055).contains(&deviation), "{deviation}");
    let plain = run(&points, &Parameters { start: Some(Start::Plane), ..parameters });
    assert!(
        model.log_likelihood >= plain.log_likelihood - 0.001 * plain.log_likelihood.abs(),
        "{} and {}",
        model.log_likelihood,
        plain.log_likelihood
    );
    assert!(model.order > 0.95, "{}", model.order);
}

/// Returns Spearman's rank correlation of two lists without equal numbers.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let ranks = |numbers: &[f64]| -> Vec<f64> {
        numbers.iter().map(|x| numbers.iter().filter(|y| *y < x).count() as f64).collect()
    };
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt()
}

/// Asserts that a sweep by brute force hardly moves a fitted map, and gives the same likelihood.
fn is_a_fixed_point(model: &Model, parameters: &Parameters, rows: &Rows, means: &[f64]) {
    let sheet = sheet_of(&model.map, means);
    let (next, log_likelihood) = BruteForce::of(parameters, rows.variance()).sweep(rows, &sheet);
    close(log_likelihood, model.log_likelihood, 1e-7 * model.log_likelihood.abs().max(1.0));
    close(next.noise, sheet.noise, 1e-4 * sheet.noise);
    let size = rows.variance().sqrt();
    for (image, next) in sheet.images.iter().zip(&next.images) {
        all_close(next, image, 0.01 * size);
    }
}

#[test]
fn a_fit_is_a_fixed_point_of_the_formulas() {
    let iris = datasets::iris().0;
    let tight = Parameters { tolerance: 1e-10, max_sweeps: 5000, ..plane(6, 3) };
    for width in [0.6, 1.0] {
        for regularisation in [0.01, 1.0] {
            let parameters = Parameters { width, regularisation, ..tight.clone() };
            let model = run(&iris, &parameters);
            is_a_fixed_point(&model, &parameters, &Rows::new(iris.values(), 4, None), &means(&iris));
        }
    }
    let weights: Vec<f64> = (0..iris.len()).map(|row| (row % 4) as f64 / 2.0).collect();
    let weighted = iris.clone().with_weights(weights.clone()).unwrap();
    let rows = Rows::new(iris.values(), 4, Some(&weights));
    let means: Vec<f64> = (0..4).map(|j| iris.row(0)[j] - rows.rows[0][j]).collect();
    // The regularisation is relative to the weight of one row, which is the sum of squared weights divided by the sum
    // of weights.
    let row_weight = weights.iter().map(|weight| weight * weight).sum::<f64>() / weights.iter().sum::<f64>();
    let of_weights = Parameters { regularisation: tight.regularisation * row_weight, ..tight.clone() };
    is_a_fixed_point(&run(&weighted, &tight), &of_weights, &rows, &means);
}

/// Returns iris with one cell in ten missing.
fn with_gaps() -> Incomplete {
    let iris = datasets::iris().0;
    let stream = Stream::new(5, "gaps");
    let values = iris.values().iter().enumerate();
    let values = values.map(|(at, &x)| if stream.uniform(at as u64) < 0.1 { f64::NAN } else { x });
    Incomplete::new(values.collect(), 4).unwrap()
}

#[test]
fn with_missing_cells_a_fit_is_a_fixed_point_of_the_formulas_over_what_is_there() {
    let gaps = with_gaps();
    assert!((40..80).contains(&gaps.missing()), "{}", gaps.missing());
    let parameters = Parameters { tolerance: 1e-10, max_sweeps: 5000, ..plane(6, 3) };
    let model = run(&gaps, &parameters);
    never_falls(&model);
    let rows = Rows::new(gaps.values(), 4, None);
    // Each column's mean follows from any present cell of the column.
    let of = |j: usize| (0..gaps.len()).find(|&row| !gaps.row(row)[j].is_nan()).unwrap();
    let means: Vec<f64> = (0..4).map(|j| gaps.row(of(j))[j] - rows.rows[of(j)][j]).collect();
    is_a_fixed_point(&model, &parameters, &rows, &means);
    let places = model.map.project(&gaps, 1).unwrap();
    all_close(&places.positions, &model.places.positions, 1e-10);
    close(places.log_densities.iter().sum(), model.log_likelihood, 1e-8);
}

#[test]
fn rows_without_gaps_give_the_same_map_by_the_kernel_for_gaps() {
    let iris = datasets::iris().0;
    let parameters = plane(6, 3);
    let model = run(&iris, &parameters);
    let same = Incomplete::new(iris.values().to_vec(), 4).unwrap();
    assert_eq!(run(&same, &parameters).map, model.map, "nothing is missing: the same kernel");
    // A row of weight 0 with a missing cell changes the kernel that is used, but not the result.
    let mut values = iris.values().to_vec();
    values.extend([f64::NAN, 3.0, 5.0, 1.0]);
    let more = Incomplete::new(values, 4).unwrap();
    let mut weights = vec![1.0; 151];
    weights[150] = 0.0;
    let with = run(Input::from(&more).with_weights(&weights), &parameters);
    close(with.log_likelihood, model.log_likelihood, 1e-4);
    all_close(&with.places.positions[..300], &model.places.positions, 1e-3);
}

#[test]
fn a_row_without_any_cell_is_placed_in_the_middle_and_named() {
    let mut values = datasets::iris().0.values().to_vec();
    values.extend([f64::NAN; 4]);
    let rows = Incomplete::new(values, 4).unwrap();
    let model = run(&rows, &plane(6, 3));
    all_close(model.places.position(150), &[0.0, 0.0], 1e-12);
    close(model.places.log_densities[150], 0.0, 1e-12);
    close(model.places.entropies[150], 36f64.ln(), 1e-12);
    assert!(
        model.warnings.iter().any(|warning| warning.starts_with("1 of the rows have no value")),
        "{:?}",
        model.warnings
    );
}

#[test]
fn weights_count_as_repeated_rows() {
    let iris = datasets::iris().0;
    let weights: Vec<f64> = (0..iris.len()).map(|row| (row % 3) as f64).collect();
    let repeated: Vec<f64> = (0..iris.len()).flat_map(|row| iris.row(row).repeat(row % 3)).collect();
    let parameters = Parameters { tolerance: 1e-10, max_sweeps: 5000, ..plane(6, 3) };
    let weighted = run(&iris.with_weights(weights).unwrap(), &parameters);
    // The regularisation is relative to the weight of one row: the sum of squared weights, 250, divided by the sum of
    // weights, 150.
    let parameters = Parameters { regularisation: parameters.regularisation * 250.0 / 150.0, ..parameters };
    let repeated = run(&Points::new(repeated, 4).unwrap(), &parameters);
    close(weighted.log_likelihood, repeated.log_likelihood, 1e-5);
    close(weighted.map.noise(), repeated.map.noise(), 1e-5);
    close(weighted.critical_temperature, repeated.critical_temperature, 1e-12);
}

#[test]
fn the_order_of_rows_the_unit_and_the_origin_change_nothing_else() {
    let iris = datasets::iris().0;
    let parameters = Parameters { tolerance: 1e-10, max_sweeps: 5000, ..plane(6, 3) };
    let model = run(&iris, &parameters);
    // Scaling by a power of two changes no bit of the rows' positions on the map.
    let doubled = Points::new(iris.values().iter().map(|x| 1024.0 * x).collect(), 4).unwrap();
    let other = run(&doubled, &parameters);
    assert_eq!((&other.places.positions, &other.places.modes), (&model.places.positions, &model.places.modes));
    close(other.log_likelihood, model.log_likelihood - 600.0 * 1024f64.ln(), 1e-8);
    close(other.map.noise(), 1024.0 * 1024.0 * model.map.noise(), 1e-9 * other.map.noise());
    close(other.map.magnification(&[0.1, 0.2]), 1024.0 * 1024.0 * model.map.magnification(&[0.1, 0.2]), 1e-3);
    let moved = Points::new(iris.values().iter().map(|x| x + 1e6).collect(), 4).unwrap();
    let other = run(&moved, &parameters);
    close(other.log_likelihood, model.log_likelihood, 1e-3);
    all_close(&other.places.positions, &model.places.positions, 1e-3);
    let order: Vec<usize> = (0..150).map(|row| row * 37 % 150).collect();
    let permuted = Points::new(order.iter().flat_map(|&row| iris.row(row).to_vec()).collect(), 4).unwrap();
    let other = run(&permuted, &parameters);
    close(other.log_likelihood, model.log_likelihood, 1e-4);
    for (at, &row) in order.iter().enumerate() {
        all_close(other.places.position(at), model.places.position(row), 1e-2);
    }
}

#[test]
fn a_plane_is_seen_as_it_is() {
    // The rows are a lattice in a tilted plane in 20 dimensions. The principal axes are the axes of the lattice, and
    // the map has no folds.
    let stream = Stream::new(3, "tilt");
    let direction = |at: u64| -> Vec<f64> { (0..20).map(|j| stream.normal(20 * at + j)).collect() };
    let (u, v) = (direction(0), direction(1));
    let rows = (0..20).flat_map(|a| (0..12).map(move |b| (f64::from(a), f64::from(b))));
    let places: Vec<(f64, f64)> = rows.collect();
    let noise = |at: usize| 0.3 * stream.normal(100 + at as u64);
    let value = |(row, &(a, b)): (usize, &(f64, f64))| -> Vec<f64> {
        (0..20).map(|j| a * u[j] + b * v[j] + noise(20 * row + j)).collect()
    };
    let points = Points::new(places.iter().enumerate().flat_map(value).collect(), 20).unwrap();
    let model = run(&points, &plane(10, 4));
    let column = |axis: usize| -> Vec<f64> { model.places.positions.iter().skip(axis).step_by(2).copied().collect() };
    let distance = |a: usize, b: usize| -> f64 {
        let at = |row: usize, axis: usize| column(axis)[row];
        (at(a, 0) - at(b, 0)).hypot(at(a, 1) - at(b, 1))
    };
    assert!(model.order > 0.95, "{}", model.order);
    // Opposite corners are far from each other, and neighbours are near.
    assert!(distance(0, 239) > 1.5 && distance(0, 1) < 0.5, "{} and {}", distance(0, 239), distance(0, 1));
}

/// Reads a table of another program's likelihoods: nodes, basis, log-likelihood per row.
fn reference(text: &str) -> Vec<(usize, usize, f64)> {
    text.lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[0].parse().unwrap(), cells[1].parse().unwrap(), cells[2].parse().unwrap())
        })
        .collect()
}

/// Asserts that one call, with another program's grid and width of functions, is at most a thousandth below that
/// program's likelihood.
fn reaches(points: &Points, cases: &[(usize, usize, f64)]) {
    for &(nodes, basis, expected) in cases {
        let parameters = Parameters { width: 0.3f64.sqrt(), ..plane(nodes, basis) };
        let model = run(points, &parameters);
        let found = model.log_likelihood / points.len() as f64;
        assert!(found >= expected - 0.001 * expected.abs(), "{nodes} and {basis}: {found} for {expected}");
    }
}

#[test]
fn one_call_reaches_the_likelihood_of_ugtm_on_wine() {
    let wine = reference(include_str!("../../../../datasets/wine/gtm.csv"));
    assert_eq!(wine.len(), 2);
    reaches(&standardised(&datasets::wine().0), &wine);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p lehr-mining --test mining -- --ignored ugtm"]
fn one_call_reaches_the_likelihood_of_ugtm_on_digits() {
    let digits = reference(include_str!("../../../../datasets/digits/gtm.csv"));
    assert_eq!(digits.len(), 3);
    reaches(&standardised(&datasets::digits().0), &digits);
}

/// Runs from a single start.
fn alone(points: &Points, start: Start, parameters: &Parameters) -> Model {
    let model = run(points, &Parameters { start: Some(start), ..parameters.clone() });
    let [candidate] = &model.candidates[..] else { panic!("{:?}", model.candidates) };
    assert_eq!((candidate.start, model.start), (start, start));
    assert_eq!((candidate.log_likelihood, candidate.order), (model.log_likelihood, model.order));
    model
}

/// Returns rows for which the annealed map is more likely, and rows for which the map from the plane is more likely:
/// iris, and a line without noise.
fn either_way() -> [(Points, Parameters, Start); 2] {
    let line = Points::new((0..40).flat_map(|i| [f64::from(i), 2.0 * f64::from(i)]).collect(), 2).unwrap();
    let on_a_line = Parameters { latent: 1, ..Parameters::default() };
    [(datasets::iris().0, plane(8, 3), Start::Annealed), (line, on_a_line, Start::Plane)]
}

#[test]
fn of_both_beginnings_the_likelier_end_is_kept_to_the_bit() {
    for (points, parameters, expected) in either_way() {
        let model = run(&points, &parameters);
        let of = |start| alone(&points, start, &parameters);
        let (annealed, plane) = (of(Start::Annealed), of(Start::Plane));
        let kept = if annealed.log_likelihood >= plane.log_likelihood { &annealed } else { &plane };
        assert_eq!((model.start, kept.start), (expected, expected));
        // The map, the positions and the history equal those of a run from the kept start alone.
        assert_eq!((&model.map, &model.places, &model.history), (&kept.map, &kept.places, &kept.history));
        assert_eq!((&model.ascent, model.log_likelihood, model.order), (&kept.ascent, kept.log_likelihood, kept.order));
        assert_eq!(model.is_converged, kept.is_converged);
        // Both fits are reported. The likelihood of the fit that was not kept comes from a measuring pass, which sums
        // in another order than the placement.
        let [first, second] = &model.candidates[..] else { panic!("{:?}", model.candidates) };
        for (candidate, alone) in [(first, &annealed), (second, &plane)] {
            assert_eq!((candidate.start, candidate.order), (alone.start, alone.order));
            close(candidate.log_likelihood, alone.log_likelihood, 1e-9 * alone.log_likelihood.abs());
            assert_eq!((candidate.sweeps, candidate.is_converged), (alone.sweeps, alone.is_converged));
        }
        assert_eq!(model.sweeps, first.sweeps + second.sweeps + 1, "and one to place the rows");
    }
}

#[test]
fn a_map_that_never_unfolds_is_begun_once() {
    // A stiff map of one column is stable as a point at any temperature above 1.
    let stream = Stream::new(2, "round");
    let points = Points::new((0..200).map(|row| stream.normal(row)).collect(), 1).unwrap();
    let stiff = Parameters { latent: 1, regularisation: 1e6, ..Parameters::default() };
    let model = run(&points, &stiff);
    assert!(1.1 * model.critical_temperature < 1.0, "{}", model.critical_temperature);
    assert_eq!((model.candidates.len(), model.start), (1, Start::Plane));
}
