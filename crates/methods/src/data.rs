//! The input of methods: the rows of a table, a stream of rows, or the dissimilarities of items.

use lehr_data::dissimilarities::Dissimilarities;
use lehr_data::preparation;

use crate::classes::Classes;
use crate::rows::Rows;
use crate::sections::Sections;
use crate::stream::Stream;

/// The dissimilarities of all pairs, and attributes of the items.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// The dissimilarities of all pairs.
    pub dissimilarities: Dissimilarities,
    /// The name of each item, or its number if the data have no names.
    pub ids: Vec<String>,
    /// The weight of each item: the number of equal items that it represents.
    pub weights: Option<Vec<f64>>,
    /// The known classes of the items, if given ([`MatrixWords::has_classes`]).
    pub classes: Vec<Classes>,
    /// The structure of each item as SMILES, if the items are compounds. Reports draw them.
    pub smiles: Option<Vec<String>>,
}

impl Matrix {
    /// Returns the facts about a matrix for `summary.json`, except its source.
    pub fn facts(&self) -> Sections {
        let items = self.ids.len();
        let total_weight = self.weights.as_ref().map_or(items as f64, |weights| weights.iter().sum());
        let metric = self.dissimilarities.header().map(|header| header.metric.as_str());
        let mut facts = Sections::default();
        facts.add("items", &items).add("total_weight", &total_weight).add("metric", &metric);
        facts
    }
}

/// The kind of data that a method takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// The rows of a table.
    Rows(RowsWords),
    /// A stream of rows of numbers in batches, each read once.
    Stream(StreamWords),
    /// Dissimilarities of all pairs.
    Matrix(MatrixWords),
}

/// The words of front ends for a method that takes dissimilarities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixWords {
    /// Whether the method supports pairs without a value.
    pub may_miss_pairs: bool,
    /// Whether known classes of the items colour the pictures.
    pub has_classes: bool,
}

/// The kinds of rows that a method takes, and the words for them in help and messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowsWords {
    /// The words before the names of the columns: `a map of`.
    pub columns_taken: &'static str,
    /// Whether the method takes rows of bits and sparse rows in addition to rows of numbers.
    pub takes_bits_and_sparse: bool,
    /// The words about missing values; `None` if the method refuses rows with missing values.
    pub missing: Option<Missing>,
    /// Whether automatic preparation sets isolated rows aside.
    pub sets_aside: bool,
    /// The reason why the method does not take positions on a sphere; `None` if it does.
    pub not_on_sphere: Option<NotOnSphere>,
}

impl RowsWords {
    /// Returns how the method handles missing values by default. It leaves them out of distances if it can. Otherwise
    /// they are filled from the nearest rows.
    pub fn missing_of_method(&self) -> preparation::Missing {
        if self.missing.is_some() { preparation::Missing::Skip } else { preparation::Missing::Nearest }
    }
}

/// The words of messages for a method that takes a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamWords {
    /// The words before the names of the columns: `clustering by`.
    pub columns_taken: &'static str,
}

/// The words about missing values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The words after "missing values" that say how they are handled.
    pub becomes: &'static str,
    /// The participle that says how such rows are handled.
    pub done: &'static str,
}

/// The words for a method that does not take positions on a sphere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotOnSphere {
    /// The reason why the method does not take positions on a sphere.
    pub why: &'static str,
    /// A hint at another way to handle positions on a sphere.
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
    /// Returns the rows.
    ///
    /// # Panics
    /// Panics if the data are of another kind. Front ends give rows to any method that takes rows.
    pub fn rows(self) -> &'a Rows {
        match self {
            Data::Rows(rows) => rows,
            _ => unreachable!("a method of rows was given other data"),
        }
    }

    /// Returns the stream.
    ///
    /// # Panics
    /// Panics if the data are of another kind. Front ends give a stream to any method that takes one.
    pub fn stream(self) -> &'a Stream {
        match self {
            Data::Stream(stream) => stream,
            _ => unreachable!("a method of a stream was given other data"),
        }
    }

    /// Returns the dissimilarities.
    ///
    /// # Panics
    /// Panics if the data are of another kind. Front ends give dissimilarities to any method that takes them.
    pub fn matrix(self) -> &'a Matrix {
        match self {
            Data::Matrix(matrix) => matrix,
            _ => unreachable!("a method of dissimilarities was given other data"),
        }
    }
}
