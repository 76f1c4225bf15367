//! Versions of structures, determined from the bytes of a file (HDF5 file format 3.0: II.A, IV.A).
use std::collections::BTreeSet;

/// The structures found in a file.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Version of the superblock.
    pub(crate) superblock: u8,
    /// Offsets of object headers of version 2.
    pub(crate) headers: Vec<usize>,
    /// Versions of the layout messages in their first blocks.
    pub(crate) layouts: BTreeSet<u8>,
    /// Signatures of chunk indexes.
    pub(crate) signatures: BTreeSet<[u8; 4]>,
}

/// Searches for signatures at multiples of 8 bytes, where all structures begin here.
pub(crate) fn look(file: &[u8]) -> Found {
    let mut found = Found { superblock: file[8], ..Found::default() };
    for (number, eight) in file.chunks_exact(8).enumerate() {
        let signature = [eight[0], eight[1], eight[2], eight[3]];
        match &signature {
            b"OHDR" => {
                found.headers.push(number * 8);
                found.layouts.extend(layouts(&file[number * 8..]));
            }
            b"TREE" | b"FAHD" | b"EAHD" | b"BTHD" => _ = found.signatures.insert(signature),
            _ => {}
        }
    }
    found
}

/// Versions of the layout messages in the first block of a header of version 2.
fn layouts(header: &[u8]) -> Vec<u8> {
    const LAYOUT: u8 = 8;
    assert_eq!(header[4], 2, "version of an object header");
    let flags = header[5];
    let mut at = 6;
    at += if flags & 0x20 != 0 { 16 } else { 0 };
    at += if flags & 0x10 != 0 { 4 } else { 0 };
    let width = 1usize << (flags & 3);
    let len = number(&header[at..at + width]);
    at += width;
    let (end, prefix) = (at + len, if flags & 4 != 0 { 6 } else { 4 });
    let mut versions = Vec::new();
    while at + prefix <= end {
        let (kind, size) = (header[at], number(&header[at + 1..at + 3]));
        at += prefix;
        if kind == LAYOUT {
            versions.push(header[at]);
        }
        at += size;
    }
    versions
}

fn number(bytes: &[u8]) -> usize {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
}
