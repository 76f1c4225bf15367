//! Answers with data of DAP4: chunks (docs/spec/dap.md 6.2, 6.3).
use crate::answer::{classify, refuse_error};
use crate::path::shown_path;
use crate::serial::{SerialOrder, decode};
use crate::{AnswerKind, Dmr, DmrVariable};
use bytes::{Bytes, BytesMut};
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::Values;

pub(crate) const LAST: u8 = 0x01;
pub(crate) const ERROR: u8 = 0x02;
pub(crate) const LITTLE_ENDIAN: u8 = 0x04;

/// An answer with data: the structure of what was asked for, and its values.
#[derive(Debug, Clone)]
pub struct DapAnswer {
    /// The structure; it alone says how the values are read, whatever was asked for.
    pub dmr: Dmr,
    data: Bytes,
    order: SerialOrder,
}

/// The values of an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct DapValues {
    /// The values of each variable, in the order of [`Dmr::variables`]. A structure is a compound of its members, in
    /// whose columns a member with dimensions has all elements of the first compound, then those of the next; a sequence
    /// is a vlen of such compounds; opaque values are vlens of bytes.
    pub variables: Vec<Values>,
    /// Whether a checksum followed each variable. If so, all were right, or not looked at.
    pub checksums: bool,
}

/// What to do with a checksum that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChecksumRule {
    /// An error.
    #[default]
    Verify,
    /// Nothing: for servers that send wrong ones.
    Ignore,
}

impl DapAnswer {
    /// Joins the chunks and reads the structure.
    ///
    /// # Errors
    /// What the server says if the answer, or a chunk in it, is an error, or the answer is a web page; `Malformed` if it
    /// is cut before its last chunk, or no DMR; `Limit` for more bytes than are allowed.
    pub fn parse(body: &Bytes, limits: &Limits) -> Result<Self> {
        if classify(body) != AnswerKind::Chunks {
            refuse_error(body, "data of DAP4")?;
        }
        limits.chunk_len(body.len() as u64, "the answer")?;
        let mut chunks = ChunkReader { body, at: 0, ended: false };
        let (first, document) =
            chunks.next()?.ok_or_else(|| Error::malformed("the answer is truncated: it has no chunk"))?;
        let mut data = BytesMut::new();
        let mut data_flags = None;
        while let Some((flags, payload)) = chunks.next()? {
            if !payload.is_empty() {
                data_flags.get_or_insert(flags);
            }
            data.extend_from_slice(payload);
        }
        // Servers and clients differ in which of the two counts: each sets it on all chunks or on one of them.
        let little = (first | data_flags.unwrap_or(0)) & LITTLE_ENDIAN != 0;
        let order = if little { SerialOrder::Little } else { SerialOrder::Big };
        Ok(Self { dmr: Dmr::parse(document, limits)?, data: data.freeze(), order })
    }

    /// The values of all variables. Whether checksums follow them is found out from the length, whatever was asked for.
    ///
    /// # Errors
    /// `Malformed` if the length does not fit the DMR, or a checksum is wrong: the variable is then named; `Limit` for
    /// more rows than are allowed.
    pub fn values(&self, rule: ChecksumRule, limits: &Limits) -> Result<DapValues> {
        let variables = self.dmr.variables();
        let with = decode(&self.data, self.order, &variables, true, limits);
        match with {
            Ok(found)
                if found.mismatch.is_none() || (rule == ChecksumRule::Ignore && !variables.is_empty()) =>
            {
                let checksums = !variables.is_empty();
                return Ok(DapValues { variables: found.values, checksums });
            }
            _ => {}
        }
        match (decode(&self.data, self.order, &variables, false, limits), with.map(|found| found.mismatch)) {
            (Ok(found), _) => Ok(DapValues { variables: found.values, checksums: false }),
            (Err(_), Ok(Some(index))) => {
                let path = |(groups, variable): &(Vec<&str>, &DmrVariable)| {
                    shown_path(groups.iter().copied(), [&*variable.name])
                };
                Err(wrong_checksum(variables.get(index).map(path).unwrap_or_default()))
            }
            (Err(error), _) => Err(error),
        }
    }
}

/// That the values of a variable are not those that the server sent.
pub(crate) fn wrong_checksum(path: String) -> Error {
    Error::malformed(WRONG_CHECKSUM).at_path(path)
}

/// Whether an error is that of a wrong checksum.
pub(crate) fn is_wrong_checksum(error: &Error) -> bool {
    error.message() == WRONG_CHECKSUM
}

const WRONG_CHECKSUM: &str = "the checksum of the values is wrong";

/// Reads chunks one after the other.
struct ChunkReader<'a> {
    body: &'a [u8],
    at: usize,
    ended: bool,
}

impl<'a> ChunkReader<'a> {
    /// Flags and payload; `None` after the last.
    fn next(&mut self) -> Result<Option<(u8, &'a [u8])>> {
        if self.ended {
            return Ok(None);
        }
        let at = self.at as u64;
        let cut = |what: String| Error::malformed(format!("the answer is truncated: {what}")).at_offset(at);
        let rest = &self.body[self.at..];
        let Some(([flags, high, middle, low], rest)) = rest.split_first_chunk::<4>() else {
            return Err(cut("its last chunk is missing".into()));
        };
        let len = u32::from_be_bytes([0, *high, *middle, *low]) as usize;
        let payload = rest
            .get(..len)
            .ok_or_else(|| cut(format!("a chunk should have {len} bytes, {} are left", rest.len())))?;
        if flags & ERROR != 0 {
            let error = match classify(payload) {
                AnswerKind::Error(error) => error.into_error(),
                _ => Error::malformed("the server answers an error that it does not describe"),
            };
            return Err(error.at_offset(at));
        }
        self.at += 4 + len;
        self.ended = flags & LAST != 0;
        Ok(Some((*flags, payload)))
    }
}

#[cfg(test)]
mod tests;
