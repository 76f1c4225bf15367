//! Damaged, truncated, hostile and merely odd files: an error with a location, or a tree with a fault in its place.
use crate::support::sample::sample;
use crate::support::{KEY, done, open};
use ncirrus_classic::{ClassicDriver, FormatVersion};
use ncirrus_layout::{Confidence, DatasetView, Driver, ErrorKind, Limits, OpenOptions};
use ncirrus_model::{Atomic, DatasetKind, DimensionLen, Format, Model, Storage, TypeRef, Values};
use ncirrus_testkit::{MemoryView, ObjectView, StallingView, drive, law};
use proptest::prelude::*;

/// Big-endian words, the building blocks of a header.
fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A name as CDF-1 has it.
fn name(text: &str) -> Vec<u8> {
    let mut bytes = words(&[u32::try_from(text.len()).expect("short")]);
    bytes.extend_from_slice(text.as_bytes());
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// A variable of CDF-1 without attributes.
fn var(text: &str, dims: &[u32], ty: u32, begin: u32) -> Vec<u8> {
    let rank = u32::try_from(dims.len()).expect("few");
    [name(text), words(&[rank]), words(dims), words(&[0, 0, ty, 0, begin])].concat()
}

/// A CDF-1 file.
fn classic(records: u32, dims: &[(&str, u32)], vars: &[Vec<u8>], data: usize) -> Vec<u8> {
    let mut bytes = [b"CDF\x01".to_vec(), words(&[records])].concat();
    bytes.extend(words(&[if dims.is_empty() { 0 } else { 10 }, u32::try_from(dims.len()).expect("few")]));
    dims.iter().for_each(|(text, len)| bytes.extend([name(text), words(&[*len])].concat()));
    bytes.extend(words(&[
        0,
        0,
        if vars.is_empty() { 0 } else { 11 },
        u32::try_from(vars.len()).expect("few"),
    ]));
    bytes.extend(vars.concat());
    bytes.resize(bytes.len() + data, 7);
    bytes
}

fn fault(bytes: &[u8], name: &str) -> String {
    let opened = open(bytes).expect("the tree opens");
    let id = opened.model.variables().into_iter().rev();
    let mut named = id.filter(|id| opened.model.variable(*id).is_some_and(|variable| variable.name == name));
    let id = named.next().expect("the variable");
    let error = opened.source(id).expect_err("an inaccessible variable");
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(opened.model.variable(id).expect("a variable").fault.is_some());
    error.to_string()
}

#[test]
fn results_do_not_depend_on_how_bytes_arrive() {
    for version in FormatVersion::ALL {
        let text = law::availability(&ClassicDriver, &ObjectView::one(KEY, sample(version)), KEY, 60);
        assert!(text.contains("source /short_t Ok"), "{text}");
        let cut = sample(version)[..300].to_vec();
        law::availability(&ClassicDriver, &ObjectView::one(KEY, cut), KEY, 60);
    }
}

#[test]
fn a_long_header_is_fetched_in_doubling_reads() {
    let vars: Vec<_> = (0..4000).map(|at| var(&format!("variable_{at:06}"), &[], 4, 200_000)).collect();
    let bytes = classic(0, &[], &vars, 100_000);
    let rounds = StallingView::new(ObjectView::one(KEY, bytes));
    let open = |view: &dyn ncirrus_layout::View| {
        Ok(ClassicDriver.open(view, &ObjectView::id(KEY), &OpenOptions::default())?.facts().others)
    };
    let facts = drive(&rounds, open).expect("it opens");
    assert!(facts.contains(&("header_bytes", "176032".to_owned())), "{facts:?}");
    assert_eq!(rounds.rounds(), 5, "16, 32, 64, 128 and 256 KiB");
}

#[test]
fn a_short_file_is_opened_with_one_request() {
    let rounds = StallingView::new(ObjectView::one(KEY, sample(FormatVersion::Classic)));
    let all = |view: &dyn ncirrus_layout::View| {
        assert_eq!(ClassicDriver.probe(view, &ObjectView::id(KEY))?, Confidence::Yes);
        let catalog = ClassicDriver.open(view, &ObjectView::id(KEY), &OpenOptions::default())?;
        let model = catalog.tree(view)?;
        model.variables().into_iter().try_for_each(|var| catalog.source(view, var).map(|_| ()))
    };
    drive(&rounds, all).expect("it opens");
    assert_eq!(rounds.requests().len(), 1);
}

#[test]
fn every_prefix_of_a_file_is_malformed_until_the_header_is_whole() {
    for version in FormatVersion::ALL {
        let bytes = sample(version);
        let whole = open(&bytes).expect("it opens");
        let header: usize = whole.catalog.facts().others[1].1.parse().expect("a number");
        for len in 0..bytes.len() {
            match open(&bytes[..len]) {
                Err(error) => {
                    assert!(len < header, "{len} bytes: {error}");
                    assert_eq!(error.kind(), ErrorKind::Malformed, "{len} bytes: {error}");
                    assert_eq!(error.place().object.as_deref(), Some("memory:/file.nc"));
                    assert!(error.place().offset.is_some(), "{error:?}");
                }
                Ok(opened) => {
                    assert!(len >= header);
                    let mut model = Model::clone(&opened.model);
                    let root = model.root();
                    let cut = model.group_mut(root).expect("it is there").fault.take();
                    assert_eq!(model, Model::clone(&whole.model), "{len} bytes");
                    // Padding may be missing at the end.
                    let lacks =
                        opened.model.variables().iter().any(|var| opened.stored_bytes(*var).is_none());
                    assert_eq!(cut.is_some(), lacks, "{len} bytes: {cut:?}");
                }
            }
        }
    }
}

#[test]
fn other_files_are_recognised_as_such() {
    let probe = |bytes: &[u8]| {
        let view = MemoryView::new(ObjectView::one(KEY, bytes.to_vec()));
        done(ClassicDriver.probe(&view, &ObjectView::id(KEY))).expect("an answer")
    };
    for version in FormatVersion::ALL {
        assert_eq!(probe(&sample(version)), Confidence::Yes);
    }
    for foreign in [b"".as_slice(), b"CD", b"\x89HDF\r\n\x1a\n", b"<html></html>", b"CDFX is text"] {
        assert_eq!(probe(foreign), Confidence::No);
        assert_eq!(
            open(foreign).expect_err("not netCDF").kind(),
            match foreign {
                b"CDFX is text" => ErrorKind::Unsupported,
                _ => ErrorKind::Malformed,
            }
        );
    }
    assert_eq!(probe(b"CDF\x03 and so on"), Confidence::Yes);
    let error = open(b"CDF\x03 and so on").expect_err("an unknown version");
    assert_eq!((error.kind(), error.message().contains("version 3")), (ErrorKind::Unsupported, true));
    let view = MemoryView::new(ObjectView::new());
    assert_eq!(done(ClassicDriver.probe(&view, &ObjectView::id(KEY))).expect("an answer"), Confidence::No);
    let missing = done(ClassicDriver.open(&view, &ObjectView::id(KEY), &OpenOptions::default()));
    assert_eq!(missing.expect_err("no file").kind(), ErrorKind::NotFound);
}

#[test]
fn streaming_record_counts_follow_from_the_size() {
    let vars = [var("a", &[0], 3, 200), var("b", &[0], 6, 204)];
    let mut bytes = classic(u32::MAX, &[("time", 0)], &vars, 0);
    bytes.resize(200 + 5 * 12 + 11, 0);
    let opened = open(&bytes).expect("it opens");
    assert_eq!(opened.model.shape(opened.var("b")), [5], "an incomplete record does not count");
    assert_eq!(opened.stored_bytes(opened.var("b")).expect("all").len(), 40);

    let only = classic(u32::MAX, &[("time", 0)], &[var("a", &[0], 1, 80)], 0);
    assert_eq!(only.len(), 80);
    let opened = open(&[only, vec![1; 7]].concat()).expect("it opens");
    assert_eq!(
        opened.model.shape(opened.var("a")),
        [7],
        "records of the only record variable are not padded"
    );

    let mut wide = b"CDF\x05".to_vec();
    wide.extend([0xff; 8]);
    wide.extend([0; 36]);
    let opened = open(&wide).expect("it opens");
    let kind = DatasetKind::classic(Format::Data64);
    assert_eq!((opened.catalog.kind(), opened.model.variables().len()), (kind, 0));
}

#[test]
fn a_count_of_records_beyond_the_file_is_a_fault_of_the_root_and_the_rest_reads() {
    let vars = [var("a", &[], 4, 200), var("b", &[0], 4, 204)];
    let mut bytes = classic(1000, &[("time", 0)], &vars, 0);
    bytes.resize(212, 0);
    let opened = open(&bytes).expect("it opens");
    assert_eq!(opened.model.shape(opened.var("b")), [1000]);
    assert_eq!(opened.stored_bytes(opened.var("a")), Some(vec![0; 4]));
    assert_eq!(opened.stored_bytes(opened.var("b")), None, "reading meets the end of the file");
    let fault = opened.model.group(opened.model.root()).and_then(|root| root.fault.as_ref());
    assert!(fault.is_some_and(|fault| fault.to_string().contains("212 of 4204 bytes")), "{fault:?}");
}

#[test]
fn damaged_variables_stay_in_the_tree_with_their_fault() {
    let dims = [("time", 0), ("x", 3)];
    let vars = [
        var("far", &[9], 4, 1000),
        var("inner", &[1, 0], 4, 1000),
        var("within_header", &[1], 4, 20),
        var("good", &[1], 4, 1000),
        var("good", &[1], 4, 1100),
        var("overlapping", &[1], 4, 1004),
    ];
    let bytes = classic(2, &dims, &vars, 2000);
    assert!(fault(&bytes, "far").contains("dimension number 9"));
    assert!(fault(&bytes, "inner").contains("not its first"));
    assert!(fault(&bytes, "within_header").contains("within the header"));
    assert!(fault(&bytes, "good").contains("listed before"));
    assert!(fault(&bytes, "overlapping").contains("within another variable"));
    let opened = open(&bytes).expect("it opens");
    assert_eq!(opened.stored_bytes(opened.var("good")), Some(vec![7; 12]), "the first of that name is sound");
}

#[test]
fn variables_of_records_within_another_are_damaged() {
    let dims = [("time", 0), ("x", 3)];
    let good = [var("fixed", &[1], 4, 1000), var("a", &[0, 1], 4, 1012), var("b", &[0], 4, 1024)];
    let opened = open(&classic(2, &dims, &good, 2000)).expect("it opens");
    let stored =
        ["fixed", "a", "b"].map(|name| opened.stored_bytes(opened.var(name)).map(|bytes| bytes.len()));
    assert_eq!(stored, [Some(12), Some(24), Some(8)]);
    for (a, b) in [(1012, 1020), (1012, 1012), (1008, 1024)] {
        let vars = [var("fixed", &[1], 4, 1000), var("a", &[0, 1], 4, a), var("b", &[0], 4, b)];
        let second = if a < 1012 { "a" } else { "b" };
        let bytes = classic(2, &dims, &vars, 2000);
        let opened = open(&bytes).expect("it opens");
        let damaged = ["a", "b"].into_iter().filter(|name| {
            let found = opened.model.variable(opened.var(name));
            found.is_some_and(|variable| variable.fault.is_some())
        });
        // Of two that begin at one byte the shorter is the first.
        let second = if a == b { "a" } else { second };
        assert_eq!(damaged.collect::<Vec<_>>(), [second], "{a} {b}");
        assert!(fault(&bytes, second).contains("within another variable"));
    }
}

#[test]
fn files_that_netcdf_c_refuses_are_refused_if_that_is_requested() {
    let dims = [("time", 0), ("x", 3)];
    let strictly = |begins: [u32; 4]| {
        let [c, f, r, s] = begins;
        // Texts of 3 bytes are padded to 4.
        let vars =
            [var("c", &[1], 2, c), var("r", &[0, 1], 2, r), var("f", &[1], 4, f), var("s", &[0, 1], 2, s)];
        let view = MemoryView::new(ObjectView::one(KEY, classic(1, &dims, &vars, 2000)));
        let options = OpenOptions::default().view(DatasetView::NetcdfCStrict);
        let opened = done(ClassicDriver.open(&view, &ObjectView::id(KEY), &options));
        opened.map(|_| ()).map_err(|error| (error.kind(), error.to_string()))
    };
    for begins in [[1000, 1004, 1016, 1020], [1000, 1008, 1032, 1040]] {
        assert_eq!(strictly(begins), Ok(()), "{begins:?}");
    }
    let refused = [
        ([1000, 1003, 1016, 1020], "variable \"f\" begins at byte 1003, before byte 1004"),
        ([1016, 1000, 1020, 1024], "variable \"f\" begins at byte 1000, before byte 1020"),
        ([1000, 1004, 1015, 1020], "variable \"r\" begins at byte 1015, before byte 1016"),
        ([1000, 1004, 1016, 1019], "variable \"s\" begins at byte 1019, before byte 1020"),
    ];
    for (begins, reason) in refused {
        let (kind, reported) = strictly(begins).expect_err("a refusal");
        assert_eq!(kind, ErrorKind::Unsupported);
        assert!(
            reported.contains("netCDF-C does not open this file") && reported.contains(reason),
            "{reported}"
        );
    }
}

#[test]
fn one_record_variable_of_unknown_size_takes_the_others_with_it() {
    let dims = [("time", 0), ("x", 3)];
    let vars = [var("bad", &[0, 0], 4, 500), var("other", &[0], 4, 504), var("fixed", &[1], 4, 400)];
    let bytes = classic(2, &dims, &vars, 2000);
    assert!(fault(&bytes, "bad").contains("not its first"));
    assert!(fault(&bytes, "other").contains("unknown because of variable \"bad\""));
    let opened = open(&bytes).expect("it opens");
    assert_eq!(opened.stored_bytes(opened.var("fixed")), Some(vec![7; 12]));
}

#[test]
fn contradictory_lists_are_malformed_where_they_stand() {
    for (bytes, message) in [
        ([b"CDF\x01".to_vec(), words(&[0, 10, 0x7fff_ffff, 0])].concat(), "cannot fit"),
        ([b"CDF\x01".to_vec(), words(&[0, 12, 1, 0, 0])].concat(), "tag 0xc"),
        ([b"CDF\x01".to_vec(), words(&[0, 0, 1, 0, 0])].concat(), "tag 0x0"),
        (classic(0, &[], &[var("v", &[], 12, 100)], 99), "type 12"),
        (classic(0, &[], &[var("v", &[], 7, 100)], 99), "type 7 does not exist in CDF-1"),
        (classic(0, &[], &[[name("v"), words(&[0x4000_0000, 1])].concat()], 99), "cannot fit"),
    ] {
        let error = open(&bytes).expect_err("damage");
        assert_eq!(error.kind(), ErrorKind::Malformed, "{error}");
        assert!(error.message().contains(message), "{error}: not {message}");
        assert!(error.place().offset.is_some());
    }
}

#[test]
fn names_and_attributes_that_are_odd_are_reported() {
    let attributes = [name("a"), words(&[4, 1, 5]), name("a"), words(&[4, 1, 6])].concat();
    let mut latin = name("caf_");
    latin[7] = 0xe9;
    let v = [latin, words(&[0, 12, 2]), attributes, words(&[4, 4, 200])].concat();
    let bytes = classic(0, &[("x", 2), ("x", 3)], &[v, var("nul\0\0", &[], 4, 204)], 200);
    let opened = open(&bytes).expect("it opens");
    let warnings = opened.catalog.warnings().join("; ");
    assert!(warnings.contains("\"caf\u{fffd}\" is not UTF-8"), "{warnings}");
    assert!(warnings.contains("two dimensions are named \"x\""), "{warnings}");
    let variable = opened.model.variable(opened.var("caf\u{fffd}")).expect("a variable");
    let attributes = variable.attributes.known().expect("attributes");
    assert_eq!(attributes.find("a").map(|a| &a.values), Some(&Values::Int(vec![5])));
    assert_eq!(attributes.faults.len(), 1);
    opened.var("nul");
}

#[test]
fn names_are_read_in_normalization_form_c() {
    let bytes = classic(0, &[("la\u{308}nge", 2)], &[], 0);
    let opened = open(&bytes).expect("it opens");
    assert!(opened.model.dimension_at("länge").is_some());
}

#[test]
fn limits_bound_what_a_header_may_be() {
    let bytes = sample(FormatVersion::Data64);
    let open_within = |limits: Limits| {
        let view = MemoryView::new(ObjectView::one(KEY, bytes.clone())).with_limits(limits);
        done(ClassicDriver.open(&view, &ObjectView::id(KEY), &OpenOptions::default())).map(|_| ())
    };
    assert!(open_within(Limits::default()).is_ok());
    for limits in [
        Limits { metadata_bytes: 500, ..Limits::default() },
        Limits { count: 10, ..Limits::default() },
        Limits { rank: 1, ..Limits::default() },
    ] {
        assert_eq!(open_within(limits.clone()).expect_err("too much").kind(), ErrorKind::Limit, "{limits:?}");
    }
}

#[test]
fn enormous_shapes_cost_nothing_and_shapes_beyond_64_bits_are_faults() {
    let len = 1u64 << 20;
    let mut bytes = b"CDF\x05".to_vec();
    let wide = |values: &[u64]| values.iter().flat_map(|value| value.to_be_bytes()).collect::<Vec<u8>>();
    let name = |text: &str| [wide(&[text.len() as u64]), format!("{text:\0<4}").into_bytes()].concat();
    bytes.extend([wide(&[0]), words(&[10]), wide(&[1]), name("x"), wide(&[len])].concat());
    bytes.extend([words(&[0]), wide(&[0]), words(&[11]), wide(&[2])].concat());
    for (text, rank) in [("fits", 3u64), ("huge", 4)] {
        let dims = vec![0; usize::try_from(rank).expect("small")];
        bytes.extend([name(text), wide(&[rank]), wide(&dims), words(&[0]), wide(&[0])].concat());
        bytes.extend([words(&[1]), wide(&[0, 4096])].concat());
    }
    let opened = open(&bytes).expect("it opens");
    assert_eq!(opened.model.shape(opened.var("fits")), [len, len, len], "10^18 elements");
    assert!(opened.source(opened.var("fits")).is_ok());
    assert!(fault(&bytes, "huge").contains("too large"));
}

#[test]
fn variables_carry_their_type_fill_value_and_storage() {
    let opened = open(&sample(FormatVersion::Data64)).expect("it opens");
    for atomic in Atomic::ALL.into_iter().filter(|atomic| FormatVersion::Data64.holds(*atomic)) {
        let fixed = opened.model.variable(opened.var(atomic.name())).expect("a variable");
        assert_eq!(fixed.ty, TypeRef::Atomic(atomic));
        assert_eq!(fixed.own_fill(), Some(&Values::zeroed(atomic, 1)));
        assert_eq!(fixed.storage, Storage::Contiguous);
        let record = opened.var(&format!("{}_t", atomic.name()));
        let described = opened.model.variable(record).expect("a variable");
        assert!(described.is_filled() && described.own_fill().is_none());
        assert_eq!(opened.model.growing(record), [true, false]);
        let size = atomic.byte_len().expect("a fixed size");
        let expected: Vec<u8> = (1..=9u8).flat_map(|number| vec![number; size]).collect();
        assert_eq!(opened.stored_bytes(record), Some(expected), "{}", atomic.name());
    }
    let time = opened.model.dimension_at("time").expect("a dimension");
    assert_eq!(opened.model.dimension(time).map(|time| time.len), Some(DimensionLen::Unlimited(3)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 800, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_files_open_or_fail_with_a_reason(
        version in 0..3usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = sample(FormatVersion::ALL[version]);
        changes.iter().for_each(|(at, value)| {
            let len = bytes.len();
            bytes[at.index(len)] = *value;
        });
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        match open(&bytes) {
            Ok(opened) => for var in opened.model.variables() {
                let fault = opened.model.variable(var).and_then(|variable| variable.fault.as_ref());
                prop_assert_eq!(opened.source(var).is_err(), fault.is_some());
            },
            Err(error) => {
                let kinds = [ErrorKind::Malformed, ErrorKind::Unsupported, ErrorKind::Limit];
                prop_assert!(kinds.contains(&error.kind()), "{:?}", error);
            }
        }
    }

    #[test]
    fn random_bytes_after_the_magic_number_do_no_harm(version in 0..3usize, noise in prop::collection::vec(0..16u8, 0..400)) {
        let magic = [b"CDF".as_slice(), &[FormatVersion::ALL[version].byte()]].concat();
        _ = open(&[magic, noise].concat());
    }
}
