//! The common steps of every lab: start the peers, open the record, estimate the duration, measure, and print tables or
//! the record.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::estimate::Plan;
use super::record::{Kept, Taken};
use super::{Bench, Lab, Stop, presence};
use crate::machine::Machine;
use crate::output;

/// The options of a session.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether to measure only a few cells, in about two minutes.
    pub quick: bool,
    /// Whether to print an array of records on standard output instead of tables.
    pub json: bool,
    /// Measures only cases whose name contains this text; each lab documents the names of its cases.
    pub only: Option<String>,
    /// The number of rounds, if the user gives one.
    pub rounds: Option<usize>,
    /// The folder with the peers' programs, if it is not the lab's own.
    pub peers: Option<PathBuf>,
    /// The file of the record, written case by case. If it exists, the session continues it.
    pub record: Option<PathBuf>,
}

/// The outcome of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The session measured all requested cases.
    Whole,
    /// Somebody asked to stop; the earlier figures are printed and kept.
    Stopped,
}

/// The functions by which a lab takes part in a session.
pub struct Cases<'a> {
    /// Returns the cases to be measured, in order.
    pub plan: &'a dyn Fn(&Bench) -> Plan,
    /// Measures the cases.
    pub measure: &'a dyn Fn(&mut Bench) -> Result<()>,
    /// Formats the figures as tables.
    pub tables: &'a dyn Fn(&Bench) -> String,
}

/// Measures the requested cases and prints tables or an array of records. It calls `stop` between samples to learn
/// whether to end.
///
/// # Errors
/// Returns an error if a result of Lehr is wrong, if `only` matches no case, or if the record cannot be read or
/// written. Earlier figures are kept.
pub fn run(lab: &Lab, options: &Options, stop: Stop, cases: Cases<'_>) -> Result<End> {
    let folder = options.peers.clone().unwrap_or_else(|| lab.folder.into());
    let mut bench = Bench::start(lab, &folder, stop)?;
    if let Some(path) = &options.record {
        let (machine, libraries) = (Machine::look(), bench.libraries());
        let command = command(lab.name, options.quick, options.only.as_deref(), options.rounds);
        let this = Taken { command, machine, libraries, activity: None };
        let (kept, figures) = Kept::open(path, this)?;
        if !figures.is_empty() {
            output::note(&format!("{} has {} figures; their cases are not taken again", path.display(), figures.len()));
        }
        bench.keep_in(kept, figures);
    }
    let plan = (cases.plan)(&bench);
    output::note(&plan.announcement());
    bench.follow(plan);
    let measured = (cases.measure)(&mut bench).and_then(|()| presence::record(&mut bench));
    bench.save()?;
    measured?;
    let is_over = bench.is_over();
    let only = options.only.as_deref().unwrap_or_default();
    ensure!(is_over || !bench.figures.is_empty(), "no case contains {only:?}");
    if options.json {
        output::line(&serde_json::to_string_pretty(&bench.figures)?);
    } else {
        output::line(&Machine::look().line());
        output::line(&format!(
            "{} cores; a unit of computation lasts {:.0} ns; peers {}",
            bench.cores,
            bench.unit_ns,
            bench.libraries()
        ));
        if let Some(activity) = bench.activity() {
            output::line(&format!(
                "other programs used {:.0} % of the machine (median of the cases)",
                activity.others[1]
            ));
        }
        output::line(&(cases.tables)(&bench));
    }
    Ok(if is_over { End::Stopped } else { End::Whole })
}

impl Options {
    /// Returns whether a case of this name was requested.
    pub fn wants(&self, case: &str) -> bool {
        self.only.as_deref().is_none_or(|part| case.contains(part))
    }
}

/// Returns the command that repeats a session of a lab, without options that only name places.
pub fn command(lab: &str, quick: bool, only: Option<&str>, rounds: Option<usize>) -> String {
    let mut command = format!("lehr-lab {lab}");
    if quick {
        command += " --quick";
    }
    if let Some(only) = only {
        command += &format!(" --only '{only}'");
    }
    if let Some(rounds) = rounds {
        command += &format!(" --rounds {rounds}");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAB: Lab = Lab { name: "ports", folder: "no such folder", programs: &[], how_to_build: "there are none" };

    #[test]
    fn the_command_that_is_kept_leaves_out_where_things_are() {
        let kept = command("ports", true, Some("exchange"), Some(3));
        assert_eq!(kept, "lehr-lab ports --quick --only 'exchange' --rounds 3");
    }

    #[test]
    fn what_names_no_case_is_an_error_and_leaves_a_record_without_figures() {
        let folder = tempfile::tempdir().unwrap();
        let record = folder.path().join("r.json");
        let options = Options { only: Some("nothing".into()), record: Some(record.clone()), ..Options::default() };
        let cases = Cases { plan: &|_| Plan::default(), measure: &|_| Ok(()), tables: &|_| String::new() };
        let error = run(&LAB, &options, Box::new(|| false), cases).unwrap_err();
        assert!(error.to_string().contains("\"nothing\""));
        assert_eq!(std::fs::read_to_string(record).unwrap().trim(), "[]");
    }
}
