//! Values as DAP4 serialises them (docs/spec/dap.md 6.4), little-endian.
use super::request::Wanted;
use crate::byte_order::reverse_each;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Model, TypeRef, UserKind, Values};
use std::ops::Range;

/// Whether counts are between the values of a type: strings, opaque values, sequences.
pub(super) fn has_counts(model: &Model, ty: TypeRef) -> bool {
    match ty {
        TypeRef::Atomic(atomic) => atomic == Atomic::String,
        TypeRef::User(id) => match model.user_type(id).map(|ty| &ty.kind) {
            Some(UserKind::Enum { .. }) => false,
            Some(UserKind::Compound(fields)) => fields.iter().any(|field| has_counts(model, field.ty)),
            _ => true,
        },
    }
}

/// Changes numbers of that many bytes each from the machine's byte order to that of the answer.
pub(super) fn reorder(bytes: &mut [u8], size: usize) {
    if cfg!(target_endian = "big") && size > 1 {
        reverse_each(bytes, size);
    }
}

/// All values of a column.
///
/// # Errors
/// `Internal` for values that do not fit the request.
pub(super) fn column(values: &Values, wanted: &Wanted, out: &mut Vec<u8>) -> Result<()> {
    match (values, &wanted.fields) {
        (Values::Compound { len, fields }, Some(picked)) => {
            for at in 0..*len {
                for (number, field) in fields.iter().enumerate() {
                    let each = field.len() / (*len).max(1);
                    if picked.contains(&number) {
                        some(field, at * each..(at + 1) * each, out)?;
                    }
                }
            }
            Ok(())
        }
        (values, _) => some(values, 0..values.len(), out),
    }
}

/// Some of the values of a column.
fn some(values: &Values, range: Range<usize>, out: &mut Vec<u8>) -> Result<()> {
    let count = |len: usize, out: &mut Vec<u8>| out.extend((len as u64).to_le_bytes());
    match values {
        Values::String(strings) => {
            for at in range {
                let text = strings.get(at).unwrap_or_default();
                count(text.len(), out);
                out.extend(text);
            }
        }
        Values::Opaque { size, bytes } => {
            for at in range {
                count(*size, out);
                out.extend(bytes.get(at * size..(at + 1) * size).unwrap_or_default());
            }
        }
        Values::Vlen { ends, elements } => {
            for at in range {
                let start = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                let end = ends.get(at).copied().unwrap_or(start);
                count(end.saturating_sub(start), out);
                some(elements, start..end, out)?;
            }
        }
        Values::Compound { len, fields } => {
            for at in range {
                for field in fields {
                    let each = field.len() / (*len).max(1);
                    some(field, at * each..(at + 1) * each, out)?;
                }
            }
        }
        values => {
            let size = values.atomic().and_then(Atomic::byte_len).unwrap_or(1);
            let bytes = values.as_bytes().and_then(|bytes| bytes.get(range.start * size..range.end * size));
            let start = out.len();
            out.extend(bytes.ok_or_else(|| Error::internal("values that are not there"))?);
            reorder(out.get_mut(start..).unwrap_or_default(), size);
        }
    }
    Ok(())
}
