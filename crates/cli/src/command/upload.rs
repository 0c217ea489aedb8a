//! `lehr upload`: uploads a file to a node as a data set.

use lehr_jobs::datasets::{Begin, Datasets};
use lehr_jobs::{Form, upload};
use lehr_runtime::block_on;
use lehr_services::Reference;

use crate::arguments::UploadArguments;
use crate::command::ask::{expect_there, failure, link};
use crate::exit::{Failure, Kind};
use crate::output;

/// Uploads a file, and prints the outcome.
///
/// # Errors
/// Returns [`Kind::Environment`] if there is no such file, and [`Kind::Usage`] if the file's name shows neither its
/// format nor the name of the data set. Otherwise returns the reason of the refusal, with the faults of the file.
pub fn run(arguments: UploadArguments) -> Result<(), Failure> {
    expect_there([arguments.file.as_path()])?;
    let (link, options) = link(&arguments.url, &arguments.request)?;
    let mut datasets = Reference::<Datasets>::over(link);
    if let Some(within) = options.within {
        datasets = datasets.within(within);
    }
    let file = arguments.file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let form = arguments.format.or_else(|| Form::of_name(file)).ok_or_else(|| {
        Failure::new(Kind::Usage, format!("the name of {file:?} does not say what it is"))
            .with_hint("--format table, csv, tsv, npy, parquet, arrow, fasta, fps, smiles, sdf or dissimilarities")
    })?;
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let name = arguments.name.unwrap_or_else(|| stem.to_owned());
    let begin = Begin {
        columns: arguments.columns,
        weights: arguments.weights,
        id: arguments.id,
        gaps: arguments.missing,
        fingerprint: arguments.fingerprint,
        replace: arguments.replace,
        dialect: arguments.dialect,
        ..Begin::new(&name, form)
    };
    let dataset = block_on(upload(&datasets, &arguments.file, begin)).map_err(|fault| failure(&fault))?;
    dataset.warnings.iter().for_each(|warning| output::warning(warning));
    let columns: Vec<&str> = dataset.columns.iter().map(|column| column.name.as_str()).collect();
    output::result(&format!("{name}: {} rows of {}\n", dataset.rows, columns.join(", ")))
}
