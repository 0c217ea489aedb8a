//! Tests of data sources against stand-ins on this machine.

mod fetching;
mod pubchem;
mod stand_in;
mod webhook;

use lehr_runtime::{Builder, Clock, Dispatcher};

/// Returns workers with a virtual clock that the test advances.
pub fn workers(count: usize) -> (Dispatcher, Clock) {
    let clock = Clock::virtual_time();
    (Builder::new().threads(count).clock(clock.clone()).start().unwrap(), clock)
}

/// Waits for a future, and advances the virtual clock meanwhile, so that pauses are over at once.
pub async fn while_time_passes<T>(clock: &Clock, future: impl Future<Output = T>) -> T {
    let mut future = std::pin::pin!(future);
    std::future::poll_fn(|polling| match future.as_mut().poll(polling) {
        std::task::Poll::Ready(value) => std::task::Poll::Ready(value),
        std::task::Poll::Pending => {
            clock.advance_to_next();
            polling.waker().wake_by_ref();
            std::task::Poll::Pending
        }
    })
    .await
}
