//! Resolves the name of a fragment to the addresses where it may be (docs/spec/cfa.md 5.2, 6.3).
//!
//! A name with a scheme is an address, and tried percent-decoded first, then as addresses of its store are written, then
//! literally; any other name is relative to the folder of the
//! master dataset, and tried literally first, then percent-decoded. `..` works for files as in paths, and
//! elsewhere as long as the name stays in the same store.
#[cfg(test)]
mod tests;

use ncirrus_layout::{Error, ErrorKind, Result};
use ncirrus_store::{Scheme, Url, percent_decoded, percent_encoded};

/// Where a fragment of that name may be, in the order in which it is looked for. `base` is the address of the
/// master dataset; `may_be_local` says whether a remote dataset may name local files.
pub(crate) fn candidates(name: &str, base: Option<&Url>, may_be_local: bool) -> Result<Vec<Url>> {
    let found = match scheme(name) {
        Some((scheme, rest)) => absolute(name, (scheme, rest), base)?,
        None if name.starts_with('/') => {
            each([name.to_owned(), decoded(name)], |path| Ok(Url::of_path(path)))?
        }
        None => relative(name, base)?,
    };
    let far = base.is_some_and(|base| !is_local(base));
    if far && !may_be_local && found.iter().any(is_local) {
        let message = format!("the fragment {name:?} of a remote dataset points to a local file");
        return Err(Error::new(ErrorKind::Denied, message));
    }
    Ok(found)
}

/// Whether an address is on this machine.
pub(crate) fn is_local(url: &Url) -> bool {
    matches!(url.scheme(), Scheme::File | Scheme::Memory)
}

/// The scheme and the rest after its colon; a single letter is a drive.
fn scheme(name: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = name.split_once(':')?;
    let mut letters = scheme.chars();
    let is_scheme = letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && scheme.len() > 1
        && letters.all(|letter| letter.is_ascii_alphanumeric() || "+.-".contains(letter));
    is_scheme.then_some((scheme, rest))
}

fn absolute(name: &str, (scheme, rest): (&str, &str), base: Option<&Url>) -> Result<Vec<Url>> {
    match scheme.to_ascii_lowercase().as_str() {
        "file" => {
            let path = rest.strip_prefix("//").unwrap_or(rest);
            let path = path.strip_prefix("localhost/").map_or(path.to_owned(), |path| format!("/{path}"));
            if path.starts_with('/') {
                // A protocol at the end says how responses in files are read; any other `#` is part of the name.
                let url = Url::parse(&path)?;
                let url = if url.is_computed() { url } else { Url::of_path(&path) };
                each([decoded(url.path()), url.path().to_owned()], |path| Ok(url.with_path(path)))
            } else {
                // There is no host to contact: as in netCDF-C, it is a path.
                relative(&path, base)
            }
        }
        "http" | "https" | "dods" | "dap2" | "dap4" | "dap2+http" | "dap4+http" => {
            Ok(vec![Url::parse(name)?])
        }
        "s3" | "gs" | "gs3" | "az" | "abfs" | "abfss" | "memory" => Ok(Url::parse(name)?.key_readings()),
        // Stores that were added to the session may support it.
        _ if rest.starts_with("//") => Ok(vec![Url::parse(name)?]),
        _ => Err(Error::unsupported(format!("the scheme {scheme:?} of the fragment {name:?}"))),
    }
}

fn relative(name: &str, base: Option<&Url>) -> Result<Vec<Url>> {
    let Some(base) = base else {
        let message = format!("the fragment {name:?} is relative to a dataset whose location is unknown");
        return Err(Error::invalid(message));
    };
    if name.is_empty() {
        return Err(Error::malformed("a fragment without a name"));
    }
    let path = base.path().trim_end_matches('/');
    let folder = path.rfind('/').map_or("", |end| path.get(..=end).unwrap_or_default());
    let names = [name.to_owned(), decoded(name)];
    match base.scheme() {
        Scheme::File => each(names, |name| Ok(base.beside(format!("{folder}{name}")))),
        Scheme::Http | Scheme::Https => each(names, |name| {
            let path = inside(folder, &percent_encoded(name)).ok_or_else(|| outside(name))?;
            Ok(base.beside(path))
        }),
        _ => each(names, |name| {
            let path = inside(folder, &base.written_key(name)).ok_or_else(|| outside(name))?;
            Ok(base.beside(path))
        }),
    }
}

fn outside(name: &str) -> Error {
    Error::malformed(format!("the fragment {name:?} leaves the store of the dataset that aggregates"))
}

/// The path of a name below a folder, with `.` and `..` resolved; `None` if that leaves the root.
fn inside(folder: &str, name: &str) -> Option<String> {
    let mut segments: Vec<&str> = folder.split('/').filter(|segment| !segment.is_empty()).collect();
    for segment in name.split('/') {
        match segment {
            "" | "." => {}
            ".." => _ = segments.pop()?,
            segment => segments.push(segment),
        }
    }
    Some(format!("/{}", segments.join("/")))
}

/// The addresses of names, without duplicates.
fn each(names: [String; 2], address: impl Fn(&str) -> Result<Url>) -> Result<Vec<Url>> {
    let [first, second] = names;
    let mut found = vec![address(&first)?];
    if second != first {
        // A name that is not valid when decoded is meant literally.
        found.extend(address(&second));
    }
    Ok(found)
}

/// Text with percent signs decoded; invalid sequences and those that do not yield text stay as they are.
fn decoded(text: &str) -> String {
    let plain = percent_decoded(text);
    if plain.contains('\0') { text.to_owned() } else { plain }
}
