//! `lehr-lab scale`: how time and memory of distances, clusters and maps grow with the number of items, and large sizes
//! once.
//!
//! Every stage is the command that users run, in its own process ([`stage`]), so that its memory is measured
//! separately. The items are any number of sequences, made by mutation from known ancestors ([`sequences`]). Clusters
//! must find the families of these ancestors again. [`definition`] has the sizes, and [`growth`] fits the exponents.

pub mod definition;
pub mod given;
pub mod growth;
pub mod sequences;
pub mod stage;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::bench::estimate::Plan;
use crate::bench::figure::Figure;
use crate::bench::session::{self, Cases, End, Options};
use crate::bench::{Bench, Lab, Stop};
use crate::cost::{self, Cost, TIME};
use crate::output;
use definition::{Case, Definition, Extent};
use given::Given;
use sequences::Items;
use stage::Stage;

/// The description of this lab, which has no peers. Its cases have names such as `2000 items, u16`, `100000 items among
/// 10000, u16`, `56756 items, f64, 5 iterations`.
pub const LAB: Lab = Lab { name: "scale", folder: "target/peers/scale", programs: &[], how_to_build: "there are none" };

/// The program of the stages, and their folder and inputs.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The path of `lehr`, whose commands are the stages.
    pub program: PathBuf,
    /// The folder in which items, matrices and results have a temporary subfolder; `None` is the system's folder for
    /// temporary files.
    pub folder: Option<PathBuf>,
    /// The bytes of free memory, if the system reports them.
    pub free_memory: Option<u64>,
    /// The size of the largest matrices in GiB, in place of the definition's.
    pub gibibytes: Option<f64>,
    /// Sequences of the user, in place of generated ones.
    pub given: Option<Given>,
}

/// Measures the requested cases and prints a table or an array of records. During a stage it calls `stop` to learn
/// whether to end.
///
/// # Errors
/// Returns an error if a stage fails, families are not found again, `only` matches no case, or a folder or the record
/// cannot be written. Earlier figures are kept.
pub fn run(options: &Options, setting: &Setting, stop: Stop) -> Result<End> {
    let file = definition::file();
    let mut definition = if options.quick { file.quick } else { file.full };
    definition.largest.gibibytes = setting.gibibytes.unwrap_or(definition.largest.gibibytes);
    let definition = &definition;
    let parent = setting.folder.clone().unwrap_or_else(std::env::temp_dir);
    let place = tempfile::Builder::new()
        .prefix("lehr-scale-")
        .tempdir_in(&parent)
        .with_context(|| format!("cannot make a folder in {}", parent.display()))?;
    let cases = Cases {
        plan: &|bench| plan(bench, setting, definition, options),
        measure: &|bench| measure(bench, setting, place.path(), definition, options),
        tables: &|bench| cost::table::text(&bench.figures),
    };
    session::run(&LAB, options, stop, cases)
}

fn wanted(bench: &Bench, setting: &Setting, definition: &Definition, options: &Options) -> Vec<Case> {
    let mut cases = match &setting.given {
        Some(given) => vec![Case {
            items: given.items,
            element: definition.growth.element.clone(),
            rounds: options.rounds.unwrap_or(1),
            extent: Extent::Whole,
            given: Some(given.clone()),
        }],
        None => definition.cases(options.rounds),
    };
    cases.retain(|case| options.wants(&case.name()) && !bench.knows(TIME, &case.name(), None));
    cases
}

fn plan(bench: &Bench, setting: &Setting, definition: &Definition, options: &Options) -> Plan {
    let mut plan = Plan::default();
    for case in wanted(bench, setting, definition, options) {
        plan.add(case.name(), definition.seconds(&case));
    }
    plan
}

fn measure(
    bench: &mut Bench,
    setting: &Setting,
    folder: &Path,
    definition: &Definition,
    options: &Options,
) -> Result<()> {
    let mut left_out = 0;
    for case in wanted(bench, setting, definition, options) {
        if bench.is_over() {
            break;
        }
        bench.progress(&case.name());
        // The program, the positions and the memberships need memory in addition to the matrix.
        let (needed, free) =
            (1.05 * case.matrix_bytes(), setting.free_memory.map_or(f64::INFINITY, |bytes| bytes as f64));
        if needed > free {
            let (needed, free) = (gibibytes(needed), gibibytes(free));
            output::note(&format!(
                "{} is left out: it needs {needed:.1} GiB of memory, of which {free:.1} are free",
                case.name()
            ));
            left_out += 1;
            continue;
        }
        for figure in measure_case(bench, &setting.program, folder, definition, &case)? {
            bench.add(figure);
        }
    }
    ensure!(left_out == 0 || !bench.figures.is_empty(), "none of the cases fits into the memory that is free");
    growth::fit(bench);
    Ok(())
}

/// Converts bytes to GiB.
fn gibibytes(bytes: f64) -> f64 {
    bytes / (1u64 << 30) as f64
}

/// Returns the costs of the stages of a case, round by round; nothing if the session was stopped meanwhile.
fn measure_case(
    bench: &mut Bench,
    program: &Path,
    folder: &Path,
    definition: &Definition,
    case: &Case,
) -> Result<Vec<Figure>> {
    let every = if let Extent::Placing(every) = case.extent { every } else { case.items };
    let items = match &case.given {
        Some(Given { path, items, .. }) => {
            Items { path: path.clone(), compared: *items, families: None, all: path.clone(), every }
        }
        None => definition.sequences.write(case.items, every, folder)?,
    };
    let stages = Stage::all(case, definition.sequences.families);
    let mut taken: Vec<Vec<Cost>> = stages.iter().map(|_| Vec::new()).collect();
    for _ in 0..case.rounds {
        for (stage, costs) in stages.iter().zip(&mut taken) {
            let cost = stage.run(program, folder, &items, &mut || bench.is_over());
            let Some(cost) = cost.with_context(|| format!("{}, {}", stage.engine(), case.name()))? else {
                return Ok(Vec::new());
            };
            costs.push(cost);
        }
    }
    let figures = stages.iter().zip(&taken);
    Ok(figures.flat_map(|(stage, costs)| cost::figures(bench, &case.name(), stage.engine(), costs)).collect())
}
