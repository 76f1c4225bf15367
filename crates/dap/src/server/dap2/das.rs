//! The DAS (docs/spec/dap.md 2.3, 9.2).
use super::declared::{Declared, DeclaredKind, type_of};
use super::{Dap2Dataset, known};
use crate::server::text::{number, quoted, wire};
use ncirrus_model::{Atomic, Attribute, NodeId, Values};
use std::fmt::Write as _;

pub(super) fn document(dataset: &Dap2Dataset) -> String {
    let mut text = "Attributes {\n".to_owned();
    dataset.declared.iter().for_each(|declared| container(dataset, declared, &mut text));
    text.push_str("    NC_GLOBAL {\n");
    let model = &dataset.model;
    for (at, group) in model.walk().into_iter().enumerate() {
        let prefix = if at == 0 { String::new() } else { super::prefix_of(model, group) };
        let attributes = known(model.attributes(NodeId::Group(group)));
        attributes.for_each(|attribute| line(attribute, &prefix, &mut text));
    }
    if !dataset.left_out.is_empty() {
        let reason = |one: &super::NotServed| quoted(format!("{}: {}", one.path, one.reason).as_bytes());
        let reasons: Vec<String> = dataset.left_out.iter().map(reason).collect();
        _ = writeln!(text, "        String left_out_by_server {};", reasons.join(", "));
    }
    text.push_str("    }\n");
    let unlimited =
        |dim: &&ncirrus_model::DimId| model.dimension(**dim).is_some_and(|dim| dim.len.is_unlimited());
    let dims = model.group(model.root()).map(|root| root.dims.as_slice()).unwrap_or_default();
    if let Some(name) = dims.iter().find(unlimited).and_then(|dim| dataset.dims.get(dim)) {
        let name = quoted(name.as_bytes());
        _ = writeln!(text, "    DODS_EXTRA {{\n        String Unlimited_Dimension {name};\n    }}");
    }
    text + "}\n"
}

/// The attributes of a variable.
fn container(dataset: &Dap2Dataset, declared: &Declared, text: &mut String) {
    _ = writeln!(text, "    {} {{", wire(&declared.name));
    match &declared.kind {
        DeclaredKind::Atomic(Atomic::Byte) => text.push_str("        String _Unsigned \"false\";\n"),
        DeclaredKind::Atomic(Atomic::UByte) => text.push_str("        String _Unsigned \"true\";\n"),
        DeclaredKind::Atomic(wide @ (Atomic::Int64 | Atomic::UInt64)) => {
            _ = writeln!(text, "        String type_at_server \"{}\";", wide.name());
        }
        _ => {}
    }
    let attributes = declared.source.and_then(|id| dataset.model.attributes(NodeId::Variable(id)));
    for attribute in known(attributes).filter(|attribute| attribute.name != "_Unsigned") {
        line(attribute, "", text);
    }
    if let Some((len, dim)) = declared.text.as_ref().filter(|(_, dim)| !dim.is_empty()) {
        let dim = quoted(dim.as_bytes());
        _ = writeln!(
            text,
            "        DODS {{\n            Int32 strlen {len};\n            String dimName {dim};\n        }}"
        );
    }
    text.push_str("    }\n");
}

fn line(attribute: &Attribute, prefix: &str, text: &mut String) {
    let values: Vec<String> = match &attribute.values {
        Values::Char(text) => vec![quoted(text)],
        Values::String(strings) => strings.iter().map(|text| quoted(text.unwrap_or_default())).collect(),
        values => (0..values.len()).filter_map(|at| number(values, at)).collect(),
    };
    if let Some(atomic) = attribute.values.atomic().filter(|_| !values.is_empty()) {
        let name = wire(&format!("{prefix}{}", attribute.name));
        _ = writeln!(text, "        {} {name} {};", type_of(atomic), values.join(", "));
    }
}
