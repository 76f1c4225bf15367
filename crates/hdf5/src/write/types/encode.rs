//! Datatype messages (docs/spec/hdf5-netcdf4.md D.2, I.1).
use crate::datatypes::{
    BitField, CompoundMember, Datatype, DatatypeClass, EnumValue, FloatFormat, FloatOrder, MantissaNorm,
    ReferenceKind, StringPadding,
};
use crate::write::out::ByteSink;
use ncirrus_layout::ByteOrder;

/// The bytes of a datatype message, of the oldest version that can describe it: text of fixed length is ASCII, other
/// text UTF-8, opaque types have no tag.
pub(crate) fn encode_datatype(datatype: &Datatype) -> Vec<u8> {
    let mut out = ByteSink::new();
    encode(&mut out, datatype);
    out.finish().into()
}

fn encode(out: &mut ByteSink, datatype: &Datatype) {
    match &datatype.class {
        DatatypeClass::Integer(bits) => integer(out, datatype, 0, *bits),
        DatatypeClass::BitField(bits) => integer(out, datatype, 4, *bits),
        DatatypeClass::Float(format) => float(out, datatype, format),
        DatatypeClass::Time => _ = head(out, datatype, 2, [0, 0, 0]).uint(8 * datatype.byte_len, 2),
        DatatypeClass::Text(padding) => _ = head(out, datatype, 3, [padding_code(*padding), 0, 0]),
        DatatypeClass::Opaque => _ = head(out, datatype, 5, [0, 0, 0]),
        DatatypeClass::Compound(members) => compound(out, datatype, members),
        DatatypeClass::Reference(kind) => _ = head(out, datatype, 7, [reference_code(*kind), 0, 0]),
        DatatypeClass::Enum { base, members } => enumeration(out, datatype, base, members),
        DatatypeClass::Vlen(base) => {
            head(out, datatype, 9, [0, 0, 0]);
            encode(out, base);
        }
        // The base type of a string is a byte; the character set is in the flags of the string itself.
        DatatypeClass::VlenText(padding) => {
            head(out, datatype, 9, [1 | padding_code(*padding) << 4, UTF_8, 0]);
            out.bytes(UNSIGNED_BYTE);
        }
        DatatypeClass::Array { dims, base } => {
            head(out, datatype, 10, [0, 0, 0]).uint(dims.len() as u64, 1);
            dims.iter().for_each(|len| _ = out.uint(*len, 4));
            encode(out, base);
        }
        DatatypeClass::Complex(base) => {
            head(out, datatype, 11, [1, 0, 0]);
            encode(out, base);
        }
    }
}

fn head<'a>(out: &'a mut ByteSink, datatype: &Datatype, class: u8, flags: [u8; 3]) -> &'a mut ByteSink {
    out.u8(version(&datatype.class) << 4 | class).bytes(&flags).uint(datatype.byte_len, 4)
}

/// The oldest version that supports the class; a nested type is never newer than the outer one.
fn version(class: &DatatypeClass) -> u8 {
    newest(class, 1)
}

/// The oldest version that supports the class, or `min` if that is newer.
///
/// The version so far is passed down, not combined with the result: `version(base).max(3)` is miscompiled by rustc
/// 1.95 (LLVM 22) from `-O2` on. It turns such a recursion into a loop, and concludes from the `max` that its result
/// is never below 3, which it then applies to all classes; compounds got version 1
/// (`docs/design/023-faults-before-0.1.md`; `tests/optimised` compiles both forms).
fn newest(class: &DatatypeClass, min: u8) -> u8 {
    match class {
        DatatypeClass::Complex(_) => min.max(5),
        DatatypeClass::Reference(ReferenceKind::Object | ReferenceKind::Region) => min,
        DatatypeClass::Reference(_) => min.max(4),
        DatatypeClass::Compound(members) => {
            members.iter().fold(min.max(3), |min, member| newest(&member.datatype.class, min))
        }
        DatatypeClass::Array { base, .. } => newest(&base.class, min.max(3)),
        DatatypeClass::Enum { .. } => min.max(3),
        DatatypeClass::Float(FloatFormat { order: FloatOrder::Vax, .. }) => min.max(3),
        DatatypeClass::Vlen(base) => newest(&base.class, min),
        DatatypeClass::Integer(_)
        | DatatypeClass::BitField(_)
        | DatatypeClass::Float(_)
        | DatatypeClass::Time => min,
        DatatypeClass::Text(_) | DatatypeClass::VlenText(_) | DatatypeClass::Opaque => min,
    }
}

fn integer(out: &mut ByteSink, datatype: &Datatype, class: u8, bits: BitField) {
    let order = u8::from(bits.order == ByteOrder::Big);
    head(out, datatype, class, [order | u8::from(bits.signed) << 3, 0, 0]);
    out.u16(bits.offset).u16(bits.precision);
}

fn float(out: &mut ByteSink, datatype: &Datatype, format: &FloatFormat) {
    let order = match format.order {
        FloatOrder::Little => 0,
        FloatOrder::Big => 1,
        FloatOrder::Vax => 0x41,
    };
    let norm = match format.norm {
        MantissaNorm::None => 0,
        MantissaNorm::MsbSet => 1,
        MantissaNorm::Implied => 2,
    };
    head(out, datatype, 1, [order | norm << 4, format.sign, 0]).u16(format.offset).u16(format.precision);
    let ((exponent, exponent_len), (mantissa, mantissa_len)) = (format.exponent, format.mantissa);
    out.bytes(&[exponent, exponent_len, mantissa, mantissa_len]).u32(format.bias);
}

fn compound(out: &mut ByteSink, datatype: &Datatype, members: &[CompoundMember]) {
    let width = datatype.byte_len.max(1).ilog2() as usize / 8 + 1;
    head(out, datatype, 6, count(members.len()));
    for member in members {
        out.bytes(member.name.as_bytes()).u8(0).uint(member.offset, width);
        encode(out, &member.datatype);
    }
}

fn enumeration(out: &mut ByteSink, datatype: &Datatype, base: &Datatype, members: &[EnumValue]) {
    head(out, datatype, 8, count(members.len()));
    encode(out, base);
    members.iter().for_each(|member| _ = out.bytes(member.name.as_bytes()).u8(0));
    let is_big = matches!(base.class, DatatypeClass::Integer(BitField { order: ByteOrder::Big, .. }));
    for member in members {
        let mut value: Vec<u8> = member.value.to_le_bytes().into();
        // Larger enumerations are not read either; smaller ones were checked to hold their values.
        value.resize(usize::try_from(base.byte_len).unwrap_or(value.len()), 0);
        if is_big {
            value.reverse();
        }
        out.bytes(&value);
    }
}

/// The lower two of the three bytes of flags.
fn count(members: usize) -> [u8; 3] {
    let [low, high] = u16::try_from(members).unwrap_or(u16::MAX).to_le_bytes();
    [low, high, 0]
}

fn padding_code(padding: StringPadding) -> u8 {
    match padding {
        StringPadding::NulTerminated => 0,
        StringPadding::NulPadded => 1,
        StringPadding::SpacePadded => 2,
    }
}

/// The kind; the new ones also contain the version of their encoding.
fn reference_code(kind: ReferenceKind) -> u8 {
    match kind {
        ReferenceKind::Object => 0,
        ReferenceKind::Region => 1,
        ReferenceKind::NewObject => 0x12,
        ReferenceKind::NewRegion => 0x13,
        ReferenceKind::NewAttribute => 0x14,
    }
}

const UTF_8: u8 = 1;
/// The base of variable-length text.
const UNSIGNED_BYTE: &[u8] = &[0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0];
