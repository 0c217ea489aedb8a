//! `lehr predict`: a model and a table in, a line for each row out: its cluster, its component, or its place on a map.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lehr_data::read::{self, Selection, Table, TableForm};
use lehr_data::scale::Scale;
use lehr_data::write::AtomicFile;
use lehr_data::{Fingerprints, Incomplete, Points, Sparse, geography};
use lehr_mining::gtm::Projection;
use lehr_mining::mixture::Posterior;
use lehr_mining::vector::Assignment;

use crate::arguments::PredictArguments;
use crate::exit::{Failure, GAPS_HERE, Kind, of_rows};
use crate::plan::{of_bits_only, of_sparse_only};
use crate::{output, tables};
use lehr_methods::{Frame, gtm, mixture};
use lehr_methods::{Learnt, ModelFile};

/// Asks the model about the rows, and writes what it says.
///
/// # Errors
/// [`Kind::BadData`]: a file that is no model, a table that has not its columns; [`Kind::Usage`]: options that do not suit the model; [`Kind::Environment`]: files that cannot be read or written.
pub fn run(arguments: PredictArguments) -> Result<(), Failure> {
    let PredictArguments { model, input, bits, columns, id, missing, memberships, delimiter, header, no_header, out } =
        arguments;
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
            let message = "--memberships: a map has a posterior over all of its nodes, of which places.csv has mean, mode and entropy";
            return Err(Failure::new(Kind::Usage, message));
        }
        Learnt::Clusters(_) if missing && model.preparation.is_none() => {
            return Err(Failure::new(Kind::Usage, "--missing: clusters say nothing of rows with missing cells"));
        }
        _ => {}
    }
    if model.preparation.is_some() {
        let asked = Ordinary { columns, id, bits, missing, delimiter, header };
        return of_ordinary(&model, &input, asked, memberships, out);
    }
    let asked = Selection { columns, weights: None, id, delimiter, header };
    let said_of_bits = |rows: &Fingerprints, what: &str| {
        of_bits_only(&asked, false, Frame::Columns(Scale::None), what)?;
        Said::of_bits(&model, rows, &input, memberships)
    };
    if bits.is_some() {
        let rows = read::packed::fingerprints(&input, bits)?;
        return write(&said_of_bits(&rows, "--bits")?, Some(rows.ids()), out);
    }
    let columns = Some(asked.columns.clone().unwrap_or_else(|| model.columns.clone()));
    let selection = Selection { columns, ..asked.clone() };
    let (rows, found, ids) = if missing {
        let rows = read::incomplete(&input, &selection)?;
        (model.scaled(rows.values()), rows.dimension(), rows.ids().map(<[String]>::to_vec))
    } else {
        // The columns are the model's whatever the file is; only what was asked for says that it is a table.
        let is_table = asked.columns.is_some() || asked.delimiter.is_some() || asked.header.is_some();
        let first_column = (!is_table).then(|| model.first_column());
        let failed = |error: lehr_data::Error| match &model.model {
            Learnt::Clusters(_) => Failure::from(error),
            Learnt::Gtm(_) | Learnt::Mixture(_) => of_rows(error, GAPS_HERE),
        };
        let points = match read::table(&input, &selection, first_column).map_err(failed)? {
            Table::Numbers(points) => points,
            Table::Sparse(rows) => {
                of_sparse_only(&asked, false, Frame::Columns(Scale::None))?;
                let ids = rows.ids().map(<[String]>::to_vec);
                return write(&Said::of_sparse(&model, rows, &input, memberships)?, ids.as_deref(), out);
            }
            Table::Bits(rows) => {
                return write(&said_of_bits(&rows, "an FPS file")?, Some(rows.ids()), out);
            }
        };
        if matches!(&model.model, Learnt::Clusters(centroids) if centroids.is_bernoulli()) {
            let what = "expected rows of bits, as --cost bernoulli takes, found a table of numbers";
            return Err(Failure::new(Kind::BadData, format!("{}: {what}", input.display())));
        }
        let ids = points.ids().map(<[String]>::to_vec);
        let values = if model.is_sphere() {
            // What is not in degrees is told with its row and column.
            geography::on_sphere(&points)?.values().to_vec()
        } else {
            model.scaled(points.values())
        };
        (values, points.dimension(), ids)
    };
    let expected = model.columns.len();
    if found != expected {
        let message = format!("{}: expected {expected} columns, as the model has, found {found}", input.display());
        return Err(Failure::new(Kind::BadData, message));
    }
    write(&Said::of(&model, rows, memberships)?, ids.as_deref(), out)
}

/// What was said of a table for a model whose columns were prepared.
struct Ordinary {
    columns: Option<Vec<String>>,
    id: Option<String>,
    bits: Option<usize>,
    missing: bool,
    delimiter: Option<u8>,
    header: Option<bool>,
}

/// Asks a model whose columns were prepared: the table is read and prepared in the same way.
fn of_ordinary(
    model: &ModelFile,
    input: &Path,
    asked: Ordinary,
    memberships: bool,
    out: Option<PathBuf>,
) -> Result<(), Failure> {
    let Ordinary { columns, id, bits, missing, delimiter, header } = asked;
    let given = [("--columns", columns.is_some()), ("--bits", bits.is_some()), ("--missing", missing)];
    if let Some((option, _)) = given.iter().find(|(_, is_given)| *is_given) {
        let message = format!("{option}: the model has its own preparation of the table's columns, and their names");
        return Err(Failure::new(Kind::Usage, message));
    }
    let form = TableForm {
        delimiter: delimiter.map(char::from),
        header,
        text: id.iter().cloned().collect(),
        ..model.form.clone().unwrap_or_default()
    };
    let frame = read::data_frame(input, &form)?;
    for note in frame.notes() {
        output::note(note);
    }
    let ids = id.map(|id| frame.texts(&id)).transpose()?;
    let (rows, notes) = model.prepared(&frame)?;
    for note in notes {
        output::warning(&format!("{}: {note}", input.display()));
    }
    write(&Said::of(model, rows, memberships)?, ids.as_deref(), out)
}

fn write(said: &Said, ids: Option<&[String]>, out: Option<PathBuf>) -> Result<(), Failure> {
    match out {
        Some(path) => {
            let mut file = AtomicFile::create(&path)?;
            said.write(&mut file, ids).and_then(|()| file.flush()).map_err(|cause| file.failed(cause))?;
            file.commit()?;
            Ok(())
        }
        None => {
            let mut text = Vec::new();
            said.write(&mut text, ids).expect("memory takes any text");
            output::result(&String::from_utf8(text).expect("a table is text"))
        }
    }
}

/// What a row's distance from its centre is.
enum Distance {
    /// As the columns are.
    Straight,
    /// Through the Earth, and shown along the surface.
    Chord,
    /// None, but what the row costs, in nats.
    Cost,
}

/// What a model says of rows.
enum Said {
    Places(Projection),
    /// Whether all memberships are wanted.
    Components(Posterior, bool),
    /// What distances are, and the memberships if they are wanted.
    Clusters(Assignment, Distance, Option<Vec<f64>>),
}

impl Said {
    /// Of rows of bits, which only clusters of columns as they are say something.
    fn of_bits(model: &ModelFile, rows: &Fingerprints, input: &Path, memberships: bool) -> Result<Self, Failure> {
        let bad = |expected: String, found: String| {
            Failure::new(Kind::BadData, format!("{}: expected {expected}, found {found}", input.display()))
        };
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
        Ok(Said::Clusters(centroids.assign(rows)?, distance, all))
    }

    /// Of sparse rows, which only clusters of columns that were not shifted say something. The columns that a file does not come to are 0 in all its rows.
    fn of_sparse(model: &ModelFile, rows: Sparse, input: &Path, memberships: bool) -> Result<Self, Failure> {
        let bad = |expected: &str| {
            let message = format!("{}: expected {expected}, found sparse rows", input.display());
            Failure::new(Kind::BadData, message)
        };
        let Learnt::Clusters(centroids) = &model.model else { return Err(bad("a table of the model's columns")) };
        if model.is_sphere() || model.is_shifted() {
            return Err(bad("a table of the columns that the model shifts"));
        }
        if centroids.is_bernoulli() {
            return Err(bad("rows of bits, as --cost bernoulli takes"));
        }
        let rows = rows.with_dimension(centroids.dimension())?.divided(model.divisors());
        let all = memberships.then(|| centroids.memberships(&rows)).transpose()?;
        Ok(Said::Clusters(centroids.assign(&rows)?, Distance::Straight, all))
    }

    /// `values`: row after row as the model wants them, NaN where a cell is missing.
    fn of(model: &ModelFile, values: Vec<f64>, memberships: bool) -> Result<Self, Failure> {
        Ok(match &model.model {
            Learnt::Gtm(map) => Said::Places(map.project(&Incomplete::new(values, map.dimension())?)?),
            Learnt::Mixture(mixture) => {
                Said::Components(mixture.posterior(&Incomplete::new(values, mixture.dimension())?)?, memberships)
            }
            Learnt::Clusters(centroids) if values.iter().any(|value| value.is_nan()) => {
                let rows = Incomplete::new(values, centroids.dimension())?;
                let all = memberships.then(|| centroids.memberships_incomplete(&rows)).transpose()?;
                Said::Clusters(centroids.assign_incomplete(&rows)?, Distance::Straight, all)
            }
            Learnt::Clusters(centroids) => {
                let points = Points::new(values, centroids.dimension())?;
                let all = memberships.then(|| centroids.memberships(&points)).transpose()?;
                let distance = if model.is_sphere() { Distance::Chord } else { Distance::Straight };
                Said::Clusters(centroids.assign(&points)?, distance, all)
            }
        })
    }

    fn write(&self, out: &mut impl Write, ids: Option<&[String]>) -> io::Result<()> {
        match self {
            Said::Places(places) => gtm::places(ids, places).write_csv(out),
            Said::Components(posterior, all) => {
                let Posterior { components, memberships, labels, log_densities } = posterior;
                let rows = memberships.chunks_exact(*components).zip(labels);
                let probabilities: Vec<f64> = rows.map(|(row, &label)| row[label as usize]).collect();
                let memberships = all.then_some(&memberships[..]);
                mixture::labels(ids, labels, &probabilities, log_densities, memberships).write_csv(out)
            }
            Said::Clusters(found, distance, memberships) => {
                let shown =
                    |length| if matches!(distance, Distance::Chord) { geography::arc_km(length) } else { length };
                let is_cost = matches!(distance, Distance::Cost);
                tables::clusters_of_rows(out, ids, found, shown, memberships.as_deref(), is_cost)
            }
        }
    }
}
