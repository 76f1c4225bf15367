//! Documents and answers of DAP2.
use super::ranges::path_of;
use super::tables::{TableQuery, select, tables_of};
use super::tree::{self, Declared, declared};
use super::{DapBehaviour, Refusal, Reply, ServedDataset};
use ncirrus_model::{Atomic, Attribute, Model, Selection, TypeRef, Values, VarId};
use std::fmt::Write as _;

/// The type of DAP2 that holds another one.
pub(super) fn type_of(atomic: Atomic) -> &'static str {
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
pub(super) fn wire(name: &str) -> String {
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

pub(super) fn atomic(model: &Model, id: VarId) -> Atomic {
    match model.variable(id).map(|variable| variable.ty) {
        Some(TypeRef::Atomic(atomic)) => atomic,
        _ => Atomic::Byte,
    }
}

/// The shape that requests see: the last dimension of characters is the strings' own.
pub(super) fn shape(model: &Model, id: VarId) -> Vec<u64> {
    let mut shape = model.shape(id);
    if atomic(model, id) == Atomic::Char {
        shape.pop();
    }
    shape
}

/// What a query asks for, in the order of the dataset.
struct Projection {
    declared: Vec<Declared>,
    tables: Vec<TableQuery>,
}

impl Projection {
    fn new(dataset: &ServedDataset, query: &str, behaviour: &DapBehaviour) -> Result<Self, Refusal> {
        let model = &dataset.model;
        let (clauses, selections) = query.split_once('&').unwrap_or((query, ""));
        let mut tables: Vec<TableQuery> = Vec::new();
        if behaviour.sequences {
            tables
                .extend(tables_of(model).into_iter().map(|table| TableQuery::new(table, clauses.is_empty())));
        } else if !selections.is_empty() {
            return Err(("400 Bad Request", format!("nothing can be selected by {selections}")));
        }
        let is_column = |id: VarId| tables.iter().any(|table| table.has(id));
        let mut declared = declared(model, model.root(), behaviour, &is_column);
        if clauses.is_empty() {
            declared.iter_mut().for_each(Declared::want_all);
        }
        for clause in clauses.split(',').filter(|clause| !clause.is_empty()) {
            let path = path_of(clause);
            if let Some(table) = tables.iter_mut().find(|table| table.is_called(&path[0].name)) {
                table.project(model, &path)?;
                continue;
            }
            tree::want(&mut declared, &path)?;
        }
        for clause in selections.split('&').filter(|clause| !clause.is_empty()) {
            select(model, &mut tables, clause)?;
        }
        tables.retain(|table| !table.columns.is_empty());
        Ok(Self { declared, tables })
    }

    /// Number of variables and columns.
    fn len(&self) -> usize {
        self.declared.iter().map(Declared::len).sum::<usize>()
            + self.tables.iter().map(|table| table.columns.len()).sum::<usize>()
    }

    fn dds(&self, model: &Model) -> String {
        let mut text = "Dataset {\n".to_owned();
        self.declared.iter().for_each(|declared| declared.dds("    ", &mut text));
        self.tables.iter().for_each(|table| text.push_str(&table.dds(model)));
        text + "} served;\n"
    }
}

/// Whether a request means that variable.
pub(super) fn is_called(model: &Model, id: VarId, requested: &str) -> bool {
    let name = model.variable(id).map(|variable| variable.name.as_str()).unwrap_or_default();
    wire(name) == requested || name == super::decoded(requested)
}

pub(super) fn dds(
    dataset: &ServedDataset,
    query: &str,
    behaviour: &DapBehaviour,
) -> Result<Vec<u8>, Refusal> {
    Ok(Projection::new(dataset, query, behaviour)?.dds(&dataset.model).into_bytes())
}

pub(super) fn das(dataset: &ServedDataset, behaviour: &DapBehaviour) -> Vec<u8> {
    let model = &dataset.model;
    let tables = if behaviour.sequences { tables_of(model) } else { Vec::new() };
    let mut text = "Attributes {\n".to_owned();
    for table in &tables {
        let _ = writeln!(text, "  {} {{", wire(&table.name));
        table.columns.iter().for_each(|id| text.push_str(&container(model, *id, "")));
        text.push_str("  }\n");
    }
    let is_column = |id: VarId| tables.iter().any(|table| table.columns.contains(&id));
    let others = declared(model, model.root(), behaviour, &is_column);
    others.iter().for_each(|declared| text.push_str(&declared.das(model, behaviour)));
    text.push_str("  NC_GLOBAL {\n");
    let root = model.group(model.root()).and_then(|root| root.attributes.known());
    root.into_iter().flat_map(|list| list.iter()).for_each(|attribute| text.push_str(&line(attribute)));
    (text + "  }\n}\n").into_bytes()
}

/// The attributes of a variable, and the containers of its members.
pub(super) fn container(model: &Model, id: VarId, members: &str) -> String {
    let variable = model.variable(id).unwrap();
    let mut text = format!("  {} {{\n", wire(&variable.name));
    match variable.ty {
        TypeRef::Atomic(Atomic::Byte) => text.push_str("    String _Unsigned \"false\";\n"),
        TypeRef::Atomic(Atomic::UByte) => text.push_str("    String _Unsigned \"true\";\n"),
        _ => {}
    }
    let attributes = variable.attributes.known().into_iter().flat_map(|list| list.iter());
    attributes.for_each(|attribute| text.push_str(&line(attribute)));
    text + members + "  }\n"
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

/// An answer with data; `is_shorter`: sequences have lost their last row.
pub(super) fn dods(
    dataset: &ServedDataset,
    query: &str,
    behaviour: &DapBehaviour,
    is_shorter: bool,
) -> Result<Vec<u8>, Refusal> {
    let wanted = Projection::new(dataset, query, behaviour)?;
    if behaviour.refuses_batches && wanted.len() > 1 {
        return Err(("400 Bad Request", "one variable at a time".to_owned()));
    }
    let mut body = wanted.dds(&dataset.model).into_bytes();
    body.extend(b"\nData:\n");
    let start = body.len();
    let check = |body: &[u8]| match behaviour.max_bytes {
        Some(max) if (body.len() - start) as u64 > max => {
            Err(("403 Forbidden", format!("Request too big, max={:?}", behaviour.max_bytes)))
        }
        _ => Ok(()),
    };
    for declared in &wanted.declared {
        declared.values(dataset, &mut body)?;
        check(&body)?;
    }
    for table in &wanted.tables {
        table.rows(dataset, is_shorter, &mut body)?;
        check(&body)?;
    }
    if let Some(at) = behaviour.error_at {
        body.truncate(start + at.min(body.len() - start));
        body.extend(b"Error {\n    code = 500;\n    message = \"the disk failed\";\n};\n");
    }
    Ok(body)
}

/// The selected values of a variable: of characters, whole strings.
pub(super) fn read(dataset: &ServedDataset, id: VarId, selection: &Selection) -> Result<Values, Refusal> {
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
    read.map_err(|error| ("500 Internal Server Error", error.to_string()))
}

/// Values of `count` elements, with their counts if they are an array.
pub(super) fn write_values(values: &Values, count: u64, is_array: bool, body: &mut Vec<u8>) {
    let counts = |body: &mut Vec<u8>, times: usize| {
        (0..times)
            .filter(|_| is_array)
            .for_each(|_| body.extend(u32::try_from(count).unwrap().to_be_bytes()));
    };
    match values {
        Values::Byte(_) | Values::UByte(_) if is_array => {
            counts(body, 2);
            let bytes = values.as_bytes().unwrap_or_default();
            body.extend(bytes);
            body.resize(body.len() + bytes.len().wrapping_neg() % 4, 0);
        }
        // Of millions of them each in its own memory would be what benchmarks measure.
        Values::Float(values) => {
            counts(body, 2);
            let start = body.len();
            body.resize(start + 4 * values.len(), 0);
            let words = body[start..].as_chunks_mut::<4>().0.iter_mut();
            words.zip(values).for_each(|(word, value)| *word = value.to_be_bytes());
        }
        values => {
            counts(body, if matches!(values, Values::String(_) | Values::Char(_)) { 1 } else { 2 });
            elements(values, usize::try_from(count).unwrap()).into_iter().for_each(|one| body.extend(one));
        }
    }
}

/// The bytes of each of `count` elements, as they stand alone: characters are as many strings.
pub(super) fn elements(values: &Values, count: usize) -> Vec<Vec<u8>> {
    let string = |text: &[u8]| {
        let mut one = u32::try_from(text.len()).unwrap().to_be_bytes().to_vec();
        one.extend(text);
        one.resize(one.len() + text.len().wrapping_neg() % 4, 0);
        one
    };
    match values {
        Values::String(strings) => strings.iter().map(|text| string(text.unwrap_or_default())).collect(),
        Values::Char(text) => {
            let len = text.len().checked_div(count).unwrap_or(1).max(1);
            let end = |text: &[u8]| text.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
            text.chunks(len).map(|text| string(&text[..end(text)])).collect()
        }
        Values::Byte(_) | Values::UByte(_) => {
            values.as_bytes().unwrap_or_default().iter().map(|byte| vec![0, 0, 0, *byte]).collect()
        }
        Values::Float(values) => values.iter().map(|value| value.to_be_bytes().to_vec()).collect(),
        Values::Double(values) => values.iter().map(|value| value.to_be_bytes().to_vec()).collect(),
        Values::Int64(_) | Values::UInt64(_) => {
            let number = |at| values.number(at).unwrap_or_default().to_be_bytes().to_vec();
            (0..values.len()).map(number).collect()
        }
        numbers => {
            let word = |at| numbers.integer(at).unwrap_or_default().to_be_bytes();
            (0..numbers.len()).map(|at| word(at)[word(at).len() - 4..].to_vec()).collect()
        }
    }
}

/// An error of DAP2.
pub(super) fn refused((status, why): Refusal) -> Reply {
    let code = status.split(' ').next().unwrap_or_default();
    (status, format!("Error {{\n    code = {code};\n    message = \"{why}\";\n}};\n").into_bytes())
}
