//! `lehr lab`: measurements that a stranger can repeat.

use lehr_harness::ports::{self, Options};

use crate::arguments::PortsArguments;
use crate::exit::{Failure, Kind};

/// Measures the port runtime beside its peers and the machine's floors.
///
/// # Errors
/// [`Kind::NoResult`] for a wrong result on any side or a peer that ended.
pub fn ports(arguments: PortsArguments) -> Result<(), Failure> {
    let PortsArguments { quick, json, only, rounds, peers } = arguments;
    let mut options = Options { quick, json, only, rounds, ..Options::default() };
    if let Some(peers) = peers {
        options.peers = peers;
    }
    ports::run(&options).map_err(|error| Failure::new(Kind::NoResult, format!("{error:#}")))
}
