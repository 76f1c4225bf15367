//! Files whose offsets lead to the same bytes many times: copies of these are bounded.
use crate::envelope::{self, FileKind};
use crate::flex;
use crate::manifest::Manifest;
use crate::repo_info::RepoInfo;
use crate::snapshot::Snapshot;
use bytes::Bytes;
use ncirrus_layout::{ErrorKind, Limits};

/// A table: where its fields are (0 for absent ones), and its bytes after the offset of the fields, with all that follows it.
struct Table<'a> {
    slots: &'a [u16],
    bytes: Vec<u8>,
}

/// A file whose root has an id and, in `slot`, a list that has the same table `count` times.
fn file_of(kind: FileKind, slot: u16, count: u32, entry: &Table<'_>) -> Bytes {
    let mut file = envelope::MAGIC.to_vec();
    file.extend_from_slice(b"ic-2.3.0                ");
    file.extend_from_slice(&[2, kind as u8, 0]);
    // The fields of the root: the id at 4 and the list at 16.
    let fields = 4 + 2 * (slot + 1);
    let root = 4 + u32::from(fields.next_multiple_of(4));
    let mut body = root.to_le_bytes().to_vec();
    body.extend_from_slice(&fields.to_le_bytes());
    body.extend_from_slice(&20u16.to_le_bytes());
    for number in 0..=slot {
        let place: u16 = if number == slot { 16 } else { 4 * u16::from(number == 0) };
        body.extend_from_slice(&place.to_le_bytes());
    }
    body.resize(usize::try_from(root).unwrap(), 0);
    body.extend_from_slice(&(root - 4).to_le_bytes());
    body.extend_from_slice(&[1; 12]);
    body.extend_from_slice(&4u32.to_le_bytes());
    body.extend_from_slice(&count.to_le_bytes());
    let fields = u16::try_from(4 + 2 * entry.slots.len()).unwrap();
    let table = 4 * count + u32::from(fields.next_multiple_of(4));
    (0..count).for_each(|number| body.extend_from_slice(&(table - 4 * number).to_le_bytes()));
    let start = body.len();
    body.extend_from_slice(&fields.to_le_bytes());
    body.extend_from_slice(&100u16.to_le_bytes());
    entry.slots.iter().for_each(|place| body.extend_from_slice(&place.to_le_bytes()));
    body.resize(start + usize::from(fields.next_multiple_of(4)), 0);
    body.extend_from_slice(&u32::from(fields.next_multiple_of(4)).to_le_bytes());
    body.extend_from_slice(&entry.bytes);
    file.extend_from_slice(&body);
    file.into()
}

/// A text or a vector of bytes at the end of a table, after `before` bytes of other fields.
fn with_text(before: usize, text: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2; before];
    bytes.extend_from_slice(&4u32.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(text.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(text);
    bytes
}

#[test]
fn snapshots_branches_and_manifests_that_share_bytes_are_rejected() {
    let limits = Limits::default();
    let parsed = |count: u32, len: usize| {
        let entry = Table { slots: &[4, 0, 0, 16], bytes: with_text(12, &vec![b'm'; len]) };
        RepoInfo::parse(&file_of(FileKind::RepoInfo, 4, count, &entry), &limits)
    };
    let one = parsed(1, 3).unwrap();
    assert_eq!((one.snapshots.len(), one.snapshots[0].message.as_str()), (1, "mmm"));
    let error = parsed(1000, 10_000).unwrap_err();
    assert!(error.kind() == ErrorKind::Malformed && error.message().contains("share"), "{error}");
    assert!(parsed(100_000, 0).is_err(), "a table takes more bytes than its offset");
    // Manifests of a snapshot, with their sizes.
    let parsed = |count: u32| {
        let entry = Table { slots: &[4, 16, 0], bytes: vec![3; 20] };
        Snapshot::parse(&file_of(FileKind::Snapshot, 7, count, &entry), &limits)
    };
    assert_eq!(
        parsed(1).unwrap().size_of(crate::id::ObjectName::of_bytes([3; 12])),
        Some(0x0303_0303_0303_0303)
    );
    let error = parsed(100_000).unwrap_err();
    assert!(error.kind() == ErrorKind::Malformed && error.message().contains("share"), "{error}");
}

#[test]
fn long_addresses_and_etags_of_chunks_are_rejected() {
    let parsed = |len: usize| {
        // An array of one chunk, whose address has that many bytes.
        let chunk = Table { slots: &[0, 0, 0, 0, 0, 4], bytes: with_text(0, &vec![b'a'; len]) };
        Manifest::parse(&file_of(FileKind::Manifest, 1, 1, &array_of(&chunk)), &Limits::default()).unwrap()
    };
    assert_eq!(parsed(8 << 10).places().unwrap().len(), 1);
    for manifest in [parsed((8 << 10) + 1), parsed((8 << 10) + 1).in_pages()] {
        let error = manifest.places().unwrap_err();
        assert!(error.kind() == ErrorKind::Limit && error.message().contains("8193"), "{error}");
    }
}

/// An array with the references of one chunk.
fn array_of(chunk: &Table<'_>) -> Table<'static> {
    // After the node's id the offset of the list, the list with one offset, and the table with its fields before it.
    let mut bytes = vec![2; 8];
    bytes.extend_from_slice(&4u32.to_le_bytes());
    bytes.extend_from_slice(&1u32.to_le_bytes());
    let fields = u16::try_from(4 + 2 * chunk.slots.len()).unwrap();
    let len = u32::from(fields.next_multiple_of(4));
    bytes.extend_from_slice(&(4 + len).to_le_bytes());
    let start = bytes.len();
    bytes.extend_from_slice(&fields.to_le_bytes());
    bytes.extend_from_slice(&100u16.to_le_bytes());
    chunk.slots.iter().for_each(|place| bytes.extend_from_slice(&place.to_le_bytes()));
    bytes.resize(start + usize::try_from(len).unwrap(), 0);
    bytes.extend_from_slice(&len.to_le_bytes());
    bytes.extend_from_slice(&chunk.bytes);
    Table { slots: &[4, 12], bytes }
}

#[test]
fn texts_of_a_configuration_that_share_bytes_are_bounded() {
    // A vector of texts is not read, but a map whose keys are all the same long text is.
    let text = vec![b'k'; 60_000];
    let mut bytes = text.clone();
    bytes.push(0);
    let keys = bytes.len();
    let count: u32 = 1000;
    // Offsets lead backwards to the text.
    for number in 0..count {
        bytes.extend_from_slice(&(u32::try_from(keys).unwrap() + 4 * number).to_le_bytes());
    }
    let map = bytes.len();
    bytes.extend_from_slice(&u32::try_from(map - keys).unwrap().to_le_bytes());
    bytes.extend_from_slice(&4u32.to_le_bytes());
    bytes.extend_from_slice(&count.to_le_bytes());
    let values = bytes.len();
    bytes.resize(bytes.len() + 4 * usize::try_from(count).unwrap(), 0);
    // The types of the values: null.
    bytes.resize(bytes.len() + usize::try_from(count).unwrap(), 0);
    let root = u32::try_from(bytes.len() - values).unwrap();
    bytes.extend_from_slice(&root.to_le_bytes());
    // The type of the root, a map with elements of four bytes, and its width.
    bytes.extend_from_slice(&[(9 << 2) | 2, 4]);
    let error = flex::parse(&bytes).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}
