//! The check finds the errors that it is for, in workspaces made for the purpose.
use super::{PURE, Tree, impure, wrong_arrows, wrong_arrows_of};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A workspace in a temporary folder, which is removed when this is dropped.
struct Made(PathBuf);

impl Made {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("ncirrus-arrows-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"*\"]\n")
            .unwrap();
        Self(folder)
    }

    /// Adds a crate and its dependencies; `rest` is the rest of its manifest.
    fn add(&self, name: &str, uses: &[&str], rest: &str) {
        let folder = self.0.join(name);
        std::fs::create_dir_all(folder.join("src")).unwrap();
        std::fs::write(folder.join("src/lib.rs"), "").unwrap();
        let mut manifest = format!(
            "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n[dependencies]\n"
        );
        uses.iter().for_each(|to| writeln!(manifest, "{to} = {{ path = \"../{to}\" }}").unwrap());
        std::fs::write(folder.join("Cargo.toml"), manifest + rest).unwrap();
    }

    /// The pure crates of the architecture, below a command that uses them all.
    fn rooms(&self, model_uses: &[&str]) {
        for name in PURE {
            let uses: &[&str] = if *name == "ncirrus-model" { model_uses } else { &["ncirrus-model"] };
            self.add(name, uses, "");
        }
        self.add("ncirrus-cli", PURE, "");
    }

    fn ways(&self) -> Vec<String> {
        impure(&Tree::of(&self.0, "ncirrus-cli").unwrap()).unwrap()
    }

    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_runtime_behind_another_crate_is_found() {
    let made = Made::new("behind");
    made.add("tokio", &[], "");
    made.add("innocent", &["tokio"], "");
    made.rooms(&["innocent"]);
    let ways = made.ways();
    assert_eq!(ways.len(), PURE.len(), "{ways:?}");
    assert!(ways.contains(&"ncirrus-model -> innocent -> tokio".to_owned()), "{ways:?}");
    assert!(ways.contains(&"ncirrus-cdl -> ncirrus-model -> innocent -> tokio".to_owned()), "{ways:?}");
}

#[test]
fn a_runtime_that_a_feature_brings_is_found_only_where_the_feature_is_on() {
    let optional = "tokio = { path = \"../tokio\", optional = true }\n[features]\nlive = [\"dep:tokio\"]\n";
    for (name, live, found) in [("off", "", 0), ("on", ", features = [\"live\"]", PURE.len())] {
        let made = Made::new(name);
        made.add("tokio", &[], "");
        made.add("innocent", &[], optional);
        made.rooms(&["innocent"]);
        // Another crate of the build enables the feature, for all of them.
        made.add("other", &[], &format!("innocent = {{ path = \"../innocent\"{live} }}\n"));
        made.add("ncirrus-cli", &[PURE, &["other"]].concat(), "");
        assert_eq!(made.ways().len(), found, "{name}: {:?}", made.ways());
    }
}

#[test]
fn what_only_tests_and_builds_use_is_no_arrow() {
    let made = Made::new("tests");
    made.add("tokio", &[], "");
    let tools = "[dev-dependencies]\ntokio = { path = \"../tokio\" }\n\
                 [build-dependencies]\ntokio = { path = \"../tokio\" }\n";
    made.add("innocent", &[], tools);
    made.rooms(&["innocent"]);
    assert!(made.ways().is_empty(), "{:?}", made.ways());
}

#[test]
fn a_pure_crate_that_is_not_built_is_an_error() {
    let tree = Tree::parse("0 ncirrus-cli v0.1.0 (/somewhere)\n1 ncirrus-model v0.1.0 (/somewhere)\n");
    assert!(impure(&tree).unwrap_err().starts_with("ncirrus-layout is not in the tree"));
}

#[test]
fn an_arrow_between_rooms_that_is_not_allowed_is_found() {
    let made = Made::new("rooms");
    made.add("ncirrus-layout", &[], "");
    made.add("ncirrus-model", &["ncirrus-layout"], "");
    made.add("stranger", &[], "");
    let wrong = wrong_arrows(made.path()).unwrap();
    assert!(wrong.contains(&"ncirrus-model -> ncirrus-layout".to_owned()), "{wrong:?}");
    assert!(wrong.contains(&"stranger is not a crate of the architecture".to_owned()), "{wrong:?}");
}

#[test]
fn tests_use_no_crate_above() {
    let package = |name: &str, to: &str| {
        let dependencies = serde_json::json!([{ "name": to, "kind": "dev" }]);
        wrong_arrows_of(&serde_json::json!({ "name": name, "dependencies": dependencies }))
    };
    let upward = package("ncirrus", "ncirrus-tools");
    assert_eq!(upward, ["ncirrus -> ncirrus-tools (for tests, which belong to ncirrus-tools)"]);
    assert_eq!(package("ncirrus-model", "ncirrus-cli").len(), 1);
    assert!(package("ncirrus-dap", "ncirrus-cdl").is_empty());
    assert!(package("ncirrus", "ncirrus-testkit").is_empty());
}
