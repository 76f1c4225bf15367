//! Dimensions without an object in the file: its variables have axes without a scale (docs/spec/hdf5-netcdf4.md H.3).
//!
//! Such a dimension gets a scale when it has a name of its own from then on, because it was renamed or a new variable has it. netCDF-C
//! fails at variables of which only some axes have scales, so the other dimensions of its variables get theirs, too.
use super::{UpdatePlanner, is_in};
use crate::write::objects::{FileObject, scale_of};
use ncirrus_model::{DimId, Model, VarId};
use std::collections::HashSet;

/// The dimensions that get a scale, and the variables of the file that have them.
#[derive(Debug, Default)]
pub(in crate::write::update) struct UnscaledAxes {
    dims: HashSet<DimId>,
    users: HashSet<VarId>,
}

impl UnscaledAxes {
    /// Whether an object is a dimension that gets a scale.
    pub(super) fn has_dimension(&self, object: FileObject) -> bool {
        matches!(object, FileObject::Dimension(id) if self.dims.contains(&id))
    }

    /// Whether an object is a variable of the file that has such a dimension.
    pub(super) fn has_user(&self, object: FileObject) -> bool {
        matches!(object, FileObject::Variable(id) if self.users.contains(&id))
    }
}

impl UpdatePlanner<'_> {
    /// What gets a scale.
    pub(super) fn newly_scaled(&self) -> UnscaledAxes {
        let mut found = UnscaledAxes::default();
        let mut next: Vec<DimId> = self.unscaled().filter(|dim| self.is_named(*dim)).collect();
        while let Some(dim) = next.pop() {
            if !found.dims.insert(dim) {
                continue;
            }
            for var in self.new.users_of(dim).filter(|var| self.is_stored(*var)) {
                if found.users.insert(var) {
                    next.extend(self.unscaled_axes(var));
                }
            }
        }
        found
    }

    /// Dimensions of both models that have no object.
    fn unscaled(&self) -> impl Iterator<Item = DimId> {
        self.dimensions().into_iter().filter(|dim| self.is_unscaled(*dim))
    }

    fn is_unscaled(&self, dim: DimId) -> bool {
        let scale = scale_of(self.new, dim);
        scale == FileObject::Dimension(dim)
            && !self.known.addrs.contains_key(&scale)
            && is_in(self.old, scale)
    }

    fn unscaled_axes(&self, var: VarId) -> Vec<DimId> {
        let dims = self.new.variable(var).map_or(&[][..], |variable| &variable.dims);
        dims.iter().copied().filter(|dim| self.is_unscaled(*dim)).collect()
    }

    fn is_stored(&self, var: VarId) -> bool {
        self.known.addrs.contains_key(&FileObject::Variable(var))
    }

    /// Whether a dimension has another name than in the file, or a variable that the file does not have.
    fn is_named(&self, dim: DimId) -> bool {
        let name = |model: &Model| model.dimension(dim).map(|dimension| dimension.name.clone());
        let is_new = |var: VarId| !is_in(self.old, FileObject::Variable(var));
        name(self.old) != name(self.new) || self.new.users_of(dim).any(is_new)
    }
}
