//! What killed writers left behind in a bucket.
use super::listing::is_named;
use super::{CloudStore, path_of};
use crate::asking::{BucketClient, failed};
use crate::fault::CloudFault;
use crate::xml;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, TryStreamExt};
use ncirrus_layout::xml::XmlNode;
use ncirrus_layout::{Error, ObjectId, Result};
use ncirrus_store::{StoreUpkeep, UnfinishedUpload, key};
use std::time::{Duration, SystemTime};

impl CloudStore {
    /// Multipart uploads below (and at) a prefix that were not completed; `None` if they cannot be listed.
    async fn uploads_below(&self, prefix: &ObjectId) -> Result<Option<Vec<UnfinishedUpload>>> {
        let Some(asking) = &self.other else { return Ok(None) };
        let key = key::check(prefix)?;
        let (mut found, mut after) = (Vec::new(), None);
        loop {
            let mut query = vec![("uploads", ""), ("prefix", key)];
            if let Some((key, id)) = &after {
                let (key, id): (&String, &String) = (key, id);
                query.extend([("key-marker", key.as_str()), ("upload-id-marker", id.as_str())]);
            }
            let page = page(asking, &query).await.map_err(|fault| fault.at(prefix))?;
            found.extend(uploads(&page).filter_map(|(key, id, since)| {
                Some(UnfinishedUpload { object: self.root().child(key), id: id.to_owned(), since: since? })
            }));
            let next = page.text_of("NextKeyMarker").zip(page.text_of("NextUploadIdMarker"));
            let next = next.map(|(key, id)| (key.to_owned(), id.to_owned()));
            // A server that returns the same marker again would cause an endless loop.
            if page.text_of("IsTruncated") != Some("true") || next.is_none() || next == after {
                break;
            }
            after = next;
        }
        let below = key::folder(key);
        found.retain(|upload| upload.object.key() == key || upload.object.key().starts_with(&below));
        Ok(Some(found))
    }

    /// Aborts an upload.
    async fn end_upload(&self, upload: &UnfinishedUpload) -> Result<()> {
        let Some(parts) = &self.parts else { return Ok(()) };
        let path = path_of(&upload.object)?;
        match parts.abort_multipart(&path, &upload.id).await.map_err(CloudFault::from) {
            Ok(()) | Err(CloudFault::Absent) => Ok(()),
            Err(fault) => Err(fault.at(&upload.object)),
        }
    }

    /// Every object below (and at) a prefix, with its time of last modification.
    async fn all_dated(&self, prefix: &ObjectId) -> Result<Vec<(ObjectId, SystemTime)>> {
        let path = path_of(prefix)?;
        if let Some(asking) = &self.other {
            return self.dated_listed(asking, prefix).await;
        }
        let (root, objects) = (self.root(), self.objects.list(Some(&path)));
        let reported = objects.map_ok(|meta| {
            let seconds = u64::try_from(meta.last_modified.timestamp()).unwrap_or(0);
            (root.child(meta.location.as_ref()), SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
        });
        reported.try_collect().await.map_err(|error| CloudFault::from(error).at(prefix))
    }

    async fn dated_listed(
        &self,
        asking: &BucketClient,
        prefix: &ObjectId,
    ) -> Result<Vec<(ObjectId, SystemTime)>> {
        let (folder, mut found, mut after) = (key::folder(prefix.key()), Vec::new(), None);
        loop {
            let page = asking.list(&folder, true, after.as_deref()).await;
            let page = page.map_err(|fault| fault.at(prefix))?;
            let named = page.objects.into_iter().filter(|object| is_named(&object.key));
            found.extend(named.map(|object| {
                let changed = object.changed.unwrap_or(SystemTime::UNIX_EPOCH);
                (self.root().child(&object.key), changed)
            }));
            after = page.next;
            if after.is_none() {
                return Ok(found);
            }
        }
    }
}

impl StoreUpkeep for CloudStore {
    fn dated_below<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<Vec<(ObjectId, SystemTime)>>> {
        self.all_dated(prefix).boxed()
    }

    fn unfinished<'a>(
        &'a self,
        prefix: &'a ObjectId,
    ) -> BoxFuture<'a, Result<Option<Vec<UnfinishedUpload>>>> {
        self.uploads_below(prefix).boxed()
    }

    fn abandon<'a>(&'a self, upload: &'a UnfinishedUpload) -> BoxFuture<'a, Result<()>> {
        self.end_upload(upload).boxed()
    }
}

/// A page of the uploads of a bucket.
async fn page(asking: &BucketClient, query: &[(&str, &str)]) -> std::result::Result<XmlNode, CloudFault> {
    let (status, text) = asking.ask(query).await?;
    match status.as_u16() {
        200..300 => xml::parse(&text).ok_or_else(|| failed("the answer is not a list of uploads")),
        401 | 403 => Err(CloudFault::Denied("the unfinished uploads cannot be listed".to_owned())),
        501 => Err(CloudFault::Other(Error::unsupported("the server does not list unfinished uploads"))),
        other => Err(failed(format!("the unfinished uploads cannot be listed: status {other}"))),
    }
}

/// Key, identifier and time of the uploads of an answer.
fn uploads(page: &XmlNode) -> impl Iterator<Item = (&str, &str, Option<SystemTime>)> {
    page.each("Upload").filter_map(|upload| {
        let since = upload.text_of("Initiated").and_then(xml::time);
        Some((upload.text_of("Key")?, upload.text_of("UploadId")?, since))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uploads_are_read_from_the_answer() {
        let page = "<R><Upload><Key>a/b&amp;c</Key><UploadId>x</UploadId><Initiated>1970-01-01T00:00:01Z</Initiated>\
                    </Upload><Upload><Key>d</Key></Upload></R>";
        let page = xml::parse(page).unwrap();
        let found: Vec<_> = uploads(&page).collect();
        let since = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        assert_eq!(found, [("a/b&c", "x", Some(since))]);
    }
}
