//! References to objects (hdf5-netcdf4.md F.3).
use super::native::len_of;
use crate::cursor::Cursor;
use crate::file::{Addr, File, Sizes};
use crate::word::{Class, Datatype, ReferenceKind};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Strings, Values};
use std::collections::HashMap;

/// The paths of the objects that the elements refer to; null for a null reference.
pub(super) fn paths(
    file: &File,
    kind: ReferenceKind,
    raw: &[u8],
    len: usize,
    paths: &HashMap<Addr, String>,
) -> Result<Values> {
    let mut strings = Strings::new();
    for element in raw.chunks_exact(len) {
        match object(element, kind, file.sizes)? {
            None => strings.push(None),
            Some(addr) => match paths.get(&addr) {
                Some(path) => strings.push(Some(path.as_bytes())),
                None => strings.push(Some(format!("#{}", addr.0).as_bytes())),
            },
        }
    }
    Ok(Values::String(strings))
}

/// The objects that elements of a reference type refer to, without nulls.
pub(super) fn addresses(file: &File, datatype: &Datatype, raw: &[u8]) -> Result<Vec<Addr>> {
    let Class::Reference(kind) = datatype.class else {
        return Err(Error::unsupported("references in elements of another type"));
    };
    let found = raw.chunks_exact(len_of(datatype)?).map(|element| object(element, kind, file.sizes));
    found.filter_map(Result::transpose).collect()
}

/// The object that an element refers to; `None` for a null reference.
fn object(element: &[u8], kind: ReferenceKind, sizes: Sizes) -> Result<Option<Addr>> {
    let mut cursor = Cursor::new(element, "object reference");
    let addr = match kind {
        ReferenceKind::Object => cursor.addr(sizes)?,
        ReferenceKind::NewObject => in_token(&mut cursor)?,
        ReferenceKind::Region | ReferenceKind::NewRegion | ReferenceKind::NewAttribute => {
            return Err(Error::unsupported("references to parts of objects"));
        }
    };
    Ok(addr.filter(|addr| addr.0 != 0))
}

/// The address in a reference of the new kind.
fn in_token(cursor: &mut Cursor<'_>) -> Result<Option<Addr>> {
    let (kind, flags) = (cursor.u8()?, cursor.u8()?);
    match kind {
        0 => return Ok(None),
        OBJECT if flags & EXTERNAL == 0 => {}
        OBJECT => return Err(Error::unsupported("a reference to an object of another file")),
        _ => {
            return Err(Error::unsupported(format!("a reference of type {kind} where objects are expected")));
        }
    }
    let len = usize::from(cursor.u8()?);
    Ok(Some(Addr(cursor.uint(len)?)))
}

/// The type of references to objects among the new ones.
const OBJECT: u8 = 2;
const EXTERNAL: u8 = 1;
