//! Reads dissimilarities from files of [`crate::write::dissimilarities`], NumPy and SciPy, and from big-endian 16-bit
//! rows.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use xxhash_rust::xxh3::{Xxh3Default, xxh3_64};

use crate::contents::Contents;
use crate::dissimilarities::{Dissimilarities, Element, FORMAT, Form, Header, MISSING_U16, Values};
use crate::error::{Error, quoted};
use crate::object;
use crate::read::source::{Source, open, stopped};
use crate::read::unpack::MAGIC;
use crate::read::{contents, npy};

/// The supported formats of a matrix.
const EXPECTED: &str = "an NPY array of dissimilarities, or the header beside one (.json)";

/// The maximum size of a header, in bytes.
const HEADER_BYTES: u64 = 1 << 20;

/// Reads dissimilarities, given either the array or its header.
///
/// - `NAME.json`, or `NAME.npy` beside a `NAME.json`: the header gives the form, the element and the scale.
/// - `NAME.npy` alone: a square array is full, and a one-dimensional array is condensed (as from SciPy's `pdist`);
///   numbers are the values themselves.
///
/// Cost: one pass to read and one to check; memory for the numbers as they are stored.
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`], [`Error::CutShort`]: the file cannot be read to its end.
/// - [`Error::Contents`]: a table, sequences or an array of rows, which are input for computing dissimilarities.
/// - [`Error::Format`]: not an array or a header of Lehr, or a header that contradicts its array. Also fixed point
///   without a header, or a number of values that no number of items has.
/// - [`Error::Faults`]: negative or infinite values, an asymmetric matrix, or a nonzero diagonal; the first ten in
///   full, and the total number.
///
/// # Example
/// ```
/// use lehr_data::{dissimilarities::{Element, Form}, read, write};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("d.npy");
/// let mut file = write::AtomicFile::create(&path)?;
/// write::dissimilarities::numbers(&mut file, 2, Form::Condensed, Element::F64, 1.0, |i, row| row[1 - i] = 0.25).unwrap();
/// file.commit()?;
/// assert_eq!(read::dissimilarities::matrix(&path)?.get(1, 0), Some(0.25));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn matrix(path: &Path) -> Result<Dissimilarities, Error> {
    object::refuse_query(path)?;
    let is_header = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let beside = path.with_extension("json");
    if is_header {
        let header = header(path)?;
        let array = array_path(path, &header)?;
        return with_header(&array, header);
    }
    if object::exists(&beside)? {
        let header = header(&beside)?;
        if array_path(&beside, &header)? == path {
            return with_header(path, header);
        }
    }
    let shown = object::shown(path);
    let mut source = Source::open(path)?;
    if let Some(found) = contents::other_than_array(&mut source, EXPECTED)? {
        return Err(Error::Contents { name: shown, expected: EXPECTED, found });
    }
    let array = npy::Header::read(&mut source)?;
    let (items, form) = shape(&array, &shown)?;
    match array.element {
        // 16-bit numbers are read as 32-bit ones.
        npy::Element::F16 | npy::Element::F32 => {
            Dissimilarities::named(items, form, singles(&array, &mut source)?, 1.0, &shown)
        }
        npy::Element::F64 => Dissimilarities::named(items, form, doubles(&array, &mut source)?, 1.0, &shown),
        _ => Err(Error::Format {
            name: shown,
            expected: "elements f2, f4 or f8, or the header of a fixed-point array beside it".into(),
            found: format!("whole numbers and no {}", object::shown(&beside)),
        }),
    }
}

/// Reads dissimilarities from one stream of bytes: the header, followed by the array that it names, as
/// `cat d.json d.npy` makes them. Messages call it `name`.
///
/// # Errors
/// Returns the errors of [`matrix`].
///
/// # Example
/// ```
/// use lehr_data::read::dissimilarities::matrix_from;
/// let error = matrix_from(&b"{}"[..], "genes").unwrap_err().to_string();
/// assert!(error.starts_with("genes: expected a header \"lehr dissimilarities 1\", found missing field"), "{error}");
/// ```
pub fn matrix_from(reader: impl Read, name: &str) -> Result<Dissimilarities, Error> {
    let mut reader = BufReader::new(reader);
    let header = header_from(&mut reader, name)?;
    // Skip the line end of the header; an array does not begin with white space.
    let failed = |cause| stopped(name, cause, "the header".into());
    while let Some(byte) = reader.fill_buf().map_err(failed)?.first()
        && byte.is_ascii_whitespace()
    {
        reader.consume(1);
    }
    // Refuse a compressed array here, because the limit on decompressed bytes covers only the whole stream.
    if reader.fill_buf().map_err(failed)?.starts_with(&MAGIC) {
        let (expected, found) =
            ("a plain array behind the header".into(), "one packed by gzip; pack both together".into());
        return Err(Error::Format { name: name.into(), expected, found });
    }
    if header.element == Element::I16be {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(failed)?;
        return of_rows(&bytes, name, header);
    }
    of_array(&mut Source::new(reader, name)?, name, header)
}

/// Reads the header of dissimilarities.
///
/// # Errors
/// Returns the errors of [`matrix`].
pub fn header(path: &Path) -> Result<Header, Error> {
    let shown = object::shown(path);
    let mut file = BufReader::new(open(path)?);
    let header = header_from(&mut file, &shown)?;
    let failed = |cause| Error::Read { name: shown.clone(), cause };
    let mut rest = Vec::new();
    file.take(HEADER_BYTES).read_to_end(&mut rest).map_err(failed)?;
    if rest.iter().all(u8::is_ascii_whitespace) {
        return Ok(header);
    }
    let expected = format!("a header {FORMAT:?} and nothing behind it");
    Err(Error::Format { name: shown, expected, found: "more bytes".into() })
}

/// Reads a header, but not the bytes after it.
///
/// # Errors
/// Returns the errors of [`matrix`].
pub fn header_from(reader: &mut impl BufRead, name: &str) -> Result<Header, Error> {
    let wrong = |found: String| Error::Format { name: name.into(), expected: format!("a header {FORMAT:?}"), found };
    let head = reader.fill_buf().map_err(|cause| stopped(name, cause, "nothing".into()))?;
    // Some editors write a byte order mark first.
    if head.starts_with(b"\xef\xbb\xbf") {
        reader.consume(3);
    }
    let mut text = serde_json::Deserializer::from_reader(reader.take(HEADER_BYTES));
    let header = Header::deserialize(&mut text).map_err(|error| match error.classify() {
        serde_json::error::Category::Io => stopped(name, error.into(), "a part of the header".into()),
        // Report a missing or wrong field, because the document may be a header.
        _ if error.to_string().starts_with("invalid type") => wrong("another document in JSON".into()),
        _ => wrong(error.to_string()),
    })?;
    if header.format != FORMAT {
        return Err(wrong(quoted(&header.format)));
    }
    // [`array_path`] checks the name of the array, if the header comes from a file.
    Ok(header)
}

/// Reads big-endian 16-bit rows: N x N numbers and nothing else, as in the files of the papers (`docs/papers.md`). A
/// value is `scale` times its number (1 / 32767 in the papers); negative numbers are missing values.
///
/// # Errors
/// Returns the errors of [`matrix`]; [`Error::Format`] if the file's length matches no N.
pub fn big_endian_rows(path: &Path, scale: f64) -> Result<Dissimilarities, Error> {
    let shown = object::shown(path);
    rows_of(&bytes_of(path, &shown)?, scale, &shown)
}

fn bytes_of(path: &Path, shown: &str) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|cause| Error::Read { name: shown.into(), cause })?;
    Ok(bytes)
}

fn rows_of(bytes: &[u8], scale: f64, name: &str) -> Result<Dissimilarities, Error> {
    let items = (bytes.len() / 2).isqrt();
    if items == 0 || 2 * items * items != bytes.len() {
        let expected = "N x N numbers of 16 bits, 2 N² bytes".into();
        return Err(Error::Format { name: name.into(), expected, found: format!("{} bytes", bytes.len()) });
    }
    let (numbers, _) = bytes.as_chunks::<2>();
    let values =
        numbers.iter().map(|number| u16::try_from(i16::from_be_bytes(*number)).unwrap_or(MISSING_U16)).collect();
    Dissimilarities::named(items, Form::Full, Values::U16(values), scale, name)
}

/// Returns the path of the array in the folder of its header.
///
/// # Errors
/// Returns [`Error::Format`] if the header does not name a file in its own folder.
pub fn array_path(header_path: &Path, header: &Header) -> Result<PathBuf, Error> {
    // Lehr never writes a name with folders, and such a name could lead to any file.
    let name = Path::new(&header.array);
    if name.file_name() != Some(name.as_os_str()) {
        return Err(Error::Format {
            name: object::shown(header_path),
            expected: "the name of a file in the same folder as \"array\"".into(),
            found: quoted(&header.array),
        });
    }
    Ok(header_path.with_file_name(name))
}

fn with_header(path: &Path, header: Header) -> Result<Dissimilarities, Error> {
    let shown = object::shown(path);
    if header.element == Element::I16be {
        return of_rows(&bytes_of(path, &shown)?, &shown, header);
    }
    of_array(&mut Source::open(path)?, &shown, header)
}

fn of_rows(bytes: &[u8], name: &str, header: Header) -> Result<Dissimilarities, Error> {
    let mut matrix = rows_of(bytes, header.scale, name)?;
    agree(name, "items", header.items, matrix.items())?;
    check(name, &header, xxh3_64(bytes))?;
    matrix.header = Some(header);
    Ok(matrix)
}

fn of_array(source: &mut Source<'_>, shown: &str, header: Header) -> Result<Dissimilarities, Error> {
    let array = npy::Header::read(source)?;
    let values = match (header.element, array.element) {
        (Element::F64, npy::Element::F64) => doubles(&array, source)?,
        (Element::F32, npy::Element::F32) => singles(&array, source)?,
        (Element::U16, npy::Element::U16) => {
            let mut values = Vec::new();
            array.stream(source, |block| values.extend(block.iter().map(|value| *value as u16)))?;
            Values::U16(values)
        }
        (element, _) => {
            let expected = format!("{element} numbers, as its header says");
            return Err(Error::Format { name: shown.into(), expected, found: "another element type".into() });
        }
    };
    let (items, form) = shape(&array, shown)?;
    agree(shown, "items", header.items, items)?;
    agree(shown, "form", header.form, form)?;
    check(shown, &header, checksum(&values))?;
    let mut matrix = Dissimilarities::named(items, form, values, header.scale, shown)?;
    matrix.header = Some(header);
    Ok(matrix)
}

/// Returns the checksum of the bytes of numbers in a file.
fn checksum(values: &Values) -> u64 {
    fn of<T: Copy, const BYTES: usize>(values: &[T], bytes: impl Fn(T) -> [u8; BYTES]) -> u64 {
        let mut hash = Xxh3Default::new();
        values
            .chunks(1 << 12)
            .for_each(|part| hash.update(part.iter().map(|value| bytes(*value)).collect::<Vec<_>>().as_flattened()));
        hash.digest()
    }
    match values {
        Values::F64(values) => of(values, f64::to_le_bytes),
        Values::F32(values) => of(values, f32::to_le_bytes),
        Values::U16(values) => of(values, u16::to_le_bytes),
    }
}

/// Checks that the numbers are those that the header was written for.
fn check(name: &str, header: &Header, found: u64) -> Result<(), Error> {
    let found = format!("{found:016x}");
    match &header.checksum {
        Some(expected) if *expected != found => Err(Error::Format {
            name: name.into(),
            expected: format!("numbers with the checksum {expected}, as its header says"),
            found: format!("{found}: the file was damaged or changed; compute the dissimilarities again"),
        }),
        _ => Ok(()),
    }
}

fn agree<T: PartialEq + std::fmt::Display>(name: &str, what: &str, expected: T, found: T) -> Result<(), Error> {
    if expected == found {
        return Ok(());
    }
    let expected = format!("{what} {expected}, as its header says");
    Err(Error::Format { name: name.into(), expected, found: found.to_string() })
}

fn singles(array: &npy::Header, source: &mut Source<'_>) -> Result<Values, Error> {
    let mut values = Vec::new();
    array.stream(source, |block| values.extend(block.iter().map(|value| *value as f32)))?;
    Ok(Values::F32(values))
}

fn doubles(array: &npy::Header, source: &mut Source<'_>) -> Result<Values, Error> {
    let mut values = Vec::new();
    array.stream(source, |block| values.extend_from_slice(block))?;
    Ok(Values::F64(values))
}

/// Returns N and the form of an array, which is square or has one number for each pair of N items.
fn shape(array: &npy::Header, name: &str) -> Result<(usize, Form), Error> {
    let [rows, columns] = array.shape;
    // A single number in one dimension is the only pair of two items.
    if rows == columns && !array.is_flat {
        return Ok((rows, Form::Full));
    }
    // N (N - 1) / 2 = rows has the solution N = (1 + sqrt(1 + 8 rows)) / 2.
    let items = (1 + 8 * rows).isqrt().div_ceil(2);
    if columns == 1 && Form::Condensed.numbers(items) == rows {
        return Ok((items, Form::Condensed));
    }
    if columns > 1 {
        let expected = "a square array, or N (N - 1) / 2 numbers in one dimension";
        return Err(Error::Contents { name: name.into(), expected, found: Contents::Array { rows, columns } });
    }
    let found = format!("{rows} numbers");
    let expected = "a square array, or N (N - 1) / 2 numbers in one dimension".into();
    Err(Error::Format { name: name.into(), expected, found })
}
