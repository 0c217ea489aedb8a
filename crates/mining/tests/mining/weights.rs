//! Weights in another unit change no result, because numbers of rows are always effective numbers.

use lehr_data::{Points, synthetic};
use lehr_mining::Execution;
use lehr_mining::anneal::Silent;
use lehr_mining::{gtm, mixture};

/// Three clouds that do not overlap.
fn clouds() -> Points {
    let at = |x: f64, y: f64| synthetic::Component { center: vec![x, y], deviation: 1.0, weight: 1.0 };
    synthetic::gaussian_mixture(300, &[at(0.0, 0.0), at(8.0, 0.0), at(0.0, 8.0)], 0).0
}

fn weighted(weight: impl Fn(usize) -> f64) -> Points {
    let points = clouds();
    let weights = (0..points.len()).map(weight).collect();
    points.with_weights(weights).unwrap()
}

fn chosen(points: &Points) -> mixture::Model {
    mixture::fit(points, &mixture::Parameters::default(), &Execution::default(), &mut Silent).unwrap()
}

#[test]
fn the_number_of_components_does_not_depend_on_the_unit_of_weights() {
    let plain = chosen(&clouds());
    assert_eq!(plain.mixture.len(), 3);
    for unit in [1.0 / 300.0, 5.0, 1e-6, 1e6, 2f64.powi(40)] {
        let model = chosen(&weighted(|_| unit));
        assert_eq!(model.mixture.len(), 3, "weights of {unit}");
        let (ours, plain) = (model.criteria, plain.criteria);
        for (name, found, expected) in
            [("BIC", ours.bic, plain.bic), ("AIC", ours.aic, plain.aic), ("ICL", ours.icl, plain.icl)]
        {
            assert!((found / expected - 1.0).abs() < 1e-9, "{name} {found} and not {expected}, weights of {unit}");
        }
        let log_likelihood = ours.log_likelihood / unit;
        assert!((log_likelihood / plain.log_likelihood - 1.0).abs() < 1e-9, "{log_likelihood}");
    }
}

#[test]
fn uneven_weights_count_as_fewer_rows() {
    // With weights 0 to 4, the effective number (sum w)^2 / sum w^2 of 300 rows is 200.
    let model = chosen(&weighted(|row| (row % 5) as f64));
    assert_eq!(model.mixture.len(), 3);
    let criteria = model.criteria;
    let penalty = criteria.bic - criteria.aic;
    let expected = criteria.free_parameters as f64 * (200f64.ln() - 2.0);
    assert!((penalty - expected).abs() < 1e-8, "{penalty} and not {expected}");
}

#[test]
fn a_topographic_map_does_not_depend_on_the_unit_of_weights() {
    let map = |points: &Points| {
        gtm::fit(points, &gtm::Parameters::default(), &Execution::default(), &mut Silent).unwrap().map
    };
    let plain = map(&clouds());
    for unit in [1.0 / 1024.0, 8.0] {
        assert_eq!(serde_json::to_string(&map(&weighted(|_| unit))).unwrap(), serde_json::to_string(&plain).unwrap());
    }
}
