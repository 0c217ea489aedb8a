//! Conditional requests (RFC 9110, section 13): version tags, and the conditions that a request sets for the current
//! version.

use hyper::header::{self, HeaderMap, HeaderName};

/// The suffix of the tag of a compressed answer.
pub(crate) const GZIP: &str = "-gzip";

/// Returns the tag of a version of the state in one incarnation of a service.
pub(crate) fn tag(incarnation: u64, version: u64) -> String {
    format!("\"{incarnation:x}-{version}\"")
}

/// Returns the incarnation and the version of a tag; `None` if the tag is not Lehr's.
pub(crate) fn read_tag(text: &str) -> Option<(u64, u64)> {
    let bare = text.trim().strip_prefix('"')?.strip_suffix('"')?;
    let (incarnation, version) = bare.strip_suffix(GZIP).unwrap_or(bare).split_once('-')?;
    Some((u64::from_str_radix(incarnation, 16).ok()?, version.parse().ok()?))
}

/// The tags in all lines of one header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Tags {
    /// `*`: any version.
    Any,
    /// The tags of this node, as incarnation and version.
    These(Vec<(u64, u64)>),
}

impl Tags {
    /// Returns the tags of `If-Match`. A request changes the state only if the current version is among these tags. A
    /// weak tag never matches.
    pub(crate) fn demanded(headers: &HeaderMap) -> Option<Self> {
        Self::of(headers, &header::IF_MATCH, read_tag)
    }

    /// Returns the tags of `If-None-Match`: the versions that the client already has. For this comparison, weak tags
    /// count like strong ones.
    pub(crate) fn known(headers: &HeaderMap) -> Option<Self> {
        Self::of(headers, &header::IF_NONE_MATCH, |tag| read_tag(tag.strip_prefix("W/").unwrap_or(tag)))
    }

    fn of(headers: &HeaderMap, name: &HeaderName, read: impl Fn(&str) -> Option<(u64, u64)>) -> Option<Self> {
        let mut lines = headers.get_all(name).iter().peekable();
        lines.peek()?;
        let mut tags = Vec::new();
        for line in lines {
            // Lehr's tags contain no comma. If a foreign tag contains one, its parts are not Lehr's tags either.
            for tag in line.to_str().unwrap_or_default().split(',').map(str::trim) {
                if tag == "*" {
                    return Some(Self::Any);
                }
                tags.extend(read(tag));
            }
        }
        Some(Self::These(tags))
    }

    /// Returns whether a version is among the tags.
    pub(crate) fn contain(&self, version: (u64, u64)) -> bool {
        match self {
            Self::Any => true,
            Self::These(tags) => tags.contains(&version),
        }
    }
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn headers(name: HeaderName, lines: &[&'static str]) -> HeaderMap {
        lines.iter().map(|line| (name.clone(), HeaderValue::from_static(line))).collect()
    }

    #[test]
    fn what_is_no_tag_of_ours_is_none() {
        assert_eq!(read_tag(&tag(0xabc, 7)), Some((0xabc, 7)));
        assert_eq!(read_tag("\"abc-7-gzip\""), Some((0xabc, 7)));
        assert_eq!(["", "*", "\"x\"", "W/\"1-2\"", "\"1-2"].map(read_tag), [None; 5]);
    }

    #[test]
    fn tags_are_read_from_lists_and_from_several_lines() {
        let demanded = |lines: &[&'static str]| Tags::demanded(&headers(header::IF_MATCH, lines));
        assert_eq!(demanded(&[]), None);
        assert_eq!(demanded(&[r#""x", "a-2""#]), Some(Tags::These(vec![(10, 2)])));
        assert_eq!(demanded(&[r#""1-2""#, r#""1-3" ,"1-4""#]), Some(Tags::These(vec![(1, 2), (1, 3), (1, 4)])));
        assert_eq!(demanded(&[r#"W/"1-2""#]), Some(Tags::These(vec![])));
        assert_eq!(demanded(&["*"]), Some(Tags::Any));
    }

    #[test]
    fn a_weak_tag_is_known_as_a_strong_one_is() {
        let known = |lines: &[&'static str]| Tags::known(&headers(header::IF_NONE_MATCH, lines)).unwrap();
        assert!(known(&[r#"W/"1-2", "1-5""#]).contain((1, 2)));
        assert!(!known(&[r#"W/"1-2""#]).contain((1, 3)));
        assert!(known(&["*"]).contain((1, 3)));
    }
}
