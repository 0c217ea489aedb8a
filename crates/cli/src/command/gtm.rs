//! `lehr gtm`: a table in, a folder with a topographic map out.
//!
//! The same order as in [`super::cluster`]: all that can be wrong is found before anything is written.

use std::io::Write;
use std::path::Path;

use lehr_mining::gtm::{self, Model, Parameters, Start};
use lehr_ranks::timing::Stopwatch;

use crate::company::Company;
use crate::exit::{Failure, Kind};
use crate::folder::{self, Folder, Results};
use crate::interrupt::Interrupt;
use crate::model::{Learnt, ModelFile};
use crate::numbers::{counted, duration, significant};
use crate::output;
use crate::plan::gtm::{GtmPlan, GtmStart};
use crate::progress::{Saved, Units, Watch};
use crate::resume::stopped;
use crate::space::Space;
use crate::summary::gtm::GtmSummary;
use crate::{report, tables};

/// Runs a plan to its end, together with the other processes of a job, if there are any.
///
/// # Errors
/// [`Failure`], with nothing but a checkpoint left behind.
pub fn run(mut plan: GtmPlan, company: &Company<'_>) -> Result<(), Failure> {
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let space = Space::read(&plan.path, &plan.selection, plan.missing, plan.frame, plan.spill.as_ref())?;
    if plan.selection.columns.is_none() && !plan.quiet {
        output::columns_taken("a map of", space.columns(), space.left_out());
    }
    let mut warnings = space.warnings();
    let mut phases = vec![("reading".to_owned(), clock.seconds())];
    warnings.iter().for_each(|warning| output::warning(warning));
    if interrupt.is_requested() {
        return Err(Failure::new(Kind::Stopped, "stopped while reading; nothing was written"));
    }
    let resumed = match &plan.start {
        GtmStart::Resumed(_, folder) => Some(folder.clone()),
        GtmStart::Fresh(_) => None,
    };
    let is_resumed = resumed.is_some();
    let mut folder = Folder::claim(&plan.out, Results::Topographic, Some(&plan.path), plan.force, resumed.as_deref())?;
    company.order_gtm(&plan.start, space.points())?;
    let (parameters, model) = fit(&mut plan, &space, &mut folder, &interrupt)?;
    phases.extend(model.phases.iter().cloned());
    model.warnings.iter().for_each(|warning| output::warning(warning));
    warnings.extend(model.warnings.iter().cloned());

    // From here on a first Ctrl-C changes nothing: the results are there and take well under a second to write.
    let clock = Stopwatch::start();
    let as_json = |cause: serde_json::Error| {
        Failure::new(Kind::NoResult, format!("the results cannot be written as JSON: {cause}"))
    };
    let learnt = ModelFile::new(space.table().columns(), space.shifts_and_divisors(), Learnt::Gtm(model.map.clone()));
    let learnt = learnt.text().map_err(as_json)?;
    let mut staged = folder.stage();
    staged.write(folder::PLACES, |out| tables::places(out, space.table().ids(), &model.places))?;
    staged.write(folder::NODES, |out| tables::nodes(out, &space, &model.map, &model.places))?;
    staged.write(folder::MODEL, |out| out.write_all(learnt.as_bytes()))?;
    phases.push(("writing tables".to_owned(), clock.seconds()));
    let clock = Stopwatch::start();
    let page = report::gtm::page(&plan, &space, &parameters, &model, &warnings, &phases);
    staged.write(folder::REPORT, |out| out.write_all(page.as_bytes()))?;
    phases.push(("writing the report".to_owned(), clock.seconds()));
    let summary = GtmSummary::new(&plan, &space, &parameters, &model, &warnings, &phases, is_resumed);
    let summary = summary.text().map_err(as_json)?;
    staged.write(folder::SUMMARY, |out| out.write_all(summary.as_bytes()))?;
    staged.commit()?;
    if plan.json {
        return output::result(&summary);
    }
    let seconds: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    output::result(&told(&space, &model, folder.path(), seconds))
}

/// The fit itself, watched.
fn fit(
    plan: &mut GtmPlan,
    space: &Space,
    folder: &mut Folder,
    interrupt: &Interrupt,
) -> Result<(Parameters, Model), Failure> {
    let checkpoint = folder.checkpoint();
    let mut watch = Watch::new(interrupt, Some(checkpoint.clone()), Units::default(), plan.quiet);
    let start = std::mem::replace(&mut plan.start, GtmStart::Fresh(Parameters::default()));
    let (parameters, outcome) = match start {
        GtmStart::Fresh(parameters) => {
            let outcome = gtm::fit(space.input(), &parameters, &plan.execution, &mut watch);
            (parameters, outcome)
        }
        GtmStart::Resumed(state, _) => {
            let parameters = state.parameters().clone();
            (parameters, gtm::resume(space.input(), *state, &plan.execution, &mut watch))
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

/// What people are told: the headline, how it went, and where the results are.
fn told(space: &Space, model: &Model, folder: &Path, seconds: f64) -> String {
    let rows = space.table().len();
    let side = vec![model.map.side().to_string(); model.map.latent()].join(" x ");
    let spread = model.places.entropies.iter().sum::<f64>() / rows as f64;
    let candidate = |start: Start| model.candidates.iter().find(|candidate| candidate.start == start);
    let beginnings = match (candidate(Start::Annealed), candidate(Start::Plane)) {
        (Some(annealed), Some(plane)) => format!(
            "{}; log-likelihood {} annealed from a point (order {}), {} begun as the principal plane (order {})",
            if model.start == Start::Annealed {
                "the annealed map was kept"
            } else {
                "the map begun as a plane was kept"
            },
            significant(annealed.log_likelihood, 7),
            significant(annealed.order, 3),
            significant(plane.log_likelihood, 7),
            significant(plane.order, 3),
        ),
        _ => model.start.to_string(),
    };
    format!(
        "{} on a map of {side} nodes; log-likelihood {} ({} a unit of weight), noise {} (a standard deviation)\n{beginnings}\n\
         order {} (1: laid out without folds); a row's posterior spreads over {} of the nodes on average\n\
         critical temperature {}, {} cooled through\n\n\
         {}, {}, {} and {} in {} after {}\nreport: {}\n",
        counted(rows as u64, "row"),
        significant(model.log_likelihood, 7),
        significant(model.log_likelihood / space.table().total_weight(), 6),
        significant(model.map.noise().sqrt(), 4),
        significant(model.order, 3),
        significant(spread.exp(), 3),
        significant(model.critical_temperature, 5),
        counted(model.history.len() as u64, "temperature"),
        folder::PLACES,
        folder::NODES,
        folder::MODEL,
        folder::SUMMARY,
        folder.display(),
        duration(seconds),
        folder.join(folder::REPORT).display()
    )
}
