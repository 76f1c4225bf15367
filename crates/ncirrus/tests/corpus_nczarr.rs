//! Every case of the NCZarr corpus: it opens, its values are those that zarr-python reads, and its CDL is that of the
//! newest netCDF-C wherever that could read it.
mod support;

use ncirrus::{Values, Variable};
use ncirrus_testkit::corpus::corpus;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use support::{Exceptions, Tally, cdl_of, difference, json, open, session, values};

#[test]
fn every_case_reads_as_the_specification_says() {
    let Some(root) = corpus("nczarr") else { return };
    let exceptions = Exceptions::load("nczarr_exceptions.tsv");
    let session = session();
    let mut tally = Tally::default();
    for case in json(&root.join("manifest.json"))["cases"].as_array().unwrap() {
        let id = case["id"].as_str().unwrap();
        let expected = root.join(case["expected_dir"].as_str().unwrap());
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let path = root.join(case["path"].as_str().unwrap());
            let dataset = match open(&path, &session) {
                Ok(dataset) => dataset,
                Err(error) => return vec![("open", Err(format!("{error:?}")))],
            };
            let name = expected_name(&expected).unwrap_or_else(|| dataset.name().to_owned());
            let mut checks = vec![("open", Ok(()))];
            checks.push(("values", same_values(&dataset, &expected)));
            let plain = expected.join("4.10.1.cdl");
            checks.extend(plain.exists().then(|| ("cdl", same_cdl(&dataset, &name, &plain, false))));
            let special = expected.join("4.10.1.special.cdl");
            checks.extend(special.exists().then(|| ("special", same_cdl(&dataset, &name, &special, true))));
            checks
        }));
        let checks = outcome.unwrap_or_else(|_| vec![("panic", Err("it panicked".to_owned()))]);
        checks.into_iter().for_each(|(check, outcome)| tally.record(&exceptions, id, check, outcome));
    }
    tally.finish("corpus nczarr");
}

/// The name that the expected dump has in its first line.
fn expected_name(expected: &Path) -> Option<String> {
    let text = std::fs::read_to_string(expected.join("4.10.1.cdl")).ok()?;
    let name = text.lines().next()?.strip_prefix("netcdf ")?.strip_suffix(" {")?;
    Some(name.replace('\\', ""))
}

fn same_cdl(dataset: &ncirrus::Dataset, name: &str, expected: &Path, special: bool) -> Result<(), String> {
    let expected = String::from_utf8_lossy(&std::fs::read(expected).unwrap()).into_owned();
    let choose = |options: &mut ncirrus::cdl::Options| {
        options.special = special;
        if special {
            options.data = ncirrus::cdl::DataChoice::HeaderOnly;
        }
    };
    let (got, _) = cdl_of(dataset, name, choose).map_err(|error| format!("{error:?}"))?;
    difference(&expected, &got)
}

fn same_values(dataset: &ncirrus::Dataset, expected: &Path) -> Result<(), String> {
    let truth = json(&expected.join("zarr-python-3.1.6.json"));
    let Some(nodes) = truth["nodes"].as_object() else { return Ok(()) };
    for (path, node) in nodes {
        let Some(expected) = node.get("values") else { continue };
        let variable = variable_at(dataset, path).map_err(|error| format!("{path}: {error}"))?;
        let got = values(&variable).map_err(|error| format!("{path}: {error:?}"))?;
        let dtype = node["dtype"].as_str().unwrap_or_default();
        let mut wanted = Vec::new();
        flatten_json(expected, dtype, &mut wanted);
        let mut have = Vec::new();
        (0..got.len()).for_each(|index| flatten(&got, index, &mut have));
        if wanted != have {
            return Err(format!("{path}: expected {wanted:.200?}, got {have:.200?}"));
        }
    }
    Ok(())
}

/// The variable at a path; an array at the root has a name of ours.
fn variable_at(dataset: &ncirrus::Dataset, path: &str) -> ncirrus::Result<Variable> {
    match (path, dataset.variables().as_slice()) {
        ("/", [only]) => Ok(only.clone()),
        _ => dataset.variable(path),
    }
}

/// A value of either side in a form that can be compared.
#[derive(Debug, Clone)]
enum Token {
    Integer(i128),
    Number(f64),
    Bytes(Vec<u8>),
}

impl PartialEq for Token {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a == b || (a.is_nan() && b.is_nan()),
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            _ => false,
        }
    }
}

fn flatten(values: &Values, index: usize, out: &mut Vec<Token>) {
    match values {
        Values::Float(_) | Values::Double(_) => out.push(Token::Number(values.number(index).unwrap())),
        Values::String(strings) => out.push(Token::Bytes(strings.get(index).unwrap_or_default().to_vec())),
        Values::Char(bytes) => out.push(Token::Bytes(trimmed(&bytes[index..=index]))),
        Values::Opaque { size, bytes } => {
            out.push(Token::Bytes(bytes[index * size..(index + 1) * size].to_vec()))
        }
        Values::Compound { len, fields } => fields.iter().for_each(|field| {
            let each = field.len() / len.max(&1);
            (index * each..(index + 1) * each).for_each(|at| flatten(field, at, out));
        }),
        Values::Vlen { ends, elements } => {
            let start = if index == 0 { 0 } else { ends[index - 1] };
            (start..ends[index]).for_each(|at| flatten(elements, at, out));
        }
        integers => out.push(Token::Integer(integers.integer(index).unwrap())),
    }
}

fn flatten_json(value: &Value, dtype: &str, out: &mut Vec<Token>) {
    match value {
        Value::Array(list) => list.iter().for_each(|item| flatten_json(item, dtype, out)),
        Value::Bool(value) => out.push(Token::Integer(i128::from(*value))),
        Value::Number(number) => out.push(match (number.as_i64(), number.as_u64()) {
            (Some(integer), _) => Token::Integer(i128::from(integer)),
            (_, Some(integer)) => Token::Integer(i128::from(integer)),
            _ => Token::Number(number.as_f64().unwrap()),
        }),
        Value::String(text) => out.push(text_token(text, dtype)),
        Value::Null | Value::Object(_) => out.push(Token::Bytes(value.to_string().into_bytes())),
    }
}

fn text_token(text: &str, dtype: &str) -> Token {
    if dtype.contains("float") || dtype.contains("complex") || dtype.contains("f8") || dtype.contains("f4") {
        return Token::Number(text.parse().unwrap());
    }
    if dtype.starts_with("datetime64[s]") {
        return Token::Integer(seconds(text));
    }
    if dtype.starts_with("timedelta64[s]") {
        return Token::Integer(clock(text));
    }
    match text.strip_prefix("b:").filter(|_| dtype.starts_with('|')) {
        Some(hex) => {
            let bytes: Vec<u8> = (0..hex.len() / 2)
                .map(|at| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap())
                .collect();
            Token::Bytes(if dtype.starts_with("|S") { trimmed(&bytes) } else { bytes })
        }
        None => Token::Bytes(text.as_bytes().to_vec()),
    }
}

fn trimmed(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    bytes[..end].to_vec()
}

/// Seconds since 1970 of `YYYY-MM-DD HH:MM:SS`; NaT is the smallest 64-bit integer.
fn seconds(text: &str) -> i128 {
    let Some((date, time)) = text.split_once(' ') else { return i128::from(i64::MIN) };
    let parts: Vec<i128> = date.split('-').map(|part| part.parse().unwrap()).collect();
    let (year, month, day) = (parts[0], parts[1], parts[2]);
    let leap = |year: i128| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let years: i128 = (1970..year).map(|year| if leap(year) { 366 } else { 365 }).sum();
    let lengths = [31, if leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let months: i128 = lengths.iter().take(usize::try_from(month - 1).unwrap()).sum();
    (years + months + day - 1) * 86_400 + clock(time)
}

/// Seconds of `H:MM:SS`, perhaps after `N days, `.
fn clock(text: &str) -> i128 {
    let (days, time) = match text.split_once(" day") {
        Some((days, rest)) => (days.parse::<i128>().unwrap(), rest.trim_start_matches(['s', ',', ' '])),
        None => (0, text),
    };
    let parts: Vec<i128> = time.split(':').map(|part| part.parse().unwrap()).collect();
    days * 86_400 + parts[0] * 3600 + parts[1] * 60 + parts[2]
}
