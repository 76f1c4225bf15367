//! What an answer is, before it is parsed, and the errors that servers send (docs/spec/dap.md 8.1, 8.2).
use crate::lex::TokenKind;
use crate::lex::{TokenReader, WordRule};
use crate::{ServerError, shortened, xml};
use ncirrus_layout::{Error, ErrorKind, Result};

/// How much of an answer is read to detect its kind.
const LOOKED_AT: usize = 64 << 10;

/// What an answer is by its first bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerKind {
    /// `Error {..}` of DAP2 or `<Error>` of DAP4.
    Error(ServerError),
    /// A web page.
    Page {
        /// Its title, or else its first text.
        title: String,
    },
    /// `<Dataset>`: a DMR, or the DDX of DAP2.
    Xml,
    /// `Dataset {`: a DDS, with or without data.
    Dds,
    /// `Attributes {`.
    Das,
    /// Chunks of DAP4, of which the first holds XML.
    Chunks,
    /// Nothing at all.
    Empty,
    /// Anything else.
    Other,
}

/// Detects the kind of an answer.
pub fn classify(body: &[u8]) -> AnswerKind {
    let text = text_start(body);
    if text.is_empty() {
        return AnswerKind::Empty;
    }
    if let Some(error) = error_at(text) {
        return AnswerKind::Error(error);
    }
    if begins(text, b"<") {
        return markup(text);
    }
    if begins_block(text, b"dataset") {
        return AnswerKind::Dds;
    }
    if begins_block(text, b"attributes") {
        return AnswerKind::Das;
    }
    let chunk = body.get(4..).map(text_start).unwrap_or_default();
    let known: [&[u8]; 4] = [b"<?xml", b"<dataset", b"<dap:", b"<error"];
    if known.into_iter().any(|start| begins(chunk, start)) { AnswerKind::Chunks } else { AnswerKind::Other }
}

/// Refuses errors and web pages.
///
/// # Errors
/// What the server says, or that the answer is a web page instead of what was asked for.
pub fn refuse_error(body: &[u8], wanted: &str) -> Result<()> {
    match classify(body) {
        AnswerKind::Error(error) => Err(error.into_error()),
        AnswerKind::Page { title } => Err(Error::new(
            ErrorKind::Denied,
            format!("a web page ({}) instead of {wanted}; is a login needed?", shortened(&title)),
        )),
        AnswerKind::Empty => Err(Error::malformed(format!("an empty answer instead of {wanted}"))),
        _ => Ok(()),
    }
}

/// The error of DAP2 that is somewhere in these bytes.
pub(crate) fn error_within(bytes: &[u8]) -> Option<ServerError> {
    let starts = bytes.windows(5).enumerate().filter(|(_, word)| word.eq_ignore_ascii_case(b"error"));
    let mut found = starts.filter_map(|(at, _)| error_at(&bytes[at..]));
    found.find(|error| error.code.is_some() || !error.message.is_empty())
}

/// Without byte order mark and white space, and no more than is looked at.
fn text_start(body: &[u8]) -> &[u8] {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start();
    &body[..body.len().min(LOOKED_AT)]
}

fn begins(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|first| first.eq_ignore_ascii_case(start))
}

fn begins_block(text: &[u8], word: &[u8]) -> bool {
    begins(text, word) && text[word.len()..].trim_ascii_start().starts_with(b"{")
}

/// The error of DAP2 that begins here. Servers differ in what they escape: the message ends at the last quote before the
/// end of its statement.
fn error_at(text: &[u8]) -> Option<ServerError> {
    if !begins_block(text, b"error") {
        return None;
    }
    let text = String::from_utf8_lossy(&text[..text.len().min(LOOKED_AT)]);
    let inside = text.split_once('{')?.1;
    let lower = inside.to_ascii_lowercase();
    let code = lower.find("code").and_then(|at| number_after(&inside[at + "code".len()..]));
    let message = lower.find("message").and_then(|at| message_after(&inside[at + "message".len()..]));
    Some(ServerError { code, message: message.unwrap_or_default() })
}

/// The number in ` = NUMBER ;`.
fn number_after(text: &str) -> Option<i64> {
    let mut tokens = TokenReader::new(text, WordRule::Dds);
    tokens.expect(b'=').ok()?;
    match tokens.next().ok()?.kind {
        TokenKind::Word(word) => word.parse().ok(),
        _ => None,
    }
}

/// The text in ` = "TEXT" ;` or ` = TEXT ;`.
fn message_after(text: &str) -> Option<String> {
    let text = text.trim_start().strip_prefix('=')?.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        return Some(text.split([';', '}']).next()?.trim().to_owned());
    };
    // The first quote that ends a statement; unescaped ones inside the text do not.
    let ends = quoted.match_indices('"').find(|(at, _)| {
        let escaped = quoted[..*at].ends_with('\\');
        let after = quoted[at + 1..].trim_start();
        !escaped && (after.is_empty() || after.starts_with([';', '}']))
    });
    let text = ends.map_or(quoted, |(at, _)| &quoted[..at]);
    Some(String::from_utf8_lossy(&crate::literal::unescaped(text)).into_owned())
}

/// A page or a document of DAP4.
fn markup(text: &[u8]) -> AnswerKind {
    match xml::root_name(text).as_deref() {
        Some("Error") => AnswerKind::Error(xml::server_error(text)),
        Some("Dataset") => AnswerKind::Xml,
        Some(name) if name.eq_ignore_ascii_case("html") => page(text),
        _ if begins(text, b"<!doctype html") || begins(text, b"<html") => page(text),
        _ => AnswerKind::Other,
    }
}

fn page(text: &[u8]) -> AnswerKind {
    let text = String::from_utf8_lossy(text);
    let lower = text.to_ascii_lowercase();
    let title = lower.find("<title").and_then(|at| {
        let from = at + lower[at..].find('>')? + 1;
        let to = from + lower[from..].find("</title")?;
        Some(text[from..to].to_owned())
    });
    let words = title.unwrap_or_else(|| without_tags(&text));
    AnswerKind::Page { title: words.split_whitespace().take(20).collect::<Vec<_>>().join(" ") }
}

fn without_tags(text: &str) -> String {
    let parts = text.split('<').filter_map(|part| part.split_once('>'));
    parts.map(|(_, text)| text).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (Option<i64>, String) {
        match classify(text.as_bytes()) {
            AnswerKind::Error(error) => (error.code, error.message),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn errors_are_read_as_servers_write_them() {
        let cases: [(&str, Option<i64>, &str); 8] = [
            (
                r#"Error { code = 1001; message = "text with \"quotes\""; };"#,
                Some(1001),
                "text with \"quotes\"",
            ),
            ("\u{feff}\r\n error{\n message = \"a\nb\"\n}", None, "a\nb"),
            (r#"Error { code = -1; message = "no "x" there"; }"#, Some(-1), "no \"x\" there"),
            (r#"Error { code = 404; message = "cut"#, Some(404), "cut"),
            ("Error { code=3; message=unquoted; };", Some(3), "unquoted"),
            ("Error { };", None, ""),
            (
                "<?xml version='1.0'?>\n<dap:Error xmlns:dap='x' httpcode=\"404\"><dap:Message>no &lt;such&gt;</dap:Message>\
                 <dap:Context>c</dap:Context></dap:Error>",
                Some(404),
                "no <such>",
            ),
            ("<Error httpcode='500'><Message>cut", Some(500), "cut"),
        ];
        for (text, code, message) in cases {
            assert_eq!(error(text), (code, message.to_owned()), "{text}");
        }
    }

    #[test]
    fn absent_denied_and_refused_stay_apart() {
        let kind = |code| ServerError { code: Some(code), message: "m".into() }.into_error().kind();
        assert_eq!(
            (kind(404), kind(1003), kind(1)),
            (ErrorKind::NotFound, ErrorKind::NotFound, ErrorKind::NotFound)
        );
        assert_eq!(
            (kind(403), kind(1006), kind(4)),
            (ErrorKind::Denied, ErrorKind::Denied, ErrorKind::Denied)
        );
        assert_eq!((kind(1005), kind(503)), (ErrorKind::Invalid, ErrorKind::Io { retryable: true }));
    }

    #[test]
    fn answers_are_recognized_by_their_first_bytes() {
        let cases: [(&[u8], AnswerKind); 10] = [
            (b"", AnswerKind::Empty),
            (b"\xef\xbb\xbf \n", AnswerKind::Empty),
            (b"DATASET\n{", AnswerKind::Dds),
            (b"Attributes {", AnswerKind::Das),
            (b"<?xml version='1.0'?><!-- c --><d:Dataset xmlns:d='x'>", AnswerKind::Xml),
            (b"\x04\0\x03\xda<?xml version='1.0'?>", AnswerKind::Chunks),
            (b"<HTML><head><TITLE>\n Log  in</title>", AnswerKind::Page { title: "Log in".into() }),
            (
                b"<!DOCTYPE html PUBLIC 'x'><html><body>Not <b>here</b></body>",
                AnswerKind::Page { title: "Not here".into() },
            ),
            (b"<svg/>", AnswerKind::Other),
            (b"Errors are many {", AnswerKind::Other),
        ];
        for (body, expected) in cases {
            assert_eq!(classify(body), expected, "{:?}", String::from_utf8_lossy(body));
        }
        let refused = refuse_error(b"<html><title>Earthdata Login</title>", "a DDS").unwrap_err();
        assert_eq!(refused.to_string(), "a web page (Earthdata Login) instead of a DDS; is a login needed?");
    }
}
