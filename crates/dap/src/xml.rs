//! Beginnings of documents in XML, which may be truncated.
use crate::ServerError;
use ncirrus_layout::xml::reference_text;
use quick_xml::Reader;
use quick_xml::events::Event;

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
                error.message.push_str(&reference_text(&part).unwrap_or_default());
            }
            Ok(Event::End(_)) => inside.clear(),
            Ok(Event::Eof) | Err(_) => return error,
            Ok(_) => {}
        }
    }
}
