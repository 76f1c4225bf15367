//! Links of existing groups (docs/spec/hdf5-netcdf4.md C.1, C.2, J.2).
use super::message_names::MessageNames;
use crate::address::{FieldSizes, FileAddress};
use crate::cursor::{ByteCursor, escaped};
use crate::file::Hdf5File;
use crate::group::{LinkTarget, dense_links, link_name, links};
use crate::object::{ObjectRef, kind};
use crate::write::edit::EditableHeader;
use crate::write::header::MessageDraft;
use crate::write::message;
use crate::write::out::ByteSink;
use crate::write::put::put;
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View};

/// The links of a group, by name.
#[derive(Debug)]
pub(super) struct NamedLinks<'a> {
    header: &'a mut EditableHeader,
    names: MessageNames,
    sizes: FieldSizes,
}

/// Whether the links of a group are in a symbol table.
pub(super) fn has_symbol_table(header: &EditableHeader) -> bool {
    header.find(kind::SYMBOL_TABLE).is_some() && header.find(kind::LINK_INFO).is_none()
}

impl<'a> NamedLinks<'a> {
    /// The links of a group; dense ones, and those of a symbol table, become messages of the header.
    ///
    /// # Errors
    /// A need, or damage that prevents knowing them all.
    pub(super) fn new(view: &dyn View, group: &ObjectRef, header: &'a mut EditableHeader) -> Step<Self> {
        let file = group.file.as_ref();
        if has_symbol_table(header) {
            from_symbol_table(view, group, header)?;
        } else {
            from_heap(view, file, header)?;
        }
        let mut names = MessageNames::default();
        for (number, draft) in header.all(kind::LINK) {
            names.add(link_name(&draft.body, file.sizes)?, number);
        }
        Ok(Self { header, names, sizes: file.sizes })
    }

    /// Whether there is a link of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.has(name)
    }

    /// Removes links.
    ///
    /// # Errors
    /// If a message is in no piece of the header.
    pub(super) fn remove<'n>(&mut self, names: impl IntoIterator<Item = &'n str>) -> Result<()> {
        self.names.remove(self.header, names)
    }

    /// Renames links, all at once: names may be swapped.
    ///
    /// # Errors
    /// If there is no such link.
    pub(super) fn rename(&mut self, changes: &[(String, String)]) -> Result<()> {
        let mut numbers = Vec::with_capacity(changes.len());
        for (from, to) in changes {
            let Some(number) = self.names.first(from) else {
                return Err(Error::not_found(format!("no link {from:?} in the group")));
            };
            let body = renamed(&self.header.message(number)?.body, to, self.sizes)?;
            self.header.set(number, body)?;
            numbers.push(number);
        }
        changes.iter().for_each(|(from, _)| self.names.forget_first(from));
        changes.iter().zip(numbers).for_each(|((_, to), number)| self.names.add(to.clone(), number));
        Ok(())
    }

    /// Adds a link to an object.
    ///
    /// # Errors
    /// If there is already a link of that name.
    pub(super) fn add(&mut self, name: &str, addr: FileAddress) -> Result<()> {
        if self.has(name) {
            let message = format!("{name:?} is the name of something else in the group");
            return Err(Error::unsupported(message));
        }
        let order = self.next_order()?;
        let body = match order {
            Some(order) => message::link(name, order, addr, self.sizes)?,
            None => link(name, &LinkTarget::Hard(addr), self.sizes)?,
        };
        let number = self.header.push(MessageDraft { kind: kind::LINK, flags: 0, order: 0, body });
        self.names.add(name.to_owned(), number);
        Ok(())
    }

    /// The number of a new link, if the group counts them.
    fn next_order(&mut self) -> Result<Option<u64>> {
        let Some((number, info)) = self.header.find(kind::LINK_INFO) else { return Ok(None) };
        let mut cursor = ByteCursor::new(&info.body, "a link info message");
        cursor.version(&[0])?;
        if cursor.u8()? & 1 == 0 {
            return Ok(None);
        }
        let next = cursor.u64()?;
        let mut body = info.body.to_vec();
        put(&mut body, 2, &next.saturating_add(1).to_le_bytes(), "link info")?;
        self.header.set(number, body.into())?;
        Ok(Some(next))
    }
}

/// Converts links in a heap to messages.
fn from_heap(view: &dyn View, file: &Hdf5File, header: &mut EditableHeader) -> Step<()> {
    let Some((number, info)) = header.find(kind::LINK_INFO) else { return Ok(()) };
    let body = info.body.clone();
    let found = dense_links(view, file, &body)?;
    let flags = *body.get(1).ok_or_else(|| Error::malformed("link info ends early"))?;
    let start = if flags & 1 != 0 { 10 } else { 2 };
    let addresses = if flags & 2 != 0 { 3 } else { 2 };
    let mut bytes = body.to_vec();
    put(&mut bytes, start, &vec![0xff; addresses * usize::from(file.sizes.offsets)], "link info")?;
    header.set(number, bytes.into())?;
    for body in found {
        header.push(MessageDraft { kind: kind::LINK, flags: 0, order: 0, body });
    }
    Ok(())
}

/// Converts an old-style group to a new-style one, which does not track the order of links either.
fn from_symbol_table(view: &dyn View, group: &ObjectRef, header: &mut EditableHeader) -> Step<()> {
    let sizes = group.file.sizes;
    let found = links(view, group)?;
    if let Some(loss) = found.losses.first() {
        return Err(Error::unsupported(format!("changing a group whose links are damaged: {loss}")).into());
    }
    let info = ByteSink::new().u8(0).u8(0).addr(None, sizes).addr(None, sizes).finish();
    header.retain(|draft| draft.kind != kind::SYMBOL_TABLE)?;
    header.push(MessageDraft { kind: kind::LINK_INFO, flags: 0, order: 0, body: info });
    header.push(MessageDraft { kind: kind::GROUP_INFO, flags: 0, order: 0, body: message::group_info() });
    for found in &found.list {
        let body = link(&found.name, &found.target, sizes)?;
        header.push(MessageDraft { kind: kind::LINK, flags: 0, order: 0, body });
    }
    Ok(())
}

/// A link with unknown creation order.
fn link(name: &str, target: &LinkTarget, sizes: FieldSizes) -> Result<Bytes> {
    const TYPE: u8 = 8;
    const CHARSET: u8 = 0x10;
    let (code, width) = width(name.len());
    let mut out = ByteSink::new();
    out.u8(1);
    match target {
        LinkTarget::Hard(_) => out.u8(CHARSET | code).u8(1),
        _ => out.u8(TYPE | CHARSET | code).u8(1).u8(1),
    };
    out.uint(name.len() as u64, width).bytes(name.as_bytes());
    match target {
        LinkTarget::Hard(addr) => out.addr(Some(*addr), sizes),
        LinkTarget::Soft(path) => {
            let len = u16::try_from(path.len()).map_err(|_| Error::unsupported("a soft link of 64 KiB"))?;
            out.u16(len).bytes(path.as_bytes())
        }
        LinkTarget::External { .. } | LinkTarget::Unknown(_) => {
            return Err(Error::internal("an old-style group with a new-style link"));
        }
    };
    Ok(out.finish())
}

/// A link message with another name.
fn renamed(body: &[u8], name: &str, sizes: FieldSizes) -> Result<Bytes> {
    link_name(body, sizes)?;
    let mut cursor = ByteCursor::new(body, "a link message");
    cursor.skip(1)?;
    let flags = cursor.u8()?;
    let kind = if flags & 8 != 0 { cursor.take(1)? } else { &[] };
    let order = if flags & 4 != 0 { cursor.take(8)? } else { &[] };
    cursor.skip(if flags & 0x10 != 0 { 1 } else { 0 })?;
    let len = cursor.uint(1 << (flags & 3))?;
    let old = escaped(cursor.take_u64(len)?);
    if old == name {
        return Ok(Bytes::copy_from_slice(body));
    }
    let (code, width) = width(name.len());
    let mut out = ByteSink::new();
    out.u8(1).u8((flags & !3) | 0x10 | code).bytes(kind).bytes(order).u8(1);
    out.uint(name.len() as u64, width).bytes(name.as_bytes()).bytes(cursor.rest());
    Ok(out.finish())
}

/// The encoding of the length of a name: the code in the flags, and the bytes.
fn width(len: usize) -> (u8, usize) {
    if len < 256 { (0, 1) } else { (1, 2) }
}
