//! What was asked for on the command line.

use std::path::PathBuf;

/// Shown after a usage error.
pub const USAGE: &str = "usage: lehr-harness bench kernels|distances|pairwise|maps|runs|overhead|people [OPTIONS]
       lehr-harness quality [mixtures|topographic] [OPTIONS]

options:
  --data DIR       folder with gis/ and benchmarks/ (default: $LEHR_DATA)
  --only TEXT      only sets or cases whose name contains TEXT
  --all            sets of the tier `all` too
  --rounds N       rounds of turns (bench kernels 15, distances and overhead 7) or seeds (pairwise, maps, runs, people and quality mixtures 3, quality 10)
  --threads N      threads of both sides in `pairwise`, `maps`, `runs` and `quality` (default: what the machine has)
  --peers PYTHON   the peers' Python (default: target/peers/bin/python, from `make peers`)
  --record NAME    folder of the record below lab/records (default: local, which git ignores)";

/// The measurement to take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// One E+M step against C floors.
    Kernels,
    /// Dissimilarities of all pairs against peers.
    Distances,
    /// Clusters of items known by their dissimilarities against peers.
    Pairwise,
    /// Maps of items known by their dissimilarities against scikit-learn's.
    Maps,
    /// Whole runs against peers.
    Runs,
    /// Parallel overhead of each engine.
    Overhead,
    /// Blocks with weights against a row for each of their people.
    People,
    /// Ten seeds a set against the best known.
    Quality,
    /// Mixtures of Gaussians against the best known and scikit-learn's many starts.
    Mixtures,
    /// Topographic maps against ugtm's.
    Topographic,
}

/// The parsed command line.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// What to measure.
    pub task: Task,
    /// Folder with `gis/` and `benchmarks/`.
    pub data: Option<PathBuf>,
    /// Part of the names of the cases wanted.
    pub only: Option<String>,
    /// Whether sets of the tier `all` are wanted too.
    pub all: bool,
    /// Rounds or seeds, when given.
    pub rounds: Option<usize>,
    /// Threads, when given.
    pub threads: Option<usize>,
    /// The Python that has the peers.
    pub peers: PathBuf,
    /// Folder of the record below `lab/records`.
    pub record: String,
}

impl Arguments {
    /// Parses the words after the program's name; `data` is the environment's answer to where data are.
    ///
    /// # Errors
    /// A sentence about the first word that does not fit.
    pub fn parse(words: impl IntoIterator<Item = String>, data: Option<PathBuf>) -> Result<Self, String> {
        let mut words = words.into_iter().peekable();
        let task = match (words.next().as_deref(), ()) {
            (Some("quality"), ()) => match words.peek().map(String::as_str) {
                Some("mixtures") => Task::Mixtures,
                Some("topographic") => Task::Topographic,
                Some(word) if !word.starts_with("--") => {
                    return Err(format!("quality: expected mixtures, topographic or an option, found {word:?}"));
                }
                _ => Task::Quality,
            },
            (Some("bench"), ()) => match words.next().as_deref() {
                Some("kernels") => Task::Kernels,
                Some("distances") => Task::Distances,
                Some("pairwise") => Task::Pairwise,
                Some("maps") => Task::Maps,
                Some("runs") => Task::Runs,
                Some("overhead") => Task::Overhead,
                Some("people") => Task::People,
                other => {
                    return Err(format!(
                        "bench: expected kernels, distances, pairwise, maps, runs, overhead or people, found {}",
                        shown(other)
                    ));
                }
            },
            (other, ()) => return Err(format!("expected bench or quality, found {}", shown(other))),
        };
        if matches!(task, Task::Mixtures | Task::Topographic) {
            words.next();
        }
        let mut arguments = Self {
            task,
            data,
            only: None,
            all: false,
            rounds: None,
            threads: None,
            peers: PathBuf::from("target/peers/bin/python"),
            record: "local".into(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            match word.as_str() {
                "--all" => arguments.all = true,
                "--data" => arguments.data = Some(PathBuf::from(value()?)),
                "--only" => arguments.only = Some(value()?),
                "--rounds" => arguments.rounds = Some(count(&word, &value()?)?),
                "--threads" => arguments.threads = Some(count(&word, &value()?)?),
                "--peers" => arguments.peers = PathBuf::from(value()?),
                "--record" => arguments.record = value()?,
                _ => return Err(format!("unknown option {word}")),
            }
        }
        Ok(arguments)
    }

    /// Whether a case of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|part| name.contains(part))
    }
}

fn shown(word: Option<&str>) -> String {
    word.map_or_else(|| "nothing".into(), |word| format!("{word:?}"))
}

fn count(option: &str, text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(format!("{option}: expected a whole number above 0, found {text:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Arguments, String> {
        Arguments::parse(line.split_whitespace().map(String::from), None)
    }

    #[test]
    fn options_follow_the_task_in_any_order() {
        let arguments = parse("bench runs --rounds 3 --all --only gis/").unwrap();
        assert_eq!((arguments.task, arguments.rounds, arguments.all), (Task::Runs, Some(3), true));
        assert!(arguments.wants("gis/blocks") && !arguments.wants("sipu_a3"));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert!(parse("bench speed").unwrap_err().contains("\"speed\""));
        assert!(parse("quality --rounds 0").unwrap_err().contains("above 0"));
        assert!(parse("quality --rounds").unwrap_err().contains("wants a value"));
        assert!(parse("quality speed").unwrap_err().contains("\"speed\""));
        assert_eq!(parse("quality --rounds 2").unwrap().task, Task::Quality);
        assert_eq!(parse("quality topographic --rounds 2").unwrap().task, Task::Topographic);
        assert!(parse("").unwrap_err().contains("nothing"));
    }
}
