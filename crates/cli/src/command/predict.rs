//! `lehr predict`: reads a model and a table, and writes a line for each row: its cluster, its component, or its
//! position on a map.

use std::io::Write;
use std::path::PathBuf;

use lehr_data::frame::DataFrame;
use lehr_data::object;
use lehr_data::read::molecules::Notation;
use lehr_data::read::{self, Selection, Table, TableForm};
use lehr_data::scale::Scale;
use lehr_data::write::AtomicFile;
use lehr_data::{FingerprintKind, Fingerprints};

use crate::arguments::PredictArguments;
use crate::exit::{Failure, GAPS_OF_MODEL, Kind, of_rows};
use crate::output;
use crate::plan::{of_bits_only, of_sparse_only};
use lehr_methods::predict::{OfTable, Predicted, Refusal};
use lehr_methods::{Frame, Learnt, ModelFile, append_frame};

/// Applies the model to the rows, and writes the predictions.
///
/// # Errors
/// Returns [`Kind::BadData`] for a file that is not a model, or a table that lacks the model's columns. Returns
/// [`Kind::Usage`] for options that do not suit the model, and [`Kind::Environment`] for files that cannot be read or
/// written.
pub fn run(arguments: PredictArguments) -> Result<(), Failure> {
    let PredictArguments {
        model,
        input,
        bits,
        columns,
        id,
        missing,
        memberships,
        append,
        delimiter,
        header,
        no_header,
        out,
        quiet,
    } = arguments;
    let out = Target { path: out, quiet };
    let model = ModelFile::read(&model)?;
    if let Some(columns) = &columns
        && columns.len() != model.columns.len()
    {
        return Err(Failure::new(
            Kind::Usage,
            format!("--columns: expected {} columns, as the model has, found {}", model.columns.len(), columns.len()),
        )
        .with_hint(format!("the model's columns are {}", model.columns.join(", "))));
    }
    let header = match (header, no_header) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    match &model.model {
        Learnt::Gtm(_) if memberships => {
            let message =
                "--memberships: a map has a posterior over all of its nodes; places.csv has its mean, mode and entropy";
            return Err(Failure::new(Kind::Usage, message));
        }
        learnt if missing && learnt.needs_whole_rows() && model.preparation.is_none() => {
            return Err(Failure::new(Kind::Usage, "--missing: clusters cannot label rows with missing cells"));
        }
        _ => {}
    }
    let tell = |said: &Predicted| {
        said.notes().iter().for_each(|note| output::warning(&format!("{}: {note}", object::shown(&input))));
    };
    let refused = |refusal: Refusal| match refusal {
        Refusal::Unsuited { expected, found } => {
            Failure::new(Kind::BadData, format!("{}: expected {expected}, found {found}", object::shown(&input)))
        }
        Refusal::Data(error) => error.into(),
        Refusal::Mining(error) => error.into(),
    };
    if model.preparation.is_some() {
        let given = [("--columns", columns.is_some()), ("--bits", bits.is_some()), ("--missing", missing)];
        if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
            let message = format!("{option}: the model prepares the columns of the table, which it knows by name");
            return Err(Failure::new(Kind::Usage, message));
        }
        let form = model.form_with(id.as_deref(), delimiter.map(char::from), header);
        let frame = read::data_frame(&input, &form)?;
        let OfTable { said, ids } = Predicted::of_table(&model, &frame, id.as_deref(), memberships).map_err(refused)?;
        frame.notes().iter().for_each(|note| output::warning(&format!("{}: {note}", object::shown(&input))));
        tell(&said);
        return write(&said, ids.as_deref(), append.then_some(&frame), out);
    }
    // The number of columns of the model says which fingerprints it was made of.
    let notation = Notation::of_file(&input);
    let fingerprint = notation.map(|_| FingerprintKind::of_bits(model.columns.len()));
    let asked = Selection { columns, weights: None, id, delimiter, header, fingerprint, ..Selection::default() };
    let said_of_bits = |rows: &Fingerprints, what: &str| {
        of_bits_only(&asked, false, Frame::Columns(Scale::None), what)?;
        Predicted::of_bits(&model, rows, memberships).map_err(refused)
    };
    if bits.is_some() {
        let rows = read::packed::fingerprints(&input, bits)?;
        no_columns(append, "rows of bits")?;
        return write(&said_of_bits(&rows, "--bits")?, Some(rows.ids()), None, out);
    }
    let columns = Some(asked.columns.clone().unwrap_or_else(|| model.columns.clone()));
    // If this table has the model's column of identifiers, that column identifies its rows too.
    let known = model.id.as_deref().filter(|_| asked.id.is_none());
    let selection = Selection { columns, id: asked.id.clone().or(known.map(str::to_owned)), ..asked.clone() };
    let (said, ids) = if missing {
        let rows = with_id_or_without(&selection, known, |selection| read::incomplete(&input, selection))?;
        (Predicted::of_records(&model, &rows, memberships).map_err(refused)?, rows.ids().map(<[String]>::to_vec))
    } else {
        // The columns are the model's for every kind of file, so only options of tables show that the input is a table.
        let is_table = asked.columns.is_some() || asked.delimiter.is_some() || asked.header.is_some();
        let first_column = (!is_table).then(|| model.first_column());
        let failed = |error: lehr_data::Error| match model.model.needs_whole_rows() {
            true => Failure::from(error),
            false => of_rows(error, GAPS_OF_MODEL),
        };
        let points =
            match with_id_or_without(&selection, known, |selection| read::table(&input, selection, first_column))
                .map_err(failed)?
            {
                Table::Numbers(points) => points,
                Table::Sparse(rows) => {
                    no_columns(append, "sparse rows")?;
                    of_sparse_only(&asked, false, Frame::Columns(Scale::None))?;
                    let ids = rows.ids().map(<[String]>::to_vec);
                    return write(
                        &Predicted::of_sparse(&model, rows, memberships).map_err(refused)?,
                        ids.as_deref(),
                        None,
                        out,
                    );
                }
                Table::Bits(rows) => {
                    no_columns(append, "fingerprints")?;
                    return write(&said_of_bits(&rows, "an FPS file")?, Some(rows.ids()), None, out);
                }
            };
        let ids = points.ids().map(<[String]>::to_vec);
        (Predicted::of_points(&model, &points, memberships).map_err(refused)?, ids)
    };
    tell(&said);
    let form = TableForm { delimiter: delimiter.map(char::from), header, ..TableForm::default() };
    let frame = append.then(|| read::data_frame(&input, &form)).transpose()?;
    write(&said, ids.as_deref(), frame.as_ref(), out)
}

/// Refuses `--append` for an input without columns.
fn no_columns(append: bool, what: &str) -> Result<(), Failure> {
    if append {
        return Err(Failure::new(Kind::Usage, format!("--append: {what} have no columns to append")));
    }
    Ok(())
}

/// Reads a table by the ids of a column if it has that column, and without ids otherwise.
fn with_id_or_without<T>(
    selection: &Selection,
    known: Option<&str>,
    read: impl Fn(&Selection) -> Result<T, lehr_data::Error>,
) -> Result<T, lehr_data::Error> {
    match read(selection) {
        Err(lehr_data::Error::NoSuchColumns { wanted, .. }) if known.is_some_and(|id| wanted == [id]) => {
            read(&Selection { id: None, ..selection.clone() })
        }
        read => read,
    }
}

/// The destination of the table.
struct Target {
    /// The file to write; standard output without one.
    path: Option<PathBuf>,
    /// Whether to print no summary.
    quiet: bool,
}

/// Writes a line for each row, with the columns of `appended` if there are any.
fn write(
    said: &Predicted,
    ids: Option<&[String]>,
    appended: Option<&DataFrame>,
    Target { path, quiet }: Target,
) -> Result<(), Failure> {
    let table = said.table(ids);
    let table = match appended {
        Some(frame) if frame.rows() == table.rows() => append_frame(frame, table),
        Some(frame) => {
            let message = format!(
                "--append: {} is read as {} rows for the model, and as {} with all columns",
                frame.name(),
                table.rows(),
                frame.rows()
            );
            return Err(Failure::new(Kind::BadData, message));
        }
        None => table,
    };
    let Some(path) = path else {
        let mut text = Vec::new();
        table.write_csv(&mut text).expect("memory takes any text");
        output::result(&String::from_utf8(text).expect("a table is text"))?;
        if !quiet {
            output::note(&said.summary());
        }
        return Ok(());
    };
    let mut file = AtomicFile::create(&path)?;
    table.write_csv(&mut file).and_then(|()| file.flush()).map_err(|cause| file.failed(cause))?;
    file.commit()?;
    if quiet {
        return Ok(());
    }
    output::result(&format!("{}\nwritten to {}\n", said.summary(), path.display()))
}
