//! The attribute message of versions 1 to 3.
use super::RawAttribute;
use crate::cursor::{ByteCursor, escaped};
use crate::datatypes::datatype::of_resolved;
use crate::datatypes::{Dataspace, Datatype, dataspace};
use crate::file::Hdf5File;
use crate::object::{ResolvedMessage, kind, resolve_record};
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View, both};
use std::sync::Arc;

/// A parsed message.
#[derive(Debug)]
pub(super) struct MessageParts {
    pub(super) name: String,
    datatype: MessagePart,
    space: MessagePart,
    pub(super) data: Bytes,
}

/// A datatype or dataspace: its own bytes, or a record of the shared message.
#[derive(Debug)]
struct MessagePart {
    body: Bytes,
    shared: bool,
}

impl MessageParts {
    pub(super) fn parse(body: &Bytes) -> Result<Self> {
        let mut cursor = ByteCursor::new(body, "attribute");
        let version = cursor.version(&[1, 2, 3])?;
        let flags = cursor.u8()?;
        let flags = if version == 1 { 0 } else { flags };
        let lens = [cursor.u16()?, cursor.u16()?, cursor.u16()?];
        cursor.skip(if version == 3 { 1 } else { 0 })?;
        // Only version 1 pads, and the lengths are those without padding.
        let align = if version == 1 { 8 } else { 1 };
        let [name, datatype, space] =
            lens.map(usize::from).map(|len| (len, len.next_multiple_of(align) - len));
        let name = part(&mut cursor, body, name)?;
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let name = escaped(name);
        let datatype = MessagePart { body: part(&mut cursor, body, datatype)?, shared: flags & 1 != 0 };
        let space = MessagePart { body: part(&mut cursor, body, space)?, shared: flags & 2 != 0 };
        Ok(Self { name, datatype, space, data: body.slice(cursor.position()..) })
    }

    /// The attribute, with its datatype and dataspace resolved if they are shared.
    pub(super) fn read(&mut self, view: &dyn View, file: &Hdf5File) -> Step<RawAttribute> {
        let (datatype, space) = both(self.datatype(view, file), self.space(view, file))?;
        let len = space.count().saturating_mul(datatype.byte_len);
        let data = usize::try_from(len).ok().filter(|len| *len <= self.data.len());
        let data = data.map(|len| self.data.slice(..len)).ok_or_else(|| {
            let left = self.data.len();
            Error::malformed(format!("attribute {} has {left} bytes of values, not {len}", self.name))
        })?;
        Ok(RawAttribute { name: std::mem::take(&mut self.name), datatype, space, data })
    }

    fn datatype(&self, view: &dyn View, file: &Hdf5File) -> Step<Arc<Datatype>> {
        of_resolved(view, file, &self.datatype.resolve(view, file, kind::DATATYPE)?)
    }

    fn space(&self, view: &dyn View, file: &Hdf5File) -> Step<Dataspace> {
        Ok(dataspace(&self.space.resolve(view, file, kind::DATASPACE)?.body, file.sizes)?)
    }
}

impl MessagePart {
    fn resolve(&self, view: &dyn View, file: &Hdf5File, kind: u16) -> Step<ResolvedMessage> {
        if self.shared {
            return resolve_record(view, file, kind, &self.body);
        }
        Ok(ResolvedMessage { body: self.body.clone(), committed: None })
    }
}

/// Bytes of that length, and the padding after them as far as it exists.
fn part(cursor: &mut ByteCursor<'_>, body: &Bytes, (len, padding): (usize, usize)) -> Result<Bytes> {
    let start = cursor.position();
    cursor.skip(len)?;
    cursor.skip(padding.min(cursor.left()))?;
    Ok(body.slice(start..start + len))
}
