//! Answers in XML.
use chrono::DateTime;
use ncirrus_layout::Limits;
use ncirrus_layout::xml::XmlNode;
use std::time::{Duration, SystemTime};

/// Maximum depth of elements; answers of services are four deep.
const DEPTH: u32 = 16;

/// The root of an answer; `None` if it is invalid or truncated.
pub(crate) fn parse(xml: &str) -> Option<XmlNode> {
    XmlNode::parse(xml.as_bytes(), "the answer", &Limits { depth: DEPTH, ..Limits::default() }).ok()
}

/// The text of the first element of that name in a text that contains other words, or is truncated behind it.
pub(crate) fn word(text: &str, name: &str) -> Option<String> {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let from = text.get(text.find(&begin)?..)?;
    parse(from.get(..from.find(&end)? + end.len())?).map(|element| element.text)
}

/// Escapes text for XML.
pub(crate) fn escaped(text: &str) -> String {
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
pub(crate) fn time(text: &str) -> Option<SystemTime> {
    let seconds = u64::try_from(DateTime::parse_from_rfc3339(text).ok()?.timestamp()).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
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
    fn elements_are_found_in_each_other_whatever_their_name_space() {
        let xml = "<?xml version=\"1.0\"?><s:R xmlns:s=\"x\"><!-- none --><s:A><K>1</K></s:A><B/><A x='1'><K><![CDATA[2<]]></K>\
                   </A></s:R>";
        let root = parse(xml).unwrap();
        assert_eq!(root.name, "R");
        assert_eq!(root.each("A").filter_map(|within| within.text_of("K")).collect::<Vec<_>>(), ["1", "2<"]);
        assert_eq!((root.text_of("B"), root.text_of("K")), (None, None));
        assert_eq!(root.find("K").map(|found| found.text.as_str()), Some("1"));
        assert_eq!(word("said <A><K>7&gt;</K><A>, cut <K>8</K", "K").as_deref(), Some("7>"));
        assert_eq!(word("said <K>8</", "K"), None);
    }

    #[test]
    fn what_is_cut_or_too_deep_is_no_answer() {
        let xml = "<R><A><K>&lt;&#x1f40d;&amp;</K></A></R>";
        assert_eq!(parse(xml).unwrap().find("K").unwrap().text, "<\u{1f40d}&");
        for end in (0..xml.len()).filter(|end| xml.is_char_boundary(*end)) {
            assert_eq!(parse(&xml[..end]), None, "{}", &xml[..end]);
        }
        for deep in [DEPTH, DEPTH + 1] {
            let xml = "<A>".repeat(deep as usize) + &"</A>".repeat(deep as usize);
            assert_eq!(parse(&xml).is_some(), deep == DEPTH);
        }
        assert_eq!(parse("<A>&none;</A>"), None);
        assert_eq!(parse("<A/><B/>"), None);
    }

    proptest! {
        #[test]
        fn texts_come_back(text in "[^\0\r]{1,20}") {
            let xml = format!("<A><K>{}</K></A>", escaped(&text));
            let answer = parse(&xml).unwrap();
            prop_assert_eq!(answer.text_of("K"), Some(text.as_str()));
        }

        #[test]
        fn any_bytes_end(text in any::<String>()) {
            let _ = parse(&text);
            let _ = word(&text, "A");
        }
    }
}
