//! What waits in a queue. Admission policies, priorities and suspension will stand in front of it, here.

use crate::parallel::Region;
use crate::sync::Arc;

/// A piece of work.
pub(crate) enum Job {
    /// A task to be polled once.
    Task(async_task::Runnable),
    /// A parallel region that would like help; nothing is lost if nobody comes.
    Help(Arc<Region>),
}

impl Job {
    pub(crate) fn run(self) {
        match self {
            Self::Task(runnable) => {
                runnable.run();
            }
            Self::Help(region) => region.help(),
        }
    }
}
