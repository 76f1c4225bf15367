//! What is compared, and what counts as the same.
use ncirrus::{Dataset, Error, Result, Selection, VariableSelect};
use std::collections::HashSet;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum CompareScope {
    /// Definitions and values.
    #[default]
    All,
    /// Values only; variables that only one dataset has are a difference, too.
    Data,
    /// Definitions only: nothing of the values is read.
    Definitions,
}

/// How two datasets are compared. Without tolerances, numbers are the same when they are equal; with several, when they
/// are within any of them.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompareOptions {
    /// The largest absolute difference of numbers that are the same.
    pub tolerance: Option<f64>,
    /// The largest difference of numbers that are the same, in relation to the larger magnitude of the two.
    pub relative: Option<f64>,
    /// How many representable numbers of their type may lie between numbers that are the same.
    pub ulps: Option<u64>,
    /// What is compared.
    pub scope: CompareScope,
    /// Names or paths of the variables that are compared; all of them when there are none here and in `groups`.
    pub variables: Vec<String>,
    /// Paths of groups whose variables, and those of the groups in them, are compared.
    pub groups: Vec<String>,
    /// Parts of variables: of these, other elements are not compared.
    pub select: Vec<VariableSelect>,
    /// Names of attributes that are not compared.
    pub ignore: Vec<String>,
    /// Whether another order of variables, dimensions, attributes, types or groups is a difference.
    pub order: bool,
    /// Compare what packed values stand for, as decoded by `scale_factor`, `add_offset` and the attributes of missing values.
    pub unpacked: bool,
    /// How many differing elements of each variable are listed.
    pub first: usize,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            tolerance: None,
            relative: None,
            ulps: None,
            scope: CompareScope::All,
            variables: Vec::new(),
            groups: Vec::new(),
            select: Vec::new(),
            ignore: ["history", "_NCProperties"].map(str::to_owned).to_vec(),
            order: false,
            unpacked: false,
            first: 1,
        }
    }
}

impl CompareOptions {
    /// The defaults: everything but the attributes `history` and `_NCProperties`, exactly.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The largest absolute difference of numbers that are the same.
    #[must_use]
    pub fn tolerance(mut self, tolerance: impl Into<Option<f64>>) -> Self {
        self.tolerance = tolerance.into();
        self
    }

    /// The largest difference of numbers that are the same, in relation to the larger magnitude of the two.
    #[must_use]
    pub fn relative(mut self, relative: impl Into<Option<f64>>) -> Self {
        self.relative = relative.into();
        self
    }

    /// How many representable numbers of their type may lie between numbers that are the same.
    #[must_use]
    pub fn ulps(mut self, ulps: impl Into<Option<u64>>) -> Self {
        self.ulps = ulps.into();
        self
    }

    /// What is compared.
    #[must_use]
    pub fn scope(mut self, scope: CompareScope) -> Self {
        self.scope = scope;
        self
    }

    /// Names or paths of the variables that are compared.
    #[must_use]
    pub fn variables(mut self, variables: impl IntoIterator<Item = String>) -> Self {
        self.variables = variables.into_iter().collect();
        self
    }

    /// Paths of groups whose variables are compared.
    #[must_use]
    pub fn groups(mut self, groups: impl IntoIterator<Item = String>) -> Self {
        self.groups = groups.into_iter().collect();
        self
    }

    /// Parts of variables: of these, other elements are not compared.
    #[must_use]
    pub fn select(mut self, select: impl IntoIterator<Item = VariableSelect>) -> Self {
        self.select = select.into_iter().collect();
        self
    }

    /// Names of attributes that are not compared.
    #[must_use]
    pub fn ignore(mut self, ignore: impl IntoIterator<Item = String>) -> Self {
        self.ignore = ignore.into_iter().collect();
        self
    }

    /// Whether another order of members is a difference.
    #[must_use]
    pub fn order(mut self, order: bool) -> Self {
        self.order = order;
        self
    }

    /// Compare what packed values stand for.
    #[must_use]
    pub fn unpacked(mut self, unpacked: bool) -> Self {
        self.unpacked = unpacked;
        self
    }

    /// How many differing elements of each variable are listed.
    #[must_use]
    pub fn first(mut self, first: usize) -> Self {
        self.first = first;
        self
    }

    /// Whether only some variables are compared.
    pub(super) fn is_partial(&self) -> bool {
        !self.variables.is_empty() || !self.groups.is_empty() || !self.select.is_empty()
    }

    /// Paths of the variables that are compared: those of the first dataset, then those that only the second has.
    pub(super) fn chosen(&self, first: &Dataset, second: &Dataset) -> Result<Vec<String>> {
        self.check_tolerances()?;
        let mut known = HashSet::new();
        let both = first.variables().into_iter().chain(second.variables()).map(|variable| variable.path());
        let all: Vec<String> = both.filter(|path| known.insert(path.clone())).collect();
        if !self.is_partial() {
            return Ok(all);
        }
        let selected = self.select.iter().map(|select| &select.path);
        for name in self.variables.iter().chain(selected) {
            if !all.iter().any(|path| is_named(path, name)) {
                return Err(
                    Error::not_found(format!("neither dataset has a variable {name:?}")).at_path(name)
                );
            }
        }
        for group in &self.groups {
            if first.group(group).is_err() && second.group(group).is_err() {
                return Err(Error::not_found(format!("neither dataset has a group {group:?}")).at_path(group));
            }
        }
        Ok(all.into_iter().filter(|path| self.is_chosen(path)).collect())
    }

    fn is_chosen(&self, path: &str) -> bool {
        let selected = self.select.iter().map(|select| &select.path);
        self.variables.iter().chain(selected).any(|name| is_named(path, name))
            || self.groups.iter().any(|group| {
                let group = group.trim_matches('/');
                group.is_empty()
                    || path.strip_prefix('/').is_some_and(|path| path.starts_with(&format!("{group}/")))
            })
    }

    fn check_tolerances(&self) -> Result<()> {
        let bad = |number: Option<f64>| number.filter(|number| number.is_nan() || *number < 0.0);
        match bad(self.tolerance).or(bad(self.relative)) {
            Some(number) => {
                Err(Error::invalid(format!("a tolerance must be a number of at least 0, not {number}")))
            }
            None => Ok(()),
        }
    }

    /// The elements of a variable that are compared.
    pub(super) fn selection(&self, path: &str, shape: &[u64]) -> Result<Selection> {
        match self.select.iter().find(|select| is_named(path, &select.path)) {
            Some(select) => select.resolve(shape),
            None => Ok(Selection::all(shape)),
        }
    }
}

/// Whether a path is meant by a name: the path itself, or the simple name of a variable in any group.
fn is_named(path: &str, name: &str) -> bool {
    if name.contains('/') {
        path.trim_start_matches('/') == name.trim_start_matches('/')
    } else {
        path.rsplit('/').next() == Some(name)
    }
}
