//! The settings of a method's service: the number of jobs that run at once, their cores and their processes.

use std::path::PathBuf;
use std::str::FromStr;

use lehr_ranks::Layout;
use lehr_services::{Code, Fault, Placement, in_words};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::hosts::{self, HostSlots};

/// The settings that a manifest must not contain. A manifest sets the cores of a service in the service's record.
/// Clients must not choose which programs a node runs, and on which machines.
const NOT_OF_MANIFESTS: [&str; 7] = ["cores", "hostfile", "hosts", "launcher", "mpi", "mpiexec", "program"];

/// The program that starts processes, if the settings and the node name none.
const LAUNCHER: &str = "mpiexec";

/// The type of Slurm's process management that MPICH's standard ABI uses.
const MPI: &str = "pmi2";

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
    /// Threads x processes x nodes, such as `2x4x1`: jobs run in processes that a launcher starts. This needs a folder
    /// for the service's data, and a method that supports it. Default: jobs run in this process.
    pub layout: Option<String>,
    /// The program that starts the processes: an `mpiexec`, or Slurm's `srun`, which Lehr recognises by its name.
    /// Without a `/`, the name is searched in `PATH`. Default: the launcher of the [`Setup`](crate::Setup).
    #[serde(alias = "mpiexec")]
    pub launcher: Option<PathBuf>,
    /// The hosts of the processes; the first process runs on the first host. Default: those of the launcher, which for
    /// `mpiexec` is this machine, and for `srun` the allocation.
    pub hosts: Vec<HostSlots>,
    /// A file with the hosts, which Lehr reads before each job. Default: none.
    pub hostfile: Option<PathBuf>,
    /// The type of MPI that `srun` prepares (`srun --mpi=list`). Default: `pmi2`, which MPICH needs.
    pub mpi: Option<String>,
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
            launcher: None,
            hosts: Vec::new(),
            hostfile: None,
            mpi: None,
            program: None,
        }
    }
}

/// The processes that run a job.
#[derive(Clone, Debug)]
pub(crate) struct Spread {
    pub layout: Layout,
    pub launcher: PathBuf,
    /// The hosts with their numbers of processes; none for those of the launcher.
    pub hosts: Vec<(String, usize)>,
    pub mpi: String,
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
            Ok(None) => {
                let given = [
                    ("launcher", self.launcher.is_some()),
                    ("hosts", !self.hosts.is_empty()),
                    ("hostfile", self.hostfile.is_some()),
                    ("mpi", self.mpi.is_some()),
                    ("program", self.program.is_some()),
                ];
                let given = given.into_iter().filter(|(_, is_given)| *is_given);
                faults.extend(given.map(|(name, _)| format!("{name}: expected with a layout only")));
            }
            Ok(Some(layout)) => faults.extend(self.hosts(&layout).err().map(|fault| fault.reason().to_owned())),
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

    /// Returns the hosts of a job's processes, each with its number of processes. Reads the host file, if there is one.
    fn hosts(&self, layout: &Layout) -> Result<Vec<(String, usize)>, Fault> {
        let wrong = |reason: String| Fault::new(Code::InvalidValue, reason);
        let (name, hosts) = match &self.hostfile {
            Some(_) if !self.hosts.is_empty() => {
                return Err(wrong("hosts and hostfile: expected one of them".to_owned()));
            }
            Some(file) => ("hostfile", hosts::read(file).map_err(|reason| wrong(format!("hostfile: {reason}")))?),
            None if self.hosts.is_empty() => return Ok(Vec::new()),
            None => ("hosts", self.hosts.clone()),
        };
        hosts::divided(&hosts, layout).map_err(|fault| wrong(format!("{name}: {}", fault.reason())))
    }

    /// Returns the processes of a job whose files are in `folder`; `None` if jobs run in this process.
    pub(crate) fn spread(&self, folder: impl FnOnce() -> PathBuf) -> Result<Option<Spread>, Fault> {
        let Some(layout) = self.layout()? else { return Ok(None) };
        let this = || std::env::current_exe().map_err(|error| Fault::new(Code::OperationFailed, error.to_string()));
        // Processes on other hosts may start in another folder.
        let folder = std::path::absolute(folder())
            .map_err(|error| Fault::new(Code::OperationFailed, format!("the folder of the job: {error}")))?;
        Ok(Some(Spread {
            hosts: self.hosts(&layout)?,
            layout,
            launcher: self.launcher.clone().unwrap_or_else(|| PathBuf::from(LAUNCHER)),
            mpi: self.mpi.clone().unwrap_or_else(|| MPI.to_owned()),
            program: self.program.clone().map_or_else(this, Ok)?,
            folder,
        }))
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

    /// Reads `name=value` pairs separated by commas; cores are a list such as `0-3+6`, hosts one such as
    /// `node1:2+node2:2`.
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
                // The earlier name of the setting, when there was only this launcher.
                "launcher" | "mpiexec" => settings.launcher = Some(PathBuf::from(value)),
                "hosts" => match value.split('+').map(str::parse).collect() {
                    Ok(hosts) => settings.hosts = hosts,
                    Err(reason) => faults.push(format!("hosts: {reason}")),
                },
                "hostfile" => settings.hostfile = Some(PathBuf::from(value)),
                "mpi" if is_mpi(value) => settings.mpi = Some(value.to_owned()),
                "mpi" => faults.push(format!("mpi: expected a name such as pmi2 or pmix, found {value:?}")),
                "program" => settings.program = Some(PathBuf::from(value)),
                _ => faults.push(format!(
                    "expected concurrency, queue, remembered, threads, cores, layout, launcher, hosts, hostfile, mpi \
                     or program, found {name:?}"
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

/// Whether a text may be a type of MPI; a comma starts another type's options in Slurm.
fn is_mpi(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
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
    fn hosts_and_their_launcher_belong_to_a_layout_and_have_as_many_processes() {
        let read = |text: &str| text.parse::<Settings>().map_err(|fault| fault.reason().to_owned());
        let settings = read("layout=2x2x2,launcher=/opt/srun,hosts=a+b:2,mpi=pmix").unwrap();
        let spread = settings.spread(|| "try".into()).unwrap().unwrap();
        assert_eq!((spread.hosts, spread.mpi.as_str()), (vec![("a".into(), 2), ("b".into(), 2)], "pmix"));
        assert!(spread.folder.is_absolute());
        assert_eq!(read("layout=1x2x1,mpiexec=m"), read("layout=1x2x1,launcher=m"));
        for (text, reason) in [
            ("hosts=a", "hosts: expected with a layout only"),
            ("launcher=srun,mpi=pmix", "launcher: expected with a layout only; mpi: expected with a layout only"),
            ("layout=1x2x2,hosts=a+b:1", "hosts: a:2+b:1 run 3 processes, but the layout 1x2x2 has 4"),
            ("layout=1x2x2,hosts=a+-f", "hosts: expected host or host:processes, found \"-f\""),
            ("layout=1x1x1,hosts=a,hostfile=b", "hosts and hostfile: expected one of them"),
            ("layout=1x1x1,mpi=a b", "mpi: expected a name such as pmi2 or pmix, found \"a b\""),
        ] {
            assert_eq!(read(text), Err(reason.to_owned()), "{text}");
        }
        let fault = read("layout=1x1x1,hostfile=no/such").unwrap_err();
        assert!(fault.starts_with("hostfile: no/such: "), "{fault}");
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
            (json!({ "hosts": ["other"], "layout": "1x2x1" }), "hosts: expected nothing"),
            (json!({ "mpiexec": "/bin/sh", "layout": "1x2x1" }), "mpiexec: expected nothing"),
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
