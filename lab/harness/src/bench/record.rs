//! A session's record on disk: the array of figures, written after each case, and beside it a description of machine
//! and programs.
//!
//! A session that is stopped, or whose machine fails, loses only the case in progress. A session with the record of an
//! earlier session continues after its last case. So the whole measurement, which takes hours, can be made in several
//! sessions. The file beside the record names each session.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::activity::Activity;
use crate::machine::Machine;

/// A record on disk: its path, and the sessions that it already contains.
#[derive(Debug)]
pub struct Kept {
    path: PathBuf,
    about: About,
}

/// `RECORD.machine.json`: machine and programs of each session, and a note for the page that is made from the record.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct About {
    /// A note for readers of the page; a person writes it, and sessions keep it.
    #[serde(default)]
    pub note: String,
    /// The sessions, in the order in which they were made.
    #[serde(default)]
    pub sessions: Vec<Taken>,
}

/// A session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Taken {
    /// The command without the options that only name places.
    pub command: String,
    /// The machine, the compilers and the commit.
    pub machine: Machine,
    /// The versions of the peers.
    pub libraries: Value,
    /// How much other programs and the host used the machine.
    pub activity: Option<Activity>,
}

impl Kept {
    /// Opens the record at `path`; returns the figures that it already has.
    ///
    /// # Errors
    /// Returns an error if the file is not a record.
    pub fn open<F: DeserializeOwned>(path: &Path, this: Taken) -> Result<(Self, Vec<F>)> {
        let figures = read(path)?.unwrap_or_default();
        let mut about: About = read(&beside(path))?.unwrap_or_default();
        about.sessions.push(this);
        Ok((Self { path: path.into(), about }, figures))
    }

    /// Returns whether an earlier session had a library of this name.
    pub fn named_before(&self, library: &str) -> bool {
        let before = self.about.sessions.split_last().map_or(&[][..], |(_, before)| before);
        before.iter().any(|taken| taken.libraries.get(library).is_some())
    }

    /// Writes the present record by a rename, so that a reader sees either the old or the new record.
    ///
    /// # Errors
    /// Returns an error if the folder does not accept the file.
    pub fn write<F: Serialize>(&mut self, figures: &[F], activity: Option<Activity>) -> Result<()> {
        if let Some(this) = self.about.sessions.last_mut() {
            this.activity = activity;
        }
        write(&self.path, &serde_json::to_string_pretty(figures)?)?;
        write(&beside(&self.path), &serde_json::to_string_pretty(&self.about)?)
    }
}

/// Returns `RECORD.machine.json` for `RECORD.json`.
fn beside(path: &Path) -> PathBuf {
    path.with_extension("machine.json")
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map(Some).with_context(|| format!("{} is no record", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    let partial = path.with_extension("partial");
    fs::create_dir_all(path.parent().unwrap_or(Path::new("")))
        .and_then(|()| fs::write(&partial, format!("{text}\n")))
        .and_then(|()| fs::rename(&partial, path))
        .with_context(|| format!("cannot write {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figure::{Figure, Place, Samples};

    fn taken(command: &str) -> Taken {
        let machine = Machine::look();
        Taken { command: command.into(), machine, libraries: Value::Null, activity: None }
    }

    #[test]
    fn a_second_session_goes_on_with_the_figures_of_the_first_and_keeps_the_note() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("local").join("ports.json");
        let libraries = serde_json::json!({ "kanal": "0.1.1" });
        let (mut first, figures) = Kept::open::<Figure>(&path, Taken { libraries, ..taken("one") }).unwrap();
        assert!(figures.is_empty() && !first.named_before("kanal"), "this session is no session before");
        let mut samples = Samples::default();
        samples.push(0.25, Place::Near);
        let figure = Figure::new("rendezvous", "shift, P = 2, 0 units", "lehr ports", "us a stage", &samples, 960.0);
        first.about.note = "by hand".into();
        first.write(std::slice::from_ref(&figure), None).unwrap();

        let (mut second, figures) = Kept::open::<Figure>(&path, taken("two")).unwrap();
        assert_eq!(figures, [figure]);
        assert!(second.named_before("kanal") && !second.named_before("tokio"));
        second.write(&figures, Some(Activity { others: [0.0, 1.0, 2.0], stolen: [0.0; 3] })).unwrap();
        let about: About = read(&beside(&path)).unwrap().unwrap();
        let commands: Vec<_> = about.sessions.iter().map(|taken| taken.command.as_str()).collect();
        assert_eq!((about.note.as_str(), &commands[..]), ("by hand", &["one", "two"][..]));
        assert_eq!(about.sessions[1].activity.unwrap().others[1], 1.0);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2, "nothing half-written stays");
    }

    #[test]
    fn another_file_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.json");
        fs::write(&path, "what I thought").unwrap();
        assert!(Kept::open::<Figure>(&path, taken("one")).unwrap_err().to_string().contains("is no record"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "what I thought");
    }
}
