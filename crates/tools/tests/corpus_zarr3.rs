//! The corpus of Zarr v3: every array of every case has the values that its writer gave it, bit for bit, and so has a copy
//! to Zarr v3.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use crate::support::{json, session, values};
use ncirrus::{CreateOptions, Dataset, Dialect, Kind, OpenOptions, Session, Values, Variable};
use ncirrus_testkit::corpus::corpus;
use ncirrus_tools::{CheckOptions, CopyOptions, check, copy};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// One folder of the corpus.
struct Case {
    id: String,
    store: PathBuf,
    truth: Value,
}

fn cases() -> Vec<Case> {
    let Some(root) = corpus("zarr3") else { return Vec::new() };
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|folder| folder.join("case.json").is_file());
    folders.sort();
    let case = |folder: PathBuf| {
        let case = json(&folder.join("case.json"));
        let path = |key: &str| folder.join(case[key].as_str().unwrap());
        // Bare NaN and infinities are not JSON.
        let truth = std::fs::read_to_string(path("truth")).unwrap();
        let truth =
            truth.replace(": NaN", ": null").replace(": Infinity", ": null").replace(": -Infinity", ": null");
        Case {
            id: case["id"].as_str().unwrap().to_owned(),
            store: path("store"),
            truth: serde_json::from_str(&truth).unwrap(),
        }
    };
    folders.into_iter().map(case).collect()
}

fn opened(store: &Path, session: &Session) -> ncirrus::Result<Dataset> {
    let address = store.to_str().unwrap();
    Dataset::open_with(address, &OpenOptions::default(), session)
}

#[test]
fn every_array_has_the_values_that_were_written() {
    let session = session();
    let mut wrong = Vec::new();
    for case in cases() {
        match opened(&case.store, &session) {
            Ok(dataset) => wrong.extend(
                differences(&dataset, &case.truth).into_iter().map(|what| format!("{}{what}", case.id)),
            ),
            Err(error) => wrong.push(format!("{}: {error}", case.id)),
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn check_finds_every_object_to_belong_to_an_array() {
    let session = session();
    let mut wrong = Vec::new();
    for case in cases() {
        let report = check(case.store.to_str().unwrap(), &CheckOptions::default(), &session).unwrap();
        if !report.is_sound() {
            wrong.push(format!("{}: {:?}", case.id, report.findings));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_copy_to_zarr_v3_has_the_same_values() {
    let session = session();
    let folder = tempfile::tempdir().unwrap();
    for dialect in [Some(Dialect::Plain), None] {
        let mut wrong = Vec::new();
        for case in cases() {
            match copied(&case, folder.path(), dialect, &session) {
                Ok(copy) => wrong.extend(
                    differences(&copy, &case.truth).into_iter().map(|what| format!("{}{what}", case.id)),
                ),
                Err(error) => wrong.push(format!("{}: {error}", case.id)),
            }
        }
        assert!(wrong.is_empty(), "{dialect:?}: {} differences:\n{}", wrong.len(), wrong.join("\n"));
    }
}

/// A copy of a case to Zarr v3, opened.
fn copied(
    case: &Case,
    folder: &Path,
    dialect: Option<Dialect>,
    session: &Session,
) -> ncirrus::Result<Dataset> {
    let to = folder.join(format!("{}{}.zarr", case.id, if dialect.is_some() { "" } else { "-nczarr" }));
    let options = CopyOptions::new().create(CreateOptions::new().kind(Kind::Zarr3).dialect(dialect));
    copy(&opened(&case.store, session)?, to.to_str().unwrap(), &options, session)?;
    opened(&to, session)
}

/// Compares the copies in a folder with the truth of the corpus: values, and the data types that zarr-python has.
const COMPARE: &str = "
import sys, json, pathlib, warnings
warnings.simplefilter('ignore')
corpus, copies = map(pathlib.Path, sys.argv[1:])
sys.path.insert(0, str(corpus)); sys.dont_write_bytecode = True
import zarr
from truth import describe
zarr.config.set({'array.rectilinear_chunks': True})
for case in sorted(corpus.glob('*/truth.json')):
    name = case.parent.name
    truth = json.loads(case.read_text())['arrays']
    try: got = describe(zarr.open(str(copies / (name + '.zarr')), mode='r'))['arrays']
    except Exception as e: print(name, type(e).__name__, str(e)[:200]); continue
    if list(truth) == ['/']: got = {'/': a for a in got.values()}
    small = name.startswith('types-small')
    for path, a in truth.items():
        for key in ('shape', 'value_type', 'sha256') + (() if small else ('data_type',)):
            have = got.get(path, {}).get(key)
            if have != a[key]: print(name, path, key, str(have)[:100], 'instead of', str(a[key])[:100])
        for k, v in a['attributes'].items():
            have = got.get(path, {}).get('attributes', {}).get(k)
            if have != v and k != '_FillValue': print(name, path, 'attribute', k, have, 'instead of', v)
        if 'rectilinear' in name and a['chunk_grid']['name'] == 'rectilinear' and 'sharded' not in name:
            if got[path]['chunk_grid']['name'] != 'rectilinear': print(name, path, 'chunk_grid')
";

/// zarr-python from 3.4 on knows the data types, codecs and grids of the corpus; the peers of the other tests are older.
#[test]
fn zarr_python_reads_the_copies() {
    let Some(python) = std::env::var_os("NCIRRUS_ZARR_PYTHON") else { return };
    let (session, folder) = (session(), tempfile::tempdir().unwrap());
    let all = cases();
    all.iter().for_each(|case| _ = copied(case, folder.path(), Some(Dialect::Plain), &session).unwrap());
    let Some(root) = corpus("zarr3") else { return };
    let output = std::process::Command::new(python)
        .args(["-c", COMPARE])
        .arg(&root)
        .arg(folder.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.is_empty(), "{text}");
}

/// What differs between a dataset and the truth.
fn differences(dataset: &Dataset, truth: &Value) -> Vec<String> {
    let arrays = truth["arrays"].as_object().unwrap();
    let mut wrong = Vec::new();
    for (path, array) in arrays {
        let variable = match (path.as_str(), dataset.variables().as_slice()) {
            ("/", [only]) => Ok(only.clone()),
            _ => dataset.variable(path),
        };
        let outcome = variable.map_err(|error| error.to_string()).and_then(|variable| same(&variable, array));
        wrong.extend(outcome.err().map(|what| format!("{path}: {what}")));
    }
    for path in truth["groups"].as_object().unwrap().keys().filter(|path| *path != "/") {
        if let Err(error) = dataset.group(path) {
            wrong.push(format!("{path}: {error}"));
        }
    }
    wrong
}

fn same(variable: &Variable, array: &Value) -> Result<(), String> {
    let shape: Vec<u64> =
        array["shape"].as_array().unwrap().iter().map(|len| len.as_u64().unwrap()).collect();
    if variable.shape() != shape {
        return Err(format!("shape {:?} instead of {shape:?}", variable.shape()));
    }
    let values = values(variable).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    for at in 0..values.len() {
        element(&values, at, &array["value_type"], &mut bytes)
            .ok_or_else(|| format!("values of another type than {}: {:.3?}", array["value_type"], values))?;
    }
    for (name, wanted) in array["attributes"].as_object().unwrap() {
        let found = variable.attribute(name).map_err(|error| error.to_string())?;
        let Some(found) = found else { return Err(format!("attribute {name:?} is missing")) };
        if let (Some(text), Values::Char(bytes)) = (wanted.as_str(), &found.values)
            && text.as_bytes() != bytes
        {
            return Err(format!("attribute {name:?} is {:?}", found.values));
        }
    }
    let sum: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    if sum == array["sha256"].as_str().unwrap() {
        return Ok(());
    }
    let shown = array.get("values").map_or_else(String::new, Value::to_string);
    Err(format!("values {values:.12?} instead of {}", shown.chars().take(200).collect::<String>()))
}

/// Appends one element as the truth hashes it; `None` if it is of another type.
fn element(values: &Values, at: usize, ty: &Value, out: &mut Vec<u8>) -> Option<()> {
    if let (Some(fields), Values::Compound { fields: columns, .. }) = (ty.as_array(), values) {
        return fields
            .iter()
            .zip(columns)
            .try_for_each(|(field, column)| element(column, at, &field[1], out));
    }
    match (ty.as_str()?, values) {
        ("i1", Values::Byte(v)) => out.extend(v.get(at)?.to_le_bytes()),
        ("u1" | "bool", Values::UByte(v)) => out.extend(v.get(at)?.to_le_bytes()),
        ("i2", Values::Short(v)) => out.extend(v.get(at)?.to_le_bytes()),
        ("u2", Values::UShort(v)) => out.extend(v.get(at)?.to_le_bytes()),
        ("i4", Values::Int(v)) => out.extend(v.get(at)?.to_le_bytes()),
        ("u4", Values::UInt(v)) => out.extend(v.get(at)?.to_le_bytes()),
        ("i8", Values::Int64(v)) => out.extend(v.get(at)?.to_le_bytes()),
        ("u8", Values::UInt64(v)) => out.extend(v.get(at)?.to_le_bytes()),
        ("f2", Values::Float(v)) => out.extend(half(*v.get(at)?).to_le_bytes()),
        ("f4", Values::Float(v)) => out.extend(v.get(at)?.to_le_bytes()),
        ("f8", Values::Double(v)) => out.extend(v.get(at)?.to_le_bytes()),
        ("c8", Values::Compound { fields, .. }) => {
            return fields.iter().try_for_each(|part| element(part, at, &Value::from("f4"), out));
        }
        ("c16", Values::Compound { fields, .. }) => {
            return fields.iter().try_for_each(|part| element(part, at, &Value::from("f8"), out));
        }
        ("string", Values::String(v)) => counted(v.get(at).unwrap_or_default(), out),
        ("bytes", Values::Vlen { ends, elements }) => {
            let start = if at == 0 { 0 } else { *ends.get(at - 1)? };
            counted(elements.as_bytes()?.get(start..*ends.get(at)?)?, out);
        }
        (fixed, Values::String(v)) => padded(v.get(at).unwrap_or_default(), fixed, out)?,
        (fixed, Values::Opaque { size, bytes }) => {
            padded(bytes.get(at * size..(at + 1) * size)?, fixed, out)?;
        }
        _ => return None,
    }
    Some(())
}

fn counted(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend(u32::try_from(bytes.len()).unwrap().to_le_bytes());
    out.extend_from_slice(bytes);
}

fn padded(bytes: &[u8], ty: &str, out: &mut Vec<u8>) -> Option<()> {
    let len: usize = ty.strip_prefix("bytes")?.parse().ok()?;
    let end = out.len() + len;
    out.extend_from_slice(bytes);
    out.resize(end, 0);
    Some(())
}

/// The bits of a number that is one of IEEE 754 binary16.
fn half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = u16::try_from(bits >> 16 & 0x8000).unwrap();
    let (exponent, fraction) = ((bits >> 23 & 0xff).cast_signed() - 127, bits & 0x7f_ffff);
    let magnitude = match exponent {
        128 => 0x7c00 | fraction >> 13,
        -14..=15 => u32::try_from(exponent + 15).unwrap() << 10 | fraction >> 13,
        -127 => 0,
        small => (fraction | 0x80_0000) >> (-small - 14 + 13),
    };
    sign | u16::try_from(magnitude).unwrap_or_else(|_| panic!("{value} is no binary16"))
}
