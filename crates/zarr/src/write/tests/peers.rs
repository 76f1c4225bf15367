//! What other programs read.
use super::fixtures::{basic, extended, little, strings, wide};
use super::*;
use ncirrus_testkit::corpus::{peers_python, program};
use std::path::Path;
use std::process::Command;

const SCRIPT: &str = include_str!("peers.py");

#[test]
fn other_programs_read_every_dialect() {
    let Some(python) = peers_python() else { return };
    let dialects = [
        Dialect::Attributes,
        Dialect::LowerCase,
        Dialect::Xarray,
        Dialect::Plain,
        Dialect::Draft2018,
        Dialect::V3,
        Dialect::Nczarr3,
    ];
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(&python);
    command.args(["-c", SCRIPT]);
    for dialect in dialects {
        let models = [
            ("basic", basic()),
            ("wide", wide_for(dialect)),
            ("extended", extended()),
            ("strings", strings()),
        ];
        for (name, model) in models {
            let root = home.path().join(format!("{dialect}-{name}"));
            let length = FixedString { byte_len: 4, has_nulls: false, is_utf8: true };
            let writer = ZarrWriter::new(dialect).string_length("/sized", length);
            write_to(&root, &with_data(&writer, &model));
            command.arg(root);
        }
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// `ncdump` of the C library's generation that wrote the dialect.
#[test]
fn older_programs_read_their_dialect() {
    let Some(ncdump) = program("ncdump") else { return };
    for array_dimensions in [true, false] {
        let root = tempfile::tempdir().unwrap();
        let writer = ZarrWriter::new(Dialect::UpperCase).array_dimensions(array_dimensions);
        write_to(root.path(), &with_data(&writer, &basic()));
        let url = format!("file://{}#mode=nczarr,file", root.path().display());
        let output = Command::new(&ncdump).args(["-n", "basic", &url]).output().unwrap();
        let dump = String::from_utf8_lossy(&output.stdout);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{complaint}");
        for line in ["lat = 3 ;", "v:valid_range = 0, 100 ;", ":title = \"basic\" ;", "  8, 9, 10, 11 ;"] {
            assert!(dump.contains(line), "{line} in {dump}");
        }
    }
}

fn write_to(root: &Path, objects: &ObjectView) {
    for key in objects.keys() {
        let file = root.join(key);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, objects.find(key).unwrap()).unwrap();
    }
}

/// The wide model; netCDF-C crashes on scalars in the dialect of its 4.9.2 (docs/spec/nczarr.md 2.3).
fn wide_for(dialect: Dialect) -> Model {
    let mut model = wide();
    if matches!(dialect, Dialect::LowerCase | Dialect::UpperCase) {
        little(&mut model);
    }
    if dialect == Dialect::LowerCase {
        let scalar = model.variable_at("scalar").unwrap();
        model.remove_variable(scalar).unwrap();
    }
    model
}

/// The dataset with values in every variable.
fn with_data(writer: &ZarrWriter, model: &Model) -> ObjectView {
    let mut hand = HandPlacer::create(writer);
    hand.define(model);
    for var in model.variables() {
        for (cell, body) in chunks(model, var) {
            hand.place(var, &cell, &body);
        }
    }
    hand.commit(model);
    hand.objects
}

/// The chunks of a variable of the fixtures; all have one, except those that grow along the first axis.
fn chunks(model: &Model, var: VarId) -> Vec<(Vec<u64>, Vec<u8>)> {
    let variable = model.variable(var).unwrap();
    let first = vec![0; variable.rank()];
    let body: Vec<u8> = match variable.name.as_str() {
        "lat" => [1f32, 2.0, 3.0].iter().flat_map(|value| value.to_le_bytes()).collect(),
        "lon" => vec![0; 16],
        "v" => (0..12i32).flat_map(i32::to_le_bytes).collect(),
        "scalar" => 2.5f64.to_le_bytes().to_vec(),
        "w w" if variable.endianness.is_foreign() => (1..5i16).flat_map(i16::to_be_bytes).collect(),
        "w w" => (1..5i16).flat_map(i16::to_le_bytes).collect(),
        "v_char" if model.shape(var) == [3] => b"abc".to_vec(),
        "v_char" => b"abcdefgh".to_vec(),
        "e" => vec![0, 1, 0],
        "o" => b"aaaaabbbbbccccc".to_vec(),
        "r" => sequence(&[b"\x01\0\0\0", b"", b"\x01\0\0\0\x02\0\0\0"]),
        "ww" => sequence(&[b"\0\0\0\0", b"\x01\0\0\0\x01\0\0\0a", b"\x01\0\0\0\xff\xff\xff\xff"]),
        "s" => sequence(&[b"one", b"\0", b""]),
        "flat" => (1..4i32).flat_map(|id| [&id.to_le_bytes()[..], &[1]].concat()).collect(),
        "given" | "sized" => b"one\0\0\0\0\0four".to_vec(),
        "deep" => vec![7; 54],
        "mixed" => sequence(&[&[0; 8], &[0; 8], &[0; 8]]),
        name => (0..8u8).flat_map(|value| number(name, value)).collect(),
    };
    vec![(first, body)]
}

fn number(name: &str, value: u8) -> Vec<u8> {
    match name {
        "v_float" => f32::from(value).to_le_bytes().to_vec(),
        "v_double" => f64::from(value).to_le_bytes().to_vec(),
        "v_byte" | "v_ubyte" => vec![value],
        "v_short" | "v_ushort" => vec![value, 0],
        "v_int" | "v_uint" => vec![value, 0, 0, 0],
        _ => vec![value, 0, 0, 0, 0, 0, 0, 0],
    }
}

fn sequence(items: &[&[u8]]) -> Vec<u8> {
    let len = |len: usize| u32::try_from(len).unwrap().to_le_bytes();
    let framed = items.iter().flat_map(|item| [&len(item.len())[..], item].concat());
    len(items.len()).into_iter().chain(framed).collect()
}
