//! `lehr-lab chemistry`: compounds as rows of bits, compared with the same rows as numbers. It also measures the
//! overhead of several threads, the clusters of the active compounds, and, once, large numbers of compounds.
//!
//! A whole run is the command that users run, in its own process ([`clustering`]), so that its memory is measured
//! separately. A step of the kernels is measured in this process ([`bit_step`](crate::bit_step)). [`compounds`] reads
//! or generates the compounds, and [`definition`] has the cases.

pub mod clustering;
pub mod compounds;
pub mod definition;
pub mod extrapolation;
pub mod table;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use lehr_mining::agreement::Agreement;
use lehr_mining::enrichment::Enrichment;

use crate::bench::estimate::Plan;
use crate::bench::figure::{Figure, Place, Samples};
use crate::bench::session::{self, Cases, End, Options};
use crate::bench::{Bench, Lab, Stop};
use crate::beside_numbers::Turns;
use crate::bit_step::Problem;
use crate::output;
use crate::overhead::turns::overhead;
use clustering::{Clustering, Found};
use compounds::{Compounds, Files, Inputs};
use definition::{Case, Definition};

/// The time of a step for each row and centre.
pub const STEP: &str = "step";
/// The seconds of a clustering, without reading and writing.
pub const RUN: &str = "run";
/// The seconds of the whole command.
pub const WHOLE: &str = "whole command";
/// The peak memory of a command.
pub const MEMORY: &str = "memory";
/// The number of passes over the rows.
pub const PASSES: &str = "passes";
/// The time of a pass.
pub const PASS: &str = "time of a pass";
/// The time of bits divided by that of numbers, round by round.
pub const RATIO: &str = "bits over numbers";
/// The overhead of 003 eq. 2: f = p T(p) / T(1) - 1.
pub const OVERHEAD: &str = "overhead";
/// The sum of squared distances, counted bit by bit from the labels.
pub const SQUARES: &str = "sum of squares";
/// The adjusted Rand index between the clusters of bits and those of numbers, or between clusters and templates.
pub const AGREEMENT: &str = "agreement";
/// The mean share of active compounds in the cluster of an active compound.
pub const PURITY: &str = "purity of the active";
/// The share of the active compounds that are in rich clusters, in which they are at least twice as frequent as among
/// all compounds.
pub const RICH_ACTIVE: &str = "active in rich clusters";
/// The share of all compounds that are in rich clusters.
pub const RICH_ITEMS: &str = "compounds in rich clusters";

/// The minimum agreement with the templates, which are so far apart that every compound of them should be found again.
const FOUND: f64 = 0.999;
/// The largest relative difference between the sum of squares that a command reports and the counted one, which differ
/// only by the order of terms.
const SAME: f64 = 1e-9;
/// The bytes that a synthetic compound takes while it is read and clustered. They include its form in the file, its
/// words twice, its id, its label and its row in the results.
const BYTES_A_ROW: f64 = 650.0;

/// This lab, which has no peers.
pub const LAB: Lab =
    Lab { name: "chemistry", folder: "target/peers/chemistry", programs: &[], how_to_build: "there are none" };

/// The program of the runs, and their folders and inputs.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The path of `lehr`, whose commands are measured.
    pub program: PathBuf,
    /// Compounds of the user, in place of the built-in ones.
    pub files: Option<Files>,
    /// The folder in which inputs and results have a temporary subfolder; `None` is the system's folder for temporary
    /// files.
    pub folder: Option<PathBuf>,
    /// The bytes of free memory, if the system reports them.
    pub free_memory: Option<u64>,
}

/// Measures the requested cases and prints tables or an array of records. During a run it calls `stop` to learn whether
/// to end.
///
/// # Errors
/// Returns an error if compounds cannot be read, a run fails, an answer is wrong, `only` matches no case, or a folder
/// or the record cannot be written. Earlier figures are kept.
pub fn run(options: &Options, setting: &Setting, stop: Stop) -> Result<End> {
    let file = definition::file();
    let definition = if options.quick { file.quick } else { file.full };
    let compounds = Compounds::read(setting.files.as_ref(), definition.items)?;
    let parent = setting.folder.clone().unwrap_or_else(std::env::temp_dir);
    let place = tempfile::Builder::new()
        .prefix("lehr-chemistry-")
        .tempdir_in(&parent)
        .with_context(|| format!("cannot make a folder in {}", parent.display()))?;
    let work =
        Work { setting, definition: &definition, options, compounds, folder: place.path(), inputs: OnceCell::new() };
    let cases = Cases {
        plan: &|bench| work.plan(bench),
        measure: &|bench| work.measure(bench),
        tables: &|bench| table::text(&bench.figures),
    };
    session::run(&LAB, options, stop, cases)
}

/// The data that all cases share.
struct Work<'a> {
    setting: &'a Setting,
    definition: &'a Definition,
    options: &'a Options,
    compounds: Compounds,
    folder: &'a Path,
    /// The files of the compounds, written when the first case needs them.
    inputs: OnceCell<Inputs>,
}

impl Work<'_> {
    fn wanted(&self, bench: &Bench) -> Vec<Case> {
        let mut cases = self.definition.cases(self.compounds.rows.len(), self.options.rounds);
        cases.retain(|case| {
            let name = case.name();
            self.options.wants(&name) && ![STEP, RUN].iter().any(|experiment| bench.knows(experiment, &name, None))
        });
        cases
    }

    fn plan(&self, bench: &Bench) -> Plan {
        let mut plan = Plan::default();
        for case in self.wanted(bench) {
            plan.add(case.name(), self.definition.seconds(&case));
        }
        plan
    }

    fn measure(&self, bench: &mut Bench) -> Result<()> {
        let mut left_out = 0;
        for case in self.wanted(bench) {
            if bench.is_over() {
                break;
            }
            bench.progress(&case.name());
            let figures = match &case {
                Case::Step { clusters, precision, .. } => Some(self.step(bench, &case, *clusters, precision)?),
                Case::Runs { clusters, rounds, .. } => self.runs(bench, &case, *clusters, *rounds)?,
                Case::Synthetic { items, clusters } => {
                    let needed = BYTES_A_ROW * *items as f64;
                    if self.setting.free_memory.is_some_and(|free| needed > free as f64) {
                        let gibibytes = needed / (1u64 << 30) as f64;
                        output::note(&format!(
                            "{} is left out: it needs {gibibytes:.1} GiB of memory, and so much is not free",
                            case.name()
                        ));
                        left_out += 1;
                        continue;
                    }
                    self.synthetic(bench, &case, *items, *clusters)?
                }
            };
            // A case that was stopped has no figures.
            figures.into_iter().flatten().for_each(|figure| bench.add(figure));
        }
        ensure!(left_out == 0 || !bench.figures.is_empty(), "none of the cases fits into the memory that is free");
        extrapolation::add(bench, self.definition);
        Ok(())
    }

    fn step(&self, bench: &Bench, case: &Case, clusters: usize, precision: &str) -> Result<Vec<Figure>> {
        let problem = Problem::new(self.compounds.rows.clone(), clusters, |row| row % clusters);
        let tolerance = self.definition.tolerance[precision];
        let turns = match precision {
            "f32" => problem.measure::<f32>(self.definition.step_rounds, tolerance)?,
            "f64" => problem.measure::<f64>(self.definition.step_rounds, tolerance)?,
            other => bail!("chemistry.json: unknown precision {other:?}"),
        };
        let Turns { own: bits, numbers, .. } = turns;
        let figures = Figures { bench, case };
        Ok(vec![
            figures.of(STEP, BITS, "ns a row and centre", &bits).with_workers(1),
            figures.of(STEP, NUMBERS, "ns a row and centre", &numbers).with_workers(1),
            figures.of(RATIO, BITS, "1", &ratios(&bits, &numbers)).with_workers(1),
        ])
    }

    /// Makes whole runs in turns: bits and numbers on all threads, bits on one thread. Returns nothing if the session
    /// was stopped meanwhile.
    fn runs(&self, bench: &mut Bench, case: &Case, clusters: usize, rounds: usize) -> Result<Option<Vec<Figure>>> {
        let inputs = match self.inputs.get() {
            Some(inputs) => inputs,
            None => {
                let written = self.compounds.write(self.folder)?;
                self.inputs.get_or_init(|| written)
            }
        };
        let threads = self.definition.threads.min(bench.cores);
        let bits = Some(self.compounds.rows.bits());
        let of_bits = |threads| Clustering { input: inputs.bits.clone(), bits, clusters, threads };
        let of_numbers = Clustering { input: inputs.numbers.clone(), bits: None, clusters, threads };
        let mut sides = vec![(BITS, of_bits(threads)), (NUMBERS, of_numbers)];
        if threads > 1 {
            sides.push((BITS, of_bits(1)));
        }
        let mut taken: Vec<Vec<Found>> = sides.iter().map(|_| Vec::new()).collect();
        for round in 0..rounds {
            for turn in 0..sides.len() {
                let place = (turn + round) % sides.len();
                let (engine, side) = &sides[place];
                let found = side.run(&self.setting.program, self.folder, &mut || bench.is_over());
                let Some(found) = found.with_context(|| format!("{engine}, {}", case.name()))? else {
                    return Ok(None);
                };
                self.check(engine, case, &found, taken[place].first())?;
                taken[place].push(found);
            }
        }
        if let Some(alone) = taken.get(2) {
            ensure!(
                alone[0].labels == taken[0][0].labels && alone[0].centers == taken[0][0].centers,
                "{}: one thread and {threads} end with different clusters: no measurement",
                case.name()
            );
        }
        Ok(Some(self.figures_of_runs(&Figures { bench, case }, &sides, &taken)))
    }

    /// Refuses a run whose sum of squares differs from that of its labels, or whose result differs from the run before.
    fn check(&self, engine: &str, case: &Case, found: &Found, before: Option<&Found>) -> Result<()> {
        let labelled = found.labels.len();
        ensure!(labelled == self.compounds.rows.len(), "{engine}, {}: {labelled} labels", case.name());
        let (said, counted) = (found.sum_of_squares, self.compounds.sum_of_squares(&found.labels));
        ensure!(
            (said - counted).abs() <= SAME * counted,
            "{engine}, {}: says a sum of squares of {said}, where its labels have {counted}",
            case.name()
        );
        let is_same = before.is_none_or(|before| before.labels == found.labels && before.centers == found.centers);
        ensure!(is_same, "{engine}, {}: a run ended with other clusters than the one before", case.name());
        Ok(())
    }

    fn figures_of_runs(
        &self,
        figures: &Figures<'_>,
        sides: &[(&'static str, Clustering)],
        taken: &[Vec<Found>],
    ) -> Vec<Figure> {
        let mut all = Vec::new();
        for ((engine, side), taken) in sides.iter().zip(taken) {
            all.extend(figures.of_commands(engine, side.threads, taken));
        }
        let seconds = |place: usize| taken[place].iter().map(|found| found.clustering).collect::<Vec<_>>();
        let (threads, clusters) = (sides[0].1.threads, sides[0].1.clusters);
        all.push(figures.of(RATIO, BITS, "1", &ratios(&seconds(0), &seconds(1))).with_workers(threads));
        if taken.len() > 2 {
            let by_round = seconds(0)
                .iter()
                .zip(&seconds(2))
                .map(|(many, one)| overhead(threads, *many, 1, *one))
                .collect::<Vec<_>>();
            all.push(figures.of(OVERHEAD, BITS, "1", &by_round).with_workers(threads));
        }
        for (place, engine) in [BITS, NUMBERS].into_iter().enumerate() {
            let squares = self.compounds.sum_of_squares(&taken[place][0].labels);
            all.push(figures.of(SQUARES, engine, "bits", &[squares]));
        }
        let (bits, numbers) = (&taken[0][0].labels, &taken[1][0].labels);
        all.push(figures.of(AGREEMENT, BITS, "adjusted Rand", &[Agreement::new(bits, numbers).adjusted_rand]));
        let enrichment = Enrichment::new(bits, clusters, |item| self.compounds.are_active[item]);
        let (active, items) = enrichment.in_rich();
        let share = |part: u64, of: u64| if of > 0 { part as f64 / of as f64 } else { 0.0 };
        all.push(figures.of(PURITY, BITS, "1", &[enrichment.purity()]));
        all.push(figures.of(RICH_ACTIVE, BITS, "1", &[share(active, enrichment.active)]));
        all.push(figures.of(RICH_ITEMS, BITS, "1", &[share(items, enrichment.items)]));
        all
    }

    /// Makes one run over synthetic compounds, whose clusters must be the templates. Returns nothing if the session was
    /// stopped meanwhile.
    fn synthetic(&self, bench: &mut Bench, case: &Case, items: usize, clusters: usize) -> Result<Option<Vec<Figure>>> {
        let (templates, threads) = (&self.definition.synthetic, self.definition.threads.min(bench.cores));
        let input = self.folder.join("synthetic.npy");
        templates.write(items, &input)?;
        let side = Clustering { input: input.clone(), bits: Some(templates.bits), clusters, threads };
        let found = side.run(&self.setting.program, self.folder, &mut || bench.is_over());
        let Some(found) = found.with_context(|| case.name())? else { return Ok(None) };
        std::fs::remove_file(&input).with_context(|| format!("cannot remove {}", input.display()))?;
        let agreement = Agreement::new(&found.labels, &templates.labels(items)).adjusted_rand;
        ensure!(agreement > FOUND, "{}: the clusters are not the templates: adjusted Rand {agreement}", case.name());
        let figures = Figures { bench, case };
        let mut all = figures.of_commands(BITS, threads, std::slice::from_ref(&found));
        all.push(figures.of(AGREEMENT, BITS, "adjusted Rand", &[agreement]));
        Ok(Some(all))
    }
}

/// The engine for rows that stay bits.
const BITS: &str = "lehr bits";
/// The engine for the same rows as numbers.
const NUMBERS: &str = "lehr numbers";

fn ratios(ours: &[f64], theirs: &[f64]) -> Vec<f64> {
    ours.iter().zip(theirs).map(|(ours, theirs)| ours / theirs).collect()
}

/// Makes the figures of a case.
struct Figures<'a> {
    bench: &'a Bench,
    case: &'a Case,
}

impl Figures<'_> {
    fn of(&self, experiment: &str, engine: &str, unit: &str, values: &[f64]) -> Figure {
        let mut samples = Samples::default();
        values.iter().for_each(|value| samples.push(*value, Place::Unknown));
        Figure::new(experiment, &self.case.name(), engine, unit, &samples, self.bench.unit_ns)
            .with_values(values.to_vec())
    }

    /// Returns the figures of times and memory of commands.
    fn of_commands(&self, engine: &str, threads: usize, taken: &[Found]) -> Vec<Figure> {
        let of = |experiment: &str, unit: &str, value: &dyn Fn(&Found) -> Option<f64>| {
            let values: Vec<f64> = taken.iter().filter_map(value).collect();
            (!values.is_empty()).then(|| self.of(experiment, engine, unit, &values).with_workers(threads))
        };
        [
            of(RUN, "s", &|found| Some(found.clustering)),
            of(WHOLE, "s", &|found| Some(found.seconds)),
            of(MEMORY, "MiB", &|found| Some(found.peak_bytes? / (1u64 << 20) as f64)),
            of(PASSES, "1", &|found| Some(found.passes)),
            of(PASS, "ms", &|found| Some(1e3 * found.clustering / found.passes)),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}
