//! Extrapolates the costs of sizes that were not measured from those that were.
//!
//! A pass takes time and memory in proportion to the rows. The number of passes depends on the templates, and hardly on
//! the number of rows of each. So the time is extrapolated in proportion from the largest measured size. The memory is
//! extrapolated on the line through the two largest sizes, since a program needs some memory without any rows. The name
//! of an extrapolated figure says so. The figure is replaced when its size is measured.

use super::definition::{Case, Definition};
use super::{BITS, MEMORY, RUN};
use crate::bench::Bench;
use crate::bench::figure::{Figure, Place, Samples};

/// The prefix of the experiment's name.
pub const EXTRAPOLATED: &str = "extrapolated";

/// Adds the extrapolated figures, in place of those of an earlier session.
pub fn add(bench: &mut Bench, definition: &Definition) {
    bench.figures.retain(|figure| !figure.experiment.starts_with(EXTRAPOLATED));
    let cases: Vec<(usize, String)> = definition
        .synthetic_cases()
        .filter_map(|case| match case {
            Case::Synthetic { items, .. } => Some((items, case.name())),
            Case::Step { .. } | Case::Runs { .. } => None,
        })
        .collect();
    let mut found = Vec::new();
    for (experiment, unit, rule) in [(RUN, "s", in_proportion as Rule), (MEMORY, "MiB", on_a_line as Rule)] {
        let taken: Vec<(f64, f64)> = cases
            .iter()
            .filter_map(|(items, name)| Some((*items as f64, median(&bench.figures, experiment, name)?)))
            .collect();
        for (items, name) in &cases {
            if median(&bench.figures, experiment, name).is_none()
                && let Some(value) = rule(&taken, *items as f64)
            {
                let mut samples = Samples::default();
                samples.push(value, Place::Unknown);
                let experiment = format!("{EXTRAPOLATED} {experiment}");
                found.push(Figure::new(&experiment, name, BITS, unit, &samples, bench.unit_ns));
            }
        }
    }
    bench.figures.extend(found);
}

type Rule = fn(&[(f64, f64)], f64) -> Option<f64>;

fn median(figures: &[Figure], experiment: &str, case: &str) -> Option<f64> {
    figures.iter().find(|figure| figure.experiment == experiment && figure.case == case).map(|figure| figure.median)
}

/// Extrapolates in proportion from the largest measured size, to larger sizes only.
fn in_proportion(taken: &[(f64, f64)], items: f64) -> Option<f64> {
    let (most, value) = taken.last()?;
    (items > *most).then(|| value * items / most)
}

/// Extrapolates on the line through the two largest measured sizes, to larger sizes only.
fn on_a_line(taken: &[(f64, f64)], items: f64) -> Option<f64> {
    let [.., (fewer, less), (most, value)] = taken else { return None };
    (items > *most).then(|| value + (value - less) / (most - fewer) * (items - most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_grows_in_proportion_and_memory_on_a_line_and_only_to_what_is_larger() {
        let taken = [(10.0, 3.0), (20.0, 4.0)];
        assert_eq!((in_proportion(&taken, 100.0), on_a_line(&taken, 100.0)), (Some(20.0), Some(12.0)));
        assert_eq!((in_proportion(&taken, 15.0), on_a_line(&taken, 15.0)), (None, None));
        assert_eq!((in_proportion(&[], 15.0), on_a_line(&taken[..1], 15.0)), (None, None));
    }
}
