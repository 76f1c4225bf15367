//! What a dataset must hold: every element in memory, as simply as possible.
use ncirrus::{Atomic, Attribute, Selection, Values, convert};
use ncirrus_model::default_fill;

/// A dimension, by its path: `/x`, `/g/x`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dim {
    pub(crate) path: String,
    pub(crate) len: u64,
    pub(crate) unlimited: bool,
}

/// An attribute; `loose` if it has been in a format where types of attributes are inferred.
#[derive(Debug, Clone)]
pub(crate) struct Attr {
    pub(crate) attribute: Attribute,
    pub(crate) loose: bool,
}

/// A variable with all of its values.
#[derive(Debug, Clone)]
pub(crate) struct Var {
    pub(crate) path: String,
    pub(crate) ty: Atomic,
    /// Positions in the list of dimensions.
    pub(crate) dims: Vec<usize>,
    /// Lengths of the dimensions.
    pub(crate) shape: Vec<u64>,
    pub(crate) values: Values,
    /// One element: the value of elements that were never written.
    pub(crate) fill: Values,
    pub(crate) attributes: Vec<Attr>,
}

/// A dataset.
#[derive(Debug, Clone, Default)]
pub(crate) struct Oracle {
    /// Removed dimensions leave empty entries.
    pub(crate) dims: Vec<Option<Dim>>,
    pub(crate) vars: Vec<Var>,
    pub(crate) groups: Vec<String>,
    pub(crate) attributes: Vec<Attr>,
}

/// The part of a path before the last name (the root: `/`), and the name.
pub(crate) fn split(path: &str) -> (&str, &str) {
    match path.rsplit_once('/') {
        Some(("", name)) => ("/", name),
        Some((group, name)) => (group, name),
        None => ("/", path),
    }
}

/// A member of a group.
pub(crate) fn join(group: &str, name: &str) -> String {
    if group == "/" { format!("/{name}") } else { format!("{group}/{name}") }
}

/// Replaces the attribute of the same name, or appends it.
pub(crate) fn put(attributes: &mut Vec<Attr>, attribute: Attribute) {
    let attr = Attr { attribute, loose: false };
    match attributes.iter_mut().find(|old| old.attribute.name == attr.attribute.name) {
        Some(old) => *old = attr,
        None => attributes.push(attr),
    }
}

impl Oracle {
    pub(crate) fn dim(&self, at: usize) -> &Dim {
        self.dims[at].as_ref().unwrap()
    }

    /// Dimensions that a variable of a group may have: of the group and of those around it.
    pub(crate) fn visible(&self, group: &str) -> Vec<usize> {
        let sees = |dim: &Dim| {
            let home = split(&dim.path).0;
            home == "/" || home == group
        };
        (0..self.dims.len()).filter(|at| self.dims[*at].as_ref().is_some_and(sees)).collect()
    }

    pub(crate) fn add_var(&mut self, path: String, ty: Atomic, dims: Vec<usize>, fill: Option<Values>) {
        let shape: Vec<u64> = dims.iter().map(|at| self.dim(*at).len).collect();
        let mut attributes = Vec::new();
        if let Some(own) = &fill {
            put(&mut attributes, Attribute::atomic("_FillValue", own.clone()));
        }
        let fill = fill.unwrap_or_else(|| default_fill(ty));
        let values = fill.repeat(count(&shape));
        self.vars.push(Var { path, ty, dims, shape, values, fill, attributes });
    }

    /// Whether a name is free among the variables of a group.
    pub(crate) fn is_free(&self, path: &str) -> bool {
        self.vars.iter().all(|var| var.path != path) && self.groups.iter().all(|group| group != path)
    }

    /// Writes a box of a variable, also past the end of growing dimensions.
    pub(crate) fn write(&mut self, var: usize, selection: &Selection, values: &Values) {
        let extent = selection.extent().unwrap();
        for (axis, end) in extent.iter().enumerate() {
            let at = self.vars[var].dims[axis];
            if *end > self.dim(at).len {
                assert!(self.dim(at).unlimited, "only what is unlimited grows");
                self.dims[at].as_mut().unwrap().len = *end;
            }
        }
        self.regrow();
        let var = &mut self.vars[var];
        let mut cells = cells(&var.values);
        for (from, to) in places(selection, &var.shape).into_iter().enumerate() {
            cells[to] = values.slice(from..from + 1);
        }
        var.values = together(&var.fill, &cells);
    }

    /// Gives every variable the shape of its dimensions; new elements hold its fill value.
    fn regrow(&mut self) {
        for at in 0..self.vars.len() {
            let shape: Vec<u64> = self.vars[at].dims.iter().map(|dim| self.dim(*dim).len).collect();
            let var = &mut self.vars[at];
            if shape != var.shape {
                let old = cells(&var.values);
                let mut new = vec![var.fill.clone(); count(&shape)];
                for (from, to) in places(&Selection::all(&var.shape), &shape).into_iter().enumerate() {
                    new[to] = old[from].clone();
                }
                var.values = together(&var.fill, &new);
                var.shape = shape;
            }
        }
    }

    /// Values of a selection.
    pub(crate) fn read(&self, var: usize, selection: &Selection) -> Values {
        let var = &self.vars[var];
        let all = places(selection, &var.shape);
        together(&var.fill, &all.into_iter().map(|at| var.values.slice(at..at + 1)).collect::<Vec<_>>())
    }

    /// Dimensions without variables are forgotten, and the others belong to the group of the variable.
    pub(crate) fn lose_homes(&mut self) {
        for at in 0..self.vars.len() {
            let group = split(&self.vars[at].path).0.to_owned();
            for axis in 0..self.vars[at].dims.len() {
                let dim = self.dim(self.vars[at].dims[axis]).clone();
                let path = join(&group, split(&dim.path).1);
                let found = self.dims.iter().position(|dim| dim.as_ref().is_some_and(|dim| dim.path == path));
                self.vars[at].dims[axis] = found.unwrap_or_else(|| {
                    self.dims.push(Some(Dim { path, ..dim }));
                    self.dims.len() - 1
                });
            }
        }
        let used: Vec<usize> = self.vars.iter().flat_map(|var| var.dims.clone()).collect();
        for at in 0..self.dims.len() {
            if !used.contains(&at) {
                self.dims[at] = None;
            }
        }
    }

    pub(crate) fn fix_dims(&mut self) {
        self.dims.iter_mut().flatten().for_each(|dim| dim.unlimited = false);
    }

    pub(crate) fn loosen(&mut self) {
        let of_vars = self.vars.iter_mut().flat_map(|var| &mut var.attributes);
        for attr in self.attributes.iter_mut().chain(of_vars) {
            attr.loose |= attr.attribute.name != "_FillValue";
        }
    }
}

pub(crate) fn count(shape: &[u64]) -> usize {
    usize::try_from(shape.iter().product::<u64>()).unwrap()
}

fn cells(values: &Values) -> Vec<Values> {
    (0..values.len()).map(|at| values.slice(at..at + 1)).collect()
}

fn together(like: &Values, cells: &[Values]) -> Values {
    let mut all = like.empty_like();
    for cell in cells {
        assert!(all.extend_from(cell, 0..1), "cells are of one type");
    }
    all
}

/// The positions of the elements of a selection in a row-major array.
fn places(selection: &Selection, shape: &[u64]) -> Vec<usize> {
    let mut all = vec![0u64];
    for (axis, len) in selection.axes().iter().zip(shape) {
        let indices: Vec<u64> = (0..axis.count()).map(|position| axis.index(position).unwrap()).collect();
        all = all.iter().flat_map(|start| indices.iter().map(move |index| start * len + index)).collect();
    }
    all.into_iter().map(|at| usize::try_from(at).unwrap()).collect()
}

/// Whether values are equal, bit for bit; netCDF's readers take a null string for an empty one.
pub(crate) fn identical(a: &Values, b: &Values) -> bool {
    match (a, b) {
        (Values::String(a), Values::String(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| a.unwrap_or(b"") == b.unwrap_or(b""))
        }
        _ => a.atomic() == b.atomic() && a.as_bytes() == b.as_bytes(),
    }
}

/// Whether an attribute is unchanged: the same text or numbers if its type was inferred on the way.
pub(crate) fn same_attribute(expected: &Attr, got: &Attribute) -> bool {
    let one = &expected.attribute;
    if one.ty == got.ty && identical(&one.values, &got.values) {
        return true;
    }
    if !expected.loose {
        return false;
    }
    if let (Some(a), Some(b)) = (one.as_text(), got.as_text()) {
        return a == b;
    }
    let Some(ty) = one.values.atomic().filter(|ty| ty.is_numeric()) else { return false };
    let is_number = got.values.atomic().is_some_and(Atomic::is_numeric);
    let back = is_number.then(|| convert::cast(&got.values, ty).ok()).flatten();
    back.is_some_and(|(back, _)| equal_numbers(&one.values, &back))
}

fn equal_numbers(a: &Values, b: &Values) -> bool {
    a.len() == b.len()
        && (0..a.len()).all(|at| a.integer(at) == b.integer(at) && a.number(at) == b.number(at))
}
