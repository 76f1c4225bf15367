//! The object `repo` of spec version 2: branches, tags, snapshots and configuration (docs/spec/icechunk-format.md, "repo").
use crate::envelope::{self, FileKind};
use crate::flat::{FlatTable, FlatVector};
use crate::id::ObjectName;
use crate::share::UnsharedBytes;
use bytes::Bytes;
use ncirrus_layout::{Error, Limits, Result};

/// What `repo` says.
#[derive(Debug)]
pub(crate) struct RepoInfo {
    /// Name and number of the snapshot.
    pub(crate) branches: Vec<(String, usize)>,
    /// The same for tags.
    pub(crate) tags: Vec<(String, usize)>,
    /// Names of tags that were deleted.
    pub(crate) deleted_tags: Vec<String>,
    pub(crate) snapshots: Vec<SnapshotInfo>,
    /// The configuration, in FlexBuffers.
    pub(crate) config: Option<Bytes>,
    /// Why the repository may not be read, if it is offline.
    pub(crate) offline: Option<String>,
}

/// What `repo` says about a snapshot.
#[derive(Debug)]
pub(crate) struct SnapshotInfo {
    pub(crate) id: ObjectName,
    /// The number of the snapshot before it.
    pub(crate) parent: Option<usize>,
    /// Microseconds since 1970.
    pub(crate) flushed_at: u64,
    pub(crate) message: String,
}

/// The availability of a repository that must not be read.
const OFFLINE: u8 = 2;

impl RepoInfo {
    /// Parses the object.
    ///
    /// # Errors
    /// As [`envelope::open`]; `Malformed` for an offset that leads out of the file, or parts that share their bytes; `Limit`
    /// for too many entries.
    pub(crate) fn parse(bytes: &Bytes, limits: &Limits) -> Result<Self> {
        let file = envelope::open(bytes, FileKind::RepoInfo, limits)?;
        let table = FlatTable::root(&file.body)?;
        let snapshots = table.vector(4, 4)?;
        let count = limits.count(snapshots.len() as u64, "a list of snapshots")?;
        let mut unshared = UnsharedBytes::of(file.body.len());
        let snapshots = snapshots.tables().map(|table| snapshot(table?, count, &mut unshared));
        let snapshots = snapshots.collect::<Result<_>>()?;
        let deleted = table.vector(3, 4)?;
        limits.count(deleted.len() as u64, "a list of deleted tags")?;
        let deleted_tag = |index| {
            unshared.take(deleted.text_len(index)?)?;
            deleted.text(index)
        };
        let deleted_tags = (0..deleted.len()).map(deleted_tag).collect::<Result<_>>()?;
        let config = table.bytes(9)?.map(|config| file.body.slice_ref(config));
        Ok(Self {
            branches: refs(table.vector(2, 4)?, count, limits, &mut unshared)?,
            tags: refs(table.vector(1, 4)?, count, limits, &mut unshared)?,
            deleted_tags,
            snapshots,
            config,
            offline: table.table(5)?.map(offline).transpose()?.flatten(),
        })
    }

    /// The number of the snapshot with an id.
    pub(crate) fn number(&self, id: ObjectName) -> Option<usize> {
        self.snapshots.iter().position(|snapshot| snapshot.id == id)
    }

    /// A snapshot and those before it, the latest first. Those that were removed are the end.
    pub(crate) fn ancestors(&self, number: usize) -> impl Iterator<Item = &SnapshotInfo> {
        let before = |snapshot: &&SnapshotInfo| self.snapshots.get(snapshot.parent?);
        // A parent that is its own descendant cannot make the walk endless.
        std::iter::successors(self.snapshots.get(number), before).take(self.snapshots.len())
    }
}

/// Bytes of a snapshot besides its message: the offset of its fields, its id and its time.
const SNAPSHOT: usize = 24;
/// Bytes of a branch or tag besides its name: the offset of its fields, and the number of the snapshot.
const REF: usize = 8;

fn snapshot(table: FlatTable<'_>, count: usize, unshared: &mut UnsharedBytes) -> Result<SnapshotInfo> {
    let id = table.inline(0)?.map(ObjectName::of_bytes);
    let parent = table.i32(1)?;
    let parent = usize::try_from(parent).ok();
    if let Some(parent) = parent.filter(|parent| *parent >= count) {
        return Err(Error::malformed(format!(
            "snapshot {parent} is the parent of another, of {count} snapshots"
        )));
    }
    let message = table.bytes(3)?.unwrap_or_default();
    unshared.take(SNAPSHOT + message.len())?;
    Ok(SnapshotInfo {
        id: id.ok_or_else(|| Error::malformed("a snapshot without an id"))?,
        parent,
        flushed_at: table.u64(2)?,
        message: String::from_utf8_lossy(message).into_owned(),
    })
}

fn refs(
    list: FlatVector<'_>,
    count: usize,
    limits: &Limits,
    unshared: &mut UnsharedBytes,
) -> Result<Vec<(String, usize)>> {
    limits.count(list.len() as u64, "a list of branches or tags")?;
    let named = |table: Result<FlatTable<'_>>| {
        let table = table?;
        let name = table.text(0)?.unwrap_or_default().to_owned();
        unshared.take(REF + name.len())?;
        let number = usize::try_from(table.u32(1)?).unwrap_or(usize::MAX);
        if number >= count {
            let message = format!("{name:?} names snapshot {number}, of {count} snapshots");
            return Err(Error::malformed(message));
        }
        Ok((name, number))
    };
    list.tables().map(named).collect()
}

/// Why a repository is offline, if it is.
fn offline(status: FlatTable<'_>) -> Result<Option<String>> {
    let reason = status.bytes(2)?.map(|reason| String::from_utf8_lossy(reason).into_owned());
    Ok((status.u8(0)? == OFFLINE).then(|| reason.unwrap_or_default()))
}
