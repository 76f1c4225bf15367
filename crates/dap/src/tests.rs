//! The documents and answers of the corpus: all parsed and decoded, whole, truncated and changed.
use crate::{
    ChecksumRule, DapAnswer, DapValues, Das, Dds, Dmr, DodsAnswer, DodsValues, XdrPeculiarities, refuse_error,
};
use bytes::Bytes;
use ncirrus_layout::{Limits, Result};
use ncirrus_model::Values;
use ncirrus_testkit::corpus::corpus;
use proptest::prelude::*;
use serde_json::Value as Json;
use std::path::PathBuf;
use std::sync::OnceLock;

mod damage;
mod lengths;
mod traps;
mod views;

/// A case of the manifest.
#[derive(Clone)]
struct Case {
    folder: PathBuf,
    entry: Json,
}

impl Case {
    fn file(&self, suffix: &str) -> Option<Bytes> {
        let files = self.entry["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap());
        let file = files.into_iter().find(|file| file.ends_with(suffix))?;
        Some(std::fs::read(self.folder.join(file)).unwrap().into())
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.entry.get(key).and_then(Json::as_str)
    }

    fn name(&self) -> &str {
        self.text("name").unwrap()
    }
}

fn cases(protocol: &str) -> Vec<Case> {
    let Some(folder) = corpus("dap") else { return Vec::new() };
    let manifest: Json =
        serde_json::from_slice(&std::fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    let entries = manifest.as_array().unwrap().iter().filter(|entry| entry["protocol"] == protocol);
    entries.map(|entry| Case { folder: folder.clone(), entry: entry.clone() }).collect()
}

fn peculiarities(case: &Case) -> XdrPeculiarities {
    XdrPeculiarities { first_byte: case.name().contains("pydap") }
}

fn decoded(body: &Bytes, peculiarities: XdrPeculiarities) -> Result<DodsValues> {
    let limits = Limits::default();
    DodsAnswer::parse(body, &limits)?.values(peculiarities, &limits)
}

#[test]
fn every_dds_and_das_is_parsed() {
    let (mut read, mut all) = (0, 0);
    for case in cases("DAP2").iter().filter(|case| case.text("expected_error").is_none()) {
        for (suffix, parse) in [(".dds", dds as fn(&[u8]) -> Result<()>), (".das", das)] {
            let Some(body) = case.file(suffix) else { continue };
            all += 1;
            match refuse_error(&body, suffix).and_then(|()| parse(&body)) {
                Ok(()) => read += 1,
                Err(error) => println!("{}{suffix}: {error}", case.name()),
            }
        }
    }
    println!("{read} of {all} DDS and DAS parsed");
    assert_eq!(read, all);
}

fn dds(body: &[u8]) -> Result<()> {
    Dds::parse(body, &Limits::default()).map(|_| ())
}

fn das(body: &[u8]) -> Result<()> {
    Das::parse(body, &Limits::default()).map(|_| ())
}

/// The answer has a DDS, but no data.
const WITHOUT_DATA: &str = "netcdf-c/synth9";

#[test]
fn every_answer_is_decoded_to_its_last_byte() {
    let (mut read, mut all) = (0, 0);
    for case in cases("DAP2").iter().filter(|case| case.text("expected_error").is_none()) {
        let Some(body) = case.file(".dods") else { continue };
        all += 1;
        match decoded(&body, peculiarities(case)) {
            Ok(values) if values.rest <= 1 => read += 1,
            Ok(values) => println!("{}: {} bytes are left", case.name(), values.rest),
            Err(error) if case.name() == WITHOUT_DATA => {
                assert!(error.to_string().contains("truncated"), "{WITHOUT_DATA}: {error}");
                read += 1;
            }
            Err(error) => println!("{}: {error}", case.name()),
        }
    }
    println!("{read} of {all} answers of DAP2 decoded");
    assert_eq!(read, all);
}

#[test]
fn lengths_that_structures_state_are_those_of_the_answers() {
    let limits = Limits::default();
    let mut reported = 0;
    for case in cases("DAP2").iter().filter(|case| case.text("expected_error").is_none()) {
        let Some(body) = case.file(".dods") else { continue };
        let Ok(answer) = DodsAnswer::parse(&body, &limits) else { continue };
        let values = answer.values(peculiarities(case), &limits).unwrap();
        let Some(expected) = answer.dds.exact_len() else { continue };
        assert_eq!(answer.data_len() - values.rest as u64, expected, "{}", case.name());
        reported += 1;
    }
    assert!(reported > 20 || corpus("dap").is_none(), "{reported} lengths");
}

#[test]
fn bad_answers_report_what_is_wrong() {
    let expected = [
        ("bad/html", "a web page ("),
        ("bad/error_after_mark", "error 500"),
        ("bad/short", "truncated"),
        ("bad/wrong_shape", "the count 4 of elements does not match the 5"),
        ("bad/pydap_empty_inner_sequence", "where a row of a sequence begins"),
    ];
    let mut seen = 0;
    for case in cases("DAP2").iter().filter(|case| case.text("expected_error").is_some()) {
        let body = case.file(".dods").or_else(|| case.file(".dds")).unwrap();
        let error = decoded(&body, peculiarities(case)).unwrap_err().to_string();
        let (_, part) = expected.iter().find(|(name, _)| *name == case.name()).unwrap();
        assert!(error.contains(part), "{}: {error}", case.name());
        seen += 1;
    }
    println!("{seen} of 5 bad answers of DAP2 refused");
    assert!(seen == 5 || corpus("dap").is_none());
}

#[test]
fn every_dmr_is_parsed() {
    let (mut read, mut all) = (0, 0);
    for case in cases("DAP4").iter().filter(|case| case.text("expected_error").is_none()) {
        let Some(body) = case.file(".dmr") else { continue };
        all += 1;
        match Dmr::parse(&body, &Limits::default()) {
            Ok(_) => read += 1,
            Err(error) => println!("{}: {error}", case.name()),
        }
    }
    println!("{read} of {all} DMR parsed");
    assert_eq!(read, all);
}

#[test]
fn every_answer_of_dap4_is_decoded_to_its_last_byte() {
    let (mut read, mut all) = (0, 0);
    for case in cases("DAP4").iter().filter(|case| case.text("expected_error").is_none()) {
        let Some(body) = case.file(".dap") else { continue };
        all += 1;
        match decoded_4(&body) {
            Ok(values) => {
                assert_eq!(Some(values.checksums), case.entry["checksum"].as_bool(), "{}", case.name());
                read += 1;
            }
            Err(error) => println!("{}: {error}", case.name()),
        }
    }
    println!("{read} of {all} answers of DAP4 decoded");
    assert_eq!(read, all);
}

fn decoded_4(body: &Bytes) -> Result<DapValues> {
    let limits = Limits::default();
    DapAnswer::parse(body, &limits)?.values(ChecksumRule::Verify, &limits)
}

#[test]
fn bad_answers_of_dap4_report_what_is_wrong() {
    let expected = [
        ("bad/error_xml", "error 404: nope"),
        ("bad/short", "truncated"),
        ("bad/bad_crc", "the checksum of the values is wrong (/v)"),
        ("bad/le_only_on_data", ""),
    ];
    let mut seen = 0;
    for case in cases("DAP4").iter().filter(|case| case.text("expected_error").is_some()) {
        let (_, part) = expected.iter().find(|(name, _)| *name == case.name()).unwrap();
        seen += 1;
        match decoded_4(&case.file(".dap").unwrap()) {
            // Only the data chunk says that it is little-endian.
            Ok(values) => assert!(part.is_empty() && values.variables == [Values::Int(vec![1, 2, 3, 4])]),
            Err(error) => {
                assert!(!part.is_empty() && error.to_string().contains(part), "{}: {error}", case.name());
            }
        }
    }
    println!("{seen} of 4 bad answers of DAP4 told");
    assert!(seen == 4 || corpus("dap").is_none());
}

#[test]
fn a_truncated_answer_of_dap4_is_an_error_at_every_byte() {
    for case in cases("DAP4").iter().filter(|case| case.text("expected_error").is_none()) {
        let Some(body) = case.file(".dap").filter(|body| body.len() < 6000) else { continue };
        for end in 0..body.len() {
            assert!(decoded_4(&body.slice(..end)).is_err(), "{} to {end}", case.name());
        }
    }
}

/// The numbers and texts of values: member after member, in sequences row after row.
fn flat(values: &Values, out: &mut Vec<Json>) {
    match values {
        Values::Compound { fields, .. } => fields.iter().for_each(|field| flat(field, out)),
        Values::Vlen { elements, .. } => {
            (0..elements.len()).for_each(|row| flat(&elements.slice(row..row + 1), out));
        }
        Values::String(strings) => {
            out.extend(strings.iter().map(|text| String::from_utf8_lossy(text.unwrap()).into_owned().into()));
        }
        numbers => out.extend((0..numbers.len()).map(|index| numbers.number(index).unwrap().into())),
    }
}

/// Every number and text of a document of values.
fn leaves(json: &Json, out: &mut Vec<String>) {
    match json {
        Json::Array(items) => items.iter().for_each(|item| leaves(item, out)),
        Json::Object(members) if members.contains_key("rows") => leaves(&members["rows"], out),
        Json::Object(members) => members.values().for_each(|member| leaves(member, out)),
        Json::Number(number) => out.push(format!("{:?}", number.as_f64().unwrap())),
        Json::String(text) => out.push(format!("{text:?}")),
        _ => out.push(json.to_string()),
    }
}

#[test]
fn captured_values_are_those_of_the_server() {
    let (mut equal, mut all) = (0, 0);
    for case in cases("DAP2") {
        let Some(expected) = case.text("expected_values") else { continue };
        all += 1;
        let expected: Json =
            serde_json::from_slice(&std::fs::read(case.folder.join(expected)).unwrap()).unwrap();
        // The file has what other clients read: the scalar byte of pydap's server as 0.
        let values = decoded(&case.file(".dods").unwrap(), XdrPeculiarities::default()).unwrap();
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        values.variables.iter().for_each(|values| flat(values, &mut ours));
        let mut found = Vec::new();
        leaves(&Json::Array(ours), &mut found);
        leaves(&expected, &mut theirs);
        if found == theirs {
            equal += 1;
        } else {
            println!("{}: {found:?}\n  {theirs:?}", case.name());
        }
    }
    println!("{equal} of {all} captures have the server's values");
    assert_eq!(equal, all);
}

#[test]
fn a_truncated_answer_is_an_error_at_every_byte() {
    for case in cases("DAP2").iter().filter(|case| case.text("expected_error").is_none()) {
        let Some(body) = case.file(".dods").filter(|body| body.len() < 6000) else { continue };
        let Ok(whole) = decoded(&body, peculiarities(case)) else { continue };
        for end in 0..body.len() - whole.rest {
            assert!(decoded(&body.slice(..end), peculiarities(case)).is_err(), "{} to {end}", case.name());
        }
    }
}

#[test]
fn truncated_documents_are_errors() {
    for case in cases("DAP2").iter().filter(|case| case.text("expected_error").is_none()) {
        let Some(body) = case.file(".das").filter(|body| body.len() < 6000) else { continue };
        let last = body.iter().rposition(|byte| *byte == b'}').unwrap();
        for end in 0..last {
            assert!(das(&body[..end]).is_err(), "{} to {end}", case.name());
        }
    }
}

/// Files of one suffix, small ones.
fn small(suffix: &str) -> Vec<(String, Bytes)> {
    let cases = [cases("DAP2"), cases("DAP4")].concat();
    let files = cases.iter().filter_map(|case| Some((case.name().to_owned(), case.file(suffix)?)));
    files.filter(|(_, body)| body.len() < 20_000).collect()
}

fn changed(body: &Bytes, changes: &[(prop::sample::Index, u8)]) -> Bytes {
    let mut bytes = body.to_vec();
    for (index, byte) in changes {
        let at = index.index(bytes.len());
        bytes[at] = *byte;
    }
    bytes.into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Any result is right, except a panic or a hang.
    #[test]
    fn changed_answers_are_values_or_errors(
        file in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let limits = Limits { count: 1 << 16, ..Limits::default() };
        for suffix in SUFFIXES {
            let files = files(suffix);
            if files.is_empty() {
                continue;
            }
            let body = changed(&files[file.index(files.len())].1, &changes);
            _ = Dds::parse(&body, &limits);
            _ = Das::parse(&body, &limits);
            _ = Dmr::parse(&body, &limits);
            if let Ok(answer) = DapAnswer::parse(&body, &limits) {
                _ = answer.values(ChecksumRule::Ignore, &limits);
            }
            if let Ok(answer) = DodsAnswer::parse(&body, &limits) {
                _ = answer.values(XdrPeculiarities::default(), &limits);
            }
        }
    }
}

/// Small files of one suffix, read once.
fn files(suffix: &str) -> &'static [(String, Bytes)] {
    static ALL: OnceLock<[Vec<(String, Bytes)>; 5]> = OnceLock::new();
    let all = ALL.get_or_init(|| SUFFIXES.map(small));
    &all[SUFFIXES.iter().position(|known| *known == suffix).unwrap()]
}

const SUFFIXES: [&str; 5] = [".dods", ".das", ".dds", ".dmr", ".dap"];

#[test]
fn the_corpus_has_its_files() {
    assert!(corpus("dap").is_none() || (cases("DAP2").len(), cases("DAP4").len()) == (75, 48));
}
