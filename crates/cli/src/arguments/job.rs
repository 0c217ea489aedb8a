//! The arguments of `lehr job`: the resources of a Slurm job, and the command that it runs.

use std::ffi::OsString;

use clap::Args;

use super::{at_least_one, thread_count};

/// The arguments of `lehr job`.
#[derive(Debug, Args)]
#[command(after_help = JOB_HELP)]
pub struct JobArguments {
    /// Run on this many machines
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    pub nodes: usize,

    /// Start this many processes on each machine; they need an MPI library
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    pub tasks: usize,

    /// Use this many threads in each process; Slurm reserves as many cores
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = thread_count)]
    pub threads: usize,

    /// Reserve this much memory on each machine, such as 16G [default: an estimate from the input, or Slurm's]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    pub memory: Option<String>,

    /// Limit a run to this time; minutes, H:MM:SS or days-H:MM:SS [default: the partition's]
    #[arg(long, value_name = "TIME")]
    pub time: Option<TimeLimit>,

    /// Run in this partition [default: Slurm's]
    #[arg(long, value_name = "NAME", value_parser = word)]
    pub partition: Option<String>,

    /// Send the signal that saves the state this many seconds before the time limit
    #[arg(long, value_name = "SECONDS", default_value_t = 120, value_parser = grace, hide_short_help = true)]
    pub grace: u64,

    /// Continue the run at most this many times
    #[arg(long, value_name = "N", default_value_t = 10, hide_short_help = true)]
    pub restarts: u32,

    /// Prepare processes for MPI by this means of Slurm; see srun --mpi=list
    #[arg(long, value_name = "TYPE", default_value = "pmi2", value_parser = word, hide_short_help = true)]
    pub mpi: String,

    /// Add an option of sbatch, such as account=physics (may be repeated)
    #[arg(long, value_name = "OPTION", value_parser = directive, hide_short_help = true)]
    pub sbatch: Vec<String>,

    /// The command to run, without lehr, such as cluster table.npy --clusters 20
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// A time limit as typed, in Slurm's notation.
#[derive(Clone, Debug)]
pub struct TimeLimit {
    /// The limit as typed.
    pub text: String,
    /// The limit in seconds.
    pub seconds: u64,
}

impl std::str::FromStr for TimeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = seconds(text).filter(|seconds| *seconds > 0);
        let seconds = seconds.ok_or("expected minutes, M:SS, H:MM:SS, days-H, days-H:MM or days-H:MM:SS")?;
        Ok(Self { text: text.to_owned(), seconds })
    }
}

/// Reads Slurm's notation of a time limit.
fn seconds(text: &str) -> Option<u64> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (Some(number(days)?), rest),
        None => (None, text),
    };
    let parts = rest.split(':').map(number).collect::<Option<Vec<u64>>>()?;
    // Without days, the first of one or two numbers are minutes; after days, hours.
    let [hours, minutes, seconds] = match (days, parts.as_slice()) {
        (None, [minutes]) => [0, *minutes, 0],
        (None, [minutes, seconds]) => [0, *minutes, *seconds],
        (Some(_), [hours]) => [*hours, 0, 0],
        (Some(_), [hours, minutes]) => [*hours, *minutes, 0],
        (_, [hours, minutes, seconds]) => [*hours, *minutes, *seconds],
        _ => return None,
    };
    let hours = days.unwrap_or(0).checked_mul(24)?.checked_add(hours)?;
    hours.checked_mul(60)?.checked_add(minutes)?.checked_mul(60)?.checked_add(seconds)
}

fn number(text: &str) -> Option<u64> {
    // `parse` takes a sign too.
    text.bytes().all(|letter| letter.is_ascii_digit()).then(|| text.parse().ok())?
}

fn memory(text: &str) -> Result<String, String> {
    let digits = text.strip_suffix(['K', 'M', 'G', 'T', 'k', 'm', 'g', 't']).unwrap_or(text);
    match number(digits) {
        Some(size) if size > 0 => Ok(text.to_owned()),
        _ => Err("expected a whole number with K, M, G or T, such as 16G; without a letter, megabytes".to_owned()),
    }
}

/// Reads the seconds of a signal, which Slurm limits to 65535.
fn grace(text: &str) -> Result<u64, String> {
    let seconds = number(text).filter(|seconds| (1..=65535).contains(seconds));
    seconds.ok_or_else(|| "expected seconds from 1 to 65535".to_owned())
}

/// Reads a value that stands in a line of the script.
fn word(text: &str) -> Result<String, String> {
    if !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.,+@".contains(letter)) {
        return Ok(text.to_owned());
    }
    Err("expected a name of letters, digits and - _ . , + @".to_owned())
}

fn directive(text: &str) -> Result<String, String> {
    let option = text.strip_prefix("--").unwrap_or(text);
    if option.starts_with(|first: char| first.is_ascii_alphabetic()) && !option.contains(['\n', '\r']) {
        return Ok(option.to_owned());
    }
    Err("expected a long option of sbatch on one line, such as account=physics".to_owned())
}

const JOB_HELP: &str = "\
Example:
  lehr job --threads 16 --time 1:00:00 -- cluster table.npy --clusters 20 --out groups > groups.sh
  sbatch groups.sh
      one process with 16 threads; if an hour is too short, the job continues in the next one

  lehr job --nodes 4 --tasks 2 --threads 16 --time 4:00:00 -- distances genes.fasta --out genes > genes.sh
      eight processes on four machines, which need an MPI library

  lehr job --partition long --sbatch account=physics --memory 64G -- embed genes/dissimilarities.json > map.sh
      with options of your site

The script runs in the folder in which you wrote it, with this lehr program.
Exit codes: 0 done, 2 usage, 3 data, 4 environment.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_limit_is_in_slurms_notation() {
        for (text, expected) in [
            ("90", Some(5400)),
            ("1:30", Some(90)),
            ("1:00:00", Some(3600)),
            ("2-1", Some(49 * 3600)),
            ("0-1:30", Some(5400)),
            ("1-0:0:1", Some(86401)),
            ("0", None),
            ("", None),
            ("1h", None),
            ("+5", None),
            ("1:2:3:4", None),
            ("-5", None),
            ("99999999999999999999-0", None),
        ] {
            assert_eq!(text.parse::<TimeLimit>().ok().map(|limit| limit.seconds), expected, "{text}");
        }
    }

    #[test]
    fn values_that_would_break_the_script_are_refused() {
        assert!(memory("16G").is_ok() && memory("512").is_ok());
        for text in ["", "G", "0", "1.5G", "16GB", "16 G", "-1G"] {
            assert!(memory(text).is_err(), "{text}");
        }
        assert!(word("long,short").is_ok() && word("a b").is_err() && word("a\n#SBATCH").is_err());
        assert_eq!(directive("--account=x y"), Ok("account=x y".to_owned()));
        assert!(directive("-A x").is_err() && directive("account=x\nrm").is_err());
        assert!(grace("0").is_err() && grace("65536").is_err());
    }
}
