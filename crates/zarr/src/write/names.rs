//! Names that a dataset cannot have (docs/spec/nczarr.md 3.14, 10.4).
use crate::Dialect;
use ncirrus_layout::{Error, Result};
use ncirrus_netcdf_view::AttributeSpace;
use ncirrus_netcdf_view::names::MemberSpace;
pub(crate) use ncirrus_netcdf_view::names::is_quantize;

/// Whether an attribute name belongs to the format.
pub(crate) fn is_reserved(name: &str) -> bool {
    AttributeSpace::Zarr.is_taken(name)
}

/// Checks the name of an attribute.
///
/// # Errors
/// `Invalid` if it is reserved.
pub(crate) fn check_attribute(name: &str) -> Result<()> {
    if is_reserved(name) {
        return Err(Error::invalid(format!("attribute name {name:?} is reserved by the format")));
    }
    Ok(())
}

/// Checks the name of a group or variable, which becomes a segment of keys. Names with a dot in front are refused in
/// every dialect: Zarr v2 has its metadata there, and readers that list a store skip them.
///
/// # Errors
/// `Invalid` if it cannot be one.
pub(crate) fn check_member(name: &str, dialect: Dialect) -> Result<()> {
    let space = if dialect.zarr_format() == 3 { MemberSpace::Zarr3 } else { MemberSpace::Zarr2 };
    let Some(reason) = space.broken_rule(name) else { return Ok(()) };
    Err(Error::invalid(format!("name {name:?} {reason} and cannot be stored in zarr")))
}

/// Checks the name of a dimension: it becomes part of a path (docs/spec/nczarr.md 3.5).
///
/// # Errors
/// `Invalid` if it is empty or contains `/`.
pub(crate) fn check_dimension(name: &str) -> Result<()> {
    if name.is_empty() || name.contains('/') {
        return Err(Error::invalid(format!("dimension name {name:?} is empty or contains '/'")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_format_are_reserved_and_string_lengths_are_not() {
        for name in ["_NCProperties", "_nczarr_group", "_NCZARR_ATTR", "_ARRAY_DIMENSIONS", "_ncirrus"] {
            assert!(check_attribute(name).is_err(), "{name}");
        }
        for name in [
            "_FillValue",
            "CLASS",
            "NAME",
            "DIMENSION_LIST",
            "_nczarr_maxstrlen",
            "_nczarr_default_maxstrlen",
            "units",
        ] {
            assert!(check_attribute(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn names_that_cannot_be_a_key_segment_are_refused() {
        for dialect in [Dialect::Attributes, Dialect::Plain, Dialect::V3, Dialect::Nczarr3] {
            for name in ["", "a/b", "..", ".zgroup", "a\0", "a\\b"] {
                assert!(check_member(name, dialect).is_err(), "{name:?} {dialect}");
            }
            assert!(check_member("µ v", dialect).is_ok(), "{dialect}");
            let is_v3 = dialect.zarr_format() == 3;
            assert_eq!(check_member("zarr.json", dialect).is_err(), is_v3, "{dialect}");
        }
    }
}
