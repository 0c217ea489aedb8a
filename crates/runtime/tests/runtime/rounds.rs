//! Behaviours of the catalogue that are repeated many times. The tests run as many rounds as some seconds allow; `make
//! soak` runs the numbers of rounds in the catalogue.

use std::sync::atomic::{AtomicBool, Ordering};

use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, all, block_on, join};

/// Runs two joins that share a port, with `posts` items for this port and three quarters as many for each other port.
/// No item is lost, each port is consumed in order, and both joins make progress (23).
pub fn competing_joins(dispatcher: &Dispatcher, posts: usize) {
    let ports: [Port<usize>; 3] = std::array::from_fn(|_| Port::new());
    let consumer = |a: usize, b: usize| {
        let (a, b) = (ports[a].clone(), ports[b].clone());
        dispatcher.spawn(async move {
            let mut pairs = Vec::new();
            while let Ok(pair) = join((&a, &b)).await {
                pairs.push(pair);
            }
            pairs
        })
    };
    let (pq, qr) = (consumer(0, 1), consumer(1, 2));
    let others = posts / 4 * 3;
    std::thread::scope(|scope| {
        for (seed, port) in ports.iter().enumerate() {
            // Neither join can take all items of q, because p and r have only three quarters as many items.
            let posts = if seed == 1 { posts } else { others };
            scope.spawn(move || {
                // The numbers of a xorshift generator make the posters get out of step.
                let mut arbitrary = seed as u64 + 1;
                for item in 0..posts {
                    port.post(item).unwrap();
                    arbitrary ^= arbitrary << 13;
                    arbitrary ^= arbitrary >> 7;
                    arbitrary ^= arbitrary << 17;
                    (0..arbitrary % 16).for_each(|_| std::hint::spin_loop());
                }
            });
        }
    });
    super::until(|| ports[1].is_empty());
    ports.iter().for_each(Port::close);
    let (pq, qr) = (block_on(pq).unwrap(), block_on(qr).unwrap());
    assert_eq!(pq.len() + qr.len(), posts, "every item of q was paired once");
    assert!(!pq.is_empty() && !qr.is_empty(), "both got on");
    assert!(pq.iter().map(|pair| pair.0).eq(0..pq.len()), "p was consumed in its order");
    assert!(qr.iter().map(|pair| pair.1).eq(0..qr.len()), "r was consumed in its order");
    assert!(pq.windows(2).all(|pairs| pairs[0].1 < pairs[1].1), "q was consumed in its order");
    assert!(qr.windows(2).all(|pairs| pairs[0].0 < pairs[1].0), "q was consumed in its order");
    let mut q: Vec<usize> = pq.iter().map(|pair| pair.1).chain(qr.iter().map(|pair| pair.0)).collect();
    q.sort_unstable();
    assert!(q.into_iter().eq(0..posts), "nothing of q was lost or repeated");
    assert_eq!((ports[0].len(), ports[2].len()), (others - pq.len(), others - qr.len()), "the rest is still there");
}

/// Posts four items at once from two tasks to a take of two, `rounds` times. The take takes once, and two items are
/// left (25).
pub fn takes_of_two(dispatcher: &Dispatcher, rounds: usize) {
    let handle = dispatcher.handle().clone();
    let driver = dispatcher.spawn(async move {
        for _ in 0..rounds {
            let port = Port::new();
            let sources: Vec<_> = (0..2)
                .map(|source| {
                    let port = port.clone();
                    handle.spawn(async move { (0..2).for_each(|item| port.post((source, item)).unwrap()) })
                })
                .collect();
            let taken = port.take(2).await.unwrap();
            assert!(all(sources).await.iter().all(Result::is_ok));
            assert_eq!((taken.len(), port.len(), port.waiting()), (2, 2, 0));
        }
    });
    block_on(driver).unwrap();
}

/// Starts and stops interleaves with two branches on one port, `rounds` times, while another thread posts to the port.
/// There is no deadlock, and no item is lost (18).
pub fn interleaves_on_a_busy_port(dispatcher: &Dispatcher, rounds: usize) {
    let (port, is_over) = (Port::new(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let poster = scope.spawn(|| {
            let mut posted = 0;
            while !is_over.load(Ordering::SeqCst) {
                super::until(|| port.len() < 1_000 || is_over.load(Ordering::SeqCst));
                port.post(posted).unwrap();
                posted += 1;
            }
            posted
        });
        let mut handled = 0;
        for _ in 0..rounds {
            let handlers = Handlers::new()
                .exclusive(port.branch().when(|item| item % 2 == 0), |mut count: Exclusive<usize>, _: usize| {
                    *count += 1;
                    async {}
                })
                .exclusive(&port, |mut count: Exclusive<usize>, _: usize| {
                    *count += 1;
                    async {}
                });
            let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
            handled += block_on(interleave.stop()).unwrap();
        }
        is_over.store(true, Ordering::SeqCst);
        let posted = poster.join().unwrap();
        assert_eq!(handled + port.drain().len(), posted);
        assert_eq!(port.waiting(), 0);
    });
}
