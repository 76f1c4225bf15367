//! Overwriting bytes in existing messages and blocks.
use ncirrus_layout::{Error, Result};

/// Overwrites bytes.
///
/// # Errors
/// If the buffer is too short; `what` names it.
pub(crate) fn put(bytes: &mut [u8], at: usize, new: &[u8], what: &str) -> Result<()> {
    let len = bytes.len();
    let place = at.checked_add(new.len()).and_then(|end| bytes.get_mut(at..end));
    let place = place
        .ok_or_else(|| Error::internal(format!("{} bytes at byte {at} of {what} of {len}", new.len())))?;
    place.copy_from_slice(new);
    Ok(())
}

/// Overwrites a number of `width` bytes.
///
/// # Errors
/// If the buffer is too short, or the number needs more bytes.
pub(crate) fn put_uint(bytes: &mut [u8], at: usize, value: u64, width: u8, what: &str) -> Result<()> {
    let all = value.to_le_bytes();
    match all.split_at_checked(usize::from(width)) {
        Some((low, high)) if high.iter().all(|byte| *byte == 0) => put(bytes, at, low, what),
        _ => Err(Error::internal(format!("{value} does not fit {width} bytes of {what}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_layout::ErrorKind;

    #[test]
    fn bytes_outside_of_what_holds_them_are_errors() {
        let mut bytes = [0; 4];
        put(&mut bytes, 1, &[7, 8], "a message").unwrap();
        put_uint(&mut bytes, 3, 9, 1, "a message").unwrap();
        assert_eq!(bytes, [0, 7, 8, 9]);
        for error in [
            put(&mut bytes, 3, &[1, 2], "a message").unwrap_err(),
            put(&mut bytes, usize::MAX, &[1], "a message").unwrap_err(),
            put_uint(&mut bytes, 0, 256, 1, "a message").unwrap_err(),
            put_uint(&mut bytes, 0, 0, 9, "a message").unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Internal);
            assert!(error.message().contains("a message"), "{error}");
        }
        assert_eq!(bytes, [0, 7, 8, 9]);
    }
}
