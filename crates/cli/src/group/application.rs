//! Several processes for `lehr demo genes`, `lehr demo patients` and `lehr demo chemistry`. The request is that of
//! dissimilarities ([`super::pairs`]), and all processes continue from there.
//!
//! After the comparison every process has all pairs, so the clusters and the map need no further request. Between the
//! request and the exit status, nothing can happen to the lead alone: if a stage ends early, it ends early for all.

use std::path::Path;

use lehr_demos::application::{Subject, whole};
use lehr_distances::checkpoint::LogReader;
use lehr_distances::{Metric, Silent, all_pairs};
use lehr_mining::{pairwise, smacof};
use lehr_ranks::Execution;
use lehr_ranks_mpi::Process;

use super::{Follower, pairs, unreachable};
use crate::arguments::ApplicationArguments;
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::plan::execution;

/// Follows the lead to the end; returns the exit code. Prints nothing, because the lead prints.
///
/// # Errors
/// Returns [`Kind::Environment`] if the others cannot be reached, [`Kind::NoResult`] if a request cannot be understood;
/// then this process reports it.
pub fn follow(process: Process, subject: Subject, arguments: &ApplicationArguments) -> Result<u8, Failure> {
    // The lead receives the first Ctrl-C too, and stops the run for all; a second one ends this process, and with it
    // the job.
    let interrupt = Interrupt::listen()?;
    let request = process.share(Vec::new()).map_err(unreachable)?;
    let code = match request[..] {
        [code] => code,
        _ => {
            let (items, _, log) = pairs::decode(&request)?;
            drop(request);
            // If these arguments are invalid, the lead refuses them before it sends a request.
            let (execution, _) = execution(&arguments.execution, Some(process.job()))?;
            let methods = subject.methods(arguments.asked(), items.len());
            items.compared(&subject.options(), |metric| {
                compute(metric, &methods, &execution, log, &mut Follower::new(&interrupt))
            })?;
            let word = process.share(Vec::new()).map_err(unreachable)?;
            if let [code] = word[..] { code } else { Kind::NoResult.code() }
        }
    };
    process.finish().map_err(unreachable)?;
    Ok(code)
}

/// Computes this process's part of all stages. The lead shares the outcome with all processes, so that all agree.
fn compute(
    metric: &dyn Metric,
    (clustering, embedding): &(pairwise::Parameters, smacof::Parameters),
    execution: &Execution,
    log: Option<Vec<u8>>,
    follower: &mut Follower,
) -> Result<(), Failure> {
    let read = |bytes| LogReader::of_bytes::<f32>(bytes, Path::new("the checkpoint of process 0"), metric);
    let mut kept = log.map(read).transpose()?;
    let Ok(half) = all_pairs::<f32>(metric, execution, kept.as_mut(), &mut Silent) else { return Ok(()) };
    let matrix = whole(&half)?;
    drop(half);
    if pairwise::cluster(&matrix, None, clustering, execution, follower).is_ok() {
        let input = smacof::Input::new(&matrix);
        let _ = smacof::embed(&input, embedding, execution, follower);
    }
    Ok(())
}
