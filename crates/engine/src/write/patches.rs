//! Changes of a file in place that belong together.
use ncirrus_layout::{ObjectId, StorePut};
use ncirrus_store::LocalStore;

/// Changes whose first and last byte are closer than this are written at once.
const MAX_BYTES: u64 = 64 << 10;

/// The bytes of the part of an object in which all of `puts` lie, as they are afterwards. `None` if the puts concern
/// more than one short part that is already there.
pub(super) fn whole_part(local: &dyn LocalStore, puts: &[StorePut]) -> Option<(ObjectId, u64, Vec<u8>)> {
    let [StorePut::Patch { object, .. }, _, ..] = puts else { return None };
    let (mut start, mut end) = (u64::MAX, 0);
    for put in puts {
        let StorePut::Patch { object: other, offset, body } = put else { return None };
        if other != object {
            return None;
        }
        start = start.min(*offset);
        end = end.max(offset.checked_add(u64::try_from(body.len()).ok()?)?);
    }
    let len = end.checked_sub(start).filter(|len| *len <= MAX_BYTES)?;
    let mut part = vec![0; usize::try_from(len).ok()?];
    // Whatever prevents reading is left to the single writes, which report it.
    if local.read_into(object, start, &mut part).ok()?? < part.len() {
        return None;
    }
    for put in puts {
        let StorePut::Patch { offset, body, .. } = put else { return None };
        let at = usize::try_from(offset - start).ok()?;
        part.get_mut(at..at + body.len())?.copy_from_slice(body);
    }
    Some((object.clone(), start, part))
}
