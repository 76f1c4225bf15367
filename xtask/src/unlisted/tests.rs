//! Files that no module declares are found, in crates made for the purpose.
use super::{Declared, declarations, reported, unreached};
use std::fs;
use std::path::{Path, PathBuf};

/// A crate in a temporary folder, which is removed when this is dropped.
struct MadeCrate(PathBuf);

impl MadeCrate {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("ncirrus-unlisted-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    /// The files that cannot be reached from some targets.
    fn unreached(&self, roots: &[&str]) -> Vec<String> {
        let roots: Vec<PathBuf> = roots.iter().map(|root| self.0.join(root)).collect();
        let lost = unreached(&roots, std::slice::from_ref(&self.0)).unwrap();
        let shown = |path: &Path| path.strip_prefix(&self.0).unwrap().to_string_lossy().into_owned();
        lost.iter().map(|path| shown(path)).collect()
    }
}

impl Drop for MadeCrate {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_test_file_that_no_root_declares_is_found() {
    let made = MadeCrate::new(
        "tests",
        &[
            ("src/lib.rs", ""),
            ("tests/all.rs", "mod listed;\nmod folder;\n#[path = \"support/serve.rs\"]\nmod serve;\n"),
            ("tests/listed.rs", ""),
            ("tests/forgotten.rs", "#[test]\nfn runs_never() {}\n"),
            ("tests/folder/mod.rs", "mod inner;\n"),
            ("tests/folder/inner.rs", ""),
            ("tests/folder/lost.rs", ""),
            ("tests/support/serve.rs", "mod part;\n"),
            ("tests/support/part.rs", ""),
            ("tests/support/unused.rs", ""),
        ],
    );
    assert_eq!(
        made.unreached(&["src/lib.rs", "tests/all.rs"]),
        ["tests/folder/lost.rs", "tests/forgotten.rs", "tests/support/unused.rs"]
    );
}

#[test]
fn a_unit_test_file_that_no_module_declares_is_found() {
    let made = MadeCrate::new(
        "units",
        &[
            ("src/lib.rs", "mod reader;\nmod writer;\n"),
            ("src/reader.rs", "fn read() {}\n#[cfg(test)]\nmod tests;\n"),
            ("src/reader/tests.rs", "mod deep;\n"),
            ("src/reader/tests/deep.rs", ""),
            ("src/reader/tests/lost.rs", ""),
            ("src/writer.rs", "// mod tests;\n"),
            ("src/writer/tests.rs", ""),
        ],
    );
    assert_eq!(made.unreached(&["src/lib.rs"]), ["src/reader/tests/lost.rs", "src/writer/tests.rs"]);
}

#[test]
fn other_targets_and_files_that_are_included_count() {
    let made = MadeCrate::new(
        "targets",
        &[
            ("src/lib.rs", "pub mod outer {\n    mod inner;\n}\nmod beside;\ninclude!(\"made/table.rs\");\n"),
            ("src/outer/inner.rs", ""),
            ("src/beside.rs", ""),
            ("src/made/table.rs", ""),
            ("examples/shown.rs", ""),
            ("src/bin/tool.rs", ""),
        ],
    );
    let roots = ["src/lib.rs", "examples/shown.rs", "src/bin/tool.rs"];
    assert_eq!(made.unreached(&roots), Vec::<String>::new());
    assert_eq!(made.unreached(&roots[..2]), ["src/bin/tool.rs"]);
}

#[test]
fn declarations_are_read_whatever_their_visibility_and_attributes() {
    let text = "pub(crate) mod a;\n\
                #[cfg(test)]\n#[path = \"../b/c.rs\"]\n// Shared.\npub mod c;\n\
                mod tests {\n    mod d;\n}\nmod e;\nlet module = 1;\nmodel;\n";
    let module = |outer: &[&str], name: &str| Declared::Module {
        outer: outer.iter().map(|&outer| outer.to_owned()).collect(),
        name: name.to_owned(),
    };
    assert_eq!(
        declarations(text),
        [
            module(&[], "a"),
            Declared::Path { outer: Vec::new(), path: "../b/c.rs".to_owned() },
            module(&["tests"], "d"),
            module(&[], "e"),
        ]
    );
}

#[test]
fn known_programs_are_allowed_as_long_as_they_are_there() {
    let lost = ["tests/a.rs".to_owned(), "tests/b.rs".to_owned()];
    assert_eq!(
        reported(&lost, &[("tests/a.rs", "tests/x.rs")]),
        ["tests/b.rs: no module declares this file"]
    );
    assert_eq!(
        reported(&lost[..1], &[("tests/a.rs", "tests/x.rs"), ("tests/c.rs", "tests/x.rs")]),
        ["tests/c.rs: not a program that tests/x.rs compiles: take it off the list"]
    );
}

#[test]
fn the_workspace_has_no_such_file() {
    assert_eq!(super::wrong().unwrap(), Vec::<String>::new());
}
