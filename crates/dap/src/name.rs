//! Names on the wire and as they are shown (docs/spec/dap.md 2.4).
use percent_encoding::percent_decode_str;

/// A name as a DDS or DAS writes it, and as netCDF has it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct WireName {
    /// The text of the document: requests are built from it.
    pub wire: String,
    /// What is shown: escapes decoded, but `/`, which netCDF forbids in names, as `%2F`; none at the beginning.
    pub shown: String,
}

impl WireName {
    /// A name as a document writes it. Escapes that are not UTF-8 stay as they are.
    pub fn new(wire: &str) -> Self {
        let decoded =
            percent_decode_str(wire).decode_utf8().map_or_else(|_| wire.to_owned(), |text| text.into());
        Self { wire: wire.to_owned(), shown: decoded.trim_start_matches('/').replace('/', "%2F") }
    }

    /// The name as netCDF-C shows it: only escapes of letters, digits and `_ ! ~ * ' - " @` are decoded.
    pub fn netcdf_c(&self) -> String {
        let bytes = self.wire.as_bytes();
        let mut shown = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while let Some(byte) = bytes.get(at) {
            match escape(bytes.get(at..at + 3)) {
                Some(decoded) if is_decoded_by_netcdf_c(decoded) => {
                    shown.push(decoded);
                    at += 3;
                }
                _ => {
                    shown.push(*byte);
                    at += 1;
                }
            }
        }
        String::from_utf8_lossy(&shown).trim_start_matches('/').replace('/', "%2f")
    }
}

/// The byte that `%HH` stands for.
fn escape(text: Option<&[u8]>) -> Option<u8> {
    let [b'%', high, low] = text? else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    Some(digit(*high)? << 4 | digit(*low)?)
}

fn is_decoded_by_netcdf_c(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_!~*'-\"@".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_decoded_for_show_and_kept_for_requests() {
        let cases = [
            ("sp%20ace", "sp ace", "sp%20ace"),
            ("a%2Eb", "a.b", "a%2Eb"),
            ("g%2Fv", "g%2Fv", "g%2Fv"),
            ("/time", "time", "time"),
            ("a%41", "aA", "aA"),
            ("%C3%A9", "\u{e9}", "%C3%A9"),
            ("%ff", "%ff", "%ff"),
            ("100%", "100%", "100%"),
            ("%4", "%4", "%4"),
        ];
        for (wire, shown, netcdf_c) in cases {
            let name = WireName::new(wire);
            assert_eq!((&*name.wire, &*name.shown, &*name.netcdf_c()), (wire, shown, netcdf_c));
        }
    }
}
