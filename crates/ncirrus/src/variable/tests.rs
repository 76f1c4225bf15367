use super::*;
use crate::{CreateOptions, Kind, OpenOptions, Session};

/// An array of Zarr v2 as other programs write it.
fn array(dtype: &str) -> String {
    format!(
        r#"{{"zarr_format": 2, "shape": [3], "chunks": [3], "dtype": "{dtype}", "compressor": null, "fill_value": null,
        "order": "C", "filters": null}}"#
    )
}

#[test]
fn what_zarr_says_beyond_our_types_is_reported_by_every_handle() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::builder().threads(1).durable(false).build().unwrap();
    std::fs::write(folder.path().join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    let unit = "ns".to_owned();
    let expected = [
        ("flag", "|b1", Some(ExtendedType::Bool)),
        ("half", "<f2", Some(ExtendedType::Float16)),
        ("wave", "<c16", Some(ExtendedType::Complex128)),
        ("time", "<M8[ns]", Some(ExtendedType::DateTime { unit, scale: 1 })),
        ("text", "<U5", Some(ExtendedType::FixedText { len: 5 })),
        ("plain", "<i4", None),
    ];
    for (name, dtype, _) in &expected {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join(".zarray"), array(dtype)).unwrap();
    }
    let url = folder.path().to_str().unwrap();
    let options = OpenOptions::new();
    let open = [Dataset::open_with(url, &options, &session), Dataset::update_with(url, &options, &session)];
    for dataset in open.map(Result::unwrap) {
        for (name, _, extended) in &expected {
            assert_eq!(dataset.variable(name).unwrap().stored_type(), *extended, "{name}");
        }
    }
    // A new dataset has only what this program defined.
    let new = Dataset::create_with("memory://new/a.zarr", &CreateOptions::new().kind(Kind::NcZarr), &session);
    let new = new.unwrap();
    new.edit(|model| Ok(model.add_variable(model.root(), "v", crate::Atomic::UByte.into(), &[])?)).unwrap();
    assert_eq!(new.variable("v").unwrap().stored_type(), None);
}
