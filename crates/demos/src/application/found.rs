//! The results of an application: a table of its items, the summary, and the text at the end of a run.

use std::io;

use lehr_data::dissimilarities::{Dissimilarities, Header};
use lehr_data::write::csv::Table;
use lehr_methods::numbers::{self, counted, grouped, left_aligned, significant};
use lehr_methods::{Classes, embed};
use lehr_mining::agreement::Agreement;
use lehr_mining::enrichment::{Enrichment, RICH, Share};
use lehr_mining::pairwise::Model;
use lehr_mining::smacof::{Map, Shepard};
use serde_json::{Value, json};

use super::Application;

/// The maximum number of marks of a cluster that the terminal shows; the report has more.
const MARKS: usize = 3;

/// The findings of a run.
pub struct Found<'a> {
    /// The application.
    pub application: &'a Application,
    /// The header of the dissimilarities.
    pub header: &'a Header,
    /// The dissimilarities of all pairs.
    pub matrix: &'a Dissimilarities,
    /// The model, with the cluster of each item.
    pub model: &'a Model,
    /// The clusters as classes.
    pub clusters: &'a Classes,
    /// The map.
    pub map: &'a Map,
    /// The quality of the map.
    pub shepard: &'a Shepard,
    /// The agreement of the clusters with the known classes, if there are known classes.
    pub agreement: Option<&'a Agreement>,
    /// The features that mark each cluster, if items have features.
    pub marks: &'a [Vec<(&'a str, f64)>],
    /// The distribution of the active items over the clusters, if it is known which items are active.
    pub enrichment: Option<&'a Enrichment>,
    /// The warnings for the user.
    pub warnings: &'a [String],
}

/// Returns the heading for the descriptions that [`knowledge`] returns.
pub fn knowledge_name(found: &Found<'_>) -> &'static str {
    if found.enrichment.is_some() {
        "active"
    } else if found.agreement.is_some() {
        "known classes"
    } else {
        "marked by (standard deviations from the mean)"
    }
}

/// Describes a cluster beyond its dissimilarities: the number of its items in each known class, or at most `most`
/// features that mark it.
pub fn knowledge(found: &Found<'_>, cluster: usize, most: usize) -> String {
    if let Some(share) = found.enrichment.and_then(|enrichment| enrichment.clusters.get(cluster)) {
        return format!(
            "{} ({}, {} times as frequent as in all; by chance {})",
            grouped(share.active),
            numbers::share(share.active as f64, share.items as f64),
            significant(share.factor, 2),
            significant(share.chance, 1)
        );
    }
    if let (Some(known), Some(agreement)) = (&found.application.known, found.agreement) {
        let counts = &agreement.counts[cluster * agreement.classes..][..agreement.classes];
        let of = |(class, count): (&String, &u64)| format!("{} {class}", grouped(*count));
        return known.classes.iter().zip(counts).map(of).collect::<Vec<_>>().join(", ");
    }
    let marks = found.marks.get(cluster).into_iter().flatten().take(most);
    marks.map(|(name, mean)| format!("{name} {mean:+.2}")).collect::<Vec<_>>().join(", ")
}

/// Returns a sentence, without its full stop, about the share of active items in the rich clusters.
pub fn in_rich(enrichment: &Enrichment) -> String {
    let (active, items) = enrichment.in_rich();
    if active == 0 {
        return format!("In no cluster are active items at least {RICH} times as frequent as in all");
    }
    format!(
        "{} of {} active items ({}) are in clusters where they are at least {RICH} times as frequent as in all, which hold {} of the items",
        grouped(active),
        grouped(enrichment.active),
        numbers::share(active as f64, enrichment.active as f64),
        numbers::share(items as f64, enrichment.items as f64)
    )
}

/// Writes a line for each item: `item`, `id`, and the known class if there is one.
///
/// # Errors
/// Returns the errors of the writer.
pub fn write_ids(out: &mut impl io::Write, application: &Application) -> io::Result<()> {
    let columns: Vec<&str> =
        ["item", "id"].into_iter().chain(application.known.as_ref().map(|known| known.name.as_str())).collect();
    let mut table = Table::new(out, &columns)?;
    for (item, id) in application.ids.iter().enumerate() {
        table.count(item as u64)?;
        table.text(id)?;
        if let Some(known) = &application.known {
            table.text(known.class(item))?;
        }
        table.end_row()?;
    }
    Ok(())
}

/// Returns the application's facts for `summary.json`.
pub fn facts(found: &Found<'_>) -> Value {
    let Found { application, header, model, map, .. } = found;
    let mut clusters = lehr_methods::pairwise::cluster_facts(&application.ids, model);
    for (cluster, marks) in clusters.iter_mut().zip(found.marks) {
        let marks = marks.iter().map(|(name, mean)| json!({ "feature": name, "mean": mean }));
        cluster["marks"] = marks.collect();
    }
    let agreement = application.known.as_ref().zip(found.agreement).map(|(known, agreement)| {
        json!({
            "with": known.name,
            "classes": known.classes,
            "counts": agreement.counts.chunks(agreement.classes).collect::<Vec<_>>(),
            "adjusted_rand": agreement.adjusted_rand,
        })
    });
    let enrichment = found.enrichment.map(|found| {
        let share = |share: &Share| json!({ "items": share.items, "active": share.active, "factor": share.factor, "chance": share.chance });
        let (active, items) = found.in_rich();
        json!({
            "items": found.items,
            "active": found.active,
            "clusters": found.clusters.iter().map(share).collect::<Vec<_>>(),
            "rich": { "from_factor": RICH, "items": items, "active": active },
        })
    });
    json!({
        "input": {
            "source": header.source,
            "items": header.items,
            "chosen_from": application.from,
            "fingerprint": header.fingerprint,
        },
        "dissimilarities": {
            "metric": header.metric,
            "parameters": header.parameters,
            "missing_pairs": header.missing_pairs,
            "largest": header.largest,
            "mean": header.mean,
        },
        "parameters": { "clustering": application.clustering, "map": application.embedding },
        "temperature_convention": "full",
        "result": lehr_methods::pairwise::result_facts(model),
        "map": embed::result_facts(map, found.shepard),
        "clusters": clusters,
        "agreement": agreement,
        "enrichment": enrichment,
        "warnings": found.warnings,
    })
}

/// Returns the text that the command prints at the end.
pub fn told(found: &Found<'_>) -> String {
    let Found { application, model, map, .. } = found;
    let items = counted(application.ids.len() as u64, application.subject.item());
    let mut rows = vec![["cluster", "items", "medoid", "mean within", knowledge_name(found)].map(String::from)];
    for (number, cluster) in model.clusters.iter().enumerate() {
        rows.push([
            number.to_string(),
            grouped(cluster.items),
            application.ids[cluster.medoid].clone(),
            significant(cluster.mean_within, 4),
            knowledge(found, number, MARKS),
        ]);
    }
    let agreement = application.known.as_ref().zip(found.agreement).map_or(String::new(), |(known, agreement)| {
        let index = significant(agreement.adjusted_rand, 3);
        format!("clusters and known {} agree by an adjusted Rand index of {index}\n", known.name)
    });
    // Two classes of very different sizes are not a partition with which clusters should agree.
    let agreement = found.enrichment.map_or(agreement, |found| format!("{}\n", in_rich(found)));
    format!(
        "{items} in {}, a map in {} of stress {}\n\n{}{agreement}",
        counted(model.clusters.len() as u64, "cluster"),
        counted(map.dimension as u64, "dimension"),
        significant(map.stress, 4),
        left_aligned(&rows)
    )
}
