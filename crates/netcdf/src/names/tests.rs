use super::*;

/// What netCDF-C 4.9.0 reserves in files of netCDF-4.
const OF_NETCDF_C: [&str; 17] = [
    "CLASS",
    "DIMENSION_LIST",
    "NAME",
    "REFERENCE_LIST",
    "_ARRAY_DIMENSIONS",
    "_Codecs",
    "_Format",
    "_IsNetcdf4",
    "_NCProperties",
    "_Netcdf4Coordinates",
    "_Netcdf4Dimid",
    "_SuperblockVersion",
    "_nc3_strict",
    "_nczarr_array",
    "_nczarr_attr",
    "_nczarr_group",
    "_nczarr_superblock",
];

fn sorted(names: impl Iterator<Item = &'static str>) -> Vec<&'static str> {
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names
}

#[test]
fn hdf5_reserves_and_hides_what_netcdf_c_does() {
    assert_eq!(sorted(AttributeSpace::Hdf5.reserved()), OF_NETCDF_C);
    for (name, _) in OWNED {
        let hides = AttributeSpace::Hdf5.is_hidden(name);
        assert_eq!(hides, OF_NETCDF_C.contains(&name), "{name}");
    }
    assert!(!AttributeSpace::Hdf5.is_reserved("_nczarr_anything"));
    assert!(!AttributeSpace::Hdf5.is_reserved("_FillValue"));
}

#[test]
fn zarr_reserves_what_hdf5_does_and_prefixes() {
    for name in OF_NETCDF_C {
        assert!(AttributeSpace::Zarr.is_reserved(name), "{name}");
    }
    for name in ["_ncirrus", "_nczarr_attrs", "_nczarr_x", "_NCZARR_ATTR", "_NCZARR_X"] {
        assert!(AttributeSpace::Zarr.is_reserved(name), "{name}");
    }
    for name in ["_FillValue", "_nczarr_maxstrlen", "_nczarr_default_maxstrlen", "units", "_Encoding"] {
        assert!(!AttributeSpace::Zarr.is_reserved(name), "{name}");
    }
}

#[test]
fn a_store_of_zarr_hides_what_it_stores_itself() {
    let hidden = [
        "_ARRAY_DIMENSIONS",
        "_NCProperties",
        "_NCZARR_ARRAY",
        "_NCZARR_ATTR",
        "_NCZARR_GROUP",
        "_NCZARR_SUPERBLOCK",
        "_ncirrus",
        "_nczarr_array",
        "_nczarr_attr",
        "_nczarr_attrs",
        "_nczarr_group",
        "_nczarr_superblock",
    ];
    let found = OWNED.iter().map(|(name, _)| *name).filter(|name| AttributeSpace::Zarr.is_hidden(name));
    assert_eq!(sorted(found), hidden);
}

#[test]
fn what_zarr_never_stores_is_virtual() {
    let names = [
        "CLASS",
        "DIMENSION_LIST",
        "NAME",
        "REFERENCE_LIST",
        "_Codecs",
        "_Format",
        "_IsNetcdf4",
        "_Netcdf4Coordinates",
        "_Netcdf4Dimid",
        "_SuperblockVersion",
        "_nc3_strict",
    ];
    assert_eq!(sorted(OWNED.iter().map(|(name, _)| *name).filter(|name| is_virtual(name))), names);
}

#[test]
fn some_attributes_are_found_by_name_only() {
    let found = OWNED.iter().map(|(name, _)| *name).filter(|name| is_found_unlisted(name));
    assert_eq!(sorted(found), ["_Codecs", "_IsNetcdf4", "_NCProperties", "_SuperblockVersion"]);
    assert!(is_of_root("_IsNetcdf4") && !is_of_root("_Codecs"));
}

#[test]
fn quantization_has_its_own_attributes() {
    assert!(is_quantize("_QuantizeBitGroomNumberOfSignificantDigits"));
    assert!(is_quantize("_QuantizeBitRoundNumberOfSignificantBits"));
    assert!(!is_quantize("_Quantize"));
}
