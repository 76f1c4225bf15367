//! Changes of definitions, by one call at a time.
use crate::c_types::codes::{Code, NC_ENOTINDEFINE, NC_EPERM, Outcome};
use crate::files::file_state::FileState;
use crate::files::handles::OpenFile;
use crate::files::members::FileMembers;
use ncirrus::{Format, GroupId, Model};
use std::ffi::c_int;

/// Definitions of a file in an exclusive call.
pub(crate) struct FileEdit<'a> {
    pub(crate) file: &'a OpenFile,
    /// The group that the call is about.
    pub(crate) group: GroupId,
    /// The id of the root group.
    pub(crate) first_id: c_int,
    pub(crate) state: &'a mut FileState,
}

impl FileEdit<'_> {
    pub(crate) fn model(&self) -> &Model {
        &self.state.members.model
    }

    pub(crate) fn members(&self) -> &FileMembers {
        &self.state.members
    }

    /// The definitions, to be changed: the dataset will get them.
    pub(crate) fn members_mut(&mut self) -> &mut FileMembers {
        self.state.members_mut()
    }

    /// The model, to be changed.
    pub(crate) fn model_mut(&mut self) -> &mut Model {
        self.members_mut().model_mut()
    }

    pub(crate) fn is_classic(&self) -> bool {
        self.file.is_classic()
    }

    /// Whether it follows the classic model, as netCDF-4.
    pub(crate) fn is_classic_model(&self) -> bool {
        self.file.core.format.netcdf() == Format::NetCdf4Classic
    }

    /// Whether this handle may change the file.
    ///
    /// # Errors
    /// `NC_EPERM`.
    pub(crate) fn check_writable(&self) -> Outcome<()> {
        if self.file.writes { Ok(()) } else { Err(Code(NC_EPERM)) }
    }

    /// Enters define mode where the kind of file allows that without a call.
    ///
    /// # Errors
    /// `NC_ENOTINDEFINE` for strict kinds, unless a server has it, `NC_EPERM`.
    pub(crate) fn enter_define_mode(&mut self) -> Outcome<()> {
        if self.state.is_defining {
            return Ok(());
        }
        if self.file.core.format.is_strict() && !self.file.core.format.kind.stored.is_computed() {
            return Err(Code(NC_ENOTINDEFINE));
        }
        self.check_writable()?;
        self.state.is_defining = true;
        Ok(())
    }
}
