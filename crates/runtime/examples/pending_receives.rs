//! Measures the cost of many waiting receives: the bytes for each receive, and the time to post to all of them. The
//! kinds are `once` (a one-time receiver) and `task` (a task that awaits a receive). The slot in the port's list takes
//! 48 bytes. The other bytes are the cell of the handler or of the task, and unused memory of the list.
//!
//! `cargo run --release -p lehr-runtime --example pending_receives -- once 10000000`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

use std::time::Instant;

use lehr_runtime::{Dispatcher, Port, block_on};

/// Returns the resident memory of this process in bytes; `None` on systems other than Linux.
fn resident() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    pages.split_whitespace().nth(1)?.parse::<u64>().ok().map(|pages| pages * 4096)
}

fn bytes_each(before: Option<u64>, count: usize) -> String {
    let grown = before.zip(resident()).map(|(before, now)| now.saturating_sub(before) / count as u64);
    grown.map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes} bytes each"))
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let kind = arguments.next().unwrap_or_else(|| "once".to_owned());
    let count = arguments.next().map_or(1_000_000, |text| text.parse().expect("a number of receives"));
    let dispatcher = Dispatcher::new(2).unwrap();
    let port = Port::<usize>::new();
    // Each run measures only one kind, because memory that an earlier kind gave back would hide the memory that the
    // next kind takes.
    let before = resident();
    let start = Instant::now();
    match kind.as_str() {
        "once" => {
            for _ in 0..count {
                let receiver = port.once(dispatcher.handle(), |item| {
                    std::hint::black_box(item);
                });
                receiver.detach();
            }
        }
        "task" => {
            for _ in 0..count {
                let port = port.clone();
                dispatcher.spawn(async move { std::hint::black_box(port.receive().await).is_ok() }).detach();
            }
            while port.waiting() < count {
                std::thread::yield_now();
            }
        }
        other => panic!("expected `once` or `task`, found `{other}`"),
    }
    println!("{count} receives wait, of kind {kind}: {}, after {:.2?}", bytes_each(before, count), start.elapsed());
    complete(&port, count);
}

/// Posts an item for every receive, and waits until all items have been fetched.
fn complete(port: &Port<usize>, count: usize) {
    let start = Instant::now();
    (0..count).for_each(|i| port.post(i).unwrap());
    port.close();
    block_on(port.drained());
    let time = start.elapsed();
    println!("  posted to and fetched by all in {time:.2?}, {:.0} ns each", time.as_nanos() as f64 / count as f64);
}
