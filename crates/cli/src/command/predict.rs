//! `lehr predict`: a model and a table in, a line for each row out: its cluster, its component, or its place on a map.

use std::io::{self, Write};

use lehr_data::read::{self, Selection};
use lehr_data::write::AtomicFile;
use lehr_data::{Incomplete, Points, geography};
use lehr_mining::gtm::Projection;
use lehr_mining::mixture::Posterior;
use lehr_mining::vector::Assignment;

use crate::arguments::PredictArguments;
use crate::exit::{Failure, Kind};
use crate::model::{Learnt, ModelFile};
use crate::{output, tables};

/// Asks the model about the rows, and writes what it says.
///
/// # Errors
/// [`Kind::BadData`]: a file that is no model, a table that has not its columns; [`Kind::Usage`]: options that do not suit the model; [`Kind::Environment`]: files that cannot be read or written.
pub fn run(arguments: PredictArguments) -> Result<(), Failure> {
    let PredictArguments { model, input, columns, id, missing, memberships, delimiter, header, no_header, out } =
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
        Learnt::Mixture(_) if missing => {
            return Err(Failure::new(Kind::Usage, "--missing: a mixture says nothing of rows with missing cells"));
        }
        Learnt::Clusters(_) if missing => {
            return Err(Failure::new(Kind::Usage, "--missing: clusters say nothing of rows with missing cells"));
        }
        _ => {}
    }
    let columns = Some(columns.unwrap_or_else(|| model.columns.clone()));
    let selection = Selection { columns, weights: None, id, delimiter, header };
    let (rows, found, ids) = if missing {
        let rows = read::incomplete(&input, &selection)?;
        (model.scaled(rows.values()), rows.dimension(), rows.ids().map(<[String]>::to_vec))
    } else {
        let points = read::points(&input, &selection)?;
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
    let said = Said::of(&model, rows, memberships)?;
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
    /// Whether all memberships are wanted.
    Components(Posterior, bool),
    /// Whether distances are through the Earth, and the memberships if they are wanted.
    Clusters(Assignment, bool, Option<Vec<f64>>),
}

impl Said {
    /// `values`: row after row as the model wants them, NaN where a cell is missing.
    fn of(model: &ModelFile, values: Vec<f64>, memberships: bool) -> Result<Self, Failure> {
        Ok(match &model.model {
            Learnt::Gtm(map) => Said::Places(map.project(&Incomplete::new(values, map.dimension())?)?),
            Learnt::Mixture(mixture) => {
                Said::Components(mixture.posterior(&Points::new(values, mixture.dimension())?)?, memberships)
            }
            Learnt::Clusters(centroids) => {
                let points = Points::new(values, centroids.dimension())?;
                let all = memberships.then(|| centroids.memberships(&points)).transpose()?;
                Said::Clusters(centroids.assign(&points)?, model.is_sphere(), all)
            }
        })
    }

    fn write(&self, out: &mut impl Write, ids: Option<&[String]>) -> io::Result<()> {
        match self {
            Said::Places(places) => tables::places(out, ids, places),
            Said::Components(posterior, all) => {
                let Posterior { components, memberships, labels, log_densities } = posterior;
                let rows = memberships.chunks_exact(*components).zip(labels);
                let probabilities: Vec<f64> = rows.map(|(row, &label)| row[label as usize]).collect();
                let memberships = all.then_some(&memberships[..]);
                tables::components_of_rows(out, ids, labels, &probabilities, log_densities, memberships)
            }
            Said::Clusters(found, is_sphere, memberships) => {
                let distance = |chord| if *is_sphere { geography::arc_km(chord) } else { chord };
                tables::clusters_of_rows(out, ids, found, distance, memberships.as_deref())
            }
        }
    }
}
