//! The items of `lehr distances` and `lehr place`, read from files.

use std::path::Path;

use lehr_data::read::fasta::Expected;
use lehr_data::read::{Selection, TableForm};
use lehr_data::{Error, gower, memory, read};
use lehr_methods::distances::{ItemKind, Items, Metric, Options};

/// Reads items of a kind, with values as in the file.
///
/// # Errors
/// Returns the error in the file.
pub fn as_given(kind: ItemKind, options: &Options, delimiter: Option<u8>, input: &Path) -> Result<Items, Error> {
    Ok(match kind {
        ItemKind::Sequences => {
            let alphabet = options.alphabet.map(Into::into);
            let expected = Expected { alphabet, is_aligned: options.compares_places() };
            Items::Sequences(read::fasta::sequences(input, expected)?)
        }
        ItemKind::Fingerprints => {
            Items::Fingerprints(read::molecules::fingerprints(input, options.fingerprint.map(Into::into))?)
        }
        ItemKind::Rows => {
            let Options { columns, id, .. } = options.clone();
            if options.metric == Some(Metric::Gower) {
                let text = id.iter().cloned().collect();
                let form = TableForm { delimiter: delimiter.map(char::from), text, ..TableForm::default() };
                return Ok(Items::Records(gower::rows(
                    &read::data_frame(input, &form)?,
                    columns.as_deref(),
                    id.as_deref(),
                )?));
            }
            let selection = Selection { columns, id, delimiter, ..Selection::default() };
            memory::has_room(input, &selection)?;
            Items::Records(read::incomplete(input, &selection)?)
        }
    })
}

/// Reads more items of the same kind as `others`: letters that could be nucleotides or amino acids are read as in
/// those.
///
/// # Errors
/// Returns the error in the file.
pub fn more(others: &Items, options: &Options, delimiter: Option<u8>, input: &Path) -> Result<Items, Error> {
    if let Items::Sequences(others) = others {
        let expected = Expected { alphabet: Some(others.alphabet()), is_aligned: options.compares_places() };
        return Ok(Items::Sequences(read::fasta::sequences(input, expected)?));
    }
    as_given(others.kind(), options, delimiter, input)
}
