//! Foreign code: what shared libraries export, and calls into it (docs/spec/nczarr.md 11.9).
//!
//! Libraries stay loaded until the process ends: plugins start threads and register handlers of their own.
mod abi;
mod buffer;
mod codec;
mod filter;
mod shared;

pub(super) use codec::NativeCodec;
pub(super) use filter::{FilterCall, NativeFilter};

use abi::{ClassHead, CodecHead, FilterClass1, FilterClass2};
use libloading::Library;
#[cfg(unix)]
use libloading::os::unix;
use shared::{InitializedRecords, LibraryLock};
use std::error::Error;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::Path;

/// What one library exports.
#[derive(Debug, Default)]
pub(super) struct LibraryExports {
    pub(super) filter: Option<NativeFilter>,
    /// The codec of the library's own filter.
    pub(super) codec: Option<NativeCodec>,
    /// Codecs for filters that may be in other libraries.
    pub(super) defaults: Vec<NativeCodec>,
    /// Exports that are not used, and why.
    pub(super) refused: Vec<String>,
}

type RecordGetter = unsafe extern "C" fn() -> *const c_void;
type TypeGetter = unsafe extern "C" fn() -> c_int;

/// Loads a library and finds its exports.
///
/// # Errors
/// Why it cannot be loaded, or that it is not a plugin.
pub(super) fn load(path: &Path) -> Result<LibraryExports, String> {
    let library = open(path).map_err(|error| format!("cannot be loaded: {}", described(&error, path)))?;
    let mut exports = LibraryExports::default();
    if let Some(anchor) = anchor(&library) {
        let shared = LibraryLock::of(anchor);
        let mut initialized = shared.lock();
        keep(filter(&library, &shared).map(|filter| exports.filter = filter), &mut exports.refused);
        keep(
            codec(&library, &shared, &mut initialized).map(|codec| exports.codec = codec),
            &mut exports.refused,
        );
        keep(
            defaults(&library, &shared, &mut initialized).map(|codecs| exports.defaults = codecs),
            &mut exports.refused,
        );
    } else {
        return Err("not a plugin: it exports neither H5PLget_plugin_info nor NCZ_get_codec_info nor \
                    NCZ_codec_info_defaults"
            .to_owned());
    }
    if exports.filter.is_some() || exports.codec.is_some() || !exports.defaults.is_empty() {
        std::mem::forget(library);
        return Ok(exports);
    }
    if exports.refused.is_empty() {
        exports.refused.push("it exports neither a filter nor a codec".to_owned());
    }
    Err(exports.refused.join("; "))
}

/// Loads a library with all its dependencies: a missing function would end the process when it is called.
fn open(path: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: loading runs the initialisers of the library. Nothing can be known about them: whoever puts a library
    // into a plugin directory, or names the directory, vouches for it (docs/filters.md).
    #[cfg(unix)]
    let library = unsafe { unix::Library::open(Some(path), unix::RTLD_NOW | unix::RTLD_LOCAL) }?.into();
    // SAFETY: as above.
    #[cfg(not(unix))]
    let library = unsafe { Library::new(path) }?;
    Ok(library)
}

/// The system's message for an error, without the path at its start.
fn described(error: &libloading::Error, path: &Path) -> String {
    let text = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    text.strip_prefix(&format!("{}: ", path.display())).map(str::to_owned).unwrap_or(text)
}

fn keep(outcome: Result<(), String>, refused: &mut Vec<String>) {
    refused.extend(outcome.err());
}

const PLUGIN_TYPE: &CStr = c"H5PLget_plugin_type";
const PLUGIN_INFO: &CStr = c"H5PLget_plugin_info";
const CODEC_INFO: &CStr = c"NCZ_get_codec_info";
const CODEC_DEFAULTS: &CStr = c"NCZ_codec_info_defaults";
/// The value of `H5PLget_plugin_type` for filters.
const TYPE_FILTER: c_int = 0;
/// Maximum number of default codecs that are examined.
const MAX_DEFAULTS: usize = 1024;

fn getter(library: &Library, name: &CStr) -> Option<RecordGetter> {
    // SAFETY: the symbols with these names are functions of that form (`docs/spec/nczarr.md` 11.9); the copied pointer
    // is used only while the library is loaded.
    unsafe { library.get::<RecordGetter>(name.to_bytes_with_nul()) }.ok().map(|symbol| *symbol)
}

/// An address inside the library that identifies it.
fn anchor(library: &Library) -> Option<usize> {
    [PLUGIN_INFO, CODEC_INFO, CODEC_DEFAULTS]
        .iter()
        .find_map(|name| getter(library, name))
        .map(|getter| getter as usize)
}

fn filter(library: &Library, shared: &LibraryLock) -> Result<Option<NativeFilter>, String> {
    let Some(info) = getter(library, PLUGIN_INFO) else { return Ok(None) };
    // SAFETY: as in `getter`.
    let get_type = unsafe { library.get::<TypeGetter>(PLUGIN_TYPE.to_bytes_with_nul()) };
    let get_type = get_type.map_err(|_| "it does not export H5PLget_plugin_type".to_owned())?;
    // SAFETY: a function without arguments of a plugin.
    match unsafe { get_type() } {
        TYPE_FILTER => {}
        1 => return Err("an HDF5 plugin, but not a filter: a VOL connector".to_owned()),
        2 => return Err("an HDF5 plugin, but not a filter: a file driver".to_owned()),
        other => return Err(format!("an HDF5 plugin, but not a filter: of type {other}")),
    }
    // SAFETY: as above.
    let class = unsafe { info() }.cast::<ClassHead>();
    if class.is_null() {
        return Err("H5PLget_plugin_info returns nothing".to_owned());
    }
    // SAFETY: the function says that a filter is described there; every version starts with this member.
    let class = match unsafe { (*class).version } {
        // SAFETY: according to the version.
        1 => unsafe { class.cast::<FilterClass2>().read() },
        // The form before versions were introduced begins with the number of the filter.
        // SAFETY: HDF5 also reads descriptions without a version in that form.
        256..=65535 => unsafe { class.cast::<FilterClass1>().read() }.into(),
        other => return Err(format!("version {other} of the description of filters is not known")),
    };
    let id = u32::try_from(class.id).ok().filter(|id| (1..=65535).contains(id));
    let id = id.ok_or_else(|| format!("{} is not a valid filter number", class.id))?;
    let function = class.filter.ok_or_else(|| format!("filter {id} has no function"))?;
    Ok(Some(NativeFilter {
        id,
        name: text(class.name).unwrap_or_default(),
        encodes: class.encoder_present != 0,
        decodes: class.decoder_present != 0,
        sets_local: !class.set_local.is_null(),
        function,
        shared: shared.clone(),
    }))
}

fn codec(
    library: &Library,
    shared: &LibraryLock,
    initialized: &mut InitializedRecords,
) -> Result<Option<NativeCodec>, String> {
    let Some(info) = getter(library, CODEC_INFO) else { return Ok(None) };
    // SAFETY: a function without arguments of a plugin.
    let record = unsafe { info() }.cast::<CodecHead>();
    // A library whose records are defaults has none here (lib__nczstdfilters).
    if record.is_null() { Ok(None) } else { NativeCodec::new(record, shared, initialized).map(Some) }
}

fn defaults(
    library: &Library,
    shared: &LibraryLock,
    initialized: &mut InitializedRecords,
) -> Result<Vec<NativeCodec>, String> {
    let Some(info) = getter(library, CODEC_DEFAULTS) else { return Ok(Vec::new()) };
    // SAFETY: a function without arguments of a plugin.
    let records = unsafe { info() }.cast::<*const CodecHead>();
    let mut codecs = Vec::new();
    if records.is_null() {
        return Ok(codecs);
    }
    for at in 0..MAX_DEFAULTS {
        // SAFETY: the vector ends with a null pointer, and nothing after that is read.
        let record = unsafe { *records.add(at) };
        if record.is_null() {
            return Ok(codecs);
        }
        codecs.push(NativeCodec::new(record, shared, initialized)?);
    }
    Err(format!("more than {MAX_DEFAULTS} default codecs"))
}

/// The text at a pointer from a plugin; none for null and for bytes that are not UTF-8.
fn text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: names in the records of plugins end with a zero byte.
    unsafe { CStr::from_ptr(pointer) }.to_str().ok().map(str::to_owned)
}
