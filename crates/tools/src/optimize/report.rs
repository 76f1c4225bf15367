//! What became of a file.
use super::{PlannedVariable, TypicalReads};
use ncirrus::Error;
use serde_json::{Value, json};
use std::fmt;

/// What became of a file.
#[derive(Debug, Clone)]
pub struct OptimizedFile {
    /// Its address, as it was given.
    pub path: String,
    /// The file that was written, or would be; empty if there is none.
    pub target: String,
    /// What became of it.
    pub outcome: FileOutcome,
    /// Whether metadata were behind the first chunk.
    pub was_scattered: bool,
    /// What became of its variables; empty after a failure to plan.
    pub variables: Vec<PlannedVariable>,
    /// The cost of typical reads before and after; `None` if the file was not changed.
    pub reads: Option<(TypicalReads, TypicalReads)>,
    /// Its size in bytes before, and after if it is known.
    pub bytes: (u64, Option<u64>),
    /// What else there is to know, such as an owner that could not be kept.
    pub notes: Vec<String>,
}

/// The result for a file.
#[derive(Debug, Clone)]
pub enum FileOutcome {
    /// It was written, compared with the original, and has its name.
    Optimized,
    /// A dry run: it would be written.
    Planned,
    /// It fits the profile already, or is complete in the folder.
    Unchanged,
    /// Nothing was changed, because of this error.
    Failed(Error),
}

impl FileOutcome {
    /// The outcome as a word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Optimized => "optimized",
            Self::Planned => "planned",
            Self::Unchanged => "unchanged",
            Self::Failed(_) => "failed",
        }
    }
}

impl OptimizedFile {
    /// The report as JSON. Costs are pairs of requests and bytes.
    pub fn to_json(&self) -> Value {
        let variable = |variable: &PlannedVariable| {
            json!({
                "path": variable.path, "dims": variable.dims, "shape": variable.shape,
                "element_bytes": variable.element_bytes, "from": variable.from, "to": variable.to,
                "recoded": variable.recoded, "filters": variable.filters, "kept": variable.kept,
            })
        };
        let costs = |reads: &TypicalReads| {
            let rows =
                reads.rows().map(|(name, cost)| (name.replace(' ', "_"), json!([cost.requests, cost.bytes])));
            let mut object: serde_json::Map<String, Value> = rows.into_iter().collect();
            object.insert("variable".to_owned(), json!(reads.variable));
            object.insert("estimated".to_owned(), json!(reads.is_estimate));
            Value::Object(object)
        };
        let error = match &self.outcome {
            FileOutcome::Failed(error) => Some(error.to_string()),
            _ => None,
        };
        json!({
            "path": self.path,
            "target": self.target,
            "outcome": self.outcome.name(),
            "error": error,
            "was_scattered": self.was_scattered,
            "variables": self.variables.iter().map(variable).collect::<Vec<_>>(),
            "reads_before": self.reads.as_ref().map(|(before, _)| costs(before)),
            "reads_after": self.reads.as_ref().map(|(_, after)| costs(after)),
            "bytes_before": self.bytes.0,
            "bytes_after": self.bytes.1,
            "notes": self.notes,
        })
    }
}

impl fmt::Display for OptimizedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, bytes, .. } = self;
        match (&self.outcome, bytes.1) {
            (FileOutcome::Failed(error), _) => return writeln!(f, "{path}: failed: {error}"),
            (FileOutcome::Unchanged, _) => {
                let mut kept = self.variables.iter().filter(|variable| variable.kept.is_some()).peekable();
                let fits =
                    if kept.peek().is_some() { "what does not fit is kept" } else { "it fits the profile" };
                writeln!(f, "{path}: unchanged: {fits}")?;
                return kept.try_for_each(|variable| write!(f, "{variable}"));
            }
            (FileOutcome::Optimized, Some(after)) => {
                writeln!(f, "{path}: optimized: {} bytes, now {after}", bytes.0)?;
            }
            (outcome, _) => writeln!(f, "{path}: {}: {} bytes", outcome.name(), bytes.0)?,
        }
        let metadata = if self.was_scattered { "moved to the front" } else { "at the front already" };
        writeln!(f, "  metadata: {metadata}")?;
        for variable in self.variables.iter().filter(|variable| variable.recoded || variable.kept.is_some()) {
            write!(f, "{variable}")?;
        }
        let moved =
            self.variables.iter().filter(|variable| !variable.recoded && variable.kept.is_none()).count();
        if moved > 0 {
            writeln!(f, "  {moved} variables: moved as they are")?;
        }
        let Some((before, after)) = &self.reads else { return Ok(()) };
        let about = if after.is_estimate { ", about" } else { "" };
        writeln!(f, "  requests and bytes of reads of {}{about}:", name_of(&before.variable))?;
        for ((name, old), (_, new)) in before.rows().into_iter().zip(after.rows()) {
            let (requests, bytes) = (format!("{} -> {}", old.requests, new.requests), (old.bytes, new.bytes));
            writeln!(f, "    {name:<10}  {requests:<16}  {} -> {}", bytes.0, bytes.1)?;
        }
        Ok(())
    }
}

fn name_of(variable: &str) -> &str {
    if variable.is_empty() { "the file" } else { variable }
}

impl fmt::Display for PlannedVariable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |chunk: &Option<Vec<u64>>| {
            chunk.as_ref().map_or("not chunked".to_owned(), |chunk| format!("{chunk:?}"))
        };
        if let Some(reason) = &self.kept {
            return writeln!(f, "  {}: kept with chunks {}: {reason}", self.path, shown(&self.from));
        }
        write!(f, "  {}: rechunked from {} to {}", self.path, shown(&self.from), shown(&self.to))?;
        match &self.filters {
            Some(filters) if filters.is_empty() => writeln!(f, ", without filters"),
            Some(filters) => writeln!(f, ", with filters {}", filters.join(", ")),
            None => writeln!(f),
        }
    }
}
