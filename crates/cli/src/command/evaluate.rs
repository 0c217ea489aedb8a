//! `lehr evaluate`: compares clusters with known classes, and measures how separate they are.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::Path;

use lehr_data::object;
use lehr_data::read::{self, Selection, TableForm, classes};
use lehr_methods::numbers::{aligned, counted, significant};
use lehr_methods::{Classes, Rows};
use lehr_mining::Execution;
use lehr_mining::agreement::Agreement;
use lehr_mining::validity::{self, Validity};
use serde_json::{Value, json};

use crate::arguments::EvaluateArguments;
use crate::exit::{Failure, Kind, of_rows};
use crate::folder;
use crate::matrix::read_matrix;
use crate::output;
use crate::plan::frame;

/// The maximum numbers of clusters and classes whose common items are displayed; JSON has all of them.
const SHOWN: (usize, usize) = (40, 12);
/// The maximum number of cells in the table of clusters and classes.
const CELLS_MAX: usize = 50_000_000;
/// The largest number in rows. The squares of larger numbers overflow.
const FARTHEST: f64 = 1e140;

/// The hint for rows with missing values.
const GAPS: &str = "lehr distances compares rows with missing values, and --matrix takes its result";

/// Evaluates the clusters, and prints the figures.
///
/// # Errors
/// Returns [`Kind::Usage`] if the arguments name nothing to compare the clusters with. Returns [`Kind::BadData`] for
/// tables without the columns, or without the items of the labels. Returns [`Kind::NoResult`] if there are fewer than
/// two clusters.
pub fn run(arguments: EvaluateArguments) -> Result<(), Failure> {
    if arguments.by.is_none() && arguments.rows.is_none() && arguments.matrix.is_none() {
        return Err(Failure::new(Kind::Usage, "expected --by, --rows or --matrix: what to compare the clusters with")
            .with_hint("lehr evaluate LABELS --by COLUMN compares them with known classes"));
    }
    let labels = Labels::read(&arguments)?;
    let mut told = labels.told();
    let mut facts = json!({
        "items": labels.kept.len(),
        "without_cluster": labels.ids.len() - labels.kept.len(),
        "clusters": labels.clusters.classes.len(),
    });
    if let Some(by) = &arguments.by {
        let known = labels.known(&arguments, by)?;
        let cells = labels.clusters.classes.len().saturating_mul(known.classes.len());
        if cells > CELLS_MAX {
            let [clusters, classes] = [&labels.clusters, &known].map(|groups| groups.classes.len());
            let message = format!("--by {by}: expected a column of classes, found {classes} for {clusters} clusters");
            return Err(Failure::new(Kind::BadData, message).with_hint("is the column an identifier?"));
        }
        let (text, found) = agreement(&labels, &known);
        told += &text;
        facts["agreement"] = found;
    }
    if let Some(validity) = validity_of(&labels, &arguments)? {
        told += &separation(&validity, &labels.clusters);
        facts["validity"] = separation_facts(&validity, &labels.clusters);
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&facts).expect("numbers and texts are JSON");
        return output::result(&(text + "\n"));
    }
    output::result(&told)
}

/// The clusters of items.
struct Labels<'a> {
    /// The file, for messages.
    file: Cow<'a, Path>,
    /// The identifier of each item.
    ids: Vec<String>,
    /// The items that have a cluster.
    kept: Vec<usize>,
    /// The clusters of these items.
    clusters: Classes,
}

impl<'a> Labels<'a> {
    fn read(arguments: &'a EvaluateArguments) -> Result<Self, Failure> {
        let EvaluateArguments { labels: path, cluster, id, .. } = arguments;
        let file = if path.is_dir() { path.join(folder::LABELS).into() } else { Cow::Borrowed(path.as_path()) };
        // Runs name the identifiers `id`, whatever the table calls them, and mixtures have components.
        let rows = match classes::rows(&file, "id", cluster.as_deref().unwrap_or("cluster")) {
            Err(lehr_data::Error::NoSuchColumns { columns, .. }) => {
                let has = |name: &str| columns.iter().any(|column| column == name);
                let id = if has("id") { "id" } else { id };
                let is_mixture = !has("cluster") && has("component");
                let usual = if is_mixture { "component" } else { "cluster" };
                classes::rows(&file, id, cluster.as_deref().unwrap_or(usual))
            }
            read => read,
        };
        let (ids, texts): (Vec<String>, Vec<String>) = rows?.into_iter().unzip();
        // Outliers have -1, and rows without values have nothing.
        let has_cluster = |text: &str| !text.is_empty() && text.parse() != Ok(-1.0);
        let kept: Vec<usize> = (0..ids.len()).filter(|&item| has_cluster(&texts[item])).collect();
        let of_kept: Vec<&str> = kept.iter().map(|&item| texts[item].as_str()).collect();
        if kept.is_empty() {
            let message = format!("{}: expected items with a cluster, found none", object::shown(&file));
            return Err(Failure::new(Kind::BadData, message));
        }
        let clusters = Classes::new("cluster", &of_kept);
        Ok(Self { file, ids, kept, clusters })
    }

    fn told(&self) -> String {
        let items = counted(self.kept.len() as u64, "item");
        let clusters = counted(self.clusters.classes.len() as u64, "cluster");
        let without = self.ids.len() - self.kept.len();
        let left_out = if without > 0 { format!("; {without} without a cluster left out") } else { String::new() };
        format!("{items} in {clusters}{left_out}\n")
    }

    /// Returns the row of each item that has a cluster, in a table of so many rows with these identifiers.
    ///
    /// If the identifiers are those of the labels in the same order, the rows are too, so items may share one. A run
    /// without identifiers numbers its rows from 0; then the order of the rows counts as well. Otherwise, each
    /// identifier must be in the table once.
    fn places(&self, path: &Path, what: &str, rows: usize, ids: Option<&[String]>) -> Result<Vec<usize>, Failure> {
        let are_numbered = self.ids.iter().enumerate().all(|(row, id)| *id == row.to_string());
        let Some(ids) = ids.filter(|ids| **ids != *self.ids && !are_numbered) else {
            if rows == self.ids.len() {
                return Ok(self.kept.clone());
            }
            let message = format!(
                "{}: expected {}, as {} has, found {rows}",
                object::shown(path),
                counted(self.ids.len() as u64, "row"),
                object::shown(&self.file),
            );
            return Err(Failure::new(Kind::BadData, message)
                .with_hint("run the method with --id COLUMN, to find items by their identifiers"));
        };
        let mut place: HashMap<&str, Option<usize>> = HashMap::new();
        for (row, id) in ids.iter().enumerate() {
            place.entry(id).and_modify(|place| *place = None).or_insert(Some(row));
        }
        let found: Vec<Option<&Option<usize>>> =
            self.kept.iter().map(|&item| place.get(self.ids[item].as_str())).collect();
        let of = |is: fn(&Option<&Option<usize>>) -> bool| {
            let those = self.kept.iter().zip(&found).filter(|(_, place)| is(place));
            those.map(|(&item, _)| self.ids[item].as_str()).collect::<Vec<_>>()
        };
        refuse(path, &format!("{what} for each item, found none"), &of(|place| place.is_none()))?;
        refuse(path, &format!("{what} for each item, found several"), &of(|place| *place == Some(&None)))?;
        Ok(found.into_iter().flatten().copied().flatten().collect())
    }

    /// Reads the known class of each item that has a cluster.
    fn known(&self, arguments: &EvaluateArguments, by: &str) -> Result<Classes, Failure> {
        let path = arguments.classes.as_deref().unwrap_or(&self.file);
        let id = if arguments.classes.is_some() { arguments.id.as_str() } else { "id" };
        let (ids, texts) = match classes::rows(path, id, by) {
            Err(lehr_data::Error::NoSuchColumns { wanted, .. }) if wanted == [id] => {
                let form = TableForm { text: vec![by.to_owned()], ..TableForm::default() };
                (None, read::data_frame(path, &form)?.texts(by)?)
            }
            read => {
                let (ids, texts): (Vec<_>, _) = read?.into_iter().unzip();
                (Some(ids), texts)
            }
        };
        let places = self.places(path, by, texts.len(), ids.as_deref())?;
        let texts: Vec<&str> = places.iter().map(|&place| texts[place].as_str()).collect();
        let missing = self.kept.iter().zip(&texts).filter(|(_, text)| text.is_empty());
        let missing: Vec<&str> = missing.map(|(&item, _)| self.ids[item].as_str()).collect();
        refuse(path, &format!("a {by} for each item, found none"), &missing)?;
        Ok(Classes::new(by, &texts))
    }
}

/// Refuses a table if there are items that it does not suit.
fn refuse(path: &Path, expected: &str, items: &[&str]) -> Result<(), Failure> {
    if items.is_empty() {
        return Ok(());
    }
    let shown = &items[..items.len().min(10)];
    let message = format!(
        "{}: expected {expected} for {}: {}{}",
        object::shown(path),
        counted(items.len() as u64, "item"),
        shown.join(", "),
        if items.len() > shown.len() { " and others" } else { "" },
    );
    Err(Failure::new(Kind::BadData, message))
}

/// Compares the clusters with known classes.
fn agreement(labels: &Labels<'_>, known: &Classes) -> (String, Value) {
    let found = Agreement::new(&labels.clusters.of, &known.of);
    let adjusted = found.adjusted_mutual_information();
    let figures = [
        ("adjusted Rand index", "adjusted_rand", found.adjusted_rand),
        ("adjusted mutual information", "adjusted_mutual_information", adjusted),
        ("homogeneity", "homogeneity", found.homogeneity()),
        ("completeness", "completeness", found.completeness()),
        ("V-measure", "v_measure", found.v_measure()),
    ];
    let classes = if found.classes == 1 { "1 class".to_owned() } else { format!("{} classes", found.classes) };
    let mut text = format!("\nagreement with {classes} of {}\n", known.name);
    for (name, _, value) in figures {
        let _ = writeln!(text, "  {name:<28} {}", significant(value, 4));
    }
    let count = |cluster: usize, class: usize| found.counts[cluster * found.classes + class];
    let mut columns = vec![("cluster", labels.clusters.classes.iter().take(SHOWN.0).cloned().collect::<Vec<_>>())];
    for (class, name) in known.classes.iter().enumerate().take(SHOWN.1) {
        let of_clusters = (0..found.clusters.min(SHOWN.0)).map(|cluster| count(cluster, class).to_string());
        columns.push((name, of_clusters.collect()));
    }
    text.push('\n');
    text += &aligned(&columns);
    if found.clusters > SHOWN.0 || found.classes > SHOWN.1 {
        text.push_str("--json prints all clusters and classes\n");
    }
    let rows: Vec<Vec<u64>> =
        (0..found.clusters).map(|cluster| (0..found.classes).map(|class| count(cluster, class)).collect()).collect();
    let mut facts = json!({
        "by": known.name,
        "classes": known.classes,
        "clusters": labels.clusters.classes,
        "counts": rows,
        "mutual_information": found.mutual_information,
    });
    figures.iter().for_each(|(_, name, value)| facts[*name] = json!(value));
    (text, facts)
}

/// Measures how separate the clusters are in rows or by dissimilarities, if the arguments name any.
fn validity_of(labels: &Labels<'_>, arguments: &EvaluateArguments) -> Result<Option<Validity>, Failure> {
    let clusters = labels.clusters.classes.len();
    let is_asked = arguments.rows.is_some() || arguments.matrix.is_some();
    if is_asked && (clusters < 2 || clusters >= labels.kept.len()) {
        let message = format!(
            "{}: expected at least two clusters, and fewer than items, found {clusters} of {}",
            object::shown(&labels.file),
            counted(labels.kept.len() as u64, "item"),
        );
        return Err(Failure::new(Kind::NoResult, message));
    }
    let threads = arguments.threads.unwrap_or_else(|| Execution::default().threads);
    if let Some(path) = &arguments.rows {
        let (values, dimension) = rows_of(labels, arguments, path)?;
        return Ok(Some(validity::of_rows(&values, dimension, &labels.clusters.of, arguments.sample, threads)?));
    }
    let Some(path) = &arguments.matrix else { return Ok(None) };
    let matrix = read_matrix(path, true)?;
    if matrix.weights.is_some() {
        let file = object::shown(path);
        output::warning(&format!("{file}: the items have weights, but lehr evaluate counts each item once"));
    }
    let places = labels.places(path, "dissimilarities", matrix.ids.len(), Some(&matrix.ids))?;
    let (matrix, labels) = (&matrix.dissimilarities, &labels.clusters.of);
    Ok(Some(validity::of_pairs(matrix, &places, labels, arguments.sample, threads)?))
}

/// Reads the rows of the items that have a cluster: the numbers, row by row, and the number of columns.
fn rows_of(labels: &Labels<'_>, arguments: &EvaluateArguments, path: &Path) -> Result<(Vec<f64>, usize), Failure> {
    let selection = |id: Option<String>| Selection { columns: arguments.columns.clone(), id, ..Selection::default() };
    let failed = |error: lehr_data::Error| of_rows(error, GAPS);
    let points = match read::points(path, &selection(Some(arguments.id.clone()))) {
        Err(lehr_data::Error::NoSuchColumns { wanted, .. }) if wanted == [&*arguments.id] => {
            read::points(path, &selection(None)).map_err(failed)?
        }
        read => read.map_err(failed)?,
    };
    let places = labels.places(path, "a row", points.len(), points.ids())?;
    let rows = Rows::new(points, frame(false, arguments.scale, arguments.columns.as_deref())?)?;
    let points = rows.points();
    if let Some(value) = points.values().iter().find(|value| value.abs() >= FARTHEST) {
        let message = format!("{}: expected numbers below {FARTHEST:e}, found {value:e}", object::shown(path));
        return Err(Failure::new(Kind::BadData, message).with_hint("divide the columns by a constant, or use --scale"));
    }
    let dimension = points.dimension();
    let row = |place: usize| &points.values()[place * dimension..][..dimension];
    Ok((places.into_iter().flat_map(row).copied().collect(), dimension))
}

/// The names and values of the indices.
fn indices(validity: &Validity) -> Vec<(&'static str, &'static str, f64)> {
    let mut indices = vec![("silhouette", "silhouette", validity.silhouette)];
    if let Some(centroids) = validity.centroids {
        indices.extend([
            ("silhouette by centroids", "centroid_silhouette", centroids.silhouette),
            ("Davies-Bouldin index", "davies_bouldin", centroids.davies_bouldin),
            ("Calinski-Harabasz index", "calinski_harabasz", centroids.calinski_harabasz),
            ("sum of squares", "sum_of_squares", centroids.within),
        ]);
    }
    indices
}

/// Describes how separate the clusters are.
fn separation(validity: &Validity, clusters: &Classes) -> String {
    let mut text = "\nhow separate the clusters are\n".to_owned();
    for (name, _, value) in indices(validity) {
        let error = validity.silhouette_error.filter(|_| name == "silhouette");
        let drawn = error
            .map(|error| format!(" ± {} ({} drawn)", significant(error, 1), counted(validity.drawn as u64, "item")));
        let _ = writeln!(text, "  {name:<28} {}{}", significant(value, 4), drawn.unwrap_or_default());
    }
    let shown = clusters.classes.len().min(SHOWN.0);
    let silhouettes = validity.of_clusters[..shown].iter().map(|value| significant(*value, 3)).collect();
    text.push('\n');
    text += &aligned(&[("cluster", clusters.classes[..shown].to_vec()), ("silhouette", silhouettes)]);
    text
}

fn separation_facts(validity: &Validity, clusters: &Classes) -> Value {
    let of_cluster = |(name, value): (&String, &f64)| json!({ "cluster": name, "silhouette": value });
    let mut facts = json!({
        "drawn": validity.drawn,
        "silhouette_error": validity.silhouette_error,
        "of_clusters": clusters.classes.iter().zip(&validity.of_clusters).map(of_cluster).collect::<Vec<_>>(),
    });
    indices(validity).into_iter().for_each(|(_, name, value)| facts[name] = json!(value));
    facts
}
