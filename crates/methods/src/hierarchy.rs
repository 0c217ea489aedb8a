//! Agglomerative clustering of dissimilarities, for every front end.

use std::any::Any;

use lehr_mining::Error;
use lehr_mining::hierarchy::{self, Candidate, Cluster, Join, Model, Parameters};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::data::{Data, Matrix, MatrixWords, Takes};
use crate::items::Members;
use crate::method::{About, Content, Declared, Fit, Spent, Task};
use crate::model::{Learnt, ModelFile};
use crate::numbers::{aligned, amount, counted, significant};
use crate::sections::Sections;
use crate::table::Table;

/// The maximum number of clusters that are displayed; `clusters.csv` has all of them.
const SHOWN: usize = 40;
/// The number of other candidates that are displayed beside the chosen number of clusters.
const RUNNERS_UP: usize = 2;

/// Agglomerative clustering: joins items into a tree, and cuts it into clusters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hierarchy;

/// The options of [`Hierarchy`]. By default, silhouettes choose the number of clusters.
///
/// # Example
/// ```
/// use lehr_methods::hierarchy::{Linkage, Options};
/// let options: Options = serde_json::from_str(r#"{ "linkage": "ward" }"#).unwrap();
/// assert_eq!((options.clusters, options.linkage), (None, Linkage::Ward));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Cut the tree into this many clusters
    #[schemars(range(min = 1), extend("x-short" = "k", "x-value" = "K", "x-python" = "n_clusters", "x-default" = "the number with the largest mean silhouette"))]
    pub clusters: Option<usize>,
    /// Cut the tree at this height, in the unit of the dissimilarities
    #[schemars(range(min = 0.0), extend("x-value" = "HEIGHT", "x-python" = "distance_threshold", "x-conflicts" = "clusters"))]
    pub height: Option<f64>,
    /// Choose at most this many clusters where neither their number nor a height is given
    #[schemars(range(min = 1), extend("x-value" = "K", "x-advanced" = true))]
    pub max_clusters: usize,
    /// Take this as the distance of two clusters
    pub linkage: Linkage,
}

/// The distance of two clusters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Linkage {
    /// The mean over all pairs of items, also called UPGMA.
    #[default]
    Average,
    /// The largest dissimilarity of two items.
    Complete,
    /// The smallest dissimilarity of two items.
    Single,
    /// The mean of the distances to the two parts of a cluster, also called WPGMA.
    Weighted,
    /// The growth of the sum of squares, for Euclidean distances.
    Ward,
}

impl Default for Options {
    fn default() -> Self {
        Self::of(&Parameters::default())
    }
}

impl Options {
    /// Returns the options that correspond to parameters of the library.
    pub fn of(parameters: &Parameters) -> Self {
        let Parameters { clusters, height, max_clusters, linkage } = *parameters;
        let linkage = match linkage {
            hierarchy::Linkage::Average => Linkage::Average,
            hierarchy::Linkage::Complete => Linkage::Complete,
            hierarchy::Linkage::Single => Linkage::Single,
            hierarchy::Linkage::Weighted => Linkage::Weighted,
            hierarchy::Linkage::Ward => Linkage::Ward,
        };
        Self { clusters, height, max_clusters, linkage }
    }

    /// Returns the corresponding parameters of the library.
    pub fn parameters(&self) -> Parameters {
        let Self { clusters, height, max_clusters, linkage } = *self;
        let linkage = match linkage {
            Linkage::Average => hierarchy::Linkage::Average,
            Linkage::Complete => hierarchy::Linkage::Complete,
            Linkage::Single => hierarchy::Linkage::Single,
            Linkage::Weighted => hierarchy::Linkage::Weighted,
            Linkage::Ward => hierarchy::Linkage::Ward,
        };
        Parameters { clusters, height, max_clusters, linkage }
    }
}

impl Declared for Hierarchy {
    const ABOUT: About = About {
        name: "hierarchy",
        contract: "lehr.hierarchy",
        version: (1, 0),
        takes: Takes::Matrix(MatrixWords { may_miss_pairs: false, has_classes: false }),
        line: "Join items into a tree by their dissimilarities",
        paragraph: "Agglomerative clustering: begins with each item as a cluster, and joins the two closest clusters again and again. The result is a tree, which you can draw as a dendrogram \
                    and read in Newick's format. A cut through the tree gives clusters. Without a number of clusters or a height, the cut has the largest mean silhouette.",
        heading: "The tree",
        examples: "  lehr distances genes.fasta --out genes
  lehr hierarchy genes/dissimilarities.json --out tree
      open tree/report.html; tree/tree.nwk is for programs that draw phylogenetic trees

  lehr hierarchy d.npy --linkage complete --height 0.4
      clusters whose items are all within 0.4 of each other

The folder has labels.csv (a line an item: its cluster, its silhouette, its place in the tree),
clusters.csv, merges.csv (a line a join, as in SciPy's linkage), tree.nwk, summary.json and report.html.",
        result: "tree",
        folder: "lehr-hierarchy",
        files: &["labels.csv", "clusters.csv", "merges.csv", "tree.nwk", "model.json", "report.html", "summary.json"],
        untold: &["model.json"],
        outputs: &["candidates", "clusters", "labels", "merges", "tree"],
        summary_names: &["agglomerative clustering"],
    };

    type Options = Options;
    type Parameters = Parameters;

    fn options_of(parameters: &Parameters) -> Options {
        Options::of(parameters)
    }

    fn check(options: &Options) -> Vec<String> {
        let is_said_twice = options.clusters.is_some() && options.height.is_some();
        is_said_twice.then(|| "height: expected without clusters".to_owned()).into_iter().collect()
    }

    fn run(task: Task<'_>, options: &Options) -> Result<Box<dyn Fit>, Error> {
        let Matrix { dissimilarities, weights, .. } = task.data.matrix();
        let weights = weights.as_deref();
        let (parameters, model) = task.carry_out(
            options.parameters(),
            |parameters, execution, observer| {
                hierarchy::cluster(dissimilarities, weights, parameters, execution, observer)
            },
            |checkpoint, execution, observer| {
                hierarchy::resume(dissimilarities, weights, checkpoint, execution, observer)
            },
        )?;
        Ok(Box::new(Fitted { parameters, model }))
    }
}

/// The tree and its clusters.
#[derive(Debug)]
pub struct Fitted {
    /// The parameters.
    pub parameters: Parameters,
    /// The model.
    pub model: Model,
}

/// The facts about the result for `summary.json`.
#[derive(Serialize)]
struct Outcome {
    clusters: usize,
    silhouette: f64,
    height: f64,
    candidates: Vec<CandidateFacts>,
}

/// A number of clusters in `summary.json`.
#[derive(Serialize)]
struct CandidateFacts {
    clusters: usize,
    silhouette: f64,
}

/// The facts about a cluster for `summary.json`.
#[derive(Serialize)]
struct ClusterFacts<'a> {
    cluster: usize,
    medoid: &'a str,
    items: u64,
    weight: f64,
    height: f64,
    mean_within: f64,
    silhouette: f64,
}

impl Fitted {
    /// Returns the height of the whole tree.
    pub fn height(&self) -> f64 {
        self.model.joins.last().map_or(0.0, |join| join.height)
    }

    /// Describes why the tree was cut into this many clusters: the choice and the runners-up, or an empty text if the
    /// number was given.
    pub fn reason(&self) -> String {
        let model = &self.model;
        let chosen = model.clusters.len();
        let mut others: Vec<&Candidate> = model.candidates.iter().filter(|other| other.clusters != chosen).collect();
        others.sort_by(|a, b| b.silhouette.total_cmp(&a.silhouette));
        let told =
            |candidate: &Candidate| format!("{} for {}", significant(candidate.silhouette, 3), candidate.clusters);
        let next: Vec<String> = others.iter().take(RUNNERS_UP).map(|candidate| told(candidate)).collect();
        match model.candidates.iter().find(|candidate| candidate.clusters == chosen) {
            Some(best) if !next.is_empty() => {
                format!("Mean silhouette without single items: {} (next: {}).", told(best), next.join(", "))
            }
            _ => String::new(),
        }
    }
}

/// The place of each item in the tree, from left to right.
fn places(model: &Model) -> Vec<u64> {
    let mut places = vec![0; model.order.len()];
    model.order.iter().enumerate().for_each(|(place, &item)| places[item] = place as u64);
    places
}

impl Fit for Fitted {
    fn table<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Table<'a>> {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let numbers = |of: fn(&Cluster) -> f64| model.clusters.iter().map(of).collect();
        let of_joins = |of: fn(&Join) -> u64| model.joins.iter().map(of).collect();
        Some(match name {
            "labels" => Table::new("labels")
                .ids(Some(ids), ids.len())
                .counts("cluster", model.labels.iter().map(|&label| u64::from(label)).collect())
                .borrowed("silhouette", &model.silhouettes)
                .counts("place", places(model)),
            "clusters" => Table::new("clusters")
                .counts("cluster", (0..model.clusters.len() as u64).collect())
                .texts("medoid", model.clusters.iter().map(|cluster| ids[cluster.medoid].clone()).collect())
                .counts("items", model.clusters.iter().map(|cluster| cluster.items).collect())
                .numbers("weight", numbers(|cluster| cluster.weight))
                .numbers("height", numbers(|cluster| cluster.height))
                .numbers("mean_within", numbers(|cluster| cluster.mean_within))
                .numbers("silhouette", numbers(|cluster| cluster.silhouette))
                .counts("medoid_item", model.clusters.iter().map(|cluster| cluster.medoid as u64).collect()),
            "merges" => Table::new("merges")
                .counts("left", of_joins(|join| join.left as u64))
                .counts("right", of_joins(|join| join.right as u64))
                .numbers("height", model.joins.iter().map(|join| join.height).collect())
                .counts("items", of_joins(|join| join.items)),
            "candidates" => Table::new("candidates")
                .counts("clusters", model.candidates.iter().map(|candidate| candidate.clusters as u64).collect())
                .numbers("silhouette", model.candidates.iter().map(|candidate| candidate.silhouette).collect()),
            "tree" => Table::new("tree").texts("newick", vec![model.newick(ids)]),
            _ => return None,
        })
    }

    fn file<'a>(&'a self, name: &str, data: Data<'a>) -> Option<Content<'a>> {
        match name {
            "tree.nwk" => Some(Content::Text(self.model.newick(&data.matrix().ids) + "\n")),
            _ => self.table(name.strip_suffix(".csv")?, data).map(Content::Table),
        }
    }

    fn figures(&self, _: Data<'_>) -> Vec<(&'static str, f64)> {
        vec![
            ("clusters", self.model.clusters.len() as f64),
            ("silhouette", self.model.silhouette),
            ("height", self.height()),
        ]
    }

    fn sections(&self, data: Data<'_>) -> Sections {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let facts = |(number, cluster): (usize, &Cluster)| {
            let Cluster { medoid, items, weight, height, mean_within, silhouette } = *cluster;
            ClusterFacts {
                cluster: number,
                medoid: ids[medoid].as_str(),
                items,
                weight,
                height,
                mean_within,
                silhouette,
            }
        };
        let candidate = |&Candidate { clusters, silhouette }: &Candidate| CandidateFacts { clusters, silhouette };
        let outcome = Outcome {
            clusters: model.clusters.len(),
            silhouette: model.silhouette,
            height: self.height(),
            candidates: model.candidates.iter().map(candidate).collect(),
        };
        let mut sections = Sections::default();
        sections
            .add("parameters", &self.parameters)
            .add("result", &outcome)
            .add("clusters", &model.clusters.iter().enumerate().map(facts).collect::<Vec<_>>());
        sections
    }

    fn model_file(&self, data: Data<'_>) -> Option<ModelFile> {
        let means = self.model.clusters.iter().map(|cluster| cluster.mean_within).collect();
        let members = Members::new(self.model.labels.clone(), data.matrix().weights.as_deref(), means);
        Some(ModelFile::of(data, Learnt::Pairwise(members), Vec::new()))
    }

    fn headline(&self, data: Data<'_>) -> String {
        let (model, ids) = (&self.model, &data.matrix().ids);
        let shown = &model.clusters[..model.clusters.len().min(SHOWN)];
        let texts = |of: &dyn Fn(&Cluster) -> String| shown.iter().map(of).collect::<Vec<_>>();
        let columns = [
            ("cluster", (0..shown.len()).map(|cluster| cluster.to_string()).collect()),
            ("items", texts(&|cluster| cluster.items.to_string())),
            ("weight", texts(&|cluster| amount(cluster.weight))),
            ("height", texts(&|cluster| significant(cluster.height, 4))),
            ("silhouette", texts(&|cluster| significant(cluster.silhouette, 3))),
            ("medoid", texts(&|cluster| ids[cluster.medoid].clone())),
        ];
        let more = model.clusters.len() - shown.len();
        let more = if more > 0 {
            format!("{} in clusters.csv\n", counted(more as u64, "more cluster"))
        } else {
            String::new()
        };
        let reason = self.reason();
        let reason = if reason.is_empty() { reason } else { format!("{reason}\n") };
        format!(
            "{} in {} of a tree of height {}\n{reason}\n{}{more}",
            counted(ids.len() as u64, "item"),
            counted(model.clusters.len() as u64, "cluster"),
            significant(self.height(), 4),
            aligned(&columns),
        )
    }

    fn warnings(&self) -> &[String] {
        &self.model.warnings
    }

    fn spent(&self) -> Spent<'_> {
        Spent { phases: &self.model.phases, timers: &self.model.timers, imbalance: self.model.imbalance }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
