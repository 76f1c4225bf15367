//! Damaged and odd datasets: what is intact is read, what is not fails with the object's key, what was repaired is
//! reported.
use crate::corpus_nczarr::cases;
use crate::support::{cdl_of, open, session, values};
use ncirrus::{Dataset, ErrorKind};
use std::collections::BTreeSet;

/// The expectations for one dataset.
struct DamagedCase {
    case: &'static str,
    /// Lines that the dump must contain.
    lines: &'static [&'static str],
    /// The only member that cannot be read: its path, the kind of error, a part of the reason, and the object's key.
    fault: Option<(&'static str, ErrorKind, &'static str, &'static str)>,
    /// The only warnings.
    warnings: &'static [&'static str],
}

const fn whole(case: &'static str, lines: &'static [&'static str]) -> DamagedCase {
    DamagedCase { case, lines, fault: None, warnings: &[] }
}

const ROWS: &[&str] = &["\tint v(lat, lon) ;", "  0, 1, 2, 3,", "  4, 5, 6, 7,", "  8, _, 10, 11 ;"];

const CASES: [DamagedCase; 24] = [
    // docs/spec/nczarr.md 3.4: the older, shorter names of the members.
    whole("alternate-short-keys", ROWS),
    // docs/spec/nczarr.md 3.5: the dimension references win over the names of xarray.
    whole("arraydims-conflict", ROWS),
    // docs/spec/nczarr.md 3.8.2: the byte order of an attribute's type has no meaning.
    whole("attrtype-be_i2", &["\t\tv:extra = 5s ;"]),
    whole("attrtype-le_i8", &["\t\tv:extra = 5LL ;"]),
    whole("attrtype-na_i1", &["\t\tv:extra = 5b ;"]),
    whole("attrtype-na_u1", &["\t\tv:extra = 5UB ;"]),
    // docs/spec/nczarr.md 3.8.2: a type that is unknown or does not match the value is inferred (docs/spec/nczarr.md
    // 5.4).
    whole("attrtype-le_U1", &["\t\tv:extra = 5 ;"]),
    whole("attrtype-na_J0", &["\t\tv:extra = 5 ;"]),
    whole("attrtype-na_S1", &["\t\tv:extra = 5 ;"]),
    whole("attrtype-na_S3", &["\t\tv:extra = 5 ;"]),
    whole("attrtype-na_b1", &["\t\tv:extra = 5 ;"]),
    // docs/spec/nczarr.md 3.9: numbers that are not valid JSON.
    whole("bare-nan-inf", ROWS),
    // docs/spec/nczarr.md 2.2: the third version is preferred; its root has no members.
    whole("both-v2-v3", &["netcdf edge {", "}"]),
    // docs/spec/nczarr.md 3.5: the shape is right, and the axis has an anonymous dimension.
    DamagedCase {
        case: "dim-mismatch",
        lines: &["\tlon = 9 ;", "\tfloat lon(_Anonymous_Dim_4) ;", "\tint v(lat, _Anonymous_Dim_4) ;"],
        fault: None,
        warnings: &[
            "/lon: dimension /lon has length 9, the axis 4",
            "/v: dimension /lon has length 9, the axis 4",
        ],
    },
    DamagedCase {
        case: "dimref-unknown",
        lines: &["\tlon = 4 ;", "\tfloat lon(lon) ;", "\tint v(lat, _Anonymous_Dim_4) ;"],
        fault: None,
        warnings: &["/v: there is no dimension /nope"],
    },
    // docs/spec/nczarr.md 4.3: a missing chunk is all fill, a short one and one with surplus bytes are errors.
    DamagedCase {
        case: "long-chunk",
        lines: &[" lat = -10.5, 0, 10.25 ;", " lon = 0, 90, 180, 270 ;"],
        fault: Some((
            "/v",
            ErrorKind::Malformed,
            "the chunk has more than the 48 bytes of its elements",
            "v/0.0",
        )),
        warnings: &[],
    },
    whole("missing-chunk", &["  _, _, _, _,", "  _, _, _, _ ;"]),
    DamagedCase {
        case: "short-chunk",
        lines: &[" lat = -10.5, 0, 10.25 ;", " lon = 0, 90, 180, 270 ;"],
        fault: Some(("/v", ErrorKind::Malformed, "the chunk has 20 bytes instead of 48", "v/0.0")),
        warnings: &[],
    },
    // docs/spec/nczarr.md 2.2: without a superblock it is plain Zarr.
    whole("no-zattrs", ROWS),
    // docs/spec/nczarr.md 3.1: the first JSON value counts.
    DamagedCase {
        case: "stale-tail",
        lines: &[
            "\tt = UNLIMITED ; // (6 currently)",
            "\t\tv:a = \"s\" ;",
            "\t\tv:b = \"new\" ;",
            "  77, 77, 77 ;",
        ],
        fault: None,
        warnings: &[],
    },
    // docs/spec/nczarr.md 3.10: the JSON source of a value that is not a string.
    whole("text-null", &["\t\tv:long_name = \"null\" ;"]),
    // docs/spec/nczarr.md 3.4: an array that is not listed is shown, one that is listed but missing is damaged.
    whole("unlisted-array", &["\tint v(lat, lon) ;", "\tint unlisted(lat, lon) ;"]),
    DamagedCase {
        case: "var-no-zarray",
        lines: &[" lat = -10.5, 0, 10.25 ;", " lon = 0, 90, 180, 270 ;", "\t\tv:long_name = \"value\" ;"],
        fault: Some(("/v", ErrorKind::NotFound, "the array is listed but has no .zarray", "v/.zarray")),
        warnings: &["the array is listed but has no .zarray"],
    },
    // docs/spec/nczarr.md 3.5: without array information it is a plain array.
    whole("var-no-zattrs", &["\tint v(_Anonymous_Dim_3, _Anonymous_Dim_4) ;", "  8, -1, 10, 11 ;"]),
];

#[test]
fn damaged_datasets_are_read_as_far_as_they_are_whole() {
    let Some(cases) = cases() else { return };
    let session = session();
    let edges = cases.iter().filter_map(|case| Some((case.id.strip_prefix("edge/")?, &case.path)));
    let tested: BTreeSet<&str> = CASES.iter().map(|expected| expected.case).collect();
    for (name, path) in edges {
        assert!(tested.contains(name), "nothing is asked of {name}");
        let expected = CASES.iter().find(|expected| expected.case == name).unwrap();
        check(expected, &open(path, &session).unwrap());
    }
}

fn check(expected: &DamagedCase, dataset: &Dataset) {
    let case = expected.case;
    let (text, is_whole) = cdl_of(dataset, "edge", |_| ()).unwrap();
    for line in expected.lines {
        assert!(text.lines().any(|one| one == *line), "{case} lacks the line {line:?}:\n{text}");
    }
    let warnings = dataset.warnings();
    assert_eq!(warnings.len(), expected.warnings.len(), "{case}: {warnings:?}");
    for (warning, start) in warnings.iter().zip(expected.warnings) {
        assert!(warning.starts_with(start), "{case}: {warning}");
    }
    assert_eq!(is_whole, expected.fault.is_none(), "{case}:\n{text}");
    for variable in dataset.variables() {
        match (values(&variable), expected.fault) {
            (Err(error), Some((path, kind, reason, key))) if path == variable.path() => {
                assert_eq!(error.kind(), kind, "{case}: {error:?}");
                assert_eq!(error.place().path.as_deref(), Some(path), "{case}: {error:?}");
                let object = error.place().object.as_deref().unwrap_or_default();
                assert!(error.message().contains(reason) && object.ends_with(key), "{case}: {error}");
                assert!(text.contains(reason) && text.contains(key), "{case}:\n{text}");
            }
            (outcome, _) => assert!(outcome.is_ok(), "{case}: {:?}", outcome.err()),
        }
    }
}

#[test]
fn a_directory_without_any_marker_is_refused() {
    let Some(cases) = cases() else { return };
    let case = cases.iter().find(|case| case.id == "nczarr_test/ref_notzarr").unwrap();
    let error = open(&case.path, &session()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(
        error.message().contains("not a dataset of a known format (classic, hdf5, zarr, icechunk, dap)"),
        "{error}"
    );
    assert!(error.to_string().contains("ref_notzarr"), "{error}");
}
