//! New objects (docs/spec/hdf5-netcdf4.md I.1, J.2).
use super::{UpdatePlanner, is_in, objects};
use crate::address::FileAddress;
use crate::datatypes::attribute_name;
use crate::object::kind;
use crate::write::FilePatch;
use crate::write::header::{MessageDraft, encode_header};
use crate::write::heap::HeapBuilder;
use crate::write::index::BuiltIndex;
use crate::write::objects::{FileObject, ObjectDescriber, SIZES, members, scale_of};
use crate::write::placer::{HeldElements, ImageSource, VariableWrites, len_of, tracked};
use crate::write::space::SpaceAllocator;
use ncirrus_layout::{Error, Result, Step};
use ncirrus_model::{DimId, TypeRef, VarId};
use std::collections::{HashMap, HashSet};

impl UpdatePlanner<'_> {
    /// Objects of the new model that the file does not have. What the old model has without an object stays without one, but for
    /// dimensions that get a scale.
    pub(super) fn new_objects(&self) -> Vec<FileObject> {
        let is_new = |object: &FileObject| {
            self.unscaled.has_dimension(*object)
                || !self.known.addrs.contains_key(object) && !is_in(self.old, *object)
        };
        objects(self.new).into_iter().filter(is_new).collect()
    }

    /// Puts new objects behind the end: headers and chunk indexes.
    pub(super) fn make(&mut self, made: &[FileObject]) -> Step<()> {
        if made.is_empty() {
            return Ok(());
        }
        if self.file.sizes != SIZES {
            let offsets = self.file.sizes.offsets;
            return Err(Error::unsupported(format!(
                "new members in a file with addresses of {offsets} bytes"
            ))
            .into());
        }
        let all: HashSet<FileObject> = made.iter().copied().collect();
        self.number(&all);
        self.check(made, &all)?;
        let defined = self.defined(made);
        let images = ImageSource {
            model: self.new,
            pending_writes: &defined.0,
            held: &defined.1,
            newer: self.newer,
            strict: false,
        };
        // Lengths do not depend on addresses, but on which objects have one.
        self.after.addrs.extend(made.iter().map(|object| (*object, FileAddress(0))));
        let mut lens = Vec::new();
        for object in made {
            let drafts = self.drafts(&images, *object, &HashMap::new(), true)?;
            lens.push((*object, len_of(*object, &drafts)));
        }
        for (object, len) in lens {
            let addr = self.space.take(len, 8);
            self.after.addrs.insert(object, addr);
        }
        let built = self.build(&images)?;
        for object in made {
            let drafts = self.drafts(&images, *object, &built, false)?;
            let addr = self.after.addrs.get(object).copied().unwrap_or(FileAddress(0));
            let mut body = Vec::from(encode_header(&drafts, tracked(*object), 0));
            // As long as its allocation: the file must not end before it.
            body.resize(body.len().next_multiple_of(8), 0);
            self.fresh.push(FilePatch { addr, body: body.into() });
        }
        self.fresh.extend(built.into_values().flat_map(|built| built.patches));
        Ok(())
    }

    /// Assigns ids to dimensions with a new scale: the first free ones, because readers of the classic model count
    /// dimensions from 0 on (netCDF4-python does). If old ones have no ids readers number those themselves, and new
    /// ones avoid those numbers.
    fn number(&mut self, made: &HashSet<FileObject>) {
        let lacking = self.dimensions().into_iter().filter(|dim| !self.after.ids.contains_key(dim));
        let (mut new, old): (Vec<DimId>, Vec<DimId>) =
            lacking.partition(|dim| made.contains(&scale_of(self.new, *dim)));
        // In the order of definition, which runs through all groups.
        new.sort_unstable();
        let first = if old.is_empty() { 0 } else { self.dimensions().len() };
        let used: HashSet<i32> = self.after.ids.values().copied().collect();
        let free = (i32::try_from(first).unwrap_or(i32::MAX)..).filter(|id| !used.contains(id));
        self.after.ids.extend(new.into_iter().zip(free));
    }

    /// Refuses references to things that are not objects of the file.
    fn check(&self, made: &[FileObject], all: &HashSet<FileObject>) -> Result<()> {
        let is_there = |object: FileObject| all.contains(&object) || self.after.addrs.contains_key(&object);
        for object in made {
            let FileObject::Variable(id) = *object else { continue };
            let Some(variable) = self.new.variable(id) else { continue };
            let path = || self.new.variable_path(id);
            if let TypeRef::User(ty) = variable.ty
                && !is_there(FileObject::Type(ty))
            {
                let text = format!("type {} has no object in the file", self.new.type_path(ty));
                return Err(Error::unsupported(text).at_path(path()));
            }
            if let Some(dim) = variable.dims.iter().find(|dim| !is_there(scale_of(self.new, **dim))) {
                let text = format!("dimension {} has no object in the file", self.new.dimension_path(*dim));
                return Err(Error::unsupported(text).at_path(path()));
            }
        }
        for group in self.new.walk() {
            if all.contains(&FileObject::Group(group)) {
                members(self.new, group)?;
            }
        }
        Ok(())
    }

    /// The messages of a new object; `only_lengths` if addresses are not known yet.
    fn drafts(
        &mut self,
        images: &ImageSource<'_>,
        object: FileObject,
        built: &HashMap<VarId, BuiltIndex>,
        only_lengths: bool,
    ) -> Result<Vec<MessageDraft>> {
        // Lengths are needed before addresses are known: that first round must take nothing of the file's heap and
        // space.
        let mut heap = HeapBuilder::new(self.file.sizes);
        let mut space = SpaceAllocator::new(self.space.end());
        let mut describer = ObjectDescriber {
            model: self.new,
            sizes: self.file.sizes,
            addrs: &self.after.addrs,
            is_placed: true,
            ids: &self.after.ids,
            heap: if only_lengths { &mut heap } else { &mut self.heap },
            space: if only_lengths { &mut space } else { &mut self.space },
        };
        let mut drafts = match object {
            FileObject::Group(id) => describer.group(id, &[])?,
            FileObject::Type(id) => describer
                .committed(id, self.type_users.get(&id).copied())
                .map_err(|error| error.at_path(self.new.type_path(id)))?,
            FileObject::Dimension(id) => describer.dimension(id)?,
            FileObject::Variable(id) => images.variable(&mut describer, id, built.get(&id))?,
        };
        if let FileObject::Variable(id) = object {
            self.without_unknown_ids(id, &mut drafts)?;
        }
        Ok(drafts)
    }

    /// Unknown ids would mislead readers: scales are attached instead, which is equivalent.
    fn without_unknown_ids(&self, id: VarId, drafts: &mut Vec<MessageDraft>) -> Result<()> {
        let dims: &[DimId] = self.new.variable(id).map_or(&[], |variable| &variable.dims);
        if dims.iter().all(|dim| self.after.ids.contains_key(dim)) {
            return Ok(());
        }
        let names = drafts.iter().map(|draft| self.name_of(draft)).collect::<Result<Vec<_>>>()?;
        let mut names = names.into_iter();
        drafts.retain(|_| names.next().flatten().as_deref() != Some("_Netcdf4Coordinates"));
        Ok(())
    }

    /// The name of an attribute that was made here.
    fn name_of(&self, draft: &MessageDraft) -> Result<Option<String>> {
        if draft.kind != kind::ATTRIBUTE {
            return Ok(None);
        }
        let message = crate::object::HeaderMessage {
            kind: draft.kind,
            flags: 0,
            order: None,
            body: draft.body.clone(),
        };
        match attribute_name(self.view, &self.file, &message) {
            Ok(name) => Ok(Some(name)),
            Err(_) => Err(Error::internal("an attribute without a name")),
        }
    }

    /// The storage of new variables.
    fn defined(&self, made: &[FileObject]) -> (HashMap<VarId, VariableWrites>, HashMap<VarId, HeldElements>) {
        let (mut pending_writes, mut held) = (HashMap::new(), HashMap::new());
        for object in made {
            let FileObject::Variable(id) = object else { continue };
            let Some(pending) = self.pending_writes.get(id) else { continue };
            let (form, path, shape) = (pending.form.clone(), pending.path.clone(), pending.shape.clone());
            pending_writes.insert(*id, VariableWrites { form, path, shape });
            held.insert(*id, pending.held.clone());
        }
        (pending_writes, held)
    }

    /// Chunk indexes of new variables.
    fn build(&mut self, images: &ImageSource<'_>) -> Result<HashMap<VarId, BuiltIndex>> {
        let mut all = HashMap::new();
        let mut pending_writes: Vec<_> = images.pending_writes.iter().collect();
        pending_writes.sort_by_key(|(id, _)| **id);
        for (id, pending) in pending_writes {
            if let Some(HeldElements::Chunks(chunks)) = images.held.get(id) {
                let space = &mut self.space;
                all.insert(*id, images.index(*id, pending, chunks, &mut |len| space.take(len, 8))?);
            }
        }
        Ok(all)
    }
}
