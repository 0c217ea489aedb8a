//! `lehr demo`: points that are built in.

use lehr_data::{Points, datasets};

use crate::arguments::Dataset;

/// The points of a data set that is inside the program.
pub fn points(dataset: Dataset) -> Points {
    match dataset {
        Dataset::Census => datasets::census_blocks(),
    }
}

/// What the rows are, and where they come from, in the report's words.
pub fn subject(dataset: Dataset) -> (&'static str, &'static str) {
    match dataset {
        Dataset::Census => {
            ("census block", "Census blocks of Nevada, Utah and West Virginia, 2020, weighted by inhabitants")
        }
    }
}
