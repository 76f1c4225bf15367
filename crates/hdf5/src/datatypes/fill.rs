//! Fill values of every version (docs/spec/hdf5-netcdf4.md D.3).
use super::FillMessage;
use crate::cursor::ByteCursor;
use crate::object::{ObjectRef, header, kind, resolve};
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View};

#[cfg(test)]
mod tests;

/// The value of elements that were never written. The old message is used only if there is no new one.
pub(crate) fn fill(view: &dyn View, dataset: &ObjectRef) -> Step<FillMessage> {
    let header = header(view, dataset)?;
    let messages = [(kind::FILL, parse as fn(&Bytes) -> Result<FillMessage>), (kind::OLD_FILL, parse_old)];
    for (kind, parse) in messages {
        if let Some(message) = header.find(kind) {
            let body = resolve(view, &dataset.file, message)?.body;
            return Ok(parse(&body).map_err(|error| dataset.file.at(dataset.addr, error))?);
        }
    }
    Ok(FillMessage::default())
}

fn parse(body: &Bytes) -> Result<FillMessage> {
    let mut cursor = ByteCursor::new(body, "fill value");
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
    Ok(FillMessage { value, never: time == 1 })
}

fn parse_old(body: &Bytes) -> Result<FillMessage> {
    Ok(FillMessage { value: value(body, ByteCursor::new(body, "fill value"))?, never: false })
}

/// A size and that many bytes. A size of 0 or less means zeros.
fn value(body: &Bytes, mut cursor: ByteCursor<'_>) -> Result<Option<Bytes>> {
    let size = cursor.u32()?.cast_signed();
    let Some(len) = usize::try_from(size).ok().filter(|len| *len > 0) else { return Ok(None) };
    let start = cursor.position();
    cursor.skip(len)?;
    Ok(Some(body.slice(start..start + len)))
}
