use super::chunks::ChunkSpecs;
use super::filters::FilterSpecs;
use super::{NccopyOptions, nccopy};
use crate::{CopyOptions, copy};
use ncirrus::{AxisSelection, CodecSpec, CreateOptions, Dataset, Kind, OpenOptions, Selection, Session};
use ncirrus_model::{Atomic, DimensionLen, Model, Storage, VarId};

/// `v(t, y, x)` and `w(y, x)` of floats; `t` is unlimited.
fn model() -> (Model, VarId, VarId) {
    let mut model = Model::default();
    let root = model.root();
    let mut dim = |name: &str, len| model.add_dimension(root, name, len).unwrap();
    let dims = [
        dim("t", DimensionLen::Unlimited(3)),
        dim("y", DimensionLen::Fixed(100)),
        dim("x", DimensionLen::Fixed(40)),
    ];
    let v = model.add_variable(root, "v", Atomic::Float.into(), &dims).unwrap();
    let w = model.add_variable(root, "w", Atomic::Float.into(), &dims[1..]).unwrap();
    (model, v, w)
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[test]
fn the_first_rule_for_a_variable_and_the_last_for_dimensions_count() {
    let (model, v, w) = model();
    let specs = ["w:50,40", "w:20,40", "y/10", "x/20"];
    let specs = ChunkSpecs::parse(&texts(&specs), &model).unwrap();
    let storage = |var| specs.storage(&model, var, false, false, 0).unwrap();
    assert_eq!(storage(w), Storage::Chunked(vec![50, 40]));
    assert_eq!(storage(v), Storage::Chunked(vec![1, 100, 20]));
}

#[test]
fn small_chunks_make_a_variable_contiguous_unless_it_grows_or_is_filtered() {
    let (model, v, w) = model();
    let specs = ChunkSpecs::parse(&texts(&["y/10"]), &model).unwrap();
    let storage = |var, filtered, min| specs.storage(&model, var, filtered, false, min).unwrap();
    assert_eq!(storage(w, false, 8192), Storage::Contiguous);
    assert_eq!(storage(w, false, 1600), Storage::Chunked(vec![10, 40]));
    assert_eq!(storage(w, true, 8192), Storage::Default);
    assert_eq!(storage(v, false, 8192), Storage::Chunked(vec![1, 10, 40]));
}

#[test]
fn chunks_that_do_not_fit_are_refused() {
    let (model, _, w) = model();
    for spec in ["w:1", "w:101,40", "w:1,x", "nope:1", "nope/1", "y", "y/0", "y/5,,x/3"] {
        assert!(ChunkSpecs::parse(&texts(&[spec]), &model).is_err(), "{spec}");
    }
    let specs = ChunkSpecs::parse(&texts(&["y/1000"]), &model).unwrap();
    assert!(specs.storage(&model, w, false, false, 0).is_err());
}

#[test]
fn filters_of_several_rules_are_joined_and_none_removes_them() {
    let (mut model, v, w) = model();
    let deflate = |level| CodecSpec::hdf5(1, &[level]);
    model.variable_mut(v).unwrap().filters = vec![deflate(3)];
    let choose = |rules: &[&str], var, level| {
        FilterSpecs::parse(&texts(rules)).unwrap().choose(&model, var, level, false)
    };
    assert_eq!(choose(&["v&w,2", "/w,1,5"], w, None), [CodecSpec::hdf5(2, &[]), deflate(5)]);
    assert_eq!(choose(&["w,1,5"], v, None), [deflate(3)]);
    assert_eq!(choose(&["*,1,5"], v, None), [deflate(5)]);
    assert_eq!(choose(&["v,none"], v, Some(2)), []);
    assert_eq!(choose(&["none"], v, None), []);
    assert_eq!(choose(&[], v, Some(0)), []);
}

/// A dataset with two variables of two elements each.
fn dataset(name: &str, session: &Session) -> Dataset {
    let url = format!("memory://nccopy/{name}");
    let dataset = Dataset::create_with(&url, &CreateOptions::new().kind(Kind::Nc3), session).unwrap();
    let root = dataset.root();
    root.add_dimension("x", DimensionLen::Fixed(2)).unwrap();
    for variable in ["a", "b"] {
        let variable = root.add_variable(variable, Atomic::Int, &["x"]).unwrap();
        let all = Selection::new(vec![AxisSelection::Slice { start: 0, count: 2, stride: 1 }]);
        variable.write(&all, &[7_i32, 8]).unwrap();
    }
    dataset.close().unwrap();
    Dataset::open_with(&url, &OpenOptions::default(), session).unwrap()
}

fn values(url: &str, name: &str, session: &Session) -> Vec<i32> {
    let dataset = Dataset::open_with(url, &OpenOptions::default(), session).unwrap();
    let all = Selection::new(vec![AxisSelection::Slice { start: 0, count: 2, stride: 1 }]);
    dataset.variable(name).unwrap().read_selection::<i32>(&all).unwrap().into_iter().collect()
}

#[test]
fn data_of_named_variables_are_copied_with_all_definitions() {
    const FILL: i32 = -2_147_483_647;
    let session = Session::new().unwrap();
    let source = dataset("data-of.nc", &session);
    let options = CopyOptions::new().data_of(["b".to_owned()]);
    let target = "memory://nccopy/data-of-copy.nc";
    copy(&source, target, &options, &session).unwrap();
    assert_eq!((values(target, "a", &session), values(target, "b", &session)), (vec![FILL; 2], vec![7, 8]));
    let unknown = CopyOptions::new().data_of(["nope".to_owned()]);
    assert!(copy(&source, "memory://nccopy/not-there.nc", &unknown, &session).is_err());
}

#[test]
fn netcdf3_with_compression_becomes_netcdf4_of_the_classic_model() {
    let session = Session::new().unwrap();
    let source = dataset("kinds.nc", &session);
    let kind = |name: &str, options: NccopyOptions| {
        let target = format!("memory://nccopy/{name}");
        nccopy(&source, &target, &options, &session).unwrap();
        Dataset::open_with(&target, &OpenOptions::default(), &session).unwrap().kind().to_string()
    };
    assert_eq!(kind("1.nc", NccopyOptions::new()), "classic");
    assert_eq!(kind("2.nc", NccopyOptions::new().deflate(1)), "netCDF-4 classic model");
    assert_eq!(kind("3.nc", NccopyOptions::new().deflate(0)), "classic");
    assert_eq!(kind("4.nc", NccopyOptions::new().filters(texts(&["a,1,5"]))), "netCDF-4");
    assert_eq!(kind("5.nc", NccopyOptions::new().deflate(1).kind(Kind::Nc5)), "cdf5");
}
