//! The collectives: calls that all ranks make together. Between threads, each collective is one exchange
//! (`fabric/threads/exchange.rs`) or goes over lanes (`neighbours.rs`). On every other fabric it consists of messages
//! (`steps.rs`). A collective's results have the same bits whether it is an exchange, goes over lanes or consists of
//! messages.

mod all_gather;
mod all_reduce;
mod all_to_all;
mod barrier;
mod broadcast;
mod exchange;
mod gather;
mod neighbours;
mod notices;
mod pace;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod shift;
mod steps;

pub(crate) use notices::Calls;
pub(crate) use pace::Pace;
