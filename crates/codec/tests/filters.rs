//! Chunks that the HDF5 library and its registered filters encoded (`fixtures/filters.py`) are decoded to the same
//! bytes, encoded again, and decoding survives truncation and changes anywhere in them.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that fails may panic")]
use ncirrus_codec::{ChunkInfo, CodecChain, CodecError, CodecRegistry, CodecScratch, DecodedElement};
use ncirrus_model::CodecSpec;
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

struct Case {
    name: String,
    chain: CodecChain,
    mask: u32,
    encoded: Vec<u8>,
    decoded: Vec<u8>,
    /// What was encoded, if it can be compared; differs from what it decodes to if the filter is lossy.
    source: Option<Vec<u8>>,
}

/// Filters that encode to the same bytes as the library.
const EXACT: [&str; 4] = ["nbit", "scaleoffset", "bitshuffle none", "zfp"];

fn hex(text: &Value) -> Vec<u8> {
    let digits = text.as_str().unwrap().as_bytes();
    let digit = |byte: u8| char::from(byte).to_digit(16).unwrap();
    digits.chunks_exact(2).map(|pair| u8::try_from(digit(pair[0]) * 16 + digit(pair[1])).unwrap()).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn spec(filter: &Value) -> CodecSpec {
    let parameters = filter["parameters"].as_array().unwrap();
    CodecSpec::Hdf5 {
        id: u32::try_from(number(&filter["hdf5"])).unwrap(),
        parameters: parameters.iter().map(|value| u32::try_from(number(value)).unwrap()).collect(),
        optional: false,
    }
}

/// The HDF5 library with its filters: what it encoded, and its answer to what is encoded here.
struct Library {
    process: Child,
    cases: Vec<Case>,
}

impl Library {
    /// `None` without the Python of the peers.
    fn start(group: &str) -> Option<Self> {
        let python = ncirrus_testkit::corpus::peers_python()?;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/filters.py");
        let mut command = Command::new(python);
        command.args([script, group]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.as_mut().unwrap()).lines().map(Result::unwrap);
        let cases: Vec<Case> = lines.take_while(|line| !line.is_empty()).map(|line| read(&line)).collect();
        assert!(!cases.is_empty(), "no chunks for {group}");
        Some(Self { process, cases })
    }

    /// The names of chunks that are not decoded correctly.
    fn check(mut self, encoded: &[Option<(Vec<u8>, u32)>]) -> String {
        let mut input = self.process.stdin.take().unwrap();
        for chunk in encoded {
            let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            let line = chunk.as_ref().map(|(bytes, mask)| format!("{mask} {}", hex(bytes)));
            writeln!(input, "{}", line.unwrap_or_default()).unwrap();
        }
        drop(input);
        let output = self.process.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    }
}

fn read(line: &str) -> Case {
    let case: Value = serde_json::from_str(line).unwrap();
    let name = case["name"].as_str().unwrap().to_owned();
    let specs: Vec<CodecSpec> = case["specs"].as_array().unwrap().iter().map(spec).collect();
    let element = DecodedElement::sized(Some(usize::try_from(number(&case["size"])).unwrap()));
    let info = ChunkInfo { shape: case["shape"].as_array().unwrap().iter().map(number).collect(), element };
    let chain = CodecRegistry::builtin().bind(&specs, &info);
    Case {
        chain: chain.unwrap_or_else(|error| panic!("{name} {specs:?}: {error}")),
        mask: u32::try_from(number(&case["mask"])).unwrap(),
        encoded: hex(&case["encoded"]),
        decoded: hex(&case["decoded"]),
        source: case["source"].is_string().then(|| hex(&case["source"])),
        name,
    }
}

impl Case {
    fn decode(&self, bytes: &[u8], mask: u32, scratch: &mut CodecScratch) -> Result<Vec<u8>, CodecError> {
        let mut out = vec![0x55; self.decoded.len()];
        let surplus = self.chain.decode_into(bytes, mask, &mut out, scratch)?;
        assert_eq!(surplus, 0, "{}", self.name);
        Ok(out)
    }

    fn is_decoded(&self, scratch: &mut CodecScratch) {
        let decoded = self.decode(&self.encoded, self.mask, scratch);
        let decoded = decoded.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        assert!(decoded == self.decoded, "{}: other bytes", self.name);
        let whole = self.chain.decode(&self.encoded, self.mask, self.decoded.len(), scratch);
        assert!(whole.as_ref() == Ok(&self.decoded), "{}: {:?}", self.name, whole.err());
    }

    fn is_encoded(&self, scratch: &mut CodecScratch) -> Option<(Vec<u8>, u32)> {
        let (encoded, skipped) = match self.chain.encode(self.source.as_ref()?, scratch) {
            Ok(encoded) => encoded,
            Err(CodecError::Unsupported { .. }) => return None,
            Err(error) => panic!("{}: {error}", self.name),
        };
        if skipped == self.mask && EXACT.iter().any(|name| self.name.starts_with(name)) {
            assert!(encoded == self.encoded, "{}: other bytes encoded", self.name);
        }
        let decoded = self.decode(&encoded, skipped, scratch);
        let decoded = decoded.unwrap_or_else(|error| panic!("{}: encoded here: {error}", self.name));
        assert!(decoded == self.decoded, "{}: other bytes after encoding", self.name);
        // The library keeps the mask of a chunk that is written again.
        (skipped == self.mask).then_some((encoded, skipped))
    }

    /// Any result is fine, except a panic, or more memory than the chunk calls for.
    fn is_safe(&self, scratch: &mut CodecScratch) {
        if self.decoded.len() > 20_000 {
            return;
        }
        let step = (self.encoded.len() / 10).max(1);
        for at in (0..self.encoded.len()).step_by(step).chain(0..self.encoded.len().min(16)) {
            let _ = self.decode_any(&self.encoded[..at], scratch);
            for flip in [0x01, 0x80, 0xff] {
                let mut bytes = self.encoded.clone();
                bytes[at] ^= flip;
                let _ = self.decode_any(&bytes, scratch);
            }
        }
        assert!(scratch.byte_len() < 1 << 22, "{}: the buffers grew to {}", self.name, scratch.byte_len());
    }

    fn decode_any(&self, bytes: &[u8], scratch: &mut CodecScratch) -> Result<usize, CodecError> {
        let mut out = vec![0; self.decoded.len()];
        let _ = self.chain.decode(bytes, self.mask, self.decoded.len(), scratch);
        self.chain.decode_into(bytes, self.mask, &mut out, scratch)
    }
}

fn check(group: &str) {
    let Some(library) = Library::start(group) else { return };
    let mut scratch = CodecScratch::default();
    let mut encoded = Vec::new();
    for case in &library.cases {
        case.is_decoded(&mut scratch);
        encoded.push(case.is_encoded(&mut scratch));
        case.is_safe(&mut CodecScratch::default());
    }
    assert!(encoded.iter().any(Option::is_some), "nothing is encoded");
    assert_eq!(library.check(&encoded), "", "the library decodes what is encoded here");
}

#[test]
fn builtin() {
    check("builtin");
}

#[test]
fn nbit() {
    check("nbit");
}

#[test]
fn scaleoffset() {
    check("scaleoffset");
}

#[test]
fn bitshuffle() {
    check("bitshuffle");
}

#[test]
fn blosc() {
    check("blosc");
}

#[test]
fn blosc2() {
    check("blosc2");
}

#[test]
fn lz4() {
    check("lz4");
}

#[test]
fn lzf() {
    check("lzf");
}

#[test]
fn zfp() {
    check("zfp");
}

#[test]
fn szip() {
    check("szip");
}
