//! The errors of this crate: the reasons why Lehr cannot use MPI, or why a call of MPI failed.

use std::fmt;
use std::path::PathBuf;

/// The reason why Lehr cannot use MPI, or why a call of MPI failed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Lehr found no library with the standard ABI. Install such a library, or name it in `LEHR_MPI_LIBRARY`.
    NotFound {
        /// The description of this process by its launcher.
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
    /// The library and the launcher do not belong together: the library sees another number of processes than the
    /// launcher started.
    Strangers {
        /// The description of this process by its launcher.
        started: String,
        /// The library's description of itself.
        library: String,
        /// The number of processes that the library sees.
        processes: usize,
    },
    /// MPI was already started in this process, and can be started only once.
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
