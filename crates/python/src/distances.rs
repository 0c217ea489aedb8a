//! Dissimilarities of all pairs for `lehr.pairwise_distances`.
//!
//! The names of measures are those of `lehr distances --metric`, and mean the same.

use lehr_data::sequences::Alphabet;
use lehr_distances::alignment::Mode;
use lehr_distances::scoring::{Matrix, Scoring};
use lehr_distances::{Half, Metric, Precision, all_pairs, columns, rows, sequence, tanimoto};
use numpy::{Element, IntoPyArray};
use pyo3::prelude::*;

use crate::items::{Fingerprints, Sequences};
use crate::job::Company;
use crate::{arrays, errors, watch};

/// How the values come back.
#[derive(Clone, Copy)]
struct Shape {
    is_single: bool,
    is_condensed: bool,
}

/// What is computed: told apart from others by name, options and data.
struct Asked<'a, 'py> {
    name: &'static str,
    fingerprint: u64,
    options: &'a str,
    shape: Shape,
    threads: Option<usize>,
    callback: Option<&'a Bound<'py, PyAny>>,
}

impl<'py> Asked<'_, 'py> {
    /// Computes all pairs on another thread and hands them to NumPy. `lend` makes the metric there, and lends it.
    fn compute(
        &self,
        py: Python<'py>,
        lend: impl FnOnce(&mut dyn FnMut(&dyn Metric)) + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.shape.is_single { self.computed::<f32>(py, lend) } else { self.computed::<f64>(py, lend) }
    }

    fn computed<T: Precision + Element>(
        &self,
        py: Python<'py>,
        lend: impl FnOnce(&mut dyn FnMut(&dyn Metric)) + Send + 'static,
    ) -> PyResult<Bound<'py, PyAny>> {
        let company = Company::new(py, self.threads)?;
        company.agree(py, "pairwise_distances", || {
            [self.options.as_bytes(), self.name.as_bytes(), &self.fingerprint.to_le_bytes()].concat()
        })?;
        let (execution, shape) = (company.execution, self.shape);
        let watched = watch::run(py, self.callback, None, company.is_in_job, move |relay| {
            let mut ended = None;
            lend(&mut |metric| ended = Some(all_pairs::<T>(metric, &execution, None, &mut *relay)));
            let half = ended.expect("the metric is lent once")?;
            Ok::<_, lehr_distances::Error>((half.items(), written(&half, shape)))
        })?;
        let (items, values) = watched.outcome.map_err(errors::distances)?;
        if self.shape.is_condensed {
            return Ok(values.into_pyarray(py).into_any());
        }
        Ok(arrays::table(py, values, items)?.into_any())
    }

    /// The same of a metric that owns its data.
    fn compute_owned<M: Metric + Send + 'static>(mut self, py: Python<'py>, metric: M) -> PyResult<Bound<'py, PyAny>> {
        (self.name, self.fingerprint) = (metric.name(), metric.fingerprint());
        self.compute(py, move |with| with(&metric))
    }
}

/// The numbers in the order in which arrays have them.
fn written<T: Precision>(half: &Half<T>, shape: Shape) -> Vec<T> {
    let items = half.items();
    let count = if shape.is_condensed { items * items.saturating_sub(1) / 2 } else { items * items };
    let mut values = Vec::with_capacity(count);
    let mut row = vec![0.0; items];
    for item in 0..items {
        half.row(item, &mut row);
        let first = if shape.is_condensed { item + 1 } else { 0 };
        values.extend(row[first..].iter().map(|value| T::from_f64(*value)));
    }
    values
}

/// Dissimilarities of sequences that are aligned pair by pair, or, with `alignment` `"given"`, place by place.
#[pyfunction]
#[pyo3(signature = (
    sequences, *, metric, alignment, matrix = None, gap = None, overlap = None,
    single = false, condensed = false, threads = None, callback = None
))]
#[allow(clippy::too_many_arguments, reason = "they are those of a function of Python")]
pub(crate) fn distances_of_sequences<'py>(
    py: Python<'py>,
    sequences: &Bound<'py, Sequences>,
    metric: &str,
    alignment: &str,
    matrix: Option<&str>,
    gap: Option<(i32, i32)>,
    overlap: Option<f64>,
    single: bool,
    condensed: bool,
    threads: Option<usize>,
    callback: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = Shape { is_single: single, is_condensed: condensed };
    let options = format!("{metric} {alignment} {matrix:?} {gap:?} {overlap:?} {single}");
    let asked = Asked { name: "", fingerprint: 0, options: &options, shape, threads, callback };
    let sequences = &sequences.get().0;
    let mode = match alignment {
        "given" => {
            let measure = match metric {
                "hamming" => columns::Measure::Hamming,
                "p-distance" => columns::Measure::Mismatches,
                "jukes-cantor" => columns::Measure::JukesCantor,
                "kimura" => columns::Measure::Kimura,
                _ => return Err(no_such_metric(metric, "hamming, p-distance, jukes-cantor or kimura")),
            };
            let compared = columns::Compared::new(sequences, measure).map_err(errors::distances)?;
            return asked.compute_owned(py, compared);
        }
        "local" => Mode::Local,
        "global" => Mode::Global,
        "semi-global" => Mode::SemiGlobal,
        other => {
            return Err(errors::value(format!(
                "The 'alignment' parameter must be 'local', 'global', 'semi-global' or 'given'. Got {other:?} instead."
            )));
        }
    };
    let measure = metric.parse::<sequence::Measure>().map_err(|_| {
        no_such_metric(
            metric,
            "identity, identity-without-gaps, jukes-cantor, kimura, score-over-smaller, score-over-larger or score-over-mean",
        )
    })?;
    let scoring = scoring(sequences.alphabet(), matrix, gap)?;
    let overlap_min = overlap.unwrap_or(sequence::Parameters::default().overlap_min);
    let parameters = sequence::Parameters { measure, mode, scoring: Some(scoring), overlap_min };
    let aligned = sequence::Aligned::new(sequences, &parameters).map_err(errors::distances)?;
    asked.compute_owned(py, aligned)
}

fn no_such_metric(metric: &str, expected: &str) -> PyErr {
    errors::value(format!("The 'metric' parameter must be {expected}. Got {metric:?} instead."))
}

/// The scores of letters and the costs of gaps: those that are usual for the alphabet, unless others are given.
fn scoring(alphabet: Alphabet, matrix: Option<&str>, gap: Option<(i32, i32)>) -> PyResult<Scoring> {
    let usual = Scoring::usual(alphabet);
    let matrix = match matrix {
        None => usual.matrix().clone(),
        Some("ednafull") => Matrix::ednafull(),
        Some("blosum62") => Matrix::blosum62(),
        Some(other) => {
            let scores = other
                .split_once('/')
                .and_then(|(equal, different)| Some((equal.parse().ok()?, different.parse().ok()?)));
            let Some((equal, different)) = scores else {
                return Err(errors::value(format!(
                    "The 'matrix' parameter must be 'ednafull', 'blosum62' or 'EQUAL/DIFFERENT' such as '5/-4'. \
                     Got {other:?} instead."
                )));
            };
            Matrix::simple(alphabet, equal, different).map_err(errors::distances)?
        }
    };
    let (open, extend) = gap.unwrap_or((usual.open(), usual.extend()));
    Scoring::new(matrix, open, extend).map_err(errors::distances)
}

/// Tanimoto dissimilarities of fingerprints.
#[pyfunction]
#[pyo3(signature = (fingerprints, *, single = false, condensed = false, threads = None, callback = None))]
pub(crate) fn distances_of_fingerprints<'py>(
    py: Python<'py>,
    fingerprints: &Bound<'py, Fingerprints>,
    single: bool,
    condensed: bool,
    threads: Option<usize>,
    callback: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = Shape { is_single: single, is_condensed: condensed };
    let owned = fingerprints.get().0.clone();
    let options = single.to_string();
    let asked =
        Asked { name: "tanimoto", fingerprint: owned.fingerprint(), options: &options, shape, threads, callback };
    // The metric borrows its data, which go to the thread: it is made there.
    asked.compute(py, move |with| with(&tanimoto::Tanimoto::new(&owned)))
}

/// Dissimilarities of rows of numbers, NaN where a value is missing.
#[pyfunction]
#[pyo3(signature = (x, *, metric, single = false, condensed = false, threads = None, callback = None))]
pub(crate) fn distances_of_rows<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    metric: &str,
    single: bool,
    condensed: bool,
    threads: Option<usize>,
    callback: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let shape = Shape { is_single: single, is_condensed: condensed };
    let measure = metric
        .parse::<rows::Measure>()
        .map_err(|_| no_such_metric(metric, "euclidean, squared-euclidean, manhattan, cosine or correlation"))?;
    let compared = rows::Compared::new(&arrays::records(x)?, measure);
    let options = single.to_string();
    Asked { name: "", fingerprint: 0, options: &options, shape, threads, callback }.compute_owned(py, compared)
}
