//! Storing netCDF-4 files so that few requests read them, in place or beside: chunks of a useful size, metadata at the front.
mod block_hashes;
mod file;
mod plan;
mod reads;
mod report;
mod verify;

pub use plan::PlannedVariable;
pub use reads::{ReadCost, TypicalReads};
pub use report::{FileOutcome, OptimizedFile};

use crate::{Profile, Progress};
use file::FileJob;
use ncirrus::{Error, Result, Session};
use ncirrus_layout::LockExt;
use ncirrus_store::{Scheme, Url, fault, path_text};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How files are optimized.
#[derive(Clone)]
#[non_exhaustive]
pub struct OptimizeOptions<'a> {
    /// How the variables are to be stored.
    pub profile: Profile,
    /// The folder in which the files are written under their names; `None`: they replace the originals.
    pub folder: Option<PathBuf>,
    /// Whether files in `folder` are replaced. Otherwise those that are complete are skipped, and others are errors.
    pub overwrite: bool,
    /// Files that are processed at once. Each uses all threads and up to the memory of the session.
    pub jobs: usize,
    /// Only plan.
    pub dry_run: bool,
    /// Whether the files keep their times of access and modification.
    pub times: bool,
    /// Receives the result of each file when it is done.
    pub done: Option<&'a (dyn Fn(&OptimizedFile) + Sync)>,
    /// Receives how far the files are.
    pub progress: Option<&'a (dyn Fn(OptimizeProgress<'_>) + Sync)>,
}

/// How far a file is.
#[derive(Debug, Clone, Copy)]
pub struct OptimizeProgress<'a> {
    /// Path of the file.
    pub file: &'a str,
    /// Files that are done.
    pub files_done: usize,
    /// Files that were named.
    pub files: usize,
    /// Elements copied so far, of the file.
    pub copied: Progress<'a>,
}

impl Default for OptimizeOptions<'_> {
    fn default() -> Self {
        Self {
            profile: Profile::cloud(),
            folder: None,
            overwrite: false,
            jobs: 1,
            dry_run: false,
            times: false,
            done: None,
            progress: None,
        }
    }
}

impl<'a> OptimizeOptions<'a> {
    /// The defaults: the profile `cloud`, in place.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How the variables are to be stored.
    #[must_use]
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = profile;
        self
    }

    /// The folder in which the files are written.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<Option<PathBuf>>) -> Self {
        self.folder = folder.into();
        self
    }

    /// Whether files in the folder are replaced.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Files that are processed at once, at least 1.
    #[must_use]
    pub fn jobs(mut self, jobs: usize) -> Self {
        self.jobs = jobs.max(1);
        self
    }

    /// Only plan.
    #[must_use]
    pub fn dry_run(mut self, dry_run: bool) -> Self {
        self.dry_run = dry_run;
        self
    }

    /// Whether the files keep their times.
    #[must_use]
    pub fn times(mut self, times: bool) -> Self {
        self.times = times;
        self
    }

    /// Receives the result of each file when it is done.
    #[must_use]
    pub fn done(mut self, done: &'a (dyn Fn(&OptimizedFile) + Sync)) -> Self {
        self.done = Some(done);
        self
    }

    /// Receives how far the files are.
    #[must_use]
    pub fn progress(mut self, progress: &'a (dyn Fn(OptimizeProgress<'_>) + Sync)) -> Self {
        self.progress = Some(progress);
        self
    }
}

/// Stores netCDF-4 files of this machine as a profile requires. A file is written beside itself, compared with the original,
/// and then replaces it atomically; files that fit already are not changed, so an interrupted list can be started again. No
/// value, attribute or definition changes, and no filter unless the profile has rules for filters.
///
/// The result has one entry for each file, in the order of `paths` without repetitions. A file that fails is
/// [`FileOutcome::Failed`], is kept as it was, and does not keep the others from being processed.
///
/// # Errors
/// `Invalid` if two files would have the same name in the folder, or if the folder cannot be used.
pub fn optimize(
    paths: &[String],
    options: &OptimizeOptions<'_>,
    session: &Session,
) -> Result<Vec<OptimizedFile>> {
    let mut known = BTreeSet::new();
    let files: Vec<&String> = paths.iter().filter(|path| known.insert(identity(path))).collect();
    check_folder(&files, options)?;
    let (next, finished) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let results: Vec<Mutex<Option<OptimizedFile>>> = files.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some((path, slot)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            files.get(at).zip(results.get(at))
        } {
            let show = |copied: Progress<'_>| {
                if let Some(progress) = options.progress {
                    let (files_done, files) = (finished.load(Ordering::Relaxed), files.len());
                    progress(OptimizeProgress { file: path, files_done, files, copied });
                }
            };
            let file = FileJob { address: path, options, session, progress: &show }.run();
            finished.fetch_add(1, Ordering::Relaxed);
            if let Some(done) = options.done {
                done(&file);
            }
            *slot.guard() = Some(file);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.jobs.min(files.len()) {
            scope.spawn(work);
        }
        work();
    });
    let results = results.into_iter().map(|slot| slot.guard().take());
    results.collect::<Option<_>>().ok_or_else(|| Error::internal("a file without a result"))
}

/// What makes two names those of one file.
fn identity(address: &str) -> PathBuf {
    let path = local_path(address).unwrap_or_else(|_| PathBuf::from(address));
    std::fs::canonicalize(&path).unwrap_or(path)
}

/// The path of a local file.
///
/// # Errors
/// `Unsupported` for an address that is not one of this machine, `Invalid` for one that is not valid.
fn local_path(address: &str) -> Result<PathBuf> {
    let url = Url::parse(address)?;
    if url.scheme() != Scheme::File {
        let message = "is not a file of this machine: copy it here, optimize it and copy it back";
        return Err(Error::unsupported(message).at_object(url));
    }
    // As when it is opened, a file with the whole name comes first.
    let whole = url.whole_path().map(path_text::to_path).filter(|path| path.symlink_metadata().is_ok());
    Ok(whole.unwrap_or_else(|| path_text::to_path(url.path())).into_owned())
}

/// Whether all files can be written to the folder, which is made if it does not exist.
fn check_folder(files: &[&String], options: &OptimizeOptions<'_>) -> Result<()> {
    let Some(folder) = &options.folder else { return Ok(()) };
    let is_new = folder.symlink_metadata().is_err();
    if !is_new && !folder.is_dir() {
        return Err(Error::invalid("is not a folder").at_object(folder.display()));
    }
    let mut names = BTreeSet::new();
    for file in files {
        let path = local_path(file).unwrap_or_else(|_| PathBuf::from(file));
        let name = path.file_name().unwrap_or_default().to_owned();
        if !names.insert(name.clone()) {
            let message =
                format!("two files are named {:?}, and would be one in the folder", Path::new(&name));
            return Err(Error::invalid(message).at_object(folder.display()));
        }
    }
    if is_new && !options.dry_run {
        std::fs::create_dir(folder).map_err(|error| fault::of_io(error, folder.display()))?;
    }
    Ok(())
}
