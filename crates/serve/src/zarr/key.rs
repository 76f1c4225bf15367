//! Keys of chunks.

/// How the chunks of an array are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyForm {
    /// `c/1/2`, and `c` for scalars.
    V3,
    /// `1.2` or `1/2`, and `0` for scalars.
    V2(char),
}

impl KeyForm {
    /// The coordinates of the chunk with this key, after the path of the array; `None` for any other key.
    pub(crate) fn parse(self, key: &str, rank: usize) -> Option<Vec<u64>> {
        let (numbers, separator) = match self {
            Self::V3 if rank == 0 => return (key == "c").then(Vec::new),
            Self::V2(_) if rank == 0 => return (key == "0").then(Vec::new),
            Self::V3 => (key.strip_prefix("c/")?, '/'),
            Self::V2(separator) => (key, separator),
        };
        let cell: Option<Vec<u64>> = numbers.split(separator).map(number).collect();
        cell.filter(|cell| cell.len() == rank)
    }
}

/// A number as keys have it: each chunk has one key.
fn number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_has_one_key() {
        assert_eq!(KeyForm::V3.parse("c/1/20", 2), Some(vec![1, 20]));
        assert_eq!(KeyForm::V3.parse("c", 0), Some(vec![]));
        assert_eq!(KeyForm::V2('.').parse("1.20", 2), Some(vec![1, 20]));
        assert_eq!(KeyForm::V2('.').parse("0", 0), Some(vec![]));
        for (form, key, rank) in [
            (KeyForm::V3, "c/01", 1),
            (KeyForm::V3, "c/1", 2),
            (KeyForm::V3, "c/", 1),
            (KeyForm::V3, "c/+1", 1),
            (KeyForm::V3, "1", 1),
            (KeyForm::V2('.'), "1/2", 2),
            (KeyForm::V2('.'), "", 1),
            (KeyForm::V2('.'), "99999999999999999999", 1),
        ] {
            assert_eq!(form.parse(key, rank), None, "{key}");
        }
    }
}
