//! Files of other programs in which axes have no scale.
use crate::testing::done;
use crate::{Hdf5Driver, Hdf5Writer};
use bytes::Bytes;
use ncirrus_layout::{Driver, OpenOptions, Writing};
use ncirrus_model::Model;
use ncirrus_testkit::corpus::peers_python;
use ncirrus_testkit::{MemoryView, ObjectView};
use std::path::Path;
use std::process::Command;

const SCRIPT: &str = include_str!("axes.py");

/// A way for the coordinate variable `xs` to lose its dimension, and the names of both then.
type DimensionLoss = (fn(&mut Model), &'static str, &'static str);

#[test]
fn axes_without_a_scale_stay_so_when_another_dimension_loses_its_variable() {
    let Some(python) = peers_python() else { return };
    let home = tempfile::tempdir().unwrap();
    let losses: [DimensionLoss; 2] = [
        (|model| model.rename_variable(model.variable_at("xs").unwrap(), "points").unwrap(), "points", "xs"),
        (
            |model| model.rename_dimension(model.dimension_at("xs").unwrap(), "points").unwrap(),
            "xs",
            "points",
        ),
    ];
    for (change, variable, dimension) in losses {
        let path = home.path().join("axes.h5");
        run(&python, &path, "make", &[]);
        let file = changed(std::fs::read(&path).unwrap().into(), change);
        std::fs::write(&path, file).unwrap();
        run(&python, &path, "check", &[variable, dimension]);
    }
}

fn run(python: &Path, path: &Path, step: &str, names: &[&str]) {
    let output = Command::new(python).args(["-c", SCRIPT, step]).arg(path).args(names).output().unwrap();
    assert!(output.status.success(), "{step} {names:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The file after a change of its model.
fn changed(file: Bytes, change: fn(&mut Model)) -> Bytes {
    let mut objects = ObjectView::one("f", file);
    let (view, root) = (MemoryView::new(objects.clone()), ObjectView::id("f"));
    let catalog = done(Hdf5Driver.open(&view, &root, &OpenOptions::default())).unwrap();
    let old = done(catalog.tree(&view)).unwrap();
    let mut placer = done(Hdf5Writer::default().update(&view, &root, &old)).unwrap();
    let mut model = old.as_ref().clone();
    change(&mut model);
    for phase in done(placer.plan_commit(&view, &model)).unwrap() {
        phase.puts.into_iter().for_each(|put| objects.apply(put));
    }
    objects.find("f").unwrap().clone()
}
