//! Triggers: when a node begins a run by itself.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

/// When a node begins a run: after a time, at a time of the day, or when a data set has changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trigger {
    /// The time between the beginnings of two runs, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 31_536_000))]
    pub(crate) every_seconds: Option<f64>,
    /// The time of the day, in UTC, such as `02:30`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) at: Option<String>,
    /// The days of the week, with `at`. Default: every day.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) days: Vec<Day>,
    /// The name of a data set on the node: a run begins when its content has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) dataset: Option<String>,
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Day {
    /// Monday.
    Monday,
    /// Tuesday.
    Tuesday,
    /// Wednesday.
    Wednesday,
    /// Thursday.
    Thursday,
    /// Friday.
    Friday,
    /// Saturday.
    Saturday,
    /// Sunday.
    Sunday,
}

const WEEK: [Day; 7] =
    [Day::Monday, Day::Tuesday, Day::Wednesday, Day::Thursday, Day::Friday, Day::Saturday, Day::Sunday];

impl Trigger {
    /// Returns what is wrong with the trigger, if anything is.
    pub(crate) fn fault(&self) -> Option<String> {
        let given = [self.every_seconds.is_some(), self.at.is_some(), self.dataset.is_some()];
        if given.iter().filter(|is_given| **is_given).count() != 1 {
            return Some("expected one of every_seconds, at and dataset".to_owned());
        }
        if !self.days.is_empty() && self.at.is_none() {
            return Some("expected days beside at only".to_owned());
        }
        let at = self.at.as_deref()?;
        minute(at).is_none().then(|| format!("expected a time of the day from 00:00 to 23:59, found {at:?}"))
    }

    /// Returns the first time after `now_ms` at which the trigger is due; `None` if it follows a data set. Times are in
    /// milliseconds since 1970. `last_ms` is the time at which it was due before.
    pub(crate) fn due_ms(&self, last_ms: Option<u64>, now_ms: u64) -> Option<u64> {
        if let Some(seconds) = self.every_seconds {
            let every_ms = ((seconds * 1000.0) as u64).max(1);
            let from = last_ms.unwrap_or(now_ms);
            // Times that passed while the node was down count once.
            let passed = now_ms.saturating_sub(from) / every_ms;
            return Some(from.saturating_add((passed + 1).saturating_mul(every_ms)));
        }
        let minute = minute(self.at.as_deref()?)?;
        let today = now_ms / DAY_MS;
        let days = (today..=today + 7).filter(|day| self.days.is_empty() || self.days.contains(&weekday(*day)));
        days.map(|day| day * DAY_MS + minute * 60_000).find(|due| *due > now_ms)
    }
}

/// Returns the day of the week, from the number of days since 1970-01-01, which was a Thursday.
fn weekday(day: u64) -> Day {
    WEEK[((day + 3) % 7) as usize]
}

/// Returns the minute of the day that a text such as `02:30` names.
fn minute(text: &str) -> Option<u64> {
    let (hour, minute) = text.split_once(':')?;
    let number = |text: &str| -> Option<u64> {
        (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let (hour, minute) = (number(hour)?, number(minute)?);
    (hour < 24 && minute < 60).then_some(hour * 60 + minute)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-11-29, a Sunday, at 10:00 UTC.
    const SUNDAY: u64 = 1_795_946_400_000;
    const HOUR: u64 = 3_600_000;

    fn at(at: &str, days: &[Day]) -> Trigger {
        Trigger { at: Some(at.to_owned()), days: days.to_vec(), ..Trigger::default() }
    }

    #[test]
    fn a_time_of_the_day_is_due_on_the_next_of_its_days() {
        assert_eq!(at("10:30", &[]).due_ms(None, SUNDAY), Some(SUNDAY + HOUR / 2));
        assert_eq!(at("10:00", &[]).due_ms(None, SUNDAY), Some(SUNDAY + 24 * HOUR));
        assert_eq!(at("09:00", &[]).due_ms(None, SUNDAY), Some(SUNDAY + 23 * HOUR));
        assert_eq!(at("11:00", &[Day::Monday, Day::Sunday]).due_ms(None, SUNDAY), Some(SUNDAY + HOUR));
        assert_eq!(at("09:00", &[Day::Sunday]).due_ms(None, SUNDAY), Some(SUNDAY + (7 * 24 - 1) * HOUR));
        assert_eq!(at("00:00", &[Day::Saturday]).due_ms(None, SUNDAY), Some(SUNDAY + (5 * 24 + 14) * HOUR));
    }

    #[test]
    fn an_interval_counts_from_its_last_time_and_missed_times_count_once() {
        let every = Trigger { every_seconds: Some(3600.0), ..Trigger::default() };
        assert_eq!(every.due_ms(None, SUNDAY), Some(SUNDAY + HOUR));
        assert_eq!(every.due_ms(Some(SUNDAY), SUNDAY + 1), Some(SUNDAY + HOUR));
        assert_eq!(every.due_ms(Some(SUNDAY), SUNDAY + 5 * HOUR + 7), Some(SUNDAY + 6 * HOUR));
        assert_eq!(Trigger { dataset: Some("sites".into()), ..Trigger::default() }.due_ms(None, SUNDAY), None);
    }

    #[test]
    fn each_trigger_says_one_thing() {
        assert_eq!(at("23:59", &[Day::Friday]).fault(), None);
        for time in ["24:00", "7:30", "07:60", "noon", "07:3", "+7:30"] {
            assert!(at(time, &[]).fault().unwrap().contains(time), "{time}");
        }
        assert!(Trigger::default().fault().unwrap().contains("one of"));
        let both = Trigger { every_seconds: Some(1.0), dataset: Some("a".into()), ..Trigger::default() };
        assert!(both.fault().unwrap().contains("one of"));
        let days = Trigger { every_seconds: Some(1.0), days: vec![Day::Monday], ..Trigger::default() };
        assert!(days.fault().unwrap().contains("days"));
    }
}
