//! Coefficients as bit planes.

/// The digits of up to 256 coefficients in one plane.
pub(super) type BitPlane = [u64; 4];

/// Transposes coefficients to planes or back, in groups of up to 64: bit `j` of word `i` is exchanged with bit `i` of
/// word `j`, within squares as wide as the group.
pub(super) fn turn<const SIZE: usize>(words: &mut [u64; SIZE]) {
    if SIZE <= 64 {
        turn_group::<SIZE>(words);
    } else {
        words.as_chunks_mut::<64>().0.iter_mut().for_each(|group| turn_group::<64>(group));
    }
}

#[inline]
fn turn_group<const SIZE: usize>(words: &mut [u64]) {
    let Some(words) = words.first_chunk_mut::<SIZE>() else { return };
    let mut width = SIZE / 2;
    while width > 0 {
        let lower = u64::MAX / ((1 << width) + 1);
        for i in (0..SIZE).filter(|i| i & width == 0) {
            let change = ((words[i] >> width) ^ words[i + width]) & lower;
            words[i] ^= change << width;
            words[i + width] ^= change;
        }
        width /= 2;
    }
}

/// The digits of a plane, from transposed words.
#[inline]
pub(super) fn plane<const SIZE: usize>(words: &[u64; SIZE], plane: u32) -> BitPlane {
    let plane = plane as usize;
    if SIZE > 64 {
        return std::array::from_fn(|group| words.get(group * 64 + plane).copied().unwrap_or(0));
    }
    let digits = words[plane % SIZE] >> (plane / SIZE * SIZE);
    [if SIZE == 64 { digits } else { digits & ((1 << (SIZE % 64)) - 1) }, 0, 0, 0]
}

/// Puts the digits of a plane into words that are not yet transposed, and are zero there.
#[inline]
pub(super) fn put_plane<const SIZE: usize>(words: &mut [u64; SIZE], plane: u32, digits: BitPlane) {
    let plane = plane as usize;
    if SIZE > 64 {
        for (group, digits) in digits.iter().enumerate() {
            if let Some(word) = words.get_mut(group * 64 + plane) {
                *word = *digits;
            }
        }
        return;
    }
    words[plane % SIZE] |= digits[0] << (plane / SIZE * SIZE);
}
