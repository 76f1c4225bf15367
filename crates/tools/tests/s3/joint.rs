//! Several processes that write one tree: here sessions of their own, which share nothing but the server.
use super::server::Server;
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, OpenOptions, Region, Selection, Session,
    Storage,
};
use ncirrus_tools::{leftovers, remove_leftover};

const ROWS: u64 = 12;

fn bytes(rows: std::ops::Range<u64>) -> Vec<u8> {
    rows.flat_map(|row| (0..6).map(move |at| i32::try_from(row * 10 + at).unwrap()))
        .flat_map(i32::to_ne_bytes)
        .collect()
}

fn rows(rows: std::ops::Range<u64>) -> Region {
    Region { start: vec![rows.start, 0], count: vec![rows.end - rows.start, 6] }
}

/// `v(time, 6)` in chunks of 2 x 3, with `len` rows.
fn create(url: &str, kind: Kind, len: u64, overwrite: bool, session: &Session) -> Dataset {
    let options = CreateOptions::new().kind(kind).overwrite(overwrite);
    let dataset = Dataset::create_with(url, &options, session).unwrap();
    let edited = dataset.edit(|model| {
        let root = model.root();
        let dims = [
            model.add_dimension(root, "time", DimensionLen::Unlimited(len))?,
            model.add_dimension(root, "x", DimensionLen::Fixed(6))?,
        ];
        let v = model.add_variable(root, "v", Atomic::Int.into(), &dims)?;
        if let Some(variable) = model.variable_mut(v) {
            variable.storage = Storage::Chunked(vec![2, 3]);
        }
        Ok(())
    });
    edited.unwrap();
    dataset
}

/// Several sessions write these rows together.
fn together(server: &Server, ticket: &str, parts: &[(u64, u64)]) -> Vec<String> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = parts
            .iter()
            .map(|(start, end)| {
                let part = *start..*end;
                scope.spawn(move || {
                    let joined = Dataset::join(ticket, &server.session()).unwrap();
                    joined.write_bytes("v", &rows(part.clone()), &bytes(part)).unwrap();
                    joined.close().unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn read(url: &str, session: &Session) -> Vec<u8> {
    let dataset = Dataset::open_with(url, &OpenOptions::new(), session).unwrap();
    let variable = dataset.variable("v").unwrap();
    let mut out = vec![0; usize::try_from(variable.shape()[0]).unwrap() * 24];
    variable.read_bytes_into(&Selection::all(&variable.shape()), &mut out).unwrap();
    out
}

fn v(dataset: &Dataset) -> ncirrus::VarId {
    dataset.variable("v").unwrap().id()
}

#[test]
fn a_tree_of_several_sessions_appears_whole_and_grows_by_them() {
    let server = Server::start();
    for (number, kind) in [Kind::NcZarr, Kind::Zarr2, Kind::Zarr3].into_iter().enumerate() {
        let url = server.url(&format!("joint-{number}"));
        // A new dataset, and one that replaces it.
        for overwrite in [false, true] {
            let dataset = create(&url, kind, 5, overwrite, &server.session());
            let ticket = dataset.ticket(&[v(&dataset)]).unwrap();
            for secret in [super::server::KEY, super::server::SECRET] {
                assert!(!ticket.contains(secret), "no secrets in {ticket}");
            }
            let receipts = together(&server, &ticket, &[(0, 2), (2, 4), (4, 5)]);
            let seen = Dataset::open_with(&url, &OpenOptions::new(), &server.session());
            assert_eq!(seen.is_ok(), overwrite, "nothing new is seen before the end");
            dataset.finish(&receipts).unwrap();
            assert_eq!(read(&url, &server.session()), bytes(0..5), "{kind:?}");
        }
        // Rows are appended; the chunk that old and new ones share is left to the finishing process.
        let dataset = Dataset::update_with(&url, &OpenOptions::new(), &server.session()).unwrap();
        let variable = dataset.variable("v").unwrap();
        // Plain Zarr does not say which dimensions grow.
        let time = dataset.model().unwrap().variable(v(&dataset)).unwrap().dims[0];
        dataset.edit(|model| Ok(model.set_dimension_len(time, DimensionLen::Unlimited(5))?)).unwrap();
        variable.grow_to(&[ROWS, 6]).unwrap();
        let ticket = dataset.ticket(&[v(&dataset)]).unwrap();
        let receipts = together(&server, &ticket, &[(6, 8), (8, 12)]);
        assert_eq!(read(&url, &server.session()), bytes(0..5), "nothing is seen before the end");
        variable.write_bytes(&rows(5..6).into(), &bytes(5..6)).unwrap();
        dataset.finish(&receipts).unwrap();
        assert_eq!(read(&url, &server.session()), bytes(0..ROWS), "{kind:?}");
        let (left, _) = leftovers(&url, &server.session()).unwrap();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[test]
fn what_a_killed_client_leaves_is_not_seen_and_is_cleaned() {
    let server = Server::start();
    let url = server.url("killed");
    let dataset = create(&url, Kind::NcZarr, 4, false, &server.session());
    let ticket = dataset.ticket(&[v(&dataset)]).unwrap();
    together(&server, &ticket, &[(0, 4)]);
    // Dropped, as if the process had been killed.
    drop(dataset);
    assert!(Dataset::open_with(&url, &OpenOptions::new(), &server.session()).is_err());
    clean(&server, &url);
    assert_eq!(Dataset::join(&ticket, &server.session()).unwrap_err().kind(), ErrorKind::Conflict);
    // The same for rows that were to be appended.
    let dataset = create(&url, Kind::NcZarr, 4, false, &server.session());
    dataset.variable("v").unwrap().write_bytes(&rows(0..4).into(), &bytes(0..4)).unwrap();
    dataset.close().unwrap();
    let dataset = Dataset::update_with(&url, &OpenOptions::new(), &server.session()).unwrap();
    dataset.variable("v").unwrap().grow_to(&[8, 6]).unwrap();
    together(&server, &dataset.ticket(&[]).unwrap(), &[(4, 8)]);
    drop(dataset);
    assert_eq!(read(&url, &server.session()), bytes(0..4));
    clean(&server, &url);
    assert_eq!(read(&url, &server.session()), bytes(0..4));
}

fn clean(server: &Server, url: &str) {
    let session = server.session();
    let (left, _) = leftovers(url, &session).unwrap();
    assert!(!left.is_empty());
    left.iter().for_each(|left| remove_leftover(url, left, &session).unwrap());
    assert!(leftovers(url, &session).unwrap().0.is_empty());
}

#[test]
fn of_two_clients_at_one_place_one_wins() {
    let server = Server::start();
    let url = server.url("rivals");
    let first = create(&url, Kind::NcZarr, 4, false, &server.session());
    let ticket = first.ticket(&[v(&first)]).unwrap();
    let options = CreateOptions::new().kind(Kind::NcZarr);
    let second = Dataset::create_with(&url, &options, &server.session());
    assert_eq!(second.unwrap_err().kind(), ErrorKind::Conflict);
    first.finish(&together(&server, &ticket, &[(0, 4)])).unwrap();
    // Two that append: each has a location of its own; the first to finish wins.
    let append = |to: u64| {
        let dataset = Dataset::update_with(&url, &OpenOptions::new(), &server.session()).unwrap();
        dataset.variable("v").unwrap().grow_to(&[to, 6]).unwrap();
        let ticket = dataset.ticket(&[v(&dataset)]).unwrap();
        (dataset, ticket)
    };
    let ((first, one), (second, other)) = (append(8), append(6));
    let (one, other) = (together(&server, &one, &[(4, 8)]), together(&server, &other, &[(4, 6)]));
    first.finish(&one).unwrap();
    assert_eq!(second.finish(&other).unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(read(&url, &server.session()), bytes(0..8));
}
