//! The program of a rank of Lehr, which is the same over threads, over ports and between processes.
//!
//! Every stage has its number in a *line* of up to eight doubles, which moves through the array from stage to stage. So
//! checking a stage costs only one line, and at the end the whole array is checked. Arrays that are combined are zero
//! except in the line, so they need not be refilled between stages.

use std::time::Instant;

use lehr_ranks::{Boundary, Communicator, Error};

use super::operation::{Operation, Work};
use crate::measure::now;
use crate::unit::units;

/// The number of doubles in the line that carries a stage's number.
const LINE: usize = 8;

/// The number of barriers that are proved before the barrier is measured.
const PROOFS: usize = 3;

/// One rank's result of a sample.
#[derive(Clone, Debug)]
pub struct Part {
    /// The start of the rank's first stage.
    pub start: Instant,
    /// The end of the rank's last stage.
    pub end: Instant,
    /// A description of the error, if the result is wrong.
    pub wrong: Option<String>,
}

/// Shows which ranks have come to a barrier, by another way than the ranks' messages.
pub trait Witness: Send {
    /// Tells the others that this rank is about to enter the next barrier.
    fn tell(&mut self);

    /// Returns whether all others that this rank sees have announced this many barriers.
    fn have_all_told(&mut self, barriers: usize) -> bool;
}

/// Does this rank's part; all ranks call it. The time is from after a barrier to the end of the rank's last stage.
///
/// # Errors
/// Returns the errors of the ranks.
pub async fn run(comm: &mut Communicator, work: &Work, witness: &mut dyn Witness) -> Result<Part, Error> {
    let mut memory = Memory::new(comm.rank(), work);
    let mut wrong = None;
    if work.operation == Operation::Barrier {
        for proof in 1..=PROOFS {
            witness.tell();
            comm.barrier().await?;
            if !witness.have_all_told(proof) {
                wrong = Some("a barrier ended before all had come".to_owned());
            }
            // No rank announces the next barrier before all have checked this one.
            comm.barrier().await?;
        }
    }
    comm.barrier().await?;
    let start = now();
    let first_wrong = memory.stages(comm, work).await?;
    let end = now();
    comm.barrier().await?;
    if let Some(stage) = first_wrong {
        wrong = Some(format!("stage {stage} of {}: another number than that of the stage", work.operation));
    } else if wrong.is_none() && !memory.is_whole(comm.rank(), comm.size(), work) {
        wrong = Some(format!("{}: an array differs from what was sent", work.operation));
    }
    Ok(Part { start, end, wrong: wrong.map(|wrong| format!("rank {} of {}: {wrong}", comm.rank(), comm.size())) })
}

/// The arrays that a rank sends and receives.
struct Memory {
    /// The array that is sent, or that is combined.
    own: Vec<f64>,
    /// The array from the rank below.
    low: Vec<f64>,
    /// The array from the rank above.
    high: Vec<f64>,
    doubles: usize,
}

/// Returns the number at position `k` of the line of a stage.
fn number(rank: usize, stage: usize, k: usize) -> f64 {
    (((stage + 1) << 10) + (rank << 3) + k) as f64
}

/// Returns the sum of [`number`] over this many ranks.
fn sum(ranks: usize, stage: usize, k: usize) -> f64 {
    (ranks * (((stage + 1) << 10) + k) + ((ranks * (ranks - 1) / 2) << 3)) as f64
}

/// Returns the number in an array before any stage.
fn ground(rank: usize, index: usize) -> f64 {
    -((rank + 8 * index + 1) as f64)
}

impl Memory {
    fn new(rank: usize, work: &Work) -> Self {
        let Work { operation, doubles, .. } = *work;
        let is_combined = matches!(operation, Operation::Reduce | Operation::AllReduce);
        // The array is written twice, since the system allocates an array of zeros only when it is written.
        let mut own: Vec<f64> = (0..doubles).map(|index| ground(rank, index)).collect();
        if is_combined {
            own.fill(0.0);
        }
        let received = if operation.messages() > 0 { doubles } else { 0 };
        Self { own, low: vec![1.0; received], high: vec![1.0; received], doubles }
    }

    /// Returns the number of positions of the line.
    fn lines(&self) -> usize {
        (self.doubles / LINE).max(1)
    }

    /// Returns the start and the end of the line of a stage.
    fn line(&self, stage: usize) -> (usize, usize) {
        let first = stage % self.lines() * LINE;
        (first, (first + LINE).min(self.doubles))
    }

    fn mark(&mut self, rank: usize, stage: usize) {
        let (first, end) = self.line(stage);
        for (k, value) in self.own[first..end].iter_mut().enumerate() {
            *value = number(rank, stage, k);
        }
    }

    fn is_marked(&self, array: &[f64], rank: usize, stage: usize) -> bool {
        let (first, end) = self.line(stage);
        array[first..end].iter().enumerate().all(|(k, value)| *value == number(rank, stage, k))
    }

    /// Returns whether the line has the sum over all ranks, and sets the line to zero again.
    fn is_summed(&mut self, ranks: usize, stage: usize) -> bool {
        let (first, end) = self.line(stage);
        let mut is_right = true;
        for (k, value) in self.own[first..end].iter_mut().enumerate() {
            is_right &= std::mem::take(value) == sum(ranks, stage, k);
        }
        is_right
    }

    /// Runs all stages; returns the first stage whose line was wrong, if there is one.
    async fn stages(&mut self, comm: &mut Communicator, work: &Work) -> Result<Option<usize>, Error> {
        let (rank, ranks) = (comm.rank(), comm.size());
        let (below, above) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
        let add = |left: &mut [f64], right: &[f64]| left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
        let mut first_wrong = None;
        let mut x = rank as u64;
        for stage in 0..work.stages {
            let is_right = match work.operation {
                Operation::None => true,
                Operation::Shift => {
                    self.mark(rank, stage);
                    comm.shift(1, &self.own, &mut self.low).await?;
                    self.is_marked(&self.low, below, stage)
                }
                Operation::TwoShifts => {
                    self.mark(rank, stage);
                    comm.shift(1, &self.own, &mut self.low).await?;
                    comm.shift(-1, &self.own, &mut self.high).await?;
                    self.is_marked(&self.low, below, stage) && self.is_marked(&self.high, above, stage)
                }
                Operation::Exchange => {
                    self.mark(rank, stage);
                    let Self { own, low, high, .. } = self;
                    comm.exchange(Boundary::Periodic, own, own, low, high).await?;
                    self.is_marked(&self.low, below, stage) && self.is_marked(&self.high, above, stage)
                }
                Operation::Barrier => {
                    comm.barrier().await?;
                    true
                }
                Operation::Broadcast => {
                    if rank == 0 {
                        self.mark(0, stage);
                    }
                    comm.broadcast(0, &mut self.own).await?;
                    self.is_marked(&self.own, 0, stage)
                }
                Operation::Reduce => {
                    self.mark(rank, stage);
                    comm.reduce(0, &mut self.own, add).await?;
                    if rank == 0 {
                        self.is_summed(ranks, stage)
                    } else {
                        let (first, end) = self.line(stage);
                        self.own[first..end].fill(0.0);
                        true
                    }
                }
                Operation::AllReduce => {
                    self.mark(rank, stage);
                    comm.all_reduce(&mut self.own, add).await?;
                    self.is_summed(ranks, stage)
                }
            };
            if !is_right {
                first_wrong.get_or_insert(stage);
            }
            if work.units > 0 {
                x = units(x, work.units);
            }
        }
        std::hint::black_box(x);
        Ok(first_wrong)
    }

    /// Returns whether all arrays have the right contents after the last stage.
    fn is_whole(&self, rank: usize, ranks: usize, work: &Work) -> bool {
        let sent = |array: &[f64], by: usize| {
            let is_right = |(index, value): (usize, &f64)| *value == self.last(by, index, work.stages);
            array.iter().enumerate().all(is_right)
        };
        match work.operation {
            Operation::None | Operation::Barrier => true,
            Operation::Shift => sent(&self.low, (rank + ranks - 1) % ranks),
            Operation::TwoShifts | Operation::Exchange => {
                sent(&self.low, (rank + ranks - 1) % ranks) && sent(&self.high, (rank + 1) % ranks)
            }
            Operation::Broadcast => sent(&self.own, 0),
            Operation::Reduce | Operation::AllReduce => self.own.iter().all(|value| *value == 0.0),
        }
    }

    /// Returns the number at a position of a rank's array after this many stages, which the line left there when it
    /// last passed.
    fn last(&self, rank: usize, index: usize, stages: usize) -> f64 {
        let (lines, line) = (self.lines(), index / LINE);
        if line >= lines || line >= stages {
            return ground(rank, index);
        }
        number(rank, line + (stages - 1 - line) / lines * lines, index % LINE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Work = Work { operation: Operation::Exchange, ranks: 2, workers: 2, doubles: 20, units: 0, stages: 7 };

    #[test]
    fn the_line_wanders_through_the_array_and_what_it_leaves_is_known() {
        for stages in [1, 2, 3, 7] {
            let work = Work { stages, ..WORK };
            let mut memory = Memory::new(1, &work);
            for stage in 0..stages {
                memory.mark(1, stage);
            }
            let left: Vec<f64> = (0..20).map(|index| memory.last(1, index, stages)).collect();
            assert_eq!(memory.own, left, "{stages} stages");
        }
    }

    #[test]
    fn a_number_that_is_not_of_the_stage_or_not_of_the_rank_is_seen() {
        let mut memory = Memory::new(1, &WORK);
        memory.mark(1, 3);
        let array = memory.own.clone();
        assert!(memory.is_marked(&array, 1, 3));
        assert!(!memory.is_marked(&array, 0, 3) && !memory.is_marked(&array, 1, 4));
    }

    #[test]
    fn a_sum_is_that_of_all_ranks_and_leaves_zeros() {
        let work = Work { operation: Operation::AllReduce, ..WORK };
        let mut memory = Memory::new(0, &work);
        let (first, end) = memory.line(5);
        for (k, index) in (first..end).enumerate() {
            memory.own[index] = (0..3).map(|rank| number(rank, 5, k)).sum();
        }
        assert!(!memory.is_whole(0, 3, &work));
        assert!(memory.is_summed(3, 5));
        assert!(memory.is_whole(0, 3, &work));
        assert!(!memory.is_summed(3, 5), "a sum that was lost is seen");
    }

    #[test]
    fn an_array_that_was_not_copied_whole_is_seen() {
        let mut memory = Memory::new(0, &WORK);
        memory.low = (0..20).map(|index| memory.last(1, index, WORK.stages)).collect();
        memory.high = memory.low.clone();
        assert!(memory.is_whole(0, 2, &WORK));
        memory.high[19] = 0.0;
        assert!(!memory.is_whole(0, 2, &WORK));
    }
}
