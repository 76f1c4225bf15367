//! Answers in pieces give what they give whole.
use super::*;
use crate::place::DapPlace;
use crate::shown::dap2::{self, Dap2Facts};
use crate::shown::{ShownDataset, dap4};
use crate::{Das, Dds, Dmr};
use ncirrus_layout::{AddressHints, ObjectId, QueryAxis, QuerySource as _, StoreId};
use ncirrus_model::Atomic;
use proptest::prelude::*;
use std::sync::Arc;

fn limits() -> Limits {
    Limits::default()
}

fn source(protocol: DapProtocol, show: impl FnOnce(&DapPlace) -> Result<ShownDataset>) -> DapSource {
    let root = ObjectId::new(StoreId::new("http://host"), "x");
    let place = DapPlace::new(&root, protocol, false, &AddressHints::default()).unwrap();
    let shown = show(&place).unwrap();
    let variables = shown.model.variables().into_iter().map(|id| shown.variables[&id].clone()).collect();
    DapSource::new(Arc::new(place), variables)
}

fn dap2_source(inside: &str) -> DapSource {
    let dds = Dds::parse(format!("Dataset {{ {inside} }} x;").as_bytes(), &limits()).unwrap();
    let facts = Dap2Facts::default();
    source(DapProtocol::Dap2, |place| dap2::show(&dds, &Das::default(), place, &facts, &limits()))
}

fn dap4_source(inside: &str) -> DapSource {
    let dmr = Dmr::parse(document(inside).as_bytes(), &limits()).unwrap();
    source(DapProtocol::Dap4, |place| dap4::show(&dmr, place, &limits()))
}

fn document(inside: &str) -> String {
    format!("<Dataset name=\"x\" dapVersion=\"4.0\" dmrVersion=\"1.0\">{inside}</Dataset>")
}

fn whole(source: &DapSource) -> QueryBox {
    let axis = |len: &u64| QueryAxis { start: 0, count: *len, stride: 1 };
    QueryBox { variable: 0, axes: source.variables[0].shape.iter().map(axis).collect() }
}

/// The values of an answer in pieces of `len` bytes, and whether they were put as they came.
fn streamed(source: &DapSource, wanted: &QueryBox, body: &[u8], len: usize) -> Result<(Values, bool)> {
    let limits = limits();
    let mut decoder = source.decoder(wanted, &limits);
    let (mut bytes, mut next) = (Vec::new(), 0);
    let size = source.variables[0].atomic.and_then(Atomic::byte_len).unwrap_or(1);
    for piece in body.chunks(len.max(1)) {
        decoder.piece(piece, &mut |first, new| {
            assert_eq!((first, new.len() % size), (next, 0), "elements in order");
            next += (new.len() / size) as u64;
            bytes.extend_from_slice(new);
            Ok(())
        })?;
    }
    Ok(match decoder.finish()? {
        Some(values) => (values, false),
        None => {
            let atomic = source.variables[0].atomic.unwrap();
            (Values::from_native_bytes(atomic, &bytes).unwrap(), true)
        }
    })
}

/// Compares an answer in pieces with the same whole; whether its elements were put as they came.
fn same(source: &DapSource, body: &[u8]) -> bool {
    let wanted = whole(source);
    let expected = source
        .decode_answer(std::slice::from_ref(&wanted), &body.to_vec().into(), &limits())
        .unwrap()
        .remove(0);
    let mut were_put = None;
    for len in [1, 2, 3, 5, 7, 64, 1000, body.len()] {
        let (values, put) = streamed(source, &wanted, body, len).unwrap();
        assert_eq!(values, expected, "in pieces of {len}");
        assert_eq!(*were_put.get_or_insert(put), put);
    }
    were_put.unwrap()
}

fn dods(inside: &str, data: &[u8]) -> Vec<u8> {
    [format!("Dataset {{\n {inside}\n}} x;\n\nData:\n").as_bytes(), data].concat()
}

/// A count twice, and that many words.
fn words(count: u32, words: impl IntoIterator<Item = u32>) -> Vec<u8> {
    [count, count].into_iter().chain(words).flat_map(u32::to_be_bytes).collect()
}

const DDS: [(&str, u32); 6] =
    [("Byte", 1), ("Int16", 4), ("UInt16", 4), ("Int32", 4), ("Float32", 4), ("Float64", 8)];

fn dods_of(ty: &str, size: u32) -> (String, Vec<u8>) {
    let declared = format!("{ty} v[x = 3][y = 7];");
    let mut data = words(21, []);
    data.extend((0..21 * size).map(|at| at * 37 % 251).filter_map(|byte| u8::try_from(byte).ok()));
    data.resize(data.len().next_multiple_of(4), 0);
    (declared, data)
}

#[test]
fn numbers_of_dap2_are_put_as_they_come() {
    for (ty, size) in DDS {
        let (declared, data) = dods_of(ty, size);
        assert!(same(&dap2_source(&declared), &dods(&declared, &data)), "{ty}");
        let enclosed = format!("Structure {{ {declared} }} s;");
        assert!(!same(&dap2_source("String t; Byte b;"), &dods("String t; Byte b;", &words(0, [7]))));
        assert!(same(&dap2_source(&enclosed), &dods(&enclosed, &data)), "{ty} in a structure");
        // Bare, with a line break after the data.
        let trailed = [data, b"\n".to_vec()].concat();
        assert!(same(&dap2_source(&enclosed), &dods(&declared, &trailed)), "{ty} bare");
    }
}

#[test]
fn what_is_no_single_array_is_held() {
    let both = "Int32 v[x = 2]; Int32 w[x = 2];";
    let data = [words(2, [1, 2]), words(2, [3, 4])].concat();
    assert!(!same(&dap2_source(both), &dods(both, &data)));
    let grid = "Grid { Array: Int32 v[x = 2]; Maps: Int32 x[x = 2]; } v;";
    assert!(!same(&dap2_source(grid), &dods(grid, &data)));
}

fn chunk(flags: u32, payload: &[u8]) -> Vec<u8> {
    [&(flags << 24 | u32::try_from(payload.len()).unwrap()).to_be_bytes()[..], payload].concat()
}

/// An answer of DAP4: data in chunks of `len` bytes, with the flags of each kind of chunk.
fn dap(inside: &str, data: &[u8], len: usize, (first, others): (u32, u32)) -> Vec<u8> {
    let mut body = chunk(first, format!("{}\r\n", document(inside)).as_bytes());
    data.chunks(len).for_each(|part| body.extend(chunk(others, part)));
    body.extend(chunk(others | 1, &[]));
    body
}

const TYPES: [(&str, usize); 6] =
    [("Int8", 1), ("UInt16", 2), ("Int32", 4), ("Float32", 4), ("Int64", 8), ("Float64", 8)];

fn dap_of(ty: &str, size: usize) -> (String, Vec<u8>) {
    let declared = format!("<{ty} name=\"v\"><Dim size=\"3\"/><Dim size=\"7\"/></{ty}>");
    (declared, (0..21 * size).filter_map(|at| u8::try_from(at * 41 % 251).ok()).collect())
}

#[test]
fn numbers_of_dap4_are_put_as_they_come() {
    for (ty, size) in TYPES {
        let (declared, data) = dap_of(ty, size);
        let source = dap4_source(&declared);
        let checksum = crc32fast::hash(&data);
        for len in [1, 3, 64, 5000] {
            assert!(same(&source, &dap(&declared, &data, len, (4, 4))), "{ty} without checksum");
            let little = [data.clone(), checksum.to_le_bytes().to_vec()].concat();
            let big = [data.clone(), checksum.to_be_bytes().to_vec()].concat();
            assert!(same(&source, &dap(&declared, &little, len, (4, 4))), "{ty}, little-endian");
            assert!(same(&source, &dap(&declared, &little, len, (0, 4))), "{ty}, told by the data alone");
            assert!(same(&source, &dap(&declared, &big, len, (0, 0))), "{ty}, big-endian");
            assert!(same(&source, &dap(&declared, &big, len, (8, 0xf8))), "{ty}, with unknown flags");
        }
    }
}

#[test]
fn cut_answers_are_errors_at_every_byte() {
    let (declared, data) = dods_of("Int16", 4);
    let (source, body) = (dap2_source(&declared), dods(&declared, &data));
    for end in 0..body.len() {
        assert!(streamed(&source, &whole(&source), &body[..end], 16).is_err(), "DAP2 cut at {end}");
    }
    let (declared, data) = dap_of("Int32", 4);
    let (source, body) = (dap4_source(&declared), dap(&declared, &data, 11, (4, 4)));
    for end in 0..body.len() {
        assert!(streamed(&source, &whole(&source), &body[..end], 16).is_err(), "DAP4 cut at {end}");
    }
}

#[test]
fn errors_are_found_where_servers_write_them() {
    let (declared, data) = dods_of("Int32", 4);
    let source = dap2_source(&declared);
    let text = b"Error { code = 500; message = \"disk failed\"; };";
    for end in [0, 8, 20, data.len()] {
        let body = dods(&declared, &[&data[..end], text].concat());
        for len in [1, 64, body.len()] {
            let error = streamed(&source, &whole(&source), &body, len).unwrap_err();
            assert!(error.to_string().contains("disk failed"), "{end} {len}: {error}");
        }
    }
    let (declared, data) = dap_of("Int32", 4);
    let source = dap4_source(&declared);
    let begun = dap(&declared, &data[..22], 11, (4, 4));
    let error = b"<Error httpcode=\"500\"><Message>disk failed</Message></Error>";
    // Instead of the last chunk.
    let body = [&begun[..begun.len() - 4], &chunk(2, error)[..]].concat();
    for len in [1, 64, body.len()] {
        let error = streamed(&source, &whole(&source), &body, len).unwrap_err();
        assert!(error.to_string().contains("disk failed"), "{len}: {error}");
    }
}

#[test]
fn a_wrong_checksum_is_reported_and_may_be_accepted() {
    let (declared, mut data) = dap_of("Float32", 4);
    let checksum = crc32fast::hash(&data);
    data[5] ^= 1;
    data.extend(checksum.to_le_bytes());
    let mut source = dap4_source(&declared);
    let body = dap(&declared, &data, 10, (4, 4));
    let error = streamed(&source, &whole(&source), &body, 9).unwrap_err();
    assert!(source.is_damaged(&error) && error.to_string().contains("/v"), "{error}");
    Arc::get_mut(&mut source.place).unwrap().ignores_checksums = true;
    assert!(streamed(&source, &whole(&source), &body, 9).unwrap().1);
}

#[test]
fn another_type_or_shape_than_was_shown_is_an_error() {
    let source = dap2_source("Int16 v[x = 2];");
    for other in ["Int32 v[x = 2];", "UInt16 v[x = 2];", "Float32 v[x = 2];"] {
        let error = streamed(&source, &whole(&source), &dods(other, &words(2, [1, 2])), 10).unwrap_err();
        assert!(error.to_string().contains("where the dataset has short"), "{other}: {error}");
    }
    assert!(streamed(&source, &whole(&source), &dods("Int16 v[x = 3];", &words(3, [1, 2, 3])), 10).is_ok());
    assert!(streamed(&source, &whole(&source), &dods("Int16 v[x = 1];", &words(1, [1])), 10).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Whatever is changed in an answer: in pieces it gives the values that it gives whole, or both are errors.
    #[test]
    fn changed_answers_give_in_pieces_what_they_give_whole(
        which in 0..12_usize,
        len in 1..80_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
    ) {
        let (source, mut body) = if which < 6 {
            let (declared, data) = dods_of(DDS[which].0, DDS[which].1);
            (dap2_source(&declared), dods(&declared, &data))
        } else {
            let (ty, size) = TYPES[which - 6];
            let (declared, mut data) = dap_of(ty, size);
            let checksum = crc32fast::hash(&data);
            data.extend(checksum.to_le_bytes());
            (dap4_source(&declared), dap(&declared, &data, 33, (4, 4)))
        };
        for (index, byte) in changes {
            let at = index.index(body.len());
            body[at] = byte;
        }
        let wanted = whole(&source);
        let expected = source.decode_answer(std::slice::from_ref(&wanted), &body.clone().into(), &limits());
        match (expected, streamed(&source, &wanted, &body, len)) {
            (Ok(expected), Ok((values, _))) => prop_assert!(expected[0].is_identical(&values)),
            (Err(_), Err(_)) => {}
            (expected, streamed) => prop_assert!(false, "{expected:?} whole, {streamed:?} in pieces"),
        }
    }
}
