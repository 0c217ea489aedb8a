//! How to read a stream: the role of each column, their scale, the delimiter.

use std::path::PathBuf;

use clap::Args;
use lehr_data::read::Selection;

use super::table::{ScaleArgument, delimiter};

/// The role of each column of the stream.
#[derive(Debug, Args)]
#[command(next_help_heading = "The stream")]
pub struct StreamArguments {
    /// Table; .csv, .tsv, .txt or .npy (each may be gzipped) or .parquet; or - for text or .npy on standard input
    #[arg(value_name = "INPUT", help_heading = None)]
    pub path: PathBuf,

    /// Use these columns; by name or 0-based index [default: those that are numeric in the first rows]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,

    /// Use this column as sample weights; at least 0, and rows of weight 0 are skipped
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,

    /// Scale the columns by the sample's statistics; results keep the columns' units
    #[arg(long, value_enum, default_value_t = ScaleArgument::None)]
    pub scale: ScaleArgument,

    /// Separate fields at this character, or tab, space, comma, semicolon, pipe [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter, hide_short_help = true)]
    pub delimiter: Option<u8>,

    /// Take the first row as a header [default: detected]
    #[arg(long, overrides_with = "no_header", hide_short_help = true)]
    pub header: bool,

    /// Take the first row as data [default: detected]
    #[arg(long, overrides_with = "header", hide_short_help = true)]
    pub no_header: bool,
}

impl StreamArguments {
    /// Returns the selection of columns, and the delimiter of fields.
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
