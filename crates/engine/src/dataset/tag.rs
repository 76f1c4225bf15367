//! What distinguishes one state of a dataset from another.
use ncirrus_layout::{ObjectId, Tag};
use std::fmt::Write;

/// The tag of a dataset whose opening touched these objects: for a single object the one that the store reports; for a
/// tree a digest of the tags of all objects that hold its definitions. `None` if nothing was touched.
pub(super) fn tag_of(root: &ObjectId, mut touched: Vec<(ObjectId, Tag)>) -> Option<String> {
    if let Some((_, tag)) = touched.iter().find(|(object, _)| object == root) {
        return Some(tag.as_str().to_owned());
    }
    touched.sort_unstable();
    let mut text = String::new();
    for (object, tag) in &touched {
        let key = object.key().strip_prefix(root.key()).unwrap_or(object.key());
        // Lengths come first, so that no two lists have the same text.
        let _ = write!(text, "{}:{key}{}:{}", key.len(), tag.as_str().len(), tag.as_str());
    }
    (!touched.is_empty()).then(|| format!("tree-{:016x}{:016x}", digest(&text, FNV), digest(&text, !FNV)))
}

/// FNV-1a of 64 bits, from another start value if a second digest is needed: the same in every process.
fn digest(text: &str, start: u64) -> u64 {
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

const FNV: u64 = 0xcbf2_9ce4_8422_2325;

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_layout::StoreId;

    #[test]
    fn a_file_has_its_own_tag_and_a_tree_one_of_its_documents() {
        let root = ObjectId::new(StoreId::new("memory://a"), "x.zarr");
        let touched = |list: &[(&str, &str)]| {
            list.iter().map(|(name, tag)| (root.child(name), Tag::new(*tag))).collect::<Vec<_>>()
        };
        assert_eq!(tag_of(&root, vec![(root.clone(), Tag::new("e1"))]).as_deref(), Some("e1"));
        assert_eq!(tag_of(&root, Vec::new()), None);
        let one = tag_of(&root, touched(&[(".zgroup", "1"), ("v/.zarray", "2")]));
        assert_eq!(
            one,
            tag_of(&root, touched(&[("v/.zarray", "2"), (".zgroup", "1")])),
            "the order does not matter"
        );
        assert_ne!(one, tag_of(&root, touched(&[(".zgroup", "1"), ("v/.zarray", "3")])));
        assert_ne!(one, tag_of(&root, touched(&[(".zgroup", "1v/.zarray2")])));
        assert!(one.unwrap().starts_with("tree-"));
    }
}
