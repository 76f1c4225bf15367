//! The order of bytes in numbers.

/// Reverses the bytes of each number of `size` bytes.
pub(crate) fn reverse_each(bytes: &mut [u8], size: usize) {
    match size {
        2 => bytes.as_chunks_mut().0.iter_mut().for_each(|word| *word = reversed_2(*word)),
        4 => {
            let (pairs, rest) = bytes.as_chunks_mut();
            pairs.iter_mut().for_each(|pair| *pair = reversed_4_and_4(*pair));
            rest.as_chunks_mut::<4>().0.iter_mut().for_each(|word| word.reverse());
        }
        8 => bytes.as_chunks_mut().0.iter_mut().for_each(|word| *word = reversed_8(*word)),
        size => bytes.chunks_mut(size.max(1)).for_each(<[u8]>::reverse),
    }
}

/// Copies numbers of `size` bytes with the bytes of each reversed, as many as both have.
pub(crate) fn copy_reversed(from: &[u8], to: &mut [u8], size: usize) {
    match size {
        2 => {
            let words = to.as_chunks_mut().0.iter_mut().zip(from.as_chunks().0);
            words.for_each(|(to, from)| *to = reversed_2(*from));
        }
        4 => {
            let ((pairs, rest), (from_pairs, from_rest)) = (to.as_chunks_mut(), from.as_chunks());
            pairs.iter_mut().zip(from_pairs).for_each(|(to, from)| *to = reversed_4_and_4(*from));
            for (to, from) in rest.as_chunks_mut::<4>().0.iter_mut().zip(from_rest.as_chunks::<4>().0) {
                *to = *from;
                to.reverse();
            }
        }
        8 => {
            let words = to.as_chunks_mut().0.iter_mut().zip(from.as_chunks().0);
            words.for_each(|(to, from)| *to = reversed_8(*from));
        }
        size => {
            for (to, from) in to.chunks_exact_mut(size.max(1)).zip(from.chunks_exact(size.max(1))) {
                to.copy_from_slice(from);
                to.reverse();
            }
        }
    }
}

fn reversed_2(word: [u8; 2]) -> [u8; 2] {
    u16::from_ne_bytes(word).swap_bytes().to_ne_bytes()
}

/// Two numbers of 4 bytes at a time are twice as fast without instructions for vectors.
fn reversed_4_and_4(pair: [u8; 8]) -> [u8; 8] {
    u64::from_ne_bytes(pair).swap_bytes().rotate_left(32).to_ne_bytes()
}

fn reversed_8(word: [u8; 8]) -> [u8; 8] {
    u64::from_ne_bytes(word).swap_bytes().to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_reversed_by_itself() {
        for size in [1, 2, 3, 4, 8, 16] {
            for count in [0, 1, 2, 7] {
                let bytes: Vec<u8> = (0..).take(size * count).collect();
                let expected: Vec<u8> =
                    bytes.chunks(size).flat_map(|word| word.iter().rev()).copied().collect();
                let mut copied = vec![0; bytes.len()];
                copy_reversed(&bytes, &mut copied, size);
                assert_eq!(copied, expected, "{count} of {size} bytes, copied");
                let mut reversed = bytes;
                reverse_each(&mut reversed, size);
                assert_eq!(reversed, expected, "{count} of {size} bytes");
            }
        }
    }
}
