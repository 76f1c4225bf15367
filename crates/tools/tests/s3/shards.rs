//! Shards that two programs change at the same time, and programs that are killed while they change shards: in a directory
//! and in an object store. `NCIRRUS_SHARD_RACES` and `NCIRRUS_SHARD_KILLS` are the numbers of races and kills in each.
use super::server::{KEY, SECRET, Server, session, settings};
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, OpenOptions, Result, Selection, Session,
    Shards, Storage, Values,
};
use ncirrus_testkit::law::RandomSource;
use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::Barrier;
use std::time::Duration;

const COLUMNS: usize = 10;
const WIDTH: u64 = COLUMNS as u64;
const FILL: i32 = -2_147_483_647;

fn count(name: &str, few: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

fn local() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

/// `v(time, x)` with eight rows, in chunks of 2 x 3 and shards of 8 x 6.
fn create(url: &str, session: &Session) {
    create_in(url, session, Some(&Shards::new(vec![8, 6])));
}

fn create_in(url: &str, session: &Session, shards: Option<&Shards>) {
    let options = CreateOptions::new().kind(Kind::Zarr3);
    let dataset = Dataset::create_with(url, &options, session).unwrap();
    let edited = dataset.edit(|model| {
        let root = model.root();
        let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(WIDTH))?;
        let var = model.add_variable(root, "v", Atomic::Int.into(), &[time, x])?;
        let variable = model.variable_mut(var).unwrap();
        variable.storage = Storage::Chunked(vec![2, 3]);
        variable.shards = shards.cloned();
        Ok(())
    });
    edited.unwrap();
    let values = Values::Int(vec![0; 8 * COLUMNS]);
    dataset.variable("/v").unwrap().write_values(&Selection::all(&[8, WIDTH]), &values).unwrap();
    dataset.close().unwrap();
}

fn update(url: &str, session: &Session) -> Result<Dataset> {
    Dataset::update_with(url, &OpenOptions::default(), session)
}

fn write(dataset: &Dataset, (start, count): ([u64; 2], [u64; 2]), value: i32) -> Result<()> {
    let len = usize::try_from(count[0] * count[1]).unwrap();
    dataset.variable("/v")?.write_values(&Selection::slab(&start, &count), &Values::Int(vec![value; len]))
}

fn rows(url: &str, session: &Session) -> Result<Vec<Vec<i32>>> {
    let dataset = Dataset::open_with(url, &OpenOptions::default(), session)?;
    let values = dataset.variable("/v")?.read::<i32>()?;
    Ok(values.chunks(COLUMNS).map(<[i32]>::to_vec).collect())
}

/// One writer of a race: a chunk of its own and an element of a chunk that both write, or a row at the end.
fn race(url: &str, session: &Session, writer: u64, appends: bool, value: i32) -> Result<()> {
    let dataset = update(url, session)?;
    if appends {
        let last = dataset.variable("/v")?.shape()[0];
        write(&dataset, ([last, 0], [1, WIDTH]), value)?;
    } else {
        write(&dataset, ([2 * writer, 0], [2, 3]), value)?;
        write(&dataset, ([4 + writer, 3], [1, 1]), value)?;
    }
    dataset.close()
}

/// Races of two writers on one shard: what was reported as kept is there, and the others get a conflict.
fn races(name: &str, url: &str, sessions: &[Session; 2], races: u64) {
    let (mut kept, mut rejected) = (0, 0);
    for number in 0..races {
        let before = rows(url, &sessions[0]).unwrap().len();
        let appends = number % 4 == 3;
        let value = |writer: u64| i32::try_from(2 * number + writer + 1).unwrap();
        let start = Barrier::new(2);
        let outcomes = std::thread::scope(|scope| {
            let writers = [0, 1].map(|writer| {
                let (start, session) = (&start, &sessions[usize::try_from(writer).unwrap()]);
                scope.spawn(move || {
                    start.wait();
                    race(url, session, writer, appends, value(writer))
                })
            });
            writers.map(|writer| writer.join().unwrap())
        });
        let after = rows(url, &sessions[1]).unwrap();
        let at = format!("{name}: race {number}: {outcomes:?}");
        assert!(outcomes.iter().any(Result::is_ok), "{at}: no writer succeeded");
        let successes = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
        assert_eq!(after.len() - before, if appends { successes } else { 0 }, "{at}");
        for (writer, outcome) in (0u64..).zip(&outcomes) {
            let row = usize::try_from(writer).unwrap();
            let value = value(writer);
            match outcome {
                Ok(()) if appends => assert!(after[before..].contains(&vec![value; COLUMNS]), "{at}"),
                Ok(()) => {
                    assert_eq!(
                        (&after[2 * row][..3], &after[2 * row + 1][..3]),
                        (&[value; 3][..], &[value; 3][..]),
                        "{at}"
                    );
                    assert_eq!(after[4 + row][3], value, "{at}");
                }
                Err(error) => {
                    assert!(matches!(error.kind(), ErrorKind::Conflict | ErrorKind::Changed), "{at}");
                }
            }
        }
        kept += successes;
        rejected += 2 - successes;
    }
    println!("{name}: {races} races of two writers: {kept} kept, 0 lost, {rejected} got a conflict");
}

#[test]
fn of_two_writers_of_one_shard_none_is_lost() {
    let many = count("NCIRRUS_SHARD_RACES", 12);
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start());
    // The same for chunks that are objects of their own.
    for (name, shards) in [("shards", Some(Shards::new(vec![8, 6]))), ("chunks", None)] {
        let (url, sessions) = (folder.path().join(name), [local(), local()]);
        let url = url.to_str().unwrap();
        create_in(url, &sessions[0], shards.as_ref());
        races(&format!("{name} in a directory"), url, &sessions, many);
        let (url, sessions) = (server.url(name), [server.session(), server.session()]);
        create_in(&url, &sessions[0], shards.as_ref());
        races(&format!("{name} on S3"), &url, &sessions, many);
    }
}

/// A writer that another one overtook puts a chunk or a shard of which a part is committed: nothing of the other one changes.
fn overtaken_writer_changes_nothing(url: &str, sessions: &[Session; 2], shards: Option<&Shards>) {
    let unit = if shards.is_some() { 8 } else { 2 };
    create_in(url, &sessions[0], shards);
    let row = |session: &Session, number: u64, value: i32| {
        let dataset = update(url, session).unwrap();
        write(&dataset, ([number, 0], [1, WIDTH]), value).unwrap();
        dataset.close()
    };
    row(&sessions[1], 8, 1).unwrap();
    let slow = update(url, &sessions[0]).unwrap();
    // The first rows that are put make this writer the one that may add rows.
    write(&slow, ([8 + unit, 0], [unit, WIDTH]), 2).unwrap();
    row(&sessions[1], 9, 3).unwrap();
    let written = write(&slow, ([8, 0], [unit, WIDTH]), 4);
    let closed = written.and_then(|()| slow.close());
    assert!(closed.is_err_and(|error| error.kind() == ErrorKind::Conflict), "{url}");
    let after = rows(url, &sessions[1]).unwrap();
    assert_eq!(after[8..], [vec![1; COLUMNS], vec![3; COLUMNS]], "{url}");
}

#[test]
fn a_writer_that_was_overtaken_changes_no_committed_rows() {
    let (folder, server) = (tempfile::tempdir().unwrap(), Server::start());
    for (name, shards) in [("shards", Some(Shards::new(vec![8, 6]))), ("chunks", None)] {
        let url = folder.path().join(name);
        overtaken_writer_changes_nothing(url.to_str().unwrap(), &[local(), local()], shards.as_ref());
        overtaken_writer_changes_nothing(
            &server.url(name),
            &[server.session(), server.session()],
            shards.as_ref(),
        );
    }
}

/// The boxes of a turn in an array of that many rows: one somewhere, which may reach over the end, and sometimes a row.
fn boxes(turn: u64, len: u64) -> Vec<([u64; 2], [u64; 2])> {
    let column = turn * 3 % 8;
    let first = ([turn * 7 % (len + 1), column], [1 + turn % 5, 1 + turn % (WIDTH - column)]);
    let end = len.max(first.0[0] + first.1[0]);
    if turn.is_multiple_of(4) && end < 60 { vec![first, ([end, 0], [1, WIDTH])] } else { vec![first] }
}

/// The array in memory.
#[derive(Clone)]
struct Expected(Vec<Vec<i32>>);

impl Expected {
    fn apply(&mut self, turn: u64) {
        for (start, count) in boxes(turn, self.0.len() as u64) {
            let end = usize::try_from(start[0] + count[0]).unwrap();
            if self.0.len() < end {
                self.0.resize(end, vec![FILL; COLUMNS]);
            }
            for row in &mut self.0[usize::try_from(start[0]).unwrap()..end] {
                let columns =
                    usize::try_from(start[1]).unwrap()..usize::try_from(start[1] + count[1]).unwrap();
                row[columns].fill(i32::try_from(turn).unwrap());
            }
        }
    }

    /// Whether an array has what was committed; of the next turn, which was killed, each element may be there.
    fn is_kept(&self, next: &Self, found: &[Vec<i32>]) -> bool {
        let is_one = |row: usize, column: usize| {
            let found = found[row][column];
            next.0[row][column] == found || self.0.get(row).is_some_and(|row| row[column] == found)
        };
        (found.len() == self.0.len() || found.len() == next.0.len())
            && (0..found.len()).all(|row| (0..COLUMNS).all(|column| is_one(row, column)))
    }
}

/// Makes turn after turn until it is killed; prints a dot after each commit.
fn work(url: &str, first: u64, session: &Session) -> Result<()> {
    use std::io::Write as _;
    for turn in first.. {
        let dataset = update(url, session)?;
        let len = dataset.variable("/v")?.shape()[0];
        for part in boxes(turn, len) {
            write(&dataset, part, i32::try_from(turn).unwrap())?;
        }
        dataset.close()?;
        let mut out = std::io::stderr();
        out.write_all(b"committed\n").and_then(|()| out.flush()).unwrap();
    }
    Ok(())
}

const CHILD: &str = "NCIRRUS_SHARD_CHILD";

/// Only does something in a process that [`kills`] starts.
#[test]
fn a_child_that_is_killed() {
    let Ok(words) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = words.split('|').collect();
    let [url, first, address] = words[..] else { panic!("{words:?}") };
    let session = if address.is_empty() { local() } else { session(&settings(address, KEY, SECRET)) };
    work(url, first.parse().unwrap(), &session).unwrap();
}

fn kills(name: &str, url: &str, address: &str, session: &Session, kills: u64) {
    create(url, session);
    let mut expected = Expected(vec![vec![0; COLUMNS]; 8]);
    let mut random = RandomSource(kills);
    let (mut next, mut partly) = (1, 0);
    for number in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "s3::shards::a_child_that_is_killed", "--nocapture"])
            .env(CHILD, format!("{url}|{next}|{address}"))
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_micros(10_000 + random.below(90_000)));
        child.kill().unwrap();
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        child.wait().unwrap();
        assert!(!said.contains("panicked"), "{name}: kill {number}: {said}");
        for _ in 0..said.matches("committed\n").count() {
            expected.apply(next);
            next += 1;
        }
        let mut killed = expected.clone();
        killed.apply(next);
        let found = rows(url, session)
            .unwrap_or_else(|error| panic!("{name}: kill {number} is unreadable: {error:?}"));
        assert!(expected.is_kept(&killed, &found), "{name}: kill {number} in turn {next}: {found:?}");
        partly += u64::from(found != expected.0 && found != killed.0);
        // The length is what the next turn begins with.
        if found.len() != expected.0.len() {
            let dataset = update(url, session).unwrap();
            for part in boxes(next, expected.0.len() as u64) {
                write(&dataset, part, i32::try_from(next).unwrap()).unwrap();
            }
            dataset.close().unwrap();
            expected = killed;
            next += 1;
        }
    }
    println!(
        "{name}: {kills} kills in {next} updates of shards: 0 unreadable, 0 lost, {partly} within an update"
    );
}

#[test]
fn killed_updates_of_shards_lose_nothing_that_was_committed() {
    let many = count("NCIRRUS_SHARD_KILLS", 8);
    let folder = tempfile::tempdir().unwrap();
    kills("directory", folder.path().join("a.zarr").to_str().unwrap(), "", &local(), many);
    let server = Server::start();
    kills("S3", &server.url("killed-shard"), &server.address, &server.session(), many);
}
