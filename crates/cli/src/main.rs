//! The `lehr` command.

fn main() {}
