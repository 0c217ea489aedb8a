//! `bench people`: census blocks weighted by their inhabitants, beside the same people with a row for each person, 8.17
//! million rows. It tests whether the answers agree, and measures what a row for each person costs.

use anyhow::{Context, Result, ensure};
use lehr_data::Points;
use lehr_mining::agreement::Agreement;

use crate::arguments::MeasurementArguments;
use crate::command::quality::ours;
use crate::definition::{self, SetDefinition, VectorSets};
use crate::inputs;
use crate::machine::Machine;
use crate::measure::{Spread, timed};
use crate::output;
use crate::record::Record;
use crate::score::sum_of_squares;

/// The name of the set whose weights are people.
const SET: &str = "gis/blocks_nv_ut_wv_2020";
/// The largest relative difference between sums of squares of the same partition, which differ only by rounding.
const SAME: f64 = 1e-9;
const WIDTHS: [usize; 6] = [6, 14, 20, 24, 24, 14];

/// Clusters blocks and people in turns.
///
/// # Errors
/// Returns an error if the set is missing, a run fails, or the answers differ.
pub fn run(arguments: &MeasurementArguments) -> Result<()> {
    let sets: VectorSets = definition::read("mining/vector.json")?;
    let set: &SetDefinition =
        sets.sets.iter().find(|set| set.name == SET).with_context(|| format!("no set {SET} in the definition"))?;
    let path = inputs::find(set, arguments.data.as_deref()).with_context(|| format!("{SET} is not here"))?;
    let blocks = inputs::load(set, &path)?;
    let (people, of) = each_by_itself(&blocks)?;
    let rounds = arguments.rounds.unwrap_or(3);
    let machine = Machine::look();
    let mut record = Record::new(&arguments.record, "people");
    output::line(&format!("{} blocks with weights beside {} people as rows", blocks.len(), people.len()));
    output::line(&machine.line());
    let heads =
        ["K", "excess, rel.", "Rand over people", "blocks, s min/med/max", "people, s min/med/max", "people/blocks"];
    output::row(&WIDTHS, &heads.map(String::from));
    for clusters in [10, 20] {
        let (mut weighted, mut each, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        let (mut excess, mut rand) = (0.0f64, 1.0f64);
        for seed in 0..rounds as u64 {
            let (seconds, model) = timed(|| ours(&blocks, clusters, seed, arguments.threads));
            let of_blocks = model?;
            let (longer, model) = timed(|| ours(&people, clusters, seed, arguments.threads));
            let of_people = model?;
            // Both clusterings are judged by their sum of squares over the blocks.
            let sums = [&of_blocks, &of_people].map(|model| sum_of_squares(&blocks, &model.centers));
            excess = if (sums[1] / sums[0] - 1.0).abs() > excess.abs() { sums[1] / sums[0] - 1.0 } else { excess };
            let told: Vec<u32> = of.iter().map(|&block| of_blocks.labels[block as usize]).collect();
            rand = rand.min(Agreement::new(&told, &of_people.labels).adjusted_rand);
            weighted.push(seconds);
            each.push(longer);
            ratios.push(longer / seconds);
        }
        let (weighted, each, ratio) = (Spread::of(&weighted), Spread::of(&each), Spread::of(&ratios));
        let shown = |spread: Spread| format!("{:.3} {:.3} {:.3}", spread.min, spread.median, spread.max);
        output::row(
            &WIDTHS,
            &[
                clusters.to_string(),
                format!("{excess:.1e}"),
                format!("{rand:.6}"),
                shown(weighted),
                shown(each),
                format!("{:.1}", ratio.median),
            ],
        );
        let case = format!("{SET} K={clusters}");
        let exactly = |value: f64| Spread { min: value, median: value, max: value };
        record.add(
            &case,
            "lehr, people as rows",
            "sum of squares over that of weights, less 1",
            "1",
            rounds,
            exactly(excess),
        );
        record.add(&case, "lehr, people as rows", "adjusted Rand index to that of weights", "1", rounds, exactly(rand));
        record.add(&case, "lehr, blocks with weights", "run", "s", rounds, weighted);
        record.add(&case, "lehr, people as rows", "run", "s", rounds, each);
        record.add(&case, "lehr, people as rows", "time over that of weights", "1", rounds, ratio);
        ensure!(
            excess.abs() <= SAME && rand == 1.0,
            "K = {clusters}: people and weights give other answers ({excess:e}, {rand})"
        );
    }
    output::line(&format!("record: {}", record.write(&machine)?.display()));
    Ok(())
}

/// Makes a row for each unit of weight; returns the rows, and the index of the original row of each.
fn each_by_itself(points: &Points) -> Result<(Points, Vec<u32>)> {
    let (mut values, mut of) = (Vec::new(), Vec::new());
    for row in 0..points.len() {
        let count = points.weight(row);
        ensure!(count.fract() == 0.0, "row {row} has the weight {count}, which is no count");
        for _ in 0..count as usize {
            values.extend_from_slice(points.row(row));
            of.push(row as u32);
        }
    }
    Ok((Points::new(values, points.dimension())?, of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weight_of_three_is_three_rows_and_one_of_none_is_no_row() {
        let points = Points::new(vec![1.0, 5.0, 7.0], 1).unwrap().with_weights(vec![3.0, 0.0, 1.0]).unwrap();
        let (people, of) = each_by_itself(&points).unwrap();
        assert_eq!((people.values(), of.as_slice()), ([1.0, 1.0, 1.0, 7.0].as_slice(), [0, 0, 0, 2].as_slice()));
        let points = Points::new(vec![1.0], 1).unwrap().with_weights(vec![0.5]).unwrap();
        assert!(each_by_itself(&points).unwrap_err().to_string().contains("no count"));
    }

    #[test]
    fn people_and_weights_give_one_answer() {
        let (iris, _) = lehr_data::datasets::iris();
        let weights: Vec<f64> = (0..iris.len()).map(|row| (row % 4) as f64).collect();
        let iris = iris.with_weights(weights).unwrap();
        let (people, of) = each_by_itself(&iris).unwrap();
        let (blocks, each) = (ours(&iris, 3, 0, Some(1)).unwrap(), ours(&people, 3, 0, Some(1)).unwrap());
        let told: Vec<u32> = of.iter().map(|&row| blocks.labels[row as usize]).collect();
        assert_eq!(Agreement::new(&told, &each.labels).adjusted_rand, 1.0);
        let sums = [&blocks, &each].map(|model| sum_of_squares(&iris, &model.centers));
        assert!((sums[1] / sums[0] - 1.0).abs() <= SAME);
    }
}
