//! One file: planned, written beside itself, compared, and put in place of the original.
use super::block_hashes::BlockHashes;
use super::plan::FilePlan;
use super::reads::TypicalReads;
use super::report::{FileOutcome, OptimizedFile};
use super::verify::verify;
use super::{OptimizeOptions, local_path};
use crate::aggregate::single_file_kind;
use crate::compare::{CompareOptions, compare};
use crate::overwrite::{self, WrittenForm};
use crate::profile::Conformity;
use crate::{CopyOptions, CopyReport, Progress, copy};
use ncirrus::internals::DatasetInternals;
use ncirrus::{CreateOptions, Dataset, Error, ErrorKind, OpenOptions, Result, Selection, Session, Values};
use ncirrus_model::Stored;
use ncirrus_store::{FileReplacement, OverwritePolicy, Url, path_text};
use std::fs::FileTimes;
use std::io;
use std::path::Path;

/// A file that is to be optimized.
pub(super) struct FileJob<'a> {
    pub(super) address: &'a str,
    pub(super) options: &'a OptimizeOptions<'a>,
    pub(super) session: &'a Session,
    pub(super) progress: &'a (dyn Fn(Progress<'_>) + Sync),
}

impl FileJob<'_> {
    /// Optimizes the file; a failure is part of the report.
    pub(super) fn run(&self) -> OptimizedFile {
        let mut report = OptimizedFile {
            path: self.address.to_owned(),
            target: String::new(),
            outcome: FileOutcome::Unchanged,
            was_scattered: false,
            variables: Vec::new(),
            reads: None,
            bytes: (0, None),
            notes: Vec::new(),
        };
        let outcome = self.optimize(&mut report);
        report.outcome = outcome.unwrap_or_else(FileOutcome::Failed);
        report
    }

    fn optimize(&self, report: &mut OptimizedFile) -> Result<FileOutcome> {
        let path = local_path(self.address)?;
        if path.is_dir() {
            let message = "is a folder: name the files in it";
            return Err(Error::invalid(message).at_object(path.display()));
        }
        let target = match &self.options.folder {
            Some(folder) => folder.join(path.file_name().unwrap_or_default()),
            None => path.clone(),
        };
        report.target = path_text::of_path(&target).into_owned();
        // As they are before the file is read here.
        let times = if self.options.times { Some(times_of(&path)?) } else { None };
        let source = self.open(self.address)?;
        report.bytes.0 = byte_len(&path)?;
        check_source(&source)?;
        let conformity = Conformity::examine(source.reader()?, &self.options.profile)?;
        let model = source.model()?;
        let plan = FilePlan::new(&model, &self.options.profile)?;
        report.was_scattered = conformity.is_scattered();
        report.variables.clone_from(&plan.variables);
        let is_needed = plan.changes() || conformity.is_scattered();
        if self.is_done(&source, &target, is_needed)? {
            return Ok(FileOutcome::Unchanged);
        }
        let before = TypicalReads::measure(self.address, None, self.session)?;
        if self.options.dry_run {
            if self.options.folder.is_none() {
                FileReplacement::check(&path)?;
            }
            let planned = plan.variables.iter().find(|variable| variable.path == before.variable);
            let after = before.estimated(&model, planned.and_then(|variable| variable.to.as_deref()));
            report.reads = Some((before, after));
            return Ok(FileOutcome::Planned);
        }
        let replacement = self.write(&source, (&path, &target), &plan, report)?;
        let new = replacement.path();
        report.bytes.1 = Some(byte_len(&new)?);
        let variable = Some(before.variable.as_str()).filter(|path| !path.is_empty());
        let after = TypicalReads::measure(&path_text::of_path(&new), variable, self.session)?;
        report.reads = Some((before, after));
        if !source.reader()?.is_current()? {
            return Err(Error::new(ErrorKind::Changed, "was changed meanwhile, and is kept")
                .at_object(path.display()));
        }
        let notes = replacement.commit(&path, times, self.session.store_context().options.durable)?;
        report.notes.extend(notes.into_iter().map(|note| format!("{}: {note}", target.display())));
        Ok(FileOutcome::Optimized)
    }

    fn open(&self, address: &str) -> Result<Dataset> {
        Dataset::open_with(address, &OpenOptions::default(), self.session)
    }

    /// Whether there is nothing to do: the file fits, or its copy in the folder is complete.
    ///
    /// # Errors
    /// `Conflict` if there is something else in the folder.
    fn is_done(&self, source: &Dataset, target: &Path, is_needed: bool) -> Result<bool> {
        if self.options.folder.is_none() {
            return Ok(!is_needed);
        }
        if self.options.overwrite || !target.exists() {
            return Ok(false);
        }
        let exists = || {
            let message =
                "exists already and is not the optimized file: allow to overwrite it, or move it away";
            Error::new(ErrorKind::Conflict, message).at_object(target.display())
        };
        let there = self.open(&path_text::of_path(target)).map_err(|_| exists())?;
        let everything = CompareOptions::new().order(true).ignore([] as [String; 0]);
        let fits = !Conformity::examine(there.reader()?, &self.options.profile)?.is_scattered()
            && !FilePlan::new(there.model()?.as_ref(), &self.options.profile)?.changes()
            && check_source(&there).is_ok()
            && compare(source, &there, &everything)?.is_same();
        if fits { Ok(true) } else { Err(exists()) }
    }

    /// Writes the file beside its target and compares it with the source.
    fn write(
        &self,
        source: &Dataset,
        (path, target): (&Path, &Path),
        plan: &FilePlan,
        report: &mut OptimizedFile,
    ) -> Result<FileReplacement> {
        let replacement = match (&self.options.folder, self.options.overwrite) {
            (None, _) => FileReplacement::of(path)?,
            (Some(_), false) => FileReplacement::new_at(target, OverwritePolicy::Never)?,
            (Some(_), true) => {
                self.check_replaced(target)?;
                FileReplacement::new_at(target, OverwritePolicy::Replace)?
            }
        };
        let new = replacement.path();
        let address = path_text::of_path(&new).into_owned();
        if Url::parse(&address)?.whole_path().is_some() {
            let message = "has a name or a folder of which a part would be taken for a fragment: rename it";
            return Err(Error::unsupported(message).at_object(target.display()));
        }
        let (mut found, hashes) = (None, BlockHashes::default());
        // The space at the front is computed from the definitions; more is reserved if that was too little.
        for reserve in RESERVES {
            hashes.clear();
            self.copy(source, &new, reserve, plan, &hashes)?;
            let copied = self.open(&address)?;
            let conformity = Conformity::examine(copied.reader()?, &self.options.profile)?;
            let is_scattered = conformity.is_scattered();
            found = Some((copied, conformity));
            if !is_scattered {
                break;
            }
        }
        let (copied, remaining) = found.ok_or_else(|| Error::internal("nothing was copied"))?;
        if remaining.is_scattered() {
            let message = "its metadata do not fit at the front of the file; it is kept";
            return Err(Error::unsupported(message).at_object(path.display()));
        }
        verify(source, &copied, &plan.variables, &hashes)?;
        let is_kept = |path: &str| {
            plan.variables.iter().any(|variable| variable.path == path && variable.kept.is_some())
        };
        let faults = remaining.faults.into_iter().filter(|fault| !is_kept(&fault.path));
        report
            .notes
            .extend(faults.map(|fault| format!("{}: {} {}", target.display(), fault.path, fault.message)));
        Ok(replacement)
    }

    /// Refuses to replace what is not a dataset, and files that are not in the folder.
    fn check_replaced(&self, target: &Path) -> Result<()> {
        let Ok(metadata) = target.symlink_metadata() else { return Ok(()) };
        if metadata.is_symlink() {
            return Err(Error::new(ErrorKind::Conflict, "is a link, and is kept").at_object(target.display()));
        }
        let there = path_text::of_path(target);
        overwrite::check(&there, std::iter::empty(), WrittenForm::Dataset, true, self.session)
    }

    fn copy(
        &self,
        source: &Dataset,
        new: &Path,
        reserve: Option<u64>,
        plan: &FilePlan,
        hashes: &BlockHashes,
    ) -> Result<()> {
        let kind = single_file_kind(source).ok_or_else(|| Error::internal("a file of no kind"))?;
        let mut options = CopyOptions::new()
            .create(CreateOptions::new().kind(kind).reserve(reserve).overwrite(true))
            .progress(self.progress);
        options.prescribed = Some(plan.prescribed.clone());
        // Their bytes are compared afterwards.
        options.pass_unchecked = true;
        let observe = |var, selection: &Selection, values: &Values| hashes.note(var, selection, values);
        options.observe = Some(&observe);
        let CopyReport { left_out, losses, .. } =
            copy(source, &path_text::of_path(new), &options, self.session)?;
        let lost = left_out.iter().map(ToString::to_string).chain(losses).next();
        match lost {
            Some(lost) => Err(Error::unsupported(format!("cannot be rewritten without loss: {lost}"))),
            None => Ok(()),
        }
    }
}

/// Refuses a file of which something would be lost.
fn check_source(source: &Dataset) -> Result<()> {
    let kind = source.kind();
    if kind.stored != Stored::Hdf5 {
        let message =
            format!("is {kind}, and only netCDF-4 files are optimized: `ncirrus copy -k nc4` converts it");
        return Err(Error::unsupported(message));
    }
    let facts = source.facts();
    if let Some(bytes) = facts.user_block_bytes {
        return Err(Error::unsupported(format!(
            "{bytes} bytes before the beginning of the HDF5 file would be lost"
        )));
    }
    if let Some(bytes) = facts.missing_bytes {
        return Err(Error::malformed(format!("the file is {bytes} bytes shorter than its header states")));
    }
    let left_out = source.left_out()?.first().map(ToString::to_string);
    match left_out.or(facts.unshown) {
        Some(lost) => Err(Error::unsupported(format!("cannot be rewritten without loss: {lost}"))),
        None => Ok(()),
    }
}

fn times_of(path: &Path) -> Result<FileTimes> {
    let at = |error: io::Error| ncirrus_store::fault::of_io(error, path.display());
    let metadata = std::fs::metadata(path).map_err(at)?;
    Ok(FileTimes::new()
        .set_accessed(metadata.accessed().map_err(at)?)
        .set_modified(metadata.modified().map_err(at)?))
}

fn byte_len(path: &Path) -> Result<u64> {
    let metadata =
        std::fs::metadata(path).map_err(|error| ncirrus_store::fault::of_io(error, path.display()))?;
    Ok(metadata.len())
}

/// The space at the front of a file that is reserved in turn until its metadata fit; first what the format computes.
const RESERVES: [Option<u64>; 4] = [None, Some(1 << 20), Some(16 << 20), Some(128 << 20)];
