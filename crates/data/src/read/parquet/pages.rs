//! Decompresses the pages of a column in place of the library, which would allocate whatever memory a page claims or
//! expands to.
//!
//! A page whose declared size is too large is refused before it is read, and decompressing a page must not yield more
//! than this size. The memory that the library takes afterwards, for the words of a dictionary and the lengths of
//! texts, is counted here too. A few bytes of a page can claim 2⁶⁰ words or texts. If a page has a checksum, it is
//! verified.

use std::io::{self, BufReader, Read};

use flate2::Crc;
use flate2::read::MultiGzDecoder;
use parquet::basic::{CompressionCodec, Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::schema::types::ColumnDescriptor;
use ruzstd::decoding::StreamingDecoder;

use super::file::Room;
use super::header::{Header, Kind, varint};
use crate::object::Opened;

/// The largest window that Lehr accepts for a page compressed with Zstandard. If the page is longer when unpacked, its
/// length is the limit. Every reader of the format must support this size.
const WINDOW_BYTES: u64 = 8 << 20;

/// The number of bytes of a file that are read at once, for each column.
const CHUNK: usize = 32 * 1024;

/// The maximum number of bytes of an object that are requested at once, for each column.
const OBJECT_PIECE: usize = 1 << 20;

/// The number of bytes of an object that are requested at once for all columns, if there are many of them.
const OBJECT_BYTES: usize = 32 << 20;

/// The error for a page that exceeds the memory limit of the table.
#[derive(Debug)]
pub(super) struct TooLarge {
    /// The bytes that the page would take.
    pub bytes: u64,
}

impl std::fmt::Display for TooLarge {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a page takes {} bytes", self.bytes)
    }
}

impl std::error::Error for TooLarge {}

/// The compression of a column's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Codec {
    Plain,
    Snappy,
    Gzip,
    Zstandard,
}

impl Codec {
    /// Returns the codec, if it is supported.
    pub(super) fn of(chunk: &ColumnChunkMetaData) -> Option<Self> {
        match chunk.compression_codec() {
            CompressionCodec::UNCOMPRESSED => Some(Self::Plain),
            CompressionCodec::SNAPPY => Some(Self::Snappy),
            CompressionCodec::GZIP => Some(Self::Gzip),
            CompressionCodec::ZSTD => Some(Self::Zstandard),
            _ => None,
        }
    }
}

/// An iterator over the pages of a column in one group.
pub(super) struct Pages<R> {
    input: BufReader<Box<dyn Read + Send>>,
    /// The unread bytes of the column.
    left: u64,
    codec: Codec,
    /// The memory that the values may still take.
    room: R,
    /// The rows whose values are not read yet.
    rows: u64,
    /// The memory for a word of a dictionary.
    word_bytes: u64,
    /// The memory for the words of this column's dictionary, while the column is read.
    dictionary_bytes: u64,
    has_gaps: bool,
    may_have_prefixes: bool,
}

impl<R: Room> Pages<R> {
    /// Reads the values of `chunk`, a column of a group with `rows` rows, while `at_once` columns are read in turn.
    pub(super) fn new(
        file: &Opened,
        chunk: &ColumnChunkMetaData,
        column: &ColumnDescriptor,
        codec: Codec,
        rows: u64,
        at_once: usize,
        room: R,
    ) -> Self {
        let (start, left) = chunk.byte_range();
        let word_bytes = match column.physical_type() {
            Type::BYTE_ARRAY | Type::FIXED_LEN_BYTE_ARRAY => size_of::<ByteArray>(),
            _ => size_of::<u64>(),
        } as u64;
        let piece = (OBJECT_BYTES / at_once.max(1)).clamp(CHUNK, OBJECT_PIECE);
        let bytes = file.range(start..start.saturating_add(left), piece);
        Self {
            input: BufReader::with_capacity(CHUNK, bytes),
            left,
            codec,
            room,
            rows,
            word_bytes,
            dictionary_bytes: 0,
            has_gaps: column.max_def_level() > 0,
            may_have_prefixes: has_prefixes(chunk),
        }
    }

    fn header(&mut self) -> Result<Header> {
        let mut head = self.input.by_ref().take(self.left);
        let header = Header::read(&mut head);
        self.left = head.limit();
        let header = header?;
        if u64::from(header.packed) > self.left {
            return Err(damage(format!("a page of {} bytes, where {} are left", header.packed, self.left)));
        }
        self.left -= u64::from(header.packed);
        Ok(header)
    }

    fn skip(&mut self, bytes: u64) -> Result<()> {
        io::copy(&mut self.input.by_ref().take(bytes), &mut io::sink())?;
        Ok(())
    }

    /// Refuses sizes that exceed the limit or are impossible.
    fn check(&mut self, header: &Header) -> Result<()> {
        let (packed, unpacked, values) =
            (u64::from(header.packed), u64::from(header.unpacked), u64::from(header.values));
        // The compressed bytes are in memory until they are decompressed.
        let mut bytes = match self.codec {
            Codec::Plain => unpacked.max(packed),
            Codec::Snappy | Codec::Gzip => unpacked + packed,
            // The page is assembled in a separate buffer and then copied.
            Codec::Zstandard => 2 * unpacked + packed,
        };
        if header.kind == Kind::Dictionary {
            let words = values.saturating_mul(self.word_bytes);
            bytes = bytes.saturating_add(words);
            self.dictionary_bytes = unpacked.max(packed).saturating_add(words);
        } else {
            bytes = bytes.saturating_add(self.dictionary_bytes);
            bytes = bytes.saturating_add(lists(header.encoding) * values * size_of::<i32>() as u64);
            let rows = self.rows;
            self.rows = rows
                .checked_sub(values)
                .ok_or_else(|| damage(format!("a page of {values} values, where the group has {rows} rows left")))?;
        }
        if bytes > self.room.bytes() {
            return Err(ParquetError::External(Box::new(TooLarge { bytes })));
        }
        Ok(())
    }

    /// Returns the uncompressed bytes of a page; the first `plain` bytes are not compressed.
    fn unpacked(&mut self, header: &Header, plain: usize, is_packed: bool) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.input.by_ref().take(u64::from(header.packed)).read_to_end(&mut bytes)?;
        if bytes.len() != header.packed as usize {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        if let Some(expected) = header.checksum {
            let mut sum = Crc::new();
            sum.update(&bytes);
            if sum.sum() != expected {
                return Err(damage(format!(
                    "a page whose checksum is {:08x}, where {expected:08x} is expected",
                    sum.sum()
                )));
            }
        }
        if self.codec == Codec::Plain || !is_packed {
            return Ok(bytes);
        }
        let size = header.unpacked as usize;
        if plain > bytes.len() || plain > size {
            return Err(damage(format!("a page of {size} bytes, with {plain} bytes of levels")));
        }
        let (levels, packed) = bytes.split_at(plain);
        let expected = size - plain;
        // A page without values may have no bytes to decompress.
        if expected == 0 {
            return Ok(levels.to_vec());
        }
        let values = match self.codec {
            Codec::Plain => unreachable!("a plain page was returned above"),
            Codec::Snappy => {
                let found = snap::raw::decompress_len(packed).map_err(io::Error::from)?;
                if found != expected {
                    return Err(damage(format!("a page of {size} bytes that unpacks to {}", plain + found)));
                }
                snap::raw::Decoder::new().decompress_vec(packed).map_err(io::Error::from)?
            }
            Codec::Gzip => sized(MultiGzDecoder::new(packed), expected, size)?,
            Codec::Zstandard => {
                let window = WINDOW_BYTES.max(expected as u64);
                let unpacked = StreamingDecoder::new_with_max_window_size(packed, window);
                sized(unpacked.map_err(|error| damage(error.to_string()))?, expected, size)?
            }
        };
        if levels.is_empty() {
            return Ok(values);
        }
        Ok([levels, &values].concat())
    }

    /// Refuses a page that claims more texts than there are rows, because the library allocates as many lengths as a
    /// page claims.
    fn check_lengths(&self, header: &Header, page: &[u8], levels: usize) -> Result<()> {
        let lists = lists(header.encoding);
        if lists == 0 {
            return Ok(());
        }
        if header.encoding == Encoding::DELTA_BYTE_ARRAY && !self.may_have_prefixes {
            return Err(damage("a page with an encoding that its column does not name"));
        }
        let levels = match header.kind {
            // In this encoding, the length of the levels precedes them.
            Kind::Data if self.has_gaps && header.definition_encoding != Encoding::RLE => {
                return Err(damage("a page with an old encoding of levels and a new one of texts"));
            }
            Kind::Data if self.has_gaps => {
                let length = page.first_chunk().ok_or_else(|| damage("a page that ends in its levels"))?;
                4 + u32::from_le_bytes(*length) as usize
            }
            Kind::Data => 0,
            _ => levels,
        };
        let mut rest = page.get(levels..).ok_or_else(|| damage("a page that ends in its levels"))?;
        for _ in 0..lists {
            rest = after_deltas(rest, u64::from(header.values))?;
        }
        Ok(())
    }
}

/// Returns the decompressed bytes of a stream, which must be `expected` bytes of a page of `size`.
fn sized(unpacked: impl Read, expected: usize, size: usize) -> Result<Vec<u8>> {
    let mut values = Vec::new();
    unpacked.take(expected as u64 + 1).read_to_end(&mut values)?;
    if values.len() == expected {
        return Ok(values);
    }
    let more = if values.len() > expected { "more" } else { "less" };
    Err(damage(format!("a page of {size} bytes that unpacks to {more}")))
}

/// Returns the number of lists of 32-bit lengths that the library makes for a page before its values.
fn lists(encoding: Encoding) -> u64 {
    match encoding {
        Encoding::DELTA_LENGTH_BYTE_ARRAY => 1,
        Encoding::DELTA_BYTE_ARRAY => 2,
        _ => 0,
    }
}

/// Returns whether the values of a column may share prefixes with earlier values, and so be longer than their page.
pub(super) fn has_prefixes(chunk: &ColumnChunkMetaData) -> bool {
    chunk.encodings().any(|encoding| encoding == Encoding::DELTA_BYTE_ARRAY)
}

/// Returns the bytes after a list of at most `most` numbers, which are stored as differences.
fn after_deltas(bytes: &[u8], most: u64) -> Result<&[u8]> {
    let mut rest = bytes;
    let block = varint(&mut rest)?;
    let parts = varint(&mut rest)?;
    let count = varint(&mut rest)?;
    let _first = varint(&mut rest)?;
    if count > most || parts == 0 || !block.is_multiple_of(parts) || (parts > rest.len() as u64 && count > 1) {
        return Err(damage(format!("a page of {most} values with {count} lengths in {parts} parts")));
    }
    let part_values = block / parts;
    let mut left = count.saturating_sub(1);
    while left > 0 {
        let _least = varint(&mut rest)?;
        let widths = rest.split_off(..parts as usize).ok_or_else(|| damage("a page that ends in its lengths"))?;
        let mut bits = 0u64;
        for &width in widths {
            // Parts after the last value take no bytes, whatever widths they declare.
            bits += if left > 0 { u64::from(width).saturating_mul(part_values) / 8 } else { 0 };
            left = left.saturating_sub(part_values);
        }
        let bytes = usize::try_from(bits).map_err(|_| damage("a page that ends in its lengths"))?;
        // The last part may be cut.
        rest = rest.get(bytes..).unwrap_or_default();
        if part_values == 0 {
            return Err(damage("a page whose lengths have no end"));
        }
    }
    Ok(rest)
}

fn damage(what: impl Into<String>) -> ParquetError {
    ParquetError::General(what.into())
}

impl<R: Room> Iterator for Pages<R> {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl<R: Room> PageReader for Pages<R> {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        while self.left > 0 {
            let header = self.header()?;
            if header.kind == Kind::Other {
                self.skip(u64::from(header.packed))?;
                continue;
            }
            self.check(&header)?;
            // The library takes a page without values for the end of the column.
            if header.kind != Kind::Dictionary && header.values == 0 {
                self.skip(u64::from(header.packed))?;
                continue;
            }
            let levels = header.definition_bytes as usize + header.repetition_bytes as usize;
            let is_second = header.kind == Kind::SecondData;
            let bytes = self.unpacked(&header, if is_second { levels } else { 0 }, header.is_packed || !is_second)?;
            if header.kind != Kind::Dictionary {
                self.check_lengths(&header, &bytes, levels)?;
            }
            let buf = bytes.into();
            return Ok(Some(match header.kind {
                Kind::Dictionary => Page::DictionaryPage {
                    buf,
                    num_values: header.values,
                    encoding: header.encoding,
                    is_sorted: header.is_sorted,
                },
                Kind::SecondData => Page::DataPageV2 {
                    buf,
                    num_values: header.values,
                    encoding: header.encoding,
                    num_nulls: header.nulls,
                    num_rows: header.rows,
                    def_levels_byte_len: header.definition_bytes,
                    rep_levels_byte_len: header.repetition_bytes,
                    is_compressed: header.is_packed,
                    statistics: None,
                },
                Kind::Data | Kind::Other => Page::DataPage {
                    buf,
                    num_values: header.values,
                    encoding: header.encoding,
                    def_level_encoding: header.definition_encoding,
                    rep_level_encoding: header.repetition_encoding,
                    statistics: None,
                },
            }));
        }
        Ok(None)
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Err(damage("pages are read in their order, without looking ahead"))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        Err(damage("pages are read in their order, without leaving one out"))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::Write;
    use std::sync::Arc;

    use parquet::column::reader::{ColumnReader, get_column_reader};
    use parquet::schema::parser::parse_message_type;
    use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};

    use super::*;

    /// Encodes a non-negative number as in a header: doubled, seven bits per byte.
    fn number(number: u64) -> Vec<u8> {
        let mut left = number * 2;
        let mut bytes = Vec::new();
        while left >= 0x80 {
            bytes.push(left as u8 | 0x80);
            left >>= 7;
        }
        bytes.push(left as u8);
        bytes
    }

    /// Returns an uncompressed page of texts with this kind, number of values, encoding and bytes.
    fn page(kind: u64, values: u64, encoding: u64, bytes: &[u8]) -> Vec<u8> {
        let of = if kind == 2 { 7 } else { 5 };
        let mut page = vec![0x15];
        page.extend(number(kind));
        for size in [bytes.len() as u64; 2] {
            page.push(0x15);
            page.extend(number(size));
        }
        page.push(((of - 3) << 4) | 0x0c);
        for field in [values, encoding, 3, 3] {
            page.push(0x15);
            page.extend(number(field));
        }
        page.extend([0, 0]);
        page.extend(bytes);
        page
    }

    /// Returns the pages of a text column with these bytes and five rows.
    fn pages<R: Room>(bytes: &[u8], codec: Codec, room: R) -> (Pages<R>, ColumnDescPtr) {
        let schema = parse_message_type("message s { REQUIRED BINARY id (UTF8); }").unwrap();
        let column = SchemaDescriptor::new(Arc::new(schema)).column(0);
        let chunk = ColumnChunkMetaData::builder(column.clone())
            .set_encodings(vec![Encoding::DELTA_BYTE_ARRAY])
            .set_data_page_offset(0)
            .set_total_compressed_size(bytes.len() as i64)
            .build()
            .unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        (Pages::new(&file.into(), &chunk, &column, codec, 5, 1, room), column)
    }

    /// Reads the first of these pages.
    fn first(bytes: &[u8], bytes_max: u64) -> Result<Page> {
        let (mut pages, _) = pages(bytes, Codec::Plain, bytes_max);
        pages.get_next_page().map(|page| page.expect("a page"))
    }

    /// Returns the error for a page that would take this many bytes.
    fn taking(bytes: usize) -> String {
        format!("External: a page takes {bytes} bytes")
    }

    #[test]
    fn what_a_page_takes_is_itself_packed_and_unpacked_its_dictionary_and_its_lengths() {
        let plain = page(0, 5, 0, &[0; 20]);
        let word = [3, 0, 0, 0, b'a', b'b', b'c'];
        let words = [page(2, 1, 0, &word), page(0, 5, 8, &[0; 20])].concat();
        let of_words = 7 + size_of::<ByteArray>();
        let lengths = [&[0x80, 0x01, 4, 5, 0, 0, 0, 0, 0, 0][..]; 2].concat();
        for (bytes, codec, before, takes) in [
            (plain.clone(), Codec::Plain, 0, 20),
            (plain, Codec::Gzip, 0, 40),
            (words, Codec::Plain, 1, of_words + 20),
            (page(0, 5, 6, &lengths[..10]), Codec::Plain, 0, 10 + 5 * 4),
            (page(0, 5, 7, &lengths), Codec::Plain, 0, 20 + 5 * 4 * 2),
        ] {
            for (bytes_max, is_refused) in [(takes - 1, true), (takes, false)] {
                let (mut pages, _) = pages(&bytes, codec, bytes_max as u64);
                (0..before).for_each(|_| drop(pages.get_next_page().unwrap()));
                // A page that is not refused may still be invalid gzip.
                let refused = pages.get_next_page().err().map(|error| error.to_string());
                assert_eq!(refused == Some(taking(takes)), is_refused, "{takes}: {refused:?}");
            }
        }
    }

    /// A memory limit that shrinks after each page.
    struct Lessening(Cell<u64>, u64);

    impl Room for Lessening {
        fn bytes(&self) -> u64 {
            self.0.replace(self.0.get() - self.1)
        }
    }

    #[test]
    fn a_page_whose_checksum_is_another_is_refused() {
        let sound = page(0, 5, 0, &[7; 20]);
        let mut sum = Crc::new();
        sum.update(&[7; 20]);
        // Field 4 precedes the structure of the page, whose relative field number is then 1 instead of 2.
        let place = 6;
        assert_eq!(sound[place..place + 1], [0x2c], "the structure stands here");
        let with = |sum: i32| {
            let bits = ((sum << 1) ^ (sum >> 31)) as u32;
            let mut bytes: Vec<u8> =
                (0..5).map(|at| (bits >> (7 * at)) as u8 & 0x7f | if at < 4 { 0x80 } else { 0 }).collect();
            bytes.insert(0, 0x15);
            let mut page = sound.clone();
            page[place] = 0x1c;
            page.splice(place..place, bytes);
            page
        };
        let sum = sum.sum() as i32;
        assert!(matches!(first(&with(sum), 1 << 20).unwrap(), Page::DataPage { num_values: 5, .. }));
        let error = first(&with(sum ^ 1), 1 << 20).unwrap_err().to_string();
        assert!(error.contains("a page whose checksum is "), "{error}");
        let mut flipped = with(sum);
        *flipped.last_mut().unwrap() ^= 1;
        assert!(first(&flipped, 1 << 20).is_err());
    }

    #[test]
    fn a_page_gets_what_the_values_before_it_have_left() {
        let bytes = [page(0, 2, 0, &[0; 8]), page(0, 3, 0, &[0; 12])].concat();
        for (length, is_refused) in [(8, false), (9, true)] {
            let (mut pages, _) = pages(&bytes, Codec::Plain, Lessening(Cell::new(20), length));
            assert!(pages.get_next_page().unwrap().is_some());
            let refused = pages.get_next_page().err().map(|error| error.to_string());
            assert_eq!(refused, is_refused.then(|| taking(12)));
        }
    }

    #[test]
    fn what_zstandard_packs_may_keep_no_more_of_itself_than_it_has_or_every_reader_offers() {
        // A frame of one uncompressed block: the byte `window` gives the window size.
        let frame = |window: u8, bytes: &[u8]| {
            let head = ((bytes.len() as u32) << 3) | 1;
            [&[0x28, 0xb5, 0x2f, 0xfd, 0, window][..], &head.to_le_bytes()[..3], bytes].concat()
        };
        let unpacked = |window: u8, size: usize| {
            let bytes = frame(window, &[7; 20]);
            let mut whole = page(0, 5, 0, &bytes);
            // The uncompressed size of the page.
            whole[3] = size as u8 * 2;
            let (mut pages, _) = pages(&whole, Codec::Zstandard, 1 << 20);
            match pages.get_next_page() {
                Ok(Some(Page::DataPage { buf, .. })) => Ok(buf.to_vec()),
                Ok(_) => panic!("no page"),
                Err(error) => Err(error.to_string()),
            }
        };
        // 2¹⁰ times 2 to this power: 8 MiB, and twice as much.
        assert_eq!(unpacked(13 << 3, 20).unwrap(), [7; 20]);
        assert!(unpacked(14 << 3, 20).unwrap_err().contains("window_size is too big"), "{:?}", unpacked(14 << 3, 20));
        assert!(unpacked(13 << 3, 19).unwrap_err().ends_with("a page of 19 bytes that unpacks to more"));
        assert!(unpacked(13 << 3, 21).unwrap_err().ends_with("a page of 21 bytes that unpacks to less"));
    }

    #[test]
    fn a_page_without_a_value_is_not_the_end_of_its_column() {
        let word = |letter| [1, 0, 0, 0, letter];
        let empty = [page(0, 0, 0, &[]), page(0, 0, 0, &[7; 3])].concat();
        let sound = |letters: &[u8]| {
            page(0, letters.len() as u64, 0, &letters.iter().map(|&l| word(l)).collect::<Vec<_>>().concat())
        };
        let bytes = [empty.clone(), sound(b"ab"), empty.clone(), sound(b"cde"), empty].concat();
        let (pages, column) = pages(&bytes, Codec::Plain, 1 << 20);
        let ColumnReader::ByteArrayColumnReader(mut reader) = get_column_reader(column, Box::new(pages)) else {
            panic!("a column of texts");
        };
        let mut values = Vec::new();
        assert_eq!(reader.read_records(10, None, None, &mut values).unwrap().0, 5);
        assert_eq!(values.iter().map(|value| value.data()[0]).collect::<Vec<_>>(), b"abcde");
    }

    #[test]
    fn a_dictionary_is_refused_by_the_words_that_it_says_it_has() {
        let word = [3, 0, 0, 0, b'a', b'b', b'c'];
        assert!(matches!(first(&page(2, 1, 0, &word), 1 << 20).unwrap(), Page::DictionaryPage { num_values: 1, .. }));
        let error = first(&page(2, 1 << 30, 0, &word), 1 << 30).unwrap_err();
        let bytes = 7 + (1u64 << 30) * size_of::<ByteArray>() as u64;
        assert_eq!(error.to_string(), format!("External: a page takes {bytes} bytes"));
    }

    #[test]
    fn a_page_has_no_more_values_than_its_group_has_rows() {
        assert!(matches!(first(&page(0, 5, 0, &[0; 20]), 1 << 20).unwrap(), Page::DataPage { num_values: 5, .. }));
        let error = first(&page(0, 6, 0, &[0; 24]), 1 << 20).unwrap_err();
        assert!(error.to_string().ends_with("a page of 6 values, where the group has 5 rows left"), "{error}");
    }

    #[test]
    fn lengths_are_as_many_as_values() {
        // Blocks of 128 in 4 parts; `count` lengths, the first of which is 0; the smallest difference is 0, and so are
        // the widths.
        let lengths = |count: u64| {
            let mut bytes = vec![0x80, 0x01, 4];
            let mut left = count;
            while left >= 0x80 {
                bytes.push(left as u8 | 0x80);
                left >>= 7;
            }
            bytes.extend([left as u8, 0, 0, 0, 0, 0, 0]);
            bytes
        };
        assert!(first(&page(0, 5, 6, &lengths(5)), 1 << 20).is_ok());
        assert!(first(&page(0, 5, 7, &[lengths(5), lengths(5)].concat()), 1 << 20).is_ok());
        for bytes in [lengths(6), lengths(1 << 60)] {
            assert!(first(&page(0, 5, 6, &bytes), 1 << 20).unwrap_err().to_string().contains("lengths in 4 parts"));
            let second = [lengths(5), bytes].concat();
            assert!(first(&page(0, 5, 7, &second), 1 << 20).unwrap_err().to_string().contains("lengths in 4 parts"));
        }
    }
}
