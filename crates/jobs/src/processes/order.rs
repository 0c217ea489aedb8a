//! Orders, which tell the processes of a job what to do. An order is a set of files in a folder, or a byte sequence.
//!
//! | part of the bytes | |
//! | --- | --- |
//! | head | JSON ([`Head`]) |
//! | tables | one for each input, in the order of the head, as Arrow streams |
//! | checkpoint, log | the state that the job resumes from |
//!
//! Each part is preceded by its length in 8 little-endian bytes. A length with all bits set means that the part does
//! not exist.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use lehr_data::write::AtomicFile;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::outcome::Outcome;
use super::{CHECKPOINT, LOG, VERSION, failed};
use crate::format::arrow;
use crate::job::saved_in;
use crate::method::{Failure, Inputs};

const HEAD: &str = "order.json";

/// The length that marks a missing part.
const NONE: u64 = u64::MAX;

/// The head of an order, without the tables and the saved state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Head {
    /// The version of the node's program.
    pub version: String,
    /// A random text that no other order has.
    pub mark: String,
    /// The name of the method's contract.
    pub contract: String,
    /// The id of the job.
    pub job: String,
    /// The number of ranks in each process.
    pub threads: usize,
    pub options: Value,
    /// The method's name for each table, and the name of its data set.
    pub inputs: Vec<(String, String)>,
}

/// The part of a head that every version can read.
#[derive(Deserialize)]
struct Stated {
    version: String,
    mark: String,
}

impl Head {
    /// Reads a head, if a node of this program's version wrote it.
    fn read(text: &[u8]) -> Result<Self, Failure> {
        let Stated { version, .. } = serde_json::from_slice(text).map_err(misread)?;
        if version == VERSION {
            return serde_json::from_slice(text).map_err(misread);
        }
        Err(Failure::Environment(format!(
            "the node runs lehr {version}, and this process lehr {VERSION}: install the same version on each host"
        )))
    }

    /// Writes an order with these tables into a folder.
    pub fn write(mut self, folder: &Path, inputs: &Inputs) -> Result<(), Failure> {
        for (name, dataset, table) in inputs.iter() {
            let mut file = AtomicFile::create(&table_path(folder, name))?;
            arrow::write_to(&mut file, table).map_err(failed)?;
            file.commit()?;
            self.inputs.push((name.to_owned(), dataset.to_owned()));
        }
        let text = serde_json::to_vec(&self).map_err(|error| Failure::Internal(error.to_string()))?;
        let mut file = AtomicFile::create(&folder.join(HEAD))?;
        file.write_all(&text).map_err(|cause| file.failed(cause))?;
        Ok(file.commit()?)
    }
}

/// Returns the path of an input's table. The input's name is safe in a path, because it comes from the method's
/// declaration and not from a client.
fn table_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.arrow"))
}

/// Reads the order that a node has written into a folder, with the state from which the job resumes. The first process
/// of the job calls this function. That process sends the bytes to all processes and makes its own
/// [`Part`](super::Part) from them. `mark` is that of the order.
///
/// # Errors
/// Returns an error if the folder has no order with this mark, or if a file in it cannot be read. If the folder is the
/// node's, the error is also written into it for the node.
///
/// # Example
/// ```
/// let failure = lehr_jobs::processes::order("no/such/folder".as_ref(), "5eed").unwrap_err();
/// assert!(failure.to_string().starts_with("no/such/folder is not the folder of the node's job: "));
/// ```
pub fn order(folder: &Path, mark: &str) -> Result<Vec<u8>, Failure> {
    let text = marked(folder, mark)?;
    gathered(folder, &text).inspect_err(|failure| {
        // If the folder takes no outcome, only the message of this process reports the failure.
        let _ = Outcome::Failed(failure.clone().into()).write(folder);
    })
}

/// Reads the text of a head, and checks that this host has the folder of the node.
fn marked(folder: &Path, mark: &str) -> Result<Vec<u8>, Failure> {
    let elsewhere = |found: String| {
        Failure::Environment(format!(
            "{} is not the folder of the node's job: {found}. The first host of a job needs the node's --keep folder \
             at the same path. Share that folder between the hosts, or put the node's own host first",
            folder.display()
        ))
    };
    let file = folder.join(HEAD);
    let text = fs::read(&file).map_err(|error| elsewhere(format!("{HEAD}: {error}")))?;
    let stated: Stated = serde_json::from_slice(&text).map_err(|error| elsewhere(format!("{HEAD}: {error}")))?;
    if stated.mark == mark { Ok(text) } else { Err(elsewhere(format!("its {HEAD} is that of another job"))) }
}

fn gathered(folder: &Path, text: &[u8]) -> Result<Vec<u8>, Failure> {
    let head = Head::read(text)?;
    let mut order = Vec::new();
    add(&mut order, Some(text));
    for (name, _) in &head.inputs {
        add(&mut order, Some(&fs::read(table_path(folder, name)).map_err(failed)?));
    }
    add(&mut order, saved_in(&folder.join(CHECKPOINT), &head.job)?.bytes.as_deref());
    let log = match fs::read(folder.join(LOG)) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        log => Some(log.map_err(failed)?),
    };
    add(&mut order, log.as_deref());
    Ok(order)
}

fn add(order: &mut Vec<u8>, part: Option<&[u8]>) {
    order.extend_from_slice(&part.map_or(NONE, |part| part.len() as u64).to_le_bytes());
    order.extend_from_slice(part.unwrap_or_default());
}

/// An order, read from its bytes.
#[derive(Debug)]
pub(super) struct Order<'a> {
    pub head: Head,
    pub inputs: Inputs,
    pub checkpoint: Option<&'a [u8]>,
    pub log: Option<&'a [u8]>,
}

impl<'a> Order<'a> {
    pub fn read(mut bytes: &'a [u8]) -> Result<Self, Failure> {
        let head = Head::read(next(&mut bytes)?.ok_or_else(|| misread("it has no head"))?)?;
        let mut inputs = Inputs::default();
        for (name, dataset) in &head.inputs {
            let table = next(&mut bytes)?.ok_or_else(|| misread("a table is missing"))?;
            inputs.add(name.clone(), dataset.clone(), arrow::read(table, dataset)?);
        }
        Ok(Self { head, inputs, checkpoint: next(&mut bytes)?, log: next(&mut bytes)? })
    }
}

fn misread(reason: impl std::fmt::Display) -> Failure {
    Failure::Internal(format!("the order of the job cannot be read: {reason}"))
}

/// Removes the first part from the bytes, and returns it.
fn next<'a>(bytes: &mut &'a [u8]) -> Result<Option<&'a [u8]>, Failure> {
    let cut = || misread("it is cut");
    let (length, rest) = bytes.split_first_chunk().ok_or_else(cut)?;
    let length = u64::from_le_bytes(*length);
    *bytes = rest;
    if length == NONE {
        return Ok(None);
    }
    let (part, rest) = rest.split_at_checked(usize::try_from(length).map_err(|_| cut())?).ok_or_else(cut)?;
    *bytes = rest;
    Ok(Some(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Job;
    use crate::table::Table;

    #[test]
    fn an_order_says_the_same_on_the_other_side_and_one_that_is_cut_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let table = Table::builder().texts("id", vec!["a".into(), "b".into()]).numbers("x", vec![0.1, f64::NAN]);
        let table = table.id(Some("id".into())).gaps(true).build().unwrap();
        let inputs = Inputs::of([("points", table.clone())]);
        let options = serde_json::json!({ "stop_length": 0.1 + 0.2 });
        let (version, mark) = (VERSION.to_owned(), "5eed".to_owned());
        let head =
            Head { version, mark, contract: "c".into(), job: "c-1".into(), threads: 2, options, inputs: Vec::new() };
        head.clone().write(folder.path(), &inputs).unwrap();
        let bytes = order(folder.path(), "5eed").unwrap();
        let read = Order::read(&bytes).unwrap();
        assert_eq!(read.head, Head { inputs: vec![("points".into(), "points".into())], ..head });
        assert_eq!(read.inputs.table("points").unwrap().checksum(), table.checksum());
        assert_eq!((read.checkpoint, read.log), (None, None));
        for end in [0, 7, 20, bytes.len() - 17, bytes.len() - 1] {
            assert!(Order::read(&bytes[..end]).unwrap_err().to_string().contains("cannot be read"), "{end}");
        }
        // Save a state for the job to resume from.
        Job::kept_at(folder.path().join(CHECKPOINT)).save(b"saved").unwrap();
        fs::write(folder.path().join(LOG), b"rows").unwrap();
        let bytes = order(folder.path(), "5eed").unwrap();
        let read = Order::read(&bytes).unwrap();
        assert_eq!((read.checkpoint, read.log), (Some(&b"saved"[..]), Some(&b"rows"[..])));
        fs::write(folder.path().join(CHECKPOINT), b"12345678damaged").unwrap();
        // Before, the node checks the checkpoint and warns. If the checkpoint was damaged afterwards, the job starts
        // again and reaches the same result.
        let bytes = order(folder.path(), "5eed").unwrap();
        assert_eq!(Order::read(&bytes).unwrap().checkpoint, None);
    }

    #[test]
    fn a_folder_of_another_node_and_a_program_of_another_version_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let head = |version: &str| Head {
            version: version.into(),
            mark: "5eed".into(),
            contract: "c".into(),
            job: "c-1".into(),
            threads: 1,
            options: Value::Null,
            inputs: Vec::new(),
        };
        head(VERSION).write(folder.path(), &Inputs::default()).unwrap();
        let failure = order(folder.path(), "0ther").unwrap_err().to_string();
        assert!(failure.contains("its order.json is that of another job. The first host of a job needs"), "{failure}");
        // Nothing is written into a folder of another node.
        assert!(Outcome::read(folder.path()).unwrap().is_none());
        assert!(order(folder.path(), "5eed").is_ok());
        head("0.0.1").write(folder.path(), &Inputs::default()).unwrap();
        let failure = order(folder.path(), "5eed").unwrap_err().to_string();
        let expected = format!("the node runs lehr 0.0.1, and this process lehr {VERSION}: install the same version");
        assert!(failure.starts_with(&expected), "{failure}");
    }
}
