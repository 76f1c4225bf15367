//! Ticks at round dates of a calendar.
use super::Tick;
use ncirrus::cf::{CivilDate, TimeUnits};

/// A step between ticks.
#[derive(Debug, Clone, Copy)]
enum DateStep {
    Years(i64),
    Months(u32),
    /// The first day of a month, and each one so many days later.
    Days(u32),
    Seconds(u32),
}

impl DateStep {
    /// About how many days it has.
    fn days(self) -> f64 {
        match self {
            Self::Years(years) => years as f64 * 365.0,
            Self::Months(months) => f64::from(months) * 30.0,
            Self::Days(days) => f64::from(days),
            Self::Seconds(seconds) => f64::from(seconds) / 86_400.0,
        }
    }

    /// The last round date that is not after the given one.
    fn floor(self, date: CivilDate) -> CivilDate {
        let year = |year| CivilDate { year, month: 1, day: 1, hour: 0, minute: 0, second: 0, nanosecond: 0 };
        match self {
            Self::Years(years) => year(date.year.div_euclid(years) * years),
            Self::Months(months) => {
                CivilDate { month: (date.month.max(1) - 1) / months * months + 1, ..year(date.year) }
            }
            Self::Days(days) => {
                let day = (date.day.max(1) - 1) / days * days + 1;
                CivilDate { month: date.month, day, ..year(date.year) }
            }
            Self::Seconds(seconds) => {
                let second = date.hour * 3600 + date.minute * 60 + date.second.min(59);
                at_second(date, second / seconds * seconds)
            }
        }
    }

    fn label(self, date: CivilDate) -> String {
        let sign = if date.year < 0 { "-" } else { "" };
        let year = date.year.unsigned_abs();
        match self {
            Self::Years(_) => format!("{sign}{year:04}"),
            Self::Months(_) => format!("{sign}{year:04}-{:02}", date.month),
            Self::Days(_) => format!("{sign}{year:04}-{:02}-{:02}", date.month, date.day),
            Self::Seconds(step) if step >= 60 => {
                format!("{:02}-{:02} {:02}:{:02}", date.month, date.day, date.hour, date.minute)
            }
            Self::Seconds(_) => format!("{:02}:{:02}:{:02}", date.hour, date.minute, date.second),
        }
    }
}

fn at_second(date: CivilDate, second: u32) -> CivilDate {
    CivilDate { hour: second / 3600, minute: second / 60 % 60, second: second % 60, nanosecond: 0, ..date }
}

/// About `count` round dates with their labels; plain numbers for times that have no dates.
pub(crate) fn times(units: &TimeUnits, low: f64, high: f64, count: usize) -> Vec<Tick> {
    // A range may contain fewer than two dates of the step that fits best, such as the middle of a month.
    let dates = (0..5).find_map(|finer| dated(units, low, high, count.max(1) << finer));
    dates.unwrap_or_else(|| super::linear(low, high, count))
}

fn dated(units: &TimeUnits, low: f64, high: f64, count: usize) -> Option<Vec<Tick>> {
    let (first, last) = (units.date(low)?, units.date(high)?);
    let calendar = units.calendar();
    let number = |date: CivilDate| calendar.day_number((date.year, date.month, date.day));
    let day = CivilDate { year: first.year, month: 1, day: 1, hour: 0, minute: 0, second: 0, nanosecond: 0 };
    let of_one_day = units.number(&CivilDate { day: 2, ..day })? - units.number(&day)?;
    let span =
        if of_one_day > 0.0 { (high - low) / of_one_day } else { (number(last)? - number(first)?) as f64 };
    let step = chosen(span / count.max(1) as f64);
    let mut ticks = Vec::new();
    let mut at = low;
    let mut previous = None;
    // From one round date to the next, at most half a step at a time.
    while ticks.len() < super::MAX {
        let date = step.floor(units.date(at)?);
        let value = units.number(&date)?;
        let is_new = previous != Some(date);
        previous = Some(date);
        let is_near =
            |step: DateStep| matches!(step, DateStep::Days(days) if days > 1 && date.day > 31 - days / 2);
        if is_new && value >= low - (high - low) * 1e-9 && value <= high && !is_near(step) {
            ticks.push(Tick { value, label: step.label(date) });
        }
        if at > high {
            break;
        }
        let next = at + step.days() / 2.0 * of_one_day;
        if next <= at {
            return None;
        }
        at = next;
    }
    (ticks.len() >= 2).then_some(ticks)
}

/// The smallest step of at least so many days.
fn chosen(days: f64) -> DateStep {
    let seconds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200];
    let all = seconds.into_iter().map(DateStep::Seconds);
    let all = all.chain([1, 2, 5, 10].into_iter().map(DateStep::Days));
    let all = all.chain([1, 2, 3, 6].into_iter().map(DateStep::Months));
    let mut all = all.chain([1, 2, 5].into_iter().map(DateStep::Years));
    if let Some(step) = all.find(|step| step.days() >= days * (1.0 - 1e-9)) {
        return step;
    }
    let years = super::round_step(days / 365.0);
    DateStep::Years(crate::number::signed(years).clamp(1, 1_000_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(units: &str, calendar: Option<&str>, low: f64, high: f64, count: usize) -> Vec<String> {
        let units = TimeUnits::parse(units, calendar).unwrap().unwrap();
        times(&units, low, high, count).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn years_months_days_and_hours_are_round() {
        assert_eq!(
            labels("days since 2000-01-01", None, 0.0, 3653.0, 6),
            ["2000", "2002", "2004", "2006", "2008", "2010"]
        );
        assert_eq!(labels("days since 2001-01-15", None, 0.0, 330.0, 5), ["2001-04", "2001-07", "2001-10"]);
        assert_eq!(
            labels("days since 2001-01-01", Some("360_day"), 0.0, 45.0, 5),
            ["2001-01-01", "2001-01-11", "2001-01-21", "2001-02-01", "2001-02-11"]
        );
        assert_eq!(
            labels("hours since 2001-01-01", None, 1.0, 25.0, 4),
            ["01-01 06:00", "01-01 12:00", "01-01 18:00", "01-02 00:00"]
        );
        assert_eq!(
            labels("seconds since 2001-01-01", None, 0.0, 3.0, 3),
            ["00:00:00", "00:00:01", "00:00:02", "00:00:03"]
        );
    }

    #[test]
    fn centuries_have_labels_in_every_calendar() {
        for calendar in ["standard", "noleap", "all_leap", "360_day", "julian", "proleptic_gregorian"] {
            let years = labels("days since 0001-01-01", Some(calendar), 0.0, 700_000.0, 4);
            assert_eq!(years, ["0500", "1000", "1500"], "{calendar}");
        }
    }

    #[test]
    fn ranges_between_round_dates_have_finer_ones() {
        assert_eq!(
            labels("days since 2001-01-12", None, 0.0, 18.0, 2),
            ["2001-01-16", "2001-01-21", "2001-01-26"]
        );
        assert_eq!(labels("days since 2001-02-01", None, 0.0, 640.0, 2), ["2001-07", "2002-01", "2002-07"]);
    }

    #[test]
    fn times_without_dates_are_numbers() {
        let labels = labels("days since 2000-01-01", None, 0.0, 1e300, 4);
        assert!(labels.len() > 1, "{labels:?}");
    }
}
