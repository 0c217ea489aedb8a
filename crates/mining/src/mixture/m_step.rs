//! The M-step of a mixture: computes new components from the sums of a pass.
//!
//! Each row counts as a cloud of variance R around its values. The clouds do not affect the means. The covariances are
//! those of the rows about the new means, plus R (for spherical covariances, plus the mean of R). The result is the
//! exact maximum for the given memberships, so the objective never falls, whatever the regularisation.

use lehr_numerics::cholesky::triangle;

use super::e_step::TOTALS;
use super::gaussians::Gaussians;
use super::parameters::Covariance;
use crate::rows::{RowMajor, RowMajorMut};

/// A component with at most this share of the weight does not move, because the quotients of its sums would be rounding
/// noise.
pub(crate) const LEAST_WEIGHT: f64 = 1e-12;

/// Updates the components from the sums of a pass. The moments in these sums are relative to the old means.
///
/// Each component's covariance is averaged with the pooled covariance within components, which has the weight of
/// `borrowed` average components. `borrowed` is 0 during a fit. It is positive at a start, where the covariance of a
/// component with few rows is not reliable.
pub(crate) fn update(gaussians: &mut Gaussians, total: &[f64], total_weight: f64, clouds: &[f64], borrowed: f64) {
    let (dimension, count) = (gaussians.dimension, gaussians.len());
    let scatter = gaussians.covariance.scatter();
    let per_component = scatter.per_component(dimension);
    let sums = &total[TOTALS..];
    let second_len = per_component - 1 - dimension;
    // `own` has the second moments of each component about its new mean, and `pooled` has their sum over the
    // components.
    let pooled_len = if gaussians.covariance == Covariance::Tied { triangle(dimension) } else { second_len };
    let mut pooled = vec![0.0; pooled_len];
    if gaussians.covariance == Covariance::Tied {
        pooled.copy_from_slice(&sums[count * per_component..count * per_component + pooled_len]);
    }
    let mut own = vec![0.0; count * second_len];
    let mut counted = 0.0;
    for k in 0..count {
        let sums = RowMajor::new(sums, per_component).row(k);
        let mass = sums[0];
        gaussians.weights[k] = mass / total_weight;
        if gaussians.weights[k] <= LEAST_WEIGHT {
            continue;
        }
        counted += mass;
        let shift: Vec<f64> = sums[1..=dimension].iter().map(|sum| sum / mass).collect();
        let mut means = RowMajorMut::new(&mut gaussians.means, dimension);
        means.row(k).iter_mut().zip(&shift).for_each(|(mean, shift)| *mean += shift);
        if gaussians.covariance == Covariance::Tied {
            for_pairs(dimension, |n, i, j| pooled[n] -= mass * shift[i] * shift[j]);
            continue;
        }
        let own = RowMajorMut::new(&mut own, second_len).into_row(k);
        own.copy_from_slice(&sums[1 + dimension..]);
        match gaussians.covariance {
            Covariance::Full => for_pairs(dimension, |n, i, j| own[n] -= mass * shift[i] * shift[j]),
            _ => own.iter_mut().zip(&shift).for_each(|(sum, shift)| *sum = (*sum - mass * shift * shift).max(0.0)),
        }
        pooled.iter_mut().zip(&*own).for_each(|(pooled, own)| *pooled += own);
    }
    let lent = borrowed * counted / count as f64;
    match gaussians.covariance {
        Covariance::Tied => {
            for_pairs(dimension, |n, i, j| {
                let cloud = if i == j { clouds[i] } else { 0.0 };
                gaussians.covariances[n] = pooled[n] / counted + cloud;
            });
        }
        covariance => {
            let length = covariance.len(dimension);
            for k in 0..count {
                let mass = gaussians.weights[k] * total_weight;
                if gaussians.weights[k] <= LEAST_WEIGHT {
                    continue;
                }
                let own = RowMajor::new(&own, second_len).row(k);
                let variance = |n: usize| (own[n] + lent * (pooled[n] / counted)) / (mass + lent);
                let out = RowMajorMut::new(&mut gaussians.covariances, length).into_row(k);
                match covariance {
                    Covariance::Spherical => {
                        out[0] = (0..dimension).map(|j| variance(j) + clouds[j]).sum::<f64>() / dimension as f64;
                    }
                    Covariance::Diagonal => {
                        out.iter_mut().enumerate().for_each(|(j, out)| *out = variance(j) + clouds[j]);
                    }
                    _ => for_pairs(dimension, |n, i, j| {
                        out[n] = variance(n) + if i == j { clouds[i] } else { 0.0 };
                    }),
                }
            }
        }
    }
}

/// Updates the components from sums of each column over the rows that have a value in the column. The sums of a
/// component are its mass, then the masses, first moments and second moments of all columns about the component's mean.
///
/// The result is the exact maximum for the given memberships if columns are independent within a component, as for
/// spherical and diagonal covariances. A component does not move along a column in which none of its rows has a value.
pub(crate) fn update_by_column(gaussians: &mut Gaussians, total: &[f64], total_weight: f64, clouds: &[f64]) {
    let dimension = gaussians.dimension;
    let length = gaussians.covariance.len(dimension);
    for (k, sums) in total[TOTALS..].chunks_exact(1 + 3 * dimension).enumerate() {
        gaussians.weights[k] = sums[0] / total_weight;
        if gaussians.weights[k] <= LEAST_WEIGHT {
            continue;
        }
        let (masses, moments) = sums[1..].split_at(dimension);
        let (firsts, seconds) = moments.split_at(dimension);
        let (mut cells, mut square) = (0.0, 0.0);
        for j in 0..dimension {
            let mass = masses[j];
            if mass <= LEAST_WEIGHT * total_weight {
                continue;
            }
            let shift = firsts[j] / mass;
            gaussians.means[k * dimension + j] += shift;
            let about = (seconds[j] - mass * shift * shift).max(0.0) + mass * clouds[j];
            cells += mass;
            square += about;
            if gaussians.covariance == Covariance::Diagonal {
                gaussians.covariances[k * length + j] = about / mass;
            }
        }
        if gaussians.covariance == Covariance::Spherical && cells > 0.0 {
            gaussians.covariances[k] = square / cells;
        }
    }
}

/// Calls `each` with the index, row and column of each entry of a packed lower triangle.
pub(crate) fn for_pairs(dimension: usize, mut each: impl FnMut(usize, usize, usize)) {
    let mut n = 0;
    for i in 0..dimension {
        for j in 0..=i {
            each(n, i, j);
            n += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Updates two components. The rows (0, 0) and (2, 0) belong to the first component, and (5, 5) and (5, 9) to the
    /// second. The sums are relative to the means (0, 0) and (5, 6).
    fn updated(covariance: Covariance, clouds: &[f64], borrowed: f64) -> Gaussians {
        let mut gaussians = Gaussians {
            covariance,
            dimension: 2,
            weights: vec![0.5; 2],
            means: vec![0.0, 0.0, 5.0, 6.0],
            covariances: vec![1.0; 2 * covariance.len(2)],
        };
        let total = match covariance {
            Covariance::Spherical | Covariance::Diagonal => {
                vec![0.0, 0.0, 2.0, 2.0, 0.0, 4.0, 0.0, 2.0, 0.0, 2.0, 0.0, 10.0]
            }
            Covariance::Full => vec![0.0, 0.0, 2.0, 2.0, 0.0, 4.0, 0.0, 0.0, 2.0, 0.0, 2.0, 0.0, 0.0, 10.0],
            Covariance::Tied => vec![0.0, 0.0, 2.0, 2.0, 0.0, 2.0, 0.0, 2.0, 4.0, 0.0, 10.0],
        };
        update(&mut gaussians, &total, 4.0, clouds, borrowed);
        assert_eq!((&gaussians.weights[..], &gaussians.means[..]), (&[0.5, 0.5][..], &[1.0, 0.0, 5.0, 7.0][..]));
        gaussians
    }

    #[test]
    fn variances_are_those_of_the_rows_about_the_new_means() {
        assert_eq!(updated(Covariance::Spherical, &[0.0, 0.0], 0.0).covariances, [0.5, 2.0]);
        assert_eq!(updated(Covariance::Diagonal, &[0.0, 0.0], 0.0).covariances, [1.0, 0.0, 0.0, 4.0]);
        assert_eq!(updated(Covariance::Full, &[0.0, 0.0], 0.0).covariances, [1.0, 0.0, 0.0, 0.0, 0.0, 4.0]);
        assert_eq!(updated(Covariance::Tied, &[0.0, 0.0], 0.0).covariances[..3], [0.5, 0.0, 2.0]);
    }

    #[test]
    fn clouds_widen_and_what_is_borrowed_is_the_pooled_covariance() {
        assert_eq!(updated(Covariance::Diagonal, &[0.25, 0.5], 0.0).covariances, [1.25, 0.5, 0.25, 4.5]);
        assert_eq!(updated(Covariance::Spherical, &[0.25, 0.75], 0.0).covariances, [1.0, 2.5]);
        // The pooled variances are 0.5 and 2. An average component has two rows, so each result is the mean of the
        // component's own variance and the pooled variance.
        assert_eq!(updated(Covariance::Diagonal, &[0.0, 0.0], 1.0).covariances, [0.75, 1.0, 0.25, 3.0]);
    }

    #[test]
    fn each_column_is_fitted_to_the_rows_that_have_it() {
        let of = |covariance: Covariance| {
            let mut gaussians = Gaussians {
                covariance,
                dimension: 2,
                weights: vec![1.0],
                means: vec![0.0, 5.0],
                covariances: vec![7.0; covariance.len(2)],
            };
            // The rows are (0, 5), (2, ?) and (4, ?). The sums are relative to (0, 5).
            update_by_column(&mut gaussians, &[0.0, 0.0, 3.0, 3.0, 1.0, 6.0, 0.0, 20.0, 0.0], 3.0, &[0.0, 0.5]);
            gaussians
        };
        let diagonal = of(Covariance::Diagonal);
        assert_eq!((&diagonal.means[..], &diagonal.covariances[..]), (&[2.0, 5.0][..], &[8.0 / 3.0, 0.5][..]));
        assert_eq!(of(Covariance::Spherical).covariances, [8.5 / 4.0]);
    }

    #[test]
    fn a_column_that_no_row_of_a_component_has_stays_where_it_is() {
        let mut gaussians = Gaussians {
            covariance: Covariance::Diagonal,
            dimension: 2,
            weights: vec![1.0],
            means: vec![0.0, 5.0],
            covariances: vec![7.0, 9.0],
        };
        update_by_column(&mut gaussians, &[0.0, 0.0, 2.0, 2.0, 0.0, 2.0, 0.0, 4.0, 0.0], 2.0, &[0.0; 2]);
        assert_eq!((&gaussians.means[..], &gaussians.covariances[..]), (&[1.0, 5.0][..], &[1.0, 9.0][..]));
    }

    #[test]
    fn a_component_without_weight_stays_where_it_is() {
        let mut gaussians = Gaussians {
            covariance: Covariance::Spherical,
            dimension: 1,
            weights: vec![0.5; 2],
            means: vec![0.0, 7.0],
            covariances: vec![1.0, 3.0],
        };
        update(&mut gaussians, &[0.0, 0.0, 2.0, 0.0, 8.0, 0.0, 0.0, 0.0], 2.0, &[0.0], 0.0);
        assert_eq!((&gaussians.means[..], &gaussians.covariances[..]), (&[0.0, 7.0][..], &[4.0, 3.0][..]));
    }
}
