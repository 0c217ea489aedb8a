//! `lehr mixture`: a table in, a folder with a mixture of Gaussians out.
//!
//! The same order as in [`super::cluster`]: all that can be wrong is found before anything is written.

use std::io::Write;
use std::path::Path;

use lehr_mining::mixture::{self, Model, Parameters};
use lehr_ranks::timing::Stopwatch;

use crate::company::Company;
use crate::exit::{Failure, Kind};
use crate::folder::{self, Folder, Results};
use crate::interrupt::Interrupt;
use crate::model::{Learnt, ModelFile};
use crate::numbers::{column, counted, duration, grouped, share, significant};
use crate::output;
use crate::plan::mixture::{MixturePlan, MixtureStart};
use crate::progress::{Saved, Units, Watch};
use crate::resume::stopped;
use crate::space::Space;
use crate::summary::mixture::{MixtureSummary, rows_of_each};
use crate::{report, tables};

/// Components beyond which people are sent to `components.csv`, and columns.
const SHOWN_ROWS: usize = 40;
const SHOWN_COLUMNS: usize = 6;

/// Runs a plan to its end, together with the other processes of a job, if there are any.
///
/// # Errors
/// [`Failure`], with nothing but a checkpoint left behind.
pub fn run(mut plan: MixturePlan, company: &Company<'_>) -> Result<(), Failure> {
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let space = Space::read(&plan.path, &plan.selection, plan.missing, plan.frame, plan.spill.as_ref())?;
    if plan.selection.columns.is_none() && !plan.quiet {
        output::columns_taken("a mixture over", space.columns(), space.left_out());
    }
    let mut warnings = space.warnings();
    let mut phases = vec![("reading".to_owned(), clock.seconds())];
    warnings.iter().for_each(|warning| output::warning(warning));
    if interrupt.is_requested() {
        return Err(Failure::new(Kind::Stopped, "stopped while reading; nothing was written"));
    }
    let resumed = match &plan.start {
        MixtureStart::Resumed(_, folder) => Some(folder.clone()),
        MixtureStart::Fresh(_) => None,
    };
    let is_resumed = resumed.is_some();
    let mut folder = Folder::claim(&plan.out, Results::Mixture, Some(&plan.path), plan.force, resumed.as_deref())?;
    company.order_mixture(&plan.start, space.points())?;
    let (parameters, model) = fit(&mut plan, &space, &mut folder, &interrupt)?;
    phases.extend(model.phases.iter().cloned());
    model.warnings.iter().for_each(|warning| output::warning(warning));
    warnings.extend(model.warnings.iter().cloned());

    // From here on a first Ctrl-C changes nothing: the results are there and take well under a second to write.
    let clock = Stopwatch::start();
    let as_json = |cause: serde_json::Error| {
        Failure::new(Kind::NoResult, format!("the results cannot be written as JSON: {cause}"))
    };
    let learnt = Learnt::Mixture(model.mixture.clone());
    let learnt = ModelFile::new(space.table().columns(), space.shifts_and_divisors(), learnt);
    let learnt = learnt.text().map_err(as_json)?;
    let mut staged = folder.stage();
    let ids = space.table().ids();
    staged.write(folder::LABELS, |out| {
        tables::components_of_rows(out, ids, &model.labels, &model.probabilities, &model.log_densities, None)
    })?;
    staged.write(folder::COMPONENTS, |out| tables::components(out, &space, &model))?;
    staged.write(folder::MODEL, |out| out.write_all(learnt.as_bytes()))?;
    phases.push(("writing tables".to_owned(), clock.seconds()));
    let clock = Stopwatch::start();
    let page = report::mixture::page(&plan, &space, &parameters, &model, &warnings, &phases);
    staged.write(folder::REPORT, |out| out.write_all(page.as_bytes()))?;
    phases.push(("writing the report".to_owned(), clock.seconds()));
    let summary = MixtureSummary::new(&plan, &space, &parameters, &model, &warnings, &phases, is_resumed);
    let summary = summary.text().map_err(as_json)?;
    staged.write(folder::SUMMARY, |out| out.write_all(summary.as_bytes()))?;
    staged.commit()?;
    if plan.json {
        return output::result(&summary);
    }
    let seconds: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    output::result(&told(&space, &parameters, &model, folder.path(), seconds))
}

/// The fit itself, watched.
fn fit(
    plan: &mut MixturePlan,
    space: &Space,
    folder: &mut Folder,
    interrupt: &Interrupt,
) -> Result<(Parameters, Model), Failure> {
    let units = Units { length: Some(space.unit()), temperature: space.unit_squared() };
    let checkpoint = folder.checkpoint();
    let mut watch = Watch::new(interrupt, Some(checkpoint.clone()), units, plan.quiet);
    let start = std::mem::replace(&mut plan.start, MixtureStart::Fresh(Parameters::default()));
    let (parameters, outcome) = match start {
        MixtureStart::Fresh(parameters) => {
            let outcome = mixture::fit(space.input(), &parameters, &plan.execution, &mut watch);
            (parameters, outcome)
        }
        MixtureStart::Resumed(state, _) => {
            let parameters = state.parameters().clone();
            (parameters, mixture::resume(space.input(), *state, &plan.execution, &mut watch))
        }
    };
    let saved = watch.finish();
    if saved == Saved::Checkpoint {
        folder.keep();
    }
    match (outcome, saved) {
        (Ok(model), Saved::Failed(reason)) => {
            output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
            Ok((parameters, model))
        }
        (Ok(model), _) => Ok((parameters, model)),
        (Err(lehr_mining::Error::Stopped), saved) => Err(stopped(&checkpoint, &saved, &plan.resume_command)),
        (Err(error), _) => Err(error.into()),
    }
}

/// What people are told: the headline, what was tried, the components, and where the results are.
fn told(space: &Space, parameters: &Parameters, model: &Model, folder: &Path, seconds: f64) -> String {
    let criteria = &model.criteria;
    let mut text = format!(
        "{} in {} ({}); log-likelihood {}, BIC {}, AIC {}\n",
        counted(space.table().len() as u64, "row"),
        counted(model.mixture.len() as u64, "component"),
        parameters.covariance,
        significant(criteria.log_likelihood, 7),
        significant(criteria.bic, 7),
        significant(criteria.aic, 7)
    );
    if parameters.components.is_none() {
        let tried: Vec<String> = model
            .candidates
            .iter()
            .map(|candidate| format!("{} {}", candidate.components, significant(candidate.criteria.bic, 7)))
            .collect();
        text.push_str(&format!("the least BIC of all that were tried: {}\n", tried.join(", ")));
    }
    format!(
        "{text}\n{}\n{}, {}, {} and {} in {} after {}\nreport: {}\n",
        table(space, model),
        folder::LABELS,
        folder::COMPONENTS,
        folder::MODEL,
        folder::SUMMARY,
        folder.display(),
        duration(seconds),
        folder.join(folder::REPORT).display()
    )
}

/// The components as columns of text.
fn table(space: &Space, model: &Model) -> String {
    let shown = model.mixture.len().min(SHOWN_ROWS);
    let names = space.table().columns();
    let rows = rows_of_each(model);
    let means: Vec<Vec<f64>> = (0..shown).map(|k| space.center(model.mixture.mean(k))).collect();
    let head =
        |name: &str, cells: Vec<String>| -> Vec<String> { std::iter::once(name.to_owned()).chain(cells).collect() };
    let mut columns = vec![
        head("component", (0..shown).map(|k| k.to_string()).collect()),
        head("rows", rows[..shown].iter().map(|&rows| grouped(rows as u64)).collect()),
        head("weight", model.mixture.weights()[..shown].iter().map(|&weight| share(weight, 1.0)).collect()),
    ];
    for (j, name) in names.iter().enumerate().take(SHOWN_COLUMNS) {
        let values: Vec<f64> = means.iter().map(|mean| mean[j]).collect();
        columns.push(head(name, column(&values, 5)));
    }
    let widths: Vec<usize> =
        columns.iter().map(|column| column.iter().map(|cell| cell.chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in 0..=shown {
        let cells: Vec<String> =
            columns.iter().zip(&widths).map(|(column, &width)| format!("{:>width$}", column[line])).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    let mut left = Vec::new();
    if model.mixture.len() > shown {
        left.push(counted((model.mixture.len() - shown) as u64, "more component"));
    }
    if names.len() > SHOWN_COLUMNS {
        left.push(counted((names.len() - SHOWN_COLUMNS) as u64, "more column"));
    }
    if !left.is_empty() {
        text.push_str(&format!("{} in {}\n", left.join(" and "), folder::COMPONENTS));
    }
    text
}
