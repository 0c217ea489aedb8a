//! Several processes compute dissimilarities: the request has the items, and the pairs that an earlier run finished.
//!
//! Every process was started with the same command line, so the request has only what the lead alone knows: its input.
//! All processes compute the leaves of their ranks and share the values step by step; the lead writes them and sends
//! the exit status.
//!
//! | part of a request | bytes |
//! | --- | --- |
//! | head | the length of the JSON in 8 bytes; the JSON ([`Head`]) |
//! | items | of sequences where each ends, 8 bytes each, and their letters; of fingerprints their words; of rows their numbers; the lowest byte first |
//! | log | the checkpoint of the earlier run, if the run is resumed |

use std::path::Path;

use lehr_data::sequences::{Alphabet, Sequences};
use lehr_data::{Fingerprints, Incomplete};
use lehr_distances::checkpoint::LogReader;
use lehr_distances::{Metric, Precision, Silent, all_pairs};
use lehr_methods::distances::Items;
use lehr_ranks::Execution;
use lehr_ranks_mpi::Process;
use serde::{Deserialize, Serialize};

use super::{ProcessGroup, unreachable};
use crate::arguments::DistancesArguments;
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::plan::execution;

/// The head of a request.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Head {
    kind: ItemKind,
    items: usize,
    /// The number of bytes of the items.
    bytes: usize,
    /// Whether values are kept as `f64`.
    is_wide: bool,
    /// Whether a log follows.
    is_resumed: bool,
}

/// The kind of the items.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
enum ItemKind {
    Sequences { is_protein: bool },
    Fingerprints { bits: usize },
    Records { columns: usize },
}

impl ProcessGroup<'_> {
    /// Sends the other processes the request to compute all pairs of `items`, continuing after `log`. Does nothing if
    /// there is only one process. All processes make the same call of [`all_pairs`].
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if the others cannot be reached.
    pub fn order_pairs<T: Precision>(&self, items: &Items, log: Option<&[u8]>) -> Result<(), Failure> {
        let Some(process) = self.process else { return Ok(()) };
        let request = encode(items, T::BYTES == size_of::<f64>(), log)?;
        process.share(request).map(|_| ()).map_err(unreachable)
    }

    /// Returns whether several processes compute together.
    pub fn is_several(&self) -> bool {
        self.process.is_some()
    }
}

/// Follows the lead to the end; returns the exit code. Prints nothing, because the lead prints.
///
/// # Errors
/// Returns [`Kind::Environment`] if the others cannot be reached, [`Kind::NoResult`] if a request cannot be understood;
/// then this process reports the error.
pub fn follow(process: Process, arguments: DistancesArguments) -> Result<u8, Failure> {
    // The lead receives the first Ctrl-C too, and stops the run for all; a second one ends this process, and with it
    // the job.
    let _interrupt = Interrupt::listen()?;
    let request = process.share(Vec::new()).map_err(unreachable)?;
    let code = match request[..] {
        [code] => code,
        _ => {
            let (items, is_wide, log) = decode(&request)?;
            drop(request);
            // If these arguments are invalid, the lead refuses them before it sends a request.
            let (execution, _) = execution(&arguments.execution, Some(process.job()))?;
            items.compared(&arguments.options.0, |metric| {
                if is_wide { compute::<f64>(metric, &execution, log) } else { compute::<f32>(metric, &execution, log) }
            })?;
            let word = process.share(Vec::new()).map_err(unreachable)?;
            if let [code] = word[..] { code } else { Kind::NoResult.code() }
        }
    };
    process.finish().map_err(unreachable)?;
    Ok(code)
}

/// Computes this process's part. The lead shares the outcome with all processes, so that all agree.
fn compute<T: Precision>(metric: &dyn Metric, execution: &Execution, log: Option<Vec<u8>>) -> Result<(), Failure> {
    let read = |bytes| LogReader::of_bytes::<T>(bytes, Path::new("the checkpoint of process 0"), metric);
    let mut kept = log.map(read).transpose()?;
    let _ = all_pairs::<T>(metric, execution, kept.as_mut(), &mut Silent);
    Ok(())
}

fn encode(items: &Items, is_wide: bool, log: Option<&[u8]>) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let kind = match items {
        Items::Sequences(sequences) => {
            let mut end = 0;
            for row in 0..sequences.len() {
                end += sequences.sequence(row).len() as u64;
                bytes.extend_from_slice(&end.to_le_bytes());
            }
            bytes.extend_from_slice(sequences.letters());
            ItemKind::Sequences { is_protein: sequences.alphabet() == Alphabet::Protein }
        }
        Items::Fingerprints(prints) => {
            let words = (0..prints.len()).flat_map(|row| prints.row(row));
            words.for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
            ItemKind::Fingerprints { bits: prints.bits() }
        }
        Items::Records(records) => {
            records.values().iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
            ItemKind::Records { columns: records.dimension() }
        }
    };
    let head = Head { kind, items: items.len(), bytes: bytes.len(), is_wide, is_resumed: log.is_some() };
    let head = serde_json::to_vec(&head)
        .map_err(|cause| Failure::new(Kind::NoResult, format!("a request cannot be written as JSON: {cause}")))?;
    let log = log.unwrap_or_default();
    let mut request = Vec::with_capacity(size_of::<u64>() + head.len() + bytes.len() + log.len());
    request.extend_from_slice(&(head.len() as u64).to_le_bytes());
    request.extend_from_slice(&head);
    request.extend_from_slice(&bytes);
    request.extend_from_slice(log);
    Ok(request)
}

/// Returns the items, whether values are kept as `f64`, and the log.
pub(super) fn decode(request: &[u8]) -> Result<(Items, bool, Option<Vec<u8>>), Failure> {
    let misread =
        |cause: &str| Failure::new(Kind::NoResult, format!("the request of process 0 cannot be read: {cause}"));
    let (length, rest) = request.split_first_chunk().ok_or_else(|| misread("it is cut"))?;
    let (head, rest) =
        rest.split_at_checked(u64::from_le_bytes(*length) as usize).ok_or_else(|| misread("its head is cut"))?;
    let head: Head = serde_json::from_slice(head).map_err(|cause| misread(&cause.to_string()))?;
    let (bytes, log) = rest.split_at_checked(head.bytes).ok_or_else(|| misread("its items are cut"))?;
    let items = match head.kind {
        ItemKind::Sequences { is_protein } => {
            let alphabet = if is_protein { Alphabet::Protein } else { Alphabet::Dna };
            let ends = bytes.split_at_checked(size_of::<u64>() * head.items).ok_or_else(|| misread("its ends are cut"));
            let (ends, letters) = ends?;
            let mut start = 0;
            let mut texts = Vec::with_capacity(head.items);
            for end in ends.as_chunks().0 {
                let end = u64::from_le_bytes(*end) as usize;
                texts.push(letters.get(start..end).ok_or_else(|| misread("its letters are cut"))?);
                start = end;
            }
            Items::Sequences(Sequences::new(&texts, alphabet)?)
        }
        ItemKind::Fingerprints { bits } => {
            let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
            Items::Fingerprints(Fingerprints::new(words, bits)?)
        }
        ItemKind::Records { columns } => {
            let values = bytes.as_chunks().0.iter().map(|value| f64::from_le_bytes(*value)).collect();
            Items::Records(Incomplete::new(values, columns)?)
        }
    };
    if items.len() != head.items {
        return Err(misread("it has another number of items than it says"));
    }
    Ok((items, head.is_wide, head.is_resumed.then(|| log.to_vec())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_says_the_same_on_the_other_side() {
        let all = [
            Items::Sequences(Sequences::new(&["ACGN-", "AC-TT"], Alphabet::Dna).unwrap()),
            Items::Sequences(Sequences::new(&["MK*X", "W"], Alphabet::Protein).unwrap()),
            Items::Fingerprints(Fingerprints::new(vec![1, 2, 3, 4], 70).unwrap()),
            Items::Records(Incomplete::new(vec![0.1, f64::NAN, 1e-300, -2.0], 2).unwrap()),
        ];
        for items in all {
            let (read, is_wide, log) = decode(&encode(&items, true, None).unwrap()).unwrap();
            // Names and identifiers stay with the lead.
            assert_eq!((read.fingerprint(), is_wide, log), (items.fingerprint(), true, None));
            let (read, is_wide, log) = decode(&encode(&items, false, Some(b"log")).unwrap()).unwrap();
            assert_eq!((read.fingerprint(), is_wide, log), (items.fingerprint(), false, Some(b"log".to_vec())));
        }
    }

    #[test]
    fn a_cut_order_is_refused() {
        let items = Items::Sequences(Sequences::new(&["ACG", "T"], Alphabet::Dna).unwrap());
        let request = encode(&items, false, None).unwrap();
        for end in [0, 7, 9, request.len() - 20, request.len() - 1] {
            assert!(decode(&request[..end]).is_err(), "cut at {end} of {}", request.len());
        }
    }
}
