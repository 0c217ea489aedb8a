//! The arguments of the commands that send requests to a node: ls, get, query, submit, watch, drop, upload.

use std::path::PathBuf;

use clap::Args;
use lehr_jobs::{Dialect, Form};
use lehr_methods::distances::MoleculeBits;

use super::positive;

/// The options of requests to a node.
#[derive(Debug, Args)]
#[command(next_help_heading = "The request")]
pub struct RequestArguments {
    /// Send the token in this file [default: the environment variable LEHR_TOKEN]
    #[arg(long, value_name = "FILE")]
    pub token: Option<PathBuf>,

    /// Wait this many seconds for an answer
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = positive)]
    pub timeout: f64,

    /// Trust nodes with certificates signed by these authorities, in PEM [default: those that this machine trusts]
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub ca: Option<PathBuf>,

    /// Send this certificate to nodes that require one, in PEM
    #[arg(long, value_name = "FILE", requires = "key", hide_short_help = true)]
    pub cert: Option<PathBuf>,

    /// Use this private key for the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "cert", hide_short_help = true)]
    pub key: Option<PathBuf>,
}

/// The arguments of `lehr ls`.
#[derive(Debug, Args)]
#[command(after_help = LS_HELP)]
pub struct LsArguments {
    /// The node
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:8420")]
    pub url: String,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// The options of requests to the node.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// The arguments of `lehr get`.
#[derive(Debug, Args)]
#[command(after_help = GET_HELP)]
pub struct GetArguments {
    /// The service
    #[arg(value_name = "URL")]
    pub url: String,

    /// Print the contract, the operations and the counters of the service instead of its state
    #[arg(long)]
    pub lookup: bool,

    /// The options of requests to the node.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// The arguments of `lehr query` and `lehr submit`.
#[derive(Debug, Args)]
#[command(after_help = SEND_HELP)]
pub struct SendArguments {
    /// The service
    #[arg(value_name = "URL")]
    pub url: String,

    /// The operation
    #[arg(value_name = "OPERATION")]
    pub operation: String,

    /// The body as JSON; - reads standard input [default: an empty body]
    #[arg(value_name = "BODY")]
    pub body: Option<String>,

    /// Send the request with this idempotency key, so that it is safe to send again
    #[arg(long, value_name = "TEXT")]
    pub idempotency_key: Option<String>,

    /// Execute the operation only if the state has this version
    #[arg(long, value_name = "N")]
    pub if_version: Option<u64>,

    /// The options of requests to the node.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// The arguments of `lehr watch`.
#[derive(Debug, Args)]
#[command(after_help = WATCH_HELP)]
pub struct WatchArguments {
    /// The service
    #[arg(value_name = "URL")]
    pub url: String,

    /// Print only changes by these operations
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub operations: Vec<String>,

    /// Print only changes of these keys
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub keys: Vec<String>,

    /// End after this many changes
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,

    /// The options of requests to the node.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// The arguments of `lehr drop`.
#[derive(Debug, Args)]
#[command(after_help = DROP_HELP)]
pub struct DropArguments {
    /// The service
    #[arg(value_name = "URL")]
    pub url: String,

    /// The options of requests to the node.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// The arguments of `lehr upload`.
#[derive(Debug, Args)]
#[command(after_help = UPLOAD_HELP)]
pub struct UploadArguments {
    /// The file: CSV, TSV, NPY, Parquet, Arrow, FASTA, FPS, SMILES or SD
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The service of data sets
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:8420/datasets")]
    pub url: String,

    /// Give the data set this name [default: the file's name up to its first dot]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Read as table (also text, dates, missing values), csv, tsv, npy, parquet, arrow, fasta, fps, smiles, sdf or
    /// dissimilarities [default: by the file's name]
    #[arg(long, value_name = "FORMAT", value_parser = form)]
    pub format: Option<Form>,

    /// Keep these columns, by name [default: all; in text files, all numeric ones]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,

    /// Use this column as sample weights
    #[arg(long, value_name = "NAME")]
    pub weights: Option<String>,

    /// Use this column as ids
    #[arg(long, value_name = "NAME")]
    pub id: Option<String>,

    /// Read empty fields of text files, NaN and nulls as missing values
    #[arg(long, alias = "gaps", conflicts_with = "weights")]
    pub missing: bool,

    /// Make these fingerprints of molecules: morgan (circular, radius 2, 2,048 bits) or maccs (166 keys) [default: morgan]
    #[arg(long, value_name = "KIND", value_parser = fingerprint)]
    pub fingerprint: Option<MoleculeBits>,

    /// Replace a data set of the same name
    #[arg(long)]
    pub replace: bool,

    /// Read an ordinary table this way, with --format table. The JSON object may have decimal, dates, encoding,
    /// skip_lines, sheet, na, as_number and as_text [default: detected]
    #[arg(long, value_name = "JSON", value_parser = dialect, hide_short_help = true)]
    pub dialect: Option<Dialect>,

    /// The options of requests to the node.
    #[command(flatten)]
    pub request: RequestArguments,
}

const LS_HELP: &str = "\
Example:
  lehr ls http://127.0.0.1:8420
      the services that you may see, with their contracts";

const GET_HELP: &str = "\
Example:
  lehr get http://127.0.0.1:8420/notes | jq .records
  lehr get --lookup http://127.0.0.1:8420/notes | jq '.contract.operations | keys'";

const SEND_HELP: &str = "\
Example:
  lehr query http://127.0.0.1:8420/notes find '{\"key\": \"loom\"}'
  lehr submit http://127.0.0.1:8420/notes insert '{\"key\": \"loom\", \"value\": {\"shafts\": 8}}'";

const WATCH_HELP: &str = "\
Example:
  lehr watch http://127.0.0.1:8420/directory --count 1";

const DROP_HELP: &str = "\
Example:
  lehr drop http://127.0.0.1:8420/notes";

const UPLOAD_HELP: &str = "\
Example:
  lehr upload blocks.csv.gz --weights pop --id geoid
      the data set \"blocks\" of the node on this machine; typed again after a break, it goes on
  lehr upload genes.fasta
      the columns id and sequence, to be compared by a service of distances; FPS files likewise
  lehr upload survey.csv --format table --id person
      an ordinary table: text, dates, money and gaps
  lehr upload genes/dissimilarities.json http://127.0.0.1:8420/datasets --name genes
      a matrix as lehr distances wrote it, with the array beside its header";

fn dialect(text: &str) -> Result<Dialect, String> {
    serde_json::from_str(text).map_err(|cause| cause.to_string())
}

fn fingerprint(text: &str) -> Result<MoleculeBits, String> {
    serde_json::from_value(text.into()).map_err(|_| "expected morgan or maccs".to_owned())
}

fn form(text: &str) -> Result<Form, String> {
    let by_name = || Form::of_name(&format!(".{text}"));
    let told = match text {
        "table" => Some(Form::Table),
        "dissimilarities" => Some(Form::Dissimilarities),
        _ => None,
    };
    told.or_else(by_name).ok_or_else(|| {
        "expected table, csv, tsv, npy, parquet, arrow, fasta, fps, smiles, sdf or dissimilarities".to_owned()
    })
}
