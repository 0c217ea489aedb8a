//! Reads the data of a method. The data are the rows of a file in any format that the method takes, built-in rows, the
//! first rows of a stream, or dissimilarities.

use std::io;

use lehr_data::frame::DataFrame;
use lehr_data::object;
use lehr_data::preparation::Wishes;
use lehr_data::read::{self, Batches, Selection, Table, TableForm};
use lehr_data::scale::Scale;
use lehr_data::{Fingerprints, Points, Sparse, memory};
use lehr_demos::census;
use lehr_methods::prepared::{Described, Keys};
use lehr_methods::{Data, Frame, Matrix, Rows, RowsWords, Stream, Takes};
use lehr_mining::minibatch;

use crate::exit::{Failure, GAPS_ELSEWHERE, GAPS_FILLED, GAPS_HERE, Kind, of_rows};
use crate::interrupt::Interrupt;
use crate::matrix::{classes, read_matrix};
use crate::output;
use crate::plan::method::{MethodPlan, Origin, Preparing, Source};
use crate::plan::{of_bits_only, of_sparse_only, stays_in_memory};
use crate::weights;

/// The data, as they were read.
pub enum Input {
    /// The rows of a table.
    Rows(Box<Rows>),
    /// A stream whose first rows have been read.
    Stream(Box<Stream>),
    /// Dissimilarities of all pairs.
    Matrix(Box<Matrix>),
}

impl Input {
    /// Reads the data of a plan.
    ///
    /// # Errors
    /// Returns [`Kind::BadData`] for a file of another kind than expected. Returns [`Kind::Usage`] for options that its
    /// format does not have, and [`Kind::Environment`] for a file that cannot be read.
    pub fn read(plan: &MethodPlan) -> Result<Self, Failure> {
        Ok(match plan.method.about().takes {
            Takes::Matrix(_) => {
                let mut matrix = read_matrix(&plan.source.path, plan.quiet)?;
                if let Some(known) = &plan.source.classes {
                    let read = |column: &String| classes(&matrix, &known.path, column, plan.quiet);
                    matrix.classes = known.columns.iter().map(read).collect::<Result<_, _>>()?;
                }
                Input::Matrix(Box::new(matrix))
            }
            Takes::Rows(words) => Input::Rows(Box::new(match &plan.source.preparing {
                Some(preparing) => prepared(&plan.source, preparing, plan.quiet)?,
                None => rows(&plan.source, &words).inspect_err(|failure| print_columns(plan, failure))?,
            })),
            Takes::Stream(_) => Input::Stream(Box::new(stream(plan)?)),
        })
    }

    /// Returns the data for a method.
    pub fn data(&self) -> Data<'_> {
        match self {
            Input::Rows(rows) => Data::Rows(rows),
            Input::Stream(stream) => Data::Stream(stream),
            Input::Matrix(matrix) => Data::Matrix(matrix),
        }
    }
}

/// Reads an ordinary table and prepares its columns. Unless `quiet`, prints the columns' roles and uses before anything
/// can fail.
fn prepared(source: &Source, preparing: &Preparing, quiet: bool) -> Result<Rows, Failure> {
    let Source { path, selection, .. } = source;
    let frame = read::data_frame(path, &preparing.form)?;
    frame.expect_columns(&preparing.form.text)?;
    let named = |column: &String| named_column(&frame, column);
    let names = |columns: &[String]| columns.iter().map(named).collect::<Vec<_>>();
    let wishes = Wishes {
        columns: preparing.wishes.columns.as_deref().map(names),
        exclude: names(&preparing.wishes.exclude),
        log: names(&preparing.wishes.log),
        ..preparing.wishes.clone()
    };
    let (id, weights) = (selection.id.as_ref().map(named), selection.weights.as_ref().map(named));
    let keys = Keys { id: id.as_deref(), weights: weights.as_deref() };
    let notes = frame.notes().to_vec();
    let described = Described::new(frame, &keys);
    let account = described.text();
    let print = |account: &str| {
        if !quiet {
            output::note(&format!("the columns of {}\n{account}", object::shown(path)));
        }
    };
    match described.prepare(&wishes) {
        Ok(decided) => {
            print(&decided.text());
            Ok(decided.rows(keys, preparing.sets_aside)?)
        }
        Err(error) => {
            // Without an error, the rows carry the notes as warnings.
            notes.iter().filter(|_| !quiet).for_each(|note| output::note(note));
            print(&account);
            Err(error.into())
        }
    }
}

/// Describes the columns of a refused table, because faults seldom affect only one column.
fn print_columns(plan: &MethodPlan, failure: &Failure) {
    let Source { path, selection, .. } = &plan.source;
    // Other messages, such as those about weights, need no description of the columns.
    if plan.quiet || failure.kind != Kind::BadData || !failure.message.contains("expected a finite number") {
        return;
    }
    let form =
        TableForm { delimiter: selection.delimiter.map(char::from), header: selection.header, ..TableForm::default() };
    // If the table cannot be read, the caller still reports the original error.
    if let Ok(frame) = read::data_frame(path, &form) {
        let keys = Keys { id: selection.id.as_deref(), weights: selection.weights.as_deref() };
        output::note(&format!("the columns of {}\n{}", object::shown(path), Described::new(frame, &keys).text()));
    }
}

/// Returns the name of a column that was given by name or 0-based index; a name takes precedence over an index.
fn named_column(frame: &DataFrame, column: &str) -> String {
    let by_index = || frame.columns().get(column.parse::<usize>().ok()?);
    if frame.column(column).is_some() {
        return column.to_owned();
    }
    by_index().map_or_else(|| column.to_owned(), |column| column.name.clone())
}

/// Reads the first rows of a stream. A fault in a later row ends the run when it is found.
fn stream(plan: &MethodPlan) -> Result<Stream, Failure> {
    let Source { path, selection, origin, frame, .. } = &plan.source;
    let begun = || {
        let source: Box<dyn minibatch::Source> = match origin {
            Origin::StandardInput => Box::new(Pipe(Batches::new(io::stdin().lock(), &object::shown(path), selection)?)),
            Origin::File | Origin::BuiltIn(_) => Box::new(Batches::open(path, selection)?),
        };
        let stream = Stream::begin(source, plan.method.sample_rows(&plan.options), frame.scale())?;
        let nothing = || lehr_data::Error::Empty { name: object::shown(path), found: "no rows" };
        stream.ok_or_else(nothing)
    };
    begun().map_err(|error| {
        if *origin == Origin::StandardInput {
            Interrupt::let_arrive();
        }
        of_rows(error, GAPS_ELSEWHERE)
    })
}

/// Batches from standard input. Ctrl-C reaches every program of a pipe. The program that feeds it may end in the middle
/// of a row before this one receives the signal.
struct Pipe(Batches<'static>);

impl minibatch::Source for Pipe {
    fn next(&mut self, rows: usize) -> Result<Option<Points>, lehr_data::Error> {
        self.0.next(rows).inspect_err(|_| Interrupt::let_arrive())
    }
}

/// Reads rows. Large tables go into files of the spill folder, if there is one. Rows with missing values, rows of bits
/// and sparse rows stay in memory.
fn rows(source: &Source, words: &RowsWords) -> Result<Rows, Failure> {
    let Source { path, selection, frame, .. } = source;
    if source.built_in().is_some() {
        return Ok(Rows::new(census::points(), *frame)?);
    }
    if source.missing {
        memory::has_room(path, selection)?;
        return Ok(Rows::with_gaps(read::incomplete(path, selection)?, frame.scale())?);
    }
    if words.takes_bits_and_sparse {
        return any_rows(source);
    }
    let points = match &source.spill {
        Some(spill) => read::spilled_points(path, selection, spill),
        None => memory::has_room(path, selection).and_then(|()| read::points(path, selection)),
    };
    let for_gaps = if words.missing.is_some() { GAPS_HERE } else { GAPS_FILLED };
    Ok(Rows::new(points.map_err(|error| of_rows(error, for_gaps))?, *frame)?)
}

/// Reads rows of numbers, rows of bits or sparse rows; weights of the latter two are in a separate table.
fn any_rows(source: &Source) -> Result<Rows, Failure> {
    let Source { path, selection, bits, first_column, weights_from, spill, frame, .. } = source;
    if bits.is_some() {
        return Ok(Rows::of_bits(weighted_bits(source, read::packed::fingerprints(path, *bits)?)?));
    }
    // If there is a separate table of weights, the selection is for that table.
    let unnamed = Selection { fingerprint: selection.fingerprint, ..Selection::default() };
    let own = if weights_from.is_some() { &unnamed } else { selection };
    let table = match spill {
        Some(spill) => read::spilled_table(path, own, *first_column, spill),
        None => memory::has_room(path, own).and_then(|()| read::table(path, own, *first_column)),
    };
    let table = table.map_err(|error| of_rows(error, GAPS_FILLED))?;
    if first_column.is_some() && !matches!(table, Table::Sparse(_)) {
        let message = format!("--first-column: for SVMlight's text, which {} is not", object::shown(path));
        return Err(Failure::new(Kind::Usage, message));
    }
    match table {
        Table::Numbers(_) if weights_from.is_some() => {
            let message = "--weights-from: for rows of bits and sparse rows; a table of numbers has its weights in a column of its own";
            Err(Failure::new(Kind::Usage, message).with_hint("--weights names it"))
        }
        Table::Sparse(rows) => {
            of_sparse_only(selection, weights_from.is_some(), *frame)?;
            stays_in_memory(spill.as_ref(), "the file has sparse rows")?;
            let scale = if let Frame::Columns(scale) = frame { *scale } else { Scale::None };
            Ok(Rows::of_sparse(weighted_sparse(source, rows)?, scale))
        }
        Table::Numbers(points) => Ok(Rows::new(points, *frame)?),
        Table::Bits(rows) => {
            of_bits_only(selection, weights_from.is_some(), *frame, "an FPS file")?;
            stays_in_memory(spill.as_ref(), "an FPS file has rows of bits")?;
            Ok(Rows::of_bits(weighted_bits(source, rows)?))
        }
    }
}

fn weighted_bits(source: &Source, rows: Fingerprints) -> Result<Fingerprints, Failure> {
    let Some(table) = &source.weights_from else { return Ok(rows) };
    let weights = weights::of_rows(rows.ids(), table, &source.selection)?;
    Ok(rows.with_weights(weights)?)
}

fn weighted_sparse(source: &Source, rows: Sparse) -> Result<Sparse, Failure> {
    let Some(table) = &source.weights_from else { return Ok(rows) };
    let numbers: Vec<String> = (0..rows.len()).map(|row| row.to_string()).collect();
    let weights = weights::of_rows(&numbers, table, &source.selection)?;
    Ok(rows.with_weights(weights)?)
}
