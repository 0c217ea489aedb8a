//! `lehr demo demography`: clusters regions by attributes, by where a subgroup lives, and by both; writes profiles and
//! maps.

use std::io::Write;

use lehr_demos::regions::found::{self, Found};
use lehr_demos::regions::{Regions, page};
use lehr_methods::numbers::duration;
use lehr_mining::anneal::{self, Control, Observer, Progress};
use lehr_mining::vector::{self, Parameters};
use lehr_ranks::timing::Stopwatch;
use serde_json::json;

use crate::arguments::DemographyArguments;
use crate::exit::{Failure, Kind};
use crate::folder::{self, Folder, Results};
use crate::interrupt::Interrupt;
use crate::plan::execution;
use crate::{output, summary};

/// Runs the command to its end.
///
/// # Errors
/// Returns [`Failure`], and leaves nothing behind.
pub fn run(arguments: &DemographyArguments) -> Result<(), Failure> {
    let (execution, layout) = execution(&arguments.execution, None)?;
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let regions = Regions::new(&arguments.roles())?;
    let reading = clock.seconds();
    let results = &arguments.results;
    let mut folder = Folder::claim(&results.out, Results::Demography, arguments.table.as_deref(), results.force, None)?;
    let parameters = Parameters { clusters: Some(arguments.clusters), seed: arguments.seed, ..Parameters::default() };
    let mut views = Vec::new();
    for &view in regions.views() {
        let clock = Stopwatch::start();
        let points = regions.points(view, arguments.mix)?;
        if !results.quiet {
            output::note(&format!("clustering by {}", view.name()));
        }
        let model = vector::cluster(&points, &parameters, &execution, &mut Stops(interrupt.within_steps()));
        let model = model.map_err(|error| match error {
            lehr_mining::Error::Stopped => Failure::new(Kind::Stopped, "stopped; nothing was written"),
            error => error.into(),
        })?;
        let profiles = regions.profiles(&model.labels, model.clusters.len());
        views.push(Found { view, model, profiles, seconds: clock.seconds() });
    }
    let warnings: Vec<String> = views
        .iter()
        .flat_map(|found| found.model.warnings.iter().map(|warning| format!("by {}: {warning}", found.view.name())))
        .collect();
    warnings.iter().for_each(|warning| output::warning(warning));
    let clock = Stopwatch::start();
    let mut staged = folder.stage();
    staged.write(folder::LABELS, |out| found::write_labels(out, &regions, &views))?;
    staged.write(folder::PROFILES, |out| found::write_profiles(out, &regions, &views))?;
    let text = page::page(&regions, &views, arguments.mix, &warnings);
    staged.write(folder::REPORT, |out| out.write_all(text.as_bytes()))?;
    let mut seconds = vec![("reading", reading)];
    seconds.extend(views.iter().map(|found| (found.view.name(), found.seconds)));
    seconds.push(("writing", clock.seconds()));
    let stages: Vec<_> = seconds.iter().map(|(stage, seconds)| json!({ "stage": stage, "seconds": seconds })).collect();
    let total: f64 = seconds.iter().map(|(_, seconds)| seconds).sum();
    let mut facts = found::facts(&regions, &views, arguments.mix, &parameters);
    facts["warnings"] = json!(warnings);
    facts["seconds"] = json!({ "total": total, "stages": stages });
    let summary = summary::of_demonstration(found::METHOD, facts, &execution, layout)?;
    staged.write(folder::SUMMARY, |out| out.write_all(summary.as_bytes()))?;
    staged.commit()?;
    if results.json {
        return output::result(&summary);
    }
    output::result(&format!(
        "{}\n{}, {} and {} in {} after {}\nreport: {}\n",
        found::told(&regions, &views),
        folder::LABELS,
        folder::PROFILES,
        folder::SUMMARY,
        folder.path().display(),
        duration(total),
        folder.path().join(folder::REPORT).display()
    ))
}

/// An observer that stops at the first request.
struct Stops(anneal::Interrupt);

impl Observer for Stops {
    fn progress(&mut self, _: &Progress) -> Control {
        if self.0.is_asked() { Control::Stop } else { Control::Continue }
    }

    fn interrupt(&self) -> Option<anneal::Interrupt> {
        Some(self.0.clone())
    }
}
