//! Temperatures.

/// The starting temperature over the first critical one: above it, where the one solution is known to be stable.
pub(crate) const START: f64 = 1.1;
/// Cooling once the number of components is settled, because no division can be missed then.
pub(crate) const FROZEN_COOLING: f64 = 0.9;
/// A smaller mean share outside the best component counts as hard.
pub(crate) const HARD: f64 = 1e-4;
/// Below this share of the first critical temperature nothing is soft that double precision could see.
pub(crate) const FLOOR: f64 = 1e-12;
/// In the search for the number of clusters, this share of the first critical temperature is cold enough.
pub(crate) const COLDEST_PLATEAU: f64 = 1e-4;
/// Hardening in plain mode stops at this share of the first critical temperature at the latest.
pub(crate) const COLDEST_PLAIN: f64 = 1e-6;
/// Just below a transition.
const JUST_BELOW: f64 = 0.99;

/// The next temperature of a growing system.
///
/// While memberships are soft, a component's critical temperature moves as its neighbours do, so the step is the
/// schedule's. Once they are hard it stays so, so the next temperature may be just below the highest of them, however
/// far that is.
pub(crate) fn next(temperature: f64, cooling: f64, softness: f64, critical: &[f64]) -> f64 {
    let step = temperature * cooling;
    let highest = critical.iter().copied().fold(0.0, f64::max);
    if softness < HARD && highest < step { JUST_BELOW * highest } else { step }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_soft_system_cools_by_the_schedule_and_a_hard_one_to_its_next_transition() {
        assert_eq!(next(2.0, 0.5, 0.1, &[0.25]), 1.0);
        assert_eq!(next(2.0, 0.5, 0.0, &[0.25, 0.5]), 0.99 * 0.5);
        assert_eq!(next(2.0, 0.5, 0.0, &[1.5]), 1.0);
    }
}
