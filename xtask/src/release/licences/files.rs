//! The licence files in the package of a crate.
use super::Text;
use crate::run::project;
use std::fs;
use std::path::Path;

/// What the package of a crate contains.
#[derive(Default)]
pub(super) struct LicenceFiles {
    pub(super) texts: Vec<Text>,
    /// Whether there is code in C or assembler.
    pub(super) has_c: bool,
}

/// How deep folders are searched: C libraries are in subfolders.
const DEPTH: usize = 4;
/// Folders with code that is not linked in.
const ASIDE: &[&str] = &[
    "tests", "test", "examples", "programs", "contrib", "doc", "docs", "benches", "bench", "fuzz", "ci",
    "target",
];

/// All licence files of a package, in order.
pub(super) fn of_package(folder: &Path) -> Result<LicenceFiles, String> {
    let mut found = LicenceFiles::default();
    search(folder, folder, DEPTH, &mut found)?;
    Ok(found)
}

fn search(root: &Path, folder: &Path, depth: usize, found: &mut LicenceFiles) -> Result<(), String> {
    let described = |error: std::io::Error| format!("{}: {error}", folder.display());
    let mut paths: Vec<_> =
        fs::read_dir(folder).map_err(described)?.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The other file is the text of an alternative licence, or says which files there are.
    let has_licence =
        paths.iter().any(|path| path.is_file() && is_licence(&name(path)) && !is_copying(&name(path)));
    for path in &paths {
        let name = name(path);
        if path.is_dir() {
            if depth > 0 && !ASIDE.contains(&name.as_str()) {
                search(root, path, depth - 1, found)?;
            }
        } else if is_licence(&name) && !(has_licence && is_copying(&name)) {
            let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
            let shown = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
            found.texts.push(Text { path: shown, text: String::from_utf8_lossy(&bytes).into_owned() });
        } else {
            found.has_c |= [".c", ".S", ".asm"].iter().any(|ending| name.ends_with(ending));
        }
    }
    Ok(())
}

pub(super) fn is_licence(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    let begins = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];
    let is_code = [".RS", ".C", ".H", ".HTML", ".PY"].iter().any(|ending| upper.ends_with(ending));
    begins.iter().any(|begin| upper.starts_with(begin)) && !is_code
}

fn is_copying(name: &str) -> bool {
    name.to_ascii_uppercase().starts_with("COPYING")
}

/// Of alternative licences only MIT's text, if there is one in the same folder.
pub(super) fn chosen(licence: &str, texts: Vec<Text>) -> Vec<Text> {
    let is_choice = licence.contains("MIT") && (licence.contains(" OR ") || licence.contains('/'));
    if !is_choice {
        return texts;
    }
    let folder = |path: &str| path.rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned());
    let has_mit = |path: &str| {
        let here = folder(path);
        texts.iter().any(|text| folder(&text.path) == here && text.path.to_ascii_uppercase().contains("MIT"))
    };
    let others = ["APACHE", "UNLICENSE", "ZLIB", "BOOST", "0BSD", "CC0"];
    let keep: Vec<bool> = texts
        .iter()
        .map(|text| {
            let upper = text.path.to_ascii_uppercase();
            !(has_mit(&text.path) && others.iter().any(|other| upper.contains(other)))
        })
        .collect();
    texts.into_iter().zip(keep).filter_map(|(text, keep)| keep.then_some(text)).collect()
}

/// The text of a licence whose package has none, which the project keeps.
pub(super) fn kept(name: &str) -> Result<Text, String> {
    let path = format!("packaging/licences/{name}.txt");
    let text = fs::read_to_string(project().join(&path))
        .map_err(|error| format!("the package of {name} has no licence text, and {path}: {error}"))?;
    Ok(Text { path, text })
}
