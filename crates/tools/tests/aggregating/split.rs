//! Splitting datasets.
use super::files::{Bench, CONVENTIONS, KINDS, doubles, master};
use ncirrus::{Atomic, CodecSpec, ErrorKind, Kind, Selection, Storage};
use ncirrus_tools::aggregate::{Convention, MasterOptions, SplitOptions, split};

fn shape(lens: &[(&str, u64)]) -> SplitOptions<'static> {
    SplitOptions::new().shape(lens.iter().map(|(name, len)| ((*name).to_owned(), *len)).collect())
}

#[test]
fn every_convention_and_kind_of_master_reads_as_the_dataset_that_was_split() {
    let bench = Bench::new();
    let source = bench.changed_field("a.nc", 0..5, |dataset| {
        let group = dataset.root().add_group("ocean").unwrap();
        let sst = group.add_variable("sst", Atomic::Short, &["time", "lon"]).unwrap();
        sst.write(&Selection::slab(&[0, 0], &[5, 4]), &(0..20).collect::<Vec<i16>>()).unwrap();
    });
    for convention in CONVENTIONS {
        for kind in KINDS {
            // Groups of the source need a kind of master that has groups.
            if kind.is_classic() {
                continue;
            }
            let case = format!("{}-{kind:?}", convention.name());
            let target = bench.path(&format!("{case}/m.nca"));
            let options = shape(&[("time", 2), ("lat", 2)]);
            let report =
                split(&bench.open(&source), &target, &options, &master(convention, kind), &bench.session);
            let report = report.unwrap_or_else(|error| panic!("{case}: {error}"));
            let arrays = [("/tas".to_owned(), vec![3, 2, 1]), ("/ocean/sst".to_owned(), vec![3, 1])];
            assert_eq!((report.variables, report.written, report.kept), (arrays.to_vec(), 9, 0), "{case}");
            assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..5)), "{case}");
            assert_eq!(
                bench.numbers(&target, "/ocean/sst"),
                (0..20).map(f64::from).collect::<Vec<_>>(),
                "{case}"
            );
            assert_eq!(bench.numbers(&target, "height"), [2.0], "{case}");
            assert!(bench.is_absent(&bench.path(&format!("{case}/m/.ncirrus-split.json"))), "{case}");
        }
    }
}

#[test]
fn coordinates_along_records_of_netcdf3_are_stored_in_every_kind_of_master() {
    let bench = Bench::new();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    for kind in KINDS {
        let target = bench.path(&format!("{kind:?}/m.nca"));
        let options = shape(&[("time", 5)]);
        split(&bench.open(source), &target, &options, &master(Convention::Cfa06, kind), &bench.session)
            .unwrap();
        for name in ["time", "sst"] {
            assert_eq!(bench.numbers(&target, name), bench.numbers(source, name), "{kind:?} {name}");
        }
    }
}

#[test]
fn a_netcdf3_master_has_netcdf3_fragments() {
    let bench = Bench::new();
    let (source, target) = (bench.field("a.nc", 0..5), bench.path("m.nca"));
    split(
        &bench.open(&source),
        &target,
        &shape(&[("time", 2)]),
        &master(Convention::Cfa04, Kind::Nc3),
        &bench.session,
    )
    .unwrap();
    assert_eq!(bench.open(&bench.path("m/m.tas.2.0.0.nc")).kind(), Kind::Nc3.into());
    assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..5)));
}

#[test]
fn fragments_describe_themselves() {
    let bench = Bench::new();
    let source = bench.changed_field("a.nc", 0..5, |dataset| {
        let tas = dataset.variable("tas").unwrap();
        let other = dataset.root().add_variable("other", Atomic::Double, &["time", "lat", "lon"]).unwrap();
        other.set_storage(Storage::Chunked(vec![1, 3, 4]), vec![CodecSpec::hdf5(1, &[4])]).unwrap();
        other.write(&Selection::slab(&[0, 0, 0], &[5, 3, 4]), &doubles(&(0..5))).unwrap();
        assert_eq!(tas.shape(), [5, 3, 4]);
    });
    let target = bench.path("m.nca");
    split(
        &bench.open(&source),
        &target,
        &shape(&[("time", 2), ("lat", 2)]),
        &MasterOptions::default(),
        &bench.session,
    )
    .unwrap();
    let fragment = bench.open(&bench.path("m/m.other.2.1.0.nc"));
    let names: Vec<String> = fragment.variables().iter().map(|variable| variable.path()).collect();
    // With the scalars, by which a lost master is recreated.
    assert_eq!(names, ["/time", "/time_bnds", "/lat", "/lon", "/height", "/crs", "/other"]);
    assert_eq!(fragment.variable("time_bnds").unwrap().read::<f64>().unwrap(), [3.5, 4.5]);
    assert_eq!(fragment.variable("lat").unwrap().read::<f64>().unwrap(), [30.0]);
    assert_eq!(fragment.variable("other").unwrap().filters().len(), 1);
    assert!(fragment.attribute("institution").unwrap().is_some());
    let tas = bench.open(&bench.path("m/m.tas.0.0.0.nc"));
    assert!(tas.variable("crs").is_ok() && tas.variable("height").is_ok() && tas.variable("other").is_err());
}

#[test]
fn fragments_are_small_enough_and_lie_where_they_are_to_lie() {
    let bench = Bench::new();
    let (source, target) = (bench.field("a.nc", 0..9), bench.path("here/m.nca"));
    let there = bench.path("there/parts");
    let options = SplitOptions::new().max_size(100).fragments(there.clone());
    split(&bench.open(&source), &target, &options, &MasterOptions::default(), &bench.session).unwrap();
    assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..9)));
    for entry in std::fs::read_dir(there).unwrap() {
        let fragment = bench.open(entry.unwrap().path().to_str().unwrap());
        let shape = fragment.variable("tas").unwrap().shape();
        assert!(shape.iter().product::<u64>() * 4 <= 100, "{shape:?}");
    }
}

#[test]
fn what_the_arithmetic_of_s3netcdf4_loses_is_refused() {
    let bench = Bench::new();
    let source = bench.field("a.nc", 0..13);
    let options = shape(&[("time", 2)]).like_s3netcdf4(true);
    let target = bench.path("m.nca");
    let error = split(&bench.open(&source), &target, &options, &MasterOptions::default(), &bench.session)
        .unwrap_err();
    assert!(error.to_string().contains("element 12 of 13"), "{error}");
    assert!(bench.is_absent(&target) && bench.is_absent(&bench.path("m")));
    let options = shape(&[("time", 4)]).like_s3netcdf4(true);
    split(&bench.open(&source), &target, &options, &MasterOptions::default(), &bench.session).unwrap();
    let first = bench.open(&bench.path("m/m.tas.0.0.0.nc"));
    assert_eq!(first.variable("tas").unwrap().shape()[0], 4);
    assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..13)));
}

#[test]
fn nothing_is_replaced_without_a_request() {
    let bench = Bench::new();
    let (source, target) = (bench.field("a.nc", 0..5), bench.path("m.nca"));
    let run = |options: &SplitOptions<'_>, master: &MasterOptions| {
        split(&bench.open(&source), &target, options, master, &bench.session)
    };
    run(&shape(&[("time", 2)]), &MasterOptions::default()).unwrap();
    let again = run(&shape(&[("time", 2)]), &MasterOptions::default()).unwrap_err();
    assert_eq!(again.kind(), ErrorKind::Conflict);
    // The fragments belong to a dataset that is being read: a new master needs a folder of its own.
    let over = MasterOptions::new().overwrite(true);
    let error = run(&shape(&[("time", 2)]), &over).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..5)));
    let elsewhere = shape(&[("time", 3)]).fragments(bench.path("m2"));
    run(&elsewhere, &over).unwrap();
    assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..5)));
}
