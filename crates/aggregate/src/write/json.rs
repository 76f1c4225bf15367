//! CFA-0.4: JSON in an attribute, as S3netCDF4 writes it (docs/spec/cfa.md 2.5, 2.6).
use super::group::ncvar;
use super::{FragmentArray, FragmentCell, FragmentDescriber};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{DimId, VarId};
use std::fmt::Write as _;

impl FragmentDescriber<'_> {
    pub(super) fn describe_by_json(
        &mut self,
        var: VarId,
        dims: &[DimId],
        fragments: &FragmentArray,
    ) -> Result<()> {
        let names = self.dimension_names(dims);
        let variable = self.model.variable(var).map(|variable| variable.name.clone()).unwrap_or_default();
        let compat = self.form.compat;
        let other = |cell: &&FragmentCell| compat && ncvar(cell, false) != variable;
        if let Some(cell) = fragments.cells.iter().flatten().find(other) {
            let message =
                format!("S3netCDF4 looks for {variable:?} in {}, where it is {:?}", cell.file, cell.variable);
            return Err(Error::unsupported(message));
        }
        let words = SharedWords { names: &names, compat, is_whole: self.needs_path(var) };
        let json = words.array(fragments);
        self.put(var, "cf_role", "cfa_variable");
        self.put(var, "cfa_dimensions", &names.join(" "));
        self.put(var, "cfa_array", &json);
        Ok(())
    }
}

/// What all partitions share.
struct SharedWords<'a> {
    /// Of the dimensions.
    names: &'a [String],
    compat: bool,
    /// Name variables by their paths.
    is_whole: bool,
}

impl SharedWords<'_> {
    /// The JSON, with the order and blanks of S3netCDF4.
    fn array(&self, fragments: &FragmentArray) -> String {
        let dims = list(self.names.iter().map(|name| text(name)));
        let starts = fragments.starts();
        let partition = |(place, cell): (Vec<usize>, Option<&FragmentCell>)| {
            let extents = fragments.extents(&place, &starts);
            Some(self.partition(cell?, &place, &extents, &fragments.lacking))
        };
        let partitions = list(fragments.places().filter_map(partition));
        let pmshape = list(fragments.shape());
        format!("{{\"pmshape\": {pmshape}, \"pmdimensions\": {dims}, \"Partitions\": {partitions}}}")
    }

    fn partition(
        &self,
        cell: &FragmentCell,
        place: &[usize],
        extents: &[(u64, u64)],
        lacking: &[bool],
    ) -> String {
        let stored = || extents.iter().zip(self.names).zip(lacking).filter(|(_, lacks)| !**lacks);
        let subarray = format!(
            "{{\"ncvar\": {}, \"file\": {}, \"format\": {}, \"shape\": {}}}",
            text(&ncvar(cell, self.is_whole)),
            text(&cell.file),
            text(if self.compat { "netCDF" } else { cell.format }),
            list(stored().map(|(((_, len), _), _)| len)),
        );
        let location = list(extents.iter().map(|(start, len)| format!("[{start}, {}]", start + len - 1)));
        let pdimensions = if lacking.contains(&true) {
            format!(", \"pdimensions\": {}", list(stored().map(|((_, name), _)| text(name))))
        } else {
            String::new()
        };
        let index = list(place);
        format!("{{\"subarray\": {subarray}, \"index\": {index}, \"location\": {location}{pdimensions}}}")
    }
}

fn list<T: std::fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(", "))
}

/// A string of JSON in ASCII, as Python writes it.
fn text(text: &str) -> String {
    let mut json = String::from("\"");
    for unit in text.encode_utf16() {
        match char::from_u32(u32::from(unit)) {
            Some('"') => json.push_str("\\\""),
            Some('\\') => json.push_str("\\\\"),
            Some(' '..='~') => json.extend(char::from_u32(u32::from(unit))),
            _ => _ = write!(json, "\\u{unit:04x}"),
        }
    }
    json.push('"');
    json
}
