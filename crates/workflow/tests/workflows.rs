//! Workflows against services: values between steps, retries, cancellation, resuming, on one node and on two.

mod behaviours {
    mod bench;
    mod between_nodes;
    mod mining;
    mod planning;
    mod running;
    mod stopping;
}
