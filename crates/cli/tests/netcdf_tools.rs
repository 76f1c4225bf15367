//! netCDF's programs by their names, beside Debian's: standard output and exit codes; links; pages of the commands.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::corpus::program;
use ncirrus_testkit::sample::{all_cases, in_turn};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Files: name, kind of Debian's ncgen, CDL.
const FILES: [(&str, &str, &str); 13] = [
    ("classic.nc", "nc3", CLASSIC),
    ("offset64.nc", "nc6", CLASSIC),
    ("cdf5.nc", "nc5", "dimensions: x = 3 ; variables: uint64 a(x) ; ubyte b(x) ; int64 c ; data: a = 1, 2 ; b = 255, 1, _ ; c = -5 ;"),
    ("model.nc", "nc7", CLASSIC),
    ("netcdf4.nc", "nc4", CLASSIC),
    ("groups.nc", "nc4", "dimensions: x = 2 ; variables: int v(x) ; :a = 1 ; data: v = 1, 2 ;
group: g { variables: int v(x) ; double w ; data: v = 3, 4 ; w = 0.1 ; group: h { dimensions: y = 2 ; variables: int v(y) ; data: v = 5, 6 ; } }"),
    ("types.nc", "nc4", "types: int enum e { A = 1, B = 2 } ; compound c { int i ; float f(2) ; } ; int(*) l ; opaque(3) o ;
dimensions: x = 2 ; variables: e a(x) ; c b(x) ; l d(x) ; o f(x) ; data: a = A, B ; b = {1, {2, 3}}, {4, {5, 6}} ; d = {1, 2}, {3} ; f = 0x010203, 0x040506 ;"),
    ("filters.nc", "nc4", "dimensions: t = UNLIMITED ; x = 40 ; variables: float v(t, x) ; v:_ChunkSizes = 2, 20 ; v:_DeflateLevel = 3 ; v:_Shuffle = \"true\" ;
int w(x) ; w:_Storage = \"contiguous\" ; w:_Endianness = \"big\" ; data: v = 1, 2, 3 ; w = 4, 5 ;"),
    ("strings.nc", "nc4", "dimensions: x = 3 ; variables: string s(x) ; char c(x) ; s:of = \"a\\nb\" ; string s:m = \"p\", \"q\" ; data: s = \"a\", \"\", \"long text\" ; c = \"xyz\" ;"),
    ("times.nc", "nc3", "dimensions: t = 3 ; variables: double t(t) ; t:units = \"days since 2000-02-28\" ; t:calendar = \"noleap\" ; int u(t) ; u:units = \"hours since 1970-01-01 12:30\" ; data: t = 0, 1, 2.5 ; u = 0, 1, 30 ;"),
    ("utf8.nc", "nc4", "dimensions: \u{e9}t\u{e9} = 2 ; variables: float \u{6e29}\u{5ea6}(\u{e9}t\u{e9}) ; \u{6e29}\u{5ea6}:name = \"\u{b0}C\" ; data: \u{6e29}\u{5ea6} = 1.5, NaN ;"),
    // Debian's crashes on scalars of this kind.
    ("nczarr.file", "nc4", "dimensions: t = 2 ; y = 2 ; x = 3 ; z = 25 ; variables: double t(t) ; t:units = \"days since 2000-01-01\" ;
float x(x) ; float v(t, y, x) ; v:missing = -9.f, 1.2345678f ; v:_ChunkSizes = 1, 2, 3 ; byte b(z) ; b:_FillValue = 3b ; char n(y, x) ;
double w(z) ; ubyte u(x) ; int64 l(x) ; :title = \"a & <b>\" ;
data: t = 1.5, 2.25 ; x = 1, 2, 3 ; v = 1.23456789, 2e10, 3e-9, 4, 5, 6, 7, 8, 9, 10, 11, 12 ; b = 1, 2, 3 ; n = \"abc\", \"de\" ;
w = 1.23456789012345678, 1e300, -0.1, 3 ; u = 1, 200, 3 ; l = 1, -5, 3 ;
group: g { dimensions: k = 2 ; variables: int v(k) ; v:a = 5 ; data: v = 3, 4 ; }"),
    ("empty.nc", "nc4", "dimensions: t = UNLIMITED ; variables: int v(t) ;"),
];

const CLASSIC: &str = "dimensions: t = UNLIMITED ; y = 2 ; x = 3 ; z = 25 ; variables: double t(t) ; float x(x) ; float v(t, y, x) ;
v:C_format = \"%.3f\" ; v:missing = -9.f, 1.2345678f ; short s ; byte b(z) ; b:_FillValue = 3b ; char n(y, x) ; double w(z) ;
:title = \"a & <b>\" ; data: t = 1.5, 2.123456789012345 ; x = 1, 2, 3 ; v = 1.23456789, 2e10, 3e-9, 4, 5, 6, 7, 8, 9, 10, 11, 12 ;
s = 7 ; b = 1, 2, 3 ; n = \"abc\", \"de\" ; w = 1.23456789012345678, 1e300, -0.1, 3 ;";

/// Command lines of ncdump in front of the file, separated by blanks: every flag.
const FLAGS: [&str; 53] = [
    "",
    "-h",
    "-c",
    "-hc",
    "-ch",
    "-v v",
    "-vx,t",
    "-v nope",
    "-v v -c",
    "-v v -h",
    "-g nope",
    "-g /",
    "-g / -v time",
    "-h -g / -v t",
    "-b c",
    "-b C",
    "-bf",
    "-b fortran",
    "-b x",
    "-f c",
    "-f F",
    "-f x",
    "-b C -f fortran",
    "-f c -b f",
    "-l 40",
    "-l10",
    "-l 9",
    "-l x",
    "-n other",
    "-hnother",
    "-p 3",
    "-p9,17",
    "-p 0",
    "-p 4,x",
    "-p 70",
    "-d 3,4",
    "-d4 -p 5,6",
    "-p 4 -d 5",
    "-k",
    "-K",
    "-kK",
    "-s",
    "-hs",
    "-hsF",
    "-F",
    "-t",
    "-i",
    "-ti",
    "-it",
    "-w",
    "-Xp",
    "-Xm",
    "-Xq",
];

#[test]
fn ncdump_is_as_debians() {
    let (Some(ncdump), Some(ncgen)) = (program("ncdump"), program("ncgen")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = links(folder.path()).join("ncdump");
    let exceptions = exceptions();
    let (mut alike, mut all, mut failures, mut used) = (0, 0, Vec::new(), BTreeSet::new());
    for (turn, (file, kind, cdl)) in FILES.into_iter().enumerate() {
        let text = folder.path().join("text.cdl");
        std::fs::write(&text, format!("netcdf x {{ {cdl} }}")).unwrap();
        let url = if file.ends_with(".file") {
            format!("file://{}#mode=nczarr,file", folder.path().join(file).display())
        } else {
            file.to_owned()
        };
        let made = Command::new(&ncgen)
            .args(["-k", kind, "-o", &url, "text.cdl"])
            .current_dir(folder.path())
            .output();
        let made = made.unwrap();
        assert!(made.status.success(), "{file}: {}", messages(&made));
        // Each flag is tried on every third file, or on all.
        let flags = FLAGS.iter().enumerate().filter(|(number, _)| in_turn(number + turn, 3));
        for (_, flags) in flags {
            let arguments: Vec<&str> = flags.split_whitespace().chain([url.as_str()]).collect();
            let run = |program: &Path| {
                Command::new(program).args(&arguments).current_dir(folder.path()).output().unwrap()
            };
            let (theirs, ours) = (run(&ncdump), run(&own));
            all += 1;
            let is_alike = theirs.stdout == ours.stdout && theirs.status.code() == ours.status.code();
            alike += usize::from(is_alike);
            let found = [format!("{file} {flags}"), format!("* {flags}"), format!("{file} *")];
            let known = found.into_iter().find(|name| exceptions.contains_key(name));
            match (is_alike, known) {
                (false, None) => failures.push(format!(
                    "{file} {flags}: {:?}, not {:?}: {}",
                    ours.status.code(),
                    theirs.status.code(),
                    messages(&ours)
                )),
                (false, Some(name)) => _ = used.insert(name),
                _ => {}
            }
        }
    }
    println!(
        "ncdump: {alike} of {all} runs print what Debian's do; netcdf_tools/exceptions.tsv has the others"
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let unused: Vec<_> = exceptions.keys().filter(|name| !used.contains(*name)).collect();
    assert!(unused.is_empty() || !all_cases(), "exceptions without a difference: {unused:?}");
}

/// Command lines of ncgen, and whether Debian's exit code is another by intent.
const GENERATED: [&str; 24] = [
    "t.cdl",
    "-b t.cdl",
    "-o o.nc t.cdl",
    "-oo.nc -k nc6 t.cdl",
    "-k foo t.cdl",
    "-v nc3 t.cdl",
    "-3 t.cdl",
    "-5 t.cdl",
    "-6 -b t.cdl",
    "-1 t.cdl",
    "-n t.cdl",
    "-N other -b t.cdl",
    "-H -o o.nc t.cdl",
    "-x t.cdl",
    "-lb t.cdl",
    "-lx t.cdl",
    "-h",
    "-d t.cdl",
    "-D 0 t.cdl",
    "-L 0 t.cdl",
    "-W 5 -b t.cdl",
    "-B 4096 -b t.cdl",
    "t.cdl t.cdl",
    "-z t.cdl",
];

#[test]
fn ncgen_makes_the_files_of_debians() {
    let Some(ncgen) = program("ncgen") else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = links(folder.path()).join("ncgen");
    let mut failures = Vec::new();
    for flags in GENERATED.into_iter().chain(["none.cdl", "-o", "-k", "bad.cdl", "-4 bad.cdl"]) {
        let run = |program: &Path, name: &str| {
            let folder = folder.path().join(name);
            _ = std::fs::remove_dir_all(&folder);
            std::fs::create_dir(&folder).unwrap();
            std::fs::write(folder.join("t.cdl"), format!("netcdf x {{ {CLASSIC} }}")).unwrap();
            std::fs::write(folder.join("bad.cdl"), "netcdf x { variables: int v(nope) ; }").unwrap();
            let mut ran = Command::new(program);
            ran.args(flags.split_whitespace()).current_dir(&folder).stdin(Stdio::null());
            (ran.output().unwrap().status.code(), content(&folder))
        };
        if run(&ncgen, "theirs") != run(&own, "ours") {
            failures.push(flags);
        }
    }
    println!("ncgen: {} of 29 runs make the files of Debian's, byte for byte", 29 - failures.len());
    assert!(failures.is_empty(), "{failures:?}");
}

#[test]
fn ncgen_prints_the_programs_of_debians() {
    let Some(ncgen) = program("ncgen") else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = links(folder.path()).join("ncgen");
    std::fs::write(
        folder.path().join("t.cdl"),
        "netcdf x { dimensions: d = 2 ; variables: float v(d) ; data: v = 1, 2.5 ; }",
    )
    .unwrap();
    let run = |program: &Path, flags: &str| {
        let mut ran = Command::new(program);
        ran.args(flags.split_whitespace()).current_dir(folder.path()).stdin(Stdio::null());
        ran.output().unwrap()
    };
    for flags in
        ["-lc t.cdl", "-lc -M make t.cdl", "-lc -o other.nc t.cdl", "-lc -4 -H t.cdl", "-lc -6 t.cdl"]
    {
        let [theirs, ours] = [&ncgen, &own].map(|program| run(program, flags));
        let text =
            |output: &Output| String::from_utf8_lossy(&output.stdout).split_whitespace().collect::<String>();
        assert_eq!(text(&ours), text(&theirs), "{flags}: {}", messages(&ours));
        assert_eq!(ours.status.code(), theirs.status.code(), "{flags}");
    }
    let fortran = run(&own, "-lf77 -M make t.cdl");
    assert!(
        String::from_utf8_lossy(&fortran.stdout).starts_with("      program make\n"),
        "{}",
        messages(&fortran)
    );
    let java = run(&own, "-lj t.cdl");
    assert_eq!((java.status.code(), java.stdout.len()), (Some(1), 0));
    assert!(
        messages(&java)
            .contains("the Java interface of netCDF no longer exists: use -lc, or ncirrus generate")
    );
}

/// Names and bytes of the files of a folder.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| (path.file_name().unwrap().display().to_string(), std::fs::read(&path).unwrap()))
        .collect()
}

/// Links to all tools, made by the program.
fn links(folder: &Path) -> PathBuf {
    let links = folder.join("links");
    let made = crate::program::command().arg("link").arg(&links).output().unwrap();
    assert!(made.status.success(), "{}", messages(&made));
    links
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What differs, and why.
fn exceptions() -> BTreeMap<String, String> {
    let lines = include_str!("netcdf_tools/exceptions.tsv").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| line.split_once('\t').unwrap())
        .map(|(name, why)| (name.to_owned(), why.to_owned()))
        .collect()
}

#[test]
fn a_file_that_is_no_link_to_the_program_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let links = links(folder.path());
    std::fs::remove_file(links.join("ncgen")).unwrap();
    std::fs::write(links.join("ncgen"), "mine").unwrap();
    std::fs::remove_file(links.join("ncdump")).unwrap();
    let again = crate::program::command().arg("link").arg(&links).output().unwrap();
    assert_eq!(again.status.code(), Some(7), "{}", messages(&again));
    assert_eq!(std::fs::read(links.join("ncgen")).unwrap(), b"mine");
    assert!(!links.join("ncdump").exists(), "nothing is made if one of them cannot be");
    let one = crate::program::command().arg("link").arg(&links).arg("ncdump").output().unwrap();
    assert!(one.status.success() && links.join("ncdump").exists());
    let unknown = crate::program::command().arg("link").arg(&links).arg("ncfoo").output().unwrap();
    assert_eq!(unknown.status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_link_of_another_name_says_which_names_there_are() {
    let folder = tempfile::tempdir().unwrap();
    let program = std::fs::canonicalize(crate::program::command().get_program()).unwrap();
    std::os::unix::fs::symlink(program, folder.path().join("ncfoo")).unwrap();
    let output = Command::new(folder.path().join("ncfoo")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        output.stdout.is_empty() && messages(&output).contains("ncdump, ncgen, ncgen3, nccopy"),
        "{}",
        messages(&output)
    );
}

#[test]
fn a_reader_that_leaves_is_no_error_and_messages_have_the_tools_name() {
    let folder = tempfile::tempdir().unwrap();
    let ncdump = links(folder.path()).join("ncdump");
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    let mut child =
        Command::new(&ncdump).arg(example).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), messages(&output)), (Some(0), String::new()));
    let all = [
        (&["-z"][..], "ncdump: invalid option -- 'z'\n"),
        (&["-v"], "ncdump: option requires an argument -- 'v'\n"),
    ];
    for (arguments, message) in
        all.into_iter().chain([(&["-v", "nope", example][..], "ncdump: nope: No such variable\n")])
    {
        let output = Command::new(&ncdump).args(arguments).output().unwrap();
        assert!(
            output.status.code() == Some(1)
                && output.stdout.is_empty()
                && messages(&output).starts_with(message)
        );
    }
    let none = Command::new(&ncdump).output().unwrap();
    assert!(
        none.status.code() == Some(1) && messages(&none).contains("Usage: ncdump"),
        "{}",
        messages(&none)
    );
}

#[test]
fn pages_of_the_commands_are_as_their_table() {
    let folder = tempfile::tempdir().unwrap();
    let written =
        crate::program::command().args(["manual", "--markdown"]).arg(folder.path()).output().unwrap();
    assert!(written.status.success(), "{}", messages(&written));
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands");
    if std::env::var_os("NCIRRUS_RENEW").is_some() {
        _ = std::fs::remove_dir_all(&pages);
        std::fs::create_dir(&pages).unwrap();
        for (name, page) in content(folder.path()) {
            std::fs::write(pages.join(name), page).unwrap();
        }
    }
    let (kept, made) = (content(&pages), content(folder.path()));
    let differ: Vec<_> =
        made.keys().chain(kept.keys()).filter(|name| made.get(*name) != kept.get(*name)).collect();
    let how = "NCIRRUS_RENEW=1 cargo test -p ncirrus-cli --test command pages_of_the_commands";
    assert!(differ.is_empty(), "docs/commands differs in {differ:?}; renew it by {how}");
}

#[test]
fn completions_and_manual_pages_know_every_tool() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let output = crate::program::command().args(["completions", shell]).output().unwrap();
        let script = String::from_utf8_lossy(&output.stdout).into_owned();
        let all = ["ncirrus", "ncdump", "ncgen3", "nccopy", "aggregate"];
        assert!(output.status.success() && all.iter().all(|name| script.contains(name)), "{shell}");
    }
    let folder = tempfile::tempdir().unwrap();
    let written = crate::program::command().arg("manual").arg(folder.path()).output().unwrap();
    assert!(written.status.success(), "{}", messages(&written));
    let pages = content(folder.path());
    assert!(
        ["ncirrus.1", "ncirrus-copy.1", "ncdump.1", "nccopy.1"].iter().all(|name| pages.contains_key(*name))
    );
}
