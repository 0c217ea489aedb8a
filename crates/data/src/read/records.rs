//! Splits text into records and fields: lines, quotes, delimiters, and the position of each record.
//!
//! A record is a line, or several lines if a quoted field contains line ends. It knows the number of its first line,
//! which messages need. Common CSV readers count or repair CRLF, blank lines and open quotes in their own ways, so this
//! module does not use one. The tests compare with the `csv` crate.
//!
//! Quotes are `"`, doubled within quotes. A data frame needs more ([`Quoting`]): other quotes, and letters escaped by a
//! backslash. Unclosed quotes are treated as letters, so that they do not swallow the following rows.
//!
//! A delimiter is one byte, or [`SPACES`]: any run of spaces and tabs, ignored at both ends of a line. In a file
//! delimited by spaces, a lone `#` before the first record marks it as a header and is not a field. NumPy's `savetxt`
//! writes this mark.

use crate::error::{Error, quoted};
use crate::read::slip::is_number_with_commas;
use crate::read::source::{HEAD_BYTES, Source};

/// The delimiter `b' '`, which means a run of spaces and tabs.
pub(crate) const SPACES: u8 = b' ';
/// The length at which a record means that the file is not a table.
const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The number of lines that are examined to detect the delimiter.
const HEAD_LINES: usize = 50;

/// How fields that contain delimiters are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Quoting {
    pub(crate) quote: u8,
    /// The escape before a quote within quotes, if quotes are not doubled.
    pub(crate) escape: Option<u8>,
    /// Whether a quote in the wrong place counts as a letter.
    pub(crate) is_tolerant: bool,
    /// Whether a field may lack its closing quote, if the reader is tolerant: its opening quote then counts as a letter.
    /// A stream cannot report this in time, so it refuses such a field.
    pub(crate) may_be_open: bool,
}

impl Default for Quoting {
    fn default() -> Self {
        Quoting { quote: b'"', escape: None, is_tolerant: false, may_be_open: false }
    }
}

/// The fields of a record, in reusable buffers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record {
    /// The record's first line, counted from 1.
    pub(crate) line: u64,
    /// The number of blank lines between the previous record and this one.
    pub(crate) blank_lines_before: u64,
    /// Whether this is the first record and begins with `# `, which marks a header in a file whose columns are
    /// separated by spaces.
    pub(crate) is_marked: bool,
    text: String,
    /// The end of each field in `text`.
    ends: Vec<usize>,
}

impl Record {
    /// Creates a record from these fields.
    pub(crate) fn of<'t>(line: u64, fields: impl Iterator<Item = &'t str>) -> Self {
        let mut record = Record { line, ..Record::default() };
        for field in fields {
            record.text.push_str(field);
            record.ends.push(record.text.len());
        }
        record
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the text of a field without its quotes; `None` if there is no such field.
    pub(crate) fn field(&self, index: usize) -> Option<&str> {
        let start = if index == 0 { 0 } else { *self.ends.get(index - 1)? };
        self.text.get(start..*self.ends.get(index)?)
    }

    /// Returns the text of all fields, and the end of each field in it.
    pub(crate) fn parts(&self) -> (&str, &[usize]) {
        (&self.text, &self.ends)
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|index| self.field(index))
    }
}

/// A reader of the records of a text.
pub(crate) struct Records<'a> {
    source: Source<'a>,
    delimiter: u8,
    terminator: u8,
    /// The number of lines before the window.
    lines: u64,
    has_started: bool,
    quoting: Quoting,
    /// The line of the first quote that was treated as a letter, and the number of such quotes.
    stray: Option<(u64, u64)>,
}

impl<'a> Records<'a> {
    /// Detects how lines end and, if `delimiter` is `None`, the delimiter.
    pub(crate) fn new(mut source: Source<'a>, delimiter: Option<u8>) -> Result<Self, Error> {
        let terminator = source.terminator()?;
        let name = source.name().to_owned();
        let head = source.fill(HEAD_BYTES, Some(0))?;
        let delimiter =
            delimiter.unwrap_or_else(|| detect_delimiter(head, terminator, &name, Quoting::default(), is_number));
        let quoting = Quoting::default();
        Ok(Records { source, delimiter, terminator, lines: 0, has_started: false, quoting, stray: None })
    }

    pub(crate) fn with_quoting(self, quoting: Quoting) -> Self {
        Records { quoting, ..self }
    }

    /// Skips this many lines, or fewer if there are no more.
    pub(crate) fn skip_lines(&mut self, count: usize) -> Result<(), Error> {
        for _ in 0..count {
            let too_long = || Error::Format { name: String::new(), expected: String::new(), found: String::new() };
            let Some(length) = self.source.line(self.lines, usize::MAX, too_long)? else { break };
            self.source.consume(length);
            self.lines += 1;
        }
        Ok(())
    }

    /// Returns the line of the first quote that was treated as a letter, and the number of such quotes.
    pub(crate) fn stray(&self) -> Option<(u64, u64)> {
        self.stray
    }

    pub(crate) fn name(&self) -> &str {
        self.source.name()
    }

    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Returns the share of the file that was read; `None` if the length of the source is unknown.
    pub(crate) fn fraction(&self) -> Option<f64> {
        self.source.fraction()
    }

    /// Reads the next record into `record`; returns false at the end. Skips and counts blank lines.
    pub(crate) fn read(&mut self, record: &mut Record) -> Result<bool, Error> {
        record.blank_lines_before = 0;
        loop {
            let first_line = self.lines + 1;
            // The number of bytes of the window that certainly belong to the record, and whether a quote is open at
            // their end.
            let mut length = 0;
            let mut scan = Quotes::default();
            let (quoting, mut is_looked_at) = (self.quoting, false);
            let ends_at = loop {
                let window = self.source.window();
                match window[length..].iter().position(|byte| *byte == self.terminator) {
                    Some(position) => {
                        scan.over(&window[length..length + position + 1], self.delimiter, quoting);
                        length += position + 1;
                        self.lines += 1;
                        if !scan.is_open() {
                            break length - 1;
                        }
                        if quoting.is_tolerant && !is_looked_at {
                            is_looked_at = true;
                            if !self.closes(length)? {
                                if !quoting.may_be_open {
                                    return Err(self.not_closed(first_line));
                                }
                                let (_, count) = self.stray.unwrap_or((0, 0));
                                self.stray = Some((self.stray.map_or(first_line, |(line, _)| line), count + 1));
                                break length - 1;
                            }
                        }
                    }
                    None => {
                        scan.over(&window[length..], self.delimiter, quoting);
                        length = window.len();
                        if length > RECORD_BYTES_MAX {
                            return Err(self.too_long(first_line, scan.is_open()));
                        }
                        if !self.source.more(Some(self.lines))? {
                            if scan.is_open() && !quoting.may_be_open {
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
            // The first byte of a two-byte line end.
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
            split(text, self.delimiter, quoting, |field| match field {
                Piece::Text(text) => record.text.push_str(text),
                Piece::End => record.ends.push(record.text.len()),
            });
            self.source.consume(length);
            self.has_started = true;
            return Ok(true);
        }
    }

    /// Returns whether the open quote closes before a delimiter or a line end. The quote is open after the window's
    /// first `length` bytes, which are a line.
    fn closes(&mut self, length: usize) -> Result<bool, Error> {
        let (quoting, delimiter, terminator) = (self.quoting, self.delimiter, self.terminator);
        let Some(opening) = last_open(&self.source.window()[..length], delimiter, quoting) else { return Ok(true) };
        loop {
            let window = self.source.window();
            match closing(&window[opening + 1..], delimiter, terminator, quoting) {
                Some(is_proper) => return Ok(is_proper),
                None if window.len() > RECORD_BYTES_MAX => return Ok(false),
                None => {}
            }
            if !self.source.more(Some(self.lines))? {
                // At the end of the text, a quote closes any open field.
                return Ok(self.source.window().trim_ascii_end().ends_with(&[quoting.quote]));
            }
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
    /// A part of the field's text.
    Text(&'t str),
    /// The field is complete.
    End,
}

/// Returns the position of the quote that is still open at the end of these bytes.
fn last_open(bytes: &[u8], delimiter: u8, quoting: Quoting) -> Option<usize> {
    let (mut scan, mut opening) = (Quotes::default(), None);
    for (place, byte) in bytes.iter().enumerate() {
        let was_open = matches!(scan, Quotes::Open | Quotes::Doubtful | Quotes::Escaped);
        scan.over(&[*byte], delimiter, quoting);
        if !was_open && scan.is_open() {
            opening = Some(place);
        }
    }
    opening.filter(|_| scan.is_open())
}

/// Returns whether the next closing quote is followed by a delimiter or a line end. Returns `None` if there is no
/// closing quote, or if the bytes end before the next byte is known. A quote before anything else is a letter. But
/// after a delimiter it opens a field, so the quote that seemed to open the current field is a letter.
fn closing(bytes: &[u8], delimiter: u8, terminator: u8, quoting: Quoting) -> Option<bool> {
    let mut place = 0;
    while place < bytes.len() {
        if quoting.escape == Some(bytes[place]) {
            place += 2;
        } else if bytes[place] != quoting.quote {
            place += 1;
        } else if bytes.get(place + 1) == Some(&quoting.quote) && !is_end(&bytes[place + 2..], delimiter, terminator) {
            place += 2;
        } else if place + 1 == bytes.len() {
            return None;
        } else if is_end(&bytes[place + 1..], delimiter, terminator) {
            return Some(true);
        } else if place > 0 && bytes[place - 1] == delimiter {
            return Some(false);
        } else {
            place += 1;
        }
    }
    None
}

/// Returns whether bytes begin with the end of a field, perhaps after blanks.
fn is_end(bytes: &[u8], delimiter: u8, terminator: u8) -> bool {
    let next =
        bytes.iter().find(|byte| **byte == delimiter || **byte == terminator || !matches!(byte, b' ' | b'\t' | b'\r'));
    next.is_some_and(|next| *next == delimiter || *next == terminator)
}

/// Calls `give` with each part of a record's fields. `""` within quotes is one quote; text after a closing quote
/// belongs to the field. Spaces before an opening quote do not belong to it.
fn split<'t>(line: &'t str, delimiter: u8, quoting: Quoting, mut give: impl FnMut(Piece<'t>)) {
    let bytes = line.as_bytes();
    let is_delimiter = |byte: u8| byte == delimiter || (delimiter == SPACES && byte == b'\t');
    let run = |from: usize| from + bytes[from..].iter().take_while(|byte| is_delimiter(**byte)).count();
    let quote = quoting.quote;
    let mut at = if delimiter == SPACES { run(0) } else { 0 };
    loop {
        // Common case: the field begins with a letter.
        let blanks = match bytes.get(at) {
            Some(b' ') => bytes[at..].iter().take_while(|byte| **byte == b' ').count(),
            _ => 0,
        };
        let opens = bytes.get(at + blanks) == Some(&quote)
            && (!quoting.is_tolerant || is_quoted(&line[at + blanks + 1..], delimiter, quoting));
        if opens {
            at += blanks + 1;
            while let Some(length) = bytes[at..].iter().position(|byte| *byte == quote || quoting.escape == Some(*byte))
            {
                give(Piece::Text(&line[at..at + length]));
                at += length + 1;
                if bytes[at - 1] != quote {
                    // An escape makes a following quote or escape a letter. Elsewhere the escape is a letter itself, as
                    // in paths.
                    match bytes.get(at) {
                        Some(next) if *next == quote || quoting.escape == Some(*next) => at += 1,
                        _ => {}
                    }
                    give(Piece::Text(&line[at - 1..at]));
                    continue;
                }
                if bytes.get(at) != Some(&quote) {
                    let is_letter = quoting.is_tolerant
                        && at < bytes.len()
                        && !is_end(&bytes[at..], delimiter, b'\n')
                        && is_closed(&line[at..], delimiter, quoting);
                    if is_letter {
                        give(Piece::Text(&line[at - 1..at]));
                        continue;
                    }
                    break;
                }
                give(Piece::Text(&line[at - 1..at]));
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

/// Returns whether a quoted text has a closing quote before a delimiter or at its end.
fn is_closed(text: &str, delimiter: u8, quoting: Quoting) -> bool {
    match closing(text.as_bytes(), delimiter, b'\n', quoting) {
        Some(is_closed) => is_closed,
        None => text.trim_ascii_end().as_bytes().ends_with(&[quoting.quote]),
    }
}

/// Returns whether a quote before this text opens a field. The quote must be closed before a delimiter, or by a second
/// quote followed by the rest of the field. A quote after a delimiter opens another field.
fn is_quoted(text: &str, delimiter: u8, quoting: Quoting) -> bool {
    if is_closed(text, delimiter, quoting) {
        return true;
    }
    let bytes = text.as_bytes();
    let Some(end) = bytes.iter().position(|byte| *byte == quoting.quote) else { return false };
    let is_behind_delimiter = end > 0 && bytes[end - 1] == delimiter;
    !is_behind_delimiter && !bytes[..end].iter().any(|byte| matches!(byte, b'\n' | b'\r'))
}

/// The state of a scan for open quotes, byte by byte, which finds where a record ends. The rules are the same as in
/// [`split`].
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// At the start of a field, where a quote may open.
    #[default]
    Start,
    /// In an unquoted field, or after a closing quote.
    Plain,
    Open,
    /// After a quote within quotes: a second quote means a quote, and anything else means that the field is closed.
    Doubtful,
    /// After the escape that makes the next byte a letter.
    Escaped,
}

impl Quotes {
    fn over(&mut self, bytes: &[u8], delimiter: u8, quoting: Quoting) {
        let is_delimiter = |byte: u8| byte == delimiter || (delimiter == SPACES && byte == b'\t');
        let quote = quoting.quote;
        if !matches!(self, Quotes::Open | Quotes::Doubtful | Quotes::Escaped) && !bytes.contains(&quote) {
            // Common case: without a quote, only the last byte matters, because it decides whether the next byte starts
            // a field.
            if let Some(last) = bytes.iter().rev().find(|byte| **byte != b' ' || delimiter == SPACES) {
                *self = if is_delimiter(*last) { Quotes::Start } else { Quotes::Plain };
            }
            return;
        }
        for byte in bytes {
            *self = match (*self, *byte) {
                (Quotes::Escaped, _) => Quotes::Open,
                (Quotes::Open, byte) if quoting.escape == Some(byte) => Quotes::Escaped,
                (Quotes::Start | Quotes::Doubtful, byte) if byte == quote => Quotes::Open,
                (Quotes::Open, byte) if byte == quote => Quotes::Doubtful,
                (Quotes::Open, _) => Quotes::Open,
                (Quotes::Start, b' ') => Quotes::Start,
                _ if is_delimiter(*byte) => Quotes::Start,
                _ => Quotes::Plain,
            };
        }
    }

    fn is_open(self) -> bool {
        matches!(self, Quotes::Open | Quotes::Escaped)
    }
}

/// Returns whether a field counts as a number when the delimiter is detected. Numbers with decimal commas count if the
/// delimiter is a semicolon, a tab or a bar. So Lehr reports the commas as faults, and not rows that are too long.
fn is_number(field: &str, delimiter: u8) -> bool {
    let may_have_commas = matches!(delimiter, b';' | b'\t' | b'|');
    field.parse::<f64>().is_ok() || may_have_commas && is_number_with_commas(field)
}

/// Returns the delimiter that makes the first lines look most like a table.
///
/// A candidate's score is the number of lines with the most common number of fields (at least two), times the number of
/// numeric fields. The first of `, tab ; | space` wins a tie. A file called `.tsv` has tabs. If no candidate splits the
/// lines, there is one column, and the delimiter does not matter.
pub(crate) fn detect_delimiter(
    head: &[u8],
    terminator: u8,
    name: &str,
    quoting: Quoting,
    is_value: fn(&str, u8) -> bool,
) -> u8 {
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
            split(line, delimiter, quoting, |piece| match piece {
                Piece::Text(part) => text.push_str(part),
                Piece::End => {
                    count += 1;
                    if index > 0 || lines.len() == 1 {
                        fields += 1;
                        numbers += usize::from(is_value(text.trim(), delimiter));
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
