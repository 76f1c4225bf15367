//! A DMR from its elements: shared dimensions and enumerations first, then what refers to them.
use super::{
    Dmr, DmrAttribute, DmrAxis, DmrDimension, DmrEnumeration, DmrGroup, DmrKind, DmrVariable, by_name,
};
use crate::answer::refuse_error;
use crate::limit;
use crate::path::segments;
use ncirrus_layout::xml::XmlNode;
use ncirrus_layout::{Error, Limits, Result};
use ncirrus_model::Atomic;
use std::collections::HashMap;

pub(super) fn parse(document: &[u8], limits: &Limits) -> Result<Dmr> {
    refuse_error(document, "a DMR")?;
    limit::document(document.len(), "the DMR", limits)?;
    let root = XmlNode::parse(document, "the DMR", limits)?;
    if root.name != "Dataset" {
        return Err(wrong(&root, format!("<{}> where <Dataset> should be", root.name)));
    }
    let mut definitions = Definitions::default();
    definitions.collect(&root, &mut Vec::new())?;
    let parser = DmrParser { definitions, limits };
    let name = root.attribute("name").unwrap_or_default().to_owned();
    Ok(Dmr { name, root: DmrGroup { name: String::new(), ..parser.group(&root, &mut Vec::new())? } })
}

/// What variables refer to, by path.
#[derive(Default)]
struct Definitions {
    dimensions: HashMap<Vec<String>, u64>,
    enumerations: HashMap<Vec<String>, Atomic>,
}

impl Definitions {
    fn collect(&mut self, group: &XmlNode, path: &mut Vec<String>) -> Result<()> {
        for child in &group.children {
            match child.name.as_str() {
                "Dimension" | "Enumeration" => {
                    let path = [&path[..], &[name(child)?]].concat();
                    if child.name == "Dimension" {
                        self.dimensions.insert(path, size(child)?);
                    } else {
                        self.enumerations.insert(path, base(child)?);
                    }
                }
                "Group" => {
                    path.push(name(child)?);
                    self.collect(child, path)?;
                    path.pop();
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// What a path refers to; one without a slash is searched in the enclosing groups, too. Some servers flatten groups: a
/// whole path is then the name of a dimension of the root.
fn found<T: Copy>(known: &HashMap<Vec<String>, T>, reference: &str, group: &[String]) -> Option<T> {
    let path = segments(reference);
    if reference.starts_with('/') {
        return known.get(&path).or_else(|| known.get(&[reference.to_owned()][..])).copied();
    }
    (0..=group.len()).rev().find_map(|depth| known.get(&[&group[..depth], &path[..]].concat()).copied())
}

struct DmrParser<'a> {
    definitions: Definitions,
    limits: &'a Limits,
}

impl DmrParser<'_> {
    fn group(&self, node: &XmlNode, path: &mut Vec<String>) -> Result<DmrGroup> {
        let mut group =
            DmrGroup { name: node.attribute("name").unwrap_or_default().to_owned(), ..DmrGroup::default() };
        for child in &node.children {
            match child.name.as_str() {
                "Dimension" => group.dimensions.push(DmrDimension {
                    name: name(child)?,
                    size: size(child)?,
                    unlimited: is_unlimited(child),
                }),
                "Enumeration" => group.enumerations.push(enumeration(child)?),
                "Attribute" => group.attributes.push(attribute(child)?),
                "Group" => {
                    path.push(name(child)?);
                    group.groups.push(self.group(child, path)?);
                    path.pop();
                }
                _ => group.variables.extend(self.variable(child, path)?),
            }
        }
        Ok(group)
    }

    /// A variable; `None` for other elements.
    fn variable(&self, node: &XmlNode, group: &[String]) -> Result<Option<DmrVariable>> {
        let kind = match node.name.as_str() {
            "Map" | "Dim" | "OtherXML" | "Namespace" | "Value" => return Ok(None),
            // What DMR++ adds to variables.
            "chunks" | "chunk" | "compact" | "missingdata" | "vlsa" | "specialstructuredata" => {
                return Ok(None);
            }
            "Structure" => DmrKind::Structure(self.members(node, group)?),
            "Sequence" => DmrKind::Sequence(self.members(node, group)?),
            "Opaque" => DmrKind::Opaque,
            "Enum" => {
                let path = required(node, "enum")?.to_owned();
                let base = found(&self.definitions.enumerations, &path, group)
                    .ok_or_else(|| wrong(node, format!("no enumeration {path}")))?;
                DmrKind::Enum { path, base }
            }
            ty => match by_name(ty) {
                Some(atomic) => DmrKind::Atomic(atomic),
                None => return Err(wrong(node, format!("<{}> is no type of DAP4", crate::shortened(ty)))),
            },
        };
        let mut variable = DmrVariable {
            name: name(node)?,
            kind,
            dims: Vec::new(),
            maps: Vec::new(),
            attributes: Vec::new(),
        };
        for child in &node.children {
            match child.name.as_str() {
                // Order matters: these are the axes. Members of structures were read above.
                "Dim" => variable.dims.push(self.axis(child, group)?),
                "Map" => variable.maps.push(required(child, "name")?.to_owned()),
                "Attribute" => variable.attributes.push(attribute(child)?),
                _ => {}
            }
        }
        if variable.dims.len() as u64 > self.limits.rank {
            let (rank, max) = (variable.dims.len(), self.limits.rank);
            let message = format!("{} has {rank} dimensions, more than the limit of {max}", variable.name);
            return Err(Error::limit(message).at_offset(node.at));
        }
        Ok(Some(variable))
    }

    fn members(&self, node: &XmlNode, group: &[String]) -> Result<Vec<DmrVariable>> {
        let members = node.children.iter().filter(|child| child.name != "Attribute");
        members.filter_map(|child| self.variable(child, group).transpose()).collect()
    }

    fn axis(&self, node: &XmlNode, group: &[String]) -> Result<DmrAxis> {
        let Some(path) = node.attribute("name") else {
            return Ok(DmrAxis { path: None, size: size(node)? });
        };
        let size = found(&self.definitions.dimensions, path, group)
            .ok_or_else(|| wrong(node, format!("no dimension {}", crate::shortened(path))))?;
        Ok(DmrAxis { path: Some(path.to_owned()), size })
    }
}

fn enumeration(node: &XmlNode) -> Result<DmrEnumeration> {
    let mut constants = Vec::new();
    for constant in node.children.iter().filter(|child| child.name == "EnumConst") {
        let value = required(constant, "value")?;
        let value = value.trim().parse().map_err(|_| wrong(constant, format!("the value {value:?}")))?;
        constants.push((name(constant)?, value));
    }
    Ok(DmrEnumeration { name: name(node)?, base: base(node)?, constants })
}

fn base(node: &XmlNode) -> Result<Atomic> {
    let ty = node.attribute("basetype").unwrap_or("Int32");
    let integer = by_name(ty).filter(|atomic| atomic.is_integer());
    integer.ok_or_else(|| wrong(node, format!("the base type {ty:?} of an enumeration")))
}

fn attribute(node: &XmlNode) -> Result<DmrAttribute> {
    let inner = || node.children.iter().filter(|child| child.name == "Attribute");
    let container = match node.attribute("type") {
        None => node.child("Value").is_none() && node.attribute("value").is_none(),
        Some(ty) => ty.eq_ignore_ascii_case("Container"),
    };
    if container {
        let children = inner().map(attribute).collect::<Result<_>>()?;
        return Ok(DmrAttribute { name: name(node)?, children, ..DmrAttribute::default() });
    }
    let values = node.children.iter().filter(|child| child.name == "Value");
    let text = |value: &XmlNode| value.attribute("value").unwrap_or(&value.text).to_owned();
    let own = node.attribute("value").map(str::to_owned);
    let ty = node.attribute("type").unwrap_or("String").to_owned();
    let texts = own.into_iter().chain(values.map(text)).collect();
    Ok(DmrAttribute { name: name(node)?, ty: Some(ty), texts, children: Vec::new() })
}

fn is_unlimited(node: &XmlNode) -> bool {
    let hint = "_edu.ucar.isunlimited";
    let inner = node.children.iter().find(|child| child.attribute("name") == Some(hint));
    let inner = inner.and_then(|child| Some(child.child("Value")?.attribute("value").unwrap_or("1")));
    node.attribute(hint).or(inner).is_some_and(|value| value != "0")
}

fn name(node: &XmlNode) -> Result<String> {
    required(node, "name").map(str::to_owned)
}

fn size(node: &XmlNode) -> Result<u64> {
    let text = required(node, "size")?;
    text.trim().parse().map_err(|_| wrong(node, format!("the size {:?}", crate::shortened(text))))
}

fn required<'a>(node: &'a XmlNode, name: &str) -> Result<&'a str> {
    node.attribute(name).ok_or_else(|| wrong(node, format!("<{}> without {name}", node.name)))
}

fn wrong(node: &XmlNode, what: impl std::fmt::Display) -> Error {
    Error::malformed(format!("the DMR has {what}")).at_offset(node.at)
}

#[cfg(test)]
mod tests;
