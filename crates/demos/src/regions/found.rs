//! The results of the views: tables, the summary, and the text that the command prints at the end.

use std::io;

use lehr_data::write::csv::Table;
use lehr_data::write::names;
use lehr_methods::numbers::{counted, grouped, left_aligned, share, significant};
use lehr_mining::vector::{Model, Parameters};
use serde_json::{Value, json};

use super::{Profile, Regions, View, agreement};

/// The name of the method in summaries.
pub const METHOD: &str = "deterministic annealing of regions by attributes, by position and by both";
/// The maximum number of attributes that the terminal shows for a cluster; the report has all of them.
const MARKS: usize = 3;

/// The findings for one view of the regions.
pub struct Found {
    /// The view that was clustered.
    pub view: View,
    /// The clusters.
    pub model: Model,
    /// The profile of each cluster.
    pub profiles: Vec<Profile>,
    /// The duration in seconds.
    pub seconds: f64,
}

/// Returns a title that names the columns of a view.
pub fn title(regions: &Regions, view: View) -> String {
    match (view, &regions.subgroup) {
        (View::Attributes, _) => "attributes".to_owned(),
        (View::Position, Some((name, _))) => format!("position, weighted by {name}"),
        (View::Position, None) => "position, weighted by people".to_owned(),
        (View::Both, _) => "attributes and position together".to_owned(),
    }
}

/// Writes a line for each region: `id`, and the region's cluster in each view.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_labels(out: &mut impl io::Write, regions: &Regions, found: &[Found]) -> io::Result<()> {
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

/// Writes a line for each cluster of each view. The columns are `view`, `cluster`, `regions`, `people`, then `subgroup`
/// and the mean position if they are known, then the mean of each attribute.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_profiles(out: &mut impl io::Write, regions: &Regions, found: &[Found]) -> io::Result<()> {
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

/// Returns the agreement of each pair of views.
pub fn agreements(regions: &Regions, found: &[Found]) -> Vec<(View, View, f64)> {
    let pairs = (0..found.len()).flat_map(|i| (i + 1..found.len()).map(move |j| (i, j)));
    pairs
        .map(|(i, j)| {
            let (one, other) = (&found[i], &found[j]);
            (one.view, other.view, agreement(regions, &one.model.labels, &other.model.labels))
        })
        .collect()
}

/// Returns the facts for `summary.json`. `mix` is the share of positions in the variance of the view that uses both.
pub fn facts(regions: &Regions, found: &[Found], mix: f64, parameters: &Parameters) -> Value {
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
    json!({
        "input": {
            "source": regions.source,
            "regions": regions.ids.len(),
            "people": people,
            "attributes": regions.attributes.columns(),
            "subgroup": regions.subgroup.as_ref().map(|(name, of)| json!({ "name": name, "people": of.iter().sum::<f64>() })),
            "fingerprint": format!("{:016x}", regions.attributes.fingerprint()),
        },
        "parameters": { "clusters": parameters.clusters, "mix": mix, "seed": parameters.seed },
        "temperature_convention": "full",
        "views": views,
        "agreement": agreements.collect::<Vec<_>>(),
    })
}

/// Returns the text that the command prints at the end: the profiles of each view, and the agreement of the views.
pub fn told(regions: &Regions, found: &[Found]) -> String {
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
        text.push_str(&format!("\nby {}\n{}", title(regions, found.view), left_aligned(&rows)));
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
    text
}
