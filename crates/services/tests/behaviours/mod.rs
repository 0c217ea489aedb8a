//! The guarantees of services. The tests in the files `calls`, `shared`, `subscriptions` and `lives` are the same for
//! every way in which a reference reaches a service.

pub mod samples;

mod calls;
pub mod deadlines;
mod lives;
pub mod partners;
mod shared;
mod subscriptions;

use std::pin::Pin;
use std::task::Poll;

use lehr_services::{Answered, Events, Fault, Format, Host, Link, Message, Options, Pending, Subscribe};

/// A link to the service that is at a path when the link is used, as a network edge finds it.
#[derive(Clone, Debug)]
pub struct Resolving {
    host: Host,
    path: String,
}

impl Resolving {
    pub fn new(host: &Host, path: &str) -> Self {
        Self { host: host.clone(), path: path.to_owned() }
    }
}

impl Link for Resolving {
    fn send(&self, message: Message) -> Pending<'static, Result<Answered, Fault>> {
        match self.host.endpoint(&self.path) {
            Ok(endpoint) => endpoint.send(message),
            Err(fault) => Box::pin(std::future::ready(Err(fault))),
        }
    }

    fn subscribe(
        &self,
        wishes: Subscribe,
        accept: Format,
        options: Options,
    ) -> Pending<'static, Result<Box<dyn Events>, Fault>> {
        match self.host.endpoint(&self.path) {
            Ok(endpoint) => endpoint.subscribe(wishes, accept, options),
            Err(fault) => Box::pin(std::future::ready(Err(fault))),
        }
    }
}

/// A boxed future, so that futures of different types can be polled together.
pub type Any<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// Polls futures in order, again and again, until all have ended.
pub async fn together<T>(mut futures: Vec<Any<'_, T>>) -> Vec<T> {
    let mut outputs: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(move |polling| {
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            if output.is_none()
                && let Poll::Ready(value) = future.as_mut().poll(polling)
            {
                *output = Some(value);
            }
        }
        if outputs.iter().all(Option::is_some) {
            Poll::Ready(outputs.iter_mut().map(|output| output.take().unwrap()).collect())
        } else {
            Poll::Pending
        }
    })
    .await
}

/// Polls a future once, so that its request is sent.
pub async fn begin<T>(future: &mut Any<'_, T>) {
    std::future::poll_fn(|polling| {
        assert!(future.as_mut().poll(polling).is_pending(), "it has to wait");
        Poll::Ready(())
    })
    .await;
}
