//! Estimates the cost of removing and the gain of dividing each centre, in a few passes over the rows.

use lehr_numerics::nearest::Kind;
use lehr_numerics::random::Stream;

use super::merging::ward;
use crate::Error;
use crate::lloyd::{Centers, Lloyd, Planes};
use crate::round::Rounds;
use crate::rows::{RowMajor, Scalar};

/// The number of steps of two-means that turn a random plane into a good division.
pub(crate) const PLANE_STEPS: usize = 6;
/// If every removal seems to cost more than this many times the apparent gain of any division, nothing is tried. After
/// the other centres have settled, a removal may cost only half of its estimate, by Ward's rule. The gain of a division
/// is estimated within a factor of two. To be safe, this is twice the product of both factors. Removing and dividing
/// several centres at once costs and gains the same for each centre.
const HOPELESS: f64 = 8.0;

/// The estimates for each centre.
#[derive(Clone, Debug, Default)]
pub(crate) struct Prospects {
    /// An upper bound of the cost of removing each centre.
    pub removal: Vec<f64>,
    /// A lower bound of the gain of dividing each centre's rows by its plane.
    pub gain: Vec<f64>,
    /// For each centre, the means of the two sides of its plane, one after the other; empty if all rows are on one
    /// side.
    pub sides: Vec<Vec<f64>>,
}

impl Prospects {
    /// Whether no division can compensate for any removal.
    pub fn are_hopeless(&self) -> bool {
        let least = self.removal.iter().copied().fold(f64::INFINITY, f64::min);
        let most = self.gain.iter().copied().fold(0.0, f64::max);
        least > HOPELESS * most
    }

    /// The centres that can be divided, by decreasing gain.
    pub fn divisible(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.gain.len()).filter(|&k| !self.sides[k].is_empty()).collect();
        order.sort_by(|&a, &b| self.gain[b].total_cmp(&self.gain[a]).then(a.cmp(&b)));
        order
    }

    /// All centres, by increasing cost of removal.
    pub fn removable(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.removal.len()).collect();
        order.sort_by(|&a, &b| self.removal[a].total_cmp(&self.removal[b]).then(a.cmp(&b)));
        order
    }
}

/// Whether clusters are so far apart that merging any two costs more than [`HOPELESS`] times the gain of dividing any.
/// `variances` has the variance along the longest axis of each cluster. In this case, overshooting would only divide
/// single groups and merge them again.
///
/// Cost: at most K^2 / 2 distances, and few if two clusters are near each other.
pub(crate) fn lie_far_apart(centers: &Centers, masses: &[f64], variances: &[f64]) -> bool {
    // The means of two halves differ only along one direction, and their variance is at most the variance of the rows
    // along it.
    let most = masses.iter().zip(variances).map(|(mass, variance)| mass * variance).fold(0.0, f64::max);
    let merging = |a: usize, b: usize| ward([masses[a], masses[b]], centers.center(a), centers.center(b));
    (0..centers.len()).all(|a| (a + 1..centers.len()).all(|b| merging(a, b) > HOPELESS * most))
}

/// Returns the `count` most promising pairs of different centres, and perhaps some more pairs, the best first. Equally
/// promising pairs are in the order of their numbers.
pub(crate) fn pairs(found: &Prospects, count: usize) -> Vec<(usize, usize)> {
    // The best pairs combine centres from the beginnings of both lists; this many of each are ample.
    let few = 4 * (count as f64).sqrt().ceil() as usize;
    let (mut divide, mut remove) = (found.divisible(), found.removable());
    divide.truncate(few);
    remove.truncate(few);
    let mut pairs: Vec<(usize, usize)> = divide
        .iter()
        .flat_map(|&to| remove.iter().filter(move |&&from| from != to).map(move |&from| (from, to)))
        .collect();
    let promise = |&(from, to): &(usize, usize)| found.gain[to] - found.removal[from];
    pairs.sort_by(|a, b| promise(b).total_cmp(&promise(a)).then(a.cmp(b)));
    pairs
}

/// Estimates the cost of each centre's removal and the gain of its division. Planes start in directions that `seed` and
/// `generation` determine, and two-means improves them.
pub(crate) async fn prospects<T: Scalar>(
    lloyd: &mut Lloyd<'_, T>,
    rounds: &mut dyn Rounds,
    centers: &Centers,
    seed: u64,
    generation: u64,
    steps: usize,
) -> Result<Prospects, Error> {
    let dimension = centers.dimension;
    let per_center = Kind::Swaps.len(dimension);
    let mut planes = random_planes(centers, seed.wrapping_add(generation));
    let mut found = Prospects::default();
    for _ in 0..steps {
        lloyd.pass(rounds, centers, Some(&planes)).await?;
        found = Prospects::default();
        for (k, sums) in RowMajor::new(&lloyd.total, per_center).rows().enumerate() {
            let (mass, first) = (sums[0], &sums[1..1 + dimension]);
            let (beyond, beyond_first) = (sums[3 + dimension], &sums[4 + dimension..]);
            let before = mass - beyond;
            found.removal.push(sums[2 + dimension]);
            if beyond <= 0.0 || before <= 1e-12 * mass {
                if beyond > 0.0 {
                    // The sums on the near side of the plane are a difference of almost equal numbers, so they are
                    // inaccurate. With the plane reversed, they are computed directly.
                    planes.reverse(k);
                }
                found.gain.push(0.0);
                found.sides.push(Vec::new());
                continue;
            }
            let mut sides: Vec<f64> = first.iter().zip(beyond_first).map(|(all, far)| (all - far) / before).collect();
            sides.extend(beyond_first.iter().map(|sum| sum / beyond));
            let mut apart = 0.0;
            let mut threshold = 0.0;
            let (near, far) = sides.split_at(dimension);
            for ((normal, near), far) in planes.normal_mut(k).iter_mut().zip(near).zip(far) {
                *normal = far - near;
                threshold += (far - near) * (far + near) / 2.0;
                apart += (far - near) * (far - near);
            }
            planes.thresholds[k] = threshold;
            found.gain.push(beyond * before / mass * apart);
            found.sides.push(sides);
        }
    }
    Ok(found)
}

/// Returns planes through the centres in pseudo-random directions.
fn random_planes(centers: &Centers, seed: u64) -> Planes {
    let stream = Stream::new(seed, "swap planes");
    let mut planes = Planes { dimension: centers.dimension, normals: Vec::new(), thresholds: Vec::new() };
    for (k, center) in centers.rows().enumerate() {
        let start = (k * centers.dimension) as u64;
        let normal: Vec<f64> = (0..centers.dimension as u64).map(|j| stream.normal(start + j)).collect();
        planes.thresholds.push(normal.iter().zip(center).map(|(n, y)| n * y).sum());
        planes.normals.extend(normal);
    }
    planes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_lie_far_apart_by_what_they_weigh_and_how_wide_they_are_too() {
        let centers = Centers { dimension: 2, values: vec![0.0, 0.0, 10.0, 0.0, 0.0, 20.0] };
        // Merging the first two costs 50, which is 1 / 2 of 100.
        assert!(lie_far_apart(&centers, &[1.0; 3], &[6.0; 3]));
        assert!(
            !lie_far_apart(&centers, &[1.0; 3], &[6.0, 6.0, 7.0]),
            "dividing the third gains more than an eighth of that"
        );
        assert!(!lie_far_apart(&centers, &[1.0, 1.0, 2.0], &[6.0; 3]), "as it does where it weighs more");
        assert!(!lie_far_apart(&centers, &[1.0, 0.1, 1.0], &[6.0; 3]), "and merging what is light costs less");
        assert!(lie_far_apart(&centers, &[1.0; 3], &[0.0; 3]));
    }
}
