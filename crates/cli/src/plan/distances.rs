//! The plan of `lehr distances`: what is read, what is measured, where the matrix goes.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use lehr_data::dissimilarities::{Element, Form};
use lehr_data::read::Selection;
use lehr_data::read::fasta::Expected;
use lehr_data::sequences::Alphabet;
use lehr_distances::alignment::Mode;
use lehr_distances::scoring::{Matrix, Scoring};
use lehr_distances::{columns, rows, sequence};
use lehr_ranks::{Execution, Job};

use crate::arguments::{
    AlignmentArgument, AlphabetArgument, DistancesArguments, ElementArgument, FormArgument, MetricArgument,
    RecordArguments, SequenceArguments,
};
use crate::exit::{Failure, Kind};
use crate::progress::CHECKPOINT_SECONDS;

/// The folder for the matrix when none is named.
const OUT_DEFAULT: &str = "lehr-distances";

/// Bytes of a GiB.
const GIB: f64 = (1u64 << 30) as f64;

/// One run.
pub struct DistancesPlan {
    /// The file, as typed.
    pub input: PathBuf,
    /// What it holds and what is measured.
    pub what: What,
    /// Engine, ranks and threads.
    pub execution: Execution,
    /// How a number is stored.
    pub element: Element,
    /// Which pairs are stored.
    pub form: Form,
    /// The folder for the matrix.
    pub out: PathBuf,
    /// The folder whose checkpoint is gone on with.
    pub resumed: Option<PathBuf>,
    /// Replace what would otherwise be protected.
    pub force: bool,
    /// Make equal items one.
    pub collapse: bool,
    /// Seconds between two looks at what is finished, to keep it.
    pub checkpoint_seconds: f64,
    /// The most bytes that values may take; none where nobody knows.
    pub memory: Option<u64>,
    /// Print the header.
    pub json: bool,
    /// No progress.
    pub quiet: bool,
    /// The command that continues this run after it was stopped.
    pub resume_command: String,
}

/// What is read and measured.
pub enum What {
    /// Sequences, each pair aligned.
    Sequences(Expected, SequencePlan),
    /// Sequences that stand below each other.
    Aligned(Expected, columns::Measure),
    /// Fingerprints.
    Fingerprints,
    /// Rows of a table.
    Rows {
        /// Which columns.
        selection: Selection,
        /// Whether they are scaled.
        standardise: bool,
        /// How they are compared.
        measure: rows::Measure,
    },
    /// A matrix that is there already, to be written in another form.
    Matrix,
}

/// How sequences are aligned. What is not given depends on their alphabet, which the file tells.
pub struct SequencePlan {
    /// How an alignment becomes a dissimilarity.
    pub measure: sequence::Measure,
    /// Which part is aligned.
    pub mode: Mode,
    /// The matrix, as typed.
    pub matrix: Option<String>,
    /// The costs of gaps.
    pub gap: Option<(i32, i32)>,
    /// The least overlap of a local alignment.
    pub overlap: Option<f64>,
}

impl SequencePlan {
    /// The parameters for sequences of an alphabet.
    ///
    /// # Errors
    /// [`Kind::Usage`]: a matrix that there is not, or costs beyond their range.
    pub fn parameters(&self, alphabet: Alphabet) -> Result<sequence::Parameters, Failure> {
        let usual = Scoring::usual(alphabet);
        let matrix = match self.matrix.as_deref() {
            None => usual.matrix().clone(),
            Some(name) => matrix(name, alphabet)?,
        };
        let (open, extend) = self.gap.unwrap_or((usual.open(), usual.extend()));
        let scoring = Some(Scoring::new(matrix, open, extend)?);
        let overlap_min = self.overlap.unwrap_or(sequence::Parameters::default().overlap_min);
        Ok(sequence::Parameters { measure: self.measure, mode: self.mode, scoring, overlap_min })
    }
}

fn matrix(name: &str, alphabet: Alphabet) -> Result<Matrix, Failure> {
    match name.to_lowercase().as_str() {
        "ednafull" => return Ok(Matrix::ednafull()),
        "blosum62" => return Ok(Matrix::blosum62()),
        _ => {}
    }
    let scores =
        name.split_once('/').and_then(|(equal, different)| Some((equal.parse().ok()?, different.parse().ok()?)));
    let Some((equal, different)) = scores else {
        let message = format!("--matrix: expected ednafull, blosum62 or EQUAL/DIFFERENT such as 5/-4, found {name:?}");
        return Err(Failure::new(Kind::Usage, message));
    };
    Ok(Matrix::simple(alphabet, equal, different)?)
}

/// What a file holds, as far as its first bytes tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// FASTA.
    Sequences,
    /// FPS.
    Fingerprints,
    /// A table.
    Rows,
    /// Numbers of 16 bits.
    Matrix,
}

impl Holds {
    fn name(self) -> &'static str {
        match self {
            Holds::Sequences => "sequences",
            Holds::Fingerprints => "fingerprints",
            Holds::Rows => "a table",
            Holds::Matrix => "a matrix",
        }
    }

    /// By its first character, unpacked: `>` begins FASTA, `#FPS` FPS. An array with a header of ours beside it is a matrix. A name ending in `.fps` or `.bin` says the same where the content cannot.
    fn look(path: &Path) -> Result<Self, Failure> {
        let name = path.to_string_lossy().to_lowercase();
        let stem = name.trim_end_matches(".gz");
        let is_described = || lehr_data::read::dissimilarities::header(&path.with_extension("json")).is_ok();
        if name.ends_with(".bin") || name.ends_with(".json") || name.ends_with(".npy") && is_described() {
            return Ok(Holds::Matrix);
        }
        let is_file = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
        let mut head = Vec::new();
        if is_file && let Ok(text) = File::open(path).and_then(lehr_data::read::unpacked) {
            // What cannot be unpacked or read is reported where it is read in earnest.
            let _ = text.take(64).read_to_end(&mut head);
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head).trim_ascii_start();
        Ok(match text.first() {
            Some(b'>') => Holds::Sequences,
            _ if text.starts_with(b"#FPS") || stem.ends_with(".fps") => Holds::Fingerprints,
            _ if [".fasta", ".fa", ".fna", ".faa"].iter().any(|ending| stem.ends_with(ending)) => Holds::Sequences,
            _ => Holds::Rows,
        })
    }
}

impl DistancesPlan {
    /// Checks the arguments together, and with the kind of file that the input is. `typed` is the command line as it came; `job` the processes
    /// that compute together, if there are several.
    ///
    /// # Errors
    /// [`Kind::Usage`]: options that contradict each other or do not go with the input.
    pub fn new(arguments: DistancesArguments, typed: &[OsString], job: Option<Job>) -> Result<Self, Failure> {
        let DistancesArguments { input, metric, sequences, table, execution, results } = arguments;
        let what = chosen(&input, metric, sequences, table)?;
        let (execution, _) = super::execution(&execution, job)?;
        if results.collapse && matches!(what, What::Matrix) {
            let message = "--collapse compares items; the input holds a matrix, which does not have them";
            return Err(Failure::new(Kind::Usage, message));
        }
        let (element, form) = stored(results.element, results.form)?;
        let out = results.out.or(results.resume.clone()).unwrap_or_else(|| PathBuf::from(OUT_DEFAULT));
        Ok(Self {
            input,
            what,
            execution,
            element,
            form,
            resume_command: super::resume_command(typed, &out),
            out,
            resumed: results.resume,
            force: results.force,
            collapse: results.collapse,
            checkpoint_seconds: CHECKPOINT_SECONDS,
            memory: results.memory.map(|gib| (gib * GIB) as u64).or_else(lehr_data::memory::available),
            json: results.json,
            quiet: results.quiet,
        })
    }
}

/// What is measured of a file, as far as its first bytes tell what it holds.
///
/// # Errors
/// [`Kind::Usage`]: options that do not go together or with the file.
pub fn chosen(
    input: &Path,
    metric: Option<MetricArgument>,
    sequences: SequenceArguments,
    table: RecordArguments,
) -> Result<What, Failure> {
    let holds = Holds::look(input)?;
    only_for(Holds::Sequences, holds, &sequence_options(&sequences))?;
    only_for(Holds::Rows, holds, &record_options(&table))?;
    what(holds, metric, sequences, table)
}

fn stored(element: ElementArgument, form: FormArgument) -> Result<(Element, Form), Failure> {
    let element = match element {
        ElementArgument::F64 => Element::F64,
        ElementArgument::F32 => Element::F32,
        ElementArgument::U16 => Element::U16,
        ElementArgument::I16be => Element::I16be,
    };
    let form = match form {
        FormArgument::Full => Form::Full,
        FormArgument::Condensed => Form::Condensed,
    };
    if element == Element::I16be && form == Form::Condensed {
        return Err(Failure::new(
            Kind::Usage,
            "--element i16be stores full rows: it does not go with --form condensed",
        ));
    }
    Ok((element, form))
}

/// Refuses options that are given and say nothing about this input.
fn only_for(wanted: Holds, holds: Holds, given: &[&str]) -> Result<(), Failure> {
    match given.first() {
        Some(option) if wanted != holds => Err(Failure::new(
            Kind::Usage,
            format!("{option} goes with {}; the input holds {}", wanted.name(), holds.name()),
        )),
        _ => Ok(()),
    }
}

fn sequence_options(given: &SequenceArguments) -> Vec<&'static str> {
    let options = [
        (given.alignment.is_some(), "--alignment"),
        (given.alphabet.is_some(), "--alphabet"),
        (given.matrix.is_some(), "--matrix"),
        (given.gap.is_some(), "--gap"),
        (given.overlap.is_some(), "--overlap"),
    ];
    options.into_iter().filter_map(|(is_given, option)| is_given.then_some(option)).collect()
}

fn record_options(given: &RecordArguments) -> Vec<&'static str> {
    let options = [
        (given.columns.is_some(), "--columns"),
        (given.id.is_some(), "--id"),
        (given.standardise, "--standardise"),
        (given.delimiter.is_some(), "--delimiter"),
    ];
    options.into_iter().filter_map(|(is_given, option)| is_given.then_some(option)).collect()
}

/// What is measured of an input that holds so much.
///
/// # Errors
/// [`Kind::Usage`]: options that do not go together or with the input.
pub fn what(
    holds: Holds,
    metric: Option<MetricArgument>,
    sequences: SequenceArguments,
    table: RecordArguments,
) -> Result<What, Failure> {
    use MetricArgument as M;
    let suits = match metric {
        None => holds,
        Some(M::Tanimoto) => Holds::Fingerprints,
        Some(M::Euclidean | M::SquaredEuclidean | M::Manhattan | M::Cosine | M::Correlation) => Holds::Rows,
        Some(_) => Holds::Sequences,
    };
    if suits != holds {
        let message = format!("this --metric measures {}; the input holds {}", suits.name(), holds.name());
        return Err(Failure::new(Kind::Usage, message));
    }
    match holds {
        Holds::Matrix => Ok(What::Matrix),
        Holds::Fingerprints => Ok(What::Fingerprints),
        Holds::Rows => {
            let measure = match metric {
                Some(M::SquaredEuclidean) => rows::Measure::SquaredEuclidean,
                Some(M::Manhattan) => rows::Measure::Manhattan,
                Some(M::Cosine) => rows::Measure::Cosine,
                Some(M::Correlation) => rows::Measure::Correlation,
                _ => rows::Measure::Euclidean,
            };
            let RecordArguments { columns, id, standardise, delimiter } = table;
            let selection = Selection { columns, id, delimiter, ..Selection::default() };
            Ok(What::Rows { selection, standardise, measure })
        }
        Holds::Sequences => of_sequences(metric, sequences),
    }
}

fn of_sequences(metric: Option<MetricArgument>, given: SequenceArguments) -> Result<What, Failure> {
    use MetricArgument as M;
    let alphabet = given.alphabet.map(|alphabet| match alphabet {
        AlphabetArgument::Dna => Alphabet::Dna,
        AlphabetArgument::Protein => Alphabet::Protein,
    });
    let by_place = match metric {
        Some(M::Hamming) => Some(columns::Measure::Hamming),
        Some(M::PDistance) => Some(columns::Measure::Mismatches),
        Some(M::JukesCantor) => Some(columns::Measure::JukesCantor),
        Some(M::Kimura) => Some(columns::Measure::Kimura),
        _ => None,
    };
    let needs_given = matches!(metric, Some(M::Hamming | M::PDistance));
    if needs_given || given.alignment == Some(AlignmentArgument::Given) {
        if given.alignment.is_some_and(|alignment| alignment != AlignmentArgument::Given) {
            let message = "this --metric compares place by place: it goes with --alignment given";
            return Err(Failure::new(Kind::Usage, message));
        }
        let Some(measure) = by_place else {
            let message = "--alignment given goes with --metric hamming, p-distance, jukes-cantor or kimura";
            return Err(Failure::new(Kind::Usage, message));
        };
        let scored = [
            (given.matrix.is_some(), "--matrix"),
            (given.gap.is_some(), "--gap"),
            (given.overlap.is_some(), "--overlap"),
        ];
        if let Some((_, option)) = scored.into_iter().find(|(is_given, _)| *is_given) {
            let message =
                format!("{option} is for alignments that are computed: it does not go with --alignment given");
            return Err(Failure::new(Kind::Usage, message));
        }
        return Ok(What::Aligned(Expected { alphabet, is_aligned: true }, measure));
    }
    let measure = match metric {
        None | Some(M::Identity) => sequence::Measure::Identity,
        Some(M::IdentityWithoutGaps) => sequence::Measure::IdentityWithoutGaps,
        Some(M::JukesCantor) => sequence::Measure::JukesCantor,
        Some(M::Kimura) => sequence::Measure::Kimura,
        Some(M::ScoreOverSmaller) => sequence::Measure::ScoreOverSmaller,
        Some(M::ScoreOverLarger) => sequence::Measure::ScoreOverLarger,
        Some(_) => sequence::Measure::ScoreOverMean,
    };
    let mode = match given.alignment {
        Some(AlignmentArgument::Global) => Mode::Global,
        Some(AlignmentArgument::SemiGlobal) => Mode::SemiGlobal,
        _ => Mode::Local,
    };
    if given.overlap.is_some() && mode != Mode::Local {
        return Err(Failure::new(Kind::Usage, "--overlap is for local alignments: it does not go with --alignment"));
    }
    let plan = SequencePlan { measure, mode, matrix: given.matrix, gap: given.gap, overlap: given.overlap };
    Ok(What::Sequences(Expected { alphabet, is_aligned: false }, plan))
}
