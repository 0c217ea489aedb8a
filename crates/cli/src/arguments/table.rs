//! How to read a table: the role of each column, their scale, the delimiter.

use clap::{Args, ValueEnum};
use lehr_data::read::Selection;

/// The role of each column of the table.
#[derive(Debug, Args)]
#[command(next_help_heading = "The table")]
pub struct TableArguments {
    /// Use these columns; by name or 0-based index [default: all numeric columns]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,

    /// Use this column as sample weights; at least 0, and rows of weight 0 are labelled but influence nothing
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,

    /// Use this column as identifiers; copied to the results [default: the 0-based row]
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,

    /// Copy all columns of the table to the results that have one line per row
    #[arg(long, hide_short_help = true)]
    pub append: bool,

    /// Cluster on the globe; the two columns are longitude and latitude in degrees, and distances are in km
    #[arg(long)]
    pub lonlat: bool,

    /// Scale the columns first; results keep the columns' units [default: none, or robust with --auto]
    #[arg(long, value_enum)]
    pub scale: Option<ScaleArgument>,

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

impl TableArguments {
    /// Returns the selection of columns, and the delimiter of fields.
    pub fn selection(self) -> Selection {
        let header = match (self.header, self.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let Self { columns, weights, id, delimiter, .. } = self;
        Selection { columns, weights, id, delimiter, header, ..Selection::default() }
    }
}

/// How to scale columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScaleArgument {
    /// As they are
    None,
    /// By mean and standard deviation
    Std,
    /// By median and interquartile range
    Robust,
}

pub(super) fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        "comma" => Ok(b','),
        "semicolon" => Ok(b';'),
        "pipe" => Ok(b'|'),
        _ => match text.as_bytes() {
            [b'"' | b'\n' | b'\r'] => Err("a quote or a line end cannot separate fields".to_owned()),
            [byte] if byte.is_ascii() => Ok(*byte),
            _ => Err("expected one ASCII character, or tab, space, comma, semicolon, pipe".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::delimiter;

    #[test]
    fn delimiters_have_names() {
        assert_eq!(
            ["tab", "\\t", ";", "pipe", "x"].map(|text| delimiter(text).ok()),
            [Some(b'\t'), Some(b'\t'), Some(b';'), Some(b'|'), Some(b'x')]
        );
        assert!(
            delimiter("").is_err() && delimiter("ab").is_err() && delimiter("é").is_err() && delimiter("\"").is_err()
        );
    }
}
