//! Datasets and objects of buckets are listed, on servers that check signatures.
use super::places::Place;
use super::server::Server;
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, ErrorKind, Session, Storage};
use ncirrus_tools::places::{self, KeysOptions, ListOptions, PlaceKind};

fn create(url: &str, chunks: u64, kind: ncirrus::Kind, session: &Session) {
    let options = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(url, &options, session).unwrap();
    let root = dataset.root();
    root.add_dimension("x", DimensionLen::Fixed(chunks)).unwrap();
    let variable = root.add_variable("v", Atomic::Byte, &["x"]).unwrap();
    if kind != ncirrus::Kind::Nc3 {
        variable.set_storage(Storage::Chunked(vec![1]), Vec::new()).unwrap();
    }
    variable.write_all(&vec![1_i8; usize::try_from(chunks).unwrap()]).unwrap();
    dataset.close().unwrap();
}

fn keys(url: &str, session: &Session) -> Vec<(String, Option<u64>)> {
    let options = KeysOptions::new().sizes(true);
    let keys = places::keys(url, &options, session).unwrap();
    keys.map(|key| key.map(|key| (key.key, key.size)).unwrap()).collect()
}

#[test]
fn datasets_and_objects_of_a_bucket_are_listed() {
    for place in [Some(Place::here()), Place::moto().map(|(place, _)| place), Place::azurite()] {
        let Some(place) = place else { continue };
        let session = place.session();
        create(&place.url("shelf/2024/tree"), 20, ncirrus::Kind::NcZarr, &session);
        create(&place.url("shelf/b.zarr"), 1, ncirrus::Kind::Zarr3, &session);
        create(&place.url("shelf/file.nc"), 1, ncirrus::Kind::Nc3, &session);
        let options = ListOptions::new().recursive(true);
        let found = places::list(&place.url("shelf"), &options, &session).unwrap();
        let found: Vec<_> = found.map(|found| found.map(|found| (found.path, found.kind)).unwrap()).collect();
        let expected =
            [("2024/tree", PlaceKind::Zarr2), ("b.zarr", PlaceKind::Zarr3), ("file.nc", PlaceKind::NetCdf3)];
        assert_eq!(found, expected.map(|(path, kind)| (path.to_owned(), kind)), "{}", place.name);

        let all = keys(&place.url("shelf"), &session);
        assert!(all.iter().all(|(_, size)| size.is_some()), "{all:?}");
        for key in ["2024/tree/.zgroup", "2024/tree/v/.zarray", "b.zarr/zarr.json", "file.nc"] {
            assert!(all.iter().any(|(known, _)| known == key), "{}: {key} in {all:?}", place.name);
        }
        let chunk = |number| (format!("2024/tree/v/{number}"), Some(1));
        assert!((0..20).all(|number| all.contains(&chunk(number))), "{all:?}");

        let nothing = places::keys(&place.url("shelves"), &KeysOptions::default(), &session);
        assert_eq!(nothing.err().map(|error| error.kind()), Some(ErrorKind::NotFound), "{}", place.name);
    }
}

#[test]
fn the_prefix_of_a_bucket_is_an_input_of_aggregations() {
    let place = Place::here();
    let session = place.session();
    for name in ["b.nc", "a.nc", "parts/x.nc"] {
        create(&place.url(&format!("shelf/2024/{name}")), 1, ncirrus::Kind::Nc3, &session);
    }
    create(&place.url("shelf/2024/c"), 1, ncirrus::Kind::NcZarr, &session);
    let listed = |name: &str| ncirrus_tools::aggregate::list(&[place.url(name)], &session).unwrap();
    let expected = ["a.nc", "b.nc", "c"].map(|name| place.url(&format!("shelf/2024/{name}")));
    assert_eq!(listed("shelf/2024/"), expected);
    assert_eq!(listed("shelf/2024"), expected);
    // What is a dataset is no prefix of others.
    for dataset in ["shelf/2024/c", "shelf/2024/a.nc", "shelf/none"] {
        assert_eq!(listed(dataset), [place.url(dataset)]);
    }
}

/// Keys with what ends the path of an address, and how they are written in addresses.
const ODD_KEYS: [(&str, &str); 6] = [
    ("50%23.nc", "50%2523.nc"),
    ("50%AB#.nc", "50%AB%23.nc"),
    ("a b 100%.nc", "a b 100%.nc"),
    ("a%20b#c.nc", "a%20b%23c.nc"),
    ("run #1?.nc", "run %231%3F.nc"),
    ("tree#?%", "tree%23%3F%"),
];

fn create_odd(place: &Place, session: &Session) -> Vec<String> {
    let addresses: Vec<String> =
        ODD_KEYS.iter().map(|(_, written)| place.url(&format!("shelf/{written}"))).collect();
    for address in &addresses {
        let kind = if address.ends_with(".nc") { ncirrus::Kind::Nc3 } else { ncirrus::Kind::NcZarr };
        create(address, 1, kind, session);
    }
    addresses
}

#[test]
fn what_is_listed_is_opened_by_the_address_that_is_listed() {
    let place = Place::here();
    let session = place.session();
    let addresses = create_odd(&place, &session);
    let all = keys(&place.url("shelf"), &session);
    for key in ["50%23.nc", "50%AB#.nc", "a%20b#c.nc", "a b 100%.nc", "run #1?.nc", "tree#?%/v/0"] {
        assert!(all.iter().any(|(known, _)| known == key), "{key} in {all:?}");
    }
    for (url, options, above) in
        [("shelf", ListOptions::new(), "shelf/"), ("", ListOptions::new().recursive(true), "")]
    {
        let found = places::list(&place.url(url), &options, &session).unwrap();
        let found: Vec<String> =
            found.map(|found| place.url(&format!("{above}{}", found.unwrap().path))).collect();
        assert_eq!(found, addresses);
    }
    let listed = |name: &str| ncirrus_tools::aggregate::list(&[place.url(name)], &session).unwrap();
    assert_eq!(listed("shelf"), addresses);
    assert_eq!(listed("shelf/run*%231*.nc"), [place.url("shelf/run %231%3F.nc")]);
    for address in addresses {
        let dataset = Dataset::open_with(&address, &ncirrus::OpenOptions::default(), &session).unwrap();
        assert_eq!(dataset.root().variable("v").unwrap().read::<i8>().unwrap(), [1], "{address}");
    }
}

#[test]
fn fragments_with_such_keys_are_found() {
    use ncirrus_tools::aggregate::{AggregateOptions, MasterOptions, Naming, aggregate, list};
    let place = Place::here();
    let session = place.session();
    create_odd(&place, &session);
    let files = list(&[place.url("shelf/*.nc")], &session).unwrap();
    assert_eq!(files.len(), 5);
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path().join("m.nca").to_str().unwrap().to_owned();
    let options = AggregateOptions::new().axes(["x".to_owned()]);
    for target in [here, place.url("masters/m#.nca").replace('#', "%23")] {
        for naming in [Naming::Relative, Naming::Absolute] {
            let made = MasterOptions::new().naming(naming).overwrite(true);
            aggregate(&target, &files, &options, &made, &session).unwrap();
            let dataset = Dataset::open_with(&target, &ncirrus::OpenOptions::default(), &session).unwrap();
            let read = dataset.root().variable("v").unwrap().read::<i8>().unwrap();
            assert_eq!(read, [1; 5], "{target} {made:?}");
        }
    }
}

#[test]
fn names_of_older_masters_lead_to_the_objects_that_exist() {
    use ncirrus_tools::aggregate::{
        AggregateOptions, MasterOptions, Naming, Relocation, aggregate, relocate,
    };
    let place = Place::here();
    let session = place.session();
    let (file, target) = (place.url("shelf/a%2523b.nc"), place.url("shelf/m.nca"));
    create(&file, 1, ncirrus::Kind::Nc3, &session);
    let options = AggregateOptions::new().axes(["x".to_owned()]);
    let made = MasterOptions::new().naming(Naming::Absolute);
    aggregate(&target, std::slice::from_ref(&file), &options, &made, &session).unwrap();
    let run = |relocation| relocate(&target, &relocation, None, false, &session);
    let replace = |from: &str, to: &str| run(Relocation::Replace(place.url(from), place.url(to))).unwrap();
    let is_read = || {
        let dataset = Dataset::open_with(&target, &ncirrus::OpenOptions::default(), &session).unwrap();
        assert_eq!(dataset.root().variable("v").unwrap().read::<i8>().unwrap(), [1]);
    };
    // Older versions wrote keys as they are.
    replace("shelf/a%2523b.nc", "shelf/a%23b.nc");
    is_read();
    assert_eq!(run(Relocation::Absolute).unwrap(), []);
    assert_eq!(run(Relocation::Relative).unwrap()[0].to, "a%23b.nc");
    is_read();
    assert_eq!(run(Relocation::Prefix(place.url("shelf"))).unwrap()[0].to, file);
    is_read();
    replace("shelf/a%2523b.nc", "shelf/none%23b.nc");
    let error = run(Relocation::Relative).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
}

#[test]
fn groups_with_keys_that_are_too_long_are_rejected_by_name_before_anything_is_put() {
    let server = Server::start();
    let session = server.session();
    let options = CreateOptions::new().kind(ncirrus::Kind::NcZarr);
    let dataset = Dataset::create_with(&server.url("deep"), &options, &session).unwrap();
    let mut group = dataset.root();
    for _ in 0..6 {
        group = group.add_group(&"g".repeat(200)).unwrap();
    }
    let error = dataset.sync().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    assert!(error.message().starts_with("group /ggg") && error.message().contains("a key of 12"), "{error}");
    dataset.abort().unwrap();
    assert!(keys_there(&server.url("deep"), &session).is_empty());
}

fn keys_there(url: &str, session: &Session) -> Vec<String> {
    match places::keys(url, &KeysOptions::new(), session) {
        Ok(keys) => keys.map(|key| key.unwrap().key).collect(),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
            Vec::new()
        }
    }
}

#[test]
fn long_listings_come_in_pages_and_short_ones_in_one() {
    let server = Server::start();
    let session = server.session();
    create(&server.url("many"), 2100, ncirrus::Kind::NcZarr, &session);
    let lists = || server.requests().iter().filter(|request| request.contains("list-type")).count();
    lists();
    let all = keys(&server.url("many"), &session);
    let chunks = all.iter().filter(|(key, _)| key.starts_with("v/") && !key.starts_with("v/."));
    assert_eq!(chunks.count(), 2100);
    assert_eq!(lists(), all.len().div_ceil(1000));
    assert!(keys(&server.url("many/v/77"), &session).contains(&(String::new(), Some(1))));
    assert!(lists() <= 1);
}

#[test]
fn keys_that_cannot_be_named_neither_hide_a_dataset_nor_survive_it() {
    let Some((place, _)) = Place::moto() else { return };
    let (session, url) = (place.session(), place.url("odd/data"));
    create(&url, 3, ncirrus::Kind::NcZarr, &session);
    let odd = ["odd/data//v", "odd/data/v//0", "odd//data/.zgroup"];
    odd.iter().for_each(|key| place.put(key));
    place.put("odd/data2");
    let dataset = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), &session).unwrap();
    let values = dataset.root().variable("v").unwrap().read::<i8>().unwrap();
    assert_eq!(&values[..], [1, 1, 1]);
    let mut places = places::list(&place.url("odd"), &ListOptions::default(), &session).unwrap();
    assert_eq!(places.by_ref().map(|found| found.unwrap().path).collect::<Vec<_>>(), ["data"]);
    assert!(places.warnings().iter().any(|line| line.contains("\"odd//\"")), "{:?}", places.warnings());
    let listed = places::keys(&place.url("odd"), &KeysOptions::default(), &session).unwrap();
    let unnamed: Vec<_> = listed.map(Result::unwrap).filter(|key| !key.is_named).map(|key| key.key).collect();
    assert_eq!(unnamed, ["/data/.zgroup", "data//v", "data/v//0"]);
    let removal = ncirrus_tools::removal(&url, &session).unwrap();
    assert!(removal.others.iter().any(|key| key.ends_with("odd/data/v//0")), "{:?}", removal.others);
    ncirrus_tools::remove(&url, removal.of_everything(), &session).unwrap();
    let left: Vec<String> = keys(&place.url("odd"), &session).into_iter().map(|(key, _)| key).collect();
    assert_eq!(left, ["data2", "/data/.zgroup"]);
}
