//! Whether a dataset is sound: everything that it stores is there, consistent and decodes.
mod boxes;
mod cf;
mod conventions;
mod data;
mod definitions;
mod digest;
mod fragments;
mod objects;
mod options;
mod profile;
mod report;
mod shards;
mod spans;
mod storage;
#[cfg(test)]
mod tests;

pub use options::{CheckOptions, CheckPlan, CheckProgress};
pub use report::{AbsentChunks, CheckFinding, CheckReport, FindingCode, Severity, VariableDigest};

use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Error, ErrorKind, Model, ObjectId, Result, Selection, Session, Variable};
use objects::StoredObjects;
use report::Findings;
use spans::SpanMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Checks the dataset at an address: its definitions, where its chunks are stored, what they decode to, and the objects
/// that belong to none of its members. Nothing is written. Values are read chunk by chunk on all threads of the session,
/// within its memory.
///
/// Damage is a finding of the report, not an error: a dataset that cannot be opened because it is damaged has one.
///
/// # Errors
/// When the dataset does not exist, cannot be reached or is not supported; when input fails, or an object changes
/// meanwhile.
pub fn check(url: &str, options: &CheckOptions<'_>, session: &Session) -> Result<CheckReport> {
    if let Some(profile) = &options.profile {
        return profile::check(url, profile, &options.open, session);
    }
    let dataset = match Dataset::open_with(url, &options.open, session) {
        Ok(dataset) => dataset,
        Err(error) => return unreadable(error),
    };
    DatasetCheck::new(&dataset, options)?.run(url, session)
}

/// The report about a dataset that is damaged so that it cannot be opened; other errors are returned.
fn unreadable(error: Error) -> Result<CheckReport> {
    if error.kind() != ErrorKind::Malformed {
        return Err(error);
    }
    let mut findings = Findings::default();
    findings.add_error(FindingCode::DatasetUnreadable, "/", &error);
    Ok(CheckReport { findings: findings.list, ..CheckReport::default() })
}

/// A check of an open dataset.
struct DatasetCheck<'a> {
    dataset: &'a Dataset,
    model: Arc<Model>,
    options: &'a CheckOptions<'a>,
    findings: Findings,
    spans: SpanMap,
    /// Where the variables that were checked are described.
    places: BTreeSet<(ObjectId, u64)>,
    report: CheckReport,
}

impl<'a> DatasetCheck<'a> {
    fn new(dataset: &'a Dataset, options: &'a CheckOptions<'a>) -> Result<Self> {
        Ok(Self {
            dataset,
            model: dataset.model()?,
            options,
            findings: Findings::default(),
            spans: SpanMap::default(),
            places: BTreeSet::new(),
            report: CheckReport { format: dataset.kind().to_string(), ..CheckReport::default() },
        })
    }

    fn run(mut self, url: &str, session: &Session) -> Result<CheckReport> {
        let variables = self.readable_variables();
        self.report.variables = variables.len() as u64;
        self.report_plan(&variables)?;
        definitions::check(self.dataset, &self.model, &mut self.findings)?;
        conventions::check(self.dataset, &self.model, url, self.options, session, &mut self.findings)?;
        let mut objects = StoredObjects::new(self.dataset, url, session)?;
        for variable in &variables {
            self.check_storage(variable, &mut objects)?;
        }
        if self.spans.is_full() {
            let message = "the chunks are stored in too many places to check all of them for overlaps";
            self.findings.note(FindingCode::LimitReached, Severity::Warning, "/", message);
        }
        definitions::check_unlimited(self.dataset, &self.model, &variables, &mut self.findings)?;
        objects.check_unnamed(&self.model, &mut self.findings);
        if self.options.cf {
            cf::check(self.dataset, &self.model, self.options.quick, &mut self.findings)?;
        }
        if !self.options.quick {
            objects.check_zip(session, &mut self.findings)?;
            self.read_all(&variables)?;
        }
        self.report.omitted = self.findings.omitted;
        self.report.findings = self.findings.list;
        Ok(self.report)
    }

    /// The variables whose values can be read as far as their description says.
    fn readable_variables(&self) -> Vec<Variable> {
        self.dataset.variables().into_iter().filter(|variable| variable.fault().is_none()).collect()
    }

    /// Reports what reading will take, where that is a matter of requests.
    fn report_plan(&self, variables: &[Variable]) -> Result<()> {
        let Some(report) = self.options.plan else { return Ok(()) };
        if self.dataset.reader()?.store().local().is_some() {
            return Ok(());
        }
        let mut plan = CheckPlan::default();
        if !self.options.quick {
            for variable in variables.iter().filter(|variable| !variable.is_aggregated()) {
                match self.dataset.plan(variable, &Selection::all(&variable.shape())) {
                    Ok(part) => plan.add(&part),
                    Err(error) if is_of_data(&error) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        report(&plan);
        Ok(())
    }

    fn check_storage(&mut self, variable: &Variable, objects: &mut StoredObjects) -> Result<()> {
        let path = variable.path();
        // A link to a variable that was checked already has the same bytes.
        if let Some(place) = self.dataset.reader()?.catalog().description_place(variable.id())
            && !self.places.insert(place)
        {
            return Ok(());
        }
        let outcome = if variable.is_aggregated() {
            fragments::check(variable, &mut self.findings)
        } else {
            storage::StorageCheck {
                dataset: self.dataset,
                findings: &mut self.findings,
                spans: &mut self.spans,
                report: &mut self.report,
                objects,
                lists_absent: self.options.absent,
            }
            .run(variable)
        };
        self.settle(&path, outcome)
    }

    fn read_all(&mut self, variables: &[Variable]) -> Result<()> {
        let elements = |variable: &Variable| Selection::all(&variable.shape()).element_count().unwrap_or(0);
        let total = variables.iter().map(elements).fold(0u64, u64::saturating_add);
        let mut done = 0u64;
        for variable in variables {
            let path = variable.path();
            let show = |read: u64| {
                if let Some(progress) = self.options.progress {
                    progress(CheckProgress { variable: &path, done: done.saturating_add(read), total });
                }
            };
            // A run of values that ends outside of its object may be of any length: it has been reported already.
            let is_cut_off = self.findings.list.iter().any(|finding| {
                finding.code == FindingCode::OutsideObject && finding.chunk.is_none() && finding.place == path
            });
            if is_cut_off {
                if self.options.digest {
                    self.report.digests.push(VariableDigest { path, sha256: None });
                }
                continue;
            }
            let outcome =
                data::ValueCheck::new(variable, self.options.digest, &show, &mut self.findings).run();
            let read = match outcome {
                Ok(read) => read,
                Err(error) => {
                    self.settle(&path, Err(error))?;
                    data::ValuesRead::default()
                }
            };
            done = done.saturating_add(elements(variable));
            self.report.bytes = self.report.bytes.saturating_add(read.bytes);
            if self.options.digest {
                self.report.digests.push(VariableDigest { path, sha256: read.digest });
            }
        }
        Ok(())
    }

    /// Makes a finding of an error that is about the data.
    fn settle(&mut self, path: &str, outcome: Result<()>) -> Result<()> {
        match outcome {
            Err(error) if is_of_data(&error) => {
                self.findings.add_error(report::code_of(&error), path, &error);
                Ok(())
            }
            outcome => outcome,
        }
    }
}

/// Whether an error says something about the dataset, and nothing about how it was reached.
fn is_of_data(error: &Error) -> bool {
    use ErrorKind::{Limit, Malformed, Missing, NotFound, Unsupported};
    matches!(error.kind(), Malformed | Missing | NotFound | Unsupported | Limit)
}
