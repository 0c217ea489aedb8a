//! The four patterns, and the fixed computation between messages.

use std::hint::black_box;

/// Steps of the generator in one unit.
pub const UNIT_STEPS: u64 = 960;

/// `count` units of computation: dependent steps of a 64-bit linear congruential generator. The same in C, Go and the lab's own side.
///
/// The constants are hidden from the compiler: where it knows them it folds eight steps into one multiplication, and a unit lasts an eighth.
#[inline(never)]
pub fn units(mut x: u64, count: u32) -> u64 {
    let (factor, increment) = black_box((6364136223846793005_u64, 1442695040888963407_u64));
    for _ in 0..u64::from(count) * UNIT_STEPS {
        x = x.wrapping_mul(factor).wrapping_add(increment);
    }
    black_box(x)
}

/// Binds the calling thread to a core, counted round the cores there are.
pub fn pin(core: usize) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // SAFETY: an all-zero cpu_set_t is an empty set; the two calls get pointers to a local of the right type and size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core % cores, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set);
    }
}

/// How ranks meet their messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// P long-running ranks, each posting and then receiving.
    Rendezvous,
    /// Every message (or pair of messages) starts a fresh handler.
    Spawned,
}

impl Form {
    /// The form of that name.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "rendezvous" => Some(Self::Rendezvous),
            "spawned" => Some(Self::Spawned),
            _ => None,
        }
    }
}

/// Who posts to whom in a stage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Nobody: the computation alone, from which overheads are counted.
    None,
    /// Each to itself.
    Pipeline,
    /// Each to the right.
    Shift,
    /// Rendezvous: a right shift, then a left one. Spawned: two messages to the right, received as two items.
    TwoShifts,
    /// Each to both neighbours, receiving one from each.
    Exchange,
}

impl Pattern {
    /// The pattern of that name.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            "none" => Some(Self::None),
            "pipeline" => Some(Self::Pipeline),
            "shift" => Some(Self::Shift),
            "two-shifts" => Some(Self::TwoShifts),
            "exchange" => Some(Self::Exchange),
            _ => None,
        }
    }
}

/// What is to be run.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Rendezvous or spawned.
    pub form: Form,
    /// Who posts to whom.
    pub pattern: Pattern,
    /// Logical ranks.
    pub ranks: usize,
    /// Worker threads, where the engine has workers.
    pub workers: usize,
    /// Units of computation a stage.
    pub units: u32,
    /// Stages.
    pub stages: usize,
}

impl Run {
    /// Whether engines with a thread a rank can do this: they have no workers, and so no form with fewer threads than ranks and cores.
    pub fn is_for_threads(&self) -> bool {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        self.form == Form::Rendezvous && self.workers >= self.ranks.min(cores)
    }
}
