//! Detects whether an MPI launcher started this process, and reads the process's number and the number of processes.
//!
//! A launcher sets environment variables for its processes; each family of launchers has its own variables. Lehr must
//! know the launcher before it finds MPI: if four processes find no library, they must report this and end. Otherwise
//! each of them would compute the whole run alone. The values read here are only claims; after MPI has started,
//! `process.rs` compares them with the library's values.

/// A family of launchers, which set the same environment variables.
struct Family {
    /// The name of the family in messages.
    name: &'static str,
    /// The variable with this process's number. If this variable is set, a launcher of this family started the process.
    rank: &'static str,
    /// The variables with the number of processes; the first variable that is set counts.
    sizes: &'static [&'static str],
}

/// The families, most specific first. Slurm is last, because its variables are also set in jobs that start no MPI
/// processes.
const FAMILIES: &[Family] = &[
    Family { name: "Open MPI's mpiexec", rank: "OMPI_COMM_WORLD_RANK", sizes: &["OMPI_COMM_WORLD_SIZE"] },
    Family { name: "MVAPICH's mpiexec", rank: "MV2_COMM_WORLD_RANK", sizes: &["MV2_COMM_WORLD_SIZE"] },
    Family { name: "mpiexec (PMI)", rank: "PMI_RANK", sizes: &["PMI_SIZE"] },
    Family { name: "PALS", rank: "PALS_RANKID", sizes: &["PALS_SIZE"] },
    Family { name: "a PMIx launcher", rank: "PMIX_RANK", sizes: &["PMIX_SIZE", "SLURM_STEP_NUM_TASKS"] },
    // Slurm sets SLURM_STEP_NUM_TASKS for processes that srun starts, and not in a batch script.
    Family { name: "srun", rank: "SLURM_PROCID", sizes: &["SLURM_STEP_NUM_TASKS"] },
];

/// The launcher that started a process, and its claims: the process's number and the number of processes.
///
/// # Example
/// ```
/// use lehr_ranks_mpi::Launcher;
/// let variables = |name: &str| match name {
///     "PMI_RANK" => Some("2".to_owned()),
///     "PMI_SIZE" => Some("4".to_owned()),
///     _ => None,
/// };
/// let launcher = Launcher::detect(variables).unwrap();
/// assert_eq!((launcher.process(), launcher.processes()), (2, Some(4)));
/// assert!(Launcher::detect(|_| None).is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launcher {
    name: &'static str,
    variable: &'static str,
    process: usize,
    processes: Option<usize>,
}

impl Launcher {
    /// Returns the launcher that set the environment variables of a process, if a launcher did. `variable` looks up a
    /// variable.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Option<Self> {
        let number = |name: &str| variable(name).and_then(|text| text.trim().parse::<usize>().ok());
        FAMILIES.iter().find_map(|family| {
            let process = number(family.rank)?;
            let processes = family.sizes.iter().find_map(|name| number(name));
            // Slurm gives a batch script a task number without a number of tasks, and a batch script is not an MPI
            // process.
            if family.rank == "SLURM_PROCID" && processes.is_none() {
                return None;
            }
            Some(Self { name: family.name, variable: family.rank, process, processes })
        })
    }

    /// Returns the launcher of this process, from its environment.
    pub fn of_this_process() -> Option<Self> {
        Self::detect(crate::environment::variable)
    }

    /// Returns this process's number, from 0.
    pub fn process(&self) -> usize {
        self.process
    }

    /// Returns the number of processes that the launcher started, if it reports this number.
    pub fn processes(&self) -> Option<usize> {
        self.processes
    }

    /// Whether there are, or may be, other processes.
    pub fn is_several(&self) -> bool {
        self.processes != Some(1)
    }

    /// Returns text for a message: the launcher, the role of this process, and the variable that shows it.
    pub fn describe(&self) -> String {
        let Self { name, variable, process, .. } = self;
        match self.processes {
            Some(processes) => format!("process {process} of {processes}, started by {name} ({variable} is set)"),
            None => format!("process {process}, started by {name} ({variable} is set)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(set: &[(&str, &str)]) -> Option<Launcher> {
        Launcher::detect(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn each_family_is_known_by_its_rank() {
        for family in FAMILIES {
            let found = detect(&[(family.rank, "1"), (family.sizes[0], "3")]).unwrap();
            assert_eq!((found.process(), found.processes(), found.name), (1, Some(3), family.name));
            assert!(found.is_several() && found.describe().contains("process 1 of 3"), "{}", found.describe());
        }
    }

    #[test]
    fn one_process_is_not_several_and_an_unknown_number_may_be() {
        assert!(!detect(&[("PMI_RANK", "0"), ("PMI_SIZE", "1")]).unwrap().is_several());
        assert!(detect(&[("PMIX_RANK", "0")]).unwrap().is_several());
    }

    #[test]
    fn a_batch_script_and_nonsense_are_no_launcher() {
        assert_eq!(detect(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "4")]), None);
        assert_eq!(detect(&[("PMI_RANK", "zero")]), None);
    }
}
