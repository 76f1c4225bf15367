//! Paths of DAP4: names between slashes, `\` before characters that are not separators (docs/spec/dap.md 6.1).

/// The names of a path.
pub(crate) fn segments(path: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut letters = path.strip_prefix('/').unwrap_or(path).chars();
    while let Some(letter) = letters.next() {
        match (letter, names.last_mut()) {
            ('/', _) => names.push(String::new()),
            ('\\', Some(name)) => name.extend(letters.next()),
            (letter, Some(name)) => name.push(letter),
            (_, None) => {}
        }
    }
    names
}

/// A name as it stands in a path.
pub(crate) fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for letter in name.chars() {
        if matches!(letter, '.' | '/' | '\\' | ' ') {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// The path of a variable or member as errors show it, and as the model has it: groups and variable between slashes,
/// members after dots.
pub(crate) fn shown_path<'a>(
    groups: impl IntoIterator<Item = &'a str>,
    names: impl IntoIterator<Item = &'a str>,
) -> String {
    let groups: String = groups.into_iter().map(|name| format!("/{name}")).collect();
    let names: Vec<&str> = names.into_iter().collect();
    format!("{groups}/{}", names.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_paths_of_groups_and_members() {
        assert_eq!(shown_path([], ["x"]), "/x");
        assert_eq!(shown_path(["g", "h"], ["s", "a b"]), "/g/h/s.a b");
    }

    #[test]
    fn names_survive_paths() {
        let names = ["g", "a.b", "c/d", r"e\f", "g h"];
        let path: String = names.iter().map(|name| format!("/{}", escaped(name))).collect();
        assert_eq!(path, r"/g/a\.b/c\/d/e\\f/g\ h");
        assert_eq!(segments(&path), names);
        assert_eq!(segments("d"), ["d"]);
    }
}
