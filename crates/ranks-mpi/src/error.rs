//! Errors of MPI: the reason why no MPI can be used, or why a call failed.

use std::fmt;
use std::path::PathBuf;

/// Errors between Lehr and the MPI library.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Lehr found no library with the standard ABI. Install one, or name it in `LEHR_MPI_LIBRARY`.
    NotFound {
        /// The launcher's description of this process.
        started: String,
        /// Each place that Lehr searched, with the problem there.
        looked_at: Vec<String>,
    },
    /// Lehr cannot use the library that it found.
    Unusable {
        /// The library.
        library: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The library and the launcher do not belong together: each process believes that it is alone.
    Strangers {
        /// The launcher's description of this process.
        started: String,
        /// The library's description of this process.
        library: String,
        /// The number of processes that the library sees.
        processes: usize,
    },
    /// MPI was already started in this process; it can be started only once.
    Started,
    /// A call of MPI failed.
    Call {
        /// The function.
        function: &'static str,
        /// MPI's message.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { started, looked_at } => {
                write!(formatter, "this is {started}, but no MPI library with the standard ABI was found:")?;
                for place in looked_at {
                    write!(formatter, "\n  {place}")?;
                }
                formatter.write_str(
                    "\ninstall one (for example: pip install mpich), or name its file libmpi_abi.so.1 in LEHR_MPI_LIBRARY; \
                     Open MPI 5 needs an adapter, see crates/ranks-mpi/adapter in Lehr's sources",
                )
            }
            Self::Unusable { library, reason } => {
                write!(formatter, "the MPI library {} cannot be used: {reason}", library.display())
            }
            Self::Strangers { started, library, processes } => write!(
                formatter,
                "this is {started}, but the MPI library ({library}) sees {processes} of them: launcher and library do not \
                 belong together; use the mpiexec of that library, or name the launcher's library in LEHR_MPI_LIBRARY"
            ),
            Self::Started => {
                formatter.write_str("MPI has been started before in this process, and it can be started once")
            }
            Self::Call { function, message } => write!(formatter, "{function} failed: {message}"),
        }
    }
}

impl std::error::Error for Error {}
