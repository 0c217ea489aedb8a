//! What every case of `lehr lab ports` works with: the running peers, the probe, the unit's measured time, and the figures so far.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::figure::{Figure, Place, Samples};
use super::pattern::units;
use super::peers::{self, Peer};
use crate::machine::available_threads;
use crate::measure::{Spread, timed};
use crate::output;
use crate::runner::number;

/// The state of a session.
#[derive(Debug)]
pub struct Bench {
    /// The peers that are there; none is fine.
    pub peers: Vec<Peer>,
    /// Cores that this program may use.
    pub cores: usize,
    /// What a unit of computation lasts, in nanoseconds: the median of several looks before the first case.
    pub unit_ns: f64,
    /// What was measured so far.
    pub figures: Vec<Figure>,
    is_quiet: bool,
}

/// Who does the work of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerEngine {
    /// The peer, by its place in [`Bench::peers`].
    pub peer: usize,
    /// Its engine, by number.
    pub engine: usize,
}

impl Bench {
    /// Starts the peers in `folder` and measures the unit.
    ///
    /// # Errors
    /// A program in the folder that does not speak the protocol.
    pub fn start(folder: &Path, is_quiet: bool) -> Result<Self> {
        let peers = peers::start_all(folder)?;
        if peers.is_empty() {
            output::note(peers::HOW_TO_BUILD);
        }
        let looks: Vec<f64> = (0..9).map(|_| timed(|| units(1, 100)).0 * 1e7).collect();
        let unit_ns = Spread::of(&looks).median;
        Ok(Self { peers, cores: available_threads(), unit_ns, figures: Vec::new(), is_quiet })
    }

    /// Every engine of every peer, by name; the floors too.
    pub fn engines(&self) -> Vec<(PeerEngine, String)> {
        let all = self.peers.iter().enumerate();
        all.flat_map(|(peer, running)| {
            running.engines.iter().enumerate().map(move |(engine, name)| (PeerEngine { peer, engine }, name.clone()))
        })
        .collect()
    }

    /// The round trip of a cache line between two cores, in nanoseconds, if the floors are built and there are two cores.
    ///
    /// # Errors
    /// If the program of the floors ended.
    pub fn probe(&mut self) -> Result<Option<f64>> {
        let Some(floor) = self.peers.iter_mut().find(|peer| peer.is_floor()) else { return Ok(None) };
        floor.ask("0 probe")?.map(|answer| number(&answer, "round_trip_ns")).transpose()
    }

    /// Has `sides` take turns for `rounds` rounds, each sample with its place; the order turns by one each round. A side gives a value, or nothing if it does not
    /// do that, which it must say the first time.
    ///
    /// # Errors
    /// The first that a side reports.
    pub fn take_turns<S>(
        &mut self,
        rounds: usize,
        sides: &mut [S],
        mut sample: impl FnMut(&mut Self, &mut S) -> Result<Option<f64>>,
    ) -> Result<Vec<Option<Samples>>> {
        let mut taken: Vec<Option<Samples>> = sides.iter().map(|_| Some(Samples::default())).collect();
        for round in 0..rounds {
            let mut before = self.probe()?;
            for turn in 0..sides.len() {
                let side = (turn + round) % sides.len();
                if taken[side].is_none() {
                    continue;
                }
                match (sample(self, &mut sides[side])?, &mut taken[side]) {
                    (Some(value), Some(samples)) => {
                        let after = self.probe()?;
                        samples.push(value, Place::between(before, after));
                        before = after;
                    }
                    (_, slot) => *slot = None,
                }
            }
        }
        Ok(taken)
    }

    /// Says on standard error what is being measured.
    pub fn progress(&self, text: &str) {
        if !self.is_quiet {
            output::note(text);
        }
    }

    /// Versions of the peers' libraries.
    pub fn libraries(&self) -> Value {
        let mut all = serde_json::Map::new();
        for peer in &self.peers {
            all.extend(peer.libraries.as_object().cloned().unwrap_or_default());
        }
        json!(all)
    }
}
