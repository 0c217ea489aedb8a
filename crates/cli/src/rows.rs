//! Rows of a result, which all ranks write at once into one file. Each rank formats its own range of rows and writes
//! the text at its position.
//!
//! The bytes depend only on the rows, whichever process writes them. The lead creates the file under a temporary name,
//! and writes a mark into it. Ranks that find the mark see the same file and write to it themselves. All ranks learn
//! the lengths of all texts, and each writes after the ranks before it. A rank whose machine has its own disk does not
//! find the mark. Then all ranks send their text to the lead, which writes alone. The lead then puts the file into
//! place or drops it, so that all or none of it appears.
//!
//! Rows are written in blocks, so that no rank holds more text than its part of one block.

use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use lehr_methods::Table;
use lehr_ranks::{Communicator, Error};

/// The number of rows of a rank in a block: some megabytes of text.
const BLOCK_ROWS: usize = 1 << 17;

/// The rank whose process made the file.
const LEAD: usize = 0;

/// The beginning of the file until the ranks have found it.
pub type Mark = [u8; 16];

/// Creates a mark that no other file has.
pub fn mark() -> Mark {
    let word = || RandomState::new().build_hasher().finish().to_le_bytes();
    let mut mark = [0; 16];
    mark[..8].copy_from_slice(&word());
    mark[8..].copy_from_slice(&word());
    mark
}

/// Where the rows' identifiers are.
#[derive(Clone, Copy)]
pub enum Ids<'a> {
    /// The rows have no identifiers: a row's number identifies it.
    Numbers,
    /// Every rank has the identifiers.
    Here(&'a [String]),
    /// Only the lead has the identifiers, and sends each rank its own.
    AtLead(Option<&'a [String]>),
}

/// A table of rows, all of them on every rank.
#[derive(Clone, Copy)]
pub struct Lines<'a> {
    /// The identifiers of all rows; those in the table are only its rank's.
    pub ids: Ids<'a>,
    /// The other columns.
    pub table: &'a Table<'a>,
}

impl Lines<'_> {
    /// Returns the text of a range of rows, with the given identifiers or else their numbers.
    fn text(&self, rows: Range<usize>, ids: Option<&[String]>) -> Vec<u8> {
        let mut text = Vec::with_capacity(rows.len() * 32);
        self.table.write_rows(&mut text, rows, ids).expect("memory takes any text");
        text
    }

    /// Returns the text before all rows.
    fn head(&self) -> Vec<u8> {
        let mut text = Vec::new();
        self.table.write_head(&mut text).expect("memory takes any text");
        text
    }
}

/// Writes the rows to the file at `path`, which begins with `mark`; `path` is `None` if the file's name cannot be sent.
/// All ranks must call it; `has_made` is true on those in the process that created the file. Returns the error message,
/// if there was an error; it is the same on all ranks.
///
/// # Errors
/// Returns the errors of the ranks.
pub async fn write(
    comm: &mut Communicator,
    path: Option<&Path>,
    mark: Mark,
    has_made: bool,
    lines: Lines<'_>,
) -> Result<Option<String>, Error> {
    let mut file = path.and_then(|path| open(path, mark).ok());
    let mut all_see = [u8::from(file.is_some())];
    comm.all_reduce(&mut all_see, |left, right| left[0] = left[0].min(right[0])).await?;
    let all_see = all_see[0] == 1;
    let (rank, size) = (comm.rank(), comm.size());
    let head = lines.head();
    let mut failure = if rank == LEAD { put(&mut file, 0, &head).err() } else { None };
    let mut end = head.len() as u64;
    for block in blocks(lines.table.rows(), size) {
        let own = share(&block, rank, size);
        let dealt = match lines.ids {
            Ids::AtLead(ids) => Some(deal(comm, ids, &block).await?),
            _ => None,
        };
        let ids = match (lines.ids, &dealt) {
            (_, Some(dealt)) => Some(&dealt[..]),
            (Ids::Here(ids), _) => Some(&ids[own.clone()]),
            _ => None,
        };
        let text = lines.text(own, ids);
        if all_see {
            let mut lengths = vec![0; size];
            comm.all_gather(&[text.len() as u64], &mut lengths).await?;
            let start = end + lengths[..rank].iter().sum::<u64>();
            end += lengths.iter().sum::<u64>();
            failure = failure.or(put(&mut file, start, &text).err());
        } else {
            for text in comm.gather(LEAD, &text).await?.unwrap_or_default() {
                failure = failure.or(put(&mut file, end, &text).err());
                end += text.len() as u64;
            }
        }
        let agreed = agree(comm, failure.take()).await?;
        if agreed.is_some() {
            return Ok(agreed);
        }
    }
    // Data from another machine must be on disk before the lead renames the file; the lead itself takes care of this
    // machine's data.
    if all_see
        && !has_made
        && let Some(file) = &file
    {
        failure = failure.or(file.sync_data().err().map(|cause| cause.to_string()));
    }
    agree(comm, failure).await
}

fn open(path: &Path, mark: Mark) -> io::Result<File> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let mut found = Mark::default();
    file.read_exact(&mut found)?;
    if found == mark { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
}

fn put(file: &mut Option<File>, start: u64, text: &[u8]) -> Result<(), String> {
    let Some(file) = file else { return Err("its temporary file has gone".to_owned()) };
    file.seek(SeekFrom::Start(start)).and_then(|_| file.write_all(text)).map_err(|cause| cause.to_string())
}

/// Returns all rows, in blocks for all ranks together.
fn blocks(rows: usize, ranks: usize) -> impl Iterator<Item = Range<usize>> {
    let step = ranks * BLOCK_ROWS;
    (0..rows).step_by(step).map(move |start| start..rows.min(start + step))
}

/// Returns a rank's rows of a block.
fn share(block: &Range<usize>, rank: usize, ranks: usize) -> Range<usize> {
    let at = |rank: usize| block.start + block.len() * rank / ranks;
    at(rank)..at(rank + 1)
}

/// Returns this rank's identifiers of a block, which the lead sends.
async fn deal(comm: &mut Communicator, ids: Option<&[String]>, block: &Range<usize>) -> Result<Vec<String>, Error> {
    let size = comm.size();
    let mut parts = vec![Vec::new(); if comm.rank() == LEAD { size } else { 0 }];
    for (rank, part) in parts.iter_mut().enumerate() {
        for id in &ids.unwrap_or_default()[share(block, rank, size)] {
            part.extend_from_slice(&(id.len() as u64).to_le_bytes());
            part.extend_from_slice(id.as_bytes());
        }
    }
    let bytes = comm.scatter_v(LEAD, &parts).await?;
    let mut rest = &bytes[..];
    let mut own = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk() {
        let (id, after) = after.split_at(u64::from_le_bytes(*length) as usize);
        own.push(String::from_utf8_lossy(id).into_owned());
        rest = after;
    }
    Ok(own)
}

/// Returns the error of the lowest rank that had one.
async fn agree(comm: &mut Communicator, failure: Option<String>) -> Result<Option<String>, Error> {
    let all = comm.all_gather_v(failure.unwrap_or_default().as_bytes()).await?;
    Ok(all.into_iter().find(|words| !words.is_empty()).map(|words| String::from_utf8_lossy(&words).into_owned()))
}

#[cfg(test)]
mod tests {
    use lehr_ranks::{Layout, run};
    use lehr_runtime::Dispatcher;

    use super::*;

    fn rows(count: usize) -> (Vec<String>, Vec<u32>, Vec<f64>) {
        let ids = (0..count).map(|row| if row % 3 == 0 { format!("a,{row}") } else { row.to_string() }).collect();
        let labels = (0..count as u32).map(|row| row * row % 7).collect();
        (ids, labels, (0..count).map(|row| 1.0 / (1.0 + (row % 11) as f64)).collect())
    }

    fn table<'a>(labels: &'a [u32], probabilities: &'a [f64]) -> Table<'a> {
        Table::new("labels")
            .ids(None, labels.len())
            .labels("cluster", labels, false)
            .borrowed("probability", probabilities)
    }

    /// Returns a file written by several ranks, of which those from `seeing` on do not find the file.
    fn written(ranks: usize, seeing: usize, has_ids: bool, count: usize) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let (here, elsewhere) = (folder.path().join("here"), folder.path().join("elsewhere"));
        let mark = mark();
        std::fs::write(&here, mark).unwrap();
        // Another file of that name, as on another machine.
        std::fs::write(&elsewhere, self::mark()).unwrap();
        let (ids, labels, probabilities) = rows(count);
        let table = table(&labels, &probabilities);
        let dispatcher = Dispatcher::new(2).unwrap();
        let ended = run(&dispatcher, Layout::threads(ranks), |mut comm| {
            let path = if comm.rank() < seeing { &here } else { &elsewhere };
            let ids = match (has_ids, seeing == ranks) {
                (false, _) => Ids::Numbers,
                (true, true) => Ids::Here(&ids),
                (true, false) => Ids::AtLead((comm.rank() == LEAD).then_some(&ids[..])),
            };
            let lines = Lines { ids, table: &table };
            let has_made = comm.rank() == LEAD;
            async move { write(&mut comm, Some(path), mark, has_made, lines).await }
        });
        assert!(ended.unwrap().into_iter().all(|end| end == Ok(None)));
        std::fs::read(here).unwrap()
    }

    #[test]
    fn any_number_of_ranks_writes_the_same_bytes_with_a_shared_disk_or_without() {
        for (has_ids, count) in [(false, 1000), (true, 1000), (true, 2), (false, 0)] {
            let one = written(1, 1, has_ids, count);
            assert_eq!(one.iter().filter(|byte| **byte == b'\n').count(), 1 + count);
            for ranks in [2, 3, 5] {
                assert!(written(ranks, ranks, has_ids, count) == one, "{ranks} ranks");
                assert!(written(ranks, ranks - 1, has_ids, count) == one, "{ranks} ranks, one on another disk");
            }
        }
        let text = String::from_utf8(written(2, 2, true, 2)).unwrap();
        assert_eq!(text, "id,cluster,probability\n\"a,0\",0,1\n1,1,0.5\n");
    }

    #[test]
    fn blocks_and_shares_have_every_row_once() {
        for (count, ranks) in [(0, 1), (1, 3), (7, 2), (3 * BLOCK_ROWS + 5, 2)] {
            let all: Vec<usize> = blocks(count, ranks)
                .flat_map(|block| (0..ranks).flat_map(move |rank| share(&block, rank, ranks)))
                .collect();
            assert!(all.iter().copied().eq(0..count));
        }
    }

    #[test]
    fn a_file_that_has_gone_is_said_on_all_ranks() {
        let dispatcher = Dispatcher::new(2).unwrap();
        let (_, labels, probabilities) = rows(10);
        let table = table(&labels, &probabilities);
        let ended = run(&dispatcher, Layout::threads(3), |mut comm| {
            let lines = Lines { ids: Ids::Numbers, table: &table };
            async move { write(&mut comm, None, mark(), true, lines).await }
        });
        for end in ended.unwrap() {
            assert_eq!(end.unwrap().as_deref(), Some("its temporary file has gone"));
        }
    }
}
