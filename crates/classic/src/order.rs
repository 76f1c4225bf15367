//! Byte order: every number of a classic file is big-endian.
use ncirrus_layout::{ByteOrder, StoredType};
use ncirrus_model::{Atomic, Values};

/// Values from their big-endian bytes; a partial element at the end is dropped.
pub(crate) fn from_big_endian(atomic: Atomic, bytes: &[u8]) -> Values {
    let size = atomic.byte_len().unwrap_or(1);
    let mut values = Values::zeroed(atomic, bytes.len() / size);
    if let Some(native) = values.as_bytes_mut() {
        native.copy_from_slice(bytes.get(..native.len()).unwrap_or_default());
        swap(native, size);
    }
    values
}

/// The big-endian bytes of values of a fixed-size atomic type; empty for the others.
pub(crate) fn to_big_endian(values: &Values) -> Vec<u8> {
    let size = values.atomic().and_then(Atomic::byte_len).unwrap_or(1);
    let mut bytes = values.as_bytes().unwrap_or_default().to_vec();
    swap(&mut bytes, size);
    bytes
}

/// What one stored element of a type is; `None` for strings, which classic files do not have.
pub(crate) fn stored(atomic: Atomic) -> Option<StoredType> {
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

/// Changes elements of `size` bytes from the machine's order to big-endian or back.
fn swap(bytes: &mut [u8], size: usize) {
    if cfg!(target_endian = "little") && size > 1 {
        bytes.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
}
