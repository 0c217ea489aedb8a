//! The cooling schedule.

/// The starting temperature, as a multiple of the first critical temperature. Above the critical temperature, a single
/// component is stable.
pub(crate) const START: f64 = 1.1;
/// The cooling factor once the number of components is fixed, when no division can be missed.
pub(crate) const FROZEN_COOLING: f64 = 0.9;
/// Memberships count as hard if the mean share outside the best component is below this.
pub(crate) const HARD: f64 = 1e-4;
/// Below this share of the first critical temperature, memberships are hard in double precision.
pub(crate) const FLOOR: f64 = 1e-12;
/// The search for the number of clusters ends at this share of the first critical temperature.
pub(crate) const COLDEST_PLATEAU: f64 = 1e-4;
/// Hardening in plain mode ends at this share of the first critical temperature at the latest.
pub(crate) const COLDEST_PLAIN: f64 = 1e-6;
/// The factor from a critical temperature to a temperature just below it.
const JUST_BELOW: f64 = 0.99;

/// Returns the next temperature of a growing system.
///
/// While memberships are soft, critical temperatures change with the neighbouring components, so the temperature falls
/// by the factor `cooling`. Once memberships are hard, critical temperatures stay the same. Then the temperature may
/// fall at once to just below the highest critical temperature, however far away that is.
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
