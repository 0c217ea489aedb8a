//! The record on disk: the array of figures, written after each case, and `RECORD.machine.json` beside it, with a session each time that it was gone on with.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::figure::Figure;
use crate::bench::activity::Activity;
use crate::machine::Machine;

/// Where figures are kept, and what is known of the sessions that they are from.
#[derive(Debug)]
pub struct Record {
    path: PathBuf,
    about: About,
}

/// What the figures were taken on.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct About {
    /// What a reader of the page should know; written by hand and kept.
    #[serde(default)]
    note: String,
    /// Oldest first.
    #[serde(default)]
    sessions: Vec<Value>,
}

impl Record {
    /// Opens the record at `path` for another session; gives the figures that it has already.
    ///
    /// # Errors
    /// A file that is no record.
    pub fn open(path: &Path, command: &str, machine: &Machine, launcher: Option<&str>) -> Result<(Self, Vec<Figure>)> {
        let figures = read(path)?.unwrap_or_default();
        let mut about: About = read(&beside(path))?.unwrap_or_default();
        about.sessions.push(json!({
            "command": command,
            "machine": machine,
            "libraries": launcher.map_or_else(|| json!({}), |version| json!({ "mpiexec": version })),
            "activity": null,
        }));
        Ok((Self { path: path.into(), about }, figures))
    }

    /// Writes the record as it is now, by rename: a reader sees the old one or the new one.
    ///
    /// # Errors
    /// If the folder takes no file.
    pub fn write(&mut self, figures: &[Figure], activity: Option<Activity>) -> Result<()> {
        if let Some(session) = self.about.sessions.last_mut() {
            session["activity"] = json!(activity);
        }
        write(&self.path, &serde_json::to_string_pretty(figures)?)?;
        write(&beside(&self.path), &serde_json::to_string_pretty(&self.about)?)
    }
}

fn beside(path: &Path) -> PathBuf {
    path.with_extension("machine.json")
}

fn read<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Option<T>> {
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

    #[test]
    fn a_second_session_goes_on_with_the_figures_of_the_first_and_keeps_the_note() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("local").join("overhead.json");
        let machine = Machine::look();
        let (mut first, figures) = Record::open(&path, "one", &machine, Some("MPICH 5")).unwrap();
        assert!(figures.is_empty());
        let figure = Figure::new("overhead", "N = 10, K = 2", "ranks 2x1x1", "1", vec![0.1]);
        first.about.note = "by hand".into();
        first.write(std::slice::from_ref(&figure), None).unwrap();
        let (mut second, figures) = Record::open(&path, "two", &machine, None).unwrap();
        assert_eq!(figures, [figure]);
        second.write(&figures, None).unwrap();
        let about: About = read(&beside(&path)).unwrap().unwrap();
        let commands: Vec<&str> = about.sessions.iter().filter_map(|session| session["command"].as_str()).collect();
        assert_eq!((about.note.as_str(), &commands[..]), ("by hand", &["one", "two"][..]));
        assert_eq!(about.sessions[0]["libraries"]["mpiexec"], "MPICH 5");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 2, "nothing half-written stays");
    }

    #[test]
    fn another_file_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.json");
        fs::write(&path, "what I thought").unwrap();
        let error = Record::open(&path, "one", &Machine::look(), None).unwrap_err();
        assert!(error.to_string().contains("is no record"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "what I thought");
    }
}
