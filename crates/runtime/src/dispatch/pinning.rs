//! Places workers on cores that the user names, or each worker in a share of the cores.
//!
//! The available cores are queried before any thread starts. So a list that names a core that this machine lacks is an
//! error. Shares are only a hint: if the system refuses them, the system decides where the workers run.

use super::StartError;

/// The placement of workers on cores.
#[derive(Clone, Debug, Default)]
pub(super) enum Pinning {
    /// The system decides where workers run.
    #[default]
    Free,
    /// Each worker runs on one core of a list: worker `i` on core `i` of the list, which begins again at its end.
    Listed(Vec<usize>),
    /// Each worker runs within its share of the cores: worker `i` in share `first + i` of `parts`.
    Shares { first: usize, parts: usize },
}

impl Pinning {
    /// Returns the number of different cores in a list; `None` if workers are not each pinned to one core.
    pub(super) fn distinct(&self) -> Option<usize> {
        let Self::Listed(cores) = self else { return None };
        let mut cores = cores.clone();
        cores.sort_unstable();
        cores.dedup();
        (!cores.is_empty()).then_some(cores.len())
    }

    /// Checks that this process may run on all cores of a list.
    ///
    /// # Errors
    /// Returns [`StartError::NoSuchCore`] for the first missing core.
    pub(super) fn check(&self) -> Result<(), StartError> {
        let Self::Listed(cores) = self else { return Ok(()) };
        if cores.is_empty() {
            return Ok(());
        }
        let available: Vec<usize> =
            core_affinity::get_core_ids().unwrap_or_default().into_iter().map(|core| core.id).collect();
        match cores.iter().find(|core| !available.contains(core)) {
            Some(&core) => Err(StartError::NoSuchCore { core, available }),
            None => Ok(()),
        }
    }

    /// Returns the core to which a worker is bound, if it is bound to one core. If there are more workers than cores,
    /// the list is used again from the start.
    pub(super) fn core_of(&self, worker: usize) -> Option<usize> {
        let Self::Listed(cores) = self else { return None };
        (!cores.is_empty()).then(|| cores[worker % cores.len()])
    }

    /// Returns the share of the cores for each of this many workers; empty if all workers share all cores.
    pub(super) fn shares(&self, workers: usize) -> Vec<Vec<usize>> {
        let Self::Shares { first, parts } = *self else { return Vec::new() };
        let cores = shares::cores();
        if parts < 2 || cores.len() < parts || first + workers > parts {
            return Vec::new();
        }
        (first..first + workers).map(|part| share(&cores, part, parts).to_vec()).collect()
    }
}

/// Returns share number `part` of `parts` shares of the cores. With at least as many cores as parts, no share is empty
/// and the sizes of the shares differ by at most one.
fn share(cores: &[usize], part: usize, parts: usize) -> &[usize] {
    &cores[part * cores.len() / parts..(part + 1) * cores.len() / parts]
}

/// Binds the calling thread to a core; returns false if the system refuses.
pub(super) fn pin(core: usize) -> bool {
    core_affinity::set_for_current(core_affinity::CoreId { id: core })
}

pub(super) use shares::keep_to;

#[cfg(target_os = "linux")]
mod shares {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// Returns the cores that the calling thread may run on; empty if the system does not report them. Logical cores of
    /// the same hardware core are adjacent.
    pub(super) fn cores() -> Vec<usize> {
        let Ok(allowed) = sched_getaffinity(None) else { return Vec::new() };
        let mut cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
        cores.sort_by_cached_key(|core| (first_of_siblings(*core), *core));
        cores
    }

    /// Returns the first logical core of the same hardware core; the core itself if the system does not report it.
    fn first_of_siblings(core: usize) -> usize {
        let list = std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list"));
        // The list has a form such as "3,19" or "6-7".
        let first = list.ok().and_then(|list| list.trim().split([',', '-']).next()?.parse().ok());
        first.unwrap_or(core)
    }

    /// Restricts the calling thread to these cores. If the system refuses, the thread keeps the cores that it was
    /// allowed before.
    pub(in crate::dispatch) fn keep_to(cores: &[usize]) {
        let mut set = CpuSet::new();
        cores.iter().for_each(|core| set.set(*core));
        let _ = sched_setaffinity(None, &set);
    }
}

#[cfg(not(target_os = "linux"))]
mod shares {
    /// Only Linux binds a thread to more than one core.
    pub(super) fn cores() -> Vec<usize> {
        Vec::new()
    }

    pub(in crate::dispatch) fn keep_to(_cores: &[usize]) {}
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_one_size_and_nobody_has_none() {
        let cores: Vec<usize> = (0..13).collect();
        for parts in 2..=13 {
            let shares: Vec<&[usize]> = (0..parts).map(|part| share(&cores, part, parts)).collect();
            assert_eq!(shares.concat(), cores);
            let sizes = shares.iter().map(|share| share.len());
            let (least, most) = (sizes.clone().min().unwrap(), sizes.max().unwrap());
            assert!(least >= 1 && most - least <= 1, "{parts} parts: {least} to {most}");
        }
    }
}
