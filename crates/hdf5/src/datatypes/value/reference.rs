//! References to objects, their regions and attributes (docs/spec/hdf5-netcdf4.md F.3).
use super::decode::ValueDecoder;
use super::native::len_of;
use crate::address::{FieldSizes, FileAddress};
use crate::cursor::{ByteCursor, escaped};
use crate::datatypes::{Datatype, DatatypeClass, ReferenceKind};
use crate::file::Hdf5File;
use crate::heap;
use crate::selection::HyperslabSelection;
use ncirrus_layout::{Error, Limits, Result, Step};
use ncirrus_model::Strings;

/// The target of an element.
#[derive(Debug, Clone, Copy)]
enum ReferenceTarget {
    Null,
    Object(FileAddress),
    /// The contents of a heap object.
    Part {
        collection: FileAddress,
        index: u32,
        form: HeapReference,
    },
}

/// The form in which a heap object describes the target.
#[derive(Debug, Clone, Copy)]
enum HeapReference {
    /// The old form of region.
    Region,
    /// The new forms: a region or attribute in that many bytes.
    New { kind: u8, len: u32 },
}

/// The paths of the targets: of the object, followed by a selection of its elements or the name of an attribute; null
/// for a null reference.
pub(super) fn texts(
    decoder: &ValueDecoder<'_>,
    kind: ReferenceKind,
    raw: &[u8],
    len: usize,
) -> Step<Strings> {
    let ValueDecoder { view, file, .. } = *decoder;
    let targets = raw.chunks_exact(len).map(|element| ReferenceTarget::parse(element, kind, file.sizes));
    let targets = targets.collect::<Result<Vec<_>>>()?;
    // Only references to parts need the global heap: its objects are fetched together, in the order of the
    // references.
    let wanted = targets.iter().filter_map(|target| match target {
        ReferenceTarget::Part { collection, index, .. } => Some((*collection, *index)),
        ReferenceTarget::Null | ReferenceTarget::Object(_) => None,
    });
    let mut objects = heap::objects(view, file, &wanted.collect::<Vec<_>>())?.into_iter();
    let mut strings = Strings::new();
    for target in targets {
        let text = match target {
            ReferenceTarget::Null => None,
            ReferenceTarget::Object(addr) => Some(path(decoder, addr)),
            ReferenceTarget::Part { collection, form, .. } => {
                let object =
                    objects.next().ok_or_else(|| Error::internal("fewer heap objects than asked for"))?;
                let part = form.parse(&object, file.sizes, view.limits());
                let part = part.map_err(|error| file.at(collection, error))?;
                part.map(|(addr, part)| path(decoder, addr) + &part)
            }
        };
        decoder.hold(text.as_ref().map_or(0, String::len))?;
        strings.push(text.as_deref().map(str::as_bytes));
    }
    Ok(strings)
}

/// The path of an object, or its address if it has none.
fn path(decoder: &ValueDecoder<'_>, addr: FileAddress) -> String {
    decoder.paths.get(&addr).cloned().unwrap_or_else(|| format!("#{}", addr.0))
}

/// The target objects of a reference type's elements, without nulls.
pub(super) fn addresses(file: &Hdf5File, datatype: &Datatype, raw: &[u8]) -> Result<Vec<FileAddress>> {
    let DatatypeClass::Reference(kind) = datatype.class else {
        return Err(Error::unsupported("references in elements of a different type"));
    };
    let object = |element| match ReferenceTarget::parse(element, kind, file.sizes)? {
        ReferenceTarget::Null => Ok(None),
        ReferenceTarget::Object(addr) => Ok(Some(addr)),
        ReferenceTarget::Part { .. } => Err(Error::unsupported("references to parts of objects")),
    };
    raw.chunks_exact(len_of(datatype)?).map(object).filter_map(Result::transpose).collect()
}

impl ReferenceTarget {
    fn parse(element: &[u8], kind: ReferenceKind, sizes: FieldSizes) -> Result<Self> {
        let mut cursor = ByteCursor::new(element, "reference");
        match kind {
            ReferenceKind::Object => Ok(Self::object(cursor.addr(sizes)?)),
            ReferenceKind::Region => Self::part(&mut cursor, sizes, HeapReference::Region),
            // Each element states its own kind.
            ReferenceKind::NewObject | ReferenceKind::NewRegion | ReferenceKind::NewAttribute => {
                Self::new_kind(&mut cursor, sizes)
            }
        }
    }

    fn new_kind(cursor: &mut ByteCursor<'_>, sizes: FieldSizes) -> Result<Self> {
        let (kind, flags) = (cursor.u8()?, cursor.u8()?);
        match kind {
            0 => Ok(Self::Null),
            OBJECT | REGION | ATTRIBUTE if flags & EXTERNAL != 0 => {
                Err(Error::unsupported("a reference to an object of another file"))
            }
            OBJECT => Ok(Self::object(Some(token(cursor)?))),
            REGION | ATTRIBUTE => {
                let len = cursor.u32()?;
                Self::part(cursor, sizes, HeapReference::New { kind, len })
            }
            _ => Err(Error::unsupported(format!("a reference of type {kind}"))),
        }
    }

    fn object(addr: Option<FileAddress>) -> Self {
        addr.filter(|addr| addr.0 != 0).map_or(Self::Null, Self::Object)
    }

    fn part(cursor: &mut ByteCursor<'_>, sizes: FieldSizes, form: HeapReference) -> Result<Self> {
        let (addr, index) = (cursor.addr(sizes)?, cursor.u32()?);
        let addr = addr.filter(|addr| addr.0 != 0);
        Ok(addr.map_or(Self::Null, |collection| Self::Part { collection, index, form }))
    }
}

impl HeapReference {
    /// The object, and the text after its path; `None` for no object.
    fn parse(
        self,
        object: &[u8],
        sizes: FieldSizes,
        limits: &Limits,
    ) -> Result<Option<(FileAddress, String)>> {
        let mut cursor = ByteCursor::new(object, "reference in a heap");
        let (addr, is_attribute) = match self {
            Self::Region => (cursor.addr(sizes)?, false),
            Self::New { kind, len } => {
                cursor = ByteCursor::new(cursor.take_u64(u64::from(len))?, "reference in a heap");
                (Some(token(&mut cursor)?), kind == ATTRIBUTE)
            }
        };
        let Some(addr) = addr.filter(|addr| addr.0 != 0) else { return Ok(None) };
        if is_attribute {
            let len = usize::from(cursor.u16()?);
            return Ok(Some((addr, format!(":{}", escaped(cursor.take(len)?)))));
        }
        if matches!(self, Self::New { .. }) {
            // The length of what follows and the rank, which the selection also states.
            cursor.skip(8)?;
        }
        let selection = HyperslabSelection::parse(&mut cursor, limits)?;
        Ok(Some((addr, format!(" {selection}"))))
    }
}

/// The address of an object in a reference of the new kinds.
fn token(cursor: &mut ByteCursor<'_>) -> Result<FileAddress> {
    let len = usize::from(cursor.u8()?);
    Ok(FileAddress(cursor.uint(len)?))
}

/// The types of new references.
const OBJECT: u8 = 2;
const REGION: u8 = 3;
const ATTRIBUTE: u8 = 4;
const EXTERNAL: u8 = 1;
