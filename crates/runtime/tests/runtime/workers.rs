use lehr_runtime::{Builder, StartError, block_on};

/// Returns the cores that this process may run on.
fn cores() -> Vec<usize> {
    match Builder::new().cores([usize::MAX]).start() {
        Err(StartError::NoSuchCore { core: usize::MAX, available }) => available,
        other => panic!("no machine has such a core: {other:?}"),
    }
}

// Catalogue: 65
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
    // Without a number of threads, there is a worker for each core of the list.
    let every = Builder::new().cores(cores.clone()).start().unwrap();
    assert_eq!(every.threads(), cores.len());
    let missing = Builder::new().cores([last, 1_000_000]).start().unwrap_err();
    assert!(missing.to_string().starts_with("core 1000000 requested; this process may run on ["), "{missing}");
}

// On other systems, no thread is bound.
#[cfg(target_os = "linux")]
#[test]
fn workers_apart_have_shares_of_the_cores_that_have_nothing_in_common() {
    let cores = cores();
    let all = allowed();
    let of = |first: usize, parts: usize, threads: usize| -> Vec<Option<String>> {
        let dispatcher = Builder::new().threads(threads).apart(first, parts).start().unwrap();
        let (told, heard) = std::sync::mpsc::channel();
        // All closures wait at a barrier, so that each worker runs one of them.
        let barrier = std::sync::Arc::new(std::sync::Barrier::new(threads));
        for _ in 0..threads {
            let (told, barrier) = (told.clone(), barrier.clone());
            let task = async move {
                barrier.wait();
                told.send(allowed()).unwrap();
            };
            dispatcher.spawn(task).detach();
        }
        drop(told);
        let mut shares: Vec<_> = heard.iter().collect();
        shares.sort();
        shares
    };
    // With one part, more parts than cores, or workers beyond the last part, every worker may run on all cores.
    for (first, parts, threads) in [(0, 1, 1), (0, cores.len() + 1, 2), (1, 2, 2)] {
        assert!(of(first, parts, threads).iter().all(|share| *share == all), "{first} of {parts}");
    }
    if cores.len() >= 2 {
        let shares = of(0, 2, 2);
        assert!(shares[0] != shares[1] && shares.iter().all(|share| *share != all), "{shares:?}");
        // Two processes with one thread each get the two halves.
        assert_eq!([of(0, 2, 1), of(1, 2, 1)].concat().iter().collect::<std::collections::BTreeSet<_>>().len(), 2);
    }
}

/// Returns the cores that the calling thread may run on, as the system lists them; `None` if the system has no such
/// list.
fn allowed() -> Option<String> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    Some(line.trim().to_owned())
}
