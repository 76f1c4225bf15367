//! A small file with every kind of member.
use super::file::Writing3;
use ncirrus_classic::{ClassicWriter, FormatVersion};
use ncirrus_model::{Atomic, Attribute, DimensionLen, Model, NodeId, TypeRef, Values};

/// A file with one variable of each type, fixed and with three records, each element numbered.
pub(crate) fn sample(version: FormatVersion) -> Vec<u8> {
    let mut file = Writing3::create(&ClassicWriter { header_pad: 8, ..ClassicWriter::new(version) });
    file.define(|model| define(version, model)).expect("it fits");
    for var in file.model.variables() {
        let size = file.placer.encoding(var).expect("an encoding").stored.byte_len().expect("a fixed size");
        let mut number = 0u8;
        file.write(var, &mut |_| {
            number += 1;
            vec![number; usize::try_from(size).expect("small")]
        });
    }
    file.commit();
    file.bytes
}

fn define(version: FormatVersion, model: &mut Model) {
    let root = model.root();
    let time = model.add_dimension(root, "time", DimensionLen::Unlimited(3)).expect("a dimension");
    let x = model.add_dimension(root, "länge", DimensionLen::Fixed(3)).expect("a dimension");
    for atomic in Atomic::ALL.into_iter().filter(|atomic| version.holds(*atomic)) {
        let name = atomic.name();
        let fixed = model.add_variable(root, name, TypeRef::Atomic(atomic), &[x]).expect("a variable");
        model.set_fill(fixed, Values::zeroed(atomic, 1)).expect("a fill value");
        let name = format!("{name}_t");
        let record =
            model.add_variable(root, &name, TypeRef::Atomic(atomic), &[time, x]).expect("a variable");
        let attributes = model.variable_mut(record).expect("a variable").attributes.known_mut();
        attributes.put(Attribute::atomic("several", Values::zeroed(atomic, 3)));
        attributes.put(Attribute::atomic("none", Values::zeroed(atomic, 0)));
    }
    let attributes = model.attributes_mut(NodeId::Group(root)).expect("a root").known_mut();
    attributes.put(Attribute::text("title", "a sample"));
}
