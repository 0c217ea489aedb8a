//! `stages`: the run time of a fixed computation that is divided into more and more stages, as in figures 2 to 6 and 8
//! of paper 001 and figure 5 of paper 002.
//!
//! There is one rank for each core. Each rank computes the same number of units in all, divided into 1 to 10^7 stages,
//! with the messages of a pattern after each stage. Without overhead, the time would not depend on the number of stages.
//! What is above the time of one stage is the overhead of the messages.
//!
//! In the case *array*, each stage also copies an array of doubles to the next place of a large array, as in figure 8.

use anyhow::{Result, ensure};

use super::definition::Definition;
use super::pattern::{Form, Pattern, Run};
use super::{posting, rendezvous};
use crate::bench::figure::Figure;
use crate::bench::{Bench, PeerEngine};

/// The experiment's name in records.
pub const STAGES: &str = "stages";

/// A division of the computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divided {
    /// The messages after each stage.
    pub messages: Messages,
    /// The number of ranks and of workers.
    pub cores: usize,
    /// The number of units of computation in a stage.
    pub units: u32,
    /// The number of stages.
    pub stages: usize,
}

/// The messages after a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// Those of a pattern.
    Pattern(Pattern),
    /// A message to itself, with an array of this many doubles copied to the next place of a large array.
    Array(usize),
}

impl Divided {
    /// Returns the name of the case in records: `pipeline, P = 2, 1000 stages`.
    pub fn case(&self) -> String {
        let messages = match self.messages {
            Messages::Pattern(pattern) => pattern.to_string(),
            Messages::Array(doubles) => format!("array of {doubles} doubles"),
        };
        format!("{messages}, P = {}, {} stages", self.cores, self.stages)
    }

    fn run(&self, pattern: Pattern) -> Run {
        let Self { cores, units, stages, .. } = *self;
        Run { form: Form::Rendezvous, pattern, ranks: cores, workers: cores, units, stages }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Ours,
    Peer(PeerEngine),
}

impl Side {
    fn seconds(self, bench: &mut Bench, divided: &Divided) -> Result<Option<f64>> {
        match (self, divided.messages) {
            (Self::Ours, Messages::Pattern(pattern)) => rendezvous::run(&divided.run(pattern)).map(Some),
            (Self::Ours, Messages::Array(doubles)) => {
                posting::run_of(doubles, divided.cores, divided.units, divided.stages).map(Some)
            }
            (Self::Peer(PeerEngine { peer, engine }), Messages::Pattern(pattern)) => {
                bench.peers[peer].seconds(&divided.run(pattern).request(engine))
            }
            (Self::Peer(_), Messages::Array(_)) => Ok(None),
        }
    }
}

/// Returns every division of the definition for this many cores.
pub fn cases(definition: &Definition, cores: usize) -> Vec<Divided> {
    let staged = &definition.staged;
    let messages = staged.patterns.iter().map(|&pattern| Messages::Pattern(pattern));
    let messages: Vec<_> =
        messages.chain(staged.array_doubles.iter().map(|&doubles| Messages::Array(doubles))).collect();
    let of = |messages| {
        staged.stages.iter().map(move |&stages| Divided {
            messages,
            cores,
            units: u32::try_from(staged.units / stages).expect("a test checks the definition"),
            stages,
        })
    };
    messages.into_iter().flat_map(of).collect()
}

/// Measures every division, the sides in turns.
///
/// # Errors
/// Returns an error if a result of Lehr is wrong, or if a peer has ended.
pub fn run(bench: &mut Bench, definition: &Definition, rounds: usize) -> Result<()> {
    let peers: Vec<_> = bench.engines().into_iter().filter(|(_, name)| definition.staged.wants_peer(name)).collect();
    for divided in cases(definition, bench.cores) {
        let case = divided.case();
        if bench.is_over() || bench.knows(STAGES, &case, Some(divided.cores)) {
            continue;
        }
        bench.progress(&format!("{STAGES} {case}"));
        let mut sides = vec![("lehr ports", Side::Ours)];
        sides.extend(peers.iter().map(|(engine, name)| (name.as_str(), Side::Peer(*engine))));
        let taken = bench.take_turns(rounds, &mut sides, |bench, (_, side)| {
            let seconds = side.seconds(bench, &divided)?;
            ensure!(seconds.is_none_or(|seconds| seconds > 0.0), "no time has passed");
            Ok(seconds)
        })?;
        for ((name, _), samples) in sides.iter().zip(taken) {
            let Some(samples) = samples else { continue };
            let figure = Figure::new(STAGES, &case, name, "s", &samples, bench.unit_ns);
            bench.add(figure.with_workers(divided.cores).with_stages(divided.stages));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::definition::file;

    #[test]
    fn every_division_has_the_same_computation_and_a_name_of_its_own() {
        let file = file();
        for definition in [&file.full, &file.quick] {
            let cases = cases(definition, 2);
            let names: std::collections::BTreeSet<_> = cases.iter().map(Divided::case).collect();
            assert_eq!(names.len(), cases.len());
            for divided in &cases {
                assert_eq!(divided.units as usize * divided.stages, definition.staged.units, "{}", divided.case());
            }
        }
        let most = |definition: &Definition| cases(definition, 2).iter().map(|divided| divided.stages).max();
        assert_eq!(
            (most(&file.full), cases(&file.full, 4)[0].case()),
            (Some(10_000_000), "pipeline, P = 4, 1 stages".into())
        );
    }

    #[test]
    fn a_division_runs_with_its_messages() {
        for messages in [Messages::Pattern(Pattern::Exchange), Messages::Array(1000)] {
            let lab = crate::bench::Lab { name: "none", folder: "no such folder", programs: &[], how_to_build: "none" };
            let mut bench = Bench::start(&lab, std::path::Path::new(lab.folder), Box::new(|| false)).unwrap();
            let divided = Divided { messages, cores: 2, units: 2, stages: 50 };
            assert!(Side::Ours.seconds(&mut bench, &divided).unwrap().unwrap() > 0.0);
        }
    }
}
