//! What differs between two datasets.
use ncirrus::LeftOut;
use serde_json::{Value, json};
use std::fmt;

/// What a comparison found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ComparisonReport {
    /// What differs in groups, types, dimensions, variables and attributes.
    pub definitions: Vec<DefinitionDifference>,
    /// The values of each variable that was compared.
    pub variables: Vec<VariableComparison>,
    /// What one of the datasets has and cannot give, which was not compared.
    pub left_out: Vec<LeftOut>,
}

/// A difference in the definitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionDifference {
    /// Path of the member; of an attribute `/variable:attribute`, or `/group/:attribute`.
    pub path: String,
    /// What differs: `group`, `type`, `dimension`, `variable`, `attribute`, `dimensions` (of a variable), `order`.
    pub aspect: &'static str,
    /// What the first dataset has; `None` when the member is not there.
    pub first: Option<String>,
    /// What the second dataset has.
    pub second: Option<String>,
}

/// How the values of a variable compare.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VariableComparison {
    /// Path of the variable.
    pub path: String,
    /// Why the values were not compared, when they cannot be; that is a difference.
    pub skipped: Option<String>,
    /// Elements that were compared.
    pub compared: u64,
    /// Elements whose values differ, those of the next two kinds aside.
    pub differing: u64,
    /// Elements that are NaN in one dataset only.
    pub nan: u64,
    /// Elements that are missing (the fill value) in one dataset only.
    pub missing: u64,
    /// The first elements that differ in any of these ways, in row-major order: as many as were asked for.
    pub elements: Vec<DifferentElement>,
    /// The largest absolute difference of two numbers.
    pub max_absolute: f64,
    /// The largest difference of two numbers in relation to the larger magnitude of both.
    pub max_relative: f64,
    /// The root of the mean square difference, over all elements compared.
    pub rms: f64,
}

/// An element with different values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferentElement {
    /// Its index in the variable, one number per dimension.
    pub index: Vec<u64>,
    /// Its value in the first dataset.
    pub first: String,
    /// Its value in the second dataset.
    pub second: String,
}

impl ComparisonReport {
    /// Whether nothing differs. What neither dataset can give was not compared: see [`left_out`](Self::left_out).
    pub fn is_same(&self) -> bool {
        self.definitions.is_empty() && self.variables.iter().all(VariableComparison::is_same)
    }

    /// The report as JSON.
    pub fn to_json(&self) -> Value {
        json!({
            "same": self.is_same(),
            "definitions": self.definitions.iter().map(DefinitionDifference::to_json).collect::<Vec<_>>(),
            "variables": self.variables.iter().map(VariableComparison::to_json).collect::<Vec<_>>(),
            "left_out": self.left_out.iter().map(LeftOut::to_json).collect::<Vec<_>>(),
        })
    }
}

impl fmt::Display for ComparisonReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.definitions.iter().try_for_each(|difference| writeln!(f, "{difference}"))?;
        self.variables
            .iter()
            .filter(|variable| !variable.is_same())
            .try_for_each(|variable| write!(f, "{variable}"))
    }
}

impl DefinitionDifference {
    fn to_json(&self) -> Value {
        json!({"path": self.path, "aspect": self.aspect, "first": self.first, "second": self.second})
    }
}

impl fmt::Display for DefinitionDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, aspect, first, second } = self;
        match (first, second) {
            (Some(first), Some(second)) => write!(f, "{path}: {aspect}: {first} | {second}"),
            (Some(first), None) => write!(f, "{path}: {aspect} only in the first dataset: {first}"),
            (None, Some(second)) => write!(f, "{path}: {aspect} only in the second dataset: {second}"),
            (None, None) => write!(f, "{path}: {aspect}"),
        }
    }
}

impl VariableComparison {
    /// A variable whose values cannot be compared.
    pub(super) fn skipped(path: &str, reason: &str) -> Self {
        Self { path: path.to_owned(), skipped: Some(reason.to_owned()), ..Self::default() }
    }

    /// Whether all values are the same.
    pub fn is_same(&self) -> bool {
        self.skipped.is_none() && self.differing == 0 && self.nan == 0 && self.missing == 0
    }

    fn to_json(&self) -> Value {
        let element = |element: &DifferentElement| json!({"index": element.index, "first": element.first, "second": element.second});
        json!({
            "path": self.path, "same": self.is_same(), "skipped": self.skipped, "compared": self.compared,
            "differing": self.differing, "nan": self.nan, "missing": self.missing,
            "elements": self.elements.iter().map(element).collect::<Vec<_>>(),
            "max_absolute": self.max_absolute, "max_relative": self.max_relative, "rms": self.rms,
        })
    }
}

impl fmt::Display for VariableComparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        if let Some(reason) = &self.skipped {
            return writeln!(f, "{path}: values were not compared: {reason}");
        }
        let Self { differing, nan, missing, compared, .. } = self;
        write!(f, "{path}: {differing} of {compared} values differ")?;
        if self.max_absolute > 0.0 {
            let Self { max_absolute, max_relative, rms, .. } = self;
            write!(f, ", by at most {max_absolute:e} (relative {max_relative:e}, RMS {rms:e})")?;
        }
        if *nan > 0 {
            write!(f, "; {nan} are NaN on one side only")?;
        }
        if *missing > 0 {
            write!(f, "; {missing} are missing on one side only")?;
        }
        writeln!(f)?;
        self.elements.iter().try_for_each(|element| {
            let index = element.index.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
            writeln!(f, "  {path}[{index}]: {} | {}", element.first, element.second)
        })
    }
}
