//! Merges centres by Ward's rule until few enough are left.

use crate::lloyd::Centers;

/// Returns the cost of merging two centres with these masses (Ward's rule: `c_i c_j / (c_i + c_j) |y_i - y_j|^2`).
pub(crate) fn ward(masses: [f64; 2], a: &[f64], b: &[f64]) -> f64 {
    let sum = masses[0] + masses[1];
    let squared = || a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
    if sum > 0.0 { masses[0] * masses[1] / sum * squared() } else { 0.0 }
}

/// Merges the pair with the lowest merging cost until `clusters` are left; `cost` returns the merging cost for two
/// masses and two centres.
///
/// Cost: at most K^3 / 6 distances, where K is about 1.5 times `clusters`.
pub(crate) fn merge_to(
    centers: &mut Centers,
    masses: &mut Vec<f64>,
    clusters: usize,
    cost: impl Fn([f64; 2], &[f64], &[f64]) -> f64,
) {
    let dimension = centers.dimension;
    while centers.len() > clusters {
        let mut least = (f64::INFINITY, 0, 1);
        for a in 0..centers.len() {
            for b in a + 1..centers.len() {
                let cost = cost([masses[a], masses[b]], centers.center(a), centers.center(b));
                if cost < least.0 {
                    least = (cost, a, b);
                }
            }
        }
        let (_, a, b) = least;
        let sum = masses[a] + masses[b];
        if sum > 0.0 {
            for j in 0..dimension {
                let other = centers.values[b * dimension + j];
                let y = &mut centers.values[a * dimension + j];
                *y = (masses[a] * *y + masses[b] * other) / sum;
            }
        }
        masses[a] = sum;
        masses.remove(b);
        centers.remove(b);
    }
}
