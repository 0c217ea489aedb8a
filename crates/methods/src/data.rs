//! The input of methods: the rows of a table, a stream of rows, or the dissimilarities of items.

use lehr_data::dissimilarities::Dissimilarities;
use lehr_data::preparation;

use crate::classes::Classes;
use crate::rows::Rows;
use crate::sections::Sections;
use crate::stream::Stream;

/// Dissimilarities of all pairs, and attributes of the items.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// All pairs.
    pub dissimilarities: Dissimilarities,
    /// One name for each item; numbers if there are no names.
    pub ids: Vec<String>,
    /// One weight for each item: the number of equal items that it represents.
    pub weights: Option<Vec<f64>>,
    /// Known classes of the items, where someone gave them ([`MatrixWords::has_classes`]).
    pub classes: Vec<Classes>,
}

impl Matrix {
    /// The facts about a matrix for `summary.json`, after its source.
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
    /// The rows of a table.
    Rows(RowsWords),
    /// Rows of numbers one batch after another, each looked at once.
    Stream(StreamWords),
    /// Dissimilarities of all pairs.
    Matrix(MatrixWords),
}

/// The words of front ends for the dissimilarities that a method takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixWords {
    /// Whether pairs may be without a value.
    pub may_miss_pairs: bool,
    /// Whether known classes of the items colour the pictures.
    pub has_classes: bool,
}

/// The kind of rows that a method takes, and their name in help and messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsWords {
    /// Before the columns that were used: `a map of`.
    pub columns_taken: &'static str,
    /// Whether it takes rows of bits and sparse rows in addition to rows of numbers.
    pub takes_bits_and_sparse: bool,
    /// How missing values are handled; `None` where rows with such are refused.
    pub missing: Option<Missing>,
    /// Whether automatic preparation sets isolated rows aside.
    pub sets_aside: bool,
    /// The reason why it does not take positions on a sphere; nothing if it does.
    pub not_on_sphere: Option<NotOnSphere>,
}

impl RowsWords {
    /// The method's own treatment of gaps: it leaves them out of distances if it can; else they are filled from
    /// the nearest rows.
    pub fn missing_of_method(&self) -> preparation::Missing {
        if self.missing.is_some() { preparation::Missing::Skip } else { preparation::Missing::Nearest }
    }
}

/// The words of messages for the stream that a method takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamWords {
    /// Before the columns that were used: `clustering by`.
    pub columns_taken: &'static str,
}

/// The words for missing values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Behind "missing values": how they are handled.
    pub becomes: &'static str,
    /// The handling of rows, as a participle.
    pub done: &'static str,
}

/// The words for users with positions on a sphere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOnSphere {
    /// The reason why they are not for a method.
    pub why: &'static str,
    /// A hint how to handle them.
    pub instead: &'static str,
}

/// The data of a run.
#[derive(Clone, Copy, Debug)]
pub enum Data<'a> {
    /// The rows of a table.
    Rows(&'a Rows),
    /// A stream of rows.
    Stream(&'a Stream),
    /// Dissimilarities of all pairs.
    Matrix(&'a Matrix),
}

impl<'a> Data<'a> {
    /// The rows.
    ///
    /// # Panics
    /// Panics if these are other data, which no front end hands to a method that takes rows.
    pub fn rows(self) -> &'a Rows {
        match self {
            Data::Rows(rows) => rows,
            _ => unreachable!("a method of rows was given other data"),
        }
    }

    /// The stream.
    ///
    /// # Panics
    /// Panics if these are other data, which no front end hands to a method that takes a stream.
    pub fn stream(self) -> &'a Stream {
        match self {
            Data::Stream(stream) => stream,
            _ => unreachable!("a method of a stream was given other data"),
        }
    }

    /// The dissimilarities.
    ///
    /// # Panics
    /// Panics if these are other data, which no front end hands to a method that takes dissimilarities.
    pub fn matrix(self) -> &'a Matrix {
        match self {
            Data::Matrix(matrix) => matrix,
            _ => unreachable!("a method of dissimilarities was given other data"),
        }
    }
}
