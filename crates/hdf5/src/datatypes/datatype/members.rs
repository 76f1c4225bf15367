//! Datatypes with members: compounds, enumerations, arrays.
use super::{DatatypeHead, DatatypeParser, integer};
use crate::cursor::escaped;
use crate::datatypes::space::MAX_RANK;
use crate::datatypes::{CompoundMember, Datatype, DatatypeClass, EnumValue};
use ncirrus_layout::{Error, Result};
use std::collections::HashSet;

impl DatatypeParser<'_> {
    pub(super) fn compound(&mut self, mut head: DatatypeHead) -> Result<DatatypeClass> {
        if self.mislabelled && head.version == 1 {
            head.version = 3;
        }
        let members = (0..head.count()).map(|_| self.member(head)).collect::<Result<Vec<_>>>()?;
        check_members(&members, head.byte_len)?;
        Ok(DatatypeClass::Compound(members.into()))
    }

    fn member(&mut self, head: DatatypeHead) -> Result<CompoundMember> {
        let name = self.name(head)?;
        let offset = match head.version {
            1 | 2 => u64::from(self.cursor.u32()?),
            _ => self.cursor.uint(width_of(head.byte_len))?,
        };
        let dims = if head.version == 1 { self.inline_dims()? } else { Vec::new() };
        let mut datatype = self.datatype(head.depth + 1)?;
        if !dims.is_empty() {
            let byte_len = array_len(&dims, &datatype)?;
            datatype = Datatype {
                byte_len,
                class: DatatypeClass::Array { dims, base: Box::new(datatype) },
                committed: None,
            };
        }
        Ok(CompoundMember { name, offset, datatype })
    }

    /// The array lengths of a member in version 1.
    fn inline_dims(&mut self) -> Result<Vec<u64>> {
        let rank = self.cursor.u8()?;
        self.cursor.skip(3 + 4 + 4)?;
        let lens = [self.cursor.u32()?, self.cursor.u32()?, self.cursor.u32()?, self.cursor.u32()?];
        let lens = lens.get(..usize::from(rank));
        let lens =
            lens.ok_or_else(|| Error::malformed(format!("a member of {rank} dimensions, not at most 4")))?;
        Ok(lens.iter().copied().map(u64::from).collect())
    }

    /// A name, padded in old versions to a multiple of 8 bytes including its NUL.
    fn name(&mut self, head: DatatypeHead) -> Result<String> {
        let name = self.cursor.until_nul()?;
        if head.version < 3 {
            self.cursor.skip((name.len() + 1).next_multiple_of(8) - (name.len() + 1))?;
        }
        Ok(escaped(name))
    }

    pub(super) fn enumeration(&mut self, head: DatatypeHead) -> Result<DatatypeClass> {
        let base = self.datatype(head.depth + 1)?;
        let DatatypeClass::Integer(bits) = base.class else {
            return Err(Error::malformed("an enumeration whose base type is not an integer"));
        };
        if base.byte_len != head.byte_len {
            let (whole, base) = (head.byte_len, base.byte_len);
            return Err(Error::malformed(format!("an enumeration of {whole} bytes on a base of {base}")));
        }
        let names = (0..head.count()).map(|_| self.name(head)).collect::<Result<Vec<_>>>()?;
        let len = usize::try_from(base.byte_len).unwrap_or(usize::MAX);
        let mut members = Vec::with_capacity(names.len());
        let mut seen = HashSet::with_capacity(names.len());
        for name in names {
            let value = integer(self.cursor.take(len)?, bits);
            let value = value
                .ok_or_else(|| Error::unsupported(format!("an enumeration of {} bits", bits.precision)))?;
            // Of two members with one name the first wins.
            if seen.insert(name.clone()) {
                members.push(EnumValue { name, value });
            }
        }
        Ok(DatatypeClass::Enum { base: Box::new(base), members: members.into() })
    }

    pub(super) fn array(&mut self, head: DatatypeHead) -> Result<DatatypeClass> {
        let rank = self.cursor.u8()?;
        if rank > MAX_RANK {
            return Err(Error::malformed(format!("an array datatype of {rank} dimensions")));
        }
        let old = head.version < 3;
        self.cursor.skip(if old { 3 } else { 0 })?;
        let dims = (0..rank).map(|_| Ok(u64::from(self.cursor.u32()?))).collect::<Result<Vec<_>>>()?;
        self.cursor.skip(if old { 4 * usize::from(rank) } else { 0 })?;
        let base = self.datatype(head.depth + 1)?;
        if array_len(&dims, &base)? != head.byte_len {
            let (whole, base) = (head.byte_len, base.byte_len);
            let text = format!("an array datatype of {whole} bytes: {dims:?} elements of {base}");
            return Err(Error::malformed(text));
        }
        Ok(DatatypeClass::Array { dims, base: Box::new(base) })
    }
}

/// Size of member offsets in a compound of that size (`limit_enc` of the specification).
fn width_of(byte_len: u64) -> usize {
    byte_len.checked_ilog2().map_or(1, |log| log as usize / 8 + 1)
}

/// Size of an array datatype; an element has at least one byte.
fn array_len(dims: &[u64], base: &Datatype) -> Result<u64> {
    let len = dims.iter().try_fold(base.byte_len, |len, dim| len.checked_mul(*dim)).filter(|len| *len > 0);
    len.ok_or_else(|| {
        Error::malformed(format!("an array datatype of {dims:?} elements of {} bytes", base.byte_len))
    })
}

/// Members must lie inside the compound, not overlap, and have distinct names.
fn check_members(members: &[CompoundMember], byte_len: u64) -> Result<()> {
    let mut seen = HashSet::with_capacity(members.len());
    if let Some(twice) = members.iter().find(|member| !seen.insert(member.name.as_str())) {
        return Err(Error::malformed(format!("a compound with two members {}", twice.name)));
    }
    let mut sorted: Vec<&CompoundMember> = members.iter().collect();
    sorted.sort_by_key(|member| member.offset);
    let mut end = 0;
    for member in sorted {
        let CompoundMember { name, offset, datatype } = member;
        if *offset < end {
            return Err(Error::malformed(format!("member {name} at byte {offset} overlaps another")));
        }
        end = offset.saturating_add(datatype.byte_len);
        if end > byte_len {
            let len = datatype.byte_len;
            let text = format!("member {name} of {len} bytes at byte {offset} of a compound of {byte_len}");
            return Err(Error::malformed(text));
        }
    }
    Ok(())
}
