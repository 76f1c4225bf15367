//! Times: microseconds since 1970 in UTC, and their texts (ISO 8601).

const DAY: i64 = 86_400;
const MICROS: i64 = 1_000_000;

/// The text of a time, such as `2026-05-01T10:20:30.123456Z`.
pub(crate) fn shown(micros: u64) -> String {
    let micros = i64::try_from(micros).unwrap_or(i64::MAX);
    let (seconds, fraction) = (micros.div_euclid(MICROS), micros.rem_euclid(MICROS));
    let (days, second) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let (year, month, day) = date_of(days);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let fraction = if fraction == 0 { String::new() } else { format!(".{fraction:06}") };
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z")
}

/// The last microsecond that a text means: `2026-05-01`, `2026-05-01T10:20`, `2026-05-01T10:20:30.5Z`, with `Z`, `+01:00`
/// or nothing for UTC at the end. A time without seconds is the beginning of its minute, a date the beginning of its day.
/// `None` for any other text.
pub(crate) fn parse(text: &str) -> Option<u64> {
    let (date, time) = text.split_once(['T', ' ']).unwrap_or((text, ""));
    let mut parts = date.split('-');
    let (year, month, day) =
        (number(parts.next()?, 4)?, number(parts.next()?, 2)?, number(parts.next()?, 2)?);
    if parts.next().is_some() || !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) {
        return None;
    }
    let (clock, offset) = split_offset(time)?;
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut seconds = 0;
    if !whole.is_empty() {
        let mut parts = whole.split(':');
        let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
        let second = parts.next().map_or(Some(0), |second| number(second, 2))?;
        if parts.next().is_some() || hour > 24 || minute > 59 || second > 60 {
            return None;
        }
        seconds = hour * 3600 + minute * 60 + second;
    }
    let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
    let fraction = if fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        digits.parse().ok()?
    } else {
        return None;
    };
    let seconds = days_to(year, month, day) * DAY + seconds - offset;
    u64::try_from(seconds.checked_mul(MICROS)?.checked_add(fraction)?).ok()
}

/// A time of day without its offset, and the offset in seconds.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let Some(at) = time.rfind(['+', '-']) else { return Some((time, 0)) };
    let (clock, offset) = time.split_at_checked(at)?;
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let digits: String = offset.chars().filter(char::is_ascii_digit).collect();
    let (hours, minutes) = digits.split_at_checked(2)?;
    let minutes = if minutes.is_empty() { 0 } else { number(minutes, 2)? };
    Some((clock, sign * (number(hours, 2)? * 3600 + minutes * 60)))
}

fn number(text: &str, digits: usize) -> Option<i64> {
    (text.len() == digits && text.bytes().all(|digit| digit.is_ascii_digit())).then(|| text.parse().ok())?
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date: years begin in March, so that the leap day is the last one.
fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * month + 2) / 5 + day - 1;
    era * 146_097 + year * 365 + year / 4 - year / 100 + of_year - 719_468
}

/// The date that many days after 1970-01-01.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, rest) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (rest - rest / 1460 + rest / 36_524 - rest / 146_096) / 365;
    let of_year = rest - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day)
}
