//! Layouts: threads x message-passing processes x nodes, as papers 000 to 004 write them.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;

/// The number of ranks and their distribution: `t` threads in each of `m` processes on each of `n` nodes.
///
/// This crate places ranks in threads of one process, and returns an error if `m` or `n` is not 1. For several
/// processes, use a launcher and `lehr-ranks-mpi`.
///
/// # Example
/// ```
/// use lehr_ranks::Layout;
/// let layout: Layout = "4x1x1".parse().unwrap();
/// assert_eq!((layout.ranks(), layout.to_string()), (4, "4x1x1".to_owned()));
/// assert_eq!("3".parse(), Ok(Layout::threads(3)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// The number of ranks in each process.
    pub threads: usize,
    /// The number of processes on each node.
    pub processes: usize,
    /// The number of nodes.
    pub nodes: usize,
}

impl Layout {
    /// The maximum number of ranks of a layout.
    pub const RANKS_MAX: usize = 65_536;

    /// Creates a layout of this many ranks in this process.
    pub fn threads(threads: usize) -> Self {
        Self { threads, processes: 1, nodes: 1 }
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.threads * self.processes * self.nodes
    }

    /// Checks that this crate can place the layout.
    ///
    /// # Errors
    /// Returns [`Error::Invalid`] if the layout has no ranks, too many ranks, or more than one process.
    pub fn check(&self) -> Result<(), Error> {
        let ranks = self.threads.checked_mul(self.processes).and_then(|ranks| ranks.checked_mul(self.nodes));
        if !ranks.is_some_and(|ranks| (1..=Self::RANKS_MAX).contains(&ranks)) {
            let message = format!("layout {self}: a layout has 1 to {} ranks", Self::RANKS_MAX);
            return Err(Error::Invalid { message });
        }
        if self.processes != 1 || self.nodes != 1 {
            let message = format!(
                "layout {self}: several processes are started by mpiexec, and their ranks by lehr-ranks-mpi (Process::run); {}x1x1 has as many ranks in this one",
                self.ranks()
            );
            return Err(Error::Invalid { message });
        }
        Ok(())
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}x{}x{}", self.threads, self.processes, self.nodes)
    }
}

impl FromStr for Layout {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = || Error::Invalid {
            message: format!("expected a layout like 4x1x1 (threads x processes x nodes) or 4, found {text:?}"),
        };
        let numbers: Vec<usize> = text
            .split('x')
            .map(|number| number.trim().parse().ok().filter(|number| *number > 0))
            .collect::<Option<_>>()
            .ok_or_else(invalid)?;
        match numbers[..] {
            [threads] => Ok(Self::threads(threads)),
            [threads, processes, nodes] => Ok(Self { threads, processes, nodes }),
            _ => Err(invalid()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_parses_back() {
        for layout in [Layout::threads(1), Layout { threads: 2, processes: 3, nodes: 4 }] {
            assert_eq!(layout.to_string().parse(), Ok(layout));
        }
    }

    #[test]
    fn bad_layouts_say_what_was_expected() {
        for text in ["", "0", "2x2", "axbxc", "1x0x1", "-1", "1x1x1x1"] {
            let message = text.parse::<Layout>().unwrap_err().to_string();
            assert!(message.contains("expected a layout") && message.contains(text), "{message}");
        }
    }

    #[test]
    fn several_processes_are_refused_by_name() {
        let message = Layout { threads: 2, processes: 2, nodes: 1 }.check().unwrap_err().to_string();
        assert!(message.contains("2x2x1") && message.contains("mpiexec") && message.contains("4x1x1"), "{message}");
        assert!(Layout { threads: usize::MAX, processes: 2, nodes: 1 }.check().is_err());
    }
}
