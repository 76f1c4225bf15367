//! Percent coding (RFC 3986 2.1): paths and queries of addresses.
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What RFC 3986 2.3 calls reserved or does not allow. Signatures of Amazon's are over queries encoded in exactly this
/// way.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What a path may not contain: a segment may contain sub-delimiters, `:` and `@` (RFC 3986 3.3).
const PATH: &AsciiSet = &QUERY
    .remove(b'!')
    .remove(b'$')
    .remove(b'&')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')')
    .remove(b'*')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b':')
    .remove(b'@')
    .remove(b'/');

/// Encodes text for the path of a URL: allowed characters (RFC 3986 3.3) stay, slashes too.
pub fn percent_encoded(text: &str) -> String {
    utf8_percent_encode(text, PATH).to_string()
}

/// Encodes a name or a value for the query of a URL: only unreserved characters (RFC 3986 2.3) stay.
pub fn query_encoded(text: &str) -> String {
    utf8_percent_encode(text, QUERY).to_string()
}

/// Decodes `%xx`; invalid escapes, or those that give invalid UTF-8, stay as they are.
pub fn percent_decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), |decoded| decoded.into_owned())
}

/// What ends the path of an address (RFC 3986 3), and an escape of it: `#`, `?`, `%`.
const ESCAPES: [(&str, char); 3] = [("%23", '#'), ("%3F", '?'), ("%25", '%')];

/// Writes a key for the address of a store without percent coding: `#` and `?` are escaped, and so is a `%` that would
/// otherwise begin one of these escapes. Any other text stays as it is.
pub(super) fn key_encoded(key: &str) -> String {
    let mut written = String::with_capacity(key.len());
    for (at, letter) in key.char_indices() {
        let is_plain = letter == '%' && escape_at(key.get(at..).unwrap_or_default()).is_none();
        match ESCAPES.iter().find(|(_, escaped)| *escaped == letter && !is_plain) {
            Some((escape, _)) => written.push_str(escape),
            None => written.push(letter),
        }
    }
    written
}

/// The key that [`key_encoded`] wrote.
pub(super) fn key_decoded(text: &str) -> String {
    let mut key = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let (letter, len) = escape_at(rest).map_or((letter, letter.len_utf8()), |letter| (letter, 3));
        key.push(letter);
        rest = rest.get(len..).unwrap_or_default();
    }
    key
}

/// The character of the escape that a text begins with.
fn escape_at(text: &str) -> Option<char> {
    let start = text.get(..3)?;
    ESCAPES.iter().find(|(escape, _)| start.eq_ignore_ascii_case(escape)).map(|(_, letter)| *letter)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn keys_are_escaped_only_where_an_address_would_mean_something_else() {
        for (key, written) in [
            ("a b+c%20d:e/\u{e9}", "a b+c%20d:e/\u{e9}"),
            ("a#b?c", "a%23b%3Fc"),
            ("100%", "100%"),
            ("a%23b", "a%2523b"),
            ("%%25%3f%2#", "%%2525%253f%2%23"),
        ] {
            assert_eq!(key_encoded(key), written);
            assert_eq!(key_decoded(written), key);
        }
        assert_eq!(key_decoded("a%3fb"), "a?b");
    }

    proptest! {
        #[test]
        fn every_key_can_be_written(key in "[%#?235Ffa/\u{e9}]{0,12}") {
            let written = key_encoded(&key);
            prop_assert!(!written.contains(['#', '?']));
            prop_assert_eq!(key_decoded(&written), key);
        }
    }

    #[test]
    fn what_is_encoded_comes_back() {
        let text: String = (0..256_u32).chain([0x20ac, 0x1_f600]).filter_map(char::from_u32).collect();
        assert_eq!(percent_decoded(&percent_encoded(&text)), text);
        assert_eq!(percent_decoded(&query_encoded(&text)), text);
    }

    #[test]
    fn paths_keep_what_segments_may_contain_and_queries_do_not() {
        assert_eq!(percent_encoded("a-._~!$&'()*+,;=:@/b c#?%"), "a-._~!$&'()*+,;=:@/b%20c%23%3F%25");
        assert_eq!(query_encoded("a-._~!$&'()*+,;=:@/b"), "a-._~%21%24%26%27%28%29%2A%2B%2C%3B%3D%3A%40%2Fb");
    }

    #[test]
    fn escapes_that_are_none_stay() {
        for text in ["%", "%4", "%zz", "%+1", "100%", "%ff"] {
            assert_eq!(percent_decoded(text), text);
        }
    }
}
