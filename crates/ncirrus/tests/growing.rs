//! Dimensions that become unlimited.
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, Result, Selection, Session};

/// Plain Zarr has no unlimited dimensions, and any of its arrays may grow; files keep the dimensions that they were
/// created with.
#[test]
fn a_fixed_dimension_grows_where_the_format_can() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::new()?;
    for (kind, name, grows) in [
        (Kind::Zarr2, "a.zarr", true),
        (Kind::Zarr3, "b.zarr", true),
        (Kind::NcZarr, "c.zarr", true),
        (Kind::Nc3, "d.nc", false),
        (Kind::Nc4, "e.nc", false),
    ] {
        let path = folder.path().join(name);
        let url = path.to_str().unwrap();
        let dataset = Dataset::create_with(url, &CreateOptions::new().kind(kind), &session)?;
        dataset.root().add_dimension("t", DimensionLen::Fixed(3))?;
        dataset.root().add_variable("v", Atomic::Int, &["t"])?.write_all(&[1i32, 2, 3])?;
        dataset.close()?;
        let dataset = Dataset::update_with(url, &Default::default(), &session)?;
        let opened = dataset.edit(|model| {
            let dim = model.visible_dimension(model.root(), "t").unwrap();
            Ok(model.set_dimension_len(dim, DimensionLen::Unlimited(3))?)
        });
        assert_eq!(opened.is_ok(), grows, "{name}");
        if grows {
            dataset.variable("v")?.write(&Selection::slab(&[3], &[2]), &[4i32, 5])?;
        }
        dataset.close()?;
        let read = Dataset::open_with(url, &Default::default(), &session)?.variable("v")?.read::<i32>()?;
        assert_eq!(read[..], [1, 2, 3, 4, 5][..if grows { 5 } else { 3 }], "{name}");
    }
    Ok(())
}
