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

#[cfg(test)]
mod tests {
    use super::*;

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
