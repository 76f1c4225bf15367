//! Sizes of variables and records. All arithmetic is checked: the lengths come from files and users.
use ncirrus_model::Atomic;

/// Size of the elements of a fixed variable, or of one record of a record variable, and of one step along each of its
/// axes; `None` if they do not fit 64 bits. `shape` is without the record axis.
pub(crate) fn slab(atomic: Atomic, shape: &[u64]) -> Option<SlabSize> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut byte_len = atomic.byte_len()? as u64;
    for len in shape.iter().rev() {
        strides.push(byte_len);
        byte_len = byte_len.checked_mul(*len)?;
    }
    strides.reverse();
    Some(SlabSize { byte_len, strides })
}

/// The size of a slab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SlabSize {
    pub(crate) byte_len: u64,
    /// Bytes from one element to the next, per axis.
    pub(crate) strides: Vec<u64>,
}

/// A length including the padding that follows it: every variable and every record of it begins at a multiple of
/// four.
pub(crate) fn padded(len: u64) -> Option<u64> {
    len.checked_next_multiple_of(4)
}

/// Bytes from one record to the next, from the lengths of one record of each variable. Records of the only record
/// variable are not padded (Users Guide, "Note on padding").
pub(crate) fn record_size(lens: &[u64]) -> Option<u64> {
    match lens {
        [only] => Some(*only),
        all => all.iter().try_fold(0u64, |sum, len| sum.checked_add(padded(*len)?)),
    }
}
