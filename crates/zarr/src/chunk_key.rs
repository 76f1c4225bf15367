//! Names of chunk objects (docs/spec/nczarr.md 4.1, 6.2; Zarr v3 core specification, "Chunk key encoding").
use std::fmt::Write as _;

/// The separator between the indices in a chunk's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum KeySeparator {
    /// `0.1`
    Dot,
    /// `0/1`
    Slash,
}

/// How chunk coordinates are encoded as a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum KeyEncoding {
    /// `0.1`; `0` for a scalar.
    V2,
    /// `c/0/1`; `c` for a scalar.
    Default,
}

/// The names of an array's chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ChunkKeys {
    /// How coordinates are encoded as a name.
    pub(crate) encoding: KeyEncoding,
    /// The separator between indices.
    pub(crate) separator: KeySeparator,
}

impl KeySeparator {
    /// The separator as a character.
    pub(crate) fn as_char(self) -> char {
        match self {
            Self::Dot => '.',
            Self::Slash => '/',
        }
    }

    /// The separator as written in metadata.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Dot => ".",
            Self::Slash => "/",
        }
    }

    /// Parses the separator in metadata; anything other than `.` and `/` is unknown.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        match text {
            "." => Some(Self::Dot),
            "/" => Some(Self::Slash),
            _ => None,
        }
    }
}

impl ChunkKeys {
    /// Zarr v2 names.
    pub(crate) const fn v2(separator: KeySeparator) -> Self {
        Self { encoding: KeyEncoding::V2, separator }
    }

    /// Zarr v3 names by the default encoding.
    pub(crate) const fn v3(separator: KeySeparator) -> Self {
        Self { encoding: KeyEncoding::Default, separator }
    }

    /// The name of a chunk below its array.
    pub(crate) fn key(self, cell: &[u64]) -> String {
        let mut key = String::new();
        self.append(cell, &mut key);
        key
    }

    /// Appends the name of a chunk below its array.
    pub(crate) fn append(self, cell: &[u64], key: &mut String) {
        let start = key.len();
        if self.encoding == KeyEncoding::Default {
            key.push('c');
        }
        for index in cell {
            if key.len() > start {
                key.push(self.separator.as_char());
            }
            _ = write!(key, "{index}");
        }
        // A scalar has no indices.
        if key.len() == start {
            key.push('0');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_become_keys() {
        let cases: [(ChunkKeys, &[u64], &str); 7] = [
            (ChunkKeys::v2(KeySeparator::Dot), &[0, 12, 3], "0.12.3"),
            (ChunkKeys::v2(KeySeparator::Slash), &[0, 12], "0/12"),
            (ChunkKeys::v2(KeySeparator::Dot), &[], "0"),
            (ChunkKeys::v2(KeySeparator::Dot), &[7], "7"),
            (ChunkKeys::v3(KeySeparator::Slash), &[0, 1], "c/0/1"),
            (ChunkKeys::v3(KeySeparator::Dot), &[0, 1], "c.0.1"),
            (ChunkKeys::v3(KeySeparator::Slash), &[], "c"),
        ];
        for (keys, cell, key) in cases {
            assert_eq!(keys.key(cell), key);
        }
    }
}
