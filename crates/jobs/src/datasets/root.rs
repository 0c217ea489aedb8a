//! The data root: the only folder whose files clients may open.

use std::fs::File;
use std::path::{Component, Path, PathBuf};

use lehr_services::{Code, Fault};

/// A folder whose files clients may open, but no file outside it.
#[derive(Debug)]
pub(crate) struct Root {
    folder: File,
    path: PathBuf,
}

impl Root {
    /// # Errors
    /// Returns [`Code::StartFailed`] if the path is not a folder.
    pub(crate) fn new(path: &Path) -> Result<Self, Fault> {
        let failed = |error: &dyn std::fmt::Display| {
            Fault::new(Code::StartFailed, format!("the data root {}: {error}", path.display()))
        };
        let canonical = path.canonicalize().map_err(|error| failed(&error))?;
        if !canonical.is_dir() {
            return Err(failed(&"expected a folder, found a file"));
        }
        let folder = File::open(&canonical).map_err(|error| failed(&error))?;
        Ok(Self { folder, path: canonical })
    }

    /// Opens a file for reading. Links that stay inside the root are followed; links that lead out of the root are
    /// refused.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] for an absolute path or a path with `..`, and [`Code::UnknownEntry`] if there is
    /// no such file. Returns [`Code::PermissionDenied`] if a link leads out of the root, or if the node may not read
    /// the file.
    pub(crate) fn open(&self, path: &str) -> Result<File, Fault> {
        let relative = Path::new(path);
        let is_inside = !path.is_empty() && relative.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_inside || path.contains('\0') {
            let reason = format!("path: expected a file below the data root, without \"..\", found {path:?}");
            return Err(Fault::new(Code::InvalidValue, reason));
        }
        let file = self.open_beneath(relative)?;
        let about = file.metadata().map_err(|error| refused(path, &error))?;
        if !about.is_file() {
            return Err(Fault::new(Code::UnknownEntry, format!("{path}: expected a file")));
        }
        Ok(file)
    }

    /// Opens a file in one step. The system resolves the path beneath the folder, so no part of the path can be
    /// replaced in between.
    #[cfg(target_os = "linux")]
    fn open_beneath(&self, path: &Path) -> Result<File, Fault> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        use rustix::io::Errno;
        let shown = path.display().to_string();
        // Without this flag, opening a named pipe would wait for its other end.
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match openat2(&self.folder, path, flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS) {
            Ok(file) => Ok(file.into()),
            Err(Errno::XDEV | Errno::LOOP) => Err(leads_out(&shown)),
            // The system is too old for this call, or forbids it.
            Err(Errno::NOSYS | Errno::PERM) => self.open_resolved(path),
            Err(error) => Err(refused(&shown, &error.into())),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, path: &Path) -> Result<File, Fault> {
        let _ = &self.folder;
        self.open_resolved(path)
    }

    /// Resolves the path, checks that it is inside the root, and opens it. This function is for systems that cannot
    /// check and open a path in one call.
    fn open_resolved(&self, path: &Path) -> Result<File, Fault> {
        let shown = path.display().to_string();
        let resolved = self.path.join(path).canonicalize().map_err(|error| refused(&shown, &error))?;
        if !resolved.starts_with(&self.path) {
            return Err(leads_out(&shown));
        }
        if !resolved.is_file() {
            return Err(Fault::new(Code::UnknownEntry, format!("{shown}: expected a file")));
        }
        File::open(&resolved).map_err(|error| refused(&shown, &error))
    }
}

fn leads_out(path: &str) -> Fault {
    Fault::new(Code::PermissionDenied, format!("{path}: a link leads out of the data root"))
}

fn refused(path: &str, error: &std::io::Error) -> Fault {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
            Fault::new(Code::UnknownEntry, format!("{path}: no such file under the data root"))
        }
        std::io::ErrorKind::PermissionDenied => {
            Fault::new(Code::PermissionDenied, format!("{path}: the node may not read it"))
        }
        _ => Fault::new(Code::InsufficientResources, format!("{path}: it cannot be opened: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_root_is_opened() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::write(outer.path().join("secret"), "s").unwrap();
        std::fs::write(root.join("inner/plain"), "p").unwrap();
        let root_of = Root::new(&root).unwrap();
        assert!(root_of.open("inner/plain").is_ok());
        for path in ["../secret", "inner/../../secret", "/etc/passwd", "", ".", "inner/./plain/..", "a\0b"] {
            assert_eq!(root_of.open(path).unwrap_err().code(), Code::InvalidValue, "{path:?}");
        }
        assert_eq!(root_of.open("nothing").unwrap_err().code(), Code::UnknownEntry);
        assert_eq!(root_of.open("inner/plain/x").unwrap_err().code(), Code::UnknownEntry);
        assert_eq!(root_of.open("inner").unwrap_err().code(), Code::UnknownEntry);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_inside_and_refused_where_they_lead_out() {
        use std::os::unix::fs::symlink;
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().join("root");
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::write(outer.path().join("secret"), "s").unwrap();
        std::fs::write(root.join("inner/plain"), "p").unwrap();
        symlink("inner/plain", root.join("good")).unwrap();
        symlink("../secret", root.join("bad")).unwrap();
        symlink(outer.path(), root.join("folder")).unwrap();
        let root = Root::new(&root).unwrap();
        for open in [Root::open_beneath, Root::open_resolved] {
            assert!(open(&root, Path::new("good")).is_ok());
            for path in ["bad", "folder/secret"] {
                assert_eq!(open(&root, Path::new(path)).unwrap_err().code(), Code::PermissionDenied, "{path}");
            }
        }
    }
}
