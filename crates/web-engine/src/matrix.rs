//! The dissimilarities of a table's rows, as `lehr distances` computes them.

use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_data::read::{self, Selection, TableForm};
use lehr_data::scale::Scale;
use lehr_data::{Incomplete, gower};
use lehr_distances::rows::{Compared, Measure};
use lehr_distances::{Half, all_pairs};
use lehr_methods::Matrix;
use lehr_methods::rows::reading_warnings;
use lehr_mining::anneal::Observer;

use crate::request::Request;
use crate::run::{ALONE, words};

/// The maximum number of bytes of values: those of 16,368 rows. A map needs as much memory again, and a browser has 4
/// GB.
const BYTES_MAX: u64 = 512 << 20;

/// Compares all pairs of rows. Also returns the warnings about the table.
///
/// # Errors
/// The faults of the request or the table, in words.
pub fn matrix(request: &Request, bytes: &[u8], observer: &mut dyn Observer) -> Result<(Matrix, Vec<String>), String> {
    let (measure, rows) = rows(request, bytes)?;
    if rows.len() < 2 {
        return Err(format!("{}: expected at least 2 rows, which make a pair, found 1", request.name));
    }
    Half::<f32>::fits(rows.len(), BYTES_MAX).map_err(words)?;
    let mut warnings = reading_warnings(&request.name, rows.left_out(), rows.ids());
    warnings.extend(rows.notes().iter().map(|note| format!("{}: {note}", request.name)));
    let metric = Compared::new(&rows, measure).map_err(words)?;
    let half = all_pairs::<f32>(&metric, &ALONE, None, observer).map_err(words)?;
    let items = half.items();
    let ids = rows.ids().map_or_else(|| (0..items).map(|row| row.to_string()).collect(), <[String]>::to_vec);
    // Single precision, as in the command's folder.
    let values = half.condensed(|value| value as f32);
    drop(half);
    let dissimilarities = Dissimilarities::new(items, Form::Condensed, Values::F32(values), 1.0).map_err(words)?;
    Ok((Matrix { dissimilarities, ids, weights: None, classes: Vec::new(), smiles: None }, warnings))
}

/// Reads the rows as they are compared.
fn rows(request: &Request, bytes: &[u8]) -> Result<(Measure, Incomplete), String> {
    let Request { name, columns, id, metric, .. } = request;
    let given =
        |option: &str, found: &str| Err(format!("{option}: expected none for {}, found {found}", request.method));
    if let Some(weights) = &request.weights {
        return given("weights", weights);
    }
    if !request.exclude.is_empty() {
        return given("exclude", &request.exclude.join(", "));
    }
    if request.lonlat {
        return given("lonlat", "true");
    }
    let scale = request.scale.map_or(Scale::None, Scale::from);
    let usual = if request.auto { Measure::Gower } else { Measure::Euclidean };
    let measure = match metric {
        Some(metric) => metric.parse().map_err(|_| {
            let names: Vec<&str> = Measure::ALL.iter().map(|measure| measure.name()).collect();
            format!("metric: expected one of {}, found {metric:?}", names.join(", "))
        })?,
        None => usual,
    };
    let columns = (!columns.is_empty()).then(|| columns.clone());
    if measure == Measure::Gower {
        if scale != Scale::None {
            return Err(format!("scale: expected none, as gower divides columns by their ranges, found {scale}"));
        }
        let form = TableForm { text: id.iter().cloned().collect(), ..TableForm::default() };
        let frame = read::data_frame_from(bytes, name, &form).map_err(words)?;
        return Ok((measure, gower::rows(&frame, columns.as_deref(), id.as_deref()).map_err(words)?));
    }
    let selection = Selection { columns, id: id.clone(), ..Selection::default() };
    let rows = read::incomplete_from(bytes, name, &selection).map_err(words)?;
    match scale {
        Scale::None => Ok((measure, rows)),
        Scale::Std => Ok((measure, rows.standardised())),
        Scale::Robust => Err(format!("scale: expected none or std for {}, found {scale}", request.method)),
    }
}
