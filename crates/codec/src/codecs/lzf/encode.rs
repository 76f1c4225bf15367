//! Finding repetitions.

/// Maximum number of literal bytes in one piece.
const MAX_LITERALS: usize = 32;
/// The limits of the format: a length of up to 3 + 8 bits beyond two bytes, a distance in 13 bits.
const MAX_REPEATED: usize = 264;
const MAX_DISTANCE: usize = 1 << 13;
/// The table takes 64 KiB, and is cleared for each chunk: a larger one would find more repetitions, but cost more than
/// it saves in small chunks.
const TABLE_BITS: u32 = 14;

/// Appends the stream.
pub(super) fn encode(input: &[u8], out: &mut Vec<u8>) {
    // For each hash of three bytes, one more than the position at which they were last seen.
    let mut seen = vec![0u32; 1 << TABLE_BITS];
    let (mut at, mut kept) = (0usize, 0usize);
    while let Some(head) = input.get(at..).and_then(|rest| rest.first_chunk::<3>()) {
        let slot = &mut seen[slot(*head)];
        let candidate = (*slot as usize).checked_sub(1);
        *slot = u32::try_from(at + 1).unwrap_or(0);
        let found = candidate.filter(|&from| from < at && at - from <= MAX_DISTANCE);
        let len = found.map_or(0, |from| common(input, from, at));
        let Some(from) = found.filter(|_| len >= 3) else {
            at += 1;
            continue;
        };
        literals(input.get(kept..at).unwrap_or_default(), out);
        repeat(len, at - from, out);
        // The end of the repetition is a likely start of the next one.
        if let Some(head) = input.get(at + len - 2..).and_then(|rest| rest.first_chunk::<3>()) {
            seen[self::slot(*head)] = u32::try_from(at + len - 1).unwrap_or(0);
        }
        at += len;
        kept = at;
    }
    literals(input.get(kept..).unwrap_or_default(), out);
}

fn slot([a, b, c]: [u8; 3]) -> usize {
    let word = u32::from_le_bytes([a, b, c, 0]);
    (word.wrapping_mul(0x9e37_79b1) >> (32 - TABLE_BITS)) as usize
}

/// Number of equal bytes at both positions.
fn common(input: &[u8], from: usize, at: usize) -> usize {
    let (one, other) = (input.get(from..).unwrap_or_default(), input.get(at..).unwrap_or_default());
    one.iter().zip(other).take(MAX_REPEATED).take_while(|(one, other)| one == other).count()
}

fn literals(bytes: &[u8], out: &mut Vec<u8>) {
    for piece in bytes.chunks(MAX_LITERALS) {
        out.push((piece.len() - 1).to_le_bytes()[0]);
        out.extend_from_slice(piece);
    }
}

fn repeat(len: usize, distance: usize, out: &mut Vec<u8>) {
    let (len, distance) = (len - 2, distance - 1);
    let [low, high, ..] = distance.to_le_bytes();
    if len < 7 {
        out.push((len << 5).to_le_bytes()[0] | high);
    } else {
        out.push((7 << 5) | high);
        out.push((len - 7).to_le_bytes()[0]);
    }
    out.push(low);
}
