//! The distribution of an extensible array's elements over blocks: arithmetic only (docs/spec/hdf5-netcdf4.md E.6).
use crate::cursor::ByteCursor;
use crate::layout::IndexKind;
use ncirrus_layout::{Error, Result};

#[cfg(test)]
mod tests;

/// The parameters of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ArrayShape {
    /// Bits of the largest number of elements.
    max_bits: u32,
    /// Elements in the index block.
    in_index: u64,
    /// Elements of the smallest data block, a power of two.
    min_elements: u64,
    /// Data blocks of the smallest super block, a power of two.
    min_pointers: u64,
    page_bits: u32,
}

/// The run of elements that holds one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ElementHome {
    /// In the index block.
    Index,
    /// The data block of that number among those that the index block points to, and how many elements it has.
    Direct { block: u64, count: u64 },
    /// A page (0 when there are none) of a data block of a super block.
    Super { number: u32, block: u64, page: u64 },
}

impl ElementHome {
    /// The super block that it is below.
    pub(crate) fn super_block(self) -> Option<u32> {
        match self {
            Self::Index | Self::Direct { .. } => None,
            Self::Super { number, .. } => Some(number),
        }
    }
}

impl ArrayShape {
    /// The parameters in the header; the layout message has two of them in reverse order.
    pub(crate) fn parse(cursor: &mut ByteCursor<'_>) -> Result<Self> {
        let max_bits = u32::from(cursor.u8()?);
        let in_index = u64::from(cursor.u8()?);
        let min_elements = u64::from(cursor.u8()?);
        let min_pointers = u64::from(cursor.u8()?);
        let page_bits = u32::from(cursor.u8()?);
        let shape = Self { max_bits, in_index, min_elements, min_pointers, page_bits };
        let is_sound = max_bits <= 64
            && page_bits <= max_bits
            && min_elements.is_power_of_two()
            && min_pointers.is_power_of_two()
            && 2 * min_pointers.ilog2() <= shape.all_super_blocks()
            && shape.direct_elements() <= shape.page_len();
        if is_sound {
            return Ok(shape);
        }
        Err(Error::malformed(format!("an extensible array cannot have the parameters {shape:?}")))
    }

    /// The parameters in a layout message.
    pub(crate) fn of(kind: IndexKind) -> Result<Self> {
        let IndexKind::ExtensibleArray { max_bits, in_index, min_pointers, min_elements, page_bits } = kind
        else {
            return Err(Error::internal("an extensible array of another kind"));
        };
        Self::parse(&mut ByteCursor::new(
            &[max_bits, in_index, min_elements, min_pointers, page_bits],
            "parameters",
        ))
    }

    /// The parameters in the header.
    pub(crate) fn parameters(&self) -> [u64; 5] {
        let Self { max_bits, in_index, min_elements, min_pointers, page_bits } = *self;
        [u64::from(max_bits), in_index, min_elements, min_pointers, u64::from(page_bits)]
    }

    /// The position of an element: its run and its index there; `None` for one beyond the largest.
    pub(crate) fn home(&self, element: u64) -> Option<(ElementHome, usize)> {
        let Some(rest) = element.checked_sub(self.in_index) else {
            return Some((ElementHome::Index, usize::try_from(element).ok()?));
        };
        let number = (rest / self.min_elements).checked_add(1)?.ilog2();
        if number >= self.all_super_blocks() {
            return None;
        }
        let rest = rest.checked_sub(((1u64 << number) - 1).checked_mul(self.min_elements)?)?;
        let count = self.elements_of(number);
        let (block, at) = (rest / count, rest % count);
        if number < self.first_super() {
            let before: u64 = (0..number).map(|number| self.blocks_of(number)).sum();
            return Some((ElementHome::Direct { block: before + block, count }, usize::try_from(at).ok()?));
        }
        let page_len = if self.pages_of(number) == 0 { count } else { self.page_len() };
        Some((
            ElementHome::Super { number, block, page: at / page_len },
            usize::try_from(at % page_len).ok()?,
        ))
    }

    /// The first element of a super block's data blocks, not counting those in the index block.
    pub(crate) fn start_of(&self, number: u32) -> u64 {
        (0..number).fold(0u64, |start, before| {
            start.saturating_add(self.blocks_of(before).saturating_mul(self.elements_of(before)))
        })
    }

    /// The super block of a data block that the index block points to.
    pub(crate) fn super_of_direct(&self, block: u64) -> u32 {
        let mut left = block;
        for number in 0..self.first_super() {
            match left.checked_sub(self.blocks_of(number)) {
                None => return number,
                Some(rest) => left = rest,
            }
        }
        self.first_super()
    }

    /// Elements in the index block.
    pub(crate) fn in_index(&self) -> u64 {
        self.in_index
    }

    /// Data blocks that the index block points to.
    pub(crate) fn direct_blocks(&self) -> u64 {
        2 * (self.min_pointers - 1)
    }

    /// Super blocks that the index block points to.
    pub(crate) fn super_blocks(&self) -> u64 {
        u64::from(self.all_super_blocks().saturating_sub(self.first_super()))
    }

    /// The index of a super block among the pointers of the index block.
    pub(crate) fn place_of_super(&self, number: u32) -> u64 {
        u64::from(number.saturating_sub(self.first_super()))
    }

    /// Bytes of a block's offset.
    pub(crate) fn offset_len(&self) -> u64 {
        u64::from(self.max_bits.div_ceil(8))
    }

    /// Data blocks of a super block.
    pub(crate) fn blocks_of(&self, number: u32) -> u64 {
        1u64.checked_shl(number / 2).unwrap_or(u64::MAX)
    }

    /// Elements of each data block of a super block.
    pub(crate) fn elements_of(&self, number: u32) -> u64 {
        1u64.checked_shl(number.div_ceil(2)).unwrap_or(u64::MAX).saturating_mul(self.min_elements)
    }

    /// Pages of each data block of a super block; 0 when they have none.
    pub(crate) fn pages_of(&self, number: u32) -> u64 {
        let pages = self.elements_of(number) / self.page_len();
        if pages > 1 { pages } else { 0 }
    }

    fn page_len(&self) -> u64 {
        1u64.checked_shl(self.page_bits).unwrap_or(u64::MAX)
    }

    /// The first super block that is a structure of its own.
    fn first_super(&self) -> u32 {
        2 * self.min_pointers.ilog2()
    }

    fn all_super_blocks(&self) -> u32 {
        (1 + self.max_bits).saturating_sub(self.min_elements.ilog2())
    }

    /// Elements of the largest data block that the index block points to.
    fn direct_elements(&self) -> u64 {
        self.first_super().checked_sub(1).map_or(0, |number| self.elements_of(number))
    }
}
