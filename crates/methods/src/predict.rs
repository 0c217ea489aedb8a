//! Applies a model to new rows and returns a table, for every front end.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use lehr_data::frame::DataFrame;
use lehr_data::preparation::{Prepared, without_values};
use lehr_data::{Fingerprints, Incomplete, Points, Sparse, geography};
use lehr_mining::gtm::Projection;
use lehr_mining::mixture::Posterior;
use lehr_mining::smacof::Placed;
use lehr_mining::vector::{Assignment, Centroids, OUTLIER};

use crate::items::Nearest;
use crate::numbers::{counted, grouped, named_rows};
pub use crate::refusal::Refusal;
use crate::{Learnt, ModelFile, Table, UNLABELLED, embed, gtm, mixture};

/// The maximum number of clusters for which a summary counts the rows of each.
const GROUPS_LISTED: usize = 12;
/// The magnitude from which the square of a value may overflow. Rows to fit have the same limit.
const FARTHEST: f64 = 1e140;

/// The kind of a row's distance from its centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distance {
    /// The distance is in the unit of the columns.
    Straight,
    /// The distance is a straight line through the Earth; it is reported along the surface.
    Chord,
    /// The number is not a distance but the cost of the row in nats.
    Cost,
}

/// A model's result for rows.
#[derive(Debug)]
pub struct Predicted {
    said: Prediction,
    /// The rows without any value, which have no result.
    without_values: Vec<usize>,
    notes: Vec<String>,
}

/// A model's result for the rows of an ordinary table.
#[derive(Debug)]
pub struct OfTable {
    /// The result, with notes for the user.
    pub said: Predicted,
    /// The ids of the rows, if a column has them.
    pub ids: Option<Vec<String>>,
}

/// The number of threads that apply a model. Reading the rows takes longer, and a node needs the other threads for
/// other requests.
const THREADS: usize = 1;

#[derive(Debug)]
enum Prediction {
    Places(Projection),
    Components(Posterior),
    Clusters(Labelled),
    Items(Nearest),
    /// The positions of items, and the name of the nearest item of the map.
    Positions(Placed, Vec<String>),
}

/// Rows in clusters.
#[derive(Debug)]
struct Labelled {
    found: Assignment,
    distance: Distance,
    /// The distance of each row from the nearest cluster of more than a few rows, divided by that cluster's limit. A
    /// score above 1 means that the row is far out. `None` if the model does not know the limits.
    scores: Option<Vec<f64>>,
    /// The memberships in all clusters, row by row, if they are requested.
    memberships: Option<Vec<f64>>,
}

impl Predicted {
    /// Applies a model to rows of bits. Only a model of clusters without scaled columns can label them.
    ///
    /// # Errors
    /// Returns [`Refusal::Unsuited`] for another model, or for another number of bits.
    pub fn of_bits(model: &ModelFile, rows: &Fingerprints, memberships: bool) -> Result<Self, Refusal> {
        let bad = |expected: String, found: String| Refusal::Unsuited { expected, found };
        let Learnt::Clusters(centroids) = &model.model else {
            return Err(bad("a table of the model's columns".into(), "rows of bits".into()));
        };
        if model.is_sphere() || model.is_scaled() {
            return Err(bad("a table of the columns that the model scales".into(), "rows of bits".into()));
        }
        if rows.bits() != centroids.dimension() {
            let expected = format!("{} bits, as the model has columns", centroids.dimension());
            return Err(bad(expected, rows.bits().to_string()));
        }
        let all = memberships.then(|| centroids.memberships(rows)).transpose()?;
        let distance = if centroids.is_bernoulli() { Distance::Cost } else { Distance::Straight };
        let found = centroids.assign(rows)?;
        let scores = scores(&model.limits, centroids, &found, |groups| groups.assign(rows))?;
        Ok(Prediction::Clusters(Labelled { found, distance, scores, memberships: all }).into())
    }

    /// Applies a model to sparse rows. Only a model of clusters without shifted columns can label them. Columns that
    /// the rows lack are 0. Columns that the model left out because no row used them are 0 in its centres.
    ///
    /// # Errors
    /// Returns [`Refusal::Unsuited`] for another model. If the model left no columns out, returns [`Refusal::Data`] for
    /// columns beyond its last one.
    pub fn of_sparse(model: &ModelFile, rows: Sparse, memberships: bool) -> Result<Self, Refusal> {
        let bad = |expected: &str| Refusal::Unsuited { expected: expected.into(), found: "sparse rows".into() };
        let Learnt::Clusters(centroids) = &model.model else { return Err(bad("a table of the model's columns")) };
        if model.is_sphere() || model.is_shifted() {
            return Err(bad("a table of the columns that the model shifts"));
        }
        if centroids.is_bernoulli() {
            return Err(bad("rows of bits, as --cost bernoulli takes"));
        }
        if model.has_unused_columns() {
            let divisors = [model.divisors(), &[1.0]].concat();
            let (rows, centroids) = (rows.in_columns(&model.columns).divided(&divisors), centroids.with_zero_column()?);
            return Self::of_sparse_in(model, &centroids, &rows, memberships);
        }
        let rows = rows.with_dimension(centroids.dimension())?.divided(model.divisors());
        Self::of_sparse_in(model, centroids, &rows, memberships)
    }

    fn of_sparse_in(
        model: &ModelFile,
        centroids: &Centroids,
        rows: &Sparse,
        memberships: bool,
    ) -> Result<Self, Refusal> {
        let memberships = memberships.then(|| centroids.memberships(rows)).transpose()?;
        let found = centroids.assign(rows)?;
        let scores = scores(&model.limits, centroids, &found, |groups| groups.assign(rows))?;
        Ok(Prediction::Clusters(Labelled { found, distance: Distance::Straight, scores, memberships }).into())
    }

    /// Applies a model to rows of numbers in the model's columns, in the units of the table.
    ///
    /// # Errors
    /// Returns [`Refusal::Unsuited`] for another number of columns, a model of bits, or memberships of a model of
    /// items. Models other than clusters also refuse values of 1e140 or more. Returns [`Refusal::Data`] for positions
    /// that are not in degrees.
    pub fn of_points(model: &ModelFile, points: &Points, memberships: bool) -> Result<Self, Refusal> {
        if matches!(&model.model, Learnt::Clusters(centroids) if centroids.is_bernoulli()) {
            let expected = "rows of bits, as --cost bernoulli takes".into();
            return Err(Refusal::Unsuited { expected, found: "a table of numbers".into() });
        }
        Self::has_columns(model, points.dimension())?;
        let values = if model.is_sphere() {
            // Values that are not degrees are reported with their row and column.
            geography::on_sphere(points)?.values().to_vec()
        } else {
            model.scaled(points.values())
        };
        Ok(Self::of(model, values, memberships)?.into())
    }

    /// Applies a model to rows in which values may be missing. Models of clusters refuse missing values. A row without
    /// any value gets the result for an unknown row: the heaviest component, or the middle of the map.
    ///
    /// # Errors
    /// Returns the errors of [`of_points`](Self::of_points).
    pub fn of_records(model: &ModelFile, rows: &Incomplete, memberships: bool) -> Result<Self, Refusal> {
        if model.model.needs_whole_rows() {
            let expected = "rows without missing cells, the only ones that clusters can label".into();
            return Err(Refusal::Unsuited { expected, found: "a table that may have some".into() });
        }
        Self::has_columns(model, rows.dimension())?;
        let said = Self::of(model, model.scaled(rows.values()), memberships)?;
        if model.model.is_of_items() {
            return Ok(said.into());
        }
        let width = model.columns.len();
        let without = without_values(rows.values(), width);
        let given =
            if matches!(said, Prediction::Places(_)) { "the middle of the map" } else { "the heaviest component" };
        let note = |rows| format!("{rows} no value at all, so {given} is given");
        let notes = named_rows(&without).map(note).into_iter().collect();
        Ok(Self { said, without_values: Vec::new(), notes })
    }

    /// Applies a model with prepared columns to an ordinary table. Returns the result, the ids of the rows, and notes
    /// for the user. A row without a value in any of the model's columns has no result. The ids are the texts of the
    /// column `id`. Without it, they are the texts of the model's column of ids, if the table has this column.
    ///
    /// # Errors
    /// Returns [`Refusal::Data`] for columns that are missing or that are read in another way.
    ///
    /// # Panics
    /// Panics if the model's columns were not prepared.
    pub fn of_table(
        model: &ModelFile,
        table: &DataFrame,
        id: Option<&str>,
        memberships: bool,
    ) -> Result<OfTable, Refusal> {
        let known = model.id.as_deref().filter(|id| table.column(id).is_some());
        let ids = id.or(known).map(|id| table.texts(id)).transpose()?;
        let Prepared { mut features, without_values, mut notes, .. } = model.prepared(table)?;
        let width = model.columns.len();
        // The placeholder may be any number, because the results of these rows are removed.
        without_values.iter().for_each(|row| features[row * width..][..width].fill(0.0));
        let mut said = Self::of(model, features, memberships)?;
        said.take_back(&without_values);
        let note = |rows| format!("{rows} no value in any of the model's columns: no label is given");
        notes.extend(named_rows(&without_values).map(note));
        Ok(OfTable { said: Self { said, without_values, notes }, ids })
    }

    /// Returns the notes for the user.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    fn has_columns(model: &ModelFile, found: usize) -> Result<(), Refusal> {
        let expected = model.columns.len();
        if found == expected {
            return Ok(());
        }
        let expected = format!("{expected} columns, as the model has");
        Err(Refusal::Unsuited { expected, found: found.to_string() })
    }

    /// Checks that the square of each value is finite. Otherwise densities would be 0 under every component and at
    /// every node, and the first component or node would be chosen. Distances from centres are computed differently and
    /// have no such limit.
    fn has_squares(model: &ModelFile, values: &[f64]) -> Result<(), Refusal> {
        let Some(place) = values.iter().position(|value| value.abs() >= FARTHEST) else { return Ok(()) };
        let (row, column) = (place / model.columns.len(), place % model.columns.len());
        let expected = format!(
            "numbers below {FARTHEST:e} (scaled as the model's are), whose squares a number can hold; divide the columns by a power of ten, also before fitting"
        );
        let found = format!("{:e} in row {row} (counted from 0), column {:?}", values[place], model.columns[column]);
        Err(Refusal::Unsuited { expected, found })
    }

    /// Applies a model to `values`: the rows, one after another, in the form of the model, with NaN for missing cells.
    fn of(model: &ModelFile, values: Vec<f64>, memberships: bool) -> Result<Prediction, Refusal> {
        if memberships && model.model.is_of_items() {
            let expected = "a model of clusters or a mixture, which have memberships".into();
            return Err(Refusal::Unsuited { expected, found: format!("a model of kind {:?}", model.model.kind()) });
        }
        if !matches!(model.model, Learnt::Clusters(_)) {
            Self::has_squares(model, &values)?;
        }
        Ok(match &model.model {
            Learnt::Gtm(map) => Prediction::Places(map.project(&Incomplete::new(values, map.dimension())?, THREADS)?),
            Learnt::Mixture(mixture) => {
                let rows = Incomplete::new(values, mixture.dimension())?;
                Prediction::Components(match memberships {
                    true => mixture.posterior(&rows, THREADS)?,
                    false => mixture.assign(&rows, THREADS)?,
                })
            }
            Learnt::Medoids(medoids) => Prediction::Items(medoids.nearest(&values)?),
            Learnt::Pairwise(members) => Prediction::Items(members.nearest(&values)?),
            Learnt::Embedding(map) => {
                let placed = map.placed(&values, THREADS)?;
                let name = |item: &Option<usize>| item.map_or_else(String::new, |item| model.columns[item].clone());
                let nearest = placed.nearest.iter().map(name).collect();
                Prediction::Positions(placed, nearest)
            }
            Learnt::Clusters(centroids) if values.iter().any(|value| value.is_nan()) => {
                let rows = Incomplete::new(values, centroids.dimension())?;
                let memberships = memberships.then(|| centroids.memberships_incomplete(&rows)).transpose()?;
                let found = centroids.assign_incomplete(&rows)?;
                let scores = scores(&model.limits, centroids, &found, |groups| groups.assign_incomplete(&rows))?;
                Prediction::Clusters(Labelled { found, distance: Distance::Straight, scores, memberships })
            }
            Learnt::Clusters(centroids) => {
                let points = Points::new(values, centroids.dimension())?;
                let memberships = memberships.then(|| centroids.memberships(&points)).transpose()?;
                let distance = if model.is_sphere() { Distance::Chord } else { Distance::Straight };
                let mut found = centroids.assign(&points)?;
                let scores = scores(&model.limits, centroids, &found, |groups| groups.assign(&points))?;
                if distance == Distance::Chord {
                    found.distances.iter_mut().for_each(|length| *length = geography::arc_km(*length));
                }
                Prediction::Clusters(Labelled { found, distance, scores, memberships })
            }
        })
    }

    /// Returns a line for each row: its cluster or component with the probability, or its place on a map.
    ///
    /// For clusters, the columns are `id`, `cluster`, `probability` and `distance`. The cluster is the nearest one, or
    /// -1 if none is within the outlier radius. The distance is from the centre, in the unit of the spreads in
    /// `centers.csv`; with costs in nats, `cost` replaces it. If the model has limits, `score` follows as in
    /// `outliers.csv`: a score above 1 means that the row is far out. The memberships in all clusters follow, if
    /// requested.
    ///
    /// For medoids, `cluster` and `distance` follow `id`; for a pairwise clustering, `cluster` and `field`. For a map of
    /// items, the columns are those of `positions.csv`: the position, its `error`, and the `nearest` item of the map.
    pub fn table<'a>(&'a self, ids: Option<&'a [String]>) -> Table<'a> {
        let table = match &self.said {
            Prediction::Places(places) => gtm::places(ids, places),
            Prediction::Components(Posterior { memberships, labels, probabilities, log_densities, .. }) => {
                mixture::labels(ids, labels, probabilities, log_densities, memberships)
            }
            Prediction::Items(Nearest { labels, values, measure }) => {
                Table::new("labels").ids(ids, labels.len()).labels("cluster", labels, true).borrowed(*measure, values)
            }
            Prediction::Positions(placed, nearest) => {
                let width = placed.dimension;
                let table = embed::axes(width).into_iter().enumerate().fold(
                    Table::new("positions").ids(ids, nearest.len()),
                    |table, (axis, name)| {
                        table.numbers(name, placed.positions.iter().skip(axis).step_by(width).copied().collect())
                    },
                );
                table.borrowed("error", &placed.errors).texts("nearest", nearest.clone())
            }
            Prediction::Clusters(Labelled { found, distance, scores, memberships }) => {
                let measure = if *distance == Distance::Cost { "cost" } else { "distance" };
                let count = memberships.as_ref().map_or(0, |all| all.len() / found.labels.len().max(1));
                let table = Table::new("labels")
                    .ids(ids, found.labels.len())
                    .labels("cluster", &found.labels, true)
                    .borrowed("probability", &found.probabilities)
                    .borrowed(measure, &found.distances);
                let table = match scores {
                    Some(scores) => table.borrowed("score", scores),
                    None => table,
                };
                (0..count).fold(table, |table, k| {
                    let of_cluster = memberships.iter().flatten().skip(k).step_by(count);
                    table.numbers(format!("membership{k}"), of_cluster.copied().collect())
                })
            }
        };
        Table { without_values: self.without_values.clone(), ..table }
    }

    /// Returns the result in one or two lines: the number of rows in each cluster or component, and how many rows are
    /// far out.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Points;
    /// use lehr_methods::{Learnt, ModelFile, predict::Predicted};
    /// use lehr_mining::vector::Centroids;
    /// let centroids = Centroids::new(1, vec![0.0, 9.0], 0.0)?;
    /// let model = ModelFile::new(&["x".to_owned()], (vec![0.0], vec![1.0]), Learnt::Clusters(centroids));
    /// let said = Predicted::of_points(&model, &Points::new(vec![1.0, 8.0, 10.0], 1)?, false).unwrap();
    /// assert_eq!(said.summary(), "3 rows: 1 in cluster 0, 2 in cluster 1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn summary(&self) -> String {
        let (labels, group) = match &self.said {
            Prediction::Places(places) => {
                return format!("{} placed on the map", counted(places.modes.len() as u64, "row"));
            }
            Prediction::Positions(_, nearest) => {
                return format!("{} placed on the map", counted(nearest.len() as u64, "item"));
            }
            Prediction::Items(found) => (&found.labels, "cluster"),
            Prediction::Components(found) => (&found.labels, "component"),
            Prediction::Clusters(Labelled { found, .. }) => (&found.labels, "cluster"),
        };
        let mut rows_of: BTreeMap<u32, u64> = BTreeMap::new();
        labels.iter().for_each(|label| *rows_of.entry(*label).or_default() += 1);
        let outside = rows_of.remove(&OUTLIER).unwrap_or_default();
        let unlabelled = rows_of.remove(&UNLABELLED).unwrap_or_default();
        let mut parts: Vec<String> = if rows_of.len() <= GROUPS_LISTED {
            rows_of.iter().map(|(label, rows)| format!("{} in {group} {label}", grouped(*rows))).collect()
        } else {
            let (largest, rows) = rows_of.iter().max_by_key(|(label, rows)| (**rows, Reverse(**label))).expect("many");
            vec![format!("in {} {group}s, of which {group} {largest} has most: {}", rows_of.len(), grouped(*rows))]
        };
        if outside > 0 {
            parts.push(format!("{} beyond the outlier radius", grouped(outside)));
        }
        if unlabelled > 0 {
            parts.push(format!("{} without values", grouped(unlabelled)));
        }
        let far_out = self.far_out().map_or_else(String::new, |rows| match rows {
            0 => "\nno row is far out for its cluster".to_owned(),
            1 => "\n1 row far out for its cluster: score above 1".to_owned(),
            rows => format!("\n{} rows far out for their cluster: score above 1", grouped(rows)),
        });
        format!("{}: {}{far_out}", counted(labels.len() as u64, "row"), parts.join(", "))
    }

    /// Returns the number of rows that are far out for their cluster, if the model knows the limits.
    fn far_out(&self) -> Option<u64> {
        let Prediction::Clusters(Labelled { scores: Some(scores), .. }) = &self.said else { return None };
        Some(scores.iter().filter(|score| **score > 1.0).count() as u64)
    }
}

/// Returns the score of each row, for these limits of the centroids' clusters. `assign` finds the nearest cluster of
/// each row among some clusters.
fn scores(
    limits: &[Option<f64>],
    centroids: &Centroids,
    found: &Assignment,
    assign: impl Fn(&Centroids) -> Result<Assignment, lehr_mining::Error>,
) -> Result<Option<Vec<f64>>, lehr_mining::Error> {
    let groups: Vec<usize> = (0..limits.len()).filter(|cluster| limits[*cluster].is_some()).collect();
    if groups.is_empty() {
        return Ok(None);
    }
    // With an outlier radius, a row outside has no nearest cluster. A cluster of very few rows has no limit.
    let has_nearest = centroids.sponge().is_none() && groups.len() == centroids.len();
    let nearest = if has_nearest { Cow::Borrowed(found) } else { Cow::Owned(assign(&centroids.only(&groups)?)?) };
    let limit = |label: &u32| limits[groups[*label as usize]].unwrap_or(f64::INFINITY);
    Ok(Some(nearest.labels.iter().zip(&nearest.distances).map(|(label, distance)| distance / limit(label)).collect()))
}

impl From<Prediction> for Predicted {
    fn from(said: Prediction) -> Self {
        Self { said, without_values: Vec::new(), notes: Vec::new() }
    }
}

impl Prediction {
    /// Removes the results of some rows.
    fn take_back(&mut self, rows: &[usize]) {
        let numbers = |values: &mut [f64], width: usize| {
            rows.iter().for_each(|row| values[row * width..][..width].fill(f64::NAN));
        };
        let unlabel = |labels: &mut [u32]| rows.iter().for_each(|row| labels[*row] = UNLABELLED);
        match self {
            Self::Places(places) => {
                unlabel(&mut places.modes);
                numbers(&mut places.positions, places.latent);
                numbers(&mut places.probabilities, 1);
                numbers(&mut places.entropies, 1);
                numbers(&mut places.log_densities, 1);
            }
            Self::Components(posterior) => {
                unlabel(&mut posterior.labels);
                if !posterior.memberships.is_empty() {
                    numbers(&mut posterior.memberships, posterior.components);
                }
                numbers(&mut posterior.log_densities, 1);
                numbers(&mut posterior.probabilities, 1);
            }
            // Their columns are not prepared, so each row has a result.
            Self::Items(_) | Self::Positions(..) => {}
            Self::Clusters(Labelled { found, scores, memberships, .. }) => {
                let width = memberships.as_ref().map_or(0, |all| all.len() / found.labels.len().max(1));
                unlabel(&mut found.labels);
                numbers(&mut found.probabilities, 1);
                numbers(&mut found.distances, 1);
                if let Some(scores) = scores {
                    numbers(scores, 1);
                }
                if let Some(all) = memberships {
                    numbers(all, width);
                }
            }
        }
    }
}
