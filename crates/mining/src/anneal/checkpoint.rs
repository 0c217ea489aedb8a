//! Checkpoints: the parameters of a run, the fingerprint of its data, and its state, as a file.
//!
//! The file has two lines of text. The first is `lehr checkpoint FORMAT xxh3 HASH`; the second is the content as JSON.
//! Each number has the shortest form that reads back to the same bits. The file is written atomically, so a run that is
//! killed always leaves a valid checkpoint.

use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use lehr_data::write::AtomicFile;
use lehr_ranks::observe::AnyCheckpoint;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::Error;

const MAGIC: &str = "lehr checkpoint";

/// Parameters of a method whose runs can be resumed. Other crates can name this trait, but cannot create a
/// [`Checkpoint`].
pub trait Resumable: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The method's name in a checkpoint.
    const NAME: &'static str;
    /// The format number, raised whenever the meaning of the parameters or of the state changes. A checkpoint in
    /// another format is therefore refused by its number, not because of a missing field.
    const FORMAT: u32;
    /// The whole state of a run.
    type State: Clone + fmt::Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static;
}

/// A run that can be resumed on any number of ranks and under any engine, with bit-identical results. `M` is the type
/// of the method's parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Checkpoint<M: Resumable> {
    method: String,
    fingerprint: u64,
    parameters: M,
    pub(crate) state: M::State,
}

impl<M: Resumable> Checkpoint<M> {
    pub(crate) fn new(fingerprint: u64, parameters: M, state: M::State) -> Self {
        Self { method: M::NAME.into(), fingerprint, parameters, state }
    }

    /// Returns the state if the checkpoint was written for data with this fingerprint.
    pub(crate) fn state_on(self, data: u64) -> Result<M::State, Error> {
        if self.fingerprint != data {
            return Err(Error::OtherData { checkpoint: self.fingerprint, data });
        }
        Ok(self.state)
    }

    /// The parameters of the run.
    pub fn parameters(&self) -> &M {
        &self.parameters
    }

    /// The fingerprint of the run's data. For points, it is usually [`lehr_data::Points::fingerprint`]. With
    /// [`vector`](crate::vector), it may be that of converted rows, for example of a wide table. With
    /// [`minibatch`](crate::minibatch), it covers all batches so far.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Writes the checkpoint to `path` atomically, replacing an existing file.
    ///
    /// # Errors
    /// Returns [`Error::Data`] if the folder cannot be written to or the disk is full.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        write_framed(self, M::FORMAT, path)
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// Returns [`Error::File`] if the file cannot be read, and [`Error::CheckpointVersion`] if it has another format.
    /// Returns [`Error::CheckpointDamaged`] if it is not a checkpoint of this method, or if it was truncated or
    /// changed.
    pub fn read(path: &Path) -> Result<Self, Error> {
        read_framed(path, M::NAME, M::FORMAT)
    }

    /// Reads and checks a checkpoint's file, and returns its content, which is the input of [`of_json`](Self::of_json).
    ///
    /// # Errors
    /// Returns the same errors as [`read`](Self::read).
    pub fn read_json(path: &Path) -> Result<Vec<u8>, Error> {
        Ok(read_content(path, M::NAME, M::FORMAT)?.into_bytes())
    }

    /// Parses a checkpoint from its content.
    ///
    /// # Errors
    /// Returns [`Error::CheckpointDamaged`] if the fields do not match. It does not check the method's name or the
    /// format number, so pass only content from [`read_json`](Self::read_json).
    pub fn of_json(content: &[u8]) -> Result<Self, Error> {
        let damaged =
            |error: serde_json::Error| Error::CheckpointDamaged { path: "".into(), reason: error.to_string() };
        serde_json::from_slice(content).map_err(damaged)
    }

    /// Whether the file at `path` is a checkpoint of this method, in any format. This is for programs that can resume
    /// runs of several methods. For an invalid file, [`read`](Self::read) reports the error.
    pub fn is_at(path: &Path) -> bool {
        let read = |path| Some(fs::read_to_string(path).ok()?.split_once('\n')?.1.to_owned());
        read(path)
            .and_then(|content| serde_json::from_str(&content).ok())
            .is_some_and(|Named { method }| method == M::NAME)
    }
}

impl<M: Resumable> AnyCheckpoint for Checkpoint<M> {
    fn write(&self, path: &Path) -> io::Result<()> {
        Checkpoint::write(self, path).map_err(io::Error::other)
    }

    fn to_json(&self) -> io::Result<Vec<u8>> {
        Ok(serde_json::to_vec(self)?)
    }
}

/// The field that the checkpoints of all methods have.
#[derive(Deserialize)]
struct Named {
    method: String,
}

/// Writes the state of any method in the form that [`read_framed`] reads. The state's field `method` names the method.
fn write_framed(state: &impl Serialize, format: u32, path: &Path) -> Result<(), Error> {
    let content = serde_json::to_string(state).expect("a state has string keys and finite numbers");
    let mut file = AtomicFile::create(path)?;
    let written = write!(file, "{MAGIC} {format} xxh3 {:016x}\n{content}\n", xxh3_64(content.as_bytes()));
    written.map_err(|cause| file.failed(cause))?;
    file.commit()?;
    Ok(())
}

/// Reads a state of the named method, in the format `expected`.
fn read_framed<T: DeserializeOwned>(path: &Path, method: &str, expected: u32) -> Result<T, Error> {
    let content = read_content(path, method, expected)?;
    serde_json::from_str(&content)
        .map_err(|error| Error::CheckpointDamaged { path: path.into(), reason: error.to_string() })
}

/// Returns the content of a file after checking its hash, its method and its format.
fn read_content(path: &Path, method: &str, expected: u32) -> Result<String, Error> {
    let damaged = |reason: &str| Error::CheckpointDamaged { path: path.into(), reason: reason.into() };
    let bytes = fs::read(path).map_err(|source| Error::File { path: path.into(), source })?;
    let text = std::str::from_utf8(&bytes).map_err(|_| damaged("it is not text"))?;
    let (head, content) = text.split_once('\n').ok_or_else(|| damaged("it has no second line"))?;
    let rest = head.strip_prefix(MAGIC).ok_or_else(|| damaged("its first line does not say \"lehr checkpoint\""))?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let [format, "xxh3", hash] = words[..] else {
        return Err(damaged("its first line is not a format and a hash"));
    };
    let sound = || {
        let content = content.strip_suffix('\n').ok_or_else(|| damaged("its end is missing"))?;
        if hash != format!("{:016x}", xxh3_64(content.as_bytes())) {
            return Err(damaged("its content does not match its hash"));
        }
        let named: Named = serde_json::from_str(content).map_err(|error| damaged(&error.to_string()))?;
        Ok((content, named.method))
    };
    // Each method numbers its own formats, so the method is checked before the format.
    let content = match sound() {
        Ok((_, other)) if other != method => {
            return Err(damaged(&format!("it is of the method {other:?}, not {method:?}")));
        }
        _ if format != expected.to_string() => {
            return Err(Error::CheckpointVersion { path: path.into(), found: format.into(), expected });
        }
        sound => sound?.0,
    };
    Ok(content.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct One;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Other;

    impl Resumable for One {
        const NAME: &'static str = "one";
        const FORMAT: u32 = 1;
        type State = u64;
    }

    impl Resumable for Other {
        const NAME: &'static str = "other";
        const FORMAT: u32 = 2;
        type State = u64;
    }

    #[test]
    fn a_checkpoint_of_another_method_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        Checkpoint::new(7, Other, 5).write(&path).unwrap();
        let error = Checkpoint::<One>::read(&path).unwrap_err();
        assert!(error.to_string().contains("of the method \"other\", not \"one\""), "{error}");
        assert!(!Checkpoint::<One>::is_at(&path) && !Checkpoint::<One>::is_at(folder.path()));
        let written = Checkpoint::new(7, One, 5);
        written.write(&path).unwrap();
        assert!(Checkpoint::<One>::is_at(&path));
        assert_eq!(Checkpoint::<One>::read(&path).unwrap(), written);
        assert!(matches!(written.state_on(8), Err(Error::OtherData { checkpoint: 7, data: 8 })));
    }
}
