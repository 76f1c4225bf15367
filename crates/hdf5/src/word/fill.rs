//! Fill values of every version (docs/spec/hdf5-netcdf4.md D.3).
use super::Fill;
use crate::cursor::Cursor;
use crate::object::{ObjectRef, header, kind, resolve};
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View};

#[cfg(test)]
mod tests;

/// What elements of a dataset hold that were never written. The old message counts only where there is no new one.
pub(crate) fn fill(view: &dyn View, dataset: &ObjectRef) -> Step<Fill> {
    let header = header(view, dataset)?;
    let messages = [(kind::FILL, parse as fn(&Bytes) -> Result<Fill>), (kind::OLD_FILL, parse_old)];
    for (kind, parse) in messages {
        if let Some(message) = header.find(kind) {
            let body = resolve(view, &dataset.file, message)?.body;
            return Ok(parse(&body).map_err(|error| dataset.file.at(dataset.addr, error))?);
        }
    }
    Ok(Fill::default())
}

fn parse(body: &Bytes) -> Result<Fill> {
    let mut cursor = Cursor::new(body, "fill value");
    let (time, present) = if cursor.version(&[1, 2, 3])? < 3 {
        cursor.skip(1)?;
        (cursor.u8()?, cursor.u8()? != 0)
    } else {
        let flags = cursor.u8()?;
        if flags & 0x30 == 0x30 {
            return Err(Error::malformed("a fill value that is both present and undefined"));
        }
        (flags >> 2 & 3, flags & 0x20 != 0)
    };
    let value = if present { value(body, cursor)? } else { None };
    Ok(Fill { value, never: time == 1 })
}

fn parse_old(body: &Bytes) -> Result<Fill> {
    Ok(Fill { value: value(body, Cursor::new(body, "fill value"))?, never: false })
}

/// A size and as many bytes. A size of 0, or below, stands for zeros.
fn value(body: &Bytes, mut cursor: Cursor<'_>) -> Result<Option<Bytes>> {
    let size = cursor.u32()?.cast_signed();
    let Some(len) = usize::try_from(size).ok().filter(|len| *len > 0) else { return Ok(None) };
    let start = cursor.position();
    cursor.skip(len)?;
    Ok(Some(body.slice(start..start + len)))
}
