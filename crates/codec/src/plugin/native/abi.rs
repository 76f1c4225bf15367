//! The records of plugins, as C lays them out (docs/spec/nczarr.md 11.9).
use std::ffi::{c_char, c_int, c_uint, c_void};

/// Decoding, in the flags of a filter function.
pub(super) const REVERSE: c_uint = 0x0100;
/// The filter may be skipped for a chunk.
pub(super) const OPTIONAL: c_uint = 0x0001;

/// Arguments: flags, number of parameters, parameters, bytes, length of the buffer, the buffer; returns the number of
/// bytes, 0 for failure.
pub(super) type FilterFn =
    unsafe extern "C" fn(c_uint, usize, *const c_uint, usize, *mut usize, *mut *mut c_void) -> usize;

/// The common start of all versions of a filter's description.
#[repr(C)]
pub(super) struct ClassHead {
    pub(super) version: c_int,
}

/// A filter, since HDF5 1.8. The functions that require HDF5's handles are never called.
#[repr(C)]
pub(super) struct FilterClass2 {
    pub(super) version: c_int,
    pub(super) id: c_int,
    pub(super) encoder_present: c_uint,
    pub(super) decoder_present: c_uint,
    pub(super) name: *const c_char,
    pub(super) can_apply: *const c_void,
    pub(super) set_local: *const c_void,
    pub(super) filter: Option<FilterFn>,
}

/// A filter, up to HDF5 1.6.
#[repr(C)]
pub(super) struct FilterClass1 {
    id: c_int,
    name: *const c_char,
    can_apply: *const c_void,
    set_local: *const c_void,
    filter: Option<FilterFn>,
}

impl From<FilterClass1> for FilterClass2 {
    fn from(class: FilterClass1) -> Self {
        Self {
            version: 1,
            id: class.id,
            encoder_present: 1,
            decoder_present: 1,
            name: class.name,
            can_apply: class.can_apply,
            set_local: class.set_local,
            filter: class.filter,
        }
    }
}

/// The common start of all records of a codec.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct CodecHead {
    pub(super) version: c_int,
    pub(super) sort: c_int,
    pub(super) id: *const c_char,
    pub(super) hdf5: c_uint,
}

/// A record in the first release with codecs, with the same version number.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct ShortRecord {
    pub(super) head: CodecHead,
    pub(super) functions: [*const c_void; 2],
}

/// A record since then: initialize, finalize, codec to HDF5, HDF5 to codec, modify parameters.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct LongRecord {
    pub(super) head: CodecHead,
    pub(super) functions: [*const c_void; 5],
}

/// Prepares the codec's library.
pub(super) type InitializeFn = unsafe extern "C" fn();
/// JSON to allocated parameters.
pub(super) type ToHdf5Fn = unsafe extern "C" fn(*const c_char, *mut usize, *mut *mut c_uint) -> c_int;
/// Parameters to allocated JSON.
pub(super) type ToCodecFn = unsafe extern "C" fn(usize, *const c_uint, *mut *mut c_char) -> c_int;
/// Visible to working parameters, for a variable of a netCDF file.
pub(super) type ModifyFn =
    unsafe extern "C" fn(c_int, c_int, *mut usize, *mut *mut c_uint, *mut usize, *mut *mut c_uint) -> c_int;
