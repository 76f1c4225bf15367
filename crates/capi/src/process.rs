//! What the process has once: the session.

pub(crate) mod faults;
pub(crate) mod last_error;
#[cfg(all(target_os = "linux", not(miri)))]
pub(crate) mod last_thread;
pub(crate) mod local_place;

use crate::process::local_place::{LocalPlace, is_classic};
use ncirrus::store::Url;
use ncirrus::store::config::{ConfigKey, ConfigSettings, ProcessEnvironment, ValueOrigin};
use ncirrus::{Dataset, DatasetView, OpenOptions, Session, SessionBuilder};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often the process was forked, counted in the child.
static GENERATION: AtomicU64 = AtomicU64::new(0);

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

/// The session of the process, made at the first call from the user's configuration.
///
/// # Errors
/// If the configuration is wrong.
pub(crate) fn session() -> ncirrus::Result<Session> {
    let mut session = SESSION.lock().unwrap_or_else(PoisonError::into_inner);
    match &*session {
        Some(session) => Ok(session.clone()),
        None => Ok(session.insert(new_session()?).clone()),
    }
}

/// How datasets are opened: as netCDF-C shows them. With `NCIRRUS_RAW=1` in the environment the descriptions of aggregated
/// variables instead of these, with `NCIRRUS_STRICT=1` none that netCDF-C does not open.
pub(crate) fn open_options() -> OpenOptions {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| value == "1");
    let is_strict = is_set("NCIRRUS_STRICT");
    let view = if is_strict { DatasetView::NetcdfCStrict } else { DatasetView::NetcdfC };
    OpenOptions::new().view(view).raw(is_set("NCIRRUS_RAW"))
}

/// Opens a dataset for changes. netCDF-3 is on disk after `nc_sync`; `nc_close` does not wait for that, as netCDF-C does not.
///
/// # Errors
/// Those of opening.
pub(crate) fn updated(url: &str, place: Option<&LocalPlace>) -> ncirrus::Result<Dataset> {
    let mut session = session()?;
    if place.is_some_and(|place| is_classic(place.path())) {
        session = session.without_durability();
    }
    Dataset::update_with(url, &open_options(), &session)
}

/// What the program set, besides the user's configuration: keys and values, of ncirrus and of netCDF's `.ncrc`.
#[derive(Debug, Default)]
struct ProgramSettings {
    own: Vec<(ConfigKey, String)>,
    rc: Vec<(String, String)>,
    /// Folders of plugins; `None` for those of the environment.
    plugins: Option<Vec<Vec<u8>>>,
}

static SETTINGS: Mutex<ProgramSettings> =
    Mutex::new(ProgramSettings { own: Vec::new(), rc: Vec::new(), plugins: None });

fn program_settings() -> MutexGuard<'static, ProgramSettings> {
    SETTINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// All that the program set, which no other thread changes meanwhile.
pub(crate) fn held_settings() -> Box<dyn std::any::Any> {
    Box::new(program_settings())
}

fn new_session() -> ncirrus::Result<Session> {
    let set = program_settings();
    let mut builder = Session::builder();
    if !(set.own.is_empty() && set.rc.is_empty() && set.plugins.is_none()) {
        builder = builder.settings(gathered(&set)?);
    }
    // Programs expect of a file that they have open what systems do: it is read on, whatever becomes of its name. Blocks are kept by
    // thread and id, so that no file is looked up for them.
    let builder = builder.holds_files(true).value_blocks(false);
    without_signals(|| match &set.plugins {
        Some(folders) => with_plugins(builder, folders).build(),
        None => builder.build(),
    })
}

/// Starts threads that handle none of the program's signals: its handlers expect to run in threads of its own.
#[cfg(unix)]
pub(crate) fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    use nix::sys::signal::{SigSet, SigmaskHow, Signal};
    let mut signals = SigSet::all();
    // What a thread brings about itself, and what measures it.
    let own =
        [Signal::SIGSEGV, Signal::SIGBUS, Signal::SIGFPE, Signal::SIGILL, Signal::SIGTRAP, Signal::SIGABRT];
    for signal in own.into_iter().chain([Signal::SIGPROF]) {
        signals.remove(signal);
    }
    let before = signals.thread_swap_mask(SigmaskHow::SIG_BLOCK);
    let started = start();
    if let Ok(before) = before {
        // A mask that was there can be set again.
        let _ = before.thread_set_mask();
    }
    started
}

#[cfg(not(unix))]
pub(crate) fn without_signals<T>(start: impl FnOnce() -> T) -> T {
    start()
}

fn gathered(set: &ProgramSettings) -> ncirrus::Result<ConfigSettings> {
    let mut environment = ProcessEnvironment::of_process();
    for (key, value) in &set.own {
        if let Some(variable) = key.variables().first() {
            environment = environment.with(variable, value);
        }
    }
    ConfigSettings::gather_with(environment, None, &set.rc)
}

/// Sets a value of the configuration, by its key in the configuration file, for what is opened from now on.
///
/// # Errors
/// `Invalid` for a key that does not exist or that programs do not set, and a value that is not of its kind.
pub(crate) fn configure(key: &str, value: &str) -> ncirrus::Result<()> {
    let named = ConfigKey::named(key).filter(|key| !key.variables().is_empty());
    let named =
        named.ok_or_else(|| ncirrus::Error::invalid(format!("{key:?} is no key that programs set")))?;
    let mut set = program_settings();
    let own = set.own.iter().filter(|(known, _)| *known != named).cloned();
    let own = own.chain([(named, value.to_owned())]).collect();
    let wanted = ProgramSettings { own, rc: set.rc.clone(), plugins: set.plugins.clone() };
    let settings = gathered(&wanted)?;
    if !matches!(settings.origin(named), Some(ValueOrigin::Variable(_))) {
        return Err(ncirrus::Error::invalid(format!("{value:?} is no value of {key:?}")));
    }
    *set = wanted;
    drop(set);
    end_session();
    Ok(())
}

/// Sets a key of netCDF's `.ncrc`, for what is opened from now on.
pub(crate) fn set_rc(key: &str, value: &str) {
    let mut set = program_settings();
    set.rc.retain(|(known, _)| known != key);
    set.rc.push((key.to_owned(), value.to_owned()));
    drop(set);
    end_session();
}

/// The value of a key of `.ncrc` for every dataset: the one that the program set, or that of the user's files.
pub(crate) fn rc(key: &str) -> Option<String> {
    let set = program_settings();
    let own = set.rc.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone());
    own.or_else(|| {
        let (settings, any) = (gathered(&set).ok()?, Url::parse("file:///").ok()?);
        settings.rc(key, &any).map(|found| found.value.to_owned())
    })
}

#[cfg(feature = "plugins")]
fn with_plugins(builder: SessionBuilder, folders: &[Vec<u8>]) -> SessionBuilder {
    let paths = folders.iter().map(|folder| String::from_utf8_lossy(folder).into_owned());
    builder.plugins(ncirrus::PluginOptions::default().directories(paths))
}

#[cfg(not(feature = "plugins"))]
fn with_plugins(builder: SessionBuilder, _: &[Vec<u8>]) -> SessionBuilder {
    builder
}

/// The folders that are searched for plugins: those that the program chose, or those of the environment.
pub(crate) fn plugin_folders() -> Vec<Vec<u8>> {
    program_settings().plugins.clone().unwrap_or_else(usual_folders)
}

#[cfg(feature = "plugins")]
fn usual_folders() -> Vec<Vec<u8>> {
    let folders = ncirrus::PluginOptions::usual_directories();
    folders.into_iter().map(|folder| folder.to_string_lossy().into_owned().into_bytes()).collect()
}

#[cfg(not(feature = "plugins"))]
fn usual_folders() -> Vec<Vec<u8>> {
    Vec::new()
}

/// Chooses the folders that are searched for plugins, for what is opened from now on.
pub(crate) fn set_plugin_folders(folders: Vec<Vec<u8>>) {
    program_settings().plugins = Some(folders);
    end_session();
}

/// How often the process, or its parents, were forked.
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// The session, which no other thread makes or ends meanwhile.
pub(crate) fn held_session() -> MutexGuard<'static, Option<Session>> {
    SESSION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In a child process: its session has threads of the parent, and is left as it is.
pub(crate) fn leave_to_parent(session: &mut Option<Session>) {
    std::mem::forget(session.take());
    GENERATION.fetch_add(1, Ordering::AcqRel);
}

/// Ends the session; the next call makes another one.
pub(crate) fn end_session() {
    drop(SESSION.lock().unwrap_or_else(PoisonError::into_inner).take());
}
