//! Reads molecules from files of SMILES and SD files, and makes fingerprints of them.
//!
//! The name of a file decides its notation: `.smi`, `.smiles` and `.ism` are SMILES, `.sdf`, `.sd` and `.mol` SD files. An
//! SD file is also recognised by the version in its fourth line. Both may be compressed with gzip.

mod sd;
mod smiles;

use std::io::Read;
use std::path::Path;

use lehr_molecules::Molecule;

use super::fps;
use super::source::Source;
use crate::error::{Error, Fault, Faults, Place};
use crate::fingerprints::{FingerprintKind, Fingerprints};
use crate::object::{self, is_lasting};

/// The radius of circular fingerprints, in bonds.
pub const RADIUS: u32 = 2;

/// How molecules are written in a file.
///
/// # Example
/// ```
/// use lehr_data::read::molecules::Notation;
/// assert_eq!(Notation::of_name("compounds.smi.gz"), Some(Notation::Smiles));
/// assert_eq!(Notation::of_name("Compounds.SDF"), Some(Notation::Sd));
/// assert_eq!(Notation::of_name("compounds.csv"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// Lines with a structure in SMILES and a name.
    Smiles,
    /// Entries of an SD file, with fields of data, or a single mol file.
    Sd,
}

impl Notation {
    /// Returns the notation that the name of a file shows.
    ///
    /// # Example
    /// See [`Notation`].
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let (_, ending) = name.trim_end_matches(".gz").rsplit_once('.')?;
        match ending {
            "smi" | "smiles" | "ism" => Some(Self::Smiles),
            "sdf" | "sd" | "mol" => Some(Self::Sd),
            _ => None,
        }
    }

    /// Returns the notation of a file, by its name or its first lines; `None` for a file that cannot be opened. Only
    /// regular files are opened, because what is read from others is gone.
    ///
    /// # Example
    /// ```
    /// use lehr_data::read::molecules::Notation;
    /// assert_eq!(Notation::of_file("compounds.smi".as_ref()), Some(Notation::Smiles));
    /// ```
    pub fn of_file(path: &Path) -> Option<Self> {
        let by_contents = || {
            if !is_lasting(path) {
                return None;
            }
            Self::of(&mut Source::open(path).ok()?)
        };
        Self::of_name(&object::shown(path)).or_else(by_contents)
    }

    /// Returns the notation of a source, by its name or its first lines.
    pub(super) fn of(source: &mut Source<'_>) -> Option<Self> {
        let is_sd = |source: &mut Source<'_>| super::contents::begins_as_sd(source.peek(super::contents::LOOKED_AT));
        Self::of_name(source.name()).or_else(|| is_sd(source).then_some(Self::Sd))
    }
}

/// Molecules of a file: their fingerprints with ids and structures, and the fields of data of an SD file.
#[derive(Clone, Debug, PartialEq)]
pub struct Compounds {
    /// The fingerprints, with the names of the molecules as ids and their structures in SMILES.
    pub fingerprints: Fingerprints,
    /// The fields of an SD file in the order of their appearance: the name, and a text for each molecule. The text is
    /// empty if a molecule does not have the field.
    pub fields: Vec<(String, Vec<String>)>,
}

/// Reads the molecules of a file of SMILES or of an SD file, plain or gzip, as fingerprints with their structures.
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`], [`Error::CutShort`]: the file cannot be read to its end.
/// - [`Error::Format`] if it has no molecules, or a line of more than 1 MiB.
/// - [`Error::Encoding`] for text that is not UTF-8.
/// - [`Error::Faults`] with every molecule that cannot be read: the first ten in full, and the total number.
pub fn molecules(path: &Path, kind: FingerprintKind) -> Result<Fingerprints, Error> {
    let mut source = Source::open(path)?;
    let notation = Notation::of(&mut source).unwrap_or(Notation::Smiles);
    read(source, notation, kind)
}

/// Reads the fingerprints of an FPS file, or makes those of a kind of the molecules of another file.
///
/// # Errors
/// Returns the errors of [`molecules`] and of [`fps::fingerprints`]; [`Error::Format`] for a kind if the file has no
/// molecules.
pub fn fingerprints(path: &Path, kind: Option<FingerprintKind>) -> Result<Fingerprints, Error> {
    let mut source = Source::open(path)?;
    match (Notation::of(&mut source), kind) {
        (Some(notation), kind) => read(source, notation, kind.unwrap_or_default()),
        (None, Some(kind)) => Err(no_molecules(source.name(), kind)),
        (None, None) => fps::read(source),
    }
}

/// Returns the error for a kind of fingerprints without molecules to make them of.
pub(super) fn no_molecules(name: &str, kind: FingerprintKind) -> Error {
    Error::Format {
        name: name.into(),
        expected: format!("molecules (.smi or .sdf), to make the fingerprint {} of them", kind.word()),
        found: "other data".into(),
    }
}

/// Makes fingerprints of structures in SMILES, such as those of a data set; messages call it `name`.
///
/// # Errors
/// Returns [`Error::Faults`] with every row that is not SMILES; [`Error::Shape`] if there are none.
///
/// # Example
/// ```
/// use lehr_data::FingerprintKind;
/// use lehr_data::read::molecules::of_structures;
/// let prints = of_structures(&["CCO", "c1ccccc1"].map(str::to_owned), "two", FingerprintKind::Morgan)?;
/// assert_eq!((prints.len(), prints.count(0)), (2, 6));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn of_structures(structures: &[String], name: &str, kind: FingerprintKind) -> Result<Fingerprints, Error> {
    let (mut made, mut faults) = (Made::new(kind, u64::MAX), Faults::new(name));
    for (row, structure) in structures.iter().enumerate() {
        if let Err((expected, found)) = smiles::add(&mut made, structure, "") {
            faults.add_with(|| Fault { place: Place::Row(row as u64), column: None, expected, found });
        }
    }
    faults.or(())?;
    made.finished(name.to_owned())
}

/// Reads molecules from a reader; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`molecules`], except for opening a file. Returns [`Error::Format`] also for more than 1,000
/// different fields, and for more than 20 million values of them. Empty values count too. Returns [`Error::Memory`] if
/// the molecules take more than `bytes_max` bytes, with their fingerprints in hexadecimal.
///
/// # Example
/// ```
/// use lehr_data::FingerprintKind;
/// use lehr_data::read::molecules::{Notation, compounds_from};
/// let text = "CCO ethanol\nc1ccccc1 benzene\n";
/// let compounds = compounds_from(text.as_bytes(), "two.smi", Notation::Smiles, FingerprintKind::Maccs, 1 << 20)?.fingerprints;
/// assert_eq!((compounds.bits(), compounds.ids()), (167, &["ethanol".to_owned(), "benzene".to_owned()][..]));
/// assert_eq!(compounds.smiles().unwrap()[1], "c1ccccc1");
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn compounds_from(
    reader: impl Read,
    name: &str,
    notation: Notation,
    kind: FingerprintKind,
    bytes_max: u64,
) -> Result<Compounds, Error> {
    let (source, made) = (Source::new(reader, name)?, Made::new(kind, bytes_max));
    match notation {
        Notation::Smiles => Ok(Compounds { fingerprints: smiles::read(source, made)?, fields: Vec::new() }),
        Notation::Sd => sd::read(source, made, true),
    }
}

/// Reads molecules without fields of data, which take memory.
pub(super) fn read(source: Source<'_>, notation: Notation, kind: FingerprintKind) -> Result<Fingerprints, Error> {
    match notation {
        Notation::Smiles => smiles::read(source, Made::new(kind, u64::MAX)),
        Notation::Sd => Ok(sd::read(source, Made::new(kind, u64::MAX), false)?.fingerprints),
    }
}

/// Fingerprints of molecules that are read one after the other.
struct Made {
    kind: FingerprintKind,
    words: Vec<u64>,
    ids: Vec<String>,
    structures: Vec<String>,
    /// The bytes of all molecules so far, with their fingerprints as text.
    bytes: u64,
    bytes_max: u64,
}

impl Made {
    fn new(kind: FingerprintKind, bytes_max: u64) -> Self {
        Self { kind, words: Vec::new(), ids: Vec::new(), structures: Vec::new(), bytes: 0, bytes_max }
    }

    /// Counts the bytes of texts that belong to a molecule.
    ///
    /// # Errors
    /// Returns [`Error::Memory`] if the molecules take more bytes than they may.
    fn count(&mut self, name: &str, texts: usize) -> Result<(), Error> {
        // Two hexadecimal digits are a byte.
        self.bytes += (texts + self.kind.bits().div_ceil(4)) as u64;
        if self.bytes > self.bytes_max {
            return Err(Error::Memory { name: name.to_owned(), bytes: self.bytes as usize });
        }
        Ok(())
    }

    /// Adds a molecule. Without a title, it is called by its number, from 0. Fails with the expected and the
    /// found text, if the search for its keys takes too long.
    fn add(&mut self, molecule: &Molecule, title: &str, structure: String) -> Result<(), (String, String)> {
        match self.kind {
            FingerprintKind::Morgan => self.words.extend(molecule.morgan_bits(RADIUS, self.kind.bits() as u32)),
            FingerprintKind::Maccs => match molecule.maccs() {
                Some(words) => self.words.extend(words),
                None => {
                    let expected = "a molecule whose MACCS keys are found in a few seconds";
                    return Err((expected.to_owned(), "more atoms with many bonds than can be searched".to_owned()));
                }
            },
        }
        self.ids.push(if title.is_empty() { self.structures.len().to_string() } else { title.to_owned() });
        self.structures.push(structure);
        Ok(())
    }

    fn finished(self, name: String) -> Result<Fingerprints, Error> {
        let prints = Fingerprints::new(self.words, self.kind.bits())?;
        Ok(prints.with_ids(self.ids)?.with_smiles(self.structures)?.with_name(name))
    }
}
