//! The one place where methods meet ranks: what a round is, who runs it, how a program is driven.
//!
//! Everything else in this crate is rank-blind: E-steps add up a leaf, M-steps turn totals into parameters.

mod alone;
mod heeding;
#[cfg(test)]
mod traffic;

pub(crate) use alone::Alone;
pub(crate) use heeding::Heeding;

#[cfg(not(test))]
pub(crate) use lehr_ranks::drive;
pub(crate) use lehr_ranks::{Execution, LeafCells, Partition, Program, Round, Rounds};
#[cfg(test)]
pub(crate) use traffic::drive;

use crate::Error;

/// Runs a round over all leaves and leaves the tree's root in `total`, whose storage is reused.
pub(crate) async fn total_of(rounds: &mut dyn Rounds, round: &dyn Round, total: &mut Vec<f64>) -> Result<(), Error> {
    total.clear();
    total.resize(round.len(), 0.0);
    rounds.round(round, total).await?;
    Ok(())
}
