//! Measures Lehr beside its peers and beside the limits of the machine.

fn main() {}
