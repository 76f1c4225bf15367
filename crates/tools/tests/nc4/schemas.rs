//! Random schemas: groups, dimensions, types, variables, attributes and values.
use ncirrus::{
    Atomic, Attribute, CodecSpec, DimensionLen, Endianness, EnumMember, Field, Fill, Model, NodeId, Result,
    Storage, TypeRef, UserKind, UserType, Values,
};
use ncirrus_model::{DimId, GroupId, VarId};
use proptest::collection::vec;
use proptest::prelude::*;

/// A dataset; numbers select among the available choices.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    groups: Vec<Group>,
    seed: u64,
    pub(crate) newer: bool,
}

#[derive(Debug, Clone)]
struct Group {
    parent: usize,
    /// Whether each is unlimited, and its length.
    dims: Vec<(bool, u64)>,
    types: Vec<Type>,
    variables: Vec<Variable>,
    attributes: Vec<(usize, usize)>,
}

#[derive(Debug, Clone)]
enum Type {
    Enum(usize, usize),
    Opaque(u64),
    Vlen(usize),
    Compound(Vec<(usize, Vec<u64>)>),
}

#[derive(Debug, Clone)]
struct Variable {
    ty: usize,
    /// Whether it has the name of a dimension.
    coordinate: bool,
    dims: Vec<usize>,
    storage: usize,
    chunks: Vec<u64>,
    filters: usize,
    endianness: usize,
    fill: usize,
    attributes: Vec<(usize, usize)>,
    missing: u64,
}

pub(crate) fn schemas() -> impl Strategy<Value = Schema> {
    (vec(group(), 1..4), any::<u64>(), any::<bool>()).prop_map(|(groups, seed, newer)| Schema {
        groups,
        seed,
        newer,
    })
}

fn group() -> impl Strategy<Value = Group> {
    let attributes = vec((0..40usize, 1..4usize), 0..3);
    let dims = vec((any::<bool>(), 1..6u64), 0..4);
    (0..3usize, dims, vec(ty(), 0..3), vec(variable(), 0..5), attributes).prop_map(
        |(parent, dims, types, variables, attributes)| Group { parent, dims, types, variables, attributes },
    )
}

fn ty() -> impl Strategy<Value = Type> {
    prop_oneof![
        (0..8usize, 1..5usize).prop_map(|(base, members)| Type::Enum(base, members)),
        (1..12u64).prop_map(Type::Opaque),
        (0..40usize).prop_map(Type::Vlen),
        vec((0..40usize, vec(1..4u64, 0..2)), 1..4).prop_map(Type::Compound),
    ]
}

fn variable() -> impl Strategy<Value = Variable> {
    let shape = (vec(0..8usize, 0..4), 0..6usize, vec(1..5u64, 3), 0..8usize);
    let rest = (0..3usize, 0..4usize, vec((0..40usize, 1..4usize), 0..3), 0..3u64);
    (0..40usize, 0..10usize, shape, rest).prop_map(
        |(ty, coordinate, (dims, storage, chunks, filters), (endianness, fill, attributes, missing))| {
            Variable {
                ty,
                coordinate: coordinate < 2,
                dims,
                storage,
                chunks,
                filters,
                endianness,
                fill,
                attributes,
                missing,
            }
        },
    )
}

/// Values of the first elements of a variable.
pub(crate) struct Part {
    pub(crate) var: VarId,
    pub(crate) count: Vec<u64>,
    pub(crate) values: Values,
}

const ATOMICS: [Atomic; 12] = [
    Atomic::Byte,
    Atomic::Short,
    Atomic::Int,
    Atomic::Int64,
    Atomic::UByte,
    Atomic::UShort,
    Atomic::UInt,
    Atomic::UInt64,
    Atomic::Float,
    Atomic::Double,
    Atomic::Char,
    Atomic::String,
];

/// Names of all kinds.
fn name(start: &str, number: usize) -> String {
    format!("{start}{number}{}", ["", " b", "µ水", "-x", ".y"][number % 5])
}

struct Builder<'a> {
    model: &'a mut Model,
    /// Types, and dimensions with the length to be reached, each with its group.
    types: Vec<(TypeRef, GroupId)>,
    dims: Vec<(DimId, GroupId, u64)>,
    random: u64,
}

impl Schema {
    /// Puts everything into the model and returns the values to be written.
    pub(crate) fn build(&self, model: &mut Model) -> Result<Vec<Part>> {
        let root = model.root();
        let mut builder = Builder { model, types: Vec::new(), dims: Vec::new(), random: self.seed };
        let (mut homes, mut parts) = (Vec::new(), Vec::new());
        for (number, group) in self.groups.iter().enumerate() {
            let home = match homes.get(group.parent % homes.len().max(1)) {
                Some(parent) => builder.model.add_group(*parent, &name("g", number))?,
                None => root,
            };
            homes.push(home);
            builder.group(home, group, &mut parts)?;
        }
        Ok(parts)
    }
}

impl Builder<'_> {
    fn group(&mut self, home: GroupId, group: &Group, parts: &mut Vec<Part>) -> Result<()> {
        // No two dimensions or types have the same name: netCDF4-python takes the nearest one for any of them.
        let first = self.dims.len();
        for (number, (unlimited, len)) in (first..).zip(&group.dims) {
            let kind = if *unlimited { DimensionLen::Unlimited(0) } else { DimensionLen::Fixed(*len) };
            let dim = self.model.add_dimension(home, &name("d", number), kind)?;
            self.dims.push((dim, home, *len));
        }
        for (number, ty) in (self.types.len()..).zip(&group.types) {
            let kind = self.kind(home, ty);
            let ty = self.model.add_type(home, UserType { name: name("t", number), kind })?;
            self.types.push((TypeRef::User(ty), home));
        }
        for (number, variable) in group.variables.iter().enumerate() {
            let simple = if variable.coordinate { name("d", first + number) } else { name("v", number) };
            parts.push(self.variable(home, &simple, variable)?);
        }
        self.attributes(NodeId::Group(home), home, &group.attributes);
        Ok(())
    }

    fn is_seen(&self, from: GroupId, home: GroupId) -> bool {
        let (from, home) = (self.model.group_path(from), self.model.group_path(home));
        home == "/" || from == home || from.starts_with(&format!("{home}/"))
    }

    fn choose(&self, home: GroupId, number: usize) -> TypeRef {
        let atomics = ATOMICS.into_iter().map(TypeRef::from);
        let user = self.types.iter().filter(|(_, of)| self.is_seen(home, *of)).map(|(ty, _)| *ty);
        let all: Vec<TypeRef> = atomics.chain(user).collect();
        all[number % all.len()]
    }

    fn kind(&self, home: GroupId, ty: &Type) -> UserKind {
        match ty {
            Type::Enum(base, members) => {
                let member = |value: usize| EnumMember { name: name("m", value), value: value as i128 * 40 };
                UserKind::Enum { base: ATOMICS[*base], members: (0..(*members).min(4)).map(member).collect() }
            }
            Type::Opaque(size) => UserKind::Opaque(*size),
            Type::Vlen(base) => UserKind::Vlen(self.choose(home, *base)),
            Type::Compound(fields) => {
                let field = |(number, (ty, dims)): (usize, &(usize, Vec<u64>))| Field {
                    name: name("f", number),
                    ty: self.choose(home, *ty),
                    dims: dims.clone(),
                };
                UserKind::Compound(fields.iter().enumerate().map(field).collect())
            }
        }
    }

    fn variable(&mut self, home: GroupId, simple: &str, variable: &Variable) -> Result<Part> {
        let ty = self.choose(home, variable.ty);
        let mut dims: Vec<(DimId, u64)> = Vec::new();
        let seen: Vec<(DimId, u64)> = self
            .dims
            .iter()
            .filter(|(_, of, _)| self.is_seen(home, *of))
            .map(|(dim, _, len)| (*dim, *len))
            .collect();
        for index in &variable.dims {
            let dim = seen.get(index % seen.len().max(1));
            dims.extend(dim.filter(|dim| !dims.contains(dim)));
        }
        let ids: Vec<DimId> = dims.iter().map(|(dim, _)| *dim).collect();
        let var = self.model.add_variable(home, simple, ty, &ids)?;
        let mut count: Vec<u64> = dims.iter().map(|(_, len)| *len).collect();
        let whole = self.store(var, ty, variable);
        if let Some(first) = count.first_mut().filter(|_| !whole) {
            *first = first.saturating_sub(variable.missing);
        }
        let elements = usize::try_from(count.iter().product::<u64>()).unwrap();
        let values = self.values(ty, elements);
        self.attributes(NodeId::Variable(var), home, &variable.attributes);
        Ok(Part { var, count, values })
    }

    /// Chooses how a variable is stored, and returns whether all of it must be written.
    fn store(&mut self, var: VarId, ty: TypeRef, choices: &Variable) -> bool {
        let grows = self.model.growing(var).contains(&true);
        let plain = matches!(ty, TypeRef::Atomic(atomic) if atomic != Atomic::String);
        let own = (choices.fill == 1 && plain).then(|| self.values(ty, 1));
        let Some(variable) = self.model.variable_mut(var) else { return true };
        let rank = variable.dims.len();
        let chunked = Storage::Chunked(choices.chunks.iter().copied().take(rank).collect());
        let wide = |atomic: Atomic| atomic.is_numeric() && !matches!(atomic, Atomic::Byte | Atomic::UByte);
        let big = matches!(ty, TypeRef::Atomic(atomic) if wide(atomic)) && choices.endianness == 1;
        variable.endianness = if big { Endianness::Big } else { Endianness::Native };
        variable.storage = match choices.storage {
            1 if !grows => Storage::Contiguous,
            2 if !grows => Storage::Compact,
            3.. if rank > 0 => chunked,
            _ => Storage::Default,
        };
        let filterable = rank > 0 && plain && matches!(variable.storage, Storage::Chunked(_));
        if filterable {
            let spec = |id, parameters| CodecSpec::Hdf5 { id, parameters, optional: id != 3 };
            let all = [spec(2, Vec::new()), spec(1, vec![4]), spec(3, Vec::new())];
            let chosen = all.into_iter().enumerate().filter(|(bit, _)| choices.filters >> bit & 1 == 1);
            variable.filters = chosen.map(|(_, spec)| spec).collect();
        }
        let none = choices.fill == 2 && plain && !grows;
        if none {
            variable.fill = Fill::None;
        }
        if let Some(own) = own {
            self.model.set_fill(var, own).unwrap();
        }
        // Other programs disagree about elements of the remaining ones that were never written.
        none || !plain
    }

    fn attributes(&mut self, node: NodeId, home: GroupId, choices: &[(usize, usize)]) {
        for (number, (ty, len)) in choices.iter().enumerate() {
            let ty = self.choose(home, *ty);
            let values = self.values(ty, *len);
            let attributes = self.model.attributes_mut(node).unwrap().known_mut();
            attributes.put(Attribute { name: name("a", number), ty, values, is_json: false });
        }
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).unwrap()
    }

    fn values(&mut self, ty: TypeRef, count: usize) -> Values {
        let id = match ty {
            TypeRef::Atomic(atomic) => return self.atomic(atomic, count),
            TypeRef::User(id) => id,
        };
        match self.model.user_type(id).unwrap().kind.clone() {
            UserKind::Enum { base, members } => self.constants(base, &members, count),
            UserKind::Opaque(size) => {
                let size = usize::try_from(size).unwrap();
                Values::Opaque {
                    size,
                    bytes: (0..size * count).map(|_| self.next().to_le_bytes()[0]).collect(),
                }
            }
            UserKind::Vlen(base) => {
                let mut ends = Vec::new();
                for _ in 0..count {
                    let more = self.below(4);
                    ends.push(ends.last().copied().unwrap_or(0) + more);
                }
                let all = ends.last().copied().unwrap_or(0);
                Values::Vlen { ends, elements: Box::new(self.values(base, all)) }
            }
            UserKind::Compound(fields) => {
                let each = |field: &Field| usize::try_from(field.element_count()).unwrap() * count;
                let fields = fields.iter().map(|field| self.values(field.ty, each(field))).collect();
                Values::Compound { len: count, fields }
            }
        }
    }

    fn atomic(&mut self, atomic: Atomic, count: usize) -> Values {
        const WORDS: [&str; 5] = ["word", "", "µ 水", "a b", "longer than the others are"];
        match atomic {
            Atomic::Char => Values::Char((0..count).map(|_| b"abcdefghijklmnop"[self.below(16)]).collect()),
            Atomic::String => Values::String((0..count).map(|_| Some(WORDS[self.below(5)])).collect()),
            number => {
                let mut values = Values::zeroed(number, count);
                values
                    .as_bytes_mut()
                    .unwrap()
                    .iter_mut()
                    .for_each(|byte| *byte = self.next().to_le_bytes()[0]);
                values
            }
        }
    }

    fn constants(&mut self, base: Atomic, members: &[EnumMember], count: usize) -> Values {
        let mut values = Values::zeroed(base, count);
        let size = values.as_bytes().unwrap().len() / count.max(1);
        for element in values.as_bytes_mut().unwrap().chunks_mut(size.max(1)) {
            let value = members[self.below(members.len())].value.to_le_bytes();
            element.copy_from_slice(&value[..size]);
        }
        values
    }
}
