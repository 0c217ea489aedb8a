//! Rank tasks: each rank runs the method's loop over its own leaves, and a round is an all-reduce, or one round of a
//! map-reduce.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{CellBytes, Engine, Pending, Round, Rounds};
use crate::communicator::Communicator;
use crate::map_reduce::{MapReduce, Step};
use crate::partition::Partition;
use crate::timing::{Phases, Spread};
use crate::trace::Trace;

/// Runs the rounds of the loop on one rank.
pub(super) struct OnRanks {
    communicator: Communicator,
    /// The engine: [`Engine::Ranks`] or [`Engine::MapReduce`].
    engine: Engine,
    partition: Partition,
    /// The number of ranks in each process.
    here: usize,
}

impl OnRanks {
    pub(super) fn new(communicator: Communicator, engine: Engine, partition: Partition, here: usize) -> Self {
        Self { communicator, engine, partition, here }
    }

    fn has_one_process(&self) -> bool {
        self.here == self.communicator.size()
    }
}

/// A round as a map-reduce: the state is the total, and the value of each key is a run of the total's numbers.
struct AsMapReduce<'a> {
    round: &'a dyn Round,
    partition: Partition,
}

impl MapReduce for AsMapReduce<'_> {
    type State = Vec<f64>;

    fn width(&self) -> usize {
        self.round.key_len()
    }

    fn map(&self, rows: Range<usize>, _: &Vec<f64>, emit: &mut dyn FnMut(u64, &[f64])) {
        let (width, length) = (self.width(), self.round.len());
        // The last key's run may have fewer numbers, so it is padded with zeros.
        let mut partial = vec![0.0; length.next_multiple_of(width)];
        self.round.map(rows.start / self.partition.leaf_size(), &mut partial[..length]);
        for (key, value) in partial.chunks_exact(width).enumerate() {
            emit(key as u64, value);
        }
    }

    fn combine(&self, left: &mut [f64], right: &[f64]) {
        self.round.combine(left, right);
    }

    fn next(&self, mut total: Vec<f64>, results: &BTreeMap<u64, Vec<f64>>) -> Step<Vec<f64>> {
        for (part, value) in total.chunks_mut(self.width()).zip(results.values()) {
            part.copy_from_slice(&value[..part.len()]);
        }
        Step::Converged(total)
    }
}

impl Rounds for OnRanks {
    fn round<'a>(&'a mut self, round: &'a dyn Round, total: &'a mut [f64]) -> Pending<'a, ()> {
        Box::pin(async move {
            assert_eq!(total.len(), round.len(), "the total has the length of a partial");
            self.communicator.begin_compute(round.name());
            if self.engine == Engine::MapReduce {
                let (rows, method) = (self.partition.rows(), AsMapReduce { round, partition: self.partition });
                let ended = self.communicator.map_reduce(rows, &method, total.to_vec(), 1).await?;
                total.copy_from_slice(&ended.state);
                return Ok(());
            }
            let leaves = self.leaves();
            let map = |leaf: usize, partial: &mut [f64]| round.map(leaf, partial);
            let combine = |left: &mut [f64], right: &[f64]| round.combine(left, right);
            self.communicator.all_reduce_leaves(leaves, total, map, combine).await
        })
    }

    fn agree(&mut self, flag: bool) -> Pending<'_, bool> {
        Box::pin(async move {
            let mut told = [u8::from(flag)];
            self.communicator.broadcast(0, &mut told).await?;
            Ok(told[0] != 0)
        })
    }

    fn is_lead(&self) -> bool {
        self.communicator.rank() == 0
    }

    fn is_first_here(&self) -> bool {
        self.communicator.rank().is_multiple_of(self.here)
    }

    fn share_bytes<'a>(&'a mut self, cells: &'a dyn CellBytes) -> Pending<'a, ()> {
        Box::pin(async move {
            if self.has_one_process() {
                return Ok(());
            }
            let mut bytes = Vec::new();
            for leaf in self.leaves() {
                // The length comes before the content, but is known only after the content was written.
                let start = bytes.len();
                bytes.extend_from_slice(&[0; size_of::<u64>()]);
                cells.write(leaf, &mut bytes);
                let length = (bytes.len() - start - size_of::<u64>()) as u64;
                bytes[start..start + size_of::<u64>()].copy_from_slice(&length.to_le_bytes());
            }
            let all = self.communicator.all_gather_v(&bytes).await?;
            if !self.is_first_here() {
                // The first rank of this process writes the cells; this rank waits until it has.
                return self.communicator.barrier().await;
            }
            for (rank, bytes) in all.iter().enumerate() {
                let mut rest = &bytes[..];
                for leaf in self.partition.leaves_of(rank) {
                    let (length, after) = rest.split_first_chunk().expect("every leaf was written with its length");
                    let (content, after) = after.split_at(u64::from_le_bytes(*length) as usize);
                    if rank / self.here != self.communicator.rank() / self.here {
                        cells.read(leaf, content);
                    }
                    rest = after;
                }
            }
            self.communicator.barrier().await
        })
    }

    fn record<'a>(&'a mut self, trace: &'a Trace) -> Pending<'a, ()> {
        Box::pin(async move {
            self.communicator.record(trace);
            if self.has_one_process() { Ok(()) } else { self.communicator.align_trace(trace).await }
        })
    }

    fn note_phase(&mut self, name: &'static str) {
        self.communicator.note_phase(name);
    }

    fn gather_timers<'a>(&'a mut self, trace: &'a Trace, mut phases: Phases) -> Pending<'a, Vec<Spread>> {
        Box::pin(async move {
            if let Some(sums) = self.communicator.stop_recording() {
                phases.add("computing", sums.compute_s);
                phases.add("communicating", sums.communication_s);
                phases.add("waiting", sums.wait_s);
            }
            if trace.keeps_spans() && !self.has_one_process() {
                self.communicator.gather_trace(trace).await?;
            }
            self.communicator.gather_phases(&phases).await
        })
    }

    fn partition(&self) -> Partition {
        self.partition
    }

    fn leaves(&self) -> Range<usize> {
        self.partition.leaves_of(self.communicator.rank())
    }
}
