//! `model.json`: the model that a command has learnt, which `lehr predict` reads.
//!
//! The file contains the names of the columns, how they were scaled, and the model in the units of the scaled columns.
//! Numbers are written so that they read back bit-identically. A checksum shows whether the content was changed.

mod checksum;

use std::fs;
use std::path::Path;

use lehr_data::frame::DataFrame;
use lehr_data::preparation::{Missing, Preparation, Prepared};
use lehr_data::read::TableForm;
use lehr_data::sparse::FirstColumn;
use lehr_mining::gtm::Map;
use lehr_mining::mixture::Mixture;
use lehr_mining::vector::Centroids;
use serde::{Deserialize, Serialize};

pub use checksum::model_checksum;

use crate::data::Data;
use crate::items::{Medoids, Members, Positions};

/// The version of the format. It rises whenever the meaning of the content changes.
const FORMAT: u32 = 1;
/// The kind of file, as the content declares it.
const KIND: &str = "lehr model";

/// The reason why a model cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// Whether the cause is the machine and not the file.
    pub is_environment: bool,
    /// The name of the file, the expected content and the content found.
    pub message: String,
    /// A hint at a remedy, if there is one.
    pub hint: Option<&'static str>,
}

impl Unreadable {
    fn new(message: String) -> Self {
        Self { is_environment: false, message, hint: None }
    }
}

impl std::fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Unreadable {}

/// The content of a model file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFile {
    kind: String,
    format: u32,
    /// The version of Lehr that wrote the file.
    version: String,
    /// The names of the columns, in the order of the model's numbers.
    pub columns: Vec<String>,
    /// The number subtracted from each column.
    shifts: Vec<f64>,
    /// The number by which each column was divided after the subtraction.
    divisors: Vec<f64>,
    /// The column that named the rows, if there was one. Other tables probably have it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whether the two columns are longitude and latitude, so that the model's numbers are kilometres on the sphere.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lonlat: bool,
    /// The steps that turn a table into these columns, if the columns were prepared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<Preparation>,
    /// The notation in which such a table is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<TableForm>,
    /// The distance from each centre beyond which a row is far out, in the unit of the model's numbers. `None` for a
    /// cluster of very few rows. The list is empty if the distances are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Option<f64>>,
    /// The model.
    pub model: Learnt,
}

/// The trained model, by method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Learnt {
    /// A topographic map.
    Gtm(Map),
    /// A mixture of Gaussians.
    Mixture(Mixture),
    /// The centres of a clustering.
    Clusters(Centroids),
    /// The medoids of a clustering of items.
    Medoids(Medoids),
    /// The members of a pairwise clustering.
    Pairwise(Members),
    /// The positions of items on a map.
    Embedding(Positions),
}

impl Learnt {
    /// Returns the number of columns that the model needs.
    fn dimension(&self) -> usize {
        match self {
            Learnt::Gtm(map) => map.dimension(),
            Learnt::Mixture(mixture) => mixture.dimension(),
            Learnt::Clusters(centroids) => centroids.dimension(),
            Learnt::Medoids(medoids) => medoids.dimension(),
            Learnt::Pairwise(members) => members.dimension(),
            Learnt::Embedding(map) => map.dimension(),
        }
    }

    /// Returns the name of the kind of model, as in the file.
    pub fn kind(&self) -> &'static str {
        match self {
            Learnt::Gtm(_) => "gtm",
            Learnt::Mixture(_) => "mixture",
            Learnt::Clusters(_) => "clusters",
            Learnt::Medoids(_) => "medoids",
            Learnt::Pairwise(_) => "pairwise",
            Learnt::Embedding(_) => "embedding",
        }
    }

    /// Returns whether the columns are dissimilarities to items of the run.
    pub fn is_of_items(&self) -> bool {
        matches!(self, Learnt::Medoids(_) | Learnt::Pairwise(_) | Learnt::Embedding(_))
    }

    /// Returns whether rows need a value in each column.
    pub fn needs_whole_rows(&self) -> bool {
        matches!(self, Learnt::Clusters(_) | Learnt::Medoids(_))
    }

    /// Checks that the numbers form a valid model.
    fn check(&self) -> Result<(), lehr_mining::Error> {
        match self {
            Learnt::Gtm(map) => map.check(),
            Learnt::Mixture(mixture) => mixture.check(),
            Learnt::Clusters(centroids) => centroids.check(),
            Learnt::Medoids(medoids) => medoids.check(),
            Learnt::Pairwise(members) => members.check(),
            Learnt::Embedding(map) => map.check(),
        }
    }
}

impl ModelFile {
    /// Creates the file of a model whose columns were first shifted and divided.
    pub fn new(columns: &[String], (shifts, divisors): (Vec<f64>, Vec<f64>), model: Learnt) -> Self {
        let (kind, version) = (KIND.to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        Self {
            kind,
            format: FORMAT,
            version,
            columns: columns.to_vec(),
            shifts,
            divisors,
            id: None,
            lonlat: false,
            preparation: None,
            form: None,
            limits: Vec::new(),
            model,
        }
    }

    /// Creates the file of a model of positions on the sphere, whose columns are longitude and latitude in degrees.
    pub fn on_sphere(columns: &[String], model: Learnt) -> Self {
        let same = (vec![0.0; columns.len()], vec![1.0; columns.len()]);
        Self { lonlat: true, ..Self::new(columns, same, model) }
    }

    /// Creates the file of a model with the columns of its data and the limits of its clusters. The columns of
    /// dissimilarities are the ids of the items to which new items are compared.
    pub fn of(data: Data<'_>, model: Learnt, limits: Vec<Option<f64>>) -> Self {
        // JSON has no infinite number. Without a limit for each group, no row is compared with any limit.
        let are_known = limits.iter().flatten().all(|limit| limit.is_finite());
        let limits = if are_known { limits } else { Vec::new() };
        Self { limits, ..Self::in_columns(data, model) }
    }

    fn in_columns(data: Data<'_>, model: Learnt) -> Self {
        match data {
            Data::Matrix(matrix) => {
                let columns = match &model {
                    Learnt::Medoids(found) => {
                        found.medoids().iter().map(|item| matrix.ids[*item as usize].clone()).collect()
                    }
                    _ => matrix.ids.clone(),
                };
                let same = (vec![0.0; columns.len()], vec![1.0; columns.len()]);
                Self::new(&columns, same, model)
            }
            Data::Stream(stream) => Self::new(stream.columns(), stream.shifts_and_divisors(), model),
            Data::Rows(rows) if rows.is_sphere() => Self::on_sphere(rows.columns(), model),
            Data::Rows(rows) => {
                let model = Self::new(rows.columns(), rows.shifts_and_divisors(), model);
                let origin = rows.origin();
                let form = origin.map(|origin| form_of(&origin.frame, &origin.preparation));
                Self { preparation: origin.map(|origin| origin.preparation.clone()), form, ..model }
            }
        }
    }

    /// Sets the column that named the rows.
    pub fn with_id(self, id: Option<String>) -> Self {
        Self { id, ..self }
    }

    /// Returns whether the columns are longitude and latitude.
    pub fn is_sphere(&self) -> bool {
        self.lonlat
    }

    /// Returns whether any column was shifted or divided.
    pub fn is_scaled(&self) -> bool {
        self.shifts.iter().any(|shift| *shift != 0.0) || self.divisors.iter().any(|divisor| *divisor != 1.0)
    }

    /// Returns whether any column was shifted.
    pub fn is_shifted(&self) -> bool {
        self.shifts.iter().any(|shift| *shift != 0.0)
    }

    /// Returns the shift of each column.
    pub fn shifts(&self) -> &[f64] {
        &self.shifts
    }

    /// Returns the divisor of each column.
    pub fn divisors(&self) -> &[f64] {
        &self.divisors
    }

    /// Returns the number of the first column in SVMlight text for this model: 0 if the model's first column is `x0`.
    pub fn first_column(&self) -> FirstColumn {
        if self.columns.first().is_some_and(|name| name == "x0") { FirstColumn::Zero } else { FirstColumn::One }
    }

    /// Returns whether the model has only some columns of sparse rows. It leaves out columns without values.
    pub fn has_unused_columns(&self) -> bool {
        let number = |name: &String| name.strip_prefix('x')?.parse::<usize>().ok();
        let ends = self.columns.first().and_then(number).zip(self.columns.last().and_then(number));
        ends.is_some_and(|(first, last)| last.checked_sub(first).is_some_and(|apart| apart >= self.columns.len()))
    }

    /// Returns the text of the file.
    ///
    /// # Errors
    /// Returns an error if a name is not valid in JSON.
    pub fn text(&self) -> serde_json::Result<String> {
        with_checksum(&serde_json::to_string(self)?)
    }

    /// Reads and checks a model.
    ///
    /// # Errors
    /// Returns [`Unreadable`] if the file cannot be read, is not a model, has another format, or has numbers that do
    /// not form a valid model.
    pub fn read(path: &Path) -> Result<Self, Unreadable> {
        // If the path is a results folder, read the model in it.
        let inside = path.join("model.json");
        let path = if path.is_dir() && inside.is_file() { &inside } else { path };
        let shown = path.display();
        if path.is_dir() {
            let hint = "name a folder that a method of lehr wrote, such as lehr cluster, or the model.json in it";
            let message = format!("{shown}: expected a model, found a folder without a model.json");
            return Err(Unreadable { hint: Some(hint), ..Unreadable::new(message) });
        }
        let bytes = fs::read(path)
            .map_err(|cause| Unreadable { is_environment: true, ..Unreadable::new(format!("{shown}: {cause}")) })?;
        let value: serde_json::Value = serde_json::from_slice(&bytes)
            .map_err(|cause| Unreadable::new(format!("{shown}: expected a model, found no JSON ({cause})")))?;
        Self::of_json(value, &shown.to_string())
    }

    /// Reads and checks a model in JSON. Messages call it `shown`.
    ///
    /// # Errors
    /// Returns the errors of [`read`](Self::read).
    pub fn of_json(value: serde_json::Value, shown: &str) -> Result<Self, Unreadable> {
        let bad = |what: String| Unreadable::new(format!("{shown}: {what}"));
        if value["kind"] != KIND {
            let hint = "a model is the model.json in the folder that a method of lehr wrote, such as lehr cluster";
            return Err(Unreadable { hint: Some(hint), ..bad("expected a model".to_owned()) });
        }
        if value["format"] != FORMAT {
            let message = format!("expected a model of format {FORMAT}, found format {}", value["format"]);
            let is_newer = value["format"].as_u64().is_some_and(|format| format > u64::from(FORMAT));
            let writer = value["version"].as_str().map_or_else(String::new, |version| format!(" {version}"));
            return Err(match is_newer {
                true => bad(format!("{message}: Lehr{writer} wrote it, this is {}", env!("CARGO_PKG_VERSION"))),
                false => bad(message),
            });
        }
        // Files of earlier versions have no checksum.
        let mut value = value;
        if let Some(found) = value.as_object_mut().and_then(|fields| fields.remove(checksum::CHECKSUM))
            && found != model_checksum(&value)
        {
            let hint = "if you changed the model on purpose, remove its \"checksum\"";
            let message = "the model was damaged or changed: its content has another checksum".to_owned();
            return Err(Unreadable { hint: Some(hint), ..bad(message) });
        }
        let model: Self = serde_json::from_value(value).map_err(|cause| bad(format!("not a whole model ({cause})")))?;
        model.model.check().map_err(|error| bad(error.to_string()))?;
        let is_position = model.lonlat && model.model.dimension() == 3 && matches!(model.model, Learnt::Clusters(_));
        if model.lonlat && !is_position {
            return Err(bad("expected clusters in three dimensions of longitude and latitude".to_owned()));
        }
        let dimension = if model.lonlat { 2 } else { model.model.dimension() };
        if [model.columns.len(), model.shifts.len(), model.divisors.len()] != [dimension; 3] {
            return Err(bad(format!("expected a name, a shift and a divisor for each of {dimension} columns")));
        }
        let is_scale = |(shift, divisor): (&f64, &f64)| shift.is_finite() && divisor.is_normal() && *divisor > 0.0;
        if !model.shifts.iter().zip(&model.divisors).all(is_scale) {
            return Err(bad("expected finite shifts, and divisors above 0".to_owned()));
        }
        if let Some(preparation) = &model.preparation {
            let is_feature = |feature: &lehr_data::preparation::Feature| {
                feature.shift.is_finite() && feature.divisor.is_normal() && feature.divisor > 0.0
            };
            let count = preparation.features.len();
            if model.lonlat || count != dimension || !preparation.features.iter().all(is_feature) {
                return Err(bad(format!(
                    "expected a feature with a finite shift and a divisor above 0 for each of {dimension} columns, found {count}"
                )));
            }
        }
        let clusters = if let Learnt::Clusters(centroids) = &model.model { centroids.len() } else { 0 };
        let is_limit = |limit: &f64| limit.is_finite() && *limit > 0.0;
        if !model.limits.is_empty() && (model.limits.len() != clusters || !model.limits.iter().flatten().all(is_limit))
        {
            return Err(bad(format!("expected a limit above 0 or null for each of {clusters} clusters")));
        }
        Ok(model)
    }

    /// Returns how to read another table of the same kind. It is read like the table of the model, with ids as text.
    pub fn form_with(&self, id: Option<&str>, delimiter: Option<char>, header: Option<bool>) -> TableForm {
        let text = id.or(self.id.as_deref()).map(str::to_owned).into_iter().collect();
        TableForm { delimiter, header, text, ..self.form.clone().unwrap_or_default() }
    }

    /// Converts rows of an ordinary table to the form of the model, row after row, and returns warnings about them. The
    /// result for a row must not depend on other rows. So a missing value becomes NaN, even if the model filled it from
    /// other rows or left its row out.
    ///
    /// # Errors
    /// Returns the errors of [`Preparation::apply`].
    ///
    /// # Panics
    /// Panics if the model's columns were not prepared.
    pub fn prepared(&self, frame: &DataFrame) -> Result<Prepared, lehr_data::Error> {
        let preparation = self.preparation.as_ref().expect("a model whose columns were prepared");
        let missing = match preparation.missing {
            Missing::Nearest | Missing::Drop => Missing::Skip,
            other => other,
        };
        Preparation { missing, ..preparation.clone() }.apply_to_other(frame)
    }

    /// Shifts and divides rows as the model did, row after row. Missing values (NaN) stay missing.
    pub fn scaled(&self, values: &[f64]) -> Vec<f64> {
        let scale = || self.shifts.iter().zip(&self.divisors);
        let scaled = values.iter().zip(std::iter::repeat_with(scale).flatten());
        // `clamp` leaves NaN unchanged.
        scaled.map(|(x, (shift, divisor))| ((x - shift) / divisor).clamp(-f64::MAX, f64::MAX)).collect()
    }
}

/// Adds the checksum to the JSON of a model file, as its last field, and a line end.
///
/// # Errors
/// Returns an error if the text is not JSON.
pub fn with_checksum(text: &str) -> serde_json::Result<String> {
    let sum = model_checksum(&serde_json::from_str(text)?);
    let fields = text.trim_end().strip_suffix('}').unwrap_or(text);
    Ok(format!("{fields},\"{}\":\"{sum}\"}}\n", checksum::CHECKSUM))
}

/// Returns how to read another table of the same kind, with the details that the preparation needs.
fn form_of(frame: &DataFrame, preparation: &Preparation) -> TableForm {
    let features = preparation.features.iter();
    TableForm {
        columns: features.map(|feature| (feature.column.clone(), feature.read_as.clone())).collect(),
        missing: frame.dialect().map(|dialect| dialect.missing.clone()).unwrap_or_default(),
        ..TableForm::default()
    }
}

#[cfg(test)]
mod tests {
    use lehr_data::Points;
    use lehr_mining::Execution;
    use lehr_mining::anneal::Silent;
    use lehr_mining::gtm::{Parameters, fit};
    use lehr_mining::mixture::Covariance;

    use super::*;

    fn model() -> ModelFile {
        let points = Points::new((0..40).map(f64::from).collect(), 2).unwrap();
        let parameters = Parameters { latent: 1, nodes: Some(8), basis: Some(3), ..Parameters::default() };
        let map = fit(&points, &parameters, &Execution::default(), &mut Silent).unwrap().map;
        ModelFile::new(points.columns(), (vec![1.0, 0.0], vec![2.0, 1.0]), Learnt::Gtm(map))
    }

    #[test]
    fn a_model_is_read_back_to_the_same_bits() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.json");
        let weights = vec![0.1 + 0.2, 1.0 - (0.1 + 0.2)];
        let mixture = Mixture::new(Covariance::Diagonal, 2, weights, vec![0.1; 4], vec![1.0 / 3.0; 4]).unwrap();
        let scale = (vec![1.0 / 3.0; 2], vec![2.0; 2]);
        let mixture = ModelFile::new(&model().columns, scale.clone(), Learnt::Mixture(mixture));
        let clusters = Centroids::new(2, vec![0.1; 6], 1.0 / 3.0).unwrap();
        let clusters = ModelFile::new(&model().columns, scale, Learnt::Clusters(clusters));
        let clusters = ModelFile { limits: vec![Some(0.1 + 0.2), None, Some(4.0)], ..clusters };
        let sphere = Learnt::Clusters(Centroids::new(3, vec![0.1, 0.2, 6371.0], 7.0).unwrap());
        let sphere = ModelFile::on_sphere(&model().columns, sphere);
        for model in [model(), mixture, clusters, sphere] {
            fs::write(&path, model.text().unwrap()).unwrap();
            assert_eq!(ModelFile::read(&path).unwrap(), model);
        }
    }

    fn without_checksum(text: &str) -> String {
        match text.find(",\"checksum\"") {
            Some(at) => format!("{}}}\n", &text[..at]),
            None => text.to_owned(),
        }
    }

    /// If any byte is changed, the model is refused, or it is the same model.
    #[test]
    fn a_changed_model_is_refused_and_one_in_another_form_is_not_28() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.json");
        let text = model().text().unwrap();
        let mut refused = 0;
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            fs::write(&path, bytes).unwrap();
            match ModelFile::read(&path) {
                Ok(read) => assert_eq!(read, model(), "byte {at}"),
                Err(_) => refused += 1,
            }
        }
        // The last digits of long numbers may not matter.
        assert!(refused > text.len() * 9 / 10, "{refused} of {}", text.len());
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        fs::write(&path, serde_json::to_string_pretty(&value).unwrap()).unwrap();
        assert_eq!(ModelFile::read(&path).unwrap(), model());
        fs::write(&path, without_checksum(&text)).unwrap();
        assert_eq!(ModelFile::read(&path).unwrap(), model(), "as earlier versions wrote it");
        let shift = text.replace("\"shifts\":[1.0", "\"shifts\":[2.0");
        fs::write(&path, &shift).unwrap();
        let failure = ModelFile::read(&path).unwrap_err();
        assert!(failure.message.ends_with("the model was damaged or changed: its content has another checksum"));
        assert_eq!(failure.hint, Some("if you changed the model on purpose, remove its \"checksum\""));
        fs::write(&path, without_checksum(&shift)).unwrap();
        assert_eq!(ModelFile::read(&path).unwrap().shifts(), [2.0, 0.0]);
    }

    #[test]
    fn what_is_no_model_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.json");
        let text = model().text().unwrap();
        for (text, expected) in [
            ("{}".to_owned(), "expected a model"),
            (text.replace("\"model\":", "\"lonlat\":true,\"model\":"), "expected clusters in three dimensions"),
            ("id,x\n".to_owned(), "found no JSON"),
            (text.replace("\"format\":1", "\"format\":9"), "found format 9"),
            (text.replace("\"divisors\":[2.0", "\"divisors\":[0.0"), "divisors above 0"),
            (text.replace("\"columns\":[\"x0\",", "\"columns\":["), "for each of 2 columns"),
            (text.replace("\"noise\":", "\"noise\":-"), "noise: expected a positive number"),
            (text.replace("\"model\":", "\"limits\":[1.0],\"model\":"), "for each of 0 clusters"),
        ] {
            fs::write(&path, without_checksum(&text)).unwrap();
            let failure = ModelFile::read(&path).unwrap_err();
            assert!(failure.message.contains(expected), "{}", failure.message);
        }
    }

    #[test]
    fn rows_are_scaled_and_gaps_stay() {
        let rows = model().scaled(&[5.0, 3.0, f64::NAN, 4.0]);
        assert_eq!([rows[0], rows[1], rows[3]], [2.0, 3.0, 4.0]);
        assert!(rows.len() == 4 && rows[2].is_nan());
    }
}
