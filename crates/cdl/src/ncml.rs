//! The header of a dataset as NcML (`-x`; docs/spec/nczarr.md 12.4).
mod enhanced;

use crate::number::{write_attribute_number, write_integer};
use crate::out::OutputText;
use crate::{CdlError, DataChoice, PrintOptions, text};
use enhanced::EnhancedNcml;
use ncirrus_model::{Attribute, AttributeState, DimensionLen, Model, NodeId, TypeRef, Values, VarId};
use std::io::Write;

/// Prints the header of a dataset as NcML; `location` is the name by which it was opened. What has no form in NcML is returned
/// with its path and the reason.
///
/// A dataset of a [`classic`](PrintOptions::classic) kind is printed as the reference prints it, but for names, which are
/// escaped, so that the text is always well-formed. The reference has no NcML of other datasets: they are printed in the terms
/// of NcML 2.2, with groups, enums, structures, and the names that netCDF-Java has for types (`long`, `ulong`, `String`).
///
/// # Errors
/// `Io`.
pub fn ncml(
    out: &mut dyn Write,
    model: &Model,
    location: &str,
    options: &PrintOptions,
) -> Result<Vec<(String, String)>, CdlError> {
    let Some(root) = model.group(model.root()) else { return Ok(Vec::new()) };
    let is_classic = options.classic && root.groups.is_empty() && root.types.is_empty();
    let mut out = OutputText::new(out, options.line_len);
    out.push("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<netcdf");
    pair(&mut out, "xmlns", "https://www.unidata.ucar.edu/namespaces/netcdf/ncml-2.2");
    pair(&mut out, "location", location);
    out.push(">\n");
    let mut lost = Vec::new();
    if is_classic {
        classic(&mut out, model, options)?;
    } else {
        let mut writer = EnhancedNcml { out: &mut out, model, options, lost };
        writer.write()?;
        lost = writer.lost;
    }
    out.push("</netcdf>\n");
    out.finish()?;
    Ok(lost)
}

/// The members of the root, as the reference prints them.
fn classic(out: &mut OutputText<'_>, model: &Model, options: &PrintOptions) -> Result<(), CdlError> {
    let Some(root) = model.group(model.root()) else { return Ok(()) };
    for dimension in root.dims.iter().filter_map(|&id| model.dimension(id)) {
        out.push("  <dimension");
        pair(out, "name", &dimension.name);
        pair(out, "length", &dimension.len.current().to_string());
        if matches!(dimension.len, DimensionLen::Unlimited(_)) {
            pair(out, "isUnlimited", "true");
        }
        out.push(" />\n");
    }
    attributes(out, model, NodeId::Group(model.root()), 2, options);
    for &id in &root.vars {
        variable(out, model, id, options);
        out.relieve()?;
    }
    Ok(())
}

fn variable(out: &mut OutputText<'_>, model: &Model, id: VarId, options: &PrintOptions) {
    let Some(variable) = model.variable(id) else { return };
    out.push("  <variable");
    pair(out, "name", &variable.name);
    if !variable.dims.is_empty() {
        let names = variable.dims.iter().filter_map(|&dim| model.dimension(dim));
        let names: Vec<&str> = names.map(|dimension| dimension.name.as_str()).collect();
        pair(out, "shape", &names.join(" "));
    }
    if let TypeRef::Atomic(atomic) = variable.ty {
        pair(out, "type", atomic.name());
    }
    let is_empty = variable.attributes.known().is_none_or(|attributes| attributes.is_empty());
    if is_empty && options.data == DataChoice::HeaderOnly {
        out.push(" />\n");
        return;
    }
    out.push(">\n");
    attributes(out, model, NodeId::Variable(id), 4, options);
    out.push("  </variable>\n");
}

fn attributes(out: &mut OutputText<'_>, model: &Model, node: NodeId, indent: usize, options: &PrintOptions) {
    let known = model.attributes(node).and_then(AttributeState::known);
    for shown in known.into_iter().flat_map(|attributes| attributes.iter()) {
        out.blanks(indent);
        attribute(out, shown, options);
    }
}

fn attribute(out: &mut OutputText<'_>, attribute: &Attribute, options: &PrintOptions) {
    out.push("<attribute");
    pair(out, "name", &attribute.name);
    let values = &attribute.values;
    if let Some(atomic) = values.atomic().filter(|atomic| atomic.is_numeric() && !values.is_empty()) {
        pair(out, "type", atomic.name());
    }
    out.push(" value=\"");
    match values {
        Values::Char(chars) => escape(&mut out.text, text::trim_nuls(chars)),
        numbers => {
            for index in 0..numbers.len() {
                if index > 0 {
                    out.push(" ");
                }
                number(&mut out.text, numbers, index, options);
            }
        }
    }
    out.push("\" />\n");
}

fn number(out: &mut Vec<u8>, values: &Values, index: usize, options: &PrintOptions) {
    let digits = match values {
        Values::Float(_) => options.float_precision(),
        _ => options.double_precision(),
    };
    if let Some(value) = values.integer(index) {
        return write_integer(out, value);
    }
    match values.number(index).unwrap_or(f64::NAN) {
        value if value.is_nan() => out.extend_from_slice(b"nan"),
        f64::INFINITY => out.extend_from_slice(b"inf"),
        f64::NEG_INFINITY => out.extend_from_slice(b"-inf"),
        value => write_attribute_number(out, value, digits),
    }
}

/// ` name="value"`
fn pair(out: &mut OutputText<'_>, name: &str, value: &str) {
    out.push(&format!(" {name}=\""));
    escape(&mut out.text, value.as_bytes());
    out.push("\"");
}

fn escape(out: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\n' => out.extend_from_slice(b"&#xA;"),
            b'\r' => out.extend_from_slice(b"&#xD;"),
            b'\t' => out.extend_from_slice(b"&#x9;"),
            0..=0x1f | 0x7f => out.extend_from_slice(format!("&#{byte};").as_bytes()),
            _ => out.push(byte),
        }
    }
}
