//! Turns counted differences into distances: shares of positions, and corrections for positions that changed more than
//! once.
//!
//! Jukes and Cantor (1969) and Kimura (1980) estimate how many random substitutions explain the observed differences.
//! The formula of Jukes and Cantor has no value once three positions in four differ, which is the share by chance.
//! Kimura's has none once `2P + Q` reaches 1 or `Q` reaches 1/2. In this case, and if a formula gives a larger value,
//! the distance is [`SATURATED`]: an ordinary number, neither negative nor missing.

/// The largest corrected distance, in substitutions per position. The papers (`docs/papers.md`) have the same limit.
pub const SATURATED: f64 = 10.0;

/// Returns the distance of Jukes and Cantor from the share `p` of positions that differ: `-3/4 ln(1 - 4p/3)`, in
/// substitutions per position.
///
/// # Example
/// ```
/// use lehr_distances::correction::{SATURATED, jukes_cantor};
/// assert!((jukes_cantor(0.3) - 0.383_119_2).abs() < 1e-7);
/// assert_eq!((jukes_cantor(0.0), jukes_cantor(0.75)), (0.0, SATURATED));
/// ```
pub fn jukes_cantor(p: f64) -> f64 {
    capped(-0.75 * libm::log1p(-4.0 / 3.0 * p))
}

/// Returns Kimura's two-parameter distance from the shares of positions with a transition and with a transversion:
/// `-1/2 ln((1 - 2P - Q) sqrt(1 - 2Q))`, in substitutions per position.
///
/// # Example
/// ```
/// use lehr_distances::correction::kimura;
/// assert!((kimura(0.10, 0.05) - 0.170_181_2).abs() < 1e-7);
/// ```
pub fn kimura(transitions: f64, transversions: f64) -> f64 {
    capped(-0.5 * libm::log1p(-2.0 * transitions - transversions) - 0.25 * libm::log1p(-2.0 * transversions))
}

/// Limits a distance to [`SATURATED`], which also replaces infinity and the NaN of an undefined logarithm. Also turns
/// -0 into 0.
fn capped(distance: f64) -> f64 {
    if distance < SATURATED { distance.max(0.0) + 0.0 } else { SATURATED }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e24_corrections_have_their_published_values() {
        for (p, expected) in [(0.05, 0.0517447), (0.1, 0.1073256), (0.3, 0.3831192), (0.5, 0.8239592)] {
            assert!((jukes_cantor(p) - expected).abs() < 1e-7, "JC({p}) = {}", jukes_cantor(p));
        }
        assert!((kimura(0.1, 0.05) - 0.1701812).abs() < 1e-7);
    }

    #[test]
    fn e24_saturation_is_a_cap_neither_negative_nor_missing() {
        for p in [0.75, 0.75 - 1e-16, 0.8, 1.0] {
            assert_eq!(jukes_cantor(p), SATURATED);
        }
        for (transitions, transversions) in [(0.5, 0.0), (0.0, 0.5), (0.4, 0.3), (1.0, 0.0), (0.0, 1.0)] {
            assert_eq!(kimura(transitions, transversions), SATURATED);
        }
        assert_eq!((kimura(0.0, 0.0).to_bits(), jukes_cantor(0.0).to_bits()), (0, 0));
    }
}
