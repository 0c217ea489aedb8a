//! The formats of files, as messages name them.

use std::fmt;

/// The format that a file seems to have, judging by its first bytes and its name.
///
/// # Example
/// ```
/// use lehr_data::{Error, read::{Contents, Selection, points_from}};
/// let genes = ">one\nACGT\n>two\nACGA\n";
/// let error = points_from(genes.as_bytes(), "genes.txt", &Selection::default()).unwrap_err();
/// assert_eq!(error.to_string(), "genes.txt: expected a table of text, an NPY or a Parquet file, found sequences in FASTA");
/// assert!(matches!(error, Error::Contents { found: Contents::Sequences, .. }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Contents {
    /// A table of text.
    Table,
    /// An array of rows of numbers whose shape is not one of a dissimilarity matrix.
    Array {
        /// The number of rows.
        rows: usize,
        /// The number of columns.
        columns: usize,
    },
    /// Sequences in FASTA.
    Sequences,
    /// Sequences with qualities, in FASTQ.
    Reads,
    /// Molecules: SMILES, or structures of an SD file.
    Molecules,
    /// Fingerprints in FPS.
    Fingerprints,
    /// Sparse rows in SVMlight text.
    SvmLight,
    /// Sparse rows in a Matrix Market file.
    MatrixMarket,
    /// Dissimilarities of all pairs, as `lehr distances` writes them: the array or its header.
    Dissimilarities,
    /// A JSON document that is not a header of dissimilarities.
    Json,
}

impl fmt::Display for Contents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Contents::Array { rows, columns } => return write!(f, "an array of {rows} x {columns}"),
            Contents::Table => "a table of text",
            Contents::Sequences => "sequences in FASTA",
            Contents::Reads => "sequences with qualities, in FASTQ",
            Contents::Molecules => "molecules, which have no numbers to cluster",
            Contents::Fingerprints => "fingerprints in FPS, which are rows of bits",
            Contents::SvmLight => "SVMlight's text, which has sparse rows",
            Contents::MatrixMarket => "a Matrix Market file, which has sparse rows",
            Contents::Dissimilarities => "dissimilarities of all pairs",
            Contents::Json => "a document in JSON other than an array of objects, or an object on each line",
        })
    }
}
