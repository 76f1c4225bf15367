//! Decoding an answer while it arrives (docs/spec/dap.md 7.2): the elements of one array of numbers are put as they
//! come; anything else is held until it is complete.
mod dap;
mod dods;
mod elements;

use super::DapSource;
use crate::place::DapProtocol;
use crate::shown::ShownVariable;
use bytes::BytesMut;
use dap::DapStream;
use dods::DodsStream;
use ncirrus_layout::{Error, Limits, PutElements, QueryBox, QueryDecoder, Result};
use ncirrus_model::Values;

/// Decodes the answer to the query for one box.
#[derive(Debug)]
pub(crate) struct AnswerDecoder<'a> {
    source: &'a DapSource,
    wanted: &'a QueryBox,
    limits: &'a Limits,
    /// Bytes so far, of which no more than `limits` allow are taken.
    len: u64,
    state: DecoderState,
}

#[derive(Debug)]
enum DecoderState {
    /// The kind of the answer is not known yet.
    Begun(BytesMut),
    /// Elements are put as they come.
    Dods(DodsStream),
    Dap(DapStream),
    /// The answer is decoded when it is complete: it has no fixed length, another shape than was requested, or is an error.
    Held(BytesMut),
}

/// What the beginning of an answer shows.
enum AnswerStart<T> {
    /// More bytes are needed.
    Incomplete,
    /// Elements follow, from this byte on.
    Elements(T, usize),
    /// The answer has to be held.
    Other,
}

/// The structure of an answer comes before this many bytes, or it is held.
const START_BYTES: usize = 1 << 20;

impl<'a> AnswerDecoder<'a> {
    pub(crate) fn new(source: &'a DapSource, wanted: &'a QueryBox, limits: &'a Limits) -> Self {
        let is_direct = source.variables.get(wanted.variable).is_some_and(ShownVariable::is_direct);
        let state = if is_direct {
            DecoderState::Begun(BytesMut::new())
        } else {
            DecoderState::Held(BytesMut::new())
        };
        Self { source, wanted, limits, len: 0, state }
    }

    /// Looks at the beginning of an answer; `rest` is then what follows the structure.
    fn begin(&self, held: &[u8]) -> (Option<DecoderState>, usize) {
        let Some(variable) = self.source.variables.get(self.wanted.variable) else { return (None, 0) };
        let (wanted, limits) = (self.wanted, self.limits);
        let start = match self.source.place.protocol {
            DapProtocol::Dap2 => match DodsStream::begin(held, variable, wanted, limits) {
                AnswerStart::Elements(stream, rest) => (Some(DecoderState::Dods(stream)), rest),
                AnswerStart::Incomplete => (None, 0),
                AnswerStart::Other => (Some(DecoderState::Held(BytesMut::new())), 0),
            },
            DapProtocol::Dap4 => {
                let verifies = !self.source.place.ignores_checksums;
                match DapStream::begin(held, (variable, verifies), wanted, limits) {
                    AnswerStart::Elements(stream, rest) => (Some(DecoderState::Dap(stream)), rest),
                    AnswerStart::Incomplete => (None, 0),
                    AnswerStart::Other => (Some(DecoderState::Held(BytesMut::new())), 0),
                }
            }
        };
        match start {
            (None, _) if held.len() > START_BYTES => (Some(DecoderState::Held(BytesMut::new())), 0),
            start => start,
        }
    }
}

impl QueryDecoder for AnswerDecoder<'_> {
    fn piece(&mut self, bytes: &[u8], put: &mut PutElements<'_>) -> Result<()> {
        self.len = self.len.saturating_add(bytes.len() as u64);
        self.limits.chunk_len(self.len, "the answer")?;
        match &mut self.state {
            DecoderState::Held(held) => held.extend_from_slice(bytes),
            DecoderState::Dods(stream) => stream.piece(bytes, put)?,
            DecoderState::Dap(stream) => stream.piece(bytes, put)?,
            DecoderState::Begun(held) => {
                held.extend_from_slice(bytes);
                let held = std::mem::take(held);
                let (next, rest) = self.begin(&held);
                self.state = match next {
                    None => DecoderState::Begun(held),
                    Some(DecoderState::Held(_)) => DecoderState::Held(held),
                    Some(mut stream) => {
                        let rest = held.get(rest..).unwrap_or_default();
                        match &mut stream {
                            DecoderState::Dods(stream) => stream.piece(rest, put)?,
                            DecoderState::Dap(stream) => stream.piece(rest, put)?,
                            DecoderState::Begun(_) | DecoderState::Held(_) => {}
                        }
                        stream
                    }
                };
            }
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Option<Values>> {
        let wanted = std::slice::from_ref(self.wanted);
        match self.state {
            DecoderState::Dods(stream) => stream.finish().map(|()| None),
            DecoderState::Dap(stream) => stream.finish().map(|()| None),
            DecoderState::Begun(held) | DecoderState::Held(held) => {
                let values = self.source.decode_answer(wanted, &held.freeze(), self.limits)?;
                let values = values.into_iter().next();
                values.map(Some).ok_or_else(|| Error::internal("no values for a box"))
            }
        }
    }
}

#[cfg(test)]
mod tests;
