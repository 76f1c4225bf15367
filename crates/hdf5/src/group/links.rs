//! Reading the links of a group: symbol tables, link messages, dense storage.
mod dense;
mod message;
mod old;

use super::{GroupLink, GroupLinks, LinkTarget};
use crate::address::{FieldSizes, FileAddress};
use crate::cursor::{ByteCursor, escaped};
use crate::file::Hdf5File;
use crate::object::{ObjectHeader, ObjectRef, header, kind};
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::collections::HashSet;
use std::sync::Arc;

/// The links of a group, read once.
pub(crate) fn links(view: &dyn View, group: &ObjectRef) -> Step<Arc<GroupLinks>> {
    let file = group.file.as_ref();
    file.memo(view, group.addr, "hdf5 links", || {
        let links = read(view, file, header(view, group)?.as_ref())?.arrange();
        let cost = links.list.iter().map(GroupLink::cost).sum();
        Ok((links, cost))
    })
}

fn read(view: &dyn View, file: &Hdf5File, header: &ObjectHeader) -> Step<FoundLinks> {
    if let Some(message) = header.find(kind::LINK_INFO) {
        let info = LinkInfo::parse(&message.body, file)?;
        let mut found = match info.dense {
            Some(dense) => dense::read(view, file, &dense)?,
            None => message::compact(file, header),
        };
        found.tracked = info.tracked;
        return Ok(found);
    }
    if let Some(message) = header.find(kind::SYMBOL_TABLE) {
        return old::read(view, file, &message.body);
    }
    if header.find(kind::LINK).or(header.find(kind::GROUP_INFO)).is_some() {
        return Ok(message::compact(file, header));
    }
    Err(Error::malformed("links of an object that is not a group").into())
}

/// Links in a heap, as the header messages that they would be in a group with such a link info message; none if there
/// is no heap.
///
/// # Errors
/// A need, or damage of any of them.
pub(crate) fn dense_links(view: &dyn View, file: &Hdf5File, info: &[u8]) -> Step<Vec<Bytes>> {
    match LinkInfo::parse(info, file)?.dense {
        Some(dense) => Ok(dense::bodies(view, file, &dense)?.into_iter().collect::<Result<_, _>>()?),
        None => Ok(Vec::new()),
    }
}

/// The name in a link message.
///
/// # Errors
/// If it is damaged.
pub(crate) fn link_name(body: &[u8], sizes: FieldSizes) -> Result<String, Error> {
    Ok(escaped(&message::parse(body, sizes)?.name))
}

/// The link info message (docs/spec/hdf5-netcdf4.md C.2).
#[derive(Debug)]
struct LinkInfo {
    tracked: bool,
    dense: Option<DenseLinks>,
}

/// The location of densely stored links.
#[derive(Debug)]
struct DenseLinks {
    heap: FileAddress,
    by_name: Option<FileAddress>,
    by_order: Option<FileAddress>,
}

impl LinkInfo {
    fn parse(body: &[u8], file: &Hdf5File) -> Result<Self, Error> {
        let mut cursor = ByteCursor::new(body, "a link info message");
        cursor.version(&[0])?;
        let flags = cursor.u8()?;
        let tracked = flags & 1 != 0;
        cursor.skip(if tracked { 8 } else { 0 })?;
        let heap = cursor.addr(file.sizes)?;
        let by_name = cursor.addr(file.sizes)?;
        let by_order = if flags & 2 != 0 { cursor.addr(file.sizes)? } else { None };
        Ok(Self { tracked, dense: heap.map(|heap| DenseLinks { heap, by_name, by_order }) })
    }
}

/// Links as read from the file.
#[derive(Debug, Default)]
struct FoundLinks {
    list: Vec<FoundLink>,
    tracked: bool,
    /// Total size of all names and targets.
    byte_len: usize,
    losses: Vec<Error>,
    /// Number of losses that are not reported individually.
    unsaid: usize,
}

/// A link as it is in the file.
#[derive(Debug)]
struct FoundLink {
    name: Vec<u8>,
    /// Number in the order of creation.
    order: Option<i64>,
    target: LinkTarget,
}

impl FoundLinks {
    /// Adds a link, or records why it cannot be read.
    fn take(&mut self, link: Result<FoundLink, Error>) {
        match link {
            Ok(link) if link.name.is_empty() => self.lose(Error::malformed("a link has no name")),
            Ok(link) if self.byte_len > MAX_BYTES => {
                let name = escaped(&link.name);
                self.lose(Error::limit(format!("link {name:?}: too many bytes of names in one group")));
            }
            Ok(link) => {
                self.byte_len += link.name.len() + link.target.byte_len();
                self.list.push(link);
            }
            Err(error) => self.lose(retold("a link", &error)),
        }
    }

    /// Records that a link is missing.
    fn lose(&mut self, error: Error) {
        if self.losses.len() < MAX_LOSSES {
            self.losses.push(error);
        } else {
            self.unsaid += 1;
        }
    }

    /// Records that a node with links cannot be read.
    fn lose_some(&mut self, error: &Error) {
        self.lose(retold("some links", error));
    }

    /// The links in their order; of those with one name the first wins.
    fn arrange(mut self) -> GroupLinks {
        let mut names = HashSet::new();
        let list = std::mem::take(&mut self.list);
        let mut found: Vec<_> = list.into_iter().map(|link| (escaped(&link.name), link)).collect();
        found.retain(|(name, _)| {
            let new = names.insert(name.clone());
            if !new {
                self.lose(Error::malformed(format!("two links are named {name:?}: the first is used")));
            }
            new
        });
        if self.unsaid > 0 {
            self.losses.push(Error::malformed(format!("{} more like this", self.unsaid)));
        }
        found.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        if self.tracked {
            found.sort_by_key(|(_, link)| (link.order.is_none(), link.order));
        }
        let list: Vec<GroupLink> =
            found.into_iter().map(|(name, link)| GroupLink { name, target: link.target }).collect();
        let mut by_name: Vec<usize> = (0..list.len()).collect();
        by_name.sort_by_key(|index| list.get(*index).map(|link| link.name.as_str()));
        GroupLinks { list, by_name, losses: self.losses, is_tracked: self.tracked }
    }
}

/// What cannot be read, with reason and location.
fn retold(what: &str, error: &Error) -> Error {
    let message = format!("{what} cannot be read: {}", error.message());
    let (reported, place) = (Error::new(error.kind(), message), error.place());
    let reported = place.object.iter().fold(reported, |reported, object| reported.at_object(object));
    place.offset.iter().fold(reported, |reported, offset| reported.at_offset(*offset))
}

impl GroupLink {
    /// Approximate size in memory.
    fn cost(&self) -> usize {
        size_of::<Self>() + size_of::<usize>() + self.name.len() + self.target.byte_len()
    }
}

impl LinkTarget {
    /// Size of its text.
    fn byte_len(&self) -> usize {
        match self {
            Self::Soft(path) => path.len(),
            Self::External { file, path } => file.len() + path.len(),
            Self::Hard(_) | Self::Unknown(_) => 0,
        }
    }
}

/// More bytes than the links of any real group have; in a damaged file names may overlap.
const MAX_BYTES: usize = 1 << 28;
/// Maximum number of losses of one group that are reported individually.
const MAX_LOSSES: usize = 100;

#[cfg(test)]
mod tests;
