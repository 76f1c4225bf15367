//! The types of the truth files, and stored bytes reconstructed from the values.
use ncirrus::{Atomic, Model, TypeRef, UserKind, Values};

/// A datatype as `truth.py` writes it: `i4<`, `s16`, `vstr`, `c{name@offset:type,...}size`, `a[dims](type)`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ty {
    Integer { size: usize, signed: bool, big: bool },
    Float { size: usize, big: bool },
    Complex { size: usize },
    Text(usize),
    VlenText,
    Compound { fields: Vec<(String, usize, Ty)>, size: usize },
    Enum(Box<Ty>),
    Array(Vec<u64>, Box<Ty>),
    Vlen(Box<Ty>),
    Opaque(usize),
    Bits(usize),
    Reference(usize),
    Other(String),
}

impl Ty {
    pub(crate) fn parse(text: &str) -> Self {
        let mut rest = text;
        let ty = parse(&mut rest);
        assert_eq!(rest, "", "the type {text} has more behind it");
        ty
    }

    pub(crate) fn has(&self, is: &dyn Fn(&Self) -> bool) -> bool {
        is(self)
            || match self {
                Self::Compound { fields, .. } => fields.iter().any(|(_, _, ty)| ty.has(is)),
                Self::Enum(base) | Self::Array(_, base) | Self::Vlen(base) => base.has(is),
                _ => false,
            }
    }

    pub(crate) fn has_vlen(&self) -> bool {
        self.has(&|ty| matches!(ty, Self::VlenText | Self::Vlen(_)))
    }

    pub(crate) fn has_reference(&self) -> bool {
        self.has(&|ty| matches!(ty, Self::Reference(_)))
    }

    /// The type without its outermost array, and the array's dimensions: the model has them as dimensions.
    pub(crate) fn element(&self) -> (Vec<u64>, &Self) {
        match self {
            Self::Array(dims, base) => {
                let (more, element) = base.element();
                ([dims.clone(), more].concat(), element)
            }
            other => (Vec::new(), other),
        }
    }
}

fn parse(rest: &mut &str) -> Ty {
    let whole = *rest;
    if let Some(more) = whole.strip_prefix("vstr") {
        *rest = more;
        return Ty::VlenText;
    }
    if let Some(more) = whole.strip_prefix("cls11_") {
        *rest = more;
        return Ty::Complex { size: number(rest) };
    }
    if let Some(more) = whole.strip_prefix("c{") {
        *rest = more;
        return compound(rest);
    }
    if let Some(more) = whole.strip_prefix("a[") {
        let (dims, more) = more.split_once("](").unwrap();
        *rest = more;
        let dims = dims.split(',').map(|len| len.trim().parse().unwrap()).collect();
        return Ty::Array(dims, Box::new(closed(rest)));
    }
    for (start, make) in [("e(", Ty::Enum as fn(Box<Ty>) -> Ty), ("v(", Ty::Vlen)] {
        if let Some(more) = whole.strip_prefix(start) {
            *rest = more;
            return make(Box::new(closed(rest)));
        }
    }
    let (kind, more) = whole.split_at(1);
    *rest = more;
    let size = number(rest);
    match kind {
        "i" | "u" => Ty::Integer { size, signed: kind == "i", big: order(rest) },
        "f" => Ty::Float { size, big: order(rest) },
        "s" => Ty::Text(size),
        "o" => Ty::Opaque(size),
        "b" => Ty::Bits(size),
        "r" => Ty::Reference(size),
        _ => Ty::Other(whole.to_owned()),
    }
}

fn compound(rest: &mut &str) -> Ty {
    let mut fields = Vec::new();
    loop {
        if let Some(more) = rest.strip_prefix('}') {
            *rest = more;
            return Ty::Compound { fields, size: number(rest) };
        }
        *rest = rest.strip_prefix(',').unwrap_or(rest);
        // A name may contain `@`: the offset follows the first one that is followed by digits and a colon.
        let at = rest.match_indices('@').find(|(at, _)| {
            let digits = rest[at + 1..].trim_start_matches(|c: char| c.is_ascii_digit());
            digits.starts_with(':')
        });
        let at = at.unwrap().0;
        let name = rest[..at].to_owned();
        *rest = &rest[at + 1..];
        let offset = number(rest);
        *rest = rest.strip_prefix(':').unwrap();
        fields.push((name, offset, parse(rest)));
    }
}

fn closed(rest: &mut &str) -> Ty {
    let ty = parse(rest);
    *rest = rest.strip_prefix(')').unwrap();
    ty
}

fn number(rest: &mut &str) -> usize {
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, more) = rest.split_at(end);
    *rest = more;
    digits.parse().unwrap()
}

fn order(rest: &mut &str) -> bool {
    let (order, more) = rest.split_at(1);
    *rest = more;
    order == ">"
}

pub(crate) fn product(dims: &[u64]) -> usize {
    usize::try_from(dims.iter().product::<u64>()).unwrap()
}

/// Whether the model's type is what the datatype becomes (docs/spec/hdf5-netcdf4.md D.4).
pub(crate) fn matches(model: &Model, ours: TypeRef, ty: &Ty) -> bool {
    let atomic = |expected: Atomic| ours == TypeRef::Atomic(expected);
    let user = match ours {
        TypeRef::User(id) => model.user_type(id).map(|user| &user.kind),
        TypeRef::Atomic(_) => None,
    };
    match (ty, user) {
        (Ty::Integer { size, signed, .. }, _) => integer(*size, *signed).is_some_and(atomic),
        (Ty::Bits(size), _) => integer(*size, false).is_some_and(atomic),
        (Ty::Float { size: 2 | 4, .. }, _) => atomic(Atomic::Float) || atomic(Atomic::Double),
        (Ty::Float { .. }, _) => atomic(Atomic::Double) || atomic(Atomic::Float),
        (Ty::Text(1), _) => atomic(Atomic::Char),
        (Ty::Text(_) | Ty::VlenText | Ty::Reference(_), _) => atomic(Atomic::String),
        (Ty::Enum(base), Some(UserKind::Enum { base: ours, .. })) => {
            matches(model, TypeRef::Atomic(*ours), base)
        }
        (Ty::Opaque(size), Some(UserKind::Opaque(ours))) => *ours == *size as u64,
        (Ty::Vlen(base), Some(UserKind::Vlen(ours))) => matches(model, *ours, base.element().1),
        (Ty::Complex { .. }, Some(UserKind::Compound(fields))) => fields.len() == 2,
        (Ty::Compound { fields, .. }, Some(UserKind::Compound(ours))) => {
            let same = |(ours, (name, _, ty)): (&ncirrus::Field, &(String, usize, Ty))| {
                let (dims, element) = ty.element();
                ours.name == *name && ours.dims == dims && matches(model, ours.ty, element)
            };
            ours.len() == fields.len() && ours.iter().zip(fields).all(same)
        }
        _ => false,
    }
}

fn integer(size: usize, signed: bool) -> Option<Atomic> {
    Some(match (size, signed) {
        (1, true) => Atomic::Byte,
        (1, false) => Atomic::UByte,
        (2, true) => Atomic::Short,
        (2, false) => Atomic::UShort,
        (3 | 4, true) => Atomic::Int,
        (3 | 4, false) => Atomic::UInt,
        (_, true) => Atomic::Int64,
        (_, false) => Atomic::UInt64,
    })
}

/// Choices that the truth's hashes leave open.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    /// All numbers little-endian.
    pub(crate) little: bool,
    /// The padding of fixed-length strings.
    pub(crate) pad: u8,
}

/// Elements as they are stored in the file: fields at their offsets, zeros between them.
pub(crate) fn stored(values: &Values, from: usize, count: usize, ty: &Ty, form: Form, out: &mut Vec<u8>) {
    if let Ty::Array(dims, base) = ty {
        let each = product(dims);
        return stored(values, from * each, count * each, base, form, out);
    }
    for index in from..from + count {
        one(values, index, ty, form, out);
    }
}

fn one(values: &Values, index: usize, ty: &Ty, form: Form, out: &mut Vec<u8>) {
    match ty {
        Ty::Integer { size, big, .. } => {
            put_number(&integer_bytes(values, index)[..*size], *big && !form.little, out);
        }
        Ty::Bits(size) => put_number(&integer_bytes(values, index)[..*size], false, out),
        Ty::Enum(base) => one(values, index, base, form, out),
        Ty::Float { size, big } => put_float(values, index, *size, *big && !form.little, out),
        Ty::Complex { size } => {
            let Values::Compound { fields, .. } = values else { return };
            fields.iter().for_each(|part| put_float(part, index, size / 2, false, out));
        }
        Ty::Text(size) => {
            let mut bytes = text(values, index).to_vec();
            bytes.resize(*size, form.pad);
            out.extend(bytes);
        }
        Ty::Opaque(size) => {
            out.extend(
                values
                    .as_bytes()
                    .and_then(|all| all.get(index * size..(index + 1) * size))
                    .unwrap_or_default(),
            );
        }
        Ty::Compound { fields, size } => {
            let Values::Compound { fields: ours, .. } = values else { return };
            let mut bytes = vec![0; *size];
            for ((_, offset, ty), ours) in fields.iter().zip(ours) {
                let mut field = Vec::new();
                stored(ours, index, 1, ty, form, &mut field);
                bytes[*offset..*offset + field.len()].copy_from_slice(&field);
            }
            out.extend(bytes);
        }
        Ty::VlenText | Ty::Vlen(_) | Ty::Reference(_) | Ty::Other(_) | Ty::Array(..) => {}
    }
}

fn integer_bytes(values: &Values, index: usize) -> [u8; 16] {
    values.integer(index).unwrap_or_default().to_le_bytes()
}

fn put_number(little: &[u8], big: bool, out: &mut Vec<u8>) {
    if big { out.extend(little.iter().rev()) } else { out.extend(little) }
}

fn put_float(values: &Values, index: usize, size: usize, big: bool, out: &mut Vec<u8>) {
    match (values, size) {
        (Values::Float(list), 4) => put_number(&list[index].to_le_bytes(), big, out),
        (Values::Double(list), 8) => put_number(&list[index].to_le_bytes(), big, out),
        (Values::Float(list), 2) => put_number(&half(list[index]).to_le_bytes(), big, out),
        _ => {}
    }
}

/// The binary16 number that was widened to this one, without rounding.
#[expect(clippy::cast_possible_truncation, reason = "the high bits are masked off")]
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let (sign, exponent, mantissa) =
        ((bits >> 16) as u16 & 0x8000, (bits >> 23) as i32 & 0xff, bits & 0x7f_ffff);
    sign | match exponent {
        0xff => 0x7c00 | (mantissa >> 13) as u16,
        _ if exponent >= 113 => ((exponent - 112) as u16) << 10 | (mantissa >> 13) as u16,
        _ if exponent >= 102 => ((mantissa | 0x80_0000) >> (126 - exponent)) as u16,
        _ => 0,
    }
}

/// The text of one element; a char is text of one byte.
pub(crate) fn text(values: &Values, index: usize) -> &[u8] {
    match values {
        Values::String(strings) => strings.get(index).unwrap_or_default(),
        Values::Char(bytes) => bytes.get(index..=index).unwrap_or_default(),
        _ => &[],
    }
}

/// One element in the truth's form for variable-length data: counts and contents.
pub(crate) fn canon(values: &Values, index: usize, ty: &Ty, out: &mut Vec<u8>) {
    match (ty, values) {
        (Ty::VlenText, _) => put_counted(text(values, index), out),
        (Ty::Vlen(base), Values::Vlen { ends, elements }) => {
            let start = index.checked_sub(1).map_or(0, |before| ends[before]);
            let each = product(&base.element().0);
            let (start, count) = (start / each, (ends[index] - start) / each);
            out.extend(u32::try_from(count).unwrap().to_le_bytes());
            if base.has_vlen() {
                (start..start + count).for_each(|at| canon(elements, at, base, out));
            } else {
                stored(elements, start, count, base, FILE, out);
            }
        }
        (Ty::Compound { fields, .. }, Values::Compound { fields: ours, .. }) => {
            for ((_, _, ty), ours) in fields.iter().zip(ours) {
                match ty {
                    ty if ty.has_vlen() => canon(ours, index, ty, out),
                    // NumPy drops trailing NULs of a string, but has no string of zero bytes.
                    Ty::Text(_) => {
                        let text = text(ours, index);
                        out.extend(if text.is_empty() { b"\0" } else { text });
                    }
                    ty => stored(ours, index, 1, ty, FILE, out),
                }
            }
        }
        (Ty::Array(dims, base), _) => {
            let each = product(dims);
            (index * each..(index + 1) * each).for_each(|at| canon(values, at, base, out));
        }
        _ => stored(values, index, 1, ty, FILE, out),
    }
}

/// As it is stored in the file.
pub(crate) const FILE: Form = Form { little: false, pad: 0 };

pub(crate) fn put_counted(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    out.extend(bytes);
}
