//! Places the ticks of an axis: round numbers with just enough digits to distinguish them.

use lehr_methods::numbers::{fixed, significant};

/// A tick: its value and its label.
pub type Tick = (f64, String);

/// Returns the distance between ticks: the smallest 1, 2 or 5 times a power of ten that divides `length` into at most
/// `most` parts.
fn step(length: f64, most: usize) -> f64 {
    let least = length / most as f64;
    let power = libm::pow(10.0, libm::floor(libm::log10(least)));
    [1.0, 2.0, 5.0].into_iter().map(|times| times * power).find(|step| *step >= least).unwrap_or(10.0 * power)
}

/// Replaces the hyphen of a negative number by a typographic minus sign.
fn typeset(text: String) -> String {
    text.replace('-', "−")
}

/// Returns the ticks between two values.
pub fn ticks(low: f64, high: f64, most: usize) -> Vec<Tick> {
    let step = step(high - low, most.max(1));
    // A multiple of the step that lies beyond an end of the axis only because of rounding still gets a tick.
    let (first, last) = ((low / step - 1e-9).ceil(), (high / step + 1e-9).floor());
    if !(step > 0.0 && step.is_finite() && last - first < 1e3) || first + 1.0 == first {
        // The values are so close together, or so large, that no round numbers lie between them.
        return Vec::new();
    }
    let values: Vec<f64> = (0..=(last - first).max(-1.0) as usize).map(|place| (first + place as f64) * step).collect();
    let largest = low.abs().max(high.abs());
    let exponent = |size: f64| libm::floor(libm::log10(size)) as i32;
    let decimals = -exponent(step * 1.000_001);
    values
        .into_iter()
        .map(|value| {
            let text = if value == 0.0 {
                "0".to_owned()
            } else if largest < 1e7 && decimals <= 4 {
                fixed(value, decimals.max(0) as usize)
            } else {
                significant(value, (exponent(largest) + decimals + 1).clamp(1, 17) as usize)
            };
            (value, typeset(text))
        })
        .collect()
}

/// Returns the ticks for degrees of longitude or latitude.
pub fn degrees(low: f64, high: f64, most: usize, is_longitude: bool) -> Vec<Tick> {
    let named = |(value, _): Tick| {
        let of_circle = if is_longitude { (value + 180.0).rem_euclid(360.0) - 180.0 } else { value };
        let text = significant(of_circle.abs(), 6);
        let side = match (is_longitude, of_circle == 0.0 || of_circle.abs() == 180.0, of_circle > 0.0) {
            (_, true, _) => "",
            (true, _, true) => " E",
            (true, _, false) => " W",
            (false, _, true) => " N",
            (false, _, false) => " S",
        };
        (value, format!("{text}°{side}"))
    };
    ticks(low, high, most).into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64) -> Vec<String> {
        ticks(low, high, 6).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_told_apart() {
        assert_eq!(texts(0.3, 5.2), ["1", "2", "3", "4", "5"]);
        assert_eq!(texts(-0.12, 0.11), ["−0.10", "−0.05", "0", "0.05", "0.10"]);
        assert_eq!(texts(0.0, 45_000.0), ["0", "10,000", "20,000", "30,000", "40,000"]);
        assert_eq!(texts(0.0, 2.5e9), ["0", "5e8", "1e9", "1.5e9", "2e9", "2.5e9"]);
        assert_eq!(texts(1e-9, 3e-9), ["1e-9", "1.5e-9", "2e-9", "2.5e-9", "3e-9"].map(|text| text.replace('-', "−")));
    }

    #[test]
    fn values_that_have_no_round_numbers_between_them_have_no_ticks() {
        assert!(texts(1.0, 1.0).is_empty());
        assert!(texts(1e300, 1e300 * (1.0 + 1e-15)).len() < 8);
        assert!(texts(f64::NEG_INFINITY, 1.0).is_empty());
    }

    #[test]
    fn degrees_have_their_sides_and_go_on_behind_the_date_line() {
        let texts = |low, high| degrees(low, high, 4, true).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts(-115.0, -104.0), ["115° W", "110° W", "105° W"]);
        assert_eq!(texts(170.0, 195.0), ["170° E", "180°", "170° W"]);
        assert_eq!(degrees(-10.0, 10.0, 3, false)[0].1, "10° S");
    }
}
