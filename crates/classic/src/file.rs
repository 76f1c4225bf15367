//! An opened file: only its header is read.
use crate::cursor::ParseHalt;
use crate::header::ClassicHeader;
use ncirrus_layout::{Error, ObjectBytes, ObjectId, Step, View, Want};
use std::sync::Arc;

/// A header and the size of its file.
#[derive(Debug)]
pub(crate) struct ClassicFile {
    pub(crate) header: ClassicHeader,
    pub(crate) size: u64,
}

/// Reads the header, in doubling steps if it is longer than the first read.
///
/// # Errors
/// A need, `NotFound`, or the damage.
pub(crate) fn load(view: &dyn View, root: &ObjectId) -> Step<Arc<ClassicFile>> {
    let mut wanted = FIRST_READ;
    loop {
        let Some(blob) = view.read(root, Want::Parse(0..wanted))? else {
            return Err(Error::not_found("no such file").at_object(root).by(NAME).into());
        };
        if let Some(file) = view.memo().find::<ClassicFile>(root, Some(&blob.tag), 0, KIND) {
            return Ok(file);
        }
        match ClassicHeader::parse(&blob.bytes, blob.size, view.limits()) {
            Ok(header) => {
                let (cost, file) = (header.cost(), ClassicFile { header, size: blob.size });
                return Ok(view.memo().keep(root, Some(&blob.tag), 0, KIND, file, cost));
            }
            Err(ParseHalt::Fail(error)) => return Err(error.at_object(root).by(NAME).into()),
            Err(ParseHalt::More(end)) => wanted = next_read(wanted, end, &blob)?,
        }
    }
}

/// How much to request next, if the header extends at least to `end`.
fn next_read(wanted: u64, end: u64, blob: &ObjectBytes) -> Result<u64, Error> {
    if blob.offset != 0 || (blob.bytes.len() as u64) < wanted.min(blob.size) {
        let (have, offset) = (blob.bytes.len(), blob.offset);
        return Err(Error::internal(format!(
            "{have} bytes from {offset} where {wanted} from 0 were asked for"
        )));
    }
    Ok(end.max(wanted.saturating_mul(2)).min(blob.size))
}

/// The name of the format in errors.
pub(crate) const NAME: &str = "classic";
const KIND: &str = "classic header";
/// Most headers are shorter; a view may fetch a whole block.
pub(crate) const FIRST_READ: u64 = 16 << 10;
