//! The answer with values, in steps.
use super::ascii::AsciiWriter;
use super::declared::{Declared, DeclaredKind};
use super::request::Dap2Request;
use super::wanted::Wanted;
use super::{Dap2Dataset, xdr};
use crate::server::cuts::{Cuts, Slice, count_of};
use crate::server::{AnswerStep, ReadStep, StepBytes, StepValues};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Selection};
use std::sync::Arc;

/// What separates the structure from the values.
pub(super) const MARK: &str = "\nData:\n";

/// An answer of DAP2, in steps.
#[derive(Debug)]
pub struct Dap2Answer {
    dataset: Arc<Dap2Dataset>,
    request: Dap2Request,
    piece: usize,
    /// The variable that is next, or being sent.
    at: usize,
    head: Option<Vec<u8>>,
    current: Option<Current>,
    is_text: bool,
}

/// The variable that is being sent.
#[derive(Debug)]
struct Current {
    cuts: Cuts,
    /// Bytes sent of values, for their padding.
    sent: u64,
    ascii: Option<AsciiWriter>,
}

impl Dap2Answer {
    pub(super) fn new(dataset: Arc<Dap2Dataset>, request: Dap2Request, piece: usize) -> Result<Self> {
        for wanted in &request.wanted {
            let count =
                count_of(&wanted.slices).ok_or_else(|| Error::limit("more elements than 64 bits hold"))?;
            xdr::count_word(count)?;
        }
        let head = (dataset.dds(&request) + MARK).into_bytes();
        Ok(Self { dataset, request, piece, at: 0, head: Some(head), current: None, is_text: false })
    }

    pub(super) fn ascii(dataset: Arc<Dap2Dataset>, request: Dap2Request, piece: usize) -> Result<Self> {
        let head = format!("Dataset: {}\n", dataset.name).into_bytes();
        Ok(Self { head: Some(head), is_text: true, ..Self::new(dataset, request, piece)? })
    }

    /// The next step. After a step to read, [`take`](Self::take) is called first.
    ///
    /// # Errors
    /// `Limit` for counts that DAP2 does not hold.
    pub fn step(&mut self) -> Result<AnswerStep> {
        if let Some(head) = self.head.take() {
            return Ok(AnswerStep::Send(head));
        }
        loop {
            let Some(wanted) = self.request.wanted.get(self.at) else { return Ok(AnswerStep::End) };
            let Some(declared) = self.dataset.declared.get(wanted.index) else {
                return Err(Error::internal("an answer without its declaration"));
            };
            if let Some(current) = &mut self.current {
                if let Some(selection) = current.cuts.next_box() {
                    let variable = declared.source.ok_or_else(|| Error::internal("a member alone"))?;
                    let is_packed = is_packed(declared) && !self.is_text;
                    let room = if is_packed { room(declared, &selection) } else { 0 };
                    return Ok(AnswerStep::Read(ReadStep { variable, selection, is_packed, room }));
                }
                let padding = padding(declared, current.sent).filter(|_| !self.is_text);
                let end = current.ascii.take().map(AsciiWriter::finish);
                self.current = None;
                self.at += 1;
                match padding.map(|len| vec![0; len]).or(end).filter(|bytes| !bytes.is_empty()) {
                    Some(bytes) => return Ok(AnswerStep::Send(bytes)),
                    None => continue,
                }
            }
            let mut head = if self.is_text { Vec::new() } else { counts(declared, wanted)? };
            if is_without_text(declared) && !self.is_text {
                head.extend(empty_strings(count_of(&wanted.slices).unwrap_or(u64::MAX))?);
            }
            let ascii = self.is_text.then(AsciiWriter::default);
            self.current = Some(Current { cuts: cuts(declared, wanted, self.piece), sent: 0, ascii });
            if !head.is_empty() {
                return Ok(AnswerStep::Send(head));
            }
        }
    }

    /// The bytes of values that were read. Packed elements are changed where they are.
    ///
    /// # Errors
    /// `Unsupported` for integers that DAP2 does not hold.
    pub fn take(&mut self, values: StepValues) -> Result<StepBytes> {
        let wrong = || Error::internal("values for no step");
        let wanted = self.request.wanted.get(self.at).ok_or_else(wrong)?;
        let declared = self.dataset.declared.get(wanted.index).ok_or_else(wrong)?;
        let current = self.current.as_mut().ok_or_else(wrong)?;
        let located = |error: Error| error.at_path(declared.name.clone());
        if let (Some(ascii), StepValues::Values(values)) = (&mut current.ascii, &values) {
            return Ok(ascii.rows(declared, wanted, values).into());
        }
        let bytes = match (values, &declared.kind) {
            (StepValues::Packed(mut bytes), DeclaredKind::Atomic(atomic)) => {
                let fill = self.dataset.fill_of(declared);
                xdr::numbers(*atomic, &mut bytes, !declared.dims.is_empty(), fill).map_err(located)?;
                bytes
            }
            (StepValues::Values(values), DeclaredKind::Atomic(_)) => {
                let len =
                    declared.text.as_ref().map_or(1, |(len, _)| usize::try_from(*len).unwrap_or(usize::MAX));
                let mut out = Vec::new();
                xdr::strings(&values, len, &mut out).map_err(located)?;
                out.into()
            }
            (StepValues::Values(values), DeclaredKind::Structure(_)) => {
                let mut out = Vec::new();
                xdr::structures(declared, wanted, &values, &mut out).map_err(located)?;
                out.into()
            }
            (StepValues::Packed(_), DeclaredKind::Structure(_)) => return Err(wrong()),
        };
        current.sent += bytes.as_ref().len() as u64;
        Ok(bytes)
    }
}

impl Dap2Dataset {
    /// The integer that is the variable's fill value.
    fn fill_of(&self, declared: &Declared) -> Option<i128> {
        let variable = super::variable(&self.model, declared.source?)?;
        variable.fill_value()?.integer(0)
    }
}

/// Strings without length are not read.
fn empty_strings(count: u64) -> Result<Vec<u8>> {
    const MOST: u64 = 1 << 26;
    let len = usize::try_from(count.min(MOST + 1)).unwrap_or(usize::MAX);
    if count > MOST {
        return Err(Error::limit(format!("{count} empty strings in one response")));
    }
    Ok(vec![0; 4 * len])
}

/// Whether the values are strings without length.
fn is_without_text(declared: &Declared) -> bool {
    declared.text.as_ref().is_some_and(|(len, _)| *len == 0)
}

/// Whether values are wanted as bytes.
fn is_packed(declared: &Declared) -> bool {
    matches!(&declared.kind, DeclaredKind::Atomic(atomic) if !matches!(atomic, Atomic::Char | Atomic::String))
}

/// Bytes that are free in front of packed values.
fn room(declared: &Declared, selection: &Selection) -> usize {
    let DeclaredKind::Atomic(atomic) = declared.kind else { return 0 };
    xdr::room(atomic, selection.element_count().unwrap_or(u64::MAX), !declared.dims.is_empty())
}

/// The counts in front of values.
fn counts(declared: &Declared, wanted: &Wanted) -> Result<Vec<u8>> {
    if declared.dims.is_empty() {
        return Ok(Vec::new());
    }
    let count = xdr::count_word(count_of(&wanted.slices).unwrap_or(u64::MAX))?;
    Ok(if is_packed(declared) { [count, count].concat() } else { count.to_vec() })
}

/// Zeros behind the values.
fn padding(declared: &Declared, sent: u64) -> Option<usize> {
    let is_bytes = matches!(&declared.kind, DeclaredKind::Atomic(Atomic::Byte | Atomic::UByte));
    let rest = usize::try_from(sent % 4).unwrap_or(0);
    (is_bytes && rest > 0).then_some(4 - rest)
}

/// The boxes of a variable: of characters, whole strings.
fn cuts(declared: &Declared, wanted: &Wanted, piece: usize) -> Cuts {
    let max = piece as u64 / declared.element_len().max(1);
    let mut slices = wanted.slices.clone();
    let mut per_box = max;
    if let Some((len, dim)) = &declared.text
        && !dim.is_empty()
    {
        slices.push(Slice::all(*len));
        per_box = max.max(1).saturating_mul(*len);
    }
    Cuts::new(slices, per_box, declared.chunk.as_deref())
}
