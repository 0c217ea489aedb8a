//! Converts tables to points, records and rows of bits, and back. Decides which columns are used and which values are
//! valid.

use std::borrow::Cow;

use lehr_data::error::{Column as ColumnOfFault, Fault as FaultOfRow, Faults, Place};
use lehr_data::read::fps::fingerprints_from;
use lehr_data::read::svmlight::rows_from;
use lehr_data::{Error, FingerprintKind, Fingerprints, Incomplete, Points, Sparse};
use lehr_services::Fault;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Kind, Table};

/// The text column with rows of bits, in hexadecimal as in FPS.
pub(crate) const FINGERPRINT: &str = "fingerprint";

/// The text column with sparse rows, as in SVMlight: `column:value`, separated by spaces.
pub(crate) const SPARSE: &str = "sparse";

/// The weights and ids of rows, if the table has them.
type Beside = (Option<Vec<f64>>, Option<Vec<String>>);

/// The columns of a table that are used as points, weights and ids.
///
/// # Example
/// ```
/// use lehr_jobs::{Columns, Table};
/// let table = Table::builder().numbers("lon", vec![8.5]).numbers("people", vec![3.0]).build()?;
/// let columns = Columns { weights: Some("people".into()), ..Columns::default() };
/// assert_eq!(table.points("sites", &columns)?.columns(), ["lon"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Columns {
    /// The columns of the points, in this order. Default: all numeric columns, except weights and ids.
    pub columns: Option<Vec<String>>,
    /// The column of weights. Default: the weights that the data set names, or none.
    pub weights: Option<String>,
    /// The column of ids. Default: the ids that the data set names, or none.
    pub id: Option<String>,
}

impl Table {
    /// Converts points to a table of ids, columns and weights.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`](lehr_services::Code::InvalidValue) if two columns have the same name.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::{Columns, Table};
    /// let points = lehr_data::Points::new(vec![0.0, 1.0, 2.0, 3.0], 2)?;
    /// let table = Table::of_points(&points)?;
    /// assert_eq!(table.points("points", &Columns::default())?.values(), points.values());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_points(points: &Points) -> Result<Self, Fault> {
        Self::of_points_named(points, None, None)
    }

    /// Converts points to a table whose columns of weights and ids have these names.
    pub(crate) fn of_points_named(points: &Points, weights: Option<&str>, id: Option<&str>) -> Result<Self, Fault> {
        let mut builder = Self::builder();
        if let Some(ids) = points.ids() {
            let name = id.unwrap_or("id").to_owned();
            builder = builder.texts(name.clone(), ids.to_vec()).id(Some(name));
        }
        for (index, name) in points.columns().iter().enumerate() {
            builder = builder.numbers(name.clone(), points.column(index).collect());
        }
        if let Some(values) = points.weights() {
            let name = weights.unwrap_or("weight").to_owned();
            builder = builder.numbers(name.clone(), values.to_vec()).weights(Some(name));
        }
        builder.build()
    }

    /// Converts records to a table of ids, and columns in which values may be missing.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`](lehr_services::Code::InvalidValue) if two columns have the same name.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::{Columns, Table};
    /// let records = lehr_data::Incomplete::new(vec![1.0, f64::NAN, 3.0, 8.0], 2)?;
    /// let table = Table::of_records(&records, None)?;
    /// assert!(table.has_gaps());
    /// assert_eq!(table.records("records", &Columns::default())?.missing(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_records(records: &Incomplete, id: Option<&str>) -> Result<Self, Fault> {
        let mut builder = Self::builder().gaps(true);
        if let Some(ids) = records.ids() {
            let name = id.unwrap_or("id").to_owned();
            builder = builder.texts(name.clone(), ids.to_vec()).id(Some(name));
        }
        for (index, name) in records.columns().iter().enumerate() {
            let column = (0..records.len()).map(|row| records.row(row)[index]).collect();
            builder = builder.numbers(name.clone(), column);
        }
        builder.build()
    }

    /// Returns the names of the wanted numeric columns, in the wanted order.
    fn chosen(&self, name: &str, columns: &Columns) -> Result<Vec<String>, Error> {
        let weights = columns.weights.as_deref().or(self.weights());
        let id = columns.id.as_deref().or(self.id());
        let is_number = |wanted: &str| self.columns().any(|(name, kind)| name == wanted && kind != Kind::Text);
        let chosen: Vec<String> = match &columns.columns {
            Some(columns) => columns.clone(),
            None => {
                let free = self.columns().filter(|(name, _)| Some(*name) != weights && Some(*name) != id);
                free.filter(|(name, _)| is_number(name)).map(|(name, _)| name.to_owned()).collect()
            }
        };
        if chosen.is_empty() {
            return Err(Error::Empty { name: name.to_owned(), found: "no numeric column" });
        }
        let names: Vec<String> = self.columns().map(|(name, _)| name.to_owned()).collect();
        let wanted = chosen.iter().map(String::as_str).chain(weights).chain(id);
        let missing: Vec<String> =
            wanted.filter(|wanted| !names.iter().any(|name| name == wanted)).map(str::to_owned).collect();
        if !missing.is_empty() {
            return Err(Error::NoSuchColumns { name: name.to_owned(), wanted: missing, columns: names });
        }
        if let Some(text) = chosen.iter().map(String::as_str).chain(weights).find(|column| !is_number(column)) {
            let (what, found) = (format!("{name}, column {text:?}"), "text".to_owned());
            return Err(Error::Shape { what, expected: "numbers".to_owned(), found });
        }
        if let Some(at) = (1..chosen.len()).find(|at| chosen[..*at].contains(&chosen[*at])) {
            return Err(Error::RepeatedColumn { name: name.to_owned(), column: chosen[at].clone() });
        }
        Ok(chosen)
    }

    /// Returns the rows as points. A role that `columns` does not name is taken from the table. If `columns` names no
    /// columns, all numeric columns are used.
    ///
    /// # Errors
    /// Returns the errors of `lehr-data`, with their rows: a column that does not exist or is text; numbers that are
    /// not finite; invalid weights.
    pub fn points(&self, name: &str, columns: &Columns) -> Result<Points, Error> {
        let weights = columns.weights.as_deref().or(self.weights());
        let id = columns.id.as_deref().or(self.id());
        let chosen = self.chosen(name, columns)?;
        let names: Vec<String> = self.columns().map(|(name, _)| name.to_owned()).collect();
        if self.rows() == 0 {
            return Err(Error::Empty { name: name.to_owned(), found: "no rows" });
        }
        let values: Vec<Cow<'_, [f64]>> = chosen.iter().filter_map(|column| self.numbers(column)).collect();
        let mut faults = Faults::new(name);
        for row in 0..self.rows() {
            for (column, values) in chosen.iter().zip(&values) {
                if !values[row].is_finite() {
                    let index = names.iter().position(|name| name == column).unwrap_or_default();
                    faults.add_with(|| FaultOfRow {
                        place: Place::Row(row as u64),
                        column: Some(ColumnOfFault { index, name: Some(column.clone()) }),
                        expected: "a finite number".to_owned(),
                        found: values[row].to_string(),
                    });
                }
            }
        }
        faults.or(())?;
        let flat = (0..self.rows()).flat_map(|row| values.iter().map(move |column| column[row])).collect();
        let mut points = Points::new(flat, chosen.len())?.with_columns(chosen)?.with_name(name);
        if let Some(weights) = weights.and_then(|weights| self.numbers(weights)) {
            points = points.with_weights(weights.into_owned())?;
        }
        if let Some(ids) = id.and_then(|id| self.texts(id)) {
            points = points.with_ids(ids)?;
        }
        Ok(points)
    }

    /// Returns the rows as records, in which values may be missing. The columns are chosen as for
    /// [`points`](Self::points), without weights and ids.
    ///
    /// # Errors
    /// Returns the errors of `lehr-data`: a column that does not exist or is text; infinite numbers, with their rows.
    pub fn records(&self, name: &str, columns: &Columns) -> Result<Incomplete, Error> {
        let chosen = self.chosen(name, columns)?;
        if self.rows() == 0 {
            return Err(Error::Empty { name: name.to_owned(), found: "no rows" });
        }
        let values: Vec<Cow<'_, [f64]>> = chosen.iter().filter_map(|column| self.numbers(column)).collect();
        let flat = (0..self.rows()).flat_map(|row| values.iter().map(move |column| column[row])).collect();
        Incomplete::named(flat, chosen, name)
    }

    /// Returns whether the rows are bits: the table has a text column `fingerprint`.
    pub(crate) fn has_fingerprints(&self) -> bool {
        self.columns().any(|(name, kind)| name == FINGERPRINT && kind == Kind::Text)
    }

    /// Returns the rows as bits, from the hexadecimal digits of the column `fingerprint`: two digits give eight bits.
    /// Rows of 42 digits are MACCS keys of 167 bits, unless the last bit is set. Weights and ids are chosen as for
    /// [`points`](Self::points). Without ids, rows are numbered.
    ///
    /// # Errors
    /// Returns the errors of `lehr-data`, with their rows: no such column; rows of different lengths or with invalid
    /// digits; invalid weights.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::{Columns, Table};
    /// let keys = ["0f", "03"].map(String::from).to_vec();
    /// let table = Table::builder().texts("fingerprint", keys).numbers("doses", vec![1.0, 3.0]).build()?;
    /// let columns = Columns { weights: Some("doses".into()), ..Columns::default() };
    /// let rows = table.fingerprints("compounds", &columns)?;
    /// assert_eq!((rows.bits(), rows.count(0), rows.weight(1)), (8, 4, 3.0));
    /// for (last, bits) in [("7f", 167), ("80", 168)] {
    ///     let table = Table::builder().texts("fingerprint", vec![format!("{}{last}", "0".repeat(40))]).build()?;
    ///     assert_eq!(table.fingerprints("keys", &Columns::default())?.bits(), bits);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn fingerprints(&self, name: &str, columns: &Columns) -> Result<Fingerprints, Error> {
        let (weights, ids) = self.beside(FINGERPRINT, name, columns)?;
        let mut rows = self.hexadecimal(name)?;
        if let Some(weights) = weights {
            rows = rows.with_weights(weights)?;
        }
        match ids {
            Some(ids) => rows.with_ids(ids),
            None => Ok(rows),
        }
    }

    /// Returns whether the rows are sparse: the table has a text column `sparse`.
    pub(crate) fn has_sparse(&self) -> bool {
        self.columns().any(|(name, kind)| name == SPARSE && kind == Kind::Text)
    }

    /// Returns the sparse rows of the column `sparse`, which has fields `column:value` separated by spaces, as in
    /// SVMlight. Weights and ids are chosen as for [`points`](Self::points).
    ///
    /// # Errors
    /// Returns the errors of `lehr-data`, with their rows: no such column; invalid fields; invalid weights.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::{Columns, Table};
    /// let texts = ["1:0.5 7:2", ""].map(String::from).to_vec();
    /// let rows = Table::builder().texts("sparse", texts).build()?.sparse("texts", &Columns::default())?;
    /// assert_eq!((rows.len(), rows.dimension(), rows.nonzeros()), (2, 7, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sparse(&self, name: &str, columns: &Columns) -> Result<Sparse, Error> {
        let (weights, ids) = self.beside(SPARSE, name, columns)?;
        // Lines of SVMlight begin with a class, so add one.
        let lines: String = self.texts(SPARSE).unwrap_or_default().iter().map(|text| format!("0 {text}\n")).collect();
        let mut rows = rows_from(lines.as_bytes(), name, None)?;
        if let Some(weights) = weights {
            rows = rows.with_weights(weights)?;
        }
        match ids {
            Some(ids) => rows.with_ids(ids),
            None => Ok(rows),
        }
    }

    /// Returns the weights and ids of a table whose rows are in one text column.
    fn beside(&self, own: &str, name: &str, columns: &Columns) -> Result<Beside, Error> {
        let weights = columns.weights.as_deref().or(self.weights());
        let id = columns.id.as_deref().or(self.id());
        let names: Vec<String> = self.columns().map(|(name, _)| name.to_owned()).collect();
        let wanted = [Some(own), weights, id].into_iter().flatten();
        let missing: Vec<String> =
            wanted.filter(|wanted| !names.iter().any(|name| name == wanted)).map(str::to_owned).collect();
        if !missing.is_empty() {
            return Err(Error::NoSuchColumns { name: name.to_owned(), wanted: missing, columns: names });
        }
        let numbers = |column: &str| {
            let text = || Error::Shape {
                what: format!("{name}, column {column:?}"),
                expected: "numbers".to_owned(),
                found: "text".to_owned(),
            };
            self.numbers(column).map(Cow::into_owned).ok_or_else(text)
        };
        Ok((weights.map(numbers).transpose()?, id.and_then(|id| self.texts(id))))
    }

    /// Returns the column `fingerprint` as fingerprints with row numbers as ids.
    pub(crate) fn hexadecimal(&self, name: &str) -> Result<Fingerprints, Error> {
        let texts = self.texts(FINGERPRINT).unwrap_or_default();
        let mut lines: String = texts.iter().enumerate().map(|(row, text)| format!("{text}\t{row}\n")).collect();
        if !texts.is_empty() && texts.iter().all(|text| are_keys(text)) {
            lines.insert_str(0, &format!("#num_bits={}\n", FingerprintKind::Maccs.bits()));
        }
        fingerprints_from(lines.as_bytes(), name)
    }
}

/// Returns whether a text may be the MACCS keys of a molecule, whose 167 bits leave the last bit of 21 bytes free. The
/// text must have no fault, because faults name its line.
fn are_keys(text: &str) -> bool {
    let high = |byte: &u8| char::from(*byte).to_digit(16).is_some_and(|digit| digit < 8);
    text.len() == 42 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) && text.as_bytes().get(40).is_some_and(high)
}
