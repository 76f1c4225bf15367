use super::thrift::{ThriftReader, ThriftWriter};
use super::*;
use ncirrus_layout::{ErrorKind, Limits, Result};
use proptest::prelude::*;

/// Files with the same rows by several writers; `tests/make.py` makes them.
const FILES: [(&str, &[u8]); 6] = [
    ("arrow-snappy", include_bytes!("tests/arrow-snappy.parq")),
    ("arrow-zstd-v2", include_bytes!("tests/arrow-zstd-v2.parq")),
    ("arrow-gzip-plain", include_bytes!("tests/arrow-gzip-plain.parq")),
    ("arrow-groups", include_bytes!("tests/arrow-groups.parq")),
    ("fast-zstd", include_bytes!("tests/fast-zstd.parq")),
    ("fast-category", include_bytes!("tests/fast-category.parq")),
];

const NAMES: [&str; 4] = ["path", "offset", "size", "raw"];

/// A row: texts and bytes may be absent.
type Row = (Option<Vec<u8>>, i64, i64, Option<Vec<u8>>);

fn expected() -> Vec<Row> {
    let row = |n: i64| match n % 7 {
        3 => (None, 0, 0, Some(vec![u8::try_from(n).unwrap(), 255, 0])),
        5 => (None, 0, 0, None),
        _ => (Some(format!("data/file{}.nc", n / 20).into_bytes()), n * 1000, n + 1, None),
    };
    (0..40).map(row).collect()
}

fn read(file: &[u8]) -> Result<Vec<Row>> {
    let table = FlatTable::read(file, &NAMES, 1 << 16, &limits())?;
    let text = |column: usize, row: usize| match &table.columns[column] {
        Some(FlatColumn::Bytes(bytes)) => {
            bytes.number(row).map(|number| bytes.value(number).unwrap().to_vec())
        }
        _ => None,
    };
    let number = |column: usize, row: usize| match &table.columns[column] {
        Some(FlatColumn::Integers(values)) => values.get(row).copied().flatten().unwrap_or(-1),
        _ => -1,
    };
    Ok((0..table.rows).map(|row| (text(0, row), number(1, row), number(2, row), text(3, row))).collect())
}

fn limits() -> Limits {
    Limits { metadata_bytes: 1 << 22, count: 1 << 16, ..Limits::default() }
}

#[test]
fn files_of_several_writers_have_the_same_rows() {
    for (name, file) in FILES {
        assert_eq!(read(file).unwrap(), expected(), "{name}");
    }
}

#[test]
fn an_unknown_encoding_is_named() {
    let error = read(include_bytes!("tests/arrow-delta.parq")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("\"offset\"") && error.message().contains("DELTA"), "{error}");
}

#[test]
fn columns_that_are_not_there_are_none() {
    let table = FlatTable::read(FILES[0].1, &["size", "none"], 40, &limits()).unwrap();
    assert!(matches!(table.columns.as_slice(), [Some(FlatColumn::Integers(_)), None]));
}

#[test]
fn more_rows_than_allowed_are_refused() {
    let error = FlatTable::read(FILES[0].1, &NAMES, 39, &limits()).unwrap_err();
    assert_eq!(error.message(), "the Parquet file has 40 rows, more than 39");
}

#[test]
fn every_prefix_of_a_file_is_refused() {
    for (name, file) in FILES {
        for len in 0..file.len() {
            assert!(read(&file[..len]).is_err(), "{name} {len}");
        }
    }
}

#[test]
fn a_changed_page_with_a_checksum_is_refused() {
    let (_, file) = FILES[1];
    let mut changed = file.to_vec();
    changed[80] ^= 1;
    assert!(read(&changed).is_err());
}

proptest! {
    #[test]
    fn changed_files_do_not_make_it_panic(file in 0usize..6, at in 0usize..4000, byte: u8, more in 0usize..300, other: u8) {
        let mut file = FILES[file].1.to_vec();
        let at = at % file.len();
        file[at] = byte;
        let after = (at + more) % file.len();
        file[after] = other;
        let _ = read(&file);
    }

    #[test]
    fn bytes_of_any_kind_do_not_make_it_panic(bytes: Vec<u8>, footer: Vec<u8>) {
        let len = u32::try_from(footer.len()).unwrap().to_le_bytes();
        let _ = read(&[b"PAR1", bytes.as_slice(), &footer, &len, b"PAR1"].concat());
    }

    #[test]
    fn what_is_written_is_read(rows: Vec<(Option<u8>, u32, u32, Option<Vec<u8>>)>, threshold in 0usize..12) {
        let paths: Vec<Option<String>> = rows.iter().map(|row| row.0.map(|n| format!("s3://b/{}", n % 9))).collect();
        let paths: Vec<Option<&str>> = paths.iter().map(Option::as_deref).collect();
        let offset: Vec<u64> = rows.iter().map(|row| row.1.into()).collect();
        let size: Vec<u64> = rows.iter().map(|row| row.2.into()).collect();
        let raw: Vec<Option<&[u8]>> = rows.iter().map(|row| row.3.as_deref()).collect();
        let file = write_flat_table(&[
            ("path", ParquetColumn::Texts(&paths, threshold)),
            ("offset", ParquetColumn::Integers(&offset)),
            ("size", ParquetColumn::Integers(&size)),
            ("raw", ParquetColumn::Bytes(&raw)),
        ]).unwrap();
        let expected: Vec<Row> = rows.iter().enumerate().map(|(at, row)| {
            (paths[at].map(|path| path.as_bytes().to_vec()), row.1.into(), row.2.into(), row.3.clone())
        }).collect();
        prop_assert_eq!(read(&file).unwrap(), expected);
    }

    #[test]
    fn runs_and_packed_bits_round_trip(values: Vec<(u32, u8)>, width in 1u8..=32) {
        let mask = u32::MAX >> (32 - width);
        let values: Vec<u32> =
            values.iter().flat_map(|(value, times)| std::iter::repeat_n(value & mask, usize::from(times % 20))).collect();
        let bytes = hybrid::write(&values, width);
        prop_assert_eq!(hybrid::read(&bytes, width, values.len()).unwrap(), values);
    }

    #[test]
    fn any_bytes_are_read_as_runs_without_panic(bytes: Vec<u8>, width in 0u8..40, count in 0usize..5000) {
        let _ = hybrid::read(&bytes, width, count);
    }
}

#[test]
fn a_dictionary_is_written_where_names_repeat() {
    let names: Vec<Option<&str>> = (0..1000).map(|n| Some(if n < 500 { "one" } else { "two" })).collect();
    let write = |threshold| write_flat_table(&[("path", ParquetColumn::Texts(&names, threshold))]).unwrap();
    let (with, without) = (write(10), write(1000));
    let is_dictionary = |file: &[u8]| metadata::read(file).unwrap().row_groups[0].chunks[0].range.start == 4;
    assert!(is_dictionary(&with) && is_dictionary(&without));
    for file in [with, without] {
        let table = FlatTable::read(&file, &["path"], 1000, &limits()).unwrap();
        let Some(FlatColumn::Bytes(column)) = &table.columns[0] else { panic!("texts") };
        let value = |row| column.value(column.number(row).unwrap()).unwrap();
        assert_eq!(
            (value(0), value(499), value(500), value(999)),
            (&b"one"[..], &b"one"[..], &b"two"[..], &b"two"[..])
        );
    }
}

#[test]
fn runs_that_claim_too_much_are_refused() {
    // A run of 2^62 values is cut at the number that is wanted; one without values, and bits that are not there, are not.
    let long = [&[0xfe; 8][..], &[0x7f, 1]].concat();
    assert_eq!(hybrid::read(&long, 1, 3).unwrap(), [1, 1, 1]);
    assert!(hybrid::read(&[0, 1, 0, 1], 1, 1).is_err());
    assert!(hybrid::read(&[3, 1], 8, 8).is_err());
    assert!(hybrid::read(&[3, 1], 33, 1).is_err());
}

#[test]
fn structures_are_written_and_read() {
    let mut writer = ThriftWriter::new();
    writer.i32(1, -3);
    writer.i64(40, 1 << 40);
    writer.begin_list(41, thrift::kind::BINARY, 20);
    (0..20).for_each(|n| writer.text_element(&n.to_string()));
    writer.begin_structure(42);
    writer.text(3, "inner");
    writer.end_structure();
    let bytes = writer.finish();
    let (mut seen, mut texts) = (Vec::new(), 0);
    let mut reader = ThriftReader::new(&bytes);
    reader
        .structure(|reader, field| {
            match field.id {
                1 | 40 => seen.push(reader.integer(field)?),
                41 => reader.list(field, |reader, field| {
                    texts += reader.binary(field)?.len();
                    Ok(())
                })?,
                _ => reader.skip(field)?,
            }
            Ok(())
        })
        .unwrap();
    assert_eq!((seen, texts, reader.position()), (vec![-3, 1 << 40], 30, bytes.len()));
}
