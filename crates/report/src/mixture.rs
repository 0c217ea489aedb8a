//! The report of `lehr mixture`: points, ellipses, components, and the evidence for the number of components.
//! The ellipses show one and two standard deviations of a component in the picture. Such ellipses contain 39 % and 86 %
//! of the component's probability. With one column, pairs of lines replace the ellipses, and contain 68 % and 95 %.

use lehr_mining::mixture::{Candidate, Mixture, Model, Parameters};
use maud::{Markup, Render, html};
use serde_json::{Value, json};

use crate::chart::{Chart, Colors, Outline};
use crate::clusters::COLUMNS_MAX;
use crate::drawing::Drawing;
use crate::figure::{Figures, lines};
use crate::markup::{self, section, swatch, table, tile, tiles, typeset};
use crate::picture::Picture;
use crate::scene::Scene;
use crate::{Run, columns_named, rows_counted, run_section};
use lehr_methods::Rows;
use lehr_methods::mixture::{Fitted, deviations, rows_of_each};
use lehr_methods::numbers::{column, counted, grouped, share, significant};

/// Returns the whole report.
pub fn page(run: &Run<'_>, space: &Rows, Fitted { parameters, model }: &Fitted) -> String {
    let page = Page { run, space, parameters, model };
    let headline = format!(
        "{} in {}",
        counted(space.table().len() as u64, "row"),
        counted(model.mixture.len() as u64, "component")
    );
    let mut figures = Figures::default();
    let (picture, outlines) = drawn(space, &model.mixture);
    let outlines: Vec<Value> = outlines
        .iter()
        .enumerate()
        .map(|(k, Outline { mean, covariance })| {
            json!({ "group": k, "mean": [mean.0, mean.1], "covariance": covariance })
        })
        .collect();
    let mut scene = Scene::of_rows(run.name(), space, run.weights, &picture.rows);
    scene.grouping("components", picture.rows.iter().map(|&row| model.labels[row]), None);
    scene.probabilities(picture.rows.iter().map(|&row| model.probabilities[row]));
    scene.picture(&picture, json!({ "outlines": outlines }));
    scene.with_table("components");
    let main = html! {
        (page.tiles())
        (section("points", "The points", "", figures.add("picture", scene.figure())))
        (section("table", "The components", &page.table_note(), page.table()))
        @let curve = page.curve().map(|curve| figures.add("criteria", curve)).unwrap_or_default();
        (section("evidence", "How many components", page.evidence_note(), html! { (curve) (page.evidence()) }))
        (page.run())
    };
    let (headline, source, lead, warnings) = (&headline, run.source, page.lead().render(), run.warnings);
    markup::Page { headline, source, lead, warnings, main, figures }.html()
}

/// Returns the picture for a separate file.
pub fn drawing(run: &Run<'_>, space: &Rows, Fitted { model, .. }: &Fitted) -> Drawing {
    let (picture, outlines) = drawn(space, &model.mixture);
    let rows = rows_of_each(model);
    let name = |k: usize| format!("component {k} ({})", grouped(rows[k] as u64));
    let names: Vec<String> = (0..model.mixture.len()).map(name).collect();
    let of = picture.rows.iter().map(|&row| model.labels[row]).collect();
    let parts = [counted(space.len() as u64, "row"), counted(names.len() as u64, "component")];
    let title = format!("{}: {}", run.name(), parts.join(" in "));
    // The remaining centres only show how the picture projects the columns.
    let picture = Picture { centers: picture.centers[..names.len()].to_vec(), ..picture };
    Chart { outlines, center: "mean", ..Chart::new(title, picture, Colors::Groups(of, names)) }.draw()
}

/// Returns the rows in the coordinates of the picture, and the outline of each component in the picture.
fn drawn(space: &Rows, mixture: &Mixture) -> (Picture, Vec<Outline>) {
    let (dimension, count) = (mixture.dimension(), mixture.len());
    // The picture is linear in the columns. So the positions of one mean, and of a step along each column, determine
    // the projection.
    let first = mixture.mean(0);
    let covariance = mixture.covariance(0);
    let mut places = mixture.means().to_vec();
    let steps: Vec<f64> = (0..dimension).map(|j| covariance[j * dimension + j].sqrt()).collect();
    for j in 0..dimension {
        places.extend(first.iter().enumerate().map(|(i, mean)| if i == j { mean + steps[j] } else { *mean }));
    }
    let mut picture = Picture::new(space, &places, &[]);
    let part = if picture.names[1].is_empty() {
        "Solid lines hold 68 % of a component's probability, dashed lines 95 %."
    } else {
        "Solid ellipses hold 39 % of a component's probability in this view, dashed ellipses 86 %."
    };
    picture.note = format!("{part} {}", picture.note);
    if space.input().missing() > 0 {
        picture.note.push_str(" Rows that lack a value are drawn as if they had its column's mean.");
    }
    let means = &picture.centers[..count];
    let axes: Vec<(f64, f64)> = picture.centers[count..]
        .iter()
        .zip(&steps)
        .map(|(place, step)| ((place.0 - means[0].0) / step, (place.1 - means[0].1) / step))
        .collect();
    let outline = |k: usize| {
        let covariance = mixture.covariance(k);
        let mut seen = [0.0; 3];
        for (i, a) in axes.iter().enumerate() {
            for (j, b) in axes.iter().enumerate() {
                let entry = covariance[i * dimension + j];
                seen[0] += a.0 * entry * b.0;
                seen[1] += a.0 * entry * b.1;
                seen[2] += a.1 * entry * b.1;
            }
        }
        Outline { mean: means[k], covariance: seen }
    };
    let outlines = (0..count).map(outline).collect();
    (picture, outlines)
}

struct Page<'a> {
    run: &'a Run<'a>,
    space: &'a Rows,
    parameters: &'a Parameters,
    model: &'a Model,
}

impl Page<'_> {
    fn lead(&self) -> String {
        let read = self.run.what_was_read(self.space, &columns_named(self.space.columns()));
        format!(
            "{}. A mixture of Gaussians with {} covariances, initialised by annealed clusters.",
            read, self.parameters.covariance
        )
    }

    fn tiles(&self) -> Markup {
        let (model, criteria, parameters) = (self.model, &self.model.criteria, self.parameters);
        let components = match parameters.components {
            Some(_) => "as given".to_owned(),
            None => format!("the least BIC of {}", model.candidates.len()),
        };
        let likelihood = significant(criteria.log_likelihood / self.space.table().total_weight(), 5);
        let likelihood = format!("{likelihood} a unit of weight");
        let covariances = format!("{} covariances", parameters.covariance);
        tiles(
            "The fit in figures",
            [
                rows_counted(self.space),
                tile("Components", grouped(model.mixture.len() as u64), "", components),
                tile("Log-likelihood", significant(criteria.log_likelihood, 6), "", likelihood),
                tile("BIC", significant(criteria.bic, 6), "", format!("AIC {}", significant(criteria.aic, 6))),
                tile("Free parameters", grouped(criteria.free_parameters as u64), "", covariances),
                self.run.time(format!("{} over the rows", counted(model.sweeps, "sweep"))),
            ],
        )
    }

    fn table_note(&self) -> String {
        let mut note = "Largest weight first. Below each mean is the standard deviation along the column".to_owned();
        note.push_str(if self.space.is_scaled() {
            ", both in the columns' own units. summary.json has covariances, of scaled columns."
        } else {
            ". summary.json has covariances."
        });
        let columns = self.space.table().columns().len();
        if columns > COLUMNS_MAX {
            note.push_str(&format!(
                " There are {columns} columns: the first {COLUMNS_MAX} are shown, components.csv has all."
            ));
        }
        note
    }

    fn shown(&self) -> &[String] {
        let columns = self.space.table().columns();
        &columns[..columns.len().min(COLUMNS_MAX)]
    }

    fn table(&self) -> Markup {
        let head = ["component", "rows", "weight"].into_iter().chain(self.shown().iter().map(String::as_str));
        table("components", "The components", head, self.table_body())
    }

    fn table_body(&self) -> Markup {
        let (mixture, space) = (&self.model.mixture, self.space);
        let rows = rows_of_each(self.model);
        let means: Vec<Vec<f64>> = (0..mixture.len()).map(|k| space.center(mixture.mean(k))).collect();
        let widths: Vec<Vec<f64>> = (0..mixture.len()).map(|k| deviations(space, mixture, k)).collect();
        let texts: Vec<Vec<String>> =
            (0..self.shown().len()).map(|j| column(&means.iter().map(|mean| mean[j]).collect::<Vec<_>>(), 5)).collect();
        html! {
            @for k in 0..mixture.len() {
                tr data-cluster=(k) {
                    td data-value=(k) {
                        button.link type="button" aria-label={ "Select the rows of component " (k) } { (swatch(k)) (k) }
                    }
                    td { (grouped(rows[k] as u64)) }
                    td { (share(mixture.weights()[k], 1.0)) }
                    @for (texts, width) in texts.iter().zip(&widths[k]) {
                        td { (typeset(&texts[k])) br; small { "± " (typeset(&significant(*width, 3))) } }
                    }
                }
            }
        }
    }

    fn evidence_note(&self) -> &'static str {
        if self.parameters.components.is_some() {
            "You gave the number. BIC adds a penalty for each free parameter. Omit --components to see it for other numbers."
        } else {
            "BIC adds a penalty for each free parameter: lower is better. ICL also penalises components that overlap."
        }
    }

    /// Returns the curve of the BIC over the number of components, if several numbers were tried.
    fn curve(&self) -> Option<Value> {
        let candidates = &self.model.candidates;
        let bic: Vec<f64> = candidates.iter().map(|candidate| candidate.criteria.bic).collect();
        let best = (0..bic.len()).reduce(|best, at| if bic[at] < bic[best] { at } else { best });
        (candidates.len() > 1).then(|| {
            lines(vec![json!({
                "title": "BIC",
                "xName": "components",
                "x": candidates.iter().map(|candidate| candidate.components).collect::<Vec<_>>(),
                "y": bic,
                "dots": "line",
                "best": best,
            })])
        })
    }

    fn evidence(&self) -> Markup {
        let cells = |candidate: &Candidate| {
            let criteria = &candidate.criteria;
            [
                grouped(candidate.components as u64),
                significant(criteria.log_likelihood, 7),
                grouped(criteria.free_parameters as u64),
                significant(criteria.bic, 7),
                significant(criteria.aic, 7),
                significant(criteria.icl, 7),
                if candidate.is_converged { "yes" } else { "no" }.to_owned(),
            ]
        };
        let rows = html! {
            @for candidate in &self.model.candidates {
                tr class=[(candidate.criteria.bic == self.model.criteria.bic).then_some("on")] {
                    @for cell in cells(candidate) { td { (typeset(&cell)) } }
                }
            }
        };
        let head = ["components", "log-likelihood", "parameters", "BIC", "AIC", "ICL", "converged"];
        table("candidates", "How many components", head, rows)
    }

    /// Returns the section about the run.
    fn run(&self) -> Markup {
        let (run, model, parameters, space) = (self.run, self.model, self.parameters, self.space);
        let input = vec![
            ("Fingerprint", format!("{:016x}", space.points().fingerprint())),
            ("Missing cells", grouped(space.input().missing() as u64)),
            run.weighted_by(),
            run.identified_by(),
            ("Scale", run.scale.to_string()),
            ("Seed", parameters.seed.to_string()),
        ];
        let mut outcome = vec![
            ("Covariances", parameters.covariance.to_string()),
            ("Regularisation", format!("{} of each column's variance", significant(parameters.regularisation, 3))),
            ("Passes of the last climb", grouped(model.ascent.len() as u64)),
            ("Converged", if model.is_converged { "yes" } else { "no" }.to_owned()),
        ];
        outcome.extend(run.carried_out_by());
        run_section::of_method(run, [input, outcome], "")
    }
}
