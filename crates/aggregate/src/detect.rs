//! Which variables of a dataset are aggregated (docs/spec/cfa.md 1.2).
use crate::subject::MasterDataset;
use ncirrus_layout::{Error, Result, Step, View};
use ncirrus_model::{Attribute, AttributeState, Attributes, NodeId, VarId};

#[cfg(test)]
mod tests;

/// A variable that is marked as aggregated.
#[derive(Debug)]
pub(crate) struct DetectedVariable {
    pub(crate) variable: VarId,
    /// The attributes to show: the description of the fragments may be long.
    pub(crate) attributes: Attributes,
    pub(crate) scheme: Result<DetectedScheme>,
}

/// How it is marked; dimensions are those of the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DetectedScheme {
    /// CFA-0.6, drafts, CF-1.13: `aggregated_dimensions` and `aggregated_data`.
    Terms { dimensions: String, data: Option<String> },
    /// CFA-0.5: `cfa_dimensions` and `cfa_group`.
    Table { dimensions: String, group: String },
    /// CFA-0.4: `cfa_dimensions` and `cfa_array`.
    Json { dimensions: String },
}

/// What was found in a dataset.
#[derive(Debug, Default)]
pub(crate) struct DetectionResult {
    pub(crate) aggregated: Vec<DetectedVariable>,
    /// Variables that only hold data for aggregated ones (CFA-0.4).
    pub(crate) private: Vec<VarId>,
    /// Variables that are marked as aggregated and are not scalars, with their attributes.
    pub(crate) misshapen: Vec<(VarId, Attributes)>,
}

/// Attributes that describe aggregation, to be hidden from the reader.
const OWN: [&str; 5] =
    ["aggregated_dimensions", "aggregated_data", "cfa_dimensions", "cfa_array", "cfa_group"];
/// The attribute that described fragments before CFA-0.4 (docs/spec/cfa.md 2.2).
const OBSOLETE: &str = "nca_array";

/// Finds what is aggregated. One request for the attributes of all scalar variables; more only if one of them is
/// aggregated, or if the attributes of others are in memory.
///
/// # Errors
/// A need.
pub(crate) fn detect(view: &dyn View, inner: &MasterDataset, lenient: bool) -> Step<DetectionResult> {
    let model = &inner.model;
    let is_scalar = |id: &VarId| model.variable(*id).is_some_and(|variable| variable.dims.is_empty());
    let (scalars, arrays): (Vec<VarId>, Vec<VarId>) = model.variables().into_iter().partition(is_scalar);
    let mut finds = DetectionResult::default();
    for (id, attributes) in readable(view, inner, &scalars)? {
        finds.add(id, attributes);
    }
    let is_at_hand = |id: &VarId| {
        model.variable(*id).is_some_and(|variable| matches!(variable.attributes, AttributeState::Known(_)))
    };
    let any = !finds.aggregated.is_empty();
    let arrays: Vec<VarId> = arrays.into_iter().filter(|id| any || is_at_hand(id)).collect();
    for (id, attributes) in readable(view, inner, &arrays)? {
        if role(&attributes).as_deref() == Some("cfa_private") {
            finds.private.push(id);
        } else if !lenient && scheme(&attributes).is_some() {
            finds.misshapen.push((id, attributes));
        }
    }
    Ok(finds)
}

impl DetectionResult {
    /// Whether nothing is aggregated.
    pub(crate) fn is_empty(&self) -> bool {
        self.aggregated.is_empty() && self.misshapen.is_empty()
    }

    fn add(&mut self, variable: VarId, mut attributes: Attributes) {
        if role(&attributes).as_deref() == Some("cfa_private") {
            self.private.push(variable);
        } else if let Some(scheme) = scheme(&attributes) {
            hide_own(&mut attributes);
            self.aggregated.push(DetectedVariable { variable, attributes, scheme });
        }
    }
}

/// The attributes of variables, if they can be read.
fn readable(view: &dyn View, inner: &MasterDataset, of: &[VarId]) -> Step<Vec<(VarId, Attributes)>> {
    if of.is_empty() {
        return Ok(Vec::new());
    }
    let nodes: Vec<NodeId> = of.iter().map(|id| NodeId::Variable(*id)).collect();
    let attributes = inner.catalog.attributes(view, &nodes)?;
    let pairs = of.iter().zip(attributes);
    Ok(pairs.filter_map(|(id, attributes)| Some((*id, attributes.ok()?))).collect())
}

/// How a variable is marked as aggregated; `None` if it is not.
fn scheme(attributes: &Attributes) -> Option<Result<DetectedScheme>> {
    if let Some(dimensions) = attributes.find("aggregated_dimensions") {
        let data = attributes.find("aggregated_data").map(text).transpose();
        let both = text(dimensions).and_then(|dimensions| Ok((dimensions, data?)));
        return Some(both.map(|(dimensions, data)| DetectedScheme::Terms { dimensions, data }));
    }
    let is_aggregated = role(attributes).as_deref() == Some("cfa_variable");
    is_aggregated.then(|| {
        let dimensions = attributes.find("cfa_dimensions").map_or(Ok(String::new()), text)?;
        if let Some(group) = attributes.find("cfa_group") {
            return Ok(DetectedScheme::Table { dimensions, group: text(group)? });
        }
        match (attributes.find("cfa_array"), attributes.find(OBSOLETE)) {
            (Some(_), _) => Ok(DetectedScheme::Json { dimensions }),
            (None, Some(_)) => {
                Err(Error::unsupported(format!("{OBSOLETE}: aggregations of versions before CFA-0.4")))
            }
            (None, None) => Err(Error::malformed("a cfa_variable with neither cfa_group nor cfa_array")),
        }
    })
}

/// Whether attributes are those of an aggregated variable, validly described or not.
pub fn says_aggregated(attributes: &Attributes) -> bool {
    scheme(attributes).is_some()
}

/// Removes the attributes that describe aggregation.
pub(crate) fn hide_own(attributes: &mut Attributes) {
    for name in OWN {
        attributes.remove(name);
    }
    if role(attributes).is_some_and(|role| role.starts_with("cfa_")) {
        attributes.remove("cf_role");
    }
}

fn role(attributes: &Attributes) -> Option<String> {
    attributes.find("cf_role")?.as_text().map(|role| role.trim().to_owned())
}

/// The text of an attribute; one without values is empty.
fn text(attribute: &Attribute) -> Result<String> {
    if attribute.values.is_empty() {
        return Ok(String::new());
    }
    let text = attribute.as_text();
    text.ok_or_else(|| Error::malformed(format!("the attribute {} is not text", attribute.name)))
}
