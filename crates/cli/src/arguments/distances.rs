//! What `lehr distances` takes: sequences, tables, the measure, what becomes of the matrix.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::execution::ExecutionArguments;
use super::positive;
use super::table::delimiter;

/// What `lehr distances` takes.
#[derive(Debug, Args)]
#[command(after_help = DISTANCES_HELP)]
pub struct DistancesArguments {
    /// The items: sequences (FASTA), fingerprints (FPS) or a table (.csv, .tsv, .txt, .npy), each also gzipped, or .parquet; or a matrix to be written in another form: big-endian rows of 16 bits (.bin), or a dissimilarities.npy with its header beside it
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// What is measured [default: identity of sequences, tanimoto of fingerprints, euclidean of rows]
    #[arg(long, short, value_name = "NAME", value_enum)]
    pub metric: Option<MetricArgument>,

    /// Of sequences.
    #[command(flatten)]
    pub sequences: SequenceArguments,

    /// Of tables.
    #[command(flatten)]
    pub table: RecordArguments,

    /// How it is computed.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// What becomes of the matrix.
    #[command(flatten)]
    pub results: MatrixArguments,
}

/// What is measured of two items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MetricArgument {
    /// Sequences: 1 less the share of equal letters among all columns of their alignment
    Identity,
    /// Sequences: the same among columns with two letters
    IdentityWithoutGaps,
    /// Sequences: substitutions a place, corrected by Jukes and Cantor
    JukesCantor,
    /// Sequences: the same, corrected by Kimura from transitions and transversions
    Kimura,
    /// Sequences: 1 less their score over the smaller of their own scores
    ScoreOverSmaller,
    /// Sequences: 1 less their score over the larger of their own scores
    ScoreOverLarger,
    /// Sequences: 1 less their score over the geometric mean of their own scores
    ScoreOverMean,
    /// Aligned sequences: the share of places that differ, gaps included
    Hamming,
    /// Aligned sequences: the share of places that differ, of those where both have a letter
    PDistance,
    /// Fingerprints: 1 less the share of common bits among the bits of either
    Tanimoto,
    /// Rows: the root of the sum of squared differences
    Euclidean,
    /// Rows: its square
    SquaredEuclidean,
    /// Rows: the sum of absolute differences
    Manhattan,
    /// Rows: 1 less the cosine of their angle
    Cosine,
    /// Rows: 1 less their correlation
    Correlation,
}

/// How sequences are read and aligned.
#[derive(Debug, Args)]
#[command(next_help_heading = "Sequences")]
pub struct SequenceArguments {
    /// Which part of two sequences is aligned; given, that they are aligned already [default: local; given for hamming and p-distance]
    #[arg(long, value_enum)]
    pub alignment: Option<AlignmentArgument>,

    /// What the letters are [default: found out]
    #[arg(long, value_enum)]
    pub alphabet: Option<AlphabetArgument>,

    /// What pairs of letters score: ednafull, blosum62, or EQUAL/DIFFERENT such as 5/-4 [default: ednafull, or blosum62 for proteins]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub matrix: Option<String>,

    /// What the first letter in a gap costs, and each further one [default: 14/4, or 10/1 for proteins]
    #[arg(long, value_name = "OPEN/EXTEND", value_parser = gap_costs)]
    pub gap: Option<(i32, i32)>,

    /// The share of the shorter sequence that a local alignment must cover; pairs whose alignment covers less have no value [default: 0.7]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub overlap: Option<f64>,
}

/// Which part of two sequences is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AlignmentArgument {
    /// The part of each that is worth most
    Local,
    /// All of both
    Global,
    /// All of both, gaps at the ends free
    SemiGlobal,
    /// None: all sequences have one length and stand below each other
    Given,
}

/// What letters are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum AlphabetArgument {
    /// Nucleotides
    Dna,
    /// Amino acids
    Protein,
}

/// Which columns of a table mean what.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Tables (empty fields, NA and the like are gaps, and a pair is compared in the columns that both have)"
)]
pub struct RecordArguments {
    /// The columns to compare, by name or 0-based index [default: all numeric columns]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,

    /// The column of identifiers, copied to ids.csv [default: the 0-based row]
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,

    /// Bring each column to mean 0 and standard deviation 1 first, so that columns of large numbers do not decide alone
    #[arg(long)]
    pub standardise: bool,

    /// The character between fields, or tab, space, comma, semicolon, pipe [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,
}

/// What becomes of the matrix.
#[derive(Debug, Args)]
#[command(next_help_heading = "The matrix")]
pub struct MatrixArguments {
    /// How a number is stored
    #[arg(long, value_enum, default_value_t = ElementArgument::F32)]
    pub element: ElementArgument,

    /// Which pairs are stored
    #[arg(long, value_enum, default_value_t = FormArgument::Full)]
    pub form: FormArgument,

    /// Make equal items one: ids.csv has their number as a weight, members.csv says which item each has become
    #[arg(long)]
    pub collapse: bool,

    /// The most memory that the values may take while they are computed; a run that needs more is refused at once [default: what is free]
    #[arg(long, value_name = "GIB", value_parser = positive)]
    pub memory: Option<f64>,

    /// The folder for dissimilarities.npy, its header dissimilarities.json, and ids.csv; an earlier matrix in it is replaced [default: lehr-distances]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Go on with the run whose checkpoint is in this folder: same input and options
    #[arg(long, value_name = "FOLDER", conflicts_with = "out")]
    pub resume: Option<PathBuf>,

    /// Replace an unfinished run's checkpoint, results of another command, and files that look like results but are not known to be Lehr's
    #[arg(long)]
    pub force: bool,

    /// Print the header to standard output, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// No progress on standard error; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

/// How a number is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ElementArgument {
    /// 64-bit floating point
    F64,
    /// 32-bit floating point
    F32,
    /// 16-bit fixed point, with the scale in the header
    U16,
    /// Big-endian 16-bit rows, full, as the papers' group stores them (dissimilarities.bin)
    I16be,
}

/// Which pairs are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FormArgument {
    /// All, N x N
    Full,
    /// Those above the diagonal, as SciPy's pdist orders them
    Condensed,
}

const DISTANCES_HELP: &str = "\
Example:
  lehr distances genes.fasta --out genes
      one less the share of identical letters, each pair aligned locally; np.load('genes/dissimilarities.npy')

  lehr distances aligned.fasta --alignment given --metric kimura --element u16
      two bytes a pair; a value is the number times the scale in dissimilarities.json, 65535 is missing

  lehr distances patients.csv --standardise --form condensed
      Euclidean distances of rows with gaps; scipy.cluster.hierarchy.linkage takes them as they are

  mpiexec -n 4 lehr distances reads.fasta --collapse
      the distinct reads with their numbers as weights; the same matrix, bit for bit, computed by four processes

The matrix is what lehr pairwise clusters and lehr embed draws a map of: both take the dissimilarities.json in the folder.

Ctrl-C stops the run, keeps what is finished and says how to continue.
Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped.";

fn gap_costs(text: &str) -> Result<(i32, i32), String> {
    let costs = text.split_once('/').and_then(|(open, extend)| Some((open.parse().ok()?, extend.parse().ok()?)));
    costs.ok_or_else(|| "expected two whole numbers, OPEN/EXTEND".to_owned())
}
