use super::{AppendOptions, AppendReport, append};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, OpenOptions, Result, Selection,
    Session, Values,
};

const KINDS: [Kind; 8] =
    [Kind::Nc3, Kind::Nc6, Kind::Nc5, Kind::Nc4, Kind::Nc4Classic, Kind::NcZarr, Kind::Zarr2, Kind::Zarr3];

/// A dataset of temperatures on two levels.
#[derive(Clone)]
struct Made {
    kind: Kind,
    units: &'static str,
    times: Values,
    levels: [f64; 2],
    scale: f64,
    /// One per time and level.
    packed: Vec<i16>,
    mask: f32,
}

impl Made {
    fn new(times: &[f64], first: i16) -> Self {
        let count = i16::try_from(times.len() * 2).unwrap();
        Self {
            kind: Kind::Nc4,
            units: "hours since 2000-01-01",
            times: Values::Double(times.to_vec()),
            levels: [1000.0, 500.0],
            scale: 0.5,
            packed: (first..first + count).collect(),
            mask: 1.0,
        }
    }

    fn kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    fn at(&self, url: &str, session: &Session) -> String {
        let options = CreateOptions::new().kind(self.kind).overwrite(true);
        let dataset = Dataset::create_with(url, &options, session).unwrap();
        let is_plain = matches!(self.kind, Kind::Zarr2 | Kind::Zarr3);
        let count = self.times.len() as u64;
        let len = if is_plain { DimensionLen::Fixed(count) } else { DimensionLen::Unlimited(0) };
        let ty = self.times.atomic().unwrap();
        dataset
            .edit(|model| {
                let time = model.add_dimension(model.root(), "time", len)?;
                let level = model.add_dimension(model.root(), "level", DimensionLen::Fixed(2))?;
                model.add_variable(model.root(), "time", ty.into(), &[time])?;
                model.add_variable(model.root(), "level", Atomic::Double.into(), &[level])?;
                model.add_variable(model.root(), "t", Atomic::Short.into(), &[time, level])?;
                model.add_variable(model.root(), "mask", Atomic::Float.into(), &[level])?;
                Ok(())
            })
            .unwrap();
        let variable = |name: &str| dataset.variable(name).unwrap();
        variable("time").set_attribute(Attribute::text("units", self.units)).unwrap();
        let scale = Attribute::atomic("scale_factor", Values::Double(vec![self.scale]));
        variable("t").set_attribute(scale).unwrap();
        variable("level").write_all(&self.levels).unwrap();
        variable("mask").write_all(&[self.mask; 2]).unwrap();
        variable("time").write_values(&Selection::slab(&[0], &[count]), &self.times).unwrap();
        variable("t").write(&Selection::slab(&[0, 0], &[count, 2]), &self.packed).unwrap();
        dataset.close().unwrap();
        url.to_owned()
    }
}

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

/// Appends the second to the first.
fn appended(target: &Made, source: &Made, options: &AppendOptions<'_>) -> (Result<AppendReport>, Dataset) {
    let session = session();
    let target = target.at("memory://append/a", &session);
    let source = source.at("memory://append/b", &session);
    let report = append(&target, &[source], options, &session);
    (report, Dataset::open_with(&target, &OpenOptions::new(), &session).unwrap())
}

fn numbers(dataset: &Dataset, name: &str) -> Vec<f64> {
    dataset.variable(name).unwrap().read::<f64>().unwrap().to_vec()
}

/// The message of a refused append; the target is as it was.
fn refused(target: &Made, source: &Made, options: &AppendOptions<'_>) -> String {
    let (report, dataset) = appended(target, source, options);
    assert_eq!(numbers(&dataset, "time").len(), target.times.len());
    let error = report.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    error.to_string()
}

#[test]
fn every_kind_grows_by_sources_of_every_kind() {
    for (number, kind) in KINDS.into_iter().enumerate() {
        let other = KINDS[(number + 3) % KINDS.len()];
        let (target, source) =
            (Made::new(&[0.0, 6.0], 0).kind(kind), Made::new(&[12.0, 18.0, 24.0], 4).kind(other));
        let (report, dataset) = appended(&target, &source, &AppendOptions::new());
        let report = report.unwrap_or_else(|error| panic!("{kind:?} {other:?}: {error}"));
        assert_eq!((report.old_len, report.new_len), (2, 5), "{kind:?}");
        assert_eq!(numbers(&dataset, "time"), [0.0, 6.0, 12.0, 18.0, 24.0], "{kind:?}");
        assert_eq!(numbers(&dataset, "t"), (0..10).map(f64::from).collect::<Vec<_>>(), "{kind:?}");
    }
}

#[test]
fn times_that_the_target_cannot_store_exactly_are_refused() {
    let mut target = Made::new(&[0.0], 0);
    (target.units, target.times) = ("days since 2000-01-01", Values::Int(vec![0]));
    let message = refused(&target, &Made::new(&[6.0, 12.0], 2), &AppendOptions::new());
    assert!(message.contains("/time: 6 cannot be stored exactly as int"), "{message}");
    target.times = Values::Double(vec![0.0]);
    let (report, dataset) = appended(&target, &Made::new(&[6.0, 12.0], 2), &AppendOptions::new());
    assert_eq!(report.unwrap().new_len, 3);
    assert_eq!(numbers(&dataset, "time"), [0.0, 0.25, 0.5]);
}

#[test]
fn times_since_another_date_are_converted() {
    let mut source = Made::new(&[1.0, 2.0], 4);
    source.units = "days since 2000-01-02";
    let (report, dataset) = appended(&Made::new(&[0.0, 24.0], 0), &source, &AppendOptions::new());
    assert_eq!(report.unwrap().new_len, 4);
    assert_eq!(numbers(&dataset, "time"), [0.0, 24.0, 48.0, 72.0]);
}

#[test]
fn levels_in_another_order_are_refused_or_reordered_with_their_data() {
    let mut source = Made::new(&[12.0], 4);
    source.levels = [500.0, 1000.0];
    let target = Made::new(&[0.0, 6.0], 0);
    let message = refused(&target, &source, &AppendOptions::new());
    assert!(message.contains("/level is in another order"), "{message}");
    let (report, dataset) = appended(&target, &source, &AppendOptions::new().reorder(true));
    report.unwrap();
    assert_eq!(numbers(&dataset, "t"), [0.0, 1.0, 2.0, 3.0, 5.0, 4.0]);
}

#[test]
fn packed_values_are_repacked_or_refused() {
    let mut source = Made::new(&[12.0], 4);
    source.scale = 1.0;
    let target = Made::new(&[0.0, 6.0], 0);
    let (report, dataset) = appended(&target, &source, &AppendOptions::new());
    report.unwrap();
    assert_eq!(numbers(&dataset, "t"), [0.0, 1.0, 2.0, 3.0, 8.0, 10.0]);
    source.packed = vec![20_000, 1];
    assert!(refused(&target, &source, &AppendOptions::new()).contains("/t: "));
    (source.packed, source.scale) = (vec![1, 2], 0.1);
    let message = refused(&target, &source, &AppendOptions::new());
    assert!(message.contains("/t: 0.1 cannot be stored exactly"), "{message}");
}

#[test]
fn records_given_twice_are_refused_or_skipped() {
    let target = Made::new(&[0.0, 6.0], 0);
    let message = refused(&target, &Made::new(&[6.0, 12.0], 2), &AppendOptions::new());
    assert!(
        message.contains("/time does not continue: [0] is 6, which follows 6, and exists already"),
        "{message}"
    );
    let skipping = AppendOptions::new().skip_existing(true);
    let (report, dataset) = appended(&target, &Made::new(&[6.0, 12.0], 2), &skipping);
    assert_eq!(report.unwrap().skipped, 1);
    assert_eq!(numbers(&dataset, "t"), (0..6).map(f64::from).collect::<Vec<_>>());
    let session = session();
    let (target, source) =
        (target.at("memory://append/a", &session), Made::new(&[12.0], 4).at("memory://append/b", &session));
    let twice = [source.clone(), source];
    assert_eq!(
        append(&target, &twice, &AppendOptions::new(), &session).unwrap_err().kind(),
        ErrorKind::Conflict
    );
    assert_eq!(append(&target, &twice, &skipping, &session).unwrap().new_len, 3);
    assert_eq!(append(&target, &twice, &skipping, &session).unwrap().new_len, 3);
}

#[test]
fn all_that_does_not_fit_is_reported_at_once_and_a_dry_run_writes_nothing() {
    let mut source = Made::new(&[3.0], 4);
    (source.levels, source.mask) = ([1000.0, 700.0], 2.0);
    let target = Made::new(&[0.0, 6.0], 0);
    let (report, dataset) = appended(&target, &source, &AppendOptions::new().dry_run(true));
    let findings = report.unwrap().findings.join("\n");
    for part in
        ["/level differs: [1] is 700, the target's 500", "/mask has no records", "/time does not continue"]
    {
        assert!(findings.contains(part), "{part}: {findings}");
    }
    assert_eq!(numbers(&dataset, "time"), [0.0, 6.0]);
    let mut source = Made::new(&[12.0], 4);
    source.mask = 2.0;
    let (report, dataset) = appended(&target, &source, &AppendOptions::new().keep(true));
    assert_eq!(report.unwrap().new_len, 3);
    assert_eq!(numbers(&dataset, "mask"), [1.0, 1.0]);
}

#[test]
fn a_falling_axis_goes_on_falling() {
    let target = Made::new(&[6.0, 0.0], 0);
    assert!(refused(&target, &Made::new(&[12.0], 4), &AppendOptions::new()).contains("on a falling axis"));
    let (report, dataset) = appended(&target, &Made::new(&[-6.0], 4), &AppendOptions::new());
    report.unwrap();
    assert_eq!(numbers(&dataset, "time"), [6.0, 0.0, -6.0]);
}

#[test]
fn the_target_is_no_source_of_its_own() {
    let session = session();
    let target = Made::new(&[0.0], 0).at("memory://append/a", &session);
    let error = append(&target, std::slice::from_ref(&target), &AppendOptions::new(), &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
}

#[test]
fn coordinates_that_are_equal_as_doubles_differ() {
    let session = session();
    let made = |url: &str, time: u32, station: &str, id: &str| {
        let text = format!(
            "netcdf t {{ dimensions: time = UNLIMITED; station = 1; id = 2; variables: double time(time); \
             string station(station); int64 id(id); float v(time, station, id); \
             data: time = {time}; station = \"{station}\"; id = 1, {id}; v = 1, 2; }}"
        );
        crate::generate(&text.as_bytes(), url, &crate::GenerateOptions::new(), &session).unwrap();
        url.to_owned()
    };
    let target = made("memory://append/t.nc4", 0, "a", "9007199254740992");
    let tried = |source: String| {
        append(&target, &[source], &AppendOptions::new().dry_run(true), &session).unwrap().findings.join("\n")
    };
    let station = tried(made("memory://append/s.nc4", 1, "b", "9007199254740992"));
    assert!(station.contains("/station differs"), "{station}");
    let id = tried(made("memory://append/i.nc4", 1, "a", "9007199254740993"));
    assert!(id.contains("/id differs"), "{id}");
    assert_eq!(tried(made("memory://append/o.nc4", 1, "a", "9007199254740992")), "");
}

/// Times of 64 bits with bounds, and a series in a group along them.
struct Bounded {
    units: &'static str,
    calendar: &'static str,
    times: Vec<i64>,
    half: i64,
}

impl Bounded {
    fn at(&self, url: &str, session: &Session) -> String {
        let options = CreateOptions::new().kind(Kind::Nc4).overwrite(true);
        let dataset = Dataset::create_with(url, &options, session).unwrap();
        dataset
            .edit(|model| {
                let root = model.root();
                let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
                let ends = model.add_dimension(root, "nv", DimensionLen::Fixed(2))?;
                model.add_variable(root, "time", Atomic::Int64.into(), &[time])?;
                model.add_variable(root, "time_bnds", Atomic::Int64.into(), &[time, ends])?;
                let group = model.add_group(root, "station")?;
                model.add_variable(group, "v", Atomic::Int.into(), &[time])?;
                Ok(())
            })
            .unwrap();
        let variable = |name: &str| dataset.variable(name).unwrap();
        for (name, text) in [("units", self.units), ("calendar", self.calendar), ("bounds", "time_bnds")] {
            variable("time").set_attribute(Attribute::text(name, text)).unwrap();
        }
        let bounds: Vec<i64> = self.times.iter().flat_map(|at| [at - self.half, at + self.half]).collect();
        let numbers: Vec<i32> = (0..i32::try_from(self.times.len()).unwrap()).collect();
        let count = self.times.len() as u64;
        variable("time").write(&Selection::slab(&[0], &[count]), &self.times).unwrap();
        variable("time_bnds").write(&Selection::slab(&[0, 0], &[count, 2]), &bounds).unwrap();
        variable("station/v").write(&Selection::slab(&[0], &[count]), &numbers).unwrap();
        dataset.close().unwrap();
        url.to_owned()
    }

    /// Times, bounds and series after appending another one; or why it is refused.
    fn after(&self, other: &Self) -> std::result::Result<[Vec<i64>; 3], String> {
        let session = session();
        let target = self.at("memory://append/bounded", &session);
        let source = other.at("memory://append/other", &session);
        append(&target, &[source], &AppendOptions::new(), &session).map_err(|error| error.to_string())?;
        let dataset = Dataset::open_with(&target, &OpenOptions::new(), &session).unwrap();
        let of = |name: &str| dataset.variable(name).unwrap().read::<i64>().unwrap().to_vec();
        Ok([of("time"), of("time_bnds"), of("station/v")])
    }
}

#[test]
fn bounds_are_converted_with_their_times_and_groups_grow_with_them() {
    let target =
        Bounded { units: "hours since 2000-01-01", calendar: "standard", times: vec![0, 6], half: 3 };
    let units = "minutes since 2000-01-01 12:00";
    let source = Bounded { units, calendar: "gregorian", times: vec![0, 360], half: 180 };
    let [times, bounds, series] = target.after(&source).unwrap();
    assert_eq!(times, [0, 6, 12, 18]);
    assert_eq!(bounds, [-3, 3, 3, 9, 9, 15, 15, 21]);
    assert_eq!(series, [0, 1, 0, 1]);
}

#[test]
fn times_of_64_bits_beyond_what_doubles_distinguish_stay_as_they_are_or_are_refused() {
    let units = "nanoseconds since 1970-01-01";
    let target = Bounded { units, calendar: "standard", times: vec![1], half: 1 };
    let late = 9_007_199_254_740_993;
    let source =
        Bounded { units, calendar: "standard", times: vec![late, late + 4096, i64::MAX - 4097], half: 1 };
    let [times, bounds, _] = target.after(&source).unwrap();
    assert_eq!(times, [1, late, late + 4096, i64::MAX - 4097]);
    assert_eq!(bounds[2..6], [late - 1, late + 1, late + 4095, late + 4097]);
    // In other units, too, if both are whole numbers of nanoseconds.
    let micros = "microseconds since 1970-01-01";
    let other = Bounded { units: micros, calendar: "standard", times: vec![late], half: 0 };
    assert_eq!(target.after(&other).unwrap()[0], [1, late * 1000]);
    let target = Bounded { units: micros, calendar: "standard", times: vec![1], half: 0 };
    let refused = target.after(&Bounded { half: 0, ..source }).unwrap_err();
    assert!(refused.contains("/time: 9007199254740993 cannot be stored exactly as int64"), "{refused}");
}

#[test]
fn times_of_64_bits_in_other_units_keep_all_their_digits() {
    let of = |units, times: &[i64]| Bounded { units, calendar: "standard", times: times.to_vec(), half: 0 };
    let ns = "nanoseconds since 1970-01-01";
    for (units, given, stored) in [
        ("seconds since 1970-01-01", 1_704_153_601, 1_704_153_601_000_000_000),
        ("nanoseconds since 2024-01-02", 1, 1_704_153_600_000_000_001),
        ("microseconds since 1970-01-01", 1_704_153_600_000_001, 1_704_153_600_000_001_000),
        ("days since 2000-01-01", 8767, 1_704_153_600_000_000_000),
    ] {
        assert_eq!(of(ns, &[0]).after(&of(units, &[given])).unwrap()[0], [0, stored], "{units}");
        let back = of(units, &[0]).after(&of(ns, &[stored]));
        assert_eq!(back.unwrap()[0], [0, given], "back to {units}");
    }
    for units in ["seconds since 1970-01-01", "microseconds since 1970-01-01", "days since 2000-01-01"] {
        let refused = of(units, &[0]).after(&of(ns, &[1_704_153_600_000_000_001])).unwrap_err();
        assert!(refused.contains("cannot be stored exactly"), "{units}: {refused}");
    }
    let refused = of(ns, &[0]).after(&of("days since 1970-01-01", &[200_000])).unwrap_err();
    assert!(refused.contains("has no place in the type int64"), "{refused}");
    // One nanosecond apart on a growing axis.
    let times = [1_704_153_600_000_000_000, 1_704_153_600_000_000_001, 1_704_153_600_000_000_002];
    assert_eq!(of(ns, &times[..1]).after(&of(ns, &times[1..])).unwrap()[0], times);
}

#[test]
fn times_of_another_calendar_are_refused_and_those_of_the_same_one_count_by_it() {
    let target = Bounded { units: "days since 2000-01-01", calendar: "360_day", times: vec![0], half: 0 };
    let units = "days since 2001-01-01";
    let same = Bounded { units, calendar: "360_day", times: vec![0, 30], half: 0 };
    assert_eq!(target.after(&same).unwrap()[0], [0, 360, 390]);
    let other = Bounded { units, calendar: "standard", times: vec![0], half: 0 };
    let refused = target.after(&other).unwrap_err();
    assert!(refused.contains("360_day") && refused.contains("standard"), "{refused}");
}
