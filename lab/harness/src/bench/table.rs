//! Formats the figures as tables: each case with Lehr first, and with its ratios to the holder, the best peer and the
//! floor of this run.

use super::figure::Figure;
use crate::output::laid_out;

const WIDTHS: [usize; 7] = [40, 7, 28, 8, 15, 11, 9];

const LISTED_WIDTHS: [usize; 6] = [62, 32, 7, 30, 30, 13];

/// The best figure of earlier measurements of a case, with near and with far cores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reached {
    /// The figure with near cores.
    pub near: f64,
    /// The figure with far cores.
    pub far: f64,
}

/// Finds the best earlier figure of a figure's case, on one core or on all.
pub type Holders<'a> = &'a dyn Fn(&Figure, bool) -> Option<Reached>;

/// Formats all cases as aligned text.
///
/// A ratio is our median divided by the other's: below 1, Lehr is faster. *Holder* compares near samples with the near
/// figure and far samples with the far one. *Peer* and *floor* are the best of this run with as many cores: one core if
/// Lehr has one worker, otherwise several. Experiments in `listed` have many small cases, so each has its own table
/// with a line for each figure.
pub fn text(figures: &[Figure], holders: Holders<'_>, listed: &[&str], cores: usize) -> String {
    let mut lines = Vec::new();
    let mut cases: Vec<(&str, &str)> = Vec::new();
    for figure in figures.iter().filter(|figure| !listed.contains(&figure.experiment.as_str())) {
        let case = (figure.experiment.as_str(), figure.case.as_str());
        if !cases.contains(&case) {
            cases.push(case);
        }
    }
    for (experiment, case) in cases {
        let mut rows: Vec<&Figure> =
            figures.iter().filter(|figure| figure.experiment == experiment && figure.case == case).collect();
        // Lehr comes first, then the peers from the best to the worst, then the floors.
        rows.sort_by(|a, b| rank(a).cmp(&rank(b)).then(a.median.total_cmp(&b.median)));
        lines.push(format!("\n{experiment}: {case}, {}", rows[0].unit));
        let heads = ["engine", "workers", "min / median / max", "runs", "x holder n / f", "x best peer", "x floor"];
        lines.push(laid_out(&WIDTHS, &heads.map(String::from)));
        for row in &rows {
            let comparisons =
                if row.is_ours() { Comparison::of(row, &rows, holders, cores) } else { Comparison::default() };
            lines.push(laid_out(
                &WIDTHS,
                &[
                    row.engine.clone(),
                    row.workers.map_or_else(String::new, |workers| workers.to_string()),
                    format!("{} / {} / {}", digits(row.min), digits(row.median), digits(row.max)),
                    row.runs.to_string(),
                    comparisons.holder,
                    comparisons.peer,
                    comparisons.floor,
                ],
            ));
        }
    }
    for experiment in listed {
        lines.extend(list(figures, experiment, cores));
    }
    lines.join("\n")
}

/// Formats one table of all figures of an experiment. If the experiment has rates (`posting rate`), its figures appear
/// only there, each with its share of the best floor's rate.
fn list(figures: &[Figure], experiment: &str, cores: usize) -> Vec<String> {
    let is_shown = |figure: &&Figure| {
        let is_rate = |other: &Figure| other.experiment.strip_suffix(" rate") == Some(experiment);
        let is_rated = |other: &Figure| is_rate(other) && other.case == figure.case;
        figure.experiment == experiment && !figures.iter().any(is_rated)
    };
    let rows: Vec<&Figure> = figures.iter().filter(is_shown).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let heads = ["", "engine", "workers", "min / median / max", "", "of the floor"].map(String::from);
    let mut lines = vec![format!("\n{experiment}"), laid_out(&LISTED_WIDTHS, &heads)];
    for row in &rows {
        let is_its_floor = |other: &&&Figure| {
            other.is_floor() && other.case == row.case && has_one_core(other, cores) == has_one_core(row, cores)
        };
        let floor = rows.iter().filter(is_its_floor).max_by(|a, b| a.median.total_cmp(&b.median));
        let share = floor.filter(|floor| row.is_ours() && row.unit == "GB/s" && floor.median > 0.0);
        lines.push(laid_out(
            &LISTED_WIDTHS,
            &[
                row.case.clone(),
                row.engine.clone(),
                row.workers.map_or_else(String::new, |workers| workers.to_string()),
                format!("{} / {} / {}", digits(row.min), digits(row.median), digits(row.max)),
                row.unit.clone(),
                share.map_or_else(String::new, |floor| format!("{:.0} %", 100.0 * row.median / floor.median)),
            ],
        ));
    }
    lines
}

fn rank(figure: &Figure) -> usize {
    if figure.is_ours() {
        0
    } else if figure.is_floor() {
        2
    } else {
        1
    }
}

/// The ratios of Lehr's figure to others, as text; empty if there is nothing to compare with.
#[derive(Default)]
struct Comparison {
    holder: String,
    peer: String,
    floor: String,
}

impl Comparison {
    fn of(ours: &Figure, rows: &[&Figure], holders: Holders<'_>, cores: usize) -> Self {
        let best = |is_floor: bool| {
            let others = rows.iter().filter(|row| !row.is_ours() && row.is_floor() == is_floor);
            others
                .filter(|row| has_one_core(row, cores) == has_one_core(ours, cores))
                .map(|row| row.median)
                .min_by(f64::total_cmp)
        };
        let ratio = |to: Option<f64>| to.and_then(|to| quotient(ours.median, to)).unwrap_or_default();
        Self { holder: to_holder(ours, holders, cores), peer: ratio(best(false)), floor: ratio(best(true)) }
    }
}

fn has_one_core(figure: &Figure, cores: usize) -> bool {
    cores == 1 || figure.workers == Some(1)
}

fn to_holder(ours: &Figure, holders: Holders<'_>, cores: usize) -> String {
    let Some(holder) = holders(ours, has_one_core(ours, cores)) else { return String::new() };
    let ratio = |median: Option<f64>, to| median.and_then(|median| quotient(median, to)).unwrap_or_else(|| "-".into());
    format!(
        "{} / {}",
        ratio(ours.near.map(|placed| placed.median), holder.near),
        ratio(ours.far.map(|placed| placed.median), holder.far)
    )
}

/// Formats a ratio; `None` if an overhead is not above zero, since a ratio has no meaning then.
fn quotient(ours: f64, theirs: f64) -> Option<String> {
    (ours > 0.0 && theirs > 0.0).then(|| format!("{:.2}", ours / theirs))
}

/// Formats a value with three significant digits.
pub fn digits(value: f64) -> String {
    let size = value.abs();
    if size >= 1000.0 {
        format!("{value:.0}")
    } else if size >= 100.0 {
        format!("{value:.1}")
    } else if size >= 1.0 {
        format!("{value:.2}")
    } else {
        format!("{value:.4}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::{Place, Samples};

    const LISTED: [&str; 2] = ["posting rate", "posting"];

    fn figure(engine: &str, workers: usize, value: f64) -> Figure {
        let mut samples = Samples::default();
        samples.push(value, Place::Near);
        Figure::new("rendezvous", "shift, P = 2, 0 units", engine, "us a stage", &samples, 1000.0).with_workers(workers)
    }

    #[test]
    fn ours_is_compared_with_the_best_of_as_many_cores() {
        let figures = [
            figure("slow", 2, 0.8),
            figure("floor: C", 2, 0.1),
            figure("lehr ports", 2, 0.2),
            figure("fast", 2, 0.4),
            figure("one", 1, 0.05),
        ];
        let holder = |_: &Figure, one_core: bool| (!one_core).then_some(Reached { near: 0.25, far: 0.5 });
        let text = text(&figures, &holder, &LISTED, 2);
        let rows: Vec<&str> = text.lines().skip(3).collect();
        assert_eq!(rows[0].split_whitespace().collect::<Vec<_>>()[..3], ["lehr", "ports", "2"]);
        assert!(rows[0].contains("0.80 / -") && rows[0].ends_with("0.50       2.00"), "{}", rows[0]);
        assert!(rows[1].starts_with("one") && rows[2].starts_with("fast") && rows[4].starts_with("floor"));
    }

    #[test]
    fn cases_without_peers_are_lines_of_one_table_and_copies_have_their_share_of_memcpy() {
        let posted = |experiment: &str, engine: &str, value| {
            let mut figure = figure(engine, 1, value);
            (figure.experiment, figure.case) = (experiment.into(), "inside, 1000 doubles, 0 units".into());
            figure.unit = if experiment == "posting" { "us a message" } else { "GB/s" }.into();
            figure
        };
        let figures = [
            posted("posting", "lehr ports", 0.1),
            posted("posting rate", "lehr ports", 60.0),
            posted("posting rate", "floor: C memcpy and a hand-over", 70.0),
            posted("posting rate", "floor: C memcpy", 80.0),
        ];
        let text = text(&figures, &|_, _| None, &LISTED, 2);
        let rows: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(rows[0], "posting rate");
        assert!(rows[2].contains("60.00 / 60.00 / 60.00") && rows[2].ends_with("75 %"), "{}", rows[2]);
        assert_eq!(rows.len(), 5, "a time whose rate is there is not said twice");
    }

    #[test]
    fn an_overhead_below_zero_has_no_ratio() {
        assert_eq!(quotient(-0.1, 0.2), None);
        assert_eq!(quotient(0.1, 0.2).as_deref(), Some("0.50"));
    }
}
