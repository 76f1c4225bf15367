//! Beginnings of documents in XML, which may be truncated.
use crate::ServerError;
use ncirrus_layout::{Error, Result};
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, Event};

/// The character of a reference; entities of documents are refused.
pub(crate) fn referred(reference: &BytesRef<'_>) -> Result<String> {
    let wrong = |error: quick_xml::Error| Error::malformed(format!("a wrong reference: {error}"));
    if let Some(letter) = reference.resolve_char_ref().map_err(wrong)? {
        return Ok(letter.to_string());
    }
    let name = reference.decode().map_err(not_text)?;
    let known = resolve_xml_entity(&name).map(str::to_owned);
    known.ok_or_else(|| {
        Error::malformed(format!("the entity &{};, which XML does not define", crate::shortened(&name)))
    })
}

pub(crate) fn not_text(error: impl std::fmt::Display) -> Error {
    Error::malformed(error.to_string())
}

/// The local name of the root element, from the beginning of a document.
pub(crate) fn root_name(text: &[u8]) -> Option<String> {
    let mut reader = Reader::from_reader(text);
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) | Event::Empty(start) => {
                return Some(String::from_utf8_lossy(start.local_name().as_ref()).into_owned());
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

/// What an `<Error>` document says, as far as it goes.
pub(crate) fn server_error(text: &[u8]) -> ServerError {
    let mut reader = Reader::from_reader(text);
    let mut error = ServerError::default();
    let mut inside = String::new();
    loop {
        match reader.read_event() {
            Ok(Event::Start(start) | Event::Empty(start)) => {
                inside = String::from_utf8_lossy(start.local_name().as_ref()).into_owned();
                if inside == "Error" {
                    let code = start.try_get_attribute("httpcode").ok().flatten();
                    error.code =
                        code.and_then(|code| std::str::from_utf8(&code.value).ok()?.trim().parse().ok());
                }
            }
            Ok(Event::Text(part)) if inside == "Message" => {
                error.message.push_str(&String::from_utf8_lossy(&part));
            }
            Ok(Event::CData(part)) if inside == "Message" => {
                error.message.push_str(&String::from_utf8_lossy(&part));
            }
            Ok(Event::GeneralRef(part)) if inside == "Message" => {
                error.message.push_str(&referred(&part).unwrap_or_default());
            }
            Ok(Event::End(_)) => inside.clear(),
            Ok(Event::Eof) | Err(_) => return error,
            Ok(_) => {}
        }
    }
}
