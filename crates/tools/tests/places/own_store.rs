//! The example of a custom store: checked against the laws, and used like any other.
#[path = "../../examples/own_store.rs"]
mod example;

use crate::support::temp;
use ncirrus::store::{Store, conformance};
use ncirrus::{Dataset, ErrorKind, OpenOptions};
use ncirrus_tools::CopyOptions;
use ncirrus_tools::places::{self, ListOptions, PlaceKind};

#[test]
fn the_example_obeys_the_laws_of_stores() {
    let ledger = example::Ledger::new("laws");
    assert!(ledger.local().is_none(), "whatever else it may be");
    let root = ledger.root().child("below");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(conformance::writable(ledger.as_ref(), &root)).unwrap();
}

#[test]
fn datasets_are_copied_to_a_store_of_ones_own_and_back() {
    let ((_folder, temp), session) = (temp(), example::session().unwrap());
    let original = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    let back = temp.join("back.nc").to_str().unwrap().to_owned();
    let open = |url: &str| Dataset::open_with(url, &OpenOptions::default(), &session).unwrap();
    let copy = |from: &str, to: &str| {
        ncirrus_tools::copy(&open(from), to, &CopyOptions::default(), &session).unwrap();
    };
    copy(original, "ledger://a/one/sst.zarr");
    copy("ledger://a/one/sst.zarr", "ledger://a/two/sst.nc");
    copy("ledger://a/two/sst.nc", &back);
    let values = |url: &str| open(url).variable("sst").unwrap().read::<f64>().unwrap();
    assert_eq!(values(&back), values(original));
    let options = ListOptions::new().recursive(true);
    let found = places::list("ledger://a", &options, &session).unwrap();
    let found: Vec<_> = found.map(|found| found.map(|found| (found.path, found.kind)).unwrap()).collect();
    assert_eq!(
        found,
        [("one/sst.zarr".to_owned(), PlaceKind::Zarr2), ("two/sst.nc".to_owned(), PlaceKind::NetCdf3)]
    );
}

#[test]
fn the_example_runs_and_other_schemes_stay_unknown() {
    example::main().unwrap();
    let session = example::session().unwrap();
    let open = |url| Dataset::open_with(url, &OpenOptions::default(), &session).err().unwrap();
    assert_eq!(open("ledger://nobody/x.zarr").kind(), ErrorKind::NotFound);
    let unknown = open("legder://nobody/x.zarr");
    assert!(unknown.message().contains("registered are ledger"), "{unknown}");
}
