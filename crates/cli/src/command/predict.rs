//! `lehr predict`: a model and a table in, a line for each row out: its place on a map, or its component.

use std::io::{self, Write};

use lehr_data::read::{self, Selection};
use lehr_data::write::AtomicFile;
use lehr_data::{Incomplete, Points};
use lehr_mining::gtm::Projection;
use lehr_mining::mixture::Posterior;

use crate::arguments::PredictArguments;
use crate::exit::{Failure, Kind};
use crate::model::{Learnt, ModelFile};
use crate::{output, tables};

/// Asks the model about the rows, and writes what it says.
///
/// # Errors
/// [`Kind::BadData`]: a file that is no model, a table that has not its columns; [`Kind::Usage`]: options that do not suit the model; [`Kind::Environment`]: files that cannot be read or written.
pub fn run(arguments: PredictArguments) -> Result<(), Failure> {
    let PredictArguments { model, input, columns, id, missing, delimiter, header, no_header, out } = arguments;
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
    if missing && matches!(model.model, Learnt::Mixture(_)) {
        return Err(Failure::new(Kind::Usage, "--missing: a mixture says nothing of rows with missing cells"));
    }
    let columns = Some(columns.unwrap_or_else(|| model.columns.clone()));
    let selection = Selection { columns, weights: None, id, delimiter, header };
    let (values, found, ids) = if missing {
        let rows = read::incomplete(&input, &selection)?;
        (rows.values().to_vec(), rows.dimension(), rows.ids().map(<[String]>::to_vec))
    } else {
        let points = read::points(&input, &selection)?;
        (points.values().to_vec(), points.dimension(), points.ids().map(<[String]>::to_vec))
    };
    let expected = model.columns.len();
    if found != expected {
        let message = format!("{}: expected {expected} columns, as the model has, found {found}", input.display());
        return Err(Failure::new(Kind::BadData, message));
    }
    let said = Said::of(&model.model, model.scaled(&values), expected)?;
    match out {
        Some(path) => {
            let mut file = AtomicFile::create(&path)?;
            said.write(&mut file, ids.as_deref()).and_then(|()| file.flush()).map_err(|cause| file.failed(cause))?;
            file.commit()?;
            Ok(())
        }
        None => {
            let mut text = Vec::new();
            said.write(&mut text, ids.as_deref()).expect("memory takes any text");
            output::result(&String::from_utf8(text).expect("a table is text"))
        }
    }
}

/// What a model says of rows.
enum Said {
    Places(Projection),
    Components(Posterior),
}

impl Said {
    /// `values`: row after row, scaled, NaN where a cell is missing.
    fn of(model: &Learnt, values: Vec<f64>, dimension: usize) -> Result<Self, Failure> {
        Ok(match model {
            Learnt::Gtm(map) => Said::Places(map.project(&Incomplete::new(values, dimension)?)?),
            Learnt::Mixture(mixture) => Said::Components(mixture.posterior(&Points::new(values, dimension)?)?),
        })
    }

    fn write(&self, out: &mut impl Write, ids: Option<&[String]>) -> io::Result<()> {
        match self {
            Said::Places(places) => tables::places(out, ids, places),
            Said::Components(posterior) => {
                let Posterior { components, memberships, labels, log_densities } = posterior;
                let rows = memberships.chunks_exact(*components).zip(labels);
                let probabilities: Vec<f64> = rows.map(|(row, &label)| row[label as usize]).collect();
                tables::components_of_rows(out, ids, labels, &probabilities, log_densities)
            }
        }
    }
}
