//! Members of a dataset that cannot be represented.
use crate::{AttributeState, Dataset, Model, NodeId, Result};
use ncirrus_model::VarId;
use std::fmt;

/// A member of a dataset, or a part of one, that is left out because it cannot be read or has no equivalent in netCDF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Path of the variable; for an attribute `/variable:attribute`. A path that ends in `/` is that of a group, a part
    /// of which cannot be read.
    pub path: String,
    /// The reason.
    pub reason: String,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.ends_with('/') {
            write!(f, "{}: {}", self.path, self.reason)
        } else {
            write!(f, "{} is left out: {}", self.path, self.reason)
        }
    }
}

impl LeftOut {
    /// A member, and why it is left out.
    pub fn new(path: impl Into<String>, reason: &(impl ToString + ?Sized)) -> Self {
        Self { path: path.into(), reason: reason.to_string() }
    }

    /// The JSON object `{"path": .., "reason": ..}`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::json!({"path": self.path, "reason": self.reason})
    }
}

impl Dataset {
    /// The members of the dataset that are left out: groups, variables and attributes that are damaged or of types that
    /// netCDF does not have, and aggregated variables whose description is not valid.
    ///
    /// # Errors
    /// If the attributes cannot be fetched.
    pub fn left_out(&self) -> Result<Vec<LeftOut>> {
        Ok(self.left_out_members()?.into_iter().map(|(_, left_out)| left_out).collect())
    }

    /// The same, each with the member concerned, or the one that has the attribute.
    ///
    /// # Errors
    /// As [`left_out`](Self::left_out).
    pub fn left_out_members(&self) -> Result<Vec<(NodeId, LeftOut)>> {
        let model = self.model()?;
        let mut found = Vec::new();
        for group in model.walk() {
            let fault = model.group(group).and_then(|group| group.fault.as_ref());
            let path = model.group_path(group);
            let of_group = format!("{}/", path.trim_end_matches('/'));
            found.extend(fault.map(|fault| (NodeId::Group(group), LeftOut::new(of_group, &fault))));
            add_attributes(&model, NodeId::Group(group), &path, &mut found);
            let vars = model.group(group).map(|group| group.vars.clone()).unwrap_or_default();
            vars.into_iter().for_each(|var| self.add_variable(&model, var, &mut found));
        }
        Ok(found)
    }

    fn add_variable(&self, model: &Model, var: VarId, found: &mut Vec<(NodeId, LeftOut)>) {
        let (node, path) = (NodeId::Variable(var), model.variable_path(var));
        let Some(variable) = model.variable(var) else { return };
        if let Some(fault) = &variable.fault {
            found.push((node, LeftOut::new(path, &fault)));
            return;
        }
        add_attributes(model, node, &path, found);
        let says_aggregated =
            |state: &AttributeState| state.known().is_some_and(ncirrus_aggregate::says_aggregated);
        if !variable.dims.is_empty() && self.shows_aggregations() && says_aggregated(&variable.attributes) {
            let names = variable.dims.iter().filter_map(|dim| model.dimension(*dim));
            let names: Vec<&str> = names.map(|dim| dim.name.as_str()).collect();
            let along = names.join(", ");
            let reason = format!(
                "it is aggregated but not a scalar (it has the dimensions {along}): its values are missing"
            );
            found.push((node, LeftOut { path, reason }));
        }
    }
}

fn add_attributes(model: &Model, node: NodeId, path: &str, found: &mut Vec<(NodeId, LeftOut)>) {
    match model.attributes(node) {
        Some(AttributeState::Damaged(fault)) => {
            let reason = format!("its attributes cannot be read: {fault}");
            found.push((node, LeftOut::new(path, &reason)));
        }
        Some(AttributeState::Known(attributes)) => found.extend(
            attributes
                .faults
                .iter()
                .map(|(name, fault)| (node, LeftOut::new(format!("{path}:{name}"), &fault))),
        ),
        _ => {}
    }
}
