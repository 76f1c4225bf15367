//! How the fragments of a variable are described, in any convention.
use crate::detect::DetectedScheme;
use crate::index::FragmentIndex;
use crate::subject::{AggregationSubject, MasterDataset};
use crate::{cf, cfa04, cfa05};
use ncirrus_layout::{Result, Step, View};
use ncirrus_model::{GroupId, VarId};
use std::sync::Arc;

/// How the fragments of a variable are described.
#[derive(Debug)]
pub(crate) enum FragmentDescription {
    /// CFA-0.6, drafts, CF-1.13.
    Terms(cf::CfDescription),
    /// CFA-0.4.
    Json,
    /// CFA-0.5.
    Table(cfa05::Cfa05Description),
}

impl FragmentDescription {
    /// The description for a scheme.
    ///
    /// # Errors
    /// Errors in it, as far as names, types and shapes show.
    pub(crate) fn new(
        inner: &MasterDataset,
        subject: &AggregationSubject,
        scheme: &DetectedScheme,
    ) -> Result<Self> {
        match scheme {
            DetectedScheme::Terms { data, .. } => {
                cf::CfDescription::new(inner, subject, data.as_deref()).map(Self::Terms)
            }
            DetectedScheme::Table { group, .. } => {
                cfa05::Cfa05Description::new(inner, subject, group).map(Self::Table)
            }
            DetectedScheme::Json { .. } => Ok(Self::Json),
        }
    }

    /// The convention, as `Conventions` would name it.
    pub(crate) fn convention(&self) -> &'static str {
        match self {
            Self::Terms(terms) => terms.convention(),
            Self::Json => "CFA-0.4",
            Self::Table(_) => "CFA-0.5",
        }
    }

    /// The variables and the group to hide from the reader.
    pub(crate) fn plumbing(&self) -> (Vec<VarId>, Option<GroupId>) {
        match self {
            Self::Terms(terms) => (terms.plumbing(), None),
            Self::Json => (Vec::new(), None),
            Self::Table(table) => (Vec::new(), Some(table.group())),
        }
    }

    /// What is ignored.
    pub(crate) fn warnings(&self, subject: &AggregationSubject) -> Vec<String> {
        match self {
            Self::Terms(terms) => terms.warnings(subject),
            Self::Json | Self::Table(_) => Vec::new(),
        }
    }

    /// Number of fragments, if the model determines it.
    pub(crate) fn fragments(&self, inner: &MasterDataset, subject: &AggregationSubject) -> Option<u64> {
        let shape = match self {
            Self::Terms(terms) => terms.shape(inner, subject),
            Self::Json => None,
            Self::Table(table) => Some(table.shape().to_vec()),
        }?;
        shape.iter().try_fold(1u64, |all, count| all.checked_mul(*count))
    }

    /// The locations of the fragments. Lengths of dimensions without written data are taken from the description.
    ///
    /// # Errors
    /// A need, or errors in the description.
    pub(crate) fn index(
        &self,
        view: &dyn View,
        inner: &MasterDataset,
        subject: &Arc<AggregationSubject>,
        lengths: &[Option<u64>],
    ) -> Step<FragmentIndex> {
        match self {
            Self::Terms(terms) => terms.index(view, inner, subject, lengths),
            Self::Json => cfa04::index(view, inner, subject, lengths),
            Self::Table(table) => table.index(view, inner, subject, lengths),
        }
    }
}
