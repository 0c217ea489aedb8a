//! Tests of workflows against services: values between steps, retries, cancellation and resuming, on one node and on
//! two.

mod behaviours {
    mod bench;
    mod between_nodes;
    mod caching;
    mod conditions;
    mod mining;
    mod notices;
    mod planning;
    mod running;
    mod scheduled;
    mod stopping;
}
