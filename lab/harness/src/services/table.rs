//! Formats one table: a line for each case, Lehr beside the fastest other side, and the papers' figures below.

use super::definition::{Aims, Papers};
use super::http;
use crate::bench::figure::Figure;
use crate::bench::presence::{ABSENT, UNIT};
use crate::output::{laid_out, three_digits};

const WIDTHS: [usize; 7] = [62, 7, 26, 12, 30, 10, 6];

const PAPER_WIDTHS: [usize; 4] = [70, 24, 22, 16];

/// Formats the figures as aligned text. A ratio is our median divided by the other's: below 1, Lehr is faster.
pub fn text(figures: &[Figure], papers: &Papers, aims: Aims) -> String {
    let mut lines = Vec::new();
    let mut experiments: Vec<&str> = figures.iter().map(|figure| figure.experiment.as_str()).collect();
    experiments.dedup();
    let mut seen: Vec<&str> = Vec::new();
    for experiment in experiments {
        if seen.contains(&experiment) || [UNIT, ABSENT].contains(&experiment) {
            continue;
        }
        seen.push(experiment);
        let ours: Vec<&Figure> =
            figures.iter().filter(|figure| figure.experiment == experiment && figure.is_ours()).collect();
        let Some(first) = ours.first() else { continue };
        let aim = match experiment {
            http::EXPERIMENT => format!("; aim: at most {:.2} of the bare handler", aims.http),
            "messages" => format!("; aim: at most {:.2} of the fastest", aims.messages),
            _ => String::new(),
        };
        lines.push(format!("\n{experiment}, {}{aim}", first.unit));
        let heads = ["case", "workers", "ours min / median / max", "a second", "fastest other", "median", "x"];
        lines.push(laid_out(&WIDTHS, &heads.map(String::from)));
        lines.extend(ours.iter().map(|row| line(row, figures)));
    }
    lines.push("\nthe papers".to_string());
    let heads = ["what", "machine", "messages a second", "us a message"];
    lines.push(laid_out(&PAPER_WIDTHS, &heads.map(String::from)));
    for paper in &papers.rows {
        let band = |[least, most]: [f64; 2]| {
            if least == most { format!("{least:.0}") } else { format!("{least:.0} to {most:.0}") }
        };
        lines.push(laid_out(
            &PAPER_WIDTHS,
            &[
                format!("{}: {}", paper.figure, paper.what),
                paper.machine.clone(),
                band(paper.messages_a_second),
                band(paper.us),
            ],
        ));
    }
    lines.join("\n")
}

fn line(row: &Figure, figures: &[Figure]) -> String {
    let is_other = |figure: &&Figure| {
        let same = figure.experiment == row.experiment && figure.case == row.case && figure.workers == row.workers;
        same && !figure.is_ours()
    };
    let fastest = figures.iter().filter(is_other).min_by(|a, b| a.median.total_cmp(&b.median));
    // If a case has several forms of Lehr, their names distinguish them.
    let own = row.engine.split_once(", ").map_or_else(String::new, |(_, which)| format!("{which}: "));
    let rate = if row.unit.starts_with("us a ") { format!("{:.0}", 1e6 / row.median) } else { String::new() };
    laid_out(
        &WIDTHS,
        &[
            format!("{own}{}", row.case),
            row.workers.map_or_else(String::new, |workers| workers.to_string()),
            row.spread(),
            rate,
            fastest.map_or_else(String::new, |other| other.engine.clone()),
            fastest.map_or_else(String::new, |other| three_digits(other.median)),
            fastest.map_or_else(String::new, |other| format!("{:.2}", row.median / other.median)),
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::{Place, Samples};
    use crate::services::definition;

    fn figure(experiment: &str, engine: &str, workers: usize, value: f64) -> Figure {
        let mut samples = Samples::default();
        samples.push(value, Place::Unknown);
        Figure::new(experiment, "a case", engine, "us a message", &samples, 960.0).with_workers(workers)
    }

    #[test]
    fn ours_stands_beside_the_fastest_on_as_many_workers_and_the_papers_stand_below() {
        let figures = [
            figure("messages", "lehr services", 1, 0.25),
            figure("messages", "slow", 1, 2.0),
            figure("messages", "fast", 1, 0.5),
            figure("messages", "on two", 2, 0.1),
            figure("neighbours", "lehr services, alone", 1, 40.0),
            figure(UNIT, "lehr", 1, 960.0),
        ];
        let text = text(&figures, &definition::papers(), definition::file().aims);
        let words = |part: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.contains(part)).unwrap();
            line.split_whitespace().map(String::from).collect()
        };
        assert_eq!(words("0.250 /")[8..], ["4000000", "fast", "0.500", "0.50"]);
        assert!(text.contains("alone: a case") && text.contains("at most 1.00 of the fastest"));
        assert!(text.contains("20000 to 25000") && text.contains("40 to 50") && !text.contains("960"));
    }
}
