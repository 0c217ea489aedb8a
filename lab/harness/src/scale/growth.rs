//! Fits the growth of costs with the number of items.

use crate::bench::Bench;
use crate::bench::figure::Figure;
use crate::cost::power::{EXPONENT, Points, exponents};
use crate::cost::{MEMORY, PASS, TIME};

/// Adds the exponents of the figures, in place of those of an earlier session. Stages with fewer than three sizes have
/// none.
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

/// Returns the costs of the cases that are measured in rounds, by their number of items.
fn points(figures: &[Figure], experiment: &str, engine: &str) -> Points {
    let of = |figure: &&Figure| figure.experiment == experiment && figure.engine == engine && figure.values.len() > 1;
    let items = |figure: &Figure| figure.case.split(' ').next().and_then(|items| items.parse().ok());
    figures.iter().filter(of).filter_map(|figure| Some((items(figure)?, figure.values.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::{Place, Samples};

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
