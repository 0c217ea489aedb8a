//! Formats the figures for people: steps, runs, the clusters of active compounds, and synthetic compounds.

use super::extrapolation::EXTRAPOLATED;
use super::{
    AGREEMENT, MEMORY, OVERHEAD, PASS, PASSES, PURITY, RATIO, RICH_ACTIVE, RICH_ITEMS, RUN, SQUARES, STEP, WHOLE,
};
use crate::bench::figure::Figure;
use crate::output::{laid_out, three_digits};

const WIDTHS: [usize; 9] = [44, 13, 8, 24, 10, 10, 10, 12, 12];
const FOUND_WIDTHS: [usize; 7] = [44, 16, 16, 12, 12, 14, 14];

/// Formats the tables for which there are figures.
pub fn text(figures: &[Figure]) -> String {
    let find = |experiment: &str, like: &Figure, engine: &str| {
        let is =
            |figure: &&Figure| figure.experiment == experiment && figure.case == like.case && figure.engine == engine;
        figures.iter().find(is)
    };
    let of = |experiment: &'static str| figures.iter().filter(move |figure| figure.experiment == experiment);
    let mut lines = Vec::new();
    if of(STEP).next().is_some() {
        lines.push(String::new());
        let heads = ["a step of E and M, one thread", "side", "", "ns a row and centre", "ratio"];
        lines.push(laid_out(&WIDTHS, &heads.map(String::from)));
        for step in of(STEP) {
            let ratio = find(RATIO, step, &step.engine).map_or_else(String::new, |ratio| three_digits(ratio.median));
            lines.push(laid_out(
                &WIDTHS,
                &[step.case.clone(), step.engine.clone(), String::new(), step.spread(), ratio],
            ));
        }
    }
    if of(RUN).next().is_some() {
        lines.push(String::new());
        let heads = [
            "a run",
            "side",
            "threads",
            "seconds min / med / max",
            "ratio",
            "overhead",
            "passes",
            "ms a pass",
            "most MiB",
        ];
        lines.push(laid_out(&WIDTHS, &heads.map(String::from)));
        for run in of(RUN) {
            let same = |experiment: &str| {
                let is = |figure: &&Figure| {
                    figure.experiment == experiment
                        && figure.case == run.case
                        && figure.engine == run.engine
                        && figure.workers == run.workers
                };
                figures.iter().find(is).map_or_else(String::new, |figure| three_digits(figure.median))
            };
            let threads = run.workers.map_or_else(String::new, |workers| workers.to_string());
            let cells = [run.case.clone(), run.engine.clone(), threads, run.spread()];
            let more = [RATIO, OVERHEAD, PASSES, PASS, MEMORY].map(same);
            lines.push(laid_out(&WIDTHS, &[&cells[..], &more[..]].concat()));
        }
    }
    if of(AGREEMENT).next().is_some() {
        lines.push(String::new());
        let heads = [
            "what was found",
            "squares, bits",
            "squares, numbers",
            "agreement",
            "purity",
            "active in rich",
            "all in rich",
        ];
        lines.push(laid_out(&FOUND_WIDTHS, &heads.map(String::from)));
        for agreement in of(AGREEMENT) {
            let cell = |experiment: &str, engine: &str, text: &dyn Fn(f64) -> String| {
                find(experiment, agreement, engine).map_or_else(String::new, |figure| text(figure.median))
            };
            let whole = |value: f64| format!("{value:.3}");
            let share = |value: f64| format!("{:.1} %", 100.0 * value);
            lines.push(laid_out(
                &FOUND_WIDTHS,
                &[
                    agreement.case.clone(),
                    cell(SQUARES, super::BITS, &whole),
                    cell(SQUARES, super::NUMBERS, &whole),
                    format!("{:.4}", agreement.median),
                    cell(PURITY, super::BITS, &share),
                    cell(RICH_ACTIVE, super::BITS, &share),
                    cell(RICH_ITEMS, super::BITS, &share),
                ],
            ));
        }
    }
    let named = |figure: &Figure| format!("  {}: {} {}", figure.case, three_digits(figure.median), figure.unit);
    let beyond: Vec<&Figure> = figures.iter().filter(|figure| figure.experiment.starts_with(EXTRAPOLATED)).collect();
    if !beyond.is_empty() {
        lines.push(String::new());
        lines.push("not taken, but extrapolated from the sizes above:".into());
        lines.extend(beyond.iter().map(|figure| named(figure)));
    }
    let wholes: Vec<&Figure> = of(WHOLE).filter(|figure| figure.case.contains("synthetic")).collect();
    if !wholes.is_empty() {
        lines.push(String::new());
        lines.push("with reading and writing:".into());
        lines.extend(wholes.iter().map(|whole| named(whole)));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::{Place, Samples};

    fn figure(experiment: &str, case: &str, engine: &str, workers: usize, value: f64) -> Figure {
        let mut samples = Samples::default();
        samples.push(value, Place::Unknown);
        Figure::new(experiment, case, engine, "s", &samples, 1.0).with_workers(workers)
    }

    #[test]
    fn each_table_has_what_was_measured_of_a_case_and_side() {
        let (step, runs) = ("100 compounds, K = 5, step, f64", "100 compounds, K = 5, runs");
        let text = text(&[
            figure(STEP, step, "lehr bits", 1, 0.5),
            figure(STEP, step, "lehr numbers", 1, 1.0),
            figure(RATIO, step, "lehr bits", 1, 0.5),
            figure(RUN, runs, "lehr bits", 2, 3.0),
            figure(RUN, runs, "lehr bits", 1, 5.0),
            figure(MEMORY, runs, "lehr bits", 1, 70.0),
            figure(OVERHEAD, runs, "lehr bits", 2, 0.2),
            figure(RATIO, runs, "lehr bits", 2, 0.6),
            figure(AGREEMENT, runs, "lehr bits", 1, 1.0),
            figure(SQUARES, runs, "lehr numbers", 1, 12.5),
            figure(PURITY, runs, "lehr bits", 1, 0.125),
        ]);
        let line = |part: &str, place: usize| {
            let found = text.lines().filter(|line| line.contains(part)).nth(place).unwrap();
            found.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(line(step, 0), format!("{step} lehr bits 0.500 / 0.500 / 0.500 0.500"));
        assert_eq!(line(step, 1), format!("{step} lehr numbers 1.00 / 1.00 / 1.00"));
        assert_eq!(line(runs, 0), format!("{runs} lehr bits 2 3.00 / 3.00 / 3.00 0.600 0.200"));
        assert_eq!(line(runs, 1), format!("{runs} lehr bits 1 5.00 / 5.00 / 5.00 70.0"));
        assert_eq!(line(runs, 2), format!("{runs} 12.500 1.0000 12.5 %"));
    }
}
