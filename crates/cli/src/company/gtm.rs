//! Several processes fit one map: the lead sends an order, all compute, the lead writes.

use lehr_data::Points;
use lehr_mining::gtm::{Checkpoint, Parameters, fit, resume};
use lehr_ranks_mpi::Process;
use serde::{Deserialize, Serialize};

use super::{Company, Follower, Head, decode, encode, unreachable};
use crate::arguments::ExecutionArguments;
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::plan::execution;
use crate::plan::gtm::GtmStart;

/// Where the fit begins.
#[derive(Serialize, Deserialize)]
enum Beginning {
    Fresh(Parameters),
    Resumed(Box<Checkpoint>),
}

impl Company<'_> {
    /// Tells the others to fit. All go on to the same call of the method.
    ///
    /// # Errors
    /// [`Kind::Environment`] if they cannot be reached.
    pub fn order_gtm(&self, start: &GtmStart, points: &Points) -> Result<(), Failure> {
        let Some(process) = self.process else { return Ok(()) };
        let start = match start {
            GtmStart::Fresh(parameters) => Beginning::Fresh(parameters.clone()),
            GtmStart::Resumed(checkpoint, _) => Beginning::Resumed(checkpoint.clone()),
        };
        process.share(encode(&Head::of_points(start, points, false), points)?).map(|_| ()).map_err(unreachable)
    }
}

/// Follows the lead to the end: the exit code. Says nothing, since the lead does.
///
/// # Errors
/// As [`super::follow`].
pub fn follow(process: Process, arguments: &ExecutionArguments) -> Result<u8, Failure> {
    // A first Ctrl-C reaches the lead too, which stops the run for all; a second ends this process, and with it the job.
    let interrupt = Interrupt::listen()?;
    let order = process.share(Vec::new()).map_err(unreachable)?;
    let code = match order[..] {
        [code] => code,
        _ => {
            let (head, points) = decode::<Beginning>(&order)?;
            drop(order);
            // The lead refuses these arguments before it gives an order, if there is anything to refuse.
            let (execution, _) = execution(arguments, Some(process.job()))?;
            // The outcome is the lead's, who tells it: all agree on it.
            let mut follower = Follower::new(&interrupt);
            let _ = match head.start {
                Beginning::Fresh(parameters) => fit(&points, &parameters, &execution, &mut follower),
                Beginning::Resumed(checkpoint) => resume(&points, *checkpoint, &execution, &mut follower),
            };
            match process.share(Vec::new()).map_err(unreachable)?[..] {
                [code] => code,
                _ => Kind::NoResult.code(),
            }
        }
    };
    process.finish().map_err(unreachable)?;
    Ok(code)
}
