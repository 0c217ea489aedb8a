//! The settings of a method's service: the number of jobs that run at once, their cores and their processes.

use std::path::PathBuf;
use std::str::FromStr;

use lehr_ranks::Layout;
use lehr_services::{Code, Fault, Placement, in_words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The settings that a manifest must not contain. A manifest sets the cores of a service in the service's record, and
/// clients must not choose which programs a node runs.
const NOT_OF_MANIFESTS: [&str; 3] = ["cores", "mpiexec", "program"];

/// The settings of a method's service.
///
/// # Example
/// ```
/// use lehr_jobs::Settings;
/// let settings: Settings = "threads=2,cores=0-1,concurrency=1".parse()?;
/// assert_eq!((settings.threads, settings.cores), (Some(2), vec![0, 1]));
/// assert!("thread=2".parse::<Settings>().unwrap_err().reason().contains("thread"));
/// # Ok::<(), lehr_services::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The maximum number of jobs that run at once. Default: 1.
    pub concurrency: usize,
    /// The maximum number of jobs that may wait; further jobs are refused. Default: 64.
    pub queue: usize,
    /// The maximum number of ended jobs that are kept. Beyond this number, the oldest ended job is removed, but its
    /// outputs stay. Default: 1000.
    pub remembered: usize,
    /// The number of threads of a job. Default: the number of given cores, or of threads that the machine runs at once,
    /// divided by `concurrency`.
    pub threads: Option<usize>,
    /// The cores that jobs are bound to. Default: all.
    pub cores: Vec<usize>,
    /// Threads x processes x nodes, such as `2x4x1`: jobs run in processes that `mpiexec` starts. Default: jobs run in
    /// this process.
    pub layout: Option<String>,
    /// The program that starts the processes. Default: `mpiexec`.
    pub mpiexec: Option<PathBuf>,
    /// The program that the processes run: the command `lehr`. Default: the current program.
    pub program: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            concurrency: 1,
            queue: 64,
            remembered: 1000,
            threads: None,
            cores: Vec::new(),
            layout: None,
            mpiexec: None,
            program: None,
        }
    }
}

/// The processes that run a job.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    pub layout: Layout,
    pub mpiexec: PathBuf,
    pub program: PathBuf,
    /// The folder for the files of this job's processes.
    pub folder: PathBuf,
}

impl Settings {
    /// Checks that the settings are valid.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`], which lists all invalid settings.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::Settings;
    /// assert!(Settings { concurrency: 0, ..Settings::default() }.check().is_err());
    /// ```
    pub fn check(&self) -> Result<(), Fault> {
        let mut faults = Vec::new();
        let counts = [("concurrency", self.concurrency), ("queue", self.queue), ("remembered", self.remembered)];
        let counts = counts.into_iter().chain(self.threads.map(|threads| ("threads", threads)));
        faults.extend(
            counts.filter(|(_, count)| *count == 0).map(|(name, _)| format!("{name}: expected at least 1, found 0")),
        );
        for (index, core) in self.cores.iter().enumerate() {
            if self.cores[..index].contains(core) {
                faults.push(format!("cores: {core} is there twice"));
            }
        }
        match self.layout() {
            Err(fault) => faults.push(format!("layout: {}", fault.reason())),
            Ok(Some(_)) if self.threads.is_some() => {
                faults.push("threads: a layout says how many there are".to_owned());
            }
            Ok(None) if self.mpiexec.is_some() || self.program.is_some() => {
                faults.push("mpiexec and program: expected with a layout only".to_owned());
            }
            Ok(_) => {}
        }
        if faults.is_empty() { Ok(()) } else { Err(Fault::new(Code::InvalidValue, faults.join("; "))) }
    }

    /// Returns the schema of the settings that a manifest may contain.
    pub(crate) fn schema_of_manifests() -> Value {
        let mut schema = schemars::schema_for!(Settings).to_value();
        if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            fields.retain(|name, _| !NOT_OF_MANIFESTS.contains(&name.as_str()));
        }
        schema
    }

    /// Reads the settings of a placement. Returns `None` if the placement has no settings.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if the settings are invalid.
    pub(crate) fn of_placement(placement: &Placement) -> Result<Option<Self>, Fault> {
        if placement.told().is_none() && placement.own_cores().is_empty() {
            return Ok(None);
        }
        let told = placement.told().cloned().unwrap_or_else(|| json!({}));
        if let Some(name) = NOT_OF_MANIFESTS.iter().find(|name| told.get(**name).is_some()) {
            return Err(Fault::new(Code::InvalidValue, format!("{name}: expected nothing, found a value")));
        }
        let settings: Self = serde_json::from_value(told)
            .map_err(|error| Fault::new(Code::InvalidValue, in_words(&error.to_string())))?;
        let settings = Self { cores: placement.own_cores().to_vec(), ..settings };
        settings.check().map(|()| Some(settings))
    }

    pub(crate) fn layout(&self) -> Result<Option<Layout>, Fault> {
        let parse =
            |text: &String| text.parse::<Layout>().map_err(|error| Fault::new(Code::InvalidValue, error.to_string()));
        self.layout.as_ref().map(parse).transpose()
    }

    /// Returns the number of threads of a job.
    pub(crate) fn threads_of_job(&self) -> usize {
        let machine = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let cores = if self.cores.is_empty() { machine() } else { self.cores.len() };
        self.threads.unwrap_or_else(|| (cores / self.concurrency).max(1))
    }
}

impl FromStr for Settings {
    type Err = Fault;

    /// Reads `name=value` pairs separated by commas; cores are a list such as `0-3+6`.
    fn from_str(text: &str) -> Result<Self, Fault> {
        let mut settings = Self::default();
        let mut faults = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let Some((name, value)) = part.split_once('=') else {
                faults.push(format!("expected name=value, found {part:?}"));
                continue;
            };
            let mut count = |place: &mut usize| match value.parse() {
                Ok(count) => *place = count,
                Err(_) => faults.push(format!("{name}: expected a whole number, found {value:?}")),
            };
            match name {
                "concurrency" => count(&mut settings.concurrency),
                "queue" => count(&mut settings.queue),
                "remembered" => count(&mut settings.remembered),
                "threads" => count(settings.threads.insert(0)),
                "cores" => match cores(value) {
                    Some(cores) => settings.cores = cores,
                    None => faults.push(format!("cores: expected a list such as 0-3+6, found {value:?}")),
                },
                "layout" => settings.layout = Some(value.to_owned()),
                "mpiexec" => settings.mpiexec = Some(PathBuf::from(value)),
                "program" => settings.program = Some(PathBuf::from(value)),
                _ => faults.push(format!(
                    "expected concurrency, queue, remembered, threads, cores, layout, mpiexec or program, found {name:?}"
                )),
            }
        }
        if !faults.is_empty() {
            return Err(Fault::new(Code::InvalidValue, faults.join("; ")));
        }
        settings.check()?;
        Ok(settings)
    }
}

fn cores(text: &str) -> Option<Vec<usize>> {
    let mut cores = Vec::new();
    for part in text.split('+') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        if first > last || last >= 1 << 16 {
            return None;
        }
        cores.extend(first..=last);
    }
    Some(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_cannot_be_meant_is_said_at_once() {
        let fault = "concurrency=0,cores=1+1,layout=2x,threads=x".parse::<Settings>().unwrap_err();
        assert!(fault.reason().contains("threads: expected a whole number"), "{fault}");
        let fault = "concurrency=0,cores=1+1,layout=2x".parse::<Settings>().unwrap_err();
        for part in ["concurrency: expected at least 1", "cores: 1 is there twice", "layout: "] {
            assert!(fault.reason().contains(part), "{fault}");
        }
        assert_eq!("cores=0-2+5".parse::<Settings>().unwrap().cores, [0, 1, 2, 5]);
        assert!("layout=2x2x1,threads=3".parse::<Settings>().is_err());
        assert_eq!("".parse::<Settings>().unwrap(), Settings::default());
    }

    #[test]
    fn a_placement_says_all_but_the_programs() {
        let schema = Settings::schema_of_manifests();
        let fields: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(fields, ["concurrency", "layout", "queue", "remembered", "threads"]);
        let at = || Placement::at("/heavy");
        assert_eq!(Settings::of_placement(&at()).unwrap(), None);
        let placement = at().cores([1, 0]).configuration(json!({ "concurrency": 2, "threads": 3 }));
        let wanted = Settings { concurrency: 2, threads: Some(3), cores: vec![1, 0], ..Settings::default() };
        assert_eq!(Settings::of_placement(&placement).unwrap(), Some(wanted));
        for (told, reason) in [
            (json!({ "program": "/bin/sh", "layout": "1x2x1" }), "program: expected nothing"),
            (json!({ "concurrency": 0 }), "concurrency: expected at least 1"),
            (json!({ "concurency": 1 }), "unknown field `concurency`"),
        ] {
            let fault = Settings::of_placement(&at().configuration(told)).unwrap_err();
            assert!(fault.reason().contains(reason), "{fault}");
        }
    }

    #[test]
    fn jobs_that_run_at_once_share_the_cores() {
        let of = |text: &str| text.parse::<Settings>().unwrap().threads_of_job();
        assert_eq!([of("cores=0-3,concurrency=2"), of("cores=0-3,threads=3"), of("cores=0,concurrency=2")], [2, 3, 1]);
    }
}
