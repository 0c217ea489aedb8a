//! The fabric of ranks in one process. Messages between two ranks go to the receiver's inbox or through a channel
//! (`mail`). Collectives have their own path, on which messages stay where they are written (`exchange`).

pub(crate) mod exchange;
pub(crate) mod mail;

use lehr_sync::Arc;

use crate::communicator::Communicator;

/// Returns the communicators of a new group of `size` ranks in this process, in order of rank. `may_spin` says that
/// every rank has its own core.
///
/// This function is for callers that start ranks without [`run`](crate::run).
pub fn communicators(size: usize, may_spin: bool) -> Vec<Communicator> {
    let exchanges = exchange::endpoints(&(0..size).collect::<Vec<_>>(), may_spin);
    let mails = mail::endpoints(size, may_spin);
    mails
        .into_iter()
        .zip(exchanges)
        .map(|(mail, exchange)| Communicator::on_threads(Arc::new(mail), exchange))
        .collect()
}

/// Creates the endpoints of a new fabric, one for each of `size` ranks. They lack the path for collectives, so that
/// collectives use messages, as on any other fabric.
pub fn endpoints(size: usize, may_spin: bool) -> Vec<impl super::Fabric + 'static> {
    mail::endpoints(size, may_spin)
}
