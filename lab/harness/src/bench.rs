//! What a session of `lehr-lab` works with: the running peers, the probe, the unit's measured time, the figures so far
//! and where they are kept.
//!
//! [`session`] measures the requested cases and prints tables or a record. A lab ([`ports`](crate::ports),
//! [`ranks`](crate::ranks)) adds its definition, its sides and its cases. [`stages`] determines the number of stages of
//! a sample, and [`Bench::take_turns`] has the sides take turns.

pub mod activity;
pub mod estimate;
pub mod figure;
pub mod peers;
pub mod presence;
pub mod record;
pub mod session;
pub mod stages;
pub mod table;

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use crate::machine::available_threads;
use crate::measure::{Spread, timed};
use crate::output;
use crate::runner::number;
use crate::unit::units;
use activity::{Activity, Watch};
use estimate::Plan;
use figure::{Figure, Place, Samples};
use peers::Peer;
use record::Kept;

/// Returns whether the session should end; the lab calls it between samples.
pub type Stop = Box<dyn FnMut() -> bool>;

/// A lab: its name in the command, and the programs of its peers.
#[derive(Clone, Copy, Debug)]
pub struct Lab {
    /// The name of the lab in the command, such as `ports` in `lehr-lab ports`.
    pub name: &'static str,
    /// The folder of the peers' programs.
    pub folder: &'static str,
    /// The expected programs, each with the target of make that builds it. Other programs in the folder take part too.
    pub programs: &'static [(&'static str, &'static str)],
    /// What the user can do if there are no peers.
    pub how_to_build: &'static str,
}

/// The state of a session.
pub struct Bench {
    /// The running peers; there may be none.
    pub peers: Vec<Peer>,
    /// The number of cores that this program may use.
    pub cores: usize,
    /// The time of a unit of computation, in nanoseconds: the median of several measurements before the first case.
    pub unit_ns: f64,
    /// The figures that this session or an earlier one has measured.
    pub figures: Vec<Figure>,
    /// The number of figures from earlier sessions.
    earlier: usize,
    plan: Plan,
    kept: Option<Kept>,
    watch: Watch,
    stop: Stop,
    is_over: bool,
}

/// An engine of a peer, which does the work of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerEngine {
    /// The index of the peer in [`Bench::peers`].
    pub peer: usize,
    /// The number of the engine within the peer.
    pub engine: usize,
}

impl Bench {
    /// Starts the peers of `lab` that are in `folder` and measures the unit.
    ///
    /// # Errors
    /// Returns an error if a program in the folder does not speak the protocol.
    pub fn start(lab: &Lab, folder: &Path, stop: Stop) -> Result<Self> {
        let peers = peers::start_all(lab, folder)?;
        let looks: Vec<f64> = (0..9).map(|_| timed(|| units(1, 100)).0 * 1e7).collect();
        let unit_ns = Spread::of(&looks).median;
        Ok(Self {
            peers,
            cores: available_threads(),
            unit_ns,
            figures: Vec::new(),
            earlier: 0,
            plan: Plan::default(),
            kept: None,
            watch: Watch::default(),
            stop,
            is_over: false,
        })
    }

    /// Keeps the record in `kept`, and begins with the figures that the record already has.
    pub fn keep_in(&mut self, kept: Kept, figures: Vec<Figure>) {
        self.earlier = figures.len();
        self.figures = figures;
        self.kept = Some(kept);
    }

    /// Prints the plan, and then reports each case against it.
    pub fn follow(&mut self, plan: Plan) {
        self.plan = plan;
    }

    /// Adds a figure.
    pub fn add(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// Returns whether an earlier session has measured this case (with this number of workers, if one is given).
    pub fn knows(&self, experiment: &str, case: &str, workers: Option<usize>) -> bool {
        self.figures[..self.earlier].iter().any(|figure| {
            figure.experiment == experiment && figure.case == case && (workers.is_none() || figure.workers == workers)
        })
    }

    /// Returns whether this library took part in an earlier session.
    pub fn took_part_before(&self, library: &str) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.named_before(library))
    }

    /// Returns whether somebody has asked to stop. A case in progress then gives no figures.
    pub fn is_over(&mut self) -> bool {
        self.is_over = self.is_over || (self.stop)();
        self.is_over
    }

    /// Returns how much other programs and the host have used the machine so far.
    pub fn activity(&self) -> Option<Activity> {
        self.watch.activity()
    }

    /// Writes the record, if there is one.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save(&mut self) -> Result<()> {
        self.watch.look();
        let activity = self.watch.activity();
        self.kept.as_mut().map_or(Ok(()), |kept| kept.write(&self.figures, activity))
    }

    /// Returns every engine of every peer with its name, including the floors.
    pub fn engines(&self) -> Vec<(PeerEngine, String)> {
        let all = self.peers.iter().enumerate();
        all.flat_map(|(peer, running)| {
            running.engines.iter().enumerate().map(move |(engine, name)| (PeerEngine { peer, engine }, name.clone()))
        })
        .collect()
    }

    /// The round trip of a cache line between two cores, in nanoseconds, if the floors are built and there are two
    /// cores.
    ///
    /// # Errors
    /// Returns an error if the program of the floors has ended.
    pub fn probe(&mut self) -> Result<Option<f64>> {
        let Some(floor) = self.peers.iter_mut().find(|peer| peer.is_floor()) else { return Ok(None) };
        floor.ask("0 probe")?.map(|answer| number(&answer, "round_trip_ns")).transpose()
    }

    /// Has `sides` take turns for `rounds` rounds, each sample with its place; the order turns by one each round. A
    /// side gives a value, or nothing if it does not do that, which it must say the first time. Nobody has samples if
    /// the session is stopped before the last round.
    ///
    /// # Errors
    /// Returns the first error of a side.
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
                if self.is_over() {
                    return Ok(sides.iter().map(|_| None).collect());
                }
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

    /// Prints on standard error the next case and the rest of the plan, and writes the record of the earlier cases.
    pub fn progress(&mut self, text: &str) {
        // A full disk is reported once more at the end, as an error.
        if let Err(error) = self.save() {
            output::note(&format!("{error:#}"));
        }
        output::note(&format!("{}{text}", self.plan.reached(text)));
    }

    /// Returns the versions of the peers' libraries.
    pub fn libraries(&self) -> Value {
        let mut all = serde_json::Map::new();
        for peer in &self.peers {
            all.extend(peer.libraries.as_object().cloned().unwrap_or_default());
        }
        json!(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAB: Lab = Lab { name: "none", folder: "no such folder", programs: &[], how_to_build: "there are none" };

    fn bench(stop: impl FnMut() -> bool + 'static) -> Bench {
        Bench::start(&LAB, Path::new(LAB.folder), Box::new(stop)).unwrap()
    }

    #[test]
    fn a_session_that_is_stopped_within_a_case_has_no_figures_of_it() {
        let mut asked = 0;
        let mut bench = bench(move || {
            asked += 1;
            asked > 3
        });
        let mut samples = 0;
        let taken = bench.take_turns(5, &mut [1.0, 2.0], |_, side| {
            samples += 1;
            Ok(Some(*side))
        });
        assert!(taken.unwrap().iter().all(Option::is_none));
        assert_eq!(samples, 3);
        assert!(bench.is_over());
    }

    #[test]
    fn what_a_session_before_measured_is_known_and_what_this_one_did_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut bench = bench(|| false);
        let mut samples = Samples::default();
        samples.push(1.0, Place::Unknown);
        let figure = |case: &str| Figure::new("rings", case, "lehr ports", "us", &samples, 1.0).with_workers(2);
        let this = record::Taken {
            command: "lehr-lab ports".into(),
            machine: crate::machine::Machine::look(),
            libraries: Value::Null,
            activity: None,
        };
        let (kept, _) = Kept::open::<Figure>(&folder.path().join("r.json"), this).unwrap();
        bench.keep_in(kept, vec![figure("2 ranks")]);
        bench.add(figure("3 ranks"));
        assert!(bench.knows("rings", "2 ranks", None) && bench.knows("rings", "2 ranks", Some(2)));
        assert!(!bench.knows("rings", "2 ranks", Some(1)) && !bench.knows("rings", "3 ranks", None));
        bench.save().unwrap();
        let kept: Vec<Figure> =
            serde_json::from_str(&std::fs::read_to_string(folder.path().join("r.json")).unwrap()).unwrap();
        assert_eq!(kept.len(), 2);
    }
}
