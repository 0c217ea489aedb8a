//! The contract of data sets: `lehr.datasets` 1.0. The service is in `datasets/service.rs`.
//!
//! A data set is a [`Table`] with a name. A client uploads a data set in pieces ([`Begin`], [`Append`], [`Finish`]) or
//! opens a file under the data root ([`Open`]). Another service stores a whole table ([`Put`]). Readers get a data set
//! as a handle ([`Take`]) or in pieces ([`Read`]).

pub(crate) mod contents;
pub(crate) mod root;
mod service;
mod whole;

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use lehr_methods::distances::MoleculeBits;
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

/// The pattern of a data set's name: parts separated by `/`. A part must not consist of dots only.
pub(crate) const NAME_PATTERN: &str = r"^\.*[A-Za-z0-9_-][A-Za-z0-9._-]*(/\.*[A-Za-z0-9_-][A-Za-z0-9._-]*)*$";
/// The maximum length of a name, in bytes.
pub(crate) const NAME_BYTES: usize = 200;

/// The maximum number of characters of a description.
pub(crate) const DESCRIPTION_CHARACTERS: usize = 2000;

/// The state of the service of data sets.
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
    /// The data sets that are ready, by name.
    pub datasets: BTreeMap<String, Dataset>,
    /// The uploads in progress, by the names of their future data sets.
    pub uploads: BTreeMap<String, Upload>,
    /// The number that the next stored contents get.
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
    /// The columns in order.
    pub columns: Vec<Column>,
    /// The column with the weights of the rows, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// The column with the ids of the rows, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The memory that the values take, in bytes.
    pub bytes: u64,
    /// The checksum of the contents. Equal contents have equal checksums, whatever their origin.
    pub checksum: String,
    /// The origin of the data set.
    pub source: Source,
    /// Warnings from reading the data: columns that were left out, with the reason, and ids that occur several times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The description of the columns, if the data set was read as an ordinary table (`table`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub account: Vec<ColumnFacts>,
    /// The number under which the contents of the data set are stored.
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
    /// The name of the column.
    pub name: String,
    /// The kind of the column's values.
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
    /// An upload in pieces.
    Upload {
        /// The format of the uploaded file.
        format: Form,
        /// The description that came with the upload.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
    },
    /// A file under the data root.
    File {
        /// The path of the file under the data root.
        path: String,
        /// The format of the file.
        format: Form,
    },
    /// A table from a service.
    Table,
}

/// The progress of a data set that is being created.
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
    /// All bytes have arrived, and the service is reading them.
    Reading,
    /// Reading failed; call [`Begin`] or [`Open`] again.
    Failed,
}

/// A data set that is being created.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Upload {
    /// The progress of the upload.
    pub state: UploadState,
    /// The origin of the data set.
    pub source: Source,
    /// The parts to read, and how to read them.
    pub reading: Reading,
    /// The number of bytes that have arrived. If the service keeps its data, these bytes are on disk. The next piece
    /// begins at this offset.
    pub offset: u64,
    /// The expected number of bytes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The expected SHA-256, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether to replace an existing data set of the same name.
    pub replace: bool,
    /// The reason why the upload failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The number under which the uploaded bytes are stored.
    pub(crate) content: u64,
}

/// Begins an upload, or resumes an upload that began with the same fields. The answer has the offset of the next piece.
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
    /// The format of the file.
    pub format: Form,
    /// The number of bytes of the file. The service refuses more bytes, and refuses to finish with fewer.
    #[serde(default)]
    pub bytes: Option<u64>,
    /// The SHA-256 of the file in hexadecimal digits, checked at the end.
    #[serde(default)]
    pub sha256: Option<String>,
    /// The columns to keep, in addition to weights and ids. Default: all columns; of text files, all numeric columns.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub columns: Option<Vec<String>>,
    /// The column of weights.
    #[serde(default)]
    pub weights: Option<String>,
    /// The column of ids.
    #[serde(default)]
    pub id: Option<String>,
    /// The separator of fields of a text file: one character, or `tab`. Default: detected.
    #[serde(default)]
    pub delimiter: Option<String>,
    /// Whether the first row of a text file has column names. Default: detected.
    #[serde(default)]
    pub header: Option<bool>,
    /// Whether numbers may be missing: empty fields of text files, NaN and nulls elsewhere. Default: no.
    #[serde(default)]
    pub gaps: bool,
    /// The kind of fingerprints to make of molecules. Default: `morgan`.
    #[serde(default)]
    pub fingerprint: Option<MoleculeBits>,
    /// The notation of an ordinary table, with the format `table`. Default: detected.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// Whether to replace an existing data set of this name. The existing data set stays until the new data set is
    /// complete.
    #[serde(default)]
    pub replace: bool,
    /// A description of the data, such as how they were selected from another data set. The data set keeps this text in
    /// its source.
    #[serde(default)]
    #[schemars(length(max = DESCRIPTION_CHARACTERS))]
    pub description: Option<String>,
}

impl Begin {
    /// Creates an upload from a name and a format; other fields have their defaults.
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
            fingerprint: None,
            dialect: None,
            replace: false,
            description: None,
        }
    }

    fn reading(&self) -> Reading {
        let Self { columns, weights, id, delimiter, header, gaps, fingerprint, dialect, .. } = self.clone();
        Reading { columns, weights, id, delimiter, header, gaps, fingerprint, dialect }
    }
}

/// The offset of an upload's next piece.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offset {
    /// The service has all bytes before this offset.
    pub offset: u64,
    /// The maximum size of a piece, in bytes. A node may allow less in one request body.
    pub piece_bytes_max: u64,
}

/// Adds a piece to an upload, and answers when the piece is stored. Sending a piece again changes nothing.
///
/// Over HTTP, the body may be the piece itself, as `application/octet-stream`, with `name` and `offset` in the query.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Submit, name = "append", reply = Offset, key = name, raw("application/octet-stream"))]
pub struct Append {
    /// The name of the upload.
    pub name: String,
    /// The offset of the piece, as returned by the previous answer.
    pub offset: u64,
    /// The bytes of the piece.
    pub data: Bytes,
}

/// Finishes an upload. The service checks the length and checksum of the upload, reads it, and answers when the data
/// set is ready.
///
/// # Example
/// See [`Datasets`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Submit, name = "finish", reply = Dataset, key = name)]
pub struct Finish {
    /// The name of the upload.
    pub name: String,
}

/// Reads a file under the data root, and answers when the data set is ready. If the client leaves or the deadline
/// passes first, the service discards the data set.
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
    /// The format of the file. Default: derived from the extension of the file's name.
    #[serde(default)]
    pub format: Option<Form>,
    /// The columns to keep, in addition to weights and ids. Default: all columns; of text files, all numeric columns.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub columns: Option<Vec<String>>,
    /// The column of weights.
    #[serde(default)]
    pub weights: Option<String>,
    /// The column of ids.
    #[serde(default)]
    pub id: Option<String>,
    /// The separator of fields of a text file: one character, or `tab`. Default: detected.
    #[serde(default)]
    pub delimiter: Option<String>,
    /// Whether the first row of a text file has column names. Default: detected.
    #[serde(default)]
    pub header: Option<bool>,
    /// Whether numbers may be missing: empty fields of text files, NaN and nulls elsewhere. Default: no.
    #[serde(default)]
    pub gaps: bool,
    /// The kind of fingerprints to make of molecules. Default: `morgan`.
    #[serde(default)]
    pub fingerprint: Option<MoleculeBits>,
    /// The notation of an ordinary table, with the format `table`. Default: detected.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// Whether to replace an existing data set of this name. A data set from the same file is always read again.
    #[serde(default)]
    pub replace: bool,
}

impl Open {
    /// Creates a request from a name and a path; other fields have their defaults.
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
            fingerprint: None,
            dialect: None,
            replace: false,
        }
    }

    fn reading(&self) -> Reading {
        let Self { columns, weights, id, delimiter, header, gaps, fingerprint, dialect, .. } = self.clone();
        Reading { columns, weights, id, delimiter, header, gaps, fingerprint, dialect }
    }
}

/// Stores a table as a data set.
///
/// # Example
/// See [`Take`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Submit, name = "put", reply = Dataset, key = name)]
pub struct Put {
    /// The name of the new data set.
    #[schemars(extend("pattern" = NAME_PATTERN, "maxLength" = NAME_BYTES))]
    pub name: String,
    /// The table to store.
    pub table: Handle,
    /// Whether to replace an existing data set of this name.
    #[serde(default)]
    pub replace: bool,
}

/// Returns a whole data set: as a handle within this process, or as an Arrow stream to other processes. A client gets
/// [`Code::TooLarge`](lehr_services::Code) for more than 64 MiB, and must use [`Read`].
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
    /// The name of the data set.
    pub name: String,
}

/// Returns rows of a data set. The answer may have fewer rows than requested; its field `to` says where it ends.
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
    /// The name of the data set.
    pub name: String,
    /// The columns to return, in this order. Default: all.
    #[serde(default)]
    pub columns: Option<Vec<String>>,
    /// The format of the rows. Default: JSON.
    #[serde(default)]
    pub format: RowFormat,
    /// The number of the first row, counted from 0. Default: 0.
    #[serde(default)]
    pub from: u64,
    /// The end of the rows, exclusive. Default: the number of rows of the data set.
    #[serde(default)]
    pub to: Option<u64>,
    /// Take every n-th row, beginning with the first: 16 gives a sixteenth of the rows. Default: 1, which gives all
    /// rows.
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
    /// The name of the data set.
    pub name: String,
    /// The new name, which must be free.
    #[schemars(extend("pattern" = NAME_PATTERN, "maxLength" = NAME_BYTES))]
    pub to: String,
}

/// Removes the upload with this name. If there is none, removes the data set with this name.
///
/// # Example
/// ```
/// assert!(serde_json::from_str::<lehr_jobs::datasets::Remove>(r#"{"name":"sites"}"#).is_ok());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Delete, name = "remove", key = name)]
pub struct Remove {
    /// The name of the upload or data set.
    pub name: String,
}

/// Records that an upload has grown. Subscribers receive this request after each [`Append`], without the bytes. Only
/// the service itself may send this request.
///
/// # Example
/// See [`Append`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Update, name = "grow", reply = Offset, key = name)]
pub struct Grow {
    /// The name of the upload.
    pub name: String,
    /// The offset of the piece.
    pub offset: u64,
    /// The length of the piece, in bytes.
    pub bytes: u64,
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) data: Option<Bytes>,
}

/// Records that the service starts to read an upload or a file. Only the service itself may send this request.
///
/// # Example
/// See [`Finish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Update, name = "start_reading", key = name)]
pub struct StartReading {
    /// The name of the upload or of the new data set.
    pub name: String,
    /// For a file: the path of the file, and the parts to read.
    #[serde(default)]
    pub file: Option<Upload>,
}

/// Abandons an upload or a file because the request that began it ended in an error. Only the service itself may send
/// this request.
///
/// # Example
/// See [`Finish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Delete, name = "abandon", key = name)]
pub struct Abandon {
    /// The name of the upload or of the new data set.
    pub name: String,
    /// The number under which the uploaded bytes are stored.
    pub content: u64,
}

/// Records the outcome of an upload, a file or a table. Subscribers receive this request when a data set is ready. Only
/// the service itself may send this request.
///
/// # Example
/// See [`Finish`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Datasets, verb = Upsert, name = "settle", reply = Option<Dataset>, key = name)]
pub struct Settle {
    /// The name of the data set.
    pub name: String,
    /// The data set, if reading succeeded.
    pub dataset: Option<Dataset>,
    /// The reason why reading failed.
    pub fault: Option<Fault>,
    /// Whether to replace an existing data set.
    pub replace: bool,
    /// The number of the stored bytes that the data set was read from; `None` for a table.
    pub(crate) read_from: Option<u64>,
    #[serde(skip)]
    #[schemars(skip)]
    pub(crate) table: Option<Handle>,
}
