//! Removing what lies below a prefix, whatever the keys.
use super::listing::is_named;
use super::{CloudStore, path_of};
use crate::asking::{BucketClient, failed};
use crate::fault::CloudFault;
use crate::xml::{XmlElement, escaped};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use futures_util::stream::{BoxStream, iter, try_unfold};
use futures_util::{StreamExt, TryStreamExt};
use md5::{Digest, Md5};
use ncirrus_http::RequestFailure;
use ncirrus_layout::{Error, LockExt, ObjectId, Result};
use ncirrus_store::key;
use object_store::ObjectStoreExt;
use object_store::path::Path;
use reqwest::header::HeaderName;
use ring::digest::{SHA256, digest};
use std::mem;
use std::sync::{Arc, Mutex};

/// Keys that one request removes (Amazon).
const AT_ONCE: usize = 1000;

/// Keys that were found and cannot be named.
type UnnamedKeys = Arc<Mutex<Vec<String>>>;

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

    /// Removes objects, many with one request where the service can.
    pub(super) async fn remove_many(&self, objects: &[ObjectId]) -> Result<()> {
        let paths = objects.iter().map(|object| {
            path_of(object)
                .map_err(|error| object_store::Error::Generic { store: "S3", source: Box::new(error) })
        });
        let paths: Vec<ListResult<Path>> = paths.collect();
        let mut removed = self.objects.delete_stream(iter(paths).boxed()).map_err(CloudFault::from);
        while let Some(removed) = removed.next().await {
            match removed {
                Ok(_) | Err(CloudFault::Absent) => {}
                Err(fault) => {
                    return Err(objects
                        .first()
                        .map_or_else(|| Error::internal("no objects"), |first| fault.at(first)));
                }
            }
        }
        Ok(())
    }

    /// Removes what is below a prefix, many objects with one request where the service can.
    pub(super) async fn remove_below(&self, prefix: &ObjectId) -> Result<()> {
        let path = path_of(prefix)?;
        if prefix.key().is_empty() {
            return Err(Error::invalid("a whole bucket is not removed").at_object(prefix));
        }
        let unnamed = UnnamedKeys::default();
        let below = match &self.other {
            Some(asking) => paths(Arc::clone(asking), key::folder(prefix.key()), Arc::clone(&unnamed)),
            None => self.objects.list(Some(&path)).map_ok(|meta| meta.location).boxed(),
        };
        let mut removed = self.objects.delete_stream(below).map_err(CloudFault::from);
        while let Some(removed) = removed.next().await {
            match removed {
                // Somebody else was faster, or an answer was lost.
                Ok(_) | Err(CloudFault::Absent) => {}
                Err(fault) => return Err(fault.at(prefix)),
            }
        }
        let unnamed = mem::take(&mut *unnamed.guard());
        match &self.other {
            Some(asking) => asking.remove(&unnamed).await.map_err(|fault| fault.at(prefix)),
            None => Ok(()),
        }
    }
}

/// The objects below a folder as the client of the provider names them; others are put aside.
fn paths(
    asking: Arc<BucketClient>,
    folder: String,
    unnamed: UnnamedKeys,
) -> BoxStream<'static, ListResult<Path>> {
    let pages = try_unfold(Some(None), move |at: Option<Option<String>>| {
        let (asking, folder, unnamed) = (Arc::clone(&asking), folder.clone(), Arc::clone(&unnamed));
        async move {
            let Some(after) = at else { return ListResult::Ok(None) };
            let page = asking.list(&folder, true, after.as_deref()).await.map_err(passed_on)?;
            let keys = page.objects.into_iter().map(|object| object.key);
            let (named, mut others): (Vec<_>, Vec<_>) = keys.partition(|key| is_named(key));
            unnamed.guard().append(&mut others);
            let paths = named.into_iter().map(|key| Path::parse(key).map_err(object_store::Error::from));
            Ok(Some((iter(paths), page.next.map(Some))))
        }
    });
    pages.try_flatten().boxed()
}

type ListResult<T> = object_store::Result<T>;

/// A failure on its way through the client of the provider.
fn passed_on(fault: CloudFault) -> object_store::Error {
    object_store::Error::Generic {
        store: "S3",
        source: Box::new(RequestFailure::lasting(fault.into_error())),
    }
}

impl BucketClient {
    /// Removes objects by their keys as they are: in addresses they would be changed.
    async fn remove(&self, keys: &[String]) -> std::result::Result<(), CloudFault> {
        for keys in keys.chunks(AT_ONCE) {
            let stays = |why: &str| {
                let first = keys.first().map(String::as_str).unwrap_or_default();
                failed(format!("{} keys that cannot be named may stay, such as {first:?}: {why}", keys.len()))
            };
            let order = order(keys);
            let digests = digests(order.as_bytes());
            let (status, text) = self.order(&[("delete", "")], order, digests).await?;
            if !status.is_success() {
                return Err(stays(CloudFault::of_answer(status, &text).into_error().message()));
            }
            let answer = XmlElement::parse(&text);
            if answer.is_none() && !text.trim().is_empty() {
                return Err(stays("the answer cannot be understood"));
            }
            if let Some(error) = answer.as_ref().and_then(|answer| answer.find("Error")) {
                return Err(stays(error.text("Code").unwrap_or("the server does not remove it")));
            }
        }
        Ok(())
    }
}

fn order(keys: &[String]) -> String {
    let keys: String =
        keys.iter().map(|key| format!("<Object><Key>{}</Key></Object>", escaped(key))).collect();
    format!("<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{keys}<Quiet>true</Quiet></Delete>")
}

/// Servers want one of them, some only the older one.
fn digests(body: &[u8]) -> [(HeaderName, String); 2] {
    [
        ("x-amz-checksum-sha256", BASE64_STANDARD.encode(digest(&SHA256, body))),
        ("content-md5", BASE64_STANDARD.encode(Md5::digest(body))),
    ]
    .map(|(name, digest)| (HeaderName::from_static(name), digest))
}
