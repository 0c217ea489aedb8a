//! The collectives: calls that all ranks make together. Between threads each is one
//! exchange (`fabric/threads/exchange.rs`); on every other fabric it is made of messages (`steps.rs`). Both ways give the same bits.

mod all_reduce;
mod barrier;
mod broadcast;
mod gather;
mod steps;
