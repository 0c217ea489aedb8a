//! The text of a script for Slurm's `sbatch`.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::Path;

use crate::arguments::JobArguments;
use crate::exit::Kind;
use crate::folder::CHECKPOINT;
use crate::plan::shell_word;

/// The facts that a script contains.
pub(super) struct Script<'a> {
    pub arguments: &'a JobArguments,
    /// The memory of a machine, in Slurm's notation.
    pub memory: Option<&'a str>,
    /// The folder in which the command runs.
    pub folder: &'a Path,
    pub program: &'a Path,
    /// The MPI library, if the user chose one.
    pub library: Option<&'a Path>,
    /// The name of the command.
    pub name: &'a str,
    /// The folder with the results and the checkpoint.
    pub out: &'a Path,
    /// The command as typed, without `lehr`.
    pub first: &'a [OsString],
    /// The command that continues the run, quoted, without `lehr`.
    pub resume: &'a str,
}

impl Script<'_> {
    /// Returns the text of the script.
    pub fn text(&self) -> String {
        let quoted = |path: &Path| shell_word(&path.to_string_lossy());
        let JobArguments { nodes, tasks, threads, grace, restarts, mpi, .. } = self.arguments;
        let (processes, stopped) = (nodes * tasks, Kind::Stopped.code());
        let checkpoint = quoted(&self.out.join(CHECKPOINT));
        let first = self.first.iter().map(|word| shell_word(&word.to_string_lossy())).collect::<Vec<_>>().join(" ");
        let library =
            self.library.map_or_else(String::new, |library| format!("export LEHR_MPI_LIBRARY={}\n", quoted(library)));
        format!(
            "#!/bin/bash\n\
             # Written by lehr job {version}. Submit this file with sbatch.\n\
             {directives}\n\
             # {grace} seconds before the time limit, Slurm sends SIGTERM to the processes. Lehr then saves its state and ends\n\
             # with exit code {stopped}. This script returns the job to the queue, at most {restarts} times, and continues from there.\n\n\
             cd {folder} || exit {environment}\n\
             {library}\
             run=(srun --ntasks={processes} --ntasks-per-node={tasks} --cpus-per-task={threads} --mpi={mpi} {program})\n\
             if [ -e {checkpoint} ]; then\n    \
                 \"${{run[@]}}\" {resume} --threads {threads}\n\
             else\n    \
                 \"${{run[@]}}\" {first} --threads {threads}\n\
             fi\n\
             code=$?\n\
             if [ \"$code\" -eq {stopped} ] && [ -e {checkpoint} ]; then\n    \
                 if [ \"${{SLURM_RESTART_COUNT:-0}}\" -lt {restarts} ]; then\n        \
                     scontrol requeue \"$SLURM_JOB_ID\" && exit 0\n    \
                 fi\n    \
                 echo 'the run is not complete: submit this script again to continue it' >&2\n\
             fi\n\
             exit \"$code\"\n",
            version = env!("CARGO_PKG_VERSION"),
            directives = self.directives(),
            folder = quoted(self.folder),
            environment = Kind::Environment.code(),
            program = quoted(self.program),
            resume = self.resume,
        )
    }

    /// Returns the lines for `sbatch`, each with a line break.
    fn directives(&self) -> String {
        let JobArguments { nodes, tasks, threads, grace, time, partition, sbatch, .. } = self.arguments;
        let mut lines = String::new();
        let mut line = |option: &str| {
            let _ = writeln!(lines, "#SBATCH --{option}");
        };
        line(&format!("job-name=lehr-{}", self.name));
        line(&format!("nodes={nodes}"));
        line(&format!("ntasks-per-node={tasks}"));
        line(&format!("cpus-per-task={threads}"));
        self.memory.iter().for_each(|size| line(&format!("mem={size}")));
        time.iter().for_each(|limit| line(&format!("time={}", limit.text)));
        partition.iter().for_each(|name| line(&format!("partition={name}")));
        line(&format!("signal=TERM@{grace}"));
        line("requeue");
        // The output of an earlier run stays.
        line("open-mode=append");
        // The last line of an option counts, so these replace the ones above.
        sbatch.iter().for_each(|option| line(option));
        lines
    }
}
