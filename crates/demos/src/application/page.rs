//! The report of `lehr demo genes`, `lehr demo patients` and `lehr demo chemistry`: the map, and the clusters with their
//! known classes. The matrix, the annealing, the fit of the map and the stages are closed at first. With them open, the
//! page would be 5,000 pixels long.

use lehr_methods::Classes;
use lehr_methods::numbers::{counted, duration, grouped, share, significant};
use lehr_mining::agreement::Agreement;
use lehr_mining::enrichment::Enrichment;
use lehr_report::figure::Figures;
use lehr_report::markup::{Fold, Page, section, swatch, table};
use lehr_report::{pairs, run_section};
use maud::{Markup, Render, html};

use super::Subject;
use super::found::{Found, in_rich, knowledge};

/// Returns the whole report. `stages` holds the seconds that each stage took so far.
pub fn page(found: &Found<'_>, stages: &[(&'static str, f64)]) -> String {
    let Found { application, header, model, map, shepard, .. } = found;
    let subject = application.subject;
    let headline = format!(
        "{} in {}",
        counted(application.ids.len() as u64, subject.item()),
        counted(model.clusters.len() as u64, "cluster")
    );
    let pairs = header.items as u64 * (header.items as u64 - 1) / 2;
    let chosen = match application.from - application.ids.len() {
        0 if application.is_built_in => "All that are built in".to_owned(),
        0 => "All of the file".to_owned(),
        _ => format!("Evenly chosen from {}", grouped(application.from as u64)),
    };
    let mut lead = format!(
        "{chosen}; {} of {}, {} on average.{}{} {}",
        header.metric,
        counted(pairs, "pair"),
        significant(header.mean, 3),
        pairs::missing(header.missing_pairs),
        pairs::suggested(model),
        pairs::trust(map, shepard),
    );
    let structures = application.structures.as_deref();
    let classes: Vec<&Classes> = [found.clusters].into_iter().chain(&application.known).collect();
    let mut figures = Figures::default();
    if let Some(enrichment) = found.enrichment {
        lead += &format!(" {}.", in_rich(enrichment));
    } else if let (Some(known), Some(agreement)) = (&application.known, found.agreement) {
        let index = significant(agreement.adjusted_rand, 3);
        lead += &format!(" Clusters and known {} agree by an adjusted Rand index of {index}.", known.name);
    }
    // The table of active compounds tells the clusters, too, with their structures.
    let fold = if found.enrichment.is_some() { Fold::Closed } else { Fold::Open };
    let main = html! {
        (pairs::map_section(subject.about(), &application.ids, map, &classes, structures, &mut figures))
        (pairs::clusters_table(fold, &application.ids, model, None))
        @if let Some(enrichment) = found.enrichment {
            (enrichment_table(found, enrichment))
        } @else if let (Some(known), Some(agreement)) = (&application.known, found.agreement) {
            (agreement_table(known, agreement))
        }
        @if !found.marks.is_empty() { (marks_table(found)) }
        (pairs::heat_section(Fold::Closed, found.matrix, &model.labels, &application.ids, &mut figures))
        (pairs::growth_section(Fold::Closed, model, None, &mut figures))
        (pairs::fit_sections(Fold::Closed, map, shepard, &mut figures))
        (run_section::of_facts(&told(subject, stages), stages_table(stages)))
    };
    let (headline, source, warnings) = (&headline, subject.about(), found.warnings);
    Page { headline, source, lead: lead.render(), warnings, main, figures }.html()
}

/// Returns the facts about the run that every reader sees.
fn told(subject: Subject, stages: &[(&'static str, f64)]) -> Vec<(&'static str, String)> {
    vec![
        ("Data and method", format!("{}.", subject.about())),
        ("Finished", run_section::finished(lehr_sync::unix_ms())),
        ("Time", duration(stages.iter().map(|(_, seconds)| seconds).sum())),
    ]
}

fn enrichment_table(found: &Found<'_>, enrichment: &Enrichment) -> Markup {
    let structures = found.application.structures.as_ref();
    let rows = html! {
        @for (cluster, (of, facts)) in enrichment.clusters.iter().zip(&found.model.clusters).enumerate() {
            tr data-cluster=(cluster) {
                td data-value=(cluster) { (swatch(cluster)) (cluster) }
                @if let Some(known) = structures {
                    td.words data-smiles=(known[facts.medoid]) { (found.application.ids[facts.medoid]) }
                }
                td { (grouped(of.items)) }
                td { (grouped(of.active)) }
                td { (share(of.active as f64, of.items as f64)) }
                td { (significant(of.factor, 3)) }
                td { (significant(of.chance, 2)) }
            }
        }
    };
    let medoid = structures.is_some().then_some("medoid\t");
    let head = ["cluster"].into_iter().chain(medoid).chain(["compounds", "active", "share", "factor", "chance"]);
    section(
        "activity",
        "Where the active compounds are",
        &format!(
            "Of {} compounds {} are active. The factor is how many times as frequent they are in the cluster as in all; chance, how likely so many \
             or more are among as many compounds drawn at random. {}.",
            grouped(enrichment.items),
            grouped(enrichment.active),
            in_rich(enrichment)
        ),
        table("activities", "Where the active compounds are", head, rows),
    )
}

fn agreement_table(known: &Classes, agreement: &Agreement) -> Markup {
    let rows = html! {
        @for (cluster, counts) in agreement.counts.chunks(agreement.classes.max(1)).enumerate() {
            tr data-cluster=(cluster) {
                td data-value=(cluster) { (swatch(cluster)) (cluster) }
                @for count in counts { td { (grouped(*count)) } }
            }
        }
    };
    let head = ["cluster"].into_iter().chain(known.classes.iter().map(String::as_str));
    section(
        "agreement",
        "Clusters and known classes",
        &format!(
            "Items by cluster and {}. The adjusted Rand index is {}: 1 for the same partition, 0 for what chance gives.",
            known.name,
            significant(agreement.adjusted_rand, 3)
        ),
        table("agreements", "Clusters and known classes", head, rows),
    )
}

fn marks_table(found: &Found<'_>) -> Markup {
    let rows = html! {
        @for cluster in 0..found.marks.len() {
            tr data-cluster=(cluster) {
                td data-value=(cluster) { (swatch(cluster)) (cluster) }
                td.words {
                    @for (place, mark) in knowledge(found, cluster, usize::MAX).split(", ").enumerate() {
                        @if place > 0 { br; }
                        (mark)
                    }
                }
            }
        }
    };
    section(
        "marks",
        "What marks the clusters",
        "The features whose means in the cluster are furthest from those of all, in standard deviations; of features that at least \
         half of its members have.",
        table("features", "What marks the clusters", ["cluster", "features\t"], rows),
    )
}

fn stages_table(stages: &[(&'static str, f64)]) -> Markup {
    let total: f64 = stages.iter().map(|(_, seconds)| seconds).sum();
    let rows = html! {
        @for (stage, seconds) in stages {
            tr { td.words { (stage) } td { (duration(*seconds)) } td { (share(*seconds, total)) } }
        }
    };
    table("times", "The time of each stage", ["stage\t", "time", "share"], rows)
}
