//! Small fields in files.
use crate::support::session;
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Session, Values, Variable,
};
use ncirrus_tools::aggregate::{Convention, MasterOptions};
use std::ops::Range;
use std::path::{Path, PathBuf};

pub(crate) const CONVENTIONS: [Convention; 4] =
    [Convention::Cf113, Convention::Cfa06, Convention::Cfa05, Convention::Cfa04];
pub(crate) const KINDS: [Kind; 4] = [Kind::Nc3, Kind::Nc5, Kind::Nc4, Kind::NcZarr];

/// A temporary folder and a session.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    pub(crate) session: Session,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), session: session() }
    }

    pub(crate) fn path(&self, name: &str) -> String {
        let path: PathBuf = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn open(&self, url: &str) -> Dataset {
        Dataset::open_with(url, &OpenOptions::default(), &self.session).unwrap()
    }

    pub(crate) fn open_raw(&self, url: &str) -> Dataset {
        let raw = OpenOptions::new().raw(true);
        Dataset::open_with(url, &raw, &self.session).unwrap()
    }

    pub(crate) fn numbers(&self, url: &str, variable: &str) -> Vec<f64> {
        self.open(url).variable(variable).unwrap().read().unwrap().into_vec()
    }

    pub(crate) fn is_absent(&self, url: &str) -> bool {
        !Path::new(url).exists()
    }

    /// A file with some days of a field; its values are their own positions in the whole field.
    pub(crate) fn field(&self, name: &str, days: Range<u32>) -> String {
        self.changed_field(name, days, |_| {})
    }

    /// The same, with a change before the file is closed.
    pub(crate) fn changed_field(
        &self,
        name: &str,
        days: Range<u32>,
        change: impl FnOnce(&Dataset),
    ) -> String {
        let url = self.path(name);
        let create = CreateOptions::new().kind(Kind::Nc4);
        let dataset = Dataset::create_with(&url, &create, &self.session).unwrap();
        define(&dataset, &days);
        change(&dataset);
        dataset.close().unwrap();
        url
    }

    /// A member of an ensemble: two days, with 100 added for each number, which is a scalar coordinate.
    pub(crate) fn member(&self, number: u32) -> String {
        self.changed_field(&format!("r{number}.nc"), 0..2, |dataset| {
            let member = dataset.root().add_variable("member", Atomic::Int, &[]).unwrap();
            member.write_all(&[number]).unwrap();
            let tas = dataset.variable("tas").unwrap();
            text(&tas, "coordinates", "height member");
            let values: Vec<f64> =
                doubles(&(0..2)).iter().map(|value| value + f64::from(number) * 100.0).collect();
            tas.write_all(&values).unwrap();
        })
    }
}

pub(crate) fn master(convention: Convention, kind: Kind) -> MasterOptions {
    MasterOptions::new().convention(convention).kind(kind)
}

pub(crate) fn text(variable: &Variable, name: &str, text: &str) {
    variable.set_attribute(Attribute::text(name, text)).unwrap();
}

fn define(dataset: &Dataset, days: &Range<u32>) {
    let root = dataset.root();
    let count = u64::from(days.end - days.start);
    root.add_dimension("time", DimensionLen::Unlimited(0)).unwrap();
    for (name, len) in [("lat", 3), ("lon", 4), ("bnds", 2)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    root.set_attribute(Attribute::text("Conventions", "CF-1.7")).unwrap();
    root.set_attribute(Attribute::text("institution", "here")).unwrap();
    root.set_attribute(Attribute::text("history", &format!("made from {}", days.start))).unwrap();
    let time = root.add_variable("time", Atomic::Double, &["time"]).unwrap();
    text(&time, "units", "days since 2000-01-01");
    text(&time, "calendar", "standard");
    text(&time, "bounds", "time_bnds");
    let bounds = root.add_variable("time_bnds", Atomic::Double, &["time", "bnds"]).unwrap();
    let [lat, lon] = ["lat", "lon"].map(|name| root.add_variable(name, Atomic::Double, &[name]).unwrap());
    text(&lat, "units", "degrees_north");
    text(&lon, "units", "degrees_east");
    let height = root.add_variable("height", Atomic::Double, &[]).unwrap();
    text(&height, "units", "m");
    let crs = root.add_variable("crs", Atomic::Int, &[]).unwrap();
    text(&crs, "grid_mapping_name", "latitude_longitude");
    let tas = root.add_variable("tas", Atomic::Float, &["time", "lat", "lon"]).unwrap();
    tas.set_fill(Values::Float(vec![-999.0])).unwrap();
    text(&tas, "units", "K");
    text(&tas, "standard_name", "air_temperature");
    text(&tas, "coordinates", "height");
    text(&tas, "grid_mapping", "crs");
    let times: Vec<f64> = days.clone().map(f64::from).collect();
    let edges: Vec<f64> = times.iter().flat_map(|time| [time - 0.5, time + 0.5]).collect();
    let slab = ncirrus::Selection::slab;
    time.write(&slab(&[0], &[count]), &times).unwrap();
    bounds.write(&slab(&[0, 0], &[count, 2]), &edges).unwrap();
    lat.write_all(&[-30.0, 0.0, 30.0]).unwrap();
    lon.write_all(&[0.0, 90.0, 180.0, 270.0]).unwrap();
    height.write_all(&[2.0]).unwrap();
    crs.write_all(&[0]).unwrap();
    tas.write(&slab(&[0, 0, 0], &[count, 3, 4]), &values(days)).unwrap();
}

/// The values of some days of the field.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
pub(crate) fn values(days: &Range<u32>) -> Vec<f32> {
    (days.start * 12..days.end * 12).map(|number| number as f32).collect()
}

pub(crate) fn doubles(days: &Range<u32>) -> Vec<f64> {
    values(days).into_iter().map(f64::from).collect()
}
