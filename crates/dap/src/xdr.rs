//! Values as DAP2 sends them (docs/spec/dap.md 3).
use crate::column::{empty_column, grow_column};
use crate::path::shown_path;
use crate::{DdsKind, DdsType, DdsVariable};
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::Values;

/// The longest string that is believed.
const STRING_BYTES: u64 = 256 << 20;

/// What is known of the server that an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct XdrPeculiarities {
    /// A scalar `Byte` is in the first of its four bytes, not in the last (pydap).
    pub first_byte: bool,
}

/// Decodes the variables of an answer, one after the other.
#[derive(Debug)]
pub(crate) struct XdrReader<'a> {
    bytes: &'a [u8],
    at: usize,
    peculiarities: XdrPeculiarities,
    limits: &'a Limits,
    /// The names that lead to what could not be read, innermost first.
    failed: Vec<&'a str>,
}

impl<'a> XdrReader<'a> {
    pub(crate) fn new(bytes: &'a [u8], peculiarities: XdrPeculiarities, limits: &'a Limits) -> Self {
        Self { bytes, at: 0, peculiarities, limits, failed: Vec::new() }
    }

    /// Where the next variable begins.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// The values of one variable: one column (`crate::column`).
    pub(crate) fn variable(&mut self, variable: &'a DdsVariable) -> Result<Values> {
        let mut column = empty_column(variable);
        match self.append(variable, &mut column) {
            Ok(()) => Ok(column),
            Err(error) => Err(error.at_path(shown_path([], self.failed.drain(..).rev()))),
        }
    }

    fn append(&mut self, variable: &'a DdsVariable, column: &mut Values) -> Result<()> {
        let start = self.at as u64;
        let appended = self.append_at(variable, column);
        appended.map_err(|error| {
            self.failed.push(&variable.name.shown);
            error.at_offset(start)
        })
    }

    fn append_at(&mut self, variable: &'a DdsVariable, column: &mut Values) -> Result<()> {
        if let DdsKind::Grid { .. } = variable.kind {
            return self.instance(variable, column);
        }
        if variable.dims.is_empty() {
            return match variable.kind {
                DdsKind::Atomic(ty) => self.scalar(ty, column),
                _ => self.instance(variable, column),
            };
        }
        let count = self.array_count(variable)?;
        match variable.kind {
            DdsKind::Atomic(DdsType::String | DdsType::Url) => {
                // Each string has its length in front: the count is checked before memory is allocated.
                self.enough(count, 4)?;
                (0..count).try_for_each(|_| self.string(column))
            }
            DdsKind::Atomic(ty) => {
                self.same_count(count)?;
                self.array(ty, count, column)
            }
            _ if is_without_bytes(variable) => {
                grow_column(column, count);
                Ok(())
            }
            _ => {
                self.enough(count, 4)?;
                (0..count).try_for_each(|_| self.instance(variable, column))
            }
        }
    }

    /// The count of an array, which its dimensions must agree with.
    fn array_count(&mut self, variable: &DdsVariable) -> Result<usize> {
        let declared = variable.element_count()?;
        let sent = u64::from(self.word()?);
        if sent != declared {
            return Err(Error::malformed(format!(
                "the count {sent} of elements does not match the {declared} that are declared"
            )));
        }
        usize::try_from(sent)
            .map_err(|_| Error::limit(format!("{sent} elements are too many for this machine")))
    }

    fn same_count(&mut self, count: usize) -> Result<()> {
        let second = self.word()?;
        if usize::try_from(second).is_ok_and(|second| second == count) {
            return Ok(());
        }
        Err(Error::malformed(format!("the counts {count} and {second} of an array differ")))
    }

    /// Refuses more elements than the rest of the answer can hold, before there is memory for them.
    fn enough(&self, count: usize, min_bytes: usize) -> Result<()> {
        let left = self.bytes.len() - self.at;
        if count.checked_mul(min_bytes).is_none_or(|needed| needed > left) {
            return Err(truncated(&format!("{count} elements, {left} bytes are left")));
        }
        Ok(())
    }

    /// A structure, a grid or a sequence.
    fn instance(&mut self, variable: &'a DdsVariable, column: &mut Values) -> Result<()> {
        match (&variable.kind, column) {
            (DdsKind::Sequence(columns), Values::Vlen { ends, elements }) => {
                while self.another_row()? {
                    self.limits.count(elements.len() as u64 + 1, "a sequence")?;
                    self.members(columns, elements)?;
                }
                ends.push(elements.len());
                Ok(())
            }
            (DdsKind::Structure(members), column) => self.members(members, column),
            (DdsKind::Grid { array, maps }, Values::Compound { len, fields }) => {
                let members = std::iter::once(&**array).chain(maps);
                members.zip(fields).try_for_each(|(member, field)| self.append(member, field))?;
                *len += 1;
                Ok(())
            }
            _ => Err(Error::internal("a column that does not fit its variable")),
        }
    }

    fn members(&mut self, members: &'a [DdsVariable], column: &mut Values) -> Result<()> {
        let Values::Compound { len, fields } = column else {
            return Err(Error::internal("members outside a compound"));
        };
        members.iter().zip(fields).try_for_each(|(member, field)| self.append(member, field))?;
        *len += 1;
        Ok(())
    }

    /// The mark before a row, or the one after the last: only their first byte counts.
    fn another_row(&mut self) -> Result<bool> {
        let at = self.at as u64;
        match self.take(4)?[0] {
            0x5a => Ok(true),
            0xa5 => Ok(false),
            other => {
                let message =
                    format!("the byte {other:#04x} where a row of a sequence begins or the sequence ends");
                Err(Error::malformed(message).at_offset(at))
            }
        }
    }

    fn scalar(&mut self, ty: DdsType, column: &mut Values) -> Result<()> {
        match (ty, column) {
            (DdsType::Byte, Values::UByte(to)) => {
                let word = self.take(4)?;
                let first = self.peculiarities.first_byte && word[1..] == [0; 3];
                to.push(if first { word[0] } else { word[3] });
            }
            (DdsType::String | DdsType::Url, column) => self.string(column)?,
            (ty, column) => self.numbers(ty, 1, column)?,
        }
        Ok(())
    }

    fn array(&mut self, ty: DdsType, count: usize, column: &mut Values) -> Result<()> {
        if let (DdsType::Byte, Values::UByte(to)) = (ty, &mut *column) {
            to.extend_from_slice(self.take(count)?);
            return self.padding(count);
        }
        self.numbers(ty, count, column)
    }

    fn numbers(&mut self, ty: DdsType, count: usize, column: &mut Values) -> Result<()> {
        let size = if ty == DdsType::Float64 { 8 } else { 4 };
        self.enough(count, size)?;
        let bytes = self.take(count * size)?;
        let (words, _) = bytes.as_chunks::<4>();
        match column {
            Values::Short(to) => to.extend(words.iter().map(|word| i16::from_be_bytes([word[2], word[3]]))),
            Values::UShort(to) => to.extend(words.iter().map(|word| u16::from_be_bytes([word[2], word[3]]))),
            Values::Int(to) => to.extend(words.iter().copied().map(i32::from_be_bytes)),
            Values::UInt(to) => to.extend(words.iter().copied().map(u32::from_be_bytes)),
            Values::Float(to) => to.extend(words.iter().copied().map(f32::from_be_bytes)),
            Values::Double(to) => to.extend(bytes.as_chunks::<8>().0.iter().copied().map(f64::from_be_bytes)),
            _ => return Err(Error::internal("a column that does not fit its type")),
        }
        Ok(())
    }

    fn string(&mut self, column: &mut Values) -> Result<()> {
        let Values::String(to) = column else { return Err(Error::internal("a string outside strings")) };
        let len = self.word()?;
        if u64::from(len) > STRING_BYTES {
            return Err(Error::limit(format!(
                "a string of {len} bytes, more than the limit of {STRING_BYTES}"
            )));
        }
        let len = len as usize;
        to.push(Some(self.take(len)?));
        self.padding(len)
    }

    /// Passes zeros up to a whole word.
    fn padding(&mut self, len: usize) -> Result<()> {
        self.take(len.wrapping_neg() % 4).map(|_| ())
    }

    fn word(&mut self) -> Result<u32> {
        let word = self.take(4)?;
        Ok(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let left = &self.bytes[self.at..];
        let taken =
            left.get(..len).ok_or_else(|| truncated(&format!("{len} bytes, {} are left", left.len())))?;
        self.at += len;
        Ok(taken)
    }
}

fn truncated(what: &str) -> Error {
    Error::malformed(format!("the answer is truncated: it should have {what}"))
}

/// Whether an element of a structure takes no bytes at all: nothing but empty structures.
fn is_without_bytes(variable: &DdsVariable) -> bool {
    match &variable.kind {
        DdsKind::Structure(members) => {
            members.iter().all(|member| member.dims.is_empty() && is_without_bytes(member))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
