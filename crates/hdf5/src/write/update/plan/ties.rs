//! Connections between existing dimensions and variables (docs/spec/hdf5-netcdf4.md H.2, H.3).
use super::super::attributes::HeaderAttributes;
use super::{HeaderTurn, UpdatePlanner};
use crate::address::FileAddress;
use crate::datatypes::attribute_name;
use crate::object::HeaderMessage;
use crate::write::objects::{FileObject, dimension_of, known, scale_of};
use bytes::Bytes;
use ncirrus_layout::{Result, Step};
use ncirrus_model::{DimId, Model};
use std::sync::Arc;

/// The contents of a dataset's hidden attributes.
#[derive(Debug, Default, PartialEq)]
struct ScaleTies {
    /// The dimension whose scale it is.
    scale: Option<DimId>,
    /// Its name, if it is also a variable.
    name: Option<String>,
    /// The scales of its axes.
    axes: Vec<FileObject>,
    /// The users of the dimension, with their axes.
    users: Vec<(FileObject, usize)>,
}

impl ScaleTies {
    fn of(model: &Model, object: FileObject) -> Result<Self> {
        let (scale, name, dims) = match object {
            FileObject::Dimension(id) => (Some(id), None, Vec::new()),
            FileObject::Variable(id) => {
                let variable = known(model, id)?;
                let scale = dimension_of(model, id);
                (scale, scale.map(|_| variable.name.clone()), variable.dims.clone())
            }
            FileObject::Group(_) | FileObject::Type(_) => (None, None, Vec::new()),
        };
        let axes =
            if scale.is_some() { Vec::new() } else { dims.iter().map(|dim| scale_of(model, *dim)).collect() };
        let mut users = Vec::new();
        for var in scale
            .iter()
            .flat_map(|dim| model.users_of(*dim))
            .filter(|var| dimension_of(model, *var).is_none())
        {
            let axes = known(model, var)?.dims.iter().enumerate().filter(|(_, dim)| Some(**dim) == scale);
            users.extend(axes.map(|(axis, _)| (FileObject::Variable(var), axis)));
        }
        users.sort();
        Ok(Self { scale, name, axes, users })
    }

    /// The names of the attributes that differ.
    fn differing(&self, other: &Self) -> Vec<&'static str> {
        if self.scale != other.scale {
            return vec![
                "CLASS",
                "NAME",
                "_Netcdf4Dimid",
                "REFERENCE_LIST",
                "DIMENSION_LIST",
                "_Netcdf4Coordinates",
            ];
        }
        let parts = [
            (self.name != other.name, "NAME"),
            (self.axes != other.axes, "DIMENSION_LIST"),
            (self.users != other.users, "REFERENCE_LIST"),
        ];
        parts.into_iter().filter(|(differs, _)| *differs).map(|(_, name)| name).collect()
    }
}

impl UpdatePlanner<'_> {
    /// Brings the hidden attributes of a dataset up to date.
    pub(super) fn ties(&mut self, object: FileObject, addr: FileAddress) -> Step<()> {
        // New objects have no connections in the file yet.
        let is_old = match object {
            FileObject::Variable(id) => self.old.variable(id).is_some(),
            FileObject::Dimension(_) | FileObject::Group(_) | FileObject::Type(_) => true,
        };
        let old = if is_old { ScaleTies::of(self.old, object)? } else { ScaleTies::default() };
        let new = ScaleTies::of(self.new, object)?;
        let mut differing = old.differing(&new);
        let mut others = self.newly_tied(object, &new);
        others.retain(|name| !differing.contains(name));
        differing.append(&mut others);
        if differing.is_empty() {
            return Ok(());
        }
        match (old.scale.is_some(), new.scale.is_some()) {
            (false, true) => _ = self.turns.insert(addr, HeaderTurn::BecomesScale),
            (true, false) => _ = self.turns.insert(addr, HeaderTurn::WasScale),
            _ => {}
        }
        let wanted = self.hidden_attributes(object)?;
        let (unnumbered, lacks_scale) = (self.has_unnumbered(object)?, self.lacks_scale(object)?);
        let (view, file) = (self.view, Arc::clone(&self.file));
        let mut named = HeaderAttributes::new(view, &file, self.header(addr)?)?;
        for name in differing {
            let skips = match name {
                "_Netcdf4Dimid" | "_Netcdf4Coordinates" => unnumbered,
                // netCDF-C fails at a variable whose first axis has a scale and another one has none. Without a list
                // dimensions are found by their lengths, as before.
                "DIMENSION_LIST" => lacks_scale && !named.has(name),
                _ => false,
            };
            match wanted.iter().find(|(known, _)| known == name) {
                // Readers do not need back pointers if there is no space for them.
                Some((_, body)) if !skips && !named.takes(body) => named.remove([name])?,
                Some((_, body)) if !skips => named.put(name, name, body.clone())?,
                Some(_) => {}
                None => named.remove([name])?,
            }
        }
        Ok(())
    }

    /// The attributes that differ because axes get the scales that they did not have.
    fn newly_tied(&self, object: FileObject, ties: &ScaleTies) -> Vec<&'static str> {
        let mut names = Vec::new();
        if self.unscaled.has_user(object) {
            names.push(if ties.scale.is_some() { "_Netcdf4Coordinates" } else { "DIMENSION_LIST" });
        }
        if ties.users.iter().any(|(user, _)| self.unscaled.has_user(*user)) {
            names.push("REFERENCE_LIST");
        }
        names
    }

    /// The hidden attributes that a dataset is to have, by name.
    fn hidden_attributes(&mut self, object: FileObject) -> Step<Vec<(String, Bytes)>> {
        let bodies = match object {
            FileObject::Variable(id) => self.describer().hidden_attributes(id)?,
            FileObject::Dimension(id) => self.describer().scale_attributes(id, None)?,
            FileObject::Group(_) | FileObject::Type(_) => Vec::new(),
        };
        let named = bodies.into_iter().map(|body| {
            let message = HeaderMessage {
                kind: crate::object::kind::ATTRIBUTE,
                flags: 0,
                order: None,
                body: body.clone(),
            };
            Ok((attribute_name(self.view, &self.file, &message)?, body))
        });
        named.collect()
    }

    /// Whether an axis of a variable has no scale in the file.
    fn lacks_scale(&self, object: FileObject) -> Result<bool> {
        let FileObject::Variable(id) = object else { return Ok(false) };
        let is_there = |dim: &DimId| self.after.addrs.contains_key(&scale_of(self.new, *dim));
        Ok(!known(self.new, id)?.dims.iter().all(is_there))
    }

    /// Whether a dimension of a variable has no id in the file.
    fn has_unnumbered(&self, object: FileObject) -> Result<bool> {
        let dims = match object {
            FileObject::Variable(id) => known(self.new, id)?.dims.clone(),
            FileObject::Dimension(id) => vec![id],
            FileObject::Group(_) | FileObject::Type(_) => Vec::new(),
        };
        Ok(dims.iter().any(|dim| !self.after.ids.contains_key(dim)))
    }
}

#[cfg(test)]
mod tests;
