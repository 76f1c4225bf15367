//! Values as zarr-python read them, compared with those of ncirrus.
use crate::support::{json, values};
use ncirrus::{Dataset, Values, Variable};
use serde_json::Value;
use std::path::Path;

/// One check per array that zarr-python read: `values:<path>`.
pub(crate) fn checks(dataset: &Dataset, expected: &Path) -> Vec<(String, Result<(), String>)> {
    let truth = json(&expected.join("zarr-python-3.1.6.json"));
    let Some(nodes) = truth["nodes"].as_object() else { return Vec::new() };
    let arrays =
        nodes.iter().filter(|(_, node)| node.get("values").is_some_and(|values| values != "(omitted)"));
    arrays.map(|(path, node)| (format!("values:{path}"), same(dataset, path, node))).collect()
}

fn same(dataset: &Dataset, path: &str, node: &Value) -> Result<(), String> {
    let variable = variable_at(dataset, path).map_err(|error| error.to_string())?;
    let got = values(&variable).map_err(|error| format!("{error:?}"))?;
    let mut wanted = Vec::new();
    flatten_json(&node["values"], node["dtype"].as_str().unwrap_or_default(), &mut wanted);
    let mut have = Vec::new();
    (0..got.len()).for_each(|index| flatten(&got, index, &mut have));
    if wanted == have { Ok(()) } else { Err(format!("expected {wanted:.3?}, got {have:.3?}")) }
}

/// The variable at a path; ncirrus gives an array at the root a name of its own.
fn variable_at(dataset: &Dataset, path: &str) -> ncirrus::Result<Variable> {
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
            out.push(Token::Bytes(bytes[index * size..(index + 1) * size].to_vec()));
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

/// A value that the truth has as text: NaN or an infinity, a date, bytes in hexadecimal, or actual text.
fn text_token(text: &str, dtype: &str) -> Token {
    let is_number = ["float", "complex", "f8", "f4"].iter().any(|name| dtype.contains(name));
    match (text.parse(), text.strip_prefix("b:")) {
        (Ok(number), _) if is_number => Token::Number(number),
        _ if dtype.starts_with("datetime64[s]") => Token::Integer(seconds(text)),
        _ if dtype.starts_with("timedelta64[s]") => Token::Integer(clock(text)),
        (_, Some(hex)) if dtype.starts_with('|') => {
            let bytes = bytes_of(hex);
            Token::Bytes(if dtype.starts_with("|S") { trimmed(&bytes) } else { bytes })
        }
        _ => Token::Bytes(text.as_bytes().to_vec()),
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let byte = |at: usize| u8::from_str_radix(&hex[at * 2..at * 2 + 2], 16).unwrap();
    (0..hex.len() / 2).map(byte).collect()
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
