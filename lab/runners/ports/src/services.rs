//! Request and response: clients that each send requests to one service, one at a time.

use std::future::Future;
use std::time::Instant;

/// A client's connection to the service.
pub trait Client: Clone + Send + Sync + 'static {
    /// Sends a request and waits for the reply, which is the request plus one.
    fn ask(&self, value: u64) -> impl Future<Output = u64> + Send;
}

/// Returns the seconds until every client, each a task of the present tokio runtime, has made `each` requests.
pub async fn clients_on_tokio(clients: usize, each: usize, client: impl Client) -> f64 {
    let start = Instant::now();
    let tasks: Vec<_> = (0..clients)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move {
                let mut x = 0;
                for _ in 0..each {
                    x = client.ask(x).await;
                }
                x
            })
        })
        .collect();
    for task in tasks {
        assert_eq!(task.await.expect("a client panicked"), each as u64);
    }
    start.elapsed().as_secs_f64()
}
