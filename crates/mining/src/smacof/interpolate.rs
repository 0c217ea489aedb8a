//! Places new items on a map that stays unchanged, each by its nearest items of the map (MI-MDS).
//!
//! Bae, Choi, Qiu and Fox (HPDC 2010) minimise `sum_j (|x - y_j| - delta_j)^2` over the k nearest items by
//! majorisation, starting from the neighbours' mean. With few neighbours, their method ends at a wrong position for
//! every fifth item. Here trilateration gives the start: differences of the squared equations are linear in x. If the
//! neighbours lie on a plane or a line, both mirror images are tried, and the better image is kept. Items are
//! independent of each other, so ranks exchange nothing.

use lehr_numerics::factor::eigenpairs;

use crate::Error;
use crate::gather::{Gather, Side};
use crate::matrix::unrelated;
use crate::round::{Execution, Partition, Program, Round, Rounds, drive, total_of};
use crate::rows::RowMajor;

/// If the neighbours' spread in a direction is below this share of their largest spread, they do not determine the
/// position along this direction.
const FLAT: f64 = 1e-10;
/// The number of values for each item beside its coordinates: its error and its nearest item.
const BESIDE: usize = 2;
/// Iterations end when a move is below this share of the neighbours' distance.
const STILL: f64 = 1e-14;

/// The parameters of the placement of new items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interpolation {
    /// The number of neighbours that place an item; at least one more than the map has dimensions. Default: 10.
    pub neighbours: usize,
    /// The maximum number of iterations. Default: 50.
    pub most_iterations: usize,
    /// Whether items that cannot be placed are left without a position, with NaN as coordinates and error. By default,
    /// such items cause an error.
    pub leaves_out: bool,
}

impl Default for Interpolation {
    fn default() -> Self {
        Self { neighbours: 10, most_iterations: 50, leaves_out: false }
    }
}

/// The positions of new items.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The number of dimensions.
    pub dimension: usize,
    /// The positions: items x dimension, row-major, in the map's unit.
    pub positions: Vec<f64>,
    /// For each item, the root mean square error of its distances to its neighbours, in the map's unit.
    pub errors: Vec<f64>,
    /// For each new item, the item of the map with the lowest dissimilarity to it; the first if several are equal.
    /// `None` if the new item has no position.
    pub nearest: Vec<Option<usize>>,
}

/// Places `items` new items on a map of N positions.
///
/// `dissimilarities(item, row)` writes the dissimilarities of a new item to all N items of the map into `row`. Unknown
/// dissimilarities are NaN. Negative and infinite numbers also count as unknown, without an error. An item with fewer
/// than dimension + 1 known dissimilarities has no position. A new item at dissimilarity 0 to an item of the map is
/// placed on that item, because nothing distinguishes the two. If there are several such items on the map, the first is
/// used.
///
/// # Errors
/// Returns [`Error::Parameter`] for an invalid map or too few neighbours, and the errors of the ranks. Returns
/// [`Error::Unrelated`] with items that cannot be placed, unless [`Interpolation::leaves_out`] is set.
///
/// Cost for each item: reading N numbers and finding the k smallest, then tens of iterations of k x dimension
/// operations.
///
/// # Example
/// ```
/// use lehr_mining::{Execution, smacof::{Interpolation, interpolate}};
/// // A square of side 1, and an item as far from each corner as its middle is.
/// let map = [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0];
/// let middle = |_: usize, row: &mut [f64]| row.fill(0.5f64.sqrt());
/// let placed = interpolate(&map, 2, 1, &middle, &Interpolation { neighbours: 4, ..Default::default() }, &Execution::default())?;
/// assert!(placed.positions.iter().all(|x| (x - 0.5).abs() < 1e-12));
/// assert_eq!(placed.nearest, [Some(0)]);
/// # Ok::<(), lehr_mining::Error>(())
/// ```
pub fn interpolate(
    map: &[f64],
    dimension: usize,
    items: usize,
    dissimilarities: &(dyn Fn(usize, &mut [f64]) + Sync),
    parameters: &Interpolation,
    execution: &Execution,
) -> Result<Placed, Error> {
    let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
    if dimension == 0 || map.is_empty() || !map.len().is_multiple_of(dimension) || !map.iter().all(|x| x.is_finite()) {
        return wrong("map", "finite positions of the dimension given", format!("{} numbers", map.len()));
    }
    if parameters.neighbours <= dimension {
        return wrong("neighbours", "more than the map has dimensions", parameters.neighbours.to_string());
    }
    if map.len() / dimension <= dimension {
        return wrong("map", "more items than dimensions", format!("{} items", map.len() / dimension));
    }
    let gather = Gather::new(items);
    let placing = Placing { map, dimension, items, dissimilarities, parameters, gather };
    let all = drive(execution, items, &placing)?;
    let width = dimension + BESIDE;
    let unknown: Vec<usize> =
        all.chunks_exact(width).enumerate().filter(|(_, row)| row[dimension].is_nan()).map(|(item, _)| item).collect();
    if !unknown.is_empty() && !parameters.leaves_out {
        return Err(unrelated(unknown));
    }
    Ok(Placed {
        dimension,
        positions: all.chunks_exact(width).flat_map(|row| &row[..dimension]).copied().collect(),
        errors: all.chunks_exact(width).map(|row| row[dimension]).collect(),
        nearest: all
            .chunks_exact(width)
            .map(|row| (!row[dimension].is_nan()).then_some(row[dimension + 1] as usize))
            .collect(),
    })
}

struct Placing<'a> {
    map: &'a [f64],
    dimension: usize,
    items: usize,
    dissimilarities: &'a (dyn Fn(usize, &mut [f64]) + Sync),
    parameters: &'a Interpolation,
    gather: Gather,
}

impl Program for Placing<'_> {
    type Output = Vec<f64>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Vec<f64>, Error> {
        let mut all = Vec::new();
        total_of(rounds, self, &mut Vec::new()).await?;
        self.gather.collect(rounds, &mut Side::default(), &mut all).await?;
        Ok(all)
    }
}

impl Round for Placing<'_> {
    fn len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "placing"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        let rows = Partition::new(self.items, 1).leaf_rows(leaf);
        let width = self.dimension + BESIDE;
        let mut given = vec![0.0; self.map.len() / self.dimension];
        self.gather.write(leaf, Side::default(), rows.len() * width, |out| {
            for (item, out) in rows.zip(out.chunks_exact_mut(width)) {
                (self.dissimilarities)(item, &mut given);
                self.place(&given, out);
            }
        });
    }
}

impl Placing<'_> {
    /// Writes the position of an item, its error, and the number of the nearest item; NaN if it cannot be placed.
    fn place(&self, given: &[f64], out: &mut [f64]) {
        let dimension = self.dimension;
        let mut near: Vec<usize> = (0..given.len()).filter(|&j| given[j].is_finite() && given[j] >= 0.0).collect();
        let count = self.parameters.neighbours.min(near.len());
        if count <= dimension {
            out.fill(f64::NAN);
            return;
        }
        let by_distance = |&a: &usize, &b: &usize| given[a].total_cmp(&given[b]).then(a.cmp(&b));
        near.select_nth_unstable_by(count - 1, by_distance);
        near.truncate(count);
        near.sort_unstable_by(by_distance);
        out[dimension + 1] = near[0] as f64;
        let known: Vec<(&[f64], f64)> =
            near.iter().map(|&j| (RowMajor::new(self.map, dimension).row(j), given[j])).collect();
        if known[0].1 == 0.0 {
            out[..dimension].copy_from_slice(known[0].0);
            out[dimension] = error_at(&known, known[0].0);
            return;
        }
        let mut best = f64::INFINITY;
        for start in trilaterate(&known, dimension) {
            let (x, error) = majorise(&known, start, self.parameters.most_iterations);
            if error < best {
                best = error;
                out[..dimension].copy_from_slice(&x);
                out[dimension] = error;
            }
        }
        if best.is_infinite() {
            out[dimension] = f64::NAN;
        }
    }
}

/// Returns one or two starts: the solution of the linear equations, or its two mirror images if the neighbours lie in a
/// flat.
fn trilaterate(known: &[(&[f64], f64)], dimension: usize) -> Vec<Vec<f64>> {
    let count = known.len() as f64;
    let mean: Vec<f64> = (0..dimension).map(|k| known.iter().map(|(y, _)| y[k]).sum::<f64>() / count).collect();
    let mean_square = known.iter().map(|(_, delta)| delta * delta).sum::<f64>() / count;
    let apart = |y: &[f64]| y.iter().zip(&mean).map(|(y, mean)| y - mean).collect::<Vec<f64>>();
    let mean_length = known.iter().map(|(y, _)| apart(y).iter().map(|a| a * a).sum::<f64>()).sum::<f64>() / count;
    // Relative to ybar, 2 (y_j - ybar) . x = |y_j|^2 - delta_j^2, minus the mean of the right side.
    let (mut matrix, mut right) = (vec![0.0; dimension * dimension], vec![0.0; dimension]);
    for (y, delta) in known {
        let a = apart(y);
        let b = 0.5 * (a.iter().map(|a| a * a).sum::<f64>() - mean_length - (delta * delta - mean_square));
        for i in 0..dimension {
            right[i] += a[i] * b;
            for j in 0..=i {
                matrix[i * dimension + j] += a[i] * a[j];
            }
        }
    }
    let Some(axes) = eigenpairs(dimension, &matrix) else { return vec![mean] };
    let most = axes[0].0;
    let mut inside = vec![0.0; dimension];
    for (value, axis) in axes.iter().filter(|(value, _)| *value > FLAT * most) {
        let part = axis.iter().zip(&right).map(|(a, b)| a * b).sum::<f64>() / value;
        inside.iter_mut().zip(axis).for_each(|(x, axis)| *x += part * axis);
    }
    let from_mean = |x: Vec<f64>| x.iter().zip(&mean).map(|(x, mean)| x + mean).collect::<Vec<f64>>();
    let Some((_, axis)) = axes.iter().find(|(value, _)| *value <= FLAT * most) else {
        return vec![from_mean(inside)];
    };
    // The height above the flat follows from what the distances within the flat leave unexplained.
    let square = |(y, delta): &(&[f64], f64)| {
        delta * delta - apart(y).iter().zip(&inside).map(|(a, x)| (x - a) * (x - a)).sum::<f64>()
    };
    let height = (known.iter().map(square).sum::<f64>() / count).max(0.0).sqrt();
    let beside = |side: f64| inside.iter().zip(axis).map(|(x, axis)| x + side * height * axis).collect();
    vec![from_mean(beside(1.0)), from_mean(beside(-1.0))]
}

/// Returns the position to which a start leads, and the root mean square error there. No iteration raises this error.
fn majorise(known: &[(&[f64], f64)], mut x: Vec<f64>, most_iterations: usize) -> (Vec<f64>, f64) {
    let count = known.len() as f64;
    let scale = known.iter().map(|(_, delta)| delta).sum::<f64>() / count;
    for _ in 0..most_iterations {
        let mut next = vec![0.0; x.len()];
        for (y, delta) in known {
            let apart = distance(&x, y);
            let pull = if apart > 0.0 { delta / apart } else { 0.0 };
            for ((next, x), y) in next.iter_mut().zip(&x).zip(*y) {
                *next += (y + pull * (x - y)) / count;
            }
        }
        let moved = distance(&x, &next);
        x = next;
        if moved <= STILL * scale {
            break;
        }
    }
    let error = error_at(known, &x);
    (x, error)
}

/// The root mean square error of the distances from `x`.
fn error_at(known: &[(&[f64], f64)], x: &[f64]) -> f64 {
    let square = known.iter().map(|(y, delta)| (distance(x, y) - delta).powi(2)).sum::<f64>();
    (square / known.len() as f64).sqrt()
}

fn distance(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt()
}
