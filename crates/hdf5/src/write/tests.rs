//! Helpers shared by the tests of this module: types of any kind with values, and files that hold what was written.
use super::FilePatch;
use super::types::datatype_of;
use crate::datatypes::Datatype;
use crate::file::Hdf5File;
use crate::superblock::load;
use crate::testing::build::FileBuilder;
use crate::testing::{KEY, done, view};
use ncirrus_model::{
    Atomic, Endianness, EnumMember, Field, Model, Strings, TypeRef, UserKind, UserType, Values,
};
use ncirrus_testkit::law::RandomSource;
use ncirrus_testkit::{MemoryView, ObjectView};
use proptest::prelude::*;
use std::sync::Arc;

/// A type to be made.
#[derive(Debug, Clone)]
pub(super) enum TypeSpec {
    Atomic(Atomic),
    Enum(Atomic),
    Opaque(u8),
    Vlen(Box<TypeSpec>),
    Compound(Vec<(TypeSpec, Vec<u64>)>),
}

/// Types that nest up to three deep.
pub(super) fn any_type() -> impl Strategy<Value = TypeSpec> {
    let integers: Vec<Atomic> = Atomic::ALL.into_iter().filter(|atomic| atomic.is_integer()).collect();
    let leaf = prop_oneof![
        prop::sample::select(Atomic::ALL.to_vec()).prop_map(TypeSpec::Atomic),
        prop::sample::select(integers).prop_map(TypeSpec::Enum),
        (1u8..20).prop_map(TypeSpec::Opaque),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let dims = prop::collection::vec(1u64..4, 0..3);
        prop_oneof![
            inner.clone().prop_map(|spec| TypeSpec::Vlen(Box::new(spec))),
            prop::collection::vec((inner, dims), 1..5).prop_map(TypeSpec::Compound),
        ]
    })
}

impl TypeSpec {
    /// Adds the type and its components to a model.
    pub(super) fn define(&self, model: &mut Model) -> TypeRef {
        let kind = match self {
            Self::Atomic(atomic) => return (*atomic).into(),
            Self::Enum(base) => {
                let member = |(name, value): (&str, i128)| EnumMember { name: name.to_owned(), value };
                UserKind::Enum {
                    base: *base,
                    members: [("none", 0), ("some", 1), ("many", 100)].map(member).into(),
                }
            }
            Self::Opaque(len) => UserKind::Opaque(u64::from(*len)),
            Self::Vlen(base) => UserKind::Vlen(base.define(model)),
            Self::Compound(fields) => {
                let field = |(index, (spec, dims)): (usize, &(Self, Vec<u64>))| Field {
                    name: format!("field {index}"),
                    ty: spec.define(model),
                    dims: dims.clone(),
                };
                UserKind::Compound(fields.iter().enumerate().map(field).collect())
            }
        };
        let name = format!("type {}", model.nodes().len() + model.walk().len() + types(model));
        let root = model.root();
        TypeRef::User(model.insert_type(root, UserType { name, kind }).expect("a type"))
    }

    /// Any values of the type.
    pub(super) fn values(&self, count: usize, random: &mut RandomSource) -> Values {
        match self {
            Self::Atomic(Atomic::String) => {
                let text = |random: &mut RandomSource| match random.below(4) {
                    0 => None,
                    1 => Some(String::new()),
                    len => Some("é,x".repeat(usize::try_from(len * random.below(40)).expect("small"))),
                };
                Values::String((0..count).map(|_| text(random)).collect::<Strings>())
            }
            Self::Atomic(atomic) | Self::Enum(atomic) => {
                let mut values = Values::zeroed(*atomic, count);
                let bytes = values.as_bytes_mut().expect("numbers");
                // Small bytes only, so that no number is NaN.
                bytes.iter_mut().for_each(|byte| *byte = u8::try_from(random.below(64)).expect("small"));
                values
            }
            Self::Opaque(size) => {
                let bytes =
                    (0..count * usize::from(*size)).map(|_| u8::try_from(random.below(256)).expect("a byte"));
                Values::Opaque { size: usize::from(*size), bytes: bytes.collect() }
            }
            Self::Vlen(base) => {
                let mut end = 0;
                let ends = (0..count).map(|_| {
                    end += usize::try_from(random.below(5)).expect("small");
                    end
                });
                let ends: Vec<usize> = ends.collect();
                Values::Vlen {
                    elements: Box::new(base.values(ends.last().copied().unwrap_or(0), random)),
                    ends,
                }
            }
            Self::Compound(fields) => {
                let each = |dims: &[u64]| usize::try_from(dims.iter().product::<u64>()).expect("few");
                let fields = fields.iter().map(|(spec, dims)| spec.values(count * each(dims), random));
                Values::Compound { len: count, fields: fields.collect() }
            }
        }
    }

    /// The datatype that stores it.
    pub(super) fn datatype(&self) -> Datatype {
        let mut model = Model::new();
        let ty = self.define(&mut model);
        datatype_of(&model, ty, Endianness::Native).expect("a datatype")
    }
}

fn types(model: &Model) -> usize {
    model.group(model.root()).map_or(0, |group| group.types.len())
}

/// A file with these structures in it.
pub(super) fn file_with(patches: &[FilePatch]) -> (MemoryView, Arc<Hdf5File>) {
    let mut builder = FileBuilder::new();
    for patch in patches {
        let start = usize::try_from(patch.addr.0).expect("small");
        let end = start + patch.body.len();
        builder.bytes.resize(builder.bytes.len().max(end), 0);
        builder.bytes[start..end].copy_from_slice(&patch.body);
    }
    let view = view(builder.finish(48));
    let file = done(load(&view, &ObjectView::id(KEY))).expect("a file");
    (view, file)
}
