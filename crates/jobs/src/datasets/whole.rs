//! Creates a data set from a file that fits into one request.

use lehr_methods::distances::MoleculeBits;
use lehr_runtime::blocking;
use lehr_services::{Call, Code, Fault, Independent, Operation};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::service::{Begun, PIECE_BYTES, finished};
use super::{Begin, DESCRIPTION_CHARACTERS, Dataset, DatasetService, Datasets, Grow};
use crate::bytes::Bytes;
use crate::format::{Dialect, Form};

/// Uploads a whole file, and answers when the data set is ready. To upload larger files in pieces, use [`Begin`].
///
/// Over HTTP, the body may be the file itself, with the other fields in the query:
///
/// ```console
/// $ curl -H 'content-type: text/csv' --data-binary @sites.csv 'http://127.0.0.1:8420/datasets:upload?name=sites'
/// ```
///
/// The media type gives the format: `text/csv`, `text/tab-separated-values`, `application/x-npy`,
/// `application/vnd.apache.parquet`, `application/vnd.apache.arrow.stream` or `.file`. With `application/octet-stream`,
/// the field `format` gives the format. Text files and NPY files may be compressed with gzip.
///
/// # Example
/// ```
/// use lehr_jobs::{DatasetService, datasets::UploadFile};
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = lehr_services::Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// let datasets = host.start("/datasets", DatasetService::in_memory).await?;
/// let file = UploadFile::new("sites", "text/csv", b"lon,lat\n8.5,47.4\n".to_vec());
/// assert_eq!(datasets.call(file).await?.rows, 1);
/// # Ok::<(), lehr_services::Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[serde(deny_unknown_fields)]
#[operation(
    contract = Datasets,
    verb = Submit,
    name = "upload",
    reply = Dataset,
    key = name,
    raw(
        "text/csv",
        "text/tab-separated-values",
        "application/x-npy",
        "application/vnd.apache.parquet",
        "application/vnd.apache.arrow.stream",
        "application/vnd.apache.arrow.file",
        "application/octet-stream",
    )
)]
pub struct UploadFile {
    /// The name of the new data set.
    pub name: String,
    /// The contents of the file.
    pub data: Bytes,
    /// The format of the file, as a media type.
    #[serde(default)]
    pub media_type: Option<String>,
    /// The format of the file. This field overrides the media type.
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
    /// Whether to replace an existing data set of this name. The existing data set stays until the new data set is
    /// complete.
    #[serde(default)]
    pub replace: bool,
    /// A description of the data. The data set keeps this text in its source.
    #[serde(default)]
    #[schemars(length(max = DESCRIPTION_CHARACTERS))]
    pub description: Option<String>,
}

impl UploadFile {
    /// Creates a request from a name, a media type and the file; other fields have their defaults.
    ///
    /// # Example
    /// See [`UploadFile`].
    pub fn new(name: impl Into<String>, media_type: impl Into<String>, data: impl Into<Bytes>) -> Self {
        Self {
            name: name.into(),
            data: data.into(),
            media_type: Some(media_type.into()),
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
            description: None,
        }
    }

    fn form(&self) -> Result<Form, Fault> {
        let said = self.media_type.as_deref();
        self.format.or_else(|| Form::of_media_type(said?)).ok_or_else(|| {
            let found = said.map_or("none".to_owned(), |said| format!("{said:?}"));
            let reason = format!(
                "format: expected csv, tsv, npy, parquet, arrow, fasta, fps, smiles, sdf or dissimilarities, since the media type ({found}) does not say"
            );
            Fault::new(Code::InvalidValue, reason)
        })
    }
}

impl Independent<UploadFile> for DatasetService {
    async fn handle(file: UploadFile, call: &Call) -> Result<Dataset, Fault> {
        let format = file.form()?;
        let (name, data) = (file.name, file.data);
        let all = data.as_slice().len() as u64;
        let sum = blocking("a checksum", || Sha256::digest(data.as_slice()));
        // The checksum ensures that an interrupted upload is resumed only with the same file.
        let sha256 = Some(sum.iter().map(|byte| format!("{byte:02x}")).collect());
        let bytes = Some(all);
        let begin = Begin {
            bytes,
            sha256,
            columns: file.columns,
            weights: file.weights,
            id: file.id,
            delimiter: file.delimiter,
            header: file.header,
            gaps: file.gaps,
            fingerprint: file.fingerprint,
            dialect: file.dialect,
            replace: file.replace,
            description: file.description,
            ..Begin::new(&name, format)
        };
        let own = call.own::<Datasets>()?;
        let (begun_at, begun) = Begun::by(call, begin, name.clone()).await?;
        let mut offset = begun_at.offset;
        while offset < all {
            let end = all.min(offset + PIECE_BYTES);
            let is_whole = offset == 0 && end == all;
            let piece = if is_whole {
                data.clone()
            } else {
                Bytes::from(data.as_slice()[offset as usize..end as usize].to_vec())
            };
            let grow = Grow { name: name.clone(), offset, bytes: end - offset, data: Some(piece) };
            offset = own.call(grow).await?.offset;
        }
        let dataset = finished(own, name).await?;
        if let Some(begun) = begun {
            begun.keep();
        }
        Ok(dataset)
    }
}
