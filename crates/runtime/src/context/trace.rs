//! The one part of a context that has a meaning outside the process: the parent span of a distributed trace.

use std::fmt;
use std::str::FromStr;

/// A span of a distributed trace, as in W3C's `traceparent` header.
///
/// # Example
/// ```
/// use lehr_runtime::TraceParent;
/// let header = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
/// let trace: TraceParent = header.parse().unwrap();
/// assert_eq!((trace.is_sampled(), trace.to_string()), (true, header.to_owned()));
/// assert!("00-0-0-0".parse::<TraceParent>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TraceParent {
    /// The identifier of the trace; not 0.
    pub trace: u128,
    /// The identifier of the span; not 0.
    pub span: u64,
    /// The flags of the trace; bit 0 says that the caller records this trace.
    pub flags: u8,
}

impl TraceParent {
    /// Returns whether the caller records this trace.
    ///
    /// # Example
    /// See [`TraceParent`].
    pub fn is_sampled(&self) -> bool {
        self.flags & 1 == 1
    }
}

impl fmt::Display for TraceParent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "00-{:032x}-{:016x}-{:02x}", self.trace, self.span, self.flags)
    }
}

/// The error for a text that is not a valid `traceparent`.
///
/// # Example
/// ```
/// let error = "nonsense".parse::<lehr_runtime::TraceParent>().unwrap_err();
/// assert_eq!(error.to_string(), "not a traceparent: expected 00-<32 hex digits>-<16 hex digits>-<2 hex digits>, found \"nonsense\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParentError {
    found: String,
}

impl fmt::Display for TraceParentError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = "00-<32 hex digits>-<16 hex digits>-<2 hex digits>";
        write!(formatter, "not a traceparent: expected {form}, found {:?}", self.found)
    }
}

impl std::error::Error for TraceParentError {}

impl FromStr for TraceParent {
    type Err = TraceParentError;

    fn from_str(text: &str) -> Result<Self, TraceParentError> {
        let refuse = || TraceParentError { found: text.to_owned() };
        let digits = |part: &str, length: usize| {
            part.len() == length && part.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        };
        let parts: Vec<&str> = text.split('-').collect();
        let [version, trace, span, flags] = parts[..] else { return Err(refuse()) };
        if version != "00" || !digits(trace, 32) || !digits(span, 16) || !digits(flags, 2) {
            return Err(refuse());
        }
        let parsed = Self {
            trace: u128::from_str_radix(trace, 16).map_err(|_| refuse())?,
            span: u64::from_str_radix(span, 16).map_err(|_| refuse())?,
            flags: u8::from_str_radix(flags, 16).map_err(|_| refuse())?,
        };
        // The standard says that identifiers of only zeros are invalid.
        if parsed.trace == 0 || parsed.span == 0 { Err(refuse()) } else { Ok(parsed) }
    }
}
