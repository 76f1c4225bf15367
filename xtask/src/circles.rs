//! Cycles between the modules of a folder: a change of one module in a cycle requires reading all of them. Modules are
//! those that the file of the folder declares (the root of the crate for its source folder), each with everything below
//! it; tests do not count.
use crate::run::project;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Existing cycles: crate, folder below its source, modules, reason. None may grow, and one that shrinks must be
/// shortened here, too.
const KNOWN: &[(&str, &str, &[&str], &str)] = &[
    (
        "capi",
        "c_types/memory",
        &["blocks", "roles"],
        "arguments of C calls hold addresses of blocks, and blocks are returned as arguments",
    ),
    (
        "cdl",
        "parse",
        &["attribute", "declare", "special"],
        "special attributes are declarations, which are made of attributes",
    ),
    ("cdl", "parse", &["fault", "text"], "messages quote the text in which they are"),
    ("cdl", "parse", &["number", "token"], "a token may be a number, and numbers are quoted as tokens are"),
    (
        "cdl",
        "program",
        &["c", "c_data", "c_define"],
        "a C program has definitions and data in the notation of C",
    ),
    (
        "engine",
        "",
        &["dataset", "session"],
        "a session keeps the datasets that others take values from open, and a dataset is opened with a session",
    ),
    (
        "engine",
        "dataset",
        &["fragment", "mosaic"],
        "a fragment is a dataset, which may be a mosaic of fragments",
    ),
    (
        "hdf5",
        "datatypes/value",
        &["decode", "reference"],
        "referenced values are decoded, and decoded values contain references",
    ),
    ("hdf5", "layout", &["dataset", "virtuals"], "a virtual dataset is made of datasets"),
    (
        "hdf5",
        "write",
        &["placer", "update"],
        "the placer of a new file becomes that of an updated one after the first commit",
    ),
    (
        "http",
        "",
        &["connections", "context", "net"],
        "connections look up and guard hosts by the rules of the context, which sends its requests over them",
    ),
    (
        "http",
        "net",
        &["monitored_body", "operation", "record", "service"],
        "one request: its operation, its record, the service that sends it, its answer",
    ),
    (
        "http",
        "web",
        &["answer", "partial", "redirects"],
        "the rest of a partial answer is requested as the answer was, redirects included",
    ),
    (
        "model",
        "",
        &["attribute", "fill", "tree", "types", "values", "variable"],
        "the data model: values have types, types are in the tree, the tree has variables with values",
    ),
    (
        "ncirrus",
        "",
        &["dataset", "group", "pace", "variable"],
        "handles give each other, and a dataset keeps what is read ahead of its variables",
    ),
    (
        "store",
        "create",
        &["lease", "owner"],
        "a lease contains the mark of its owner, which states the stage of the lease",
    ),
    (
        "testkit",
        "dap_server",
        &["dap2", "tables", "tree"],
        "DAP2 serves tables and trees, which use its notation",
    ),
    ("units", "", &["grammar", "table", "unit"], "units are defined by specifications, which name units"),
    (
        "zarr",
        "write",
        &["commit", "compose", "placer", "present"],
        "what is present is opened by the placer that composes and commits it",
    ),
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
        let mut open = vec![Vec::new()];
        while let Some(folder) = open.pop() {
            let uses = uses(&krate.join("src"), &folder)?;
            let path = folder.join("/");
            found.extend(circles(&uses).into_iter().map(|circle| (name.clone(), path.clone(), circle)));
            open.extend(uses.into_keys().map(|module| [folder.as_slice(), &[module]].concat()));
        }
    }
    for (name, folder, circle) in &found {
        let is_known =
            |of: &str, at: &str, modules: &[&str]| of == name && at == folder && is_same(modules, circle);
        if !KNOWN.iter().any(|(of, at, modules, _)| is_known(of, at, modules)) {
            let members: Vec<&str> = circle.iter().map(String::as_str).collect();
            wrong.push(format!("{name}, src/{folder}: a circle of {}", members.join(", ")));
        }
    }
    for (name, folder, modules, _) in KNOWN {
        if !found.iter().any(|(of, at, circle)| of == name && at == folder && is_same(modules, circle)) {
            wrong.push(format!(
                "{name}, src/{folder}: no circle of {} any more: take it out",
                modules.join(", ")
            ));
        }
    }
    Ok(wrong)
}

fn is_same(modules: &[&str], circle: &Modules) -> bool {
    modules.len() == circle.len() && modules.iter().all(|module| circle.contains(*module))
}

fn folders(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    paths.sort();
    Ok(paths)
}

/// Which modules of a folder use each other; none if the folder is a single file without modules.
fn uses(source: &Path, folder: &[String]) -> Result<Uses, String> {
    let at = folder.iter().fold(source.to_owned(), |path, name| path.join(name));
    let files = if folder.is_empty() {
        [source.join("lib.rs"), source.join("main.rs")]
    } else {
        [at.with_extension("rs"), at.join("mod.rs")]
    };
    let root = code(&files.iter().find_map(|file| fs::read_to_string(file).ok()).unwrap_or_default());
    let modules: Modules = declared(&root);
    let path: String = folder.iter().map(|name| format!("{name}::")).collect();
    let exports = exports(&root, &modules, &path);
    let mut uses = Uses::new();
    for module in &modules {
        let mut found = Modules::new();
        for (depth, text) in texts(&at, module)? {
            for name in names_in_folder(&code(&text), &path, depth) {
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
            if stem == "tests" {
                continue;
            }
            if path.is_dir() {
                below.push((depth + 1, path));
            } else {
                files.push((if stem == "mod" { depth - 1 } else { depth }, path));
            }
        }
    }
    for (depth, path) in files {
        if let Ok(text) = fs::read_to_string(&path) {
            texts.push((depth, text));
        }
    }
    if texts.is_empty() {
        return Err(format!("the module {module} of {} has no file", source.display()));
    }
    Ok(texts)
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
        let visible = ["pub ", "pub(crate) ", "pub(super) "];
        let rest = visible.iter().find_map(|visible| line.strip_prefix(visible)).unwrap_or(line);
        rest.strip_prefix("mod ")?.strip_suffix(';')
    });
    names.map(str::to_owned).collect()
}

/// The module of origin of each name that the file of a folder re-exports.
fn exports(root: &str, modules: &Modules, path: &str) -> BTreeMap<String, String> {
    let mut exports = BTreeMap::new();
    for statement in root.split(';') {
        let Some((_, used)) = statement.rsplit_once("use ") else { continue };
        let local = used.trim().trim_start_matches("self::");
        let local = local.strip_prefix("crate::").and_then(|rest| rest.strip_prefix(path)).unwrap_or(local);
        let Some((module, names)) = local.split_once("::") else { continue };
        if modules.contains(module) {
            let words =
                names.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            exports.extend(words.map(|word| (word.to_owned(), module.to_owned())));
        }
    }
    exports
}

/// The names that a text imports from a folder: by the folder's path from the root of its crate, or by as many `super::`
/// as it is nested deep below the folder.
fn names_in_folder(text: &str, path: &str, depth: usize) -> Vec<String> {
    let mut names = Vec::new();
    for way in [format!("crate::{path}"), "super::".repeat(depth)] {
        for (start, _) in text.match_indices(way.as_str()) {
            let before = text.get(..start).unwrap_or_default();
            let is_longer = before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$')
                || before.ends_with("super::");
            let rest = text.get(start + way.len()..).unwrap_or_default();
            if !is_longer && !rest.starts_with("super::") {
                names.extend(first_names(rest));
            }
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
