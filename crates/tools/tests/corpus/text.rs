//! CDL compared with what the reference printed, and with the text from which a dataset was made.
use crate::support::{cdl_of, difference};
use ncirrus::Dataset;
use ncirrus_testkit::corpus::program;
use ncirrus_tools::cdl::{DataChoice, PrintOptions};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The reference's dump: everything, or the header with storage properties.
pub(crate) fn same_as_reference(dataset: &Dataset, expected: &Path, special: bool) -> Result<(), String> {
    let expected = String::from_utf8_lossy(&std::fs::read(expected).unwrap()).into_owned();
    let has_data = expected.lines().any(|line| line.trim() == "data:");
    let change = |options: &mut PrintOptions| {
        options.special = special;
        // For large datasets only the header was printed.
        if special || !has_data {
            options.data = DataChoice::HeaderOnly;
        }
    };
    let (got, _) = cdl_of(dataset, &name_in(&expected), change).map_err(|error| format!("{error:?}"))?;
    difference(&whole_chunk_sizes(&expected), &got)
}

/// The name in the first line of a dump.
fn name_in(cdl: &str) -> String {
    let line = cdl.lines().next().unwrap_or_default();
    line.trim_start_matches("netcdf ").trim_end_matches(" {").replace('\\', "")
}

/// The reference truncates the chunk sizes of scalars in the middle of the line; ncirrus prints none
/// (docs/spec/nczarr.md 12.5).
fn whole_chunk_sizes(cdl: &str) -> String {
    const CUT: &str = ":_ChunkSizes = \t";
    let mut whole = cdl.to_owned();
    while let Some(at) = whole.find(CUT) {
        let start = whole[..at].rfind('\n').map_or(0, |newline| newline + 1);
        whole.replace_range(start..at + CUT.len() - 1, "");
    }
    whole
}

/// The dump of a dataset with the same contents.
pub(crate) fn same_as_twin(dataset: &Dataset, twin: &Dataset) -> Result<(), String> {
    let text = |dataset| -> Result<String, String> {
        Ok(cdl_of(dataset, "twin", |_| ()).map_err(|error| format!("{error:?}"))?.0)
    };
    difference(&text(twin)?, &text(dataset)?)
}

/// The results of `ncgen` and `ncdump` of netCDF-C for source texts.
#[derive(Default)]
pub(crate) struct Sources(HashMap<PathBuf, Option<String>>);

impl Sources {
    /// Compares with the source text's dump; `None` if the programs are not installed.
    pub(crate) fn same(&mut self, dataset: &Dataset, source: &Path) -> Option<Result<(), String>> {
        let expected = self.0.entry(source.to_path_buf()).or_insert_with(|| dump_of(source)).clone()?;
        let got = cdl_of(dataset, NAME, |_| ()).map(|(text, _)| text);
        Some(got.map_err(|error| format!("{error:?}")).and_then(|got| difference(&expected, &got)))
    }
}

impl Sources {
    /// Compares the variables of characters with those of the source text; `None` if the programs are not installed or
    /// there are none.
    pub(crate) fn same_chars(&mut self, dataset: &Dataset, source: &Path) -> Option<Result<(), String>> {
        let expected = self.0.entry(source.to_path_buf()).or_insert_with(|| dump_of(source)).clone()?;
        let declared = expected.lines().filter_map(|line| line.trim().strip_prefix("char "));
        let names: Vec<&str> = declared.filter_map(|rest| rest.split(['(', ' ']).next()).collect();
        let got = cdl_of(dataset, NAME, |_| ()).map(|(text, _)| text).map_err(|error| format!("{error:?}"));
        let same = |got: String| {
            names.iter().try_for_each(|name| difference(data_of(&expected, name), data_of(&got, name)))
        };
        (!names.is_empty()).then(|| got.and_then(same))
    }
}

/// The data of a variable in a dump.
fn data_of<'a>(cdl: &'a str, name: &str) -> &'a str {
    let (_, data) = cdl.split_once("\ndata:\n").unwrap_or_default();
    let rest = data.split_once(&format!("\n {name} =")).map_or("(none)", |(_, rest)| rest);
    rest.split_once(" ;\n").map_or(rest, |(values, _)| values)
}

const NAME: &str = "source";

fn dump_of(source: &Path) -> Option<String> {
    let (ncgen, ncdump) = (program("ncgen")?, program("ncdump")?);
    let folder = tempfile::tempdir().unwrap();
    let (cdl, made) = (folder.path().join("source.cdl"), folder.path().join("made.nc"));
    std::fs::write(&cdl, without_filters(&std::fs::read_to_string(source).unwrap())).unwrap();
    let status = Command::new(ncgen).args(["-4", "-b", "-o"]).args([&made, &cdl]).status().unwrap();
    assert!(status.success(), "ncgen does not take {}", source.display());
    let output = Command::new(ncdump).args(["-n", NAME]).arg(&made).output().unwrap();
    assert!(output.status.success(), "ncdump does not take {}", source.display());
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The text without `_Filter` attributes: the programs may lack the filters, and the values are the same without.
fn without_filters(cdl: &str) -> String {
    let line = |line: &str| {
        let parts = line.split_inclusive(';').filter(|part| !part.contains(":_Filter"));
        parts.collect::<String>()
    };
    cdl.lines().map(line).collect::<Vec<_>>().join("\n")
}
