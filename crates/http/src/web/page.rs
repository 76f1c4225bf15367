//! Web pages instead of answers: a redirect may end at a login, with status 200 (docs/spec/dap.md 8.2).
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_layout::{Error, ErrorKind, Result};
use ncirrus_store::{AnswerPart, AnswerReceiver};

/// Passes on the answer of another server than that of the address, unless it is a web page: only here it is known which
/// server sent it.
pub(super) struct PageGuard<'a> {
    receiver: &'a mut dyn AnswerReceiver,
    host: &'a str,
    /// The beginning, until its kind is known; of a page, the part that is reported.
    held: BytesMut,
    kind: BodyKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyKind {
    Unknown,
    Page,
    Other,
}

/// Bytes within which a page says that it is one.
const BEGINNING: usize = 1024;
/// How much of a page is kept to be reported.
const MAX_PAGE_BYTES: usize = 64 << 10;

impl<'a> PageGuard<'a> {
    pub(super) fn new(receiver: &'a mut dyn AnswerReceiver, host: &'a str) -> Self {
        Self { receiver, host, held: BytesMut::new(), kind: BodyKind::Unknown }
    }

    /// After the last byte.
    ///
    /// # Errors
    /// If it was a page, or what the receiver says.
    pub(super) async fn finish(mut self) -> Result<()> {
        if self.kind == BodyKind::Unknown {
            self.kind = kind_of(&self.held);
        }
        if self.kind != BodyKind::Page {
            return self.flush().await;
        }
        let words = first_words(&String::from_utf8_lossy(start(&self.held)));
        let message = format!(
            "access denied: {} answered with a web page ({words}) instead of data; is a login needed?",
            self.host
        );
        Err(Error::new(ErrorKind::Denied, message))
    }

    async fn flush(&mut self) -> Result<()> {
        let held = self.held.split().freeze();
        if held.is_empty() { Ok(()) } else { self.receiver.receive(AnswerPart::Bytes(held)).await }
    }

    async fn take(&mut self, bytes: Bytes) -> Result<()> {
        if self.kind == BodyKind::Other {
            return self.receiver.receive(AnswerPart::Bytes(bytes)).await;
        }
        if self.kind == BodyKind::Page {
            let room = MAX_PAGE_BYTES.saturating_sub(self.held.len()).min(bytes.len());
            self.held.extend_from_slice(bytes.get(..room).unwrap_or_default());
            return Ok(());
        }
        self.held.extend_from_slice(&bytes);
        if self.held.len() >= BEGINNING || !may_be_markup(&self.held) {
            self.kind = kind_of(&self.held);
        }
        if self.kind == BodyKind::Other { self.flush().await } else { Ok(()) }
    }
}

impl AnswerReceiver for PageGuard<'_> {
    fn receive(&mut self, part: AnswerPart) -> BoxFuture<'_, Result<()>> {
        match part {
            AnswerPart::Begin => {
                (self.held, self.kind) = (BytesMut::new(), BodyKind::Unknown);
                self.receiver.receive(AnswerPart::Begin)
            }
            AnswerPart::Bytes(bytes) => self.take(bytes).boxed(),
        }
    }
}

fn start(body: &[u8]) -> &[u8] {
    body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start()
}

/// Whether what follows may be a page: only blanks came so far, or a tag.
fn may_be_markup(body: &[u8]) -> bool {
    start(body).first().is_none_or(|first| *first == b'<') || b"\xef\xbb\xbf".starts_with(body)
}

fn kind_of(body: &[u8]) -> BodyKind {
    let beginning = start(body);
    let text = String::from_utf8_lossy(beginning.get(..BEGINNING.min(beginning.len())).unwrap_or_default());
    let text = text.to_ascii_lowercase();
    let is_page = text.starts_with('<') && (text.contains("<html") || text.contains("<!doctype html"));
    if is_page { BodyKind::Page } else { BodyKind::Other }
}

/// The first words of a body, without tags.
pub(super) fn first_words(body: &str) -> String {
    const MAX_WORDS: usize = 24;
    let mut text = String::new();
    for (at, part) in body.split('<').enumerate() {
        let part = if at == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) };
        text.push_str(part);
        text.push(' ');
    }
    text.split_whitespace().take(MAX_WORDS).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What arrives, and what is reported.
    fn passed(pieces: &[&[u8]]) -> (Vec<u8>, Option<String>) {
        struct Arrived(Vec<u8>);
        impl AnswerReceiver for Arrived {
            fn receive(&mut self, part: AnswerPart) -> BoxFuture<'_, Result<()>> {
                if let AnswerPart::Bytes(bytes) = part {
                    self.0.extend_from_slice(&bytes);
                }
                std::future::ready(Ok(())).boxed()
            }
        }
        let mut arrived = Arrived(Vec::new());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let error = runtime.block_on(async {
            let mut guard = PageGuard::new(&mut arrived, "login.host:81");
            for piece in pieces {
                guard.receive(AnswerPart::Bytes(Bytes::copy_from_slice(piece))).await?;
            }
            guard.finish().await
        });
        (arrived.0, error.err().map(|error| error.to_string()))
    }

    #[test]
    fn a_page_is_reported_with_its_server_however_it_is_cut() {
        let page = b"\xef\xbb\xbf\n<!DOCTYPE html PUBLIC 'x'><HTML><title>Log in</title></html>";
        for len in [1, 2, 7, page.len()] {
            let pieces: Vec<&[u8]> = page.chunks(len).collect();
            let reported = "access denied: login.host:81 answered with a web page (Log in) instead of data; is a login needed?";
            assert_eq!(passed(&pieces), (Vec::new(), Some(reported.to_owned())));
        }
    }

    #[test]
    fn what_is_no_page_is_passed_on_as_it_is() {
        let mut long = b"<?xml version='1.0'?><Dataset name='<html'>".to_vec();
        long.splice(21..21, [b' '; 2000]);
        let chunk = b"\x0c\0\x03\xda<?xml version='1.0'?><Dataset/>".to_vec();
        for body in [long, chunk, b"Dataset { } d;".to_vec(), b" \n".to_vec(), b"\xef".to_vec(), Vec::new()] {
            for len in [1, 5, 5000] {
                assert_eq!(passed(&body.chunks(len).collect::<Vec<_>>()), (body.clone(), None));
            }
        }
    }
}
