//! One file of a cache: a magic, then facts about the object, then a checksum of everything.
//!
//! Numbers are 64 bits, little-endian; texts and blocks are preceded by their length.
use bytes::Bytes;
use ncirrus_layout::Tag;

/// What is cached of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheEntry {
    /// The driver of the dataset, if the object is its root.
    pub driver: Option<String>,
    /// Tag of the object.
    pub tag: Tag,
    /// Size of the object in bytes.
    pub size: u64,
    /// Offsets and bytes.
    pub blocks: Vec<(u64, Bytes)>,
}

/// The last byte is the version.
const MAGIC: &[u8] = b"ncirrus cache\x01";

impl CacheEntry {
    /// Cached bytes of the object.
    pub fn byte_len(&self) -> usize {
        self.blocks.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// The file's bytes.
    pub(super) fn encode(&self, address: &str) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let text = |out: &mut Vec<u8>, bytes: &[u8]| {
            out.extend((bytes.len() as u64).to_le_bytes());
            out.extend(bytes);
        };
        text(&mut out, address.as_bytes());
        text(&mut out, self.driver.as_deref().unwrap_or_default().as_bytes());
        text(&mut out, self.tag.as_str().as_bytes());
        out.extend(self.size.to_le_bytes());
        out.extend((self.blocks.len() as u64).to_le_bytes());
        for (offset, bytes) in &self.blocks {
            out.extend(offset.to_le_bytes());
            text(&mut out, bytes);
        }
        out.extend(crc32fast::hash(&out).to_le_bytes());
        out
    }

    /// The entry for the object of that address; `None` if the file is of another one, damaged or of another version.
    pub(super) fn decode(file: Vec<u8>, address: &str) -> Option<Self> {
        let (content, checksum) = file.split_last_chunk::<4>()?;
        if u32::from_le_bytes(*checksum) != crc32fast::hash(content) {
            return None;
        }
        let len = content.len();
        let mut rest = EntryCursor(Bytes::from(file).split_to(len));
        if rest.take(MAGIC.len() as u64)? != MAGIC || rest.text()? != address {
            return None;
        }
        let (driver, tag, size) = (rest.text()?, Tag::new(rest.text()?), rest.number()?);
        let count = rest.number()?;
        let mut blocks = Vec::new();
        for _ in 0..count {
            let offset = rest.number()?;
            let len = rest.number()?;
            let end = offset.checked_add(len)?;
            blocks.push((offset, rest.take(len).filter(|_| end <= size)?));
        }
        let driver = Some(driver).filter(|driver| !driver.is_empty());
        rest.0.is_empty().then_some(Self { driver, tag, size, blocks })
    }
}

struct EntryCursor(Bytes);

impl EntryCursor {
    fn take(&mut self, len: u64) -> Option<Bytes> {
        let len = usize::try_from(len).ok().filter(|len| *len <= self.0.len())?;
        Some(self.0.split_to(len))
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.as_ref().try_into().ok()?))
    }

    fn text(&mut self) -> Option<String> {
        let len = self.number()?;
        String::from_utf8(self.take(len)?.to_vec()).ok()
    }
}
