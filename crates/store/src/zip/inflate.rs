//! The content of an entry from its bytes in the file.
use super::format::{DEFLATED, EntryHeader, STORED};
use super::methods;
use bytes::Bytes;
use flate2::{Decompress, FlushDecompress, Status};
use ncirrus_layout::{Error, Limits, Result};

/// The content of an entry: as long as declared, and with the declared checksum.
pub(super) fn content(header: &EntryHeader, bytes: Bytes, limits: &Limits) -> Result<Bytes> {
    let content = match header.method {
        STORED => bytes,
        DEFLATED => inflate(header, &bytes, limits)?.into(),
        _ => methods::decompress(header, &bytes, limits.chunk_len(header.size, "zip entry")?)?.into(),
    };
    if content.len() as u64 != header.size {
        let message = format!("zip entry has {} bytes instead of {}", content.len(), header.size);
        return Err(Error::malformed(message));
    }
    if crc32fast::hash(&content) == header.crc {
        Ok(content)
    } else {
        Err(Error::malformed("checksum of the zip entry is wrong"))
    }
}

/// Never produces more than the declared number of bytes.
fn inflate(header: &EntryHeader, bytes: &[u8], limits: &Limits) -> Result<Vec<u8>> {
    let len = limits.chunk_len(header.size, "zip entry")?;
    let mut out = Vec::new();
    out.try_reserve_exact(len)
        .map_err(|_| Error::limit(format!("no memory for a zip entry of {len} bytes")))?;
    let mut stream = Decompress::new(false);
    let status =
        stream.decompress_vec(bytes, &mut out, FlushDecompress::Finish).map_err(|_| methods::damaged())?;
    if status == Status::StreamEnd || out.len() == len { Ok(out) } else { Err(methods::damaged()) }
}
