//! Programs that change one dataset at the same time.
use super::places::Place;
use super::server::{Manners, Server, session};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, Dialect, DimensionLen, ErrorKind, Kind, NodeId, OpenOptions,
    Result, Selection, Session, Shards, Storage, Values,
};
use ncirrus_testkit::sample::in_turn;
use std::sync::Barrier;
use std::time::Duration;

/// A kind of tree, with or without consolidated metadata; the last one has shards.
const KINDS: [(Kind, Option<Dialect>, bool); 4] =
    [(Kind::NcZarr, None, true), (Kind::NcZarr, None, false), (Kind::Zarr3, None, true), SHARDED];
const SHARDED: (Kind, Option<Dialect>, bool) = (Kind::Zarr3, None, false);

fn options(kind: (Kind, Option<Dialect>, bool)) -> CreateOptions {
    CreateOptions::new().kind(kind.0).dialect(kind.1).consolidated(kind.2)
}

/// Two variables with records, five of them, in chunks of four.
fn create(url: &str, options: &CreateOptions, session: &Session) -> Result<()> {
    let dataset = Dataset::create_with(url, options, session)?;
    dataset.edit(|model| {
        let root = model.root();
        let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(8))?;
        for name in ["one", "two"] {
            let var = model.add_variable(root, name, Atomic::Int.into(), &[time, x])?;
            let variable = model.variable_mut(var).unwrap();
            variable.storage = Storage::Chunked(vec![4, 4]);
            let is_sharded = (options.kind, options.consolidated) == (Some(SHARDED.0), SHARDED.2);
            variable.shards = is_sharded.then(|| Shards::new(vec![8, 8]));
        }
        Ok(())
    })?;
    for name in ["/one", "/two"] {
        let values = Values::Int((0..40).collect());
        dataset.variable(name)?.write_values(&Selection::all(&[5, 8]), &values)?;
    }
    dataset.close()
}

fn update(url: &str, session: &Session) -> Result<Dataset> {
    Dataset::update_with(url, &OpenOptions::default(), session)
}

/// Writes a record after the last one that the writer knows.
fn append(dataset: &Dataset, value: i32) -> Result<()> {
    let last = dataset.variable("/one")?.shape()[0];
    for name in ["/one", "/two"] {
        let selection = Selection::slab(&[last, 0], &[1, 8]);
        dataset.variable(name)?.write_values(&selection, &Values::Int(vec![value; 8]))?;
    }
    Ok(())
}

fn records(url: &str, session: &Session) -> Vec<Vec<i32>> {
    let dataset = Dataset::open_with(url, &OpenOptions::default(), session).unwrap();
    let read = |name: &str| dataset.variable(name).unwrap().read::<i32>().unwrap();
    let (one, two) = (read("/one"), read("/two"));
    assert_eq!(one, two, "both variables have the same records");
    one.chunks(8).map(<[i32]>::to_vec).collect()
}

/// All orders in which two writers can open, write and commit.
fn schedules() -> Vec<Vec<usize>> {
    let choose = |mask: u32| (0..6).map(|at| usize::from(mask >> at & 1 == 1)).collect();
    (0u32..64).filter(|mask| mask.count_ones() == 3).map(choose).collect()
}

/// A writer that appends a record, one step at a time.
struct Appender<'a> {
    url: &'a str,
    session: &'a Session,
    value: i32,
    step: usize,
    dataset: Option<Dataset>,
    outcome: Result<()>,
}

impl Appender<'_> {
    fn next(&mut self) {
        let step = self.step;
        self.step += 1;
        let outcome = match (step, &self.dataset) {
            (0, _) => update(self.url, self.session).map(|dataset| self.dataset = Some(dataset)),
            (1, Some(dataset)) => append(dataset, self.value),
            (_, Some(_)) => self.dataset.take().unwrap().close(),
            _ => Ok(()),
        };
        if self.outcome.is_ok() {
            self.outcome = outcome;
        }
    }
}

#[test]
fn of_two_appenders_each_wins_or_is_reported_in_every_order_of_steps() {
    let (server, other) = (Server::start(), ());
    let () = other;
    let sessions = [server.session(), server.session()];
    for (turn, kind) in KINDS.into_iter().enumerate() {
        let schedules = schedules().into_iter().enumerate();
        for (number, schedule) in schedules.filter(|(number, _)| in_turn(number + turn, 3)) {
            let url = server.url(&format!("steps-{turn}-{number}"));
            create(&url, &options(kind), &sessions[0]).unwrap();
            let mut writers = [1, 2].map(|value| Appender {
                url: &url,
                session: &sessions[value as usize - 1],
                value: -value,
                step: 0,
                dataset: None,
                outcome: Ok(()),
            });
            schedule.iter().for_each(|who| writers[*who].next());
            let records = records(&url, &sessions[0]);
            let at = format!("{kind:?} {schedule:?}: {records:?}");
            assert_eq!(records[..5].concat(), (0..40).collect::<Vec<i32>>(), "{at}");
            let mut won = 0;
            for writer in &writers {
                let theirs = records[5..].iter().filter(|record| **record == [writer.value; 8]).count();
                match &writer.outcome {
                    Ok(()) => assert_eq!(theirs, 1, "the winner's record is there: {at}"),
                    Err(error) => {
                        assert_eq!((error.kind(), theirs), (ErrorKind::Conflict, 0), "{error:?}: {at}");
                        assert!(error.to_string().contains("steps-"), "the object is named: {error}");
                    }
                }
                won += usize::from(writer.outcome.is_ok());
            }
            assert!(won >= 1, "one of them wins: {at}: {:?}", writers.map(|writer| writer.outcome));
            assert_eq!(records.len(), 5 + won, "{at}");
        }
    }
}

#[test]
fn appenders_that_try_again_lose_no_record() {
    let places = [Some(Place::here()), Place::moto().map(|(place, _)| place), Place::azurite()];
    for place in places.into_iter().flatten() {
        let url = place.url("again");
        create(&url, &options(KINDS[0]), &place.session()).unwrap();
        let start = Barrier::new(3);
        std::thread::scope(|scope| {
            for writer in 0..3 {
                let (url, start, session) = (&url, &start, place.session());
                scope.spawn(move || {
                    start.wait();
                    for turn in 0..2 {
                        let value = -(writer * 10 + turn + 1);
                        while let Err(error) = try_append(url, &session, value) {
                            assert_eq!(error.kind(), ErrorKind::Conflict, "{error:?}");
                        }
                    }
                });
            }
        });
        let mut values: Vec<i32> =
            records(&url, &place.session())[5..].iter().map(|record| record[0]).collect();
        values.sort_unstable();
        assert_eq!(values, [-22, -21, -12, -11, -2, -1], "{}", place.name);
    }
}

fn try_append(url: &str, session: &Session, value: i32) -> Result<()> {
    let dataset = match update(url, session) {
        // A read during another program's commit may see two states.
        Err(error) if error.kind() == ErrorKind::Changed => {
            return Err(ncirrus::Error::new(ErrorKind::Conflict, ""));
        }
        opened => opened?,
    };
    append(&dataset, value)?;
    dataset.close()
}

#[test]
fn parts_of_one_chunk_are_written_by_several_programs_at_once() {
    for place in [Some(Place::here()), Place::moto().map(|(place, _)| place)].into_iter().flatten() {
        for (name, kind) in [("parts", KINDS[0]), ("parts-of-shards", SHARDED)] {
            write_columns_at_once(&place, name, kind);
        }
    }
}

fn write_columns_at_once(place: &Place, name: &str, kind: (Kind, Option<Dialect>, bool)) {
    let url = place.url(name);
    create(&url, &options(kind), &place.session()).unwrap();
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for column in 0..4 {
            let (url, start, session) = (&url, &start, place.session());
            scope.spawn(move || {
                let dataset = update(url, &session).unwrap();
                start.wait();
                let variable = dataset.variable("/one").unwrap();
                let values = Values::Int(vec![-1 - i32::try_from(column).unwrap(); 5]);
                variable.write_values(&Selection::slab(&[0, column], &[5, 1]), &values).unwrap();
                dataset.close().unwrap();
            });
        }
    });
    let dataset = Dataset::open_with(&url, &OpenOptions::default(), &place.session()).unwrap();
    let values = dataset.variable("/one").unwrap().read::<i32>().unwrap();
    for (row, columns) in values.chunks(8).enumerate() {
        let first = i32::try_from(row * 8).unwrap();
        assert_eq!(columns[..4], [-1, -2, -3, -4], "{}: row {row}", place.name);
        assert_eq!(columns[4..], [first + 4, first + 5, first + 6, first + 7]);
    }
}

/// Each program writes another chunk of one shard, again and again.
#[test]
fn chunks_of_one_shard_are_written_by_several_programs_at_once() {
    for place in [Some(Place::here()), Place::moto().map(|(place, _)| place)].into_iter().flatten() {
        let url = place.url("chunks-of-shards");
        create(&url, &options(SHARDED), &place.session()).unwrap();
        let start = Barrier::new(2);
        std::thread::scope(|scope| {
            for column in [0, 4] {
                let (url, start, session) = (&url, &start, place.session());
                scope.spawn(move || {
                    start.wait();
                    for turn in 1..=5 {
                        let dataset = update(url, &session).unwrap();
                        let variable = dataset.variable("/one").unwrap();
                        let chunk = Selection::slab(&[0, column], &[4, 4]);
                        variable.write_values(&chunk, &Values::Int(vec![turn; 16])).unwrap();
                        dataset.close().unwrap();
                    }
                });
            }
        });
        let values = records_of(&url, &place.session());
        assert_eq!(values[..32], [5; 32], "{}", place.name);
        assert_eq!(values[32..], (32..40).collect::<Vec<i32>>(), "{}", place.name);
    }
}

#[test]
fn of_two_creators_one_wins() {
    for place in [Some(Place::here()), Place::moto().map(|(place, _)| place)].into_iter().flatten() {
        for (number, kind) in KINDS.into_iter().enumerate() {
            let url = place.url(&format!("created-{number}"));
            let start = Barrier::new(2);
            let outcomes = std::thread::scope(|scope| {
                let creators = [0, 1].map(|_| {
                    let (url, start, session) = (&url, &start, place.session());
                    scope.spawn(move || {
                        start.wait();
                        create(url, &options(kind), &session)
                    })
                });
                creators.map(|creator| creator.join().unwrap())
            });
            assert_eq!(
                outcomes.iter().filter(|outcome| outcome.is_ok()).count(),
                1,
                "{}: {outcomes:?}",
                place.name
            );
            let lost = outcomes.into_iter().find_map(Result::err).unwrap();
            assert_eq!(lost.kind(), ErrorKind::Conflict, "{lost:?}");
            assert_eq!(records(&url, &place.session()).concat(), (0..40).collect::<Vec<i32>>());
        }
    }
}

/// Replaces or creates a dataset in which all elements have the same value.
fn make(url: &str, kind: (Kind, Option<Dialect>, bool), value: i32, session: &Session) -> Result<()> {
    let options = options(kind).overwrite(true);
    let dataset = Dataset::create_with(url, &options, session)?;
    dataset.edit(|model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(24))?;
        for name in ["one", "two"] {
            let var = model.add_variable(root, name, Atomic::Int.into(), &[x])?;
            model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![2]);
        }
        Ok(())
    })?;
    for name in ["/one", "/two"] {
        dataset.variable(name)?.write_values(&Selection::all(&[24]), &Values::Int(vec![value; 24]))?;
    }
    dataset.close()
}

/// Two programs that replace, or create, one dataset, the second some time after the first.
fn race_to_replace(races: u64) {
    let server = Server::start();
    let sessions = [server.session(), server.session()];
    let mut lost = 0;
    for race in 0..races {
        let kind = KINDS[(race % 3) as usize];
        let url = server.url(&format!("raced-{race}"));
        if race % 2 == 1 {
            make(&url, kind, 7, &sessions[0]).unwrap();
        }
        let late = Duration::from_millis(race * 7 % 80);
        let outcomes = std::thread::scope(|scope| {
            let writers = [(0, 1), (1, 2)].map(|(writer, value)| {
                let (url, session) = (&url, &sessions[writer]);
                scope.spawn(move || {
                    std::thread::sleep(if writer == 0 { Duration::ZERO } else { late });
                    make(url, kind, value, session)
                })
            });
            writers.map(|writer| writer.join().unwrap())
        });
        let dataset = Dataset::open_with(&url, &OpenOptions::default(), &sessions[0]).unwrap();
        let read = |name: &str| dataset.variable(name).unwrap().read::<i32>().unwrap().into_vec();
        let values = [read("one"), read("two")].concat();
        let at = format!("race {race} of {kind:?}, {late:?} apart: {outcomes:?}: {values:?}");
        assert!(values.iter().all(|value| *value == values[0]), "{at}");
        let winner = usize::try_from(values[0]).unwrap() - 1;
        assert!(outcomes[winner].is_ok(), "{at}");
        for error in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
            assert_eq!(error.kind(), ErrorKind::Conflict, "{at}");
            lost += 1;
        }
        assert!(!server.keys().iter().any(|key| key.contains(".ncirrus-")), "{at}: {:?}", server.keys());
    }
    assert!(lost > races / 10, "{lost} of {races} were told");
}

#[test]
fn of_two_programs_that_replace_a_dataset_one_wins_and_nothing_is_mixed() {
    race_to_replace(25);
}

#[test]
#[ignore = "takes minutes: cargo test -p ncirrus --test network thousand_races -- --ignored"]
fn of_two_programs_that_replace_a_dataset_one_wins_in_a_thousand_races() {
    race_to_replace(1000);
}

#[test]
fn a_tree_and_an_object_of_one_name_are_refused_or_replace_each_other() {
    let Some((place, _)) = Place::moto() else { return };
    let (url, session) = (place.url("shadow/h"), place.session());
    let file = |overwrite| CreateOptions::new().kind(Kind::Nc3).overwrite(overwrite);
    let tree = |overwrite| options(KINDS[0]).overwrite(overwrite);
    let values = |kind: &str| {
        let dataset = Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap();
        assert_eq!(dataset.kind().is_classic(), kind == "file", "{}", dataset.kind());
        records(&url, &session).concat()
    };
    let all: Vec<i32> = (0..40).collect();
    create_plain(&url, &file(false), &session).unwrap();
    let refused = create_plain(&url, &tree(false), &session).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    create_plain(&url, &tree(true), &session).unwrap();
    assert_eq!(values("tree"), all);
    let refused = create_plain(&url, &file(false), &session).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert_eq!(values("tree"), all);
    create_plain(&url, &file(true), &session).unwrap();
    assert_eq!(values("file"), all);
    let below = ncirrus_tools::removal(&url, &session).unwrap();
    assert!(!below.is_tree && below.keys.len() == 1, "{:?}", below.keys);
    create_plain(&url, &tree(true), &session).unwrap();
    assert_eq!(values("tree"), all);
}

/// As [`create`], with only what every kind supports.
fn create_plain(url: &str, options: &CreateOptions, session: &Session) -> Result<()> {
    let dataset = Dataset::create_with(url, options, session)?;
    dataset.edit(|model| {
        let root = model.root();
        let time = model.add_dimension(root, "time", DimensionLen::Fixed(5))?;
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(8))?;
        for name in ["one", "two"] {
            model.add_variable(root, name, Atomic::Int.into(), &[time, x])?;
        }
        Ok(())
    })?;
    for name in ["/one", "/two"] {
        dataset.variable(name)?.write_values(&Selection::all(&[5, 8]), &Values::Int((0..40).collect()))?;
    }
    dataset.close()
}

#[test]
fn a_store_without_conditions_takes_whole_chunks_and_says_what_it_cannot() {
    let server = Server::with(Manners { no_conditions: true, ..Manners::default() });
    let session = session(&super::server::settings(&server.address, "any", "any"));
    let url = server.url("unguarded");
    create(&url, &options(KINDS[0]), &session).unwrap();
    let dataset = update(&url, &session).unwrap();
    let variable = dataset.variable("/one").unwrap();
    variable.write_values(&Selection::slab(&[0, 0], &[4, 4]), &Values::Int(vec![7; 16])).unwrap();
    let text = Attribute::text("note", "changed");
    dataset
        .edit(|model| {
            model.attributes_mut(NodeId::Group(model.root())).unwrap().known_mut().put(text);
            Ok(())
        })
        .unwrap();
    dataset.sync().unwrap();
    assert!(
        dataset.warnings().iter().any(|warning| warning.contains("conditional puts")),
        "{:?}",
        dataset.warnings()
    );
    drop(dataset);
    let dataset = update(&url, &session).unwrap();
    let part = Selection::slab(&[0, 0], &[1, 1]);
    dataset.variable("/one").unwrap().write_values(&part, &Values::Int(vec![8])).unwrap();
    let refused = dataset.close().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused:?}");
    assert!(refused.to_string().contains("aligned"), "{refused}");
    let aligned = OpenOptions::new().aligned(true);
    let dataset = Dataset::update_with(&url, &aligned, &session).unwrap();
    dataset.variable("/one").unwrap().write_values(&part, &Values::Int(vec![8])).unwrap();
    dataset.close().unwrap();
    assert_eq!(records_of(&url, &session)[..5], [8, 7, 7, 7, 4]);
}

#[test]
fn a_store_without_conditions_refuses_a_part_of_a_shard() {
    let server = Server::with(Manners { no_conditions: true, ..Manners::default() });
    let session = session(&super::server::settings(&server.address, "any", "any"));
    let url = server.url("unguarded-shards");
    create(&url, &options(SHARDED), &session).unwrap();
    let chunk = Selection::slab(&[0, 0], &[4, 4]);
    let write = |options: &OpenOptions| {
        let dataset = Dataset::update_with(&url, options, &session)?;
        dataset.variable("/one")?.write_values(&chunk, &Values::Int(vec![7; 16]))?;
        dataset.close()
    };
    let refused = write(&OpenOptions::default()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported, "{refused:?}");
    assert!(refused.to_string().contains("part of a shard"), "{refused}");
    write(&OpenOptions::new().aligned(true)).unwrap();
    assert_eq!(records_of(&url, &session)[..5], [7, 7, 7, 7, 4]);
}

fn records_of(url: &str, session: &Session) -> Vec<i32> {
    let dataset = Dataset::open_with(url, &OpenOptions::default(), session).unwrap();
    dataset.variable("/one").unwrap().read().unwrap().into_vec()
}
