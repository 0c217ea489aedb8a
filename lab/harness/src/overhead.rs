//! `lehr-lab overhead`: the overhead of dividing a clustering run among threads, among MPI processes, and among both.
//!
//! Every side is a job ([`launch`]): this program, alone or under `mpiexec`, with a line that describes its task
//! ([`task`]). In each round every side solves the same problem once ([`turns`]), and all results must be
//! bit-identical. The laws of the papers are fitted to the overheads ([`fits`], [`model`]). The kernel in synchronised
//! stages shows how evenly ranks run ([`stages`], [`fluctuation`]). A model shows the cost of sums that share cache
//! lines ([`padding`]). Each engine also makes maps ([`scaling`]).

pub mod definition;
pub mod figure;
pub mod fits;
pub mod fluctuation;
pub mod launch;
pub mod model;
pub mod padding;
pub mod scaling;
pub mod stages;
pub mod table;
pub mod task;
pub mod turns;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::bench::Stop;
use crate::bench::activity::Watch;
use crate::bench::record::{Kept as Record, Taken};
use crate::bench::session::{End, command};
use crate::dissimilarities;
use crate::machine::{Machine, available_threads};
use crate::output;
use definition::Definition;
use figure::Figure;
use launch::Starter;

/// The options of the measurement.
///
/// `only` is compared with the names of cases: `N = 20000, K = 10` for whole runs, `pairs, N = 1000, K = 10` for
/// pairwise runs, `stages, n = 10000, K = 80` for the kernel, `padding` for sums that share cache lines, `scaling, alu
/// 3,000` for maps.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether to measure only a few cases, in under two minutes.
    pub quick: bool,
    /// Whether to print an array of records on standard output instead of tables.
    pub json: bool,
    /// Measures only cases whose name contains this text.
    pub only: Option<String>,
    /// The number of rounds, if the user gives one.
    pub rounds: Option<usize>,
    /// The folder of the sets' tables, if the user gives one.
    pub data: Option<PathBuf>,
    /// The launcher of processes, if the user gives one.
    pub mpiexec: Option<PathBuf>,
    /// The file of the record, written case by case. If it exists, the session continues it.
    pub record: Option<PathBuf>,
    /// The path of the lab's own program, which every job runs.
    pub program: PathBuf,
}

/// Measures the requested cases and prints tables or an array of records.
///
/// # Errors
/// Returns an error if a job fails, sides are not bit-identical, `only` matches no case, a launcher does not start, or
/// the record cannot be read or written. Earlier figures are kept.
pub fn run(options: &Options, mut stop: Stop) -> Result<End> {
    let file = definition::file();
    let definition = if options.quick { &file.quick } else { &file.full };
    let (cores, machine) = (available_threads(), Machine::look());
    let starter = Starter::find(options.program.clone(), options.mpiexec.as_deref())?;
    let mut kept = Kept::open(options, &machine, &starter)?;
    match starter.launcher() {
        Some(version) => output::note(&format!("{cores} cores; processes by {version}")),
        None => output::note(&format!(
            "{cores} cores; no mpiexec (make mpi-environment installs one, --mpiexec names another): threads alone"
        )),
    }
    let measured = measure(options, definition, cores, &starter, &mut kept, &mut stop);
    kept.save()?;
    let end = measured?;
    let only = options.only.as_deref().unwrap_or_default();
    ensure!(end == End::Stopped || !kept.figures.is_empty(), "no case contains {only:?}");
    if options.json {
        output::line(&serde_json::to_string_pretty(&kept.figures)?);
    } else {
        output::line(&machine.line());
        if let Some(activity) = kept.watch.activity() {
            output::line(&format!(
                "other programs used {:.0} % of the machine (median of the cases)",
                activity.others[1]
            ));
        }
        output::line(&table::text(&kept.figures, file.aim));
    }
    Ok(end)
}

/// The figures so far, and the file of the record.
struct Kept {
    figures: Vec<Figure>,
    record: Option<Record>,
    watch: Watch,
}

impl Kept {
    fn open(options: &Options, machine: &Machine, starter: &Starter) -> Result<Self> {
        let mut kept = Self { figures: Vec::new(), record: None, watch: Watch::default() };
        kept.watch.look();
        if let Some(path) = &options.record {
            let command = command("overhead", options.quick, options.only.as_deref(), options.rounds);
            let libraries = libraries(starter.launcher());
            let this = Taken { command, machine: machine.clone(), libraries, activity: None };
            let (record, figures) = Record::open::<Figure>(path, this)?;
            if !figures.is_empty() {
                output::note(&format!(
                    "{} has {} figures; their cases are not taken again",
                    path.display(),
                    figures.len()
                ));
            }
            (kept.record, kept.figures) = (Some(record), figures);
        }
        Ok(kept)
    }

    fn knows(&self, experiment: &str, case: &str) -> bool {
        self.figures.iter().any(|figure| figure.is(experiment, case))
    }

    /// Adds the figures of a case, fits the laws to all figures again, and writes the record.
    fn add(&mut self, figures: Vec<Figure>) -> Result<()> {
        self.figures.retain(|figure| !fits::DERIVED.contains(&figure.experiment.as_str()));
        self.figures.extend(figures);
        self.figures.extend(fits::figures(&self.figures));
        self.save()
    }

    fn save(&mut self) -> Result<()> {
        self.watch.look();
        let activity = self.watch.activity();
        self.record.as_mut().map_or(Ok(()), |record| record.write(&self.figures, activity))
    }
}

fn measure(
    options: &Options,
    definition: &Definition,
    cores: usize,
    starter: &Starter,
    kept: &mut Kept,
    stop: &mut Stop,
) -> Result<End> {
    let sides = turns::sides(definition, cores, starter);
    let wants = |name: &str| options.only.as_deref().is_none_or(|part| name.contains(part));
    let cases: Vec<_> =
        definition.cases().into_iter().filter(|case| wants(&case.name()) && !kept.knows("run", &case.name())).collect();
    let staged: Vec<_> = stages::cases(definition)
        .into_iter()
        .filter(|case| wants(&case.name()) && !kept.knows(stages::DEVIATION, &case.name()))
        .collect();
    let padded: Vec<_> = padding::cases(definition, cores)
        .into_iter()
        .filter(|case| wants(&case.name()) && !kept.knows(padding::PADDING, &case.name()))
        .collect();
    let maps: Vec<_> = definition
        .scaling
        .sets
        .iter()
        .filter(|set| wants(&scaling::name(set)) && !kept.knows(scaling::SECONDS, &scaling::name(set)))
        .collect();
    let count = cases.len() + staged.len() + padded.len() + maps.len();
    let rounds = options.rounds.unwrap_or(definition.rounds);
    let left = definition.layouts.iter().filter(|layout| layout.ranks() > cores).map(ToString::to_string);
    let left: Vec<String> = left.collect();
    if !left.is_empty() {
        output::note(&format!("more ranks than cores, left out: {}", left.join(", ")));
    }
    for (place, case) in cases.iter().enumerate() {
        let taking = sides.iter().filter(|side| side.takes(case.method)).count();
        output::note(&format!("[{} of {count}] {}, {taking} sides, {rounds} rounds", place + 1, case.name()));
        match turns::measure(*case, definition, rounds, &sides, starter, stop)? {
            Some(figures) => kept.add(figures)?,
            None => return Ok(End::Stopped),
        }
    }
    for (place, case) in staged.iter().enumerate() {
        output::note(&format!("[{} of {count}] {}, {rounds} rounds", cases.len() + place + 1, case.name()));
        match stages::measure(*case, definition, rounds, &sides, starter, stop)? {
            Some(figures) => kept.add(figures)?,
            None => return Ok(End::Stopped),
        }
    }
    let adding = padding::Side::all(Path::new(padding::PROGRAM));
    if !padded.is_empty() && adding.len() == 2 {
        output::note("no C program beside the sums of threads: `make peers-overhead` compiles it");
    }
    for (place, case) in padded.iter().enumerate() {
        let place = cases.len() + staged.len() + place + 1;
        output::note(&format!("[{place} of {count}] {}, {rounds} rounds", case.name()));
        match padding::measure(*case, rounds, &adding, stop)? {
            Some(figures) => kept.add(figures)?,
            None => return Ok(End::Stopped),
        }
    }
    let sides = scaling::sides(definition, cores, starter);
    for (place, set) in maps.into_iter().enumerate() {
        let place = cases.len() + staged.len() + padded.len() + place + 1;
        output::note(&format!("[{place} of {count}] {}, {} sides, {rounds} rounds", scaling::name(set), sides.len()));
        output::note(&format!("{}: comparing all pairs", set.name));
        let Some(matrix) = dissimilarities::of_set(set, options.data.as_deref())? else {
            output::note(&format!("{} is left out: its table is not here (LEHR_DATA or --data)", set.name));
            continue;
        };
        match scaling::measure((set, matrix), definition, rounds, &sides, starter, stop)? {
            Some(figures) => kept.add(figures)?,
            None => return Ok(End::Stopped),
        }
    }
    Ok(End::Whole)
}

/// Returns the record's entry about the launcher of processes.
fn libraries(launcher: Option<&str>) -> Value {
    launcher.map_or_else(|| json!({}), |version| json!({ "mpiexec": version }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_the_launcher_if_there_was_one() {
        assert_eq!(libraries(Some("MPICH 5"))["mpiexec"], "MPICH 5");
        assert_eq!(libraries(None), json!({}));
    }
}
