//! The reason why a model cannot be applied to rows.

/// The reason why a model cannot be applied to rows.
#[derive(Debug)]
pub enum Refusal {
    /// The rows are not of the model's kind.
    Unsuited {
        /// The input that the model takes.
        expected: String,
        /// The input that was given.
        found: String,
    },
    /// The rows are invalid.
    Data(lehr_data::Error),
    /// The method refuses the rows.
    Mining(lehr_mining::Error),
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsuited { expected, found } => write!(formatter, "expected {expected}, found {found}"),
            Self::Data(error) => error.fmt(formatter),
            Self::Mining(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<lehr_data::Error> for Refusal {
    fn from(error: lehr_data::Error) -> Self {
        Self::Data(error)
    }
}

impl From<lehr_mining::Error> for Refusal {
    fn from(error: lehr_mining::Error) -> Self {
        Self::Mining(error)
    }
}
