//! Text into records and fields: lines, quotes, delimiters, and where each record stands.
//!
//! A record is a line, or several where a quoted field has line ends in it. It is handed out with the number of its first line,
//! because messages need it; that (with CRLF, blank lines and open quotes, which the usual readers count or mend in their own
//! ways) is why this is not a library's reader. The `csv` crate serves as the oracle in the tests.
//!
//! Delimiters: one byte; or [`SPACES`], which means any run of spaces and tabs, with those at both ends of a line ignored. Where spaces
//! divide, a lone `#` before the first record marks it as a header, as NumPy's `savetxt` writes it, and is no field.

use crate::error::{Error, quoted};
use crate::read::slip::is_number_with_commas;
use crate::read::source::{HEAD_BYTES, Source};

/// A run of spaces and tabs as the delimiter: what `b' '` means here.
pub(crate) const SPACES: u8 = b' ';
/// A record longer than this is taken for a file that is no table.
const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// How many lines are looked at to find the delimiter.
const HEAD_LINES: usize = 50;

/// Fields of one record, in buffers that are used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    /// The record's first line, counted from 1.
    pub(crate) line: u64,
    /// How many blank lines stood between the record before and this one.
    pub(crate) blank_lines_before: u64,
    /// Whether it is the first record and a `#` before it says that it is a header.
    pub(crate) is_marked: bool,
    text: String,
    /// Where each field ends in `text`.
    ends: Vec<usize>,
}

impl Record {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The text of a field without its quotes; `None` if there is no such field.
    pub(crate) fn field(&self, index: usize) -> Option<&str> {
        let start = if index == 0 { 0 } else { *self.ends.get(index - 1)? };
        self.text.get(start..*self.ends.get(index)?)
    }

    /// The text of all fields, and where each of them ends in it.
    pub(crate) fn parts(&self) -> (&str, &[usize]) {
        (&self.text, &self.ends)
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|index| self.field(index))
    }
}

/// The records of a text, one after another.
pub(crate) struct Records<'a> {
    source: Source<'a>,
    delimiter: u8,
    terminator: u8,
    /// Lines that ended before the window.
    lines: u64,
    has_started: bool,
}

impl<'a> Records<'a> {
    /// Finds the line ends, and the delimiter unless given.
    pub(crate) fn new(mut source: Source<'a>, delimiter: Option<u8>) -> Result<Self, Error> {
        let terminator = source.terminator()?;
        let name = source.name().to_owned();
        let head = source.fill(HEAD_BYTES, Some(0))?;
        let delimiter = delimiter.unwrap_or_else(|| detect_delimiter(head, terminator, &name));
        Ok(Records { source, delimiter, terminator, lines: 0, has_started: false })
    }

    pub(crate) fn name(&self) -> &str {
        self.source.name()
    }

    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// How much of a file has been read; nothing where nobody knows how long the source is.
    pub(crate) fn fraction(&self) -> Option<f64> {
        self.source.fraction()
    }

    /// The next record into `record`; false at the end. Blank lines are passed over and counted.
    pub(crate) fn read(&mut self, record: &mut Record) -> Result<bool, Error> {
        record.blank_lines_before = 0;
        loop {
            let first_line = self.lines + 1;
            // Bytes of the window that are surely in the record, and whether a quote is open at their end.
            let mut length = 0;
            let mut scan = Quotes::default();
            let ends_at = loop {
                let window = self.source.window();
                match window[length..].iter().position(|byte| *byte == self.terminator) {
                    Some(position) => {
                        scan.over(&window[length..length + position + 1], self.delimiter);
                        length += position + 1;
                        self.lines += 1;
                        if !scan.is_open() {
                            break length - 1;
                        }
                    }
                    None => {
                        scan.over(&window[length..], self.delimiter);
                        length = window.len();
                        if length > RECORD_BYTES_MAX {
                            return Err(self.too_long(first_line, scan.is_open()));
                        }
                        if !self.source.more(Some(self.lines))? {
                            if scan.is_open() {
                                return Err(self.not_closed(first_line));
                            }
                            if length == 0 {
                                return Ok(false);
                            }
                            self.lines += 1;
                            break length;
                        }
                    }
                }
                if length > RECORD_BYTES_MAX {
                    return Err(self.too_long(first_line, scan.is_open()));
                }
            };
            let window = self.source.window();
            // Half of a line end that has two bytes.
            let half = if self.terminator == b'\r' {
                window[..ends_at].strip_prefix(b"\n")
            } else {
                window[..ends_at].strip_suffix(b"\r")
            };
            let line = half.unwrap_or(&window[..ends_at]);
            let at = usize::from(self.terminator == b'\r' && half.is_some());
            if line.trim_ascii().is_empty() {
                record.blank_lines_before += 1;
                self.source.consume(length);
                continue;
            }
            let mut text = self.source.text(line, at, first_line)?;
            let unmarked =
                text.trim_start().strip_prefix("# ").filter(|_| self.delimiter == SPACES && !self.has_started);
            record.is_marked = unmarked.is_some();
            text = unmarked.unwrap_or(text);
            record.line = first_line;
            record.text.clear();
            record.ends.clear();
            split(text, self.delimiter, |field| match field {
                Piece::Text(text) => record.text.push_str(text),
                Piece::End => record.ends.push(record.text.len()),
            });
            self.source.consume(length);
            self.has_started = true;
            return Ok(true);
        }
    }

    fn too_long(&self, line: u64, is_quote_open: bool) -> Error {
        if is_quote_open {
            return self.not_closed(line);
        }
        Error::Format {
            name: format!("{}, line {line}", self.name()),
            expected: format!("a line of at most {} MiB", RECORD_BYTES_MAX >> 20),
            found: "a longer one".into(),
        }
    }

    fn not_closed(&self, line: u64) -> Error {
        let start = &self.source.window()[..self.source.window().len().min(200)];
        Error::Format {
            name: format!("{}, line {line}", self.name()),
            expected: "a quote that opens a field to be closed".into(),
            found: format!("none closing in the record that starts {}", quoted(&String::from_utf8_lossy(start))),
        }
    }
}

/// A part of a split record.
enum Piece<'t> {
    /// The next part of the field's text.
    Text(&'t str),
    /// The field is complete.
    End,
}

/// Hands out the fields of one record. `""` within quotes is one quote; what follows a closing quote belongs to the field.
fn split<'t>(line: &'t str, delimiter: u8, mut give: impl FnMut(Piece<'t>)) {
    let bytes = line.as_bytes();
    let is_delimiter = |byte: u8| byte == delimiter || (delimiter == SPACES && byte == b'\t');
    let run = |from: usize| from + bytes[from..].iter().take_while(|byte| is_delimiter(**byte)).count();
    let mut at = if delimiter == SPACES { run(0) } else { 0 };
    loop {
        if bytes.get(at) == Some(&b'"') {
            at += 1;
            while let Some(length) = bytes[at..].iter().position(|byte| *byte == b'"') {
                give(Piece::Text(&line[at..at + length]));
                at += length + 1;
                if bytes.get(at) != Some(&b'"') {
                    break;
                }
                give(Piece::Text("\""));
                at += 1;
            }
        }
        let length = bytes[at..].iter().position(|byte| is_delimiter(*byte)).unwrap_or(bytes.len() - at);
        give(Piece::Text(&line[at..at + length]));
        give(Piece::End);
        at += length;
        if at == bytes.len() {
            return;
        }
        at += 1;
        if delimiter == SPACES {
            at = run(at);
            if at == bytes.len() {
                return;
            }
        }
    }
}

/// Whether a quote is open, byte by byte: the same rules as [`split`], for finding where a record ends.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// At the start of a field, where a quote opens.
    #[default]
    Start,
    /// In a field without quotes, or behind its closing quote.
    Plain,
    Open,
    /// Behind a quote within quotes: a second one means a quote, anything else that the quotes are closed.
    Doubtful,
}

impl Quotes {
    fn over(&mut self, bytes: &[u8], delimiter: u8) {
        let is_delimiter = |byte: u8| byte == delimiter || (delimiter == SPACES && byte == b'\t');
        if !matches!(self, Quotes::Open | Quotes::Doubtful) && !bytes.contains(&b'"') {
            // Common case. Where no quote is, only the last byte matters: is the next one at the start of a field?
            if let Some(last) = bytes.last() {
                *self = if is_delimiter(*last) { Quotes::Start } else { Quotes::Plain };
            }
            return;
        }
        for byte in bytes {
            *self = match (*self, *byte) {
                (Quotes::Start, b'"') | (Quotes::Doubtful, b'"') => Quotes::Open,
                (Quotes::Open, b'"') => Quotes::Doubtful,
                (Quotes::Open, _) => Quotes::Open,
                _ if is_delimiter(*byte) => Quotes::Start,
                _ => Quotes::Plain,
            };
        }
    }

    fn is_open(self) -> bool {
        self == Quotes::Open
    }
}

/// Whether a field counts as a number when a delimiter is looked for. Numbers with decimal commas are not read, but a table of them is divided by
/// semicolons, and who has one is told of its commas and not of rows that are too long.
fn is_number(field: &str, delimiter: u8) -> bool {
    let may_have_commas = matches!(delimiter, b';' | b'\t' | b'|');
    field.parse::<f64>().is_ok() || may_have_commas && is_number_with_commas(field)
}

/// The delimiter under which the first lines look most like a table.
///
/// Each candidate is scored by how many of the lines have as many fields as most of them do (at least two), times how many of the
/// fields are numbers; the first of `, tab ; | space` wins a tie. A file called `.tsv` has tabs. Where nothing divides the lines,
/// there is one column, and the answer does not matter.
fn detect_delimiter(head: &[u8], terminator: u8, name: &str) -> u8 {
    if name.trim_end_matches(".gz").ends_with(".tsv") {
        return b'\t';
    }
    let lines: Vec<String> = head
        .split_inclusive(|byte| *byte == terminator)
        .filter(|line| !line.trim_ascii().is_empty())
        .take(HEAD_LINES)
        .map(|line| String::from_utf8_lossy(line.trim_ascii_end()).into_owned())
        .collect();
    let score = |delimiter: u8| {
        let mut counts = Vec::with_capacity(lines.len());
        let (mut fields, mut numbers) = (0, 0);
        for (index, line) in lines.iter().enumerate() {
            let mut count = 0;
            let mut text = String::new();
            split(line, delimiter, |piece| match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::End => {
                    count += 1;
                    if index > 0 || lines.len() == 1 {
                        fields += 1;
                        numbers += usize::from(is_number(text.trim(), delimiter));
                    }
                    text.clear();
                }
            });
            counts.push(count);
        }
        counts.sort_unstable();
        let most = counts.chunk_by(|a, b| a == b).max_by_key(|run| run.len()).unwrap_or(&[]);
        if most.first().is_none_or(|count| *count < 2) {
            return 0.0;
        }
        let agreeing = most.len() as f64 / counts.len() as f64;
        agreeing * (0.1 + numbers as f64 / f64::from(fields.max(1)))
    };
    let mut best = (b',', 0.0);
    for candidate in [b',', b'\t', b';', b'|', SPACES] {
        let score = score(candidate);
        if score > best.1 {
            best = (candidate, score);
        }
    }
    best.0
}
