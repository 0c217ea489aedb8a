use lehr_runtime::{Builder, StartError, block_on};

/// The cores that this process may run on.
fn cores() -> Vec<usize> {
    match Builder::new().cores([usize::MAX]).start() {
        Err(StartError::NoSuchCore { core: usize::MAX, available }) => available,
        other => panic!("no machine has such a core: {other:?}"),
    }
}

// 65
#[test]
fn workers_are_bound_to_the_cores_of_the_list_in_turn() {
    let cores = cores();
    let last = *cores.last().unwrap();
    for threads in [1, 2, 8] {
        let dispatcher = Builder::new().threads(threads).cores([last]).start().unwrap();
        assert_eq!((dispatcher.threads(), dispatcher.handle().is_oversubscribed()), (threads, threads > 1));
        for _ in 0..20 {
            let allowed = block_on(dispatcher.spawn(async { allowed() })).unwrap();
            assert_eq!(allowed, allowed.as_ref().map(|_| last.to_string()));
        }
    }
    // Without a number, a worker for each core of the list.
    let every = Builder::new().cores(cores.clone()).start().unwrap();
    assert_eq!(every.threads(), cores.len());
    let missing = Builder::new().cores([last, 1_000_000]).start().unwrap_err();
    assert!(missing.to_string().starts_with("core 1000000 asked for; this process may run on ["), "{missing}");
}

/// The cores that the calling thread may run on, as the system lists them; nothing where it does not say.
fn allowed() -> Option<String> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(line.trim().to_owned())
}
