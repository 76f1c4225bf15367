//! Texts of one feature each against what Debian's `ncgen` and `ncdump -s` made of them (`peers/ncgen.py`), and what becomes
//! of targets.
use super::*;
use crate::dump;
use ncirrus::Kind;
use ncirrus_cdl::PrintOptions;
use std::fs;
use std::path::Path;

/// A text, and what the reference made of it.
pub(super) struct Golden {
    pub(super) name: String,
    pub(super) flag: Option<String>,
    pub(super) text: String,
    pub(super) exit: String,
    pub(super) dump: String,
}

pub(super) fn goldens() -> Vec<Golden> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/ncgen");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "txt"));
    files.sort();
    let mut goldens = Vec::new();
    for file in files {
        let group = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let whole = fs::read_to_string(&file).unwrap();
        for case in whole.split("=== ").skip(1) {
            let (head, rest) = case.split_once('\n').unwrap();
            let (text, outcome) = rest.split_once("\n--- exit ").unwrap();
            let (exit, dump) = outcome.split_once('\n').unwrap();
            let mut words = head.split(' ');
            goldens.push(Golden {
                name: format!("{group}/{}", words.next().unwrap()),
                flag: words.next().map(str::to_owned),
                text: format!("{text}\n"),
                exit: exit.to_owned(),
                dump: dump.to_owned(),
            });
        }
    }
    goldens
}

/// What becomes of a text here: the dump of the dataset, or the faults.
fn made(golden: &Golden, session: &Session) -> std::result::Result<String, String> {
    let kind = match golden.flag.as_deref() {
        Some("-3") => Some(Kind::Nc3),
        Some("-4") => Some(Kind::Nc4),
        Some("-5") => Some(Kind::Nc5),
        _ => None,
    };
    let target = format!("memory://goldens/{}.nc", golden.name);
    let create = CreateOptions::new().kind(kind).default_chunks(ncirrus::DefaultChunks::NetcdfC);
    let options = GenerateOptions::new().create(create).range(NumberRange::Reference);
    generate(&golden.text.as_bytes(), &target, &options, session).map_err(|error| error.to_string())?;
    let dataset = Dataset::open_with(&target, &Default::default(), session).unwrap();
    let mut text = Vec::new();
    let options = PrintOptions::new().name("t").special(true).classic(crate::is_classic_model(&dataset));
    dump(&dataset, &mut text, &options).unwrap();
    let text = String::from_utf8_lossy(&text).into_owned();
    let reported = |line: &&str| !line.contains("_NCProperties") && !line.contains("_SuperblockVersion");
    Ok(text.lines().filter(reported).map(|line| format!("{line}\n")).collect())
}

/// Cases that differ on purpose, each with its reason.
const EXCEPTIONS: &str = include_str!("../../tests/ncgen/exceptions.tsv");

#[test]
fn texts_become_what_the_reference_makes_of_them() {
    let session = Session::new().unwrap();
    let exceptions: Vec<(&str, &str)> = EXCEPTIONS
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_once('\t').unwrap())
        .collect();
    let goldens = goldens();
    let (mut same, mut wrong) = (0, Vec::new());
    for golden in &goldens {
        let result = made(golden, &session);
        let agrees = match &result {
            Ok(dump) => golden.exit == "0" && *dump == golden.dump,
            Err(_) => golden.exit != "0",
        };
        let is_excepted = exceptions.iter().any(|(name, _)| *name == golden.name);
        same += usize::from(agrees);
        if agrees == is_excepted {
            let what = if is_excepted { "is the same now, the exception can go" } else { "differs" };
            wrong.push(format!(
                "{} {what}:\n{}\nexit {}\n{}\nhere: {result:?}",
                golden.name, golden.text, golden.exit, golden.dump
            ));
        }
    }
    println!("{same} of {} texts become the same, {} differ on purpose", goldens.len(), exceptions.len());
    assert!(goldens.len() >= 150, "{} texts", goldens.len());
    for (name, reason) in &exceptions {
        assert!(!reason.is_empty() && goldens.iter().any(|golden| golden.name == *name), "{name}");
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), goldens.len(), wrong.join("\n"));
}

fn session() -> Session {
    Session::new().unwrap()
}

/// The kind that a text becomes at a target.
fn kind_of(text: &str, target: &str, session: &Session) -> String {
    generate(&text.as_bytes(), target, &GenerateOptions::new(), session).unwrap();
    Dataset::open_with(target, &Default::default(), session).unwrap().kind().to_string()
}

#[test]
fn the_kind_is_the_targets_then_the_texts_then_what_the_text_needs() {
    let session = session();
    for (at, (body, ending, kind)) in [
        ("variables: int v;", "nc", "classic"),
        ("variables: ubyte v;", "nc", "cdf5"),
        (":a = 5UB;", "nc", "cdf5"),
        ("variables: string v;", "nc", "netCDF-4"),
        ("variables: int v; v:_Endianness = \"big\";", "nc", "netCDF-4"),
        (":_Format = \"nc6\";", "nc", "64-bit offset"),
        (":_Format = \"netCDF-4 classic model\";", "nc", "netCDF-4 classic model"),
        (":_Format = \"nc6\";", "nc4", "netCDF-4"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("netcdf t {{ {body} }}");
        assert_eq!(kind_of(&text, &format!("memory://kinds/{at}.{ending}"), &session), kind, "{body}");
    }
}

#[test]
fn a_fault_in_the_last_value_leaves_nothing_and_every_fault_is_reported() {
    let session = session();
    let text =
        "netcdf t { dimensions: d = 2; variables: int v(d), w(d);\ndata: v = 1, 300000000000;\nw = 1, x; }";
    let reported = std::sync::Mutex::new(Vec::new());
    let note = |fault: &CdlFault| reported.lock().unwrap().push(fault.to_string());
    let options = GenerateOptions::new().faults(&note);
    let error = generate(&text.as_bytes(), "memory://faults/a.nc", &options, &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(error.to_string().contains("the text has 2 faults"), "{error}");
    let reported = reported.into_inner().unwrap();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(reported[0].starts_with("2:14: 300000000000 does not fit int"), "{reported:?}");
    let opened = Dataset::open_with("memory://faults/a.nc", &Default::default(), &session);
    assert_eq!(opened.unwrap_err().kind(), ErrorKind::NotFound);
    let report =
        check_text(&text.as_bytes(), &GenerateOptions::new().range(NumberRange::Reference), &session);
    assert!(report.unwrap_err().to_string().contains("expected a number"));
}

#[test]
fn chunks_filters_and_definitions_alone_are_chosen_by_options() {
    let session = session();
    let text = "netcdf t { dimensions: d = 8; variables: int v(d); v:_ChunkSizes = 2; v:_Filter = \"2|1,3\"; data: v = 1; }";
    let target = "memory://options/a.nc4";
    generate(&text.as_bytes(), target, &GenerateOptions::new(), &session).unwrap();
    let stored = |target: &str| {
        let dataset = Dataset::open_with(target, &Default::default(), &session).unwrap();
        let model = dataset.model().unwrap();
        let variable = model.variable(model.variable_at("v").unwrap()).unwrap().clone();
        (variable.storage, variable.filters.len(), dataset.variable("v").unwrap().read::<i32>().unwrap()[0])
    };
    assert_eq!(stored(target), (Storage::Chunked(vec![2]), 2, 1));
    let options = GenerateOptions::new()
        .chunks([ChunkRule::parse("d/4").unwrap()])
        .filter_rules([FilterRule::parse("v,none").unwrap()])
        .definitions_only(true);
    let target = "memory://options/b.nc4";
    generate(&text.as_bytes(), target, &options, &session).unwrap();
    assert_eq!(stored(target), (Storage::Chunked(vec![4]), 0, -2_147_483_647));
    let text = text.replace("2|1,3", "2|oddity,x=1|");
    let error = generate(&text.as_bytes(), "memory://options/c.nc4", &options, &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
}

#[test]
fn filters_that_are_stated_for_hdf5_and_for_zarr_are_applied_once() {
    let session = session();
    let text = "netcdf t { dimensions: d = 8; variables: int v(d); v:_ChunkSizes = 8; v:_Shuffle = \"true\";
        v:_Filter = \"32015,3\"; v:_Codecs = \"[{\\\"id\\\": \\\"zstd\\\", \\\"level\\\": 5}]\"; data: v = 1; }";
    let chain = |target: &str, text: &str| {
        generate(&text.as_bytes(), target, &GenerateOptions::new(), &session).unwrap();
        let dataset = Dataset::open_with(target, &Default::default(), &session).unwrap();
        let model = dataset.model().unwrap();
        let variable = model.variable(model.variable_at("v").unwrap()).unwrap();
        assert_eq!(dataset.variable("v").unwrap().read::<i32>().unwrap()[0], 1);
        variable.filters.iter().map(|filter| filter.identifier()).collect::<Vec<_>>()
    };
    assert_eq!(chain("memory://told/a.zarr", text), ["zstd"]);
    assert_eq!(chain("memory://told/a.nc4", text), ["2", "32015"]);
    // Without other words, those of Zarr are understood for HDF5 too.
    let text = text.replace("v:_Shuffle = \"true\";", "").replace("v:_Filter = \"32015,3\";", "");
    assert_eq!(chain("memory://told/b.nc4", &text), ["32015"]);
}

#[test]
fn strings_that_contain_nul_are_kept_or_refused() {
    let session = session();
    let text = r#"netcdf t { dimensions: x = 2; variables: string s(x); string s:a = "c\000d", "e"; data: s = "a\000b", "c"; }"#;
    let made = |kind, name: &str| {
        let options = GenerateOptions::new().create(CreateOptions::new().kind(Some(kind)));
        generate(&text.as_bytes(), &format!("memory://nul/{name}"), &options, &session)
    };
    for (kind, name) in [(Kind::NcZarr, "n.zarr"), (Kind::Zarr2, "p.zarr"), (Kind::Zarr3, "v.zarr")] {
        made(kind, name).unwrap();
        let dataset =
            Dataset::open_with(&format!("memory://nul/{name}"), &Default::default(), &session).unwrap();
        let variable = dataset.variable("s").unwrap();
        let expected = |texts: [&str; 2]| ncirrus::Values::String(texts.map(Some).into_iter().collect());
        let whole = Selection::all(&variable.shape());
        assert_eq!(variable.values(&whole).unwrap(), expected(["a\0b", "c"]), "{name}");
        let attribute = variable.attribute("a").unwrap().unwrap();
        assert_eq!(attribute.values, expected(["c\0d", "e"]), "{name}");
    }
    let error = made(Kind::Nc4, "n.nc").unwrap_err();
    assert!(error.to_string().contains("NUL"), "{error}");
    assert!(
        Dataset::open_with("memory://nul/n.nc", &Default::default(), &session).is_err(),
        "nothing is left"
    );
}
