//! Types and values in the words of the truth: type strings, and the bytes that its hashes are of.
use crate::datatypes::{Datatype, DatatypeClass, FloatOrder};
use ncirrus_layout::ByteOrder;
use ncirrus_model::Values;
use sha2::{Digest, Sha256};

pub(super) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The type string; sizes and offsets are those in memory, where text and sequences are pointers.
pub(super) fn type_text(datatype: &Datatype) -> String {
    let order = |little| if little { '<' } else { '>' };
    let len = memory_len(datatype);
    match &datatype.class {
        DatatypeClass::Integer(bits) => {
            format!("{}{len}{}", if bits.signed { 'i' } else { 'u' }, order(bits.order == ByteOrder::Little))
        }
        DatatypeClass::Float(format) => format!("f{len}{}", order(format.order == FloatOrder::Little)),
        DatatypeClass::Text(_) => format!("s{len}"),
        DatatypeClass::VlenText(_) => "vstr".to_owned(),
        DatatypeClass::Compound(members) => {
            let shift = |offset: u64| {
                let before = members.iter().filter(|member| member.offset < offset);
                before.map(|member| member.datatype.byte_len - memory_len(&member.datatype)).sum::<u64>()
            };
            let member = |offset: u64, name: &str, datatype: &Datatype| {
                format!("{name}@{}:{}", offset - shift(offset), type_text(datatype))
            };
            let members: Vec<_> =
                members.iter().map(|one| member(one.offset, &one.name, &one.datatype)).collect();
            format!("c{{{}}}{len}", members.join(","))
        }
        DatatypeClass::Enum { base, .. } => format!("e({})", type_text(base)),
        DatatypeClass::Array { dims, base } => format!("a{dims:?}({})", type_text(base)),
        DatatypeClass::Vlen(base) => format!("v({})", type_text(base)),
        DatatypeClass::Opaque => format!("o{len}"),
        DatatypeClass::BitField(_) => format!("b{len}"),
        DatatypeClass::Reference(_) => format!("r{len}"),
        DatatypeClass::Time => format!("t{len}"),
        DatatypeClass::Complex(_) => format!("cls11_{len}"),
    }
}

/// Bytes of an element in the memory of the program that made the truth.
fn memory_len(datatype: &Datatype) -> u64 {
    match &datatype.class {
        DatatypeClass::VlenText(_) => 8,
        DatatypeClass::Vlen(_) => 16,
        DatatypeClass::Array { dims, base } => dims.iter().product::<u64>() * memory_len(base),
        DatatypeClass::Compound(members) => {
            let less = members.iter().map(|member| member.datatype.byte_len - memory_len(&member.datatype));
            datatype.byte_len - less.sum::<u64>()
        }
        _ => datatype.byte_len,
    }
}

pub(super) fn has_vlen(datatype: &Datatype) -> bool {
    match &datatype.class {
        DatatypeClass::Vlen(_) | DatatypeClass::VlenText(_) => true,
        DatatypeClass::Compound(members) => members.iter().any(|member| has_vlen(&member.datatype)),
        DatatypeClass::Array { base, .. } => has_vlen(base),
        _ => false,
    }
}

/// Variable-length data: counts before what they count.
pub(super) fn canon(datatype: &Datatype, values: &Values, index: usize, out: &mut Vec<u8>) {
    let count = |len: usize| u32::try_from(len).unwrap().to_le_bytes();
    match (&datatype.class, values) {
        (DatatypeClass::VlenText(_), Values::String(strings)) => {
            let text = strings.get(index).unwrap_or_default();
            out.extend(count(text.len()));
            out.extend(text);
        }
        (DatatypeClass::Vlen(base), Values::Vlen { ends, elements }) => {
            let start = index.checked_sub(1).map_or(0, |before| ends[before]);
            out.extend(count(ends[index] - start));
            (start..ends[index]).for_each(|index| canon(base, elements, index, out));
        }
        (DatatypeClass::Array { dims, base }, values) => {
            let each = usize::try_from(dims.iter().product::<u64>()).unwrap();
            (index * each..(index + 1) * each).for_each(|index| canon(base, values, index, out));
        }
        (DatatypeClass::Compound(members), Values::Compound { fields, .. }) if has_vlen(datatype) => {
            members.iter().zip(fields).for_each(|(member, field)| canon(&member.datatype, field, index, out));
        }
        (DatatypeClass::Compound(members), Values::Compound { fields, .. }) => {
            let start = out.len();
            for (member, field) in members.iter().zip(fields) {
                out.resize(start + usize::try_from(member.offset).unwrap(), 0);
                canon(&member.datatype, field, index, out);
            }
            out.resize(start + usize::try_from(datatype.byte_len).unwrap(), 0);
        }
        (class, values) => {
            let len = usize::try_from(datatype.byte_len).unwrap();
            let mut bytes = values.as_bytes().unwrap()[index * len..(index + 1) * len].to_vec();
            let order = match class {
                DatatypeClass::Integer(bits) => bits.order,
                DatatypeClass::Float(format) if format.order == FloatOrder::Big => ByteOrder::Big,
                _ => ByteOrder::Little,
            };
            if order != ByteOrder::NATIVE {
                bytes.reverse();
            }
            out.extend(bytes);
        }
    }
}

/// Text: every length before what it counts. A single character may be padding, and is then none.
pub(super) fn texts(values: &Values, padding: u8) -> Vec<u8> {
    let mut out = Vec::new();
    let mut push = |text: &[u8]| {
        out.extend(u32::try_from(text.len()).unwrap().to_le_bytes());
        out.extend(text);
    };
    match values {
        Values::String(strings) => strings.iter().for_each(|text| push(text.unwrap_or_default())),
        Values::Char(cells) => cells
            .iter()
            .for_each(|cell| push(if *cell == padding { &[] } else { std::slice::from_ref(cell) })),
        other => panic!("{other:?} are no text"),
    }
    out
}

/// Numbers as little-endian bytes; `None` where the data model has them in another size.
pub(super) fn little(datatype: &Datatype, values: &Values) -> Option<Vec<u8>> {
    let len = values.atomic()?.byte_len()?;
    let element = match &datatype.class {
        DatatypeClass::Enum { base, .. } => base,
        _ => datatype,
    };
    let whole = match &element.class {
        DatatypeClass::Integer(bits) | DatatypeClass::BitField(bits) => {
            bits.offset == 0 && u64::from(bits.precision) == 8 * element.byte_len
        }
        DatatypeClass::Float(_) => true,
        _ => false,
    };
    if !whole || len as u64 != element.byte_len {
        return None;
    }
    let mut bytes = values.as_bytes()?.to_vec();
    if ByteOrder::NATIVE == ByteOrder::Big {
        bytes.chunks_exact_mut(len).for_each(<[u8]>::reverse);
    }
    Some(bytes)
}
