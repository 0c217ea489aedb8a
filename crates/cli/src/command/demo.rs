//! `lehr demo`: points that are built in.

use lehr_data::{Points, datasets};

use crate::arguments::Dataset;

/// The points of a data set that is inside the program.
pub fn points(dataset: Dataset) -> Points {
    match dataset {
        Dataset::Census => datasets::census_blocks(),
    }
}
