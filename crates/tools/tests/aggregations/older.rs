//! Aggregations of the older conventions in one file of the classic format.
use crate::support::{session, temp, values};
use ncirrus::{Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Session, Values};
use ncirrus_tools::info;
use std::path::{Path, PathBuf};

/// Opens a master of CFA-0.4 with `v(x)`, whose description is given, and with variables of two elements each, of which
/// all but `open` are private.
fn master(folder: &Path, array: &str, session: &Session) -> PathBuf {
    let path = folder.join("m.nca");
    let options = CreateOptions::new().kind(Kind::Nc3);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap();
    let root = dataset.root();
    for (name, len) in [("x", 4), ("two", 2)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    for (name, first) in [("private0", 10.0), ("open", 20.0), ("private2", 30.0)] {
        let variable = root.add_variable(name, Atomic::Double, &["two"]).unwrap();
        if name != "open" {
            variable.set_attribute(Attribute::text("cf_role", "cfa_private")).unwrap();
        }
        variable.write_all(&[first, first + 1.0]).unwrap();
    }
    let v = root.add_variable("v", Atomic::Double, &[]).unwrap();
    for (name, text) in [("cf_role", "cfa_variable"), ("cfa_dimensions", "x"), ("cfa_array", array)] {
        v.set_attribute(Attribute::text(name, text)).unwrap();
    }
    dataset.close().unwrap();
    path
}

fn opened(path: &Path, session: &Session) -> Dataset {
    Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), session).unwrap()
}

/// A description of partitions: the first element of each, and the description of its variable.
fn array(partitions: &[(u64, &str)]) -> String {
    let one = |(start, variable): &(u64, &str)| {
        format!(
            r#"{{"index": [{}], "location": [[{start}, {}]], "subarray": {{{variable}, "shape": [2]}}}}"#,
            start / 2,
            start + 1
        )
    };
    let partitions: Vec<String> = partitions.iter().map(one).collect();
    let partitions = partitions.join(", ");
    format!(r#"{{"pmdimensions": ["x"], "pmshape": [2], "Partitions": [{partitions}]}}"#)
}

#[test]
fn variables_in_the_master_are_found_by_name_and_by_their_number_as_they_are_stored() {
    let (_folder, root) = temp();
    let session = session();
    let array = array(&[(0, r#""varid": 1"#), (2, r#""ncvar": "private2""#)]);
    let dataset = opened(&master(&root, &array, &session), &session);
    let v = values(&dataset.variable("v").unwrap()).unwrap();
    assert_eq!(v, Values::Double(vec![20.0, 21.0, 30.0, 31.0]));
    let names: Vec<String> = dataset.root().variables().iter().map(|variable| variable.name()).collect();
    assert_eq!(names, ["open", "v"]);
}

#[test]
fn info_counts_the_fragments_that_are_described_wherever_the_last_one_ends() {
    let (_folder, root) = temp();
    let session = session();
    let path = master(&root, &array(&[(0, r#""varid": 0"#)]), &session);
    let info = info(&opened(&path, &session)).unwrap();
    let v = info.groups[0].variables.iter().find(|variable| variable.name == "v").unwrap();
    let fragments = v.fragments.as_ref().unwrap();
    assert_eq!((fragments.convention, fragments.count, fragments.shape.as_slice()), ("CFA-0.4", 1, &[1][..]));
    assert_eq!((fragments.first.as_deref(), fragments.last.as_deref()), (Some("here"), None));
    assert!(info.groups[0].variables[0].fragments.is_none());
}
