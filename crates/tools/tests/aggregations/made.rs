//! Masters and fragments made for tests, with the library's own writer.
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Kind, Selection, Session, Storage, Values,
    Variable,
};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The value of `v` at a step.
pub(crate) fn value(step: u64) -> f64 {
    step as f64 * 1.5
}

/// A master of CF-1.13 and its fragments `f0.nc`, `f1.nc`, ..., each with some steps of `v(time)`.
pub(crate) struct Made {
    pub(crate) folder: PathBuf,
    pub(crate) count: u64,
    pub(crate) steps: u64,
}

pub(crate) fn create(path: &Path, kind: Kind, session: &Session) -> Dataset {
    _ = std::fs::remove_file(path);
    let options = CreateOptions::new().kind(kind);
    Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap()
}

pub(crate) fn texts(list: impl Iterator<Item = String>) -> Values {
    Values::String(list.map(Some).collect())
}

pub(crate) fn set(variable: &Variable, name: &str, text: &str) {
    variable.set_attribute(Attribute::text(name, text)).unwrap();
}

impl Made {
    /// A master and all its fragments.
    pub(crate) fn new(folder: &Path, count: u64, steps: u64, session: &Session) -> Self {
        let made = Self::master_only(folder, count, steps, session);
        (0..count).for_each(|number| made.fragment(number, session));
        made
    }

    /// A master whose fragments do not exist.
    pub(crate) fn master_only(folder: &Path, count: u64, steps: u64, session: &Session) -> Self {
        let made = Self { folder: folder.to_owned(), count, steps };
        made.write_master("m.nca", |number| format!("f{number}.nc"), session);
        made
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join("m.nca")
    }

    pub(crate) fn fragment_path(&self, number: u64) -> PathBuf {
        self.folder.join(format!("f{number}.nc"))
    }

    pub(crate) fn write_master(&self, file: &str, name: impl Fn(u64) -> String, session: &Session) {
        let Self { count, steps, .. } = self;
        let dataset = create(&self.folder.join(file), Kind::Nc4, session);
        let root = dataset.root();
        root.set_attribute(Attribute::text("Conventions", "CF-1.13")).unwrap();
        for (name, len) in [("time", count * steps), ("f_time", *count), ("j", 1)] {
            root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
        }
        let v = root.add_variable("v", Atomic::Double, &[]).unwrap();
        set(&v, "units", "K");
        set(&v, "aggregated_dimensions", "time");
        set(&v, "aggregated_data", "map: fragment_map uris: fragment_uris identifiers: fragment_identifiers");
        let map = root.add_variable("fragment_map", Atomic::Int, &["j", "f_time"]).unwrap();
        map.write_all(&vec![i32::try_from(*steps).unwrap(); usize::try_from(*count).unwrap()]).unwrap();
        let uris = root.add_variable("fragment_uris", Atomic::String, &["f_time"]).unwrap();
        uris.write_values(&Selection::all(&[*count]), &texts((0..*count).map(name))).unwrap();
        let identifiers = root.add_variable("fragment_identifiers", Atomic::String, &[]).unwrap();
        identifiers.write_values(&Selection::all(&[]), &texts(std::iter::once("v".to_owned()))).unwrap();
        dataset.close().unwrap();
    }

    pub(crate) fn fragment(&self, number: u64, session: &Session) {
        let first = number * self.steps;
        let numbers: Vec<f64> = (first..first + self.steps).map(value).collect();
        fragment(&self.fragment_path(number), &numbers, session);
    }

    /// All expected values.
    pub(crate) fn due(&self) -> Vec<f64> {
        (0..self.count * self.steps).map(value).collect()
    }
}

/// A file of `v(time)`.
pub(crate) fn fragment(path: &Path, numbers: &[f64], session: &Session) {
    let dataset = create(path, Kind::Nc3, session);
    let root = dataset.root();
    root.add_dimension("time", DimensionLen::Fixed(numbers.len() as u64)).unwrap();
    let v = root.add_variable("v", Atomic::Double, &["time"]).unwrap();
    set(&v, "units", "K");
    v.write_all(numbers).unwrap();
    dataset.close().unwrap();
}

/// A file of `v(time)` of text.
pub(crate) fn text_fragment(path: &Path, text: &[u8], session: &Session) {
    let dataset = create(path, Kind::Nc3, session);
    let root = dataset.root();
    root.add_dimension("time", DimensionLen::Fixed(text.len() as u64)).unwrap();
    let v = root.add_variable("v", Atomic::Char, &["time"]).unwrap();
    v.write_values(&Selection::all(&[text.len() as u64]), &Values::Char(text.to_vec())).unwrap();
    dataset.close().unwrap();
}

/// A partition of CFA-0.4: where it starts and ends, its shape and the name of its file.
pub(crate) type Partition<'a> = (&'a [[u64; 2]], &'a [u64], &'a str);

/// A master of CFA-0.4 with `v`, and its partitions.
pub(crate) fn master_04(
    path: &Path,
    (ty, dims): (Atomic, &[(&str, u64)]),
    partitions: &[Partition<'_>],
    session: &Session,
) {
    let dataset = create(path, Kind::Nc4, session);
    let root = dataset.root();
    for (name, len) in dims {
        root.add_dimension(name, DimensionLen::Fixed(*len)).unwrap();
    }
    let names: Vec<&str> = dims.iter().map(|(name, _)| *name).collect();
    let partition = |(number, (location, shape, file)): (usize, &Partition<'_>)| {
        let mut index = vec![0; names.len()];
        index[0] = number;
        let subarray = json!({"ncvar": "v", "file": file, "format": "netCDF", "shape": shape});
        json!({"index": index, "location": location, "subarray": subarray})
    };
    let list: Vec<_> = partitions.iter().enumerate().map(partition).collect();
    let mut matrix = vec![1; names.len()];
    matrix[0] = partitions.len();
    let array = json!({"pmshape": matrix, "pmdimensions": &names, "Partitions": list});
    let v = root.add_variable("v", ty, &[]).unwrap();
    for (name, text) in [("cf_role", "cfa_variable"), ("cfa_array", &array.to_string())] {
        set(&v, name, text);
    }
    set(&v, "cfa_dimensions", &names.join(" "));
    dataset.close().unwrap();
}

/// A master that claims `count` fragments, none of which it names.
pub(crate) fn claims(path: &Path, count: u64, session: &Session) {
    let dataset = create(path, Kind::Nc4, session);
    let root = dataset.root();
    root.set_attribute(Attribute::text("Conventions", "CF-1.13")).unwrap();
    for (name, len) in [("time", count), ("f_time", count), ("j", 1)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let v = root.add_variable("v", Atomic::Double, &[]).unwrap();
    set(&v, "aggregated_dimensions", "time");
    set(&v, "aggregated_data", "map: fragment_map uris: fragment_uris identifiers: fragment_identifiers");
    root.add_variable("fragment_map", Atomic::Int, &["j", "f_time"])
        .unwrap()
        .set_storage(Storage::Chunked(vec![1, 1 << 20]), Vec::new())
        .unwrap();
    root.add_variable("fragment_uris", Atomic::String, &["f_time"])
        .unwrap()
        .set_storage(Storage::Chunked(vec![1 << 20]), Vec::new())
        .unwrap();
    root.add_variable("fragment_identifiers", Atomic::String, &[]).unwrap();
    dataset.close().unwrap();
}
