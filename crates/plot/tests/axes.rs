//! Which axes a picture has.
use crate::made::{dataset, figure, plan, variable};
use ncirrus::{Dataset, ErrorKind};
use ncirrus_plot::{AxisKind, Cells, FieldPanel, LinePanel, Panel, PlotOptions};

const LON: &[(&str, &str)] = &[("units", "degrees_east")];
const LAT: &[(&str, &str)] = &[("units", "degrees_north")];
const TIME: &[(&str, &str)] = &[("units", "days since 2000-01-01")];

fn range(len: u32, first: f64, step: f64) -> impl Iterator<Item = f64> {
    (0..len).map(move |at| first + f64::from(at) * step)
}

fn field(dataset: &Dataset, select: &str) -> FieldPanel {
    match figure(dataset, &[select]).panel {
        Panel::Field(field) => field,
        Panel::Lines(lines) => panic!("{lines:?}"),
    }
}

fn lines(dataset: &Dataset, selects: &[&str]) -> LinePanel {
    match figure(dataset, selects).panel {
        Panel::Lines(lines) => lines,
        Panel::Field(field) => panic!("{field:?}"),
    }
}

/// Two times of a globe, with longitudes from 0 to 360 and descending latitudes.
fn globe(name: &str) -> Dataset {
    dataset(
        name,
        &[("time", 2), ("lat", 3), ("lon", 4)],
        &[
            variable("time", &["time"], TIME, [0.0, 31.0]),
            variable("lat", &["lat"], LAT, [60.0, 0.0, -60.0]),
            variable("lon", &["lon"], LON, range(4, 0.0, 90.0)),
            variable(
                "t",
                &["time", "lat", "lon"],
                &[("units", "K"), ("long_name", "temperature")],
                range(24, 1.0, 1.0),
            ),
        ],
    )
}

#[test]
fn longitude_and_latitude_are_a_map_of_the_first_time() {
    let dataset = globe("globe");
    let plan = plan(&dataset, &["t"], &PlotOptions::default()).unwrap();
    assert_eq!(
        plan.notes(),
        ["t: index 0 of time (2000-01-01) is drawn, of 2; select another one: 't[N,:,:]'"]
    );
    let figure = plan.read(&mut |_, _| {}).unwrap();
    assert_eq!(
        (figure.title.as_str(), figure.subtitle.as_str()),
        ("t: temperature [K]", "time = 2000-01-01")
    );
    let field = field(&dataset, "t");
    assert!(field.is_map);
    assert_eq!((field.x.start, field.x.end, field.y.start, field.y.end), (-45.0, 315.0, -90.0, 90.0));
    assert_eq!(field.values[..4], [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(
        field.cells,
        Cells::Rectilinear { x: vec![-45.0, 45.0, 135.0, 225.0, 315.0], y: vec![90.0, 30.0, -30.0, -90.0] }
    );
    assert_eq!(field.label, "K");
}

#[test]
fn another_time_can_be_selected() {
    let dataset = globe("another");
    let plan = plan(&dataset, &["t[1,:,:]"], &PlotOptions::default()).unwrap();
    assert!(plan.notes().is_empty());
    assert_eq!(plan.read(&mut |_, _| {}).unwrap().subtitle, "time = 2000-02-01");
}

#[test]
fn axes_in_another_order_are_the_same_map() {
    let turned = dataset(
        "turned",
        &[("lon", 3), ("lat", 2)],
        &[
            variable("lon", &["lon"], LON, [170.0, 180.0, -170.0]),
            variable("lat", &["lat"], LAT, [10.0, 20.0]),
            variable("t", &["lon", "lat"], &[], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        ],
    );
    let field = field(&turned, "t");
    assert!(field.is_map);
    // The date line is inside.
    assert_eq!((field.x.start, field.x.end), (165.0, 195.0));
    assert_eq!(field.values, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
}

#[test]
fn times_and_depths_are_an_image_that_points_down() {
    let section = dataset(
        "section",
        &[("time", 2), ("depth", 3)],
        &[
            variable("time", &["time"], TIME, [0.0, 1.0]),
            variable("depth", &["depth"], &[("units", "m"), ("positive", "down")], [0.0, 10.0, 20.0]),
            variable("t", &["time", "depth"], &[], [1.0, 2.0, 3.0, 4.0, 5.0, -9999.0]),
        ],
    );
    let field = field(&section, "t");
    assert!(!field.is_map);
    assert!(matches!(field.x.kind, AxisKind::Time(_)));
    assert_eq!((field.y.start, field.y.end, field.y.label.as_str()), (25.0, -5.0, "depth [m]"));
    assert_eq!(field.values[..5], [1.0, 4.0, 2.0, 5.0, 3.0]);
    assert!(field.values[5].is_nan());
}

#[test]
fn two_dimensional_coordinates_are_a_map_of_quadrilaterals() {
    let at = [("coordinates", "lon2 lat2")];
    let swath = dataset(
        "swath",
        &[("y", 2), ("x", 2)],
        &[
            variable("lon2", &["y", "x"], &[("standard_name", "longitude")], [178.0, -179.0, 179.0, -178.0]),
            variable("lat2", &["y", "x"], &[("standard_name", "latitude")], [0.0, 1.0, 3.0, 4.0]),
            variable("t", &["y", "x"], &at, [1.0, 2.0, 3.0, 4.0]),
        ],
    );
    let field = field(&swath, "t");
    assert!(field.is_map);
    assert!(field.x.start > 170.0 && field.x.end < 190.0, "{:?}", field.x);
    assert!(matches!(field.cells, Cells::Curvilinear { columns: 2, .. }));
}

#[test]
fn a_region_is_a_map_of_the_region_however_its_west_is_rounded() {
    for (number, west) in [-9.7, -20.2, -44.14, -73.4].into_iter().enumerate() {
        let at = [("coordinates", "lon2 lat2")];
        let swath = dataset(
            &format!("region{number}"),
            &[("y", 2), ("x", 2)],
            &[
                variable("lon2", &["y", "x"], LON, [west, west + 1.0, west + 0.5, west + 1.5]),
                variable("lat2", &["y", "x"], LAT, [40.0, 40.0, 41.0, 41.0]),
                variable("t", &["y", "x"], &at, [1.0, 2.0, 3.0, 4.0]),
            ],
        );
        let field = field(&swath, "t");
        assert!(field.x.start > west - 2.0 && field.x.end < west + 4.0, "{west}: {:?}", field.x);
    }
}

#[test]
fn a_dimension_that_a_variable_has_twice_is_two_axes() {
    let kernel = dataset(
        "kernel",
        &[("level", 3)],
        &[
            variable("level", &["level"], &[], [1.0, 2.0, 4.0]),
            variable("avk", &["level", "level"], &[], range(9, 0.0, 1.0)),
        ],
    );
    assert_eq!(
        field(&kernel, "avk[0:2,:]").cells,
        Cells::Rectilinear { x: vec![0.5, 1.5, 3.0, 5.0], y: vec![0.5, 1.5, 2.5] }
    );
    assert_eq!(lines(&kernel, &["avk[1,:]"]).series[0].points, [(1.0, 3.0), (2.0, 4.0), (4.0, 5.0)]);
}

#[test]
fn times_run_upwards_beside_longitudes_and_otherwise_to_the_right() {
    let times = dataset(
        "directions",
        &[("time", 2), ("lon", 3), ("station", 3)],
        &[
            variable("time", &["time"], TIME, [0.0, 1.0]),
            variable("lon", &["lon"], LON, [0.0, 10.0, 20.0]),
            variable("a", &["lon", "time"], &[], range(6, 0.0, 1.0)),
            variable("b", &["time", "lon"], &[], range(6, 0.0, 1.0)),
            variable("c", &["time", "station"], &[], range(6, 0.0, 1.0)),
            variable("d", &["station", "time"], &[], range(6, 0.0, 1.0)),
        ],
    );
    for name in ["a", "b"] {
        let field = field(&times, name);
        assert_eq!(field.x.kind, AxisKind::Longitude, "{name}");
        assert!(matches!(field.y.kind, AxisKind::Time(_)), "{name}");
    }
    for name in ["c", "d"] {
        let field = field(&times, name);
        assert!(matches!(field.x.kind, AxisKind::Time(_)), "{name}");
        assert_eq!(field.y.label, "index of station", "{name}");
    }
    assert_eq!(field(&times, "a").values, [0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
    assert_eq!(field(&times, "c").values, [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
}

#[test]
fn a_rotated_pole_is_a_map_by_its_grid_mapping() {
    let mapping = [("grid_mapping", "pole")];
    let grid = |name| [("standard_name", name), ("units", "degrees")];
    let (lon, lat) = (grid("grid_longitude"), grid("grid_latitude"));
    let url = "memory://plot/rotated.nc";
    let session = ncirrus::Session::new().unwrap();
    let made = Dataset::create_with(url, &Default::default(), &session).unwrap();
    let root = made.root();
    for (name, len) in [("rlat", 3), ("rlon", 3)] {
        root.add_dimension(name, ncirrus::DimensionLen::Fixed(len)).unwrap();
    }
    let add = |name: &str, dims: &[&str], attributes: &[(&str, &str)]| {
        let variable = root.add_variable(name, ncirrus::Atomic::Double, dims).unwrap();
        for (name, text) in attributes {
            variable.set_attribute(ncirrus::Attribute::text(*name, text)).unwrap();
        }
        variable
    };
    let pole = add("pole", &[], &[("grid_mapping_name", "rotated_latitude_longitude")]);
    for (name, number) in [("grid_north_pole_latitude", 39.25), ("grid_north_pole_longitude", -162.0)] {
        let value = ncirrus::Values::Double(vec![number]);
        pole.set_attribute(ncirrus::Attribute::atomic(name, value)).unwrap();
    }
    let (rlat, rlon) = (add("rlat", &["rlat"], &lat), add("rlon", &["rlon"], &lon));
    let t = add("t", &["rlat", "rlon"], &mapping);
    pole.write_all(&[0.0]).unwrap();
    rlat.write_all(&[-1.0, 0.0, 1.0]).unwrap();
    rlon.write_all(&[-1.0, 0.0, 1.0]).unwrap();
    t.write_all(&(0..9).map(f64::from).collect::<Vec<_>>()).unwrap();
    made.close().unwrap();
    let field = field(&Dataset::open_with(url, &Default::default(), &session).unwrap(), "t");
    assert!(field.is_map);
    assert!(field.x.start < 17.0 && field.x.end > 19.0 && field.x.end < 22.0, "{:?}", field.x);
    assert!(field.y.start < 50.0 && field.y.end > 51.5 && field.y.end < 53.0, "{:?}", field.y);
}

#[test]
fn dimensions_without_coordinates_have_indices() {
    let plain =
        dataset("plain", &[("a", 2), ("b", 5)], &[variable("t", &["a", "b"], &[], range(10, 0.0, 1.0))]);
    let field = field(&plain, "t[:,1:5:2]");
    assert_eq!((field.x.label.as_str(), field.x.start, field.x.end), ("index of b", 0.0, 4.0));
    assert_eq!(field.values, [1.0, 3.0, 6.0, 8.0]);
}

#[test]
fn series_at_two_points_are_two_lines_with_a_legend() {
    let dataset = globe("series");
    let lines = lines(&dataset, &["t[:,1,0]", "t[:,1,2]"]);
    let labels: Vec<&str> = lines.series.iter().map(|series| series.label.as_str()).collect();
    assert_eq!(labels, ["t (lon = 0°)", "t (lon = 180°)"]);
    assert_eq!(figure(&dataset, &["t[:,1,0]", "t[:,1,2]"]).subtitle, "lat = 0°");
    assert_eq!(lines.series[1].points, [(0.0, 7.0), (31.0, 19.0)]);
    assert!(matches!(lines.x.kind, AxisKind::Time(_)));
    assert_eq!(lines.y.label, "K");
}

#[test]
fn each_line_has_its_own_coordinates() {
    let series = dataset(
        "own",
        &[("time", 6)],
        &[
            variable("time", &["time"], TIME, range(6, 100.0, 10.0)),
            variable("t", &["time"], &[], range(6, 0.0, 1.0)),
        ],
    );
    let two = lines(&series, &["t[0:3]", "t[3:6]"]);
    assert_eq!(two.series[0].points, [(100.0, 0.0), (110.0, 1.0), (120.0, 2.0)]);
    assert_eq!(two.series[1].points, [(130.0, 3.0), (140.0, 4.0), (150.0, 5.0)]);
    assert_eq!((two.x.start, two.x.end), (100.0, 150.0));
    // Strides may differ.
    let two = lines(&series, &["t[1:6:4]", "t[0:6:2]"]);
    assert_eq!(two.series[0].points, [(110.0, 1.0), (150.0, 5.0)]);
    assert_eq!(two.series[1].points, [(100.0, 0.0), (120.0, 2.0), (140.0, 4.0)]);
    assert_eq!((two.x.start, two.x.end), (100.0, 150.0));
}

#[test]
fn lines_from_several_profiles_keep_the_direction_of_the_first() {
    let profile = dataset(
        "profiles",
        &[("plev", 4)],
        &[
            variable("plev", &["plev"], &[("units", "hPa")], [1000.0, 500.0, 100.0, 10.0]),
            variable("t", &["plev"], &[("units", "K")], [290.0, 250.0, 210.0, 200.0]),
        ],
    );
    let two = lines(&profile, &["t[1:3]", "t[0:4]"]);
    assert_eq!((two.y.start, two.y.end), (1000.0, 10.0));
    assert_eq!(two.series[0].points, [(250.0, 500.0), (210.0, 100.0)]);
}

/// Groups a, b and c with two times each; those of c have other units.
fn three_groups() -> Dataset {
    let url = "memory://plot/groups.nc4";
    let session = ncirrus::Session::new().unwrap();
    let made = Dataset::create_with(url, &Default::default(), &session).unwrap();
    let groups = [("a", 0.0, "2000"), ("b", 366.0, "2000"), ("c", 0.0, "2001")];
    for (name, _, year) in groups {
        let group = made.root().add_group(name).unwrap();
        group.add_dimension("time", ncirrus::DimensionLen::Fixed(2)).unwrap();
        let time = group.add_variable("time", ncirrus::Atomic::Double, &["time"]).unwrap();
        let units = format!("days since {year}-01-01");
        time.set_attribute(ncirrus::Attribute::text("units", &units)).unwrap();
        group.add_variable("t", ncirrus::Atomic::Double, &["time"]).unwrap();
    }
    for (name, first, _) in groups {
        made.variable(&format!("{name}/time")).unwrap().write_all(&[first, first + 1.0]).unwrap();
        made.variable(&format!("{name}/t")).unwrap().write_all(&[1.0, 2.0]).unwrap();
    }
    made.close().unwrap();
    Dataset::open_with(url, &Default::default(), &session).unwrap()
}

#[test]
fn lines_of_several_groups_have_the_times_of_their_group() {
    let groups = three_groups();
    let two = lines(&groups, &["a/t", "b/t"]);
    assert_eq!(two.series[1].points, [(366.0, 1.0), (367.0, 2.0)]);
    assert_eq!((two.x.start, two.x.end), (0.0, 367.0));
    let other = plan(&groups, &["a/t", "c/t"], &PlotOptions::default()).unwrap();
    let error = other.read(&mut |_, _| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    for wanted in ["its axis is another one", "days since 2001-01-01", "days since 2000-01-01"] {
        assert!(error.to_string().contains(wanted), "{error}");
    }
}

#[test]
fn a_missing_series_does_not_lose_the_others() {
    let two = dataset(
        "two",
        &[("x", 2)],
        &[
            variable("a", &["x"], &[], [1.0, 2.0]),
            variable("b", &["x"], &[], [-9999.0, -9999.0]),
            variable("c", &["x"], &[], [-9999.0, -9999.0]),
        ],
    );
    let panel = lines(&two, &["b", "a"]);
    assert_eq!(panel.series.len(), 2);
    assert_eq!(panel.series[1].points, [(0.0, 1.0), (1.0, 2.0)]);
    assert!(figure(&two, &["b", "a"]).to_png().unwrap().starts_with(b"\x89PNG"));
    let missing = plan(&two, &["b", "c"], &PlotOptions::default()).unwrap().read(&mut |_, _| {});
    assert!(missing.unwrap_err().to_string().contains("all selected values are missing"));
}

#[test]
fn a_profile_is_drawn_upright() {
    let profile = dataset(
        "profile",
        &[("plev", 3)],
        &[
            variable("plev", &["plev"], &[("units", "hPa")], [1000.0, 500.0, 100.0]),
            variable("t", &["plev"], &[("units", "K")], [290.0, 250.0, 210.0]),
        ],
    );
    let lines = lines(&profile, &["t"]);
    assert_eq!((lines.y.start, lines.y.end), (1000.0, 100.0));
    assert_eq!(lines.series[0].points[0], (290.0, 1000.0));
}

#[test]
fn the_difference_of_two_datasets_is_drawn() {
    let (one, other) = (globe("one"), globe("other"));
    let options = PlotOptions { compare: Some(other), ..PlotOptions::default() };
    let error = plan(&one, &["t"], &options).unwrap().read(&mut |_, _| {}).unwrap();
    let Panel::Field(field) = error.panel else { panic!("a field") };
    assert!(field.values.iter().all(|value| *value == 0.0));
    assert_eq!((field.label.as_str(), error.source.as_str()), ("difference [K]", "one.nc minus other.nc"));
    assert!(field.scale.colours.is_diverging());
    for (range, is_diverging) in [((-2.0, 2.0), true), ((-1.0, 4.0), false)] {
        let scale = ncirrus_plot::ScaleOptions { range: Some(range), ..options.scale };
        let options = PlotOptions { scale, ..options.clone() };
        let difference = plan(&one, &["t"], &options).unwrap().read(&mut |_, _| {}).unwrap();
        let Panel::Field(field) = difference.panel else { panic!("a field") };
        assert_eq!(field.scale.colours.is_diverging(), is_diverging, "{range:?}");
    }
    let small = dataset("small", &[("lat", 1)], &[variable("t", &["lat"], &[], [1.0])]);
    let options = PlotOptions { compare: Some(small), ..PlotOptions::default() };
    let error = plan(&one, &["t"], &options).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(
        error.to_string().contains("its shape is [1], that of the first dataset's variable is [2, 3, 4]"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_drawn_is_an_error_that_says_why() {
    let dataset = globe("errors");
    let message = |selects: &[&str]| match plan(&dataset, selects, &PlotOptions::default()) {
        Err(error) => error.to_string(),
        Ok(plan) => {
            plan.read(&mut |_, _| {}).map(|_| String::new()).unwrap_or_else(|error| error.to_string())
        }
    };
    for (selects, wanted) in [
        (&["t[0,0,0]"][..], "a single value is selected"),
        (&["t[0:0,:,:]"][..], "nothing is selected of time"),
        (&["t", "t[1,:,:]"][..], "several variables are drawn only as lines"),
        (&["t[:,0,0]", "t[0,:,0]"][..], "it is a line over lat, the first one over time"),
        (&["nope"][..], "nope"),
        (&[][..], "no variable is given"),
    ] {
        assert!(message(selects).contains(wanted), "{selects:?}: {}", message(selects));
    }
    let missing =
        crate::made::dataset("missing", &[("x", 2)], &[variable("t", &["x"], &[], [-9999.0, -9999.0])]);
    let plan = plan(&missing, &["t"], &PlotOptions::default()).unwrap();
    assert!(plan.read(&mut |_, _| {}).unwrap_err().to_string().contains("all selected values are missing"));
}
