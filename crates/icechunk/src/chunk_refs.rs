//! The chunks of the snapshot that is shown: which manifests have them, and where they are.
use crate::chunk_place::Locator;
use crate::id::ObjectName;
use crate::long_manifest::{ArrivingManifests, BlockReading};
use crate::manifest::{ChunkPlace, KeptManifests, Manifest};
use crate::snapshot::{ManifestRef, Node, Snapshot};
use ncirrus_layout::{Error, ObjectId, OutsideContainer, Result, Step, Tag, View, Want, join};
use std::sync::Arc;

/// The kind of finished parts that are kept.
const MANIFESTS: &str = "icechunk manifests of an array";

/// The snapshot that is shown.
#[derive(Debug)]
pub(crate) struct ShownSnapshot {
    /// The root of the repository.
    pub(crate) root: ObjectId,
    /// Where the objects of the hierarchy seem to be: in a store that has nothing else.
    pub(crate) base: ObjectId,
    /// The tag of all objects of the hierarchy.
    pub(crate) tag: Tag,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) containers: Vec<OutsideContainer>,
    pub(crate) manifests: KeptManifests,
    pub(crate) arriving: ArrivingManifests,
    pub(crate) reading: BlockReading,
}

/// The manifests of an array, ordered by their first index along the first axis.
#[derive(Debug)]
struct ArrayManifests {
    list: Vec<ManifestRef>,
    /// Maximum number of indexes along the first axis that a manifest has.
    widest: u32,
}

impl ShownSnapshot {
    /// Makes locations of places.
    pub(crate) fn locator(&self) -> Locator<'_> {
        Locator::new(&self.root, &self.containers)
    }

    /// The array to which the key of a chunk belongs, and the indexes of the chunk.
    pub(crate) fn chunk_of<'k>(&self, key: &'k str) -> Option<(&'k str, Vec<u32>)> {
        // The array is the nearest node above the chunk.
        let above = std::iter::successors(Some(key), |key| match key.rsplit_once('/') {
            Some((parent, _)) => Some(parent),
            None => (!key.is_empty()).then_some(""),
        });
        for path in above {
            let Some(node) = self.snapshot.find(path) else { continue };
            let name = key.get(path.len()..)?.trim_start_matches('/');
            let rank = node.rank().ok().flatten()?;
            return Some((path, indexes_of(name, rank)?));
        }
        None
    }

    /// Where chunks are, by their keys; `None` for those that were never written. Only the manifests are fetched that have
    /// some of them.
    ///
    /// # Errors
    /// A need; `NotFound` if a manifest does not exist; damage of one.
    pub(crate) fn places<'k>(
        &self,
        view: &dyn View,
        keys: impl Iterator<Item = &'k str>,
    ) -> Step<Vec<Option<ChunkPlace>>> {
        let mut wanted: Vec<Option<WantedChunk<'k>>> = Vec::new();
        let mut array: Option<OpenArray<'k>> = None;
        for key in keys {
            let Some((path, indexes)) = self.chunk_of(key) else {
                wanted.push(None);
                continue;
            };
            if array.as_ref().is_none_or(|array| array.path != path) {
                array = self.open_array(view, path)?;
            }
            let manifest = array.as_mut().and_then(|array| array.manifest_of(&indexes));
            wanted.push(manifest.map(|manifest| WantedChunk { path, indexes, manifest }));
        }
        let mut ids: Vec<ObjectName> = wanted.iter().flatten().map(|chunk| chunk.manifest).collect();
        ids.sort_unstable();
        ids.dedup();
        self.read_long(view, &ids)?;
        let manifests = join(&ids, |id| self.manifest(view, *id, &ids))?;
        let (mut refs, mut inline) = (None, 0u64);
        let mut place = |chunk: &WantedChunk<'k>| -> Result<Option<ChunkPlace>> {
            let number = ids.binary_search(&chunk.manifest).ok();
            let manifest = number.and_then(|number| manifests.get(number));
            let manifest = manifest.ok_or_else(|| Error::internal("a manifest that was not read"))?;
            let at_manifest = |error: Error| error.at_object(self.manifest_object(chunk.manifest));
            let is_known =
                refs.as_ref().is_some_and(|(path, id, _)| (*path, *id) == (chunk.path, chunk.manifest));
            if !is_known {
                let node = self.snapshot.find(chunk.path).map(|node| node.id);
                let node = node.ok_or_else(|| Error::internal("a node that is not there"))?;
                refs = Some((chunk.path, chunk.manifest, manifest.array(node).map_err(at_manifest)?));
            }
            let found = refs.as_mut().and_then(|(.., found)| found.as_mut());
            let found = found.map_or(Ok(None), |refs| refs.find(&chunk.indexes)).map_err(at_manifest)?;
            if let Some(ChunkPlace::Inline(bytes)) = &found {
                // All of them may be the same bytes of the manifest.
                inline = inline.saturating_add(bytes.len() as u64);
                view.limits().metadata_len(inline, "the inline chunks of one read").map_err(at_manifest)?;
            }
            Ok(found)
        };
        let places: Result<Vec<_>> =
            wanted.iter().map(|chunk| chunk.as_ref().map_or(Ok(None), &mut place)).collect();
        Ok(places?)
    }

    fn open_array<'k>(&self, view: &dyn View, path: &'k str) -> Step<Option<OpenArray<'k>>> {
        let Some(node) = self.snapshot.find(path) else { return Ok(None) };
        let manifests = self.manifests_of(view, path, node)?;
        Ok(Some(OpenArray { path, manifests, last: 0 }))
    }

    fn manifests_of(&self, view: &dyn View, path: &str, node: Node<'_>) -> Step<Arc<ArrayManifests>> {
        let object = self.base.child(path);
        if let Some(known) = view.memo().find::<ArrayManifests>(&object, Some(&self.tag), 0, MANIFESTS) {
            return Ok(known);
        }
        let list = node.manifests(view.limits());
        let list = list.map_err(|error| error.at_object(self.snapshot_object()))?;
        let manifests = ArrayManifests::new(list);
        let cost = manifests.list.iter().map(|manifest| 40 + 8 * manifest.extents.len()).sum();
        Ok(view.memo().keep(&object, Some(&self.tag), 0, MANIFESTS, manifests, cost))
    }

    /// Reads the long ones of these manifests, one after the other: their blocks take memory while they arrive.
    fn read_long(&self, view: &dyn View, ids: &[ObjectName]) -> Step<()> {
        let size = |id: &ObjectName| self.snapshot.size_of(*id).filter(|size| *size > self.reading.above);
        let total = ids.iter().filter_map(size).fold(0, u64::saturating_add);
        view.limits()
            .metadata_len(total, "the manifests of the chunks")
            .map_err(|error| error.at_object(self.snapshot_object()))?;
        for (id, size) in ids.iter().filter_map(|id| Some((*id, size(id)?))) {
            let object = self.manifest_object(id);
            while self.manifests.find(id).is_none() {
                if let Some(body) = self.arriving.advance(view, &object, (id, size), self.reading)? {
                    let parsed = Manifest::of_body(body).map_err(|error| error.at_object(&object))?;
                    self.manifests.keep(id, parsed, ids);
                }
            }
            self.arriving.forget(id);
        }
        Ok(())
    }

    /// A manifest; `ids` are all that the step needs.
    fn manifest(&self, view: &dyn View, id: ObjectName, ids: &[ObjectName]) -> Step<Arc<Manifest>> {
        // A manifest never changes.
        if let Some(known) = self.manifests.find(id) {
            return Ok(known);
        }
        let object = self.manifest_object(id);
        let Some(blob) = view.read(&object, Want::All)? else {
            let message = "the manifest that a snapshot names does not exist";
            return Err(Error::not_found(message).at_object(&object).into());
        };
        let parsed = Manifest::parse(&blob.bytes, view.limits()).map_err(|error| error.at_object(&object))?;
        Ok(self.manifests.keep(id, parsed, ids))
    }

    fn manifest_object(&self, id: ObjectName) -> ObjectId {
        self.root.child(&format!("manifests/{id}"))
    }

    fn snapshot_object(&self) -> ObjectId {
        self.root.child(&format!("snapshots/{}", self.snapshot.id))
    }
}

/// A chunk that is looked for in a manifest.
struct WantedChunk<'k> {
    path: &'k str,
    indexes: Vec<u32>,
    manifest: ObjectName,
}

/// An array whose chunks are looked for.
struct OpenArray<'k> {
    path: &'k str,
    manifests: Arc<ArrayManifests>,
    /// The number of the manifest that had the last chunk.
    last: usize,
}

impl OpenArray<'_> {
    /// The manifest that may have a chunk; there is at most one, since their extents do not overlap.
    fn manifest_of(&mut self, indexes: &[u32]) -> Option<ObjectName> {
        let list = &self.manifests.list;
        if let Some(last) = list.get(self.last).filter(|manifest| manifest.has(indexes)) {
            return Some(last.id);
        }
        let first = indexes.first().copied().unwrap_or_default();
        let end = list.partition_point(|manifest| manifest.start() <= first);
        let before = list.get(..end).unwrap_or_default().iter().enumerate().rev();
        let mut near = before.take_while(|(_, manifest)| {
            first.checked_sub(manifest.start()).is_some_and(|distance| distance <= self.manifests.widest)
        });
        let (number, manifest) = near.find(|(_, manifest)| manifest.has(indexes))?;
        self.last = number;
        Some(manifest.id)
    }
}

impl ArrayManifests {
    fn new(mut list: Vec<ManifestRef>) -> Self {
        list.sort_by_key(ManifestRef::start);
        let width = |manifest: &ManifestRef| {
            manifest.extents.first().map_or(0, |(start, end)| end.saturating_sub(*start))
        };
        let widest = list.iter().map(width).max().unwrap_or_default();
        Self { list, widest }
    }
}

impl ManifestRef {
    fn start(&self) -> u32 {
        self.extents.first().map_or(0, |(start, _)| *start)
    }

    fn has(&self, indexes: &[u32]) -> bool {
        self.extents.iter().zip(indexes).all(|((start, end), index)| start <= index && index < end)
    }
}

/// The indexes that the name of a chunk has below its array: `c/1/2`, `c.1.2`, `1.2` or `1/2`; for a scalar `c` or `0`.
fn indexes_of(name: &str, rank: usize) -> Option<Vec<u32>> {
    if rank == 0 {
        return matches!(name, "c" | "0").then(Vec::new);
    }
    let numbers = name.strip_prefix("c/").or_else(|| name.strip_prefix("c.")).unwrap_or(name);
    let indexes: Option<Vec<u32>> = numbers.split(['/', '.']).map(|number| number.parse().ok()).collect();
    indexes.filter(|indexes| indexes.len() == rank)
}
