//! Rows of tables as files: `Accept: text/csv` returns the text itself instead of a document that contains it.
//!
//! An operation returns rows if it has a field `format` and its reply has fields named after the formats, one of which
//! is set. So the crates below need no knowledge of files.

use std::fmt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};
use lehr_services::{Code, Fault, Format, OperationDescription};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::body::Answer;
use crate::encode::preferred;

/// The maximum number of bytes of text that are joined from pieces; a client must request a longer table in parts.
pub(crate) const BYTES_MAX: usize = 64 << 20;

/// The format of a service's answer, from which the rows are taken. MessagePack contains bytes without encoding them as
/// text.
pub(crate) const FORM: Format = Format::MessagePack;

/// The header that describes the rows of an answer. The header has the first row, the row after the last one, and the
/// number of rows in the table.
const ROWS: &str = "lehr-rows";

/// The header with the version of what made the rows, such as a model, if the answer has one.
const VERSION: &str = "lehr-version";

/// A file format for rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rows {
    Csv,
    Arrow,
}

const ALL: [Rows; 2] = [Rows::Csv, Rows::Arrow];

impl Rows {
    /// Returns the media type of the format.
    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Csv => "text/csv",
            Self::Arrow => "application/vnd.apache.arrow.stream",
        }
    }

    /// Returns the value of the field `format`, which is also the name of the field in the reply.
    fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Arrow => "arrow",
        }
    }

    /// Returns the formats of rows that an operation supports.
    pub(crate) fn of(operation: &OperationDescription) -> impl Iterator<Item = Self> {
        ALL.into_iter().filter(|rows| rows.is_of(operation))
    }

    fn is_of(self, operation: &OperationDescription) -> bool {
        operation.body["properties"].get("format").is_some() && operation.reply["properties"].get(self.name()).is_some()
    }

    /// Returns the format that a client prefers, if the operation supports it and the client does not prefer a
    /// document.
    pub(crate) fn wanted(headers: &HeaderMap, operation: &OperationDescription) -> Option<Self> {
        let rows = preferred(headers, |named| {
            let named = named.to_ascii_lowercase();
            let rows = ALL.into_iter().find(|rows| rows.media_type() == named).filter(|rows| rows.is_of(operation));
            let is_document = matches!(named.as_str(), "application/json" | "application/msgpack" | "*/*");
            (rows.is_some() || is_document).then_some(rows)
        });
        rows.flatten()
    }

    /// Returns the body of the request with its field `format` set and, if given, the row to start from.
    pub(crate) fn asked(self, format: Format, body: &[u8], from: Option<u64>) -> Result<Vec<u8>, Fault> {
        let mut body: Value = if body.is_empty() { Value::Object(Default::default()) } else { format.decode(body)? };
        if let Some(fields) = body.as_object_mut() {
            fields.insert("format".to_owned(), Value::from(self.name()));
            if let Some(from) = from {
                fields.insert("from".to_owned(), Value::from(from));
            }
        }
        Format::Json.encode(&body)
    }
}

/// The rows of an answer, from one or several pieces.
pub(crate) struct Answered {
    rows: Rows,
    bytes: Vec<u8>,
    from: u64,
    to: u64,
    of: u64,
    version: Option<u64>,
}

impl Answered {
    /// Begins an answer with the first piece.
    ///
    /// # Errors
    /// Returns [`Code::OperationFailed`] if `piece` is not a piece of rows.
    pub(crate) fn first(rows: Rows, piece: &[u8]) -> Result<Self, Fault> {
        let mut answered = Self { rows, bytes: Vec::new(), from: 0, to: 0, of: 0, version: None };
        answered.version = decoded(piece)?.version;
        answered.from = answered.add(piece)?;
        Ok(answered)
    }

    /// Returns the first row of the next piece, if there is one. Arrow streams cannot be joined, so an Arrow answer has
    /// only one piece.
    ///
    /// # Errors
    /// Returns [`Code::TooLarge`] if the rows would exceed the limit.
    pub(crate) fn next(&self, to: Option<u64>) -> Result<Option<u64>, Fault> {
        if self.rows == Rows::Arrow || self.to >= to.unwrap_or(self.of).min(self.of) {
            return Ok(None);
        }
        if self.bytes.len() > BYTES_MAX {
            let reason = format!("the rows are more than {BYTES_MAX} bytes: ask for parts, with from and to");
            return Err(Fault::new(Code::TooLarge, reason));
        }
        Ok(Some(self.to))
    }

    /// Adds a piece, and returns its first row.
    ///
    /// # Errors
    /// Returns [`Code::OperationFailed`] if `piece` is not a piece of rows; [`Code::PreconditionFailed`] if its version
    /// is not that of the first piece.
    pub(crate) fn add(&mut self, piece: &[u8]) -> Result<u64, Fault> {
        let piece = decoded(piece)?;
        if piece.version != self.version {
            let reason = "another version replaced the one that made the first rows: send the request again";
            return Err(Fault::new(Code::PreconditionFailed, reason));
        }
        match self.rows {
            Rows::Csv => self.bytes.extend_from_slice(piece.csv.ok_or_else(bad)?.as_bytes()),
            Rows::Arrow => self.bytes = piece.arrow.ok_or_else(bad)?.0,
        }
        (self.to, self.of) = (piece.to, piece.rows);
        Ok(piece.from)
    }

    /// Returns the bytes, and a response with the headers for them.
    pub(crate) fn into_response(self) -> (Vec<u8>, Response<Answer>) {
        let mut response = Response::new(Answer::Whole(None));
        *response.status_mut() = StatusCode::OK;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.rows.media_type()));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.insert(header::VARY, HeaderValue::from_static("accept"));
        if let Ok(value) = HeaderValue::try_from(format!("{}-{}/{}", self.from, self.to, self.of)) {
            headers.insert(ROWS, value);
        }
        if let Some(version) = self.version {
            headers.insert(VERSION, HeaderValue::from(version));
        }
        (self.bytes, response)
    }
}

/// The rows in the reply of a service.
#[derive(Deserialize)]
struct Piece {
    from: u64,
    to: u64,
    rows: u64,
    csv: Option<String>,
    arrow: Option<Raw>,
    version: Option<u64>,
}

fn bad() -> Fault {
    Fault::new(Code::OperationFailed, "the answer has no rows in the requested form")
}

fn decoded(piece: &[u8]) -> Result<Piece, Fault> {
    FORM.decode(piece).map_err(|fault| bad().log(fault.reason().to_owned()))
}

/// Bytes, or a text that encodes them in base64.
struct Raw(Vec<u8>);

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_byte_buf(Bytes)
    }
}

struct Bytes;

impl Visitor<'_> for Bytes {
    type Value = Raw;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("bytes")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Raw, E> {
        STANDARD.decode(text).map(Raw).map_err(E::custom)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Raw, E> {
        Ok(Raw(bytes.to_vec()))
    }

    fn visit_byte_buf<E: Error>(self, bytes: Vec<u8>) -> Result<Raw, E> {
        Ok(Raw(bytes))
    }
}

#[cfg(test)]
mod tests {
    use lehr_services::Verb;
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_are_for_who_likes_them_best_where_there_are_some() {
        let schema = |names: &[&str]| json!({ "properties": names.iter().map(|name| ((*name).to_owned(), json!({}))).collect::<serde_json::Map<_, _>>() });
        let operation = |body: &[&str], reply: &[&str]| OperationDescription {
            verb: Verb::Query,
            body: schema(body),
            reply: schema(reply),
            raw: Vec::new(),
        };
        let read = operation(&["name", "format"], &["csv", "arrow"]);
        let wanted = |text: &'static str, operation: &OperationDescription| {
            Rows::wanted(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(text))]), operation)
        };
        assert_eq!(wanted("text/csv", &read), Some(Rows::Csv));
        assert_eq!(wanted("application/vnd.apache.arrow.stream, */*;q=0.1", &read), Some(Rows::Arrow));
        assert_eq!(wanted("text/csv;q=0.5, application/json", &read), None);
        assert_eq!(wanted("*/*", &read), None);
        assert_eq!(wanted("text/csv", &operation(&["name"], &["csv"])), None);
        assert_eq!(wanted("text/csv", &operation(&["format"], &["json"])), None);
    }

    #[test]
    fn pieces_of_text_are_put_together() {
        let piece = |from: u64, to: u64, csv: &str| {
            FORM.encode(&json!({ "from": from, "to": to, "rows": 3, "csv": csv })).unwrap()
        };
        let mut answered = Answered::first(Rows::Csv, &piece(0, 2, "x\n1\n2\n")).unwrap();
        assert_eq!(answered.next(None), Ok(Some(2)));
        assert_eq!(answered.next(Some(2)), Ok(None));
        answered.add(&piece(2, 3, "3\n")).unwrap();
        assert_eq!(answered.next(None), Ok(None));
        let (bytes, response) = answered.into_response();
        assert_eq!((&bytes[..], &response.headers()[ROWS]), (&b"x\n1\n2\n3\n"[..], &HeaderValue::from_static("0-3/3")));
        assert!(Answered::first(Rows::Arrow, &piece(0, 2, "x")).is_err());
    }

    #[test]
    fn pieces_of_two_versions_are_not_put_together() {
        let piece = |from: u64, version: u64| {
            FORM.encode(&json!({ "from": from, "to": from + 1, "rows": 2, "csv": "1\n", "version": version })).unwrap()
        };
        let mut answered = Answered::first(Rows::Csv, &piece(0, 4)).unwrap();
        let fault = answered.add(&piece(1, 5)).unwrap_err();
        assert_eq!(fault.code(), Code::PreconditionFailed);
        answered.add(&piece(1, 4)).unwrap();
        assert_eq!(answered.into_response().1.headers()[VERSION], HeaderValue::from(4));
    }

    #[test]
    fn bytes_are_taken_as_they_are_and_out_of_text() {
        let text = FORM.encode(&json!({ "from": 0, "to": 1, "rows": 1, "arrow": "AP8=" })).unwrap();
        // The same in bytes: their type, their number, and they themselves.
        let at = text.windows(5).position(|found| found == b"\xa4AP8=").unwrap();
        let bytes = [&text[..at], &[0xc4, 2, 0x00, 0xff][..], &text[at + 5..]].concat();
        for piece in [text, bytes] {
            assert_eq!(Answered::first(Rows::Arrow, &piece).unwrap().into_response().0, [0x00, 0xff]);
        }
        let broken = FORM.encode(&json!({ "from": 0, "to": 1, "rows": 1, "arrow": "AP8" })).unwrap();
        assert!(Answered::first(Rows::Arrow, &broken).is_err());
    }
}
