//! Version 1 B-trees that are made for the test.
use super::*;
use proptest::prelude::*;

/// Bytes of a node of rank 2 with room for 64 children.
const NODE_LEN: usize = 24 + 65 * 32 + 64 * 8;

/// A node with these children: size, mask, offsets, address.
fn node(level: u8, children: &[(u32, u32, [u64; 2], u64)]) -> Vec<u8> {
    let count = u16::try_from(children.len()).expect("few").to_le_bytes();
    let mut bytes = [b"TREE".as_slice(), &[1, level], &count, &[0xff; 16]].concat();
    for (size, mask, offsets, addr) in children {
        bytes.extend([size.to_le_bytes(), mask.to_le_bytes()].concat());
        bytes.extend(offsets.iter().chain([&0, addr]).flat_map(|number| number.to_le_bytes()));
    }
    bytes.resize(NODE_LEN, 0xaa);
    bytes
}

/// A tree of three levels of chunks of 4 by 10, two children to a node, and the addresses of its nodes by level. The
/// chunk of rows `4 * i` and columns `10 * j` lies at `1000 * i + 100 * j`, but column 1 was never written.
fn three_levels() -> (FileBuilder, u64, [Vec<u64>; 2]) {
    let mut builder = FileBuilder::new();
    builder.bytes.resize(8192, 0);
    let chunk = |row: u64, column: u64| (80, 0, [4 * row, 10 * column], 1000 * row + 100 * column + 8);
    let mut level = Vec::new();
    for row in 0..4 {
        for columns in [[0, 2], [3, 4]] {
            let children = columns.map(|column| chunk(row, column));
            level.push(([4 * row, 10 * columns[0]], builder.put(&node(0, &children))));
        }
    }
    let mut addrs = vec![level.iter().map(|(_, addr)| *addr).collect::<Vec<_>>()];
    for depth in 1..3 {
        let pairs = level.chunks(2).map(|pair| {
            let children: Vec<_> = pair.iter().map(|(key, addr)| (0, 0, *key, *addr)).collect();
            (pair[0].0, builder.put(&node(depth, &children)))
        });
        level = pairs.collect();
        addrs.push(level.iter().map(|(_, addr)| *addr).collect());
    }
    let all: Vec<_> = level.iter().map(|(key, addr)| (0, 0, *key, *addr)).collect();
    let root = builder.put(&node(3, &all));
    (builder, root, [addrs.remove(0), addrs.remove(0)])
}

#[test]
fn chunks_are_found_in_a_tree_of_several_levels() {
    let (builder, root, _) = three_levels();
    let (view, file) = opened(builder);
    let chunks = chunks(&file, IndexKind::BTree1, root);
    let mut cells = CellList::new(2);
    for cell in [[3, 4], [0, 0], [2, 1], [4, 0], [1, 3], [3, 4]] {
        cells.push(&cell);
    }
    let found: Vec<_> =
        done(chunks.locate(&view, &cells)).expect("chunks").into_iter().map(|c| c.location).collect();
    let (last, first, other) = (bytes(3408..3488), bytes(8..88), bytes(1308..1388));
    assert_eq!(found, [last.clone(), first, Location::Absent, Location::Absent, other, last]);
}

#[test]
fn a_series_costs_a_round_per_level_and_only_nodes_that_hold_it() {
    let (builder, root, [leaves, inner]) = three_levels();
    let (view, file) = opened(builder);
    let chunks = chunks(&file, IndexKind::BTree1, root);
    let rounds = StallingView::new(view.objects);
    let mut cells = CellList::new(2);
    (0..4).for_each(|row| cells.push(&[row, 0]));
    drive(&rounds, |view| chunks.locate(view, &cells)).expect("chunks");
    assert_eq!(rounds.rounds(), 4);
    let requested: Vec<_> = rounds.requests().into_iter().map(|(_, want)| want).collect();
    let exact = |addr: &u64| Some(Want::Range(*addr..addr + NODE_LEN as u64));
    let series = leaves.iter().step_by(2);
    for node in series.chain(&inner).chain([&root]) {
        assert!(requested.contains(&exact(node)), "the node at {node}");
    }
    assert_eq!(requested.len(), 4 + 4 + 2 + 1);

    rounds.evict();
    drive(&rounds, |view| chunks.locate(view, &cells)).expect("chunks");
    assert_eq!(rounds.rounds(), 4, "nodes are kept");
}

fn error_of(root: &[u8]) -> Error {
    let mut builder = FileBuilder::new();
    let addr = builder.put(root);
    let (view, file) = opened(builder);
    find(&view, &chunks(&file, IndexKind::BTree1, addr), &[0, 0]).expect_err("a damaged node")
}

#[test]
fn damaged_nodes_are_errors_that_say_where() {
    let one = (80, 0, [0, 0], 8);
    let mut other_kind = node(0, &[one]);
    other_kind[4] = 0;
    let mut crowded = node(0, &[one]);
    crowded[6] = 65;
    let cases = [
        (node(0, &[(80, 0, [0, 11], 8)]), "element 11, not a multiple of its length 10"),
        (node(0, &[(80, 0, [4, 0], 8), one]), "not in order"),
        (node(0, &[(80, 0, [0, 0], u64::MAX)]), "no address"),
        (other_kind, "type 0"),
        (crowded, "65 children"),
        (vec![0; NODE_LEN], "signature"),
        (node(0, &[one])[..NODE_LEN - 1].to_vec(), "beyond the end"),
    ];
    for (root, expected) in cases {
        let error = error_of(&root);
        assert!(error.message().contains(expected), "{error}");
        assert_eq!((error.place().offset, error.place().object.is_some()), (Some(48), true), "{error}");
    }
}

/// A node that counts one child less than it has.
fn short(level: u8, children: &[(u32, u32, [u64; 2], u64)]) -> Vec<u8> {
    let mut bytes = node(level, children);
    bytes[6] -= 1;
    bytes
}

#[test]
fn a_node_that_counts_too_few_children_is_damaged() {
    let error = error_of(&short(0, &[(80, 0, [0, 0], 8), (80, 0, [0, 10], 8)]));
    assert!(error.message().contains("counts 1 children, and one more"), "{error}");
    let error = error_of(&short(1, &[(80, 0, [0, 0], 8), (80, 0, [4, 0], 8)]));
    assert!(error.message().contains("counts 1 children, and one more"), "{error}");
}

#[test]
fn what_a_split_left_behind_the_children_of_a_node_is_passed_over() {
    let mut builder = FileBuilder::new();
    builder.bytes.resize(512, 0);
    // The left node still has the first child of the right one, whose key ends it.
    let left = builder.put(&short(0, &[(80, 0, [0, 0], 100), (80, 0, [4, 0], 200)]));
    let right = builder.put(&node(0, &[(80, 0, [4, 0], 200)]));
    let root = builder.put(&node(1, &[(80, 0, [0, 0], left), (80, 0, [4, 0], right)]));
    let (view, file) = opened(builder);
    let chunks = chunks(&file, IndexKind::BTree1, root);
    assert_eq!(find(&view, &chunks, &[0, 0]).expect("a chunk").location, bytes(100..180));
    assert_eq!(find(&view, &chunks, &[1, 0]).expect("a chunk").location, bytes(200..280));
}

#[test]
fn a_tree_that_leads_back_to_itself_is_an_error() {
    let error = error_of(&node(3, &[(0, 0, [0, 0], 48)]));
    assert!(error.message().contains("level 3 in the wrong place"), "{error}");
}

#[test]
fn of_two_records_of_one_chunk_the_first_counts() {
    let mut builder = FileBuilder::new();
    builder.bytes.resize(512, 0);
    let root = builder.put(&node(0, &[(80, 0, [0, 0], 100), (80, 0, [0, 0], 200), (80, 0, [4, 0], 300)]));
    let (view, file) = opened(builder);
    let chunks = chunks(&file, IndexKind::BTree1, root);
    assert_eq!(find(&view, &chunks, &[0, 0]).expect("a chunk").location, bytes(100..180));
}

proptest! {
    #[test]
    fn no_node_makes_it_panic(changes in prop::collection::vec((0usize..400, any::<u8>()), 1..12), level in 0u8..3) {
        let mut root = node(level, &[(80, 0, [0, 0], 48), (80, 0, [0, 10], 900), (80, 0, [4, 0], 4000)]);
        for (at, byte) in changes {
            root[at] = byte;
        }
        let mut builder = FileBuilder::new();
        let addr = builder.put(&root);
        let (view, file) = opened(builder);
        let chunks = chunks(&file, IndexKind::BTree1, addr);
        for cell in [[0, 0], [0, 1], [1, 0], [4, 4]] {
            _ = find(&view, &chunks, &cell);
        }
    }
}
