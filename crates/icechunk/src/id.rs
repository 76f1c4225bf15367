//! Identifiers of the objects of a repository, and their names (docs/spec/icechunk-format.md, "Layout").
use std::fmt;

/// The digits of Crockford's base 32.
const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// An identifier: 12 bytes for snapshots, manifests and chunks, 8 for nodes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct IceId<const N: usize>(pub(crate) [u8; N]);

/// The identifier of a snapshot, a manifest or a chunk.
pub(crate) type ObjectName = IceId<12>;
/// The identifier of a node.
pub(crate) type NodeName = IceId<8>;

impl<const N: usize> IceId<N> {
    /// From its bytes.
    pub(crate) fn of_bytes(bytes: [u8; N]) -> Self {
        Self(bytes)
    }

    /// From its name, in upper or lower case; `None` if it is not one.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let mut bytes = [0u8; N];
        if name.len() != (N * 8).div_ceil(5) {
            return None;
        }
        let (mut held, mut bits, mut at) = (0u32, 0u32, 0usize);
        for letter in name.bytes() {
            let digit = DIGITS.iter().position(|digit| *digit == letter.to_ascii_uppercase())?;
            held = (held << 5) | u32::try_from(digit).ok()?;
            bits += 5;
            if bits >= 8 {
                bits -= 8;
                let [.., low] = (held >> bits).to_be_bytes();
                *bytes.get_mut(at)? = low;
                at += 1;
                held &= (1 << bits) - 1;
            }
        }
        // The name is padded with zero bits on the right.
        (held == 0 && at == N).then_some(Self(bytes))
    }
}

impl<const N: usize> fmt::Display for IceId<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut name = String::with_capacity((N * 8).div_ceil(5));
        let (mut held, mut bits) = (0u32, 0u32);
        let mut push = |digit: u32| {
            let digit = usize::try_from(digit & 31).unwrap_or_default();
            name.push(DIGITS.get(digit).map_or('0', |digit| char::from(*digit)));
        };
        for byte in self.0 {
            held = (held << 8) | u32::from(byte);
            bits += 8;
            while bits >= 5 {
                bits -= 5;
                push(held >> bits);
                held &= (1 << bits) - 1;
            }
        }
        if bits > 0 {
            push(held << (5 - bits));
        }
        f.write_str(&name)
    }
}

impl<const N: usize> fmt::Debug for IceId<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
