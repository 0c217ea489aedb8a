//! The environment variables of Slurm and MPI that commands use.
//!
//! | variable | who sets it | meaning |
//! | --- | --- | --- |
//! | `SLURM_JOB_ID` | Slurm | this process belongs to a job, so `srun` starts processes on the job's machines |
//! | `LEHR_MPI_LIBRARY` | the user | the MPI library of the processes that a script starts |

use std::path::PathBuf;

/// Whether this process belongs to a job of Slurm.
pub(super) fn is_in_job() -> bool {
    std::env::var_os("SLURM_JOB_ID").is_some_and(|id| !id.is_empty())
}

/// Returns the MPI library that the user chose.
pub(super) fn mpi_library() -> Option<PathBuf> {
    std::env::var_os("LEHR_MPI_LIBRARY").filter(|library| !library.is_empty()).map(PathBuf::from)
}
