//! Reading objects, resuming at the byte reached when an answer is interrupted.
use super::{CloudStore, tag_of_meta};
use crate::fault::CloudFault;
use bytes::BytesMut;
use futures_util::StreamExt;
use ncirrus_http::RequestFailure;
use ncirrus_layout::{Error, ErrorKind, ObjectBytes, ObjectId, Tag};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, GetResult, ObjectMeta};
use std::ops::Range;

/// An answer of which some bytes arrived.
struct PartialAnswer {
    range: Range<u64>,
    size: u64,
    tag: Tag,
    etag: Option<String>,
    bytes: BytesMut,
}

impl CloudStore {
    /// A range of an object, or all of it.
    pub(super) async fn fetch(
        &self,
        path: &Path,
        range: Option<GetRange>,
    ) -> Result<ObjectBytes, CloudFault> {
        let mut begun: Option<PartialAnswer> = None;
        loop {
            let options = match &begun {
                None => GetOptions { range: range.clone(), ..GetOptions::default() },
                Some(begun) => begun.rest(),
            };
            let options = GetOptions { version: self.version_of(path), ..options };
            let found = self.objects.get_opts(path, options).await.map_err(CloudFault::from);
            let found = match found {
                Err(CloudFault::Conflict(_)) if begun.is_some() => return Err(changed()),
                found => found?,
            };
            let mut so_far = match begun.take() {
                None => PartialAnswer::new(&found),
                Some(begun) if begun.goes_on(&found) => begun,
                Some(_) => return Err(changed()),
            };
            match so_far.fill(found).await {
                Ok(()) => return Ok(so_far.blob()),
                Err(failure) => {
                    ncirrus_http::again(failure)
                        .await
                        .map_err(|failure| CloudFault::Failed(failure.error))?;
                    begun = Some(so_far).filter(PartialAnswer::is_worth_going_on);
                }
            }
        }
    }
}

impl CloudStore {
    /// Size and tag of an object, in the version that is read.
    pub(super) async fn head(&self, path: &Path) -> Result<ObjectMeta, CloudFault> {
        let options = GetOptions { head: true, version: self.version_of(path), ..GetOptions::default() };
        self.objects.get_opts(path, options).await.map(|found| found.meta).map_err(CloudFault::from)
    }

    /// The key of an object that is read.
    ///
    /// # Errors
    /// `Unsupported` if an old version is read, and this is another object: it has no version of that name.
    pub(super) fn path_at_version(&self, object: &ObjectId) -> Result<Path, Error> {
        let path = super::path_of(object)?;
        if self.version.is_some() && self.version_of(&path).is_none() {
            self.check_no_version(object)?;
        }
        Ok(path)
    }

    /// Refuses what concerns more than the one object that is read in an old version.
    pub(super) fn check_no_version(&self, object: &ObjectId) -> Result<(), Error> {
        let Some(version) = &self.version else { return Ok(()) };
        let message = format!(
            "versionId={} is the version of one object, {:?}: a tree of objects is opened without it, as it is now",
            version.1, version.0
        );
        Err(Error::unsupported(message).at_object(object))
    }

    /// The version of an object that is read, if not the latest.
    fn version_of(&self, path: &Path) -> Option<String> {
        let version = self.version.as_ref().filter(|version| version.0 == path.as_ref());
        version.map(|version| version.1.clone())
    }
}

impl PartialAnswer {
    fn new(found: &GetResult) -> Self {
        Self {
            range: found.range.clone(),
            size: found.meta.size,
            tag: tag_of_meta(&found.meta),
            etag: found.meta.e_tag.clone(),
            bytes: BytesMut::new(),
        }
    }

    /// Requests the missing bytes, of the same version of the object.
    fn rest(&self) -> GetOptions {
        let range = Some(GetRange::Bounded(self.reached()..self.range.end));
        GetOptions { range, if_match: self.etag.clone(), ..GetOptions::default() }
    }

    fn reached(&self) -> u64 {
        self.range.start + self.bytes.len() as u64
    }

    fn is_worth_going_on(&self) -> bool {
        self.etag.is_some() && (self.range.start + 1..self.range.end).contains(&self.reached())
    }

    fn goes_on(&self, found: &GetResult) -> bool {
        found.range == (self.reached()..self.range.end)
            && found.meta.size == self.size
            && tag_of_meta(&found.meta) == self.tag
    }

    /// Appends what arrives; returns an error if the rest does not.
    async fn fill(&mut self, found: GetResult) -> Result<(), RequestFailure> {
        let mut pieces = found.into_stream();
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(piece) => self.bytes.extend_from_slice(&piece),
                Err(error) => {
                    let known = RequestFailure::below(&error).cloned();
                    return Err(known
                        .unwrap_or_else(|| RequestFailure::lasting(CloudFault::from(error).into_error())));
                }
            }
        }
        Ok(())
    }

    fn blob(self) -> ObjectBytes {
        ObjectBytes { bytes: self.bytes.freeze(), offset: self.range.start, size: self.size, tag: self.tag }
    }
}

fn changed() -> CloudFault {
    CloudFault::Failed(Error::new(ErrorKind::Changed, "the object changed while it was read"))
}
