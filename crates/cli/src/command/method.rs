//! `lehr METHOD`, for every method that `lehr-methods` declares: data in, a folder of results out.
//!
//! The same order as in [`super::cluster`]: all that can be wrong is found before anything is written.

use std::io::Write;

use lehr_data::write::npy;
use lehr_data::{memory, read};
use lehr_methods::{Content, Data, Fit, Matrix, ModelFile, Rows, Takes, Task};
use lehr_ranks::timing::Stopwatch;

use crate::company::Company;
use crate::exit::{Failure, GAPS_HERE, Kind, of_rows};
use crate::folder::{self, Folder, Results};
use crate::interrupt::Interrupt;
use crate::matrix::{classes, read_matrix};
use crate::plan::method::{MethodPlan, Source};
use crate::progress::{Saved, Units, Watch};
use crate::resume::{failed, stopped};
use crate::summary::Described;
use crate::{output, report};
use lehr_methods::numbers::duration;

/// Runs a plan to its end, together with the other processes of a job, if there are any.
///
/// # Errors
/// [`Failure`], with nothing but a checkpoint left behind.
pub fn run(plan: &MethodPlan, company: &Company<'_>) -> Result<(), Failure> {
    let mut interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let about = plan.method.about();
    let input = Input::read(plan)?;
    let data = input.data();
    let mut warnings = Vec::new();
    if let Data::Rows(rows) = data {
        warnings = rows.warnings();
        if let Takes::Rows(words) = about.takes
            && plan.source.selection.columns.is_none()
            && !plan.quiet
        {
            output::columns_taken(words.columns_taken, rows.columns(), rows.left_out());
        }
    }
    let mut phases = vec![("reading".to_owned(), clock.seconds())];
    warnings.iter().for_each(|warning| output::warning(warning));
    if interrupt.is_requested() {
        return Err(Failure::new(Kind::Stopped, "stopped while reading; nothing was written"));
    }
    let resumed = plan.resumed.as_ref().map(|(_, folder)| folder.as_path());
    let mut folder = Folder::claim(&plan.out, Results::Method(about), Some(&plan.source.path), plan.force, resumed)?;
    company.order_method(plan, data)?;
    let fit = fit(plan, data, &mut folder, &mut interrupt)?;
    phases.extend(fit.spent().phases.iter().cloned());
    fit.warnings().iter().for_each(|warning| output::warning(warning));
    warnings.extend(fit.warnings().iter().cloned());

    // From here on a first Ctrl-C changes nothing: the results are there and take well under a second to write.
    let clock = Stopwatch::start();
    let learnt = fit
        .model()
        .map(|model| ModelFile::new(data.rows().columns(), data.rows().shifts_and_divisors(), model).text())
        .transpose()
        .map_err(|cause| Failure::new(Kind::NoResult, format!("the model cannot be written as JSON: {cause}")))?;
    let mut staged = folder.stage();
    for file in about.files {
        match fit.file(file, data) {
            Some(Content::Table(table)) => staged.write(file, |out| table.write_csv(out))?,
            Some(Content::Array { values, columns }) => staged.write(file, |out| npy::array(out, values, columns))?,
            // The model, the page and the summary, which are written below.
            None => {}
        }
    }
    if let Some(learnt) = &learnt {
        staged.write(folder::MODEL, |out| out.write_all(learnt.as_bytes()))?;
    }
    phases.push(("writing tables".to_owned(), clock.seconds()));
    let clock = Stopwatch::start();
    let page = report::of_method(plan, data, &*fit, &warnings, &phases);
    staged.write(folder::REPORT, |out| out.write_all(page.as_bytes()))?;
    phases.push(("writing the report".to_owned(), clock.seconds()));
    let summary = Described { plan, data, warnings: &warnings, phases: &phases }.sections(&*fit).text();
    staged.write(folder::SUMMARY, |out| out.write_all(summary.as_bytes()))?;
    staged.commit()?;
    if plan.json {
        return output::result(&summary);
    }
    let seconds: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    output::result(&format!("{}\n{}", fit.headline(data), whereabouts(plan, about.files, seconds)))
}

/// The data, as they were read.
enum Input {
    Rows(Box<Rows>),
    Matrix(Box<Matrix>),
}

impl Input {
    fn read(plan: &MethodPlan) -> Result<Self, Failure> {
        Ok(match plan.method.about().takes {
            Takes::Matrix(_) => {
                let mut matrix = read_matrix(&plan.source.path, plan.quiet)?;
                let known = plan.source.classes.as_ref();
                matrix.classes = known.map(|known| classes(&matrix, &known.path, &known.column)).transpose()?;
                Input::Matrix(Box::new(matrix))
            }
            Takes::Rows(_) => Input::Rows(Box::new(read_rows(&plan.source)?)),
        })
    }

    fn data(&self) -> Data<'_> {
        match self {
            Input::Rows(rows) => Data::Rows(rows),
            Input::Matrix(matrix) => Data::Matrix(matrix),
        }
    }
}

/// Reads rows: into files of the folder for what is large, if there is one; with `--missing`, rows that may have gaps, in memory.
fn read_rows(source: &Source) -> Result<Rows, Failure> {
    let Source { path, selection, missing, spill, frame, .. } = source;
    if *missing {
        memory::has_room(path, selection)?;
        return Ok(Rows::with_gaps(read::incomplete(path, selection)?, frame.scale())?);
    }
    let points = match spill {
        Some(spill) => read::spilled_points(path, selection, spill),
        None => memory::has_room(path, selection).and_then(|()| read::points(path, selection)),
    };
    Ok(Rows::new(points.map_err(|error| of_rows(error, GAPS_HERE))?, *frame)?)
}

/// The fit itself, watched.
fn fit(
    plan: &MethodPlan,
    data: Data<'_>,
    folder: &mut Folder,
    interrupt: &mut Interrupt,
) -> Result<Box<dyn Fit>, Failure> {
    let temperature = match plan.method.about().takes {
        Takes::Rows(words) if words.has_squared_temperature => data.rows().unit_squared(),
        Takes::Rows(_) | Takes::Matrix(_) => "",
    };
    let units = Units { length: None, temperature };
    let checkpoint = folder.checkpoint();
    let mut watch = Watch::new(interrupt, Some(checkpoint.clone()), units, plan.quiet);
    let resumed = plan.resumed.as_ref().map(|(content, _)| &content[..]);
    let task = Task { data, checkpoint: resumed, execution: &plan.execution, observer: &mut watch };
    let outcome = plan.method.run(task, &plan.options);
    let saved = watch.finish();
    if saved == Saved::Checkpoint {
        folder.keep();
    }
    match (outcome, saved) {
        (Ok(fit), Saved::Failed(reason)) => {
            output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
            Ok(fit)
        }
        (Ok(fit), _) => Ok(fit),
        (Err(lehr_mining::Error::Stopped), saved) => Err(stopped(&checkpoint, &saved, &plan.resume_command)),
        (Err(error), _) => Err(match data {
            Data::Rows(_) => error.into(),
            Data::Matrix(_) => failed(error),
        }),
    }
}

/// Where the results are, in two lines.
fn whereabouts(plan: &MethodPlan, files: &[&str], seconds: f64) -> String {
    let mut files: Vec<&str> = files.iter().copied().filter(|&file| file != folder::REPORT).collect();
    let last = files.pop().unwrap_or_default();
    format!(
        "{} and {last} in {} after {}\nreport: {}\n",
        files.join(", "),
        plan.out.display(),
        duration(seconds),
        plan.out.join(folder::REPORT).display()
    )
}
