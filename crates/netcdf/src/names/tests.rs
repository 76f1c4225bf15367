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
    let names = ["_Codecs", "_Format", "_IsNetcdf4", "_SuperblockVersion"];
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

#[test]
fn servers_and_netcdf_write_attributes_for_each_other() {
    for name in ["_DAP4_Little_Endian", "_DAP4_xdap", "_NCProperties", "_edu.ucar.id"] {
        assert!(is_reserved_in_dap4(name), "{name}");
    }
    assert!(!is_reserved_in_dap4("_FillValue") && !is_reserved_in_dap4("CLASS"));
}

#[test]
fn a_name_is_taken_by_the_format_that_has_it() {
    for (name, in_hdf5, in_zarr) in [
        ("CLASS", true, false),
        ("NAME", true, false),
        ("DIMENSION_LIST", true, false),
        ("_nc3_strict", true, false),
        ("_Netcdf4Dimid", true, false),
        ("_NCProperties", true, true),
        ("_Format", true, true),
        ("_ARRAY_DIMENSIONS", true, true),
        ("_ncirrus", false, true),
        ("_nczarr_anything", false, true),
        ("_FillValue", false, false),
        ("units", false, false),
    ] {
        let taken = [AttributeSpace::Hdf5, AttributeSpace::Zarr].map(|space| space.is_taken(name));
        assert_eq!(taken, [in_hdf5, in_zarr], "{name}");
    }
}

#[test]
fn names_that_are_other_paths_are_found_in_every_format() {
    use MemberSpace::{Hdf5, Zarr2, Zarr3};
    for (name, broken, reserved) in [
        ("", &[Hdf5, Zarr2, Zarr3][..], &[Hdf5, Zarr2, Zarr3][..]),
        ("a/b", &[Hdf5, Zarr2, Zarr3], &[Hdf5, Zarr2, Zarr3]),
        ("a\0b", &[Hdf5, Zarr2, Zarr3], &[Hdf5, Zarr2, Zarr3]),
        (".", &[Hdf5, Zarr2, Zarr3], &[Hdf5, Zarr2, Zarr3]),
        ("..", &[Zarr2, Zarr3], &[Zarr2, Zarr3]),
        (".zgroup", &[Zarr2, Zarr3], &[Zarr2, Zarr3]),
        ("a\\b", &[Zarr2, Zarr3], &[Zarr2, Zarr3]),
        ("zarr.json", &[Zarr3], &[Zarr3]),
        ("__a", &[], &[Zarr3]),
        ("_a", &[], &[]),
        ("µ v.1", &[], &[]),
    ] {
        let all = [Hdf5, Zarr2, Zarr3];
        let found: Vec<_> = all.into_iter().filter(|space| space.broken_rule(name).is_some()).collect();
        assert_eq!(found, broken, "{name:?}");
        let found: Vec<_> = all.into_iter().filter(|space| space.reserved_rule(name).is_some()).collect();
        assert_eq!(found, reserved, "{name:?}");
    }
}
