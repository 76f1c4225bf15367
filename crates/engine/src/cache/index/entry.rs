//! One file of the index cache: a magic, then what is known of the object, then a checksum of all of it.
//!
//! Numbers are 64 bits, little-endian; texts and blocks have their length before them.
use bytes::Bytes;
use ncirrus_codec::{ChunkInfo, CodecChain, Element, Registry, Scratch};
use ncirrus_layout::Tag;
use ncirrus_model::CodecSpec;

/// What is kept of an object.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The driver of the dataset, where the object is its root.
    pub(crate) driver: Option<String>,
    /// State of the object.
    pub(crate) tag: Tag,
    /// Size of the object in bytes.
    pub(crate) size: u64,
    /// Offsets and bytes.
    pub(crate) blocks: Vec<(u64, Bytes)>,
}

/// The last byte is the version.
const MAGIC: &[u8] = b"ncirrus index\x01";

impl Entry {
    /// Bytes of the object that are kept.
    pub(crate) fn byte_len(&self) -> usize {
        self.blocks.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    /// The file's bytes.
    pub(super) fn encode(&self, address: &str) -> Option<Vec<u8>> {
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
        let (sealed, _) = checksum(out.len())?.encode(&out, &mut Scratch::default()).ok()?;
        Some(sealed)
    }

    /// What a file says of the object of that address; `None` when it is of another one, damaged or of another version.
    pub(super) fn decode(file: &[u8], address: &str) -> Option<Self> {
        let chain = checksum(file.len().checked_sub(4)?)?;
        let bytes: Bytes = chain.decode(file, 0, file.len(), &mut Scratch::default()).ok()?.into();
        let mut rest = Cursor(bytes);
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

fn checksum(len: usize) -> Option<CodecChain> {
    let info = ChunkInfo { shape: vec![len as u64], element: Element { byte_len: Some(1) } };
    Registry::builtin().bind(&[CodecSpec::v3("crc32c")], &info).ok()
}

struct Cursor(Bytes);

impl Cursor {
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
