//! Reads text tables into points: detects the columns and the header, and reports every invalid field.
//!
//! The first [`SAMPLE_ROWS`] rows decide whether there is a header, before any number is stored. If no columns were
//! requested, they also decide which columns are numeric. Then rows are read one at a time.
//!
//! - **Header.** `header.rs` decides whether the first row has names.
//! - **Numeric columns.** A column is numeric if any of the first rows has a number in it. A column without numbers
//!   there that has numbers in more than half of all rows is reported as a fault. Other columns are left out, and
//!   reported with an example value each ([`LeftOut`]). If values may be missing, a column whose first rows are all
//!   missing is still numeric if numbers follow and no text does.

use std::collections::HashSet;

use lehr_spill::{Builder, Spill, Storage};

use crate::error::{Column, Error, Fault, Faults, Place, quoted};
use crate::frame::NumberForm;
use crate::incomplete::Incomplete;
use crate::left_out::LeftOut;
use crate::points::{Points, total_weight_fault, weight_fault};
use crate::read::Selection;
use crate::read::header::{has_header, note_on_counts};
use crate::read::layout;
use crate::read::records::{Quoting, Record, Records};
use crate::read::rounded::Rounded;
use crate::read::slip;
use crate::read::source::Source;

/// The number of rows that decide about the header and numeric columns.
pub const SAMPLE_ROWS: usize = 100;

/// The spellings of a missing value in files.
pub const MISSING: [&str; 16] =
    ["", "?", "-", ".", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "nil", "inf", "-inf", "+inf", "missing"];

/// The reason why a table is not read as plain numbers.
pub(super) enum Refused {
    /// The table has an error.
    Wrong(Error),
    /// The values may not be plain numbers, for example because a point may be a thousands separator.
    Doubtful,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused::Wrong(error)
    }
}

/// Reads points, with their values in memory or in a file of a folder.
pub(super) fn points(source: Source<'_>, selection: &Selection, spill: Option<&Spill>) -> Result<Points, Refused> {
    Ok(table(source, selection, false, spill)?.into_points()?)
}

/// Reads rows with missing values: the texts of [`MISSING`], except infinite values, mark them.
pub(super) fn incomplete(source: Source<'_>, selection: &Selection) -> Result<Incomplete, Refused> {
    Ok(table(source, selection, true, None)?.into_incomplete()?)
}

fn table(source: Source<'_>, selection: &Selection, has_gaps: bool, spill: Option<&Spill>) -> Result<Table, Refused> {
    let Begun { mut records, sample, mut table, is_title } = begun(source, selection, has_gaps, spill)?;
    // If commas do not separate fields, a point may be a decimal or a thousands separator.
    let may_be_thousands = |column: &usize| {
        let fields =
            || sample.iter().filter_map(|row| row.field(*column)).map(str::trim).filter(|field| field.contains('.'));
        fields().next().is_some() && fields().all(are_thousands)
    };
    if records.delimiter() != b',' && table.layout.columns.iter().any(may_be_thousands) {
        return Err(Refused::Doubtful);
    }
    // Rows of empty fields are left out with a warning, not read as rows without values. They may also end the table.
    let is_empty = |record: &Record| record.len() > 1 && record.fields().all(|field| field.trim().is_empty());
    let mut has_empty = false;
    for record in &sample {
        has_empty |= is_empty(record);
        table.add(record)?;
    }
    let mut record = sample.last().cloned().unwrap_or_default();
    while records.read(&mut record)? {
        has_empty |= is_empty(&record);
        table.add(&record)?;
    }
    // A last row with totals is not a row of data.
    let is_total = record.fields().map(str::trim).find(|field| !field.is_empty()).is_some_and(layout::is_total);
    // A spreadsheet's first line may name the delimiter.
    let first = match table.layout.has_header {
        true => table.layout.names.first().map(String::as_str),
        false => sample.first().and_then(|row| row.field(0)),
    };
    let is_delimiter = first.is_some_and(names_delimiter);
    let table = table.checked()?;
    let has_slip = table.layout.left_out.iter().any(|aside| slip(&aside.example).is_some());
    if is_total || has_empty || is_delimiter || is_title || has_slip || (table.has_codes && selection.columns.is_none())
    {
        return Err(Refused::Doubtful);
    }
    Ok(table)
}

/// Returns whether a text begins like the line `sep=;`, by which spreadsheets name the delimiter.
pub(super) fn names_delimiter(text: &str) -> bool {
    text.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("sep="))
}

/// Returns whether the point of a number may be a thousands separator: `1.234`.
fn are_thousands(field: &str) -> bool {
    let whole = field.trim_start_matches('-').split_once('.');
    whole.is_some_and(|(whole, rest)| {
        (1..=3).contains(&whole.len())
            && !whole.starts_with('0')
            && rest.len() == 3
            && rest.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// A table with a known layout and no rows.
struct Begun<'a> {
    /// The reader of the records after the sample.
    records: Records<'a>,
    /// The records that the layout was derived from, without the header.
    sample: Vec<Record>,
    table: Table,
    /// Whether the first record has a single text and otherwise empty fields, as a title above a table has in a
    /// spreadsheet.
    is_title: bool,
}

/// Derives the layout of a table from its first records.
fn begun<'a>(
    source: Source<'a>,
    selection: &Selection,
    has_gaps: bool,
    spill: Option<&Spill>,
) -> Result<Begun<'a>, Error> {
    let mut records = Records::new(source, selection.delimiter)?;
    let mut sample = Vec::new();
    let mut record = Record::default();
    while sample.len() <= SAMPLE_ROWS && records.read(&mut record)? {
        sample.push(record.clone());
    }
    let empty = |found| Err(Error::Empty { name: records.name().into(), found });
    let Some(first) = sample.first() else {
        return empty("an empty file");
    };
    let has_header = has_header(records.name(), &sample, selection)?;
    if has_header && sample.len() == 1 {
        // A missing name is reported first, because a longer file would lack it too.
        Layout::new(
            records.name(),
            &sample,
            true,
            &Selection { columns: selection.columns.clone().or(Some(vec![])), ..selection.clone() },
        )?;
        return empty("a header and no rows");
    }
    let mut layout = Layout::new(records.name(), &sample, has_header, selection)?;
    if has_gaps {
        layout.wait_for_numbers(&sample[usize::from(has_header)..]);
    }
    let table = Table::new(records.name(), first.len(), layout, has_gaps, Builder::new(spill, 0)?);
    let is_title = first.len() > 2 && first.fields().filter(|field| !field.trim().is_empty()).count() == 1;
    sample.drain(..usize::from(has_header));
    Ok(Begun { records, sample, table, is_title })
}

/// The layout of a text's rows, derived from the first rows, for a text that is read in parts.
pub(super) struct Written {
    pub delimiter: u8,
    pub quoting: Quoting,
    /// The number of lines before the first row.
    pub lines: usize,
    pub has_header: bool,
    pub names: Vec<String>,
    pub columns: Vec<usize>,
    /// The notations of the columns' numbers, and then of the weights; `None` for plain numbers.
    pub forms: Vec<Option<NumberForm>>,
    pub weights: Option<usize>,
    pub id: Option<usize>,
    pub left_out: Vec<Aside>,
    pub notes: Vec<String>,
}

/// The rows of a text, in batches.
pub(super) struct Rows<'a> {
    records: Records<'a>,
    /// The remaining records that the layout was derived from.
    sample: std::vec::IntoIter<Record>,
    record: Record,
    table: Table,
    /// Whether any row had a positive weight.
    has_weight: bool,
    is_over: bool,
}

impl<'a> Rows<'a> {
    pub fn new(source: Source<'a>, selection: &Selection) -> Result<Self, Error> {
        let Begun { records, sample, mut table, .. } = begun(source, selection, false, None)?;
        table.leaves_weightless = true;
        let (sample, record) = (sample.into_iter(), Record::default());
        Ok(Rows { records, sample, record, table, has_weight: false, is_over: false })
    }

    /// Reads the rows after the leading lines, with known columns and notations.
    pub fn written(source: Source<'a>, written: Written) -> Result<Self, Error> {
        let Written { delimiter, quoting, lines, has_header, names, columns, forms, weights, id, left_out, notes } =
            written;
        let mut records = Records::new(source, Some(delimiter))?.with_quoting(quoting);
        records.skip_lines(lines)?;
        let (width, unknown) = (names.len(), Vec::new());
        let row_names = None;
        let layout = Layout { names, has_header, columns, forms, weights, id, left_out, unknown, row_names, notes };
        let mut table = Table::new(records.name(), width, layout, false, Builder::new(None, 0)?);
        table.leaves_weightless = true;
        let (sample, record) = (Vec::new().into_iter(), Record::default());
        Ok(Rows { records, sample, record, table, has_weight: false, is_over: false })
    }

    /// Returns the share of the file that was read.
    pub fn fraction(&self) -> Option<f64> {
        self.records.fraction()
    }

    /// Returns the next rows of positive weight, at most `rows` of them; `None` at the end.
    ///
    /// # Errors
    /// Returns the errors of reading, and faults in these rows. At the end, also returns faults that concern all rows.
    pub fn next(&mut self, rows: usize) -> Result<Option<Points>, Error> {
        while self.table.kept < rows {
            match self.sample.next() {
                Some(record) => self.record = record,
                None if self.records.read(&mut self.record)? => {}
                None => break,
            }
            if !self.table.layout.is_header(&self.record) {
                self.table.add(&self.record)?;
            }
        }
        if self.table.kept > 0 {
            self.has_weight = true;
            return self.table.taken().map(Some);
        }
        if self.table.faults.is_empty() && !self.is_over {
            self.table.look_at_columns_left_out();
            if !self.has_weight {
                self.table.look_at_the_total_weight();
            }
        }
        self.is_over = true;
        let name = self.records.name();
        std::mem::replace(&mut self.table.faults, Faults::new(name)).or(None)
    }
}

/// Returns whether a field marks a missing value.
pub(super) fn is_gap(field: &str) -> bool {
    let field = field.trim().to_lowercase();
    MISSING.contains(&field.as_str()) && !field.ends_with("inf")
}

/// Shows a field that should be a number. Gives the reason if only a comma keeps the field from being a number.
fn shown(field: &str) -> String {
    let why = slip(field).map(|why| format!(", {why}")).unwrap_or_default();
    format!("{}{why}", quoted(field))
}

/// Returns the number in a field, if it is a finite number; spaces around it are ignored.
pub(super) fn number(field: &str) -> Option<f64> {
    field.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

/// Returns whether a field is an infinite number, as a word (`Infinity`) or by its digits (`1e400`).
pub(crate) fn is_infinite(field: &str) -> bool {
    field.trim().parse::<f64>().is_ok_and(f64::is_infinite)
}

/// Returns whether a field is a number with a leading zero, which programs do not write.
fn is_code(field: &str) -> bool {
    let bytes = field.as_bytes();
    bytes.len() > 1 && bytes[0] == b'0' && bytes[1] != b'.' && bytes.iter().all(u8::is_ascii_digit)
}

/// Returns whether a field is a name, as opposed to a mistyped number. The mark of a missing value is not a name.
/// Beside true numbers, text that begins like a number is not a name either.
pub(super) fn is_name(field: &str, is_beside_numbers: bool) -> bool {
    let begins_as_number = field.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.'));
    let is_number_gone_wrong = is_beside_numbers && begins_as_number;
    !is_number_gone_wrong && !MISSING.contains(&field.to_lowercase().as_str()) && !is_infinite(field)
}

pub(super) fn is_numeric(rows: &[Record], column: usize) -> bool {
    rows.iter().any(|row| row.field(column).is_some_and(|field| number(field).is_some()))
}

/// The description of a first column without a name that numbers the rows.
pub(super) const ROW_NUMBERS: &str = "numbers of the rows, as an index of pandas";

/// Returns whether fields number the rows: they are different whole numbers.
pub(super) fn are_row_numbers<'a>(fields: impl Iterator<Item = Option<&'a str>>) -> bool {
    let mut seen = HashSet::new();
    let mut fields = fields.peekable();
    fields.peek().is_some()
        && fields.all(|field| {
            field.and_then(|field| field.trim().parse::<u64>().ok()).is_some_and(|number| seen.insert(number))
        })
}

/// The roles of the columns.
struct Layout {
    /// The names of all columns of the file; `x0`, `x1`, … without a header.
    names: Vec<String>,
    has_header: bool,
    columns: Vec<usize>,
    /// The notations of the chosen columns' numbers, and then of the weights; `None` for plain numbers. Empty if all
    /// notations are plain.
    forms: Vec<Option<NumberForm>>,
    weights: Option<usize>,
    id: Option<usize>,
    /// The columns that were left out because they looked like text, with the count of numbers seen in each.
    left_out: Vec<Aside>,
    /// The chosen columns (in `columns`) that had only missing values in the first rows, with the count of texts seen
    /// in each since then.
    unknown: Vec<Aside>,
    /// The column that numbers the rows and is left out, with its first value.
    row_names: Option<Aside>,
    /// Decisions from the first rows, for the user.
    notes: Vec<String>,
}

/// A column that is not numeric, or may not be.
#[derive(Clone)]
pub(super) struct Aside {
    pub column: usize,
    /// The count so far. `None` if the first rows showed that the column is not numeric although it has numbers, such
    /// as codes.
    pub count: Option<u64>,
    /// The first text in the column; empty if only missing values were seen.
    pub example: String,
}

impl Aside {
    fn new(column: usize, rows: &[Record]) -> Self {
        let mut aside = Aside { column, count: Some(0), example: String::new() };
        rows.iter().filter_map(|row| row.field(column)).for_each(|field| aside.look(field));
        aside
    }

    fn add(&mut self, seen: u64) {
        self.count = self.count.map(|count| count + seen);
    }

    fn look(&mut self, field: &str) {
        if self.example.is_empty() && !is_gap(field) {
            self.example = field.trim().to_owned();
        }
    }
}

/// Returns the error for a table without a numeric column. Without numbers, it is unclear whether its first row has
/// names.
fn no_numbers(source: &str, sample: &[Record], has_header: bool, names: &[String], left_out: &[Aside]) -> Error {
    let shown = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let is_structure = |field: &str| looks_like_smiles(field.trim());
    let structures = (0..names.len()).find(|&column| {
        sample.iter().skip(1).filter_map(|row| row.field(column)).all(is_structure) && sample.len() > 1
    });
    let mut found = match structures {
        // The first row may just as well have the names of the columns.
        Some(column) => {
            let example = sample.last().and_then(|row| row.field(column)).unwrap_or_default();
            format!(
                "structures in SMILES ({}); a file that ends in .smi, with a structure and a name a line, is read as molecules",
                quoted(example)
            )
        }
        None if has_header => format!("none among the columns {shown}"),
        None => format!("none in line {}, {shown}, or below", sample[0].line),
    };
    if let Some((aside, why)) = left_out.iter().find_map(|aside| Some((aside, slip(&aside.example)?))) {
        found.push_str(&format!("; {:?} has {}, {why}", names[aside.column], quoted(&aside.example)));
    }
    Error::Format { name: source.into(), expected: "a column of numbers".into(), found }
}

/// Returns whether a text looks like a structure in SMILES: atoms, bonds, rings and branches. It must have at least two
/// carbon atoms or a bond. Words of a language have other letters.
fn looks_like_smiles(text: &str) -> bool {
    let text = text.split_ascii_whitespace().next().unwrap_or_default();
    let is_plain =
        text.bytes().all(|byte| byte.is_ascii_digit() || b"BCNOPSFIHbcnopslr[]()=#@+-/\\%.:*".contains(&byte));
    let carbons = text.bytes().filter(|byte| matches!(byte, b'C' | b'c')).count();
    let begins = text.starts_with(['C', 'N', 'O', 'S', 'P', 'B', 'F', 'I', 'c', 'n', 'o', 's', '[']);
    is_plain && begins && (carbons >= 2 || carbons == 1 && text.contains(['=', '#', '(', 'O', 'N']))
}

/// Returns whether a name of a header is the name of a column. The column's name ends with a number if the header has
/// the name more than once.
fn is_name_of(given: &str, name: &str) -> bool {
    let is_number = |rest: &str| rest.strip_prefix(' ').is_some_and(|number| number.parse::<usize>().is_ok());
    name == given || name.strip_prefix(given).is_some_and(is_number)
}

impl Layout {
    fn new(source: &str, sample: &[Record], has_header: bool, selection: &Selection) -> Result<Self, Error> {
        let first = &sample[0];
        let given: Vec<String> = if has_header {
            first.fields().map(|field| field.trim().to_string()).collect()
        } else {
            (0..first.len()).map(|index| format!("x{index}")).collect()
        };
        let mut names = layout::distinct(&given, |index| format!("x{index}"));
        // Columns without a name stay without one.
        names.iter_mut().zip(&given).filter(|(_, given)| given.is_empty()).for_each(|(name, _)| name.clear());
        let super::SelectedColumns { columns: chosen, weights, id } =
            super::SelectedColumns::of(source, selection, &names)?;
        let (mut left_out, mut row_names) = (Vec::new(), None);
        let columns = if let Some(chosen) = chosen {
            chosen
        } else {
            let rows = &sample[usize::from(has_header)..];
            let is_free = |column: &usize| Some(*column) != id && Some(*column) != weights;
            let number_rows = has_header && names.len() > 1 && names[0].is_empty() && is_free(&0);
            if number_rows && are_row_numbers(rows.iter().map(|row| row.field(0))) {
                row_names = Some(Aside::new(0, rows));
            }
            let free = (usize::from(row_names.is_some())..names.len()).filter(is_free);
            let (numeric, text): (Vec<_>, Vec<_>) = free.partition(|column| is_numeric(rows, *column));
            left_out.extend(text.into_iter().map(|column| Aside::new(column, rows)));
            if numeric.is_empty() {
                return Err(no_numbers(source, sample, has_header, &names, &left_out));
            }
            numeric
        };
        let (forms, unknown) = (Vec::new(), Vec::new());
        let notes = columns.iter().filter_map(|&column| layout::renamed(column, &given[column], &names[column]));
        let is_doubtful = !has_header && selection.header.is_none();
        let doubt = is_doubtful.then(|| note_on_counts(first, &sample[1..])).flatten();
        let notes = doubt.into_iter().chain(notes).collect();
        Ok(Layout { names, has_header, columns, forms, weights, id, left_out, unknown, row_names, notes })
    }

    /// Returns the columns that were left out, as results report them.
    fn left_out(&self) -> Vec<LeftOut> {
        let told = |aside: &Aside| LeftOut {
            column: self.names[aside.column].clone(),
            example: aside.example.clone(),
            slip: slip(&aside.example),
            kind: None,
        };
        let index = self.row_names.as_ref().map(|aside| LeftOut { kind: Some(ROW_NUMBERS.into()), ..told(aside) });
        index.into_iter().chain(self.left_out.iter().map(told)).collect()
    }

    /// Returns whether a row repeats the header, as when tables with the same header follow each other. A row that may
    /// be data is not a repeated header.
    fn is_header(&self, record: &Record) -> bool {
        self.has_header
            && record.len() == self.names.len()
            && record.fields().zip(&self.names).all(|(field, name)| is_name_of(field.trim(), name))
            && self.columns.iter().any(|column| number(&self.names[*column]).is_none())
    }

    /// Adds columns that were left out although the first rows have no text in them.
    fn wait_for_numbers(&mut self, rows: &[Record]) {
        let is_empty = |column: usize| rows.iter().all(|row| row.field(column).is_none_or(is_gap));
        let (unknown, text): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.left_out).into_iter().partition(|aside| is_empty(aside.column));
        // Chosen columns have their own order, and none of them is left out.
        if !unknown.is_empty() {
            self.columns.extend(unknown.iter().map(|aside| aside.column));
            self.columns.sort_unstable();
        }
        (self.unknown, self.left_out) = (unknown, text);
    }
}

/// The rows read so far, and their faults.
struct Table {
    layout: Layout,
    /// The number of fields in each row of the file.
    width: usize,
    rows: u64,
    values: Builder<f64>,
    weights: Vec<f64>,
    ids: Vec<String>,
    faults: Faults,
    /// The values of the row that is being added.
    fields: Vec<f64>,
    /// Whether fields may mark missing values.
    has_gaps: bool,
    /// Whether rows of weight 0 are checked but not kept.
    leaves_weightless: bool,
    /// The number of rows that are kept, plus the rows that a fault prevented from being kept.
    kept: usize,
    /// Whether any number has a leading zero, as codes have.
    has_codes: bool,
    rounded: Rounded,
}

impl Table {
    fn new(source: &str, width: usize, layout: Layout, has_gaps: bool, values: Builder<f64>) -> Self {
        let (faults, fields) = (Faults::new(source), Vec::new());
        let (weights, ids) = (Vec::new(), Vec::new());
        let (leaves_weightless, kept, has_codes) = (false, 0, false);
        Table {
            layout,
            width,
            rows: 0,
            values,
            weights,
            ids,
            faults,
            fields,
            has_gaps,
            leaves_weightless,
            kept,
            has_codes,
            rounded: Rounded::default(),
        }
    }

    fn add(&mut self, record: &Record) -> Result<(), Error> {
        let (width, layout) = (self.width, &self.layout);
        let is_first = self.rows == 0 && !layout.has_header;
        // Blank lines before the first row are harmless, and blank lines at the end are not passed to this function.
        let blank_lines = if is_first { 0 } else { record.blank_lines_before };
        for line in record.line - blank_lines..record.line {
            let expected = || plural(width, "field");
            self.faults.add_with(|| fault(Place::Line(line), None, expected(), "an empty line".into()));
        }
        self.rows += 1;
        self.kept += 1;
        if record.len() != width {
            let found = record.len().to_string();
            self.faults.add_with(|| fault(Place::Line(record.line), None, plural(width, "field"), found));
            return Ok(());
        }
        let Layout { ref names, has_header, ref columns, ref forms, weights, id, ref mut unknown, .. } = self.layout;
        let number = |place: usize, field: &str| match forms.get(place) {
            Some(Some(form)) => form.number(field),
            _ => number(field),
        };
        let column = |index: usize| Column { index, name: has_header.then(|| names[index].clone()) };
        self.fields.clear();
        for (place, index) in columns.iter().enumerate() {
            let field = record.field(*index).unwrap_or_default();
            self.has_codes |= is_code(field);
            self.rounded.look(*index, field);
            let value = number(place, field).unwrap_or_else(|| {
                if self.has_gaps && is_gap(field) {
                    return f64::NAN;
                }
                if let Some(aside) = unknown.iter_mut().find(|aside| aside.column == *index) {
                    aside.add(1);
                    aside.look(field);
                    return f64::NAN;
                }
                let (place, expected) = (Place::Line(record.line), "a finite number".into());
                if is_gap(field) {
                    self.faults.add_gap_with(|| fault(place, Some(column(*index)), expected, quoted(field)));
                } else {
                    self.faults.add_with(|| fault(place, Some(column(*index)), expected, shown(field)));
                }
                0.0
            });
            self.fields.push(value);
        }
        let weight = weights.map(|index| {
            let field = record.field(index).unwrap_or_default();
            let weight = number(columns.len(), field).unwrap_or(f64::NAN);
            if let Some(expected) = weight_fault(weight) {
                let (place, expected) = (Place::Line(record.line), expected.into());
                self.faults.add_with(|| fault(place, Some(column(index)), expected, quoted(field)));
            }
            weight
        });
        for aside in &mut self.layout.left_out {
            let field = record.field(aside.column).unwrap_or_default();
            aside.add(u64::from(super::csv::number(field).is_some()));
            aside.look(field);
        }
        if self.leaves_weightless && weight == Some(0.0) {
            self.kept -= 1;
            return Ok(());
        }
        self.weights.extend(weight);
        if let Some(index) = id {
            self.ids.push(record.field(index).unwrap_or_default().to_string());
        }
        // If there are faults, the values are not needed.
        if self.faults.is_empty() {
            self.values.extend(&self.fields).map_err(|error| Error::kept(self.faults.name(), error))?;
        }
        Ok(())
    }

    /// Leaves out the columns that turned out to have text, or no values at all.
    fn settle(&mut self) {
        // Only rows with missing values have undecided columns, and these rows are in memory.
        let Builder::Memory(values) = &mut self.values else { return };
        let (width, columns) = (self.layout.columns.len(), self.layout.columns.clone());
        let numbers =
            |place: usize| values.iter().skip(place).step_by(width).filter(|value| !value.is_nan()).count() as u64;
        let mut keeps = vec![true; width];
        for Aside { column, count: texts, example } in std::mem::take(&mut self.layout.unknown) {
            let place = columns.iter().position(|known| *known == column).expect("an unknown column is among all");
            let numbers = numbers(place);
            if texts != Some(0) || numbers == 0 {
                keeps[place] = false;
                self.layout.left_out.push(Aside { column, count: Some(numbers), example });
            }
        }
        self.layout.left_out.sort_unstable_by_key(|aside| aside.column);
        if keeps.contains(&false) {
            let mut place = 0..values.len();
            values.retain(|_| place.next().is_some_and(|place| keeps[place % width]));
            let mut place = 0..width;
            self.layout.columns.retain(|_| place.next().is_some_and(|place| keeps[place]));
        }
    }

    /// Returns the table, if there are no faults.
    fn checked(mut self) -> Result<Self, Error> {
        // Rows with faults have no values, so there is no table to complete.
        if self.faults.is_empty() {
            self.settle();
        }
        self.look_at_columns_left_out();
        self.look_at_the_total_weight();
        if self.faults.is_empty() { Ok(self) } else { Err(Error::Faults(self.faults)) }
    }

    /// Returns a column as messages show it.
    fn column(&self, index: usize) -> Option<Column> {
        let Layout { names, has_header, .. } = &self.layout;
        Some(Column { index, name: has_header.then(|| names[index].clone()) })
    }

    fn look_at_columns_left_out(&mut self) {
        for Aside { column: index, count, .. } in &self.layout.left_out {
            let numbers = count.unwrap_or(0);
            if numbers * 2 > self.rows {
                let expected =
                    format!("a number in the first {SAMPLE_ROWS} rows of a numeric column, or a choice of columns");
                let found = format!("none there, and numbers in {numbers} of {} rows", self.rows);
                let column = self.column(*index);
                self.faults.add(fault(Place::Whole, column, expected, found));
            }
        }
    }

    fn look_at_the_total_weight(&mut self) {
        if let (Some(index), true) = (self.layout.weights, self.faults.is_empty())
            && let Some((expected, found)) = total_weight_fault(&self.weights, self.rows as usize)
        {
            let column = self.column(index);
            self.faults.add(fault(Place::Whole, column, expected, found));
        }
    }

    /// Adds notes about the rows so far.
    fn note(&mut self) {
        let Layout { names, columns, notes, .. } = &mut self.layout;
        notes.extend(self.rounded.notes(|column| columns.contains(&column).then(|| names[column].as_str())));
    }

    fn into_points(mut self) -> Result<Points, Error> {
        self.note();
        points_of(&self.layout, self.faults.name(), self.values.finish()?, self.weights, self.ids)
    }

    /// Returns the rows kept since the last call, if no row read since the last call had a fault.
    fn taken(&mut self) -> Result<Points, Error> {
        self.look_at_the_total_weight();
        self.note();
        let name = self.faults.name().to_owned();
        let faults = std::mem::replace(&mut self.faults, Faults::new(&*name));
        let values = std::mem::replace(&mut self.values, Builder::new(None, 0)?).finish()?;
        let (weights, ids) = (std::mem::take(&mut self.weights), std::mem::take(&mut self.ids));
        self.kept = 0;
        faults.or(())?;
        points_of(&self.layout, &name, values, weights, ids)
    }

    fn into_incomplete(mut self) -> Result<Incomplete, Error> {
        self.note();
        let names = self.layout.columns.iter().map(|index| self.layout.names[*index].clone()).collect();
        let ids = self.layout.id.is_some().then_some(self.ids);
        let values = match self.values.finish()? {
            Storage::Memory(values) => values,
            Storage::File(values) => values.to_vec(),
        };
        let rows = Incomplete::named(values, names, self.faults.name())?.with_left_out(self.layout.left_out());
        Ok(rows.with_read_ids(ids).with_notes(self.layout.notes))
    }
}

/// Converts rows of a layout to points.
fn points_of(
    layout: &Layout,
    name: &str,
    values: Storage<f64>,
    weights: Vec<f64>,
    ids: Vec<String>,
) -> Result<Points, Error> {
    let names = layout.columns.iter().map(|index| layout.names[*index].clone()).collect();
    let points = Points::of_finite(values, layout.columns.len())?;
    let mut points =
        points.with_columns(names)?.with_name(name).with_left_out(layout.left_out()).with_notes(layout.notes.clone());
    if layout.weights.is_some() {
        points = points.with_weights(weights)?;
    }
    if layout.id.is_some() {
        points = points.with_ids(ids)?;
    }
    Ok(points)
}

fn fault(place: Place, column: Option<Column>, expected: String, found: String) -> Fault {
    Fault { place, column, expected, found }
}

fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
