//! Rows of a sample in convex cells: each row belongs to its nearest centre. Cells are updated when centres are merged,
//! divided or moved.

use super::sample::Sample;

/// The number of sweeps after a change; the cells need not reach their exact fixed point.
const SWEEPS: usize = 10;
/// A centre counts as at rest if its squared move is less than this share of its cell's mean squared distance.
const REST: f64 = 1e-4;
/// The number of steps of two-means inside a cell.
const TWO_MEANS: usize = 10;
/// The number of steps of power iteration for the longest direction of a cell.
const POWER_STEPS: usize = 12;

/// Centres and the rows nearest to them.
#[derive(Clone, Debug)]
pub(super) struct Partition<'a> {
    pub sample: &'a Sample,
    pub centers: Vec<Vec<f64>>,
    pub masses: Vec<f64>,
    pub labels: Vec<usize>,
    /// The squared distance of each row from its centre.
    pub own: Vec<f64>,
    /// The name of each cell, which stays the same if the cell's index changes.
    pub names: Vec<u64>,
    /// The weight of the rows that have entered or left each cell so far.
    pub exchanged: Vec<f64>,
    next_name: u64,
}

impl<'a> Partition<'a> {
    /// Assigns each row to the nearest of these centres, and moves each centre to the mean of its rows.
    pub fn new(sample: &'a Sample, centers: Vec<Vec<f64>>) -> Self {
        let clusters = centers.len();
        let mut partition = Self {
            sample,
            centers,
            masses: vec![0.0; clusters],
            labels: vec![usize::MAX; sample.len()],
            own: vec![f64::INFINITY; sample.len()],
            names: (0..clusters as u64).collect(),
            exchanged: vec![0.0; clusters],
            next_name: clusters as u64,
        };
        partition.settle(vec![true; clusters]);
        partition
    }

    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// The weighted sum of squared distances of rows from their centres.
    pub fn cost(&self) -> f64 {
        self.own.iter().enumerate().map(|(row, own)| self.sample.weight(row) * own).sum()
    }

    /// The increase of the sum of squares if two cells are merged (Ward's rule).
    pub fn merging_cost(&self, a: usize, b: usize) -> f64 {
        let (x, y) = (self.masses[a], self.masses[b]);
        x * y / (x + y) * squared(&self.centers[a], &self.centers[b])
    }

    /// The mean of the rows of two cells together.
    pub fn middle(&self, a: usize, b: usize) -> Vec<f64> {
        let (x, y) = (self.masses[a], self.masses[b]);
        self.centers[a].iter().zip(&self.centers[b]).map(|(u, v)| (x * u + y * v) / (x + y)).collect()
    }

    /// Merges two cells; the last cell takes the index of the second.
    pub fn merge(&mut self, a: usize, b: usize) {
        self.centers[a] = self.middle(a, b);
        self.names[a] = self.next_name;
        self.next_name += 1;
        let mut moved = vec![false; self.len()];
        moved[a] = true;
        self.remove(b, &mut moved);
        self.settle(moved);
    }

    fn remove(&mut self, gone: usize, moved: &mut Vec<bool>) {
        let last = self.len() - 1;
        self.centers.swap_remove(gone);
        self.masses.swap_remove(gone);
        self.names.swap_remove(gone);
        self.exchanged.swap_remove(gone);
        moved.swap_remove(gone);
        for (label, own) in self.labels.iter_mut().zip(&mut self.own) {
            if *label == gone {
                (*label, *own) = (usize::MAX, f64::INFINITY);
            } else if *label == last {
                *label = gone;
            }
        }
    }

    /// Makes Lloyd's sweeps, which examine only rows that a moved centre can have reached. A cell that loses all rows
    /// is removed.
    fn settle(&mut self, mut moved: Vec<bool>) {
        let dimension = self.sample.dimension;
        for _ in 0..SWEEPS {
            self.assign(&moved);
            let clusters = self.len();
            let mut sums = vec![0.0; clusters * dimension];
            let mut spreads = vec![0.0; clusters];
            for (row, &label) in self.labels.iter().enumerate() {
                let weight = self.sample.weight(row);
                spreads[label] += weight * self.own[row];
                let sums = &mut sums[label * dimension..][..dimension];
                sums.iter_mut().zip(self.sample.row(row)).for_each(|(sum, value)| *sum += weight * value);
            }
            moved.fill(false);
            for k in 0..clusters {
                if self.masses[k] > 0.0 {
                    let mean: Vec<f64> =
                        sums[k * dimension..][..dimension].iter().map(|sum| sum / self.masses[k]).collect();
                    moved[k] = squared(&mean, &self.centers[k]) > REST * spreads[k] / self.masses[k];
                    if moved[k] {
                        self.centers[k] = mean;
                    }
                }
            }
            for k in (0..clusters).rev().filter(|_| clusters > 1) {
                if self.masses[k] <= 0.0 && self.len() > 1 {
                    self.remove(k, &mut moved);
                }
            }
            if !moved.contains(&true) {
                return;
            }
        }
        self.assign(&moved);
    }

    fn assign(&mut self, moved: &[bool]) {
        self.masses.fill(0.0);
        let all: Vec<usize> = (0..self.len()).collect();
        let some: Vec<usize> = all.iter().copied().filter(|&k| moved[k]).collect();
        for row in 0..self.sample.len() {
            let values = self.sample.row(row);
            let label = self.labels[row];
            let (candidates, mut best) = if label == usize::MAX || moved[label] {
                (&all, (f64::INFINITY, usize::MAX))
            } else {
                (&some, (self.own[row], label))
            };
            for &k in candidates {
                let distance = squared(values, &self.centers[k]);
                if (distance, k) < best {
                    best = (distance, k);
                }
            }
            if best.1 != label {
                self.exchanged[best.1] += self.sample.weight(row);
                if label < self.centers.len() {
                    self.exchanged[label] += self.sample.weight(row);
                }
            }
            (self.own[row], self.labels[row]) = best;
            self.masses[best.1] += self.sample.weight(row);
        }
    }

    /// Returns the centres of the two halves of each cell. Two-means finds them, starting from a plane across the
    /// cell's longest direction. The result is `None` for a cell that cannot be halved.
    pub fn halves(&self) -> Vec<Option<[Vec<f64>; 2]>> {
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); self.len()];
        self.labels.iter().enumerate().for_each(|(row, &label)| rows[label].push(row));
        rows.iter().zip(&self.centers).map(|(rows, center)| self.halves_of(rows, center)).collect()
    }

    fn halves_of(&self, rows: &[usize], center: &[f64]) -> Option<[Vec<f64>; 2]> {
        let sample = self.sample;
        let farthest = rows.iter().copied().max_by(|&a, &b| self.own[a].total_cmp(&self.own[b]))?;
        if self.own[farthest] <= 0.0 {
            return None;
        }
        let mut direction: Vec<f64> = sample.row(farthest).iter().zip(center).map(|(x, c)| x - c).collect();
        for _ in 0..POWER_STEPS {
            let mut next = vec![0.0; direction.len()];
            for &row in rows {
                let values = sample.row(row);
                let along: f64 = values.iter().zip(center).zip(&direction).map(|((x, c), d)| (x - c) * d).sum();
                let factor = sample.weight(row) * along;
                next.iter_mut().zip(values).zip(center).for_each(|((next, x), c)| *next += factor * (x - c));
            }
            let length = next.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length <= 0.0 {
                break;
            }
            direction = next.into_iter().map(|x| x / length).collect();
        }
        let mut halves: Option<[Vec<f64>; 2]> = None;
        for _ in 0..=TWO_MEANS {
            let mut sums = [vec![0.0; center.len()], vec![0.0; center.len()]];
            let mut masses = [0.0; 2];
            for &row in rows {
                let values = sample.row(row);
                let side = match &halves {
                    None => values.iter().zip(center).zip(&direction).map(|((x, c), d)| (x - c) * d).sum::<f64>() > 0.0,
                    Some([one, other]) => squared(values, other) < squared(values, one),
                } as usize;
                masses[side] += sample.weight(row);
                sums[side].iter_mut().zip(values).for_each(|(sum, x)| *sum += sample.weight(row) * x);
            }
            if masses[0] <= 0.0 || masses[1] <= 0.0 {
                return None;
            }
            let next: Vec<Vec<f64>> =
                sums.into_iter().zip(masses).map(|(sum, mass)| sum.into_iter().map(|x| x / mass).collect()).collect();
            let next: [Vec<f64>; 2] = next.try_into().expect("two halves");
            if halves.as_ref() == Some(&next) {
                break;
            }
            halves = Some(next);
        }
        halves
    }
}

pub(super) fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr_data::synthetic;

    #[test]
    fn after_every_merge_each_row_is_with_the_nearest_centre_and_nothing_is_lost() {
        let (points, _) = synthetic::lattice(&[4, 4], 20, 0.3, 6);
        let sample = Sample::of((&points).into(), 0);
        let centers = (0..24).map(|k| sample.row(13 * k).to_vec()).collect();
        let mut partition = Partition::new(&sample, centers);
        while partition.len() > 1 {
            for row in 0..sample.len() {
                let distance = |k: usize| squared(sample.row(row), &partition.centers[k]);
                let nearest = (0..partition.len()).map(distance).fold(f64::INFINITY, f64::min);
                assert!(distance(partition.labels[row]) <= nearest);
                assert_eq!(distance(partition.labels[row]), partition.own[row]);
            }
            assert!((partition.masses.iter().sum::<f64>() - 320.0).abs() < 1e-9);
            let last = partition.len() - 1;
            partition.merge(last / 2, last);
        }
        assert_eq!(partition.len(), 1);
    }

    #[test]
    fn the_halves_of_two_heaps_are_the_heaps() {
        let points = lehr_data::Points::new(vec![0.0, 1.0, 2.0, 10.0, 11.0, 12.0], 1).unwrap();
        let sample = Sample::of((&points).into(), 0);
        let partition = Partition::new(&sample, vec![vec![0.0]]);
        let halves = partition.halves();
        let mut centers: Vec<f64> = halves[0].as_ref().unwrap().iter().map(|half| half[0] * sample.length).collect();
        centers.sort_by(f64::total_cmp);
        assert_eq!(centers, [-5.0, 5.0]);
    }
}
