//! `lehr place`: reads new items and a map, and writes a folder with their positions and a picture of the map.
//!
//! The map was made from a sample, by `lehr embed`. Each new item is compared only with the items of the sample; the
//! nearest of them determine its position. So N items take N times the size of the sample, not N² comparisons. Items
//! are independent of each other: they are placed in blocks, and finished blocks are kept ([`log`]). The map's summary
//! states how its items were compared; new items are compared in the same way.

mod log;

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::Path;

use lehr_data::FingerprintKind;
use lehr_data::object;
use lehr_data::read::molecules::Notation;
use lehr_data::read::{self, Selection};
use lehr_data::write::csv::Table;
use lehr_data::write::npy;
use lehr_distances::Metric;
use lehr_methods::Classes;
use lehr_mining::anneal::{Control, Observer, Progress};
use lehr_mining::smacof::interpolate;
use lehr_ranks::timing::Stopwatch;
use lehr_report::placed::{Placed, Positioned};
use serde_json::{Value, json};
use xxhash_rust::xxh3::Xxh3;

use crate::arguments::PlaceArguments;
use crate::exit::{Failure, Kind, as_typed};
use crate::folder::{self, Folder, Results};
use crate::interrupt::Interrupt;
use crate::items::{as_given, more};
use crate::output;
use crate::plan::place::{PlacePlan, takes};
use crate::progress::{Saved, Units, Watch};
use crate::resume;
use crate::summary;
use lehr_methods::distances::{COLUMN_NAMES, Differs, Items, Options};
use lehr_methods::embed::{axes, class_column};
use lehr_methods::numbers::{counted, duration, grouped, significant};
use log::Log;

/// The numbers of an item beside its coordinates: its error, and its nearest item of the map.
const BESIDE: usize = 2;
/// The approximate time of a block: the interval between checks for a stop.
const BLOCK_SECONDS: f64 = 0.25;
/// The number of items in the first block, whose time determines the size of the others.
const BLOCK_FIRST: usize = 16;
/// The maximum number of items in a block.
const BLOCK_MOST: usize = 1 << 16;
/// The maximum number of faults that are reported one by one.
const TOLD: usize = 10;
/// The hint for an option that differs from the map's.
const AS_THE_MAP: &str = "leave this option out: lehr place compares items as the map does";

/// Runs the command to its end.
///
/// # Errors
/// Returns [`Failure`], and leaves at most a checkpoint behind.
pub fn run(arguments: PlaceArguments, typed: &[OsString]) -> Result<(), Failure> {
    let mut plan = PlacePlan::new(arguments, typed)?;
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let map = Map::read(&plan.map)?;
    let asked = plan.options.fingerprint;
    plan.options = map.options(&plan)?;
    // A file of fingerprints has no molecules, so the kind of the map is not asked of it.
    let of_file = |file: &Path| {
        let is_wanted = asked.is_some() || Notation::of_file(file).is_some();
        Options { fingerprint: plan.options.fingerprint.filter(|_| is_wanted), ..plan.options.clone() }
    };
    let reference = as_given(plan.kind, &of_file(&plan.among), plan.delimiter, &plan.among)?;
    map.has_bits_of(&reference, &plan)?;
    let rows = map.rows_of(&reference, &plan.among)?;
    let new = more(&reference, &of_file(&plan.input), plan.delimiter, &plan.input)?;
    let both = reference.joined(&rows, &new, &plan.options).map_err(|what| {
        Failure::new(
            Kind::BadData,
            format!("{}: {what}, as {} has", object::shown(&plan.input), object::shown(&plan.among)),
        )
    })?;
    if interrupt.is_requested() {
        return Err(Failure::new(Kind::Stopped, "stopped while reading; nothing was written"));
    }
    both.compared(&plan.options, |metric| {
        map.agrees(metric, &both, &plan)?;
        place(&plan, &map, &new.ids(), metric, &interrupt, &clock)
    })
}

/// The positions that new items are placed among.
struct Map {
    folder: String,
    dimension: usize,
    ids: Vec<String>,
    /// Items x dimension.
    positions: Vec<f64>,
    /// The classes that colour the map, such as clusters.
    classes: Vec<Classes>,
    /// The metric by which the map's items were compared, if the map's summary names it.
    metric: Option<String>,
    /// The parameters of that metric.
    parameters: serde_json::Map<String, Value>,
}

impl Map {
    /// Reads the results of `lehr embed` from a folder.
    fn read(folder: &Path) -> Result<Self, Failure> {
        let summary = folder.join(folder::SUMMARY);
        let text = std::fs::read(&summary).map_err(|cause| {
            Failure::new(Kind::Environment, format!("{}: {cause}", summary.display()))
                .with_hint("--map takes the folder that lehr embed wrote its results to")
        })?;
        let facts: Value = serde_json::from_slice(&text).unwrap_or_default();
        // A folder of placed items is not a map: it does not record fully how its items were compared.
        let is_map = facts["program"] == summary::PROGRAM && facts["method"] != summary::PLACING;
        let dimension = facts["result"]["dimension"].as_u64();
        let Some(dimension) = dimension.filter(|dimension| is_map && *dimension > 0) else {
            let message = format!("{}: expected the summary of a map that lehr embed made", summary.display());
            return Err(Failure::new(Kind::BadData, message));
        };
        let dimension = dimension as usize;
        let selection = Selection {
            columns: Some(axes(dimension)),
            id: Some("id".into()),
            header: Some(true),
            ..Selection::default()
        };
        let points = read::points(&folder.join(folder::POSITIONS), &selection)?;
        let ids = points.ids().map(<[String]>::to_vec).unwrap_or_default();
        let metric = facts["input"]["metric"].as_str().map(str::to_owned);
        let parameters = facts["input"]["metric_parameters"].as_object().cloned().unwrap_or_default();
        let by = facts["input"]["by"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let classes = by.map(|name| Self::classes(folder, name, dimension, &ids)).collect::<Result<_, _>>()?;
        let (folder, positions) = (folder.display().to_string(), points.values().to_vec());
        Ok(Self { folder, dimension, ids, positions, classes, metric, parameters })
    }

    /// Reads the class of each item of the map from a column of its positions.
    fn classes(folder: &Path, name: &str, dimension: usize, ids: &[String]) -> Result<Classes, Failure> {
        let column = class_column(name, dimension);
        let found = read::classes::classes_of(&folder.join(folder::POSITIONS), "id", &column, ids)?;
        let texts: Vec<&str> = found.iter().map(|class| class.as_deref().unwrap_or_default()).collect();
        Ok(Classes::new(name, &texts))
    }

    /// Returns the rows of the map's items in a file that has them. If the file has the ids of the map in the same
    /// order, items and rows have the same numbers. Otherwise, the rows are found by their ids.
    fn rows_of(&self, items: &Items, file: &Path) -> Result<Vec<usize>, Failure> {
        let ids = items.ids();
        if ids == self.ids {
            return Ok((0..ids.len()).collect());
        }
        let mut own: HashMap<&str, usize> = HashMap::with_capacity(self.ids.len());
        let mut rows: HashMap<&str, usize> = HashMap::with_capacity(ids.len());
        let twice = |file: &Path, id: &str, a: usize, b: usize| {
            let message = format!(
                "{}: expected each id once, since items of the map are found by them; found {id:?} in rows {} and {}",
                object::shown(file),
                a + 1,
                b + 1
            );
            Failure::new(Kind::BadData, message)
        };
        for (item, id) in self.ids.iter().enumerate() {
            if let Some(before) = own.insert(id, item) {
                return Err(twice(&Path::new(&self.folder).join(folder::POSITIONS), id, before, item));
            }
        }
        for (row, id) in ids.iter().enumerate() {
            let before = *rows.entry(id).or_insert(row);
            // If the items are equal, either row can represent the item.
            if own.contains_key(id.as_str()) && !items.are_equal(before, row) {
                return Err(twice(file, id, before, row));
            }
        }
        let missing: Vec<&str> = self.ids.iter().map(String::as_str).filter(|id| !rows.contains_key(id)).collect();
        if !missing.is_empty() {
            let message = format!(
                "{}: expected the items of the map in {}; {} of {} are missing: {}",
                object::shown(file),
                self.folder,
                grouped(missing.len() as u64),
                grouped(self.ids.len() as u64),
                listed(&missing)
            );
            return Err(Failure::new(Kind::BadData, message).with_hint("--among names the file that they are in"));
        }
        Ok(self.ids.iter().map(|id| rows[id.as_str()]).collect())
    }

    /// Returns the plan's options, with the map's options in place of those that were not given.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`] if a given option differs from the map's, or if the new items are of another kind.
    fn options(&self, plan: &PlacePlan) -> Result<Options, Failure> {
        let Some(metric) = &self.metric else { return Ok(plan.options.clone()) };
        let mut known = self.parameters.clone();
        // Names that a reader invents for columns without names are not found in a file.
        let is_made_up = |names: &Value| {
            let mut names = names.as_array().into_iter().flatten().enumerate();
            names.all(|(index, name)| name.as_str() == Some(&format!("x{index}")))
        };
        if known.get(COLUMN_NAMES).is_some_and(is_made_up) {
            known.remove(COLUMN_NAMES);
        }
        let completed = plan.options.clone().completed(metric, &known);
        let options = completed.map_err(|differs| other_option(&self.folder, &differs))?;
        if options.suits(plan.kind).is_err() {
            let (input, found) = (object::shown(&plan.input), plan.kind.name());
            let message = format!("{input}: expected items of the kind in the map in {}, found {found}", self.folder);
            return Err(Failure::new(Kind::Usage, message));
        }
        takes(&options)?;
        let faults = options.faults();
        if faults.is_empty() {
            Ok(options)
        } else {
            Err(Failure::new(Kind::Usage, as_typed(&lehr_methods::distances::options(), &faults)))
        }
    }

    /// Refuses fingerprints with another number of bits than those of the map's kind.
    fn has_bits_of(&self, items: &Items, plan: &PlacePlan) -> Result<(), Failure> {
        let kind = plan.options.fingerprint.map(FingerprintKind::from);
        match (items, kind) {
            (Items::Fingerprints(prints), Some(kind)) if prints.bits() != kind.bits() => {
                let (file, folder, word) = (object::shown(&plan.among), &self.folder, kind.word());
                let (expected, found) = (kind.bits(), prints.bits());
                let message =
                    format!("{file}: expected {expected} bits, as the map in {folder} has ({word}), found {found}");
                Err(Failure::new(Kind::BadData, message))
            }
            _ => Ok(()),
        }
    }

    /// Refuses a dissimilarity that differs from the map's in kind, columns or costs.
    fn agrees(&self, metric: &dyn Metric, items: &Items, plan: &PlacePlan) -> Result<(), Failure> {
        let count = self.ids.len();
        if plan.interpolation.neighbours <= self.dimension || count <= self.dimension {
            let message = format!(
                "--neighbours {}: expected more than the {} of the map, which has {}",
                plan.interpolation.neighbours,
                counted(self.dimension as u64, "dimension"),
                counted(count as u64, "item")
            );
            return Err(Failure::new(Kind::Usage, message));
        }
        if let Some(own) = self.metric.as_deref().filter(|own| *own != metric.name()) {
            let message =
                format!("--metric: the map in {} uses {own}, but you requested {}", self.folder, metric.name());
            return Err(Failure::new(Kind::Usage, message));
        }
        let asked = items.parameters(&plan.options, metric);
        let differs =
            |(name, own): &(&String, &Value)| asked.get(*name).is_some_and(|asked| !is_same(name, own, asked));
        match self.parameters.iter().find(differs) {
            Some((name, own)) => Err(other_parameter(&self.folder, name, own, &asked[name])),
            None => Ok(()),
        }
    }

    /// Returns a hash that identifies this map and these dissimilarities.
    fn fingerprint(&self, metric: &dyn Metric, plan: &PlacePlan) -> String {
        let mut hash = Xxh3::new();
        hash.update(&metric.fingerprint().to_le_bytes());
        hash.update(metric.name().as_bytes());
        hash.update(Value::Object(metric.parameters()).to_string().as_bytes());
        hash.update(&(plan.interpolation.neighbours as u64).to_le_bytes());
        self.positions.iter().for_each(|x| hash.update(&x.to_bits().to_le_bytes()));
        format!("{:016x}", hash.digest())
    }
}

/// Returns whether a parameter of a dissimilarity is the same for the new items (`asked`) as for the map (`own`).
/// Columns may be in a different order; whether values are missing depends on the rows.
fn is_same(name: &str, own: &Value, asked: &Value) -> bool {
    let sorted = |names: &Value| {
        let mut names: Vec<String> = names.as_array().into_iter().flatten().map(Value::to_string).collect();
        names.sort();
        names
    };
    match name {
        "has_gaps" => true,
        COLUMN_NAMES => sorted(own) == sorted(asked),
        _ => own == asked,
    }
}

fn other_parameter(map: &str, name: &str, own: &Value, asked: &Value) -> Failure {
    let shown = |value: &Value| match value {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let (own, asked) = (shown(own), shown(asked));
    let message = match name {
        COLUMN_NAMES => format!("--columns: the map in {map} uses the columns {own}, but you requested {asked}"),
        _ => format!("the map in {map} uses {name} {own}, but you requested {asked}"),
    };
    Failure::new(Kind::Usage, message).with_hint(AS_THE_MAP)
}

/// Returns the error for an option that differs from the map's.
fn other_option(map: &str, differs: &Differs) -> Failure {
    let Differs { option, stated, given } = differs;
    let name = option.replace('_', "-");
    let message = format!("--{name}: the map in {map} uses {stated}, but you requested {given}");
    Failure::new(Kind::Usage, message).with_hint(AS_THE_MAP)
}

fn listed(ids: &[&str]) -> String {
    let more = if ids.len() > TOLD { ", …" } else { "" };
    format!("{}{more}", ids[..ids.len().min(TOLD)].join(", "))
}

/// Places all items, and writes their positions; the first items in `metric` are the map's.
fn place(
    plan: &PlacePlan,
    map: &Map,
    ids: &[String],
    metric: &dyn Metric,
    interrupt: &Interrupt,
    clock: &Stopwatch,
) -> Result<(), Failure> {
    let mut folder =
        Folder::claim(&plan.out, Results::Placing, Some(&plan.input), plan.force, plan.resumed.as_deref())?;
    let path = folder.checkpoint();
    let width = map.dimension + BESIDE;
    let head = log::Head { items: ids.len(), width, fingerprint: map.fingerprint(metric, plan) };
    let (mut log, mut placed) = match &plan.resumed {
        Some(from) => {
            resume::take_over(&resume::checkpoint_of(from)?, &path)?;
            Log::resume(&path, &head)?
        }
        None => (Log::new(path.clone(), head), Vec::new()),
    };
    let mut watch = Watch::new(interrupt, None, Units::default(), plan.quiet);
    let mut block = BLOCK_FIRST;
    let (mut is_stopped, mut failed) = (interrupt.is_requested(), None);
    while placed.len() < ids.len() * width && !is_stopped {
        let first = placed.len() / width;
        let count = block.min(ids.len() - first);
        let around = Stopwatch::start();
        let found = match interpolated(plan, map, metric, first, count) {
            Ok(found) => found,
            Err(error) => {
                failed = Some(Failure::from(error));
                break;
            }
        };
        placed.extend(found);
        let speed = count as f64 / around.seconds().max(1e-6);
        block = ((speed * BLOCK_SECONDS) as usize).clamp(1, BLOCK_MOST);
        let (done, items) = ((placed.len() / width) as f64, ids.len() as f64);
        let (stage, figures) = ("placing".into(), vec![("done", done), ("items", items)]);
        is_stopped = watch.progress(&Progress { stage, fraction: Some(done / items), figures }) == Control::Stop;
        if is_stopped || log.seconds() >= plan.checkpoint_seconds {
            log.append(&placed);
        }
    }
    watch.finish();
    if let Some(failure) = failed {
        // A fault in an item will occur again, so there is nothing to resume.
        log.discard();
        return Err(failure);
    }
    let unknown = Unknown::of(&placed, map.dimension, ids);
    if unknown.count == ids.len() {
        log.discard();
        return Err(unknown.failure(plan));
    }
    let saved = log.saved();
    if *saved == Saved::Checkpoint {
        folder.keep();
    }
    if placed.len() < ids.len() * width {
        return Err(resume::stopped(&path, saved, &plan.resume_command));
    }
    if let Saved::Failed(reason) = saved {
        output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
    }
    write(plan, map, ids, metric, &placed, &mut folder, clock)
}

/// Returns rows of position, error and nearest item, for `count` items from `first` on.
fn interpolated(
    plan: &PlacePlan,
    map: &Map,
    metric: &dyn Metric,
    first: usize,
    count: usize,
) -> Result<Vec<f64>, lehr_mining::Error> {
    let reference = map.ids.len();
    let row = |item: usize, values: &mut [f64]| {
        let at = reference + first + item;
        metric.tile(at..at + 1, 0..reference, values);
    };
    let found = interpolate(&map.positions, map.dimension, count, &row, &plan.interpolation, &plan.execution)?;
    let rows = found.positions.chunks_exact(map.dimension).zip(found.errors).zip(found.nearest);
    let row = |((x, error), nearest): ((&[f64], f64), Option<usize>)| {
        [x, &[error, nearest.map_or(f64::NAN, |item| item as f64)]].concat()
    };
    Ok(rows.flat_map(row).collect())
}

/// Items that could not be placed, because too few of their dissimilarities are known.
struct Unknown {
    count: usize,
    /// The first of these items, as a list.
    named: String,
}

impl Unknown {
    fn of(placed: &[f64], dimension: usize, ids: &[String]) -> Self {
        let rows = placed.chunks_exact(dimension + BESIDE).zip(ids);
        let of: Vec<&str> = rows.filter(|(row, _)| row[dimension].is_nan()).map(|(_, id)| &**id).collect();
        Self { count: of.len(), named: listed(&of) }
    }

    /// Returns the warning about these items, if there are any.
    fn warning(&self) -> Option<String> {
        let items = match self.count {
            0 => return None,
            1 => "1 item has".to_owned(),
            count => format!("{} items have", grouped(count as u64)),
        };
        Some(format!("{items} too few known dissimilarities to the map, and no position: {}", self.named))
    }

    /// Returns the error if nothing could be placed.
    fn failure(&self, plan: &PlacePlan) -> Failure {
        let message = format!(
            "{}: no item has enough known dissimilarities to items of the map to be placed: {}",
            object::shown(&plan.input),
            self.named
        );
        Failure::new(Kind::BadData, message).with_hint("place them in a map that has items like them")
    }
}

fn write(
    plan: &PlacePlan,
    map: &Map,
    ids: &[String],
    metric: &dyn Metric,
    placed: &[f64],
    folder: &mut Folder,
    clock: &Stopwatch,
) -> Result<(), Failure> {
    let rows = || placed.chunks_exact(map.dimension + BESIDE);
    let all_errors: Vec<f64> = rows().map(|row| row[map.dimension]).collect();
    let mut errors: Vec<f64> = all_errors.iter().copied().filter(|error| !error.is_nan()).collect();
    errors.sort_by(f64::total_cmp);
    let (median, largest) = (errors[errors.len() / 2], errors[errors.len() - 1]);
    let warnings: Vec<String> = Unknown::of(placed, map.dimension, ids).warning().into_iter().collect();
    warnings.iter().for_each(|warning| output::warning(warning));
    let summary = json!({
        "program": summary::PROGRAM,
        "version": env!("CARGO_PKG_VERSION"),
        "method": summary::PLACING,
        "input": {
            "source": object::shown(&plan.input),
            "items": ids.len(),
            "map": map.folder,
            "items_of_the_map": map.ids.len(),
            "among": object::shown(&plan.among),
            "metric": metric.name(),
            "metric_parameters": metric.parameters(),
        },
        "parameters": {
            "neighbours": plan.interpolation.neighbours,
            "most_iterations": plan.interpolation.most_iterations,
        },
        "result": {
            "dimension": map.dimension,
            "placed": errors.len(),
            "median_error": median,
            "largest_error": largest,
        },
        "warnings": warnings,
        "execution": { "threads": plan.execution.threads, "resumed": plan.resumed.is_some() },
        "seconds": { "total": clock.seconds() },
    });
    let summary = summary::text(&summary)?;
    let axes = axes(map.dimension);
    let nearest_of = |row: &[f64]| (!row[map.dimension].is_nan()).then(|| row[map.dimension + 1] as usize);
    let mut staged = folder.stage();
    staged.write(folder::POSITIONS, |out| {
        let names = axes.iter().map(String::as_str);
        let of_nearest: Vec<String> = map.classes.iter().map(|classes| format!("nearest_{}", classes.name)).collect();
        let beside = ["error", "nearest"].into_iter().chain(of_nearest.iter().map(String::as_str));
        let columns: Vec<&str> = ["id"].into_iter().chain(names).chain(beside).collect();
        let mut table = Table::new(out, &columns)?;
        for (id, row) in ids.iter().zip(rows()) {
            table.text(id)?;
            for number in &row[..=map.dimension] {
                // The cells of an item without a position are empty.
                if number.is_nan() {
                    table.text("")?;
                } else {
                    table.number(*number)?;
                }
            }
            let nearest = nearest_of(row);
            table.text(nearest.map_or("", |item| &map.ids[item]))?;
            for classes in &map.classes {
                table.text(nearest.map_or("", |item| classes.class(item)))?;
            }
            table.end_row()?;
        }
        Ok(())
    })?;
    let positions: Vec<f64> = rows().flat_map(|row| &row[..map.dimension]).copied().collect();
    staged.write(folder::POSITIONS_ARRAY, |out| npy::array(out, &positions, map.dimension))?;
    // If one file has both the map's items and the new ones, the map's items are among the new ones, and are drawn
    // once.
    let among_new: HashSet<&str> =
        if plan.among == plan.input { ids.iter().map(String::as_str).collect() } else { HashSet::new() };
    let source = object::shown(&plan.input);
    let page = Placed {
        source: &source,
        folder: &map.folder,
        dimension: map.dimension,
        old: Positioned { ids: &map.ids, positions: &map.positions },
        new: Positioned { ids, positions: &positions },
        errors: &all_errors,
        nearest: &rows().map(nearest_of).collect::<Vec<_>>(),
        classes: &map.classes,
        is_repeated: &|item| among_new.contains(&*map.ids[item]),
        neighbours: plan.interpolation.neighbours,
        metric: metric.name(),
        warnings: &warnings,
        seconds: clock.seconds(),
        command: Some(&plan.command),
        finished: Some(lehr_sync::unix_ms()),
    };
    let page = page.page();
    staged.write(folder::REPORT, |out| std::io::Write::write_all(out, page.as_bytes()))?;
    staged.write(folder::SUMMARY, |out| std::io::Write::write_all(out, summary.as_bytes()))?;
    staged.commit()?;
    if plan.json {
        return output::result(&summary);
    }
    output::result(&format!(
        "{} placed in {} among {}; error of their distances {} (median), at most {}\n{}, {} and {} in {} after {}\nreport: {}\n",
        counted(errors.len() as u64, "item"),
        counted(map.dimension as u64, "dimension"),
        counted(map.ids.len() as u64, "item"),
        significant(median, 4),
        significant(largest, 4),
        folder::POSITIONS,
        folder::POSITIONS_ARRAY,
        folder::SUMMARY,
        folder.path().display(),
        duration(clock.seconds()),
        folder.path().join(folder::REPORT).display()
    ))
}
