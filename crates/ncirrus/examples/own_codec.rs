//! A codec defined by a program: chunks of land-sea masks, classes and the like are stored as runs of equal elements.
//!
//! `cargo run -p ncirrus --example own_codec -- mask.zarr` (or `mask.nc4`) writes a mask and prints how many bytes are
//! read for it. `docs/extending.md` explains the traits; `tests/examples.rs` tests this codec against the contract.
use ncirrus::codec::{ChunkInfo, CodecError, CodecFactory, CustomCodec};
use ncirrus::{
    Atomic, CodecSpec, CreateOptions, Dataset, DimensionLen, Json, JsonMap, OpenOptions, Result, Session,
    Storage,
};
use std::sync::Arc;

/// Its name in Zarr. A prefix of your own avoids collisions with codecs of others.
pub(crate) const NAME: &str = "example.runs";
/// Its number in HDF5: one of those reserved for testing.
pub(crate) const FILTER: u32 = 300;

/// Makes codecs for chunks of any element of fixed size.
#[derive(Debug)]
pub(crate) struct RunsFactory;

impl CodecFactory for RunsFactory {
    fn name(&self) -> &str {
        NAME
    }

    fn hdf5_id(&self) -> Option<u32> {
        Some(FILTER)
    }

    fn members(&self) -> &[&str] {
        &["longest"]
    }

    fn bind(
        &self,
        configuration: &JsonMap<String, Json>,
        chunk: &ChunkInfo,
    ) -> std::result::Result<Arc<dyn CustomCodec>, CodecError> {
        let longest = configuration.get("longest").map_or(Some(u32::MAX.into()), Json::as_u64);
        let longest = longest.and_then(|longest| u32::try_from(longest).ok()).filter(|longest| *longest > 0);
        let longest = longest.ok_or_else(|| CodecError::malformed(NAME, "longest is no positive number"))?;
        let width = chunk.element.byte_len.filter(|width| *width > 0);
        let width = width.ok_or_else(|| CodecError::unsupported(NAME, "the elements have no fixed size"))?;
        Ok(Arc::new(Runs { width, longest }))
    }
}

/// Runs of elements of that many bytes: their number in four bytes, little-endian, and the element.
#[derive(Debug)]
struct Runs {
    width: usize,
    longest: u32,
}

impl CustomCodec for Runs {
    fn encode(&self, input: &[u8]) -> std::result::Result<Vec<u8>, CodecError> {
        let mut elements = input.chunks_exact(self.width).peekable();
        let mut encoded = Vec::new();
        while let Some(element) = elements.next() {
            let mut count = 1_u32;
            while count < self.longest && elements.next_if_eq(&element).is_some() {
                count += 1;
            }
            encoded.extend(count.to_le_bytes());
            encoded.extend(element);
        }
        match input.len() % self.width {
            0 => Ok(encoded),
            rest => Err(CodecError::unsupported(NAME, format!("{rest} bytes behind the last element"))),
        }
    }

    fn decode(&self, input: &[u8], limit: usize) -> std::result::Result<Vec<u8>, CodecError> {
        let mut decoded = Vec::new();
        let mut rest = input;
        while !rest.is_empty() {
            let run = rest.split_first_chunk::<4>();
            let run = run.and_then(|(count, rest)| Some((count, rest.split_at_checked(self.width)?)));
            let Some((count, (element, behind))) = run else {
                return Err(CodecError::malformed(NAME, "the last run is cut short"));
            };
            // Bytes from a file may claim anything: the claimed length is checked before memory is allocated for it.
            let count = u32::from_le_bytes(*count) as usize;
            let len = count.checked_mul(self.width).and_then(|len| len.checked_add(decoded.len()));
            let len = len.filter(|len| *len <= limit).ok_or_else(|| CodecError::limit(NAME, limit))?;
            decoded.reserve_exact(len - decoded.len());
            for _ in 0..count {
                decoded.extend_from_slice(element);
            }
            rest = behind;
        }
        Ok(decoded)
    }
}

/// A session that knows the codec, for reading and for writing.
pub(crate) fn session() -> Result<Session> {
    Session::builder().codec(RunsFactory).build()
}

/// A mask of 300 rows and columns: sea, with an island.
pub(crate) fn mask() -> Vec<i8> {
    let is_land = |row: i32, column: i32| (row - 150).pow(2) + (column - 150).pow(2) < 90 * 90;
    (0..300).flat_map(|row| (0..300).map(move |column| i8::from(is_land(row, column)))).collect()
}

/// Writes the mask as a single chunk.
pub(crate) fn write(url: &str, options: &CreateOptions, session: &Session) -> Result<()> {
    let dataset = Dataset::create_with(url, options, session)?;
    for name in ["y", "x"] {
        dataset.root().add_dimension(name, DimensionLen::Fixed(300))?;
    }
    let variable = dataset.root().add_variable("mask", Atomic::Byte, &["y", "x"])?;
    // The number in HDF5 is translated to the name in Zarr. A codec without one is `CodecSpec::v3(NAME)`.
    variable.set_storage(Storage::Chunked(vec![300, 300]), vec![CodecSpec::hdf5(FILTER, &[])])?;
    variable.write_all(&mask())?;
    dataset.close()
}

/// Reads the mask, and returns how many bytes were fetched for it.
pub(crate) fn read(url: &str, session: &Session) -> Result<(Vec<i8>, u64)> {
    let dataset = Dataset::open_with(url, &OpenOptions::default(), session)?;
    let before = session.statistics().bytes_fetched;
    let mask = dataset.variable("mask")?.read::<i8>()?.to_vec();
    Ok((mask, session.statistics().bytes_fetched - before))
}

#[expect(clippy::print_stdout, reason = "this is what the example shows")]
pub(crate) fn main() -> Result<()> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "mask.nc4".to_owned());
    let session = session()?;
    write(&url, &CreateOptions::default(), &session)?;
    let (mask, fetched) = read(&url, &session)?;
    println!("{} values in {fetched} bytes", mask.len());
    Ok(())
}
