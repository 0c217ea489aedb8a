//! Formats the figures for people: overheads by case, the laws, map-reduce compared with ranks, fluctuations.

use super::figure::Figure;
use super::{padding, scaling, stages, turns};
use crate::compare::verdict;
use crate::output::laid_out;

/// Formats all tables that have figures.
pub fn text(figures: &[Figure], aim: f64) -> String {
    let mut lines = Vec::new();
    let of = |experiment: &str| figures.iter().filter(|figure| figure.experiment == experiment).collect::<Vec<_>>();
    let mut table = |title: &str, widths: &[usize], heads: &[&str], rows: Vec<Vec<String>>| {
        if !rows.is_empty() {
            lines.push(format!("\n{title}"));
            lines.push(laid_out(widths, &heads.iter().map(|head| (*head).to_owned()).collect::<Vec<_>>()));
            lines.extend(rows.iter().map(|row| laid_out(widths, row)));
        }
    };
    let row = |figure: &Figure| vec![figure.case.clone(), figure.engine.clone(), spread(figure)];
    let overheads = of("overhead").into_iter().map(|figure| [row(figure), vec![verdict(figure.median, aim)]].concat());
    table(
        "overhead f = p T(p) / T(1) - 1, by round",
        &[24, 20, 24, 14],
        &["case", "side", "median (least most)", "aim"],
        overheads.collect(),
    );
    table(
        "map-reduce over ranks, in the same layout",
        &[24, 20, 24],
        &["case", "side", "median (least most)"],
        of("map-reduce").into_iter().map(row).collect(),
    );
    for (experiment, title) in [
        (turns::PORTS_LESS_LOOP, "overhead of ports less that of the loop (003 figure 9)"),
        (scaling::SECONDS, "seconds of scaling (003 figures 15, 17 and 19)"),
        (scaling::EFFICIENCY, "its efficiency (003 figures 16, 18 and 20)"),
        (scaling::PORTS, "ports over the loop, on as many threads"),
    ] {
        let rows = of(experiment).into_iter().map(row).collect();
        table(title, &[32, 20, 24], &["case", "side", "median (least most)"], rows);
    }
    let noted = |figure: &Figure| [row(figure), vec![figure.note.clone().unwrap_or_default()]].concat();
    table(
        "laws of the overhead, fitted to each round",
        &[52, 4, 24, 10],
        &["law", "", "median (least most)", ""],
        of("fit").into_iter().map(noted).collect(),
    );
    table(
        "left out of a law",
        &[52, 24, 24, 10],
        &["law", "point", "f", ""],
        of("left out").into_iter().chain(of("not fitted")).map(noted).collect(),
    );
    for (experiment, title) in [
        (stages::DEVIATION, "standard deviation over mean of all stages' times"),
        (stages::RANGE, "most less least over mean, of the ranks of a stage"),
        (stages::KERNEL, "the kernel, ns a point and centre"),
        (padding::PADDING, "sums of threads beside each other, time over that of sums apart"),
    ] {
        table(
            title,
            &[48, 12, 24, 20],
            &["case", "side", "median (least most)", ""],
            of(experiment).into_iter().map(noted).collect(),
        );
    }
    lines.join("\n")
}

fn spread(figure: &Figure) -> String {
    format!("{} ({} {})", digits(figure.median), digits(figure.min), digits(figure.max))
}

fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 1.0 => format!("{value:.2}"),
        size if size >= 0.01 || size == 0.0 => format!("{value:.3}"),
        _ => format!("{value:.2e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_what_there_is_and_no_more() {
        let figures = [
            Figure::new("overhead", "N = 10, K = 2", "ranks 2x1x1", "1", vec![0.01, 0.04, 0.5]),
            Figure::new("residual", "a", "b", "1", vec![0.0]),
        ];
        let text = text(&figures, 0.05);
        assert!(text.contains("0.040 (0.010 0.500)"), "{text}");
        assert!(!text.contains("map-reduce") && !text.contains("residual"), "{text}");
    }
}
