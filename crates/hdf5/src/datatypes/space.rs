//! Dataspace messages (docs/spec/hdf5-netcdf4.md D.1).
use super::Dataspace;
use crate::address::FieldSizes;
use crate::cursor::{ByteCursor, all_ones};
use ncirrus_layout::{Error, Result};

#[cfg(test)]
mod tests;

/// Maximum number of dimensions in HDF5.
pub(super) const MAX_RANK: u8 = 32;

/// The dataspace in these bytes.
pub(crate) fn dataspace(bytes: &[u8], sizes: FieldSizes) -> Result<Dataspace> {
    let mut cursor = ByteCursor::new(bytes, "dataspace");
    let version = cursor.version(&[1, 2])?;
    let rank = cursor.u8()?;
    if rank > MAX_RANK {
        return Err(Error::malformed(format!("a dataspace of {rank} dimensions")));
    }
    let has_max = cursor.u8()? & 1 != 0;
    let kind = cursor.u8()?;
    if version == 1 {
        // The byte is reserved there, and four more follow; without dimensions it is a scalar.
        cursor.skip(4)?;
        return if rank == 0 { Ok(Dataspace::Scalar) } else { simple(&mut cursor, rank, has_max, sizes) };
    }
    match (kind, rank) {
        (0 | 1, 0) => Ok(Dataspace::Scalar),
        (1, _) => simple(&mut cursor, rank, has_max, sizes),
        (2, 0) => Ok(Dataspace::Null),
        (0 | 2, _) => Err(Error::malformed(format!("a dataspace of type {kind} with {rank} dimensions"))),
        _ => Err(Error::malformed(format!("a dataspace of type {kind}"))),
    }
}

fn simple(cursor: &mut ByteCursor<'_>, rank: u8, has_max: bool, sizes: FieldSizes) -> Result<Dataspace> {
    let dims = (0..rank).map(|_| cursor.len(sizes)).collect::<Result<Vec<_>>>()?;
    let max = if has_max {
        let unlimited = all_ones(sizes.lengths);
        let lens = (0..rank).map(|_| cursor.len(sizes)).collect::<Result<Vec<_>>>()?;
        lens.into_iter().map(|len| (len != unlimited).then_some(len)).collect()
    } else {
        dims.iter().copied().map(Some).collect::<Vec<_>>()
    };
    let above = dims.iter().zip(&max).find(|(len, max)| max.is_some_and(|max| **len > max));
    if let Some((len, Some(max))) = above {
        return Err(Error::malformed(format!("a dimension of length {len} that may have at most {max}")));
    }
    if !dims.contains(&0) && dims.iter().try_fold(1_u64, |count, len| count.checked_mul(*len)).is_none() {
        return Err(Error::malformed(format!("a dataspace of shape {dims:?} has too many elements")));
    }
    Ok(Dataspace::Simple { dims, max })
}
