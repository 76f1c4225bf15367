//! Kinds of datasets, detected from names and first bytes.
use ncirrus::Result;
use ncirrus_layout::{Limits, ListEntry, ObjectId, Want};
use ncirrus_store::Store;
use std::fmt;
use std::sync::Arc;

/// The kind of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlaceKind {
    /// A netCDF-3 file of any version.
    NetCdf3,
    /// A netCDF-4 or other HDF5 file.
    Hdf5,
    /// A dataset of Zarr v2.
    Zarr2,
    /// A dataset of Zarr v3.
    Zarr3,
    /// A dataset of NCZarr's first version.
    NcZarr,
    /// An Icechunk repository.
    Icechunk,
    /// A dataset of Zarr v2 in a zip file.
    ZippedZarr2,
    /// A dataset of Zarr v3 in a zip file.
    ZippedZarr3,
    /// A dataset of NCZarr's first version in a zip file.
    ZippedNcZarr,
    /// An Icechunk repository in a zip file.
    ZippedIcechunk,
    /// A prefix that is not a dataset.
    Prefix,
    /// An object that is not a dataset.
    Object,
}

impl PlaceKind {
    /// The kind in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NetCdf3 => "netCDF-3",
            Self::Hdf5 => "netCDF-4/HDF5",
            Self::Zarr2 => "Zarr v2",
            Self::Zarr3 => "Zarr v3",
            Self::NcZarr => "NCZarr v1",
            Self::Icechunk => "Icechunk",
            Self::ZippedZarr2 => "Zarr v2 in zip",
            Self::ZippedZarr3 => "Zarr v3 in zip",
            Self::ZippedNcZarr => "NCZarr v1 in zip",
            Self::ZippedIcechunk => "Icechunk in zip",
            Self::Prefix => "prefix",
            Self::Object => "object",
        }
    }

    /// Whether it is a dataset.
    pub fn is_dataset(self) -> bool {
        !matches!(self, Self::Prefix | Self::Object)
    }

    #[cfg(feature = "zip")]
    fn zipped(self) -> Self {
        match self {
            Self::Zarr2 => Self::ZippedZarr2,
            Self::Zarr3 => Self::ZippedZarr3,
            Self::NcZarr => Self::ZippedNcZarr,
            Self::Icechunk => Self::ZippedIcechunk,
            _ => Self::Object,
        }
    }
}

impl fmt::Display for PlaceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Where the signature of HDF5 may be within the first read (behind a user block, hdf5 II.A).
const SIGNATURES: [usize; 4] = [0, 512, 1024, 2048];
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
const FIRST_READ: u64 = 2056;

/// Extensions that no dataset has: such objects are not read.
const OTHERS: [&str; 34] = [
    "txt", "md", "rst", "html", "xml", "csv", "log", "pdf", "png", "jpg", "jpeg", "gif", "svg", "tif",
    "tiff", "py", "ipynb", "sh", "yaml", "yml", "toml", "json", "parquet", "grib", "grib2", "grb", "grb2",
    "npy", "npz", "gz", "bz2", "xz", "zst", "tar",
];

/// Whether an object cannot be a dataset because of its name.
pub(super) fn is_other(name: &str) -> bool {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| OTHERS.contains(&ending.as_str()))
}

/// The kind of a prefix by the names directly below it: `zarr.json`, names that begin with `.`, and the folders of an Icechunk
/// repository (docs/spec/icechunk-format.md, "Layout").
pub(super) fn of_prefix(names: &[ListEntry]) -> PlaceKind {
    let has = |wanted: &[&str]| names.iter().any(|entry| !entry.is_prefix && wanted.contains(&&*entry.name));
    let has_folder = |name: &str| names.iter().any(|entry| entry.is_prefix && entry.name == name);
    if has(&["zarr.json"]) {
        PlaceKind::Zarr3
    } else if has(&[".nczarr", ".zdataset"]) {
        PlaceKind::NcZarr
    } else if has(&[".zgroup", ".zarray", ".zmetadata", ".zattrs"]) {
        PlaceKind::Zarr2
    } else if has_folder("snapshots") && (has(&["repo"]) || has_folder("refs")) {
        PlaceKind::Icechunk
    } else {
        PlaceKind::Prefix
    }
}

/// The kind and size of an object, by its first bytes; `None` if there is none.
pub(super) async fn of_object(
    store: &Arc<dyn Store>,
    object: &ObjectId,
    limits: &Limits,
) -> Result<Option<(PlaceKind, u64)>> {
    let want = Want::Range(0..if is_other(object.name()) { 0 } else { FIRST_READ });
    let Some(head) = store.get(object, &want).await? else { return Ok(None) };
    let bytes = head.bytes.as_ref();
    let at = |offset: usize, magic: &[u8]| bytes.get(offset..).is_some_and(|rest| rest.starts_with(magic));
    let kind = match bytes {
        [b'C', b'D', b'F', 1 | 2 | 5, ..] => PlaceKind::NetCdf3,
        _ if SIGNATURES.iter().any(|offset| at(*offset, HDF5)) => PlaceKind::Hdf5,
        _ if ZIP.iter().any(|magic| at(0, magic)) => of_zip(store, object, limits).await,
        _ => PlaceKind::Object,
    };
    Ok(Some((kind, head.size)))
}

/// The kind of a zip file; a damaged one is not a dataset.
#[cfg(feature = "zip")]
async fn of_zip(store: &Arc<dyn Store>, object: &ObjectId, limits: &Limits) -> PlaceKind {
    let zip = ncirrus_store::ZipStore::open(Arc::clone(store), object.clone(), limits).await;
    let Ok(zip) = zip else { return PlaceKind::Object };
    let listing = zip.list(&zip.root(), None).await;
    listing.map_or(PlaceKind::Object, |listing| of_prefix(&listing.entries).zipped())
}

#[cfg(not(feature = "zip"))]
async fn of_zip(_: &Arc<dyn Store>, _: &ObjectId, _: &Limits) -> PlaceKind {
    PlaceKind::Object
}
