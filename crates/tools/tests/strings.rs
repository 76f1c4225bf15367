//! Strings in NCZarr: copies store them in as many bytes as the longest has, so that netCDF-C lists them, and nothing
//! of them is lost.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{json, open, session, temp, values};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, Dialect, DimensionLen, Kind, Selection, Session, StringForm,
    Strings, Values,
};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_tools::{CopyOptions, CopyReport, copy, plan_copy};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Names and strings of variables, one axis each.
type Texts<'a> = [(&'a str, &'a [Option<&'a str>])];

const ZURICH: &[Option<&str>] = &[Some("a"), Some("Zürich"), Some("")];

fn strings(texts: &[Option<&str>]) -> Values {
    let mut strings = Strings::new();
    texts.iter().for_each(|text| strings.push(text.map(str::as_bytes)));
    Values::String(strings)
}

/// A netCDF-4 file with those variables.
fn source(path: &Path, texts: &Texts<'_>, session: &Session) {
    let options = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap();
    let root = dataset.root();
    for (name, texts) in texts {
        let dim = format!("of_{name}");
        let len = texts.len() as u64;
        root.add_dimension(&dim, DimensionLen::Unlimited(0)).unwrap();
        let variable = root.add_variable(name, Atomic::String, &[dim.as_str()]).unwrap();
        if len > 0 {
            variable.write_values(&Selection::slab(&[0], &[len]), &strings(texts)).unwrap();
        }
    }
    dataset.close().unwrap();
}

fn copied(
    from: &Path,
    to: &Path,
    change: impl FnOnce(&mut CreateOptions),
    session: &Session,
) -> ncirrus::Result<CopyReport> {
    let mut create = CreateOptions::new().overwrite(true);
    change(&mut create);
    let options = CopyOptions::new().create(create);
    copy(&open(from, session).unwrap(), to.to_str().unwrap(), &options, session)
}

fn data_type(store: &Path, name: &str) -> String {
    json(&store.join(name).join(".zarray"))["dtype"].as_str().unwrap().to_owned()
}

/// A copy, as NCZarr, of a netCDF-4 file with those variables.
fn made(folder: &Path, texts: &Texts<'_>, session: &Session) -> (PathBuf, CopyReport) {
    let (from, to) = (folder.join("a.nc"), folder.join("a.zarr"));
    source(&from, texts, session);
    let report = copied(&from, &to, |_| (), session).unwrap();
    (to, report)
}

#[test]
fn strings_of_copies_are_as_long_as_the_longest_and_come_back_equal() {
    let (session, (_folder, temp)) = (session(), temp());
    let long = "x".repeat(300);
    let long = [Some(long.as_str()), Some("b")];
    let texts = [
        ("mixed", ZURICH),
        ("empty", &[Some(""), Some("")][..]),
        ("nulls", &[None, Some("one")][..]),
        ("both", &[None, Some(""), Some("one")][..]),
        ("none", &[][..]),
    ];
    source(&temp.join("long.nc"), &[("long", &long[..])], &session);
    copied(&temp.join("long.nc"), &temp.join("long.zarr"), |_| (), &session).unwrap();
    assert_eq!(data_type(&temp.join("long.zarr"), "long"), "|S300");
    let (store, report) = made(&temp, &texts, &session);
    for (name, expected) in
        [("mixed", "|S7"), ("empty", "|S2"), ("nulls", "|S3"), ("both", "|O"), ("none", "|S128")]
    {
        assert_eq!(data_type(&store, name), expected, "{name}");
    }
    let [note] = report.notes.as_slice() else { panic!("{:?}", report.notes) };
    assert!(note.starts_with("/both: some strings are null and some are empty"), "{note}");
    let back = temp.join("back.nc");
    copied(&store, &back, |create| create.kind = Some(Kind::Nc4), &session).unwrap();
    for place in [&store, &back] {
        let dataset = open(place, &session).unwrap();
        for (name, texts) in texts {
            let variable = dataset.variable(name).unwrap();
            assert_eq!(values(&variable).unwrap(), strings(texts), "{name} of {}", place.display());
            assert!(variable.attributes().unwrap().is_empty(), "{name} of {}", place.display());
        }
    }
}

const READERS: &str = r#"
import sys, netCDF4, xarray, zarr
store = sys.argv[1]
def attributes(names):
    return [name for name in names if name not in ("_ncirrus", "_nczarr_array", "_nczarr_attr")]
wanted = ["a", "Zürich", ""]
listed = netCDF4.Dataset(f"file://{store}#mode=nczarr,file")
assert sorted(listed.variables) == ["mixed", "none", "nulls"], sorted(listed.variables)
assert listed["mixed"].dtype is str and listed["mixed"][:].tolist() == wanted, listed["mixed"]
assert attributes(listed["mixed"].ncattrs()) == [], listed["mixed"].ncattrs()
assert listed.dimensions["of_mixed"].isunlimited()
for masked in (True, False):
    seen = xarray.open_zarr(store, mask_and_scale=masked)
    assert seen["mixed"].values.tolist() == wanted and attributes(seen["mixed"].attrs) == [], seen["mixed"]
    assert seen["nulls"].values.tolist() == ["", "one"], seen["nulls"]
    assert seen["none"].shape == (0,)
assert zarr.open_group(store, mode="r")["mixed"][...].tolist() == [text.encode() for text in wanted]
"#;

#[test]
fn netcdf_c_lists_the_strings_of_copies_and_xarray_decodes_them() {
    let Some(python) = peers_python() else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let texts = [("mixed", ZURICH), ("nulls", &[None, Some("one")][..]), ("none", &[][..])];
    let (store, _) = made(&temp, &texts, &session);
    let read = |what: &str| {
        let output = Command::new(&python).args(["-c", READERS]).arg(&store).output().unwrap();
        assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
    };
    read("as copied");
    let dataset = Dataset::update_with(store.to_str().unwrap(), &Default::default(), &session).unwrap();
    dataset.root().set_attribute(Attribute::text("title", "changed")).unwrap();
    dataset.close().unwrap();
    read("as changed");
    std::fs::remove_file(store.join(".zmetadata")).unwrap();
    let attributes = open(&store, &session).unwrap().variable("mixed").unwrap().attributes().unwrap();
    assert!(attributes.is_empty(), "an attribute for others is in the array's own document");
}

#[test]
fn strings_that_do_not_fit_are_refused_with_their_length_and_nothing_changes() {
    let (session, (_folder, temp)) = (session(), temp());
    let (store, _) = made(&temp, &[("mixed", ZURICH)], &session);
    let write = |texts: &[Option<&str>]| {
        let dataset = Dataset::update_with(store.to_str().unwrap(), &Default::default(), &session).unwrap();
        let variable = dataset.variable("mixed").unwrap();
        let slab = Selection::slab(&[3], &[texts.len() as u64]);
        variable.write_values(&slab, &strings(texts)).and_then(|()| dataset.close())
    };
    let error = write(&[Some("Winterthur")]).unwrap_err().to_string();
    assert!(
        error.contains("10 bytes") && error.contains("7 bytes") && error.contains("Winterthur"),
        "{error}"
    );
    assert!(write(&[None]).unwrap_err().to_string().contains("null"));
    assert!(write(&[Some("a\0b")]).unwrap_err().to_string().contains("NUL"));
    let read = || values(&open(&store, &session).unwrap().variable("mixed").unwrap()).unwrap();
    assert_eq!(read(), strings(ZURICH));
    write(&[Some("Chur")]).unwrap();
    assert_eq!(read(), strings(&[ZURICH, &[Some("Chur")]].concat()));
}

#[test]
fn the_form_of_strings_is_as_chosen() {
    let (session, (_folder, temp)) = (session(), temp());
    let (from, to) = (temp.join("a.nc"), temp.join("b.zarr"));
    source(&from, &[("mixed", ZURICH)], &session);
    let form = |strings: StringForm, kind: Kind, dialect: Option<Dialect>| {
        let change = |create: &mut CreateOptions| {
            (create.strings, create.kind, create.dialect) = (strings, Some(kind), dialect);
        };
        copied(&from, &to, change, &session).map(|_| {
            assert_eq!(
                values(&open(&to, &session).unwrap().variable("mixed").unwrap()).unwrap(),
                self::strings(ZURICH)
            );
            data_type(&to, "mixed")
        })
    };
    assert_eq!(form(StringForm::Variable, Kind::NcZarr, None).unwrap(), "|O");
    assert_eq!(form(StringForm::Fixed(Some(9)), Kind::NcZarr, None).unwrap(), "|S9");
    assert_eq!(form(StringForm::Suited, Kind::NcZarr, Some(Dialect::Lc)).unwrap(), "|S7");
    assert_eq!(form(StringForm::Suited, Kind::NcZarr, Some(Dialect::Uc)).unwrap(), "|O");
    assert_eq!(form(StringForm::Suited, Kind::Zarr2, None).unwrap(), "|O");
    assert_eq!(form(StringForm::Fixed(None), Kind::Zarr2, None).unwrap(), "|S7");
    let error = form(StringForm::Fixed(Some(3)), Kind::NcZarr, None).unwrap_err().to_string();
    assert!(error.contains("/mixed") && error.contains("7 bytes") && error.contains("Zürich"), "{error}");
    let reported = copied(
        &from,
        &temp.join("c.nc"),
        |create| (create.kind, create.strings) = (Some(Kind::Nc4), StringForm::Variable),
        &session,
    );
    assert!(reported.unwrap().notes.iter().any(|note| note.starts_with("the form of strings has no effect")));
    let plan = plan_copy(
        &open(&from, &session).unwrap(),
        temp.join("d.zarr").to_str().unwrap(),
        &CopyOptions::default(),
        &session,
    );
    assert!(
        plan.unwrap()
            .notes
            .iter()
            .any(|note| note.starts_with("/mixed: its strings are read once in advance"))
    );
}

#[test]
fn datasets_made_anew_have_strings_of_the_length_that_is_chosen() {
    let (session, (_folder, temp)) = (session(), temp());
    for (strings, expected) in
        [(StringForm::Suited, "|O"), (StringForm::Fixed(None), "|S128"), (StringForm::Fixed(Some(5)), "|S5")]
    {
        let path = temp.join("new.zarr");
        let options = CreateOptions::new().strings(strings).overwrite(true);
        let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &session).unwrap();
        let variable = dataset.root().add_variable("s", Atomic::String, &[]).unwrap();
        variable.write_values(&Selection::all(&[]), &self::strings(&[Some("")])).unwrap();
        dataset.close().unwrap();
        assert_eq!(data_type(&path, "s"), expected);
        let read = values(&open(&path, &session).unwrap().variable("s").unwrap()).unwrap();
        assert_eq!(read, self::strings(&[Some("")]));
    }
}

#[test]
fn fill_values_of_strings_stay_what_they_are() {
    let (session, (_folder, temp)) = (session(), temp());
    let (from, to) = (temp.join("a.nc"), temp.join("a.zarr"));
    let options = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(from.to_str().unwrap(), &options, &session).unwrap();
    dataset.root().add_dimension("x", DimensionLen::Fixed(3)).unwrap();
    let variable = dataset.root().add_variable("s", Atomic::String, &["x"]).unwrap();
    variable.set_fill(strings(&[Some("none")])).unwrap();
    variable.write_values(&Selection::slab(&[0], &[1]), &strings(&[Some("a")])).unwrap();
    dataset.close().unwrap();
    copied(&from, &to, |_| (), &session).unwrap();
    assert_eq!(json(&to.join("s/.zarray"))["fill_value"], "none");
    let read = |what: &str| {
        let variable = open(&to, &session).unwrap().variable("s").unwrap();
        assert_eq!(values(&variable).unwrap(), strings(&[Some("a"), Some("none"), Some("none")]), "{what}");
        let fill = variable.attribute("_FillValue").unwrap().unwrap();
        assert_eq!(fill.values, strings(&[Some("none")]), "{what}");
    };
    read("consolidated");
    std::fs::remove_file(to.join(".zmetadata")).unwrap();
    read("alone");
    std::fs::remove_file(to.join("s/0")).unwrap();
    let missing = values(&open(&to, &session).unwrap().variable("s").unwrap()).unwrap();
    assert_eq!(missing, strings(&[Some("none"); 3]));
}

#[test]
fn strings_with_nul_are_kept_or_refused_by_every_kind() {
    let (_keep, folder) = temp();
    let session = session();
    let texts = [Some("a\0b"), Some("plain"), Some("\0y")];
    let list = Attribute::atomic("list", strings(&[Some("c\0d"), Some("e")]));
    for (name, kind) in [("data", Kind::Zarr3), ("attribute", Kind::Zarr2)] {
        let from = folder.join(name);
        let options = CreateOptions::new().kind(kind);
        let dataset = Dataset::create_with(from.to_str().unwrap(), &options, &session).unwrap();
        dataset.root().add_dimension("x", DimensionLen::Fixed(3)).unwrap();
        let variable = dataset.root().add_variable("v", Atomic::String, &["x"]).unwrap();
        let stored = if name == "data" { texts } else { [Some("a"), Some("b"), Some("c")] };
        variable.write_values(&Selection::slab(&[0], &[3]), &strings(&stored)).unwrap();
        if name == "attribute" {
            variable.set_attribute(list.clone()).unwrap();
        }
        dataset.close().unwrap();
        for kind in [Kind::Zarr2, Kind::Zarr3, Kind::NcZarr] {
            let to = folder.join(format!("{name}-{kind:?}"));
            copied(&from, &to, |create| create.kind = Some(kind), &session).unwrap();
            let copy = open(&to, &session).unwrap().variable("v").unwrap();
            assert_eq!(values(&copy).unwrap(), strings(&stored), "{name} {kind:?}");
            if name == "attribute" {
                assert_eq!(copy.attribute("list").unwrap().unwrap().values, list.values, "{kind:?}");
            }
        }
        let to = folder.join(format!("{name}.nc"));
        let error = copied(&from, &to, |create| create.kind = Some(Kind::Nc4), &session).unwrap_err();
        assert!(error.to_string().contains("holds NUL"), "{name}: {error}");
        assert!(!to.exists(), "nothing is left");
    }
}
