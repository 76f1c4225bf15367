//! Chunks written through the filters of netcdf-c, with the parameters as its versions spell them.
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
use ncirrus_codec::{ChunkInfo, CodecRegistry, CodecScratch, DecodedElement, names};
use ncirrus_model::CodecSpec;
use serde_json::Value;
use std::path::Path;

#[test]
fn every_filter_of_netcdf_c_is_decoded() {
    let Some(corpus) = ncirrus_testkit::corpus::corpus("nczarr/cases") else { return };
    let mut decoded = 0;
    for version in ["4.9.0", "4.9.2", "4.9.3", "4.10.1"] {
        let data = corpus.join(format!("nczarr-{version}/filters/data"));
        let Ok(variables) = std::fs::read_dir(data) else { continue };
        for variable in
            variables.map(|entry| entry.unwrap().path()).filter(|path| path.join(".zarray").exists())
        {
            assert_eq!(first_chunk(&variable), expected(), "{}", variable.display());
            decoded += 1;
        }
    }
    assert!(decoded >= 30, "only {decoded} variables were there");
}

fn first_chunk(variable: &Path) -> Vec<i32> {
    let text = std::fs::read_to_string(variable.join(".zarray")).unwrap();
    let array: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&array["chunks"], &array["dtype"]), (&serde_json::json!([4, 8]), &serde_json::json!("<i4")));
    let filters = array["filters"].as_array().cloned().unwrap_or_default();
    let specs: Vec<CodecSpec> = filters
        .iter()
        .chain([&array["compressor"]])
        .filter_map(|codec| codec.as_object().cloned().map(CodecSpec::V2))
        .collect();
    let info = ChunkInfo { shape: vec![4, 8], element: DecodedElement::sized(Some(4)) };
    let specs = names::with_shape(&specs, &[8, 16]);
    let chain = CodecRegistry::builtin().bind(&specs, &info).unwrap();
    let mut out = [0; 4 * 8 * 4];
    let stored = std::fs::read(variable.join("0.0")).unwrap();
    chain.decode_into(&stored, 0, &mut out, &mut CodecScratch::default()).unwrap();
    out.chunks_exact(4).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap())).collect()
}

/// The variables hold 0, 7, 14, ... modulo 50 in rows of 16.
fn expected() -> Vec<i32> {
    (0..4).flat_map(|y| (0..8).map(move |x| (y * 16 + x) * 7 % 50)).collect()
}
