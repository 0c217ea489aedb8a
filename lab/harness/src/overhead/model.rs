//! Least squares for overheads: `a + b x`, and the papers' models without intercept, `a₁x₁ (+ a₂x₂)` (003 eq. 6).
//!
//! A fit has a handful of points and at most two factors. So columns are made orthogonal one after the other (modified
//! Gram-Schmidt), which stays accurate for similar factors such as p and p². A fit uses only points in the linear
//! region (003 section 4: f below about 1), and names the points that it leaves out.

/// The limit of f: overheads from this value on are outside the region that the models describe (003 section 4.1).
pub const LINEAR_BELOW: f64 = 1.0;

/// The smallest relative remainder of a column after projecting out the others; with a smaller remainder, the column
/// depends on the others.
const DEPENDENT: f64 = 1e-9;

/// The coefficients of a model, and how well they describe the points.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The coefficients, one for each factor; for a line, the intercept comes first.
    pub coefficients: Vec<f64>,
    /// The measured minus the fitted values, one for each point.
    pub residuals: Vec<f64>,
    /// 1 minus the residuals' sum of squares divided by that of the values: about their mean for a line, about 0
    /// without an intercept.
    pub r_squared: f64,
}

/// Fits `a + b x`. Returns `None` if there are fewer than three points, since a line goes through any two, or if all
/// have the same `x`.
pub fn line(x: &[f64], y: &[f64]) -> Option<Fit> {
    let mean = y.iter().sum::<f64>() / y.len() as f64;
    fit(&[vec![1.0; x.len()], x.to_vec()], y, mean)
}

/// Fits `a₁x₁ + …` without an intercept. Returns `None` unless there are more points than factors and the factors are
/// independent.
pub fn factors(columns: &[Vec<f64>], y: &[f64]) -> Option<Fit> {
    fit(columns, y, 0.0)
}

fn fit(columns: &[Vec<f64>], y: &[f64], zero: f64) -> Option<Fit> {
    if y.len() <= columns.len() {
        return None;
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut basis: Vec<Vec<f64>> = Vec::new();
    // The upper triangle converts coefficients to coordinates in the basis, with a column for each factor.
    let mut triangle: Vec<Vec<f64>> = Vec::new();
    for column in columns {
        let mut rest = column.clone();
        let mut above = Vec::new();
        for unit in &basis {
            let share = dot(unit, &rest);
            rest.iter_mut().zip(unit).for_each(|(rest, unit)| *rest -= share * unit);
            above.push(share);
        }
        let (length, whole) = (dot(&rest, &rest).sqrt(), dot(column, column).sqrt());
        if length.is_nan() || length <= DEPENDENT * whole {
            return None;
        }
        rest.iter_mut().for_each(|value| *value /= length);
        above.push(length);
        basis.push(rest);
        triangle.push(above);
    }
    let mut residuals = y.to_vec();
    let mut shares = Vec::new();
    for unit in &basis {
        let share = dot(unit, &residuals);
        residuals.iter_mut().zip(unit).for_each(|(rest, unit)| *rest -= share * unit);
        shares.push(share);
    }
    let mut coefficients = vec![0.0; columns.len()];
    for row in (0..columns.len()).rev() {
        let known: f64 = (row + 1..columns.len()).map(|column| triangle[column][row] * coefficients[column]).sum();
        coefficients[row] = (shares[row] - known) / triangle[row][row];
    }
    let spread: f64 = y.iter().map(|value| (value - zero).powi(2)).sum();
    let left = dot(&residuals, &residuals);
    let r_squared = if spread > 0.0 { 1.0 - left / spread } else { 1.0 };
    Some(Fit { coefficients, residuals, r_squared })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{found} for {expected}");
        }
    }

    #[test]
    fn a_line_has_the_closed_form() {
        // The means are 2 and 3, the slope is Σ(x-2)(y-3) / Σ(x-2)² = (2 + 0 + 3) / 2, and the intercept 3 - 2·2.5.
        let fit = line(&[1.0, 2.0, 3.0], &[1.0, 2.0, 6.0]).unwrap();
        near(&fit.coefficients, &[-2.0, 2.5]);
        near(&fit.residuals, &[0.5, -1.0, 0.5]);
        // The residuals have 1.5 of the 14 about the mean.
        near(&[fit.r_squared], &[1.0 - 1.5 / 14.0]);
    }

    #[test]
    fn a_law_is_found_again() {
        let grains = [1e4, 2e4, 5e4, 1e5, 2e5];
        let reciprocal = grains.map(|n: f64| 1.0 / n);
        let fit = line(&reciprocal, &reciprocal.map(|x| 0.03 + 470.0 * x)).unwrap();
        near(&fit.coefficients, &[0.03, 470.0]);
        assert!(fit.r_squared > 1.0 - 1e-12);
    }

    #[test]
    fn one_factor_without_intercept_is_the_ratio_of_products() {
        // Σxy / Σx² = (2 + 10 + 12) / (1 + 4 + 9).
        let fit = factors(&[vec![1.0, 2.0, 3.0]], &[2.0, 5.0, 4.0]).unwrap();
        near(&fit.coefficients, &[24.0 / 14.0]);
        let left: f64 = fit.residuals.iter().map(|rest| rest * rest).sum();
        near(&[fit.r_squared], &[1.0 - left / 45.0]);
        // The residuals are orthogonal to the factor.
        near(&[fit.residuals[0] + 2.0 * fit.residuals[1] + 3.0 * fit.residuals[2]], &[0.0]);
    }

    #[test]
    fn two_factors_solve_the_normal_equations() {
        // p and p²: Σp² = 30, Σp³ = 100, Σp⁴ = 354; Σpf = 33, Σp²f = 111. Determinant 30·354 - 100² = 620.
        let p = vec![1.0, 2.0, 3.0, 4.0];
        let squares: Vec<f64> = p.iter().map(|p| p * p).collect();
        let fit = factors(&[p, squares], &[1.0, 3.0, 2.0, 5.0]).unwrap();
        near(&fit.coefficients, &[(33.0 * 354.0 - 111.0 * 100.0) / 620.0, (30.0 * 111.0 - 100.0 * 33.0) / 620.0]);
    }

    #[test]
    fn too_few_points_and_factors_that_do_not_differ_have_no_fit() {
        assert_eq!(line(&[1.0, 2.0], &[1.0, 2.0]), None);
        assert_eq!(line(&[2.0; 4], &[1.0, 2.0, 3.0, 4.0]), None);
        assert_eq!(factors(&[vec![1.0], vec![2.0]], &[1.0]), None);
        // With all layouts on one node, x₂ is constant but not a multiple of p. With a single p it is a multiple.
        assert!(factors(&[vec![2.0, 4.0, 8.0], vec![1.0; 3]], &[0.1, 0.2, 0.5]).is_some());
        assert_eq!(factors(&[vec![2.0; 3], vec![1.0; 3]], &[0.1, 0.2, 0.5]), None);
        assert_eq!(factors(&[vec![0.0; 3]], &[0.1, 0.2, 0.5]), None);
    }
}
