//! Sending files, large ones in parts.
use super::multipart::condition;
use super::{CloudStore, LARGEST_PUT, path_of};
use crate::fault::{CloudFault, ConditionClash};
use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt};
use ncirrus_http::StoreOperation;
use ncirrus_layout::{Error, ObjectId, Result, Tag};
use ncirrus_store::PutCondition;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt, PutMultipartOptions, PutPayload};
use std::fs::File;
use std::io::Read;

/// Objects up to this size are sent in one piece, unless the host has a part size of its own.
const ONE_PIECE: u64 = 32 << 20;
/// Part size, unless there would be too many parts.
const PART: u64 = 16 << 20;
/// Maximum number of parts (Amazon allows 10,000).
const MAX_PARTS: u64 = 9_000;
/// Parts in flight, unless the host has a number of its own.
const AT_ONCE: usize = 4;

impl CloudStore {
    /// Sends a file. A multipart upload is completed at once; its condition is checked before, because not all
    /// providers check it on completion.
    pub(super) async fn send(
        &self,
        object: &ObjectId,
        file: &std::path::Path,
        when: PutCondition,
    ) -> Result<Tag> {
        let failed = |error| ncirrus_store::fault::of_io(error, file.display());
        let mut file = File::open(file).map_err(failed)?;
        let len = file.metadata().map_err(failed)?.len();
        if len <= self.one_piece() {
            let mut body = Vec::new();
            file.read_to_end(&mut body).map_err(failed)?;
            return self.write(object, Bytes::from(body), when).await;
        }
        let part = self.part_len(len);
        let next = move || {
            let mut body = Vec::new();
            let read = file.by_ref().take(part).read_to_end(&mut body);
            read.map_err(|error| ncirrus_store::fault::of_io(error, "scratch file"))?;
            Ok(Bytes::from(body))
        };
        self.send_pieces(object, next, when).await
    }

    /// Sends bytes that are too many for one piece.
    pub(super) async fn send_body(
        &self,
        object: &ObjectId,
        mut body: Bytes,
        when: PutCondition,
    ) -> Result<Tag> {
        let part = usize::try_from(self.part_len(body.len() as u64)).unwrap_or(usize::MAX);
        self.send_pieces(object, move || Ok(body.split_to(part.min(body.len()))), when).await
    }

    /// Sends the pieces that `next` returns, up to the first empty one.
    async fn send_pieces(
        &self,
        object: &ObjectId,
        next: impl FnMut() -> Result<Bytes> + Send,
        when: PutCondition,
    ) -> Result<Tag> {
        if !self.transfer.sends_parts() {
            let message = format!(
                "more than {LARGEST_PUT} bytes, and multipart uploads are turned off for the server (multipart_upload)"
            );
            return Err(Error::limit(message).at_object(object));
        }
        let path = path_of(object)?;
        self.check_len(object)?;
        if when != PutCondition::None {
            self.check(object, &path, &when).await?;
        }
        let fault = |error| CloudFault::from(error).at(object);
        let mut upload =
            self.objects.put_multipart_opts(&path, PutMultipartOptions::default()).await.map_err(fault)?;
        let at_once = self.transfer.at_once().unwrap_or(AT_ONCE);
        let sent = send_parts(upload.as_mut(), next, at_once).await;
        match sent {
            Ok(parts) => {
                StoreOperation::depend(condition(&when));
                match upload.complete().await.map_err(CloudFault::from) {
                    Ok(put) => self.tag_of_put(object, &path, put).await,
                    Err(fault) => {
                        let taken_back = async { upload.abort().await.is_ok() };
                        self.not_completed((object, &path), fault, parts, taken_back).await
                    }
                }
            }
            Err(error) => {
                _ = upload.abort().await;
                Err(error.at_object(object))
            }
        }
    }

    /// Default limit for sending in one piece.
    pub(super) fn one_piece(&self) -> u64 {
        if self.transfer.sends_parts() {
            self.transfer.part_bytes().unwrap_or(ONE_PIECE)
        } else {
            LARGEST_PUT
        }
    }

    /// Part size for an object of `len` bytes: larger if there would be too many parts.
    fn part_len(&self, len: u64) -> u64 {
        self.transfer.part_bytes().unwrap_or(PART).max(len.div_ceil(MAX_PARTS))
    }

    pub(super) async fn check(&self, object: &ObjectId, path: &Path, when: &PutCondition) -> Result<()> {
        let now = match self.objects.head(path).await.map_err(CloudFault::from) {
            Ok(meta) => Some(super::tag_of_meta(&meta)),
            Err(CloudFault::Absent) => None,
            Err(fault) => return Err(fault.at(object)),
        };
        let clash = match when {
            PutCondition::Absent if now.is_some() => ConditionClash::Exists,
            PutCondition::Matches(tag) if now.as_ref() != Some(tag) => ConditionClash::Changed,
            _ => return Ok(()),
        };
        Err(clash.error().at_object(object))
    }
}

/// Keeps a few parts in flight, starting a new one when another has arrived; returns the number of parts.
async fn send_parts(
    upload: &mut dyn MultipartUpload,
    mut next: impl FnMut() -> Result<Bytes> + Send,
    at_once: usize,
) -> Result<usize> {
    let (mut sending, mut is_over, mut count) = (FuturesUnordered::new(), false, 0);
    loop {
        while !is_over && sending.len() < at_once {
            let body = next()?;
            is_over = body.is_empty();
            if !is_over {
                count += 1;
                sending.push(upload.put_part(PutPayload::from_bytes(body)));
            }
        }
        match sending.next().await {
            Some(sent) => sent.map_err(super::multipart::failure_of_part)?,
            None => return Ok(count),
        }
    }
}

#[cfg(test)]
mod tests;
