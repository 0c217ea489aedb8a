//! Writes the report of a method's results: an HTML file that loads no other files.
//! This crate writes the text, the tables and the data of the figures, so that text and tables can be read without a
//! script. The script of a report comes from the viewer (`web/src/report.tsx`). The script draws the figures from the
//! data and makes tables sortable. [`picture`] lays out rows and [`packed`] packs them; [`scene`], [`heat`] and
//! [`figure`] decide what is drawn. A picture in a separate file, as SVG or PNG, is a [`Drawing`]. This crate lays out
//! and renders the drawing itself, so the file needs no viewer. A report is made from the data, the result
//! ([`lehr_methods::Fit`]) and the facts about the run in [`Run`]. So another process than the one that ran the method
//! can make the report.
#![forbid(unsafe_code)]

mod chart;
mod clusters;
mod dendrogram;
pub mod drawing;
mod explained;
pub mod figure;
mod gtm;
pub mod heat;
pub mod markup;
mod mixture;
pub mod packed;
pub mod pairs;
pub mod picture;
pub mod placed;
mod plain;
mod principal_axes;
pub mod run_section;
pub mod scene;
mod starts;

use lehr_data::scale::Scale;
use lehr_methods::numbers::{counted, duration, grouped};
use lehr_methods::{About, Data, Fit, Rows};
use lehr_ranks::{Engine, Layout};
use maud::Markup;

use drawing::Drawing;

/// The facts about a run that neither the data nor the result contain.
pub struct Run<'a> {
    /// The description of the method.
    pub about: &'a About,
    /// The file with the data, as the user typed it, or the name of data that are not from a file.
    pub source: &'a str,
    /// The kind of the rows, if their kind is known.
    pub subject: Option<Subject<'a>>,
    /// The command line of the run, without the results folder; `None` if there was no command line.
    pub command: Option<&'a str>,
    /// The same without the number of clusters, to be repeated with another number.
    pub command_without_end: Option<&'a str>,
    /// The Unix time in milliseconds at which the run finished, if it is known.
    pub finished: Option<u64>,
    /// The name of the column of weights, if there are weights.
    pub weights: Option<&'a str>,
    /// The name of the column of identifiers, if there are identifiers.
    pub ids: Option<&'a str>,
    /// The scaling of columns.
    pub scale: Scale,
    /// The engine that ran the iterations.
    pub engine: Engine,
    /// The layout of the ranks.
    pub layout: Layout,
    /// The total number of threads in all processes.
    pub threads: usize,
    /// Whether the run resumes a run that was stopped.
    pub is_resumed: bool,
    /// The warnings for the user.
    pub warnings: &'a [String],
    /// The name of each phase of the run, and its time in seconds.
    pub phases: &'a [(String, f64)],
}

/// The kind and the source of the rows.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The noun for one row, such as `census block`.
    pub row: &'a str,
    /// A sentence about all rows, without its full stop.
    pub about: &'a str,
}

/// Returns the report of a method, in the method's own layout. For a method without its own layout, the report lists
/// the figures and tables of the result.
///
/// # Panics
/// Panics if the result does not belong to these data.
///
/// # Example
/// ```
/// use lehr_data::{Points, scale::Scale};
/// use lehr_methods::{Data, Frame, Rows, Task};
/// use lehr_mining::{Execution, anneal::Silent};
/// use lehr_ranks::Layout;
///
/// let points = Points::new(vec![0.0, 1.0, 2.0, 10.0, 12.0, 14.0], 1)?;
/// let rows = Rows::new(points, Frame::Columns(Scale::None))?;
/// let (data, execution) = (Data::Rows(&rows), Execution::default());
/// let method = lehr_methods::find("cluster").unwrap();
/// let options = serde_json::from_str(r#"{ "clusters": 2 }"#)?;
/// let fit = method.run(Task { data, checkpoint: None, execution: &execution, observer: &mut Silent }, &options)?;
/// let run = lehr_report::Run {
///     about: method.about(),
///     source: "six numbers",
///     subject: None,
///     command: None,
///     command_without_end: None,
///     finished: None,
///     weights: None,
///     ids: None,
///     scale: Scale::None,
///     engine: execution.engine,
///     layout: Layout::threads(execution.ranks),
///     threads: execution.threads,
///     is_resumed: false,
///     warnings: fit.warnings(),
///     phases: &fit.spent().phases,
/// };
/// let page = lehr_report::page(&run, data, &*fit);
/// assert!(page.contains("6 rows in 2 clusters"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn page(run: &Run<'_>, data: Data<'_>, fit: &dyn Fit) -> String {
    use lehr_methods::{cluster, embed, gtm as map, hdbscan, hierarchy, kmedoids, mixture as gaussians, pairwise};
    let any = fit.as_any();
    if let Some(fitted) = any.downcast_ref::<cluster::Fitted>() {
        clusters::page(run, data.rows(), fitted)
    } else if let Some(fitted) = any.downcast_ref::<map::Fitted>() {
        gtm::page(run, data.rows(), fitted)
    } else if let Some(fitted) = any.downcast_ref::<gaussians::Fitted>() {
        mixture::page(run, data.rows(), fitted)
    } else if let Some(fitted) = any.downcast_ref::<pairwise::Fitted>() {
        pairs::clusters_page(run, data.matrix(), &fitted.model)
    } else if let Some(fitted) = any.downcast_ref::<kmedoids::Fitted>() {
        pairs::medoids_page(run, data.matrix(), &fitted.model)
    } else if let Some(fitted) = any.downcast_ref::<hierarchy::Fitted>() {
        pairs::tree_page(run, data.matrix(), fitted)
    } else if let Some(fitted) = any.downcast_ref::<hdbscan::Fitted>() {
        pairs::dense_page(run, data.matrix(), &fitted.model)
    } else if let Some(fitted) = any.downcast_ref::<embed::Fitted>() {
        pairs::map_page(run, data.matrix(), &fitted.map, fitted.shepard(data.matrix()))
    } else {
        plain::page(run, data, fit)
    }
}

/// Returns the picture of a method for a separate file: points, a map or a matrix. Returns `None` if the method has no
/// picture.
///
/// # Panics
/// Panics if the result does not belong to these data.
pub fn drawing(run: &Run<'_>, data: Data<'_>, fit: &dyn Fit) -> Option<Drawing> {
    use lehr_methods::{
        cluster, embed, gtm as map, hdbscan, hierarchy, kmedoids, minibatch, mixture as gaussians, pairwise,
    };
    let any = fit.as_any();
    Some(if let Some(fitted) = any.downcast_ref::<cluster::Fitted>() {
        clusters::drawing(run, data.rows(), fitted)
    } else if let Some(fitted) = any.downcast_ref::<map::Fitted>() {
        gtm::drawing(run, data.rows(), fitted)
    } else if let Some(fitted) = any.downcast_ref::<gaussians::Fitted>() {
        mixture::drawing(run, data.rows(), fitted)
    } else if let Some(fitted) = any.downcast_ref::<pairwise::Fitted>() {
        pairs::clusters_drawing(run, data.matrix(), &fitted.model)
    } else if let Some(fitted) = any.downcast_ref::<kmedoids::Fitted>() {
        pairs::medoids_drawing(run, data.matrix(), &fitted.model)
    } else if let Some(fitted) = any.downcast_ref::<hierarchy::Fitted>() {
        pairs::tree_drawing(run, data.matrix(), fitted)
    } else if let Some(fitted) = any.downcast_ref::<hdbscan::Fitted>() {
        pairs::dense_drawing(run, data.matrix(), &fitted.model)
    } else if let Some(fitted) = any.downcast_ref::<embed::Fitted>() {
        pairs::map_drawing(run, data.matrix(), &fitted.map)
    } else if let Some(fitted) = any.downcast_ref::<minibatch::Fitted>() {
        plain::centers_drawing(run, data.stream(), &fitted.model)
    } else {
        return None;
    })
}

impl Run<'_> {
    /// Returns the source without its folders.
    fn name(&self) -> &str {
        self.source.rsplit(['/', '\\']).next().unwrap_or(self.source)
    }

    fn seconds(&self) -> f64 {
        self.phases.iter().map(|(_, seconds)| seconds).sum()
    }

    /// Describes the rows that were read, their weights and their scaling. `columns` names the columns in a sentence.
    fn what_was_read(&self, rows: &Rows, columns: &str) -> String {
        let mut parts = vec![format!("{}: {columns}", self.name())];
        if rows.is_sphere() {
            parts.push("on the sphere".to_owned());
        }
        if rows.is_scaled() {
            parts.push(format!("scaled ({})", self.scale));
        }
        if let Some(weights) = self.weights {
            parts.push(format!("weighted by {weights}"));
        }
        parts.join(", ")
    }

    /// Returns the tile with the time of the run.
    fn time(&self, of: String) -> Markup {
        markup::tile("Time", duration(self.seconds()), "", of)
    }

    // The following functions return entries of the list of facts about the run.

    fn weighted_by(&self) -> (&'static str, String) {
        ("Weights", self.weights.unwrap_or("none: every row counts the same").to_owned())
    }

    fn identified_by(&self) -> (&'static str, String) {
        ("Identifiers", self.ids.unwrap_or("the row, from 0").to_owned())
    }

    fn carried_out_by(&self) -> [(&'static str, String); 2] {
        let ranks = counted(self.layout.ranks() as u64, "rank");
        let threads = counted(self.threads as u64, "thread");
        let processes = self.layout.processes * self.layout.nodes;
        let of = if processes > 1 { format!(" of {processes} processes") } else { String::new() };
        [("Engine", self.engine.to_string()), ("Shared by", format!("{ranks} on {threads}{of}"))]
    }
}

/// Names the columns in a sentence. If there are many columns, names only a few.
fn columns_named(columns: &[String]) -> String {
    if columns.len() <= 6 {
        columns.join(", ")
    } else {
        format!("{}, … ({} columns)", columns[..4].join(", "), columns.len())
    }
}

/// Returns the tile for the number of rows.
fn rows_counted(rows: &Rows) -> Markup {
    let zero = rows.of_weight_zero();
    let beside =
        if zero > 0 { format!("{} of weight 0", grouped(zero as u64)) } else { "all of them counted".to_owned() };
    markup::tile("Rows", grouped(rows.len() as u64), "", beside)
}
