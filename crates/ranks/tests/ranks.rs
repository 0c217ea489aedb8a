//! Behaviour of ranks.
