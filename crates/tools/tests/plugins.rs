//! Datasets whose chunks need filters of plugins.
#![cfg(all(unix, feature = "plugins"))]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use crate::support::{json, temp};
use ncirrus::{
    Atomic, CodecSpec, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, OpenOptions, PluginOptions,
    Session, Storage,
};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_testkit::library::shared_library;
use ncirrus_tools::CopyOptions;
use ncirrus_tools::cdl::{DataChoice, PrintOptions};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// A directory with a filter that has a codec ("mixing") and one that has none (40002).
fn plugins() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT.get_or_init(build).as_deref()
}

fn build() -> Option<PathBuf> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("dataset-plugins");
    std::fs::create_dir_all(&directory).unwrap();
    for source in ["both", "growing"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../codec/tests/plugins/{source}.c"));
        shared_library(&from, &directory.join(format!("lib{source}.so")))?;
    }
    Some(directory)
}

fn session(options: PluginOptions) -> Session {
    Session::builder().threads(2).durable(false).plugins(options).build().unwrap()
}

fn with(directory: &Path) -> PluginOptions {
    PluginOptions::default().directories([directory])
}

fn v2(text: &str) -> CodecSpec {
    CodecSpec::V2(serde_json::from_str(text).unwrap())
}

fn create(path: &Path, kind: Kind, filters: Vec<CodecSpec>, session: &Session) -> ncirrus::Result<()> {
    let options = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, session)?;
    dataset.root().add_dimension("x", DimensionLen::Fixed(20))?;
    let variable = dataset.root().add_variable("v", Atomic::Int, &["x"])?;
    variable.set_storage(Storage::Chunked(vec![10]), filters)?;
    variable.write_all(&(0..20).collect::<Vec<i32>>())?;
    dataset.close()
}

fn read(path: &Path, session: &Session) -> ncirrus::Result<Vec<i32>> {
    let dataset = Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), session)?;
    Ok(dataset.variable("v")?.read()?.into_vec())
}

fn run(python: &Path, script: &str, arguments: &[&str], plugins: &Path) -> Value {
    let mut command = Command::new(python);
    command.arg("-c").arg(script).args(arguments).env("HDF5_PLUGIN_PATH", plugins);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn arrays_of_all_versions_are_written_and_read_through_a_plugin() {
    let Some(plugins) = plugins() else { return };
    let ((_folder, temp), session) = (temp(), session(with(plugins)));
    let filters = || vec![v2(r#"{"id":"mixing","key":5}"#), v2(r#"{"id":"zstd","level":3}"#)];
    for kind in [Kind::Zarr2, Kind::Zarr3, Kind::NcZarr] {
        let path = temp.join(format!("{kind:?}.zarr"));
        create(&path, kind, filters(), &session).unwrap();
        assert_eq!(read(&path, &session).unwrap(), (0..20).collect::<Vec<i32>>());
    }
    let metadata = json(&temp.join("Zarr2.zarr/v/.zarray"));
    assert_eq!(metadata["filters"], serde_json::json!([{"id": "mixing", "key": 5}]));
    let metadata = json(&temp.join("Zarr3.zarr/v/zarr.json"));
    let mixing = serde_json::json!({"name": "mixing", "configuration": {"key": 5}});
    assert!(metadata["codecs"].as_array().unwrap().contains(&mixing), "{metadata}");
}

#[test]
fn netcdf_reads_what_was_written_through_the_same_plugin() {
    let (Some(plugins), Some(python)) = (plugins(), peers_python()) else { return };
    let ((_folder, temp), session) = (temp(), session(with(plugins)));
    let path = temp.join("a.zarr");
    let filters = vec![v2(r#"{"id":"mixing","key":5}"#)];
    create(&path, Kind::NcZarr, filters, &session).unwrap();
    let script = "import json, netCDF4, sys\nd = netCDF4.Dataset(sys.argv[1])\nprint(json.dumps(d['v'][...].tolist()))";
    let url = format!("file://{}#mode=nczarr,file", path.display());
    let theirs = run(&python, script, &[&url], plugins);
    assert_eq!(theirs, serde_json::json!((0..20).collect::<Vec<i32>>()));
}

#[test]
fn without_its_plugin_a_variable_cannot_be_read_or_written_and_the_rest_can() {
    let Some(plugins) = plugins() else { return };
    let (_folder, temp) = temp();
    let (with, without) = (session(with(plugins)), session(PluginOptions::default().directories(NOWHERE)));
    let path = temp.join("a.zarr");
    create(&path, Kind::Zarr2, vec![v2(r#"{"id":"mixing","key":5}"#)], &with).unwrap();
    let error = read(&path, &without).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("mixing"), "{error}");
    let dataset = Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), &without).unwrap();
    assert_eq!(dataset.variable("v").unwrap().shape(), [20]);
    let error = create(&temp.join("b.zarr"), Kind::Zarr2, vec![CodecSpec::hdf5(40001, &[16])], &without);
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
}

const NOWHERE: [&str; 0] = [];

/// As Debian's `ncdump` prints it on the C library.
#[test]
fn dumps_show_filters_of_plugins_in_the_whole_chain() {
    let Some(plugins) = plugins() else { return };
    let ((_folder, temp), session) = (temp(), session(with(plugins)));
    let path = temp.join("a.zarr");
    let filters = [r#"{"id":"mixing","key":5}"#, r#"{"id":"zstd","level":4}"#, r#"{"id":"zlib","level":3}"#];
    create(&path, Kind::NcZarr, filters.map(v2).to_vec(), &session).unwrap();
    let dataset = Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    let shown = |all: bool| {
        let mut text = Vec::new();
        let options = PrintOptions::new().data(DataChoice::HeaderOnly).special(true).all_filters(all);
        ncirrus_tools::dump(&dataset, &mut text, &options).unwrap();
        String::from_utf8(text).unwrap()
    };
    let (known, all) = (shown(false), shown(true));
    assert!(known.contains("v:_Filter = \"40001,16|32015,4\""), "{known}");
    assert!(known.contains("v:_DeflateLevel = 3"), "{known}");
    assert!(all.contains("v:_Filter = \"40001,16|32015,4|1,3\"") && !all.contains("_DeflateLevel"), "{all}");
}

#[test]
fn filters_given_in_the_words_of_hdf5_get_the_name_of_their_codec() {
    let Some(plugins) = plugins() else { return };
    let (_folder, temp) = temp();
    let plain = session(with(plugins));
    let path = temp.join("a.zarr");
    create(&path, Kind::Zarr2, vec![CodecSpec::hdf5(40001, &[16])], &plain).unwrap();
    assert_eq!(json(&path.join("v/.zarray"))["compressor"]["key"], 5);
    // A filter without a codec name cannot be stored until it is declared.
    let grow = || vec![CodecSpec::hdf5(40002, &[3])];
    let error = create(&temp.join("b.zarr"), Kind::Zarr2, grow(), &plain).unwrap_err();
    assert!(error.to_string().contains("40002"), "{error}");
    let declared = r#"{"hdf5":40002,"codec":"repeat","parameters":["times"]}"#;
    let declaring = session(with(plugins).declare(declared).unwrap());
    let path = temp.join("c.zarr");
    create(&path, Kind::Zarr2, grow(), &declaring).unwrap();
    assert_eq!(json(&path.join("v/.zarray"))["compressor"], serde_json::json!({"id": "repeat", "times": 3}));
    assert_eq!(std::fs::metadata(path.join("v/0")).unwrap().len(), 120);
    assert_eq!(read(&path, &declaring).unwrap(), (0..20).collect::<Vec<i32>>());
}

const MAKE: &str = "
import json, sys, h5py, hdf5plugin, numpy as np
a = np.add.outer(np.sin(np.arange(40) / 7), np.cos(np.arange(64) / 9)).astype('<f4')
filters = {'sz': hdf5plugin.SZ(absolute=1e-3), 'sz3': hdf5plugin.SZ3(absolute=1e-3), 'sperr': hdf5plugin.Sperr(absolute=1e-3)}
with h5py.File(sys.argv[1], 'w') as f:
    for name, options in filters.items():
        f.create_dataset(name, data=a, chunks=(20, 32), compression=options)
    f.create_dataset('fcidecomp', data=(a * 100 + 300).astype('<u2'), chunks=(20, 32), compression=hdf5plugin.FciDecomp())
with h5py.File(sys.argv[1]) as f:
    values = {name: f[name][...].astype('f8').ravel().tolist() for name in f}
print(json.dumps({'plugins': hdf5plugin.PLUGINS_PATH, 'values': values}))
";

#[test]
fn files_of_h5py_with_filters_of_plugins_are_read_and_copied() {
    let (Some(plugins), Some(python)) = (plugins(), peers_python()) else { return };
    let (_folder, temp) = temp();
    let path = temp.join("a.h5");
    let theirs = run(&python, MAKE, &[path.to_str().unwrap()], plugins);
    let directory = Path::new(theirs["plugins"].as_str().unwrap());
    let session = session(with(directory));
    let open = |path: &Path| Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), &session);
    let dataset = open(&path).unwrap();
    let same = |dataset: &Dataset, name: &str, values: &Value| {
        let ours = dataset.variable(name).unwrap().read::<f64>().unwrap();
        let values: Vec<f64> =
            values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
        assert_eq!(ours, values, "{name}");
    };
    let values = theirs["values"].as_object().unwrap();
    assert_eq!(values.len(), 4);
    values.iter().for_each(|(name, values)| same(&dataset, name, values));

    let target = temp.join("copy.zarr");
    let create = || CreateOptions::new().kind(Kind::Zarr2);
    let options = CopyOptions::new().create(create());
    let copied = ncirrus_tools::copy(&dataset, target.to_str().unwrap(), &options, &session);
    let losses = copied.unwrap().losses;
    assert!(losses.iter().any(|loss| loss.contains("without filter 32018")), "{losses:?}");
    values.iter().for_each(|(name, values)| same(&open(&target).unwrap(), name, values));
    let target = temp.join("dropped.zarr");
    let options = CopyOptions::new().create(create()).drop_filters(true);
    ncirrus_tools::copy(&dataset, target.to_str().unwrap(), &options, &session).unwrap();
    let copy = open(&target).unwrap();
    assert!(copy.variable("sz").unwrap().filters().is_empty());
    values.iter().for_each(|(name, values)| same(&copy, name, values));

    // With codec names, the filters are kept.
    let names = with(directory).declare(r#"{"hdf5":32018,"codec":"fcidecomp","complete":true}"#).unwrap();
    let session = Session::builder().plugins(names).durable(false).build().unwrap();
    let target = temp.join("named.zarr");
    let variables = vec!["fcidecomp".to_owned()];
    let options = CopyOptions::new().create(create()).variables(variables);
    ncirrus_tools::copy(&dataset, target.to_str().unwrap(), &options, &session).unwrap();
    assert_eq!(json(&target.join("fcidecomp/.zarray"))["compressor"]["id"], "fcidecomp");
    let copy = Dataset::open_with(target.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    same(&copy, "fcidecomp", &values["fcidecomp"]);
}
