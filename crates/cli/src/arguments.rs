//! The command line as it is typed. What it means together is decided in [`crate::plan`].

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use lehr_jobs::{Form, Settings};
use lehr_ranks::Layout;
use lehr_services::Restart;

/// Data mining from a terminal.
#[derive(Debug, Parser)]
#[command(
    name = "lehr",
    version,
    about = "Data mining from a terminal: annealed clustering with a map of what it found",
    arg_required_else_help = true,
    max_term_width = 110,
    after_help = "Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped."
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The things `lehr` does.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Cluster the rows of a table by deterministic annealing
    ///
    /// Reads a table, starts from one cluster at a high temperature and cools: clusters split where the data ask for it.
    /// Stops at a number of clusters, at a temperature or at a length; without any of these, at the number of clusters that
    /// stays longest while the temperature falls.
    Cluster(ClusterArguments),
    /// Measure how unlike all pairs of items are: sequences, fingerprints, rows of numbers
    ///
    /// Reads FASTA, FPS or a table, computes one half of the matrix on all cores, and writes it as an array that NumPy opens, with a header
    /// beside it that says what its numbers mean.
    Distances(Box<DistancesArguments>),
    /// Cluster a data set that is built in
    ///
    /// Something to look at before you have prepared a table of your own.
    Demo(DemoArguments),
    /// Run a node of services, reached over HTTP
    ///
    /// Listens on this machine only, unless told otherwise. Ctrl-C ends the services, then the node.
    Serve(ServeArguments),
    /// List the services of a node
    Ls(LsArguments),
    /// Print the state of a service
    Get(GetArguments),
    /// Ask a service for a part of its state
    Query(SendArguments),
    /// Send a service any operation of its contract
    Submit(SendArguments),
    /// Print the state of a service, then its changes as they come
    Watch(WatchArguments),
    /// End a service
    Drop(DropArguments),
    /// Bring a file into the data sets of a node, going on where an interrupted upload stopped
    Upload(UploadArguments),
    /// Measure Lehr beside its peers and beside the machine's limits
    ///
    /// Every figure that Lehr's pages quote can be taken again on your machine.
    #[command(subcommand)]
    Lab(LabCommand),
}

/// What `lehr serve` takes.
#[derive(Debug, Args)]
#[command(after_help = SERVE_HELP)]
pub struct ServeArguments {
    /// Where to listen; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8420")]
    pub listen: SocketAddr,

    /// Who may do what: a JSON file with callers, their tokens, and rules
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,

    /// Listen beyond this machine without a policy: everybody may do everything
    #[arg(long)]
    pub insecure: bool,

    /// Worker threads for handlers [default: as many as the machine has cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub threads: Option<usize>,

    /// Start a service: its contract and its path, for a method of mining also how its jobs run, such as ,threads=2,cores=0-1 (may be repeated)
    #[arg(long, value_name = "CONTRACT=PATH[,NAME=VALUE...]", value_parser = placed)]
    pub start: Vec<PlacedService>,

    /// The folder whose files clients may open as data sets; nothing else of this machine's can be read [default: none]
    #[arg(long, value_name = "DIR")]
    pub data_root: Option<PathBuf>,

    /// Keep data sets, jobs and the states of started services in this folder, and find them there again [default: they are gone with the node]
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,

    /// The largest body that is taken, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 16 << 20, value_parser = at_least_one)]
    pub body_max: usize,

    /// Requests a second from one address; more are refused [default: any number]
    #[arg(long, value_name = "N", value_parser = positive)]
    pub rate: Option<f64>,

    /// How long services may take to end, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    pub grace: u64,

    /// Start a service anew after a crash, at most so many times in so many seconds [default: never]
    #[arg(long, value_name = "TIMES/SECONDS", value_parser = restart)]
    pub restart: Option<Restart>,

    /// What the log says, on standard error: off, error, warn, info or debug, also by path or contract
    #[arg(long, value_name = "FILTERS", default_value = "warn")]
    pub log: String,

    /// How the node speaks TLS.
    #[command(flatten)]
    pub tls: ServeTlsArguments,

    /// Which other nodes it knows.
    #[command(flatten)]
    pub join: JoinArguments,

    /// Where it fetches data.
    #[command(flatten)]
    pub sources: SourceArguments,
}

/// What `lehr serve` fetches, and where.
#[derive(Debug, Args)]
#[command(next_help_heading = "Data from elsewhere")]
pub struct SourceArguments {
    /// Let files be fetched from this host: name, name:port, or .name for all below it (may be repeated)
    #[arg(long, value_name = "HOST", requires = "fetch_into")]
    pub fetch_from: Vec<String>,

    /// The folder that they are put into
    #[arg(long, value_name = "DIR", requires = "fetch_from")]
    pub fetch_into: Option<PathBuf>,

    /// Let those hosts be in private networks and on this machine
    #[arg(long, requires = "fetch_from")]
    pub fetch_private: bool,

    /// The largest file that is fetched, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30, value_parser = at_least_one)]
    pub fetch_max: usize,

    /// Answer questions about chemical compounds by asking PubChem
    #[arg(long)]
    pub pubchem: bool,
}

/// How `lehr serve` speaks TLS.
#[derive(Debug, Args)]
#[command(next_help_heading = "TLS")]
pub struct ServeTlsArguments {
    /// Speak TLS, with this certificate and those up to its authority, in PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,

    /// The certificate's private key, in PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,

    /// Take only clients with a certificate that one of these authorities has signed; the policy says whose
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub client_ca: Option<PathBuf>,
}

/// Which nodes `lehr serve` joins.
#[derive(Debug, Args)]
#[command(next_help_heading = "Other nodes")]
pub struct JoinArguments {
    /// Find the services of this node too (may be repeated)
    #[arg(long, value_name = "URL")]
    pub join: Vec<String>,

    /// Ask the nodes that are joined to join this one, at this address
    #[arg(long, value_name = "URL")]
    pub advertise: Option<String>,

    /// How long a node may not answer before its services are taken to be gone, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = positive)]
    pub lease: f64,

    /// The file with the token to show them
    #[arg(long, value_name = "FILE")]
    pub join_token: Option<PathBuf>,

    /// Trust those of them whose certificates these authorities have signed [default: whom this machine trusts]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// A service to start.
#[derive(Debug, Clone)]
pub struct PlacedService {
    /// Its contract.
    pub contract: String,
    /// Where it is to stand.
    pub path: String,
    /// How the jobs of a method run, if that was said.
    pub settings: Option<Settings>,
}

/// How a node is asked.
#[derive(Debug, Args)]
#[command(next_help_heading = "The request")]
pub struct RequestArguments {
    /// The file with the token to show
    #[arg(long, value_name = "FILE")]
    pub token: Option<PathBuf>,

    /// How long to wait for an answer, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = positive)]
    pub timeout: f64,

    /// Trust nodes whose certificates these authorities have signed, in PEM [default: whom this machine trusts]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,

    /// The certificate to show to a node that asks for one, in PEM
    #[arg(long, value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,

    /// The certificate's private key, in PEM
    #[arg(long, value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,
}

/// What `lehr upload` takes.
#[derive(Debug, Args)]
#[command(after_help = UPLOAD_HELP)]
pub struct UploadArguments {
    /// The file: CSV, TSV, NPY, Parquet or Arrow
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// The service of data sets
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:8420/datasets")]
    pub url: String,

    /// What the data set will be called [default: the file's name up to its first dot]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// What the file is: csv, tsv, npy, parquet or arrow [default: what its name says]
    #[arg(long, value_name = "FORMAT", value_parser = form)]
    pub format: Option<Form>,

    /// The columns to keep, by name, with commas between them [default: all; of text files, all of numbers]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,

    /// The column of weights
    #[arg(long, value_name = "NAME")]
    pub weights: Option<String>,

    /// The column of ids
    #[arg(long, value_name = "NAME")]
    pub id: Option<String>,

    /// Replace a data set of the same name
    #[arg(long)]
    pub replace: bool,

    /// How it is asked.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// What `lehr ls` takes.
#[derive(Debug, Args)]
#[command(after_help = LS_HELP)]
pub struct LsArguments {
    /// The node
    #[arg(value_name = "URL", default_value = "http://127.0.0.1:8420")]
    pub url: String,

    /// Print JSON
    #[arg(long)]
    pub json: bool,

    /// How it is asked.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// What `lehr get` takes.
#[derive(Debug, Args)]
#[command(after_help = GET_HELP)]
pub struct GetArguments {
    /// The service
    #[arg(value_name = "URL")]
    pub url: String,

    /// Print what the service is instead of its state: contract, operations, counts
    #[arg(long)]
    pub lookup: bool,

    /// How it is asked.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// What `lehr query` and `lehr submit` take.
#[derive(Debug, Args)]
#[command(after_help = SEND_HELP)]
pub struct SendArguments {
    /// The service
    #[arg(value_name = "URL")]
    pub url: String,

    /// The operation
    #[arg(value_name = "OPERATION")]
    pub operation: String,

    /// Its body as JSON; - reads standard input [default: an empty body]
    #[arg(value_name = "BODY")]
    pub body: Option<String>,

    /// A key that makes sending it again harmless
    #[arg(long, value_name = "TEXT")]
    pub idempotency_key: Option<String>,

    /// Only if the state is of this version
    #[arg(long, value_name = "N")]
    pub if_version: Option<u64>,

    /// How it is asked.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// What `lehr watch` takes.
#[derive(Debug, Args)]
#[command(after_help = WATCH_HELP)]
pub struct WatchArguments {
    /// The service
    #[arg(value_name = "URL")]
    pub url: String,

    /// Only these operations
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub operations: Vec<String>,

    /// Only changes about these keys
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub keys: Vec<String>,

    /// End after so many changes
    #[arg(long, value_name = "N")]
    pub count: Option<u64>,

    /// How it is asked.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// What `lehr drop` takes.
#[derive(Debug, Args)]
#[command(after_help = DROP_HELP)]
pub struct DropArguments {
    /// The service
    #[arg(value_name = "URL")]
    pub url: String,

    /// How it is asked.
    #[command(flatten)]
    pub request: RequestArguments,
}

/// What can be measured.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// The port runtime beside channel and actor libraries and a C program
    ///
    /// Every side takes its turn in each round and checks its own result. Without the peers, which `make peers-ports` builds,
    /// ours is measured alone.
    #[command(after_help = PORTS_HELP)]
    Ports(LabArguments),

    /// Ranks on threads, over ports and on MPI, beside every MPI, Java and a C program
    ///
    /// Every side takes its turn in each round and checks its own result. Without the peers, which `make peers-ranks` builds,
    /// ours in one process is measured alone.
    #[command(after_help = RANKS_HELP)]
    Ranks(LabArguments),

    /// Messages to services beside actor libraries, and `lehr serve` beside a bare HTTP handler
    ///
    /// In one process by size of the group, one-way and two-way, cold and warm; over loopback HTTP in closed and open loop; what subscribers cost, and
    /// what a computing neighbour does. Every side takes its turn in each round and checks its own result. Without the peers, which
    /// `make peers-services` builds, ours is measured alone.
    #[command(after_help = SERVICES_HELP)]
    Services(LabArguments),

    /// What is lost by dividing a clustering run among threads, MPI processes and both
    ///
    /// f = p T(p) / T(1) - 1 against grain size and number of clusters, with the laws that the papers fit to it; map-reduce beside ranks; how evenly
    /// threads and processes run. Every side solves the same problem to the same bits. Without an mpiexec, threads alone.
    Overhead(OverheadArguments),
    /// One job of a measurement, which starts it with a task in JSON
    #[command(hide = true)]
    Job {
        /// The task.
        task: String,
    },
}

/// What `lehr lab overhead` takes.
#[derive(Debug, Args)]
#[command(after_help = OVERHEAD_HELP)]
pub struct OverheadArguments {
    /// Fewer and smaller cases: under two minutes
    #[arg(long)]
    pub quick: bool,

    /// Print an array of records (experiment, case, engine, unit, min, median, max, runs) and nothing else to standard output
    #[arg(long)]
    pub json: bool,

    /// Only cases whose name contains this: "K = 20", "N = 200000", "stages"
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Rounds of turns [default: 7, or 3 with --quick]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub rounds: Option<usize>,

    /// The launcher of processes [default: target/mpi/bin/mpiexec, else mpiexec on the path]
    #[arg(long, value_name = "FILE")]
    pub mpiexec: Option<PathBuf>,

    /// Keep what is measured in this file, case by case; go on with the record that is there
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// What every lab takes.
#[derive(Debug, Args)]
pub struct LabArguments {
    /// Fewer cases and shorter samples: about two minutes
    #[arg(long)]
    pub quick: bool,

    /// Print an array of records (experiment, case, engine, unit, min, median, max, runs) and nothing else to standard output
    #[arg(long)]
    pub json: bool,

    /// Only cases whose name contains this: "exchange, P = 2", ", 20 units"
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Rounds of turns [default: 5, or 3 with --quick]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub rounds: Option<usize>,

    /// The folder with the peers' programs [default: the lab's own in target/peers]
    #[arg(long, value_name = "FOLDER")]
    pub peers: Option<PathBuf>,

    /// Keep what is measured in this file, case by case; go on with the record that is there
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// What `lehr cluster` takes.
#[derive(Debug, Args)]
#[command(after_help = CLUSTER_HELP)]
pub struct ClusterArguments {
    /// The table: .csv, .tsv, .txt (each may be gzipped) or .npy
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Which columns mean what.
    #[command(flatten)]
    pub table: TableArguments,

    /// What the clustering does.
    #[command(flatten)]
    pub method: MethodArguments,

    /// How it is computed.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// What becomes of the results.
    #[command(flatten)]
    pub results: ResultsArguments,
}

/// What `lehr distances` takes.
#[derive(Debug, Args)]
#[command(after_help = DISTANCES_HELP)]
pub struct DistancesArguments {
    /// The items: sequences (FASTA), fingerprints (FPS) or a table (.csv, .tsv, .txt, .npy), each also gzipped; or a matrix to be written in another form: the group's 16-bit rows (.bin) or dissimilarities.npy
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

    /// ednafull, blosum62, or EQUAL/DIFFERENT such as 5/-4 [default: ednafull, or blosum62 for proteins]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub matrix: Option<String>,

    /// What the first letter in a gap costs, and each further one [default: 14/4, or 10/1 for proteins]
    #[arg(long, value_name = "OPEN/EXTEND", value_parser = gap_costs)]
    pub gap: Option<(i32, i32)>,

    /// Local alignments that cover less of the shorter sequence give no value [default: 0.7]
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

    /// Bring each column to mean 0 and standard deviation 1 first
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

    /// Replace an unfinished run's checkpoint and files that look like results but are not known to be Lehr's
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

/// What `lehr demo` takes.
#[derive(Debug, Args)]
#[command(after_help = DEMO_HELP)]
pub struct DemoArguments {
    /// Which data set
    #[arg(value_enum)]
    pub dataset: Dataset,

    /// What the clustering does.
    #[command(flatten)]
    pub method: MethodArguments,

    /// How it is computed.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// What becomes of the results.
    #[command(flatten)]
    pub results: ResultsArguments,
}

/// The data sets that are built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Dataset {
    /// 201,174 census blocks of Nevada, Utah and West Virginia, weighted by population, on the sphere; 20 clusters
    Census,
}

/// Which columns of the table mean what.
#[derive(Debug, Args)]
#[command(next_help_heading = "The table")]
pub struct TableArguments {
    /// The columns to cluster by, by name or 0-based index [default: all numeric columns]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,

    /// The column of weights (at least 0; rows of weight 0 are labelled and influence nothing)
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,

    /// The column of identifiers, copied to labels.csv [default: the 0-based row]
    #[arg(long, value_name = "COLUMN")]
    pub id: Option<String>,

    /// The two columns are longitude and latitude in degrees: cluster on the sphere, distances in km
    #[arg(long)]
    pub lonlat: bool,

    /// Scale the columns before clustering; centres are reported in the columns' own units
    #[arg(long, value_enum, default_value_t = ScaleArgument::None)]
    pub scale: ScaleArgument,

    /// The character between fields, or tab, space, comma, semicolon, pipe [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// The first row is a header [default: detected]
    #[arg(long, overrides_with = "no_header")]
    pub header: bool,

    /// The first row is data [default: detected]
    #[arg(long, overrides_with = "header")]
    pub no_header: bool,
}

/// How columns are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScaleArgument {
    /// As they are
    None,
    /// By mean and standard deviation
    Std,
    /// By median and interquartile range
    Robust,
}

/// What the clustering does.
#[derive(Debug, Args)]
#[command(next_help_heading = "The clustering")]
pub struct MethodArguments {
    /// Stop at this many clusters
    #[arg(long, short = 'k', alias = "k", value_name = "K", value_parser = clusters)]
    pub clusters: Option<usize>,

    /// Stop at this temperature (squared unit of the columns; km² with --lonlat)
    #[arg(long, value_name = "T", value_parser = positive, allow_negative_numbers = true)]
    pub stop_temperature: Option<f64>,

    /// Stop at this length scale, the square root of T/2 (unit of the columns; km with --lonlat)
    #[arg(
        long,
        value_name = "LENGTH",
        value_parser = positive,
        allow_negative_numbers = true,
        conflicts_with = "stop_temperature"
    )]
    pub stop_length: Option<f64>,

    /// Without --clusters: the most clusters [default: 32, or no limit with a stop temperature or length]
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "clusters")]
    pub max_clusters: Option<usize>,

    /// Decides between equals; the same seed gives the same result [default: 0]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// How coordinates are stored; sums are always 64 bits wide [default: f64]
    #[arg(long, value_enum)]
    pub precision: Option<PrecisionArgument>,
}

/// How coordinates are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrecisionArgument {
    /// 64 bits
    F64,
    /// 32 bits: half the memory, and faster
    F32,
}

/// How the clustering is computed. Nothing here changes a bit of the result.
#[derive(Debug, Args)]
#[command(next_help_heading = "How it is computed (the result is the same)")]
pub struct ExecutionArguments {
    /// Threads [default: the processors there are]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub threads: Option<usize>,

    /// Ranks that share the rows, with --engine ranks or map-reduce [default: one a thread]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub ranks: Option<usize>,

    /// Threads in a process x processes on a node x nodes, with --engine ranks or map-reduce; several processes are started by mpiexec
    #[arg(long, value_name = "TxMxN", conflicts_with = "ranks")]
    pub layout: Option<Layout>,

    /// Who runs the blocks of rows
    #[arg(long, value_enum, default_value_t = EngineArgument::Ranks)]
    pub engine: EngineArgument,
}

/// Who runs the blocks of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EngineArgument {
    /// Rank tasks that reduce together
    Ranks,
    /// A parallel loop
    Loop,
    /// Persistent receivers fed block numbers
    Ports,
    /// Ranks whose rounds are map, shuffle, reduce and gather
    MapReduce,
}

/// What becomes of the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "The results")]
pub struct ResultsArguments {
    /// The folder for labels.csv, centers.csv, summary.json and report.html; results of an earlier run in it are replaced,
    /// other files are left alone [default: lehr-out, or the folder of --resume]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run whose checkpoint is in this folder: same input and table options, parameters from the checkpoint
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,

    /// Replace an unfinished run's checkpoint and files that look like results but are not known to be Lehr's
    #[arg(long)]
    pub force: bool,

    /// Print the content of summary.json to standard output, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// No progress on standard error; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,

    /// Write what each rank did when (computing, waiting, communicating) to this file, for ui.perfetto.dev or chrome://tracing; with --engine ranks or map-reduce
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

const CLUSTER_HELP: &str = "\
Example:
  lehr cluster blocks.csv.gz --columns lon,lat --lonlat --weights pop --id geoid --clusters 20
      twenty centres of population, distances in km; open lehr-out/report.html

  lehr cluster measurements.csv --scale std --json | jq .result.clusters
      how many clusters the data suggest

  mpiexec -n 4 lehr cluster measurements.csv --clusters 20
      the same result, bit for bit, computed by four processes

  lehr cluster measurements.csv --clusters 20 --trace trace.json
      what each rank did when; open trace.json in ui.perfetto.dev

Ctrl-C stops the run, keeps a checkpoint and says how to continue.
Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped.";

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

Ctrl-C stops the run, keeps what is finished and says how to continue.
Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped.";

const DEMO_HELP: &str = "\
Example:
  lehr demo census
      20 clusters of 201,174 census blocks weighted by population; open lehr-out/report.html";

const SERVE_HELP: &str = "\
Example:
  lehr serve --start lehr/records=/notes
      a node with a service for documents by key; its address is printed when it listens
  curl http://127.0.0.1:8420/notes
  curl http://127.0.0.1:8420/notes:insert --json '{\"key\": \"loom\", \"value\": {\"shafts\": 8}}'
  lehr serve --listen 0.0.0.0:8443 --cert node.pem --key node.key --client-ca ca.pem --policy policy.json
      for others, by mutual TLS: who has a certificate of the authority, and a rule of the policy
  lehr serve --listen 127.0.0.1:8421 --join http://127.0.0.1:8420
  curl http://127.0.0.1:8421/nodes:find?contract=lehr/records
      a second node, which finds the services of the first";

const LS_HELP: &str = "\
Example:
  lehr ls http://127.0.0.1:8420";

const GET_HELP: &str = "\
Example:
  lehr get http://127.0.0.1:8420/notes | jq .records
  lehr get --lookup http://127.0.0.1:8420/notes | jq '.contract.operations | keys'";

const SEND_HELP: &str = "\
Example:
  lehr query http://127.0.0.1:8420/notes find '{\"key\": \"loom\"}'
  lehr submit http://127.0.0.1:8420/notes insert '{\"key\": \"loom\", \"value\": {\"shafts\": 8}}'";

const WATCH_HELP: &str = "\
Example:
  lehr watch http://127.0.0.1:8420/directory --count 1";

const UPLOAD_HELP: &str = "\
Example:
  lehr upload blocks.csv.gz --weights pop --id geoid
      the data set \"blocks\" of the node on this machine; typed again after a break, it goes on";

const DROP_HELP: &str = "\
Example:
  lehr drop http://127.0.0.1:8420/notes";

const PORTS_HELP: &str = "\
Example:
  lehr lab ports --quick
      tables with ratios to the best peer and to the C program of this run

  lehr lab ports --only 'rendezvous exchange, P = 2' --json | jq '.[] | [.engine, .median]'";

const OVERHEAD_HELP: &str = "\
Example:
  lehr lab overhead --quick
      tables of overheads, laws and fluctuations

  lehr lab overhead --only 'K = 20' --json | jq '.[] | select(.experiment == \"fit\") | [.case, .engine, .median]'";

const RANKS_HELP: &str = "\
Example:
  lehr lab ranks --quick
      tables with ratios to the best MPI and to the C program of this run

  lehr lab ranks --only 'all-reduce, P = 2' --json | jq '.[] | [.case, .engine, .median]'";

const SERVICES_HELP: &str = "\
Example:
  lehr lab services --quick
      one table, the papers' figures under it

  lehr lab services --only 'http POST' --json | jq '.[] | [.case, .engine, .median]'";

fn clusters(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least one cluster is needed".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("expected a whole number of at least 1".to_owned()),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= 1 => Ok(number),
        _ => Err("expected a whole number of at least 1".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a finite number above 0".to_owned()),
    }
}

fn placed(text: &str) -> Result<PlacedService, String> {
    let (place, settings) = text.split_once(',').map_or((text, None), |(place, settings)| (place, Some(settings)));
    let settings: Option<Settings> =
        settings.map(str::parse).transpose().map_err(|fault: lehr_services::Fault| fault.reason().to_owned())?;
    match place.split_once('=') {
        Some((contract, path)) if !contract.is_empty() && path.starts_with('/') => {
            Ok(PlacedService { contract: contract.to_owned(), path: path.to_owned(), settings })
        }
        _ => Err("expected a contract and a path, such as lehr/records=/notes".to_owned()),
    }
}

fn gap_costs(text: &str) -> Result<(i32, i32), String> {
    let costs = text.split_once('/').and_then(|(open, extend)| Some((open.parse().ok()?, extend.parse().ok()?)));
    costs.ok_or_else(|| "expected two whole numbers, OPEN/EXTEND".to_owned())
}

fn restart(text: &str) -> Result<Restart, String> {
    let read = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number >= 1);
    let parts = text.split_once('/').and_then(|(max, within)| Some((read(max)?, read(within)?)));
    let (max, within) = parts.ok_or("expected times and seconds, such as 3/10")?;
    Ok(Restart::OnPanic { max: max as usize, within: Duration::from_secs(within.into()) })
}

fn form(text: &str) -> Result<Form, String> {
    Form::of_name(&format!(".{text}")).ok_or_else(|| "expected csv, tsv, npy, parquet or arrow".to_owned())
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" | "\\t" => Ok(b'\t'),
        "space" => Ok(b' '),
        "comma" => Ok(b','),
        "semicolon" => Ok(b';'),
        "pipe" => Ok(b'|'),
        _ => match text.as_bytes() {
            [b'"' | b'\n' | b'\r'] => Err("a quote or a line end cannot separate fields".to_owned()),
            [byte] if byte.is_ascii() => Ok(*byte),
            _ => Err("expected one ASCII character, or tab, space, comma, semicolon, pipe".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_later_of_two_header_options_wins() {
        let parsed = Arguments::try_parse_from(["lehr", "cluster", "a.csv", "--header", "--no-header"]).unwrap();
        let Command::Cluster(cluster) = parsed.command else { panic!("not the cluster command") };
        assert!(cluster.table.no_header && !cluster.table.header);
    }

    #[test]
    fn delimiters_have_names() {
        assert_eq!(
            ["tab", "\\t", ";", "pipe", "x"].map(|text| delimiter(text).ok()),
            [Some(b'\t'), Some(b'\t'), Some(b';'), Some(b'|'), Some(b'x')]
        );
        assert!(
            delimiter("").is_err() && delimiter("ab").is_err() && delimiter("é").is_err() && delimiter("\"").is_err()
        );
    }
}
