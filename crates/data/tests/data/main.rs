//! Tests the public interface of `lehr-data`: reading, messages and writing.

mod batches;
mod csv;
mod datasets;
mod formats;
mod frame;
mod header;
mod hostile;
mod intake;
mod layout;
mod locales;
mod messages;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod pollution;
mod sparse;
// Other systems have no files without a name.
#[cfg(unix)]
mod spill;
mod write;

use std::io::Write;

use lehr_data::read::{Selection, csv_points};
use lehr_data::{Error, Points};

/// Reads a table called `points.csv`.
fn table(text: impl AsRef<[u8]>, selection: &Selection) -> Result<Points, Error> {
    csv_points(text.as_ref(), "points.csv", selection)
}

/// Reads a table without any options.
fn plain(text: impl AsRef<[u8]>) -> Points {
    table(text, &Selection::default()).unwrap()
}

fn columns(names: &[&str]) -> Option<Vec<String>> {
    Some(names.iter().map(|name| name.to_string()).collect())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
