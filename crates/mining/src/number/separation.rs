//! Tests whether the density of rows has a valley between two centres.
//!
//! The test examines the rows of a convex cell: rows that are nearer to the mean of the two centres than to another
//! centre. Suppose that the density has one log-concave mode. Normal distributions, exponential distributions and
//! uniform distributions on convex bodies are examples, with any correlation. Then its projection from a convex cell
//! onto any line is log-concave too (Prékopa), and has one mode. A valley in the projection therefore implies a valley
//! in the density. The rows of the two cells alone would not do. The common face of the cells is narrower than the
//! cells, so even uniform rows thin out there.
//!
//! For rows on a sphere, such as positions on the globe, a great circle replaces the line. In a projection, rows that
//! are spread evenly over a cap would become denser towards its rim.
//!
//! A row pulls its centre towards itself. With many columns, this alone would divide the projections, so the
//! contribution of each row to its centre is removed.

use super::partition::{Partition, squared};
use super::valley::{bins, valley};

/// Up to this number of columns, the test also tries the direction that separates two cells best, besides the line
/// between their centres.
const MOST_FOR_DISCRIMINANT: usize = 32;
/// The share of rows at each end of a line that is left out. Otherwise, because of a single distant row, all other rows
/// could be in one bin.
const TAIL: f64 = 0.005;
/// The margin, as a share of the centres' distance, by which a valley must be away from each centre.
const MARGIN: f64 = 0.1;

/// Two centres on a sphere count as opposite if their midpoint is nearer than this share of the radius to the sphere's
/// centre.
const NOT_OPPOSITE: f64 = 0.2;
/// The factor by which the evidence for a valley between opposite centres is reduced.
const OPPOSITE_SHARE: f64 = 0.5;

/// The evidence for valleys along the line between two centres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Separation {
    /// The gain in log-likelihood of a valley between the centres.
    pub between: f64,
    /// The largest gain in log-likelihood of a valley within one of the two cells, along the same line.
    pub within: f64,
}

/// Tests for a valley between the centres of two cells.
pub(super) fn separation(partition: &Partition<'_>, a: usize, b: usize) -> Separation {
    let middle = partition.middle(a, b);
    let sample = partition.sample;
    let rows: Vec<usize> = (0..sample.len())
        .filter(|&row| {
            let label = partition.labels[row];
            label == a || label == b || squared(sample.row(row), &middle) < partition.own[row]
        })
        .collect();
    let cell = Cell {
        partition,
        rows: &rows,
        centers: [&partition.centers[a], &partition.centers[b]],
        masses: [partition.masses[a], partition.masses[b]],
        side: &|row| match partition.labels[row] {
            label if label == a => Some(0),
            label if label == b => Some(1),
            _ => None,
        },
    };
    cell.separation()
}

/// Tests for a valley between the halves of one cell.
pub(super) fn division(partition: &Partition<'_>, k: usize, halves: &[Vec<f64>; 2]) -> f64 {
    let sample = partition.sample;
    let rows: Vec<usize> = (0..sample.len()).filter(|&row| partition.labels[row] == k).collect();
    let side = |row: usize| {
        let values = sample.row(row);
        Some((squared(values, &halves[1]) < squared(values, &halves[0])) as usize)
    };
    let mut masses = [0.0; 2];
    rows.iter().for_each(|&row| masses[side(row).unwrap_or(0)] += sample.weight(row));
    Cell { partition, rows: &rows, centers: [&halves[0], &halves[1]], masses, side: &side }.separation().between
}

/// The rows of a convex cell, and two centres in it.
struct Cell<'a> {
    partition: &'a Partition<'a>,
    rows: &'a [usize],
    centers: [&'a [f64]; 2],
    masses: [f64; 2],
    /// The index of the centre to which a row has contributed, if any.
    side: &'a dyn Fn(usize) -> Option<usize>,
}

impl Cell<'_> {
    fn separation(&self) -> Separation {
        let dimension = self.partition.sample.dimension;
        let difference: Vec<f64> = self.centers[1].iter().zip(self.centers[0]).map(|(b, a)| b - a).collect();
        let straight = self.along(&difference, &difference, &|residual| residual.iter().map(|x| x * x).sum());
        if !(2..=MOST_FOR_DISCRIMINANT).contains(&dimension) {
            return straight;
        }
        let Some(factor) = self.scatter() else { return straight };
        let direction = factor.solve(&difference);
        let best = self.along(&direction, &difference, &|residual| {
            factor.solve(residual).iter().zip(residual).map(|(x, y)| x * y).sum()
        });
        Separation { between: straight.between.max(best.between), within: straight.within.max(best.within) }
    }

    /// Tests along a direction, which is a metric applied to the difference of the centres. `square` returns the
    /// squared length of a residual in that metric.
    fn along(&self, direction: &[f64], difference: &[f64], square: &dyn Fn(&[f64]) -> f64) -> Separation {
        let sample = self.partition.sample;
        let length: f64 = direction.iter().zip(difference).map(|(x, y)| x * y).sum();
        if length <= 0.0 {
            return Separation::default();
        }
        let sphere = self.partition.sample.sphere();
        let circle = sphere.and_then(|sphere| Circle::new(sphere, self.centers, direction));
        // If rows cover the sphere, opposite centres end up where the rows look most divided by chance.
        let share = if sphere.is_some() && circle.is_none() { OPPOSITE_SHARE } else { 1.0 };
        let mut residual = vec![0.0; difference.len()];
        let mut placed: Vec<(f64, f64, Option<usize>)> = Vec::with_capacity(self.rows.len());
        for &row in self.rows {
            let (values, weight, side) = (sample.row(row), sample.weight(row), (self.side)(row));
            let mut place = match &circle {
                Some(circle) => circle.place(values) * length,
                None => {
                    let middle = self.centers[0].iter().zip(self.centers[1]).map(|(a, b)| 0.5 * (a + b));
                    values.iter().zip(middle).zip(direction).map(|((x, middle), d)| (x - middle) * d).sum()
                }
            };
            // Without the row, its centre would be farther from the row by the factor 1 + w / (m - w).
            if let Some(side) = side {
                let rest = self.masses[side] - weight;
                if rest > 1e-9 * weight {
                    let own = self.centers[side];
                    residual.iter_mut().zip(values.iter().zip(own)).for_each(|(r, (x, c))| *r = x - c);
                    let share = weight / rest;
                    let pulled = 0.5 * square(&residual) * share * (2.0 + share);
                    place += if side == 0 { pulled } else { -pulled };
                }
            }
            placed.push((place / length, weight, side));
        }
        placed.sort_by(|a, b| a.0.total_cmp(&b.0));
        let between = share * evidence(placed.iter().map(|&(place, weight, _)| (place, weight)), Some((-0.5, 0.5)));
        let within = |side: usize| {
            let own = placed.iter().filter(|&&(_, _, of)| of == Some(side));
            evidence(own.map(|&(place, weight, _)| (place, weight)), None)
        };
        Separation { between, within: if between < super::NEEDED { 0.0 } else { within(0).max(within(1)) } }
    }

    /// The common scatter about both centres, which is shrunk towards a spherical one if there are few rows for each
    /// column.
    fn scatter(&self) -> Option<Factor> {
        let sample = self.partition.sample;
        let dimension = sample.dimension;
        let mut scatter = vec![0.0; dimension * dimension];
        let (mut rows, mut weights) = (0.0, 0.0);
        let mut residual = vec![0.0; dimension];
        for &row in self.rows {
            let Some(side) = (self.side)(row) else { continue };
            let (values, weight) = (sample.row(row), sample.weight(row));
            residual.iter_mut().zip(values.iter().zip(self.centers[side])).for_each(|(r, (x, c))| *r = x - c);
            for j in 0..dimension {
                for k in 0..=j {
                    scatter[j * dimension + k] += weight * residual[j] * residual[k];
                }
            }
            rows += 1.0;
            weights += weight;
        }
        let trace: f64 = (0..dimension).map(|j| scatter[j * dimension + j]).sum();
        let columns = dimension as f64;
        let share = 3.0 * columns / (rows + 3.0 * columns);
        for j in 0..dimension {
            for k in 0..=j {
                let at = &mut scatter[j * dimension + k];
                *at *= (1.0 - share) / weights;
                if j == k {
                    *at += share * trace / columns / weights;
                }
            }
        }
        Factor::new(scatter, dimension)
    }
}

/// A great circle through two centres of rows on a sphere, or in another direction through their midpoint.
struct Circle<'a> {
    sphere: &'a [f64],
    /// The direction from the middle of the sphere to the midpoint of the centres, and the direction of the circle
    /// there, at right angles. Both have length 1.
    axes: [Vec<f64>; 2],
    angles: [f64; 2],
}

impl<'a> Circle<'a> {
    /// Returns `None` if the centres are opposite each other, so that no circle is determined.
    fn new(sphere: &'a [f64], centers: [&[f64]; 2], direction: &[f64]) -> Option<Self> {
        let unit = |vector: Vec<f64>| {
            let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            (length > 0.0).then(|| vector.into_iter().map(|x| x / length).collect::<Vec<f64>>())
        };
        let of = |center: &[f64]| unit(center.iter().zip(sphere).map(|(x, o)| x - o).collect());
        let (a, b) = (of(centers[0])?, of(centers[1])?);
        let between: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 0.5 * (a + b)).collect();
        if between.iter().map(|x| x * x).sum::<f64>() < NOT_OPPOSITE * NOT_OPPOSITE {
            return None;
        }
        let out = unit(between)?;
        let along: f64 = direction.iter().zip(&out).map(|(d, o)| d * o).sum();
        let ahead = unit(direction.iter().zip(&out).map(|(d, o)| d - along * o).collect())?;
        let mut circle = Self { sphere, axes: [out, ahead], angles: [0.0; 2] };
        circle.angles = centers.map(|center| circle.angle(center));
        (circle.angles[0] < circle.angles[1]).then_some(circle)
    }

    fn angle(&self, values: &[f64]) -> f64 {
        let [x, y] = [0, 1].map(|axis| {
            values.iter().zip(self.sphere).zip(&self.axes[axis]).map(|((x, o), a)| (x - o) * a).sum::<f64>()
        });
        libm::atan2(y, x)
    }

    /// The position of a row along the circle; the centres are at -1/2 and 1/2.
    fn place(&self, values: &[f64]) -> f64 {
        (self.angle(values) - self.angles[0]) / (self.angles[1] - self.angles[0]) - 0.5
    }
}

/// The Cholesky factor of a scatter matrix.
struct Factor {
    lower: Vec<f64>,
    dimension: usize,
}

impl Factor {
    fn new(mut lower: Vec<f64>, dimension: usize) -> Option<Self> {
        for j in 0..dimension {
            for i in j..dimension {
                let dot: f64 = (0..j).map(|k| lower[i * dimension + k] * lower[j * dimension + k]).sum();
                let rest = lower[i * dimension + j] - dot;
                if i == j {
                    if rest <= 0.0 {
                        return None;
                    }
                    lower[j * dimension + j] = rest.sqrt();
                } else {
                    lower[i * dimension + j] = rest / lower[j * dimension + j];
                }
            }
        }
        Some(Self { lower, dimension })
    }

    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (l, n) = (&self.lower, self.dimension);
        let mut x = right.to_vec();
        for i in 0..n {
            let dot: f64 = (0..i).map(|k| l[i * n + k] * x[k]).sum();
            x[i] = (x[i] - dot) / l[i * n + i];
        }
        for i in (0..n).rev() {
            let dot: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
            x[i] = (x[i] - dot) / l[i * n + i];
        }
        x
    }
}

/// Tests for a valley in sorted positions with their weights: between two positions, or anywhere.
fn evidence(placed: impl Iterator<Item = (f64, f64)> + Clone, between: Option<(f64, f64)>) -> f64 {
    let (mut weights, mut squares) = (0.0, 0.0);
    for (_, weight) in placed.clone() {
        weights += weight;
        squares += weight * weight;
    }
    if squares <= 0.0 {
        return 0.0;
    }
    // Weights have no unit, so they count as their effective sample size (Kish).
    let effective = weights * weights / squares;
    let at = |share: f64| {
        let mut passed = 0.0;
        placed.clone().find(|&(_, weight)| {
            passed += weight;
            passed >= share * weights
        })
    };
    let (Some((low, _)), Some((high, _))) = (at(TAIL), at(1.0 - TAIL)) else { return 0.0 };
    let (low, high) = between.map_or((low, high), |(a, b)| (low.min(a), high.max(b)));
    let mut counts = vec![0.0; bins(effective)];
    let width = (high - low) / counts.len() as f64;
    if width <= 0.0 {
        return 0.0;
    }
    for (place, weight) in placed {
        if (low..=high).contains(&place) {
            let bin = ((place - low) / width) as usize;
            let last = counts.len() - 1;
            counts[bin.min(last)] += weight * effective / weights;
        }
    }
    let cuts = match between {
        None => 1..=counts.len() - 1,
        Some((a, b)) => {
            let inner = MARGIN * (b - a);
            let first = ((a + inner - low) / width).ceil();
            let last = ((b - inner - low) / width).floor();
            first.min(last) as usize..=first.max(last) as usize
        }
    };
    valley(&counts, cuts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_on_a_sphere_is_placed_by_its_angle_between_two_centres() {
        let at = |degrees: f64| [degrees.to_radians().cos(), degrees.to_radians().sin(), 0.0];
        let (a, b) = (at(10.0), at(50.0));
        let ahead: Vec<f64> = b.iter().zip(&a).map(|(b, a)| b - a).collect();
        let circle = Circle::new(&[0.0; 3], [&a, &b], &ahead).unwrap();
        for (degrees, place) in [(10.0, -0.5), (50.0, 0.5), (30.0, 0.0), (0.0, -0.75), (130.0, 2.5)] {
            assert!((circle.place(&at(degrees)) - place).abs() < 1e-12, "{degrees}");
        }
        // For a row beside the circle, only the angle around the circle's axis counts.
        assert!(circle.place(&[0.3 * 30f64.to_radians().cos(), 0.3 * 30f64.to_radians().sin(), 0.9]).abs() < 1e-12);
        let opposite = at(189.0);
        assert!(Circle::new(&[0.0; 3], [&a, &opposite], &ahead).is_none());
    }
}
