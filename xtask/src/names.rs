//! Names of types: how many are a single word, which have several meanings, and which the glossary names although they
//! do not exist.
use crate::run::{Outcome, project};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The percentage of one-word names above which the check fails: a type's name says what it is without its module.
const MAX_SINGLE_WORDS: usize = 45;
/// Maximum number of names that are used for three types or more.
const MAX_REPEATED: usize = 25;

const GLOSSARY: &str = "docs/STYLE.md";

/// A name and where it is defined.
#[derive(Debug, PartialEq, Eq)]
struct Definition {
    name: String,
    place: String,
}

/// Prints both figures and fails if one exceeds its limit.
pub(crate) fn check() -> Outcome {
    let mut definitions = Vec::new();
    for folder in ["crates", "fuzz", "xtask"] {
        collect(&project().join(folder), &mut definitions)?;
    }
    let single = definitions.iter().filter(|definition| words(&definition.name) == 1).count();
    let percent = single * 100 / definitions.len().max(1);
    let repeated = repeated(&definitions);
    println!("{} types, {single} of them named by a single word ({percent} %)", definitions.len());
    println!("{} names stand for three types or more", repeated.len());
    for (name, places) in &repeated {
        println!("  {name}: {}", places.join(" "));
    }
    if percent >= MAX_SINGLE_WORDS || repeated.len() >= MAX_REPEATED {
        return Err(format!(
            "at most {MAX_SINGLE_WORDS} % of the types may be single words and {MAX_REPEATED} names repeated"
        ));
    }
    let style = project().join(GLOSSARY);
    let text = fs::read_to_string(&style).map_err(|error| format!("{GLOSSARY}: {error}"))?;
    let absent = absent_types(&text, &definitions);
    if absent.is_empty() {
        Ok(())
    } else {
        Err(format!("{GLOSSARY}: the glossary names types that do not exist: {}", absent.join(", ")))
    }
}

/// Types in the first column of the glossary's tables that no file defines: the first words of code that begin with a
/// capital.
fn absent_types<'a>(style: &'a str, definitions: &[Definition]) -> Vec<&'a str> {
    let glossary = style.split_once("\n## Glossary").map_or("", |(_, glossary)| glossary);
    let rows = glossary.lines().filter_map(|line| line.strip_prefix("| ")?.split('|').next());
    let words = rows.flat_map(|column| column.split('`').skip(1).step_by(2));
    let types = words.filter_map(|word| word.split(|c: char| !c.is_alphanumeric() && c != '_').next());
    types
        .filter(|name| name.starts_with(char::is_uppercase))
        .filter(|name| !definitions.iter().any(|definition| definition.name == *name))
        .collect()
}

/// Reads every source file below a folder, except what cargo has built.
fn collect(folder: &Path, definitions: &mut Vec<Definition>) -> Outcome {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let is_built = path.file_name().is_some_and(|name| name == "target");
        if path.is_dir() && !is_built {
            collect(&path, definitions)?;
        } else if is_source(&path) {
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let place = path.strip_prefix(project()).unwrap_or(&path).display().to_string();
            definitions.extend(
                text.lines()
                    .filter_map(type_name)
                    .map(|name| Definition { name: name.to_owned(), place: place.clone() }),
            );
        }
    }
    Ok(())
}

/// Whether a file is product code, not a test next to it: types of tests are named after what they test.
fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
        && path.components().any(|part| part.as_os_str() == "src")
}

/// The name of the type that a line defines; associated types of traits are indented and left out.
fn type_name(line: &str) -> Option<&str> {
    let item = line.trim_start();
    let is_indented = item.len() < line.len();
    let item = match item.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) if rest.starts_with(' ') => rest.trim_start(),
        _ => item,
    };
    let item = item.strip_prefix("unsafe ").unwrap_or(item);
    let (kind, rest) = item.split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "union"].contains(&kind) || (kind == "type" && !is_indented);
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let name = rest.get(..end)?;
    (is_type && name.starts_with(char::is_uppercase)).then_some(name)
}

/// The number of words in a name; a run of capitals counts as one.
fn words(name: &str) -> usize {
    let letters: Vec<char> = name.chars().collect();
    let begins = |at: usize| {
        let is_upper = |at: usize| letters.get(at).is_some_and(|c| c.is_uppercase());
        let follows_small = at == 0 || !is_upper(at - 1);
        let precedes_small = letters.get(at + 1).is_some_and(|c| c.is_lowercase());
        is_upper(at) && (follows_small || precedes_small)
    };
    (0..letters.len()).filter(|at| begins(*at)).count()
}

/// Names that are defined three times or more, with their locations.
fn repeated(definitions: &[Definition]) -> BTreeMap<&str, Vec<&str>> {
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for definition in definitions {
        places.entry(&definition.name).or_default().push(&definition.place);
    }
    places.retain(|_, places| places.len() >= 3);
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_found_whatever_their_visibility() {
        let lines = [
            ("pub struct ChunkKey {", Some("ChunkKey")),
            ("    pub(super) enum Fate<'a> {", Some("Fate")),
            ("pub(in crate::read) unsafe trait Codec: Send {", Some("Codec")),
            ("type Result<T> = std::result::Result<T, Error>;", Some("Result")),
            ("    type Error = Error;", None),
            ("fn structure() {", None),
            ("/// struct Said", None),
        ];
        for (line, name) in lines {
            assert_eq!(type_name(line), name, "{line}");
        }
    }

    #[test]
    fn words_begin_with_capitals() {
        for (name, count) in [("Place", 1), ("ChunkKey", 2), ("URLFragment", 2), ("Sso", 1), ("Hdf5File", 2)]
        {
            assert_eq!(words(name), count, "{name}");
        }
    }

    #[test]
    fn types_of_the_glossary_that_do_not_exist_are_found() {
        let style = "| `Before` | x |\n\n## Glossary\n\n| word | is | not |\n|---|---|---|\n\
            | `ChunkKey`, `Gone<T>`, key | a `Third` | `Fourth` |\n| `Credentials::Anonymous`, `is_x` | x | |\n";
        let named = |name: &str| Definition { name: name.to_owned(), place: "a".to_owned() };
        assert_eq!(absent_types(style, &[named("ChunkKey"), named("Credentials")]), ["Gone"]);
    }

    #[test]
    fn a_name_that_stands_for_three_types_is_found() {
        let named = |name: &str, place: &str| Definition { name: name.to_owned(), place: place.to_owned() };
        let definitions = [named("Place", "a"), named("Place", "b"), named("Part", "a"), named("Place", "c")];
        assert_eq!(repeated(&definitions), BTreeMap::from([("Place", vec!["a", "b", "c"])]));
    }
}
