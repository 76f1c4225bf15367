//! Jenkins' lookup3, "hashlittle" (public domain), with an initial value.

/// The sum of some bytes.
pub(super) fn lookup3(bytes: &[u8], initial: u32) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the algorithm takes the length modulo 2^32")]
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32).wrapping_add(initial);
    let mut words = [start; 3];
    let mut rest = bytes;
    while let Some((block, more)) = rest.split_first_chunk::<12>().filter(|(_, more)| !more.is_empty()) {
        add(block, &mut words);
        mix(&mut words);
        rest = more;
    }
    let [.., c] = words;
    if rest.is_empty() {
        return c;
    }
    let mut last = [0; 12];
    last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
    add(&last, &mut words);
    let [mut a, mut b, mut c] = words;
    let step = |to: u32, from: u32, by: u32| (to ^ from).wrapping_sub(from.rotate_left(by));
    c = step(c, b, 14);
    a = step(a, c, 11);
    b = step(b, a, 25);
    c = step(c, b, 16);
    a = step(a, c, 4);
    b = step(b, a, 14);
    step(c, b, 24)
}

fn add(block: &[u8; 12], words: &mut [u32; 3]) {
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = word.wrapping_add(u32::from_le_bytes(*bytes));
    }
}

fn mix(words: &mut [u32; 3]) {
    let [mut a, mut b, mut c] = *words;
    let step = |x: &mut u32, y: &mut u32, z: &mut u32, by: u32| {
        *x = x.wrapping_sub(*z) ^ z.rotate_left(by);
        *z = z.wrapping_add(*y);
    };
    step(&mut a, &mut b, &mut c, 4);
    step(&mut b, &mut c, &mut a, 6);
    step(&mut c, &mut a, &mut b, 8);
    step(&mut a, &mut b, &mut c, 16);
    step(&mut b, &mut c, &mut a, 19);
    step(&mut c, &mut a, &mut b, 4);
    *words = [a, b, c];
}

#[cfg(test)]
mod tests {
    use super::lookup3;

    #[test]
    fn sums_are_those_of_the_published_function() {
        assert_eq!(lookup3(b"", 0), 0xdead_beef);
        assert_eq!(lookup3(b"", 0xdead_beef), 0xbd5b_7dde);
        assert_eq!(lookup3(b"Four score and seven years ago", 0), 0x1777_0551);
        assert_eq!(lookup3(b"Four score and seven years ago", 1), 0xcd62_8161);
    }
}
