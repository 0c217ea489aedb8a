//! Binds threads to cores, for servers that are measured on one core.

/// Binds the calling thread, and the threads that it starts, to a core.
pub fn pin(core: usize) {
    // SAFETY: an all-zero cpu_set_t is an empty set; the two calls get pointers to a local of the right type and size.
    let bound = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(core, &mut set);
        libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set)
    };
    assert_eq!(bound, 0, "core {core} cannot be had");
}
