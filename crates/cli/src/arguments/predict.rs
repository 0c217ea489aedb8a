//! The arguments of `lehr predict`: a model, and rows that it has not seen.

use std::path::PathBuf;

use clap::Args;

use super::at_least_one;
use super::table::delimiter;

/// The arguments of `lehr predict`.
#[derive(Debug, Args)]
#[command(after_help = PREDICT_HELP)]
pub struct PredictArguments {
    /// Model: the model.json of a method, of a service, or one that Python exported
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Table: .csv, .tsv, .txt (each may be gzipped), .xlsx, .xls, .ods, .jsonl, .json, .npy or .parquet; fingerprints:
    /// .fps, .smi, .sdf, or .npy with --bits. Sparse rows: SVMlight's text, with the column numbers of the model,
    /// or .mtx
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Read the .npy as rows of this many bits, as numpy.packbits(rows, axis=1) packs them; only for a model of
    /// clusters
    #[arg(long, value_name = "N", value_parser = at_least_one, hide_short_help = true)]
    pub bits: Option<usize>,

    /// Use these columns as the model's; in the model's order, by name or 0-based index [default: the model's names]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,

    /// Use this column as identifiers; copied to the result [default: the model's column of identifiers; else the number of the row, from 0]
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,

    /// Allow missing values; empty cells, NA and the like, which distances and densities leave out. Only with a map or
    /// a mixture
    #[arg(long)]
    pub missing: bool,

    /// Add the memberships of each row; one column per cluster or component. Not with a map
    #[arg(long)]
    pub memberships: bool,

    /// Add all columns of INPUT to the result
    #[arg(long)]
    pub append: bool,

    /// Separate fields at this character, or tab, space, comma, semicolon, pipe [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, hide_short_help = true)]
    pub delimiter: Option<u8>,

    /// Take the first row as a header [default: detected]
    #[arg(long, overrides_with = "no_header", hide_short_help = true)]
    pub header: bool,

    /// Take the first row as data [default: detected]
    #[arg(long, overrides_with = "header", hide_short_help = true)]
    pub no_header: bool,

    /// Write to this file; an existing file is replaced [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,

    /// Print no summary; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

const PREDICT_HELP: &str = "\
Example:
  lehr predict lehr-out/model.json new-customers.csv --out labels.csv
      the cluster of each new row, how far its centre is, and whether that is unusually far

  lehr predict lehr-mixture/model.json other-flowers.csv --id name --out labels.csv
      the component of each row, and how likely the row is at all

  lehr predict lehr-gtm/model.json new-wine.csv --out places.csv
      where on the map each row is

Exit codes: 0 done, 1 no result, 2 usage, 3 data, 4 environment.";
