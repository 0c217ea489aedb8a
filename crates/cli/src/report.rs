//! `report.html`: one page that tells what was found, and loads nothing.
//!
//! The words, the figures and the table are written here, so that the page says everything without its script; the script
//! (`report/page.js`) draws the map and the curves from data in the page and makes the table sortable. Points come packed
//! ([`packed`]), laid out by [`picture`], coloured by [`palette`].

pub mod application;
mod axes;
pub mod demography;
pub mod gtm;
pub mod mixture;
mod packed;
pub mod pairs;
mod palette;
mod picture;
mod plain;
mod principal_axes;
mod starts;

use lehr_methods::cluster::{Annealed, Course, Fitted, Parameters, marks};
use lehr_methods::numbers::{amount, column, counted, duration, grouped, quantity, share, significant};
use lehr_methods::{Data, Fit, Rows};
use lehr_mining::vector::Cost;
use lehr_ranks::timing::Spread;
use serde_json::json;

use crate::command::demo;
use crate::plan::method::MethodPlan;
use crate::plan::processes_counted;
use crate::summary;
use palette::Palette;
use picture::Picture;

const PAGE: &str = include_str!("report/page.html");
/// The part of the page about cooling.
const ANNEAL: &str = include_str!("report/anneal.html");
const STYLE: &str = include_str!("report/page.css");
const SCRIPT: &str = include_str!("report/page.js");

/// The colours of rows that are in no cluster, on a light page and on a dark one: greys, which no cluster has.
const OUTLIER_LIGHT: &str = "#8b949e";
const OUTLIER_DARK: &str = "#6e7681";

/// Columns of centres that the table shows; `centers.csv` has all.
const COLUMNS_MAX: usize = 12;
/// Marks of a cluster of rows of bits that the table shows in their place.
const MARKS_MAX: usize = 4;

/// The page of a method: its own where it has one, else its figures and tables. `phases`: seconds by name so far.
pub fn of_method(
    plan: &MethodPlan,
    data: Data<'_>,
    fit: &dyn Fit,
    warnings: &[String],
    phases: &[(String, f64)],
) -> String {
    let any = fit.as_any();
    if let Some(fitted) = any.downcast_ref::<Fitted>() {
        return page(plan, data.rows(), fitted, warnings, phases);
    }
    if let Some(fitted) = any.downcast_ref::<lehr_methods::gtm::Fitted>() {
        return gtm::page(plan, data.rows(), &fitted.parameters, &fitted.model, warnings, phases);
    }
    if let Some(fitted) = any.downcast_ref::<lehr_methods::mixture::Fitted>() {
        return mixture::page(plan, data.rows(), &fitted.parameters, &fitted.model, warnings, phases);
    }
    let source = plan.source.path.display().to_string();
    if let Some(fitted) = any.downcast_ref::<lehr_methods::pairwise::Fitted>() {
        return pairs::clusters_page(&source, data.matrix(), &fitted.model);
    }
    if let Some(fitted) = any.downcast_ref::<lehr_methods::embed::Fitted>() {
        return pairs::map_page(&source, data.matrix(), &fitted.map, fitted.shepard(data.matrix()));
    }
    plain::page(plan, data, fit, warnings)
}

/// The whole page of clusters. `phases`: seconds by name so far.
fn page(plan: &MethodPlan, space: &Rows, model: &Fitted, warnings: &[String], phases: &[(String, f64)]) -> String {
    let picture = Picture::new(space, &model.centers);
    let palette = palette::palette(&fractions(&picture));
    let run = Run { plan, space, parameters: &model.parameters, model, phases };
    let row = plan.source.built_in().map_or("row", |dataset| demo::subject(dataset).0);
    let headline =
        format!("{} in {}", counted(space.len() as u64, row), counted(model.clusters.len() as u64, "cluster"));
    let source = plan.source.path.display().to_string();
    let of_none = if model.outliers.as_ref().is_some_and(|outliers| outliers.rows > 0) {
        " Grey rows are in no cluster."
    } else {
        ""
    };
    let caption = format!("{}{of_none}", picture.caption);
    fill(PAGE, |name| match name {
        "version" => env!("CARGO_PKG_VERSION").to_owned(),
        "title" => escape(&format!("{headline} – {source} – lehr")),
        "style" => STYLE.to_owned(),
        "script" => SCRIPT.to_owned(),
        "headline" => escape(&headline),
        "lead" => escape(&run.lead()),
        "warnings" => {
            let one = |warning: &String| format!("<p class=\"warning\"><b>Note:</b> {}</p>", escape(warning));
            warnings.iter().map(one).collect::<Vec<_>>().join("\n")
        }
        "tiles" => run.tiles(),
        "map_title" => if space.is_sphere() { "The map" } else { "The points" }.to_owned(),
        "map_caption" => escape(&caption),
        "map_label" => escape(&format!("{headline}, drawn as points coloured by cluster. {caption}")),
        "course" => match &model.course {
            Course::Annealed(annealed) => run.cooling(annealed),
            Course::Started(starts) => starts::section(starts, space.unit_squared()),
        },
        "table_note" => escape(&run.table_note()),
        "table_head" => run.table_head(),
        "table_body" => run.table_body(&palette),
        "facts" => run.facts(),
        "phases" => run.phases(),
        "timers" => run.timers(),
        "data" => run.data(&picture, &palette),
        other => unreachable!("the page asks for {other}, which nobody writes"),
    })
}

struct Run<'a> {
    plan: &'a MethodPlan,
    space: &'a Rows,
    parameters: &'a Parameters,
    model: &'a Fitted,
    phases: &'a [(String, f64)],
}

impl Run<'_> {
    fn seconds(&self) -> f64 {
        self.phases.iter().map(|(_, seconds)| seconds).sum()
    }

    fn lead(&self) -> String {
        if let Some(dataset) = self.plan.source.built_in() {
            return format!("{}. {} on the sphere.", demo::subject(dataset).1, self.method());
        }
        let source = self.plan.source.path.display().to_string();
        let columns = self.space.columns();
        let columns = if self.space.are_bits() {
            format!("rows of {} bits", columns.len())
        } else if let Some(rows) = self.space.sparse() {
            let share = significant(100.0 * rows.density(), 2);
            format!("sparse rows of {} columns, {share} % of whose values are not 0", grouped(columns.len() as u64))
        } else if columns.len() <= 6 {
            columns.join(", ")
        } else {
            format!("{}, … ({} columns)", columns[..4].join(", "), columns.len())
        };
        // The path in full is among the facts below.
        let name = source.rsplit(['/', '\\']).next().unwrap_or(&source);
        let mut parts = vec![format!("{name}: {columns}")];
        if self.space.is_sphere() {
            parts.push("on the sphere".to_owned());
        }
        if self.space.is_scaled() {
            parts.push(format!("scaled ({})", self.plan.source.frame.scale()));
        }
        if let Some(weights) = &self.plan.source.selection.weights {
            parts.push(format!("weighted by {weights}"));
        }
        format!("{}. {}.", parts.join(", "), self.method())
    }

    fn method(&self) -> &'static str {
        match self.parameters {
            Parameters::Annealing(_) => "Deterministic annealing",
            Parameters::KMeans(_) => "K-means",
        }
    }

    fn tiles(&self) -> String {
        let (model, space) = (self.model, self.space);
        let tile = |name: &str, big: String, unit: &str, sub: String| {
            let unit = if unit.is_empty() { String::new() } else { format!(" <small>{}</small>", escape(unit)) };
            format!(
                "<div><dt>{}</dt><dd class=\"big\">{}{unit}</dd><dd class=\"sub\">{}</dd></div>",
                escape(name),
                typeset(&big),
                typeset(&sub)
            )
        };
        let zero = summary::rows_of_weight_zero(space);
        let mut tiles = vec![tile(
            "Rows",
            grouped(space.len() as u64),
            "",
            if zero > 0 { format!("{} of weight 0", grouped(zero as u64)) } else { "all of them counted".to_owned() },
        )];
        tiles.push(tile(
            "Clusters",
            grouped(model.clusters.len() as u64),
            "",
            match &model.course {
                Course::Annealed(annealed) => format!("{} on the way", counted(annealed.splits.len() as u64, "split")),
                Course::Started(starts) => format!("the best of {}", counted(starts.len() as u64, "start")),
            },
        ));
        if space.weights().is_some() {
            let heaviest = model.clusters.iter().map(|cluster| cluster.weight).fold(0.0, f64::max);
            let total = space.total_weight();
            tiles.push(tile("Weight", amount(total), "", format!("heaviest cluster {}", share(heaviest, total))));
        }
        tiles.push(tile(
            "Distance to the centre",
            significant(space.distance(model.root_mean_square()), 4),
            space.unit(),
            "root mean square".to_owned(),
        ));
        if let Some(annealed) = model.cooled()
            && annealed.last_temperature > 0.0
        {
            if model.centroids.is_bernoulli() {
                let last = significant(annealed.last_temperature, 4);
                tiles.push(tile("Hardened to temperature", last, "nats", String::new()));
            } else {
                tiles.push(tile(
                    "Hardened to length",
                    significant((annealed.last_temperature / 2.0).sqrt(), 4),
                    space.unit(),
                    format!("temperature {}", quantity(annealed.last_temperature, space.unit_squared())),
                ));
            }
        }
        if let Some(outliers) = &model.outliers {
            let part = share(outliers.weight, space.total_weight());
            tiles.push(tile("Outliers", grouped(outliers.rows), "", format!("in no cluster; {part} of the weight")));
        }
        tiles.push(tile("Time", duration(self.seconds()), "", counted(model.iterations, "iteration")));
        tiles.join("\n")
    }

    /// The unit of temperatures, costs and free energies.
    fn unit_of_cost(&self) -> &'static str {
        self.parameters.unit_of_cost(self.space.unit_squared())
    }

    /// The part of the page about cooling.
    fn cooling(&self, annealed: &Annealed) -> String {
        let unit = self.unit_of_cost();
        fill(ANNEAL, |name| match name {
            "anneal_note" => typeset(&self.anneal_note(annealed)),
            "clusters_label" => escape(&clusters_label(annealed)),
            "energy_label" => escape(&self.energy_label(annealed)),
            "free_energy_unit" if unit.is_empty() => String::new(),
            "free_energy_unit" => format!(" ({unit})"),
            other => unreachable!("the page asks for {other}, which nobody writes"),
        })
    }

    fn anneal_note(&self, annealed: &Annealed) -> String {
        let unit = self.unit_of_cost();
        if annealed.history.is_empty() {
            return "There was nothing to anneal.".to_owned();
        }
        let mut note =
            "A temperature T blurs the data over the length √(T/2). Cooled slowly, a cluster splits when its own \
                        spread exceeds that length; each split is marked. Where a number was asked for, growth goes on past it on \
                        purpose, to merge back from above. At the end the number of clusters is fixed and memberships are hardened (dotted; free energy then counts from another zero)."
                .to_owned();
        if annealed.critical_temperature > 0.0 {
            note.push_str(&format!(
                " Above {} one cluster is all the data ask for.",
                quantity(annealed.critical_temperature, unit)
            ));
        }
        if let Some(number) = &annealed.number {
            note.push_str(&format!(" No number was asked for. {}.", number.reason()));
        }
        note
    }

    fn energy_label(&self, annealed: &Annealed) -> String {
        match (annealed.history.first(), annealed.history.last()) {
            (Some(first), Some(last)) => format!(
                "Free energy against falling temperature: from {} to {}.",
                quantity(first.free_energy, self.unit_of_cost()),
                quantity(last.free_energy, self.unit_of_cost())
            ),
            _ => "Free energy: nothing was annealed.".to_owned(),
        }
    }

    fn table_note(&self) -> String {
        let mut note =
            "By falling weight. Spread is the root mean square distance of a cluster's rows to its centre".to_owned();
        note.push_str(match (self.space.is_sphere(), self.space.is_scaled()) {
            (true, _) => ", in km; centres are in degrees.",
            (_, true) => ", in scaled units; centres are in the columns' own units.",
            _ => ", in the unit of the columns.",
        });
        if self.space.are_bits() {
            note.push_str(&format!(
                " Bits set is how many of {} a row of the cluster has on average; marks are the bits whose frequency differs most from that in all clusters. centers.csv has the frequencies of all.",
                self.space.columns().len()
            ));
        } else if self.space.sparse().is_some() {
            note.push_str(
                " Values a row is how many columns of a row are not 0 on average; marks are the columns whose mean differs most from that in all clusters. centers.csv has the means of all.",
            );
        } else if self.space.columns().len() > COLUMNS_MAX {
            note.push_str(&format!(
                " Centres have {} columns: the first {COLUMNS_MAX} are shown, centers.csv has all.",
                self.space.columns().len()
            ));
        }
        note
    }

    fn shown_columns(&self) -> &[String] {
        let columns = self.space.columns();
        &columns[..if self.space.has_many_columns() { 0 } else { columns.len().min(COLUMNS_MAX) }]
    }

    fn table_head(&self) -> String {
        let unit = self.space.unit();
        let spread = if unit.is_empty() { "spread".to_owned() } else { format!("spread ({unit})") };
        let names = ["cluster".to_owned(), "rows".to_owned(), "weight".to_owned(), "share".to_owned()]
            .into_iter()
            .chain(self.shown_columns().iter().cloned())
            .chain(marks::filled(self.space, self.model).map(|filled| filled.name.to_owned()))
            .chain([spread])
            .chain(self.space.has_many_columns().then(|| "marks".to_owned()));
        names
            .enumerate()
            .map(|(place, name)| {
                // As it stands, the table is sorted by the cluster's number.
                let sorted = if place == 0 { " aria-sort=\"ascending\"" } else { "" };
                format!("<th scope=\"col\"{sorted}><button type=\"button\">{}</button></th>", escape(&name))
            })
            .collect()
    }

    fn table_body(&self, palette: &Palette) -> String {
        let total: f64 = self.model.clusters.iter().map(|cluster| cluster.weight).sum();
        let cell = |value: f64, text: &str| format!("<td data-value=\"{value}\">{}</td>", typeset(text));
        let heaviest = self.model.clusters.iter().map(|cluster| cluster.weight).fold(f64::MIN_POSITIVE, f64::max);
        let centers: Vec<Vec<f64>> = self.model.each_center().map(|center| self.space.center(center)).collect();
        let spreads: Vec<f64> = self.model.clusters.iter().map(|facts| self.space.distance(facts.spread)).collect();
        // The last columns, value and text.
        let mut columns: Vec<(Vec<f64>, Vec<String>)> = Vec::new();
        for place in 0..self.shown_columns().len() {
            let values: Vec<f64> = centers.iter().map(|center| center[place]).collect();
            let texts = column(&values, 5);
            columns.push((values, texts));
        }
        let marks = match marks::filled(self.space, self.model) {
            Some(filled) => {
                let texts = column(&filled.of_clusters, 4);
                columns.push((filled.of_clusters, texts));
                marks::of_clusters(self.model, MARKS_MAX)
            }
            None => Vec::new(),
        };
        let texts = column(&spreads, 4);
        columns.push((spreads, texts));
        let mut body = Vec::new();
        for (cluster, facts) in self.model.clusters.iter().enumerate() {
            let part = if total > 0.0 { facts.weight / total } else { 0.0 };
            let mut row = format!(
                "<tr data-cluster=\"{cluster}\" style=\"--light:{};--dark:{};--part:{:.1}%\"><td data-value=\"{cluster}\">\
                 <button type=\"button\" class=\"pick\" aria-pressed=\"false\" aria-label=\"Cluster {cluster}: keep it in view\">\
                 <i class=\"swatch\"></i>{cluster}</button></td>",
                palette.light[cluster],
                palette.dark[cluster],
                100.0 * facts.weight / heaviest
            );
            row.push_str(&cell(facts.rows as f64, &grouped(facts.rows)));
            row.push_str(&cell(facts.weight, &amount(facts.weight)));
            row.push_str(&format!(
                "<td data-value=\"{part}\"><span class=\"share\"><i></i><span>{}</span></span></td>",
                share(facts.weight, total)
            ));
            for (values, texts) in &columns {
                row.push_str(&cell(values[cluster], &texts[cluster]));
            }
            if let Some(marks) = marks.get(cluster) {
                let words: Vec<String> = marks.iter().map(|mark| marks::words(self.space, mark)).collect();
                row.push_str(&format!("<td data-value=\"{cluster}\">{}</td>", escape(&words.join("; "))));
            }
            row.push_str("</tr>");
            body.push(row);
        }
        body.join("\n")
    }

    fn facts(&self) -> String {
        let (plan, model, parameters, space) = (self.plan, self.model, self.parameters, self.space);
        let selection = &plan.source.selection;
        let squared = space.unit_squared();
        let cost = self.unit_of_cost();
        let mut input = vec![
            ("Input", plan.source.path.display().to_string()),
            ("Fingerprint", format!("{:016x}", space.vectors().fingerprint())),
            ("Weights", selection.weights.clone().unwrap_or("none: every row counts the same".to_owned())),
            ("Identifiers", selection.id.clone().unwrap_or("the row, from 0".to_owned())),
            (
                "Scale",
                if space.is_sphere() { "km on the sphere".to_owned() } else { plan.source.frame.scale().to_string() },
            ),
            ("Seed", parameters.seed().to_string()),
            ("Precision", format!("{:?}", parameters.precision()).to_lowercase()),
        ];
        match parameters {
            Parameters::Annealing(parameters) => input.extend(
                [
                    ("Stops", stops(parameters, space.unit(), cost)),
                    ("Cooling", format!("× {} a step", parameters.cooling)),
                ]
                .into_iter()
                .chain(match parameters.cost {
                    Cost::Squared => None,
                    Cost::Bernoulli { prior } => {
                        Some(("Cost", format!("-ln p by the bits' frequencies, prior {prior}")))
                    }
                })
                .chain(
                    parameters.sponge.map(|radius| ("Sponge", format!("beyond {}", quantity(radius, space.unit())))),
                ),
            ),
            Parameters::KMeans(parameters) => input.extend([
                ("Starts", grouped(parameters.starts as u64)),
                ("Most sweeps of a start", grouped(parameters.max_sweeps)),
                ("Sweeps", format!("{:?}", parameters.sweeps).to_lowercase()),
            ]),
        }
        let mean = if model.centroids.is_bernoulli() { "Mean cost of a row" } else { "Mean squared distance" };
        let mut outcome = vec![
            (mean, quantity(model.objective, cost)),
            ("Weighted sum of squares", quantity(model.sum_of_squares, squared)),
        ];
        if let Some(annealed) = model.cooled() {
            outcome.extend([
                ("Free energy at the last soft temperature", quantity(annealed.free_energy, cost)),
                ("Critical temperature", quantity(annealed.critical_temperature, cost)),
                ("Last soft temperature", quantity(annealed.last_temperature, cost)),
                ("Temperatures", grouped(annealed.history.len() as u64)),
            ]);
        }
        outcome.push(("Iterations", grouped(model.iterations)));
        let execution = &plan.execution;
        outcome.push(("Engine", execution.engine.to_string()));
        let ranks = counted(plan.layout.ranks() as u64, "rank");
        let processes = plan.layout.processes * plan.layout.nodes;
        let threads = counted((execution.threads * processes) as u64, "thread");
        let of = if processes > 1 { format!(" of {}", processes_counted(processes)) } else { String::new() };
        outcome.push(("Shared by", format!("{ranks} on {threads}{of}")));
        if plan.resumed.is_some() {
            outcome.push(("Resumed", "yes: times are of the second part".to_owned()));
        }
        let list = |facts: Vec<(&str, String)>| {
            let row = |(name, value): (&str, String)| {
                format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), typeset_facts(name, &value))
            };
            format!("<dl>{}</dl>", facts.into_iter().map(row).collect::<String>())
        };
        format!("{}\n{}", list(input), list(outcome))
    }

    fn phases(&self) -> String {
        let total = self.seconds().max(f64::MIN_POSITIVE);
        let shade = |place: usize| 100 - 72 * place / self.phases.len().max(2).saturating_sub(1).max(1);
        let (mut bar, mut list) = (String::new(), String::new());
        for (place, (name, seconds)) in self.phases.iter().enumerate() {
            let mix = shade(place);
            bar.push_str(&format!("<span style=\"--mix:{mix}%;flex:{:.4}\"></span>", seconds / total));
            list.push_str(&format!(
                "<li><i style=\"--mix:{mix}%\"></i>{} <b>{}</b></li>",
                escape(name),
                escape(&duration(*seconds))
            ));
        }
        format!("<div class=\"phasebar\" aria-hidden=\"true\">{bar}</div><ul class=\"phases\">{list}</ul>")
    }

    /// Where there are several ranks: how evenly they spent their time, and on what.
    fn timers(&self) -> String {
        let timers = &self.model.timers;
        if timers.iter().all(|spread| spread.ranks < 2) {
            return String::new();
        }
        let head =
            ["", "least", "mean", "most", "slowest"].map(|name| format!("<th scope=\"col\">{name}</th>")).concat();
        let row = |spread: &Spread| {
            let seconds = [spread.min_s, spread.mean_s, spread.max_s]
                .map(|seconds| format!("<td>{}</td>", escape(&duration(seconds))))
                .concat();
            format!("<tr><td>{}</td>{seconds}<td>rank {}</td></tr>", escape(&spread.name), spread.slowest)
        };
        format!(
            "<h3 class=\"apart\">Of each rank</h3><div class=\"scroll\"><table class=\"timers\"><thead><tr>{head}</tr></thead>\
             <tbody>{}</tbody></table></div>",
            timers.iter().map(row).collect::<String>()
        )
    }

    /// What the script draws from.
    fn data(&self, picture: &Picture, palette: &Palette) -> String {
        let (model, space) = (self.model, self.space);
        let [x, y] = picture.range;
        // Outliers are drawn as one more cluster, which has no centre and no line in the table.
        let clusters = model.clusters.len();
        let labels = picture.rows.iter().map(|&row| model.labels[row].min(clusters as u32));
        let (label_bytes, labels) = packed::labels(labels, clusters + usize::from(model.outliers.is_some()));
        let colors = |own: &[String], none: &str| -> Vec<String> {
            own.iter().cloned().chain(model.outliers.iter().map(|_| none.to_owned())).collect()
        };
        let total: f64 = model.clusters.iter().map(|cluster| cluster.weight).sum();
        let centers = model.each_center();
        let columns = space.columns();
        let filled = marks::filled(space, model);
        let clusters: Vec<_> = fractions(picture)
            .into_iter()
            .zip(&model.clusters)
            .zip(centers)
            .enumerate()
            .map(|(k, ((place, facts), center))| {
                let shown: Vec<String> = (space.center(center).iter().zip(columns).take(3))
                    .map(|(&value, name)| format!("{name} {}", significant(value, 5)))
                    .collect();
                let more = if columns.len() > 3 { ", …" } else { "" };
                let center = match &filled {
                    Some(filled) => format!("{} {} on average", significant(filled.of_clusters[k], 4), filled.name),
                    None => format!("centre {}{more}", shown.join(", ")),
                };
                let lines = [
                    counted(facts.rows, "row"),
                    format!("weight {} ({})", amount(facts.weight), share(facts.weight, total)),
                    center,
                    format!("spread {}", quantity(space.distance(facts.spread), space.unit())),
                ];
                json!({ "x": place.0, "y": place.1, "weight": facts.weight, "lines": lines })
            })
            .collect();
        let (history, splits) = model.cooled().map_or((&[][..], &[][..]), |run| (&run.history[..], &run.splits[..]));
        let history: Vec<_> =
            history.iter().map(|step| json!([step.temperature, step.clusters, step.free_energy])).collect();
        let splits: Vec<_> = splits.iter().map(|split| json!([split.temperature, split.clusters])).collect();
        let data = json!({
            "unit": space.unit(),
            "unit_squared": self.unit_of_cost(),
            "map": {
                "x": packed::coordinates(picture.points.iter().map(|point| point.0), x),
                "y": packed::coordinates(picture.points.iter().map(|point| point.1), y),
                "labels": labels,
                "label_bytes": label_bytes,
                "faint": picture.faint,
                "x_range": [x.0, x.1],
                "y_range": [y.0, y.1],
                "equal": picture.aspect.is_some(),
                "width": picture.aspect.unwrap_or(1.0),
                "height": 1.0,
                "degrees": picture.degrees,
                "y_ticks": picture.y_measures,
                "names": picture.names,
                "breaks": picture.breaks,
            },
            "clusters": clusters,
            "colors": {
                "light": colors(&palette.light, OUTLIER_LIGHT),
                "dark": colors(&palette.dark, OUTLIER_DARK),
            },
            "history": history,
            "splits": splits,
        });
        // Inside a script element, only "<" could end it.
        data.to_string().replace('<', "\\u003c")
    }
}

fn clusters_label(annealed: &Annealed) -> String {
    format!(
        "Number of clusters against falling temperature: from 1 to {}, with {}.",
        annealed.history.iter().map(|step| step.clusters).max().unwrap_or(1),
        counted(annealed.splits.len() as u64, "split")
    )
}

/// When the growth of clusters ends.
fn stops(parameters: &lehr_mining::vector::Parameters, unit: &str, squared: &str) -> String {
    match (parameters.clusters, parameters.stop_temperature, parameters.stop_length) {
        (Some(clusters), None, None) => format!("at {}", counted(clusters as u64, "cluster")),
        (Some(clusters), Some(t), _) => format!("at {clusters} clusters or {}", quantity(t, squared)),
        (Some(clusters), _, Some(length)) => format!("at {clusters} clusters or length {}", quantity(length, unit)),
        (None, Some(t), _) => format!("at {}", quantity(t, squared)),
        (None, _, Some(length)) => format!("at length {}", quantity(length, unit)),
        (None, None, None) => "at the number of clusters that stays longest".to_owned(),
    }
}

/// Where the centres lie in the picture, 0 to 1 both ways.
fn fractions(picture: &Picture) -> Vec<(f64, f64)> {
    let [x, y] = picture.range;
    picture.centers.iter().map(|center| (packed::fraction(center.0, x), packed::fraction(center.1, y))).collect()
}

/// The template with each `{{name}}` replaced by what `value` gives; what is put in is not looked at again.
fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut page = String::with_capacity(2 << 20);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        page.push_str(before);
        page.push_str(&value(name));
        rest = after;
    }
    page.push_str(rest);
    page
}

/// Text as HTML, in elements and in quoted attributes.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// What may stand behind a figure in a sentence.
const PUNCTUATION: [char; 4] = [',', ';', '.', ')'];

/// Figures, or a sentence with figures, as HTML: a true minus sign, and powers of ten as such.
fn typeset(text: &str) -> String {
    let words: Vec<String> = text
        .split(' ')
        .map(|word| match word.trim_end_matches(PUNCTUATION).split_once('e') {
            Some((mantissa, power)) if mantissa.parse::<f64>().is_ok() && power.parse::<i32>().is_ok() => {
                let rest = &word[mantissa.len() + 1 + power.len()..];
                format!("{} × 10<sup>{}</sup>{rest}", mantissa.replace('-', "−"), power.replace('-', "−"))
            }
            _ if word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) => {
                escape(&word.replace('-', "−"))
            }
            _ => escape(word),
        })
        .collect();
    words.join(" ")
}

/// Facts are figures, except those that are names: a name such as `2-e5` stays as it is.
fn typeset_facts(name: &str, value: &str) -> String {
    if matches!(name, "Input" | "Fingerprint" | "Weights" | "Identifiers") { escape(value) } else { typeset(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_once() {
        assert_eq!(fill("a {{x}} b {{y}}", |name| format!("<{name}{{{{x}}}}>")), "a <x{{x}}> b <y{{x}}>");
    }

    #[test]
    fn text_of_the_data_cannot_become_markup() {
        assert_eq!(escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    }

    #[test]
    fn figures_are_typeset_and_names_are_not() {
        assert_eq!(typeset("-115.1 km"), "−115.1 km");
        assert_eq!(typeset("1.5e9 km²"), "1.5 × 10<sup>9</sup> km²");
        assert_eq!(typeset("from 1.5e9, to -2e-7."), "from 1.5 × 10<sup>9</sup>, to −2 × 10<sup>−7</sup>.");
        assert_eq!(typeset_facts("Input", "2-e5.csv"), "2-e5.csv");
    }
}
