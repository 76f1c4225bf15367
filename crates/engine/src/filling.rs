//! Elements that are all the same.

/// Bytes that are copied at a time: they stay in the first cache.
const BLOCK: usize = 8 << 10;

/// Fills the elements of `bytes` with copies of `one`; bytes behind the last whole element stay as they are.
pub(crate) fn fill_elements(bytes: &mut [u8], one: &[u8]) {
    match one {
        [] => {}
        [first, rest @ ..] if rest.iter().all(|byte| byte == first) => {
            let whole = bytes.len() - bytes.len() % one.len();
            bytes.get_mut(..whole).unwrap_or_default().fill(*first);
        }
        _ => fill_with_blocks(bytes, one),
    }
}

/// Fills one block element by element, and copies it. A copy per element would be a call for a few bytes.
fn fill_with_blocks(bytes: &mut [u8], one: &[u8]) {
    let block = (BLOCK / one.len()).max(1) * one.len();
    let (first, rest) = bytes.split_at_mut(block.min(bytes.len()));
    first.chunks_exact_mut(one.len()).for_each(|element| element.copy_from_slice(one));
    for part in rest.chunks_mut(block) {
        let whole = part.len() - part.len() % one.len();
        if let (Some(to), Some(from)) = (part.get_mut(..whole), first.get(..whole)) {
            to.copy_from_slice(from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, fill_elements};

    fn is_filled_with(one: &[u8]) {
        for len in [0, 1, 5, one.len(), BLOCK - 1, BLOCK, BLOCK + 5, 3 * BLOCK + 7] {
            let mut filled = vec![0xee; len];
            fill_elements(&mut filled, one);
            let (whole, behind) = filled.split_at(if one.is_empty() { 0 } else { len - len % one.len() });
            let elements = whole.chunks(one.len().max(1));
            assert!(
                elements.into_iter().all(|element| element == one),
                "{len} bytes, elements of {}",
                one.len()
            );
            assert!(behind.iter().all(|byte| *byte == 0xee), "{len} bytes, elements of {}", one.len());
        }
    }

    #[test]
    fn every_whole_element_is_filled_and_nothing_else() {
        for size in [0, 1, 2, 3, 4, 8, 12, BLOCK, BLOCK + 1] {
            is_filled_with(&vec![7; size]);
            is_filled_with(&(0..size).map(|at| at.to_le_bytes()[0]).collect::<Vec<u8>>());
        }
    }
}
