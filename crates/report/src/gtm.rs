//! The page of `lehr gtm`: the rows on the map, how much it is stretched, each column across it, and how it unfolded. Drawn here as SVG: it needs no script.

use lehr_methods::gtm::Fitted;
use lehr_mining::gtm::{Candidate, Model, Parameters, Start};

use crate::axes::{Axis, framed, gridlines};
use crate::markup::{self, escape, fill, tile, typeset};
use crate::{Run, columns_named, rows_counted};
use lehr_methods::Rows;
use lehr_methods::numbers::{counted, grouped, significant};

const MAIN: &str = include_str!("gtm.html");
const STYLE: &str = include_str!("gtm.css");

/// Most rows that are drawn.
const ROWS_DRAWN: usize = 6000;
/// Most columns that are drawn across the map.
const PLANES: usize = 24;
/// The side of the map as drawn, and of a column's.
const SIDE: f64 = 800.0;
const PLANE_SIDE: f64 = 160.0;
/// The height of a map of one dimension.
const STRIP: f64 = 120.0;

/// The whole page.
pub fn page(run: &Run<'_>, space: &Rows, Fitted { parameters, model }: &Fitted) -> String {
    let page = Page { run, space, parameters, model };
    let headline = format!("{} on a map", counted(space.table().len() as u64, "row"));
    let main = fill(MAIN, |name| match name {
        "tiles" => page.tiles(),
        "caption" => escape(&page.caption()),
        "picture" => page.picture(&headline),
        "planes" => page.planes(),
        "course_note" => typeset(&page.course_note()),
        "curve" => page.curve(),
        "facts" => page.facts(),
        other => unreachable!("the page asks for {other}, which nobody writes"),
    });
    let (headline, source, lead, warnings) = (&headline, run.source, page.lead(), run.warnings);
    markup::Page { headline, source, lead, warnings, mark: "", style: STYLE, main, scripts: String::new() }.html()
}

struct Page<'a> {
    run: &'a Run<'a>,
    space: &'a Rows,
    parameters: &'a Parameters,
    model: &'a Model,
}

/// A number as a share of a range; the middle where the range is one number.
fn share_of(value: f64, low: f64, high: f64) -> f64 {
    if high > low { ((value - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
}

fn range(values: &[f64]) -> (f64, f64) {
    values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &x| (low.min(x), high.max(x)))
}

/// How many of `count` pictures stand beside each other where there is room for `most`: as few rows as there can be, as even as they can be.
fn abreast(count: usize, most: usize) -> usize {
    count.div_ceil(count.div_ceil(most).max(1))
}

impl Page<'_> {
    /// As text of the page, with what comes from outside escaped.
    fn lead(&self) -> String {
        let read = self.run.what_was_read(self.space, &columns_named(self.space.columns()));
        let rival = self.model.candidates.iter().find(|candidate| candidate.start != self.model.start);
        let kept = rival.map_or_else(String::new, |rival| {
            format!(
                ", which was kept for its log-likelihood of {} against {} of the one {}",
                typeset(&significant(self.model.log_likelihood, 6)),
                typeset(&significant(rival.log_likelihood, 6)),
                rival.start
            )
        });
        format!("{}. A generative topographic map, {}{kept}.", escape(&read), self.model.start)
    }

    fn tiles(&self) -> String {
        let model = self.model;
        let table = self.space.table();
        let entropy = model.places.entropies.iter().sum::<f64>() / table.len() as f64;
        [
            rows_counted(self.space),
            tile(
                "Nodes",
                grouped(model.map.len() as u64),
                "",
                format!("{} basis functions", grouped(model.map.functions() as u64)),
            ),
            tile(
                "Log-likelihood",
                significant(model.log_likelihood, 6),
                "",
                format!("{} a unit of weight", significant(model.log_likelihood / table.total_weight(), 5)),
            ),
            tile("Noise", significant(model.map.noise().sqrt(), 4), "", "standard deviation around the map".to_owned()),
            tile("Order", significant(model.order, 3), "", "1 is a map without folds".to_owned()),
            tile("Spread", significant(entropy.exp(), 3), "", "nodes a row may be from, on average".to_owned()),
            self.run.time(format!("{} over the rows", counted(model.sweeps, "sweep"))),
        ]
        .join("\n")
    }

    fn caption(&self) -> String {
        let rows = self.space.table().len();
        let drawn = if rows > ROWS_DRAWN {
            format!("{} of the rows", grouped(ROWS_DRAWN as u64))
        } else {
            "The rows".to_owned()
        };
        let places = match self.model.map.latent() {
            1 => "Along the line",
            2 => "The first axis runs to the right, the second upwards",
            _ => "The first two of three axes; places.csv has all",
        };
        let shade = if self.model.map.latent() <= 2 {
            " The deeper the colour of the ground, the more the map is stretched there: deep bands are borders between groups."
        } else {
            ""
        };
        format!("{drawn} at the means of their posteriors. {places}.{shade}")
    }

    /// The width and height of a map as drawn.
    fn extent(&self, side: f64) -> (f64, f64) {
        if self.model.map.latent() == 1 { (side, STRIP * side / SIDE) } else { (side, side) }
    }

    /// A shaded rectangle for each node: `shade` is a share a node.
    fn cells(&self, side: f64, shade: &[f64]) -> String {
        let map = &self.model.map;
        let (width, height) = self.extent(side);
        let count = map.side();
        let tall = if map.latent() == 1 { 1 } else { count };
        let (w, h) = (width / count as f64, height / tall as f64);
        shade
            .iter()
            .enumerate()
            .map(|(k, shade)| {
                // The first axis to the right, the second, which runs fastest, upwards.
                let (column, row) = if map.latent() == 1 { (k, 0) } else { (k / count, count - 1 - k % count) };
                format!(
                    "<rect class=\"cell\" x=\"{:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{:.2}\" fill-opacity=\"{:.3}\"/>",
                    column as f64 * w,
                    row as f64 * h,
                    w,
                    h,
                    0.03 + 0.67 * shade
                )
            })
            .collect()
    }

    fn picture(&self, label: &str) -> String {
        let (map, places) = (&self.model.map, &self.model.places);
        let (width, height) = self.extent(SIDE);
        let (mut ground, mut ramp) = (String::new(), String::new());
        if map.latent() <= 2 {
            let stretched: Vec<f64> =
                (0..map.len()).map(|k| map.magnification(&map.node(k)).max(f64::MIN_POSITIVE)).collect();
            // By its logarithm: it is a factor.
            let logarithms: Vec<f64> = stretched.iter().map(|factor| factor.ln()).collect();
            let (low, high) = range(&logarithms);
            let shade: Vec<f64> = logarithms.iter().map(|&value| share_of(value, low, high)).collect();
            ground = self.cells(SIDE, &shade);
            let (least, most) = range(&stretched);
            ramp = format!(
                "<p class=\"ramp\">stretched by {}<i></i>{} (logarithmic)</p>",
                typeset(&significant(least, 3)),
                typeset(&significant(most, 3))
            );
        }
        // A place at an end of an axis is in the middle of the outermost node's cell.
        let count = map.side() as f64;
        let along = |z: f64, length: f64| length * (0.5 + (z + 1.0) / 2.0 * (count - 1.0)) / count;
        let rows = places.modes.len();
        let kept = rows.min(ROWS_DRAWN);
        let mut dots = String::new();
        for row in (0..kept).map(|index| index * rows / kept) {
            let place = places.position(row);
            let x = along(place[0], width);
            let y = if map.latent() == 1 { height / 2.0 } else { height - along(place[1], height) };
            dots.push_str(&format!("M{x:.1} {y:.1}h0"));
        }
        let axis = |name: &str| {
            let marks = [-1.0, -0.5, 0.0, 0.5, 1.0].map(|z| (along(z, 1.0), significant(z, 1)));
            Axis { name: name.to_owned(), marks: marks.to_vec() }
        };
        let upwards = if map.latent() == 1 { Axis::bare() } else { axis("z2") };
        let svg = format!(
            "<svg class=\"drawn\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">{ground}<path class=\"rows\" d=\"{dots}\"/></svg>",
            escape(label)
        );
        format!("<div class=\"square\">{}{ramp}</div>", framed(&svg, &axis("z1"), &upwards, ""))
    }

    /// Each column across the map.
    fn planes(&self) -> String {
        let (map, space) = (&self.model.map, self.space);
        if map.latent() > 2 {
            return String::new();
        }
        let columns = space.table().columns();
        let images: Vec<Vec<f64>> = (0..map.len()).map(|k| space.center(&map.at(&map.node(k)))).collect();
        let (width, height) = self.extent(PLANE_SIDE);
        let figure = |j: usize| {
            let values: Vec<f64> = images.iter().map(|image| image[j]).collect();
            let (low, high) = range(&values);
            let shade: Vec<f64> = values.iter().map(|&value| share_of(value, low, high)).collect();
            format!(
                "<figure><svg class=\"drawn\" viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\" aria-label=\"{0} across the map\">{1}\
                 <rect class=\"frame\" x=\"0\" y=\"0\" width=\"{width:.0}\" height=\"{height:.0}\"/></svg>\
                 <figcaption>{0}<br><small>{2} (faint) to {3} (deep)</small></figcaption></figure>",
                escape(&columns[j]),
                self.cells(PLANE_SIDE, &shade),
                typeset(&significant(low, 3)),
                typeset(&significant(high, 3))
            )
        };
        let shown = columns.len().min(PLANES);
        let note = if columns.len() > shown {
            format!(
                "What the map says a row would be at each place. The first {shown} of {} columns; nodes.csv has all.",
                columns.len()
            )
        } else {
            "What the map says a row would be at each place.".to_owned()
        };
        format!(
            "<section class=\"card\" aria-labelledby=\"planes-title\">\n  <div class=\"head\"><div>\n    <h2 id=\"planes-title\">The columns across the map</h2>\n    \
             <p class=\"note\">{}</p>\n  </div></div>\n  <div class=\"planes\" style=\"--wide:{};--middle:{};--narrow:{}\">{}</div>\n</section>",
            escape(&note),
            abreast(shown, 6),
            abreast(shown, 4),
            abreast(shown, 2),
            (0..shown).map(figure).collect::<String>()
        )
    }

    fn course_note(&self) -> String {
        let is_one_of_two = self.model.candidates.len() > 1;
        if self.model.history.len() < 2 {
            return match self.model.start {
                Start::Plane if is_one_of_two => {
                    "The map that was kept was begun as the principal plane, at temperature 1, and has no course. The one annealed from a point was followed too and not kept."
                }
                _ => "It was not annealed: there was one temperature.",
            }
            .to_owned();
        }
        let other =
            if is_one_of_two { " This is the course of the map annealed from a point, which was kept." } else { "" };
        format!(
            "The noise around the map against the temperature, which falls from left to right and ends at 1. Below {} the map was no longer a point.{other}",
            significant(self.model.critical_temperature, 4)
        )
    }

    /// The noise against the logarithm of the temperature.
    fn curve(&self) -> String {
        let history = &self.model.history;
        if history.len() < 2 {
            return String::new();
        }
        let hottest = history[0].temperature;
        let (low, high) = range(&history.iter().map(|step| step.noise.sqrt()).collect::<Vec<_>>());
        let top = 1.05 * high;
        let (width, height) = (1000.0, 200.0);
        let line: Vec<String> = history
            .iter()
            .map(|step| {
                let x = width * (1.0 - share_of(step.temperature.ln(), 0.0, hottest.ln()));
                let y = height * (1.0 - share_of(step.noise.sqrt(), 0.0, top));
                format!("{x:.1} {y:.1}")
            })
            .collect();
        let across = Axis::logarithmic("temperature, falling →", hottest, 1.0);
        let upwards = Axis::linear("noise, as a standard deviation", (0.0, top), 4);
        let svg = format!(
            "<svg class=\"drawn\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"The noise against the temperature, from {} to {}\">\
             {}<path class=\"curve\" d=\"M{}\"/></svg>",
            escape(&significant(high, 3)),
            escape(&significant(low, 3)),
            gridlines(width, height, &across, &upwards),
            line.join("L")
        );
        framed(&svg, &across, &upwards, "")
    }

    /// Every beginning that was followed, with what came of it.
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

    fn facts(&self) -> String {
        let (run, model, parameters, space) = (self.run, self.model, self.parameters, self.space);
        let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
        let input = vec![
            run.input(),
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
        format!("{}\n{}", markup::facts(input), markup::facts(outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_picture_is_left_alone_in_a_row_that_could_be_even() {
        // 7 as 4 and 3, 13 as 5, 5 and 3, 24 as 6, 6, 6 and 6.
        assert_eq!([1, 4, 6, 7, 13, 24].map(|count| abreast(count, 6)), [1, 4, 6, 4, 5, 6]);
        for count in 3..=PLANES {
            let across = abreast(count, 6);
            let last = count - (count.div_ceil(across) - 1) * across;
            assert!(across <= 6 && 2 * last >= across, "{count}: the last row has {last} of {across}");
        }
    }
}
