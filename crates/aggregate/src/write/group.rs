//! CFA-0.5: a group beside the variable, with the table of partitions (`docs/spec/cfa.md` 3.1).
use super::{FragmentArray, FragmentCell, FragmentDescriber};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, DimId, DimensionLen, Strings, Values, VarId, default_fill};

impl FragmentDescriber<'_> {
    pub(super) fn describe_by_group(
        &mut self,
        var: VarId,
        dims: &[DimId],
        fragments: &FragmentArray,
    ) -> Result<()> {
        let names = self.dimension_names(dims);
        check(&names)?;
        let variable = self.model.variable(var).map(|variable| variable.name.clone()).unwrap_or_default();
        let group_name = format!("cfa_{variable}");
        let group = self.model.add_group(self.home(var), &group_name)?;
        let mut grid = Vec::new();
        for (name, len) in names.iter().zip(fragments.shape()) {
            grid.push(self.model.add_dimension(group, name, DimensionLen::Fixed(len))?);
        }
        let rank = self.model.add_dimension(group, "ndimensions", DimensionLen::Fixed(names.len() as u64))?;
        let bounds = self.model.add_dimension(group, "bounds", DimensionLen::Fixed(2))?;
        let with = |more: &[DimId]| -> Vec<DimId> { grid.iter().chain(more).copied().collect() };
        let table = NumberTable::of(fragments)?;
        let joined = Strings::from_iter([Some(names.join(", "))]);
        let is_whole = self.needs_path(var);
        let text = |text: &dyn Fn(&FragmentCell) -> String| {
            let texts = fragments.cells.iter().map(|cell| Some(cell.as_ref().map(text).unwrap_or_default()));
            Values::String(texts.collect())
        };
        self.new_variable(group, "pmshape", &[rank], Values::Int(ints(fragments.shape())?))?;
        self.new_variable(group, "pmdimensions", &[], Values::String(joined))?;
        self.new_variable(group, "index", &with(&[rank]), Values::Int(table.index))?;
        self.new_variable(group, "location", &with(&[rank, bounds]), Values::Int(table.location))?;
        self.new_variable(group, "ncvar", &with(&[]), text(&|cell| ncvar(cell, is_whole)))?;
        self.new_variable(group, "file", &with(&[]), text(&|cell| cell.file.to_string()))?;
        self.new_variable(group, "format", &with(&[]), text(&|cell| cell.format.to_owned()))?;
        self.new_variable(group, "shape", &with(&[rank]), Values::Int(table.shape))?;
        self.put(var, "cf_role", "cfa_variable");
        self.put(var, "cfa_dimensions", &names.join(" "));
        self.put(var, "cfa_group", &group_name);
        Ok(())
    }

    /// Whether a fragment's variable must be named by its path: readers look in the root first, where there is
    /// another of the same name.
    pub(super) fn needs_path(&self, var: VarId) -> bool {
        let root = self.model.root();
        let name = self.model.variable(var).map(|variable| variable.name.as_str()).unwrap_or_default();
        self.home(var) != root && self.model.variable_in(root, name).is_some()
    }
}

/// The name of the variable in the fragment: without its groups, which the fragment repeats (docs/spec/cfa.md 3.3),
/// unless it would refer to another one.
pub(super) fn ncvar(cell: &FragmentCell, is_whole: bool) -> String {
    let path = cell.variable.trim_start_matches('/');
    if is_whole { path.to_owned() } else { simple_name(path).to_owned() }
}

/// The convention's own dimensions are beside those of the partitions; scalars have none.
fn check(names: &[String]) -> Result<()> {
    if names.is_empty() {
        return Err(Error::unsupported("CFA-0.5 cannot describe scalar data"));
    }
    match names.iter().find(|name| matches!(name.as_str(), "ndimensions" | "bounds")) {
        Some(name) => Err(Error::unsupported(format!(
            "CFA-0.5 has a dimension {name:?} of its own: rename the variable's, or choose another convention"
        ))),
        None => Ok(()),
    }
}

/// The columns of numbers.
#[derive(Default)]
struct NumberTable {
    index: Vec<i32>,
    location: Vec<i32>,
    shape: Vec<i32>,
}

impl NumberTable {
    fn of(fragments: &FragmentArray) -> Result<Self> {
        let Values::Int(fill) = default_fill(Atomic::Int) else {
            return Err(Error::internal("the fill value of int is an int"));
        };
        let fill = fill.first().copied().unwrap_or_default();
        let (rank, starts) = (fragments.sizes.len(), fragments.starts());
        let mut table = Self::default();
        for (place, cell) in fragments.places() {
            if cell.is_none() {
                table.index.extend(vec![fill; rank]);
                table.location.extend(vec![fill; rank * 2]);
                table.shape.extend(vec![fill; rank]);
                continue;
            }
            table.index.extend(ints(place.iter().map(|at| *at as u64))?);
            for (start, len) in fragments.extents(&place, &starts) {
                table.location.extend(ints([start, start.saturating_add(len)])?);
                table.shape.extend(ints([len])?);
            }
        }
        Ok(table)
    }
}

/// Numbers in the form of CFA-0.5.
fn ints(numbers: impl IntoIterator<Item = u64>) -> Result<Vec<i32>> {
    let int = |number: u64| {
        let too_large =
            || Error::unsupported(format!("{number} is more than CFA-0.5 can hold: its numbers are ints"));
        i32::try_from(number).map_err(|_| too_large())
    };
    numbers.into_iter().map(int).collect()
}

/// Last segment of a path.
fn simple_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
