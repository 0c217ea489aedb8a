//! Forms with files (`multipart/form-data`, RFC 7578), as browsers and `curl -F` send them: one part is the file, the
//! other parts are fields.
//!
//! An operation that takes bytes also takes such a form. The file becomes the body, and the form's fields override the
//! fields in the query string of the URL.

use lehr_services::{Code, Fault};

/// The maximum number of parts in a form.
const PARTS_MAX: usize = 64;

/// A form with one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Form<'a> {
    /// The names and texts of the parts that are not the file.
    pub fields: Vec<(String, String)>,
    /// The media type that the file's part states, or else the media type that the file's name implies.
    pub media_type: Option<&'static str>,
    /// The bytes of the file.
    pub file: &'a [u8],
}

/// Media types by file extension.
const ENDINGS: [(&str, &str); 8] = [
    ("csv", "text/csv"),
    ("tsv", "text/tab-separated-values"),
    ("npy", "application/x-npy"),
    ("parquet", "application/vnd.apache.parquet"),
    ("arrows", "application/vnd.apache.arrow.stream"),
    ("arrow", "application/vnd.apache.arrow.file"),
    ("feather", "application/vnd.apache.arrow.file"),
    ("json", "application/json"),
];

fn wrong(expected: &str) -> Fault {
    Fault::new(Code::MessageNotSupported, format!("the form: expected {expected}"))
}

/// Returns the boundary in a content type `multipart/form-data`.
pub(crate) fn boundary(content_type: &str) -> Option<&str> {
    let (essence, parameters) = content_type.split_once(';')?;
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return None;
    }
    let value = parameter(parameters, "boundary")?;
    (1..=70).contains(&value.len()).then_some(value)
}

/// Returns a parameter of a header, without its quotes.
fn parameter<'a>(parameters: &'a str, wanted: &str) -> Option<&'a str> {
    parameters.split(';').find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim().trim_matches('"'))
    })
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut from = 0;
    // The first byte of a boundary's line end is rare, so searching for that byte alone is fast.
    while let Some(place) = bytes[from..].iter().position(|byte| *byte == wanted[0]) {
        let place = from + place;
        if bytes[place..].starts_with(wanted) {
            return Some(place);
        }
        from = place + 1;
    }
    None
}

impl<'a> Form<'a> {
    /// Reads a form. The file is the part with a file name, or else the part `file` or `data`.
    ///
    /// # Errors
    /// Returns [`Code::MessageNotSupported`] if the body is not such a form, or does not have exactly one file.
    pub(crate) fn read(body: &'a [u8], boundary: &str) -> Result<Self, Fault> {
        let begin = format!("--{boundary}");
        let between = format!("\r\n--{boundary}");
        let mut rest = match body.strip_prefix(begin.as_bytes()) {
            Some(rest) => rest,
            None => {
                let place = find(body, between.as_bytes()).ok_or_else(|| wrong("parts between its boundaries"))?;
                &body[place + between.len()..]
            }
        };
        let (mut fields, mut files) = (Vec::new(), Vec::new());
        for _ in 0..PARTS_MAX {
            if rest.starts_with(b"--") {
                let [(media_type, file)] = files[..] else {
                    return Err(wrong(&format!("one file, found {}", files.len())));
                };
                return Ok(Self { fields, media_type, file });
            }
            let part = rest.strip_prefix(b"\r\n").ok_or_else(|| wrong("a line end behind each boundary"))?;
            let end = find(part, between.as_bytes()).ok_or_else(|| wrong("a boundary behind its last part"))?;
            let (part, behind) = (&part[..end], &part[end + between.len()..]);
            rest = behind;
            let head = find(part, b"\r\n\r\n").ok_or_else(|| wrong("an empty line behind the headers of a part"))?;
            let content = &part[head + 4..];
            let headers = std::str::from_utf8(&part[..head]).map_err(|_| wrong("headers in UTF-8"))?;
            let header = |wanted: &str| {
                headers.split("\r\n").find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.trim().eq_ignore_ascii_case(wanted).then(|| value.trim())
                })
            };
            let disposition =
                header("content-disposition").ok_or_else(|| wrong("a content-disposition in each part"))?;
            let name = parameter(disposition, "name").ok_or_else(|| wrong("a name of each part"))?;
            let file_name = parameter(disposition, "filename");
            if file_name.is_some() || matches!(name, "file" | "data") {
                let said = header("content-type").map(|text| text.split(';').next().unwrap_or_default().trim());
                let known = ENDINGS.iter().map(|(_, media_type)| *media_type);
                let by_type = said.and_then(|said| known.into_iter().find(|known| known.eq_ignore_ascii_case(said)));
                let by_name = || {
                    let name = file_name?.strip_suffix(".gz").or(file_name)?;
                    let (_, ending) = name.rsplit_once('.')?;
                    ENDINGS
                        .iter()
                        .find(|(known, _)| known.eq_ignore_ascii_case(ending))
                        .map(|(_, media_type)| *media_type)
                };
                files.push((by_type.or_else(by_name), content));
            } else {
                let text = std::str::from_utf8(content).map_err(|_| wrong(&format!("the field {name:?} in UTF-8")))?;
                fields.push((name.to_owned(), text.to_owned()));
            }
        }
        Err(wrong(&format!("at most {PARTS_MAX} parts")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(parts: &[&str]) -> Vec<u8> {
        let parts: String =
            parts.iter().map(|part| format!("--XX\r\nContent-Disposition: form-data; {part}\r\n")).collect();
        format!("{parts}--XX--\r\n").into_bytes()
    }

    #[test]
    fn the_file_and_the_fields_are_told_apart() {
        let body = form(&[
            "name=\"name\"\r\n\r\nsites",
            "name=\"f\"; filename=\"a.csv\"\r\nContent-Type: application/octet-stream\r\n\r\nx\r\n1\r\n--X\r\n",
        ]);
        let found = Form::read(&body, "XX").unwrap();
        assert_eq!(found.fields, [("name".to_owned(), "sites".to_owned())]);
        assert_eq!((found.media_type, found.file), (Some("text/csv"), &b"x\r\n1\r\n--X\r\n"[..]));
        let typed = form(&["name=\"file\"\r\ncontent-type: application/x-npy\r\n\r\n\u{93}"]);
        assert_eq!(Form::read(&typed, "XX").unwrap().media_type, Some("application/x-npy"));
        let packed = form(&["name=\"file\"; filename=\"a.tsv.gz\"\r\n\r\nx"]);
        assert_eq!(Form::read(&packed, "XX").unwrap().media_type, Some("text/tab-separated-values"));
    }

    #[test]
    fn what_is_no_form_is_refused() {
        for (body, expected) in [
            (b"".to_vec(), "parts between"),
            (b"--XX--\r\n".to_vec(), "one file, found 0"),
            (
                form(&["name=\"a\"; filename=\"a\"\r\n\r\n1", "name=\"b\"; filename=\"b\"\r\n\r\n2"]),
                "one file, found 2",
            ),
            (b"--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1".to_vec(), "a boundary behind"),
            (b"--XX\r\nno headers\r\n--XX--".to_vec(), "an empty line"),
            (form(&["filename=\"a\"\r\n\r\n1"]), "a name of each part"),
            (form(&["name=\"a\"\r\n\r\n1"; 80]), "at most 64 parts"),
        ] {
            let fault = Form::read(&body, "XX").unwrap_err();
            assert!(fault.reason().contains(expected), "{fault}");
        }
    }

    #[test]
    fn boundaries_are_those_of_forms() {
        assert_eq!(boundary("multipart/form-data; boundary=\"a b\""), Some("a b"));
        assert_eq!(boundary("Multipart/Form-Data; charset=utf-8; boundary=x"), Some("x"));
        assert_eq!(boundary("multipart/mixed; boundary=x"), None);
        assert_eq!(boundary("multipart/form-data"), None);
        assert_eq!(boundary(&format!("multipart/form-data; boundary={}", "x".repeat(71))), None);
    }
}
