//! Names of metadata objects and of attributes with a meaning of their own (docs/spec/nczarr.md 2.1, 3.4, 3.5, 3.14).

pub(crate) use ncirrus_netcdf_view::names::{
    ARRAY_DIMENSIONS, DEFAULT_MAX_STRING_LEN, EXTENSION, MAX_STRING_LEN, NCZARR_ARRAY as ARRAY,
    NCZARR_ATTRIBUTES as ATTRIBUTES, NCZARR_ATTRIBUTES_3 as ATTRIBUTES_3, NCZARR_GROUP as GROUP,
    NCZARR_SUPERBLOCK as SUPERBLOCK, PROPERTIES, UC_ARRAY, UC_ATTRIBUTES, UC_GROUP, UC_SUPERBLOCK,
    is_virtual,
};

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

/// The fill value as an attribute.
pub(crate) const FILL_VALUE: &str = "_FillValue";
/// The dimension that netcdf-c names for scalars it stores with shape `[1]`.
pub(crate) const SCALAR_DIMENSION: &str = "_scalar_";
/// Prefix of the names of anonymous dimensions; the size follows.
pub(crate) const ANONYMOUS_PREFIX: &str = "_Anonymous_Dim_";
/// The same in netCDF-C 4.9.0 to 4.9.2.
pub(crate) const ANONYMOUS_PREFIX_490: &str = "_zdim_";

/// How text is encoded: a convention of netCDF4-python and xarray.
pub(crate) const ENCODING: &str = "_Encoding";
