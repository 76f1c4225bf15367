//! Dates as clients write them.
use ncirrus::cf::CivilDate;

/// The beginning of a date and time: `2020`, `2020-01`, `2020-01-31`, `2020-01-31T12`, `..:30`, `..:15`. A `Z` may follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DatePrefix {
    year: i64,
    /// Month, day, hour, minute, second.
    rest: [Option<u32>; 5],
}

impl DatePrefix {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches(['Z', 'z']);
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text),
        };
        let (date, time) = digits.split_once(['T', 't', ' ']).unwrap_or((digits, ""));
        let mut rest = [None; 5];
        let mut numbers = date.split('-');
        let year: i64 = numbers.next().filter(|year| year.len() >= 4 && year.len() <= 9)?.parse().ok()?;
        let mut fill = |at: usize, text: &str, range: std::ops::RangeInclusive<u32>| {
            let number = text.parse().ok().filter(|number| range.contains(number))?;
            *rest.get_mut(at)? = Some(number);
            Some(())
        };
        for (at, (text, range)) in numbers.zip([1..=12, 1..=31]).enumerate() {
            fill(at, text, range)?;
        }
        let parts = date.split('-').count();
        if parts > 3 || (!time.is_empty() && parts < 3) || time.split(':').count() > 3 {
            return None;
        }
        let numbers = time.split(':').filter(|part| !part.is_empty());
        for (at, (text, range)) in numbers.zip([0..=23, 0..=59, 0..=59]).enumerate() {
            fill(at + 2, text, range)?;
        }
        Some(Self { year: sign * year, rest })
    }

    /// The first time that begins so.
    pub(super) fn first(self) -> CivilDate {
        self.filled([1, 1, 0, 0, 0], 0)
    }

    /// The last time that begins so.
    pub(super) fn last(self) -> CivilDate {
        self.filled([12, 31, 23, 59, 59], 999_999_999)
    }

    fn filled(self, usual: [u32; 5], nanosecond: u32) -> CivilDate {
        let [month, day, hour, minute, second] = std::array::from_fn(|at| self.rest[at].unwrap_or(usual[at]));
        CivilDate { year: self.year, month, day, hour, minute, second, nanosecond }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_means_all_times_that_begin_so() {
        let month = DatePrefix::parse("2020-02").unwrap();
        assert_eq!((month.first().day, month.last().day, month.last().hour), (1, 31, 23));
        let minute = DatePrefix::parse("2020-02-03T04:05Z").unwrap();
        assert_eq!((minute.first().minute, minute.first().second, minute.last().second), (5, 0, 59));
        for text in
            ["", "20", "2020-13", "2020-01-01-01", "2020-01T12", "2020-01-01T25", "x", "2020-01-01T1:2:3:4"]
        {
            assert_eq!(DatePrefix::parse(text), None, "{text}");
        }
    }
}
