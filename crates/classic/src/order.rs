//! Byte order: every number of a classic file is big-endian.
use ncirrus_layout::{ByteOrder, Error, Result, StoredType};
use ncirrus_model::{Atomic, TypeRef, Values, Variable};

/// Values from their big-endian bytes; a partial element at the end is dropped. Strings, which do not exist in
/// classic files, stay empty.
pub(crate) fn from_big_endian(atomic: Atomic, bytes: &[u8]) -> Values {
    let size = atomic.byte_len().unwrap_or(1);
    let mut values = Values::zeroed(atomic, bytes.len() / size);
    if let Some(native) = values.as_bytes_mut() {
        native.iter_mut().zip(bytes).for_each(|(native, byte)| *native = *byte);
        swap(native, size);
    }
    values
}

/// The big-endian bytes of values.
///
/// # Errors
/// If their type does not exist in classic files.
pub(crate) fn to_big_endian(values: &Values) -> Result<Vec<u8>> {
    let known = values.atomic().and_then(Atomic::byte_len).zip(values.as_bytes());
    let (size, bytes) =
        known.ok_or_else(|| Error::internal("values of a type that classic files do not have"))?;
    let mut bytes = bytes.to_vec();
    swap(&mut bytes, size);
    Ok(bytes)
}

/// The stored form of a type's elements; `None` for strings, which classic files do not have.
fn stored(atomic: Atomic) -> Option<StoredType> {
    let order = ByteOrder::Big;
    let integer = |size, signed| StoredType::Integer { size, signed, order };
    Some(match atomic {
        Atomic::Char => StoredType::Char,
        Atomic::Byte => integer(1, true),
        Atomic::UByte => integer(1, false),
        Atomic::Short => integer(2, true),
        Atomic::UShort => integer(2, false),
        Atomic::Int => integer(4, true),
        Atomic::UInt => integer(4, false),
        Atomic::Int64 => integer(8, true),
        Atomic::UInt64 => integer(8, false),
        Atomic::Float => StoredType::Float { size: 4, order },
        Atomic::Double => StoredType::Float { size: 8, order },
        Atomic::String => return None,
    })
}

/// The stored form of a variable's elements, and their value if never written.
pub(crate) fn element_of(variable: &Variable) -> Option<(StoredType, Values)> {
    let TypeRef::Atomic(atomic) = variable.ty else { return None };
    Some((stored(atomic)?, variable.fill_value()?))
}

/// Converts elements of `size` bytes from the machine's byte order to big-endian or back.
fn swap(bytes: &mut [u8], size: usize) {
    if cfg!(target_endian = "little") && size > 1 {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
}
