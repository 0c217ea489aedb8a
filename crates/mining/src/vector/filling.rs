//! Divides centres until there are as many as wanted.

use super::prospects::{PLANE_STEPS, prospects};
use crate::Error;
use crate::lloyd::{Centers, Lloyd, Patience, Swept};
use crate::round::Rounds;
use crate::rows::Scalar;

/// The number of unsuccessful divisions in a row that end the filling: they leave no more centres with rows than
/// before.
const FILL_IN_VAIN: u64 = 8;

/// Removes centres without rows, and divides others where it gains most. It ends when `clusters` centres have rows, or
/// when no division gains anything. Between divisions it sweeps with `patience`. Returns the end of the last sweeps.
pub(crate) async fn fill<T: Scalar>(
    lloyd: &mut Lloyd<'_, T>,
    rounds: &mut dyn Rounds,
    centers: &mut Centers,
    clusters: usize,
    seed: u64,
    patience: Patience,
) -> Result<Swept, Error> {
    let dimension = centers.dimension;
    let (mut most, mut in_vain) = (0, 0);
    loop {
        let swept = lloyd.go_on(rounds, centers, patience, None).await?;
        let masses = lloyd.masses();
        centers.remove_empty(&masses);
        // If one half loses its rows again, there are as many centres as before. Other planes are tried, but not for
        // ever.
        in_vain = if centers.len() > most { 0 } else { in_vain + 1 };
        most = most.max(centers.len());
        let missing = clusters.saturating_sub(centers.len());
        if missing == 0 || in_vain > FILL_IN_VAIN {
            return Ok(swept);
        }
        let found = prospects(lloyd, rounds, centers, seed, in_vain, PLANE_STEPS).await?;
        let mut order: Vec<usize> = (0..centers.len()).filter(|&k| found.gain[k] > 0.0).collect();
        order.sort_by(|&a, &b| found.gain[b].total_cmp(&found.gain[a]).then(a.cmp(&b)));
        if order.is_empty() {
            return Ok(swept);
        }
        for &k in order.iter().take(missing.min(centers.len().div_ceil(4))) {
            let (near, far) = found.sides[k].split_at(dimension);
            centers.set(k, near);
            centers.push(far);
        }
    }
}
