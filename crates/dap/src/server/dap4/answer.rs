//! The answer with values, in steps: chunks (docs/spec/dap.md 6.2, 6.3).
use super::document::DmrWriter;
use super::request::{Dap4Request, Wanted};
use super::{Dap4Dataset, dap4_error, serial};
use crate::chunks::{ERROR, LAST, LITTLE_ENDIAN};
use crate::server::cuts::{Cuts, count_of};
use crate::server::{AnswerStep, ReadStep, StepBytes, StepValues};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Storage, TypeRef, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The longest payload of a chunk.
const PAYLOAD: usize = (1 << 24) - 1;
/// Bytes in front of a payload.
const HEADER: usize = 4;

/// An answer of DAP4, in steps.
#[derive(Debug)]
pub struct Dap4Answer {
    dataset: Arc<Dap4Dataset>,
    request: Dap4Request,
    piece: usize,
    has_checksums: bool,
    head: Option<Vec<u8>>,
    /// The variable that is next, or being sent.
    at: usize,
    cuts: Option<Cuts>,
    digest: crc32fast::Hasher,
    checksums: BTreeMap<VarId, u32>,
    is_ended: bool,
}

impl Dap4Answer {
    pub(super) fn new(
        dataset: Arc<Dap4Dataset>,
        request: Dap4Request,
        has_checksums: bool,
        known: &BTreeMap<VarId, u32>,
        piece: usize,
    ) -> Result<Self> {
        let document = DmrWriter::new(&dataset, &request, known).document() + "\r\n";
        let mut head = Vec::with_capacity(document.len() + HEADER);
        if document.len() > PAYLOAD {
            let len = document.len();
            return Err(Error::limit(format!(
                "the DMR has {len} bytes: a chunk has at most {PAYLOAD}, ask for fewer variables"
            )));
        }
        chunk(0, document.as_bytes(), &mut head);
        Ok(Self {
            dataset,
            request,
            piece: piece.min(PAYLOAD / 2),
            has_checksums,
            head: Some(head),
            at: 0,
            cuts: None,
            digest: crc32fast::Hasher::new(),
            checksums: BTreeMap::new(),
            is_ended: false,
        })
    }

    /// Checksums of the variables that were sent so far.
    pub fn checksums(&self) -> &BTreeMap<VarId, u32> {
        &self.checksums
    }

    /// The next step. After a step to read, [`take`](Self::take) is called first.
    ///
    /// # Errors
    /// `Internal` for a variable that does not exist.
    pub fn step(&mut self) -> Result<AnswerStep> {
        if let Some(head) = self.head.take() {
            return Ok(AnswerStep::Send(head));
        }
        loop {
            let Some(wanted) = self.request.wanted.get(self.at) else {
                if std::mem::replace(&mut self.is_ended, true) {
                    return Ok(AnswerStep::End);
                }
                let mut last = Vec::new();
                chunk(LAST, &[], &mut last);
                return Ok(AnswerStep::Send(last));
            };
            let cuts = self.cuts.get_or_insert_with(|| cuts(&self.dataset, wanted, self.piece));
            if let Some(selection) = cuts.next_box() {
                let is_packed = self.dataset.is_packed(wanted).is_some();
                let (variable, room) = (wanted.variable, HEADER);
                return Ok(AnswerStep::Read(ReadStep { variable, selection, is_packed, room }));
            }
            // A variable without elements is followed by a checksum, too.
            let is_empty = count_of(&wanted.slices) == Some(0);
            let checksum = if is_empty { self.close() } else { None };
            self.cuts = None;
            self.at += 1;
            if let Some(checksum) = checksum {
                let mut bytes = Vec::new();
                chunk(0, &checksum, &mut bytes);
                return Ok(AnswerStep::Send(bytes));
            }
        }
    }

    /// The bytes of values that were read. Packed elements stay where they are.
    ///
    /// # Errors
    /// `Internal` if they are not those of the step.
    pub fn take(&mut self, values: StepValues) -> Result<StepBytes> {
        let wanted = self.request.wanted.get(self.at).ok_or_else(|| Error::internal("values for no step"))?;
        let mut payload = match values {
            StepValues::Packed(mut bytes) => {
                serial::reorder(bytes.as_mut(), self.dataset.is_packed(wanted).unwrap_or(1));
                bytes
            }
            StepValues::Values(values) => {
                let mut out = vec![0; HEADER];
                serial::column(&values, wanted, &mut out)?;
                StepBytes::new(out, HEADER)
            }
        };
        if self.has_checksums {
            self.digest.update(payload.as_ref());
        }
        if self.cuts.as_ref().is_none_or(Cuts::is_done)
            && let Some(checksum) = self.close()
        {
            payload.extend(&checksum);
        }
        chunked(payload)
    }

    /// The chunk that ends an answer that cannot be completed.
    pub fn failed(status: u16, error: &Error) -> Vec<u8> {
        let mut out = Vec::new();
        chunk(ERROR | LAST, dap4_error(status, error).as_bytes(), &mut out);
        out
    }

    /// The checksum of the variable that is complete.
    fn close(&mut self) -> Option<[u8; 4]> {
        if !self.has_checksums {
            return None;
        }
        let checksum = std::mem::take(&mut self.digest).finalize();
        if let Some(wanted) = self.request.wanted.get(self.at) {
            self.checksums.insert(wanted.variable, checksum);
        }
        Some(checksum.to_le_bytes())
    }
}

/// The chunks of a payload: one, if it is not too long, with its header in the room.
fn chunked(mut payload: StepBytes) -> Result<StepBytes> {
    let len = payload.as_ref().len();
    if (1..=PAYLOAD).contains(&len) {
        payload.extend_front(HEADER)?;
        if let Some(first) = payload.as_mut().first_chunk_mut() {
            *first = header(0, len);
        }
        return Ok(payload);
    }
    let mut out = Vec::with_capacity(len + (len / PAYLOAD + 1) * HEADER);
    payload.as_ref().chunks(PAYLOAD).for_each(|part| chunk(0, part, &mut out));
    Ok(out.into())
}

/// Appends a chunk; its payload has at most 2^24 - 1 bytes.
fn chunk(flags: u8, payload: &[u8], out: &mut Vec<u8>) {
    out.extend(header(flags, payload.len()));
    out.extend(payload);
}

/// What is in front of so many bytes.
fn header(flags: u8, len: usize) -> [u8; HEADER] {
    let len = u32::try_from(len).unwrap_or(u32::MAX) & 0x00ff_ffff;
    (u32::from(flags | LITTLE_ENDIAN) << 24 | len).to_be_bytes()
}

impl Dap4Dataset {
    /// Bytes of a number, if the values are numbers or characters and are wanted as bytes.
    fn is_packed(&self, wanted: &Wanted) -> Option<usize> {
        let variable = self.model.variable(wanted.variable)?;
        let atomic = self.model.base_atomic(variable.ty)?;
        let is_number =
            matches!(variable.ty, TypeRef::Atomic(_)) || !serial::has_counts(&self.model, variable.ty);
        atomic.byte_len().filter(|_| is_number && atomic != Atomic::String)
    }
}

fn cuts(dataset: &Dap4Dataset, wanted: &Wanted, piece: usize) -> Cuts {
    let model = &dataset.model;
    let variable = model.variable(wanted.variable);
    let one = variable.and_then(|variable| model.packed_len(variable.ty)).unwrap_or(64).max(1);
    let chunk = variable.and_then(|variable| match &variable.storage {
        Storage::Chunked(shape) => Some(shape.as_slice()),
        _ => None,
    });
    Cuts::new(wanted.slices.clone(), piece as u64 / one, chunk)
}
