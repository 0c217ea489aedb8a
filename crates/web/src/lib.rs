//! The viewer's files, which `make web` builds from `web/`: the files that `lehr serve` shows in a browser, and the
//! files that reports contain.
//!
//! The built files are committed, so that cargo needs neither Node.js nor the network. The gate `web` builds them again
//! and compares both builds. The node serves the files and sets their HTTP headers. Read next: `docs/design/web.md`.
#![forbid(unsafe_code)]

/// A file of the viewer.
///
/// # Example
/// See [`FILES`].
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// The name, relative to the viewer's base URL.
    pub name: &'static str,
    /// The media type, as in `Content-Type`.
    pub media_type: &'static str,
    /// The content.
    pub bytes: &'static [u8],
}

/// Makes an entry of [`FILES`] from the name of a file in `web/dist` and its media type.
macro_rules! file {
    ($name:literal, $media_type:literal) => {
        File { name: $name, media_type: $media_type, bytes: include_bytes!(concat!("../../../web/dist/", $name)) }
    };
}

/// All files of the viewer. `index.html` loads the other files.
///
/// # Example
/// ```
/// let page = lehr_web::FILES.iter().find(|file| file.name == "index.html").unwrap();
/// assert!(page.bytes.starts_with(b"<!doctype html>"));
/// ```
pub const FILES: &[File] = &[
    file!("index.html", "text/html; charset=utf-8"),
    file!("app.js", "text/javascript; charset=utf-8"),
    file!("anneal.js", "text/javascript; charset=utf-8"),
    file!("chart.js", "text/javascript; charset=utf-8"),
    file!("explore.js", "text/javascript; charset=utf-8"),
    file!("node.js", "text/javascript; charset=utf-8"),
    file!("preact.js", "text/javascript; charset=utf-8"),
    file!("width.js", "text/javascript; charset=utf-8"),
    file!("style.css", "text/css; charset=utf-8"),
    file!("icon.svg", "image/svg+xml"),
    File { name: "coast.json", media_type: "application/json", bytes: COAST.as_bytes() },
];

/// The coastlines and borders that maps show below geographic positions, in a compact form. Reports with such a map
/// contain them.
pub const COAST: &str = include_str!("../../../web/dist/coast.json");

/// The script of reports. It draws a report's figures from the data in the page, and loads nothing.
pub const REPORT_SCRIPT: &str = include_str!("../../../web/dist/report.js");
/// The SHA-256 of [`REPORT_SCRIPT`] in Base64, for a content security policy.
pub const REPORT_SCRIPT_HASH: &str = include_str!("../../../web/dist/report.sha256");
/// The style sheet of reports.
pub const REPORT_STYLE: &str = include_str!("../../../web/dist/report.css");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_that_was_built_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist");
        let mut built: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        built.sort_unstable();
        let of_reports = ["report.css", "report.js", "report.sha256"];
        let mut embedded: Vec<&str> = FILES.iter().map(|file| file.name).chain(of_reports).collect();
        embedded.sort_unstable();
        assert_eq!(embedded, built, "a file that `make web` made or no longer makes: change FILES");
    }

    #[test]
    fn nothing_in_the_files_of_reports_ends_the_element_that_holds_them() {
        assert!(
            !REPORT_SCRIPT.contains("</script") && !REPORT_SCRIPT.contains("<!--") && !REPORT_STYLE.contains("</style")
        );
        assert!(!COAST.contains('<'));
        assert_eq!(REPORT_SCRIPT_HASH.len(), 44, "32 bytes in base64");
    }
}
