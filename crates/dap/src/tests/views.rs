//! The responses of the corpus as datasets: shown as netCDF-C shows them, equal to its own listings.
use super::{Case, cases};
use crate::DapDriver;
use ncirrus_cdl::{DataSource, PrintOptions, ReadError};
use ncirrus_layout::{
    AddressHints, Catalog, Driver, Layout, Limits, OpenOptions, QueryAxis, QueryBox, Result, Stall, Step,
};
use ncirrus_model::{AxisSelection, Model, Selection, Values, VarId};
use ncirrus_testkit::{MemoryView, ObjectView};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A dataset of files in memory.
pub(super) struct FileDataset {
    view: MemoryView,
    catalog: Arc<dyn Catalog>,
    pub(super) model: Arc<Model>,
}

fn done<T>(step: Step<T>) -> Result<T> {
    step.map_err(|stall| match stall {
        Stall::Fail(error) => error,
        Stall::Need(needs) => panic!("{needs:?} of a view that has everything"),
    })
}

/// The files of a case under one name, opened in a view of it.
pub(super) fn opened(case: &Case, shown: &str) -> Result<FileDataset> {
    let mut objects = ObjectView::new();
    for suffix in [".dds", ".das", ".dods", ".dmr", ".dap"] {
        if let Some(body) = case.file(suffix) {
            objects.put(&format!("x{suffix}"), body);
        }
    }
    let mode = case.text("protocol").unwrap().to_ascii_lowercase();
    let entries = vec![("view".to_owned(), shown.to_owned())];
    let hints = AddressHints { modes: vec![mode], entries, query: None };
    let view = MemoryView::new(objects);
    let options = OpenOptions::new().address(hints);
    let catalog = done(DapDriver::default().open(&view, &ObjectView::id("x"), &options))?;
    let model = done(catalog.tree(&view))?;
    Ok(FileDataset { view, catalog, model })
}

impl FileDataset {
    pub(super) fn layout(&self, variable: VarId) -> Option<Layout> {
        done(self.catalog.source(&self.view, variable)).ok().map(|source| source.layout)
    }

    /// The values of a selection without lists of indices.
    fn values(&self, variable: VarId, selection: &Selection) -> Result<Values> {
        let source = done(self.catalog.source(&self.view, variable))?;
        let Layout::Query { source, variable } = source.layout else { panic!("no queries") };
        let axis = |axis: &AxisSelection| match axis {
            AxisSelection::Slice { start, count, stride } => {
                QueryAxis { start: *start, count: *count, stride: (*stride).max(1) }
            }
            AxisSelection::Indices(_) => panic!("a list of indices"),
        };
        let boxes = [QueryBox { variable, axes: selection.axes().iter().map(axis).collect() }];
        let queries = source.plan(&boxes)?;
        let [query] = &queries[..] else { panic!("{queries:?}") };
        let absent = || ncirrus_layout::Error::not_found("no such object").at_object(&query.object);
        let answer = self.view.objects.find(query.object.key()).ok_or_else(absent)?;
        let mut values = source.decode(&boxes, answer, &Limits::default())?;
        Ok(values.remove(0))
    }
}

impl DataSource for FileDataset {
    fn read(&mut self, variable: VarId, selection: &Selection) -> std::result::Result<Values, ReadError> {
        Ok(self.values(variable, selection)?)
    }
}

/// What a dataset looks like in a view.
fn listing(case: &Case, shown: &str) -> std::result::Result<String, String> {
    let mut dataset = opened(case, shown).map_err(|error| error.to_string())?;
    let model = Arc::clone(&dataset.model);
    let is_classic = dataset.catalog.kind().is_classic();
    let mut options = PrintOptions::default();
    options.name = "x".into();
    (options.classic, options.fill_types) = (is_classic, !is_classic);
    let mut out = Vec::new();
    let summary = ncirrus_cdl::print(&mut out, &model, &mut dataset, &options);
    let summary = summary.map_err(|error| error.to_string())?;
    match summary.faults.first() {
        Some(fault) => Err(format!("{fault:?}")),
        None => Ok(String::from_utf8(out).unwrap()),
    }
}

/// The words of a listing after its first line, which has the dataset's name.
fn words(text: &str) -> String {
    let text = text.split_once('{').map_or(text, |(_, rest)| rest);
    text.split_whitespace().collect()
}

/// Listings of netCDF-C that are not those of the bytes, each with the reason.
const WRONG: [(&str, &str); 3] = [
    ("netcdf-c/1998-6-avhrr.dat", "a string of 71 bytes is cut after 64; here it is whole"),
    ("netcdf-c/synth9", "the answer has no data; netCDF-C lists them as if there were none"),
    (
        "netcdf-c/dap4/test_vlen4.nc",
        "the second sequence has two values, which are left out (docs/spec/dap.md 11)",
    ),
];

#[test]
fn the_view_of_netcdf_c_lists_what_netcdf_c_lists() {
    let (mut equal, mut all, mut different) = (0, 0, BTreeMap::new());
    for case in cases("DAP2").iter().chain(&cases("DAP4")) {
        let Some(file) = case.text("expected_cdl") else { continue };
        all += 1;
        let expected = std::fs::read_to_string(case.folder.join(file)).unwrap();
        let found = listing(case, "netcdf-c");
        let is_equal = found.as_ref().is_ok_and(|found| words(found) == words(&expected));
        equal += usize::from(is_equal);
        let wrong = WRONG.iter().find(|(name, _)| *name == case.name());
        if is_equal == wrong.is_some() {
            let found = found.unwrap_or_else(|error| error);
            if let Some(folder) = std::env::var_os("NCIRRUS_DAP_LISTINGS") {
                let name = case.name().replace('/', "_");
                std::fs::write(std::path::Path::new(&folder).join(&name), &found).unwrap();
            }
            different.insert(case.name().to_owned(), found.chars().take(200).collect::<String>());
        }
    }
    eprintln!("listings of netCDF-C: {equal} of {all} equal");
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn what_is_shown_does_not_depend_on_which_bytes_arrive_when() {
    let mut checked = 0;
    for (protocol, names) in [
        ("DAP2", ["netcdf-c/123.nc", "netcdf-c/test.23", "captured/pydap/grid2"]),
        (
            "DAP4",
            [
                "netcdf-c/dap4/test_groups1.nc",
                "netcdf-c/dap4/test_struct_nested.nc",
                "netcdf-c/dap4/test_unlim1.nc",
            ],
        ),
    ] {
        for case in cases(protocol).iter().filter(|case| names.contains(&case.name())) {
            let mut objects = ObjectView::new();
            for suffix in [".dds", ".das", ".dods", ".dmr", ".dap"] {
                if let Some(body) = case.file(suffix) {
                    objects.put(&format!("x{suffix}"), body);
                }
            }
            let root = if protocol == "DAP2" { "x.dds" } else { "x.dmr" };
            let read = ncirrus_testkit::law::availability(&DapDriver::default(), &objects, root, 20);
            assert!(!read.is_empty(), "{}", case.name());
            checked += 1;
        }
    }
    assert!(checked == 6 || cases("DAP2").is_empty(), "{checked} cases");
}
