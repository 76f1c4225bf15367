//! Moving fragments.
use super::files::{Bench, CONVENTIONS, KINDS, doubles, master};
use ncirrus::{ErrorKind, Kind};
use ncirrus_tools::aggregate::{
    AggregateOptions, Convention, Relocation, RenamedFragment, aggregate, relocate,
};

#[test]
fn masters_of_every_convention_and_kind_follow_their_fragments() {
    for convention in CONVENTIONS {
        for kind in KINDS {
            if convention == Convention::Cfa05 && kind.is_classic() {
                continue;
            }
            let case = format!("{convention:?} {kind:?}");
            let bench = Bench::new();
            let files = [bench.field("in/a.nc", 0..3), bench.field("in/b.nc", 3..5)];
            let target = bench.path("m.nca");
            let options = AggregateOptions::default();
            aggregate(&target, &files, &options, &master(convention, kind), &bench.session).unwrap();
            let away = bench.path("a much longer name than before/x");
            std::fs::remove_dir_all(&away).ok();
            std::fs::rename(bench.path("in"), &away).unwrap();
            let run = |relocation: Relocation, dry_run| {
                relocate(&target, &relocation, None, dry_run, &bench.session)
                    .unwrap_or_else(|error| panic!("{case}: {error}"))
            };
            let prefix = Relocation::Prefix("a much longer name than before/x".into());
            let want = RenamedFragment {
                variable: "/tas".into(),
                from: "in/a.nc".into(),
                to: "a much longer name than before/x/a.nc".into(),
            };
            assert_eq!(run(prefix.clone(), true)[0], want, "{case}");
            assert!(
                bench.open(&target).variable("tas").unwrap().read::<f64>().is_err()
                    || convention != Convention::Cf113
            );
            assert_eq!(run(prefix, false).len(), 2, "{case}");
            assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..5)), "{case}");
            assert!(run(Relocation::Absolute, false)[0].to.starts_with("file:///"), "{case}");
            assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..5)), "{case}");
            assert_eq!(
                run(Relocation::Relative, false)[1].to,
                "a much longer name than before/x/b.nc",
                "{case}"
            );
            assert_eq!(run(Relocation::Relative, false), [], "{case}");
            let replaced =
                run(Relocation::Replace("a much longer name than before/".into(), "y/".into()), false);
            assert_eq!(replaced[0].to, "y/x/a.nc", "{case}");
            std::fs::rename(bench.path("a much longer name than before"), bench.path("y")).unwrap();
            assert_eq!(bench.numbers(&target, "tas"), doubles(&(0..5)), "{case}");
            assert_eq!(bench.numbers(&target, "time"), (0..5).map(f64::from).collect::<Vec<_>>(), "{case}");
        }
    }
}

#[test]
fn ordinary_datasets_and_unknown_variables_are_refused() {
    let bench = Bench::new();
    let file = bench.field("a.nc", 0..3);
    let error = relocate(&file, &Relocation::Relative, None, false, &bench.session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let target = bench.path("m.nca");
    let master = master(Convention::Cf113, Kind::Nc4);
    aggregate(&target, &[file], &AggregateOptions::default(), &master, &bench.session).unwrap();
    let error = relocate(&target, &Relocation::Relative, Some("time"), false, &bench.session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}
