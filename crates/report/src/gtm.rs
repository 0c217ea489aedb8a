//! The report of `lehr gtm`: the rows on the map, the map's stretch, each column over the map, and how the map
//! unfolded.

use lehr_methods::gtm::Fitted;
use lehr_mining::gtm::{Candidate, Model, Parameters, Start};
use maud::{Markup, html};
use serde_json::{Value, json};

use crate::chart::{Chart, Colors, Ground};
use crate::drawing::{Drawing, NOTHING, WHITE, mixed};
use crate::figure::{Figures, lines, planes};
use crate::markup::{self, section, tile, tiles, typeset};
use crate::picture::{self, Picture, drawn_rows};
use crate::scene::Scene;
use crate::{Run, columns_named, rows_counted, run_section};
use lehr_methods::Rows;
use lehr_methods::numbers::{counted, grouped, significant};

/// The maximum number of columns that the report draws over the map.
const PLANES: usize = 24;

/// Returns the whole report.
pub fn page(run: &Run<'_>, space: &Rows, Fitted { parameters, model }: &Fitted) -> String {
    let page = Page { run, space, parameters, model };
    let headline = format!("{} on a map", counted(space.table().len() as u64, "row"));
    let mut figures = Figures::default();
    let main = html! {
        (page.tiles())
        (section("map", "The map", &page.caption(), figures.add("picture", page.scene())))
        @if let Some((note, planes)) = page.planes() {
            (section("planes", "The columns across the map", &note, figures.add("planes", planes)))
        }
        @let curve = page.curve().map(|curve| figures.add("course", curve)).unwrap_or_default();
        (section("course", "How it unfolded", &page.course_note(), curve))
        (page.run())
    };
    let (headline, source, lead, warnings) = (&headline, run.source, page.lead(), run.warnings);
    markup::Page { headline, source, lead, warnings, main, figures }.html()
}

/// Returns the picture for a separate file: the rows, coloured by the first column.
pub fn drawing(run: &Run<'_>, space: &Rows, Fitted { model, .. }: &Fitted) -> Drawing {
    let rows = drawn_rows(space.len());
    let latent = model.map.latent();
    let position = |&row: &usize| {
        let place = model.places.position(row);
        (place[0], place.get(1).copied().unwrap_or_default())
    };
    let names = ["z1", if latent == 1 { "" } else { "z2" }].map(str::to_owned);
    let note = if latent > 2 { " The first two dimensions are drawn." } else { "" };
    let points = rows.iter().map(position).collect();
    let picture = Picture {
        is_equal: latent > 1,
        note: format!("Each row lies at the mean of its posterior.{note}"),
        ..picture::plain(points, Vec::new(), names, "topographic map".to_owned())
    };
    let (name, values) = (space.columns()[0].clone(), rows.iter().map(|&row| space.row(row)[0]).collect());
    let ground = Stretch::of(model).map(|Stretch { columns, shade, corner, .. }| Ground {
        corners: [(-corner[0], -corner[1]), (corner[0], corner[1])],
        columns,
        // Points stay visible even on the darkest cells.
        cells: shade.iter().map(|share| mixed(WHITE, NOTHING, 0.9 * share)).collect(),
        meaning: "stretched most".to_owned(),
    });
    let title = format!("{}: {} on a topographic map", run.name(), counted(space.len() as u64, "row"));
    Chart { ground, ..Chart::new(title, picture, Colors::Scale(name, values)) }.draw()
}

/// The stretch of a map of one or two dimensions at each node.
struct Stretch {
    /// The number of nodes along each axis.
    columns: usize,
    rows: usize,
    /// The stretch at each node, on a logarithmic scale from 0 for the smallest stretch to 1 for the largest.
    shade: Vec<f64>,
    least: f64,
    most: f64,
    /// The largest coordinates of the nodes' cells. The outermost nodes are at the ends of the axes, so half of each
    /// outermost cell lies beyond the end.
    corner: [f64; 2],
}

impl Stretch {
    fn of(model: &Model) -> Option<Self> {
        let map = &model.map;
        if map.latent() > 2 {
            return None;
        }
        let stretched: Vec<f64> =
            (0..map.len()).map(|k| map.magnification(&map.node(k)).max(f64::MIN_POSITIVE)).collect();
        let (least, most) = range(&stretched);
        let logarithms: Vec<f64> = stretched.iter().map(|factor| libm::log(*factor)).collect();
        let (low, high) = range(&logarithms);
        let shade = logarithms.iter().map(|&value| share_of(value, low, high)).collect();
        let (columns, rows) = (map.side(), if map.latent() == 1 { 1 } else { map.side() });
        let reach = |count: usize| if count > 1 { count as f64 / (count - 1) as f64 } else { 1.0 };
        Some(Self { columns, rows, shade, least, most, corner: [reach(columns), reach(rows)] })
    }
}

struct Page<'a> {
    run: &'a Run<'a>,
    space: &'a Rows,
    parameters: &'a Parameters,
    model: &'a Model,
}

/// Returns the position of a number in a range, from 0 to 1. Returns 0.5 if the range is a single number.
fn share_of(value: f64, low: f64, high: f64) -> f64 {
    if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
}

impl Page<'_> {
    fn lead(&self) -> Markup {
        let read = self.run.what_was_read(self.space, &columns_named(self.space.columns()));
        let (model, likelihood) = (self.model, |value: f64| typeset(&significant(value, 6)));
        html! {
            (read) ". A generative topographic map, " (model.start)
            @if let Some(rival) = model.candidates.iter().find(|candidate| candidate.start != model.start) {
                ", which was kept for its log-likelihood of " (likelihood(model.log_likelihood))
                " against " (likelihood(rival.log_likelihood)) " of the one " (rival.start)
            }
            "."
        }
    }

    fn tiles(&self) -> Markup {
        let model = self.model;
        let table = self.space.table();
        let entropy = model.places.entropies.iter().sum::<f64>() / table.len() as f64;
        let functions = format!("{} basis functions", grouped(model.map.functions() as u64));
        let likelihood = format!("{} a unit of weight", significant(model.log_likelihood / table.total_weight(), 5));
        tiles(
            "The fit in figures",
            [
                rows_counted(self.space),
                tile("Nodes", grouped(model.map.len() as u64), "", functions),
                tile("Log-likelihood", significant(model.log_likelihood, 6), "", likelihood),
                tile("Noise", significant(model.map.noise().sqrt(), 4), "", "standard deviation around the map"),
                tile("Order", significant(model.order, 3), "", "1 is a map without folds"),
                tile(
                    "Spread",
                    significant(libm::exp(entropy), 3),
                    "",
                    "nodes that a row's posterior spreads over, on average",
                ),
                self.run.time(format!("{} over the rows", counted(model.sweeps, "sweep"))),
            ],
        )
    }

    fn caption(&self) -> String {
        let shade = if self.model.map.latent() <= 2 {
            " The background is darker where the map is stretched: dark bands are borders between groups."
        } else {
            ""
        };
        format!("Each row lies at the mean of its posterior. Colour the rows by any column.{shade}")
    }

    /// Returns the number of nodes along each axis.
    fn sides(&self) -> (usize, usize) {
        let map = &self.model.map;
        (map.side(), if map.latent() == 1 { 1 } else { map.side() })
    }

    fn scene(&self) -> Value {
        let (map, places, space) = (&self.model.map, &self.model.places, self.space);
        let rows = drawn_rows(space.len());
        let mut scene = Scene::of_rows(self.run.name(), space, self.run.weights, &rows);
        scene.coloured_by(&space.columns()[0]);
        let mut beyond = json!({});
        if let Some(Stretch { columns, rows, shade, least, most, corner }) = Stretch::of(self.model) {
            beyond = json!({
                "ground": { "columns": columns, "rows": rows, "shade": shade, "low": corner.map(|end| -end), "high": corner },
                "note": format!("Stretched by {} to {} (logarithmic).", significant(least, 3), significant(most, 3)),
            });
        }
        let names = if map.latent() == 1 { vec!["z1", ""] } else { ["z1", "z2", "z3"][..map.latent().min(3)].to_vec() };
        let place = |&row: &usize| {
            let mut place = places.position(row).to_vec();
            place.resize(names.len(), 0.0);
            place
        };
        let found: Vec<Vec<f64>> = rows.iter().map(place).collect();
        scene.places("topographic map", &names, &found, beyond);
        scene.figure()
    }

    /// Returns a note and the figure with each column over the map. Returns `None` for a three-dimensional map.
    fn planes(&self) -> Option<(String, Value)> {
        let (map, space) = (&self.model.map, self.space);
        if map.latent() > 2 {
            return None;
        }
        let columns = space.table().columns();
        let images: Vec<Vec<f64>> = (0..map.len()).map(|k| space.center(&map.at(&map.node(k)))).collect();
        let shown = columns.len().min(PLANES);
        let mut note = "The row that the map predicts at each node.".to_owned();
        if columns.len() > shown {
            note.push_str(&format!(" The first {shown} of {} columns; nodes.csv has all.", columns.len()));
        }
        let plane = |j: usize| (columns[j].as_str(), images.iter().map(|image| image[j]).collect());
        let (across, upwards) = self.sides();
        Some((note, planes(across, upwards, (0..shown).map(plane))))
    }

    fn course_note(&self) -> String {
        let is_one_of_two = self.model.candidates.len() > 1;
        if self.model.history.len() < 2 {
            return match self.model.start {
                Start::Plane if is_one_of_two => {
                    "Lehr kept the map that began as the principal plane, at temperature 1. It was not annealed, so there is no curve. Lehr also fitted the map annealed from a point, and did not keep it."
                }
                _ => "It was not annealed: there was one temperature.",
            }
            .to_owned();
        }
        let other = if is_one_of_two { " Lehr kept this map, which was annealed from a point." } else { "" };
        format!(
            "The noise around the map against the temperature, which falls from left to right and ends at 1. Below {} the map was no longer a point.{other}",
            significant(self.model.critical_temperature, 4)
        )
    }

    /// Returns the curve of the noise as a function of the temperature, if there was more than one temperature.
    fn curve(&self) -> Option<Value> {
        let history = &self.model.history;
        (history.len() > 1).then(|| {
            lines(vec![json!({
                "title": "Noise, as a standard deviation",
                "xName": "temperature",
                "x": history.iter().map(|step| step.temperature).collect::<Vec<_>>(),
                "y": history.iter().map(|step| step.noise.sqrt()).collect::<Vec<_>>(),
                "isLogX": true,
                "isFalling": true,
            })])
        })
    }

    /// Describes each initialisation that ran to its end, with its result.
    fn beginnings(&self) -> String {
        let one = |candidate: &Candidate| {
            format!(
                "{}: log-likelihood {}, order {}, {}",
                candidate.start,
                significant(candidate.log_likelihood, 7),
                significant(candidate.order, 3),
                counted(candidate.sweeps, "sweep")
            )
        };
        self.model.candidates.iter().map(one).collect::<Vec<_>>().join("; ")
    }

    /// Returns the section about the run.
    fn run(&self) -> Markup {
        let (run, model, parameters, space) = (self.run, self.model, self.parameters, self.space);
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let input = vec![
            ("Fingerprint", format!("{:016x}", space.points().fingerprint())),
            run.weighted_by(),
            run.identified_by(),
            ("Scale", run.scale.to_string()),
            ("Missing cells", grouped(space.input().missing() as u64)),
        ];
        let mut outcome = vec![
            ("Width of a function", format!("{} of the distance to the next", significant(parameters.width, 3))),
            ("Regularisation", significant(parameters.regularisation, 3)),
            ("Beginnings", self.beginnings()),
            ("Sweeps at temperature 1", grouped(model.ascent.len() as u64)),
            ("Converged", yes(model.is_converged)),
        ];
        outcome.extend(run.carried_out_by());
        run_section::of_method(run, [input, outcome], "")
    }
}
