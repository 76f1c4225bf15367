//! In-place changes of an existing header's messages, version 1 or 2 (docs/spec/hdf5-netcdf4.md J.1).
//!
//! A header is a list of pieces. A change within one piece is one write of that piece. For everything else, as many
//! messages as fit stay in the first piece, the others go to a new piece behind the end of the file, and one write of
//! the first piece switches from the old pieces to the new ones.
mod encode;
mod spread;
#[cfg(test)]
mod tests;

use super::FilePatch;
use super::StructureChange;
use super::header::MessageDraft;
use super::put::put;
use super::space::SpaceAllocator;
use crate::address::{FieldSizes, FileAddress};
use crate::object::{ObjectRef, is_known, kind, pieces};
use bytes::Bytes;
use encode::MessageStyle;
use ncirrus_layout::{Error, Result, Step, View};

/// A header being changed.
#[derive(Debug, Clone)]
pub(crate) struct EditableHeader {
    sizes: FieldSizes,
    style: MessageStyle,
    pieces: Vec<HeaderRoom>,
    messages: Vec<HeldMessage>,
    dirty: bool,
}

/// A piece of the header, without its messages.
#[derive(Debug, Clone)]
struct HeaderRoom {
    addr: FileAddress,
    head: Bytes,
    /// Size of its messages.
    len: usize,
    /// Its messages, including those that manage space.
    count: usize,
    /// Whether one of its messages was changed or removed.
    dirty: bool,
}

/// A message and its piece.
#[derive(Debug, Clone)]
struct HeldMessage {
    draft: MessageDraft,
    home: Option<usize>,
}

impl EditableHeader {
    /// Reads the header for changing.
    ///
    /// # Errors
    /// A need, damage, or a message that only programs that know it may change.
    pub(crate) fn load(view: &dyn View, object: &ObjectRef) -> Step<Self> {
        let found = pieces(view, &object.file, object.addr)?;
        let style = MessageStyle { version: found.version, indexed: found.indexed };
        let mut messages = Vec::new();
        let mut rooms = Vec::new();
        for (home, piece) in found.list.into_iter().enumerate() {
            let (count, len) = (piece.messages.len(), piece.room);
            rooms.push(HeaderRoom { addr: piece.addr, head: piece.head, len, count, dirty: false });
            for message in piece.messages.into_iter().filter(|message| message.kind != NIL) {
                if !is_known(message.kind) && message.flags & FAIL_WHEN_WRITING != 0 {
                    let text = format!("a message of type {:#04x} that is not known here", message.kind);
                    return Err(object.file.at(object.addr, Error::unsupported(text)).into());
                }
                let order = message.order.unwrap_or(0);
                let draft =
                    MessageDraft { kind: message.kind, flags: message.flags, order, body: message.body };
                messages.push(HeldMessage { draft, home: Some(home) });
            }
        }
        let sizes = object.file.sizes;
        Ok(Self { sizes, style, pieces: rooms, messages, dirty: false })
    }

    /// Whether attributes have a creation index.
    pub(crate) fn is_indexed(&self) -> bool {
        self.style.indexed
    }

    /// The messages of that type, each with its index.
    pub(crate) fn all(&self, kind: u16) -> impl Iterator<Item = (usize, &MessageDraft)> + '_ {
        let all = self.messages.iter().map(|held| &held.draft).enumerate();
        all.filter(move |(_, draft)| draft.kind == kind)
    }

    /// The first message of that type.
    pub(crate) fn find(&self, kind: u16) -> Option<(usize, &MessageDraft)> {
        self.all(kind).next()
    }

    /// Replaces the body of a message.
    ///
    /// # Errors
    /// If there is no such message.
    pub(crate) fn set(&mut self, number: usize, body: Bytes) -> Result<()> {
        let draft = MessageDraft { body, ..self.held(number)?.draft.clone() };
        self.replace(number, draft)
    }

    /// Replaces a whole message.
    ///
    /// # Errors
    /// If there is no such message.
    pub(crate) fn replace(&mut self, number: usize, draft: MessageDraft) -> Result<()> {
        let held = self.held(number)?;
        if held.draft == draft {
            return Ok(());
        }
        held.draft = draft;
        let home = held.home;
        self.touch(home)
    }

    fn held(&mut self, number: usize) -> Result<&mut HeldMessage> {
        let count = self.messages.len();
        let held = self.messages.get_mut(number);
        held.ok_or_else(|| Error::internal(format!("message {number} of a header with {count}")))
    }

    /// The message with that index.
    ///
    /// # Errors
    /// If the header has fewer messages.
    pub(crate) fn message(&self, number: usize) -> Result<&MessageDraft> {
        let count = self.messages.len();
        let held = self.messages.get(number).map(|held| &held.draft);
        held.ok_or_else(|| Error::internal(format!("message {number} of a header with {count}")))
    }

    /// Adds a message behind all others, and returns its index.
    pub(crate) fn push(&mut self, draft: MessageDraft) -> usize {
        self.messages.push(HeldMessage { draft, home: None });
        self.dirty = true;
        self.messages.len() - 1
    }

    /// Keeps only the messages that satisfy the test.
    ///
    /// # Errors
    /// If a message is in no piece.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&MessageDraft) -> bool) -> Result<()> {
        let mut homes = Vec::new();
        self.messages.retain(|held| {
            let kept = keep(&held.draft);
            if !kept {
                homes.push(held.home);
            }
            kept
        });
        homes.into_iter().try_for_each(|home| self.touch(home))
    }

    /// Marks that piece as changed; added messages have none.
    fn touch(&mut self, home: Option<usize>) -> Result<()> {
        self.dirty = true;
        let Some(home) = home else { return Ok(()) };
        let count = self.pieces.len();
        let room = self.pieces.get_mut(home);
        room.ok_or_else(|| Error::internal(format!("piece {home} of a header with {count}")))?.dirty = true;
        Ok(())
    }

    /// The number of links to the object, and of uses of its shared messages.
    pub(crate) fn references(&self) -> u32 {
        let at = |bytes: &Bytes, at: usize| bytes.get(at..at + 4)?.try_into().ok().map(u32::from_le_bytes);
        match self.style.version {
            1 => self.pieces.first().and_then(|first| at(&first.head, 4)).unwrap_or(1),
            _ => self.find(kind::REFERENCE_COUNT).and_then(|(_, draft)| at(&draft.body, 1)).unwrap_or(1),
        }
    }

    /// Sets the number of references.
    ///
    /// # Errors
    /// If the header has no field for it.
    pub(crate) fn set_references(&mut self, count: u32) -> Result<()> {
        if count == self.references() {
            return Ok(());
        }
        if self.style.version == 1 {
            let first = self.pieces.first_mut().ok_or_else(|| Error::internal("a header without pieces"))?;
            let mut head = first.head.to_vec();
            put(&mut head, 4, &count.to_le_bytes(), "the head of a header")?;
            first.head = head.into();
            return self.touch(Some(0));
        }
        let body = Bytes::from([&[0], count.to_le_bytes().as_slice()].concat());
        match self.find(kind::REFERENCE_COUNT).map(|(number, _)| number) {
            Some(number) => self.set(number, body),
            None => {
                self.push(MessageDraft { kind: kind::REFERENCE_COUNT, flags: 0, order: 0, body });
                Ok(())
            }
        }
    }

    /// The patches that bring the header to its new state; none if there are no changes. The last patch of `then`
    /// takes effect.
    ///
    /// # Errors
    /// If its first piece is too small for a continuation.
    pub(crate) fn change(&self, space: &mut SpaceAllocator) -> Result<StructureChange> {
        if !self.dirty {
            return Ok(StructureChange::default());
        }
        let marked = self.marked()?;
        match marked.in_place()? {
            Some(patch) => Ok(StructureChange { fresh: Vec::new(), then: vec![patch], released: Vec::new() }),
            None => marked.switch(space),
        }
    }

    /// With marks on messages that were unknown when the header was changed.
    fn marked(&self) -> Result<Self> {
        let mut marked = self.clone();
        for number in 0..marked.messages.len() {
            let held = marked.held(number)?;
            if !is_known(held.draft.kind)
                && held.draft.flags & (MARK_WHEN_UNKNOWN | MARKED) == MARK_WHEN_UNKNOWN
            {
                held.draft.flags |= MARKED;
                let home = held.home;
                marked.touch(home)?;
            }
        }
        Ok(marked)
    }

    /// One write of one piece, if nothing changes in the others and it has the space.
    fn in_place(&self) -> Result<Option<FilePatch>> {
        let dirty: Vec<usize> =
            self.pieces.iter().enumerate().filter(|(_, room)| room.dirty).map(|(at, _)| at).collect();
        let candidates = match dirty.as_slice() {
            [] => 0..self.pieces.len(),
            [one] => *one..*one + 1,
            _ => return Ok(None),
        };
        for at in candidates {
            let room =
                self.pieces.get(at).ok_or_else(|| Error::internal(format!("no piece {at} of a header")))?;
            let here = |held: &&HeldMessage| held.home.is_none() || held.home == Some(at);
            let drafts: Vec<&MessageDraft> =
                self.messages.iter().filter(here).map(|held| &held.draft).collect();
            let Some((area, count)) = self.style.area(&drafts, room.len)? else { continue };
            // The first piece contains the total number of messages (version 1).
            if self.style.version == 1 && at > 0 && count != room.count {
                continue;
            }
            let others: usize = self
                .pieces
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != at)
                .map(|(_, room)| room.count)
                .sum();
            let body = self.style.piece(&room.head, &area, (at == 0).then_some(others + count))?;
            return Ok(Some(FilePatch { addr: room.addr, body }));
        }
        Ok(None)
    }

    /// A new piece for what does not fit in the first one, which is then written.
    fn switch(&self, space: &mut SpaceAllocator) -> Result<StructureChange> {
        let first = self.pieces.first().ok_or_else(|| Error::internal("a header without pieces"))?;
        let drafts: Vec<&MessageDraft> = self
            .messages
            .iter()
            .map(|held| &held.draft)
            .filter(|draft| draft.kind != kind::CONTINUATION)
            .collect();
        let released = self.pieces.iter().skip(1).map(|room| (room.addr, self.style.piece_len(room.len)));
        let mut change = StructureChange { released: released.collect(), ..StructureChange::default() };
        // Pieces but the first are freed: readers follow the old chain until the first piece is written, which comes last.
        let (area, count) = match self.style.area(&drafts, first.len)? {
            Some(all) => all,
            None => {
                let lead = self.style.lead_len(self.sizes);
                let room = first.len.checked_sub(lead).ok_or_else(|| {
                    let text = format!("a header of {} bytes, too small to be continued", first.len);
                    Error::unsupported(text)
                })?;
                let fitting = self.style.fitting(&drafts, room);
                let (stay, go) = drafts.split_at(fitting);
                let len = self.style.new_room(go);
                let Some((area, moved)) = self.style.area(go, len)? else {
                    return Err(Error::internal("a piece too small for its messages"));
                };
                let addr = space.take(self.style.piece_len(len), 8);
                let body = self.style.piece(self.style.signature(), &area, None)?;
                let lead = self.style.lead(addr, body.len() as u64, self.sizes);
                change.fresh.push(FilePatch { addr, body });
                let stay: Vec<&MessageDraft> = stay.iter().copied().chain([&lead]).collect();
                let (area, count) = self
                    .style
                    .area(&stay, first.len)?
                    .ok_or_else(|| Error::internal("messages that do not fit any more"))?;
                (area, count + moved)
            }
        };
        let body = self.style.piece(&first.head, &area, Some(count))?;
        change.then.push(FilePatch { addr: first.addr, body });
        Ok(change)
    }
}

/// Free space.
pub(super) const NIL: u16 = 0;
const FAIL_WHEN_WRITING: u8 = 0x08;
const MARK_WHEN_UNKNOWN: u8 = 0x10;
const MARKED: u8 = 0x20;
