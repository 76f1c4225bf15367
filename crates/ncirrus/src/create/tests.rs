//! What a configuration says about new datasets.
use super::*;
use crate::{Dataset, DimensionLen, ErrorKind, Session};
use ncirrus_config::{ConfigFormat, ProcessEnvironment};
use std::path::Path;

fn settings(consolidated: &str, rc: &str) -> ConfigSettings {
    let environment = ProcessEnvironment::default().with("NCZARR_CONSOLIDATED", consolidated);
    let mut settings = ConfigSettings::of_environment(environment);
    settings.read(ConfigFormat::NetCdf, rc, Path::new(".ncrc")).unwrap();
    settings
}

const RC: &str = "ZARR.DIMENSION_SEPARATOR=/\n[https://h.org]ZARR.DIMENSION_SEPARATOR=.\n[https://odd.org]ZARR.DIMENSION_SEPARATOR=-";

#[test]
fn the_configuration_says_what_the_options_do_not() {
    let made = |options: CreateOptions, url: &str, consolidated: &str| {
        let options = options.configured(&Url::parse(url).unwrap(), &settings(consolidated, RC)).unwrap();
        (options.consolidated, options.separator)
    };
    let default = CreateOptions::default;
    assert_eq!(made(default(), "file:///a#mode=nczarr", ""), (true, Some('/')));
    assert_eq!(made(default(), "https://h.org/a", "yes"), (true, Some('.')));
    assert_eq!(made(default(), "a.zarr", "0"), (false, Some('/')));
    assert_eq!(made(default(), "file:///a#mode=nczarr,consolidated", "0"), (true, Some('/')));
    let chosen = default().separator('.').consolidated(false);
    assert_eq!(made(chosen, "a.zarr", "1"), (false, Some('.')));
}

#[test]
fn the_address_chooses_among_the_forms_of_zarr() {
    let (folder, session) =
        (tempfile::tempdir().unwrap(), Session::builder().durable(false).build().unwrap());
    let written = |modes: &str| {
        let path = folder.path().join(modes);
        let url = format!("file://{}#mode={modes}", path.to_str().unwrap());
        let dataset = Dataset::create_with(&url, &CreateOptions::new(), &session).unwrap();
        let edited = dataset.edit(|model| {
            model.add_dimension(model.root(), "n", DimensionLen::Fixed(3))?;
            Ok(())
        });
        edited.unwrap();
        dataset.close().unwrap();
        let has = |name: &str| std::fs::read_to_string(path.join(name)).ok();
        let (v2, v3) = (has(".zattrs"), has("zarr.json"));
        (v3.is_some(), v2.or(v3).is_some_and(|text| text.contains("_nczarr_group")))
    };
    assert_eq!(written("nczarr,file"), (false, true));
    assert_eq!(written("zarr,file"), (false, false));
    assert_eq!(written("zarr3,file"), (true, true));
    assert_eq!(written("nczarr,zarr3"), (true, true));
    assert_eq!(written("zarr,zarr3"), (true, false));
}

#[test]
fn addresses_and_configurations_choose_the_dialect_and_the_form_of_json() {
    let rc = "NCZARR.DIALECT=lc\nNCZARR.JSON_ATTRIBUTES=no\n[https://h.org]NCZARR.DIALECT=odd";
    let made = |options: CreateOptions, url: &str| {
        let options = options.configured(&Url::parse(url).unwrap(), &settings("", rc))?;
        Ok::<_, Error>((options.dialect, options.json_attributes))
    };
    let default = CreateOptions::default;
    assert_eq!(made(default(), "a.zarr").unwrap(), (Some(Dialect::Lc), Some(false)));
    let address = "file:///a#mode=nczarr,file&dialect=uc&json_attributes=yes";
    assert_eq!(made(default(), address).unwrap(), (Some(Dialect::Uc), Some(true)));
    let chosen = default().dialect(Dialect::Att).json_attributes(false);
    assert_eq!(made(chosen, address).unwrap(), (Some(Dialect::Att), Some(false)));
    assert_eq!(made(default(), "a.nc").unwrap(), (None, None));
    // A configuration makes no NCZarr of plain Zarr, and none of an address without a kind.
    assert_eq!(made(default(), "file:///a#mode=zarr").unwrap(), (None, Some(false)));
    assert_eq!(made(default().kind(Kind::Zarr3), "a").unwrap(), (None, Some(false)));
    assert_eq!(made(default(), "a#dialect=uc").unwrap().0, Some(Dialect::Uc));
    for bad in ["a.zarr#dialect=odd", "a.zarr#json_attributes=odd", "https://h.org/a.zarr"] {
        assert_eq!(made(default(), bad).unwrap_err().kind(), ErrorKind::Invalid, "{bad}");
    }
    for (text, dialect) in [("att", Dialect::Att), ("2018", Dialect::D18), ("plain", Dialect::Plain)] {
        assert_eq!(Dialect::parse(text).unwrap(), dialect);
    }
}

#[test]
fn a_separator_that_is_none_is_told_with_its_place() {
    let (options, lengths) = (CreateOptions::default(), StringLengths::default());
    let error = options.resolve("https://odd.org/a.zarr", &lengths, &settings("", RC)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains(".ncrc:3"), "{error}");
}

#[test]
fn a_new_dataset_is_what_it_is_when_it_is_opened_again() {
    let (folder, session) =
        (tempfile::tempdir().unwrap(), Session::builder().durable(false).build().unwrap());
    let kinds = [
        (Kind::Nc3, None, "classic", "netcdf3"),
        (Kind::Nc6, None, "64-bit offset", "netcdf3"),
        (Kind::Nc5, None, "cdf5", "netcdf3"),
        (Kind::Nc4, None, "netCDF-4", "netcdf4"),
        (Kind::Nc4Classic, None, "netCDF-4 classic model", "netcdf4"),
        (Kind::NcZarr, None, "netCDF-4", "nczarr2"),
        (Kind::NcZarr, Some(Dialect::Plain), "netCDF-4", "zarr2"),
        (Kind::Zarr2, None, "netCDF-4", "zarr2"),
        (Kind::Zarr3, None, "netCDF-4", "nczarr3"),
        (Kind::Zarr3, Some(Dialect::Plain), "netCDF-4", "zarr3"),
    ];
    for (number, (kind, dialect, format, stored)) in kinds.into_iter().enumerate() {
        let path = folder.path().join(number.to_string());
        let options = CreateOptions::new().kind(kind).dialect(dialect);
        let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &session).unwrap();
        let new = dataset.kind();
        dataset.close().unwrap();
        let opened = Dataset::open_with(path.to_str().unwrap(), &Default::default(), &session).unwrap();
        assert_eq!(opened.kind(), new, "{kind:?}, {dialect:?}");
        assert_eq!(
            (new.to_string().as_str(), new.stored.as_str()),
            (format, stored),
            "{kind:?}, {dialect:?}"
        );
        if dialect.is_none() {
            assert_eq!((Kind::like(new), DatasetKind::from(kind)), (kind, new));
        }
    }
    let computed = DatasetKind { format: Format::Classic, stored: Stored::Dap2 };
    assert_eq!(Kind::like(computed), Kind::Nc3);
}

#[test]
fn buckets_of_amazon_hold_nczarr_for_netcdf_c_unless_the_mode_says_otherwise() {
    for (url, kind) in [
        ("s3://s3.eu-west-1.amazonaws.com/bucket", Some(Kind::NcZarr)),
        ("s3://bucket/a.nc", Some(Kind::NcZarr)),
        ("s3://bucket/a#mode=s3", Some(Kind::NcZarr)),
        ("https://bucket.s3.amazonaws.com/a", Some(Kind::NcZarr)),
        ("http://127.0.0.1:9000/bucket/a#mode=s3", Some(Kind::NcZarr)),
        ("s3://bucket/a#mode=netcdf-4", None),
        ("s3://bucket/a#mode=zarr3", None),
        ("s3://bucket/a#mode=bytes", None),
        ("gs://bucket/a", None),
        ("https://host.org/a", None),
        ("a.nc", None),
    ] {
        assert_eq!(CreateOptions::netcdf_c_kind(url), kind, "{url}");
    }
}
