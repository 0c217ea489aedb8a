//! `bench distances`: dissimilarities of all pairs on one core, ours in process against parasail, RDKit, SciPy and
//! scikit-learn.
//!
//! Alignments are measured by the blocks of pairs that a run gives to a core, with and without the counts for
//! identities. For the other metrics, a turn is a whole run on one thread that keeps its values. Every turn ends with a
//! sum over all results, which is compared with the peer's sum. Sums of scores must be equal. Of the best alignments,
//! ours has the most matches, so the sum of its matches must not be below the peer's. Sums of dissimilarities must
//! agree to rounding.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use lehr_data::read::fasta;
use lehr_data::sequences::{Alphabet, Sequences};
use lehr_data::{Fingerprints, Incomplete};
use lehr_distances::alignment::{Aligner, Counted, Mode};
use lehr_distances::scoring::{Matrix, Scoring};
use lehr_distances::{Metric, Silent, all_pairs, columns, rows, tanimoto};
use lehr_numerics::random::Stream;
use lehr_ranks::{Engine, Execution};
use serde_json::{Value, json};

use crate::arguments::MeasurementArguments;
use crate::compare::{ratios, verdict};
use crate::definition::{self, Distances};
use crate::inputs;
use crate::machine::Machine;
use crate::measure::{Side, Spread, take_turns, timed};
use crate::output;
use crate::record::Record;
use crate::runner::{Runner, number};

const WIDTHS: [usize; 6] = [18, 28, 28, 22, 12, 14];

/// The relative tolerance of sums of dissimilarities, which the sides add up in different orders.
const TOLERANCE: f64 = 1e-9;

/// Measures every case of `mining/distances.json`.
///
/// # Errors
/// Returns an error if peers are not installed, an answer of either side is wrong, or a file cannot be read or written.
pub fn run(arguments: &MeasurementArguments) -> Result<()> {
    let definition: Distances = definition::read("mining/distances.json")?;
    ensure!(
        arguments.peers.is_file(),
        "{} is not there: `make peers` installs parasail and RDKit, or --peers names a Python that has them",
        arguments.peers.display()
    );
    let machine = Machine::look();
    let mut record = Record::new(&arguments.record, "distances");
    let rounds = arguments.rounds.unwrap_or(7);
    let data = Data::new(&definition)?;
    let mut runner = Runner::start("pairs", &arguments.peers, ["lab/runners/pairs/runner.py"])?;
    record.versions(&runner.ask(&data.write()?.to_string())?["versions"].to_string());
    output::line(&format!("All pairs on one core, units a second, min / median / max of {rounds} rounds in turns"));
    output::line(&machine.line());
    let heads = ["case", "lehr", "peer", "time over the peer's", "aim", "rate"];
    output::row(&WIDTHS, &heads.map(String::from));
    for case in data.cases()?.iter().filter(|case| arguments.wants(case.name)) {
        let (ours, theirs) = compare(case, &mut runner, rounds).with_context(|| case.name.to_owned())?;
        report(case, &ours, &theirs, &definition, &mut record);
    }
    output::line(&format!("record: {}", record.write(&machine)?.display()));
    Ok(())
}

/// One case of the measurement.
struct Case<'a> {
    name: &'static str,
    peer: &'static str,
    /// The name of the units.
    unit: &'static str,
    /// The number of units of work in a turn.
    units: f64,
    /// Runs a turn of Lehr; returns a sum over all results.
    ours: Box<dyn Fn() -> Result<f64> + 'a>,
    /// The request to the peer.
    request: Value,
    sums: Sums,
}

/// The required relation between the sums of the two sides.
#[derive(Clone, Copy)]
enum Sums {
    /// The sums are equal.
    Equal,
    /// Our sum is not smaller than the peer's.
    NotBelow,
    /// The sums agree to rounding.
    Close,
}

impl Sums {
    fn agree(self, ours: f64, theirs: f64) -> bool {
        match self {
            Sums::Equal => ours == theirs,
            Sums::NotBelow => ours >= theirs,
            Sums::Close => (ours - theirs).abs() <= TOLERANCE * theirs.abs(),
        }
    }
}

/// Returns the seconds of both sides, round by round.
fn compare(case: &Case<'_>, runner: &mut Runner, rounds: usize) -> Result<(Vec<f64>, Vec<f64>)> {
    let request = case.request.to_string();
    let expected = number(&runner.ask(&request)?, "total")?;
    let mut sides: Vec<Side<'_>> = vec![
        Box::new(|| {
            let (seconds, total) = timed(&case.ours);
            let total = total?;
            ensure!(case.sums.agree(total, expected), "lehr sums to {total}, {} to {expected}", case.peer);
            Ok(seconds)
        }),
        Box::new(|| number(&runner.ask(&request)?, "seconds")),
    ];
    let mut seconds = take_turns(rounds, &mut sides)?;
    let theirs = seconds.pop().context("two sides")?;
    Ok((seconds.pop().context("two sides")?, theirs))
}

fn report(case: &Case<'_>, ours: &[f64], theirs: &[f64], definition: &Distances, record: &mut Record) {
    let rates = |seconds: &[f64]| Spread::of(&seconds.iter().map(|seconds| case.units / seconds).collect::<Vec<_>>());
    let (mine, peers, ratio) = (rates(ours), rates(theirs), ratios(ours, theirs));
    let shown = |spread: Spread| format!("{:.2e} {:.2e} {:.2e}", spread.min, spread.median, spread.max);
    let rate = definition.rates.get(case.name);
    let cells = [
        case.name.to_owned(),
        shown(mine),
        shown(peers),
        format!("{:.3} {:.3} {:.3}", ratio.min, ratio.median, ratio.max),
        verdict(ratio.median, definition.aim),
        rate.map_or_else(String::new, |aim| {
            format!("{} {aim:.1e}", if mine.median >= *aim { "reaches" } else { "misses" })
        }),
    ];
    output::row(&WIDTHS, &cells);
    let unit = format!("{}/s", case.unit);
    record.add(case.name, "lehr", "rate on one core", &unit, ours.len(), mine);
    record.add(case.name, case.peer, "rate on one core", &unit, theirs.len(), peers);
    record.add(case.name, &format!("lehr/{}", case.peer), "ratio of times", "1", ours.len(), ratio);
}

/// The compared items, which are the same on both sides.
struct Data {
    genes: Sequences,
    fingerprints: Fingerprints,
    letters: Sequences,
    records: Incomplete,
}

impl Data {
    fn new(definition: &Distances) -> Result<Self> {
        let all = fasta::sequences(Path::new(&definition.fasta), fasta::Expected::default())?;
        let texts: Vec<&[u8]> = (0..definition.sequences.min(all.len())).map(|row| all.sequence(row)).collect();
        let items = definition.items as u64;
        let stream = Stream::new(1, "lab pairs");
        // An eighth of all bits is set, as in fingerprints of compounds.
        let word = |at: u64| stream.bits(3 * at) & stream.bits(3 * at + 1) & stream.bits(3 * at + 2);
        let words = (0..items * definition.bits as u64 / 64).map(word).collect();
        let places = definition.places as u64;
        let letter = |at: u64| b"ACGTACGTACGTACGTACGTACGT-"[(stream.bits(at << 20) % 25) as usize];
        let letters: Vec<Vec<u8>> =
            (0..items).map(|row| (0..places).map(|place| letter(row * places + place)).collect()).collect();
        let number = |at: u64| if stream.bits(at).is_multiple_of(7) { f64::NAN } else { stream.uniform(at << 30) };
        let numbers = (0..items * definition.columns as u64).map(number).collect();
        Ok(Self {
            genes: Sequences::new(&texts, all.alphabet())?,
            fingerprints: Fingerprints::new(words, definition.bits)?,
            letters: Sequences::new(&letters, Alphabet::Dna)?,
            records: Incomplete::new(numbers, definition.columns)?,
        })
    }

    /// Writes all items for the runner; returns the request that names the files.
    fn write(&self) -> Result<Value> {
        let rows = |sequences: &Sequences| {
            let lines = (0..sequences.len()).map(|row| String::from_utf8_lossy(sequences.sequence(row)).into_owned());
            lines.collect::<Vec<_>>().join("\n")
        };
        // FPS writes bytes; the lowest bit of the first byte comes first.
        let print = |row: usize| -> String {
            let bytes = self.fingerprints.row(row).iter().flat_map(|word| word.to_le_bytes());
            bytes.map(|byte| format!("{byte:02x}")).collect()
        };
        let prints: Vec<String> = (0..self.fingerprints.len()).map(print).collect();
        let head = [self.records.len() as f64, self.records.dimension() as f64, 0.0];
        Ok(json!({
            "sequences": inputs::write_text("sequences.txt", &rows(&self.genes))?,
            "fingerprints": inputs::write_text("fingerprints.txt", &prints.join("\n"))?,
            "letters": inputs::write_text("letters.txt", &rows(&self.letters))?,
            "rows": inputs::write_numbers("rows.bin", &[&head, self.records.values()])?,
        }))
    }

    fn cases<'a>(&'a self) -> Result<Vec<Case<'a>>> {
        let scoring = Scoring::new(Matrix::ednafull(), 16, 4)?;
        let mut cases = Vec::new();
        for (name, mode, counted) in [
            ("local score", Mode::Local, Counted::Score),
            ("local identity", Mode::Local, Counted::Columns),
            ("global score", Mode::Global, Counted::Score),
            ("global identity", Mode::Global, Counted::Columns),
        ] {
            let aligner = Aligner::new(&self.genes, &scoring, mode, counted)?;
            let counts = counted != Counted::Score;
            cases.push(Case {
                name,
                peer: "parasail",
                unit: "cells",
                units: cells(&self.genes),
                ours: Box::new(move || Ok(align(&aligner))),
                request: json!({ "align": mode.to_string(), "counts": counts }),
                sums: if counts { Sums::NotBelow } else { Sums::Equal },
            });
        }
        let tanimoto = tanimoto::Tanimoto::new(&self.fingerprints);
        let hamming = columns::Compared::new(&self.letters, columns::Measure::Hamming)?;
        let euclidean = rows::Compared::new(&self.records, rows::Measure::Euclidean)?;
        let items = self.records.len() as f64;
        let mut add = |name, peer, metric: Box<dyn Metric + 'a>| {
            cases.push(Case {
                name,
                peer,
                unit: "pairs",
                units: items * (items - 1.0) / 2.0,
                ours: Box::new(move || all(metric.as_ref())),
                request: json!({ "measure": name }),
                sums: Sums::Close,
            });
        };
        add("tanimoto", "rdkit", Box::new(tanimoto));
        add("hamming", "scipy", Box::new(hamming));
        add("euclidean", "scikit-learn", Box::new(euclidean));
        Ok(cases)
    }
}

/// Returns the number of cells in the alignments of all pairs.
fn cells(genes: &Sequences) -> f64 {
    let lengths = (0..genes.len()).map(|row| genes.sequence(row).len() as f64);
    let (sum, squares) = lengths.fold((0.0, 0.0), |(sum, squares), n| (sum + n, squares + n * n));
    (sum * sum - squares) / 2.0
}

/// Aligns all pairs in the blocks of a run; returns the sum of scores and matches.
fn align(aligner: &Aligner) -> f64 {
    const ROWS: usize = 32;
    let mut total = 0;
    for first in (0..aligner.len()).step_by(ROWS) {
        let rows = first..aligner.len().min(first + ROWS);
        aligner.tile(rows, first..aligner.len(), |_, _, found| total += found.score + found.matches as i64);
    }
    total as f64
}

/// Makes a whole run on one thread; returns the sum of its values.
fn all(metric: &dyn Metric) -> Result<f64> {
    let execution = Execution { engine: Engine::Loop, ranks: 1, threads: 1, job: None };
    let half = all_pairs::<f64>(metric, &execution, None, &mut Silent)?;
    let mut total = 0.0;
    half.for_each(|value| total += value);
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn few() -> Data {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/alu/alu_human.fasta.gz");
        let fasta = path.to_str().unwrap().to_owned();
        let definition = Distances {
            aim: 1.0,
            fasta,
            sequences: 5,
            items: 40,
            bits: 128,
            places: 30,
            columns: 30, // so many that no two rows lack all in common
            rates: std::collections::BTreeMap::new(),
        };
        Data::new(&definition).unwrap()
    }

    #[test]
    fn sums_are_those_of_the_pairs_one_by_one() {
        let data = few();
        let scoring = Scoring::new(Matrix::ednafull(), 16, 4).unwrap();
        let aligner = Aligner::new(&data.genes, &scoring, Mode::Local, Counted::Columns).unwrap();
        let pairs = (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j)));
        let expected: i64 =
            pairs.map(|(i, j)| aligner.pair(i, j)).map(|found| found.score + found.matches as i64).sum();
        assert_eq!(align(&aligner), expected as f64);
        let lengths: Vec<f64> = (0..5).map(|row| data.genes.sequence(row).len() as f64).collect();
        let by_pair: f64 =
            (0..5).flat_map(|i| (i + 1..5).map(move |j| (i, j))).map(|(i, j)| lengths[i] * lengths[j]).sum();
        assert_eq!(cells(&data.genes), by_pair);
    }

    #[test]
    fn every_case_has_a_sum_that_depends_on_the_data() {
        let data = few();
        for case in data.cases().unwrap() {
            let total = (case.ours)().unwrap();
            assert!(total.is_finite() && total > 0.0, "{}: {total}", case.name);
        }
    }

    #[test]
    fn a_wrong_sum_is_told_from_a_right_one() {
        assert!(Sums::Equal.agree(3.0, 3.0) && !Sums::Equal.agree(3.0, 4.0));
        assert!(Sums::NotBelow.agree(4.0, 3.0) && !Sums::NotBelow.agree(2.0, 3.0));
        assert!(Sums::Close.agree(1.0 + 1e-12, 1.0) && !Sums::Close.agree(1.0 + 1e-6, 1.0));
    }
}
