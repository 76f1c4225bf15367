//! HDF5 files with changes whose checksums were corrected: damage that a checksum detects is found immediately, and the
//! code after the check would never be reached.
use crate::checksum::lookup3;
use std::ops::Range;

/// Signatures at the start of structures with a checksum.
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
const LONGEST: usize = 1 << 16;

/// The bytes after a change of some of them, except those of signatures and lengths.
pub(crate) fn mended(bytes: &[u8], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let starts =
        (0..bytes.len()).filter(|at| SIGNATURES.iter().any(|signature| bytes[*at..].starts_with(signature)));
    let structures: Vec<Range<usize>> = starts.filter_map(|start| Some(start..end(bytes, start)?)).collect();
    let mut changed = bytes.to_vec();
    change(&mut changed);
    for Range { start, end } in structures {
        let sum = lookup3(&changed[start..end]).to_le_bytes();
        changed[end..end + 4].copy_from_slice(&sum);
    }
    changed
}

/// The end of the bytes that are covered by the checksum that follows.
fn end(bytes: &[u8], start: usize) -> Option<usize> {
    let last = bytes.len().saturating_sub(4).min(start + LONGEST);
    (start + 8..=last).find(|end| bytes[*end..*end + 4] == lookup3(&bytes[start..*end]).to_le_bytes())
}
