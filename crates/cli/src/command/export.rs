//! `lehr export`: writes a model in the format of other programs.

use std::io::Write;

use lehr_data::write::AtomicFile;
use lehr_methods::{ModelFile, pmml};

use crate::arguments::ExportArguments;
use crate::exit::{Failure, Kind};
use crate::output;

/// Writes the model as PMML.
///
/// # Errors
/// Returns [`Kind::Usage`] for another ending than `.pmml`. Returns [`Kind::BadData`] for a file that is not a model, or
/// a model that PMML cannot represent. Returns [`Kind::Environment`] for files that cannot be read or written.
pub fn run(arguments: ExportArguments) -> Result<(), Failure> {
    let ExportArguments { model, out, quiet } = arguments;
    if out.extension().is_none_or(|ending| !ending.eq_ignore_ascii_case("pmml")) {
        let message = format!("--out: expected a file that ends in .pmml, found {}", out.display());
        return Err(Failure::new(Kind::Usage, message).with_hint("Python's export also writes .onnx and .json"));
    }
    let shown = model.display().to_string();
    let model = ModelFile::read(&model)?;
    let text = pmml::text(&model).map_err(|reason| Failure::new(Kind::BadData, format!("{shown}: {reason}")))?;
    let mut file = AtomicFile::create(&out)?;
    file.write_all(text.as_bytes()).map_err(|cause| file.failed(cause))?;
    file.commit()?;
    if quiet {
        return Ok(());
    }
    output::result(&format!("written to {}\n", out.display()))
}
