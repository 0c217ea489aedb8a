//! The rows of a table as a method takes them, and the way back to the columns that a person knows.
//!
//! A method sees points and squared distances, nothing else. Here a table becomes those points (positions on the sphere in
//! km, or scaled columns), and centres, spreads and temperatures become values in the units of the table.

use lehr_data::counter::{counts_rows, counts_rows_incomplete};
use lehr_data::duplicates::shared_ids;
use lehr_data::geography;
use lehr_data::scale::{Scale, Scaling, scales_differ, scales_differ_incomplete};
use lehr_data::{Error, Fingerprints, Incomplete, LeftOut, Points, Sparse};
use lehr_mining::{Input, vector};

/// In which space rows are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Longitude and latitude become positions on the sphere, in km.
    Sphere,
    /// Columns as they are, or scaled.
    Columns(Scale),
}

impl Frame {
    /// How columns are scaled.
    pub fn scale(self) -> Scale {
        match self {
            Frame::Sphere => Scale::None,
            Frame::Columns(scale) => scale,
        }
    }
}

/// What an owner of a table of numbers would want to know before trusting distances in it; `is_plain` if its columns are taken as they are.
pub fn warnings_of(table: &Points, is_plain: bool) -> Vec<String> {
    told(table, table.left_out(), is_plain, scales_differ(table), counts_rows(table))
}

/// The same, by the columns that were left out, and by what was found of spreads that differ and of a column that counts the rows.
fn told(
    table: &Points,
    left_out: &[LeftOut],
    is_plain: bool,
    differ: Option<String>,
    counts: Option<String>,
) -> Vec<String> {
    let mut warnings = reading_warnings(table.name(), left_out, table.ids());
    warnings.extend(table.notes().iter().map(|note| format!("{}: {note}", table.name())));
    if looks_like_dissimilarities(table) {
        warnings.push(
            "the table has as many rows as columns, is symmetric and 0 on the diagonal, as dissimilarities are; \
             lehr pairwise and lehr embed take those as an NPY array"
                .to_owned(),
        );
    }
    if is_plain {
        if geography::looks_like_degrees(table) {
            warnings.push(
                "the columns look like longitude and latitude in degrees, which are not a distance; \
                 lehr cluster --lonlat clusters on the sphere, in km"
                    .to_owned(),
            );
        } else {
            warnings.extend(differ);
        }
    }
    warnings.extend(counts);
    warnings
}

/// Rows as they were read.
#[derive(Debug)]
enum Table {
    Numbers(Points),
    /// With a name for each column, as files of bits have none: `bit0`, `bit1`, ….
    Bits(Fingerprints, Vec<String>),
    /// With a name for each column, as files of sparse rows have numbers only: `x1`, `x2`, …, or from `x0` on.
    Sparse(Sparse, Vec<String>),
}

/// What is to be said of how rows were read: columns that were left out and hardly meant as text, and ids that several rows have.
pub fn reading_warnings(name: &str, left_out: &[LeftOut], ids: Option<&[String]>) -> Vec<String> {
    let shared = ids.and_then(shared_ids);
    LeftOut::warning(left_out).into_iter().chain(shared).map(|warning| format!("{name}: {warning}")).collect()
}

/// Whether a table of numbers looks like the dissimilarities of its rows. Two rows say nothing.
fn looks_like_dissimilarities(table: &Points) -> bool {
    let items = table.len();
    let is_square = items > 2 && items == table.dimension();
    is_square
        && (0..items).all(|i| (0..=i).all(|j| table.row(i)[j] == table.row(j)[i] && (i != j || table.row(i)[i] == 0.0)))
}

/// A table, the points that a method takes it as, and the way back.
///
/// # Example
/// ```
/// use lehr_data::{Points, scale::Scale};
/// use lehr_methods::{Frame, Rows};
/// let table = Points::new(vec![0.0, 10.0, 20.0], 1)?;
/// let rows = Rows::new(table, Frame::Columns(Scale::Std))?;
/// assert_eq!(rows.center(&rows.points().values()[2..]), [20.0]);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug)]
pub struct Rows {
    table: Table,
    clustered: Option<Points>,
    /// Sparse rows whose columns were divided.
    divided: Option<Sparse>,
    /// The same with their gaps, for methods that can do with them.
    gaps: Option<Incomplete>,
    /// What was in the table besides.
    left_out: Vec<LeftOut>,
    /// What is to be said of rows with gaps, by what is there of them: spreads that differ, and a column that counts the rows.
    told_of_gaps: Option<[Option<String>; 2]>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Plain,
    Sphere,
    Scaled(Scaling),
}

#[allow(clippy::len_without_is_empty, reason = "there is always at least one row")]
impl Rows {
    /// Turns `table` into the points of `frame`.
    ///
    /// # Errors
    /// If coordinates are not degrees, with row and column.
    pub fn new(table: Points, frame: Frame) -> Result<Self, Error> {
        let (clustered, kind) = match frame {
            Frame::Sphere => (Some(geography::on_sphere(&table)?), Kind::Sphere),
            Frame::Columns(Scale::None) => (None, Kind::Plain),
            Frame::Columns(scale) => {
                let scaling = Scaling::fit(&table, scale);
                (Some(scaling.apply(&table)?), Kind::Scaled(scaling))
            }
        };
        let left_out = table.left_out().to_vec();
        Ok(Rows { clustered, left_out, ..Self::plain(Table::Numbers(table), kind) })
    }

    /// Rows of bits, as they are.
    pub fn of_bits(rows: Fingerprints) -> Self {
        let columns = (0..rows.bits()).map(|bit| format!("bit{bit}")).collect();
        Self::plain(Table::Bits(rows, columns), Kind::Plain)
    }

    /// Sparse rows, as they are; with any scale, each column divided by its standard deviation.
    pub fn of_sparse(rows: Sparse, scale: Scale) -> Self {
        let columns = (0..rows.dimension()).map(|column| rows.column_name(column)).collect();
        let (divided, kind) = match scale {
            Scale::None => (None, Kind::Plain),
            Scale::Std | Scale::Robust => {
                let scaling = Scaling::deviations_of(&rows);
                (Some(rows.divided(scaling.divisors())), Kind::Scaled(scaling))
            }
        };
        Rows { divided, ..Self::plain(Table::Sparse(rows, columns), kind) }
    }

    /// Rows that are all there and are clustered as they are.
    fn plain(table: Table, kind: Kind) -> Self {
        let left_out = Vec::new();
        Rows { table, clustered: None, divided: None, gaps: None, left_out, told_of_gaps: None, kind }
    }

    /// The same for rows with missing cells. As [`Rows::table`] and [`Rows::points`] they have the mean of what is there of their column in place of a gap;
    /// a method that can do with gaps takes [`Rows::input`].
    ///
    /// # Errors
    /// If the mean of a column cannot be held by a number.
    pub fn with_gaps(rows: Incomplete, scale: Scale) -> Result<Self, Error> {
        let dimension = rows.dimension();
        let mut values = rows.values().to_vec();
        for column in 0..dimension {
            let there = || rows.values()[column..].iter().step_by(dimension).filter(|x| !x.is_nan());
            let count = there().count().max(1) as f64;
            let mean: f64 = there().map(|x| x / count).sum();
            values[column..].iter_mut().step_by(dimension).filter(|x| x.is_nan()).for_each(|x| *x = mean);
        }
        let mut table = Points::new(values, dimension)?.with_columns(rows.columns().to_vec())?.with_name(rows.name());
        if let Some(ids) = rows.ids() {
            table = table.with_ids(ids.to_vec())?;
        }
        table = table.with_notes(rows.notes().to_vec());
        let told_of_gaps = Some([scales_differ_incomplete(&rows), counts_rows_incomplete(&rows)]);
        let scaling = Scaling::fit_incomplete(&rows, scale);
        let gaps = Some(scaling.apply_incomplete(&rows));
        let (clustered, kind) = match scale {
            Scale::None => (None, Kind::Plain),
            _ => (Some(scaling.apply(&table)?), Kind::Scaled(scaling)),
        };
        let left_out = rows.left_out().to_vec();
        Ok(Rows { clustered, gaps, left_out, told_of_gaps, ..Self::plain(Table::Numbers(table), kind) })
    }

    /// The rows for a method that can do with gaps.
    pub fn input(&self) -> Input<'_> {
        self.gaps.as_ref().map_or_else(|| Input::from(self.points()), Input::from)
    }

    /// The rows as they were read, for what takes tables of numbers only.
    ///
    /// # Panics
    /// For rows of bits and sparse rows.
    pub fn table(&self) -> &Points {
        match &self.table {
            Table::Numbers(points) => points,
            Table::Bits(..) | Table::Sparse(..) => {
                unreachable!("rows of bits and sparse rows are clustered, and nothing else is done with them")
            }
        }
    }

    /// The rows as they are clustered, for what takes tables of numbers only.
    ///
    /// # Panics
    /// For rows of bits and sparse rows.
    pub fn points(&self) -> &Points {
        self.clustered.as_ref().unwrap_or_else(|| self.table())
    }

    /// The rows as they were read.
    fn read_rows(&self) -> vector::Input<'_> {
        match &self.table {
            Table::Numbers(points) => points.into(),
            Table::Bits(rows, _) => rows.into(),
            Table::Sparse(rows, _) => rows.into(),
        }
    }

    /// The rows as they are clustered.
    pub fn vectors(&self) -> vector::Input<'_> {
        match (&self.clustered, &self.divided) {
            (Some(points), _) => points.into(),
            (_, Some(rows)) => rows.into(),
            _ => self.read_rows(),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.read_rows().len()
    }

    /// A row as it was read.
    pub fn row(&self, index: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.columns().len()];
        self.read_rows().read(index, &mut row);
        row
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        match &self.table {
            Table::Numbers(points) => points.columns(),
            Table::Bits(_, columns) | Table::Sparse(_, columns) => columns,
        }
    }

    /// The columns that nobody chose and that are none of numbers.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// The ids, if there are any.
    pub fn ids(&self) -> Option<&[String]> {
        match &self.table {
            Table::Numbers(points) => points.ids(),
            Table::Bits(rows, _) => Some(rows.ids()),
            Table::Sparse(rows, _) => rows.ids(),
        }
    }

    /// The weights, if there are any.
    pub fn weights(&self) -> Option<&[f64]> {
        match &self.table {
            Table::Numbers(points) => points.weights(),
            Table::Bits(rows, _) => rows.weights(),
            Table::Sparse(rows, _) => rows.weights(),
        }
    }

    /// The sum of the weights; the number of rows if there are none.
    pub fn total_weight(&self) -> f64 {
        match &self.table {
            Table::Numbers(points) => points.total_weight(),
            Table::Bits(rows, _) => rows.total_weight(),
            Table::Sparse(rows, _) => rows.total_weight(),
        }
    }

    /// How many rows have weight 0 and influence nothing.
    pub fn of_weight_zero(&self) -> usize {
        self.weights().map_or(0, |weights| weights.iter().filter(|&&weight| weight == 0.0).count())
    }

    /// Whether the rows are of bits.
    pub fn are_bits(&self) -> bool {
        matches!(self.table, Table::Bits(..))
    }

    /// The sparse rows as they were read, if they are.
    pub fn sparse(&self) -> Option<&Sparse> {
        if let Table::Sparse(rows, _) = &self.table { Some(rows) } else { None }
    }

    /// Whether the columns are as many, and say as little one by one, as bits and those of sparse rows: clusters are then told by what marks them.
    pub fn has_many_columns(&self) -> bool {
        self.are_bits() || self.sparse().is_some()
    }

    /// Whether the columns are longitude and latitude.
    pub fn is_sphere(&self) -> bool {
        matches!(self.kind, Kind::Sphere)
    }

    /// Whether columns were scaled.
    pub fn is_scaled(&self) -> bool {
        matches!(self.kind, Kind::Scaled(_))
    }

    /// What an owner of such a table would want to know before trusting distances in it.
    pub fn warnings(&self) -> Vec<String> {
        // Bits have one scale, columns of sparse rows as many as there are rare ones; neither count rows.
        let table = match &self.table {
            Table::Numbers(table) => table,
            Table::Bits(rows, _) => return reading_warnings(rows.name(), &[], Some(rows.ids())),
            Table::Sparse(rows, _) => return reading_warnings(rows.name(), &[], rows.ids()),
        };
        let is_plain = matches!(self.kind, Kind::Plain);
        let order = if self.is_sphere() { geography::order_warning(table) } else { None };
        let mut warnings = match &self.told_of_gaps {
            Some([differ, counts]) => told(table, &self.left_out, is_plain, differ.clone(), counts.clone()),
            None => warnings_of(table, is_plain),
        };
        warnings.extend(order);
        warnings
    }

    /// A centre in the units of the columns: longitude and latitude in degrees on the sphere, else the columns unscaled.
    pub fn center(&self, center: &[f64]) -> Vec<f64> {
        match &self.kind {
            Kind::Plain => center.to_vec(),
            Kind::Sphere => {
                let (longitude, latitude) = geography::lon_lat([center[0], center[1], center[2]]);
                vec![longitude, latitude]
            }
            Kind::Scaled(scaling) => {
                let mut center = center.to_vec();
                scaling.invert(&mut center);
                center
            }
        }
    }

    /// What was subtracted from each column of the points, and what it was divided by then.
    pub fn shifts_and_divisors(&self) -> (Vec<f64>, Vec<f64>) {
        match &self.kind {
            Kind::Scaled(scaling) => (scaling.shifts().to_vec(), scaling.divisors().to_vec()),
            Kind::Plain | Kind::Sphere => {
                let dimension = self.vectors().dimension();
                (vec![0.0; dimension], vec![1.0; dimension])
            }
        }
    }

    /// What a column was divided by.
    pub fn divisor(&self, column: usize) -> f64 {
        if let Kind::Scaled(scaling) = &self.kind { scaling.divisors()[column] } else { 1.0 }
    }

    /// A distance as it is reported: along the surface on the sphere, as it is otherwise.
    pub fn distance(&self, distance: f64) -> f64 {
        match self.kind {
            Kind::Sphere => geography::arc_km(distance),
            _ => distance,
        }
    }

    /// The unit of distances for people: `km`, or nothing where the columns have none that we know.
    pub fn unit(&self) -> &'static str {
        if self.is_sphere() { "km" } else { "" }
    }

    /// The unit of temperatures, objective and free energy for people.
    pub fn unit_squared(&self) -> &'static str {
        if self.is_sphere() { "km²" } else { "" }
    }

    /// The unit of distances for programs.
    pub fn unit_name(&self) -> &'static str {
        match self.kind {
            Kind::Plain => "unit of the columns",
            Kind::Sphere => "km",
            Kind::Scaled(_) => "unit of the scaled columns",
        }
    }
}
