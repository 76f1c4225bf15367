//! Fuzz targets: every parser of bytes from outside, as plain functions that must return for any input.
mod aggregation;
mod budget;
mod byte_ranges;
mod cdl;
mod cdl_parse;
#[path = "../../crates/hdf5/src/checksum.rs"]
mod checksum;
mod configuration;
mod dap;
mod hdf5;
mod mend;
#[path = "../../crates/http/src/byte_ranges.rs"]
mod ranges;
mod selections;
mod serving;
mod units;
mod whole;

pub use aggregation::aggregation;
pub use byte_ranges::byte_ranges;
pub use cdl::cdl;
pub use cdl_parse::cdl_parse;
pub use configuration::configuration;
pub use dap::{constraints, dap, das, dds, dmr, dods};
pub use hdf5::hdf5_structures;
pub use mend::{checked, mend};
pub use selections::selections;
pub use serving::{ServedExamples, chunk_keys, request_headers, requests, served_paths, subset_queries};
pub use units::units;
pub use whole::{BETWEEN, classic_read, hdf5_read, update, zarr_read};

use ncirrus_codec::{ChunkInfo, CodecRegistry, CodecScratch, DecodedElement, NumberKind, NumberType};
use ncirrus_layout::{Catalog, Driver, Limits, OpenOptions};
use ncirrus_model::CodecSpec;
use ncirrus_store::{BlockingStore, MemoryStore, Store, ZipStore};
use ncirrus_testkit::{MemoryView, ObjectView};
use std::sync::Arc;

/// Maximum number of chunks of a variable, and of elements of a read.
const LOOKED_AT: u64 = 4096;

/// Limits that keep one input cheap.
fn limits() -> Limits {
    Limits { metadata_bytes: 1 << 22, chunk_bytes: 1 << 22, count: 1 << 16, ..Limits::default() }
}

/// Opens a dataset and accesses everything except values.
fn open_all(driver: &dyn Driver, objects: ObjectView, root: &str) {
    let view = MemoryView::new(objects).with_limits(limits());
    let root = ObjectView::id(root);
    _ = driver.probe(&view, &root);
    let Ok(catalog) = driver.open(&view, &root, &OpenOptions::default()) else { return };
    look(catalog.as_ref(), &view);
}

fn look(catalog: &dyn Catalog, view: &MemoryView) {
    let Ok(model) = catalog.tree(view) else { return };
    _ = catalog.attributes(view, &model.nodes());
    for var in model.variables() {
        _ = catalog.source(view, var);
    }
    _ = (catalog.kind(), catalog.facts(), catalog.warnings());
}

/// JSON metadata of Zarr and NCZarr: lines `key<TAB>document`.
pub fn zarr_metadata(data: &[u8]) {
    let mut objects = ObjectView::new();
    for line in data.split(|byte| *byte == b'\n').take(64) {
        let mut parts = line.splitn(2, |byte| *byte == b'\t');
        let (Some(key), Some(body)) = (parts.next(), parts.next()) else { continue };
        objects.put(&String::from_utf8_lossy(key), body.to_vec());
    }
    open_all(&ncirrus_zarr::ZarrDriver, objects, "");
}

/// Headers of netCDF-3 files.
pub fn classic_header(data: &[u8]) {
    open_all(&ncirrus_classic::ClassicDriver, ObjectView::one("x.nc", data.to_vec()), "x.nc");
}

/// Reference files.
pub fn reference_file(data: &[u8]) {
    _ = ncirrus_store::parse_references(data, &limits());
}

/// Files of Icechunk repositories, with or without compression, as each of the kinds that they may be; the configuration in
/// FlexBuffers, too.
pub fn icechunk_file(data: &[u8]) {
    _ = ncirrus_icechunk::inspect(&bytes::Bytes::copy_from_slice(data), &limits());
}

/// A file of an Icechunk repository without its compression, so that changes reach what is inside.
pub fn icechunk_plain(data: &[u8]) -> Option<Vec<u8>> {
    ncirrus_icechunk::uncompressed(&bytes::Bytes::copy_from_slice(data), &limits())
}

/// Files of references in Parquet.
pub fn reference_records(data: &[u8]) {
    _ = ncirrus_store::parse_records(data, &limits());
}

/// Documents of DMR++.
pub fn dmrpp(data: &[u8]) {
    _ = ncirrus_dap::Dmrpp::parse(data, &limits());
}

/// Central directories and entries of zip files.
pub fn zip_directory(data: &[u8]) {
    let memory = MemoryStore::new("fuzz");
    let object = ncirrus_layout::ObjectId::new(ncirrus_store::LocalStore::id(&memory).clone(), "x.zip");
    if ncirrus_store::LocalStore::put(&memory, &object, data, &ncirrus_store::PutCondition::None).is_err() {
        return;
    }
    let store: Arc<dyn Store> = Arc::new(BlockingStore(memory));
    let Ok(zip) = futures_executor::block_on(ZipStore::open(store, object, &limits())) else { return };
    _ = zip.root_prefix();
    let root = ncirrus_layout::ObjectId::new(zip.id().clone(), "");
    let Ok(listing) = futures_executor::block_on(zip.list(&root, None)) else { return };
    for entry in listing.entries.iter().take(16) {
        _ = futures_executor::block_on(zip.get(&root.child(&entry.name), &ncirrus_layout::Want::All));
    }
}

/// Printing of numbers: the text reads back as a number close to the original.
pub fn number_printing(data: &[u8]) {
    for bytes in data.chunks_exact(9) {
        let (bits, digits) = (
            u64::from_le_bytes([
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
            ]),
            usize::from(bytes[8] % 20) + 1,
        );
        let value = f64::from_bits(bits);
        let text = ncirrus_cdl::format_double(value, digits);
        if value.is_finite() && digits >= 17 {
            assert_eq!(text.parse::<f64>().ok(), Some(value), "{text}");
        }
        let single = f32::from_bits((bits & 0xffff_ffff) as u32);
        let text = ncirrus_cdl::format_float(single, digits);
        if single.is_finite() && digits >= 9 {
            assert_eq!(text.parse::<f32>().ok(), Some(single), "{text}");
        }
    }
}

/// Encoded chunks: the first byte selects the codec, the rest is the chunk.
pub fn codecs(data: &[u8]) {
    let Some((which, body)) = data.split_first() else { return };
    let info = chunk_of(usize::from(*which));
    let spec = codec(usize::from(*which));
    let Ok(chain) = CodecRegistry::builtin().bind(&[spec], &info) else { return };
    let mut scratch = CodecScratch::default();
    let mut out = vec![0; 4096];
    _ = chain.decode_into(body, 0, &mut out, &mut scratch);
    _ = chain.decode(body, 0, 1 << 16, &mut scratch);
    _ = chain.decode_ranges(body, 0, &[16..32, 4000..4096], &mut out, &mut scratch);
    // Arbitrary bytes survive encoding and decoding, unless the codec refuses them.
    if let Ok((encoded, skipped)) = chain.encode(body.get(..4096).unwrap_or(body), &mut scratch) {
        _ = chain.decode(&encoded, skipped, 1 << 16, &mut scratch);
    }
}

/// A valid input of [`codecs`] for every codec that encodes.
pub fn codec_samples() -> Vec<Vec<u8>> {
    let values: Vec<u8> = (0..1024i32).flat_map(|i| (i * i / 50 % 300).to_le_bytes()).collect();
    let sample = |which: usize| {
        let chain = CodecRegistry::builtin().bind(&[codec(which)], &chunk_of(which)).ok()?;
        let (encoded, _) = chain.encode(&values, &mut CodecScratch::default()).ok()?;
        Some([&[u8::try_from(which).ok()?][..], &encoded].concat())
    };
    (0..CODECS).filter_map(sample).collect()
}

/// Parameters of HDF5 filters: the first byte selects the filter, the rest are its parameters.
pub fn filter_parameters(data: &[u8]) {
    let Some((which, body)) = data.split_first() else { return };
    let Some((id, _)) = FILTERS.get(usize::from(*which) % FILTERS.len()) else { return };
    let numbers: Vec<u32> =
        body.chunks_exact(2).map(|pair| u32::from(u16::from_le_bytes([pair[0], pair[1]]))).collect();
    let info = ChunkInfo { shape: vec![64, 16], element: DecodedElement::sized(Some(4)) };
    let Ok(chain) = CodecRegistry::builtin().bind(&[CodecSpec::hdf5(*id, &numbers)], &info) else { return };
    let mut scratch = CodecScratch::default();
    let mut out = vec![0; 4096];
    _ = chain.decode_into(body, 0, &mut out, &mut scratch);
    _ = chain.encode(&out, &mut scratch);
}

const NAMES: [&str; 12] = [
    "zlib",
    "gzip",
    "zstd",
    "blosc",
    "lz4",
    "bz2",
    "lzma",
    "shuffle",
    "fletcher32",
    "crc32",
    "packbits",
    "adler32",
];

/// HDF5 filters and their parameters, for chunks of 1,024 elements of 4 bytes.
const FILTERS: [(u32, &[u32]); 18] = [
    (4, &[32, 16, 32, 64]),
    (4, &[16, 8, 12, 60]),
    (5, &[8, 0, 1024, 1, 4, 0, 17, 4]),
    (5, &[20, 0, 1024, 3, 4, 2, 0, 1, 1, 0, 3, 1, 1, 2, 3, 1, 1, 1, 5, 0]),
    (6, &[2, 0, 1024, 0, 4, 1, 0, 1, 99, 0]),
    (6, &[0, 2, 1024, 1, 4, 0, 1, 0]),
    (32000, &[4, 0x105, 4096]),
    (32001, &[2, 2, 4, 4096, 5, 1, 3]),
    (32004, &[512]),
    (32008, &[0, 4, 4, 0, 0]),
    (32008, &[0, 4, 4, 64, 2]),
    (32008, &[0, 4, 4, 0, 3]),
    // 32 x 32: floats of 4 bytes without loss, ints of 4 bytes at 16 bits, floats of 8 bytes (16 x 32) at 20 planes.
    (32013, &[0, 0x0570_667a, 0xf000_01f6, 0x8800_0001]),
    (32013, &[0, 0x0570_667a, 0xf000_01f4, 0x00f0_0001]),
    (32013, &[0, 0x0570_667a, 0xf000_01f7, 0x8130_0000]),
    (32015, &[3]),
    (32026, &[1, 0, 4, 4096, 5, 1, 1]),
    (32026, &[1, 0, 4, 4096, 5, 2, 5]),
];

/// Codecs of the registry of Zarr v3 and their configurations.
const EXTENSIONS: [(&str, &str); 9] = [
    ("pcodec", r#"{"level": 3}"#),
    ("packbits", r#"{"padding_encoding": "first_byte", "first_bit": 1, "last_bit": 20}"#),
    ("packbits", "{}"),
    ("conditional", r#"{"codecs": ["crc32c", {"name": "zstd", "configuration": {"level": 1}}]}"#),
    (
        "n5_default",
        r#"{"codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes", "gzip"]}"#,
    ),
    ("cast_value", r#"{"data_type": "float64", "out_of_range": "clamp"}"#),
    ("cast_value", r#"{"data_type": "int8", "scalar_map": {"encode": [[300, -1]], "decode": [[-1, 300]]}}"#),
    ("scale_offset", r#"{"scale": 3, "offset": -7}"#),
    ("jenkins_lookup3", r#"{"initval": 5, "prefix": [1]}"#),
];

const CODECS: usize = NAMES.len() + FILTERS.len() + EXTENSIONS.len();

/// The extension with that number, after the others.
fn extension(which: usize) -> Option<&'static (&'static str, &'static str)> {
    EXTENSIONS.get((which % CODECS).checked_sub(NAMES.len() + FILTERS.len())?)
}

/// Chunks of 1,024 elements of 4 bytes; their type is known where codecs need it.
fn chunk_of(which: usize) -> ChunkInfo {
    let number = NumberType { kind: NumberKind::Signed, size: 4, big_endian: false };
    let element = match extension(which) {
        Some(_) => DecodedElement::of(number),
        None => DecodedElement::sized(Some(4)),
    };
    ChunkInfo { shape: vec![64, 16], element }
}

fn codec(which: usize) -> CodecSpec {
    if let Some((name, configuration)) = extension(which) {
        let json: ncirrus_model::Json = configuration.parse().unwrap_or_default();
        let configuration = json.as_object().cloned().unwrap_or_default();
        return CodecSpec::V3 { name: (*name).to_owned(), configuration };
    }
    if let Some((id, numbers)) = FILTERS.get(which % CODECS) {
        return CodecSpec::hdf5(*id, numbers);
    }
    let name = NAMES[which % NAMES.len()];
    let mut map = serde_json_map();
    map.insert("id".to_owned(), name.into());
    CodecSpec::V2(map)
}

fn serde_json_map() -> ncirrus_model::JsonMap<String, ncirrus_model::Json> {
    ncirrus_model::JsonMap::new()
}
