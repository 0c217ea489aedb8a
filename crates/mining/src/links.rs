//! Links between items, such as the joins of a tree. The rank with the first leaf finds them, and all ranks get them.

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::round::{LeafCells, Round, Rounds, total_of};

/// A link between two items, or between two clusters that are named by an item.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Link {
    pub from: u32,
    pub to: u32,
    /// The distance, in the unit of the method.
    pub distance: f64,
}

/// Puts the links that this rank has found into the cell of the first leaf, and shares them with all processes. Only the
/// links of the rank with the first leaf count.
///
/// # Errors
/// Returns the errors of rounds.
pub(crate) async fn share(
    rounds: &mut dyn Rounds,
    found: &[Link],
    cells: &LeafCells<Vec<Link>>,
    name: &'static str,
) -> Result<(), Error> {
    total_of(rounds, &Tell { found, cells, name }, &mut Vec::new()).await?;
    Ok(rounds.share(cells, write, read).await?)
}

/// Puts the links of the rank with the first leaf into its cell. After this round, all ranks of its process see them.
struct Tell<'a> {
    found: &'a [Link],
    cells: &'a LeafCells<Vec<Link>>,
    name: &'static str,
}

impl Round for Tell<'_> {
    /// A number that is always 0, so that every rank waits for the first leaf.
    fn len(&self) -> usize {
        1
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial[0] = 0.0;
        if leaf == 0 {
            self.cells.with(0, |links| *links = self.found.to_vec());
        }
    }

    fn name(&self) -> &'static str {
        self.name
    }
}

/// The number of bytes of a link.
const BYTES: usize = 16;

fn write(links: &Vec<Link>, bytes: &mut Vec<u8>) {
    for Link { from, to, distance } in links {
        bytes.extend_from_slice(&from.to_le_bytes());
        bytes.extend_from_slice(&to.to_le_bytes());
        bytes.extend_from_slice(&distance.to_le_bytes());
    }
}

fn read(links: &mut Vec<Link>, bytes: &[u8]) {
    let (found, _) = bytes.as_chunks::<BYTES>();
    let read = |&[a, b, c, d, e, f, g, h, ref distance @ ..]: &[u8; BYTES]| Link {
        from: u32::from_le_bytes([a, b, c, d]),
        to: u32::from_le_bytes([e, f, g, h]),
        distance: f64::from_le_bytes(*distance),
    };
    *links = found.iter().map(read).collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_as_they_were_written() {
        let links = vec![
            Link { from: 1, to: u32::MAX, distance: 0.1 },
            Link { from: 0x0102_0304, to: 7, distance: -f64::INFINITY },
        ];
        let (mut bytes, mut again) = (Vec::new(), Vec::new());
        write(&links, &mut bytes);
        read(&mut again, &bytes);
        assert_eq!((bytes.len(), again), (2 * BYTES, links));
    }
}
