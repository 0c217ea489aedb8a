//! The part of the page about the starts of k-means: what each came to. Drawn here as SVG: it needs no script.

use crate::markup::{escape, fill, typeset};
use lehr_methods::numbers::{counted, grouped, quantity, significant};

const SECTION: &str = include_str!("starts.html");

/// Starts that are drawn; of more, those in their order that come first.
const DRAWN_MAX: usize = 500;

/// Starts this near to the best, as a share, count as having found the same.
const SAME: f64 = 1e-6;

/// The section: `starts` are the weighted sums of squares, at least one.
pub fn section(starts: &[f64], unit_squared: &str) -> String {
    fill(SECTION, |name| match name {
        "note" => typeset(&note(starts, unit_squared)),
        "chart" => chart(starts),
        other => unreachable!("the page asks for {other}, which nobody writes"),
    })
}

fn least(starts: &[f64]) -> f64 {
    starts.iter().copied().fold(f64::INFINITY, f64::min)
}

/// How much a start is above the best, in per cent.
fn excess(start: f64, best: f64) -> f64 {
    if best > 0.0 { 100.0 * (start - best) / best } else { 0.0 }
}

fn note(starts: &[f64], unit_squared: &str) -> String {
    let best = least(starts);
    let mut note = "Centres are drawn among the rows, the next with a probability in proportion to the squared distance from those before it (k-means++), then each moves to the mean of its rows until \
                    none moves."
        .to_owned();
    if starts.len() < 2 {
        note.push_str(" There was one start: what another would have come to is not known.");
        return note;
    }
    let same = starts.iter().filter(|&&start| excess(start, best) <= 100.0 * SAME).count();
    let worst = starts.iter().copied().fold(0.0, f64::max);
    note.push_str(&format!(
        " Of {}, {} came to the best sum of squares, {}; the worst is {} % above it.",
        counted(starts.len() as u64, "start"),
        grouped(same as u64),
        quantity(best, unit_squared),
        significant(excess(worst, best), 3)
    ));
    note
}

/// A dot for each start, as high as its sum of squares is above the best; nothing where there is nothing to compare.
fn chart(starts: &[f64]) -> String {
    let best = least(starts);
    let shown = &starts[..starts.len().min(DRAWN_MAX)];
    let highest = shown.iter().map(|&start| excess(start, best)).fold(0.0, f64::max);
    if shown.len() < 2 || highest <= 100.0 * SAME {
        return String::new();
    }
    let y = |percent: f64| 190.0 - 170.0 * percent / highest;
    let marks: String = shown
        .iter()
        .enumerate()
        .map(|(at, &start)| {
            let x = 90.0 + 880.0 * at as f64 / (shown.len() - 1) as f64;
            let percent = excess(start, best);
            let radius = if percent <= 100.0 * SAME { 7 } else { 4 };
            format!(
                "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"{radius}\"><title>start {}: {} % above the best</title></circle>",
                y(percent),
                at + 1,
                significant(percent, 3)
            )
        })
        .collect();
    let lines: String = [0.0, highest / 2.0, highest]
        .map(|percent| {
            let y = y(percent);
            format!(
                "<path class=\"gridline\" d=\"M76 {y:.1}H984\"/><text x=\"66\" y=\"{:.1}\" text-anchor=\"end\">{} %</text>",
                y + 4.0,
                escape(&significant(percent, 2))
            )
        })
        .concat();
    format!(
        "<div class=\"plot\"><svg viewBox=\"0 0 1000 240\" width=\"100%\" height=\"100%\" role=\"img\" \
         aria-label=\"The sum of squares of each start, in per cent above the best\">{lines}{marks}\
         <text x=\"984\" y=\"226\" text-anchor=\"end\">starts in their order →</text></svg></div>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_that_came_to_the_best_are_counted_and_the_others_drawn_above_them() {
        let page = section(&[110.0, 100.0, 100.000_000_1, 105.0], "km²");
        assert!(
            page.contains("Of 4 starts, 2 came to the best sum of squares, 100 km²; the worst is 10 % above it."),
            "{page}"
        );
        assert_eq!((page.matches("<circle").count(), page.matches("r=\"7\"").count()), (4, 2));
        assert!(page.contains("start 4: 5 % above the best"));
    }

    #[test]
    fn one_start_or_equal_ones_are_not_drawn() {
        assert!(section(&[3.0], "").contains("There was one start"));
        for starts in [&[3.0][..], &[3.0, 3.0], &[0.0, 0.0]] {
            assert!(!section(starts, "").contains("<svg"), "{starts:?}");
        }
    }
}
