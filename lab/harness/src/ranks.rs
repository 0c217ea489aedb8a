//! `lehr-lab ranks`: ranks on threads, over ports and on MPI, with C programs on the same MPIs, Java, and a C program
//! without MPI, in turns in one run.
//!
//! Lehr's ranks on threads and over ports run in this process. For each MPI, a runner (`lab/runners/mpi`) starts a
//! program for each number of ranks; for Lehr on MPI, this program is `lab/harness/src/bin/rank_side.rs`. Every side
//! checks each stage: a wrong result of Lehr ends the measurement. [`cells`] measures, [`operation`] has the operations
//! and their names, and [`program`] is the program of a rank of Lehr. [`crate::bench`] has the code that the labs
//! share.

pub mod cells;
pub mod definition;
pub mod in_process;
pub mod operation;
pub mod program;

use anyhow::Result;

use crate::bench::figure::Figure;
use crate::bench::session::{self, Cases, End, Options};
use crate::bench::{Lab, Stop, table};

/// The description of this lab. Its cases have names such as `patterns exchange, P = 2, 8 B, 0 units`, `collectives
/// all-reduce, P = 4, 8 KiB, 0 units`, `arrays exchange, P = 2, 1000 doubles`.
pub const LAB: Lab = Lab {
    name: "ranks",
    folder: "target/peers/ranks",
    programs: &[
        ("lehr_mpi", "peers-ranks"),
        ("mpi", "peers-ranks"),
        ("mpj", "peers-ranks"),
        ("ranks_floor", "peers-ranks"),
    ],
    how_to_build: "no peers: `make peers-ranks` builds them (a minute or two), and --peers names a folder that has them",
};

/// The experiments with their own tables, with a line for each figure.
const LISTED: [&str; 1] = ["arrays rate"];

/// Measures the requested cases and prints tables or an array of records. It calls `stop` between samples to learn
/// whether to end.
///
/// # Errors
/// Returns an error if a result of Lehr is wrong, if `only` matches no case, or if the record cannot be read or
/// written. Earlier figures are kept.
pub fn run(options: &Options, stop: Stop) -> Result<End> {
    let file = definition::file();
    let definition = if options.quick { &file.quick } else { &file.full };
    let cases = Cases {
        plan: &|bench| cells::plan(bench, definition, options),
        measure: &|bench| cells::run(bench, definition, options),
        tables: &|bench| {
            let reached = |figure: &Figure, one_core: bool| definition::reached(&file.holders, figure, one_core);
            table::text(&bench.figures, &reached, &LISTED, bench.cores)
        },
    };
    session::run(&LAB, options, stop, cases)
}
