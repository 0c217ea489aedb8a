//! `lehr distances`: reads items, and writes a folder with the dissimilarities of all pairs.

use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::Path;

use lehr_data::dissimilarities::{Dissimilarities, Element, FORMAT, Form, Header};
use lehr_data::duplicates::Duplicates;
use lehr_data::object;
use lehr_data::read;
use lehr_data::write::dissimilarities::{Extent, header, numbers};
use lehr_distances::checkpoint::{Log, LogReader};
use lehr_distances::{Finished, Half, Metric, Precision, all_pairs_keeping};
use lehr_ranks::timing::Stopwatch;
use serde_json::{Map, Value};

use crate::arguments::DistancesArguments;
use crate::exit::{Failure, Kind};
use crate::folder::{self, Folder, Results, Staged};
use crate::group::ProcessGroup;
use crate::interrupt::Interrupt;
use crate::items;
use crate::output;
use crate::plan::distances::{DistancesPlan, Holds};
use crate::progress::{Saved, Units, Watch};
use crate::resume::{self, checkpoint_of};
use lehr_methods::distances::{ALPHABET, Items};
use lehr_methods::numbers::{counted, duration, grouped, significant};
use lehr_methods::rows::reading_warnings;

/// The scale of numbers in group-format files.
const GROUP_SCALE: f64 = 1.0 / 32767.0;

/// Runs the command to its end, together with the other processes of a job, if there are any.
///
/// # Errors
/// Returns [`Failure`], and leaves at most a checkpoint behind.
pub fn run(arguments: DistancesArguments, typed: &[OsString], group: &ProcessGroup<'_>) -> Result<(), Failure> {
    let plan = DistancesPlan::new(arguments, typed, group.job())?;
    let Holds::Items(kind) = plan.holds else { return convert(&plan) };
    let mut items = items::as_given(kind, &plan.options, plan.delimiter, &plan.input)?.scaled(&plan.options);
    let left_out = if let Items::Records(records) = &items { records.left_out() } else { &[] };
    let name = object::shown(&plan.input);
    let warnings = reading_warnings(&name, left_out, Some(&items.ids())).into_iter();
    warnings.chain(items.scale_warning(&plan.options)).for_each(|warning| output::warning(&warning));
    if let Items::Records(records) = &items
        && plan.options.columns.is_none()
        && !plan.quiet
    {
        output::columns_taken("comparing by", records.columns(), records.left_out());
    }
    let given = items.len();
    if let Some(drawn) = plan.options.drawn(given) {
        items = items.select(&drawn);
    }
    let sampled_from = (items.len() < given).then_some(given);
    let collapsed = plan.options.collapse.then(|| {
        let ids = items.ids();
        let (distinct, duplicates) = items.distinct();
        items = distinct;
        Collapsed { ids, duplicates }
    });
    if items.len() < 2 {
        let found = match &collapsed {
            Some(collapsed) if collapsed.ids.len() > 1 => format!("{}, all equal", collapsed.ids.len()),
            _ => "1".to_owned(),
        };
        let message =
            format!("{}: expected at least 2 items, which make a pair, found {found}", object::shown(&plan.input));
        return Err(Failure::new(Kind::BadData, message));
    }
    let from = Given { sampled_from, collapsed: collapsed.as_ref() };
    items.compared(&plan.options, |metric| {
        // Values that are written with 32 bits or fewer are computed and kept with 32 bits.
        match plan.element {
            Element::F64 => measure::<f64>(&plan, group, &items, metric, from),
            Element::F32 | Element::U16 | Element::I16be => measure::<f32>(&plan, group, &items, metric, from),
        }
    })
}

/// Items after equal ones were merged.
struct Collapsed {
    /// The ids of all given items.
    ids: Vec<String>,
    duplicates: Duplicates,
}

/// The input, if not all of its items are compared.
#[derive(Clone, Copy)]
struct Given<'a> {
    /// The number of items that a sample was drawn from.
    sampled_from: Option<usize>,
    collapsed: Option<&'a Collapsed>,
}

/// Computes all pairs and writes them.
fn measure<T: Precision>(
    plan: &DistancesPlan,
    group: &ProcessGroup<'_>,
    items: &Items,
    metric: &dyn Metric,
    from: Given<'_>,
) -> Result<(), Failure> {
    if let Some(limit) = plan.memory {
        Half::<T>::fits(items.len(), limit)?;
    }
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let mut folder = Folder::claim(&plan.out, Results::Matrix, Some(&plan.input), plan.force, plan.resumed.as_deref())?;
    let (half, _) = compute::<T>(plan, group, items, metric, &mut folder, &interrupt)?;
    let Given { sampled_from, collapsed } = from;
    let collapsed_from = collapsed.map(|collapsed| collapsed.ids.len());
    let parameters = items.parameters(&plan.options, metric);
    let facts = PairFacts::of(&half);
    half.held(facts.largest.max(0.0), metric)?;
    let mut header = Header { parameters, sampled_from, ..described(plan, facts, metric, collapsed_from) };
    write(
        plan,
        &mut folder,
        &mut header,
        |i, row| half.row(i, row),
        |staged| write_items(staged, &items.ids(), items.smiles(), collapsed),
    )?;
    tell(plan, &header, clock.seconds())
}

/// Facts about the values of all pairs.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairFacts {
    /// The number of pairs without a value.
    pub missing: u64,
    /// The largest value; NaN if there is none.
    pub largest: f64,
    /// The mean of the values; NaN if there are none.
    pub mean: f64,
}

impl PairFacts {
    /// Computes the facts of a half matrix, in one pass.
    pub fn of<T: Precision>(half: &Half<T>) -> Self {
        let mut extent = Extent::default();
        half.for_each(|value| extent.add(value));
        Self { missing: extent.missing, largest: extent.stated_largest(), mean: extent.mean() }
    }
}

/// Returns the header that describes all pairs, as the plan writes them.
pub(super) fn described(
    plan: &DistancesPlan,
    facts: PairFacts,
    metric: &dyn Metric,
    collapsed_from: Option<usize>,
) -> Header {
    Header {
        format: FORMAT.into(),
        array: array_name(plan.element).into(),
        items: metric.items(),
        collapsed_from,
        sampled_from: None,
        form: plan.form,
        element: plan.element,
        // If there are no values, the scale is as for a largest value of 0.
        scale: plan.element.scale(facts.largest.max(0.0)),
        missing: missing_name(plan.element).into(),
        missing_pairs: facts.missing,
        largest: facts.largest,
        mean: facts.mean,
        metric: metric.name().into(),
        parameters: metric.parameters(),
        source: object::shown(&plan.input),
        fingerprint: format!("{:016x}", metric.fingerprint()),
        checksum: None,
    }
}

/// Computes all pairs under an observer, from the beginning or from the checkpoint that the plan names. Also returns
/// which pairs were kept.
///
/// # Errors
/// Returns [`Kind::Stopped`] if the run was stopped; the finished part is kept. Also fails if the checkpoint does not
/// exist or belongs to something else, or if ranks failed.
pub(super) fn compute<T: Precision>(
    plan: &DistancesPlan,
    group: &ProcessGroup<'_>,
    items: &Items,
    metric: &dyn Metric,
    folder: &mut Folder,
    interrupt: &Interrupt,
) -> Result<(Half<T>, Saved), Failure> {
    let path = folder.checkpoint();
    if let Some(resumed) = &plan.resumed {
        let from = checkpoint_of(resumed)?;
        // Refuses a checkpoint of other items.
        LogReader::open::<T>(&from, metric)?;
        resume::take_over(&from, &path)?;
    }
    let (mut log, mut kept, bytes) = match &plan.resumed {
        // The file is read twice: to continue the log, and to give the run its finished steps. For the run, it is read
        // from memory if other processes need the same bytes.
        Some(_) => {
            let log = Log::resume::<T>(&path, metric)?;
            let unreadable = |source| lehr_distances::Error::File { path: path.clone(), source };
            let bytes = group.is_several().then(|| std::fs::read(&path)).transpose().map_err(unreadable)?;
            let kept = match &bytes {
                Some(bytes) => LogReader::of_bytes::<T>(bytes.clone(), &path, metric)?,
                None => LogReader::open::<T>(&path, metric)?,
            };
            (Some(log), Some(kept), bytes)
        }
        None => (None, None, None),
    };
    let mut saved = if log.is_some() { Saved::Checkpoint } else { Saved::Nothing };
    let (stop, mut since) = (interrupt.within_steps(), Stopwatch::start());
    let mut keep = |finished: &Finished<'_>| {
        if !stop.is_asked() && since.seconds() < plan.checkpoint_seconds {
            return;
        }
        let begun = log.take().map_or_else(|| Log::create::<T>(&path, metric), Ok);
        saved = match begun.and_then(|begun| log.insert(begun).append(finished)) {
            Ok(()) => Saved::Checkpoint,
            Err(error) => Saved::Failed(error.to_string()),
        };
        since = Stopwatch::start();
    };
    group.order_pairs::<T>(items, bytes.as_deref())?;
    let mut watch = Watch::new(interrupt, None, Units::default(), plan.quiet);
    let outcome = all_pairs_keeping::<T>(metric, &plan.execution, kept.as_mut(), &mut watch, &mut keep);
    watch.finish();
    if saved == Saved::Checkpoint {
        folder.keep();
    }
    match (outcome, saved) {
        (Ok(half), Saved::Failed(reason)) => {
            output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
            Ok((half, Saved::Failed(reason)))
        }
        (Ok(half), saved) => Ok((half, saved)),
        (Err(lehr_distances::Error::Stopped), Saved::Checkpoint) => {
            let message = format!("no matrix was written; what is finished is in {}", path.display());
            Err(Failure::new(Kind::Stopped, message).with_hint(format!("continue with: {}", plan.resume_command)))
        }
        (Err(lehr_distances::Error::Stopped), Saved::Nothing) => {
            Err(Failure::new(Kind::Stopped, "no matrix was written; there was nothing to save yet"))
        }
        (Err(lehr_distances::Error::Stopped), Saved::Failed(reason)) if LogReader::open::<T>(&path, metric).is_ok() => {
            folder.keep();
            Err(resume::stopped_short(&path, &reason, &plan.resume_command))
        }
        (Err(lehr_distances::Error::Stopped), Saved::Failed(reason)) => {
            Err(Failure::new(Kind::Stopped, format!("no matrix was written, and no checkpoint: {reason}")))
        }
        (Err(error), _) => Err(error.into()),
    }
}

fn write(
    plan: &DistancesPlan,
    folder: &mut Folder,
    described: &mut Header,
    row: impl FnMut(usize, &mut [f64]),
    tables: impl FnOnce(&mut Staged<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut staged = folder.stage();
    let mut checksum = None;
    staged.write(array_name(plan.element), |out| {
        checksum = Some(numbers(out, described.items, plan.form, plan.element, described.scale, row)?);
        Ok(())
    })?;
    described.checksum = checksum;
    tables(&mut staged)?;
    staged.write(folder::HEADER, |out| out.write_all(header(described).as_bytes()))?;
    staged.commit()
}

/// Writes the tables of items: `ids.csv`, with the structures of molecules, and `members.csv` if equal items were merged.
fn write_items(
    staged: &mut Staged<'_>,
    ids: &[String],
    smiles: Option<&[String]>,
    collapsed: Option<&Collapsed>,
) -> Result<(), Failure> {
    staged.write(folder::IDS, |out| {
        let weights = collapsed.map(|collapsed| collapsed.duplicates.weights());
        let added = |column: &'static str, is_there: bool| if is_there { column } else { "" };
        writeln!(out, "item,id{}{}", added(",weight", weights.is_some()), added(",smiles", smiles.is_some()))?;
        for (item, id) in ids.iter().enumerate() {
            write!(out, "{item},{}", field(id))?;
            if let Some(weights) = &weights {
                write!(out, ",{}", weights[item])?;
            }
            if let Some(smiles) = smiles {
                write!(out, ",{}", field(&smiles[item]))?;
            }
            writeln!(out)?;
        }
        Ok(())
    })?;
    let Some(Collapsed { ids, duplicates }) = collapsed else { return Ok(()) };
    staged.write(folder::MEMBERS, |out| {
        out.write_all(b"id,item\n")?;
        let mut members = ids.iter().zip(duplicates.item_of());
        members.try_for_each(|(id, item)| writeln!(out, "{},{item}", field(id)))
    })
}

/// Copies the tables of items of a converted matrix; if there are none beside the matrix, numbers the items.
fn copy_items(staged: &mut Staged<'_>, beside: &[(&'static str, Vec<u8>)], items: usize) -> Result<(), Failure> {
    if beside.is_empty() {
        let ids: Vec<String> = (0..items).map(|item| item.to_string()).collect();
        return write_items(staged, &ids, None, None);
    }
    beside.iter().try_for_each(|(name, bytes)| staged.write(name, |out| out.write_all(bytes)))
}

/// Returns a text as a field of CSV.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn array_name(element: Element) -> &'static str {
    if element == Element::I16be { folder::RAW_ROWS } else { folder::ARRAY }
}

fn missing_name(element: Element) -> &'static str {
    match element {
        Element::F64 | Element::F32 => "NaN",
        Element::U16 => "65535",
        Element::I16be => "negative",
    }
}

/// Returns the bytes of a file beside a matrix, if there is such a file.
fn bytes_beside(file: &Path) -> Result<Option<Vec<u8>>, lehr_data::Error> {
    if !object::exists(file)? {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let failed = |cause| lehr_data::Error::Read { name: object::shown(file), cause };
    read::open(file)?.read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

/// Reads a matrix and writes it in the requested form.
fn convert(plan: &DistancesPlan) -> Result<(), Failure> {
    let clock = Stopwatch::start();
    if plan.resumed.is_some() {
        return Err(Failure::new(Kind::Usage, "a matrix that is only converted leaves no checkpoint to --resume"));
    }
    let is_raw = plan.input.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bin"))
        && !object::exists(&plan.input.with_extension("json"))?;
    let matrix: Dissimilarities = if is_raw {
        read::dissimilarities::big_endian_rows(&plan.input, GROUP_SCALE)?
    } else {
        read::dissimilarities::matrix(&plan.input)?
    };
    matrix.warning().iter().for_each(|warning| output::warning(warning));
    // Read these files now, because the results may replace them.
    let beside: Vec<(&str, Vec<u8>)> = match matrix.header() {
        None => Vec::new(),
        Some(_) => [folder::IDS, folder::MEMBERS]
            .into_iter()
            .filter_map(|name| {
                let bytes = bytes_beside(&plan.input.with_file_name(name)).transpose()?;
                Some(bytes.map(|bytes| (name, bytes)))
            })
            .collect::<Result<_, lehr_data::Error>>()?,
    };
    let items = matrix.items();
    let mut folder = Folder::claim(&plan.out, Results::Matrix, Some(&plan.input), plan.force, None)?;
    let value = |i: usize, j: usize| matrix.get(i, j).unwrap_or(f64::NAN);
    let mut extent = Extent::default();
    (0..items).for_each(|i| (i + 1..items).for_each(|j| extent.add(value(i, j))));
    let fits = (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&extent.largest) || extent.largest == 0.0;
    if plan.element == Element::F32 && !fits {
        let message = format!(
            "{}: expected dissimilarities that fit into f32, found {:e}",
            object::shown(&plan.input),
            extent.largest
        );
        return Err(Failure::new(Kind::BadData, message).with_hint("--element f64 stores larger and smaller ones"));
    }
    let parameters: Map<String, Value> = matrix.header().map_or_else(Map::new, |header| header.parameters.clone());
    let mut described = Header {
        format: FORMAT.into(),
        array: array_name(plan.element).into(),
        items,
        collapsed_from: matrix.header().and_then(|header| header.collapsed_from),
        sampled_from: matrix.header().and_then(|header| header.sampled_from),
        form: plan.form,
        element: plan.element,
        scale: plan.element.scale(extent.largest),
        missing: missing_name(plan.element).into(),
        missing_pairs: extent.missing,
        largest: extent.stated_largest(),
        mean: extent.mean(),
        metric: matrix.header().map_or_else(|| "as given".to_owned(), |header| header.metric.clone()),
        parameters,
        source: object::shown(&plan.input),
        fingerprint: matrix.header().map_or_else(String::new, |header| header.fingerprint.clone()),
        checksum: None,
    };
    write(
        plan,
        &mut folder,
        &mut described,
        |i, row| row.iter_mut().enumerate().for_each(|(j, d)| *d = value(i, j)),
        |staged| copy_items(staged, &beside, items),
    )?;
    tell(plan, &described, clock.seconds())
}

fn tell(plan: &DistancesPlan, header: &Header, seconds: f64) -> Result<(), Failure> {
    let pairs = (header.items as u64) * (header.items as u64 - 1) / 2;
    if header.missing_pairs > 0 {
        let share = 100.0 * header.missing_pairs as f64 / pairs as f64;
        // Only a local alignment may leave out too much of two sequences.
        let why = match (header.parameters.get("alignment"), header.parameters.get("overlap_min")) {
            (Some(alignment), Some(overlap)) if alignment == "local" => format!(
                ": the alignment covers less than {overlap} of the shorter sequence; --alignment semi-global or global compares whole sequences"
            ),
            _ => String::new(),
        };
        output::warning(&format!(
            "{} without a value ({} % of all){why}",
            counted(header.missing_pairs, "pair"),
            significant(share, 2)
        ));
    }
    if plan.json {
        return output::result(&lehr_data::write::dissimilarities::header(header));
    }
    let form = if plan.form == Form::Full { "full" } else { "condensed" };
    let mut of = header.collapsed_from.map_or_else(String::new, |given| format!(" of {given}"));
    if let Some(given) = header.sampled_from {
        of += &format!(", a sample of {}", grouped(given as u64));
    }
    let word = |name: &str| header.parameters.get(name).and_then(|value| value.as_str());
    let how = match (word("alignment"), word("matrix")) {
        (Some(alignment), Some(matrix)) => format!(" ({alignment} alignment, {matrix})"),
        _ => String::new(),
    };
    let mut items =
        counted(header.items as u64, if header.collapsed_from.is_some() { "distinct item" } else { "item" });
    if let Some(alphabet) = word(ALPHABET) {
        let alphabet = if alphabet == "dna" { "DNA" } else { alphabet };
        items = format!("{} ({alphabet})", items.replace("item", "sequence"));
    }
    let values = if header.missing_pairs == pairs {
        "no pair has a value".to_owned()
    } else {
        format!("mean {}, largest {}", significant(header.mean, 4), significant(header.largest, 4))
    };
    output::result(&format!(
        "{items}{of}, {}{how} of {}; {values}\n{} ({}, {form}), {} and {} in {} after {}\n",
        header.metric,
        counted(pairs, "pair"),
        header.array,
        header.element,
        folder::IDS,
        folder::HEADER,
        plan.out.display(),
        duration(seconds)
    ))
}
