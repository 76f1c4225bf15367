//! What is written of dimensions in files that do not have all objects of the model.
use super::*;
use crate::address::{FieldSizes, FileAddress};
use crate::testing::build::words;
use crate::write::heap::HeapBuilder;
use crate::write::objects::SIZES;
use crate::write::space::SpaceAllocator;
use ncirrus_model::DimensionLen;

const NARROW: FieldSizes = FieldSizes { offsets: 4, lengths: 4 };

/// A model with a variable along `x` and `y`.
fn model() -> (Model, [DimId; 2], VarId) {
    let mut model = Model::new();
    let root = model.root();
    let dims = [("x", 3), ("y", 4)]
        .map(|(name, len)| model.add_dimension(root, name, DimensionLen::Fixed(len)).unwrap());
    let var = model.add_variable(root, "v", Atomic::Int.into(), &dims).unwrap();
    (model, dims, var)
}

/// The attribute of that name among those described for a file that has these objects, at 0x100, 0x200 and so on.
fn described(
    model: &Model,
    objects: &[FileObject],
    sizes: FieldSizes,
    name: &str,
    describe: impl FnOnce(&mut ObjectDescriber<'_>) -> Result<Vec<Bytes>>,
) -> Bytes {
    let placed = objects.iter().zip(1..).map(|(object, number)| (*object, FileAddress(0x100 * number)));
    let addrs: HashMap<FileObject, FileAddress> = placed.collect();
    let ids = HashMap::new();
    let (mut heap, mut space) = (HeapBuilder::new(sizes), SpaceAllocator::new(0x1000));
    let mut describer = ObjectDescriber {
        model,
        sizes,
        addrs: &addrs,
        is_placed: true,
        ids: &ids,
        heap: &mut heap,
        space: &mut space,
    };
    let bodies = describe(&mut describer).unwrap();
    let is_named = |body: &&Bytes| body[9..].starts_with(name.as_bytes());
    bodies.iter().find(is_named).unwrap_or_else(|| panic!("no {name}")).clone()
}

#[test]
fn an_axis_without_a_scale_has_an_empty_list() {
    let (model, [_, y], var) = model();
    for sizes in [SIZES, NARROW] {
        let there = [FileObject::Variable(var), FileObject::Dimension(y)];
        let list =
            described(&model, &there, sizes, "DIMENSION_LIST", |describer| describer.hidden_attributes(var));
        let each = 8 + usize::from(sizes.offsets);
        let (empty, one) = list[list.len() - 2 * each..].split_at(each);
        assert!(empty.iter().all(|byte| *byte == 0), "{empty:?}");
        // One reference, the first object of the collection.
        assert_eq!((one[0], one[each - 4]), (1, 1), "{one:?}");
        // The datatype is as long as its elements.
        assert_eq!(usize::from(list[9 + "DIMENSION_LIST\0".len() + 4]), each);
    }
}

#[test]
fn a_scale_refers_to_users_in_its_file_only() {
    let (mut model, [_, y], var) = model();
    let root = model.root();
    model.add_variable(root, "in another file", Atomic::Int.into(), &[y]).unwrap();
    let there = [FileObject::Dimension(y), FileObject::Variable(var)];
    let list = |sizes| {
        described(&model, &there, sizes, "REFERENCE_LIST", |describer| describer.scale_attributes(y, None))
    };
    // The length and maximum of the list, the variable, its axis with padding.
    assert!(list(SIZES).ends_with(&words(&[1, 1, 0x200, 1])));
    let narrow = [1u32, 1, 0x200, 1, 0].map(u32::to_le_bytes).concat();
    assert!(list(NARROW).ends_with(&narrow));
}
