use super::*;
use crate::group::{LinkTarget, links};
use crate::object::ObjectRef;
use crate::testing::build::{FileBuilder, hard, link, message, sized, soft, summed, words};
use crate::testing::{KEY, done, object, view};
use ncirrus_testkit::ObjectView;
use proptest::prelude::*;

/// The links of the group at an address.
fn read(file: FileBuilder, group: u64) -> Result<Arc<GroupLinks>, Error> {
    let view = view(file.finish(48));
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY)))?;
    let group: ObjectRef = object(&file, group);
    done(links(&view, &group))
}

/// The links of a group with these messages.
fn read_group(messages: &[Vec<u8>]) -> GroupLinks {
    let mut file = FileBuilder::new();
    let group = file.header(messages);
    let found = read(file, group).expect("a group");
    Arc::into_inner(found).expect("one")
}

fn names(links: &GroupLinks) -> Vec<&str> {
    links.list.iter().map(|link| link.name.as_str()).collect()
}

/// A link info message; `tracked`: creation order is.
fn info(tracked: bool) -> Vec<u8> {
    let order: &[u8] = if tracked { &[1, 9, 0, 0, 0, 0, 0, 0, 0] } else { &[0] };
    message(2, 0, &[&[0], order, &[0xff; 16]].concat())
}

fn ordered(name: &str, order: i64) -> Vec<u8> {
    message(6, 0, &link(0, Some(order), name.as_bytes(), &[48, 0, 0, 0, 0, 0, 0, 0]))
}

#[test]
fn links_come_in_the_order_of_creation_where_it_is_known_else_by_name() {
    let messages = [ordered("b", 7), ordered("a", 2), ordered("c", -1), hard("d", 48)];
    let tracked = read_group(&[vec![info(true)], messages.to_vec()].concat());
    assert_eq!(names(&tracked), ["c", "a", "b", "d"]);
    let untracked = read_group(&[vec![info(false)], messages.to_vec()].concat());
    assert_eq!(names(&untracked), ["a", "b", "c", "d"]);
    for name in ["a", "b", "c", "d"] {
        assert_eq!(tracked.find(name).map(|link| link.name.as_str()), Some(name));
    }
    assert!(tracked.find("e").is_none());
}

#[test]
fn names_may_have_a_length_of_any_width_and_a_character_set_or_none() {
    for (flags, len) in [(0, 1), (1, 2), (2, 4), (3, 8)] {
        for set in [&[][..], &[1]] {
            let flags = flags | if set.is_empty() { 0 } else { 0x10 };
            let width = &4u64.to_le_bytes()[..len];
            let body = [&[1, flags], set, width, b"name", &words(&[48])].concat();
            let links = read_group(&[message(6, 0, &body)]);
            assert_eq!((names(&links), links.losses.len()), (vec!["name"], 0), "{:?}", links.losses);
        }
    }
}

#[test]
fn every_kind_of_link_has_its_target() {
    let external = sized(b"\0other.h5\0/x\0");
    let bodies = [
        link(0, None, b"hard", &words(&[77])),
        link(1, None, b"soft", &sized(b"/a/b")),
        link(64, None, b"external", &external),
        link(200, None, b"unknown", &sized(b"?")),
    ];
    let links = read_group(&bodies.map(|body| message(6, 0, &body)));
    let target = |name: &str| links.find(name).expect("a link").target.clone();
    assert_eq!(target("hard"), LinkTarget::Hard(FileAddress(77)));
    assert_eq!(target("soft"), LinkTarget::Soft("/a/b".into()));
    assert_eq!(target("external"), LinkTarget::External { file: "other.h5".into(), path: "/x".into() });
    assert_eq!(target("unknown"), LinkTarget::Unknown(200));
}

#[test]
fn a_link_that_cannot_be_read_is_reported_and_the_others_are_there() {
    let bodies = [
        link(0, None, b"nowhere", &[0xff; 8]),
        link(7, None, b"of no type", &sized(b"")),
        link(64, None, b"of later version", &sized(b"\x01f\0p\0")),
        link(1, None, b"cut off", &[9, 0, b'/']),
        vec![2, 0],
        link(0, None, b"", &words(&[48])),
    ];
    let mut messages: Vec<_> = bodies.iter().map(|body| message(6, 0, body)).collect();
    messages.push(hard("sound", 48));
    let links = read_group(&messages);
    assert_eq!((names(&links), links.losses.len()), (vec!["sound"], 6), "{:?}", links.losses);
    let texts = ["nowhere", "type 7", "later", "cut off", "version 2", "no name"];
    for (loss, text) in links.losses.iter().zip(texts) {
        assert!(loss.message().contains(text), "{loss}");
    }
}

#[test]
fn of_links_with_one_name_the_first_is_taken() {
    let links = read_group(&[info(false), hard("a", 100), soft("a", "b"), hard("b", 48)]);
    assert_eq!(links.find("a").map(|link| &link.target), Some(&LinkTarget::Hard(FileAddress(100))));
    assert_eq!((names(&links), links.losses.len()), (vec!["a", "b"], 1));
}

#[test]
fn names_and_paths_that_are_no_utf8_are_escaped() {
    let body = link(1, None, b"caf\xe9", &sized(b"/\xff"));
    let links = read_group(&[message(6, 0, &body)]);
    let link = links.find("caf\\xe9").expect("a link");
    assert_eq!(link.target, LinkTarget::Soft("/\\xff".into()));
}

#[test]
fn objects_that_are_no_groups_have_no_links() {
    let mut file = FileBuilder::new();
    let object = file.header(&[message(3, 0, b"type")]);
    assert!(read(file, object).expect_err("no group").message().contains("not a group"));
    assert!(read_group(&[message(0x0a, 0, &[0, 0])]).list.is_empty(), "group info alone makes a group");
}

/// An old-style group: nodes of symbols by first letter, behind trees of that many levels.
struct OldGroup {
    file: FileBuilder,
    heap: u64,
}

impl OldGroup {
    fn new() -> Self {
        let mut file = FileBuilder::new();
        let names: Vec<u8> = (0..26).flat_map(|letter| [b'a' + letter, 0, 0, 0, 0, 0, 0, 0]).collect();
        let segment = file.put(&names);
        let heap = file.put(&[b"HEAP\0\0\0\0".to_vec(), words(&[208, 1, segment])].concat());
        Self { file, heap }
    }

    fn symbols(&mut self, entries: &[(char, u32, u64)]) -> u64 {
        let used = u8::try_from(entries.len()).expect("few");
        let mut bytes = [b"SNOD\x01\0".as_slice(), &[used, 0]].concat();
        for (letter, cache, target) in entries {
            let header = if *cache == 2 { u64::MAX } else { *target };
            bytes.extend(words(&[8 * (u64::from(*letter) - u64::from('a')), header]));
            bytes.extend([&cache.to_le_bytes()[..], &[0; 4], &words(&[*target, 0])].concat());
        }
        self.file.put(&bytes)
    }

    fn tree(&mut self, level: u8, children: &[u64]) -> u64 {
        let used = u8::try_from(children.len()).expect("few");
        let mut bytes = [b"TREE\0".as_slice(), &[level, used, 0], &[0xff; 16], &words(&[0])].concat();
        children.iter().for_each(|child| bytes.extend(words(&[*child, 0])));
        self.file.put(&bytes)
    }

    fn read(mut self, tree: u64) -> Result<Arc<GroupLinks>, Error> {
        let group = self.file.header(&[message(0x11, 0, &words(&[tree, self.heap]))]);
        read(self.file, group)
    }
}

#[test]
fn old_groups_have_hard_and_soft_links_by_name() {
    let mut old = OldGroup::new();
    let first = old.symbols(&[('c', 0, 48), ('d', 1, 56)]);
    let second = old.symbols(&[('a', 2, 8 * 24)]);
    let trees = [old.tree(0, &[second]), old.tree(0, &[first])];
    let top = old.tree(1, &trees);
    let links = old.read(top).expect("a group");
    assert_eq!((names(&links), links.losses.len()), (vec!["a", "c", "d"], 0));
    assert_eq!(links.find("a").map(|link| &link.target), Some(&LinkTarget::Soft("y".into())));
    assert_eq!(links.find("d").map(|link| &link.target), Some(&LinkTarget::Hard(FileAddress(56))));
}

#[test]
fn damage_in_an_old_group_takes_only_what_is_damaged() {
    let mut old = OldGroup::new();
    let sound = old.symbols(&[('c', 0, 48), ('{', 0, 48), ('d', 2, 5000), ('e', 0, u64::MAX)]);
    let noise = old.file.put(&[7; 100]);
    let trees = [old.tree(0, &[noise, sound]), noise, old.tree(1, &[sound]), old.tree(0, &[u64::MAX])];
    let top = old.tree(1, &trees);
    let links = old.read(top).expect("a group");
    assert_eq!(names(&links), ["c"]);
    assert_eq!(links.losses.len(), 7, "{:#?}", links.losses);
}

/// An old-style group whose nodes count one entry less than they have: both symbols, or both children.
fn short_group(is_tree: bool, second: char) -> Result<Arc<GroupLinks>, Error> {
    let mut old = OldGroup::new();
    let (first, other) = (old.symbols(&[('a', 0, 48), (second, 0, 56)]), old.symbols(&[('d', 0, 60)]));
    let tree = old.tree(0, &[first, other]);
    let node = usize::try_from(if is_tree { tree } else { first }).expect("small");
    old.file.bytes[node + 6] -= 1;
    old.read(tree)
}

#[test]
fn a_link_that_its_node_does_not_count_is_reported() {
    let links = short_group(false, 'b').expect("a group");
    assert_eq!(names(&links), ["a", "d"]);
    assert_eq!(links.losses.len(), 1, "{:?}", links.losses);
    assert!(links.losses[0].message().contains("\"b\" lies behind"), "{:?}", links.losses);
    let links = short_group(true, 'b').expect("a group");
    assert_eq!(names(&links), ["a", "b"]);
    assert!(links.losses[0].message().contains("\"d\" lies behind"), "{:?}", links.losses);
}

#[test]
fn what_libraries_leave_behind_the_links_of_a_node_is_passed_over() {
    let links = short_group(false, 'd').expect("a group");
    assert_eq!((names(&links), links.losses.len()), (vec!["a", "d"], 0), "{:?}", links.losses);
    // The name is in a free block.
    let mut old = OldGroup::new();
    let names_at = usize::try_from(old.heap).expect("small") - 208;
    old.file.bytes[names_at + 8..names_at + 24].copy_from_slice(&words(&[1, 16]));
    let free = usize::try_from(old.heap).expect("small") + 16;
    old.file.bytes[free] = 8;
    let first = old.symbols(&[('a', 0, 48), ('b', 0, 56), ('c', 0, 56)]);
    old.file.bytes[usize::try_from(first).expect("small") + 6] = 1;
    let tree = old.tree(0, &[first]);
    let links = old.read(tree).expect("a group");
    assert_eq!((names(&links), links.losses.len()), (vec!["a"], 0), "{:?}", links.losses);
}

#[test]
fn trees_of_links_that_lead_to_themselves_end() {
    let mut old = OldGroup::new();
    let at = old.file.next();
    let top = old.tree(1, &[at, at]);
    let links = old.read(top).expect("a group");
    assert_eq!((names(&links), links.losses.len()), (vec![], 2));
    let mut old = OldGroup::new();
    let symbols = old.symbols(&[('a', 0, 48)]);
    let tree = old.tree(0, &[symbols, symbols]);
    let links = old.read(tree).expect("a group");
    assert_eq!((names(&links), links.losses.len()), (vec!["a"], 1), "a node is read once");
}

#[test]
fn symbol_nodes_that_overlap_are_read_no_further_than_the_file_is_long() {
    let mut old = OldGroup::new();
    let nodes = old.file.put(&b"SNOD\x01\0\x40\0".repeat(600));
    let children: Vec<u64> = (0..200).map(|number| nodes + 8 * number).collect();
    let tree = old.tree(0, &children);
    let links = old.read(tree).expect("a group");
    assert_eq!(links.losses.len(), 101, "not every link is told of");
    let more = links.losses[100].message().strip_suffix(" more like this").expect("a number");
    assert!(more.parse::<usize>().is_ok_and(|more| more < 500), "{more} of 200 times 64");
}

#[test]
fn a_tree_deeper_than_allowed_is_refused() {
    let mut old = OldGroup::new();
    let top = old.tree(200, &[48]);
    assert!(old.read(top).expect_err("too deep").message().contains("200 levels"));
}

#[test]
fn dense_links_need_a_tree_of_links() {
    let mut file = FileBuilder::new();
    let none = file.header(&[message(2, 0, &[&[0, 0][..], &words(&[48, u64::MAX])].concat())]);
    assert!(read(file.clone(), none).expect_err("no tree").message().contains("without a tree"));
    let tree = [&b"BTHD\0\x08\0\x02\0\0\x11\0\0\0\x64\x28"[..], &[0xff; 8], &[0; 10]].concat();
    let tree = file.put(&summed(tree));
    let group = file.header(&[message(2, 0, &[&[0, 0][..], &words(&[48, tree])].concat())]);
    assert!(read(file, group).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_in_a_link_is_a_link_or_a_loss(
        start in prop::sample::select(vec![0u8, 4, 8, 0x18, 0x1c]),
        noise in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let links = read_group(&[message(6, 0, &[&[1, start][..], &noise].concat())]);
        prop_assert!(links.list.len() + links.losses.len() <= 1);
    }
}
