//! The collectives: calls that all ranks make together. Each is one exchange of the fabric; see `fabric.rs` for its cost.

mod all_reduce;
mod barrier;
mod broadcast;
mod gather;
