//! Exit codes, and the errors that each stands for.
//!
//! | code | meaning | reaction of a script |
//! | --- | --- | --- |
//! | 0 | done | reads the results |
//! | 1 | no result | reports a bug or loosens the parameters |
//! | 2 | usage | corrects the command line |
//! | 3 | bad data | corrects the input, or parameters that do not fit it |
//! | 4 | environment | corrects a path, a permission, a disk |
//! | 130 | stopped | resumes |
//!
//! It is not a failure if the reader of standard output closes it (`lehr … | head`): the results are on disk.

use lehr_data::read::Contents;
use lehr_methods::OptionOf;

/// The reason why there is no result, in words for the user.
#[derive(Debug)]
pub struct Failure {
    /// The meaning of the exit code.
    pub kind: Kind,
    /// The message: one or more complete lines with the problem, the place and the expected value.
    pub message: String,
    /// A hint at a cure, if the message alone does not give one.
    pub hint: Option<String>,
}

/// The kinds of failure, each with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The method ended without a result.
    NoResult,
    /// The command line is invalid.
    Usage,
    /// The data are bad, or parameters do not fit them.
    BadData,
    /// A problem with files, permissions, disks or signals.
    Environment,
    /// Stopped by Ctrl-C or a termination signal.
    Stopped,
}

impl Kind {
    /// Returns the process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Kind::NoResult => 1,
            Kind::Usage => 2,
            Kind::BadData => 3,
            Kind::Environment => 4,
            Kind::Stopped => 130,
        }
    }
}

impl Failure {
    /// Creates a failure without a hint.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Failure { kind, message: in_plain_words(message.into()), hint: None }
    }

    /// Adds a hint that names a cure.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// Returns the operating system's message without its error number, in plain words where there are some.
fn in_plain_words(message: String) -> String {
    const MARK: &str = " (os error ";
    const WORDS: [(&str, &str); 4] = [
        ("No such file or directory", "no such file or folder"),
        ("Is a directory", "expected a file, found a folder"),
        ("Address already in use", "another program listens there already"),
        ("Connection refused", "no program listens at that address"),
    ];
    let mut rest = message.as_str();
    let mut plain = String::new();
    while let Some((before, (digits, after))) = rest.split_once(MARK).and_then(|(a, b)| Some((a, b.split_once(')')?))) {
        plain.push_str(before);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            plain.push_str(MARK);
            plain.push_str(digits);
            plain.push(')');
        } else if let Some((said, words)) = WORDS.iter().find(|(said, _)| plain.ends_with(said)) {
            plain.truncate(plain.len() - said.len());
            plain.push_str(words);
        }
        rest = after;
    }
    plain + rest
}

/// Rewrites faults of options to use the names on the command line.
pub fn as_typed(declared: &[OptionOf], faults: &[String]) -> String {
    let one = |fault: &String| {
        let (name, rest) = fault.split_once(": ").unwrap_or(("", fault));
        // An option name of one word may also be an ordinary word.
        let long = declared.iter().filter(|option| option.name.contains('_'));
        let rest =
            long.fold(rest.to_owned(), |rest, option| rest.replace(&option.name, &format!("--{}", option.long())));
        match declared.iter().find(|option| option.name == name) {
            Some(option) => format!("--{}: {rest}", option.long()),
            None if name.is_empty() => rest,
            None => format!("--{}: {rest}", name.replace('_', "-")),
        }
    };
    faults.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Returns the hint for a file with contents that the command does not take.
fn who_takes(found: Contents) -> Option<&'static str> {
    Some(match found {
        Contents::Table | Contents::Array { .. } => {
            "lehr distances computes the dissimilarities of rows; lehr cluster takes rows as they are"
        }
        Contents::Sequences => "lehr distances compares sequences; lehr pairwise and lehr embed take what it writes",
        Contents::Reads => "lehr distances takes FASTA: convert the file, for example with seqtk seq -a",
        Contents::Molecules => "lehr cluster and lehr distances take molecules: SMILES (.smi) and SD files (.sdf)",
        Contents::Fingerprints => "lehr cluster takes fingerprints, and lehr distances compares them",
        Contents::SvmLight | Contents::MatrixMarket => "lehr cluster takes sparse rows",
        Contents::Dissimilarities => "lehr pairwise and lehr embed take dissimilarities",
        _ => return None,
    })
}

/// Converts a reader's error for rows without missing values. If values are missing, adds the command's hint for such
/// rows.
pub fn of_rows(error: lehr_data::Error, for_gaps: &'static str) -> Failure {
    let has_gaps = error.gaps() > 0;
    let failure = Failure::from(error);
    if has_gaps { failure.with_hint(for_gaps) } else { failure }
}

/// The hint of a command that prepares tables and fills missing values.
pub const GAPS_FILLED: &str =
    "--auto prepares the whole table, gaps too; --missing only fills the gaps, from the nearest rows";
/// The commands that take rows with missing values, for the messages of those that don't.
pub const GAPS_ELSEWHERE: &str =
    "lehr distances compares rows with missing values, and lehr mixture and lehr gtm take them with --missing";
/// The hint of a command that takes rows with missing values itself.
pub const GAPS_HERE: &str = "--missing takes rows with missing values; --auto prepares the whole table";
/// The hint for a model, whose columns are known.
pub const GAPS_OF_MODEL: &str = "--missing takes rows with missing values";

impl From<lehr_data::Error> for Failure {
    fn from(error: lehr_data::Error) -> Self {
        let kind = if error.is_environment() { Kind::Environment } else { Kind::BadData };
        let failure = Failure::new(kind, error.to_string());
        match &error {
            lehr_data::Error::Contents { found, .. } => match who_takes(*found) {
                Some(hint) => failure.with_hint(hint),
                None => failure,
            },
            lehr_data::Error::Memory { .. } => failure
                .with_hint("with --spill FOLDER lehr cluster, mixture and gtm keep the rows in files of a folder; --columns takes fewer columns"),
            _ => failure,
        }
    }
}

impl From<lehr_demos::Error> for Failure {
    fn from(error: lehr_demos::Error) -> Self {
        use lehr_demos::Error;
        match error {
            Error::Usage(message) => Failure::new(Kind::Usage, message),
            Error::Data(error) => error.into(),
            Error::Method(error) => error.into(),
        }
    }
}

impl From<lehr_methods::Unreadable> for Failure {
    fn from(error: lehr_methods::Unreadable) -> Self {
        let kind = if error.is_environment { Kind::Environment } else { Kind::BadData };
        Failure { hint: error.hint.map(str::to_owned), ..Failure::new(kind, error.message) }
    }
}

impl From<lehr_distances::Error> for Failure {
    fn from(error: lehr_distances::Error) -> Self {
        use lehr_distances::Error;
        let message = error.to_string();
        match error {
            Error::Stopped => Failure::new(Kind::Stopped, message),
            Error::Parameter { .. } => Failure::new(Kind::Usage, as_typed(&[], &[message])),
            Error::Unsuited { .. } => Failure::new(Kind::BadData, message),
            Error::Overflow { element: "f32", .. } => Failure::new(Kind::BadData, message)
                .with_hint("--element f64 stores larger ones; --standardize brings columns to one scale"),
            Error::Overflow { .. } => Failure::new(Kind::BadData, message)
                .with_hint("--standardize brings columns to one scale; or divide the numbers by a constant"),
            Error::Underflow { element: "f32" } => Failure::new(Kind::BadData, message)
                .with_hint("--element f64 stores smaller ones; --standardize brings columns to one scale"),
            Error::Underflow { .. } => Failure::new(Kind::BadData, message)
                .with_hint("--standardize brings columns to one scale; or multiply the numbers by a constant"),
            Error::OtherRun { .. } => Failure::new(Kind::BadData, message)
                .with_hint("--resume needs the same input and the same options as the run that was stopped"),
            Error::CheckpointDamaged { .. } => {
                Failure::new(Kind::BadData, message).with_hint("start again with --out and --force, without --resume")
            }
            Error::TooLarge { .. } => Failure::new(Kind::Environment, message)
                .with_hint("--collapse makes equal items one; --memory GIB allows more"),
            Error::File { .. } => Failure::new(Kind::Environment, message),
            _ => Failure::new(Kind::NoResult, message),
        }
    }
}

impl From<lehr_mining::Error> for Failure {
    fn from(error: lehr_mining::Error) -> Self {
        use lehr_mining::Error;
        let message = error.to_string();
        match error {
            Error::Data(error) => error.into(),
            Error::Stopped => Failure::new(Kind::Stopped, message),
            Error::Parameter { name: "cost", .. } => {
                Failure::new(Kind::Usage, message).with_hint("an .fps file has rows of bits, or a .npy with --bits")
            }
            Error::Parameter { .. } => Failure::new(Kind::Usage, message),
            Error::TooManyClusters { .. }
            | Error::TooManyComponents { .. }
            | Error::TooManyDimensions { .. }
            | Error::TooManyPoints { .. }
            | Error::TooFar { .. }
            | Error::Disconnected { .. }
            | Error::TooNear { .. }
            | Error::MostlyOutside { .. }
            | Error::Unrelated { .. }
            | Error::Incomplete { .. } => Failure::new(Kind::BadData, message),
            Error::Unobserved { .. } => Failure::new(Kind::BadData, message).with_hint("--columns leaves columns out"),
            Error::Constant { .. } => Failure::new(Kind::BadData, message)
                .with_hint("--columns leaves columns out; a map, and a mixture with --covariance spherical, need only one that varies"),
            Error::Collapsed { .. } => Failure::new(Kind::BadData, message)
                .with_hint("raise --regularization, or ask for fewer components or a simpler --covariance"),
            Error::OtherData { .. } => Failure::new(Kind::BadData, message).with_hint(
                "--resume needs the same input and the same --columns, --weights, --lonlat and --scale as the run that was stopped",
            ),
            Error::CheckpointVersion { .. } => Failure::new(Kind::BadData, message)
                .with_hint("resume with the version of lehr that wrote it, or start again with --force and without --resume"),
            Error::CheckpointDamaged { .. } => {
                Failure::new(Kind::BadData, message).with_hint("start again with --force and without --resume")
            }
            Error::File { .. } | Error::Memory { .. } | Error::Spill(_) => Failure::new(Kind::Environment, message),
            _ => Failure::new(Kind::NoResult, message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_quoted_in_plain_words() {
        let said = |message: &str| Failure::new(Kind::Environment, message).message;
        assert_eq!(said("p.json: No such file or directory (os error 2)"), "p.json: no such file or folder");
        assert_eq!(said("a: Is a directory (os error 21); b"), "a: expected a file, found a folder; b");
        assert_eq!(said("cannot: Input/output error (os error 5)"), "cannot: Input/output error");
        assert_eq!(said("a name (os error x) stays"), "a name (os error x) stays");
    }
}
