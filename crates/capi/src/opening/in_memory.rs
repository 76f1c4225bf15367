//! Files in the memory of programs.
use crate::c_types::codes::{self, Code, NC_EDISKLESS, NC_EINMEMORY, NC_EINVAL, Outcome};
use crate::c_types::memory::{BytesOut, CText, Lending, LentBlock, MemoryFile, Out, allocated, free_address};
use crate::c_types::modes::{DISKLESS, INMEMORY, MMAP, WRITE};
use crate::files::file_state::{FileCore, FileFormat, FileOrigin};
use crate::files::opened_blocks::{self, OpenedBlock};
use crate::files::{self, OpenFile};
use crate::process::open_options;
use ncirrus::Dataset;
use std::ffi::c_int;
use std::sync::Arc;

/// `NC_MEMIO_LOCKED`: the bytes stay the program's.
const LOCKED: c_int = 1;

/// `nc_open_mem`: the bytes stay the program's, and are not changed.
pub(crate) fn open(path: CText, mode: c_int, len: usize, memory: BytesOut, ncid: Out<c_int>) -> Outcome<()> {
    if memory.is_null() || len < 8 || isize::try_from(len).is_err() || mode & MMAP != 0 {
        return Err(Code(NC_EINVAL));
    }
    if mode & WRITE != 0 {
        return Err(Code(NC_EINVAL));
    }
    open_block(&path, mode, OpenedBlock::new(memory.address(), len, false), ncid)
}

/// `nc_open_memio`: without `NC_MEMIO_LOCKED` the bytes become the library's.
pub(crate) fn open_for_changes(path: CText, mode: c_int, file: MemoryFile, ncid: Out<c_int>) -> Outcome<()> {
    let info = file.read().ok_or(Code(NC_EINVAL))?;
    if info.len == 0 || isize::try_from(info.len).is_err() || info.address == 0 || mode & MMAP != 0 {
        return Err(Code(NC_EINVAL));
    }
    if mode & DISKLESS != 0 {
        return Err(Code(NC_EDISKLESS));
    }
    let is_ours = info.flags & LOCKED == 0;
    open_block(&path, mode, OpenedBlock::new(info.address, info.len, is_ours), ncid)
}

fn open_block(path: &CText, mode: c_int, block: OpenedBlock, ncid: Out<c_int>) -> Outcome<()> {
    let path = path.bytes()?.to_vec();
    let writes = mode & WRITE != 0;
    crate::opening::fork::watch();
    let (session, options) = (files::session()?, open_options());
    let lent = bytes::Bytes::from_owner(LentBlock::new(block.address, block.len, &block.lending));
    let opened = if writes {
        Dataset::update_bytes(lent, &options, &session)
    } else {
        Dataset::open_bytes(lent, &options, &session)
    };
    let dataset = opened.map_err(codes::of_opening)?;
    let format = FileFormat::of_whole(&dataset).map_err(codes::of_opening)?;
    let origin = if writes { FileOrigin::Memory } else { FileOrigin::Reading };
    let core = FileCore::new(dataset, origin, format, None, false).map_err(codes::of_opening)?;
    if writes && !block.is_ours && format.is_classic() {
        core.state().locked_len = Some(block.len as u64);
    }
    let id = files::insert(OpenFile::new(Arc::new(core), mode | INMEMORY, path, writes))?;
    opened_blocks::insert(id, block);
    ncid.store(id)
}

/// Makes the changes of a file in the program's own memory, when its last handle is closed.
///
/// # Errors
/// `NC_EINMEMORY` if there is no room for them, and those of writing.
pub(crate) fn put_back(ncid: c_int, file: &OpenFile) -> Outcome<()> {
    let block = opened_blocks::find(ncid & !0xffff).filter(|block| !block.is_ours && file.writes);
    let Some(block) = block else { return Ok(()) };
    let bytes = file.core.alone().dataset.clone().finish_bytes()?;
    if block.store(&bytes) { Ok(()) } else { Err(Code(NC_EINMEMORY)) }
}

impl OpenedBlock {
    fn new(address: usize, len: usize, is_ours: bool) -> Self {
        Self { address, len, is_ours, lending: Lending::default() }
    }

    /// Whether bytes are the first ones of the block itself: those of a file that was not changed.
    fn has(&self, bytes: &[u8]) -> bool {
        bytes.as_ptr().addr() == self.address
    }

    /// Stores the bytes of a file in a block; `false` if it has no room for them.
    fn store(&self, bytes: &[u8]) -> bool {
        let fits = bytes.len() <= self.len;
        fits && (self.has(bytes) || BytesOut::at_address(self.address).write(bytes).is_ok())
    }

    /// Waits until nothing of a file reads the block, which its owner may free then.
    fn take_back(&self, file: Arc<OpenFile>) {
        // What a child process inherited stays with the threads of its parent.
        let is_inherited = file.is_inherited();
        drop(file);
        if !is_inherited {
            self.lending.wait_for_return();
        }
    }
}

/// Gives up a file that is closed without anybody asking for its bytes.
pub(crate) fn forget(ncid: c_int, file: Arc<OpenFile>) {
    if let Some(block) = opened_blocks::remove(ncid & !0xffff) {
        block.take_back(file);
        if block.is_ours {
            free_address(block.address);
        }
    }
}

/// `nc_close_memio`: the bytes as they are at the end; the program frees them.
pub(crate) fn close(ncid: c_int, out: MemoryFile) -> Outcome<()> {
    if files::group_of(ncid)?.file.mode & INMEMORY == 0 {
        return Err(Code(NC_EINMEMORY));
    }
    let block = opened_blocks::remove(ncid & !0xffff);
    let file = files::remove(ncid)?;
    file.core.release();
    let is_hdf5 = file.is_hdf5();
    let ended = match &block {
        Some(block) if !file.writes => Ok((block.len, block.address)),
        _ => finished(&file, block.as_ref()),
    };
    let mut flags = 0;
    if let Some(block) = block {
        block.take_back(file);
        let is_answered = matches!(ended, Ok((_, address)) if address == block.address);
        match (block.is_ours, is_answered) {
            (true, false) => free_address(block.address),
            (false, true) => flags = LOCKED,
            (true, true) | (false, false) => {}
        }
    }
    let (len, address) = ended?;
    // For netCDF-3, the reference leaves the program's flags as they are.
    out.set(len, address, is_hdf5.then_some(flags));
    Ok(())
}

/// Where the bytes of a file that was written are: in the block that it was opened from, or in one for the program.
fn finished(file: &OpenFile, block: Option<&OpenedBlock>) -> Outcome<(usize, usize)> {
    let mut state = file.core.alone();
    state.end_definitions()?;
    let bytes = state.dataset.clone().finish_bytes()?;
    match block {
        // Locked memory is answered again, with its room.
        Some(block) if !block.is_ours && block.store(&bytes) => Ok((block.len, block.address)),
        Some(block) if block.is_ours && block.has(&bytes) => Ok((bytes.len(), block.address)),
        _ => Ok((bytes.len(), allocated(&bytes)?)),
    }
}
