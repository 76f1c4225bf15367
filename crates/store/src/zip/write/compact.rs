//! Entries are moved together when replaced ones take up much of the file.
use super::super::format::{self, EntryHeader};
use super::{ZipSlot, ZipState};
use crate::{fault, platform};
use ncirrus_layout::Result;
use std::fs::File;

/// A file with a smaller unused fraction than one in this number stays as it is.
const SHARE: u64 = 4;
/// A file with fewer unused bytes stays as it is.
const FEW: u64 = 64 << 10;
/// Size of the data descriptor behind the content of an entry that could not be moved.
const LONGEST_DESCRIPTOR: u64 = 24;
/// Bytes moved at a time.
const PIECE: usize = 4 << 20;

impl ZipState {
    /// Closes the gaps, if that is worth it.
    pub(super) fn compact(&mut self, file: &File) -> Result<()> {
        let used: u64 = self.in_order().iter().map(|(_, slot)| slot.end() - slot.header.offset).sum();
        let unused = self.end.saturating_sub(used);
        if unused < FEW || unused < self.end / SHARE {
            return Ok(());
        }
        let listed: Vec<(String, ZipSlot)> =
            self.in_order().into_iter().map(|(name, slot)| (name.to_owned(), *slot)).collect();
        let mut end = 0;
        for (name, slot) in listed {
            let moved = move_down(file, &name, &slot, end)?;
            end = moved.end()
                + if moved.header.flags & format::DESCRIPTOR == 0 { 0 } else { LONGEST_DESCRIPTOR };
            if let Some(folder) = self.folders.as_mut().and_then(|folders| folders.get_mut(&name)) {
                *folder = moved;
            } else {
                self.entries.insert(&name, moved);
            }
        }
        self.end = end;
        Ok(())
    }
}

/// Moves an entry to a lower offset with a header of our own; it stays if that would not fit before its content.
fn move_down(file: &File, name: &str, slot: &ZipSlot, to: u64) -> Result<ZipSlot> {
    let head = format::write_local(name, &slot.header)?;
    let content = to.saturating_add(head.len() as u64);
    if content > slot.content {
        return Ok(*slot);
    }
    let failed = |error| fault::of_io(error, name);
    platform::write_at(file, &head, to).map_err(failed)?;
    let mut piece = Vec::new();
    let mut done = 0;
    while done < slot.header.compressed {
        let len = usize::try_from(slot.header.compressed - done).map_or(PIECE, |left| left.min(PIECE));
        piece.clear();
        let read = platform::read_append(file, &mut piece, slot.content + done, len).map_err(failed)?;
        if read == 0 {
            return Err(ncirrus_layout::Error::malformed("zip file is cut off").at_object(name));
        }
        platform::write_at(file, &piece, content + done).map_err(failed)?;
        done += read as u64;
    }
    let flags = slot.header.flags & !format::DESCRIPTOR;
    Ok(ZipSlot { header: EntryHeader { offset: to, flags, ..slot.header }, content })
}
