//! The name of a dataset (docs/spec/nczarr.md 8.9).

/// The name of a dataset: the last segment of its path without its last extension; empty after a trailing slash.
///
/// ```
/// assert_eq!(ncirrus_store::dataset_name("/a/b.v4.10.1"), "b.v4.10");
/// ```
pub fn dataset_name(path: &str) -> &str {
    let separators: &[char] = if cfg!(windows) { &['/', '\\'] } else { &['/'] };
    let last = path.rsplit(separators).next().unwrap_or_default();
    last.rsplit_once('.').map_or(last, |(stem, _)| stem)
}
