//! Reads an ordinary table into a [`DataFrame`]: all values of a column decide its type.
//!
//! First, the rows of a table become a [`Grid`] of fields. Then every column is surveyed, and `written.rs` decides
//! about all columns together. Finally, the fields of each column become values. The data frame notes every unusual
//! decision.

use std::io::Read;
use std::path::Path;

use super::decode::{self, Census};
use super::grid::Grid;
use super::json::{self, Objects};
use super::layout::{self, Laid};
#[cfg(feature = "parquet")]
use super::parquet;
use super::records::{Quoting, Record, Records, detect_delimiter};
use super::rounded::Rounded;
#[cfg(feature = "sheets")]
use super::sheet::{self, Cells};
use super::source::{HEAD_BYTES, Source, stopped};
use super::written::{self, AsNumber, Survey, gap};
use super::{DateOrder, Dialect, Encoding, Form, Format, Selection, TableForm, form_of, npy};
use crate::error::{Column, Error, Fault, Faults, Place, quoted};
use crate::frame::{DataFrame, FrameColumn, NumberForm, ReadAs, Values};

/// Reads a table of named columns of numbers, categories and times; all values of a column decide how it is read.
///
/// Everything that `form` leaves open is detected. The data frame reports the results: for each column in
/// [`read_as`](FrameColumn::read_as), for the table in [`dialect`](DataFrame::dialect), and for users in
/// [`notes`](DataFrame::notes).
///
/// # Errors
/// Returns the errors of [`points`](super::points), but accepts text and missing values. Returns [`Error::Faults`] for
/// rows with too many or too few fields.
///
/// # Example
/// ```
/// use lehr_data::frame::Values;
/// use lehr_data::read::{TableForm, data_frame};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("kunden.csv");
/// std::fs::write(&path, "Name;Umsatz;Ort\nA;1.818,99 €;Bern\nB;;Basel\n").unwrap();
/// let frame = data_frame(&path, &TableForm::default())?;
/// let sales = frame.column("Umsatz").unwrap();
/// assert_eq!(sales.read_as.to_string(), "number, decimal ',', thousands '.', €");
/// let Values::Numbers(values) = &sales.values else { unreachable!() };
/// assert!(values[0] == 1818.99 && values[1].is_nan());
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn data_frame(path: &Path, form: &TableForm) -> Result<DataFrame, Error> {
    Ok(framed(&|| Source::open(path), form)?.sound()?.told())
}

/// Like [`data_frame`], from a reader; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`data_frame`], except for opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::{TableForm, data_frame_from};
/// let frame = data_frame_from("city,share\nBern,1.7%\nBasel,n/a\n".as_bytes(), "t.csv", &TableForm::default())?;
/// let share = frame.column("share").unwrap();
/// assert_eq!((share.read_as.to_string(), share.missing()), ("number, per cent".to_owned(), 1));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn data_frame_from(reader: impl Read, name: &str, form: &TableForm) -> Result<DataFrame, Error> {
    let mut bytes = Vec::new();
    let mut reader = reader;
    let read = reader.read_to_end(&mut bytes);
    read.map_err(|cause| stopped(name, cause, format!("{} bytes", bytes.len())))?;
    Ok(framed(&|| Source::new(&bytes[..], name), form)?.sound()?.told())
}

/// A column of your own data.
#[derive(Clone, Debug)]
pub enum InputColumn {
    /// A column whose values are known.
    Read(FrameColumn),
    /// A name and texts, which are read like the texts of a file.
    Texts(String, Vec<String>),
}

/// Creates a data frame from existing columns.
///
/// # Errors
/// Returns [`Error::Faults`] for texts that do not have the form in `form`, and the errors of [`DataFrame::new`].
///
/// # Example
/// ```
/// use lehr_data::frame::FrameColumn;
/// use lehr_data::read::{InputColumn, TableForm, data_frame_of};
/// let texts = ["1,5 €", "", "2,25 €"].map(str::to_owned).to_vec();
/// let columns = vec![InputColumn::Read(FrameColumn::numbers("x", vec![1.0, 2.0, 3.0])), InputColumn::Texts("price".into(), texts)];
/// let frame = data_frame_of("t", columns, &TableForm::default())?;
/// assert_eq!(frame.column("price").unwrap().read_as.to_string(), "number, decimal ',', €");
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn data_frame_of(name: &str, columns: Vec<InputColumn>, form: &TableForm) -> Result<DataFrame, Error> {
    let (mut read, mut texts_at, mut names) = (Vec::new(), Vec::new(), Vec::new());
    let mut texts_by: Vec<Vec<String>> = Vec::new();
    for (place, column) in columns.into_iter().enumerate() {
        match column {
            InputColumn::Read(column) => read.push((place, column)),
            InputColumn::Texts(called, texts) => {
                names.push(called);
                texts_at.push(place);
                texts_by.push(texts);
            }
        }
    }
    let rows = texts_by.first().map_or(0, Vec::len);
    if let Some((called, texts)) = names.iter().zip(&texts_by).find(|(_, texts)| texts.len() != rows) {
        let (expected, found) = (format!("{rows} rows, as the first text has"), texts.len().to_string());
        return Err(Error::Shape { what: format!("{name}, column {called:?}"), expected, found });
    }
    let mut grid = Grid::default();
    for row in 0..rows {
        grid.begin(row as u64 + 1);
        texts_by.iter().for_each(|texts| grid.push(&texts[row]));
    }
    let all: Vec<usize> = (0..rows).collect();
    let of_texts = self::columns(name, &names, &all, &grid, form, None)?;
    read.extend(texts_at.into_iter().zip(of_texts.columns));
    read.sort_by_key(|(place, _)| *place);
    let frame = DataFrame::new(name, read.into_iter().map(|(_, column)| column).collect())?;
    as_asked(frame.with_notes(of_texts.notes), form)
}

/// Converts columns of numbers and times to text where requested. Columns of a text file are already read in this way.
fn as_asked(frame: DataFrame, form: &TableForm) -> Result<DataFrame, Error> {
    frame.expect_columns(&form.number)?;
    let is_text = |name: &String| form.text.contains(name) || form.columns.get(name) == Some(&ReadAs::Text);
    let turn = |column: &FrameColumn| match &column.values {
        Values::Categories(_) => Ok(column.clone()),
        _ if is_text(&column.name) => Ok(FrameColumn::texts(&column.name, frame.texts(&column.name)?)),
        _ => Ok(column.clone()),
    };
    if !frame.columns().iter().any(|column| is_text(&column.name)) {
        return Ok(frame);
    }
    let turned = DataFrame::new(frame.name(), frame.columns().iter().map(turn).collect::<Result<_, Error>>()?)?;
    let turned = turned.with_notes(frame.notes().to_vec());
    Ok(match frame.dialect() {
        Some(dialect) => turned.with_dialect(dialect.clone()),
        None => turned,
    })
}

/// Reads a source that can be opened more than once: text that turns out not to be UTF-8 is read again.
pub(super) fn framed<'a>(open: &dyn Fn() -> Result<Source<'a>, Error>, form: &TableForm) -> Result<Framed, Error> {
    let (line, found) = match of_source(open()?, form) {
        Err(Error::Encoding { line, found, .. })
            if form.encoding.is_none() && !found.contains("zero byte") && !found.contains("UTF-32") =>
        {
            (line, found)
        }
        other => return other,
    };
    let mut census = Census::default();
    let mut source = open()?;
    loop {
        let window = source.window();
        let length = window.len();
        census.add(window);
        source.consume(length);
        if !source.more(None)? {
            break;
        }
    }
    if census.is_utf8() {
        // The error has a position, which the second reading finds again.
        return of_source(open()?, form);
    }
    let encoding = Encoding::Windows1252;
    let framed = of_source(open()?, &TableForm { encoding: Some(encoding), ..form.clone() })?;
    let note = format!("read as {encoding}: line {line} has {found}, which is no UTF-8");
    let notes = std::iter::once(note).chain(framed.frame.notes().iter().cloned()).collect();
    Ok(Framed { frame: framed.frame.with_notes(notes), ..framed })
}

/// A data frame, and the fields that it was read from.
pub(super) struct Framed {
    pub(super) frame: DataFrame,
    grid: Grid,
    /// The grid's row for each row of the frame.
    rows: Vec<usize>,
    /// Whether the first column names the rows, because it has no name itself.
    pub(super) names_rows: bool,
    /// How each text column would be read as numbers.
    as_numbers: Vec<Option<AsNumber>>,
    missing: Vec<String>,
    /// Rows with too many or too few fields.
    pub(super) faults: Faults,
}

impl Framed {
    /// Returns the frame, or the faults of rows with too many or too few fields.
    pub(super) fn sound(self) -> Result<Self, Error> {
        self.faults.clone().or(())?;
        Ok(self)
    }

    /// Returns the frame, with notes on rounded numbers.
    fn told(self) -> DataFrame {
        let mut rounded = Rounded::default();
        let is_number = |column: &FrameColumn| matches!(column.values, Values::Numbers(_));
        let columns = self.frame.columns();
        for (place, _) in columns.iter().enumerate().filter(|(_, column)| is_number(column)) {
            (0..self.rows.len()).for_each(|row| rounded.look(place, self.text(row, place)));
        }
        let notes = rounded.notes(|column| Some(columns[column].name.as_str()));
        let notes = self.frame.notes().iter().cloned().chain(notes).collect();
        self.frame.with_notes(notes)
    }

    /// Returns whether the data frame comes from a file with typed columns, and has no text of its fields.
    pub(super) fn is_typed(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn has_header(&self) -> bool {
        self.frame.dialect().is_none_or(|dialect| dialect.format != Format::Delimited || dialect.header_rows > 0)
    }

    /// Creates a framed table from a file with typed columns.
    fn typed(frame: DataFrame) -> Self {
        let as_numbers = frame.columns().iter().map(|_| None).collect();
        let faults = Faults::new(frame.name());
        let (grid, rows, missing) = (Grid::default(), Vec::new(), Vec::new());
        Framed { frame, grid, rows, names_rows: false, as_numbers, missing, faults }
    }

    /// Returns the line of a row, counted from 1.
    pub(super) fn line(&self, row: usize) -> u64 {
        // Rows of a typed file have no lines, so rows are counted.
        self.rows.get(row).map_or(row as u64 + 1, |row| self.grid.line(*row))
    }

    pub(super) fn text(&self, row: usize, column: usize) -> &str {
        self.rows.get(row).map_or("", |row| self.grid.field(*row, column))
    }

    pub(super) fn is_gap(&self, row: usize, column: usize) -> bool {
        gap::is_gap(self.text(row, column), &self.missing)
    }

    /// Returns whether most values of a text column are numbers.
    pub(super) fn is_nearly_number(&self, column: usize) -> bool {
        self.as_numbers[column].as_ref().is_some_and(|of| of.is_nearly)
    }

    /// Returns the notation of a numeric column; `None` if it is the notation of programming languages.
    pub(super) fn form_of(&self, column: usize) -> Option<NumberForm> {
        match &self.frame.columns()[column].read_as {
            ReadAs::WrittenNumber(form) => Some(form.clone()),
            ReadAs::Text => self.as_numbers[column].as_ref().map(|of| of.form.clone()),
            _ => None,
        }
    }

    /// Returns the numbers of a column; `None` for each row without a number.
    pub(super) fn numbers(&self, column: usize) -> Vec<Option<f64>> {
        let of = &self.frame.columns()[column];
        match (&of.values, &self.as_numbers[column]) {
            (Values::Numbers(values), _) => {
                values.iter().map(|value| Some(*value).filter(|value| !value.is_nan())).collect()
            }
            (Values::Categories(_), Some(AsNumber { form, .. })) => {
                let number = |row: usize| form.number(self.text(row, column)).filter(|_| !self.is_gap(row, column));
                (0..self.frame.rows()).map(number).collect()
            }
            _ => vec![None; self.frame.rows()],
        }
    }
}

fn of_source(mut source: Source<'_>, form: &TableForm) -> Result<Framed, Error> {
    if let (None, Some(found)) = (form.encoding, decode::utf32(source.peek(HEAD_BYTES))) {
        return Err(Error::Encoding { name: source.name().into(), line: 1, byte: 0, found: found.into() });
    }
    let seen = form.encoding.is_none().then(|| decode::seen(source.peek(HEAD_BYTES))).flatten();
    let encoding = form.encoding.or(seen).unwrap_or_default();
    if encoding != Encoding::Utf8 {
        let note = seen.map(|_| format!("read as {encoding}"));
        return of_text(source.decoded(encoding)?, form, encoding, note.into_iter().collect());
    }
    match form_of(
        &mut source,
        &Selection {
            delimiter: form.delimiter.map(|delimiter| delimiter as u8),
            header: form.header,
            ..Selection::default()
        },
    )? {
        Form::Text => of_text(source, form, encoding, Vec::new()),
        Form::Objects => {
            let name = source.name().to_owned();
            let Objects { grid, names, dialect, notes } = json::objects(source)?;
            let rows = (0..grid.rows()).collect();
            of_laid(
                &name,
                grid,
                form,
                Laid {
                    names,
                    rows,
                    totals: Vec::new(),
                    names_rows: false,
                    dialect,
                    notes,
                    faults: Faults::new(&*name),
                },
            )
        }
        #[cfg(feature = "sheets")]
        Form::Cells(format) => {
            let name = source.name().to_owned();
            let Cells { grid, dialect, notes } = sheet::cells(source, format, form)?;
            of_grid(&name, grid, form, dialect, notes)
        }
        Form::Array => {
            let rows = npy::incomplete(source, &Selection::default())?;
            let column = |column: usize| rows.values()[column..].iter().step_by(rows.dimension()).copied().collect();
            let columns =
                rows.columns().iter().enumerate().map(|(place, name)| FrameColumn::numbers(name, column(place)));
            let frame = as_asked(DataFrame::new(rows.name(), columns.collect())?, form)?;
            Ok(Framed::typed(frame.with_dialect(Dialect { format: Format::Npy, ..Dialect::default() })))
        }
        #[cfg(feature = "parquet")]
        Form::Columns => parquet::frame(&source, form).map(Framed::typed),
    }
}

fn of_text(
    mut source: Source<'_>,
    form: &TableForm,
    encoding: Encoding,
    mut notes: Vec<String>,
) -> Result<Framed, Error> {
    let name = source.name().to_owned();
    let terminator = source.terminator()?;
    let mut skipped = form.skip.unwrap_or(0);
    let mut delimiter = form.delimiter.map(|delimiter| delimiter as u8);
    if form.skip.is_none()
        && let Some((named, line)) = separator_line(source.peek(16), terminator)
    {
        notes.push(format!("line 1, {}, names the separator; left out", quoted(&line)));
        delimiter = delimiter.or(Some(named));
        skipped = 1;
    }
    let head = source.fill(HEAD_BYTES, Some(0))?;
    let head = behind_lines(head, skipped, terminator);
    let quoting = quoting_of(head);
    let delimiter =
        delimiter.unwrap_or_else(|| detect_delimiter(head, terminator, &name, quoting, written::is_value_between));
    let mut records = Records::new(source, Some(delimiter))?.with_quoting(quoting);
    records.skip_lines(skipped)?;
    let (mut grid, mut record) = (Grid::default(), Record::default());
    while records.read(&mut record)? {
        grid.add(&record);
    }
    if grid.rows() == 0 {
        return Err(Error::Empty { name, found: "an empty file" });
    }
    if quoting.quote != b'"' {
        notes.push(format!("fields are within {}", quoted(&char::from(quoting.quote).to_string())));
    }
    if quoting.escape.is_some() {
        notes.push("quotes within quotes have a backslash before them".into());
    }
    if let Some((line, count)) = records.stray() {
        let more = if count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
        notes.push(format!("line {line}: Lehr reads an unclosed quote as an ordinary character{more}"));
    }
    let dialect = Dialect {
        format: Format::Delimited,
        encoding,
        delimiter: Some(delimiter as char),
        skipped,
        ..Dialect::default()
    };
    of_grid(&name, grid, form, dialect, notes)
}

/// Returns the delimiter that a first line such as `sep=;` names, and the line itself.
fn separator_line(head: &[u8], terminator: u8) -> Option<(u8, String)> {
    let end = head.iter().position(|byte| *byte == terminator)?;
    let line = std::str::from_utf8(&head[..end]).ok()?.trim_end_matches(['\r', '\n']);
    let bare = line.strip_prefix('"').and_then(|line| line.strip_suffix('"')).unwrap_or(line);
    let separator = super::csv::names_delimiter(bare).then(|| &bare[4..])?;
    match separator.as_bytes() {
        [one] => Some((*one, line.to_owned())),
        b"\\t" => Some((b'\t', line.to_owned())),
        _ => None,
    }
}

/// Returns the text after the first `lines` lines.
fn behind_lines(mut text: &[u8], lines: usize, terminator: u8) -> &[u8] {
    for _ in 0..lines {
        let Some(end) = text.iter().position(|byte| *byte == terminator) else { return &[] };
        text = &text[end + 1..];
    }
    text
}

/// Detects how a text quotes its fields. The quote is `"`, unless `'` is at both ends of fields and `"` is not. Quotes
/// are escaped by a backslash if some follow a backslash and none is doubled.
pub(super) fn quoting_of(head: &[u8]) -> Quoting {
    let is_edge =
        |byte: Option<&u8>| byte.is_none_or(|byte| matches!(byte, b',' | b';' | b'\t' | b'|' | b'\n' | b'\r'));
    let ends = |quote: u8| {
        let opening = (0..head.len())
            .filter(|place| head[*place] == quote && is_edge(place.checked_sub(1).map(|before| &head[before])))
            .count();
        let closing = (0..head.len()).filter(|place| head[*place] == quote && is_edge(head.get(place + 1))).count();
        opening.min(closing)
    };
    let quote = if ends(b'"') == 0 && ends(b'\'') > 1 { b'\'' } else { b'"' };
    let pairs = |first: u8| head.windows(2).filter(|pair| pair[0] == first && pair[1] == quote).count();
    let is_escaped = |place: usize| head[place - 1] == b'\\' && head[place] == quote && !is_edge(head.get(place + 1));
    let has_escapes = (1..head.len()).any(is_escaped) && ends(quote) > 0;
    // Empty quotes, "", do not count as doubled.
    let doubled = (1..head.len().saturating_sub(2))
        .filter(|place| {
            head[*place] == quote
                && head[place + 1] == quote
                && !is_edge(head.get(place - 1))
                && !is_edge(head.get(place + 2))
        })
        .count();
    let escape = (has_escapes && pairs(b'\\') > 0 && doubled == 0).then_some(b'\\');
    Quoting { quote, escape, is_tolerant: true, may_be_open: true }
}

/// Lays out existing fields and reads their columns.
pub(super) fn of_grid(
    name: &str,
    mut grid: Grid,
    form: &TableForm,
    dialect: Dialect,
    mut notes: Vec<String>,
) -> Result<Framed, Error> {
    let mut laid = layout::lay(name, &mut grid, form, dialect)?;
    notes.append(&mut laid.notes);
    of_laid(name, grid, form, Laid { notes, ..laid })
}

/// Surveys the columns of a table whose position is known, decides how to read them, and reads them.
fn of_laid(name: &str, grid: Grid, form: &TableForm, laid: Laid) -> Result<Framed, Error> {
    let Laid { names, mut rows, totals, names_rows, mut dialect, mut notes, faults } = laid;
    let mut read = columns(name, &names, &rows, &grid, form, dialect.delimiter)?;
    if !totals.is_empty() {
        let mut kept = totals.clone();
        while let Some(row) = kept.first().copied() {
            let what = match sums_up(row, &read.columns, rows.len(), &grid) {
                Some(what) => format!("{what} of the rows above"),
                None if is_bare(row, &grid) => "no values".to_owned(),
                None => break,
            };
            let text = grid.fields(row).find(|field| !field.trim().is_empty()).unwrap_or_default().trim();
            notes.push(format!("line {}, {}, has {what}; left out", grid.line(row), quoted(text)));
            dialect.footer_rows += 1;
            kept.remove(0);
        }
        if let Some(row) = kept.first() {
            let text = grid.fields(*row).find(|field| !field.trim().is_empty()).unwrap_or_default().trim();
            notes.push(format!(
                "line {}, {}, is named as a total, but its numbers are not the sums of the rows above: it is kept as a row; delete the line if it is a total",
                grid.line(*row),
                quoted(text)
            ));
            rows.extend(kept);
            rows.sort_unstable();
            read = columns(name, &names, &rows, &grid, form, dialect.delimiter)?;
        }
    }
    let unnamed = if totals.is_empty() { unnamed_totals(&read.columns, rows.len()) } else { 0 };
    if unnamed > 0 {
        let first = rows[rows.len() - unnamed];
        let text = grid.fields(first).find(|field| !field.trim().is_empty()).unwrap_or_default().trim();
        let line = grid.line(first);
        notes.push(match unnamed {
            1 => format!("the last row, line {line}, {}, has sums of the rows above; left out", quoted(text)),
            _ => format!("the last {unnamed} rows, from line {line}, {}, on, have sums of the rows above, and the last of them sums of these; left out", quoted(text)),
        });
        dialect.footer_rows += unnamed;
        rows.truncate(rows.len() - unnamed);
        read = columns(name, &names, &rows, &grid, form, dialect.delimiter)?;
    }
    notes.append(&mut read.notes);
    (dialect.decimal, dialect.dates) = (read.decimal, read.dates);
    dialect.missing = form.missing.clone();
    let frame = DataFrame::new(name, read.columns)?.with_notes(notes).with_dialect(dialect);
    frame.expect_columns(&form.number)?;
    Ok(Framed { frame, grid, rows, names_rows, as_numbers: read.as_numbers, missing: form.missing.clone(), faults })
}

/// Columns that were read, and the decisions about them.
pub(super) struct Columns {
    pub(super) columns: Vec<FrameColumn>,
    decimal: Option<char>,
    dates: Option<DateOrder>,
    as_numbers: Vec<Option<AsNumber>>,
    pub(super) notes: Vec<String>,
}

fn columns(
    name: &str,
    names: &[String],
    rows: &[usize],
    grid: &Grid,
    form: &TableForm,
    delimiter: Option<char>,
) -> Result<Columns, Error> {
    let mut surveys: Vec<Survey> = names.iter().map(|_| Survey::default()).collect();
    for row in rows {
        for (column, survey) in surveys.iter_mut().enumerate() {
            let field = grid.field(*row, column);
            if !gap::is_gap(field, &form.missing) {
                survey.look(*row, field.trim(), grid.kind(*row, column));
            } else {
                survey.look_at_gap(field);
            }
        }
    }
    let decided = written::decide(names, &surveys, grid, form, rows.len(), delimiter == Some(','));
    let mut faults = Faults::new(name);
    let mut columns = Vec::with_capacity(names.len());
    for (column, ((called, read_as), texts)) in names.iter().zip(decided.read_as).zip(&decided.texts).enumerate() {
        let (values, misfits) = written::values(&read_as, column, rows, grid, &form.missing, texts);
        for row in misfits {
            faults.add_with(|| Fault {
                place: Place::Line(grid.line(row)),
                column: Some(Column { index: column, name: Some(called.clone()) }),
                expected: match form.number.contains(called) {
                    true => "a number, since the column is to be read as numbers".to_owned(),
                    false => format!("a value as this column had before ({read_as})"),
                },
                found: quoted(grid.field(row, column).trim()),
            });
        }
        columns.push(FrameColumn { name: called.clone(), values, read_as });
    }
    faults.or(())?;
    let as_numbers = surveys.iter().map(|survey| survey.as_number(decided.decimal)).collect();
    Ok(Columns { columns, decimal: decided.decimal, dates: decided.dates, as_numbers, notes: decided.notes })
}

/// Returns the number of rows at the end that are sums of the rows above, whatever their labels. A table has one total,
/// or one total for each part and then one for the whole.
///
/// Sums of many values are not a coincidence if at least two columns, and a fifth of all numeric columns, have sums.
/// Shares and means are not sums, and columns with missing values need not have sums.
fn unnamed_totals(columns: &[FrameColumn], rows: usize) -> usize {
    const ROWS_MIN: usize = 8;
    let of_numbers = || {
        columns.iter().filter_map(|column| match (&column.values, &column.read_as) {
            (Values::Numbers(values), ReadAs::Number | ReadAs::WrittenNumber(_)) => Some(values),
            _ => None,
        })
    };
    let Some(count) = Some(of_numbers().count()).filter(|count| *count > 1 && rows >= ROWS_MIN) else { return 0 };
    let sum = |values: &[f64]| {
        let there = || values.iter().filter(|value| !value.is_nan());
        (
            there().sum::<f64>(),
            there().map(|value| value.abs()).sum::<f64>(),
            there().filter(|value| **value != 0.0).count(),
        )
    };
    let is_sum = |values: &[f64], total: f64| {
        let (sum, scale, summands) = sum(values);
        // Totals are rounded, so compare to the precision of the digits.
        summands > 2 && total != 0.0 && (total - sum).abs() <= f64::max(1e-9 * scale, 0.51_f64.min(1e-4 * scale))
    };
    let most = (rows / 3).min(50);
    (1..=most)
        .find(|last| {
            let matches = of_numbers().filter(|values| {
                let (above, below) = values.split_at(rows - last);
                let (total, parts) = below.split_last().expect("there is one row at least");
                is_sum(above, *total) && (parts.is_empty() || is_sum(parts, *total))
            });
            let matches = matches.count();
            matches > 1 && matches * 5 >= count
        })
        .unwrap_or(0)
}

/// Returns whether only one field of a row, its name, is filled.
fn is_bare(row: usize, grid: &Grid) -> bool {
    grid.fields(row).filter(|field| !field.trim().is_empty()).count() == 1 && grid.fields(row).count() > 1
}

/// Returns whether a row is a total of the rows above. All of its numbers must be sums, or all must be means, and at
/// least one column must have nonzero values.
fn sums_up(row: usize, columns: &[FrameColumn], count: usize, grid: &Grid) -> Option<&'static str> {
    let (mut sums, mut means, mut others) = (0, 0, 0);
    for (place, column) in columns.iter().enumerate() {
        let Values::Numbers(values) = &column.values else { continue };
        let Some(given) = written::number_as(&column.read_as, grid.field(row, place)) else { continue };
        let there = || values.iter().filter(|value| !value.is_nan());
        let (sum, total) = (there().sum::<f64>(), there().map(|value| value.abs()).sum::<f64>());
        if total == 0.0 || count < 2 {
            continue;
        }
        // Totals are rounded, so compare to the precision of the digits.
        let is_near = |value: f64, scale: f64| {
            (given - value).abs() <= scale * 1e-3 && (given - value).abs() <= 0.51_f64.max(scale * 1e-6)
        };
        if is_near(sum, total) {
            sums += 1;
        } else if is_near(sum / there().count() as f64, total / there().count() as f64) {
            means += 1;
        } else {
            others += 1;
        }
    }
    match (sums, means, others) {
        (1.., 0, 0) => Some("the sums"),
        (0, 1.., 0) => Some("the means"),
        (1.., _, others) if sums > others => Some("sums"),
        _ => None,
    }
}
