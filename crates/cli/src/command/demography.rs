//! `lehr demo demography`: regions with inhabitants, clustered by attributes, by where a subgroup lives, and by both; profiles and maps.

use std::io;

use lehr_data::write::csv::Table;
use lehr_data::write::names;
use lehr_mining::anneal::{self, Control, Observer, Progress};
use lehr_mining::vector::{self, Model, Parameters};
use lehr_ranks::Layout;
use lehr_ranks::timing::Stopwatch;
use serde_json::{Value, json};

use crate::arguments::DemographyArguments;
use crate::demography::{Profile, Regions, View, agreement};
use crate::exit::{Failure, Kind};
use crate::folder::{self, Folder, Results};
use crate::interrupt::Interrupt;
use crate::plan::execution;
use crate::report::demography as page;
use crate::{output, summary};
use lehr_methods::numbers::{counted, duration, grouped, left_aligned, share, significant};

/// Marks of a cluster that the terminal shows; the report has all attributes.
const MARKS: usize = 3;

/// What one view of the regions came to.
pub struct Found {
    /// The view.
    pub view: View,
    /// Its clusters.
    pub model: Model,
    /// What they are like.
    pub profiles: Vec<Profile>,
    seconds: f64,
}

/// Runs the command to its end.
///
/// # Errors
/// [`Failure`], with nothing left behind.
pub fn run(arguments: &DemographyArguments) -> Result<(), Failure> {
    let (execution, layout) = execution(&arguments.execution, None)?;
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let regions = Regions::new(arguments)?;
    let reading = clock.seconds();
    let results = &arguments.results;
    let mut folder = Folder::claim(&results.out, Results::Demography, arguments.table.as_deref(), results.force, None)?;
    let mut found = Vec::new();
    for &view in regions.views() {
        let clock = Stopwatch::start();
        let points = regions.points(view, arguments.mix)?;
        if !results.quiet {
            output::note(&format!("clustering by {}", view.name()));
        }
        let parameters =
            Parameters { clusters: Some(arguments.clusters), seed: arguments.seed, ..Parameters::default() };
        let model = vector::cluster(&points, &parameters, &execution, &mut Stops(interrupt.within_steps()));
        let model = model.map_err(|error| match error {
            lehr_mining::Error::Stopped => Failure::new(Kind::Stopped, "stopped; nothing was written"),
            error => error.into(),
        })?;
        let profiles = regions.profiles(&model.labels, model.clusters.len());
        found.push(Found { view, model, profiles, seconds: clock.seconds() });
    }
    let warnings: Vec<String> = found
        .iter()
        .flat_map(|found| found.model.warnings.iter().map(|warning| format!("by {}: {warning}", found.view.name())))
        .collect();
    warnings.iter().for_each(|warning| output::warning(warning));
    let clock = Stopwatch::start();
    let mut staged = folder.stage();
    staged.write(folder::LABELS, |out| write_labels(out, &regions, &found))?;
    staged.write(folder::PROFILES, |out| write_profiles(out, &regions, &found))?;
    let text = page::page(&regions, &found, arguments.mix, &warnings);
    staged.write(folder::REPORT, |out| io::Write::write_all(out, text.as_bytes()))?;
    let mut seconds = vec![("reading", reading)];
    seconds.extend(found.iter().map(|found| (found.view.name(), found.seconds)));
    seconds.push(("writing", clock.seconds()));
    let facts = facts(arguments, &regions, &found, &warnings, (&execution, layout), &seconds);
    let summary = summary::text(&facts)?;
    staged.write(folder::SUMMARY, |out| io::Write::write_all(out, summary.as_bytes()))?;
    staged.commit()?;
    if results.json {
        return output::result(&summary);
    }
    output::result(&told(&regions, &found, &folder, seconds.iter().map(|(_, seconds)| seconds).sum()))
}

/// Stops at the first request.
struct Stops(anneal::Interrupt);

impl Observer for Stops {
    fn progress(&mut self, _: &Progress) -> Control {
        if self.0.is_asked() { Control::Stop } else { Control::Continue }
    }

    fn interrupt(&self) -> Option<anneal::Interrupt> {
        Some(self.0.clone())
    }
}

/// `id` and the cluster of each view, a line a region.
fn write_labels(out: &mut impl io::Write, regions: &Regions, found: &[Found]) -> io::Result<()> {
    let columns: Vec<&str> = std::iter::once("id").chain(found.iter().map(|found| found.view.name())).collect();
    let mut table = Table::new(out, &columns)?;
    for (row, id) in regions.ids.iter().enumerate() {
        table.text(id)?;
        for found in found {
            table.count(u64::from(found.model.labels[row]))?;
        }
        table.end_row()?;
    }
    Ok(())
}

/// `view`, `cluster`, `regions`, `people`, `subgroup` and the middle where they are known, then the mean of each attribute: a line a cluster of each view.
fn write_profiles(out: &mut impl io::Write, regions: &Regions, found: &[Found]) -> io::Result<()> {
    let mut ours = vec!["view", "cluster", "regions", "people"];
    ours.extend(regions.subgroup.as_ref().map(|_| "subgroup"));
    if regions.position.is_some() {
        ours.extend(["lon", "lat"]);
    }
    let attributes = names::beside(&ours, regions.attributes.columns(), &[]);
    let columns: Vec<&str> = ours.iter().copied().chain(attributes.iter().map(String::as_str)).collect();
    let mut table = Table::new(out, &columns)?;
    for found in found {
        for (cluster, profile) in found.profiles.iter().enumerate() {
            table.text(found.view.name())?;
            table.count(cluster as u64)?;
            table.count(profile.regions as u64)?;
            table.number(profile.people)?;
            if let Some(subgroup) = profile.subgroup {
                table.number(subgroup)?;
            }
            if let Some((lon, lat)) = profile.middle {
                table.number(lon)?;
                table.number(lat)?;
            }
            for &mean in &profile.means {
                table.number(mean)?;
            }
            table.end_row()?;
        }
    }
    Ok(())
}

/// How alike each two views are.
pub fn agreements(regions: &Regions, found: &[Found]) -> Vec<(View, View, f64)> {
    let pairs = (0..found.len()).flat_map(|i| (i + 1..found.len()).map(move |j| (i, j)));
    pairs
        .map(|(i, j)| {
            let (one, other) = (&found[i], &found[j]);
            (one.view, other.view, agreement(regions, &one.model.labels, &other.model.labels))
        })
        .collect()
}

fn facts(
    arguments: &DemographyArguments,
    regions: &Regions,
    found: &[Found],
    warnings: &[String],
    (execution, layout): (&lehr_ranks::Execution, Layout),
    seconds: &[(&str, f64)],
) -> Value {
    let people: f64 = regions.people.iter().sum();
    let views: Vec<Value> = found
        .iter()
        .map(|found| {
            let clusters = found.profiles.iter().enumerate().map(|(cluster, profile)| {
                let means: serde_json::Map<String, Value> =
                    regions.attributes.columns().iter().cloned().zip(profile.means.iter().map(|mean| json!(mean))).collect();
                json!({
                    "cluster": cluster,
                    "regions": profile.regions,
                    "people": profile.people,
                    "subgroup": profile.subgroup,
                    "middle": profile.middle,
                    "means": means,
                    "deviations": profile.deviations,
                })
            });
            json!({
                "view": found.view.name(),
                "weights": if found.view == View::Position && regions.subgroup.is_some() { "subgroup" } else { "people" },
                "unit": match found.view {
                    View::Attributes => "standard deviation",
                    View::Position => "km",
                    View::Both => "share of the variance",
                },
                "objective": found.model.objective,
                "critical_temperature": found.model.critical_temperature,
                "clusters": clusters.collect::<Vec<_>>(),
            })
        })
        .collect();
    let agreements = agreements(regions, found);
    let agreements = agreements
        .iter()
        .map(|(one, other, rand)| json!({ "views": [one.name(), other.name()], "adjusted_rand": rand }));
    let stages = seconds.iter().map(|(stage, seconds)| json!({ "stage": stage, "seconds": seconds }));
    json!({
        "program": summary::PROGRAM,
        "version": env!("CARGO_PKG_VERSION"),
        "method": summary::DEMOGRAPHY,
        "input": {
            "source": regions.source,
            "regions": regions.ids.len(),
            "people": people,
            "attributes": regions.attributes.columns(),
            "subgroup": regions.subgroup.as_ref().map(|(name, of)| json!({ "name": name, "people": of.iter().sum::<f64>() })),
            "fingerprint": format!("{:016x}", regions.attributes.fingerprint()),
        },
        "parameters": { "clusters": arguments.clusters, "mix": arguments.mix, "seed": arguments.seed },
        "temperature_convention": "full",
        "views": views,
        "agreement": agreements.collect::<Vec<_>>(),
        "warnings": warnings,
        "execution": {
            "engine": execution.engine.to_string(),
            "ranks": layout.ranks(),
            "threads": execution.threads,
            "layout": layout.to_string(),
        },
        "seconds": { "total": seconds.iter().map(|(_, seconds)| seconds).sum::<f64>(), "stages": stages.collect::<Vec<_>>() },
    })
}

fn told(regions: &Regions, found: &[Found], folder: &Folder, seconds: f64) -> String {
    let people: f64 = regions.people.iter().sum();
    let mut text =
        format!("{} of {} people\n", counted(regions.ids.len() as u64, regions.one), grouped(people.round() as u64));
    for found in found {
        let mut rows =
            vec![["cluster", "regions", "people", "marked by (standard deviations from the mean)"].map(String::from)];
        for (cluster, profile) in found.profiles.iter().enumerate() {
            let marks: Vec<String> =
                regions.marks(profile, MARKS).iter().map(|(name, by)| format!("{name} {by:+.2}")).collect();
            rows.push([
                cluster.to_string(),
                grouped(profile.regions as u64),
                share(profile.people, people),
                marks.join(", "),
            ]);
        }
        text.push_str(&format!("\nby {}\n{}", page::title(regions, found.view), left_aligned(&rows)));
    }
    let agreements: Vec<String> = agreements(regions, found)
        .iter()
        .map(|(one, other, rand)| {
            format!("{} and {} agree by an adjusted Rand index of {}", one.name(), other.name(), significant(*rand, 3))
        })
        .collect();
    if !agreements.is_empty() {
        text.push_str(&format!("\n{}\n", agreements.join("; ")));
    }
    format!(
        "{text}\n{}, {} and {} in {} after {}\nreport: {}\n",
        folder::LABELS,
        folder::PROFILES,
        folder::SUMMARY,
        folder.path().display(),
        duration(seconds),
        folder.path().join(folder::REPORT).display()
    )
}
