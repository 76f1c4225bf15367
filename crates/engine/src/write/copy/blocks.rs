//! How a copy is cut into blocks: pure arithmetic.
//!
//! A block is made of whole chunks of the target, so that each is encoded once. A chunk of the source is decoded for
//! every block that touches it: of all block shapes that fit in memory, the one that touches the fewest chunks in total
//! is chosen. If small blocks touch no more chunks than large ones, they are small, and the next one is read while one
//! is written.
#[cfg(test)]
mod tests;

/// A copy that is to be cut into blocks: all lengths are in elements per axis.
#[derive(Debug, Clone)]
pub(super) struct CopyTask {
    /// Shape of what is copied.
    pub(super) shape: Vec<u64>,
    /// Its start in the source.
    pub(super) offset: Vec<u64>,
    /// Chunk lengths of the source; 1 where the cut makes no difference.
    pub(super) source: Vec<u64>,
    /// Chunk lengths of the target.
    pub(super) target: Vec<u64>,
    /// Bytes that an element takes in memory.
    pub(super) element: u64,
    /// Bytes that all blocks together may take.
    pub(super) memory: u64,
    /// Bytes that a block should not exceed unless that avoids repeated decoding.
    pub(super) comfort: u64,
}

/// How a copy is cut into blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CopyCut {
    /// Lengths of a block; the last ones end with the array.
    pub(super) block: Vec<u64>,
    /// Blocks in memory at once.
    pub(super) in_flight: u64,
    /// Number of blocks.
    pub(super) blocks: u64,
    /// Number of chunks of the source.
    pub(super) chunks: u64,
    /// Number of chunks of the source, counted once for every block that touches them.
    pub(super) touched: u64,
    /// Maximum number of blocks that touch the same chunk.
    pub(super) max: u64,
    /// Bytes of a block.
    pub(super) block_bytes: u64,
}

/// A choice for the axes considered so far, last axis first.
#[derive(Debug, Clone)]
struct BlockChoice {
    elements: u64,
    touched: u64,
    lengths: Vec<u64>,
}

/// Maximum number of choices that are kept from one axis to the next.
const KEPT: usize = 512;
/// Chunks along an axis that are examined one by one.
const LOOKED_AT: u64 = 1 << 12;

impl CopyTask {
    /// Cuts the copy.
    pub(super) fn cut(&self) -> CopyCut {
        let choices = self.choices();
        let fewest = |limit: u64| {
            let fits = choices.iter().filter(|choice| self.bytes(choice.elements) <= limit);
            fits.min_by_key(|choice| (choice.touched, choice.elements))
        };
        let best = fewest(self.memory);
        let equal =
            |limit| fewest(limit).filter(|choice| best.is_some_and(|best| choice.touched == best.touched));
        let comfort = self.comfort.min(self.memory / 2);
        let (choice, room, in_flight) = match (equal(comfort), equal(self.memory / 2)) {
            (Some(choice), _) => (Some(choice), comfort, 2),
            (None, Some(choice)) => (Some(choice), 0, 2),
            (None, None) => (best.or(choices.first()), 0, 1),
        };
        let mut block: Vec<u64> = choice.map(|choice| choice.lengths.clone()).unwrap_or_default();
        block.reverse();
        self.enlarge(&mut block, room);
        self.describe(block, in_flight)
    }

    /// The whole copy in one block.
    pub(super) fn whole(&self) -> CopyCut {
        let lens = self.shape.iter().enumerate().map(|(axis, _)| self.axis(axis));
        let block = lens.map(|axis| axis.len.div_ceil(axis.cell).saturating_mul(axis.cell)).collect();
        self.describe(block, 1)
    }

    /// The task of cutting the same array into blocks of whole chunks of the source that touch few chunks of the
    /// target. It begins where the first chunk does.
    pub(super) fn turned(&self, memory: u64) -> Self {
        let axes: Vec<TaskAxis> = (0..self.shape.len()).map(|axis| self.axis(axis)).collect();
        let lead = |axis: &TaskAxis| axis.offset % axis.chunk;
        let offset = |axis: &TaskAxis| (axis.cell - lead(axis) % axis.cell) % axis.cell;
        Self {
            shape: axes.iter().map(|axis| axis.len.saturating_add(lead(axis))).collect(),
            offset: axes.iter().map(offset).collect(),
            source: axes.iter().map(|axis| axis.cell).collect(),
            target: axes.iter().map(|axis| axis.chunk).collect(),
            element: self.element,
            memory,
            comfort: 0,
        }
    }

    /// The figures of a cut.
    fn describe(&self, block: Vec<u64>, in_flight: u64) -> CopyCut {
        let axes =
            || (0..self.shape.len()).map(|axis| (self.axis(axis), block.get(axis).copied().unwrap_or(1)));
        let product = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(1u64, u64::saturating_mul);
        let blocks = product(&mut axes().map(|(axis, len)| axis.len.div_ceil(len)));
        let elements = product(&mut axes().map(|(axis, len)| axis.len.min(len)));
        CopyCut {
            in_flight: in_flight.min(blocks),
            blocks,
            chunks: product(&mut axes().map(|(axis, _)| axis.chunks())),
            touched: product(&mut axes().map(|(axis, len)| axis.touched(len))),
            max: product(&mut axes().map(|(axis, len)| axis.max(len))),
            block_bytes: self.bytes(elements),
            block,
        }
    }

    fn bytes(&self, elements: u64) -> u64 {
        elements.saturating_mul(self.element.max(1))
    }

    fn axis(&self, axis: usize) -> TaskAxis {
        let at = |list: &[u64], default| list.get(axis).copied().unwrap_or(default);
        TaskAxis {
            len: at(&self.shape, 1).max(1),
            offset: at(&self.offset, 0),
            chunk: at(&self.source, 1).max(1),
            cell: at(&self.target, 1).max(1),
        }
    }

    /// The shapes worth considering: each touches fewer chunks than all smaller ones. The smallest comes first.
    fn choices(&self) -> Vec<BlockChoice> {
        let mut choices = vec![BlockChoice { elements: 1, touched: 1, lengths: Vec::new() }];
        for axis in (0..self.shape.len()).rev().map(|axis| self.axis(axis)) {
            let mut longer = Vec::new();
            for len in axis.lengths() {
                let touched = axis.touched(len);
                longer.extend(choices.iter().map(|choice| BlockChoice {
                    elements: choice.elements.saturating_mul(len.min(axis.len)),
                    touched: choice.touched.saturating_mul(touched),
                    lengths: choice.lengths.iter().copied().chain([len]).collect(),
                }));
            }
            choices = self.worthwhile(longer);
        }
        choices
    }

    fn worthwhile(&self, mut choices: Vec<BlockChoice>) -> Vec<BlockChoice> {
        // Of equal ones, the one that is longer along the last axes is read in longer runs.
        choices.sort_by(|one, other| {
            let key = |choice: &BlockChoice| (choice.elements, choice.touched);
            key(one).cmp(&key(other)).then_with(|| other.lengths.cmp(&one.lengths))
        });
        let mut kept: Vec<BlockChoice> = Vec::new();
        for choice in choices {
            let fits = self.bytes(choice.elements) <= self.memory;
            if kept.last().is_none_or(|last| choice.touched < last.touched && fits) {
                kept.push(choice);
            }
        }
        let surplus = kept.len().saturating_sub(KEPT);
        // The smallest stays, so that one fits whatever the other axes need.
        kept.drain(1.min(surplus)..1.min(surplus) + surplus);
        kept
    }

    /// Merges whole blocks, along the last axes first, as long as they fit in `room`. Fewer blocks touch no more
    /// chunks.
    fn enlarge(&self, block: &mut [u64], room: u64) {
        for at in (0..block.len()).rev() {
            let elements = block
                .iter()
                .zip(&self.shape)
                .fold(1u64, |all, (len, whole)| all.saturating_mul(*len.min(whole)));
            let times = (room / self.bytes(elements).max(1)).max(1);
            if let (Some(len), Some(whole)) = (block.get_mut(at), self.shape.get(at)) {
                *len = len.saturating_mul(times.min(whole.div_ceil(*len).max(1)));
            }
        }
    }
}

/// One axis of a [`CopyTask`].
#[derive(Debug, Clone, Copy)]
struct TaskAxis {
    len: u64,
    offset: u64,
    chunk: u64,
    cell: u64,
}

impl TaskAxis {
    /// Number of chunks of the source.
    fn chunks(self) -> u64 {
        self.chunk_at(self.len - 1) - self.chunk_at(0) + 1
    }

    fn chunk_at(self, element: u64) -> u64 {
        self.offset.saturating_add(element) / self.chunk
    }

    /// Number of chunks of the source, counted once for every block of that length that touches them.
    fn touched(self, block: u64) -> u64 {
        let borders = self.len.div_ceil(block) - 1;
        self.chunks().saturating_add(borders - self.shared_borders(block, borders))
    }

    /// The number of borders between blocks that are also borders between chunks: `k * block + offset` is a multiple of
    /// the chunk's length for every `period`-th k.
    fn shared_borders(self, block: u64, borders: u64) -> u64 {
        let period = self.chunk / gcd(block, self.chunk);
        let is_shared =
            |k: &u64| (k.saturating_mul(block).saturating_add(self.offset)).is_multiple_of(self.chunk);
        let first = if self.offset.is_multiple_of(self.chunk) {
            Some(period)
        } else {
            (1..=period.min(borders).min(LOOKED_AT)).find(is_shared)
        };
        first.filter(|first| *first <= borders).map_or(0, |first| (borders - first) / period + 1)
    }

    /// Maximum number of blocks of that length that touch the same chunk.
    fn max(self, block: u64) -> u64 {
        let blocks = |chunk: u64| {
            let first = chunk.saturating_mul(self.chunk).saturating_sub(self.offset);
            let end =
                chunk.saturating_add(1).saturating_mul(self.chunk).saturating_sub(self.offset).min(self.len);
            end.saturating_sub(1) / block - first / block + 1
        };
        let first = self.chunk_at(0);
        (first..first.saturating_add(self.chunks().min(LOOKED_AT))).map(blocks).max().unwrap_or(1)
    }

    /// Lengths of blocks worth considering: whole target chunks, also in groups that end with a source chunk.
    fn lengths(self) -> Vec<u64> {
        let cells = self.len.div_ceil(self.cell);
        let group = self.chunk / gcd(self.chunk, self.cell);
        let mut counts = spread(cells);
        counts.extend(
            spread(cells.div_ceil(group)).into_iter().map(|groups| groups.saturating_mul(group).min(cells)),
        );
        counts.sort_unstable();
        counts.dedup();
        counts.into_iter().map(|count| count.saturating_mul(self.cell)).collect()
    }
}

/// How many of `count` things a part has if they are divided evenly into 1, 2, 3 and, beyond some number, increasingly
/// many parts.
fn spread(count: u64) -> Vec<u64> {
    let (mut sizes, mut parts) = (Vec::new(), 1u64);
    loop {
        let size = count.div_ceil(parts).max(1);
        sizes.push(size);
        if size == 1 {
            return sizes;
        }
        parts = parts.saturating_add((parts / 8).max(1));
    }
}

fn gcd(one: u64, other: u64) -> u64 {
    if other == 0 { one.max(1) } else { gcd(other, one % other) }
}
