//! The first bytes of local files, where formats begin to read: for a small file these are all of it, metadata and
//! values.
use super::resolve;
use bytes::Bytes;
use ncirrus_layout::{ObjectBytes, ObjectId, Want};
pub(crate) use ncirrus_store::FRONT;
use std::sync::{PoisonError, RwLock};

/// The first bytes of objects that are being parsed.
#[derive(Default)]
pub(crate) struct ObjectFronts(RwLock<Vec<(ObjectId, ObjectBytes)>>);

/// Objects whose fronts are kept: that of a dataset, and of the last ones that it refers to.
const MAX_OBJECTS: usize = 8;

impl ObjectFronts {
    /// Keeps the first bytes of an object; of too many, the first one and the most recent ones stay.
    pub(crate) fn keep(&self, object: &ObjectId, blob: &ObjectBytes) {
        let mut fronts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if fronts.iter().any(|(known, _)| known == object) {
            return;
        }
        if fronts.len() >= MAX_OBJECTS {
            fronts.remove(1);
        }
        fronts.push((object.clone(), blob.clone()));
    }

    /// The wanted bytes of an object, if they are within its front.
    pub(crate) fn find(&self, object: &ObjectId, want: &Want) -> Option<ObjectBytes> {
        if let Want::Range(range) | Want::Parse(range) = want
            && range.start >= FRONT
        {
            return None;
        }
        self.with(object, |front| {
            let range = resolve(want, front.size);
            let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
            let is_there = start <= end && end <= front.bytes.len();
            is_there.then(|| ObjectBytes {
                bytes: front.bytes.slice(start..end),
                offset: range.start,
                ..front.clone()
            })
        })
    }

    /// All bytes of an object, if its front covers them.
    pub(crate) fn whole(&self, object: &ObjectId) -> Option<Bytes> {
        let is_whole = |front: &&ObjectBytes| front.bytes.len() as u64 == front.size;
        self.with(object, |front| Some(front).filter(is_whole).map(|front| front.bytes.clone()))
    }

    fn with<T>(&self, object: &ObjectId, f: impl FnOnce(&ObjectBytes) -> Option<T>) -> Option<T> {
        let fronts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        fronts.iter().find(|(known, _)| known == object).and_then(|(_, front)| f(front))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_layout::{StoreId, Tag};

    fn front(len: usize, size: u64) -> (ObjectFronts, ObjectId) {
        let object = ObjectId::new(StoreId::new("memory:t"), "a");
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(len).collect();
        let fronts = ObjectFronts::default();
        fronts.keep(&object, &ObjectBytes { bytes: bytes.into(), offset: 0, size, tag: Tag::new("1") });
        (fronts, object)
    }

    #[test]
    fn only_what_lies_in_the_front_is_found() {
        let (fronts, object) = front(10, 20);
        let found = |want| fronts.find(&object, &want).map(|blob| (blob.offset, blob.bytes.to_vec()));
        assert_eq!(found(Want::Range(2..4)), Some((2, vec![2, 3])));
        assert_eq!(found(Want::Parse(0..10)).map(|(_, bytes)| bytes.len()), Some(10));
        assert_eq!(found(Want::Parse(9..11)), None);
        assert_eq!(found(Want::Suffix(4)), None);
        assert_eq!((found(Want::All), fronts.whole(&object)), (None, None));
    }

    #[test]
    fn a_front_that_is_all_of_an_object_is_cut_at_its_end() {
        let (fronts, object) = front(10, 10);
        let found = |want| fronts.find(&object, &want).map(|blob| (blob.offset, blob.bytes.to_vec()));
        assert_eq!(found(Want::Range(8..20)), Some((8, vec![8, 9])));
        assert_eq!(found(Want::Range(15..20)), Some((10, vec![])));
        assert_eq!(found(Want::Suffix(2)), Some((8, vec![8, 9])));
        assert_eq!(fronts.whole(&object).map(|bytes| bytes.len()), Some(10));
    }

    #[test]
    fn of_many_objects_the_first_and_the_last_are_kept() {
        let (fronts, object) = front(10, 10);
        let other = |number: usize| ObjectId::new(object.store.clone(), format!("{number}"));
        let blob = fronts.find(&object, &Want::All).unwrap();
        (0..MAX_OBJECTS).for_each(|number| fronts.keep(&other(number), &blob));
        let is_kept = |object: &ObjectId| fronts.whole(object).is_some();
        assert!(
            is_kept(&object) && !is_kept(&other(0)) && is_kept(&other(1)) && is_kept(&other(MAX_OBJECTS - 1))
        );
    }
}
