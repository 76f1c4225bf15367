//! Datatype messages of versions 1 to 5 (docs/spec/hdf5-netcdf4.md D.2).
use super::{Bits, Class, Datatype, Padding, ReferenceKind};
use crate::cursor::Cursor;
use crate::file::{File, Sizes};
use crate::object::{Message, Resolved, resolve};
use ncirrus_layout::{ByteOrder, Error, Limits, Result, Step, View};
use std::sync::Arc;

mod members;
mod number;

#[cfg(test)]
mod tests;

pub(super) use number::{element_bits, integer};

/// The datatype of a message, followed to where it is committed or shared.
pub(crate) fn datatype(view: &dyn View, file: &File, message: &Message) -> Step<Arc<Datatype>> {
    of_resolved(view, file, &resolve(view, file, message)?)
}

/// The datatype in a message that was followed; a committed one is parsed once.
pub(super) fn of_resolved(view: &dyn View, file: &File, resolved: &Resolved) -> Step<Arc<Datatype>> {
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

/// The datatype in these bytes, and how many of them it takes.
///
/// What cannot be read as it says it is may be from a miscompiled build of ours (`docs/correctness.md`): compounds of
/// version 1 with the members of version 3. No type of version 1 that can be read is taken for one.
fn nested_datatype(bytes: &[u8], sizes: Sizes, limits: &Limits) -> Result<(Datatype, usize)> {
    let parse = |mislabelled| {
        let cursor = Cursor::new(bytes, "datatype");
        let mut parser = Parser { cursor, sizes, limits, mislabelled };
        let datatype = parser.datatype(1)?;
        Ok((datatype, parser.cursor.position()))
    };
    parse(false).or_else(|error| parse(true).map_err(|_| error))
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    sizes: Sizes,
    limits: &'a Limits,
    /// Whether compounds of version 1 are such of version 3.
    mislabelled: bool,
}

/// What every datatype starts with.
#[derive(Debug, Clone, Copy)]
struct Head {
    version: u8,
    /// The bit field of the class.
    flags: u32,
    byte_len: u64,
    depth: u32,
}

impl Head {
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

impl Parser<'_> {
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
        let class = self.class(class, Head { version, flags, byte_len, depth })?;
        Ok(Datatype { byte_len, class, committed: None })
    }

    fn class(&mut self, class: u8, head: Head) -> Result<Class> {
        match class {
            0 => Ok(Class::Integer(self.bits(head, head.flags & 8 != 0)?)),
            1 => Ok(Class::Float(number::float(&mut self.cursor, head)?)),
            2 => self.cursor.skip(2).map(|()| Class::Time),
            3 => Ok(Class::Text(padding(head.nibble(0))?)),
            4 => Ok(Class::BitField(self.bits(head, false)?)),
            5 => self.cursor.skip(usize::from(head.flags.to_le_bytes()[0])).map(|()| Class::Opaque),
            6 => self.compound(head),
            7 => Ok(Class::Reference(reference(head.nibble(0))?)),
            8 => self.enumeration(head),
            9 => self.vlen(head),
            10 => self.array(head),
            11 => self.complex(head),
            _ => Err(Error::unsupported(format!("a datatype of class {class}"))),
        }
    }

    fn bits(&mut self, head: Head, signed: bool) -> Result<Bits> {
        let (offset, precision) = (self.cursor.u16()?, self.cursor.u16()?);
        number::check_bits(head, offset, precision)?;
        Ok(Bits { order: head.order(), signed, offset, precision })
    }

    fn vlen(&mut self, head: Head) -> Result<Class> {
        let least = 8 + u64::from(self.sizes.offsets);
        if head.byte_len < least {
            let len = head.byte_len;
            return Err(Error::malformed(format!("a variable-length datatype of {len} bytes, not {least}")));
        }
        let base = self.datatype(head.depth + 1)?;
        match head.nibble(0) {
            0 => Ok(Class::Vlen(Box::new(base))),
            1 => Ok(Class::VlenText(padding(head.nibble(4))?)),
            other => Err(Error::unsupported(format!("a variable-length datatype of kind {other}"))),
        }
    }

    fn complex(&mut self, head: Head) -> Result<Class> {
        if head.flags & 7 != 1 {
            return Err(Error::unsupported(format!("complex numbers of form {:#x}", head.flags & 7)));
        }
        let base = self.datatype(head.depth + 1)?;
        if !matches!(base.class, Class::Float(_)) || head.byte_len != base.byte_len.saturating_mul(2) {
            let (whole, part) = (head.byte_len, base.byte_len);
            return Err(Error::malformed(format!("complex numbers of {whole} bytes, their parts of {part}")));
        }
        Ok(Class::Complex(Box::new(base)))
    }
}

fn padding(value: u32) -> Result<Padding> {
    match value {
        0 => Ok(Padding::NulTerminated),
        1 => Ok(Padding::NulPadded),
        2 => Ok(Padding::SpacePadded),
        _ => Err(Error::malformed(format!("text padded in way {value}"))),
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
