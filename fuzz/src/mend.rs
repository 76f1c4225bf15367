//! Checksums of a mutated HDF5 file made right again: damage that a checksum finds is found at once, and what lies
//! behind it would never be reached.
use crate::checksum::lookup3;
use std::ops::Range;

/// What every structure with a checksum begins with.
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
/// Longest structure that is looked for.
const LONGEST: usize = 4096;

/// The structures of a file that their checksums follow.
pub fn checked(bytes: &[u8]) -> Vec<Range<usize>> {
    let starts =
        (0..bytes.len()).filter(|at| SIGNATURES.iter().any(|signature| bytes[*at..].starts_with(signature)));
    starts.filter_map(|start| Some(start..end(bytes, start)?)).collect()
}

/// Where the bytes end that the following four are the checksum of.
fn end(bytes: &[u8], start: usize) -> Option<usize> {
    let last = bytes.len().saturating_sub(4).min(start + LONGEST);
    (start + 8..=last).find(|end| bytes[*end..*end + 4] == lookup3(&bytes[start..*end]).to_le_bytes())
}

/// Makes the checksums of these structures right, as far as they are still there.
pub fn mend(bytes: &mut [u8], structures: &[Range<usize>]) {
    for range in structures {
        let Some(content) = bytes.get(range.clone()) else { continue };
        let sum = lookup3(content).to_le_bytes();
        if let Some(place) = bytes.get_mut(range.end..range.end + 4) {
            place.copy_from_slice(&sum);
        }
    }
}
