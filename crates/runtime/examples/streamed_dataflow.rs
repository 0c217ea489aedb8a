//! Streamed dataflow (paper 001, table 4: "spawned", figure 15 a): pictures pass through stages that are handlers at
//! ports.
//!
//! ```text
//! camera -> [blur] -> smooth --> [edges]  -> strengths --+
//!                        |                               join -> [report] -> reports
//!                        +-----> [levels] -> means ------+
//! ```
//!
//! A message starts a handler; no thread or task belongs to one picture. The first port has few places, so the camera
//! waits when the stages fall behind. The stream forks after the blur and joins again. Picture n of one branch meets
//! picture n of the other branch, because each branch has one turn and so keeps the order.
//!
//! Checked: every report, by comparison with the same arithmetic without stages. `cargo run --release -p lehr-runtime
//! --example streamed_dataflow`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

use std::sync::Arc;
use std::time::Instant;

use lehr_runtime::{Dispatcher, Overflow, Port, block_on, join};

const PICTURES: usize = 5_000;
const SIDE: usize = 32;

type Picture = Vec<u16>;

/// Returns picture number `n`, which is the same in every run.
fn shoot(n: usize) -> Picture {
    (0..SIDE * SIDE).map(|i| ((i * i + 31 * n * (i % 7 + 1)) % 251) as u16).collect()
}

/// Returns the picture in which each pixel is the mean of itself and its neighbours; the border is repeated beyond the
/// edge.
fn blur(picture: &Picture) -> Picture {
    let at = |x: usize, y: usize| u32::from(picture[y.min(SIDE - 1) * SIDE + x.min(SIDE - 1)]);
    let mean = |i: usize| {
        let (x, y) = (i % SIDE, i / SIDE);
        let sum = at(x, y) + at(x + 1, y) + at(x.saturating_sub(1), y) + at(x, y + 1) + at(x, y.saturating_sub(1));
        (sum / 5) as u16
    };
    (0..SIDE * SIDE).map(mean).collect()
}

/// Returns the sum of the differences between neighbouring pixels in a row.
fn edges(picture: &Picture) -> u64 {
    picture.chunks(SIDE).flat_map(|row| row.windows(2)).map(|pair| u64::from(pair[0].abs_diff(pair[1]))).sum()
}

fn levels(picture: &Picture) -> u64 {
    picture.iter().map(|&pixel| u64::from(pixel)).sum()
}

fn main() {
    let start = Instant::now();
    let expected: Vec<(usize, u64, u64)> = (0..PICTURES)
        .map(|n| {
            let smooth = blur(&shoot(n));
            (n, edges(&smooth), levels(&smooth))
        })
        .collect();
    let alone = start.elapsed();

    let dispatcher = Dispatcher::new(2).unwrap();
    let camera: Port<(usize, Picture)> = Port::bounded(16, Overflow::Wait);
    let (to_edges, to_levels) = (Port::new(), Port::new());
    let (strengths, means, reports) = (Port::new(), Port::new(), Port::new());

    let start = Instant::now();
    let (left, right) = (to_edges.clone(), to_levels.clone());
    let blurring = camera.on(dispatcher.handle(), 1, move |(n, picture): (usize, Picture)| {
        let smooth = Arc::new(blur(&picture));
        // Both branches share the picture; nothing is copied.
        left.post((n, smooth.clone())).unwrap();
        right.post((n, smooth)).unwrap();
        async {}
    });
    let out = strengths.clone();
    let edging = to_edges.on(dispatcher.handle(), 1, move |(n, picture): (usize, Arc<Picture>)| {
        out.post((n, edges(&picture))).unwrap();
        async {}
    });
    let out = means.clone();
    let levelling = to_levels.on(dispatcher.handle(), 1, move |(n, picture): (usize, Arc<Picture>)| {
        out.post((n, levels(&picture))).unwrap();
        async {}
    });
    let out = reports.clone();
    let reporting = join((&strengths, &means))
        .on(dispatcher.handle(), 1, move |((n, strength), (m, mean)): ((usize, u64), (usize, u64))| {
            assert_eq!(n, m, "the branches keep step");
            out.post((n, strength, mean)).unwrap();
            async {}
        })
        .unwrap();
    block_on(async {
        for n in 0..PICTURES {
            camera.post_wait((n, shoot(n))).await.unwrap();
        }
        let seen = reports.take(PICTURES).await.unwrap();
        assert_eq!(seen, expected, "every picture once, in order, with the same figures");
    });
    let streamed = start.elapsed();
    drop((blurring, edging, levelling, reporting));
    println!(
        "{PICTURES} pictures through 4 stages: {:.0} pictures/s streamed on 2 workers, {:.0} one after the other",
        PICTURES as f64 / streamed.as_secs_f64(),
        PICTURES as f64 / alone.as_secs_f64()
    );
}
