//! Answers in XML.
use chrono::DateTime;
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};
use std::time::{Duration, SystemTime};

/// An element: its name without the namespace prefix, its text, and its child elements.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct XmlElement {
    name: String,
    text: String,
    children: Vec<XmlElement>,
}

/// Maximum depth of elements; answers of services are four deep.
const DEPTH: usize = 16;

impl XmlElement {
    /// The root of a document; `None` if it is invalid or truncated.
    pub(crate) fn parse(xml: &str) -> Option<Self> {
        let mut reader = Reader::from_str(xml);
        let mut open = vec![Self::default()];
        loop {
            match reader.read_event().ok()? {
                Event::Start(start) if open.len() <= DEPTH => open.push(Self::begun(&start)),
                Event::Start(_) => return None,
                Event::Empty(start) => open.last_mut()?.children.push(Self::begun(&start)),
                Event::End(_) => {
                    let done = open.pop()?;
                    open.last_mut()?.children.push(done);
                }
                Event::Text(text) => open.last_mut()?.text.push_str(&text.decode().ok()?),
                Event::CData(text) => open.last_mut()?.text.push_str(&text.decode().ok()?),
                Event::GeneralRef(reference) => {
                    let text = &mut open.last_mut()?.text;
                    match reference.resolve_char_ref().ok()? {
                        Some(letter) => text.push(letter),
                        None => text.push_str(resolve_xml_entity(&reference.decode().ok()?)?),
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        match (open.pop(), open.is_empty()) {
            (Some(mut document), true) if document.children.len() == 1 => document.children.pop(),
            _ => None,
        }
    }

    fn begun(start: &BytesStart<'_>) -> Self {
        let name = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
        Self { name, ..Self::default() }
    }

    pub(crate) fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// The child elements of that name.
    pub(crate) fn each(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The texts of the elements of that name directly in this one.
    pub(crate) fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        self.each(name).map(|child| child.text.as_str())
    }

    /// The text of the first child of that name, unless it is empty.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.texts(name).next().filter(|text| !text.is_empty())
    }

    /// The first element of that name at any depth, itself included.
    pub(crate) fn find(&self, name: &str) -> Option<&Self> {
        if self.name == name {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.find(name))
    }
}

/// The text of the first element of that name in a text that contains other words, or is truncated behind it.
pub(crate) fn word(text: &str, name: &str) -> Option<String> {
    let (begin, end) = (format!("<{name}>"), format!("</{name}>"));
    let from = text.get(text.find(&begin)?..)?;
    XmlElement::parse(from.get(..from.find(&end)? + end.len())?).map(|element| element.text)
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
        let root = XmlElement::parse(xml).unwrap();
        assert!(root.is("R"));
        assert_eq!(root.each("A").filter_map(|within| within.text("K")).collect::<Vec<_>>(), ["1", "2<"]);
        assert_eq!((root.text("B"), root.text("K")), (None, None));
        assert_eq!(root.find("K").map(|found| found.text.as_str()), Some("1"));
        assert_eq!(word("said <A><K>7&gt;</K><A>, cut <K>8</K", "K").as_deref(), Some("7>"));
        assert_eq!(word("said <K>8</", "K"), None);
    }

    #[test]
    fn what_is_cut_or_too_deep_is_no_answer() {
        let xml = "<R><A><K>&lt;&#x1f40d;&amp;</K></A></R>";
        assert_eq!(XmlElement::parse(xml).unwrap().find("K").unwrap().text, "<\u{1f40d}&");
        for end in (0..xml.len()).filter(|end| xml.is_char_boundary(*end)) {
            assert_eq!(XmlElement::parse(&xml[..end]), None, "{}", &xml[..end]);
        }
        for deep in [DEPTH, DEPTH + 1] {
            let xml = "<A>".repeat(deep) + &"</A>".repeat(deep);
            assert_eq!(XmlElement::parse(&xml).is_some(), deep == DEPTH);
        }
        assert_eq!(XmlElement::parse("<A>&none;</A>"), None);
        assert_eq!(XmlElement::parse("<A/><B/>"), None);
    }

    proptest! {
        #[test]
        fn texts_come_back(text in "[^\0\r]{1,20}") {
            let xml = format!("<A><K>{}</K></A>", escaped(&text));
            let answer = XmlElement::parse(&xml).unwrap();
            prop_assert_eq!(answer.text("K"), Some(text.as_str()));
        }

        #[test]
        fn any_bytes_end(text in any::<String>()) {
            let _ = XmlElement::parse(&text);
            let _ = word(&text, "A");
        }
    }
}
