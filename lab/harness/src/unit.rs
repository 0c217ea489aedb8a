//! The fixed computation between messages.
//!
//! The peers' runners include this file (`lab/runners/ports/src/lib.rs`), so that both sides of a pipe compute the same
//! unit.

use std::hint::black_box;

/// The number of steps of the generator in one unit of computation.
pub const UNIT_STEPS: u64 = 960;

/// Does `count` units of computation: dependent steps of a 64-bit linear congruential generator, about a microsecond
/// for each unit.
///
/// The constants are hidden from the compiler. If it knew them, it would fold eight steps into one multiplication, and
/// a unit would take an eighth of the time.
#[inline(never)]
pub fn units(mut x: u64, count: u32) -> u64 {
    let (factor, increment) = black_box((6_364_136_223_846_793_005_u64, 1_442_695_040_888_963_407_u64));
    for _ in 0..u64::from(count) * UNIT_STEPS {
        x = x.wrapping_mul(factor).wrapping_add(increment);
    }
    black_box(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_unit_is_that_many_steps_of_the_generator() {
        let step = |x: u64| x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        assert_eq!(units(7, 1), (0..UNIT_STEPS).fold(7, |x, _| step(x)));
        assert_eq!(units(7, 0), 7);
    }
}
