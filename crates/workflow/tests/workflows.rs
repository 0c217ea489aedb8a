//! Tests of workflows against services: values between steps, retries, cancellation and resuming, on one node and on
//! two.

mod behaviours {
    mod bench;
    mod between_nodes;
    mod mining;
    mod planning;
    mod running;
    mod stopping;
}
