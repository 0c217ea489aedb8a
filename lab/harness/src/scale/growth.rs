//! How costs grow with the number of items: `c N^e`, fitted to the logarithms of each round.

use super::{MEMORY, PASS, TIME};
use crate::bench::Bench;
use crate::bench::figure::{Figure, Place, Samples};
use crate::overhead::model::line;

/// The experiment of the exponents.
pub const EXPONENT: &str = "exponent";

/// The cases that are taken in rounds, by their number of items: (items, values by round).
type Points = Vec<(f64, Vec<f64>)>;

/// Adds the exponents that follow from the figures, in the place of those of a session before. Fewer than three sizes have none.
pub fn fit(bench: &mut Bench) {
    bench.figures.retain(|figure| figure.experiment != EXPONENT);
    let mut engines: Vec<String> = bench.figures.iter().map(|figure| figure.engine.clone()).collect();
    engines.sort();
    engines.dedup();
    let mut found = Vec::new();
    for engine in &engines {
        for experiment in [TIME, PASS, MEMORY] {
            if let Some(samples) = exponents(&points(&bench.figures, experiment, engine)) {
                let case = format!("{experiment} against items");
                found.push(Figure::new(EXPONENT, &case, engine, "1", &samples, bench.unit_ns));
            }
        }
    }
    bench.figures.extend(found);
}

fn points(figures: &[Figure], experiment: &str, engine: &str) -> Points {
    let of = |figure: &&Figure| figure.experiment == experiment && figure.engine == engine && figure.values.len() > 1;
    let items = |figure: &Figure| figure.case.split(' ').next().and_then(|items| items.parse().ok());
    figures.iter().filter(of).filter_map(|figure| Some((items(figure)?, figure.values.clone()))).collect()
}

/// One exponent a round; none of fewer than three sizes.
fn exponents(points: &Points) -> Option<Samples> {
    let rounds = points.iter().map(|(_, values)| values.len()).min()?;
    let logarithms: Vec<f64> = points.iter().map(|(items, _)| items.ln()).collect();
    let mut samples = Samples::default();
    for round in 0..rounds {
        let values: Vec<f64> = points.iter().map(|(_, values)| values[round].ln()).collect();
        samples.push(line(&logarithms, &values)?.coefficients[1], Place::Unknown);
    }
    (rounds > 0).then_some(samples)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_is_found_again_and_two_sizes_have_none() {
        let point = |items: f64| (items, vec![3e-7 * items.powi(2), 5e-7 * items.powf(1.5)]);
        let found = exponents(&vec![point(1000.0), point(2000.0), point(8000.0)]).unwrap();
        assert!((found.values()[0] - 2.0).abs() < 1e-12 && (found.values()[1] - 1.5).abs() < 1e-12);
        assert!(exponents(&vec![point(1000.0), point(2000.0)]).is_none());
        assert!(exponents(&Vec::new()).is_none());
    }

    #[test]
    fn points_are_those_of_one_stage_that_were_taken_in_rounds() {
        let figure = |experiment: &str, case: &str, engine: &str, values: &[f64]| {
            let mut samples = Samples::default();
            values.iter().for_each(|value| samples.push(*value, Place::Unknown));
            Figure { values: values.to_vec(), ..Figure::new(experiment, case, engine, "s", &samples, 1.0) }
        };
        let figures = [
            figure(TIME, "1000 items, u16", "lehr embed", &[1.0, 2.0]),
            figure(TIME, "35339 items, u16", "lehr embed", &[9.0]),
            figure(TIME, "1000 items, u16", "lehr pairwise", &[5.0, 6.0]),
            figure(MEMORY, "1000 items, u16", "lehr embed", &[7.0, 7.0]),
        ];
        assert_eq!(points(&figures, TIME, "lehr embed"), [(1000.0, vec![1.0, 2.0])]);
    }
}
