//! Converts the rows of a table to the points of a method, and converts results to the columns of the user.
//!
//! A method works only with points and squared distances. This module turns a table into points: positions on the
//! sphere in km, or scaled columns. It converts centres, spreads and temperatures to the units of the table.

use std::borrow::Cow;

use lehr_data::counter::{counts_rows, counts_rows_incomplete};
use lehr_data::duplicates::shared_ids;
use lehr_data::frame::{DataFrame, FrameColumn, ReadAs, Values};
use lehr_data::geography;
use lehr_data::preparation::Preparation;
use lehr_data::scale::{Scale, Scaling, Spreads, scales_differ_incomplete};
use lehr_data::{Error, Fingerprints, Incomplete, LeftOut, Points, Sparse};
use lehr_mining::{Input, vector};

use crate::numbers::{counted, grouped};
use crate::origin::Origin;
use crate::table::Table as ResultTable;

/// The space in which rows are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// Positions on the sphere in km, from longitude and latitude.
    Sphere,
    /// Columns, unchanged or scaled.
    Columns(Scale),
}

impl Frame {
    /// Returns how columns are scaled.
    pub fn scale(self) -> Scale {
        match self {
            Frame::Sphere => Scale::None,
            Frame::Columns(scale) => scale,
        }
    }
}

/// Returns warnings about a table of numbers that affect the meaning of its distances. `is_plain` says that its columns
/// are unchanged.
pub fn warnings_of(table: &Points, is_plain: bool) -> Vec<String> {
    let spreads = Spreads::of(table);
    let mut warnings = told(table, table.left_out(), is_plain, spreads.differ(), counts_rows(table));
    if !geography::looks_like_degrees(table) {
        warnings.extend(spreads.few_rows_rule());
    }
    warnings
}

/// Returns these warnings. `differ` is the note on different spreads, and `counts` the note on a column that counts the
/// rows.
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

/// Rows in the form in which they were read.
#[derive(Debug)]
enum Table {
    Numbers(Points),
    /// Bits, and a name for each column: `bit0`, `bit1`, …. Files of bits have no names.
    Bits(Fingerprints, Vec<String>),
    /// Sparse rows, and a name for each column: `x1`, `x2`, …, or from `x0` on. Files of sparse rows have only numbers
    /// for columns.
    Sparse(Sparse, Vec<String>),
}

/// Returns warnings from reading rows: columns that were left out although most of their cells are numbers, and ids
/// that occur several times.
pub fn reading_warnings(name: &str, left_out: &[LeftOut], ids: Option<&[String]>) -> Vec<String> {
    let shared = ids.and_then(shared_ids);
    LeftOut::warning(left_out).into_iter().chain(shared).map(|warning| format!("{name}: {warning}")).collect()
}

/// Returns whether a table of numbers looks like dissimilarities of its rows. Two rows are too few to decide.
fn looks_like_dissimilarities(table: &Points) -> bool {
    let items = table.len();
    let is_square = items > 2 && items == table.dimension();
    is_square
        && (0..items).all(|i| (0..=i).all(|j| table.row(i)[j] == table.row(j)[i] && (i != j || table.row(i)[i] == 0.0)))
}

/// A table, the points that a method compares, and the conversion back to the table's units.
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
    /// Sparse rows with scaled columns.
    divided: Option<Sparse>,
    /// The rows with their missing values, for methods that support them.
    gaps: Option<Incomplete>,
    /// The columns of the table that are not used as coordinates.
    left_out: Vec<LeftOut>,
    /// The notes on rows with missing values: different spreads, and a column that counts the rows. They are based on
    /// the values that are present.
    told_of_gaps: Option<[Option<String>; 2]>,
    /// The table from which the rows were prepared.
    origin: Option<Box<Origin>>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Plain,
    Sphere,
    Scaled(Scaling),
    /// The columns were prepared as [`Origin`] describes.
    Prepared,
}

/// Appends the columns of a data frame to a table of results. A column whose name is taken gets the prefix `input.`.
///
/// # Panics
/// Panics if the numbers of rows differ.
///
/// # Example
/// ```
/// use lehr_data::frame::{DataFrame, FrameColumn};
/// use lehr_methods::{Table, append_frame};
/// let frame = DataFrame::new("t", vec![FrameColumn::texts("id", ["a", "b"])])?;
/// let table = append_frame(&frame, Table::new("labels").ids(None, 2));
/// assert_eq!(table.columns.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["id", "input.id"]);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn append_frame<'a>(frame: &DataFrame, table: ResultTable<'a>) -> ResultTable<'a> {
    let named = free_names(&table);
    // In rows without values, the result's numbers are left out, but the input's numbers are kept.
    let all_have_values = table.without_values.is_empty();
    let is_plain = |column: &FrameColumn| !matches!(column.read_as, ReadAs::Truth { .. }) && column.missing() == 0;
    frame.columns().iter().fold(table, |table, column| match &column.values {
        Values::Numbers(values) if all_have_values && is_plain(column) => {
            table.numbers(named(&column.name), values.clone())
        }
        _ => table.texts(named(&column.name), frame.texts(&column.name).expect("a column of the table")),
    })
}

/// Returns names for appended columns that do not clash with the columns of a table of results.
fn free_names(table: &ResultTable<'_>) -> impl Fn(&str) -> String + use<> {
    let taken: Vec<String> = table.columns.iter().map(|(name, _)| name.clone()).collect();
    move |name| if taken.iter().any(|taken| taken == name) { format!("input.{name}") } else { name.to_owned() }
}

#[allow(clippy::len_without_is_empty, reason = "there is always at least one row")]
impl Rows {
    /// Converts `table` to points in the space `frame`.
    ///
    /// # Errors
    /// Returns an error with row and column if coordinates are not degrees.
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

    /// Creates rows of bits, unchanged.
    pub fn of_bits(rows: Fingerprints) -> Self {
        let columns = (0..rows.bits()).map(|bit| format!("bit{bit}")).collect();
        Self::plain(Table::Bits(rows, columns), Kind::Plain)
    }

    /// Creates sparse rows. If most columns are 0 in all rows, removes these columns. With any scaling, divides each
    /// column by its standard deviation.
    pub fn of_sparse(rows: Sparse, scale: Scale) -> Self {
        let rows = rows.without_unused();
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

    /// Creates rows without missing values, unchanged.
    fn plain(table: Table, kind: Kind) -> Self {
        let left_out = Vec::new();
        Rows { table, clustered: None, divided: None, gaps: None, left_out, told_of_gaps: None, origin: None, kind }
    }

    /// Creates the rows of a prepared table, from their values in the units of the columns and their values for
    /// comparison.
    pub(crate) fn prepared(table: Points, clustered: Points, gaps: Option<Incomplete>, origin: Origin) -> Self {
        let (clustered, origin) = (Some(clustered), Some(Box::new(origin)));
        Rows { clustered, gaps, origin, ..Self::plain(Table::Numbers(table), Kind::Prepared) }
    }

    /// Creates positions on the sphere in km, without warnings about longitude and latitude. For a process that
    /// computes for another process.
    pub fn positions(points: Points) -> Self {
        Self::plain(Table::Numbers(points), Kind::Sphere)
    }

    /// Returns the table that explains clusters, or some rows of it. It is the table before preparation, or otherwise
    /// the columns as measures. Returns `None` for positions on the sphere, rows of bits and sparse rows.
    pub(crate) fn frame(&self, chosen: Option<&[usize]>) -> Option<Cow<'_, DataFrame>> {
        if let Some(origin) = &self.origin {
            return Some(chosen.map_or(Cow::Borrowed(&origin.frame), |rows| Cow::Owned(origin.frame.select(rows))));
        }
        let Table::Numbers(table) = &self.table else { return None };
        if self.is_sphere() {
            return None;
        }
        let values = |column: usize| match chosen {
            Some(rows) => rows.iter().map(|row| table.row(*row)[column]).collect(),
            None => table.column(column).collect(),
        };
        let columns = table.columns().iter().enumerate();
        let columns = columns.map(|(index, name)| FrameColumn::numbers(name, values(index)));
        DataFrame::new(table.name(), columns.collect()).ok().map(Cow::Owned)
    }

    /// Appends the columns that were read to a table with a line for each row. A column whose name is taken gets the
    /// prefix `input.`. Rows of bits and sparse rows have no columns to append.
    ///
    /// # Panics
    /// Panics if the table has another number of rows.
    pub fn append_to<'a>(&'a self, table: ResultTable<'a>) -> ResultTable<'a> {
        if let Some(origin) = &self.origin {
            return append_frame(&origin.frame, table);
        }
        let named = free_names(&table);
        let Table::Numbers(points) = &self.table else { return table };
        let columns = points.columns().iter().enumerate();
        let table =
            columns.fold(table, |table, (index, name)| table.numbers(named(name), points.column(index).collect()));
        match points.weights() {
            Some(weights) => table.numbers(named("weight"), weights.to_vec()),
            None => table,
        }
    }

    /// Returns the table from which the rows were prepared, if they were prepared.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_deref()
    }

    /// Returns the rows without a value in any used column whose values were filled, in ascending order. They get no
    /// label.
    pub fn without_values(&self) -> &[usize] {
        self.origin().map_or(&[], |origin| &origin.without_values)
    }

    /// Creates rows with missing values. [`Rows::table`] and [`Rows::points`] have the mean of the column in place of a
    /// missing value. A method that supports missing values reads [`Rows::input`].
    ///
    /// # Errors
    /// Returns an error if the mean of a column overflows.
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

    /// Returns the rows for a method that supports missing values.
    pub fn input(&self) -> Input<'_> {
        self.gaps.as_ref().map_or_else(|| Input::from(self.points()), Input::from)
    }

    /// Returns the rows as they were read, for code that supports only tables of numbers.
    ///
    /// # Panics
    /// Panics for rows of bits and sparse rows.
    pub fn table(&self) -> &Points {
        match &self.table {
            Table::Numbers(points) => points,
            Table::Bits(..) | Table::Sparse(..) => {
                unreachable!("rows of bits and sparse rows can only be clustered")
            }
        }
    }

    /// Returns the rows in the form in which they are clustered, for code that supports only tables of numbers.
    ///
    /// # Panics
    /// Panics for rows of bits and sparse rows.
    pub fn points(&self) -> &Points {
        self.clustered.as_ref().unwrap_or_else(|| self.table())
    }

    /// Returns the rows as they were read.
    fn read_rows(&self) -> vector::Input<'_> {
        match &self.table {
            Table::Numbers(points) => points.into(),
            Table::Bits(rows, _) => rows.into(),
            Table::Sparse(rows, _) => rows.into(),
        }
    }

    /// Returns the rows in the form in which they are clustered.
    pub fn vectors(&self) -> vector::Input<'_> {
        match (&self.clustered, &self.divided) {
            (Some(points), _) => points.into(),
            (_, Some(rows)) => rows.into(),
            _ => self.read_rows(),
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.read_rows().len()
    }

    /// Returns a row as it was read.
    pub fn row(&self, index: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.columns().len()];
        self.read_rows().read(index, &mut row);
        row
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> &[String] {
        match &self.table {
            Table::Numbers(points) => points.columns(),
            Table::Bits(_, columns) | Table::Sparse(_, columns) => columns,
        }
    }

    /// Returns the non-numeric columns that were left out because the user did not choose them.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns the ids of the rows, if the table has ids.
    pub fn ids(&self) -> Option<&[String]> {
        match &self.table {
            Table::Numbers(points) => points.ids(),
            Table::Bits(rows, _) => Some(rows.ids()),
            Table::Sparse(rows, _) => rows.ids(),
        }
    }

    /// Returns the structures of the rows in SMILES, if the rows are molecules.
    pub fn smiles(&self) -> Option<&[String]> {
        if let Table::Bits(rows, _) = &self.table { rows.smiles() } else { None }
    }

    /// Returns the weights of the rows, if the table has weights.
    pub fn weights(&self) -> Option<&[f64]> {
        match &self.table {
            Table::Numbers(points) => points.weights(),
            Table::Bits(rows, _) => rows.weights(),
            Table::Sparse(rows, _) => rows.weights(),
        }
    }

    /// Returns the sum of the weights, or the number of rows if the rows have no weights.
    pub fn total_weight(&self) -> f64 {
        match &self.table {
            Table::Numbers(points) => points.total_weight(),
            Table::Bits(rows, _) => rows.total_weight(),
            Table::Sparse(rows, _) => rows.total_weight(),
        }
    }

    /// Returns the number of rows of weight 0, which influence nothing.
    pub fn of_weight_zero(&self) -> usize {
        self.weights().map_or(0, |weights| weights.iter().filter(|&&weight| weight == 0.0).count())
    }

    /// Returns whether the rows are bits.
    pub fn are_bits(&self) -> bool {
        matches!(self.table, Table::Bits(..))
    }

    /// Returns the sparse rows as they were read, if they are sparse.
    pub fn sparse(&self) -> Option<&Sparse> {
        if let Table::Sparse(rows, _) = &self.table { Some(rows) } else { None }
    }

    /// Returns whether there are many columns with little information in each, as in rows of bits and sparse rows. If
    /// so, clusters are described by their marks.
    pub fn has_many_columns(&self) -> bool {
        self.are_bits() || self.sparse().is_some()
    }

    /// Returns whether the columns are longitude and latitude.
    pub fn is_sphere(&self) -> bool {
        matches!(self.kind, Kind::Sphere)
    }

    /// Returns whether columns were scaled.
    pub fn is_scaled(&self) -> bool {
        matches!(self.kind, Kind::Scaled(_) | Kind::Prepared)
    }

    /// Returns warnings about the rows that affect the meaning of their distances.
    pub fn warnings(&self) -> Vec<String> {
        // Bits and sparse rows need no warnings about scales and row counters. All bits have the same scale, and
        // columns of sparse rows differ because some columns are rarely set.
        let table = match &self.table {
            Table::Numbers(table) => table,
            Table::Bits(rows, _) => return reading_warnings(rows.name(), &[], Some(rows.ids())),
            Table::Sparse(rows, _) => {
                let mut warnings = reading_warnings(rows.name(), &[], rows.ids());
                if rows.unused() > 0 {
                    let (unused, name) = (counted(rows.unused() as u64, "column"), rows.name());
                    let all = grouped((rows.unused() + rows.dimension()) as u64);
                    warnings.push(format!("{name}: {unused} of {all} are 0 in all rows. Lehr leaves them out."));
                }
                return warnings;
            }
        };
        if let Some(origin) = &self.origin {
            let mut warnings: Vec<String> =
                origin.notes.iter().map(|note| format!("{}: {note}", table.name())).collect();
            if origin.preparation.scale == Scale::None {
                warnings.extend(Spreads::of(self.points()).differ());
            }
            return warnings;
        }
        let is_plain = matches!(self.kind, Kind::Plain);
        let order = if self.is_sphere() { geography::order_warning(table) } else { None };
        let mut warnings = match &self.told_of_gaps {
            Some([differ, counts]) => told(table, &self.left_out, is_plain, differ.clone(), counts.clone()),
            None => warnings_of(table, is_plain),
        };
        warnings.extend(order);
        warnings
    }

    /// Converts a centre to the units of the columns: to longitude and latitude in degrees on the sphere, or to
    /// unscaled columns.
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
            Kind::Prepared => {
                let mut center = center.to_vec();
                self.preparation().back(&mut center);
                center
            }
        }
    }

    /// Returns how the rows were prepared.
    fn preparation(&self) -> &Preparation {
        &self.origin.as_ref().expect("prepared rows have the table that they came from").preparation
    }

    /// Returns the number that is subtracted from each column of the points, and the number by which the column is then
    /// divided.
    pub fn shifts_and_divisors(&self) -> (Vec<f64>, Vec<f64>) {
        match &self.kind {
            Kind::Scaled(scaling) => (scaling.shifts().to_vec(), scaling.divisors().to_vec()),
            Kind::Prepared => {
                self.preparation().features.iter().map(|feature| (feature.shift, feature.divisor)).unzip()
            }
            Kind::Plain | Kind::Sphere => {
                let dimension = self.vectors().dimension();
                (vec![0.0; dimension], vec![1.0; dimension])
            }
        }
    }

    /// Returns the divisor of a column.
    pub fn divisor(&self, column: usize) -> f64 {
        match &self.kind {
            Kind::Scaled(scaling) => scaling.divisors()[column],
            Kind::Prepared => self.preparation().features[column].divisor,
            Kind::Plain | Kind::Sphere => 1.0,
        }
    }

    /// Converts a distance to the form in which it is reported: along the surface on the sphere, unchanged otherwise.
    pub fn distance(&self, distance: f64) -> f64 {
        match self.kind {
            Kind::Sphere => geography::arc_km(distance),
            _ => distance,
        }
    }

    /// Returns the unit of distances for display: `km`, or an empty text if the unit of the columns is unknown.
    pub fn unit(&self) -> &'static str {
        if self.is_sphere() { "km" } else { "" }
    }

    /// Returns the unit of temperatures, objective and free energy for display.
    pub fn unit_squared(&self) -> &'static str {
        if self.is_sphere() { "km²" } else { "" }
    }

    /// Returns the unit of distances for programs.
    pub fn unit_name(&self) -> &'static str {
        match self.kind {
            Kind::Plain => "unit of the columns",
            Kind::Sphere => "km",
            Kind::Scaled(_) | Kind::Prepared => "unit of the scaled columns",
        }
    }
}
