//! What methods take: the rows of a table, or the dissimilarities of items.

use lehr_data::dissimilarities::Dissimilarities;

use crate::classes::Classes;
use crate::rows::Rows;
use crate::sections::Sections;

/// Dissimilarities of all pairs, and what is known of the items.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// All pairs.
    pub dissimilarities: Dissimilarities,
    /// One name an item; numbers where nobody gave names.
    pub ids: Vec<String>,
    /// One weight an item: how many equal items it stands for.
    pub weights: Option<Vec<f64>>,
    /// Known classes of the items, where someone gave them ([`MatrixWords::has_classes`]).
    pub classes: Option<Classes>,
}

impl Matrix {
    /// What `summary.json` says of a matrix, after its source.
    pub fn facts(&self) -> Sections {
        let items = self.ids.len();
        let total_weight = self.weights.as_ref().map_or(items as f64, |weights| weights.iter().sum());
        let metric = self.dissimilarities.header().map(|header| header.metric.as_str());
        let mut facts = Sections::default();
        facts.add("items", &items).add("total_weight", &total_weight).add("metric", &metric);
        facts
    }
}

/// The kinds of data that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// The rows of a table, which may have missing values.
    Rows(RowsWords),
    /// Dissimilarities of all pairs.
    Matrix(MatrixWords),
}

/// What front ends need to know of the dissimilarities that a method takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixWords {
    /// Whether pairs may be without a value.
    pub may_miss_pairs: bool,
    /// Whether known classes of the items colour what is drawn.
    pub has_classes: bool,
}

/// What help and messages say of the rows that a method takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsWords {
    /// Before the columns that were taken: `a map of`.
    pub columns_taken: &'static str,
    /// Behind "missing values": what becomes of them.
    pub missing: &'static str,
    /// What is done with rows, as a participle.
    pub done: &'static str,
    /// Whether its temperatures are squared lengths; pure numbers otherwise.
    pub has_squared_temperature: bool,
    /// Why positions on a sphere are not for it.
    pub not_on_sphere: &'static str,
    /// What to do with such positions.
    pub instead: &'static str,
}

/// The data of a run.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// The rows of a table.
    Rows(&'a Rows),
    /// Dissimilarities of all pairs.
    Matrix(&'a Matrix),
}

impl<'a> Data<'a> {
    /// The rows.
    ///
    /// # Panics
    /// If these are dissimilarities, which no front end hands to a method that takes rows.
    pub fn rows(self) -> &'a Rows {
        match self {
            Data::Rows(rows) => rows,
            Data::Matrix(_) => unreachable!("a method of rows was given dissimilarities"),
        }
    }

    /// The dissimilarities.
    ///
    /// # Panics
    /// If these are rows, which no front end hands to a method that takes dissimilarities.
    pub fn matrix(self) -> &'a Matrix {
        match self {
            Data::Matrix(matrix) => matrix,
            Data::Rows(_) => unreachable!("a method of dissimilarities was given rows"),
        }
    }
}
