use super::*;

fn set(names: &[&str]) -> Modules {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn modules_and_what_the_root_passes_on_are_read_from_it() {
    let root = "mod a;\npub mod b;\n#[cfg(test)]\nmod testing;\npub use a::{First, second};\nuse b::Other;\npub use std::io::Read;";
    let modules = declared(root);
    assert_eq!(modules, set(&["a", "b"]));
    let exports = exports(root, &modules, "");
    assert_eq!(exports.get("second").map(String::as_str), Some("a"));
    assert_eq!(exports.get("Other").map(String::as_str), Some("b"));
    assert_eq!(exports.get("Read"), None);
    let modules = set(&["d"]);
    let exports = super::exports("pub(in crate::x) use crate::x::y::d::Deep;", &modules, "x::y::");
    assert_eq!(exports.get("Deep").map(String::as_str), Some("d"));
}

#[test]
fn names_are_taken_from_a_folder_by_its_name_or_by_the_way_up() {
    let text = "use crate::{a::{x, y}, First, b};\nfn f() { super::super::c::g(crate::d::H) }\nuse super::e;\nuse other_crate::f;";
    assert_eq!(names_in_folder(text, "", 2), ["a", "First", "b", "d", "c"]);
    assert_eq!(names_in_folder("use super::e::F;", "", 1), ["e"]);
    assert!(
        names_in_folder(&code("// crate::a\nx\n#[cfg(test)]\nmod tests {\nuse crate::a;"), "", 1).is_empty()
    );
    let text = "use crate::x::y::{d::Deep, e};\nuse crate::x::other;\nuse super::super::f;";
    assert_eq!(names_in_folder(text, "x::y::", 2), ["d", "e", "f"]);
}

#[test]
fn a_circle_is_found_and_a_chain_is_none() {
    let uses: Uses = [("a", &["b"][..]), ("b", &["c"]), ("c", &["b"]), ("d", &["a"])]
        .map(|(module, others)| (module.to_owned(), set(others)))
        .into();
    assert_eq!(circles(&uses), [set(&["b", "c"])]);
}
