//! Several processes run one method: the lead sends an order, all compute, the lead writes.

use lehr_data::scale::Scale;
use lehr_methods::{Data, Frame, Options, Rows, Takes, Task, find};
use lehr_ranks::Execution;
use lehr_ranks_mpi::Process;
use serde::{Deserialize, Serialize};

use super::{Company, Follower, Head, decode, encode, matrix, misread, unreachable};
use crate::arguments::ExecutionArguments;
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::plan::execution;
use crate::plan::method::MethodPlan;

/// What all do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Order {
    pub(super) method: String,
    pub(super) options: Options,
    /// The content of the checkpoint that the run goes on from.
    pub(super) checkpoint: Option<String>,
}

impl Company<'_> {
    /// Tells the others to compute. All go on to the same call of the method.
    ///
    /// # Errors
    /// [`Kind::Environment`] if they cannot be reached.
    pub fn order_method(&self, plan: &MethodPlan, data: Data<'_>) -> Result<(), Failure> {
        let Some(process) = self.process else { return Ok(()) };
        let checkpoint = plan.resumed.as_ref().map(|(content, _)| String::from_utf8_lossy(content).into_owned());
        let (method, options) = (plan.method.about().name.to_owned(), plan.options.clone());
        let order = Order { method, options, checkpoint };
        let order = match data {
            Data::Rows(rows) => encode(&Head::of_points(order, rows.points(), false), rows.points())?,
            Data::Matrix(data) => matrix::encode(order, data)?,
        };
        process.share(order).map(|_| ()).map_err(unreachable)
    }
}

impl Order {
    /// Does it beside the lead, whose outcome is told: all agree on it.
    pub(super) fn follow(&self, data: Data<'_>, execution: &Execution, follower: &mut Follower) -> Result<(), Failure> {
        let method = find(&self.method).ok_or_else(|| misread("it is of no method"))?;
        let checkpoint = self.checkpoint.as_ref().map(String::as_bytes);
        let _ = method.run(Task { data, checkpoint, execution, observer: follower }, &self.options);
        Ok(())
    }
}

/// Follows the lead of a method to the end: the exit code. Says nothing, since the lead does.
///
/// # Errors
/// As [`super::follow`].
pub fn follow(process: Process, takes: Takes, arguments: &ExecutionArguments) -> Result<u8, Failure> {
    // A first Ctrl-C reaches the lead too, which stops the run for all; a second ends this process, and with it the job.
    let interrupt = Interrupt::listen()?;
    let order = process.share(Vec::new()).map_err(unreachable)?;
    let code = match order[..] {
        [code] => code,
        _ => {
            // The lead refuses these arguments before it gives an order, if there is anything to refuse.
            let (execution, _) = execution(arguments, Some(process.job()))?;
            let mut follower = Follower::new(&interrupt);
            match takes {
                Takes::Rows(_) => {
                    let (head, points) = decode::<Order>(&order)?;
                    drop(order);
                    // The lead has scaled them.
                    let rows = Rows::new(points, Frame::Columns(Scale::None))?;
                    head.start.follow(Data::Rows(&rows), &execution, &mut follower)?;
                }
                Takes::Matrix(_) => {
                    let (told, matrix) = matrix::decode(&order)?;
                    drop(order);
                    told.follow(Data::Matrix(&matrix), &execution, &mut follower)?;
                }
            }
            match process.share(Vec::new()).map_err(unreachable)?[..] {
                [code] => code,
                _ => Kind::NoResult.code(),
            }
        }
    };
    process.finish().map_err(unreachable)?;
    Ok(code)
}
