//! A model's result for rows that it has not seen, as a table, for every front end.

use lehr_data::frame::DataFrame;
use lehr_data::{Fingerprints, Incomplete, Points, Sparse, geography};
use lehr_mining::gtm::Projection;
use lehr_mining::mixture::Posterior;
use lehr_mining::vector::Assignment;

use crate::{Learnt, ModelFile, Table, gtm, mixture};

/// Why a model says nothing of rows.
#[derive(Debug)]
pub enum Refusal {
    /// The rows are not of its kind.
    Unsuited {
        /// The input that it takes.
        expected: String,
        /// The input that was given.
        found: String,
    },
    /// They are, and cannot be meant.
    Data(lehr_data::Error),
    /// The method refuses them.
    Mining(lehr_mining::Error),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsuited { expected, found } => write!(formatter, "expected {expected}, found {found}"),
            Self::Data(error) => error.fmt(formatter),
            Self::Mining(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<lehr_data::Error> for Refusal {
    fn from(error: lehr_data::Error) -> Self {
        Self::Data(error)
    }
}

impl From<lehr_mining::Error> for Refusal {
    fn from(error: lehr_mining::Error) -> Self {
        Self::Mining(error)
    }
}

/// From here on squares of distances may be beyond the largest number. Rows to fit have the same limit.
const FARTHEST: f64 = 1e140;

/// The meaning of a row's distance from its centre.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distance {
    /// As the columns are.
    Straight,
    /// Through the Earth, and shown along the surface.
    Chord,
    /// None, but the cost of the row, in nats.
    Cost,
}

/// A model's result for rows.
#[derive(Debug)]
pub struct Predicted(Prediction);

/// A model's result for the rows of an ordinary table.
#[derive(Debug)]
pub struct OfTable {
    /// The result.
    pub said: Predicted,
    /// The ids of the rows, if a column has them.
    pub ids: Option<Vec<String>>,
    /// Notes for the owner of the table.
    pub notes: Vec<String>,
}

#[derive(Debug)]
enum Prediction {
    Places(Projection),
    /// With the probabilities of the labels, and whether all memberships are wanted.
    Components(Posterior, Vec<f64>, bool),
    /// With the memberships, if they are wanted.
    Clusters(Assignment, Distance, Option<Vec<f64>>),
}

impl Predicted {
    /// For rows of bits. Only models of clusters with columns as they are can label them.
    ///
    /// # Errors
    /// [`Refusal::Unsuited`] for another model, and for another number of bits.
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
        Ok(Self(Prediction::Clusters(centroids.assign(rows)?, distance, all)))
    }

    /// For sparse rows. Only models of clusters with columns that were not shifted can label them. The columns that
    /// they do not come to are 0 in all rows.
    ///
    /// # Errors
    /// [`Refusal::Unsuited`] for another model; [`Refusal::Data`] for more columns than it has.
    pub fn of_sparse(model: &ModelFile, rows: Sparse, memberships: bool) -> Result<Self, Refusal> {
        let bad = |expected: &str| Refusal::Unsuited { expected: expected.into(), found: "sparse rows".into() };
        let Learnt::Clusters(centroids) = &model.model else { return Err(bad("a table of the model's columns")) };
        if model.is_sphere() || model.is_shifted() {
            return Err(bad("a table of the columns that the model shifts"));
        }
        if centroids.is_bernoulli() {
            return Err(bad("rows of bits, as --cost bernoulli takes"));
        }
        let rows = rows.with_dimension(centroids.dimension())?.divided(model.divisors());
        let all = memberships.then(|| centroids.memberships(&rows)).transpose()?;
        Ok(Self(Prediction::Clusters(centroids.assign(&rows)?, Distance::Straight, all)))
    }

    /// For rows of numbers in the model's columns, as they are in the table.
    ///
    /// # Errors
    /// [`Refusal::Unsuited`] for another number of columns, and for a model of bits; [`Refusal::Data`] for positions that are not in degrees.
    pub fn of_points(model: &ModelFile, points: &Points, memberships: bool) -> Result<Self, Refusal> {
        if matches!(&model.model, Learnt::Clusters(centroids) if centroids.is_bernoulli()) {
            let expected = "rows of bits, as --cost bernoulli takes".into();
            return Err(Refusal::Unsuited { expected, found: "a table of numbers".into() });
        }
        Self::has_columns(model, points.dimension())?;
        let values = if model.is_sphere() {
            // What is not in degrees is reported with its row and column.
            geography::on_sphere(points)?.values().to_vec()
        } else {
            model.scaled(points.values())
        };
        Self::of(model, values, memberships)
    }

    /// For rows in which values may be missing. Clusters say nothing of those.
    ///
    /// # Errors
    /// As for [`of_points`](Self::of_points).
    pub fn of_records(model: &ModelFile, rows: &Incomplete, memberships: bool) -> Result<Self, Refusal> {
        if matches!(model.model, Learnt::Clusters(_)) {
            let expected = "rows without missing cells, of which alone clusters say something".into();
            return Err(Refusal::Unsuited { expected, found: "a table that may have some".into() });
        }
        Self::has_columns(model, rows.dimension())?;
        Self::of(model, model.scaled(rows.values()), memberships)
    }

    /// Of an ordinary table, for a model whose columns were prepared: the warnings, the names of the rows, and remarks for
    /// their owner. Rows are called by the texts of `id`, or of the column that named the model's rows
    /// where the table has it.
    ///
    /// # Errors
    /// [`Refusal::Data`]: columns that are missing or read differently, rows without any value.
    ///
    /// # Panics
    /// If the model's columns were not prepared.
    pub fn of_table(
        model: &ModelFile,
        table: &DataFrame,
        id: Option<&str>,
        memberships: bool,
    ) -> Result<OfTable, Refusal> {
        let known = model.id.as_deref().filter(|id| table.column(id).is_some());
        let ids = id.or(known).map(|id| table.texts(id)).transpose()?;
        let (rows, notes) = model.prepared(table)?;
        Ok(OfTable { said: Self::of(model, rows, memberships)?, ids, notes })
    }

    fn has_columns(model: &ModelFile, found: usize) -> Result<(), Refusal> {
        let expected = model.columns.len();
        if found == expected {
            return Ok(());
        }
        let expected = format!("{expected} columns, as the model has");
        Err(Refusal::Unsuited { expected, found: found.to_string() })
    }

    /// Whether a number can hold the square of each value. Densities would be 0 under every component and at every
    /// node, and the first of those would be taken. Centres are compared by a way of their own.
    fn has_squares(model: &ModelFile, values: &[f64]) -> Result<(), Refusal> {
        let Some(place) = values.iter().position(|value| value.abs() >= FARTHEST) else { return Ok(()) };
        let (row, column) = (place / model.columns.len(), place % model.columns.len());
        let expected = format!(
            "numbers below {FARTHEST:e} (scaled as the model's are), whose squares a number can hold; divide the columns by a power of ten, also before fitting"
        );
        let found = format!("{:e} in row {row} (counted from 0), column {:?}", values[place], model.columns[column]);
        Err(Refusal::Unsuited { expected, found })
    }

    /// `values`: row after row as the model wants them, NaN where a cell is missing.
    fn of(model: &ModelFile, values: Vec<f64>, memberships: bool) -> Result<Self, Refusal> {
        if !matches!(model.model, Learnt::Clusters(_)) {
            Self::has_squares(model, &values)?;
        }
        Ok(Self(match &model.model {
            Learnt::Gtm(map) => Prediction::Places(map.project(&Incomplete::new(values, map.dimension())?)?),
            Learnt::Mixture(mixture) => {
                let posterior = mixture.posterior(&Incomplete::new(values, mixture.dimension())?)?;
                let rows = posterior.memberships.chunks_exact(posterior.components).zip(&posterior.labels);
                let probabilities = rows.map(|(row, &label)| row[label as usize]).collect();
                Prediction::Components(posterior, probabilities, memberships)
            }
            Learnt::Clusters(centroids) if values.iter().any(|value| value.is_nan()) => {
                let rows = Incomplete::new(values, centroids.dimension())?;
                let all = memberships.then(|| centroids.memberships_incomplete(&rows)).transpose()?;
                Prediction::Clusters(centroids.assign_incomplete(&rows)?, Distance::Straight, all)
            }
            Learnt::Clusters(centroids) => {
                let points = Points::new(values, centroids.dimension())?;
                let all = memberships.then(|| centroids.memberships(&points)).transpose()?;
                let distance = if model.is_sphere() { Distance::Chord } else { Distance::Straight };
                let mut found = centroids.assign(&points)?;
                if distance == Distance::Chord {
                    found.distances.iter_mut().for_each(|length| *length = geography::arc_km(*length));
                }
                Prediction::Clusters(found, distance, all)
            }
        }))
    }

    /// A line for each row: its cluster or component and how surely, or its place on a map.
    ///
    /// The columns of the table. For clusters they are `id`, `cluster` (the nearest, or -1 where none is within the
    /// outlier radius), `probability` and `distance`. The distance is to the centre, as spreads are in `centers.csv`;
    /// by likelihood it is `cost`. The memberships in all clusters follow, if they were asked for.
    pub fn table<'a>(&'a self, ids: Option<&'a [String]>) -> Table<'a> {
        match &self.0 {
            Prediction::Places(places) => gtm::places(ids, places),
            Prediction::Components(posterior, probabilities, all) => {
                let Posterior { memberships, labels, log_densities, .. } = posterior;
                mixture::labels(ids, labels, probabilities, log_densities, all.then_some(&memberships[..]))
            }
            Prediction::Clusters(found, distance, memberships) => {
                let measure = if *distance == Distance::Cost { "cost" } else { "distance" };
                let count = memberships.as_ref().map_or(0, |all| all.len() / found.labels.len().max(1));
                let table = Table::new("labels")
                    .ids(ids, found.labels.len())
                    .labels("cluster", &found.labels, true)
                    .borrowed("probability", &found.probabilities)
                    .borrowed(measure, &found.distances);
                (0..count).fold(table, |table, k| {
                    let of_cluster = memberships.iter().flatten().skip(k).step_by(count);
                    table.numbers(format!("membership{k}"), of_cluster.copied().collect())
                })
            }
        }
    }
}
