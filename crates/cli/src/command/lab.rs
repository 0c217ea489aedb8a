//! `lehr lab`: measurements that a stranger can repeat.

use lehr_harness::ports::{self, End, Options};

use crate::arguments::PortsArguments;
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;

/// Measures the port runtime beside its peers and the machine's floors.
///
/// A first Ctrl-C ends it after the sample that is being taken: what was measured until then is printed and kept.
///
/// # Errors
/// [`Kind::NoResult`] for a wrong result on any side or a peer that ended, [`Kind::Stopped`] after Ctrl-C.
pub fn ports(arguments: PortsArguments) -> Result<(), Failure> {
    let PortsArguments { quick, json, only, rounds, peers, record } = arguments;
    let mut options = Options { quick, json, only, rounds, record, ..Options::default() };
    if let Some(peers) = peers {
        options.peers = peers;
    }
    let mut interrupt = Interrupt::listen()?;
    let end = ports::run(&options, Box::new(move || interrupt.is_requested()))
        .map_err(|error| Failure::new(Kind::NoResult, format!("{error:#}")))?;
    match end {
        End::Whole => Ok(()),
        End::Stopped => Err(Failure::new(Kind::Stopped, "what was measured until then is above")),
    }
}
