use super::*;
use crate::testing::build::{FileBuilder, summed, words};
use crate::testing::{KEY, done, view};
use ncirrus_layout::Want;
use ncirrus_testkit::{ObjectView, StallingView, drive};
use proptest::prelude::*;

const KIND: u8 = 5;
const RECORD: usize = 11;

/// The header of a tree with nodes of 512 bytes.
fn tree(depth: u16, root: u64, records: u16, total: u64) -> Vec<u8> {
    let numbers = [&[0, 2, 0, 0, 11, 0][..], &depth.to_le_bytes(), &[100, 40]].concat();
    let start = [b"BTHD\0\x05".to_vec(), numbers, words(&[root]), records.to_le_bytes().to_vec()];
    summed([start.concat(), words(&[total])].concat())
}

fn leaf(records: &[u8]) -> Vec<u8> {
    let records = records.iter().flat_map(|byte| [*byte; RECORD]);
    summed([b"BTLF\0\x05".to_vec(), records.collect()].concat())
}

/// A node above leaves: children with their number of records.
fn inner(records: &[u8], children: &[(u64, u8)]) -> Vec<u8> {
    let records = records.iter().flat_map(|byte| [*byte; RECORD]);
    let pointers = children.iter().flat_map(|(addr, count)| [&words(&[*addr])[..], &[*count]].concat());
    summed([b"BTIN\0\x05".to_vec(), records.collect(), pointers.collect()].concat())
}

fn records_of(file: FileBuilder, addr: u64) -> Result<Vec<u8>, Error> {
    let view = view(file.finish(48));
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY)))?;
    let tree = done(BtreeHeader::load(&view, &file, FileAddress(addr), NodeRequest::Among))?;
    assert_eq!((tree.kind, tree.record_len), (KIND, RECORD));
    let records = done(tree.records(&view, &file))?;
    Ok(records.iter().map(|record| record[0]).collect())
}

/// A file with a tree of depth 1 with the records 1 to 7.
fn sample() -> (FileBuilder, u64) {
    let mut file = FileBuilder::new();
    file.put(&[0; 1 << 15]);
    let children = [[1, 2], [4, 5], [7, 7]].map(|records| (file.put(&leaf(&records)), 2));
    let root = file.put(&inner(&[3, 6], &children));
    let addr = file.put(&tree(1, root, 2, 8));
    (file, addr)
}

#[test]
fn records_come_in_order_from_all_levels() {
    let (file, addr) = sample();
    assert_eq!(records_of(file, addr).expect("records"), [1, 2, 3, 4, 5, 6, 7, 7]);
}

#[test]
fn an_empty_tree_has_no_records() {
    for root in [u64::MAX, 48] {
        let mut file = FileBuilder::new();
        let addr = file.put(&tree(0, root, 0, 0));
        assert!(records_of(file, addr).expect("records").is_empty());
    }
}

#[test]
fn a_node_with_two_parents_is_an_error() {
    let mut file = FileBuilder::new();
    let child = (file.put(&leaf(&[1])), 1);
    let root = file.put(&inner(&[2], &[child, child]));
    let addr = file.put(&tree(1, root, 1, 3));
    assert!(records_of(file, addr).expect_err("twice").message().contains("two parents"));
}

#[test]
fn a_node_that_is_its_own_child_is_an_error() {
    let mut file = FileBuilder::new();
    let at = file.next();
    file.put(&inner(&[], &[(at, 0)]));
    let addr = file.put(&tree(1, at, 0, 1));
    assert!(records_of(file, addr).expect_err("a circle").message().contains("two parents"));
}

#[test]
fn the_same_node_read_as_another_is_read_anew() {
    let mut file = FileBuilder::new();
    let two = [b"BTLF\0\x05".to_vec(), vec![1; 2 * RECORD]].concat();
    let node = file.put(&summed(two));
    let whole = file.put(&tree(0, node, 2, 2));
    let less = file.put(&tree(0, node, 1, 1));
    let view = view(file.finish(48));
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY))).expect("a file");
    for (addr, sound) in [(whole, true), (less, false), (whole, true)] {
        let tree =
            done(BtreeHeader::load(&view, &file, FileAddress(addr), NodeRequest::Among)).expect("a tree");
        assert_eq!(done(tree.records(&view, &file)).is_ok(), sound);
    }
}

#[test]
fn nodes_of_a_level_are_requested_together_and_lone_ones_exactly() {
    let (file, addr) = sample();
    let bytes = file.finish(48);
    let rounds = StallingView::new(ObjectView::one(KEY, bytes.clone()));
    let all = drive(&rounds, |view| {
        let file = crate::superblock::load(view, &ObjectView::id(KEY))?;
        BtreeHeader::load(view, &file, FileAddress(addr), NodeRequest::Among)?.records(view, &file)
    });
    assert_eq!(all.expect("records").len(), 8);
    assert_eq!((rounds.rounds(), rounds.requests().len()), (4, 6));

    let rounds = StallingView::new(ObjectView::one(KEY, bytes));
    drive(&rounds, |view| {
        let file = crate::superblock::load(view, &ObjectView::id(KEY))?;
        let tree = BtreeHeader::load(view, &file, FileAddress(addr), NodeRequest::Alone)?;
        tree.node(view, &file, tree.root.expect("a root"), NodeRequest::Alone)
    })
    .expect("a node");
    let requested = rounds.requests().into_iter().skip(1);
    let lens: Vec<u64> = requested
        .map(|(_, want)| match want {
            Some(Want::Range(range)) => range.end - range.start,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(lens, [38, 10 + 2 * 11 + 3 * 9]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_changed_byte_is_an_error_or_means_nothing(at: prop::sample::Index, change in 1..=255u8) {
        let (mut file, addr) = sample();
        let start = 48 + (1 << 15);
        let at = start + at.index(file.bytes.len() - start);
        file.bytes[at] ^= change;
        if let Ok(records) = records_of(file, addr) {
            prop_assert_eq!(records, [1, 2, 3, 4, 5, 6, 7, 7]);
        }
    }

    #[test]
    fn trees_that_lie_about_their_nodes_are_errors(
        (depth, records, total) in (0..40u16, 0..300u16, any::<u64>()),
        noise in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut file = FileBuilder::new();
        let root = file.put(&summed([b"BTIN\0\x05".to_vec(), noise].concat()));
        let addr = file.put(&tree(depth, root, records, total.max(1)));
        let view = view(file.finish(48));
        let file = done(crate::superblock::load(&view, &ObjectView::id(KEY))).expect("a file");
        let found = done(BtreeHeader::load(&view, &file, FileAddress(addr), NodeRequest::Among).and_then(|tree| tree.records(&view, &file)));
        prop_assert!(found.is_err());
    }
}
