//! The plugins of hdf5plugin: what h5py stores through them decodes to the same, and it reads what is encoded through
//! them.
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
use ncirrus_codec::{
    ChunkInfo, CodecChain, CodecOrigin, CodecRegistry, CodecScratch, DecodedElement, PluginOptions,
};
use ncirrus_model::CodecSpec;
use ncirrus_testkit::corpus::{peers_python, required};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

struct Case {
    name: String,
    json: Value,
}

impl Case {
    fn bytes(&self, key: &str) -> Vec<u8> {
        unhex(self.json[key].as_str().unwrap())
    }

    fn number(&self, key: &str) -> usize {
        usize::try_from(self.json[key].as_u64().unwrap()).unwrap()
    }

    fn mask(&self) -> u32 {
        u32::try_from(self.number("mask")).unwrap()
    }

    fn chain(&self, registry: &CodecRegistry) -> CodecChain {
        let shape = self.json["shape"].as_array().unwrap().iter().map(|len| len.as_u64().unwrap()).collect();
        let chunk = ChunkInfo { shape, element: DecodedElement::sized(Some(self.number("size"))) };
        let words = self.json["parameters"].as_array().unwrap();
        let words: Vec<u32> =
            words.iter().map(|word| u32::try_from(word.as_u64().unwrap()).unwrap()).collect();
        let id = u32::try_from(self.number("id")).unwrap();
        registry.bind(&[CodecSpec::hdf5(id, &words)], &chunk).unwrap()
    }
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The output of the script by name, and the line before it.
fn run(python: &Path, mode: &str, input: &str) -> (Option<String>, Vec<Case>) {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("peers-{mode}"));
    fs::create_dir_all(&directory).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/plugins/peers.py");
    let mut command = Command::new(python);
    command.arg(script).arg(mode).current_dir(directory).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "peers.py {mode} failed");
    let (mut plugins, mut cases) = (None, Vec::new());
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        match serde_json::from_str(line).unwrap() {
            Value::String(path) => plugins = Some(path),
            json @ Value::Object(_) => {
                assert!(json.get("fault").is_none(), "h5py: {json}");
                cases.push(Case { name: json["name"].as_str().unwrap().to_owned(), json });
            }
            other => unreachable!("{other}"),
        }
    }
    (plugins, cases)
}

/// Decodes in the two ways of chains.
fn decode(chain: &CodecChain, encoded: &[u8], mask: u32, len: usize) -> Vec<u8> {
    let mut scratch = CodecScratch::default();
    let mut out = vec![0; len];
    assert_eq!(chain.decode_into(encoded, mask, &mut out, &mut scratch), Ok(0));
    assert_eq!(chain.decode(encoded, mask, len, &mut scratch).unwrap(), out);
    out
}

#[test]
fn every_filter_of_hdf5plugin_decodes_and_encodes_through_its_plugin() {
    let Some(python) = peers_python() else { return };
    let (plugins, cases) = run(&python, "make", "");
    let options = PluginOptions::default().directories([plugins.unwrap()]).preferred(true);
    let registry = CodecRegistry::with_plugins(options.clone());
    let trusting = CodecRegistry::with_plugins(options.complete_parameters(true));

    let (mut lines, mut expected) = (String::new(), BTreeMap::new());
    for case in &cases {
        let (read, source) = (case.bytes("decoded"), case.bytes("source"));
        let decoded = decode(&case.chain(&registry), &case.bytes("encoded"), case.mask(), read.len());
        assert_eq!(decoded, read, "{}: decoded", case.name);

        let chain = case.chain(&trusting);
        let Ok((encoded, _)) = chain.encode(&source, &mut CodecScratch::default()) else {
            // Some plugins refuse chunks that do not shrink.
            assert_eq!(case.mask(), 1, "{}: encoded", case.name);
            continue;
        };
        expected.insert(case.name.clone(), decode(&chain, &encoded, 0, source.len()));
        lines += &format!("{}\n", json!({ "name": case.name, "encoded": hex(&encoded) }));
    }

    let (_, checked) = run(&python, "check", &lines);
    assert_eq!(checked.len(), expected.len());
    for case in &checked {
        assert_eq!(case.bytes("decoded"), expected[&case.name], "{}: read by h5py", case.name);
    }
    let ids: BTreeSet<usize> = cases.iter().map(|case| case.number("id")).collect();
    assert!(ids.len() >= 12, "{ids:?}");
    assert!(expected.len() + 2 >= cases.len(), "{} of {}", expected.len(), cases.len());
}

/// The directory of the plugins that are part of netCDF4-python.
fn netcdf_plugins(python: &Path) -> Option<String> {
    let script = "import netCDF4, pathlib; print(pathlib.Path(netCDF4.__file__).parent / 'plugins')";
    let output = Command::new(python).args(["-c", script]).output().unwrap();
    let directory = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let there = Path::new(&directory).is_dir();
    assert!(there || !required(), "netCDF4-python has no plugins");
    there.then_some(directory)
}

#[test]
fn plugins_of_netcdf_and_built_in_codecs_read_each_other() {
    let Some(plugins) = peers_python().and_then(|python| netcdf_plugins(&python)) else { return };
    let registry =
        CodecRegistry::with_plugins(PluginOptions::default().directories([plugins]).preferred(true));
    let chunk = ChunkInfo { shape: vec![32, 16], element: DecodedElement::sized(Some(4)) };
    let sample: Vec<u8> = (0..512u32).flat_map(|i| (i * i / 100).to_le_bytes()).collect();
    let mut scratch = CodecScratch::default();
    for (json, encodes) in [
        (r#"{"id":"zlib","level":4}"#, true),
        (r#"{"id":"bz2","level":4}"#, true),
        (r#"{"id":"zstd","level":4}"#, true),
        // These query netCDF for the variable in order to encode.
        (r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1}"#, false),
    ] {
        let spec = CodecSpec::V2(serde_json::from_str(json).unwrap());
        let entry = registry.entry(&spec).unwrap();
        assert!(
            matches!(entry.origin, CodecOrigin::Plugin { filter: Some(_), codec: Some(_) }),
            "{json}: {entry:?}"
        );
        let built_in = CodecRegistry::builtin().bind(std::slice::from_ref(&spec), &chunk).unwrap();
        let plugin = registry.bind(&[spec], &chunk).unwrap();
        let (encoded, _) = built_in.encode(&sample, &mut scratch).unwrap();
        assert_eq!(decode(&plugin, &encoded, 0, sample.len()), sample, "{json}");
        match plugin.encode(&sample, &mut scratch) {
            Ok((encoded, _)) => assert_eq!(decode(&built_in, &encoded, 0, sample.len()), sample, "{json}"),
            Err(error) => assert!(!encodes && error.to_string().contains("HDF5's help"), "{json}: {error}"),
        }
    }
}
