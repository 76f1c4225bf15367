//! A snapshot: all nodes of a hierarchy with their metadata (docs/spec/icechunk-format.md, "Snapshot").
use crate::envelope::{self, FileKind};
use crate::flat::{FlatTable, FlatVector};
use crate::id::{NodeName, ObjectName};
use crate::share::UnsharedBytes;
use bytes::Bytes;
use ncirrus_layout::{Error, Limits, ListEntry, Result};

/// A parsed snapshot. Nodes stay in the buffer; only their positions are kept.
#[derive(Debug)]
pub(crate) struct Snapshot {
    body: Bytes,
    /// Numbers of the usable nodes, in the order of their paths.
    order: Vec<u32>,
    pub(crate) id: ObjectName,
    /// The snapshot before it: only in spec version 1.
    pub(crate) parent: Option<ObjectName>,
    /// Microseconds since 1970.
    pub(crate) flushed_at: u64,
    pub(crate) message: String,
    pub(crate) spec_version: u8,
    /// The stored sizes of manifests, ordered by id.
    sizes: Vec<(ObjectName, u64)>,
    /// Nodes that are not shown.
    pub(crate) warnings: Vec<String>,
}

/// A node of a hierarchy.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node<'a> {
    pub(crate) id: NodeName,
    table: FlatTable<'a>,
}

/// A manifest that has chunks of an array, and the boxes of chunk indexes in which they are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ManifestRef {
    pub(crate) id: ObjectName,
    /// For each axis the first index and the one after the last.
    pub(crate) extents: Box<[(u32, u32)]>,
}

/// The type of a node that is an array.
const ARRAY: u8 = 1;
/// Maximum number of warnings about nodes.
const MAX_WARNINGS: usize = 100;

impl Snapshot {
    /// Parses a file of `snapshots`.
    ///
    /// # Errors
    /// As [`envelope::open`]; `Malformed` for an offset that leads out of the file, or paths that occur twice; `Limit` for
    /// too many nodes.
    pub(crate) fn parse(bytes: &Bytes, limits: &Limits) -> Result<Self> {
        let file = envelope::open(bytes, FileKind::Snapshot, limits)?;
        let table = FlatTable::root(&file.body)?;
        let nodes = table.vector(2, 4)?;
        limits.count(nodes.len() as u64, "a snapshot")?;
        let (mut order, mut warnings) = (Vec::new(), Vec::new());
        // Documents do not share bytes: otherwise a small file could have any amount of metadata.
        let mut left = file.body.len();
        for number in 0..nodes.len() {
            let node = nodes.table(number)?;
            let document = node.bytes(2)?.unwrap_or_default().len();
            left =
                left.checked_sub(document).ok_or_else(|| Error::malformed("nodes share their metadata"))?;
            let path = node.bytes(1)?.unwrap_or_default();
            match key_of(path) {
                Some(_) => order.push(u32::try_from(number).unwrap_or(u32::MAX)),
                None if warnings.len() < MAX_WARNINGS => {
                    let path = String::from_utf8_lossy(path).into_owned();
                    warnings.push(format!("the node {path:?} is not shown: its path is not a plain one"));
                }
                None => {}
            }
        }
        order.sort_by(|one, other| key_at(nodes, *one).cmp(key_at(nodes, *other)));
        let is_same =
            |pair: &&[u32]| matches!(pair, [one, other] if key_at(nodes, *one) == key_at(nodes, *other));
        if let Some([one, _]) = order.windows(2).find(is_same) {
            let path = String::from_utf8_lossy(key_at(nodes, *one)).into_owned();
            return Err(Error::malformed(format!("two nodes have the path \"/{path}\"")));
        }
        let id = table.inline(0)?.map(ObjectName::of_bytes);
        Ok(Self {
            id: id.ok_or_else(|| Error::malformed("a snapshot without an id"))?,
            parent: table.inline(1)?.map(ObjectName::of_bytes),
            flushed_at: table.u64(3)?,
            message: String::from_utf8_lossy(table.bytes(4)?.unwrap_or_default()).into_owned(),
            spec_version: file.spec_version,
            sizes: sizes_of_manifests(&table, limits)?,
            order,
            warnings,
            body: file.body,
        })
    }

    /// Its size in memory.
    pub(crate) fn byte_len(&self) -> usize {
        self.body.len() + 4 * self.order.len() + size_of_val(self.sizes.as_slice())
    }

    /// The stored size of a manifest; `None` if the snapshot does not list it.
    pub(crate) fn size_of(&self, manifest: ObjectName) -> Option<u64> {
        let place = self.sizes.binary_search_by(|(id, _)| id.cmp(&manifest)).ok()?;
        self.sizes.get(place).map(|(_, size)| *size)
    }

    /// The node at a path without slashes at its ends; the root is empty.
    pub(crate) fn find(&self, path: &str) -> Option<Node<'_>> {
        let nodes = self.nodes()?;
        let place = self.order.binary_search_by(|number| key_at(nodes, *number).cmp(path.as_bytes())).ok()?;
        let number = usize::try_from(*self.order.get(place)?).ok()?;
        Node::of(nodes.table(number).ok()?)
    }

    /// Names directly below a path, and whether there are more below them; the document of a node is not among them.
    pub(crate) fn children(&self, path: &str) -> Vec<ListEntry> {
        let Some(nodes) = self.nodes() else { return Vec::new() };
        let folder = if path.is_empty() { String::new() } else { format!("{path}/") };
        let mut names = Vec::new();
        let mut at = self.order.partition_point(|number| key_at(nodes, *number) < folder.as_bytes());
        while let Some(number) = self.order.get(at) {
            let Some(rest) = key_at(nodes, *number).strip_prefix(folder.as_bytes()) else { break };
            let name = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
            if name.is_empty() {
                at += 1;
                continue;
            }
            // What is below the name follows, but names with characters before the slash may be between.
            let name = String::from_utf8_lossy(name).into_owned();
            at += 1;
            let below = format!("{folder}{name}/");
            let is_below = |number: &u32| key_at(nodes, *number).starts_with(below.as_bytes());
            at +=
                self.order.get(at..).unwrap_or_default().iter().take_while(|number| is_below(number)).count();
            names.push(ListEntry { name, is_prefix: true });
        }
        names.sort();
        names.dedup();
        names
    }

    /// The document of a node, `zarr.json`.
    pub(crate) fn document(&self, path: &str) -> Option<Bytes> {
        let document = self.find(path)?.table.bytes(2).ok()??;
        Some(self.body.slice_ref(document))
    }

    fn nodes(&self) -> Option<FlatVector<'_>> {
        FlatTable::root(&self.body).ok()?.vector(2, 4).ok()
    }

    /// For fuzzing: looks at all nodes and returns how many manifests they name.
    pub(crate) fn inspect(&self) -> usize {
        let mut count = self.children("").len();
        let Some(nodes) = self.nodes() else { return count };
        for number in &self.order {
            let Ok(path) = std::str::from_utf8(key_at(nodes, *number)) else { continue };
            count += self.document(path).map_or(0, |document| document.len());
            let manifests = self.find(path).map(|node| node.manifests(&Limits::default()));
            count += manifests.and_then(Result::ok).map_or(0, |manifests| manifests.len());
        }
        count
    }
}

impl<'a> Node<'a> {
    fn of(table: FlatTable<'a>) -> Option<Self> {
        Some(Self { id: NodeName::of_bytes(table.inline(0).ok()??), table })
    }

    /// The table of an array; `None` for a group.
    fn array(&self) -> Result<Option<FlatTable<'a>>> {
        if self.table.u8(3)? != ARRAY {
            return Ok(None);
        }
        self.table.table(4)
    }

    /// Number of dimensions of an array; `None` for a group.
    ///
    /// # Errors
    /// `Malformed` for an offset that leads out of the file.
    pub(crate) fn rank(&self) -> Result<Option<usize>> {
        let Some(array) = self.array()? else { return Ok(None) };
        let rank = match array.present_vector(3, 4)? {
            Some(shape) => shape.len(),
            None => array.vector(0, 16)?.len(),
        };
        Ok(Some(rank))
    }

    /// The manifests of an array.
    ///
    /// # Errors
    /// `Malformed` for an offset that leads out of the file, extents of another rank, or manifests that share their bytes;
    /// `Limit` for too many.
    pub(crate) fn manifests(&self, limits: &Limits) -> Result<Vec<ManifestRef>> {
        let Some(array) = self.array()? else { return Ok(Vec::new()) };
        let rank = self.rank()?.unwrap_or(0);
        let manifests = array.vector(2, 4)?;
        limits.count(manifests.len() as u64, "a list of manifests")?;
        let mut unshared = UnsharedBytes::of(self.table.buffer_len());
        manifests.tables().map(|manifest| manifest_ref(manifest?, rank, &mut unshared)).collect()
    }
}

/// The stored sizes of all manifests of a snapshot, ordered by id (docs/spec/icechunk-format.md, "Snapshot").
fn sizes_of_manifests(snapshot: &FlatTable<'_>, limits: &Limits) -> Result<Vec<(ObjectName, u64)>> {
    let (structs, tables) = (snapshot.vector(6, 32)?, snapshot.vector(7, 4)?);
    let count = (structs.len() as u64).saturating_add(tables.len() as u64);
    // A table has an offset to its fields, the id and the size.
    UnsharedBytes::of(snapshot.buffer_len()).take(tables.len().saturating_mul(4 + ID + 8))?;
    let mut sizes = Vec::with_capacity(limits.count(count, "a list of manifests")?);
    for number in 0..structs.len() {
        let info: [u8; 32] = structs.element(number)?;
        if let (Some(id), Some(size)) =
            (info.first_chunk::<12>(), info.get(16..).and_then(<[u8]>::first_chunk::<8>))
        {
            sizes.push((ObjectName::of_bytes(*id), u64::from_le_bytes(*size)));
        }
    }
    for table in tables.tables() {
        let table = table?;
        let id = table.inline(0)?.map(ObjectName::of_bytes);
        sizes.push((id.ok_or_else(|| Error::malformed("a manifest without an id"))?, table.u64(1)?));
    }
    sizes.sort_unstable();
    Ok(sizes)
}

/// Bytes of a manifest's id and its extent along an axis.
const ID: usize = 12;
const EXTENT: usize = 8;

fn manifest_ref(table: FlatTable<'_>, rank: usize, unshared: &mut UnsharedBytes) -> Result<ManifestRef> {
    let id = table.inline(0)?.map(ObjectName::of_bytes);
    let id = id.ok_or_else(|| Error::malformed("a manifest without an id"))?;
    let extents = table.vector(1, 8)?;
    // Icechunk writes none for scalars.
    if extents.len() != rank {
        let message = format!("manifest {id} has {} extents for {rank} dimensions", extents.len());
        return Err(Error::malformed(message));
    }
    unshared.take(ID + EXTENT * rank)?;
    let extent = |index| {
        let [a, b, c, d, e, f, g, h] = extents.element(index)?;
        Ok((u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])))
    };
    Ok(ManifestRef { id, extents: (0..rank).map(extent).collect::<Result<_>>()? })
}

/// The path of a node without slashes at its ends; `None` if it is not a plain path.
fn key_of(path: &[u8]) -> Option<&[u8]> {
    let key = std::str::from_utf8(path).ok()?.strip_prefix('/')?;
    let is_plain = |name: &str| !matches!(name, "" | "." | "..") && !name.contains('\0');
    (key.is_empty() || key.split('/').all(is_plain)).then_some(key.as_bytes())
}

fn key_at(nodes: FlatVector<'_>, number: u32) -> &[u8] {
    let path = usize::try_from(number).ok().and_then(|number| nodes.table(number).ok()?.bytes(1).ok()?);
    path.and_then(key_of).unwrap_or_default()
}
