//! Attribute names that belong to netCDF-4 or to Zarr (docs/spec/hdf5-netcdf4.md H.2, H.3, H.7; docs/spec/nczarr.md
//! 3.4, 3.5, 3.14). Each is in one table, with its owner; what a format does with a name follows from that.

/// Provenance of a dataset, an attribute of the root group.
pub const PROPERTIES: &str = "_NCProperties";
/// Whether netCDF-4 wrote an HDF5 file.
pub const IS_NETCDF4: &str = "_IsNetcdf4";
/// Version of the superblock.
pub const SUPERBLOCK_VERSION: &str = "_SuperblockVersion";
/// Codecs of a variable of Zarr.
pub const CODECS: &str = "_Codecs";
/// The kind of a dataset.
pub const FORMAT: &str = "_Format";
/// Names of the dimensions of an array, by xarray's convention.
pub const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";
/// NCZarr in Zarr v2 and v3: superblock.
pub const NCZARR_SUPERBLOCK: &str = "_nczarr_superblock";
/// NCZarr in Zarr v2 and v3: information on a group.
pub const NCZARR_GROUP: &str = "_nczarr_group";
/// NCZarr in Zarr v2 and v3: information on an array.
pub const NCZARR_ARRAY: &str = "_nczarr_array";
/// NCZarr in Zarr v2: types of attributes.
pub const NCZARR_ATTRIBUTES: &str = "_nczarr_attr";
/// NCZarr in Zarr v3: types of attributes.
pub const NCZARR_ATTRIBUTES_3: &str = "_nczarr_attrs";
/// NCZarr until 4.9.0: superblock.
pub const UC_SUPERBLOCK: &str = "_NCZARR_SUPERBLOCK";
/// NCZarr until 4.9.0: information on a group.
pub const UC_GROUP: &str = "_NCZARR_GROUP";
/// NCZarr until 4.9.0: information on an array.
pub const UC_ARRAY: &str = "_NCZARR_ARRAY";
/// NCZarr until 4.9.0: types of attributes.
pub const UC_ATTRIBUTES: &str = "_NCZARR_ATTR";
/// What NCZarr cannot express, in a member of ncirrus' own (`docs/formats/zarr-writing.md`).
pub const EXTENSION: &str = "_ncirrus";
/// Length of the strings of a variable of Zarr (docs/spec/nczarr.md 3.12).
pub const MAX_STRING_LEN: &str = "_nczarr_maxstrlen";
/// Length of the strings of all other variables of a dataset of Zarr.
pub const DEFAULT_MAX_STRING_LEN: &str = "_nczarr_default_maxstrlen";

/// Who uses an attribute name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameOwner {
    /// HDF5 files of netCDF-4 store it.
    Hdf5,
    /// Datasets of Zarr store it, under a name that netCDF-C 4.9.0 reserves in HDF5 files, too.
    Zarr,
    /// Datasets of Zarr store it; in HDF5 files it is an ordinary name.
    ZarrOnly,
    /// Both store it.
    Both,
    /// The library computes it; it is stored nowhere.
    Computed,
}

use NameOwner::{Both, Computed, Hdf5, Zarr, ZarrOnly};

/// All names with a meaning of their own.
const OWNED: [(&str, NameOwner); 23] = [
    ("CLASS", Hdf5),
    ("DIMENSION_LIST", Hdf5),
    ("NAME", Hdf5),
    ("REFERENCE_LIST", Hdf5),
    ("_Netcdf4Coordinates", Hdf5),
    ("_Netcdf4Dimid", Hdf5),
    ("_nc3_strict", Hdf5),
    (PROPERTIES, Both),
    (IS_NETCDF4, Computed),
    (SUPERBLOCK_VERSION, Computed),
    (CODECS, Computed),
    (FORMAT, Computed),
    (ARRAY_DIMENSIONS, Zarr),
    (NCZARR_SUPERBLOCK, Zarr),
    (NCZARR_GROUP, Zarr),
    (NCZARR_ARRAY, Zarr),
    (NCZARR_ATTRIBUTES, Zarr),
    (NCZARR_ATTRIBUTES_3, ZarrOnly),
    (UC_SUPERBLOCK, ZarrOnly),
    (UC_GROUP, ZarrOnly),
    (UC_ARRAY, ZarrOnly),
    (UC_ATTRIBUTES, ZarrOnly),
    (EXTENSION, ZarrOnly),
];

fn owner(name: &str) -> Option<NameOwner> {
    OWNED.iter().find(|(known, _)| *known == name).map(|(_, owner)| *owner)
}

/// The storage formats in which netCDF-4 keeps names for itself. netCDF-3 keeps none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttributeSpace {
    /// netCDF-4 in HDF5 files.
    Hdf5,
    /// Zarr of any version and dialect.
    Zarr,
}

impl AttributeSpace {
    /// Whether the format itself stores or computes an attribute of this name, so that datasets have none of their own. In HDF5
    /// files netCDF-C hides all names that it reserves; in Zarr those that only HDF5 files have are ordinary ones.
    pub fn is_taken(self, name: &str) -> bool {
        match self {
            Self::Hdf5 => self.is_reserved(name),
            Self::Zarr => self.is_reserved(name) && owner(name) != Some(Hdf5),
        }
    }

    /// Whether programs that use netCDF-C's interface cannot write attributes of this name.
    pub fn is_reserved(self, name: &str) -> bool {
        match self {
            Self::Hdf5 => owner(name).is_some_and(|owner| owner != ZarrOnly),
            Self::Zarr => {
                let is_prefixed = name.starts_with("_nczarr_") || name.starts_with("_NCZARR_");
                is_prefixed && !STRING_LENGTHS.contains(&name) || owner(name).is_some()
            }
        }
    }

    /// Whether a stored attribute of this name belongs to the format and is not shown as an attribute. (In Zarr, those
    /// that [`is_virtual`] names are not shown either: the format never writes them.)
    pub fn is_hidden(self, name: &str) -> bool {
        match self {
            Self::Hdf5 => self.is_reserved(name),
            Self::Zarr => matches!(owner(name), Some(Zarr | ZarrOnly | Both)),
        }
    }

    /// The reserved names, without those that only a prefix reserves.
    pub fn reserved(self) -> impl Iterator<Item = &'static str> {
        OWNED.iter().map(|(name, _)| *name).filter(move |name| self.is_reserved(name))
    }
}

/// Lengths of strings in datasets of Zarr: ordinary attributes in spite of their prefix (docs/spec/nczarr.md 3.12).
pub const STRING_LENGTHS: [&str; 2] = [MAX_STRING_LEN, DEFAULT_MAX_STRING_LEN];

/// Whether an attribute is never stored in Zarr (docs/spec/nczarr.md 3.14): the library computes it. It is ignored if it is
/// found in a store, and rejected if it is to be written.
pub fn is_virtual(name: &str) -> bool {
    owner(name) == Some(Computed)
}

/// Where names of groups, variables and types become parts of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MemberSpace {
    /// Links of HDF5 files.
    Hdf5,
    /// Segments of keys of Zarr v2.
    Zarr2,
    /// Segments of keys of Zarr v3.
    Zarr3,
}

impl MemberSpace {
    /// Why a name would be another path, or none; `None` for a name that can be stored.
    pub fn broken_rule(self, name: &str) -> Option<&'static str> {
        let is_zarr = self != Self::Hdf5;
        Some(match name {
            "" => "is empty",
            _ if name.contains('/') => "contains '/'",
            _ if name.contains('\0') => "contains NUL",
            "." => "is the group itself",
            _ if is_zarr && name.starts_with('.') => "begins with '.'",
            // Zarr's libraries for Python read it as '/'.
            _ if is_zarr && name.contains('\\') => "contains '\\'",
            "zarr.json" if self == Self::Zarr3 => "is that of a metadata object",
            _ => return None,
        })
    }

    /// As [`broken_rule`](Self::broken_rule), and names that the specification reserves, though libraries read them:
    /// `__` begins none in Zarr v3.
    pub fn reserved_rule(self, name: &str) -> Option<&'static str> {
        let is_reserved = self == Self::Zarr3 && name.starts_with("__");
        self.broken_rule(name).or(is_reserved.then_some("begins with '__', which Zarr v3 reserves"))
    }
}

/// Whether the root group of a netCDF-4 dataset has an attribute of this name without storing it as one: it is found by
/// its name, but has no number and is not listed.
pub fn is_of_root(name: &str) -> bool {
    matches!(name, PROPERTIES | IS_NETCDF4 | SUPERBLOCK_VERSION)
}

/// Whether netCDF-C finds an attribute by this name that is not listed: those of the root group, and the codecs of
/// variables of Zarr.
pub fn is_found_unlisted(name: &str) -> bool {
    is_of_root(name) || name == CODECS
}

/// Whether an attribute of the root of a DAP4 response is one that servers and netCDF-C write for each other, and is not
/// shown.
pub fn is_reserved_in_dap4(name: &str) -> bool {
    ["_DAP4_", PROPERTIES, "_edu.ucar."].iter().any(|start| name.starts_with(start))
}

/// Whether an attribute is one that quantization adds: in NCZarr it has no type entry (docs/spec/nczarr.md 3.13).
pub fn is_quantize(name: &str) -> bool {
    name.starts_with("_Quantize") && (name.ends_with("Digits") || name.ends_with("Bits"))
}

#[cfg(test)]
mod tests;
