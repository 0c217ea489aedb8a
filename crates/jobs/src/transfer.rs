//! Data sets on their way between nodes: whole where that is allowed, in pieces where they are large.

use std::fs::File;
use std::io::{self, Read as _, Seek, SeekFrom};
use std::path::Path;

use lehr_runtime::blocking;
use lehr_services::{Code, Fault, Reference};
use sha2::{Digest, Sha256};

use crate::bytes::Bytes;
use crate::datasets::contents::digest;
use crate::datasets::{Append, Begin, Dataset, Datasets, Finish, Put, Read, Take};
use crate::format::{Form, RowFormat, arrow};
use crate::table::{Handle, Table};

/// How much is sent in one body, so that a node of default limits takes it.
const BODY_BYTES: usize = 8 << 20;

/// Fetches a data set, from here or elsewhere, whatever its size.
///
/// # Errors
/// Those of [`Take`] and [`Read`]; [`Code::PreconditionFailed`] if it has changed between two pieces.
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
        let piece = datasets.call(Read { name: name.to_owned(), format: RowFormat::Arrow, from, to: None }).await?;
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

/// Stores a table as a data set, here or elsewhere, whatever its size.
///
/// # Errors
/// Those of [`Put`], [`Begin`], [`Append`] and [`Finish`].
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

/// Uploads a file in pieces, going on where an upload of the same file under the same name was interrupted.
///
/// # Errors
/// [`Code::UnknownEntry`] if the file cannot be read; those of [`Begin`], [`Append`] and [`Finish`]. Called again, it goes on.
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
    let mut file = File::open(path).map_err(unreadable)?;
    let bytes = file.metadata().map_err(unreadable)?.len();
    let sum = blocking("a checksum", || digest(&mut file)).map_err(unreadable)?;
    let name = begin.name.clone();
    let begin = Begin { bytes: Some(bytes), sha256: Some(sum), ..begin };
    let mut offset = datasets.call(begin).await?.offset;
    while offset < bytes {
        let mut piece = vec![0; BODY_BYTES.min((bytes - offset) as usize)];
        file.seek(SeekFrom::Start(offset)).and_then(|_| file.read_exact(&mut piece)).map_err(unreadable)?;
        offset = datasets.call(Append { name: name.clone(), offset, data: piece.into() }).await?.offset;
    }
    datasets.call(Finish { name }).await
}
