//! Files made for tests: object headers of version 2 below a superblock of version 2, 8-byte offsets and lengths.
use crate::checksum::lookup3;

/// A growing file; it begins with room for the superblock.
#[derive(Debug, Clone)]
pub(crate) struct FileBuilder {
    pub(crate) bytes: Vec<u8>,
}

impl FileBuilder {
    pub(crate) fn new() -> Self {
        Self { bytes: vec![0; 48] }
    }

    /// Adds a structure; returns its address.
    pub(crate) fn put(&mut self, structure: &[u8]) -> u64 {
        let addr = self.next();
        self.bytes.resize(usize::try_from(addr).expect("small"), 0);
        self.bytes.extend(structure);
        addr
    }

    /// The address of the next structure.
    pub(crate) fn next(&self) -> u64 {
        self.bytes.len().next_multiple_of(8) as u64
    }

    /// Adds an object header.
    pub(crate) fn header(&mut self, messages: &[Vec<u8>]) -> u64 {
        self.put(&header(0, messages))
    }

    /// Adds a group with these link messages.
    pub(crate) fn group(&mut self, links: &[Vec<u8>]) -> u64 {
        let info = [&[0, 0][..], &[0xff; 16]].concat();
        self.header(&[vec![message(2, 0, &info)], links.to_vec()].concat())
    }

    /// The file, with a superblock that points to the root group.
    pub(crate) fn finish(mut self, root: u64) -> Vec<u8> {
        let end = self.bytes.len() as u64;
        let superblock = superblock(2, 0, 0, u64::MAX, end, root);
        self.bytes[..48].copy_from_slice(&superblock);
        self.bytes
    }
}

/// A superblock of version 2 or 3.
pub(crate) fn superblock(version: u8, flags: u8, base: u64, extension: u64, end: u64, root: u64) -> Vec<u8> {
    let start = [b"\x89HDF\r\n\x1a\n".as_slice(), &[version, 8, 8, flags]].concat();
    summed([start, words(&[base, extension, end, root])].concat())
}

/// An object header of version 2 with these flags besides those of the length's width.
pub(crate) fn header(flags: u8, messages: &[Vec<u8>]) -> Vec<u8> {
    let area = messages.concat();
    let len = u32::try_from(area.len()).expect("small");
    summed([b"OHDR\x02".as_slice(), &[flags | 2], &len.to_le_bytes(), &area].concat())
}

/// A message of a header of version 2 without creation indexes.
pub(crate) fn message(kind: u8, flags: u8, body: &[u8]) -> Vec<u8> {
    let len = u16::try_from(body.len()).expect("small").to_le_bytes();
    [&[kind, len[0], len[1], flags], body].concat()
}

/// A link message in a header: a hard link.
pub(crate) fn hard(name: &str, addr: u64) -> Vec<u8> {
    message(6, 0, &link(0, None, name.as_bytes(), &addr.to_le_bytes()))
}

/// A link message in a header: a soft link.
pub(crate) fn soft(name: &str, path: &str) -> Vec<u8> {
    message(6, 0, &link(1, None, name.as_bytes(), &sized(path.as_bytes())))
}

/// A link message in a header: a link into another file.
pub(crate) fn external(name: &str, file: &str, path: &str) -> Vec<u8> {
    let value = [b"\0".as_slice(), file.as_bytes(), b"\0", path.as_bytes(), b"\0"].concat();
    message(6, 0, &link(64, None, name.as_bytes(), &sized(&value)))
}

/// The body of a link message.
pub(crate) fn link(kind: u8, order: Option<i64>, name: &[u8], value: &[u8]) -> Vec<u8> {
    let flags = if order.is_some() { 0x1c } else { 0x18 };
    let order = order.map(i64::to_le_bytes).into_iter().flatten().collect::<Vec<u8>>();
    let len = u8::try_from(name.len()).expect("short");
    [&[1, flags, kind], order.as_slice(), &[1, len], name, value].concat()
}

/// Bytes after their length in two bytes.
pub(crate) fn sized(bytes: &[u8]) -> Vec<u8> {
    [u16::try_from(bytes.len()).expect("short").to_le_bytes().as_slice(), bytes].concat()
}

/// Numbers of 8 bytes.
pub(crate) fn words(numbers: &[u64]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// A structure with its checksum behind it.
pub(crate) fn summed(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = lookup3(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}
