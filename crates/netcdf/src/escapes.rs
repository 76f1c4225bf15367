//! Text with backslashes, as netCDF's own programs read it.

/// The text without backslashes before characters that a shell treats specially.
pub fn without_those_of_shells(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(next @ (b'#' | b'\\' | b'&' | b'?' | b'=' | b' ' | b'"' | b'\''))) => {
                plain.push(*next);
                bytes.next();
            }
            _ => plain.push(byte),
        }
    }
    plain
}

/// Keys and values of `_NCProperties`, `key=value` with commas or bars between them. `None` if a pair is empty.
pub fn pairs(text: &[u8]) -> Option<Vec<[Vec<u8>; 2]>> {
    let pair = |pair: &[u8]| {
        let mut parts = split(pair, |byte| byte == b'=', 2).into_iter().map(unescaped);
        (!pair.is_empty()).then(|| [parts.next().unwrap_or_default(), parts.next().unwrap_or_default()])
    };
    split(text, |byte| matches!(byte, b',' | b'|'), usize::MAX).into_iter().map(pair).collect()
}

/// The parts between separators that no backslash precedes, at most `max`.
fn split(text: &[u8], is_between: impl Fn(u8) -> bool, max: usize) -> Vec<&[u8]> {
    let (mut parts, mut start, mut is_escaped) = (Vec::new(), 0, false);
    for (at, byte) in text.iter().enumerate() {
        if !is_escaped && is_between(*byte) && parts.len() + 1 < max {
            parts.push(&text[start..at]);
            start = at + 1;
        }
        is_escaped = !is_escaped && *byte == b'\\';
    }
    parts.push(&text[start..]);
    parts
}

/// Text without the backslashes before other characters; a last one stays.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut plain, mut bytes) = (Vec::with_capacity(text.len()), text.iter().copied());
    while let Some(byte) = bytes.next() {
        plain.push(if byte == b'\\' { bytes.next().unwrap_or(byte) } else { byte });
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{pairs, without_those_of_shells};

    #[test]
    fn backslashes_keep_separators_and_are_removed() {
        let found = pairs(br"version=2,na\,me=a\=b|last").unwrap();
        let text = |bytes: &Vec<u8>| String::from_utf8(bytes.clone()).unwrap();
        let found: Vec<[String; 2]> = found.iter().map(|pair| [text(&pair[0]), text(&pair[1])]).collect();
        assert_eq!(found, [["version", "2"], ["na,me", "a=b"], ["last", ""]]);
        assert!(pairs(b"a=1,,b=2").is_none());
        assert_eq!(without_those_of_shells(br"a\#b\\c\d"), br"a#b\c\d");
    }
}
