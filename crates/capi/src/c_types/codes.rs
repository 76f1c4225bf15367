//! The codes that functions answer, with their texts, and how errors of the facade become codes.
use ncirrus::{Detail, Error, ErrorKind};
use std::ffi::{CStr, c_int};

/// A code of the table other than success, or a number of the system (`errno`), which is positive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub(crate) c_int);

/// What a safe function answers.
pub type Outcome<T> = Result<T, Code>;

/// A code, its name in C, and its text.
#[derive(Debug)]
pub struct CodeRow {
    /// Name in C.
    pub name: &'static str,
    /// Number.
    pub code: c_int,
    text: &'static CStr,
}

/// Codes with their numbers and the texts of `nc_strerror`, which programs compare with.
macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        $(
            #[doc = concat!("Code ", $number, ".")]
            pub const $name: c_int = $number;
        )*

        /// All codes.
        pub const CODES: &[CodeRow] = &[$(CodeRow { name: stringify!($name), code: $number, text: $text }),*];
    };
}

codes! {
    NC_NOERR = 0, c"No error";
    NC_EBADID = -33, c"NetCDF: Not a valid ID";
    NC_ENFILE = -34, c"NetCDF: Too many files open";
    NC_EEXIST = -35, c"NetCDF: File exists && NC_NOCLOBBER";
    NC_EINVAL = -36, c"NetCDF: Invalid argument";
    NC_EPERM = -37, c"NetCDF: Write to read only";
    NC_ENOTINDEFINE = -38, c"NetCDF: Operation not allowed in data mode";
    NC_EINDEFINE = -39, c"NetCDF: Operation not allowed in define mode";
    NC_EINVALCOORDS = -40, c"NetCDF: Index exceeds dimension bound";
    NC_EMAXDIMS = -41, c"NetCDF: NC_MAX_DIMS exceeded";
    NC_ENAMEINUSE = -42, c"NetCDF: String match to name in use";
    NC_ENOTATT = -43, c"NetCDF: Attribute not found";
    NC_EMAXATTS = -44, c"NetCDF: NC_MAX_ATTRS exceeded";
    NC_EBADTYPE = -45, c"NetCDF: Not a valid data type or _FillValue type mismatch";
    NC_EBADDIM = -46, c"NetCDF: Invalid dimension ID or name";
    NC_EUNLIMPOS = -47, c"NetCDF: NC_UNLIMITED in the wrong index";
    NC_EMAXVARS = -48, c"NetCDF: NC_MAX_VARS exceeded";
    NC_ENOTVAR = -49, c"NetCDF: Variable not found";
    NC_EGLOBAL = -50, c"NetCDF: Action prohibited on NC_GLOBAL varid";
    NC_ENOTNC = -51, c"NetCDF: Unknown file format";
    NC_ESTS = -52, c"NetCDF: In Fortran, string too short";
    NC_EMAXNAME = -53, c"NetCDF: NC_MAX_NAME exceeded";
    NC_EUNLIMIT = -54, c"NetCDF: NC_UNLIMITED size already in use";
    NC_ENORECVARS = -55, c"NetCDF: nc_rec op when there are no record vars";
    NC_ECHAR = -56, c"NetCDF: Attempt to convert between text & numbers";
    NC_EEDGE = -57, c"NetCDF: Start+count exceeds dimension bound";
    NC_ESTRIDE = -58, c"NetCDF: Illegal stride";
    NC_EBADNAME = -59, c"NetCDF: Name contains illegal characters";
    NC_ERANGE = -60, c"NetCDF: Numeric conversion not representable";
    NC_ENOMEM = -61, c"NetCDF: Memory allocation (malloc) failure";
    NC_EVARSIZE = -62, c"NetCDF: One or more variable sizes violate format constraints";
    NC_EDIMSIZE = -63, c"NetCDF: Invalid dimension size";
    NC_ETRUNC = -64, c"NetCDF: File likely truncated or possibly corrupted";
    NC_EAXISTYPE = -65, c"NetCDF: Illegal axis type";
    NC_EDAP = -66, c"NetCDF: DAP failure";
    NC_ECURL = -67, c"NetCDF: libcurl failure";
    NC_EIO = -68, c"NetCDF: I/O failure";
    NC_ENODATA = -69, c"NetCDF: Variable has no data";
    NC_EDAPSVC = -70, c"NetCDF: DAP server error";
    NC_EDAS = -71, c"NetCDF: Malformed or inaccessible DAP DAS";
    NC_EDDS = -72, c"NetCDF: Malformed or inaccessible DAP2 DDS or DAP4 DMR response";
    NC_EDATADDS = -73, c"NetCDF: Malformed or inaccessible DAP2 DATADDS or DAP4 DAP response";
    NC_EDAPURL = -74, c"NetCDF: Malformed URL";
    NC_EDAPCONSTRAINT = -75, c"NetCDF: Malformed or unexpected Constraint";
    NC_ETRANSLATION = -76, c"NetCDF: Untranslatable construct";
    NC_EACCESS = -77, c"NetCDF: Access failure";
    NC_EAUTH = -78, c"NetCDF: Authorization failure";
    NC_ENOTFOUND = -90, c"NetCDF: file not found";
    NC_ECANTREMOVE = -91, c"NetCDF: cannot delete file";
    NC_EINTERNAL = -92, c"NetCDF: internal library error; Please contact Unidata support";
    NC_EPNETCDF = -93, c"NetCDF: PnetCDF error";
    NC_EHDFERR = -101, c"NetCDF: HDF error";
    NC_ECANTREAD = -102, c"NetCDF: Can't read file";
    NC_ECANTWRITE = -103, c"NetCDF: Can't write file";
    NC_ECANTCREATE = -104, c"NetCDF: Can't create file";
    NC_EFILEMETA = -105, c"NetCDF: Can't add HDF5 file metadata";
    NC_EDIMMETA = -106, c"NetCDF: Can't define dimensional metadata";
    NC_EATTMETA = -107, c"NetCDF: Can't open HDF5 attribute";
    NC_EVARMETA = -108, c"NetCDF: Problem with variable metadata.";
    NC_ENOCOMPOUND = -109, c"NetCDF: Can't create HDF5 compound type";
    NC_EATTEXISTS = -110, c"NetCDF: Attempt to create attribute that already exists";
    NC_ENOTNC4 = -111, c"NetCDF: Attempting netcdf-4 operation on netcdf-3 file";
    NC_ESTRICTNC3 = -112, c"NetCDF: Attempting netcdf-4 operation on strict nc3 netcdf-4 file";
    NC_ENOTNC3 = -113, c"NetCDF: Attempting netcdf-3 operation on netcdf-4 file";
    NC_ENOPAR = -114, c"NetCDF: Parallel operation on file opened for non-parallel access";
    NC_EPARINIT = -115, c"NetCDF: Error initializing for parallel access";
    NC_EBADGRPID = -116, c"NetCDF: Bad group ID";
    NC_EBADTYPID = -117, c"NetCDF: Bad type ID";
    NC_ETYPDEFINED = -118, c"NetCDF: Type has already been defined and may not be edited";
    NC_EBADFIELD = -119, c"NetCDF: Bad field ID";
    NC_EBADCLASS = -120, c"NetCDF: Bad class";
    NC_EMAPTYPE = -121, c"NetCDF: Mapped access for atomic types only";
    NC_ELATEFILL = -122, c"NetCDF: Attempt to define fill value when data already exists.";
    NC_ELATEDEF = -123, c"NetCDF: Attempt to define var properties, like deflate, after enddef.";
    NC_EDIMSCALE = -124, c"NetCDF: Problem with HDF5 dimscales.";
    NC_ENOGRP = -125, c"NetCDF: No group found.";
    NC_ESTORAGE = -126, c"NetCDF: Cannot specify both contiguous and chunking.";
    NC_EBADCHUNK = -127, c"NetCDF: Bad chunk sizes.";
    NC_ENOTBUILT = -128, c"NetCDF: Attempt to use feature that was not turned on when netCDF was built.";
    NC_EDISKLESS = -129, c"NetCDF: Error in using diskless access";
    NC_ECANTEXTEND = -130, c"NetCDF: Attempt to extend dataset during NC_INDEPENDENT I/O operation. Use nc_var_par_access to set mode NC_COLLECTIVE before extending variable.";
    NC_EMPI = -131, c"NetCDF: MPI operation failed.";
    NC_EFILTER = -132, c"NetCDF: Filter error: bad id or parameters or duplicate filter";
    NC_ERCFILE = -133, c"NetCDF: RC File Failure.";
    NC_ENULLPAD = -134, c"NetCDF: File fails strict Null-Byte Header check.";
    NC_EINMEMORY = -135, c"NetCDF: In-memory File operation failed.";
    NC_ENOFILTER = -136, c"NetCDF: Filter error: undefined filter encountered";
    NC_ENCZARR = -137, c"NetCDF: NCZarr error";
    NC_ES3 = -138, c"NetCDF: AWS S3 error";
    NC_EEMPTY = -139, c"NetCDF: Attempt to read empty NCZarr map key";
    NC_EOBJECT = -140, c"NetCDF: Some object exists when it should not";
    NC_ENOOBJECT = -141, c"NetCDF: Some object not found";
    NC_EPLUGIN = -142, c"NetCDF: Unclassified failure in accessing a dynamically loaded plugin";
}

/// Another name of `NC_EDAPURL`.
pub(crate) const NC_EURL: c_int = NC_EDAPURL;

/// The text of a code; that of the system for positive ones.
pub(crate) fn text_of(code: c_int) -> &'static CStr {
    CODES.iter().find(|row| row.code == code).map_or(c"Unknown Error", |row| row.text)
}

/// What a code says, in words: the system's for positive ones.
pub(crate) fn words_of(code: c_int) -> String {
    if code > 0 {
        let words = std::io::Error::from_raw_os_error(code).to_string();
        return words.split(" (os error").next().unwrap_or_default().to_owned();
    }
    text_of(code).to_string_lossy().into_owned()
}

/// "No such file or directory" and "Permission denied": numbers of POSIX.
const ENOENT: c_int = 2;
pub(crate) const EACCES: c_int = 13;

impl From<Error> for Code {
    fn from(error: Error) -> Self {
        crate::process::last_error::set(&error.to_string());
        Self(match error.kind() {
            ErrorKind::NotFound => NC_ENOTFOUND,
            ErrorKind::Denied => NC_EPERM,
            ErrorKind::Io { .. } => system_number(&error).unwrap_or(NC_EIO),
            ErrorKind::Malformed | ErrorKind::Missing => NC_EHDFERR,
            ErrorKind::Unsupported => match error.detail() {
                Some(Detail::UnknownCodec(_) | Detail::UnusableCodec(_)) => NC_ENOFILTER,
                Some(Detail::BeyondClassic) => NC_ESTRICTNC3,
                Some(Detail::NoCreationOrder) => NC_ECANTWRITE,
                _ => NC_ENOTBUILT,
            },
            ErrorKind::Limit => NC_ENOMEM,
            ErrorKind::Changed | ErrorKind::Interrupted => NC_EIO,
            ErrorKind::Conflict => NC_EEXIST,
            ErrorKind::Invalid => NC_EINVAL,
            _ => NC_EINTERNAL,
        })
    }
}

/// `ENAMETOOLONG`.
pub(crate) const ENAMETOOLONG: c_int = 36;

/// `EIO ENFILE EMFILE EFBIG ENOSPC EROFS ENAMETOOLONG ELOOP EDQUOT`, which file systems answer.
const OF_FILE_SYSTEMS: [c_int; 9] = [5, 23, 24, 27, 28, 30, ENAMETOOLONG, 40, 122];

/// The number of a file system for what it refused, such as a full disk.
fn system_number(error: &Error) -> Option<c_int> {
    let number = cause_of::<std::io::Error>(error)?.raw_os_error()?;
    Some(number).filter(|number| OF_FILE_SYSTEMS.contains(number))
}

/// The code for what the system says of a file.
#[expect(clippy::needless_pass_by_value, reason = "how errors are mapped")]
pub(crate) fn of_system(error: std::io::Error) -> Code {
    crate::process::last_error::set(&error.to_string());
    Code(error.raw_os_error().unwrap_or(NC_EIO))
}

/// The error of a kind that an error came from.
pub(crate) fn cause_of<E: std::error::Error + 'static>(error: &Error) -> Option<&E> {
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        if let Some(found) = cause.downcast_ref::<E>() {
            return Some(found);
        }
        source = cause.source();
    }
    None
}

/// The protocol by which a server of OPeNDAP is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DapProtocol {
    Dap2,
    Dap4,
}

/// The code for what a server of OPeNDAP answered in place of a dataset, or for a server that does not answer.
pub(crate) fn of_server(error: &Error, protocol: DapProtocol) -> Option<Code> {
    use DapProtocol::{Dap2, Dap4};
    let code = match (error.kind(), protocol) {
        (_, Dap2) if error.detail() == Some(&Detail::Unreachable) => NC_EIO,
        (ErrorKind::Io { .. }, _) => NC_EDAPSVC,
        (ErrorKind::Denied, _) => NC_EAUTH,
        (ErrorKind::NotFound, Dap2) => NC_ENOTFOUND,
        (ErrorKind::NotFound, Dap4) => ENOENT,
        (ErrorKind::Invalid, Dap2) => NC_EACCESS,
        (ErrorKind::Invalid, Dap4) => NC_EDATADDS,
        (ErrorKind::Malformed | ErrorKind::Missing, Dap2) => NC_EDDS,
        (ErrorKind::Malformed | ErrorKind::Missing, Dap4) => NC_EDAP,
        _ => return None,
    };
    Some(Code(code))
}

/// The code for what a server of OPeNDAP answered in the place of values.
pub(crate) fn of_values(error: &Error) -> Option<Code> {
    let code = match error.kind() {
        _ if error.detail() == Some(&Detail::Unreachable) => return None,
        ErrorKind::Malformed | ErrorKind::Missing => NC_EDATADDS,
        ErrorKind::NotFound | ErrorKind::Io { .. } => NC_EDAPSVC,
        ErrorKind::Denied => NC_EAUTH,
        _ => return None,
    };
    Some(Code(code))
}

/// The code for an error of opening, where the system's numbers stand for what the file system said.
pub(crate) fn of_opening(error: Error) -> Code {
    crate::process::last_error::set(&error.to_string());
    match (error.kind(), error.detail()) {
        (ErrorKind::NotFound, _) => Code(ENOENT),
        (ErrorKind::Denied, _) => Code(EACCES),
        (ErrorKind::Invalid, _) => Code(system_number(&error).unwrap_or(NC_EINVAL)),
        // Another program has it locked.
        (ErrorKind::Conflict, _) => Code(NC_EHDFERR),
        (_, Some(Detail::Found(_))) | (ErrorKind::Unsupported, None) => Code(NC_ENOTNC),
        _ => error.into(),
    }
}
