//! Test values: the significance of a difference in standard deviations of a normal distribution.
//!
//! Source: Lebart, Morineau and Piron 1995 (valeurs-tests), as in FactoMineR's `catdes`. Of columns unrelated to the
//! clusters, one in twenty has a test value beyond 2 in either direction.

/// Returns the test value of the mean of `inside` rows among `all` rows. `mean` and `variance` are the mean and the
/// population variance of all rows.
///
/// Returns 0 if no difference is possible.
pub(super) fn of_mean(mean_inside: f64, inside: f64, mean: f64, variance: f64, all: f64) -> f64 {
    if inside >= all || all <= 1.0 || variance <= 0.0 {
        return 0.0;
    }
    // The variance of the mean of rows drawn without replacement.
    let of_means = variance / inside * (all - inside) / (all - 1.0);
    (mean_inside - mean) / of_means.sqrt()
}

/// Returns the test value of a share: `hits_inside` of `inside` rows have a text, and `hits` of `all` rows have it.
///
/// The hypergeometric distribution gives the probability of as many hits or more (or as few or fewer). The test value
/// is the point that a normal distribution exceeds with this probability.
pub(super) fn of_share(hits_inside: u64, inside: u64, hits: u64, all: u64) -> f64 {
    if inside >= all || hits >= all || inside == 0 || hits == 0 {
        return 0.0;
    }
    let expected = inside as f64 * hits as f64 / all as f64;
    let is_more = hits_inside as f64 > expected;
    let tail = ln_tail(hits_inside, inside, hits, all, is_more);
    let value = normal_exceeded_with(tail);
    if is_more { value } else { -value }
}

/// Returns the two-sided probability of a test value at least this large.
pub(super) fn two_sided(value: f64) -> f64 {
    libm::erfc(value.abs() * std::f64::consts::FRAC_1_SQRT_2)
}

/// Returns the logarithm of the probability of as many hits or more, or as few or fewer.
fn ln_tail(hits_inside: u64, inside: u64, hits: u64, all: u64, is_more: bool) -> f64 {
    let ln_choose = |n: u64, k: u64| {
        let ln_factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
        ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
    };
    let first = ln_choose(hits, hits_inside) + ln_choose(all - hits, inside - hits_inside) - ln_choose(all, inside);
    // Each term is the previous term times a known ratio.
    let (mut term, mut sum, mut at) = (1.0f64, 1.0f64, hits_inside as f64);
    let (inside, hits, misses) = (inside as f64, hits as f64, (all - hits) as f64);
    loop {
        let ratio = if is_more {
            (hits - at) * (inside - at) / ((at + 1.0) * (misses - inside + at + 1.0))
        } else {
            at * (misses - inside + at) / ((hits - at + 1.0) * (inside - at + 1.0))
        };
        term *= ratio;
        if term <= 1e-17 * sum {
            return first + libm::log(sum);
        }
        sum += term;
        at += if is_more { 1.0 } else { -1.0 };
    }
}

/// Returns the non-negative value that a standard normal variable exceeds with a probability, given its logarithm.
fn normal_exceeded_with(ln_probability: f64) -> f64 {
    let ln_upper = |x: f64| {
        if x < 30.0 {
            libm::log(0.5 * libm::erfc(x * std::f64::consts::FRAC_1_SQRT_2))
        } else {
            // The first term of the asymptotic series is accurate to 0.1 % here.
            -0.5 * x * x - libm::log(x * (2.0 * std::f64::consts::PI).sqrt())
        }
    };
    let (mut low, mut high) = (0.0, 2.0 + (-2.0 * ln_probability).max(0.0).sqrt());
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if ln_upper(middle) > ln_probability {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_is_tested_against_rows_drawn_without_replacement() {
        // The pair 2, 3 of 0, 1, 2, 3 has the mean 2.5 against 1.5. The means of all six pairs have the variance 5/12.
        let pairs = [0.5f64, 1.0, 1.5, 1.5, 2.0, 2.5];
        let variance = pairs.iter().map(|mean| (mean - 1.5).powi(2)).sum::<f64>() / 6.0;
        let expected = 1.0 / variance.sqrt();
        assert!((of_mean(2.5, 2.0, 1.5, 1.25, 4.0) - expected).abs() < 1e-12);
        assert_eq!(of_mean(1.5, 4.0, 1.5, 1.25, 4.0), 0.0);
    }

    #[test]
    fn a_share_is_tested_by_counting_all_ways() {
        // 3 of 10 rows have the text, and 3 of 4 rows inside have it: choose(3, 3) choose(7, 1) / choose(10, 4) = 7 /
        // 210.
        let value = of_share(3, 4, 3, 10);
        assert!((0.5 * two_sided(value) - 7.0 / 210.0).abs() < 1e-12, "{value}");
        // The probability that no row inside has the text is choose(7, 4) / choose(10, 4) = 35 / 210.
        let value = of_share(0, 4, 3, 10);
        assert!(value < 0.0 && (0.5 * two_sided(value) - 35.0 / 210.0).abs() < 1e-12, "{value}");
    }

    #[test]
    fn large_tables_have_values_that_no_probability_can_hold() {
        let value = of_share(50_000, 50_000, 100_000, 200_000);
        assert!(value > 200.0 && value.is_finite(), "{value}");
        // The value is close to the value of the normal approximation: 25,000 more hits than expected.
        let (inside, all, share): (f64, f64, f64) = (5e4, 2e5, 0.5);
        let deviation = (inside * share * (1.0 - share) * (all - inside) / (all - 1.0)).sqrt();
        let value = of_share(25_500, 50_000, 100_000, 200_000);
        assert!((value - 500.0 / deviation).abs() < 0.05, "{value}");
    }
}
