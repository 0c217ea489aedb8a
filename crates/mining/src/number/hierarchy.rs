//! Merges cells until one is left. Merging begins with more cells than there are groups. Each step merges the two
//! neighbours that are separated least.

use std::collections::BTreeMap;

use super::NEEDED;
use super::partition::{Partition, squared};
use super::separation::{Separation, division, separation};
use crate::Error;
use crate::anneal::Control;

/// The number of neighbours of each cell that are examined. Neighbours are the cells with the lowest merging cost.
const NEIGHBORS: usize = 6;

/// A comparison of two cells is valid until this share of their rows has been exchanged.
const STALE: f64 = 0.02;

/// One step of the merging: the number of cells that are left, and the evidence that they are separate groups.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Step {
    pub clusters: usize,
    pub cost: f64,
    /// The separation of the two neighbours that are separated least.
    pub separation: f64,
    /// The deepest valley within any cell, along the lines to its neighbours.
    pub division: f64,
}

impl Step {
    /// Whether every two neighbours have a valley between them. If a valley between neighbours is shallower than one
    /// within a cell, it is probably the same valley seen from both sides.
    pub fn is_separated(&self) -> bool {
        self.clusters > 1 && self.separation >= NEEDED && self.division < NEEDED.max(self.separation)
    }
}

/// Merges cells one by one, and returns a step for each number of cells. It ends at 1, or at the first separated number
/// that is larger than `enough`.
///
/// # Errors
/// Returns [`Error::Stopped`] if `hear`, which receives the number of remaining cells, stops it.
pub(super) fn merge_all(
    partition: &mut Partition<'_>,
    enough: usize,
    hear: &mut dyn FnMut(usize) -> Control,
) -> Result<Vec<Step>, Error> {
    let mut known = BTreeMap::new();
    let mut steps = Vec::new();
    while partition.len() > 1 {
        if hear(partition.len()) == Control::Stop {
            return Err(Error::Stopped);
        }
        let (step, weakest) = compare_neighbors(partition, &mut known);
        steps.push(step);
        if step.is_separated() && step.clusters > enough {
            return Ok(steps);
        }
        let Some((a, b)) = weakest else { break };
        partition.merge(a, b);
    }
    steps.push(Step { clusters: partition.len(), cost: partition.cost(), separation: f64::INFINITY, division: 0.0 });
    Ok(steps)
}

/// The comparisons of pairs of cells, by the cells' names. Each comparison has the weight that both cells had exchanged
/// when they were compared.
type Known = BTreeMap<(u64, u64), (Separation, f64)>;

/// Returns the evidence for the present cells, and the two neighbours to merge next.
pub(super) fn compare_neighbors(partition: &Partition<'_>, known: &mut Known) -> (Step, Option<(usize, usize)>) {
    let neighbors = neighbors(partition);
    let mut least: Option<((bool, f64), (usize, usize))> = None;
    let mut step = Step { clusters: partition.len(), cost: partition.cost(), separation: f64::INFINITY, division: 0.0 };
    let mut pairs: Vec<(usize, usize)> =
        neighbors.iter().enumerate().flat_map(|(a, near)| near.iter().map(move |&b| (a.min(b), a.max(b)))).collect();
    pairs.sort_unstable();
    pairs.dedup();
    for (a, b) in pairs {
        let key = (partition.names[a], partition.names[b]);
        let exchanged = partition.exchanged[a] + partition.exchanged[b];
        let mass = partition.masses[a] + partition.masses[b];
        let seen = match known.get(&key) {
            Some(&(seen, at)) if exchanged - at <= STALE * mass => seen,
            _ => {
                let seen = separation(partition, a, b);
                known.insert(key, (seen, exchanged));
                seen
            }
        };
        step.separation = step.separation.min(seen.between);
        step.division = step.division.max(seen.within);
        // Pairs that are not separated are merged first, in the order of the merging cost; separated pairs follow.
        let key = match seen.between >= NEEDED {
            false => (false, partition.merging_cost(a, b)),
            true => (true, seen.between),
        };
        if least.is_none_or(|(before, _)| key < before) {
            least = Some((key, (a, b)));
        }
    }
    (step, least.map(|(_, pair)| pair))
}

/// Finds the neighbours of each cell: the cells with the lowest merging cost.
fn neighbors(partition: &Partition<'_>) -> Vec<Vec<usize>> {
    (0..partition.len())
        .map(|a| {
            let mut others: Vec<(f64, usize)> =
                (0..partition.len()).filter(|&b| b != a).map(|b| (partition.merging_cost(a, b), b)).collect();
            let cheaper = |x: &(f64, usize), y: &(f64, usize)| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1));
            if others.len() > NEIGHBORS {
                others.select_nth_unstable_by(NEIGHBORS, cheaper);
                others.truncate(NEIGHBORS);
            }
            others.sort_unstable_by(cheaper);
            others.into_iter().map(|(_, b)| b).collect()
        })
        .collect()
}

/// Divides every cell in two, and returns the deepest valley between the halves of any cell.
pub(super) fn divide_all<'a>(partition: &Partition<'a>) -> (Vec<Vec<f64>>, f64) {
    let mut centers = Vec::with_capacity(2 * partition.len());
    let mut most: f64 = 0.0;
    for (k, halves) in partition.halves().into_iter().enumerate() {
        match halves {
            Some(halves) if squared(&halves[0], &halves[1]) > 0.0 => {
                most = most.max(division(partition, k, &halves));
                centers.extend(halves);
            }
            _ => centers.push(partition.centers[k].clone()),
        }
    }
    (centers, most)
}
