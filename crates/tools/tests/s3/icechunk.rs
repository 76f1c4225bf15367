//! Icechunk repositories on Amazon's protocol: rounds and requests of opening, reading and comparing.
use super::server::{Manners, Server};
use crate::support::values;
use ncirrus::{Dataset, OpenOptions, Selection, Session};
use ncirrus_testkit::corpus::corpus;
use ncirrus_tools::{CompareOptions, compare};
use std::path::Path;
use std::time::Duration;

/// A server that has a repository of the corpus.
fn server(case: &str) -> Option<Server> {
    let repository = corpus("icechunk")?.join(case).join("repo");
    let server = Server::start();
    copy(&repository, &server.folder.path().join("bucket/repo"));
    Some(server)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            std::fs::write(target, std::fs::read(path).unwrap()).unwrap();
        }
    }
}

fn open(server: &Server, state: &str, session: &Session) -> Dataset {
    let address = format!("{}{state}", server.url("repo"));
    Dataset::open_with(&address, &OpenOptions::default(), session).unwrap()
}

/// The requests since the last call for objects of a folder of the repository.
fn of_folder(requests: &[String], folder: &str) -> usize {
    requests.iter().filter(|request| request.contains(&format!("/{folder}/"))).count()
}

#[test]
fn a_repository_is_opened_in_two_to_four_rounds() {
    for (case, state, most) in [
        ("single-v2", "", 2),
        ("single-v2", "#mode=icechunk", 2),
        // The mode is wrong: Zarr is looked for first.
        ("single-v2", "#mode=zarr", 4),
        ("history", "#tag=v1.0", 2),
        // Documents of Zarr v2 are requested in between if their absence is known before that of others.
        ("history-v1", "#branch=dev", 4),
        ("history-v1", "#mode=icechunk&tag=v1.0", 3),
    ] {
        let Some(server) = server(case) else { return };
        server.behave(Manners { answers_after: Some(Duration::from_millis(200)), ..Manners::default() });
        let dataset = open(&server, state, &server.session());
        let (rounds, requests) = (server.rounds(), server.requests());
        assert!(rounds <= most, "{case}{state}: {rounds} rounds, {requests:?}");
        assert!(requests.len() <= 14, "{case}{state}: {requests:?}");
        assert!(!dataset.variables().is_empty());
    }
}

#[test]
fn a_series_takes_one_request_for_each_chunk_and_each_manifest() {
    let Some(server) = server("single-v2") else { return };
    let session = server.session();
    let dataset = open(&server, "", &session);
    let variable = dataset.variables().into_iter().next().unwrap();
    let chunks = variable.chunks(&Selection::all(&variable.shape())).unwrap().len();
    assert!(chunks >= 4);
    let again = open(&server, "", &session);
    let variable = again.variables().into_iter().next().unwrap();
    server.requests();
    values(&variable).unwrap();
    let requests = server.requests();
    assert_eq!(
        (of_folder(&requests, "manifests"), of_folder(&requests, "chunks")),
        (1, chunks),
        "{requests:?}"
    );
    assert_eq!(requests.len(), chunks + 1, "{requests:?}");
}

#[test]
fn two_states_are_compared_by_the_chunks_that_differ() {
    let Some(server) = server("chunks-deleted") else { return };
    let session = server.session();
    let [first, second] = ["#snapshot=X5FPW5G32RWHBR8XH55G", ""].map(|state| open(&server, state, &session));
    server.requests();
    let report = compare(&first, &second, &CompareOptions::new()).unwrap();
    let requests = server.requests();
    // Both variables have a manifest of their own in each state. Of four chunks of one variable one is the same; the others are
    // objects only in the first state.
    assert_eq!((of_folder(&requests, "manifests"), of_folder(&requests, "chunks")), (4, 3), "{requests:?}");
    let a = report.variables.iter().find(|variable| variable.path == "/a").unwrap();
    assert_eq!(a.compared, 8 * 200);
    let different = |rows: u64| {
        let part = Selection::slab(&[rows, 0], &[2, 200]);
        let [one, other] = [&first, &second].map(|dataset| dataset.variable("/a").unwrap().values(&part));
        !one.unwrap().is_identical(&other.unwrap())
    };
    assert_eq!([0, 2, 4, 6].map(different), [true, true, false, true]);
    assert!(a.differing + a.missing + a.nan > 800, "{a:?}");
    // Equal states need no chunk at all.
    let [one, other] = ["", "#branch=main"].map(|state| open(&server, state, &session));
    server.requests();
    let report = compare(&one, &other, &CompareOptions::new()).unwrap();
    let requests = server.requests();
    assert!(report.is_same() && report.variables.iter().all(|variable| variable.compared > 0));
    assert_eq!((of_folder(&requests, "manifests"), of_folder(&requests, "chunks")), (4, 0), "{requests:?}");
}
