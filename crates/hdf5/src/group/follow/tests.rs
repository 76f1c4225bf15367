use super::*;
use crate::address::FileAddress;
use crate::testing::build::{FileBuilder, external, hard, link, message, sized, soft};
use crate::testing::{KEY, done};
use ncirrus_testkit::{MemoryView, ObjectView};
use rstest::rstest;

/// A view of files by key: each is the links of its root, among which `{}` is the address of a group `inner` with the
/// links that are given.
fn files(all: &[(&str, Vec<Vec<u8>>)]) -> MemoryView {
    let mut objects = ObjectView::new();
    for (key, links) in all {
        let mut file = FileBuilder::new();
        let leaf = file.group(&[]);
        let inner = file.group(&[hard("leaf", leaf), soft("up", "/leaf"), soft("beside", "leaf")]);
        let root = file.group(&[links.clone(), vec![hard("inner", inner), hard("leaf", leaf)]].concat());
        objects.put(key, file.finish(root));
    }
    MemoryView::new(objects)
}

fn start(view: &MemoryView, key: &str) -> ObjectRef {
    let file = done(load(view, &ObjectView::id(key))).expect("a file");
    ObjectRef { addr: file.root, file }
}

/// Key of the file and address of the target of a path, from the root of the first file.
fn to(view: &MemoryView, path: &str) -> Result<(String, FileAddress), Error> {
    let found = done(lookup(view, &start(view, KEY), path))?;
    Ok((found.file.object.key().to_owned(), found.addr))
}

const LEAF: FileAddress = FileAddress(48);

#[rstest]
#[case("/inner/leaf")]
#[case("inner/leaf")]
#[case("//inner/./leaf/")]
#[case("inner/up")]
#[case("inner/beside")]
#[case("soft")]
#[case("chain")]
fn paths_lead_through_groups_and_soft_links(#[case] path: &str) {
    let view = files(&[(KEY, vec![soft("soft", "./inner/up"), soft("chain", "/soft/.")])]);
    assert_eq!(to(&view, path).expect("an object"), (KEY.to_owned(), LEAF));
}

#[test]
fn an_empty_path_and_a_dot_are_the_start_itself() {
    let view = files(&[(KEY, vec![soft("here", "."), soft("root", "/")])]);
    let root = start(&view, KEY);
    for path in ["", ".", "/", "here", "root", "inner/../inner"] {
        let found = done(lookup(&view, &root, path));
        assert_eq!(found.is_ok_and(|found| found == root), !path.contains(".."), "{path}");
    }
}

#[test]
fn links_of_a_group_are_followed_from_it() {
    let view = files(&[(KEY, vec![])]);
    let inner = done(lookup(&view, &start(&view, KEY), "inner")).expect("a group");
    for link in &done(links(&view, &inner)).expect("links").list {
        assert_eq!(done(follow(&view, &inner, &link.target)).expect("an object").addr, LEAF, "{}", link.name);
    }
}

#[test]
fn circles_and_long_chains_of_links_end() {
    let mut links = vec![soft("a", "b"), soft("b", "a"), soft("self", "self/self")];
    links.push(external("elsewhere", "file.h5", "elsewhere"));
    links.push(soft("n0", "leaf"));
    links.extend((1..20).map(|n| soft(&format!("n{n}"), &format!("n{}", n - 1))));
    let view = files(&[(KEY, links)]);
    for path in ["a", "self", "elsewhere", "n16", "n19"] {
        let error = to(&view, path).expect_err("too many");
        assert!(
            error.kind() == ErrorKind::Limit && error.message().contains("16 links"),
            "{path}: {error:?}"
        );
    }
    assert_eq!(to(&view, "n15").expect("16 links").1, LEAF);
}

#[test]
fn links_that_dangle_are_not_found() {
    let unknown = message(6, 0, &link(99, None, b"unknown", &sized(b"")));
    let gone = [soft("gone", "/no/such"), external("lost", "none.h5", "/"), unknown];
    let view = files(&[(KEY, gone.to_vec())]);
    for (path, kind) in [
        ("nothing", ErrorKind::NotFound),
        ("gone", ErrorKind::NotFound),
        ("lost", ErrorKind::NotFound),
        ("unknown", ErrorKind::Unsupported),
    ] {
        assert_eq!(to(&view, path).expect_err("dangling").kind(), kind, "{path}");
    }
}

#[test]
fn external_links_lead_into_files_of_the_same_store() {
    let view = files(&[
        (KEY, vec![external("beside", "b.h5", "/inner/up"), external("above", "../c.h5", "leaf")]),
        ("folder/b.h5", vec![]),
        ("c.h5", vec![external("on", "folder/b.h5", "to"), external("back", "folder/file.h5", "above")]),
    ]);
    assert_eq!(to(&view, "beside").expect("an object"), ("folder/b.h5".to_owned(), LEAF));
    assert_eq!(to(&view, "above").expect("an object"), ("c.h5".to_owned(), LEAF));
}

#[test]
fn external_links_may_be_nested() {
    let view = files(&[
        (KEY, vec![external("on", "sub/b.h5", "on")]),
        ("folder/sub/b.h5", vec![external("on", "../d.h5", "soft")]),
        ("folder/d.h5", vec![soft("soft", "/inner/leaf")]),
    ]);
    assert_eq!(to(&view, "on").expect("an object"), ("folder/d.h5".to_owned(), LEAF));
}

#[test]
fn a_file_that_is_found_but_is_none_is_an_error() {
    let mut view = files(&[(KEY, vec![external("text", "text.h5", "/")])]);
    view.objects.put("folder/text.h5", b"some text".to_vec());
    assert_eq!(to(&view, "text").expect_err("no file").kind(), ErrorKind::Malformed);
}

#[rstest]
#[case("b.h5", &["folder/b.h5"])]
#[case("./b.h5", &["folder/b.h5"])]
#[case("sub/b.h5", &["folder/sub/b.h5", "folder/b.h5"])]
#[case("../b.h5", &["b.h5", "folder/b.h5"])]
#[case("../../b.h5", &["folder/b.h5"])]
#[case("../x/../../../b.h5", &["folder/b.h5"])]
#[case("/data/b.h5", &["folder/b.h5"])]
#[case("http://host/b.h5", &["folder/b.h5"])]
#[case("..", &[])]
#[case("sub/", &[])]
#[case("", &[])]
fn names_of_files_never_lead_out_of_the_store(#[case] name: &str, #[case] expected: &[&str]) {
    let view = files(&[(KEY, vec![])]);
    let candidates = external_candidates(&start(&view, KEY).file, name);
    assert_eq!(candidates.iter().map(ObjectId::key).collect::<Vec<_>>(), expected);
    assert!(candidates.iter().all(|candidate| candidate.store == ObjectView::store()));
}
