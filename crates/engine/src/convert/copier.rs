//! Rows of stored numbers to rows of machine numbers and back: a copy, a swap or a widening, never a function call per
//! element.
use super::{atomic_of, kind_of};
use half::{bf16, f16};
use ncirrus_layout::{ByteOrder, StoredField, StoredType};
use ncirrus_model::{Atomic, Field, Model, TypeRef, UserKind};
use std::ops::Range;
use std::sync::Arc;

/// Turns rows of stored elements into rows of the model's type in the machine's byte order, and back where that loses
/// nothing. For types whose elements are one number, character or run of opaque bytes, and for compounds of these.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowCopier {
    kind: CopierKind,
    stored_len: usize,
    native_len: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum CopierKind {
    Same,
    Swap2,
    Swap4,
    Swap8,
    Half(ByteOrder),
    BFloat(ByteOrder),
    FloatToDouble(ByteOrder),
    /// Sign- or zero-extended.
    Widen {
        signed: bool,
        order: ByteOrder,
    },
    /// Field by field.
    Fields(Arc<[CopiedField]>),
}

/// A field of a compound: contiguous elements, at an offset on each side.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CopiedField {
    stored: usize,
    native: usize,
    count: usize,
    copier: RowCopier,
}

impl RowCopier {
    /// The copier for a stored type that is read as `ty`; `None` if elements must go through [`decode`](super::decode)
    /// or the types are incompatible.
    pub fn new(model: &Model, ty: TypeRef, stored: &StoredType) -> Option<Self> {
        if let (StoredType::Opaque { byte_len }, TypeRef::User(id)) = (stored, ty) {
            let UserKind::Opaque(size) = kind_of(model, id).ok()? else { return None };
            let len = usize::try_from(*byte_len).ok().filter(|len| *len > 0)?;
            return (size == byte_len).then_some(Self {
                kind: CopierKind::Same,
                stored_len: len,
                native_len: len,
            });
        }
        let atomic = atomic_of(model, ty)?;
        let native_len = atomic.byte_len()?;
        let (kind, stored_len) = match stored {
            StoredType::Char if native_len == 1 => (CopierKind::Same, 1),
            StoredType::Integer { size, signed, order } => integer(atomic, *size, *signed, *order)?,
            StoredType::Float { size, order } => float(atomic, *size, *order)?,
            StoredType::BFloat16 { order } if atomic == Atomic::Float => (CopierKind::BFloat(*order), 2),
            _ => return None,
        };
        Some(Self { kind, stored_len, native_len })
    }

    /// As [`new`](Self::new), also for compounds whose members all have a fixed size: their fields are in the model's
    /// order without padding, including those of nested compounds.
    pub fn packed(model: &Model, ty: TypeRef, stored: &StoredType) -> Option<Self> {
        Self::packed_at(model, ty, stored, 0)
    }

    fn packed_at(model: &Model, ty: TypeRef, stored: &StoredType, depth: u32) -> Option<Self> {
        super::check_depth(depth).ok()?;
        let (StoredType::Compound { byte_len, fields }, TypeRef::User(id)) = (stored, ty) else {
            return Self::new(model, ty, stored);
        };
        let UserKind::Compound(members) = kind_of(model, id).ok()? else { return None };
        if members.len() != fields.len() {
            return None;
        }
        let stored_len = usize::try_from(*byte_len).ok().filter(|len| *len > 0)?;
        let (mut copied, mut native) = (Vec::with_capacity(fields.len()), 0usize);
        for (member, field) in members.iter().zip(fields.iter()) {
            let field = Self::field(model, (member, field), native, depth)?;
            native = native.checked_add(field.copier.native_len.checked_mul(field.count)?)?;
            if field.stored.checked_add(field.copier.stored_len.checked_mul(field.count)?)? > stored_len {
                return None;
            }
            copied.push(field);
        }
        let is_plain = native == stored_len
            && copied.iter().all(|field| field.copier.is_plain() && field.stored == field.native);
        let kind = if is_plain { CopierKind::Same } else { CopierKind::Fields(copied.into()) };
        Some(Self { kind, stored_len, native_len: native })
    }

    fn field(
        model: &Model,
        (member, field): (&Field, &StoredField),
        native: usize,
        depth: u32,
    ) -> Option<CopiedField> {
        let copier = Self::packed_at(model, member.ty, &field.stored, depth + 1)?;
        let count = usize::try_from(field.count).ok().filter(|_| member.element_count() == field.count)?;
        Some(CopiedField { stored: usize::try_from(field.offset).ok()?, native, count, copier })
    }

    /// The copier for elements of `len` uninterpreted bytes.
    pub(crate) fn bytes(len: usize) -> Self {
        Self { kind: CopierKind::Same, stored_len: len, native_len: len }
    }

    /// Bytes of one stored element.
    pub fn stored_len(&self) -> usize {
        self.stored_len
    }

    /// Bytes of one element of the model's type.
    pub fn native_len(&self) -> usize {
        self.native_len
    }

    /// Whether stored bytes are native bytes.
    pub fn is_plain(&self) -> bool {
        self.kind == CopierKind::Same
    }

    /// Whether [`store`](Self::store) can be used: no number changes its size.
    pub fn is_reversible(&self) -> bool {
        match &self.kind {
            CopierKind::Fields(fields) => fields.iter().all(|field| field.copier.is_reversible()),
            _ => self.stored_len == self.native_len,
        }
    }

    /// Copies a row; the shorter of the two determines the number of elements.
    pub fn copy(&self, stored: &[u8], native: &mut [u8]) {
        match &self.kind {
            CopierKind::Same => {
                let len = stored.len().min(native.len());
                native[..len].copy_from_slice(&stored[..len]);
            }
            CopierKind::Swap2 => swap::<2>(stored, native),
            CopierKind::Swap4 => swap::<4>(stored, native),
            CopierKind::Swap8 => swap::<8>(stored, native),
            _ => self.gather(stored, self.stored_len, native),
        }
    }

    /// Copies every element that starts `step` bytes after the one before it.
    pub fn gather(&self, stored: &[u8], step: usize, native: &mut [u8]) {
        match (&self.kind, self.stored_len) {
            (CopierKind::Same, 1) => pick::<1>(stored, step, native, |bytes| bytes),
            (CopierKind::Same, 2) => pick::<2>(stored, step, native, |bytes| bytes),
            (CopierKind::Same, 4) => pick::<4>(stored, step, native, |bytes| bytes),
            (CopierKind::Same, 8) => pick::<8>(stored, step, native, |bytes| bytes),
            (CopierKind::Swap2, _) => pick::<2>(stored, step, native, reversed),
            (CopierKind::Swap4, _) => pick::<4>(stored, step, native, reversed),
            (CopierKind::Swap8, _) => pick::<8>(stored, step, native, reversed),
            _ => self.gather_any(stored, step, native),
        }
    }

    fn gather_any(&self, stored: &[u8], step: usize, native: &mut [u8]) {
        for (index, to) in native.chunks_exact_mut(self.native_len).enumerate() {
            let start = index.saturating_mul(step);
            let Some(from) = stored.get(start..start.saturating_add(self.stored_len)) else { return };
            self.one(from, to);
        }
    }

    fn one(&self, from: &[u8], to: &mut [u8]) {
        match &self.kind {
            CopierKind::Half(order) => {
                to.copy_from_slice(&f16::from_bits(two(from, *order)).to_f32().to_ne_bytes());
            }
            CopierKind::BFloat(order) => {
                to.copy_from_slice(&bf16::from_bits(two(from, *order)).to_f32().to_ne_bytes());
            }
            CopierKind::FloatToDouble(order) => {
                let bits = u32::try_from(word(from, *order)).unwrap_or(0);
                to.copy_from_slice(&f64::from(f32::from_bits(bits)).to_ne_bytes());
            }
            CopierKind::Widen { signed, order } => extend(from, *signed, *order, to),
            CopierKind::Fields(fields) => {
                for field in fields.iter() {
                    let (stored, native) = field.spans();
                    field.copier.copy(&from[stored], &mut to[native]);
                }
            }
            _ => to.copy_from_slice(from),
        }
    }

    /// The inverse: native elements as they are stored. Only if [`is_reversible`](Self::is_reversible).
    pub fn store(&self, native: &[u8], stored: &mut [u8]) {
        debug_assert!(self.is_reversible(), "elements that change size are encoded, not copied");
        match &self.kind {
            CopierKind::Fields(_) => self.store_gather(native, self.native_len, stored),
            // A swap is its own inverse.
            _ => self.copy(native, stored),
        }
    }

    /// The inverse of [`gather`](Self::gather): native elements `step` bytes apart are stored contiguously.
    pub fn store_gather(&self, native: &[u8], step: usize, stored: &mut [u8]) {
        debug_assert!(self.is_reversible(), "elements that change size are encoded, not copied");
        let CopierKind::Fields(fields) = &self.kind else { return self.gather(native, step, stored) };
        for (index, to) in stored.chunks_exact_mut(self.stored_len).enumerate() {
            let start = index.saturating_mul(step);
            let Some(from) = native.get(start..start.saturating_add(self.native_len)) else { return };
            // Bytes between fields are stored as 0, as when fields are encoded one by one.
            to.fill(0);
            for field in fields.iter() {
                let (stored, native) = field.spans();
                field.copier.store(&from[native], &mut to[stored]);
            }
        }
    }
}

impl CopiedField {
    /// The bytes of the field on each side.
    fn spans(&self) -> (Range<usize>, Range<usize>) {
        let stored = self.stored..self.stored + self.count * self.copier.stored_len;
        (stored, self.native..self.native + self.count * self.copier.native_len)
    }
}

fn integer(atomic: Atomic, size: u8, signed: bool, order: ByteOrder) -> Option<(CopierKind, usize)> {
    let native_len = atomic.byte_len()?;
    let stored_len = usize::from(size);
    let takes = atomic.is_integer() || (atomic == Atomic::Char && size == 1);
    if !takes || !matches!(size, 1 | 2 | 4 | 8) || stored_len > native_len {
        return None;
    }
    if stored_len == native_len {
        return Some((swapping(stored_len, order), stored_len));
    }
    let unsigned = matches!(atomic, Atomic::UByte | Atomic::UShort | Atomic::UInt | Atomic::UInt64);
    // An unsigned type cannot hold negative numbers, however wide it is.
    (!(signed && unsigned)).then_some((CopierKind::Widen { signed, order }, stored_len))
}

fn float(atomic: Atomic, size: u8, order: ByteOrder) -> Option<(CopierKind, usize)> {
    match (size, atomic) {
        (2, Atomic::Float) => Some((CopierKind::Half(order), 2)),
        (4, Atomic::Float) | (8, Atomic::Double) => {
            Some((swapping(usize::from(size), order), usize::from(size)))
        }
        (4, Atomic::Double) => Some((CopierKind::FloatToDouble(order), 4)),
        _ => None,
    }
}

fn swapping(size: usize, order: ByteOrder) -> CopierKind {
    match size {
        _ if order == ByteOrder::NATIVE => CopierKind::Same,
        2 => CopierKind::Swap2,
        4 => CopierKind::Swap4,
        8 => CopierKind::Swap8,
        _ => CopierKind::Same,
    }
}

fn swap<const N: usize>(from: &[u8], to: &mut [u8]) {
    let (from, _) = from.as_chunks::<N>();
    let (to, _) = to.as_chunks_mut::<N>();
    for (from, to) in from.iter().zip(to) {
        *to = reversed(*from);
    }
}

fn pick<const N: usize>(from: &[u8], step: usize, to: &mut [u8], change: impl Fn([u8; N]) -> [u8; N]) {
    let (to, _) = to.as_chunks_mut::<N>();
    if step == N {
        let (from, _) = from.as_chunks::<N>();
        from.iter().zip(to).for_each(|(from, to)| *to = change(*from));
        return;
    }
    for (from, to) in from.chunks(step.max(1)).zip(to) {
        let Some(from) = from.first_chunk::<N>() else { return };
        *to = change(*from);
    }
}

fn reversed<const N: usize>(mut bytes: [u8; N]) -> [u8; N] {
    bytes.reverse();
    bytes
}

fn two(from: &[u8], order: ByteOrder) -> u16 {
    let bytes = from.first_chunk::<2>().copied().unwrap_or_default();
    match order {
        ByteOrder::Little => u16::from_le_bytes(bytes),
        ByteOrder::Big => u16::from_be_bytes(bytes),
    }
}

/// An unsigned integer of up to 8 bytes.
fn word(from: &[u8], order: ByteOrder) -> u64 {
    let push = |value: u64, byte: &u8| value << 8 | u64::from(*byte);
    match order {
        ByteOrder::Big => from.iter().fold(0, push),
        ByteOrder::Little => from.iter().rev().fold(0, push),
    }
}

fn extend(from: &[u8], signed: bool, order: ByteOrder, to: &mut [u8]) {
    let bits = word(from, order);
    let shift = 64 - 8 * from.len().clamp(1, 8);
    #[expect(clippy::cast_possible_wrap, clippy::cast_sign_loss, reason = "the shift pair extends the sign")]
    let bits = if signed { ((bits << shift) as i64 >> shift) as u64 } else { bits };
    let bytes = bits.to_le_bytes();
    to.copy_from_slice(&bytes[..to.len().min(8)]);
    if cfg!(target_endian = "big") {
        to.reverse();
    }
}
