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
        (&["t[:,0,0]", "t[0,:,0]"][..], "it is a line over lat of 3, the first one over time of 2"),
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
