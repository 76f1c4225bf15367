//! The numbers that HDF5 and its filters add to those of the user when a dataset is created (`hdf5-netcdf4.md` G).
use super::{Kind, find};
use crate::codecs::szip::usual_scanline;
use crate::codecs::zfp::with_shape;
use crate::{ChunkInfo, CodecError};
use ncirrus_model::CodecSpec;

/// The filter with all numbers that it works with, for chunks of that shape and element; other descriptions stay as they
/// are.
///
/// # Errors
/// `Unsupported` when the filter does not work on such chunks.
pub fn complete(spec: &CodecSpec, chunk: &ChunkInfo) -> Result<CodecSpec, CodecError> {
    let CodecSpec::Hdf5 { id, parameters, optional } = spec else { return Ok(spec.clone()) };
    let Some(name) = find(spec) else { return Ok(spec.clone()) };
    let unfit = || CodecError::unsupported(name.label(), format!("chunks of shape {:?}", chunk.shape));
    let size = chunk.element.byte_len.unwrap_or(1);
    let count = chunk.shape.iter().try_fold(1u64, |count, len| count.checked_mul(*len)).ok_or_else(unfit)?;
    let small = |number: u64| u32::try_from(number).map_err(|_| unfit());
    let element = small(size as u64)?;
    let len = small(count.checked_mul(size as u64).ok_or_else(unfit)?)?;
    let given = |index: usize, default: u32| parameters.get(index).copied().unwrap_or(default);
    let parameters = match name.kind {
        Kind::Shuffle => vec![element],
        Kind::Szip => {
            let pixels = given(1, 16);
            let scanline = usual_scanline(&chunk.shape, u64::from(pixels))?;
            vec![szip_mask(given(0, 32)), pixels, szip_bits(element), small(scanline as u64)?]
        }
        Kind::Nbit | Kind::ScaleOffset => {
            let mut parameters = parameters.clone();
            if let Some(stated) = parameters.get_mut(2) {
                *stated = small(count)?;
            }
            parameters
        }
        Kind::Lzf => vec![4, 0x105, len],
        Kind::Blosc => vec![2, 2, element, len, given(4, 5), given(5, 1), given(6, 0)],
        Kind::Bitshuffle => {
            // The level is there only when it was given.
            let level = parameters.get(5).copied();
            [0, 4, element, given(3, 0), given(4, 0)].into_iter().chain(level).collect()
        }
        Kind::Blosc2 => {
            let mut numbers = vec![1, 0, element, len, given(4, 5), given(5, 1), given(6, 0)];
            if let 2.. = chunk.shape.len() {
                numbers.push(small(chunk.shape.len() as u64)?);
                let lens: Result<Vec<u32>, _> = chunk.shape.iter().map(|len| small(*len)).collect();
                numbers.extend(lens?);
            }
            numbers
        }
        Kind::Zfp => with_shape(parameters, &chunk.shape)?,
        _ => parameters.clone(),
    };
    Ok(CodecSpec::Hdf5 { id: *id, parameters, optional: *optional })
}

/// Pixels are what they are in the file; little-endian ones, unless it says something else. As HDF5's own call has it,
/// blocks may take the short cut for k = 13.
fn szip_mask(mask: u32) -> u32 {
    const RAW: u32 = 128 | 1;
    const LITTLE: u32 = 8;
    const BIG: u32 = 16;
    if mask & (LITTLE | BIG) == 0 { mask | RAW | LITTLE } else { mask | RAW }
}

fn szip_bits(element: u32) -> u32 {
    match element.saturating_mul(8) {
        bits @ 0..=24 => bits,
        25..=32 => 32,
        _ => 64,
    }
}
