//! An aggregated variable, independent of how its fragments are described.
use ncirrus_layout::{Catalog, Error, Member};
use ncirrus_layout::{FragmentRules, Result, Step, View};
use ncirrus_model::{Attributes, GroupId, Model, NodeId, Values, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An aggregated variable, independent of how its fragments are described.
#[derive(Debug)]
pub(crate) struct AggregationSubject {
    /// The scalar variable that represents it.
    pub(crate) variable: VarId,
    pub(crate) path: String,
    pub(crate) group: GroupId,
    pub(crate) group_path: Arc<str>,
    /// The names of its dimensions.
    pub(crate) dimensions: Vec<String>,
    /// The value of missing elements.
    pub(crate) fill: Values,
    pub(crate) rules: Arc<FragmentRules>,
    pub(crate) choices: Arc<OpenChoices>,
}

/// The relevant options for opening.
#[derive(Debug)]
pub(crate) struct OpenChoices {
    pub(crate) lenient: bool,
    /// The values of `${NAME}`, by the name alone.
    pub(crate) substitutions: BTreeMap<String, String>,
}

/// The dataset with the descriptions, without aggregated variables.
#[derive(Debug, Clone)]
pub(crate) struct MasterDataset {
    pub(crate) catalog: Arc<dyn Catalog>,
    pub(crate) model: Arc<Model>,
}

impl MasterDataset {
    /// The attributes of variables, in one request.
    ///
    /// # Errors
    /// A need, or errors of reading any of them.
    pub(crate) fn attributes(&self, view: &dyn View, of: &[VarId]) -> Step<Vec<Attributes>> {
        let nodes: Vec<NodeId> = of.iter().map(|id| NodeId::Variable(*id)).collect();
        let attributes = self.catalog.attributes(view, &nodes)?;
        Ok(attributes.into_iter().collect::<Result<Vec<_>>>()?)
    }

    /// The variable that a name in an attribute of the subject refers to.
    ///
    /// # Errors
    /// `NotFound` if there is none.
    pub(crate) fn named(&self, subject: &AggregationSubject, name: &str) -> Result<VarId> {
        let found = crate::lookup::variable(&self.model, subject.group, name);
        found.ok_or_else(|| {
            Error::no_member(Member::Variable, format_args!("{name}, which describes the fragments"))
        })
    }
}

impl AggregationSubject {
    /// Number of dimensions.
    pub(crate) fn rank(&self) -> usize {
        self.dimensions.len()
    }

    /// Adds the variable to the errors of a step.
    ///
    /// # Errors
    /// Those of the step.
    pub(crate) fn locate<T>(&self, step: Step<T>) -> Step<T> {
        step.map_err(|stall| stall.map_error(|error| error.at_path(self.path.as_str())))
    }
}

/// A fragment, for messages.
pub(crate) fn fragment_error(index: &[u64], fact: &str) -> Error {
    Error::malformed(format!("fragment {index:?}: {fact}"))
}
