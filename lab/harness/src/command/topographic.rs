//! `quality topographic`: the log-likelihood of one default map, beside that of ugtm with the same nodes and functions
//! in the same session.

use anyhow::{Context, Result, ensure};
use lehr_data::Points;
use lehr_data::scale::{Scale, Scaling};
use lehr_mining::anneal::Silent;
use lehr_mining::gtm::{self, Parameters, Start};
use lehr_mining::mixture::{Covariance, Mixture};
use lehr_ranks::Execution;
use serde_json::json;

use crate::arguments::MeasurementArguments;
use crate::command::mixtures::above_percent;
use crate::definition::{self, Densities};
use crate::inputs;
use crate::machine::{Machine, available_threads};
use crate::measure::{Spread, timed};
use crate::output;
use crate::record::Record;
use crate::runner::{Runner, number, numbers};

const WIDTHS: [usize; 5] = [26, 20, 18, 12, 12];
const SCRIPT: &str = "lab/runners/topographic/runner.py";

/// Fits every map of `mining/densities.json` whose data are available.
///
/// # Errors
/// Returns an error if a set cannot be read, a fit or a peer fails, or the record cannot be written.
pub fn run(arguments: &MeasurementArguments) -> Result<()> {
    let Densities { maps, .. } = definition::read("mining/densities.json")?;
    ensure!(
        arguments.peers.is_file(),
        "{} is not there: `make peers` installs ugtm, or --peers names a Python that has it",
        arguments.peers.display()
    );
    let threads = arguments.threads.unwrap_or_else(available_threads);
    let machine = Machine::look();
    let mut record = Record::new(&arguments.record, "topographic");
    output::line(
        "Log-likelihood a row of maps of standardised columns, above ugtm's of the same nodes and functions in %",
    );
    output::line(&machine.line());
    for wanted in maps.iter().filter(|wanted| arguments.wants(&wanted.set.name)) {
        let Some(path) = inputs::find(&wanted.set, arguments.data.as_deref()) else {
            output::note(&format!("{} is not here (LEHR_DATA or --data)", wanted.set.name));
            continue;
        };
        let points = varying(&inputs::load(&wanted.set, &path)?)?;
        let shared = inputs::write_table("table.bin", &points)?;
        let mut runner = Runner::start("ugtm", &arguments.peers, [SCRIPT])?;
        let answer = runner.ask(&json!({ "table": shared }).to_string())?;
        record.versions(&answer["versions"].to_string());
        for &[nodes, basis] in &wanted.grids {
            let case = format!("{} {nodes} x {nodes} nodes, {basis} x {basis} functions", wanted.set.name);
            output::line(&format!("\n{case}, {} rows", points.len()));
            let heads = ["engine", "log-likelihood a row", "above ugtm, %", "order", "seconds"];
            output::row(&WIDTHS, &heads.map(String::from));
            let answer = runner.ask(&json!({ "nodes": nodes, "basis": basis, "threads": threads }).to_string())?;
            let theirs = likelihood(&points, numbers(&answer, "images")?, number(&answer, "noise")?)?;
            tell(&case, "ugtm", theirs, theirs, None, number(&answer, "seconds")?, &mut record);
            // This is the width of ugtm's functions: with s = 0.3, their variance is 0.3 times the squared distance to
            // the next.
            let width = 0.3f64.sqrt();
            for (name, start) in [("lehr", None), ("lehr from the plane", Some(Start::Plane))] {
                let parameters =
                    Parameters { nodes: Some(nodes), basis: Some(basis), width, start, ..Parameters::default() };
                let execution = Execution { threads, ranks: threads, ..Execution::default() };
                let (seconds, model) = timed(|| gtm::fit(&points, &parameters, &execution, &mut Silent));
                let model = model?;
                let images = (0..model.map.len()).flat_map(|k| model.map.at(&model.map.node(k))).collect();
                let ours = likelihood(&points, images, model.map.noise())?;
                tell(&case, name, ours, theirs, Some(model.order), seconds, &mut record);
            }
        }
    }
    output::line(&format!("\nrecord: {}", record.write(&machine)?.display()));
    Ok(())
}

/// Returns the standardised columns, without constant columns, for which ugtm gives no answer.
fn varying(points: &Points) -> Result<Points> {
    let dimension = points.dimension();
    let varies = |j: usize| points.column(j).any(|x| x != points.row(0)[j]);
    let kept: Vec<usize> = (0..dimension).filter(|&j| varies(j)).collect();
    let values = (0..points.len()).flat_map(|row| kept.iter().map(move |&j| points.row(row)[j])).collect();
    let points = Points::new(values, kept.len())?;
    Ok(Scaling::fit(&points, Scale::Std).apply(&points)?)
}

/// Computes the log-likelihood of either side's map: nodes of equal weight with one variance around their images.
fn likelihood(points: &Points, images: Vec<f64>, noise: f64) -> Result<f64> {
    let count = images.len() / points.dimension();
    ensure!(count > 0 && images.len().is_multiple_of(points.dimension()), "{} numbers of images", images.len());
    let map = Mixture::new(
        Covariance::Spherical,
        points.dimension(),
        vec![1.0 / count as f64; count],
        images,
        vec![noise; count],
    );
    let said = map.context("a map whose noise is positive")?.assign(points, 1)?;
    Ok(said.log_densities.iter().sum::<f64>() / points.len() as f64)
}

fn tell(case: &str, engine: &str, found: f64, theirs: f64, order: Option<f64>, seconds: f64, record: &mut Record) {
    let cells = [
        engine.to_owned(),
        format!("{found:.6}"),
        format!("{:.4}", above_percent(found, theirs)),
        order.map_or_else(|| "-".into(), |order| format!("{order:.3}")),
        format!("{seconds:.2}"),
    ];
    output::row(&WIDTHS, &cells);
    let mut add = |quantity: &str, unit: &str, value: f64| {
        record.add(case, engine, quantity, unit, 1, Spread { min: value, median: value, max: value });
    };
    add("log-likelihood a row", "nats", found);
    add("above ugtm", "%", above_percent(found, theirs));
    add("run", "s", seconds);
    if let Some(order) = order {
        add("order", "1", order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_judged_by_its_images_and_its_noise_and_so_is_ours() {
        let (iris, _) = lehr_data::datasets::iris();
        let parameters = Parameters { nodes: Some(6), basis: Some(3), ..Parameters::default() };
        let model = gtm::fit(&iris, &parameters, &Execution::default(), &mut Silent).unwrap();
        let images = (0..model.map.len()).flat_map(|k| model.map.at(&model.map.node(k))).collect();
        let found = likelihood(&iris, images, model.map.noise()).unwrap();
        assert!((found - model.log_likelihood / 150.0).abs() < 1e-9, "{found} for {}", model.log_likelihood / 150.0);
    }

    #[test]
    fn columns_that_do_not_vary_are_left_out() {
        let points = varying(&Points::new(vec![1.0, 5.0, 3.0, 5.0], 2).unwrap()).unwrap();
        assert_eq!(points.values(), [-1.0, 1.0]);
    }
}
