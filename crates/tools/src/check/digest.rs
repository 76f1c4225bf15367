//! A digest of values that does not depend on the format.
use ncirrus::{Result, Strings, Values};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// SHA-256 of values in row-major order: numbers little-endian, strings and vlen values each after their length as 8
/// bytes, compounds field by field.
#[derive(Default)]
pub(super) struct ValueDigest(Sha256);

impl ValueDigest {
    /// Adds elements as they are in memory, of numbers of `size` bytes each.
    pub(super) fn add_native(&mut self, bytes: &[u8], size: usize) {
        if cfg!(target_endian = "little") || size <= 1 {
            return self.0.update(bytes);
        }
        bytes.chunks(size).for_each(|number| {
            let swapped: Vec<u8> = number.iter().rev().copied().collect();
            self.0.update(swapped);
        });
    }

    /// Adds values of any type.
    pub(super) fn add(&mut self, values: &Values) -> Result<()> {
        match values {
            Values::String(strings) => self.add_strings(strings),
            _ => (0..values.len()).for_each(|index| self.add_element(values, index)),
        }
        Ok(())
    }

    fn add_strings(&mut self, strings: &Strings) {
        // A null string is an empty one in formats that have no null.
        strings.iter().for_each(|text| self.add_sized(text.unwrap_or_default()));
    }

    fn add_sized(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn add_element(&mut self, values: &Values, index: usize) {
        match values {
            Values::String(strings) => self.add_sized(strings.get(index).unwrap_or_default()),
            Values::Opaque { size, bytes } => {
                self.0.update(bytes.get(index * size..(index + 1) * size).unwrap_or_default());
            }
            Values::Vlen { ends, elements } => {
                let end = ends.get(index).copied().unwrap_or_default();
                let start = index.checked_sub(1).and_then(|last| ends.get(last)).copied().unwrap_or_default();
                self.0.update((end.saturating_sub(start) as u64).to_le_bytes());
                (start..end).for_each(|at| self.add_element(elements, at));
            }
            Values::Compound { len, fields } => {
                for field in fields {
                    let each = field.len() / (*len).max(1);
                    (index * each..(index + 1) * each).for_each(|at| self.add_element(field, at));
                }
            }
            numbers => {
                let one = numbers.slice(index..index + 1);
                let bytes = one.as_bytes().unwrap_or_default();
                self.add_native(bytes, bytes.len());
            }
        }
    }

    /// The digest in hexadecimal.
    pub(super) fn finish(self) -> String {
        let mut text = String::with_capacity(64);
        for byte in self.0.finalize() {
            // Writing to a string does not fail.
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}
