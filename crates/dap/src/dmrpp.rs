//! DMR++: a DMR whose variables say where their chunks are in a data file, as NASA's servers keep them beside HDF5 files.
//! It becomes metadata of Zarr v2, embedded chunks, and ranges of the data file.
mod array;
mod attributes;
mod chunks;

use crate::dmr::{Dmr, DmrGroup};
use crate::limit;
use array::DmrppArray;
use ncirrus_layout::xml::XmlNode;
use ncirrus_layout::{Error, Limits, Result};
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// What a DMR++ document says, as a Zarr v2 dataset.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dmrpp {
    /// Objects by key: the metadata of groups and arrays, and chunks whose values are in the document.
    pub objects: Vec<(String, Vec<u8>)>,
    /// Chunks in data files.
    pub chunks: Vec<DmrppChunk>,
    /// The data file of chunks that do not name one, as written in the document.
    pub href: Option<String>,
    /// Variables that are left out, and why.
    pub warnings: Vec<String>,
}

/// A chunk in a data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DmrppChunk {
    /// Its key in the Zarr dataset.
    pub key: String,
    /// The data file, if it is not that of the document.
    pub href: Option<String>,
    /// Where it begins, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub len: u64,
}

impl Dmrpp {
    /// Parses a document.
    ///
    /// # Errors
    /// `Malformed` for a document that is not a DMR, or whose chunks do not fit their variable, with the place; `Limit`.
    pub fn parse(document: &[u8], limits: &Limits) -> Result<Self> {
        limit::document(document.len(), "the DMR++", limits)?;
        let dmr = Dmr::parse(document, limits)?;
        let root = XmlNode::parse(document, "the DMR++", limits)?;
        let mut translator = DmrppTranslator {
            found: Self { href: root.attribute("dmrpp:href").map(str::to_owned), ..Self::default() },
            // Documents without a version list filters in any order.
            lists_in_order: root.attribute("dmrpp:version").is_some(),
            metadata: Map::new(),
            limits,
        };
        translator.group(&dmr.root, &root, "")?;
        Ok(translator.finish())
    }
}

struct DmrppTranslator<'a> {
    found: Dmrpp,
    lists_in_order: bool,
    metadata: Map<String, Value>,
    limits: &'a Limits,
}

impl DmrppTranslator<'_> {
    fn group(&mut self, group: &DmrGroup, node: &XmlNode, path: &str) -> Result<()> {
        self.metadata.insert(format!("{path}.zgroup"), json!({"zarr_format": 2}));
        let attributes = attributes::json(&group.attributes);
        if !attributes.is_empty() {
            self.metadata.insert(format!("{path}.zattrs"), Value::Object(attributes));
        }
        let nodes = by_name(node, |name| !NOT_VARIABLES.contains(&name));
        for variable in &group.variables {
            let full = format!("{path}{}", variable.name);
            let Some(node) = nodes.get(variable.name.as_str()) else { continue };
            match DmrppArray::new(variable, node, self.lists_in_order, self.limits) {
                Ok(array) => self.array(&full, array),
                Err(error) if error.kind() == ncirrus_layout::ErrorKind::Unsupported => {
                    self.found.warnings.push(format!("variable /{full} is left out: {}", error.message()));
                }
                Err(error) => return Err(error.at_path(format!("/{full}"))),
            }
        }
        let nodes = by_name(node, |name| name == "Group");
        for inner in &group.groups {
            if let Some(node) = nodes.get(inner.name.as_str()) {
                self.group(inner, node, &format!("{path}{}/", inner.name))?;
            }
        }
        Ok(())
    }

    fn array(&mut self, path: &str, array: DmrppArray) {
        self.metadata.insert(format!("{path}/.zarray"), array.metadata);
        self.metadata.insert(format!("{path}/.zattrs"), Value::Object(array.attributes));
        if let Some((cell, body)) = array.embedded {
            self.found.objects.push((format!("{path}/{cell}"), body));
        }
        let chunk = |chunk: chunks::PlacedChunk| DmrppChunk {
            key: format!("{path}/{}", chunk.cell),
            href: chunk.href,
            offset: chunk.offset,
            len: chunk.len,
        };
        self.found.chunks.extend(array.chunks.into_iter().map(chunk));
    }

    fn finish(mut self) -> Dmrpp {
        let text = |value: &Value| value.to_string().into_bytes();
        self.found.objects.extend(self.metadata.iter().map(|(key, value)| (key.clone(), text(value))));
        let consolidated = json!({"metadata": self.metadata, "zarr_consolidated_format": 1});
        self.found.objects.push((".zmetadata".to_owned(), text(&consolidated)));
        self.found
    }
}

/// Elements of a group that are not variables.
const NOT_VARIABLES: [&str; 4] = ["Dimension", "Enumeration", "Attribute", "Group"];

/// Elements by the name that they give, the first of each.
fn by_name(node: &XmlNode, is_wanted: impl Fn(&str) -> bool) -> HashMap<&str, &XmlNode> {
    let mut nodes = HashMap::new();
    for child in node.children.iter().filter(|child| is_wanted(&child.name)) {
        if let Some(name) = child.attribute("name") {
            nodes.entry(name).or_insert(child);
        }
    }
    nodes
}

fn wrong(node: &XmlNode, what: impl std::fmt::Display) -> Error {
    Error::malformed(format!("the DMR++ has {what}")).at_offset(node.at)
}

#[cfg(test)]
mod tests;
