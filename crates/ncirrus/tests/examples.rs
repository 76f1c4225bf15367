//! The examples of the library do what they say.
#[expect(dead_code, reason = "main is for the command line")]
#[path = "../examples/append.rs"]
mod append;
#[expect(dead_code, reason = "main is for the command line")]
#[path = "../examples/open_remote.rs"]
mod open_remote;
#[expect(dead_code, reason = "main is for the command line")]
#[path = "../examples/write.rs"]
mod write;

use ncirrus::Dataset;

#[test]
fn what_the_example_writes_is_appended_to_and_read() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["new.zarr", "new.nc4"] {
        let url = folder.path().join(name).to_str().unwrap().to_owned();
        write::write(&url).unwrap();
        assert_eq!(append::append(&url).unwrap(), 5, "{name}");
        let dataset = Dataset::open(&url).unwrap();
        let expected: Vec<f32> = (0..5).flat_map(write::values_of).collect();
        assert_eq!(dataset.variable("field").unwrap().read::<f32>().unwrap().to_vec(), expected, "{name}");
        let series = open_remote::read_series(&url, "field").unwrap();
        assert_eq!(
            (series.shape.as_slice(), series.values.as_slice()),
            (&[5, 30, 40][..], &[273.0, 274.0, 275.0, 276.0, 277.0][..])
        );
        assert!(series.fetched > 0, "{name}");
    }
}

#[test]
fn a_dataset_that_is_there_is_not_replaced_by_the_example() {
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().join("new.zarr").to_str().unwrap().to_owned();
    write::write(&url).unwrap();
    assert_eq!(write::write(&url).unwrap_err().kind(), ncirrus::ErrorKind::Conflict);
}

/// What methods of the library return can be named from it alone.
fn first_of(dataset: &Dataset) -> Option<(ncirrus::VarId, ncirrus::GroupId, ncirrus::Dimension)> {
    let variable = dataset.variables().into_iter().next()?;
    let fault: Option<ncirrus::Fault> = variable.fault();
    assert_eq!(fault, None);
    Some((variable.id(), dataset.root().id(), variable.dimensions().into_iter().next()?))
}

#[test]
fn what_methods_return_can_be_named() {
    let dataset = Dataset::open("../../examples/sst.nc").unwrap();
    let (_, _, dimension) = first_of(&dataset).unwrap();
    assert_eq!(dimension.name, "time");
}
