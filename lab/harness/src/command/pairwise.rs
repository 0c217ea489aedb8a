//! `bench pairwise`: clusters of items known by their dissimilarities, one default run for each seed, by Lehr and by
//! SciPy, scikit-learn and kmedoids on the same matrix.
//!
//! The lab computes the cost H of all sides' labels and their agreement with known classes, and uses no figures that
//! sides report. Sides with a given number of clusters are compared by H too. For a side that finds its own number, the
//! table shows this number. Items that a side leaves out count as one cluster.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_data::read::{self, Selection};
use lehr_mining::agreement::Agreement;
use lehr_mining::anneal::Silent;
use lehr_mining::pairwise::{self, Parameters};
use lehr_ranks::Execution;
use serde_json::{Value, json};

use crate::arguments::MeasurementArguments;
use crate::definition::{self, Pairwise, PairwiseSet};
use crate::dissimilarities;
use crate::inputs;
use crate::machine::Machine;
use crate::measure::{Side, Spread, take_turns, timed};
use crate::output;
use crate::record::Record;
use crate::runner::{Runner, number, numbers};

const WIDTHS: [usize; 6] = [32, 9, 14, 16, 16, 24];

/// Measures every set of `mining/pairwise.json` whose data are available.
///
/// # Errors
/// Returns an error if peers are not installed, an answer is not a clustering, or a file cannot be read or written.
pub fn run(arguments: &MeasurementArguments) -> Result<()> {
    let definition: Pairwise = definition::read("mining/pairwise.json")?;
    ensure!(
        arguments.peers.is_file(),
        "{} is not there: `make peers` installs scikit-learn and kmedoids, or --peers names a Python that has them",
        arguments.peers.display()
    );
    let machine = Machine::look();
    let mut record = Record::new(&arguments.record, "pairwise");
    let seeds = arguments.rounds.unwrap_or(definition.seeds);
    let mut runner = Runner::start("pairwise", &arguments.peers, ["lab/runners/pairwise/runner.py"])?;
    let mut absent = Vec::new();
    output::line(&format!(
        "Clusters of items by their dissimilarities, {seeds} runs in turns, seeds 0 to {}",
        seeds - 1
    ));
    output::line(&machine.line());
    for set in &definition.sets {
        if !arguments.wants(&set.name) || set.tier == "all" && !arguments.all {
            continue;
        }
        let Some(items) = Items::load(set, arguments.data.as_deref())? else {
            absent.push(set.name.as_str());
            continue;
        };
        let path = inputs::write_numbers("pairs.bin", &[&dissimilarities::condensed(&items.matrix)])?;
        let known = runner.ask(&json!({ "matrix": path, "items": items.matrix.items() }).to_string())?;
        record.versions(&known["versions"].to_string());
        measure(set, &items, &definition, &mut runner, (seeds, arguments.threads), &mut record)
            .with_context(|| set.name.clone())?;
    }
    if !absent.is_empty() {
        output::note(&format!("not here: {} (LEHR_DATA or --data names the folder)", absent.join(", ")));
    }
    output::line(&format!("record: {}", record.write(&machine)?.display()));
    Ok(())
}

/// The results of a side's runs.
#[derive(Default)]
struct Runs {
    clusters: Vec<f64>,
    costs: Vec<f64>,
    agreements: Vec<f64>,
}

impl Runs {
    /// Computes the figures of a run from its labels.
    fn add(&mut self, items: &Items, labels: &[u32]) -> Result<()> {
        ensure!(labels.len() == items.known.len(), "{} labels of {} items", labels.len(), items.known.len());
        let mut found = labels.to_vec();
        found.sort_unstable();
        found.dedup();
        self.clusters.push(found.len() as f64);
        self.costs.push(pairwise::cost(&items.matrix, None, labels)?);
        self.agreements.push(Agreement::new(labels, &items.known).adjusted_rand);
        Ok(())
    }
}

/// Measures all sides on one set, in turns.
fn measure(
    set: &PairwiseSet,
    items: &Items,
    definition: &Pairwise,
    runner: &mut Runner,
    (seeds, threads): (usize, Option<usize>),
    record: &mut Record,
) -> Result<()> {
    let mut execution = Execution::default();
    if let Some(threads) = threads {
        (execution.threads, execution.ranks) = (threads, threads);
    }
    let names: Vec<&str> = definition.peers.iter().map(|peer| peer.method.as_str()).collect();
    let mut runs: Vec<Runs> = std::iter::once("lehr").chain(names.iter().copied()).map(|_| Runs::default()).collect();
    let runner = RefCell::new(runner);
    let mut all = runs.iter_mut();
    let ours = all.next().context("at least one side")?;
    let mut next = seeds_in_turn();
    let mut sides: Vec<Side<'_>> = vec![Box::new(|| {
        let parameters = Parameters { clusters: Some(set.clusters), seed: next(), ..Parameters::default() };
        let (seconds, model) = timed(|| pairwise::cluster(&items.matrix, None, &parameters, &execution, &mut Silent));
        ours.add(items, &model?.labels)?;
        Ok(seconds)
    })];
    for (method, runs) in names.iter().zip(all) {
        let (runner, mut next) = (&runner, seeds_in_turn());
        let request = move |seed: u64| json!({ "method": method, "clusters": set.clusters, "seed": seed, "threads": execution.threads });
        sides.push(Box::new(move || {
            let answer = runner.borrow_mut().ask(&request(next()).to_string())?;
            runs.add(items, &labels(&answer)?)?;
            number(&answer, "seconds")
        }));
    }
    let seconds = take_turns(seeds, &mut sides)?;
    drop(sides);
    report(set, definition, &runs, &seconds, record);
    Ok(())
}

/// Returns 0 for the warm-up round, and then 0, 1, 2, ….
pub(super) fn seeds_in_turn() -> impl FnMut() -> u64 {
    let mut round: u64 = 0;
    move || {
        round += 1;
        round.saturating_sub(2)
    }
}

/// Reads the labels of an answer, which begin at 0; the items that the side leaves out (-1) form one more cluster.
fn labels(answer: &Value) -> Result<Vec<u32>> {
    let found = numbers(answer, "labels")?;
    ensure!(found.iter().all(|label| *label >= -1.0), "a label below -1");
    let left_out = found.iter().fold(0.0f64, |most, label| most.max(label + 1.0));
    Ok(found.iter().map(|label| if *label < 0.0 { left_out as u32 } else { *label as u32 }).collect())
}

fn report(set: &PairwiseSet, definition: &Pairwise, runs: &[Runs], seconds: &[Vec<f64>], record: &mut Record) {
    output::line(&format!("{}: {} clusters wanted", set.name, set.clusters));
    let heads = ["method", "clusters", "H", "above the best", "adjusted Rand", "seconds min/med/max"];
    output::row(&WIDTHS, &heads.map(String::from));
    let is_told = |side: usize| side == 0 || !definition.peers[side - 1].finds_clusters;
    // Only sides with the same given number of clusters are compared, because more clusters always cost less.
    let told = (0..runs.len()).filter(|side| is_told(*side));
    let least = told.map(|side| Spread::of(&runs[side].costs).min).fold(f64::INFINITY, f64::min);
    let best = set.best.unwrap_or(least).min(least);
    let name = |side: usize| if side == 0 { "lehr" } else { definition.peers[side - 1].method.as_str() };
    for (side, runs) in runs.iter().enumerate() {
        // The warm-up round is judged but not kept, since its seed is used again.
        let kept = |figures: &[f64]| Spread::of(&figures[1..]);
        let (clusters, cost, agreement) = (kept(&runs.clusters), kept(&runs.costs), kept(&runs.agreements));
        let time = Spread::of(&seconds[side]);
        let above = 100.0 * (cost.median / best - 1.0);
        let cells = [
            name(side).to_owned(),
            format!("{}", clusters.median),
            format!("{:.4}", cost.median),
            if is_told(side) { format!("{above:.3} %") } else { "its own number".to_owned() },
            format!("{:.3}", agreement.median),
            format!("{:.4} {:.4} {:.4}", time.min, time.median, time.max),
        ];
        output::row(&WIDTHS, &cells);
        let count = seconds[side].len();
        for (quantity, unit, spread) in
            [("clusters", "1", clusters), ("H", "1", cost), ("adjusted Rand", "1", agreement), ("run", "s", time)]
        {
            record.add(&set.name, name(side), quantity, unit, count, spread);
        }
    }
    let ours = Spread::of(&runs[0].costs).max;
    let holds = ours <= best * (1.0 + definition.tolerance);
    output::line(&format!(
        "H of every run of ours is {} {:.4} of the best {}",
        if holds { "within" } else { "not within" },
        definition.tolerance,
        if set.best.is_some() { "known" } else { "of all sides" }
    ));
}

/// The dissimilarities of a set, and the known class of each item.
struct Items {
    matrix: Dissimilarities,
    known: Vec<u32>,
}

impl Items {
    /// Reads or computes the items of a set; returns nothing if their files are missing.
    fn load(set: &PairwiseSet, data: Option<&Path>) -> Result<Option<Self>> {
        if let (Some(items), None, None, None) = (set.alu, &set.matrix, &set.aligned, &set.labels) {
            let (matrix, families) = dissimilarities::alu_repeats(items)?;
            let matrix = dissimilarities::complete(&set.name, matrix)?;
            return Ok(Some(Self { matrix, known: numbered(families.into_iter()) }));
        }
        let (None, Some(labels)) = (set.alu, &set.labels) else {
            bail!("{}: expected alu, or labels and a matrix or aligned sequences", set.name)
        };
        let Some(data) = data else { return Ok(None) };
        let here = |path: &str| Some(data.join(path)).filter(|path| path.is_file());
        let (file, first) = match (&set.matrix, &set.aligned) {
            (Some(matrix), None) => (matrix, None),
            (None, Some(aligned)) => (&aligned.file, Some(aligned.first)),
            _ => bail!("{}: expected a matrix or aligned sequences", set.name),
        };
        let (Some(file), Some(labels)) = (here(file), here(labels)) else { return Ok(None) };
        let [id, class] = &set.columns;
        let known = read::classes::classes(&labels, id, class)?;
        match first {
            None => Self::of_matrix(&file, known),
            Some(first) => Self::of_sequences(&file, first, known),
        }
        .with_context(|| format!("{} of {}", file.display(), labels.display()))
        .map(Some)
    }

    /// Reads aligned sequences, whose classes are known by their ids.
    fn of_sequences(path: &Path, first: usize, known: Vec<(String, String)>) -> Result<Self> {
        let (matrix, ids) = dissimilarities::aligned(path, first)?;
        let known: HashMap<String, String> = known.into_iter().collect();
        let class = |id: &String| known.get(id).cloned().with_context(|| format!("{id:?} has no class"));
        let classes: Vec<String> = ids.iter().map(class).collect::<Result<_>>()?;
        Ok(Self { matrix, known: numbered(classes.into_iter()) })
    }

    /// Reads a square table of numbers without a header; the classes are in its order.
    fn of_matrix(path: &Path, known: Vec<(String, String)>) -> Result<Self> {
        let table = read::points(path, &Selection { header: Some(false), ..Selection::default() })?;
        let items = table.len();
        ensure!(table.dimension() == items, "{items} rows of {} numbers", table.dimension());
        let values = (0..items).flat_map(|i| (i + 1..items).map(move |j| (i, j)));
        // The values in the file are symmetric up to rounding.
        let values = values.map(|(i, j)| 0.5 * (table.row(i)[j] + table.row(j)[i])).collect();
        ensure!(known.len() == items, "{} labels of {items} items", known.len());
        let matrix = Dissimilarities::new(items, Form::Condensed, Values::F64(values), 1.0)?;
        Ok(Self { matrix, known: numbered(known.into_iter().map(|(_, class)| class)) })
    }
}

/// Numbers classes in the order of their names.
fn numbered(classes: impl Iterator<Item = String>) -> Vec<u32> {
    let classes: Vec<String> = classes.collect();
    let mut names: Vec<&String> = classes.iter().collect();
    names.sort_unstable();
    names.dedup();
    classes.iter().map(|class| names.partition_point(|name| *name < class) as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_that_are_left_out_are_a_cluster_of_their_own() {
        assert_eq!(labels(&json!({ "labels": [0, -1, 2, -1] })).unwrap(), [0, 3, 2, 3]);
        assert_eq!(labels(&json!({ "labels": [-1, -1] })).unwrap(), [0, 0]);
        assert!(labels(&json!({ "labels": [-2] })).is_err());
    }

    #[test]
    fn runs_are_judged_here() {
        let matrix = Dissimilarities::new(4, Form::Condensed, Values::F64(vec![1.0, 9.0, 9.0, 9.0, 9.0, 1.0]), 1.0);
        let items =
            Items { matrix: matrix.unwrap(), known: numbered(["b", "b", "a", "a"].map(String::from).into_iter()) };
        assert_eq!(items.known, [1, 1, 0, 0]);
        let mut runs = Runs::default();
        runs.add(&items, &[4, 4, 7, 7]).unwrap();
        runs.add(&items, &[0, 1, 0, 1]).unwrap();
        assert_eq!((runs.clusters[0], runs.costs[0], runs.agreements[0]), (2.0, 1.0, 1.0));
        assert!(runs.costs[1] > 1.0 && runs.agreements[1] < 0.0);
        assert!(runs.add(&items, &[0, 1]).is_err());
    }

    #[test]
    fn the_first_round_has_the_seed_of_the_second() {
        let mut next = seeds_in_turn();
        assert_eq!([next(), next(), next(), next()], [0, 0, 1, 2]);
    }

    #[test]
    fn sets_are_known_by_their_definition_and_files_that_are_not_here_are_passed_over() {
        let text = include_str!("../../../definitions/mining/pairwise.json");
        let definition: Pairwise = serde_json::from_str(text).unwrap();
        let globins = definition.sets.iter().find(|set| set.matrix.is_some()).unwrap();
        assert!(Items::load(globins, None).unwrap().is_none());
        assert!(definition.peers.iter().any(|peer| peer.finds_clusters));
        let none: PairwiseSet = serde_json::from_str(r#"{ "name": "x", "clusters": 2 }"#).unwrap();
        assert!(Items::load(&none, None).is_err());
        let both =
            r#"{ "name": "x", "clusters": 2, "matrix": "m", "labels": "l", "aligned": { "file": "a", "first": 3 } }"#;
        assert!(Items::load(&serde_json::from_str(both).unwrap(), Some(Path::new("."))).is_err());
    }

    #[test]
    fn aligned_sequences_have_the_classes_of_their_ids() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("aligned.fasta", ">b\nAC-T\n>a\nACGT\n>c\nAAAA\n");
        write("classes.tsv", "id\tfamily\na\tY\nb\tJ\nc\tJ\n");
        let set = |first: usize| -> PairwiseSet {
            let aligned = json!({ "file": "aligned.fasta", "first": first });
            let columns = ["id", "family"];
            serde_json::from_value(
                json!({ "name": "x", "clusters": 2, "aligned": aligned, "labels": "classes.tsv", "columns": columns }),
            )
            .unwrap()
        };
        let items = Items::load(&set(2), Some(folder.path())).unwrap().unwrap();
        assert_eq!((items.known, items.matrix.items(), items.matrix.get(0, 1)), (vec![0, 1], 2, Some(0.25)));
        assert!(Items::load(&set(4), Some(folder.path())).is_err());
        write("classes.tsv", "id\tfamily\na\tY\nc\tJ\n");
        assert!(Items::load(&set(2), Some(folder.path())).is_err());
        assert!(Items::load(&set(2), None).unwrap().is_none());
    }
}
