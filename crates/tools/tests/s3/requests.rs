//! The cost of opening, and what cannot be put.
use super::places::Place;
use super::server::Server;
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, Members, OpenOptions, Selection, Session,
    Values,
};

fn many(url: &str, consolidated: bool, session: &Session) {
    let options = CreateOptions::new().kind(Kind::NcZarr).consolidated(consolidated);
    let dataset = Dataset::create_with(url, &options, session).unwrap();
    let defined = dataset.edit(|model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(4))?;
        for number in 0..1000 {
            model.add_variable(root, &format!("v{number}"), Atomic::Int.into(), &[x])?;
        }
        Ok(())
    });
    defined.unwrap();
    dataset.close().unwrap();
}

#[test]
fn a_thousand_consolidated_variables_are_opened_with_four_requests() {
    let server = Server::start();
    many(&server.url("many"), true, &server.session());
    server.requests();
    let session = server.session();
    let dataset = Dataset::open_with(&server.url("many"), &OpenOptions::default(), &session).unwrap();
    assert_eq!(dataset.variables().len(), 1000);
    for variable in dataset.variables().iter().step_by(100) {
        assert_eq!(variable.attributes().unwrap().len(), 0);
    }
    let requests = server.requests();
    assert!(requests.len() <= 4, "{requests:?}");
    assert!(requests.iter().all(|request| request.starts_with("GET") && !request.contains("list-type")));
}

#[test]
fn single_metadata_objects_are_fetched_without_heads_and_listings() {
    let server = Server::start();
    many(&server.url("many"), false, &server.session());
    server.requests();
    let session = server.session();
    let dataset = Dataset::open_with(&server.url("many"), &OpenOptions::default(), &session).unwrap();
    assert_eq!(dataset.variables().len(), 1000);
    let requests = server.requests();
    assert!(requests.len() <= 2020, "{} requests", requests.len());
    assert!(requests.iter().all(|request| request.starts_with("GET")), "no HEAD");
    assert!(!requests.iter().any(|request| request.contains("list-type")), "no listing: members are named");
    let all = OpenOptions::new().members(Members::All);
    assert_eq!(Dataset::open_with(&server.url("many"), &all, &session).unwrap().variables().len(), 1000);
    assert!(server.requests().iter().any(|request| request.contains("list-type")));
}

#[test]
fn a_key_that_is_too_long_is_refused_before_anything_is_put() {
    let server = Server::start();
    let session = server.session();
    let url = server.url("long");
    let options = CreateOptions::new().kind(Kind::NcZarr);
    let dataset = Dataset::create_with(&url, &options, &session).unwrap();
    server.requests();
    let defined = dataset.edit(|model| {
        let mut group = model.root();
        for _ in 0..5 {
            group = model.add_group(group, &"g".repeat(200))?;
        }
        Ok(model.add_variable(group, &"v".repeat(200), Atomic::Int.into(), &[]).map(|_| ())?)
    });
    let refused = defined.map(|()| dataset.close()).and_then(|closed| closed).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused:?}");
    assert!(refused.to_string().contains("1024") && refused.to_string().contains("vvv"), "{refused}");
    let puts: Vec<String> = server
        .requests()
        .into_iter()
        .filter(|request| request.starts_with("PUT") && !request.contains(".ncirrus-begun"))
        .collect();
    assert!(puts.is_empty(), "{puts:?}");
}

#[test]
fn a_large_chunk_is_sent_in_parts() {
    let server = Server::start();
    let session = server.session();
    let options = CreateOptions::new().kind(Kind::NcZarr);
    let dataset = Dataset::create_with(&server.url("large"), &options, &session).unwrap();
    let len = 36 << 20;
    let defined = dataset.edit(|model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(len))?;
        let var = model.add_variable(root, "v", Atomic::UByte.into(), &[x])?;
        model.variable_mut(var).unwrap().storage = ncirrus::Storage::Chunked(vec![len]);
        Ok(())
    });
    defined.unwrap();
    let values: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
    let variable = dataset.variable("/v").unwrap();
    variable.write_values(&Selection::all(&[len]), &Values::UByte(values.clone())).unwrap();
    dataset.close().unwrap();
    let parts = server.requests().iter().filter(|request| request.contains("partNumber=")).count();
    assert_eq!(parts, 3);
    let dataset = Dataset::open_with(&server.url("large"), &OpenOptions::default(), &session).unwrap();
    assert!(dataset.variable("/v").unwrap().read::<u8>().unwrap() == values);
}

#[test]
fn an_old_version_is_read_by_its_name() {
    let Some((place, _)) = Place::moto() else { return };
    let session = place.session();
    let url = "s3://versioned/data.nc";
    let make = |value: i32| {
        let options = CreateOptions::new().kind(Kind::Nc3).overwrite(true);
        let dataset = Dataset::create_with(url, &options, &session).unwrap();
        dataset
            .edit(|model| Ok(model.add_variable(model.root(), "v", Atomic::Int.into(), &[]).map(|_| ())?))
            .unwrap();
        dataset
            .variable("/v")
            .unwrap()
            .write_values(&Selection::all(&[]), &Values::Int(vec![value]))
            .unwrap();
        dataset.close().unwrap();
    };
    make(1);
    make(2);
    let read = |url: &str| -> ncirrus::Result<Vec<i32>> {
        let dataset = Dataset::open_with(url, &OpenOptions::default(), &session)?;
        Ok(dataset.variable("/v")?.read()?.into_vec())
    };
    assert_eq!(read(url).unwrap(), [2]);
    let versions = place.versions(url);
    assert_eq!(versions.len(), 2, "{versions:?}");
    let mut values: Vec<i32> =
        versions.iter().map(|version| read(&format!("{url}?versionId={version}")).unwrap()[0]).collect();
    values.sort_unstable();
    assert_eq!(values, [1, 2]);
    let old = format!("{url}?versionId={}", versions[0]);
    let refused = Dataset::update_with(&old, &OpenOptions::default(), &session).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused:?}");
    super::errors::create("s3://versioned/tree", &session).unwrap();
    let version = place.versions("s3://versioned/tree/.zgroup").remove(0);
    for address in ["tree", "tree/v"] {
        let refused = read(&format!("s3://versioned/{address}?versionId={version}")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported, "{address}: {refused:?}");
    }
}
