//! Reading and decoding all values.
use super::boxes::{ChunkBoxes, halves_between_chunks, selection_of};
use super::digest::ValueDigest;
use super::is_of_data;
use super::report::{Findings, code_of};
use super::storage::MAX_CHUNKS;
use crate::compare::{Blocks, chunk_grain};
use ncirrus::layout::Layout;
use ncirrus::{Atomic, Error, Region, Result, Selection, Storage, TypeRef, Values, Variable};

/// Bytes of a block; an eighth of the session's memory if that is less.
const BLOCK: usize = 64 << 20;
/// Bytes that stand for an element of no fixed size.
const ANY_SIZE: u64 = 64;

/// What became of the values of a variable.
#[derive(Default)]
pub(super) struct ValuesRead {
    /// Bytes in memory.
    pub(super) bytes: u64,
    pub(super) digest: Option<String>,
}

/// A check of the values of a variable: chunks are decoded in the order of the grid, into one buffer that is used
/// again for the next ones.
pub(super) struct ValueCheck<'a> {
    variable: &'a Variable,
    path: String,
    /// Shape of a chunk.
    grain: Vec<u64>,
    /// Bytes of an element in memory, if that is fixed.
    size: Option<usize>,
    /// Bytes of the numbers, if the type is of numbers.
    number: Option<usize>,
    digest: Option<ValueDigest>,
    progress: &'a dyn Fn(u64),
    findings: &'a mut Findings,
    read: u64,
    done: u64,
}

/// Values of a block.
enum BlockValues {
    Bytes(Vec<u8>),
    Values(Values),
}

impl<'a> ValueCheck<'a> {
    pub(super) fn new(
        variable: &'a Variable,
        digest: bool,
        progress: &'a dyn Fn(u64),
        findings: &'a mut Findings,
    ) -> Self {
        let number = number_len(variable);
        // Bytes of compounds would have to be swapped field by field for a digest.
        let is_plain = !digest || number.is_some();
        Self {
            variable,
            path: variable.path(),
            grain: chunk_grain(variable),
            size: variable.packed_len().filter(|size| *size > 0 && is_plain),
            number,
            digest: digest.then(ValueDigest::default),
            progress,
            findings,
            read: 0,
            done: 0,
        }
    }

    pub(super) fn run(mut self) -> Result<ValuesRead> {
        let shape = self.variable.shape();
        if matches!(self.variable.storage(), Storage::Chunked(_))
            && chunk_count(&shape, &self.grain) > MAX_CHUNKS
        {
            // Reported when the chunks were to be located.
            return Ok(ValuesRead::default());
        }
        let memory = (self.variable.dataset().session().memory() / 8).clamp(1, BLOCK) as u64;
        let max = (memory / self.size.map_or(ANY_SIZE, |size| size as u64)).max(1);
        if self.digest.is_some() {
            self.read_in_order(&shape, max / 2)?;
        } else {
            let mut buffer = Vec::new();
            for region in ChunkBoxes::new(&shape, self.grain.clone(), max) {
                if self.is_stored(&region)? {
                    buffer = self.read_block(&region, buffer)?;
                }
                self.advance(&region);
            }
        }
        Ok(ValuesRead { bytes: self.read, digest: self.digest.map(ValueDigest::finish) })
    }

    fn advance(&mut self, region: &Region) {
        self.done = self.done.saturating_add(region.element_count().unwrap_or_default());
        (self.progress)(self.done);
    }

    /// Whether anything of a block may be stored: an array may be far larger than what was ever written of it.
    fn is_stored(&self, region: &Region) -> Result<bool> {
        let source = self.variable.dataset().source(self.variable)?;
        match &source.layout {
            Layout::Grid { .. } => match self.variable.chunks(&selection_of(region)) {
                Ok(chunks) => Ok(!chunks.is_empty()),
                // Reported when the place was looked up; reading says whether any of it is intact.
                Err(error) if is_of_data(&error) => Ok(true),
                Err(error) => Err(error),
            },
            Layout::Affine { extents, .. } => Ok(!extents.is_empty()),
            Layout::Mosaic { .. } | Layout::Query { .. } => Ok(true),
        }
    }

    /// Reads a block; if it is damaged, its halves, down to the chunk that is.
    fn read_block(&mut self, region: &Region, buffer: Vec<u8>) -> Result<Vec<u8>> {
        let mut rest = vec![region.clone()];
        let mut buffer = buffer;
        while let Some(region) = rest.pop() {
            let reader = BlockReader { variable: self.variable, size: self.size };
            match reader.read(&region, buffer) {
                Ok(BlockValues::Bytes(bytes)) => {
                    self.read = self.read.saturating_add(bytes.len() as u64);
                    buffer = bytes;
                }
                Ok(BlockValues::Values(values)) => {
                    self.read = self.read.saturating_add(values.as_bytes().map_or(0, <[u8]>::len) as u64);
                    buffer = Vec::new();
                }
                Err(error) if is_of_data(&error) => {
                    buffer = Vec::new();
                    match halves_between_chunks(&region, &self.grain) {
                        Some([first, second]) if is_local_damage(&error) => rest.extend([second, first]),
                        _ => self.findings.add_error(code_of(&error), &self.path, &error),
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(buffer)
    }

    /// Reads blocks that follow each other in row-major order, the next one while one is added to the digest. After
    /// damage there is no digest, and the rest is read in the order of chunks.
    fn read_in_order(&mut self, shape: &[u64], max: u64) -> Result<()> {
        // The slowest axes are cut first, inside of chunks if rows of chunks do not fit: such chunks are decoded for
        // each block, which is what the order costs.
        let blocks = Blocks::new(&Selection::all(shape), self.grain.clone(), max);
        let mut regions = blocks.filter_map(|block| block.as_region());
        let reader = BlockReader { variable: self.variable, size: self.size };
        let mut current = regions.next().map(|region| (reader.read(&region, Vec::new()), region));
        let mut spare = Vec::new();
        while let Some((block, region)) = current {
            let block = match block {
                Ok(block) => block,
                Err(error) if is_of_data(&error) => {
                    self.digest = None;
                    self.read_block(&region, Vec::new())?;
                    self.advance(&region);
                    current = regions.next().map(|region| (reader.read(&region, Vec::new()), region));
                    continue;
                }
                Err(error) => return Err(error),
            };
            let following = regions.next();
            let buffer = std::mem::take(&mut spare);
            let read = std::thread::scope(|scope| {
                let reading = following.map(|region| {
                    let (reader, wanted) = (&reader, region.clone());
                    (scope.spawn(move || reader.read(&wanted, buffer)), region)
                });
                self.take_block(&block).map(|()| reading.map(|(reading, region)| (joined(reading), region)))
            })?;
            if let BlockValues::Bytes(bytes) = block {
                spare = bytes;
            }
            self.advance(&region);
            current = read;
        }
        Ok(())
    }

    fn take_block(&mut self, block: &BlockValues) -> Result<()> {
        let Some(digest) = &mut self.digest else { return Ok(()) };
        match block {
            BlockValues::Bytes(bytes) => {
                self.read = self.read.saturating_add(bytes.len() as u64);
                digest.add_native(bytes, self.number.unwrap_or(1));
                Ok(())
            }
            BlockValues::Values(values) => digest.add(values),
        }
    }
}

/// Reads blocks of a variable.
struct BlockReader<'a> {
    variable: &'a Variable,
    size: Option<usize>,
}

impl BlockReader<'_> {
    fn read(&self, region: &Region, mut buffer: Vec<u8>) -> Result<BlockValues> {
        let selection = selection_of(region);
        let Some(size) = self.size else { return self.variable.values(&selection).map(BlockValues::Values) };
        let count = region.element_count().and_then(|count| usize::try_from(count).ok());
        let len = count.and_then(|count| count.checked_mul(size));
        let len = len.ok_or_else(|| Error::limit("a block exceeds this machine's addresses"))?;
        if buffer.capacity() < len {
            buffer = Vec::new();
            buffer
                .try_reserve_exact(len)
                .map_err(|_| Error::limit(format!("no memory for a block of {len} bytes")))?;
        }
        buffer.resize(len, 0);
        self.variable.read_bytes_into(&selection, &mut buffer)?;
        Ok(BlockValues::Bytes(buffer))
    }
}

/// Chunks of an array.
fn chunk_count(shape: &[u64], grain: &[u64]) -> u64 {
    let axes = shape.iter().zip(grain).map(|(len, grain)| len.div_ceil((*grain).max(1)));
    axes.fold(1, u64::saturating_mul)
}

/// Whether damage is confined to chunks, so that others may be intact.
fn is_local_damage(error: &Error) -> bool {
    use ncirrus::ErrorKind::{Malformed, Missing, NotFound};
    matches!(error.kind(), Malformed | Missing | NotFound)
}

/// Bytes of each number of a type that consists of numbers alone.
fn number_len(variable: &Variable) -> Option<usize> {
    match variable.ty()? {
        TypeRef::Atomic(atomic) => atomic.byte_len(),
        ty @ TypeRef::User(_) => variable.dataset().model().ok()?.base_atomic(ty).and_then(Atomic::byte_len),
    }
}

fn joined(thread: std::thread::ScopedJoinHandle<'_, Result<BlockValues>>) -> Result<BlockValues> {
    thread.join().unwrap_or_else(|_| Err(Error::internal("a thread that reads a block panicked")))
}
