//! Single puts on local stores.
use crate::request_log;
use bytes::Bytes;
use ncirrus_layout::{Error, Listing, ObjectId, Result, StorePut};
use ncirrus_store::{LocalStore, PutBody, PutCondition};

/// Bytes that are moved or copied at once.
pub(super) const MOVE_BYTES: usize = 4 << 20;

/// Carries out one put on a local store.
///
/// # Errors
/// Errors of the store.
pub(super) fn put_locally(local: &dyn LocalStore, put: StorePut) -> Result<()> {
    match &put {
        StorePut::Object { object, body } => request_log::put_locally("write", object, None, body.len()),
        StorePut::Patch { object, offset, body } => {
            request_log::put_locally("write", object, Some(*offset), body.len());
        }
        StorePut::Delete { object } => request_log::put_locally("delete", object, None, 0),
        _ => {}
    }
    match put {
        StorePut::Object { object, body } => {
            local.put_untagged(&object, PutBody::Shared(body), &PutCondition::None)
        }
        StorePut::Patch { object, offset, body } => local.write_at(&object, offset, &body),
        StorePut::Resize { object, len } => local.resize(&object, len),
        StorePut::Move { object, from, to, len } => move_bytes(local, &object, (from, to, len)),
        StorePut::Delete { object } => local.delete(&object),
        StorePut::DeleteTree { prefix } => local.delete_tree(&prefix),
        StorePut::CopyTree { from, to } => copy_tree(local, &from, &to),
        StorePut::RenameTree { from, to } => local.rename(&from, &to),
    }
}

fn copy_tree(local: &dyn LocalStore, from: &ObjectId, to: &ObjectId) -> Result<()> {
    let (mut objects, mut prefixes) = (Vec::new(), vec![from.clone()]);
    while let Some(prefix) = prefixes.pop() {
        let mut page = None;
        loop {
            let listing = local.list(&prefix, page.as_deref())?;
            sort_entries(&prefix, &listing, &mut objects, &mut prefixes);
            page = listing.next;
            if page.is_none() {
                break;
            }
        }
    }
    for object in objects {
        let Some(copy) = moved(&object, from, to) else { continue };
        let mut body = Vec::new();
        if local.read_whole(&object, u64::MAX, &mut body)?.is_some() {
            local.put_bytes(&copy, Bytes::from(body), &PutCondition::None)?;
        }
    }
    Ok(())
}

pub(super) fn sort_entries(
    prefix: &ObjectId,
    listing: &Listing,
    objects: &mut Vec<ObjectId>,
    prefixes: &mut Vec<ObjectId>,
) {
    for entry in &listing.entries {
        let list = if entry.is_prefix { &mut *prefixes } else { &mut *objects };
        list.push(prefix.child(&entry.name));
    }
}

/// The object below `from` with the name that it has below `to`.
pub(super) fn moved(object: &ObjectId, from: &ObjectId, to: &ObjectId) -> Option<ObjectId> {
    Some(to.child(object.key().strip_prefix(from.key())?.trim_start_matches('/')))
}

/// Moves bytes inside an object, starting at the end from which overlapping bytes are safe.
fn move_bytes(local: &dyn LocalStore, object: &ObjectId, (from, to, len): (u64, u64, u64)) -> Result<()> {
    let (mut buffer, mut done) = (vec![0; MOVE_BYTES], 0);
    while done < len {
        let part = (len - done).min(MOVE_BYTES as u64);
        let at = if to > from { len - done - part } else { done };
        let size = usize::try_from(part).unwrap_or(MOVE_BYTES);
        let piece = buffer.get_mut(..size);
        let piece = piece.ok_or_else(|| Error::internal(format!("{size} bytes are moved at once")))?;
        let have = local.read_into(object, from + at, piece)?.unwrap_or(0);
        if have < piece.len() {
            return Err(Error::malformed("the file ends inside bytes that are to be moved")
                .at_object(object)
                .at_offset(from + at));
        }
        local.write_at(object, to + at, piece)?;
        done += part;
    }
    Ok(())
}
