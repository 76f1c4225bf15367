//! netCDF-C's rules for `ncirrus.netCDF4` (`ncirrus::netcdf`).
use ncirrus::netcdf::{AttributeSpace, DefaultChunks, RootFacts};
use ncirrus::{Attribute, Dataset, DimensionLen, Values};
use pyo3::prelude::*;

/// The value of an attribute that no file stores.
#[derive(Debug, IntoPyObject)]
pub(crate) enum SpecialValue {
    Text(String),
    Integer(i32),
}

/// Names of attributes that files of netCDF-4 reserve, as HDF5 or as Zarr.
#[pyfunction]
pub(crate) fn reserved_attributes() -> Vec<&'static str> {
    AttributeSpace::Hdf5.reserved().collect()
}

/// Whether an attribute name is reserved in netCDF-4 as HDF5, or as Zarr.
#[pyfunction]
pub(crate) fn is_reserved_attribute(name: &str, is_hdf5: bool) -> bool {
    let space = if is_hdf5 { AttributeSpace::Hdf5 } else { AttributeSpace::Zarr };
    space.is_reserved(name)
}

/// netCDF-C's chunks of a variable: the length of each axis, whether it grows, and the bytes of an element.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "lists come from Python by value")]
pub(crate) fn default_chunks(lengths: Vec<u64>, grows: Vec<bool>, itemsize: u64) -> Vec<u64> {
    let axis = |(len, grows): (&u64, &bool)| {
        if *grows { DimensionLen::Unlimited(*len) } else { DimensionLen::Fixed(*len) }
    };
    let axes: Vec<DimensionLen> = lengths.iter().zip(&grows).map(axis).collect();
    DefaultChunks::NetcdfC.shape(&axes, itemsize)
}

/// An attribute of the root group of an HDF5 file that the file does not store as one; `is_new` while it is written.
pub(crate) fn root_attribute(dataset: &Dataset, name: &str, is_new: bool) -> Option<SpecialValue> {
    let facts = dataset.facts();
    let provenance = format!("version=2,ncirrus={}", ncirrus::VERSION);
    let known = if is_new {
        RootFacts::of_new_hdf5(&provenance, dataset.kind().format.has_classic_model())
    } else {
        RootFacts::of(&facts).by_newer_netcdf_c()
    };
    value_of(known.attribute(name)?)
}

fn value_of(attribute: Attribute) -> Option<SpecialValue> {
    match attribute.values {
        Values::Char(text) => String::from_utf8(text).ok().map(SpecialValue::Text),
        Values::Int(numbers) => numbers.first().copied().map(SpecialValue::Integer),
        _ => None,
    }
}
