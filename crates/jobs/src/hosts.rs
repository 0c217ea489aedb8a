//! The hosts that run the processes of a job, as a list or as a host file.
//!
//! | where | form | means |
//! | --- | --- | --- |
//! | list | `node1+node2:4` | as many processes of the layout as a node has on `node1`, four on `node2` |
//! | host file | `node2:4`, MPICH's form | one host in a line; text after `#` is a comment |
//! | host file | `node2 slots=4`, Open MPI's form | the same |

use std::path::Path;

use lehr_ranks::Layout;
use lehr_services::{Code, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A host, and the number of processes that it runs.
///
/// # Example
/// ```
/// use lehr_jobs::HostSlots;
/// assert_eq!("node2:4".parse(), Ok(HostSlots { name: "node2".into(), slots: Some(4) }));
/// assert_eq!("node2:0".parse::<HostSlots>().unwrap_err(), "expected host or host:processes, found \"node2:0\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HostSlots {
    /// The name or the IPv4 address of the host.
    pub name: String,
    /// The number of processes of a job. Default: the processes that the layout has on a node.
    pub slots: Option<usize>,
}

impl std::str::FromStr for HostSlots {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("expected host or host:processes, found {text:?}");
        let (name, slots) = match text.split_once(':') {
            Some((name, slots)) => (name, Some(slots.parse().ok().filter(|slots| *slots >= 1).ok_or_else(wrong)?)),
            None => (text, None),
        };
        // A name becomes an argument of the launcher, where a first `-` would make it an option.
        let is_name = name.starts_with(|first: char| first.is_ascii_alphanumeric())
            && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._".contains(letter));
        if is_name { Ok(Self { name: name.to_owned(), slots }) } else { Err(wrong()) }
    }
}

/// Reads a host file.
///
/// # Errors
/// Returns the first line that names no host, or the reason why the file cannot be read.
pub(crate) fn read(file: &Path) -> Result<Vec<HostSlots>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let mut hosts = Vec::new();
    for (index, line) in lines.enumerate().filter(|(_, line)| !line.is_empty()) {
        let joined = match line.split_once(char::is_whitespace) {
            Some((name, rest)) => format!("{name}:{}", rest.trim().strip_prefix("slots=").unwrap_or(rest)),
            None => line.to_owned(),
        };
        let host = joined.parse().map_err(|_| {
            format!("{}, line {}: expected host, host:4 or host slots=4, found {line:?}", file.display(), index + 1)
        })?;
        hosts.push(host);
    }
    if hosts.is_empty() { Err(format!("{}: expected at least one host", file.display())) } else { Ok(hosts) }
}

/// Divides the processes of a layout among hosts. Returns each host with its number of processes.
///
/// # Errors
/// Returns [`Code::InvalidValue`] if a host is named twice, or if the hosts' processes are not those of the layout.
pub(crate) fn divided(hosts: &[HostSlots], layout: &Layout) -> Result<Vec<(String, usize)>, Fault> {
    let wrong = |reason| Fault::new(Code::InvalidValue, reason);
    for (index, host) in hosts.iter().enumerate() {
        if hosts[..index].iter().any(|earlier| earlier.name == host.name) {
            return Err(wrong(format!("{} is there twice; give it {}:PROCESSES instead", host.name, host.name)));
        }
    }
    let divided: Vec<_> =
        hosts.iter().map(|host| (host.name.clone(), host.slots.unwrap_or(layout.processes))).collect();
    let (given, wanted) = (divided.iter().map(|(_, slots)| slots).sum::<usize>(), layout.processes * layout.nodes);
    if given != wanted {
        let of_each = divided.iter().map(|(name, slots)| format!("{name}:{slots}")).collect::<Vec<_>>().join("+");
        return Err(wrong(format!("{of_each} run {given} processes, but the layout {layout} has {wanted}")));
    }
    Ok(divided)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(list: &str) -> Vec<HostSlots> {
        list.split('+').map(|host| host.parse().unwrap()).collect()
    }

    #[test]
    fn hosts_get_the_processes_of_a_node_or_their_own_number() {
        let layout = "2x2x2".parse().unwrap();
        let pairs = |list: &str| divided(&hosts(list), &layout).map_err(|fault| fault.reason().to_owned());
        let of = |first, second| Ok(vec![("a".to_owned(), first), ("b.c".to_owned(), second)]);
        assert_eq!(pairs("a+b.c"), of(2, 2));
        assert_eq!(pairs("a:3+b.c:1"), of(3, 1));
        assert_eq!(pairs("localhost:4"), Ok(vec![("localhost".to_owned(), 4)]));
        assert_eq!(pairs("a+b:3"), Err("a:2+b:3 run 5 processes, but the layout 2x2x2 has 4".to_owned()));
        assert_eq!(pairs("a:2+a:2"), Err("a is there twice; give it a:PROCESSES instead".to_owned()));
    }

    #[test]
    fn a_name_that_is_no_host_is_refused() {
        for text in ["", "-launcher", "a b", "a,b", "a:", "a:x", ":2", "a;b", "[::1]"] {
            assert!(text.parse::<HostSlots>().unwrap_err().ends_with(&format!("found {text:?}")), "{text}");
        }
    }

    #[test]
    fn a_host_file_has_the_form_of_mpich_or_of_open_mpi() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hosts");
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            read(&file).map_err(|reason| reason.replace(&format!("{}", file.display()), "FILE"))
        };
        assert_eq!(
            read("# ours\nnode1\n\nnode2:4 # the large one\nnode3 slots=2\n"),
            Ok(hosts("node1+node2:4+node3:2"))
        );
        let reason = "FILE, line 2: expected host, host:4 or host slots=4, found \"node2 max_slots=4\"";
        assert_eq!(read("node1\nnode2 max_slots=4"), Err(reason.to_owned()));
        assert_eq!(read("# none\n"), Err("FILE: expected at least one host".to_owned()));
        std::fs::remove_file(&file).unwrap();
        assert!(super::read(&file).unwrap_err().contains("No such file"));
    }
}
