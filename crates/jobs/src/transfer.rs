//! Transfers data sets between nodes: small data sets in one request, large data sets in pieces.

use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom};
use std::path::Path;

use lehr_data::read::dissimilarities::{array_path, header_from};
use lehr_runtime::blocking;
use lehr_services::{Code, Fault, Reference};
use sha2::{Digest, Sha256};

use crate::bytes::Bytes;
use crate::datasets::contents::digest;
use crate::datasets::{Append, Begin, Dataset, Datasets, Finish, Put, Read, Take};
use crate::format::{Form, HEADER_BYTES, RowFormat, arrow, fault_of};
use crate::handle::Handle;
use crate::table::Table;

/// A file to send. If its header is in a separate file, `head` has the header, which is sent first; otherwise `head` is
/// empty.
struct Sent {
    head: Vec<u8>,
    file: File,
}

impl Sent {
    /// Prepares dissimilarities: a single file with header and array, or a header with its array in another file.
    fn with_array(path: &Path, unreadable: impl Fn(io::Error) -> Fault) -> Result<Self, Fault> {
        let mut reader = io::BufReader::new(File::open(path).map_err(&unreadable)?);
        let header = header_from(&mut reader, &path.display().to_string()).map_err(|error| fault_of(&error))?;
        let mut rest = Vec::new();
        reader.take(HEADER_BYTES).read_to_end(&mut rest).map_err(&unreadable)?;
        if rest.iter().any(|byte| !byte.is_ascii_whitespace()) {
            return Ok(Self { head: Vec::new(), file: File::open(path).map_err(unreadable)? });
        }
        let array = array_path(path, &header).map_err(|error| fault_of(&error))?;
        let missing =
            |error| Fault::new(Code::UnknownEntry, format!("{}: it cannot be read: {error}", array.display()));
        let file = File::open(&array).map_err(missing)?;
        Ok(Self { head: std::fs::read(path).map_err(unreadable)?, file })
    }

    fn bytes(&self) -> io::Result<u64> {
        Ok(self.head.len() as u64 + self.file.metadata()?.len())
    }

    fn digest(&mut self) -> io::Result<String> {
        self.file.rewind()?;
        digest(&mut (&self.head[..]).chain(&mut self.file))
    }

    fn read_at(&mut self, offset: u64, piece: &mut [u8]) -> io::Result<()> {
        let head = &self.head[usize::try_from(offset).map_or(self.head.len(), |at| at.min(self.head.len()))..];
        let of_head = head.len().min(piece.len());
        let (first, second) = piece.split_at_mut(of_head);
        first.copy_from_slice(&head[..of_head]);
        self.file.seek(SeekFrom::Start(offset.saturating_sub(self.head.len() as u64)))?;
        self.file.read_exact(second)
    }
}

/// The maximum number of bytes that one request carries. A node with default limits accepts requests of this size.
const BODY_BYTES: usize = 8 << 20;

/// Fetches a data set of any size, from this node or another.
///
/// # Errors
/// Returns the errors of [`Take`] and [`Read`]; [`Code::PreconditionFailed`] if the data set changes between two
/// pieces.
///
/// # Example
/// See [`store`].
pub async fn fetch(datasets: &Reference<Datasets>, name: &str) -> Result<Table, Fault> {
    match datasets.call(Take { name: name.to_owned() }).await {
        Ok(Handle(table)) => return Ok(table),
        Err(fault) if fault.code() == Code::TooLarge => {}
        Err(fault) => return Err(fault),
    }
    let gone = || Fault::new(Code::UnknownEntry, format!("there is no data set {name:?}"));
    let before = datasets.get().await?.datasets.get(name).cloned().ok_or_else(gone)?;
    let (mut from, mut pieces) = (0, Vec::new());
    while from < before.rows {
        let piece =
            datasets.call(Read { name: name.to_owned(), format: RowFormat::Arrow, from, ..Read::default() }).await?;
        let bytes = piece.arrow.ok_or_else(|| Fault::new(Code::OperationFailed, "a piece without its rows"))?;
        pieces.push(arrow::read(bytes.as_slice(), name)?);
        from = piece.to;
    }
    let table = Table::joined(&pieces)?;
    if table.checksum() == before.checksum {
        return Ok(table);
    }
    Err(Fault::new(Code::PreconditionFailed, format!("{name:?} has changed while it was read: read it again")))
}

/// Stores a table of any size as a data set, on this node or another.
///
/// # Errors
/// Returns the errors of [`Put`], [`Begin`], [`Append`] and [`Finish`].
///
/// # Example
/// ```
/// use lehr_jobs::{DatasetService, Table, fetch, store};
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = lehr_services::Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// let here = host.start("/datasets", DatasetService::in_memory).await?;
/// let there = host.start("/elsewhere", DatasetService::in_memory).await?;
/// store(&here, "two", &Table::builder().numbers("x", vec![1.0, 2.0]).build()?, false).await?;
/// let copy = store(&there, "two", &fetch(&here, "two").await?, false).await?;
/// assert_eq!(copy.rows, 2);
/// # Ok::<(), lehr_services::Fault>(())
/// # }).unwrap();
/// ```
pub async fn store(datasets: &Reference<Datasets>, name: &str, table: &Table, replace: bool) -> Result<Dataset, Fault> {
    let name = name.to_owned();
    if datasets.is_local() || table.bytes() <= BODY_BYTES {
        return datasets.call(Put { name, table: Handle(table.clone()), replace }).await;
    }
    let bytes = arrow::write(table)?;
    let sum = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    let begin = Begin { bytes: Some(bytes.len() as u64), sha256: Some(sum), replace, ..Begin::new(&name, Form::Arrow) };
    let mut offset = datasets.call(begin).await?.offset;
    while offset < bytes.len() as u64 {
        let rest = &bytes[offset as usize..];
        let data = Bytes::from(rest[..rest.len().min(BODY_BYTES)].to_vec());
        offset = datasets.call(Append { name: name.clone(), offset, data }).await?.offset;
    }
    datasets.call(Finish { name }).await
}

/// Uploads a file in pieces, and resumes an interrupted upload of the same file under the same name. If a header of
/// dissimilarities names an array in another file, the array is sent after the header.
///
/// # Errors
/// Returns [`Code::UnknownEntry`] if the file cannot be read; the errors of [`Begin`], [`Append`] and [`Finish`]. To
/// continue the upload, call the function again.
///
/// # Example
/// ```
/// use lehr_jobs::{DatasetService, Form, datasets::Begin, upload};
/// # let folder = tempfile::tempdir().unwrap();
/// # let path = folder.path().join("sites.csv");
/// # std::fs::write(&path, "lon,lat\n8.5,47.4\n").unwrap();
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = lehr_services::Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// let datasets = host.start("/datasets", DatasetService::in_memory).await?;
/// assert_eq!(upload(&datasets, &path, Begin::new("sites", Form::Csv)).await?.rows, 1);
/// # Ok::<(), lehr_services::Fault>(())
/// # }).unwrap();
/// ```
pub async fn upload(datasets: &Reference<Datasets>, path: &Path, begin: Begin) -> Result<Dataset, Fault> {
    let unreadable =
        |error: io::Error| Fault::new(Code::UnknownEntry, format!("{}: it cannot be read: {error}", path.display()));
    let mut file = match begin.format {
        Form::Dissimilarities => Sent::with_array(path, unreadable)?,
        _ => Sent { head: Vec::new(), file: File::open(path).map_err(unreadable)? },
    };
    let bytes = file.bytes().map_err(unreadable)?;
    let sum = blocking("a checksum", || file.digest()).map_err(unreadable)?;
    let name = begin.name.clone();
    let begin = Begin { bytes: Some(bytes), sha256: Some(sum), ..begin };
    let mut offset = datasets.call(begin).await?.offset;
    while offset < bytes {
        let mut piece = vec![0; BODY_BYTES.min((bytes - offset) as usize)];
        file.read_at(offset, &mut piece).map_err(unreadable)?;
        offset = datasets.call(Append { name: name.clone(), offset, data: piece.into() }).await?.offset;
    }
    datasets.call(Finish { name }).await
}
