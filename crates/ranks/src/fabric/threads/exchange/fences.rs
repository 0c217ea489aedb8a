//! Two fences of unequal cost: a light fence for a rank that publishes something, and a heavy fence for a rank that
//! falls asleep.
//!
//! A rank that publishes something (a message, an arrival, an end) then looks for sleepers. A rank that is about to
//! sleep announces it, and then looks at the published values. A fence between the two steps of each rank makes sure
//! that at least one of two such ranks sees what the other did. A full fence waits until the core's stores have left
//! it, which takes as long as a message between two cores. A rank that only sends would spend half its time in full
//! fences. Where ranks spin first, sleeping is rare and slow anyway, so the sleeper pays the whole cost. The *heavy*
//! fence makes the system run a full fence on every running thread of the process. The *light* fence only keeps the
//! compiler from swapping the two steps.
//!
//! Both fences are full fences if the system has no call for a heavy fence (`membarrier` on Linux). Both fences are
//! also full if ranks do not spin, and therefore sleep in each wait, and under the model checkers.

#![allow(unsafe_code, reason = "a call of the system")]

use lehr_sync::{Ordering, fence};

/// The fences that a group of ranks uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fences {
    /// The fence of a rank that falls asleep and the fence of a rank that publishes something are both full.
    Even,
    /// The fence is heavy for a rank that falls asleep, and light for a rank that publishes something.
    Uneven,
}

impl Fences {
    /// Returns the fences for a group; `spins` says whether its ranks spin before they sleep.
    pub(super) fn new(spins: bool) -> Self {
        if spins && system::is_there() { Self::Uneven } else { Self::Even }
    }

    /// Runs the fence between publishing something and looking for sleepers.
    #[inline]
    pub(super) fn light(self) {
        match self {
            // SeqCst: orders what the caller publishes before its look at which ranks sleep. Pairs with the fence in
            // `heavy`.
            Self::Even => fence(Ordering::SeqCst),
            Self::Uneven => system::light(),
        }
    }

    /// Runs the fence between raising a flag and the last look before sleeping.
    pub(super) fn heavy(self) {
        // SeqCst: orders the flag before the look at what was published. Pairs with the fence in `light`, or with the
        // `heavy` fence of another rank that falls asleep.
        fence(Ordering::SeqCst);
        if self == Self::Uneven {
            system::heavy();
        }
    }
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
mod system {
    use lehr_sync::{OnceLock, Ordering, compiler_fence};

    fn membarrier(command: libc::c_int) -> libc::c_long {
        // SAFETY: the call takes numbers, and accesses no memory of this process.
        unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
    }

    /// Whether the system supports the call for a heavy fence. The process must register for this call once.
    pub(super) fn is_there() -> bool {
        static IS_THERE: OnceLock<bool> = OnceLock::new();
        *IS_THERE.get_or_init(|| membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
    }

    pub(super) fn light() {
        // SeqCst: orders only what the compiler may swap. The processor's part is done by another rank's `heavy`,
        // wherever this thread is at that time. If this thread has already published, the other rank sees it; otherwise
        // this thread will see the other rank's flag.
        compiler_fence(Ordering::SeqCst);
    }

    pub(super) fn heavy() {
        let done = membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
        assert_eq!(done, 0, "a process that has registered may call it");
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, miri)))))]
mod system {
    pub(super) fn is_there() -> bool {
        false
    }

    pub(super) fn light() {
        unreachable!("chosen only where the system has it")
    }

    pub(super) fn heavy() {
        unreachable!("chosen only where the system has it")
    }
}
