//! A run on disk: what it was told, which data it is of, and where it is.
//!
//! The file is two lines of text: `lehr checkpoint FORMAT xxh3 HASH`, then the content as JSON, numbers in their shortest form that reads back to the
//! same bits. It is written whole or not at all, so whatever moment a run is killed at, the last checkpoint is good.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use lehr_data::write::AtomicFile;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::Error;
use crate::vector::course::State;
use crate::vector::{METHOD, Parameters};

const MAGIC: &str = "lehr checkpoint";
/// Raised with every change of the content's meaning.
const FORMAT: u32 = 1;

/// A run that can be gone on with, on any number of ranks and under any engine, to the same bits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    pub(crate) method: String,
    pub(crate) fingerprint: u64,
    pub(crate) parameters: Parameters,
    pub(crate) state: State,
}

impl Checkpoint {
    /// The parameters of the run.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// The fingerprint of the points of the run ([`lehr_data::Points::fingerprint`]).
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Temperatures finished so far.
    pub fn temperatures(&self) -> usize {
        self.state.history.len()
    }

    /// Writes the checkpoint to `path`, whole or not at all; a file there before is replaced.
    ///
    /// # Errors
    /// [`Error::Data`] if the folder cannot be written to or the disk is full.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_framed(self, path)
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// [`Error::File`] if it cannot be read, [`Error::CheckpointVersion`] if it is of another format, [`Error::CheckpointDamaged`] if it is no
    /// checkpoint, was cut, or was changed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        read_framed(path, METHOD)
    }
}

/// Writes a state of any method: what [`read_framed`] reads. The state says its method in a field `method`.
pub(crate) fn write_framed(state: &impl Serialize, path: &Path) -> Result<(), Error> {
    let content = serde_json::to_string(state).expect("a state has string keys and finite numbers");
    let mut file = AtomicFile::create(path)?;
    let written = write!(file, "{MAGIC} {FORMAT} xxh3 {:016x}\n{content}\n", xxh3_64(content.as_bytes()));
    written.map_err(|cause| file.failed(cause))?;
    file.commit()?;
    Ok(())
}

/// Reads a state of the method named.
pub(crate) fn read_framed<T: serde::de::DeserializeOwned>(path: &Path, method: &str) -> Result<T, Error> {
    #[derive(Deserialize)]
    struct Named {
        method: String,
    }
    let damaged = |reason: &str| Error::CheckpointDamaged { path: path.into(), reason: reason.into() };
    let bytes = fs::read(path).map_err(|source| Error::File { path: path.into(), source })?;
    let text = std::str::from_utf8(&bytes).map_err(|_| damaged("it is not text"))?;
    let (head, content) = text.split_once('\n').ok_or_else(|| damaged("it has no second line"))?;
    let rest = head.strip_prefix(MAGIC).ok_or_else(|| damaged("its first line does not say \"lehr checkpoint\""))?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [format, "xxh3", hash] = words[..] else {
        return Err(damaged("its first line is not a format and a hash"));
    };
    if format != FORMAT.to_string() {
        return Err(Error::CheckpointVersion { path: path.into(), found: format.into(), expected: FORMAT });
    }
    let content = content.strip_suffix('\n').ok_or_else(|| damaged("its end is missing"))?;
    if hash != format!("{:016x}", xxh3_64(content.as_bytes())) {
        return Err(damaged("its content does not match its hash"));
    }
    let named: Named = serde_json::from_str(content).map_err(|error| damaged(&error.to_string()))?;
    if named.method != method {
        return Err(damaged(&format!("it is of the method {:?}, not {method:?}", named.method)));
    }
    serde_json::from_str(content).map_err(|error| damaged(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anneal::{Control, Observer, Progress};
    use crate::vector::cluster;
    use crate::{Error, Execution};

    #[test]
    fn a_checkpoint_of_another_method_is_refused() {
        #[derive(Default)]
        struct First(Option<Checkpoint>);
        impl Observer for First {
            fn progress(&mut self, _: &Progress<'_>) -> Control {
                Control::Stop
            }
            fn checkpoint(&mut self, checkpoint: &Checkpoint) {
                self.0 = Some(checkpoint.clone());
            }
        }
        let points = lehr_data::Points::new(vec![0.0, 1.0, 5.0], 1).unwrap();
        let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
        let mut first = First::default();
        assert!(matches!(cluster(&points, &parameters, &Execution::default(), &mut first), Err(Error::Stopped)));
        let other = Checkpoint { method: "pairwise".into(), ..first.0.unwrap() };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        other.write(&path).unwrap();
        let error = Checkpoint::read(&path).unwrap_err();
        assert!(error.to_string().contains("of the method \"pairwise\", not \"vector\""), "{error}");
    }
}
