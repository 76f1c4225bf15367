//! Bits of many bytes at once, with instructions that compilers do not produce from loops.
//!
//! A line of bytes has eight rows of bits: in row `b`, bit `i % 8` of byte `i / 8` is bit `b` of byte `i` of the line.
use super::{InstructionSet, Level};

/// Rows of bits from a line of bytes, all of the same length in total; returns how many bytes of the line were processed.
pub(crate) fn split_rows(line: &[u8], rows: &mut [u8]) -> usize {
    match InstructionSet::best().0 {
        Level::Baseline => 0,
        // SAFETY: the processor has the instructions, as in `super::run`.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { x86::split_rows_32(line, rows) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::split_rows_64(line, rows) },
    }
}

/// A line of bytes from rows of bits; returns how many bytes of the line were processed.
pub(crate) fn join_rows(rows: &[u8], line: &mut [u8]) -> usize {
    match InstructionSet::best().0 {
        Level::Baseline => 0,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => 0,
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { x86::join_rows_64(rows, line) },
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm256_add_epi8, _mm256_loadu_si256, _mm256_movemask_epi8, _mm512_loadu_si512, _mm512_mask_add_epi8,
        _mm512_set1_epi8, _mm512_setzero_si512, _mm512_storeu_si512, _mm512_test_epi8_mask,
    };

    #[target_feature(enable = "avx2")]
    pub(super) fn split_rows_32(line: &[u8], rows: &mut [u8]) -> usize {
        let width = rows.len() / 8;
        let tiles = line.as_chunks::<32>().0;
        for (tile, bytes) in tiles.iter().enumerate() {
            // SAFETY: the array has the 32 bytes that are read.
            let mut bytes = unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
            // The highest bit of each byte is taken, and the next one moved there.
            for bit in (0..8).rev() {
                let row = _mm256_movemask_epi8(bytes).to_le_bytes();
                bytes = _mm256_add_epi8(bytes, bytes);
                let out = rows.get_mut(bit * width + tile * 4..).and_then(|rest| rest.first_chunk_mut());
                if let Some(out) = out {
                    *out = row;
                }
            }
        }
        tiles.len() * 32
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn split_rows_64(line: &[u8], rows: &mut [u8]) -> usize {
        let width = rows.len() / 8;
        let tiles = line.as_chunks::<64>().0;
        for (tile, bytes) in tiles.iter().enumerate() {
            // SAFETY: the array has the 64 bytes that are read.
            let bytes = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
            for bit in 0..8 {
                let row = _mm512_test_epi8_mask(bytes, _mm512_set1_epi8(1 << bit)).to_le_bytes();
                let out = rows.get_mut(bit * width + tile * 8..).and_then(|rest| rest.first_chunk_mut());
                if let Some(out) = out {
                    *out = row;
                }
            }
        }
        tiles.len() * 64
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    pub(super) fn join_rows_64(rows: &[u8], line: &mut [u8]) -> usize {
        let width = rows.len() / 8;
        let tiles = line.as_chunks_mut::<64>().0;
        for (tile, out) in tiles.iter_mut().enumerate() {
            let mut bytes = _mm512_setzero_si512();
            for bit in 0..8 {
                let row = rows.get(bit * width + tile * 8..).and_then(|rest| rest.first_chunk());
                let row = row.map_or(0, |row| u64::from_le_bytes(*row));
                bytes = _mm512_mask_add_epi8(bytes, row, bytes, _mm512_set1_epi8(1 << bit));
            }
            // SAFETY: the array has the 64 bytes that are written.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), bytes) };
        }
        tiles.len() * 64
    }
}
