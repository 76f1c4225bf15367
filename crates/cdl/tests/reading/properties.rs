//! Random datasets that are printed and read are the same: all types, groups, several unlimited dimensions.
use super::rebuilt::{printed, read};
use ncirrus_cdl::PrintOptions;
use ncirrus_cdl::parse::ParseOptions;
use ncirrus_model::{
    Atomic, Attribute, DimensionLen, EnumMember, Field, GroupId, Model, NodeId, Strings, TypeId, TypeRef,
    UserKind, UserType, Values, VarId,
};
use proptest::prelude::*;
use std::collections::HashMap;

/// Numbers that decide everything, one after the other; 0 when they are used up.
struct Choices<'a> {
    bytes: std::slice::Iter<'a, u8>,
    made: usize,
}

impl Choices<'_> {
    fn below(&mut self, most: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % most.max(1)
    }

    fn wide(&mut self) -> i64 {
        let bytes: [u8; 8] = std::array::from_fn(|_| self.bytes.next().copied().unwrap_or(1));
        i64::from_le_bytes(bytes) >> (8 * self.below(8))
    }

    /// A name of its own, odd in its beginning and end.
    fn name(&mut self) -> String {
        const ODD: [&str; 12] =
            ["v", "data", "2x", "é", "a b", "x.y", "_", "group", "a+b-c@", "types", "q(\";)", "NaNb"];
        self.made += 1;
        let odd = ODD[self.below(ODD.len())];
        if self.below(4) == 0 { format!("{}{odd}", self.made) } else { format!("{odd}{}", self.made) }
    }
}

struct Generated {
    model: Model,
    values: HashMap<VarId, Values>,
}

fn generate(bytes: &[u8]) -> Generated {
    let mut choices = Choices { bytes: bytes.iter(), made: 0 };
    let mut made = Generated { model: Model::new(), values: HashMap::new() };
    let root = made.model.root();
    group(&mut made, root, &mut choices, 0);
    // The length of a dimension that no variable has is nowhere in the text.
    let used: Vec<_> = made
        .model
        .variables()
        .into_iter()
        .map(|var| made.model.variable(var).unwrap().dims.clone())
        .collect();
    for group in made.model.walk() {
        for dim in made.model.group(group).unwrap().dims.clone() {
            let is_unlimited = made.model.dimension(dim).unwrap().len.is_unlimited();
            if is_unlimited && !used.iter().any(|dims| dims.contains(&dim)) {
                made.model.set_dimension_len(dim, DimensionLen::Unlimited(0)).unwrap();
            }
        }
    }
    made
}

fn group(made: &mut Generated, id: GroupId, choices: &mut Choices<'_>, depth: usize) {
    for _ in 0..choices.below(4) {
        user_type(made, id, choices);
    }
    for _ in 0..1 + choices.below(3) {
        let len = 1 + choices.below(3) as u64;
        let len = if choices.below(2) == 0 { DimensionLen::Unlimited(len) } else { DimensionLen::Fixed(len) };
        let name = choices.name();
        made.model.add_dimension(id, &name, len).unwrap();
    }
    for _ in 0..choices.below(4) {
        variable(made, id, choices);
    }
    attributes(made, NodeId::Group(id), id, choices);
    if depth < 2 {
        for _ in 0..choices.below(3) {
            let name = choices.name();
            let child = made.model.add_group(id, &name).unwrap();
            group(made, child, choices, depth + 1);
        }
    }
}

fn user_type(made: &mut Generated, id: GroupId, choices: &mut Choices<'_>) {
    let kind = match choices.below(4) {
        0 => {
            let integers = [
                Atomic::Byte,
                Atomic::UByte,
                Atomic::Short,
                Atomic::UShort,
                Atomic::Int,
                Atomic::UInt,
                Atomic::Int64,
                Atomic::UInt64,
            ];
            let base = integers[choices.below(8)];
            let signed = matches!(base, Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Int64);
            let first = if signed { -1 } else { 0 };
            let members = (0..1 + choices.below(3) as i128).map(|at| {
                // Printed as they are, so they have no odd characters.
                EnumMember { name: format!("M{at}.é"), value: first + at }
            });
            UserKind::Enum { base, members: members.collect() }
        }
        1 => UserKind::Opaque(1 + choices.below(5) as u64),
        2 => UserKind::Vlen(type_ref(made, id, choices, false)),
        _ => {
            let fields = (0..1 + choices.below(3)).map(|_| {
                let dims = (0..choices.below(3)).map(|_| 1 + choices.below(3) as u64).collect();
                Field { name: choices.name(), ty: type_ref(made, id, choices, true), dims }
            });
            UserKind::Compound(fields.collect())
        }
    };
    let name = choices.name();
    made.model.add_type(id, UserType { name, kind }).unwrap();
}

/// A type that the group sees; characters within variable lengths lose their NULs.
fn type_ref(made: &Generated, id: GroupId, choices: &mut Choices<'_>, chars: bool) -> TypeRef {
    let seen: Vec<TypeId> =
        made.model.scope(id).into_iter().flat_map(|id| made.model.group(id).unwrap().types.clone()).collect();
    if !seen.is_empty() && choices.below(3) == 0 {
        return TypeRef::User(seen[choices.below(seen.len())]);
    }
    match Atomic::ALL[choices.below(12)] {
        Atomic::Char if !chars => TypeRef::Atomic(Atomic::Byte),
        atomic => TypeRef::Atomic(atomic),
    }
}

fn variable(made: &mut Generated, id: GroupId, choices: &mut Choices<'_>) {
    let seen: Vec<_> =
        made.model.scope(id).into_iter().flat_map(|id| made.model.group(id).unwrap().dims.clone()).collect();
    let rank = choices.below(4).min(seen.len());
    let dims: Vec<_> = (0..rank).map(|_| seen[choices.below(seen.len())]).collect();
    let ty = type_ref(made, id, choices, true);
    let name = choices.name();
    let var = made.model.add_variable(id, &name, ty, &dims).unwrap();
    if choices.below(3) == 0 {
        let fill = values(&made.model, ty, 1, choices);
        // Trailing fill is not printed of text.
        if !matches!(fill, Values::Char(_)) {
            made.model.set_fill(var, fill).unwrap();
        }
    }
    attributes(made, NodeId::Variable(var), id, choices);
    let count = usize::try_from(made.model.shape(var).iter().product::<u64>()).unwrap();
    let mut values = values(&made.model, ty, count, choices);
    if let Values::Char(chars) = &mut values
        && made.model.growing(var).contains(&true)
    {
        // NULs at the end are not printed, and an unlimited dimension is as long as what is.
        chars.iter_mut().filter(|char| **char == 0).for_each(|char| *char = b'0');
    }
    made.values.insert(var, values);
}

fn attributes(made: &mut Generated, node: NodeId, id: GroupId, choices: &mut Choices<'_>) {
    for _ in 0..choices.below(4) {
        let ty = type_ref(made, id, choices, true);
        let count = 1 + choices.below(3);
        let mut values = values(&made.model, ty, count, choices);
        if let Values::Char(text) = &mut values {
            // NULs at the end are not printed.
            while text.last() == Some(&0) {
                text.pop();
            }
        }
        let attribute = Attribute { name: choices.name(), ty, values, is_json: false };
        made.model.attributes_mut(node).unwrap().known_mut().set(attribute).unwrap();
    }
}

/// Values of any type.
fn values(model: &Model, ty: TypeRef, count: usize, choices: &mut Choices<'_>) -> Values {
    let id = match ty {
        TypeRef::Atomic(atomic) => return atomic_values(atomic, count, choices),
        TypeRef::User(id) => id,
    };
    match &model.user_type(id).unwrap().kind {
        UserKind::Enum { base, members } => {
            let mut all = Values::zeroed(*base, 0);
            for _ in 0..count {
                let value = members[choices.below(members.len())].value;
                let bytes = value.to_le_bytes();
                let one = Values::from_native_bytes(*base, &bytes[..base.byte_len().unwrap()]).unwrap();
                all.extend_from(&one, 0..1);
            }
            all
        }
        UserKind::Opaque(size) => {
            let size = usize::try_from(*size).unwrap();
            Values::Opaque {
                size,
                bytes: (0..size * count).map(|_| choices.wide().to_le_bytes()[0]).collect(),
            }
        }
        UserKind::Vlen(base) => {
            let mut end = 0;
            let ends: Vec<usize> = (0..count)
                .map(|_| {
                    end += choices.below(3);
                    end
                })
                .collect();
            Values::Vlen { ends, elements: Box::new(values(model, *base, end, choices)) }
        }
        UserKind::Compound(fields) => {
            let column = |field: &Field| {
                let each = usize::try_from(field.element_count()).unwrap();
                values(model, field.ty, each * count, choices)
            };
            Values::Compound { len: count, fields: fields.iter().map(column).collect() }
        }
    }
}

fn atomic_values(atomic: Atomic, count: usize, choices: &mut Choices<'_>) -> Values {
    const DOUBLES: [f64; 8] = [0.1, -1.5, 1e300, f64::INFINITY, f64::NEG_INFINITY, 3.0, 5e-324, 0.0];
    const FLOATS: [f32; 7] = [0.1, -1.5, 1e38, f32::INFINITY, f32::NEG_INFINITY, 16_777_217.0, 1e-45];
    const TEXTS: [&str; 7] =
        ["", "a", "é\t\"q\"\\", "1\u{b}x", "long enough to be wrapped at some place", "{};,", "x\ny"];
    match atomic {
        Atomic::Double => Values::Double((0..count).map(|_| DOUBLES[choices.below(8)]).collect()),
        Atomic::Float => Values::Float((0..count).map(|_| FLOATS[choices.below(7)]).collect()),
        Atomic::Char => {
            const CHARS: &[u8] = b"ab\0\"\\\t'\xe9 {}\x01";
            Values::Char((0..count).map(|_| CHARS[choices.below(CHARS.len())]).collect())
        }
        Atomic::String => {
            let mut strings = Strings::new();
            for _ in 0..count {
                // The reference prints a vertical tab among data as a line end.
                let text = TEXTS[choices.below(7)].replace('\u{b}', "");
                strings.push((choices.below(5) > 0).then_some(text.as_bytes()));
            }
            Values::String(strings)
        }
        integer => {
            let len = integer.byte_len().unwrap();
            let bytes = (0..count).flat_map(|_| choices.wide().to_le_bytes()[..len].to_vec());
            Values::from_native_bytes(integer, &bytes.collect::<Vec<u8>>()).unwrap()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read_as_it_was(bytes in prop::collection::vec(any::<u8>(), 0..1500), block_len in 1usize..4000, line_len in 10usize..200) {
        let made = generate(&bytes);
        let options = PrintOptions::new().name("any name").float_digits(Some(9)).double_digits(Some(17)).line_len(line_len);
        let text = printed(&made.model, &made.values, &options);
        let rebuilt = read(&text, &ParseOptions::new().block_len(block_len));
        let rebuilt = match rebuilt {
            Ok(rebuilt) => rebuilt,
            Err(failure) => panic!("{failure}\n{}", String::from_utf8_lossy(&text)),
        };
        let shown = || String::from_utf8_lossy(&text);
        prop_assert_eq!(&rebuilt.name, "any name");
        if rebuilt.model != made.model {
            let again = printed(&rebuilt.model, &rebuilt.values, &options);
            let again = String::from_utf8_lossy(&again);
            panic!("models differ:\n{}\n{again}\n{:?}\n{:?}", shown(), made.model, rebuilt.model);
        }
        for (var, values) in &made.values {
            let read = &rebuilt.values[var];
            prop_assert!(read.is_identical(values), "{}: {:?} {:?}\n{}", made.model.variable_path(*var), values, read, shown());
        }
    }
}
