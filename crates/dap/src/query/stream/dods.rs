//! Numbers of DAP2 as they arrive (docs/spec/dap.md 3).
use super::AnswerStart;
use super::elements::{ElementForm, ElementStream};
use crate::answer::{classify, error_within};
use crate::dods::data_mark;
use crate::shown::{ShownVariable, WirePath};
use crate::{AnswerKind, Dds, DdsKind, DdsType, DdsVariable, WireName};
use ncirrus_layout::{Error, Limits, PutElements, QueryBox, Result};

/// The values of one array of numbers.
#[derive(Debug)]
pub(super) struct DodsStream {
    elements: ElementStream,
    /// Zeros that follow the last element.
    padding: u64,
    /// Bytes after them.
    after: usize,
    /// The last bytes: a server may write an error among values.
    last: Vec<u8>,
}

/// How many of the last bytes are searched for an error.
const LAST: usize = 4096;

impl DodsStream {
    /// Reads the structure and the counts of the array.
    pub(super) fn begin(
        held: &[u8],
        variable: &ShownVariable,
        wanted: &QueryBox,
        limits: &Limits,
    ) -> AnswerStart<Self> {
        let Some((end, start)) = data_mark(held) else { return AnswerStart::Incomplete };
        let Some(counts) = held.get(start..start + 8) else { return AnswerStart::Incomplete };
        if classify(held) != AnswerKind::Dds {
            return AnswerStart::Other;
        }
        let dds = held.get(..end).and_then(|text| Dds::parse(text, limits).ok());
        let Some((ty, count)) = dds.and_then(|dds| only_array(&dds, variable, wanted)) else {
            return AnswerStart::Other;
        };
        // Errors are reported when the answer is complete.
        if counts.as_chunks().0.iter().any(|sent| u64::from(u32::from_be_bytes(*sent)) != count) {
            return AnswerStart::Other;
        }
        let (form, padding) = match ty {
            DdsType::Byte => (ElementForm::Same(1), count.wrapping_neg() % 4),
            DdsType::Int16 | DdsType::UInt16 => (ElementForm::HalfWord, 0),
            DdsType::Float64 => (ElementForm::of(8, false), 0),
            _ => (ElementForm::of(4, false), 0),
        };
        let stream = Self { elements: ElementStream::new(form, count), padding, after: 0, last: Vec::new() };
        AnswerStart::Elements(stream, start + 8)
    }

    pub(super) fn piece(&mut self, bytes: &[u8], put: &mut PutElements<'_>) -> Result<()> {
        let kept = bytes.get(bytes.len().saturating_sub(LAST)..).unwrap_or(bytes);
        let over = (self.last.len() + kept.len()).saturating_sub(LAST);
        self.last.drain(..over.min(self.last.len()));
        self.last.extend_from_slice(kept);
        let rest = bytes.len() - self.elements.take(bytes, put)?;
        let padding = usize::try_from(self.padding).unwrap_or(usize::MAX).min(rest);
        self.padding -= padding as u64;
        self.after = self.after.saturating_add(rest - padding);
        Ok(())
    }

    /// Numbers can swallow the text of an error: then too few bytes, or more than the structure has, have come.
    pub(super) fn finish(self) -> Result<()> {
        let missing = self.elements.missing().saturating_add(self.padding);
        if missing == 0 && self.after == 0 {
            return Ok(());
        }
        match (error_within(&self.last), missing) {
            (Some(error), _) => Err(error.into_error()),
            (None, 0) => Ok(()),
            _ => Err(Error::malformed(format!("the answer is truncated: {missing} bytes are missing"))),
        }
    }
}

/// The type of the only array of an answer and its number of elements, if it is that which was asked for.
fn only_array(dds: &Dds, shown: &ShownVariable, wanted: &QueryBox) -> Option<(DdsType, u64)> {
    let WirePath::Dap2 { segments, rows: None, .. } = &shown.wire else { return None };
    let path: Vec<&WireName> = segments.iter().map(|segment| &segment.name).collect();
    let (place, found) = dds.find(&path)?;
    let mut members: Vec<&DdsVariable> = dds.variables.iter().collect();
    for (depth, _) in place.iter().enumerate() {
        let [only] = members.as_slice() else { return None };
        let is_last = depth + 1 == place.len();
        let encloses = matches!(only.kind, DdsKind::Structure(_)) && only.dims.is_empty();
        if !is_last && !encloses {
            return None;
        }
        members = only.members();
    }
    let DdsKind::Atomic(ty) = found.kind else { return None };
    let lengths = found.dims.iter().map(|dim| dim.size);
    let is_as_requested = !found.dims.is_empty() && lengths.eq(wanted.axes.iter().map(|axis| axis.count));
    (is_as_requested && shown.has_bits_of(ty.atomic())).then(|| (ty, wanted.count()))
}
