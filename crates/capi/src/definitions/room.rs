//! The end of define mode: where the parts of a classic file begin, and whether there is room for them.
use crate::c_types::codes::{Code, NC_EINMEMORY, NC_EINVAL, Outcome};
use crate::files::file_state::{FileOrigin, FileState};
use ncirrus::model::FileRoom;
use ncirrus::{Attribute, AttributeState, AxisSelection, ErrorKind, Model, Selection, TypeRef, VarId};

/// `NC_ALIGN_CHUNK`: a multiple of the blocks in which netCDF-C writes.
const BY_BLOCKS: usize = usize::MAX;
/// Bytes of such a block, where no program chose another size.
const BLOCK: u64 = 8192;

/// The room that the sizes of `nc__enddef` describe.
///
/// # Errors
/// `NC_EINVAL` for multiples of 0.
pub(crate) fn room_of(
    header_free: usize,
    variable_align: usize,
    variable_free: usize,
    record_align: usize,
) -> Outcome<FileRoom> {
    let multiple = |of: usize| match of {
        0 => Err(Code(NC_EINVAL)),
        BY_BLOCKS => Ok(BLOCK),
        of => Ok(of as u64),
    };
    Ok(FileRoom {
        header_free: header_free as u64,
        variable_align: multiple(variable_align)?,
        variable_free: variable_free as u64,
        record_align: multiple(record_align)?,
        max_len: None,
    })
}

impl FileState {
    /// Leaves define mode, without room for later definitions.
    ///
    /// # Errors
    /// As [`end_definitions_in`](Self::end_definitions_in).
    pub(crate) fn end_definitions(&mut self) -> Outcome<()> {
        self.end_definitions_in(FileRoom::default())
    }

    /// Leaves define mode. A classic file is arranged now, in that room.
    ///
    /// # Errors
    /// As [`settle`](Self::settle); for a classic file, too, `NC_EVARSIZE` if the format has no offsets for it, and
    /// `NC_EINMEMORY` if it does not fit the memory that it is in. It stays in define mode then.
    pub(crate) fn end_definitions_in(&mut self, room: FileRoom) -> Outcome<()> {
        if self.format.is_classic() && self.is_defining {
            self.arrange(room)?;
        }
        self.settle()?;
        self.is_defining = false;
        self.was_defined = true;
        self.stored_types = self.members.type_count();
        let model = &self.members.model;
        let defined = std::mem::take(&mut self.defined).into_iter();
        self.stored.extend(defined.filter(|var| model.variable(*var).is_some()));
        self.unused.clear();
        Ok(())
    }

    /// Passes changed definitions to the dataset, which has the format check them. A rejection is then reported here instead of when the
    /// file is closed, and attributes of existing members are passed separately, so that they are not lost with it.
    ///
    /// # Errors
    /// As [`pass_on`](Self::pass_on), and what the format refuses. What was defined is still to come then.
    pub(crate) fn settle(&mut self) -> Outcome<()> {
        if !matches!(self.origin, FileOrigin::Created { .. } | FileOrigin::Updating)
            || self.format.is_classic()
        {
            return self.pass_on();
        }
        let passed = self
            .pass_on()
            .and_then(|()| self.dataset.check_definitions().map_err(|error| self.format.code_of(error)));
        if passed.is_err() {
            self.keep_pending();
            self.keep_attributes();
        }
        passed
    }

    /// Gives the dataset the attributes of what it has, and nothing else.
    fn keep_attributes(&self) {
        let ours = &self.members.model;
        let kept = self.dataset.edit(|theirs| {
            for node in theirs.nodes() {
                let Some(AttributeState::Known(own)) = ours.attributes(node) else { continue };
                let mut own = own.clone();
                let unknown = |attribute: &&Attribute| match attribute.ty {
                    TypeRef::Atomic(_) => false,
                    TypeRef::User(id) => theirs.user_type(id).is_none(),
                };
                let names: Vec<String> =
                    own.iter().filter(unknown).map(|attribute| attribute.name.clone()).collect();
                names.iter().for_each(|name| _ = own.remove(name));
                if let Some(state) = theirs.attributes_mut(node) {
                    *state = AttributeState::Known(own);
                }
            }
            Ok(())
        });
        // The rejection has been reported already; if this is one, nothing is kept of it.
        let _ = kept.and_then(|()| self.dataset.check_definitions());
    }

    fn arrange(&mut self, room: FileRoom) -> Outcome<()> {
        let max_len = self.locked_len;
        self.members_mut().model_mut().set_room(FileRoom { max_len, ..room });
        self.pass_on()?;
        if let Err(error) = self.dataset.check_definitions() {
            // The dataset is as it was before; what was defined is still to come.
            self.keep_pending();
            return Err(self.code_of_room(error));
        }
        // The sizes are those of this call only.
        self.members_mut().model_mut().set_room(FileRoom { max_len, ..FileRoom::default() });
        self.pass_on()
    }

    /// Before values of a variable are written: records have room in the memory that the file is in.
    ///
    /// # Errors
    /// `NC_EINMEMORY`; the records are as before then, and so is the length of the file.
    pub(crate) fn make_room(&mut self, var: VarId, selection: &Selection) -> Outcome<()> {
        let Some(AxisSelection::Slice { start, count, .. }) = selection.axes().first() else { return Ok(()) };
        let (end, max_len) = (start.saturating_add(*count), self.locked_len);
        let model = &self.members.model;
        let dim = model.variable(var).and_then(|variable| variable.dims.first().copied());
        let is_beyond = |len: u64| max_len.is_some() && *count > 0 && end > len;
        let grows = dim.and_then(|dim| model.dimension(dim)).is_some_and(|dim| is_beyond(dim.len.current()));
        let Some(dim) = dim.filter(|_| grows) else { return Ok(()) };
        // A check first writes what was put and is not written yet, in parts that reach to the last record. That is done before there
        // are more records: those that are then refused would be in the file, which would be longer than its room.
        self.edit_in_room(|model| {
            model.set_room(FileRoom { max_len, ..model.room().unwrap_or_default() });
            Ok(())
        })?;
        self.edit_in_room(|model| Ok(model.grow(dim, end)?))
    }

    /// Changes definitions that the file has room for; otherwise they stay as they are.
    fn edit_in_room(&self, change: impl FnOnce(&mut Model) -> ncirrus::Result<()>) -> Outcome<()> {
        self.dataset.edit(change)?;
        self.dataset.check_definitions().map_err(|error| self.code_of_room(error))
    }

    fn code_of_room(&self, error: ncirrus::Error) -> Code {
        let is_limit = error.kind() == ErrorKind::Limit;
        let code = self.format.code_of(error);
        if is_limit && self.locked_len.is_some() { Code(NC_EINMEMORY) } else { code }
    }
}
