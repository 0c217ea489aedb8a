//! The available memory, as far as the system reports it, so that Lehr can refuse a run that needs more before it
//! starts.

use std::fs;
use std::path::Path;

use crate::error::Error;
use crate::object;
use crate::read::{self, Selection};

/// Returns the number of bytes that can be used without swapping. Only Linux reports it. On other systems, the result
/// is `None`, and memory is not checked. The kernel estimates it; the control group and the limit of the process
/// (`ulimit -v`) may leave less. Returns `None` if none of them reports a number.
pub fn available() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
    let process =
        || of_process(&fs::read_to_string("/proc/self/limits").ok()?, &fs::read_to_string("/proc/self/status").ok()?);
    [machine, of_group(Path::new("/sys/fs/cgroup")), process()].into_iter().flatten().min()
}

/// Returns the number of bytes of a table's numbers in memory, if the file states the number of rows. For example, the
/// header of an array does.
///
/// # Errors
/// Returns an error if the file cannot be read.
///
/// # Example
/// ```
/// use lehr_data::{memory, read::Selection};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.csv");
/// std::fs::write(&path, "x,y\n1,2\n").unwrap();
/// // The rows of a text are counted only when they are read.
/// assert_eq!(memory::bytes_of_rows(&path, &Selection::default())?, None);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn bytes_of_rows(path: &Path, selection: &Selection) -> Result<Option<usize>, Error> {
    let Some([rows, columns]) = read::array_shape(path)? else { return Ok(None) };
    let columns = selection.columns.as_ref().map_or(columns, |chosen| chosen.len().min(columns));
    Ok(Some(rows.saturating_mul(columns).saturating_mul(size_of::<f64>())))
}

/// Checks that the rows of a table fit in memory, if their number is known before reading.
///
/// # Errors
/// Returns an error if there are too many rows, or if the file cannot be read.
pub fn has_room(path: &Path, selection: &Selection) -> Result<(), Error> {
    match (bytes_of_rows(path, selection)?, available()) {
        (Some(bytes), Some(available)) if bytes as u64 > available => {
            Err(Error::Memory { name: object::shown(path), bytes })
        }
        _ => Ok(()),
    }
}

/// Returns `MemAvailable` from `/proc/meminfo`.
fn of_machine(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Returns the limit of the process's address space minus its current use.
fn of_process(limits: &str, status: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    // "unlimited" is not a number.
    let limit = line.split_whitespace().next()?.parse::<u64>().ok()?;
    let used = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
    let used = used.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)?;
    Some(limit.saturating_sub(used))
}

/// Returns the limit of a control group (version 2) minus the memory in use that cannot be reclaimed.
fn of_group(folder: &Path) -> Option<u64> {
    let number = |name: &str| fs::read_to_string(folder.join(name)).ok()?.trim().parse::<u64>().ok();
    // "max" is not a number: there is no limit.
    let (limit, used) = (number("memory.max")?, number("memory.current")?);
    let statistics = fs::read_to_string(folder.join("memory.stat")).unwrap_or_default();
    let cached = statistics.lines().find_map(|line| line.strip_prefix("inactive_file ")?.trim().parse::<u64>().ok());
    Some(limit.saturating_sub(used.saturating_sub(cached.unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_estimate_is_in_kibibytes() {
        let text = "MemTotal:       16303048 kB\nMemFree:          123456 kB\nMemAvailable:    2048 kB\n";
        assert_eq!(of_machine(text), Some(2 << 20));
        assert_eq!(of_machine("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn a_process_with_a_limit_has_what_it_leaves() {
        let limits = |limit: &str| {
            format!("Limit  Soft Limit  Hard Limit  Units\nMax address space  {limit}  unlimited  bytes\n")
        };
        assert_eq!(of_process(&limits("10240"), "Name:\tlehr\nVmSize:\t       4 kB\n"), Some(6144));
        assert_eq!(of_process(&limits("1024"), "VmSize: 4 kB\n"), Some(0));
        assert_eq!(of_process(&limits("unlimited"), "VmSize: 4 kB\n"), None);
    }

    #[test]
    fn files_that_are_only_cached_do_not_count_as_used() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        assert_eq!(of_group(folder.path()), None);
        write("memory.max", "1000\n");
        write("memory.current", "700\n");
        assert_eq!(of_group(folder.path()), Some(300));
        write("memory.stat", "anon 500\ninactive_file 200\nactive_file 9\n");
        assert_eq!(of_group(folder.path()), Some(500));
        write("memory.max", "max\n");
        assert_eq!(of_group(folder.path()), None);
    }
}
