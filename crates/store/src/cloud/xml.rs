//! What is read of answers in XML: services write each element alike, so no more is understood than names and texts.
use std::borrow::Cow;
use std::time::{Duration, SystemTime};

/// What stands in the first element of that name that holds no others.
pub(super) fn element<'a>(xml: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once("</").map(|(text, _)| text)
}

/// What stands in the elements of that name, which may hold others, but none of their own name.
pub(super) fn each<'a>(xml: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let mut rest = xml;
    std::iter::from_fn(move || {
        let (_, from) = rest.split_once(&open)?;
        let (within, after) = from.split_once(&close)?;
        rest = after;
        Some(within)
    })
}

/// Text as it was before it was put into XML; what is no reference stays.
pub(super) fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, from)) = rest.split_once('&') {
        plain.push_str(before);
        match from.split_once(';').and_then(|(name, after)| Some((referred(name)?, after))) {
            Some((letter, after)) => {
                plain.push(letter);
                rest = after;
            }
            None => {
                plain.push('&');
                rest = from;
            }
        }
    }
    Cow::Owned(plain + rest)
}

fn referred(name: &str) -> Option<char> {
    Some(match name {
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "amp" => '&',
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)?
        }
    })
}

/// Text as it stands in XML.
pub(super) fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '&' => xml.push_str("&amp;"),
            // Readers may drop or change these.
            letter if letter.is_control() => xml.push_str(&format!("&#{};", u32::from(letter))),
            letter => xml.push(letter),
        }
    }
    xml
}

/// A time such as `2026-01-31T12:00:00.000Z`.
pub(super) fn time(text: &str) -> Option<SystemTime> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    // Years begin in March, so that a leap day is their last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468;
    let seconds = days * 86_400 + number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn times_are_seconds_since_1970() {
        for (text, seconds) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T12:34:56Z", 951_827_696),
            ("2026-01-31T12:00:00.000Z", 1_769_860_800),
        ] {
            assert_eq!(time(text), Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)), "{text}");
        }
        assert_eq!(time("2026"), None);
    }

    #[test]
    fn elements_are_found_one_after_the_other() {
        let xml = "<R><A><K>1</K></A><B/><A><K>2</K><L>3</L></A><A><K>cut";
        assert_eq!(each(xml, "A").filter_map(|within| element(within, "K")).collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(element(xml, "B"), None);
    }

    #[test]
    fn references_are_replaced_once_and_what_is_none_stays() {
        for (xml, text) in [
            ("a&amp;lt;b", "a&lt;b"),
            ("&lt;&gt;&quot;&apos;&#39;&#x2F;&#x1f40d;", "<>\"''/\u{1f40d}"),
            ("a & b; &c; &#xd800; &#; &", "a & b; &c; &#xd800; &#; &"),
        ] {
            assert_eq!(unescaped(xml), text);
        }
    }

    proptest! {
        #[test]
        fn texts_come_back(text in any::<String>()) {
            let xml = escaped(&text);
            prop_assert!(!xml.contains(['<', '>']));
            prop_assert_eq!(unescaped(&xml), text);
        }
    }
}
