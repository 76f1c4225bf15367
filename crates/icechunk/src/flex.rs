//! Bounded reading of FlexBuffers (docs/spec/icechunk-format.md, "repo"): the part that icechunk's configuration uses. Maps,
//! texts, numbers and truth values; all others are read as [`ConfigValue::Other`].
use crate::config_value::ConfigValue;
use ncirrus_layout::{Error, Result};

/// Maximum nesting of maps.
const DEPTH: u32 = 16;
/// Maximum number of values: offsets may lead to the same map many times.
const VALUES: usize = 1 << 16;

/// Maximum number of bytes of all keys and texts: offsets may lead to the same one many times.
const TEXT: usize = 16 << 20;

const NULL: u8 = 0;
const INT: u8 = 1;
const UINT: u8 = 2;
const KEY: u8 = 4;
const STRING: u8 = 5;
const MAP: u8 = 9;
const BOOL: u8 = 26;

/// Reads a buffer.
///
/// # Errors
/// `Malformed` for an offset that leads out of the buffer, `Limit` for maps that are nested too deeply or too large.
pub(crate) fn parse(bytes: &[u8]) -> Result<ConfigValue> {
    let [.., kind, width] = bytes else { return Err(Error::malformed("an empty FlexBuffer")) };
    let width = usize::from(*width);
    let at = (bytes.len() - 2).checked_sub(width).ok_or_else(|| outside(bytes.len()))?;
    FlexReader { bytes, left: VALUES, text_left: TEXT }.value(Slot { at, width, kind: *kind }, DEPTH)
}

struct FlexReader<'a> {
    bytes: &'a [u8],
    left: usize,
    text_left: usize,
}

/// Where a value is: its bytes or its offset, their number, and its type with the width of its elements.
#[derive(Clone, Copy)]
struct Slot {
    at: usize,
    width: usize,
    kind: u8,
}

impl FlexReader<'_> {
    fn value(&mut self, slot: Slot, depth: u32) -> Result<ConfigValue> {
        let many = || Error::limit("the configuration has too many values");
        self.left = self.left.checked_sub(1).ok_or_else(many)?;
        let width = 1usize << (slot.kind & 3);
        match slot.kind >> 2 {
            NULL => Ok(ConfigValue::Null),
            INT | UINT => Ok(ConfigValue::Text(self.number(slot.at, slot.width)?.to_string())),
            BOOL => Ok(ConfigValue::Text((self.number(slot.at, slot.width)? != 0).to_string())),
            KEY => {
                let at = self.target(slot.at, slot.width)?;
                self.key(at).map(ConfigValue::Text)
            }
            STRING => {
                let at = self.target(slot.at, slot.width)?;
                self.text(at, width)
            }
            MAP => {
                let at = self.target(slot.at, slot.width)?;
                self.map(at, width, depth)
            }
            _ => Ok(ConfigValue::Other),
        }
    }

    fn map(&mut self, at: usize, width: usize, depth: u32) -> Result<ConfigValue> {
        let deep = || Error::limit("the configuration is nested too deeply");
        let depth = depth.checked_sub(1).ok_or_else(deep)?;
        let before = |count: usize| at.checked_sub(count * width).ok_or_else(|| outside(at));
        let len = self.len(before(1)?, width)?;
        let key_width = self.len(before(2)?, width)?;
        let keys = self.target(before(3)?, width)?;
        if !matches!(key_width, 1 | 2 | 4 | 8) {
            return Err(outside(at));
        }
        let mut entries = Vec::new();
        for index in 0..len {
            let kind_at = len.checked_mul(width).and_then(|all| all.checked_add(at)?.checked_add(index));
            let kind = kind_at.and_then(|at| self.bytes.get(at)).ok_or_else(|| outside(at))?;
            let slot = Slot { at: at + index * width, width, kind: *kind };
            let key_at = index.checked_mul(key_width).and_then(|offset| offset.checked_add(keys));
            let key = self.target(key_at.ok_or_else(|| outside(at))?, key_width)?;
            let key = self.key(key)?;
            entries.push((key, self.value(slot, depth)?));
        }
        Ok(ConfigValue::Map(entries))
    }

    fn text(&mut self, at: usize, width: usize) -> Result<ConfigValue> {
        let len = self.len(at.checked_sub(width).ok_or_else(|| outside(at))?, width)?;
        let bytes = at.checked_add(len).and_then(|end| self.bytes.get(at..end)).ok_or_else(|| outside(at))?;
        Ok(ConfigValue::Text(self.copied(bytes)?))
    }

    /// A text that ends with a NUL.
    fn key(&mut self, at: usize) -> Result<String> {
        let rest = self.bytes.get(at..).unwrap_or_default();
        let near = rest.get(..rest.len().min(self.text_left.saturating_add(1))).unwrap_or_default();
        match near.iter().position(|byte| *byte == 0) {
            Some(len) => self.copied(near.get(..len).unwrap_or_default()),
            None if near.len() < rest.len() => Err(too_long()),
            None => Err(outside(at)),
        }
    }

    fn copied(&mut self, bytes: &[u8]) -> Result<String> {
        self.text_left = self.text_left.checked_sub(bytes.len()).ok_or_else(too_long)?;
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }

    /// Where an offset leads: backwards.
    fn target(&self, at: usize, width: usize) -> Result<usize> {
        let back = self.len(at, width)?;
        at.checked_sub(back).ok_or_else(|| outside(at))
    }

    fn len(&self, at: usize, width: usize) -> Result<usize> {
        usize::try_from(self.number(at, width)?).map_err(|_| outside(at))
    }

    fn number(&self, at: usize, width: usize) -> Result<u64> {
        let bytes = at.checked_add(width).filter(|_| width <= 8).and_then(|end| self.bytes.get(at..end));
        let bytes = bytes.ok_or_else(|| outside(at))?;
        Ok(bytes.iter().rev().fold(0, |number, byte| (number << 8) | u64::from(*byte)))
    }
}

fn too_long() -> Error {
    Error::limit(format!("the texts of the configuration have more than {TEXT} bytes"))
}

fn outside(at: usize) -> Error {
    Error::malformed("an offset leads out of the configuration").at_offset(at as u64)
}
