//! The page of `lehr cluster`: a map or a picture of the rows, how they were cooled or started, and the clusters.
//!

use lehr_methods::cluster::{Annealed, Course, Fitted, Parameters, marks};
use lehr_methods::numbers::{amount, column, counted, duration, grouped, quantity, share, significant};
use lehr_methods::{Data, Rows};
use lehr_mining::vector::Cost;
use lehr_ranks::timing::Spread;
use serde_json::Value;

use crate::figure::{Figures, anneal};
use crate::markup::{self, escape, section, swatch, table, tile, typeset};
use crate::picture::Picture;
use crate::scene::Scene;
use crate::{Run, columns_named, explained, rows_counted, starts};

/// Columns of centres that the table shows; `centers.csv` has all.
pub(crate) const COLUMNS_MAX: usize = 60;
/// Marks of a cluster of rows of bits that the table shows in their place.
const MARKS_MAX: usize = 4;

/// The whole page.
pub fn page(run: &Run<'_>, space: &Rows, model: &Fitted) -> String {
    let outlying = model.outlying(Data::Rows(space));
    let aside: Vec<usize> = outlying.iter().flat_map(|outlying| outlying.rows.iter().map(|row| row.row)).collect();
    let picture = Picture::new(space, &model.centers, &aside);
    let page = Page { run, space, parameters: &model.parameters, model };
    let row = run.subject.map_or("row", |subject| subject.row);
    let headline =
        format!("{} in {}", counted(space.len() as u64, row), counted(model.clusters.len() as u64, "cluster"));
    let explained = model.explanation(Data::Rows(space)).filter(|_| model.clusters.len() > 1);
    let mut figures = Figures::default();
    let mut scene = Scene::of_rows(run.name(), space, run.weights, &picture.rows);
    let of = picture.rows.iter().map(|&row| model.labels[row]);
    scene.grouping("clusters", of, None);
    if let Some(explained) = explained {
        scene.about_groups(explained.clusters.iter().map(|portrait| &*portrait.name).collect());
    }
    scene.picture(&picture, Value::Null);
    scene.with_table("clusters");
    let of_none = if model.outliers.as_ref().is_some_and(|outliers| outliers.rows > 0) {
        "Grey rows are in no cluster."
    } else {
        ""
    };
    let title = if space.is_sphere() { "The map" } else { "The points" };
    let mut main = format!("<dl class=\"tiles\" aria-label=\"The run in figures\">\n{}\n</dl>\n", page.tiles());
    main += &section("points", title, of_none, &figures.add("picture", scene.figure()));
    if let Some(explained) = explained {
        main += &explained::apart(space, model, explained);
    }
    main += &outlying.map_or_else(String::new, |outlying| explained::outliers(space, outlying));
    main += &space.origin().map_or_else(String::new, explained::columns);
    main += &section("table", "The clusters", &page.table_note(), &page.table());
    main += &match &model.course {
        Course::Annealed(annealed) => page.cooling(annealed, &mut figures),
        Course::Started(starts) => starts::section(starts, space.unit_squared(), &mut figures),
    };
    main += &section(
        "run",
        "The run",
        "",
        &format!(
            "<div class=\"sheets\">{}</div><h3>Where the time went</h3>{}{}",
            page.facts(),
            page.phases(),
            page.timers()
        ),
    );
    let (headline, source, lead, warnings) = (&headline, run.source, escape(&page.lead()), run.warnings);
    markup::Page { headline, source, lead, warnings, main, figures }.html()
}

struct Page<'a> {
    run: &'a Run<'a>,
    space: &'a Rows,
    parameters: &'a Parameters,
    model: &'a Fitted,
}

impl Page<'_> {
    fn lead(&self) -> String {
        if let Some(subject) = self.run.subject {
            return format!("{}. {} on the sphere.", subject.about, self.method());
        }
        let columns = self.space.columns();
        let columns = if self.space.are_bits() {
            format!("rows of {} bits", columns.len())
        } else if let Some(rows) = self.space.sparse() {
            let share = significant(100.0 * rows.density(), 2);
            format!("sparse rows of {} columns, {share} % of whose values are not 0", grouped(columns.len() as u64))
        } else {
            columns_named(columns)
        };
        // The path in full is among the facts below.
        format!("{}. {}.", self.run.what_was_read(self.space, &columns), self.method())
    }

    fn method(&self) -> &'static str {
        match self.parameters {
            Parameters::Annealing(_) => "Deterministic annealing",
            Parameters::KMeans(_) => "K-means",
        }
    }

    fn tiles(&self) -> String {
        let (model, space) = (self.model, self.space);
        let mut tiles = vec![rows_counted(space)];
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
        tiles.push(self.run.time(counted(model.iterations, "iteration")));
        tiles.join("\n")
    }

    /// The unit of temperatures, costs and free energies.
    fn unit_of_cost(&self) -> &'static str {
        self.parameters.unit_of_cost(self.space.unit_squared())
    }

    /// The part of the page about cooling.
    fn cooling(&self, annealed: &Annealed, figures: &mut Figures) -> String {
        let drawn = if annealed.history.is_empty() {
            String::new()
        } else {
            let unit = self.unit_of_cost();
            figures.add("course", anneal(&annealed.history, &annealed.splits, unit, self.run.command))
        };
        self.numbers() + &section("course", "How the clusters came about", &self.anneal_note(annealed), &drawn)
    }

    fn anneal_note(&self, annealed: &Annealed) -> String {
        let unit = self.unit_of_cost();
        if annealed.history.is_empty() {
            return "There was nothing to anneal.".to_owned();
        }
        let mut note = "While the temperature falls, a cluster splits when its own spread exceeds the length √(T/2). \
                        At the end the number of clusters is fixed and memberships are hardened (dotted)."
            .to_owned();
        if annealed.critical_temperature > 0.0 {
            note.push_str(&format!(
                " Above {} one cluster is all the data ask for.",
                quantity(annealed.critical_temperature, unit)
            ));
        }
        if let Some(number) = &annealed.number {
            note.push_str(&format!(" The number was chosen before the run, {}.", number.clusters));
        }
        note
    }

    /// Why there are so many clusters, and the numbers that were compared; nothing where the number was given.
    fn numbers(&self) -> String {
        let Some(number) = self.model.number() else { return String::new() };
        let sentence = [Some(number.reason()), number.others()].into_iter().flatten().collect::<Vec<_>>().join("; ");
        let compared = self.model.shortlist().map_or_else(String::new, |(heads, lines)| {
            let line = |[clusters, distance, separation, verdict]: &[String; 4]| {
                format!(
                    "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"words\">{}</td></tr>",
                    typeset(clusters),
                    typeset(distance),
                    typeset(separation),
                    typeset(verdict)
                )
            };
            let [clusters, distance, separation, verdict] = heads;
            let verdict = format!("{verdict}\t");
            let rows: String = lines.iter().map(line).collect();
            table("numbers", "The numbers that were compared", [clusters, distance, separation, &verdict], &rows)
                + "<p class=\"note\">Distance: root mean square to the centre, of the rows compared. Separation: how much likelier the rows are with a valley \
                   between the two clusters that are separated least, as a difference of log-likelihoods. summary.json has all numbers compared.</p>"
        });
        section("number", "Why this number of clusters", &format!("{sentence}."), &compared)
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

    fn table(&self) -> String {
        let unit = self.space.unit();
        let spread = if unit.is_empty() { "spread".to_owned() } else { format!("spread ({unit})") };
        let names: Vec<String> = ["cluster", "rows", "weight", "share"]
            .into_iter()
            .map(str::to_owned)
            .chain(self.shown_columns().iter().cloned())
            .chain(marks::filled(self.space, self.model).map(|filled| filled.name.to_owned()))
            .chain([spread])
            .chain(self.space.has_many_columns().then(|| "marks\t".to_owned()))
            .collect();
        table("clusters", "The clusters", names.iter().map(String::as_str), &self.table_body())
    }

    fn table_body(&self) -> String {
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
                "<tr data-cluster=\"{cluster}\" style=\"--part:{:.1}%\"><td data-value=\"{cluster}\">\
                 <button type=\"button\" class=\"link\" aria-label=\"Select the rows of cluster {cluster}\">{}{cluster}</button></td>",
                100.0 * facts.weight / heaviest,
                swatch(cluster)
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
                row.push_str(&format!("<td class=\"words\">{}</td>", escape(&words.join("; "))));
            }
            row.push_str("</tr>");
            body.push(row);
        }
        body.join("\n")
    }

    fn facts(&self) -> String {
        let (run, model, parameters, space) = (self.run, self.model, self.parameters, self.space);
        let squared = space.unit_squared();
        let cost = self.unit_of_cost();
        let mut input = vec![
            run.input(),
            ("Fingerprint", format!("{:016x}", space.vectors().fingerprint())),
            run.weighted_by(),
            run.identified_by(),
            ("Scale", if space.is_sphere() { "km on the sphere".to_owned() } else { run.scale.to_string() }),
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
        outcome.extend(run.carried_out_by());
        if run.is_resumed {
            outcome.push(("Resumed", "yes: times are of the second part".to_owned()));
        }
        format!("{}\n{}", markup::facts(input), markup::facts(outcome))
    }

    fn phases(&self) -> String {
        let total = self.run.seconds().max(f64::MIN_POSITIVE);
        let shade = |place: usize| 100 - 72 * place / self.run.phases.len().max(2).saturating_sub(1).max(1);
        let (mut bar, mut list) = (String::new(), String::new());
        for (place, (name, seconds)) in self.run.phases.iter().enumerate() {
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
        let row = |spread: &Spread| {
            let seconds = [spread.min_s, spread.mean_s, spread.max_s]
                .map(|seconds| format!("<td>{}</td>", escape(&duration(seconds))))
                .concat();
            format!("<tr><td>{}</td>{seconds}<td>rank {}</td></tr>", escape(&spread.name), spread.slowest)
        };
        let rows: String = timers.iter().map(row).collect();
        let head = ["phase", "least", "mean", "most", "slowest"];
        format!("<h3>Of each rank</h3>{}", table("ranks", "Of each rank", head, &rows))
    }
}

/// When the growth of clusters ends.
fn stops(parameters: &lehr_mining::vector::Parameters, unit: &str, squared: &str) -> String {
    match (parameters.clusters, parameters.stop_temperature, parameters.stop_length) {
        (Some(clusters), None, None) => format!("at {}", counted(clusters as u64, "cluster")),
        (Some(clusters), Some(t), _) => format!("at {clusters} clusters or {}", quantity(t, squared)),
        (Some(clusters), _, Some(length)) => format!("at {clusters} clusters or length {}", quantity(length, unit)),
        (None, Some(t), _) => format!("at {}", quantity(t, squared)),
        (None, _, Some(length)) => format!("at length {}", quantity(length, unit)),
        (None, None, None) => "at the number of clusters that was chosen".to_owned(),
    }
}
