//! The page of `lehr demo genes`, `lehr demo patients` and `lehr demo chemistry`: map, matrix, clusters and what is known of them, and the time of each stage.

use lehr_methods::Classes;
use lehr_methods::numbers::{self, counted, duration, grouped, share, significant};
use lehr_mining::agreement::Agreement;
use lehr_mining::enrichment::Enrichment;
use lehr_report::markup::escape;
use lehr_report::pairs::{self, Colouring};
use serde_json::json;

use super::found::{Found, in_rich, knowledge};

/// The whole page. `stages`: seconds by stage so far.
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
    let known = application.known.as_ref().map(Colouring::Classes);
    let colourings: Vec<Colouring<'_>> =
        [Colouring::Classes(found.clusters)].into_iter().chain(known).chain([Colouring::Stress]).collect();
    let figures = pairs::map_section(map.dimension)
        + &pairs::heat_section()
        + &pairs::growth_section()
        + &pairs::shepard_section()
        + &pairs::fall_section();
    let mut tables = String::from("<h2>The clusters</h2>\n") + &pairs::clusters_table(&application.ids, model);
    if let Some(enrichment) = found.enrichment {
        lead += &format!(" {}.", in_rich(enrichment));
        tables += &enrichment_table(found, enrichment);
    } else if let (Some(known), Some(agreement)) = (&application.known, found.agreement) {
        let index = significant(agreement.adjusted_rand, 3);
        lead += &format!(" Clusters and known {} agree by an adjusted Rand index of {index}.", known.name);
        tables += &agreement_table(known, agreement);
    }
    if !found.marks.is_empty() {
        tables += &marks_table(found);
    }
    tables += &stages_table(stages);
    let data = json!({
        "map": pairs::map_data(&application.ids, map, &colourings),
        "heat": pairs::heat(found.matrix, &model.labels),
        "shepard": pairs::shepard_data(shepard),
        "curves": { "growth": pairs::growth(model), "fall": pairs::fall(map) },
    });
    pairs::fill(subject.about(), &headline, &lead, found.warnings, &figures, &tables, &data)
}

fn enrichment_table(found: &Found<'_>, enrichment: &Enrichment) -> String {
    let structures = found.application.structures.as_ref();
    let rows: String = enrichment
        .clusters
        .iter()
        .zip(&found.model.clusters)
        .enumerate()
        .map(|(cluster, (of, facts))| {
            let number = |text: String| format!("<td class=\"number\">{}</td>", escape(&text));
            let cells = number(grouped(of.items))
                + &number(grouped(of.active))
                + &number(numbers::share(of.active as f64, of.items as f64))
                + &number(significant(of.factor, 3))
                + &number(significant(of.chance, 2));
            let structure = structures.map_or(String::new(), |known| {
                format!(
                    "<td>{} <code>{}</code></td>",
                    escape(&found.application.ids[facts.medoid]),
                    escape(&known[facts.medoid])
                )
            });
            format!(
                "<tr><td><i class=\"swatch\" data-cluster=\"{cluster}\"></i>{cluster}</td>{cells}{structure}</tr>\n"
            )
        })
        .collect();
    let structure = if structures.is_some() { "<th>medoid</th>" } else { "" };
    format!(
        "<h2>Where the active compounds are</h2><p class=\"caption\">Of {} compounds {} are active. The factor is how many times as frequent they are in the cluster as in all; chance, how likely so many \
         or more are among as many compounds drawn at random. {}.</p>\n\
         <div class=\"scroll\"><table><thead><tr><th>cluster</th><th class=\"number\">compounds</th><th class=\"number\">active</th><th class=\"number\">share</th>\
         <th class=\"number\">factor</th><th class=\"number\">chance</th>{structure}</tr></thead><tbody>\n{rows}</tbody></table></div>\n",
        grouped(enrichment.items),
        grouped(enrichment.active),
        in_rich(enrichment)
    )
}

fn agreement_table(known: &Classes, agreement: &Agreement) -> String {
    let number = |text: String| format!("<td class=\"number\">{text}</td>");
    let head: String =
        known.classes.iter().map(|class| format!("<th class=\"number\">{}</th>", escape(class))).collect();
    let rows: String = agreement
        .counts
        .chunks(agreement.classes.max(1))
        .enumerate()
        .map(|(cluster, counts)| {
            let cells: String = counts.iter().map(|count| number(grouped(*count))).collect();
            format!("<tr><td><i class=\"swatch\" data-cluster=\"{cluster}\"></i>{cluster}</td>{cells}</tr>\n")
        })
        .collect();
    format!(
        "<h2>Clusters and known classes</h2><p class=\"caption\">Items by cluster and {}. The adjusted Rand index is {}: 1 for the same partition, 0 for what chance gives.</p>\n\
         <div class=\"scroll\"><table><thead><tr><th>cluster</th>{head}</tr></thead><tbody>\n{rows}</tbody></table></div>\n",
        escape(&known.name),
        significant(agreement.adjusted_rand, 3)
    )
}

fn marks_table(found: &Found<'_>) -> String {
    let rows: String = (0..found.marks.len())
        .map(|cluster| {
            let marks = escape(&knowledge(found, cluster, usize::MAX)).replace(", ", "<br>");
            format!("<tr><td><i class=\"swatch\" data-cluster=\"{cluster}\"></i>{cluster}</td><td>{marks}</td></tr>\n")
        })
        .collect();
    format!(
        "<h2>What marks the clusters</h2><p class=\"caption\">The features whose means in the cluster are furthest from those of all, in standard deviations; of features that at least \
         half of its members have.</p>\n<div class=\"scroll\"><table><thead><tr><th>cluster</th><th>features</th></tr></thead><tbody>\n{rows}</tbody></table></div>\n"
    )
}

fn stages_table(stages: &[(&'static str, f64)]) -> String {
    let total: f64 = stages.iter().map(|(_, seconds)| seconds).sum();
    let rows: String = stages
        .iter()
        .map(|(stage, seconds)| {
            format!(
                "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
                escape(stage),
                duration(*seconds),
                share(*seconds, total)
            )
        })
        .collect();
    format!(
        "<h2>The time of each stage</h2>\n<div class=\"scroll\"><table><thead><tr><th>stage</th><th class=\"number\">time</th><th class=\"number\">share</th></tr></thead><tbody>\n{rows}</tbody></table></div>\n"
    )
}
