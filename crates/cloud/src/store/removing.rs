//! Removing objects with arbitrary keys, many with one request.
//!
//! On S3-compatible stores ncirrus sends this request itself: the provider's client panics on an answer that names
//! keys it was not asked to remove.
use super::{CloudStore, path_of};
use crate::asking::{BucketClient, failed};
use crate::fault::CloudFault;
use crate::xml::{self, escaped};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::stream::{BoxStream, iter, try_unfold};
use futures_util::{StreamExt, TryStreamExt};
use md5::{Digest, Md5};
use ncirrus_http::RequestFailure;
use ncirrus_layout::{Error, ObjectId, Result};
use ncirrus_store::key;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use reqwest::header::HeaderName;
use ring::digest::{SHA256, digest};

/// Maximum number of keys that one request removes (Amazon).
const PER_REQUEST: usize = 1000;
/// Concurrent requests.
const REQUESTS: usize = 8;

impl CloudStore {
    pub(super) async fn remove_tree(&self, prefix: &ObjectId) -> Result<()> {
        let path = path_of(prefix)?;
        self.remove_below(prefix).await?;
        // Servers over a file system fail to remove what is a folder there.
        match self.objects.head(&path).await.map_err(CloudFault::from) {
            Ok(_) => self.remove(prefix).await,
            Err(CloudFault::Absent) => Ok(()),
            Err(fault) => Err(fault.at(prefix)),
        }
    }

    /// Removes one object; it may be absent.
    pub(super) async fn remove(&self, object: &ObjectId) -> Result<()> {
        let path = path_of(object)?;
        if self.other.is_some() {
            return self.remove_many(std::slice::from_ref(object)).await;
        }
        match self.objects.delete(&path).await.map_err(CloudFault::from) {
            Ok(()) | Err(CloudFault::Absent) => Ok(()),
            Err(fault) => Err(fault.at(object)),
        }
    }

    /// Removes objects, many with one request if the service supports that.
    pub(super) async fn remove_many(&self, objects: &[ObjectId]) -> Result<()> {
        let Some(first) = objects.first() else { return Ok(()) };
        let paths = objects.iter().map(path_of).collect::<Result<Vec<Path>>>()?;
        let Some(asking) = &self.other else {
            return self.remove_paths(iter(paths.into_iter().map(Ok)).boxed(), first).await;
        };
        let keys = objects.iter().map(|object| object.key().to_owned()).collect();
        let pages = iter([Ok(keys)]).boxed();
        asking.remove_pages(pages).await.map_err(|refused| refused.at(self, first))
    }

    /// Removes what is below a prefix, many objects with one request if the service supports that.
    pub(super) async fn remove_below(&self, prefix: &ObjectId) -> Result<()> {
        let path = path_of(prefix)?;
        if prefix.key().is_empty() {
            return Err(Error::invalid("a whole bucket is not removed").at_object(prefix));
        }
        match &self.other {
            Some(asking) => {
                let pages = asking.keys_below(key::folder(prefix.key()));
                asking.remove_pages(pages).await.map_err(|refused| refused.at(self, prefix))
            }
            None => {
                let below = self.objects.list(Some(&path)).map_ok(|meta| meta.location).boxed();
                self.remove_paths(below, prefix).await
            }
        }
    }

    /// Removes objects with the provider's client.
    async fn remove_paths(
        &self,
        paths: BoxStream<'static, object_store::Result<Path>>,
        about: &ObjectId,
    ) -> Result<()> {
        let mut removed = self.objects.delete_stream(paths).map_err(CloudFault::from);
        while let Some(removed) = removed.next().await {
            match removed {
                // Another program was faster, or an answer was lost.
                Ok(_) | Err(CloudFault::Absent) => {}
                Err(fault) => return Err(fault.at(about)),
            }
        }
        Ok(())
    }
}

/// A failure to remove: the key, if it is one that was requested, and the reason.
struct RemovalRefused {
    key: Option<String>,
    fault: CloudFault,
}

impl RemovalRefused {
    /// The error at the object that remains, or else at what was to be removed.
    fn at(self, store: &CloudStore, about: &ObjectId) -> Error {
        match self.key {
            Some(key) => self.fault.at(&ObjectId::new(store.id.clone(), key)),
            None => self.fault.at(about),
        }
    }
}

impl From<CloudFault> for RemovalRefused {
    fn from(fault: CloudFault) -> Self {
        Self { key: None, fault }
    }
}

/// Keys as they are listed, a page at a time.
type KeyPages<'a> = BoxStream<'a, std::result::Result<Vec<String>, CloudFault>>;

impl BucketClient {
    /// The keys below a folder, including those that cannot be addressed.
    fn keys_below(&self, folder: String) -> KeyPages<'_> {
        let pages = try_unfold(Some(None), move |at: Option<Option<String>>| {
            let folder = folder.clone();
            async move {
                let Some(after) = at else { return Ok(None) };
                let page = self.list(&folder, true, after.as_deref()).await?;
                let keys: Vec<String> = page.objects.into_iter().map(|object| object.key).collect();
                Ok(Some((keys, page.next.map(Some))))
            }
        });
        pages.boxed()
    }

    /// Removes objects by their exact keys: in addresses they would be normalised.
    async fn remove_pages(&self, pages: KeyPages<'_>) -> std::result::Result<(), RemovalRefused> {
        let orders = pages.map_err(RemovalRefused::from).map_ok(|keys| {
            let orders: Vec<_> = keys.chunks(PER_REQUEST).map(<[String]>::to_vec).map(Ok).collect();
            iter(orders)
        });
        orders.try_flatten().try_for_each_concurrent(REQUESTS, |keys| self.remove(keys)).await
    }

    /// Removes objects with one request. Those that the server could not remove just then are requested again.
    async fn remove(&self, mut keys: Vec<String>) -> std::result::Result<(), RemovalRefused> {
        loop {
            let order = order(&keys);
            let digests = digests(order.as_bytes());
            let (status, text) = self.order(&[("delete", "")], order, digests).await?;
            if !status.is_success() {
                return Err(CloudFault::of_answer(status, &text).into());
            }
            let Some(busy) = stays(&keys, &text)? else { return Ok(()) };
            let failure =
                RequestFailure::passing(format!("the server did not remove {} objects", busy.len()));
            let again = ncirrus_http::again(failure).await;
            again.map_err(|failure| CloudFault::Failed(failure.error))?;
            keys = busy;
        }
    }
}

/// The keys that were not removed because the server was busy; `None` if there are none.
///
/// # Errors
/// The first key that was permanently refused, and why; keys that were not requested are not named.
fn stays(keys: &[String], text: &str) -> std::result::Result<Option<Vec<String>>, RemovalRefused> {
    let answer = xml::parse(text);
    if answer.is_none() && !text.trim().is_empty() {
        return Err(failed("objects may not have been removed: the answer cannot be understood").into());
    }
    let mut busy = Vec::new();
    for error in answer.iter().flat_map(|answer| answer.each("Error")) {
        let key = error
            .text_of("Key")
            .filter(|key| keys.iter().any(|requested| requested == key))
            .map(str::to_owned);
        match (error.text_of("Code"), key) {
            (Some("NoSuchKey"), _) => {}
            (Some("InternalError" | "SlowDown" | "ServiceUnavailable"), Some(key)) => busy.push(key),
            (code, key) => {
                let fault = CloudFault::of_code(code.unwrap_or_default(), error.text_of("Message"));
                return Err(RemovalRefused { key, fault });
            }
        }
    }
    Ok((!busy.is_empty()).then_some(busy))
}

fn order(keys: &[String]) -> String {
    let keys: String =
        keys.iter().map(|key| format!("<Object><Key>{}</Key></Object>", escaped(key))).collect();
    format!("<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{keys}<Quiet>true</Quiet></Delete>")
}

/// Servers require one of them, some only the older one.
fn digests(body: &[u8]) -> [(HeaderName, String); 2] {
    [
        ("x-amz-checksum-sha256", BASE64_STANDARD.encode(digest(&SHA256, body))),
        ("content-md5", BASE64_STANDARD.encode(Md5::digest(body))),
    ]
    .map(|(name, digest)| (HeaderName::from_static(name), digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn answer(errors: &[(&str, &str)]) -> String {
        let errors = errors.iter().map(|(key, code)| {
            format!("<Error><Key>{}</Key><Code>{code}</Code><Message>m</Message></Error>", escaped(key))
        });
        format!("<DeleteResult>{}</DeleteResult>", errors.collect::<String>())
    }

    #[test]
    fn nothing_stays_after_an_answer_without_errors() {
        for text in ["", " ", "<DeleteResult/>", &answer(&[("a", "NoSuchKey")])] {
            assert_eq!(stays(&keys(&["a", "b"]), text).ok(), Some(None), "{text}");
        }
    }

    #[test]
    fn what_a_busy_server_did_not_remove_is_requested_again() {
        let text = answer(&[("a", "SlowDown"), ("c&d", "InternalError")]);
        assert_eq!(stays(&keys(&["a", "b", "c&d"]), &text).ok(), Some(Some(keys(&["a", "c&d"]))));
    }

    #[test]
    fn what_is_refused_is_named_if_it_was_requested() {
        for (key, named) in [("b", Some("b")), ("other", None)] {
            let refused =
                stays(&keys(&["a", "b"]), &answer(&[("a", "SlowDown"), (key, "AccessDenied")])).err();
            let refused = refused.unwrap();
            assert_eq!(refused.key.as_deref(), named);
            assert!(matches!(refused.fault, CloudFault::Denied(_)), "{:?}", refused.fault);
        }
        let busy = stays(&keys(&["a"]), &answer(&[("other", "SlowDown")])).err().unwrap();
        assert!(busy.fault.into_error().message().contains("SlowDown"));
    }

    #[test]
    fn an_answer_that_is_cut_is_no_success() {
        let text = answer(&[("a", "AccessDenied")]);
        for end in 1..text.len() {
            assert!(stays(&keys(&["a"]), &text[..end]).is_err(), "{}", &text[..end]);
        }
    }
}
