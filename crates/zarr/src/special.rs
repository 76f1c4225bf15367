//! Names of metadata objects and of attributes with a meaning of their own (docs/spec/nczarr.md 2.1, 3.4, 3.5, 3.14).

/// Zarr v2: a group's marker object.
pub(crate) const ZGROUP: &str = ".zgroup";
/// Zarr v2: the description of an array.
pub(crate) const ZARRAY: &str = ".zarray";
/// Zarr v2: the attributes of a group or array.
pub(crate) const ZATTRS: &str = ".zattrs";
/// Zarr v2: consolidated metadata at the root.
pub(crate) const ZMETADATA: &str = ".zmetadata";
/// Zarr v3: the only metadata object.
pub(crate) const ZARR_JSON: &str = "zarr.json";

/// V1: superblock.
pub(crate) const V1_SUPERBLOCK: &str = ".nczarr";
/// V1: group information.
pub(crate) const V1_GROUP: &str = ".nczgroup";
/// V1: array information.
pub(crate) const V1_ARRAY: &str = ".nczvar";
/// V1: attribute types.
pub(crate) const V1_ATTRIBUTES: &str = ".nczattr";
/// V1 as documented: array information.
pub(crate) const V1D_ARRAY: &str = ".nczarray";
/// V1 as documented: attribute types.
pub(crate) const V1D_ATTRIBUTES: &str = ".nczattrs";

/// D18: superblock.
pub(crate) const D18_SUPERBLOCK: &str = ".zdataset";
/// D18: dimensions of a group.
pub(crate) const D18_DIMENSIONS: &str = ".zdims";
/// D18: user-defined types of a group.
pub(crate) const D18_TYPES: &str = ".ztypedefs";
/// D18: attribute types.
pub(crate) const D18_ATTRIBUTE_TYPES: &str = ".zattr_type";
/// D18: attributes, by the draft's other name.
pub(crate) const D18_ATTRIBUTES: &str = ".zattr";

/// ATT, LC, N3: superblock.
pub(crate) const SUPERBLOCK: &str = "_nczarr_superblock";
/// ATT, LC, N3: group information.
pub(crate) const GROUP: &str = "_nczarr_group";
/// ATT, LC, N3: array information.
pub(crate) const ARRAY: &str = "_nczarr_array";
/// ATT, LC: attribute types.
pub(crate) const ATTRIBUTES: &str = "_nczarr_attr";
/// N3: attribute types.
pub(crate) const ATTRIBUTES_3: &str = "_nczarr_attrs";
/// UC: superblock.
pub(crate) const UC_SUPERBLOCK: &str = "_NCZARR_SUPERBLOCK";
/// UC: group information.
pub(crate) const UC_GROUP: &str = "_NCZARR_GROUP";
/// UC: array information.
pub(crate) const UC_ARRAY: &str = "_NCZARR_ARRAY";
/// UC: attribute types.
pub(crate) const UC_ATTRIBUTES: &str = "_NCZARR_ATTR";

/// Names of the dimensions of an array, by xarray's convention.
pub(crate) const ARRAY_DIMENSIONS: &str = "_ARRAY_DIMENSIONS";
/// Provenance, at the root.
pub(crate) const PROPERTIES: &str = "_NCProperties";
/// The fill value as an attribute.
pub(crate) const FILL_VALUE: &str = "_FillValue";
/// Length of the variable's strings.
pub(crate) const MAX_STRING_LEN: &str = "_nczarr_maxstrlen";
/// Default length of strings.
pub(crate) const DEFAULT_MAX_STRING_LEN: &str = "_nczarr_default_maxstrlen";
/// The dimension that netcdf-c names for scalars it stores with shape `[1]`.
pub(crate) const SCALAR_DIMENSION: &str = "_scalar_";
/// Prefix of the names of anonymous dimensions; the size follows.
pub(crate) const ANONYMOUS_PREFIX: &str = "_Anonymous_Dim_";

/// How text is encoded: a convention of netCDF4-python and xarray.
pub(crate) const ENCODING: &str = "_Encoding";
/// What NCZarr cannot express, in a member of our own (`docs/formats/zarr-writing.md`).
pub(crate) const EXTENSION: &str = "_ncirrus";

/// Whether the attribute holds metadata of NCZarr or xarray and is not shown as an attribute.
pub(crate) fn is_hidden(name: &str) -> bool {
    const HIDDEN: [&str; 12] = [
        ARRAY_DIMENSIONS,
        PROPERTIES,
        SUPERBLOCK,
        GROUP,
        ARRAY,
        ATTRIBUTES,
        ATTRIBUTES_3,
        UC_SUPERBLOCK,
        UC_GROUP,
        UC_ARRAY,
        UC_ATTRIBUTES,
        EXTENSION,
    ];
    HIDDEN.contains(&name)
}

/// Whether the attribute is computed by the library and never stored (docs/spec/nczarr.md 3.14): ignored if it is
/// found in a store, rejected if it is to be written.
pub(crate) fn is_virtual(name: &str) -> bool {
    const VIRTUAL: [&str; 11] = [
        "_IsNetcdf4",
        "_SuperblockVersion",
        "_Format",
        "_Codecs",
        "_Netcdf4Coordinates",
        "_Netcdf4Dimid",
        "_nc3_strict",
        "CLASS",
        "NAME",
        "DIMENSION_LIST",
        "REFERENCE_LIST",
    ];
    VIRTUAL.contains(&name)
}
