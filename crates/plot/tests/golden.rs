//! Pictures of real datasets, compared with those in `golden`. `NCIRRUS_RENEW=1` writes them anew.
use crate::made::plan;
use ncirrus::{Dataset, OpenOptions, Session};
use ncirrus_plot::{ColourMap, PictureSize, PlotOptions, ScaleOptions};
use std::path::{Path, PathBuf};
use tiny_skia::Pixmap;

struct Golden {
    name: &'static str,
    file: &'static str,
    selects: &'static [&'static str],
    compare: Option<&'static str>,
    scale: ScaleOptions,
}

const PLAIN: ScaleOptions = ScaleOptions { range: None, log: false, colours: None };
const SST: &str = "ersstv5_sst_2010-2020.nc";

const fn golden(name: &'static str, file: &'static str, selects: &'static [&'static str]) -> Golden {
    Golden { name, file, selects, compare: None, scale: PLAIN }
}

const NEMO: &str = "nemo_1m_20150101-20150201_grid-T.nc";
const MET: &str = "sgpmetE13.b1.20190101.000000.cdf";

const ALL: [Golden; 20] = [
    golden("sst", SST, &["sst"]),
    golden("sst_series", SST, &["sst[:,44,90]", "sst[:,20,90]"]),
    golden("sst_hovmoller", SST, &["sst[:,44,:]"]),
    golden("sst_region", SST, &["sst[100,55:75,130:175]"]),
    golden("sst_zonal", SST, &["sst[0,:,90]"]),
    Golden {
        scale: ScaleOptions { range: Some((0.0, 30.0)), log: false, colours: Some(ColourMap::Turbo) },
        ..golden("sst_turbo", SST, &["sst[6,:,:]"])
    },
    Golden {
        scale: ScaleOptions { range: None, log: true, colours: None },
        ..golden("carbon_log", "A2016241.L3m_DAY_POC_poc_4km.nc", &["poc"])
    },
    golden("gfs", "GFS_Global_onedeg_20120515_1200.grib2.nc", &["Temperature_surface"]),
    golden(
        "tempo",
        "TEMPO_NO2_L2_V03_20240601T212254Z_S012G03_subsetted.nc4",
        &["product/vertical_column_stratosphere"],
    ),
    golden("rain", "bnfldquantsM1.c1.20250619.000000.nc", &["reflectivity_factor_sband20c"]),
    golden("points", "dsg_point_example.nc", &["LARVAE_COUNT"]),
    golden("model_temperature", "nc4uvt.nc", &["T"]),
    golden("model_section", "nc4uvt.nc", &["U[0,:,:,0]"]),
    golden("model_profile", "nc4uvt.nc", &["T[0,:,32,0]"]),
    golden("cubed_sphere", "ne30pg3.grid.nc", &["elementArea"]),
    golden("nemo", NEMO, &["tos"]),
    Golden {
        compare: Some("nemo_1m_20150301-20150401_grid-T.nc"),
        ..golden("nemo_difference", NEMO, &["tos"])
    },
    golden("rotated_pole", "rotPole_landAreaFraction.nc", &["sftls"]),
    golden("station", MET, &["temp_mean", "rh_mean"]),
    golden("chlorophyll", "olci_sns_level2.zarr", &["conc_chl"]),
];

#[test]
fn pictures_of_twenty_datasets_look_as_before() {
    let Some(corpus) = ncirrus_testkit::corpus::corpus("realdata") else { return };
    let session = Session::new().unwrap();
    let open = |file: &str| {
        let path = corpus.join("files").join(file);
        Dataset::open_with(&path.to_string_lossy(), &OpenOptions::default(), &session).unwrap()
    };
    let mut wrong = Vec::new();
    for golden in ALL {
        let options = PlotOptions {
            size: PictureSize { width: 640, height: 400, fixed: false },
            scale: golden.scale,
            compare: golden.compare.map(open),
            ..PlotOptions::default()
        };
        let plan = plan(&open(golden.file), golden.selects, &options).unwrap();
        let figure = plan.read(&mut |_, _| {}).unwrap();
        let png = figure.to_png().unwrap();
        check_svg(golden.name, &figure.to_svg().unwrap());
        let path = folder().join(format!("{}.png", golden.name));
        if std::env::var_os("NCIRRUS_RENEW").is_some() {
            std::fs::write(&path, png).unwrap();
        } else if let Err(message) = compare(&path, &png) {
            let found = std::env::temp_dir().join(format!("{}.png", golden.name));
            std::fs::write(&found, png).unwrap();
            wrong.push(format!("{}: {message}; see {}", golden.name, found.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Pictures are the same if few pixels differ by more than rounding.
fn compare(path: &Path, found: &[u8]) -> Result<(), String> {
    let wanted = Pixmap::load_png(path).map_err(|error| error.to_string())?;
    let found = Pixmap::decode_png(found).map_err(|error| error.to_string())?;
    let size = |pixmap: &Pixmap| (pixmap.width(), pixmap.height());
    if size(&wanted) != size(&found) {
        return Err(format!("{:?} pixels instead of {:?}", size(&found), size(&wanted)));
    }
    let differs =
        |(one, other): (&[u8], &[u8])| one.iter().zip(other).any(|(one, other)| one.abs_diff(*other) > 24);
    let pairs = wanted.data().chunks(4).zip(found.data().chunks(4));
    let (different, all) = (pairs.filter(|pair| differs(*pair)).count(), wanted.data().len() / 4);
    if different * 500 > all { Err(format!("{different} of {all} pixels differ")) } else { Ok(()) }
}

/// The SVG is well-formed, and each reference in it is to data inside.
fn check_svg(name: &str, svg: &str) {
    let mut reader = quick_xml::Reader::from_str(svg);
    let mut depth = 0;
    loop {
        match reader.read_event() {
            Ok(quick_xml::events::Event::Start(_)) => depth += 1,
            Ok(quick_xml::events::Event::End(_)) => depth -= 1,
            Ok(quick_xml::events::Event::Eof) => break,
            Ok(_) => {}
            Err(error) => panic!("{name}: {error}"),
        }
    }
    assert_eq!(depth, 0, "{name}");
    assert!(!svg.contains("href=\"http"), "{name}");
    assert!(svg.starts_with("<svg xmlns=") && svg.contains("<title>"), "{name}");
}
