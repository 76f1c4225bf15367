//! Objects outside the store of a dataset that its chunks are parts of.
use crate::{ObjectId, StoreId};
use std::sync::Arc;

/// A prefix below which a dataset refers to objects of other stores, as the dataset describes it. Whether it may be
/// reached is decided when it is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutsideContainer {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// The address with which the addresses of all objects in it begin.
    pub prefix: String,
    /// The kind of its store in the words of the format, such as `s3`.
    pub kind: String,
    /// Settings of its store in the words of the format, such as `region`.
    pub settings: Vec<(String, String)>,
}

/// An object outside the store of a dataset, and the state that it must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutsideObject {
    /// Its address.
    pub address: Arc<str>,
    /// The ETag that it must have.
    pub etag: Option<Arc<str>>,
    /// When it may have been changed last: seconds since 1970.
    pub unmodified_since: Option<u64>,
}

/// What the query of an object begins with that represents one outside.
const QUERY: &str = "outside:";

impl OutsideObject {
    /// The object that represents it in the dataset's own store: no key, and what is known of it as query.
    #[must_use]
    pub fn object(&self, store: &StoreId) -> ObjectId {
        let since = self.unmodified_since.map_or(String::new(), |since| since.to_string());
        let etag = self.etag.as_deref().unwrap_or_default();
        let query = format!("{QUERY}{since}:{}:{etag}{}", etag.len(), self.address);
        ObjectId::new(store.clone(), "").with_query(query)
    }

    /// The object that another one represents; `None` if it represents none.
    #[must_use]
    pub fn of(object: &ObjectId) -> Option<Self> {
        let query = object.query().filter(|_| object.key().is_empty())?.strip_prefix(QUERY)?;
        let (since, rest) = query.split_once(':')?;
        let (len, rest) = rest.split_once(':')?;
        let (etag, address) = rest.split_at_checked(len.parse().ok()?)?;
        Some(Self {
            address: address.into(),
            etag: (!etag.is_empty()).then(|| etag.into()),
            unmodified_since: since.parse().ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_outside_is_found_again() {
        let store = StoreId::new("s3://bucket");
        for (etag, since) in [(None, None), (Some("\"a:b\""), None), (None, Some(7)), (Some("é"), Some(0))] {
            let address = "https://example.org/a:b?c=d".into();
            let outside = OutsideObject { address, etag: etag.map(Into::into), unmodified_since: since };
            assert_eq!(OutsideObject::of(&outside.object(&store)), Some(outside));
        }
        for object in [
            ObjectId::new(store.clone(), "a"),
            ObjectId::new(store.clone(), "a").with_query("outside::0:x"),
            ObjectId::new(store.clone(), "").with_query("outside::9:x"),
            ObjectId::new(store, "").with_query("1=x"),
        ] {
            assert_eq!(OutsideObject::of(&object), None);
        }
    }
}
