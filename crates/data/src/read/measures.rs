//! Converts the numeric columns of an ordinary table to rows for methods: points, or rows with missing values.
//!
//! `csv.rs` reads tables of plain numbers row by row, which is fast and stores no text. If that reader finds faults or
//! doubts, this module reads the table as a data frame, which supports other notations, titles, totals and encodings.
//! So both readers treat a table alike, and a fault is reported once, for all columns together.

use std::cell::RefCell;
use std::io::{self, Read};
use std::rc::Rc;

use lehr_spill::{Builder, Spill};

use super::decode::{self, Census};
use super::frame::{Framed, framed, quoting_of};
use super::records::Quoting;
use super::rounded::Rounded;
use super::source::Source;
use super::{Encoding, SelectedColumns, Selection, TableForm, csv, slip};
use crate::error::{Class, Column, Error, Fault, Place, quoted};
use crate::frame::{FrameColumn, ReadAs, Values};
use crate::incomplete::Incomplete;
use crate::left_out::LeftOut;
use crate::points::{Points, total_weight_fault, weight_fault};

/// The maximum number of bytes of a stream that are kept to read them again.
const KEPT_BYTES: usize = 1 << 28;

/// A function that opens a source again; returns `None` if that is impossible.
pub(super) type Again<'o, 'a> = &'o dyn Fn() -> Option<Result<Source<'a>, Error>>;

/// Reads points from a text table.
pub(super) fn points<'a>(
    source: Source<'a>,
    again: Again<'_, 'a>,
    selection: &Selection,
    spill: Option<&Spill>,
) -> Result<Points, Error> {
    let read = if selection.form == TableForm::default() {
        csv::points(source, selection, spill)
    } else {
        Err(csv::Refused::Doubtful)
    };
    let refused = match read {
        Ok(points) => return Ok(points),
        Err(refused) => refused,
    };
    settled(refused, again, selection, |framed| measures(framed, selection, spill, false)?.into_points())
}

/// Reads rows with missing values from a text table.
pub(super) fn incomplete<'a>(
    source: Source<'a>,
    again: Again<'_, 'a>,
    selection: &Selection,
) -> Result<Incomplete, Error> {
    let read = if selection.form == TableForm::default() {
        csv::incomplete(source, selection)
    } else {
        Err(csv::Refused::Doubtful)
    };
    let refused = match read {
        Ok(rows) => return Ok(rows),
        Err(refused) => refused,
    };
    settled(refused, again, selection, |framed| measures(framed, selection, None, true)?.into_incomplete())
}

/// Reads points from a file with typed values.
pub(super) fn points_of_typed<'a>(
    again: Again<'_, 'a>,
    selection: &Selection,
    spill: Option<&Spill>,
) -> Result<Points, Error> {
    settled(csv::Refused::Doubtful, again, selection, |framed| measures(framed, selection, spill, false)?.into_points())
}

/// Reads rows with missing values from a file with typed values.
pub(super) fn incomplete_of_typed<'a>(again: Again<'_, 'a>, selection: &Selection) -> Result<Incomplete, Error> {
    settled(csv::Refused::Doubtful, again, selection, |framed| {
        measures(framed, selection, None, true)?.into_incomplete()
    })
}

/// Reads the table as a data frame. If this fails too, returns the error of the reader that understood more of the
/// table. If a second reader cannot help, returns the first error at once.
fn settled<'a, T>(
    refused: csv::Refused,
    again: Again<'_, 'a>,
    selection: &Selection,
    of: impl Fn(&Framed) -> Result<T, Error>,
) -> Result<T, Error> {
    let first = match refused {
        csv::Refused::Wrong(error) if error.class() != Class::Data || is_final(&error) => return Err(error),
        csv::Refused::Wrong(error) => Some(error),
        csv::Refused::Doubtful => None,
    };
    let form = asked(selection);
    // The stream has been consumed, or is too long to be kept.
    let mut is_there = true;
    let open = || {
        again().unwrap_or_else(|| {
            let expected = "a table of at most 256 MiB where it comes as a stream and its numbers are not written as programs write them".into();
            Err(Error::Format { name: "the table".into(), expected, found: "a longer one; save it as a file".into() })
        })
    };
    if first.is_some() {
        is_there = again().is_some();
    }
    let read = if is_there {
        framed(&open, &form).and_then(|framed| match &first {
            // An array was given where text is required.
            Some(_) if framed.is_typed() => Err(no_text(framed.frame.name())),
            _ => of(&framed),
        })
    } else {
        return Err(first.expect("an error"));
    };
    match (read, first) {
        (Err(second), Some(first)) => Err(if says_more(&second, &first) { second } else { first }),
        (read, _) => read,
    }
}

fn no_text(name: &str) -> Error {
    Error::Format { name: name.into(), expected: "a table of text".into(), found: "another file".into() }
}

/// The number of bytes of a stream that show the notation of its rows.
const SAMPLE_BYTES: usize = 1 << 16;

/// Reads the rows of a text table in batches. The first rows show the notation of numbers and the title lines, which
/// are skipped.
pub(super) fn rows<'a>(mut source: Source<'a>, selection: &Selection) -> Result<csv::Rows<'a>, Error> {
    let form = asked(selection);
    if let (None, Some(found)) = (form.encoding, decode::utf32(source.peek(SAMPLE_BYTES))) {
        return Err(Error::Encoding { name: source.name().into(), line: 1, byte: 0, found: found.into() });
    }
    let mut encoding = form.encoding.or_else(|| decode::seen(source.peek(SAMPLE_BYTES))).unwrap_or_default();
    let head = source.peek(SAMPLE_BYTES);
    if form.encoding.is_none()
        && std::str::from_utf8(head).is_err_and(|error| error.error_len().is_some())
        && !head.contains(&0)
    {
        let mut census = Census::default();
        census.add(head);
        if !census.is_utf8() {
            encoding = Encoding::Windows1252;
        }
    }
    let is_decoded = encoding != Encoding::Utf8;
    if is_decoded {
        source = source.decoded(encoding)?;
    }
    let mut head = source.peek(SAMPLE_BYTES).to_vec();
    if head.len() == SAMPLE_BYTES {
        // Remove the last line, which may be cut.
        let end = head.iter().rposition(|byte| matches!(byte, b'\n' | b'\r')).map_or(head.len(), |place| place + 1);
        head.truncate(end);
    }
    let name = source.name().to_owned();
    // A table that `points` reads as plain numbers is read as plain numbers here too, with the same columns.
    let is_plain = !is_decoded
        && selection.form == TableForm::default()
        && csv::points(Source::new(&head[..], &name)?, selection, None).is_ok();
    if is_plain {
        return csv::Rows::new(source, selection);
    }
    let form = TableForm { encoding: Some(Encoding::Utf8), ..form };
    // The reader of all rows reports the faults.
    let Ok(framed) = framed(&|| Source::new(&head[..], &name), &form).and_then(Framed::sound) else {
        return csv::Rows::new(source, selection);
    };
    let Some(dialect) = framed.frame.dialect() else { return csv::Rows::new(source, selection) };
    let columns = framed.frame.columns();
    let quoting = quoting_of(&head);
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let SelectedColumns { columns: chosen, weights, id } = SelectedColumns::of(&name, selection, &names)?;
    let mut left_out = Vec::new();
    let chosen = chosen.unwrap_or_else(|| {
        let free = (0..names.len()).filter(|column| Some(*column) != id && Some(*column) != weights);
        let (numbers, others): (Vec<_>, Vec<_>) = free.partition(|column| is_measure(&framed, *column, false));
        left_out.extend(others.into_iter().map(|column| {
            let has_numbers = (0..framed.frame.rows()).any(|row| csv::number(framed.text(row, column)).is_some());
            csv::Aside { column, count: (!has_numbers).then_some(0), example: left(&framed, column).example }
        }));
        numbers
    });
    if chosen.is_empty() {
        return csv::Rows::new(source, selection);
    }
    let form_of = |column: &usize| framed.form_of(*column);
    let mut notes = framed.frame.notes().to_vec();
    if is_decoded && selection.form.encoding.is_none() {
        notes.insert(0, format!("read as {encoding}, which the first rows show"));
    }
    let told =
        chosen.iter().chain(&weights).filter(|column| matches!(columns[**column].read_as, ReadAs::WrittenNumber(_)));
    notes.extend(
        told.map(|column| {
            format!("{:?} is read as {}, as the first rows show", names[*column], columns[*column].read_as)
        }),
    );
    csv::Rows::written(
        source,
        csv::Written {
            delimiter: dialect.delimiter.map_or(b',', |delimiter| delimiter as u8),
            quoting: Quoting { may_be_open: false, ..quoting },
            lines: framed.line(0).saturating_sub(1) as usize,
            has_header: dialect.header_rows > 0,
            forms: chosen.iter().chain(&weights).map(form_of).collect(),
            columns: chosen,
            names,
            weights,
            id,
            left_out,
            notes,
        },
    )
}

/// Returns the options for a text table.
fn asked(selection: &Selection) -> TableForm {
    TableForm {
        delimiter: selection.delimiter.map(char::from).or(selection.form.delimiter),
        header: selection.header.or(selection.form.header),
        ..selection.form.clone()
    }
}

/// Returns whether an error is final, because another way of reading the table cannot help.
fn is_final(error: &Error) -> bool {
    matches!(
        error,
        Error::CutShort { .. }
            | Error::Empty { .. }
            | Error::Contents { .. }
            | Error::AmbiguousColumn { .. }
            | Error::RepeatedColumn { .. }
    )
}

/// Returns whether the second reader understood more of the table than the first. If so, the second of the two errors
/// is reported.
fn says_more(second: &Error, first: &Error) -> bool {
    match (second, first) {
        (Error::Faults(second), Error::Faults(first)) => second.total() < first.total(),
        // An unclosed quote is reported as an unclosed quote, not by the wrong fields that it causes.
        (Error::Faults(_), Error::Format { expected, .. }) => !expected.starts_with("a quote"),
        (Error::Faults(_), Error::Encoding { .. }) => true,
        (Error::Format { .. }, Error::Encoding { .. }) => true,
        // The second error has the names of the columns, if a title is above them.
        (Error::NoSuchColumns { columns: second, .. }, Error::NoSuchColumns { columns: first, .. }) => second != first,
        // The second error means that there are two tables in the file.
        (Error::Format { expected, .. }, Error::Faults(_)) => expected.starts_with("one table"),
        _ => false,
    }
}

/// The rows of a table, with the columns in the order in which they were chosen.
struct Measures {
    name: String,
    columns: Vec<String>,
    values: Builder<f64>,
    weights: Option<Vec<f64>>,
    ids: Option<Vec<String>>,
    left_out: Vec<LeftOut>,
    notes: Vec<String>,
}

fn measures(framed: &Framed, selection: &Selection, spill: Option<&Spill>, has_gaps: bool) -> Result<Measures, Error> {
    let frame = &framed.frame;
    let name = frame.name();
    let names: Vec<String> = frame.columns().iter().map(|column| column.name.clone()).collect();
    let SelectedColumns { columns: chosen, weights, id } = SelectedColumns::of(name, selection, &names)?;
    let weights = weights.filter(|_| !has_gaps);
    let asked_weights =
        selection.weights.as_ref().and_then(|_| SelectedColumns::of(name, selection, &names).ok()?.weights);
    let mut left_out = Vec::new();
    let is_chosen = chosen.is_some();
    let columns = chosen.unwrap_or_else(|| {
        let free = (0..names.len()).filter(|column| Some(*column) != id && Some(*column) != asked_weights);
        let (numbers, others): (Vec<_>, Vec<_>) = free.partition(|column| is_measure(framed, *column, has_gaps));
        left_out.extend(others.into_iter().map(|column| left(framed, column)));
        numbers
    });
    if columns.is_empty() && !is_chosen {
        let shown = names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
        let found = format!("none among the columns {shown}");
        return Err(Error::Format { name: name.into(), expected: "a column of numbers".into(), found });
    }
    let mut faults = framed.faults.clone();
    let at = |row: usize, column: usize| {
        let column = Column { index: column, name: framed.has_header().then(|| names[column].clone()) };
        (Place::Line(framed.line(row)), Some(column))
    };
    let read: Vec<Vec<Option<f64>>> = columns.iter().map(|column| framed.numbers(*column)).collect();
    let weight: Option<Vec<Option<f64>>> = weights.map(|column| framed.numbers(column));
    let mut values =
        Builder::new(spill, frame.rows().saturating_mul(columns.len())).map_err(|error| Error::kept(name, error))?;
    let mut fields = vec![0.0; columns.len()];
    let (mut given, mut rounded) = (Vec::new(), Rounded::default());
    for row in 0..frame.rows() {
        for ((field, numbers), column) in fields.iter_mut().zip(&read).zip(&columns) {
            *field = numbers[row].unwrap_or(f64::NAN);
            let text = framed.text(row, *column);
            if numbers[row].is_some() {
                rounded.look(*column, text);
                continue;
            }
            let (is_missing, index) = (framed.is_gap(row, *column), *column);
            let (place, column) = at(row, index);
            let found = || shown(text) + &unlike(framed, index, text);
            let fault = || Fault { place, column, expected: "a finite number".into(), found: found() };
            match (is_missing, has_gaps) {
                (true, true) => {}
                (true, false) => faults.add_gap_with(fault),
                (false, _) => faults.add_with(fault),
            }
        }
        if let (Some(weight), Some(index)) = (&weight, weights) {
            let one = weight[row].unwrap_or(f64::NAN);
            if let Some(expected) = weight_fault(one) {
                let (place, column) = at(row, index);
                faults.add_with(|| Fault {
                    place,
                    column,
                    expected: expected.into(),
                    found: quoted(framed.text(row, index).trim()),
                });
            }
            given.push(one);
        }
        if faults.is_empty() {
            values.extend(&fields).map_err(|error| Error::kept(name, error))?;
        }
    }
    if let (Some(index), true) = (weights, faults.is_empty())
        && let Some((expected, found)) = total_weight_fault(&given, frame.rows())
    {
        faults.add(Fault { place: Place::Whole, column: at(0, index).1, expected, found });
    }
    faults.or(())?;
    let mut notes = frame.notes().to_vec();
    for column in columns.iter().chain(&weights) {
        let FrameColumn { name, read_as, .. } = &frame.columns()[*column];
        if let ReadAs::WrittenNumber(_) = read_as {
            notes.push(format!("{name:?} is read as {read_as}"));
        }
    }
    notes.extend(rounded.notes(|column| Some(names[column].as_str())));
    Ok(Measures {
        name: name.to_owned(),
        columns: columns.iter().map(|column| names[*column].clone()).collect(),
        values,
        weights: weights.map(|_| given),
        ids: id.map(|column| (0..frame.rows()).map(|row| framed.text(row, column).to_owned()).collect()),
        left_out,
        notes,
    })
}

/// Returns whether a method takes a column as numbers if the user chose no columns. All values must be numbers. If only
/// most are, the other values must look like mistakes, which are reported.
fn is_measure(framed: &Framed, column: usize, has_gaps: bool) -> bool {
    if framed.names_rows && column == 0 {
        return false;
    }
    let of = &framed.frame.columns()[column];
    match (&of.read_as, &of.values) {
        (ReadAs::Number | ReadAs::WrittenNumber(_), Values::Numbers(values)) => {
            !has_gaps || values.iter().any(|value| !value.is_nan())
        }
        (ReadAs::Text, _) => framed.is_nearly_number(column),
        _ => false,
    }
}

fn left(framed: &Framed, column: usize) -> LeftOut {
    let FrameColumn { name, read_as, .. } = &framed.frame.columns()[column];
    let first = (0..framed.frame.rows()).find(|row| !framed.is_gap(*row, column));
    let example = first.map_or("", |row| framed.text(row, column).trim()).to_owned();
    let slip = if *read_as == ReadAs::Text { slip(&example) } else { None };
    let kind = (framed.names_rows && column == 0).then(|| "names of the rows".to_owned());
    LeftOut { column: name.clone(), example, slip, kind }
}

/// Shows a field that should be a number.
fn shown(field: &str) -> String {
    let why = slip(field).map(|why| format!(", {why}")).unwrap_or_default();
    format!("{}{why}", quoted(field))
}

/// Describes the notation of a column, if a field is a number in another notation: `2` among numbers such as `1%`.
fn unlike(framed: &Framed, column: usize, field: &str) -> String {
    let is_number = field.trim().parse::<f64>().is_ok_and(f64::is_finite);
    match framed.form_of(column).map(ReadAs::WrittenNumber) {
        Some(form) if is_number => format!(", unlike the other rows ({form})"),
        _ => String::new(),
    }
}

impl Measures {
    fn into_points(self) -> Result<Points, Error> {
        let dimension = self.columns.len();
        let points = Points::of_finite(self.values.finish()?, dimension)?;
        let mut points =
            points.with_columns(self.columns)?.with_name(self.name).with_left_out(self.left_out).with_notes(self.notes);
        if let Some(weights) = self.weights {
            points = points.with_weights(weights)?;
        }
        match self.ids {
            Some(ids) => points.with_ids(ids),
            None => Ok(points),
        }
    }

    fn into_incomplete(self) -> Result<Incomplete, Error> {
        let values = self.values.finish()?.to_vec();
        let rows = Incomplete::named(values, self.columns, &self.name)?;
        Ok(rows.with_read_ids(self.ids).with_left_out(self.left_out).with_notes(self.notes))
    }
}

/// A reader that keeps the bytes it has returned, up to a limit, so that they can be read again.
pub(super) struct Stream<'a> {
    reader: RefCell<Box<dyn Read + 'a>>,
    /// The bytes that were read; `None` if they exceeded the limit.
    kept: RefCell<Option<Rc<Vec<u8>>>>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(reader: impl Read + 'a) -> Rc<Self> {
        Rc::new(Stream { reader: RefCell::new(Box::new(reader)), kept: RefCell::new(Some(Rc::default())) })
    }

    /// Returns the whole stream, including the unread rest; `None` if it exceeds the limit.
    pub(super) fn whole(self: &Rc<Self>, name: &str) -> Option<Result<Source<'a>, Error>> {
        let rest = io::copy(&mut Handle(Rc::clone(self)), &mut io::sink());
        if let Err(cause) = rest {
            return Some(Err(Error::Read { name: name.into(), cause }));
        }
        let kept = self.kept.borrow().clone()?;
        Some(Source::new(io::Cursor::new(Whole(kept)), name))
    }
}

/// A reader of a shared stream.
pub(super) struct Handle<'a>(pub(super) Rc<Stream<'a>>);

impl Read for Handle<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.reader.borrow_mut().read(buffer)?;
        let mut kept = self.0.kept.borrow_mut();
        if kept.as_ref().is_some_and(|kept| kept.len() + read > KEPT_BYTES) {
            *kept = None;
        }
        if let Some(kept) = kept.as_mut() {
            Rc::make_mut(kept).extend_from_slice(&buffer[..read]);
        }
        Ok(read)
    }
}

struct Whole(Rc<Vec<u8>>);

impl AsRef<[u8]> for Whole {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
