//! The examples of the library do what they say.
#[expect(dead_code, reason = "main is for the command line")]
#[path = "../examples/append.rs"]
mod append;
#[expect(dead_code, reason = "main is for the command line")]
#[path = "../examples/open_remote.rs"]
mod open_remote;
#[expect(dead_code, reason = "main is for the command line")]
#[path = "../examples/own_codec.rs"]
mod own_codec;
#[expect(dead_code, reason = "main is for the command line")]
#[path = "../examples/write.rs"]
mod write;

use ncirrus::codec::{ChunkInfo, DecodedElement};
use ncirrus::{CodecRegistry, CodecSpec, CreateOptions, Dataset, ErrorKind, Kind, Session};
use ncirrus_codec::conformance;
use std::sync::Arc;

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
    assert_eq!(write::write(&url).unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn the_codec_of_the_example_holds_to_the_contract() {
    let mut registry = CodecRegistry::builtin();
    registry.register(Arc::new(own_codec::RunsFactory)).unwrap();
    for (shape, width) in [(vec![5, 7], 1), (vec![40], 4), (vec![3, 3, 3], 8)] {
        let chunk = ChunkInfo { shape, element: DecodedElement::sized(Some(width)) };
        for spec in [
            CodecSpec::hdf5(own_codec::FILTER, &[]),
            CodecSpec::hdf5(own_codec::FILTER, &[3]),
            CodecSpec::v3(own_codec::NAME),
        ] {
            conformance::lossless(&registry, &spec, &chunk);
        }
    }
}

#[test]
fn a_codec_of_ones_own_is_known_to_the_sessions_that_it_is_registered_with() {
    let folder = tempfile::tempdir().unwrap();
    for kind in [Kind::Nc4, Kind::NcZarr, Kind::Zarr2, Kind::Zarr3] {
        let url = folder.path().join(format!("{kind:?}")).to_str().unwrap().to_owned();
        let options = CreateOptions::new().kind(kind);
        own_codec::write(&url, &options, &own_codec::session().unwrap()).unwrap();
        let (mask, fetched) = own_codec::read(&url, &own_codec::session().unwrap()).unwrap();
        assert_eq!(mask, own_codec::mask(), "{kind:?}");
        assert!(fetched < 20_000, "{kind:?}: {fetched} bytes of 90,000 values");
        let unknown = own_codec::read(&url, &Session::new().unwrap()).unwrap_err();
        assert_eq!(unknown.kind(), ErrorKind::Unsupported, "{kind:?}: {unknown}");
    }
}

#[test]
fn two_codecs_of_one_name_are_refused() {
    let session = Session::builder().codec(own_codec::RunsFactory).codec(own_codec::RunsFactory).build();
    assert_eq!(session.err().map(|error| error.kind()), Some(ErrorKind::Invalid));
}

/// Types that methods of the library return can be named through the library alone.
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
