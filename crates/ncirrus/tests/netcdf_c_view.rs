//! What netCDF-C does not show of HDF5 files: references.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{cdl_of, session, temp};
use ncirrus::{Atomic, Attribute, Dataset, DatasetView, OpenOptions, Selection, Values};
use ncirrus_testkit::corpus::{peers_python, program};
use std::path::Path;
use std::process::Command;

const MAKE: &str = "
import sys, h5py, numpy as np
with h5py.File(sys.argv[1], 'w', track_order=True) as f:
    v = f.create_dataset('v', data=np.arange(6, dtype='i4').reshape(2, 3))
    pair = np.dtype([('n', 'i4'), ('at', h5py.ref_dtype)])
    f.create_dataset('refs', data=np.array([v.ref, v.ref], dtype=h5py.ref_dtype))
    f.create_dataset('pairs', data=np.array([(1, v.ref)], dtype=pair))
    g = f.create_group('g')
    for holder in (f, v, g):
        holder.attrs['before'] = np.int32(1)
        holder.attrs['at'] = v.ref
        holder.attrs['region'] = v.regionref[0:1]
        holder.attrs['pair'] = np.array([(7, v.ref)], dtype=pair)
        holder.attrs['after'] = np.int32(2)
";

fn made(path: &Path) -> Option<()> {
    let done = Command::new(peers_python()?).args(["-c", MAKE]).arg(path).status().unwrap();
    assert!(done.success());
    Some(())
}

#[test]
fn references_are_strings_but_no_part_of_what_netcdf_c_shows() {
    let (_folder, temp) = temp();
    let path = temp.join("a.h5");
    let (Some(()), Some(ncdump), session) = (made(&path), program("ncdump"), session()) else { return };
    let open = |options: &OpenOptions| Dataset::open_with(path.to_str().unwrap(), options, &session).unwrap();
    let all = open(&OpenOptions::new());
    let at = all.variable("v").unwrap().attribute("at").unwrap().unwrap();
    assert_eq!(at.as_text().unwrap(), "/v");
    assert!(all.variable("refs").is_ok() && all.variable("pairs").is_ok());

    let shown = open(&OpenOptions::new().view(DatasetView::NetcdfC));
    let output = Command::new(ncdump).arg(&path).output().unwrap();
    let expected = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(expected.contains("after"), "{expected}");
    assert_eq!(cdl_of(&shown, "a", |_| ()).unwrap().0, expected);
}

#[test]
fn references_that_are_not_shown_stay_when_the_file_is_changed() {
    let (_folder, temp) = temp();
    let path = temp.join("a.h5");
    let (Some(()), session) = (made(&path), session()) else { return };
    let url = path.to_str().unwrap();
    let dataset =
        Dataset::update_with(url, &OpenOptions::new().view(DatasetView::NetcdfC), &session).unwrap();
    let variable = dataset.variable("v").unwrap();
    variable.set_attribute(Attribute::atomic("more", Values::Int(vec![3]))).unwrap();
    variable.write_all(&[9, 8, 7, 6, 5, 4]).unwrap();
    dataset.root().add_variable("scalar", Atomic::Int, &[]).unwrap();
    dataset.close().unwrap();

    let all = Dataset::open_with(url, &OpenOptions::new(), &session).unwrap();
    let variable = all.variable("v").unwrap();
    assert_eq!(variable.read::<i32>().unwrap(), [9, 8, 7, 6, 5, 4]);
    let attributes = variable.attributes().unwrap();
    let mut names: Vec<&str> = attributes.iter().map(|attribute| attribute.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["after", "at", "before", "more", "pair", "region"]);
    assert_eq!(attributes.find("at").unwrap().as_text().unwrap(), "/v");
    let refs = all.variable("refs").unwrap().values(&Selection::all(&[2])).unwrap();
    assert_eq!(refs, Values::String([Some("/v"), Some("/v")].into_iter().collect()));
    assert!(all.variable("pairs").is_ok() && all.variable("scalar").is_ok());
}

#[test]
fn a_reference_that_is_not_shown_gives_its_name_to_a_new_attribute_and_the_others_stay() {
    let (_folder, temp) = temp();
    let path = temp.join("a.h5");
    let (Some(()), session) = (made(&path), session()) else { return };
    let url = path.to_str().unwrap();
    let dataset =
        Dataset::update_with(url, &OpenOptions::new().view(DatasetView::NetcdfC), &session).unwrap();
    let variable = dataset.variable("v").unwrap();
    variable.set_attribute(Attribute::atomic("region", Values::Int(vec![4]))).unwrap();
    dataset.close().unwrap();

    let all = Dataset::open_with(url, &OpenOptions::new(), &session).unwrap();
    let attributes = all.variable("v").unwrap().attributes().unwrap();
    assert_eq!(attributes.find("region").unwrap().values, Values::Int(vec![4]));
    assert_eq!(attributes.find("at").unwrap().as_text().unwrap(), "/v");
    assert!(attributes.find("pair").is_some());
}
