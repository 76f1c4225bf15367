//! Reading the links of a group: symbol tables, link messages, dense storage.
mod dense;
mod message;
mod old;

use super::{Link, LinkTarget, Links};
use crate::cursor::{Cursor, escaped};
use crate::file::{Addr, File};
use crate::object::{Header, ObjectRef, header, kind};
use ncirrus_layout::{Error, Step, View};
use std::collections::HashSet;
use std::sync::Arc;

/// The links of a group, read once.
pub(crate) fn links(view: &dyn View, group: &ObjectRef) -> Step<Arc<Links>> {
    let file = group.file.as_ref();
    file.memo(view, group.addr, "hdf5 links", || {
        let links = read(view, file, header(view, group)?.as_ref())?.arrange();
        let cost = links.list.iter().map(Link::cost).sum();
        Ok((links, cost))
    })
}

fn read(view: &dyn View, file: &File, header: &Header) -> Step<Found> {
    if let Some(message) = header.find(kind::LINK_INFO) {
        let info = LinkInfo::parse(&message.body, file)?;
        let mut found = match info.dense {
            Some(dense) => dense::read(view, file, &dense)?,
            None => message::compact(view, file, header)?,
        };
        found.tracked = info.tracked;
        return Ok(found);
    }
    if let Some(message) = header.find(kind::SYMBOL_TABLE) {
        return old::read(view, file, &message.body);
    }
    if header.find(kind::LINK).or(header.find(kind::GROUP_INFO)).is_some() {
        return message::compact(view, file, header);
    }
    Err(Error::malformed("links are asked of an object that is no group").into())
}

/// The link info message (C.2).
#[derive(Debug)]
struct LinkInfo {
    tracked: bool,
    dense: Option<Dense>,
}

/// Where densely stored links are.
#[derive(Debug)]
struct Dense {
    heap: Addr,
    by_name: Option<Addr>,
    by_order: Option<Addr>,
}

impl LinkInfo {
    fn parse(body: &[u8], file: &File) -> Result<Self, Error> {
        let mut cursor = Cursor::new(body, "a link info message");
        cursor.version(&[0])?;
        let flags = cursor.u8()?;
        let tracked = flags & 1 != 0;
        cursor.skip(if tracked { 8 } else { 0 })?;
        let heap = cursor.addr(file.sizes)?;
        let by_name = cursor.addr(file.sizes)?;
        let by_order = if flags & 2 != 0 { cursor.addr(file.sizes)? } else { None };
        Ok(Self { tracked, dense: heap.map(|heap| Dense { heap, by_name, by_order }) })
    }
}

/// Links as they come from the file.
#[derive(Debug, Default)]
struct Found {
    list: Vec<FoundLink>,
    tracked: bool,
    warnings: Vec<String>,
}

/// A link as it is in the file.
#[derive(Debug)]
struct FoundLink {
    name: Vec<u8>,
    /// Number in the order of creation.
    order: Option<i64>,
    target: LinkTarget,
}

impl Found {
    /// Takes a link, or notes why it cannot be read; links without a name are passed over.
    fn take(&mut self, link: Result<FoundLink, Error>) {
        match link {
            Ok(link) if link.name.is_empty() => {}
            Ok(link) => self.list.push(link),
            Err(error) => self.warnings.push(format!("a link cannot be read: {error}")),
        }
    }

    /// Notes that a node with links cannot be read.
    fn lose(&mut self, error: &Error) {
        self.warnings.push(format!("some links cannot be read: {error}"));
    }

    /// The links in their order; of those with one name the first counts.
    fn arrange(mut self) -> Links {
        let mut warnings = self.warnings;
        let mut names = HashSet::new();
        let mut found: Vec<_> = self.list.drain(..).map(|link| (escaped(&link.name), link)).collect();
        found.retain(|(name, _)| {
            let new = names.insert(name.clone());
            warnings.extend((!new).then(|| format!("two links are named {name:?}: the first is taken")));
            new
        });
        found.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        if self.tracked {
            found.sort_by_key(|(_, link)| (link.order.is_none(), link.order));
        }
        let list: Vec<Link> =
            found.into_iter().map(|(name, link)| Link { name, target: link.target }).collect();
        let mut by_name: Vec<usize> = (0..list.len()).collect();
        by_name.sort_by_key(|index| list.get(*index).map(|link| link.name.as_str()));
        Links { list, tracked: self.tracked, by_name, warnings }
    }
}

impl Link {
    /// Bytes that it takes, roughly.
    fn cost(&self) -> usize {
        let target = match &self.target {
            LinkTarget::Soft(path) => path.len(),
            LinkTarget::External { file, path } => file.len() + path.len(),
            LinkTarget::Hard(_) | LinkTarget::Unknown(_) => 0,
        };
        size_of::<Self>() + size_of::<usize>() + self.name.len() + target
    }
}

#[cfg(test)]
mod tests;
