//! Joint writing by threads with sessions of their own, and by processes: this test binary, which starts itself again.
use super::*;
use crate::{
    Atomic, AxisSelection, CodecSpec, CreateOptions, DimensionLen, Kind, OpenOptions, Selection, Session,
    Storage,
};
use std::path::Path;
use std::process::{Child, Command, Stdio};

mod shards;

const ROWS: u64 = 9;
const COLUMNS: u64 = 10;

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

fn numbers(rows: std::ops::Range<u64>) -> Vec<u8> {
    rows.flat_map(|i| (0..COLUMNS).map(move |j| i32::try_from(i * 100 + j).unwrap()))
        .flat_map(i32::to_ne_bytes)
        .collect()
}

/// `v(time, x)` in chunks of 2 x 4 with a filter, `time(time)`, and `name(x)` of text.
fn create(url: &str, kind: Kind, rows: u64, session: &Session) -> Dataset {
    let options = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(url, &options, session).unwrap();
    let edited = dataset.edit(|model| {
        let root = model.root();
        let time = model.add_dimension(root, "time", DimensionLen::Unlimited(rows))?;
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(COLUMNS))?;
        let v = model.add_variable(root, "v", Atomic::Int.into(), &[time, x])?;
        if let Some(variable) = model.variable_mut(v) {
            variable.storage = Storage::Chunked(vec![2, 4]);
            variable.filters = vec![CodecSpec::hdf5(1, &[4])];
        }
        model.add_variable(root, "time", Atomic::Double.into(), &[time])?;
        model.add_variable(root, "name", Atomic::String.into(), &[x])?;
        Ok(())
    });
    edited.unwrap();
    dataset
}

fn row_box(rows: std::ops::Range<u64>) -> Region {
    Region { start: vec![rows.start, 0], count: vec![rows.end - rows.start, COLUMNS] }
}

fn read(url: &str, session: &Session) -> Vec<u8> {
    let dataset = Dataset::open_with(url, &OpenOptions::new(), session).unwrap();
    let variable = dataset.variable("v").unwrap();
    let all = Selection::all(&variable.shape());
    let mut bytes = vec![0; 4 * usize::try_from(all.element_count().unwrap()).unwrap()];
    variable.read_bytes_into(&all, &mut bytes).unwrap();
    bytes
}

/// All files below a folder, and their bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut rest) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = rest.pop() {
        for entry in std::fs::read_dir(next).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                rest.push(entry);
            } else {
                let name = entry.strip_prefix(folder).unwrap().to_string_lossy().into_owned();
                found.insert(name, std::fs::read(&entry).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_tree_of_several_writers_is_that_of_one_byte_for_byte() {
    for kind in [Kind::NcZarr, Kind::Zarr2, Kind::Zarr3] {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (owner, url) = (session(), place("joint.zarr"));
        let dataset = create(&url, kind, ROWS, &owner);
        dataset.variable("time").unwrap().write_all(&[0.5; 9]).unwrap();
        let ticket = dataset.ticket(&[dataset.variable("v").unwrap().id()]).unwrap();
        let parts = [0..4u64, 4..8, 8..9];
        let receipts: Vec<String> = std::thread::scope(|scope| {
            let write = |rows: std::ops::Range<u64>| {
                let ticket = &ticket;
                scope.spawn(move || {
                    let joined = Dataset::join(ticket, &session()).unwrap();
                    joined.write_bytes("v", &row_box(rows.clone()), &numbers(rows.clone())).unwrap();
                    // A repeated task writes the same chunks again.
                    joined.write_bytes("v", &row_box(rows.clone()), &numbers(rows)).unwrap();
                    joined.close().unwrap()
                })
            };
            let threads: Vec<_> = parts.into_iter().map(write).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(!Path::new(&url).exists(), "nothing is seen before the end");
        dataset.finish(&receipts).unwrap();
        let alone = create(&place("alone.zarr"), kind, ROWS, &owner);
        alone.variable("time").unwrap().write_all(&[0.5; 9]).unwrap();
        alone.variable("v").unwrap().write_bytes(&row_box(0..ROWS).into(), &numbers(0..ROWS)).unwrap();
        alone.close().unwrap();
        assert_eq!(files(Path::new(&url)), files(Path::new(&place("alone.zarr"))), "{kind:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing else is left");
    }
}

/// Bytes that this thread has read so far.
#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    text.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn chunks_of_a_new_dataset_are_taken_over_without_reading_them() {
    const LEN: u64 = 1 << 20;
    let folder = tempfile::tempdir().unwrap();
    let (owner, url) = (session(), folder.path().join("a.zarr").to_str().unwrap().to_owned());
    let options = CreateOptions::new().kind(Kind::Zarr2);
    let dataset = Dataset::create_with(&url, &options, &owner).unwrap();
    let edited = dataset.edit(|model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(4 * LEN))?;
        let v = model.add_variable(root, "v", Atomic::Byte.into(), &[x])?;
        if let Some(variable) = model.variable_mut(v) {
            variable.storage = Storage::Chunked(vec![LEN]);
        }
        Ok(())
    });
    edited.unwrap();
    let ticket = dataset.ticket(&[dataset.variable("v").unwrap().id()]).unwrap();
    let joined = Dataset::join(&ticket, &session()).unwrap();
    for chunk in 0..4 {
        joined.write_chunk("v", &[chunk], &vec![7; 1 << 20]).unwrap();
    }
    let receipt = joined.close().unwrap();
    let before = bytes_read();
    dataset.finish(&[receipt]).unwrap();
    assert!(bytes_read() - before < LEN, "a chunk was read");
    assert_eq!(std::fs::metadata(folder.path().join("a.zarr/v/3")).unwrap().len(), LEN);
}

#[test]
fn rows_are_appended_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().join("a.zarr").to_str().unwrap().to_owned();
    let owner = session();
    let dataset = create(&url, Kind::NcZarr, 3, &owner);
    dataset.variable("v").unwrap().write_bytes(&row_box(0..3).into(), &numbers(0..3)).unwrap();
    dataset.close().unwrap();
    let before = files(folder.path());

    let begin = || {
        let dataset = Dataset::update_with(&url, &OpenOptions::new(), &owner).unwrap();
        let v = dataset.variable("v").unwrap();
        v.grow_to(&[ROWS, COLUMNS]).unwrap();
        let ticket = dataset.ticket(&[v.id()]).unwrap();
        (dataset, ticket)
    };
    let (dataset, ticket) = begin();
    // Two clients at the same location: the second one gets an error.
    let second = Dataset::update_with(&url, &OpenOptions::new(), &session()).unwrap();
    second.variable("v").unwrap().grow_to(&[5, COLUMNS]).unwrap();
    assert_eq!(second.ticket(&[]).unwrap_err().kind(), ErrorKind::Conflict);
    drop(second);
    let joined = Dataset::join(&ticket, &session()).unwrap();
    joined.write_bytes("v", &row_box(4..ROWS), &numbers(4..ROWS)).unwrap();
    // The chunk that old and new rows share is left to the finishing process.
    let error = joined.write_bytes("v", &row_box(2..6), &numbers(2..6)).unwrap_err();
    assert!(error.to_string().contains("contains existing data"), "{error}");
    assert_eq!(error.place().chunk, Some(vec![1, 0]));
    assert_eq!(read(&url, &session()), numbers(0..3), "nothing is seen yet");
    dataset.abort().unwrap();
    assert_eq!(files(folder.path()), before, "nothing is left");
    assert_eq!(joined.close().unwrap_err().kind(), ErrorKind::Conflict);

    let (dataset, ticket) = begin();
    let joined = Dataset::join(&ticket, &session()).unwrap();
    joined.write_bytes("v", &row_box(4..ROWS), &numbers(4..ROWS)).unwrap();
    let shared = Selection::new(vec![
        AxisSelection::Slice { start: 3, count: 1, stride: 1 },
        AxisSelection::Slice { start: 0, count: COLUMNS, stride: 1 },
    ]);
    dataset.variable("v").unwrap().write_bytes(&shared, &numbers(3..4)).unwrap();
    dataset.finish(&[joined.close().unwrap()]).unwrap();
    assert_eq!(read(&url, &session()), numbers(0..ROWS));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
}

#[test]
fn parts_of_chunks_and_doctored_texts_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let url = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let owner = session();
    let (dataset, other) = (
        create(&url("a.zarr"), Kind::NcZarr, ROWS, &owner),
        create(&url("b.zarr"), Kind::Zarr3, ROWS, &owner),
    );
    let v = dataset.variable("v").unwrap().id();
    let (ticket, others) = (dataset.ticket(&[v]).unwrap(), other.ticket(&[]).unwrap());
    assert!(dataset.ticket(&[dataset.variable("name").unwrap().id()]).is_err(), "text is the owner's");
    assert!(ticket.starts_with("ncirrus-ticket-1 "), "nothing that older versions do not know");
    let joined = Dataset::join(&ticket, &session()).unwrap();
    assert_eq!(joined.paths().collect::<Vec<_>>(), ["/time", "/v"]);
    let error = joined.write_bytes("v", &row_box(0..3), &numbers(0..3)).unwrap_err();
    assert_eq!((error.kind(), error.place().chunk.clone()), (ErrorKind::Invalid, Some(vec![1, 0])));
    assert!(error.to_string().contains("part of the chunk"), "{error}");
    assert!(joined.write_bytes("v", &row_box(8..11), &numbers(8..11)).is_err(), "past the end");
    assert!(joined.write_bytes("v", &row_box(0..2), &numbers(0..3)).is_err(), "too many bytes");
    assert_eq!(joined.write_bytes("name", &row_box(0..2), &[]).unwrap_err().kind(), ErrorKind::NotFound);
    joined.write_bytes("v", &row_box(0..8), &numbers(0..8)).unwrap();
    let first = joined.close().unwrap();
    let joined = Dataset::join(&ticket, &session()).unwrap();
    let rows = numbers(0..2);
    let chunk = joined.encoder("v").unwrap().cut(&row_box(0..2), &rows, &[0, 0]).unwrap();
    joined.write_chunk("v", &[0, 0], &chunk).unwrap();
    let twice = joined.close().unwrap();
    let foreign = Dataset::join(&others, &session()).unwrap().close().unwrap();
    for (receipts, kind, reason) in [
        (vec![first.clone()], ErrorKind::Missing, "a receipt for this chunk or shard is missing"),
        (vec![first.clone(), first.clone()], ErrorKind::Invalid, "given twice"),
        (vec![first.clone(), twice], ErrorKind::Invalid, "two receipts name this chunk or shard"),
        (vec![first.clone(), foreign], ErrorKind::Invalid, "another writing"),
        (vec![first.replace("[0,0]", "[0,7]")], ErrorKind::Malformed, "it was changed"),
        (vec![ticket.clone()], ErrorKind::Malformed, "no receipt"),
    ] {
        let error = dataset.clone().finish(&receipts).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
    for text in [
        ticket.replace("a.zarr", "b.zarr"),
        ticket[..ticket.len() / 2].to_owned(),
        first.clone(),
        String::new(),
    ] {
        assert_eq!(Dataset::join(&text, &session()).unwrap_err().kind(), ErrorKind::Malformed);
    }
    // A ticket with a valid seal is still bound to its location.
    let mut doctored = Ticket::of_text(&ticket).unwrap();
    doctored.place.folder = Ticket::of_text(&others).unwrap().place.folder;
    assert_eq!(Dataset::join(&doctored.to_text(), &session()).unwrap_err().kind(), ErrorKind::Invalid);
    let mut doctored = Ticket::of_text(&ticket).unwrap();
    doctored.variables[0].form = "../../{0}.{1}".to_owned();
    let joined = Dataset::join(&doctored.to_text(), &session()).unwrap();
    assert_eq!(joined.write_chunk("v", &[0, 0], &chunk).unwrap_err().kind(), ErrorKind::Invalid);
    // Definitions cannot change any more; finishing without all receipts fails.
    let joined = Dataset::join(&ticket, &session()).unwrap();
    joined.write_bytes("v", &row_box(8..ROWS), &numbers(8..ROWS)).unwrap();
    dataset.finish(&[first, joined.close().unwrap()]).unwrap();
    assert_eq!(read(&url("a.zarr"), &owner), numbers(0..ROWS));
    let file = Dataset::create_with(&url("c.nc"), &CreateOptions::new(), &owner).unwrap();
    file.edit(|model| Ok(model.add_variable(model.root(), "v", Atomic::Int.into(), &[])?)).unwrap();
    assert_eq!(file.ticket(&[]).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn any_process_with_ticket_and_receipts_finishes() {
    for kind in [Kind::NcZarr, Kind::Zarr3] {
        let folder = tempfile::tempdir().unwrap();
        let url = folder.path().join("a.zarr").to_str().unwrap().to_owned();
        let begin = |session: &Session| create(&url, kind, ROWS, session);
        let dataset = begin(&session());
        let v = dataset.variable("v").unwrap().id();
        let own = dataset.ticket(&[v]).unwrap();
        let ticket = dataset.hand_over(&[v]).unwrap();
        let joined = Dataset::join(&ticket, &session()).unwrap();
        let part = joined.part();
        joined.write_bytes("v", &row_box(0..4), &numbers(0..4)).unwrap();
        part.write_bytes("v", &row_box(4..ROWS), &numbers(4..ROWS)).unwrap();
        let receipts = [joined.close().unwrap(), part.close().unwrap()];
        assert!(!Path::new(&url).exists(), "nothing is seen before the end");
        let other = create(folder.path().join("b.zarr").to_str().unwrap(), kind, ROWS, &session());
        for (dataset, ticket, receipts, error) in [
            (other, &ticket, &receipts[..], ErrorKind::Invalid),
            (create(&url, kind, ROWS + 1, &session()), &ticket, &receipts[..], ErrorKind::Conflict),
            (begin(&session()), &own, &receipts[..], ErrorKind::Invalid),
            (begin(&session()), &ticket, &receipts[..1], ErrorKind::Missing),
        ] {
            assert_eq!(dataset.finish_for(ticket, receipts).unwrap_err().kind(), error);
        }
        let (dataset, late) = (begin(&session()), begin(&session()));
        dataset.variable("time").unwrap().write_all(&[0.5; 9]).unwrap();
        dataset.finish_for(&ticket, &receipts).unwrap();
        assert_eq!(read(&url, &session()), numbers(0..ROWS));
        assert_eq!(late.finish_for(&ticket, &receipts).unwrap_err().kind(), ErrorKind::Conflict);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else is left");
    }
}

#[test]
fn an_append_that_was_handed_over_finds_the_dataset_as_it_was_or_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().join("a.zarr").to_str().unwrap().to_owned();
    let dataset = create(&url, Kind::Zarr3, 4, &session());
    dataset.variable("v").unwrap().write_bytes(&row_box(0..4).into(), &numbers(0..4)).unwrap();
    dataset.close().unwrap();
    let begin = || {
        let dataset = Dataset::update_with(&url, &OpenOptions::new(), &session()).unwrap();
        let v = dataset.variable("v").unwrap();
        v.grow_to(&[ROWS, COLUMNS]).unwrap();
        let id = v.id();
        (dataset, id)
    };
    let hand_over = || {
        let (dataset, v) = begin();
        let ticket = dataset.hand_over(&[v]).unwrap();
        let joined = Dataset::join(&ticket, &session()).unwrap();
        joined.write_bytes("v", &row_box(4..ROWS), &numbers(4..ROWS)).unwrap();
        (ticket, joined.close().unwrap())
    };
    let (first, second) = (hand_over(), hand_over());
    assert_eq!(read(&url, &session()), numbers(0..4), "nothing is seen before the end");
    begin().0.finish_for(&first.0, &[first.1]).unwrap();
    assert_eq!(read(&url, &session()), numbers(0..ROWS));
    let error = begin().0.finish_for(&second.0, &[second.1]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    assert_eq!(read(&url, &session()), numbers(0..ROWS));
}

const TICKET: &str = "NCIRRUS_TEST_TICKET";
const ROWS_OF: &str = "NCIRRUS_TEST_ROWS";

/// The part of a process that joins; does nothing in an ordinary test run.
#[test]
fn joins_on_request() {
    let (Ok(ticket), Ok(rows)) = (std::env::var(TICKET), std::env::var(ROWS_OF)) else { return };
    let (start, end) = rows.split_once('-').unwrap();
    let rows = start.parse().unwrap()..end.parse().unwrap();
    let joined = Dataset::join(&ticket, &session()).unwrap();
    joined.write_bytes("v", &row_box(rows.clone()), &numbers(rows)).unwrap();
    std::fs::write(std::env::var("NCIRRUS_TEST_RECEIPT").unwrap(), joined.close().unwrap()).unwrap();
}

fn process(ticket: &str, rows: &str, receipt: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "dataset::joint::tests::joins_on_request"]).stdout(Stdio::null());
    command.env(TICKET, ticket).env(ROWS_OF, rows).env("NCIRRUS_TEST_RECEIPT", receipt).spawn().unwrap()
}

#[test]
fn processes_write_one_tree_and_one_that_is_killed_is_repeated() {
    let (folder, receipts) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let url = folder.path().join("a.zarr").to_str().unwrap().to_owned();
    let dataset = create(&url, Kind::Zarr3, ROWS, &session());
    let ticket = dataset.ticket(&[dataset.variable("v").unwrap().id()]).unwrap();
    let receipt = |number: usize| receipts.path().join(number.to_string());
    let parts = ["0-2", "2-6", "6-9"];
    let mut killed = process(&ticket, parts[1], &receipt(9));
    killed.kill().unwrap();
    killed.wait().unwrap();
    let running: Vec<Child> =
        parts.iter().enumerate().map(|(number, rows)| process(&ticket, rows, &receipt(number))).collect();
    running.into_iter().for_each(|mut child| assert!(child.wait().unwrap().success()));
    let texts: Vec<String> =
        (0..parts.len()).map(|number| std::fs::read_to_string(receipt(number)).unwrap()).collect();
    dataset.finish(&texts).unwrap();
    assert_eq!(read(&url, &session()), numbers(0..ROWS));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
