//! Whole documents in XML: no document types, no entities but the five of XML itself.
use crate::{Error, Limits, Result};
use quick_xml::Reader;
use quick_xml::escape::{resolve_xml_entity, unescape};
use quick_xml::events::{BytesRef, BytesStart, Event};

/// An element of a document.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct XmlNode {
    /// Its name without the prefix of its namespace.
    pub name: String,
    /// Names as written and values.
    pub attributes: Vec<(String, String)>,
    /// The texts directly in it, joined.
    pub text: String,
    /// The elements directly in it.
    pub children: Vec<XmlNode>,
    /// The offset in bytes at which it begins.
    pub at: u64,
}

impl XmlNode {
    /// Parses a whole document, which errors call `what`, and returns the root element. White space and zero bytes after
    /// it are skipped. The length, the number of elements and their nesting are limited.
    ///
    /// # Errors
    /// `Malformed` for a document that is not well-formed, is truncated or has a document type; `Limit`.
    pub fn parse(document: &[u8], what: &str, limits: &Limits) -> Result<Self> {
        limits.metadata_len(document.len() as u64, what)?;
        let text = document_text(document)
            .map_err(|error| error.reworded(|message| format!("{what} is no XML: {message}")))?;
        let mut builder = XmlBuilder { open: Vec::new(), root: None, count: 0, limits, what };
        let mut reader = Reader::from_str(&text);
        loop {
            let at = reader.buffer_position();
            let event = reader.read_event().map_err(|error| {
                Error::malformed(format!("{what} is no well-formed XML: {error}"))
                    .at_offset(reader.error_position())
            })?;
            if matches!(event, Event::Eof) {
                break;
            }
            builder.event(event, at).map_err(|error| error.at_offset(at))?;
        }
        match (builder.open.pop(), builder.root) {
            (None, Some(root)) => Ok(root),
            (Some(open), _) => {
                Err(Error::malformed(format!("{what} is truncated: <{}> does not end", open.name))
                    .at_offset(open.at))
            }
            (None, None) => Err(Error::malformed(format!("{what} has no element"))),
        }
    }

    /// The value of an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The first child of that name.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Self> {
        self.each(name).next()
    }

    /// The children of that name.
    pub fn each(&self, name: &str) -> impl Iterator<Item = &Self> {
        self.children.iter().filter(move |child| child.name == name)
    }

    /// The text of the first child of that name, unless it is empty.
    #[must_use]
    pub fn text_of(&self, name: &str) -> Option<&str> {
        self.child(name).map(|child| child.text.as_str()).filter(|text| !text.is_empty())
    }

    /// The first element of that name at any depth, itself included.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Self> {
        if self.name == name {
            return Some(self);
        }
        self.children.iter().find_map(|child| child.find(name))
    }
}

struct XmlBuilder<'a> {
    open: Vec<XmlNode>,
    root: Option<XmlNode>,
    count: u64,
    limits: &'a Limits,
    what: &'a str,
}

impl XmlBuilder<'_> {
    fn event(&mut self, event: Event<'_>, at: u64) -> Result<()> {
        match event {
            Event::Start(start) => {
                let node = self.begun(&start, at)?;
                let depth = u32::try_from(self.open.len()).unwrap_or(u32::MAX).saturating_add(1);
                self.limits.depth(depth, self.what)?;
                self.open.push(node);
            }
            Event::Empty(start) => {
                let node = self.begun(&start, at)?;
                self.ended(node)?;
            }
            Event::End(_) => {
                let node = self.open.pop().ok_or_else(|| Error::malformed("an end without a beginning"))?;
                self.ended(node)?;
            }
            Event::Text(text) => self.text(&text.decode().map_err(not_text)?)?,
            Event::CData(text) => self.text(&text.decode().map_err(not_text)?)?,
            Event::GeneralRef(reference) => self.text(&reference_text(&reference)?)?,
            Event::DocType(_) => {
                return Err(Error::malformed(format!(
                    "{} declares a document type, which is refused",
                    self.what
                )));
            }
            Event::Decl(_) | Event::Comment(_) | Event::PI(_) | Event::Eof => {}
        }
        Ok(())
    }

    fn begun(&mut self, start: &BytesStart<'_>, at: u64) -> Result<XmlNode> {
        self.count += 1;
        self.limits.count(self.count, self.what)?;
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute =
                attribute.map_err(|error| Error::malformed(format!("a wrong attribute: {error}")))?;
            let value = std::str::from_utf8(&attribute.value).map_err(not_text)?;
            let value = unescape(value).map_err(|error| Error::malformed(error.to_string()))?;
            let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
            attributes.push((key, value.into_owned()));
        }
        let name = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
        Ok(XmlNode { name, attributes, at, ..XmlNode::default() })
    }

    fn ended(&mut self, node: XmlNode) -> Result<()> {
        match self.open.last_mut() {
            Some(parent) => parent.children.push(node),
            None if self.root.is_none() => self.root = Some(node),
            None => return Err(Error::malformed(format!("{} has a second root element", self.what))),
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> Result<()> {
        match self.open.last_mut() {
            Some(parent) => parent.text.push_str(text),
            None if text.chars().all(|letter| letter.is_whitespace() || letter == '\0') => {}
            None => return Err(Error::malformed("text outside the root element")),
        }
        Ok(())
    }
}

/// The character that a reference such as `&amp;` or `&#65;` stands for.
///
/// # Errors
/// `Malformed` for entities that XML itself does not define.
pub fn reference_text(reference: &BytesRef<'_>) -> Result<String> {
    let wrong = |error: quick_xml::Error| Error::malformed(format!("a wrong reference: {error}"));
    if let Some(letter) = reference.resolve_char_ref().map_err(wrong)? {
        return Ok(letter.to_string());
    }
    let name = reference.decode().map_err(not_text)?;
    resolve_xml_entity(&name).map(str::to_owned).ok_or_else(|| {
        let start: String = name.chars().take(MAX_NAME_CHARS).collect();
        let rest = if start.len() < name.len() { ".." } else { "" };
        Error::malformed(format!("the entity &{start}{rest};, which XML does not define"))
    })
}

fn not_text(error: impl std::fmt::Display) -> Error {
    Error::malformed(error.to_string())
}

/// The text of a document: UTF-8, or ISO 8859-1 if it says so.
fn document_text(document: &[u8]) -> Result<std::borrow::Cow<'_, str>> {
    let document = document.strip_prefix(b"\xef\xbb\xbf").unwrap_or(document).trim_ascii_start();
    let start = String::from_utf8_lossy(&document[..document.len().min(200)]).to_ascii_lowercase();
    let declaration =
        start.strip_prefix("<?xml").and_then(|rest| rest.split_once("?>")).map(|(inside, _)| inside);
    if declaration
        .is_some_and(|inside| ["8859-1", "latin1", "windows-1252"].iter().any(|name| inside.contains(name)))
    {
        return Ok(document.iter().map(|byte| char::from(*byte)).collect::<String>().into());
    }
    std::str::from_utf8(document).map(Into::into).map_err(not_text)
}

/// How much of a name from a document a message contains.
const MAX_NAME_CHARS: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<XmlNode> {
        XmlNode::parse(text.as_bytes(), "the document", &Limits::default())
    }

    #[test]
    fn elements_attributes_and_texts() {
        let root = parse(
            "<?xml version='1.0'?>\n<d:A xmlns:d='u' b='&lt;&#65;'> x&amp;<C/>y<![CDATA[<]]></d:A>\r\n\0",
        )
        .unwrap();
        assert_eq!((&*root.name, root.attribute("b"), &*root.text), ("A", Some("<A"), " x&y<"));
        assert_eq!(root.child("C").map(|child| child.children.len()), Some(0));
    }

    #[test]
    fn hostile_documents_are_refused() {
        let cases = [
            ("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "document type"),
            ("<a>&b;</a>", "&b;"),
            ("<a b='&c;'/>", "c"),
            ("<a><b></a>", "well-formed"),
            ("<a><b>", "truncated"),
            ("<a/><b/>", "second root"),
            ("<a/>b", "outside"),
            ("", "no element"),
        ];
        for (text, expected) in cases {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert!(parse(&"<a>".repeat(1_000_000)).unwrap_err().to_string().contains("levels"));
        let few = Limits { count: 2, ..Limits::default() };
        assert!(XmlNode::parse(b"<a><b/><b/></a>", "the document", &few).is_err());
    }

    #[test]
    fn letters_of_latin_1_where_the_declaration_says_so() {
        let text = b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe9</a>";
        assert_eq!(XmlNode::parse(text, "the document", &Limits::default()).unwrap().text, "\u{e9}");
        assert!(XmlNode::parse(b"<a>\xe9</a>", "the document", &Limits::default()).is_err());
    }
}
