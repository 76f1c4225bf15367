//! Heap ids: the location of an object, in 7 bytes or more (C.3).
use super::huge::HugeObject;
use super::table::DoublingTable;
use crate::address::FieldSizes;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use ncirrus_layout::Error;

/// The encoding of a heap's ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HeapIds {
    /// Bytes of an id.
    len: usize,
    /// Bytes of an offset in the heap, and of an object's length.
    offset_width: usize,
    len_width: usize,
    filtered: bool,
}

/// The contents of an id.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HeapId<'a> {
    Managed {
        offset: u64,
        len: u64,
    },
    Huge(HugeObject),
    /// The key of a huge object in the tree of those.
    HugeKey(u64),
    Tiny(&'a [u8]),
}

impl HeapIds {
    /// `managed`: maximum size of an object in a direct block.
    pub(super) fn new(len: u16, table: DoublingTable, managed: u32, filtered: bool) -> Self {
        let in_block = table.largest.ilog2() as usize + 7;
        let in_object = managed.max(1).ilog2() as usize + 8;
        let len_width = (in_block / 8).min(in_object / 8);
        Self { len: usize::from(len), offset_width: table.offset_width(), len_width, filtered }
    }

    pub(super) fn parse<'a>(&self, id: &'a [u8], file: &Hdf5File) -> Result<HeapId<'a>, Error> {
        let mut cursor = ByteCursor::new(id, "a heap id");
        let first = cursor.u8()?;
        if first & 0xc0 != 0 {
            return Err(Error::unsupported(format!("heap ids of version {}", first >> 6)));
        }
        match first >> 4 {
            0 => Ok(HeapId::Managed {
                offset: cursor.uint(self.offset_width)?,
                len: cursor.uint(self.len_width)?,
            }),
            1 => self.huge(&mut cursor, file.sizes),
            2 => self.tiny(first, &mut cursor),
            kind => Err(Error::malformed(format!("a heap id of kind {kind}"))),
        }
    }

    fn huge<'a>(&self, cursor: &mut ByteCursor<'a>, sizes: FieldSizes) -> Result<HeapId<'a>, Error> {
        if self.is_direct(sizes) {
            return Ok(HeapId::Huge(HugeObject::parse(cursor, sizes, self.filtered)?));
        }
        Ok(HeapId::HugeKey(cursor.uint(self.room().min(8))?))
    }

    /// Whether ids of huge objects contain their locations.
    fn is_direct(&self, sizes: FieldSizes) -> bool {
        let plain = usize::from(sizes.offsets) + usize::from(sizes.lengths);
        let more = if self.filtered { 4 + usize::from(sizes.lengths) } else { 0 };
        self.room() >= plain + more
    }

    fn tiny<'a>(&self, first: u8, cursor: &mut ByteCursor<'a>) -> Result<HeapId<'a>, Error> {
        let high = usize::from(first & 0x0f);
        let len = if self.room() <= 16 { high } else { high << 8 | usize::from(cursor.u8()?) };
        Ok(HeapId::Tiny(cursor.take(len + 1)?))
    }

    /// Bytes behind the first.
    fn room(&self) -> usize {
        self.len.saturating_sub(1)
    }
}
