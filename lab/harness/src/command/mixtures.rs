//! `quality mixtures`: the log-likelihood of one default fit for each seed, beside scikit-learn's best of many starts
//! in the same session and the highest known.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use lehr_data::Points;
use lehr_data::scale::{Scale, Scaling};
use lehr_mining::agreement::Agreement;
use lehr_mining::anneal::Silent;
use lehr_mining::mixture::{self, Covariance, Mixture, Parameters};
use lehr_ranks::Execution;
use serde_json::{Value, json};

use crate::arguments::MeasurementArguments;
use crate::definition::{self, Densities, MixtureSet};
use crate::inputs;
use crate::machine::{Machine, available_threads};
use crate::measure::{Spread, timed};
use crate::output;
use crate::record::Record;
use crate::runner::{Runner, number, numbers};

const WIDTHS: [usize; 4] = [36, 34, 30, 24];
const SCRIPT: &str = "lab/runners/mixtures/runner.py";

/// Fits every mixture of `mining/densities.json` whose data are available.
///
/// # Errors
/// Returns an error if a set cannot be read, a fit or a peer fails, or the record cannot be written.
pub fn run(arguments: &MeasurementArguments) -> Result<()> {
    let Densities { tolerance, seeds, starts, mixtures, .. } = definition::read("mining/densities.json")?;
    ensure!(
        arguments.peers.is_file(),
        "{} is not there: `make peers` installs scikit-learn, or --peers names a Python that has it",
        arguments.peers.display()
    );
    let seeds = arguments.rounds.unwrap_or(seeds);
    let threads = arguments.threads.unwrap_or_else(available_threads);
    let machine = Machine::look();
    let mut record = Record::new(&arguments.record, "mixtures");
    output::line(&format!(
        "Log-likelihood a row of one default fit, seeds 0 to {}, beside scikit-learn's best of {starts} starts; above the best known in %",
        seeds - 1
    ));
    output::line(&machine.line());
    for wanted in mixtures.iter().filter(|wanted| arguments.wants(&wanted.set.name)) {
        let Some(path) = inputs::find(&wanted.set, arguments.data.as_deref()) else {
            output::note(&format!("{} is not here (LEHR_DATA or --data)", wanted.set.name));
            continue;
        };
        let points = table(wanted, &path)?;
        let classes = inputs::classes(&points);
        let shared = inputs::write_table("table.bin", &points)?;
        let mut runner = Runner::start("scikit-learn", &arguments.peers, [SCRIPT])?;
        let answer = runner.ask(&json!({ "table": shared }).to_string())?;
        record.versions(&answer["versions"].to_string());
        for &components in &wanted.set.clusters {
            for (form, &best) in &wanted.best {
                let covariance = form_of(form)?;
                let case = format!("{} K={components} {form}", wanted.set.name);
                output::line(&format!("\n{case}, {} rows, best known {best:.9}", points.len()));
                let heads = ["engine", "log-likelihood a row, min/med/max", "above the best, %", "Rand min/med/max"];
                output::row(&WIDTHS, &heads.map(String::from));
                let mut ours = Side::new("lehr");
                for seed in 0..seeds as u64 {
                    let parameters =
                        Parameters { components: Some(components), covariance, seed, ..Parameters::default() };
                    let execution = Execution { threads, ranks: threads, ..Execution::default() };
                    let (seconds, model) = timed(|| mixture::fit(&points, &parameters, &execution, &mut Silent));
                    ours.add(seconds, &model?.mixture, &points, classes.as_deref())?;
                }
                ours.report(&case, best, tolerance, &mut record);
                for restarts in [1, starts] {
                    let request = json!({
                        "components": components, "covariance": form, "starts": restarts, "seed": 0, "threads": threads,
                    });
                    let answer = runner.ask(&request.to_string())?;
                    let name = format!("scikit-learn, {restarts} start{}", if restarts == 1 { "" } else { "s" });
                    let mut theirs = Side::new(&name);
                    let found = mixture_of(&answer, covariance, components, points.dimension())?;
                    theirs.add(number(&answer, "seconds")?, &found, &points, classes.as_deref())?;
                    theirs.report(&case, best, tolerance, &mut record);
                }
            }
        }
    }
    output::line(&format!("\nrecord: {}", record.write(&machine)?.display()));
    Ok(())
}

/// Returns the points of a set, standardised if the set says so; their ids are the known classes.
fn table(wanted: &MixtureSet, path: &Path) -> Result<Points> {
    let points = inputs::load(&wanted.set, path)?;
    Ok(if wanted.standardise { Scaling::fit(&points, Scale::Std).apply(&points)? } else { points })
}

fn form_of(name: &str) -> Result<Covariance> {
    let form = Covariance::ALL.into_iter().find(|form| form.name() == name);
    form.with_context(|| format!("{name} is no form of covariances"))
}

/// Converts a peer's answer into a mixture: weights K, means K x D, and scikit-learn's covariances, which are K
/// (spherical) or K x D x D (full).
fn mixture_of(answer: &Value, covariance: Covariance, count: usize, dimension: usize) -> Result<Mixture> {
    let given = numbers(answer, "covariances")?;
    let packed = match covariance {
        Covariance::Full => {
            ensure!(given.len() == count * dimension * dimension, "{} numbers of covariances", given.len());
            let half = |matrix: &[f64]| -> Vec<f64> {
                let lower = (0..dimension).flat_map(|i| (0..=i).map(move |j| (i, j)));
                lower.map(|(i, j)| matrix[i * dimension + j]).collect()
            };
            given.chunks_exact(dimension * dimension).flat_map(half).collect()
        }
        _ => given,
    };
    // The weights of a peer add up to 1 only to rounding; they are used unchanged.
    Ok(Mixture::new(covariance, dimension, numbers(answer, "weights")?, numbers(answer, "means")?, packed)?)
}

/// The fits of one side; the lab computes their likelihoods from their components.
struct Side {
    name: String,
    seconds: Vec<f64>,
    likelihoods: Vec<f64>,
    rand: Vec<f64>,
}

impl Side {
    fn new(name: &str) -> Self {
        Self { name: name.into(), seconds: Vec::new(), likelihoods: Vec::new(), rand: Vec::new() }
    }

    fn add(&mut self, seconds: f64, mixture: &Mixture, points: &Points, classes: Option<&[u32]>) -> Result<()> {
        let said = mixture.assign(points, 1)?;
        self.seconds.push(seconds);
        self.likelihoods.push(said.log_densities.iter().sum::<f64>() / points.len() as f64);
        self.rand.extend(classes.map(|classes| Agreement::new(&said.labels, classes).adjusted_rand));
        Ok(())
    }

    fn report(&self, case: &str, best: f64, tolerance: f64, record: &mut Record) {
        let above: Vec<f64> = self.likelihoods.iter().map(|found| above_percent(*found, best)).collect();
        let (likelihood, above) = (Spread::of(&self.likelihoods), Spread::of(&above));
        let verdict = if above.min >= -100.0 * tolerance { "" } else { " (below)" };
        let count = self.likelihoods.len();
        let cells = [
            self.name.clone(),
            format!("{:.6} {:.6} {:.6}", likelihood.min, likelihood.median, likelihood.max),
            format!("{:.4} {:.4} {:.4}{verdict}", above.min, above.median, above.max),
            if self.rand.is_empty() {
                "-".into()
            } else {
                let rand = Spread::of(&self.rand);
                format!("{:.4} {:.4} {:.4}", rand.min, rand.median, rand.max)
            },
        ];
        output::row(&WIDTHS, &cells);
        record.add(case, &self.name, "log-likelihood a row", "nats", count, likelihood);
        record.add(case, &self.name, "above the best known", "%", count, above);
        record.add(case, &self.name, "run", "s", count, Spread::of(&self.seconds));
        if !self.rand.is_empty() {
            record.add(case, &self.name, "adjusted Rand index", "1", count, Spread::of(&self.rand));
        }
    }
}

/// Returns how far a log-likelihood is above another, in % of its size.
pub fn above_percent(found: f64, best: f64) -> f64 {
    100.0 * (found - best) / best.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peers_components_are_read_in_its_own_form() {
        let answer = json!({ "weights": [0.25, 0.75], "means": [[0.0, 0.0], [4.0, 4.0]], "covariances": [[[2.0, 0.5], [0.5, 1.0]], [[1.0, 0.0], [0.0, 3.0]]] });
        let found = mixture_of(&answer, Covariance::Full, 2, 2).unwrap();
        assert_eq!((found.covariance(0), found.covariance(1)), (vec![2.0, 0.5, 0.5, 1.0], vec![1.0, 0.0, 0.0, 3.0]));
        assert!(mixture_of(&answer, Covariance::Full, 2, 3).is_err());
        let round = json!({ "weights": [1.0], "means": [[0.0, 0.0]], "covariances": [4.0] });
        assert_eq!(mixture_of(&round, Covariance::Spherical, 1, 2).unwrap().covariance(0), [4.0, 0.0, 0.0, 4.0]);
    }

    #[test]
    fn likelihoods_below_zero_are_above_where_they_are_nearer_to_it() {
        assert!((above_percent(-9.0, -10.0) - 10.0).abs() < 1e-12 && above_percent(-11.0, -10.0) < 0.0);
    }
}
