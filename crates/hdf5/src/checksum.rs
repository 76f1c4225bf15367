//! The checksum of HDF5 metadata: Jenkins' lookup3, "hashlittle", initial value 0 (docs/spec/hdf5-netcdf4.md A.6).

/// The checksum of `bytes`; also the hash of a link's or attribute's name.
pub(crate) fn lookup3(bytes: &[u8]) -> u32 {
    #[expect(clippy::cast_possible_truncation, reason = "the algorithm takes the length modulo 2^32")]
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let (mut a, mut b, mut c) = (start, start, start);
    let mut rest = bytes;
    while let Some((block, more)) = rest.split_first_chunk::<12>().filter(|(_, more)| !more.is_empty()) {
        add(block, &mut a, &mut b, &mut c);
        mix(&mut a, &mut b, &mut c);
        rest = more;
    }
    if rest.is_empty() {
        return c;
    }
    let mut last = [0; 12];
    last[..rest.len()].copy_from_slice(rest);
    add(&last, &mut a, &mut b, &mut c);
    for (rotate_left, (to, from)) in [14, 11, 25, 16, 4, 14, 24].into_iter().zip(FINAL) {
        let mut abc = [a, b, c];
        abc[to] = (abc[to] ^ abc[from]).wrapping_sub(abc[from].rotate_left(rotate_left));
        [a, b, c] = abc;
    }
    c
}

/// Which of a, b, c takes from which in the final mixing.
const FINAL: [(usize, usize); 7] = [(2, 1), (0, 2), (1, 0), (2, 1), (0, 2), (1, 0), (2, 1)];

fn add(block: &[u8; 12], a: &mut u32, b: &mut u32, c: &mut u32) {
    let [p, q, r, s, t, u, v, w, x, y, z, last] = *block;
    *a = a.wrapping_add(u32::from_le_bytes([p, q, r, s]));
    *b = b.wrapping_add(u32::from_le_bytes([t, u, v, w]));
    *c = c.wrapping_add(u32::from_le_bytes([x, y, z, last]));
}

fn mix(a: &mut u32, b: &mut u32, c: &mut u32) {
    let step = |x: &mut u32, y: &mut u32, z: &mut u32, by: u32| {
        *x = x.wrapping_sub(*z) ^ z.rotate_left(by);
        *z = z.wrapping_add(*y);
    };
    step(a, b, c, 4);
    step(b, c, a, 6);
    step(c, a, b, 8);
    step(a, b, c, 16);
    step(b, c, a, 19);
    step(c, a, b, 4);
}

#[cfg(test)]
mod tests {
    use super::lookup3;

    #[test]
    fn sums_are_those_of_the_published_function() {
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }
}
