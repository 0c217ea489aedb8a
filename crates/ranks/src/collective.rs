//! The collectives: calls that all ranks make together. Between threads each is one
//! exchange (`fabric/threads/exchange.rs`); on every other fabric it is made of messages (`steps.rs`). Both ways give the same bits.

mod all_gather;
mod all_reduce;
mod all_to_all;
mod barrier;
mod broadcast;
mod exchange;
mod gather;
mod reduce;
mod reduce_scatter;
mod scan;
mod scatter;
mod shift;
mod steps;
