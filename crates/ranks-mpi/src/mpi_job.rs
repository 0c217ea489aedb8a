//! The interface to the engines of `lehr-ranks`: ranks for a run, and agreement on how it ended. Between runs,
//! [`share`] sends bytes from process 0 to all processes.

use std::fmt;

use lehr_ranks::{Communicator, Error, Outcome, Processes};
use lehr_sync::Arc;

use crate::fabric::{endpoints, transport};
use crate::post::Post;
use crate::run::{judge, wait};
use crate::trailer::{Kind, Trailer};

/// The job that this process belongs to.
pub(crate) struct MpiJob {
    pub(crate) post: Arc<Post>,
}

impl fmt::Debug for MpiJob {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "process {} of {}", self.process(), self.processes())
    }
}

impl Processes for MpiJob {
    fn process(&self) -> usize {
        self.post.process()
    }

    fn processes(&self) -> usize {
        self.post.processes()
    }

    fn near(&self) -> (usize, usize) {
        self.post.near()
    }

    fn begin(&self, ranks: usize, may_spin: bool) -> Result<Vec<Communicator>, Error> {
        let (ends, _) = endpoints(&self.post, ranks, may_spin)?;
        Ok(ends.into_iter().map(Communicator::over).collect())
    }

    fn end(&self, own: Option<Outcome>) -> Result<Option<Outcome>, Error> {
        judge(&self.post, self.post.run(), own)
    }
}

/// Sends process 0's bytes to every process, along a binomial tree. Process p receives from the process whose number is
/// p without its lowest set bit.
pub(crate) fn share(post: &Post, own: Vec<u8>) -> Result<Vec<u8>, Error> {
    let (process, processes) = (post.process(), post.processes());
    let (bytes, mut bit) = if process == 0 {
        (own, processes.next_power_of_two())
    } else {
        (wait(post, Kind::Word)?.1, 1 << process.trailing_zeros())
    };
    while bit > 1 {
        bit /= 2;
        let to = process + bit;
        if to < processes {
            let run = post.run();
            let trailer = Trailer {
                run,
                source: process as u32,
                to: to as u32,
                context: 0,
                tag: 0,
                receipt: 0,
                kind: Kind::Word,
            };
            post.send(to, bytes.clone(), trailer).map_err(transport)?;
        }
    }
    Ok(bytes)
}
