//! What stands beside a picture that is drawn as SVG: lines across it at round numbers, the numbers, and what the axes are.
//!
//! Numbers and names are text of the page, not of the picture, which shrinks with the window: on a telephone they are as large as elsewhere, only fewer.

use crate::markup::{escape, typeset};
use lehr_methods::numbers::{fixed, significant};

/// How wide a digit beside the picture is, about.
const DIGIT_PIXELS: usize = 7;

/// One axis.
pub struct Axis {
    /// What it measures; nothing is said if this is empty.
    pub name: String,
    /// Where its numbers stand, as shares of its length, and what they are.
    pub marks: Vec<(f64, String)>,
}

impl Axis {
    /// Round numbers within a range, `about` so many.
    pub fn linear(name: &str, range: (f64, f64), about: usize) -> Self {
        let Some(step) = step(range, about) else { return Axis { name: name.to_owned(), marks: Vec::new() } };
        let (first, last) = ((range.0 / step - 1e-9).ceil(), (range.1 / step + 1e-9).floor());
        let most = range.0.abs().max(range.1.abs());
        let is_long = most >= 1e7 || step < 1e-4;
        // As many as tell one number from the next.
        let digits = (most.log10().floor() - step.log10().floor() + 1.0).clamp(1.0, 15.0) as usize;
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let marks = (0..=(last - first).max(-1.0) as i64).map(|n| {
            let value = (first + n as f64) * step;
            let text = if is_long { significant(value, digits) } else { fixed(value, decimals) };
            ((value - range.0) / (range.1 - range.0), text)
        });
        Axis { name: name.to_owned(), marks: marks.collect() }
    }

    /// An axis that measures nothing.
    pub fn bare() -> Self {
        Axis { name: String::new(), marks: Vec::new() }
    }

    /// Powers of ten from `from` at the left to `to` at the right, either of which may be the larger, with numbers between them where the range is short. Both are above 0.
    pub fn logarithmic(name: &str, from: f64, to: f64) -> Self {
        let (low, high) = (from.min(to), from.max(to));
        let decades = (high / low).log10();
        let factors: &[f64] = match decades {
            ..1.0 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
            ..2.0 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let mut marks = Vec::new();
        for power in low.log10().floor() as i32..=high.log10().ceil() as i32 {
            for factor in factors {
                let value = factor * 10f64.powi(power);
                if (low * (1.0 - 1e-9)..=high * (1.0 + 1e-9)).contains(&value) {
                    marks.push((
                        (value / from).ln() / (to / from).ln(),
                        significant(value, 1 + usize::from(factor.fract() != 0.0)),
                    ));
                }
            }
        }
        // From left to right, so that every second one can be left out where there is little room.
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        Axis { name: name.to_owned(), marks }
    }
}

/// 1, 2 or 5 times a power of ten, `about` so many of which make up a range; none of a range of no length.
fn step((low, high): (f64, f64), about: usize) -> Option<f64> {
    let wanted = (high - low) / about.max(1) as f64;
    if !(wanted > 0.0 && wanted.is_finite()) {
        return None;
    }
    let power = 10f64.powf(wanted.log10().floor());
    Some([1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= 0.999 * wanted).unwrap_or(10.0) * power)
}

/// Lines across a picture of that size where its axes have numbers.
pub fn gridlines(width: f64, height: f64, across: &Axis, upwards: &Axis) -> String {
    let vertical = across.marks.iter().map(|(share, _)| format!("M{:.1} 0V{height:.1}", share * width));
    let level = upwards.marks.iter().map(|(share, _)| format!("M0 {:.1}H{width:.1}", (1.0 - share) * height));
    format!("<path class=\"gridline\" d=\"{}\"/>", vertical.chain(level).collect::<String>())
}

/// A picture with its axes beside it. `within`: what stands over it, by shares of its size.
pub fn framed(svg: &str, across: &Axis, upwards: &Axis, within: &str) -> String {
    // A power of ten is typeset with " × 10" in the place of its "e".
    let width = |text: &str| text.chars().count() + 4 * usize::from(text.contains('e'));
    let widest = upwards.marks.iter().map(|(_, text)| width(text)).max().unwrap_or(0);
    let room = if widest > 0 { widest * DIGIT_PIXELS + 12 } else { 0 };
    let numbers = |axis: &Axis, side: &str| -> String {
        axis.marks
            .iter()
            .map(|(share, text)| format!("<span style=\"{side}:{:.2}%\">{}</span>", 100.0 * share, typeset(text)))
            .collect()
    };
    let name = |axis: &Axis| {
        if axis.name.is_empty() { String::new() } else { format!("<b>{}</b>", escape(&axis.name)) }
    };
    format!(
        "<div class=\"framed\" style=\"--room:{room}px\">{svg}{within}<div class=\"across\" aria-hidden=\"true\">{}{}</div>\
         <div class=\"upwards\" aria-hidden=\"true\">{}{}</div></div>",
        numbers(across, "left"),
        name(across),
        numbers(upwards, "bottom"),
        name(upwards)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(axis: &Axis) -> Vec<&str> {
        axis.marks.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn numbers_of_an_axis_are_round_and_within_it() {
        let axis = Axis::linear("x", (-0.31, 0.62), 5);
        assert_eq!(texts(&axis), ["-0.2", "0.0", "0.2", "0.4", "0.6"]);
        assert!((axis.marks[1].0 - 0.31 / 0.93).abs() < 1e-12);
        assert_eq!(
            texts(&Axis::linear("x", (12_300.0, 61_000.0), 6)),
            ["20,000", "30,000", "40,000", "50,000", "60,000"]
        );
        // Many digits, of which the last ones differ.
        assert_eq!(texts(&Axis::linear("BIC", (12.305e6, 12.362e6), 3)), ["1.232e7", "1.234e7", "1.236e7"]);
        assert_eq!(texts(&Axis::linear("time", (1.7e9, 1.702e9), 2)), ["1.7e9", "1.701e9", "1.702e9"]);
        let close = Axis::linear("x", (0.5, 0.5001), 5);
        assert_eq!(texts(&close), ["0.50000", "0.50002", "0.50004", "0.50006", "0.50008", "0.50010"]);
        assert!(Axis::linear("x", (3.0, 3.0), 5).marks.is_empty());
        assert!(Axis::linear("x", (0.0, f64::INFINITY), 5).marks.is_empty());
    }

    #[test]
    fn temperatures_fall_from_left_to_right() {
        let axis = Axis::logarithmic("temperature", 45.0, 1.0);
        assert_eq!(texts(&axis), ["20", "10", "5", "2", "1"]);
        assert_eq!(axis.marks[4].0, 1.0);
        assert_eq!(texts(&Axis::logarithmic("temperature", 4.06, 1.0)), ["3", "2", "1.5", "1"]);
        assert_eq!(texts(&Axis::logarithmic("temperature", 1.0, 1500.0)), ["1", "10", "100", "1,000"]);
    }

    #[test]
    fn what_axes_are_called_cannot_become_markup() {
        let named = |name: &str| Axis { name: name.to_owned(), marks: vec![(0.5, "-1".to_owned())] };
        let page = framed("<svg/>", &named("<b>"), &named(""), "");
        assert!(page.contains("<span style=\"left:50.00%\">−1</span><b>&lt;b&gt;</b></div>"), "{page}");
        assert_eq!(page.matches("<b>").count(), 1);
    }
}
