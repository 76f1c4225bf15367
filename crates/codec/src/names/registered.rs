//! Filters that are registered with The HDF Group, for messages about those that are not supported here.

/// Numbers and names.
const REGISTERED: [(u32, &str); 24] = [
    (305, "LZO"),
    (32002, "MAFISC"),
    (32003, "Snappy"),
    (32005, "APAX"),
    (32006, "CBF"),
    (32007, "JPEG-XR"),
    (32009, "SPDP"),
    (32010, "LPC-Rice"),
    (32011, "CCSDS-123"),
    (32012, "JPEG-LS"),
    (32014, "fpzip"),
    (32016, "B3D"),
    (32017, "SZ"),
    (32018, "FCIDECOMP"),
    (32019, "JPEG"),
    (32020, "VBZ"),
    (32021, "FAPEC"),
    (32024, "SZ3"),
    (32025, "Delta-Rice"),
    (32027, "FLAC"),
    (32028, "SPERR"),
    (32029, "TERSE/PROLIX"),
    (32030, "FFMPEG"),
    (32031, "JPEG2000"),
];

/// The number, and its registered name.
pub(super) fn label(id: u32) -> String {
    match REGISTERED.iter().find(|(number, _)| *number == id) {
        Some((_, name)) => format!("HDF5 filter {id} ({name})"),
        None => format!("HDF5 filter {id}"),
    }
}
