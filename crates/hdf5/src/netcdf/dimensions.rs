//! The dimensions of a file, and those of each variable (docs/spec/hdf5-netcdf4.md H.2 to H.4, L).
use super::ObjectKey;
use std::collections::HashMap;

#[cfg(test)]
mod tests;

/// A dimension scale.
#[derive(Debug, Clone)]
pub(super) struct DimensionScale {
    /// Index of its group.
    pub(super) group: usize,
    pub(super) name: String,
    /// Length of its first axis.
    pub(super) len: u64,
    pub(super) unlimited: bool,
    /// Its id in the file.
    pub(super) id: Option<i64>,
    pub(super) object: ObjectKey,
}

/// The axes of a variable.
#[derive(Debug, Clone, Default)]
pub(super) struct VariableAxes {
    /// Index of its group.
    pub(super) group: usize,
    pub(super) lens: Vec<u64>,
    pub(super) unlimited: Vec<bool>,
    /// Index of the scale that the variable is.
    pub(super) scale: Option<usize>,
    /// Ids of the dimensions of all axes, if the file has them.
    pub(super) coordinates: Option<Vec<i64>>,
    /// The scale attached to each axis; empty or shorter than the rank if there are none.
    pub(super) attached: Vec<Option<ObjectKey>>,
    /// netCDF-C does not list such a variable: dimensions that only it has are numbered after all others.
    pub(super) late: bool,
}

/// A dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileDimension {
    /// Index of its group.
    pub(super) group: usize,
    pub(super) name: String,
    pub(super) len: u64,
    pub(super) unlimited: bool,
    /// Determines the order of a group's dimensions.
    pub(super) id: i64,
}

/// All dimensions, and the indices of those of each variable.
#[derive(Debug, Default)]
pub(super) struct FileDimensions {
    pub(super) list: Vec<FileDimension>,
    pub(super) axes: Vec<Vec<usize>>,
    /// Axes that the file gives a dimension of another length: they have one of their own.
    pub(super) contradicted: Vec<ContradictedAxis>,
}

/// An axis that is not as long as the dimension that the file gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ContradictedAxis {
    /// Index of the variable.
    pub(super) variable: usize,
    pub(super) axis: usize,
    pub(super) len: u64,
    /// Index of the dimension.
    pub(super) dimension: usize,
}

/// Finds the dimensions of all variables. Groups are numbered in depth-first order and given by their parents; scales
/// and variables are in the order in which their groups list them.
pub(super) fn assign(
    parents: &[Option<usize>],
    scales: &[DimensionScale],
    variables: &[VariableAxes],
) -> FileDimensions {
    let mut assignment = DimensionAssignment::new(parents, scales);
    let mut axes: Vec<_> = variables.iter().map(|variable| assignment.known(variable)).collect();
    let contradicted = assignment.take_contradicted(variables, &mut axes);
    let mut of_group = vec![Vec::new(); parents.len()];
    for (at, variable) in variables.iter().enumerate() {
        if let Some(list) = of_group.get_mut(variable.group) {
            list.push(at);
        }
    }
    let deepest_first: Vec<usize> =
        post_order(parents).into_iter().filter_map(|group| of_group.get(group)).flatten().copied().collect();
    // Phony dimensions are numbered in netCDF-C's order: deepest groups first (docs/spec/hdf5-netcdf4.md H.3).
    for late in [false, true] {
        for &at in &deepest_first {
            if let (Some(variable), Some(axes)) = (variables.get(at), axes.get_mut(at))
                && variable.late == late
            {
                let own = contradicted.iter().filter(|found| found.variable == at).map(|found| found.axis);
                assignment.fill_in(variable, axes, &own.collect::<Vec<_>>());
            }
        }
    }
    let axes: Vec<Vec<usize>> = axes.into_iter().map(|axes| axes.into_iter().flatten().collect()).collect();
    assignment.grow(variables, &axes);
    FileDimensions { list: assignment.list, axes, contradicted }
}

/// The variables whose ids are invalid, so that their attached scales must be read.
pub(super) fn lacks_scales<'a>(
    scales: &[DimensionScale],
    variables: impl Iterator<Item = &'a VariableAxes>,
) -> Vec<usize> {
    let assignment = DimensionAssignment::new(&[], scales);
    let lacks = |variable: &VariableAxes| {
        let own = variable.scale.is_some() && variable.lens.len() == 1;
        !own && variable.coordinates.is_some() && assignment.by_ids(variable).is_none()
    };
    variables.enumerate().filter(|(_, variable)| lacks(variable)).map(|(at, _)| at).collect()
}

/// All groups, children before their parent, siblings in order.
fn post_order(parents: &[Option<usize>]) -> Vec<usize> {
    let mut children = vec![Vec::new(); parents.len()];
    for (group, parent) in parents.iter().enumerate() {
        if let Some(list) = parent.and_then(|parent| children.get_mut(parent)) {
            list.push(group);
        }
    }
    let mut order = Vec::with_capacity(parents.len());
    let mut stack = vec![0];
    while let Some(group) = stack.pop() {
        order.push(group);
        stack.extend(children.get(group).into_iter().flatten());
    }
    order.reverse();
    order
}

/// The beginning of the names of dimensions that the file does not have.
const PHONY: &str = "phony_dim_";

/// The state of assigning dimensions.
struct DimensionAssignment<'a> {
    parents: &'a [Option<usize>],
    list: Vec<FileDimension>,
    next: i64,
    /// Dimensions by id; `None` for an id that several have.
    by_id: HashMap<i64, Option<usize>>,
    by_object: HashMap<&'a ObjectKey, Vec<usize>>,
    /// Dimensions by group, length and kind.
    alike: HashMap<(usize, u64, bool), Vec<usize>>,
}

impl<'a> DimensionAssignment<'a> {
    fn new(parents: &'a [Option<usize>], scales: &'a [DimensionScale]) -> Self {
        let mut assignment = Self {
            parents,
            list: Vec::new(),
            next: 0,
            by_id: HashMap::new(),
            by_object: HashMap::new(),
            alike: HashMap::new(),
        };
        for scale in scales {
            let id = scale.id.filter(|id| *id >= 0).unwrap_or(assignment.next);
            let DimensionScale { group, len, unlimited, .. } = *scale;
            let at = assignment.add(FileDimension { group, name: scale.name.clone(), len, unlimited, id });
            assignment.by_object.entry(&scale.object).or_default().push(at);
        }
        assignment
    }

    fn add(&mut self, mut dim: FileDimension) -> usize {
        let at = self.list.len();
        // netCDF has no fixed dimensions of length 0: that length means "unlimited" there.
        dim.unlimited |= dim.len == 0;
        self.next = self.next.max(dim.id.saturating_add(1));
        self.by_id.entry(dim.id).and_modify(|known| *known = None).or_insert(Some(at));
        self.alike.entry((dim.group, dim.len, dim.unlimited)).or_default().push(at);
        self.list.push(dim);
        at
    }

    /// Dimensions recorded in the file: a scale of one axis is its own dimension; ids take precedence over attached
    /// scales, which are ignored if the first axis has none.
    fn known(&self, variable: &VariableAxes) -> Vec<Option<usize>> {
        let rank = variable.lens.len();
        if let (Some(scale), 1) = (variable.scale, rank) {
            return vec![Some(scale)];
        }
        if let Some(dims) = self.by_ids(variable) {
            return dims.into_iter().map(Some).collect();
        }
        let mut axes = vec![None; rank];
        if let (Some(scale), Some(first)) = (variable.scale, axes.first_mut()) {
            *first = Some(scale);
        } else if let Some(Some(_)) = variable.attached.first() {
            for (axis, object) in axes.iter_mut().zip(&variable.attached) {
                *axis = object.as_ref().and_then(|object| self.in_scope(variable.group, object));
            }
        }
        axes
    }

    /// Takes away the dimensions that do not have the length of their axis: elements would be cut off or made up. An
    /// unlimited one may be longer, and grows with the variables in its scope.
    fn take_contradicted(
        &self,
        variables: &[VariableAxes],
        axes: &mut [Vec<Option<usize>>],
    ) -> Vec<ContradictedAxis> {
        let mut contradicted = Vec::new();
        for (at, (variable, axes)) in variables.iter().zip(axes).enumerate() {
            for (axis, (slot, &len)) in axes.iter_mut().zip(&variable.lens).enumerate() {
                let Some(dimension) = *slot else { continue };
                let fits = self.list.get(dimension).is_none_or(|dim| {
                    let grows = || self.around(variable.group).any(|group| group == dim.group);
                    dim.len == len || (dim.unlimited && (len < dim.len || grows()))
                });
                if !fits {
                    contradicted.push(ContradictedAxis { variable: at, axis, len, dimension });
                    *slot = None;
                }
            }
        }
        contradicted
    }

    fn by_ids(&self, variable: &VariableAxes) -> Option<Vec<usize>> {
        let ids = variable.coordinates.as_ref().filter(|ids| ids.len() == variable.lens.len())?;
        ids.iter().map(|id| self.by_id.get(id).copied().flatten()).collect()
    }

    /// The dimension of that scale in the group or the nearest enclosing one.
    fn in_scope(&self, group: usize, object: &ObjectKey) -> Option<usize> {
        let dims = self.by_object.get(object)?;
        let of = |group: usize| {
            dims.iter().copied().find(|dim| self.list.get(*dim).is_some_and(|dim| dim.group == group))
        };
        self.around(group).find_map(of)
    }

    /// The group and the enclosing ones, innermost first.
    fn around(&self, group: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(Some(group), |group| self.parents.get(*group).copied().flatten())
    }

    /// Axes without a dimension get one of the same group, length and kind that the variable does not use yet, or a
    /// new one. Those in `own` share none that the file has.
    fn fill_in(&mut self, variable: &VariableAxes, axes: &mut [Option<usize>], own: &[usize]) {
        let kinds = variable.lens.iter().zip(&variable.unlimited);
        for (axis, (&len, &unlimited)) in kinds.enumerate().take(axes.len()) {
            if axes.get(axis).copied().flatten().is_some() {
                continue;
            }
            let alike = self.alike.get(&(variable.group, len, unlimited));
            let is_taken = |dim: &usize| {
                let is_phony = self.list.get(*dim).is_some_and(|dim| dim.name.starts_with(PHONY));
                !axes.contains(&Some(*dim)) && (is_phony || !own.contains(&axis))
            };
            let free = alike.into_iter().flatten().copied().find(is_taken);
            let dim = free.unwrap_or_else(|| {
                let (id, group) = (self.next, variable.group);
                self.add(FileDimension { group, name: format!("{PHONY}{id}"), len, unlimited, id })
            });
            if let Some(axis) = axes.get_mut(axis) {
                *axis = Some(dim);
            }
        }
    }

    /// An unlimited dimension is as long as its longest variable below the group that defines it.
    fn grow(&mut self, variables: &[VariableAxes], axes: &[Vec<usize>]) {
        for (variable, dims) in variables.iter().zip(axes) {
            for (&dim, &len) in dims.iter().zip(&variable.lens) {
                let longer = self.list.get(dim).is_some_and(|dim| {
                    dim.unlimited && dim.len < len && self.around(variable.group).any(|at| at == dim.group)
                });
                if let Some(dim) = self.list.get_mut(dim).filter(|_| longer) {
                    dim.len = len;
                }
            }
        }
    }
}
