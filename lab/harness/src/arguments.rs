//! The command line as it is typed: which measurement, and how much of it.

mod labs;
mod measurements;

use clap::{Parser, Subcommand};

pub use labs::{ChemistryArguments, GrowthArguments, LabArguments, OverheadArguments, ScaleArguments};
pub use measurements::{Bench, BenchArguments, MeasurementArguments, Quality, QualityArguments};

/// Measurements that a stranger can repeat.
#[derive(Debug, Parser)]
#[command(
    name = "lehr-lab",
    version,
    about = "Measure Lehr beside its peers and beside the machine's limits",
    long_about = "Measure Lehr beside its peers and beside the machine's limits\n\nEvery figure that Lehr's pages quote can be taken again on your machine.",
    arg_required_else_help = true,
    max_term_width = 110,
    after_help = "Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped."
)]
pub struct Arguments {
    /// What to measure.
    #[command(subcommand)]
    pub command: Command,
}

/// What can be measured.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// The port runtime beside channel and actor libraries and a C program
    ///
    /// Every side takes its turn in each round and checks its own result. Without the peers, which `make peers-ports` builds,
    /// ours is measured alone.
    #[command(after_help = labs::PORTS_HELP)]
    Ports(LabArguments),

    /// Ranks on threads, over ports and on MPI, beside every MPI, Java and a C program
    ///
    /// Every side takes its turn in each round and checks its own result. Without the peers, which `make peers-ranks` builds,
    /// ours in one process is measured alone.
    #[command(after_help = labs::RANKS_HELP)]
    Ranks(LabArguments),

    /// Messages to services beside actor libraries, and `lehr serve` beside a bare HTTP handler
    ///
    /// In one process by size of the group, one-way and two-way, cold and warm; over loopback HTTP in closed and open loop; what subscribers cost, and
    /// what a computing neighbour does. Every side takes its turn in each round and checks its own result. Without the peers, which
    /// `make peers-services` builds, ours is measured alone.
    #[command(after_help = labs::SERVICES_HELP)]
    Services(LabArguments),

    /// What is lost by dividing a clustering run among threads, MPI processes and both
    ///
    /// f = p T(p) / T(1) - 1 against grain size and number of clusters, with the laws that the papers fit to it; map-reduce beside ranks; how evenly
    /// threads and processes run. Every side solves the same problem to the same bits. Without an mpiexec, threads alone.
    Overhead(OverheadArguments),

    /// How time and memory of distances, clusters and maps grow with the number of items, and large sizes once
    ///
    /// Aligned sequences are made by mutation of known ancestors, compared, clustered and laid out by the commands that users run, each in a process of its own; the clusters must be the
    /// ancestors' families. The whole takes hours and writes matrices of up to 24 GiB, which are taken away again: --only and --memory name less.
    #[command(after_help = labs::SCALE_HELP)]
    Scale(ScaleArguments),

    /// How time and memory of clusters, mixtures and topographic maps of rows grow with rows, columns, clusters and ranks
    ///
    /// Blobs of rows are made, clustered by annealing and by k-means, fitted by a mixture and laid out on a map by the commands that users run, each in a process of its own; clusters and
    /// components must be the blobs. Along each axis an exponent is fitted. The whole takes an hour or two and goes up to ten million rows: --only names less.
    #[command(after_help = labs::GROWTH_HELP)]
    Growth(GrowthArguments),

    /// Compounds as rows of bits beside the same rows as numbers, where the active ones are, and ten million of them
    ///
    /// A step of the kernels, whole runs of lehr cluster over packed bits and over numbers, what a division among threads costs, how much memory each takes, and which share of the active
    /// compounds is in clusters rich in them; then synthetic compounds of the same density, up to ten million, clustered once. Every answer is checked. The whole takes hours:
    /// --only names less.
    #[command(after_help = labs::CHEMISTRY_HELP)]
    Chemistry(ChemistryArguments),

    /// Speed as ratios: kernels, dissimilarities, maps, whole runs, parallel overhead
    ///
    /// Run it in the project's folder, where definitions and peers are; `make bench` builds what most of it needs, and takes that.
    Bench(BenchArguments),

    /// How good results are: ten seeds a set against the best known sums of squares and the known classes
    ///
    /// With a subject, densities: the likelihood of mixtures or of topographic maps. Run it in the project's folder, where definitions and peers are.
    Quality(QualityArguments),

    /// One job of a measurement, which starts it with a task in JSON
    #[command(hide = true)]
    Job {
        /// The task.
        task: String,
    },
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= 1 => Ok(number),
        _ => Err("expected a whole number of at least 1".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number > 0.0 => Ok(number),
        _ => Err("expected a finite number above 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> Result<Command, clap::Error> {
        Arguments::try_parse_from(line.split(' ')).map(|arguments| arguments.command)
    }

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn options_of_a_benchmark_follow_its_subject_in_any_order() {
        let Ok(Command::Bench(bench)) = parse("lehr-lab bench runs --rounds 3 --all --only gis/") else {
            panic!("not the benchmark")
        };
        assert_eq!((bench.subject, bench.measurement.rounds, bench.measurement.all), (Bench::Runs, Some(3), true));
        assert!(bench.measurement.wants("gis/blocks") && !bench.measurement.wants("sipu_a3"));
    }

    #[test]
    fn quality_is_that_of_clusters_unless_it_is_said_of_what() {
        let subject = |line: &str| match parse(line) {
            Ok(Command::Quality(quality)) => quality.subject,
            other => panic!("{other:?}"),
        };
        assert_eq!(subject("lehr-lab quality --rounds 2"), None);
        assert_eq!(subject("lehr-lab quality topographic --rounds 2"), Some(Quality::Topographic));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let said = |line: &str| parse(line).unwrap_err().to_string();
        assert!(said("lehr-lab bench speed").contains("speed"));
        assert!(said("lehr-lab quality speed").contains("speed"));
        assert!(said("lehr-lab quality --rounds 0").contains("at least 1"));
    }
}
