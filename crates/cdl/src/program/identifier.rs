//! Names of netCDF as identifiers of C.
use ncirrus_model::{DimId, GroupId, Model, TypeId, VarId};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::hash::Hash;

/// Characters that identifiers do not have, and the words that stand for them, as the reference has them.
const WORDS: [(char, &str); 30] = [
    (' ', "SPACE"),
    ('!', "EXCLAMATION"),
    ('"', "QUOTATION"),
    ('#', "HASH"),
    ('$', "DOLLAR"),
    ('%', "PERCENT"),
    ('&', "AMPERSAND"),
    ('\'', "APOSTROPHE"),
    ('(', "LEFTPAREN"),
    (')', "RIGHTPAREN"),
    ('*', "ASTERISK"),
    ('+', "PLUS"),
    (',', "COMMA"),
    ('-', "MINUS"),
    ('/', "SLASH"),
    (':', "COLON"),
    (';', "SEMICOLON"),
    ('<', "LESSTHAN"),
    ('=', "EQUALS"),
    ('>', "GREATERTHAN"),
    ('?', "QUESTION"),
    ('@', "ATSIGN"),
    ('[', "LEFTBRACKET"),
    ('\\', "BACKSLASH"),
    (']', "RIGHTBRACKET"),
    ('^', "CIRCUMFLEX"),
    ('`', "BACKQUOTE"),
    ('{', "LEFTCURLY"),
    ('|', "VERTICALBAR"),
    ('~', "TILDE"),
];

/// A dot, which the reference calls otherwise in the names of variables and dimensions of the classic model.
const DOT: &str = "_DOT_";
const CLASSIC_DOT: &str = "_PERIOD_";

/// A name as an identifier: other characters as words, those beyond ASCII as their bytes in UTF-8.
pub(super) fn identifier(name: &str) -> String {
    spelt(name, DOT)
}

fn spelt(name: &str, dot: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for (at, character) in name.chars().enumerate() {
        match character {
            '0'..='9' if at == 0 => {
                let _ = write!(text, "DIGIT_{character}_");
            }
            '0'..='9' | 'a'..='z' | 'A'..='Z' | '_' => text.push(character),
            '.' => text.push_str(dot),
            '}' => text.push_str("_RIGHTCURLY_"),
            other => match WORDS.iter().find(|(known, _)| *known == other) {
                Some((_, word)) => {
                    let _ = write!(text, "_{word}_");
                }
                None => {
                    let mut bytes = [0; 4];
                    for byte in other.encode_utf8(&mut bytes).bytes() {
                        let _ = write!(text, "_X{byte:02X}");
                    }
                }
            },
        }
    }
    text
}

/// The identifiers of all objects, no two of one kind the same.
pub(super) struct Identifiers {
    pub(super) groups: HashMap<GroupId, String>,
    pub(super) dims: HashMap<DimId, String>,
    pub(super) types: HashMap<TypeId, String>,
    pub(super) vars: HashMap<VarId, String>,
}

impl Identifiers {
    /// Those of a model whose root group is called `root`, for the enhanced model or the classic one.
    pub(super) fn of(model: &Model, root: &str, is_enhanced: bool) -> Self {
        let dot = if is_enhanced { DOT } else { CLASSIC_DOT };
        let walk = model.walk();
        let each = |ids: fn(&ncirrus_model::Group) -> Vec<Listed>| {
            walk.iter().filter_map(|id| model.group(*id)).flat_map(ids).collect::<Vec<_>>()
        };
        let dims = each(|group| group.dims.iter().map(|id| Listed::Dim(*id)).collect());
        let types = each(|group| group.types.iter().map(|id| Listed::Type(*id)).collect());
        let dims = dims.into_iter().filter_map(|listed| match listed {
            Listed::Dim(id) => Some((id, model.dimension_path(id))),
            Listed::Type(_) => None,
        });
        let types = types.into_iter().filter_map(|listed| match listed {
            Listed::Type(id) => Some((id, model.type_path(id))),
            Listed::Dim(_) => None,
        });
        let groups = walk.iter().map(|id| {
            let path = if *id == model.root() { format!("/{root}") } else { model.group_path(*id) };
            (*id, path)
        });
        let vars = model.variables().into_iter().map(|id| (id, model.variable_path(id)));
        Self {
            groups: distinct(groups, &[], dot),
            dims: distinct(dims, &[], dot),
            types: distinct(types, &RESERVED, dot),
            vars: distinct(vars, &[], dot),
        }
    }
}

/// A member of a group.
enum Listed {
    Dim(DimId),
    Type(TypeId),
}

/// Words that a type, whose identifier has no ending, cannot have.
const RESERVED: [&str; 44] = [
    "auto",
    "break",
    "case",
    "const",
    "continue",
    "default",
    "do",
    "else",
    "enum",
    "extern",
    "for",
    "goto",
    "if",
    "inline",
    "register",
    "restrict",
    "return",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "main",
    "stat",
    "ncid",
    "check_err",
    "size_t",
    "count",
    "econst",
    "nan",
    "nanf",
    "inf",
    "inff",
    "exit",
    "fprintf",
    "fflush",
    "stderr",
    "infinity",
];

fn distinct<T: Eq + Hash>(
    paths: impl Iterator<Item = (T, String)>,
    reserved: &[&str],
    dot: &str,
) -> HashMap<T, String> {
    let mut taken: HashSet<String> = reserved.iter().map(|word| (*word).to_owned()).collect();
    paths
        .map(|(id, path)| {
            let whole = spelt(path.strip_prefix('/').unwrap_or(&path), dot);
            // As the reference has it.
            let mut name = match whole.strip_prefix('_') {
                Some(rest) if !rest.is_empty() && !rest.starts_with(|first: char| first.is_ascii_digit()) => {
                    rest.to_owned()
                }
                _ => whole,
            };
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            (id, name)
        })
        .collect()
}
