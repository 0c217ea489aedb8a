//! The report of `lehr demo demography`: a map and a table of profiles for each view.

use lehr_data::Points;
use maud::{Markup, Render, html};
use serde_json::{Value, json};

use super::found::{Found, agreements, title};
use super::{Regions, View};
use lehr_methods::numbers::{column, counted, grouped, share, significant};
use lehr_report::figure::Figures;
use lehr_report::markup::{Page, section, swatch, table, typeset};
use lehr_report::picture::Picture;
use lehr_report::scene::Scene;

/// The maximum number of regions that are drawn.
const DRAWN: usize = 60_000;
/// The maximum number of attributes in the report, which shows those that differ most; `profiles.csv` has all of them.
const SHOWN: usize = 12;

/// Returns the whole report.
pub fn page(regions: &Regions, found: &[Found], mix: f64, warnings: &[String]) -> String {
    let people: f64 = regions.people.iter().sum();
    let headline =
        format!("{} of {} people", counted(regions.ids.len() as u64, regions.one), grouped(people.round() as u64));
    let mut figures = Figures::default();
    let agreements = html! {
        @for (one, other, rand) in agreements(regions, found) {
            tr { td.words { (one.name()) " and " (other.name()) } td { (typeset(&significant(rand, 3))) } }
        }
    };
    let main = html! {
        @for found in found { (view_section(regions, found, mix, &mut figures)) }
        (section(
            "agreement",
            "How alike the views are",
            "The adjusted Rand index over regions that people live in: 1 for the same division, 0 for what chance gives.",
            table("agreements", "How alike the views are", ["views\t", "index"], agreements),
        ))
    };
    let attributes = counted(regions.attributes.dimension() as u64, "attribute");
    let lead = format!("{}: {attributes}, clustered by annealing.", regions.source).render();
    Page { headline: &headline, source: &regions.source, lead, warnings, main, figures }.html()
}

fn note(view: View, mix: f64) -> String {
    match view {
        View::Attributes => "Standardised attributes, regions weighted by their people.".to_owned(),
        View::Position => "Distances through the Earth in km.".to_owned(),
        View::Both => format!(
            "Positions and standardised attributes side by side: positions have {} of the variance, regions are weighted by their people.",
            share(mix, 1.0)
        ),
    }
}

fn view_section(regions: &Regions, found: &Found, mix: f64, figures: &mut Figures) -> Markup {
    let name = found.view.name();
    let id = format!("profiles-{name}");
    let content = html! {
        @if let Some(position) = &regions.position {
            (figures.add(&format!("picture-{name}"), map(regions, position, found, &id)))
        }
        (profiles(regions, found, &id))
    };
    section(name, &format!("By {}", title(regions, found.view)), &note(found.view, mix), content)
}

/// Returns the table of profiles: the mean of each attribute, with its deviation from the overall mean.
fn profiles(regions: &Regions, found: &Found, id: &str) -> Markup {
    let columns = regions.attributes.columns();
    // The attributes are sorted by how much the clusters differ in them.
    let spread = |j: usize| found.profiles.iter().map(|profile| profile.deviations[j].abs()).fold(0.0, f64::max);
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    shown.sort_by(|&a, &b| spread(b).total_cmp(&spread(a)));
    shown.truncate(SHOWN);
    let people: f64 = regions.people.iter().sum();
    let of_subgroup: f64 = regions.subgroup.iter().flat_map(|(_, of)| of).sum();
    let mut head: Vec<String> = ["cluster", "regions", "people"].map(str::to_owned).to_vec();
    head.extend(regions.subgroup.as_ref().map(|(name, _)| name.clone()));
    head.extend(shown.iter().map(|&j| columns[j].clone()));
    let means = |&j: &usize| column(&found.profiles.iter().map(|profile| profile.means[j]).collect::<Vec<_>>(), 4);
    let means: Vec<Vec<String>> = shown.iter().map(means).collect();
    let rows = html! {
        @for (cluster, profile) in found.profiles.iter().enumerate() {
            tr data-cluster=(cluster) {
                td { (swatch(cluster)) (cluster) }
                td { (grouped(profile.regions as u64)) }
                td { (share(profile.people, people)) }
                @if let Some(subgroup) = profile.subgroup { td { (share(subgroup, of_subgroup)) } }
                @for (&j, means) in shown.iter().zip(&means) {
                    td {
                        (typeset(&means[cluster])) br;
                        small { (typeset(&format!("{:+.2}", profile.deviations[j]))) " sd" }
                    }
                }
            }
        }
    };
    table(id, "Profiles", head.iter().map(String::as_str), rows)
}

/// Returns the map: the regions at their positions, in the colours of their clusters.
fn map(regions: &Regions, position: &Points, found: &Found, table: &str) -> Value {
    let weights = regions.weights(found.view);
    let counted_in: Vec<usize> = (0..regions.ids.len()).filter(|&row| weights[row] > 0.0).collect();
    let kept = counted_in.len().min(DRAWN);
    let rows: Vec<usize> = (0..kept).map(|index| counted_in[index * counted_in.len() / kept]).collect();
    let place = |&row: &usize| (position.row(row)[0], position.row(row)[1]);
    let picture = Picture::of_degrees(rows.iter().map(place).collect(), Vec::new());
    let mut scene = Scene::new(&title(regions, found.view), rows.len());
    scene.name_rows(rows.iter().map(|&row| regions.ids[row].clone()).collect());
    scene.column("people", rows.iter().map(|&row| regions.people[row]));
    let columns = regions.attributes.columns();
    for (j, name) in columns.iter().enumerate().take(SHOWN) {
        scene.column(name, rows.iter().map(|&row| regions.attributes.row(row)[j]));
    }
    scene.grouping("clusters", rows.iter().map(|&row| found.model.labels[row]), None);
    scene.picture(&picture, json!({}));
    scene.with_table(table);
    scene.figure()
}
