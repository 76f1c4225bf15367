//! How the fragments of a variable are described, in any convention.
use crate::detect::Scheme;
use crate::index::Index;
use crate::subject::{Inner, Subject};
use crate::{cf, cfa04, cfa05};
use ncirrus_layout::{Result, Step, View};
use ncirrus_model::{GroupId, VarId};
use std::sync::Arc;

/// How the fragments of a variable are described.
#[derive(Debug)]
pub(crate) enum Description {
    /// CFA-0.6, drafts, CF-1.13.
    Terms(cf::Description),
    /// CFA-0.4.
    Json,
    /// CFA-0.5.
    Table(cfa05::Description),
}

impl Description {
    /// The description that a scheme makes.
    ///
    /// # Errors
    /// What is wrong with it as far as names, types and shapes tell.
    pub(crate) fn new(inner: &Inner, subject: &Subject, scheme: &Scheme) -> Result<Self> {
        match scheme {
            Scheme::Terms { data, .. } => {
                cf::Description::new(inner, subject, data.as_deref()).map(Self::Terms)
            }
            Scheme::Table { group, .. } => cfa05::Description::new(inner, subject, group).map(Self::Table),
            Scheme::Json { .. } => Ok(Self::Json),
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

    /// The variables and the group that are not for the reader.
    pub(crate) fn plumbing(&self) -> (Vec<VarId>, Option<GroupId>) {
        match self {
            Self::Terms(terms) => (terms.plumbing(), None),
            Self::Json => (Vec::new(), None),
            Self::Table(table) => (Vec::new(), Some(table.group())),
        }
    }

    /// What is ignored.
    pub(crate) fn warnings(&self, subject: &Subject) -> Vec<String> {
        match self {
            Self::Terms(terms) => terms.warnings(subject),
            Self::Json | Self::Table(_) => Vec::new(),
        }
    }

    /// Number of fragments, where the model tells.
    pub(crate) fn fragments(&self, inner: &Inner, subject: &Subject) -> Option<u64> {
        let shape = match self {
            Self::Terms(terms) => terms.shape(inner, subject),
            Self::Json => None,
            Self::Table(table) => Some(table.shape().to_vec()),
        }?;
        shape.iter().try_fold(1u64, |all, count| all.checked_mul(*count))
    }

    /// Where the fragments lie. Lengths of dimensions that nobody wrote are taken from the description.
    ///
    /// # Errors
    /// A need, or what is wrong with the description.
    pub(crate) fn index(
        &self,
        view: &dyn View,
        inner: &Inner,
        subject: &Arc<Subject>,
        lengths: &[Option<u64>],
    ) -> Step<Index> {
        match self {
            Self::Terms(terms) => terms.index(view, inner, subject, lengths),
            Self::Json => cfa04::index(view, inner, subject, lengths),
            Self::Table(table) => table.index(view, inner, subject, lengths),
        }
    }
}
