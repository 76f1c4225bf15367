//! Datatype messages of versions 1 to 5 (docs/spec/hdf5-netcdf4.md D.2).
use super::{BitField, Datatype, DatatypeClass, ReferenceKind, StringPadding};
use crate::address::FieldSizes;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::object::{HeaderMessage, ResolvedMessage, resolve};
use ncirrus_layout::{ByteOrder, Error, Limits, Result, Step, View};
use std::sync::Arc;

mod members;
mod number;

#[cfg(test)]
mod tests;

pub(super) use number::{element_bits, integer};

/// The datatype of a message, resolved if it is committed or shared.
pub(crate) fn datatype(view: &dyn View, file: &Hdf5File, message: &HeaderMessage) -> Step<Arc<Datatype>> {
    of_resolved(view, file, &resolve(view, file, message)?)
}

/// The datatype in a resolved message; a committed one is parsed once.
pub(super) fn of_resolved(
    view: &dyn View,
    file: &Hdf5File,
    resolved: &ResolvedMessage,
) -> Step<Arc<Datatype>> {
    let parse = || -> Step<(Datatype, usize)> {
        let (mut datatype, len) = nested_datatype(&resolved.body, file.sizes, view.limits())?;
        datatype.committed = resolved.committed;
        Ok((datatype, len.saturating_mul(size_of::<Datatype>() / 8)))
    };
    match resolved.committed {
        Some(addr) => file.memo(view, addr, "datatype", parse),
        None => Ok(Arc::new(parse()?.0)),
    }
}

/// Parses a datatype; returns it and its length.
///
/// A datatype that is not valid as declared may be from a miscompiled build of ncirrus
/// (`docs/design/023-faults-before-0.1.md`): compounds of version 1 with the members of version 3. No valid type of
/// version 1 is mistaken for one.
fn nested_datatype(bytes: &[u8], sizes: FieldSizes, limits: &Limits) -> Result<(Datatype, usize)> {
    let parse = |mislabelled| {
        let cursor = ByteCursor::new(bytes, "datatype");
        let mut parser = DatatypeParser { cursor, sizes, limits, mislabelled };
        let datatype = parser.datatype(1)?;
        Ok((datatype, parser.cursor.position()))
    };
    parse(false).or_else(|error| parse(true).map_err(|_| error))
}

struct DatatypeParser<'a> {
    cursor: ByteCursor<'a>,
    sizes: FieldSizes,
    limits: &'a Limits,
    /// Whether compounds of version 1 have the members of version 3.
    mislabelled: bool,
}

/// The common header of all datatypes.
#[derive(Debug, Clone, Copy)]
struct DatatypeHead {
    version: u8,
    /// The bit field of the class.
    flags: u32,
    byte_len: u64,
    depth: u32,
}

impl DatatypeHead {
    fn order(self) -> ByteOrder {
        if self.flags & 1 == 0 { ByteOrder::Little } else { ByteOrder::Big }
    }

    /// Four bits of the bit field, from `first` on.
    fn nibble(self, first: u32) -> u32 {
        self.flags >> first & 0xf
    }

    /// The lower 16 bits of the bit field.
    fn count(self) -> u32 {
        self.flags & 0xffff
    }
}

impl DatatypeParser<'_> {
    fn datatype(&mut self, depth: u32) -> Result<Datatype> {
        self.limits.depth(depth, "a datatype")?;
        let first = self.cursor.u8()?;
        let (version, class) = (first >> 4, first & 0xf);
        if !(1..=5).contains(&version) {
            return Err(Error::unsupported(format!("a datatype of version {version}")));
        }
        let [low, middle, high] = [self.cursor.u8()?, self.cursor.u8()?, self.cursor.u8()?];
        let flags = u32::from_le_bytes([low, middle, high, 0]);
        let byte_len = u64::from(self.cursor.u32()?);
        if byte_len == 0 {
            return Err(Error::malformed(format!("a datatype of class {class} and 0 bytes")));
        }
        let class = self.class(class, DatatypeHead { version, flags, byte_len, depth })?;
        Ok(Datatype { byte_len, class, committed: None })
    }

    fn class(&mut self, class: u8, head: DatatypeHead) -> Result<DatatypeClass> {
        match class {
            0 => Ok(DatatypeClass::Integer(self.bits(head, head.flags & 8 != 0)?)),
            1 => Ok(DatatypeClass::Float(number::float(&mut self.cursor, head)?)),
            2 => self.cursor.skip(2).map(|()| DatatypeClass::Time),
            3 => Ok(DatatypeClass::Text(padding(head.nibble(0))?)),
            4 => Ok(DatatypeClass::BitField(self.bits(head, false)?)),
            5 => self.cursor.skip(usize::from(head.flags.to_le_bytes()[0])).map(|()| DatatypeClass::Opaque),
            6 => self.compound(head),
            7 => Ok(DatatypeClass::Reference(reference(head.nibble(0))?)),
            8 => self.enumeration(head),
            9 => self.vlen(head),
            10 => self.array(head),
            11 => self.complex(head),
            _ => Err(Error::unsupported(format!("a datatype of class {class}"))),
        }
    }

    fn bits(&mut self, head: DatatypeHead, signed: bool) -> Result<BitField> {
        let (offset, precision) = (self.cursor.u16()?, self.cursor.u16()?);
        number::check_bits(head, offset, precision)?;
        Ok(BitField { order: head.order(), signed, offset, precision })
    }

    fn vlen(&mut self, head: DatatypeHead) -> Result<DatatypeClass> {
        let min = 8 + u64::from(self.sizes.offsets);
        if head.byte_len < min {
            let len = head.byte_len;
            return Err(Error::malformed(format!("a variable-length datatype of {len} bytes, not {min}")));
        }
        let base = self.datatype(head.depth + 1)?;
        match head.nibble(0) {
            0 => Ok(DatatypeClass::Vlen(Box::new(base))),
            1 => Ok(DatatypeClass::VlenText(padding(head.nibble(4))?)),
            other => Err(Error::unsupported(format!("a variable-length datatype of kind {other}"))),
        }
    }

    fn complex(&mut self, head: DatatypeHead) -> Result<DatatypeClass> {
        if head.flags & 7 != 1 {
            return Err(Error::unsupported(format!("complex numbers of form {:#x}", head.flags & 7)));
        }
        let base = self.datatype(head.depth + 1)?;
        if !matches!(base.class, DatatypeClass::Float(_)) || head.byte_len != base.byte_len.saturating_mul(2)
        {
            let (whole, part) = (head.byte_len, base.byte_len);
            return Err(Error::malformed(format!("complex numbers of {whole} bytes, their parts of {part}")));
        }
        Ok(DatatypeClass::Complex(Box::new(base)))
    }
}

fn padding(value: u32) -> Result<StringPadding> {
    match value {
        0 => Ok(StringPadding::NulTerminated),
        1 => Ok(StringPadding::NulPadded),
        2 => Ok(StringPadding::SpacePadded),
        _ => Err(Error::malformed(format!("text with unknown padding {value}"))),
    }
}

fn reference(value: u32) -> Result<ReferenceKind> {
    match value {
        0 => Ok(ReferenceKind::Object),
        1 => Ok(ReferenceKind::Region),
        2 => Ok(ReferenceKind::NewObject),
        3 => Ok(ReferenceKind::NewRegion),
        4 => Ok(ReferenceKind::NewAttribute),
        _ => Err(Error::malformed(format!("references of kind {value}"))),
    }
}
