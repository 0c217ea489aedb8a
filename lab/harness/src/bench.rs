//! What a session of `lehr-lab` works with: the running peers, the probe, the unit's measured time, the figures so far
//! and where they are kept.
//!
//! [`session`] takes what was asked for and ends with tables or a record; a lab ([`ports`](crate::ports),
//! [`ranks`](crate::ranks)) brings its definition, its sides and its cases. [`stages`] finds how many stages a sample
//! has, and [`Bench::take_turns`] has the sides take turns.

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

/// Says whether the session should end; asked between samples.
pub type Stop = Box<dyn FnMut() -> bool>;

/// One of the labs: what the command calls it, and the programs that take part beside ours.
#[derive(Clone, Copy, Debug)]
pub struct Lab {
    /// `ports` for `lehr-lab ports`.
    pub name: &'static str,
    /// Where its peers' programs are put.
    pub folder: &'static str,
    /// The programs that are looked for, and the target that builds each. Others in the folder take part too.
    pub programs: &'static [(&'static str, &'static str)],
    /// What to do if there are none.
    pub how_to_build: &'static str,
}

/// The state of a session.
pub struct Bench {
    /// The peers that are there; none is fine.
    pub peers: Vec<Peer>,
    /// Cores that this program may use.
    pub cores: usize,
    /// What a unit of computation lasts, in nanoseconds: the median of several looks before the first case.
    pub unit_ns: f64,
    /// What was measured so far, by this session or one before.
    pub figures: Vec<Figure>,
    /// How many of them are from sessions before.
    earlier: usize,
    plan: Plan,
    kept: Option<Kept>,
    watch: Watch,
    stop: Stop,
    is_over: bool,
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
    /// Starts the peers of `lab` that are in `folder` and measures the unit.
    ///
    /// # Errors
    /// A program in the folder that does not speak the protocol.
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

    /// Has what is measured kept in a record, beside the figures that are there.
    pub fn keep_in(&mut self, kept: Kept, figures: Vec<Figure>) {
        self.earlier = figures.len();
        self.figures = figures;
        self.kept = Some(kept);
    }

    /// Announces what is to come, and counts the cases off against it.
    pub fn follow(&mut self, plan: Plan) {
        self.plan = plan;
    }

    /// Adds a figure.
    pub fn add(&mut self, figure: Figure) {
        self.figures.push(figure);
    }

    /// Whether a session before has measured this case (with that number of workers, if one is given).
    pub fn knows(&self, experiment: &str, case: &str, workers: Option<usize>) -> bool {
        self.figures[..self.earlier].iter().any(|figure| {
            figure.experiment == experiment && figure.case == case && (workers.is_none() || figure.workers == workers)
        })
    }

    /// Whether a session before names this library among those that took part.
    pub fn took_part_before(&self, library: &str) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.named_before(library))
    }

    /// Whether somebody asked for the end. A case that has begun then gives no figures.
    pub fn is_over(&mut self) -> bool {
        self.is_over = self.is_over || (self.stop)();
        self.is_over
    }

    /// How busy the machine was with other things so far.
    pub fn activity(&self) -> Option<Activity> {
        self.watch.activity()
    }

    /// Writes what there is, if it is kept anywhere.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&mut self) -> Result<()> {
        self.watch.look();
        let activity = self.watch.activity();
        self.kept.as_mut().map_or(Ok(()), |kept| kept.write(&self.figures, activity))
    }

    /// Every engine of every peer, by name; the floors too.
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
    /// If the program of the floors ended.
    pub fn probe(&mut self) -> Result<Option<f64>> {
        let Some(floor) = self.peers.iter_mut().find(|peer| peer.is_floor()) else { return Ok(None) };
        floor.ask("0 probe")?.map(|answer| number(&answer, "round_trip_ns")).transpose()
    }

    /// Has `sides` take turns for `rounds` rounds, each sample with its place; the order turns by one each round. A
    /// side gives a value, or nothing if it does not do that, which it must say the first time. Nobody has samples if
    /// the session is stopped before the last round.
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

    /// Says on standard error what is measured next and what of the plan is left, and keeps what was measured before.
    pub fn progress(&mut self, text: &str) {
        // A full disk is said once more at the end, where it is an error.
        if let Err(error) = self.save() {
            output::note(&format!("{error:#}"));
        }
        output::note(&format!("{}{text}", self.plan.reached(text)));
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
