//! The section of a report about the initialisations of k-means and their results.

use crate::figure::{Figures, lines};
use crate::markup;
use lehr_methods::numbers::{counted, grouped, quantity, significant};
use maud::Markup;
use serde_json::json;

/// The maximum number of initialisations in the chart. If there are more initialisations, the chart shows the first.
const DRAWN_MAX: usize = 500;

/// The maximum relative excess over the best result at which an initialisation counts as having found the same result.
const SAME: f64 = 1e-6;

/// Returns the section about the initialisations. `starts` has the weighted sum of squares of each initialisation;
/// there is at least one.
pub fn section(starts: &[f64], unit_squared: &str, figures: &mut Figures) -> Markup {
    markup::section("starts", "How the clusters came about", &note(starts, unit_squared), chart(starts, figures))
}

fn least(starts: &[f64]) -> f64 {
    starts.iter().copied().fold(f64::INFINITY, f64::min)
}

/// Returns by how many per cent the sum of squares of an initialisation exceeds the best sum of squares.
fn excess(start: f64, best: f64) -> f64 {
    if best > 0.0 { 100.0 * (start - best) / best } else { 0.0 }
}

fn note(starts: &[f64], unit_squared: &str) -> String {
    let best = least(starts);
    let mut note =
        "k-means++ draws the first centres among the rows. Then each centre moves to the mean of its rows, until none \
                    moves."
            .to_owned();
    if starts.len() < 2 {
        note.push_str(" There was one initialisation. Another one may end at a lower sum of squares.");
        return note;
    }
    let same = starts.iter().filter(|&&start| excess(start, best) <= 100.0 * SAME).count();
    let worst = starts.iter().copied().fold(0.0, f64::max);
    note.push_str(&format!(
        " Of {}, {} reached the best sum of squares, {}; the worst is {} % above it.",
        counted(starts.len() as u64, "start"),
        grouped(same as u64),
        quantity(best, unit_squared),
        significant(excess(worst, best), 3)
    ));
    note
}

/// Draws a dot for each initialisation, at the excess of its sum of squares over the best result. Returns nothing if
/// there is only one initialisation, or all found the same result.
fn chart(starts: &[f64], figures: &mut Figures) -> Markup {
    let best = least(starts);
    let shown: Vec<f64> = starts[..starts.len().min(DRAWN_MAX)].iter().map(|&start| excess(start, best)).collect();
    if shown.len() < 2 || shown.iter().all(|percent| *percent <= 100.0 * SAME) {
        return Markup::default();
    }
    let first = shown.iter().position(|percent| *percent <= 100.0 * SAME);
    figures.add(
        "starts",
        lines(vec![json!({
            "title": "Sum of squares above the best, in %",
            "xName": "start",
            "x": (1..=shown.len()).collect::<Vec<_>>(),
            "y": shown,
            "dots": "alone",
            "best": first,
        })]),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_that_came_to_the_best_are_counted_and_the_others_drawn_above_them() {
        let mut figures = Figures::default();
        let page = section(&[110.0, 100.0, 100.000_000_1, 105.0], "km²", &mut figures).into_string();
        assert!(
            page.contains("Of 4 starts, 2 reached the best sum of squares, 100 km²; the worst is 10 % above it."),
            "{page}"
        );
        let drawn: serde_json::Value = serde_json::from_str(&figures.json()).unwrap();
        let line = &drawn["figures"]["starts"]["lines"][0];
        assert_eq!((&line["y"][0], &line["y"][1], &line["y"][3]), (&10.0.into(), &0.0.into(), &5.0.into()));
        assert_eq!(line["best"], 1);
    }

    #[test]
    fn one_start_or_equal_ones_are_not_drawn() {
        let section = |starts: &[f64]| section(starts, "", &mut Figures::default()).into_string();
        assert!(section(&[3.0]).contains("There was one initialisation"));
        for starts in [&[3.0][..], &[3.0, 3.0], &[0.0, 0.0]] {
            assert!(!section(starts).contains("class=\"figure\""), "{starts:?}");
        }
    }
}
