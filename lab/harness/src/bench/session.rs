//! What every lab does around its cases: start the peers, open the record, say what it will cost, measure, and print
//! tables or the record.

use std::path::PathBuf;

use anyhow::{Result, ensure};

use super::estimate::Plan;
use super::record::{Kept, Taken};
use super::{Bench, Lab, Stop, presence};
use crate::machine::Machine;
use crate::output;

/// What was asked for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A few cells, in about two minutes.
    pub quick: bool,
    /// An array of records on standard output instead of tables.
    pub json: bool,
    /// Only cases whose name contains this; each lab says what its cases are called.
    pub only: Option<String>,
    /// Rounds of turns, when given.
    pub rounds: Option<usize>,
    /// The folder with the peers' programs, when it is not the lab's own.
    pub peers: Option<PathBuf>,
    /// Where what is measured is kept, case by case; a record that is there is gone on with.
    pub record: Option<PathBuf>,
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything that was asked for is measured.
    Whole,
    /// Somebody asked for the end; what was measured until then is printed and kept.
    Stopped,
}

/// What a lab brings to a session.
pub struct Cases<'a> {
    /// What will be measured, in order.
    pub plan: &'a dyn Fn(&Bench) -> Plan,
    /// Measures it.
    pub measure: &'a dyn Fn(&mut Bench) -> Result<()>,
    /// Prints what was measured.
    pub tables: &'a dyn Fn(&Bench) -> String,
}

/// Measures what the options ask for and prints it: tables, or an array of records. `stop` is asked between samples
/// whether to end.
///
/// # Errors
/// A wrong result of ours, `only` that names nothing, a record that cannot be read or written. What was measured before
/// is kept.
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
    /// Whether a case of this name was asked for.
    pub fn wants(&self, case: &str) -> bool {
        self.only.as_deref().is_none_or(|part| case.contains(part))
    }
}

/// The command that repeats a session of a lab, without what says only where things are.
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
