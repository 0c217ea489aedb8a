//! `lehr pairwise`: a matrix of dissimilarities in, a folder with its clusters out.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use lehr_data::write::csv::Table;
use lehr_methods::Matrix;
use lehr_mining::pairwise::{Checkpoint, Cluster, Model, Parameters};
use lehr_ranks::timing::Stopwatch;
use serde_json::{Value, json};

use crate::arguments::PairwiseArguments;
use crate::company::Company;
use crate::company::matrix::{Begin, BeginClustering, Task};
use crate::exit::{Failure, Kind};
use crate::folder::{self, Folder, Results};
use crate::interrupt::Interrupt;
use crate::matrix::read_matrix;
use crate::output;
use crate::plan::{execution, resume_command};
use crate::progress::{Saved, Units, Watch};
use crate::report::pairs;
use crate::resume::{self, Repeated};
use crate::summary;
use lehr_methods::numbers::{amount, counted, duration, significant};

/// The folder for results when none is named.
const OUT_DEFAULT: &str = "lehr-pairwise";

/// Runs the command to its end, together with the other processes of a job, if there are any.
///
/// # Errors
/// [`Failure`], with nothing but a checkpoint left behind.
pub fn run(arguments: PairwiseArguments, typed: &[OsString], company: &Company<'_>) -> Result<(), Failure> {
    let results = &arguments.results;
    let (execution, layout) = execution(&arguments.execution, company.job())?;
    let begin = begin(&arguments)?;
    let out = results.out.clone().or(results.resume.clone()).unwrap_or_else(|| OUT_DEFAULT.into());
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let matrix = read_matrix(&arguments.input, results.quiet)?;
    if interrupt.is_requested() {
        return Err(Failure::new(Kind::Stopped, "stopped while reading; nothing was written"));
    }
    let mut folder =
        Folder::claim(&out, Results::Pairwise, Some(&arguments.input), results.force, results.resume.as_deref())?;
    let (parameters, is_resumed) = (begin.parameters().clone(), begin.is_resumed());
    let weights = matrix.weights.as_deref();
    company.order_task(&Task::Cluster(begin.clone()), &matrix.dissimilarities, weights)?;
    let path = folder.checkpoint();
    let mut watch = Watch::new(&interrupt, Some(path.clone()), Units::default(), results.quiet);
    let outcome = begin.cluster(&matrix.dissimilarities, weights, &execution, &mut watch);
    let saved = watch.finish();
    if saved == Saved::Checkpoint {
        folder.keep();
    }
    let model = match outcome {
        Ok(model) => model,
        Err(lehr_mining::Error::Stopped) => {
            return Err(resume::stopped(&path, &saved, &resume_command(typed, &out)));
        }
        Err(error) => return Err(resume::failed(error)),
    };
    if let Saved::Failed(reason) = saved {
        output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
    }
    model.warnings.iter().for_each(|warning| output::warning(warning));

    let summary = json!({
        "program": summary::PROGRAM,
        "version": env!("CARGO_PKG_VERSION"),
        "method": summary::PAIRWISE,
        "input": {
            "source": arguments.input.display().to_string(),
            "items": matrix.ids.len(),
            "total_weight": weights.map_or(matrix.ids.len() as f64, |weights| weights.iter().sum()),
            "missing_pairs": model.missing_pairs,
            "metric": matrix.dissimilarities.header().map(|header| header.metric.clone()),
        },
        "parameters": parameters,
        "temperature_convention": "full",
        "result": result_facts(&model),
        "clusters": cluster_facts(&matrix.ids, &model),
        "temperatures": { "count": model.history.len(), "history": model.history },
        "splits": model.splits,
        "warnings": model.warnings,
        "execution": {
            "engine": execution.engine.to_string(),
            "ranks": layout.ranks(),
            "threads": execution.threads * layout.processes * layout.nodes,
            "layout": layout.to_string(),
            "imbalance": model.imbalance,
            "resumed": is_resumed,
        },
        "seconds": { "total": clock.seconds(), "phases": model.phases },
    });
    let summary = summary::text(&summary)?;
    let mut staged = folder.stage();
    let labels = lehr_methods::Table::new("labels").ids(Some(&matrix.ids), matrix.ids.len());
    let labels = labels.labels("cluster", &model.labels, false).borrowed("probability", &model.probabilities);
    staged.write(folder::LABELS, |out| labels.write_csv(out))?;
    staged.write(folder::CLUSTERS, |out| write_clusters(out, &matrix.ids, &model))?;
    let page = pairs::clusters_page(&arguments.input.display().to_string(), &matrix, &model);
    staged.write(folder::REPORT, |out| out.write_all(page.as_bytes()))?;
    staged.write(folder::SUMMARY, |out| out.write_all(summary.as_bytes()))?;
    staged.commit()?;
    if results.json { output::result(&summary) } else { tell(&matrix, &model, folder.path(), clock.seconds()) }
}

/// What came out, for a summary.
pub(super) fn result_facts(model: &Model) -> Value {
    json!({
        "clusters": model.clusters.len(),
        "cost": model.cost,
        "free_energy": model.free_energy,
        "last_temperature": model.last_temperature,
        "critical_temperature": model.critical_temperature,
        "iterations": model.iterations,
        "finish": model.finish,
        "damped": model.is_damped,
        "suggestion": model.suggestion.as_ref().map(|suggestion| json!({
            "clusters": suggestion.clusters,
            "plateaus": suggestion.plateaus,
        })),
    })
}

/// Each cluster, for a summary.
pub(super) fn cluster_facts(ids: &[String], model: &Model) -> Vec<Value> {
    let facts = |(number, cluster): (usize, &Cluster)| {
        json!({
            "cluster": number,
            "items": cluster.items,
            "weight": cluster.weight,
            "medoid": ids[cluster.medoid],
            "medoid_mean": cluster.medoid_mean,
            "representatives": cluster.representatives.map(|item| ids[item].clone()),
            "mean_within": cluster.mean_within,
            "mean_nearest": cluster.mean_nearest,
        })
    };
    model.clusters.iter().enumerate().map(facts).collect()
}

/// Where the run begins: with what was asked for, or with the checkpoint of a folder, which no option may contradict.
fn begin(arguments: &PairwiseArguments) -> Result<BeginClustering, Failure> {
    let Some(folder) = &arguments.results.resume else {
        return Ok(Begin::Fresh(Parameters {
            clusters: arguments.clusters,
            stop_temperature: arguments.stop_temperature,
            max_clusters: arguments.max_clusters,
            seed: arguments.seed.unwrap_or(0),
            ..Parameters::default()
        }));
    };
    let checkpoint = Checkpoint::read(&resume::checkpoint_of(folder)?)?;
    let stored = checkpoint.parameters();
    let mut repeated = Repeated::default();
    repeated.option("--clusters", arguments.clusters, stored.clusters, usize::to_string);
    repeated.option("--stop-temperature", arguments.stop_temperature, stored.stop_temperature, f64::to_string);
    repeated.option("--max-clusters", arguments.max_clusters, stored.max_clusters, usize::to_string);
    repeated.option("--seed", arguments.seed, Some(stored.seed), u64::to_string);
    repeated.agree()?;
    Ok(Begin::Resumed(Box::new(checkpoint)))
}

/// `cluster,medoid,items,weight,mean_within,mean_nearest`, a line a cluster, by falling weight.
pub(super) fn write_clusters(out: &mut impl std::io::Write, ids: &[String], model: &Model) -> std::io::Result<()> {
    let columns = ["cluster", "medoid", "items", "weight", "medoid_mean", "mean_within", "mean_nearest"];
    let mut table = Table::new(out, &columns)?;
    for (number, cluster) in model.clusters.iter().enumerate() {
        table.count(number as u64)?;
        table.text(&ids[cluster.medoid])?;
        table.count(cluster.items)?;
        table.number(cluster.weight)?;
        table.number(cluster.medoid_mean)?;
        table.number(cluster.mean_within)?;
        table.number(cluster.mean_nearest)?;
        table.end_row()?;
    }
    Ok(())
}

fn tell(matrix: &Matrix, model: &Model, folder: &Path, seconds: f64) -> Result<(), Failure> {
    let mut rows =
        vec![["cluster", "items", "weight", "medoid", "mean within", "mean to the nearest"].map(String::from)];
    for (number, cluster) in model.clusters.iter().enumerate().take(40) {
        rows.push([
            number.to_string(),
            cluster.items.to_string(),
            amount(cluster.weight),
            matrix.ids[cluster.medoid].clone(),
            significant(cluster.mean_within, 4),
            significant(cluster.mean_nearest, 4),
        ]);
    }
    let items = counted(matrix.ids.len() as u64, "item");
    let clusters = counted(model.clusters.len() as u64, "cluster");
    output::result(&format!(
        "{items} in {clusters}; cost {}\n\n{}\n{}, {} and {} in {} after {}\nreport: {}\n",
        significant(model.cost, 7),
        output::columns(&rows),
        folder::LABELS,
        folder::CLUSTERS,
        folder::SUMMARY,
        folder.display(),
        duration(seconds),
        folder.join(folder::REPORT).display()
    ))
}
