//! The laws of every store: call these from the tests of a new one.
//!
//! Each law works below a prefix of its own, so that they may share a store. They fail by an assertion.
use crate::store::{LocalStore, PutBody, PutCondition, Store};
use bytes::Bytes;
use ncirrus_layout::{ErrorKind, ListEntry, ObjectBytes, ObjectId, Result, Want};

/// All laws of a writable [`Store`], below `root`.
///
/// # Errors
/// Unexpected errors of the store.
pub async fn writable(store: &dyn Store, root: &ObjectId) -> Result<()> {
    absent_is_none(store, &root.child("absent")).await?;
    ranges_are_cut_at_the_end(store, &root.child("ranges")).await?;
    puts_replace_whole_objects(store, &root.child("puts")).await?;
    listing_names_what_is_directly_below(store, &root.child("listing")).await?;
    deleting_is_idempotent(store, &root.child("deleting")).await?;
    keys_do_not_leave_the_store(store, root).await
}

/// An object that was never put is `None`, and so is a prefix.
///
/// # Errors
/// Unexpected errors of the store.
pub async fn absent_is_none(store: &dyn Store, root: &ObjectId) -> Result<()> {
    assert_eq!(store.get(&root.child("nothing"), &Want::All).await?, None, "absent object");
    assert_eq!(store.get(&root.child("nothing/below"), &Want::Range(0..4)).await?, None, "absent prefix");
    store.put(&root.child("prefix/object"), Bytes::from_static(b"x"), PutCondition::None).await?;
    assert_eq!(store.get(&root.child("prefix"), &Want::All).await?, None, "a prefix is no object");
    assert_eq!(
        store.get(&root.child("prefix/object/below"), &Want::All).await?,
        None,
        "nothing lies below an object"
    );
    assert_eq!(store.list(&root.child("nothing"), None).await?.entries, [], "nothing below an absent prefix");
    Ok(())
}

/// Ranges return the existing bytes, and the size of the object.
///
/// # Errors
/// Unexpected errors of the store.
pub async fn ranges_are_cut_at_the_end(store: &dyn Store, root: &ObjectId) -> Result<()> {
    let object = root.child("digits");
    store.put(&object, Bytes::from_static(b"0123456789"), PutCondition::None).await?;
    store.put(&root.child("empty"), Bytes::new(), PutCondition::None).await?;
    read_digits(store, &object).await?;
    let empty = read(store, &root.child("empty"), &Want::All).await?;
    assert_eq!((empty.bytes.as_ref(), empty.size), (&b""[..], 0), "an empty object is there");
    let empty = read(store, &root.child("empty"), &Want::Suffix(3)).await?;
    assert_eq!((empty.bytes.as_ref(), empty.size), (&b""[..], 0), "the end of an empty object");
    Ok(())
}

/// An object that holds `0123456789` reads as that, whatever range is requested. The only law that writes nothing,
/// for read-only stores; absent objects, keys and names are not checked.
///
/// # Errors
/// Unexpected errors of the store.
pub async fn read_digits(store: &dyn Store, object: &ObjectId) -> Result<()> {
    let wants: [(Want, u64, &[u8]); 8] = [
        (Want::All, 0, b"0123456789"),
        (Want::Range(2..5), 2, b"234"),
        (Want::Range(0..1), 0, b"0"),
        (Want::Range(8..50), 8, b"89"),
        (Want::Range(10..20), 10, b""),
        (Want::Range(4..4), 4, b""),
        (Want::Suffix(3), 7, b"789"),
        (Want::Suffix(30), 0, b"0123456789"),
    ];
    for (want, offset, bytes) in wants {
        let blob = read(store, object, &want).await?;
        assert_eq!((blob.bytes.as_ref(), blob.size), (bytes, 10), "{want:?}");
        assert!(bytes.is_empty() || blob.offset == offset, "{want:?} starts at {}", blob.offset);
    }
    let parsed = read(store, object, &Want::Parse(1..3)).await?;
    let start = usize::try_from(1 - parsed.offset).unwrap_or(usize::MAX);
    assert_eq!(parsed.bytes.get(start..start + 2), Some(&b"12"[..]), "at least what is to be parsed");
    Ok(())
}

/// A put replaces all of an object, its tag distinguishes the states, and preconditions hold.
///
/// # Errors
/// Unexpected errors of the store.
pub async fn puts_replace_whole_objects(store: &dyn Store, root: &ObjectId) -> Result<()> {
    let object = root.child("a/b/c");
    let first = store.put(&object, Bytes::from_static(b"a longer one"), PutCondition::Absent).await?;
    let old = read(store, &object, &Want::All).await?;
    assert_eq!(old.tag, first, "the tag of a put is the tag of the object");
    let again = store.put(&object, Bytes::from_static(b"x"), PutCondition::Absent).await;
    assert_eq!(kind(again), Some(ErrorKind::Conflict), "exists already");
    let second =
        store.put(&object, Bytes::from_static(b"short"), PutCondition::Matches(first.clone())).await?;
    assert_ne!(first, second, "another state, another tag");
    assert_eq!(read(store, &object, &Want::All).await?.bytes.as_ref(), b"short", "no tail of the old bytes");
    let stale = store.put(&object, Bytes::from_static(b"x"), PutCondition::Matches(first)).await;
    assert_eq!(kind(stale), Some(ErrorKind::Conflict), "changed by someone else");
    assert_eq!(old.bytes.as_ref(), b"a longer one", "bytes at hand do not change");
    store.put(&object, Bytes::from_static(b"third"), PutCondition::None).await?;
    assert_eq!(read(store, &object, &Want::All).await?.bytes.as_ref(), b"third");
    Ok(())
}

/// A listing has each name directly below the prefix once, in byte order, with prefixes marked.
///
/// # Errors
/// Unexpected errors of the store.
pub async fn listing_names_what_is_directly_below(store: &dyn Store, root: &ObjectId) -> Result<()> {
    for name in ["v/0.0", "v/0.1", ".zgroup", "v/.zarray", "va", "sub/deep/er", "\u{e9}t\u{e9} 1", "Z"] {
        store.put(&root.child(name), Bytes::from_static(b"1"), PutCondition::None).await?;
    }
    let names = [
        (".zgroup", false),
        ("Z", false),
        ("sub", true),
        ("v", true),
        ("va", false),
        ("\u{e9}t\u{e9} 1", false),
    ];
    let entries: Vec<ListEntry> = names
        .iter()
        .map(|(name, is_prefix)| ListEntry { name: (*name).to_owned(), is_prefix: *is_prefix })
        .collect();
    assert_eq!(list_all(store, root).await?, entries);
    let below: Vec<String> =
        list_all(store, &root.child("v")).await?.into_iter().map(|entry| entry.name).collect();
    assert_eq!(below, [".zarray", "0.0", "0.1"], "names that merely start alike stay out");
    Ok(())
}

/// Deleted objects are gone, and deleted trees with everything below; absent ones may be deleted.
///
/// # Errors
/// Unexpected errors of the store.
pub async fn deleting_is_idempotent(store: &dyn Store, root: &ObjectId) -> Result<()> {
    for name in ["one", "tree/a", "tree/b/c", "treetop"] {
        store.put(&root.child(name), Bytes::from_static(b"1"), PutCondition::None).await?;
    }
    store.delete(&root.child("one")).await?;
    store.delete(&root.child("one")).await?;
    store.delete(&root.child("tree")).await?;
    assert_eq!(store.get(&root.child("one"), &Want::All).await?, None);
    assert!(
        store.get(&root.child("tree/a"), &Want::All).await?.is_some(),
        "deleting a prefix as an object is nothing"
    );
    store.delete_tree(&root.child("tree")).await?;
    store.delete_tree(&root.child("tree")).await?;
    let left: Vec<String> = list_all(store, root).await?.into_iter().map(|entry| entry.name).collect();
    assert_eq!(left, ["treetop"], "names that merely start alike stay");
    store.delete_tree(&root.child("treetop")).await?;
    assert_eq!(store.get(&root.child("treetop"), &Want::All).await?, None, "a tree may be one object");
    Ok(())
}

/// Keys with `..` and the like are refused, for reading and writing.
///
/// # Errors
/// Unexpected errors of the store.
pub async fn keys_do_not_leave_the_store(store: &dyn Store, root: &ObjectId) -> Result<()> {
    for key in ["../x", "a/../../x", "/etc/passwd", "a//b", "a/", ".", "a\0b"] {
        let object = ObjectId::new(root.store.clone(), key);
        assert_eq!(kind(store.get(&object, &Want::All).await), Some(ErrorKind::Invalid), "reading {key:?}");
        let put = store.put(&object, Bytes::new(), PutCondition::None).await;
        assert_eq!(kind(put), Some(ErrorKind::Invalid), "writing {key:?}");
        assert_eq!(kind(store.delete_tree(&object).await), Some(ErrorKind::Invalid), "removing {key:?}");
    }
    Ok(())
}

/// What a [`LocalStore`] guarantees beyond a [`Store`].
///
/// # Errors
/// Unexpected errors of the store.
pub fn local(store: &dyn LocalStore, root: &ObjectId) -> Result<()> {
    let object = root.child("local/object");
    let mut buffer = b"kept ".to_vec();
    assert_eq!(store.read_whole(&object, 100, &mut buffer)?, None);
    assert_eq!(store.read_into(&object, 0, &mut [0; 4])?, None);
    assert_eq!(store.stat(&object)?, None);
    let tag = store.put(&object, b"0123456789", &PutCondition::None)?;
    assert_eq!(store.stat(&object)?, Some((10, tag)));
    assert_eq!(store.read_whole(&object, 10, &mut buffer)?, Some(10));
    assert_eq!(buffer, b"kept 0123456789");
    assert_eq!(kind(store.read_whole(&object, 9, &mut buffer)), Some(ErrorKind::Limit));
    let mut four = [0; 4];
    assert_eq!(store.read_into(&object, 8, &mut four)?, Some(2));
    assert_eq!(&four[..2], b"89");
    assert_eq!(store.read_into(&object, 80, &mut four)?, Some(0));
    let prefix = root.child("local");
    assert_eq!(
        (store.read_into(&prefix, 0, &mut four)?, store.stat(&prefix)?),
        (None, None),
        "a prefix is no object"
    );
    assert_eq!(store.read_whole(&prefix, 10, &mut buffer)?, None, "a prefix is no object");
    for room in [0, 4, 10, 11, 64] {
        let mut buffer = Vec::with_capacity(2 + room);
        buffer.extend(b"k ");
        assert_eq!(store.read_whole(&prefix, 10, &mut buffer)?, None);
        assert_eq!(kind(store.read_whole(&object, 9, &mut buffer)), Some(ErrorKind::Limit));
        assert_eq!(buffer, b"k ", "nothing is added, with room for {room} bytes");
        assert_eq!(store.read_whole(&object, 10, &mut buffer)?, Some(10));
        assert_eq!(buffer, b"k 0123456789", "with room for {room} bytes");
    }
    store.put(&object, b"", &PutCondition::None)?;
    assert_eq!(store.read_whole(&object, 10, &mut buffer)?, Some(0));
    for (body, expected) in [
        (PutBody::Lent(b"lent"), b"lent".as_slice()),
        (PutBody::Shared(Bytes::from_static(b"shared")), b"shared"),
    ] {
        store.put_untagged(&object, body, &PutCondition::None)?;
        assert_eq!(store.read(&object, &Want::All)?.map(|blob| blob.bytes).as_deref(), Some(expected));
    }
    let untagged = store.put_untagged(&object, PutBody::Lent(b"x"), &PutCondition::Absent);
    assert_eq!(kind(untagged), Some(ErrorKind::Conflict), "there is an object");
    for blocked in ["local", "local/object/below"] {
        let put = store.put(&root.child(blocked), b"x", &PutCondition::None);
        assert_eq!(kind(put), Some(ErrorKind::Conflict), "{blocked} is blocked");
    }
    store.barrier()
}

/// What a [`LocalStore`] that can change objects in place guarantees.
///
/// # Errors
/// Unexpected errors of the store.
pub fn in_place(store: &dyn LocalStore, root: &ObjectId) -> Result<()> {
    let object = root.child("in_place/a/object");
    store.write_at(&object, 3, b"xyz")?;
    store.write_at(&object, 4, b"Y")?;
    let whole = store.read(&object, &Want::All)?.map(|blob| blob.bytes);
    assert_eq!(whole.as_deref(), Some(&b"\0\0\0xYz"[..]), "a gap holds zeros");
    store.resize(&object, 5)?;
    store.resize(&object, 7)?;
    let whole = store.read(&object, &Want::All)?.map(|blob| blob.bytes);
    assert_eq!(whole.as_deref(), Some(&b"\0\0\0xY\0\0"[..]));
    let tree = root.child("in_place/a");
    let moved = root.child("in_place/new/b");
    store.rename(&tree, &moved)?;
    assert_eq!(store.stat(&object)?, None);
    assert_eq!(store.stat(&moved.child("object"))?.map(|(size, _)| size), Some(7));
    store.put(&object, b"again", &PutCondition::None)?;
    assert_eq!(kind(store.rename(&tree, &moved)), Some(ErrorKind::Conflict), "something is at the new place");
    store.rename(&root.child("in_place/nothing"), &root.child("in_place/other"))?;
    store.barrier()
}

async fn read(store: &dyn Store, object: &ObjectId, want: &Want) -> Result<ObjectBytes> {
    let blob = store.get(object, want).await?;
    blob.ok_or_else(|| ncirrus_layout::Error::not_found("an object that was put is absent").at_object(object))
}

async fn list_all(store: &dyn Store, prefix: &ObjectId) -> Result<Vec<ListEntry>> {
    let mut entries = Vec::new();
    let mut page = None;
    loop {
        let listing = store.list(prefix, page.as_deref()).await?;
        entries.extend(listing.entries);
        page = listing.next;
        if page.is_none() {
            return Ok(entries);
        }
    }
}

fn kind<T>(result: Result<T>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}
