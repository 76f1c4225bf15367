//! `ncirrus nccopy` beside Debian's nccopy: the same flags and files, the same exit codes and the same datasets.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::corpus::program;
use ncirrus_testkit::sample::{all_cases, in_turn};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Output};

/// Sources: name, kind, CDL.
const SOURCES: [(&str, &str, &str); 7] = [
    ("classic", "nc3", CLASSIC),
    ("offset64", "nc6", CLASSIC),
    ("data64", "nc5", DATA64),
    ("model", "nc4c", CLASSIC),
    ("netcdf4", "nc4", CLASSIC),
    ("groups", "nc4", GROUPS),
    ("unlimited", "nc4", UNLIMITED),
];

const CLASSIC: &str = "netcdf s { dimensions: t = UNLIMITED ; y = 100 ; x = 40 ;
variables: double t(t) ; t:units = \"days\" ; float y(y) ; float v(t, y, x) ; int s ; short w(y, x) ; double f(y, x) ;
char n(y) ; byte none(t, x) ; none:_FillValue = 3b ; :title = \"a title\" ; :numbers = 1, 2, 3 ;
data: t = 1, 2, 3 ; y = 1, 2, 3, 4 ; v = 1, 2, 3, 4, 5 ; s = 5 ; w = 1, 2, 3 ; f = 1, 2.5 ; n = \"abc\" ; }";

const DATA64: &str =
    "netcdf s { dimensions: y = 100 ; x = 40 ; variables: int64 v(y, x) ; ubyte w(y, x) ; double f(y, x) ;
uint y(y) ; :of = 5ull ; data: v = 1, 2, 9000000000 ; w = 1, 255 ; f = 7 ; y = 4000000000 ; }";

const GROUPS: &str = "netcdf s { types: compound c_t { int a ; double b ; } ; int(*) l_t ; byte enum e_t { A = 0, B = 1 } ;
opaque(4) o_t ; dimensions: t = UNLIMITED ; y = 100 ; x = 40 ;
variables: double t(t) ; float v(t, y, x) ; v:_ChunkSizes = 1, 50, 20 ; v:_DeflateLevel = 3 ; v:_Shuffle = \"true\" ;
int s ; int w(y, x) ; w:_Storage = \"contiguous\" ; float f(y, x) ; f:_ChunkSizes = 100, 40 ; f:_Fletcher32 = \"true\" ;
float y(y) ; y:_DeflateLevel = 4 ; string st(y) ; c_t cc(x) ; l_t ll(x) ; e_t ee(x) ; o_t oo(x) ; int be(x) ; be:_Endianness = \"big\" ;
data: t = 1, 2 ; v = 1, 2, 3 ; s = 5 ; w = 1, 2 ; f = 3 ; y = 1, 2 ; st = \"a\", \"b\" ; cc = {1, 2} ; ll = {1, 2}, {3} ; ee = B ;
oo = 0x01020304 ; be = 1, 2 ;
group: g1 { dimensions: y = 7 ; variables: int w(y, x) ; :at = \"x\" ; data: w = 9 ;
  group: g2 { variables: float v(x) ; data: v = 1 ; } } group: e { } }";

const UNLIMITED: &str = "netcdf s { dimensions: t = UNLIMITED ; u = UNLIMITED ; x = 40 ;
variables: double v(t, u) ; int w(u, x) ; ubyte y(t) ; data: v = {1, 2}, {3, 4} ; w = 1, 2, 3 ; y = 1, 2, 3 ; }";

/// Command lines before source and target, separated by blanks.
const FLAGS: &[&str] = &[
    "",
    "-3",
    "-6",
    "-4",
    "-7",
    "-knc3",
    "-k nc4",
    "-kcdf5",
    "-k nc5",
    "-k 1",
    "-k 2",
    "-k 3",
    "-k 4",
    "-k 5",
    "-k netCDF4",
    "-k hdf5",
    "-k enhanced",
    "-k hdf5-nc3",
    "-k enhanced-nc3",
    "-k netCDF4_classic",
    "-k nc7",
    "-k 64-bit-offset",
    "-k 64-bit-data",
    "-k nope",
    "-d0",
    "-d1",
    "-d 9",
    "-d 10",
    "-d -1",
    "-s",
    "-d1 -s",
    "-sd1",
    "-s -d 0",
    "-u",
    "-u -d1",
    "-u -c y/10",
    "-r",
    "-w",
    "-x",
    "-rwxu",
    "-c y/10",
    "-c y/",
    "-c x/10",
    "-c y/50,x/20",
    "-c y/10 -c x/10",
    "-c w:50,40",
    "-c w:50,20 -M 0",
    "-c w:50,40 -c w:25,40 -M0",
    "-c w:",
    "-c f:50,40 -c f:100,20",
    "-c f:contiguous",
    "-c w:compact",
    "-c w:CONTIGUOUS",
    "-c f:compact",
    "-c w:0,0",
    "-c /",
    "-c //",
    "-c / -d1",
    "-c y:10 -M1",
    "-c y:10",
    "-M 0 -c y/10",
    "-M 100000 -c y/10",
    "-M 100000 -d1",
    "-M0 -4",
    "-c f: -d1",
    "-c y/1000",
    "-c nope/5",
    "-c nope:5",
    "-c y",
    "-c y/0",
    "-c y/x",
    "-c y/5,,x/3",
    "-c w:1",
    "-c w:1,x",
    "-c w:1,1000",
    "-v w",
    "-v v,w",
    "-V w",
    "-V v,y",
    "-V /w",
    "-v nope",
    "-V nope",
    "-v g1/w",
    "-V g1/w",
    "-V /g1/g2/v",
    "-g g1",
    "-G g1",
    "-G g2",
    "-G g1,g2",
    "-G /",
    "-G e",
    "-g nope",
    "-G nope",
    "-m 5K",
    "-m 5Q",
    "-m x",
    "-m -5",
    "-h 1.5m",
    "-h 5Z",
    "-e 2P",
    "-e 1000",
    "-e 2Z",
    "-m 3G -h 2T",
    "-F none",
    "-F *,none",
    "-F w,none",
    "-F /w,none",
    "-F w,1,5",
    "-F *,1,5",
    "-F v&w,2|1,4",
    "-F /g1/w&w,1,4",
    "-F w,1,5 -d2",
    "-F none -d2",
    "-F w,none -d2",
    "-F w,1,5 -F w,none",
    "-F w,1,5 -3",
    "-F w,99999,1",
    "-F w,x",
    "-F w,1,99",
    "-F nope,1,5",
    "-L 1",
    "-L x",
    "-z",
    "-5",
];

#[test]
fn every_flag_does_what_debians_program_does() {
    let (Some(nccopy), Some(ncdump)) = (program("nccopy"), program("ncdump")) else { return };
    let folder = tempfile::tempdir().unwrap();
    make_sources(folder.path());
    let compare_all = &|source: &str| {
        let own = folder.path().join(format!("runs-{source}"));
        std::fs::create_dir(&own).unwrap();
        std::fs::rename(folder.path().join(format!("{source}.nc")), own.join(format!("{source}.nc")))
            .unwrap();
        let turn = SOURCES.iter().position(|(name, _, _)| *name == source).unwrap_or(0);
        // Each flag is tried on every second source, or on all.
        let flags = FLAGS.iter().enumerate().filter(|(number, _)| in_turn(number + turn, 2));
        let runs = flags.map(|(_, flags)| (*flags, compare(&nccopy, &ncdump, &own, flags, source)));
        runs.collect::<Vec<_>>()
    };
    let runs: Vec<(&str, Vec<_>)> = std::thread::scope(|scope| {
        let started = SOURCES.map(|(source, _, _)| (source, scope.spawn(move || compare_all(source))));
        started.into_iter().map(|(source, run)| (source, run.join().unwrap())).collect()
    });
    let (mut alike, mut all, mut failures) = (0, 0, Vec::new());
    let mut known = exceptions();
    for (source, runs) in runs {
        for (flags, compared) in runs {
            all += 1;
            match (compared, known.remove(&(source.to_owned(), flags.to_owned()))) {
                (Ok(()), false) => alike += 1,
                (Ok(()), true) => failures.push(format!("{source}\t{flags}\tis no exception any more")),
                (Err(_), true) => {}
                (Err(difference), false) => failures.push(format!("{source}\t{flags}\t{difference}")),
            }
        }
    }
    println!(
        "{alike} of {all} runs are as those of Debian's nccopy; nccopying/exceptions.tsv has the others"
    );
    let known = known.iter().filter(|_| all_cases());
    failures.extend(known.map(|(source, flags)| format!("{source}\t{flags}\tis not a case")));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn make_sources(folder: &Path) {
    for (name, kind, text) in SOURCES {
        let (cdl, file) = (format!("{name}.cdl"), format!("{name}.nc"));
        std::fs::write(folder.join(&cdl), text).unwrap();
        let made = ncirrus(&["generate", "-k", kind, &cdl, &file], folder);
        assert!(made.status.success(), "{name}: {}", String::from_utf8_lossy(&made.stderr));
    }
}

/// Known differences: a source or `*`, the flags, and the reason.
fn exceptions() -> BTreeSet<(String, String)> {
    let mut all = BTreeSet::new();
    for line in include_str!("nccopying/exceptions.tsv").lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.split('\t');
        let (sources, flags, reason) = (parts.next().unwrap(), parts.next().unwrap(), parts.next());
        assert!(reason.is_some_and(|reason| !reason.is_empty()), "no reason: {line}");
        all.extend(sources.split(' ').map(|source| (source.to_owned(), flags.to_owned())));
    }
    all
}

fn ncirrus(arguments: &[&str], folder: &Path) -> Output {
    crate::program::command().args(arguments).current_dir(folder).output().unwrap()
}

/// Runs both programs and compares exit codes and results.
fn compare(nccopy: &Path, ncdump: &Path, folder: &Path, flags: &str, source: &str) -> Result<(), String> {
    let input = format!("{source}.nc");
    let mut arguments: Vec<&str> = flags.split_whitespace().collect();
    arguments.push(&input);
    let (theirs, ours) = (folder.join("theirs.nc"), folder.join("ours.nc"));
    let _ = (std::fs::remove_file(&theirs), std::fs::remove_file(&ours));
    let reference =
        Command::new(nccopy).args(&arguments).arg("theirs.nc").current_dir(folder).output().unwrap();
    let copied = ncirrus(&[&["--no-sync", "nccopy"], &arguments[..], &["ours.nc"]].concat(), folder);
    let told = String::from_utf8_lossy(&copied.stderr).into_owned();
    if !copied.stdout.is_empty() {
        return Err("prints to standard output".to_owned());
    }
    if reference.status.code() != copied.status.code() {
        let (expected, code) = (reference.status.code(), copied.status.code());
        return Err(format!("exit code {code:?} instead of {expected:?}: {told}"));
    }
    if !copied.status.success() {
        let is_clean = !ours.exists() && told.starts_with("nccopy: ");
        return if is_clean { Ok(()) } else { Err(format!("leaves something behind: {told}")) };
    }
    let copied_data = flags.strip_prefix("-v ");
    let dump = |name: &str| dumped(ncdump, name, folder, copied_data);
    let (theirs, ours) = (dump("theirs.nc"), dump("ours.nc"));
    match theirs.lines().zip(ours.lines()).find(|(theirs, ours)| theirs != ours) {
        Some((theirs, ours)) => Err(format!("{:?} instead of {:?}", ours.trim(), theirs.trim())),
        None if theirs.lines().count() != ours.lines().count() => Err("more or fewer lines".to_owned()),
        None => Ok(()),
    }
}

/// What ncdump prints, without what differs between libraries; only the data that are copied, as Debian's program
/// leaves the others undefined. ncdump's `-s` fails for some netCDF-3 files, where only the kind is special.
fn dumped(ncdump: &Path, name: &str, folder: &Path, data_of: Option<&str>) -> String {
    const OF_LIBRARY: [&str; 4] = ["_NoFill", "_NCProperties", "_SuperblockVersion", "_IsNetcdf4"];
    let run = |flags: &[&str]| {
        let output = Command::new(ncdump).args(flags).arg(name).current_dir(folder).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        if output.status.success() {
            Ok(text)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    };
    let mut flags = vec!["-n", "x"];
    flags.extend(data_of.map(|names| ["-v", names]).into_iter().flatten());
    let special = run(&[&flags[..], &["-s"]].concat());
    let text = special
        .or_else(|_| Ok(run(&flags)? + &run(&["-k"])?))
        .unwrap_or_else(|error: String| format!("{name} is not read: {error}"));
    text.lines()
        .filter(|line| !OF_LIBRARY.iter().any(|name| line.contains(name)))
        .map(|line| line.to_owned() + "\n")
        .collect()
}

#[test]
fn nczarr_targets_are_as_debians() {
    let Some(nccopy) = program("nccopy") else { return };
    let folder = tempfile::tempdir().unwrap();
    make_sources(folder.path());
    let mut texts = BTreeMap::new();
    for flags in [&["-u"][..], &["-u", "-4"], &["-u", "-c", "y/10"]] {
        let url = |name: &str| format!("file://{}/{name}.file#mode=nczarr,file", folder.path().display());
        for name in ["theirs", "ours"] {
            let _ = std::fs::remove_dir_all(folder.path().join(format!("{name}.file")));
        }
        let theirs = Command::new(&nccopy)
            .args(flags)
            .args(["classic.nc", &url("theirs")])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(theirs.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&theirs.stderr));
        let ours = ncirrus(&[&["nccopy"], flags, &["classic.nc", &url("ours")]].concat(), folder.path());
        assert!(ours.status.success(), "{flags:?}: {}", String::from_utf8_lossy(&ours.stderr));
        // Debian's ncdump crashes on what Debian's nccopy wrote.
        let theirs = ncirrus(&["dump", "-n", "x", &url("theirs")], folder.path());
        let ours = ncirrus(&["dump", "-n", "x", &url("ours")], folder.path());
        let text = |output: Output| String::from_utf8(output.stdout).unwrap();
        texts.insert(flags.join(" "), (text(theirs), text(ours)));
    }
    for (flags, (theirs, ours)) in texts {
        assert_eq!(ours, theirs, "{flags}");
    }
}

#[test]
fn an_existing_target_is_replaced_but_never_the_source_or_a_foreign_file() {
    let folder = tempfile::tempdir().unwrap();
    make_sources(folder.path());
    let nccopy = |arguments: &[&str]| ncirrus(&[&["nccopy"], arguments].concat(), folder.path());
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let source = bytes("classic.nc");
    for target in ["classic.nc", "./classic.nc"] {
        let refused = nccopy(&["classic.nc", target]);
        assert_eq!((refused.status.code(), bytes("classic.nc") == source), (Some(1), true), "{target}");
        assert!(String::from_utf8_lossy(&refused.stderr).starts_with("nccopy: "));
    }
    std::fs::write(folder.path().join("notes.txt"), "not a dataset").unwrap();
    assert_eq!(nccopy(&["classic.nc", "notes.txt"]).status.code(), Some(1));
    assert_eq!(bytes("notes.txt"), b"not a dataset");
    assert_eq!(nccopy(&["classic.nc", "netcdf4.nc"]).status.code(), Some(0));
    assert_eq!(bytes("netcdf4.nc")[..4], *b"CDF\x01");
}

#[test]
fn what_fails_has_exit_code_1_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    make_sources(folder.path());
    for (arguments, message) in [
        (&["nope.nc", "o.nc"][..], "nope.nc"),
        (&["classic.nc", "no/such/folder/o.nc"], "no/such/folder"),
        (&["-v", "nope", "classic.nc", "o.nc"], "nccopy: nope: No such variable\n"),
        (&["-G", "nope", "groups.nc", "o.nc"], "nccopy: nope: No such group\n"),
        (&["-d", "x", "classic.nc", "o.nc"], "invalid deflation level: x"),
        (&["-c", "y/", "classic.nc"], "one input file and one output file required"),
        (&["-3", "groups.nc", "o.nc"], "nccopy: "),
        (&[], "Usage: nccopy"),
    ] {
        let failed = ncirrus(&[&["nccopy"], arguments].concat(), folder.path());
        let told = String::from_utf8_lossy(&failed.stderr).into_owned();
        assert_eq!(failed.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.starts_with("nccopy: ") && told.contains(message), "{arguments:?}: {told}");
        let names: Vec<String> = std::fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| {
                !name.ends_with(".cdl")
                    && !SOURCES.iter().any(|(source, _, _)| *name == format!("{source}.nc"))
            })
            .collect();
        assert_eq!(names, Vec::<String>::new(), "{arguments:?}");
    }
}
