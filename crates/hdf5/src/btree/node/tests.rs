use super::*;
use crate::address::FileAddress;

const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };

fn node(records: usize, depth: u16) -> NodeRef {
    NodeRef { addr: FileAddress(0), records, depth }
}

#[test]
fn nodes_of_names_of_links_hold_what_the_library_puts_into_them() {
    let shape = TreeShape::new(512, 11, 2, SIZES).expect("a shape");
    let max: Vec<u64> = shape.levels.iter().map(|level| level.max).collect();
    assert_eq!((max, shape.count_width), (vec![45, 24, 22], 1));
    let widths: Vec<usize> = (0..3).map(|depth| shape.pointer_len(depth)).collect();
    assert_eq!(widths, [9, 9, 11], "the number of all records only where it is more than that of the node");
    assert_eq!(shape.node_len(node(45, 0)).expect("a leaf"), 10 + 45 * 11);
    assert_eq!(shape.node_len(node(2, 2)).expect("a node"), 10 + 2 * 11 + 3 * 11);
}

#[test]
fn a_node_cannot_hold_more_than_its_depth_allows() {
    let shape = TreeShape::new(512, 11, 1, SIZES).expect("a shape");
    for node in [node(46, 0), node(25, 1), node(1, 2), node(usize::MAX, 0)] {
        assert!(shape.node_len(node).is_err(), "{node:?}");
    }
}

#[test]
fn impossible_shapes_are_refused_without_walking_them() {
    for (node_len, record_len, depth) in [(9, 1, 0), (512, 0, 0), (20, 11, 0), (38, 11, 1), (30, 1, 9)] {
        assert!(
            TreeShape::new(node_len, record_len, depth, SIZES).is_err(),
            "{node_len} {record_len} {depth}"
        );
    }
    let deepest = TreeShape::new(u32::MAX, 1, u16::MAX, SIZES).expect("numbers saturate");
    assert_eq!(deepest.depth(), u16::MAX);
}

#[test]
fn widths_are_those_of_the_largest_number() {
    assert_eq!([0, 1, 255, 256, 65535, 65536, u64::MAX].map(width), [1, 1, 1, 2, 2, 3, 8]);
}
