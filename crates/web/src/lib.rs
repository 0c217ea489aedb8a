//! The files of the viewer that `lehr serve` shows in a browser, as `make web` builds them from `web/`.
//!
//! They are committed, so that cargo needs neither Node.js nor the network. The gate `web` builds them again and compares. Who serves them, and with which
//! headers, is said by the node. Read next: `docs/design/web.md`.
#![forbid(unsafe_code)]

/// A file of the viewer.
///
/// # Example
/// See [`FILES`].
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its name below the address of the viewer.
    pub name: &'static str,
    /// What it is, as `Content-Type` says it.
    pub media_type: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

/// One entry: a name in `web/dist` and what it is.
macro_rules! file {
    ($name:literal, $media_type:literal) => {
        File { name: $name, media_type: $media_type, bytes: include_bytes!(concat!("../../../web/dist/", $name)) }
    };
}

/// All files of the viewer. The page that loads the others is `index.html`.
///
/// # Example
/// ```
/// let page = lehr_web::FILES.iter().find(|file| file.name == "index.html").unwrap();
/// assert!(page.bytes.starts_with(b"<!doctype html>"));
/// ```
pub const FILES: &[File] = &[
    file!("index.html", "text/html; charset=utf-8"),
    file!("app.js", "text/javascript; charset=utf-8"),
    file!("explore.js", "text/javascript; charset=utf-8"),
    file!("style.css", "text/css; charset=utf-8"),
    file!("icon.svg", "image/svg+xml"),
];

#[cfg(test)]
mod tests {
    use super::FILES;

    #[test]
    fn every_file_that_was_built_is_embedded() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/dist");
        let mut built: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        built.sort_unstable();
        let mut embedded: Vec<&str> = FILES.iter().map(|file| file.name).collect();
        embedded.sort_unstable();
        assert_eq!(embedded, built, "a file that `make web` made or no longer makes: change FILES");
    }
}
