//! The contract of data sets: `lehr.datasets` 1.0. `datasets/service.rs` has the code behind it.
//!
//! A data set is a [`Table`] with a name. It comes in three ways: in pieces ([`Begin`], [`Append`], [`Finish`]), as a file under the data
//! root ([`Open`]), or whole from a service ([`Put`]). It leaves by its handle ([`Take`]) or in pieces of rows
//! ([`Read`]).

pub(crate) mod contents;
pub(crate) mod root;
mod service;
mod whole;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use lehr_services::{Contract, Fault, Operation, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::bytes::Bytes;
use crate::format::{ColumnFacts, Dialect, Form, Piece, Reading, RowFormat};
use crate::handle::Handle;
use crate::table::{Kind, Table};

pub(crate) use contents::digest;
pub(crate) use service::check_name;
pub use service::{DatasetService, Limits};
pub use whole::UploadFile;

/// A data set's name: parts with `/` between them, none of dots alone.
pub(crate) const NAME_PATTERN: &str = r"^\.*[A-Za-z0-9_-][A-Za-z0-9._-]*(/\.*[A-Za-z0-9_-][A-Za-z0-9._-]*)*$";
/// The largest number of bytes that it has.
pub(crate) const NAME_BYTES: usize = 200;

/// The state of a service of data sets.
///
/// # Example
/// ```
/// use lehr_jobs::{Bytes, DatasetService, Form, datasets::{Append, Begin, Finish, Read}};
/// use lehr_services::{Fault, Host};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// lehr_runtime::block_on(async {
///     let datasets = host.start("/datasets", DatasetService::in_memory).await?;
///     datasets.call(Begin::new("sites", Form::Csv)).await?;
///     let data = Bytes::from(b"lon,lat\n8.5,47.4\n6.1,46.2\n".to_vec());
///     datasets.call(Append { name: "sites".into(), offset: 0, data }).await?;
///     let sites = datasets.call(Finish { name: "sites".into() }).await?;
///     assert_eq!((sites.rows, sites.columns[1].name.as_str()), (2, "lat"));
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Datasets {
    /// Data sets that can be used, by name.
    pub datasets: BTreeMap<String, Dataset>,
    /// The uploads under way, by the names that their data sets will have.
    pub uploads: BTreeMap<String, Upload>,
    /// The number that the next content gets.
    pub(crate) next: u64,
}

impl Contract for Datasets {
    const NAME: &'static str = "lehr.datasets";
    const VERSION: Version = Version::new(1, 0);
}

/// A data set.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Dataset {
    /// The number of rows.
    pub rows: u64,
    /// Its columns in order.
    pub columns: Vec<Column>,
    /// The column of weights, if one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// The column of ids, if one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The memory that its values take.
    pub bytes: u64,
    /// The checksum of the content: equal contents have equal ones, whatever their origin.
    pub checksum: String,
    /// Its origin.
    pub source: Source,
    /// Warnings of its reading: columns that were left out and why, ids that several rows have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The account of its columns, where it was read as an ordinary table (`table`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub account: Vec<ColumnFacts>,
    /// The number of its content.
    pub(crate) content: u64,
}

impl Dataset {
    pub(crate) fn new(table: &Table, source: Source) -> Self {
        let columns = table.columns().map(|(name, kind)| Column { name: name.to_owned(), kind });
        Self {
            rows: table.rows() as u64,
            columns: columns.collect(),
            weights: table.weights().map(str::to_owned),
            id: table.id().map(str::to_owned),
            bytes: table.bytes() as u64,
            checksum: table.checksum(),
            source,
            warnings: Vec::new(),
            account: Vec::new(),
            content: 0,
        }
    }
}

/// A column of a data set.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: Kind,
}

/// The origin of a data set.
///
/// # Example
/// ```
/// use lehr_jobs::{Form, datasets::Source};
/// let source = Source::File { path: "blocks.csv".into(), format: Form::Csv };
/// assert_eq!(serde_json::to_string(&source).unwrap(), r#"{"file":{"path":"blocks.csv","format":"csv"}}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// In pieces.
    Upload {
        /// The format of the pieces together.
        format: Form,
    },
    /// A file under the data root.
    File {
        /// Its path there.
        path: String,
        /// The format of the file.
        format: Form,
    },
    /// A table of a service.
    Table,
}

/// The progress of a data set that is coming in.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::datasets::UploadState::Uploading).unwrap(), "\"uploading\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UploadState {
    /// More pieces are expected.
    Uploading,
    /// All is there, and is being read.
    Reading,
    /// It could not be read; [`Begin`] or [`Open`] again.
    Failed,
}

/// A data set that is coming in.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Upload {
    /// The progress.
    pub state: UploadState,
    /// Its origin.
    pub source: Source,
    /// The parts to read from it.
    pub reading: Reading,
    /// The number of bytes that are there, on disk if the service keeps its data: where the next piece begins.
    pub offset: u64,
    /// The expected number, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Their SHA-256, if it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether it may take the place of a data set of the same name.
    pub replace: bool,
    /// The reason why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The number of its bytes.
    pub(crate) content: u64,
}

/// Begins an upload, or resumes one that was begun with the same words. The answer says where its next piece begins.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[serde(deny_unknown_fields)]
#[operation(contract = Datasets, verb = Insert, name = "begin", reply = Offset, key = name)]
pub struct Begin {
    /// The name of the new data set: letters, digits, `.`, `_`, `-`, in parts with `/` between them.
    #[schemars(extend("pattern" = NAME_PATTERN, "maxLength" = NAME_BYTES))]
    pub name: String,
    /// The format of its bytes.
    pub format: Form,
    /// The number of them: more are refused, and fewer at the end.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// Their SHA-256 in hexadecimal digits, checked at the end.
    #[serde(default)]
    pub sha256: Option<String>,
    /// The columns to keep, in addition to weights and ids. Default: all; of text files, all of numbers.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub columns: Option<Vec<String>>,
    /// The column of weights.
    #[serde(default)]
    pub weights: Option<String>,
    /// The column of ids.
    #[serde(default)]
    pub id: Option<String>,
    /// The separator of fields of a text file: one character, or `tab`. Default: found out.
    #[serde(default)]
    pub delimiter: Option<String>,
    /// Whether the first row of a text file has names. Default: found out.
    #[serde(default)]
    pub header: Option<bool>,
    /// Whether numbers may be missing: empty fields of text files, NaN and nulls elsewhere. Default: no.
    #[serde(default)]
    pub gaps: bool,
    /// How an ordinary table is written, with the format `table`. Default: found out.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// Whether a data set of this name may be there; it stays until the new one is complete.
    #[serde(default)]
    pub replace: bool,
}

impl Begin {
    /// An upload that has only a name and a form so far.
    ///
    /// # Example
    /// See [`Datasets`].
    pub fn new(name: impl Into<String>, format: Form) -> Self {
        Self {
            name: name.into(),
            format,
            bytes: None,
            sha256: None,
            columns: None,
            weights: None,
            id: None,
            delimiter: None,
            header: None,
            gaps: false,
            dialect: None,
            replace: false,
        }
    }

    fn reading(&self) -> Reading {
        let Self { columns, weights, id, delimiter, header, gaps, dialect, .. } = self.clone();
        Reading { columns, weights, id, delimiter, header, gaps, dialect }
    }
}

/// The offset of an upload's next piece.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offset {
    /// The bytes before it are there, and are kept.
    pub offset: u64,
    /// The largest number of bytes of a piece; a node may take less in one body.
    pub piece_bytes_max: u64,
}

/// Adds a piece. It is acknowledged when it is kept. A piece that was there already changes nothing.
///
/// Over HTTP the body may be the piece itself, as `application/octet-stream`, with `name` and `offset` in the query.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Submit, name = "append", reply = Offset, key = name, raw("application/octet-stream"))]
pub struct Append {
    /// The upload.
    pub name: String,
    /// The first byte of the piece: the offset of the last answer.
    pub offset: u64,
    /// The bytes.
    pub data: Bytes,
}

/// Ends an upload: checks its length and checksum, reads it, and answers when it can be used.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Submit, name = "finish", reply = Dataset, key = name)]
pub struct Finish {
    /// The upload.
    pub name: String,
}

/// Reads a file under the data root, and answers when it can be used.
///
/// # Example
/// ```
/// # use lehr_jobs::{DatasetService, Limits, datasets::Open};
/// # let folder = tempfile::tempdir().unwrap();
/// # let root = folder.path();
/// # std::fs::write(root.join("sites.csv"), "lon,lat\n8.5,47.4\n").unwrap();
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = lehr_services::Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// let service = DatasetService::new(Limits { root: Some(root.into()), ..Limits::default() })?;
/// let datasets = host.start("/datasets", move || service.clone()).await?;
/// assert_eq!(datasets.call(Open::new("sites", "sites.csv")).await?.rows, 1);
/// assert!(datasets.call(Open::new("passwords", "../etc/passwd")).await.is_err());
/// # Ok::<(), lehr_services::Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[serde(deny_unknown_fields)]
#[operation(contract = Datasets, verb = Submit, name = "open", reply = Dataset, key = name)]
pub struct Open {
    /// The name of the new data set.
    #[schemars(extend("pattern" = NAME_PATTERN, "maxLength" = NAME_BYTES))]
    pub name: String,
    /// The file, relative to the data root.
    pub path: String,
    /// The format of the file. Default: by the ending of its name.
    #[serde(default)]
    pub format: Option<Form>,
    /// The columns to keep, in addition to weights and ids. Default: all columns; of text files, all numeric ones.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub columns: Option<Vec<String>>,
    /// The column of weights.
    #[serde(default)]
    pub weights: Option<String>,
    /// The column of ids.
    #[serde(default)]
    pub id: Option<String>,
    /// The separator of fields of a text file: one character, or `tab`. Default: found out.
    #[serde(default)]
    pub delimiter: Option<String>,
    /// Whether the first row of a text file has names. Default: found out.
    #[serde(default)]
    pub header: Option<bool>,
    /// Whether numbers may be missing: empty fields of text files, NaN and nulls elsewhere. Default: no.
    #[serde(default)]
    pub gaps: bool,
    /// How an ordinary table is written, with the format `table`. Default: found out.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// Whether another data set of this name may be there. One that came from the same file is read again.
    #[serde(default)]
    pub replace: bool,
}

impl Open {
    /// A file that has only a path so far.
    ///
    /// # Example
    /// See [`Open`].
    pub fn new(name: impl Into<String>, path: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            path: path.into(),
            format: None,
            columns: None,
            weights: None,
            id: None,
            delimiter: None,
            header: None,
            gaps: false,
            dialect: None,
            replace: false,
        }
    }

    fn reading(&self) -> Reading {
        let Self { columns, weights, id, delimiter, header, gaps, dialect, .. } = self.clone();
        Reading { columns, weights, id, delimiter, header, gaps, dialect }
    }
}

/// Stores a table as a data set.
///
/// # Example
/// See [`Take`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Submit, name = "put", reply = Dataset, key = name)]
pub struct Put {
    /// The name that it will have.
    #[schemars(extend("pattern" = NAME_PATTERN, "maxLength" = NAME_BYTES))]
    pub name: String,
    /// The table.
    pub table: Handle,
    /// Whether a data set of this name may be there.
    #[serde(default)]
    pub replace: bool,
}

/// Asks for the whole of a data set: by its handle in this process, as an Arrow stream elsewhere.
///
/// # Example
/// ```
/// # use lehr_jobs::{DatasetService, Handle, Table, datasets::{Put, Take}};
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = lehr_services::Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// # let datasets = host.start("/datasets", DatasetService::in_memory).await?;
/// let table = Table::builder().numbers("x", vec![1.0, 2.0]).build()?;
/// datasets.call(Put { name: "two".into(), table: Handle(table.clone()), replace: false }).await?;
/// assert_eq!(datasets.call(Take { name: "two".into() }).await?.0, table);
/// # Ok::<(), lehr_services::Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Query, name = "take", reply = Handle, key = name)]
pub struct Take {
    /// The data set.
    pub name: String,
}

/// Asks for rows of a data set. The answer may have fewer rows than requested; it says where it ends.
///
/// # Example
/// ```
/// # use lehr_jobs::{DatasetService, Handle, RowFormat, Table, datasets::{Put, Read}};
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = lehr_services::Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// # let datasets = host.start("/datasets", DatasetService::in_memory).await?;
/// # let table = Table::builder().numbers("x", vec![1.0, 2.5]).build()?;
/// # datasets.call(Put { name: "two".into(), table: Handle(table.clone()), replace: false }).await?;
/// let read = Read { name: "two".into(), format: RowFormat::Csv, ..Read::default() };
/// assert_eq!(datasets.call(read).await?.csv.unwrap(), "x\n1\n2.5\n");
/// # Ok::<(), lehr_services::Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Query, name = "read", reply = Piece, key = name)]
pub struct Read {
    /// The data set.
    pub name: String,
    /// The columns, in this order. Default: all.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// In which form. Default: JSON.
    #[serde(default)]
    pub format: RowFormat,
    /// The first row, from 0. Default: 0.
    #[serde(default)]
    pub from: u64,
    /// The row after the last one. Default: all.
    #[serde(default)]
    pub to: Option<u64>,
    /// Take only every so-many-th row, from the first on: 16 gives a sample of a sixteenth. Default: each row.
    #[serde(default)]
    pub every: Option<NonZeroU64>,
}

/// Renames a data set.
///
/// # Example
/// ```
/// let rename = lehr_jobs::datasets::Rename { name: "clustering-1/labels".into(), to: "regions".into() };
/// assert_eq!(serde_json::to_string(&rename).unwrap(), r#"{"name":"clustering-1/labels","to":"regions"}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Update, name = "rename", key = name)]
pub struct Rename {
    /// The data set.
    pub name: String,
    /// Its new name, which nothing has yet.
    #[schemars(extend("pattern" = NAME_PATTERN, "maxLength" = NAME_BYTES))]
    pub to: String,
}

/// Removes the upload under a name, or else the data set.
///
/// # Example
/// ```
/// assert!(serde_json::from_str::<lehr_jobs::datasets::Remove>(r#"{"name":"sites"}"#).is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Delete, name = "remove", key = name)]
pub struct Remove {
    /// The name.
    pub name: String,
}

/// The growth of an upload: subscribers receive this for each [`Append`], without its bytes. The service sends it to
/// itself; from others it is refused.
///
/// # Example
/// See [`Append`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Update, name = "grow", reply = Offset, key = name)]
pub struct Grow {
    /// The upload.
    pub name: String,
    /// The offset of the piece.
    pub offset: u64,
    /// The length of the piece.
    pub bytes: u64,
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) data: Option<Bytes>,
}

/// Tells the service that an upload or a file is being read now. The service sends it to itself; from others it is
/// refused.
///
/// # Example
/// See [`Finish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Update, name = "start_reading", key = name)]
pub struct StartReading {
    /// The name.
    pub name: String,
    /// For a file: where it is, and which parts to read.
    #[serde(default)]
    pub file: Option<Upload>,
}

/// Tells the service that an upload or a file is no longer wanted, because the request that it began with has ended in
/// an error. The service sends it to itself; from others it is refused.
///
/// # Example
/// See [`Finish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Delete, name = "abandon", key = name)]
pub struct Abandon {
    /// The name.
    pub name: String,
    /// The number of the bytes that it is read from.
    pub content: u64,
}

/// The outcome of an upload, a file or a table: subscribers receive it when a data set can be used. The service sends
/// it to itself; from others it is refused.
///
/// # Example
/// See [`Finish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Upsert, name = "settle", reply = Option<Dataset>, key = name)]
pub struct Settle {
    /// The name.
    pub name: String,
    /// The data set, if it can be used.
    pub dataset: Option<Dataset>,
    /// The reason why it cannot.
    pub fault: Option<Fault>,
    /// Whether it may take another's place.
    pub replace: bool,
    /// The number of the bytes that it was read from; none for a table.
    pub(crate) read_from: Option<u64>,
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) table: Option<Handle>,
}
