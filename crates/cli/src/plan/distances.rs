//! The plan of `lehr distances`: the input, the metric, and the target of the matrix.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use lehr_data::dissimilarities::{Element, Form};
use lehr_data::object;
use lehr_data::read;
use lehr_data::read::molecules::Notation;
use lehr_methods::distances::{ItemKind, Options};
use lehr_ranks::{Execution, Job};

use crate::arguments::{DistancesArguments, FormArgument};
use crate::exit::{Failure, Kind, as_typed};
use crate::progress::CHECKPOINT_SECONDS;

/// The default folder for the matrix.
const OUT_DEFAULT: &str = "lehr-distances";

/// The number of bytes in a GiB.
const GIB: f64 = (1u64 << 30) as f64;

/// One run of the command.
pub struct DistancesPlan {
    /// The file, as typed.
    pub input: PathBuf,
    /// The file's contents.
    pub holds: Holds,
    /// The metric for the items, and the treatment of equal ones.
    pub options: Options,
    /// The character between fields of a table, if it was given.
    pub delimiter: Option<u8>,
    /// Engine, ranks and threads.
    pub execution: Execution,
    /// How values are stored.
    pub element: Element,
    /// The pairs that are stored.
    pub form: Form,
    /// The folder for the matrix.
    pub out: PathBuf,
    /// The folder with the checkpoint to resume from.
    pub resumed: Option<PathBuf>,
    /// Whether to replace files that would otherwise be protected.
    pub force: bool,
    /// The seconds between two saves of the finished part.
    pub checkpoint_seconds: f64,
    /// The maximum number of bytes of values; `None` if the free memory is unknown.
    pub memory: Option<u64>,
    /// Whether to print the header.
    pub json: bool,
    /// Whether to show no progress.
    pub quiet: bool,
    /// The command that continues this run after it was stopped.
    pub resume_command: String,
}

/// Returns the first bytes of a file, after unpacking. A file that cannot be opened or unpacked is reported when all of it
/// is read.
fn begin(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if object::is_lasting(path)
        && let Ok(text) = read::open(path)
    {
        let _ = text.take(64).read_to_end(&mut head);
    }
    head
}

/// The contents of a file, as shown by its first bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Items: sequences in FASTA, fingerprints in FPS, or the rows of a table.
    Items(ItemKind),
    /// The dissimilarities of items, to be written in another form.
    Matrix,
}

impl Holds {
    /// Detects the contents by the first characters, after unpacking: `>` begins FASTA, `#FPS` FPS. Molecules come
    /// first, because the title of the first one may begin with `>`. An array with a header of Lehr beside it is a
    /// matrix. A name that ends in `.fps`, `.smi`, `.sdf` or `.bin` decides if the contents cannot.
    fn look(path: &Path) -> Self {
        let name = object::shown(path).to_lowercase();
        let stem = name.trim_end_matches(".gz");
        let is_described = || lehr_data::read::dissimilarities::header(&path.with_extension("json")).is_ok();
        // A list of objects is a table.
        let is_header = name.ends_with(".json") && !matches!(begin(path).trim_ascii_start(), [b'[', ..]);
        if name.ends_with(".bin") || is_header || name.ends_with(".npy") && is_described() {
            return Holds::Matrix;
        }
        let head = begin(path);
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
        Holds::Items(match text.first() {
            _ if Notation::of_file(path).is_some() => ItemKind::Fingerprints,
            Some(b'>') => ItemKind::Sequences,
            _ if text.starts_with(b"#FPS") || stem.ends_with(".fps") => ItemKind::Fingerprints,
            _ if [".fasta", ".fa", ".fna", ".faa"].iter().any(|ending| stem.ends_with(ending)) => ItemKind::Sequences,
            _ => ItemKind::Rows,
        })
    }
}

impl DistancesPlan {
    /// Checks the arguments together, and against the kind of input file. `typed` is the command line as typed; `job`
    /// is the processes that compute together, if there are several.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`] for options that contradict each other or do not suit the input.
    pub fn new(arguments: DistancesArguments, typed: &[OsString], job: Option<Job>) -> Result<Self, Failure> {
        let DistancesArguments { input, options, table, execution, results } = arguments;
        let (options, delimiter) = (options.0, table.delimiter);
        let holds = holding(&input, &options, delimiter)?;
        let (execution, _) = super::execution(&execution, job)?;
        let of_items = [(options.collapse, "--collapse"), (options.sample.is_some(), "--sample")];
        if let Some((_, option)) = of_items.iter().find(|(is_given, _)| *is_given && holds == Holds::Matrix) {
            let message = format!("{option} compares items; the input holds a matrix, which does not have them");
            return Err(Failure::new(Kind::Usage, message));
        }
        let element = Element::from(options.element);
        let form = match results.form {
            FormArgument::Full => Form::Full,
            FormArgument::Condensed => Form::Condensed,
        };
        if element == Element::I16be && form == Form::Condensed {
            let message = "--element i16be stores full rows: it does not go with --form condensed";
            return Err(Failure::new(Kind::Usage, message));
        }
        let out = results.out.or(results.resume.clone()).unwrap_or_else(|| PathBuf::from(OUT_DEFAULT));
        Ok(Self {
            input,
            holds,
            options,
            delimiter,
            execution,
            element,
            form,
            resume_command: super::resume_command(typed, &out),
            out,
            resumed: results.resume,
            force: results.force,
            checkpoint_seconds: CHECKPOINT_SECONDS,
            memory: results.memory.map(|gib| (gib * GIB) as u64).or_else(lehr_data::memory::available),
            json: results.json,
            quiet: results.quiet,
        })
    }
}

/// Returns the contents of a file, as shown by its first bytes, if the options suit the file and each other.
///
/// # Errors
/// Returns [`Kind::Usage`] for options that do not.
pub fn holding(input: &Path, options: &Options, delimiter: Option<u8>) -> Result<Holds, Failure> {
    let holds = Holds::look(input);
    let mut faults = Vec::new();
    match holds {
        Holds::Items(kind) => {
            faults.extend(options.suits(kind).err());
            // A service accepts these options for any input; here they are for tables only.
            let of_tables = [(options.id.is_some(), "id"), (delimiter.is_some(), "delimiter")];
            let given = of_tables.iter().filter(|(is_given, _)| *is_given && kind != ItemKind::Rows);
            faults.extend(given.map(|(_, option)| format!("{option}: expected with rows, found {}", kind.name())));
        }
        Holds::Matrix => {
            let (element, collapse, sample) = (options.element, options.collapse, options.sample);
            if *options != (Options { element, collapse, sample, ..Options::default() }) || delimiter.is_some() {
                let expected = "expected no options that say how items are compared";
                let message = format!("{}: {expected}, found a matrix, which has no items", object::shown(input));
                return Err(Failure::new(Kind::Usage, message));
            }
        }
    }
    if faults.is_empty() {
        faults = options.faults();
    }
    if faults.is_empty() {
        Ok(holds)
    } else {
        Err(Failure::new(Kind::Usage, as_typed(&lehr_methods::distances::options(), &faults)))
    }
}
