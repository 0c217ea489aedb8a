//! The report of `lehr cluster`. It shows the rows on a map or in a picture, the differences between clusters, the
//! outliers and the columns. It also has a table of the clusters, the steps of the annealing or the results of the
//! initialisations, and the facts of the run.

use std::collections::HashSet;

use lehr_methods::cluster::{Annealed, Fitted, Parameters, Provenance, marks, merges};
use lehr_methods::numbers::{amount, column, counted, duration, grouped, quantity, share, significant};
use lehr_methods::{Data, Rows};
use lehr_mining::vector::{Cluster, Cost};
use maud::{Markup, Render, html};
use serde_json::Value;

use crate::chart::{Chart, Colors};
use crate::drawing::Drawing;
use crate::figure::{Figures, anneal};
use crate::markup::{self, section, swatch, table, tile, tiles, typeset};
use crate::picture::Picture;
use crate::scene::Scene;
use crate::{Run, columns_named, explained, rows_counted, run_section, starts};

/// The maximum number of columns of centres in the table of clusters; `centers.csv` has all columns.
pub(crate) const COLUMNS_MAX: usize = 60;
/// The maximum number of marks of a cluster in the table. Marks are the columns in which a cluster differs most from
/// all rows. The table shows marks in place of centres if rows are bits or sparse.
const MARKS_MAX: usize = 4;
/// The maximum number of clusters that the table names from the group with which a cluster would merge; `centers.csv`
/// names all clusters of the group.
const PARTNERS_MAX: usize = 6;

/// Returns the report of a clustering as an HTML page.
pub fn page(run: &Run<'_>, space: &Rows, model: &Fitted) -> String {
    let outlying = model.outlying(Data::Rows(space));
    let aside: Vec<usize> = outlying.iter().flat_map(|outlying| outlying.rows.iter().map(|row| row.row)).collect();
    let picture = Picture::new(space, &model.centers, &aside);
    let partners = match model.merges() {
        [] => Vec::new(),
        merges => merges::partners(merges, model.clusters.len()),
    };
    let page = Page { run, space, parameters: &model.parameters, model, partners };
    let row = run.subject.map_or("row", |subject| subject.row);
    let headline =
        format!("{} in {}", counted(space.len() as u64, row), counted(model.clusters.len() as u64, "cluster"));
    let explained = model.explanation(Data::Rows(space)).filter(|_| model.clusters.len() > 1);
    let mut figures = Figures::default();
    let mut scene = Scene::of_rows(run.name(), space, run.weights, &picture.rows);
    let of = picture.rows.iter().map(|&row| model.labels[row]);
    scene.grouping("clusters", of, None);
    scene.probabilities(picture.rows.iter().map(|&row| model.probabilities[row]));
    let means = model.clusters.iter().map(|cluster| cluster.probability).collect();
    scene.certainty_of_groups(means, &page.partners);
    scene.joined_groups(&merges::joined(model.merges(), model.clusters.len()));
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
    let main = html! {
        (page.tiles())
        (section("points", title, of_none, figures.add("picture", scene.figure())))
        @if let Some(explained) = explained { (explained::apart(space, model, explained)) }
        @if let Some(outlying) = outlying { (explained::outliers(space, outlying)) }
        @if let Some(origin) = space.origin() { (explained::columns(origin)) }
        (section("table", "The clusters", &page.table_note(), page.table()))
        @match &model.course {
            Provenance::Annealed(annealed) => (page.cooling(annealed, &mut figures)),
            Provenance::Started(starts) => (starts::section(starts, space.unit_squared(), &mut figures)),
        }
        (page.run())
    };
    let (headline, source, lead, warnings) = (&headline, run.source, page.lead().render(), run.warnings);
    markup::Page { headline, source, lead, warnings, main, figures }.html()
}

/// Returns the picture of the rows and their clusters for a separate file.
pub fn drawing(run: &Run<'_>, space: &Rows, model: &Fitted) -> Drawing {
    let outlying = model.outlying(Data::Rows(space));
    let aside: Vec<usize> = outlying.iter().flat_map(|outlying| outlying.rows.iter().map(|row| row.row)).collect();
    let picture = Picture::new(space, &model.centers, &aside);
    let explained = model.explanation(Data::Rows(space)).filter(|_| model.clusters.len() > 1);
    let name = |(cluster, facts): (usize, &Cluster)| {
        let rows = grouped(facts.rows);
        match explained {
            Some(explained) => format!("{cluster} ({rows}): {}", explained.clusters[cluster].name),
            None => format!("cluster {cluster} ({rows})"),
        }
    };
    let names = model.clusters.iter().enumerate().map(name).collect();
    let of = picture.rows.iter().map(|&row| model.labels[row]).collect();
    let aside: HashSet<usize> = aside.into_iter().collect();
    let is_out = picture.rows.iter().map(|row| aside.contains(row)).collect();
    let row = run.subject.map_or("row", |subject| subject.row);
    let parts = [counted(space.len() as u64, row), counted(model.clusters.len() as u64, "cluster")];
    let title = format!("{}: {}", run.name(), parts.join(" in "));
    Chart { is_out, center: "centre", ..Chart::new(title, picture, Colors::Groups(of, names)) }.draw()
}

struct Page<'a> {
    run: &'a Run<'a>,
    space: &'a Rows,
    parameters: &'a Parameters,
    model: &'a Fitted,
    /// For each cluster, the clusters with which it would merge first, such as `0+1`; empty if this is not known.
    partners: Vec<String>,
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
        // The list of facts below has the full path.
        format!("{}. {}.", self.run.what_was_read(self.space, &columns), self.method())
    }

    fn method(&self) -> &'static str {
        match self.parameters {
            Parameters::Annealing(_) => "Deterministic annealing",
            Parameters::KMeans(_) => "K-means",
        }
    }

    fn tiles(&self) -> Markup {
        let (model, space) = (self.model, self.space);
        let course = match &model.course {
            Provenance::Annealed(annealed) => {
                format!("{} while cooling", counted(annealed.splits.len() as u64, "split"))
            }
            Provenance::Started(starts) => format!("the best of {}", counted(starts.len() as u64, "start")),
        };
        let mut found = vec![rows_counted(space), tile("Clusters", grouped(model.clusters.len() as u64), "", course)];
        if space.weights().is_some() {
            let heaviest = model.clusters.iter().map(|cluster| cluster.weight).fold(0.0, f64::max);
            let total = space.total_weight();
            found.push(tile("Weight", amount(total), "", format!("heaviest cluster {}", share(heaviest, total))));
        }
        let distance = significant(space.distance(model.root_mean_square()), 4);
        found.push(tile("Distance to the centre", distance, space.unit(), "root mean square"));
        if let Some(annealed) = model.cooled()
            && annealed.last_temperature > 0.0
        {
            let last = annealed.last_temperature;
            found.push(if model.centroids.is_bernoulli() {
                tile("Hardened to temperature", significant(last, 4), "nats", "")
            } else {
                let temperature = format!("temperature {}", quantity(last, space.unit_squared()));
                tile("Hardened to length", significant((last / 2.0).sqrt(), 4), space.unit(), temperature)
            });
        }
        if let Some(outliers) = &model.outliers {
            let part = share(outliers.weight, space.total_weight());
            found.push(tile("Outliers", grouped(outliers.rows), "", format!("in no cluster; {part} of the weight")));
        }
        found.push(self.run.time(counted(model.iterations, "iteration")));
        tiles("The run in figures", found)
    }

    /// Returns the unit of temperatures, costs and free energies.
    fn unit_of_cost(&self) -> &'static str {
        self.parameters.unit_of_cost(self.space.unit_squared())
    }

    /// Returns the sections about the choice of the number of clusters, if Lehr chose it, and about the annealing.
    fn cooling(&self, annealed: &Annealed, figures: &mut Figures) -> Markup {
        let Annealed { history, splits, .. } = annealed;
        let drawn = if history.is_empty() {
            Markup::default()
        } else {
            figures.add("course", anneal(history, splits, self.unit_of_cost(), self.run.command_without_end))
        };
        html! {
            (self.numbers())
            (section("course", "How the clusters came about", &self.anneal_note(annealed), drawn))
        }
    }

    fn anneal_note(&self, annealed: &Annealed) -> String {
        let unit = self.unit_of_cost();
        if annealed.history.is_empty() {
            return "There was nothing to anneal.".to_owned();
        }
        let mut note = "While the temperature falls, a cluster splits when its own spread exceeds the length √(T/2). \
                        At the end, the number of clusters is fixed and each row is assigned to one cluster (dotted)."
            .to_owned();
        if annealed.critical_temperature > 0.0 {
            note.push_str(&format!(
                " Above {}, all rows are one cluster.",
                quantity(annealed.critical_temperature, unit)
            ));
        }
        if let Some(number) = &annealed.number {
            note.push_str(&format!(" Lehr chose the number before this run: {}.", number.clusters));
        }
        note
    }

    /// Returns the section with the reason for the number of clusters, and the numbers that were compared. Returns
    /// nothing if the user gave the number of clusters.
    fn numbers(&self) -> Markup {
        let Some(number) = self.model.number() else { return Markup::default() };
        let sentence = [Some(number.reason()), number.others()].into_iter().flatten().collect::<Vec<_>>().join("; ");
        let compared = html! {
            @if let Some(([clusters, distance, separation, verdict], lines)) = self.model.shortlist() {
                @let verdict = format!("{verdict}\t");
                @let rows = html! {
                    @for [clusters, distance, separation, verdict] in &lines {
                        tr {
                            td { (typeset(clusters)) } td { (typeset(distance)) } td { (typeset(separation)) }
                            td.words { (typeset(verdict)) }
                        }
                    }
                };
                (table("numbers", "The numbers that were compared", [clusters, distance, separation, &verdict], rows))
                p.note {
                    "Distance: root mean square to the centre, of the rows compared. Separation: by how much a valley \
                     between the two least separated clusters raises the log-likelihood of the rows. summary.json \
                     has all numbers compared."
                }
            }
        };
        section("number", "Why this number of clusters", &format!("{sentence}."), compared)
    }

    fn table_note(&self) -> String {
        let mut note =
            "Largest weight first. Spread is the root mean square distance of a cluster's rows to its centre"
                .to_owned();
        note.push_str(match (self.space.is_sphere(), self.space.is_scaled()) {
            (true, _) => ", in km; centres are in degrees.",
            (_, true) => ", in scaled units; centres are in the columns' own units.",
            _ => ", in the unit of the columns.",
        });
        note.push_str(
            " Probability is the mean of its rows: how surely they belong to it and not to a neighbouring cluster.",
        );
        if !self.partners.is_empty() {
            note.push_str(" Where it is low, the cluster overlaps with a neighbour. The next column names the cluster that it would merge with first.");
        }
        if self.space.are_bits() {
            note.push_str(&format!(
                " Bits set: the mean number of set bits in a row, of {}. Marks: the bits whose frequency differs most from that in all clusters. centers.csv has all frequencies.",
                self.space.columns().len()
            ));
        } else if self.space.sparse().is_some() {
            note.push_str(
                " Values a row: the mean number of columns that are not 0. Marks: the columns whose mean differs most from that in all clusters. centers.csv has all means.",
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

    fn table(&self) -> Markup {
        let unit = self.space.unit();
        let spread = if unit.is_empty() { "spread".to_owned() } else { format!("spread ({unit})") };
        let names: Vec<String> = ["cluster", "rows", "weight", "share"]
            .into_iter()
            .map(str::to_owned)
            .chain(self.shown_columns().iter().cloned())
            .chain(marks::filled(self.space, self.model).map(|filled| filled.name.to_owned()))
            .chain([spread, "probability".to_owned()])
            .chain((!self.partners.is_empty()).then(|| "merges first with".to_owned()))
            .chain(self.space.has_many_columns().then(|| "marks\t".to_owned()))
            .collect();
        table("clusters", "The clusters", names.iter().map(String::as_str), self.table_body())
    }

    fn table_body(&self) -> Markup {
        let total: f64 = self.model.clusters.iter().map(|cluster| cluster.weight).sum();
        let cell = |value: f64, text: &str| html! { td data-value=(value) { (typeset(text)) } };
        let heaviest = self.model.clusters.iter().map(|cluster| cluster.weight).fold(f64::MIN_POSITIVE, f64::max);
        let centers: Vec<Vec<f64>> = self.model.each_center().map(|center| self.space.center(center)).collect();
        let spreads: Vec<f64> = self.model.clusters.iter().map(|facts| self.space.distance(facts.spread)).collect();
        // The values and the texts of the table's remaining columns.
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
        let sure: Vec<f64> = self.model.clusters.iter().map(|facts| facts.probability).collect();
        let texts = sure.iter().map(|probability| format!("{probability:.3}")).collect();
        columns.push((sure, texts));
        let words = |of: &[marks::Mark]| of.iter().map(|mark| marks::words(self.space, mark)).collect::<Vec<_>>();
        html! {
            @for (cluster, facts) in self.model.clusters.iter().enumerate() {
                tr data-cluster=(cluster) style=(format!("--part:{:.1}%", 100.0 * facts.weight / heaviest)) {
                    td data-value=(cluster) {
                        button.link type="button" aria-label={ "Select the rows of cluster " (cluster) } {
                            (swatch(cluster)) (cluster)
                        }
                    }
                    (cell(facts.rows as f64, &grouped(facts.rows)))
                    (cell(facts.weight, &amount(facts.weight)))
                    td data-value=(if total > 0.0 { facts.weight / total } else { 0.0 }) {
                        span.share { i {} span { (share(facts.weight, total)) } }
                    }
                    @for (values, texts) in &columns { (cell(values[cluster], &texts[cluster])) }
                    @if let Some(partners) = self.partners.get(cluster) { td { (shortened(partners)) } }
                    @if let Some(marks) = marks.get(cluster) { td.words { (words(marks).join("; ")) } }
                }
            }
        }
    }

    /// Returns the section about the run.
    fn run(&self) -> Markup {
        let (run, model, parameters, space) = (self.run, self.model, self.parameters, self.space);
        let squared = space.unit_squared();
        let cost = self.unit_of_cost();
        let mut input = vec![
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
                ("Maximum number of sweeps", grouped(parameters.max_sweeps)),
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
                ("Free energy before the hard assignment", quantity(annealed.free_energy, cost)),
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
        run_section::of_method(run, [input, outcome], self.timers())
    }

    /// Returns a table of the times that the ranks spent in each phase. Returns nothing if there is only one rank.
    fn timers(&self) -> Markup {
        let timers = &self.model.timers;
        if timers.iter().all(|spread| spread.ranks < 2) {
            return Markup::default();
        }
        let rows = html! {
            @for spread in timers {
                tr {
                    td { (spread.name) }
                    @for seconds in [spread.min_s, spread.mean_s, spread.max_s] { td { (duration(seconds)) } }
                    td { "rank " (spread.slowest) }
                }
            }
        };
        html! {
            h3 { "Of each rank" }
            (table("ranks", "Of each rank", ["phase", "least", "mean", "most", "slowest"], rows))
        }
    }
}

/// Shortens a group such as `0+1+2` to its first clusters if the group is large.
fn shortened(group: &str) -> String {
    let clusters: Vec<&str> = group.split('+').collect();
    match clusters.get(PARTNERS_MAX..) {
        Some(more @ [_, ..]) => format!("{} and {} more", clusters[..PARTNERS_MAX].join("+"), more.len()),
        _ => group.to_owned(),
    }
}

/// Describes the conditions that stop the splitting of clusters.
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
