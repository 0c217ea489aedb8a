//! The steps of every `fit`: read parameters and checkpoint, compare them with the other processes, run, and delete the
//! checkpoint at the end.

use std::path::{Path, PathBuf};

use lehr_mining::{Error, gtm, kmeans, minibatch, mixture, pairwise, smacof, vector};
use lehr_ranks::Execution;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::de::DeserializeOwned;

use crate::arrays::OwnedRows;
use crate::errors;
use crate::job::ProcessGroup;
use crate::watch::{self, Pulled, Relay, Watched};

/// A method's checkpoint.
pub(crate) trait Checkpoint: Sized + Send + 'static {
    type Parameters: PartialEq + Send + 'static;

    fn parameters(&self) -> &Self::Parameters;
    /// Reads a checkpoint of the method to which the parameters `wanted` belong.
    fn read(path: &Path, wanted: &Self::Parameters) -> Result<Self, Error>;
}

macro_rules! checkpoints {
    ($($method:ident)*) => {$(
        impl Checkpoint for $method::Checkpoint {
            type Parameters = $method::Parameters;

            fn parameters(&self) -> &Self::Parameters {
                self.parameters()
            }

            fn read(path: &Path, _: &Self::Parameters) -> Result<Self, Error> {
                Self::read(path)
            }
        }
    )*};
}

checkpoints! { vector kmeans minibatch mixture gtm pairwise smacof }

/// The arguments that an estimator passes in addition to its data: `lehr._progress.Run`.
#[derive(FromPyObject)]
pub(crate) struct Run<'py> {
    /// The method's parameters as JSON.
    parameters: String,
    threads: Option<usize>,
    callback: Option<Bound<'py, PyAny>>,
    checkpoint: Option<PathBuf>,
}

impl Run<'_> {
    pub(crate) fn parameters(&self) -> &str {
        &self.parameters
    }
}

/// A run of a method that has not begun, with the requested parameters.
pub(crate) struct Fit<'py, C: Checkpoint> {
    py: Python<'py>,
    /// The name of the method, which the processes compare.
    method: &'static str,
    wanted: C::Parameters,
    run: Run<'py>,
}

/// The way in which a run begins: with parameters, or from a checkpoint.
pub(crate) enum Beginning<C: Checkpoint> {
    Anew(C::Parameters),
    From(C),
}

/// A run that is ready to begin: all processes have agreed on the same computation.
struct Begun<'py, C: Checkpoint> {
    py: Python<'py>,
    group: ProcessGroup,
    beginning: Beginning<C>,
    callback: Option<Bound<'py, PyAny>>,
    checkpoint: Option<PathBuf>,
}

/// The outcome of a run.
pub(crate) struct Done<'py, M> {
    py: Python<'py>,
    outcome: Result<M, Error>,
    checkpoint: Option<PathBuf>,
    checkpoint_failure: Option<String>,
    is_lead: bool,
}

impl<'py, C: Checkpoint> Fit<'py, C> {
    /// Reads the parameters that the estimator passed.
    ///
    /// # Errors
    /// Returns `ValueError` if the parameters cannot be read, because the estimator and this library have different
    /// versions.
    pub(crate) fn new(py: Python<'py>, method: &'static str, run: Run<'py>) -> PyResult<Self>
    where
        C::Parameters: DeserializeOwned,
    {
        let wanted =
            serde_json::from_str(&run.parameters).map_err(|cause| errors::value(format!("parameters: {cause}")))?;
        Ok(Self::of(py, method, wanted, run))
    }

    /// Creates a run with parameters that have already been read. Processes compare the text of the parameters in
    /// `run`.
    pub(crate) fn of(py: Python<'py>, method: &'static str, wanted: C::Parameters, run: Run<'py>) -> Self {
        Self { py, method, wanted, run }
    }

    /// Runs a method on rows, or resumes the run of an existing checkpoint.
    ///
    /// # Errors
    /// Returns the errors of [`Fit::run`].
    pub(crate) fn rows<R: OwnedRows, M: Send + 'static>(
        self,
        rows: R,
        begin: impl FnOnce(R::Input<'_>, &C::Parameters, &Execution, &mut Relay) -> Result<M, Error> + Send + 'static,
        resume: impl FnOnce(R::Input<'_>, C, &Execution, &mut Relay) -> Result<M, Error> + Send + 'static,
    ) -> PyResult<Done<'py, M>> {
        self.run(
            rows,
            |rows| vec![rows.fingerprint()],
            |rows, beginning, execution, relay| match beginning {
                Beginning::Anew(wanted) => begin(rows.input(), &wanted, execution, relay),
                Beginning::From(start) => resume(rows.input(), start, execution, relay),
            },
        )
    }

    /// Runs a method on a stream, or resumes the run of an existing checkpoint. `pull(rows)` returns the next rows of
    /// the stream.
    ///
    /// # Errors
    /// Returns the errors of [`Fit::run`], and the exceptions of `pull`.
    pub(crate) fn stream<M: Send + 'static>(
        self,
        pull: &Bound<'py, PyAny>,
        work: impl FnOnce(&mut Pulled, Beginning<C>, &Execution, &mut Relay) -> Result<M, Error> + Send + 'static,
    ) -> PyResult<Done<'py, M>> {
        let Begun { py, group, beginning, callback, checkpoint } = self.begun(Vec::new)?;
        let execution = group.execution;
        let (kept, is_in_job) = (checkpoint.clone(), group.is_in_job);
        let watched = watch::run_stream(py, pull, callback.as_ref(), kept, is_in_job, move |relay, pulled| {
            work(pulled, beginning, &execution, relay)
        })?;
        Ok(Done::of(py, watched, checkpoint, group))
    }

    /// Runs a method on data, or resumes the run of an existing checkpoint. `hashes` returns hashes that identify the
    /// data; it is only called in a job.
    ///
    /// # Errors
    /// Returns an error if the checkpoint cannot be read or has other parameters, or if another process is about to
    /// compute something else. Also returns the errors of [`watch::run`]. [`Done::found`] returns the method's errors.
    pub(crate) fn run<D: Send + 'static, M: Send + 'static>(
        self,
        data: D,
        hashes: impl FnOnce(&D) -> Vec<u64>,
        work: impl FnOnce(&D, Beginning<C>, &Execution, &mut Relay) -> Result<M, Error> + Send + 'static,
    ) -> PyResult<Done<'py, M>> {
        let Begun { py, group, beginning, callback, checkpoint } = self.begun(|| hashes(&data))?;
        let execution = group.execution;
        let watched = watch::run(py, callback.as_ref(), checkpoint.clone(), group.is_in_job, move |relay| {
            work(&data, beginning, &execution, relay)
        })?;
        Ok(Done::of(py, watched, checkpoint, group))
    }

    /// Reads the checkpoint, if there is one, and compares the run with the other processes.
    fn begun(self, hashes: impl FnOnce() -> Vec<u64>) -> PyResult<Begun<'py, C>> {
        let Self { py, method, wanted, run } = self;
        let Run { parameters, threads, callback, checkpoint } = run;
        let group = ProcessGroup::new(py, threads)?;
        let beginning = match saved::<C>(checkpoint.as_deref(), &wanted)? {
            None => Beginning::Anew(wanted),
            Some((path, start)) if *start.parameters() != wanted => return Err(other_parameters(path)),
            Some((_, start)) => Beginning::From(start),
        };
        group.agree(py, method, || {
            let mut bytes = parameters.as_bytes().to_vec();
            bytes.push(u8::from(matches!(beginning, Beginning::From(_))));
            hashes().iter().for_each(|hash| bytes.extend_from_slice(&hash.to_le_bytes()));
            bytes
        })?;
        Ok(Begun { py, group, beginning, callback, checkpoint })
    }
}

impl<'py, M> Done<'py, M> {
    fn of(
        py: Python<'py>,
        watched: Watched<Result<M, Error>>,
        checkpoint: Option<PathBuf>,
        group: ProcessGroup,
    ) -> Self {
        let Watched { outcome, checkpoint_failure } = watched;
        Self { py, outcome, checkpoint, checkpoint_failure, is_lead: group.is_lead }
    }

    /// Converts the result to Python objects, with the fields that all estimators share. Deletes the checkpoint of the
    /// completed run.
    ///
    /// # Errors
    /// Returns the method's error, converted by `raised`, or an error of `found`.
    pub(crate) fn found(
        self,
        raised: impl FnOnce(Error) -> PyErr,
        found: impl FnOnce(Python<'py>, M) -> PyResult<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let model = self.outcome.map_err(raised)?;
        if let (true, Some(path)) = (self.is_lead, &self.checkpoint) {
            // The file may not exist, because short runs write no checkpoint.
            let _ = std::fs::remove_file(path);
        }
        let found = found(self.py, model)?;
        found.set_item("checkpoint_failure", self.checkpoint_failure)?;
        found.set_item("is_lead", self.is_lead)?;
        Ok(found)
    }
}

/// Reads the checkpoint to resume, if the file exists.
fn saved<'a, C: Checkpoint>(path: Option<&'a Path>, wanted: &C::Parameters) -> PyResult<Option<(&'a Path, C)>> {
    match path {
        Some(path) if path.try_exists().map_err(|cause| errors::file(path, &cause))? => {
            C::read(path, wanted).map(|start| Some((path, start))).map_err(errors::mining)
        }
        _ => Ok(None),
    }
}

/// Returns the exception for a checkpoint that was written with other parameters.
fn other_parameters(path: &Path) -> PyErr {
    errors::value(format!(
        "{}: the checkpoint was written with other parameters. Use those, or delete the file to start again.",
        path.display()
    ))
}
