//! Values as DAP4 sends them (docs/spec/dap.md 6.4).
use crate::path::shown_path;
use crate::{DmrKind, DmrVariable};
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::{Atomic, Values};

/// The byte order of the numbers of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SerialOrder {
    Little,
    Big,
}

/// What was read, and the first variable whose checksum is wrong.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(crate) values: Vec<Values>,
    pub(crate) mismatch: Option<usize>,
}

/// The values of all variables, which must end where the data end.
pub(crate) fn decode(
    data: &[u8],
    order: SerialOrder,
    variables: &[(Vec<&str>, &DmrVariable)],
    checksums: bool,
    limits: &Limits,
) -> Result<Decoded> {
    let mut reader = SerialReader { data, at: 0, order, limits, failed: Vec::new() };
    let mut decoded = Decoded { values: Vec::new(), mismatch: None };
    for (index, (groups, variable)) in variables.iter().enumerate() {
        let start = reader.at;
        let mut column = empty(variable);
        if let Err(error) = reader.append(variable, &mut column) {
            return Err(error.at_path(shown_path(groups.iter().copied(), reader.failed.into_iter().rev())));
        }
        decoded.values.push(column);
        if checksums {
            let computed = crc32fast::hash(&data[start..reader.at]);
            if reader.checksum()? != computed {
                decoded.mismatch.get_or_insert(index);
            }
        }
    }
    match data.len() - reader.at {
        0 => Ok(decoded),
        rest => Err(Error::malformed(format!("{rest} bytes follow the values that the DMR declares"))),
    }
}

fn empty(variable: &DmrVariable) -> Values {
    let compound =
        |members: &[DmrVariable]| Values::Compound { len: 0, fields: members.iter().map(empty).collect() };
    let vlen = |elements| Values::Vlen { ends: Vec::new(), elements: Box::new(elements) };
    match &variable.kind {
        DmrKind::Atomic(atomic) | DmrKind::Enum { base: atomic, .. } => Values::zeroed(*atomic, 0),
        DmrKind::Opaque => vlen(Values::UByte(Vec::new())),
        DmrKind::Structure(members) => compound(members),
        DmrKind::Sequence(members) => vlen(compound(members)),
    }
}

/// Number of elements; none where one length is 0, whatever the others are.
fn element_count(variable: &DmrVariable) -> Result<u64> {
    if variable.dims.iter().any(|dim| dim.size == 0) {
        return Ok(0);
    }
    let product = variable.dims.iter().try_fold(1_u64, |product, dim| product.checked_mul(dim.size));
    product.ok_or_else(|| Error::limit("more elements than 64 bits can count"))
}

/// The fewest bytes of one element.
fn min_bytes(kind: &DmrKind) -> u64 {
    match kind {
        DmrKind::Atomic(atomic) | DmrKind::Enum { base: atomic, .. } => atomic.byte_len().unwrap_or(8) as u64,
        DmrKind::Opaque | DmrKind::Sequence(_) => 8,
        DmrKind::Structure(members) => min_bytes_of(members),
    }
}

fn min_bytes_of(members: &[DmrVariable]) -> u64 {
    let each = members
        .iter()
        .map(|member| min_bytes(&member.kind).saturating_mul(element_count(member).unwrap_or(u64::MAX)));
    each.fold(0, u64::saturating_add)
}

struct SerialReader<'a> {
    data: &'a [u8],
    at: usize,
    order: SerialOrder,
    limits: &'a Limits,
    /// The names that lead to what could not be read, innermost first.
    failed: Vec<&'a str>,
}

impl<'a> SerialReader<'a> {
    fn append(&mut self, variable: &'a DmrVariable, column: &mut Values) -> Result<()> {
        let start = self.at as u64;
        let appended = self.append_at(variable, column);
        appended.map_err(|error| {
            self.failed.push(&variable.name);
            error.at_offset(start)
        })
    }

    fn append_at(&mut self, variable: &'a DmrVariable, column: &mut Values) -> Result<()> {
        let count = element_count(variable)?;
        let count = self.enough(count, min_bytes(&variable.kind))?;
        match &variable.kind {
            DmrKind::Atomic(Atomic::String) => (0..count).try_for_each(|_| self.string(column)),
            DmrKind::Atomic(atomic) | DmrKind::Enum { base: atomic, .. } => {
                self.numbers(*atomic, count, column)
            }
            DmrKind::Opaque => (0..count).try_for_each(|_| self.opaque(column)),
            DmrKind::Structure(members) if min_bytes_of(members) == 0 => {
                grow(variable, column, count);
                Ok(())
            }
            DmrKind::Structure(members) => (0..count).try_for_each(|_| self.members(members, column)),
            DmrKind::Sequence(members) => (0..count).try_for_each(|_| self.rows(members, column)),
        }
    }

    /// A number of elements, if the rest of the data can hold them.
    fn enough(&self, count: u64, min_bytes: u64) -> Result<usize> {
        let left = self.data.len() - self.at;
        if count.checked_mul(min_bytes).is_none_or(|needed| needed > left as u64) {
            let message =
                format!("the answer is truncated: {count} elements are declared, {left} bytes are left");
            return Err(Error::malformed(message));
        }
        usize::try_from(count)
            .map_err(|_| Error::limit(format!("{count} elements are too many for this machine")))
    }

    fn members(&mut self, members: &'a [DmrVariable], column: &mut Values) -> Result<()> {
        let Values::Compound { len, fields } = column else {
            return Err(Error::internal("members outside a compound"));
        };
        members.iter().zip(fields).try_for_each(|(member, field)| self.append(member, field))?;
        *len += 1;
        Ok(())
    }

    fn rows(&mut self, members: &'a [DmrVariable], column: &mut Values) -> Result<()> {
        let Values::Vlen { ends, elements } = column else {
            return Err(Error::internal("a sequence outside a vlen"));
        };
        let rows = self.length("rows")?;
        self.limits.count(rows.saturating_add(elements.len() as u64), "a sequence")?;
        let count = self.enough(rows, min_bytes_of(members))?;
        (0..count).try_for_each(|_| self.members(members, elements))?;
        ends.push(elements.len());
        Ok(())
    }

    fn string(&mut self, column: &mut Values) -> Result<()> {
        let Values::String(to) = column else { return Err(Error::internal("a string outside strings")) };
        let len = self.length("bytes")?;
        let len = self.enough(len, 1)?;
        to.push(Some(self.take(len)?));
        Ok(())
    }

    fn opaque(&mut self, column: &mut Values) -> Result<()> {
        let len = self.length("bytes")?;
        let len = self.enough(len, 1)?;
        match column {
            Values::Vlen { ends, elements } => match &mut **elements {
                Values::UByte(bytes) => {
                    bytes.extend_from_slice(self.take(len)?);
                    ends.push(bytes.len());
                    Ok(())
                }
                _ => Err(Error::internal("opaque values outside bytes")),
            },
            _ => Err(Error::internal("opaque values outside a vlen")),
        }
    }

    /// A count, which is signed on the wire.
    fn length(&mut self, what: &str) -> Result<u64> {
        let bytes: [u8; 8] = self.array()?;
        let count = match self.order {
            SerialOrder::Little => i64::from_le_bytes(bytes),
            SerialOrder::Big => i64::from_be_bytes(bytes),
        };
        u64::try_from(count).map_err(|_| Error::malformed(format!("a count of {count} {what}")))
    }

    fn numbers(&mut self, atomic: Atomic, count: usize, column: &mut Values) -> Result<()> {
        let size = atomic.byte_len().unwrap_or(1);
        let bytes = self.take(count.saturating_mul(size))?;
        macro_rules! extend {
            ($to:expr, $ty:ty, $size:literal) => {{
                let (words, _) = bytes.as_chunks::<$size>();
                match self.order {
                    SerialOrder::Little => $to.extend(words.iter().copied().map(<$ty>::from_le_bytes)),
                    SerialOrder::Big => $to.extend(words.iter().copied().map(<$ty>::from_be_bytes)),
                }
            }};
        }
        match column {
            Values::Byte(to) => extend!(to, i8, 1),
            Values::UByte(to) | Values::Char(to) => to.extend_from_slice(bytes),
            Values::Short(to) => extend!(to, i16, 2),
            Values::UShort(to) => extend!(to, u16, 2),
            Values::Int(to) => extend!(to, i32, 4),
            Values::UInt(to) => extend!(to, u32, 4),
            Values::Float(to) => extend!(to, f32, 4),
            Values::Int64(to) => extend!(to, i64, 8),
            Values::UInt64(to) => extend!(to, u64, 8),
            Values::Double(to) => extend!(to, f64, 8),
            _ => return Err(Error::internal("a column that does not fit its type")),
        }
        Ok(())
    }

    fn checksum(&mut self) -> Result<u32> {
        let bytes: [u8; 4] = self.array()?;
        Ok(match self.order {
            SerialOrder::Little => u32::from_le_bytes(bytes),
            SerialOrder::Big => u32::from_be_bytes(bytes),
        })
    }

    fn array<const LEN: usize>(&mut self) -> Result<[u8; LEN]> {
        let taken = self.take(LEN)?;
        taken.first_chunk().copied().ok_or_else(|| Error::internal("fewer bytes than were taken"))
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let left = &self.data[self.at..];
        let taken = left.get(..len).ok_or_else(|| {
            Error::malformed(format!(
                "the answer is truncated: it should have {len} bytes, {} are left",
                left.len()
            ))
        })?;
        self.at += len;
        Ok(taken)
    }
}

/// Adds elements of a structure that has no bytes.
fn grow(variable: &DmrVariable, column: &mut Values, count: usize) {
    let (DmrKind::Structure(members), Values::Compound { len, fields }) = (&variable.kind, column) else {
        return;
    };
    *len = len.saturating_add(count);
    for (member, field) in members.iter().zip(fields) {
        let each =
            element_count(member).ok().and_then(|each| usize::try_from(each).ok()).unwrap_or(usize::MAX);
        grow(member, field, count.saturating_mul(each));
    }
}
