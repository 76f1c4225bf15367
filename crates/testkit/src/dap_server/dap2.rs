//! Documents and answers of DAP2.
use super::ranges::{parts, selection};
use super::{DapBehaviour, Refusal, Reply, ServedDataset, atomic_variables};
use ncirrus_model::{Atomic, Attribute, Model, Selection, TypeRef, Values, VarId};
use std::fmt::Write as _;

/// The type of DAP2 that holds another one.
fn type_of(atomic: Atomic) -> &'static str {
    match atomic {
        Atomic::Byte | Atomic::UByte => "Byte",
        Atomic::Short => "Int16",
        Atomic::UShort => "UInt16",
        Atomic::Int => "Int32",
        Atomic::UInt => "UInt32",
        Atomic::Float => "Float32",
        Atomic::Double | Atomic::Int64 | Atomic::UInt64 => "Float64",
        Atomic::Char | Atomic::String => "String",
    }
}

/// A name with what is not allowed in a DDS escaped.
fn wire(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"_-+!~*".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn atomic(model: &Model, id: VarId) -> Atomic {
    match model.variable(id).map(|variable| variable.ty) {
        Some(TypeRef::Atomic(atomic)) => atomic,
        _ => Atomic::Byte,
    }
}

/// The shape that requests see: the last dimension of characters is the strings' own.
fn shape(model: &Model, id: VarId) -> Vec<u64> {
    let mut shape = model.shape(id);
    if atomic(model, id) == Atomic::Char {
        shape.pop();
    }
    shape
}

/// What a query asks for, in the order of the dataset.
fn projected(dataset: &ServedDataset, query: &str) -> Result<Vec<(VarId, Selection)>, Refusal> {
    let model = &dataset.model;
    let all = atomic_variables(model, model.root());
    let name = |id: &VarId| model.variable(*id).map(|variable| variable.name.clone()).unwrap_or_default();
    if query.is_empty() {
        return Ok(all.into_iter().map(|id| (id, Selection::all(&shape(model, id)))).collect());
    }
    let mut wanted: Vec<Option<Selection>> = vec![None; all.len()];
    for clause in query.split(',') {
        let (asked, ranges) = parts(clause);
        let is_it = |id: &VarId| wire(&name(id)) == asked || name(id) == super::decoded(&asked);
        let at = all.iter().position(is_it);
        let at = at.ok_or_else(|| ("404 Not Found", format!("variable '{asked}' was not found")))?;
        wanted[at] = Some(selection(&ranges, &shape(model, all[at]))?);
    }
    Ok(all.into_iter().zip(wanted).filter_map(|(id, wanted)| Some((id, wanted?))).collect())
}

fn dds_of(dataset: &ServedDataset, wanted: &[(VarId, Selection)]) -> String {
    let mut text = "Dataset {\n".to_owned();
    for (id, selection) in wanted {
        let variable = dataset.model.variable(*id).unwrap();
        let _ = write!(text, "    {} {}", type_of(atomic(&dataset.model, *id)), wire(&variable.name));
        for (dim, len) in variable.dims.iter().zip(selection.shape()) {
            let name = dataset.model.dimension(*dim).map(|dim| wire(&dim.name)).unwrap_or_default();
            let _ = write!(text, "[{name} = {len}]");
        }
        text.push_str(";\n");
    }
    text + "} served;\n"
}

pub(super) fn dds(dataset: &ServedDataset, query: &str) -> Result<Vec<u8>, Refusal> {
    Ok(dds_of(dataset, &projected(dataset, query)?).into_bytes())
}

pub(super) fn das(dataset: &ServedDataset) -> Vec<u8> {
    let model = &dataset.model;
    let mut text = "Attributes {\n".to_owned();
    for id in atomic_variables(model, model.root()) {
        let variable = model.variable(id).unwrap();
        let _ = writeln!(text, "  {} {{", wire(&variable.name));
        match variable.ty {
            TypeRef::Atomic(Atomic::Byte) => text.push_str("    String _Unsigned \"false\";\n"),
            TypeRef::Atomic(Atomic::UByte) => text.push_str("    String _Unsigned \"true\";\n"),
            _ => {}
        }
        let attributes = variable.attributes.known().into_iter().flat_map(|list| list.iter());
        attributes.for_each(|attribute| text.push_str(&line(attribute)));
        text.push_str("  }\n");
    }
    text.push_str("  NC_GLOBAL {\n");
    let root = model.group(model.root()).and_then(|root| root.attributes.known());
    root.into_iter().flat_map(|list| list.iter()).for_each(|attribute| text.push_str(&line(attribute)));
    (text + "  }\n}\n").into_bytes()
}

fn line(attribute: &Attribute) -> String {
    let name = wire(&attribute.name);
    let quoted = |text: &[u8]| {
        let text = String::from_utf8_lossy(text).replace('\\', "\\\\").replace('"', "\\\"");
        format!("\"{text}\"")
    };
    let values: Vec<String> = match &attribute.values {
        Values::Char(text) => vec![quoted(text)],
        Values::String(strings) => strings.iter().map(|text| quoted(text.unwrap_or_default())).collect(),
        values => (0..values.len()).filter_map(|at| number(values, at)).collect(),
    };
    match attribute.values.atomic() {
        Some(atomic) if !values.is_empty() => {
            format!("    {} {name} {};\n", type_of(atomic), values.join(", "))
        }
        _ => String::new(),
    }
}

/// A number as text that reads back as itself.
pub(super) fn number(values: &Values, at: usize) -> Option<String> {
    Some(match values {
        Values::Float(values) => values.get(at)?.to_string(),
        Values::Double(values) => values.get(at)?.to_string(),
        values => values.integer(at)?.to_string(),
    })
}

pub(super) fn dods(
    dataset: &ServedDataset,
    query: &str,
    behaviour: &DapBehaviour,
) -> Result<Vec<u8>, Refusal> {
    let wanted = projected(dataset, query)?;
    if behaviour.refuses_batches && wanted.len() > 1 {
        return Err(("400 Bad Request", "one variable at a time".to_owned()));
    }
    let mut body = dds_of(dataset, &wanted).into_bytes();
    body.extend(b"\nData:\n");
    let start = body.len();
    for (id, selection) in &wanted {
        values(dataset, *id, selection, &mut body)?;
        if behaviour.most_bytes.is_some_and(|most| (body.len() - start) as u64 > most) {
            return Err(("403 Forbidden", format!("Request too big, max={:?}", behaviour.most_bytes)));
        }
    }
    if let Some(at) = behaviour.error_at {
        body.truncate(start + at.min(body.len() - start));
        body.extend(b"Error {\n    code = 500;\n    message = \"the disk failed\";\n};\n");
    }
    Ok(body)
}

fn values(
    dataset: &ServedDataset,
    id: VarId,
    selection: &Selection,
    body: &mut Vec<u8>,
) -> Result<(), Refusal> {
    let model = &dataset.model;
    let whole = model.shape(id);
    let is_text = atomic(model, id) == Atomic::Char && !whole.is_empty();
    let mut axes = selection.axes().to_vec();
    axes.extend(
        is_text.then(|| whole.last().copied().unwrap_or(0)).map(|len| ncirrus_model::AxisSelection::Slice {
            start: 0,
            count: len,
            stride: 1,
        }),
    );
    let read = (dataset.read)(id, &Selection::new(axes));
    let values = read.map_err(|error| ("500 Internal Server Error", error.to_string()))?;
    let count = selection.element_count().unwrap_or(0);
    let is_array = selection.rank() > 0;
    let counts = |body: &mut Vec<u8>, times: usize| {
        (0..times)
            .filter(|_| is_array)
            .for_each(|_| body.extend(u32::try_from(count).unwrap().to_be_bytes()));
    };
    let string = |body: &mut Vec<u8>, text: &[u8]| {
        body.extend(u32::try_from(text.len()).unwrap().to_be_bytes());
        body.extend(text);
        body.resize(body.len() + text.len().wrapping_neg() % 4, 0);
    };
    match &values {
        Values::String(strings) => {
            counts(body, 1);
            strings.iter().for_each(|text| string(body, text.unwrap_or_default()));
        }
        Values::Char(text) => {
            counts(body, 1);
            let len = text.len().checked_div(usize::try_from(count).unwrap()).unwrap_or(1).max(1);
            for text in text.chunks(len) {
                let end = text.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
                string(body, &text[..end]);
            }
        }
        Values::Byte(_) | Values::UByte(_) => {
            counts(body, 2);
            let bytes = values.as_bytes().unwrap_or_default();
            if is_array {
                body.extend(bytes);
                body.resize(body.len() + bytes.len().wrapping_neg() % 4, 0);
            } else {
                body.extend([0, 0, 0, bytes[0]]);
            }
        }
        numbers => {
            counts(body, 2);
            (0..numbers.len()).for_each(|at| match numbers {
                Values::Float(values) => body.extend(values[at].to_be_bytes()),
                Values::Double(values) => body.extend(values[at].to_be_bytes()),
                Values::Int64(_) | Values::UInt64(_) => {
                    body.extend(numbers.number(at).unwrap_or_default().to_be_bytes());
                }
                numbers => {
                    let word = numbers.integer(at).unwrap_or_default().to_be_bytes();
                    body.extend(&word[word.len() - 4..]);
                }
            });
        }
    }
    Ok(())
}

/// An error of DAP2.
pub(super) fn refused((status, why): Refusal) -> Reply {
    let code = status.split(' ').next().unwrap_or_default();
    (status, format!("Error {{\n    code = {code};\n    message = \"{why}\";\n}};\n").into_bytes())
}
