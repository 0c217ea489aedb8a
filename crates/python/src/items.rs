//! Sequences and fingerprints as Python objects, which are immutable and are shared without copying.

use std::path::PathBuf;

use lehr_data::FingerprintKind;
use lehr_data::read::fasta::Expected;
use lehr_data::read::{fasta, fps, molecules};
use lehr_data::sequences::Alphabet;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PySlice;

use crate::reading::reading;
use crate::{arrays, errors};

/// Returns the alphabet with the given name; `None` without a name.
fn alphabet(name: Option<&str>) -> PyResult<Option<Alphabet>> {
    match name {
        None => Ok(None),
        Some("dna") => Ok(Some(Alphabet::Dna)),
        Some("protein") => Ok(Some(Alphabet::Protein)),
        Some(other) => Err(errors::value(format!(
            "The 'alphabet' parameter must be 'dna', 'protein' or None. Got {other:?} instead."
        ))),
    }
}

fn alphabet_name(alphabet: Alphabet) -> &'static str {
    match alphabet {
        Alphabet::Dna => "dna",
        Alphabet::Protein => "protein",
    }
}

/// Converts an index to a position. A negative index counts from the end.
fn place(index: isize, length: usize) -> PyResult<usize> {
    let place = if index < 0 { index + length as isize } else { index };
    usize::try_from(place)
        .ok()
        .filter(|place| *place < length)
        .ok_or_else(|| PyIndexError::new_err(format!("index {index} is out of range for {length} items")))
}

/// Returns the positions that a slice, a mask or an array of indices selects, as in NumPy.
fn chosen(key: &Bound<'_, PyAny>, length: usize) -> PyResult<Vec<usize>> {
    if let Ok(slice) = key.cast::<PySlice>() {
        let found = slice.indices(length as isize)?;
        let places = (0..found.slicelength as isize).map(|step| found.start + step * found.step);
        return Ok(places.map(|place| place as usize).collect());
    }
    if let Ok(mask) = key.extract::<Vec<bool>>()
        && !mask.is_empty()
    {
        if mask.len() != length {
            let message = format!("a mask of {} entries for {length} items: expected one entry for each", mask.len());
            return Err(PyIndexError::new_err(message));
        }
        return Ok(mask.iter().enumerate().filter(|(_, is_chosen)| **is_chosen).map(|(place, _)| place).collect());
    }
    let indices: Vec<isize> = key
        .extract()
        .map_err(|_| errors::type_error("expected an index, a slice, a mask of truth values or a list of indices"))?;
    indices.into_iter().map(|index| place(index, length)).collect()
}

/// Sequences of nucleotides or amino acids, each with an id.
///
/// An index returns the text of a sequence (``genes[0]``). A slice, a mask or an array of indices returns sequences
/// (``genes[:10]``, ``genes[labels == 2]``).
///
/// Parameters
/// ----------
/// texts : sequence of str
///     The letters of each sequence; a sequence has at least one letter. Sequences with gaps (``-`` or ``.``) count as aligned, and must have equal lengths.
/// ids : sequence of str, default=None
///     The id of each sequence. ``None`` means numbers from 0.
/// alphabet : {'dna', 'protein'}, default=None
///     The alphabet of the letters. With ``None``, Lehr detects it, as for files. Sequences are DNA if at least nine in ten letters
///     are ``ACGTUN`` in either case, or if at least half are and the rest are IUPAC codes of nucleotides.
/// descriptions : sequence of str, default=None
///     A text for each sequence, such as the text after the id in FASTA. ``None`` means no texts.
///
/// Examples
/// --------
/// >>> from lehr import Sequences
/// >>> genes = Sequences(["ACGT", "ACGA"], ids=["a", "b"])
/// >>> len(genes), genes[1], genes.alphabet
/// (2, 'ACGA', 'dna')
#[pyclass(frozen, module = "lehr", name = "Sequences")]
pub(crate) struct Sequences(pub lehr_data::Sequences);

#[pymethods]
impl Sequences {
    #[new]
    #[pyo3(signature = (texts, ids = None, alphabet = None, descriptions = None))]
    fn new(
        texts: Vec<String>,
        ids: Option<Vec<String>>,
        alphabet: Option<&str>,
        descriptions: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let alphabet = self::alphabet(alphabet)?.unwrap_or_else(|| Alphabet::likely(&texts));
        let sequences = lehr_data::Sequences::new(&texts, alphabet).map_err(errors::data)?;
        let sequences = match ids {
            Some(ids) => sequences.with_ids(ids).map_err(errors::data)?,
            None => sequences,
        };
        let sequences = match descriptions {
            Some(descriptions) => sequences.with_descriptions(descriptions).map_err(errors::data)?,
            None => sequences,
        };
        Ok(Self(sequences))
    }

    /// The description of each sequence: in FASTA, the text after the id. Empty if there is none.
    #[getter]
    fn descriptions(&self) -> Vec<String> {
        (0..self.0.len()).map(|row| self.0.description(row).to_owned()).collect()
    }

    /// The id of each sequence.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.0.ids().to_vec()
    }

    /// The alphabet: ``'dna'`` or ``'protein'``.
    #[getter]
    fn alphabet(&self) -> &'static str {
        alphabet_name(self.0.alphabet())
    }

    /// Whether all sequences have the same length, so that letters at the same position can be compared.
    #[getter]
    fn is_aligned(&self) -> bool {
        self.0.is_aligned()
    }

    /// Return the distinct sequences, their counts, and the index of each sequence among the distinct sequences.
    ///
    /// Returns
    /// -------
    /// distinct : Sequences
    ///     The distinct sequences, in the order of their first occurrence, with the ids of that occurrence.
    /// counts : ndarray of shape (n_distinct,), float64
    ///     How often each distinct sequence occurs. Use the counts as ``sample_weight``.
    /// inverse : ndarray of shape (n_sequences,), int64
    ///     For each sequence, its index in ``distinct``.
    ///
    /// Examples
    /// --------
    /// >>> from lehr import Sequences
    /// >>> distinct, counts, inverse = Sequences(["ACG", "TT", "ACG"]).distinct()
    /// >>> len(distinct), counts.tolist(), inverse.tolist()
    /// (2, [2.0, 1.0], [0, 1, 0])
    #[allow(clippy::type_complexity, reason = "a tuple of arrays")]
    fn distinct<'py>(&self, py: Python<'py>) -> (Self, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>) {
        let (distinct, duplicates) = self.0.distinct();
        let counts: Vec<f64> = duplicates.weights().into_iter().map(|count| count as f64).collect();
        let inverse: Vec<i64> = duplicates.item_of().iter().map(|item| *item as i64).collect();
        (Self(distinct), counts.into_pyarray(py), inverse.into_pyarray(py))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let text = |place: usize| String::from_utf8_lossy(self.0.sequence(place)).into_owned();
        if let Ok(index) = key.extract::<isize>() {
            return Ok(text(place(index, self.0.len())?).into_pyobject(py)?.into_any());
        }
        let places = chosen(key, self.0.len())?;
        if places.is_empty() {
            let none = lehr_data::Sequences::new::<&str>(&[], self.0.alphabet());
            return Err(none.map_or_else(errors::data, |_| errors::value("expected at least one sequence".to_owned())));
        }
        Ok(Self(self.0.select(&places)).into_pyobject(py)?.into_any())
    }

    fn __repr__(&self) -> String {
        format!("Sequences({} of {}, the longest {})", self.0.len(), self.alphabet(), self.0.longest())
    }

    /// Returns the arguments of the constructor, for pickle.
    fn __getnewargs__(&self) -> (Vec<String>, Vec<String>, &'static str, Vec<String>) {
        let texts = (0..self.0.len()).map(|index| String::from_utf8_lossy(self.0.sequence(index)).into_owned());
        (texts.collect(), self.ids(), self.alphabet(), self.descriptions())
    }
}

/// Fingerprints of molecules: rows of packed bits, each with an id.
///
/// Parameters
/// ----------
/// packed : ndarray of shape (n_rows, ceil(n_bits / 8)), uint8
///     The bits of each row. Bit 0 of a row is the lowest bit of its first byte, as in FPS files and ``numpy.packbits(..., bitorder="little")``.
/// n_bits : int
///     The number of bits in a row, at least 1.
/// ids : sequence of str, default=None
///     The id of each row. ``None`` means numbers from 0.
///
/// Examples
/// --------
/// >>> import numpy as np
/// >>> from lehr import Fingerprints
/// >>> prints = Fingerprints(np.array([[0b0111], [0b0011]], dtype=np.uint8), 4)
/// >>> len(prints), prints.n_bits
/// (2, 4)
#[pyclass(frozen, module = "lehr", name = "Fingerprints")]
pub(crate) struct Fingerprints(pub lehr_data::Fingerprints);

#[pymethods]
impl Fingerprints {
    #[new]
    #[pyo3(signature = (packed, n_bits, ids = None))]
    fn new(packed: PyReadonlyArray2<'_, u8>, n_bits: usize, ids: Option<Vec<String>>) -> PyResult<Self> {
        let view = packed.as_array();
        let width = n_bits.div_ceil(8);
        if n_bits == 0 || view.ncols() != width {
            return Err(errors::value(format!(
                "The 'packed' parameter must have ceil(n_bits / 8) columns. Got {} columns and n_bits={n_bits} instead.",
                view.ncols()
            )));
        }
        let mut words = Vec::with_capacity(view.nrows() * n_bits.div_ceil(64));
        for row in view.rows() {
            let bytes: Vec<u8> = row.iter().copied().collect();
            words.extend(bytes.chunks(8).map(|bytes| {
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                u64::from_le_bytes(word)
            }));
        }
        let fingerprints = lehr_data::Fingerprints::new(words, n_bits).map_err(errors::data)?;
        let fingerprints = match ids {
            Some(ids) => fingerprints.with_ids(ids).map_err(errors::data)?,
            None => fingerprints,
        };
        Ok(Self(fingerprints))
    }

    /// The id of each row.
    #[getter]
    fn ids(&self) -> Vec<String> {
        self.0.ids().to_vec()
    }

    /// The number of bits in a row.
    #[getter]
    fn n_bits(&self) -> usize {
        self.0.bits()
    }

    /// Returns the rows that a slice, a mask or an array of indices selects.
    fn __getitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<Self> {
        let places = chosen(key, self.0.len())?;
        let words = places.iter().flat_map(|place| self.0.row(*place)).copied().collect();
        let ids = places.iter().map(|place| self.0.ids()[*place].clone()).collect();
        let rows = lehr_data::Fingerprints::new(words, self.0.bits()).and_then(|rows| rows.with_ids(ids));
        Ok(Self(rows.map_err(errors::data)?))
    }

    /// Return the rows as packed bytes, as the constructor takes them.
    ///
    /// Returns
    /// -------
    /// ndarray of shape (n_rows, ceil(n_bits / 8)), uint8
    ///
    /// Examples
    /// --------
    /// >>> import numpy as np
    /// >>> from lehr import Fingerprints
    /// >>> Fingerprints(np.array([[7]], dtype=np.uint8), 3).packed().tolist()
    /// [[7]]
    fn packed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u8>>> {
        let width = self.0.bits().div_ceil(8);
        let mut bytes = Vec::with_capacity(self.0.len() * width);
        for row in 0..self.0.len() {
            let start = bytes.len();
            self.0.row(row).iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
            bytes.truncate(start + width);
        }
        arrays::table(py, bytes, width)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("Fingerprints({} of {} bits)", self.0.len(), self.0.bits())
    }

    /// Returns the arguments of the constructor, for pickle.
    #[allow(clippy::type_complexity, reason = "a tuple of arguments")]
    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray2<u8>>, usize, Vec<String>)> {
        Ok((self.packed(py)?, self.0.bits(), self.ids()))
    }
}

/// Reads the sequences of a FASTA file, plain or gzip-compressed.
#[pyfunction]
#[pyo3(signature = (path, *, alphabet = None, aligned = false))]
pub(crate) fn read_fasta(py: Python<'_>, path: PathBuf, alphabet: Option<&str>, aligned: bool) -> PyResult<Sequences> {
    let expected = Expected { alphabet: self::alphabet(alphabet)?, is_aligned: aligned };
    reading(py, path, move |path| fasta::sequences(path, expected))?.map(Sequences).map_err(errors::data)
}

/// Returns the warning that several items have the same id, if they do.
#[pyfunction]
pub(crate) fn shared_ids(ids: Vec<String>) -> Option<String> {
    lehr_data::duplicates::shared_ids(&ids)
}

/// Reads the fingerprints of an FPS file, plain or gzip-compressed.
#[pyfunction]
pub(crate) fn read_fps(py: Python<'_>, path: PathBuf) -> PyResult<Fingerprints> {
    reading(py, path, fps::fingerprints)?.map(Fingerprints).map_err(errors::data)
}

/// Reads the molecules of a file of SMILES or an SD file as fingerprints, plain or gzip-compressed.
#[pyfunction]
#[pyo3(signature = (path, *, fingerprint = "morgan"))]
pub(crate) fn read_molecules(py: Python<'_>, path: PathBuf, fingerprint: &str) -> PyResult<Fingerprints> {
    let kind: FingerprintKind = fingerprint.parse().map_err(|_| {
        let message = format!("The 'fingerprint' parameter must be 'morgan' or 'maccs'. Got {fingerprint:?} instead.");
        PyValueError::new_err(message)
    })?;
    reading(py, path, move |path| molecules::molecules(path, kind))?.map(Fingerprints).map_err(errors::data)
}
