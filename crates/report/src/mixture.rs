//! The page of `lehr mixture`: points, ellipses, components and the evidence for their number. Drawn here as SVG: it needs no script.
//!
//! Ellipses are where a component's density, as seen in the picture, falls off by one and by two standard deviations: 39 % and 86 % of what is drawn from it. Of one column they are lines, with 68 % and 95 %.

use lehr_mining::mixture::{Mixture, Model, Parameters};

use crate::axes::{Axis, framed, gridlines};
use crate::clusters::COLUMNS_MAX;
use crate::markup::{self, escape, fill, tile, typeset};
use crate::palette::{Palette, palette};
use crate::picture::Picture;
use crate::{Run, columns_named, packed, rows_counted};
use lehr_methods::Rows;
use lehr_methods::mixture::{Fitted, deviations, rows_of_each};
use lehr_methods::numbers::{column, counted, grouped, share, significant};

const MAIN: &str = include_str!("mixture.html");
const STYLE: &str = include_str!("mixture.css");

/// Most rows that are drawn.
const ROWS_DRAWN: usize = 6000;
/// The picture's width, and its height where the axes do not share a scale.
const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 620.0;
/// Room beside the curve of BIC for its outermost dots, as a share of the curve's width and height.
const MARGINS: (f64, f64) = (0.03, 0.12);
/// Widths of a row's dot, of very many rows and of few, and the share of the picture that all of them cover.
const DOTS: (f64, f64) = (3.2, 9.0);
const COVERED: f64 = 0.1;
/// Corners of an ellipse as drawn.
const CORNERS: usize = 72;
/// Standard deviations of the outer ellipses.
const OUTER: f64 = 2.0;

/// The whole page.
pub fn page(run: &Run<'_>, space: &Rows, Fitted { parameters, model }: &Fitted) -> String {
    let drawing = Drawing::new(space, &model.mixture);
    let page = Page { run, space, parameters, model };
    let mut caption = drawing.caption();
    if space.input().missing() > 0 {
        caption.push_str(" Rows that lack a value are drawn as if they had its column's mean.");
    }
    let headline = format!(
        "{} in {}",
        counted(space.table().len() as u64, "row"),
        counted(model.mixture.len() as u64, "component")
    );
    let main = fill(MAIN, |name| match name {
        "tiles" => page.tiles(),
        "caption" => escape(&caption),
        "picture" => drawing.svg(model, &format!("{headline}. {caption}")),
        "table_note" => escape(&page.table_note()),
        "table_head" => page.table_head(),
        "table_body" => page.table_body(&drawing.palette),
        "evidence_note" => escape(page.evidence_note()),
        "curve" => page.curve(),
        "evidence_head" => head(["components", "log-likelihood", "free numbers", "BIC", "AIC", "ICL", "converged"]),
        "evidence_body" => page.evidence(),
        "facts" => page.facts(),
        other => unreachable!("the page asks for {other}, which nobody writes"),
    });
    let (headline, source, lead, warnings) = (&headline, run.source, escape(&page.lead()), run.warnings);
    markup::Page { headline, source, lead, warnings, mark: "", style: STYLE, main, scripts: String::new() }.html()
}

fn head<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    names.into_iter().map(|name| format!("<th scope=\"col\">{}</th>", escape(name))).collect()
}

/// Rows, means and covariances as the picture shows them.
struct Drawing {
    picture: Picture,
    /// The means.
    means: Vec<(f64, f64)>,
    /// Variance along x, covariance, variance along y, of each component, in the picture's units.
    covariances: Vec<[f64; 3]>,
    palette: Palette,
    height: f64,
}

impl Drawing {
    fn new(space: &Rows, mixture: &Mixture) -> Self {
        let (dimension, count) = (mixture.dimension(), mixture.len());
        // The picture is linear in the columns, so what it does to them is seen at one mean and a step from it along each column.
        let first = mixture.mean(0);
        let covariance = mixture.covariance(0);
        let mut places = mixture.means().to_vec();
        let steps: Vec<f64> = (0..dimension).map(|j| covariance[j * dimension + j].sqrt()).collect();
        for j in 0..dimension {
            places.extend(first.iter().enumerate().map(|(i, mean)| if i == j { mean + steps[j] } else { *mean }));
        }
        let mut picture = Picture::new(space, &places);
        let means = picture.centers[..count].to_vec();
        let axes: Vec<(f64, f64)> = picture.centers[count..]
            .iter()
            .zip(&steps)
            .map(|(place, step)| ((place.0 - means[0].0) / step, (place.1 - means[0].1) / step))
            .collect();
        let covariances: Vec<[f64; 3]> = (0..count)
            .map(|k| {
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
                seen
            })
            .collect();
        // The corners of the boxes around the ellipses.
        let corners = means.iter().zip(&covariances).flat_map(|(mean, [xx, _, yy])| {
            [-OUTER, OUTER].map(|n| (mean.0 + n * xx.max(0.0).sqrt(), mean.1 + n * yy.max(0.0).sqrt()))
        });
        picture.make_room(corners);
        let [x, y] = picture.range;
        let places: Vec<(f64, f64)> =
            means.iter().map(|mean| (packed::fraction(mean.0, x), packed::fraction(mean.1, y))).collect();
        let height = picture.aspect.map_or(HEIGHT, |aspect| (WIDTH / aspect).clamp(240.0, 1400.0));
        Drawing { palette: palette(&places), means, covariances, picture, height }
    }

    fn caption(&self) -> String {
        let drawn = self.picture.caption.replace(" Circles are centres, sized by weight.", "");
        // Of a Gaussian, one and two standard deviations from the mean, in one dimension and in two.
        let outlines = if self.picture.y_measures {
            "Ellipses hold 39 % of what is drawn from a component as seen here; the dashed ones 86 %."
        } else {
            "Lines hold 68 % of what is drawn from a component; the dashed ones 95 %."
        };
        format!("{drawn} Colours are the likeliest components, numbers stand at their means. {outlines}")
    }

    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let [across, upwards] = self.picture.range;
        (
            WIDTH * (x - across.0) / (across.1 - across.0),
            self.height * (1.0 - (y - upwards.0) / (upwards.1 - upwards.0)),
        )
    }

    /// The outline at so many standard deviations.
    fn ellipse(&self, k: usize, deviations: f64) -> String {
        let [xx, xy, yy] = self.covariances[k];
        // Cholesky's factor, with rounding and flat ellipses in mind.
        let a = xx.max(0.0).sqrt();
        let b = if a > 0.0 { xy / a } else { 0.0 };
        let c = (yy - b * b).max(0.0).sqrt();
        let corners: Vec<String> = (0..CORNERS)
            .map(|corner| {
                let (sine, cosine) = (std::f64::consts::TAU * corner as f64 / CORNERS as f64).sin_cos();
                let mean = self.means[k];
                let place =
                    self.place((mean.0 + deviations * a * cosine, mean.1 + deviations * (b * cosine + c * sine)));
                format!("{:.1} {:.1}", place.0, place.1)
            })
            .collect();
        format!("M{}Z", corners.join("L"))
    }

    fn svg(&self, model: &Model, label: &str) -> String {
        let rows = &self.picture.rows;
        let kept = rows.len().min(ROWS_DRAWN);
        let mut dots = vec![[String::new(), String::new()]; model.mixture.len()];
        for index in (0..kept).map(|index| index * rows.len() / kept) {
            let (x, y) = self.place(self.picture.points[index]);
            let faint = usize::from(index < self.picture.faint);
            dots[model.labels[rows[index]] as usize][faint].push_str(&format!("M{x:.1} {y:.1}h0"));
        }
        let area = COVERED * WIDTH * self.height / kept.max(1) as f64;
        let dot = (2.0 * (area / std::f64::consts::PI).sqrt()).clamp(DOTS.0, DOTS.1);
        let mut groups = String::new();
        for (k, [dots, faint]) in dots.iter().enumerate() {
            let (light, dark) = (&self.palette.light[k], &self.palette.dark[k]);
            groups.push_str(&format!("<g style=\"--light:{light};--dark:{dark}\">"));
            for (class, path) in [("rows", dots), ("rows faint", faint)] {
                if !path.is_empty() {
                    groups.push_str(&format!("<path class=\"{class}\" stroke-width=\"{dot:.1}\" d=\"{path}\"/>"));
                }
            }
            groups.push_str("</g>");
        }
        // Ellipses over all rows.
        for k in 0..model.mixture.len() {
            let (light, dark) = (&self.palette.light[k], &self.palette.dark[k]);
            groups.push_str(&format!(
                "<g style=\"--light:{light};--dark:{dark}\"><title>component {k}, weight {}</title>\
                 <path class=\"ellipse\" d=\"{}\"/><path class=\"ellipse outer\" d=\"{}\"/></g>",
                escape(&share(model.mixture.weights()[k], 1.0)),
                self.ellipse(k, 1.0),
                self.ellipse(k, OUTER)
            ));
        }
        let [x, y] = self.picture.range;
        let across = Axis::linear(&self.picture.names[0], x, 9);
        let upwards = if self.picture.y_measures {
            Axis::linear(&self.picture.names[1], y, (self.height / 60.0) as usize)
        } else {
            Axis::bare()
        };
        let svg = format!(
            "<svg class=\"drawn\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">{}{groups}</svg>",
            self.height,
            escape(label),
            gridlines(WIDTH, self.height, &across, &upwards)
        );
        framed(&svg, &across, &upwards, &self.numbers())
    }

    /// The number of each component at its mean.
    fn numbers(&self) -> String {
        let number = |(k, mean): (usize, &(f64, f64))| {
            let (x, y) = self.place(*mean);
            format!(
                "<i class=\"number\" style=\"--light:{};--dark:{};left:{:.2}%;top:{:.2}%\" aria-hidden=\"true\">{k}</i>",
                self.palette.light[k],
                self.palette.dark[k],
                100.0 * x / WIDTH,
                100.0 * y / self.height
            )
        };
        self.means.iter().enumerate().map(number).collect()
    }
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
            "{}. A mixture of Gaussians with {} covariances, begun from annealed clusters.",
            read, self.parameters.covariance
        )
    }

    fn tiles(&self) -> String {
        let (model, criteria) = (self.model, &self.model.criteria);
        let total = self.space.table().total_weight();
        [
            rows_counted(self.space),
            tile(
                "Components",
                grouped(model.mixture.len() as u64),
                "",
                match self.parameters.components {
                    Some(_) => "as asked for".to_owned(),
                    None => format!("the least BIC of {}", model.candidates.len()),
                },
            ),
            tile(
                "Log-likelihood",
                significant(criteria.log_likelihood, 6),
                "",
                format!("{} a unit of weight", significant(criteria.log_likelihood / total, 5)),
            ),
            tile("BIC", significant(criteria.bic, 6), "", format!("AIC {}", significant(criteria.aic, 6))),
            tile(
                "Free numbers",
                grouped(criteria.free_parameters as u64),
                "",
                format!("{} covariances", self.parameters.covariance),
            ),
            self.run.time(format!("{} over the rows", counted(model.sweeps, "sweep"))),
        ]
        .join("\n")
    }

    fn table_note(&self) -> String {
        let mut note = "By falling weight. Below each mean stands the standard deviation along the column".to_owned();
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

    fn table_head(&self) -> String {
        head(["component", "rows", "weight"].into_iter().chain(self.shown().iter().map(String::as_str)))
    }

    fn table_body(&self, palette: &Palette) -> String {
        let (mixture, space) = (&self.model.mixture, self.space);
        let rows = rows_of_each(self.model);
        let means: Vec<Vec<f64>> = (0..mixture.len()).map(|k| space.center(mixture.mean(k))).collect();
        let widths: Vec<Vec<f64>> = (0..mixture.len()).map(|k| deviations(space, mixture, k)).collect();
        let texts: Vec<Vec<String>> =
            (0..self.shown().len()).map(|j| column(&means.iter().map(|mean| mean[j]).collect::<Vec<_>>(), 5)).collect();
        let row = |k: usize| {
            let cells: String = texts
                .iter()
                .enumerate()
                .map(|(j, texts)| {
                    format!(
                        "<td>{}<br><small>± {}</small></td>",
                        typeset(&texts[k]),
                        typeset(&significant(widths[k][j], 3))
                    )
                })
                .collect();
            format!(
                "<tr style=\"--light:{};--dark:{}\"><td><i class=\"swatch\" style=\"display:inline-block\"></i> {k}</td><td>{}</td><td>{}</td>{cells}</tr>",
                palette.light[k],
                palette.dark[k],
                escape(&grouped(rows[k] as u64)),
                escape(&share(mixture.weights()[k], 1.0))
            )
        };
        (0..mixture.len()).map(row).collect::<Vec<_>>().join("\n")
    }

    fn evidence_note(&self) -> &'static str {
        if self.parameters.components.is_some() {
            "The number was asked for. BIC weighs the likelihood against the free numbers it took; to see it for other numbers, leave --components out."
        } else {
            "BIC weighs the likelihood against the free numbers it took: the less the better. ICL also counts how unsure rows are of their component, and prefers components that are apart."
        }
    }

    /// BIC against the number of components, where there are several.
    fn curve(&self) -> String {
        let candidates = &self.model.candidates;
        if candidates.len() < 2 {
            return String::new();
        }
        let values: Vec<f64> = candidates.iter().map(|candidate| candidate.criteria.bic).collect();
        let (low, high) =
            values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &bic| (low.min(bic), high.max(bic)));
        let room = if high > low { high - low } else { 1.0 };
        let (width, height) = (1000.0, 200.0);
        let range = (low - MARGINS.1 * room, high + MARGINS.1 * room);
        let share = |at: usize| MARGINS.0 + (1.0 - 2.0 * MARGINS.0) * at as f64 / (values.len() - 1) as f64;
        let places: Vec<(f64, f64)> = values
            .iter()
            .enumerate()
            .map(|(at, bic)| (width * share(at), height * (range.1 - bic) / (range.1 - range.0)))
            .collect();
        let line: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
        let marks: String = candidates
            .iter()
            .zip(&places)
            .map(|(candidate, (x, y))| {
                let radius = if candidate.criteria.bic == low { 8 } else { 5 };
                format!(
                    "<circle class=\"dot\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"><title>{}: BIC {}</title></circle>",
                    counted(candidate.components as u64, "component"),
                    escape(&significant(candidate.criteria.bic, 7))
                )
            })
            .collect();
        let tried = candidates.iter().enumerate().map(|(at, tried)| (share(at), tried.components.to_string()));
        let across = Axis { name: "components".to_owned(), marks: tried.collect() };
        let upwards = Axis::linear("BIC", range, 4);
        let svg = format!(
            "<svg class=\"drawn\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"BIC against the number of components\">\
             {}<path class=\"curve\" d=\"M{}\"/>{marks}</svg>",
            gridlines(width, height, &across, &upwards),
            line.join("L")
        );
        framed(&svg, &across, &upwards, "")
    }

    fn evidence(&self) -> String {
        let row = |candidate: &lehr_mining::mixture::Candidate| {
            let criteria = &candidate.criteria;
            let cells = [
                grouped(candidate.components as u64),
                significant(criteria.log_likelihood, 7),
                grouped(criteria.free_parameters as u64),
                significant(criteria.bic, 7),
                significant(criteria.aic, 7),
                significant(criteria.icl, 7),
                if candidate.is_converged { "yes" } else { "no" }.to_owned(),
            ];
            let mark = if criteria.bic == self.model.criteria.bic { " class=\"on\"" } else { "" };
            format!("<tr{mark}>{}</tr>", cells.map(|cell| format!("<td>{}</td>", typeset(&cell))).concat())
        };
        self.model.candidates.iter().map(row).collect::<Vec<_>>().join("\n")
    }

    fn facts(&self) -> String {
        let (run, model, parameters, space) = (self.run, self.model, self.parameters, self.space);
        let input = vec![
            run.input(),
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
        format!("{}\n{}", markup::facts(input), markup::facts(outcome))
    }
}
