//! Clustering of rows by deterministic annealing and by k-means, for every front end.

mod found;
pub mod marks;
pub mod merges;
mod options;
mod standing;

use std::path::Path;

use lehr_mining::{Error, kmeans, vector};

pub use found::{Annealed, Fitted, Provenance};
pub use options::{Options, Parameters, Precision, RowCost, Sweeps, Way};
pub use standing::{Outlying, OutlyingRow, Standing};

use crate::data::{RowsWords, Takes};
use crate::method::{About, Declared, Fit, Task, Temperature};

/// Clustering of rows: deterministic annealing, or k-means for comparison.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cluster;

/// The name of deterministic annealing in summaries.
pub(crate) const ANNEALING: &str = "vector deterministic annealing";
/// The name of k-means in summaries.
const KMEANS: &str = "k-means";

/// A run that can be resumed.
enum Begun {
    Annealing(Box<vector::Checkpoint>),
    KMeans(Box<kmeans::Checkpoint>),
}

impl Begun {
    /// Reads the content of a checkpoint. The two methods have different parameter names.
    fn of_json(content: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(content)
            .map(Self::KMeans)
            .or_else(|_| serde_json::from_slice(content).map(Self::Annealing))
    }

    fn parameters(&self) -> Parameters {
        match self {
            Begun::Annealing(checkpoint) => Parameters::Annealing(checkpoint.parameters().clone()),
            Begun::KMeans(checkpoint) => Parameters::KMeans(checkpoint.parameters().clone()),
        }
    }
}

impl Declared for Cluster {
    const ABOUT: About = About {
        name: "cluster",
        contract: "lehr.clustering",
        version: (1, 0),
        takes: Takes::Rows(RowsWords {
            columns_taken: "clustering by",
            missing: None,
            not_on_sphere: None,
            takes_bits_and_sparse: true,
            sets_aside: true,
        }),
        line: "Cluster the rows of a table by deterministic annealing or k-means",
        paragraph: "Annealing starts from one cluster at a high temperature and cools: clusters split where the data call for it. It stops at the number of clusters that you give. Without one, it \
                    chooses the largest number of clusters with a valley in the density between every two neighbours. With --method kmeans, Lehr keeps the best of several initialisations.",
        heading: "The clustering",
        examples: "  lehr cluster customers.csv --auto
      prepare an ordinary table, find its groups and say what marks them

  lehr cluster measurements.csv --scale std --clusters 20 --outlier-radius 3.5
      20 clusters; rows farther than 3.5 deviations from each are outliers

  lehr cluster blocks.csv.gz --columns lon,lat --lonlat --weights pop -k 20
      20 centres of population on the globe; open lehr-out/report.html

  lehr cluster measurements.csv --scale std --json | jq .result.clusters
      the number of clusters; jq .result.number has the evidence

  lehr cluster measurements.csv --method kmeans --clusters 20 --n-init 50
      k-means to compare with: the best of 50 initialisations

  lehr cluster compounds.fps.gz --clusters 20
      compounds by their fingerprints; centers.csv has the frequency of each bit

  lehr cluster compounds.fps.gz --clusters 20 --cost bernoulli
      the same by the likelihood of each bit, so that rare bits count more

  lehr cluster news20.svm.gz --clusters 20
      texts by their words, as sparse rows

  lehr cluster compounds.fps.gz --clusters 20 --weights-from screen.csv --weights potency --id compound
      the same with weights from a table

  lehr cluster large.npy --clusters 20 --spill /var/tmp
      a table larger than memory, kept on the disk of /var/tmp while the run lasts

  mpiexec -n 4 lehr cluster measurements.csv --clusters 20
      the same result, bit for bit, computed by four processes

  lehr cluster measurements.csv --clusters 20 --trace trace.json
      what each rank did when; open trace.json in ui.perfetto.dev",
        result: "clustering",
        folder: "lehr-out",
        files: &["labels.csv", "centers.csv", "marks.csv", "outliers.csv", "model.json", "report.html", "summary.json"],
        untold: &["marks.csv", "model.json"],
        outputs: &["centers", "history", "labels", "marks", "numbers", "outliers", "splits"],
        summary_names: &[ANNEALING, KMEANS],
    };

    type Options = Options;
    /// The parameters in checkpoints of annealing; those of k-means differ.
    type Parameters = vector::Parameters;

    fn options_of(parameters: &vector::Parameters) -> Options {
        Options::of(&Parameters::Annealing(parameters.clone()))
    }

    fn check(options: &Options) -> Vec<String> {
        options.faults()
    }

    fn temperature(options: &Options) -> Temperature {
        match options.cost {
            RowCost::Squared => Temperature::Squared { is_length_told: true },
            RowCost::Bernoulli => Temperature::Nats,
        }
    }

    fn recorded(checkpoint: &[u8]) -> serde_json::Result<Options> {
        Begun::of_json(checkpoint).map(|begun| Options::of(&begun.parameters()))
    }

    fn read_checkpoint(path: &Path) -> Result<Vec<u8>, Error> {
        if kmeans::Checkpoint::is_at(path) {
            return kmeans::Checkpoint::read_json(path);
        }
        vector::Checkpoint::read_json(path)
    }

    fn run(task: Task<'_>, options: &Options) -> Result<Box<dyn Fit>, Error> {
        let Task { data, checkpoint, execution, observer } = task;
        let rows = data.rows().vectors();
        let damaged =
            |error: serde_json::Error| Error::CheckpointDamaged { path: "".into(), reason: error.to_string() };
        let begun = checkpoint.map(Begun::of_json).transpose().map_err(damaged)?;
        let fitted = match (options.parameters(), begun) {
            (Parameters::Annealing(parameters), None) => {
                Fitted::annealed(vector::cluster(rows, &parameters, execution, observer)?, parameters)
            }
            (Parameters::KMeans(parameters), None) => {
                Fitted::by_kmeans(kmeans::cluster(rows, &parameters, execution, observer)?, parameters)
            }
            (_, Some(Begun::Annealing(checkpoint))) => {
                let parameters = checkpoint.parameters().clone();
                Fitted::annealed(vector::resume(rows, *checkpoint, execution, observer)?, parameters)
            }
            (_, Some(Begun::KMeans(checkpoint))) => {
                let parameters = checkpoint.parameters().clone();
                Fitted::by_kmeans(kmeans::resume(rows, *checkpoint, execution, observer)?, parameters)
            }
        };
        Ok(Box::new(fitted.not_counting(data.rows().without_values())))
    }
}
