//! The arguments of `lehr demo`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use lehr_demos::application::ApplicationOptions;

use super::at_least_one;
use super::execution::ExecutionArguments;
use super::method::{ClusterOptions, ClusterResults};

/// The maximum number of dimensions of a map.
const MOST_DIMENSIONS: usize = 64;

/// The arguments of `lehr demo`.
#[derive(Debug, Args)]
#[command(after_help = DEMO_HELP, args_conflicts_with_subcommands = true, arg_required_else_help = true)]
pub struct DemoArguments {
    /// Data set
    #[arg(value_enum, default_value_t = Dataset::Census)]
    pub dataset: Dataset,

    /// A demonstration with all stages, from items without coordinates to clusters and a map.
    #[command(subcommand)]
    pub application: Option<DemoApplication>,

    /// The part of this process in a demonstration with several nodes, which starts it.
    #[arg(long, hide = true, value_enum)]
    pub part: Option<PartArgument>,

    /// The options of the clustering.
    #[command(flatten)]
    pub method: ClusterOptions,

    /// The engine and its settings.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// The options of the results.
    #[command(flatten)]
    pub results: ClusterResults,
}

/// A node of a demonstration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PartArgument {
    /// The node with the data
    Data,
    /// The node that clusters
    Compute,
}

/// The built-in data sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Dataset {
    /// 201,174 census blocks of Nevada, Utah and West Virginia, weighted by population, on the sphere; 20 clusters
    Census,
    /// The same blocks on one node, clustered on another; starts two nodes, uses them and ends them
    TwoNodes,
}

/// The demonstrations that go from items to clusters and a map.
#[derive(Debug, Subcommand)]
pub enum DemoApplication {
    /// Compare, cluster and map Alu repeats of the human genome
    ///
    /// Runs a workflow of services: aligns all pairs of sequences (local alignments, by identity), clusters them by
    /// pairwise annealing and maps them in three dimensions. Writes the files of lehr distances, lehr pairwise and lehr
    /// embed. The report has the map, the matrix, the time of each stage, and how well the clusters match known
    /// families.
    #[command(after_help = GENES_HELP)]
    Genes(Box<ApplicationArguments>),
    /// Compare, cluster and map adults of a health survey
    ///
    /// Standardises 113 features, of which one value in five is missing. Measures the Euclidean distances of all pairs
    /// over the features that both patients have. Clusters by pairwise annealing, and maps the patients in three
    /// dimensions. The report lists the features that distinguish each cluster.
    #[command(after_help = PATIENTS_HELP)]
    Patients(Box<ApplicationArguments>),
    /// Compare, cluster and map compounds, and locate the active ones
    ///
    /// Runs a workflow of services: compares the fingerprints of compounds by Tanimoto, clusters them by pairwise
    /// annealing and maps them in three dimensions. The report has the number of active compounds in each cluster. It
    /// compares their share with that of all compounds, and states the probability of such a share by chance.
    #[command(after_help = CHEMISTRY_HELP)]
    Chemistry(Box<CompoundsArguments>),
    /// Fetch compounds like a given one, compare, cluster and map them
    ///
    /// Runs a workflow of services. They look up a compound, search for similar compounds, and fetch structures and
    /// fingerprints. Then they compare all pairs by Tanimoto, cluster by pairwise annealing and draw a map with the
    /// clusters' colours. The answers come from a stand-in for PubChem on this machine, with the compounds of lehr demo
    /// chemistry, so no network is needed. The folder also gets the workflow file. Run it with lehr run to ask the real
    /// PubChem.
    #[command(after_help = PUBCHEM_HELP)]
    Pubchem(Box<PubChemArguments>),
    /// Cluster regions by their people's attributes, by where a subgroup lives, and by both
    ///
    /// Takes a table with one row per region, or the census tracts of three states. Clusters regions by standardised
    /// attributes, by position on the sphere weighted by a subgroup, and by both together. Draws maps, and writes a
    /// table of profiles for each view.
    Demography(Box<super::demography::DemographyArguments>),
}

/// The arguments of `lehr demo chemistry`.
#[derive(Debug, Args)]
pub struct CompoundsArguments {
    /// Use the compounds of this FPS file; may be gzipped [default: those built in]
    #[arg(long, value_name = "FILE.fps", requires = "activities")]
    pub fingerprints: Option<PathBuf>,

    /// Read the active compounds from this table; may be gzipped, with the columns id and active (1 or 0), and
    /// optionally smiles
    #[arg(long, value_name = "TABLE", requires = "fingerprints")]
    pub activities: Option<PathBuf>,

    /// The arguments of all applications.
    #[command(flatten)]
    pub application: ApplicationArguments,
}

/// The arguments of `lehr demo pubchem`.
#[derive(Debug, Args)]
pub struct PubChemArguments {
    /// Look for compounds like this one: didanosine, resveratrol, or an id of lehr demo chemistry, such as DTP21577
    #[arg(long, value_name = "NAME", default_value = "didanosine")]
    pub compound: String,

    /// Take compounds with at least this Tanimoto similarity to it, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 40, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub percent: u32,

    /// Take at most this many compounds, the most similar first; time and memory grow with the square
    #[arg(long, value_name = "N", default_value_t = 1500, value_parser = at_least_one)]
    pub most: usize,

    /// Find this many clusters
    #[arg(long, short = 'k', value_name = "K", default_value_t = 8, value_parser = at_least_one)]
    pub clusters: usize,

    /// Give the map this many dimensions
    #[arg(long, short = 'd', value_name = "L", value_parser = dimension, default_value_t = 2)]
    pub dimensions: usize,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Keep the run, its data sets and its reports in this folder
    #[arg(long, value_name = "FOLDER", default_value = "lehr-pubchem")]
    pub out: PathBuf,

    /// Continue the last run in the folder of --out
    #[arg(long)]
    pub resume: bool,

    /// Print the whole run, not only its result, as JSON
    #[arg(long, hide_short_help = true)]
    pub json: bool,

    /// Show no progress; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

/// The arguments of `lehr demo genes` and `lehr demo patients`.
#[derive(Debug, Args)]
pub struct ApplicationArguments {
    /// Use this many items; evenly chosen, time and memory grow with the square [default: 1500]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub items: Option<usize>,

    /// Find this many clusters [default: 3 of genes, 6 of patients, 10 of compounds]
    #[arg(long, short = 'k', value_name = "K", value_parser = at_least_one)]
    pub clusters: Option<usize>,

    /// Give the map this many dimensions
    #[arg(long = "dimensions", alias = "dimension", short = 'd', value_name = "L", value_parser = dimension, default_value_t = 3)]
    pub dimension: usize,

    /// Random seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// The engine and its settings.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// The options of the results.
    #[command(flatten)]
    pub results: ApplicationResultsArguments,
}

/// The options of the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "The results")]
pub struct ApplicationResultsArguments {
    /// Write the results to this folder; the matrix, tables, summary.json and report.html. Replaces results of an
    /// earlier run of the same command [default: lehr-genes, lehr-patients or lehr-chemistry, or the folder of
    /// --resume]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run with the checkpoint in this folder; pairs that it compared are not compared again
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,

    /// Replace protected files: an unfinished run's checkpoint, other commands' results, and files that Lehr may not
    /// have written
    #[arg(long, hide_short_help = true)]
    pub force: bool,

    /// Print summary.json to standard output
    #[arg(long, hide_short_help = true)]
    pub json: bool,

    /// Show no progress; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

impl ApplicationArguments {
    /// Returns the options of the application.
    pub fn asked(&self) -> ApplicationOptions {
        let Self { items, clusters, dimension, seed, .. } = *self;
        ApplicationOptions { items, clusters, dimension, seed }
    }
}

const DEMO_HELP: &str = "\
Example:
  lehr demo census
      cluster 201,174 census blocks on the globe by a workflow; open lehr-out/report.html

  lehr demo census --clusters 8
      one clustering with its own options, as lehr cluster does it

  lehr demo two-nodes
      start two nodes on this machine: the data on one, the clustering on the other";

const GENES_HELP: &str = "\
Example:
  lehr demo genes
      1,500 Alu repeats aligned, clustered and mapped; open lehr-genes/report.html

  lehr demo genes --items 9892 --clusters 10
      all that are built in: 49 million alignments, some minutes; Ctrl-C keeps what is finished

  lehr embed lehr-genes/dissimilarities.json --init random --anneal
      another map of the same matrix

  lehr run crates/demos/workflows/genes.toml --node http://127.0.0.1:8420
      the same steps on a node that has the services, without the page";

const PATIENTS_HELP: &str = "\
Example:
  lehr demo patients
      1,500 adults of a health survey, clustered and mapped; open lehr-patients/report.html

  lehr demo patients --items 2944 --clusters 8 --json | jq '.clusters[].marks'
      what marks each of eight clusters of all that are built in";

const CHEMISTRY_HELP: &str = "\
Example:
  lehr demo chemistry
      1,500 compounds of the NCI's antiviral screen compared, clustered and mapped; open lehr-chemistry/report.html

  lehr demo chemistry --items 6000 --clusters 20 --json | jq '.enrichment.clusters[] | select(.chance < 0.001)'
      the clusters of 6,000 compounds in which more are active than chance gives

  lehr demo chemistry --fingerprints keys.fps.gz --activities screen.tsv.gz --items 4000
      your own compounds

  lehr cluster keys.fps.gz --clusters 20
      all of them at once, by their bits";

const PUBCHEM_HELP: &str = "\
Example:
  lehr demo pubchem
      compounds like didanosine, clustered and mapped; open lehr-pubchem/reports/map/report.html

  lehr demo pubchem --compound resveratrol --percent 60 --clusters 5
      compounds like another one

  lehr run lehr-pubchem/pubchem.toml --set compound=zidovudine
      the same workflow with PubChem itself";

fn dimension(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if (1..=MOST_DIMENSIONS).contains(&number) => Ok(number),
        _ => Err(format!("expected a whole number from 1 to {MOST_DIMENSIONS}")),
    }
}
