//! Chunks as locations of bytes: in the repository, in a manifest, or outside (docs/spec/icechunk-format.md, "native",
//! "inline", "virtual").
use crate::manifest::{ChunkPlace, VirtualPlace};
use ncirrus_layout::{Error, Location, ObjectId, OutsideContainer, OutsideObject, Result};
use std::ops::Range;

/// The scheme of addresses that are relative to a named container.
const NAMED: &str = "vcc://";

/// Makes locations of places; remembers the last object outside, since neighbouring chunks mostly are in one.
pub(crate) struct Locator<'a> {
    /// The root of the repository.
    root: &'a ObjectId,
    containers: &'a [OutsideContainer],
    last: Option<(VirtualPlace, ObjectId)>,
}

impl<'a> Locator<'a> {
    pub(crate) fn new(root: &'a ObjectId, containers: &'a [OutsideContainer]) -> Self {
        Self { root, containers, last: None }
    }

    /// The location of a chunk, or of a part of its bytes.
    ///
    /// # Errors
    /// `Malformed` if the part is not in the chunk, or a container that does not exist is named.
    pub(crate) fn location(&mut self, place: ChunkPlace, part: Option<Range<u64>>) -> Result<Location> {
        match place {
            ChunkPlace::Native { id, range } => {
                let object = self.root.child(&format!("chunks/{id}"));
                Ok(Location::Bytes(object, part_of(&range, part)?))
            }
            ChunkPlace::Inline(bytes) => {
                let range = part_of(&(0..bytes.len() as u64), part)?;
                let place = |at| usize::try_from(at).unwrap_or(usize::MAX);
                Ok(Location::Inline(bytes.slice(place(range.start)..place(range.end))))
            }
            ChunkPlace::Virtual(place) => {
                let range = part_of(&place.range, part)?;
                Ok(Location::Bytes(self.outside(place)?, range))
            }
        }
    }

    fn outside(&mut self, place: VirtualPlace) -> Result<ObjectId> {
        let place = VirtualPlace { range: 0..0, ..place };
        if let Some((_, object)) = self.last.as_ref().filter(|(last, _)| *last == place) {
            return Ok(object.clone());
        }
        let address = self.address(&place.location)?;
        let etag = place.etag.as_deref().map(Into::into);
        let outside =
            OutsideObject { address: address.into(), etag, unmodified_since: place.unmodified_since };
        let object = outside.object(&self.root.store);
        self.last = Some((place, object.clone()));
        Ok(object)
    }

    /// The absolute address of an object outside.
    fn address(&self, location: &str) -> Result<String> {
        let Some(rest) = location.strip_prefix(NAMED) else {
            let has_scheme = location.split_once("://").is_some_and(|(scheme, _)| !scheme.contains('/'));
            if !has_scheme {
                let message = format!("the virtual chunk's address {location:?} has no scheme");
                return Err(Error::malformed(message));
            }
            return Ok(location.to_owned());
        };
        let (name, path) = rest.split_once('/').unwrap_or((rest, ""));
        let container = self.containers.iter().find(|container| container.name.as_deref() == Some(name));
        let Some(container) = container else {
            let message =
                format!("the virtual chunk container {name:?} is not in the repository's configuration");
            return Err(Error::malformed(message));
        };
        let slash = if container.prefix.ends_with('/') { "" } else { "/" };
        Ok(format!("{}{slash}{path}", container.prefix))
    }
}

/// A part of a range, relative to its start.
pub(crate) fn part_of(range: &Range<u64>, part: Option<Range<u64>>) -> Result<Range<u64>> {
    let Some(part) = part else { return Ok(range.clone()) };
    let (start, end) = (range.start.checked_add(part.start), range.start.checked_add(part.end));
    match (start, end) {
        (Some(start), Some(end)) if start <= end && end <= range.end => Ok(start..end),
        _ => {
            let len = range.end - range.start;
            let message = format!("bytes {}..{} of a chunk of {len} bytes", part.start, part.end);
            Err(Error::malformed(message))
        }
    }
}
