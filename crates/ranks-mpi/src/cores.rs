//! Counts the cores of this machine.

/// Returns the number of cores that the machine has, even if this process is bound to only some of them.
pub(crate) fn cores() -> usize {
    let bound = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let Ok(online) = std::fs::read_to_string("/sys/devices/system/cpu/online") else { return bound() };
    count(online.trim()).unwrap_or_else(bound)
}

/// Returns the number of cores in a list of ranges, such as 5 for `0-3,8`; `None` if the list cannot be read.
fn count(list: &str) -> Option<usize> {
    let length = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<usize>().ok()?.checked_sub(first.parse().ok()?).map(|more| more + 1)
    };
    list.split(',').map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(["0", "0-1", "0-3,8", "0-1,4-7"].map(count), [Some(1), Some(2), Some(5), Some(6)]);
        assert_eq!(["", "a", "3-1"].map(count), [None, None, None]);
        assert!(cores() > 0);
    }
}
