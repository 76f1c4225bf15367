//! Calls of the functions that convert between JSON and parameters.
use super::abi::{CodecHead, InitializeFn, LongRecord, ModifyFn, ShortRecord, ToCodecFn, ToHdf5Fn};
use super::buffer::AllocatedBuffer;
use super::shared::{InitializedRecords, LibraryLock};
use super::text;
use std::ffi::{CString, c_int, c_uint, c_void};
use std::ptr::null_mut;

/// A codec record of a loaded library.
#[derive(Debug, Clone)]
pub(in crate::plugin) struct NativeCodec {
    /// Its Zarr name.
    pub(in crate::plugin) id: String,
    /// The HDF5 number of its filter.
    pub(in crate::plugin) hdf5: u32,
    to_hdf5: Option<ToHdf5Fn>,
    to_codec: Option<ToCodecFn>,
    modify: Option<ModifyFn>,
    shared: LibraryLock,
}

/// Maximum number of parameters of a filter in HDF5.
const MAX_PARAMETERS: usize = 65535;
/// An invalid file or variable for netCDF's functions, whatever files are open.
const NO_HANDLE: c_int = -1;

impl NativeCodec {
    /// Reads a record of a locked library.
    ///
    /// # Errors
    /// Why it is not one.
    pub(super) fn new(
        record: *const CodecHead,
        shared: &LibraryLock,
        initialized: &mut InitializedRecords,
    ) -> Result<Self, String> {
        // SAFETY: the library says that a record is there; every form starts in this way.
        let head = unsafe { record.read() };
        if head.version != 1 || head.sort != 1 {
            let (version, sort) = (head.version, head.sort);
            return Err(format!("codec records of version {version} and sort {sort} are not known"));
        }
        let id = text(head.id).filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| "a codec record without a name".to_owned())?;
        let functions = functions(record);
        let [initialize, _, to_hdf5, to_codec, modify] = functions;
        // SAFETY: the fields of the record are null or functions of these forms (docs/spec/nczarr.md 11.9); a null
        // pointer is represented by `None`.
        let codec = unsafe {
            Self {
                id,
                hdf5: head.hdf5,
                to_hdf5: std::mem::transmute::<*const c_void, Option<ToHdf5Fn>>(to_hdf5),
                to_codec: std::mem::transmute::<*const c_void, Option<ToCodecFn>>(to_codec),
                modify: std::mem::transmute::<*const c_void, Option<ModifyFn>>(modify),
                shared: shared.clone(),
            }
        };
        if initialized.insert(record as usize) {
            // SAFETY: as above.
            let initialize =
                unsafe { std::mem::transmute::<*const c_void, Option<InitializeFn>>(initialize) };
            // SAFETY: a function without arguments of a plugin, called once, while no other thread is inside it.
            initialize.into_iter().for_each(|initialize| unsafe { initialize() });
        }
        Ok(codec)
    }

    /// Whether it completes parameters.
    pub(in crate::plugin) fn modifies(&self) -> bool {
        self.modify.is_some()
    }

    /// Visible parameters for the JSON object of a codec.
    ///
    /// # Errors
    /// If the plugin fails.
    pub(in crate::plugin) fn to_parameters(&self, json: &str) -> Result<Vec<u32>, String> {
        let Some(convert) = self.to_hdf5 else { return Ok(Vec::new()) };
        let json = CString::new(json).map_err(|_| "a zero byte in the JSON".to_owned())?;
        let (mut count, mut words) = (0, null_mut());
        let _running = self.shared.lock();
        // SAFETY: the text ends with a zero byte and outlives the call; the results are written to valid locations.
        let status = unsafe { convert(json.as_ptr(), &raw mut count, &raw mut words) };
        let words = PluginWords::taken(words, count);
        succeeded(status, "read the codec's JSON")?;
        words.to_vec()
    }

    /// The JSON object of the codec for parameters.
    ///
    /// # Errors
    /// If the plugin fails.
    pub(in crate::plugin) fn to_json(&self, parameters: &[u32]) -> Result<String, String> {
        let convert = self.to_codec.ok_or_else(|| "it cannot describe parameters as JSON".to_owned())?;
        let mut json = null_mut();
        let _running = self.shared.lock();
        // SAFETY: the parameters are readable; the result is written to a valid location.
        let status = unsafe { convert(parameters.len(), parameters.as_ptr(), &raw mut json) };
        let json = AllocatedBuffer::taken(json, 0);
        succeeded(status, "describe parameters as JSON")?;
        text(json.pointer.cast()).ok_or_else(|| "it gave no JSON".to_owned())
    }

    /// Working parameters for visible ones. Plugins that query netCDF for the variable fail: there is none.
    ///
    /// # Errors
    /// If the plugin has no such function, or it fails.
    pub(in crate::plugin) fn working(&self, visible: &[u32]) -> Result<Vec<u32>, String> {
        let modify = self.modify.ok_or_else(|| "it does not complete parameters".to_owned())?;
        let bytes: Vec<u8> = visible.iter().flat_map(|word| word.to_ne_bytes()).collect();
        let copy = AllocatedBuffer::copy_of(&bytes).ok_or_else(|| "no memory".to_owned())?;
        let (mut visible, mut visible_count) = (copy.pointer.cast::<c_uint>(), visible.len());
        std::mem::forget(copy);
        let (mut working, mut count) = (null_mut(), 0);
        let _running = self.shared.lock();
        // SAFETY: both vectors are null or memory of C's allocator, which the plugin may replace; the handles are known
        // to netCDF to be invalid.
        let status = unsafe {
            modify(
                NO_HANDLE,
                NO_HANDLE,
                &raw mut visible_count,
                &raw mut visible,
                &raw mut count,
                &raw mut working,
            )
        };
        // Some plugins return the same vector for both.
        let _visible = (visible != working).then(|| PluginWords::taken(visible, visible_count));
        let working = PluginWords::taken(working, count);
        succeeded(status, "complete the parameters without netCDF's handles")?;
        working.to_vec()
    }
}

/// Parameters that a plugin allocated.
struct PluginWords {
    memory: AllocatedBuffer,
    count: usize,
}

impl PluginWords {
    fn taken(pointer: *mut c_uint, count: usize) -> Self {
        Self { memory: AllocatedBuffer::taken(pointer, 0), count }
    }

    fn to_vec(&self) -> Result<Vec<u32>, String> {
        if self.count == 0 {
            return Ok(Vec::new());
        }
        if self.memory.pointer.is_null() || self.count > MAX_PARAMETERS {
            return Err(format!("it gave {} parameters", self.count));
        }
        // SAFETY: the plugin says that the vector has this many members.
        Ok(unsafe { std::slice::from_raw_parts(self.memory.pointer.cast::<u32>(), self.count) }.to_vec())
    }
}

fn succeeded(status: c_int, what: &str) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("it could not {what} (netCDF error {status})")) }
}

/// The functions of a record, in the fields of the long form.
fn functions(record: *const CodecHead) -> [*const c_void; 5] {
    // SAFETY: the short form is the start of the long one.
    let [first, second] = unsafe { record.cast::<ShortRecord>().read() }.functions;
    let long = record.cast::<LongRecord>();
    if first.is_null() || second.is_null() {
        // The short form always has both of its functions.
        // SAFETY: hence it is the long form.
        return unsafe { long.read() }.functions;
    }
    // Both forms have the same version, so that only the fields after them can tell.
    if !in_library(long.wrapping_add(1).cast::<u8>().wrapping_sub(1).cast()) {
        return [std::ptr::null(), std::ptr::null(), first, second, std::ptr::null()];
    }
    // SAFETY: the end of the long form is in a loaded library, as is its start.
    let functions = unsafe { long.read() }.functions;
    let [_, _, to_hdf5, to_codec, modify] = functions;
    let is_function = |place: *const c_void| place.is_null() || in_library(place);
    let converts = !to_hdf5.is_null() || !to_codec.is_null();
    if converts && [to_hdf5, to_codec, modify].into_iter().all(is_function) {
        functions
    } else {
        [std::ptr::null(), std::ptr::null(), first, second, std::ptr::null()]
    }
}

/// Whether an address is in a loaded library.
#[cfg(unix)]
fn in_library(address: *const c_void) -> bool {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::uninit();
    // SAFETY: any address may be queried; the answer is written to a valid location, and not read.
    unsafe { libc::dladdr(address, info.as_mut_ptr()) != 0 }
}

/// The short form was never built for other systems.
#[cfg(not(unix))]
fn in_library(_: *const c_void) -> bool {
    true
}
