//! Manifests that are read in blocks: a long one is in memory only in compressed pages, never as it is stored.
use crate::envelope::{ArrivingFile, FileBody, FileKind};
use crate::id::ObjectName;
use crate::manifest::Manifest;
use ncirrus_layout::{Error, Limits, LockExt, ObjectBytes, ObjectId, Result, Step, View, Want, join};
use std::fmt;
use std::ops::Range;
use std::sync::Mutex;

/// Which manifests are read in blocks, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockReading {
    /// Manifests of more bytes, as they are stored.
    pub(crate) above: u64,
    /// Bytes of a block.
    pub(crate) block: u64,
    /// Blocks that are requested at the same time.
    pub(crate) at_once: u64,
}

impl Default for BlockReading {
    fn default() -> Self {
        Self { above: 32 << 20, block: 8 << 20, at_once: 4 }
    }
}

impl BlockReading {
    /// The blocks that follow `at` in a file of `size` bytes; at least one.
    fn blocks(self, at: u64, size: u64) -> impl Iterator<Item = Range<u64>> {
        let start = move |number: u64| at.saturating_add(number.saturating_mul(self.block));
        let end = move |start: u64| start.saturating_add(self.block).min(size.max(start.saturating_add(1)));
        let starts = (0..self.at_once).map(start);
        starts.take_while(move |start| *start == at || *start < size).map(move |start| start..end(start))
    }
}

/// Manifests of which some blocks have arrived. Steps are run again for every few blocks, and continue with what is here;
/// so do other reads that want the same manifest.
#[derive(Default)]
pub(crate) struct ArrivingManifests(Mutex<Vec<(ObjectName, ArrivingFile)>>);

impl ArrivingManifests {
    /// Reads the next blocks of a manifest. `None`: there are more.
    ///
    /// # Errors
    /// A need; `NotFound` if the manifest does not exist; damage of it.
    pub(crate) fn advance(
        &self,
        view: &dyn View,
        object: &ObjectId,
        (id, stated): (ObjectName, u64),
        reading: BlockReading,
    ) -> Step<Option<FileBody>> {
        let (at, size) = self.progress(id).unwrap_or((0, stated));
        view.release(object, at);
        let parts = join(reading.blocks(at, size), |block| view.read(object, Want::Range(block)))?;
        let parts: Option<Vec<ObjectBytes>> = parts.into_iter().collect();
        let Some(parts) = parts else {
            let message = "the manifest that a snapshot names does not exist";
            return Err(Error::not_found(message).at_object(object).into());
        };
        let body = self.add(id, &parts, view.limits()).map_err(|error| error.at_object(object))?;
        if body.is_some() {
            view.release(object, u64::MAX);
        }
        Ok(body)
    }

    /// Forgets what has arrived of a manifest that is kept.
    pub(crate) fn forget(&self, id: ObjectName) {
        self.0.guard().retain(|(other, _)| *other != id);
    }

    /// How many bytes of a manifest have arrived, and how many it has.
    fn progress(&self, id: ObjectName) -> Option<(u64, u64)> {
        let arriving = self.0.guard();
        let (_, file) = arriving.iter().find(|(other, _)| *other == id)?;
        Some((file.arrived(), file.size()))
    }

    /// Adds blocks that follow one another; the content, if these were the last ones.
    fn add(&self, id: ObjectName, parts: &[ObjectBytes], limits: &Limits) -> Result<Option<FileBody>> {
        let mut arriving = self.0.guard();
        let place = arriving.iter().position(|(other, _)| *other == id);
        let mut file = match (place, parts.first()) {
            (Some(place), _) => arriving.swap_remove(place).1,
            (None, Some(first)) if first.offset == 0 => {
                ArrivingFile::new(FileKind::Manifest, first.size, limits)?
            }
            // Another read finished it, or failed, meanwhile: it is kept by now, or is read from its start.
            (None, _) => return Ok(None),
        };
        // A file that fails is not kept.
        for part in parts {
            // Another read may have added some of them meanwhile, and the stated size may be too large.
            if part.offset >= file.arrived() && file.arrived() < file.size() {
                file.add(part.offset, &part.bytes)?;
            }
        }
        if file.arrived() < file.size() {
            arriving.push((id, file));
            return Ok(None);
        }
        file.finish().map(Some)
    }
}

/// For fuzzing: a manifest that arrives in blocks.
///
/// # Errors
/// Damage of it.
pub(crate) fn inspect(bytes: &[u8], limits: &Limits) -> Result<Manifest> {
    let mut file = ArrivingFile::new(FileKind::Manifest, bytes.len() as u64, limits)?;
    for block in bytes.chunks(100) {
        file.add(file.arrived(), block)?;
    }
    Manifest::of_body(file.finish()?)
}

/// Without what has arrived: that depends on the order of requests.
impl fmt::Debug for ArrivingManifests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArrivingManifests")
    }
}
