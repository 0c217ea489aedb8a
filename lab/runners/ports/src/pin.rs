//! Binds threads to cores, which is the best form of peers that have a thread for each rank.

/// Binds the calling thread to a core; numbers beyond the last core begin again at the first.
pub fn pin(core: usize) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    // SAFETY: an all-zero cpu_set_t is an empty set; the two calls get pointers to a local of the right type and size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core % cores, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set);
    }
}
