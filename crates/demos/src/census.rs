//! Census blocks: their description, and the workflows that cluster them.

use lehr_report::Subject;

pub use lehr_data::datasets::census_blocks as points;

/// The workflow, as readable text.
pub const WORKFLOW: &str = include_str!("../workflows/census.toml");

/// The same workflow, spread over two nodes.
pub const TWO_NODES: &str = include_str!("../workflows/two-nodes.toml");

/// The kind and the source of the rows, for the report.
pub const SUBJECT: Subject<'static> = Subject {
    row: "census block",
    about: "Census blocks of Nevada, Utah and West Virginia, 2020, weighted by inhabitants",
};
