//! What `lehr predict` takes: a model, and rows that it has not seen.

use std::path::PathBuf;

use clap::Args;

use super::at_least_one;
use super::table::delimiter;

/// The arguments of `lehr predict`.
#[derive(Debug, Args)]
#[command(after_help = PREDICT_HELP)]
pub struct PredictArguments {
    /// The model.json that lehr cluster, lehr minibatch, lehr mixture or lehr gtm left
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// The table: .csv, .tsv, .txt (each may be gzipped), .npy or .parquet; fingerprints: .fps (may be gzipped), or .npy with --bits; or sparse rows: SVMlight's text, whose columns are numbered as those of the model, or .mtx
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// The .npy holds rows of this many bits, packed as numpy.packbits(rows, axis=1) packs them. Of clusters only
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub bits: Option<usize>,

    /// The model's columns in this table, in the model's order, by name or 0-based index [default: the names they have in the model]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,

    /// The column of identifiers, copied to the result [default: the 0-based row]
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,

    /// Empty cells, NA and the like are missing values, which are left out of every distance and density; without it they are faults. Of a map or a mixture
    #[arg(long)]
    pub missing: bool,

    /// A column more for each cluster or component, with the row's membership in it. Not of a map
    #[arg(long)]
    pub memberships: bool,

    /// The character between fields, or tab, space, comma, semicolon, pipe [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// The first row is a header [default: detected]
    #[arg(long, overrides_with = "no_header")]
    pub header: bool,

    /// The first row is data [default: detected]
    #[arg(long, overrides_with = "header")]
    pub no_header: bool,

    /// The file for the result, replaced if it is there [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

const PREDICT_HELP: &str = "\
Example:
  lehr predict lehr-gtm/model.json new-wine.csv > places.csv
      a line a row: where on the map it is, and how likely it is there

  lehr predict lehr-mixture/model.json other-flowers.csv --id name --out labels.csv
      a line a row: of which component it is, and how likely it is at all

  lehr predict lehr-out/model.json more-sites.csv > labels.csv
      a line a row: which cluster's centre is nearest, how surely, and how far away it is

Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment.";
