//! Workers on cores that the user names.
//!
//! Which cores there are is asked before any thread starts, so that a list written for another machine is an error and not a
//! hint that is passed over.

use super::StartError;

/// Cores to be given to the workers in turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Pinning {
    cores: Vec<usize>,
}

impl Pinning {
    pub(super) fn new(cores: Vec<usize>) -> Self {
        Self { cores }
    }

    /// How many different cores there are to run on; none if workers are not pinned.
    pub(super) fn distinct(&self) -> Option<usize> {
        let mut cores = self.cores.clone();
        cores.sort_unstable();
        cores.dedup();
        (!cores.is_empty()).then_some(cores.len())
    }

    /// Whether this process may run on all of them.
    ///
    /// # Errors
    /// [`StartError::NoSuchCore`] for the first that is missing.
    pub(super) fn check(&self) -> Result<(), StartError> {
        if self.cores.is_empty() {
            return Ok(());
        }
        let available: Vec<usize> =
            core_affinity::get_core_ids().unwrap_or_default().into_iter().map(|core| core.id).collect();
        match self.cores.iter().find(|core| !available.contains(core)) {
            Some(&core) => Err(StartError::NoSuchCore { core, available }),
            None => Ok(()),
        }
    }

    /// The core of one worker: the list is gone through again if there are more workers than cores in it.
    pub(super) fn core_of(&self, worker: usize) -> Option<usize> {
        (!self.cores.is_empty()).then(|| self.cores[worker % self.cores.len()])
    }
}

/// Binds the calling thread to a core; false if the system refuses.
pub(super) fn pin(core: usize) -> bool {
    core_affinity::set_for_current(core_affinity::CoreId { id: core })
}
