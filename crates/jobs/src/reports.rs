//! Keeps the results of finished jobs under names, as the last step of a workflow. The service can also choose one of
//! several clusterings.
//!
//! Each job has already made its tables, its HTML report and its main result in words. A report only names the data
//! sets that hold these results, so making it takes almost no time. The service of reports depends on the service of
//! the jobs' data sets.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use lehr_runtime::blocking;
use lehr_services::{
    Call, Code, Concurrent, Contract, Exclusive, Fault, Handlers, Operation, Partners, Reference, Service, Starting,
    Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::datasets::{Datasets, Read};
use crate::format::{Piece, RowFormat, lines};
use crate::jobs::{Page, Record, State};
use crate::method::{HEADLINE, MODEL, REPORT};
use crate::service::name_of;
use crate::table::Table;
use crate::transfer::fetch;

/// The reports of a node, by name.
///
/// # Example
/// ```
/// use lehr_jobs::jobs::{Order, Run, Wait, WaitFor};
/// use lehr_jobs::reports::{Make, PageOf, Reports};
/// use lehr_jobs::{Handle, Setup, Table, datasets::Put};
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = lehr_services::Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// let datasets = Setup::default().start_datasets(&host, "/datasets").await?;
/// let clustering = Setup::default().start_declared(&host, "/clustering", &lehr_methods::cluster::Cluster).await?;
/// let reports = host.start("/reports", Reports::default).await?;
/// let table = Table::builder().numbers("x", vec![0.0, 1.0, 2.0, 10.0, 11.0]).build()?;
/// datasets.call(Put { name: "line".into(), table: Handle(table), replace: false }).await?;
/// let options = lehr_methods::cluster::Options { clusters: Some(2), ..Default::default() };
/// let job = clustering.call(Run::of(Order::new("line", &options))).await?.job;
/// let job = clustering.call(Wait::of(WaitFor::new(job))).await?;
/// let report = reports.call(Make { name: "line".into(), job }).await?;
/// assert!(report.text.starts_with("5 rows in 2 clusters"), "{}", report.text);
/// assert_eq!(report.tables["labels"], "clustering-1/labels");
/// assert!(reports.call(PageOf { name: "line".into() }).await?.0.starts_with("<!doctype html>"));
/// # Ok::<(), lehr_services::Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportState {
    /// The reports by name.
    pub reports: BTreeMap<String, Report>,
}

impl Contract for ReportState {
    const NAME: &'static str = "lehr/reports";
    const VERSION: Version = Version::new(1, 0);
}

/// The main result of a job in words, and the data sets with its HTML report and tables.
///
/// # Example
/// See [`ReportState`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The main result in words.
    pub text: String,
    /// The prefix of the job's outputs. It is the job's id, unless the order named another prefix.
    pub job: String,
    /// The data set with the HTML report, if the method has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The data sets with the tables, by the method's names for them.
    pub tables: BTreeMap<String, String>,
}

/// Chooses the clustering whose number of clusters persists over the widest range of temperatures. The largest number
/// that the watched job reached cannot be chosen. Returns [`Code::UnknownEntry`] if none persisted.
///
/// # Example
/// For how to call operations, see [`ReportState`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ReportState, verb = Submit, name = "choose", reply = Chosen)]
#[serde(deny_unknown_fields)]
pub struct Choose {
    /// The annealing job that shows how long each number of clusters persists while the temperature falls.
    pub watched: Record,
    /// The clustering jobs among which the operation chooses.
    pub jobs: Vec<Record>,
}

/// The clustering that was chosen.
///
/// # Example
/// For how to call operations, see [`ReportState`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chosen {
    /// The job of the clustering.
    pub job: Record,
    /// The number of clusters.
    pub clusters: u64,
    /// How long this number of clusters persisted: the width of its temperature range, as a difference of natural
    /// logarithms.
    pub range: f64,
}

/// Makes the report of a job that is done, and replaces a report of the same name.
///
/// # Example
/// See [`ReportState`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ReportState, verb = Upsert, name = "make", reply = Report, key = name)]
#[serde(deny_unknown_fields)]
pub struct Make {
    /// The name of the report: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// The job's record, as the operation `wait` of its service returns it.
    pub job: Record,
}

/// Returns the HTML page of a report.
///
/// Over HTTP, the answer is an HTML page:
///
/// ```console
/// $ curl 'http://127.0.0.1:8420/reports:page?name=census' > report.html
/// ```
///
/// # Example
/// See [`ReportState`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ReportState, verb = Query, name = "page", reply = Page, key = name)]
#[serde(deny_unknown_fields)]
pub struct PageOf {
    /// The name of the report.
    pub name: String,
}

/// Returns rows of one of a report's tables.
///
/// # Example
/// For how to call operations, see [`ReportState`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ReportState, verb = Query, name = "table", reply = Piece, key = name)]
#[serde(deny_unknown_fields)]
pub struct TableOf {
    /// The name of the report.
    pub name: String,
    /// The method's name for the table.
    pub table: String,
    /// The format of the rows. Default: JSON.
    #[serde(default)]
    pub format: RowFormat,
    /// The number of the first row, counted from 0. Default: 0.
    #[serde(default)]
    pub from: u64,
    /// The end of the rows, exclusive. Default: the number of rows of the table.
    #[serde(default)]
    pub to: Option<u64>,
}

/// Removes a report. The results of its job stay.
///
/// # Example
/// For how to call operations, see [`ReportState`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = ReportState, verb = Delete, name = "remove", key = name)]
#[serde(deny_unknown_fields)]
pub struct Remove {
    /// The name of the report.
    pub name: String,
}

/// The service of reports.
///
/// # Example
/// See [`ReportState`].
#[derive(Clone, Debug, Default)]
pub struct Reports {
    document: ReportState,
    folder: Option<PathBuf>,
    /// The path of the service.
    path: String,
    datasets: Option<Reference<Datasets>>,
}

impl Reports {
    /// Creates a service that also writes pages and tables as files, for a process without HTTP. The service writes the
    /// files to `FOLDER/SERVICE/REPORT`, where `SERVICE` is the path of the service.
    pub fn writing(folder: PathBuf) -> Self {
        Self { folder: Some(folder), ..Self::default() }
    }

    fn datasets(&self) -> Result<&Reference<Datasets>, Fault> {
        self.datasets
            .as_ref()
            .ok_or_else(|| Fault::new(Code::Unavailable, "the service of the data sets has not started"))
    }

    fn report(&self, name: &str) -> Result<&Report, Fault> {
        let found = self.document.reports.get(name);
        found.ok_or_else(|| Fault::new(Code::UnknownEntry, format!("there is no report {name:?}")))
    }
}

impl Service for Reports {
    type Document = ReportState;

    fn document(&self) -> &ReportState {
        &self.document
    }

    fn document_mut(&mut self) -> &mut ReportState {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Choose>().exclusive::<Make>().concurrent::<PageOf>().concurrent::<TableOf>();
        on.exclusive::<Remove>();
    }

    fn partners(needs: &mut Partners) {
        needs.existing::<Datasets>("datasets");
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.datasets = Some(starting.partner::<Datasets>("datasets")?);
        self.path = starting.path().to_owned();
        // A path has no `+`, so different paths have different folders.
        let own = self.path.trim_start_matches('/').replace('/', "+");
        self.folder = self.folder.take().map(|folder| folder.join(own));
        Ok(())
    }
}

impl Concurrent<Choose> for Reports {
    async fn handle(&self, Choose { watched, jobs }: Choose, _: &Call) -> Result<Chosen, Fault> {
        check_done(&watched)?;
        let invalid = |reason: String| Fault::new(Code::InvalidValue, reason);
        let of_annealing =
            || invalid(format!("watched: expected a job of annealing, found {} without temperatures", watched.output));
        let history = watched.outputs.get("history").ok_or_else(of_annealing)?;
        let history = fetch(self.datasets()?, history).await?;
        let (clusters, temperatures) = (history.counts("clusters"), history.numbers("temperature"));
        let (clusters, temperatures) = clusters.zip(temperatures).ok_or_else(of_annealing)?;
        let cooling: Vec<(u64, f64)> = clusters.iter().copied().zip(temperatures.iter().copied()).collect();
        let mut found = Vec::new();
        for job in jobs {
            check_done(&job)?;
            let clusters = job.figures.get("clusters").copied();
            let clusters = clusters
                .ok_or_else(|| invalid(format!("jobs: expected clusterings, found {} without clusters", job.output)))?;
            found.push((clusters as u64, job));
        }
        let asked: Vec<String> = found.iter().map(|(clusters, _)| clusters.to_string()).collect();
        longest(&lasted(&cooling), found).ok_or_else(|| {
            let reason = format!("none of {} clusters lasted over a range of temperatures", asked.join(", "));
            Fault::new(Code::UnknownEntry, reason)
        })
    }
}

/// Returns, for each number of clusters, the width in ln T of the temperature range over which it persisted. Only steps
/// before the largest number first appeared count. If a number appears again, its widths are added up.
fn lasted(cooling: &[(u64, f64)]) -> BTreeMap<u64, f64> {
    let most = cooling.iter().map(|step| step.0).max();
    let mut lasted = BTreeMap::new();
    for pair in cooling.windows(2).take_while(|pair| Some(pair[0].0) < most) {
        *lasted.entry(pair[0].0).or_default() += libm::log(pair[0].1 / pair[1].1);
    }
    lasted
}

/// Returns the clustering whose number of clusters persisted over the widest range of temperatures. If ranges are
/// equal, returns the clustering with the smallest number.
fn longest(lasted: &BTreeMap<u64, f64>, mut found: Vec<(u64, Record)>) -> Option<Chosen> {
    let mut chosen: Option<Chosen> = None;
    found.sort_by(|one, other| (one.0, &one.1.output).cmp(&(other.0, &other.1.output)));
    for (clusters, job) in found {
        let range = lasted.get(&clusters).copied().unwrap_or(0.0);
        if range > chosen.as_ref().map_or(0.0, |chosen| chosen.range) {
            chosen = Some(Chosen { job, clusters, range });
        }
    }
    chosen
}

fn check_done(job: &Record) -> Result<(), Fault> {
    if job.state == State::Done {
        return Ok(());
    }
    let reason = format!("job: expected one that is done, found {}, which is {}", job.output, name_of(job.state));
    Err(Fault::new(Code::InvalidValue, reason))
}

/// Refuses a name that cannot be the name of a folder on every system.
fn check_name(name: &str) -> Result<(), Fault> {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if (1..=100).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_letter) {
        return Ok(());
    }
    let rule = "expected letters, digits, '.', '_' and '-', not beginning with '.', at most 100 characters";
    Err(Fault::new(Code::InvalidValue, format!("name: {rule}, found {name:?}")))
}

impl Exclusive<Make> for Reports {
    async fn handle(&mut self, Make { name, job }: Make, _: &Call) -> Result<Report, Fault> {
        check_name(&name)?;
        check_done(&job)?;
        let datasets = self.datasets()?;
        let page = job.outputs.get(REPORT).cloned();
        let told = match &page {
            Some(page) => Some(fetch(datasets, page).await?),
            None => None,
        };
        let headline = told.as_ref().and_then(|told| first(told, HEADLINE)).unwrap_or_else(|| figures(&job));
        let is_table = |name: &str| name != REPORT && name != MODEL;
        let tables: BTreeMap<String, String> =
            job.outputs.iter().filter(|(name, _)| is_table(name)).map(|(a, b)| (a.clone(), b.clone())).collect();
        let place = match &self.folder {
            Some(folder) => {
                let mut files = Vec::new();
                files.extend(told.and_then(|told| first(&told, REPORT)).map(|page| ("report.html".to_owned(), page)));
                for (table, dataset) in &tables {
                    let rows = fetch(datasets, dataset).await?;
                    files.push((format!("{table}.csv"), blocking("writing a table", || lines(&rows, true))));
                }
                let folder = folder.join(&name);
                blocking("writing a report", || write(&folder, &files)).map_err(|cause| {
                    Fault::new(Code::InsufficientResources, format!("the folder {}: {cause}", folder.display()))
                })?;
                let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
                format!("{} in {}", names.join(", "), folder.display())
            }
            None => {
                let names: Vec<&str> = tables.keys().map(String::as_str).collect();
                let page =
                    page.as_ref().map_or_else(String::new, |_| format!("; page: {}:page?name={name}", self.path));
                format!("tables: {}{page}", names.join(", "))
            }
        };
        let text = format!("{}\n\n{place}\n", headline.trim_end());
        let report = Report { text, job: job.output, page, tables };
        self.document.reports.insert(name, report.clone());
        Ok(report)
    }
}

/// Describes the result by its figures, for a method that gives no result in words.
fn figures(job: &Record) -> String {
    let figures: Vec<String> = job.figures.iter().map(|(name, value)| format!("{name} {value}")).collect();
    format!("{}: {}", job.output, figures.join(", "))
}

/// Returns the first text of a column.
fn first(table: &Table, column: &str) -> Option<String> {
    table.texts(column)?.into_iter().next()
}

/// Replaces the files of a report. The folder appears only when all files are written.
fn write(folder: &Path, files: &[(String, String)]) -> std::io::Result<()> {
    let below = folder.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(below)?;
    let staged = tempfile::tempdir_in(below)?;
    let ready = staged.path().join("ready");
    fs::create_dir(&ready)?;
    for (name, text) in files {
        fs::write(ready.join(name), text)?;
    }
    match fs::remove_dir_all(folder) {
        Err(cause) if cause.kind() != std::io::ErrorKind::NotFound => return Err(cause),
        _ => {}
    }
    fs::rename(ready, folder)
}

impl Concurrent<PageOf> for Reports {
    async fn handle(&self, PageOf { name }: PageOf, _: &Call) -> Result<Page, Fault> {
        let report = self.report(&name)?;
        let page = report.page.as_ref().ok_or_else(|| {
            Fault::new(Code::UnknownEntry, format!("{name} has no page: the method of {} gives none", report.job))
        })?;
        let told = fetch(self.datasets()?, page).await?;
        let lost = || Fault::new(Code::OperationFailed, format!("the data set {page:?} has no page any more"));
        first(&told, REPORT).map(Page).ok_or_else(lost)
    }
}

impl Concurrent<TableOf> for Reports {
    async fn handle(&self, asked: TableOf, _: &Call) -> Result<Piece, Fault> {
        let TableOf { name, table, format, from, to } = asked;
        let report = self.report(&name)?;
        let dataset = report.tables.get(&table).ok_or_else(|| {
            let names: Vec<&str> = report.tables.keys().map(String::as_str).collect();
            Fault::new(Code::UnknownEntry, format!("{name} has no table {table:?}; it has {}", names.join(", ")))
        })?;
        self.datasets()?.call(Read { name: dataset.clone(), format, from, to, ..Read::default() }).await
    }
}

impl Exclusive<Remove> for Reports {
    async fn handle(&mut self, Remove { name }: Remove, _: &Call) -> Result<(), Fault> {
        self.report(&name)?;
        self.document.reports.remove(&name);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(output: &str) -> Record {
        let job = serde_json::json!({
            "state": "done", "options": {}, "inputs": {}, "outputs": {}, "output": output, "times": { "queued_unix_ms": 0 }, "number": 1
        });
        serde_json::from_value(job).unwrap()
    }

    #[test]
    fn the_number_that_lasts_longest_is_chosen_and_the_smaller_of_equals() {
        let lasted = BTreeMap::from([(2, 3.0), (4, 0.75), (6, 0.75), (9, 0.5)]);
        let chosen = |numbers: &[u64]| {
            let found = numbers.iter().map(|clusters| (*clusters, job(&format!("job-{clusters}")))).collect();
            longest(&lasted, found).map(|chosen| chosen.job.output)
        };
        assert_eq!(chosen(&[9, 4, 6]).as_deref(), Some("job-4"));
        assert_eq!(chosen(&[9, 2]).as_deref(), Some("job-2"));
        assert_eq!(chosen(&[3, 9]).as_deref(), Some("job-9"));
        assert_eq!(chosen(&[3, 5]), None);
    }

    #[test]
    fn a_number_lasts_for_all_of_its_ranges_until_the_largest_is_there() {
        let cooling = [(1, 8.0), (2, 4.0), (1, 2.0), (2, 1.0), (3, 0.5), (2, 0.25)];
        let lasted = lasted(&cooling);
        assert_eq!(lasted, BTreeMap::from([(1, 2.0 * libm::log(2.0)), (2, 2.0 * libm::log(2.0))]));
    }

    #[test]
    fn jobs_that_have_no_result_are_refused() {
        check_done(&job("job-1")).unwrap();
        let fault = check_done(&Record { state: State::Failed, ..job("job-1") }).unwrap_err();
        assert_eq!(fault.reason(), "job: expected one that is done, found job-1, which is failed");
    }

    #[test]
    fn files_of_an_earlier_report_go_and_names_are_names_of_folders() {
        let below = tempfile::tempdir().unwrap();
        let folder = below.path().join("census");
        let files =
            |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), "x\n".to_owned())).collect::<Vec<_>>();
        write(&folder, &files(&["a.csv", "b.csv"])).unwrap();
        write(&folder, &files(&["a.csv"])).unwrap();
        let names = |at: &Path| fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
        assert_eq!((names(&folder), names(below.path())), (vec!["a.csv".into()], vec!["census".into()]));
        for wrong in ["", ".", "..", "a/b", "a\\b", &"a".repeat(101)] {
            assert_eq!(check_name(wrong).unwrap_err().code(), Code::InvalidValue);
        }
        check_name("census-2.a_b").unwrap();
    }
}
