//! Corrects checksums of a mutated HDF5 file: damage that a checksum detects is found immediately, and the code after
//! the check would never be reached.
use crate::checksum::lookup3;
use std::ops::Range;

/// Signatures of all structures with a checksum.
const SIGNATURES: [&[u8]; 16] = [
    b"\x89HDF\r\n\x1a\n",
    b"OHDR",
    b"OCHK",
    b"FRHP",
    b"FHIB",
    b"BTHD",
    b"BTLF",
    b"BTIN",
    b"FAHD",
    b"FADB",
    b"EAHD",
    b"EAIB",
    b"EASB",
    b"EADB",
    b"SMTB",
    b"SMLI",
];
/// Maximum length of a structure that is searched for.
const LONGEST: usize = 4096;

/// The structures of a file that are followed by their checksums.
pub fn checked(bytes: &[u8]) -> Vec<Range<usize>> {
    let starts =
        (0..bytes.len()).filter(|at| SIGNATURES.iter().any(|signature| bytes[*at..].starts_with(signature)));
    starts.filter_map(|start| Some(start..end(bytes, start)?)).collect()
}

/// The end of the bytes that are covered by the checksum that follows.
fn end(bytes: &[u8], start: usize) -> Option<usize> {
    let last = bytes.len().saturating_sub(4).min(start + LONGEST);
    (start + 8..=last).find(|end| bytes[*end..*end + 4] == lookup3(&bytes[start..*end]).to_le_bytes())
}

/// Corrects the checksums of these structures, as far as they still exist.
pub fn mend(bytes: &mut [u8], structures: &[Range<usize>]) {
    for range in structures {
        let Some(content) = bytes.get(range.clone()) else { continue };
        let sum = lookup3(content).to_le_bytes();
        if let Some(place) = bytes.get_mut(range.end..range.end + 4) {
            place.copy_from_slice(&sum);
        }
    }
}
