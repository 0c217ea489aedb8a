//! Records how busy the machine was during a session: the processor time of other programs, and the time that the host
//! gave to other machines.
//!
//! On a busy machine, figures depend on the other programs. The lab does not decide which samples to leave out.
//! Instead, the record has the activity, and its page shows the activity at the top.

use serde::{Deserialize, Serialize};

use super::figure::{Place, Samples};
use crate::measure::Spread;

/// Shares of the whole machine, in per cent, over the cases of a session; absent if the system does not account for
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    /// Minimum, median and maximum over the cases of the share that programs other than the lab and its peers used.
    pub others: [f64; 3],
    /// Minimum, median and maximum of the share that the host gave to other machines.
    pub stolen: [f64; 3],
}

/// Measures the activity from case to case.
#[derive(Debug, Default)]
pub struct Watch {
    last: Option<Account>,
    others: Samples,
    stolen: Samples,
}

/// Processor time since the machine started, in the system's clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Account {
    total: f64,
    busy: f64,
    stolen: f64,
    ours: f64,
}

impl Watch {
    /// Ends the interval since the last call, if it had any ticks, and begins the next one.
    pub fn look(&mut self) {
        let Some(now) = Account::read() else { return };
        if let Some(last) = self.last
            && now.total - last.total < 10.0
        {
            return;
        }
        if let Some(last) = self.last.replace(now) {
            let total = now.total - last.total;
            let others = (now.busy - last.busy) - (now.ours - last.ours);
            self.others.push(100.0 * others.max(0.0) / total, Place::Unknown);
            self.stolen.push(100.0 * (now.stolen - last.stolen) / total, Place::Unknown);
        }
    }

    /// Returns the shares so far; `None` before the second call of [`look`](Self::look).
    pub fn activity(&self) -> Option<Activity> {
        let shares = |samples: &Samples| {
            let Spread { min, median, max } = Spread::of(samples.values());
            [min, median, max]
        };
        (!self.others.values().is_empty())
            .then(|| Activity { others: shares(&self.others), stolen: shares(&self.stolen) })
    }
}

impl Account {
    fn read() -> Option<Self> {
        let line = std::fs::read_to_string("/proc/stat").ok()?;
        let mut account = Self::of_machine(line.lines().next()?)?;
        let mut processes = Vec::new();
        for entry in std::fs::read_dir("/proc").ok()?.flatten() {
            let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
            // The time of a process that has just ended is in its parent's account.
            let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
            if let Some((parent, ticks)) = process_ticks(&stat) {
                processes.push((process, parent, ticks));
            }
        }
        account.ours = ticks_of_family(std::process::id(), &processes);
        Some(account)
    }

    /// Reads the first line of `/proc/stat`: user, nice, system, idle, waiting for disks, interrupts, soft interrupts,
    /// stolen.
    fn of_machine(line: &str) -> Option<Self> {
        let ticks: Vec<f64> = line.split_whitespace().skip(1).take(8).filter_map(|word| word.parse().ok()).collect();
        let &[user, nice, system, idle, waiting, interrupts, soft, stolen] = &ticks[..] else { return None };
        let busy = user + nice + system + interrupts + soft;
        Some(Self { total: busy + idle + waiting + stolen, busy, stolen, ours: 0.0 })
    }
}

/// Returns the ticks of a process and of all its descendants; for example, an MPI's ranks are children of its launcher.
/// `processes` has number, parent and ticks of each process.
fn ticks_of_family(root: u32, processes: &[(u32, u32, f64)]) -> f64 {
    let mut family = vec![root];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        let is_child = |(process, of, _): &&(u32, u32, f64)| *of == parent && !family.contains(process);
        let children: Vec<u32> = processes.iter().filter(is_child).map(|(process, ..)| *process).collect();
        family.extend(children);
        next += 1;
    }
    processes.iter().filter(|(process, ..)| family.contains(process)).map(|(.., ticks)| ticks).sum()
}

/// Returns the parent of a process and its ticks, including those of its ended children, from its `stat`.
fn process_ticks(stat: &str) -> Option<(u32, f64)> {
    // The second field is a name in parentheses, which may contain spaces.
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<f64>().unwrap_or(0.0)).sum();
    Some((fields.get(1)?.parse().ok()?, ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machines_line_is_split_into_busy_idle_and_stolen() {
        let account = Account::of_machine("cpu  100 20 30 800 10 5 5 40 0 0").unwrap();
        assert_eq!((account.total, account.busy, account.stolen), (1010.0, 160.0, 40.0));
        assert_eq!(Account::of_machine("intr 1 2"), None);
    }

    #[test]
    fn a_name_with_spaces_and_parentheses_hides_no_field() {
        let stat = "42 (a (b) c) S 7 42 42 0 -1 4194304 1 2 3 4 50 6 7 8 20 0 1 0 99";
        assert_eq!(process_ticks(stat), Some((7, 71.0)));
    }

    #[test]
    fn who_was_started_by_who_was_started_is_ours() {
        let processes = [(1, 0, 1.0), (7, 1, 2.0), (8, 7, 4.0), (9, 8, 8.0), (10, 1, 16.0)];
        assert_eq!(ticks_of_family(7, &processes), 14.0);
        assert_eq!(ticks_of_family(42, &processes), 0.0);
    }

    #[test]
    fn shares_are_of_the_whole_machine() {
        let mut watch = Watch::default();
        assert_eq!(watch.activity(), None);
        watch.others.push(25.0, Place::Unknown);
        watch.stolen.push(0.0, Place::Unknown);
        assert_eq!(watch.activity().unwrap().others, [25.0; 3]);
    }
}
