//! Dissimilarities of all pairs as a method, under the contract `lehr.distances` 1.1. Applies the library's `all_pairs`
//! to sequences, fingerprints or records. For the options, see `lehr_methods::distances`.
//!
//! The columns of the table `items` decide which items are compared: `sequence` (as in FASTA), `fingerprint` (as in
//! FPS), or otherwise numbers. With the option `fingerprint`, Lehr makes fingerprints of the column `smiles`. Gower's
//! metric compares texts too. Numbers may be missing. There are three output tables. `matrix` has the pairs (0,1),
//! (0,2), …, (1,2), … in one column. `items` has the ids. If equal items are collapsed, `items` also has the number of
//! items for each id. If the input has a column `smiles`, `items` has the structures too. `members` maps each row of
//! the input to its item. The job saves finished pairs while it runs.

use std::path::{Path, PathBuf};

use lehr_data::dissimilarities;
use lehr_data::duplicates::Duplicates;
use lehr_data::gower;
use lehr_data::read::TableForm;
use lehr_data::read::molecules::of_structures;
use lehr_data::sequences::{Alphabet, Sequences};
use lehr_data::write::dissimilarities::{Extent, fixed};
use lehr_distances::checkpoint::{Log, LogReader};
use lehr_distances::{Error, Finished, Half, Precision, all_pairs_keeping};
use lehr_methods::distances::{ItemKind, Items};
use lehr_methods::rows::reading_warnings;
use lehr_services::Version;
use lehr_sync::{Arc, Mutex};

use crate::datasets::Limits;
use crate::job::Job;
use crate::matrix::{COLUMN, SMILES};
use crate::method::{Failure, Inputs, Method, Outputs};
use crate::table::{Builder, Columns, FINGERPRINT, Table};
use crate::watch::Watch;

pub use lehr_methods::distances::{Alignment, Element, Letters, Metric, MoleculeBits, Options};

/// The name of the input table.
const ITEMS: &str = "items";
/// The name of the column with sequences. If the table has this column, the method compares sequences.
const SEQUENCE: &str = "sequence";

/// Dissimilarities of all pairs of items as a [`Method`].
///
/// # Example
/// ```
/// use lehr_jobs::{Distances, Inputs, Job, Method, Table, distances::Options};
/// let genes = ["ACGTACGTAC", "ACGTACCTAC", "TTGTACCTAC"].map(String::from).to_vec();
/// let items = Table::builder().texts("sequence", genes).build()?;
/// let found = Distances::default().run(&Job::alone(), &Inputs::of([("items", items)]), &Options::default())?;
/// // The pairs (0,1), (0,2), (1,2): in the first pair, one letter in ten differs.
/// assert_eq!(found.tables["matrix"].singles("dissimilarity").unwrap()[0], 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Distances {
    log: Option<PathBuf>,
    /// The reason why the last job could not save all finished pairs, if saving failed.
    unkept: Arc<Mutex<Option<String>>>,
}

impl Distances {
    /// Creates the method for a service that runs one job. The method saves finished pairs in this file instead of the
    /// job's own file, so that the pairs outlive the service. The file has the format of a checkpoint of `lehr
    /// distances`. A job resumes from the pairs in the file; the file is never removed.
    ///
    /// # Example
    /// ```
    /// let method = lehr_jobs::Distances::logging_to("lehr-genes/checkpoint");
    /// # let _ = method;
    /// ```
    pub fn logging_to(path: impl Into<PathBuf>) -> Self {
        Self { log: Some(path.into()), unkept: Arc::default() }
    }

    /// Returns the reason why the last job could not save some finished pairs, or `None` if it saved all. The job
    /// continued without saving; pairs saved before remain valid.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::{Distances, Inputs, Job, Method, Table, distances::Options};
    /// let items = Table::builder().texts("sequence", vec!["ACGT".into(), "ACGA".into()]).build()?;
    /// let method = Distances::logging_to("no/such/folder/checkpoint");
    /// method.run(&Job::alone(), &Inputs::of([("items", items)]), &Options::default())?;
    /// // Two items are compared in one step. After the last step nothing is saved, because the job is complete.
    /// assert_eq!(method.unkept(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unkept(&self) -> Option<String> {
        self.unkept.lock().clone()
    }
}

impl Method for Distances {
    const NAME: &'static str = "lehr.distances";
    const VERSION: Version = Version::new(1, 1);
    const INPUTS: &'static [&'static str] = &[ITEMS];
    const OUTPUTS: &'static [&'static str] = &["items", "matrix", "members"];
    const SPREADS: bool = true;
    type Options = Options;

    fn check(options: &Options) -> Vec<String> {
        let mut faults = options.faults();
        if options.element == Element::I16be {
            faults.push("element: expected f64, f32 or u16 of a data set, found i16be, which files have".to_owned());
        }
        faults
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
        let (table, name) = (inputs.table(ITEMS)?, inputs.dataset(ITEMS));
        let id = options.id.as_deref().or(table.id());
        if let Some(id) = id.filter(|id| table.texts(id).is_none()) {
            return Err(Failure::input(format!("{name}: there is no column {id:?}")));
        }
        let numbered = || (0..table.rows()).map(|row| row.to_string()).collect();
        let mut ids: Vec<String> = id.and_then(|id| table.texts(id)).unwrap_or_else(numbered);
        let mut smiles = table.texts(SMILES);
        let mut items = read(table, name, options)?;
        let left_out = if let Items::Records(records) = &items { records.left_out() } else { &[] };
        let warnings: Vec<String> =
            reading_warnings(name, left_out, Some(&ids)).into_iter().chain(items.scale_warning(options)).collect();
        if let Some(drawn) = options.drawn(items.len()) {
            let chosen = |texts: &[String]| drawn.iter().map(|&row| texts[row].clone()).collect();
            (ids, smiles) = (chosen(&ids), smiles.as_deref().map(chosen));
            items = items.select(&drawn);
        }
        let collapsed = options.collapse.then(|| {
            let (distinct, duplicates) = items.distinct();
            items = distinct;
            duplicates
        });
        if items.len() < 2 {
            let reason = format!("{name}: expected at least 2 items, which make a pair, found {}", items.len());
            return Err(Failure::input(reason));
        }
        let log = self.log.clone().map_or_else(|| job.log(), Ok)?;
        *self.unkept.lock() = None;
        let log = (&*log, &*self.unkept);
        let found = items.compared(options, |metric| {
            let found = match options.element {
                Element::F64 => matrix::<f64>(job, log, metric, |half, _| {
                    Table::builder().numbers(COLUMN, half.condensed(|value| value))
                }),
                // Values that are stored in 16 bits are computed in 32 bits.
                Element::U16 => matrix::<f32>(job, log, metric, |half, largest| {
                    let scale = dissimilarities::Element::U16.scale(largest);
                    Table::builder().fixed(COLUMN, half.condensed(|value| fixed(value, scale)), scale)
                }),
                Element::F32 | Element::I16be => matrix::<f32>(job, log, metric, |half, _| {
                    Table::builder().singles(COLUMN, half.condensed(|value| value as f32))
                }),
            };
            found.map_err(Hindrance::Comparison)
        });
        let found = found.map_err(|hindrance| match hindrance {
            Hindrance::Items(error) => named(name, failure(error)),
            Hindrance::Comparison(failure) => failure,
        })?;
        let names = Names { ids, smiles };
        let Some(found) = found else { return Ok(Outputs::new()) };
        let outputs = outputs(&names, collapsed.as_ref(), items.len(), found)?;
        Ok(warnings.into_iter().fold(outputs, Outputs::warning))
    }
}

/// Reads the items of a table: its sequences or fingerprints, or otherwise its rows of numbers.
fn read(table: &Table, name: &str, options: &Options) -> Result<Items, Failure> {
    let has = |wanted: &str| table.columns().any(|(column, _)| column == wanted);
    let kind = if has(SEQUENCE) {
        ItemKind::Sequences
    } else if has(FINGERPRINT) || (has(SMILES) && options.fingerprint.is_some()) {
        ItemKind::Fingerprints
    } else {
        ItemKind::Rows
    };
    options.suits(kind).map_err(|reason| Failure::input(format!("{name}: {reason}")))?;
    match kind {
        ItemKind::Sequences => {
            let texts = table.texts(SEQUENCE).unwrap_or_default();
            let alphabet =
                options.alphabet.map_or_else(|| Alphabet::likely(texts.iter().map(String::as_bytes)), Into::into);
            let sequences = Sequences::new(&texts, alphabet).map_err(|error| named(name, error.into()))?;
            if sequences.has_gaps() && !options.compares_places() {
                let reason = "expected sequences without gaps, which are aligned here, found gaps; \"alignment\": \"given\" compares them as they are";
                return Err(Failure::input(format!("{name}: {reason}")));
            }
            Ok(Items::Sequences(sequences))
        }
        ItemKind::Fingerprints => {
            let Some(bits) = options.fingerprint else {
                return Ok(Items::Fingerprints(table.hexadecimal(name).map_err(Failure::from)?));
            };
            let structures = table.texts(SMILES).ok_or_else(|| {
                Failure::input(format!(
                    "{name}: expected a column {SMILES:?}, of which fingerprints are made, found none"
                ))
            })?;
            let prints = of_structures(&structures, name, bits.into());
            Ok(Items::Fingerprints(prints.map_err(|error| Failure::input(error.to_string()))?))
        }
        ItemKind::Rows if options.metric == Some(Metric::Gower) => {
            let id = options.id.as_deref().or(table.id());
            let form = TableForm { text: id.iter().map(|id| (*id).to_owned()).collect(), ..TableForm::default() };
            let frame = table.frame(name, &form).and_then(|frame| gower::rows(&frame, options.columns.as_deref(), id));
            Ok(Items::Records(frame.map_err(|error| Failure::input(error.to_string()))?))
        }
        ItemKind::Rows => {
            let columns = Columns { columns: options.columns.clone(), id: options.id.clone(), ..Columns::default() };
            let records = table.records(name, &columns).map_err(Failure::from)?;
            if records.missing() > 0 && !table.has_gaps() {
                let reason = "expected a number in each row, found gaps in a table that is not said to have any";
                return Err(Failure::input(format!("{name}: {reason}")));
            }
            Ok(Items::Records(records).scaled(options))
        }
    }
}

/// Adds the name of the data set to a failure about the data.
fn named(name: &str, failure: Failure) -> Failure {
    match failure {
        Failure::Input(reason) => Failure::Input(format!("{name}: {reason}")),
        failure => failure,
    }
}

/// The reason why a comparison has no result: the metric does not suit the items, or the run failed.
enum Hindrance {
    Items(Error),
    Comparison(Failure),
}

impl From<Error> for Hindrance {
    fn from(error: Error) -> Self {
        Self::Items(error)
    }
}

/// The table of all pairs, and the number and extent of its values.
struct Found {
    matrix: Table,
    extent: Extent,
}

/// Compares all pairs, from the beginning or from the checkpoint of the job. Returns `None` in a process that does not
/// return the result.
fn matrix<T: Precision>(
    job: &Job,
    (path, unkept): (&Path, &Mutex<Option<String>>),
    metric: &dyn lehr_distances::Metric,
    column: impl FnOnce(&Half<T>, f64) -> Builder,
) -> Result<Option<Found>, Failure> {
    let items = metric.items();
    // Refuse a result that is too large for a data set now, before hours of work.
    let limit = Limits::default().dataset_bytes.min(lehr_data::memory::available().unwrap_or(u64::MAX));
    Half::<T>::fits(items, limit).map_err(failure)?;
    let (mut log, mut kept) = match Log::resume::<T>(path, metric) {
        Ok(log) => (Some(log), Some(LogReader::open::<T>(path, metric).map_err(failure)?)),
        Err(Error::File { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => (None, None),
        // The job was stopped while it wrote the header, so no pairs were saved.
        Err(Error::CheckpointDamaged { .. }) => (None, None),
        Err(error) => return Err(failure(error)),
    };
    let mut keep = |finished: &Finished<'_>| {
        let mut unkept = unkept.lock();
        if unkept.is_some() {
            return;
        }
        let begun = log.take().map_or_else(|| Log::create::<T>(path, metric), Ok);
        // A run continues even if its progress cannot be saved.
        *unkept = begun.and_then(|begun| log.insert(begun).append(finished)).err().map(|error| error.to_string());
    };
    let half = all_pairs_keeping::<T>(metric, &job.execution(), kept.as_mut(), &mut Watch(job), &mut keep);
    let half = half.map_err(failure)?;
    drop(kept);
    if !job.is_lead() {
        return Ok(None);
    }
    let mut extent = Extent::default();
    half.for_each(|value| extent.add(value));
    half.held(extent.largest, metric).map_err(failure)?;
    Ok(Some(Found { matrix: column(&half, extent.largest).gaps(extent.missing > 0).build()?, extent }))
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Stopped => Failure::Stopped,
        Error::Parameter { .. } | Error::Unsuited { .. } | Error::Overflow { .. } | Error::Underflow { .. } => {
            Failure::Input(error.to_string())
        }
        Error::OtherRun { .. } => {
            Failure::input("the items or options are not those that the job began with: request it again")
        }
        Error::TooLarge { .. } | Error::File { .. } => Failure::Environment(error.to_string()),
        error => Failure::Internal(error.to_string()),
    }
}

/// The names of the compared rows, and their structures if they are compounds.
struct Names {
    ids: Vec<String>,
    smiles: Option<Vec<String>>,
}

fn outputs(names: &Names, collapsed: Option<&Duplicates>, items: usize, found: Found) -> Result<Outputs, Failure> {
    let Found { matrix, extent } = found;
    let Names { ids, smiles } = names;
    let id = || Table::builder().id(Some("id".to_owned()));
    let of_items = |texts: &Vec<String>| match collapsed {
        None => texts.clone(),
        Some(duplicates) => duplicates.first().iter().map(|&row| texts[row].clone()).collect(),
    };
    let mut table = id().texts("id", of_items(ids));
    if let Some(duplicates) = collapsed {
        table = table.counts("weight", duplicates.weights()).weights(Some("weight".to_owned()));
    }
    if let Some(smiles) = smiles {
        table = table.texts(SMILES, of_items(smiles));
    }
    let item_of: Vec<u64> = match collapsed {
        None => (0..ids.len() as u64).collect(),
        Some(duplicates) => duplicates.item_of().iter().map(|&item| item as u64).collect(),
    };
    let members = id().texts("id", ids.to_vec()).counts("item", item_of);
    let pairs = extent.present + extent.missing;
    let mut outputs = Outputs::new()
        .table("items", table.build()?)
        .table("matrix", matrix)
        .table("members", members.build()?)
        .figure("items", items as f64)
        .figure("pairs", pairs as f64)
        .figure("missing_pairs", extent.missing as f64);
    if extent.present > 0 {
        outputs = outputs.figure("largest", extent.largest).figure("mean", extent.mean());
    }
    if extent.missing > 0 {
        outputs = outputs.warning(format!("{} of {pairs} pairs have no value", extent.missing));
    }
    Ok(outputs)
}
