//! The command that starts the processes of a job: an `mpiexec`, or Slurm's `srun`.
//!
//! MPICH's and Open MPI's `mpiexec` both take `-n` and `-host NAME:PROCESSES,…`, so Lehr need not know which of them it
//! starts. For `srun`, a file lists the host of each process. With a list of nodes, Slurm would choose the node of the
//! first process by its name.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::failed;
use crate::method::Failure;
use crate::settings::Spread;

/// The file with the host of each process for `srun`, in the folder of a try.
const HOSTS: &str = "hosts";

/// Returns the command for the processes of a try, in their folder. `mark` is that of the folder's order.
pub(super) fn command(spread: &Spread, folder: &Path, mark: &str) -> Result<Command, Failure> {
    let mut command = Command::new(&spread.launcher);
    let processes = (spread.layout.processes * spread.layout.nodes).to_string();
    if is_srun(&spread.launcher) {
        let nodes = if spread.hosts.is_empty() { spread.layout.nodes } else { spread.hosts.len() };
        command.arg(format!("--ntasks={processes}")).arg(format!("--nodes={nodes}"));
        command.arg(format!("--cpus-per-task={}", spread.layout.threads)).arg(format!("--mpi={}", spread.mpi));
        // Only the first process reads the standard input, whose end asks it to stop. If the node itself is a step of
        // the allocation, the processes need its cores. And without the last option, Slurm lets the others wait for a
        // process that was killed.
        command.args(["--input=0", "--overlap", "--kill-on-bad-exit=1"]);
        if !spread.hosts.is_empty() {
            let lines = spread.hosts.iter().map(|(name, slots)| format!("{name}\n").repeat(*slots));
            let file = folder.join(HOSTS);
            fs::write(&file, lines.collect::<String>()).map_err(failed)?;
            command.arg("--distribution=arbitrary").env("SLURM_HOSTFILE", file);
        }
    } else {
        command.args(["-n", &processes]);
        if !spread.hosts.is_empty() {
            let hosts = spread.hosts.iter().map(|(name, slots)| format!("{name}:{slots}")).collect::<Vec<_>>();
            command.args(["-host", &hosts.join(",")]);
        }
    }
    command.arg(&spread.program).arg("part").arg(folder).arg(mark);
    Ok(command)
}

/// Whether a launcher is Slurm's, by its name.
pub(crate) fn is_srun(launcher: &Path) -> bool {
    launcher.file_name().is_some_and(|name| name == "srun")
}
