//! The result of a clustering, for any method.

use std::any::Any;
use std::sync::OnceLock;

use lehr_mining::anneal::{Split, Step};
use lehr_mining::number::{Candidate, NEEDED, Number};
use lehr_mining::vector::{Centroids, Cluster, Finish, OUTLIER, Outliers};
use lehr_mining::{kmeans, vector};
use lehr_ranks::timing::Spread;
use serde::Serialize;

use super::merges::{Joined, Merge, joined, merges, partners};
use super::standing::{Outlying, Standing};
use super::{ANNEALING, KMEANS, Parameters, marks};
use crate::clusters::{self, ClusterRow, ClusterTable};
use crate::course;
use crate::data::Data;
use crate::explain::{Explanation, Mark, Portrait, Question, explain};
use crate::method::{Fit, Spent};
use crate::model::Learnt;
use crate::numbers::{aligned, counted, grouped, quantity, share, significant};
use crate::rows::Rows;
use crate::sections::{Named, Sections};
use crate::table::Table;

/// The result of a clustering. Clusters are numbered by decreasing weight.
#[derive(Debug)]
pub struct Fitted {
    /// The parameters.
    pub parameters: Parameters,
    /// The number of coordinates of a row.
    pub dimension: usize,
    /// The centres as K x D numbers, row-major, in the unit of the points.
    pub centers: Vec<f64>,
    /// The facts about each cluster.
    pub clusters: Vec<Cluster>,
    /// The cluster of each row; [`vector::OUTLIER`] for an outlier.
    pub labels: Vec<u32>,
    /// The outliers, if there is an outlier radius.
    pub outliers: Option<Outliers>,
    /// The probability that a row belongs to its cluster. For an outlier, it is the probability of the noise component.
    pub probabilities: Vec<f64>,
    /// The weighted mean squared distance, or the weighted mean cost in nats.
    pub objective: f64,
    /// The weighted sum of squared distances.
    pub sum_of_squares: f64,
    /// The number of passes over the rows.
    pub iterations: u64,
    /// How the clusters were found.
    pub course: Provenance,
    /// The centres, in the form that labels other rows.
    pub centroids: Centroids,
    /// The seconds of each phase, in this process only.
    pub phases: Vec<(String, f64)>,
    /// The seconds by phase over all ranks.
    pub timers: Vec<Spread>,
    /// Warnings for the user.
    pub warnings: Vec<String>,
    /// The number of rows on the fullest rank, divided by the mean.
    pub imbalance: f64,
    /// The distances of rows from clusters, computed when first needed.
    standing: OnceLock<Standing>,
    /// The outlying rows, computed when first needed.
    outlying: OnceLock<Outlying>,
    /// The merges to coarser levels, computed when first needed.
    merges: OnceLock<Vec<Merge>>,
    /// The differences between the clusters, computed when first needed.
    explanation: OnceLock<Option<Explanation>>,
}

/// How a clustering was found.
#[derive(Debug)]
pub enum Provenance {
    /// The clusters were found by annealing.
    Annealed(Box<Annealed>),
    /// The clusters were found by k-means. The numbers are the weighted sums of squares of the initialisations.
    Started(Vec<f64>),
}

/// The course of an annealing, in fields of [`vector::Model`].
#[derive(Debug)]
pub struct Annealed {
    /// The free energy at the last temperature.
    pub free_energy: f64,
    /// The last temperature before hard assignment.
    pub last_temperature: f64,
    /// The temperature below which a single cluster is unstable.
    pub critical_temperature: f64,
    /// A step for each temperature.
    pub history: Vec<Step>,
    /// The splits of clusters.
    pub splits: Vec<Split>,
    /// The choice of the number of clusters, if the data decided it.
    pub number: Option<Number>,
    /// The candidates that the refinement compared.
    pub finish: Finish,
}

impl Fitted {
    /// Creates the result of annealing with these parameters.
    pub fn annealed(model: vector::Model, parameters: vector::Parameters) -> Self {
        let centroids = model.centroids();
        let annealed = Annealed {
            free_energy: model.free_energy,
            last_temperature: model.last_temperature,
            critical_temperature: model.critical_temperature,
            history: model.history,
            splits: model.splits,
            number: model.number,
            finish: model.finish,
        };
        Self {
            parameters: Parameters::Annealing(parameters),
            dimension: model.dimension,
            centers: model.centers,
            clusters: model.clusters,
            labels: model.labels,
            outliers: model.outliers,
            probabilities: model.probabilities,
            objective: model.objective,
            sum_of_squares: model.sum_of_squares,
            iterations: model.iterations,
            course: Provenance::Annealed(Box::new(annealed)),
            centroids,
            phases: model.phases,
            timers: model.timers,
            warnings: model.warnings,
            imbalance: model.imbalance,
            standing: OnceLock::new(),
            outlying: OnceLock::new(),
            merges: OnceLock::new(),
            explanation: OnceLock::new(),
        }
    }

    /// Creates the result of k-means with these parameters.
    pub fn by_kmeans(model: kmeans::Model, parameters: kmeans::Parameters) -> Self {
        let centroids = model.centroids();
        Self {
            parameters: Parameters::KMeans(parameters),
            dimension: model.dimension,
            centers: model.centers,
            clusters: model.clusters,
            probabilities: model.probabilities,
            labels: model.labels,
            outliers: None,
            objective: model.objective,
            sum_of_squares: model.sum_of_squares,
            iterations: model.iterations,
            course: Provenance::Started(model.starts),
            centroids,
            phases: model.phases,
            timers: model.timers,
            warnings: model.warnings,
            imbalance: model.imbalance,
            standing: OnceLock::new(),
            outlying: OnceLock::new(),
            merges: OnceLock::new(),
            explanation: OnceLock::new(),
        }
    }

    /// Takes the rows without a value in any used column out of the numbers of rows in the clusters. They have the
    /// weight 0, so nothing else depends on them.
    pub(super) fn not_counting(mut self, without_values: &[usize]) -> Self {
        for row in without_values {
            match self.labels[*row] {
                OUTLIER => self.outliers.iter_mut().for_each(|outliers| outliers.rows -= 1),
                label => self.clusters[label as usize].rows -= 1,
            }
        }
        self
    }

    /// Returns the square root of the weighted mean squared distance from the centre, for any cost.
    pub fn root_mean_square(&self) -> f64 {
        if !self.centroids.is_bernoulli() {
            return self.objective.sqrt();
        }
        let weight: f64 = self.clusters.iter().map(|cluster| cluster.weight).sum();
        (self.sum_of_squares / weight).sqrt()
    }

    /// Returns the course of the annealing, if the clusters were found by annealing.
    pub fn cooled(&self) -> Option<&Annealed> {
        match &self.course {
            Provenance::Annealed(annealed) => Some(annealed),
            Provenance::Started(_) => None,
        }
    }

    /// Iterates over the centres.
    pub fn each_center(&self) -> impl ExactSizeIterator<Item = &[f64]> {
        self.centers.chunks_exact(self.dimension)
    }

    /// Returns the distances of the rows from the clusters.
    ///
    /// # Panics
    /// Panics if `data` are not the rows that were clustered.
    pub fn standing(&self, data: Data<'_>) -> &Standing {
        self.standing.get_or_init(|| Standing::of(data.rows().vectors(), &self.labels, &self.centers))
    }

    /// Returns the outlying rows, or `None` if costs are in nats.
    ///
    /// # Panics
    /// Panics if `data` are not the rows that were clustered.
    pub fn outlying(&self, data: Data<'_>) -> Option<&Outlying> {
        let is_squared = self.parameters.cost().is_squared();
        is_squared.then(|| self.outlying.get_or_init(|| Outlying::of(self, self.standing(data), data.rows())))
    }

    /// Returns the differences between the clusters in the columns of their table. Returns `None` for positions on the
    /// sphere, rows of bits and sparse rows. For more than 100,000 rows or a million values, it uses an evenly spaced
    /// sample of that size.
    ///
    /// # Panics
    /// Panics if `data` are not the rows that were clustered.
    pub fn explanation(&self, data: Data<'_>) -> Option<&Explanation> {
        let explained = || {
            let rows = data.rows();
            let chosen = chosen(rows.len(), rows.columns().len());
            let accounts = rows.origin().map(|origin| &origin.accounts[..]);
            let frame = &*rows.frame(chosen.as_deref())?;
            let log_offset = |column: &str| {
                let features = rows.origin().into_iter().flat_map(|origin| &origin.preparation.features);
                features.filter(|feature| feature.column == column).find_map(|feature| feature.log_offset)
            };
            // Rows of weight 0, such as isolated rows, do not describe a cluster.
            let counts = |row: usize| rows.weights().is_none_or(|weights| weights[row] > 0.0);
            let label = |row: usize| (self.labels[row] != OUTLIER && counts(row)).then_some(self.labels[row] as usize);
            let row_of = |place: usize| chosen.as_ref().map_or(place, |chosen| chosen[place]);
            let labels: &[Option<usize>] = &(0..frame.rows()).map(|place| label(row_of(place))).collect::<Vec<_>>();
            let all = &self.standing(data).distances;
            let distances: &[f64] = &(0..frame.rows()).map(|place| all[row_of(place)]).collect::<Vec<_>>();
            let clusters = self.clusters.len();
            let uses = rows.origin().into_iter().flat_map(|origin| &origin.preparation.uses);
            let unnamed: &[&str] =
                &uses.filter(|used| used.is_excluded()).map(|used| &*used.column).collect::<Vec<_>>();
            let question = Question { frame, accounts, log_offset: &log_offset, labels, distances, clusters, unnamed };
            let mut explained = explain(&question);
            for portrait in &mut explained.clusters {
                portrait.typical_row = row_of(portrait.typical_row);
                portrait.extreme_rows.iter_mut().for_each(|row| *row = row_of(*row));
            }
            Some(explained)
        };
        self.explanation.get_or_init(explained).as_ref()
    }

    /// Returns the table of marks, with a line for each mark: `cluster`, `name`, `column`, `text`, `inside`, `overall`,
    /// `test_value`, `probability`, `effect`.
    fn marks_table(&self, data: Data<'_>) -> Table<'static> {
        let explained = self.explanation(data);
        let portraits = explained.into_iter().flat_map(|explained| explained.clusters.iter().enumerate());
        let marks: Vec<(usize, &Portrait, &Mark)> =
            portraits.flat_map(|(k, portrait)| portrait.marks.iter().map(move |mark| (k, portrait, mark))).collect();
        let texts = |of: fn(&(usize, &Portrait, &Mark)) -> String| marks.iter().map(of).collect();
        let numbers = |of: fn(&Mark) -> f64| marks.iter().map(|(_, _, mark)| of(mark)).collect();
        Table::new("marks")
            .counts("cluster", marks.iter().map(|(k, ..)| *k as u64).collect())
            .texts("name", texts(|(_, portrait, _)| portrait.name.clone()))
            .texts("column", texts(|(_, _, mark)| mark.column.clone()))
            .texts("text", texts(|(_, _, mark)| mark.level.clone().unwrap_or_default()))
            .numbers("inside", numbers(|mark| mark.inside))
            .numbers("overall", numbers(|mark| mark.overall))
            .numbers("test_value", numbers(|mark| mark.test_value))
            .numbers("probability", numbers(|mark| mark.probability))
            .numbers("effect", numbers(|mark| mark.effect))
    }

    /// Returns the number of rows near a border and their share; `None` if no row is near a border.
    fn unsure(&self, rows: &Rows) -> Option<(u64, String)> {
        let counts = |row: usize| rows.weights().is_none_or(|weights| weights[row] > 0.0);
        let of_clusters = self.labels.iter().zip(&self.probabilities).enumerate();
        let is_unsure = |(row, (label, probability)): &(usize, (&u32, &f64))| {
            **label != OUTLIER && **probability < SURE && counts(*row)
        };
        let count = of_clusters.filter(is_unsure).count() as u64;
        (count > 0).then(|| (count, share(count as f64, self.labels.len() as f64)))
    }

    /// Returns the merges that lead to coarser levels, the cheapest merge first. Empty if costs are in nats.
    pub fn merges(&self) -> &[Merge] {
        self.merges.get_or_init(|| {
            let weights: Vec<f64> = self.clusters.iter().map(|cluster| cluster.weight).collect();
            if self.parameters.cost().is_squared() { merges(&self.centers, &weights) } else { Vec::new() }
        })
    }

    /// Returns the mean simplified silhouette of each cluster's rows. The silhouette of a row is `(b - a) / max(a, b)`.
    /// Here `a` is the distance from the row's own centre, and `b` the distance from the nearest other centre. The
    /// silhouette is 1 at the centre and 0 on a border.
    ///
    /// # Panics
    /// Panics if `data` are not the rows that were clustered.
    fn silhouettes(&self, data: Data<'_>) -> Vec<f64> {
        let (standing, weights) = (self.standing(data), data.rows().weights());
        let mut sums = vec![(0.0, 0.0); self.clusters.len()];
        for (row, label) in self.labels.iter().enumerate() {
            if let Some((sum, all)) = sums.get_mut(*label as usize) {
                let (own, other) = (standing.distances[row], standing.second_distances[row]);
                let weight = weights.map_or(1.0, |weights| weights[row]);
                // If annealing stopped at a given temperature, rows may be nearer to another centre.
                let silhouette = if own.max(other) > 0.0 { (other - own) / own.max(other) } else { 0.0 };
                *sum += weight * silhouette;
                *all += weight;
            }
        }
        sums.into_iter().map(|(sum, all)| if all > 0.0 { sum / all } else { f64::NAN }).collect()
    }

    /// Returns a line for each cluster, by decreasing weight. It has `cluster`, the columns, `weight`, `spread`, and
    /// `probability`, the mean probability of its rows. With squared distances and at least two clusters, `silhouette`,
    /// `merges_with`, `joins` and `joins_at` follow. If clusters have names, `name` is last.
    ///
    /// Centres are in the units of the columns (degrees on the sphere). The spread is the root mean square distance of
    /// the cluster's rows from the centre. It is in km along the surface on the sphere, and in scaled units if columns
    /// are scaled. For rows of bits, a centre has the frequency of each bit.
    fn centers_table(&self, data: Data<'_>) -> Table<'static> {
        let rows = data.rows();
        let centers = self.each_center().map(|center| rows.center(center));
        let facts = self.clusters.iter().map(|facts| (facts.weight, rows.distance(facts.spread)));
        let more = ["probability", "silhouette", "merges_with", "joins", "joins_at", "name"];
        let table = clusters::table(rows.columns(), &centers.collect::<Vec<_>>(), facts, &more);
        let mut table = table.numbers("probability", self.clusters.iter().map(|facts| facts.probability).collect());
        if self.clusters.len() > 1 && self.parameters.cost().is_squared() {
            table = table.numbers("silhouette", self.silhouettes(data));
            table = table.texts("merges_with", partners(self.merges(), self.clusters.len()));
            let joined = joined(self.merges(), self.clusters.len());
            let texts = |of: fn(Joined) -> usize| {
                joined.iter().map(|joined| joined.map_or_else(String::new, |joined| of(joined).to_string())).collect()
            };
            table = table.texts("joins", texts(|joined| joined.into)).texts("joins_at", texts(|joined| joined.left));
        }
        match self.explanation(data) {
            Some(explained) => {
                table.texts("name", explained.clusters.iter().map(|portrait| portrait.name.clone()).collect())
            }
            None => table,
        }
    }

    /// Returns a line for each row: `id`, `cluster`, `probability`, then `distance`, `second_cluster` and
    /// `second_distance`.
    ///
    /// The cluster of an outlier is -1. A row without a value in any used column has no cluster. A low probability
    /// means that the row is near a border between clusters. With costs in nats, rows have no distances.
    fn labels_table<'a>(&'a self, data: Data<'a>) -> Table<'a> {
        let rows = data.rows();
        let table = Table::new("labels")
            .ids(rows.ids(), self.labels.len())
            .labels("cluster", &self.labels, self.outliers.is_some())
            .borrowed("probability", &self.probabilities);
        if !self.parameters.cost().is_squared() {
            return table.without_values(rows.without_values());
        }
        let standing = self.standing(data);
        let shown = |distances: &[f64]| distances.iter().map(|distance| rows.distance(*distance)).collect();
        let mut table = table.numbers("distance", shown(&standing.distances));
        if self.clusters.len() > 1 {
            table = table
                .labels("second_cluster", &standing.seconds, false)
                .numbers("second_distance", shown(&standing.second_distances));
        }
        table.without_values(rows.without_values())
    }

    /// Returns a line for each temperature, or for each initialisation of k-means.
    fn history(&self) -> Table<'_> {
        match &self.course {
            Provenance::Annealed(annealed) => course::history(&annealed.history),
            Provenance::Started(starts) => {
                let indices = (0..starts.len() as u64).collect();
                Table::new("history").counts("index", indices).borrowed("sum_of_squares", starts)
            }
        }
    }

    /// Returns a line for each number of clusters that was compared. The table is empty if the user gave the number.
    fn numbers(&self) -> Table<'_> {
        let number = self.number();
        let candidates = number.map_or(&[][..], |number| &number.candidates);
        let numbers = |of: fn(&Candidate) -> f64| candidates.iter().map(of).collect();
        let verdict = |candidate| number.map_or("", |number| number.verdict(candidate)).to_owned();
        Table::new("numbers")
            .counts("clusters", candidates.iter().map(|candidate| candidate.clusters as u64).collect())
            .numbers("mean_cost", numbers(|candidate| candidate.mean_cost))
            .numbers("separation", numbers(|candidate| candidate.separation.unwrap_or(f64::NAN)))
            .numbers("division", numbers(|candidate| candidate.division))
            .texts("verdict", candidates.iter().map(verdict).collect())
    }

    /// If the data chose the number of clusters, returns the candidates to show: the headers, and the cells of each
    /// line.
    pub fn shortlist(&self) -> Option<([&'static str; 4], Vec<[String; 4]>)> {
        let number = self.number().filter(|number| number.candidates.len() > 1)?;
        let line = |candidate: &Candidate| {
            let separation = candidate.separation.map_or_else(String::new, |nats| format!("{nats:.1}"));
            let distance = significant(candidate.mean_cost.sqrt(), 4);
            [grouped(candidate.clusters as u64), distance, separation, number.verdict(candidate).to_owned()]
        };
        let heads = ["clusters", "distance", "separation (nats)", "verdict"];
        Some((heads, number.shortlist().into_iter().map(line).collect()))
    }

    /// Returns the choice of the number of clusters, if the data decided it.
    pub fn number(&self) -> Option<&Number> {
        self.cooled()?.number.as_ref()
    }
}

#[derive(Serialize)]
struct Unit {
    length: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<String>,
    spread: &'static str,
}

/// The facts about the result for `summary.json`.
#[derive(Serialize)]
struct Outcome<'a> {
    clusters: usize,
    objective: f64,
    root_mean_square_distance: f64,
    sum_of_squares: f64,
    #[serde(flatten)]
    energies: Option<Energies>,
    iterations: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    outliers: Option<OutlierFacts>,
    #[serde(flatten)]
    way: Way<'a>,
}

/// The outliers, if there is an outlier radius: the rows that `labels.csv` labels -1.
#[derive(Serialize)]
struct OutlierFacts {
    rows: u64,
    weight: f64,
}

/// The outlying rows, which `outliers.csv` lists, and the distance beyond which a row of an ordinary cluster is
/// outlying.
#[derive(Serialize)]
struct OutlyingFacts {
    rows: usize,
    radius: Option<f64>,
}

#[derive(Serialize)]
struct Energies {
    free_energy: f64,
    last_temperature: f64,
    /// Costs in nats have no unit of length.
    #[serde(skip_serializing_if = "Option::is_none")]
    last_length: Option<f64>,
    critical_temperature: f64,
}

/// How the result was found.
#[derive(Serialize)]
#[serde(untagged)]
enum Way<'a> {
    Annealed {
        finish: &'a Finish,
        #[serde(skip_serializing_if = "Option::is_none")]
        number: Option<NumberFacts<'a>>,
    },
    /// The weighted sums of squares of the initialisations.
    Started { starts: &'a [f64] },
}

/// The choice of the number of clusters, if the data decided it.
#[derive(Serialize)]
struct NumberFacts<'a> {
    clusters: usize,
    reason: String,
    /// The required separation, in nats.
    needed: f64,
    /// The number of rows that were examined, and the number of rows with positive weight.
    rows: usize,
    rows_of: usize,
    /// The limit on the number of clusters, if the data may have more.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
    runners_up: Vec<&'a Candidate>,
    candidates: &'a [Candidate],
}

impl<'a> NumberFacts<'a> {
    fn of(number: &'a Number) -> Self {
        Self {
            clusters: number.clusters,
            reason: number.reason(),
            needed: NEEDED,
            rows: number.rows,
            rows_of: number.rows_of,
            limit: number.limit,
            runners_up: number.runners_up(),
            candidates: &number.candidates,
        }
    }
}

#[derive(Serialize)]
struct ClusterFacts<'a> {
    cluster: usize,
    center: Named<'a>,
    rows: u64,
    weight: f64,
    spread: f64,
    probability: f64,
}

#[derive(Serialize)]
struct Temperatures<'a> {
    count: usize,
    history: &'a [Step],
}

/// The probability below which a row is near a border.
const SURE: f64 = 0.8;
/// The maximum number of rows from which clusters are explained.
const EXPLAINED_ROWS: usize = 100_000;
/// The maximum number of values from which clusters are explained, so that this works for tables larger than memory
/// too.
const EXPLAINED_VALUES: usize = 1_000_000;

/// Returns the rows from which clusters are explained, or `None` for all rows.
fn chosen(rows: usize, columns: usize) -> Option<Vec<usize>> {
    let most = EXPLAINED_ROWS.min(EXPLAINED_VALUES / columns.max(1)).max(1_000);
    let place = |index: usize| (index as u128 * rows as u128 / most as u128) as usize;
    (rows > most).then(|| (0..most).map(place).collect())
}

/// Describes the differences of each cluster in a line, for at most 20 clusters.
fn portraits(clusters: &[Portrait]) -> String {
    /// The maximum number of clusters that are described; `marks.csv` has all of them.
    const MOST: usize = 20;
    if clusters.len() < 2 {
        return String::new();
    }
    let line = |(k, portrait): (usize, &Portrait)| format!("{k}: {} ({})\n", portrait.name, portrait.line(3));
    let lines: String = clusters.iter().take(MOST).enumerate().map(line).collect();
    format!("\nwhat sets them apart\n{lines}")
}

impl Fit for Fitted {
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>> {
        let rows = data.rows();
        Some(match name {
            "labels" => self.labels_table(data),
            "centers" => self.centers_table(data),
            "history" => self.history(),
            "splits" => course::splits(self.cooled().map_or(&[][..], |annealed| &annealed.splits)),
            "numbers" => self.numbers(),
            "marks" => self.marks_table(data),
            "outliers" => match self.outlying(data) {
                Some(outlying) => outlying.table(rows),
                None => Outlying { radius: f64::INFINITY, limits: Vec::new(), rows: Vec::new() }.table(rows),
            },
            _ => return None,
        })
    }

    fn figures(&self, _: Data<'_>) -> Vec<(&'static str, f64)> {
        let (cooled, outliers) = (self.cooled(), self.outliers.as_ref());
        let figures = [
            ("clusters", Some(self.clusters.len() as f64)),
            ("objective", Some(self.objective)),
            ("sum_of_squares", self.parameters.cost().is_squared().then_some(self.sum_of_squares)),
            ("free_energy", cooled.map(|annealed| annealed.free_energy)),
            ("last_temperature", cooled.map(|annealed| annealed.last_temperature)),
            ("critical_temperature", cooled.map(|annealed| annealed.critical_temperature)),
            ("iterations", Some(self.iterations as f64)),
            ("outliers", outliers.map(|outliers| outliers.rows as f64)),
            ("outlier_weight", outliers.map(|outliers| outliers.weight)),
            ("suggested_clusters", self.number().map(|number| number.clusters as f64)),
        ];
        figures.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    fn sections(&self, data: Data<'_>) -> Sections {
        let rows = data.rows();
        let (unit, cooled) = (rows.unit_name(), self.cooled());
        let is_squared = self.parameters.cost().is_squared();
        let in_words = |squared: String| if is_squared { squared } else { super::options::NATS.to_owned() };
        let outcome = Outcome {
            clusters: self.clusters.len(),
            objective: self.objective,
            root_mean_square_distance: self.root_mean_square(),
            sum_of_squares: self.sum_of_squares,
            energies: cooled.map(|annealed| Energies {
                free_energy: annealed.free_energy,
                last_temperature: annealed.last_temperature,
                last_length: is_squared.then(|| (annealed.last_temperature / 2.0).sqrt()),
                critical_temperature: annealed.critical_temperature,
            }),
            iterations: self.iterations,
            outliers: self.outliers.as_ref().map(|found| OutlierFacts { rows: found.rows, weight: found.weight }),
            way: match &self.course {
                Provenance::Annealed(annealed) => {
                    Way::Annealed { finish: &annealed.finish, number: annealed.number.as_ref().map(NumberFacts::of) }
                }
                Provenance::Started(starts) => Way::Started { starts },
            },
        };
        let facts = self.each_center().zip(&self.clusters).enumerate().map(|(cluster, (center, facts))| ClusterFacts {
            cluster,
            center: Named {
                names: rows.columns(),
                values: rows.center(center),
                leaves_zeros_out: rows.sparse().is_some(),
            },
            rows: facts.rows,
            weight: facts.weight,
            spread: rows.distance(facts.spread),
            probability: facts.probability,
        });
        let mut sections = Sections::default();
        if let Some(origin) = rows.origin() {
            sections.add("columns", &origin.column_facts()).add("preparation", &origin.preparation);
        }
        sections.add("parameters", &self.parameters);
        if cooled.is_some() {
            // In the convention `full`, an assignment's weight is exp(-d²/T), so that a temperature T smooths over the
            // length sqrt(T/2).
            sections.add("temperature_convention", &in_words("full".to_owned()));
        }
        let temperature = cooled.map(|_| in_words(format!("({unit})²")));
        let spread = if rows.is_sphere() { "km along the surface" } else { unit };
        sections
            .add("unit", &Unit { length: unit, temperature, spread })
            .add("result", &outcome)
            .add("clusters", &facts.collect::<Vec<_>>());
        if let Some(explained) = self.explanation(data) {
            sections.add("explanation", explained);
        }
        if let Some(outlying) = self.outlying(data) {
            let radius = outlying.radius.is_finite().then(|| rows.distance(outlying.radius));
            sections.add("outlying", &OutlyingFacts { rows: outlying.rows.len(), radius });
        }
        if !self.merges().is_empty() {
            sections.add("merges", &self.merges());
        }
        if let Some(annealed) = cooled {
            let history = &annealed.history;
            sections
                .add("temperatures", &Temperatures { count: history.len(), history })
                .add("splits", &annealed.splits);
        }
        sections
    }

    fn summary_name(&self) -> Option<&'static str> {
        Some(if self.cooled().is_some() { ANNEALING } else { KMEANS })
    }

    fn model(&self) -> Option<Learnt> {
        Some(Learnt::Clusters(self.centroids.clone()))
    }

    fn limits(&self, data: Data<'_>) -> Vec<Option<f64>> {
        self.outlying(data).map_or_else(Vec::new, |outlying| outlying.limits.clone())
    }

    fn headline(&self, data: Data<'_>) -> String {
        let rows = data.rows();
        let filled = marks::filled(rows, self);
        let one = filled.as_ref().map(|filled| [filled.name.to_owned()]);
        let row = |(k, (center, facts)): (usize, (&[f64], &Cluster))| ClusterRow {
            rows: facts.rows,
            weight: facts.weight,
            // If there are a thousand columns, only `centers.csv` has the whole centres.
            center: filled.as_ref().map_or_else(|| rows.center(center), |filled| vec![filled.of_clusters[k]]),
            spread: rows.distance(facts.spread),
        };
        let table = ClusterTable {
            columns: one.as_ref().map_or_else(|| rows.columns(), |one| &one[..]),
            rows: self.each_center().zip(&self.clusters).enumerate().map(row).collect(),
            unit: rows.unit(),
        };
        let all = rows.len() as u64;
        let headline = clusters::headline(all, self.clusters.len() as u64, self.root_mean_square(), rows.unit());
        let nats = self.centroids.is_bernoulli().then(|| {
            let cost = quantity(self.objective, super::options::NATS);
            format!("a row costs {cost} on average: -ln of its probability by the bit frequencies of its cluster")
        });
        let outside = self.outliers.as_ref().map(|outliers| {
            let part = share(outliers.rows as f64, all as f64);
            format!("{} ({part}) in no cluster, labelled -1", counted(outliers.rows, "row"))
        });
        let (reason, others) = (self.number().map(Number::reason), self.number().and_then(Number::others));
        // If many rows are far out, the clusters have long tails, and no single row stands out.
        let is_any = |outlying: &&Outlying| !outlying.rows.is_empty();
        let outlying = self.outlying(data).filter(is_any).map(|outlying| {
            let shown = quantity(rows.distance(outlying.radius), rows.unit());
            let found = counted(outlying.rows.len() as u64, "row");
            let its = if outlying.rows.len() == 1 { "its" } else { "their" };
            if outlying.rows.len() > all as usize / 50 {
                let part = share(outlying.rows.len() as f64, all as f64);
                return format!("{found} ({part}) far out: the clusters have long tails; see outliers.csv");
            }
            format!("{found} far out for {its} cluster (from the centre of a typical one: more than {shown}): see outliers.csv")
        });
        // A single cluster is a valid result, but rarely the one that the user hoped for.
        let next = (self.number().is_some() && self.clusters.len() == 1).then(|| {
            "next: --clusters 3 divides the rows all the same; --columns and --exclude change what they are compared by"
                .to_owned()
        });
        let unsure = self.unsure(rows).map(|(count, weight)| {
            format!("{} ({weight}) near a border: probability below {SURE}, see labels.csv", counted(count, "row"))
        });
        let lines = [Some(headline), nats, outside, reason, others, next, unsure, outlying];
        let lines: Vec<String> = lines.into_iter().flatten().collect();
        let compared = self.shortlist().map_or_else(String::new, |(heads, lines)| {
            let columns: Vec<(&str, Vec<String>)> = heads
                .into_iter()
                .enumerate()
                .map(|(place, head)| (head, lines.iter().map(|line| line[place].clone()).collect()))
                .collect();
            aligned(&columns) + "\n"
        });
        let portraits = self.explanation(data).map(|explained| portraits(&explained.clusters)).unwrap_or_default();
        // The centres of these columns are not means of the values.
        let features = rows.origin().into_iter().flat_map(|origin| &origin.preparation.features);
        let logged: Vec<&str> =
            features.filter(|feature| feature.log_offset.is_some()).map(|feature| &*feature.name).collect();
        let logged = match logged.len() {
            0 => String::new(),
            1 => format!("{} above is a geometric mean: its logarithm was compared\n", logged[0]),
            _ => format!("{} above are geometric means: their logarithms were compared\n", logged.join(", ")),
        };
        format!("{}\n\n{compared}{}{logged}{portraits}", lines.join("\n"), table.text())
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn spent(&self) -> Spent<'_> {
        Spent { phases: &self.phases, timers: &self.timers, imbalance: self.imbalance }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
