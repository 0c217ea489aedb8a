//! Converts between tables and the typed columns of ordinary tables.

use lehr_data::Error;
use lehr_data::frame::{DataFrame, FrameColumn, ReadAs, Values};
use lehr_data::read::{InputColumn, TableForm, data_frame_of};
use lehr_services::Fault;

use super::{Kind, Table};

impl Table {
    /// Creates a table with all columns of an ordinary table: numbers, which may be missing, and texts, which are empty
    /// if missing. Dates become texts such as `2021-04-23`; yes and no become the words of the file.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`](lehr_services::Code::InvalidValue) if two columns have the same name, or if a
    /// role names a missing column.
    pub(crate) fn of_frame(frame: &DataFrame, weights: Option<String>, id: Option<String>) -> Result<Self, Fault> {
        let texts = |column: &FrameColumn| frame.texts(&column.name).expect("a column of the table");
        let mut builder = Self::builder().gaps(true).weights(weights).id(id);
        for column in frame.columns() {
            builder = match (&column.values, &column.read_as) {
                (Values::Numbers(values), read_as) if !matches!(read_as, ReadAs::Truth { .. }) => {
                    builder.numbers(column.name.clone(), values.clone())
                }
                _ => builder.texts(column.name.clone(), texts(column)),
            };
        }
        builder.build()
    }

    /// Returns the columns in a form that can be described and prepared: numbers unchanged, and texts read as in a
    /// file.
    ///
    /// # Errors
    /// Returns the errors of [`data_frame_of`].
    pub(crate) fn frame(&self, name: &str, form: &TableForm) -> Result<DataFrame, Error> {
        let given = |(column, kind): (&str, Kind)| match kind {
            Kind::Number | Kind::Count => {
                let values = self.numbers(column).expect("a column of numbers").into_owned();
                InputColumn::Read(FrameColumn::numbers(column, values))
            }
            Kind::Text => InputColumn::Texts(column.to_owned(), self.texts(column).expect("a column of text")),
        };
        data_frame_of(name, self.columns().map(given).collect(), form)
    }
}
