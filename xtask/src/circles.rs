//! Cycles between the modules of a crate: a change of one module in a cycle requires reading all of them. Modules are
//! those that the root of a crate declares, each with everything below it; tests do not count.
use crate::run::project;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Existing cycles, each with its reason. None may grow, and one that shrinks must be shortened here, too.
const KNOWN: &[(&str, &[&str], &str)] = &[
    (
        "engine",
        &["dataset", "session"],
        "a session keeps the datasets that others take values from open, and a dataset is opened with a session",
    ),
    (
        "model",
        &["attribute", "fill", "tree", "types", "values", "variable"],
        "the data model: values have types, types are in the tree, the tree has variables with values",
    ),
    ("ncirrus", &["dataset", "group", "variable"], "handles give each other"),
    ("units", &["grammar", "table", "unit"], "units are defined by specifications, which name units"),
];

type Modules = BTreeSet<String>;
/// Which modules each module uses.
type Uses = BTreeMap<String, Modules>;

/// The errors: unknown cycles, and known ones that no longer exist.
pub(crate) fn wrong() -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    let mut found = Vec::new();
    for krate in folders(&project().join("crates"))? {
        let name = krate.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let circles = circles(&uses(&krate.join("src"))?);
        found.extend(circles.into_iter().map(|circle| (name.clone(), circle)));
    }
    for (name, circle) in &found {
        if !KNOWN.iter().any(|(known, modules, _)| known == name && is_same(modules, circle)) {
            let members: Vec<&str> = circle.iter().map(String::as_str).collect();
            wrong.push(format!("{name}: a circle of {}", members.join(", ")));
        }
    }
    for (name, modules, _) in KNOWN {
        if !found.iter().any(|(known, circle)| known == name && is_same(modules, circle)) {
            wrong.push(format!("{name}: no circle of {} any more: take it out", modules.join(", ")));
        }
    }
    Ok(wrong)
}

fn is_same(modules: &[&str], circle: &Modules) -> bool {
    modules.len() == circle.len() && modules.iter().all(|module| circle.contains(*module))
}

fn folders(folder: &Path) -> Result<Vec<std::path::PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    paths.sort();
    Ok(paths)
}

/// Which modules of a crate use each other.
fn uses(source: &Path) -> Result<Uses, String> {
    let root = ["lib.rs", "main.rs"].iter().find_map(|name| fs::read_to_string(source.join(name)).ok());
    let root = code(&root.unwrap_or_default());
    let modules: Modules = declared(&root);
    let exports = exports(&root, &modules);
    let mut uses = Uses::new();
    for module in &modules {
        let mut found = Modules::new();
        for (depth, text) in texts(source, module)? {
            for name in names_at_root(&code(&text), depth) {
                found.extend(modules.get(&name).or_else(|| exports.get(&name)).cloned());
            }
        }
        found.remove(module);
        uses.insert(module.clone(), found);
    }
    Ok(uses)
}

/// The files of a module, each with the nesting depth of its contents; those of tests are left out.
fn texts(source: &Path, module: &str) -> Result<Vec<(usize, String)>, String> {
    let mut texts = Vec::new();
    let mut files = vec![(1, source.join(format!("{module}.rs")))];
    let mut below = vec![(2, source.join(module))];
    while let Some((depth, folder)) = below.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            match path.is_dir() {
                _ if stem == "tests" => {}
                true => below.push((depth + 1, path)),
                false => files.push((if stem == "mod" { depth - 1 } else { depth }, path)),
            }
        }
    }
    for (depth, path) in files {
        if let Ok(text) = fs::read_to_string(&path) {
            texts.push((depth, text));
        }
    }
    match texts.is_empty() {
        true => Err(format!("the module {module} of {} has no file", source.display())),
        false => Ok(texts),
    }
}

/// A source text without comments and without the tests at its end.
fn code(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text.get(..end).unwrap_or_default().lines();
    lines.map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The modules that a root declares, without those of tests.
fn declared(root: &str) -> Modules {
    let lines: Vec<&str> = root.lines().map(str::trim).collect();
    let is_test = |at: usize| at.checked_sub(1).and_then(|above| lines.get(above)) == Some(&"#[cfg(test)]");
    let names = lines.iter().enumerate().filter(|(at, _)| !is_test(*at)).filter_map(|(_, line)| {
        let rest = line.strip_prefix("pub ").or_else(|| line.strip_prefix("pub(crate) ")).unwrap_or(line);
        rest.strip_prefix("mod ")?.strip_suffix(';')
    });
    names.map(str::to_owned).collect()
}

/// The module of origin of each name that the root re-exports.
fn exports(root: &str, modules: &Modules) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for statement in root.split(';') {
        let Some((_, path)) = statement.rsplit_once("use ") else { continue };
        let Some((module, names)) = path.trim().trim_start_matches("crate::").split_once("::") else {
            continue;
        };
        if modules.contains(module) {
            let words =
                names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            exports.extend(words.map(|word| (word.to_owned(), module.to_owned())));
        }
    }
    exports
}

/// The names that a text imports from the root of its crate: by `crate::`, or by as many `super::` as it is nested
/// deep.
fn names_at_root(text: &str, depth: usize) -> Vec<String> {
    let mut names = Vec::new();
    let above = "super::".repeat(depth);
    for (start, _) in text.match_indices("crate::").chain(text.match_indices(above.as_str())) {
        let before = text.get(..start).unwrap_or_default();
        let is_longer = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
            || before.ends_with("super::");
        let len =
            if text.get(start..).is_some_and(|rest| rest.starts_with("crate::")) { 7 } else { above.len() };
        let rest = text.get(start + len..).unwrap_or_default();
        if !is_longer && !rest.starts_with("super::") {
            names.extend(first_names(rest));
        }
    }
    names
}

/// The first name of a path, or of each path in braces.
fn first_names(rest: &str) -> Vec<String> {
    let word = |text: &str| {
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        text.get(..end).filter(|word| !word.is_empty()).map(str::to_owned)
    };
    let Some(inner) = rest.strip_prefix('{') else { return word(rest).into_iter().collect() };
    let (mut names, mut nesting, mut item) = (Vec::new(), 0_usize, String::new());
    for letter in inner.chars() {
        match letter {
            '{' => nesting += 1,
            '}' if nesting == 0 => break,
            '}' => nesting -= 1,
            ',' if nesting == 0 => names.extend(word(std::mem::take(&mut item).trim())),
            letter if nesting == 0 => item.push(letter),
            _ => {}
        }
    }
    names.extend(word(item.trim()));
    names
}

/// Sets of modules each of which is reachable from every other.
fn circles(uses: &Uses) -> Vec<Modules> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|module| (module.as_str(), reach(uses, module))).collect();
    let mut circles: Vec<Modules> = Vec::new();
    for (module, others) in &reached {
        let is_mutual = |other: &&str| reached.get(other).is_some_and(|back| back.contains(module));
        let circle: Modules = others.iter().copied().filter(is_mutual).map(str::to_owned).collect();
        if circle.len() > 1 && !circles.contains(&circle) {
            circles.push(circle);
        }
    }
    circles
}

fn reach<'a>(uses: &'a Uses, from: &'a str) -> BTreeSet<&'a str> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(module) = open.pop() {
        for other in uses.get(module).into_iter().flatten() {
            if reached.insert(other.as_str()) {
                open.push(other);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests;
