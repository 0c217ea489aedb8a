//! How a stream is read: which columns mean what, their scale, what stands between fields.

use std::path::PathBuf;

use clap::Args;
use lehr_data::read::Selection;

use super::table::{ScaleArgument, delimiter};

/// Which columns of the stream mean what.
#[derive(Debug, Args)]
#[command(next_help_heading = "The stream")]
pub struct StreamArguments {
    /// The stream: a table, .csv, .tsv, .txt or .npy (each may be gzipped) or .parquet, or - for text or .npy on standard input
    #[arg(value_name = "INPUT", help_heading = None)]
    pub path: PathBuf,

    /// The columns to work on, by name or 0-based index [default: those that are numeric in the first rows]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,

    /// The column of weights (at least 0; rows of weight 0 are passed over)
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,

    /// Scale the columns as the sample says; results are in the columns' own units
    #[arg(long, value_enum, default_value_t = ScaleArgument::None)]
    pub scale: ScaleArgument,

    /// The character between fields, or tab, space, comma, semicolon, pipe [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// The first row is a header [default: detected]
    #[arg(long, overrides_with = "no_header")]
    pub header: bool,

    /// The first row is data [default: detected]
    #[arg(long, overrides_with = "header")]
    pub no_header: bool,
}

impl StreamArguments {
    /// The selection of columns, and the delimiter of fields.
    pub fn selection(&self) -> Selection {
        let header = match (self.header, self.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let Self { columns, weights, delimiter, .. } = self;
        Selection {
            columns: columns.clone(),
            weights: weights.clone(),
            id: None,
            delimiter: *delimiter,
            header,
            ..Selection::default()
        }
    }
}
