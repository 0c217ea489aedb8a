//! `lehr-lab growth`: how time and memory of clusters, mixtures and topographic maps grow with rows, columns, clusters
//! and ranks.
//!
//! Every run is the command that users run, in its own process ([`run`](definition::Work::run)), so that its memory is
//! measured separately. The rows are any number of blobs ([`blobs`]), which clusters must find again. [`definition`]
//! has the axes; an exponent is fitted along each axis.

pub mod blobs;
pub mod definition;
mod run;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::bench::estimate::Plan;
use crate::bench::figure::Figure;
use crate::bench::session::{self, Cases, End, Options};
use crate::bench::{Bench, Lab, Stop};
use crate::cost::power::{EXPONENT, Points, exponents};
use crate::cost::{self, Cost, MEMORY, PASS, PASSES, TIME};
use crate::output;
use definition::{Axis, Definition, Method, Shape, Work};

/// The description of this lab, which has no peers. Its cases have names such as `clusters, N = 10000, D = 2, K = 10`,
/// and `…, P = 2` if ranks vary.
pub const LAB: Lab =
    Lab { name: "growth", folder: "target/peers/growth", programs: &[], how_to_build: "there are none" };

/// The maximum number of copies of the rows in a run: as read, as arranged, and data that belong to each row.
const COPIES: f64 = 4.0;

/// The program of the commands, and their folder.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The path of `lehr`, whose commands are measured.
    pub program: PathBuf,
    /// The folder in which rows and results have a temporary subfolder; `None` is the system's folder for temporary
    /// files.
    pub folder: Option<PathBuf>,
    /// The bytes of free memory, if the system reports them.
    pub free_memory: Option<u64>,
}

/// A case: a method on a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Case {
    work: Work,
    shape: Shape,
    seconds: f64,
}

/// Measures the requested cases and prints a table or an array of records. During a command it calls `stop` to learn
/// whether to end.
///
/// # Errors
/// Returns an error if a command fails, blobs are not found again, `only` matches no case, or a folder or the record
/// cannot be written. Earlier figures are kept.
pub fn run(options: &Options, setting: &Setting, stop: Stop) -> Result<End> {
    let file = definition::file();
    let definition = &if options.quick { file.quick } else { file.full };
    let parent = setting.folder.clone().unwrap_or_else(std::env::temp_dir);
    let place = tempfile::Builder::new()
        .prefix("lehr-growth-")
        .tempdir_in(&parent)
        .with_context(|| format!("cannot make a folder in {}", parent.display()))?;
    let rounds = options.rounds.unwrap_or(definition.rounds);
    let cases = Cases {
        plan: &|bench| {
            let mut plan = Plan::default();
            for Case { work, shape, seconds } in wanted(bench, definition, options) {
                plan.add(name(work, &shape), rounds as f64 * seconds);
            }
            plan
        },
        measure: &|bench| measure(bench, setting, place.path(), definition, options),
        tables: &|bench| cost::table::text(&bench.figures),
    };
    session::run(&LAB, options, stop, cases)
}

/// Returns the name of a case in a record.
fn name(work: Work, shape: &Shape) -> String {
    format!("{}, {}", work.name(), shape.name())
}

/// Returns the requested cases that are not in the record. A case on several axes appears once.
fn wanted(bench: &Bench, definition: &Definition, options: &Options) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for method in &definition.methods {
        for (_, shape) in method.axes.iter().flat_map(|axis| axis.shapes(bench.cores)) {
            let case = Case { work: method.work, shape, seconds: method.seconds(&shape, bench.cores) };
            let name = name(case.work, &shape);
            if options.wants(&name) && !bench.knows(TIME, &name, None) && !cases.contains(&case) {
                cases.push(case);
            }
        }
    }
    cases
}

fn measure(
    bench: &mut Bench,
    setting: &Setting,
    folder: &Path,
    definition: &Definition,
    options: &Options,
) -> Result<()> {
    let rounds = options.rounds.unwrap_or(definition.rounds);
    let mut left_out = 0;
    for case in wanted(bench, definition, options) {
        if bench.is_over() {
            break;
        }
        let (needed, free) =
            (COPIES * case.shape.bytes(), setting.free_memory.map_or(f64::INFINITY, |bytes| bytes as f64));
        if needed > free {
            output::note(&format!(
                "{} is left out: it needs {:.1} GiB of memory, of which {:.1} are free",
                name(case.work, &case.shape),
                gibibytes(needed),
                gibibytes(free)
            ));
            left_out += 1;
            continue;
        }
        bench.progress(&name(case.work, &case.shape));
        for figure in measure_case(bench, &setting.program, folder, definition, case, rounds)? {
            bench.add(figure);
        }
    }
    ensure!(left_out == 0 || !bench.figures.is_empty(), "none of the cases fits into the memory that is free");
    fit(bench, definition);
    Ok(())
}

/// Converts bytes to GiB.
fn gibibytes(bytes: f64) -> f64 {
    bytes / (1u64 << 30) as f64
}

/// Returns the costs of a case, round by round; nothing if the session was stopped meanwhile.
fn measure_case(
    bench: &mut Bench,
    program: &Path,
    folder: &Path,
    definition: &Definition,
    Case { work, shape, .. }: Case,
    rounds: usize,
) -> Result<Vec<Figure>> {
    let rows = definition.blobs.write(&shape, folder)?;
    let mut costs: Vec<Cost> = Vec::new();
    for _ in 0..rounds {
        let cost = work.run(program, folder, (&rows, &shape), &mut || bench.is_over());
        let Some(cost) = cost.with_context(|| name(work, &shape))? else { return Ok(Vec::new()) };
        costs.push(cost);
    }
    Ok(cost::figures(bench, &name(work, &shape), work.engine(), &costs))
}

/// Adds the exponents of the figures, in place of those of an earlier session. An axis with fewer than three sizes has
/// none.
fn fit(bench: &mut Bench, definition: &Definition) {
    bench.figures.retain(|figure| figure.experiment != EXPONENT);
    let mut found = Vec::new();
    for (method, axis) in
        definition.methods.iter().flat_map(|method| method.axes.iter().map(move |axis| (method, axis)))
    {
        for experiment in [TIME, PASSES, PASS, MEMORY] {
            let points = points(&bench.figures, experiment, method, axis, bench.cores);
            if let Some(samples) = exponents(&points) {
                let case = format!("{experiment} against {}", axis.of.name());
                found.push(Figure::new(EXPONENT, &case, method.work.engine(), "1", &samples, bench.unit_ns));
            }
        }
    }
    bench.figures.extend(found);
}

/// Returns the measured costs along an axis.
fn points(figures: &[Figure], experiment: &str, method: &Method, axis: &Axis, cores: usize) -> Points {
    let values = |shape: &Shape| {
        let name = name(method.work, shape);
        let is = |figure: &&Figure| figure.experiment == experiment && figure.case == name;
        figures.iter().find(is).map(|figure| figure.values.clone())
    };
    axis.shapes(cores).iter().filter_map(|(value, shape)| Some((*value as f64, values(shape)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::{Place, Samples};

    #[test]
    fn an_axis_has_the_figures_of_its_own_shapes() {
        let definition = definition::file().full;
        let clusters = &definition.methods[0];
        let figure = |experiment: &str, case: &str, value: f64| {
            let mut samples = Samples::default();
            samples.push(value, Place::Unknown);
            Figure::new(experiment, case, "lehr", "s", &samples, 1.0).with_values(vec![value])
        };
        let figures = [
            figure(TIME, "clusters, N = 10000, D = 2, K = 10", 1.0),
            figure(TIME, "clusters, N = 100000, D = 2, K = 10", 10.0),
            figure(TIME, "clusters, N = 1000000, D = 2, K = 10", 100.0),
            figure(TIME, "mixture, N = 1000000, D = 2, K = 10", 7.0),
            figure(MEMORY, "clusters, N = 10000000, D = 2, K = 10", 5.0),
            figure(TIME, "clusters, N = 20000, D = 2, K = 10", 2.0),
        ];
        let points = points(&figures, TIME, clusters, &clusters.axes[0], 2);
        assert_eq!(points, [(1e4, vec![1.0]), (1e5, vec![10.0]), (1e6, vec![100.0])]);
        assert!((exponents(&points).unwrap().values()[0] - 1.0).abs() < 1e-12);
    }
}
