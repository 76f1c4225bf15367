//! The variables of a DDS in the order in which they are shown.
use super::Dap2Facts;
use crate::place::DapView;
use crate::shown::WireSegment;
use crate::{Dds, DdsDimension, DdsKind, DdsType, DdsVariable, WireName};
use ncirrus_layout::{Error, Result};
use std::collections::HashSet;

/// A variable that is shown.
#[derive(Debug)]
pub(super) struct FoundVariable<'a> {
    pub(super) name: String,
    /// Its place in the DDS: each number counts members.
    pub(super) index: Vec<usize>,
    pub(super) node: &'a DdsVariable,
    pub(super) segments: Vec<WireSegment>,
    /// How many names lead to the sequence whose rows are the first dimension.
    pub(super) rows: Option<usize>,
    pub(super) map: Option<usize>,
    pub(super) dims: Vec<DimensionUse>,
    pub(super) order: VariableOrder,
    pub(super) fault: Option<Error>,
}

/// The order of netCDF-C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VariableOrder {
    Top,
    GridArray,
    Member,
}

/// A dimension of a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum DimensionUse {
    /// One that all variables share which have a dimension of that name and length.
    Named(String, u64),
    /// One of its own.
    Own(u64),
}

/// A column of a sequence whose rows are counted when the dataset is opened.
#[derive(Debug)]
pub(crate) struct SequenceColumn<'a> {
    /// The place of the sequence in the DDS.
    pub(crate) index: Vec<usize>,
    /// The path of the column that has the fewest bytes.
    pub(crate) path: Vec<&'a WireName>,
}

/// A name as the view shows it.
pub(super) fn name_of(name: &WireName, view: DapView) -> String {
    match view {
        DapView::Native => name.shown.clone(),
        DapView::NetcdfC => name.netcdf_c(),
    }
}

/// What encloses a variable.
#[derive(Debug, Clone, Default)]
struct Enclosing {
    names: Vec<String>,
    index: Vec<usize>,
    segments: Vec<WireSegment>,
    dims: Vec<DimensionUse>,
    rows: Option<usize>,
    fault: Option<Error>,
}

/// Finds the variables of a DDS.
pub(super) struct DdsWalker<'a, 'f> {
    view: DapView,
    facts: &'f Dap2Facts,
    found: Vec<FoundVariable<'a>>,
    maps: Vec<FoundVariable<'a>>,
}

impl<'a, 'f> DdsWalker<'a, 'f> {
    pub(super) fn new(view: DapView, facts: &'f Dap2Facts) -> Self {
        Self { view, facts, found: Vec::new(), maps: Vec::new() }
    }

    /// All variables; the maps of grids, each once, after the others.
    pub(super) fn walk(mut self, dds: &'a Dds) -> Result<Vec<FoundVariable<'a>>> {
        for (at, variable) in dds.variables.iter().enumerate() {
            self.variable(variable, at, &Enclosing::default())?;
        }
        let key = |name: &str, dims: &[DimensionUse]| (name.to_owned(), format!("{dims:?}"));
        let mut shown: HashSet<_> = self.found.iter().map(|found| key(&found.name, &found.dims)).collect();
        for map in self.maps {
            if shown.insert(key(&map.name, &map.dims)) {
                self.found.push(map);
            }
        }
        Ok(self.found)
    }

    fn variable(&mut self, variable: &'a DdsVariable, at: usize, outer: &Enclosing) -> Result<()> {
        let inner = outer.with(variable, at, self.view);
        match &variable.kind {
            DdsKind::Atomic(_) => self.push(variable, inner, outer.index.is_empty()),
            DdsKind::Structure(_) if self.view == DapView::Native && is_compound(variable) => {
                self.push(variable, inner, outer.index.is_empty());
            }
            DdsKind::Grid { array, maps } if is_sound(array, maps) => self.grid(array, maps, &inner),
            DdsKind::Structure(_) | DdsKind::Grid { .. } => {
                for (at, member) in variable.members().into_iter().enumerate() {
                    self.variable(member, at, &inner)?;
                }
            }
            DdsKind::Sequence(columns) if outer.is_plain() && variable.dims.is_empty() => {
                let rows = self.rows(&inner);
                for (at, column) in columns.iter().enumerate() {
                    self.variable(column, at, &rows)?;
                }
            }
            DdsKind::Sequence(_) if self.view == DapView::Native => self.push(variable, inner, false),
            DdsKind::Sequence(_) => {}
        }
        Ok(())
    }

    /// What encloses the columns of a sequence: its rows are their first dimension.
    fn rows(&self, sequence: &Enclosing) -> Enclosing {
        let (count, fault) = match self.facts.rows.get(&sequence.index) {
            Some(Ok(count)) => (*count, None),
            Some(Err(error)) => (0, Some(error.clone())),
            None => (0, Some(Error::unsupported("the rows of the sequence were not counted"))),
        };
        let name = sequence.names.last().cloned().unwrap_or_default();
        Enclosing {
            dims: vec![DimensionUse::Named(name, count)],
            rows: Some(sequence.segments.len()),
            fault,
            ..sequence.clone()
        }
    }

    fn grid(&mut self, array: &'a DdsVariable, maps: &'a [DdsVariable], grid: &Enclosing) {
        let named = |(dim, map): (&DdsDimension, &DdsVariable)| {
            let name = dim.name.as_ref().unwrap_or(&map.name);
            DimensionUse::Named(name_of(name, self.view), dim.size)
        };
        let dims: Vec<_> = array.dims.iter().zip(maps).map(named).collect();
        let mut inner = grid.with(array, 0, self.view);
        // The array has the name of the grid.
        inner.names.pop();
        inner.dims = grid.dims.iter().cloned().chain(dims.iter().cloned()).collect();
        self.push(array, inner, false);
        if let Some(last) = self.found.last_mut() {
            last.order = VariableOrder::GridArray;
        }
        if self.view == DapView::NetcdfC || !grid.dims.is_empty() {
            return;
        }
        for ((at, map), dim) in maps.iter().enumerate().zip(dims) {
            let mut inner = grid.with(map, at + 1, self.view);
            (inner.names, inner.dims) = (vec![name_of(&map.name, self.view)], vec![dim]);
            let before = self.found.len();
            self.push(map, inner, false);
            self.found.iter_mut().skip(before).for_each(|found| found.map = Some(at));
            self.maps.extend(self.found.drain(before..));
        }
    }

    fn push(&mut self, node: &'a DdsVariable, place: Enclosing, is_top: bool) {
        let Enclosing { names, index, segments, dims, rows, fault } = place;
        let order = if is_top { VariableOrder::Top } else { VariableOrder::Member };
        let name = names.join(".");
        let map = None;
        self.found.push(FoundVariable { name, index, node, segments, rows, map, dims, order, fault });
    }
}

impl Enclosing {
    /// What encloses the members of a variable.
    fn with(&self, variable: &DdsVariable, at: usize, view: DapView) -> Self {
        let mut inner = self.clone();
        inner.names.push(name_of(&variable.name, view));
        inner.index.push(at);
        inner.segments.push(WireSegment { name: variable.name.clone(), rank: variable.dims.len() });
        inner.dims.extend(variable.dims.iter().map(|dim| match &dim.name {
            Some(name) => DimensionUse::Named(name_of(name, view), dim.size),
            None => DimensionUse::Own(dim.size),
        }));
        inner
    }

    /// Whether members at this level are not repeated.
    fn is_plain(&self) -> bool {
        self.dims.is_empty() && self.rows.is_none()
    }
}

/// Whether a structure is shown as a compound: its members have values of their own, and no dimensions that others
/// share.
fn is_compound(variable: &DdsVariable) -> bool {
    let DdsKind::Structure(members) = &variable.kind else { return false };
    !members.is_empty()
        && members.iter().all(|member| {
            member.dims.iter().all(|dim| dim.name.is_none())
                && (matches!(member.kind, DdsKind::Atomic(_)) || is_compound(member))
        })
}

/// Whether a grid has a map for each dimension of its array.
fn is_sound(array: &DdsVariable, maps: &[DdsVariable]) -> bool {
    let fits = |(dim, map): (&DdsDimension, &DdsVariable)| {
        matches!(map.dims.as_slice(), [own] if own.size == dim.size) && matches!(map.kind, DdsKind::Atomic(_))
    };
    array.dims.len() == maps.len()
        && matches!(array.kind, DdsKind::Atomic(_))
        && array.dims.iter().zip(maps).all(fits)
}

/// For each sequence whose rows are a dimension, the column that determines their number.
pub(crate) fn sequence_columns(dds: &Dds) -> Vec<SequenceColumn<'_>> {
    let mut columns = Vec::new();
    for (at, variable) in dds.variables.iter().enumerate() {
        collect(variable, &mut vec![at], &mut Vec::new(), &mut columns);
    }
    columns
}

fn collect<'a>(
    variable: &'a DdsVariable,
    index: &mut Vec<usize>,
    path: &mut Vec<&'a WireName>,
    columns: &mut Vec<SequenceColumn<'a>>,
) {
    if !variable.dims.is_empty() {
        return;
    }
    path.push(&variable.name);
    match &variable.kind {
        DdsKind::Sequence(members) => {
            let cheapest = members.iter().min_by_key(|member| cost(member));
            let path = path.iter().copied().chain(cheapest.map(|member| &member.name)).collect();
            columns.push(SequenceColumn { index: index.clone(), path });
        }
        DdsKind::Structure(members) => {
            for (at, member) in members.iter().enumerate() {
                index.push(at);
                collect(member, index, path, columns);
                index.pop();
            }
        }
        DdsKind::Atomic(_) | DdsKind::Grid { .. } => {}
    }
    path.pop();
}

/// Bytes of a column in a row, roughly.
fn cost(column: &DdsVariable) -> u64 {
    let one = match &column.kind {
        DdsKind::Atomic(DdsType::String | DdsType::Url) => 64,
        DdsKind::Atomic(DdsType::Float64) => 8,
        DdsKind::Atomic(_) => 4,
        DdsKind::Sequence(_) => 1 << 20,
        DdsKind::Structure(_) | DdsKind::Grid { .. } => {
            column.members().into_iter().map(cost).fold(0, u64::saturating_add)
        }
    };
    one.saturating_mul(column.element_count().unwrap_or(u64::MAX))
}

/// The variables and members that are strings: places and paths.
pub(crate) fn string_paths(dds: &Dds) -> Vec<(Vec<usize>, Vec<&WireName>)> {
    let mut found = Vec::new();
    let mut rest: Vec<(Vec<usize>, Vec<&WireName>, &DdsVariable)> = Vec::new();
    let tops = dds.variables.iter().enumerate();
    rest.extend(tops.map(|(at, variable)| (vec![at], vec![&variable.name], variable)));
    while let Some((index, path, variable)) = rest.pop() {
        if let DdsKind::Atomic(DdsType::String | DdsType::Url) = variable.kind {
            found.push((index.clone(), path.clone()));
        }
        for (at, member) in variable.members().into_iter().enumerate() {
            let path = path.iter().copied().chain([&member.name]).collect();
            rest.push(([&index[..], &[at]].concat(), path, member));
        }
    }
    found.reverse();
    found
}
