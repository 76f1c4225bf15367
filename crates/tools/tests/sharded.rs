//! Copies into shards, and appends to them.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::temp;
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Result, Selection, Session, Shards,
    Storage, Values,
};
use ncirrus_cdl::PrintOptions;
use ncirrus_tools::{
    AppendOptions, ChunkRule, CopyOptions, GenerateOptions, ShardRule, append, copy, dump, generate, info,
};

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

/// `v(time, y, x)`, 6 by 8 by 10, as netCDF-4 or in another kind, with the coordinate `y`.
fn source(path: &str, kind: Kind, session: &Session) {
    let dataset = Dataset::create_with(path, &CreateOptions::new().kind(kind), session).unwrap();
    dataset
        .edit(|model| {
            let root = model.root();
            let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
            let y = model.add_dimension(root, "y", DimensionLen::Fixed(8))?;
            let x = model.add_dimension(root, "x", DimensionLen::Fixed(10))?;
            model.add_variable(root, "y", Atomic::Int.into(), &[y])?;
            let var = model.add_variable(root, "v", Atomic::Int.into(), &[time, y, x])?;
            model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![1, 4, 4]);
            Ok(())
        })
        .unwrap();
    dataset
        .variable("/y")
        .unwrap()
        .write_values(&Selection::all(&[8]), &Values::Int((0..8).collect()))
        .unwrap();
    let all = Selection::all(&[6, 8, 10]);
    dataset.variable("/v").unwrap().write_values(&all, &Values::Int((0..480).collect())).unwrap();
    dataset.close().unwrap();
}

fn copied(from: &str, to: &str, kind: Kind, rules: &[&str], session: &Session) -> Result<Dataset> {
    let options = CopyOptions::new()
        .create(CreateOptions::new().kind(kind))
        .shards(rules.iter().map(|rule| ShardRule::parse(rule)).collect::<Result<Vec<_>>>()?);
    let from = Dataset::open_with(from, &OpenOptions::default(), session)?;
    copy(&from, to, &options, session)?;
    Dataset::open_with(to, &OpenOptions::default(), session)
}

fn shards_of(dataset: &Dataset, name: &str) -> Option<Vec<u64>> {
    dataset.variable(name).unwrap().shards().map(|shards: Shards| shards.shape)
}

#[test]
fn a_copy_has_the_shards_that_rules_say_and_the_same_values() {
    let (_folder, root) = temp();
    let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let session = session();
    source(&path("in.nc"), Kind::Nc4, &session);
    for (number, (rules, shards)) in [
        (&["time/3,y/,x/"][..], Some(vec![3, 8, 12])),
        (&["time/2"], Some(vec![2, 4, 4])),
        (&["v:1,8,4"], Some(vec![1, 8, 4])),
        // The whole array is smaller than 256 MiB; along time it may grow.
        (&["time/3", "v:"], None),
        (&["none"], None),
        (&[], None),
    ]
    .into_iter()
    .enumerate()
    {
        let made =
            copied(&path("in.nc"), &path(&format!("{number}.zarr")), Kind::Zarr3, rules, &session).unwrap();
        assert_eq!(shards_of(&made, "/v"), shards, "{rules:?}");
        assert_eq!(shards_of(&made, "/y"), None, "{rules:?}: one chunk");
        assert_eq!(made.variable("/v").unwrap().storage(), Storage::Chunked(vec![1, 4, 4]));
        let values = made.variable("/v").unwrap().read::<i32>().unwrap();
        assert_eq!(values.into_vec(), (0..480).collect::<Vec<i32>>(), "{rules:?}");
        let shown = info(&made).unwrap().to_json().to_string();
        assert_eq!(shown.contains("\"shards\":["), shards.is_some(), "{shown}");
    }
    let auto = copied(&path("in.nc"), &path("auto.zarr"), Kind::Zarr3, &["auto"], &session).unwrap();
    let shards = shards_of(&auto, "/v").unwrap();
    assert_eq!(shards[1..], [8, 12], "whole maps");
    assert!(shards[0] > 6, "{shards:?}");
}

#[test]
fn a_copy_keeps_shards_in_zarr_v3_and_drops_them_elsewhere() {
    let (_folder, root) = temp();
    let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let session = session();
    source(&path("in.nc"), Kind::Nc4, &session);
    copied(&path("in.nc"), &path("a.zarr"), Kind::Zarr3, &["time/3,y/"], &session).unwrap();
    for (name, kind, rules, shards) in [
        ("b.zarr", Kind::Zarr3, &[][..], Some(vec![3, 8, 4])),
        ("c.zarr", Kind::Zarr3, &["none"], None),
        ("d.zarr", Kind::Zarr2, &[], None),
        ("e.nc", Kind::Nc4, &[], None),
        ("f.nc", Kind::Nc3, &[], None),
    ] {
        let made = copied(&path("a.zarr"), &path(name), kind, rules, &session).unwrap();
        assert_eq!(shards_of(&made, "/v"), shards, "{name}");
        let values = made.variable("/v").unwrap().read::<i32>().unwrap();
        assert_eq!(values.into_vec(), (0..480).collect::<Vec<i32>>(), "{name}");
    }
    for (kind, rule) in [(Kind::Nc4, "time/3"), (Kind::Zarr2, "v:1,8,4"), (Kind::Zarr3, "v:1,7,4")] {
        let error = copied(&path("in.nc"), &path("no"), kind, &[rule], &session).unwrap_err();
        assert!(error.to_string().contains("/v"), "{kind:?}: {error}");
        assert!(!root.join("no").exists());
    }
    // Chunks of another shape do not fit the shards any more.
    let from = Dataset::open_with(&path("a.zarr"), &OpenOptions::default(), &session).unwrap();
    let options = CopyOptions::new()
        .create(CreateOptions::new().kind(Kind::Zarr3))
        .chunks([ChunkRule::parse("time/2").unwrap()]);
    copy(&from, &path("g.zarr"), &options, &session).unwrap();
    let made = Dataset::open_with(&path("g.zarr"), &OpenOptions::default(), &session).unwrap();
    assert_eq!(shards_of(&made, "/v"), None);
}

#[test]
fn cdl_has_shards_both_ways() {
    let (_folder, root) = temp();
    let path = root.join("cdl.zarr").to_str().unwrap().to_owned();
    let session = session();
    let text = "netcdf a { dimensions: x = 10 ; variables: int v(x) ; v:_ChunkSizes = 2 ; v:_Shards = 6 ; \
                data: v = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 ; }";
    let options = GenerateOptions::new().create(CreateOptions::new().kind(Kind::Zarr3));
    generate(&text.as_bytes(), &path, &options, &session).unwrap();
    let made = Dataset::open_with(&path, &OpenOptions::default(), &session).unwrap();
    assert_eq!(shards_of(&made, "/v"), Some(vec![6]));
    assert_eq!(made.variable("/v").unwrap().read::<i32>().unwrap().into_vec(), (0..10).collect::<Vec<i32>>());
    for (place, index_first) in [("start", true), ("end", false)] {
        let path = root.join(format!("{place}.zarr")).to_str().unwrap().to_owned();
        let text = text.replace("v:_Shards", &format!("v:_ShardIndex = \"{place}\" ; v:_Shards"));
        generate(&text.as_bytes(), &path, &options, &session).unwrap();
        let made = Dataset::open_with(&path, &OpenOptions::default(), &session).unwrap();
        assert_eq!(made.variable("/v").unwrap().shards(), Some(Shards { shape: vec![6], index_first }));
        let mut dumped = Vec::new();
        dump(&made, &mut dumped, &PrintOptions::new().special(true)).unwrap();
        let dumped = String::from_utf8(dumped).unwrap();
        assert!(dumped.contains("v:_Shards = 6 ;"), "{dumped}");
        assert_eq!(dumped.contains("v:_ShardIndex = \"start\" ;"), index_first, "{dumped}");
    }
    let text = text.replace("v:_Shards", "v:_ShardIndex = \"middle\" ; v:_Shards");
    let error = generate(&text.as_bytes(), &path, &options.overwrite_any(true), &session).unwrap_err();
    assert!(error.to_string().contains("start or end"), "{error}");
}

#[test]
fn the_place_of_the_index_is_chosen_or_that_of_the_source() {
    let (_folder, root) = temp();
    let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let session = session();
    source(&path("in.nc"), Kind::Nc4, &session);
    for (from, to, rules, wanted, index_first) in [
        ("in.nc", "a.zarr", &["time/3,y/"][..], Some(true), true),
        ("a.zarr", "b.zarr", &[], None, true),
        ("a.zarr", "c.zarr", &[], Some(false), false),
        ("a.zarr", "d.zarr", &["time/2,y/"], None, false),
    ] {
        let options = CopyOptions::new()
            .create(CreateOptions::new().kind(Kind::Zarr3))
            .shards(rules.iter().map(|rule| ShardRule::parse(rule).unwrap()))
            .index_first(wanted);
        let source = Dataset::open_with(&path(from), &OpenOptions::default(), &session).unwrap();
        copy(&source, &path(to), &options, &session).unwrap();
        let made = Dataset::open_with(&path(to), &OpenOptions::default(), &session).unwrap();
        assert_eq!(
            made.variable("/v").unwrap().shards().map(|shards| shards.index_first),
            Some(index_first),
            "{to}"
        );
        let values = made.variable("/v").unwrap().read::<i32>().unwrap();
        assert_eq!(values.into_vec(), (0..480).collect::<Vec<i32>>(), "{to}");
    }
}

#[test]
fn records_are_appended_to_shards_that_are_not_full() {
    let (_folder, root) = temp();
    let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
    let session = session();
    source(&path("in.nc"), Kind::Nc4, &session);
    copied(&path("in.nc"), &path("a.zarr"), Kind::Zarr3, &["time/4,y/,x/"], &session).unwrap();
    let before = session.statistics();
    let sources = [path("in.nc"), path("in.nc")];
    append(&path("a.zarr"), &sources, &AppendOptions::default(), &session).unwrap();
    let after = session.statistics();
    // Chunks have one record each: six for every record.
    assert_eq!(after.chunks_stored - before.chunks_stored, 12 * 6);
    let made = Dataset::open_with(&path("a.zarr"), &OpenOptions::default(), &session).unwrap();
    let values = made.variable("/v").unwrap().read::<i32>().unwrap();
    let expected: Vec<i32> = (0..3).flat_map(|_| 0..480).collect();
    assert_eq!(values.into_vec(), expected);
    let shards = std::fs::read_dir(root.join("a.zarr/v/c")).unwrap().count();
    assert_eq!(shards, 5, "18 records in shards of four");
}

#[test]
fn small_chunks_of_a_local_shard_are_read_together() {
    let (_folder, root) = temp();
    let (path, session) = (root.join("a.zarr"), session());
    let url = path.to_str().unwrap();
    let dataset = Dataset::create_with(url, &CreateOptions::new().kind(Kind::Zarr3), &session).unwrap();
    dataset
        .edit(|model| {
            let top = model.root();
            let x = model.add_dimension(top, "x", DimensionLen::Fixed(100_000))?;
            let var = model.add_variable(top, "v", Atomic::Int.into(), &[x])?;
            let variable = model.variable_mut(var).unwrap();
            variable.storage = Storage::Chunked(vec![250]);
            variable.shards = Some(Shards::new(vec![25_000]));
            variable.filters = vec![ncirrus::CodecSpec::hdf5(1, &[1])];
            Ok(())
        })
        .unwrap();
    // Numbers that do not compress.
    let values: Vec<i32> = (0..100_000u32).map(|at| at.wrapping_mul(2_654_435_761).cast_signed()).collect();
    dataset.variable("v").unwrap().write_all(&values).unwrap();
    dataset.close().unwrap();
    let read = |selection: &Selection| {
        let dataset = Dataset::open_with(url, &OpenOptions::default(), &session).unwrap();
        let before = session.statistics();
        let found = dataset.variable("v").unwrap().values(selection);
        let after = session.statistics();
        (found, after.requests - before.requests, after.chunks_decoded - before.chunks_decoded)
    };
    let (found, requests, decoded) = read(&Selection::all(&[100_000]));
    assert_eq!(found.unwrap(), Values::Int(values.clone()));
    assert_eq!(decoded, 400);
    assert!(requests <= 60, "{requests} reads of 400 chunks");
    // One element of each chunk, and chunks that are far from each other.
    let some = Selection::new(vec![ncirrus::AxisSelection::Slice { start: 7, count: 400, stride: 250 }]);
    let due: Vec<i32> = values.iter().skip(7).step_by(250).copied().collect();
    assert_eq!(read(&some).0.unwrap(), Values::Int(due));
    let far = Selection::new(vec![ncirrus::AxisSelection::Slice { start: 0, count: 4, stride: 30_000 }]);
    let due: Vec<i32> = values.iter().step_by(30_000).copied().collect();
    assert_eq!(read(&far).0.unwrap(), Values::Int(due));
    // A damaged chunk is named.
    let shard = path.join("v/c/2");
    let mut bytes = std::fs::read(&shard).unwrap();
    bytes[50_000..50_004].fill(0xff);
    std::fs::write(&shard, bytes).unwrap();
    let error = read(&Selection::all(&[100_000])).0.unwrap_err().to_string();
    assert!(error.contains("v/c/2") && error.contains("chunk"), "{error}");
}
