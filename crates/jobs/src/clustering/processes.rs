//! Clustering in several processes: the command `lehr cluster` as a child of `mpiexec`, in a folder of the job.
//!
//! The same bytes come of it, since the command's results have the same bytes on any layout and numbers are written so that they read back the
//! same. Each try has a folder of its own: the processes of a node that was killed end when they hear of it, and may write in theirs until then. A try begins from the last
//! checkpoint of those before it, and a try that came to its end unseen is the result.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use lehr_data::Points;
use lehr_data::read::{Selection, points};
use lehr_data::write::csv;
use lehr_mining::anneal::Step;
use serde_json::Value;

use super::{ClusterMethod, ClusterSweeps, ColumnScale, Found, History, Options};
use crate::job::{Job, Progress};
use crate::method::Failure;
use crate::settings::Spread;
use crate::sync::start_thread;

/// How often it is looked whether the job is to stop.
const LOOK: Duration = Duration::from_millis(100);

/// The exit code of a command that was stopped and has kept a checkpoint.
const STOPPED: i32 = 130;

/// How many of the last lines of the processes are kept for a fault.
const LINES: usize = 10;

pub(super) fn cluster(job: &Job, spread: &Spread, table: &Points, options: &Options) -> Result<Found, Failure> {
    let defaults = Options::default();
    let told = (options.cooling, options.tolerance, options.overshoot, options.patience);
    if told != (defaults.cooling, defaults.tolerance, defaults.overshoot, defaults.patience) {
        let reason = "cooling, tolerance, overshoot and patience are not for jobs that are spread over processes";
        return Err(Failure::input(reason));
    }
    let failed = |what: &str, error: &dyn std::fmt::Display| Failure::Environment(format!("{what}: {error}"));
    fs::create_dir_all(&spread.folder).map_err(|error| failed("the folder of the job", &error))?;
    let tries = tries(&spread.folder);
    if let Some(done) = tries.iter().rev().find(|folder| folder.join("summary.json").is_file()) {
        return found(done, table);
    }
    let input = spread.folder.join("table.csv");
    // Names that no reader takes for something else.
    let names = (0..table.dimension()).map(|index| format!("c{index}")).collect();
    csv::points(&input, &table.clone().with_columns(names)?)?;
    let own = spread.folder.join(format!("try-{}", tries.len() + 1));
    fs::create_dir_all(&own).map_err(|error| failed("the folder of the job", &error))?;
    let checkpoint = tries.iter().rev().map(|folder| folder.join("checkpoint")).find(|file| file.is_file());
    if let Some(checkpoint) = &checkpoint {
        fs::copy(checkpoint, own.join("checkpoint")).map_err(|error| failed("the checkpoint of the job", &error))?;
    }
    let mut command = Command::new(&spread.mpiexec);
    command.args(["-n", &(spread.layout.processes * spread.layout.nodes).to_string()]).arg(&spread.program);
    command.arg("cluster").arg(&input).args(arguments(table, options, spread));
    command.arg(if checkpoint.is_some() { "--resume" } else { "--out" }).arg(&own).arg("--stop-at-eof");
    // A Ctrl-C at the node's terminal is for the node, which asks its jobs to stop.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
    let shown = spread.mpiexec.display().to_string();
    let mut child = child.map_err(|error| failed(&shown, &error))?;
    // The other end of their input is held here and nowhere else, until they have ended. So if this process is killed they hear of it, keep a checkpoint and
    // end. Something comes first, since launchers may give an empty input.
    if let Some(input) = &mut child.stdin {
        // Refused only by processes that have ended.
        let _ = input.write_all(b"\n");
    }
    let (code, lines) = follow(job, &mut child)?;
    match code {
        Some(0) => found(&own, table),
        Some(STOPPED) => Err(Failure::Stopped),
        _ if job.is_stopping() => Err(Failure::Stopped),
        Some(3) => Err(Failure::input(lines.join("\n"))),
        Some(4) => Err(Failure::Environment(lines.join("\n"))),
        _ => Err(Failure::Internal(lines.join("\n"))),
    }
}

/// The folders of the tries so far, in their order.
fn tries(folder: &Path) -> Vec<PathBuf> {
    (1..).map(|number| folder.join(format!("try-{number}"))).take_while(|folder| folder.is_dir()).collect()
}

fn arguments(table: &Points, options: &Options, spread: &Spread) -> Vec<String> {
    let columns: Vec<String> = (0..table.dimension()).map(|index| format!("c{index}")).collect();
    let mut words = vec![
        "--columns".to_owned(),
        columns.join(","),
        "--layout".to_owned(),
        spread.layout.to_string(),
        "--seed".to_owned(),
        options.seed.to_string(),
        "--precision".to_owned(),
        format!("f{}", options.bits),
        "--method".to_owned(),
        match options.method {
            ClusterMethod::Da => "da",
            ClusterMethod::Kmeans => "kmeans",
        }
        .to_owned(),
    ];
    let mut tell = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            words.extend([format!("--{name}"), value]);
        }
    };
    tell("weights", table.weights().map(|_| "weight".to_owned()));
    tell("id", table.ids().map(|_| "id".to_owned()));
    tell("clusters", options.clusters.map(|clusters| clusters.to_string()));
    tell("max-clusters", options.max_clusters.map(|clusters| clusters.to_string()));
    // The shortest text that reads back as the same number.
    tell("stop-temperature", options.stop_temperature.map(|temperature| format!("{temperature:?}")));
    tell("stop-length", options.stop_length.map(|length| format!("{length:?}")));
    tell("starts", options.starts.map(|starts| starts.to_string()));
    tell("max-sweeps", options.max_sweeps.map(|sweeps| sweeps.to_string()));
    let sweeps = |sweeps| match sweeps {
        ClusterSweeps::Bounded => "bounded".to_owned(),
        ClusterSweeps::Plain => "plain".to_owned(),
    };
    tell("sweeps", options.sweeps.map(sweeps));
    let scale = match options.scale {
        ColumnScale::None => None,
        ColumnScale::Std => Some("std".to_owned()),
        ColumnScale::Robust => Some("robust".to_owned()),
    };
    tell("scale", scale);
    if options.lonlat {
        words.push("--lonlat".to_owned());
    }
    words
}

/// Passes on what the processes tell, and the wish to stop; gives their exit code and last lines.
fn follow(job: &Job, child: &mut Child) -> Result<(Option<i32>, Vec<String>), Failure> {
    let lines = child.stderr.take().map(read).transpose()?;
    let (mut last, mut is_told) = (Vec::new(), false);
    loop {
        match lines.as_ref().map_or(Err(RecvTimeoutError::Disconnected), |lines| lines.recv_timeout(LOOK)) {
            Ok(line) => match progress(&line) {
                Some(progress) => job.report(progress),
                None => {
                    if last.len() == LINES {
                        last.remove(0);
                    }
                    last.push(line);
                }
            },
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if job.is_stopping() && !is_told {
            is_told = true;
            interrupt(child);
        }
    }
    let ended = child.wait().map_err(|error| Failure::Environment(format!("mpiexec: {error}")))?;
    Ok((ended.code(), last))
}

/// Hands on lines as they come.
fn read(stream: impl Read + Send + 'static) -> Result<Receiver<String>, Failure> {
    let (sender, receiver) = channel();
    let body = move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    };
    start_thread("lehr-lines".to_owned(), body)
        .map_err(|error| Failure::Environment(format!("no thread to read with: {error}")))?;
    Ok(receiver)
}

/// A line of progress of the command: ` 42 %, annealing, temperature …, 7 clusters, …`.
fn progress(line: &str) -> Option<Progress> {
    let (percent, rest) = line.trim_start().split_once(" %, ")?;
    let fraction = percent.parse::<f64>().ok()? / 100.0;
    let mut parts = rest.split(", ");
    let mut progress = Progress::new(fraction, parts.next()?);
    for part in parts {
        if let Some(count) = part.strip_suffix(" clusters").or(part.strip_suffix(" cluster"))
            && let Ok(count) = count.replace([',', '\u{202f}', '\u{a0}'], "").parse()
        {
            progress = progress.figure("clusters", count);
        }
    }
    Some(progress)
}

/// Asks the processes to keep a checkpoint and to end.
#[cfg(unix)]
fn interrupt(child: &Child) {
    // If it has ended, there is nobody to ask.
    let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::INT);
}

#[cfg(not(unix))]
fn interrupt(child: &mut Child) {
    let _ = child.kill();
}

/// The results of a folder.
fn found(folder: &Path, table: &Points) -> Result<Found, Failure> {
    let wrong = |what: &str| Failure::Internal(format!("the results of the processes cannot be read: {what}"));
    let summary = fs::read(folder.join("summary.json")).map_err(|error| Failure::Environment(error.to_string()))?;
    let summary: Value = serde_json::from_slice(&summary).map_err(|error| wrong(&error.to_string()))?;
    let result = &summary["result"];
    let unread = |error: serde_json::Error| wrong(&error.to_string());
    let history = match &result["starts"] {
        Value::Null => {
            let steps = serde_json::from_value::<Vec<Step>>(summary["temperatures"]["history"].clone());
            History::Temperatures(steps.map_err(unread)?)
        }
        starts => History::Starts(serde_json::from_value(starts.clone()).map_err(unread)?),
    };
    let names = [
        "clusters",
        "objective",
        "sum_of_squares",
        "free_energy",
        "last_temperature",
        "critical_temperature",
        "iterations",
    ];
    let figures = names.iter().filter_map(|name| Some(((*name).to_owned(), result[*name].as_f64()?)));
    let suggested = result["suggestion"]["clusters"].as_f64().map(|count| ("suggested_clusters".to_owned(), count));
    let warnings = summary["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let columns = |names: &[String]| Selection { columns: Some(names.to_vec()), ..Selection::default() };
    let labels = points(&folder.join("labels.csv"), &columns(&["cluster".to_owned(), "probability".to_owned()]))?;
    let of_center: Vec<String> = (0..table.dimension())
        .map(|index| format!("c{index}"))
        .chain(["weight".to_owned(), "spread".to_owned()])
        .collect();
    let centers = points(&folder.join("centers.csv"), &columns(&of_center))?;
    if labels.len() != table.len() {
        return Err(wrong("labels.csv has another number of rows than the table"));
    }
    let dimension = table.dimension();
    Ok(Found {
        labels: labels.column(0).map(|label| label as u64).collect(),
        probabilities: labels.column(1).collect(),
        centers: (0..centers.len()).map(|row| centers.row(row)[..dimension].to_vec()).collect(),
        weights: centers.column(dimension).collect(),
        spreads: centers.column(dimension + 1).collect(),
        history,
        figures: figures.chain(suggested).collect(),
        warnings: warnings.map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_progress_are_told_from_others() {
        let line = " 42 %, annealing, temperature 1.5 (length 0.9), 7 clusters, free energy 3, 2 s left";
        let expected = Progress::new(0.42, "annealing").figure("clusters", 7.0);
        assert_eq!(progress(line), Some(expected));
        assert_eq!(progress("  3 %, refining, 1 cluster").unwrap().figures["clusters"], 1.0);
        let line = " 20 %, refining, 6 clusters, 2 starts done, root mean square distance 0.4";
        assert_eq!(progress(line), Some(Progress::new(0.2, "refining").figure("clusters", 6.0)));
        for other in ["warning: 3 %", "clustering by x, y; --columns chooses others", "", "x %, annealing"] {
            assert_eq!(progress(other), None, "{other}");
        }
    }
}
