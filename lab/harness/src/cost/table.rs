//! Formats the figures for people: a line for each case and command, and the exponents below.

use super::power::EXPONENT;
use super::{MEMORY, PASS, PASSES, TIME};
use crate::bench::figure::Figure;
use crate::output::{laid_out, three_digits};

const WIDTHS: [usize; 6] = [34, 30, 26, 12, 10, 12];

/// Formats both tables, if there are figures for them.
pub fn text(figures: &[Figure]) -> String {
    let heads = ["case", "command", "seconds min / med / max", "most MiB", "passes", "ms a pass"];
    let mut lines = vec![String::new(), laid_out(&WIDTHS, &heads.map(String::from))];
    for time in figures.iter().filter(|figure| figure.experiment == TIME) {
        let of = |experiment: &str| {
            let same = |figure: &&Figure| {
                figure.experiment == experiment && figure.case == time.case && figure.engine == time.engine
            };
            figures.iter().find(same).map_or_else(String::new, |figure| three_digits(figure.median))
        };
        lines.push(laid_out(
            &WIDTHS,
            &[time.case.clone(), time.engine.clone(), time.spread(), of(MEMORY), of(PASSES), of(PASS)],
        ));
    }
    let exponents: Vec<&Figure> = figures.iter().filter(|figure| figure.experiment == EXPONENT).collect();
    if !exponents.is_empty() {
        lines.push(String::new());
        lines.push(laid_out(&WIDTHS, &["exponent of", "command", "min / med / max"].map(String::from)));
        lines.extend(
            exponents.iter().map(|row| laid_out(&WIDTHS, &[row.case.clone(), row.engine.clone(), row.spread()])),
        );
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::{Place, Samples};

    #[test]
    fn a_line_has_all_that_was_measured_of_a_stage() {
        let figure = |experiment: &str, engine: &str, value: f64| {
            let mut samples = Samples::default();
            samples.push(value, Place::Unknown);
            Figure::new(experiment, "1000 items, u16", engine, "s", &samples, 1.0)
        };
        let text = text(&[
            figure(TIME, "lehr distances", 0.25),
            figure(TIME, "lehr embed", 4.0),
            figure(MEMORY, "lehr embed", 150.0),
            figure(PASSES, "lehr embed", 77.0),
            figure(PASS, "lehr embed", 12.5),
            figure(EXPONENT, "lehr embed", 2.01),
        ]);
        let line = |part: &str| {
            text.lines().find(|line| line.contains(part)).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line("4.00 / 4.00"), "1000 items, u16 lehr embed 4.00 / 4.00 / 4.00 150 77.0 12.5");
        assert_eq!(line("0.250 / "), "1000 items, u16 lehr distances 0.250 / 0.250 / 0.250");
        assert!(line("2.01 /").starts_with("1000 items"));
    }
}
