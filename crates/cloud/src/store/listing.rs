//! Listings of S3-compatible stores, with unmodified keys. The provider's client fails a whole listing for one key
//! that is not a valid path to it (`a//b`, `a/../b`), and treats `/a` and `a/` as `a`.
use super::{CloudStore, entries};
use crate::asking::{BucketClient, failed};
use crate::fault::CloudFault;
use crate::xml;
use ncirrus_layout::xml::XmlNode;
use ncirrus_layout::{Listing, LockExt, ObjectId, Result};
use ncirrus_store::{ObjectPage, key};
use object_store::path::Path;
use std::sync::Mutex;
use std::time::SystemTime;

/// A page of a listing.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ListingPage {
    pub(super) objects: Vec<ListedKey>,
    /// Common prefixes up to the next slash.
    prefixes: Vec<String>,
    /// Where the next page starts.
    pub(super) next: Option<String>,
}

/// An object of a listing.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListedKey {
    pub(super) key: String,
    size: u64,
    pub(super) changed: Option<SystemTime>,
}

/// Keys that were listed and cannot be addressed, for the user's information.
#[derive(Debug, Default)]
pub(super) struct OddKeys(Mutex<Vec<String>>);

/// Maximum number of keys that are reported.
const MAX_KEYS: usize = 20;

impl OddKeys {
    /// What was left out.
    pub(super) fn reported(&self) -> Vec<String> {
        self.0.guard().clone()
    }

    fn note(&self, what: &str, key: &str) {
        let mut reported = self.0.guard();
        let line = format!("{what} {key:?} left out: {WHY}");
        if reported.len() < MAX_KEYS && !reported.contains(&line) {
            reported.push(line);
        }
    }
}

const WHY: &str = "an empty part, \".\", \"..\" or a control character cannot be named";

/// Whether a key can be requested.
pub(super) fn is_named(key: &str) -> bool {
    !key.is_empty() && key.split('/').all(key::is_name) && Path::parse(key).is_ok()
}

/// Whether a key is a folder marker, as consoles create them.
fn is_folder(key: &str) -> bool {
    key.strip_suffix('/').is_some_and(is_named)
}

impl BucketClient {
    /// A page of the keys below a folder: direct members, or all levels.
    pub(super) async fn list(
        &self,
        folder: &str,
        is_deep: bool,
        after: Option<&str>,
    ) -> std::result::Result<ListingPage, CloudFault> {
        let mut query = vec![("list-type", "2"), ("prefix", folder)];
        query.extend((!is_deep).then_some(("delimiter", "/")));
        query.extend(after.map(|after| ("continuation-token", after)));
        let (status, text) = self.ask(&query).await?;
        if !status.is_success() {
            return Err(CloudFault::of_answer(status, &text));
        }
        let page = parse(&text).map_err(failed)?;
        match page.next.as_deref() {
            Some(next) if Some(next) == after => Err(failed("the listing does not advance")),
            _ => Ok(page),
        }
    }
}

fn parse(text: &str) -> std::result::Result<ListingPage, &'static str> {
    let answer = xml::parse(text).filter(|answer| answer.name == "ListBucketResult");
    let answer = answer.ok_or("the answer is not a listing")?;
    let objects: Option<Vec<ListedKey>> = answer.each("Contents").map(listed).collect();
    let prefixes =
        answer.each("CommonPrefixes").flat_map(|within| within.each("Prefix")).map(|prefix| &prefix.text);
    let next = answer.text_of("NextContinuationToken");
    if next.is_none() && answer.text_of("IsTruncated") == Some("true") {
        return Err("the listing is truncated without a continuation token");
    }
    Ok(ListingPage {
        objects: objects.ok_or("an entry of the listing lacks its key or size")?,
        prefixes: prefixes.cloned().collect(),
        next: next.map(str::to_owned),
    })
}

fn listed(object: &XmlNode) -> Option<ListedKey> {
    let size = object.text_of("Size")?.trim().parse().ok()?;
    let changed = object.text_of("LastModified").and_then(xml::time);
    Some(ListedKey { key: object.text_of("Key")?.to_owned(), size, changed })
}

impl CloudStore {
    /// The names directly below a prefix.
    pub(super) async fn names_listed(
        &self,
        asking: &BucketClient,
        prefix: &ObjectId,
        after: Option<&str>,
    ) -> Result<Listing> {
        let folder = key::folder(prefix.key());
        let page = asking.list(&folder, false, after).await.map_err(|fault| fault.at(prefix))?;
        let (named, odd): (Vec<_>, Vec<_>) = page.prefixes.into_iter().partition(|prefix| is_folder(prefix));
        odd.iter().for_each(|odd| self.odd.note("keys below", odd));
        let objects = page.objects.iter().filter(|object| object.key != folder && self.can_name(&object.key));
        let objects = objects.map(|object| (object.key.as_str(), false));
        let prefixes = named.iter().map(|prefix| (prefix.as_str(), true));
        Ok(Listing { entries: entries(&folder, prefixes.chain(objects)), next: page.next })
    }

    /// All objects below a prefix.
    pub(super) async fn objects_listed(
        &self,
        asking: &BucketClient,
        prefix: &ObjectId,
        after: Option<&str>,
    ) -> Result<ObjectPage> {
        let folder = key::folder(prefix.key());
        let page = asking.list(&folder, true, after).await.map_err(|fault| fault.at(prefix))?;
        let mut found = ObjectPage { next: page.next, ..ObjectPage::default() };
        for object in page.objects.into_iter().filter(|object| object.key != folder) {
            if is_named(&object.key) {
                found.objects.push((ObjectId::new(self.id.clone(), object.key), object.size));
            } else {
                found.unnamed.push((object.key, object.size));
            }
        }
        Ok(found)
    }

    fn can_name(&self, key: &str) -> bool {
        let can = is_named(key);
        if !can && !is_folder(key) {
            self.odd.note("key", key);
        }
        can
    }
}

#[cfg(test)]
mod tests;
